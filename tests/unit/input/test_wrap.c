/* SPDX-License-Identifier: MIT */
/* Layers one by one. Shapes are those of input-formats.md 4.1, values made up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "input/log/wrap.h"
#include "input_kit.h"

/* 2026-11-30T11:33:04Z */
#define T INT64_C(1796038384)

#define INNER "[2026-11-30 12:33:04,220] INFO text (a.b.C)"

struct expected {
	const char *line, *name, *text;
	int64_t us;		/* of the wrapper's time; -1: it has none; -2: it lacks something */
	const char *host;	/* NULL: none */
	enum wrap_piece piece;
};

static struct wrap_memory memory(void)
{
	return (struct wrap_memory){ .input = arena_new(), .record = arena_new() };
}

static void memory_fini(struct wrap_memory *m)
{
	arena_free(m->input);
	arena_free(m->record);
}

static void check_time(const struct expected *e, const struct wrap_layer *layer)
{
	struct host_time instants[2];
	enum zone_local local;

	assert_int_equal(layer->has_time, e->us != -1);
	if (e->us == -1)
		return;
	assert_int_equal(tstamp_resolve(&layer->time, (struct zone){ 0 }, instants, &local), e->us != -2);
	if (e->us != -2)
		assert_int_equal(instants[0].us, e->us);
}

static void check(const struct expected *e)
{
	struct wrap_memory m = memory();
	struct wrap_layer layer;

	if (!wrap_peel(sv_of(e->line), &m, &layer))
		fail_msg("not peeled: %s", e->line);
	assert_string_equal(layer.name, e->name);
	assert_sv_equal(layer.text, e->text);
	check_time(e, &layer);
	if (e->host == NULL)
		assert_absent(layer.host);
	else
		assert_sv_equal(layer.host, e->host);
	assert_int_equal(layer.piece, e->piece);
	memory_fini(&m);
}

static void each_wrapper_comes_off(void **state)
{
	static const struct expected cases[] = {
		{ "{\"log\":\"text\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T11:33:04.220914361Z\"}", "docker", "text",
		  T * US_PER_S + 220914, NULL, WRAP_LAST },
		{ "{\"log\":\"begin\",\"stream\":\"stdout\",\"time\":\"2026-11-30T11:33:04Z\",\"attrs\":{\"tag\":\"x\"}}", "docker", "begin",
		  T * US_PER_S, NULL, WRAP_UNENDED },
		{ "2026-11-30T11:33:04.220914361Z stdout F text", "cri", "text", T * US_PER_S + 220914, NULL, WRAP_LAST },
		{ "2026-11-30T12:33:04.3+01:00 stderr P begin", "cri", "begin", T * US_PER_S + 300000, NULL, WRAP_OPEN },
		{ "2026-11-30T12:33:04.3+01:00 stderr F:x text", "cri", "text", T * US_PER_S + 300000, NULL, WRAP_LAST },
		{ "2026-11-30T11:33:04Z stdout F ", "cri", "", T * US_PER_S, NULL, WRAP_LAST },
		{ "[pod/orders-6c9f/app] text", "kubectl", "text", -1, "orders-6c9f", WRAP_WHOLE },
		{ "2026-11-30T11:33:04.220914361Z text", "timestamps", "text", T * US_PER_S + 220914, NULL, WRAP_WHOLE },
		{ "2026-11-30T11:33:04.220Z " INNER, "timestamps", INNER, T * US_PER_S + 220000, NULL, WRAP_WHOLE },
		{ "orders-svc-6c9f app " INNER, "stern", INNER, -1, "orders-svc-6c9f", WRAP_WHOLE },
		{ "{\"message\":\"text\",\"namespace\":\"shop\",\"podName\":\"orders-6c9f\",\"containerName\":\"app\"}", "stern", "text", -1,
		  "orders-6c9f", WRAP_WHOLE },
		{ "app-1  | text", "compose", "text", -1, "app-1", WRAP_WHOLE },
		{ "kafka | ", "compose", "", -1, "kafka", WRAP_WHOLE },
		{ "Nov 30 11:33:04 node-a java[412]: text", "syslog", "text", -2, "node-a", WRAP_WHOLE },
		{ "Nov  3 11:33:04.123456 node-a kernel: text", "syslog", "text", -2, "node-a", WRAP_WHOLE },
		{ "<134>Nov 30 11:33:04 node-a [Consumer clientId=x] text", "syslog", "[Consumer clientId=x] text", -2, "node-a", WRAP_WHOLE },
		/* Without a tag: what stands before the first colon is part of the text. In a file, where no priority stands, too. */
		{ "<13>Nov 30 11:33:04 node-a " INNER, "syslog", INNER, -2, "node-a", WRAP_WHOLE },
		{ "<13>Nov 30 11:33:04 node-a java.lang.IllegalStateException: text", "syslog", "java.lang.IllegalStateException: text", -2,
		  "node-a", WRAP_WHOLE },
		{ "<13>Nov 30 11:33:04 node-a WARNING: text", "syslog", "WARNING: text", -2, "node-a", WRAP_WHOLE },
		{ "<13>Nov 30 11:33:04 node-a #011Suppressed: text", "syslog", "#011Suppressed: text", -2, "node-a", WRAP_WHOLE },
		{ "<13>Nov 30 11:33:04 node-a app.Server: text", "syslog", "text", -2, "node-a", WRAP_WHOLE },
		{ "Nov 30 11:33:04 node-a " INNER, "syslog", INNER, -2, "node-a", WRAP_WHOLE },
		{ "Nov 30 11:33:04 node-a {\"a\":1}", "syslog", "{\"a\":1}", -2, "node-a", WRAP_WHOLE },
		{ "2026-11-30T12:33:04.123456+01:00 node-a " INNER, "syslog", INNER, T * US_PER_S + 123456, "node-a", WRAP_WHOLE },
		{ "<134>1 2026-11-30T11:33:04.5Z node-a app 17676 - [mdc@32473 id=\"a]b\\\"\"][x] text", "syslog", "text", T * US_PER_S + 500000,
		  "node-a", WRAP_WHOLE },
		{ "<34>1 - - - - - - text", "syslog", "text", -1, NULL, WRAP_WHOLE },
		{ "2026-11-30T12:33:04+0100 node-a java[412]: text", "syslog", "text", T * US_PER_S, "node-a", WRAP_WHOLE },
		{ "2026-11-30T12:33:04.123456+01:00 node-a java[412]: text", "syslog", "text", T * US_PER_S + 123456, "node-a", WRAP_WHOLE },
		{ "Mon 2026-11-30 12:33:04 CET node-a kafka.service[412]: text", "syslog", "text", T * US_PER_S, "node-a", WRAP_WHOLE },
		{ "1796038384.123456 node-a java[412]: text", "syslog", "text", T * US_PER_S + 123456, "node-a", WRAP_WHOLE },
		{ "[ 1384.223456] node-a java[412]: text", "syslog", "text", -2, "node-a", WRAP_WHOLE },
		{ "[ 1384.223145 <    0.899689 >] node-a java[412]: text", "syslog", "text", -2, "node-a", WRAP_WHOLE },
		{ "{\"__REALTIME_TIMESTAMP\":\"1796038385000000\",\"_SOURCE_REALTIME_TIMESTAMP\":\"1796038384123456\",\"_HOSTNAME\":\"node-a\","
		  "\"SYSLOG_IDENTIFIER\":\"java\",\"_PID\":\"412\",\"MESSAGE\":\"text\"}", "journal", "text", T * US_PER_S + 123456, "node-a", WRAP_WHOLE },
		{ "{\"MESSAGE\":[116,101,120,116,233],\"__REALTIME_TIMESTAMP\":\"1796038384000000\"}", "journal", "text\xe9", T * US_PER_S, NULL,
		  WRAP_WHOLE },
		{ "2026-11-30T12:33:04+01:00 {pod=\"orders-6c9f\", x=\"}\"} text", "loki", "text", T * US_PER_S, "orders-6c9f", WRAP_WHOLE },
		{ "{\"labels\":{\"app\":\"orders\",\"pod\":\"orders-6c9f\"},\"line\":\"text\",\"timestamp\":\"2026-11-30T11:33:04Z\"}", "loki", "text",
		  T * US_PER_S, "orders-6c9f", WRAP_WHOLE },
		{ "{\"logStreamName\":\"app/app/0123\",\"timestamp\":1796038384220,\"message\":\"text\",\"ingestionTime\":1796038389001}", "cloudwatch",
		  "text", T * US_PER_S + 220000, NULL, WRAP_WHOLE },
		{ "2026-11-30T11:33:04.220000+00:00 app/app/0123 text", "cloudwatch", "text", T * US_PER_S + 220000, NULL, WRAP_WHOLE },
		{ "{\"_index\":\"x\",\"_id\":\"1\",\"_source\":{\"@timestamp\":\"2026-11-30T11:33:04.000Z\",\"message\":\"text\","
		  "\"host\":{\"name\":\"node-a\"}}}", "elasticsearch", "text", T * US_PER_S, "node-a", WRAP_WHOLE },
		{ "{\"preview\":false,\"result\":{\"_raw\":\"text\",\"_time\":\"2026-11-30T12:33:04.000+0100\",\"host\":\"node-a\"}}", "splunk", "text",
		  T * US_PER_S, "node-a", WRAP_WHOLE },
		{ "{\"insertId\":\"a1\",\"textPayload\":\"text\",\"timestamp\":\"2026-11-30T11:33:04Z\",\"resource\":{\"labels\":{\"pod_name\":\"p-1\"}}}",
		  "gcp", "text", T * US_PER_S, "p-1", WRAP_WHOLE },
		{ "{\"timeUnixNano\":\"1796038384000000000\",\"body\":{\"stringValue\":\"text\"}}", "otlp", "text", T * US_PER_S, NULL, WRAP_WHOLE },
		{ "[ 1384.223456] e1000e eth0: Link is Down", "dmesg", "e1000e eth0: Link is Down", -2, NULL, WRAP_WHOLE },
		{ "[  384.223456] igb 0000:01:00.0 eth0: text", "dmesg", "igb 0000:01:00.0 eth0: text", -2, NULL, WRAP_WHOLE },
		{ "<4>[ 1384.223456] text here: x", "dmesg", "text here: x", -2, NULL, WRAP_WHOLE },
		{ "kern  :warn  : [ 1384.223456] text", "dmesg", "text", -2, NULL, WRAP_WHOLE },
		{ "logs/app.log:12:text", "grep", "text", -1, NULL, WRAP_WHOLE },
		{ "app.log:" INNER, "grep", INNER, -1, NULL, WRAP_WHOLE },
		{ "/var/log/app-1.log-13-" INNER, "grep", INNER, -1, NULL, WRAP_WHOLE },
		{ "app.log-13-{\"a\":1}", "grep", "{\"a\":1}", -1, NULL, WRAP_WHOLE },
		/* findstr /n, findstr without it, Select-String in a directory and with a share. */
		{ "C:\\logs\\app.log:123:" INNER, "grep", INNER, -1, NULL, WRAP_WHOLE },
		{ "C:\\Program Files\\Kafka\\logs\\app.log:123:text", "grep", "text", -1, NULL, WRAP_WHOLE },
		{ "c:/logs/app.log:" INNER, "grep", INNER, -1, NULL, WRAP_WHOLE },
		{ "logs\\server:7:text", "grep", "text", -1, NULL, WRAP_WHOLE },
		{ "\\\\node-a\\logs\\app.log:7:{\"a\":1}", "grep", "{\"a\":1}", -1, NULL, WRAP_WHOLE },
		{ "12:" INNER, "grep", INNER, -1, NULL, WRAP_WHOLE },
		{ "12-{\"a\":1}", "grep", "{\"a\":1}", -1, NULL, WRAP_WHOLE },
		{ "> text", "quote", "text", -1, NULL, WRAP_WHOLE },
		{ ">> text", "quote", "text", -1, NULL, WRAP_WHOLE },
		{ ">" INNER, "quote", INNER, -1, NULL, WRAP_WHOLE },
		{ "\xef\xbb\xbf" INNER, "mark", INNER, -1, NULL, WRAP_WHOLE },
		{ "\x1b[32mINFO\x1b[0m text\x1b[1;31m", "colours", "INFO text", -1, NULL, WRAP_WHOLE },
		{ "\x1b[32mtext\x1b[", "colours", "text\x1b[", -1, NULL, WRAP_WHOLE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check(&cases[i]);
}

static void lines_of_applications_are_left_as_they_are(void **state)
{
	static const char *const lines[] = {
		"", " ", INNER, "text",
		"2026-11-30T13:47:14.839Z  INFO 15082 --- [main] a.b.C  : x: y",
		"2026-11-30 12:33:04.220  INFO 1 --- [t] a.b.C  : x",
		"2026-11-30 12:33:04,220 INFO  [a.b.C] (t) x",
		/* A level is no host; neither is a thread, without a number behind the logger. */
		"2026-11-30T12:33:04Z WARN kafka: text",
		"2026-11-30T12:33:04Z main kafka.Consumer: text",
		"2026-11-30T12:33:04.220Z text",
		"2026-11-30T12:33:04Z stdout X text",
		"2026-11-30T12:33:04Z {\"level\":\"x\"} text",
		"Nov 30, 2026 11:31:38 AM L main",
		/* No syslog's: of an application that writes such times; a level; another form of time; none behind it but a day. */
		"Nov 30 11:33:04 Started early", "Nov 30 11:33:04 node-a text", "Nov 30 11:33:04 node-a java.io.IOException: text",
		"Nov 30 11:33:04 INFO " INNER, "2026-11-30T12:33:04.123+01:00 node-a " INNER, "Nov 30 11:33:04 node-a 2026-11-30 text",
		"%4|1796038384.220|SESSTMOUT|rdkafka#consumer-1| [thrd:main]: text",
		"\tat a.b.C.d(C.java:12): x", "java.lang.IllegalStateException: boom: 12:13",
		/* Not the kernel's: it writes six digits. Nor a JVM's. */
		"[ 1380.123] e1000e eth0: Link is Down", "[0.073s][info][gc,start    ] GC(0) Pause Young",
		"[  +0.030572] e1000e eth0: Link is Down", "[<    0.030572>] e1000e eth0: Link is Down",
		"kern  :warn  : [Mon Nov 30 11:29:51 2026] e1000e eth0: Link is Down",
		"[pods/x/y] text", "[pod/x] text",
		"word word text", "a-b c text [2026-11-30 12:33:04,220]",
		"{\"log\":\"text\",\"level\":\"info\"}", "{\"message\":\"text\",\"timestamp\":\"2026-11-30T12:33:04Z\"}",
		"{\"log\":\"text\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T11:33:04Z\"",
		"<999>Nov 30 11:33:04 text", "<134>1 yesterday node-a app 1 - - text",
		"11:31:38.530 [main] INFO a.B - x", "| a | b |", " id | name",
		/* A number or a name before something that is no beginning of a record; a tag; a mark alone. */
		"C:\\logs\\app.log: 12 files", "C:\\logs\\app.log", "C:12:text", "cause: \\x:12:text", "app.log:\tat a.B",
		/* What may go on in the next piece. */
		"text \x1b[3", "text \x1b",
		"12:text", "12:13 text", "12-text", "a-12-" INNER, "app.log-x-" INNER, ">text", "\xef\xbb\xbf",
	};
	struct wrap_memory m = memory();

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct wrap_layer layer;

		if (wrap_peel(sv_of(lines[i]), &m, &layer))
			fail_msg("%s peeled from: %s", layer.name, lines[i]);
	}
	memory_fini(&m);
}

static void a_container_seen_before_is_known(void **state)
{
	static const char *const trace[] = {
		"Nov 30 11:33:04 node-b java.lang.IllegalStateException: text", "Nov 30 11:33:04 node-b \tat a.B.c(B.java:12)",
		"Nov 30 11:33:04 node-b Caused by: java.io.IOException: text", "2026-11-30T12:33:04.123456+01:00 node-b #011at a.B",
		"<13>Nov 30 11:33:04 node-b Caused by: java.io.IOException: text",
	};
	struct wrap_memory m = memory();
	struct wrap_layer layer;

	(void)state;
	assert_false(wrap_peel(SV("orders-6c9f app \tat a.B"), &m, &layer));
	assert_true(wrap_peel(SV("orders-6c9f app " INNER), &m, &layer));
	assert_true(wrap_peel(SV("orders-6c9f app \tat a.B"), &m, &layer));
	assert_sv_equal(layer.text, "\tat a.B");
	assert_false(wrap_peel(SV("orders-6c9f web \tat a.B"), &m, &layer));
	/* So are the lines that grep numbers, but for times of day. */
	assert_false(wrap_peel(SV("12:\tat a.B"), &m, &layer));
	assert_true(wrap_peel(SV("11:" INNER), &m, &layer));
	assert_true(wrap_peel(SV("12:\tat a.B"), &m, &layer));
	assert_sv_equal(layer.text, "\tat a.B");
	assert_false(wrap_peel(SV("11:31:38.530 [main] INFO a.B - x"), &m, &layer));
	/* So is a file, by the trace of a record that was found in it. */
	assert_false(wrap_peel(SV("C:\\logs\\app.log:\tat a.B"), &m, &layer));
	assert_true(wrap_peel(SV("C:\\logs\\app.log:" INNER), &m, &layer));
	assert_true(wrap_peel(SV("C:\\logs\\app.log:\tat a.B"), &m, &layer));
	assert_sv_equal(layer.text, "\tat a.B");
	assert_sv_equal(layer.writer, "C:\\logs\\app.log");
	assert_false(wrap_peel(SV("C:\\logs\\web.log:\tat a.B"), &m, &layer));
	/* So is a host, by a line that has a number behind its program. */
	assert_false(wrap_peel(SV("2026-11-30T12:33:04+01:00 node-a dockerd: text"), &m, &layer));
	assert_true(wrap_peel(SV("2026-11-30T12:33:04+01:00 node-a java[412]: text"), &m, &layer));
	assert_true(wrap_peel(SV("2026-11-30T12:33:04+01:00 node-a dockerd: text"), &m, &layer));
	/* Or by one that has no tag before a record: what goes on with it is of the same writer. */
	assert_false(wrap_peel(SV("Nov 30 11:33:04 node-b \tat a.B"), &m, &layer));
	assert_true(wrap_peel(SV("Nov 30 11:33:04 node-b " INNER), &m, &layer));
	assert_sv_equal(layer.writer, "node-b");
	for (size_t i = 0; i < sizeof trace / sizeof trace[0]; i++) {
		assert_true(wrap_peel(sv_of(trace[i]), &m, &layer));
		assert_sv_equal(layer.writer, "node-b");
	}
	assert_false(wrap_peel(SV("2026-11-30T12:33:04.123+01:00 node-b text"), &m, &layer));
	assert_true(wrap_peel(SV("Nov 30 11:33:04 node-b cron: text"), &m, &layer));
	assert_sv_equal(layer.writer, "node-b cron");
	memory_fini(&m);
}

static void two_records_on_one_line_are_parted_where_that_is_certain(void **state)
{
	static const struct {
		const char *line;
		size_t first;
	} cases[] = {
		{ "[2026-11-30 12:33:04,220] INFO a[2026-11-30 12:33:04,221] WARN b", 32 },
		{ "[2026-11-30 12:33:04,220] INFO a (x.Y)[2026-11-30 12:33:04,221] ERROR b", 38 },
		/* Quoted by the first; no level; no record in front. */
		{ "[2026-11-30 12:33:04,220] INFO last: [2026-11-30 12:33:04,221] WARN b", 0 },
		{ "[2026-11-30 12:33:04,220] INFO a[2026-11-30 12:33:04,221] b", 0 },
		{ "a[2026-11-30 12:33:04,221] WARN b", 0 },
		{ "{\"log\":\"}{\"}{\"log\":\"b\"}", 12 },
		{ "{\"log\":\"}{\"}", 0 },
		{ "{\"log\":\"a}{", 0 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t whole = strlen(cases[i].line);

		assert_int_equal(wrap_first_record(sv_of(cases[i].line)), cases[i].first == 0 ? whole : cases[i].first);
	}
}

/* It may be the mark of grep -C behind a name, each of them: were the name read anew at each, this would take minutes. */
static void a_line_of_marks_is_gone_through_once(void **state)
{
	struct wrap_memory m = memory();
	struct wrap_layer layer;
	char *line = arena_alloc(m.input, LINE_BYTES_MAX);

	(void)state;
	memset(line, '-', LINE_BYTES_MAX);
	memcpy(line, "a/x", 3);
	assert_false(wrap_peel((struct sv){ line, LINE_BYTES_MAX }, &m, &layer));
	memcpy(line + LINE_BYTES_MAX - 10, "-12-{\"a\":1", 10);
	assert_true(wrap_peel((struct sv){ line, LINE_BYTES_MAX }, &m, &layer));
	assert_sv_equal(layer.text, "{\"a\":1");
	assert_int_equal(layer.writer.n, LINE_BYTES_MAX - 10);
	memory_fini(&m);
}

/* A log that was truncated below its writer goes on behind a hole. */
static void zeros_before_a_line_come_off(void **state)
{
	static const char zeros[] = "\0\0\0" INNER;
	struct wrap_memory m = memory();
	struct wrap_layer layer;

	(void)state;
	assert_true(wrap_peel((struct sv){ zeros, sizeof zeros - 1 }, &m, &layer));
	assert_sv_equal(layer.text, INNER);
	assert_false(wrap_peel((struct sv){ zeros, 3 }, &m, &layer));
	memory_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wrapper_comes_off),
		cmocka_unit_test(lines_of_applications_are_left_as_they_are),
		cmocka_unit_test(a_container_seen_before_is_known),
		cmocka_unit_test(a_line_of_marks_is_gone_through_once),
		cmocka_unit_test(zeros_before_a_line_come_off),
		cmocka_unit_test(two_records_on_one_line_are_parted_where_that_is_certain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
