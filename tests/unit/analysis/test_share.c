/* SPDX-License-Identifier: MIT */
/*
 * Attribution and verdict, over windows and rebalances told by hand: a group
 * with a session timeout of 30 s, heartbeats every 3 s, so that a rebalance is
 * lagged from an overlap of 3 s and explained when at most 6 s are uncovered.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/share.h"
#include "story.h"

struct scene {
	struct arena *arena;
	struct group group;
	struct groups groups;
	struct clocks clocks;
	struct windows windows;
	struct rebalances rebalances;
	struct analysis_options options;
	struct share share;
};

/* ---- telling ---- */

static struct scene *scene_new(void)
{
	struct arena *a = arena_new();
	struct scene *s = arena_alloc(a, sizeof *s);

	s->arena = a;
	s->group = (struct group){ .name = SV("g"),
				   .session_timeout_ms = { .known = true, .value = 30000 },
				   .heartbeat_interval_ms = { .known = true, .value = 3000 } };
	s->groups = (struct groups){ &s->group, 1 };
	s->options = analysis_options_default();
	return s;
}

static void covered(struct scene *s, const char *host, const char *kind, const char *start, const char *end)
{
	struct coverage *c = ARENA_PUSH(s->arena, s->windows.coverage, s->windows.coverage_count, s->windows.coverage_capacity);

	c->host = sv_of(host);
	c->kind = sv_of(kind);
	c->span = (struct span){ ref_at(start), ref_at(end) };
}

/* With a capture on app-1 and app-2 from 09:00 to 11:00. */
static struct scene *scene_captured(void)
{
	struct scene *s = scene_new();

	covered(s, "app-1", "capture", "09:00:00", "11:00:00");
	covered(s, "app-2", "capture", "09:00:00", "11:00:00");
	return s;
}

static struct window *window(struct scene *s, enum window_kind kind, const char *host, const char *start, const char *end)
{
	struct window *w = ARENA_PUSH(s->arena, s->windows.items, s->windows.count, s->windows.capacity);

	w->id = (unsigned)s->windows.count;
	w->kind = kind;
	w->kinds = 1u << kind;
	w->span = w->outage = (struct span){ ref_at(start), ref_at(end) };
	w->host = sv_of(host);
	return w;
}

static struct rebalance *rebalance(struct scene *s, enum trigger trigger, const char *host, const char *time)
{
	struct rebalance *r = ARENA_PUSH(s->arena, s->rebalances.items, s->rebalances.count, s->rebalances.capacity);

	r->id = r->root = (unsigned)s->rebalances.count;
	r->is_root = true;
	r->group = SV("g");
	r->trigger = trigger;
	r->triggers = 1u << trigger;
	r->trigger_strength = STRENGTH_PROVES;
	r->trigger_time = ref_at(time);
	r->trigger_clock = SV("broker-1");
	r->broker_host = SV("broker-1");
	r->host = sv_of(host);
	r->span = (struct span){ r->trigger_time, r->trigger_time };
	return r;
}

static struct rebalance *eviction(struct scene *s, const char *host, const char *time)
{
	return rebalance(s, TRIGGER_SESSION_TIMEOUT, host, time);
}

static const struct rebalance *find(struct scene *s)
{
	assert_int_equal(share_find(&s->clocks, &s->groups, &s->windows, &s->options, s->arena, &s->rebalances, &s->share), 0);
	return s->rebalances.items;
}

static void assert_attribution(const struct rebalance *r, enum attribution should)
{
	if (r->attribution != should)
		fail_msg("R%u is %s, should be %s: %.*s", r->id, attribution_name(r->attribution), attribution_name(should),
			 SV_ARG(r->attribution_note));
}

static void assert_says(struct sv text, const char *words)
{
	size_t at;

	if (!sv_find(text, sv_of(words), &at))
		fail_msg("\"%.*s\" does not say \"%s\"", SV_ARG(text), words);
}

static void assert_near(double is, double should)
{
	if (fabs(is - should) > 0.00005)
		fail_msg("is %.6f, should be %.4f", is, should);
}

static void scene_free(struct scene *s)
{
	arena_free(s->arena);
}

/* ---- jitter ---- */

static void test_a_blackout_that_leaves_no_heartbeat(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	const struct rebalance *r = find(s);
	assert_true(r->has_exposure);
	assert_int_equal(r->exposure.start.us, at("10:00:02").us);
	assert_int_equal(r->exposure.end.us, at("10:00:32").us);
	assert_true(r->observed);
	assert_true(r->contained);
	assert_true(r->lagged);
	assert_true(r->explained);
	assert_attribution(r, ATTRIBUTION_EXPLAINED);
	assert_int_equal(r->overlap_us, 30 * US_PER_S);
	assert_int_equal(r->window_count, 1);
	assert_int_equal(r->windows[0]->id, 1);
	assert_int_equal(r->pause_count, 0);
	scene_free(s);
}

/* The plain rule misses it: the coordinator acts a session timeout after the last heartbeat. */
static void test_an_eviction_after_the_jitter_had_ended(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:20");
	eviction(s, "app-1", "10:00:29");
	const struct rebalance *r = find(s);
	assert_false(r->contained);
	assert_true(r->lagged);
	/* 9 s after it and 1 s before are uncovered. */
	assert_false(r->explained);
	assert_attribution(r, ATTRIBUTION_LAGGED);
	assert_int_equal(s->share.jitter.contained.count, 0);
	assert_int_equal(s->share.jitter.lagged.count, 1);
	assert_says(s->share.contained_note, "finds 0 of 1 inside jitter windows and the lagged one 1: 1 came after the jitter had ended");
	scene_free(s);
}

/* TCP came back 11 s after the path did: the eviction lies in the silence, and after what a watch on the network shows. */
static void test_an_eviction_in_the_backoff_is_not_contained(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	struct window *w = window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	w->outage = (struct span){ ref_at("10:00:02"), ref_at("10:00:29") };
	w->has_outage = true;
	eviction(s, "app-1", "10:00:30");
	eviction(s, "app-1", "10:00:28");
	const struct rebalance *r = find(s);
	assert_false(r[0].contained);
	assert_true(r[0].explained);
	assert_true(r[1].contained);
	scene_free(s);
}

/* Its twins: over before the exposure began; within it, but for less than a heartbeat; and for just so long. */
static void test_how_much_jitter_it_takes(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_LOSS, "app-1", "10:00:00", "10:00:20");
	eviction(s, "app-1", "10:00:51");
	eviction(s, "app-1", "10:00:47.1");
	eviction(s, "app-1", "10:00:47");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_NONE);
	assert_int_equal(r[0].overlap_us, 0);
	assert_int_equal(r[0].window_count, 0);
	assert_attribution(&r[1], ATTRIBUTION_NONE);
	assert_int_equal(r[1].overlap_us, 2900 * US_PER_MS);
	assert_attribution(&r[2], ATTRIBUTION_LAGGED);
	assert_int_equal(r[2].overlap_us, 3 * US_PER_S);
	scene_free(s);
}

/* Six seconds may be uncovered, two heartbeat intervals, and not more. */
static void test_what_explains(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:24");
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:23.9");
	eviction(s, "app-1", "10:00:30");
	eviction(s, "app-2", "10:00:30");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_EXPLAINED);
	assert_attribution(&r[1], ATTRIBUTION_LAGGED);
	scene_free(s);
}

/* A rebalance or a load had restarted its timer in between: jitter before that is none of its business. */
static void test_a_restarted_timer_cuts_the_exposure(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:10");
	struct rebalance *e = eviction(s, "app-1", "10:00:35");
	e->has_timer_reset = true;
	e->timer_reset = ref_at("10:00:08");
	const struct rebalance *r = find(s);
	assert_int_equal(r->exposure.start.us, at("10:00:08").us);
	assert_attribution(r, ATTRIBUTION_NONE);
	scene_free(s);
}

static void test_a_short_outage_is_implausible(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	/* Losses alone need (30 - 3 - 0.2) / 2 = 13.4 s. */
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:10", "10:00:23.3");
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:10", "10:00:23.5");
	eviction(s, "app-1", "10:00:30");
	eviction(s, "app-2", "10:00:30");
	const struct rebalance *r = find(s);
	size_t at_byte;
	assert_attribution(&r[0], ATTRIBUTION_LAGGED);
	assert_says(r[0].attribution_note, "implausible");
	assert_says(r[0].attribution_note, "13.4 s");
	assert_false(sv_find(r[1].attribution_note, SV("implausible"), &at_byte));
	scene_free(s);
}

/* ---- whose jitter ---- */

static void test_anothers_jitter_does_not_count(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_NONE);
	assert_false(r->contained);
	assert_int_equal(r->window_count, 0);
	scene_free(s);
}

/* Unless the evidence cannot tell hosts apart, and then it is said. */
static void test_jitter_of_nobody_knows_whom_counts(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, NULL, "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_EXPLAINED);
	assert_says(r->attribution_note, "cannot tell on whose path");
	scene_free(s);
}

/* On the coordinator's own host jitter is everybody's. */
static void test_jitter_at_the_broker_counts(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_SOFTNET, "broker-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	eviction(s, "app-2", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_EXPLAINED);
	assert_attribution(&r[1], ATTRIBUTION_EXPLAINED);
	scene_free(s);
}

/* A capture at the broker sees all paths; the address tells whose. */
static void test_a_path_seen_at_the_broker(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	covered(s, "broker-1", "capture", "09:00:00", "11:00:00");
	struct window *w = window(s, WINDOW_BLACKOUT, "broker-1", "10:00:00", "10:00:40");
	w->path_a = SV("10.77.1.10");
	w->path_b = SV("10.77.0.10:9092");
	w->seen_elsewhere = true;
	eviction(s, "app-1", "10:00:32")->peer = SV("10.77.1.10");
	eviction(s, "app-2", "10:00:32")->peer = SV("10.77.2.10");
	const struct rebalance *r = find(s);
	assert_true(r[0].observed);
	assert_attribution(&r[0], ATTRIBUTION_EXPLAINED);
	assert_attribution(&r[1], ATTRIBUTION_NONE);
	scene_free(s);
}

/* The path to a database is not the path to the coordinator. */
static void test_jitter_to_another_service_does_not_count(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	s->group.coordinator = SV("broker-1:9092");
	struct window *w = window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	w->path_a = SV("10.77.1.10");
	w->path_b = SV("10.77.0.99:5432");
	w = window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:40");
	w->path_a = SV("10.77.2.10");
	w->path_b = SV("10.77.0.10:9092");
	eviction(s, "app-1", "10:00:32");
	eviction(s, "app-2", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_NONE);
	assert_attribution(&r[1], ATTRIBUTION_EXPLAINED);
	scene_free(s);
}

/* ---- what was not seen ---- */

static void test_without_coverage_nothing_is_concluded(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	covered(s, "app-1", "capture", "10:10:00", "11:00:00");
	eviction(s, "app-1", "10:00:32");
	/* The evidence begins 6 s after the exposure of the second, and 6.1 s after that of the third. */
	eviction(s, "app-1", "10:10:24");
	eviction(s, "app-1", "10:10:23.9");
	eviction(s, "app-2", "10:30:00");
	rebalance(s, TRIGGER_MEMBER_LEAVE, "app-1", "10:00:00");
	rebalance(s, TRIGGER_MEMBER_LEAVE, "app-1", "10:30:00");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_UNOBSERVED);
	assert_attribution(&r[1], ATTRIBUTION_NONE);
	assert_attribution(&r[2], ATTRIBUTION_UNOBSERVED);
	assert_attribution(&r[3], ATTRIBUTION_UNOBSERVED);
	assert_attribution(&r[4], ATTRIBUTION_UNOBSERVED);
	assert_attribution(&r[5], ATTRIBUTION_NOT_NETWORK);
	assert_int_equal(s->share.rebalances, 6);
	assert_int_equal(s->share.roots, 6);
	assert_int_equal(s->share.observed, 2);
	assert_int_equal(s->share.jitter.lagged.total, 2);
	scene_free(s);
}

/* ---- pauses ---- */

static void test_a_pause_is_not_the_network(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_PROCESS_PAUSE, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_NOT_NETWORK);
	assert_false(r->lagged);
	assert_false(r->contained);
	assert_int_equal(r->pause_overlap_us, 30 * US_PER_S);
	assert_int_equal(r->pause_count, 1);
	assert_int_equal(r->window_count, 0);
	assert_int_equal(s->share.pauses.lagged.count, 1);
	assert_int_equal(s->share.pauses.explained.count, 1);
	assert_int_equal(s->share.pauses.contained.count, 1);
	assert_int_equal(s->share.jitter.lagged.count, 0);
	scene_free(s);
}

static void test_a_pause_and_jitter_at_once(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_PROCESS_PAUSE, "app-1", "10:00:00", "10:00:12");
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:14", "10:00:26");
	eviction(s, "app-1", "10:00:30");
	/* Jitter explains it alone. */
	window(s, WINDOW_PROCESS_PAUSE, "app-1", "10:10:00", "10:10:10");
	window(s, WINDOW_BLACKOUT, "app-1", "10:10:00", "10:10:28");
	eviction(s, "app-1", "10:10:30");
	/* The pause does. */
	window(s, WINDOW_PROCESS_PAUSE, "app-1", "10:20:00", "10:20:28");
	window(s, WINDOW_BLACKOUT, "app-1", "10:20:00", "10:20:10");
	eviction(s, "app-1", "10:20:30");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_AMBIGUOUS);
	assert_says(r[0].attribution_note, "jitter covers 12.0 s and a pause");
	assert_int_equal(r[0].window_count, 1);
	assert_int_equal(r[0].pause_count, 1);
	assert_attribution(&r[1], ATTRIBUTION_EXPLAINED);
	assert_attribution(&r[2], ATTRIBUTION_NOT_NETWORK);
	assert_false(r[2].lagged);
	scene_free(s);
}

/* ---- other triggers ---- */

/* app-2's capture shows that the broker stood still: it did so for app-1 as well, which is seen to call the same address. */
static void test_a_broker_that_stands_still_does_so_for_all(void **state)
{
	static const struct {
		const char *called;
		enum window_kind kind;
		enum attribution attribution;
		size_t pauses;
	} cases[] = {
		{ "10.77.0.10:9092", WINDOW_SERVER_PAUSE, ATTRIBUTION_AMBIGUOUS, 1 },
		/* Another broker; and another's process. */
		{ "10.77.0.11:9092", WINDOW_SERVER_PAUSE, ATTRIBUTION_EXPLAINED, 0 },
		{ "10.77.0.10:9092", WINDOW_PROCESS_PAUSE, ATTRIBUTION_EXPLAINED, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct scene *s = scene_captured();
		struct window *own = window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
		own->path_a = SV("10.77.1.10");
		own->path_b = SV("10.77.0.10:9092");
		own->caller = SV("app-1");
		struct window *pause = window(s, cases[i].kind, "app-2", "10:00:01", "10:00:35");
		pause->path_a = SV("10.77.2.10");
		pause->path_b = sv_of(cases[i].called);
		pause->caller = SV("app-2");
		eviction(s, "app-1", "10:00:32");
		const struct rebalance *r = find(s);
		assert_attribution(r, cases[i].attribution);
		assert_int_equal(r->pause_count, cases[i].pauses);
		scene_free(s);
	}
}

static void test_a_deploy_during_jitter(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_LOSS, "app-1", "10:00:00", "10:05:00");
	rebalance(s, TRIGGER_MEMBER_LEAVE, "app-1", "10:00:30");
	rebalance(s, TRIGGER_MEMBER_JOIN, "app-1", "10:00:40");
	const struct rebalance *r = find(s);
	for (size_t i = 0; i < 2; i++) {
		assert_true(r[i].contained);
		assert_false(r[i].lagged);
		assert_false(r[i].has_exposure);
		assert_attribution(&r[i], ATTRIBUTION_NOT_NETWORK);
	}
	assert_int_equal(s->share.jitter.contained.count, 2);
	assert_int_equal(s->share.jitter.lagged.count, 0);
	assert_says(s->share.contained_note, "2 fell into jitter that did not cause them");
	scene_free(s);
}

static void test_a_process_that_had_ended(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32")->fate = FATE_GONE;
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_NOT_NETWORK);
	assert_false(r->lagged);
	scene_free(s);
}

/* A handler's overrun is the network's doing only if the network was away for a good part of the poll interval. */
static void test_a_poll_timeout(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	s->group.max_poll_interval_ms = (struct setting){ .known = true, .value = 60000 };
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:29");
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:31");
	rebalance(s, TRIGGER_POLL_TIMEOUT, "app-1", "10:01:00");
	rebalance(s, TRIGGER_POLL_TIMEOUT, "app-2", "10:01:00");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_NOT_NETWORK);
	assert_false(r[0].has_exposure);
	assert_says(r[0].attribution_note, "waited on the network");
	assert_attribution(&r[1], ATTRIBUTION_LAGGED);
	assert_int_equal(r[1].exposure.start.us, at("10:00:00").us);
	scene_free(s);
}

/* The request timeout where it is longer than the session; and only where clients lost the connection. */
static void test_a_coordinator_that_clients_lost(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	s->group.request_timeout_ms = (struct setting){ .known = true, .value = 40000 };
	rebalance(s, TRIGGER_COORDINATOR_CHANGE, "app-1", "10:01:00")->by_disconnect = true;
	rebalance(s, TRIGGER_COORDINATOR_CHANGE, "app-1", "10:01:00");
	rebalance(s, TRIGGER_MEMBER_FENCED, "app-1", "10:01:00");
	const struct rebalance *r = find(s);
	assert_int_equal(r[0].exposure.start.us, at("10:00:20").us);
	assert_attribution(&r[1], ATTRIBUTION_NOT_NETWORK);
	assert_int_equal(r[2].exposure.start.us, at("10:00:20").us);
	scene_free(s);
}

static void test_nobody_knows_why(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	rebalance(s, TRIGGER_UNKNOWN, "app-1", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_NONE);
	assert_true(r->contained);
	scene_free(s);
}

static struct member *member(struct scene *s, const char *client, const char *host)
{
	struct member *m = ARENA_PUSH(s->arena, s->group.members, s->group.member_count, s->group.member_capacity);

	m->member_id = m->client_id = sv_of(client);
	m->host = sv_of(host);
	return m;
}

/* Logs tell who lives on app-1 and app-2, and it is neither: of its own host there is no evidence. */
/* A kernel's log tells of jitter, and its silence of nothing: what it shows is attributed, and not counted. */
static void test_a_window_that_nothing_covers_is_attributed_and_not_counted(void **state)
{
	struct scene *s = scene_new();
	const struct rebalance *r;

	(void)state;
	covered(s, "app-1", "log", "09:00:00", "11:00:00");
	window(s, WINDOW_LINK, "app-1", "10:00:02", "10:00:28");
	window(s, WINDOW_PROCESS_PAUSE, "app-1", "10:20:05", "10:20:20");
	window(s, WINDOW_LINK, "app-1", "10:10:05", "10:10:06");
	eviction(s, "app-1", "10:00:30");
	eviction(s, "app-1", "10:10:30");
	eviction(s, "app-2", "10:00:30");
	eviction(s, "app-1", "10:20:30");
	r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_EXPLAINED);
	assert_true(r[0].observed);
	assert_false(r[0].counted);
	assert_says(r[0].attribution_note, "Jitter covers 26.0 s of the 30.0 s before it. Quiet would not have been seen");
	for (size_t i = 1; i < 4; i++) {
		assert_attribution(&r[i], ATTRIBUTION_UNOBSERVED);
		assert_false(r[i].observed || r[i].counted);
		assert_says(r[i].attribution_note, "No jitter evidence covers the time before it");
	}
	/* A pause is no evidence of jitter, and is told all the same. */
	assert_says(r[3].attribution_note, "jitter is told of for 0.0 s, and a pause of the process or the broker for 15.0 s");
	/* Too little to have caused it: then nothing is known. */
	assert_says(r[1].attribution_note, "jitter is told of for 1.0 s, and a pause");
	assert_int_equal(s->share.observed, 0);
	assert_int_equal(s->share.verdict, VERDICT_INSUFFICIENT);
	arena_free(s->arena);
}

static void test_a_member_on_none_of_the_hosts_is_unobserved(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	member(s, "c-1", "app-1");
	member(s, "c-2", "app-2");
	eviction(s, NULL, "10:00:32")->client = SV("c-3");
	rebalance(s, TRIGGER_UNKNOWN, NULL, "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_UNOBSERVED);
	assert_attribution(&r[1], ATTRIBUTION_UNOBSERVED);
	assert_int_equal(s->share.observed, 0);
	scene_free(s);

	/* Nothing tells who lives on app-2: it may be there, and had no jitter. */
	s = scene_captured();
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	member(s, "c-1", "app-1");
	eviction(s, NULL, "10:00:32")->client = SV("c-3");
	r = find(s);
	assert_attribution(r, ATTRIBUTION_NONE);
	scene_free(s);

	/* Client ids may be the same everywhere: then it may be on either. */
	s = scene_captured();
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	member(s, "c", "app-1");
	member(s, "c", "app-2");
	eviction(s, NULL, "10:00:32")->client = SV("c");
	r = find(s);
	assert_attribution(r, ATTRIBUTION_EXPLAINED);
	assert_says(r->attribution_note, "cannot tell on whose path");
	scene_free(s);
}

/* Alive and cut off, and a capture alone shows nothing: what its host could not send it does not show. */
static void test_what_one_kind_of_evidence_does_not_show_is_open(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	eviction(s, "app-1", "10:00:32")->fate = FATE_WRONGLY_EVICTED;
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_AMBIGUOUS);
	assert_says(r->attribution_note, "alive and cut off");
	assert_false(r->lagged);
	assert_near(s->share.jitter.low, 0);
	assert_near(s->share.jitter.high, 1);
	assert_near(s->share.jitter.high_by_clocks, 0);
	scene_free(s);

	/* With the counters of its host nothing is left where it could hide. */
	s = scene_captured();
	covered(s, "app-1", "netstat", "09:00:00", "11:00:00");
	eviction(s, "app-1", "10:00:32")->fate = FATE_WRONGLY_EVICTED;
	r = find(s);
	assert_attribution(r, ATTRIBUTION_NONE);
	assert_near(s->share.jitter.high, 0);
	scene_free(s);

	/* Nobody says that it was alive. */
	s = scene_captured();
	eviction(s, "app-1", "10:00:32")->fate = FATE_UNKNOWN;
	r = find(s);
	assert_attribution(r, ATTRIBUTION_NONE);
	scene_free(s);
}

/* How long the silence had to last is said with what it is known from. */
static void test_what_the_exposure_rests_on(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	struct rebalance *after_reset = eviction(s, "app-1", "10:00:32");
	after_reset->has_timer_reset = true;
	after_reset->timer_reset = ref_at("10:00:05");
	const struct rebalance *r = find(s);
	assert_string_equal(r[0].exposure_basis, "setting");
	assert_string_equal(r[1].exposure_basis, "timer reset");
	s->group.session_timeout_ms.known = false;
	r = find(s);
	assert_string_equal(r[0].exposure_basis, "default");
	assert_int_equal(r[0].exposure.start.us, at("09:59:47").us);
	assert_says(r[0].attribution_note, "Kafka's default is taken");
	scene_free(s);
}

static void test_what_follows_has_its_roots_attribution(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	struct rebalance *back = rebalance(s, TRIGGER_MEMBER_REJOIN, "app-1", "10:00:50");
	back->is_root = false;
	back->root = 1;
	const struct rebalance *r = find(s);
	assert_true(r[1].lagged);
	assert_true(r[1].explained);
	assert_false(r[1].contained);
	assert_attribution(&r[1], ATTRIBUTION_EXPLAINED);
	assert_int_equal(r[1].exposure.start.us, r[0].exposure.start.us);
	assert_ptr_equal(r[1].windows, r[0].windows);
	assert_says(r[1].attribution_note, "follows from R1");
	assert_int_equal(s->share.rebalances, 2);
	assert_int_equal(s->share.roots, 1);
	assert_int_equal(s->share.jitter.lagged.total, 1);
	assert_int_equal(s->share.jitter.lagged_all.count, 2);
	assert_int_equal(s->share.jitter.lagged_all.total, 2);
	scene_free(s);
}

static void test_a_stalled_broker(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	eviction(s, "app-1", "10:00:32")->broker_stalled = true;
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:40");
	eviction(s, "app-2", "10:00:32")->broker_stalled = true;
	const struct rebalance *r = find(s);
	assert_attribution(&r[0], ATTRIBUTION_NOT_NETWORK);
	assert_says(r[0].attribution_note, "broker stalled");
	assert_attribution(&r[1], ATTRIBUTION_AMBIGUOUS);
	scene_free(s);
}

/* ---- clocks ---- */

/* app-1's clock is known to within 5 s, app-2's not at all. */
static void tell_clocks(struct scene *s)
{
	struct host_clock *hosts = arena_array(s->arena, 3, sizeof *hosts);

	hosts[0] = (struct host_clock){ .host = SV("app-1"), .method = CLOCK_LINKS, .has_uncertainty = true,
					.uncertainty_us = 5 * US_PER_S };
	hosts[1] = (struct host_clock){ .host = SV("app-2"), .method = CLOCK_ASSUMED };
	hosts[2] = (struct host_clock){ .host = SV("broker-1"), .method = CLOCK_REFERENCE, .has_uncertainty = true };
	s->clocks = (struct clocks){ .reference = SV("broker-1"), .hosts = hosts, .count = 3 };
}

static void test_an_attribution_that_the_clock_could_undo(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	tell_clocks(s);
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:20");
	/* From 10:00:00 to 10:00:30, and from 10:00:12 and :18: 20, 8 and 2 s of overlap, give or take 5. */
	eviction(s, "app-1", "10:00:30");
	eviction(s, "app-1", "10:00:42");
	eviction(s, "app-1", "10:00:48");
	const struct rebalance *r = find(s);
	assert_int_equal(r[0].exposure.start.us, at("09:59:55").us);
	assert_int_equal(r[0].exposure.end.us, at("10:00:35").us);
	assert_attribution(&r[0], ATTRIBUTION_LAGGED);
	assert_attribution(&r[1], ATTRIBUTION_LAGGED);
	assert_attribution(&r[2], ATTRIBUTION_AMBIGUOUS);
	assert_says(r[2].attribution_note, "5.000 s");
	assert_near(s->share.jitter.low, 2.0 / 3);
	assert_near(s->share.jitter.high, 1);
	scene_free(s);
}

/* By one clock, the client's log and its capture are not off against each other. */
static void test_one_clock_needs_no_margin(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	tell_clocks(s);
	eviction(s, "app-1", "10:00:30")->trigger_clock = SV("app-1");
	const struct rebalance *r = find(s);
	assert_int_equal(r->exposure.start.us, at("10:00:00").us);
	scene_free(s);
}

static void test_an_unknown_clock_is_said(void **state)
{
	struct scene *s = scene_captured();

	(void)state;
	tell_clocks(s);
	window(s, WINDOW_BLACKOUT, "app-2", "10:00:00", "10:00:40");
	eviction(s, "app-2", "10:00:32");
	const struct rebalance *r = find(s);
	assert_attribution(r, ATTRIBUTION_EXPLAINED);
	assert_says(r->attribution_note, "Nothing bounds the clocks");
	scene_free(s);
}

/* ---- the verdict ---- */

#define DAY_MINUTES (24 * 60)

static struct ref_time minute(int m, int s)
{
	return (struct ref_time){ at("00:00:00").us + (m * 60 + s) * US_PER_S };
}

/* A day, with n blackouts of 40 s at odd distances, the first "hit" of them followed by an eviction; and "other" leaves. */
static struct scene *scene_of_a_day(int n, int hit, int other)
{
	struct scene *s = scene_new();

	covered(s, "app-1", "capture", "00:00:00", "23:59:59");
	for (int i = 0; i < n; i++) {
		int start = 20 + 80 * i + 7 * i * i;
		assert_true(start < DAY_MINUTES);
		struct window *w = window(s, WINDOW_BLACKOUT, "app-1", "00:00:00", "00:00:01");
		w->span = w->outage = (struct span){ minute(start, 0), minute(start, 40) };
		if (i < hit)
			eviction(s, "app-1", "00:00:00")->trigger_time = minute(start, 32);
	}
	for (int i = 0; i < other; i++)
		rebalance(s, TRIGGER_MEMBER_LEAVE, "app-1", "00:00:00")->trigger_time = minute(30 + 97 * i, 0);
	return s;
}

static enum verdict verdict_of(struct scene *s)
{
	(void)find(s);
	enum verdict v = s->share.verdict;
	assert_false(sv_is_absent(s->share.verdict_reason));
	scene_free(s);
	return v;
}

static void test_a_confirmed_day(void **state)
{
	struct scene *s = scene_of_a_day(8, 6, 1);

	(void)state;
	(void)find(s);
	/* 6 of 7 are 86 %. */
	assert_int_equal(s->share.verdict, VERDICT_CONFIRMED);
	assert_int_equal(s->share.jitter.lagged.count, 6);
	assert_int_equal(s->share.jitter.lagged.total, 7);
	assert_near(s->share.jitter.lagged.low, 0.4869);
	assert_near(s->share.jitter.lagged.high, 0.9743);
	assert_near(s->share.jitter.low, 6.0 / 7);
	/* Each window of 40 s and 30 s of exposure, 8 of them, for 6 of the 7, in 86399 s. */
	assert_near(s->share.jitter.chance.expected_share, 8 * 70 / 86399.0 * 6 / 7);
	assert_true(s->share.jitter.chance.p_value < 0.01);
	assert_near(s->share.jitter.chance.precursor_rate, 0.75);
	assert_int_equal(s->share.lagged_by_trigger[TRIGGER_SESSION_TIMEOUT].count, 6);
	assert_int_equal(s->share.lagged_by_trigger[TRIGGER_SESSION_TIMEOUT].total, 6);
	assert_int_equal(s->share.lagged_by_trigger[TRIGGER_MEMBER_LEAVE].total, 1);
	assert_false(s->share.lagged_by_trigger[TRIGGER_POLL_TIMEOUT].known);
	assert_says(s->share.verdict_reason, "6 of 7");
	scene_free(s);
}

/* Exactly at the line counts, and just below does not. */
static void test_the_line(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(scene_of_a_day(8, 8, 2)), VERDICT_CONFIRMED);
	assert_int_equal(verdict_of(scene_of_a_day(8, 7, 2)), VERDICT_PARTIAL);
	assert_int_equal(verdict_of(scene_of_a_day(8, 5, 5)), VERDICT_PARTIAL);
	assert_int_equal(verdict_of(scene_of_a_day(8, 4, 5)), VERDICT_REJECTED);
	assert_int_equal(verdict_of(scene_of_a_day(8, 0, 5)), VERDICT_REJECTED);
	struct scene *s = scene_of_a_day(8, 7, 2);
	s->options.threshold_percent = 77;
	assert_int_equal(verdict_of(s), VERDICT_CONFIRMED);
}

static void test_too_few_for_a_verdict(void **state)
{
	struct scene *s = scene_of_a_day(8, 4, 0);

	(void)state;
	(void)find(s);
	assert_int_equal(s->share.verdict, VERDICT_INSUFFICIENT);
	assert_says(s->share.verdict_reason, "4 of 4");
	scene_free(s);
	s = scene_new();
	for (int i = 0; i < 6; i++)
		eviction(s, "app-1", "10:00:32");
	(void)find(s);
	assert_int_equal(s->share.verdict, VERDICT_INSUFFICIENT);
	assert_false(s->share.jitter.lagged.known);
	assert_says(s->share.verdict_reason, "None of the 6");
	scene_free(s);
	assert_int_equal(verdict_of(scene_new()), VERDICT_INSUFFICIENT);
}

/* Jitter all day long: whatever made them, they lie in it. */
static void test_jitter_all_the_time_proves_nothing(void **state)
{
	struct scene *s = scene_new();

	(void)state;
	covered(s, "app-1", "capture", "00:00:00", "23:59:59");
	for (int m = 0; m < DAY_MINUTES; m++) {
		struct window *w = window(s, WINDOW_LOSS, "app-1", "00:00:00", "00:00:01");
		w->span = (struct span){ minute(m, 0), minute(m, 40) };
	}
	for (int i = 0; i < 6; i++)
		eviction(s, "app-1", "00:00:00")->trigger_time = minute(100 + 171 * i, 7 * i);
	(void)find(s);
	assert_int_equal(s->share.verdict, VERDICT_NOT_ABOVE_CHANCE);
	assert_int_equal(s->share.jitter.lagged.count, 6);
	assert_near(s->share.jitter.chance.p_value, 1);
	scene_free(s);
}

/* What an unknown clock allows only if it is right. */
static void test_confirmed_if_clocks_hold(void **state)
{
	struct scene *s = scene_of_a_day(8, 6, 0);

	(void)state;
	tell_clocks(s);
	/* app-1 is known to within 5 s: the windows are long enough for that. */
	assert_int_equal(verdict_of(s), VERDICT_CONFIRMED);
	s = scene_of_a_day(8, 6, 0);
	tell_clocks(s);
	s->clocks.hosts[0].has_uncertainty = false;
	assert_int_equal(verdict_of(s), VERDICT_CONFIRMED_IF_CLOCKS_HOLD);
	s = scene_of_a_day(8, 6, 0);
	tell_clocks(s);
	/* An overlap of 30 s that may be off by 28. */
	s->clocks.hosts[0].uncertainty_us = 38 * US_PER_S;
	assert_int_equal(verdict_of(s), VERDICT_CONFIRMED_IF_CLOCKS_HOLD);
}

/* If pauses explain as much, that is said first. */
static void test_a_day_of_pauses(void **state)
{
	struct scene *s = scene_of_a_day(8, 6, 0);

	(void)state;
	for (size_t i = 0; i < s->windows.count; i++)
		s->windows.items[i].kind = WINDOW_PROCESS_PAUSE;
	(void)find(s);
	assert_int_equal(s->share.verdict, VERDICT_REJECTED);
	assert_int_equal(s->share.pauses.lagged.count, 6);
	assert_true(s->share.pauses.chance.p_value < 0.01);
	assert_true(sv_starts_with(s->share.verdict_reason, SV("Pauses of processes or of the broker account for as much or more, 6 of 6.")));
	scene_free(s);
}

static void test_proved_triggers_alone(void **state)
{
	struct scene *s = scene_of_a_day(8, 6, 0);

	(void)state;
	s->rebalances.items[0].trigger_strength = STRENGTH_SUGGESTS;
	(void)find(s);
	assert_int_equal(s->share.jitter.lagged_proved.count, 5);
	assert_int_equal(s->share.jitter.lagged_proved.total, 5);
	scene_free(s);
}

/* One sentence that a manager can read and one that an engineer can check, for every verdict. */
static void test_each_verdict_in_two_sentences(void **state)
{
	struct scene *s = scene_of_a_day(8, 6, 1);

	(void)state;
	(void)find(s);
	assert_says(s->share.manager, "Yes: the network caused 6 of 7 (86 %) of the rebalances");
	assert_says(s->share.engineer, "7 of 7 roots observed; lagged 6 of 7 (86 %), Wilson 95 % 49 to 97 %, 86 % to 86 % within");
	assert_says(s->share.engineer, "6 of 7 (86 %) on proved triggers alone");
	scene_free(s);

	s = scene_of_a_day(8, 6, 0);
	tell_clocks(s);
	s->clocks.hosts[0].has_uncertainty = false;
	(void)find(s);
	assert_says(s->share.manager, "Probably: the network fits 6 of 6 (100 %) of the rebalances, but the clocks");
	scene_free(s);

	s = scene_of_a_day(8, 7, 2);
	(void)find(s);
	assert_says(s->share.manager, "In part: the network explains 7 of 9 (78 %) of the rebalances, short of the 80 %");
	assert_says(s->share.engineer, "the others: 2 by member_leave.");
	scene_free(s);

	s = scene_of_a_day(8, 0, 5);
	(void)find(s);
	assert_says(s->share.manager, "No: the network explains 0 of 5 (0 %) of the rebalances");
	scene_free(s);

	s = scene_of_a_day(8, 4, 0);
	(void)find(s);
	assert_says(s->share.manager, "It cannot be told from so few: the network fits 4 of 4 (100 %)");
	scene_free(s);

	s = scene_new();
	eviction(s, "app-1", "10:00:32");
	(void)find(s);
	assert_says(s->share.manager, "nothing that was given shows how the network was at the time of the 1 rebalances");
	scene_free(s);

	s = scene_new();
	(void)find(s);
	assert_says(s->share.manager, "no rebalance was found");
	scene_free(s);

	s = scene_of_a_day(8, 6, 0);
	for (size_t i = 0; i < s->windows.count; i++)
		s->windows.items[i].kind = WINDOW_PROCESS_PAUSE;
	(void)find(s);
	assert_true(sv_starts_with(s->share.manager, SV("Mind first that pauses")));
	assert_says(s->share.manager, "6 of 6 (100 %). No:");
	scene_free(s);
}

/* Each group by itself, beside the whole. */
static void test_shares_by_group(void **state)
{
	struct scene *s = scene_captured();
	struct group two[2];

	(void)state;
	window(s, WINDOW_BLACKOUT, "app-1", "10:00:00", "10:00:40");
	eviction(s, "app-1", "10:00:32");
	eviction(s, "app-2", "10:00:32")->group = SV("h");
	rebalance(s, TRIGGER_MEMBER_LEAVE, "app-2", "10:05:00")->group = SV("h");
	two[0] = two[1] = s->group;
	two[1].name = SV("h");
	s->groups = (struct groups){ two, 2 };
	(void)find(s);
	assert_int_equal(s->share.group_count, 2);
	assert_true(sv_eq(s->share.groups[0].group, SV("g")));
	assert_int_equal(s->share.groups[0].lagged.count, 1);
	assert_int_equal(s->share.groups[0].lagged.total, 1);
	assert_int_equal(s->share.groups[1].lagged.count, 0);
	assert_int_equal(s->share.groups[1].lagged.total, 2);
	assert_int_equal(s->share.groups[1].roots, 2);
	assert_int_equal(s->share.jitter.lagged.total, 3);
	scene_free(s);
}

static void test_the_order_of_verdicts(void **state)
{
	enum verdict v;

	(void)state;
	assert_true(verdict_at_least(VERDICT_CONFIRMED, VERDICT_CONFIRMED_IF_CLOCKS_HOLD));
	assert_true(verdict_at_least(VERDICT_PARTIAL, VERDICT_PARTIAL));
	assert_false(verdict_at_least(VERDICT_PARTIAL, VERDICT_CONFIRMED_IF_CLOCKS_HOLD));
	assert_false(verdict_at_least(VERDICT_INSUFFICIENT, VERDICT_REJECTED));
	assert_true(verdict_by_name(SV("not_above_chance"), &v));
	assert_int_equal(v, VERDICT_NOT_ABOVE_CHANCE);
	assert_false(verdict_by_name(SV("perhaps"), &v));
	assert_string_equal(verdict_name(VERDICT_REJECTED), "rejected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_blackout_that_leaves_no_heartbeat),
		cmocka_unit_test(test_an_eviction_after_the_jitter_had_ended),
		cmocka_unit_test(test_an_eviction_in_the_backoff_is_not_contained),
		cmocka_unit_test(test_how_much_jitter_it_takes),
		cmocka_unit_test(test_what_explains),
		cmocka_unit_test(test_a_restarted_timer_cuts_the_exposure),
		cmocka_unit_test(test_a_short_outage_is_implausible),
		cmocka_unit_test(test_anothers_jitter_does_not_count),
		cmocka_unit_test(test_jitter_of_nobody_knows_whom_counts),
		cmocka_unit_test(test_jitter_at_the_broker_counts),
		cmocka_unit_test(test_a_path_seen_at_the_broker),
		cmocka_unit_test(test_jitter_to_another_service_does_not_count),
		cmocka_unit_test(test_without_coverage_nothing_is_concluded),
		cmocka_unit_test(test_a_pause_is_not_the_network),
		cmocka_unit_test(test_a_pause_and_jitter_at_once),
		cmocka_unit_test(test_a_broker_that_stands_still_does_so_for_all),
		cmocka_unit_test(test_a_deploy_during_jitter),
		cmocka_unit_test(test_a_process_that_had_ended),
		cmocka_unit_test(test_a_poll_timeout),
		cmocka_unit_test(test_a_coordinator_that_clients_lost),
		cmocka_unit_test(test_nobody_knows_why),
		cmocka_unit_test(test_a_member_on_none_of_the_hosts_is_unobserved),
		cmocka_unit_test(test_a_window_that_nothing_covers_is_attributed_and_not_counted),
		cmocka_unit_test(test_what_one_kind_of_evidence_does_not_show_is_open),
		cmocka_unit_test(test_what_the_exposure_rests_on),
		cmocka_unit_test(test_what_follows_has_its_roots_attribution),
		cmocka_unit_test(test_a_stalled_broker),
		cmocka_unit_test(test_an_attribution_that_the_clock_could_undo),
		cmocka_unit_test(test_one_clock_needs_no_margin),
		cmocka_unit_test(test_an_unknown_clock_is_said),
		cmocka_unit_test(test_a_confirmed_day),
		cmocka_unit_test(test_the_line),
		cmocka_unit_test(test_too_few_for_a_verdict),
		cmocka_unit_test(test_jitter_all_the_time_proves_nothing),
		cmocka_unit_test(test_confirmed_if_clocks_hold),
		cmocka_unit_test(test_a_day_of_pauses),
		cmocka_unit_test(test_proved_triggers_alone),
		cmocka_unit_test(test_each_verdict_in_two_sentences),
		cmocka_unit_test(test_shares_by_group),
		cmocka_unit_test(test_the_order_of_verdicts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
