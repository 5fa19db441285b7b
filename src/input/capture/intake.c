/* SPDX-License-Identifier: MIT */
/* See the header. */

#include "input/capture/intake.h"

#include <assert.h>
#include <string.h>

#include "input/capture/ahead.h"

void intake_init(struct intake *i, struct stream *s, unsigned threads, struct arena *a)
{
	*i = (struct intake){ .stream = s };
	if (threads > 1)
		i->ahead = ahead_new(s, INTAKE_ASK_MOST, INTAKE_READ_BYTES, a);
	if (i->ahead == NULL)
		i->bytes = arena_alloc(a, INTAKE_ASK_MOST + INTAKE_READ_BYTES);
}

/* Reading is over: whether by damage the stream says now, and records it. */
static void end_ahead(struct intake *i)
{
	uint8_t byte;

	ahead_free(i->ahead);
	i->ahead = NULL;
	i->ended = true;
	i->damaged = stream_read(i->stream, &byte, 1) < 0;
}

/* 0 at the end. What is left already lies before the block. */
static size_t next_block_ahead(struct intake *i, size_t left)
{
	size_t n;
	uint8_t *block = ahead_take(i->ahead, &n);

	if (block == NULL) {
		end_ahead(i);
		return 0;
	}
	if (left > 0)
		memcpy(block + INTAKE_ASK_MOST - left, i->bytes + i->start, left);
	ahead_release(i->ahead);
	i->bytes = block;
	i->start = INTAKE_ASK_MOST - left;
	return n;
}

static size_t next_block(struct intake *i, size_t left)
{
	ptrdiff_t got;

	memmove(i->bytes + INTAKE_ASK_MOST - left, i->bytes + i->start, left);
	i->start = INTAKE_ASK_MOST - left;
	i->end = INTAKE_ASK_MOST;
	got = stream_read(i->stream, i->bytes + INTAKE_ASK_MOST, INTAKE_READ_BYTES);
	i->ended = got <= 0;
	i->damaged = got < 0;
	return got > 0 ? (size_t)got : 0;
}

bool intake_fill(struct intake *i, size_t n)
{
	assert(n <= INTAKE_ASK_MOST);
	while (intake_left(i) < n && !i->ended) {
		size_t left = intake_left(i);
		size_t got = i->ahead != NULL ? next_block_ahead(i, left) : next_block(i, left);

		if (got > 0)
			i->end = INTAKE_ASK_MOST + got;
	}
	return intake_left(i) >= n;
}

void intake_fini(struct intake *i)
{
	ahead_free(i->ahead);
	i->ahead = NULL;
}

bool intake_skip(struct intake *i, uint64_t n)
{
	while (n > 0) {
		size_t some = n < INTAKE_READ_BYTES ? (size_t)n : INTAKE_READ_BYTES;

		if (intake_look(i, some) == NULL) {
			intake_take(i, intake_left(i));
			return false;
		}
		intake_take(i, some);
		n -= some;
	}
	return true;
}
