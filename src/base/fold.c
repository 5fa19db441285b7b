/* SPDX-License-Identifier: MIT */
/*
 * Bytes folded into 64 bits. See base/fold.h.
 *
 * The one step is the product of two 64-bit words, of whose 128 bits the halves
 * are folded onto one another: each bit of both words reaches about every bit
 * of the result. The words themselves are folded in as well, so that a word
 * that happens to be 0 does not wipe out what came before it.
 */

#include "base/fold.h"

#include <string.h>

#include "base/little.h"

__extension__ typedef unsigned __int128 uint128;

/* Odd, and of no pattern: the fractional parts of the square roots of 2, 3, 5, 7 (and the last bit set). */
#define KEY_A UINT64_C(0x6a09e667f3bcc909)
#define KEY_B UINT64_C(0xbb67ae8584caa73b)
#define KEY_C UINT64_C(0x3c6ef372fe94f82b)
#define KEY_D UINT64_C(0xa54ff53a5f1d36f1)

static inline uint64_t fold(uint64_t x, uint64_t y)
{
	uint128 product = (uint128)x * y;

	return x ^ y ^ (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t step(uint64_t state, const unsigned char *p)
{
	return fold(little_get64(p) ^ KEY_A, little_get64(p + 8) ^ state);
}

/* Two states that do not wait for one another: a product takes four cycles, and one may begin in each. */
static uint64_t long_part(uint64_t state, const unsigned char **p, size_t *n)
{
	uint64_t other = state ^ KEY_D;

	for (; *n >= 32; *p += 32, *n -= 32) {
		state = step(state, *p);
		other = step(other, *p + 16);
	}
	return fold(state, other ^ KEY_B);
}

uint64_t fold_bytes(uint64_t start, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	/* The length is in it from the start, so that the zeros that fill up the last words say nothing. */
	uint64_t state = fold(start ^ KEY_B, (uint64_t)n ^ KEY_C);
	unsigned char last[32] = { 0 };

	if (n >= 32)
		state = long_part(state, &p, &n);
	if (n > 0) {
		memcpy(last, p, n);
		state = step(state, last);
		if (n > 16)
			state = step(state, last + 16);
	}
	return fold(state ^ KEY_D, KEY_A);
}

uint64_t fold_number(uint64_t start, uint64_t number)
{
	return fold(fold(number ^ KEY_A, start ^ KEY_B) ^ KEY_D, KEY_A);
}
