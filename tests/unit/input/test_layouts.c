/* SPDX-License-Identifier: MIT */
/* The same message in each layout of text, with the rules that are shipped. Shapes are those of the programs' own patterns. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "input_kit.h"

/* 2026-11-30T13:47:02Z */
#define AT INT64_C(1796046422000000)
#define HALF 500000

#define EXPIRED "[GroupCoordinator 1]: Member m-1 in group refunds has failed, removing it from the group"
#define JOINS "[Consumer clientId=c-1, groupId=refunds] Member c-1-7f sending LeaveGroup request to coordinator b:9092 (id: 1 rack: null) " \
	      "due to consumer poll timeout has expired."

struct expected {
	const char *line, *layout;
	int64_t us;
};

/* One line that only a looser layout fits does not make that of the others. */
static void a_line_is_of_the_first_layout_that_fits(void **state)
{
	struct kit *k = kit_read_log(SV("2026-11-30 13:47:01,000 INFO  [main] a.B text\n2026-11-30 13:47:02,500 INFO  [main] a.B - " EXPIRED "\n"));
	struct rules *r = kit_rules(k);
	struct log_record record;
	int hint = -1, loose;

	(void)state;
	assert_int_equal(k->event_count, 2);
	assert_int_equal(k->events[0].type, EVENT_SESSION_EXPIRED);
	assert_true(rules_layout(r, SV("2026-11-30 13:47:01,000 INFO  [main] a.B text"), (struct zone){ 0 }, &hint, k->arena, &record));
	assert_sv_equal(record.body, "a.B text");
	loose = hint;
	assert_true(rules_layout(r, SV("2026-11-30 13:47:01,000 INFO  [main] a.B - text"), (struct zone){ 0 }, &hint, k->arena, &record));
	assert_string_equal(record.layout, "level-thread-comma");
	assert_sv_equal(record.body, "text");
	assert_int_not_equal(hint, loose);
	/* The looser one is there still. */
	assert_true(rules_layout(r, SV("2026-11-30 13:47:01,000 INFO  [main] a.B text"), (struct zone){ 0 }, &hint, k->arena, &record));
	assert_int_equal(hint, loose);
	rules_free(r);
	kit_free(k);
}

static void each_layout_gives_the_eviction_and_its_time(void **state)
{
	static const struct expected cases[] = {
		/* Brokers, tools, Connect; Strimzi with either log4j, and with a T; with a zone. */
		{ "[2026-11-30 13:47:02,500] INFO " EXPIRED " (a.B)", "kafka", HALF },
		{ "[2026-11-30 13:47:02,500] INFO [connector|task-0] " EXPIRED " (a.B:341)", "kafka", HALF },
		{ "2026-11-30 13:47:02,500 INFO " EXPIRED " (a.B) [main]", "strimzi", HALF },
		{ "2026-11-30 13:47:02 INFO  [main] B:341 - " EXPIRED, "strimzi-seconds", 0 },
		{ "2026-11-30 13:47:02 INFO  B:341 - " EXPIRED, "strimzi-seconds", 0 },
		{ "2026-11-30T13:47:02,500 INFO " EXPIRED " (a.B) [main]", "any-before-kafka", HALF },
		{ "[2026-11-30 14:47:02,500+0100] INFO " EXPIRED " (a.B)", "any-before-kafka", HALF },
		/* Spring Boot 2 and 3, with the brackets of an application, of a correlation. */
		{ "2026-11-30 13:47:02.500  INFO 1 --- [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : " EXPIRED, "spring-boot-2", HALF },
		{ "2026-11-30T21:47:02.500+08:00  INFO 1 --- [shop] [ntainer#0-0-C-1] [65a-b1] o.a.k.c.C  : " EXPIRED, "spring-boot-3", HALF },
		{ "2026-11-30T13:47:02Z  INFO 1 --- [main] o.a.k.c.C : " EXPIRED, "spring-boot-3-seconds", 0 },
		/* log4j and logback by hand, Quarkus, Flink, Logstash. */
		{ "2026-11-30 13:47:02,500 INFO  [main] a.B - " EXPIRED, "level-thread-comma", HALF },
		{ "2026-11-30 13:47:02.500 [main] INFO  a.B - " EXPIRED, "thread-level-dot", HALF },
		{ "2026-11-30 13:47:02,500 INFO  [org.apa.kaf.C] (executor-thread-1) " EXPIRED, "quarkus", HALF },
		{ "2026-11-30 13:47:02,500 INFO  org.apache.kafka.C [] - " EXPIRED, "flink", HALF },
		{ "[2026-11-30T13:47:02,500][INFO ][org.apache.kafka.C][main] " EXPIRED, "logstash", HALF },
		{ "30 Nov 2026 13:47:02,500 INFO a.B - " EXPIRED, "any-before-kafka", HALF },
		{ "20261130T134702,500 INFO " EXPIRED, "any-before-kafka", HALF },
		/* java.util.logging: to the second, below its time, in two languages. */
		{ "Nov 30, 2026 1:47:02 PM a.b.C log\nINFO: " EXPIRED, "java-util-logging", 0 },
		{ "11\xe6\x9c\x88 30, 2026 1:47:02 \xe4\xb8\x8b\xe5\x8d\x88 a.b.C log\n\xe4\xbf\xa1\xe6\x81\xaf: " EXPIRED, "java-util-logging", 0 },
		/* What services of other languages write around it. */
		{ "2026/11/30 13:47:02 " EXPIRED, "go-log", 0 },
		{ "2026/11/30 13:47:02.500000 " EXPIRED, "go-log-fraction", HALF },
		{ "2026-11-30 13:47:02,500 - kafka - INFO - " EXPIRED, "python-dashes", HALF },
		{ "2026-11-30 13:47:02.5000|INFO|A.B|" EXPIRED, "nlog", HALF },
		{ "2026-11-30 13:47:02.5000|17|INFO|A.B|" EXPIRED, "any-before-kafka", HALF },
		{ "2026-11-30 13:47:02.500 +00:00 [INF] " EXPIRED, "serilog-file", HALF },
		{ "2026-11-30 13:47:02.500 info: A.B[0]\n      " EXPIRED, "net-console-time", HALF },
		{ "2026-11-30T13:47:02.500Z [info]: " EXPIRED, "any-before-kafka", HALF },
		{ "time=2026-11-30T13:47:02.5Z level=INFO msg=\"" EXPIRED "\"", "go-keys", HALF },
		{ "ts=2026-11-30T13:47:02Z level=info caller=x.go:1 msg=\"" EXPIRED "\"", "go-keys", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = kit_read_log(sv_of(cases[i].line));

		if (k->event_count != 2 || k->events[0].type != EVENT_SESSION_EXPIRED)
			fail_msg("%zu events of: %s", k->event_count, cases[i].line);
		assert_int_equal(k->events[0].time.us, AT + cases[i].us);
		assert_sv_equal(event_text(&k->events[0], FIELD_MEMBER), "m-1");
		assert_sv_equal(event_text(&k->events[0], FIELD_GROUP), "refunds");
		assert_sv_equal(k->events[0].text, cases[i].line);
		assert_sv_equal(k->info.format, cases[i].layout);
		kit_free(k);
	}
}

/* Parentheses inside a message are its own; the logger behind it is not. */
static void the_message_is_neither_cut_nor_stretched(void **state)
{
	static const char *const lines[] = {
		"2026-11-30T13:47:02,500 WARN " JOINS " (a.B) [main]", "2026-11-30 13:47:02.5000|WARN|A.B|" JOINS,
		"[2026-11-30 13:47:02,500] WARN " JOINS " (a.B)", "Nov 30, 2026 1:47:02 PM a.b.C log\nWARNING: " JOINS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct kit *k = kit_read_log(sv_of(lines[i]));

		if (k->event_count != 2 || k->events[0].type != EVENT_CLIENT_LEAVES)
			fail_msg("not read: %s", lines[i]);
		assert_sv_equal(event_text(&k->events[0], FIELD_CLIENT), "c-1");
		assert_sv_equal(event_text(&k->events[0], FIELD_REASON), "consumer poll timeout has expired.");
		kit_free(k);
	}
}

/* A time with something else behind it, and Kafka's words without a time, are no records of these layouts. */
static void what_only_looks_alike_is_none(void **state)
{
	static const char *const lines[] = {
		"2026-11-30 something " EXPIRED, "13:47 " EXPIRED, "1796046422 " EXPIRED, "see [Consumer clientId=c-1, groupId=refunds]",
		"Nov 30, 2026 1:47:02 PM", "[GroupCoordinator 1]: 2026-11-30 13:47:02,500 " EXPIRED,
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct kit *k = kit_read_log(sv_of(lines[i]));

		if (k->event_count != 0)
			fail_msg("%zu events of: %s", k->event_count, lines[i]);
		kit_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_of_the_first_layout_that_fits),
		cmocka_unit_test(each_layout_gives_the_eviction_and_its_time),
		cmocka_unit_test(the_message_is_neither_cut_nor_stretched),
		cmocka_unit_test(what_only_looks_alike_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
