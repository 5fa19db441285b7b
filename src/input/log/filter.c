/* SPDX-License-Identifier: MIT */
/* See input/log/filter.h. */

#include "input/log/filter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "input/log/filter_way.h"

/* Few enough to stay in the first cache beside the table. */
#define HEADS_LOG2 10

/* Of the places of a sample one in so many tells enough. */
#define SAMPLE_STEP 2

/* So many bytes of a sample are looked at to find out which way is the fastest, so many times each. */
#define TRIAL_BYTES 16384
#define TRIALS 3

/* One q-gram of one literal. */
struct gram {
	uint64_t bytes;
	/* The literal's first eight bytes and its last, or how many it has. */
	uint64_t first, last, mask;
	uint32_t literal, literal_bytes;
	uint32_t offset;	/* of the q-gram in the literal */
	int32_t next;		/* -1: none */
};

struct filter {
	struct filter_table table;
	int32_t *heads;
	struct gram *grams;
	size_t gram_count;
	const struct sv *literals;
};

/* ---- making ---- */

/* How often each cell is met in the sample. */
static uint16_t *count_sample(const struct filter_table *t, struct sv sample)
{
	uint16_t *counts = calloc((size_t)1 << t->cells_log2, sizeof *counts);

	for (size_t i = 0; counts != NULL && i + 8 <= sample.n; i += SAMPLE_STEP) {
		uint16_t *c = &counts[t->way->cell(t, filter_load(sample.p + i))];

		*c = (uint16_t)(*c + (*c < UINT16_MAX));
	}
	return counts;
}

/* Up to eight bytes, of a literal that may end sooner. */
static uint64_t bytes_at(struct sv literal, size_t offset)
{
	char bytes[8] = { 0 };

	memcpy(bytes, literal.p + offset, literal.n - offset < 8 ? literal.n - offset : 8);
	return filter_load(bytes);
}

/* Where the window begins whose cells are met least often in the sample. */
static size_t rarest_window(const struct filter_table *t, struct sv literal, const uint16_t *counts)
{
	size_t window = t->steps.gram_bytes + t->steps.stride - 1, best = 0;
	uint64_t least = UINT64_MAX;

	for (size_t at = 0; counts != NULL && at + window <= literal.n; at++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < t->steps.stride; i++)
			sum += counts[t->way->cell(t, bytes_at(literal, at + i))];
		if (sum < least) {
			least = sum;
			best = at;
		}
	}
	return best;
}

static inline int32_t *head_of_gram(const struct filter *f, uint64_t gram)
{
	return &f->heads[gram * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HEADS_LOG2)];
}

/* Where the last eight of so many bytes begin. */
static inline size_t last_at(size_t n)
{
	return n > 8 ? n - 8 : 0;
}

static void add_gram(struct filter *f, size_t literal, size_t offset)
{
	const struct sv text = f->literals[literal];
	const uint64_t gram = bytes_at(text, offset) & f->table.gram_mask;
	int32_t *head = head_of_gram(f, gram);

	f->table.way->set(&f->table, f->table.way->cell(&f->table, gram));
	f->grams[f->gram_count] = (struct gram){
		.bytes = gram, .literal = (uint32_t)literal, .offset = (uint32_t)offset, .next = *head,
		.first = bytes_at(text, 0), .last = bytes_at(text, last_at(text.n)),
		.mask = text.n < 8 ? ((uint64_t)1 << 8 * text.n) - 1 : UINT64_MAX, .literal_bytes = (uint32_t)text.n,
	};
	*head = (int32_t)f->gram_count++;
}

static size_t shortest(const struct sv *literals, size_t n)
{
	size_t least = n > 0 ? SIZE_MAX : 0;

	for (size_t k = 0; k < n; k++)
		least = literals[k].n < least ? literals[k].n : least;
	return least;
}

static struct filter_table table_of(const struct filter_way *way, size_t least, size_t n, struct arena *a)
{
	struct filter_table t = { .way = way, .steps = way->steps(least) };

	t.gram_mask = t.steps.gram_bytes < 8 ? (UINT64_C(1) << 8 * t.steps.gram_bytes) - 1 : UINT64_MAX;
	t.cells_log2 = way->cells_log2(n * t.steps.stride);
	t.cells = arena_alloc(a, FILTER_TABLE_BYTES);
	return t;
}

struct filter *filter_new_by(size_t way, const struct sv *literals, size_t n, struct sv sample, struct arena *a)
{
	size_t least = shortest(literals, n);
	struct filter *f;
	uint16_t *counts;

	if (least < FILTER_LITERAL_LEAST || n > INT32_MAX / 8)
		return NULL;
	f = arena_alloc(a, sizeof *f);
	f->table = table_of(&filter_ways[way], least, n, a);
	f->heads = arena_array(a, (size_t)1 << HEADS_LOG2, sizeof *f->heads);
	memset(f->heads, 0xff, sizeof *f->heads << HEADS_LOG2);
	f->grams = arena_array(a, n * f->table.steps.stride, sizeof *f->grams);
	f->literals = literals;
	counts = count_sample(&f->table, sample);
	for (size_t i = 0; i < n; i++) {
		size_t window = rarest_window(&f->table, literals[i], counts);

		for (size_t k = 0; k < f->table.steps.stride; k++)
			add_gram(f, i, window + k);
	}
	free(counts);
	return f;
}

/* ---- which way ---- */

size_t filter_way_count(void)
{
	size_t n = 0;

	while (n < FILTER_WAYS && filter_ways[n].is_there != NULL && filter_ways[n].is_there())
		n++;
	return n;
}

static int64_t nanoseconds(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The shortest time that the sample took by a way, in which nothing is found. */
static int64_t try_way(const struct filter *nothing, struct sv sample)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < TRIALS; i++) {
		struct filter_hits hits = { NULL, 0, 0 };
		int64_t begin = nanoseconds(), took;

		filter_run(nothing, sample.p, TRIAL_BYTES, &hits);
		took = nanoseconds() - begin;
		least = took < least ? took : least;
	}
	return least;
}

/*
 * Vectors that are gathered from a table take twenty times longer on some
 * processors than on others, by what their microcode does against sampling of
 * gathered data: only trying tells. What is found does not depend on it.
 */
static size_t fastest_way(size_t least, size_t n, struct sv sample, struct arena *a)
{
	const size_t count = filter_way_count();
	int64_t best_ns = INT64_MAX;
	size_t best = count - 1;

	if (count == 1 || sample.n < TRIAL_BYTES + FILTER_SLACK)
		return best;
	for (size_t way = 0; way < count; way++) {
		const struct filter nothing = { .table = table_of(&filter_ways[way], least, n, a) };
		int64_t ns = try_way(&nothing, sample);

		if (ns >= best_ns)
			continue;
		best_ns = ns;
		best = way;
	}
	return best;
}

struct filter *filter_new(const struct sv *literals, size_t n, struct sv sample, struct arena *a)
{
	size_t least = shortest(literals, n);

	return least >= FILTER_LITERAL_LEAST ? filter_new_by(fastest_way(least, n, sample, a), literals, n, sample, a) : NULL;
}

/* ---- running ---- */

static void push(struct filter_hits *h, size_t at, uint32_t literal)
{
	if (h->count == h->capacity) {
		h->capacity = h->capacity == 0 ? 256 : 2 * h->capacity;
		h->items = memory_checked(realloc(h->items, h->capacity * sizeof *h->items));
	}
	h->items[h->count++] = (struct filter_hit){ (uint32_t)at, literal };
}

void filter_hits_free(struct filter_hits *h)
{
	free(h->items);
	*h = (struct filter_hits){ NULL, 0, 0 };
}

/* Whether the gram's literal stands there, in a block of so many bytes. */
static inline bool stands(const struct filter *f, const struct gram *g, const char *bytes, size_t n, size_t at)
{
	const char *p = bytes + at;

	if (((filter_load(p) ^ g->first) & g->mask) != 0 || g->literal_bytes > n - at)
		return false;
	if (((filter_load(p + last_at(g->literal_bytes)) ^ g->last) & g->mask) != 0)
		return false;
	return g->literal_bytes <= 16 || memcmp(p + 8, f->literals[g->literal].p + 8, g->literal_bytes - 16) == 0;
}

void filter_verify(const struct filter *f, const char *bytes, size_t n, const uint32_t *places, size_t count, struct filter_hits *out)
{
	for (size_t i = 0; i < count; i++) {
		const size_t at = places[i];
		const uint64_t gram = filter_load(bytes + at) & f->table.gram_mask;

		for (int32_t k = *head_of_gram(f, gram); k >= 0; k = f->grams[k].next) {
			const struct gram *g = &f->grams[k];

			if (g->bytes == gram && at >= g->offset && stands(f, g, bytes, n, at - g->offset))
				push(out, at - g->offset, g->literal);
		}
	}
}

void filter_run(const struct filter *f, const char *bytes, size_t n, struct filter_hits *out)
{
	f->table.way->run(f, &f->table, bytes, n, out);
}
