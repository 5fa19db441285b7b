/* SPDX-License-Identifier: MIT */
/*
 * The incident database, one SQLite file: opened and closed here. What is in it
 * stands in store_schema.c, how inputs come in in store_input.c.
 *
 * A rollback journal with synchronous=FULL rather than a write-ahead log: an
 * incident database is one file that is sent around, and it is written a few
 * transactions long, each of them large.
 */

#include "store/store.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#include "store/facts.h"
#include "store/handle.h"
#include "store/rows.h"
#include "store/shelf.h"
#include "store/survey.h"

/* A reader waits for another's commit. Who writes waits for its whole input, so that two at once are as one after the other. */
static const int wait_ms[] = { [STORE_READ] = 2000, [STORE_WRITE] = 10 * 60 * 1000 };

/* Large pages, of which there are fewer, and each has its cost: rows went in in a third less time than with 4 KiB. */
static const char pragmas[] = "PRAGMA page_size = 16384; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;"
			      "PRAGMA cache_size = -4096;";
static const char pragmas_reading[] = "PRAGMA query_only = ON";
static const char pragmas_writing[] = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;";
/*
 * A file that held nothing when it was opened waits for the disk once, when it is
 * closed. Until then a machine that loses its power loses a file that nobody had;
 * a process that is killed loses nothing more, for the system has what it wrote.
 */
static const char pragmas_creating[] = "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;";

static int find_last_input(struct store *s)
{
	if (store_ask(s, "SELECT coalesce(max(id), 0) FROM input", &s->last_input) < 0)
		return -1;
	s->earlier_input = s->last_input;
	return 0;
}

static void name_what_rows_hold(struct store *s)
{
	facts_names(&s->facts);
	for (int t = 0; t < EVENT_COUNT; t++)
		names_add(&s->types, sv_of(event_infos[t].name), (uint8_t)t);
}

static int prepare_for_use(struct store *s)
{
	bool is_empty;

	/* This program reads tables alone: a view in their place could have rows without end, a trigger could do anything. */
	if (rows_register(s->db) != SQLITE_OK || sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL) != SQLITE_OK ||
	    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) != SQLITE_OK)
		return store_fail(s, "open");
	if (store_execute(s, pragmas, "read") < 0 || store_identify(s, &is_empty) < 0)
		return -1;
	name_what_rows_hold(s);
	if (s->mode == STORE_READ)
		return store_execute(s, pragmas_reading, "read") < 0 ? -1 : find_last_input(s);
	if (sqlite3_db_readonly(s->db, "main")) {
		diag_add(s->diag, SEVERITY_ERROR, "store.read_only", NULL, "cannot write %s: no permission", s->path);
		return -1;
	}
	store_ahead_open(s);
	/* One that cannot be waited for at its end waits with each input. */
	s->is_new = is_empty && s->ahead >= 0;
	if (store_execute(s, s->is_new ? pragmas_creating : pragmas_writing, "write") < 0 || store_make_schema(s) < 0)
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
	s->ahead = -1;
	/* One thread uses it. */
	if (sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		store_fail(s, "open");
		goto fail;
	}
	sqlite3_busy_timeout(s->db, wait_ms[mode]);
	if (prepare_for_use(s) < 0)
		goto fail;
	return s;
fail:
	(void)store_close(s);
	return NULL;
}

/* Behind SQLite, which has closed the file. */
static int wait_for_disk(struct store *s)
{
	if (!s->is_new || store_ahead_finish(s) == 0)
		return 0;
	diag_add(s->diag, SEVERITY_ERROR, "store.failed", NULL, "cannot write %s: %s", s->path, strerror(errno));
	return -1;
}

int store_close(struct store *s)
{
	int rc;

	if (s == NULL)
		return 0;
	if (s->db != NULL)
		store_leave_input(s);
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(s->statements[i]);
	sqlite3_close(s->db);
	rc = wait_for_disk(s);
	store_ahead_close(s);
	survey_release(s->survey);
	shelf_free(s->shelf);
	batch_fini(s->batch);
	latest_fini(&s->lines);
	arena_free(s->arena);
	return rc;
}
