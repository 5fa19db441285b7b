/* SPDX-License-Identifier: MIT */
/* Rebalances as episodes: one per generation, its trigger, its root, the fate of who was evicted. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/rebalance.h"
#include "story.h"

#define ID_1 "c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310"
#define ID_1_NEW "c-1-b0e15080-cd78-4435-b80c-c196ea38e1fc"
#define ID_1_GHOST "c-1-435ccd6c-66fe-4efb-9ae8-80f93f50ac4a"
#define ID_2 "c-2-a209bbb2-dfb3-4de2-857a-304c0a7286e4"
#define ID_3 "c-3-4479e3da-63bd-4631-8687-e3aacd8f4805"
#define EXPIRED(id) "removing member " id " on heartbeat expiration."
#define ADDING(id) "Adding new member " id " with group instance id null; client reason: need to re-join with the given member-id: " id
#define LEAVING(id) "explicit `LeaveGroup` request for (" id ") members."

static const struct clocks one_clock;

/* ---- telling ---- */

static void preparing(struct story *st, const char *time, const char *old_generation, const char *member, const char *reason)
{
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at(time), "group", "g", "generation", old_generation, "member", member,
		    "reason", reason, NULL);
}

static void formed(struct story *st, const char *time, const char *generation)
{
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at(time), "group", "g", "generation", generation, NULL);
}

static void assigned(struct story *st, const char *time, const char *generation)
{
	story_event(st, EVENT_GROUP_ASSIGNED, "broker-1", at(time), "group", "g", "generation", generation, NULL);
}

static void member_line(struct story *st, enum event_type type, const char *time, const char *member)
{
	story_event(st, type, "broker-1", at(time), "group", "g", "member", member, NULL);
}

static void joined(struct story *st, const char *host, const char *client, const char *time, const char *generation,
		   const char *member)
{
	story_event(st, EVENT_CLIENT_JOINED, host, at(time), "group", "g", "client", client, "generation", generation, "member",
		    member, NULL);
}

static void synced(struct story *st, const char *host, const char *client, const char *time, const char *generation,
		   const char *member)
{
	story_event(st, EVENT_CLIENT_SYNCED, host, at(time), "group", "g", "client", client, "generation", generation, "member",
		    member, NULL);
}

static void lost(struct story *st, const char *host, const char *client, const char *time, const char *member)
{
	story_event(st, EVENT_CLIENT_MEMBERSHIP_LOST, host, at(time), "group", "g", "client", client, "member", member, "error",
		    "UNKNOWN_MEMBER_ID", NULL);
}

static void starts(struct story *st, const char *host, const char *client, const char *time)
{
	story_event(st, EVENT_CLIENT_CONFIG, host, at(time), "group", "g", "client", client, "key", "session.timeout.ms", "value",
		    "6000", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, host, at(time), "group", "g", "client", client, "key", "heartbeat.interval.ms",
		    "value", "2000", NULL);
	story_event(st, EVENT_CLIENT_CONFIG, host, at(time), "group", "g", "client", client, "key", "max.poll.interval.ms",
		    "value", "15000", NULL);
}

/* Three members join at once; two minutes before everything else. */
static void group_of_three(struct story *st)
{
	static const char *const ids[] = { ID_1, ID_2, ID_3 };
	static const char *const hosts[] = { "app-1", "app-2", "app-3" };
	static const char *const clients[] = { "c-1", "c-2", "c-3" };

	for (size_t i = 0; i < 3; i++)
		starts(st, hosts[i], clients[i], "09:58:00");
	member_line(st, EVENT_MEMBER_JOINS, "09:58:01", ID_1);
	preparing(st, "09:58:01", "0", ID_1, ADDING(ID_1));
	member_line(st, EVENT_MEMBER_JOINS, "09:58:01.1", ID_2);
	member_line(st, EVENT_MEMBER_JOINS, "09:58:01.2", ID_3);
	formed(st, "09:58:04", "1");
	assigned(st, "09:58:04.1", "1");
	for (size_t i = 0; i < 3; i++) {
		joined(st, hosts[i], clients[i], "09:58:04.01", "1", ids[i]);
		synced(st, hosts[i], clients[i], "09:58:04.2", "1", ids[i]);
	}
}

/* The coordinator's lines of one eviction. */
static void expiry(struct story *st, const char *time, const char *member, const char *old_generation, const char *reason)
{
	member_line(st, EVENT_SESSION_EXPIRED, time, member);
	preparing(st, time, old_generation, member, reason);
}

static struct rebalances find_with(struct story *st, const struct analysis_options *o)
{
	struct groups g;
	struct rebalances r;

	assert_int_equal(groups_find(story_store(st), &one_clock, o, st->arena, &g), 0);
	assert_int_equal(rebalances_find(story_store(st), &one_clock, &g, o, st->arena, &r), 0);
	return r;
}

static struct rebalances find(struct story *st)
{
	struct analysis_options o = analysis_options_default();

	return find_with(st, &o);
}

static void assert_sv(struct sv is, const char *should)
{
	if (!sv_eq(is, sv_of(should)))
		fail_msg("is \"%.*s\", should be \"%s\"", SV_ARG(is), should != NULL ? should : "(absent)");
}

static void assert_trigger(const struct rebalance *r, enum trigger trigger)
{
	if (r->trigger != trigger)
		fail_msg("R%u is %s, should be %s", r->id, trigger_infos[r->trigger].name, trigger_infos[trigger].name);
}

/* ---- one rebalance, many lines ---- */

static void test_a_generation_is_one_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.items[0].id, 1);
	assert_true(r.items[0].has_generation);
	assert_int_equal(r.items[0].generation, 1);
	assert_int_equal(r.items[0].span.start.us, at("09:58:01").us);
	assert_int_equal(r.items[0].span.end.us, at("09:58:04.2").us);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_JOIN);
	assert_int_equal(r.items[0].triggers, 1u << TRIGGER_MEMBER_JOIN);
	assert_true(r.items[0].is_root);
	assert_int_equal(r.items[0].fate, FATE_NOT_EVICTED);
	assert_string_equal(r.items[0].trigger_basis, "broker reason");
	/* Three joins, preparing, stabilized, assigned, and two lines of each client. */
	assert_int_equal(r.items[0].evidence.count, 12);
	assert_ptr_equal(rebalances_get(&r, 1), &r.items[0]);
	assert_null(rebalances_get(&r, 0));
	assert_null(rebalances_get(&r, 2));
	story_free(st);
}

static void stored(struct story *st, const char *time, const char *generation, const char *member)
{
	story_event(st, EVENT_GROUP_STORED, "broker-1", at(time), "group", "g", "generation", generation, "member", member, NULL);
}

/* A dump of __consumer_offsets: what is left of the rebalances when the broker's log is lost. */
static void test_stored_generations_are_rebalances(void **state)
{
	struct story *st = story_new();

	(void)state;
	stored(st, "10:00:00", "7", ID_1);
	stored(st, "10:00:00", "7", ID_2);
	stored(st, "10:00:30", "8", ID_2);
	story_event(st, EVENT_GROUP_STORED, "broker-1", at("10:01:00"), "group", "g", "generation", "9", "members", "0", NULL);
	/* A member alone, as the consumer protocol stores it. */
	story_event(st, EVENT_GROUP_STORED, "broker-1", at("10:02:00"), "group", "g", "member", ID_3, NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[0].generation, 7);
	assert_int_equal(r.items[0].evidence.count, 2);
	assert_int_equal(r.items[1].generation, 8);
	assert_trigger(&r.items[1], TRIGGER_UNKNOWN);
	assert_false(r.items[1].empties_group);
	assert_true(r.items[2].empties_group);
	story_free(st);
}

static void test_a_stored_generation_is_the_one_that_the_log_tells_of(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	stored(st, "09:58:04.1", "1", ID_1);
	/* Stored anew half an hour later: a static member's process was followed by another. */
	stored(st, "10:28:00", "1", ID_1);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_JOIN);
	assert_int_equal(r.items[0].evidence.count, 13);
	assert_int_equal(r.items[0].span.end.us, at("09:58:04.2").us);
	story_free(st);
}

/* The dump names no cause: it is not the coordinator's log, whose silence would mean something. */
static void test_a_stored_generation_does_not_silence_the_client(void **state)
{
	struct story *st = story_new();

	(void)state;
	starts(st, "app-1", "c-1", "09:50:00");
	joined(st, "app-1", "c-1", "10:00:00.000", "7", ID_1);
	lost(st, "app-1", "c-1", "10:05:00.000", ID_1);
	joined(st, "app-1", "c-1", "10:05:03.000", "9", ID_1_NEW);
	struct rebalances without = find(st);
	stored(st, "10:00:00.050", "7", ID_1);
	stored(st, "10:05:03.050", "9", ID_1_NEW);
	struct rebalances with = find(st);
	assert_int_equal(with.count, without.count);
	for (size_t i = 0; i < with.count; i++)
		assert_trigger(&with.items[i], without.items[i].trigger);
	story_free(st);
}

static void test_clients_alone_make_one_too(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00.000", "7", ID_1);
	joined(st, "app-2", "c-2", "10:00:00.010", "7", ID_2);
	synced(st, "app-1", "c-1", "10:00:00.100", "7", ID_1);
	synced(st, "app-2", "c-2", "10:00:00.120", "7", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.items[0].generation, 7);
	assert_trigger(&r.items[0], TRIGGER_UNKNOWN);
	assert_int_equal(r.items[0].trigger_strength, STRENGTH_SUGGESTS);
	story_free(st);
}

/* The number starts again when a group is deleted and made anew. */
static void test_a_group_made_anew_starts_a_new_count(void **state)
{
	struct story *st = story_new();

	(void)state;
	member_line(st, EVENT_MEMBER_JOINS, "10:00:00", ID_1);
	preparing(st, "10:00:00", "0", ID_1, ADDING(ID_1));
	formed(st, "10:00:03", "1");
	member_line(st, EVENT_MEMBER_JOINS, "10:02:00", ID_2);
	preparing(st, "10:02:00", "0", ID_2, ADDING(ID_2));
	formed(st, "10:02:03", "1");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].span.end.us, at("10:00:03").us);
	assert_int_equal(r.items[1].span.end.us, at("10:02:03").us);
	story_free(st);
}

/* A follower that rejoins unchanged gets the generation that there is: redelivery without a rebalance. */
static void test_joining_a_running_generation_is_no_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	joined(st, "app-2", "c-2", "11:30:00", "1", ID_2);
	synced(st, "app-2", "c-2", "11:30:00.1", "1", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.items[0].span.end.us, at("09:58:04.2").us);
	story_free(st);
}

static void test_the_last_leave_empties_the_group(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:00"), "group", "g", "member", ID_1, "client_reason",
		    "the consumer is being closed", NULL);
	preparing(st, "10:00:00", "4", ID_1, LEAVING(ID_1));
	story_event(st, EVENT_GROUP_EMPTY, "broker-1", at("10:00:00.001"), "group", "g", "generation", "5", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.items[0].generation, 5);
	assert_true(r.items[0].empties_group);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_LEAVE);
	assert_int_equal(r.items[0].trigger_strength, STRENGTH_PROVES);
	story_free(st);
}

/* ---- evictions ---- */

static void tell_wrong_eviction(struct story *st)
{
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	assigned(st, "10:00:32.1", "2");
	joined(st, "app-2", "c-2", "10:00:32.01", "2", ID_2);
	synced(st, "app-2", "c-2", "10:00:32.2", "2", ID_2);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	joined(st, "app-1", "c-1", "10:00:40.01", "3", ID_1_NEW);
}

static void test_an_eviction_and_the_return(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_wrong_eviction(st);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	const struct rebalance *gone = &r.items[1], *back = &r.items[2];
	assert_int_equal(gone->generation, 2);
	assert_trigger(gone, TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(gone->trigger_strength, STRENGTH_PROVES);
	assert_string_equal(gone->trigger_basis, "broker reason");
	assert_int_equal(gone->trigger_time.us, at("10:00:30").us);
	assert_sv(gone->member, ID_1);
	assert_sv(gone->client, "c-1");
	assert_sv(gone->host, "app-1");
	assert_sv(gone->broker_host, "broker-1");
	assert_int_equal(gone->fate, FATE_WRONGLY_EVICTED);
	assert_true(gone->is_root);
	assert_int_equal(gone->root, gone->id);
	assert_int_equal(gone->span.end.us, at("10:00:32.2").us);
	assert_int_equal(back->generation, 3);
	assert_trigger(back, TRIGGER_MEMBER_REJOIN);
	assert_false(back->is_root);
	assert_int_equal(back->root, gone->id);
	assert_sv(back->host, "app-1");
	assert_int_equal(back->fate, FATE_NOT_EVICTED);
	story_free(st);
}

/* The twin: the process was killed and another took its place. Two roots, and nobody was wronged. */
static void test_a_crash_and_a_restart(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	starts(st, "app-1", "c-1", "10:00:50");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:51", ID_1_NEW);
	preparing(st, "10:00:51", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:53", "3");
	joined(st, "app-1", "c-1", "10:00:53.01", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].fate, FATE_GONE);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[2].is_root);
	story_free(st);
}

/* A producer that is made in mid-life prints a version as well: that is no restart. */
static void test_a_version_line_alone_is_no_restart(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "app-1/app.log", "log", "app-1");
	tell_wrong_eviction(st);
	story_event(st, EVENT_CLIENT_VERSION, "app-1", at("10:00:35"), "value", "4.1.1", NULL);
	struct rebalances r = find(st);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	story_free(st);
}

static void test_fate_is_gone_when_the_log_goes_on_without_the_client(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	/* The host's log, with lines of others until 10:05. */
	story_input(st, "app-1/app.log", "log", "app-1");
	story_event(st, EVENT_CLIENT_VERSION, "app-1", at("09:50:00"), "client", "other", "value", "4.1.1", NULL);
	story_event(st, EVENT_CLIENT_VERSION, "app-1", at("10:05:00"), "client", "other", "value", "4.1.1", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.items[1].fate, FATE_GONE);
	story_free(st);
}

static size_t cited(const struct rebalance *r, enum event_type type, size_t *also)
{
	size_t n = 0;

	*also = 0;
	for (size_t i = 0; i < r->evidence.count; i++) {
		if (r->evidence.items[i].type != type)
			continue;
		n++;
		*also += r->evidence.items[i].also_count;
	}
	return n;
}

/* INFO by the heartbeat thread, and WARN by the one that resets the generation: the coordinator said it once. */
static void test_one_failure_in_two_lines_is_cited_once(void **state)
{
	struct story *st = story_new();
	size_t also;

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	story_event(st, EVENT_CLIENT_MEMBERSHIP_LOST, "app-1", at("10:00:38"), "group", "g", "client", "c-1", "member", ID_1, "error",
		    "UNKNOWN_MEMBER_ID", "text", "Attempt to heartbeat failed since member id is not valid.", NULL);
	story_event(st, EVENT_CLIENT_MEMBERSHIP_LOST, "app-1", at("10:00:38.002"), "group", "g", "client", "c-1", "error",
		    "UNKNOWN_MEMBER_ID", "text", "Resetting generation and member id", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	assert_int_equal(cited(&r.items[1], EVENT_CLIENT_MEMBERSHIP_LOST, &also), 1);
	assert_int_equal(also, 1);
	story_free(st);

	/* Another client of that host, and the same one three seconds later: each is its own. */
	st = story_new();
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	lost(st, "app-1", "c-1", "10:00:41", ID_1);
	r = find(st);
	assert_int_equal(cited(&r.items[1], EVENT_CLIENT_MEMBERSHIP_LOST, &also), 2);
	assert_int_equal(also, 0);
	story_free(st);
}

/* Two appenders write each line of the coordinator twice. */
static void test_a_log_written_twice_counts_once(void **state)
{
	struct story *st = story_new();
	size_t also;

	(void)state;
	group_of_three(st);
	for (int i = 0; i < 2; i++) {
		story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:00:30"), "group", "g", "member", ID_1, "text", "has failed", NULL);
		story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:30"), "group", "g", "generation", "1", "member", ID_1,
			    "reason", EXPIRED(ID_1), "text", "Preparing", NULL);
		story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("10:00:32"), "group", "g", "generation", "2", "text", "Stabilized",
			    NULL);
	}
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(cited(&r.items[1], EVENT_SESSION_EXPIRED, &also), 1);
	assert_int_equal(also, 1);
	assert_int_equal(cited(&r.items[1], EVENT_GROUP_STABILIZED, &also), 1);
	assert_int_equal(also, 1);
	story_free(st);
}

static void killed(struct story *st, const char *host, const char *time)
{
	story_event(st, EVENT_PROCESS_KILLED, host, at(time), "process", "1234 (java)", NULL);
}

/* The process was killed, and what took its place came back before the session expired: without the new one's settings. */
static void tell_kill(struct story *st, const char *host)
{
	story_input(st, "app-1/app.log", "log", "app-1");
	group_of_three(st);
	killed(st, host, "10:00:25");
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	joined(st, "app-1", "c-1", "10:00:40.01", "3", ID_1_NEW);
}

static void test_who_was_killed_is_gone(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_kill(st, "app-1");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[1].fate, FATE_GONE);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[2].is_root);
	bool is_cited = false;
	for (size_t i = 0; i < r.items[1].evidence.count; i++)
		is_cited |= r.items[1].evidence.items[i].type == EVENT_PROCESS_KILLED;
	assert_true(is_cited);
	story_free(st);
}

static void test_anothers_killing_wrongs_nobody(void **state)
{
	struct story *st = story_new();

	(void)state;
	/* On another host. */
	tell_kill(st, "app-2");
	struct rebalances r = find(st);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	story_free(st);

	/* On its own host, of another process: this one says afterwards that it lives. */
	st = story_new();
	story_input(st, "app-1/app.log", "log", "app-1");
	killed(st, "app-1", "10:00:25");
	tell_wrong_eviction(st);
	r = find(st);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	story_free(st);

	/* Long before. */
	st = story_new();
	story_input(st, "app-1/app.log", "log", "app-1");
	killed(st, "app-1", "10:00:10");
	tell_wrong_eviction(st);
	r = find(st);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	story_free(st);
}

/* What the kernel of the host logs meanwhile does not tell whether the client would have. */
static void test_another_log_of_the_host_is_not_the_clients(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	story_input(st, "app-1/kern.log", "log", "app-1");
	story_event(st, EVENT_LINK_UP, "app-1", at("09:50:00"), "device", "eth0", NULL);
	story_event(st, EVENT_LINK_UP, "app-1", at("10:05:00"), "device", "eth0", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.items[1].fate, FATE_UNKNOWN);
	story_free(st);
}

static void test_fate_is_unknown_without_a_log(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.items[1].fate, FATE_UNKNOWN);
	story_free(st);
}

/* With the coordinator's log alone a client id that comes back soon is taken for the same, and not for wronged. */
static void test_a_return_by_the_brokers_log_alone(void **state)
{
	struct story *st = story_new();

	(void)state;
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	/* Another client is another matter. */
	member_line(st, EVENT_MEMBER_JOINS, "10:00:50", ID_2);
	preparing(st, "10:00:50", "3", ID_2, ADDING(ID_2));
	formed(st, "10:00:52", "4");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[1].root, 1);
	assert_int_equal(r.items[0].fate, FATE_UNKNOWN);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[2].is_root);
	story_free(st);
}

/* A log at WARN prints no configuration, so that none is there says nothing: back or started anew is open. */
static void test_a_return_by_a_log_that_shows_no_starts(void **state)
{
	struct story *st = story_new();

	(void)state;
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	story_input(st, "app-1/app.log", "log", "app-1");
	story_event(st, EVENT_CLIENT_DISCONNECTED, "app-1", at("09:50:00"), "group", "g", "client", "c-1", "node", "1", NULL);
	story_event(st, EVENT_CLIENT_DISCONNECTED, "app-1", at("10:05:00"), "group", "g", "client", "c-1", "node", "1", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[1].trigger_strength, STRENGTH_SUGGESTS);
	assert_int_equal(r.items[0].fate, FATE_UNKNOWN);
	story_free(st);

	/* The twin prints it when it starts, and has not printed it again. */
	st = story_new();
	story_input(st, "app-1/app.log", "log", "app-1");
	tell_wrong_eviction(st);
	r = find(st);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].trigger_strength, STRENGTH_PROVES);
	story_free(st);
}

/* ---- how long members were without partitions ---- */

static void partitions(struct story *st, enum event_type type, const char *host, const char *client, const char *time)
{
	story_event(st, type, host, at(time), "group", "g", "client", client, "partitions", "t-0", NULL);
}

static void test_who_was_without_partitions(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	partitions(st, EVENT_PARTITIONS_REVOKED, "app-2", "c-2", "10:00:31");
	formed(st, "10:00:32", "2");
	joined(st, "app-2", "c-2", "10:00:32", "2", ID_2);
	synced(st, "app-2", "c-2", "10:00:32.5", "2", ID_2);
	/* The evicted one learns of it late. */
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	partitions(st, EVENT_PARTITIONS_LOST, "app-1", "c-1", "10:00:38.1");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	synced(st, "app-1", "c-1", "10:00:40.5", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[0].absence_count, 0);
	assert_int_equal(r.items[1].absence_count, 1);
	assert_sv(r.items[1].absences[0].client, "c-2");
	assert_int_equal(r.items[1].absences[0].span.start.us, at("10:00:31").us);
	assert_int_equal(r.items[1].absences[0].span.end.us, at("10:00:32.5").us);
	assert_int_equal(r.items[2].absence_count, 1);
	assert_sv(r.items[2].absences[0].client, "c-1");
	/* Gone for the group since it was evicted. */
	assert_int_equal(r.items[2].absences[0].span.start.us, at("10:00:30").us);
	assert_int_equal(r.items[2].absences[0].span.end.us, at("10:00:40.5").us);
	story_free(st);
}

/* Client ids are often the same on all hosts: who comes from another host is not who went. */
static void test_the_same_client_id_on_another_host_is_no_return(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "09:59:00", "1", ID_1);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:40", "3");
	joined(st, "app-9", "c-1", "10:00:40.01", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[2].is_root);
	story_free(st);
}

static void test_a_return_in_the_open_join_phase_is_no_rebalance_of_its_own(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	lost(st, "app-1", "c-1", "10:00:30.5", ID_1);
	member_line(st, EVENT_MEMBER_JOINS, "10:00:31", ID_1_NEW);
	formed(st, "10:00:32", "2");
	joined(st, "app-1", "c-1", "10:00:32.01", "2", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_SESSION_TIMEOUT | 1u << TRIGGER_MEMBER_REJOIN);
	assert_true(r.items[1].is_root);
	story_free(st);
}

/* An eviction that falls into another's return: the going is the trigger, and a root of its own. */
static void test_an_eviction_while_a_join_phase_is_on(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:32", "2");
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	member_line(st, EVENT_MEMBER_JOINS, "10:00:38.5", ID_1_NEW);
	preparing(st, "10:00:38.5", "2", ID_1_NEW, ADDING(ID_1_NEW));
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:39", ID_2);
	formed(st, "10:00:40", "3");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_SESSION_TIMEOUT);
	assert_sv(r.items[2].member, ID_2);
	assert_int_equal(r.items[2].trigger_time.us, at("10:00:39").us);
	assert_int_equal(r.items[2].triggers, 1u << TRIGGER_SESSION_TIMEOUT | 1u << TRIGGER_MEMBER_REJOIN);
	assert_true(r.items[2].is_root);
	story_free(st);
}

/* A member that was given an id and never joined was no member. */
static void test_a_pending_member_is_not_evicted(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:00:30"), "group", "g", "member", ID_1_NEW, "text",
		    "Pending member " ID_1_NEW " in group g has been removed after session timeout expiration.", NULL);
	assert_int_equal(find(st).count, 1);
	story_free(st);
}

/* ---- a handler that overran ---- */

static void test_a_poll_timeout_by_the_clients_reason(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "group", "g", "client", "c-1", NULL);
	story_event(st, EVENT_CLIENT_LEAVES, "app-1", at("10:00:30.002"), "group", "g", "client", "c-1", "member", ID_1, "reason",
		    "consumer poll timeout has expired.", NULL);
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:30.010"), "group", "g", "member", ID_1, "client_reason",
		    "consumer poll timeout has expired.", NULL);
	preparing(st, "10:00:30.010", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	/* It comes back with its next poll: what follows has the overrun for its root. */
	member_line(st, EVENT_MEMBER_JOINS, "10:00:36", ID_1_NEW);
	preparing(st, "10:00:36", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:37", "3");
	joined(st, "app-1", "c-1", "10:00:37.01", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_POLL_TIMEOUT);
	assert_int_equal(r.items[1].trigger_time.us, at("10:00:30.010").us);
	assert_int_equal(r.items[1].trigger_strength, STRENGTH_PROVES);
	assert_int_equal(r.items[1].fate, FATE_NOT_EVICTED);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].root, 2);
	story_free(st);
}

/* librdkafka's own log names no group; the member id at the coordinator says whose client it is. */
static void test_a_client_that_names_no_group(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "client", "c-1", NULL);
	member_line(st, EVENT_MEMBER_LEFT, "10:00:30.010", ID_1);
	preparing(st, "10:00:30.010", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	/* Of a client that nobody knows nothing follows. */
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-9", at("10:05:00"), "client", "c-9", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	story_free(st);
}

/* A client of which two groups are known is of neither. */
static void test_a_client_of_two_groups_is_not_guessed(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("09:58:02"), "group", "h", "member", ID_1, NULL);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "client", "c-1", NULL);
	member_line(st, EVENT_MEMBER_LEFT, "10:00:30.010", ID_1);
	preparing(st, "10:00:30.010", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	struct rebalances r = find(st);
	/* The second is of the other group. */
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_LEAVE);
	story_free(st);
}

/* Python clients print one line when they close and when they overrun their poll interval. */
static void tell_python_leave(struct story *st)
{
	group_of_three(st);
	story_event(st, EVENT_CLIENT_LEAVES, "app-1", at("10:00:30"), "group", "g", "client", "c-1", "reason",
		    "closed, or max_poll_interval_ms overrun", NULL);
	member_line(st, EVENT_MEMBER_LEFT, "10:00:30.010", ID_1);
	preparing(st, "10:00:30.010", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:36", ID_1_NEW);
	preparing(st, "10:00:36", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:37", "3");
	joined(st, "app-1", "c-1", "10:00:37.01", "3", ID_1_NEW);
}

static void test_who_leaves_and_comes_back_has_overrun(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_python_leave(st);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	assert_int_equal(r.items[1].trigger_strength, STRENGTH_SUGGESTS);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	story_free(st);
}

static void test_who_leaves_and_starts_again_has_closed(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_python_leave(st);
	starts(st, "app-1", "c-1", "10:00:33");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_LEAVE);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	story_free(st);
}

/* Without a reason of the client: right after an assignment it follows from that, later something changed. */
static void test_a_member_that_joins_again_at_once(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	preparing(st, "09:58:04.8", "1", ID_2, "Leader " ID_2 " re-joining group during Stable; client reason: not provided");
	formed(st, "09:58:05", "2");
	assigned(st, "09:58:05.1", "2");
	preparing(st, "10:10:00", "2", ID_2, "Leader " ID_2 " re-joining group during Stable; client reason: not provided");
	formed(st, "10:10:01", "3");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_PROTOCOL_FOLLOWUP);
	assert_int_equal(r.items[1].root, 1);
	assert_trigger(&r.items[2], TRIGGER_METADATA_CHANGE);
	story_free(st);
}

/* A client that gives no reason, to a broker that knows none: only the client's own log says that it was no wish. */
static void test_a_missing_reason_is_no_voluntary_leave(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "group", "g", "client", "c-1", NULL);
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:30.010"), "group", "g", "member", ID_1, "client_reason",
		    "not provided", NULL);
	preparing(st, "10:00:30.010", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:01:30.010"), "group", "g", "member", ID_2, "client_reason",
		    "not provided", NULL);
	preparing(st, "10:01:30.010", "2", ID_2, LEAVING(ID_2));
	formed(st, "10:01:31", "3");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	assert_string_equal(r.items[1].trigger_basis, "client log");
	/* The twin has no such line: it left, and why is only suggested. */
	assert_trigger(&r.items[2], TRIGGER_MEMBER_LEAVE);
	assert_int_equal(r.items[2].trigger_strength, STRENGTH_SUGGESTS);
	story_free(st);
}

/* A static member sends no LeaveGroup: the broker sees a session that runs out, one session timeout later. */
static void test_a_static_members_poll_timeout_looks_like_an_expiry(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "group", "g", "client", "c-1", NULL);
	expiry(st, "10:00:35", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:37", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	assert_int_equal(r.items[1].trigger_time.us, at("10:00:30").us);
	story_free(st);
}

/* The twins: another member's overrun, and one that is longer ago than a session. */
static void test_anothers_poll_timeout_is_not_this_expiry(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-2", at("10:00:30"), "group", "g", "client", "c-2", NULL);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:10"), "group", "g", "client", "c-1", NULL);
	expiry(st, "10:00:35", ID_1, "1", EXPIRED(ID_1));
	formed(st, "10:00:37", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* Killed, started again at once: the new process begins it, and the old one's session runs out while others are waited for. */
static void test_a_session_that_runs_out_in_a_newcomers_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	starts(st, "app-1", "c-1", "10:00:28");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:30", ID_1_NEW);
	preparing(st, "10:00:30", "1", ID_1_NEW, ADDING(ID_1_NEW));
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:31.5", ID_1);
	formed(st, "10:00:32", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_JOIN);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_MEMBER_JOIN | 1u << TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* Who comes back had been evicted: another member's eviction meanwhile is a new cause. */
static void test_a_session_that_runs_out_in_a_return(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_wrong_eviction(st);
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:39.5", ID_3);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* ---- coordinators before 2.1: a rebalance begins, and no line says why; there is no handshake of member ids ---- */

static void begins(struct story *st, const char *time, const char *old_generation)
{
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at(time), "group", "g", "generation", old_generation, NULL);
}

static void tell_eviction_without_reasons(struct story *st)
{
	starts(st, "app-1", "c-1", "09:58:00");
	starts(st, "app-2", "c-2", "09:58:00");
	begins(st, "09:58:01", "0");
	formed(st, "09:58:04", "1");
	joined(st, "app-1", "c-1", "09:58:04.01", "1", ID_1);
	joined(st, "app-2", "c-2", "09:58:04.01", "1", ID_2);
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:30", ID_1);
	begins(st, "10:00:30", "1");
	formed(st, "10:00:32", "2");
	joined(st, "app-2", "c-2", "10:00:32.01", "2", ID_2);
}

static void test_who_comes_is_known_by_its_own_log(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_eviction_without_reasons(st);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	begins(st, "10:00:38.5", "2");
	formed(st, "10:00:40", "3");
	joined(st, "app-1", "c-1", "10:00:40.01", "3", ID_1_NEW);
	joined(st, "app-2", "c-2", "10:00:40.01", "3", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_JOIN);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].root, r.items[1].root);
	story_free(st);
}

/* All who join again had been in the group, and none had gone: whatever it was, nobody came. */
static void test_members_that_stay_are_no_arrival(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_eviction_without_reasons(st);
	begins(st, "10:00:38.5", "2");
	formed(st, "10:00:40", "3");
	joined(st, "app-2", "c-2", "10:00:40.01", "3", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_UNKNOWN);
	story_free(st);
}

/* Its message blames the poll interval whatever happened. */
static void test_a_failed_commit_is_no_witness(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_wrong_eviction(st);
	story_event(st, EVENT_COMMIT_FAILED, "app-1", at("10:00:37"), "group", "g", "client", "c-1", "error",
		    "the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* ---- leaves and restarts ---- */

static void test_a_rolling_restart_is_two_roots(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_CLIENT_LEAVES, "app-1", at("10:00:30"), "group", "g", "client", "c-1", "member", ID_1, "reason",
		    "the consumer is being closed", NULL);
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:00:30.001"), "group", "g", "member", ID_1, "client_reason",
		    "the consumer is being closed", NULL);
	preparing(st, "10:00:30.001", "1", ID_1, LEAVING(ID_1));
	formed(st, "10:00:31", "2");
	starts(st, "app-1", "c-1", "10:00:34");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:35", ID_1_NEW);
	preparing(st, "10:00:35", "2", ID_1_NEW, ADDING(ID_1_NEW));
	formed(st, "10:00:36", "3");
	joined(st, "app-1", "c-1", "10:00:36.01", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_LEAVE);
	assert_int_equal(r.items[1].fate, FATE_NOT_EVICTED);
	assert_true(r.items[1].is_root);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[2].is_root);
	assert_sv(r.items[2].host, "app-1");
	story_free(st);
}

static void test_reasons_of_other_rebalances(void **state)
{
	static const struct {
		const char *reason;
		const char *client_reason;
		enum trigger trigger;
	} cases[] = {
		{ "Leader x re-joining group during Stable; client reason: cached metadata has changed",
		  "cached metadata has changed", TRIGGER_METADATA_CHANGE },
		{ "Updating metadata for member x during Stable; client reason: subscription has changed",
		  "subscription has changed", TRIGGER_SUBSCRIPTION_CHANGE },
		{ "Removing x on pending sync request expiration", NULL, TRIGGER_REBALANCE_TIMEOUT },
		{ "explicit `LeaveGroup` request for (x) members.", "member was removed by an admin", TRIGGER_ADMIN_REMOVAL },
		{ "Freshly-loaded group g (size 9) is over capacity 5.", NULL, TRIGGER_COORDINATOR_CHANGE },
		{ "Member x is joining group during Stable; client reason: need to revoke partitions and re-join",
		  "need to revoke partitions and re-join", TRIGGER_PROTOCOL_FOLLOWUP },
		/* A new member's reason is about the time before. */
		{ "Adding new member x; client reason: rebalance failed due to DisconnectException",
		  "rebalance failed due to DisconnectException", TRIGGER_MEMBER_JOIN },
		{ "words of a later version", NULL, TRIGGER_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct story *st = story_new();
		if (cases[i].client_reason != NULL)
			story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("10:00:00"), "group", "g", "generation", "5",
				    "member", "x", "reason", cases[i].reason, "client_reason", cases[i].client_reason, NULL);
		else
			preparing(st, "10:00:00", "5", "x", cases[i].reason);
		formed(st, "10:00:01", "6");
		struct rebalances r = find(st);
		assert_int_equal(r.count, 1);
		assert_trigger(&r.items[0], cases[i].trigger);
		story_free(st);
	}
}

/* A cooperative group needs a second round; it is no incident of its own. */
static void test_the_second_round_follows_from_the_first(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_wrong_eviction(st);
	preparing(st, "10:00:41", "3", ID_2,
		  "Leader " ID_2 " re-joining group during Stable; client reason: need to revoke partitions and re-join");
	formed(st, "10:00:42", "4");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 4);
	assert_trigger(&r.items[3], TRIGGER_PROTOCOL_FOLLOWUP);
	assert_false(r.items[3].is_root);
	/* By way of the return, to the eviction. */
	assert_int_equal(r.items[3].root, 2);
	story_free(st);
}

/* Members that did not rejoin in time are a consequence of what had begun the join phase. */
static void test_a_join_timeout_ends_a_rebalance_that_another_began(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	member_line(st, EVENT_MEMBER_JOINS, "10:00:00", ID_1_NEW);
	preparing(st, "10:00:00", "1", ID_1_NEW, ADDING(ID_1_NEW));
	story_event(st, EVENT_MEMBER_JOIN_TIMEOUT, "broker-1", at("10:00:15"), "group", "g", "member", ID_2, "reason",
		    "removed dynamic members who haven't joined: [" ID_2 "]", NULL);
	formed(st, "10:00:15", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_JOIN);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_MEMBER_JOIN | 1u << TRIGGER_REBALANCE_TIMEOUT);
	story_free(st);
}

/* ---- without the coordinator's log ---- */

static void tell_eviction_by_clients(struct story *st)
{
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	joined(st, "app-2", "c-2", "10:00:00", "1", ID_2);
	joined(st, "app-2", "c-2", "10:00:32", "2", ID_2);
}

static void test_an_eviction_by_the_clients_logs(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_eviction_by_clients(st);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	joined(st, "app-2", "c-2", "10:00:40", "3", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].generation, 2);
	assert_int_equal(r.items[1].trigger_strength, STRENGTH_SUGGESTS);
	assert_string_equal(r.items[1].trigger_basis, "client log");
	/* At the latest when the others had the new generation. */
	assert_int_equal(r.items[1].trigger_time.us, at("10:00:32").us);
	assert_sv(r.items[1].host, "app-1");
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].root, 2);
	story_free(st);
}

/* One client's log alone: the generation that it skipped is the one in which it was out. */
static void test_an_eviction_by_one_clients_log(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[1].generation, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].trigger_time.us, at("10:00:38").us);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].root, 2);
	story_free(st);
}

/* It came back before the others had a generation without it: one rebalance, and no second. */
static void test_an_eviction_and_a_return_within_one_generation(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:38.5", "2", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[1].generation, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* What it joined itself half a second later is not the rebalance that put it out. */
static void test_a_quick_return_is_not_the_eviction(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:38.5", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].generation, 2);
	assert_int_equal(r.items[2].generation, 3);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	story_free(st);
}

/* A commit that is refused because the member is unknown tells it as well as a heartbeat. */
static void test_an_eviction_learnt_from_a_commit(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_COMMIT_FAILED, "app-1", at("10:00:38"), "group", "g", "client", "c-1", "error",
		    "The coordinator is not aware of this member.", NULL);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	story_free(st);

	/* One that is refused because a rebalance is on tells nothing of the kind. */
	st = story_new();
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_COMMIT_FAILED, "app-1", at("10:00:38"), "group", "g", "client", "c-1", "error",
		    "The group is rebalancing, so a rejoin is needed.", NULL);
	joined(st, "app-1", "c-1", "10:00:40", "2", ID_1);
	r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_UNKNOWN);
	story_free(st);
}

/* Three that are put out of one generation are put out by one rebalance. */
static void test_evictions_of_one_generation_are_one_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	joined(st, "app-2", "c-2", "10:00:00", "1", ID_2);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	lost(st, "app-2", "c-2", "10:00:38.2", ID_2);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	joined(st, "app-2", "c-2", "10:00:40", "3", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[1].generation, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	story_free(st);
}

/* Its own session timer ran out when the coordinator's did: that is when it was evicted, not when it learnt of it. */
static void test_an_eviction_is_timed_by_the_clients_own_timer(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_CLIENT_SUSPECTS_SESSION, "app-1", at("10:00:16"), "group", "g", "client", "c-1", NULL);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.items[1].trigger_time.us, at("10:00:16").us);
	story_free(st);
}

/* That a client lost its coordinator belongs to its eviction, and is no cause of what comes later. */
static void test_a_lost_coordinator_of_an_evicted_member_is_no_guess(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	joined(st, "app-2", "c-2", "10:00:00", "1", ID_2);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:37"), "group", "g", "client", "c-1", NULL);
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	joined(st, "app-2", "c-2", "10:00:40", "3", ID_2);
	joined(st, "app-1", "c-1", "10:00:42", "4", ID_1_NEW);
	joined(st, "app-2", "c-2", "10:00:42", "4", ID_2);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 4);
	assert_trigger(&r.items[3], TRIGGER_UNKNOWN);
	story_free(st);

	/* Of a member that was not evicted it is. */
	st = story_new();
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:37"), "group", "g", "client", "c-1", NULL);
	joined(st, "app-1", "c-1", "10:00:42", "2", ID_1);
	r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_COORDINATOR_CHANGE);
	story_free(st);
}

/* A broker that is restarted on purpose is a better guess than the connection that its clients lost, and no network's doing. */
static void test_a_rolled_broker_is_no_disconnect(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_BROKER_ROLLED, "operator-1", at("10:00:36"), "node", "0", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:37"), "group", "g", "client", "c-1", NULL);
	joined(st, "app-1", "c-1", "10:00:42", "2", ID_1);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_COORDINATOR_CHANGE);
	assert_false(r.items[1].by_disconnect);
	story_free(st);

	/* Long before it, it is none. */
	st = story_new();
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_BROKER_ROLLED, "operator-1", at("08:00:36"), "node", "0", NULL);
	story_event(st, EVENT_CLIENT_COORDINATOR_LOST, "app-1", at("10:00:37"), "group", "g", "client", "c-1", NULL);
	joined(st, "app-1", "c-1", "10:00:42", "2", ID_1);
	r = find(st);
	assert_int_equal(r.count, 2);
	assert_true(r.items[1].by_disconnect);
	story_free(st);
}

/* It lost its generation, not its membership: a rebalance went past it. */
static void test_an_old_generation_is_no_eviction(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_eviction_by_clients(st);
	story_event(st, EVENT_CLIENT_MEMBERSHIP_LOST, "app-1", at("10:00:38"), "group", "g", "client", "c-1", "member", ID_1,
		    "error", "ILLEGAL_GENERATION", NULL);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_UNKNOWN);
	assert_trigger(&r.items[2], TRIGGER_UNKNOWN);
	story_free(st);
}

static void test_a_poll_timeout_by_the_clients_log(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_eviction_by_clients(st);
	story_event(st, EVENT_CLIENT_POLL_TIMEOUT, "app-1", at("10:00:30"), "group", "g", "client", "c-1", NULL);
	story_event(st, EVENT_CLIENT_LEAVES, "app-1", at("10:00:30.1"), "group", "g", "client", "c-1", "member", ID_1, "reason",
		    "consumer poll timeout has expired.", NULL);
	/* Its own leave, and no eviction. */
	lost(st, "app-1", "c-1", "10:00:38", ID_1);
	joined(st, "app-1", "c-1", "10:00:40", "3", ID_1_NEW);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_POLL_TIMEOUT);
	assert_int_equal(r.items[1].triggers, 1u << TRIGGER_POLL_TIMEOUT);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_int_equal(r.items[2].root, 2);
	story_free(st);
}

/* Lines that every healthy rebalance prints say nothing of its cause. */
static void test_following_a_rebalance_is_no_cause(void **state)
{
	struct story *st = story_new();

	(void)state;
	joined(st, "app-1", "c-1", "10:00:00", "1", ID_1);
	story_event(st, EVENT_CLIENT_REJOINS, "app-1", at("10:00:30"), "group", "g", "client", "c-1", "reason",
		    "group is already rebalancing", NULL);
	joined(st, "app-1", "c-1", "10:00:32", "2", ID_1);
	story_event(st, EVENT_CLIENT_REJOINS, "app-1", at("10:01:30"), "group", "g", "client", "c-1", "reason",
		    "cached metadata has changed from MetadataSnapshot{a} at the beginning of the rebalance to MetadataSnapshot{b}",
		    NULL);
	joined(st, "app-1", "c-1", "10:01:32", "3", ID_1);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[1], TRIGGER_UNKNOWN);
	assert_trigger(&r.items[2], TRIGGER_METADATA_CHANGE);
	story_free(st);
}

/* ---- a broker that stood still ---- */

static void tell_expiries(struct story *st, const char *first, const char *second, const char *third)
{
	member_line(st, EVENT_SESSION_EXPIRED, first, ID_1);
	preparing(st, first, "1", ID_1, EXPIRED(ID_1));
	member_line(st, EVENT_SESSION_EXPIRED, second, ID_2);
	member_line(st, EVENT_SESSION_EXPIRED, third, ID_3);
	story_event(st, EVENT_GROUP_EMPTY, "broker-1", at("10:00:40"), "group", "g", "generation", "2", NULL);
}

static void test_many_hosts_in_one_millisecond_are_a_stalled_broker(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	tell_expiries(st, "10:00:30.000", "10:00:30.000", "10:00:30.001");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_true(r.items[1].broker_stalled);
	story_free(st);
}

/* The twin: each by its own last heartbeat, as silence on a network ends sessions. */
static void test_hosts_one_after_another_are_no_stalled_broker(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	tell_expiries(st, "10:00:30.000", "10:00:30.700", "10:00:31.400");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_false(r.items[1].broker_stalled);
	story_free(st);
}

/* The other twin: a rebalance had started all timers together, one session timeout of 6 s before. */
static void test_timers_started_together_end_together(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	tell_expiries(st, "09:58:10.001", "09:58:10.001", "09:58:10.001");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_true(r.items[1].has_timer_reset);
	assert_int_equal(r.items[1].timer_reset.us, at("09:58:04").us);
	assert_false(r.items[1].broker_stalled);
	story_free(st);
}

/* ---- other protocols and clients ---- */

/* librdkafka gives itself up and joins anew; its old id expires later. Both have the expiry for their root. */
static void test_a_ghost_expires_after_its_client_is_back(void **state)
{
	for (int suspects = 0; suspects <= 1; suspects++) {
		struct story *st = story_new();
		group_of_three(st);
		if (suspects)
			story_event(st, EVENT_CLIENT_SUSPECTS_SESSION, "app-1", at("10:00:29"), "group", "g", "client", "c-1",
				    NULL);
		member_line(st, EVENT_MEMBER_JOINS, "10:00:30", ID_1_NEW);
		preparing(st, "10:00:30", "1", ID_1_NEW, ADDING(ID_1_NEW));
		formed(st, "10:00:31", "2");
		expiry(st, "10:00:34", ID_1, "2", EXPIRED(ID_1));
		formed(st, "10:00:35", "3");
		struct rebalances r = find(st);
		assert_int_equal(r.count, 3);
		assert_trigger(&r.items[1], suspects ? TRIGGER_MEMBER_REJOIN : TRIGGER_MEMBER_JOIN);
		assert_int_equal(r.items[1].root, suspects ? 3 : 2);
		assert_trigger(&r.items[2], TRIGGER_SESSION_TIMEOUT);
		assert_true(r.items[2].is_root);
		story_free(st);
	}
	(void)state;
}

/* KIP-848: no line says that a rebalance begins; the new target shows it, at some member's next heartbeat. */
static void test_the_consumer_protocol(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_event(st, EVENT_MEMBER_JOINS, "broker-1", at("10:00:00"), "group", "g", "member", "m1", "protocol", "consumer", NULL);
	assigned(st, "10:00:00.1", "1");
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:01:00"), "group", "g", "member", "m1", NULL);
	assigned(st, "10:01:04", "2");
	/* A static member that is away for a moment changes nothing. */
	story_event(st, EVENT_MEMBER_LEFT, "broker-1", at("10:02:00"), "group", "g", "member", "m2", "instance", "slot-2",
		    "reason", "temporarily left the consumer group", NULL);
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_JOIN);
	assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
	assert_int_equal(r.items[1].generation, 2);
	assert_int_equal(r.items[1].trigger_time.us, at("10:01:00").us);
	story_free(st);
}

/* ---- the time in question, several groups, rubbish ---- */

static void test_only_the_time_in_question(void **state)
{
	struct analysis_options o = analysis_options_default();
	struct story *st = story_new();

	(void)state;
	tell_wrong_eviction(st);
	o.has_from = true;
	o.from = ref_at("10:00:35");
	/* The return follows from an eviction outside of it. */
	assert_int_equal(find_with(st, &o).count, 0);
	o.from = ref_at("10:00:00");
	struct rebalances r = find_with(st, &o);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].id, 1);
	assert_int_equal(r.items[1].root, 1);
	story_free(st);
}

static void test_groups_are_kept_apart(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	story_event(st, EVENT_GROUP_PREPARING, "broker-1", at("09:58:02"), "group", "h", "generation", "0", "reason",
		    "Adding new member x", "member", "x", NULL);
	story_event(st, EVENT_GROUP_STABILIZED, "broker-1", at("09:58:03"), "group", "h", "generation", "1", NULL);
	tell_expiries(st, "10:00:30.000", "10:00:30.700", "10:00:31.400");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_sv(r.items[0].group, "g");
	assert_sv(r.items[1].group, "h");
	assert_sv(r.items[2].group, "g");
	assert_int_equal(r.items[1].root, 2);
	assert_int_equal(r.items[2].root, 3);
	story_free(st);
}

static void test_impossible_generations_are_ignored(void **state)
{
	struct story *st = story_new();

	(void)state;
	preparing(st, "10:00:00", "9223372036854775807", "x", "Adding new member x");
	formed(st, "10:00:01", "-5");
	assert_int_equal(find(st).count, 0);
	story_free(st);
}

/*
 * Evicted in generation 2 and back as another in 3, the client is told once more, on its old connection, that the
 * coordinator does not know who it was: no second eviction. Of who it is now that would be one.
 */
static void test_an_old_membership_is_not_lost_again(void **state)
{
	static const struct {
		const char *lost;
		bool is_evicted;
	} cases[] = { { ID_1, false }, { ID_1_NEW, true } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *st = story_new();

		starts(st, "app-1", "c-1", "09:58:00");
		joined(st, "app-1", "c-1", "09:58:04", "1", ID_1);
		synced(st, "app-1", "c-1", "09:58:04.1", "1", ID_1);
		lost(st, "app-1", "c-1", "10:00:40", ID_1);
		joined(st, "app-1", "c-1", "10:00:44", "3", ID_1_NEW);
		synced(st, "app-1", "c-1", "10:00:44.1", "3", ID_1_NEW);
		lost(st, "app-1", "c-1", "10:00:45", cases[i].lost);
		struct rebalances r = find(st);
		assert_int_equal(r.count, cases[i].is_evicted ? 4 : 3);
		assert_trigger(&r.items[1], TRIGGER_SESSION_TIMEOUT);
		story_free(st);
	}
}

static void bumped(struct story *st, const char *time, const char *epoch)
{
	story_event(st, EVENT_GROUP_BUMPED, "broker-1", at(time), "group", "g", "generation", epoch, NULL);
}

/* Of two epochs that follow closely an assignment is computed for the later alone: two rebalances all the same. */
static void test_an_epoch_without_an_assignment_is_a_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:28.687", ID_3);
	bumped(st, "10:00:28.688", "5");
	member_line(st, EVENT_MEMBER_JOINS, "10:00:28.837", ID_1);
	bumped(st, "10:00:28.838", "6");
	assigned(st, "10:00:28.839", "6");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].generation, 5);
	assert_trigger(&r.items[0], TRIGGER_SESSION_TIMEOUT);
	assert_sv(r.items[0].member, ID_3);
	assert_int_equal(r.items[1].generation, 6);
	assert_trigger(&r.items[1], TRIGGER_MEMBER_JOIN);
	assert_sv(r.items[1].member, ID_1);
	assert_int_equal(r.items[1].span.end.us, ref_at("10:00:28.839").us);
	story_free(st);
}

/* The first epoch takes its time; and one whose assignment comes seconds later is one rebalance. */
static void test_an_epoch_and_its_assignment_are_one_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	member_line(st, EVENT_MEMBER_JOINS, "10:00:01", ID_1);
	bumped(st, "10:00:03.500", "1");
	assigned(st, "10:00:06", "1");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 1);
	assert_trigger(&r.items[0], TRIGGER_MEMBER_JOIN);
	assert_int_equal(r.items[0].span.start.us, ref_at("10:00:03.500").us);
	assert_int_equal(r.items[0].span.end.us, ref_at("10:00:06").us);
	story_free(st);
}

/* A coordinator that loads the group anew while members join begins again, with the same generation: one rebalance. */
static void test_a_beginning_that_came_to_nothing_is_no_rebalance(void **state)
{
	struct story *st = story_new();

	(void)state;
	group_of_three(st);
	member_line(st, EVENT_MEMBER_JOINS, "10:00:32.453", "c-4-a");
	preparing(st, "10:00:32.453", "1", "c-4-a", ADDING("c-4-a"));
	preparing(st, "10:00:33.955", "1", "c-4-b", ADDING("c-4-b"));
	formed(st, "10:00:39", "2");
	assigned(st, "10:00:39.1", "2");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[1].generation, 2);
	assert_int_equal(r.items[1].span.start.us, ref_at("10:00:32.453").us);
	assert_int_equal(r.items[1].span.end.us, ref_at("10:00:39.1").us);
	story_free(st);

	/* The twin: the generation had been formed. A group that was made anew has the number once more. */
	st = story_new();
	group_of_three(st);
	preparing(st, "10:00:32.453", "0", "c-4-a", ADDING("c-4-a"));
	formed(st, "10:00:35.453", "1");
	assert_int_equal((r = find(st)).count, 2);
	assert_int_equal(r.items[1].generation, 1);
	story_free(st);
}

/* ---- coordinators before 2.1 log that a rebalance begins, and not why ---- */

/* A join that was asked for without a member id, as a capture saw it. */
static void asks(struct story *st, const char *client, const char *asked, const char *answered, const char *generation)
{
	story_interval(st, EVENT_WIRE_JOINED, client, at(asked), at(answered), "group", "g", "client", client, "generation",
		       generation, "path_a", "10.77.1.10:40000", "path_b", "10.77.0.10:9092", NULL);
}

/* Member 1 is evicted at 10:00:30, and generation 2 is without it. */
static void evicted(struct story *st)
{
	group_of_three(st);
	expiry(st, "10:00:30", ID_1, "1", NULL);
	formed(st, "10:00:30.1", "2");
	assigned(st, "10:00:30.2", "2");
	lost(st, "app-1", "c-1", "10:00:40", ID_1);
}

/*
 * Back at 10:00:41 it gives up before generation 3 is formed (a heartbeat under way had told it once more that it was
 * no member), and asks again. The id that it was given first expires while the others are waited for.
 */
static void asks_twice(struct story *st)
{
	preparing(st, "10:00:41", "2", NULL, NULL);
	formed(st, "10:00:42", "3");
	preparing(st, "10:00:42.010", "3", NULL, NULL);
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:48", ID_1_GHOST);
	formed(st, "10:00:48.010", "4");
	assigned(st, "10:00:48.100", "4");
	joined(st, "app-1", "c-1", "10:00:48.020", "4", ID_1_NEW);
	synced(st, "app-1", "c-1", "10:00:48.120", "4", ID_1_NEW);
}

static void test_who_asks_twice_comes_back_once(void **state)
{
	struct story *st = story_new();

	(void)state;
	evicted(st);
	asks_twice(st);
	asks(st, "c-1", "10:00:40.995", "10:00:42", "3");
	asks(st, "c-1", "10:00:42.005", "10:00:48.015", "4");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 4);
	for (size_t i = 2; i < 4; i++) {
		assert_int_equal(r.items[i].generation, i + 1);
		assert_trigger(&r.items[i], TRIGGER_MEMBER_REJOIN);
		assert_int_equal(r.items[i].trigger_strength, STRENGTH_PROVES);
		assert_string_equal(r.items[i].trigger_basis, "wire");
		assert_sv(r.items[i].client, "c-1");
		assert_sv(r.items[i].host, "app-1");
		assert_false(r.items[i].is_root);
		assert_int_equal(r.items[i].root, 2);
	}
	assert_int_equal(r.items[2].trigger_time.us, ref_at("10:00:40.995").us);
	assert_int_equal(r.items[3].trigger_time.us, ref_at("10:00:42.005").us);
	assert_int_equal(r.items[1].fate, FATE_WRONGLY_EVICTED);
	story_free(st);
}

/* Without a capture nobody tells who began generation 3: the client's own log has no line of it. */
static void test_who_asks_is_not_guessed(void **state)
{
	static const struct {
		const char *asked, *generation;
	} other[] = { { "10:00:40.995", "2" }, { "10:00:38", "3" }, { "10:00:43", "3" } };

	(void)state;
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
		struct story *st = story_new();

		evicted(st);
		asks_twice(st);
		/* Of another generation, or of another time than that at which the coordinator began. */
		asks(st, "c-1", other[i].asked, "10:00:43.500", other[i].generation);
		struct rebalances r = find(st);
		assert_int_equal(r.count, 4);
		assert_trigger(&r.items[2], TRIGGER_UNKNOWN);
		story_free(st);
	}
}

/* The twin: in the join phase of one that came back the session of another runs out, and that is an eviction. */
static void test_another_that_expires_meanwhile_is_no_ghost(void **state)
{
	struct story *st = story_new();

	(void)state;
	evicted(st);
	preparing(st, "10:00:41", "2", NULL, NULL);
	member_line(st, EVENT_SESSION_EXPIRED, "10:00:46", ID_2);
	formed(st, "10:00:46.010", "3");
	assigned(st, "10:00:46.100", "3");
	asks(st, "c-1", "10:00:40.995", "10:00:46.015", "3");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 3);
	assert_trigger(&r.items[2], TRIGGER_SESSION_TIMEOUT);
	assert_sv(r.items[2].client, "c-2");
	assert_true(r.items[2].is_root);
	story_free(st);
}

/* The twin: after an assignment a client that asks anew begins something new. */
static void test_who_asks_after_an_assignment_asks_anew(void **state)
{
	struct story *st = story_new();

	(void)state;
	evicted(st);
	preparing(st, "10:00:41", "2", NULL, NULL);
	formed(st, "10:00:42", "3");
	assigned(st, "10:00:42.005", "3");
	preparing(st, "10:00:42.500", "3", NULL, NULL);
	formed(st, "10:00:43", "4");
	assigned(st, "10:00:43.100", "4");
	asks(st, "c-1", "10:00:40.995", "10:00:42", "3");
	asks(st, "c-1", "10:00:42.495", "10:00:43", "4");
	struct rebalances r = find(st);
	assert_int_equal(r.count, 4);
	assert_trigger(&r.items[2], TRIGGER_MEMBER_REJOIN);
	assert_trigger(&r.items[3], TRIGGER_MEMBER_JOIN);
	assert_true(r.items[3].is_root);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_generation_is_one_rebalance),
		cmocka_unit_test(test_clients_alone_make_one_too),
		cmocka_unit_test(test_stored_generations_are_rebalances),
		cmocka_unit_test(test_a_stored_generation_is_the_one_that_the_log_tells_of),
		cmocka_unit_test(test_a_stored_generation_does_not_silence_the_client),
		cmocka_unit_test(test_a_group_made_anew_starts_a_new_count),
		cmocka_unit_test(test_joining_a_running_generation_is_no_rebalance),
		cmocka_unit_test(test_the_last_leave_empties_the_group),
		cmocka_unit_test(test_an_eviction_and_the_return),
		cmocka_unit_test(test_a_crash_and_a_restart),
		cmocka_unit_test(test_a_version_line_alone_is_no_restart),
		cmocka_unit_test(test_fate_is_gone_when_the_log_goes_on_without_the_client),
		cmocka_unit_test(test_one_failure_in_two_lines_is_cited_once),
		cmocka_unit_test(test_a_log_written_twice_counts_once),
		cmocka_unit_test(test_who_was_killed_is_gone),
		cmocka_unit_test(test_anothers_killing_wrongs_nobody),
		cmocka_unit_test(test_another_log_of_the_host_is_not_the_clients),
		cmocka_unit_test(test_fate_is_unknown_without_a_log),
		cmocka_unit_test(test_a_return_by_the_brokers_log_alone),
		cmocka_unit_test(test_a_return_by_a_log_that_shows_no_starts),
		cmocka_unit_test(test_who_was_without_partitions),
		cmocka_unit_test(test_the_same_client_id_on_another_host_is_no_return),
		cmocka_unit_test(test_a_return_in_the_open_join_phase_is_no_rebalance_of_its_own),
		cmocka_unit_test(test_an_eviction_while_a_join_phase_is_on),
		cmocka_unit_test(test_a_pending_member_is_not_evicted),
		cmocka_unit_test(test_a_poll_timeout_by_the_clients_reason),
		cmocka_unit_test(test_a_client_that_names_no_group),
		cmocka_unit_test(test_a_client_of_two_groups_is_not_guessed),
		cmocka_unit_test(test_who_leaves_and_comes_back_has_overrun),
		cmocka_unit_test(test_who_leaves_and_starts_again_has_closed),
		cmocka_unit_test(test_a_member_that_joins_again_at_once),
		cmocka_unit_test(test_a_missing_reason_is_no_voluntary_leave),
		cmocka_unit_test(test_a_static_members_poll_timeout_looks_like_an_expiry),
		cmocka_unit_test(test_anothers_poll_timeout_is_not_this_expiry),
		cmocka_unit_test(test_a_failed_commit_is_no_witness),
		cmocka_unit_test(test_a_session_that_runs_out_in_a_newcomers_rebalance),
		cmocka_unit_test(test_a_session_that_runs_out_in_a_return),
		cmocka_unit_test(test_who_comes_is_known_by_its_own_log),
		cmocka_unit_test(test_members_that_stay_are_no_arrival),
		cmocka_unit_test(test_a_rolling_restart_is_two_roots),
		cmocka_unit_test(test_reasons_of_other_rebalances),
		cmocka_unit_test(test_the_second_round_follows_from_the_first),
		cmocka_unit_test(test_a_join_timeout_ends_a_rebalance_that_another_began),
		cmocka_unit_test(test_an_eviction_by_the_clients_logs),
		cmocka_unit_test(test_an_eviction_by_one_clients_log),
		cmocka_unit_test(test_an_eviction_and_a_return_within_one_generation),
		cmocka_unit_test(test_a_quick_return_is_not_the_eviction),
		cmocka_unit_test(test_an_eviction_learnt_from_a_commit),
		cmocka_unit_test(test_evictions_of_one_generation_are_one_rebalance),
		cmocka_unit_test(test_an_eviction_is_timed_by_the_clients_own_timer),
		cmocka_unit_test(test_a_lost_coordinator_of_an_evicted_member_is_no_guess),
		cmocka_unit_test(test_a_rolled_broker_is_no_disconnect),
		cmocka_unit_test(test_an_old_generation_is_no_eviction),
		cmocka_unit_test(test_a_poll_timeout_by_the_clients_log),
		cmocka_unit_test(test_following_a_rebalance_is_no_cause),
		cmocka_unit_test(test_many_hosts_in_one_millisecond_are_a_stalled_broker),
		cmocka_unit_test(test_hosts_one_after_another_are_no_stalled_broker),
		cmocka_unit_test(test_timers_started_together_end_together),
		cmocka_unit_test(test_a_ghost_expires_after_its_client_is_back),
		cmocka_unit_test(test_an_old_membership_is_not_lost_again),
		cmocka_unit_test(test_an_epoch_without_an_assignment_is_a_rebalance),
		cmocka_unit_test(test_an_epoch_and_its_assignment_are_one_rebalance),
		cmocka_unit_test(test_a_beginning_that_came_to_nothing_is_no_rebalance),
		cmocka_unit_test(test_who_asks_twice_comes_back_once),
		cmocka_unit_test(test_who_asks_is_not_guessed),
		cmocka_unit_test(test_another_that_expires_meanwhile_is_no_ghost),
		cmocka_unit_test(test_who_asks_after_an_assignment_asks_anew),
		cmocka_unit_test(test_the_consumer_protocol),
		cmocka_unit_test(test_only_the_time_in_question),
		cmocka_unit_test(test_groups_are_kept_apart),
		cmocka_unit_test(test_impossible_generations_are_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
