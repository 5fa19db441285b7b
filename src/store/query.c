/* SPDX-License-Identifier: MIT */
/*
 * What analysis asks of the incident database, as structs. No statement here
 * changes anything.
 */

#include "store/query.h"

#include <string.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/texts.h"
#include "store/handle.h"

struct query {
	struct store *store;
	struct arena *arena;	/* holds the query itself */
	struct sqlite3_stmt *statement;
};

/* ---- names that the database holds ---- */

static enum place_unit unit_by_name(struct sv name)
{
	for (int u = PLACE_LINE; u <= PLACE_ROW; u++) {
		if (sv_eq(name, sv_of(place_unit_name((enum place_unit)u))))
			return (enum place_unit)u;
	}
	return PLACE_WHOLE;
}

static enum severity severity_by_name(struct sv name)
{
	for (int s = SEVERITY_NOTE; s < SEVERITY_ERROR; s++) {
		if (sv_eq(name, sv_of(severity_name((enum severity)s))))
			return (enum severity)s;
	}
	return SEVERITY_ERROR;
}

static uint64_t column_count(struct sqlite3_stmt *statement, int column)
{
	int64_t n = sqlite3_column_int64(statement, column);

	return n < 0 ? 0 : (uint64_t)n;
}

/* ---- events ---- */

/* The columns of every query for events; those of the fields follow in the order of field.def. */
static const char event_columns[] =
	"SELECT id, input, type, strength, time_us, duration_us, host, unit, number, byte_offset, text";
enum { GET_ID, GET_INPUT, GET_TYPE, GET_STRENGTH, GET_TIME, GET_DURATION, GET_HOST, GET_UNIT, GET_NUMBER, GET_BYTE_OFFSET,
       GET_TEXT, GET_FIELDS };

static void select_events(const struct store *s, struct buf *sql)
{
	buf_add(sql, sv_of(event_columns));
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (s->columns & FIELD_BIT(f))
			buf_printf(sql, ", \"%s\"", field_infos[f].name);
		else
			buf_add(sql, SV(", NULL"));
	}
	buf_add(sql, SV(" FROM event"));
}

/* False when the type is none that this program knows. */
static bool read_event(struct sqlite3_stmt *statement, struct event *e)
{
	enum event_type type;

	if (!event_by_name(store_column_text(statement, GET_TYPE), &type))
		return false;
	event_init(e, type);
	e->id = sqlite3_column_int64(statement, GET_ID);
	e->strength = sv_eq(store_column_text(statement, GET_STRENGTH), sv_of(strength_name(STRENGTH_PROVES)))
			      ? STRENGTH_PROVES : STRENGTH_SUGGESTS;
	e->time.us = sqlite3_column_int64(statement, GET_TIME);
	e->duration_us = sqlite3_column_int64(statement, GET_DURATION);
	e->host = store_column_text(statement, GET_HOST);
	e->place.input = sqlite3_column_int64(statement, GET_INPUT);
	e->place.unit = unit_by_name(store_column_text(statement, GET_UNIT));
	e->place.number = column_count(statement, GET_NUMBER);
	e->place.byte_offset = column_count(statement, GET_BYTE_OFFSET);
	e->text = store_column_text(statement, GET_TEXT);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (sqlite3_column_type(statement, GET_FIELDS + f) == SQLITE_NULL)
			continue;
		if (field_infos[f].type == FIELD_INT)
			event_set_int(e, (enum event_field)f, sqlite3_column_int64(statement, GET_FIELDS + f));
		else
			event_set_text(e, (enum event_field)f, store_column_text(statement, GET_FIELDS + f));
	}
	return true;
}

static int bind_types(struct sqlite3_stmt *statement, const enum event_type *types, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sqlite3_bind_text(statement, (int)i + 1, event_infos[types[i]].name, -1, SQLITE_STATIC) != SQLITE_OK)
			return -1;
	}
	return 0;
}

static void where_types(struct buf *sql, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add(sql, i == 0 ? SV(" WHERE type IN (?") : SV(", ?"));
	if (n > 0)
		buf_add_char(sql, ')');
}

struct query *query_events(struct store *s, const enum event_type *types, size_t n)
{
	struct arena *arena = arena_new();
	struct query *q = arena_alloc(arena, sizeof *q);
	struct buf sql;
	int rc;

	q->arena = arena;
	q->store = s;
	buf_init(&sql);
	select_events(s, &sql);
	where_types(&sql, n);
	buf_add(&sql, SV(" ORDER BY time_us, id"));
	buf_add_char(&sql, '\0');
	rc = store_prepare(s, sql.p, &q->statement);
	buf_fini(&sql);
	if (rc == 0 && bind_types(q->statement, types, n) < 0)
		rc = store_fail(s, "query");
	if (rc < 0) {
		query_free(q);
		return NULL;
	}
	return q;
}

int query_next(struct query *q, struct event *e)
{
	int result;

	while ((result = sqlite3_step(q->statement)) == SQLITE_ROW) {
		if (read_event(q->statement, e))
			return 1;
	}
	return result == SQLITE_DONE ? 0 : store_fail(q->store, "read");
}

void query_free(struct query *q)
{
	if (q == NULL)
		return;
	sqlite3_finalize(q->statement);
	arena_free(q->arena);
}

/* ---- events as an array ---- */

/* Lines are copied as they are: hardly two are equal. */
static void keep_event(struct texts *t, struct event *e)
{
	e->host = texts_keep(t, e->host);
	e->text = arena_copy(t->arena, e->text);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if ((e->set & FIELD_BIT(f)) && field_infos[f].type == FIELD_TEXT)
			e->value[f].text = texts_keep(t, e->value[f].text);
	}
}

/* How many query_events would give, those of unknown types among them. */
static int count_events(struct store *s, const enum event_type *types, size_t n, size_t *count)
{
	struct sqlite3_stmt *statement = NULL;
	struct buf sql;
	int rc;

	buf_init(&sql);
	buf_add(&sql, SV("SELECT count(*) FROM event"));
	where_types(&sql, n);
	buf_add_char(&sql, '\0');
	rc = store_prepare(s, sql.p, &statement);
	buf_fini(&sql);
	if (rc == 0 && (bind_types(statement, types, n) < 0 || sqlite3_step(statement) != SQLITE_ROW))
		rc = store_fail(s, "query");
	if (rc == 0)
		*count = (size_t)column_count(statement, 0);
	sqlite3_finalize(statement);
	return rc;
}

int query_load(struct store *s, const enum event_type *types, size_t n, struct arena *a, struct event **events,
	       size_t *count)
{
	struct query *q;
	struct texts texts;
	struct event e;
	size_t capacity = 0;
	int rc;

	*events = NULL;
	*count = 0;
	if (count_events(s, types, n, &capacity) < 0)
		return -1;
	q = query_events(s, types, n);
	if (q == NULL)
		return -1;
	/* Events are large: room for as many as there are, and no more. */
	*events = arena_array(a, capacity, sizeof **events);
	texts_init(&texts, a, q->arena);
	while ((rc = query_next(q, &e)) == 1) {
		keep_event(&texts, &e);
		*ARENA_PUSH(a, *events, *count, capacity) = e;
	}
	query_free(q);
	return rc;
}

int query_event(struct store *s, int64_t id, struct arena *a, struct event *e)
{
	struct sqlite3_stmt *statement = NULL;
	struct texts texts;
	struct buf sql;
	int result, rc;

	buf_init(&sql);
	select_events(s, &sql);
	buf_add(&sql, SV(" WHERE id = ?"));
	buf_add_char(&sql, '\0');
	rc = store_prepare(s, sql.p, &statement);
	buf_fini(&sql);
	if (rc < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, id);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW && read_event(statement, e)) {
		texts_init(&texts, a, a);
		keep_event(&texts, e);
		rc = 1;
	} else if (result != SQLITE_ROW && result != SQLITE_DONE) {
		rc = store_fail(s, "read");
	}
	sqlite3_finalize(statement);
	return rc;
}

/* ---- inputs and problems ---- */

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
		*counts[i] = column_count(row, column++);
	info->has_times = sqlite3_column_type(row, column) != SQLITE_NULL;
	info->first.us = sqlite3_column_int64(row, column++);
	info->last.us = sqlite3_column_int64(row, column);
}

int query_inputs(struct store *s, struct arena *a, struct input_info **inputs, size_t *count)
{
#define SELECT_INPUTS(lines)                                                                                       \
	"SELECT id, path, kind, format, host, digest, why_skipped, zone_name, zone_source,"                          \
	" size_bytes, records, events, skipped, unrecognized, " lines ", first_us, last_us FROM input ORDER BY id"
	struct sqlite3_stmt *statement = NULL;
	size_t capacity = 0;
	int result;

	*inputs = NULL;
	*count = 0;
	if (store_prepare(s, s->has_lines ? SELECT_INPUTS("lines") : SELECT_INPUTS("0"), &statement) < 0)
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
				.unit = unit_by_name(store_column_text(statement, 5)),
				.number = column_count(statement, 6),
				.byte_offset = column_count(statement, 7),
			},
			.count = column_count(statement, 8),
		};

		diag_restore(d, &p);
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : store_fail(s, "read");
}

int query_host_counts(struct store *s, struct arena *a, struct host_count **counts, size_t *n)
{
	struct sqlite3_stmt *statement = NULL;
	size_t capacity = 0;
	enum event_type type;
	int result;

	*counts = NULL;
	*n = 0;
	if (store_prepare(s, "SELECT host, type, count(*) FROM event GROUP BY host, type ORDER BY host, type", &statement) < 0)
		return -1;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!event_by_name(store_column_text(statement, 1), &type))
			continue;
		*ARENA_PUSH(a, *counts, *n, capacity) = (struct host_count){
			.host = arena_copy(a, store_column_text(statement, 0)),
			.type = type,
			.events = column_count(statement, 2),
		};
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : store_fail(s, "read");
}
