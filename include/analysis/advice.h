/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_ADVICE_H
#define AFTERSHOCK_ANALYSIS_ADVICE_H

/*
 * What the evidence speaks for, and what it does not (method.md 9). Advice is
 * gated by cause: evictions by silence on the network speak for the session
 * timeout, overruns of the poll interval for that interval, all else for neither.
 * Where nothing is advised a note says why.
 */

#include "analysis/silence.h"
#include "analysis/tune.h"

struct advice_context {
	const struct group *group;
	const struct rebalances *rebalances;
	const struct side_effects *effects;
	const struct idempotency *idempotency;
	const struct silence_list *silences;
	const struct analysis_options *options;
	struct arena *arena;
	struct tuning *out;	/* durations and outages are filled */
	size_t advice_capacity, note_capacity;
};

/*
 * The least session timeout that the silences speak for: their P99 (or the longest, while the P99 is not known), one
 * heartbeat and the path's round trip, in whole seconds. False when no living member was evicted by the network.
 */
bool advice_session_ms(const struct advice_context *ctx, int64_t *ms);

/* "18.9 s": to the nearest tenth. */
struct sv advice_seconds(struct arena *a, int64_t ms);

void advise_timeouts(struct advice_context *ctx);
void advise_poll_interval(struct advice_context *ctx);
void note_other_causes(struct advice_context *ctx);
void advise_ttl(struct advice_context *ctx);

#endif
