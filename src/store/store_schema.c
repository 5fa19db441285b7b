/* SPDX-License-Identifier: MIT */
/*
 * The tables of the incident database, what they are known by, and how they are
 * made (house-style 5, "SQL").
 *
 * Facts (input, problem, event_row) and what is derived from them (clock, zone)
 * are apart: the latter may be dropped and made anew. People ask the views
 * event and aligned_event; this program reads event_row itself.
 */

#include "store/handle.h"

#include <sqlite3.h>

#define APPLICATION_ID 0x4166536b /* "AfSk", in the header of the file */
/* Grows when tables change. A new row in field.def does not count: its column is added to the view by itself. */
#define SCHEMA_VERSION 3

static const char schema_tables[] =
	"-- One row for each file or archive member, in the order of reading.\n"
	"CREATE TABLE input (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	path TEXT NOT NULL,	-- as the user named it; archive.zip!inner/name\n"
	"	kind TEXT,		-- log, capture, counters, table, snapshot; skipped when it is no evidence\n"
	"	format TEXT,		-- the layout that was recognised\n"
	"	host TEXT,		-- whose clock wrote its times\n"
	"	-- BLAKE2b-256 of the bytes as stored, hexadecimal; sampled: of a large file's size and samples\n"
	"	digest TEXT UNIQUE,\n"
	"	why_skipped TEXT,\n"
	"	size_bytes INTEGER NOT NULL,\n"
	"	lines INTEGER NOT NULL,	-- of text; 0 when it is none\n"
	"	records INTEGER NOT NULL,\n"
	"	events INTEGER NOT NULL,	-- rows of table event_row\n"
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
	"CREATE INDEX problem_by_input ON problem(input);\n"
	"-- One fact at one instant (or over one interval) on one host. Ask view event, which has its facts as columns.\n"
	"-- No index and no reference: either would cost as much again as the rows.\n"
	"CREATE TABLE event_row (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	input INTEGER NOT NULL,	-- id in table input\n"
	"	type TEXT NOT NULL,\n"
	"	time_us INTEGER NOT NULL,	-- by the clock of host, us since 1970 UTC\n"
	"	number INTEGER NOT NULL,	-- of the line, packet or row, from 1\n"
	"	byte_offset INTEGER NOT NULL,	-- in the unpacked input\n"
	"	facts TEXT NOT NULL,	-- JSON: host, strength, unit, duration_us and the fields that are known\n"
	"	text TEXT		-- the record as written\n"
	") STRICT;\n"
	"-- What the lines of logs say, some thousands a row: a line of another input that is the same event is left out.\n"
	"CREATE TABLE held (\n"
	"	id INTEGER PRIMARY KEY,\n"
	"	input INTEGER NOT NULL,\n"
	"	by_id INTEGER NOT NULL,	-- 1: known by the ids that a collector gave them\n"
	"	from_us INTEGER NOT NULL,	-- least and greatest time of the events\n"
	"	to_us INTEGER NOT NULL,\n"
	"	hosts INTEGER NOT NULL	-- a bit for each host, of 64\n"
	") STRICT;\n"
	"CREATE TABLE held_lines (\n"
	"	id INTEGER PRIMARY KEY,	-- that of held\n"
	"	lines BLOB NOT NULL	-- for each line a digest and its number, 8 bytes each, the lowest first\n"
	") STRICT;\n";

/* Ends where the columns of field.def follow. */
static const char schema_event[] =
	"CREATE VIEW event AS SELECT id, input, type, json_extract(facts, '$.strength') AS strength,"
	" time_us, coalesce(json_extract(facts, '$.duration_us'), 0) AS duration_us, json_extract(facts, '$.host') AS host,"
	" json_extract(facts, '$.unit') AS unit, number, byte_offset, text";

/* Made anew whenever clocks are saved: what another version made may have other columns. */
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

int store_identify(const struct store *s, bool *empty)
{
	int64_t application = 0, version = 0, objects = 0;

	if (store_ask(s, "PRAGMA application_id", &application) < 0 || store_ask(s, "PRAGMA user_version", &version) < 0 ||
	    store_ask(s, "SELECT count(*) FROM sqlite_master", &objects) < 0)
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
			 "%s was made by a newer aftershock (version %lld of its tables, expected %d)", s->path,
			 (long long)version, SCHEMA_VERSION);
		return -1;
	}
	if (version < SCHEMA_VERSION) {
		diag_add(s->diag, SEVERITY_ERROR, "store.older", NULL,
			 "%s was made by an older aftershock (version %lld of its tables, expected %d): read its inputs again "
			 "into a new file",
			 s->path, (long long)version, SCHEMA_VERSION);
		return -1;
	}
	return 0;
}

static int create_tables(const struct store *s)
{
	struct buf sql;
	int rc;

	buf_init(&sql);
	buf_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;\n", APPLICATION_ID, SCHEMA_VERSION);
	buf_add(&sql, sv_of(schema_tables));
	buf_add_char(&sql, '\0');
	rc = store_execute(s, sql.p, "create");
	buf_fini(&sql);
	return rc == 0 ? store_make_clock_tables(s) : -1;
}

int store_make_clock_tables(const struct store *s)
{
	return store_execute(s, schema_clocks, "write");
}

/* As SQLite keeps it, which is as it was given. */
static void view_of_events(struct buf *sql)
{
	buf_add(sql, sv_of(schema_event));
	for (int f = 0; f < FIELD_COUNT; f++)
		buf_printf(sql, "\n\t, json_extract(facts, '$.%s') AS \"%s\" -- %s", field_infos[f].name, field_infos[f].name,
			   field_infos[f].what);
	buf_add(sql, SV("\n\tFROM event_row"));
}

/* 1 when the file has the view as this program makes it, 0, or -1. */
static int has_view(const struct store *s, struct sv view)
{
	struct sqlite3_stmt *statement = NULL;
	int result, rc;

	if (store_prepare(s, "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = 'event'", &statement) < 0)
		return -1;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		rc = sv_eq(store_column_text(statement, 0), view);
	else
		rc = result == SQLITE_DONE ? 0 : store_fail(s, "read");
	sqlite3_finalize(statement);
	return rc;
}

static int replace_view(const struct store *s, struct sv view)
{
	struct buf sql;
	int rc;

	buf_init(&sql);
	buf_add(&sql, SV("DROP VIEW IF EXISTS event;"));
	buf_add(&sql, view);
	buf_add_char(&sql, '\0');
	rc = store_execute(s, sql.p, "upgrade");
	buf_fini(&sql);
	return rc;
}

/* Another process may have been first: look again inside the transaction. */
static int make_schema(const struct store *s, struct sv view)
{
	bool empty;
	int rc;

	if (store_execute(s, "BEGIN IMMEDIATE", "write") < 0)
		return -1;
	rc = store_identify(s, &empty) < 0 || (empty && create_tables(s) < 0) || replace_view(s, view) < 0 ||
			     store_execute(s, "COMMIT", "write") < 0
		     ? -1 : 0;
	store_rollback(s);
	return rc;
}

int store_make_schema(struct store *s)
{
	struct buf view;
	int rc;

	buf_init(&view);
	view_of_events(&view);
	rc = has_view(s, buf_sv(&view));
	if (rc == 0)
		rc = make_schema(s, buf_sv(&view));
	buf_fini(&view);
	return rc < 0 ? -1 : 0;
}
