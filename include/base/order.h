/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_ORDER_H
#define AFTERSHOCK_BASE_ORDER_H

/* Orders for qsort and bsearch; that of texts is sv_cmp. */

#include <stdint.h>

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

#endif
