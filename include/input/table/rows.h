/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_TABLE_ROWS_H
#define AFTERSHOCK_INPUT_TABLE_ROWS_H

/*
 * Tables as rows of cells: CSV (RFC 4180), TSV as mysql -B writes it, columns
 * between semicolons or bars, and JSON Lines. What the columns mean is
 * table.c's business.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/sv.h"
#include "input/kind.h"

struct dialect {
	const char *name;
	char separator;
	bool quotes;		/* "a ""b"", c": separators and line ends inside quotes are text */
	bool backslashes;	/* \t \n \\ */
	bool json;		/* an object a line; its members are the columns */
};

/* In the order in which they are tried. */
extern const struct dialect dialects[];
extern const size_t dialect_count;

/* A row with more bytes, and a table with more columns, are damaged. */
#define ROW_BYTES_MAX LINE_BYTES_MAX
#define COLUMNS_MAX 1024

struct header {
	struct sv *names;
	size_t count;
	size_t capacity;
};

struct row {
	struct sv *cells;	/* as many as the header has; absent for NULL, \N, null and what a record lacks */
	size_t count;
	struct sv text;		/* as written */
	struct place place;	/* the header is row 1; records of JSON Lines are numbered from 1 */
	uint64_t line;		/* in which it begins */
	bool damaged;		/* said in diag; has no cells */
	bool open;		/* the input ends behind its last cell, which nothing closes: a part of that may be missing */
};

/*
 * The header that the first bytes of an input have under a dialect: the first
 * row that is not blank, or the members of all records of JSON Lines there.
 * *whole counts the rows that fit it, itself included, as far as it was
 * looked. False when the bytes are not of that dialect.
 */
bool rows_preview(struct sv head, const struct dialect *d, struct arena *a, struct header *out, size_t *whole);

struct rows;

/* header as previewed: members of JSON Lines that come up later are added to it. */
struct rows *rows_open(struct lines *l, const struct dialect *d, struct header *header, struct arena *input,
		       struct diag *diag);
/* 1, 0 at the end, -1 on damage of the stream (recorded). Cells and text are copies in record. */
int rows_next(struct rows *r, struct arena *record, struct row *out);
/* Accepts NULL. */
void rows_close(struct rows *r);

#endif
