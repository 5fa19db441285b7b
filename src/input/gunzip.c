/* SPDX-License-Identifier: MIT */
/*
 * DEFLATE (RFC 1951) in members of gzip (RFC 1952), plainly: it runs over files
 * that are damaged, once.
 */

#include "input/gunzip.h"

#include <string.h>

#define IN_BYTES 16384
/* The farthest that a match may reach back (RFC 1951 2). */
#define WINDOW_BYTES ((size_t)32768)
#define LENGTH_LONGEST 258

#define CODE_BITS_MAX 15
#define LITERALS 288
#define DISTANCES 30
#define END_OF_BLOCK 256

/* A Huffman code in its canonical order (3.2.2): how many symbols have each length, and the symbols by length. */
struct code {
	uint16_t counts[CODE_BITS_MAX + 1];
	uint16_t symbols[LITERALS];
};

enum where { IN_HEADER, IN_BLOCK_HEADER, IN_STORED, IN_CODED, IN_TRAILER, AT_END };

struct gunzip {
	struct stream *packed;
	unsigned char in[IN_BYTES];
	size_t in_n, in_at;
	uint32_t bits;
	unsigned bit_count;
	enum where where;
	bool is_last;		/* the block */
	size_t stored_left;
	struct code literals, distances;
	uint64_t member_bytes;	/* that were unpacked of it */
	/* What was unpacked last, in a ring: matches refer to it, and the reader has taken it up to taken. */
	unsigned char window[2 * WINDOW_BYTES];
	uint64_t made, taken;
};

/* ---- bits ---- */

static bool take_byte(struct gunzip *g, uint32_t *byte)
{
	if (g->in_at == g->in_n) {
		ptrdiff_t got = stream_read_on(g->packed, g->in, sizeof g->in);

		g->in_at = 0;
		g->in_n = got > 0 ? (size_t)got : 0;
		if (got <= 0)
			return false;
	}
	*byte = g->in[g->in_at++];
	return true;
}

/* The lowest bit of a byte comes first, and so does that of a number (3.1.1). n is at most 16. */
static bool take_bits(struct gunzip *g, unsigned n, uint32_t *value)
{
	while (g->bit_count < n) {
		uint32_t byte;

		if (!take_byte(g, &byte))
			return false;
		g->bits |= byte << g->bit_count;
		g->bit_count += 8;
	}
	*value = g->bits & ((1U << n) - 1);
	g->bits >>= n;
	g->bit_count -= n;
	return true;
}

static void skip_to_byte(struct gunzip *g)
{
	g->bits >>= g->bit_count % 8;
	g->bit_count -= g->bit_count % 8;
}

/* ---- codes ---- */

/* False when the lengths are those of no code: more symbols than there are codes (3.2.2). */
static bool make_code(struct code *c, const uint8_t *lengths, size_t n)
{
	uint16_t at[CODE_BITS_MAX + 1] = { 0 };
	int32_t left = 1;

	*c = (struct code){ .counts = { 0 } };
	for (size_t i = 0; i < n; i++)
		c->counts[lengths[i]]++;
	c->counts[0] = 0;
	for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++) {
		left = 2 * left - c->counts[bits];
		if (left < 0)
			return false;
		if (bits < CODE_BITS_MAX)
			at[bits + 1] = (uint16_t)(at[bits] + c->counts[bits]);
	}
	for (size_t i = 0; i < n; i++)
		if (lengths[i] > 0)
			c->symbols[at[lengths[i]]++] = (uint16_t)i;
	return true;
}

/* The bits of a code come from its highest on: those of each length follow one another. */
static bool take_symbol(struct gunzip *g, const struct code *c, uint32_t *symbol)
{
	uint32_t code = 0, first = 0, before = 0, bit;

	for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++) {
		if (!take_bits(g, 1, &bit))
			return false;
		code |= bit;
		if (code - first < c->counts[bits]) {
			*symbol = c->symbols[before + code - first];
			return true;
		}
		before += c->counts[bits];
		first = (first + c->counts[bits]) << 1;
		code <<= 1;
	}
	return false;
}

/* ---- headers ---- */

static bool skip_bytes(struct gunzip *g, size_t n)
{
	uint32_t byte;

	while (n > 0 && take_byte(g, &byte))
		n--;
	return n == 0;
}

static bool skip_text(struct gunzip *g)
{
	uint32_t byte;

	do
		if (!take_byte(g, &byte))
			return false;
	while (byte != 0);
	return true;
}

/* RFC 1952 2.3.1: magic, method, flags, time, extra flags, system, and what the flags say follows. */
static bool read_header(struct gunzip *g)
{
	enum { HAS_CHECK = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };
	uint32_t magic[3], flags, low, high;

	for (size_t i = 0; i < 3; i++)
		if (!take_byte(g, &magic[i]))
			return false;
	if (magic[0] != 0x1f || magic[1] != 0x8b || magic[2] != 8 || !take_byte(g, &flags) || !skip_bytes(g, 6))
		return false;
	if ((flags & HAS_EXTRA) != 0 &&
	    (!take_byte(g, &low) || !take_byte(g, &high) || !skip_bytes(g, low | high << 8)))
		return false;
	if ((flags & HAS_NAME) != 0 && !skip_text(g))
		return false;
	if ((flags & HAS_COMMENT) != 0 && !skip_text(g))
		return false;
	g->member_bytes = 0;
	return (flags & HAS_CHECK) == 0 || skip_bytes(g, 2);
}

static bool read_stored_header(struct gunzip *g)
{
	uint32_t n, inverted;

	skip_to_byte(g);
	if (!take_bits(g, 16, &n) || !take_bits(g, 16, &inverted) || n != (~inverted & 0xffff))
		return false;
	g->stored_left = n;
	g->where = IN_STORED;
	return true;
}

/* The code that is agreed on (3.2.6). */
static void make_fixed_codes(struct gunzip *g)
{
	uint8_t lengths[LITERALS];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	(void)make_code(&g->literals, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	(void)make_code(&g->distances, lengths, DISTANCES);
}

/* How often the symbol's length comes, and what length: 16 is that before, 17 and 18 are zeros (3.2.7). */
static bool take_run(struct gunzip *g, uint32_t symbol, uint8_t before, uint8_t *length, size_t *times)
{
	static const struct {
		unsigned bits, least;
	} runs[] = { { 2, 3 }, { 3, 3 }, { 7, 11 } };
	uint32_t more = 0;

	*length = symbol < 16 ? (uint8_t)symbol : symbol == 16 ? before : 0;
	*times = 1;
	if (symbol < 16)
		return true;
	if (!take_bits(g, runs[symbol - 16].bits, &more))
		return false;
	*times = runs[symbol - 16].least + more;
	return true;
}

static bool read_lengths(struct gunzip *g, const struct code *c, uint8_t *lengths, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t symbol;
		uint8_t length;
		size_t times;

		if (!take_symbol(g, c, &symbol) || (symbol == 16 && i == 0) ||
		    !take_run(g, symbol, i > 0 ? lengths[i - 1] : 0, &length, &times) || times > n - i)
			return false;
		memset(lengths + i, length, times);
		i += times;
	}
	return true;
}

/* The codes that the block brings with it (3.2.7). */
static bool read_codes(struct gunzip *g)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LITERALS + 32] = { 0 };
	uint32_t literals, distances, n, bits;
	struct code of_lengths;

	if (!take_bits(g, 5, &literals) || !take_bits(g, 5, &distances) || !take_bits(g, 4, &n))
		return false;
	literals += 257;
	distances += 1;
	if (literals > 286 || distances > DISTANCES)
		return false;
	for (size_t i = 0; i < n + 4; i++) {
		if (!take_bits(g, 3, &bits))
			return false;
		lengths[order[i]] = (uint8_t)bits;
	}
	if (!make_code(&of_lengths, lengths, 19))
		return false;
	memset(lengths, 0, sizeof lengths);
	return read_lengths(g, &of_lengths, lengths, literals + distances) && make_code(&g->literals, lengths, literals) &&
	       make_code(&g->distances, lengths + literals, distances);
}

static bool read_block_header(struct gunzip *g)
{
	enum { STORED, FIXED, DYNAMIC };
	uint32_t last, how;

	if (!take_bits(g, 1, &last) || !take_bits(g, 2, &how))
		return false;
	g->is_last = last != 0;
	g->where = IN_CODED;
	if (how == FIXED)
		make_fixed_codes(g);
	return how == STORED ? read_stored_header(g) : how == FIXED || (how == DYNAMIC && read_codes(g));
}

/* ---- what is unpacked ---- */

static void put(struct gunzip *g, unsigned char byte)
{
	g->window[g->made++ % sizeof g->window] = byte;
	g->member_bytes++;
}

static void end_block(struct gunzip *g)
{
	g->where = g->is_last ? IN_TRAILER : IN_BLOCK_HEADER;
}

static bool copy_stored(struct gunzip *g)
{
	uint32_t byte;

	if (g->stored_left == 0) {
		end_block(g);
		return true;
	}
	if (!take_bits(g, 8, &byte))
		return false;
	put(g, (unsigned char)byte);
	g->stored_left--;
	return true;
}

/* Lengths and distances are a least one and some more bits (3.2.5). */
static bool take_match(struct gunzip *g, uint32_t symbol)
{
	static const uint16_t lengths[29] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,	15,  17,  19,  23, 27,
					      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, LENGTH_LONGEST };
	static const uint8_t length_bits[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const uint16_t distances[DISTANCES] = { 1,   2,	 3,   4,   5,	7,    9,    13,	  17,	25,   33,   49,	  65,	 97,	129,
						       193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
	uint32_t length, distance, more;

	symbol -= END_OF_BLOCK + 1;
	if (symbol >= 29 || !take_bits(g, length_bits[symbol], &more))
		return false;
	length = lengths[symbol] + more;
	/* From the fifth on two each have one bit more. */
	if (!take_symbol(g, &g->distances, &symbol) || !take_bits(g, symbol < 4 ? 0 : symbol / 2 - 1, &more))
		return false;
	distance = distances[symbol] + more;
	if (distance > g->member_bytes)
		return false;
	for (; length > 0; length--)
		put(g, g->window[(g->made - distance) % sizeof g->window]);
	return true;
}

static bool take_coded(struct gunzip *g)
{
	uint32_t symbol;

	if (!take_symbol(g, &g->literals, &symbol))
		return false;
	if (symbol < END_OF_BLOCK)
		put(g, (unsigned char)symbol);
	else if (symbol == END_OF_BLOCK)
		end_block(g);
	else
		return take_match(g, symbol);
	return true;
}

/* Checksum and length; another member may follow. */
static bool read_trailer(struct gunzip *g)
{
	uint32_t nothing;

	skip_to_byte(g);
	for (size_t i = 0; i < 4; i++)
		if (!take_bits(g, 16, &nothing))
			return false;
	g->where = IN_HEADER;
	return true;
}

static bool step(struct gunzip *g)
{
	switch (g->where) {
	case IN_HEADER:
		g->where = IN_BLOCK_HEADER;
		return read_header(g);
	case IN_BLOCK_HEADER:
		return read_block_header(g);
	case IN_STORED:
		return copy_stored(g);
	case IN_CODED:
		return take_coded(g);
	case IN_TRAILER:
		return read_trailer(g);
	case AT_END:
		break;
	}
	return false;
}

/* ---- the reader ---- */

struct gunzip *gunzip_new(struct stream *packed, struct arena *a)
{
	struct gunzip *g = arena_alloc(a, sizeof *g);

	g->packed = packed;
	return g;
}

size_t gunzip_read(struct gunzip *g, void *bytes, size_t n)
{
	unsigned char *to = bytes;
	size_t done = 0;

	while (done < n) {
		if (g->taken < g->made) {
			to[done++] = g->window[g->taken++ % sizeof g->window];
		} else if (!step(g)) {
			g->where = AT_END;
			break;
		}
	}
	return done;
}
