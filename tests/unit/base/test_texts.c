/* SPDX-License-Identifier: MIT */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/texts.h"

static void test_equal_texts_share_their_bytes(void **state)
{
	struct arena *a = arena_new(), *scratch = arena_new();
	char first[] = "refunds", second[] = "refunds", third[] = "refund";
	struct texts texts;
	struct sv x, y, z;

	(void)state;
	texts_init(&texts, a, scratch);
	x = texts_keep(&texts, sv_of(first));
	y = texts_keep(&texts, sv_of(second));
	z = texts_keep(&texts, sv_of(third));
	memset(first, '?', sizeof first - 1);
	assert_true(sv_eq(x, SV("refunds")));
	assert_ptr_equal(x.p, y.p);
	assert_true(sv_eq(z, SV("refund")));
	arena_free(scratch);
	assert_true(sv_eq(y, SV("refunds")));
	arena_free(a);
}

static void test_absent_and_empty_stay_apart(void **state)
{
	struct arena *a = arena_new();
	struct texts texts;

	(void)state;
	texts_init(&texts, a, a);
	assert_true(sv_is_absent(texts_keep(&texts, SV_ABSENT)));
	assert_false(sv_is_absent(texts_keep(&texts, SV(""))));
	assert_int_equal(texts_keep(&texts, SV("")).n, 0);
	arena_free(a);
}

/* Whatever became of the table meanwhile. */
static void test_thousands_are_found_again(void **state)
{
	struct arena *a = arena_new();
	struct texts texts;
	const char *where[5000];
	char text[16];

	(void)state;
	texts_init(&texts, a, a);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof text, "R-%d", i);
			struct sv kept = texts_keep(&texts, sv_of(text));
			assert_true(sv_eq(kept, sv_of(text)));
			if (round == 1)
				assert_ptr_equal(kept.p, where[i]);
			where[i] = kept.p;
		}
	}
	assert_int_equal(texts.count, 5000);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_texts_share_their_bytes),
		cmocka_unit_test(test_absent_and_empty_stay_apart),
		cmocka_unit_test(test_thousands_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
