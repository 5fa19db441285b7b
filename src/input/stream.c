/* SPDX-License-Identifier: MIT */
/*
 * Bytes from a source, read once, with a look ahead at the start: the look
 * ahead is kept until it has been read, then reads go straight through.
 */

#include "input/stream.h"

#include <string.h>

struct stream {
	struct arena *arena;
	struct stream_source source;
	const char *head;	/* NULL until somebody reads */
	size_t head_bytes;	/* filled */
	size_t head_taken;	/* handed out */
	uint64_t position;
	uint64_t lines;
	bool ended;		/* the source said 0 or -1 */
	bool damaged;		/* it was -1 */
	bool reported;
};

static void fill_head(struct stream *s)
{
	char *head;

	if (s->head != NULL)
		return;
	head = arena_alloc(s->arena, STREAM_HEAD_BYTES);
	s->head = head;
	while (!s->ended && s->head_bytes < STREAM_HEAD_BYTES) {
		ptrdiff_t n = s->source.read(s->source.context, head + s->head_bytes,
					     STREAM_HEAD_BYTES - s->head_bytes);

		s->ended = n <= 0;
		s->damaged = n < 0;
		if (n > 0)
			s->head_bytes += (size_t)n;
	}
}

static ptrdiff_t end_of(struct stream *s)
{
	if (!s->damaged)
		return 0;
	if (!s->reported && s->source.report != NULL)
		s->source.report(s->source.context, s->position);
	s->reported = true;
	return -1;
}

static size_t read_head(struct stream *s, void *bytes, size_t n)
{
	size_t left = s->head_bytes - s->head_taken;

	if (n > left)
		n = left;
	memcpy(bytes, s->head + s->head_taken, n);
	s->head_taken += n;
	return n;
}

struct stream *stream_new(struct arena *a, struct stream_source source)
{
	struct stream *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->source = source;
	return s;
}

/* The whole of it is the head of a source that has ended. */
struct stream *stream_of(struct arena *a, struct sv bytes)
{
	struct stream *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->head = bytes.p != NULL ? bytes.p : "";
	s->head_bytes = bytes.n;
	s->ended = true;
	return s;
}

struct sv stream_head(struct stream *s)
{
	fill_head(s);
	return (struct sv){ s->head, s->head_bytes < STREAM_HEAD_BYTES ? s->head_bytes : STREAM_HEAD_BYTES };
}

ptrdiff_t stream_read_on(struct stream *s, void *bytes, size_t n)
{
	ptrdiff_t got = 0;

	fill_head(s);
	if (n == 0)
		return 0;
	if (s->head_taken < s->head_bytes) {
		got = (ptrdiff_t)read_head(s, bytes, n);
	} else if (!s->ended) {
		got = s->source.read(s->source.context, bytes, n);
		if (got <= 0) {
			s->ended = true;
			s->damaged = got < 0;
			got = 0;
		}
	}
	s->position += (uint64_t)got;
	return got == 0 && s->damaged ? -1 : got;
}

ptrdiff_t stream_read(struct stream *s, void *bytes, size_t n)
{
	ptrdiff_t got = stream_read_on(s, bytes, n);

	return got > 0 || n == 0 ? got : end_of(s);
}

uint64_t stream_position(const struct stream *s)
{
	return s->position;
}

void stream_note_lines(struct stream *s, uint64_t lines)
{
	s->lines = lines;
}

uint64_t stream_lines(const struct stream *s)
{
	return s->lines;
}

bool stream_is_damaged(const struct stream *s)
{
	return s->damaged;
}
