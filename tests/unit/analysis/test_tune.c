/* SPDX-License-Identifier: MIT */
/*
 * Durations with censoring, timeouts replayed, advice by cause, the dedupe TTL
 * (method.md 9). Structs of windows and rebalances are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/tune.h"
#include "story.h"

/* ---- survival ---- */

/* Weeks of remission under 6-MP (Freireich et al. 1963, 21 patients), the example of the textbooks. */
static void test_kaplan_meier(void **state)
{
	struct duration d[] = {
		{ 6, true },   { 6, false },  { 6, false }, { 6, false }, { 7, false }, { 9, true },   { 10, true },
		{ 10, false }, { 11, true },  { 13, false }, { 16, false }, { 17, true }, { 19, true }, { 20, true },
		{ 22, false }, { 23, false }, { 25, true }, { 32, true }, { 32, true }, { 34, true },  { 35, true },
	};
	struct silences s = survival_summary(d, 21);
	(void)state;

	assert_int_equal(s.n, 21);
	assert_int_equal(s.censored, 12);
	/* 18/21 x 16/17 x 14/15 x 11/12 x 10/11 x 6/7 = 0.538 after 22; x 5/6 = 0.448 after 23. */
	assert_true(s.p50.known);
	assert_int_equal(s.p50.ms, 23);
	/* It never falls to 0.1. */
	assert_false(s.p90.known);
	assert_false(s.p99.known);
	assert_int_equal(s.max_ms, 35);
}

/* Leaving the censored ones out would give 2, the middle of 1, 2 and 4. */
static void test_censored_count(void **state)
{
	struct duration d[] = { { 1, false }, { 2, false }, { 3, true }, { 3, true }, { 4, false } };
	struct quantile q = survival_quantile(d, 5, 0.5);
	(void)state;

	/* 4/5 after 1, 3/5 after 2, 0 after 4. */
	assert_true(q.known);
	assert_int_equal(q.ms, 4);
}

static void fill(struct duration *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d[i] = (struct duration){ (int64_t)(n - i), false };
}

/*
 * 1 to 10. Bin(10, 1/2): P(B <= 1) = 0.0107, P(B <= 2) = 0.0547, P(B <= 7) = 0.945, P(B <= 8) = 0.989: ranks 2 and 9.
 * Bin(10, 0.9): P(B <= 6) = 0.0128, P(B <= 7) = 0.0702; P(B <= 9) = 0.651: rank 7 and none.
 * Bin(10, 0.99): P(B <= 8) = 0.0043, P(B <= 9) = 0.0956: rank 9 and none.
 */
static void test_order_statistics(void **state)
{
	struct duration d[10];
	struct silences s;
	(void)state;

	fill(d, 10);
	s = survival_summary(d, 10);
	assert_int_equal(s.p50.ms, 5);
	assert_true(s.p50.has_low && s.p50.has_high);
	assert_int_equal(s.p50.low_ms, 2);
	assert_int_equal(s.p50.high_ms, 9);
	assert_int_equal(s.p90.ms, 9);
	assert_int_equal(s.p90.low_ms, 7);
	assert_false(s.p90.has_high);
	assert_int_equal(s.p99.ms, 10);
	assert_int_equal(s.p99.low_ms, 9);
	assert_false(s.p99.has_high);
	assert_true(s.supported_quantile > 0.899 && s.supported_quantile < 0.901);
}

/* 1000: the P99 has both limits. Bin(1000, 0.99) has mean 990, deviation 3.15: ranks near 990 -+ 6. */
static void test_many(void **state)
{
	struct duration *d = test_malloc(1000 * sizeof *d);
	struct silences s;
	(void)state;

	fill(d, 1000);
	s = survival_summary(d, 1000);
	assert_int_equal(s.p99.ms, 990);
	assert_true(s.p99.has_low && s.p99.has_high);
	assert_in_range(s.p99.low_ms, 981, 986);
	assert_in_range(s.p99.high_ms, 994, 998);
	test_free(d);
}

/* One supports no limit; one that was cut short supports no quantile. */
static void test_few(void **state)
{
	struct duration one[] = { { 5, false } }, cut[] = { { 5, true } };
	struct silences s = survival_summary(one, 1);
	(void)state;

	assert_true(s.p50.known);
	assert_int_equal(s.p50.ms, 5);
	assert_false(s.p50.has_low || s.p50.has_high);
	s = survival_summary(cut, 1);
	assert_false(s.p50.known);
	assert_true(s.has_max);
	s = survival_summary(cut, 0);
	assert_false(s.has_max);
	assert_true(s.supported_quantile < 0.5);
}

/* ---- a group and its evictions ---- */

struct scene {
	struct arena *arena;
	struct member member;
	struct group group;
	struct groups groups;
	struct windows windows;
	struct rebalances rebalances;
	struct share share;
	struct side_effects effects;
	struct idempotency idempotency;
	struct analysis_options options;
	struct duplicate duplicates[4];
	const struct window *behind[4];
	struct tuning found;
};

/* refunds: session 6 s, heartbeat 2 s, poll interval 15 s; one member, on consumer-1. */
static struct scene *scene_new(void)
{
	struct arena *arena = arena_new();
	struct scene *s = arena_alloc(arena, sizeof *s);

	s->arena = arena;
	s->member.host = SV("consumer-1");
	s->group = (struct group){ .name = SV("refunds"), .protocol = SV("classic"), .members = &s->member, .member_count = 1,
				   .coordinator = SV("broker-1:9092") };
	s->group.session_timeout_ms.known = s->group.heartbeat_interval_ms.known = s->group.max_poll_interval_ms.known = true;
	s->group.session_timeout_ms.value = 6000;
	s->group.heartbeat_interval_ms.value = 2000;
	s->group.max_poll_interval_ms.value = 15000;
	s->groups = (struct groups){ &s->group, 1 };
	s->options = analysis_options_default();
	s->windows.items = arena_array(arena, 8, sizeof *s->windows.items);
	s->rebalances.items = arena_array(arena, 8, sizeof *s->rebalances.items);
	s->effects.duplicates = s->duplicates;
	return s;
}

/* The path from consumer-1 silent from start to end, gone for the first outage_ms of it. */
static struct window *silence(struct scene *s, const char *start, const char *end, int64_t outage_ms)
{
	struct window *w = &s->windows.items[s->windows.count++];

	w->id = (unsigned)s->windows.count;
	w->kind = WINDOW_BLACKOUT;
	w->kinds = 1U << WINDOW_BLACKOUT;
	w->span = (struct span){ ref_at(start), ref_at(end) };
	w->outage = (struct span){ ref_at(start), { ref_at(start).us + outage_ms * US_PER_MS } };
	w->has_outage = true;
	w->host = w->caller = SV("consumer-1");
	w->path_a = SV("10.0.0.1");
	w->path_b = SV("10.0.0.9:9092");
	return w;
}

static struct rebalance *rebalance(struct scene *s, enum trigger trigger, const char *time)
{
	struct rebalance *r = &s->rebalances.items[s->rebalances.count++];

	r->id = r->root = (unsigned)s->rebalances.count;
	r->is_root = true;
	r->group = SV("refunds");
	r->trigger = trigger;
	r->trigger_time = ref_at(time);
	r->span = (struct span){ ref_at(time), { ref_at(time).us + 2 * US_PER_S } };
	r->host = SV("consumer-1");
	r->attribution = ATTRIBUTION_NOT_NETWORK;
	return r;
}

static struct rebalance *evicted(struct scene *s, const char *time, const struct window *w)
{
	struct rebalance *r = rebalance(s, TRIGGER_SESSION_TIMEOUT, time);

	r->attribution = ATTRIBUTION_EXPLAINED;
	if (w == NULL)
		return r;
	s->behind[s->rebalances.count - 1] = w;
	r->windows = &s->behind[s->rebalances.count - 1];
	r->window_count = 1;
	return r;
}

static void duplicate(struct scene *s, unsigned by, const char *step, int64_t amount)
{
	struct duplicate *d = &s->duplicates[s->effects.duplicate_count++];

	*d = (struct duplicate){ .id = (unsigned)s->effects.duplicate_count, .step = sv_of(step), .rebalance = by,
				 .has_amount = true, .amount_micros = amount, .currency = SV("CNY"), .effects = 2 };
}

static void find(struct scene *s)
{
	assert_int_equal(tune_find(&s->groups, &s->windows, &s->rebalances, &s->share, &s->effects, &s->idempotency, &s->options,
				   s->arena, &s->found),
			 0);
}

static void scene_free(struct scene *s)
{
	arena_free(s->arena);
}

static const struct candidate *candidate(const struct scene *s, int64_t ms)
{
	for (size_t i = 0; i < s->found.candidate_count; i++)
		if (s->found.candidates[i].session_timeout_ms == ms)
			return &s->found.candidates[i];
	return NULL;
}

static const struct advice *advice(const struct scene *s, const char *setting)
{
	for (size_t i = 0; i < s->found.advice_count; i++)
		if (sv_eq(s->found.advices[i].setting, sv_of(setting)))
			return &s->found.advices[i];
	return NULL;
}

static bool has_note(const struct scene *s, const char *part)
{
	size_t at;

	for (size_t i = 0; i < s->found.note_count; i++)
		if (sv_find(s->found.notes[i], sv_of(part), &at))
			return true;
	return false;
}

/*
 * Silences of 13 s and 25 s evicted, each with a rejoin; one of 3 s did not. With S = 20 s the first eviction, its rejoin
 * and the duplicate of the rejoin would not have been; P99 (here the longest) 25 s + H 2 s = 27 s avoids both.
 */
static void tell_two_evictions(struct scene *s)
{
	silence(s, "10:00:00", "10:00:13", 8000);
	silence(s, "10:05:00", "10:05:25", 15000);
	silence(s, "10:09:00", "10:09:03", 2000);
	evicted(s, "10:00:05", &s->windows.items[0]);
	rebalance(s, TRIGGER_MEMBER_REJOIN, "10:00:14");
	s->rebalances.items[1].root = 1;
	s->rebalances.items[1].is_root = false;
	evicted(s, "10:05:05", &s->windows.items[1]);
	duplicate(s, 2, "reversal", 1000000);
	duplicate(s, 3, "notice", 2000000);
	duplicate(s, 3, "reversal", 4000000);
}

static void test_candidates(void **state)
{
	struct scene *s = scene_new();
	const struct candidate *c;
	(void)state;

	tell_two_evictions(s);
	find(s);
	assert_true(sv_eq(s->found.group, SV("refunds")));
	assert_int_equal(s->found.durations.n, 3);
	assert_int_equal(s->found.durations.censored, 0);
	assert_int_equal(s->found.durations.max_ms, 25000);
	assert_int_equal(s->found.outages.max_ms, 15000);
	c = candidate(s, 6000);
	assert_true(c->is_current);
	assert_int_equal(c->evictions, 2);
	assert_int_equal(c->rebalances_avoided, 0);
	assert_int_equal(c->detection_ms, 6000);
	assert_int_equal(c->detection_mean_ms, 5000);
	c = candidate(s, 20000);
	assert_false(c->is_current);
	assert_int_equal(c->evictions, 1);
	assert_int_equal(c->rebalances_avoided, 2);
	assert_int_equal(c->duplicates_avoided, 1);
	assert_int_equal(c->amount_count, 1);
	assert_int_equal(c->amounts_avoided[0].micros, 1000000);
	c = candidate(s, 27000);
	assert_non_null(c);
	assert_int_equal(c->evictions, 0);
	assert_int_equal(c->rebalances_avoided, 3);
	assert_int_equal(c->duplicates_avoided, 3);
	/* notice before reversal, not added up */
	assert_int_equal(c->amount_count, 2);
	assert_int_equal(c->amounts_avoided[0].micros, 2000000);
	assert_int_equal(c->amounts_avoided[1].micros, 5000000);
	/* The ladder, and the advised one among it; the current is its first. */
	assert_int_equal(s->found.candidate_count, 8);
	for (size_t i = 1; i < s->found.candidate_count; i++)
		assert_true(s->found.candidates[i - 1].session_timeout_ms < s->found.candidates[i].session_timeout_ms);
	scene_free(s);
}

/* A shorter session would have evicted in the third silence too. */
static void test_users_candidates(void **state)
{
	static const int64_t mine[] = { 3000, 13000, 13001 };
	struct scene *s = scene_new();
	(void)state;

	tell_two_evictions(s);
	s->options.session_timeouts_ms = mine;
	s->options.session_timeout_count = 3;
	find(s);
	assert_int_equal(s->found.candidate_count, 5);
	assert_int_equal(candidate(s, 3000)->evictions, 3);
	/* A heartbeat of at most a third: 1000. */
	assert_int_equal(candidate(s, 3000)->detection_mean_ms, 2500);
	/* The coordinator heard nothing for 13 s: S of 13 s evicts, a little more does not. */
	assert_int_equal(candidate(s, 13000)->evictions, 2);
	assert_int_equal(candidate(s, 13001)->evictions, 1);
	scene_free(s);
}

static void test_session_advice(void **state)
{
	struct scene *s = scene_new();
	const struct advice *a;
	size_t at;
	(void)state;

	tell_two_evictions(s);
	find(s);
	a = advice(s, "session.timeout.ms");
	assert_non_null(a);
	assert_true(a->has_current);
	assert_int_equal(a->current, 6000);
	assert_int_equal(a->recommended, 27000);
	/* The figures that it rests on. */
	assert_true(sv_find(a->reason, SV("25.0 s"), &at));
	assert_true(sv_find(a->reason, SV("2 times"), &at));
	assert_true(sv_find(a->reason, SV("3 episodes"), &at));
	/* 2 s is at most a third of 27 s. */
	assert_null(advice(s, "heartbeat.interval.ms"));
	/* 41 s of silence, of which the path was gone for 25 s. */
	assert_true(has_note(s, "Of 41.0 s of silence (3 episodes) the path was gone for 25.0 s; the other 16.0 s (39 %)"));
	scene_free(s);
}

/* The twin: the same silences, and evictions that the network did not cause. */
static void test_no_advice_without_eviction_by_the_network(void **state)
{
	struct scene *s = scene_new();
	struct window pause = { .span = { ref_at("10:00:00"), ref_at("10:00:09") } };
	const struct window *pauses[] = { &pause };
	(void)state;

	tell_two_evictions(s);
	for (size_t i = 0; i < s->rebalances.count; i++)
		s->rebalances.items[i].attribution = ATTRIBUTION_NOT_NETWORK;
	s->rebalances.items[0].pauses = pauses;
	s->rebalances.items[0].pause_count = 1;
	find(s);
	assert_int_equal(s->found.advice_count, 0);
	assert_true(has_note(s, "session.timeout.ms: no advice"));
	assert_true(has_note(s, "pause of the process or the broker, up to 9.0 s long: 1."));
	assert_int_equal(candidate(s, 20000)->rebalances_avoided, 0);
	scene_free(s);
}

/* With KIP-848 both are settings of the group on the broker, 45 s and 5 s by default. */
static void test_consumer_protocol(void **state)
{
	struct scene *s = scene_new();
	size_t at;
	(void)state;

	silence(s, "10:00:00", "10:01:00", 40000);
	evicted(s, "10:00:44", &s->windows.items[0]);
	s->group.protocol = SV("consumer");
	s->group.session_timeout_ms.known = s->group.heartbeat_interval_ms.known = false; /* the broker's log is not there */
	find(s);
	assert_null(advice(s, "session.timeout.ms"));
	assert_non_null(advice(s, "consumer.session.timeout.ms"));
	assert_int_equal(advice(s, "consumer.session.timeout.ms")->current, 45000);
	assert_int_equal(advice(s, "consumer.session.timeout.ms")->recommended, 65000);
	assert_true(sv_find(advice(s, "consumer.session.timeout.ms")->reason, SV("group.consumer.max.session.timeout.ms"), &at));
	scene_free(s);
}

static void test_heartbeat_advice(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	silence(s, "10:00:00", "10:00:07", 3000);
	evicted(s, "10:00:05", &s->windows.items[0]);
	s->group.heartbeat_interval_ms.value = 5000;
	find(s);
	/* 7 s + 5 s = 12 s, a third of which is 4 s. */
	assert_int_equal(advice(s, "session.timeout.ms")->recommended, 12000);
	assert_int_equal(advice(s, "heartbeat.interval.ms")->current, 5000);
	assert_int_equal(advice(s, "heartbeat.interval.ms")->recommended, 4000);
	scene_free(s);
}

/* The broker's capture shows the same silence: one episode. Another host's path, and a database's, are none. */
static void test_one_silence_seen_twice(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	silence(s, "10:00:00", "10:00:13", 8000);
	silence(s, "10:00:00.010", "10:00:13.500", 8000)->host = SV("broker-1");
	silence(s, "10:03:00", "10:03:50", 8000)->caller = SV("producer-1");
	silence(s, "10:06:00", "10:06:50", 8000)->path_b = SV("10.0.0.8:5432");
	evicted(s, "10:00:05", &s->windows.items[0]);
	find(s);
	assert_int_equal(s->found.durations.n, 1);
	assert_int_equal(s->found.durations.max_ms, 13490);
	assert_int_equal(candidate(s, 10000)->evictions, 1);
	assert_int_equal(candidate(s, 15000)->rebalances_avoided, 1);
	scene_free(s);
}

/* Counters alone saw the network fail: the silence lasted at least the session timeout, and nothing says how long. */
static void test_eviction_without_capture_is_censored(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	evicted(s, "10:00:05", NULL);
	find(s);
	assert_int_equal(s->found.durations.n, 1);
	assert_int_equal(s->found.durations.censored, 1);
	assert_int_equal(s->found.durations.max_ms, 6000);
	assert_int_equal(s->found.outages.n, 0);
	/* So no candidate is known to avoid it. */
	assert_int_equal(candidate(s, 60000)->evictions, 1);
	assert_int_equal(candidate(s, 60000)->rebalances_avoided, 0);
	scene_free(s);
}

static void attempt_at(struct attempt *t, const char *time, const char *consumer)
{
	*t = (struct attempt){ .time = ref_at(time), .consumer = sv_of(consumer) };
}

/* Given up 15 s after its last poll; its next step comes 4 s later: at least 19 s, and a fifth on top is 22.8 s. */
static void test_poll_advice(void **state)
{
	struct scene *s = scene_new();
	struct attempt attempts[3];
	(void)state;

	attempt_at(&attempts[0], "10:00:01", "consumer-1");
	attempt_at(&attempts[1], "10:00:16", "consumer-2");
	attempt_at(&attempts[2], "10:00:19", "consumer-1");
	s->effects.attempts = attempts;
	s->effects.attempt_count = 3;
	rebalance(s, TRIGGER_POLL_TIMEOUT, "10:00:15");
	find(s);
	assert_non_null(advice(s, "max.poll.interval.ms"));
	assert_int_equal(advice(s, "max.poll.interval.ms")->current, 15000);
	assert_int_equal(advice(s, "max.poll.interval.ms")->recommended, 23000);
	assert_null(advice(s, "session.timeout.ms"));
	scene_free(s);
}

/* The twin: the consumer shows no step afterwards, so nothing tells how long it took. */
static void test_poll_overrun_of_unknown_length(void **state)
{
	struct scene *s = scene_new();
	struct attempt attempts[2];
	(void)state;

	attempt_at(&attempts[0], "10:00:01", "consumer-1");
	attempt_at(&attempts[1], "10:00:40", "consumer-1");
	s->effects.attempts = attempts;
	s->effects.attempt_count = 2;
	rebalance(s, TRIGGER_POLL_TIMEOUT, "10:00:15");
	find(s);
	assert_int_equal(s->found.advice_count, 0);
	assert_true(has_note(s, "time-between-poll-max"));
	scene_free(s);
}

static void test_ordinary_rebalances_speak_for_nothing(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, TRIGGER_MEMBER_LEAVE, "10:00:00");
	rebalance(s, TRIGGER_MEMBER_JOIN, "10:00:10");
	find(s);
	assert_int_equal(s->found.advice_count, 0);
	assert_true(has_note(s, "joins, leaves or changes of topics: 2."));
	scene_free(s);
}

/* ---- the dedupe TTL ---- */

/* 15 s + 6 s + a rebalance of 2 s = 23 s, and a fifth of it, in whole seconds: 28 s. */
static void test_ttl_by_kafka_bound(void **state)
{
	struct scene *s = scene_new();
	size_t at;
	(void)state;

	rebalance(s, TRIGGER_MEMBER_JOIN, "10:00:00");
	find(s);
	assert_true(s->found.ttl.known);
	assert_int_equal(s->found.ttl.redelivery_seen_us, 0);
	assert_int_equal(s->found.ttl.redelivery_bound_us, 23 * US_PER_S);
	assert_int_equal(s->found.ttl.margin_us, 5 * US_PER_S);
	assert_int_equal(s->found.ttl.recommended_us, 28 * US_PER_S);
	assert_false(s->found.ttl.has_reconciliation);
	assert_true(sv_find(s->found.ttl.reason, SV("reconciliation not given"), &at));
	assert_true(sv_find(s->found.ttl.reason, SV("holds for redelivery alone"), &at));
	scene_free(s);
}

/* The domain's figures: 30 days of reconciliation rule; confirmation after 3. */
static void test_ttl_by_reconciliation(void **state)
{
	struct scene *s = scene_new();
	const int64_t day = 86400 * US_PER_S;
	struct redelivery redelivery = { .longest_gap_us = 40 * US_PER_S };
	size_t at;
	(void)state;

	rebalance(s, TRIGGER_MEMBER_JOIN, "10:00:00");
	s->effects.redeliveries = &redelivery;
	s->effects.redelivery_count = 1;
	s->options.has_reconciliation = s->options.has_confirmation = true;
	s->options.reconciliation_us = 30 * day;
	s->options.confirmation_us = 3 * day;
	find(s);
	assert_int_equal(s->found.ttl.redelivery_seen_us, 40 * US_PER_S);
	assert_int_equal(s->found.ttl.margin_us, 6 * day);
	assert_int_equal(s->found.ttl.recommended_us, 36 * day);
	assert_false(sv_find(s->found.ttl.reason, SV("redelivery alone"), &at));
	scene_free(s);
}

/* 30 intents in 10 minutes are 4320 a day. */
static void test_ttl_storage(void **state)
{
	struct scene *s = scene_new();
	struct attempt attempts[2];
	(void)state;

	attempt_at(&attempts[0], "10:00:00", "consumer-1");
	attempt_at(&attempts[1], "10:10:00", "consumer-1");
	s->effects.attempts = attempts;
	s->effects.attempt_count = s->effects.records = 2;
	s->effects.intents = 30;
	find(s);
	assert_true(s->found.ttl.has_storage);
	assert_int_equal(s->found.ttl.records_per_day, 4320);
	scene_free(s);
}

static void test_nothing(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	s->groups.count = 0;
	find(s);
	assert_int_equal(s->found.candidate_count, 0);
	assert_int_equal(s->found.advice_count, 0);
	assert_false(s->found.ttl.known);
	assert_false(s->found.durations.has_max);
	scene_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kaplan_meier),
		cmocka_unit_test(test_censored_count),
		cmocka_unit_test(test_order_statistics),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_users_candidates),
		cmocka_unit_test(test_session_advice),
		cmocka_unit_test(test_no_advice_without_eviction_by_the_network),
		cmocka_unit_test(test_consumer_protocol),
		cmocka_unit_test(test_heartbeat_advice),
		cmocka_unit_test(test_one_silence_seen_twice),
		cmocka_unit_test(test_eviction_without_capture_is_censored),
		cmocka_unit_test(test_poll_advice),
		cmocka_unit_test(test_poll_overrun_of_unknown_length),
		cmocka_unit_test(test_ordinary_rebalances_speak_for_nothing),
		cmocka_unit_test(test_ttl_by_kafka_bound),
		cmocka_unit_test(test_ttl_by_reconciliation),
		cmocka_unit_test(test_ttl_storage),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
