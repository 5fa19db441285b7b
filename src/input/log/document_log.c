/* SPDX-License-Identifier: MIT */
/*
 * Form: logs as JSON that is not read by lines (input-formats.md 4.1, 4.2):
 * answers of the APIs of log stores, arrays, and objects over several lines.
 * Each entry becomes an object on one line, which wrappers and layouts know
 * as they know those of JSON Lines; what was said once for many entries goes
 * with each.
 */

#include <string.h>

#include "base/arena.h"
#include "input/json.h"
#include "input/log/document.h"
#include "input/log/form.h"
#include "input/log/unwrap.h"
#include "input/stream.h"

#define BLOCK_BYTES ((size_t)64 * 1024)
/* Of an entry that is no object: more are left out. */
#define VALUES_MAX 64

/* What becomes of an entry's text. */
enum entry_shape {
	ENTRY_OBJECT,	/* as it is, with the common values */
	ENTRY_LOKI,	/* ["1796038384220914361", "line"] */
	ENTRY_INSIGHTS,	/* [{"field": "@message", "value": "text"}] */
	ENTRY_ROW,	/* ["text", "2026-11-30T11:33:04Z"], the names of its values are the first common value */
	ENTRY_OTLP,	/* an object, its body any value */
};

/* A document by where its entries are. */
static const struct shape {
	struct document_paths paths;
	const char *names[DOCUMENT_COMMON_MAX];	/* of the common values, in the entry */
	enum entry_shape entry;
} shapes[] = {
	/* CloudWatch: filter-log-events and get-log-events; what a subscription delivers; Logs Insights. */
	{ { "events[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	{ { "logEvents[]", { "logStream", "logGroup" } }, { "logStream", "logGroup" }, ENTRY_OBJECT },
	{ { "results[]", { NULL } }, { NULL }, ENTRY_INSIGHTS },
	/* Elasticsearch and OpenSearch: the answer to a search. */
	{ { "hits.hits[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	/* Loki: the answer to a query. */
	{ { "data.result[].values[]", { "data.result[].stream" } }, { "labels" }, ENTRY_LOKI },
	/* OpenTelemetry (opentelemetry-proto, examples/logs.json; the collector's file exporter); the older name last. */
	{ { "resourceLogs[].scopeLogs[].logRecords[]", { "resourceLogs[].resource" } }, { "resource" }, ENTRY_OTLP },
	{ { "resourceLogs[].instrumentationLibraryLogs[].logRecords[]", { "resourceLogs[].resource" } }, { "resource" }, ENTRY_OTLP },
	/* Splunk by its API (search/jobs/ID/results): output_mode json and json_rows. */
	{ { "results[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	{ { "rows[]", { "fields" } }, { NULL }, ENTRY_ROW },
	/* Datadog (v1), GCP, Datadog (v2) by their APIs. */
	{ { "logs[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	{ { "entries[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	{ { "data[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	/* gcloud, log4j's JsonLayout, jq: an array; the journal's json-pretty, log4j again: one object after the other. */
	{ { "[]", { NULL } }, { NULL }, ENTRY_OBJECT },
	{ { "", { NULL } }, { NULL }, ENTRY_OBJECT },
};
#define SHAPE_COUNT (sizeof shapes / sizeof shapes[0])

/* ---- an entry as one object ---- */

/* The values of an array, as texts of JSON. At most VALUES_MAX. */
static size_t values_of(struct sv array, struct sv *out, struct arena *a)
{
	static const struct document_paths paths = { "[]", { NULL } };
	struct document d;
	struct document_entry value;
	size_t at = 0, n = 0;

	document_init(&d, &paths);
	while (n < VALUES_MAX && document_next(&d, array, &at, &value))
		if (!value.too_long)
			out[n++] = arena_copy(a, value.text);
	document_fini(&d);
	return n;
}

/* AnyValue of OTLP (common.proto) as JSON: texts, numbers (whole ones may be texts), true and false; no lists. */
static bool add_any_value(struct buf *out, const struct json_record *r)
{
	static const char *const plain[] = { "value.intValue", "value.doubleValue", "value.boolValue" };
	struct sv text = json_field(r, SV("value.stringValue"));

	for (size_t i = 0; i < sizeof plain / sizeof plain[0] && sv_is_absent(text); i++)
		text = json_field(r, sv_of(plain[i]));
	if (sv_is_absent(text))
		return false;
	buf_add_json(out, text);
	return true;
}

/* [{"key": "host.name", "value": {"stringValue": "node-a"}}] as members of the object that is being written. */
static void add_attributes(struct buf *out, struct sv array, struct arena *a)
{
	struct sv *values = arena_array(a, VALUES_MAX, sizeof *values);
	size_t count = values_of(array, values, a), written = 0;

	for (size_t i = 0; i < count; i++) {
		struct json_record r;
		const char *why;
		size_t before = out->n;

		if (!json_read(values[i], a, &r, &why) || sv_is_absent(json_field(&r, SV("key"))))
			continue;
		if (written > 0)
			buf_add_char(out, ',');
		buf_add_json(out, json_field(&r, SV("key")));
		buf_add_char(out, ':');
		if (add_any_value(out, &r))
			written++;
		else
			out->n = before;
	}
}

/* A common value: one with attributes as they are given in OTLP is written as an object of them. */
static void add_common(struct buf *out, const char *name, struct sv value, struct arena *a)
{
	struct json_record r;
	struct sv attributes = SV_ABSENT;
	const char *why;

	if (sv_starts_with(value, SV("{")) && json_read(value, a, &r, &why))
		attributes = json_field(&r, SV("attributes"));
	buf_printf(out, "\"%s\":", name);
	if (sv_starts_with(attributes, SV("["))) {
		buf_add_char(out, '{');
		add_attributes(out, attributes, a);
		buf_add_char(out, '}');
	} else {
		buf_add(out, value);
	}
	buf_add_char(out, ',');
}

static void add_all_common(struct buf *out, const struct shape *shape, const struct document *d, struct arena *a)
{
	for (size_t i = 0; i < DOCUMENT_COMMON_MAX && shape->names[i] != NULL; i++) {
		struct sv value = document_common(d, i);

		if (!sv_is_absent(value))
			add_common(out, shape->names[i], value, a);
	}
}

static bool add_object(struct buf *out, struct sv text)
{
	if (text.n < 2 || text.p[0] != '{')
		return false;
	text = sv_sub(text, 1, text.n);
	/* "{a,}" for an entry that is empty. */
	if (text.p[0] == '}' && out->n > 1)
		out->n--;
	buf_add(out, text);
	return true;
}

static bool add_loki(struct buf *out, struct sv text, struct arena *a)
{
	struct sv values[VALUES_MAX];

	if (!sv_starts_with(text, SV("[")) || values_of(text, values, a) < 2)
		return false;
	buf_printf(out, "\"timestamp\":%.*s,\"line\":%.*s}", SV_ARG(values[0]), SV_ARG(values[1]));
	return true;
}

static bool add_insights(struct buf *out, struct sv text, struct arena *a)
{
	struct sv values[VALUES_MAX];
	size_t n, written = 0;

	if (!sv_starts_with(text, SV("[")))
		return false;
	n = values_of(text, values, a);
	for (size_t i = 0; i < n; i++) {
		struct json_record r;
		const char *why;

		if (!json_read(values[i], a, &r, &why) || sv_is_absent(json_field(&r, SV("field"))))
			return false;
		if (sv_is_absent(json_field(&r, SV("value"))))
			continue;
		if (written++ > 0)
			buf_add_char(out, ',');
		buf_add_json(out, json_field(&r, SV("field")));
		buf_add_char(out, ':');
		buf_add_json(out, json_field(&r, SV("value")));
	}
	buf_add_char(out, '}');
	return true;
}

/* The names are texts, or objects with one: Splunk has both. */
static struct sv name_of(struct sv value, struct arena *a)
{
	struct json_record r;
	const char *why;

	if (!sv_starts_with(value, SV("{")))
		return value;
	value = json_read(value, a, &r, &why) ? json_field(&r, SV("name")) : SV_ABSENT;
	if (!sv_is_absent(value)) {
		struct buf quoted;

		buf_init(&quoted);
		buf_add_json(&quoted, value);
		value = arena_copy(a, buf_sv(&quoted));
		buf_fini(&quoted);
	}
	return value;
}

static bool add_row(struct buf *out, struct sv fields, struct sv text, struct arena *a)
{
	struct sv names[VALUES_MAX], values[VALUES_MAX];
	size_t n, name_count, written = 0;

	if (!sv_starts_with(text, SV("[")) || !sv_starts_with(fields, SV("[")))
		return false;
	n = values_of(text, values, a);
	name_count = values_of(fields, names, a);
	for (size_t i = 0; i < n && i < name_count; i++) {
		struct sv name = name_of(names[i], a);

		if (!sv_starts_with(name, SV("\"")))
			return false;
		buf_printf(out, "%s%.*s:%.*s", written++ > 0 ? "," : "", SV_ARG(name), SV_ARG(values[i]));
	}
	buf_add_char(out, '}');
	return true;
}

/* A body that is a list of pairs is the program's own record: wrap_json.c finds it as the text that its line would be. */
static bool add_otlp(struct buf *out, struct sv text, struct arena *a)
{
	struct json_record r;
	const char *why;
	struct buf body;
	struct sv pairs;

	if (!json_read(text, a, &r, &why))
		return false;
	pairs = json_field(&r, SV("body.kvlistValue.values"));
	if (sv_starts_with(pairs, SV("["))) {
		buf_init(&body);
		buf_add_char(&body, '{');
		add_attributes(&body, pairs, a);
		buf_add_char(&body, '}');
		buf_add(out, SV("\"body.record\":"));
		buf_add_json(out, buf_sv(&body));
		buf_add_char(out, ',');
		buf_fini(&body);
	}
	return add_object(out, text);
}

/* The entry as one object on one line. False when it has another shape. */
static bool make_object(const struct shape *shape, const struct document *d, struct sv text, struct arena *a, struct buf *out)
{
	buf_clear(out);
	buf_add_char(out, '{');
	add_all_common(out, shape, d, a);
	switch (shape->entry) {
	case ENTRY_LOKI:
		return add_loki(out, text, a);
	case ENTRY_INSIGHTS:
		return add_insights(out, text, a);
	case ENTRY_ROW:
		return add_row(out, document_common(d, 0), text, a);
	case ENTRY_OTLP:
		return add_otlp(out, text, a);
	case ENTRY_OBJECT:
		break;
	}
	return add_object(out, text);
}

/* ---- which shape ---- */

/* Objects on a line each are read by lines; not those over many lines, nor many without any line between them. */
static bool is_read_by_lines(struct sv head, size_t at, const struct document_entry *entry)
{
	struct sv rest = sv_trim(sv_sub(head, at, head.n));
	size_t line_end;

	return !entry->many_lines && (rest.n == 0 || sv_find_char(rest, '\n', &line_end) || rest.p[0] != '{');
}

/* Whether the first entry of the head is a record of a log. */
static bool shape_fits(const struct shape *shape, struct sv head, const struct rules *r, struct arena *a)
{
	struct document d;
	struct document_entry entry;
	struct buf object;
	size_t at = 0;
	bool fits;

	document_init(&d, &shape->paths);
	buf_init(&object);
	fits = document_next(&d, head, &at, &entry) && !entry.too_long && make_object(shape, &d, entry.text, a, &object) &&
	       (shape->paths.entry[0] != '\0' || !is_read_by_lines(head, at, &entry)) && unwrap_is_log(r, buf_sv(&object), 1);
	buf_fini(&object);
	document_fini(&d);
	return fits;
}

/* "{" before a name, "[" before a value that is an object: a line of a log may begin with "[2026-". */
static bool may_be_document(struct sv head)
{
	struct sv text = sv_trim(head), rest = sv_trim(sv_sub(text, 1, text.n));

	if (text.n == 0 || rest.n == 0)
		return false;
	return text.p[0] == '{' ? rest.p[0] == '"' : text.p[0] == '[' && rest.p[0] == '{';
}

static const struct shape *shape_of(struct sv head, const struct rules *r)
{
	struct arena *a;
	const struct shape *found = NULL;
	struct sv rest = sv_trim(head);

	/* A record of JSON Lines may have members like those of a document. */
	if (!may_be_document(head) || unwrap_is_log(r, sv_cut(&rest, '\n'), 1))
		return NULL;
	a = arena_new();
	for (size_t i = 0; i < SHAPE_COUNT && found == NULL; i++) {
		if (shape_fits(&shapes[i], head, r, a))
			found = &shapes[i];
		arena_reset(a);
	}
	arena_free(a);
	return found;
}

static bool document_sniff(struct sv head, const struct rules *r)
{
	return shape_of(head, r) != NULL;
}

/* ---- reading ---- */

struct document_reader {
	struct arena *arena, *record;
	struct stream *stream;
	struct lines *lines;	/* of UTF-16, which they decode; else NULL */
	struct diag *diag;
	const struct shape *shape;
	struct document document;
	struct buf object;
	char *block;
	struct sv bytes;	/* read, and of them */
	size_t at;		/* so many have been taken */
	bool ended, damaged;
};

static void *document_open(struct stream *s, const struct rules *r, struct diag *d)
{
	struct arena *a = arena_new();
	struct document_reader *reader = arena_alloc(a, sizeof *reader);
	struct sv head = stream_head(s);

	reader->arena = a;
	reader->record = arena_new();
	reader->stream = s;
	reader->diag = d;
	reader->block = arena_alloc(a, BLOCK_BYTES);
	reader->shape = shape_of(lines_preview(a, head), r);
	if (reader->shape == NULL)
		reader->shape = &shapes[SHAPE_COUNT - 1];
	document_init(&reader->document, &reader->shape->paths);
	buf_init(&reader->object);
	if (lines_are_decoded(head))
		reader->lines = lines_new(s, d);
	else if (sv_starts_with(head, SV("\xef\xbb\xbf")))
		reader->document.offset = (uint64_t)stream_read(s, reader->block, 3);
	return reader;
}

static void document_close(void *context)
{
	struct document_reader *r = context;

	lines_free(r->lines);
	buf_fini(&r->object);
	document_fini(&r->document);
	arena_free(r->record);
	arena_free(r->arena);
}

/* A line of UTF-16 with its end; the place in the stream is that of its first byte. */
static ptrdiff_t fill_line(struct document_reader *r)
{
	struct line line;
	int rc = lines_next(r->lines, &line);

	if (rc != 1)
		return rc;
	r->document.line = line.number;
	r->document.offset = line.byte_offset;
	r->bytes = arena_printf(r->record, "%.*s\n", SV_ARG(line.text));
	return 1;
}

/* More bytes: false at the end, and on damage. */
static bool fill(struct document_reader *r)
{
	ptrdiff_t got;

	arena_reset(r->record);
	if (r->lines != NULL) {
		got = fill_line(r);
	} else {
		got = stream_read(r->stream, r->block, BLOCK_BYTES);
		r->bytes = (struct sv){ r->block, got > 0 ? (size_t)got : 0 };
	}
	r->at = 0;
	r->ended = got <= 0;
	r->damaged = got < 0;
	return got > 0;
}

/* What further documents, or other bytes, stood behind one. */
static void tell_left(const struct document_reader *r)
{
	static const char stray[] = "bytes that belong to no document: passed over (%llu pieces, the first here)";
	static const char unlike[] = "a document that is not like the first: left out (%llu of them, the first here)";
	static const char empty[] = "a document without entries (%llu of them, the first here)";
	const struct document *d = &r->document;

	if (d->strays.count > 0)
		diag_add(r->diag, SEVERITY_WARNING, "document.stray", &d->strays.first, stray, (unsigned long long)d->strays.count);
	if (d->unlike.count > 0)
		diag_add(r->diag, SEVERITY_WARNING, "document.unlike", &d->unlike.first, unlike, (unsigned long long)d->unlike.count);
	if (d->empty.count > 0)
		diag_add(r->diag, SEVERITY_NOTE, "document.empty", &d->empty.first, empty, (unsigned long long)d->empty.count);
}

/* An array that a program goes on writing to has no end yet. */
static void end(struct document_reader *r)
{
	struct place place = { .unit = PLACE_LINE, .number = r->document.line, .byte_offset = r->document.offset };
	bool is_open_array = strcmp(r->shape->paths.entry, "[]") == 0 && !r->document.keeping;

	if (!document_is_whole(&r->document) && !r->damaged && !is_open_array)
		diag_add(r->diag, SEVERITY_WARNING, "document.cut", &place, "the document breaks off in the middle");
	tell_left(r);
}

static bool next_entry(struct document_reader *r, struct document_entry *out)
{
	while (!document_next(&r->document, r->bytes, &r->at, out)) {
		if (r->ended)
			return false;
		if (!fill(r)) {
			end(r);
			return false;
		}
	}
	return true;
}

static int document_next_piece(void *context, struct log_piece *out)
{
	struct document_reader *r = context;
	struct document_entry entry;

	while (next_entry(r, &entry)) {
		/* The bytes at hand may lie there. */
		if (r->lines == NULL)
			arena_reset(r->record);
		if (entry.too_long) {
			diag_add(r->diag, SEVERITY_WARNING, "document.entry", &entry.place, "entry left out: longer than %d bytes",
				 DOCUMENT_ENTRY_BYTES_MAX);
			continue;
		}
		if (!make_object(r->shape, &r->document, entry.text, r->record, &r->object)) {
			diag_add(r->diag, SEVERITY_WARNING, "document.entry", &entry.place, "entry left out: it is not like the first");
			continue;
		}
		*out = (struct log_piece){
			.line = { .text = buf_sv(&r->object), .number = entry.place.number, .byte_offset = entry.place.byte_offset },
			.written = entry.text,
		};
		return 1;
	}
	return r->damaged ? -1 : 0;
}

const struct log_form log_form_document = { "document", document_sniff, document_open, document_next_piece, document_close };
