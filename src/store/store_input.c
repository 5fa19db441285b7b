/* SPDX-License-Identifier: MIT */
/*
 * Takes inputs, their events and problems from the sink: one transaction an
 * input. Events wait in a batch and go in together, so that a failure to write
 * one is told by a later one, or at the end.
 */

#include "store/store.h"

#include <assert.h>
#include <string.h>

#include <sqlite3.h>

#include "store/handle.h"
#include "store/rows.h"
#include "store/survey.h"

/* ---- inputs ---- */

/* Gives 1 when the digest is there, with the input's id and path, and whether that input was passed over as no evidence. */
static int find_digest(const struct store *s, struct sv digest, struct input_info *info, bool *skipped)
{
	struct sqlite3_stmt *statement = NULL;
	int result, rc = -1;

	if (store_prepare(s, "SELECT id, kind = 'skipped' AND events = 0, path FROM input WHERE digest = ?", &statement) < 0)
		return -1;
	if (store_bind_text(statement, 1, digest) != SQLITE_OK) {
		store_fail(s, "read");
		goto out;
	}
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		info->id = sqlite3_column_int64(statement, 0);
		info->same_as = arena_copy(s->arena, store_column_text(statement, 2));
		*skipped = sqlite3_column_int(statement, 1) != 0;
		rc = 1;
	} else {
		rc = result == SQLITE_DONE ? 0 : store_fail(s, "read");
	}
out:
	sqlite3_finalize(statement);
	return rc;
}

/* One that was passed over: it has no events, and its problems refer to it. */
static int delete_input(const struct store *s, int64_t id)
{
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, "DELETE FROM input WHERE id = ?", &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, id);
	return store_run(s, statement, "write");
}

static struct sv path_of(const struct input_info *info)
{
	return sv_is_absent(info->path) ? SV("") : info->path;
}

/* The row that events refer to; end fills it. Another process may have added inputs since this one opened the file. */
static int insert_input(struct store *s, struct input_info *info)
{
	static const char sql[] = "INSERT INTO input (id, path, size_bytes, lines, records, events, skipped, unrecognized)"
				  " VALUES (?, ?, 0, 0, 0, 0, 0, 0)";
	struct sqlite3_stmt *statement = NULL;
	int64_t greatest = 0;

	if (store_ask(s, "SELECT coalesce(max(id), 0) FROM input", &greatest) < 0 || store_prepare(s, sql, &statement) < 0)
		return -1;
	info->id = (greatest > s->last_input ? greatest : s->last_input) + 1;
	sqlite3_bind_int64(statement, 1, info->id);
	store_bind_text(statement, 2, path_of(info));
	return store_run(s, statement, "write");
}

static int update_input(const struct store *s, const struct input_info *info)
{
	static const char sql[] =
		"UPDATE input SET path = ?, kind = ?, format = ?, host = ?, digest = ?, why_skipped = ?, zone_name = ?,"
		" zone_source = ?, size_bytes = ?, records = ?, events = ?, skipped = ?, unrecognized = ?, lines = ?,"
		" first_us = ?, last_us = ? WHERE id = ?";
	const struct sv texts[] = { path_of(info), info->kind, info->format, info->host,
				    info->digest, info->why_skipped, info->zone_name, info->zone_source };
	const uint64_t counts[] = { info->size_bytes, info->records, s->stored, info->skipped, info->unrecognized, info->lines };
	struct sqlite3_stmt *statement = NULL;
	int parameter = 1;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		store_bind_text(statement, parameter++, texts[i]);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		store_bind_count(statement, parameter++, counts[i]);
	if (info->has_times) {
		sqlite3_bind_int64(statement, parameter, info->first.us);
		sqlite3_bind_int64(statement, parameter + 1, info->last.us);
	}
	sqlite3_bind_int64(statement, parameter + 2, info->id);
	return store_run(s, statement, "write");
}

/* ---- events ---- */

/* The events of a batch that are not left out, as rows. */
struct feed {
	const struct batch *batch;
	size_t next;
	const struct batch_event *event;	/* the row at hand */
};

static bool feed_next(void *context)
{
	struct feed *f = context;

	while (f->next < f->batch->count) {
		f->event = &f->batch->events[f->next++];
		if (!f->event->is_left_out)
			return true;
	}
	return false;
}

static void give_text(struct sqlite3_context *out, struct sv text)
{
	if (!sv_is_absent(text))
		sqlite3_result_text64(out, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
}

enum { FEED_TYPE, FEED_TIME, FEED_NUMBER, FEED_BYTE_OFFSET, FEED_FACTS, FEED_TEXT };

static void feed_column(void *context, int column, struct sqlite3_context *out)
{
	static const struct sv types[EVENT_COUNT] = {
#define EVENT(id, name, side, strength, required, what) { name, sizeof name - 1 },
#include "model/event.def"
#undef EVENT
	};
	const struct feed *f = context;
	const struct batch_event *e = f->event;

	switch (column) {
	case FEED_TYPE:
		give_text(out, types[e->type]);
		break;
	case FEED_TIME:
		sqlite3_result_int64(out, e->time.us);
		break;
	case FEED_NUMBER:
		sqlite3_result_int64(out, store_count(e->place.number));
		break;
	case FEED_BYTE_OFFSET:
		sqlite3_result_int64(out, store_count(e->place.byte_offset));
		break;
	case FEED_FACTS:
		give_text(out, batch_facts(f->batch, e));
		break;
	case FEED_TEXT:
		give_text(out, batch_text(f->batch, e));
		break;
	default:
		break;
	}
}

static int write_events(struct store *s)
{
	/* OR ROLLBACK: what fails ends the input, so SQLite need not note how to undo this statement alone. */
	static const char sql[] = "INSERT OR ROLLBACK INTO event_row (input, type, time_us, number, byte_offset, facts, text)"
				  " SELECT ?2, c0, c1, c2, c3, c4, c5 FROM rows(?1)";
	struct sqlite3_stmt *put = store_statement(s, STATEMENT_PUT_EVENTS, sql);
	struct feed feed = { .batch = s->batch };
	struct rows rows = { feed_next, feed_column, &feed };

	if (put == NULL)
		return -1;
	if (rows_bind(put, 1, &rows) != SQLITE_OK || sqlite3_bind_int64(put, 2, s->input) != SQLITE_OK)
		return store_fail(s, "write");
	if (store_run_kept(s, put, "write") < 0)
		return -1;
	s->stored += (uint64_t)sqlite3_changes(s->db);
	store_ahead(s, s->batch->bytes.n);
	return 0;
}

/* What waits goes into the database. On failure the input is left. */
static int write_batch(struct store *s)
{
	int rc = 0;

	if (s->batch->count > 0)
		rc = (s->is_log && held_sort_out(s) < 0) || write_events(s) < 0 ? -1 : 0;
	batch_clear(s->batch);
	if (rc < 0)
		store_leave_input(s);
	return rc;
}

static int sink_put(void *context, const struct event *e)
{
	struct store *s = context;
	enum event_field missing;

	if (s->input == 0)
		return -1; /* it has failed, which is recorded */
	if (event_lacks(e, &missing)) {
		diag_add(s->diag, SEVERITY_WARNING, "event.incomplete", &e->place, "%s without its %s is left out",
			 event_infos[e->type].name, field_infos[missing].name);
		return 0;
	}
	batch_add(s->batch, e);
	return batch_is_full(s->batch) ? write_batch(s) : 0;
}

/* ---- problems ---- */

static int write_problem(const struct store *s, const struct problem *p)
{
	static const char sql[] = "INSERT INTO problem (input, severity, code, message, unit, number, byte_offset, count)"
				  " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, s->input);
	sqlite3_bind_text(statement, 2, severity_name(p->severity), -1, SQLITE_STATIC);
	store_bind_text(statement, 3, p->code);
	store_bind_text(statement, 4, p->message);
	store_bind_text(statement, 5, sv_of(place_unit_name(p->place.unit)));
	store_bind_count(statement, 6, p->place.number);
	store_bind_count(statement, 7, p->place.byte_offset);
	store_bind_count(statement, 8, p->count);
	return store_run(s, statement, "write");
}

static int write_problems(const struct store *s)
{
	for (size_t i = 0; i < diag_count(s->diag); i++) {
		const struct problem *p = diag_at(s->diag, i);

		if (p->place.input == s->input && write_problem(s, p) < 0)
			return -1;
	}
	return 0;
}

/* ---- the sink ---- */

void store_leave_input(struct store *s)
{
	store_rollback(s);
	s->input = 0;
}

static int sink_begin(void *context, struct input_info *info)
{
	struct store *s = context;
	bool was_skipped = false;
	int found = 0;

	assert(s->input == 0);
	if (s->mode == STORE_READ) {
		diag_add(s->diag, SEVERITY_ERROR, "store.read_only", NULL, "cannot write %s: opened for reading", s->path);
		return -1;
	}
	if (s->batch == NULL)
		s->batch = batch_new(s->arena);
	if (store_execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	if (!sv_is_absent(info->digest))
		found = find_digest(s, info->digest, info, &was_skipped);
	/* What no rule or option let us read before may be evidence now: read it in its place. */
	if (found == 1 && was_skipped && !sv_eq(info->kind, SV("skipped")) && !sv_is_absent(info->kind))
		found = delete_input(s, info->id);
	if (found != 0) {
		store_rollback(s);
		return found == 1 ? 0 : -1;
	}
	if (insert_input(s, info) < 0) {
		store_rollback(s);
		return -1;
	}
	s->input = s->last_input = info->id;
	s->stored = s->repeated = s->flooded = 0;
	s->is_log = sv_eq(info->kind, SV("log"));
	batch_clear(s->batch);
	latest_clear(&s->lines);
	survey_forget(s);
	return 1;
}

static int sink_end(void *context, const struct input_info *info)
{
	struct store *s = context;
	int rc;

	if (s->input == 0)
		return -1;
	assert(info->id == s->input);
	if (write_batch(s) < 0)
		return -1;
	if (s->repeated > 0)
		diag_add(s->diag, SEVERITY_NOTE, "event.repeated", &s->first_repeated,
			 "%llu events left out, this the first: they have been read already (it is %.*s)",
			 (unsigned long long)s->repeated, SV_ARG(s->first_held));
	if (s->flooded > 0)
		diag_add(s->diag, SEVERITY_NOTE, "event.flood", &s->first_flooded,
			 "%llu events left out, this the first: the same line stands there %d times before, with the same time",
			 (unsigned long long)s->flooded, REPEAT_FLOOD);
	rc = update_input(s, info) < 0 || write_problems(s) < 0 || store_execute(s, "COMMIT", "write") < 0 ? -1 : 0;
	store_leave_input(s);
	return rc;
}

static void sink_abandon(void *context)
{
	store_leave_input(context);
}

struct input_sink store_sink(struct store *s)
{
	return (struct input_sink){
		.begin = sink_begin,
		.events = { .put = sink_put, .context = s },
		.end = sink_end,
		.abandon = sink_abandon,
		.context = s,
	};
}
