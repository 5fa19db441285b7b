/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_HANDLE_H
#define AFTERSHOCK_STORE_HANDLE_H

/*
 * What is behind a struct store: for the files of this layer alone. The types
 * of SQLite stay incomplete here, so that its header is not needed.
 */

#include "base/latest.h"
#include "store/batch.h"
#include "store/names.h"
#include "store/store.h"

struct sqlite3;
struct sqlite3_stmt;
struct survey;
struct shelf;

/* Statements that are prepared once, when first used. */
enum statement {
	STATEMENT_PUT_EVENTS,
	STATEMENT_FIND_HELD,
	STATEMENT_PUT_HELD,
	STATEMENT_PUT_HELD_LINES,
	STATEMENT_EVENT,
	STATEMENT_COUNT,
};

struct store {
	struct sqlite3 *db;
	struct diag *diag;
	struct arena *arena;	/* as long as the store */
	const char *path;
	enum store_mode mode;
	struct sqlite3_stmt *statements[STATEMENT_COUNT];	/* NULL until first used */

	/* reading */
	struct names types, facts;	/* what rows call them */
	struct survey *survey;		/* of the events that there are; NULL until asked for */
	struct shelf *shelf;		/* those of them that were loaded; NULL until one is */

	/* writing */
	bool is_new;		/* it held nothing when it was opened for writing, and waits for the disk when it is closed */
	int64_t earlier_input;	/* highest input id when it was opened */
	int64_t last_input;	/* highest input id given out, so that an abandoned one is not given again */
	int64_t input;		/* id of the input in progress, 0 when none */
	uint64_t stored;	/* events of the input in progress */
	bool is_log;		/* it is a log: its lines may be those of another */
	struct batch *batch;	/* its events that are not written yet; NULL until first used */
	struct latest lines;	/* of it, by their likeness (store/repeat.h) */
	uint64_t repeated;	/* events that were left out, since another input has them */
	struct place first_repeated;
	struct sv first_held;	/* where the first of them stands already, in words */
	uint64_t flooded;	/* events that were left out, since their line stands in this input so often */
	struct place first_flooded;
	int ahead;		/* a descriptor of the file, for store_ahead; -1: none */
	uint64_t ahead_bytes;	/* written since it was last told */
};

/* ---- store_statement.c ---- */

/* Records SQLite's last error: "cannot <doing> <path>: ...". Gives -1. */
int store_fail(const struct store *s, const char *doing);
/* Records that what this program wrote has been changed since, and how. Gives -1. */
int store_fail_damaged(const struct store *s, const char *what);
/* A statement that lives until finalized. 0 or -1, recorded. */
int store_prepare(const struct store *s, const char *sql, struct sqlite3_stmt **out);
/* One that lives as long as the store; NULL on failure, recorded. Whoever steps it resets it. */
struct sqlite3_stmt *store_statement(struct store *s, enum statement which, const char *sql);
/* Absent becomes NULL, and NULL becomes absent. The view lives until the next step. */
int store_bind_text(struct sqlite3_stmt *statement, int parameter, struct sv text);
struct sv store_column_text(struct sqlite3_stmt *statement, int column);
/* Counts are unsigned here and signed there: what is out of range becomes the nearest. */
static inline int64_t store_count(uint64_t count)
{
	return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}
int store_bind_count(struct sqlite3_stmt *statement, int parameter, uint64_t count);
uint64_t store_column_count(struct sqlite3_stmt *statement, int column);
/* Runs a statement that gives no rows, and finalizes it. 0 or -1, recorded. */
int store_run(const struct store *s, struct sqlite3_stmt *statement, const char *doing);
/* The same of one that is kept: resets it. */
int store_run_kept(const struct store *s, struct sqlite3_stmt *statement, const char *doing);
int store_execute(const struct store *s, const char *sql, const char *doing);
/* The one integer that a constant query gives. */
int store_ask(const struct store *s, const char *sql, int64_t *out);
/* After some failures SQLite has rolled back already. */
void store_rollback(const struct store *s);

/* ---- store_schema.c ---- */

/* Whether the file is empty, ours, or must be refused (-1). */
int store_identify(const struct store *s, bool *empty);
/* Makes the tables of an empty file, and the views anew where another version of this program made them. */
int store_make_schema(struct store *s);
/* Tables clock and zone, empty, and view aligned_event, within a transaction. */
int store_make_clock_tables(const struct store *s);

/* ---- store_input.c ---- */

/* Forgets the input in progress, if there is one. */
void store_leave_input(struct store *s);

/* ---- store_ahead.c ---- */

/* Of a file that is written to; one that cannot be opened is written all the same. */
void store_ahead_open(struct store *s);
/* When SQLite has closed the file. */
void store_ahead_close(struct store *s);
/* Waits until all of it is on the disk: 0, or -1 with errno. It must have been opened. */
int store_ahead_finish(struct store *s);
/* So many bytes more have been written. */
void store_ahead(struct store *s, uint64_t bytes);

/* ---- held.c ---- */

/*
 * Leaves out the events of the batch, which is of a log, that the database holds
 * already, and those of a flood; keeps the likeness of the others. 0 or -1, recorded.
 */
int held_sort_out(struct store *s);

#endif
