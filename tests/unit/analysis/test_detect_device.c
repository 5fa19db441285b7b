/* SPDX-License-Identifier: MIT */
/* Windows by counters of interfaces, connections, tables and quotas; each beside its twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis/detect.h"
#include "windows_story.h"

static const struct window *only(struct story *st, struct windows *w, enum window_kind kind)
{
	*w = find_windows(st);
	assert_int_equal(w->count, 1);
	assert_int_equal(w->items[0].kind, kind);
	return &w->items[0];
}

static void assert_none(struct story *st)
{
	assert_int_equal(find_windows(st).count, 0);
	story_free(st);
}

/* The growth of a device's counter over one second. */
static void device(struct story *st, const char *host, const char *name, const char *of, const char *start, const char *delta)
{
	struct host_time end = { at(start).us + US_PER_S };

	story_interval(st, EVENT_COUNTER_DELTA, host, at(start), end, "counter", name, "delta", delta, "device", of, NULL);
}

static void sampled(struct story *st, const char *host, const char *kind, const char *start, const char *end,
		    const char *samples, const char *scope)
{
	story_interval(st, EVENT_COVERED, host, at(start), at(end), "evidence_kind", kind, "samples", samples, "scope", scope, NULL);
}

/* ---- interfaces ---- */

static void test_errors_of_an_interface(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "interface", "10:00:00", "10:01:00", "61");
	device(st, "c1", "interface.rx_packets", "eth0", "10:00:05", "1000");
	device(st, "c1", "interface.rx_errors", "eth0", "10:00:05", "2");
	device(st, "c1", "interface.carrier_changes", "eth0", "10:00:05", "1");
	device(st, "c1", "interface.driver", "eth0 rx_queue_0_drops", "10:00:05", "4");
	const struct window *w = only(st, &all, WINDOW_LINK);
	assert_span(w->span, "10:00:05", "10:00:06");
	assert_string_equal(w->source, "interface");
	assert_int_equal(measured(w, MEASURE_INTERFACE_ERRORS), 2);
	assert_int_equal(measured(w, MEASURE_CARRIER_CHANGES), 1);
	assert_int_equal(measured(w, MEASURE_INTERFACE_DRIVER), 4);
	story_free(st);

	/* Traffic, and a queue that was stopped for a while, are every day's. */
	st = story_new();
	covered(st, "c1", "interface", "10:00:00", "10:01:00", "61");
	device(st, "c1", "interface.rx_packets", "eth0", "10:00:05", "1000");
	device(st, "c1", "interface.driver_wait", "eth0 tx_restart_queue", "10:00:05", "4");
	assert_none(st);
}

static void test_drops_count_against_the_traffic_of_that_interface(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* 20 of 1020: more than one in a hundred. */
	covered(st, "c1", "interface", "10:00:00", "10:01:00", "61");
	device(st, "c1", "interface.rx_packets", "eth0", "10:00:05", "1000");
	device(st, "c1", "interface.rx_dropped", "eth0", "10:00:05", "20");
	device(st, "c1", "interface.rx_packets", "lo", "10:00:05", "100000");
	assert_int_equal(measured(only(st, &all, WINDOW_LINK), MEASURE_INTERFACE_DROPPED), 20);
	story_free(st);

	/* 9 of 1009 are not, nor are 2 of 10. */
	st = story_new();
	covered(st, "c1", "interface", "10:00:00", "10:01:00", "61");
	device(st, "c1", "interface.rx_packets", "eth0", "10:00:05", "1000");
	device(st, "c1", "interface.rx_dropped", "eth0", "10:00:05", "9");
	device(st, "c1", "interface.rx_packets", "eth0", "10:00:25", "8");
	device(st, "c1", "interface.rx_dropped", "eth0", "10:00:25", "2");
	assert_none(st);
}

/* ---- connections ---- */

static void socket(struct story *st, const char *name, const char *caller, const char *start, const char *end, const char *delta)
{
	story_interval(st, EVENT_COUNTER_DELTA, "c1", at(start), at(end), "counter", name, "delta", delta, "path_a", caller,
		       "path_b", BROKER, NULL);
}

static void test_retransmissions_of_a_path(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "sockets", "10:00:00", "10:01:00", "61");
	/* Two connections of one path: 2 and 1 of 40 segments. */
	socket(st, "socket.segments", C1, "10:00:05", "10:00:06", "20");
	socket(st, "socket.retransmits", C1, "10:00:05", "10:00:06", "2");
	socket(st, "socket.segments", C1_OTHER, "10:00:05", "10:00:06", "20");
	socket(st, "socket.retransmits", C1_OTHER, "10:00:05", "10:00:06", "1");
	const struct window *w = only(st, &all, WINDOW_LOSS);
	assert_true(sv_eq(w->path_a, SV("10.77.1.10")));
	assert_true(sv_eq(w->path_b, SV(BROKER)));
	assert_int_equal(measured(w, MEASURE_RETRANSMITS), 3);
	assert_int_equal(measured(w, MEASURE_SEGMENTS), 40);
	story_free(st);

	/* Three of a thousand are chance. */
	st = story_new();
	covered(st, "c1", "sockets", "10:00:00", "10:01:00", "61");
	socket(st, "socket.segments", C1, "10:00:05", "10:00:06", "1000");
	socket(st, "socket.retransmits", C1, "10:00:05", "10:00:06", "3");
	assert_none(st);
}

static void test_silence_of_a_connection(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* Each sample tells it anew, longer each time. */
	socket(st, "socket.silent_ms", C1, "10:00:05", "10:00:07", "2000");
	socket(st, "socket.backoff", C1, "10:00:05", "10:00:07", "2");
	socket(st, "socket.silent_ms", C1, "10:00:05", "10:00:09", "4000");
	const struct window *w = only(st, &all, WINDOW_BLACKOUT);
	assert_span(w->span, "10:00:05", "10:00:09");
	assert_string_equal(w->source, "sockets");
	story_free(st);

	/* Under a second is everyday recovery. */
	st = story_new();
	socket(st, "socket.silent_ms", C1, "10:00:05", "10:00:05.9", "900");
	assert_none(st);
}

/* ---- connection tracking ---- */

static void test_a_full_table(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "conntrack_table", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "conntrack.full", "10:00:05", "1");
	counter(st, "c1", "conntrack.full", "10:00:06", "1");
	const struct window *w = only(st, &all, WINDOW_CONNTRACK);
	assert_span(w->span, "10:00:05", "10:00:07");
	assert_int_equal(measured(w, MEASURE_CONNTRACK_FULL), 2);
	/* How full a table was shows a part of jitter alone: its quiet is no coverage. */
	struct span_set coverage = windows_coverage(&all, SV("c1"), st->arena);
	assert_int_equal(span_set_length_us(&coverage), 0);
	story_free(st);
}

/* ---- what was kept from running ---- */

static void throttled(struct story *st, const char *of, int from, int to, const char *us, const char *periods)
{
	for (int i = from; i < to; i++) {
		char start[32];

		snprintf(start, sizeof start, "10:00:%02d", i);
		device(st, "c1", "cpu.throttled_us", of, start, us);
		device(st, "c1", "cpu.throttled_periods", of, start, periods);
	}
}

static void test_a_quota_that_was_used_up(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* Heartbeats are due every 2 s, so a pause lasts more than 3: 0.8 s of each of five seconds are 4. */
	covered(st, "c1", "cpu_quota", "10:00:00", "10:01:00", "61");
	throttled(st, "/a", 10, 15, "800000", "9");
	const struct window *w = only(st, &all, WINDOW_PROCESS_PAUSE);
	assert_span(w->span, "10:00:10", "10:00:15");
	assert_string_equal(w->source, "cpu_quota");
	assert_int_equal(measured(w, MEASURE_STALLED_MS), 4000);
	assert_false(window_is_jitter(w));
	story_free(st);

	/* Three seconds of it are none; nor twice three with a rest between, nor of two cgroups. */
	st = story_new();
	covered(st, "c1", "cpu_quota", "10:00:00", "10:01:00", "61");
	throttled(st, "/a", 10, 13, "800000", "9");
	throttled(st, "/a", 20, 23, "800000", "9");
	throttled(st, "/b", 30, 33, "800000", "9");
	throttled(st, "/c", 33, 36, "800000", "9");
	assert_none(st);

	/* Summed over eight CPUs: in one period of 100 ms nobody stood still for 800 ms. */
	st = story_new();
	covered(st, "c1", "cpu_quota", "10:00:00", "10:01:00", "61");
	throttled(st, "/a", 10, 20, "800000", "1");
	assert_none(st);
}

static void test_full_stalls_by_pressure(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* 3.5 of 10 s are longer than a pause must be, though less than half. */
	covered(st, "c1", "pressure", "10:00:00", "10:01:00", "7");
	story_interval(st, EVENT_COUNTER_DELTA, "c1", at("10:00:10"), at("10:00:20"), "counter", "pressure.memory.full_us", "delta",
		       "3500000", NULL);
	const struct window *w = only(st, &all, WINDOW_PROCESS_PAUSE);
	assert_string_equal(w->source, "pressure");
	assert_int_equal(measured(w, MEASURE_STALLED_MS), 3500);
	story_free(st);

	/* That some task waited for a CPU stops nobody. */
	st = story_new();
	covered(st, "c1", "pressure", "10:00:00", "10:01:00", "7");
	story_interval(st, EVENT_COUNTER_DELTA, "c1", at("10:00:10"), at("10:00:20"), "counter", "pressure.cpu.some_us", "delta",
		       "9000000", NULL);
	assert_none(st);
}

/* ---- samples that lie far apart ---- */

static void test_ten_minutes_are_no_window_and_no_coverage(void **state)
{
	struct story *st = story_new();

	(void)state;
	sampled(st, "c1", "snmp", "10:00:00", "11:00:00", "7", "namespace");
	story_interval(st, EVENT_COUNTER_DELTA, "c1", at("10:10:00"), at("10:20:00"), "counter", "tcp.RetransSegs", "delta", "5000", NULL);
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 0);
	assert_int_equal(w.coverage_count, 1);
	assert_int_equal(w.coverage[0].interval_us, 600 * US_PER_S);
	assert_true(sv_eq(w.coverage[0].scope, SV("namespace")));
	assert_true(w.coverage[0].is_coarse);
	struct span_set covered_time = windows_coverage(&w, SV("c1"), st->arena);
	assert_int_equal(span_set_length_us(&covered_time), 0);
	assert_ptr_equal(windows_coarsest(&w, 45 * US_PER_S), &w.coverage[0]);
	assert_null(windows_coarsest(&w, 600 * US_PER_S));
	story_free(st);

	/* Every second: it is both, and finer than any session. */
	st = story_new();
	sampled(st, "c1", "snmp", "10:00:00", "10:01:00", "61", "namespace");
	counter(st, "c1", "tcp.OutSegs", "10:00:10", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:10", "50");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	covered_time = windows_coverage(&w, SV("c1"), st->arena);
	assert_int_equal(span_set_length_us(&covered_time), 60 * US_PER_S);
	assert_null(windows_coarsest(&w, 45 * US_PER_S));
	story_free(st);
}

static void test_two_samplers_of_a_host_are_not_added_up(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Both saw the same two retransmissions in the same second: together they would be four. */
	story_input(st, "a.log", "counters", "c1");
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcp.OutSegs", "10:00:10", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:10", "2");
	story_input(st, "b.log", "counters", "c1");
	counter(st, "c1", "tcp.OutSegs", "10:00:10", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:10", "2");
	assert_none(st);
}

static void test_retransmissions_without_what_was_sent(void **state)
{
	struct story *st = story_new();
	struct windows w;

	(void)state;
	/* An export of RetransSegs alone, which covers nothing, beside a sampler that does: 50 of how many? */
	story_input(st, "a.log", "counters", "c1");
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcp.OutSegs", "10:00:10", "100000");
	story_input(st, "b.json", "counters", "c1");
	counter(st, "c1", "tcp.RetransSegs", "10:00:10", "50");
	assert_none(st);

	/* In one input it is 50 of what it says was sent: here of 100. */
	st = story_new();
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcp.OutSegs", "10:00:10", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:10", "50");
	(void)only(st, &w, WINDOW_LOSS);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_of_an_interface),
		cmocka_unit_test(test_drops_count_against_the_traffic_of_that_interface),
		cmocka_unit_test(test_retransmissions_of_a_path),
		cmocka_unit_test(test_silence_of_a_connection),
		cmocka_unit_test(test_a_full_table),
		cmocka_unit_test(test_a_quota_that_was_used_up),
		cmocka_unit_test(test_full_stalls_by_pressure),
		cmocka_unit_test(test_ten_minutes_are_no_window_and_no_coverage),
		cmocka_unit_test(test_two_samplers_of_a_host_are_not_added_up),
		cmocka_unit_test(test_retransmissions_without_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
