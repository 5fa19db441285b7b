/* SPDX-License-Identifier: MIT */
/* Statements and the failures of SQLite, for the files of this layer. See store/handle.h. */

#include "store/handle.h"

#include <sqlite3.h>

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

int store_fail_damaged(const struct store *s, const char *what)
{
	diag_add(s->diag, SEVERITY_ERROR, "store.damaged", NULL, "cannot read %s: %s is malformed", s->path, what);
	return -1;
}

/* ---- statements ---- */

int store_prepare(const struct store *s, const char *sql, struct sqlite3_stmt **out)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
		return store_fail(s, "query");
	return 0;
}

struct sqlite3_stmt *store_statement(struct store *s, enum statement which, const char *sql)
{
	if (s->statements[which] == NULL)
		(void)store_prepare(s, sql, &s->statements[which]);
	return s->statements[which];
}

int store_bind_text(struct sqlite3_stmt *statement, int parameter, struct sv text)
{
	if (sv_is_absent(text))
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

int store_bind_count(struct sqlite3_stmt *statement, int parameter, uint64_t count)
{
	return sqlite3_bind_int64(statement, parameter, store_count(count));
}

uint64_t store_column_count(struct sqlite3_stmt *statement, int column)
{
	int64_t n = sqlite3_column_int64(statement, column);

	return n < 0 ? 0 : (uint64_t)n;
}

int store_run(const struct store *s, struct sqlite3_stmt *statement, const char *doing)
{
	int result = sqlite3_step(statement);
	int rc = result == SQLITE_DONE || result == SQLITE_ROW ? 0 : store_fail(s, doing);

	sqlite3_finalize(statement);
	return rc;
}

int store_run_kept(const struct store *s, struct sqlite3_stmt *statement, const char *doing)
{
	int rc = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_fail(s, doing);

	sqlite3_reset(statement);
	return rc;
}

int store_execute(const struct store *s, const char *sql, const char *doing)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_fail(s, doing);
}

int store_ask(const struct store *s, const char *sql, int64_t *out)
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

void store_rollback(const struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}
