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

#endif
