/* SPDX-License-Identifier: MIT */
/* Expected values are those of "b2sum -l 256" (coreutils). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"

static void known_values(void **state)
{
	static const struct {
		size_t zeros;
		const char *text, *hex;
	} cases[] = {
		{ 0, "", "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" },
		{ 0, "abc", "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319" },
		{ 128, "", "378d0caaaa3855f1b38693c1d6ef004fd118691c95c959d4efa950d6d6fcf7c1" },
		{ 129, "", "baadfb64c3bd2cd187b54accc5e61a0720ed86bf48c28017873536cf9015d1b8" },
		{ 1000, "x", "3cd312fe00f7901330836f05379e74a950d612160d05d98ce9d5fa65690ff05d" },
	};
	static const char zeros[1000];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct digest d;
		char hex[2 * DIGEST_BYTES + 1];
		digest_init(&d);
		digest_add(&d, zeros, cases[i].zeros);
		digest_add(&d, cases[i].text, strlen(cases[i].text));
		digest_hex(&d, hex);
		assert_string_equal(hex, cases[i].hex);
	}
}

static void pieces_do_not_matter(void **state)
{
	static const char text[] = "the same bytes in pieces of any size give the same digest, also across the block of 128 bytes, "
				   "which this text is a little longer than";
	char whole[2 * DIGEST_BYTES + 1], pieces[2 * DIGEST_BYTES + 1];
	struct digest d;
	(void)state;
	digest_init(&d);
	digest_add(&d, text, sizeof text);
	digest_hex(&d, whole);
	for (size_t step = 1; step < 130; step += 43) {
		digest_init(&d);
		for (size_t at = 0; at < sizeof text; at += step)
			digest_add(&d, text + at, sizeof text - at < step ? sizeof text - at : step);
		digest_hex(&d, pieces);
		assert_string_equal(whole, pieces);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(known_values), cmocka_unit_test(pieces_do_not_matter) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
