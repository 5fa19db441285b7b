/* SPDX-License-Identifier: MIT */
/* What hosts tell of not getting on, held against rebalances of a session timeout of 30 s. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/stall.h"
#include "story.h"

#define SOFT_LOCKUP "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [java:1234]"

static struct group group = { .name = { "g", 1 }, .session_timeout_ms = { .known = true, .value = 30000 },
			      .max_poll_interval_ms = { .known = true, .value = 300000 } };

static void stalled(struct story *st, const char *host, const char *time, const char *ms)
{
	story_event(st, EVENT_HOST_STALLED, host, at(time), "text", SOFT_LOCKUP, ms == NULL ? NULL : "elapsed_ms", ms, NULL);
}

/* Of consumer-1 at 10:00:30, its coordinator on broker-1; exposed for 20 s where it has an exposure. */
static struct rebalance of(enum trigger trigger, bool has_exposure)
{
	return (struct rebalance){ .id = 1, .root = 1, .is_root = true, .group = SV("g"), .trigger = trigger,
				   .trigger_time = ref_at("10:00:30"), .host = SV("consumer-1"), .broker_host = SV("broker-1"),
				   .has_exposure = has_exposure, .exposure = { ref_at("10:00:10"), ref_at("10:00:30") },
				   .attribution_note = SV("No jitter in the 20.0 s before it.") };
}

static struct rebalance find(struct story *st, struct rebalance r)
{
	struct groups groups = { &group, 1 };
	struct clocks clocks = { 0 };
	struct rebalances all = { .items = &r, .count = 1 };

	assert_int_equal(stalls_find(story_store(st), &clocks, &groups, st->arena, &all), 0);
	return r;
}

static bool says(const struct rebalance *r, const char *words)
{
	size_t at;

	return sv_find(r->attribution_note, sv_of(words), &at);
}

static void test_a_stall_in_the_exposure_is_told(void **state)
{
	static const struct {
		const char *host, *time, *ms;
		size_t stalls;
	} cases[] = {
		{ "consumer-1", "10:00:20", NULL, 1 },
		{ "broker-1", "10:00:20", NULL, 1 },
		/* It says so afterwards: from 10:00:28 to 10:00:50. */
		{ "consumer-1", "10:00:50", "22000", 1 },
		{ "consumer-1", "10:00:55", "22000", 0 },
		{ "consumer-1", "10:00:05", "22000", 0 },
		{ "consumer-2", "10:00:20", NULL, 0 },
		{ NULL, "10:00:20", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();
		struct rebalance r;

		stalled(st, cases[i].host, cases[i].time, cases[i].ms);
		r = find(st, of(TRIGGER_SESSION_TIMEOUT, true));
		assert_int_equal(r.stalls.count, cases[i].stalls);
		assert_true(says(&r, "No jitter in the 20.0 s before it."));
		assert_int_equal(says(&r, SOFT_LOCKUP), cases[i].stalls);
		if (cases[i].stalls > 0)
			assert_int_equal(r.stalls.items[0].strength, STRENGTH_SUGGESTS);
		story_free(st);
	}
}

static void test_without_an_exposure_the_timeout_tells_how_far_back(void **state)
{
	struct story *st = story_new();

	(void)state;
	stalled(st, "consumer-1", "09:56:00", NULL);
	assert_int_equal(find(st, of(TRIGGER_POLL_TIMEOUT, false)).stalls.count, 1);
	assert_int_equal(find(st, of(TRIGGER_SESSION_TIMEOUT, false)).stalls.count, 0);
	stalled(st, "consumer-1", "10:00:29", NULL);
	assert_int_equal(find(st, of(TRIGGER_SESSION_TIMEOUT, false)).stalls.count, 1);
	/* What no silence causes. */
	assert_int_equal(find(st, of(TRIGGER_MEMBER_LEAVE, false)).stalls.count, 0);
	story_free(st);
}

/* Exposed for 20 s, and with heartbeats every 3 s: what lasts 3 s of it may be the cause. */
static void test_a_stall_as_long_as_jitter_must_be_leaves_it_open(void **state)
{
	static const struct {
		const char *time, *ms;
		enum attribution before, after;
	} cases[] = {
		{ "10:00:25", "3000", ATTRIBUTION_LAGGED, ATTRIBUTION_AMBIGUOUS },
		/* Too short; of unknown length; for the most part before the exposure. */
		{ "10:00:25", "2999", ATTRIBUTION_LAGGED, ATTRIBUTION_LAGGED },
		{ "10:00:25", NULL, ATTRIBUTION_LAGGED, ATTRIBUTION_LAGGED },
		{ "10:00:12", "22000", ATTRIBUTION_LAGGED, ATTRIBUTION_LAGGED },
		/* Jitter alone explains it; nothing else was seen; it is settled that it was no network. */
		{ "10:00:25", "3000", ATTRIBUTION_EXPLAINED, ATTRIBUTION_EXPLAINED },
		{ "10:00:25", "3000", ATTRIBUTION_NONE, ATTRIBUTION_NONE },
		{ "10:00:25", "3000", ATTRIBUTION_NOT_NETWORK, ATTRIBUTION_NOT_NETWORK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();
		struct rebalance r = of(TRIGGER_SESSION_TIMEOUT, true);

		r.need_us = 3 * US_PER_S;
		r.lagged = cases[i].before == ATTRIBUTION_LAGGED;
		r.attribution = cases[i].before;
		stalled(st, "consumer-1", cases[i].time, cases[i].ms);
		r = find(st, r);
		assert_int_equal(r.stalls.count, 1);
		assert_int_equal(r.attribution, cases[i].after);
		assert_int_equal(says(&r, "stays open"), cases[i].after == ATTRIBUTION_AMBIGUOUS);
		/* Shares count it as before. */
		assert_int_equal(r.lagged, cases[i].before == ATTRIBUTION_LAGGED);
		story_free(st);
	}
}

static void test_what_follows_has_the_attribution_of_its_root(void **state)
{
	struct story *st = story_new();
	struct rebalance both[2] = { of(TRIGGER_SESSION_TIMEOUT, true), of(TRIGGER_MEMBER_REJOIN, true) };
	struct groups groups = { &group, 1 };
	struct clocks clocks = { 0 };
	struct rebalances all = { .items = both, .count = 2 };

	(void)state;
	both[1].id = 2;
	both[1].is_root = false;
	both[0].need_us = 3 * US_PER_S;
	both[0].attribution = both[1].attribution = ATTRIBUTION_LAGGED;
	stalled(st, "consumer-1", "10:00:25", "22000");
	assert_int_equal(stalls_find(story_store(st), &clocks, &groups, st->arena, &all), 0);
	assert_int_equal(both[1].attribution, ATTRIBUTION_AMBIGUOUS);
	assert_int_equal(both[1].stalls.count, 0);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stall_in_the_exposure_is_told),
		cmocka_unit_test(test_a_stall_as_long_as_jitter_must_be_leaves_it_open),
		cmocka_unit_test(test_what_follows_has_the_attribution_of_its_root),
		cmocka_unit_test(test_without_an_exposure_the_timeout_tells_how_far_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
