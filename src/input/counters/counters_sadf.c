/* SPDX-License-Identifier: MIT */
/*
 * sadf of sysstat: -j (JSON), -d (columns separated by semicolons below a
 * heading) and -p (one figure a line). Their times are UTC, or seconds since
 * 1970 (-U), or the viewer's (-T), and say so (input-formats.md 1.7).
 */

#include "input/counters/documents.h"
#include "input/counters/sar.h"
#include "input/json_pull.h"

/* "2026-11-30 11:28:47 UTC", "1796038127", "2026-11-30 11:28:47" */
static bool read_end(struct ingest *in, struct sv text, struct host_time *end)
{
	bool zoned;

	if (!tstamp_guess(text, in->zone, end, &zoned))
		return false;
	ingest_zone(in, zoned);
	return true;
}

/* The row's interval ends at its time. Restarts have none. */
static bool set_interval(struct ingest *in, struct sar_row *row, struct sv interval, struct sv end)
{
	int64_t seconds;

	if (!sv_to_i64(interval, &seconds) || seconds <= 0 || seconds > 86400 * 366 || !read_end(in, end, &row->end))
		return false;
	row->start.us = row->end.us - seconds * US_PER_S;
	return true;
}

/* ---- -d and -p ---- */

#define COLUMNS_MAX 128

struct reader {
	struct sar sar;
	struct arena *texts;
	struct sv names[COLUMNS_MAX];
	size_t name_count;
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
	for (r->name_count = 0; !sv_is_absent(rest) && r->name_count < COLUMNS_MAX; r->name_count++)
		r->names[r->name_count] = sv_cut(&rest, ';');
}

static bool is_device_column(struct sv name)
{
	return sv_eq(name, SV("IFACE")) || sv_eq(name, SV("CPU"));
}

/* A row below the heading; several devices may stand in one row, each behind its name. */
static int take_columns(struct reader *r, const struct line *line, struct sv text)
{
	struct sar_row row = { .host = sv_cut(&text, ';'), .place = counter_place(line) };
	int rc = 0;

	if (sv_is_absent(text))
		return 0;
	struct sv interval = sv_cut(&text, ';'), end = sv_is_absent(text) ? SV_ABSENT : sv_cut(&text, ';');
	r->sar.in->info->records++;
	if (!set_interval(r->sar.in, &row, interval, end))
		return 0;
	for (size_t i = 0; i < r->name_count && !sv_is_absent(text) && rc == 0; i++) {
		struct sv value = sv_cut(&text, ';');

		if (is_device_column(r->names[i]))
			row.device = value;
		else
			rc = sar_value(&r->sar, &row, r->names[i], value);
	}
	return rc;
}

static int take_figure(struct reader *r, const struct line *line, const struct sv fields[6])
{
	struct sar_row row = { .host = fields[0], .place = counter_place(line) };

	r->sar.in->info->records++;
	if (!set_interval(r->sar.in, &row, fields[1], fields[2]))
		return 0;
	row.device = sv_eq(fields[3], SV("-")) ? SV_ABSENT : fields[3];
	return sar_value(&r->sar, &row, fields[4], fields[5]);
}

static int take_text(struct reader *r, const struct line *line)
{
	struct sv text = sv_trim(line->text), fields[6];

	if (text.n == 0)
		return 0;
	if (is_heading(text)) {
		take_heading(r, text);
		return 0;
	}
	if (read_figure(text, fields))
		return take_figure(r, line, fields);
	if (r->name_count > 0)
		return take_columns(r, line, text);
	r->sar.in->info->unrecognized++;
	return 0;
}

int sadf_text_read(struct counters *c, struct ingest *in)
{
	struct reader r = { .sar = { .of = c, .in = in }, .texts = arena_new() };
	struct lines *lines = lines_new(in->stream, in->diag);
	struct line line;
	int rc = 0;

	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_text(&r, &line);
	lines_free(lines);
	arena_free(r.texts);
	return rc;
}

/* ---- -j ---- */

bool sadf_json_sniff(struct sv head)
{
	size_t at;

	head = sv_trim(head);
	return head.n > 0 && head.p[0] == '{' && sv_find(sv_sub(head, 0, 64), SV("\"sysstat\""), &at);
}

#define FIGURES_MAX 64

/* One object of figures, and the times that stand before it. */
struct document {
	struct sar sar;
	struct json_pull *json;
	struct arena *object; /* texts of the object at hand */
	char host[64];
	size_t host_bytes;
	bool in_timestamp;
	bool timed;
	struct host_time start, end;
	struct sv names[FIGURES_MAX], values[FIGURES_MAX];
	size_t count;
	struct place place;
	int rc;
};

static struct sv figure(const struct document *d, struct sv name)
{
	for (size_t i = 0; i < d->count; i++)
		if (sv_eq(d->names[i], name))
			return d->values[i];
	return SV_ABSENT;
}

/* {"date": "2026-11-30", "time": "11:28:55", "utc": 1, "interval": 1} */
static void end_timestamp(struct document *d)
{
	bool utc = sv_eq(figure(d, SV("utc")), SV("1")) || sv_eq(figure(d, SV("tz")), SV("UTC"));
	struct sv text = arena_printf(d->object, "%.*s %.*s%s", SV_ARG(figure(d, SV("date"))), SV_ARG(figure(d, SV("time"))),
				      utc ? " UTC" : "");
	struct sar_row row = { .host = SV_ABSENT };

	d->timed = set_interval(d->sar.in, &row, figure(d, SV("interval")), text);
	d->start = row.start;
	d->end = row.end;
	d->sar.in->info->records++;
}

static void end_figures(struct document *d)
{
	struct sar_row row = { .host = { d->host, d->host_bytes }, .start = d->start, .end = d->end, .place = d->place };

	if (!d->timed || d->count == 0)
		return;
	row.device = figure(d, SV("iface"));
	if (sv_is_absent(row.device))
		row.device = figure(d, SV("cpu"));
	for (size_t i = 0; i < d->count && d->rc == 0; i++)
		d->rc = sar_value(&d->sar, &row, d->names[i], d->values[i]);
}

static void take_host(struct document *d, struct sv name)
{
	d->host_bytes = name.n < sizeof d->host ? name.n : sizeof d->host;
	for (size_t i = 0; i < d->host_bytes; i++)
		d->host[i] = name.p[i];
}

/* Objects that hold figures hold no others; what an outer one held before an inner one is settled by then. */
static void begin_object(struct document *d, struct sv key)
{
	d->in_timestamp = sv_eq(key, SV("timestamp"));
	d->count = 0;
	d->place = json_pull_place(d->json);
	arena_reset(d->object);
}

static void end_object(struct document *d)
{
	if (d->in_timestamp)
		end_timestamp(d);
	else
		end_figures(d);
	d->in_timestamp = false;
	d->count = 0;
}

static void take_value(struct document *d, struct sv key, struct sv value)
{
	if (sv_eq(key, SV("nodename")))
		take_host(d, value);
	if (d->count == FIGURES_MAX)
		return;
	d->names[d->count] = arena_copy(d->object, key);
	d->values[d->count++] = arena_copy(d->object, value);
}

int sadf_json_read(struct counters *c, struct ingest *in)
{
	struct document d = { .sar = { .of = c, .in = in }, .object = arena_new(), .json = json_pull_stream(in->input, in->stream) };
	char kept[64];
	struct sv key = SV("");
	enum json_token t;

	while (d.rc == 0 && (t = json_pull_next(d.json)) != JSON_END && t != JSON_DAMAGED) {
		struct sv text = json_pull_text(d.json);

		if (t == JSON_KEY) {
			size_t n = text.n < sizeof kept ? text.n : sizeof kept;
			for (size_t i = 0; i < n; i++)
				kept[i] = text.p[i];
			key = (struct sv){ kept, n };
		} else if (t == JSON_OBJECT) {
			begin_object(&d, key);
		} else if (t == JSON_OBJECT_END) {
			end_object(&d);
		} else if (t == JSON_STRING || t == JSON_NUMBER) {
			take_value(&d, key, text);
		}
	}
	if (d.rc == 0 && t == JSON_DAMAGED) {
		struct place place = json_pull_place(d.json);

		diag_add(in->diag, SEVERITY_WARNING, "counters.damaged", &place, "the JSON ends in the middle, or is none from here on");
	}
	arena_free(d.object);
	return d.rc;
}
