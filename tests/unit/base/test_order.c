/* SPDX-License-Identifier: MIT */
/* The place of the first item that does not come before a key. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/order.h"

static const int64_t items[] = { -5, 2, 2, 2, 9 };

static size_t bound(int64_t key, size_t count)
{
	return order_lower_bound(&key, items, count, sizeof items[0], order_i64_items);
}

static void the_first_of_equals_is_found(void **state)
{
	(void)state;
	assert_int_equal(bound(2, 5), 1);
	assert_int_equal(bound(-5, 5), 0);
	assert_int_equal(bound(9, 5), 4);
}

static void what_is_not_there_has_its_place(void **state)
{
	(void)state;
	assert_int_equal(bound(INT64_MIN, 5), 0);
	assert_int_equal(bound(1, 5), 1);
	assert_int_equal(bound(3, 5), 4);
	assert_int_equal(bound(INT64_MAX, 5), 5);
	/* Those beyond count are none. */
	assert_int_equal(bound(9, 2), 2);
}

static void of_nothing_the_first_is_the_end(void **state)
{
	const int64_t key = 0;

	(void)state;
	assert_int_equal(order_lower_bound(&key, NULL, 0, sizeof key, order_i64_items), 0);
}

static void equals_are_kept_once(void **state)
{
	int64_t numbers[] = { 3, 1, 3, 2, 1, 3 };

	(void)state;
	assert_int_equal(order_unique(numbers, 6, sizeof numbers[0], order_i64_items), 3);
	for (int64_t i = 0; i < 3; i++)
		assert_int_equal(numbers[i], i + 1);
	assert_int_equal(order_unique(numbers, 3, sizeof numbers[0], order_i64_items), 3);
	assert_int_equal(order_unique(numbers, 1, sizeof numbers[0], order_i64_items), 1);
	assert_int_equal(order_unique(NULL, 0, sizeof numbers[0], order_i64_items), 0);
}

/* Ten numbers a thousand times each: never many more than those few that are not looked at. */
static void a_set_of_few_stays_small_as_it_grows(void **state)
{
	static int64_t numbers[4096];
	size_t count = 0, most = 0, sort_at = 0;

	(void)state;
	for (int64_t i = 0; i < 10000; i++) {
		count = order_unique_at(numbers, count, sizeof numbers[0], order_i64_items, &sort_at);
		assert_true(count < 4096);
		numbers[count++] = i % 10;
		most = count > most ? count : most;
	}
	assert_true(most <= 1024 + 2 * 10);
	assert_int_equal(order_unique(numbers, count, sizeof numbers[0], order_i64_items), 10);
	assert_int_equal(numbers[9], 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_equals_is_found),
		cmocka_unit_test(what_is_not_there_has_its_place),
		cmocka_unit_test(of_nothing_the_first_is_the_end),
		cmocka_unit_test(equals_are_kept_once),
		cmocka_unit_test(a_set_of_few_stays_small_as_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
