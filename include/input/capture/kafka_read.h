/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_READ_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_READ_H

/*
 * The primitives of Kafka's protocol in both encodings. Lengths come from the
 * wire and are believed only as far as the frame reaches.
 */

#include "base/sv.h"

/* How a read ended. The first that is not fine stays: all reads after it give 0. */
enum kafka_read_state {
	KAFKA_READ_FINE,
	KAFKA_READ_CUT,		/* goes on beyond the bytes that are at hand: a snapshot length, a long frame */
	KAFKA_READ_BAD,		/* contradicts the frame's own length */
};

/* Walks over one frame. */
struct kafka_reader {
	const uint8_t *at, *end;	/* bytes at hand */
	size_t beyond;			/* bytes of the frame after end */
	bool flexible;			/* compact lengths and tag sections (KIP-482) */
	enum kafka_read_state state;
};

/* What is left of the frame, at hand or not. */
static inline size_t kafka_read_left(const struct kafka_reader *r)
{
	return (size_t)(r->end - r->at) + r->beyond;
}

/* n bytes are not at hand: notes why, and gives NULL. */
const uint8_t *kafka_read_short(struct kafka_reader *r, size_t n);

/* The next n bytes; NULL, and a state, when they are not at hand. */
static inline const uint8_t *kafka_read_bytes(struct kafka_reader *r, size_t n)
{
	const uint8_t *p = r->at;

	if (r->state != KAFKA_READ_FINE || n > (size_t)(r->end - p))
		return kafka_read_short(r, n);
	r->at += n;
	return p;
}

void kafka_read_skip(struct kafka_reader *r, uint64_t n);

/* The number that stands in 1, 2, 4 or 8 bytes, with its sign. */
static inline int64_t kafka_read_number(const uint8_t *p, unsigned bytes)
{
	uint64_t value = (p[0] & 0x80) != 0 ? UINT64_MAX : 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[i];
	return (int64_t)value;
}

/* The next one. */
static inline int64_t kafka_read_int(struct kafka_reader *r, unsigned bytes)
{
	const uint8_t *p = kafka_read_bytes(r, bytes);

	return p != NULL ? kafka_read_number(p, bytes) : 0;
}

uint64_t kafka_read_varint(struct kafka_reader *r);

/* How many bytes follow; -1: null. string: whether the classic length has two bytes, else four. */
int64_t kafka_read_length(struct kafka_reader *r, bool string);
/* Absent when null, or when it could not be read whole. */
struct sv kafka_read_text(struct kafka_reader *r);
struct sv kafka_read_blob(struct kafka_reader *r);
/* How many elements follow; 0 also for null. Never more than there are bytes left in the frame. */
size_t kafka_read_count(struct kafka_reader *r);
/* Passes over the tag section that ends a struct; nothing in the classic encoding. */
void kafka_read_tags(struct kafka_reader *r);

#endif
