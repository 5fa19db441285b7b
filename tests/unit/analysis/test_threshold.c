/* SPDX-License-Identifier: MIT */
/* Thresholds can be chosen within their range, and the detectors go by what was chosen. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "windows_story.h"

static void test_defaults_are_those_of_the_table(void **state)
{
	struct thresholds t = thresholds_default();

	(void)state;
	assert_int_equal(t.value[THRESHOLD_BLACKOUT_LEAST_MS], 1000);
	assert_int_equal(t.value[THRESHOLD_SERVER_PAUSE_CALLERS], 2);
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		assert_false(threshold_is_changed(&t, (enum threshold_id)i));
}

static void test_names(void **state)
{
	enum threshold_id id = THRESHOLD_COUNT;

	(void)state;
	assert_true(threshold_by_name(SV("loss.percent"), &id));
	assert_int_equal(id, THRESHOLD_LOSS_PERCENT);
	assert_false(threshold_by_name(SV("loss"), &id));
	assert_false(threshold_by_name(SV("loss.percents"), &id));
	assert_false(threshold_by_name(SV_ABSENT, &id));
	/* No name stands twice: the second could not be reached. */
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		assert_true(threshold_by_name(sv_of(threshold_infos[i].name), &id));
		assert_int_equal(id, i);
	}
}

static void test_range(void **state)
{
	struct thresholds t = thresholds_default();

	(void)state;
	assert_true(threshold_set(&t, THRESHOLD_BLACKOUT_LEAST_MS, 500));
	assert_true(threshold_set(&t, THRESHOLD_BLACKOUT_LEAST_MS, 600000));
	assert_false(threshold_set(&t, THRESHOLD_BLACKOUT_LEAST_MS, 499));
	assert_false(threshold_set(&t, THRESHOLD_BLACKOUT_LEAST_MS, 600001));
	assert_int_equal(t.value[THRESHOLD_BLACKOUT_LEAST_MS], 600000);
	assert_true(threshold_is_changed(&t, THRESHOLD_BLACKOUT_LEAST_MS));
	assert_false(threshold_is_changed(&t, THRESHOLD_BLACKOUT_RTTS));
	/* Set to what it is anyway: not changed. */
	assert_true(threshold_set(&t, THRESHOLD_BLACKOUT_LEAST_MS, 1000));
	assert_false(threshold_is_changed(&t, THRESHOLD_BLACKOUT_LEAST_MS));
}

static size_t windows_with(struct story *st, enum threshold_id id, int64_t value)
{
	struct analysis_options options = analysis_options_default();
	struct clocks clocks = { 0 };
	struct windows w;

	assert_true(threshold_set(&options.thresholds, id, value));
	assert_int_equal(windows_find(story_store(st), &clocks, &options, 2000, st->arena, &w), 0);
	return w.count;
}

/* Lost at :02, and nothing heard until :12: data stood out for exactly 10 s. */
static void test_a_blackout_by_what_was_chosen(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:00", "10:00:12", "10:00:02", "10:00:09");
	assert_int_equal(windows_with(st, THRESHOLD_BLACKOUT_LEAST_MS, 9999), 1);
	assert_int_equal(windows_with(st, THRESHOLD_BLACKOUT_LEAST_MS, 10000), 0);
	/* Its median round trip is 1 ms: 1000 of them are less than the least. */
	assert_int_equal(windows_with(st, THRESHOLD_BLACKOUT_RTTS, 1000), 1);
	story_free(st);
}

/* Five of a thousand segments sent again in a second, and no timeout: half a percent. */
static void test_a_loss_by_what_was_chosen(void **state)
{
	struct story *st = story_new();

	(void)state;
	second(st, "c1", C1, "10:00:00", "ab", "1000", "5", "0");
	assert_int_equal(windows_with(st, THRESHOLD_LOSS_PERCENT, 1), 0);
	assert_int_equal(windows_with(st, THRESHOLD_LOSS_PERCENT, 0), 1);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_the_table),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_a_blackout_by_what_was_chosen),
		cmocka_unit_test(test_a_loss_by_what_was_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
