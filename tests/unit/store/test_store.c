/* SPDX-License-Identifier: MIT */
/* The incident database: whole inputs or nothing, whatever happens. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/batch.h"
#include "store/handle.h"
#include "store/query.h"
#include "store/store.h"

/* ---- a directory, an arena and a diag for each test ---- */

struct fixture {
	char directory[64];
	char path[96];
	struct arena *arena;
	struct diag *diag;
};

static int set_up(void **state)
{
	struct arena *arena = arena_new();
	struct fixture *f = arena_alloc(arena, sizeof *f);

	f->arena = arena;
	f->diag = diag_new(arena);
	snprintf(f->directory, sizeof f->directory, "/tmp/aftershock-store-XXXXXX");
	if (mkdtemp(f->directory) == NULL)
		return -1;
	snprintf(f->path, sizeof f->path, "%s/incident.db", f->directory);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char journal[128];

	snprintf(journal, sizeof journal, "%s-journal", f->path);
	unlink(journal);
	unlink(f->path);
	rmdir(f->directory);
	arena_free(f->arena);
	return 0;
}

/* ---- helpers ---- */

static struct store *open_store(struct fixture *f, enum store_mode mode)
{
	struct store *s = store_open(f->path, mode, f->diag);

	if (s == NULL && diag_count(f->diag) > 0)
		fail_msg("%.*s", SV_ARG(diag_at(f->diag, diag_count(f->diag) - 1)->message));
	assert_non_null(s);
	return s;
}

static struct event line_event(uint64_t line, const char *member)
{
	struct event e;

	event_init(&e, EVENT_SESSION_EXPIRED);
	e.time.us = 1000000 * (int64_t)line;
	e.place = (struct place){ .unit = PLACE_LINE, .number = line, .byte_offset = 100 * line };
	event_set_text(&e, FIELD_GROUP, SV("refunds"));
	event_set_text(&e, FIELD_MEMBER, sv_of(member));
	return e;
}

static struct input_info input_named(const char *digest)
{
	return (struct input_info){ .path = sv_of(digest), .kind = SV("log"), .digest = sv_of(digest) };
}

/* begin, events and end; gives the first result that is not success. */
static int put_input(struct store *s, const char *digest, uint64_t events)
{
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named(digest);
	int rc = sink.begin(sink.context, &info);

	if (rc != 1)
		return rc;
	for (uint64_t i = 1; i <= events; i++) {
		struct event e = line_event(i, "m1");

		if (sink.events.put(sink.events.context, &e) < 0) {
			sink.abandon(sink.context);
			return -1;
		}
	}
	info.records = info.events = events;
	return sink.end(sink.context, &info) < 0 ? -1 : 1;
}

static size_t count_events(struct store *s)
{
	struct query *q = query_events(s, NULL, 0);
	struct event e;
	size_t n = 0;
	int rc;

	assert_non_null(q);
	while ((rc = query_next(q, &e)) == 1)
		n++;
	assert_int_equal(rc, 0);
	query_free(q);
	return n;
}

static size_t count_inputs(struct store *s, struct arena *a)
{
	struct input_info *inputs;
	size_t n;

	assert_int_equal(query_inputs(s, a, &inputs, &n), 0);
	return n;
}

/* The last problem is an error of this code, with this in its message. */
static void assert_error(const struct fixture *f, const char *code, const char *part)
{
	const struct problem *p;
	size_t at;

	assert_true(diag_count(f->diag) > 0);
	p = diag_at(f->diag, diag_count(f->diag) - 1);
	if (!sv_eq(p->code, sv_of(code)) || !sv_find(p->message, sv_of(part), &at))
		fail_msg("%.*s: %.*s (expected %s: ...%s...)", SV_ARG(p->code), SV_ARG(p->message), code, part);
	assert_int_equal(p->severity, SEVERITY_ERROR);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static int64_t ask_sql(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t out;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	out = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return out;
}

/* ---- opening ---- */

static void reading_creates_nothing(void **state)
{
	struct fixture *f = *state;

	assert_null(store_open(f->path, STORE_READ, f->diag));
	assert_error(f, "store.cannot_open", f->path);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void what_is_not_ours_is_refused(void **state)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };
	struct fixture *f = *state;
	FILE *file;

	/* Another program's database. */
	run_sql(f->path, "CREATE TABLE event (id INTEGER)");
	for (size_t i = 0; i < 2; i++) {
		assert_null(store_open(f->path, modes[i], f->diag));
		assert_error(f, "store.not_ours", "no incident database");
	}
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM sqlite_master"), 1);
	f->diag = diag_new(f->arena);
	/* No database. */
	file = fopen(f->path, "w");
	assert_non_null(file);
	for (int i = 0; i < 200; i++)
		fputs("[2026-11-30 10:00:00,000] INFO a log, not a database\n", file);
	fclose(file);
	for (size_t i = 0; i < 2; i++) {
		assert_null(store_open(f->path, modes[i], f->diag));
		assert_error(f, "store.not_ours", "not a database");
	}
	/* A directory. */
	f->diag = diag_new(f->arena);
	assert_null(store_open(f->directory, STORE_WRITE, f->diag));
	assert_error(f, "store.cannot_open", f->directory);
}

static void an_empty_file_is_filled_but_not_read(void **state)
{
	struct fixture *f = *state;
	struct store *s;

	fclose(fopen(f->path, "w"));
	assert_null(store_open(f->path, STORE_READ, f->diag));
	assert_error(f, "store.not_ours", f->path);
	s = open_store(f, STORE_WRITE);
	assert_int_equal(put_input(s, "a", 1), 1);
	store_close(s);
}

static void a_database_of_another_version_is_refused(void **state)
{
	static const struct {
		const char *sql, *code, *part;
	} versions[] = {
		{ "PRAGMA user_version = 4", "store.newer", "by a newer aftershock (version 4 of its tables" },
		{ "PRAGMA user_version = 1", "store.older", "by an older aftershock (version 1 of its tables" },
	};
	struct fixture *f = *state;

	store_close(open_store(f, STORE_WRITE));
	for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
		run_sql(f->path, versions[i].sql);
		assert_null(store_open(f->path, STORE_READ, f->diag));
		assert_error(f, versions[i].code, versions[i].part);
		assert_null(store_open(f->path, STORE_WRITE, f->diag));
		assert_error(f, versions[i].code, versions[i].part);
	}
	run_sql(f->path, "PRAGMA user_version = 3");
	store_close(open_store(f, STORE_WRITE));
}

/* As a version of this program makes it that has other fields. */
static void the_view_gets_the_columns_that_it_lacks(void **state)
{
	static const char columns[] = "SELECT count(*) FROM pragma_table_info('event')";
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	int64_t all;

	assert_int_equal(put_input(s, "a", 1), 1);
	store_close(s);
	all = ask_sql(f->path, columns);
	assert_int_equal(all, 11 + FIELD_COUNT);
	run_sql(f->path, "DROP VIEW event; CREATE VIEW event AS SELECT id FROM event_row");

	/* Reading does without. */
	s = open_store(f, STORE_READ);
	assert_int_equal(count_events(s), 1);
	store_close(s);
	assert_int_equal(ask_sql(f->path, columns), 1);

	store_close(open_store(f, STORE_WRITE));
	assert_int_equal(ask_sql(f->path, columns), all);
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM event WHERE \"member\" = 'm1'"), 1);
}

static void a_file_without_permission_is_not_written(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);

	assert_int_equal(put_input(s, "a", 3), 1);
	store_close(s);
	if (geteuid() == 0)
		skip(); /* root writes to all */
	assert_int_equal(chmod(f->path, 0400), 0);
	assert_null(store_open(f->path, STORE_WRITE, f->diag));
	assert_error(f, "store.read_only", f->path);
	s = open_store(f, STORE_READ);
	assert_int_equal(count_events(s), 3);
	store_close(s);
}

static void a_store_for_reading_takes_nothing(void **state)
{
	struct fixture *f = *state;
	const struct store_clock clock = { .host = SV("h"), .offset_us = 1 };
	struct store *s = open_store(f, STORE_WRITE);

	assert_int_equal(put_input(s, "a", 3), 1);
	store_close(s);
	s = open_store(f, STORE_READ);
	assert_int_equal(store_save_clocks(s, &clock, 1, NULL, 0), 0);
	assert_int_equal(put_input(s, "b", 1), -1);
	assert_error(f, "store.read_only", "opened for reading");
	assert_int_equal(count_events(s), 3);
	store_close(s);
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM clock"), 0);
}

static void damage_is_a_failure_not_a_crash(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct query *q;
	struct event e;
	FILE *file;
	int rc = 1;

	assert_int_equal(put_input(s, "a", 2000), 1);
	store_close(s);
	/* Every page but the first two: the schema stands, the data does not. */
	file = fopen(f->path, "r+");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	for (long at = 4 * 4096, end = ftell(file); at < end; at += 64) {
		fseek(file, at, SEEK_SET);
		fputs("damaged!damaged!damaged!damaged!damaged!damaged!damaged!damaged!", file);
	}
	fclose(file);
	s = store_open(f->path, STORE_READ, f->diag);
	if (s != NULL) {
		q = query_events(s, NULL, 0);
		while (q != NULL && (rc = query_next(q, &e)) == 1)
			;
		query_free(q);
		assert_int_equal(rc, -1);
	}
	assert_error(f, "store.damaged", "malformed");
	store_close(s);
}

/* What this program wrote and somebody changed. The rows are right for SQLite. */
static void facts_that_are_none_are_a_failure(void **state)
{
	static const char *const facts[] = { "", "{", "[1]", "{\"group\":\"refunds\"", "{\"group\":17}", "{\"generation\":\"17\"}" };
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	const struct event **events;
	struct query *q;
	struct event e;
	size_t count;

	assert_int_equal(put_input(s, "a", 3), 1);
	store_close(s);
	for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
		char sql[128];

		snprintf(sql, sizeof sql, "UPDATE event_row SET facts = '%s' WHERE id = 2", facts[i]);
		run_sql(f->path, sql);
		f->diag = diag_new(f->arena);
		s = open_store(f, STORE_READ);
		q = query_events(s, NULL, 0);
		if (q != NULL) {
			assert_int_equal(query_next(q, &e), 1);
			assert_int_equal(query_next(q, &e), -1);
			query_free(q);
		}
		assert_error(f, "store.damaged", "an event is malformed");
		assert_int_equal(query_load(s, NULL, 0, f->arena, &events, &count), -1);
		assert_int_equal(query_event(s, 2, f->arena, &e), -1);
		assert_int_equal(query_event(s, 3, f->arena, &e), 1);
		store_close(s);
	}
	/* Another version's event, and its fields, are none of ours. */
	run_sql(f->path, "UPDATE event_row SET facts = '{\"mood\":\"bad\",\"age\":4}', type = 'member.smiled' WHERE id = 2");
	s = open_store(f, STORE_READ);
	assert_int_equal(count_events(s), 2);
	assert_int_equal(query_event(s, 2, f->arena, &e), 0);
	store_close(s);
}

/* Made by somebody who means ill: a view might have rows without end, a trigger might empty the table. */
static void views_and_triggers_are_not_obeyed(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);

	assert_int_equal(put_input(s, "a", 1), 1);
	store_close(s);
	run_sql(f->path, "CREATE TRIGGER t AFTER INSERT ON input BEGIN DELETE FROM event_row; END");
	s = open_store(f, STORE_WRITE);
	assert_int_equal(put_input(s, "b", 1), 1);
	assert_int_equal(count_events(s), 2);
	store_close(s);
	run_sql(f->path, "ALTER TABLE event_row RENAME TO other; CREATE VIEW event_row AS SELECT * FROM other");
	s = open_store(f, STORE_READ);
	assert_null(query_events(s, NULL, 0));
	assert_error(f, "store.failed", "event_row");
	store_close(s);
}

/* ---- inputs ---- */

static void the_same_input_twice_adds_nothing(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);

	assert_int_equal(put_input(s, "a", 3), 1);
	assert_int_equal(put_input(s, "a", 3), 0);
	assert_int_equal(put_input(s, "b", 2), 1);
	store_close(s);
	s = open_store(f, STORE_WRITE);
	assert_int_equal(put_input(s, "a", 3), 0);
	assert_int_equal(count_events(s), 5);
	assert_int_equal(count_inputs(s, f->arena), 2);
	store_close(s);
}

static void inputs_without_a_digest_are_all_different(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);

	for (int i = 0; i < 2; i++) {
		struct input_info info = { .path = SV("-"), .kind = SV("log") };

		assert_int_equal(sink.begin(sink.context, &info), 1);
		assert_int_equal(sink.end(sink.context, &info), 0);
	}
	assert_int_equal(count_inputs(s, f->arena), 2);
	store_close(s);
}

static void what_was_passed_over_can_become_evidence(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct input_info *inputs, info = { .path = SV("a"), .kind = SV("skipped"), .digest = SV("a") };
	size_t n;

	assert_int_equal(sink.begin(sink.context, &info), 1);
	info.why_skipped = SV("no rule knows it");
	diag_set_input(f->diag, info.path, info.id);
	diag_add(f->diag, SEVERITY_NOTE, "input.skipped", NULL, "no rule knows it");
	assert_int_equal(sink.end(sink.context, &info), 0);
	/* Passed over again: nothing new. */
	info.id = 0;
	assert_int_equal(sink.begin(sink.context, &info), 0);
	/* A rule knows it now. */
	assert_int_equal(put_input(s, "a", 3), 1);
	assert_int_equal(query_inputs(s, f->arena, &inputs, &n), 0);
	assert_int_equal(n, 1);
	assert_true(sv_eq(inputs[0].kind, SV("log")));
	assert_true(sv_is_absent(inputs[0].why_skipped));
	assert_int_equal(count_events(s), 3);
	/* And is not undone. */
	info.id = 0;
	assert_int_equal(sink.begin(sink.context, &info), 0);
	assert_int_equal(count_events(s), 3);
	store_close(s);
	/* Its problems went with it. */
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM problem"), 0);
}

static void an_abandoned_input_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named("a");
	struct event e = line_event(1, "m1");
	int64_t id;

	assert_int_equal(sink.begin(sink.context, &info), 1);
	id = info.id;
	assert_int_equal(sink.events.put(sink.events.context, &e), 0);
	sink.abandon(sink.context);
	assert_int_equal(count_inputs(s, f->arena), 0);
	assert_int_equal(count_events(s), 0);
	/* Its id is not given again: problems that name it would be taken for another's. */
	info = input_named("b");
	assert_int_equal(sink.begin(sink.context, &info), 1);
	assert_int_not_equal(info.id, id);
	/* An input that has not ended is abandoned by close. */
	store_close(s);
	s = open_store(f, STORE_READ);
	assert_int_equal(count_inputs(s, f->arena), 0);
	store_close(s);
}

static void an_event_that_lacks_a_field_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct input_info *inputs, info = input_named("a");
	struct event whole = line_event(1, "m1"), lacking = line_event(2, NULL);
	const struct problem *p;
	size_t n, at;

	assert_int_equal(sink.begin(sink.context, &info), 1);
	assert_int_equal(sink.events.put(sink.events.context, &whole), 0);
	assert_int_equal(sink.events.put(sink.events.context, &lacking), 0);
	info.events = 2;
	assert_int_equal(sink.end(sink.context, &info), 0);
	assert_int_equal(count_events(s), 1);
	assert_int_equal(query_inputs(s, f->arena, &inputs, &n), 0);
	assert_int_equal(inputs[0].events, 1);
	p = diag_at(f->diag, 0);
	assert_true(sv_eq(p->code, SV("event.incomplete")));
	assert_int_equal(p->severity, SEVERITY_WARNING);
	assert_true(sv_find(p->message, SV("member.session_expired without its member"), &at));
	assert_int_equal(p->place.number, 2);
	store_close(s);
}

static void event_ids_count_up(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct event e;

	assert_int_equal(put_input(s, "a", 2), 1);
	assert_int_equal(put_input(s, "b", 2), 1);
	for (int64_t id = 1; id <= 4; id++) {
		assert_int_equal(query_event(s, id, f->arena, &e), 1);
		assert_int_equal(e.place.input, id <= 2 ? 1 : 2);
		assert_int_equal(e.place.number, id <= 2 ? id : id - 2);
	}
	store_close(s);
}

/* More than are written at once, by their number and by their bytes: none is lost, and their order is that of putting. */
static void events_of_many_batches_keep_their_order(void **state)
{
	static char line[4000];
	const struct {
		uint64_t events;
		size_t line_bytes;
	} inputs[] = { { 2 * BATCH_EVENTS + 1, 0 }, { BATCH_EVENTS, 10 }, { 3 * BATCH_BYTES / sizeof line, sizeof line } };
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	int64_t id = 0;

	memset(line, 'x', sizeof line);
	for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
		struct input_info info = { .path = SV("-"), .kind = SV("table") };

		assert_int_equal(sink.begin(sink.context, &info), 1);
		for (uint64_t n = 1; n <= inputs[i].events; n++) {
			struct event e = line_event(n, "m1");

			e.text = (struct sv){ line, inputs[i].line_bytes };
			assert_int_equal(sink.events.put(sink.events.context, &e), 0);
		}
		assert_int_equal(sink.end(sink.context, &info), 0);
		for (uint64_t n = 1; n <= inputs[i].events; n++) {
			struct event e;

			assert_int_equal(query_event(s, ++id, f->arena, &e), 1);
			assert_int_equal(e.place.number, n);
			assert_int_equal(e.text.n, inputs[i].line_bytes);
		}
	}
	assert_int_equal(count_events(s), id);
	store_close(s);
	assert_int_equal(ask_sql(f->path, "SELECT sum(events) FROM input"), id);
}

/* The file is a table to whoever has SQLite, by the names of the fields. */
static void people_ask_by_columns(void **state)
{
	static const char *const true_of_one[] = {
		"id = 1 AND input = 1 AND type = 'member.session_expired'",
		"strength = 'suggests' AND time_us = 1000000 AND duration_us = 7",
		"host = 'broker \"1\"' AND unit = 'line' AND number = 1 AND byte_offset = 100",
		"text = 'a line' AND \"group\" = 'refunds' AND \"member\" = 'C:\\m' || char(10) || '1'",
		"generation = -9223372036854775807 - 1 AND members = 3 AND state = '' AND reason IS NULL",
	};
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named("a");
	struct event e = line_event(1, "C:\\m\n1"), plain = line_event(2, "m2");

	e.strength = STRENGTH_SUGGESTS;
	e.duration_us = 7;
	e.host = SV("broker \"1\"");
	e.text = SV("a line");
	event_set_int(&e, FIELD_GENERATION, INT64_MIN);
	event_set_int(&e, FIELD_MEMBERS, 3);
	event_set_text(&e, FIELD_STATE, SV(""));
	plain.place.unit = PLACE_WHOLE;
	assert_int_equal(sink.begin(sink.context, &info), 1);
	assert_int_equal(sink.events.put(sink.events.context, &e), 0);
	assert_int_equal(sink.events.put(sink.events.context, &plain), 0);
	assert_int_equal(sink.end(sink.context, &info), 0);
	store_close(s);
	for (size_t i = 0; i < sizeof true_of_one / sizeof true_of_one[0]; i++) {
		char sql[256];

		snprintf(sql, sizeof sql, "SELECT count(*) FROM event WHERE %s", true_of_one[i]);
		if (ask_sql(f->path, sql) != 1)
			fail_msg("%s", sql);
	}
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM event WHERE id = 2 AND strength = 'proves' AND duration_us = 0"
					  " AND host IS NULL AND unit IS NULL AND text IS NULL AND \"member\" = 'm2'"), 1);
}

/* ---- problems ---- */

static void problems_are_kept_with_their_input(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct diag *later = diag_new(f->arena);
	const struct problem *p;

	for (int i = 0; i < 2; i++) {
		struct input_info info = input_named(i == 0 ? "lost.log" : "broker.log");
		const struct place place = { .unit = PLACE_LINE, .number = 1841, .byte_offset = 99 };

		assert_int_equal(sink.begin(sink.context, &info), 1);
		diag_set_input(f->diag, info.path, info.id);
		diag_add(f->diag, SEVERITY_WARNING, "time.back", &place, "time goes back by 3.2 s");
		diag_add(f->diag, SEVERITY_NOTE, "log.note", NULL, "as a whole");
		if (i == 0)
			sink.abandon(sink.context);
		else
			assert_int_equal(sink.end(sink.context, &info), 0);
	}
	/* This run has them in its own diag. */
	assert_int_equal(query_problems(s, later), 0);
	assert_int_equal(diag_count(later), 0);
	store_close(s);

	s = open_store(f, STORE_READ);
	assert_int_equal(query_problems(s, later), 0);
	assert_int_equal(diag_count(later), 2);
	p = diag_at(later, 0);
	assert_int_equal(p->severity, SEVERITY_WARNING);
	assert_true(sv_eq(p->code, SV("time.back")));
	assert_true(sv_eq(p->message, SV("time goes back by 3.2 s")));
	assert_true(sv_eq(p->path, SV("broker.log")));
	assert_int_equal(p->place.unit, PLACE_LINE);
	assert_int_equal(p->place.number, 1841);
	assert_int_equal(p->place.byte_offset, 99);
	assert_int_equal(p->count, 1);
	p = diag_at(later, 1);
	assert_int_equal(p->severity, SEVERITY_NOTE);
	assert_int_equal(p->place.unit, PLACE_WHOLE);
	store_close(s);
}

/* ---- whole inputs or nothing ---- */

/* Runs what in a child; gives its wait status. */
static int in_child(void (*what)(struct fixture *), struct fixture *f)
{
	int status;
	pid_t pid = fork();

	assert_int_not_equal(pid, -1);
	if (pid == 0) {
		what(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Larger than SQLite's cache, so that pages of the unfinished input are in the file already. */
#define MANY 300000

static void write_one_and_die_in_the_next(struct fixture *f)
{
	struct store *s = store_open(f->path, STORE_WRITE, f->diag);
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named("b");

	put_input(s, "a", 3);
	sink.begin(sink.context, &info);
	for (uint64_t i = 1; i <= MANY; i++) {
		struct event e = line_event(i, "m1");

		e.text = SV("[2026-11-30 10:00:00,000] INFO [GroupCoordinator 1]: Member m1 in group refunds has failed");
		sink.events.put(sink.events.context, &e);
	}
	kill(getpid(), SIGKILL);
}

static void a_killed_writer_leaves_whole_inputs(void **state)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE };

	for (size_t i = 0; i < 2; i++) {
		struct fixture *f = *state;
		int status = in_child(write_one_and_die_in_the_next, f);
		struct stat file;
		struct store *s;

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(stat(f->path, &file), 0);
		assert_true(file.st_size > 1024 * 1024);
		s = open_store(f, modes[i]);
		assert_int_equal(count_inputs(s, f->arena), 1);
		assert_int_equal(count_events(s), 3);
		if (modes[i] == STORE_WRITE)
			assert_int_equal(put_input(s, "b", 2), 1);
		store_close(s);
		assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
		unlink(f->path);
	}
}

/* A file that may not grow any more behaves as a full disk does. The exit code tells what went wrong. */
static void fill_the_disk(struct fixture *f)
{
	struct rlimit limit = { .rlim_cur = 4 * 1024 * 1024, .rlim_max = RLIM_INFINITY };
	struct store *s = store_open(f->path, STORE_WRITE, f->diag);

	if (s == NULL || put_input(s, "a", 3) != 1)
		_exit(2);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (put_input(s, "b", MANY) != -1)
		_exit(3);
	if (diag_count(f->diag) != 1 || diag_at(f->diag, 0)->severity != SEVERITY_ERROR ||
	    !sv_starts_with(diag_at(f->diag, 0)->message, SV("cannot write ")))
		_exit(4);
	/* What is small still fits, and what went before is there. */
	if (put_input(s, "c", 2) != 1 || count_events(s) != 5)
		_exit(5);
	store_close(s);
}

static void a_full_disk_leaves_whole_inputs(void **state)
{
	struct fixture *f = *state;
	int status = in_child(fill_the_disk, f);
	struct store *s;

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	s = open_store(f, STORE_READ);
	assert_int_equal(count_inputs(s, f->arena), 2);
	assert_int_equal(count_events(s), 5);
	store_close(s);
}

static void a_second_writer_is_told(void **state)
{
	struct fixture *f = *state;
	struct store *first = open_store(f, STORE_WRITE), *second = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(first);
	struct input_info info = input_named("a");

	sqlite3_busy_timeout(second->db, 20); /* in earnest it would wait for minutes */
	assert_int_equal(sink.begin(sink.context, &info), 1);
	assert_int_equal(put_input(second, "b", 1), -1);
	assert_error(f, "store.locked", "another process is writing to it");
	assert_int_equal(sink.end(sink.context, &info), 0);
	/* Ids are given by the file, not by what it held when it was opened. */
	assert_int_equal(put_input(second, "b", 1), 1);
	assert_int_equal(count_inputs(second, f->arena), 2);
	store_close(first);
	store_close(second);
}

/* Tells through the pipe that it has begun. */
static void take_long_for_an_input(const struct fixture *f, int begun)
{
	struct store *s = store_open(f->path, STORE_WRITE, f->diag);
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named("a");

	if (s == NULL || sink.begin(sink.context, &info) != 1 || write(begun, "!", 1) != 1)
		_exit(2);
	(void)poll(NULL, 0, 300);
	_exit(sink.end(sink.context, &info) == 0 && store_close(s) == 0 ? 0 : 3);
}

static int64_t patience_ms(const struct store *s)
{
	int64_t ms = 0;

	assert_int_equal(store_ask(s, "PRAGMA busy_timeout", &ms), 0);
	return ms;
}

/* For minutes if need be; a reader does not. */
static void a_second_writer_waits_for_the_first(void **state)
{
	struct fixture *f = *state;
	struct store *s;
	int begun[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(begun), 0);
	pid = fork();
	assert_int_not_equal(pid, -1);
	if (pid == 0)
		take_long_for_an_input(f, begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	s = open_store(f, STORE_WRITE);
	assert_int_equal(put_input(s, "b", 1), 1);
	assert_int_equal(count_inputs(s, f->arena), 2);
	assert_in_range(patience_ms(s), 60000, 3600000);
	store_close(s);
	s = open_store(f, STORE_READ);
	assert_in_range(patience_ms(s), 500, 5000);
	store_close(s);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(begun[0]);
	close(begun[1]);
}

/* ---- two writers, input by input ---- */

/* A log of some seconds; the first of them stands there twice. */
static void put_log(struct store *s, const char *path, const char *digest, uint64_t from, uint64_t to)
{
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named(digest);

	info.path = sv_of(path);
	if (sink.begin(sink.context, &info) == 0)
		return;
	for (uint64_t i = from; i <= to; i++) {
		struct event e = line_event(i, "m1");

		e.text = SV("line");
		for (int times = i == from ? 2 : 1; times > 0; times--)
			assert_int_equal(sink.events.put(sink.events.context, &e), 0);
	}
	assert_int_equal(sink.end(sink.context, &info), 0);
}

/* What two writers have, each in this order: of the second folder one file is the same bytes, and two logs overlap others. */
static const struct {
	const char *path, *digest;
	uint64_t from, to;
} folders[2][3] = {
	{ { "1/a", "x", 1, 5 }, { "1/b", "y", 4, 9 }, { "1/c", "z", 20, 22 } },
	{ { "2/a", "x", 1, 5 }, { "2/b", "u", 2, 7 }, { "2/c", "v", 9, 12 } },
};

/* turns: a bit for each step, whose turn it is; the rest is the other's. */
static void put_folders(struct fixture *f, unsigned turns)
{
	struct store *stores[2] = { open_store(f, STORE_WRITE), open_store(f, STORE_WRITE) };
	size_t next[2] = { 0, 0 };

	for (unsigned step = 0; step < 6; step++) {
		size_t who = turns >> step & 1;

		who = next[who] == 3 ? !who : who;
		put_log(stores[who], folders[who][next[who]].path, folders[who][next[who]].digest, folders[who][next[who]].from,
			folders[who][next[who]].to);
		next[who]++;
	}
	store_close(stores[0]);
	store_close(stores[1]);
}

/* Lines 1 to 12 and 20 to 22, and those once more with which a log begins: 1, 2, 4, 9 and 20. Of x one of two is there. */
static void whose_turn_it_is_does_not_matter(void **state)
{
	struct fixture *f = *state;

	for (unsigned turns = 0; turns < 64; turns++) {
		put_folders(f, turns);
		if (ask_sql(f->path, "SELECT count(*) FROM event") != 20 || ask_sql(f->path, "SELECT sum(events) FROM input") != 20 ||
		    ask_sql(f->path, "SELECT count(*) FROM (SELECT DISTINCT time_us FROM event)") != 15 ||
		    ask_sql(f->path, "SELECT group_concat(time_us / 1000000, '') = '124920' FROM (SELECT time_us FROM event GROUP BY time_us"
				     " HAVING count(*) = 2 ORDER BY time_us)") != 1 ||
		    ask_sql(f->path, "SELECT count(*) FROM input") != 5)
			fail_msg("turns %x", turns);
		unlink(f->path);
	}
}

/* ---- clocks ---- */

static void put_of_host(struct input_sink *sink, uint64_t second, const char *host)
{
	struct event e = line_event(second, "m1");

	e.host = sv_of(host);
	assert_int_equal(sink->events.put(sink->events.context, &e), 0);
}

static void aligned_times_are_kept_beside(void **state)
{
	struct fixture *f = *state;
	struct store *s = open_store(f, STORE_WRITE);
	struct input_sink sink = store_sink(s);
	struct input_info info = input_named("a");
	const struct store_clock older = { .host = SV("gone"), .offset_us = 5 };
	const struct store_clock clocks[] = {
		{ .host = SV("consumer-1"), .offset_us = 1250000 },
		{ .host = SV("consumer-2"), .offset_us = -1000, .drift_ppm = 100, .first = { 1000000 } },
		/* Set forward by 4 s between its seconds 2 and 8. */
		{ .host = SV("consumer-2"), .offset_us = 4000000, .first = { 8000000 }, .is_later = true, .since = { 7000000 } },
	};
	const struct store_zone zone = { .input = 2, .ahead_us = 900000000 };
	/* consumer-2 drifts by 100 us in the second from 1 s to 2 s. */
	const struct {
		const char *host;
		int64_t aligned_us;
	} cases[] = { { "consumer-1", 2000000 - 1250000 }, { "consumer-2", 2000000 + 1000 - 100 }, { NULL, 2000000 },
		      { "elsewhere", 2000000 } };

	assert_int_equal(sink.begin(sink.context, &info), 1);
	for (size_t i = 0; i < 4; i++) {
		struct event e = line_event(2, "m1");

		e.host = sv_of(cases[i].host);
		assert_int_equal(sink.events.put(sink.events.context, &e), 0);
	}
	put_of_host(&sink, 8, "consumer-2");
	assert_int_equal(sink.end(sink.context, &info), 0);
	/* Another input, in another zone. */
	info = input_named("b");
	assert_int_equal(sink.begin(sink.context, &info), 1);
	put_of_host(&sink, 2, "consumer-1");
	assert_int_equal(sink.end(sink.context, &info), 0);
	assert_int_equal(store_save_clocks(s, &older, 1, NULL, 0), 0);
	assert_int_equal(store_save_clocks(s, clocks, 3, &zone, 1), 0);
	store_close(s);
	assert_int_equal(ask_sql(f->path, "SELECT count(*) FROM clock"), 3);
	assert_int_equal(ask_sql(f->path, "SELECT ref_time_us FROM aligned_event WHERE id = 5"), 8000000 - 4000000);
	assert_int_equal(ask_sql(f->path, "SELECT ref_time_us FROM aligned_event WHERE id = 6"), 2000000 - 900000000 - 1250000);
	for (size_t i = 0; i < 4; i++) {
		char sql[96];

		snprintf(sql, sizeof sql, "SELECT ref_time_us FROM aligned_event WHERE id = %zu AND time_us = 2000000", i + 1);
		assert_int_equal(ask_sql(f->path, sql), cases[i].aligned_us);
	}
}

static void close_accepts_null(void **state)
{
	(void)state;
	store_close(NULL);
	query_free(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reading_creates_nothing),
		TEST(what_is_not_ours_is_refused),
		TEST(an_empty_file_is_filled_but_not_read),
		TEST(a_database_of_another_version_is_refused),
		TEST(the_view_gets_the_columns_that_it_lacks),
		TEST(a_file_without_permission_is_not_written),
		TEST(a_store_for_reading_takes_nothing),
		TEST(damage_is_a_failure_not_a_crash),
		TEST(facts_that_are_none_are_a_failure),
		TEST(views_and_triggers_are_not_obeyed),
		TEST(the_same_input_twice_adds_nothing),
		TEST(inputs_without_a_digest_are_all_different),
		TEST(what_was_passed_over_can_become_evidence),
		TEST(an_abandoned_input_leaves_nothing),
		TEST(an_event_that_lacks_a_field_is_left_out),
		TEST(event_ids_count_up),
		TEST(events_of_many_batches_keep_their_order),
		TEST(people_ask_by_columns),
		TEST(problems_are_kept_with_their_input),
		TEST(a_killed_writer_leaves_whole_inputs),
		TEST(a_full_disk_leaves_whole_inputs),
		TEST(a_second_writer_is_told),
		TEST(a_second_writer_waits_for_the_first),
		TEST(whose_turn_it_is_does_not_matter),
		TEST(aligned_times_are_kept_beside),
		TEST(close_accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
