/* SPDX-License-Identifier: MIT */
/*
 * The incident database: takes inputs, their events and problems from the sink
 * and keeps them in one SQLite file (house-style 5, "SQL").
 *
 * A rollback journal with synchronous=FULL rather than a write-ahead log: an
 * incident database is one file that is sent around, and it is written a few
 * transactions long, each of them large.
 */

#include "store/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "store/handle.h"

#define APPLICATION_ID 0x4166536b /* "AfSk", in the header of the file */
/* Grows when tables change. A new row in field.def does not count: its column is added by itself. */
#define SCHEMA_VERSION 1
#define BUSY_TIMEOUT_MS 2000 /* enough for another's commit, not for its whole input */

/*
 * The schema. Facts (input, problem, event) and what is derived from them
 * (clock, aligned_event) are apart: the latter may be dropped and made anew.
 */
static const char schema_facts[] =
	"-- One row for each file or archive member, in the order of reading.\n"
	"CREATE TABLE input (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	path TEXT NOT NULL,	-- as the user named it; archive.zip!inner/name\n"
	"	kind TEXT,		-- log, capture, counters, table, snapshot; skipped when it is no evidence\n"
	"	format TEXT,		-- the layout that was recognised\n"
	"	host TEXT,		-- whose clock wrote its times\n"
	"	digest TEXT UNIQUE,	-- BLAKE2b-256 of the bytes as stored, hexadecimal; sampled: of a large file's size and samples\n"
	"	why_skipped TEXT,\n"
	"	size_bytes INTEGER NOT NULL,\n"
	"	lines INTEGER NOT NULL DEFAULT 0,	-- of text; 0 when it is none\n"
	"	records INTEGER NOT NULL,\n"
	"	events INTEGER NOT NULL,	-- rows of table event\n"
	"	skipped INTEGER NOT NULL,	-- records that were damaged\n"
	"	unrecognized INTEGER NOT NULL,	-- records that no rule knows\n"
	"	first_us INTEGER,	-- by the host's clock, us since 1970 UTC\n"
	"	last_us INTEGER,\n"
	"	zone_name TEXT,\n"
	"	zone_source TEXT	-- written, wrapper, option, assumed\n"
	") STRICT;\n"
	"-- Damaged or ignored pieces of inputs.\n"
	"CREATE TABLE problem (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	input INTEGER NOT NULL REFERENCES input(id) ON DELETE CASCADE,\n"
	"	severity TEXT NOT NULL,	-- note, warning, error\n"
	"	code TEXT NOT NULL,\n"
	"	message TEXT NOT NULL,\n"
	"	unit TEXT,		-- line, packet, row; NULL: the whole input\n"
	"	number INTEGER NOT NULL,	-- of the line, packet or row, from 1\n"
	"	byte_offset INTEGER NOT NULL,\n"
	"	count INTEGER NOT NULL	-- how many it stands for\n"
	") STRICT;\n"
	"CREATE INDEX problem_by_input ON problem(input);\n";

/* Ends where the columns of field.def follow. */
static const char schema_event[] =
	"-- One fact at one instant (or over one interval) on one host.\n"
	"CREATE TABLE event (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	input INTEGER NOT NULL REFERENCES input(id) ON DELETE CASCADE,\n"
	"	type TEXT NOT NULL,\n"
	"	strength TEXT NOT NULL,	-- proves, suggests\n"
	"	time_us INTEGER NOT NULL,	-- by the clock of host, us since 1970 UTC\n"
	"	duration_us INTEGER NOT NULL,	-- 0 for an instant\n"
	"	host TEXT,\n"
	"	unit TEXT,		-- line, packet, row; NULL: the whole input\n"
	"	number INTEGER NOT NULL,	-- of the line, packet or row, from 1\n"
	"	byte_offset INTEGER NOT NULL,	-- in the unpacked input\n"
	"	text TEXT		-- the record as written";

static const char schema_derived[] =
	"-- Analysis asks by type, in order of time.\n"
	"CREATE INDEX event_by_type ON event(type, time_us);\n";

/* May be missing from a file that an older version made. */
static const char schema_likeness[] =
	"-- What the lines of logs say, as digests: a line of another input that is the same event is left out.\n"
	"CREATE TABLE IF NOT EXISTS likeness (\n"
	"	time_us INTEGER NOT NULL,	-- of the event; 0 for an entry that has an id\n"
	"	digest INTEGER NOT NULL,\n"
	"	input INTEGER NOT NULL,\n"
	"	number INTEGER NOT NULL,	-- of the line that was kept\n"
	"	PRIMARY KEY (time_us, digest)\n"
	") STRICT, WITHOUT ROWID;\n";

/* Made anew whenever clocks are saved: what an older version made may have other columns. */
static const char schema_clocks[] =
	"DROP VIEW IF EXISTS aligned_event;\n"
	"DROP TABLE IF EXISTS clock;\n"
	"DROP TABLE IF EXISTS zone;\n"
	"-- The last analysis' clocks: this host's clock minus the reference, from since_us on by the host's clock.\n"
	"CREATE TABLE clock (\n"
	"	host TEXT NOT NULL,\n"
	"	since_us INTEGER NOT NULL,	-- the least integer, or when the clock was set\n"
	"	offset_us INTEGER NOT NULL,\n"
	"	drift_ppm REAL NOT NULL,	-- growth of the offset since first_us\n"
	"	first_us INTEGER NOT NULL,\n"
	"	PRIMARY KEY (host, since_us)\n"
	") STRICT;\n"
	"-- Inputs that were written in another zone than they say or than was assumed: so far east of it.\n"
	"CREATE TABLE zone (\n"
	"	input INTEGER PRIMARY KEY,\n"
	"	ahead_us INTEGER NOT NULL\n"
	") STRICT;\n"
	"-- The events with their time on the reference clock, for people who query this file.\n"
	"CREATE VIEW aligned_event AS\n"
	"	SELECT e.time_us - coalesce(z.ahead_us, 0) - coalesce(c.offset_us + CAST(round(c.drift_ppm *\n"
	"		(e.time_us - coalesce(z.ahead_us, 0) - c.first_us) / 1e6) AS INTEGER), 0) AS ref_time_us, e.*\n"
	"	FROM event e LEFT JOIN zone z ON z.input = e.input\n"
	"	LEFT JOIN clock c ON c.host = e.host AND c.since_us = (SELECT max(since_us) FROM clock\n"
	"		WHERE host = e.host AND since_us <= e.time_us - coalesce(z.ahead_us, 0));\n";

static const char *const column_types[] = { [FIELD_TEXT] = "TEXT", [FIELD_INT] = "INTEGER" };

/* The parameters of insert_event; those of the fields follow. */
enum { PUT_INPUT = 1, PUT_TYPE, PUT_STRENGTH, PUT_TIME, PUT_DURATION, PUT_HOST, PUT_UNIT, PUT_NUMBER, PUT_BYTE_OFFSET,
       PUT_TEXT, PUT_FIELDS };

/* ---- failures ---- */

static const struct {
	int result;	/* of SQLite, primary */
	const char *code;
	const char *hint;
} failures[] = {
	{ SQLITE_CANTOPEN, "store.cannot_open", "" },
	{ SQLITE_NOTADB, "store.not_ours", " (an incident database was expected)" },
	{ SQLITE_CORRUPT, "store.damaged", "" },
	{ SQLITE_BUSY, "store.locked", " (another process is writing to it)" },
	{ SQLITE_LOCKED, "store.locked", " (another process is writing to it)" },
	{ SQLITE_READONLY, "store.read_only", "" },
	{ SQLITE_PERM, "store.read_only", "" },
	{ SQLITE_FULL, "store.full", "" },
	{ SQLITE_IOERR, "store.io", "" },
};

int store_fail(const struct store *s, const char *doing)
{
	int result = sqlite3_errcode(s->db);
	const char *code = "store.failed";
	const char *hint = "";

	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
		if (failures[i].result == (result & 0xff)) {
			code = failures[i].code;
			hint = failures[i].hint;
			break;
		}
	}
	diag_add(s->diag, SEVERITY_ERROR, code, NULL, "cannot %s %s: %s%s", doing, s->path, sqlite3_errmsg(s->db), hint);
	return -1;
}

/* ---- statements ---- */

int store_prepare(const struct store *s, const char *sql, struct sqlite3_stmt **out)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
		return store_fail(s, "query");
	return 0;
}

int store_bind_text(struct sqlite3_stmt *statement, int parameter, struct sv text)
{
	if (text.p == NULL)
		return sqlite3_bind_null(statement, parameter);
	return sqlite3_bind_text64(statement, parameter, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
}

struct sv store_column_text(struct sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	if (text == NULL)
		return SV_ABSENT;
	return (struct sv){ text, (size_t)sqlite3_column_bytes(statement, column) };
}

static int bind_count(struct sqlite3_stmt *statement, int parameter, uint64_t count)
{
	return sqlite3_bind_int64(statement, parameter, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

/* Runs a statement that gives no rows, and finalizes it. */
static int run(const struct store *s, struct sqlite3_stmt *statement, const char *doing)
{
	int result = sqlite3_step(statement);
	int rc = result == SQLITE_DONE || result == SQLITE_ROW ? 0 : store_fail(s, doing);

	sqlite3_finalize(statement);
	return rc;
}

static int execute(const struct store *s, const char *sql, const char *doing)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, doing);
}

/* The one integer that a constant query gives. */
static int ask(const struct store *s, const char *sql, int64_t *out)
{
	struct sqlite3_stmt *statement = NULL;
	int rc = 0;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		*out = sqlite3_column_int64(statement, 0);
	else
		rc = store_fail(s, "read");
	sqlite3_finalize(statement);
	return rc;
}

/* After some failures SQLite has rolled back already. */
static void rollback(const struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- opening ---- */

static int find_columns(struct store *s)
{
	struct sqlite3_stmt *statement = NULL;
	enum event_field field;
	int64_t lines = 0;
	int result;

	if (ask(s, "SELECT count(*) FROM pragma_table_info('input') WHERE name = 'lines'", &lines) < 0)
		return -1;
	s->has_lines = lines > 0;
	s->columns = 0;
	if (store_prepare(s, "SELECT name FROM pragma_table_info('event')", &statement) < 0)
		return -1;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		if (field_by_name(store_column_text(statement, 0), &field))
			s->columns |= FIELD_BIT(field);
	}
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : store_fail(s, "read");
}

static void add_column(struct buf *sql, const char *before, enum event_field f)
{
	buf_printf(sql, "%s\"%s\" %s", before, field_infos[f].name, column_types[field_infos[f].type]);
}

static int create_tables(struct store *s)
{
	struct buf sql;
	int rc;

	buf_init(&sql);
	buf_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;\n", APPLICATION_ID, SCHEMA_VERSION);
	buf_add(&sql, sv_of(schema_facts));
	buf_add(&sql, sv_of(schema_event));
	for (int f = 0; f < FIELD_COUNT; f++) {
		add_column(&sql, "\n\t, ", (enum event_field)f);
		buf_printf(&sql, " -- %s", field_infos[f].what);
	}
	buf_add(&sql, SV("\n) STRICT;\n"));
	buf_add(&sql, sv_of(schema_derived));
	buf_add(&sql, sv_of(schema_likeness));
	buf_add(&sql, sv_of(schema_clocks));
	buf_add_char(&sql, '\0');
	rc = execute(s, sql.p, "create");
	buf_fini(&sql);
	return rc;
}

/* Adds a column for each field that is newer than the file. */
static int add_columns(struct store *s)
{
	struct buf sql;
	int rc = s->has_lines ? 0 : execute(s, "ALTER TABLE input ADD COLUMN lines INTEGER NOT NULL DEFAULT 0", "upgrade");

	buf_init(&sql);
	for (int f = 0; f < FIELD_COUNT && rc == 0; f++) {
		if (s->columns & FIELD_BIT(f))
			continue;
		buf_clear(&sql);
		add_column(&sql, "ALTER TABLE event ADD COLUMN ", (enum event_field)f);
		buf_add_char(&sql, '\0');
		rc = execute(s, sql.p, "upgrade");
	}
	buf_fini(&sql);
	return rc;
}

/* Whether the file is empty, ours, or must be refused (-1). */
static int identify(const struct store *s, bool *empty)
{
	int64_t application = 0, version = 0, objects = 0;

	if (ask(s, "PRAGMA application_id", &application) < 0 || ask(s, "PRAGMA user_version", &version) < 0 ||
	    ask(s, "SELECT count(*) FROM sqlite_master", &objects) < 0)
		return -1;
	*empty = application == 0 && version == 0 && objects == 0;
	if (*empty && s->mode == STORE_WRITE)
		return 0;
	if (application != APPLICATION_ID) {
		diag_add(s->diag, SEVERITY_ERROR, "store.not_ours", NULL,
			 "%s is no incident database (expected one made by aftershock)", s->path);
		return -1;
	}
	if (version > SCHEMA_VERSION) {
		diag_add(s->diag, SEVERITY_ERROR, "store.newer", NULL,
			 "%s was made by a newer aftershock (version %lld of its tables, expected at most %d)", s->path,
			 (long long)version, SCHEMA_VERSION);
		return -1;
	}
	return 0;
}

/* Makes the tables, or what they lack, in one transaction. Another process may have been first: look again inside it. */
static int create_or_upgrade(struct store *s)
{
	bool empty;
	int rc = -1;

	if (execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	if (identify(s, &empty) < 0 || (empty && create_tables(s) < 0) || find_columns(s) < 0 || add_columns(s) < 0 ||
	    execute(s, "COMMIT", "write") < 0)
		goto out;
	rc = find_columns(s);
out:
	rollback(s);
	return rc;
}

static int find_last_input(struct store *s)
{
	if (ask(s, "SELECT coalesce(max(id), 0) FROM input", &s->last_input) < 0)
		return -1;
	s->earlier_input = s->last_input;
	return 0;
}

static int prepare_for_use(struct store *s)
{
	const field_set all = (FIELD_BIT(FIELD_COUNT - 1) - 1) | FIELD_BIT(FIELD_COUNT - 1);
	bool empty;

	if (execute(s, "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -32768;", "read") < 0 ||
	    identify(s, &empty) < 0)
		return -1;
	if (s->mode == STORE_READ)
		return execute(s, "PRAGMA query_only = ON", "read") < 0 || find_columns(s) < 0 ? -1 : find_last_input(s);
	if (sqlite3_db_readonly(s->db, "main")) {
		diag_add(s->diag, SEVERITY_ERROR, "store.read_only", NULL, "cannot write %s: no permission", s->path);
		return -1;
	}
	if (execute(s, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;", "write") < 0)
		return -1;
	if (!empty && find_columns(s) < 0)
		return -1;
	if ((empty || s->columns != all) && create_or_upgrade(s) < 0)
		return -1;
	return find_last_input(s);
}

struct store *store_open(const char *path, enum store_mode mode, struct diag *diag)
{
	/*
	 * A file that is only read is opened for writing too, where the
	 * permissions allow, so that SQLite can roll back what a killed writer
	 * left half done. query_only keeps it from anything else.
	 */
	const int flags = SQLITE_OPEN_READWRITE | (mode == STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
	struct arena *arena = arena_new();
	struct store *s = arena_alloc(arena, sizeof *s);

	s->arena = arena;
	s->diag = diag;
	s->mode = mode;
	s->path = arena_strdup(arena, sv_of(path));
	/* One thread uses it. */
	if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		store_fail(s, "open");
		goto fail;
	}
	sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
	if (prepare_for_use(s) < 0)
		goto fail;
	return s;
fail:
	store_close(s);
	return NULL;
}

/* ---- the sink ---- */

static int prepare_insert_event(struct store *s)
{
	struct buf sql;
	int rc;

	buf_init(&sql);
	buf_add(&sql, SV("INSERT INTO event (input, type, strength, time_us, duration_us, host, unit, number, byte_offset, text"));
	for (int f = 0; f < FIELD_COUNT; f++)
		buf_printf(&sql, ", \"%s\"", field_infos[f].name);
	buf_add(&sql, SV(") VALUES (?"));
	for (int i = PUT_TYPE; i < PUT_FIELDS + FIELD_COUNT; i++)
		buf_add(&sql, SV(", ?"));
	buf_add(&sql, SV(")"));
	buf_add_char(&sql, '\0');
	rc = store_prepare(s, sql.p, &s->insert_event);
	buf_fini(&sql);
	return rc;
}

/* Once a store: 0 or -1. */
static int prepare_sink(struct store *s)
{
	static const char put_likeness[] = "INSERT INTO likeness (time_us, digest, input, number)"
					   " VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
	static const char find_likeness[] = "SELECT input, path, number FROM likeness JOIN input ON input.id = likeness.input"
					    " WHERE time_us = ? AND likeness.digest = ?";

	if (s->find_likeness != NULL)
		return 0;
	if (s->insert_event == NULL && prepare_insert_event(s) < 0)
		return -1;
	if (s->insert_likeness == NULL &&
	    (execute(s, schema_likeness, "upgrade") < 0 || store_prepare(s, put_likeness, &s->insert_likeness) < 0))
		return -1;
	return store_prepare(s, find_likeness, &s->find_likeness);
}

/* Gives 1 when the digest is there, with the input's id and path, and whether that input was passed over as no evidence. */
static int find_digest(const struct store *s, struct sv digest, struct input_info *info, bool *skipped)
{
	struct sqlite3_stmt *statement = NULL;
	int result, rc = -1;

	if (store_prepare(s, "SELECT id, kind = 'skipped', path FROM input WHERE digest = ?", &statement) < 0)
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

static int delete_input(const struct store *s, int64_t id)
{
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, "DELETE FROM input WHERE id = ?", &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, id);
	return run(s, statement, "write");
}

/* The row that events refer to; end fills it. Another process may have added inputs since this one opened the file. */
static int insert_input(struct store *s, struct input_info *info)
{
	static const char sql[] = "INSERT INTO input (id, path, size_bytes, records, events, skipped, unrecognized)"
				  " VALUES (?, '', 0, 0, 0, 0, 0)";
	struct sqlite3_stmt *statement = NULL;
	int64_t greatest = 0;

	if (ask(s, "SELECT coalesce(max(id), 0) FROM input", &greatest) < 0 || store_prepare(s, sql, &statement) < 0)
		return -1;
	info->id = (greatest > s->last_input ? greatest : s->last_input) + 1;
	sqlite3_bind_int64(statement, 1, info->id);
	return run(s, statement, "write");
}

static int update_input(const struct store *s, const struct input_info *info)
{
	static const char sql[] =
		"UPDATE input SET path = ?, kind = ?, format = ?, host = ?, digest = ?, why_skipped = ?, zone_name = ?,"
		" zone_source = ?, size_bytes = ?, records = ?, events = ?, skipped = ?, unrecognized = ?, lines = ?,"
		" first_us = ?, last_us = ? WHERE id = ?";
	const struct sv texts[] = { info->path.p != NULL ? info->path : SV(""), info->kind, info->format, info->host,
				    info->digest, info->why_skipped, info->zone_name, info->zone_source };
	const uint64_t counts[] = { info->size_bytes, info->records, s->stored, info->skipped, info->unrecognized, info->lines };
	struct sqlite3_stmt *statement = NULL;
	int parameter = 1;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		store_bind_text(statement, parameter++, texts[i]);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		bind_count(statement, parameter++, counts[i]);
	if (info->has_times) {
		sqlite3_bind_int64(statement, parameter, info->first.us);
		sqlite3_bind_int64(statement, parameter + 1, info->last.us);
	}
	sqlite3_bind_int64(statement, parameter + 2, info->id);
	return run(s, statement, "write");
}

static void leave_input(struct store *s)
{
	rollback(s);
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
	if (prepare_sink(s) < 0 || execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	if (!sv_is_absent(info->digest))
		found = find_digest(s, info->digest, info, &was_skipped);
	/* What no rule or option let us read before may be evidence now: read it in its place. */
	if (found == 1 && was_skipped && !sv_eq(info->kind, SV("skipped")) && !sv_is_absent(info->kind))
		found = delete_input(s, info->id);
	if (found != 0) {
		rollback(s);
		return found == 1 ? 0 : -1;
	}
	if (insert_input(s, info) < 0) {
		rollback(s);
		return -1;
	}
	s->input = s->last_input = info->id;
	s->stored = s->repeated = 0;
	s->is_log = sv_eq(info->kind, SV("log"));
	s->flooded = 0;
	repeats_begin(&s->repeats);
	return 1;
}

/* Keeps the likeness: 1, 0 when it is held already, -1. */
static int put_likeness(const struct store *s, const struct likeness *likeness, const struct place *place)
{
	int result;

	sqlite3_bind_int64(s->insert_likeness, 1, likeness->time_us);
	sqlite3_bind_int64(s->insert_likeness, 2, likeness->digest);
	sqlite3_bind_int64(s->insert_likeness, 3, s->input);
	bind_count(s->insert_likeness, 4, place->number);
	result = sqlite3_step(s->insert_likeness);
	sqlite3_reset(s->insert_likeness);
	if (result != SQLITE_DONE)
		return store_fail(s, "write");
	return sqlite3_changes(s->db) > 0;
}

/* An event whose likeness is held: 1 when it is the same event, 0, or -1. */
static int note_repeat(struct store *s, const struct likeness *likeness, const struct event *e)
{
	struct sqlite3_stmt *find = s->find_likeness;
	int rc = 1;

	sqlite3_bind_int64(find, 1, likeness->time_us);
	sqlite3_bind_int64(find, 2, likeness->digest);
	if (sqlite3_step(find) != SQLITE_ROW)
		rc = store_fail(s, "read");
	/* So far apart in one input that the first was forgotten: they are two still, unless they are one entry. */
	else if (sqlite3_column_int64(find, 0) == s->input && e->record_id == 0)
		rc = 0;
	else if (s->repeated++ == 0) {
		s->first_repeated = e->place;
		s->first_held = arena_printf(s->arena, "line %lld of %.*s", (long long)sqlite3_column_int64(find, 2),
					     SV_ARG(store_column_text(find, 1)));
	}
	sqlite3_reset(find);
	return rc;
}

static bool is_flood(struct store *s, const struct likeness *likeness, const struct event *e)
{
	if (likeness->before < REPEAT_FLOOD || event_infos[e->type].side == SIDE_BUSINESS)
		return false;
	if (s->flooded++ == 0)
		s->first_flooded = e->place;
	return true;
}

/* 1 when the same line of a log has been put before, or too often; 0 when it has not, -1. */
static int is_repeat(struct store *s, const struct event *e)
{
	struct likeness likeness;
	int rc;

	if (!s->is_log || !repeats_likeness(&s->repeats, e, &likeness))
		return 0;
	if (is_flood(s, &likeness, e))
		return 1;
	rc = put_likeness(s, &likeness, &e->place);
	return rc == 0 ? note_repeat(s, &likeness, e) : rc < 0 ? -1 : 0;
}

static int bind_event(const struct store *s, const struct event *e)
{
	struct sqlite3_stmt *put = s->insert_event;
	const struct event_info *info = &event_infos[e->type];
	int bad = 0;

	sqlite3_clear_bindings(put);
	bad |= sqlite3_bind_int64(put, PUT_INPUT, s->input);
	bad |= sqlite3_bind_text(put, PUT_TYPE, info->name, -1, SQLITE_STATIC);
	bad |= sqlite3_bind_text(put, PUT_STRENGTH, strength_name(e->strength), -1, SQLITE_STATIC);
	bad |= sqlite3_bind_int64(put, PUT_TIME, e->time.us);
	bad |= sqlite3_bind_int64(put, PUT_DURATION, e->duration_us);
	bad |= store_bind_text(put, PUT_HOST, e->host);
	bad |= store_bind_text(put, PUT_UNIT, sv_of(place_unit_name(e->place.unit)));
	bad |= bind_count(put, PUT_NUMBER, e->place.number);
	bad |= bind_count(put, PUT_BYTE_OFFSET, e->place.byte_offset);
	bad |= store_bind_text(put, PUT_TEXT, e->text);
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!(e->set & FIELD_BIT(f)))
			continue;
		if (field_infos[f].type == FIELD_INT)
			bad |= sqlite3_bind_int64(put, PUT_FIELDS + f, e->value[f].number);
		else
			bad |= store_bind_text(put, PUT_FIELDS + f, e->value[f].text);
	}
	return bad == SQLITE_OK ? 0 : -1;
}

static int sink_put(void *context, const struct event *e)
{
	struct store *s = context;
	enum event_field missing;
	int repeat;

	if (s->input == 0)
		return -1; /* it has failed, which is recorded */
	if (event_lacks(e, &missing)) {
		diag_add(s->diag, SEVERITY_WARNING, "event.incomplete", &e->place, "%s without its %s is left out",
			 event_infos[e->type].name, field_infos[missing].name);
		return 0;
	}
	repeat = is_repeat(s, e);
	if (repeat == 1)
		return 0;
	if (repeat < 0 || bind_event(s, e) < 0 || sqlite3_step(s->insert_event) != SQLITE_DONE) {
		store_fail(s, "write");
		sqlite3_reset(s->insert_event);
		leave_input(s);
		return -1;
	}
	sqlite3_reset(s->insert_event);
	s->stored++;
	return 0;
}

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
	bind_count(statement, 6, p->place.number);
	bind_count(statement, 7, p->place.byte_offset);
	bind_count(statement, 8, p->count);
	return run(s, statement, "write");
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

static int sink_end(void *context, const struct input_info *info)
{
	struct store *s = context;
	int rc;

	if (s->input == 0)
		return -1;
	assert(info->id == s->input);
	if (s->repeated > 0)
		diag_add(s->diag, SEVERITY_NOTE, "event.repeated", &s->first_repeated,
			 "%llu events left out, this the first: they have been read already (it is %.*s)",
			 (unsigned long long)s->repeated, SV_ARG(s->first_held));
	if (s->flooded > 0)
		diag_add(s->diag, SEVERITY_NOTE, "event.flood", &s->first_flooded,
			 "%llu events left out, this the first: the same line stands there %d times before, with the same time",
			 (unsigned long long)s->flooded, REPEAT_FLOOD);
	rc = update_input(s, info) < 0 || write_problems(s) < 0 || execute(s, "COMMIT", "write") < 0 ? -1 : 0;
	leave_input(s);
	return rc;
}

static void sink_abandon(void *context)
{
	leave_input(context);
}

/* ---- clocks ---- */

static int write_clock(const struct store *s, const struct store_clock *clock)
{
	static const char sql[] = "INSERT INTO clock (host, since_us, offset_us, drift_ppm, first_us) VALUES (?, ?, ?, ?, ?)";
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, sql, &statement) < 0)
		return -1;
	store_bind_text(statement, 1, clock->host);
	sqlite3_bind_int64(statement, 2, clock->is_later ? clock->since.us : INT64_MIN);
	sqlite3_bind_int64(statement, 3, clock->offset_us);
	sqlite3_bind_double(statement, 4, clock->drift_ppm);
	sqlite3_bind_int64(statement, 5, clock->first.us);
	return run(s, statement, "write");
}

static int write_zone(const struct store *s, const struct store_zone *zone)
{
	struct sqlite3_stmt *statement = NULL;

	if (store_prepare(s, "INSERT INTO zone (input, ahead_us) VALUES (?, ?)", &statement) < 0)
		return -1;
	sqlite3_bind_int64(statement, 1, zone->input);
	sqlite3_bind_int64(statement, 2, zone->ahead_us);
	return run(s, statement, "write");
}

int store_save_clocks(struct store *s, const struct store_clock *clocks, size_t n, const struct store_zone *zones,
		      size_t zone_count)
{
	int rc;

	assert(s->input == 0);
	if (s->mode == STORE_READ)
		return 0;
	if (execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	rc = execute(s, schema_clocks, "write");
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = write_clock(s, &clocks[i]);
	for (size_t i = 0; i < zone_count && rc == 0; i++)
		rc = write_zone(s, &zones[i]);
	if (rc == 0)
		rc = execute(s, "COMMIT", "write");
	rollback(s);
	return rc;
}

/* ---- the handle ---- */

void store_close(struct store *s)
{
	if (s == NULL)
		return;
	if (s->db != NULL)
		rollback(s);
	sqlite3_finalize(s->insert_event);
	sqlite3_finalize(s->insert_likeness);
	sqlite3_finalize(s->find_likeness);
	sqlite3_close(s->db);
	arena_free(s->arena);
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
