/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/windows_story.h"

/* The tests' heartbeat interval is 2 s: a process is paused from 3 s on, a broker from 2 s on. */

static void line(struct story *st, enum event_type type, const char *host, const char *time, const char *device)
{
	story_event(st, type, host, at(time), device == NULL ? NULL : "device", device, NULL);
}

static void paused(struct story *st, enum event_type type, const char *host, const char *time, const char *ms)
{
	story_event(st, type, host, at(time), "elapsed_ms", ms, NULL);
}

/* ---- connection tracking ---- */

static void test_lines_of_a_full_table_are_a_window(void **state)
{
	struct story *st = story_new();

	(void)state;
	line(st, EVENT_CONNTRACK_FULL, "c1", "10:00:00", NULL);
	line(st, EVENT_CONNTRACK_FULL, "c1", "10:00:05", NULL);
	/* Ten seconds without any: another one. */
	line(st, EVENT_CONNTRACK_FULL, "c1", "10:00:16", NULL);
	line(st, EVENT_CONNTRACK_FULL, "c2", "10:00:06", NULL);
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 3);
	assert_int_equal(w.items[0].kind, WINDOW_CONNTRACK);
	assert_string_equal(w.items[0].source, "log");
	assert_true(window_is_jitter(&w.items[0]));
	assert_span(w.items[0].span, "10:00:00", "10:00:06");
	assert_int_equal(w.items[0].evidence.count, 2);
	assert_true(sv_eq(w.items[1].host, SV("c2")));
	assert_span(w.items[2].span, "10:00:16", "10:00:17");
	story_free(st);
}

/* ---- links ---- */

static void test_a_link_is_down_until_it_is_up(void **state)
{
	struct story *st = story_new();

	(void)state;
	line(st, EVENT_LINK_DOWN, "c1", "10:00:00", "eth0");
	/* The same, by the daemon that watches the link. */
	line(st, EVENT_LINK_DOWN, "c1", "10:00:00.5", "eth0");
	line(st, EVENT_LINK_UP, "c1", "10:00:20", "eth1");
	line(st, EVENT_LINK_UP, "c2", "10:00:21", "eth0");
	line(st, EVENT_LINK_UP, "c1", "10:00:40", "eth0");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_LINK);
	assert_true(sv_eq(w.items[0].host, SV("c1")));
	assert_span(w.items[0].span, "10:00:00", "10:00:40");
	assert_false(w.items[0].censored);
	story_free(st);
}

static void test_a_link_that_comes_up_was_not_seen_to_go_down(void **state)
{
	struct story *st = story_new();

	(void)state;
	line(st, EVENT_LINK_UP, "c1", "10:00:00", "eth0");
	line(st, EVENT_LINK_UP, "c1", "10:00:01", "eth0");
	assert_int_equal(find_windows(st).count, 0);
	story_free(st);
}

static void test_a_link_that_stays_down_is_censored(void **state)
{
	struct story *st = story_new();

	(void)state;
	line(st, EVENT_LINK_DOWN, "c1", "10:00:00", "eth0");
	covered(st, "c1", "log", "09:00:00", "10:05:00", "100");
	covered(st, "c2", "log", "09:00:00", "11:00:00", "100");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_true(w.items[0].censored);
	assert_span(w.items[0].span, "10:00:00", "10:05:00");
	story_free(st);

	/* A member of that host that joins shows that it was not the link that matters, or is no more. */
	st = story_new();
	line(st, EVENT_LINK_DOWN, "c1", "10:00:00", "eth0");
	covered(st, "c1", "log", "09:00:00", "10:05:00", "100");
	story_event(st, EVENT_CLIENT_JOINED, "c2", at("10:00:10"), "group", "g", "client", "x", "generation", "3", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "c1", at("10:00:30"), "group", "g", "client", "y", "generation", "4", NULL);
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_false(w.items[0].censored);
	assert_span(w.items[0].span, "10:00:00", "10:00:30");
	story_free(st);
}

static void test_one_link_of_a_bond_is_not_missed(void **state)
{
	struct story *st = story_new();

	(void)state;
	line(st, EVENT_LINK_DOWN, "c1", "10:00:00", "eth1");
	line(st, EVENT_LINK_SPARE, "c1", "10:00:00.1", "eth1");
	line(st, EVENT_LINK_UP, "c1", "10:00:30", "eth1");
	assert_int_equal(find_windows(st).count, 0);
	/* All of them are. */
	line(st, EVENT_LINK_DOWN, "c1", "10:00:10", "bond0");
	line(st, EVENT_LINK_UP, "c1", "10:00:30", "bond0");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:10", "10:00:30");
	story_free(st);
}

static void test_a_queue_that_stood_still(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_LINK_STALLED, "c1", at("10:00:10"), "device", "eth0", "elapsed_ms", "5432", NULL);
	line(st, EVENT_LINK_STALLED, "c2", "10:00:10", "eth0");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_span(w.items[0].span, "10:00:04.568", "10:00:10");
	assert_span(w.items[1].span, "10:00:10", "10:00:11");
	story_free(st);
}

/* ---- pauses ---- */

static void test_a_pause_lasts_to_its_line_or_from_it(void **state)
{
	struct story *st = story_new();

	(void)state;
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30", "12000");
	paused(st, EVENT_PROCESS_PAUSES, "c2", "10:00:30", "12000");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_PROCESS_PAUSE);
	assert_false(window_is_jitter(&w.items[0]));
	assert_string_equal(w.items[0].source, "log");
	assert_span(w.items[0].span, "10:00:18", "10:00:30");
	assert_int_equal(measured(&w.items[0], MEASURE_PAUSE_MS), 12000);
	assert_span(w.items[1].span, "10:00:30", "10:00:42");
	story_free(st);
}

static void test_short_pauses_are_none(void **state)
{
	struct story *st = story_new();

	(void)state;
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30", "2900");
	/* A second of work between them: a heartbeat is sent. */
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:34", "2900");
	assert_int_equal(find_windows(st).count, 0);
	story_free(st);

	/* A collection that follows at once. */
	st = story_new();
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30", "2900");
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:34", "2900");
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:36.9", "2800");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:31.1", "10:00:36.9");
	story_free(st);
}

static void test_one_pause_said_twice_is_one(void **state)
{
	struct story *st = story_new();

	(void)state;
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30", "12000");
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30.001", "12003");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].evidence.count, 2);
	assert_span(w.items[0].span, "10:00:17.998", "10:00:30.001");
	story_free(st);
}

static void test_a_brokers_pause_is_a_servers(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_BROKER_STARTED, "b1", at("09:00:00"), NULL);
	paused(st, EVENT_PROCESS_PAUSED, "b1", "10:00:30", "2500");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_SERVER_PAUSE);
	story_free(st);
}

static void test_a_pause_that_a_capture_shows_as_well_is_one(void **state)
{
	struct story *st = story_new();

	(void)state;
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "1000");
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:17", "10:00:30.2", "3", "1");
	paused(st, EVENT_PROCESS_PAUSED, "c1", "10:00:30", "12000");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].id, 1);
	assert_int_equal(w.items[0].evidence.count, 2);
	assert_span(w.items[0].span, "10:00:17", "10:00:30.2");
	assert_true(sv_eq(w.items[0].path_b, SV(BROKER)));
	story_free(st);

	/* Another host's is another process. */
	st = story_new();
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "1000");
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:17", "10:00:30.2", "3", "1");
	paused(st, EVENT_PROCESS_PAUSED, "c2", "10:00:30", "12000");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_a_full_table_are_a_window),
		cmocka_unit_test(test_a_link_is_down_until_it_is_up),
		cmocka_unit_test(test_a_link_that_comes_up_was_not_seen_to_go_down),
		cmocka_unit_test(test_a_link_that_stays_down_is_censored),
		cmocka_unit_test(test_one_link_of_a_bond_is_not_missed),
		cmocka_unit_test(test_a_queue_that_stood_still),
		cmocka_unit_test(test_a_pause_lasts_to_its_line_or_from_it),
		cmocka_unit_test(test_short_pauses_are_none),
		cmocka_unit_test(test_one_pause_said_twice_is_one),
		cmocka_unit_test(test_a_brokers_pause_is_a_servers),
		cmocka_unit_test(test_a_pause_that_a_capture_shows_as_well_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
