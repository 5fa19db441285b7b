/* SPDX-License-Identifier: MIT */
/*
 * One clock for all hosts. The stories give true times; each host writes them
 * by its own clock. Bounds are worked out by hand: a pair bounds by its
 * distance and the 1 ms in which the later line is written.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/clock.h"
#include "story.h"

#define MS US_PER_MS

static struct host_time after(struct host_time t, int64_t us)
{
	return (struct host_time){ t.us + us };
}

/*
 * A client joins in two steps: it asks at time t, the broker gives it a member
 * id there_us later, which it has back_us after that. All true times; the
 * clocks are ahead by so much.
 */
struct exchange {
	const char *client_host, *broker, *group, *member, *client;
	int64_t client_ahead_us, broker_ahead_us;
	int64_t there_us, back_us;
};

static void first_join(struct story *st, struct host_time t, struct exchange x)
{
	char reason[128];

	snprintf(reason, sizeof reason, "need to re-join with the given member-id: %s", x.member);
	story_event(st, EVENT_CLIENT_REJOINS, x.client_host, after(t, x.client_ahead_us), "group", x.group, "client",
		    x.client, NULL);
	story_event(st, EVENT_MEMBER_ID_GIVEN, x.broker, after(t, x.there_us + x.broker_ahead_us), "group", x.group,
		    "member", x.member, NULL);
	story_event(st, EVENT_CLIENT_REJOINS, x.client_host, after(t, x.there_us + x.back_us + x.client_ahead_us), "group",
		    x.group, "client", x.client, "reason", reason, NULL);
}

static struct clocks clocks_of(struct story *st, const struct analysis_options *o)
{
	struct clocks c;

	assert_int_equal(clocks_find(story_store(st), o, st->arena, &c), 0);
	return c;
}

static struct clocks clocks_by_default(struct story *st)
{
	struct analysis_options o = analysis_options_default();

	return clocks_of(st, &o);
}

static const struct host_clock *clock_named(const struct clocks *c, const char *host)
{
	for (size_t i = 0; i < c->count; i++) {
		if (sv_eq(c->hosts[i].host, sv_of(host)))
			return &c->hosts[i];
	}
	fail_msg("no clock of %s", host);
	return NULL;
}

/*
 * What the bounds leave is not the whole uncertainty: a clock may drift by up to 500 ppm, and nothing is known of it
 * between links. The links of one exchange are so close that it adds microseconds.
 */
static void assert_close(int64_t is_us, int64_t least_us)
{
	assert_true(is_us >= least_us && is_us <= least_us + 1 * MS);
}

static void two_hosts_are_enclosed(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;
	bool known;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	first_join(st, at("10:00:05.500"), (struct exchange){ "consumer-2", "broker-1", "refunds", "m2", "c2",
		   .client_ahead_us = -45000 * MS, .there_us = 2 * MS, .back_us = 8 * MS });
	c = clocks_by_default(st);
	assert_true(sv_eq(c.reference, SV("broker-1")));
	assert_int_equal(c.count, 3);
	assert_int_equal(clock_named(&c, "broker-1")->method, CLOCK_REFERENCE);

	/* From below 1250 - 3 - 1, from above 1250 + 3 + 1. */
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_int_equal(h->offset_us, 1250 * MS);
	assert_true(h->has_uncertainty);
	assert_close(h->uncertainty_us, 4 * MS);
	assert_int_equal(h->links_forward, 1);
	assert_int_equal(h->links_backward, 1);
	assert_false(h->has_zone);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("10:00:31.250")).us, at("10:00:30").us);

	/* From below -45000 - 2 - 1, from above -45000 + 8 + 1: the centre is off by 3 ms, and says that it may be. */
	h = clock_named(&c, "consumer-2");
	assert_int_equal(h->offset_us, -44997 * MS);
	assert_close(h->uncertainty_us, 6 * MS);
	assert_false(h->has_zone);
	assert_close(clock_uncertainty_us(&c, SV("consumer-2"), &known), 6 * MS);
	assert_true(known);
	story_free(st);
}

static void the_tightest_links_are_kept_as_evidence(void **state)
{
	struct story *st = story_new();
	const struct clock_link *above, *below;
	struct clocks c;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	/* A later exchange over a slow path says less. */
	first_join(st, at("10:09:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m9", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 700 * MS, .back_us = 700 * MS });
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->links_forward, 2);
	assert_true(clock_named(&c, "consumer-1")->has_tightest[0]);
	assert_true(clock_named(&c, "consumer-1")->has_tightest[1]);
	above = &clock_named(&c, "consumer-1")->tightest[0];
	below = &clock_named(&c, "consumer-1")->tightest[1];
	assert_int_equal(above->before.event, 2); /* the id given ... */
	assert_int_equal(above->after.event, 3);  /* ... and taken */
	assert_int_equal(below->before.event, 1); /* asked ... */
	assert_int_equal(below->after.event, 2);  /* ... and given */
	assert_int_equal(above->after.time.us, at("10:00:00.506").us);
	assert_int_equal(above->after.written.us, at("10:00:01.756").us);
	story_free(st);
}

static void each_pair_of_lines_is_a_link(void **state)
{
	/* Distance 4 ms, so the bound is +-5 ms around the true offset of +100 ms. */
	static const struct {
		enum event_type before, after;
		bool client_first;
		const char *reason_before, *reason_after;
	} pairs[] = {
		{ EVENT_CLIENT_LEAVES, EVENT_MEMBER_LEFT, true, NULL, NULL },
		{ EVENT_CLIENT_ASSIGNMENT_COMPUTED, EVENT_GROUP_ASSIGNED, true, NULL, NULL },
		{ EVENT_CLIENT_JOINED, EVENT_GROUP_ASSIGNED, true, NULL, NULL },
		{ EVENT_GROUP_STABILIZED, EVENT_CLIENT_JOINED, false, NULL, NULL },
		{ EVENT_GROUP_ASSIGNED, EVENT_CLIENT_SYNCED, false, NULL, NULL },
		{ EVENT_MEMBER_ID_GIVEN, EVENT_CLIENT_REJOINS, false, NULL, "need to re-join with the given member-id: m1" },
		{ EVENT_CLIENT_REJOINS, EVENT_MEMBER_JOINS, true, "need to re-join with the given member-id: m1", NULL },
		{ EVENT_CLIENT_REJOINS, EVENT_GROUP_PREPARING, true, "need to re-join with the given member-id: m1",
		  "Adding new member m1 with group instance id None" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct story *st = story_new();
		const char *before = pairs[i].client_first ? "consumer-1" : "broker-1";
		const char *after_host = pairs[i].client_first ? "broker-1" : "consumer-1";
		int64_t before_ahead = pairs[i].client_first ? 100 * MS : 0, after_ahead = 100 * MS - before_ahead;
		const struct host_clock *h;
		struct clocks c;

		story_event(st, pairs[i].before, before, after(at("10:00:00.500"), before_ahead), "group", "refunds",
			    "generation", "7", "member", "m1", "client", "c1",
			    "reason", pairs[i].reason_before, NULL);
		story_event(st, pairs[i].after, after_host, after(at("10:00:00.504"), after_ahead), "group", "refunds",
			    "generation", "7", "member", "m1", "client", "c1",
			    "reason", pairs[i].reason_after, NULL);
		c = clocks_by_default(st);
		h = clock_named(&c, "consumer-1");
		assert_int_equal(h->method, CLOCK_ONE_SIDED);
		assert_int_equal(h->links_forward, pairs[i].client_first ? 0 : 1);
		assert_int_equal(h->links_backward, pairs[i].client_first ? 1 : 0);
		/* From below 100 - 4 - 1; from above 0 is allowed. */
		assert_int_equal(h->offset_us, pairs[i].client_first ? 95 * MS : 0);
		assert_false(h->has_uncertainty);
		story_free(st);
	}
}

static void a_bound_from_one_side_moves_no_further_than_it_must(void **state)
{
	struct story *st = story_new();
	struct clocks c;
	bool known;

	(void)state;
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:02.755"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-2", at("09:59:15.505"), "group", "refunds", "generation", "5", NULL);
	c = clocks_by_default(st);
	/* Ahead of the broker by at most 2.256 s: perhaps by nothing. */
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_ONE_SIDED);
	assert_int_equal(clock_named(&c, "consumer-1")->offset_us, 0);
	/* Behind it by at least 45 s - 5 ms - 1 ms. */
	assert_int_equal(clock_named(&c, "consumer-2")->method, CLOCK_ONE_SIDED);
	assert_int_equal(clock_named(&c, "consumer-2")->offset_us, -44994 * MS);
	clock_uncertainty_us(&c, SV("consumer-2"), &known);
	assert_false(known);
	story_free(st);
}

static void a_step_between_the_links_is_a_contradiction(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;
	bool known;

	(void)state;
	/* From above 0 + 5 + 1 ms; then the clock is set forward by 2 s: from below 2000 - 4 - 1 ms. */
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:00.505"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_LEAVES, "consumer-1", at("10:10:02.500"), "group", "refunds", "member", "m1", NULL);
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:10:00.504"), "group", "refunds", "member", "m1", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_CONTRADICTORY);
	assert_int_equal(h->offset_us, 0);
	assert_int_equal(clock_uncertainty_us(&c, SV("consumer-1"), &known), 0);
	assert_false(known);
	assert_true(h->has_tightest[0] && h->has_tightest[1]);
	story_free(st);
}

/* joins exchanges of +-4 ms at equal distances over an hour; the clock is ahead by what ahead_us gives for the i-th. */
static struct clocks an_hour(struct story *st, int joins, int64_t (*ahead_us)(int i, int joins))
{
	for (int i = 0; i < joins; i++) {
		char member[16];

		snprintf(member, sizeof member, "m%d", i);
		first_join(st, after(at("10:00:00.500"), i * (3600 * US_PER_S / (joins - 1))),
			   (struct exchange){ "consumer-1", "broker-1", "refunds", member, "c1",
			   .client_ahead_us = ahead_us(i, joins), .there_us = 3 * MS, .back_us = 3 * MS });
	}
	return clocks_by_default(st);
}

/* 500 ms, and 360 ms more after the hour: 100 ppm. */
static int64_t drifting(int i, int joins)
{
	return 500 * MS + 360 * MS * i / (joins - 1);
}

static int64_t stepping(int i, int joins)
{
	return i < joins / 2 ? 0 : 2 * US_PER_S;
}

static void drift_is_a_line_between_the_bounds(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c = an_hour(st, 7, drifting);

	(void)state;
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_LINKS);
	/* Half the gap is 4 ms at both ends, so the slope may be off by 8 ms in 3600 s, 2.3 ppm. */
	assert_true(h->drift_ppm > 97.7 && h->drift_ppm < 102.3);
	assert_true(h->uncertainty_us >= 4 * MS && h->uncertainty_us <= 13 * MS);
	for (int i = 0; i < 7; i++) {
		int64_t truth = at("10:00:00.500").us + i * 600 * US_PER_S;
		struct host_time written = { truth + drifting(i, 7) };

		assert_true(llabs(clock_to_ref(&c, SV("consumer-1"), written).us - truth) <= h->uncertainty_us);
	}
	story_free(st);
}

static void a_step_makes_two_pieces(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c = an_hour(st, 8, stepping);
	const int64_t apart_us = 3600 * US_PER_S / 7;
	bool known;

	(void)state;
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_true(h->drift_ppm == 0.0);
	assert_int_equal(h->piece_count, 2);
	assert_int_equal(h->links_forward, 8);
	assert_int_equal(h->links_refuted, 0);
	assert_int_equal(h->pieces[0].offset_us, 0);
	assert_int_equal(h->pieces[0].step_us, 0);
	assert_int_equal(h->pieces[1].offset_us, 2 * US_PER_S);
	assert_int_equal(h->pieces[1].step_us, 2 * US_PER_S);
	/* The fourth exchange was before it, the fifth after. */
	assert_int_equal(h->pieces[0].last.us, at("10:00:00.506").us + 3 * apart_us);
	assert_int_equal(h->pieces[1].first.us, at("10:00:02.500").us + 4 * apart_us);
	assert_true(h->pieces[0].last.us < h->pieces[1].since.us && h->pieces[1].since.us < h->pieces[1].first.us);
	/* Each by its own piece, known to 3 ms: the times are written to the microsecond. */
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("10:00:00.506")).us, at("10:00:00.506").us);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("11:00:02.506")).us, at("11:00:00.506").us);
	assert_close(clock_uncertainty_at_us(&c, SV("consumer-1"), ref_at("10:00:00.506"), &known), 3 * MS);
	assert_true(known);
	/* Between them it may or may not have been set already. */
	assert_true(clock_uncertainty_at_us(&c, SV("consumer-1"), (struct ref_time){ at("10:00:00.506").us + apart_us * 7 / 2 },
					    &known) > 2 * US_PER_S);
	assert_true(known);
	story_free(st);
}

static int64_t stepping_never(int i, int joins)
{
	(void)i;
	(void)joins;
	return 0;
}

static void a_lone_link_that_all_others_contradict_is_no_step(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	an_hour(st, 8, stepping_never);
	/* An answer 5 s before it was given, in the middle of the hour. */
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:30:05"), "group", "refunds", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:30:00.001"), "group", "refunds", "generation", "5", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->piece_count, 1);
	assert_int_equal(h->links_refuted, 1);
	assert_int_equal(h->offset_us, 0);
	story_free(st);
}

static void uncertainty_grows_away_from_the_links(void **state)
{
	struct story *st = story_new();
	struct clocks c;
	bool known;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	c = clocks_by_default(st);
	/* By 500 ppm: 30 ms a minute, either way. */
	assert_close(clock_uncertainty_at_us(&c, SV("consumer-1"), ref_at("10:01:00.500"), &known), 34 * MS);
	assert_close(clock_uncertainty_at_us(&c, SV("consumer-1"), ref_at("09:59:00.500"), &known), 34 * MS);
	assert_close(clock_uncertainty_at_us(&c, SV("consumer-1"), ref_at("10:00:00.503"), &known), 4 * MS);
	assert_int_equal(clock_uncertainty_at_us(&c, SV("broker-1"), ref_at("12:00:00"), &known), 0);
	assert_true(known);
	story_free(st);
}

static void without_links_the_offset_is_assumed(void **state)
{
	struct story *st = story_new();
	struct clocks c;
	bool known;

	(void)state;
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "5", NULL);
	/* The same generation of another group; another generation of the same group. */
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:00.505"), "group", "payments", "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:00.505"), "group", "refunds", "generation", "6", NULL);
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_ASSUMED);
	assert_int_equal(clock_named(&c, "consumer-1")->offset_us, 0);
	assert_false(clock_named(&c, "consumer-1")->has_tightest[0]);
	clock_uncertainty_us(&c, SV("consumer-1"), &known);
	assert_false(known);
	story_free(st);
}

static void a_generation_that_came_twice_is_no_link(void **state)
{
	/* Told again with the same time (a log that was copied), and an hour later (a group made anew). */
	static const struct {
		const char *again;
		enum clock_method method;
	} cases[] = { { "10:00:00.500", CLOCK_ONE_SIDED }, { "11:00:00.500", CLOCK_ASSUMED } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *st = story_new();
		struct clocks c;

		story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "1", NULL);
		story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at(cases[i].again), "group", "refunds", "generation", "1", NULL);
		story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:00.505"), "group", "refunds", "generation", "1", NULL);
		c = clocks_by_default(st);
		assert_int_equal(clock_named(&c, "consumer-1")->method, cases[i].method);
		story_free(st);
	}
}

static void an_answer_belongs_to_the_one_request_before_it(void **state)
{
	/* 0: one request. 1: two, as of two consumers that share an id. 2: two, but the first was refused. */
	static const int64_t lowest_us[] = { 1250 * MS - 10 * MS - 1 * MS, 0, 1250 * MS - 10 * MS - 1 * MS };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct story *st = story_new();
		struct clocks c;

		if (i > 0)
			story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:01.600"), "group", "refunds", "client", "c1", NULL);
		if (i == 2)
			story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:01.605"), "group", "refunds", "client", "c1",
				    "reason", "rebalance failed due to 'The group is rebalancing' (RebalanceInProgressException)", NULL);
		/* True time 10:00:00.490, and the broker has all requests 10 ms later. */
		story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:01.740"), "group", "refunds", "client", "c1", NULL);
		story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "5", NULL);
		story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:01.755"), "group", "refunds", "generation", "5",
			    "client", "c1", NULL);
		c = clocks_by_default(st);
		assert_int_equal(clock_named(&c, "consumer-1")->method, i == 1 ? CLOCK_ONE_SIDED : CLOCK_LINKS);
		if (i != 1) {
			/* From above 1250 + 5 + 1. */
			assert_int_equal(clock_named(&c, "consumer-1")->offset_us, (lowest_us[i] + 1256 * MS) / 2);
		}
		story_free(st);
	}
}

static void a_whole_join_bounds_twice_from_each_side(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:01.757"), "group", "refunds", "client", "c1", NULL);
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:03.510"), "group", "refunds", "generation", "1", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:04.762"), "group", "refunds", "client", "c1",
		    "generation", "1", "member", "m1", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->links_forward, 2);
	assert_int_equal(h->links_backward, 2);
	/* The first exchange from below, 1250 - 3 - 1; the answer from above, 4762 - 3510 + 1. */
	assert_int_equal(h->offset_us, (1246 + 1253) * MS / 2);
	story_free(st);
}

static void the_leader_bounds_the_other_clients(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	story_event(st, EVENT_CLIENT_ASSIGNMENT_COMPUTED, "consumer-1", at("10:00:00.500"), "group", "refunds", "generation",
		    "5", NULL);
	story_event(st, EVENT_CLIENT_SYNCED, "consumer-2", at("09:59:15.510"), "group", "refunds", "generation", "5", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-2");
	assert_int_equal(h->method, CLOCK_ONE_SIDED);
	assert_int_equal(h->offset_us, (-45000 + 10 + 1) * MS);
	story_free(st);
}

static void a_member_id_may_hold_spaces(void **state)
{
	/* The rule that read the line says where the id ends. */
	struct story *st = story_new();
	struct clocks c;

	(void)state;
	story_event(st, EVENT_MEMBER_ID_GIVEN, "broker-1", at("10:00:00.500"), "group", "refunds", "member", "my app-7f", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:00.505"), "group", "refunds", "member", "my app-7f",
		    "reason", "need to re-join with the given member-id: my app-7f", NULL);
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->links_forward, 1);
	story_free(st);
}

static void a_member_that_is_removed_is_not_added(void **state)
{
	struct story *st = story_new();
	struct clocks c;

	(void)state;
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:00.500"), "group", "refunds", "member", "m1",
		    "reason", "need to re-join with the given member-id: m1", NULL);
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:30.500"), "group", "refunds", "generation", "5",
		    "member", "m1", "reason", "removing member m1 on heartbeat expiration", NULL);
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_ASSUMED);
	story_free(st);
}

static void a_clock_set_to_local_time_is_named(void **state)
{
	/* All that the host wrote is off, in one input: +08:00 and 90 ms; -03:30; 7 h 50 min is 5 min from a zone; 45 s is skew. */
	static const struct {
		int64_t ahead_us;
		bool has_zone;
		int32_t zone_s;
	} cases[] = {
		{ 28800 * US_PER_S + 90 * MS, true, 28800 },
		{ -12600 * US_PER_S, true, -12600 },
		{ 28200 * US_PER_S, false, 0 },
		{ 45 * US_PER_S, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		const struct host_clock *h;
		struct clocks c;

		first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
			   .client_ahead_us = cases[i].ahead_us, .there_us = 3 * MS, .back_us = 3 * MS });
		c = clocks_by_default(st);
		h = clock_named(&c, "consumer-1");
		assert_int_equal(h->method, CLOCK_LINKS);
		assert_int_equal(h->offset_us, cases[i].ahead_us);
		assert_int_equal(h->has_zone, cases[i].has_zone);
		assert_int_equal(h->zone.offset_s, cases[i].zone_s);
		story_free(st);
	}
}

/* An input that holds times from .. to and says so much of its zone; what is told after is in it. */
static int64_t open_input(struct story *st, const char *path, const char *kind, const char *host, const char *zone_source)
{
	story_input(st, path, kind, host);
	st->input.zone_source = sv_of(zone_source);
	return st->input.id;
}

/* A join of consumer-1 as the two logs tell it, each ahead of UTC by so much. */
struct two_logs {
	int64_t broker_us, client_us;
	const char *broker_zone, *client_zone;	/* source */
	const char *capture_host;		/* who captured packets in UTC meanwhile; NULL: nobody */
	int64_t capture_us;
	int64_t server, app, capture;		/* inputs */
};

static void tell_two_logs(struct story *st, struct two_logs *t)
{
	t->server = open_input(st, "server.log", "log", "broker-1", t->broker_zone);
	story_event(st, EVENT_MEMBER_ID_GIVEN, "broker-1", after(at("10:00:00.503"), t->broker_us), "group", "refunds",
		    "member", "m1", NULL);
	t->app = open_input(st, "app.log", "log", "consumer-1", t->client_zone);
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", after(at("10:00:00.500"), t->client_us), "group", "refunds",
		    "client", "c1", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", after(at("10:00:00.506"), t->client_us), "group", "refunds",
		    "client", "c1", "reason", "need to re-join with the given member-id: m1", NULL);
	if (t->capture_host == NULL)
		return;
	t->capture = open_input(st, "eth0.pcap", "capture", t->capture_host, "written");
	story_event(st, EVENT_NET_CONNECTION, t->capture_host, after(at("10:00:00"), t->capture_us), "path_a", "10.0.0.1:5",
		    "path_b", "10.0.0.2:9092", NULL);
	story_event(st, EVENT_NET_CONNECTION, t->capture_host, after(at("10:00:05"), t->capture_us), "path_a", "10.0.0.1:6",
		    "path_b", "10.0.0.2:9092", NULL);
}

static void zones_are_of_inputs_and_clocks_of_hosts(void **state)
{
	/* Zones in s; the hosts' clocks agree but for what is said. */
	static const struct {
		struct two_logs t;
		int32_t server_s, app_s;
		int64_t client_offset_us;
	} cases[] = {
		/* A client's log in local time; its capture is in UTC by nature, and its clock 90 ms ahead. */
		{ { 0, 28800 * US_PER_S + 90 * MS, "assumed", "assumed", "consumer-1", 90 * MS, 0, 0, 0 }, 0, 28800, 90 * MS },
		/* The same without a capture: the reference is believed. */
		{ { 0, 28800 * US_PER_S, "assumed", "assumed", NULL, 0, 0, 0, 0 }, 0, 28800, 0 },
		/* The reference's own log is the one: clients write theirs. */
		{ { 20700 * US_PER_S, 0, "assumed", "written", NULL, 0, 0, 0, 0 }, 20700, 0, 0 },
		{ { 20700 * US_PER_S, 0, "assumed", "option", NULL, 0, 0, 0, 0 }, 20700, 0, 0 },
		/* Neither writes it, and the client's is in the time of its capture. */
		{ { -18000 * US_PER_S, 0, "assumed", "assumed", "consumer-1", 0, 0, 0, 0 }, -18000, 0, 0 },
		/* The user vouches for both: that is no zone's fault. */
		{ { 0, 3600 * US_PER_S, "option", "option", NULL, 0, 0, 0, 0 }, 0, 0, 3600 * US_PER_S },
		/* The capture is as far off as the log: the clock is. */
		{ { 0, 3600 * US_PER_S, "written", "written", "consumer-1", 3600 * US_PER_S, 0, 0, 0 }, 0, 0, 3600 * US_PER_S },
		/* 5 min from a zone, and no zone at all. */
		{ { 0, 28500 * US_PER_S, "assumed", "assumed", NULL, 0, 0, 0, 0 }, 0, 0, 28500 * US_PER_S },
		{ { 0, -45 * US_PER_S, "assumed", "assumed", NULL, 0, 0, 0, 0 }, 0, 0, -45 * US_PER_S },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		struct two_logs t = cases[i].t;
		const struct zone *server, *app;
		const struct host_clock *h;
		struct clocks c;

		tell_two_logs(st, &t);
		c = clocks_by_default(st);
		h = clock_named(&c, "consumer-1");
		server = clock_zone_of(&c, t.server);
		app = clock_zone_of(&c, t.app);
		assert_true(sv_eq(c.reference, SV("broker-1")));
		assert_int_equal(server == NULL ? 0 : server->offset_s, cases[i].server_s);
		assert_int_equal(app == NULL ? 0 : app->offset_s, cases[i].app_s);
		assert_int_equal(h->offset_us, cases[i].client_offset_us);
		/* Every input's times come to one clock. */
		assert_int_equal(clock_input_to_ref(&c, t.app, SV("consumer-1"), after(at("10:00:00.500"), t.client_us)).us,
				 at("10:00:00.500").us);
		assert_int_equal(clock_input_to_ref(&c, t.server, SV("broker-1"), after(at("10:00:00.503"), t.broker_us)).us,
				 at("10:00:00.503").us);
		if (t.capture_host != NULL) {
			assert_null(clock_zone_of(&c, t.capture));
			assert_int_equal(clock_input_to_ref(&c, t.capture, sv_of(t.capture_host),
							    after(at("10:00:00"), t.capture_us)).us, at("10:00:00").us);
		}
		story_free(st);
	}
}

static void other_logs_of_a_host_inherit_its_zone(void **state)
{
	struct story *st = story_new();
	struct two_logs t = { 0, 28800 * US_PER_S, "assumed", "assumed", NULL, 0, 0, 0, 0 };
	int64_t unzoned, zoned, elsewhere;
	struct clocks c;

	(void)state;
	tell_two_logs(st, &t);
	unzoned = open_input(st, "app.log.1", "log", "consumer-1", "assumed");
	story_event(st, EVENT_CLIENT_DISCONNECTED, "consumer-1", at("17:00:00"), "node", "1", NULL);
	zoned = open_input(st, "gc.log", "log", "consumer-1", "written");
	story_event(st, EVENT_CLIENT_DISCONNECTED, "consumer-1", at("09:00:00"), "node", "1", NULL);
	elsewhere = open_input(st, "other.log", "log", "consumer-2", "assumed");
	story_event(st, EVENT_CLIENT_DISCONNECTED, "consumer-2", at("09:00:00"), "node", "1", NULL);
	c = clocks_by_default(st);
	assert_non_null(clock_zone_of(&c, unzoned));
	assert_int_equal(clock_zone_of(&c, unzoned)->offset_s, 28800);
	assert_null(clock_zone_of(&c, zoned));
	assert_null(clock_zone_of(&c, elsewhere));
	assert_int_equal(c.zone_count, 2);
	story_free(st);
}

/* Both logs in local time, eight hours ahead; captures of that host from .. to, in UTC; a table without a host. */
static void logs_all_in_local_time(void **state)
{
	static const struct {
		const char *from, *to;
		const char *zone_source;	/* of the logs and the table */
		int32_t zone_s;
	} cases[] = {
		/* A capture of the very seconds. */
		{ "10:00:00.450", "10:00:00.520", "assumed", 28800 },
		/* It lies in three zones' worth of a longer capture: nobody knows. */
		{ "08:30:00", "11:30:00", "assumed", 0 },
		/* It may be of another hour. */
		{ "10:10:00", "10:20:00", "assumed", 0 },
		/* The log lies in its time as it is. */
		{ "18:00:00", "18:10:00", "assumed", 0 },
		/* The log says so itself. */
		{ "10:00:00.450", "10:00:00.520", "written", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct two_logs t = { 28800 * US_PER_S, 28800 * US_PER_S, cases[i].zone_source, cases[i].zone_source, NULL, 0, 0, 0, 0 };
		struct story *st = story_new();
		struct clocks c;
		int64_t table;

		tell_two_logs(st, &t);
		open_input(st, "eth0.pcap", "capture", "consumer-1", "written");
		story_event(st, EVENT_NET_CONNECTION, "consumer-1", at(cases[i].from), "path_a", "10.0.0.1:5", "path_b",
			    "10.0.0.2:9092", NULL);
		story_event(st, EVENT_NET_CONNECTION, "consumer-1", at(cases[i].to), "path_a", "10.0.0.1:6", "path_b",
			    "10.0.0.2:9092", NULL);
		table = open_input(st, "effects.csv", "table", NULL, cases[i].zone_source);
		story_event(st, EVENT_EFFECT, NULL, at("18:00:00.501"), "status", "success", NULL);
		story_event(st, EVENT_EFFECT, NULL, at("18:00:00.505"), "status", "success", NULL);
		c = clocks_by_default(st);
		assert_int_equal(c.zone_count, cases[i].zone_s == 0 ? 0 : 3);
		if (cases[i].zone_s != 0) {
			assert_int_equal(clock_zone_of(&c, t.server)->offset_s, cases[i].zone_s);
			assert_int_equal(clock_zone_of(&c, t.app)->offset_s, cases[i].zone_s);
			assert_int_equal(clock_zone_of(&c, table)->offset_s, cases[i].zone_s);
		}
		story_free(st);
	}
}

static void samples_tell_when_a_clock_was_set(void **state)
{
	/*
	 * A loop that samples each second; the clock is set by so much in the 2301st. 100 ms are no more than its pace
	 * may vary by.
	 */
	static const struct {
		int64_t step_us;
		bool has_loop, is_located;
	} cases[] = { { 2 * US_PER_S, true, true }, { 2 * US_PER_S, false, false }, { -600 * MS, true, true }, { 100 * MS, true, false } };
	const int64_t start_us = at("10:00:00.500").us;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		const struct clock_piece *p;
		struct clocks c;

		for (int k = 0; k < 8; k++) {
			char member[16];

			snprintf(member, sizeof member, "m%d", k);
			first_join(st, after(at("10:00:00.500"), k * 500 * US_PER_S), (struct exchange){ "consumer-1", "broker-1",
				   "refunds", member, "c1", .client_ahead_us = k > 4 ? cases[i].step_us : 0, .there_us = 3 * MS,
				   .back_us = 3 * MS });
		}
		story_input(st, "snmp.log", "counters", "consumer-1");
		for (int k = 1900; k < 2600 && cases[i].has_loop; k++) {
			int64_t from_us = start_us + k * US_PER_S + (k > 2300 ? cases[i].step_us : 0);
			int64_t to_us = start_us + (k + 1) * US_PER_S + (k + 1 > 2300 ? cases[i].step_us : 0);

			story_interval(st, EVENT_COUNTER_DELTA, "consumer-1", (struct host_time){ from_us },
				       (struct host_time){ to_us }, "counter", "tcp.retrans", "delta", "1", NULL);
		}
		c = clocks_by_default(st);
		assert_int_equal(clock_named(&c, "consumer-1")->piece_count, 2);
		p = &clock_named(&c, "consumer-1")->pieces[1];
		assert_true(llabs(p->step_us - cases[i].step_us) <= 8 * MS);
		if (cases[i].is_located) {
			assert_int_equal(p->set_after.us, start_us + 2300 * US_PER_S);
			assert_int_equal(p->set_before.us, start_us + 2301 * US_PER_S + cases[i].step_us);
		} else {
			assert_int_equal(p->set_after.us, start_us + 2000 * US_PER_S + 6 * MS);
			assert_int_equal(p->set_before.us, start_us + 2500 * US_PER_S + cases[i].step_us);
		}
		story_free(st);
	}
}

/* ---- what the host's own daemon tells ---- */

static void tell_step(struct story *st, const char *host, struct host_time time, const char *micros)
{
	if (micros != NULL)
		story_event(st, EVENT_CLOCK_STEP, host, time, "step_micros", micros, "text", "System clock was stepped", NULL);
	else
		story_event(st, EVENT_CLOCK_STEP, host, time, "text", "Time has been changed", NULL);
}

static void a_told_step_is_where_links_leave_it_open(void **state)
{
	/* Of eight exchanges over an hour the clock is set by 2 s between the fourth and the fifth. */
	static const struct {
		const char *micros;
		bool is_told;
	} cases[] = { { "2000000", true }, { NULL, true }, { "-2000000", false }, { "3000000", false } };
	struct host_time told = at("10:30:00");

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		const struct clock_piece *p;
		struct clocks c;

		tell_step(st, "consumer-1", told, cases[i].micros);
		tell_step(st, "consumer-2", at("10:29:00"), "2000000");
		c = an_hour(st, 8, stepping);
		assert_int_equal(clock_named(&c, "consumer-1")->piece_count, 2);
		p = &clock_named(&c, "consumer-1")->pieces[1];
		assert_int_equal(p->is_told, cases[i].is_told);
		/* The line is written within a second of the step, in whole seconds. */
		if (cases[i].is_told) {
			assert_int_equal(p->set_before.us, told.us + US_PER_S);
			assert_int_equal(p->set_after.us, told.us - 3 * US_PER_S);
			assert_true(sv_eq(p->told.host, SV("consumer-1")));
		} else {
			assert_int_equal(p->set_before.us, p->first.us);
		}
		story_free(st);
	}
}

/* A probe that samples every 20 s knows that it was within these; the daemon's line tells of the same step. */
static void a_step_between_two_samples(void **state)
{
	struct story *st = story_new();
	const struct clock_piece *p;
	struct clocks c;

	(void)state;
	story_interval(st, EVENT_CLOCK_STEP, "consumer-1", at("10:30:00"), at("10:30:20"), "step_micros", "2000000", NULL);
	c = an_hour(st, 8, stepping);
	p = &clock_named(&c, "consumer-1")->pieces[1];
	assert_true(p->is_told);
	assert_int_equal(p->set_after.us, at("10:29:58").us);
	assert_int_equal(p->set_before.us, at("10:30:21").us);
	story_free(st);

	st = story_new();
	tell_step(st, "consumer-1", at("09:50:05"), "2000000");
	story_interval(st, EVENT_CLOCK_STEP, "consumer-1", at("09:50:00"), at("09:50:20"), "step_micros", "2000123", NULL);
	c = an_hour(st, 8, stepping_never);
	assert_int_equal(clock_named(&c, "consumer-1")->piece_count, 2);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("09:40:00")).us, at("09:40:02").us);
	story_free(st);
}

static void two_told_steps_leave_it_open(void **state)
{
	struct story *st = story_new();
	const struct clock_piece *p;
	struct clocks c;

	(void)state;
	tell_step(st, "consumer-1", at("10:28:00"), NULL);
	tell_step(st, "consumer-1", at("10:31:00"), NULL);
	c = an_hour(st, 8, stepping);
	p = &clock_named(&c, "consumer-1")->pieces[1];
	assert_false(p->is_told);
	assert_int_equal(p->set_before.us, p->first.us);
	story_free(st);
}

static void a_told_step_before_all_links_moves_what_was_written_before_it(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	/* All links come later, and say that the clock is right. */
	tell_step(st, "consumer-1", at("09:50:00"), "2000000");
	/* The same, as systemd and a second file tell it. */
	tell_step(st, "consumer-1", at("09:50:00"), NULL);
	tell_step(st, "consumer-1", at("09:50:01"), "2000000");
	c = an_hour(st, 8, stepping_never);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_int_equal(h->piece_count, 2);
	assert_int_equal(h->pieces[0].offset_us, -2 * US_PER_S);
	assert_true(h->pieces[1].is_told);
	assert_int_equal(h->pieces[1].step_us, 2 * US_PER_S);
	/* 09:40:00 by the slow clock was 09:40:02. */
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("09:40:00")).us, at("09:40:02").us);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("10:10:00")).us, at("10:10:00").us);
	story_free(st);
}

static void links_refute_a_told_step(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	tell_step(st, "consumer-1", at("10:30:00"), "2000000");
	c = an_hour(st, 8, stepping_never);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->piece_count, 1);
	assert_int_equal(h->offset_us, 0);
	assert_int_equal(h->told_refuted, 1);
	story_free(st);

	/* One that is less than the links can tell is no contradiction, and changes nothing. */
	st = story_new();
	tell_step(st, "consumer-1", at("10:30:00"), "3000");
	c = an_hour(st, 8, stepping_never);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->piece_count, 1);
	assert_int_equal(h->told_refuted, 0);
	story_free(st);
}

static void a_told_step_without_links(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;
	bool known;

	(void)state;
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("09:00:00"), NULL);
	story_event(st, EVENT_CLIENT_VERSION, "consumer-1", at("10:00:00"), "value", "3.9.1", NULL);
	tell_step(st, "consumer-1", at("10:30:00"), "-5000000");
	/* A daemon that does not say by how much, and one that is not sure. */
	tell_step(st, "consumer-2", at("10:30:00"), NULL);
	story_event(st, EVENT_CLOCK_STEP, "consumer-3", at("10:30:00"), "step_micros", "7000000", "strength", "suggests", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_ASSUMED);
	assert_int_equal(h->piece_count, 2);
	/* It was 5 s ahead until it was set back. How far it is off now nobody knows. */
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("10:00:00")).us, at("09:59:55").us);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), at("10:40:00")).us, at("10:40:00").us);
	(void)clock_uncertainty_us(&c, SV("consumer-1"), &known);
	assert_false(known);
	assert_int_equal(clock_named(&c, "consumer-2")->piece_count, 0);
	assert_int_equal(clock_named(&c, "consumer-3")->piece_count, 0);
	story_free(st);
}

static void the_users_offset_leaves_no_zone(void **state)
{
	struct story *st = story_new();
	struct two_logs t = { 0, 28800 * US_PER_S, "assumed", "assumed", NULL, 0, 0, 0, 0 };
	struct analysis_options o = analysis_options_default();
	const struct host_offset offset = { SV("consumer-1"), 28800 * US_PER_S };
	struct clocks c;

	(void)state;
	tell_two_logs(st, &t);
	o.offsets = &offset;
	o.offset_count = 1;
	c = clocks_of(st, &o);
	assert_int_equal(c.zone_count, 0);
	assert_int_equal(clock_input_to_ref(&c, t.app, SV("consumer-1"), after(at("10:00:00.500"), t.client_us)).us,
			 at("10:00:00.500").us);
	story_free(st);
}

static void the_users_offset_wins(void **state)
{
	struct story *st = story_new();
	struct analysis_options o = analysis_options_default();
	const struct host_offset offset = { SV("consumer-1"), 2 * US_PER_S };
	struct clocks c;
	bool known;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	o.offsets = &offset;
	o.offset_count = 1;
	c = clocks_of(st, &o);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_OPTION);
	assert_int_equal(clock_named(&c, "consumer-1")->offset_us, 2 * US_PER_S);
	assert_int_equal(clock_uncertainty_us(&c, SV("consumer-1"), &known), 0);
	assert_true(known);
	story_free(st);
}

static void a_host_with_an_offset_of_its_own_is_no_reference(void **state)
{
	struct story *st = story_new();
	struct analysis_options o = analysis_options_default();
	const struct host_offset offset = { SV("broker-1"), 2 * US_PER_S };
	struct clocks c;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 3250 * MS, .broker_ahead_us = 2000 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	o.offsets = &offset;
	o.offset_count = 1;
	c = clocks_of(st, &o);
	assert_true(sv_eq(c.reference, SV("consumer-1")));
	assert_int_equal(clock_named(&c, "broker-1")->method, CLOCK_OPTION);
	assert_int_equal(clock_to_ref(&c, SV("broker-1"), at("10:00:02")).us, at("10:00:00").us);
	story_free(st);
}

static void a_second_broker_is_aligned_through_a_client(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	first_join(st, at("10:05:00.500"), (struct exchange){ "consumer-1", "broker-2", "payments", "m2", "c2",
		   .client_ahead_us = 1250 * MS, .broker_ahead_us = -3000 * MS, .there_us = 4 * MS, .back_us = 4 * MS });
	c = clocks_by_default(st);
	assert_true(sv_eq(c.reference, SV("broker-1")));
	/* consumer-1 is known to +-4 ms; 4 ms there, 4 ms back, 1 ms of the log. */
	h = clock_named(&c, "broker-2");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_close(llabs(h->offset_us - -3000 * MS), 0);
	/* Five minutes of an unknown drift of up to 500 ppm: 150 ms. */
	assert_close(h->uncertainty_us, 159 * MS);
	story_free(st);
}

static void clients_bound_one_another_without_a_broker(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;

	(void)state;
	/* True: asked at .500 and .510, answered at .520 and .522. consumer-2 is 300 ms ahead. */
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:00.500"), "group", "refunds", "client", "c1", NULL);
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-2", at("10:00:00.810"), "group", "refunds", "client", "c2", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:00.520"), "group", "refunds", "client", "c1",
		    "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-2", at("10:00:00.822"), "group", "refunds", "client", "c2",
		    "generation", "5", NULL);
	c = clocks_by_default(st);
	assert_true(sv_eq(c.reference, SV("consumer-1")));
	/* From above 822 - 500 + 1, from below 810 - 520 - 1. */
	h = clock_named(&c, "consumer-2");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_int_equal(h->offset_us, 306 * MS);
	assert_close(h->uncertainty_us, 17 * MS);
	story_free(st);
}

static void logs_in_seconds_widen_the_bounds(void **state)
{
	struct story *st = story_new();
	const struct host_clock *h;
	struct clocks c;
	bool known;

	(void)state;
	/* Both clocks agree; the client's lines are cut to the second. From below 0 - 0.501, from above 0.499 + 1. */
	story_input(st, "broker-1/server.log", "log", "broker-1");
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:00.500"), "group", "refunds", "generation", "5", NULL);
	story_input(st, "consumer-1/app.log", "log", "consumer-1");
	story_event(st, EVENT_CLIENT_REJOINS, "consumer-1", at("10:00:00"), "group", "refunds", "client", "c1", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", at("10:00:01"), "group", "refunds", "client", "c1", "generation",
		    "5", NULL);
	c = clocks_by_default(st);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_LINKS);
	assert_int_equal(h->step_us, US_PER_S);
	assert_int_equal(h->offset_us, (1500 - 501) * MS / 2);
	assert_close(h->uncertainty_us, (1500 + 501) * MS / 2);
	/* A line may tell of what happened up to a second after its time. */
	assert_close(clock_uncertainty_us(&c, SV("consumer-1"), &known), (1500 + 501) * MS / 2 + 1000 * MS);
	assert_int_equal(clock_named(&c, "broker-1")->step_us, MS);
	story_free(st);
}

static void events_of_no_host_are_on_the_reference(void **state)
{
	struct story *st = story_new();
	struct clocks c;
	bool known;

	(void)state;
	/* The coordinator's log was given without a host. */
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", NULL, "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	c = clocks_by_default(st);
	assert_true(sv_is_absent(c.reference));
	assert_int_equal(c.count, 1);
	assert_int_equal(clock_named(&c, "consumer-1")->offset_us, 1250 * MS);
	assert_int_equal(clock_to_ref(&c, SV_ABSENT, at("10:00:00")).us, at("10:00:00").us);
	clock_uncertainty_us(&c, SV_ABSENT, &known);
	assert_true(known);
	assert_int_equal(clock_to_ref(&c, SV("elsewhere"), at("10:00:00")).us, at("10:00:00").us);
	clock_uncertainty_us(&c, SV("elsewhere"), &known);
	assert_false(known);
	story_free(st);
}

static void nothing_at_all(void **state)
{
	struct story *st = story_new();
	struct clocks c = clocks_by_default(st);

	(void)state;
	assert_true(sv_is_absent(c.reference));
	assert_int_equal(c.count, 0);
	assert_int_equal(clocks_save(&c, st->store), 0);
	story_free(st);
}

static void hostile_times_do_no_harm(void **state)
{
	struct story *st = story_new();
	struct clocks c;

	(void)state;
	first_join(st, at("10:00:00.500"), (struct exchange){ "consumer-1", "broker-1", "refunds", "m1", "c1",
		   .client_ahead_us = 1250 * MS, .there_us = 3 * MS, .back_us = 3 * MS });
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", (struct host_time){ INT64_MIN }, "group", "refunds",
		    "generation", "5", NULL);
	story_event(st, EVENT_CLIENT_JOINED, "consumer-1", (struct host_time){ INT64_MAX }, "group", "refunds",
		    "generation", "5", NULL);
	c = clocks_by_default(st);
	/* Such a pair is no link. */
	assert_int_equal(clock_named(&c, "consumer-1")->links_forward, 1);
	assert_int_equal(clock_to_ref(&c, SV("consumer-1"), (struct host_time){ INT64_MIN }).us, INT64_MIN);
	assert_int_equal(clocks_save(&c, st->store), 0);
	story_free(st);
}

/* ---- what time daemons read ---- */

static void reading(struct story *st, const char *host, const char *time, const char *offset_us, const char *uncertainty_us)
{
	story_event(st, EVENT_CLOCK_OFFSET, host, at(time), "offset_us", offset_us,
		    uncertainty_us != NULL ? "uncertainty_us" : NULL, uncertainty_us, NULL);
}

static const struct clock_daemon *daemon_named(const struct clocks *c, const char *host)
{
	for (size_t i = 0; i < c->daemon_count; i++) {
		if (sv_eq(c->daemons[i].host, sv_of(host)))
			return &c->daemons[i];
	}
	fail_msg("no daemon of %s", host);
	return NULL;
}

static void two_daemons_bound_a_clock_without_links(void **state)
{
	struct story *st = story_new();
	const struct clock_daemon *d;
	const struct host_clock *h;
	struct clocks c;
	bool known;

	(void)state;
	story_event(st, EVENT_BROKER_STARTED, "broker-1", at("09:00:00"), NULL);
	reading(st, "broker-1", "10:00:00", "-1000", "4000");
	reading(st, "broker-1", "11:00:00", "1000", "3000");
	reading(st, "consumer-1", "10:00:00", "20000", "5000");
	reading(st, "consumer-1", "10:30:00", "22000", "2000");
	/* One reading that does not say how wrong it may be; one that was read when the broker was not. */
	reading(st, "consumer-2", "10:00:00", "20000", "5000");
	reading(st, "consumer-2", "10:30:00", "20000", NULL);
	reading(st, "consumer-3", "12:00:00", "20000", "5000");
	c = clocks_by_default(st);

	/* The broker's clock is ahead of true time by -5 to 4 ms, the consumer's by 15 to 25 ms: ahead of the broker by 11 to 30. */
	d = daemon_named(&c, "consumer-1");
	assert_int_equal(d->readings, 2);
	assert_int_equal(d->least_us, 20000);
	assert_int_equal(d->most_us, 22000);
	assert_true(d->is_against_reference);
	assert_int_equal(d->ahead_least_us, 11000);
	assert_int_equal(d->ahead_most_us, 30000);
	h = clock_named(&c, "consumer-1");
	assert_int_equal(h->method, CLOCK_DAEMONS);
	assert_int_equal(h->offset_us, 20500);
	assert_int_equal(clock_uncertainty_us(&c, SV("consumer-1"), &known), 9500);
	assert_true(known);
	/* 9,990 s from 10:15:00, the middle of the readings: 150 ms of wandering more. */
	assert_int_equal(clock_uncertainty_at_us(&c, SV("consumer-1"), ref_at("13:01:29.9795"), &known), 9500 + 149850);
	for (size_t i = 2; i <= 3; i++) {
		const char *host = i == 2 ? "consumer-2" : "consumer-3";

		assert_false(daemon_named(&c, host)->is_against_reference);
		assert_int_equal(clock_named(&c, host)->method, CLOCK_ASSUMED);
		assert_int_equal(clock_named(&c, host)->offset_us, 0);
		assert_false(clock_named(&c, host)->has_uncertainty);
	}
	story_free(st);
}

/* Links say that the consumer's clock is right. */
static void links_weigh_more_than_daemons(void **state)
{
	static const struct {
		const char *offset_us;
		bool is_contradicted;
	} cases[] = { { "3000", false }, { "500000", true } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		struct clocks c;

		reading(st, "broker-1", "10:30:00", "0", "5000");
		reading(st, "consumer-1", "10:30:00", cases[i].offset_us, "5000");
		c = an_hour(st, 8, stepping_never);
		assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_LINKS);
		assert_int_equal(clock_named(&c, "consumer-1")->offset_us, 0);
		assert_int_equal(daemon_named(&c, "consumer-1")->is_contradicted, cases[i].is_contradicted);
		story_free(st);
	}
}

/* ---- captures in the place of a client's log ---- */

/* A member asks to join, and has the answer a moment after the coordinator formed the generation; true times, ms. */
static void wire_join(struct story *st, int64_t ahead_us, int64_t asked_ms, int64_t answered_ms, const char *generation, bool refused)
{
	const struct host_time t = after(at("10:00:00"), asked_ms * MS + ahead_us);

	story_interval(st, EVENT_WIRE_JOINED, "consumer-1", t, after(t, (answered_ms - asked_ms) * MS), "path_a", "10.0.0.1:40000",
		       "path_b", "10.0.0.2:9092", "group", "g", "client", "c-1", "member", "m-1", "generation", generation,
		       refused ? "error" : NULL, "UNKNOWN_MEMBER_ID", NULL);
}

static void formed_at(struct story *st, int64_t ms, const char *generation)
{
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", after(at("10:00:00"), ms * MS), "group", "g", "generation", generation, NULL);
}

/*
 * The answer with the new member's id was cut off; the SyncGroup after it has it. The join waited for others and bounds little,
 * but the coordinator added the member at once. Clocks are in step.
 */
static void tell_cut_join(struct story *st, const char *synced_generation)
{
	const struct host_time start = at("10:00:00");

	story_input(st, "broker-1/server.log", "log", "broker-1");
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", after(start, 3 * MS), "group", "g", "member", "m-1", NULL);
	formed_at(st, 800, "1");
	story_input(st, "consumer-1/eth0.pcap", "capture", "consumer-1");
	story_interval(st, EVENT_WIRE_JOINED, "consumer-1", after(start, 500), after(start, 802 * MS), "path_a", "10.0.0.1:40000",
		       "path_b", "10.0.0.2:9092", "group", "g", "client", "c-1", "generation", "1", NULL);
	story_interval(st, EVENT_WIRE_SYNCED, "consumer-1", after(start, 803 * MS), after(start, 805 * MS), "path_a",
		       "10.0.0.1:40000", "path_b", "10.0.0.2:9092", "group", "g", "client", "c-1", "member", "m-1",
		       "generation", synced_generation, NULL);
}

static void a_sync_names_the_join_before_it(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_cut_join(st, "1");
	struct clocks c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_LINKS);
	assert_true(clock_named(&c, "consumer-1")->uncertainty_us < 5 * MS);
	story_free(st);

	/* Of another generation it names none, and the clock is known by how long the join waited alone. */
	st = story_new();
	tell_cut_join(st, "2");
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_LINKS);
	assert_true(clock_named(&c, "consumer-1")->uncertainty_us > 300 * MS);
	story_free(st);
}

/* The broker's capture has the answer on its way at ms of true time; the client writes it down later, by its own clock. */
static void refused_heartbeat(struct story *st, int64_t ms, const char *member, const char *error)
{
	const struct host_time t = after(at("10:00:00"), ms * MS);

	story_interval(st, EVENT_WIRE_HEARTBEAT, "broker-1", after(t, -2 * MS), t, "path_a", "10.0.0.1:40000", "path_b",
		       "10.0.0.2:9092", "direction", "ab", "group", "g", "client", "c-1", "member", member, "api", "Heartbeat",
		       "error", error, NULL);
}

static void writes_refusal(struct story *st, int64_t ms, const char *member, const char *api)
{
	story_event(st, EVENT_CLIENT_MEMBERSHIP_LOST, "consumer-1", after(at("10:00:00"), ms * MS), "group", "g", "client", "c-1",
		    "member", member, "api", api, "error", "UNKNOWN_MEMBER_ID", NULL);
}

static void an_answer_that_refuses_is_before_the_line_about_it(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "broker-1/eth0.pcap", "capture", "broker-1");
	refused_heartbeat(st, 1000, "m-1", "UNKNOWN_MEMBER_ID");
	refused_heartbeat(st, 1500, "m-1", "UNKNOWN_MEMBER_ID");	/* another, sent before the client had the first */
	story_input(st, "consumer-1/app.log", "log", "consumer-1");
	/* Its clock is 3 s behind: it seems to have had the answer before that was given. */
	writes_refusal(st, 1004 - 3000, "m-1", "HEARTBEAT");
	struct clocks c = clocks_by_default(st);
	const struct host_clock *clock = clock_named(&c, "consumer-1");
	assert_int_equal(clock->method, CLOCK_ONE_SIDED);
	/* At 1000 or later, and the line up to a millisecond later than it says. */
	assert_true(llabs(clock->offset_us - (-2996 * MS)) <= MS);
	story_free(st);

	/* Twins: a commit that was refused; another member; a heartbeat that was told to join again. */
	for (int twin = 0; twin < 3; twin++) {
		st = story_new();
		story_input(st, "broker-1/eth0.pcap", "capture", "broker-1");
		refused_heartbeat(st, 1000, twin == 1 ? "m-2" : "m-1", twin == 2 ? "REBALANCE_IN_PROGRESS" : "UNKNOWN_MEMBER_ID");
		story_input(st, "consumer-1/app.log", "log", "consumer-1");
		writes_refusal(st, 1004 - 3000, "m-1", twin == 0 ? "OFFSET_COMMIT" : "HEARTBEAT");
		c = clocks_by_default(st);
		assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_ASSUMED);
		story_free(st);
	}
}

static void joins_on_the_wire_link_clocks(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "broker-1/server.log", "log", "broker-1");
	formed_at(st, 20, "1");
	formed_at(st, 60, "2");
	formed_at(st, 90, "3");
	story_input(st, "consumer-1/eth0.pcap", "capture", "consumer-1");
	/* By half a millisecond more, so that its times are seen to be fine. */
	wire_join(st, 3000 * MS + 500, 10, 24, "1", false);
	wire_join(st, 3000 * MS + 500, 45, 62, "2", false);
	struct clocks c = clocks_by_default(st);
	const struct host_clock *clock = clock_named(&c, "consumer-1");
	assert_int_equal(clock->method, CLOCK_LINKS);
	assert_int_equal(clock->links_forward, 2);
	assert_int_equal(clock->links_backward, 2);
	/* Asked 10 ms before it was formed, and the line may be 1 ms late: at least 2989.5 ms. Answered 2 ms after: at most 3002.5. */
	assert_true(llabs(clock->offset_us - (2989500 + 3002500) / 2) <= 1);
	assert_close(clock->uncertainty_us, (3002500 - 2989500) / 2);
	story_free(st);

	/* A request that was refused formed nothing. */
	st = story_new();
	story_input(st, "broker-1/server.log", "log", "broker-1");
	formed_at(st, 20, "1");
	story_input(st, "consumer-1/eth0.pcap", "capture", "consumer-1");
	wire_join(st, 3000 * MS, 10, 24, "1", true);
	c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_ASSUMED);
	story_free(st);
}

/* A request that the client gave up after 4003 ms had passed the broker's capture before that, and after it was sent. */
static void a_cancelled_request_links_clocks(void **state)
{
	static const char *const numbers[] = { "70", "71" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *st = story_new();
		story_input(st, "broker-1/eth0.pcap", "capture", "broker-1");
		story_event(st, EVENT_BROKER_STARTED, "broker-1", at("09:00:00"), NULL);
		story_interval(st, EVENT_WIRE_UNANSWERED, "broker-1", after(at("10:00:00"), 205 * MS + 300), at("10:00:09"), "path_a",
			       "10.0.0.1:40000", "path_b", "10.0.0.2:9092", "direction", "ab", "client", "c-1", "api", "Heartbeat",
			       "correlation_id", "70", NULL);
		story_input(st, "consumer-1/app.log", "log", "consumer-1");
		/* Its clock is 3 s ahead; it sent at 10:00:00.200, and wrote this 4003 ms later. */
		story_event(st, EVENT_CLIENT_REQUEST_CANCELLED, "consumer-1", after(at("10:00:00"), (200 + 4003 + 3000) * MS), "group",
			    "g", "client", "c-1", "node", "2147483646", "api", "HEARTBEAT", "correlation_id", numbers[i],
			    "elapsed_ms", "4003", NULL);
		struct clocks c = clocks_by_default(st);
		const struct host_clock *clock = clock_named(&c, "consumer-1");
		assert_true(sv_eq(c.reference, SV("broker-1")));
		/* Another number is another request. */
		assert_int_equal(clock->method, i == 0 ? CLOCK_ONE_SIDED : CLOCK_ASSUMED);
		if (i == 0) /* at least 3000 ms, less 5.3 on its way, 1 of rounding, and a microsecond in which the capture writes */
			assert_int_equal(clock->offset_us, 3000 * MS - 5300 - 1000 - 1);
		story_free(st);
	}
}

/* ---- the same packet in two captures ---- */

/*
 * A client asks and is answered, once a second, and both hosts capture it. The
 * broker's clock is ahead by so much; a packet takes transit_us.
 */
struct capture_pair {
	int64_t ahead_us, transit_us;
	unsigned count;
	bool is_same_place;	/* both captures stand beside the client */
	bool is_seen_twice;	/* the client's shows each request again later */
	bool is_short;		/* a connection for each request */
};

static void sighted(struct story *st, const struct capture_pair *p, const char *host, int64_t us, const char *direction, unsigned n)
{
	char digest[32], caller[32];

	snprintf(caller, sizeof caller, "10.0.0.1:%u", 40000 + (p->is_short ? n : 0));
	snprintf(digest, sizeof digest, "%u%s", 1000 + n, direction[0] == 'a' ? "1" : "2");
	story_event(st, EVENT_NET_SIGHTED, host, (struct host_time){ us }, "path_a", caller, "path_b", "10.0.0.2:9092",
		    "direction", direction, "digest", digest, NULL);
}

static void tell_captures(struct story *st, const struct capture_pair *p)
{
	const int64_t start = at("10:00:00").us, transit = p->is_same_place ? 0 : p->transit_us;

	story_input(st, "broker-1/eth0.pcap", "capture", "broker-1");
	for (unsigned n = 0; n < p->count; n++) {
		sighted(st, p, "broker-1", start + n * US_PER_S + transit + p->ahead_us, "ab", n);
		sighted(st, p, "broker-1", start + n * US_PER_S + 2 * p->transit_us - transit + p->ahead_us, "ba", n);
	}
	story_input(st, "consumer-1/eth0.pcap", "capture", "consumer-1");
	for (unsigned n = 0; n < p->count; n++) {
		sighted(st, p, "consumer-1", start + n * US_PER_S, "ab", n);
		sighted(st, p, "consumer-1", start + n * US_PER_S + 2 * p->transit_us, "ba", n);
		if (p->is_seen_twice)
			sighted(st, p, "consumer-1", start + n * US_PER_S + 300 * MS, "ab", n);
	}
	story_end_input(st);
}

static void one_packet_in_two_captures(void **state)
{
	const struct capture_pair p = { .ahead_us = 1250 * MS, .transit_us = 400, .count = 20 };
	struct story *st = story_new();

	(void)state;
	tell_captures(st, &p);
	struct clocks c = clocks_by_default(st);
	assert_true(sv_eq(c.reference, SV("broker-1")));
	const struct host_clock *clock = clock_named(&c, "consumer-1");
	assert_int_equal(clock->method, CLOCK_LINKS);
	assert_int_equal(clock->links_forward, 20);
	assert_int_equal(clock->links_backward, 20);
	/* Requests and answers enclose it by the transit, either way. */
	assert_true(llabs(clock->offset_us + 1250 * MS) <= 400);
	assert_close(clock->uncertainty_us, 400);
	story_free(st);
}

/* Packets of many connections between the same hosts speak together. */
static void packets_of_short_connections(void **state)
{
	const struct capture_pair p = { .ahead_us = 1250 * MS, .transit_us = 400, .count = 20, .is_short = true };
	struct story *st = story_new();

	(void)state;
	tell_captures(st, &p);
	struct clocks c = clocks_by_default(st);
	const struct host_clock *clock = clock_named(&c, "consumer-1");
	assert_int_equal(clock->method, CLOCK_LINKS);
	assert_true(llabs(clock->offset_us + 1250 * MS) <= 400);
	story_free(st);
}

/* Whichever host stands where is found out from both directions: also when the broker's clock is behind by hours. */
static void packets_tell_who_sent_them(void **state)
{
	const struct capture_pair p = { .ahead_us = -7500 * US_PER_S + 77, .transit_us = 400, .count = 20 };
	struct story *st = story_new();

	(void)state;
	tell_captures(st, &p);
	struct clocks c = clocks_by_default(st);
	assert_int_equal(clock_named(&c, "consumer-1")->method, CLOCK_LINKS);
	assert_true(llabs(clock_named(&c, "consumer-1")->offset_us - 7500 * US_PER_S + 77) <= 400);
	story_free(st);
}

/* No order can be told of one place, of packets of one direction, or of what one host saw twice. */
static void packets_that_tell_no_order(void **state)
{
	const struct capture_pair same_place = { .ahead_us = 1250 * MS, .transit_us = 400, .count = 20, .is_same_place = true };
	const struct capture_pair too_few = { .ahead_us = 1250 * MS, .transit_us = 400, .count = 1 };
	const struct capture_pair twice = { .ahead_us = 1250 * MS, .transit_us = 400, .count = 20, .is_seen_twice = true };
	const struct capture_pair *const cases[] = { &same_place, &too_few, &twice };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		tell_captures(st, cases[i]);
		struct clocks c = clocks_by_default(st);
		const char *other = sv_eq(c.reference, SV("broker-1")) ? "consumer-1" : "broker-1";
		assert_int_equal(clock_named(&c, other)->method, CLOCK_ASSUMED);
		story_free(st);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_are_enclosed),
		cmocka_unit_test(the_tightest_links_are_kept_as_evidence),
		cmocka_unit_test(each_pair_of_lines_is_a_link),
		cmocka_unit_test(a_bound_from_one_side_moves_no_further_than_it_must),
		cmocka_unit_test(a_step_between_the_links_is_a_contradiction),
		cmocka_unit_test(drift_is_a_line_between_the_bounds),
		cmocka_unit_test(a_step_makes_two_pieces),
		cmocka_unit_test(a_lone_link_that_all_others_contradict_is_no_step),
		cmocka_unit_test(uncertainty_grows_away_from_the_links),
		cmocka_unit_test(without_links_the_offset_is_assumed),
		cmocka_unit_test(a_generation_that_came_twice_is_no_link),
		cmocka_unit_test(an_answer_belongs_to_the_one_request_before_it),
		cmocka_unit_test(a_whole_join_bounds_twice_from_each_side),
		cmocka_unit_test(the_leader_bounds_the_other_clients),
		cmocka_unit_test(a_member_id_may_hold_spaces),
		cmocka_unit_test(a_member_that_is_removed_is_not_added),
		cmocka_unit_test(a_clock_set_to_local_time_is_named),
		cmocka_unit_test(zones_are_of_inputs_and_clocks_of_hosts),
		cmocka_unit_test(other_logs_of_a_host_inherit_its_zone),
		cmocka_unit_test(a_told_step_is_where_links_leave_it_open),
		cmocka_unit_test(two_told_steps_leave_it_open),
		cmocka_unit_test(a_step_between_two_samples),
		cmocka_unit_test(two_daemons_bound_a_clock_without_links),
		cmocka_unit_test(links_weigh_more_than_daemons),
		cmocka_unit_test(a_told_step_before_all_links_moves_what_was_written_before_it),
		cmocka_unit_test(links_refute_a_told_step),
		cmocka_unit_test(a_told_step_without_links),
		cmocka_unit_test(the_users_offset_leaves_no_zone),
		cmocka_unit_test(logs_all_in_local_time),
		cmocka_unit_test(samples_tell_when_a_clock_was_set),
		cmocka_unit_test(a_host_with_an_offset_of_its_own_is_no_reference),
		cmocka_unit_test(the_users_offset_wins),
		cmocka_unit_test(a_second_broker_is_aligned_through_a_client),
		cmocka_unit_test(clients_bound_one_another_without_a_broker),
		cmocka_unit_test(logs_in_seconds_widen_the_bounds),
		cmocka_unit_test(events_of_no_host_are_on_the_reference),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(an_answer_that_refuses_is_before_the_line_about_it),
		cmocka_unit_test(a_sync_names_the_join_before_it),
		cmocka_unit_test(joins_on_the_wire_link_clocks),
		cmocka_unit_test(a_cancelled_request_links_clocks),
		cmocka_unit_test(one_packet_in_two_captures),
		cmocka_unit_test(packets_of_short_connections),
		cmocka_unit_test(packets_tell_who_sent_them),
		cmocka_unit_test(packets_that_tell_no_order),
		cmocka_unit_test(hostile_times_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
