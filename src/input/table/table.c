/* SPDX-License-Identifier: MIT */
/*
 * Tables of side effects and books to events. Which column is which field is
 * said by the rules. Keys are text, whatever they look like: trimmed, with
 * their leading zeros (input-formats.md 3.4). A row without a readable time
 * or without what its event requires is left out and counted.
 */

#include "input/table/table.h"

#include <string.h>

#include "base/buf.h"
#include "input/table/rows.h"

/* Of a row, kept as evidence. */
#define ROW_TEXT_BYTES 4096
/* A header of so many columns is a table's, whatever they are called. */
#define HEADER_COLUMNS_LEAST 3
#define COLUMN_NAME_BYTES_MAX 64

/* What a table of these events covers. */
static const struct coverage_kind {
	enum event_type event;
	const char *name;
} coverage_kinds[] = {
	{ EVENT_EFFECT, "effects" },
	{ EVENT_BOOK_ENTRY, "books" },
};

struct table_reader {
	struct ingest *in;
	struct rows *rows;
	struct header header;
	size_t mapped_columns;	/* of the header, when map was looked up */
	const struct table_map *map;
	struct host_time first, last;
	uint64_t events;
};

/* ---- which table it is ---- */

static bool has_name(const struct header *h, struct sv name)
{
	for (size_t i = 0; i < h->count; i++)
		if (sv_eq(h->names[i], name))
			return true;
	return false;
}

/* A log in JSON may carry an order's number on each line; it is a log all the same. */
static bool is_json_log(const struct header *h)
{
	return (has_name(h, SV("level")) || has_name(h, SV("log.level")) || has_name(h, SV("severity"))) &&
	       (has_name(h, SV("message")) || has_name(h, SV("msg")));
}

/* The dialect under which a mapping fits the header. */
static const struct dialect *find_dialect(struct sv head, const struct rules *rules, struct arena *a,
					  struct header *header)
{
	size_t whole;

	for (size_t i = 0; i < dialect_count; i++)
		if (rows_preview(head, &dialects[i], a, header, &whole) && header->count > 1 &&
		    !(dialects[i].json && is_json_log(header)) &&
		    rules_table(rules, header->names, header->count, a) != NULL)
			return &dialects[i];
	return NULL;
}

static enum sniffed table_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	struct arena *a;
	struct header header;
	bool mine;

	(void)base_name;
	(void)why;
	if (rules == NULL || head.n == 0)
		return SNIFF_NOT_MINE;
	a = arena_new();
	mine = find_dialect(head, rules, a, &header) != NULL;
	arena_free(a);
	return mine ? SNIFF_MINE : SNIFF_NOT_MINE;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
	       strchr("_-. @#/()", c) != NULL;
}

static bool is_column_name(struct sv name)
{
	if (name.n == 0 || name.n > COLUMN_NAME_BYTES_MAX || (name.p[0] >= '0' && name.p[0] <= '9') || name.p[0] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '\0' || !is_name_char(name.p[i]))
			return false;
	return true;
}

static bool looks_like_header(const struct header *h)
{
	if (h->count < HEADER_COLUMNS_LEAST)
		return false;
	for (size_t i = 0; i < h->count; i++)
		if (!is_column_name(h->names[i]))
			return false;
	return true;
}

static struct sv list_columns(const struct header *h, struct arena *a)
{
	struct buf text;
	struct sv list;

	buf_init(&text);
	for (size_t i = 0; i < h->count && text.n < 200; i++) {
		if (i > 0)
			buf_add(&text, SV(", "));
		buf_add(&text, h->names[i]);
	}
	list = arena_copy(a, buf_sv(&text));
	buf_fini(&text);
	return list;
}

static struct sv why_unmapped(const struct header *h, const struct dialect *d, const struct rules *rules,
			      struct arena *a)
{
	struct sv nearest = rules != NULL ? rules_table_nearest(rules, h->names, h->count, a) : SV_ABSENT;

	return arena_printf(a, "no table mapping fits its columns (%s): %.*s%s%.*s", d->name,
			    SV_ARG(list_columns(h, a)), sv_is_absent(nearest) ? "" : "; ", SV_ARG(nearest));
}

bool table_unmapped(struct sv head, const struct rules *rules, struct arena *a, struct sv *why)
{
	for (size_t i = 0; i < dialect_count; i++) {
		struct header header;
		size_t whole;

		if (rows_preview(head, &dialects[i], a, &header, &whole) && whole > 1 && looks_like_header(&header)) {
			*why = why_unmapped(&header, &dialects[i], rules, a);
			return true;
		}
	}
	return false;
}

/* ---- cells to fields ---- */

/* An id that a spreadsheet showed as 1.23457E+15: its digits are lost, and two of them may look alike. */
static bool is_lost_key(struct sv key)
{
	size_t at;
	struct sv mantissa, exponent;

	if (!sv_find_char(key, 'E', &at) && !sv_find_char(key, 'e', &at))
		return false;
	mantissa = sv_sub(key, 0, at);
	exponent = sv_sub(key, at + 1, key.n);
	if (mantissa.n < 3 || mantissa.p[1] != '.' || !sv_starts_with(exponent, SV("+")))
		return false;
	for (size_t i = 0; i < key.n; i++)
		if (i != 1 && i != at && i != at + 1 && (key.p[i] < '0' || key.p[i] > '9'))
			return false;
	return true;
}

static void refuse(struct table_reader *t, const struct row *row, enum event_field f, struct sv cell)
{
	diag_add(t->in->diag, SEVERITY_WARNING, "table.value", &row->place, "%s left out: '%.*s' is not %s",
		 field_infos[f].name, SV_ARG(sv_sub(cell, 0, 100)),
		 field_infos[f].is_amount ? "an amount such as -12.50" : "a whole number");
}

static void set_number(struct table_reader *t, const struct row *row, struct event *e, enum event_field f,
		       struct sv cell)
{
	int64_t number;

	if (field_number(f, cell, &number))
		event_set_int(e, f, number);
	else
		refuse(t, row, f, cell);
}

static struct sv cell_of(const struct table_map *map, const struct row *row, enum event_field f)
{
	int column = map->columns[f];
	struct sv cell = SV_ABSENT;

	if (column >= 0 && (size_t)column < row->count)
		cell = sv_trim(row->cells[column]);
	if (cell.n == 0)
		cell = map->constants != NULL ? map->constants[f] : SV_ABSENT;
	return cell.n > 0 ? cell : SV_ABSENT;
}

static void set_fields(struct table_reader *t, const struct row *row, struct event *e)
{
	for (int f = 0; f < FIELD_COUNT; f++) {
		struct sv cell = cell_of(t->map, row, (enum event_field)f);

		if (sv_is_absent(cell))
			continue;
		if (field_infos[f].type == FIELD_INT)
			set_number(t, row, e, (enum event_field)f, cell);
		else if (f == FIELD_STATUS)
			event_set_text(e, FIELD_STATUS, rules_status(t->in->rules, cell));
		else
			event_set_text(e, (enum event_field)f, cell);
	}
}

/* "channel.csv" and "channel.csv.gz" are the books of "channel". */
static struct sv system_of(struct sv base_name)
{
	static const struct sv packed[] = { { ".gz", 3 }, { ".bz2", 4 }, { ".xz", 3 }, { ".zst", 4 }, { ".lz4", 4 } };
	size_t dot;

	for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
		if (sv_ends_with(base_name, packed[i]))
			base_name.n -= packed[i].n;
	if (sv_rfind_char(base_name, '.', &dot) && dot > 0)
		base_name.n = dot;
	return base_name;
}

static bool read_time(struct table_reader *t, const struct row *row, struct host_time *out)
{
	struct sv cell = SV_ABSENT;
	bool zoned;

	if (t->map->time_column >= 0 && (size_t)t->map->time_column < row->count)
		cell = sv_trim(row->cells[t->map->time_column]);
	if (cell.n == 0) {
		diag_add(t->in->diag, SEVERITY_WARNING, "table.time", &row->place, "row left out: it has no time");
		return false;
	}
	if (!tstamp_guess(cell, t->in->zone, out, &zoned)) {
		diag_add(t->in->diag, SEVERITY_WARNING, "table.time", &row->place,
			 "row left out: '%.*s' is no time that can be read", SV_ARG(sv_sub(cell, 0, 100)));
		return false;
	}
	ingest_zone(t->in, zoned);
	return true;
}

/* The clock that wrote the time is the consumer's, for an effect; whose clock writes books is not known. */
static struct sv host_of(const struct ingest *in, const struct event *e)
{
	return in->host_is_option ? in->info->host : event_text(e, FIELD_CONSUMER);
}

static bool make_event(struct table_reader *t, const struct row *row, struct event *e)
{
	enum event_field missing;
	struct host_time time;

	if (!read_time(t, row, &time))
		return false;
	event_init(e, t->map->event);
	e->time = time;
	e->place = row->place;
	e->text = sv_sub(row->text, 0, ROW_TEXT_BYTES);
	set_fields(t, row, e);
	if (e->type == EVENT_BOOK_ENTRY && !event_has(e, FIELD_SYSTEM))
		event_set_text(e, FIELD_SYSTEM, system_of(t->in->base_name));
	if (event_lacks(e, &missing)) {
		diag_add(t->in->diag, SEVERITY_WARNING, "table.incomplete", &row->place, "row left out: it has no %s",
			 field_infos[missing].name);
		return false;
	}
	if (is_lost_key(event_text(e, FIELD_BUSINESS_KEY))) {
		diag_add(t->in->diag, SEVERITY_WARNING, "table.lost_key", &row->place,
			 "row left out: its key '%.*s' has lost its digits (a spreadsheet saved it as a number)",
			 SV_ARG(sv_sub(event_text(e, FIELD_BUSINESS_KEY), 0, 100)));
		return false;
	}
	e->host = host_of(t->in, e);
	return true;
}

/* ---- rows to events ---- */

static bool is_read(const struct table_map *map, size_t column)
{
	bool is = map->time_column >= 0 && (size_t)map->time_column == column;

	for (int f = 0; f < FIELD_COUNT; f++)
		is = is || (map->columns[f] >= 0 && (size_t)map->columns[f] == column);
	return is;
}

/* Some that write CSV end its last row, as RFC 4180 leaves it to them, and some do not: the row is taken. */
static void note_open(const struct table_reader *t, const struct row *row)
{
	const struct sv last = row->count > 0 ? row->cells[row->count - 1] : SV_ABSENT;

	if (row->open && !sv_is_absent(last) && is_read(t->map, row->count - 1))
		diag_add(t->in->diag, SEVERITY_NOTE, "table.unended", &row->place,
			 "the input ends behind '%.*s', without a line feed: taken as whole, though a part of it may be missing",
			 SV_ARG(sv_sub(last, 0, 100)));
}

/* Again whenever the header has grown, which that of JSON Lines may. */
static bool find_map(struct table_reader *t)
{
	if (t->map == NULL || t->mapped_columns != t->header.count) {
		t->map = rules_table(t->in->rules, t->header.names, t->header.count, t->in->input);
		t->mapped_columns = t->header.count;
	}
	return t->map != NULL;
}

static void widen(struct table_reader *t, struct host_time time)
{
	if (t->events == 0 || time.us < t->first.us)
		t->first = time;
	if (t->events == 0 || time.us > t->last.us)
		t->last = time;
	t->events++;
}

/* 0, -1 when the sink failed. */
static int read_row(struct table_reader *t, const struct row *row)
{
	struct event e;

	t->in->info->records++;
	if (row->damaged || !find_map(t) || !make_event(t, row, &e)) {
		t->in->info->skipped++;
		return 0;
	}
	note_open(t, row);
	if (ingest_put(t->in, &e) != 0)
		return -1;
	widen(t, e.time);
	return 0;
}

static int cover(const struct table_reader *t)
{
	for (size_t i = 0; t->events > 0 && i < sizeof coverage_kinds / sizeof coverage_kinds[0]; i++)
		if (coverage_kinds[i].event == t->map->event)
			return ingest_covered(t->in, coverage_kinds[i].name, t->first, t->last, t->events);
	return 0;
}

static int read_rows(struct table_reader *t)
{
	struct row row;

	for (;;) {
		arena_reset(t->in->record);
		/* Damage of the stream ends the rows; it has been recorded. */
		if (rows_next(t->rows, t->in->record, &row) != 1)
			return cover(t);
		if (read_row(t, &row) != 0)
			return -1;
	}
}

static int table_read(struct ingest *in)
{
	struct table_reader t = { .in = in };
	struct sv head = lines_first_text(in->input, in->stream), why;
	const struct dialect *d = in->rules != NULL ? find_dialect(head, in->rules, in->input, &t.header) : NULL;
	struct lines *lines;
	int rc;

	if (d == NULL) {
		diag_add(in->diag, SEVERITY_WARNING, "table.unmapped", NULL, "%.*s",
			 SV_ARG(table_unmapped(head, in->rules, in->input, &why) ? why
										 : SV("no table that a mapping fits")));
		return 0;
	}
	lines = lines_without_zeros(lines_new(in->stream, in->diag));
	t.rows = rows_open(lines, d, &t.header, in->input, in->diag);
	rc = find_map(&t) ? read_rows(&t) : 0;
	in->info->format = sv_of(t.map != NULL ? t.map->name : NULL);
	rows_close(t.rows);
	lines_free(lines);
	return rc;
}

const struct kind table_kind = { "table", table_sniff, table_read };
