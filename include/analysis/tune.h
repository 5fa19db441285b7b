/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_TUNE_H
#define AFTERSHOCK_ANALYSIS_TUNE_H

/*
 * Timeouts: how long the silences were, what each session timeout would have
 * avoided and cost, and the life of the dedupe record (method.md 9).
 */

#include "analysis/duplicate.h"
#include "analysis/idempotency.h"
#include "analysis/share.h"
#include "analysis/survival.h"

struct candidate {
	int64_t session_timeout_ms;
	bool is_current;
	/*
	 * Silences that would have evicted: those at least so long. From the session timeout in force on, only those that
	 * really did evict can do so; and one that was cut short by the end of the evidence is taken to last.
	 */
	size_t evictions;
	size_t rebalances_avoided;	/* roots that would not have been, with what follows from them */
	size_t duplicates_avoided;	/* of those rebalances */
	struct amount_total *amounts_avoided;
	size_t amount_count;
	int64_t detection_ms;		/* until a real crash is noticed, at most */
	int64_t detection_mean_ms;	/* S - H/2 */
};

struct advice {
	struct sv setting;	/* "session.timeout.ms" */
	bool has_current;
	int64_t current;
	int64_t recommended;
	struct sv reason;	/* one sentence with its figures and the count it rests on */
};

struct ttl_advice {
	bool known;
	int64_t redelivery_seen_us;	/* longest, 0 when none was seen */
	int64_t redelivery_bound_us;	/* max.poll.interval + session timeout + rebalance time */
	bool has_reconciliation, has_confirmation;
	int64_t reconciliation_us, confirmation_us;
	int64_t margin_us;
	int64_t recommended_us;
	bool has_storage;
	int64_t records_per_day;	/* at the rate seen */
	struct sv reason;
};

struct tuning {
	struct sv group;
	struct silences durations;	/* of silences on consumer-coordinator paths */
	struct silences outages;	/* the part without backoff */
	struct candidate *candidates;	/* by session timeout */
	size_t candidate_count;
	struct advice *advices;		/* none when the evidence speaks for none */
	size_t advice_count;
	struct sv *notes;		/* what was not advised, and why */
	size_t note_count;
	struct ttl_advice ttl;
};

int tune_find(const struct groups *g, const struct windows *w, const struct rebalances *r, const struct share *sh,
	      const struct side_effects *e, const struct idempotency *i, const struct analysis_options *o, struct arena *a,
	      struct tuning *out);

#endif
