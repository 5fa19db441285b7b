/* SPDX-License-Identifier: MIT */
/* Four lanes take four bytes each in turn; what does not fill them is mixed in at the end. */

#include "input/coding/xxh32.h"

#include <string.h>

#include "input/coding/coding.h"

#define STRIPE_BYTES 16
#define PRIME_1 UINT32_C(0x9e3779b1)
#define PRIME_2 UINT32_C(0x85ebca77)
#define PRIME_3 UINT32_C(0xc2b2ae3d)
#define PRIME_4 UINT32_C(0x27d4eb2f)
#define PRIME_5 UINT32_C(0x165667b1)

static uint32_t rotated(uint32_t x, unsigned bits)
{
	return x << bits | x >> (32 - bits);
}

static uint32_t four(const uint8_t *p)
{
	return (uint32_t)coding_number(p, 4);
}

static void add_stripe(struct xxh32 *x, const uint8_t *p)
{
	for (size_t i = 0; i < 4; i++)
		x->lanes[i] = rotated(x->lanes[i] + four(p + 4 * i) * PRIME_2, 13) * PRIME_1;
}

void xxh32_init(struct xxh32 *x)
{
	*x = (struct xxh32){ .lanes = { PRIME_1 + PRIME_2, PRIME_2, 0, 0U - PRIME_1 } };
}

void xxh32_add(struct xxh32 *x, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t waiting = x->bytes % STRIPE_BYTES;

	x->bytes += n;
	if (waiting + n < STRIPE_BYTES) {
		memcpy(x->waiting + waiting, p, n);
		return;
	}
	if (waiting > 0) {
		memcpy(x->waiting + waiting, p, STRIPE_BYTES - waiting);
		add_stripe(x, x->waiting);
		p += STRIPE_BYTES - waiting;
		n -= STRIPE_BYTES - waiting;
	}
	for (; n >= STRIPE_BYTES; p += STRIPE_BYTES, n -= STRIPE_BYTES)
		add_stripe(x, p);
	memcpy(x->waiting, p, n);
}

uint32_t xxh32_value(const struct xxh32 *x)
{
	const uint8_t *p = x->waiting, *end = p + x->bytes % STRIPE_BYTES;
	uint32_t h = PRIME_5;

	if (x->bytes >= STRIPE_BYTES)
		h = rotated(x->lanes[0], 1) + rotated(x->lanes[1], 7) + rotated(x->lanes[2], 12) + rotated(x->lanes[3], 18);
	h += (uint32_t)x->bytes;
	for (; end - p >= 4; p += 4)
		h = rotated(h + four(p) * PRIME_3, 17) * PRIME_4;
	for (; p < end; p++)
		h = rotated(h + *p * PRIME_5, 11) * PRIME_1;
	h = (h ^ h >> 15) * PRIME_2;
	h = (h ^ h >> 13) * PRIME_3;
	return h ^ h >> 16;
}
