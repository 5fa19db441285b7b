/* SPDX-License-Identifier: MIT */
/* Proportions, and what chance alone would hit. Times are in seconds from 0, so that figures can be worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/chance.h"

#define SHIFTS 10000
#define SEED UINT64_C(1)

static const struct span_set nothing;

static struct span seconds(int64_t start, int64_t end)
{
	return (struct span){ { start * US_PER_S }, { end * US_PER_S } };
}

static void assert_near(double is, double should, double within)
{
	if (fabs(is - should) > within)
		fail_msg("is %.6f, should be %.6f", is, should);
}

/* A root at second e whose exposure is the 30 seconds before, and lagged from an overlap of 10. */
static struct exposed root_at(int64_t e, const struct span_set *windows, const struct span_set *rivals)
{
	return (struct exposed){ .has_exposure = true,
				 .trigger_time = { e * US_PER_S },
				 .exposure = seconds(e - 30, e),
				 .windows = windows,
				 .rivals = rivals,
				 .need_us = 10 * US_PER_S,
				 .slack_us = 6 * US_PER_S };
}

static void test_intervals_of_wilson(void **state)
{
	struct proportion p = proportion_of(6, 7);

	(void)state;
	assert_true(p.known);
	assert_near(p.share, 0.8571, 0.00005);
	assert_near(p.low, 0.4869, 0.00005);
	assert_near(p.high, 0.9743, 0.00005);
	/* At the ends one limit is exact, and the other is z2 / (n + z2): 3.8415 / 8.8415. */
	p = proportion_of(0, 5);
	assert_near(p.low, 0, 0);
	assert_near(p.high, 0.4345, 0.00005);
	p = proportion_of(5, 5);
	assert_near(p.low, 0.5655, 0.00005);
	assert_near(p.high, 1, 0);
	assert_false(proportion_of(0, 0).known);
}

static void test_what_is_a_hit(void **state)
{
	struct exposed x = root_at(100, &nothing, &nothing);
	struct hit h = chance_hit(&x, 30 * US_PER_S, 10 * US_PER_S, 0);

	(void)state;
	assert_true(h.is_lagged);
	assert_false(h.explains);
	/* Just short of it. */
	assert_false(chance_hit(&x, 30 * US_PER_S, 10 * US_PER_S - 1, 0).is_lagged);
	/* All but the slack of 6. */
	assert_true(chance_hit(&x, 30 * US_PER_S, 24 * US_PER_S, 0).explains);
	assert_false(chance_hit(&x, 30 * US_PER_S, 24 * US_PER_S - 1, 0).explains);
	/* A rival that explains it alone takes it away; one that only overlaps, or explains as little, does not. */
	assert_false(chance_hit(&x, 30 * US_PER_S, 10 * US_PER_S, 24 * US_PER_S).is_lagged);
	assert_true(chance_hit(&x, 30 * US_PER_S, 10 * US_PER_S, 20 * US_PER_S).is_lagged);
	assert_true(chance_hit(&x, 30 * US_PER_S, 30 * US_PER_S, 30 * US_PER_S).is_lagged);
	/* No overlap at all is never a hit, even if none is asked for. */
	x.need_us = 0;
	assert_false(chance_hit(&x, 0, 0, 0).is_lagged);
}

static struct chance find(struct arena *a, const struct exposed *roots, size_t n, size_t lagged, const struct span_set *observed)
{
	struct chance c;

	chance_find(roots, n, lagged, observed, SHIFTS, SEED, a, &c);
	return c;
}

/* One window of 10 s in 1000 s: with the 30 s of exposure a trigger in 40 s of them meets it. */
static void test_the_expected_share(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };

	(void)state;
	span_set_add(&observed, a, seconds(0, 1000));
	span_set_add(&windows, a, seconds(400, 410));
	struct exposed roots[] = { root_at(425, &windows, &nothing), { .has_exposure = false } };
	struct chance c = find(a, roots, 1, 1, &observed);
	assert_true(c.known);
	assert_int_equal(c.observed_us, 1000 * US_PER_S);
	assert_int_equal(c.dilated_us, 40 * US_PER_S);
	assert_near(c.expected_share, 0.04, 1e-9);
	assert_near(c.lift, 25, 1e-6);
	assert_int_equal(c.shifts, SHIFTS);
	/* It is lagged where all of the window is inside: in 20 s of the 1000. */
	assert_near(c.p_value, 0.02, 0.005);
	/* Who is exposed to nothing halves the expectation as it halves the share. */
	c = find(a, roots, 2, 1, &observed);
	assert_near(c.expected_share, 0.02, 1e-9);
	assert_near(c.lift, 25, 1e-6);
	arena_free(a);
}

/* The clock's margins count on both sides, and around the end of the circle. */
static void test_the_expected_share_around_the_end(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };

	(void)state;
	span_set_add(&observed, a, seconds(0, 1000));
	span_set_add(&windows, a, seconds(0, 10));
	struct exposed root = root_at(25, &windows, &nothing);
	root.exposure = seconds(-10, 30);
	/* From 5 s before the window to 35 s after it. */
	assert_int_equal(find(a, &root, 1, 1, &observed).dilated_us, 50 * US_PER_S);
	arena_free(a);
}

/* Ten rebalances in one second are one coincidence, not ten. */
static void test_a_storm_is_one_coincidence(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };
	struct exposed storm[10];

	(void)state;
	span_set_add(&observed, a, seconds(0, 1000));
	span_set_add(&windows, a, seconds(400, 410));
	for (size_t i = 0; i < 10; i++)
		storm[i] = root_at(425, &windows, &nothing);
	assert_near(find(a, storm, 10, 10, &observed).p_value, 0.02, 0.005);
	arena_free(a);
}

/* The twin: five, each after a window of its own at odd distances, in a day. */
static void test_five_coincidences_are_no_chance(void **state)
{
	static const int64_t starts[] = { 1000, 9300, 21700, 40100, 77000 };
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };
	struct exposed roots[5];

	(void)state;
	span_set_add(&observed, a, seconds(0, 86400));
	for (size_t i = 0; i < 5; i++) {
		span_set_add(&windows, a, seconds(starts[i], starts[i] + 10));
		roots[i] = root_at(starts[i] + 25, &windows, &nothing);
	}
	struct chance c = find(a, roots, 5, 5, &observed);
	/* All five are lagged in 20 of 86400 s: about 2 shifts of 10000. */
	assert_true(c.p_value < 0.002);
	assert_near(c.expected_share, 5 * 40 / 86400.0, 1e-9);
	arena_free(a);
}

/* Where jitter is everywhere any rebalance lies in it. */
static void test_jitter_everywhere_proves_nothing(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };
	struct exposed roots[6];

	(void)state;
	span_set_add(&observed, a, seconds(0, 6000));
	for (int64_t t = 0; t < 6000; t += 30)
		span_set_add(&windows, a, seconds(t, t + 15));
	for (size_t i = 0; i < 6; i++)
		roots[i] = root_at(500 + 900 * (int64_t)i, &windows, &nothing);
	struct chance c = find(a, roots, 6, 6, &observed);
	assert_near(c.p_value, 1, 0);
	assert_near(c.expected_share, 1, 1e-9);
	assert_near(c.lift, 1, 1e-9);
	arena_free(a);
}

static void test_without_windows_or_evidence(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 };
	struct exposed root = root_at(425, &nothing, &nothing);

	(void)state;
	assert_false(find(a, &root, 1, 0, &observed).known);
	span_set_add(&observed, a, seconds(0, 1000));
	assert_false(find(a, &root, 0, 0, &observed).known);
	struct chance c = find(a, &root, 1, 0, &observed);
	assert_true(c.known);
	assert_false(c.has_lift);
	assert_near(c.p_value, 1, 0);
	arena_free(a);
}

/* The hole is no observed time: windows and exposures are moved across it. */
static void test_a_hole_in_the_evidence(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };

	(void)state;
	span_set_add(&observed, a, seconds(0, 500));
	span_set_add(&observed, a, seconds(1500, 2000));
	span_set_add(&windows, a, seconds(1600, 1610));
	/* Outside of all that was observed. */
	span_set_add(&windows, a, seconds(700, 1400));
	struct exposed root = root_at(1625, &windows, &nothing);
	struct chance c = find(a, &root, 1, 1, &observed);
	assert_int_equal(c.observed_us, 1000 * US_PER_S);
	assert_int_equal(c.dilated_us, 40 * US_PER_S);
	arena_free(a);
}

static void test_rivals_take_their_share_of_chance_too(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 }, pauses = { NULL, 0, 0 };

	(void)state;
	span_set_add(&observed, a, seconds(0, 1000));
	span_set_add(&windows, a, seconds(400, 410));
	span_set_add(&pauses, a, seconds(300, 500));
	struct exposed root = root_at(425, &windows, &pauses);
	/* Wherever the window is met the pause explains all: no shift hits. */
	struct chance c = find(a, &root, 1, 1, &observed);
	assert_near(c.p_value, 1.0 / (1 + SHIFTS), 1e-12);
	arena_free(a);
}

static void test_the_same_seed_gives_the_same_figures(void **state)
{
	struct arena *a = arena_new();
	struct span_set observed = { NULL, 0, 0 }, windows = { NULL, 0, 0 };

	(void)state;
	span_set_add(&observed, a, seconds(0, 1000));
	span_set_add(&windows, a, seconds(400, 450));
	struct exposed root = root_at(460, &windows, &nothing);
	assert_near(find(a, &root, 1, 1, &observed).p_value, find(a, &root, 1, 1, &observed).p_value, 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_of_wilson),
		cmocka_unit_test(test_what_is_a_hit),
		cmocka_unit_test(test_the_expected_share),
		cmocka_unit_test(test_the_expected_share_around_the_end),
		cmocka_unit_test(test_a_storm_is_one_coincidence),
		cmocka_unit_test(test_five_coincidences_are_no_chance),
		cmocka_unit_test(test_jitter_everywhere_proves_nothing),
		cmocka_unit_test(test_without_windows_or_evidence),
		cmocka_unit_test(test_a_hole_in_the_evidence),
		cmocka_unit_test(test_rivals_take_their_share_of_chance_too),
		cmocka_unit_test(test_the_same_seed_gives_the_same_figures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
