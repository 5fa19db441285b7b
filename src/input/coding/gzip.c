/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952) by zlib, which gives each byte as soon as its bits are there. */

#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "input/coding/coding.h"

/* A gzip header is awaited, and the window is the greatest that there is. */
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)
/* The checksum and the length (RFC 1952 2.3.1), which are compared here: zlib would end at once. */
#define TRAILER_BYTES 8

struct gzip {
	z_stream z;
	bool opened;
	uint32_t crc;
	uint32_t length_bytes;	/* modulo 2^32 */
	uint8_t last[TRAILER_BYTES];	/* of what was read */
};

static bool begins(struct sv head)
{
	return sv_starts_with(head, SV("\x1f\x8b\x08"));
}

/* zlib's memory is the arena's: it takes all of it once, whatever the file says. */
static void *get_memory(void *arena, unsigned n, unsigned bytes)
{
	return arena_array(arena, n, bytes);
}

static void leave_memory(void *arena, void *p)
{
	(void)arena;
	(void)p;
}

static void *gzip_open(struct arena *a)
{
	struct gzip *g = arena_alloc(a, sizeof *g);

	g->z.zalloc = get_memory;
	g->z.zfree = leave_memory;
	g->z.opaque = a;
	g->opened = inflateInit2(&g->z, GZIP_WINDOW_BITS) == Z_OK && inflateValidate(&g->z, 0) == Z_OK;
	return g;
}

static bool gzip_begin(void *state)
{
	struct gzip *g = state;

	g->crc = 0;
	g->length_bytes = 0;
	return g->opened && inflateReset(&g->z) == Z_OK;
}

/* n bytes have been read up to end. */
static void keep_last(struct gzip *g, const uint8_t *end, size_t n)
{
	n = n < TRAILER_BYTES ? n : TRAILER_BYTES;
	memmove(g->last, g->last + n, TRAILER_BYTES - n);
	memcpy(g->last + TRAILER_BYTES - n, end - n, n);
}

static unsigned as_unsigned(size_t n)
{
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

static enum coding_step gzip_step(void *state, struct coded *c, const char **why)
{
	struct gzip *g = state;
	unsigned in = as_unsigned(c->in_bytes), out = as_unsigned(c->out_bytes);
	size_t given;
	int rc;

	(void)why;
	g->z.next_in = c->in;
	g->z.avail_in = in;
	g->z.next_out = c->out;
	g->z.avail_out = out;
	rc = inflate(&g->z, Z_NO_FLUSH);
	keep_last(g, g->z.next_in, in - g->z.avail_in);
	given = out - g->z.avail_out;
	g->crc = (uint32_t)crc32_z(g->crc, c->out, given);
	g->length_bytes += (uint32_t)given;
	*c = (struct coded){ g->z.next_in, c->in_bytes - (in - g->z.avail_in), c->out + given, c->out_bytes - given };
	if (rc == Z_STREAM_END)
		return coding_number(g->last, 4) == g->crc && coding_number(g->last + 4, 4) == g->length_bytes ?
			       CODING_MEMBER_END : CODING_MEMBER_WRONG;
	/* Z_BUF_ERROR: it could not go on, which the caller sees. */
	return rc == Z_OK || rc == Z_BUF_ERROR ? CODING_ON : CODING_DAMAGED;
}

static void gzip_close(void *state)
{
	(void)state;
}

const struct coding gzip_coding = {
	.name = "gzip", .begins = begins, .open = gzip_open, .begin = gzip_begin, .step = gzip_step, .close = gzip_close,
};
