/* SPDX-License-Identifier: MIT */
/* BLAKE2b-256, after RFC 7693. See base/digest.h. */

#include "base/digest.h"

#include <string.h>

#include "base/little.h"

/* The first 64 bits of the fractional parts of the square roots of the first eight primes (RFC 7693, 2.6). */
static const uint64_t iv[8] = {
	UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
	UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
	UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* The message schedule (RFC 7693, 2.7). Rounds 10 and 11 are rounds 0 and 1 again. */
static const uint8_t sigma[10][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }, { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 }, { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 }, { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 }, { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 }, { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint64_t rotate_right(uint64_t x, unsigned n)
{
	return x >> n | x << (64 - n);
}

/* Inlined, the state stays in registers. */
static inline __attribute__((always_inline)) void mix(uint64_t *v, unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x,
						      uint64_t y)
{
	v[a] += v[b] + x;
	v[d] = rotate_right(v[d] ^ v[a], 32);
	v[c] += v[d];
	v[b] = rotate_right(v[b] ^ v[c], 24);
	v[a] += v[b] + y;
	v[d] = rotate_right(v[d] ^ v[a], 16);
	v[c] += v[d];
	v[b] = rotate_right(v[b] ^ v[c], 63);
}

/* One round by one row of sigma. */
static inline __attribute__((always_inline)) void turn(uint64_t *v, const uint64_t *m, const uint8_t *s)
{
	mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
	mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
	mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
	mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
	mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
	mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
	mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
	mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
}

static void compress(struct digest *d, const uint8_t *block, uint64_t total, int last)
{
	uint64_t v[16], m[16] = { 0 };
	memcpy(v, d->h, sizeof d->h);
	memcpy(v + 8, iv, sizeof iv);
	v[12] ^= total; /* fewer than 2^64 bytes: the high word stays 0 */
	if (last)
		v[14] = ~v[14];
	for (unsigned i = 0; i < 16; i++)
		m[i] = little_get64(block + 8 * i);
	/* Unrolled, each row is known when it is compiled, and so is each of its words' place. */
#pragma GCC unroll 12
	for (unsigned round = 0; round < 12; round++)
		turn(v, m, sigma[round % 10]);
	for (unsigned i = 0; i < 8; i++)
		d->h[i] ^= v[i] ^ v[i + 8];
}

void digest_init(struct digest *d)
{
	memset(d, 0, sizeof *d);
	memcpy(d->h, iv, sizeof iv);
	d->h[0] ^= UINT64_C(0x01010000) ^ DIGEST_BYTES; /* parameter block: no key, fan-out and depth 1 */
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	while (n > 0) {
		/* The last block is compressed by digest_hex, so a full one waits until more comes. */
		if (d->filled == sizeof d->block) {
			d->total_bytes += sizeof d->block;
			compress(d, d->block, d->total_bytes, 0);
			d->filled = 0;
		}
		size_t room = sizeof d->block - d->filled;
		size_t take = n < room ? n : room;
		memcpy(d->block + d->filled, p, take);
		d->filled += take;
		p += take;
		n -= take;
	}
}

void digest_hex(struct digest *d, char hex[2 * DIGEST_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";
	d->total_bytes += d->filled;
	memset(d->block + d->filled, 0, sizeof d->block - d->filled);
	compress(d, d->block, d->total_bytes, 1);
	for (unsigned i = 0; i < DIGEST_BYTES; i++) {
		unsigned byte = (unsigned)(d->h[i / 8] >> (8 * (i % 8))) & 0xFF;
		hex[2 * i] = digits[byte >> 4];
		hex[2 * i + 1] = digits[byte & 15];
	}
	hex[2 * DIGEST_BYTES] = '\0';
}
