/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_WINDOWS_STORY_H
#define AFTERSHOCK_TESTS_WINDOWS_STORY_H

/* The windows of a story, and what the tests of windows and of detectors ask of them. Include after <cmocka.h>. */

#include "analysis/window.h"
#include "story.h"

#define C1 "10.77.1.10:40000"
#define C1_OTHER "10.77.1.10:40001"
#define C2 "10.77.2.10:50000"
#define C3 "10.77.3.10:60000"
#define BROKER "10.77.0.10:9092"

/* A heartbeat interval of two seconds; all hosts on one clock. */
static inline struct windows find_windows(struct story *st)
{
	struct analysis_options options = analysis_options_default();
	struct clocks clocks = { 0 };
	struct windows w;

	assert_int_equal(windows_find(story_store(st), &clocks, &options, 2000, st->arena, &w), 0);
	return w;
}

static inline void assert_span(struct span s, const char *start, const char *end)
{
	assert_int_equal(s.start.us, ref_at(start).us);
	assert_int_equal(s.end.us, ref_at(end).us);
}

static inline int64_t measured(const struct window *w, enum measure_id id)
{
	const struct measure *m = window_measure(w, id);

	assert_non_null(m);
	assert_true(m->known);
	return m->value;
}

static inline void stall(struct story *st, const char *host, const char *caller, const char *start, const char *end,
			 const char *loss_at, const char *sign_at)
{
	char loss[32], sign[32];

	snprintf(loss, sizeof loss, "%lld", (long long)at(loss_at).us);
	snprintf(sign, sizeof sign, "%lld", (long long)at(sign_at).us);
	story_interval(st, EVENT_NET_STALL, host, at(start), at(end), "path_a", caller, "path_b", BROKER, "direction",
		       "ab", "loss_at_us", loss, "sign_at_us", sign, "retransmits", "5", "timeouts", "4",
		       "rtt_median_us", "1000", NULL);
}

/* One second of one direction. */
static inline void second(struct story *st, const char *host, const char *caller, const char *start,
			  const char *direction, const char *segments, const char *retransmits, const char *timeouts)
{
	struct host_time end = { at(start).us + US_PER_S };

	story_interval(st, EVENT_NET_SECOND, host, at(start), end, "path_a", caller, "path_b", BROKER, "direction",
		       direction, "segments", segments, "retransmits", retransmits, "timeouts", timeouts, NULL);
}

static inline void quiet(struct story *st, const char *host, const char *caller, const char *direction,
			 const char *start, const char *end, const char *acks, const char *pending)
{
	story_interval(st, EVENT_NET_QUIET, host, at(start), at(end), "path_a", caller, "path_b", BROKER, "direction",
		       direction, "acks", acks, "pending", pending, NULL);
}

static inline void connection(struct story *st, const char *host, const char *caller, const char *start,
			      const char *end)
{
	story_interval(st, EVENT_NET_CONNECTION, host, at(start), at(end), "path_a", caller, "path_b", BROKER, NULL);
}

static inline void covered(struct story *st, const char *host, const char *kind, const char *start, const char *end,
			   const char *samples)
{
	story_interval(st, EVENT_COVERED, host, at(start), at(end), "evidence_kind", kind, "samples", samples, NULL);
}

/* The growth of a counter over one second. */
static inline void counter(struct story *st, const char *host, const char *name, const char *start, const char *delta)
{
	struct host_time end = { at(start).us + US_PER_S };

	story_interval(st, EVENT_COUNTER_DELTA, host, at(start), end, "counter", name, "delta", delta, NULL);
}

#endif
