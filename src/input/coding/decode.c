/* SPDX-License-Identifier: MIT */
/* From member to member: the bytes come from a stream, the room from whoever reads. */

#include "input/coding/decode.h"

#include <assert.h>
#include <string.h>

#include "input/coding/coding.h"

#define IN_BYTES ((size_t)64 * 1024)
/* The longest that a coding begins with. */
#define BEGINNING_BYTES 6

static const struct coding *const codings[] = { &gzip_coding, &xz_coding, &zstd_coding, &lz4_coding };

struct decode {
	const struct coding *coding;
	void *state;
	struct arena *arena;
	struct stream *packed;
	struct coded at;
	bool packed_ended;	/* no more bytes come than those at hand */
	bool packed_damaged;	/* for they could not be had */
	bool ended;
	const char *wrong;	/* with a member that was given out */
	const char *why;
	uint8_t in[IN_BYTES];
};

static const struct coding *coding_of(struct sv head)
{
	for (size_t i = 0; i < sizeof codings / sizeof codings[0]; i++)
		if (codings[i]->begins(head))
			return codings[i];
	return NULL;
}

bool decode_knows(struct sv head)
{
	return coding_of(head) != NULL;
}

static void end(struct decode *d, const char *why)
{
	d->ended = true;
	d->why = why;
}

static const char *say(const struct decode *d, const char *what)
{
	return arena_printf(d->arena, "%s: %s", d->coding->name, what).p;
}

/* So that at least n bytes are at hand, where there are so many. */
static void want(struct decode *d, size_t n)
{
	size_t have = d->at.in_bytes;

	if (have >= n || d->packed_ended)
		return;
	if (have > 0)
		memmove(d->in, d->at.in, have);
	while (have < n && !d->packed_ended) {
		ptrdiff_t got = stream_read_on(d->packed, d->in + have, IN_BYTES - have);

		d->packed_ended = got <= 0;
		d->packed_damaged = got < 0;
		have += got > 0 ? (size_t)got : 0;
	}
	d->at.in = d->in;
	d->at.in_bytes = have;
}

static const char *why_it_breaks_off(const struct decode *d)
{
	return d->packed_damaged ? "what it is packed in is damaged" : say(d, "breaks off");
}

static void begin_member(struct decode *d)
{
	if (!d->coding->begin(d->state))
		end(d, say(d, "there is no memory to unpack it"));
}

/* Tapes and xz fill up with zeros. */
static void pass_zeros(struct decode *d)
{
	do {
		size_t n;

		want(d, 1);
		n = sv_leading_zeros((struct sv){ (const char *)d->at.in, d->at.in_bytes });
		d->at.in += n;
		d->at.in_bytes -= n;
	} while (d->at.in_bytes == 0 && !d->packed_ended);
}

/* Behind the end of a member: another one, of the same sort, or nothing. */
static void go_on(struct decode *d)
{
	pass_zeros(d);
	want(d, BEGINNING_BYTES);
	if (d->at.in_bytes == 0)
		end(d, d->packed_damaged ? why_it_breaks_off(d) : d->wrong);
	else if (d->coding->begins((struct sv){ (const char *)d->at.in, d->at.in_bytes }))
		begin_member(d);
	else
		end(d, say(d, "other bytes follow what is packed"));
}

static void step(struct decode *d)
{
	const struct coded before = d->at;
	const char *what = "makes no sense";
	enum coding_step s;

	s = d->coding->step(d->state, &d->at, &what);
	switch (s) {
	case CODING_MEMBER_WRONG:
		d->wrong = say(d, "a checksum differs: this is not what was packed");
		go_on(d);
		break;
	case CODING_MEMBER_END:
		go_on(d);
		break;
	case CODING_DAMAGED:
		end(d, say(d, what));
		break;
	case CODING_ON:
		/* A coding that stands still with bytes and room before it would stand still for ever. */
		if (d->at.in_bytes == before.in_bytes && d->at.out_bytes == before.out_bytes)
			end(d, d->at.in_bytes == 0 ? why_it_breaks_off(d) : say(d, what));
		break;
	}
}

struct decode *decode_new(struct stream *packed, struct arena *a)
{
	struct decode *d = arena_alloc(a, sizeof *d);

	d->coding = coding_of(stream_head(packed));
	assert(d->coding != NULL);
	d->arena = a;
	d->packed = packed;
	d->at.in = d->in;
	d->state = d->coding->open(a);
	begin_member(d);
	return d;
}

ptrdiff_t decode_read(struct decode *d, void *bytes, size_t n)
{
	size_t most = n < PTRDIFF_MAX ? n : PTRDIFF_MAX;

	d->at.out = bytes;
	d->at.out_bytes = most;
	while (d->at.out_bytes > 0 && !d->ended) {
		want(d, 1);
		step(d);
	}
	if (d->at.out_bytes < most)
		return (ptrdiff_t)(most - d->at.out_bytes);
	return d->why != NULL ? -1 : 0;
}

const char *decode_why(const struct decode *d)
{
	return d->why;
}

void decode_close(struct decode *d)
{
	if (d != NULL)
		d->coding->close(d->state);
}
