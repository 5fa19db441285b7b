/* SPDX-License-Identifier: MIT */
/*
 * sadf of sysstat as text: -d (columns separated by semicolons below a heading;
 * with -h all of one time in one row) and -p (one figure a line). Their times are
 * UTC, or seconds since 1970 (-U), or the viewer's (-T), and say so
 * (input-formats.md 1.7).
 */

#include "input/counters/documents.h"
#include "input/counters/sar.h"

/* "2026-11-30 11:28:47 UTC", "1796038127", "2026-11-30 11:28:47" */
static bool read_end(struct ingest *in, struct sv text, struct host_time *end)
{
	bool zoned;

	if (!tstamp_guess(text, in->zone, end, &zoned))
		return false;
	ingest_zone(in, zoned);
	return true;
}

bool sadf_interval(struct ingest *in, struct sar_row *row, struct sv interval, struct sv end)
{
	int64_t seconds;

	if (!sv_to_i64(interval, &seconds) || seconds <= 0 || seconds > 86400 * 366 || !read_end(in, end, &row->end))
		return false;
	row->start.us = row->end.us - seconds * US_PER_S;
	return true;
}

#define COLUMNS_MAX 1024

struct reader {
	struct sar sar;
	struct arena *texts;
	struct sv names[COLUMNS_MAX];
	bool may_repeat[COLUMNS_MAX]; /* the last column of some that may follow once more, for another device */
	size_t name_count;
	bool is_cut; /* there were more columns */
};

static bool is_heading(struct sv text)
{
	if (sv_starts_with(text, SV("# ")))
		text = sv_sub(text, 2, text.n);
	return sv_starts_with(text, SV("hostname;interval;timestamp;"));
}

/* host TAB interval TAB time TAB device TAB name TAB value */
static bool read_figure(struct sv text, struct sv fields[6])
{
	for (size_t i = 0; i < 6; i++) {
		if (sv_is_absent(text))
			return false;
		fields[i] = sv_cut(&text, '\t');
	}
	int64_t interval;
	return sv_is_absent(text) && sv_to_i64(fields[1], &interval);
}

bool sadf_text_sniff(struct sv head)
{
	struct sv fields[6], first = sv_trim(sv_cut(&head, '\n'));
	struct host_time time;
	bool zoned;

	return is_heading(first) ||
	       (read_figure(first, fields) && tstamp_guess(fields[2], (struct zone){ 0 }, &time, &zoned));
}

static void take_heading(struct reader *r, struct sv text)
{
	arena_reset(r->texts);
	struct sv rest = arena_copy(r->texts, text);
	for (size_t i = 0; i < 3; i++)
		(void)sv_cut(&rest, ';');
	for (r->name_count = 0; !sv_is_absent(rest) && r->name_count < COLUMNS_MAX; r->name_count++) {
		struct sv name = sv_cut(&rest, ';');

		r->may_repeat[r->name_count] = sv_ends_with(name, SV("[...]"));
		r->names[r->name_count] = r->may_repeat[r->name_count] ? sv_sub(name, 0, name.n - 5) : name;
	}
	r->is_cut = !sv_is_absent(rest);
}

/* A row's values one by one, and the columns that they belong to. */
struct walk {
	bool has_begun;
	size_t column, group; /* group: where the columns of the device at hand begin */
	struct sv first;      /* the first device of the group */
};

/*
 * "-h" prints all devices behind each other: IFACE;rxerr/s[...];CPU;total/s[...].
 * What stands behind the last column of a device is another device, or begins
 * what comes next: figures have decimals, CPUs are whole numbers, interfaces
 * neither, and no device comes twice.
 */
static bool is_another(const struct reader *r, const struct walk *w, struct sv value)
{
	int64_t number;

	if (!w->has_begun || !r->may_repeat[w->column] || sv_eq(value, w->first))
		return false;
	if (w->column + 1 == r->name_count)
		return true;
	return sv_eq(r->names[w->group], SV("CPU")) ? sv_to_i64(value, &number) : !counter_decimal(value, 0, &number);
}

/* To the value's column; false when there is none. */
static bool walk_on(const struct reader *r, struct walk *w, struct sv value)
{
	bool another = is_another(r, w, value);
	size_t column = another ? w->group : w->has_begun ? w->column + 1 : 0;

	if (column == r->name_count)
		return false;
	if (sar_is_device(r->names[column]) && !another) {
		w->group = column;
		w->first = value;
	}
	w->has_begun = true;
	w->column = column;
	return true;
}

/* Whether there is a value for each column, and a column for each value. */
static bool fits(const struct reader *r, struct sv values)
{
	struct walk w = { .has_begun = false };

	while (!sv_is_absent(values))
		if (!walk_on(r, &w, sv_cut(&values, ';')))
			return r->is_cut;
	return w.has_begun && w.column + 1 == r->name_count;
}

static int take_values(struct reader *r, struct sar_row *row, struct sv values)
{
	struct walk w = { .has_begun = false };
	int rc = 0;

	while (!sv_is_absent(values) && rc == 0) {
		struct sv value = sv_cut(&values, ';');

		if (!walk_on(r, &w, value))
			break;
		/* Behind the devices stand figures of the host again. */
		if (w.column > 0 && r->may_repeat[w.column - 1])
			row->device = SV_ABSENT;
		if (sar_is_device(r->names[w.column]))
			row->device = value;
		else
			rc = sar_value(&r->sar, row, r->names[w.column], value);
	}
	return rc;
}

static void take_torn(struct reader *r, const struct sar_row *row)
{
	r->sar.in->info->skipped++;
	counters_torn(r->sar.of, &row->place);
}

/* A row below the heading. Restarts and comments have no interval. */
static int take_columns(struct reader *r, const struct line *line, struct sv text)
{
	struct sar_row row = { .host = sv_cut(&text, ';'), .place = counter_place(line) };
	struct sv interval = sv_is_absent(text) ? SV_ABSENT : sv_cut(&text, ';');
	struct sv end = sv_is_absent(text) ? SV_ABSENT : sv_cut(&text, ';');

	r->sar.in->info->records++;
	if (sv_starts_with(interval, SV("-")))
		return 0;
	if (sv_is_absent(text) || !fits(r, text) || !sadf_interval(r->sar.in, &row, interval, end)) {
		take_torn(r, &row);
		return 0;
	}
	return take_values(r, &row, text);
}

static int take_figure(struct reader *r, const struct line *line, const struct sv fields[6])
{
	struct sar_row row = { .host = fields[0], .place = counter_place(line) };

	r->sar.in->info->records++;
	if (!sadf_interval(r->sar.in, &row, fields[1], fields[2]))
		return 0;
	row.device = sv_eq(fields[3], SV("-")) ? SV_ABSENT : fields[3];
	return sar_value(&r->sar, &row, fields[4], fields[5]);
}

static int take_text(struct reader *r, const struct line *line)
{
	struct sv text = sv_trim(line->text), fields[6];

	if (text.n == 0)
		return 0;
	if (line->unended && !sar_ends_whole(text)) {
		counters_unended(r->sar.of, line);
		return 0;
	}
	if (is_heading(text)) {
		take_heading(r, text);
		return 0;
	}
	if (read_figure(text, fields))
		return take_figure(r, line, fields);
	if (r->name_count > 0)
		return take_columns(r, line, text);
	struct place place = counter_place(line);
	counters_unrecognized(r->sar.of, &place);
	return 0;
}

int sadf_text_read(struct counters *c, struct ingest *in)
{
	struct reader r = { .sar = { .of = c, .in = in }, .texts = arena_new() };
	struct lines *lines = lines_without_zeros(lines_new(in->stream, in->diag));
	struct line line;
	int rc = 0;

	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_text(&r, &line);
	lines_free(lines);
	arena_free(r.texts);
	return rc;
}
