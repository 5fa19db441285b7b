/* SPDX-License-Identifier: MIT */
/* Events as evidence. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence.h"
#include "story.h"

static void assert_text(struct sv text, const char *expected)
{
	if (!sv_eq(text, sv_of(expected)))
		fail_msg("'%.*s' is not '%s'", SV_ARG(text), expected);
}

static struct evidence only(struct story *st, struct evidence_list *list)
{
	const struct event **events;
	size_t count;

	assert_int_equal(query_load(story_store(st), NULL, 0, st->arena, &events, &count), 0);
	assert_int_equal(count, 1);
	evidence_add(list, st->arena, events[0], (struct ref_time){ events[0]->time.us - 5 }, "it was silent");
	assert_int_equal(list->count, 1);
	return list->items[0];
}

static void a_line_is_its_own_text(void **state)
{
	struct story *st = story_new();
	struct evidence_list list = { 0 };
	struct evidence e;

	(void)state;
	story_event(st, EVENT_CLIENT_SUSPECTS_SESSION, "consumer-1", at("10:00:30"), "group", "refunds", "text", "as written",
		    NULL);
	e = only(st, &list);
	assert_text(e.text, "as written");
	assert_text(e.role, "it was silent");
	assert_text(e.host, "consumer-1");
	assert_int_equal(e.type, EVENT_CLIENT_SUSPECTS_SESSION);
	assert_int_equal(e.strength, STRENGTH_SUGGESTS);
	assert_int_equal(e.place.unit, PLACE_LINE);
	assert_int_equal(e.place.number, 1);
	assert_int_equal(e.written.us - e.time.us, 5);
	story_free(st);
}

static void packets_are_rendered(void **state)
{
	static const struct {
		const char *direction, *expected;
	} cases[] = {
		{ "ab", "net.stall 10.77.0.11:43210 -> 10.77.0.2:9092, 12.345 s, retransmits=7, loss_at_us=2026-11-30T10:00:00.500000Z" },
		{ "ba", "net.stall 10.77.0.2:9092 -> 10.77.0.11:43210, 12.345 s, retransmits=7, loss_at_us=2026-11-30T10:00:00.500000Z" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *st = story_new();
		struct evidence_list list = { 0 };
		char loss_at[32];

		snprintf(loss_at, sizeof loss_at, "%lld", (long long)at("10:00:00.500").us);
		story_interval(st, EVENT_NET_STALL, "broker-1", at("10:00:00"), at("10:00:12.345"), "path_a",
			       "10.77.0.11:43210", "path_b", "10.77.0.2:9092", "direction", cases[i].direction, "retransmits",
			       "7", "loss_at_us", loss_at, NULL);
		assert_text(only(st, &list).text, cases[i].expected);
		story_free(st);
	}
}

static void counters_are_rendered(void **state)
{
	struct story *st = story_new();
	struct evidence_list list = { 0 };

	(void)state;
	story_event(st, EVENT_COUNTER_DELTA, "broker-1", at("10:00:00"), "counter", "softnet.dropped", "delta", "12", "cpu",
		    "3", NULL);
	assert_text(only(st, &list).text, "counter.delta counter=softnet.dropped, delta=12, cpu=3");
	story_free(st);
}

static void an_event_is_added_once_and_sorted(void **state)
{
	struct story *st = story_new();
	struct evidence_list list = { 0 };
	const struct event **events;
	struct event of_no_store;
	size_t count;

	(void)state;
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:02"), NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:01"), NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:01"), NULL);
	assert_int_equal(query_load(story_store(st), NULL, 0, st->arena, &events, &count), 0);
	assert_int_equal(count, 3);
	/* By time: ids 2, 3, 1. Added from the last to the first, twice. */
	for (int twice = 0; twice < 2; twice++) {
		for (size_t i = count; i-- > 0;)
			evidence_add(&list, st->arena, events[i], (struct ref_time){ events[i]->time.us }, "");
	}
	assert_int_equal(list.count, 3);
	evidence_sort(&list);
	assert_int_equal(list.items[0].event, 2);
	assert_int_equal(list.items[1].event, 3);
	assert_int_equal(list.items[2].event, 1);
	/* What is in no store cannot be told apart. */
	event_copy(&of_no_store, events[0]);
	of_no_store.id = 0;
	evidence_add(&list, st->arena, &of_no_store, (struct ref_time){ 0 }, "");
	evidence_add(&list, st->arena, &of_no_store, (struct ref_time){ 0 }, "");
	assert_int_equal(list.count, 5);
	story_free(st);
}

static void a_line_that_stands_twice_is_one_with_two_places(void **state)
{
	struct story *st = story_new();
	struct evidence_list list = { 0 };
	const struct event **events;
	size_t count;

	(void)state;
	story_event(st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:30"), "group", "g", "text", "it failed", NULL);
	story_event(st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:30"), "group", "g", "text", "it failed", NULL);
	/* Another time, another host, another text. */
	story_event(st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:31"), "group", "g", "text", "it failed", NULL);
	story_event(st, EVENT_COMMIT_FAILED, "consumer-2", at("10:00:30"), "group", "g", "text", "it failed", NULL);
	story_event(st, EVENT_COMMIT_FAILED, "consumer-1", at("10:00:30"), "group", "g", "text", "it failed too", NULL);
	assert_int_equal(query_load(story_store(st), NULL, 0, st->arena, &events, &count), 0);
	assert_int_equal(count, 5);
	for (size_t i = 0; i < 2 * count; i++)
		evidence_add(&list, st->arena, events[i % count], (struct ref_time){ events[i % count]->time.us }, "it failed");
	assert_int_equal(list.count, 4);
	assert_int_equal(list.items[0].place.number, 1);
	assert_int_equal(list.items[0].also_count, 1);
	assert_int_equal(list.items[0].also[0].number, 2);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(list.items[i].also_count, 0);
	story_free(st);
}

static void a_line_that_is_written_on_and_on_keeps_some_of_its_places(void **state)
{
	struct arena *a = arena_new();
	struct evidence_list list = { 0 };
	struct event e = { .id = 1, .type = EVENT_COMMIT_FAILED, .text = SV("it failed"), .place = { .unit = PLACE_LINE, .number = 1 } };

	(void)state;
	for (; e.id <= EVIDENCE_ALSO_MAX + 1; e.id++, e.place.number++)
		evidence_add(&list, a, &e, (struct ref_time){ 0 }, "it failed");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].also_count, EVIDENCE_ALSO_MAX);
	assert_int_equal(list.items[0].also[EVIDENCE_ALSO_MAX - 1].number, EVIDENCE_ALSO_MAX + 1);
	assert_false(list.items[0].also_more);
	evidence_add(&list, a, &e, (struct ref_time){ 0 }, "it failed");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].also_count, EVIDENCE_ALSO_MAX);
	assert_true(list.items[0].also_more);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_its_own_text),
		cmocka_unit_test(a_line_that_stands_twice_is_one_with_two_places),
		cmocka_unit_test(a_line_that_is_written_on_and_on_keeps_some_of_its_places),
		cmocka_unit_test(packets_are_rendered),
		cmocka_unit_test(counters_are_rendered),
		cmocka_unit_test(an_event_is_added_once_and_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
