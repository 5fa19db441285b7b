/* SPDX-License-Identifier: MIT */
/* What was put comes back as it was, in a total order. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

/* What could not be asked fails where its answer is taken, and may be given back. */
static void a_query_that_failed_gives_nothing(void **state)
{
	struct event e;

	(void)state;
	assert_int_equal(query_next(NULL, &e), -1);
	query_free(NULL);
}

static void every_field_comes_back(void **state)
{
	struct story *st = story_new();
	struct event put, got;
	const char binary[] = "a\0b\xff\xfe\n";

	(void)state;
	/* Odd fields set, even ones not: what is not known stays so. */
	event_init(&put, EVENT_BROKER_STARTED);
	put.strength = STRENGTH_SUGGESTS;
	put.time.us = -5;
	put.duration_us = 7;
	put.host = SV("broker-1");
	put.place = (struct place){ .unit = PLACE_PACKET, .number = 12, .byte_offset = UINT64_C(1) << 40 };
	put.text = (struct sv){ binary, sizeof binary - 1 };
	for (int f = 1; f < FIELD_COUNT; f += 2) {
		if (field_infos[f].type == FIELD_INT)
			event_set_int(&put, (enum event_field)f, f == 1 ? INT64_MIN : -f);
		else
			event_set_text(&put, (enum event_field)f, sv_of(field_infos[f].name));
	}
	event_set_text(&put, FIELD_REASON, SV("")); /* empty is not absent */
	story_input(st, "broker.log", "log", "broker-1");
	assert_int_equal(st->sink.events.put(st->sink.events.context, &put), 0);
	assert_int_equal(query_event(story_store(st), 1, st->arena, &got), 1);

	assert_int_equal(got.id, 1);
	assert_int_equal(got.type, EVENT_BROKER_STARTED);
	assert_int_equal(got.strength, STRENGTH_SUGGESTS);
	assert_int_equal(got.time.us, -5);
	assert_int_equal(got.duration_us, 7);
	assert_true(sv_eq(got.host, put.host));
	assert_int_equal(got.place.input, 1);
	assert_int_equal(got.place.unit, PLACE_PACKET);
	assert_int_equal(got.place.number, 12);
	assert_int_equal(got.place.byte_offset, put.place.byte_offset);
	assert_true(sv_eq(got.text, put.text));
	assert_true(got.set == put.set);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(&put, (enum event_field)f))
			continue;
		if (field_infos[f].type == FIELD_INT)
			assert_int_equal(got.value[f].number, put.value[f].number);
		else
			assert_true(sv_eq(got.value[f].text, put.value[f].text));
	}
	story_free(st);
}

static void events_come_by_time_then_id(void **state)
{
	static const enum event_type types[] = { EVENT_GROUP_EMPTY, EVENT_BROKER_STARTED };
	static const int64_t ids[] = { 3, 1, 2 };
	struct story *st = story_new();
	struct query *q;
	struct event e;

	(void)state;
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:02"), "group", "g", NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:02"), NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:01"), NULL);
	story_event(st, EVENT_COORDINATOR_MOVED, "b", at("10:00:00"), NULL); /* not asked for */
	q = query_events(story_store(st), types, 2);
	assert_non_null(q);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(query_next(q, &e), 1);
		assert_int_equal(e.id, ids[i]);
	}
	assert_int_equal(query_next(q, &e), 0);
	query_free(q);
	/* All of them. */
	q = query_events(st->store, NULL, 0);
	assert_int_equal(query_next(q, &e), 1);
	assert_int_equal(e.type, EVENT_COORDINATOR_MOVED);
	query_free(q);
	story_free(st);
}

static void loaded_texts_are_shared_and_stay(void **state)
{
	static const enum event_type type = EVENT_SESSION_EXPIRED;
	struct story *st = story_new();
	const struct event **events;
	size_t count;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		char member[16];

		snprintf(member, sizeof member, "m%d", i % 1000);
		story_event(st, type, "broker-1", at("10:00:00"), "group", "refunds", "member", member, "text", "line", NULL);
	}
	query_load_into(story_store(st), st->arena);
	assert_int_equal(query_load(st->store, &type, 1, st->arena, &events, &count), 0);
	store_close(st->store);
	st->store = NULL;
	assert_int_equal(count, 2000);
	for (int i = 0; i < 1000; i++) {
		char member[16];

		snprintf(member, sizeof member, "m%d", i);
		assert_true(sv_eq(event_text(events[i], FIELD_MEMBER), sv_of(member)));
		assert_true(sv_eq(events[i]->host, SV("broker-1")));
		assert_true(sv_eq(events[i]->text, SV("line")));
		assert_ptr_equal(event_text(events[i], FIELD_MEMBER).p, event_text(events[i + 1000], FIELD_MEMBER).p);
		assert_ptr_equal(event_text(events[i], FIELD_GROUP).p, event_text(events[0], FIELD_GROUP).p);
	}
	assert_ptr_not_equal(event_text(events[0], FIELD_MEMBER).p, event_text(events[1], FIELD_MEMBER).p);
	story_free(st);
}

/* In the order of a query, of types that were loaded before and of such that were not. */
static void an_event_is_loaded_once(void **state)
{
	static const enum event_type empty[] = { EVENT_GROUP_EMPTY }, both[] = { EVENT_BROKER_STARTED, EVENT_GROUP_EMPTY };
	static const int64_t ids[] = { 4, 3, 1, 2 };
	struct story *st = story_new();
	const struct event **first, **all, **later;
	size_t count;

	(void)state;
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:02"), "group", "g", NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:02"), NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:01"), NULL);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:00"), "group", "g", NULL);
	assert_int_equal(query_load(story_store(st), empty, 1, st->arena, &first, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(query_load(st->store, both, 2, st->arena, &all, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(all[i]->id, ids[i]);
	assert_ptr_equal(all[0], first[0]);
	assert_ptr_equal(all[2], first[1]);
	/* What comes in afterwards is there at the next load; what was loaded stays as it is. */
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:01"), "group", "g", NULL);
	assert_int_equal(query_load(story_store(st), empty, 1, st->arena, &later, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(later[1]->id, 5);
	assert_int_equal(first[1]->id, 1);
	/* Of a type that has none, and of no type that is named: all. */
	assert_int_equal(query_load(st->store, (enum event_type[]){ EVENT_EFFECT }, 1, st->arena, &later, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(query_load(st->store, NULL, 0, st->arena, &later, &count), 0);
	assert_int_equal(count, 5);
	story_free(st);
}

/* One of many events: what the query gives next does not touch it. */
static void an_event_that_is_shelved_stays(void **state)
{
	struct story *st = story_new();
	const struct event *kept = NULL;
	struct query *q;
	struct event e;

	(void)state;
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:01"), "group", "g\"1", "text", "one", NULL);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:02"), "group", "g\"2", "text", "two", NULL);
	q = query_events(story_store(st), NULL, 0);
	while (query_next(q, &e) == 1) {
		if (e.id == 1)
			kept = query_shelve(q, &e);
	}
	query_free(q);
	assert_non_null(kept);
	assert_int_equal(kept->id, 1);
	assert_true(sv_eq(event_text(kept, FIELD_GROUP), SV("g\"1")));
	assert_true(sv_eq(kept->text, SV("one")));
	story_free(st);
}

static void an_id_that_is_not_there(void **state)
{
	struct story *st = story_new();
	struct event e;

	(void)state;
	assert_int_equal(query_event(story_store(st), 1, st->arena, &e), 0);
	story_event(st, EVENT_BROKER_STARTED, NULL, at("10:00:00"), NULL);
	assert_int_equal(query_event(story_store(st), 1, st->arena, &e), 1);
	assert_true(sv_is_absent(e.host));
	assert_true(sv_is_absent(e.text));
	assert_int_equal(query_event(story_store(st), 2, st->arena, &e), 0);
	story_free(st);
}

static void inputs_come_back(void **state)
{
	struct story *st = story_new();
	struct input_info *inputs, info = {
		.path = SV("logs.zip!broker-1/server.log"), .kind = SV("log"), .format = SV("log4j"), .host = SV("broker-1"),
		.digest = SV("d1"), .size_bytes = 1000, .records = 10, .events = 0, .skipped = 2, .unrecognized = 3, .lines = 40,
		.has_times = true, .first = { 5 }, .last = { 9 }, .zone_name = SV("+08:00"), .zone_source = SV("assumed"),
	};
	size_t count;

	(void)state;
	assert_int_equal(st->sink.begin(st->sink.context, &info), 1);
	assert_int_equal(st->sink.end(st->sink.context, &info), 0);
	story_input(st, "picture.png", "skipped", NULL);
	st->input.why_skipped = SV("no evidence");
	assert_int_equal(query_inputs(story_store(st), st->arena, &inputs, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(inputs[0].id, 1);
	assert_true(sv_eq(inputs[0].path, info.path));
	assert_true(sv_eq(inputs[0].kind, info.kind));
	assert_true(sv_eq(inputs[0].format, info.format));
	assert_true(sv_eq(inputs[0].host, info.host));
	assert_true(sv_eq(inputs[0].digest, info.digest));
	assert_true(sv_is_absent(inputs[0].why_skipped));
	assert_int_equal(inputs[0].size_bytes, 1000);
	assert_int_equal(inputs[0].records, 10);
	assert_int_equal(inputs[0].events, 0);
	assert_int_equal(inputs[0].skipped, 2);
	assert_int_equal(inputs[0].unrecognized, 3);
	assert_int_equal(inputs[0].lines, 40);
	assert_true(inputs[0].has_times);
	assert_int_equal(inputs[0].first.us, 5);
	assert_int_equal(inputs[0].last.us, 9);
	assert_true(sv_eq(inputs[0].zone_name, info.zone_name));
	assert_true(sv_eq(inputs[0].zone_source, info.zone_source));
	assert_false(inputs[1].has_times);
	assert_true(sv_is_absent(inputs[1].host));
	assert_true(sv_eq(inputs[1].why_skipped, SV("no evidence")));
	story_free(st);
}

static size_t count_rest(struct query *q)
{
	struct event e;
	size_t n = 0;

	while (query_next(q, &e) == 1)
		n++;
	return n;
}

/* Questions do not disturb one another; one that was asked before more came in has what was there. */
static void questions_side_by_side(void **state)
{
	static const enum event_type empty[] = { EVENT_GROUP_EMPTY, EVENT_GROUP_EMPTY };
	struct story *st = story_new();
	struct query *all, *some, *later;
	struct event e;

	(void)state;
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:03"), "group", "g\"1", NULL);
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:02"), NULL);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:01"), "group", "g\"2", NULL);
	all = query_events(story_store(st), NULL, 0);
	some = query_events(st->store, empty, 2);
	assert_non_null(all);
	assert_non_null(some);
	assert_int_equal(query_next(all, &e), 1);
	assert_int_equal(e.id, 3);
	assert_true(sv_eq(event_text(&e, FIELD_GROUP), SV("g\"2")));
	assert_int_equal(query_next(some, &e), 1);
	assert_int_equal(e.id, 3);
	assert_int_equal(query_next(all, &e), 1);
	assert_int_equal(e.id, 2);
	assert_int_equal(query_next(some, &e), 1);
	assert_int_equal(e.id, 1);
	assert_true(sv_eq(event_text(&e, FIELD_GROUP), SV("g\"1")));
	query_free(some);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:04"), "group", "g", NULL);
	story_end_input(st);
	later = query_events(st->store, empty, 1);
	assert_int_equal(count_rest(later), 3);
	assert_int_equal(count_rest(all), 1);
	query_free(all);
	query_free(later);
	story_free(st);
}

/* Inputs that are not in order of time, as those of several hosts are not. */
static void many_events_are_in_order(void **state)
{
	struct story *st = story_new();
	struct query *q;
	struct event e;
	int64_t time_us = INT64_MIN, id = 0;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char time[16];

		snprintf(time, sizeof time, "10:%02d:%02d", i * 7919 % 60, i * 104729 % 60);
		story_event(st, i % 3 == 0 ? EVENT_BROKER_STARTED : EVENT_GROUP_EMPTY, "b", at(time), "group", "g", NULL);
	}
	q = query_events(story_store(st), NULL, 0);
	for (; query_next(q, &e) == 1; n++) {
		assert_true(e.time.us > time_us || (e.time.us == time_us && e.id > id));
		time_us = e.time.us;
		id = e.id;
	}
	assert_int_equal(n, 5000);
	query_free(q);
	story_free(st);
}

static void hosts_are_counted(void **state)
{
	struct story *st = story_new();
	struct host_count *counts;
	size_t n;

	(void)state;
	story_event(st, EVENT_BROKER_STARTED, "b", at("10:00:00"), NULL);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:00"), "group", "g", NULL);
	story_event(st, EVENT_GROUP_EMPTY, "b", at("10:00:01"), "group", "g", NULL);
	story_event(st, EVENT_GROUP_EMPTY, NULL, at("10:00:01"), "group", "g", NULL);
	assert_int_equal(query_host_counts(story_store(st), st->arena, &counts, &n), 0);
	assert_int_equal(n, 3);
	assert_true(sv_is_absent(counts[0].host));
	assert_int_equal(counts[0].events, 1);
	assert_true(sv_eq(counts[1].host, SV("b")));
	assert_int_equal(counts[1].type, EVENT_BROKER_STARTED); /* by name: broker.started, group.empty */
	assert_int_equal(counts[1].events, 1);
	assert_int_equal(counts[2].type, EVENT_GROUP_EMPTY);
	assert_int_equal(counts[2].events, 2);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_that_failed_gives_nothing),
		cmocka_unit_test(every_field_comes_back),
		cmocka_unit_test(events_come_by_time_then_id),
		cmocka_unit_test(loaded_texts_are_shared_and_stay),
		cmocka_unit_test(an_event_is_loaded_once),
		cmocka_unit_test(an_event_that_is_shelved_stays),
		cmocka_unit_test(an_id_that_is_not_there),
		cmocka_unit_test(inputs_come_back),
		cmocka_unit_test(questions_side_by_side),
		cmocka_unit_test(many_events_are_in_order),
		cmocka_unit_test(hosts_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
