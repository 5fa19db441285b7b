/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_CACHE_LINE_H
#define AFTERSHOCK_INPUT_CAPTURE_CACHE_LINE_H

/*
 * For what is done with every packet: structs of which it touches a few lines
 * of the cache, and no more of them than need be, and conditions that nearly
 * always hold.
 */

#include <stdint.h>

#include "base/arena.h"

#define CACHE_LINE 64

/* n zeroed bytes from the start of a line on. */
static inline void *cache_lines(struct arena *a, size_t n)
{
	uint8_t *bytes = arena_alloc(a, n + CACHE_LINE - 1);

	return bytes + (CACHE_LINE - (uintptr_t)bytes % CACHE_LINE) % CACHE_LINE;
}

/*
 * A compiler takes each condition for the toss of a coin, and what stands
 * behind ten of them for code that hardly ever runs: it makes that small
 * instead of fast (gcc: "rep stos" for a few words, a division by a constant).
 */
#define USUALLY(condition) __builtin_expect((condition), 1)
#define SELDOM(condition) __builtin_expect((condition), 0)

#endif
