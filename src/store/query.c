/* SPDX-License-Identifier: MIT */
/*
 * What analysis asks of the incident database, as structs. No statement here
 * changes anything.
 *
 * Which events a question is about, and in what order, is known from the survey
 * of all of them (store/survey.h); their rows are then fetched by their ids. Those
 * that are loaded stay on the store's shelf (store/shelf.h).
 */

#include "store/query.h"

#include <assert.h>
#include <sqlite3.h>

#include "store/facts.h"
#include "store/handle.h"
#include "store/rows.h"
#include "store/shelf.h"
#include "store/survey.h"

/* ---- rows of events ---- */

#define EVENT_COLUMNS "id, input, type, time_us, number, byte_offset, facts, text"

enum { GET_ID, GET_INPUT, GET_TYPE, GET_TIME, GET_NUMBER, GET_BYTE_OFFSET, GET_FACTS, GET_TEXT };

/* 1, 0 when the type is none that this program knows, -1 when the row is damaged. Views live until the next step, or in a. */
static int read_event(const struct store *s, struct sqlite3_stmt *row, struct arena *a, struct event *e)
{
	uint8_t type;

	if (!names_find(&s->types, store_column_text(row, GET_TYPE), &type))
		return 0;
	event_init(e, (enum event_type)type);
	e->id = sqlite3_column_int64(row, GET_ID);
	e->time.us = sqlite3_column_int64(row, GET_TIME);
	e->place.input = sqlite3_column_int64(row, GET_INPUT);
	e->place.number = store_column_count(row, GET_NUMBER);
	e->place.byte_offset = store_column_count(row, GET_BYTE_OFFSET);
	e->text = store_column_text(row, GET_TEXT);
	return facts_read(store_column_text(row, GET_FACTS), &s->facts, a, e) ? 1 : store_fail_damaged(s, "an event");
}

static void copy_texts(struct arena *a, struct event *e)
{
	e->host = arena_copy(a, e->host);
	e->text = arena_copy(a, e->text);
	for (field_set set = e->set; set != 0;) {
		enum event_field f = field_take(&set);

		if (field_infos[f].type == FIELD_TEXT)
			e->value[f].text = arena_copy(a, e->value[f].text);
	}
}

/* ---- the order of events of several types ---- */

/* Those of each type, of which so many have been taken. */
struct merge {
	struct {
		const struct survey_type *type;
		size_t next;
	} types[EVENT_COUNT];
	size_t count;
};

/* Each type once; n == 0: all. One without events need not be asked for. */
static size_t choose_types(const struct survey *v, const enum event_type *types, size_t n, enum event_type chosen[EVENT_COUNT])
{
	bool is_named[EVENT_COUNT] = { false };
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		is_named[types[i]] = true;
	for (int t = 0; t < EVENT_COUNT; t++) {
		if ((n == 0 || is_named[t]) && v->types[t].count > 0)
			chosen[count++] = (enum event_type)t;
	}
	return count;
}

static void merge_begin(struct merge *m, const struct survey *v, const enum event_type *types, size_t n)
{
	*m = (struct merge){ .count = n };
	for (size_t i = 0; i < n; i++)
		m->types[i].type = &v->types[types[i]];
}

/* The next of all types by time, then id: its type and its place there. There are few types, so each is looked at. */
static bool merge_next(struct merge *m, const struct survey_type **type, size_t *place)
{
	const struct survey_event *first = NULL;
	size_t taken = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct survey_type *t = m->types[i].type;
		size_t next = m->types[i].next;

		if (next < t->count && (first == NULL || survey_is_before(&t->events[next], first))) {
			first = &t->events[next];
			taken = i;
		}
	}
	if (first == NULL)
		return false;
	*type = m->types[taken].type;
	*place = m->types[taken].next++;
	return true;
}

/* ---- events one after the other ---- */

struct query {
	struct store *store;
	struct arena *arena;	/* holds the query itself */
	struct arena *row;	/* what had to be unescaped of the event at hand */
	struct sqlite3_stmt *statement;
	struct survey *survey;
	struct merge merge;	/* of the types that are asked for */
	struct rows ids;
	const struct survey_type *type;	/* of the row at hand in ids */
	size_t place;			/* and where it stands there */
};

static bool next_id(void *context)
{
	struct query *q = context;

	return merge_next(&q->merge, &q->type, &q->place);
}

static void give_id(void *context, int column, struct sqlite3_context *out)
{
	const struct query *q = context;

	(void)column;
	sqlite3_result_int64(out, q->type->events[q->place].id);
}

struct query *query_events(struct store *s, const enum event_type *types, size_t n)
{
	/* CROSS JOIN: in the order of the ids that are given, whatever SQLite thinks of them. */
	static const char sql[] = "SELECT " EVENT_COLUMNS " FROM rows(?1) AS wanted CROSS JOIN event_row ON id = wanted.c0";
	struct survey *survey = survey_use(s);
	enum event_type chosen[EVENT_COUNT];
	struct arena *arena;
	struct query *q;

	if (survey == NULL)
		return NULL;
	arena = arena_new();
	q = arena_alloc(arena, sizeof *q);
	q->arena = arena;
	q->row = arena_new();
	q->store = s;
	q->survey = survey;
	q->ids = (struct rows){ next_id, give_id, q };
	merge_begin(&q->merge, survey, chosen, choose_types(survey, types, n, chosen));
	if (store_prepare(s, sql, &q->statement) < 0)
		goto fail;
	if (rows_bind(q->statement, 1, &q->ids) != SQLITE_OK) {
		store_fail(s, "query");
		goto fail;
	}
	return q;
fail:
	query_free(q);
	return NULL;
}

int query_next(struct query *q, struct event *e)
{
	int result, rc;

	if (q == NULL)
		return -1;
	arena_reset(q->row);
	while ((result = sqlite3_step(q->statement)) == SQLITE_ROW) {
		rc = read_event(q->store, q->statement, q->row, e);
		if (rc != 0)
			return rc;
	}
	return result == SQLITE_DONE ? 0 : store_fail(q->store, "read");
}

void query_free(struct query *q)
{
	if (q == NULL)
		return;
	sqlite3_finalize(q->statement);
	survey_release(q->survey);
	arena_free(q->row);
	arena_free(q->arena);
}

/* ---- events that are kept ---- */

static struct shelf *shelf_of(struct store *s)
{
	if (s->shelf == NULL)
		s->shelf = shelf_new(NULL);
	return s->shelf;
}

const struct event *query_shelve(struct query *q, const struct event *e)
{
	return shelf_put(shelf_of(q->store), e);
}

static size_t missing_types(const struct survey *v, const enum event_type *types, size_t n, enum event_type missing[EVENT_COUNT])
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (v->types[types[i]].loaded == NULL)
			missing[count++] = types[i];
	}
	return count;
}

/* In its place of the survey. A row that has gone since leaves its place empty, and so does one that is of another type now. */
static void shelve(struct shelf *shelf, const struct query *q, const struct event *e)
{
	assert(q->type->events[q->place].id == e->id);
	if (q->type == &q->survey->types[e->type])
		q->type->loaded[q->place] = shelf_put(shelf, e);
}

/* Rows of all these types are read in one pass, in order of time: that is nearly as they stand in the file. */
static int load_types(struct store *s, struct survey *v, const enum event_type *types, size_t n)
{
	struct query *q;
	struct event e = { .type = 0 };
	int rc;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		v->types[types[i]].loaded = arena_array(v->arena, v->types[types[i]].count, sizeof(const struct event *));
	q = query_events(s, types, n);
	while ((rc = query_next(q, &e)) == 1)
		shelve(shelf_of(s), q, &e);
	query_free(q);
	for (size_t i = 0; i < n && rc < 0; i++)
		v->types[types[i]].loaded = NULL;
	return rc;
}

static void gather(const struct survey *v, const enum event_type *types, size_t n, struct arena *a,
		   const struct event ***events, size_t *count)
{
	const struct survey_type *type;
	size_t capacity = 0, place;
	struct merge merge;

	for (size_t i = 0; i < n; i++)
		capacity += v->types[types[i]].count;
	*events = arena_array(a, capacity, sizeof(const struct event *));
	merge_begin(&merge, v, types, n);
	while (merge_next(&merge, &type, &place)) {
		if (type->loaded[place] != NULL)
			(*events)[(*count)++] = type->loaded[place];
	}
}

int query_load(struct store *s, const enum event_type *types, size_t n, struct arena *a, const struct event ***events,
	       size_t *count)
{
	enum event_type chosen[EVENT_COUNT], missing[EVENT_COUNT];
	struct survey *v = survey_use(s);
	size_t missing_count;
	int rc;

	*events = NULL;
	*count = 0;
	if (v == NULL)
		return -1;
	n = choose_types(v, types, n, chosen);
	missing_count = missing_types(v, chosen, n, missing);
	rc = load_types(s, v, missing, missing_count);
	if (rc == 0)
		gather(v, chosen, n, a, events, count);
	survey_release(v);
	return rc;
}

void query_load_into(struct store *s, struct arena *a)
{
	assert(s->shelf == NULL);
	s->shelf = shelf_new(a);
}

int query_event(struct store *s, int64_t id, struct arena *a, struct event *e)
{
	static const char sql[] = "SELECT " EVENT_COLUMNS " FROM event_row WHERE id = ?";
	struct sqlite3_stmt *statement = store_statement(s, STATEMENT_EVENT, sql);
	int result, rc = 0;

	if (statement == NULL)
		return -1;
	sqlite3_bind_int64(statement, 1, id);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		rc = read_event(s, statement, a, e);
		if (rc == 1)
			copy_texts(a, e);
	} else if (result != SQLITE_DONE) {
		rc = store_fail(s, "read");
	}
	sqlite3_reset(statement);
	return rc;
}

int query_host_counts(struct store *s, struct arena *a, struct host_count **counts, size_t *n)
{
	struct survey *v = survey_use(s);

	*counts = NULL;
	*n = 0;
	if (v == NULL)
		return -1;
	*n = v->host_count;
	*counts = arena_array(a, *n, sizeof **counts);
	for (size_t i = 0; i < *n; i++) {
		(*counts)[i] = v->hosts[i];
		(*counts)[i].host = arena_copy(a, v->hosts[i].host);
	}
	survey_release(v);
	return 0;
}

/* ---- inputs and problems ---- */

static enum severity severity_by_name(struct sv name)
{
	for (int s = SEVERITY_NOTE; s < SEVERITY_ERROR; s++) {
		if (sv_eq(name, sv_of(severity_name((enum severity)s))))
			return (enum severity)s;
	}
	return SEVERITY_ERROR;
}

static void read_input(struct sqlite3_stmt *row, struct arena *a, struct input_info *info)
{
	struct sv *const texts[] = { &info->path, &info->kind, &info->format, &info->host, &info->digest,
				     &info->why_skipped, &info->zone_name, &info->zone_source };
	uint64_t *const counts[] = { &info->size_bytes, &info->records, &info->events, &info->skipped,
				     &info->unrecognized, &info->lines };
	int column = 0;

	info->id = sqlite3_column_int64(row, column++);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*texts[i] = arena_copy(a, store_column_text(row, column++));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		*counts[i] = store_column_count(row, column++);
	info->has_times = sqlite3_column_type(row, column) != SQLITE_NULL;
	info->first.us = sqlite3_column_int64(row, column++);
	info->last.us = sqlite3_column_int64(row, column);
}

int query_inputs(struct store *s, struct arena *a, struct input_info **inputs, size_t *count)
{
	static const char sql[] =
		"SELECT id, path, kind, format, host, digest, why_skipped, zone_name, zone_source,"
		" size_bytes, records, events, skipped, unrecognized, lines, first_us, last_us FROM input ORDER BY id";
	struct sqlite3_stmt *statement = NULL;
	size_t capacity = 0;
	int result;

	*inputs = NULL;
	*count = 0;
	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW)
		read_input(statement, a, ARENA_PUSH(a, *inputs, *count, capacity));
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : store_fail(s, "read");
}

int query_problems(struct store *s, struct diag *d)
{
	static const char sql[] =
		"SELECT severity, code, message, path, input, unit, number, byte_offset, count"
		" FROM problem JOIN input ON input.id = problem.input WHERE input <= ? ORDER BY input, problem.id";
	struct sqlite3_stmt *statement = NULL;
	int result;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, s->earlier_input);
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct problem p = {
			.severity = severity_by_name(store_column_text(statement, 0)),
			.code = store_column_text(statement, 1),
			.message = store_column_text(statement, 2),
			.path = store_column_text(statement, 3),
			.place = {
				.input = sqlite3_column_int64(statement, 4),
				.unit = place_unit_by_name(store_column_text(statement, 5)),
				.number = store_column_count(statement, 6),
				.byte_offset = store_column_count(statement, 7),
			},
			.count = store_column_count(statement, 8),
		};

		diag_restore(d, &p);
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : store_fail(s, "read");
}
