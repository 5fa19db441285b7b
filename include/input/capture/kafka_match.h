/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_MATCH_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_MATCH_H

/*
 * Requests of one connection that wait for their answers. A broker answers in
 * order (its SocketServer takes one request of a connection at a time), so an
 * answer to a later one says that those before were answered unseen.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/capture/kafka_layout.h"
#include "input/capture/packet_place.h"

/* One of a request's several: a partition with its offset, a member that leaves. */
struct kafka_item {
	struct kafka_item *next;
	struct sv name, instance, reason;	/* topic, or member */
	int64_t partition, offset;
};

struct kafka_number {
	bool known;
	int64_t value;
};

struct kafka_layout;

struct kafka_request {
	struct kafka_request *next;
	int32_t correlation;
	int16_t key, version;
	const struct kafka_layout *layout;	/* of its bodies; NULL: they are not read */
	bool is_flexible;	/* it and its answer (KIP-482) */
	bool is_replica;	/* a broker's own fetch */
	uint32_t end;		/* sequence number after its last byte */
	struct kafka_item *items;
	struct packet_place place;	/* of its first byte */
	int64_t begun_us;	/* its first byte */
	int64_t sent_us;	/* its last byte, for the first time; 0: not seen yet */
	int64_t last_us;	/* its last byte, for the last time */
	int64_t received_us;	/* the transmission that the peer acknowledged; 0: none was */
	uint32_t sends;
	/* Names are kept by kafka_names. */
	struct sv client, group, member, instance, reason, protocol;
	struct kafka_number generation, session_ms, rebalance_ms, max_wait_ms, key_type;
};

/* Of a whole capture: what is free, and how many there are. */
struct kafka_store {
	struct arena *arena;
	struct kafka_request *free;
	struct kafka_item *free_items;
	size_t made, items_made;
	uint64_t dropped;	/* requests for which there was no room */
};

struct kafka_queue {
	struct kafka_request *oldest, **end;
	unsigned count;
	bool is_under_way;	/* one of them may not have been acknowledged yet */
};

void kafka_queue_init(struct kafka_queue *q);
/* A new one at its end, zeroed; NULL when there is no room. The oldest gives way when too many wait. */
struct kafka_request *kafka_queue_add(struct kafka_queue *q, struct kafka_store *s);
/* The one of this correlation id, taken out with those before it, which are forgotten; NULL when none waits. */
struct kafka_request *kafka_queue_answer(struct kafka_queue *q, struct kafka_store *s, int32_t correlation);
bool kafka_queue_has(const struct kafka_queue *q, int32_t correlation);
/* Takes out the newest: it will have no answer. */
void kafka_queue_drop_newest(struct kafka_queue *q, struct kafka_store *s);
/* The oldest, taken out; NULL when none waits. */
struct kafka_request *kafka_queue_pop(struct kafka_queue *q);
/* Accepts NULL. */
void kafka_queue_release(struct kafka_store *s, struct kafka_request *r);

/* Payload of the asking side from start to end was sent, perhaps again. */
void kafka_queue_sent(struct kafka_queue *q, uint32_t start, uint32_t end, int64_t us);
/* The peer has all up to there. Of most packets that is known already. */
void kafka_queue_arrived(struct kafka_queue *q, uint32_t ack);
static inline void kafka_queue_acknowledged(struct kafka_queue *q, uint32_t ack)
{
	if (q->is_under_way)
		kafka_queue_arrived(q, ack);
}

/* An item before *list, zeroed; NULL when there is no room. */
struct kafka_item *kafka_item_add(struct kafka_store *s, struct kafka_item **list);
void kafka_items_release(struct kafka_store *s, struct kafka_item **list);

#endif
