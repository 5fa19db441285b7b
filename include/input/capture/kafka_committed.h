/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_COMMITTED_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_COMMITTED_H

/*
 * Offsets that were committed, as wire.commit. A consumer may commit after each
 * record: of a partition one event tells commits that follow one another within
 * a second, over at most ten, while the same member of the same generation goes
 * forward. It begins with the first of them, and all else that it says is the
 * latest's: so no one who looks for the last sign of a member, or for the offset
 * that it left, misses any.
 */

#include "input/capture/kafka_conn.h"

/* The request was answered now: the partition's offset, where it is known, is committed. */
void kafka_committed_take(struct kafka_conn *c, const struct kafka_request *r, struct sv topic, int64_t partition,
			  const struct kafka_number *offset);
/* Something else is told of the partition: what came before it goes first. */
void kafka_committed_tell(struct kafka_conn *c, struct sv topic, int64_t partition);
/* Tells what is kept of the connection, and forgets it. */
void kafka_committed_end(struct kafka_conn *c);

/* Of a whole capture. */
struct kafka_spot_pool kafka_committed_pool(struct arena *a);

#endif
