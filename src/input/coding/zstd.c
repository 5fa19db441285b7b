/* SPDX-License-Identifier: MIT */
/* zstd (RFC 8878) by libzstd. A block that breaks off, of up to 128 KiB, is lost: its parts are coded one behind the other. */

#include <zstd.h>

#include "input/coding/coding.h"

struct zstd {
	ZSTD_DStream *z;
};

/* A frame, or bytes that are to be skipped (RFC 8878 3.1.2). */
static bool begins(struct sv head)
{
	return sv_starts_with(head, SV("\x28\xb5\x2f\xfd")) ||
	       (sv_starts_with(sv_sub(head, 1, 3), SV("\x2a\x4d\x18")) && ((unsigned char)head.p[0] & 0xf0) == 0x50);
}

static void *zstd_open(struct arena *a)
{
	struct zstd *s = arena_alloc(a, sizeof *s);

	s->z = ZSTD_createDStream();
	return s;
}

static bool zstd_begin(void *state)
{
	const struct zstd *s = state;

	/* Its window is 128 MiB at most unless somebody asks for more. */
	return s->z != NULL && !ZSTD_isError(ZSTD_initDStream(s->z));
}

static enum coding_step zstd_step(void *state, struct coded *c, const char **why)
{
	const struct zstd *s = state;
	ZSTD_inBuffer in = { c->in, c->in_bytes, 0 };
	ZSTD_outBuffer out = { c->out, c->out_bytes, 0 };
	size_t rc = ZSTD_decompressStream(s->z, &out, &in);

	*c = (struct coded){ c->in + in.pos, c->in_bytes - in.pos, c->out + out.pos, c->out_bytes - out.pos };
	if (ZSTD_isError(rc)) {
		/* Its words are constants. */
		*why = ZSTD_getErrorName(rc);
		return CODING_DAMAGED;
	}
	return rc == 0 ? CODING_MEMBER_END : CODING_ON;
}

static void zstd_close(void *state)
{
	const struct zstd *s = state;

	ZSTD_freeDStream(s->z);
}

const struct coding zstd_coding = {
	.name = "zstd", .begins = begins, .open = zstd_open, .begin = zstd_begin, .step = zstd_step, .close = zstd_close,
};
