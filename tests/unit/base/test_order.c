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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_of_equals_is_found),
		cmocka_unit_test(what_is_not_there_has_its_place),
		cmocka_unit_test(of_nothing_the_first_is_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
