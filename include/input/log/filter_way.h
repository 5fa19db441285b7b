/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_FILTER_WAY_H
#define AFTERSHOCK_INPUT_LOG_FILTER_WAY_H

/* Between filter.c, which knows the literals, and filter_way.c, which looks for their q-grams. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "input/log/filter.h"

/* The table fits the first cache. */
#define FILTER_TABLE_BYTES ((size_t)32768)

/* How long the q-grams are, and how far apart the places that are looked at. */
struct filter_steps {
	unsigned gram_bytes, stride;
};

struct filter_table {
	const struct filter_way *way;
	struct filter_steps steps;
	uint64_t gram_mask;	/* of eight bytes, those of a q-gram */
	unsigned cells_log2;
	uint8_t *cells;
};

struct filter_way {
	bool (*is_there)(void);
	/* For literals of so many bytes or more. */
	struct filter_steps (*steps)(size_t literal_bytes);
	/* Bytes or bits, by how many cells will be set. */
	unsigned (*cells_log2)(size_t set);
	/* Whose cell it is, by the eight bytes at a place; those that are behind the q-gram do not count. */
	size_t (*cell)(const struct filter_table *t, uint64_t bytes);
	void (*set)(struct filter_table *t, size_t cell);
	/* Calls filter_verify for each place whose cell is set, in order. */
	void (*run)(const struct filter *f, const struct filter_table *t, const char *bytes, size_t n, struct filter_hits *out);
};

#define FILTER_WAYS 2
extern const struct filter_way filter_ways[FILTER_WAYS];

/* Adds the literals whose q-grams stand at the places: those in the block whose cells are set. */
void filter_verify(const struct filter *f, const char *bytes, size_t n, const uint32_t *places, size_t count,
		   struct filter_hits *out);

/* The first byte is the lowest. */
static inline uint64_t filter_load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

#endif
