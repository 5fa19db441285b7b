/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/path.h"
#include "analysis/windows_story.h"

/* ---- merging (heartbeat interval 2 s) ---- */

static void test_blackouts_a_second_apart_are_one(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	stall(st, "c1", C1_OTHER, "10:00:11", "10:00:20", "10:00:12", "10:00:19");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:00", "10:00:20");
	assert_span(w.items[0].outage, "10:00:01", "10:00:19");
	assert_int_equal(w.items[0].kinds, 1U << WINDOW_BLACKOUT);
	assert_int_equal(measured(&w.items[0], MEASURE_RETRANSMITS), 10);
	assert_int_equal(measured(&w.items[0], MEASURE_RTT_MEDIAN_US), 1000);
	assert_int_equal(measured(&w.items[0], MEASURE_SILENCE_MS), 20000);
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_MS), 18000);
	assert_int_equal(measured(&w.items[0], MEASURE_BACKOFF_MS), 1000);
	assert_int_equal(w.items[0].evidence.count, 2);
	story_free(st);
}

/* A stall whose latest known loss is told too. */
static void stall_lost(struct story *st, const char *caller, const char *start, const char *end, const char *loss_at,
		       const char *lost_at, const char *sign_at)
{
	char loss[32], lost[32], sign[32];

	snprintf(loss, sizeof loss, "%lld", (long long)at(loss_at).us);
	snprintf(lost, sizeof lost, "%lld", (long long)at(lost_at).us);
	snprintf(sign, sizeof sign, "%lld", (long long)at(sign_at).us);
	story_interval(st, EVENT_NET_STALL, "c1", at(start), at(end), "path_a", caller, "path_b", BROKER, "direction",
		       "ab", "loss_at_us", loss, "lost_at_us", lost, "sign_at_us", sign, NULL);
}

/* A second with one timeout, whose segment was sent at lost_at. */
static void second_lost(struct story *st, const char *start, const char *lost_at)
{
	struct host_time end = { at(start).us + US_PER_S };
	char lost[32];

	snprintf(lost, sizeof lost, "%lld", (long long)at(lost_at).us);
	story_interval(st, EVENT_NET_SECOND, "c1", at(start), end, "path_a", C1_OTHER, "path_b", BROKER, "direction",
		       "ab", "segments", "5", "retransmits", "1", "timeouts", "1", "loss_at_us", lost, "lost_at_us",
		       lost, NULL);
}

static void test_what_is_lost_after_a_sign_is_lost_in_the_same_outage(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall_lost(st, C1, "10:00:00", "10:00:10", "10:00:01", "10:00:05", "10:00:06");
	second_lost(st, "10:00:11", "10:00:09.5");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:01", "10:00:09.5");
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_MS), 8500);
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_LEAST_MS), 8500);
	story_free(st);

	/* Sent again late, but lost before the sign: TCP's backoff alone. */
	st = story_new();
	stall_lost(st, C1, "10:00:00", "10:00:10", "10:00:01", "10:00:05", "10:00:06");
	second_lost(st, "10:00:11", "10:00:04.5");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:01", "10:00:06");
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_LEAST_MS), 4000);
	story_free(st);
}

/*
 * At the receiver's end a retransmission tells that data was lost, and not when: the broker's answer came at last at
 * 10:00:13, and what was heard of it before, at 10:00:11.5, was no loss.
 */
static void test_when_the_peers_data_was_lost_its_receiver_does_not_see(void **state)
{
	static const struct {
		const char *direction, *outage_end;
	} cases[] = { { "ba", "10:00:06" }, { "ab", "10:00:11.5" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *st = story_new();
		char lost[32];

		snprintf(lost, sizeof lost, "%lld", (long long)at("10:00:11.5").us);
		connection(st, "c1", C1, "09:59:00", "10:01:00");
		stall_lost(st, C1, "10:00:00", "10:00:12", "10:00:01", "10:00:05", "10:00:06");
		story_interval(st, EVENT_NET_SECOND, "c1", at("10:00:13"), at("10:00:14"), "path_a", C1, "path_b", BROKER,
			       "direction", cases[i].direction, "segments", "5", "retransmits", "1", "timeouts", "1",
			       "loss_at_us", lost, "lost_at_us", lost, NULL);
		struct windows w = find_windows(st);
		assert_int_equal(w.count, 1);
		assert_span(w.items[0].span, "10:00:00", "10:00:14");
		assert_span(w.items[0].outage, "10:00:01", cases[i].outage_end);
		story_free(st);
	}
}

/* A second of one direction in which data was acknowledged that had not to be sent again. */
static void exchange(struct story *st, const char *start, const char *direction)
{
	struct host_time end = { at(start).us + US_PER_S };

	story_interval(st, EVENT_NET_SECOND, "c1", at(start), end, "path_a", C1_OTHER, "path_b", BROKER, "direction",
		       direction, "segments", "2", "retransmits", "0", "timeouts", "0", "rtt_samples", "2", NULL);
}

/*
 * The broker is heard at 00:06 on one connection, and data of the other is lost until 00:09: of this path one packet
 * more, at 00:12, tells nothing. Nothing is sent until 00:20.
 */
static void lose_now_and_then(struct story *st)
{
	connection(st, "c1", C1, "09:59:00", "10:01:00");
	stall_lost(st, C1, "10:00:00", "10:00:20", "10:00:01", "10:00:05", "10:00:06");
	stall_lost(st, C1_OTHER, "10:00:01", "10:00:20", "10:00:02", "10:00:09", "10:00:12");
}

static void test_one_packet_is_no_sign_on_a_path_that_comes_and_goes(void **state)
{
	struct story *st = story_new();

	(void)state;
	lose_now_and_then(st);
	exchange(st, "10:00:07", "ab"); /* before the last loss */
	exchange(st, "10:00:13", "ba"); /* its answer came from this host's own kernel */
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:01", "10:00:20");
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_LEAST_MS), 8000);
	story_free(st);
}

static void test_an_exchange_is_a_sign_on_a_path_that_comes_and_goes(void **state)
{
	struct story *st = story_new();

	(void)state;
	lose_now_and_then(st);
	exchange(st, "10:00:14", "ab");
	exchange(st, "10:00:16", "ab");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:01", "10:00:14");
	assert_int_equal(measured(&w.items[0], MEASURE_BACKOFF_MS), 6000);
	story_free(st);
}

/* The twin: all that is known to be lost was so before the first packet that was heard. */
static void test_one_packet_is_a_sign_on_a_path_that_was_gone(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall_lost(st, C1, "10:00:00", "10:00:20", "10:00:01", "10:00:05", "10:00:06");
	stall_lost(st, C1_OTHER, "10:00:01", "10:00:20", "10:00:02", "10:00:05.5", "10:00:06");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:01", "10:00:06");
	story_free(st);
}

static void test_loss_begins_when_the_segment_was_sent(void **state)
{
	struct story *st = story_new();

	(void)state;
	second_lost(st, "10:00:11", "10:00:09.5");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_LOSS);
	assert_span(w.items[0].span, "10:00:09.5", "10:00:12");
	story_free(st);
}

static void test_a_connection_that_was_idle_tells_of_no_silence(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Its last data was accepted 50 s before the loss; a heartbeat every 2 s went elsewhere meanwhile. */
	stall(st, "c1", C1, "10:00:00", "10:01:10", "10:00:50", "10:01:05");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:48", "10:01:10");
	story_free(st);
}

/* The process wakes at 10:00:12 and its first word is lost: the path may have been cut at any time before. */
static void test_a_pause_lasts_until_the_first_loss(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:02", "10:00:12", "1", "1");
	stall_lost(st, C1, "10:00:02", "10:00:20", "10:00:12", "10:00:16", "10:00:18");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_PROCESS_PAUSE);
	assert_span(w.items[0].span, "10:00:02", "10:00:12");
	assert_int_equal(w.items[1].kind, WINDOW_BLACKOUT);
	assert_span(w.items[1].outage, "10:00:12", "10:00:18");
	story_free(st);
}

static void test_blackouts_a_minute_apart_are_two(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:01:10", "10:01:20", "10:01:12", "10:01:19");
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].id, 1);
	assert_span(w.items[0].span, "10:00:00", "10:00:10");
	assert_int_equal(w.items[1].id, 2);
	assert_span(w.items[1].span, "10:01:10", "10:01:20");
	story_free(st);

	/* Exactly a heartbeat interval is not closer than one. */
	st = story_new();
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	stall(st, "c1", C1, "10:00:12", "10:00:20", "10:00:13", "10:00:19");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

static void test_other_paths_do_not_merge(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	stall(st, "c2", C2, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_true(sv_eq(w.items[0].host, SV("c1"))); /* one start: by host */
	assert_true(sv_eq(w.items[1].host, SV("c2")));
	story_free(st);

	/* One host, two peers. */
	st = story_new();
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:10"), "path_a", C1, "path_b",
		       "10.77.9.9:5432", "direction", "ab", NULL);
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

static void test_kinds_merge_and_are_kept(void **state)
{
	struct story *st = story_new();

	(void)state;
	second(st, "c1", C1, "10:00:00", "ab", "100", "5", "1");
	stall(st, "c1", C1, "10:00:02", "10:00:10", "10:00:03", "10:00:08");
	story_interval(st, EVENT_NET_SYN_UNANSWERED, "c1", at("10:00:05"), at("10:00:11"), "path_a", C1_OTHER, "path_b",
		       BROKER, NULL);
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_BLACKOUT);
	assert_int_equal(w.items[0].kinds, 1U << WINDOW_BLACKOUT | 1U << WINDOW_LOSS | 1U << WINDOW_RESET);
	assert_span(w.items[0].span, "10:00:00", "10:00:11");
	assert_span(w.items[0].outage, "10:00:03", "10:00:08"); /* the stall alone knows it */
	assert_int_equal(w.items[0].evidence.count, 3);
	story_free(st);
}

static void test_retransmissions_are_counted_once(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* The five of the stall are among the six of its seconds. */
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	second(st, "c1", C1, "10:00:01", "ab", "4", "3", "2");
	second(st, "c1", C1, "10:00:02", "ab", "4", "3", "2");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(measured(&w.items[0], MEASURE_RETRANSMITS), 6);
	assert_int_equal(measured(&w.items[0], MEASURE_TIMEOUTS), 4);
	assert_int_equal(measured(&w.items[0], MEASURE_SEGMENTS), 8);
	story_free(st);
}

static void test_seconds_do_not_widen_what_packets_tell(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:00.9", "10:00:10.2", "10:00:01", "10:00:08");
	second(st, "c1", C1, "10:00:00", "ab", "4", "1", "1");
	second(st, "c1", C1, "10:00:10", "ab", "4", "1", "1");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:00.9", "10:00:10.2");
	story_free(st);

	/* Loss that went on for more than the rest of that second does. */
	st = story_new();
	stall(st, "c1", C1, "10:00:00.9", "10:00:10.2", "10:00:01", "10:00:08");
	second(st, "c1", C1, "10:00:10", "ab", "4", "1", "1");
	second(st, "c1", C1, "10:00:11", "ab", "4", "1", "1");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:00.9", "10:00:12");
	story_free(st);
}

static void test_a_pause_in_jitter_is_no_pause(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:02:00");
	stall(st, "c1", C1, "10:00:10", "10:00:30", "10:00:11", "10:00:25");
	quiet(st, "c1", C1, "ab", "10:00:12", "10:00:22", "1", "1");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kinds, 1U << WINDOW_BLACKOUT);
	story_free(st);

	/* What reaches beyond it by more than the limit (6 s) is one; it does not merge. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:02:00");
	stall(st, "c1", C1, "10:00:10", "10:00:30", "10:00:11", "10:00:25");
	quiet(st, "c1", C1, "ab", "10:00:25", "10:00:40", "1", "1");
	w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_span(w.items[0].span, "10:00:10", "10:00:30");
	assert_int_equal(w.items[1].kind, WINDOW_PROCESS_PAUSE);
	assert_span(w.items[1].span, "10:00:30", "10:00:40");
	assert_int_equal(measured(&w.items[1], MEASURE_PAUSE_MS), 10000);
	story_free(st);

	/* The jitter is another host's. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:02:00");
	stall(st, "c2", C2, "10:00:10", "10:00:30", "10:00:11", "10:00:25");
	quiet(st, "c1", C1, "ab", "10:00:12", "10:00:22", "1", "1");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

static void test_evidence_is_bounded(void **state)
{
	struct story *st = story_new();

	(void)state;
	for (int i = 0; i < 40; i++) {
		char start[32];

		snprintf(start, sizeof start, "10:00:%02d", i);
		second(st, "c1", C1, start, "ab", "10", "1", "1");
	}
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:00", "10:00:40");
	assert_int_equal(measured(&w.items[0], MEASURE_TIMEOUTS), 40);
	assert_int_equal(w.items[0].evidence.count + (size_t)measured(&w.items[0], MEASURE_EVIDENCE_LEFT_OUT), 40);
	assert_true(w.items[0].evidence.count < 40);
	story_free(st);
}

/* ---- whose window ---- */

static void assert_concerns(const struct window *w, const char *host, bool concerns, bool expected_certain)
{
	bool certain;

	assert_int_equal(window_concerns(w, sv_of(host), &certain), concerns);
	assert_int_equal(certain, expected_certain);
}

static void test_a_window_concerns_its_host(void **state)
{
	struct story *st = story_new();

	(void)state;
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "500");
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	stall(st, "c1", C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	struct windows w = find_windows(st);
	assert_concerns(&w.items[0], "c1", true, true);
	assert_concerns(&w.items[0], "c2", false, true);
	assert_concerns(&w.items[0], NULL, true, false);
	assert_false(w.coverage[0].sees_callers);
	story_free(st);

	st = story_new();
	stall(st, NULL, C1, "10:00:00", "10:00:10", "10:00:01", "10:00:08");
	w = find_windows(st);
	assert_concerns(&w.items[0], "c1", true, false);
	story_free(st);
}

static void test_a_window_of_a_path_seen_at_the_broker_is_the_callers(void **state)
{
	struct story *st = story_new();

	(void)state;
	covered(st, "broker-1", "capture", "10:00:00", "10:01:00", "500");
	covered(st, "c1", "capture", "10:00:00", "10:00:05", "50");
	connection(st, "broker-1", C1, "10:00:00", "10:01:00");
	connection(st, "broker-1", C2, "10:00:00", "10:01:00");
	connection(st, "c1", C1, "10:00:00", "10:00:05");
	stall(st, "broker-1", C1, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	stall(st, "broker-1", C2, "10:00:40", "10:00:50", "10:00:41", "10:00:48");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_true(sv_eq(w.items[0].caller, SV("c1")));
	assert_concerns(&w.items[0], "c1", true, true);
	assert_concerns(&w.items[0], "c2", false, true);
	assert_concerns(&w.items[0], "broker-1", false, true);
	/* Nothing says whose address the other is. */
	assert_true(w.items[1].seen_elsewhere);
	assert_true(sv_is_absent(w.items[1].caller));
	assert_concerns(&w.items[1], "c2", true, false);
	story_free(st);
}

static void test_the_only_path_of_a_broker_is_its_callers(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Both ends are in all connections; that it logs as a broker tells which end it is. */
	covered(st, "broker-1", "capture", "10:00:00", "10:01:00", "500");
	connection(st, "broker-1", C1, "10:00:00", "10:01:00");
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00"), "group", "refunds", "generation", "1",
		    NULL);
	stall(st, "broker-1", C1, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	struct windows w = find_windows(st);
	assert_true(w.items[0].seen_elsewhere);
	story_free(st);
}

/* Captures on consumer and broker; the broker's shows another consumer too. */
static void capture_both_ends(struct story *st)
{
	covered(st, "broker-1", "capture", "10:00:00", "10:01:00", "500");
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "500");
	connection(st, "broker-1", C1, "10:00:00", "10:01:00");
	connection(st, "broker-1", C2, "10:00:00", "10:01:00");
	connection(st, "c1", C1, "10:00:00", "10:01:00");
}

static void test_both_ends_of_a_path_tell_of_one_window(void **state)
{
	struct story *st = story_new();

	(void)state;
	capture_both_ends(st);
	/* Of what the consumer sent the first was lost at 10:00:21; what the broker sent came through until 10:00:22. */
	stall(st, "c1", C1, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	stall(st, "broker-1", C1, "10:00:21", "10:00:30.5", "10:00:22", "10:00:28.5");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].id, 1);
	assert_true(sv_eq(w.items[0].host, SV("c1")));
	assert_false(w.items[0].seen_elsewhere);
	assert_span(w.items[0].span, "10:00:20", "10:00:30.5");
	/* Five at either end are no ten: each end counts its own view of the same. */
	assert_int_equal(measured(&w.items[0], MEASURE_RETRANSMITS), 5);
	assert_int_equal(w.items[0].evidence.count, 2);
	story_free(st);
}

static void test_windows_of_two_times_or_paths_stay_two(void **state)
{
	struct story *st = story_new();

	(void)state;
	capture_both_ends(st);
	/* A heartbeat interval of two seconds lies between. */
	stall(st, "c1", C1, "10:00:10", "10:00:15", "10:00:11", "10:00:14");
	stall(st, "broker-1", C1, "10:00:17", "10:00:23", "10:00:18", "10:00:22");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
	st = story_new();
	capture_both_ends(st);
	stall(st, "c1", C1, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	stall(st, "broker-1", C2, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

/* Two hosts behind translation call from the same address: each is its own caller. */
static void test_one_address_of_two_hosts_is_no_path(void **state)
{
	struct story *st = story_new();

	(void)state;
	for (int i = 0; i < 2; i++) {
		const char *host = i == 0 ? "c1" : "c2";

		covered(st, host, "capture", "10:00:00", "10:01:00", "500");
		connection(st, host, C1, "10:00:00", "10:01:00");
		stall(st, host, C1, "10:00:20", "10:00:30", "10:00:21", "10:00:28");
	}
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_false(sv_eq(w.items[0].host, w.items[1].host));
	story_free(st);
}

/* ---- coverage ---- */

static void test_coverage_without_holes(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "c1/a.pcap", "capture", "c1");
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "500");
	story_interval(st, EVENT_HOLE, "c1", at("10:00:20"), at("10:00:30"), "evidence_kind", "capture", NULL);
	story_input(st, "c1/b.pcap", "capture", "c1"); /* a second capture shows a part of the hole */
	covered(st, "c1", "capture", "10:00:25", "10:00:27", "10");
	struct windows w = find_windows(st);
	assert_int_equal(w.coverage_count, 3);
	assert_span(w.coverage[0].span, "10:00:00", "10:00:20");
	assert_span(w.coverage[1].span, "10:00:25", "10:00:27");
	assert_span(w.coverage[2].span, "10:00:30", "10:01:00");
	assert_int_equal(span_set_length_us(&(struct span_set){ 0 }), 0);
	struct span_set c1 = windows_coverage(&w, SV("c1"), st->arena);
	assert_int_equal(span_set_length_us(&c1), 52 * US_PER_S);
	story_free(st);
}

/* The probe tells of drops in the capture beside its samples: in all captures of that host, and in nothing else. */
static void test_drops_that_another_input_tells_of(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "c1/a.probe", "counters", "c1");
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "60");
	story_interval(st, EVENT_HOLE, "c1", at("10:00:20"), at("10:00:30"), "evidence_kind", "capture", "scope", "host", NULL);
	story_input(st, "c1/a.probe.0.pcap", "capture", "c1");
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "1000");
	story_interval(st, EVENT_HOLE, "c1", at("10:00:40"), at("10:00:45"), "evidence_kind", "capture", NULL);
	story_input(st, "c2/a.probe.0.pcap", "capture", "c2");
	covered(st, "c2", "capture", "10:00:00", "10:01:00", "1000");
	struct windows w = find_windows(st);
	assert_int_equal(w.coverage_count, 5);
	assert_span(w.coverage[0].span, "10:00:00", "10:00:20");
	assert_span(w.coverage[1].span, "10:00:30", "10:00:40");
	assert_span(w.coverage[2].span, "10:00:45", "10:01:00");
	assert_string_equal(w.coverage[3].host.p, "c2");
	assert_span(w.coverage[3].span, "10:00:00", "10:01:00");
	assert_span(w.coverage[4].span, "10:00:00", "10:01:00");
	story_free(st);
}

static void test_coverage_of_a_host(void **state)
{
	struct story *st = story_new();

	(void)state;
	covered(st, "c1", "capture", "10:00:00", "10:00:10", "500");
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	covered(st, "c2", "netstat", "10:00:00", "10:00:30", "31");
	covered(st, "c2", "log", "09:00:00", "11:00:00", "1000");
	connection(st, "c1", C1, "10:00:00", "10:00:10");
	struct windows w = find_windows(st);
	struct span_set c1 = windows_coverage(&w, SV("c1"), st->arena), c2 = windows_coverage(&w, SV("c2"), st->arena);
	struct span_set c3 = windows_coverage(&w, SV("c3"), st->arena),
			any = windows_coverage(&w, SV_ABSENT, st->arena);
	assert_int_equal(span_set_length_us(&c1), 60 * US_PER_S); /* its counters go on when its last packet is gone */
	assert_int_equal(span_set_length_us(&c2), 30 * US_PER_S); /* counters; a log does not show jitter */
	assert_int_equal(c3.count, 0);				  /* another host's capture does not cover it */
	assert_int_equal(span_set_length_us(&any), 60 * US_PER_S);
	story_free(st);

	/* The broker's capture shows the paths of all its callers. */
	st = story_new();
	covered(st, "broker-1", "capture", "10:00:00", "10:00:10", "500");
	connection(st, "broker-1", C1, "10:00:00", "10:00:10");
	connection(st, "broker-1", C2, "10:00:00", "10:00:10");
	w = find_windows(st);
	c3 = windows_coverage(&w, SV("c3"), st->arena);
	assert_int_equal(span_set_length_us(&c3), 10 * US_PER_S);
	story_free(st);
}

/* ---- paths ---- */

static void test_addresses(void **state)
{
	(void)state;
	assert_true(sv_eq(path_address(SV("10.0.0.1:9092")), SV("10.0.0.1")));
	assert_true(sv_eq(path_address(SV("10.0.0.1")), SV("10.0.0.1")));
	assert_true(sv_eq(path_address(SV("[fe80::1]:9092")), SV("fe80::1")));
	assert_true(sv_eq(path_address(SV("fe80::1:2")), SV("fe80::1:2")));
	assert_true(sv_eq(path_address(SV("")), SV("")));
}

static void test_paths_are_found_again(void **state)
{
	struct arena *a = arena_new();
	struct paths p = { .arena = a };
	const struct path *first = paths_get(&p, SV("h"), SV("10.0.0.0:1"), SV(BROKER));

	(void)state;
	for (int i = 1; i < 500; i++) {
		struct sv caller = arena_printf(a, "10.0.%d.%d:1", i / 200, i % 200);

		assert_int_equal(paths_get(&p, SV("h"), caller, SV(BROKER))->index, (size_t)i);
	}
	assert_ptr_equal(paths_get(&p, SV("h"), SV("10.0.0.0:77"), SV("10.77.0.10:9093")), first);
	assert_true(sv_eq(first->called, SV(BROKER)));
	assert_ptr_not_equal(paths_get(&p, SV_ABSENT, SV("10.0.0.0:1"), SV(BROKER)), first);
	assert_int_equal(p.count, 501);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blackouts_a_second_apart_are_one),
		cmocka_unit_test(test_what_is_lost_after_a_sign_is_lost_in_the_same_outage),
		cmocka_unit_test(test_when_the_peers_data_was_lost_its_receiver_does_not_see),
		cmocka_unit_test(test_one_packet_is_no_sign_on_a_path_that_comes_and_goes),
		cmocka_unit_test(test_an_exchange_is_a_sign_on_a_path_that_comes_and_goes),
		cmocka_unit_test(test_one_packet_is_a_sign_on_a_path_that_was_gone),
		cmocka_unit_test(test_loss_begins_when_the_segment_was_sent),
		cmocka_unit_test(test_a_connection_that_was_idle_tells_of_no_silence),
		cmocka_unit_test(test_a_pause_lasts_until_the_first_loss),
		cmocka_unit_test(test_blackouts_a_minute_apart_are_two),
		cmocka_unit_test(test_other_paths_do_not_merge),
		cmocka_unit_test(test_kinds_merge_and_are_kept),
		cmocka_unit_test(test_retransmissions_are_counted_once),
		cmocka_unit_test(test_seconds_do_not_widen_what_packets_tell),
		cmocka_unit_test(test_a_pause_in_jitter_is_no_pause),
		cmocka_unit_test(test_evidence_is_bounded),
		cmocka_unit_test(test_a_window_concerns_its_host),
		cmocka_unit_test(test_a_window_of_a_path_seen_at_the_broker_is_the_callers),
		cmocka_unit_test(test_the_only_path_of_a_broker_is_its_callers),
		cmocka_unit_test(test_both_ends_of_a_path_tell_of_one_window),
		cmocka_unit_test(test_windows_of_two_times_or_paths_stay_two),
		cmocka_unit_test(test_one_address_of_two_hosts_is_no_path),
		cmocka_unit_test(test_coverage_without_holes),
		cmocka_unit_test(test_drops_that_another_input_tells_of),
		cmocka_unit_test(test_coverage_of_a_host),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_paths_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
