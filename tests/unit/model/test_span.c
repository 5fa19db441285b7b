/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/span.h"

static struct span span(int64_t start, int64_t end)
{
	return (struct span){ { start }, { end } };
}

static void check(const struct span_set *set, const int64_t (*expected)[2], size_t n)
{
	assert_int_equal(set->count, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(set->items[i].start.us, expected[i][0]);
		assert_int_equal(set->items[i].end.us, expected[i][1]);
	}
}

static void intervals_join_in_any_order(void **state)
{
	struct arena *a = arena_new();
	struct span_set set = { NULL, 0, 0 };
	(void)state;
	span_set_add(&set, a, span(50, 60));
	span_set_add(&set, a, span(10, 20));
	span_set_add(&set, a, span(30, 40));
	span_set_add(&set, a, span(5, 5)); /* empty */
	check(&set, (const int64_t[][2]){ { 10, 20 }, { 30, 40 }, { 50, 60 } }, 3);
	span_set_add(&set, a, span(20, 30)); /* touches both neighbours */
	check(&set, (const int64_t[][2]){ { 10, 40 }, { 50, 60 } }, 2);
	span_set_add(&set, a, span(0, 100));
	check(&set, (const int64_t[][2]){ { 0, 100 } }, 1);
	span_set_add(&set, a, span(20, 30)); /* inside */
	check(&set, (const int64_t[][2]){ { 0, 100 } }, 1);
	arena_free(a);
}

static void half_open(void **state)
{
	struct arena *a = arena_new();
	struct span_set set = { NULL, 0, 0 };
	(void)state;
	span_set_add(&set, a, span(10, 20));
	span_set_add(&set, a, span(30, 40));
	assert_true(span_set_contains(&set, (struct ref_time){ 10 }));
	assert_true(span_set_contains(&set, (struct ref_time){ 39 }));
	assert_false(span_set_contains(&set, (struct ref_time){ 20 }));
	assert_false(span_set_contains(&set, (struct ref_time){ 40 }));
	assert_false(span_set_contains(&set, (struct ref_time){ 25 }));
	arena_free(a);
}

static void overlap_cover_and_length(void **state)
{
	struct arena *a = arena_new();
	struct span_set set = { NULL, 0, 0 };
	(void)state;
	span_set_add(&set, a, span(10, 20));
	span_set_add(&set, a, span(30, 40));
	assert_int_equal(span_set_length_us(&set), 20);
	assert_int_equal(span_set_overlap_us(&set, span(15, 35)), 10);
	assert_int_equal(span_set_overlap_us(&set, span(20, 30)), 0);
	assert_true(span_set_covers(&set, span(15, 35), 10));
	assert_false(span_set_covers(&set, span(15, 35), 9));
	arena_free(a);
}

static void dilate_and_intersect(void **state)
{
	struct arena *a = arena_new();
	struct span_set set = { NULL, 0, 0 };
	(void)state;
	span_set_add(&set, a, span(10, 20));
	span_set_add(&set, a, span(30, 40));
	struct span_set wide = span_set_dilate(&set, a, 5, 5);
	check(&wide, (const int64_t[][2]){ { 5, 45 } }, 1);
	struct span_set later = span_set_dilate(&set, a, 0, 3);
	check(&later, (const int64_t[][2]){ { 10, 23 }, { 30, 43 } }, 2);
	struct span_set window = { NULL, 0, 0 };
	span_set_add(&window, a, span(0, 12));
	span_set_add(&window, a, span(18, 33));
	struct span_set both = span_set_intersect(&set, &window, a);
	check(&both, (const int64_t[][2]){ { 10, 12 }, { 18, 20 }, { 30, 33 } }, 3);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_join_in_any_order),
		cmocka_unit_test(half_open),
		cmocka_unit_test(overlap_cover_and_length),
		cmocka_unit_test(dilate_and_intersect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
