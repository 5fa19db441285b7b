/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CAUSE_H
#define AFTERSHOCK_ANALYSIS_CAUSE_H

/*
 * Why an effect came a second time (method.md 7), against the earlier effects
 * of its intent:
 *
 * proven     the same message, handled again after a rebalance that gave its partition anew
 * strong     the same, but the rebalance is not in the evidence; or the offsets are not, and the second effect is by a
 *            consumer that the rebalance gave partitions to, while the backlog was worked off
 * weak       a rebalance lies between the two, and nothing else speaks for it
 * upstream   another message: the producer or the caller sent it twice
 * unrelated  the same message by the same consumer with no rebalance between, or no rebalance near
 */

#include "analysis/redelivery.h"

enum cause { CAUSE_PROVEN, CAUSE_STRONG, CAUSE_WEAK, CAUSE_UPSTREAM, CAUSE_UNRELATED, CAUSE_COUNT };

struct cause_link {
	enum cause cause;
	unsigned rebalance;	/* id; 0 when none */
	unsigned redelivery;	/* id; 0 when none */
};

struct cause_context {
	const struct groups *groups;
	const struct rebalances *rebalances;
	const struct attempts *attempts;
	const struct grants *grants;
	const struct redeliveries *redeliveries;
	int64_t longest_batch_us;	/* how long after a rebalance the new owner of any group may still work its backlog off */
};

int64_t cause_longest_batch_us(const struct groups *g);

/* The cause of effects[at], at > 0. */
struct cause_link cause_of(const struct cause_context *ctx, const struct attempt *const *effects, size_t at);
const char *cause_name(enum cause c);

#endif
