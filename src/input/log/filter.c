/* SPDX-License-Identifier: MIT */
/* See input/log/filter.h. */

#include "input/log/filter.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both tables fit the first cache. Few q-grams get a byte each, which is a step less to look up; many get a bit. */
#define TABLE_BYTES ((size_t)32768)
#define BYTE_TABLE_MOST 400
#define HEADS 4096
/* How often q-grams occur in the sample, by their hash. */
#define SAMPLE_BITS 18

/* One q-gram of one literal. */
struct gram {
	uint32_t hash;
	uint32_t literal;
	uint32_t offset;	/* of the q-gram in the literal */
	int32_t next;		/* -1: none */
};

struct filter {
	unsigned gram_bytes, stride;
	/*
	 * Times the eight bytes at a place, a hash of its q-gram in the upper bits: it is
	 * shifted so far up that the bytes behind the q-gram fall out.
	 */
	uint64_t factor;
	bool bits;
	uint8_t *table;
	int32_t *heads;
	struct gram *grams;
	size_t gram_count;
	const struct sv *literals;
};

/* By the length of the shortest literal: measured. Longer q-grams are rarer, wider strides are fewer looks. */
static const struct choice {
	size_t least;
	unsigned gram_bytes, stride;
} choices[] = {
	{ 15, 8, 8 }, { 14, 8, 7 }, { 13, 8, 6 }, { 12, 8, 5 }, { 11, 8, 4 }, { 10, 6, 5 },
	{ 9, 6, 4 },  { 8, 5, 4 },  { 7, 4, 4 },  { 6, 4, 3 },  { 5, 4, 2 },  { 4, 4, 1 },
};

static inline uint64_t load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	/* The first byte is the lowest: the factor shifts the last ones out. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* ---- making ---- */

static uint16_t *count_sample(const struct filter *f, struct sv sample)
{
	uint16_t *counts = calloc((size_t)1 << SAMPLE_BITS, sizeof *counts);

	for (size_t i = 0; counts != NULL && i + 8 <= sample.n; i++) {
		uint16_t *c = &counts[load(sample.p + i) * f->factor >> (64 - SAMPLE_BITS)];

		*c = (uint16_t)(*c + (*c < UINT16_MAX));
	}
	return counts;
}

/* Of the q-gram at the offset, of a literal that may end right behind it. */
static uint64_t hash_at(const struct filter *f, struct sv literal, size_t offset)
{
	char bytes[8] = { 0 };

	memcpy(bytes, literal.p + offset, f->gram_bytes);
	return load(bytes) * f->factor;
}

/* Where the window begins whose q-grams are rarest in the sample. */
static size_t rarest_window(const struct filter *f, struct sv literal, const uint16_t *counts)
{
	size_t window = f->gram_bytes + f->stride - 1, best = 0;
	uint64_t least = UINT64_MAX;

	for (size_t at = 0; counts != NULL && at + window <= literal.n; at++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < f->stride; i++)
			sum += counts[hash_at(f, literal, at + i) >> (64 - SAMPLE_BITS)];
		if (sum < least) {
			least = sum;
			best = at;
		}
	}
	return best;
}

static void set_entry(struct filter *f, uint64_t h)
{
	if (f->bits)
		f->table[h >> 49] |= (uint8_t)(1u << (h >> 46 & 7));
	else
		f->table[h >> 49] = 1;
}

static void add_gram(struct filter *f, size_t literal, size_t offset)
{
	uint64_t h = hash_at(f, f->literals[literal], offset);
	int32_t *head = &f->heads[(h >> 32) % HEADS];

	set_entry(f, h);
	f->grams[f->gram_count] = (struct gram){ (uint32_t)(h >> 32), (uint32_t)literal, (uint32_t)offset, *head };
	*head = (int32_t)f->gram_count++;
}

static const struct choice *choose(const struct sv *literals, size_t n)
{
	size_t least = SIZE_MAX, i = 0;

	for (size_t k = 0; k < n; k++)
		least = literals[k].n < least ? literals[k].n : least;
	if (n == 0 || least < FILTER_LITERAL_LEAST)
		return NULL;
	while (choices[i].least > least)
		i++;
	return &choices[i];
}

struct filter *filter_new(const struct sv *literals, size_t n, struct sv sample, struct arena *a)
{
	const struct choice *c = choose(literals, n);
	struct filter *f;
	uint16_t *counts;

	if (c == NULL || n > UINT32_MAX)
		return NULL;
	f = arena_alloc(a, sizeof *f);
	f->gram_bytes = c->gram_bytes;
	f->stride = c->stride;
	f->factor = FACTOR << (64 - 8 * c->gram_bytes);
	f->bits = n * c->stride > BYTE_TABLE_MOST;
	f->table = arena_alloc(a, TABLE_BYTES);
	f->heads = arena_array(a, HEADS, sizeof *f->heads);
	memset(f->heads, 0xff, HEADS * sizeof *f->heads);
	f->grams = arena_array(a, n * c->stride, sizeof *f->grams);
	f->literals = literals;
	counts = count_sample(f, sample);
	for (size_t i = 0; i < n; i++) {
		size_t window = rarest_window(f, literals[i], counts);

		for (size_t k = 0; k < c->stride; k++)
			add_gram(f, i, window + k);
	}
	free(counts);
	return f;
}

/* ---- running ---- */

static void push(struct filter_hits *h, size_t at, uint32_t literal)
{
	if (h->count == h->capacity) {
		h->capacity = h->capacity == 0 ? 256 : 2 * h->capacity;
		h->items = realloc(h->items, h->capacity * sizeof *h->items);
		if (h->items == NULL) {
			fputs("aftershock: out of memory\n", stderr);
			exit(1);
		}
	}
	h->items[h->count++] = (struct filter_hit){ (uint32_t)at, literal };
}

void filter_hits_free(struct filter_hits *h)
{
	free(h->items);
	*h = (struct filter_hits){ NULL, 0, 0 };
}

/* What the table let through. */
static __attribute__((noinline)) void verify(const struct filter *f, const char *bytes, size_t n, size_t at, uint64_t h,
					     struct filter_hits *out)
{
	for (int32_t i = f->heads[(h >> 32) % HEADS]; i >= 0; i = f->grams[i].next) {
		const struct gram *g = &f->grams[i];
		struct sv literal = f->literals[g->literal];

		if (g->hash == (uint32_t)(h >> 32) && at >= g->offset && literal.n <= n - (at - g->offset) &&
		    memcmp(bytes + at - g->offset, literal.p, literal.n) == 0)
			push(out, at - g->offset, g->literal);
	}
}

/* In the lowest bit. */
static inline unsigned entry(const uint8_t *table, uint64_t h, bool bits)
{
	return bits ? (unsigned)table[h >> 49] >> (h >> 46 & 7) : table[h >> 49];
}

/* Four looks a step, and one branch for all of them. Inlined with constants: one loop for each stride and table. */
static inline __attribute__((always_inline)) void run(const struct filter *f, const char *bytes, size_t n,
						      struct filter_hits *out, size_t stride, bool bits)
{
	const uint8_t *table = f->table;
	const uint64_t factor = f->factor;
	size_t at = 0;

	for (; at + 4 * stride <= n; at += 4 * stride) {
		uint64_t h0 = load(bytes + at) * factor, h1 = load(bytes + at + stride) * factor;
		uint64_t h2 = load(bytes + at + 2 * stride) * factor, h3 = load(bytes + at + 3 * stride) * factor;
		unsigned found0 = entry(table, h0, bits), found1 = entry(table, h1, bits);
		unsigned found2 = entry(table, h2, bits), found3 = entry(table, h3, bits);

		if (__builtin_expect(((found0 | found1 | found2 | found3) & 1) == 0, 1))
			continue;
		if ((found0 & 1) != 0)
			verify(f, bytes, n, at, h0, out);
		if ((found1 & 1) != 0)
			verify(f, bytes, n, at + stride, h1, out);
		if ((found2 & 1) != 0)
			verify(f, bytes, n, at + 2 * stride, h2, out);
		if ((found3 & 1) != 0)
			verify(f, bytes, n, at + 3 * stride, h3, out);
	}
	for (; at < n; at += stride) {
		uint64_t h = load(bytes + at) * factor;

		if ((entry(table, h, bits) & 1) != 0)
			verify(f, bytes, n, at, h, out);
	}
}

void filter_run(const struct filter *f, const char *bytes, size_t n, struct filter_hits *out)
{
	switch (f->stride) {
#define CASE(s)                                       \
	case s:                                       \
		if (f->bits)                          \
			run(f, bytes, n, out, s, true);  \
		else                                  \
			run(f, bytes, n, out, s, false); \
		break;
	CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8)
#undef CASE
	default:
		break;
	}
}
