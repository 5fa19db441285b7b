/* SPDX-License-Identifier: MIT */
/*
 * zstd (RFC 8878) by libzstd. A block that breaks off, of up to 128 KiB, is lost:
 * its parts are coded one behind the other.
 *
 * libzstd does not say how many bytes it wrote in the call in which it finds an
 * error. So a call gets no more than a block and less than the head of the next,
 * and no packed bytes while plain ones of a block before still wait for room.
 */

#include <zstd.h>

#include "input/coding/coding.h"

struct zstd {
	ZSTD_DStream *z;
	size_t wanted_bytes;	/* to the end of the block, with the head of the next */
	bool holds_back;	/* maybe, for the room was filled */
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
	struct zstd *s = state;

	if (s->z == NULL)
		return false;
	/* Its window is 128 MiB at most unless somebody asks for more. */
	s->wanted_bytes = ZSTD_initDStream(s->z);
	s->holds_back = false;
	return !ZSTD_isError(s->wanted_bytes);
}

static enum coding_step decompress(struct zstd *s, struct coded *c, size_t in_bytes, const char **why)
{
	ZSTD_inBuffer in = { c->in, in_bytes, 0 };
	ZSTD_outBuffer out = { c->out, c->out_bytes, 0 };
	size_t rc = ZSTD_decompressStream(s->z, &out, &in);

	if (ZSTD_isError(rc)) {
		/* Its words are constants. */
		*why = ZSTD_getErrorName(rc);
		return CODING_DAMAGED;
	}
	*c = (struct coded){ c->in + in.pos, c->in_bytes - in.pos, c->out + out.pos, c->out_bytes - out.pos };
	s->wanted_bytes = rc;
	s->holds_back = c->out_bytes == 0;
	return rc == 0 ? CODING_MEMBER_END : CODING_ON;
}

static enum coding_step zstd_step(void *state, struct coded *c, const char **why)
{
	struct zstd *s = state;
	size_t most;

	if (s->holds_back) {
		enum coding_step step = decompress(s, c, 0, why);

		if (step != CODING_ON || c->out_bytes == 0)
			return step;
	}
	most = s->wanted_bytes > 1 ? s->wanted_bytes - 1 : 1;
	return decompress(s, c, c->in_bytes < most ? c->in_bytes : most, why);
}

static void zstd_close(void *state)
{
	const struct zstd *s = state;

	ZSTD_freeDStream(s->z);
}

const struct coding zstd_coding = {
	.name = "zstd", .begins = begins, .open = zstd_open, .begin = zstd_begin, .step = zstd_step, .close = zstd_close,
};
