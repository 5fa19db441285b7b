/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_CACHE_LINE_H
#define AFTERSHOCK_INPUT_CAPTURE_CACHE_LINE_H

/* Structs of which a packet touches a few lines of the cache, and no more of them than need be. */

#include <stdint.h>

#include "base/arena.h"

#define CACHE_LINE 64

/* n zeroed bytes from the start of a line on. */
static inline void *cache_lines(struct arena *a, size_t n)
{
	uint8_t *bytes = arena_alloc(a, n + CACHE_LINE - 1);

	return bytes + (CACHE_LINE - (uintptr_t)bytes % CACHE_LINE) % CACHE_LINE;
}

#endif
