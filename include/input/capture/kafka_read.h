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

/* A length contradicts the frame: notes it. */
void kafka_read_fail(struct kafka_reader *r);

static inline void kafka_read_skip(struct kafka_reader *r, uint64_t n)
{
	if (n > kafka_read_left(r))
		kafka_read_fail(r);
	else
		(void)kafka_read_bytes(r, (size_t)n);
}

/* The number that stands in 1, 2, 4 or 8 bytes, with its sign. */
static inline int64_t kafka_read_number(const uint8_t *p, unsigned bytes)
{
	uint32_t high = (uint32_t)p[0] << 24 | (bytes > 1 ? (uint32_t)p[1] << 16 : 0);

	if (bytes <= 2)
		return (int32_t)high >> (bytes == 1 ? 24 : 16);
	high |= (uint32_t)p[2] << 8 | p[3];
	if (bytes == 4)
		return (int32_t)high;
	return (int64_t)((uint64_t)high << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
			 (uint64_t)p[6] << 8 | p[7]);
}

/* The next one. */
static inline int64_t kafka_read_int(struct kafka_reader *r, unsigned bytes)
{
	const uint8_t *p = kafka_read_bytes(r, bytes);

	return p != NULL ? kafka_read_number(p, bytes) : 0;
}

uint64_t kafka_read_varint(struct kafka_reader *r);

/* How many bytes follow, in the flexible encoding. */
int64_t kafka_read_compact(struct kafka_reader *r);

/* How many bytes follow; -1: null. string: whether the classic length has two bytes, else four. */
static inline int64_t kafka_read_length(struct kafka_reader *r, bool string)
{
	int64_t size = r->flexible ? kafka_read_compact(r) : kafka_read_int(r, string ? 2 : 4);

	if (r->state != KAFKA_READ_FINE)
		return -1;
	if (size < -1 || (size > 0 && (uint64_t)size > kafka_read_left(r))) {
		kafka_read_fail(r);
		return -1;
	}
	return size;
}

/* Absent when null, or when it could not be read whole. */
struct sv kafka_read_text(struct kafka_reader *r);
struct sv kafka_read_blob(struct kafka_reader *r);
/*
 * How many elements follow; 0 also for null. Never more than there are bytes left in the frame: none takes less than
 * a byte.
 */
static inline size_t kafka_read_count(struct kafka_reader *r)
{
	int64_t n = kafka_read_length(r, false);

	return n > 0 ? (size_t)n : 0;
}

/* Passes over the tag section that ends a struct; nothing in the classic encoding. */
void kafka_read_tag_section(struct kafka_reader *r);
static inline void kafka_read_tags(struct kafka_reader *r)
{
	if (r->flexible)
		kafka_read_tag_section(r);
}

#endif
