/* SPDX-License-Identifier: MIT */
/* See the header. */

#include "input/capture/intake.h"

#include <assert.h>
#include <string.h>

void intake_init(struct intake *i, struct stream *s, struct arena *a)
{
	*i = (struct intake){ .stream = s, .bytes = arena_alloc(a, INTAKE_ASK_MOST + INTAKE_READ_BYTES) };
}

bool intake_fill(struct intake *i, size_t n)
{
	assert(n <= INTAKE_ASK_MOST);
	if (i->start > 0)
		memmove(i->bytes, i->bytes + i->start, intake_left(i));
	i->end -= i->start;
	i->start = 0;
	while (i->end < n && !i->ended) {
		ptrdiff_t got = stream_read(i->stream, i->bytes + i->end, INTAKE_READ_BYTES);

		i->ended = got <= 0;
		i->damaged = got < 0;
		if (got > 0)
			i->end += (size_t)got;
	}
	return i->end >= n;
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
