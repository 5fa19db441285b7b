/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_PASS_H
#define AFTERSHOCK_ANALYSIS_PASS_H

/*
 * A pass is all that one consumer handles of one partition under one grant.
 * Passes are in the order in which their consumers were given the partition,
 * not of the handling: an evicted consumer that goes on (a zombie) handles some
 * offsets later than the new owner, and still the new owner's are the
 * redelivered ones.
 */

#include "analysis/grant.h"

struct pass {
	struct sv consumer, topic;
	int64_t partition;
	struct ref_time since;	/* when the consumer was given the partition; the order of passes */
	struct ref_time first, last;	/* handlings */
	const struct run *highest;	/* of its runs, by offset */
	const struct grant *grant;	/* NULL when no log tells it */
	unsigned rebalance;	/* that gave it the partition; 0 when none fits */
	unsigned redelivery;	/* id; 0 when it handled nothing again */
};

struct passes {
	struct pass *items;	/* by topic, partition, since; items[0] stands for runs without coordinates */
	size_t count;
	size_t capacity;
};

/* Ties the runs to passes, and marks the grants that have one. */
void passes_find(const struct groups *g, const struct rebalances *r, struct attempts *t, struct grants *grants, struct arena *a,
		 struct passes *out);

#endif
