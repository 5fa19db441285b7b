/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_INTAKE_H
#define AFTERSHOCK_INPUT_CAPTURE_INTAKE_H

/*
 * A stream of bytes through buffers of fixed size, so that records of any
 * capture are looked at where they were read to, and memory does not grow with
 * what a file claims. What is left of one block is put before the next.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/kind.h"
#include "input/mapped.h"

/* The most that can be asked for at once; longer records are seen to here and then stepped over. */
#define INTAKE_ASK_MOST ((size_t)320 * 1024)
/*
 * So that the few that are under way from one thread to the other stay in the
 * second-level cache: twice as much took 3 to 7 % longer, half as much costs calls.
 */
#define INTAKE_READ_BYTES ((size_t)128 * 1024)
/* What is left of the block before, then a block. */
#define INTAKE_ROOM_BYTES (INTAKE_ASK_MOST + INTAKE_READ_BYTES)

/* Who wants blocks to stay where they are, when others are read, gives each its room. */
struct intake_rooms {
	/* INTAKE_ROOM_BYTES for the next block; the same as before when nobody looks at that. NULL: no more is to be read. */
	uint8_t *(*next)(void *context);
	void *context;
};

struct intake {
	struct stream *stream;
	struct intake_rooms rooms;
	const uint8_t *bytes;	/* the room at hand, or all that is mapped; NULL at the start */
	size_t start, end;	/* what was read and not yet taken */
	uint64_t offset;	/* in the stream, of bytes[start] */
	bool ended;		/* there is no more to read */
	bool damaged;		/* because the stream is: not yet recorded (stream_read_on) */
};

/* One room in the arena, used over and over. */
void intake_init(struct intake *i, struct stream *s, struct arena *a);
void intake_init_rooms(struct intake *i, struct stream *s, struct intake_rooms rooms);
/* All bytes, which lie there and need no room. */
void intake_init_mapped(struct intake *i, struct stream *s, const struct mapped *m);
/* Reads on until n bytes are there, or the stream has ended. False when they are not. */
bool intake_fill(struct intake *i, size_t n);
/* What is left goes on in the next room; it is at most a block. */
void intake_turn(struct intake *i);

static inline size_t intake_left(const struct intake *i)
{
	return i->end - i->start;
}

/* The next n bytes, which stay where they are until the next call; NULL when there are not so many. */
static inline const uint8_t *intake_look(struct intake *i, size_t n)
{
	return intake_left(i) >= n || intake_fill(i, n) ? i->bytes + i->start : NULL;
}

/* Steps over n bytes that were looked at. */
static inline void intake_take(struct intake *i, size_t n)
{
	i->start += n;
	i->offset += n;
}

/* Steps over any number of bytes. False when the stream ends before. */
bool intake_skip(struct intake *i, uint64_t n);

#endif
