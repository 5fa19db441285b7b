/* SPDX-License-Identifier: MIT */
/* xz by liblzma. */

#include <lzma.h>

#include "input/coding/coding.h"

static bool begins(struct sv head)
{
	return sv_starts_with(head, (struct sv){ "\xfd" "7zXZ\0", 6 });
}

static void *xz_open(struct arena *a)
{
	lzma_stream *z = arena_alloc(a, sizeof *z);

	*z = (lzma_stream)LZMA_STREAM_INIT;
	return z;
}

static bool xz_begin(void *state)
{
	return lzma_stream_decoder(state, CODING_MEMORY_BYTES, 0) == LZMA_OK;
}

static enum coding_step xz_step(void *state, struct coded *c, const char **why)
{
	lzma_stream *z = state;
	lzma_ret rc;

	z->next_in = c->in;
	z->avail_in = c->in_bytes;
	z->next_out = c->out;
	z->avail_out = c->out_bytes;
	rc = lzma_code(z, LZMA_RUN);
	*c = (struct coded){ z->next_in, z->avail_in, z->next_out, z->avail_out };
	if (rc == LZMA_MEMLIMIT_ERROR || rc == LZMA_MEM_ERROR)
		*why = "asks for more than 256 MiB of memory";
	if (rc == LZMA_OPTIONS_ERROR)
		*why = "is packed in a way that is not known";
	if (rc == LZMA_STREAM_END)
		return CODING_MEMBER_END;
	/* LZMA_BUF_ERROR: it could not go on, which the caller sees. */
	return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? CODING_ON : CODING_DAMAGED;
}

static void xz_close(void *state)
{
	lzma_end(state);
}

const struct coding xz_coding = {
	.name = "xz", .begins = begins, .open = xz_open, .begin = xz_begin, .step = xz_step, .close = xz_close,
};
