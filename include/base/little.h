/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_LITTLE_H
#define AFTERSHOCK_BASE_LITTLE_H

/* Numbers of 64 bits in bytes, the lowest first, whatever the machine's order. */

#include <stdint.h>

/* Written out, since compilers make one load of it. */
static inline uint64_t little_get64(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	       (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline void little_put64(unsigned char *p, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (unsigned char)(n >> 8 * i);
}

#endif
