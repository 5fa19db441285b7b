/* SPDX-License-Identifier: MIT */
/*
 * A member that was evicted wanted to commit offset 15; another had resumed at
 * offset 2 and was delivered what stands there. Each beside twins in which one
 * of these is missing.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/rebalance_index.h"
#include "analysis/redelivery_wire.h"
#include "story.h"

#define FIRST "10.77.1.10:40000"
#define SECOND "10.77.2.10:50000"
#define BROKER "10.77.0.10:9092"

/* What happens, but for what a test changes. NULL leaves it out. */
struct plot {
	const char *assigned;		/* to the second, at :19 */
	const char *member;		/* that the second says to be when it asks */
	const char *resumes;		/* at this offset, at :20 */
	const char *refused_at, *refused, *error, *refused_of;
	const char *delivered_at, *delivered, *delivered_end;	/* to the second */
	const char *next_at;		/* the first asks for the partition */
};

static const struct plot usual = {
	.assigned = "t-1,t-3", .resumes = "2", .refused_at = "10:00:30", .refused = "15", .error = "UNKNOWN_MEMBER_ID",
	.refused_of = FIRST, .delivered_at = "10:00:21", .delivered = "2", .delivered_end = "3", .next_at = "10:00:40",
};

static void asks_where(struct story *st, const char *when, const char *path, const char *client, const char *member,
		       const char *offset)
{
	story_event(st, EVENT_WIRE_COMMITTED, "c", at(when), "path_a", path, "path_b", BROKER, "group", "g", "client", client,
		    "member", member, "topic", "t", "partition", "3", "offset", offset, NULL);
}

static struct story *told(const struct plot *p)
{
	struct story *st = story_new();

	if (p->assigned != NULL)
		story_event(st, EVENT_WIRE_SYNCED, "c", at("10:00:19"), "path_a", SECOND, "path_b", BROKER, "group", "g", "client",
			    "c2", "generation", "4", "partitions", p->assigned, NULL);
	asks_where(st, "10:00:20", SECOND, "c2", p->member != NULL ? p->member : "", p->resumes);
	story_event(st, EVENT_WIRE_COMMIT, "c", at(p->refused_at), "path_a", p->refused_of, "path_b", BROKER, "group", "g", "client",
		    p->refused_of[6] == FIRST[6] ? "c1" : "c2", "topic", "t", "partition", "3", "offset", p->refused, "error",
		    p->error, NULL);
	if (p->delivered_at != NULL)
		story_interval(st, EVENT_WIRE_FETCH, "c", at(p->delivered_at), (struct host_time){ at(p->delivered_at).us + US_PER_S },
			       "path_a", "10.77.2.10:50001", "path_b", BROKER, "client", "c2", "topic", "t", "partition", "3",
			       "offset", p->delivered, "end_offset", p->delivered_end, NULL);
	if (p->next_at != NULL)
		asks_where(st, p->next_at, FIRST, "c1", "m1", "33");
	return st;
}

static struct redeliveries find(struct story *st, const struct attempts *t)
{
	struct rebalance rebalance = { .id = 7, .group = SV("g"), .generation = 4, .has_generation = true,
				       .span = { ref_at("10:00:18"), ref_at("10:00:19") } };
	struct rebalances all = { .items = &rebalance, .count = 1 };
	struct clocks clocks = { 0 };
	struct redeliveries out = { 0 };

	rebalances_index(&all, st->arena);
	assert_int_equal(redeliveries_from_wire(story_store(st), &clocks, &all, t, st->arena, &out), 0);
	return out;
}

static size_t count(const struct plot *p)
{
	const struct attempts nothing = { 0 };
	struct story *st = told(p);
	size_t n = find(st, &nothing).count;

	story_free(st);
	return n;
}

static void what_was_processed_is_delivered_to_another(void **state)
{
	const struct attempts nothing = { 0 };
	struct story *st = told(&usual);
	struct redeliveries all = find(st, &nothing);
	const struct redelivery *l = &all.items[0];

	(void)state;
	assert_int_equal(all.count, 1);
	assert_true(sv_eq(l->group, SV("g")));
	assert_true(sv_eq(l->topic, SV("t")));
	assert_int_equal(l->partition, 3);
	assert_int_equal(l->committed_offset, 2);
	assert_int_equal(l->processed_offset, 15);
	assert_int_equal(l->rebalance, 7);
	assert_true(sv_eq(l->from, SV("c1")));
	assert_true(sv_eq(l->to, SV("c2")));
	assert_int_equal(l->time.us, ref_at("10:00:21").us);
	assert_int_equal(l->evidence.count, 3);
	story_free(st);
}

/* Some of it is enough, and the refusal may come before the other resumes. */
static void other_ways_to_say_it(void **state)
{
	struct plot p = usual;

	(void)state;
	p.delivered = "14";
	p.delivered_end = "20";
	p.refused_at = "10:00:10";
	assert_int_equal(count(&p), 1);
	p.error = "STALE_MEMBER_EPOCH";
	assert_int_equal(count(&p), 1);
	/* Since KIP-848 who asks says who he is; what he was given may not be known. */
	p.assigned = NULL;
	p.member = "m2";
	assert_int_equal(count(&p), 1);
	p.next_at = NULL;
	assert_int_equal(count(&p), 1);
}

static void what_is_no_redelivery(void **state)
{
	(void)state;
	/* All had been committed. */
	assert_int_equal(count(&(struct plot){ .assigned = "t-3", .resumes = "15", .refused_at = "10:00:30", .refused = "15",
					       .error = "UNKNOWN_MEMBER_ID", .refused_of = FIRST, .delivered_at = "10:00:21",
					       .delivered = "15", .delivered_end = "16" }), 0);

	struct plot p = usual;
	p.delivered_at = NULL;	/* it may have lost the partition before it began */
	assert_int_equal(count(&p), 0);
	p = usual;
	p.delivered_at = "10:00:19";
	assert_int_equal(count(&p), 0);
	p = usual;
	p.delivered_at = "10:00:41";
	assert_int_equal(count(&p), 0);
	p = usual;
	p.delivered = "15";	/* what nobody had processed */
	p.delivered_end = "16";
	assert_int_equal(count(&p), 0);
	p = usual;
	p.refused_of = SECOND;	/* what it has processed since it resumed */
	assert_int_equal(count(&p), 0);
	p = usual;
	p.refused_at = "10:00:50";	/* of a later time */
	assert_int_equal(count(&p), 0);
	p = usual;
	p.error = "NOT_COORDINATOR";	/* it is tried again elsewhere */
	assert_int_equal(count(&p), 0);
	p = usual;
	p.assigned = "t-1,t-2";	/* a tool that looks, or a member that was given others */
	assert_int_equal(count(&p), 0);
	p = usual;
	p.assigned = NULL;
	assert_int_equal(count(&p), 0);
}

/* Effects tell what was processed, and by whom. */
static void effects_tell_better(void **state)
{
	struct run run = { .topic = SV("t"), .has_offset = true, .partition = 3, .offset = 1 };
	const struct attempts some = { .runs = &run, .run_count = 1 };
	struct story *st = told(&usual);

	(void)state;
	assert_int_equal(find(st, &some).count, 0);
	run.partition = 4;
	assert_int_equal(find(st, &some).count, 1);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_processed_is_delivered_to_another),
		cmocka_unit_test(other_ways_to_say_it),
		cmocka_unit_test(what_is_no_redelivery),
		cmocka_unit_test(effects_tell_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
