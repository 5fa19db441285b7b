/* SPDX-License-Identifier: MIT */
/* Members of gzip by zlib (zlib.h), which gives each byte as soon as its bits are there. */

#include "input/gunzip.h"

#include <stdbool.h>
#include <zlib.h>

#define IN_BYTES 16384
/* A gzip header is awaited, and the window is the greatest that there is. */
#define GZIP_WINDOW_BITS (16 + MAX_WBITS)

struct gunzip {
	struct stream *packed;
	z_stream z;
	bool ended;
	unsigned char in[IN_BYTES];
};

/* zlib's memory is the arena's, so that nothing has to be closed. */
static void *get_memory(void *arena, unsigned n, unsigned bytes)
{
	return arena_array(arena, n, bytes);
}

static void leave_memory(void *arena, void *p)
{
	(void)arena;
	(void)p;
}

struct gunzip *gunzip_new(struct stream *packed, struct arena *a)
{
	struct gunzip *g = arena_alloc(a, sizeof *g);

	g->packed = packed;
	g->z.zalloc = get_memory;
	g->z.zfree = leave_memory;
	g->z.opaque = a;
	g->ended = inflateInit2(&g->z, GZIP_WINDOW_BITS) != Z_OK || inflateValidate(&g->z, 0) != Z_OK;
	return g;
}

static void read_on(struct gunzip *g)
{
	ptrdiff_t got = stream_read_on(g->packed, g->in, sizeof g->in);

	g->z.next_in = g->in;
	g->z.avail_in = got > 0 ? (unsigned)got : 0;
}

/* False when there is no more. Another member may follow the one that ended. */
static bool step(struct gunzip *g)
{
	int rc;

	if (g->z.avail_in == 0)
		read_on(g);
	/* Without more bytes too: a match may not have been copied to its end for want of room. */
	rc = inflate(&g->z, Z_NO_FLUSH);
	return rc == Z_STREAM_END ? inflateReset(&g->z) == Z_OK : rc == Z_OK;
}

size_t gunzip_read(struct gunzip *g, void *bytes, size_t n)
{
	unsigned most = n < UINT32_MAX ? (unsigned)n : UINT32_MAX;

	g->z.next_out = bytes;
	g->z.avail_out = most;
	while (g->z.avail_out > 0 && !g->ended)
		g->ended = !step(g);
	return most - g->z.avail_out;
}
