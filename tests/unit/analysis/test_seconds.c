/* SPDX-License-Identifier: MIT */
/* Seconds that were told together come one by one, among those that were told alone. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "analysis/seconds.h"
#include "windows_story.h"

struct told {
	const char *caller;
	int from, to;	/* seconds */
	const char *samples, *segments, *rtts;
};

static void tell(struct story *st, const struct told *t)
{
	char start[32], end[32];

	snprintf(start, sizeof start, "10:00:%02d", t->from);
	snprintf(end, sizeof end, "10:00:%02d", t->to);
	story_interval(st, EVENT_NET_SECOND, "c1", at(start), at(end), "path_a", t->caller, "path_b", BROKER, "direction", "ab",
		       "samples", t->samples, "segments", t->segments, "retransmits", "0", "bytes", "1000", "rtt_samples", t->rtts,
		       "rtt_median_us", "300", NULL);
}

/* Which second of which caller, with how many segments and round trips. */
struct given {
	const char *caller;
	int second, segments, rtts;
};

static void gives(struct story *st, const struct given *expected, size_t count)
{
	struct seconds *s = seconds_new(story_store(st), st->arena);
	struct event e;
	int rc;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(seconds_next(s, &e), 1);
		assert_int_equal((e.time.us - at("10:00:00").us) / US_PER_S, expected[i].second);
		assert_int_equal(e.duration_us, US_PER_S);
		assert_true(sv_eq(event_text(&e, FIELD_PATH_A), sv_of(expected[i].caller)));
		assert_true(sv_eq(e.host, SV("c1")));
		assert_int_equal(e.value[FIELD_SEGMENTS].number, expected[i].segments);
		assert_int_equal(e.value[FIELD_RTT_SAMPLES].number, expected[i].rtts);
		assert_int_equal(e.value[FIELD_RTT_MEDIAN_US].number, 300);
		assert_int_equal(event_int_or(&e, FIELD_SAMPLES, 1), 1);
	}
	rc = seconds_next(s, &e);
	assert_int_equal(rc, 0);
	seconds_free(s);
	story_free(st);
}

static void seconds_come_in_order_of_time(void **state)
{
	const struct told told[] = { { C1, 0, 4, "4", "10", "4" }, { C1_OTHER, 1, 2, "1", "7", "1" },
				     { C2, 2, 5, "3", "3", "2" }, { C1_OTHER, 9, 10, "1", "8", "1" } };
	/* 10 are 2, 3, 2, 3; two round trips in three seconds are in the later two. */
	const struct given given[] = { { C1, 0, 2, 1 }, { C1, 1, 3, 1 }, { C1_OTHER, 1, 7, 1 }, { C1, 2, 2, 1 }, { C2, 2, 1, 0 },
				       { C1, 3, 3, 1 }, { C2, 3, 1, 1 }, { C2, 4, 1, 1 }, { C1_OTHER, 9, 8, 1 } };
	struct story *st = story_new();

	(void)state;
	for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
		tell(st, &told[i]);
	gives(st, given, sizeof given / sizeof given[0]);
}

/* Three in ten: the first, the last, and one between. */
static void seconds_are_spread_over_their_time(void **state)
{
	const struct told told = { C1, 10, 20, "3", "9", "3" };
	const struct given given[] = { { C1, 10, 3, 1 }, { C1, 14, 3, 1 }, { C1, 19, 3, 1 } };
	struct story *st = story_new();

	(void)state;
	tell(st, &told);
	gives(st, given, 3);
}

/* A database may have been written by anyone: no more seconds than there is time for, and none without time. */
static void what_does_not_fit_is_not_believed(void **state)
{
	const struct told too_many = { C1, 10, 12, "1000000", "4", "2" }, backwards = { C1, 10, 11, "-5", "4", "2" };
	const struct given two[] = { { C1, 10, 2, 1 }, { C1, 11, 2, 1 } };
	struct story *st = story_new();
	struct seconds *s;
	struct event e;

	(void)state;
	tell(st, &too_many);
	gives(st, two, 2);
	st = story_new();
	tell(st, &backwards);
	s = seconds_new(story_store(st), st->arena);
	assert_int_equal(seconds_next(s, &e), 1);
	assert_int_equal(e.value[FIELD_SEGMENTS].number, 4);
	assert_int_equal(seconds_next(s, &e), 0);
	seconds_free(s);
	story_free(st);
}

/* Nor years of them, which would be given one by one. */
static void years_told_together_are_not_given_one_by_one(void **state)
{
	const struct host_time end = { INT64_MAX };
	struct story *st = story_new();
	int64_t count = 0, last_us = 0;
	struct seconds *s;
	struct event e;

	(void)state;
	story_interval(st, EVENT_NET_SECOND, "c1", at("10:00:00"), end, "path_a", C1, "path_b", BROKER, "direction", "ab",
		       "samples", "9000000000000", "segments", "9000000000000", "retransmits", "0", NULL);
	s = seconds_new(story_store(st), st->arena);
	for (; seconds_next(s, &e) == 1 && count < 100000; count++) {
		assert_true(e.time.us > last_us);
		last_us = e.time.us;
	}
	assert_in_range(count, 2, 99999);
	seconds_free(s);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_come_in_order_of_time),
		cmocka_unit_test(seconds_are_spread_over_their_time),
		cmocka_unit_test(what_does_not_fit_is_not_believed),
		cmocka_unit_test(years_told_together_are_not_given_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
