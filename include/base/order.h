/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_ORDER_H
#define AFTERSHOCK_BASE_ORDER_H

/* Orders for qsort and bsearch; that of texts is sv_cmp. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Negative, 0 or positive. A difference would overflow. */
static inline int order_i64(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* The same of two items of an array, as qsort asks. */
static inline int order_i64_items(const void *x, const void *y)
{
	return order_i64(*(const int64_t *)x, *(const int64_t *)y);
}

/* The place of the first item that does not come before the key; count when all do. Sorted as compare(key, item) tells. */
static inline size_t order_lower_bound(const void *key, const void *items, size_t count, size_t size,
				       int (*compare)(const void *key, const void *item))
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)items + middle * size) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Sorts, and keeps one of those that are equal: how many are left. */
static inline size_t order_unique(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	char *const first = items;
	size_t kept = 1;

	if (count == 0)
		return 0;
	qsort(items, count, size, compare);
	for (size_t i = 1; i < count; i++) {
		if (compare(first + (kept - 1) * size, first + i * size) == 0)
			continue;
		if (kept != i)
			memcpy(first + kept * size, first + i * size, size);
		kept++;
	}
	return kept;
}

/*
 * For a set to which millions of items are added, of which most are equal: as
 * it grows it is made one of unique items now and then. *sort_at is 0 at first.
 */
static inline size_t order_unique_at(void *items, size_t count, size_t size, int (*compare)(const void *, const void *),
				     size_t *sort_at)
{
	const size_t few = 1024;

	if (count < *sort_at || count < few)
		return count;
	count = order_unique(items, count, size, compare);
	*sort_at = 2 * count + few;
	return count;
}

#endif
