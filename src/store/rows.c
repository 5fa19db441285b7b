/* SPDX-License-Identifier: MIT */
/*
 * Rows in memory as a table-valued function of SQLite: an eponymous virtual
 * table (sqlite.org/vtab.html, 2) whose hidden column is the source, passed as
 * a pointer (sqlite.org/bindptr.html). See store/rows.h.
 */

#include "store/rows.h"

#include <string.h>

#include <sqlite3.h>

#define ROWS_POINTER "aftershock rows"

enum { ROWS_COLUMNS = 6, COLUMN_SOURCE = ROWS_COLUMNS };

static const char declaration[] = "CREATE TABLE rows (c0, c1, c2, c3, c4, c5, source HIDDEN)";

struct rows_cursor {
	sqlite3_vtab_cursor base;	/* first: SQLite knows it by this */
	struct rows *rows;
	sqlite3_int64 number;
	bool ended;
};

static int connect_table(sqlite3 *db, void *unused, int count, const char *const *arguments, sqlite3_vtab **out, char **error)
{
	int result = sqlite3_declare_vtab(db, declaration);

	(void)unused, (void)count, (void)arguments, (void)error;
	if (result != SQLITE_OK)
		return result;
	*out = sqlite3_malloc(sizeof **out);
	if (*out == NULL)
		return SQLITE_NOMEM;
	memset(*out, 0, sizeof **out);
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

/* There is one way to read them, and none without a source. */
static int plan(sqlite3_vtab *table, sqlite3_index_info *index)
{
	(void)table;
	for (int i = 0; i < index->nConstraint; i++) {
		if (index->aConstraint[i].iColumn != COLUMN_SOURCE || !index->aConstraint[i].usable ||
		    index->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		index->aConstraintUsage[i].argvIndex = 1;
		index->aConstraintUsage[i].omit = 1;
		return SQLITE_OK;
	}
	return SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct rows_cursor *c = sqlite3_malloc(sizeof *c);

	(void)table;
	if (c == NULL)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof *c);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static struct rows_cursor *of(sqlite3_vtab_cursor *cursor)
{
	return (struct rows_cursor *)(void *)cursor;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	struct rows_cursor *c = of(cursor);

	c->ended = !c->rows->next(c->rows->context);
	c->number++;
	return SQLITE_OK;
}

static int begin(sqlite3_vtab_cursor *cursor, int plan_number, const char *plan_text, int count, sqlite3_value **values)
{
	struct rows_cursor *c = of(cursor);

	(void)plan_number, (void)plan_text;
	c->rows = count == 1 ? sqlite3_value_pointer(values[0], ROWS_POINTER) : NULL;
	/* Only a statement of this program can pass one. */
	if (c->rows == NULL)
		return SQLITE_MISUSE;
	c->number = 0;
	return next(cursor);
}

static int has_ended(sqlite3_vtab_cursor *cursor)
{
	return of(cursor)->ended;
}

static int give_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
	struct rows_cursor *c = of(cursor);

	if (column < ROWS_COLUMNS)
		c->rows->column(c->rows->context, column, out);
	return SQLITE_OK;
}

static int give_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = of(cursor)->number;
	return SQLITE_OK;
}

/* Without xCreate it is there by its name alone, and stands in no schema. */
static const sqlite3_module module = {
	.xConnect = connect_table,
	.xDisconnect = disconnect_table,
	.xBestIndex = plan,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = begin,
	.xNext = next,
	.xEof = has_ended,
	.xColumn = give_column,
	.xRowid = give_number,
};

int rows_register(struct sqlite3 *db)
{
	return sqlite3_create_module(db, "rows", &module, NULL);
}

int rows_bind(struct sqlite3_stmt *statement, int parameter, struct rows *rows)
{
	return sqlite3_bind_pointer(statement, parameter, rows, ROWS_POINTER, NULL);
}
