/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_SPOT_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_SPOT_H

/*
 * The partitions that one connection speaks of. Most requests and answers name
 * them in the order of those before, so they stand in a ring, and each search
 * begins where the last one ended.
 */

#include "base/arena.h"

/* What is kept of a partition begins with this. */
struct kafka_spot {
	struct kafka_spot *next;
	struct sv topic;	/* kept by kafka_names: told apart by its address */
	int64_t partition;
};

/* Zeroed: none yet. */
struct kafka_spots {
	struct kafka_spot *at;
	unsigned count;
};

/* Of all connections together: made, and those that are free. */
struct kafka_spot_pool {
	struct arena *arena;
	struct kafka_spot *free;
	size_t made, most, bytes;	/* bytes: of each */
};

/* NULL when it is not among them. */
struct kafka_spot *kafka_spots_find(struct kafka_spots *s, struct sv topic, int64_t partition);
/* The same, or else a new one, zeroed but for its partition; NULL when there is no room. */
struct kafka_spot *kafka_spots_get(struct kafka_spots *s, struct kafka_spot_pool *pool, struct sv topic, int64_t partition);
/* Takes one out and gives it back; its contents stay until the next is made. NULL when none is left. */
struct kafka_spot *kafka_spots_pop(struct kafka_spots *s, struct kafka_spot_pool *pool);

#endif
