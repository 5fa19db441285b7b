/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_FILTER_H
#define AFTERSHOCK_INPUT_LOG_FILTER_H

/*
 * Where in a block of bytes any of some hundred literals stands, faster than a
 * pattern for all of them would tell: of each literal one window is chosen, the
 * one that is rarest in a sample, and each window's q-grams (texts of Q bytes)
 * go into a small table. The block is then looked at every S-th byte only: a
 * window of S + Q - 1 bytes has exactly one q-gram there.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

/* So many bytes behind a block must be readable. */
#define FILTER_SLACK 160

struct filter;

/* One of the literals, in a block. */
struct filter_hit {
	uint32_t at;		/* its first byte */
	uint32_t literal;	/* its number, in the order given */
};
/* Grows; in the order of the blocks' bytes that were looked at: within a line, not always that of "at". */
struct filter_hits {
	struct filter_hit *items;
	size_t count, capacity;
};

/* Literals shorter than this make no filter: NULL. */
#define FILTER_LITERAL_LEAST 4
struct filter *filter_new(const struct sv *literals, size_t n, struct sv sample, struct arena *a);
/* Adds what stands in the block, of less than 4 GiB. */
void filter_run(const struct filter *f, const char *bytes, size_t n, struct filter_hits *out);
void filter_hits_free(struct filter_hits *h);

/*
 * The ways of looking that this machine has, from 0 on: which is the fastest is
 * found out by trying. What they find is the same.
 */
size_t filter_way_count(void);
struct filter *filter_new_by(size_t way, const struct sv *literals, size_t n, struct sv sample, struct arena *a);

#endif
