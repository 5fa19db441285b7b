/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CODING_XXH32_H
#define AFTERSHOCK_INPUT_CODING_XXH32_H

/* The checksum of lz4 frames: xxHash of 32 bits with the seed 0 (xxHash specification 0.1.1). */

#include <stddef.h>
#include <stdint.h>

struct xxh32 {
	uint32_t lanes[4];
	uint64_t bytes;
	uint8_t waiting[16];	/* bytes modulo 16 of them */
};

void xxh32_init(struct xxh32 *x);
void xxh32_add(struct xxh32 *x, const void *bytes, size_t n);
/* Of all that was added; more may be. */
uint32_t xxh32_value(const struct xxh32 *x);

#endif
