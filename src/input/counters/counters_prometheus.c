/* SPDX-License-Identifier: MIT */
/*
 * Exports of Prometheus: query and query_range as JSON (a matrix or a vector),
 * "promtool query" as text, and expositions whose rows carry their times
 * (/federate). One series after the other, each with times of its own
 * (input-formats.md 1.8).
 */

#include "input/counters/documents.h"
#include "input/counters/metrics.h"
#include "input/json_pull.h"

/* ---- JSON ---- */

bool prometheus_sniff(struct sv head)
{
	size_t at;

	head = sv_trim(head);
	return head.n > 0 && head.p[0] == '{' && sv_find(sv_sub(head, 0, 512), SV("\"resultType\""), &at) &&
	       (sv_find(head, SV("\"matrix\""), &at) || sv_find(head, SV("\"vector\""), &at));
}

struct document {
	struct counters *of;
	struct ingest *in;
	struct series_set *set;
	struct arena *names; /* of the metric at hand */
	struct json_pull *json;
	struct series *series; /* NULL: not wanted */
	bool has_metric;
	bool has_result; /* of points in time, in this answer; one that tells of an error has none */
	struct place begin; /* of the answer */
	int rc;
};

/* {"__name__":"node_...","instance":"node-a:9100"} */
static enum json_token take_metric(struct document *d)
{
	struct metric m = { .name = SV_ABSENT };
	enum json_token t = json_pull_next(d->json);
	struct sv name = SV_ABSENT;

	if (t != JSON_OBJECT)
		return t;
	arena_reset(d->names);
	while ((t = json_pull_next(d->json)) != JSON_OBJECT_END && t != JSON_END && t != JSON_DAMAGED) {
		struct sv text = arena_copy(d->names, json_pull_text(d->json));

		if (t == JSON_KEY)
			name = text;
		else if (sv_eq(name, SV("__name__")))
			m.name = text;
		else if (t == JSON_STRING && m.count < LABELS_MAX)
			m.labels[m.count++] = (struct label){ name, text };
		else if (!json_pull_skip(d->json, t))
			return JSON_DAMAGED;
	}
	d->series = series_of(d->set, &m);
	d->has_metric = true;
	return t;
}

/* [1796038269.609,"77"]: the array has begun. */
static enum json_token take_point(struct document *d)
{
	struct place place = json_pull_place(d->json);
	enum json_token t = json_pull_next(d->json);
	struct host_time time;
	bool timed = t == JSON_NUMBER && counter_decimal(json_pull_text(d->json), 6, &time.us);

	if (t == JSON_END || t == JSON_DAMAGED || t == JSON_ARRAY_END)
		return t;
	if (t == JSON_ARRAY || t == JSON_OBJECT)
		return JSON_DAMAGED;
	t = json_pull_next(d->json);
	if (timed && t == JSON_STRING && d->series != NULL)
		d->rc = series_point(d->series, time, json_pull_text(d->json), &place);
	while (t != JSON_ARRAY_END && t != JSON_END && t != JSON_DAMAGED)
		t = json_pull_next(d->json);
	return t;
}

/* "values":[[...],[...]] or "value":[...]. */
static enum json_token take_values(struct document *d, bool many)
{
	enum json_token t = json_pull_next(d->json);

	if (!d->has_metric)
		diag_add(d->in->diag, SEVERITY_WARNING, "counters.damaged", &(struct place){ 0 },
			 "values of a series before its metric: left out");
	if (t != JSON_ARRAY || !d->has_metric)
		return json_pull_skip(d->json, t) ? t : JSON_DAMAGED;
	d->has_metric = false;
	if (!many)
		return take_point(d);
	while ((t = json_pull_next(d->json)) == JSON_ARRAY && d->rc == 0)
		if ((t = take_point(d)) != JSON_ARRAY_END)
			break;
	return t;
}

/* "resultType":"matrix" */
static enum json_token take_type(struct document *d)
{
	enum json_token t = json_pull_next(d->json);
	struct sv type = json_pull_text(d->json);

	if (t == JSON_STRING && (sv_eq(type, SV("matrix")) || sv_eq(type, SV("vector"))))
		d->has_result = true;
	return json_pull_skip(d->json, t) ? t : JSON_DAMAGED;
}

/* One answer may follow another, as curl in a loop prints them. */
static void take_bracket(struct document *d, enum json_token t)
{
	const unsigned depth = json_pull_depth(d->json);

	if (depth == 1 && (t == JSON_OBJECT || t == JSON_ARRAY)) {
		d->has_result = false;
		d->begin = json_pull_place(d->json);
	} else if (depth == 0 && !d->has_result) {
		counters_unlike(d->of, &d->begin);
	}
}

int prometheus_read(struct counters *c, struct ingest *in)
{
	struct document d = { .of = c, .in = in, .set = series_set_new(c, in), .names = arena_new() };
	enum json_token t;

	d.json = json_pull_stream(in->input, in->stream);
	while (d.rc == 0 && (t = json_pull_next(d.json)) != JSON_END && t != JSON_DAMAGED) {
		if (t != JSON_KEY) {
			take_bracket(&d, t);
			continue;
		}
		struct sv key = json_pull_text(d.json);
		if (sv_eq(key, SV("resultType")))
			t = take_type(&d);
		else if (sv_eq(key, SV("metric")))
			t = take_metric(&d);
		else if (sv_eq(key, SV("values")))
			t = take_values(&d, true);
		else if (sv_eq(key, SV("value")))
			t = take_values(&d, false);
	}
	if (d.rc == 0 && t == JSON_DAMAGED) {
		struct place place = json_pull_place(d.json);

		diag_add(in->diag, SEVERITY_WARNING, "counters.damaged", &place,
			 "the JSON ends in the middle, or is none from here on");
	}
	struct place stray;
	counters_strays(c, json_pull_strays(d.json, &stray), &stray);
	if (d.rc == 0)
		d.rc = series_finish(d.set);
	arena_free(d.names);
	ingest_zone(in, true);
	return d.rc;
}

/* ---- promtool ---- */

/* "node_netstat_Tcp_RetransSegs{...} =>" and "77 @[1796038269]" below it. */
static bool is_promtool_head(struct sv line, struct metric *m)
{
	struct sv rest;

	return metric_read(line, m, &rest) && sv_eq(sv_trim(rest), SV("=>"));
}

static bool is_promtool_point(struct sv line, struct sv *value, struct host_time *time)
{
	struct sv rest = line;

	*value = counter_word(&rest);
	rest = sv_trim(rest);
	return sv_starts_with(rest, SV("@[")) && sv_ends_with(rest, SV("]")) &&
	       counter_decimal(sv_sub(rest, 2, rest.n - 3), 6, &time->us);
}

bool promtool_sniff(struct sv head)
{
	struct metric m;
	struct sv value;
	struct host_time time;
	struct sv first = sv_cut(&head, '\n'), second = sv_is_absent(head) ? SV_ABSENT : sv_cut(&head, '\n');

	return is_promtool_head(sv_trim(first), &m) && is_promtool_point(sv_trim(second), &value, &time);
}

/* ---- rows with their own times ---- */

/* name{...} value milliseconds */
static bool is_timed_row(struct sv line, struct metric *m, struct sv *value, struct host_time *time)
{
	struct sv rest;

	if (!metric_read(line, m, &rest))
		return false;
	*value = counter_word(&rest);
	struct sv ms = counter_word(&rest);
	return ms.n == 13 && counter_decimal(ms, 3, &time->us) && sv_is_absent(counter_word(&rest));
}

bool exposition_sniff(struct sv head)
{
	struct metric m;
	struct sv value;
	struct host_time time;
	size_t timed = 0;

	for (size_t n = 0; n < 100 && !sv_is_absent(head); n++) {
		struct sv line = sv_trim(sv_cut(&head, '\n'));

		if (line.n == 0 || line.p[0] == '#' || sv_is_absent(head))
			continue;
		if (!is_timed_row(line, &m, &value, &time) || !metric_is_known(m.name))
			return false;
		timed++;
	}
	return timed > 0;
}

/* ---- both, line by line ---- */

struct text_reader {
	struct counters *of;
	struct series_set *set;
	struct series *series; /* whose points follow; NULL: not wanted */
};

static int take_text_line(struct text_reader *r, const struct line *line)
{
	struct place place = counter_place(line);
	struct sv text = sv_trim(line->text), value;
	struct host_time time;
	struct metric m;

	if (text.n == 0 || text.p[0] == '#')
		return 0;
	if (is_promtool_head(text, &m)) {
		r->series = series_of(r->set, &m);
		return 0;
	}
	if (is_promtool_point(text, &value, &time))
		return r->series == NULL ? 0 : series_point(r->series, time, value, &place);
	if (!is_timed_row(text, &m, &value, &time)) {
		/* A whole row shows it: its time has 13 digits, or stands in brackets. */
		if (line->unended)
			counters_unended(r->of, line);
		else
			counters_unrecognized(r->of, &place);
		return 0;
	}
	struct series *s = series_of(r->set, &m);
	return s == NULL ? 0 : series_point(s, time, value, &place);
}

int prometheus_text_read(struct counters *c, struct ingest *in)
{
	struct text_reader r = { .of = c, .set = series_set_new(c, in) };
	struct lines *lines = lines_without_zeros(lines_new(in->stream, in->diag));
	struct line line;
	int rc = 0;

	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_text_line(&r, &line);
	lines_free(lines);
	ingest_zone(in, true);
	return rc == 0 ? series_finish(r.set) : rc;
}
