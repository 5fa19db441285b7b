/* SPDX-License-Identifier: MIT */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/latest.h"

/* Numbers that differ in all bits, as digests do. */
static uint64_t digest_of(uint64_t i)
{
	return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void count_each_of(struct latest *l, uint64_t from, uint64_t to, uint64_t expected)
{
	for (uint64_t i = from; i < to; i++)
		if (latest_times_before(l, digest_of(i)) != expected)
			fail_msg("%llu came another number of times than %llu", (unsigned long long)i, (unsigned long long)expected);
}

static void test_each_is_counted(void **state)
{
	struct latest l = { 0 };

	(void)state;
	assert_int_equal(latest_times_before(&l, 7), 0);
	assert_int_equal(latest_times_before(&l, 7), 1);
	assert_int_equal(latest_times_before(&l, 0), 0);
	assert_int_equal(latest_times_before(&l, 7), 2);
	assert_int_equal(latest_times_before(&l, 0), 1);
	latest_fini(&l);
}

/* While the table grows, and while the older half of it is put away. */
static void test_the_latest_are_remembered(void **state)
{
	struct latest l = { 0 };

	(void)state;
	for (uint64_t pass = 0; pass < 5; pass++)
		count_each_of(&l, 0, LATEST_LEAST, pass);
	count_each_of(&l, LATEST_LEAST, LATEST_LEAST * 3 / 2, 0);
	count_each_of(&l, LATEST_LEAST / 2, LATEST_LEAST, 5);
	count_each_of(&l, LATEST_LEAST, LATEST_LEAST * 3 / 2, 1);
	count_each_of(&l, LATEST_LEAST / 2, LATEST_LEAST, 6);
	latest_fini(&l);
}

static void test_memory_has_an_end(void **state)
{
	struct latest l = { 0 };

	(void)state;
	count_each_of(&l, 0, 10 * LATEST_LEAST, 0);
	assert_true(l.slots <= 2 * LATEST_LEAST);
	assert_int_equal(latest_times_before(&l, digest_of(10 * LATEST_LEAST - 1)), 1);
	assert_int_equal(latest_times_before(&l, digest_of(0)), 0);
	latest_fini(&l);
}

/* Small or large: nothing of before is left. */
static void test_cleared_it_is_as_new(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 100, 5000, 3 * LATEST_LEAST };
	struct latest l = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		latest_clear(&l);
		count_each_of(&l, 0, sizes[i], 0);
	}
	latest_clear(&l);
	count_each_of(&l, 0, 10, 0);
	latest_fini(&l);
}

/* Digests of one slot: those that find no place are forgotten, and all is over in no time. */
static void test_digests_that_were_made_to_collide(void **state)
{
	struct latest l = { 0 };
	uint64_t few = 20;

	(void)state;
	for (uint64_t pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; i < few; i++)
			assert_int_equal(latest_times_before(&l, i << 32 | 5), pass);
	for (uint64_t i = few; i < 2 * LATEST_LEAST; i++)
		assert_int_equal(latest_times_before(&l, i << 32 | 5), 0);
	assert_int_equal(latest_times_before(&l, few << 32 | 5), 1);
	assert_int_equal(latest_times_before(&l, (uint64_t)1000 << 32 | 5), 0);
	latest_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_counted),
		cmocka_unit_test(test_the_latest_are_remembered),
		cmocka_unit_test(test_memory_has_an_end),
		cmocka_unit_test(test_cleared_it_is_as_new),
		cmocka_unit_test(test_digests_that_were_made_to_collide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
