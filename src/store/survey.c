/* SPDX-License-Identifier: MIT */
/* One walk over all events. See store/survey.h. */

#include "store/survey.h"

#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/fold.h"
#include "store/facts.h"
#include "store/handle.h"

/* ---- counting by host and type ---- */

/* By open addressing, at most half full; a slot is free while it counts nothing. */
struct tally {
	struct arena *arena, *scratch;	/* the hosts', the slots' */
	struct host_count *slots;
	size_t size;		/* a power of two, or 0 */
	size_t count;
	struct host_count *latest;	/* where most rows go that the one before went to; NULL at first */
};

static bool is_of(const struct host_count *slot, struct sv host, enum event_type type)
{
	return slot->type == type && sv_eq(slot->host, host);
}

static struct host_count *slot_of(const struct tally *t, struct sv host, enum event_type type)
{
	uint64_t at = fold_number(fold_bytes(sv_is_absent(host), host.p, host.n), type);

	for (;; at++) {
		struct host_count *slot = &t->slots[at & (t->size - 1)];

		if (slot->events == 0 || is_of(slot, host, type))
			return slot;
	}
}

static void grow(struct tally *t)
{
	struct tally old = *t;

	t->size = old.size == 0 ? 256 : 2 * old.size;
	t->slots = arena_array(t->scratch, t->size, sizeof *t->slots);
	for (size_t i = 0; i < old.size; i++) {
		if (old.slots[i].events > 0)
			*slot_of(t, old.slots[i].host, old.slots[i].type) = old.slots[i];
	}
}

static void count(struct tally *t, struct sv host, enum event_type type)
{
	if (t->latest == NULL || !is_of(t->latest, host, type)) {
		if (2 * (t->count + 1) > t->size)
			grow(t);
		t->latest = slot_of(t, host, type);
	}
	if (t->latest->events++ > 0)
		return;
	t->latest->host = arena_copy(t->arena, host);
	t->latest->type = type;
	t->count++;
}

static int by_host_and_type(const void *x, const void *y)
{
	const struct host_count *a = x, *b = y;
	int order = sv_cmp(a->host, b->host);

	return order != 0 ? order : strcmp(event_infos[a->type].name, event_infos[b->type].name);
}

static void take_hosts(struct survey *v, const struct tally *t)
{
	v->hosts = arena_array(v->arena, t->count, sizeof *v->hosts);
	for (size_t i = 0; i < t->size; i++) {
		if (t->slots[i].events > 0)
			v->hosts[v->host_count++] = t->slots[i];
	}
	if (v->host_count > 0)
		qsort(v->hosts, v->host_count, sizeof *v->hosts, by_host_and_type);
}

/* ---- orders ---- */

static int by_time_and_id(const void *x, const void *y)
{
	return survey_is_before(x, y) ? -1 : survey_is_before(y, x);
}

/* Inputs are mostly written in order of time, and one after the other. */
static void sort(struct survey_type *t)
{
	for (size_t i = 1; i < t->count; i++) {
		if (survey_is_before(&t->events[i], &t->events[i - 1])) {
			qsort(t->events, t->count, sizeof *t->events, by_time_and_id);
			return;
		}
	}
}

/* ---- the walk ---- */

enum { GET_ID, GET_TYPE, GET_TIME, GET_FACTS };

/*
 * Events of types that this program does not know are passed over. What had
 * to be unescaped stands in a. 0, or -1 when the row is damaged.
 */
static int see(struct survey *v, const struct store *s, struct sqlite3_stmt *row, struct arena *a, struct tally *hosts)
{
	struct survey_event e = { .id = sqlite3_column_int64(row, GET_ID), .time_us = sqlite3_column_int64(row, GET_TIME) };
	struct survey_type *type;
	uint8_t number;
	struct sv host;

	if (!names_find(&s->types, store_column_text(row, GET_TYPE), &number))
		return 0;
	if (!facts_read_host(store_column_text(row, GET_FACTS), a, &host))
		return store_fail_damaged(s, "an event");
	type = &v->types[number];
	*ARENA_PUSH(v->arena, type->events, type->count, type->capacity) = e;
	count(hosts, host, (enum event_type)number);
	return 0;
}

static int walk(struct survey *v, const struct store *s, struct tally *hosts)
{
	struct sqlite3_stmt *row = NULL;
	struct arena *a;
	int result = SQLITE_DONE, rc = 0;

	if (store_prepare(s, "SELECT id, type, time_us, facts FROM event_row ORDER BY id", &row) < 0)
		return -1;
	a = arena_new();
	while (rc == 0 && (result = sqlite3_step(row)) == SQLITE_ROW) {
		arena_reset(a);
		rc = see(v, s, row, a, hosts);
	}
	arena_free(a);
	if (rc == 0 && result != SQLITE_DONE)
		rc = store_fail(s, "read");
	sqlite3_finalize(row);
	return rc;
}

static struct survey *survey_make(const struct store *s)
{
	struct arena *arena = arena_new(), *scratch = arena_new();
	struct survey *v = arena_alloc(arena, sizeof *v);
	struct tally hosts = { .arena = arena, .scratch = scratch };
	int rc;

	v->arena = arena;
	v->users = 1;
	rc = walk(v, s, &hosts);
	for (int t = 0; t < EVENT_COUNT && rc == 0; t++)
		sort(&v->types[t]);
	if (rc == 0)
		take_hosts(v, &hosts);
	arena_free(scratch);
	if (rc == 0)
		return v;
	survey_release(v);
	return NULL;
}

/* ---- who uses it ---- */

struct survey *survey_use(struct store *s)
{
	if (s->survey == NULL)
		s->survey = survey_make(s);
	if (s->survey != NULL)
		s->survey->users++;
	return s->survey;
}

void survey_release(struct survey *v)
{
	if (v != NULL && --v->users == 0)
		arena_free(v->arena);
}

void survey_forget(struct store *s)
{
	survey_release(s->survey);
	s->survey = NULL;
}
