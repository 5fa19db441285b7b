/* SPDX-License-Identifier: MIT */
/*
 * Wrappers that are an object of JSON a line: docker's json-file, the journal,
 * and exports of Loki, CloudWatch, Elasticsearch, Splunk, GCP and stern
 * (input-formats.md 4.1). Objects that are the application's own record
 * (4.2) are no wrappers: layouts know them.
 */

#include "input/log/wrap.h"

#include "input/json.h"
#include "input/log/document.h"

/* Members by their names, dots for nesting; of several names the first that is there counts. */
static const struct json_wrapper {
	const char *name;
	bool prompt;
	bool splits_lines;		/* the text of a whole line has its end */
	const char *mark;		/* stands in every such line: saves the reading of others */
	const char *needs[WRAP_NAMES_MAX];	/* all of them, or it is something else */
	const char *text[WRAP_NAMES_MAX];
	const char *time[WRAP_NAMES_MAX];
	const char *host[WRAP_NAMES_MAX];
	const char *writer[WRAP_NAMES_MAX];	/* all that are there */
	const char *id[WRAP_NAMES_MAX];	/* all of them together: the same again when the entry is shipped again */
	const char *object;		/* a member that may be the program's own record, not a text alone; NULL: none may */
	const char *draft;		/* a member that is true where the entry comes once more when it is final */
} wrappers[] = {
	{ "docker", true, true, "\"log\"", { "log", "stream", "time" }, { "log" }, { "time" },
	  { "kubernetes.pod_name" }, { "kubernetes.pod_name", "kubernetes.container_name", "stream" }, { NULL }, NULL, NULL },
	{ "journal", true, false, "\"MESSAGE\"", { "__REALTIME_TIMESTAMP" }, { "MESSAGE" },
	  { "_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP" }, { "_HOSTNAME" },
	  { "_HOSTNAME", "SYSLOG_IDENTIFIER", "_PID" }, { "__CURSOR" }, NULL, NULL },
	{ "cloudwatch", false, false, "\"message\"", { "timestamp", "message", "logStreamName" }, { "message" }, { "timestamp" },
	  { NULL }, { "logStreamName" }, { "eventId" }, NULL, NULL },
	{ "cloudwatch", false, false, "\"message\"", { "timestamp", "message", "ingestionTime" }, { "message" }, { "timestamp" },
	  { NULL }, { NULL }, { "eventId" }, NULL, NULL },
	{ "cloudwatch", false, false, "\"logStream\"", { "id", "timestamp", "message", "logStream" }, { "message" }, { "timestamp" },
	  { NULL }, { "logGroup", "logStream" }, { "id" }, NULL, NULL },
	{ "cloudwatch", false, false, "\"@message\"", { "@timestamp", "@message" }, { "@message" }, { "@timestamp" },
	  { NULL }, { "@logStream" }, { "@ptr" }, NULL, NULL },
	{ "loki", false, false, "\"line\"", { "line", "timestamp" }, { "line" }, { "timestamp" },
	  { "labels.pod", "labels.host", "labels.hostname", "labels.instance" },
	  { "labels.pod", "labels.container", "labels.app", "labels.filename" }, { NULL }, NULL, NULL },
	{ "elasticsearch", false, false, "\"_source\"", { "_index" }, { "_source.message", "_source.event.original", "_source.log", "_source.msg" },
	  { "_source.@timestamp", "_source.timestamp" },
	  { "_source.kubernetes.pod.name", "_source.kubernetes.pod_name", "_source.host.name", "_source.host.hostname", "_source.agent.hostname" },
	  { "_source.kubernetes.pod.name", "_source.container.name", "_source.host.name", "_source.log.file.path", "_source.stream" },
	  { "_index", "_id" }, "_source", NULL },
	/* What search/jobs/export streams, also from Splunk Web; then what search/jobs/ID/results gives. */
	{ "splunk", false, false, "\"_raw\"", { "result._raw" }, { "result._raw" }, { "result._time" }, { "result.host" },
	  { "result.host", "result.source" }, { "result._cd", "result._bkt" }, NULL, "preview" },
	{ "splunk", false, false, "\"_raw\"", { "_raw" }, { "_raw" }, { "_time" }, { "host" }, { "host", "source" }, { "_cd", "_bkt" }, NULL, NULL },
	{ "gcp", false, false, "\"insertId\"", { "insertId", "timestamp" },
	  { "textPayload", "jsonPayload.message", "jsonPayload.log", "jsonPayload.msg" }, { "timestamp" },
	  { "resource.labels.pod_name", "labels.compute.googleapis.com/resource_name", "resource.labels.instance_id" },
	  { "resource.labels.pod_name", "resource.labels.container_name", "logName" }, { "timestamp", "insertId" }, "jsonPayload", NULL },
	{ "stern", false, false, "\"podName\"", { "message", "podName", "containerName" }, { "message" }, { NULL }, { "podName" },
	  { "podName", "containerName" }, { NULL }, NULL, NULL },
	/* opentelemetry-proto, logs.proto: of an unknown time there is still when it was observed. document_log.c makes records of bodies. */
	{ "otlp", false, false, "UnixNano\"", { NULL }, { "body.stringValue", "body.record" }, { "timeUnixNano", "observedTimeUnixNano" },
	  { "resource.k8s.pod.name", "resource.host.name", "resource.service.instance.id" },
	  { "resource.k8s.pod.name", "resource.k8s.container.name", "resource.service.name" }, { NULL }, NULL, NULL },
	/* Datadog's API: v2 logs/events, v1 logs-queries/list; then its archives. */
	{ "datadog", false, false, "\"attributes\"", { "id", "attributes.message", "attributes.timestamp" }, { "attributes.message" },
	  { "attributes.timestamp" }, { "attributes.host" }, { "attributes.host", "attributes.service" }, { "id" }, NULL, NULL },
	{ "datadog", false, false, "\"content\"", { "id", "content.message", "content.timestamp" }, { "content.message" },
	  { "content.timestamp" }, { "content.host" }, { "content.host", "content.service" }, { "id" }, NULL, NULL },
	{ "datadog", false, false, "\"_id\"", { "_id", "date", "message", "service" }, { "message" }, { "date" }, { "host" },
	  { "host", "service" }, { "_id" }, NULL, NULL },
};

static struct sv first_of(const struct json_record *r, const char *const names[WRAP_NAMES_MAX])
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++) {
		struct sv value = json_field(r, sv_of(names[i]));

		if (!sv_is_absent(value))
			return value;
	}
	return SV_ABSENT;
}

/* Whose name it is; NULL when none is there. */
static const char *name_of(const struct json_record *r, const char *const names[WRAP_NAMES_MAX])
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++)
		if (!sv_is_absent(json_field(r, sv_of(names[i]))))
			return names[i];
	return NULL;
}

/* The first that is a time: 0 is how OTLP says that it has none. */
static bool time_of(const struct json_record *r, const char *const names[WRAP_NAMES_MAX], struct tstamp *out, const char **name)
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++) {
		struct sv value = json_field(r, sv_of(names[i]));

		if (sv_is_absent(value) || !tstamp_guess_parts(value, out))
			continue;
		*name = names[i];
		return true;
	}
	return false;
}

static struct sv all_of(const struct json_record *r, const char *const names[WRAP_NAMES_MAX], struct arena *a)
{
	struct sv all = SV_ABSENT;

	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++) {
		struct sv value = json_field(r, sv_of(names[i]));

		if (!sv_is_absent(value))
			all = sv_is_absent(all) ? value : arena_printf(a, "%.*s %.*s", SV_ARG(all), SV_ARG(value));
	}
	return all;
}

/* Absent when one of them is: a part of an id is none. */
static struct sv id_of(const struct json_record *r, const char *const names[WRAP_NAMES_MAX], struct arena *a)
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++)
		if (sv_is_absent(json_field(r, sv_of(names[i]))))
			return SV_ABSENT;
	return all_of(r, names, a);
}

static bool fits(const struct json_wrapper *w, const struct json_record *r)
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && w->needs[i] != NULL; i++)
		if (sv_is_absent(json_field(r, sv_of(w->needs[i]))))
			return false;
	if (w->draft != NULL && sv_eq(json_field(r, sv_of(w->draft)), SV("true")))
		return false;
	return !sv_is_absent(first_of(r, w->text));
}

/* The journal writes a text that is no UTF-8 as an array of its bytes. */
static struct sv text_of_bytes(struct sv text, struct arena *a)
{
	struct sv rest = sv_sub(text, 1, text.n - 2);
	char *bytes = arena_alloc(a, text.n);
	size_t n = 0;

	while (!sv_is_absent(rest)) {
		uint64_t byte;

		if (!sv_to_u64(sv_trim(sv_cut(&rest, ',')), &byte) || byte > 255)
			return text;
		bytes[n++] = (char)(unsigned char)byte;
	}
	return (struct sv){ bytes, n };
}

static bool is_array(struct sv text)
{
	return text.n > 2 && text.p[0] == '[' && text.p[text.n - 1] == ']' && text.p[1] >= '0' && text.p[1] <= '9';
}

/* The level stands beside the message in records that programs write as objects; collectors add none. */
static bool has_level(const struct json_record *r, const char *object, struct arena *a)
{
	static const char *const names[] = { "level", "log.level", "levelname", "lvl" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!sv_is_absent(json_field(r, arena_printf(a, "%s.%s", object, names[i]))))
			return true;
	return false;
}

/* The member as it is written; absent when it is not there. */
static struct sv member_text(struct sv line, const char *name, struct arena *a)
{
	const struct document_paths paths = { name, { NULL } };
	struct document d;
	struct document_entry e;
	struct sv text = SV_ABSENT;
	size_t at = 0;

	document_init(&d, &paths);
	if (document_next(&d, line, &at, &e) && !e.too_long)
		text = arena_copy(a, e.text);
	document_fini(&d);
	return text;
}

/* What was inside: the program's record if it is an object of its own, so that what stands beside the message is not lost. */
static struct sv text_of(const struct json_wrapper *w, const struct json_record *r, struct sv line, struct arena *a, const char **name)
{
	struct sv object = SV_ABSENT;

	if (w->object != NULL && has_level(r, w->object, a))
		object = member_text(line, w->object, a);
	*name = sv_is_absent(object) ? name_of(r, w->text) : NULL;
	return sv_is_absent(object) ? first_of(r, w->text) : object;
}

/* Where the text is a member by itself, and of several times none stands before the one that counts. */
static void note_quick(const struct json_wrapper *w, const struct json_record *r, const char *text, const char *time, struct wrap_layer *out)
{
	if (text == NULL || time != name_of(r, w->time))
		return;
	out->quick = WRAP_BY_OBJECT;
	out->members = (struct wrap_members){ .wrapper = w->name, .text = text, .time = time, .host = w->host, .writer = w->writer, .id = w->id, .ends_lines = w->splits_lines };
}

static void take(const struct json_wrapper *w, const struct json_record *r, struct sv line, struct arena *a, struct wrap_layer *out)
{
	const char *text, *time = NULL;

	out->name = w->name;
	out->prompt = w->prompt;
	out->text = text_of(w, r, line, a, &text);
	out->host = first_of(r, w->host);
	out->writer = all_of(r, w->writer, a);
	out->id = id_of(r, w->id, a);
	out->has_time = time_of(r, w->time, &out->time, &time);
	note_quick(w, r, text, time, out);
	if (is_array(out->text))
		out->text = text_of_bytes(out->text, a);
	if (!w->splits_lines)
		return;
	out->piece = sv_ends_with(out->text, SV("\n")) ? WRAP_LAST : WRAP_UNENDED;
	if (out->piece == WRAP_LAST)
		out->text.n--;
	if (sv_ends_with(out->text, SV("\r")))
		out->text.n--;
}

bool wrap_json_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct json_record r;
	const char *why;
	bool read = false;
	size_t at;

	if (!sv_starts_with(line, SV("{")))
		return false;
	for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
		if (!sv_find(line, sv_of(wrappers[i].mark), &at))
			continue;
		if (!read && !json_read(line, m->record, &r, &why))
			return false;
		read = true;
		if (!fits(&wrappers[i], &r))
			continue;
		take(&wrappers[i], &r, line, m->record, out);
		return true;
	}
	return false;
}
