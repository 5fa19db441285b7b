/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_IDEMPOTENCY_H
#define AFTERSHOCK_ANALYSIS_IDEMPOTENCY_H

/*
 * Which idempotency key would have held: the attempts replayed in time order
 * under each key design, and judged by the intents (method.md 8).
 *
 * A key without a step guards a handler at its top: it is looked up once, at
 * the start of a run (attempt.h), lets the run through or blocks all of it, and
 * is recorded as soon as a first step succeeds. So after a partial failure the
 * steps still owed are blocked with the rest. A key with a step guards each
 * attempt by itself and is recorded when that step succeeds. An attempt that
 * failed records nothing. Where the evidence shows a handler that asks before
 * each step (runs in which one step was skipped and another was not), keys of
 * the message are replayed as that handler would use them: asked and recorded
 * step by step. The hybrid's coarse filter is recorded only when
 * nothing of the operation is owed any more, so that it never blocks a step that is.
 *
 * The replay goes by what would have happened: an attempt that the key blocks has no
 * effect, and one that was recognised in fact takes effect where the key had blocked what it was recognised by.
 * An attempt at an intent that had taken effect before is
 *	caught		when the key blocks it,
 *	missed		when the key lets it through: a second effect (what the guard of the day skipped would have been one),
 *	absorbed	when the key lets it through and the called system recognises it.
 * An intent is wrongly blocked when the key blocks an attempt that would have fulfilled it, and none fulfils it later.
 * Attempts without a field of the key are let through. Attempts that failed, or of which the outcome is not known,
 * count for nothing.
 */

#include "analysis/duplicate.h"

struct design_result {
	const char *name;
	const char *const *key;		/* names of the fields, NULL at the end */
	bool per_step;			/* a key of the message, asked before each step as the handler of the day does */
	bool applicable;		/* false when the evidence lacks a field of the key */
	size_t caught;			/* second effects blocked */
	size_t missed;			/* second effects executed */
	size_t absorbed;		/* let through, and recognised by the called system */
	size_t wrongly_blocked;		/* intents: first effects of another intent, or steps still owed, skipped */
};

struct ttl_point {
	int64_t ttl_us;
	size_t missed;	/* by the design business + step with records that live so long */
};

struct idempotency {
	struct design_result *designs;
	size_t design_count;
	struct ttl_point *ttl_curve;	/* by TTL */
	size_t ttl_count;
	bool has_longest_gap;		/* false when no intent was attempted again */
	int64_t longest_gap_us;		/* from the first effect of one intent to the last attempt at it */
};

int idempotency_find(const struct side_effects *e, struct arena *a, struct idempotency *out);

#endif
