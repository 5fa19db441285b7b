/* SPDX-License-Identifier: MIT */
/*
 * Form: exports of log stores as CSV or TSV: Kibana, Splunk, CloudWatch Logs
 * Insights, Datadog, Grafana (input-formats.md 4.1). A row with a text and a
 * time is an entry, its columns known by their names alone; the text is
 * unwrapped as any line is. The place of an entry is the line in which its row
 * begins: a quoted text may have many.
 */

#include <string.h>

#include "base/arena.h"
#include "input/log/form.h"
#include "input/stream.h"
#include "input/table/rows.h"

/* What the columns are to the log; PARTS: nothing, but such a column is a log's. */
enum part { PART_TEXT, PART_TIME, PART_HOST, PART_WRITER, PART_ID, PARTS };

/*
 * Names of columns, in any case of letters; of several in a header the first of this table is taken. A text and a time by
 * names that any table may use are those of a log if something else in the header is.
 */
static const struct column_name {
	const char *name;
	enum part part;
	bool is_common;
} column_names[] = {
	{ "_raw", PART_TEXT, false },
	{ "@message", PART_TEXT, false },
	{ "textPayload", PART_TEXT, false },
	{ "jsonPayload.message", PART_TEXT, false },
	{ "event.original", PART_TEXT, false },
	{ "message", PART_TEXT, true },
	{ "line", PART_TEXT, true },
	{ "log", PART_TEXT, true },
	{ "content", PART_TEXT, true },
	{ "_time", PART_TIME, false },
	{ "@timestamp", PART_TIME, false },
	{ "tsNs", PART_TIME, false },
	{ "timestamp", PART_TIME, true },
	{ "time", PART_TIME, true },
	{ "date", PART_TIME, true },
	{ "kubernetes.pod.name", PART_HOST, false },
	{ "kubernetes.pod_name", PART_HOST, false },
	{ "resource.labels.pod_name", PART_HOST, false },
	{ "host.name", PART_HOST, false },
	{ "host.hostname", PART_HOST, false },
	{ "hostname", PART_HOST, false },
	{ "host", PART_HOST, false },
	{ "pod", PART_HOST, false },
	{ "@logStream", PART_WRITER, false },
	{ "logStreamName", PART_WRITER, false },
	{ "kubernetes.container.name", PART_WRITER, false },
	{ "resource.labels.container_name", PART_WRITER, false },
	{ "source", PART_WRITER, false },
	{ "service", PART_WRITER, false },
	{ "labels", PART_WRITER, false },
	{ "insertId", PART_ID, false },
	{ "eventId", PART_ID, false },
	{ "@ptr", PART_ID, false },
	{ "_id", PART_ID, false },
	{ "level", PARTS, false },
	{ "log.level", PARTS, false },
	{ "severity", PARTS, false },
	{ "logger", PARTS, false },
	{ "stream", PARTS, false },
	{ "container", PARTS, false },
};

/* The dialects that logs are exported in: their columns are said by a header of text. */
static bool may_hold_logs(const struct dialect *d)
{
	return !d->json && d->separator != '|';
}

static int column_of(const struct header *h, const char *name)
{
	for (size_t c = 0; c < h->count; c++)
		if (sv_eq_nocase(h->names[c], sv_of(name)))
			return (int)c;
	return -1;
}

/* For each part the column, or -1. False when it is no log's: a row would have no text or no time. */
static bool find_parts(const struct header *h, int parts[PARTS])
{
	bool is_log = false;

	for (int p = 0; p < PARTS; p++)
		parts[p] = -1;
	for (size_t i = 0; i < sizeof column_names / sizeof column_names[0]; i++) {
		const struct column_name *n = &column_names[i];
		int column = column_of(h, n->name);

		if (column < 0)
			continue;
		is_log = is_log || !n->is_common;
		if (n->part < PARTS && parts[n->part] < 0)
			parts[n->part] = column;
	}
	/* Nothing but a time and a text. */
	is_log = is_log || h->count == 2;
	return is_log && parts[PART_TEXT] >= 0 && parts[PART_TIME] >= 0;
}

/* A column named "time" may be anything; that of a log has times. */
static bool has_times(struct sv head, const struct dialect *d, const struct header *header, int time_column)
{
	struct arena *a = arena_new();
	struct diag *diag = diag_new(a);
	struct header known = *header;
	struct lines *lines = lines_new(stream_of(a, head), diag);
	struct rows *rows = rows_open(lines, d, &known, a, diag);
	struct row row;
	struct tstamp t;
	bool found = false;

	while (!found && rows_next(rows, a, &row) == 1)
		found = !row.damaged && !sv_is_absent(row.cells[time_column]) &&
			tstamp_guess_parts(sv_trim(row.cells[time_column]), &t);
	rows_close(rows);
	lines_free(lines);
	arena_free(a);
	return found;
}

static const struct dialect *dialect_of(struct sv head, struct arena *a, struct header *header, int parts[PARTS])
{
	for (size_t i = 0; i < dialect_count; i++) {
		size_t whole;

		if (may_hold_logs(&dialects[i]) && rows_preview(head, &dialects[i], a, header, &whole) && header->count > 1 &&
		    find_parts(header, parts) && has_times(head, &dialects[i], header, parts[PART_TIME]))
			return &dialects[i];
	}
	return NULL;
}

static bool csv_sniff(struct sv head, const struct rules *r)
{
	struct arena *a = arena_new();
	struct header header;
	int parts[PARTS];
	bool fits = dialect_of(head, a, &header, parts) != NULL;

	(void)r;
	arena_free(a);
	return fits;
}

/* ---- reading ---- */

struct csv_reader {
	struct arena *arena, *record;
	struct lines *lines;
	struct rows *rows;
	struct header header;
	int parts[PARTS];
};

static void *csv_open(struct stream *s, const struct rules *r, struct diag *d)
{
	struct arena *a = arena_new();
	struct csv_reader *reader = arena_alloc(a, sizeof *reader);
	const struct dialect *dialect = dialect_of(lines_preview(a, stream_head(s)), a, &reader->header, reader->parts);

	(void)r;
	reader->arena = a;
	reader->record = arena_new();
	reader->lines = lines_new(s, d);
	if (dialect != NULL)
		reader->rows = rows_open(reader->lines, dialect, &reader->header, a, d);
	return reader;
}

static void csv_close(void *context)
{
	struct csv_reader *r = context;

	rows_close(r->rows);
	lines_free(r->lines);
	arena_free(r->record);
	arena_free(r->arena);
}

static struct sv part_of(const struct csv_reader *r, const struct row *row, enum part p)
{
	struct sv cell = r->parts[p] >= 0 ? row->cells[r->parts[p]] : SV_ABSENT;

	return cell.n > 0 ? cell : SV_ABSENT;
}

/* Datadog writes the values of columns that one chose as JSON: quotes inside of quotes. */
static struct sv unquoted(struct sv cell)
{
	return cell.n > 2 && cell.p[0] == '"' && cell.p[cell.n - 1] == '"' ? sv_sub(cell, 1, cell.n - 2) : cell;
}

static void take_row(const struct csv_reader *r, const struct row *row, struct log_piece *out)
{
	struct wrap_layer *layer = &out->layer;
	struct sv time = sv_trim(part_of(r, row, PART_TIME));

	*out = (struct log_piece){
		.line = { .text = part_of(r, row, PART_TEXT), .number = row->line, .byte_offset = row->place.byte_offset },
		.written = row->text,
		.is_peeled = true,
	};
	layer->name = "csv";
	layer->text = out->line.text;
	layer->has_time = !sv_is_absent(time) && tstamp_guess_parts(time, &layer->time);
	layer->host = unquoted(part_of(r, row, PART_HOST));
	layer->writer = part_of(r, row, PART_WRITER);
	layer->id = part_of(r, row, PART_ID);
}

static int csv_next(void *context, struct log_piece *out)
{
	struct csv_reader *r = context;
	struct row row;
	int rc;

	if (r->rows == NULL)
		return 0;
	for (;;) {
		arena_reset(r->record);
		rc = rows_next(r->rows, r->record, &row);
		if (rc != 1)
			return rc;
		if (row.damaged)
			continue;
		take_row(r, &row, out);
		if (!sv_is_absent(out->line.text))
			return 1;
	}
}

const struct log_form log_form_csv = { "csv", csv_sniff, csv_open, csv_next, csv_close };
