/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_HANDLE_H
#define AFTERSHOCK_STORE_HANDLE_H

/*
 * What is behind a struct store: for the files of this layer alone. The types
 * of SQLite stay incomplete here, so that its header is not needed.
 */

#include "store/repeat.h"
#include "store/store.h"

struct sqlite3;
struct sqlite3_stmt;

struct store {
	struct sqlite3 *db;
	struct diag *diag;
	struct arena *arena;	/* as long as the store */
	const char *path;
	enum store_mode mode;
	field_set columns;	/* the fields that table event has a column for: an older file may lack some */
	bool has_lines;		/* table input has a column for them: that of an older file may not */
	struct sqlite3_stmt *insert_event;	/* NULL until first used */
	int64_t earlier_input;	/* highest input id when it was opened */
	int64_t last_input;	/* highest input id given out, so that an abandoned one is not given again */
	int64_t input;		/* id of the input in progress, 0 when none */
	uint64_t stored;	/* events of the input in progress */
	bool is_log;		/* it is a log: its lines may be those of another */
	struct repeats repeats;
	uint64_t repeated;	/* events that were left out, since another input has them */
	struct place first_repeated;
	struct sv first_held;	/* where the first of them stands already, in words */
	uint64_t flooded;	/* events that were left out, since their line stands in this input so often */
	struct place first_flooded;
	struct sqlite3_stmt *insert_likeness, *find_likeness;	/* NULL until first used */
};

/* Records SQLite's last error: "cannot <doing> <path>: ...". Gives -1. */
int store_fail(const struct store *s, const char *doing);
/* A statement that lives until finalized. 0 or -1, recorded. */
int store_prepare(const struct store *s, const char *sql, struct sqlite3_stmt **out);
/* Absent becomes NULL, and NULL becomes absent. The view lives until the next step. */
int store_bind_text(struct sqlite3_stmt *statement, int parameter, struct sv text);
struct sv store_column_text(struct sqlite3_stmt *statement, int column);

#endif
