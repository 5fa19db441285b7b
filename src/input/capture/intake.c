/* SPDX-License-Identifier: MIT */
/* See the header. */

#include "input/capture/intake.h"

#include <assert.h>
#include <string.h>

#include "input/stream.h"

static uint8_t *same_room(void *context)
{
	return context;
}

void intake_init_rooms(struct intake *i, struct stream *s, struct intake_rooms rooms)
{
	*i = (struct intake){ .stream = s, .rooms = rooms };
}

void intake_init(struct intake *i, struct stream *s, struct arena *a)
{
	intake_init_rooms(i, s, (struct intake_rooms){ same_room, arena_alloc(a, INTAKE_ROOM_BYTES) });
}

void intake_init_mapped(struct intake *i, struct stream *s, const struct mapped *m)
{
	*i = (struct intake){ .stream = s, .bytes = mapped_bytes(m), .end = mapped_size(m), .ended = true };
}

/* NULL at the end. */
static uint8_t *turn(struct intake *i)
{
	size_t left = intake_left(i);
	uint8_t *room = i->rooms.next(i->rooms.context);

	assert(left <= INTAKE_ASK_MOST);
	if (room == NULL) {
		i->ended = true;
		return NULL;
	}
	/* Of the room before, or of the same one. */
	if (left > 0)
		memmove(room + INTAKE_ASK_MOST - left, i->bytes + i->start, left);
	i->bytes = room;
	i->start = INTAKE_ASK_MOST - left;
	i->end = INTAKE_ASK_MOST;
	return room;
}

void intake_turn(struct intake *i)
{
	(void)turn(i);
}

static void read_block(struct intake *i)
{
	uint8_t *room = turn(i);
	ptrdiff_t got;

	if (room == NULL)
		return;
	got = stream_read_on(i->stream, room + INTAKE_ASK_MOST, INTAKE_READ_BYTES);
	i->ended = got <= 0;
	i->damaged = got < 0;
	i->end += got > 0 ? (size_t)got : 0;
}

bool intake_fill(struct intake *i, size_t n)
{
	assert(n <= INTAKE_ASK_MOST);
	while (intake_left(i) < n && !i->ended)
		read_block(i);
	return intake_left(i) >= n;
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
