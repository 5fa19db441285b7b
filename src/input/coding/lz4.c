/* SPDX-License-Identifier: MIT */
/*
 * lz4 (LZ4 Frame Format 1.6.3, LZ4 Block Format), byte by byte. liblz4 decodes
 * whole blocks only, and of the 4 MiB that the lz4 program packs into one nothing
 * when it breaks off; yet a block is a row of literals and matches that can be
 * followed to its last byte.
 */

#include <string.h>

#include "input/coding/coding.h"
#include "input/coding/xxh32.h"

/* So far back a match may reach. */
#define HISTORY_BYTES ((size_t)64 * 1024)
#define MATCH_LEAST_BYTES 4
/* The four bits of a length that say: more bytes of it follow. */
#define LENGTH_GOES_ON 15

#define FLAG_VERSION(flags) ((flags) >> 6)
#define FLAG_INDEPENDENT 0x20
#define FLAG_BLOCK_CHECKSUM 0x10
#define FLAG_CONTENT_SIZE 0x08
#define FLAG_CONTENT_CHECKSUM 0x04
#define FLAG_DICTIONARY 0x01
#define BLOCK_IS_STORED UINT32_C(0x80000000)

/* What comes next. */
enum part {
	PART_HEADER,
	PART_SKIPPED,
	PART_BLOCK_SIZE,
	PART_STORED,
	PART_TOKEN,
	PART_LITERALS_LENGTH,
	PART_LITERALS,
	PART_OFFSET,
	PART_MATCH_LENGTH,
	PART_MATCH,
	PART_BLOCK_CHECKSUM,
	PART_CONTENT_CHECKSUM,
};

enum progress {
	PROGRESS_ON,
	PROGRESS_WAITS,		/* for bytes, or for room in the window */
	PROGRESS_ENDS,		/* the frame */
	PROGRESS_NONSENSE,
};

struct lz4 {
	enum part part;
	uint8_t piece[4 + 2 + 8 + 4 + 1];	/* a part of fixed length as far as it is there; a header is the longest */
	size_t piece_bytes;
	unsigned flags;
	size_t block_most_bytes;
	size_t left_bytes;	/* of the block, or to be skipped */
	size_t literals_bytes, match_bytes, offset_bytes;
	size_t history_bytes;	/* that a match may reach back to */
	struct xxh32 of_block, of_content;
	const uint8_t *unsummed;	/* from here on bytes of the block are not in of_block; NULL outside of blocks */
	bool differs;		/* a checksum */
	const char *why;
	enum progress last;	/* anything but PROGRESS_WAITS ends the frame once the window has been given out */
	size_t filled, summed, given;	/* of the window */
	uint8_t window[2 * HISTORY_BYTES];
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_skippable(const uint8_t *p)
{
	return (p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0;
}

static bool begins(struct sv head)
{
	return sv_starts_with(head, SV("\x04\x22\x4d\x18")) || (head.n >= 4 && is_skippable((const uint8_t *)head.p));
}

static enum progress nonsense(struct lz4 *l, const char *why)
{
	l->why = why;
	return PROGRESS_NONSENSE;
}

/* ---- taking bytes ---- */

/* Gathers a part of n bytes. False while it is not whole. */
static bool gather(struct lz4 *l, struct coded *c, size_t n)
{
	size_t more = least(n - l->piece_bytes, c->in_bytes);

	memcpy(l->piece + l->piece_bytes, c->in, more);
	l->piece_bytes += more;
	c->in += more;
	c->in_bytes -= more;
	if (l->piece_bytes < n)
		return false;
	l->piece_bytes = 0;
	return true;
}

/* One byte of the block. False when it is not there yet. */
static bool next_byte(struct lz4 *l, struct coded *c, uint8_t *byte)
{
	if (c->in_bytes == 0)
		return false;
	*byte = *c->in++;
	c->in_bytes--;
	l->left_bytes--;
	return true;
}

/* Of the block's bytes as many as there are and have room, up to *n, into the window. */
static enum progress copy_bytes(struct lz4 *l, struct coded *c, size_t *n)
{
	size_t now = least(*n, least(c->in_bytes, sizeof l->window - l->filled));

	memcpy(l->window + l->filled, c->in, now);
	c->in += now;
	c->in_bytes -= now;
	l->left_bytes -= now;
	l->filled += now;
	l->history_bytes += now;
	*n -= now;
	return *n > 0 ? PROGRESS_WAITS : PROGRESS_ON;
}

/* ---- the frame ---- */

/* How many bytes of a header there are, as far as those that are there tell. */
static size_t header_bytes(const struct lz4 *l)
{
	unsigned flags = l->piece[4];

	if (l->piece_bytes < 6)
		return 6;
	if (is_skippable(l->piece))
		return 8;
	return 7 + (flags & FLAG_CONTENT_SIZE ? 8U : 0U) + (flags & FLAG_DICTIONARY ? 4U : 0U);
}

static enum progress read_descriptor(struct lz4 *l, size_t n)
{
	unsigned size = l->piece[5] >> 4;
	struct xxh32 x;

	xxh32_init(&x);
	xxh32_add(&x, l->piece + 4, n - 5);
	if ((xxh32_value(&x) >> 8 & 0xff) != l->piece[n - 1])
		return nonsense(l, "the checksum of a header differs");
	l->flags = l->piece[4];
	if (FLAG_VERSION(l->flags) != 1 || size < 4 || size > 7)
		return nonsense(l, "a header is of no known version");
	if (l->flags & FLAG_DICTIONARY)
		return nonsense(l, "a dictionary is needed that is not there");
	/* 64 KiB, 256 KiB, 1 MiB, 4 MiB. */
	l->block_most_bytes = (size_t)1 << (8 + 2 * size);
	l->part = PART_BLOCK_SIZE;
	return PROGRESS_ON;
}

static enum progress read_header(struct lz4 *l, struct coded *c)
{
	size_t n = header_bytes(l);

	if (!gather(l, c, n))
		return PROGRESS_WAITS;
	if (n == 6) {
		/* It is known now how many there are. */
		l->piece_bytes = n;
		return PROGRESS_ON;
	}
	if (!is_skippable(l->piece))
		return read_descriptor(l, n);
	l->left_bytes = (size_t)coding_number(l->piece + 4, 4);
	l->part = PART_SKIPPED;
	return PROGRESS_ON;
}

static enum progress skip(struct lz4 *l, struct coded *c)
{
	size_t n = least(l->left_bytes, c->in_bytes);

	c->in += n;
	c->in_bytes -= n;
	l->left_bytes -= n;
	return l->left_bytes > 0 ? PROGRESS_WAITS : PROGRESS_ENDS;
}

static enum progress read_content_checksum(struct lz4 *l, struct coded *c)
{
	if (!gather(l, c, 4))
		return PROGRESS_WAITS;
	l->differs |= coding_number(l->piece, 4) != xxh32_value(&l->of_content);
	return PROGRESS_ENDS;
}

/* ---- blocks ---- */

/* The packed bytes of a block have a checksum, and the unpacked ones of a frame. */
static void sum_block(struct lz4 *l, const struct coded *c)
{
	if (l->unsummed != NULL && l->flags & FLAG_BLOCK_CHECKSUM)
		xxh32_add(&l->of_block, l->unsummed, (size_t)(c->in - l->unsummed));
}

static void sum_content(struct lz4 *l)
{
	if (l->flags & FLAG_CONTENT_CHECKSUM)
		xxh32_add(&l->of_content, l->window + l->summed, l->filled - l->summed);
	l->summed = l->filled;
}

static enum progress read_block_size(struct lz4 *l, struct coded *c)
{
	uint32_t size;

	if (!gather(l, c, 4))
		return PROGRESS_WAITS;
	size = (uint32_t)coding_number(l->piece, 4);
	l->left_bytes = size & ~BLOCK_IS_STORED;
	if (size == 0 && !(l->flags & FLAG_CONTENT_CHECKSUM))
		return PROGRESS_ENDS;
	if (size == 0) {
		sum_content(l);
		l->part = PART_CONTENT_CHECKSUM;
		return PROGRESS_ON;
	}
	if (l->left_bytes > l->block_most_bytes || l->left_bytes == 0)
		return nonsense(l, "a block has a length that none has");
	if (l->flags & FLAG_INDEPENDENT)
		l->history_bytes = 0;
	xxh32_init(&l->of_block);
	l->unsummed = c->in;
	l->part = size & BLOCK_IS_STORED ? PART_STORED : PART_TOKEN;
	return PROGRESS_ON;
}

static enum progress end_block(struct lz4 *l, const struct coded *c)
{
	sum_block(l, c);
	l->unsummed = NULL;
	l->part = l->flags & FLAG_BLOCK_CHECKSUM ? PART_BLOCK_CHECKSUM : PART_BLOCK_SIZE;
	return PROGRESS_ON;
}

static enum progress read_block_checksum(struct lz4 *l, struct coded *c)
{
	if (!gather(l, c, 4))
		return PROGRESS_WAITS;
	l->differs |= coding_number(l->piece, 4) != xxh32_value(&l->of_block);
	l->part = PART_BLOCK_SIZE;
	return PROGRESS_ON;
}

static enum progress copy_stored(struct lz4 *l, struct coded *c)
{
	size_t left = l->left_bytes;

	return copy_bytes(l, c, &left) == PROGRESS_ON ? end_block(l, c) : PROGRESS_WAITS;
}

/* ---- sequences: literals, and a match of what was there before ---- */

static enum progress read_token(struct lz4 *l, struct coded *c)
{
	uint8_t token;

	if (l->left_bytes == 0)
		return nonsense(l, "a block ends with a match");
	if (!next_byte(l, c, &token))
		return PROGRESS_WAITS;
	l->literals_bytes = token >> 4;
	l->match_bytes = token & 15;
	l->part = l->literals_bytes == LENGTH_GOES_ON ? PART_LITERALS_LENGTH : PART_LITERALS;
	return PROGRESS_ON;
}

/* Adds to *length until a byte is less than 255. */
static enum progress read_length(struct lz4 *l, struct coded *c, size_t *length, enum part then)
{
	uint8_t more = 255;

	while (more == 255) {
		if (l->left_bytes == 0 || *length > l->block_most_bytes)
			return nonsense(l, "a length is greater than its block");
		if (!next_byte(l, c, &more))
			return PROGRESS_WAITS;
		*length += more;
	}
	l->part = then;
	return PROGRESS_ON;
}

static enum progress read_literals_length(struct lz4 *l, struct coded *c)
{
	return read_length(l, c, &l->literals_bytes, PART_LITERALS);
}

static enum progress copy_literals(struct lz4 *l, struct coded *c)
{
	if (l->literals_bytes > l->left_bytes)
		return nonsense(l, "literals go beyond their block");
	if (copy_bytes(l, c, &l->literals_bytes) == PROGRESS_WAITS)
		return PROGRESS_WAITS;
	/* The last sequence is literals alone. */
	if (l->left_bytes == 0)
		return end_block(l, c);
	l->part = PART_OFFSET;
	return PROGRESS_ON;
}

static enum progress read_offset(struct lz4 *l, struct coded *c)
{
	for (; l->piece_bytes < 2; l->piece_bytes++) {
		if (l->left_bytes == 0)
			return nonsense(l, "a match goes beyond its block");
		if (!next_byte(l, c, &l->piece[l->piece_bytes]))
			return PROGRESS_WAITS;
	}
	l->piece_bytes = 0;
	l->offset_bytes = (size_t)coding_number(l->piece, 2);
	if (l->offset_bytes == 0 || l->offset_bytes > l->history_bytes)
		return nonsense(l, "a match reaches back before the start");
	l->part = l->match_bytes == LENGTH_GOES_ON ? PART_MATCH_LENGTH : PART_MATCH;
	l->match_bytes += MATCH_LEAST_BYTES;
	return PROGRESS_ON;
}

static enum progress read_match_length(struct lz4 *l, struct coded *c)
{
	return read_length(l, c, &l->match_bytes, PART_MATCH);
}

/*
 * A match that reaches into itself repeats the bytes of the offset. Each copy
 * begins at the same place, so that it may take what the ones before have made:
 * a whole number of repetitions.
 */
static enum progress copy_match(struct lz4 *l, struct coded *c)
{
	const size_t from = l->filled - l->offset_bytes;

	(void)c;
	while (l->match_bytes > 0) {
		size_t n = least(l->match_bytes, least(l->filled - from, sizeof l->window - l->filled));

		if (n == 0)
			return PROGRESS_WAITS;
		memcpy(l->window + l->filled, l->window + from, n);
		l->filled += n;
		l->history_bytes += n;
		l->match_bytes -= n;
	}
	l->part = PART_TOKEN;
	return PROGRESS_ON;
}

static enum progress (*const parts[])(struct lz4 *l, struct coded *c) = {
	[PART_HEADER] = read_header,
	[PART_SKIPPED] = skip,
	[PART_BLOCK_SIZE] = read_block_size,
	[PART_STORED] = copy_stored,
	[PART_TOKEN] = read_token,
	[PART_LITERALS_LENGTH] = read_literals_length,
	[PART_LITERALS] = copy_literals,
	[PART_OFFSET] = read_offset,
	[PART_MATCH_LENGTH] = read_match_length,
	[PART_MATCH] = copy_match,
	[PART_BLOCK_CHECKSUM] = read_block_checksum,
	[PART_CONTENT_CHECKSUM] = read_content_checksum,
};

/* ---- the window ---- */

static void give_out(struct lz4 *l, struct coded *c)
{
	size_t n = least(l->filled - l->given, c->out_bytes);

	memcpy(c->out, l->window + l->given, n);
	l->given += n;
	c->out += n;
	c->out_bytes -= n;
}

/* It is full and has been given out: what a match may still reach moves to the front. */
static void make_room(struct lz4 *l)
{
	memmove(l->window, l->window + sizeof l->window - HISTORY_BYTES, HISTORY_BYTES);
	l->filled = l->summed = l->given = HISTORY_BYTES;
}

static enum progress fill_window(struct lz4 *l, struct coded *c)
{
	enum progress p;

	if (l->unsummed != NULL)
		l->unsummed = c->in;
	do
		p = parts[l->part](l, c);
	while (p == PROGRESS_ON);
	sum_block(l, c);
	sum_content(l);
	return p;
}

static void *lz4_open(struct arena *a)
{
	return arena_alloc(a, sizeof(struct lz4));
}

static bool lz4_begin(void *state)
{
	struct lz4 *l = state;

	l->part = PART_HEADER;
	l->piece_bytes = 0;
	l->flags = 0;
	l->history_bytes = 0;
	l->unsummed = NULL;
	l->differs = false;
	l->last = PROGRESS_WAITS;
	l->filled = l->summed = l->given = 0;
	xxh32_init(&l->of_content);
	return true;
}

static enum coding_step lz4_step(void *state, struct coded *c, const char **why)
{
	struct lz4 *l = state;

	for (;;) {
		bool is_full = l->filled == sizeof l->window;

		give_out(l, c);
		if (l->given < l->filled || (l->last == PROGRESS_WAITS && c->in_bytes == 0 && !is_full))
			return CODING_ON;
		if (l->last != PROGRESS_WAITS)
			break;
		if (is_full)
			make_room(l);
		l->last = fill_window(l, c);
	}
	if (l->last == PROGRESS_ENDS)
		return l->differs ? CODING_MEMBER_WRONG : CODING_MEMBER_END;
	*why = l->why;
	return CODING_DAMAGED;
}

static void lz4_close(void *state)
{
	(void)state;
}

const struct coding lz4_coding = {
	.name = "lz4", .begins = begins, .open = lz4_open, .begin = lz4_begin, .step = lz4_step, .close = lz4_close,
};
