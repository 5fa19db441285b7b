/* SPDX-License-Identifier: MIT */
/* Each detector, and beside each story the twin that looks alike and is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/detect.h"
#include "analysis/windows_story.h"

/* The one window of the story, of this kind. */
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

/* ---- thresholds ---- */

static void test_thresholds_are_rows_with_reasons(void **state)
{
	(void)state;
	for (size_t i = 0; i < detector_count; i++) {
		assert_true(detectors[i].threshold_count > 0);
		for (size_t j = 0; j < detectors[i].threshold_count; j++) {
			const struct threshold *t = &detectors[i].thresholds[j];

			assert_true(t->least <= t->value && t->value <= t->most);
			assert_true(strlen(t->reason) > 10);
			assert_non_null(strchr(t->name, '.'));
		}
	}
}

/* ---- blackout ---- */

static void test_blackout(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	stall(st, "c1", C1, "10:00:00", "10:00:12", "10:00:02", "10:00:09");
	const struct window *w = only(st, &all, WINDOW_BLACKOUT);
	assert_span(w->span, "10:00:00", "10:00:12");
	assert_true(w->has_outage);
	assert_span(w->outage, "10:00:02", "10:00:09");
	assert_int_equal(measured(w, MEASURE_SILENCE_MS), 12000);
	assert_int_equal(measured(w, MEASURE_OUTAGE_MS), 7000);
	assert_int_equal(measured(w, MEASURE_BACKOFF_MS), 3000);
	assert_int_equal(measured(w, MEASURE_RETRANSMITS), 5);
	assert_int_equal(measured(w, MEASURE_TIMEOUTS), 4);
	assert_int_equal(measured(w, MEASURE_RTT_MEDIAN_US), 1000);
	assert_false(w->censored);
	assert_true(sv_eq(w->host, SV("c1")));
	assert_true(sv_eq(w->path_a, SV("10.77.1.10")));
	assert_true(sv_eq(w->path_b, SV(BROKER)));
	assert_string_equal(w->source, "capture");
	assert_int_equal(w->evidence.count, 1);
	assert_int_equal(w->evidence.items[0].type, EVENT_NET_STALL);
	story_free(st);
}

static void test_idle_before_a_lost_segment_is_no_blackout(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Twenty seconds since the last data, but it stood out for 200 ms only. */
	stall(st, "c1", C1, "10:00:00", "10:00:20.2", "10:00:20", "10:00:20.2");
	assert_none(st);
}

static void test_blackout_is_measured_by_the_round_trip(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* 8 x 300 ms = 2.4 s */
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:02.3"), "path_a", C1, "path_b", BROKER,
		       "direction", "ab", "rtt_median_us", "300000", NULL);
	assert_none(st);
	st = story_new();
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:02.5"), "path_a", C1, "path_b", BROKER,
		       "direction", "ab", "rtt_median_us", "300000", "censored", "1", NULL);
	assert_true(only(st, &all, WINDOW_BLACKOUT)->censored);
	story_free(st);
}

static void test_a_stall_seen_by_its_receiver(void **state)
{
	struct story *st = story_new();
	struct windows all;
	char sign[32];

	(void)state;
	/* When the data was lost is not known; from the sender's first sign on it stood for 3 s more, by its backoff.
	 */
	snprintf(sign, sizeof sign, "%lld", (long long)at("10:00:09").us);
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:12"), "path_a", C1, "path_b", BROKER,
		       "direction", "ba", "sign_at_us", sign, NULL);
	const struct window *w = only(st, &all, WINDOW_BLACKOUT);
	assert_span(w->span, "10:00:00", "10:00:12");
	assert_false(w->has_outage);
	assert_int_equal(measured(w, MEASURE_SILENCE_MS), 12000);
	assert_null(window_measure(w, MEASURE_OUTAGE_MS));
	story_free(st);

	/* For 0.6 s: the twelve seconds before may have been idle. */
	st = story_new();
	snprintf(sign, sizeof sign, "%lld", (long long)at("10:00:11.4").us);
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:12"), "path_a", C1, "path_b", BROKER,
		       "direction", "ba", "sign_at_us", sign, NULL);
	assert_none(st);
}

/* ---- loss ---- */

static void test_loss_by_ratio(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* Two connections, two directions, one second: 3 of 100. */
	second(st, "c1", C1, "10:00:05", "ab", "40", "1", "0");
	second(st, "c1", C1, "10:00:05", "ba", "40", "1", "0");
	second(st, "c1", C1_OTHER, "10:00:05", "ab", "20", "1", "0");
	const struct window *w = only(st, &all, WINDOW_LOSS);
	assert_span(w->span, "10:00:05", "10:00:06");
	assert_int_equal(measured(w, MEASURE_SEGMENTS), 100);
	assert_int_equal(measured(w, MEASURE_RETRANSMITS), 3);
	assert_false(w->has_outage);
	assert_int_equal(w->evidence.count, 3);
	story_free(st);
}

static void test_few_retransmissions_are_no_loss(void **state)
{
	struct story *st = story_new();

	(void)state;
	second(st, "c1", C1, "10:00:05", "ab", "100", "1", "0"); /* one in a hundred */
	assert_none(st);
	st = story_new();
	second(st, "c1", C1, "10:00:05", "ab", "4", "2", "0"); /* half, but two */
	assert_none(st);
	st = story_new();
	second(st, "c1", C1, "10:00:05", "ab", "300", "3", "0"); /* one per cent, not above */
	assert_none(st);
	st = story_new();
	second(st, "c1", C1, "10:00:05", "ab", "50", "2", "0"); /* 4 in all, of two paths */
	second(st, "c2", C2, "10:00:05", "ab", "50", "2", "0");
	assert_none(st);
	st = story_new();
	second(st, "c1", C1, "10:00:05", "ab", "50", "2", "0"); /* 4 in all, in two seconds */
	second(st, "c1", C1, "10:00:06", "ab", "50", "2", "0");
	assert_none(st);
}

/* Three of fifty are loss; when the peer had two of them already, one is left. */
static void test_what_was_sent_again_needlessly_is_no_loss(void **state)
{
	struct story *st = story_new();
	struct host_time start = at("10:00:05"), end = at("10:00:06");

	(void)state;
	story_interval(st, EVENT_NET_SECOND, "c1", start, end, "path_a", C1, "path_b", BROKER, "direction", "ab",
		       "segments", "50", "retransmits", "3", "timeouts", "0", "needless", "2", NULL);
	assert_none(st);
}

/* Three of 40, and of what another connection carried in ten seconds a tenth: 3 of 440 are none. */
static void test_loss_is_a_part_of_all_that_the_path_carried(void **state)
{
	struct windows all;

	(void)state;
	for (int is_busy = 0; is_busy <= 1; is_busy++) {
		struct story *st = story_new();

		story_interval(st, EVENT_NET_SECOND, "c1", at("10:00:00"), at("10:00:10"), "path_a", C1_OTHER, "path_b", BROKER,
			       "direction", "ab", "segments", is_busy ? "4000" : "40", "retransmits", "0", "samples", "10", NULL);
		second(st, "c1", C1, "10:00:05", "ab", "40", "3", "0");
		if (is_busy) {
			assert_none(st);
			continue;
		}
		const struct window *w = only(st, &all, WINDOW_LOSS);
		assert_span(w->span, "10:00:05", "10:00:06");
		assert_int_equal(measured(w, MEASURE_SEGMENTS), 44);
		story_free(st);
	}
}

static void test_one_timeout_is_loss(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	second(st, "c1", C1, "10:00:05", "ab", "100", "1", "1");
	assert_int_equal(measured(only(st, &all, WINDOW_LOSS), MEASURE_TIMEOUTS), 1);
	story_free(st);
}

static void test_repeats_of_a_connection_given_up_are_no_loss(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:10"), "path_a", C1, "path_b", BROKER,
		       "direction", "ab", "abandoned", "1", NULL);
	second(st, "c1", C1, "10:00:20", "ab", "1", "1", "1");
	assert_span(only(st, &all, WINDOW_BLACKOUT)->span, "10:00:00", "10:00:10");
	story_free(st);

	/* Its twin: another connection of the path. */
	st = story_new();
	story_interval(st, EVENT_NET_STALL, "c1", at("10:00:00"), at("10:00:10"), "path_a", C1, "path_b", BROKER,
		       "direction", "ab", "abandoned", "1", NULL);
	second(st, "c1", C1_OTHER, "10:00:20", "ab", "1", "1", "1");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

/* ---- delay ---- */

static void round_trips(struct story *st, int from_second, int seconds, const char *least, const char *usual,
			const char *most, const char *samples)
{
	for (int i = from_second; i < from_second + seconds; i++) {
		char start[32];

		snprintf(start, sizeof start, "10:00:%02d", i);
		story_interval(st, EVENT_NET_SECOND, "c1", at(start), (struct host_time){ at(start).us + US_PER_S },
			       "path_a", C1, "path_b", BROKER, "direction", "ab", "segments", "10", "retransmits", "0",
			       "rtt_min_us", least, "rtt_median_us", usual, "rtt_max_us", most, "rtt_samples", samples,
			       NULL);
	}
}

static void test_delay(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	round_trips(st, 0, 20, "900", "1000", "1100", "5");
	round_trips(st, 20, 2, "250000", "300000", "400000", "1"); /* one sample a second, for more than 500 ms */
	round_trips(st, 22, 20, "900", "1000", "1100", "5");
	round_trips(st, 50, 1, "100000", "300000", "310000", "5"); /* three samples at least in one second */
	const struct windows w = all = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_DELAY);
	assert_span(w.items[0].span, "10:00:20", "10:00:22");
	assert_int_equal(measured(&w.items[0], MEASURE_RTT_MEDIAN_US), 1000);
	assert_int_equal(measured(&w.items[0], MEASURE_RTT_MAX_US), 400000);
	assert_int_equal(w.items[0].evidence.count, 2);
	assert_span(w.items[1].span, "10:00:50", "10:00:51");
	story_free(st);
}

/* What is usual may be told many seconds at a time: the same delay is found, with the same edges. */
static void test_delay_among_seconds_told_together(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	for (int i = 0; i < 40; i += 10) {
		char start[32];

		if (i == 20)
			round_trips(st, 20, 2, "250000", "300000", "400000", "1");
		snprintf(start, sizeof start, "10:00:%02d", i == 20 ? 22 : i);
		story_interval(st, EVENT_NET_SECOND, "c1", at(start), (struct host_time){ at(start).us + (i == 20 ? 8 : 10) * US_PER_S },
			       "path_a", C1, "path_b", BROKER, "direction", "ab", "segments", "100", "retransmits", "0", "samples",
			       i == 20 ? "8" : "10", "rtt_min_us", "900", "rtt_median_us", "1000", "rtt_max_us", "1100",
			       "rtt_samples", "50", NULL);
	}
	const struct window *w = only(st, &all, WINDOW_DELAY);
	assert_span(w->span, "10:00:20", "10:00:22");
	assert_int_equal(measured(w, MEASURE_RTT_MEDIAN_US), 1000);
	assert_int_equal(w->evidence.count, 2);
	story_free(st);
}

static void test_what_is_no_delay(void **state)
{
	struct story *st = story_new();

	(void)state;
	round_trips(st, 0, 20, "200", "300", "400", "5");
	round_trips(st, 20, 5, "40000", "40500", "41000",
		    "3"); /* delayed acknowledgments: beyond 20 ms, 3 medians and 6 MAD */
	assert_none(st);
	st = story_new();
	round_trips(st, 0, 20, "900", "1000", "1100", "5");
	round_trips(st, 20, 1, "300000", "300000", "300000", "1"); /* one slow answer */
	round_trips(st, 21, 5, "900", "1000", "1100", "5");
	round_trips(st, 26, 3, "900", "1000", "400000", "5"); /* one slow among quick ones, each second */
	assert_none(st);
	st = story_new();
	round_trips(st, 0, 20, "90000", "100000", "110000", "5"); /* a slow path: three medians are 300 ms */
	round_trips(st, 20, 5, "250000", "260000", "270000", "5");
	assert_none(st);
	st = story_new();
	round_trips(st, 0, 5, "900", "1000", "1100", "5"); /* the usual is not known yet */
	round_trips(st, 5, 2, "300000", "300000", "300000", "5");
	assert_none(st);
}

/* ---- reset ---- */

static void test_resets_of_the_called_side(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:01"), "path_a", C1_OTHER, "path_b", BROKER, "direction", "ba",
		    NULL);
	const struct window *w = only(st, &all, WINDOW_RESET);
	assert_int_equal(measured(w, MEASURE_RESETS), 2);
	assert_span(w->span, "10:00:00", "10:00:01.001");
	story_free(st);

	/* The caller's own doing. */
	st = story_new();
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ab", NULL);
	assert_none(st);
}

static void refused(struct story *st, const char *host, const char *caller, const char *time)
{
	story_event(st, EVENT_NET_REFUSED, host, at(time), "path_a", caller, "path_b", BROKER, NULL);
}

static void test_a_reset_goes_on_while_openings_are_refused(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	refused(st, "c1", C1_OTHER, "10:00:01.5");
	refused(st, "c1", C1_OTHER, "10:00:03");
	refused(st, "c1", C1_OTHER, "10:00:09"); /* more than a heartbeat later: another story */
	const struct window *w = only(st, &all, WINDOW_RESET);
	assert_span(w->span, "10:00:00", "10:00:03.001");
	assert_int_equal(measured(w, MEASURE_REFUSED), 2);
	story_free(st);

	/* Nothing was reset before: the service is not there, and the path works. */
	st = story_new();
	refused(st, "c1", C1, "10:00:01");
	refused(st, "c1", C1, "10:00:02");
	assert_none(st);

	/* The service refuses everybody: it is gone. */
	st = story_new();
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	refused(st, "c1", C1_OTHER, "10:00:01.5");
	refused(st, "c2", C2, "10:00:01.6");
	assert_span(only(st, &all, WINDOW_RESET)->span, "10:00:00", "10:00:00.001");
	story_free(st);

	/* It restarts. */
	st = story_new();
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	refused(st, "c1", C1_OTHER, "10:00:01.5");
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("10:00:05"), NULL);
	assert_none(st);
}

static void test_a_broker_that_restarts_resets_its_connections(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("10:00:40"), NULL);
	assert_none(st);

	/* It had started before, or much later. */
	st = story_new();
	story_event(st, EVENT_NET_RESET, "c1", at("10:00:00"), "path_a", C1, "path_b", BROKER, "direction", "ba", NULL);
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("09:59:40"), NULL);
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("10:10:00"), NULL);
	(void)only(st, &all, WINDOW_RESET);
	story_free(st);
}

static void test_an_opening_without_answer(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	story_interval(st, EVENT_NET_SYN_UNANSWERED, "c1", at("10:00:00"), at("10:00:07"), "path_a", C1, "path_b",
		       BROKER, "censored", "1", NULL);
	const struct window *w = only(st, &all, WINDOW_RESET);
	assert_int_equal(measured(w, MEASURE_UNANSWERED), 1);
	assert_true(w->censored);
	story_free(st);

	st = story_new();
	story_interval(st, EVENT_NET_SYN_UNANSWERED, "c1", at("10:00:00"), at("10:00:00.3"), "path_a", C1, "path_b",
		       BROKER, NULL);
	assert_none(st);
}

/* ---- softnet ---- */

static void test_softnet_drops(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "softnet", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "softnet.dropped", "10:00:05", "3");
	counter(st, "c1", "softnet.dropped", "10:00:05", "4"); /* another CPU */
	const struct window *w = only(st, &all, WINDOW_SOFTNET);
	assert_int_equal(measured(w, MEASURE_SOFTNET_DROPPED), 7);
	assert_span(w->span, "10:00:05", "10:00:06");
	assert_true(sv_is_absent(w->path_a));
	assert_true(sv_eq(w->host, SV("c1")));
	assert_string_equal(w->source, "softnet");
	story_free(st);
}

static void test_squeeze_needs_a_second_sign_on_that_host(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Alone: everyday noise. */
	covered(st, "c1", "softnet", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "softnet.time_squeeze", "10:00:05", "500");
	assert_none(st);

	st = story_new();
	covered(st, "c1", "softnet", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "softnet.time_squeeze", "10:00:05", "500");
	stall(st, "c1", C1, "10:00:05.5", "10:00:09", "10:00:05.6", "10:00:09");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_SOFTNET);
	assert_int_equal(measured(&w.items[0], MEASURE_SOFTNET_TIME_SQUEEZE), 500);
	assert_int_equal(w.items[1].kind, WINDOW_BLACKOUT);
	story_free(st);

	/* The sign is another host's, or another time's. */
	st = story_new();
	covered(st, "c1", "softnet", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "softnet.time_squeeze", "10:00:05", "500");
	stall(st, "c2", C2, "10:00:05.5", "10:00:09", "10:00:05.6", "10:00:09");
	stall(st, "c1", C1, "10:00:30", "10:00:39", "10:00:31", "10:00:39");
	w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_BLACKOUT);
	assert_int_equal(w.items[1].kind, WINDOW_BLACKOUT);
	story_free(st);
}

/* The host always squeezes 100 times a second: 500 are not ten times that, 2000 are. */
static size_t softnet_windows_beside_usual_squeeze(const char *peak)
{
	struct story *st = story_new();
	size_t n = 0;

	covered(st, "c1", "softnet", "10:00:00", "10:00:20", "21");
	for (int i = 0; i < 20; i++) {
		char start[32];

		snprintf(start, sizeof start, "10:00:%02d", i);
		counter(st, "c1", "softnet.time_squeeze", start, i == 15 ? peak : "100");
	}
	stall(st, "c1", C1, "10:00:15.5", "10:00:19", "10:00:15.6", "10:00:19");
	struct windows w = find_windows(st);
	for (size_t i = 0; i < w.count; i++)
		n += w.items[i].kind == WINDOW_SOFTNET;
	story_free(st);
	return n;
}

static void test_squeeze_against_the_usual_rate(void **state)
{
	(void)state;
	assert_int_equal(softnet_windows_beside_usual_squeeze("500"), 0);
	assert_int_equal(softnet_windows_beside_usual_squeeze("2000"), 1);
}

/* ---- conntrack, TCP counters ---- */

static void test_conntrack(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "conntrack", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "conntrack.drop", "10:00:05", "12");
	counter(st, "c1", "conntrack.insert_failed", "10:00:05", "2");
	counter(st, "c1", "conntrack.drop", "10:00:06", "1");
	const struct window *w = only(st, &all, WINDOW_CONNTRACK);
	assert_span(w->span, "10:00:05", "10:00:07");
	assert_int_equal(measured(w, MEASURE_CONNTRACK_DROP), 13);
	assert_int_equal(measured(w, MEASURE_CONNTRACK_INSERT_FAILED), 2);
	story_free(st);
}

static void test_growth_over_a_gap_is_no_window(void **state)
{
	struct story *st = story_new();

	(void)state;
	covered(st, "c1", "conntrack", "10:00:00", "10:00:05", "6");
	covered(st, "c1", "conntrack", "10:30:00", "10:31:00", "61");
	story_interval(st, EVENT_COUNTER_DELTA, "c1", at("10:00:05"), at("10:30:00"), "counter", "conntrack.drop",
		       "delta", "5", NULL);
	assert_none(st);
}

static void test_loss_by_the_counters_of_a_host(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcp.OutSegs", "10:00:05", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:05", "3");
	const struct window *w = only(st, &all, WINDOW_LOSS);
	assert_string_equal(w->source, "snmp");
	assert_int_equal(measured(w, MEASURE_SEGMENTS), 100);
	assert_int_equal(measured(w, MEASURE_RETRANSMITS), 3);
	story_free(st);

	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:05", "1");
	assert_string_equal(only(st, &all, WINDOW_LOSS)->source, "netstat");
	story_free(st);

	st = story_new();
	covered(st, "c1", "snmp", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcp.OutSegs", "10:00:05", "100");
	counter(st, "c1", "tcp.RetransSegs", "10:00:05", "1"); /* one in a hundred */
	counter(st, "c1", "tcp.OutSegs", "10:00:08", "1000");
	counter(st, "c1", "tcp.RetransSegs", "10:00:08", "9");
	assert_none(st);
}

/*
 * A path that was away from 10:00:05 to 10:00:12: timers that stand close, then
 * later ones, whose segments had been lost before.
 */
static void test_timers_that_run_out_late_belong_to_the_outage(void **state)
{
	static const char *const times[] = { "10:00:05", "10:00:06", "10:00:07", "10:00:08", "10:00:09", "10:00:10", "10:00:11" };
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		counter(st, "c1", "tcpext.TCPTimeouts", times[i], "1");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:18", "1");
	const struct window *w = only(st, &all, WINDOW_LOSS);
	assert_span(w->span, "10:00:05", "10:00:19");
	/* The last had waited for at most as long as the losses had lasted: half way back something was lost. */
	assert_int_equal(measured(w, MEASURE_OUTAGE_LEAST_MS), 6500);
	story_free(st);

	/* One that comes later than doubling explains is another matter. */
	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		counter(st, "c1", "tcpext.TCPTimeouts", times[i], "1");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:25", "1");
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);

	/* Several that stand close begin a new outage. */
	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		counter(st, "c1", "tcpext.TCPTimeouts", times[i], "1");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:18", "1");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:19", "1");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:20", "1");
	all = find_windows(st);
	assert_int_equal(all.count, 2);
	assert_span(all.items[0].span, "10:00:05", "10:00:12");
	assert_span(all.items[1].span, "10:00:18", "10:00:21");
	story_free(st);
}

static void test_a_capture_tells_more_than_counters(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	covered(st, "c1", "capture", "10:00:00", "10:01:00", "5000");
	stall(st, "c1", C1, "10:00:05", "10:00:15", "10:00:06", "10:00:14");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:06", "2");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:40", "1"); /* on no connection of the capture */
	const struct window *w = only(st, &all, WINDOW_BLACKOUT);
	assert_span(w->span, "10:00:05", "10:00:15");
	assert_int_equal(w->evidence.count, 2);
	assert_int_equal(w->evidence.items[1].type, EVENT_COUNTER_DELTA);
	story_free(st);

	/* The capture is another host's. */
	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	covered(st, "c2", "capture", "10:00:00", "10:01:00", "5000");
	counter(st, "c1", "tcpext.TCPTimeouts", "10:00:40", "1");
	(void)only(st, &all, WINDOW_LOSS);
	story_free(st);
}

/* ---- link ---- */

static void test_segments_held_back_in_the_host(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:11", "2");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:13", "1");
	const struct window *w = only(st, &all, WINDOW_LINK);
	assert_true(window_is_jitter(w));
	assert_span(w->span, "10:00:11", "10:00:14");
	assert_true(sv_eq(w->host, SV("c1")));
	assert_true(sv_is_absent(w->path_a));
	assert_int_equal(measured(w, MEASURE_HELD_BACK), 3);
	story_free(st);

	/* Held for 2 s, tried again after 2 s more and after 4 s more: one outage. A minute later it is another. */
	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:05:00", "301");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:11", "1");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:12", "1");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:15", "1");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:00:20", "1");
	counter(st, "c1", "tcpext.TCPSpuriousRtxHostQueues", "10:01:30", "1");
	all = find_windows(st);
	assert_int_equal(all.count, 2);
	assert_span(all.items[0].span, "10:00:11", "10:00:21");
	assert_span(all.items[1].span, "10:01:30", "10:01:31");
	story_free(st);

	/* Timers that ran out needlessly were of segments that had left: no link, and no window. */
	st = story_new();
	covered(st, "c1", "netstat", "10:00:00", "10:01:00", "61");
	counter(st, "c1", "tcpext.TCPSpuriousRTOs", "10:00:11", "2");
	assert_none(st);
}

/* ---- pauses ---- */

/* The process stops at 10:00:10.2 and goes on at 10:00:20; the broker's answer to its last fetch comes in between. */
static void tell_pause(struct story *st)
{
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:20", "1", "1");
}

static void test_process_pause(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	const struct window *w = only(st, &all, WINDOW_PROCESS_PAUSE);
	assert_false(window_is_jitter(w));
	assert_span(w->span, "10:00:10", "10:00:20");
	assert_int_equal(measured(w, MEASURE_PAUSE_MS), 10000);
	assert_int_equal(measured(w, MEASURE_ACKS), 1);
	story_free(st);
}

static void test_a_pause_of_one_heartbeat(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* A collection of 3.1 s: a heartbeat was due after 2 s. */
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:13.1", "1", "1");
	assert_span(only(st, &all, WINDOW_PROCESS_PAUSE)->span, "10:00:10", "10:00:13.1");
	story_free(st);
}

static void heartbeat(struct story *st, struct host_time t)
{
	story_interval(st, EVENT_WIRE_HEARTBEAT, "c1", t, (struct host_time){ t.us + US_PER_MS }, "path_a", C1, "path_b", BROKER,
		       "direction", "ab", NULL);
}

/* Eleven of them, from 10:00:00 on: each third a while after the one before, the others two seconds. */
static void heartbeats(struct story *st, int64_t third_ms)
{
	struct host_time t = at("10:00:00");

	for (int i = 0; i < 11; i++) {
		heartbeat(st, t);
		t.us += (i % 3 == 2 ? third_ms : 2000) * US_PER_MS;
	}
}

/* Quiet from 10:00:40 to 10:00:50; the broker's last word stands that long after the client's. */
static void quiet_after_word(struct story *st, int64_t word_ms)
{
	char spoken[32];

	snprintf(spoken, sizeof spoken, "%lld", (long long)at("10:00:40").us + (long long)(word_ms * US_PER_MS));
	connection(st, "c1", C1, "09:59:00", "10:02:00");
	story_interval(st, EVENT_NET_QUIET, "c1", at("10:00:40"), at("10:00:50"), "path_a", C1, "path_b", BROKER, "direction", "ab", "acks",
		       "1", "pending", "1", "spoken_at_us", spoken, NULL);
}

/* A client without a timer for heartbeats, as KafkaJS: while its handler works it sends as little as one that stands still. */
static void test_a_handler_that_holds_back_heartbeats_is_no_pause(void **state)
{
	static const struct {
		int64_t third_ms, word_ms;
		bool brings_records;
		const char *pause_start;	/* NULL: none is */
		const char *untold_start;
	} cases[] = {
		/* A third comes when the next poll comes, and the last was answered at once: it is at work, or stands still. */
		{ 3000, 2, false, NULL, "10:00:40.002" },
		/* It had asked for more, and was given nothing half a second later: it did not ask again. */
		{ 3000, 500, false, "10:00:40.500", NULL },
		/* It was given records: it is at work on them, or stands still. */
		{ 3000, 500, true, NULL, "10:00:40.500" },
		/* The broker held its fetch back for want of records: it had nothing to say until then. */
		{ 3000, 8000, false, NULL, NULL },
		/* Every two seconds, whatever its handler does, and what it waits for: a timer. */
		{ 2000, 2, false, "10:00:40", NULL },
		{ 2000, 500, true, "10:00:40", NULL },
		{ 2000, 8000, false, "10:00:40", NULL },
		/* Less than a quarter late is on time; what is late by far is no rhythm. */
		{ 2500, 2, false, "10:00:40", NULL },
		{ 7000, 2, false, "10:00:40", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();
		struct windows all;

		heartbeats(st, cases[i].third_ms);
		story_event(st, EVENT_WIRE_FETCH, "c1", cases[i].brings_records ? at("10:00:40.5") : at("10:00:38"), "path_a", C1, "path_b",
			    BROKER, "topic", "refunds", "partition", "0", "offset", "7", "end_offset", "8", NULL);
		quiet_after_word(st, cases[i].word_ms);
		if (cases[i].pause_start != NULL)
			assert_span(only(st, &all, WINDOW_PROCESS_PAUSE)->span, cases[i].pause_start, "10:00:50");
		else
			assert_int_equal((all = find_windows(st)).count, 0);
		assert_int_equal(all.untold_count, cases[i].untold_start != NULL);
		if (cases[i].untold_start != NULL)
			assert_span(all.untold[0].span, cases[i].untold_start, "10:00:50");
		story_free(st);
	}
}

/* Of ten that follow another two came late: a timer, and a machine that was busy now and then. */
static void test_a_timer_that_is_late_now_and_then_is_one(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	heartbeats(st, 2000);
	heartbeat(st, at("10:00:24"));
	heartbeat(st, at("10:00:28"));
	quiet_after_word(st, 2);
	assert_span(only(st, &all, WINDOW_PROCESS_PAUSE)->span, "10:00:40", "10:00:50");
	story_free(st);
}

static void test_a_restart_is_no_pause(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* The old process closed its connections when it fell silent; the new one opened its own when it spoke. */
	connection(st, "c1", C1, "10:00:00", "10:00:10.1");
	connection(st, "c1", C1_OTHER, "10:00:19.9", "10:01:00");
	tell_pause(st);
	assert_none(st);
}

static void test_waiting_for_an_answer_is_no_pause(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* The member asked to join, and the broker owes the answer. */
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "1", "1");
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:20.1", "1", "0");
	assert_none(st);
}

static void test_short_or_ordinary_silence_is_no_pause(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:12.9", "1", "1"); /* a heartbeat every 2 s, half of one late */
	assert_none(st);

	/* A caller that speaks every ten seconds owes no heartbeats. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	for (int i = 0; i < 5; i++) {
		char start[32], end[32];

		snprintf(start, sizeof start, "10:00:%02d", i * 10);
		snprintf(end, sizeof end, "10:00:%02d", i * 10 + 9);
		quiet(st, "c1", C1, "ab", start, end, "1", "1");
	}
	assert_none(st);

	/* Nothing shows that its kernel was alive. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:20", "0", "0");
	assert_none(st);
}

static void test_a_member_that_left_owes_nothing(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* Its handler overran the poll interval: the client left, and the handler goes on. */
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "c1", at("10:00:09.99"), "group", "refunds", NULL);
	assert_none(st);

	/* Another host's client, or the end of the pause, says nothing about this one. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "c2", at("10:00:09.99"), "group", "refunds", NULL);
	story_event(st, EVENT_CLIENT_LEAVES, "c1", at("10:00:20"), "group", "refunds", NULL);
	(void)only(st, &all, WINDOW_PROCESS_PAUSE);
	story_free(st);
}

/* A static member overruns its poll: its heartbeats end, and no LeaveGroup tells. */
static void test_a_member_parts_within_an_interval_of_its_last_heartbeat(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "c1", at("10:00:12"), "group", "refunds", NULL);
	assert_none(st);

	/* The twin parts when it wakes: a pause of 3.1 s made it late. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ab", "10:00:10", "10:00:13.1", "1", "1");
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "c1", at("10:00:12.9"), "group", "refunds", NULL);
	(void)only(st, &all, WINDOW_PROCESS_PAUSE);
	story_free(st);
}

static void test_a_client_that_closes_a_connection_is_not_paused(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_DISCONNECTED, "c1", at("10:00:16"), "node", "1", NULL);
	assert_none(st);

	/* It was woken, or it is another host's, or it complains alone, as one without processor time does. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_DISCONNECTED, "c1", at("10:00:19.5"), "node", "1", NULL);
	story_event(st, EVENT_CLIENT_DISCONNECTED, "c2", at("10:00:16"), "node", "1", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "c1", at("10:00:16"), "group", "refunds", NULL);
	(void)only(st, &all, WINDOW_PROCESS_PAUSE);
	story_free(st);
}

static void test_a_member_that_joins_waits_rightly(void **state)
{
	struct story *st = story_new();
	struct windows all;

	(void)state;
	/* Its last fetch was answered after it had asked to join: the packets alone look like a pause. */
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_CLIENT_JOINED, "c1", at("10:00:00"), "group", "refunds", "generation", "4", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "c1", at("10:00:09.98"), "group", "refunds", NULL);
	assert_none(st);

	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:08"), "group", "refunds", "generation", "4", NULL);
	assert_none(st);

	/* It had joined before it fell silent; then it was evicted for that. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	tell_pause(st);
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:00"), "group", "refunds", "generation", "4", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "c1", at("10:00:00.1"), "group", "refunds", NULL);
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:02"), "group", "refunds", "generation", "5",
		    NULL);
	story_event(st, EVENT_CLIENT_JOINED, "c1", at("10:00:02.1"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:16"), "group", "refunds", "generation", "5", NULL);
	(void)only(st, &all, WINDOW_PROCESS_PAUSE);
	story_free(st);
}

static void test_server_pause_needs_all_callers(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:11", "10:00:21", "2", "1");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(w.items[i].kind, WINDOW_SERVER_PAUSE);
		assert_span(w.items[i].span, "10:00:11", "10:00:20");
	}
	assert_true(sv_eq(w.items[0].host, SV("c1")));
	assert_true(sv_eq(w.items[1].host, SV("c2")));
	story_free(st);

	/* One caller alone may wait for the others to join. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	assert_none(st);

	/* Two wait and the third is served. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	connection(st, "c3", C3, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:11", "10:00:21", "2", "1");
	assert_none(st);
}

/* The broker stood still until 10:00:16; then they joined, and each waits for the other. */
static void test_who_waits_for_others_to_join_waits_rightly(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:22", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10", "10:00:22", "2", "1");
	story_event(st, EVENT_CLIENT_REJOINS, "c1", at("10:00:16"), "group", "refunds", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "c2", at("10:00:16"), "group", "refunds", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "c1", at("10:00:22"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "c2", at("10:00:22"), "group", "refunds", "generation", "5", NULL);
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_span(w.items[i].span, "10:00:10", "10:00:16");
	story_free(st);

	/* They had asked to join before: nothing else was owed. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:22", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10", "10:00:22", "2", "1");
	story_event(st, EVENT_CLIENT_REJOINS, "c1", at("10:00:09.9"), "group", "refunds", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "c2", at("10:00:09.9"), "group", "refunds", NULL);
	assert_none(st);
}

static void test_a_server_owes_a_heartbeat_within_its_interval(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* Both wait for 2.1 s, and a heartbeat was due within two. */
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:12.2", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10.1", "10:00:12.3", "2", "1");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_SERVER_PAUSE);
	assert_span(w.items[0].span, "10:00:10.1", "10:00:12.2");
	story_free(st);

	/* Each waits for long enough, and both at once for 1.9 s. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:12.2", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10.3", "10:00:12.5", "2", "1");
	assert_none(st);
}

static void test_a_broker_that_logs_is_not_paused(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:11", "10:00:21", "2", "1");
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:15"), "group", "refunds", "member", "m3", NULL);
	assert_none(st);

	/* The group is joining: its members wait rightly. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:11", "10:00:21", "2", "1");
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:10"), "group", "refunds", "generation", "4", NULL);
	assert_none(st);

	/* And it still is when one of them has come. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:11", "10:00:21", "2", "1");
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:10"), "group", "refunds", "generation", "4", NULL);
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:10.9"), "group", "refunds", "member", "m2", NULL);
	assert_none(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thresholds_are_rows_with_reasons),
		cmocka_unit_test(test_blackout),
		cmocka_unit_test(test_idle_before_a_lost_segment_is_no_blackout),
		cmocka_unit_test(test_blackout_is_measured_by_the_round_trip),
		cmocka_unit_test(test_a_stall_seen_by_its_receiver),
		cmocka_unit_test(test_loss_by_ratio),
		cmocka_unit_test(test_few_retransmissions_are_no_loss),
		cmocka_unit_test(test_what_was_sent_again_needlessly_is_no_loss),
		cmocka_unit_test(test_loss_is_a_part_of_all_that_the_path_carried),
		cmocka_unit_test(test_one_timeout_is_loss),
		cmocka_unit_test(test_repeats_of_a_connection_given_up_are_no_loss),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_delay_among_seconds_told_together),
		cmocka_unit_test(test_what_is_no_delay),
		cmocka_unit_test(test_resets_of_the_called_side),
		cmocka_unit_test(test_a_reset_goes_on_while_openings_are_refused),
		cmocka_unit_test(test_a_broker_that_restarts_resets_its_connections),
		cmocka_unit_test(test_an_opening_without_answer),
		cmocka_unit_test(test_softnet_drops),
		cmocka_unit_test(test_squeeze_needs_a_second_sign_on_that_host),
		cmocka_unit_test(test_squeeze_against_the_usual_rate),
		cmocka_unit_test(test_conntrack),
		cmocka_unit_test(test_segments_held_back_in_the_host),
		cmocka_unit_test(test_growth_over_a_gap_is_no_window),
		cmocka_unit_test(test_loss_by_the_counters_of_a_host),
		cmocka_unit_test(test_a_capture_tells_more_than_counters),
		cmocka_unit_test(test_timers_that_run_out_late_belong_to_the_outage),
		cmocka_unit_test(test_process_pause),
		cmocka_unit_test(test_a_pause_of_one_heartbeat),
		cmocka_unit_test(test_a_handler_that_holds_back_heartbeats_is_no_pause),
		cmocka_unit_test(test_a_timer_that_is_late_now_and_then_is_one),
		cmocka_unit_test(test_a_restart_is_no_pause),
		cmocka_unit_test(test_waiting_for_an_answer_is_no_pause),
		cmocka_unit_test(test_short_or_ordinary_silence_is_no_pause),
		cmocka_unit_test(test_a_member_that_left_owes_nothing),
		cmocka_unit_test(test_a_client_that_closes_a_connection_is_not_paused),
		cmocka_unit_test(test_a_member_parts_within_an_interval_of_its_last_heartbeat),
		cmocka_unit_test(test_a_member_that_joins_waits_rightly),
		cmocka_unit_test(test_server_pause_needs_all_callers),
		cmocka_unit_test(test_who_waits_for_others_to_join_waits_rightly),
		cmocka_unit_test(test_a_server_owes_a_heartbeat_within_its_interval),
		cmocka_unit_test(test_a_broker_that_logs_is_not_paused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
