/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_ROWS_H
#define AFTERSHOCK_STORE_ROWS_H

/*
 * Rows that are in memory, for SQL to read: "FROM rows(?1)", where the
 * parameter is a struct rows. One statement then moves or joins thousands of
 * them, which is twice as fast as to bind and step for each.
 *
 *	INSERT INTO t (x, y) SELECT c0, c1 FROM rows(?1)
 */

#include <stdbool.h>

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;

struct rows {
	/* Goes to the next row, at first to the first; false when there is none. */
	bool (*next)(void *context);
	/* Gives column c0, c1, ... of it, by one of SQLite's sqlite3_result functions; nothing given is NULL. */
	void (*column)(void *context, int column, struct sqlite3_context *out);
	void *context;
};

/* Makes rows() known to a connection: SQLite's result. */
int rows_register(struct sqlite3 *db);
/* SQLite's result. The rows are read when the statement is stepped. */
int rows_bind(struct sqlite3_stmt *statement, int parameter, struct rows *rows);

#endif
