/* SPDX-License-Identifier: MIT */
/*
 * Lines of a stream, as kind.h promises. Bytes stay bytes: NUL and broken
 * UTF-8 are handed on as they are (they occur after crashes and copytruncate;
 * input-formats.md 4.3). UTF-16 becomes UTF-8: by its byte order mark, or where
 * every second byte is zero, as tools of Windows write it without one.
 */

#include "input/kind.h"

#include <string.h>

#include "base/utf8.h"
#include "input/stream.h"

/* Read at once. Twice as much UTF-16 as this becomes at most three times as many bytes of UTF-8 per two. */
#define BLOCK_BYTES ((size_t)64 * 1024)
/* The longest line that is delivered whole, its CR, and a block behind it. */
#define BUFFER_BYTES_MAX (LINE_BYTES_MAX + 2 * BLOCK_BYTES)

enum encoding { ENCODING_BYTES, ENCODING_UTF16_LE, ENCODING_UTF16_BE };

/* What a UTF-16 decoder keeps between two blocks. */
struct utf16 {
	enum encoding order;
	bool has_odd;
	unsigned char odd;
	uint32_t high;	/* high surrogate waiting for its low one; 0 when none */
};

struct lines {
	struct arena *arena;
	struct stream *stream;
	struct diag *diag;
	char *buffer;
	size_t capacity;
	size_t start, end;	/* what is buffered and not delivered */
	size_t scanned;		/* no line end lies between start and here */
	bool ended;
	bool damaged;
	bool skipping;		/* in the rest of a line that was cut */
	bool without_zeros;
	uint64_t number;	/* of the last line */
	uint64_t offset;	/* in the stream, of buffer[start] */
	struct utf16 utf16;
	unsigned char *raw;	/* a block of UTF-16 before it is decoded */
};

static const struct byte_order_mark {
	const char *bytes;
	size_t n;
	enum encoding encoding;
} marks[] = {
	{ "\xef\xbb\xbf", 3, ENCODING_BYTES },
	{ "\xff\xfe", 2, ENCODING_UTF16_LE },
	{ "\xfe\xff", 2, ENCODING_UTF16_BE },
};

static const struct byte_order_mark unmarked[] = {
	{ "", 0, ENCODING_BYTES },
	{ "", 0, ENCODING_UTF16_LE },
	{ "", 0, ENCODING_UTF16_BE },
};

/* So many units at the start are looked at, and as few are not enough to tell. */
#define UNITS_MOST 2048
#define UNITS_LEAST 8

static bool is_text(unsigned char c)
{
	return c == '\t' || c == '\n' || c == '\r' || c == 0x1b || (c >= 0x20 && c < 0x7f);
}

/*
 * Whether units of two bytes are text: most have a zero beside a letter or a
 * sign of ASCII, and none has it beside another byte, as numbers in a binary
 * file do. Which of the two the zero is, high says.
 */
static bool is_utf16(struct sv head, size_t high)
{
	size_t units = head.n / 2 < UNITS_MOST ? head.n / 2 : UNITS_MOST, ascii = 0;

	for (size_t i = 0; i < units; i++) {
		if (head.p[2 * i + high] != '\0')
			continue;
		if (!is_text((unsigned char)head.p[2 * i + 1 - high]))
			return false;
		ascii++;
	}
	return units >= UNITS_LEAST && 2 * ascii > units;
}

/* How the bytes are to be read, and which of them stand before the text. */
static const struct byte_order_mark *mark_of(struct sv head)
{
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
		if (head.n >= marks[i].n && memcmp(head.p, marks[i].bytes, marks[i].n) == 0)
			return &marks[i];
	return &unmarked[is_utf16(head, 1) ? ENCODING_UTF16_LE : is_utf16(head, 0) ? ENCODING_UTF16_BE : ENCODING_BYTES];
}

#define REPLACEMENT 0xfffdU

/* One unit of UTF-16; a surrogate without its partner becomes U+FFFD. Writes at most six bytes. */
static size_t put_unit(struct utf16 *u, uint32_t unit, char *to)
{
	size_t n = 0;

	if (u->high != 0 && unit >= 0xdc00 && unit < 0xe000) {
		n = utf8_put(to, 0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00));
		u->high = 0;
		return n;
	}
	if (u->high != 0)
		n = utf8_put(to, REPLACEMENT);
	u->high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
	if (u->high != 0)
		return n;
	return n + utf8_put(to + n, unit >= 0xdc00 && unit < 0xe000 ? REPLACEMENT : unit);
}

/* to has room for 3 bytes per unit, and 3 more for a surrogate kept from before. */
static size_t utf16_decode(struct utf16 *u, const unsigned char *from, size_t n, char *to)
{
	size_t written = 0;

	for (size_t i = 0; i < n; i++) {
		if (!u->has_odd) {
			u->odd = from[i];
			u->has_odd = true;
			continue;
		}
		u->has_odd = false;
		written += put_unit(u, u->order == ENCODING_UTF16_LE ? (uint32_t)from[i] << 8 | u->odd
								     : (uint32_t)u->odd << 8 | from[i],
				    to + written);
	}
	return written;
}

/* How many bytes of the stream became these: a unit each, two units beyond the basic plane. */
static uint64_t stream_bytes_of(const struct lines *l, const char *p, size_t n)
{
	uint64_t bytes = 0;

	if (l->utf16.order == ENCODING_BYTES)
		return n;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		bytes += c >= 0xf0 ? 4 : (c & 0xc0) == 0x80 ? 0 : 2;
	}
	return bytes;
}

static void consume(struct lines *l, size_t n)
{
	l->offset += stream_bytes_of(l, l->buffer + l->start, n);
	l->start += n;
	if (l->scanned < l->start)
		l->scanned = l->start;
}

/* Room for one more block behind end. */
static void make_room(struct lines *l)
{
	if (l->start > 0) {
		memmove(l->buffer, l->buffer + l->start, l->end - l->start);
		l->end -= l->start;
		l->scanned -= l->start;
		l->start = 0;
	}
	if (l->capacity - l->end < BLOCK_BYTES) {
		size_t capacity = l->capacity == 0 ? 2 * BLOCK_BYTES : 2 * l->capacity;
		char *bigger;

		if (capacity > BUFFER_BYTES_MAX)
			capacity = BUFFER_BYTES_MAX;
		bigger = arena_alloc(l->arena, capacity);
		if (l->end > 0)
			memcpy(bigger, l->buffer, l->end);
		l->buffer = bigger;
		l->capacity = capacity;
	}
}

static void refill(struct lines *l)
{
	ptrdiff_t got;

	make_room(l);
	if (l->utf16.order == ENCODING_BYTES) {
		got = stream_read(l->stream, l->buffer + l->end, BLOCK_BYTES);
		if (got > 0)
			l->end += (size_t)got;
	} else {
		got = stream_read(l->stream, l->raw, BLOCK_BYTES / 2);
		if (got > 0)
			l->end += utf16_decode(&l->utf16, l->raw, (size_t)got, l->buffer + l->end);
	}
	l->ended = got <= 0;
	l->damaged = got < 0;
}

/* Passes over what is left of a line that was cut. */
static void skip_rest(struct lines *l)
{
	while (l->skipping) {
		char *end = l->end > l->start ? memchr(l->buffer + l->start, '\n', l->end - l->start) : NULL;

		if (end != NULL || l->ended)
			l->skipping = false;
		consume(l, end != NULL ? (size_t)(end - l->buffer) + 1 - l->start : l->end - l->start);
		if (l->skipping)
			refill(l);
	}
}

/* Zeros where a line begins that is too long: left where a log was truncated below its writer, and no part of any line. */
static bool skip_zeros(struct lines *l)
{
	size_t n = sv_leading_zeros((struct sv){ l->buffer + l->start, l->end - l->start });

	consume(l, n);
	return n > 0;
}

/* So many bytes of the stream, before the next line. */
static void tell_zeros(struct lines *l, uint64_t at, uint64_t bytes)
{
	const struct place place = { .unit = PLACE_LINE, .number = l->number + 1, .byte_offset = at };

	if (l->number == 0)
		diag_add(l->diag, SEVERITY_NOTE, "line.zeros", &place,
			 "begins with %llu zeros, as a file that was truncated below its writer does: passed over",
			 (unsigned long long)bytes);
	else
		diag_add(l->diag, SEVERITY_WARNING, "line.zeros", &place,
			 "%llu zeros before this line, as where a machine went down while it wrote: passed over",
			 (unsigned long long)bytes);
}

/* Before the next line, as far as they go. */
static void pass_zeros(struct lines *l)
{
	const uint64_t at = l->offset;

	do {
		if (l->start == l->end && !l->ended)
			refill(l);
	} while (skip_zeros(l) && l->start == l->end);
	if (l->offset > at)
		tell_zeros(l, at, l->offset - at);
}

/* The buffered n bytes, end_bytes of which are the line's end. */
static int deliver(struct lines *l, size_t n, size_t end_bytes, struct line *out)
{
	struct place place = { .unit = PLACE_LINE, .number = ++l->number, .byte_offset = l->offset };

	out->number = l->number;
	out->byte_offset = l->offset;
	out->text = (struct sv){ l->buffer + l->start, n - end_bytes };
	if (end_bytes > 0 && out->text.n > 0 && out->text.p[out->text.n - 1] == '\r')
		out->text.n--;
	out->cut = out->text.n > LINE_BYTES_MAX;
	if (out->cut) {
		out->text.n = LINE_BYTES_MAX;
		l->skipping = end_bytes == 0 && !l->ended;
		diag_add(l->diag, SEVERITY_WARNING, "line.too_long", &place,
			 "longer than %d bytes: the rest of the line is left out", LINE_BYTES_MAX);
	}
	out->unended = end_bytes == 0 && l->ended;
	/* What the break left of the last line is no whole line. */
	out->cut = out->cut || (l->damaged && end_bytes == 0);
	consume(l, n);
	return 1;
}

struct lines *lines_new(struct stream *s, struct diag *d)
{
	struct arena *a = arena_new();
	struct lines *l = arena_alloc(a, sizeof *l);
	const struct byte_order_mark *mark = mark_of(stream_head(s));

	l->arena = a;
	l->stream = s;
	l->diag = d;
	l->utf16.order = mark->encoding;
	if (mark->n > 0) {
		char passed_over[4];

		l->offset = (uint64_t)stream_read(s, passed_over, mark->n);
	}
	if (l->utf16.order != ENCODING_BYTES)
		l->raw = arena_alloc(a, BLOCK_BYTES / 2);
	return l;
}

struct lines *lines_resume(struct stream *s, struct diag *d, struct sv first, uint64_t number, uint64_t byte_offset)
{
	struct arena *a = arena_new();
	struct lines *l = arena_alloc(a, sizeof *l);

	*l = (struct lines){ .arena = a, .stream = s, .diag = d, .number = number, .offset = byte_offset };
	l->capacity = first.n + BUFFER_BYTES_MAX;
	l->buffer = arena_alloc(a, l->capacity);
	if (first.n > 0)
		memcpy(l->buffer, first.p, first.n);
	l->end = first.n;
	return l;
}

struct lines *lines_without_zeros(struct lines *l)
{
	l->without_zeros = true;
	return l;
}

int lines_next(struct lines *l, struct line *out)
{
	skip_rest(l);
	if (l->without_zeros)
		pass_zeros(l);
	for (;;) {
		char *end = l->end > l->scanned ? memchr(l->buffer + l->scanned, '\n', l->end - l->scanned) : NULL;
		size_t buffered = (end != NULL ? (size_t)(end - l->buffer) : l->end) - l->start;
		/* One more for a CR, which would not count. */
		bool too_long = buffered > LINE_BYTES_MAX + 1;

		if (too_long && skip_zeros(l))
			continue;
		if (end != NULL)
			return deliver(l, buffered + 1, 1, out);
		l->scanned = l->end;
		if (too_long)
			return deliver(l, buffered, 0, out);
		if (!l->ended)
			refill(l);
		else if (buffered > 0)
			return deliver(l, buffered, 0, out);
		else
			return l->damaged ? -1 : 0;
	}
}

struct sv lines_first_text(struct arena *a, struct stream *s)
{
	struct sv head = stream_head(s);

	if (!lines_are_decoded(head) && sv_leading_zeros(head) == head.n)
		head = stream_head_further(s);
	if (!lines_are_decoded(head) && sv_leading_zeros(head) == STREAM_FURTHER_BYTES)
		head = stream_head_behind(s);
	head = lines_preview(a, head);
	return sv_sub(head, sv_leading_zeros(head), head.n);
}

bool lines_are_decoded(struct sv head)
{
	return mark_of(head)->encoding != ENCODING_BYTES;
}

void lines_free(struct lines *l)
{
	if (l == NULL)
		return;
	stream_note_lines(l->stream, l->number);
	arena_free(l->arena);
}

struct sv lines_preview(struct arena *a, struct sv head)
{
	const struct byte_order_mark *mark = mark_of(head);
	struct utf16 u = { .order = mark->encoding };
	char *text;

	head = sv_sub(head, mark->n, head.n);
	if (u.order == ENCODING_BYTES)
		return head;
	text = arena_alloc(a, head.n / 2 * 3 + 3);
	return (struct sv){ text, utf16_decode(&u, (const unsigned char *)head.p, head.n, text) };
}
