/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_GRANT_H
#define AFTERSHOCK_ANALYSIS_GRANT_H

/*
 * Grants: a partition given to a consumer by a rebalance, as the consumer's own
 * log tells it. A consumer's handlings of a partition belong to its latest
 * grant, even after another has been given the partition (a zombie's).
 */

#include "analysis/attempt.h"
#include "analysis/rebalance.h"

struct grant {
	struct sv group, topic;
	int64_t partition;
	struct sv host, client;		/* whose log tells it; the client may be absent */
	struct sv consumer;		/* as effects name it; absent when no effect is its */
	struct ref_time time;
	bool is_coarse;			/* told by the second: it was at some time within it */
	bool has_offset;		/* where it resumed: the committed offset */
	int64_t offset;
	unsigned rebalance;		/* id; 0 when none fits */
	bool used;			/* handlings are known that belong to it; set by passes_find */
	struct evidence evidence;	/* of the offset where there is one, else of the assignment */
};

struct grants {
	struct grant *items;	/* by consumer, topic, partition, time: the order of runs */
	size_t count;
	size_t capacity;
	const struct grant **by_rebalance;	/* then consumer; made when all are found */
};

/* Grants from the client logs whose times are finer than a second, each with its rebalance. 0 or -1. */
int grants_find(struct store *s, const struct clocks *c, const struct groups *g, const struct rebalances *r,
		const struct attempts *t, struct arena *a, struct grants *out);

/*
 * Grants of which no log tells the offset take it from the commits that the
 * coordinator stored: the latest before the new owner began is where it
 * resumed. grants_find does it (grant_commit.c). 0 or -1.
 */
int grants_take_commits(struct store *s, const struct clocks *c, struct arena *a, struct grants *grants);

/* The rebalance that gave partitions then: of this generation where it is known, else the latest that had begun; 0 when none. */
unsigned grants_rebalance(const struct rebalances *r, struct sv group, const int64_t *generation, struct ref_time t);

/* Those of this consumer and partition: [*first, *end). */
void grants_of(const struct grants *grants, const struct run *r, size_t *first, size_t *end);

/* Whether the log of this consumer is in the evidence: it was given any partition. */
bool grants_know(const struct grants *grants, struct sv consumer);

/* Whether the rebalance gave the consumer any partition. */
bool grants_gave(const struct grants *grants, unsigned rebalance, struct sv consumer);

/*
 * The topic-partitions of a text such as "[a-0, b-c-12]", "a [3], b [4]",
 * "a[0 1], b[2]", "a/3", "3 of a" or "TopicPartition(topic='a', partition=3)", one after the
 * other. False at the end; pieces that are none are passed over. *topic is absent
 * at first and kept between calls.
 */
bool partitions_next(struct sv *rest, struct sv *topic, int64_t *partition);

#endif
