/* SPDX-License-Identifier: MIT */
/*
 * sadf of sysstat as documents: -j (JSON) and -x (XML). Both have a host, in it
 * times, and with each time objects or elements that hold figures by name
 * (input-formats.md 1.7).
 */

#include "input/counters/documents.h"
#include "input/counters/sar.h"
#include "input/json_pull.h"
#include "input/xml_pull.h"

#define FIGURES_MAX 64

/* One object or element of figures, and the time that stands before it. */
struct document {
	struct sar sar;
	struct arena *object; /* texts of the object at hand */
	char host[64];
	size_t host_bytes;
	bool timed;
	struct host_time start, end;
	struct sv names[FIGURES_MAX], values[FIGURES_MAX];
	size_t count;
	struct place place;
	int rc;
};

static void add_figure(struct document *d, struct sv name, struct sv value)
{
	if (d->count == FIGURES_MAX)
		return;
	d->names[d->count] = arena_copy(d->object, name);
	d->values[d->count++] = arena_copy(d->object, value);
}

static struct sv figure(const struct document *d, struct sv name)
{
	for (size_t i = 0; i < d->count; i++)
		if (sv_eq(d->names[i], name))
			return d->values[i];
	return SV_ABSENT;
}

/* "date": "2026-11-30", "time": "11:28:55", "utc": 1, "interval": 1; newer versions name the zone as tz. */
static void end_timestamp(struct document *d)
{
	bool utc = sv_eq(figure(d, SV("utc")), SV("1")) || sv_eq(figure(d, SV("tz")), SV("UTC"));
	struct sv text = arena_printf(d->object, "%.*s %.*s%s", SV_ARG(figure(d, SV("date"))),
				      SV_ARG(figure(d, SV("time"))), utc ? " UTC" : "");
	struct sar_row row = { .host = SV_ABSENT };

	d->timed = sadf_interval(d->sar.in, &row, figure(d, SV("interval")), text);
	d->start = row.start;
	d->end = row.end;
	d->sar.in->info->records++;
}

static void end_figures(struct document *d)
{
	struct sar_row row = {
		.host = { d->host, d->host_bytes }, .start = d->start, .end = d->end, .place = d->place
	};

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

static void begin_figures(struct document *d, struct place place)
{
	d->count = 0;
	d->place = place;
	arena_reset(d->object);
}

static int finish(struct document *d, const struct place *damage, const char *what)
{
	if (d->rc == 0 && damage != NULL)
		diag_add(d->sar.in->diag, SEVERITY_WARNING, "counters.damaged", damage,
			 "the %s ends in the middle, or is none from here on", what);
	arena_free(d->object);
	return d->rc;
}

/* ---- -j ---- */

bool sadf_json_sniff(struct sv head)
{
	size_t at;

	head = sv_trim(head);
	return head.n > 0 && head.p[0] == '{' && sv_find(sv_sub(head, 0, 64), SV("\"sysstat\""), &at);
}

/* Objects that hold figures hold no others; what an outer one held before an inner one is settled by then. */
static void take_object(struct document *d, bool is_timestamp)
{
	if (is_timestamp)
		end_timestamp(d);
	else
		end_figures(d);
	d->count = 0;
}

static void take_value(struct document *d, struct sv key, struct sv value)
{
	if (sv_eq(key, SV("nodename")))
		take_host(d, value);
	add_figure(d, key, value);
}

/* One document may follow another, as of several hosts or days: each is named in its first member. */
struct root {
	bool is_known;
	struct place begin;
};

static void take_root_bracket(struct counters *c, struct root *r, const struct json_pull *json, enum json_token t)
{
	const unsigned depth = json_pull_depth(json);

	if (depth == 1 && (t == JSON_OBJECT || t == JSON_ARRAY))
		*r = (struct root){ .begin = json_pull_place(json) };
	else if (depth == 0 && (t == JSON_OBJECT_END || t == JSON_ARRAY_END) && !r->is_known)
		counters_unlike(c, &r->begin);
}

int sadf_json_read(struct counters *c, struct ingest *in)
{
	struct root root = { .is_known = false };
	struct document d = { .sar = { .of = c, .in = in }, .object = arena_new() };
	struct json_pull *json = json_pull_stream(in->input, in->stream);
	struct sv key = SV("");
	bool in_timestamp = false;
	char kept[64];
	enum json_token t = JSON_END;

	while (d.rc == 0 && (t = json_pull_next(json)) != JSON_END && t != JSON_DAMAGED) {
		struct sv text = json_pull_text(json);

		take_root_bracket(c, &root, json, t);
		if (t == JSON_KEY) {
			root.is_known = root.is_known || (json_pull_depth(json) == 1 && sv_eq(text, SV("sysstat")));
			size_t n = text.n < sizeof kept ? text.n : sizeof kept;
			for (size_t i = 0; i < n; i++)
				kept[i] = text.p[i];
			key = (struct sv){ kept, n };
		} else if (t == JSON_OBJECT) {
			in_timestamp = sv_eq(key, SV("timestamp"));
			begin_figures(&d, json_pull_place(json));
		} else if (t == JSON_OBJECT_END) {
			take_object(&d, in_timestamp);
			in_timestamp = false;
		} else if (t == JSON_STRING || t == JSON_NUMBER) {
			take_value(&d, key, text);
		}
	}
	struct place place = json_pull_place(json), stray;
	counters_strays(c, json_pull_strays(json, &stray), &stray);
	return finish(&d, t == JSON_DAMAGED ? &place : NULL, "JSON");
}

/* ---- -x ---- */

/* The root element stands behind a declaration, a document type and two or three lines of schemas. */
bool sadf_xml_sniff(struct sv head)
{
	size_t at;

	head = sv_trim(head);
	return sv_starts_with(head, SV("<")) && sv_find(sv_sub(head, 0, 1024), SV("<sysstat"), &at);
}

/* <timestamp ...> holds what it dates: its figures are over with it. */
static void take_element(struct document *d, const struct xml_pull *xml)
{
	begin_figures(d, xml_pull_place(xml));
	for (size_t i = 0; i < xml_pull_attribute_count(xml); i++)
		add_figure(d, xml_pull_attribute_at(xml, i).name, xml_pull_attribute_at(xml, i).value);
	if (sv_eq(xml_pull_name(xml), SV("host")))
		take_host(d, figure(d, SV("nodename")));
	else if (sv_eq(xml_pull_name(xml), SV("timestamp")))
		end_timestamp(d);
	else
		end_figures(d);
}

int sadf_xml_read(struct counters *c, struct ingest *in)
{
	struct document d = { .sar = { .of = c, .in = in }, .object = arena_new() };
	struct xml_pull *xml = xml_pull_stream(in->input, in->stream);
	enum xml_token t = XML_END;
	uint64_t depth = 0;

	while (d.rc == 0 && (t = xml_pull_next(xml)) != XML_END && t != XML_DAMAGED) {
		struct place place = xml_pull_place(xml);

		if (t == XML_OPEN && depth++ == 0 && !sv_eq(xml_pull_name(xml), SV("sysstat")))
			counters_unlike(c, &place);
		depth -= t == XML_CLOSE;
		if (t == XML_OPEN)
			take_element(&d, xml);
		else if (sv_eq(xml_pull_name(xml), SV("timestamp")))
			d.timed = false;
	}
	struct place place = xml_pull_place(xml), stray;
	counters_strays(c, xml_pull_strays(xml, &stray), &stray);
	return finish(&d, t == XML_DAMAGED ? &place : NULL, "XML");
}
