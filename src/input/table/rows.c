/* SPDX-License-Identifier: MIT */
/* Rows of cells from lines. A quoted cell may run over many lines; one that never ends costs its first line alone. */

#include "input/table/rows.h"

#include <string.h>

#include "base/buf.h"
#include "input/json.h"

const struct dialect dialects[] = {
	{ .name = "jsonl", .json = true },
	{ .name = "tsv", .separator = '\t', .backslashes = true },
	{ .name = "csv", .separator = ',', .quotes = true },
	{ .name = "csv", .separator = ';', .quotes = true },
	{ .name = "psql", .separator = '|' },
};
const size_t dialect_count = sizeof dialects / sizeof dialects[0];

/* Rows of another length than the header's, after which a text is taken for no table. */
#define PREVIEW_ROWS 20

/* A line that was read to find the end of a quote that has none: read again as a row of its own. */
struct held {
	size_t at;	/* in held_text */
	size_t n;
	uint64_t number, byte_offset;
	bool cut, unended;
};

struct rows {
	struct lines *lines;
	const struct dialect *dialect;
	struct header *header;
	struct arena *arena;
	struct diag *diag;
	uint64_t number;	/* of the last row */
	bool header_read;
	struct buf joined;	/* the row at hand, when it has more than one line */
	struct arena *held_arena;
	struct buf held_text;
	struct held *held;
	size_t held_count, held_capacity, held_taken;
};

/* ---- cells of a text ---- */

/* Whether the text, which begins inside a quote or not, ends inside one. */
static bool ends_quoted(struct sv text, char separator, bool quoted)
{
	bool at_start = !quoted;

	if (!quoted && (text.n == 0 || memchr(text.p, '"', text.n) == NULL))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (quoted) {
			if (c == '"' && i + 1 < text.n && text.p[i + 1] == '"')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"' && at_start) {
			quoted = true;
		}
		at_start = !quoted && c == separator;
	}
	return quoted;
}

/* Takes the cell that begins with a quote; what stands between the closing quote and the separator is kept. */
static struct sv cut_quoted(struct sv *rest, char separator, struct arena *a)
{
	char *text = arena_alloc(a, rest->n + 1);
	size_t n = 0, i = 1;
	bool quoted = true;

	for (; i < rest->n; i++) {
		char c = rest->p[i];

		if (!quoted && c == separator)
			break;
		if (quoted && c == '"') {
			if (i + 1 < rest->n && rest->p[i + 1] == '"')
				i++;
			else {
				quoted = false;
				continue;
			}
		}
		text[n++] = c;
	}
	*rest = i < rest->n ? sv_sub(*rest, i + 1, rest->n) : SV_ABSENT;
	return (struct sv){ text, n };
}

static char unescaped(char c)
{
	switch (c) {
	case 't': return '\t';
	case 'n': return '\n';
	case 'r': return '\r';
	case '0': return '\0';
	case 'b': return '\b';
	case 'Z': return '\x1a';
	default: return c;
	}
}

static struct sv unescape(struct sv cell, struct arena *a)
{
	char *text;
	size_t n = 0;

	if (cell.n == 0 || memchr(cell.p, '\\', cell.n) == NULL)
		return cell;
	text = arena_alloc(a, cell.n + 1);
	for (size_t i = 0; i < cell.n; i++) {
		if (cell.p[i] == '\\' && i + 1 < cell.n)
			text[n++] = unescaped(cell.p[++i]);
		else
			text[n++] = cell.p[i];
	}
	return (struct sv){ text, n };
}

static bool is_null(struct sv cell)
{
	return sv_eq(cell, SV("NULL")) || sv_eq(cell, SV("\\N"));
}

/* The next cell of *rest, as sv_cut. */
static struct sv cut_cell(struct sv *rest, const struct dialect *d, struct arena *a)
{
	struct sv cell;

	if (d->quotes && rest->n > 0 && rest->p[0] == '"')
		return cut_quoted(rest, d->separator, a);
	cell = sv_cut(rest, d->separator);
	if (is_null(cell))
		return SV_ABSENT;
	return d->backslashes ? unescape(cell, a) : cell;
}

/* False when there are more than COLUMNS_MAX. */
static bool split(struct sv text, const struct dialect *d, struct arena *a, struct header *out)
{
	struct sv rest = text;

	*out = (struct header){ NULL, 0, 0 };
	while (!sv_is_absent(rest)) {
		if (out->count == COLUMNS_MAX)
			return false;
		*ARENA_PUSH(a, out->names, out->count, out->capacity) = cut_cell(&rest, d, a);
	}
	return true;
}

/* ---- JSON Lines ---- */

/* A line of an array of objects, as sqlite3 and jq write it, without what belongs to the array. */
static struct sv without_array(struct sv line)
{
	line = sv_trim(line);
	if (sv_starts_with(line, SV("[")))
		line = sv_trim(sv_sub(line, 1, line.n));
	if (sv_ends_with(line, SV("]")))
		line = sv_trim(sv_sub(line, 0, line.n - 1));
	if (sv_ends_with(line, SV(",")))
		line = sv_trim(sv_sub(line, 0, line.n - 1));
	return line;
}

/* Members mostly come in the same order: the one after the last found is tried first. */
static bool column_of(const struct header *h, struct sv name, size_t expected, size_t *out)
{
	if (expected < h->count && sv_eq(h->names[expected], name)) {
		*out = expected;
		return true;
	}
	for (size_t i = 0; i < h->count; i++) {
		if (sv_eq(h->names[i], name)) {
			*out = i;
			return true;
		}
	}
	return false;
}

static bool add_columns(const struct json_record *record, struct header *h, struct arena *a)
{
	size_t column = SIZE_MAX;

	for (size_t i = 0; i < record->count; i++) {
		if (column_of(h, record->members[i].name, column + 1, &column))
			continue;
		if (h->count == COLUMNS_MAX)
			return false;
		column = h->count;
		*ARENA_PUSH(a, h->names, h->count, h->capacity) = arena_copy(a, record->members[i].name);
	}
	return true;
}

static void place_members(const struct json_record *record, const struct header *h, struct sv *cells)
{
	size_t column = SIZE_MAX;

	for (size_t i = 0; i < record->count; i++)
		if (column_of(h, record->members[i].name, column + 1, &column) && sv_is_absent(cells[column]))
			cells[column] = record->members[i].value;
}

/* ---- what the first bytes show ---- */

static bool preview_json(struct sv head, struct arena *a, struct header *out, size_t *whole)
{
	struct sv rest = head;

	while (!sv_is_absent(rest)) {
		struct sv line = without_array(sv_cut(&rest, '\n'));
		struct json_record record;
		const char *why;

		if (line.n == 0)
			continue;
		if (!json_read(line, a, &record, &why))
			break;
		if (!add_columns(&record, out, a))
			return false;
		++*whole;
	}
	return *whole > 0;
}

/* Where the row that begins at *rest ends; *rest becomes what follows. False when its end is not there. */
static bool cut_row(struct sv *rest, const struct dialect *d, struct sv *row)
{
	struct sv all = *rest, line;
	bool quoted = false;

	do {
		if (sv_is_absent(*rest))
			return false;
		line = sv_cut(rest, '\n');
		quoted = d->quotes && ends_quoted(line, d->separator, quoted);
	} while (quoted);
	*row = sv_sub(all, 0, (size_t)(line.p - all.p) + line.n);
	if (sv_ends_with(*row, SV("\r")))
		row->n--;
	return true;
}

/*
 * Text with commas is no table: of the rows behind its first line none has as
 * many cells. One damaged row alone does not make a table into text.
 */
static bool preview_delimited(struct sv head, const struct dialect *d, struct arena *a, struct header *out,
			      size_t *whole)
{
	struct sv rest = head, row;
	size_t others = 0;

	while (others < PREVIEW_ROWS && !sv_is_absent(rest) && cut_row(&rest, d, &row)) {
		struct header cells;

		if (sv_trim(row).n == 0)
			continue;
		if (!split(row, d, a, &cells))
			return false;
		if (*whole == 0)
			*out = cells;
		if (cells.count == out->count)
			++*whole;
		else
			others++;
		if (*whole == 2)
			return true;
	}
	return *whole > 0 && others == 0;
}

bool rows_preview(struct sv head, const struct dialect *d, struct arena *a, struct header *out, size_t *whole)
{
	*out = (struct header){ NULL, 0, 0 };
	*whole = 0;
	if (d->json)
		return preview_json(head, a, out, whole);
	if (!preview_delimited(head, d, a, out, whole))
		return false;
	for (size_t i = 0; i < out->count; i++)
		out->names[i] = sv_trim(out->names[i]);
	return true;
}

/* ---- rows in order ---- */

struct rows *rows_open(struct lines *l, const struct dialect *d, struct header *header, struct arena *input,
		       struct diag *diag)
{
	struct rows *r = arena_alloc(input, sizeof *r);

	r->lines = l;
	r->dialect = d;
	r->header = header;
	r->arena = input;
	r->diag = diag;
	r->header_read = d->json;
	buf_init(&r->joined);
	buf_init(&r->held_text);
	r->held_arena = arena_new();
	return r;
}

void rows_close(struct rows *r)
{
	if (r == NULL)
		return;
	buf_fini(&r->joined);
	buf_fini(&r->held_text);
	arena_free(r->held_arena);
}

static int next_line(struct rows *r, struct line *out)
{
	const struct held *h;

	if (r->held_taken == r->held_count) {
		arena_reset(r->held_arena);
		buf_clear(&r->held_text);
		r->held = NULL;
		r->held_count = r->held_capacity = r->held_taken = 0;
		return lines_next(r->lines, out);
	}
	h = &r->held[r->held_taken++];
	*out = (struct line){ .text = { r->held_text.p + h->at, h->n },
			      .number = h->number,
			      .byte_offset = h->byte_offset,
			      .cut = h->cut,
			      .unended = h->unended };
	return 1;
}

/* Keeps what next_line gave, to be given again before anything else. */
static void hold(struct rows *r, const struct line *line)
{
	struct held *h = ARENA_PUSH(r->held_arena, r->held, r->held_count, r->held_capacity);

	*h = (struct held){ r->held_text.n, line->text.n, line->number, line->byte_offset, line->cut, line->unended };
	buf_add(&r->held_text, line->text);
}

/* Forgets the held lines that have been taken, so that they do not pile up over many quotes without end. */
static void forget_taken(struct rows *r)
{
	size_t left = r->held_count - r->held_taken;
	size_t base = left > 0 ? r->held[r->held_taken].at : 0;

	if (left == 0 || r->held_taken == 0)
		return;
	memmove(r->held, r->held + r->held_taken, left * sizeof *r->held);
	memmove(r->held_text.p, r->held_text.p + base, r->held_text.n - base);
	r->held_text.n -= base;
	for (size_t i = 0; i < left; i++)
		r->held[i].at -= base;
	r->held_count = left;
	r->held_taken = 0;
}

/* One more line of a quoted cell: from those held, or read and held. */
static int next_quoted_line(struct rows *r, struct line *out)
{
	int rc;

	if (r->held_taken < r->held_count)
		return next_line(r, out);
	rc = lines_next(r->lines, out);
	if (rc == 1) {
		hold(r, out);
		r->held_taken++;
	}
	return rc;
}

/*
 * The row that begins with first, as one text in record. False when its quote
 * never ends: the lines that were read for it will be rows of their own. A
 * quote that opens and has no partner within ROW_BYTES_MAX is rare enough for
 * this to stay linear: any second quote would have been its partner.
 */
static bool join_quoted(struct rows *r, struct sv first, struct arena *record, struct sv *text, bool *unended)
{
	struct line line;
	bool quoted = true, cut = false;
	size_t held_taken = r->held_taken;

	buf_clear(&r->joined);
	buf_add(&r->joined, first);
	while (quoted && !cut && r->joined.n <= ROW_BYTES_MAX && next_quoted_line(r, &line) == 1) {
		quoted = ends_quoted(line.text, r->dialect->separator, true);
		cut = line.cut;
		*unended = line.unended;
		buf_add_char(&r->joined, '\n');
		buf_add(&r->joined, line.text);
	}
	if (quoted || cut) {
		r->held_taken = held_taken;
		forget_taken(r);
		return false;
	}
	*text = arena_copy(record, buf_sv(&r->joined));
	return true;
}

static int damaged(struct rows *r, struct row *out, const char *code, const char *why)
{
	diag_add(r->diag, SEVERITY_WARNING, code, &out->place, "row left out: %s", why);
	out->damaged = true;
	return 1;
}

static int read_json(struct rows *r, struct arena *record, struct row *out)
{
	struct json_record object;
	const char *why;

	if (!json_read(without_array(out->text), record, &object, &why))
		return damaged(r, out, "table.json", why);
	if (!add_columns(&object, r->header, r->arena))
		return damaged(r, out, "table.columns", "too many different members");
	out->cells = arena_array(record, r->header->count, sizeof *out->cells);
	out->count = r->header->count;
	place_members(&object, r->header, out->cells);
	return 1;
}

static int read_delimited(struct rows *r, struct arena *record, struct row *out)
{
	struct header cells;

	if (!split(out->text, r->dialect, record, &cells))
		return damaged(r, out, "table.columns", "too many columns");
	if (cells.count != r->header->count) {
		diag_add(r->diag, SEVERITY_WARNING, "table.columns", &out->place,
			 "row left out: it has %zu cells, the header has %zu", cells.count, r->header->count);
		out->damaged = true;
		return 1;
	}
	out->cells = cells.names;
	out->count = cells.count;
	return 1;
}

/* "(3 rows)", which psql writes below an unaligned table. */
static bool is_footer(struct sv text, const struct dialect *d)
{
	return d->separator == '|' && sv_starts_with(text, SV("(")) &&
	       (sv_ends_with(text, SV(" rows)")) || sv_ends_with(text, SV(" row)")));
}

static bool is_nothing(struct sv text, const struct dialect *d)
{
	return (d->json ? without_array(text) : sv_trim(text)).n == 0 || is_footer(text, d);
}

/* The text of the next row that is not blank, and its place. A row of blanks counts, as in a spreadsheet. */
static int next_text(struct rows *r, struct arena *record, struct row *out)
{
	struct line line;
	int rc;

	while ((rc = next_line(r, &line)) == 1) {
		*out = (struct row){ .place = { .unit = PLACE_ROW, .number = ++r->number,
						.byte_offset = line.byte_offset },
				      .line = line.number };
		if (is_nothing(line.text, r->dialect))
			continue;
		/* A copy, since the joining reads on. */
		out->text = arena_copy(record, line.text);
		if (line.cut)
			return damaged(r, out, "table.cut", "it is too long, or the input breaks off in it");
		bool unended = line.unended;
		if (r->dialect->quotes && ends_quoted(out->text, r->dialect->separator, false) &&
		    !join_quoted(r, out->text, record, &out->text, &unended))
			return damaged(r, out, "table.quote", "a quote in it is never closed");
		/* A quote or a bracket closes the last cell; what else does is the end of the line. */
		out->open = unended && !r->dialect->json && !(r->dialect->quotes && sv_ends_with(out->text, SV("\"")));
		return 1;
	}
	return rc;
}

int rows_next(struct rows *r, struct arena *record, struct row *out)
{
	int rc = next_text(r, record, out);

	if (rc == 1 && !r->header_read) {
		r->header_read = true;
		rc = next_text(r, record, out);
	}
	if (rc != 1 || out->damaged)
		return rc;
	return r->dialect->json ? read_json(r, record, out) : read_delimited(r, record, out);
}
