/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_STORY_H
#define AFTERSHOCK_TESTS_STORY_H

/*
 * Tests of analysis as stories: events in a store in memory, told in a line
 * each. Include after <cmocka.h>.
 *
 *	struct story *st = story_new();
 *	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:00:30"), "group", "refunds", "member", "m1", NULL);
 *	story_interval(st, EVENT_NET_STALL, "broker-1", at("10:00:01"), at("10:00:40"), "path_a", "10.0.0.1:5000",
 *		       "path_b", "10.0.0.2:9092", "direction", "ab", NULL);
 *	assert_int_equal(clocks_find(story_store(st), &options, st->arena, &clocks), 0);
 *	story_free(st);
 *
 * Fields are pairs of name and value, numbers written as text; two names that
 * are no fields: "text" (the line) and "strength" ("proves", "suggests").
 * Events stand in lines 1, 2, 3 ... of their input; ids count in order of telling.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "model/event.h"
#include "store/query.h"
#include "store/store.h"

struct story {
	struct arena *arena;
	struct diag *diag;
	struct store *store;
	struct input_sink sink;
	struct input_info input;	/* id 0: none is open */
	int inputs;
	uint64_t line;
};

/* A time of day on 2026-11-30 (UTC), with or without a fraction. */
static inline struct host_time at(const char *time_of_day)
{
	char text[64];
	struct host_time t;
	bool zoned;

	snprintf(text, sizeof text, "2026-11-30T%sZ", time_of_day);
	assert_true(tstamp_guess(sv_of(text), (struct zone){ 0 }, &t, &zoned));
	return t;
}

/* The same on the reference clock. */
static inline struct ref_time ref_at(const char *time_of_day)
{
	return (struct ref_time){ at(time_of_day).us };
}

static inline struct story *story_new(void)
{
	struct arena *arena = arena_new();
	struct story *st = arena_alloc(arena, sizeof *st);

	st->arena = arena;
	st->diag = diag_new(arena);
	st->store = store_open(":memory:", STORE_WRITE, st->diag);
	assert_non_null(st->store);
	st->sink = store_sink(st->store);
	return st;
}

static inline void story_end_input(struct story *st)
{
	if (st->input.id == 0)
		return;
	assert_int_equal(st->sink.end(st->sink.context, &st->input), 0);
	st->input.id = 0;
}

/* The events that follow are of this input. Without it they are of one log of no host. */
static inline void story_input(struct story *st, const char *path, const char *kind, const char *host)
{
	story_end_input(st);
	st->input = (struct input_info){ .path = sv_of(path), .kind = sv_of(kind), .host = sv_of(host) };
	st->input.digest = arena_printf(st->arena, "story-%d", ++st->inputs);
	st->line = 0;
	assert_int_equal(st->sink.begin(st->sink.context, &st->input), 1);
}

static inline void story_field(struct event *e, const char *name, const char *value)
{
	enum event_field field;
	int64_t number;

	if (strcmp(name, "text") == 0) {
		e->text = sv_of(value);
	} else if (strcmp(name, "strength") == 0) {
		e->strength = strcmp(value, "proves") == 0 ? STRENGTH_PROVES : STRENGTH_SUGGESTS;
	} else if (!field_by_name(sv_of(name), &field)) {
		fail_msg("no field %s", name);
	} else if (field_infos[field].type == FIELD_TEXT) {
		event_set_text(e, field, sv_of(value));
	} else {
		assert_true(sv_to_i64(sv_of(value), &number));
		event_set_int(e, field, number);
	}
}

static inline void story_put(struct story *st, struct event *e, va_list fields)
{
	const char *name;
	enum event_field missing;

	if (st->input.id == 0)
		story_input(st, "story.log", "log", NULL);
	while ((name = va_arg(fields, const char *)) != NULL)
		story_field(e, name, va_arg(fields, const char *));
	if (event_lacks(e, &missing))
		fail_msg("%s needs %s", event_infos[e->type].name, field_infos[missing].name);
	e->place = (struct place){ .input = st->input.id, .unit = PLACE_LINE, .number = ++st->line };
	if (!st->input.has_times || e->time.us < st->input.first.us)
		st->input.first = e->time;
	if (!st->input.has_times || e->time.us > st->input.last.us)
		st->input.last = e->time;
	st->input.has_times = true;
	st->input.records++;
	st->input.events++;
	assert_int_equal(st->sink.events.put(st->sink.events.context, e), 0);
}

/* host may be NULL. The list of fields ends with NULL. */
__attribute__((sentinel)) static inline void story_event(struct story *st, enum event_type type, const char *host,
							 struct host_time time, ...)
{
	struct event e;
	va_list fields;

	event_init(&e, type);
	e.host = sv_of(host);
	e.time = time;
	va_start(fields, time);
	story_put(st, &e, fields);
	va_end(fields);
}

__attribute__((sentinel)) static inline void story_interval(struct story *st, enum event_type type, const char *host,
							    struct host_time start, struct host_time end, ...)
{
	struct event e;
	va_list fields;

	event_init(&e, type);
	e.host = sv_of(host);
	e.time = start;
	e.duration_us = end.us - start.us;
	va_start(fields, end);
	story_put(st, &e, fields);
	va_end(fields);
}

/* The store with all that was told so far. */
static inline struct store *story_store(struct story *st)
{
	story_end_input(st);
	return st->store;
}

static inline void story_free(struct story *st)
{
	store_close(st->store);
	arena_free(st->arena);
}

#endif
