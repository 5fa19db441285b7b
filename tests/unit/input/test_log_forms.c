/* SPDX-License-Identifier: MIT */
/* Logs that do not lie in lines: what comes out of each form, by the rules that are shipped. Shapes: input-formats.md 4.1, 4.2. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "input/log/form.h"
#include "input_kit.h"

/* 2026-11-30T11:33:04.220Z */
#define AT INT64_C(1796038384220000)
#define EXPIRED "[GroupCoordinator 1]: Member m-1 in group refunds has failed, removing it from the group"
#define KAFKA "[2026-11-30 11:33:04,220] INFO " EXPIRED " (kafka.coordinator.group.GroupCoordinator)"
#define NANOS "1796038384220914361"
#define ISO "2026-11-30T11:33:04.220914361Z"
#define OTHER "[2026-11-30 11:33:05,000] INFO nothing (a.B)"

static struct kit *read_log(struct sv text)
{
	return kit_read_named_log(text, "export");
}

static const char *form_of(struct sv text)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	const struct log_form *f = log_form_of(text, r);

	rules_free(r);
	kit_free(k);
	return f != NULL ? f->name : "none";
}

static size_t count_events(const struct kit *k, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < k->event_count; i++)
		n += k->events[i].type == type;
	return n;
}

/* The one eviction, behind which coverage may stand. */
static const struct event *only_eviction(const struct kit *k)
{
	const struct event *found = NULL;

	for (size_t i = 0; i < k->event_count; i++) {
		if (k->events[i].type != EVENT_SESSION_EXPIRED)
			continue;
		assert_null(found);
		found = &k->events[i];
	}
	assert_non_null(found);
	assert_sv_equal(event_text(found, FIELD_GROUP), "refunds");
	assert_sv_equal(event_text(found, FIELD_MEMBER), "m-1");
	return found;
}

/* ---- every export ---- */

struct expected {
	const char *what, *text, *form, *format;
	int64_t us;
	const char *host;	/* NULL: not known */
	const char *begins;	/* how the entry begins */
	uint64_t records;
};

static const struct expected exports[] = {
	{ "CloudWatch, as filter-log-events prints it",
	  "{\n    \"events\": [\n        {\n            \"logStreamName\": \"app/app/0123\",\n            \"timestamp\": 1796038384220,\n"
	  "            \"message\": \"" KAFKA "\",\n            \"ingestionTime\": 1796038389001,\n            \"eventId\": \"380\"\n        }\n    ],\n"
	  "    \"searchedLogStreams\": []\n}\n",
	  "document", "kafka in cloudwatch", AT, NULL, "{\n            \"logStreamName\"", 1 },
	{ "CloudWatch, as get-log-events, on one line",
	  "{\"events\":[{\"timestamp\":1796038384220,\"message\":\"" EXPIRED "\",\"ingestionTime\":1796038389001}],\"nextForwardToken\":\"f/1\"}",
	  "document", "cloudwatch", AT, NULL, "{\"timestamp\"", 1 },
	{ "CloudWatch, what a subscription delivers, one document behind the other",
	  "{\"messageType\":\"CONTROL_MESSAGE\",\"logGroup\":\"g\",\"logStream\":\"\",\"logEvents\":[{\"id\":\"\",\"timestamp\":1796038384000,\"message\":\"check\"}]}"
	  "{\"messageType\":\"DATA_MESSAGE\",\"logGroup\":\"g\",\"logStream\":\"s\",\"logEvents\":[{\"id\":\"7\",\"timestamp\":1796038384220,\"message\":\"" EXPIRED "\"}]}",
	  "document", "cloudwatch", AT, NULL, "{\"id\":\"7\"", 2 },
	{ "CloudWatch Logs Insights",
	  "{\"results\":[[{\"field\":\"@timestamp\",\"value\":\"2026-11-30 11:33:04.220\"},{\"field\":\"@message\",\"value\":\"" EXPIRED "\"},"
	  "{\"field\":\"@ptr\",\"value\":\"Cn\"}]],\"status\":\"Complete\"}",
	  "document", "cloudwatch", AT, NULL, "[{\"field\":\"@timestamp\"", 1 },
	{ "GCP, an array",
	  "[\n  {\n    \"insertId\": \"a1\",\n    \"jsonPayload\": {\n      \"message\": \"" EXPIRED "\"\n    },\n    \"resource\": {\n      \"labels\": {\n"
	  "        \"pod_name\": \"coordinator-0\"\n      }\n    },\n    \"timestamp\": \"" ISO "\"\n  }\n]\n",
	  "document", "gcp", INT64_C(1796038384220914), "coordinator-0", "{\n    \"insertId\"", 1 },
	{ "GCP, by its API",
	  "{\"entries\":[{\"insertId\":\"a1\",\"textPayload\":\"" KAFKA "\",\"timestamp\":\"" ISO "\"}],\"nextPageToken\":\"x\"}",
	  "document", "kafka in gcp", AT, NULL, "{\"insertId\"", 1 },
	{ "Elasticsearch, the answer to a search",
	  "{\"took\":3,\"timed_out\":false,\"hits\":{\"total\":{\"value\":1,\"relation\":\"eq\"},\"hits\":[\n{\"_index\":\"app-1\",\"_id\":\"x1\",\"_source\":"
	  "{\"@timestamp\":\"2026-11-30T11:33:04.220Z\",\"message\":\"" EXPIRED "\",\"host\":{\"name\":\"node-a\"}},\"sort\":[1796038384220]}\n]}}",
	  "document", "elasticsearch", AT, "node-a", "{\"_index\"", 1 },
	{ "Loki, the answer to a query: the labels are said once",
	  "{\"status\":\"success\",\"data\":{\"resultType\":\"streams\",\"result\":[{\"stream\":{\"app\":\"kafka\",\"pod\":\"kafka-0\"},\"values\":["
	  "[\"" NANOS "\",\"" EXPIRED "\"]]},{\"stream\":{\"app\":\"x\"},\"values\":[[\"1796038385000000000\",\"nothing\"]]}],\"stats\":{}}}",
	  "document", "loki", INT64_C(1796038384220914), "kafka-0", "[\"" NANOS, 2 },
	{ "OpenTelemetry, the resource is said once",
	  "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"kafka\"}},{\"key\":\"host.name\",\"value\":"
	  "{\"stringValue\":\"node-a\"}}]},\"scopeLogs\":[{\"scope\":{},\"logRecords\":[{\"timeUnixNano\":\"" NANOS "\",\"severityText\":\"INFO\",\"body\":"
	  "{\"stringValue\":\"" EXPIRED "\"}}]}]}]}\n",
	  "document", "otlp", INT64_C(1796038384220914), "node-a", "{\"timeUnixNano\"", 1 },
	{ "OpenTelemetry, as opentelemetry-proto's examples/logs.json writes it: times are numbers; two documents, as the collector's file exporter",
	  "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"my.service\"}}]},\"scopeLogs\":[{\"scope\":"
	  "{\"name\":\"my.library\",\"version\":\"1.0.0\",\"attributes\":[{\"key\":\"my.scope.attribute\",\"value\":{\"stringValue\":\"x\"}}]},\"logRecords\":"
	  "[{\"timeUnixNano\":" NANOS ",\"observedTimeUnixNano\":1796038389000000000,\"severityText\":\"Information\",\"traceId\":\"5B8EFFF798038103D269B633813FC60C\","
	  "\"body\":{\"stringValue\":\"" EXPIRED "\"},\"attributes\":[{\"key\":\"map.attribute\",\"value\":{\"kvlistValue\":{\"values\":[{\"key\":\"k\",\"value\":"
	  "{\"stringValue\":\"v\"}}]}}}]}]}]}]}\n"
	  "{\"resourceLogs\":[{\"resource\":{},\"scopeLogs\":[{\"scope\":{},\"logRecords\":[{\"timeUnixNano\":\"1796038385000000000\",\"body\":{\"stringValue\":\"x\"}}]}]}]}\n",
	  "document", "otlp", INT64_C(1796038384220914), NULL, "{\"timeUnixNano\"", 2 },
	{ "OpenTelemetry, of an unknown time (logs.proto: 0, or not there), as what reads syslog or files gives it",
	  "{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{\"timeUnixNano\":\"0\",\"observedTimeUnixNano\":\"" NANOS "\",\"body\":{\"stringValue\":\"" EXPIRED "\"}},"
	  "{\"observedTimeUnixNano\":\"1796038385000000000\",\"body\":{\"stringValue\":\"nothing\"}}]}]}]}",
	  "document", "otlp", INT64_C(1796038384220914), NULL, "{\"timeUnixNano\"", 2 },
	{ "Splunk, by its API",
	  "{\"preview\":false,\"results\":[{\"_raw\":\"" KAFKA "\",\"_time\":\"2026-11-30T12:33:04.220+0100\",\"host\":\"node-a\",\"source\":\"/x\"}]}",
	  "document", "kafka in splunk", AT, "node-a", "{\"_raw\"", 1 },
	{ "Splunk, by its API, rows: fields are texts, or objects with a name",
	  "{\"preview\":false,\"init_offset\":0,\"messages\":[],\"fields\":[\"_raw\",\"_time\",\"host\"],\"rows\":[[\"" KAFKA "\",\"2026-11-30T12:33:04.220+01:00\",\"node-a\"]]}",
	  "document", "kafka in splunk", AT, "node-a", "[\"" KAFKA, 1 },
	{ "the same with more than one value of a field",
	  "{\"fields\":[{\"name\":\"host\"},{\"name\":\"tag\",\"type\":\"str\"},{\"name\":\"_time\"},{\"name\":\"_raw\"}],\"rows\":[[\"node-a\",[\"a\",\"b\"],"
	  "\"2026-11-30T11:33:04.220+00:00\",\"" EXPIRED "\"],[\"node-a\",null,\"2026-11-30T11:33:05.000+00:00\",\"x\"]]}",
	  "document", "splunk", AT, "node-a", "[\"node-a\",[", 2 },
	{ "Splunk, what search/jobs/export streams: previews come again; its times are for the eye",
	  "{\"preview\":true,\"offset\":0,\"result\":{\"_time\":\"2026-11-30 11:33:04.220 GMT\",\"_raw\":\"" EXPIRED "\",\"host\":\"node-a\"}}\n"
	  "{\"preview\":false,\"offset\":0,\"result\":{\"_time\":\"2026-11-30 11:33:04.220 GMT\",\"_raw\":\"" EXPIRED "\",\"host\":\"node-a\"}}\n"
	  "{\"preview\":false,\"offset\":1,\"lastrow\":true,\"result\":{\"_time\":\"2026-11-30 11:33:05.000 GMT\",\"_raw\":\"nothing\",\"host\":\"node-a\"}}\n",
	  "lines", "splunk", AT, "node-a", "{\"preview\":false,\"offset\":0", 2 },
	{ "Datadog, by the older of its APIs",
	  "{\"logs\":[{\"id\":\"AQ\",\"content\":{\"timestamp\":\"2026-11-30T11:33:04.220Z\",\"tags\":[\"env:prod\"],\"attributes\":{\"a\":1},\"host\":\"node-a\","
	  "\"service\":\"kafka\",\"message\":\"" EXPIRED "\"}}],\"nextLogId\":\"BQ\",\"status\":\"done\"}",
	  "document", "datadog", AT, "node-a", "{\"id\":\"AQ\"", 1 },
	{ "Datadog, an archive (docs, log archives: an object a line)",
	  "{\"_id\":\"123456789abcdefg\",\"date\":\"2026-11-30T11:33:04.220Z\",\"host\":\"node-a\",\"source\":\"kafka\",\"service\":\"kafka\",\"status\":\"info\","
	  "\"message\":\"" EXPIRED "\",\"attributes\":{\"rid\":\"abc-123\",\"http\":{\"status_code\":403}},\"tags\":[\"env:prod\"]}\n",
	  "lines", "datadog", AT, "node-a", "{\"_id\"", 1 },
	{ "Datadog, by its API",
	  "{\"data\":[{\"id\":\"AQ\",\"type\":\"log\",\"attributes\":{\"timestamp\":\"2026-11-30T11:33:04.220Z\",\"host\":\"node-a\",\"service\":\"kafka\","
	  "\"message\":\"" EXPIRED "\"}}]}",
	  "document", "datadog", AT, "node-a", "{\"id\":\"AQ\"", 1 },
	{ "log4j's JsonLayout, objects over many lines",
	  "{\n  \"instant\" : {\n    \"epochSecond\" : 1796038384,\n    \"nanoOfSecond\" : 220000000\n  },\n  \"level\" : \"INFO\",\n"
	  "  \"message\" : \"" EXPIRED "\"\n}\n{\n  \"instant\" : {\"epochSecond\" : 1796038385, \"nanoOfSecond\" : 0 },\n  \"message\" : \"nothing\"\n}\n",
	  "document", "json-log4j2", AT, NULL, "{\n  \"instant\"", 2 },
	{ "log4j's JsonLayout, one array, which is never closed",
	  "[\n{ \"timeMillis\" : 1796038384220, \"message\" : \"" EXPIRED "\" }\n, { \"timeMillis\" : 1796038385000, \"message\" : \"nothing\" }\n",
	  "document", "json-log4j2-millis", AT, NULL, "{ \"timeMillis\" : 1796038384220", 2 },
	{ "the journal, json-pretty",
	  "{\n\t\"_HOSTNAME\" : \"node-a\",\n\t\"__REALTIME_TIMESTAMP\" : \"1796038384220000\",\n\t\"MESSAGE\" : \"" EXPIRED "\"\n}\n",
	  "document", "journal", AT, "node-a", "{\n\t\"_HOSTNAME", 1 },
	{ "Kibana's CSV: times in the browser's zone, which are taken as UTC",
	  "\"@timestamp\",message,\"kubernetes.pod.name\"\n\"Nov 30, 2026 @ 11:33:04.220\",\"" EXPIRED "\",\"kafka-0\"\n",
	  "csv", "csv", AT, "kafka-0", "\"Nov 30", 1 },
	{ "Splunk's CSV, a text with a trace over lines",
	  "\"_raw\",\"_time\",host,source,sourcetype\r\n\"" OTHER "\njava.lang.X: \"\"no\"\"\n\tat a.B\",\"2026-11-30T12:33:05.000+0100\",\"node-a\",\"/x\",\"log4j\"\r\n"
	  "\"" KAFKA "\",\"2026-11-30T12:33:04.220+0100\",\"node-a\",\"/x\",\"log4j\"\r\n",
	  "csv", "kafka in csv", AT, "node-a", "\"" KAFKA, 2 },
	{ "Datadog's CSV, as it is downloaded",
	  "Date,Host,Service,Content\n2026-11-30T11:33:05.000Z,node-a,kafka,\"INFO epoch: \"\"1\"\", more\"\n2026-11-30T11:33:04.220Z,node-a,kafka,\"" EXPIRED "\"\n",
	  "csv", "csv", AT, "node-a", "2026-11-30T11:33:04.220Z,node", 2 },
	{ "Datadog's CSV with columns of one's own: their values are JSON",
	  "Date,Host,Service,@thread,@@level,Message\n\"2026-11-30T11:33:04.220Z\",\"\"\"node-a\"\"\",\"\"\"kafka\"\"\",\"15\",\"\"\"info\"\"\",\"" EXPIRED "\"\n",
	  "csv", "csv", AT, "node-a", "\"2026-11-30T11:33:04.220Z\",\"", 1 },
	{ "Datadog's CSV, with another text",
	  "Date,Host,Service,Message\n2026-11-30T11:33:04.220Z,node-a,kafka,\"" EXPIRED "\"\n",
	  "csv", "csv", AT, "node-a", "2026-11-30T11:33:04.220Z,node", 1 },
	{ "the journal's export format",
	  "__CURSOR=s=d0;i=1\n__REALTIME_TIMESTAMP=1796038384223456\n_HOSTNAME=node-a\nSYSLOG_IDENTIFIER=java\n_PID=412\n"
	  "_SOURCE_REALTIME_TIMESTAMP=1796038384220000\nMESSAGE=" EXPIRED "\n\n__CURSOR=s=d0;i=2\n__REALTIME_TIMESTAMP=1796038385000000\n"
	  "_HOSTNAME=node-a\nMESSAGE=nothing\n\n",
	  "journal", "journal", AT, "node-a", "MESSAGE=[Group", 2 },
};

static void check_place(const struct place *place, const struct expected *x)
{
	const char *begins = strstr(x->text, x->begins);
	uint64_t line = 1;

	assert_non_null(begins);
	for (const char *p = x->text; p < begins; p++)
		line += *p == '\n';
	assert_int_equal(place->number, line);
	assert_int_equal(place->byte_offset, begins - x->text);
}

static void check_export(const struct expected *x)
{
	struct kit *k = read_log(sv_of(x->text));
	const struct event *e;

	assert_string_equal(form_of(sv_of(x->text)), x->form);
	e = only_eviction(k);
	assert_int_equal(e->time.us, x->us);
	assert_int_equal(e->place.unit, PLACE_LINE);
	check_place(&e->place, x);
	if (x->host == NULL)
		assert_absent(e->host);
	else
		assert_sv_equal(e->host, x->host);
	assert_sv_equal(k->info.format, x->format);
	assert_int_equal(k->info.records, x->records);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
}

static void every_export_gives_the_eviction(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++)
		check_export(&exports[i]);
}

/* kafka-console-consumer with OffsetsMessageFormatter prints no line ends from 3.9 on. */
static void objects_without_a_line_between_them_are_read_apart(void **state)
{
#define COMMIT(offset, at) "{\"key\":{\"type\":1,\"data\":{\"group\":\"g\",\"topic\":\"t\",\"partition\":3}},\"value\":{\"version\":3,\"data\":{\"offset\":" \
			   offset ",\"leaderEpoch\":7,\"metadata\":\"\",\"commitTimestamp\":" at "}}}"
	static const char text[] = COMMIT("5", "1796038384220") COMMIT("8", "1796038385220")
		"{\"key\":{\"type\":1,\"data\":{\"group\":\"g\",\"topic\":\"t\",\"partition\":3}},\"value\":null}";
	struct kit *k = read_log(SV(text));

	(void)state;
	assert_int_equal(k->event_count, 3);
	assert_int_equal(k->events[0].type, EVENT_OFFSET_COMMITTED);
	assert_int_equal(event_int_or(&k->events[0], FIELD_OFFSET, -1), 5);
	assert_int_equal(k->events[0].time.us, AT);
	assert_int_equal(event_int_or(&k->events[1], FIELD_OFFSET, -1), 8);
	assert_int_equal(k->events[1].place.byte_offset, strlen(COMMIT("5", "1796038384220")));
	assert_int_equal(k->events[1].time.us, AT + US_PER_S);
	kit_free(k);
}

/* ---- what is none ---- */

struct form_case {
	const char *text, *form;
};

static void check_forms(const struct form_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *form = form_of(sv_of(cases[i].text));

		if (strcmp(form, cases[i].form) != 0)
			fail_msg("%s, not %s: %s", form, cases[i].form, cases[i].text);
	}
}

static void what_is_read_by_lines_is_no_document(void **state)
{
	static const struct form_case cases[] = {
		{ KAFKA "\n", "lines" },
		{ "{\"time\":\"2026-11-30T11:33:04Z\",\"message\":\"x\",\"events\":[{\"timestamp\":1796038384220,\"message\":\"y\",\"ingestionTime\":1}]}\n"
		  "{\"time\":\"2026-11-30T11:33:05Z\",\"message\":\"x\"}\n", "lines" },
		{ "{\"log\":\"x\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T11:33:04Z\"}\n", "lines" },
		/* Entries without a time, or without a text. */
		{ "{\"events\":[{\"message\":\"x\",\"ingestionTime\":null}]}", "none" },
		{ "{\"hits\":{\"hits\":[{\"_index\":\"a\",\"_source\":{\"price\":3}}]}}", "none" },
		{ "[{\"id\":1,\"amount\":3},{\"id\":2,\"amount\":4}]", "none" },
		{ "[1, 2, 3]", "none" },
		{ "{\n \"name\": \"x\",\n \"version\": \"2026-11-30T11:33:04Z\"\n}\n", "none" },
		/* What Prometheus answers is no log, though it has "data.result[].values[]". */
		{ "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[]}]}}", "none" },
		/* Columns without a text, without a time, with a time that is none. */
		{ "time,value\n2026-11-30T11:33:04Z,3\n", "none" },
		{ "message,host\nx,node-a\n", "none" },
		{ "message,time\nx,soon\ny,later\n", "none" },
		/* A table of the business, whose mapping is missing: that is to be said of it. */
		{ "order_id,timestamp,result,message\n1,2026-11-30T11:33:04Z,ok,paid\n", "none" },
		{ "level,timestamp,thread,message\nINFO,2026-11-30T11:33:04Z,main,paid\n", "csv" },
		{ "time,line\n2026-11-30T11:33:04Z,paid\n", "csv" },
		/* A journal's fields behind something else; a text that has such names in it. */
		{ "MESSAGE=x\n__CURSOR=y\n", "none" },
		{ "__REALTIME_TIMESTAMP=1796038384220000\n_HOSTNAME=node-a\n", "none" },
	};

	(void)state;
	check_forms(cases, sizeof cases / sizeof cases[0]);
}

/* ---- damage ---- */

static void a_document_that_breaks_off_gives_what_came_before(void **state)
{
	struct kit *k = read_log(SV("{\"events\":[\n{\"timestamp\":1796038384220,\"message\":\"" EXPIRED "\",\"ingestionTime\":1},\n"
				    "{\"timestamp\":1796038384221,\"message\":\"[GroupCoor"));

	(void)state;
	(void)only_eviction(k);
	assert_int_equal(k->info.records, 1);
	assert_int_equal(kit_problems(k, "document.cut"), 1);
	assert_int_equal(kit_problem(k, "document.cut")->severity, SEVERITY_WARNING);
	assert_int_equal(kit_problem(k, "document.cut")->place.number, 3);
	kit_free(k);
}

#define PAGE(message) "{\"events\":[{\"timestamp\":1796038384220,\"message\":\"" message "\",\"ingestionTime\":1}]}"

/* Pages one after the other are read all; what else stands behind a document is told, with its place. */
static void what_stands_behind_a_document_is_told(void **state)
{
	static const struct {
		const char *behind, *code;	/* NULL: nothing is to be said */
		enum severity severity;
		uint64_t line, offset;		/* offset: behind the first page */
		uint64_t records;
	} cases[] = {
		{ "", NULL, SEVERITY_NOTE, 0, 0, 1 },
		{ "\n" PAGE("x") "\n", NULL, SEVERITY_NOTE, 0, 0, 2 },
		{ PAGE("x"), NULL, SEVERITY_NOTE, 0, 0, 2 },
		{ "{\"events\":[]}\n" PAGE("x"), NULL, SEVERITY_NOTE, 0, 0, 2 },
		{ "garbage", "document.stray", SEVERITY_WARNING, 1, 0, 1 },
		{ "\n\nan error: \"x " PAGE("x") "\n}", "document.stray", SEVERITY_WARNING, 3, 2, 2 },
		{ "\n{\"logs\":[{\"x\":1}]}\n" PAGE("x"), "document.unlike", SEVERITY_WARNING, 2, 1, 2 },
		{ "\n[1]", "document.unlike", SEVERITY_WARNING, 2, 1, 1 },
		{ "{\"nextToken\":\"x\"}", "document.empty", SEVERITY_NOTE, 1, 0, 1 },
	};
	static const char *const codes[] = { "document.stray", "document.unlike", "document.empty", "document.cut" };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[1024];

		snprintf(text, sizeof text, "%s%s", PAGE(EXPIRED), cases[i].behind);
		struct kit *k = read_log(sv_of(text));
		(void)only_eviction(k);
		assert_int_equal(k->info.records, cases[i].records);
		for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++) {
			bool wanted = cases[i].code != NULL && strcmp(cases[i].code, codes[c]) == 0;

			assert_int_equal(kit_problems(k, codes[c]), wanted);
			if (!wanted)
				continue;
			assert_int_equal(kit_problem(k, codes[c])->severity, cases[i].severity);
			assert_int_equal(kit_problem(k, codes[c])->place.number, cases[i].line);
			assert_int_equal(kit_problem(k, codes[c])->place.byte_offset, strlen(PAGE(EXPIRED)) + cases[i].offset);
		}
		kit_free(k);
	}
}

static void an_array_that_goes_on_growing_is_not_cut(void **state)
{
	struct kit *k = read_log(SV("[{\n\"timeMillis\":1796038384220,\"message\":\"" EXPIRED "\"}\n"));

	(void)state;
	(void)only_eviction(k);
	assert_int_equal(kit_problems(k, "document.cut"), 0);
	kit_free(k);
}

static void an_entry_of_another_shape_is_told(void **state)
{
	struct kit *k = read_log(SV("[\n{\"timeMillis\":1796038384220,\"message\":\"" EXPIRED "\"},\n[1],\nnull,\n"
				    "{\"timeMillis\":1796038384221,\"message\":\"x\"}]"));

	(void)state;
	(void)only_eviction(k);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(kit_problems(k, "document.entry"), 2);
	assert_int_equal(kit_problem(k, "document.entry")->place.number, 3);
	kit_free(k);
}

static void an_entry_too_long_is_left_out_and_the_next_is_read(void **state)
{
	struct buf text;
	struct kit *k;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV("[{\"timeMillis\":1796038384000,\"message\":\"x\"},\n{\"timeMillis\":1796038384001,\"message\":\""));
	for (int i = 0; i < 1100 * 1024; i++)
		buf_add_char(&text, 'x');
	buf_add(&text, SV("\"},\n{\"timeMillis\":1796038384220,\"message\":\"" EXPIRED "\"}]"));
	k = read_log(buf_sv(&text));
	assert_int_equal(only_eviction(k)->place.number, 3);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(kit_problems(k, "document.entry"), 1);
	assert_int_equal(kit_problem(k, "document.entry")->place.number, 2);
	buf_fini(&text);
	kit_free(k);
}

static void brackets_and_quotes_inside_texts_are_text(void **state)
{
	struct kit *k = read_log(SV("[ {\"timeMillis\":1796038384000, \"message\":\"a }] \\\" \\\\\", \"x\":[[{}],\"]\"]},\n"
				    " {\"timeMillis\":1796038384220, \"message\":\"" EXPIRED "\"}\n]\n"));

	(void)state;
	assert_int_equal(only_eviction(k)->place.number, 2);
	assert_int_equal(k->info.records, 2);
	kit_free(k);
}

static void evidence_is_quoted_without_the_indents_of_its_document(void **state)
{
	struct kit *k = read_log(SV("{\n  \"events\" : [ {\n    \"timestamp\" : 1796038384220,\n    \"message\" : \"" EXPIRED "\",\n"
				    "    \"ingestionTime\" : 1\n  } ]\n}\n"));

	(void)state;
	assert_sv_equal(only_eviction(k)->text, "{\"timestamp\":1796038384220,\"message\":\"" EXPIRED "\",\"ingestionTime\":1}");
	kit_free(k);
}

/* As PowerShell writes what a command prints. */
static void a_document_in_utf16_is_read(void **state)
{
	static const char text[] = "{\r\n \"events\": [\r\n  {\"timestamp\": 1796038384220, \"message\": \"" EXPIRED "\", \"ingestionTime\": 1}\r\n ]\r\n}\r\n";
	struct buf wide;
	struct kit *k;

	(void)state;
	buf_init(&wide);
	buf_add(&wide, SV("\xff\xfe"));
	for (const char *p = text; *p != '\0'; p++) {
		buf_add_char(&wide, *p);
		buf_add_char(&wide, '\0');
	}
	k = read_log(buf_sv(&wide));
	assert_int_equal(only_eviction(k)->place.number, 3);
	assert_int_equal(kit_problems(k, "document.cut"), 0);
	buf_fini(&wide);
	kit_free(k);
}

/* ---- what is said once ---- */

static void what_was_said_of_one_stream_is_not_said_of_the_next(void **state)
{
	struct kit *k = read_log(SV("{\"data\":{\"result\":[{\"stream\":{\"pod\":\"kafka-0\"},\"values\":[[\"" NANOS "\",\"nothing\"]]},\n"
				    "{\"values\":[[\"" NANOS "\",\"" EXPIRED "\",{\"trace\":\"x\"}]]}]}}"));

	(void)state;
	assert_absent(only_eviction(k)->host);
	kit_free(k);
}

static void a_message_with_a_trace_stays_together(void **state)
{
	struct kit *k = read_log(SV("message,@timestamp\n\"ConsumerConfig values: \n\tclient.id = c-1\n\tgroup.id = refunds\n"
				    "\tsession.timeout.ms = 10000\n\",2026-11-30T11:33:04.220Z\n"));

	(void)state;
	assert_int_equal(count_events(k, EVENT_CLIENT_CONFIG), 3);
	assert_int_equal(k->info.records, 1);
	kit_free(k);
}

#define UNAWARE "\"level\":\"ERROR\",\"logger\":\"kafkajs\",\"message\":\"[Runner] The coordinator is not aware of this member, re-joining the group\"," \
		"\"groupId\":\"refunds\",\"memberId\":\"m-1\",\"error\":\"The coordinator is not aware of this member\""

/* What a program wrote beside its message comes out of the log store with it. */
static void a_record_of_the_program_is_more_than_its_message(void **state)
{
	static const char *const exports_of_it[] = {
		"{\"_index\":\"i\",\"_id\":\"1\",\"_source\":{\"@timestamp\":\"2026-11-30T11:33:04.220Z\",\"kubernetes\":{\"pod\":{\"name\":\"p\"}}," UNAWARE "}}",
		"{\"insertId\":\"a\",\"timestamp\":\"2026-11-30T11:33:04.220Z\",\"jsonPayload\":{" UNAWARE "}}",
		/* OTLP's AnyValue (common.proto): int64 are texts in JSON. */
		"{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{\"timeUnixNano\":\"1796038384220000000\",\"body\":{\"kvlistValue\":{\"values\":["
		"{\"key\":\"level\",\"value\":{\"stringValue\":\"ERROR\"}},{\"key\":\"attempt\",\"value\":{\"intValue\":\"3\"}},"
		"{\"key\":\"tags\",\"value\":{\"arrayValue\":{\"values\":[]}}},{\"key\":\"logger\",\"value\":{\"stringValue\":\"kafkajs\"}},"
		"{\"key\":\"message\",\"value\":{\"stringValue\":\"[Runner] The coordinator is not aware of this member, re-joining the group\"}},"
		"{\"key\":\"groupId\",\"value\":{\"stringValue\":\"refunds\"}},{\"key\":\"memberId\",\"value\":{\"stringValue\":\"m-1\"}},"
		"{\"key\":\"error\",\"value\":{\"stringValue\":\"The coordinator is not aware of this member\"}}]}}}]}]}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof exports_of_it / sizeof exports_of_it[0]; i++) {
		struct kit *k = read_log(sv_of(exports_of_it[i]));

		assert_int_equal(k->event_count, 2);
		assert_int_equal(k->events[0].type, EVENT_CLIENT_MEMBERSHIP_LOST);
		assert_sv_equal(event_text(&k->events[0], FIELD_GROUP), "refunds");
		assert_sv_equal(event_text(&k->events[0], FIELD_MEMBER), "m-1");
		assert_int_equal(k->events[0].time.us, AT);
		kit_free(k);
	}
}

/* ---- the journal ---- */

#define JOURNAL_HEAD "__REALTIME_TIMESTAMP=1796038384220000\n_HOSTNAME=node-a\nSYSLOG_IDENTIFIER=java\n"

static void a_binary_field_is_read_by_its_length(void **state)
{
	struct buf text;
	struct kit *k;
	struct sv message = SV(EXPIRED "\n\tat a.B\n\n__CURSOR=x");

	(void)state;
	buf_init(&text);
	buf_add(&text, SV(JOURNAL_HEAD "COREDUMP\n"));
	buf_add(&text, (struct sv){ "\x05\0\0\0\0\0\0\0a\n\nb\xff\n", 14 });
	buf_add(&text, SV("MESSAGE\n"));
	buf_add_char(&text, (char)message.n);
	buf_add(&text, (struct sv){ "\0\0\0\0\0\0\0", 7 });
	buf_add(&text, message);
	buf_add(&text, SV("\n\n" JOURNAL_HEAD "MESSAGE=nothing\n"));
	k = read_log(buf_sv(&text));
	assert_int_equal(only_eviction(k)->time.us, AT);
	/* Bytes with line ends in them count as lines. */
	assert_int_equal(only_eviction(k)->place.number, 8);
	assert_sv_equal(only_eviction(k)->text, EXPIRED "\n\tat a.B\n\n__CURSOR=x");
	assert_int_equal(k->info.records, 2);
	assert_int_equal(kit_problems(k, "journal.cut") + kit_problems(k, "journal.field"), 0);
	buf_fini(&text);
	kit_free(k);
}

/* The same bytes by way of Windows: each LF is CR LF, in lengths and values too (10 is the length of the second message). */
static void an_export_with_crlf_is_read_as_it_was(void **state)
{
	struct buf text;
	struct kit *k;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV("__REALTIME_TIMESTAMP=1796038384220000\r\n_HOSTNAME=node-a\r\nMESSAGE=" EXPIRED "\r\n\r\n"));
	buf_add(&text, SV("__REALTIME_TIMESTAMP=1796038385220000\r\n_HOSTNAME=node-a\r\nMESSAGE\r\n"));
	buf_add(&text, (struct sv){ "\r\n\0\0\0\0\0\0\0" "nothing\r\n12\r\n\r\n", 9 + 7 + 2 + 2 + 4 });
	buf_add(&text, SV("__REALTIME_TIMESTAMP=1796038386220000\r\n_HOSTNAME=node-a\r\nMESSAGE=a\rb\r\n"));
	k = read_log(buf_sv(&text));
	assert_int_equal(only_eviction(k)->time.us, AT);
	assert_sv_equal(only_eviction(k)->host, "node-a");
	assert_sv_equal(only_eviction(k)->text, EXPIRED);
	assert_int_equal(only_eviction(k)->place.number, 3);
	assert_int_equal(k->info.records, 3);
	assert_int_equal(kit_problems(k, "journal.cut") + kit_problems(k, "journal.field"), 0);
	buf_fini(&text);
	kit_free(k);
}

static void a_length_beyond_the_end_ends_the_input(void **state)
{
	struct buf text;
	struct kit *k;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV(JOURNAL_HEAD "MESSAGE=" EXPIRED "\n\n" JOURNAL_HEAD "MESSAGE\n"));
	buf_add(&text, SV("\xff\xff\xff\xff\xff\xff\xff\xffx"));
	k = read_log(buf_sv(&text));
	(void)only_eviction(k);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(kit_problems(k, "journal.cut"), 1);
	assert_int_equal(kit_problems(k, "log.record_cut"), 1);
	buf_fini(&text);
	kit_free(k);
}

/* The journal's own times tell in which zone those of the lines were written: the export is looked through ahead as any log is. */
static void the_journal_tells_the_zone_of_its_lines(void **state)
{
	struct kit *k = read_log(SV("__REALTIME_TIMESTAMP=1796038384221000\n_HOSTNAME=node-a\nMESSAGE=[2026-11-30 12:33:04,220] INFO " EXPIRED " (a.B)\n\n"));

	(void)state;
	assert_int_equal(only_eviction(k)->time.us, AT);
	assert_sv_equal(k->info.zone_source, "wrapper");
	kit_free(k);
}

/* ---- pasted with an indent ---- */

#define TRACE "[2026-11-30 11:33:05,000] ERROR failed (a.B)"

static void check_pasted(const char *what, const char *text, uint64_t number, uint64_t records)
{
	struct kit *k = read_log(sv_of(text));

	if (k->info.records != records)
		fail_msg("%s: %d records", what, (int)k->info.records);
	assert_int_equal(only_eviction(k)->time.us, AT);
	assert_int_equal(only_eviction(k)->place.number, number);
	assert_sv_equal(only_eviction(k)->text, KAFKA);
	kit_free(k);
}

static void the_indent_of_a_pasted_log_is_taken_off(void **state)
{
	(void)state;
	check_pasted("four blanks", "    " KAFKA "\n    " TRACE "\n    \tat a.B(B.java:1)\n    Caused by: x\n\n    " OTHER "\n", 1, 3);
	check_pasted("a tab, CRLF", "\t" TRACE "\r\n\t\tat a.B(B.java:1)\r\n\t" KAFKA "\r\n", 3, 2);
	check_pasted("an answer to a mail that had it", "He wrote:\n>     " OTHER "\n>     " KAFKA "\n>\n>     " OTHER "\n", 3, 3);
	check_pasted("in a list, between fences", "1. This is what I see:\n\n   ```\n   " OTHER "\n   " KAFKA "\n   ```\n\nAnd no more.\n", 5, 2);
	check_pasted("in much prose", "# Refunds twice\n\nAt noon we saw this.\n\n    " OTHER "\n    " KAFKA "\n\nThe broker\nis fine,\nand so\nare we.\n", 6, 2);
	check_pasted("an object a line", "    {\"time\":\"2026-11-30T11:33:04Z\",\"message\":\"nothing\"}\n    " KAFKA "\n", 2, 2);
	check_pasted("fences without an indent", "# Report\n\n```\n" OTHER "\n" KAFKA "\n```\n", 5, 2);
	/* Cut out of the middle of its file: it begins in a trace. */
	check_pasted("a trace first", "    \tat a.B(B.java:2)\n    \tat a.C(C.java:3)\n    " KAFKA "\n", 3, 1);
}

/* Select-String -Context: "> " before what was found, two blanks before what stands around it. */
static void what_stands_around_a_find_is_read_with_it(void **state)
{
	struct kit *k = read_log(SV("\r\n  C:\\logs\\server.log:11:" OTHER "\r\n> C:\\logs\\server.log:12:" KAFKA "\r\n  C:\\logs\\server.log:13:" OTHER "\r\n"));

	(void)state;
	assert_int_equal(only_eviction(k)->time.us, AT);
	assert_int_equal(only_eviction(k)->place.number, 3);
	assert_int_equal(k->info.records, 3);
	kit_free(k);
}

static void a_margin_is_no_indent(void **state)
{
	static const struct form_case cases[] = {
		/* A long trace, with a record of another log in it. */
		{ TRACE "\n    at a.B(B.java:1)\n    at a.C(C.java:1)\n    [2026-11-30 11:33:04,000] INFO remote (x)\n    at a.D\n", "lines" },
		{ "\tat a.B(B.java:1)\n\tat a.B(B.java:2)\n\tat a.B(B.java:3)\n" KAFKA "\n", "lines" },
		{ "> " KAFKA "\n> " OTHER "\n", "lines" },
		{ "    some prose\n    and more of it\n", "none" },
		{ "    " KAFKA "\n", "indent" },
		/* One example in a text is none. */
		{ "Such lines:\n\n    " KAFKA "\n\nare read.\n", "none" },
		/* As many here as there: it is the margin's log. */
		{ KAFKA "\n    " KAFKA "\n    x\n", "lines" },
	};

	(void)state;
	check_forms(cases, sizeof cases / sizeof cases[0]);
}

/* A trace that stands further in than its record belongs to it, whatever it holds. */
static void continuations_keep_what_is_theirs(void **state)
{
	struct kit *k = read_log(SV("    " TRACE "\n        [2026-11-30 11:33:04,000] INFO remote (x)\n    \t... 5 more\n"
				    "    [2026-11-30 11:33:06,000] INFO ConsumerConfig values: \n    \tclient.id = c-1\n    \tgroup.id = refunds\n"
				    "    \tsession.timeout.ms = 10000\n"));

	(void)state;
	assert_int_equal(count_events(k, EVENT_CLIENT_CONFIG), 3);
	assert_int_equal(k->info.records, 2);
	kit_free(k);
}

/* ---- syslog over TCP (RFC 6587 3.4) ---- */

/* Lengths by wc -c. */
#define EXPIRED_FRAME "140 <134>1 2026-11-30T11:33:04.220Z node-a java 412 - - " EXPIRED

static void counted_messages_are_read_one_behind_the_other(void **state)
{
	struct kit *k = read_log(SV(EXPIRED_FRAME "91 <134>1 2026-11-30T11:33:05Z node-a java 412 - - java.lang.X: no\n\tat a.B(B.java:1)\nlast line"
				    "76 <134>1 2026-11-30T11:33:06Z node-b java 412 - - 12 <134>1 is no message here"));

	(void)state;
	assert_int_equal(strlen(EXPIRED_FRAME), 4 + 140);
	assert_int_equal(only_eviction(k)->time.us, AT);
	assert_sv_equal(only_eviction(k)->host, "node-a");
	assert_sv_equal(only_eviction(k)->text, "<134>1 2026-11-30T11:33:04.220Z node-a java 412 - - " EXPIRED);
	assert_int_equal(only_eviction(k)->place.byte_offset, 0);
	assert_int_equal(k->info.records, 3);
	assert_int_equal(kit_problems(k, "syslog.frame"), 0);
	kit_free(k);
}

static void a_frame_in_the_older_format_and_lines_are_read_too(void **state)
{
	struct kit *k = read_log(SV("76 <134>1 2026-11-30T11:33:03Z node-b java 412 - - 12 <134>1 is no message here"
				    "52 <13>Nov 30 11:33:03 node-a java[412]: nothing at all<13>Nov 30 11:33:04 node-a java[412]: " EXPIRED "\n"
				    "\n52 <13>Nov 30 11:33:05 node-a java[412]: nothing at all\n"));

	(void)state;
	assert_sv_equal(only_eviction(k)->host, "node-a");
	assert_int_equal(only_eviction(k)->time.us, AT - 220000);
	assert_int_equal(k->info.records, 4);
	assert_int_equal(kit_problems(k, "syslog.frame"), 0);
	kit_free(k);
}

static void a_length_that_lies_loses_what_it_covers_alone(void **state)
{
	/* The first says 20 too few: what is left of it is no message. */
	struct kit *k = read_log(SV("26 <134>1 - - - - - - nothing" "32 <13>Nov 30 11:33:03 node-a java[412]: nothing at all 7 <b" EXPIRED_FRAME));

	(void)state;
	(void)only_eviction(k);
	assert_int_equal(kit_problems(k, "syslog.frame"), 1);
	assert_int_equal(kit_problem(k, "syslog.frame")->severity, SEVERITY_WARNING);
	assert_int_equal(kit_problem(k, "syslog.frame")->place.byte_offset, 3 + 26 + 3 + 32);
	kit_free(k);
}

static void a_frame_that_breaks_off_is_cut(void **state)
{
	struct kit *k = read_log(SV(EXPIRED_FRAME "140 <134>1 2026-11-30T11:33:05.220Z node-a java 412 - - [GroupCoord"));

	(void)state;
	(void)only_eviction(k);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(kit_problems(k, "log.record_cut"), 1);
	kit_free(k);
}

static void what_only_begins_like_a_frame_is_none(void **state)
{
	static const struct form_case cases[] = {
		{ "26 <134>1 - - - - - - nothing", "frames" },
		{ "26 <134>1 - - - - - - nothing26 <134>1 - - - - - - nothing", "frames" },
		/* Not as long as it says. */
		{ "20 <134>1 - - - - - - nothing26 <134>1 - - - - - - nothing", "none" },
		/* No priority, one too high, a length that is none. */
		{ "26 <192>1 - - - - - - nothing", "none" },
		{ "26 [134]1 - - - - - - nothing", "none" },
		{ "026 <134>1 - - - - - - nothing", "none" },
		{ "<134>1 2026-11-30T11:33:04Z node-a java 412 - - nothing\n", "lines" },
	};

	(void)state;
	check_forms(cases, sizeof cases / sizeof cases[0]);
}

/* ---- what was shipped twice ---- */

static void an_entry_shipped_twice_is_one(void **state)
{
	static const char *const twice[] = {
		"{\"logStreamName\":\"s\",\"timestamp\":1796038384220,\"message\":\"" EXPIRED "\",\"ingestionTime\":1796038389001,\"eventId\":\"38\"}\n",
		"{\"insertId\":\"a\",\"timestamp\":\"" ISO "\",\"textPayload\":\"" EXPIRED "\"}\n",
		"{\"_index\":\"i\",\"_id\":\"x\",\"_source\":{\"@timestamp\":\"" ISO "\",\"message\":\"" EXPIRED "\"}}\n",
		"{\"__CURSOR\":\"s=1;i=2\",\"__REALTIME_TIMESTAMP\":\"1796038384220000\",\"MESSAGE\":\"" EXPIRED "\"}\n",
		"__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1796038384220000\nMESSAGE=" EXPIRED "\n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
		struct buf text;
		struct kit *k;

		buf_init(&text);
		buf_printf(&text, "%s%s", twice[i], twice[i]);
		k = read_log(buf_sv(&text));
		assert_int_not_equal(only_eviction(k)->record_id, 0);
		assert_int_equal(k->info.records, 1);
		assert_int_equal(kit_problems(k, "log.repeated"), 1);
		assert_int_equal(kit_problem(k, "log.repeated")->severity, SEVERITY_NOTE);
		buf_fini(&text);
		kit_free(k);
	}
}

static void entries_alike_under_ids_of_their_own_are_two(void **state)
{
	static const struct {
		const char *what, *text;
	} cases[] = {
		{ "two ids",
		  "{\"insertId\":\"a\",\"timestamp\":\"" ISO "\",\"textPayload\":\"" EXPIRED "\"}\n"
		  "{\"insertId\":\"b\",\"timestamp\":\"" ISO "\",\"textPayload\":\"" EXPIRED "\"}\n" },
		{ "an id twice, at two times: it names an entry of one time",
		  "{\"insertId\":\"a\",\"timestamp\":\"" ISO "\",\"textPayload\":\"" EXPIRED "\"}\n"
		  "{\"insertId\":\"a\",\"timestamp\":\"2026-11-30T11:33:05Z\",\"textPayload\":\"" EXPIRED "\"}\n" },
		{ "without an id",
		  "{\"_index\":\"i\",\"_source\":{\"@timestamp\":\"" ISO "\",\"message\":\"" EXPIRED "\"}}\n"
		  "{\"_index\":\"i\",\"_source\":{\"@timestamp\":\"" ISO "\",\"message\":\"" EXPIRED "\"}}\n" },
		{ "lines without a wrapper", KAFKA "\n" KAFKA "\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_log(sv_of(cases[i].text));

		if (k->event_count != 3 || k->info.records != 2)
			fail_msg("%s", cases[i].what);
		assert_int_equal(kit_problems(k, "log.repeated"), 0);
		kit_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_export_gives_the_eviction),
		cmocka_unit_test(objects_without_a_line_between_them_are_read_apart),
		cmocka_unit_test(what_is_read_by_lines_is_no_document),
		cmocka_unit_test(a_document_that_breaks_off_gives_what_came_before),
		cmocka_unit_test(what_stands_behind_a_document_is_told),
		cmocka_unit_test(an_array_that_goes_on_growing_is_not_cut),
		cmocka_unit_test(an_entry_of_another_shape_is_told),
		cmocka_unit_test(an_entry_too_long_is_left_out_and_the_next_is_read),
		cmocka_unit_test(brackets_and_quotes_inside_texts_are_text),
		cmocka_unit_test(evidence_is_quoted_without_the_indents_of_its_document),
		cmocka_unit_test(a_document_in_utf16_is_read),
		cmocka_unit_test(what_was_said_of_one_stream_is_not_said_of_the_next),
		cmocka_unit_test(a_message_with_a_trace_stays_together),
		cmocka_unit_test(a_record_of_the_program_is_more_than_its_message),
		cmocka_unit_test(a_binary_field_is_read_by_its_length),
		cmocka_unit_test(an_export_with_crlf_is_read_as_it_was),
		cmocka_unit_test(a_length_beyond_the_end_ends_the_input),
		cmocka_unit_test(the_journal_tells_the_zone_of_its_lines),
		cmocka_unit_test(the_indent_of_a_pasted_log_is_taken_off),
		cmocka_unit_test(what_stands_around_a_find_is_read_with_it),
		cmocka_unit_test(a_margin_is_no_indent),
		cmocka_unit_test(continuations_keep_what_is_theirs),
		cmocka_unit_test(counted_messages_are_read_one_behind_the_other),
		cmocka_unit_test(a_frame_in_the_older_format_and_lines_are_read_too),
		cmocka_unit_test(a_length_that_lies_loses_what_it_covers_alone),
		cmocka_unit_test(a_frame_that_breaks_off_is_cut),
		cmocka_unit_test(what_only_begins_like_a_frame_is_none),
		cmocka_unit_test(an_entry_shipped_twice_is_one),
		cmocka_unit_test(entries_alike_under_ids_of_their_own_are_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
