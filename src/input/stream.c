/* SPDX-License-Identifier: MIT */
/*
 * Bytes from a source, read once, with a look ahead at the start: the look
 * ahead is kept until it has been read, then reads go straight through. A line
 * that is longer than anybody reads can be looked behind: what of it is not kept
 * is a gap, of zeros.
 */

#include "input/stream.h"

#include <assert.h>
#include <string.h>

struct stream {
	struct arena *arena;
	struct stream_source source;
	const char *head;	/* NULL until somebody reads */
	size_t head_most;	/* so far it is filled and shown */
	size_t head_bytes;	/* filled */
	size_t head_taken;	/* handed out */
	uint64_t gap_bytes;	/* behind the head, as far as they are not yet handed out */
	char *behind;		/* what was read behind the gap; NULL when nobody looked there */
	size_t behind_bytes, behind_taken;
	uint64_t position;
	uint64_t lines;
	bool ended;		/* the source said 0 or -1 */
	bool damaged;		/* it was -1 */
	bool reported;
};

/* Fills what has n bytes in it as far as the source goes, to capacity; how many there are then. */
static size_t fill(struct stream *s, char *bytes, size_t n, size_t capacity)
{
	while (!s->ended && n < capacity) {
		ptrdiff_t got = s->source.read(s->source.context, bytes + n, capacity - n);

		s->ended = got <= 0;
		s->damaged = got < 0;
		if (got > 0)
			n += (size_t)got;
	}
	return n;
}

static void fill_head(struct stream *s)
{
	char *head;

	if (s->head != NULL)
		return;
	head = arena_alloc(s->arena, s->head_most);
	s->head_bytes = fill(s, head, 0, s->head_most);
	s->head = head;
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

/* Of what was read ahead; n is not 0. 0 when all of it has been handed out. */
static size_t read_ahead(struct stream *s, void *bytes, size_t n)
{
	size_t head_left = s->head_bytes - s->head_taken, behind_left = s->behind_bytes - s->behind_taken;

	if (head_left > 0) {
		n = n < head_left ? n : head_left;
		memcpy(bytes, s->head + s->head_taken, n);
		s->head_taken += n;
	} else if (s->gap_bytes > 0) {
		n = n < s->gap_bytes ? n : (size_t)s->gap_bytes;
		memset(bytes, 0, n);
		s->gap_bytes -= n;
	} else if (behind_left > 0) {
		n = n < behind_left ? n : behind_left;
		memcpy(bytes, s->behind + s->behind_taken, n);
		s->behind_taken += n;
	} else {
		n = 0;
	}
	return n;
}

struct stream *stream_new(struct arena *a, struct stream_source source)
{
	struct stream *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->source = source;
	s->head_most = STREAM_HEAD_BYTES;
	return s;
}

/* The whole of it is the head of a source that has ended. */
struct stream *stream_of(struct arena *a, struct sv bytes)
{
	struct stream *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->head_most = STREAM_HEAD_BYTES;
	s->head = bytes.p != NULL ? bytes.p : "";
	s->head_bytes = bytes.n;
	s->ended = true;
	return s;
}

struct sv stream_head(struct stream *s)
{
	fill_head(s);
	return (struct sv){ s->head, s->head_bytes < s->head_most ? s->head_bytes : s->head_most };
}

static void grow_head(struct stream *s, size_t most)
{
	fill_head(s);
	assert(s->position == 0 && s->behind == NULL);
	if (s->head_bytes == s->head_most && !s->ended && s->head_most < most) {
		char *head = arena_alloc(s->arena, most);

		memcpy(head, s->head, s->head_bytes);
		s->head_bytes = fill(s, head, s->head_bytes, most);
		s->head = head;
	}
	if (s->head_most < most)
		s->head_most = most;
}

struct sv stream_head_further(struct stream *s)
{
	grow_head(s, STREAM_FURTHER_BYTES);
	return stream_head(s);
}

/* Where the first line ends, or the zeros that stand at the start do. The length when that is not among the bytes. */
static size_t find_end(struct sv bytes, bool zeros)
{
	size_t at = bytes.n;

	if (zeros)
		return sv_leading_zeros(bytes);
	(void)sv_find_char(bytes, '\n', &at);
	return at;
}

/* Reads on to where a line begins; what lies before it becomes the gap. */
static void find_behind(struct stream *s, bool zeros)
{
	uint64_t gap = 0;

	s->behind = arena_alloc(s->arena, STREAM_HEAD_BYTES);
	while (!s->ended && gap < STREAM_GAP_MOST) {
		size_t n = fill(s, s->behind, 0, STREAM_HEAD_BYTES), at = find_end((struct sv){ s->behind, n }, zeros);

		gap += at;
		if (at == n)
			continue;
		memmove(s->behind, s->behind + at, n - at);
		s->behind_bytes = fill(s, s->behind, n - at, STREAM_HEAD_BYTES);
		break;
	}
	s->gap_bytes = gap;
}

struct sv stream_head_behind(struct stream *s)
{
	struct sv head = stream_head_further(s);
	bool zeros = sv_leading_zeros(head) == head.n;
	size_t at = find_end(head, zeros);

	if (at < head.n) {
		grow_head(s, STREAM_FURTHER_BYTES + STREAM_HEAD_BYTES);
		return sv_sub(stream_head(s), at + 1, STREAM_HEAD_BYTES);
	}
	find_behind(s, zeros);
	/* The line feed is that of the line before. */
	return sv_sub((struct sv){ s->behind, s->behind_bytes }, zeros ? 0 : 1, STREAM_HEAD_BYTES);
}

ptrdiff_t stream_read_on(struct stream *s, void *bytes, size_t n)
{
	ptrdiff_t got;

	fill_head(s);
	if (n == 0)
		return 0;
	got = (ptrdiff_t)read_ahead(s, bytes, n);
	if (got == 0 && !s->ended) {
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

struct mapped *stream_map(struct stream *s)
{
	assert(s->position == 0);
	return s->source.map != NULL ? s->source.map(s->source.context, s->arena) : NULL;
}

void stream_read_from(struct stream *s, uint64_t position)
{
	s->head_taken = s->head_bytes;
	s->behind_taken = s->behind_bytes;
	s->gap_bytes = 0;
	s->ended = s->damaged = false;
	s->position = position;
	s->source.seek(s->source.context, position);
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
