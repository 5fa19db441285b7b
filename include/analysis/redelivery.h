/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_REDELIVERY_H
#define AFTERSHOCK_ANALYSIS_REDELIVERY_H

/*
 * Offsets delivered again after a rebalance (method.md 7): those that an
 * earlier pass of the partition has handled already.
 */

#include "analysis/pass.h"

struct redelivery {
	unsigned id;		/* 1.. : L1, L2 ... */
	struct sv group, topic;
	int64_t partition;
	int64_t committed_offset;	/* where the new owner resumed: first offset delivered again */
	int64_t processed_offset;	/* one past the last offset that had been processed before and came again */
	size_t records;			/* offsets in between that were really seen twice; 0: nothing shows each record */
	unsigned rebalance;		/* id; 0 when none fits */
	struct sv from, to;		/* consumers before and after */
	struct ref_time time;		/* of the first record seen again */
	int64_t longest_gap_us;		/* from a record's first handling to that after the rebalance; 0 when none was seen */
	/* "effects at the same offsets", "restored offset below one processed", "delivered from below a refused commit" */
	const char *basis;
	struct evidence_list evidence;
};

struct redeliveries {
	struct redelivery *items;	/* by time, then topic and partition */
	size_t count;
	size_t capacity;
	struct pass *passes;	/* by topic, partition, since; passes[0] stands for runs without coordinates */
	size_t pass_count;
};

/* Ties runs to passes and grants to rebalances. 0 or -1. */
int redeliveries_find(struct store *s, const struct clocks *c, const struct groups *g, const struct rebalances *r,
		      struct attempts *t, struct grants *grants, struct arena *a, struct redeliveries *out);

/*
 * Fills partitions_moved of the rebalances: from grants and passes, or where
 * there are none at all, from snapshots of the group. 0 or -1.
 */
int partitions_moved_find(struct store *s, const struct clocks *c, const struct grants *grants,
			  const struct redeliveries *d, struct arena *a, struct rebalances *r);

#endif
