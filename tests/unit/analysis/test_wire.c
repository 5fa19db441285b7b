/* SPDX-License-Identifier: MIT */
/* What Kafka's words on the wire tell of windows, members and evictions; each beside its twin that tells nothing. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/clock.h"
#include "analysis/group.h"
#include "analysis/heard.h"
#include "windows_story.h"

/* A heartbeat of a member, sent, received and answered; NULL: it was not received. */
static void heartbeat(struct story *st, const char *host, const char *caller, const char *member, const char *sent,
		      const char *received, const char *answered, const char *retransmits)
{
	char us[32];

	snprintf(us, sizeof us, "%lld", received != NULL ? (long long)at(received).us : 0LL);
	if (received != NULL)
		story_interval(st, EVENT_WIRE_HEARTBEAT, host, at(sent), at(answered), "path_a", caller, "path_b",
			       BROKER, "direction", "ab", "group", "g", "member", member, "client", "cl", "api",
			       "Heartbeat", "received_at_us", us, "retransmits", retransmits, NULL);
	else
		story_interval(st, EVENT_WIRE_UNANSWERED, host, at(sent), at(answered), "path_a", caller, "path_b",
			       BROKER, "direction", "ab", "api", "Heartbeat", "correlation_id", "9", "elapsed_ms",
			       "5000", "retransmits", retransmits, NULL);
}

/* A fetch that may wait for five seconds and waited so long in all. */
static void fetch(struct story *st, const char *host, const char *caller, const char *sent, const char *answered,
		  const char *elapsed_ms)
{
	story_interval(st, EVENT_WIRE_LATE, host, at(sent), at(answered), "path_a", caller, "path_b", BROKER,
		       "direction", "ab", "api", "Fetch", "correlation_id", "7", "elapsed_ms", elapsed_ms, "limit_ms",
		       "5000", NULL);
}

static void unseen(struct story *st, const char *host, const char *caller, const char *start, const char *end)
{
	story_interval(st, EVENT_NET_UNSEEN, host, at(start), at(end), "path_a", caller, "path_b", BROKER,
		       "direction", "ba", "retransmits", "7", NULL);
}

static void assert_none(struct story *st)
{
	assert_int_equal(find_windows(st).count, 0);
	story_free(st);
}

/* ---- windows ---- */

static void a_heartbeat_that_did_not_arrive_opens_a_window(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* The interval is two seconds. It ends when it arrived, not with the answer. */
	heartbeat(st, "c1", C1, "m1", "10:00:10", "10:00:13", "10:00:14", "3");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_REQUEST);
	assert_span(w.items[0].span, "10:00:10", "10:00:13");
	assert_int_equal(measured(&w.items[0], MEASURE_HEARTBEATS), 1);
	story_free(st);

	/* Never: until the connection ended. */
	st = story_new();
	heartbeat(st, "c1", C1, "m1", "10:00:10", NULL, "10:00:15", "3");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:10", "10:00:15");
	story_free(st);

	/* Twins: within the interval; and one that the broker's kernel had at once, whose process did not answer. */
	st = story_new();
	heartbeat(st, "c1", C1, "m1", "10:00:10", "10:00:11.5", "10:00:11.9", "3");
	assert_none(st);
	st = story_new();
	heartbeat(st, "c1", C1, "m1", "10:00:10", "10:00:10", "10:00:14", "0");
	assert_none(st);
}

/* Data goes through again at 20; the heartbeat, on another connection, is there at 22 only. */
static void a_request_that_waits_on_lengthens_no_silence(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:10", "10:00:20", "10:00:12", "10:00:17");
	heartbeat(st, "c1", C1, "m1", "10:00:13", "10:00:22", "10:00:22", "3");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].span, "10:00:10", "10:00:22");
	assert_span(window_silence(&w.items[0]), "10:00:10", "10:00:20");
	assert_int_equal(measured(&w.items[0], MEASURE_SILENCE_MS), 10000);
	assert_int_equal(measured(&w.items[0], MEASURE_BACKOFF_MS), 3000);
	story_free(st);

	/* With nothing but the request all of it is silence. */
	st = story_new();
	heartbeat(st, "c1", C1, "m1", "10:00:13", "10:00:22", "10:00:22", "3");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(window_silence(&w.items[0]), "10:00:13", "10:00:22");
	story_free(st);
}

/* The path goes on at 20 on one connection; on another the coordinator hears the member at 18, and has not since 9. */
static void what_the_coordinator_hears_is_the_silence_that_counts(void **state)
{
	struct story *st = story_new();

	(void)state;
	stall(st, "c1", C1, "10:00:10", "10:00:20", "10:00:12", "10:00:17");
	heartbeat(st, "c1", C1, "m1", "10:00:09", "10:00:09", "10:00:09", "0");
	heartbeat(st, "c1", C1, "m1", "10:00:17.9", "10:00:18", "10:00:18", "1");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(window_silence(&w.items[0]), "10:00:09", "10:00:18");
	assert_int_equal(measured(&w.items[0], MEASURE_HEARD_GAP_MS), 9000);
	assert_int_equal(measured(&w.items[0], MEASURE_SILENCE_MS), 10000);
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_MS), 5000);
	assert_int_equal(measured(&w.items[0], MEASURE_BACKOFF_MS), 1000);
	story_free(st);
}

static void numbers_left_out_are_a_blackout(void **state)
{
	struct story *st = story_new();

	(void)state;
	unseen(st, "c1", C1, "10:00:10", "10:00:20");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(w.items[0].kind, WINDOW_BLACKOUT);
	assert_span(w.items[0].span, "10:00:10", "10:00:20");
	assert_int_equal(measured(&w.items[0], MEASURE_OUTAGE_LEAST_MS), 5000);
	story_free(st);

	/* The host's own losses are more exact. */
	st = story_new();
	unseen(st, "c1", C1, "10:00:10", "10:00:20");
	stall(st, "c1", C1, "10:00:11", "10:00:20", "10:00:12", "10:00:17");
	w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_span(w.items[0].outage, "10:00:12", "10:00:17");
	story_free(st);

	/* Everyday recovery. */
	st = story_new();
	unseen(st, "c1", C1, "10:00:10", "10:00:10.9");
	assert_none(st);
}

/* Two members wait for records: nothing is owed. */
static void a_fetch_that_waits_for_records_is_no_pause(void **state)
{
	struct story *st = story_new();

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:15", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10", "10:00:15", "2", "1");
	heartbeat(st, "c1", C1, "m1", "10:00:05", "10:00:05", "10:00:05.1", "0");
	heartbeat(st, "c2", C2, "m2", "10:00:05", "10:00:05", "10:00:05.1", "0");
	assert_none(st);

	/* Twin: both answers are overdue from 10:00:15 on. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:20", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10", "10:00:20", "2", "1");
	fetch(st, "c1", C1, "10:00:10", "10:00:20", "10000");
	fetch(st, "c2", C2, "10:00:10", "10:00:20", "10000");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 2);
	assert_int_equal(w.items[0].kind, WINDOW_SERVER_PAUSE);
	assert_span(w.items[0].span, "10:00:15", "10:00:20");
	story_free(st);

	/* What is inferred under TLS says nothing of what is owed: as before. */
	st = story_new();
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	connection(st, "c2", C2, "10:00:00", "10:01:00");
	quiet(st, "c1", C1, "ba", "10:00:10", "10:00:15", "2", "1");
	quiet(st, "c2", C2, "ba", "10:00:10", "10:00:15", "2", "1");
	story_event(st, EVENT_WIRE_HEARTBEAT, "c1", at("10:00:05"), "path_a", C1, "path_b", BROKER, "direction", "ab",
		    "strength", "suggests", NULL);
	assert_int_equal(find_windows(st).count, 2);
	story_free(st);
}

/* What the coordinator heard of a client around a window: from one request to the next. */
static void a_window_knows_what_the_coordinator_heard(void **state)
{
	struct story *st = story_new();

	(void)state;
	heartbeat(st, "c1", C1, "m1", "10:00:08", "10:00:08", "10:00:08.1", "0");
	stall(st, "c1", C1, "10:00:10", "10:00:20", "10:00:10", "10:00:17");
	heartbeat(st, "c1", C1, "m2", "10:00:10", "10:00:20.5", "10:00:20.6", "5");
	heartbeat(st, "c1", C1, "m2", "10:00:22", "10:00:22", "10:00:22.1", "0");
	struct windows w = find_windows(st);
	assert_int_equal(w.count, 1);
	assert_int_equal(measured(&w.items[0], MEASURE_HEARD_GAP_MS), 12500);
	story_free(st);
}

/* Commits told together: the coordinator heard the member from the first to the latest, and not before. */
static void commits_told_together_are_heard_throughout(void **state)
{
	static const struct {
		const char *first;
		int64_t gap_ms;	/* around the stall; 0: none that is longer than an interval */
	} cases[] = { { "10:00:11", 0 }, { "10:00:19", 11000 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();
		char received[32];

		heartbeat(st, "c1", C1, "m1", "10:00:08", "10:00:08", "10:00:08.1", "0");
		stall(st, "c1", C1_OTHER, "10:00:10", "10:00:20", "10:00:10", "10:00:17");
		if (i == 0)
			heartbeat(st, "c1", C1, "m1", "10:00:10", "10:00:10", "10:00:10.1", "0");
		snprintf(received, sizeof received, "%lld", (long long)at("10:00:21").us);
		story_interval(st, EVENT_WIRE_COMMIT, "c1", at(cases[i].first), at("10:00:21.1"), "path_a", C1, "path_b", BROKER,
			       "direction", "ab", "group", "g", "member", "m1", "client", "cl", "api", "OffsetCommit", "topic", "t",
			       "partition", "0", "offset", "7", "samples", "20", "received_at_us", received, NULL);
		struct windows w = find_windows(st);
		assert_int_equal(w.count, 1);
		const struct measure *m = window_measure(&w.items[0], MEASURE_HEARD_GAP_MS);
		if (cases[i].gap_ms == 0)
			assert_true(m == NULL || !m->known);
		else
			assert_int_equal(measured(&w.items[0], MEASURE_HEARD_GAP_MS), cases[i].gap_ms);
		story_free(st);
	}
}

/* ---- members ---- */

static void find_groups(struct story *st, struct groups *g)
{
	struct analysis_options options = analysis_options_default();
	struct clocks clocks = { 0 };

	assert_int_equal(groups_find(story_store(st), &clocks, &options, st->arena, g), 0);
}

static void member_heard(struct story *st, const char *host, const char *caller)
{
	story_event(st, EVENT_WIRE_MEMBER, host, at("10:00:05"), "path_a", caller, "path_b", BROKER, "direction", "ab",
		    "group", "g", "member", "m1", "client", "cl", "api", "Heartbeat", NULL);
}

static void a_member_lives_where_its_address_is_at_home(void **state)
{
	struct story *st = story_new();
	struct groups g;

	(void)state;
	connection(st, "c1", C1, "10:00:00", "10:01:00");
	member_heard(st, "c1", C1);
	story_event(st, EVENT_WIRE_CONFIG, "c1", at("10:00:05"), "path_a", C1, "path_b", BROKER, "group", "g", "key",
		    "session.timeout.ms", "value", "6000", NULL);
	find_groups(st, &g);
	assert_int_equal(g.count, 1);
	assert_true(sv_eq(g.items[0].members[0].host, SV("c1")));
	assert_true(sv_eq(g.items[0].members[0].peer, SV("10.77.1.10")));
	assert_true(sv_eq(g.items[0].protocol, SV("classic")));
	assert_int_equal(group_session_timeout_ms(&g.items[0]), 6000);
	story_free(st);

	/* Twin: seen by the broker, to which several hosts speak. */
	st = story_new();
	connection(st, "b1", C1, "10:00:00", "10:01:00");
	connection(st, "b1", C2, "10:00:00", "10:01:00");
	member_heard(st, "b1", C1);
	find_groups(st, &g);
	assert_true(sv_is_absent(g.items[0].members[0].host));
	assert_true(sv_eq(g.items[0].members[0].peer, SV("10.77.1.10")));
	story_free(st);
}

/* ---- evictions ---- */

static struct rebalance heard_before(struct story *st, const char *eviction, const char *member)
{
	struct rebalance r = { .trigger = TRIGGER_SESSION_TIMEOUT, .member = sv_of(member), .trigger_time = ref_at(eviction),
			       .broker_host = SV("broker-1") };
	struct rebalances all = { .items = &r, .count = 1 };
	struct clocks clocks = { 0 };

	assert_int_equal(heard_find(story_store(st), &clocks, &(struct groups){ NULL, 0 }, st->arena, &all), 0);
	return r;
}

static void the_last_that_was_heard_is_the_last_that_arrived(void **state)
{
	struct story *st = story_new();
	struct rebalance r;

	(void)state;
	heartbeat(st, "c1", C1, "m1", "10:00:08", "10:00:08", "10:00:08.1", "0");
	/* Sent before the eviction, and it arrived too late. */
	heartbeat(st, "c1", C1, "m1", "10:00:10", "10:00:20", "10:00:20.1", "5");
	heartbeat(st, "c2", C2, "m2", "10:00:12", "10:00:12", "10:00:12.1", "0");
	/* Refused: an unknown member restarts no timer. */
	story_interval(st, EVENT_WIRE_COMMIT, "c1", at("10:00:13"), at("10:00:13.1"), "path_a", C1, "path_b", BROKER,
		       "group", "g", "member", "m1", "topic", "t", "partition", "0", "error", "ILLEGAL_GENERATION", NULL);
	r = heard_before(st, "10:00:14", "m1");
	assert_true(r.has_last_heard);
	assert_int_equal(r.last_heard.us, ref_at("10:00:08").us);
	assert_int_equal(r.last_heard_answered.us, ref_at("10:00:08.1").us);
	assert_int_equal(r.evidence.count, 1);
	/* Nothing was seen of another. */
	r = heard_before(st, "10:00:14", "m3");
	assert_false(r.has_last_heard);
	story_free(st);
}

/*
 * No coordinator's log: the member's own timer ran out at 10:00:10, when no answer had come for 6 s, and others were told
 * of a rebalance at 10:00:18.
 */
static struct rebalance dated(struct story *st)
{
	struct group group = { .name = SV("g"), .session_timeout_ms = { .known = true, .value = 6000 } };
	struct rebalance r = { .trigger = TRIGGER_SESSION_TIMEOUT, .group = SV("g"), .member = SV("m1"),
			       .trigger_time = ref_at("10:00:10"), .span = { ref_at("10:00:18"), ref_at("10:00:20") } };
	struct rebalances all = { .items = &r, .count = 1 };
	struct clocks clocks = { 0 };

	assert_int_equal(heard_find(story_store(st), &clocks, &(struct groups){ &group, 1 }, st->arena, &all), 0);
	return r;
}

static void an_eviction_comes_a_session_after_what_was_heard_last(void **state)
{
	static const struct {
		const char *sent, *received, *answered, *evicted;
	} cases[] = {
		/* Heard before the timer ran out: the eviction was later than that. */
		{ "10:00:04", "10:00:08", "10:00:12", "10:00:14" },
		/* And heard after it. */
		{ "10:00:09", "10:00:11.5", "10:00:15", "10:00:17.5" },
		/* Heard so late that what others were told came of something else: nothing is known. */
		{ "10:00:09", "10:00:15", "10:00:19", "10:00:10" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();

		heartbeat(st, "c1", C1, "m1", "10:00:02", "10:00:02", "10:00:02.1", "0");
		heartbeat(st, "c1", C1, "m1", cases[i].sent, cases[i].received, cases[i].answered, "0");
		struct rebalance r = dated(st);
		assert_int_equal(r.has_last_heard, i < 2);
		assert_int_equal(r.evidence.count, i < 2);
		assert_int_equal(r.trigger_time.us, ref_at(cases[i].evicted).us);
		if (r.has_last_heard)
			assert_int_equal(r.last_heard.us, ref_at(cases[i].received).us);
		story_free(st);
	}
}

/* ---- clocks ---- */

/* A join of generation 4 that passed the capture of c1, and was answered, by c1's clock. */
static void join(struct story *st, const char *asked, const char *answered, const char *error)
{
	story_interval(st, EVENT_WIRE_JOINED, "c1", at(asked), at(answered), "path_a", C1, "path_b", BROKER, "group",
		       "g", "member", "m1", "client", "cl", "api", "JoinGroup", "generation", "4", "error", error, NULL);
}

/* The coordinator had all requests at 10:00:00.500; c1's clock is a second ahead, and a request takes 2 ms. */
static int64_t uncertainty_of_c1_us(const char *error, int64_t *offset_us)
{
	struct story *st = story_new();
	struct analysis_options options = analysis_options_default();
	struct clocks clocks;
	bool known;
	int64_t us;

	story_input(st, "c1/eth0.pcap", "capture", "c1");
	join(st, "10:00:01.499", "10:00:01.503", error);
	story_input(st, "broker-1/server.log", "log", "broker-1");
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "g", "generation", "4", NULL);
	assert_int_equal(clocks_find(story_store(st), &options, st->arena, &clocks), 0);
	us = clock_uncertainty_us(&clocks, SV("c1"), &known);
	*offset_us = at("10:00:01.501").us - clock_to_ref(&clocks, SV("c1"), at("10:00:01.501")).us;
	story_free(st);
	return known ? us : -1;
}

static void a_join_on_the_wire_encloses_a_clock(void **state)
{
	int64_t offset_us;

	(void)state;
	/* Asked before 0.501 at the latest, answered after 0.500: between 998 and 1003 ms, and a line may be a ms late. */
	assert_in_range(uncertainty_of_c1_us(NULL, &offset_us), 1, 4000);
	assert_in_range(offset_us, 998000, 1003000);
	/* One that was refused is of no generation. */
	assert_int_equal(uncertainty_of_c1_us("MEMBER_ID_REQUIRED", &offset_us), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heartbeat_that_did_not_arrive_opens_a_window),
		cmocka_unit_test(a_request_that_waits_on_lengthens_no_silence),
		cmocka_unit_test(what_the_coordinator_hears_is_the_silence_that_counts),
		cmocka_unit_test(numbers_left_out_are_a_blackout),
		cmocka_unit_test(a_fetch_that_waits_for_records_is_no_pause),
		cmocka_unit_test(a_window_knows_what_the_coordinator_heard),
		cmocka_unit_test(commits_told_together_are_heard_throughout),
		cmocka_unit_test(a_member_lives_where_its_address_is_at_home),
		cmocka_unit_test(the_last_that_was_heard_is_the_last_that_arrived),
		cmocka_unit_test(an_eviction_comes_a_session_after_what_was_heard_last),
		cmocka_unit_test(a_join_on_the_wire_encloses_a_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
