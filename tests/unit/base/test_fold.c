/* SPDX-License-Identifier: MIT */
/* Against the same written plainly, byte by byte and with products of 32 bits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fold.h"

/* ---- as the head of fold.c says it ---- */

static uint64_t plain_fold(uint64_t x, uint64_t y)
{
	uint64_t x0 = x & 0xffffffff, x1 = x >> 32, y0 = y & 0xffffffff, y1 = y >> 32;
	uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (middle & 0xffffffff);
	uint64_t high = x1 * y1 + (middle >> 32) + (other >> 32);

	return x ^ y ^ (other << 32 | (low & 0xffffffff)) ^ high;
}

/* The word of eight bytes at a place; what lies beyond the end is 0. */
static uint64_t plain_word(const unsigned char *p, size_t n, size_t at)
{
	uint64_t word = 0;

	for (size_t i = 8; i-- > 0;)
		word = word << 8 | (at + i < n ? p[at + i] : 0);
	return word;
}

static uint64_t plain_fold_bytes(uint64_t start, const unsigned char *p, size_t n)
{
	const uint64_t a = UINT64_C(0x6a09e667f3bcc909), b = UINT64_C(0xbb67ae8584caa73b), c = UINT64_C(0x3c6ef372fe94f82b),
		       d = UINT64_C(0xa54ff53a5f1d36f1);
	uint64_t even = plain_fold(start ^ b, n ^ c), odd = even ^ d;
	size_t at = 0;

	for (; at + 32 <= n; at += 32) {
		even = plain_fold(plain_word(p, n, at) ^ a, plain_word(p, n, at + 8) ^ even);
		odd = plain_fold(plain_word(p, n, at + 16) ^ a, plain_word(p, n, at + 24) ^ odd);
	}
	if (n >= 32)
		even = plain_fold(even, odd ^ b);
	for (; at < n; at += 16)
		even = plain_fold(plain_word(p, n, at) ^ a, plain_word(p, n, at + 8) ^ even);
	return plain_fold(even ^ d, a);
}

static void fill(unsigned char *p, size_t n)
{
	uint64_t x = 1;

	for (size_t i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		p[i] = (unsigned char)(x >> 56);
	}
}

static void it_is_what_the_plain_one_gives(void **state)
{
	unsigned char bytes[200];

	(void)state;
	fill(bytes, sizeof bytes);
	/* At any address. */
	for (size_t from = 0; from < 9; from++) {
		for (size_t n = 0; from + n <= sizeof bytes; n++)
			assert_true(fold_bytes(n, bytes + from, n) == plain_fold_bytes(n, bytes + from, n));
	}
	assert_true(fold_bytes(7, NULL, 0) == plain_fold_bytes(7, bytes, 0));
}

static int bits(uint64_t x)
{
	int n = 0;

	for (; x != 0; x &= x - 1)
		n++;
	return n;
}

/* A bit of the text turns about half of the result's 64: over all bits of a text 32 in the mean, and never few. */
static void each_bit_reaches_all(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 100; n += 9) {
		unsigned char bytes[100];
		uint64_t before;
		long turned = 0;

		fill(bytes, n);
		before = fold_bytes(0, bytes, n);
		for (size_t bit = 0; bit < 8 * n; bit++) {
			int differ;

			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			differ = bits(before ^ fold_bytes(0, bytes, n));
			bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_true(differ >= 8);
			turned += differ;
		}
		assert_true(turned > (long)(8 * n) * 28 && turned < (long)(8 * n) * 36);
	}
}

static void length_start_and_zeros_count(void **state)
{
	static const unsigned char zeros[64];
	/* Makes a factor of the first product 0: what came before must not be lost with it. */
	static const unsigned char key[8] = { 0x09, 0xc9, 0xbc, 0xf3, 0x67, 0xe6, 0x09, 0x6a };
	unsigned char text[16] = { 0 };

	(void)state;
	for (size_t n = 0; n < sizeof zeros; n++)
		assert_true(fold_bytes(0, zeros, n) != fold_bytes(0, zeros, n + 1));
	assert_true(fold_bytes(1, zeros, 8) != fold_bytes(2, zeros, 8));
	memcpy(text, key, sizeof key);
	assert_true(fold_bytes(1, text, sizeof text) != fold_bytes(2, text, sizeof text));
	text[15] = 1;
	assert_true(fold_bytes(1, text, sizeof text) != fold_bytes(1, text, sizeof text - 1));
	assert_true(fold_number(0, 1) != fold_number(1, 0));
	assert_true(fold_number(0, 1) != fold_number(0, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_the_plain_one_gives),
		cmocka_unit_test(each_bit_reaches_all),
		cmocka_unit_test(length_start_and_zeros_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
