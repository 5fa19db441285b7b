/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_BYTE_READER_H
#define AFTERSHOCK_INPUT_BYTE_READER_H

/* The bytes of a stream, one after the other, with a look at the next: for formats that do not lie in lines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/kind.h"

#define BYTE_READER_BLOCK ((size_t)64 * 1024)

struct byte_reader {
	struct stream *stream;
	char *block;
	size_t filled, at;
	uint64_t offset, line;	/* in the stream, of the next byte */
	bool damaged;		/* the stream is: that has been recorded */
};

/* Its block lives in the arena. */
static inline struct byte_reader byte_reader_of(struct stream *s, struct arena *a)
{
	return (struct byte_reader){ .stream = s, .block = arena_alloc(a, BYTE_READER_BLOCK), .line = 1 };
}

/* -1 at the end, and on damage. */
static inline int byte_peek(struct byte_reader *r)
{
	if (r->at == r->filled) {
		ptrdiff_t got = stream_read(r->stream, r->block, BYTE_READER_BLOCK);

		r->damaged = r->damaged || got < 0;
		r->at = 0;
		r->filled = got > 0 ? (size_t)got : 0;
		if (got <= 0)
			return -1;
	}
	return (unsigned char)r->block[r->at];
}

/* Goes on behind the byte that was peeked at. */
static inline void byte_pass(struct byte_reader *r)
{
	r->line += r->block[r->at] == '\n';
	r->at++;
	r->offset++;
}

/* As byte_peek, and goes on behind it. */
static inline int byte_take(struct byte_reader *r)
{
	int c = byte_peek(r);

	if (c >= 0)
		byte_pass(r);
	return c;
}

/* Of the next byte. */
static inline struct place byte_place(const struct byte_reader *r)
{
	return (struct place){ .unit = PLACE_LINE, .number = r->line, .byte_offset = r->offset };
}

#endif
