/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_IDEMPOTENCY_H
#define AFTERSHOCK_ANALYSIS_IDEMPOTENCY_H

/*
 * Which idempotency key would have held: the attempts replayed under each key
 * design (method.md 8).
 */

#include "analysis/duplicate.h"

struct design_result {
	const char *name;
	const char *const *key;		/* names of the fields, NULL at the end */
	bool applicable;		/* false when the evidence lacks a field of the key */
	size_t caught;			/* second effects blocked */
	size_t missed;			/* second effects executed */
	size_t wrongly_blocked;		/* first effects of another intent, or steps still owed, skipped */
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
	bool has_longest_gap;
	int64_t longest_gap_us;		/* between the first and the last effect of one intent */
};

int idempotency_find(const struct side_effects *e, struct arena *a, struct idempotency *out);

#endif
