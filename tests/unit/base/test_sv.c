/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sv.h"

static void absent_and_empty_differ(void **state)
{
	(void)state;
	assert_true(sv_eq(SV(""), SV("")));
	assert_true(sv_eq(SV_ABSENT, SV_ABSENT));
	assert_false(sv_eq(SV(""), SV_ABSENT));
	assert_true(sv_cmp(SV_ABSENT, SV("")) < 0);
	assert_true(sv_agree(SV_ABSENT, SV("x")));
	assert_true(sv_agree(SV("x"), SV("x")));
	assert_false(sv_agree(SV(""), SV("x")));
}

static void order_is_by_bytes_and_prefix_first(void **state)
{
	(void)state;
	assert_true(sv_cmp(SV("ab"), SV("abc")) < 0);
	assert_true(sv_cmp(SV("b"), SV("abc")) > 0);
	assert_true(sv_cmp(SV("\xff"), SV("a")) > 0);
	assert_int_equal(sv_cmp(SV("x"), SV("x")), 0);
}

static void cut_gives_every_piece(void **state)
{
	struct sv rest = SV("a,,b,");
	const char *expected[] = { "a", "", "b", "" };
	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_false(sv_is_absent(rest));
		assert_true(sv_eq(sv_cut(&rest, ','), sv_of(expected[i])));
	}
	assert_true(sv_is_absent(rest));
}

static void find_needs_the_whole_needle(void **state)
{
	size_t at = 99;
	(void)state;
	assert_true(sv_find(SV("aab"), SV("ab"), &at));
	assert_int_equal(at, 1);
	assert_false(sv_find(SV("aaa"), SV("ab"), &at));
	assert_false(sv_find(SV("a"), SV("ab"), &at));
	assert_true(sv_rfind_char(SV("a-b-c"), '-', &at));
	assert_int_equal(at, 3);
}

static void numbers_are_strict(void **state)
{
	int64_t i = 7;
	uint64_t u = 7;
	(void)state;
	assert_true(sv_to_i64(SV("-9223372036854775808"), &i));
	assert_int_equal(i, INT64_MIN);
	assert_true(sv_to_i64(SV("9223372036854775807"), &i));
	i = 7;
	assert_false(sv_to_i64(SV("9223372036854775808"), &i));
	assert_false(sv_to_i64(SV("12 "), &i));
	assert_false(sv_to_i64(SV(""), &i));
	assert_false(sv_to_i64(SV("-"), &i));
	assert_false(sv_to_u64(SV("18446744073709551616"), &u));
	assert_int_equal(i, 7);
	assert_true(sv_to_hex64(SV("00ffFF"), &u));
	assert_int_equal(u, 65535);
	assert_false(sv_to_hex64(SV("0x10"), &u));
}

static void amounts_are_exact(void **state)
{
	int64_t micros = 7;
	(void)state;
	assert_true(sv_to_micros(SV("12.50"), &micros));
	assert_int_equal(micros, 12500000);
	assert_true(sv_to_micros(SV("-0.000001"), &micros));
	assert_int_equal(micros, -1);
	assert_true(sv_to_micros(SV("3"), &micros));
	assert_int_equal(micros, 3000000);
	assert_true(sv_to_micros(SV("1.2500000000"), &micros));
	assert_int_equal(micros, 1250000);
	micros = 7;
	assert_false(sv_to_micros(SV("1.0000001"), &micros));
	assert_false(sv_to_micros(SV("1,000.00"), &micros));
	assert_false(sv_to_micros(SV("1.23457E+15"), &micros));
	assert_false(sv_to_micros(SV(".5"), &micros));
	assert_false(sv_to_micros(SV("5."), &micros));
	assert_false(sv_to_micros(SV("99999999999999999"), &micros));
	assert_int_equal(micros, 7);
}

static void trim_takes_white_space_only(void **state)
{
	(void)state;
	assert_true(sv_eq(sv_trim(SV(" \t a b\r\n")), SV("a b")));
	assert_int_equal(sv_trim(SV("  ")).n, 0);
	assert_true(sv_eq_nocase(SV("Order_No"), SV("ORDER_no")));
	assert_false(sv_eq_nocase(SV("a"), SV("ab")));
}

static void leading_zeros_are_counted(void **state)
{
	static char many[10000];

	(void)state;
	assert_int_equal(sv_leading_zeros(SV("")), 0);
	assert_int_equal(sv_leading_zeros(SV_ABSENT), 0);
	assert_int_equal(sv_leading_zeros(SV("a\0")), 0);
	assert_int_equal(sv_leading_zeros((struct sv){ "\0\0a\0", 4 }), 2);
	assert_int_equal(sv_leading_zeros((struct sv){ many, sizeof many }), 10000);
	many[8192] = 'x';
	assert_int_equal(sv_leading_zeros((struct sv){ many, sizeof many }), 8192);
	many[4095] = 'x';
	assert_int_equal(sv_leading_zeros((struct sv){ many, sizeof many }), 4095);
}

/* FNV-1a of 64 bits, as its authors publish it. */
static void a_hash_goes_on_where_another_ended(void **state)
{
	(void)state;
	assert_true(sv_hash(SV_HASH, SV("")) == UINT64_C(0xcbf29ce484222325));
	assert_true(sv_hash(SV_HASH, SV("a")) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(sv_hash(SV_HASH, SV("foobar")) == UINT64_C(0x85944171f73967e8));
	assert_true(sv_hash(sv_hash(SV_HASH, SV("foo")), SV("bar")) == UINT64_C(0x85944171f73967e8));
	assert_true(sv_hash(SV_HASH, SV("\xff")) != sv_hash(SV_HASH, SV("\x7f")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_and_empty_differ),	cmocka_unit_test(order_is_by_bytes_and_prefix_first),
		cmocka_unit_test(cut_gives_every_piece),	cmocka_unit_test(find_needs_the_whole_needle),
		cmocka_unit_test(numbers_are_strict),		cmocka_unit_test(amounts_are_exact),
		cmocka_unit_test(trim_takes_white_space_only),
		cmocka_unit_test(leading_zeros_are_counted),
		cmocka_unit_test(a_hash_goes_on_where_another_ended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
