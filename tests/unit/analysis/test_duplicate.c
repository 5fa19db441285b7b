/* SPDX-License-Identifier: MIT */
/*
 * Redeliveries, duplicates and their causes, steps owed, books (method.md 7, 8).
 * The story of most tests: consumer-1 owns refunds-0, is evicted, consumer-2 is
 * given the partition in generation 5 (R1) and resumes at the committed offset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/duplicate.h"
#include "analysis/grant.h"
#include "analysis/rebalance_index.h"
#include "story.h"

struct scene {
	struct story *st;
	struct clocks clocks;
	struct groups groups;
	struct windows windows;
	struct rebalances rebalances;
	struct analysis_options options;
	struct side_effects found;
};

static struct scene *scene_new(void)
{
	struct story *st = story_new();
	struct scene *s = arena_alloc(st->arena, sizeof *s);

	s->st = st;
	s->options = analysis_options_default();
	return s;
}

static struct rebalance *rebalance(struct scene *s, int64_t generation, const char *start, const char *end)
{
	struct rebalance *r = ARENA_PUSH(s->st->arena, s->rebalances.items, s->rebalances.count, s->rebalances.capacity);

	r->id = (unsigned)s->rebalances.count;
	r->group = SV("refunds");
	r->has_generation = true;
	r->generation = generation;
	r->trigger_time = ref_at(start);
	r->span = (struct span){ ref_at(start), ref_at(end) };
	r->trigger = TRIGGER_SESSION_TIMEOUT;
	r->root = r->id;
	r->is_root = true;
	return r;
}

/* A client learns its generation, is given partitions, and resumes refunds-0 at an offset (NULL: not told). */
static void granted(struct scene *s, const char *host, const char *time, const char *generation, const char *partitions,
		    const char *offset)
{
	story_event(s->st, EVENT_CLIENT_SYNCED, host, at(time), "group", "refunds", "client", host, "generation", generation,
		    NULL);
	story_event(s->st, EVENT_PARTITIONS_ASSIGNED, host, at(time), "group", "refunds", "client", host, "partitions",
		    partitions, NULL);
	if (offset != NULL)
		story_event(s->st, EVENT_OFFSET_RESTORED, host, at(time), "group", "refunds", "client", host, "topic", "refunds",
			    "partition", "0", "offset", offset, NULL);
}

/* One attempt at a step of a record of refunds-0, 100 CNY. */
static void attempt(struct scene *s, const char *time, const char *consumer, const char *offset, const char *key,
		    const char *step, const char *status, const char *request)
{
	story_event(s->st, EVENT_EFFECT, NULL, at(time), "consumer", consumer, "topic", "refunds", "partition", "0", "offset",
		    offset, "business_key", key, "step", step, "status", status, "request_id", request, "amount_micros",
		    "100000000", "currency", "CNY", NULL);
}

static struct side_effects *find(struct scene *s)
{
	assert_int_equal(duplicates_find(story_store(s->st), &s->clocks, &s->groups, &s->windows, &s->options, s->st->arena,
					 &s->rebalances, &s->found),
			 0);
	return &s->found;
}

static bool is(struct sv text, const char *expected)
{
	return sv_eq(text, sv_of(expected));
}

/* consumer-1 handles offsets 10 to 12, is evicted, and consumer-2 resumes at 11. */
static void tell_eviction(struct scene *s)
{
	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0, refunds-1", "0");
	granted(s, "consumer-2", "10:00:12.100", "5", "[refunds-0]", "11");
	attempt(s, "10:00:01", "consumer-1", "10", "A", "reversal", "success", "a1");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:03", "consumer-1", "12", "C", "reversal", "success", "c1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:14", "consumer-2", "12", "C", "reversal", "success", "c2");
	attempt(s, "10:00:15", "consumer-2", "13", "D", "reversal", "success", "d1");
}

/* ---- redeliveries ---- */

static void test_redelivered_range(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	tell_eviction(s);
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	const struct redelivery *l = &s->found.redeliveries[0];
	assert_int_equal(l->id, 1);
	assert_true(is(l->group, "refunds") && is(l->topic, "refunds"));
	assert_int_equal(l->partition, 0);
	assert_int_equal(l->committed_offset, 11);
	assert_int_equal(l->processed_offset, 13);
	assert_int_equal(l->records, 2);
	assert_int_equal(l->rebalance, 1);
	assert_true(is(l->from, "consumer-1") && is(l->to, "consumer-2"));
	assert_int_equal(l->time.us, ref_at("10:00:13").us);
	assert_int_equal(l->longest_gap_us, 11 * US_PER_S);
	assert_string_equal(l->basis, "effects at the same offsets");
	story_free(s->st);
}

/* The twin: the new owner goes on where the old one ended. */
static void test_no_redelivery_when_all_was_committed(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12.100", "5", "refunds-0", "11");
	attempt(s, "10:00:01", "consumer-1", "10", "A", "reversal", "success", "a1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 0);
	assert_int_equal(s->rebalances.items[0].partitions_moved_count, 1);
	assert_true(is(s->rebalances.items[0].partitions_moved[0], "refunds-0"));
	story_free(s->st);
}

/* Kafka 4 tells the offset in a line that names no client: it belongs to the grant before it, whatever began meanwhile. */
static void test_offset_line_without_client(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	rebalance(s, 6, "10:00:12.120", "10:00:30");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", NULL);
	granted(s, "consumer-2", "10:00:12.100", "5", "refunds-0, refunds-1", NULL);
	story_event(s->st, EVENT_OFFSET_RESTORED, "consumer-2", at("10:00:12.150"), "topic", "refunds", "partition", "1",
		    "offset", "3", NULL);
	story_event(s->st, EVENT_OFFSET_RESTORED, "consumer-2", at("10:00:12.150"), "topic", "refunds", "partition", "0",
		    "offset", "9", NULL);
	attempt(s, "10:00:01", "consumer-1", "10", "A", "reversal", "success", "a1");
	attempt(s, "10:00:13", "consumer-2", "10", "A", "reversal", "success", "a2");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	/* The record at 9 left no effect; the owner resumed there all the same. */
	assert_int_equal(s->found.redeliveries[0].committed_offset, 9);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].records, 1);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	story_free(s->st);
}

/*
 * The evicted consumer-1 goes on with 12 and 13 while consumer-2 re-reads from
 * 11: what consumer-2 handles is redelivered, 12 though it was there first.
 */
static void test_zombie(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:14", "consumer-2", "12", "C", "reversal", "success", "c2");
	attempt(s, "10:00:15", "consumer-1", "12", "C", "reversal", "success", "c1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_true(is(s->found.redeliveries[0].to, "consumer-2"));
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 13);
	assert_int_equal(s->found.redeliveries[0].records, 2);
	assert_int_equal(s->found.duplicate_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(s->found.duplicates[i].cause, CAUSE_PROVEN);
		assert_int_equal(s->found.duplicates[i].rebalance, 1);
		assert_int_equal(s->found.duplicates[i].redelivery, 1);
	}
	story_free(s->st);
}

/* The same where the evicted one had handled nothing of the partition until the new owner was there. */
static void test_zombie_that_begins_late(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:14", "consumer-1", "11", "B", "reversal", "success", "b1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_true(is(s->found.redeliveries[0].from, "consumer-1") && is(s->found.redeliveries[0].to, "consumer-2"));
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	assert_int_equal(s->found.duplicates[0].rebalance, 1);
	story_free(s->st);
}

/* One blackout, two rebalances: 11 came again after the eviction, 12 when the member had come back. */
static void test_each_redelivery_has_its_own_rebalance(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	rebalance(s, 6, "10:00:20", "10:00:21")->root = 1;
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	granted(s, "consumer-1", "10:00:21", "6", "refunds-0", "12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:14", "consumer-2", "12", "C", "reversal", "success", "c1");
	attempt(s, "10:00:22", "consumer-1", "12", "C", "reversal", "success", "c2");
	find(s);
	assert_int_equal(s->found.redelivery_count, 2);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 12);
	assert_int_equal(s->found.redeliveries[1].rebalance, 2);
	assert_int_equal(s->found.redeliveries[1].committed_offset, 12);
	assert_int_equal(s->found.redeliveries[1].processed_offset, 13);
	assert_int_equal(s->found.duplicates[0].rebalance, 1);
	assert_int_equal(s->found.duplicates[1].rebalance, 2);
	story_free(s->st);
}

/* A partition taken away and given back to the same consumer is re-read too. */
static void test_given_back_to_the_same_consumer(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-1", "10:00:12", "5", "refunds-0", "11");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-1", "11", "B", "reversal", "success", "b2");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_PROVEN);
	/* Given back is not moved. */
	assert_int_equal(s->rebalances.items[0].partitions_moved_count, 0);
	story_free(s->st);
}

/* The twin: the consumer seeks back by itself, and the rebalance comes later. */
static void test_retry_in_place_is_no_redelivery(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-1", "10:00:12", "5", "refunds-0", "12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:03", "consumer-1", "11", "B", "ledger", "failed", "b2");
	attempt(s, "10:00:04", "consumer-1", "11", "B", "reversal", "success", "b3");
	find(s);
	assert_int_equal(s->found.redelivery_count, 0);
	assert_int_equal(s->found.duplicate_count, 1);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UNRELATED);
	assert_int_equal(s->found.duplicates[0].rebalance, 0);
	story_free(s->st);
}

/* No client log at all: the rebalances' times and the order of offsets must do. */
static void test_redelivery_without_client_logs(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:03", "consumer-1", "12", "C", "reversal", "success", "c1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:13.500", "consumer-1", "13", "D", "reversal", "success", "d1");
	attempt(s, "10:00:14", "consumer-2", "12", "C", "reversal", "success", "c2");
	attempt(s, "10:00:15", "consumer-2", "13", "D", "reversal", "success", "d2");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 14);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	assert_int_equal(s->rebalances.items[0].partitions_moved_count, 1);
	story_free(s->st);
}

/* The twin: the consumer went through the rebalance going on by one, and seeks back later, by itself. */
static void test_retry_after_a_rebalance_without_client_logs(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:20", "consumer-1", "12", "C", "reversal", "success", "c1");
	attempt(s, "10:00:21", "consumer-1", "12", "C", "ledger", "failed", "c2");
	attempt(s, "10:00:22", "consumer-1", "12", "C", "reversal", "skipped", "c3");
	find(s);
	assert_int_equal(s->found.redelivery_count, 0);
	story_free(s->st);
}

/* The new owner has no effects in the evidence: its restored offset lies below what had been processed. */
static void test_restored_offset_below_one_processed(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	attempt(s, "10:00:02", "consumer-1", "14", "B", "reversal", "success", "b1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 15);
	assert_int_equal(s->found.redeliveries[0].records, 0);
	assert_string_equal(s->found.redeliveries[0].basis, "restored offset below one processed");
	story_free(s->st);
}

/* A refused commit tells what had been processed, where there are no effects at all. */
static void test_refused_commit_tells_what_was_processed(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	story_event(s->st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:20"), "group", "refunds", "topic", "refunds",
		    "partition", "0", "offset", "17", NULL);
	story_event(s->st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:20"), "group", "refunds", "topic", "refunds",
		    "partition", "1", "offset", "99", NULL);
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 17);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	story_free(s->st);
}

static void committed(struct scene *s, const char *group, const char *time, const char *partition, const char *offset)
{
	story_event(s->st, EVENT_OFFSET_COMMITTED, "broker-1", at(time), "group", group, "topic", "refunds", "partition", partition,
		    "offset", offset, NULL);
}

/* Where the new owner's log does not say where it resumed, the latest commit before that does. */
static void test_a_stored_commit_tells_where_the_owner_resumed(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12.150", "5", "refunds-0", NULL);
	committed(s, "refunds", "10:00:01", "0", "9");
	committed(s, "refunds", "10:00:06", "0", "11");
	/* Too late, of another partition, of another group. */
	committed(s, "refunds", "10:00:17", "0", "15");
	committed(s, "refunds", "10:00:07", "1", "12");
	committed(s, "audit", "10:00:08", "0", "13");
	attempt(s, "10:00:02", "consumer-1", "14", "B", "reversal", "success", "b1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 15);
	assert_int_equal(s->found.redeliveries[0].rebalance, 1);
	story_free(s->st);
}

/* What the owner's own log says of it is the better evidence. */
static void test_a_stored_commit_does_not_outweigh_the_owners_word(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12.150", "5", "refunds-0", "13");
	committed(s, "refunds", "10:00:06", "0", "11");
	attempt(s, "10:00:02", "consumer-1", "14", "B", "reversal", "success", "b1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 13);
	story_free(s->st);
}

/* What the new owner itself could not commit later it has handled since: nothing of that came again. */
static void test_a_later_commit_of_the_owner_is_no_redelivery(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	story_event(s->st, EVENT_COMMIT_FAILED, "consumer-2", at("10:00:40"), "group", "refunds", "topic", "refunds",
		    "partition", "0", "offset", "17", NULL);
	find(s);
	assert_int_equal(s->found.redelivery_count, 0);
	story_free(s->st);

	/* Before it was given the partition anew it had. */
	s = scene_new();
	rebalance(s, 5, "10:00:10", "10:00:12");
	story_event(s->st, EVENT_COMMIT_FAILED, "consumer-2", at("10:00:09"), "group", "refunds", "topic", "refunds",
		    "partition", "0", "offset", "17", NULL);
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "11");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 17);
	story_free(s->st);
}

/* ---- duplicates ---- */

static void test_proven_with_its_chain(void **state)
{
	struct scene *s = scene_new();
	struct window window = { .id = 7 };
	const struct window *windows[] = { &window };
	(void)state;

	tell_eviction(s);
	s->rebalances.items[0].attribution = ATTRIBUTION_LAGGED;
	s->rebalances.items[0].windows = windows;
	s->rebalances.items[0].window_count = 1;
	find(s);
	assert_int_equal(s->found.intents, 4);
	assert_int_equal(s->found.duplicate_count, 2);
	const struct duplicate *d = &s->found.duplicates[0];
	assert_int_equal(d->id, 1);
	assert_true(is(d->business_key, "B") && is(d->step, "reversal"));
	assert_int_equal(d->kind, DUPLICATE_DOUBLE_EFFECT);
	assert_int_equal(d->cause, CAUSE_PROVEN);
	assert_int_equal(d->effects, 2);
	assert_int_equal(d->attempt_count, 2);
	assert_int_equal(d->rebalance, 1);
	assert_int_equal(d->redelivery, 1);
	assert_int_equal(d->window, 7);
	assert_true(d->has_amount);
	assert_int_equal(d->amount_micros, 100000000);
	assert_int_equal(s->found.by_cause[CAUSE_PROVEN], 2);
	story_free(s->st);
}

/* The twin: the same windows near a root that is not laid to the network. */
static void test_no_window_for_a_root_that_the_network_did_not_cause(void **state)
{
	struct scene *s = scene_new();
	struct window window = { .id = 7 };
	const struct window *windows[] = { &window };
	(void)state;

	tell_eviction(s);
	s->rebalances.items[0].attribution = ATTRIBUTION_NOT_NETWORK;
	s->rebalances.items[0].windows = windows;
	s->rebalances.items[0].window_count = 1;
	find(s);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_PROVEN);
	assert_int_equal(s->found.duplicates[0].window, 0);
	story_free(s->st);
}

/* The caller sent the refund again: another offset, and a rebalance nearby that has nothing to do with it. */
static void test_upstream(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-2", "12", "B", "reversal", "success", "b2");
	find(s);
	assert_int_equal(s->found.duplicate_count, 1);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UPSTREAM);
	assert_int_equal(s->found.duplicates[0].rebalance, 0);
	assert_int_equal(s->found.redelivery_count, 0);
	story_free(s->st);
}

/* Sent twice, and the second then redelivered: the second effect decides, each further one has its own cause. */
static void test_upstream_and_redelivered(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-1", "09:59:00", "4", "refunds-0", "0");
	granted(s, "consumer-2", "10:00:12", "5", "refunds-0", "12");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:03", "consumer-1", "12", "B", "reversal", "success", "b2");
	attempt(s, "10:00:13", "consumer-2", "12", "B", "reversal", "success", "b3");
	find(s);
	assert_int_equal(s->found.duplicate_count, 1);
	assert_int_equal(s->found.duplicates[0].effects, 3);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UPSTREAM);
	assert_int_equal(s->found.duplicates[0].extra_by_cause[CAUSE_UPSTREAM], 1);
	assert_int_equal(s->found.duplicates[0].extra_by_cause[CAUSE_PROVEN], 1);
	assert_int_equal(s->found.duplicates[0].amount_micros, 200000000);
	story_free(s->st);
}

static void test_same_request_is_suppressed(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:14", "consumer-2", "11", "B", "ledger", "success", "l1");
	attempt(s, "10:00:15", "consumer-1", "11", "B", "ledger", "duplicate", "l2");
	attempt(s, "10:00:16", "consumer-1", "11", "B", "ledger", "skipped", "l3");
	find(s);
	assert_int_equal(s->found.duplicate_count, 0);
	assert_int_equal(s->found.suppressed, 3);
	story_free(s->st);
}

static void test_failed_then_done_is_a_retry(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:02", "consumer-1", "11", "B", "ledger", "failed", "b1");
	attempt(s, "10:00:03", "consumer-1", "11", "B", "ledger", "failed", "b2");
	attempt(s, "10:00:04", "consumer-1", "11", "B", "ledger", "success", "b3");
	attempt(s, "10:00:05", "consumer-1", "12", "C", "ledger", "failed", "c1");
	find(s);
	assert_int_equal(s->found.duplicate_count, 0);
	/* C was not tried again. */
	assert_int_equal(s->found.retries, 2);
	story_free(s->st);
}

static void test_unknown_outcome_is_no_effect(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:02", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "TIMED_OUT", "b2");
	find(s);
	assert_int_equal(s->found.duplicate_count, 0);
	assert_int_equal(s->found.unknown, 1);
	assert_int_equal(s->found.retries, 0);
	story_free(s->st);
}

static void effect_with(struct scene *s, const char *time, const char *request, const char *field, const char *value)
{
	story_event(s->st, EVENT_EFFECT, NULL, at(time), "consumer", "c", "business_key", "K", "step", "reversal", "status",
		    "success", "request_id", request, field, value, NULL);
}

/* The same key with another body is another operation that was given the same key. */
static void test_conflict_by_fingerprint_is_no_duplicate(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	effect_with(s, "10:00:01", "1", "fingerprint", "aa");
	effect_with(s, "10:00:02", "2", "fingerprint", "bb");
	find(s);
	assert_int_equal(s->found.duplicate_count, 0);
	assert_int_equal(s->found.conflict_count, 1);
	assert_true(is(s->found.conflicts[0].first->request_id, "1"));
	assert_true(is(s->found.conflicts[0].other->request_id, "2"));
	story_free(s->st);
}

/* A record that tells no amount goes with either; it may not join two amounts into one intent. */
static void test_conflict_by_amount(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	effect_with(s, "10:00:01", "1", "message_id", "m");
	effect_with(s, "10:00:02", "2", "amount_micros", "5000000");
	effect_with(s, "10:00:03", "3", "amount_micros", "6000000");
	find(s);
	assert_int_equal(s->found.conflict_count, 1);
	/* 1 and 2 are one intent, 3 another. */
	assert_int_equal(s->found.duplicate_count, 1);
	assert_int_equal(s->found.duplicates[0].effects, 2);
	assert_int_equal(s->found.duplicates[0].amount_micros, 5000000);
	story_free(s->st);
}

/* Without coordinates: the message id tells whether the caller sent two. */
static void test_causes_without_offsets(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	effect_with(s, "10:00:01", "1", "message_id", "m1");
	effect_with(s, "10:00:02", "2", "message_id", "m2");
	find(s);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UPSTREAM);
	story_free(s->st);
}

static void bare_effect(struct scene *s, const char *time, const char *consumer, const char *request)
{
	story_event(s->st, EVENT_EFFECT, NULL, at(time), "consumer", consumer, "business_key", "K", "step", "reversal", "status",
		    "success", request != NULL ? "request_id" : NULL, request, NULL);
}

/* A rebalance between the two gave the second consumer partitions: strong. Its log is missing: weak. None near: unrelated. */
static void test_causes_by_time(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12.010", "5", "refunds-0", NULL);
	bare_effect(s, "10:00:01", "consumer-1", "1");
	bare_effect(s, "10:00:14", "consumer-2", "2");
	find(s);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_STRONG);
	assert_int_equal(s->found.duplicates[0].rebalance, 1);
	story_free(s->st);

	s = scene_new();
	rebalance(s, 5, "10:00:10", "10:00:12");
	bare_effect(s, "10:00:01", "consumer-1", "1");
	bare_effect(s, "10:00:14", "consumer-2", "2");
	find(s);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_WEAK);
	story_free(s->st);

	/* An hour after: no backlog is worked off so late (max.poll.interval.ms is 300000 by default). */
	s = scene_new();
	rebalance(s, 5, "10:00:10", "10:00:12");
	bare_effect(s, "10:00:01", "consumer-1", "1");
	bare_effect(s, "11:00:14", "consumer-2", "2");
	find(s);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UNRELATED);
	assert_int_equal(s->found.duplicates[0].rebalance, 0);
	story_free(s->st);
}

/* A log to the second says that the partition was given before what its owner executed until then, which is not so. */
static void test_a_grant_to_the_second_does_not_part_effects(void **state)
{
	static const char *const told[] = { "10:00:12.950", "10:00:12" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene *s = scene_new();

		rebalance(s, 5, "10:00:11", "10:00:13.900");
		granted(s, "consumer-1", told[i], "5", "refunds-0", NULL);
		attempt(s, "10:00:12.050", "consumer-1", "11", "A", "reversal", "success", "a1");
		attempt(s, "10:00:12.100", "consumer-1", "12", "B", "reversal", "success", "b1");
		attempt(s, "10:00:14.500", "consumer-1", "11", "A", "reversal", "success", "a2");
		find(s);
		assert_int_equal(s->found.redelivery_count, 1);
		assert_int_equal(s->found.redeliveries[0].committed_offset, 11);
		assert_int_equal(s->found.redeliveries[0].rebalance, 1);
		story_free(s->st);
	}
}

/* Lines of whole seconds, as kafka-go writes them, that tell at which offset consumer-1 resumes refunds-0. */
static void resumed(struct scene *s, const char *time, const char *offset)
{
	story_event(s->st, EVENT_OFFSET_RESTORED, "consumer-1", at(time), "group", "refunds", "client", "consumer-1", "topic",
		    "refunds", "partition", "0", "offset", offset, NULL);
}

/*
 * The record at 12 stood in the client's queue, was handled while the group was joining, and came again: all within the
 * second by which the line tells that the client resumed there.
 */
static void test_delivered_again_within_the_second_of_the_grant(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 4, "09:58:58", "09:59:00");
	rebalance(s, 5, "10:00:23.600", "10:00:25.215");
	resumed(s, "09:59:00", "11");
	resumed(s, "10:00:25", "12");
	attempt(s, "10:00:20", "consumer-1", "11", "A", "reversal", "success", "a1");
	attempt(s, "10:00:25.221", "consumer-1", "12", "B", "reversal", "success", "b1");
	attempt(s, "10:00:25.413", "consumer-1", "12", "B", "reversal", "skipped", NULL);
	attempt(s, "10:00:25.600", "consumer-1", "13", "C", "reversal", "success", "c1");
	find(s);
	assert_int_equal(s->found.redelivery_count, 1);
	assert_int_equal(s->found.redeliveries[0].committed_offset, 12);
	assert_int_equal(s->found.redeliveries[0].processed_offset, 13);
	assert_int_equal(s->found.redeliveries[0].records, 1);
	assert_int_equal(s->found.redeliveries[0].rebalance, 2);
	assert_int_equal(s->found.redeliveries[0].time.us, ref_at("10:00:25.413").us);
	story_free(s->st);
}

/* Its twins: what failed is tried again in place, and what comes once in that second is not delivered again. */
static void test_not_delivered_again_within_the_second_of_the_grant(void **state)
{
	static const struct {
		const char *status, *offset;
	} second[] = { { "failed", "12" }, { "success", "13" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene *s = scene_new();

		rebalance(s, 4, "09:58:58", "09:59:00");
		rebalance(s, 5, "10:00:23.600", "10:00:25.215");
		resumed(s, "09:59:00", "11");
		resumed(s, "10:00:25", "12");
		attempt(s, "10:00:20", "consumer-1", "11", "A", "reversal", "success", "a1");
		attempt(s, "10:00:25.221", "consumer-1", "12", "B", "reversal", second[i].status, "b1");
		attempt(s, "10:00:25.413", "consumer-1", second[i].offset, "C", "reversal", "success", "c1");
		find(s);
		assert_int_equal(s->found.redelivery_count, 0);
		story_free(s->st);
	}
}

/* A refund's second notice is no money: the amounts of the steps stand apart. */
static void test_amounts_per_step(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	attempt(s, "10:00:01", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:02", "consumer-1", "11", "B", "notice", "success", "n1");
	attempt(s, "10:00:13", "consumer-2", "11", "B", "reversal", "success", "b2");
	attempt(s, "10:00:14", "consumer-2", "11", "B", "notice", "success", "n2");
	find(s);
	assert_int_equal(s->found.amount_count, 2);
	assert_true(is(s->found.amounts[0].step, "notice") && is(s->found.amounts[1].step, "reversal"));
	assert_int_equal(s->found.amounts[0].micros, 100000000);
	assert_int_equal(s->found.amounts[1].micros, 100000000);
	assert_true(is(s->found.amounts[1].currency, "CNY"));
	assert_int_equal(s->found.by_step_count, 2);
	assert_int_equal(s->found.by_step[1].count, 1);
	story_free(s->st);
}

static void test_amounts_do_not_overflow(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	for (int i = 0; i < 3; i++)
		effect_with(s, "10:00:01", i == 0 ? "1" : i == 1 ? "2" : "3", "amount_micros", "9223372036854775807");
	find(s);
	assert_int_equal(s->found.duplicates[0].amount_micros, INT64_MAX);
	story_free(s->st);
}

/* A table and a log tell of one attempt: the log has no request id. Told twice it would be a double effect. */
static void test_two_reports_of_one_attempt(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	story_input(s->st, "effects.csv", "table", NULL);
	attempt(s, "10:00:02.000", "consumer-1", "11", "B", "reversal", "success", "b1");
	story_input(s->st, "app.log", "log", "consumer-1");
	story_event(s->st, EVENT_EFFECT, "consumer-1", at("10:00:02.003"), "topic", "refunds", "partition", "0", "offset", "11",
		    "business_key", "B", "step", "reversal", "status", "success", NULL);
	find(s);
	assert_int_equal(s->found.records, 2);
	assert_int_equal(s->found.attempt_count, 1);
	assert_int_equal(s->found.duplicate_count, 0);
	story_free(s->st);
}

/* The twin: one input that has the row twice, and another consumer's log. */
static void test_reports_that_are_two_attempts(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	story_input(s->st, "effects.csv", "table", NULL);
	bare_effect(s, "10:00:02.000", "consumer-1", NULL);
	bare_effect(s, "10:00:02.500", "consumer-1", NULL);
	attempt(s, "10:00:02.000", "consumer-1", "11", "B", "reversal", "success", "b1");
	attempt(s, "10:00:02.500", "consumer-1", "11", "B", "reversal", "success", "b2");
	story_input(s->st, "app.log", "log", "consumer-2");
	story_event(s->st, EVENT_EFFECT, "consumer-2", at("10:00:02.600"), "topic", "refunds", "partition", "0", "offset", "11",
		    "business_key", "B", "step", "reversal", "status", "success", NULL);
	find(s);
	assert_int_equal(s->found.attempt_count, 5);
	/* By the second effect, then in the order of telling. */
	assert_int_equal(s->found.duplicate_count, 2);
	assert_int_equal(s->found.duplicates[0].effects, 2);
	assert_int_equal(s->found.duplicates[1].effects, 3);
	story_free(s->st);
}

/* ---- steps owed ---- */

/* A line of consumer-1's log about one effect. */
static void effect_line(struct scene *s, const char *time, const char *text)
{
	story_event(s->st, EVENT_EFFECT, "consumer-1", at(time), "topic", "refunds", "partition", "0", "offset", "10", "business_key",
		    "A", "step", "reversal", "status", "success", "text", text, NULL);
}

static void test_a_line_of_two_appenders_is_one_attempt(void **state)
{
	static const struct {
		const char *first, *second, *second_text;
		size_t duplicates;
	} cases[] = {
		/* The same line, once more. */
		{ "10:00:01.250", "10:00:01.250", "10:00:01.250 reversed A", 0 },
		/* A millisecond later, another text, and a log of whole seconds: each was executed. */
		{ "10:00:01.250", "10:00:01.251", "10:00:01.251 reversed A", 1 },
		{ "10:00:01.250", "10:00:01.250", "10:00:01.250 reversed A again", 1 },
		{ "10:00:01", "10:00:01", "10:00:01.250 reversed A", 1 },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene *s = scene_new();

		effect_line(s, cases[i].first, "10:00:01.250 reversed A");
		effect_line(s, cases[i].second, cases[i].second_text);
		find(s);
		assert_int_equal(s->found.records, 2);
		assert_int_equal(s->found.duplicate_count, cases[i].duplicates);
		story_free(s->st);
	}
}

static struct grants find_grants(struct scene *s)
{
	struct attempts t;
	struct grants g;

	assert_int_equal(attempts_load(story_store(s->st), &s->clocks, s->st->arena, &t), 0);
	rebalances_index(&s->rebalances, s->st->arena);
	assert_int_equal(grants_find(s->st->store, &s->clocks, &s->groups, &s->rebalances, &t, s->st->arena, &g), 0);
	return g;
}

static void assigned_again(struct scene *s, const char *time, const char *client, const char *partitions)
{
	story_event(s->st, EVENT_PARTITIONS_ASSIGNED, "consumer-2", at(time), "group", "refunds", "client", client, "partitions",
		    partitions, NULL);
}

/* The application's listener logs what the consumer has logged. */
static void test_a_grant_told_twice_is_one(void **state)
{
	struct scene *s = scene_new();
	struct grants g;
	(void)state;

	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12.100", "5", "refunds-0, refunds-1", NULL);
	assigned_again(s, "10:00:12.101", "consumer-2", "[refunds-1, refunds-0]");
	g = find_grants(s);
	assert_int_equal(g.count, 2);
	assert_int_equal(g.items[0].evidence.also_count, 1);
	assert_int_equal(g.items[1].evidence.also_count, 1);
	story_free(s->st);

	/* Other partitions, and the same ones a second later: those are new. */
	s = scene_new();
	rebalance(s, 5, "10:00:10", "10:00:12");
	granted(s, "consumer-2", "10:00:12.100", "5", "refunds-0, refunds-1", NULL);
	assigned_again(s, "10:00:12.101", "consumer-2", "[refunds-1, refunds-2]");
	assigned_again(s, "10:00:13.101", "consumer-2", "[refunds-1, refunds-2]");
	assert_int_equal(find_grants(s).count, 6);
	story_free(s->st);
}

static void tell_operation(struct scene *s, const char *time, const char *offset, const char *key, bool ledger)
{
	attempt(s, time, "consumer-1", offset, key, "reversal", "success", key);
	attempt(s, time, "consumer-1", offset, key, "ledger", ledger ? "success" : "failed", key);
}

static void test_lost_step(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	tell_operation(s, "10:00:01", "1", "A", true);
	tell_operation(s, "10:00:02", "2", "B", false);
	tell_operation(s, "10:00:03", "3", "C", true);
	/* In progress when the evidence ended, at the latest attempt. */
	tell_operation(s, "10:00:30", "4", "D", false);
	find(s);
	assert_int_equal(s->found.lost_count, 1);
	assert_true(is(s->found.lost[0].business_key, "B") && is(s->found.lost[0].step, "ledger"));
	story_free(s->st);
}

/*
 * A key that stands for the whole operation takes its later steps for done
 * (domain.md). B began in the evidence and its ledger row was never written; C was
 * under way before the evidence begins, and may have been done then.
 */
static void test_a_step_only_taken_for_done_is_lost(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	tell_operation(s, "10:00:01", "1", "A", true);
	attempt(s, "10:00:02", "consumer-1", "2", "B", "reversal", "success", "b");
	attempt(s, "10:00:03", "consumer-1", "2", "B", "ledger", "failed", "b1");
	attempt(s, "10:00:04", "consumer-1", "2", "B", "ledger", "skipped", "b2");
	attempt(s, "10:00:05", "consumer-1", "3", "C", "reversal", "skipped", "c");
	attempt(s, "10:00:05", "consumer-1", "3", "C", "ledger", "skipped", "c");
	attempt(s, "10:00:06", "consumer-1", "3", "C", "notice", "success", "c");
	tell_operation(s, "10:00:59", "9", "Z", true);
	find(s);
	assert_int_equal(s->found.lost_count, 1);
	assert_true(is(s->found.lost[0].business_key, "B") && is(s->found.lost[0].step, "ledger"));
	story_free(s->st);
}

/* The twins: a step that few operations have is owed by none; one that was recognised had been done before. */
static void test_not_lost(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "consumer-1", "1", "A", "reversal", "success", "a");
	attempt(s, "10:00:01", "consumer-1", "1", "A", "survey", "success", "a");
	attempt(s, "10:00:01", "consumer-1", "1", "A", "ledger", "success", "a");
	attempt(s, "10:00:02", "consumer-1", "2", "B", "reversal", "success", "b");
	attempt(s, "10:00:02", "consumer-1", "2", "B", "ledger", "duplicate", "b");
	attempt(s, "10:00:03", "consumer-1", "3", "C", "reversal", "success", "c");
	attempt(s, "10:00:03", "consumer-1", "3", "C", "ledger", "success", "c");
	attempt(s, "10:00:59", "consumer-1", "9", "Z", "reversal", "success", "z");
	find(s);
	assert_int_equal(s->found.lost_count, 0);
	story_free(s->st);
}

/* ---- books ---- */

static void book(struct scene *s, const char *time, const char *system, const char *key, const char *micros, const char *request)
{
	story_event(s->st, EVENT_BOOK_ENTRY, NULL, at(time), "system", system, "business_key", key, "amount_micros", micros,
		    "currency", "CNY", "request_id", request, NULL);
}

/* The channel acted and its answer was lost: its books say so, and the second call was one too many. */
static void test_the_books_settle_an_unknown_outcome(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	attempt(s, "10:00:01", "consumer-1", "1", "A", "reversal", "unknown", "a1");
	attempt(s, "10:00:02", "consumer-1", "1", "A", "reversal", "success", "a2");
	attempt(s, "10:00:03", "consumer-1", "2", "B", "reversal", "unknown", "b1");
	attempt(s, "10:00:04", "consumer-1", "2", "B", "reversal", "success", "b2");
	book(s, "10:00:01", "channel", "A", "100000000", "a1");
	book(s, "10:00:02", "channel", "A", "100000000", "a2");
	book(s, "10:00:04", "channel", "B", "100000000", "b2");
	find(s);
	assert_int_equal(s->found.duplicate_count, 1);
	assert_true(is(s->found.duplicates[0].business_key, "A"));
	assert_int_equal(s->found.duplicates[0].effects, 2);
	assert_int_equal(s->found.duplicates[0].cause, CAUSE_UNRELATED);
	story_free(s->st);
}

static void test_books_that_disagree(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	tell_eviction(s);
	book(s, "10:00:00", "channel", "A", "100000000", "a1");
	book(s, "10:00:02", "channel", "B", "100000000", "b1");
	book(s, "10:00:13", "channel", "B", "100000000", "b2");
	book(s, "10:00:15", "channel", "D", "70000000", "d1");
	/* A debit there, a credit here. */
	book(s, "10:00:00", "ledger", "A", "-100000000", "l1");
	book(s, "10:00:02", "ledger", "B", "-100000000", "l2");
	book(s, "10:00:14", "ledger", "D", "-60000000", "l3");
	book(s, "10:00:16", "ledger", "E", "-1", "l4");
	find(s);
	assert_int_equal(s->found.book_count, 1);
	const struct book_pair *p = &s->found.books[0];
	assert_true(is(p->system_a, "channel") && is(p->system_b, "ledger"));
	/* E stands after the channel's last row: it cannot be missed there. */
	assert_int_equal(p->outside, 1);
	assert_int_equal(p->keys, 3);
	assert_int_equal(p->shared, 3);
	assert_int_equal(p->agree, 1);
	assert_int_equal(p->difference_count, 2);
	assert_true(is(p->differences[0].business_key, "B"));
	assert_int_equal(p->differences[0].count_a, 2);
	assert_int_equal(p->differences[0].count_b, 1);
	assert_int_equal(p->differences[0].micros_a, 200000000);
	assert_int_equal(p->differences[0].duplicate, 1);
	assert_true(is(p->differences[1].business_key, "D"));
	assert_int_equal(p->differences[1].duplicate, 0);
	story_free(s->st);
}

/* Two systems that name their operations differently: one finding, not one for each row. */
static void test_books_without_a_common_key(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	book(s, "10:00:00", "channel", "A-1", "1", "1");
	book(s, "10:00:09", "channel", "A-2", "1", "2");
	book(s, "10:00:00", "ledger", "1", "1", "3");
	book(s, "10:00:09", "ledger", "2", "1", "4");
	find(s);
	assert_int_equal(s->found.book_count, 1);
	assert_int_equal(s->found.books[0].keys, 4);
	assert_int_equal(s->found.books[0].shared, 0);
	assert_int_equal(s->found.books[0].agree, 0);
	assert_int_equal(s->found.books[0].difference_count, 0);
	story_free(s->st);
}

/* One lost and one doubled do not cancel. */
static void test_books_compare_identities(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	book(s, "10:00:00", "channel", "A", "1", "1");
	book(s, "10:00:05", "channel", "A", "1", "2");
	book(s, "10:00:09", "channel", "C", "1", "3");
	book(s, "10:00:00", "ledger", "A", "1", "4");
	book(s, "10:00:05", "ledger", "B", "1", "5");
	book(s, "10:00:09", "ledger", "C", "1", "6");
	find(s);
	assert_int_equal(s->found.books[0].difference_count, 2);
	story_free(s->st);
}

/* ---- texts ---- */

static void test_partitions_text(void **state)
{
	struct sv rest = SV("[refunds-0, order-events-v2-12], a-b [3],rubbish,-1, x-y"), topic = SV_ABSENT;
	int64_t partition;
	(void)state;

	assert_true(partitions_next(&rest, &topic, &partition));
	assert_true(is(topic, "refunds"));
	assert_int_equal(partition, 0);
	assert_true(partitions_next(&rest, &topic, &partition));
	assert_true(is(topic, "order-events-v2"));
	assert_int_equal(partition, 12);
	assert_true(partitions_next(&rest, &topic, &partition));
	assert_true(is(topic, "a-b"));
	assert_int_equal(partition, 3);
	assert_false(partitions_next(&rest, &topic, &partition));
}

static void check_partitions(struct sv text, size_t n, const char *const topics[], const int64_t partitions[])
{
	struct sv topic = SV_ABSENT;
	int64_t partition;

	for (size_t i = 0; i < n; i++) {
		assert_true(partitions_next(&text, &topic, &partition));
		assert_true(is(topic, topics[i]));
		assert_int_equal(partition, partitions[i]);
	}
	assert_false(partitions_next(&text, &topic, &partition));
}

static void test_partitions_of_other_clients(void **state)
{
	(void)state;
	check_partitions(SV("a-b[0 11], c[2]"), 3, (const char *const[]){ "a-b", "a-b", "c" }, (const int64_t[]){ 0, 11, 2 });
	check_partitions(SV("{TopicPartition(topic='a-1', partition=3), TopicPartition(topic='b', partition=0)}"), 2,
			 (const char *const[]){ "a-1", "b" }, (const int64_t[]){ 3, 0 });
	check_partitions(SV("order-events/3"), 1, (const char *const[]){ "order-events" }, (const int64_t[]){ 3 });
	check_partitions(SV("3 of a-1"), 1, (const char *const[]){ "a-1" }, (const int64_t[]){ 3 });
	/* Numbers of no topic, and a topic of no number. */
	check_partitions(SV("0 1, 2"), 0, NULL, NULL);
	check_partitions(SV("topic='a', a"), 0, NULL, NULL);
}

static void test_nothing(void **state)
{
	struct scene *s = scene_new();
	(void)state;

	find(s);
	assert_int_equal(s->found.records, 0);
	assert_int_equal(s->found.duplicate_count, 0);
	assert_int_equal(s->found.redelivery_count, 0);
	assert_int_equal(s->found.book_count, 0);
	story_free(s->st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_redelivered_range),
		cmocka_unit_test(test_no_redelivery_when_all_was_committed),
		cmocka_unit_test(test_offset_line_without_client),
		cmocka_unit_test(test_zombie),
		cmocka_unit_test(test_zombie_that_begins_late),
		cmocka_unit_test(test_each_redelivery_has_its_own_rebalance),
		cmocka_unit_test(test_given_back_to_the_same_consumer),
		cmocka_unit_test(test_retry_in_place_is_no_redelivery),
		cmocka_unit_test(test_redelivery_without_client_logs),
		cmocka_unit_test(test_retry_after_a_rebalance_without_client_logs),
		cmocka_unit_test(test_restored_offset_below_one_processed),
		cmocka_unit_test(test_refused_commit_tells_what_was_processed),
		cmocka_unit_test(test_a_later_commit_of_the_owner_is_no_redelivery),
		cmocka_unit_test(test_a_stored_commit_tells_where_the_owner_resumed),
		cmocka_unit_test(test_a_stored_commit_does_not_outweigh_the_owners_word),
		cmocka_unit_test(test_proven_with_its_chain),
		cmocka_unit_test(test_no_window_for_a_root_that_the_network_did_not_cause),
		cmocka_unit_test(test_upstream),
		cmocka_unit_test(test_upstream_and_redelivered),
		cmocka_unit_test(test_same_request_is_suppressed),
		cmocka_unit_test(test_failed_then_done_is_a_retry),
		cmocka_unit_test(test_unknown_outcome_is_no_effect),
		cmocka_unit_test(test_conflict_by_fingerprint_is_no_duplicate),
		cmocka_unit_test(test_conflict_by_amount),
		cmocka_unit_test(test_causes_without_offsets),
		cmocka_unit_test(test_causes_by_time),
		cmocka_unit_test(test_a_grant_to_the_second_does_not_part_effects),
		cmocka_unit_test(test_delivered_again_within_the_second_of_the_grant),
		cmocka_unit_test(test_not_delivered_again_within_the_second_of_the_grant),
		cmocka_unit_test(test_amounts_per_step),
		cmocka_unit_test(test_amounts_do_not_overflow),
		cmocka_unit_test(test_two_reports_of_one_attempt),
		cmocka_unit_test(test_reports_that_are_two_attempts),
		cmocka_unit_test(test_a_line_of_two_appenders_is_one_attempt),
		cmocka_unit_test(test_a_grant_told_twice_is_one),
		cmocka_unit_test(test_lost_step),
		cmocka_unit_test(test_a_step_only_taken_for_done_is_lost),
		cmocka_unit_test(test_not_lost),
		cmocka_unit_test(test_the_books_settle_an_unknown_outcome),
		cmocka_unit_test(test_books_that_disagree),
		cmocka_unit_test(test_books_without_a_common_key),
		cmocka_unit_test(test_books_compare_identities),
		cmocka_unit_test(test_partitions_text),
		cmocka_unit_test(test_partitions_of_other_clients),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
