/* SPDX-License-Identifier: MIT */
/* Logs of JSON objects, and clients that name themselves in part: from lines to events, by the rules that are shipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "input_kit.h"

/* 2026-11-30T13:47:02.5Z */
#define AT INT64_C(1796046422500000)
#define ISO "2026-11-30T13:47:02.500Z"
#define EXPIRED "[GroupCoordinator 1]: Member m-1 in group refunds has failed, removing it from the group"

/* The one event, besides coverage. */
static const struct event *only_event(const struct kit *k, enum event_type type)
{
	assert_int_equal(k->event_count, 2);
	assert_string_equal(event_infos[k->events[0].type].name, event_infos[type].name);
	assert_int_equal(k->events[1].type, EVENT_COVERED);
	return &k->events[0];
}

/* ---- layouts ---- */

static void every_layout_gives_the_same_event(void **state)
{
	static const struct {
		const char *layout, *line;
	} lines[] = {
		{ "json-ecs", "{\"@timestamp\":\"" ISO "\",\"log.level\":\"INFO\",\"message\":\"" EXPIRED "\",\"log.logger\":\"a.B\"}" },
		{ "json-ecs", "{\"@timestamp\":\"" ISO "\",\"log\":{\"level\":\"INFO\",\"logger\":\"a.B\"},\"message\":\"" EXPIRED "\"}" },
		{ "json-logstash", "{\"@timestamp\":\"2026-11-30T15:47:02.500+02:00\",\"message\":\"" EXPIRED "\",\"logger_name\":\"a.B\"}" },
		{ "json-log4j2", "{\"instant\":{\"epochSecond\":1796046422,\"nanoOfSecond\":500000000},\"message\":\"" EXPIRED "\"}" },
		{ "json-log4j2-millis", "{\"timeMillis\":1796046422500,\"level\":\"INFO\",\"message\":\"" EXPIRED "\"}" },
		{ "json-gelf", "{\"version\":\"1.1\",\"timestamp\":1796046422.5,\"short_message\":\"" EXPIRED "\"}" },
		{ "json", "{\"level\":\"info\",\"ts\":1796046422.5,\"msg\":\"" EXPIRED "\"}" },
		{ "json", "{\"time\":\"" ISO "\",\"level\":\"info\",\"msg\":\"" EXPIRED "\"}" },
		{ "json", "{\"level\":30,\"time\":1796046422500,\"pid\":7,\"msg\":\"" EXPIRED "\"}" },
		/* zerolog in its units, slog, structlog, python-json-logger, logback's encoder, Quarkus, GCP's template. */
		{ "json", "{\"level\":\"info\",\"time\":1796046422.5,\"message\":\"" EXPIRED "\"}" },
		{ "json", "{\"level\":\"info\",\"time\":1796046422500000,\"message\":\"" EXPIRED "\"}" },
		{ "json", "{\"time\":\"2026-11-30T21:47:02.500000000+08:00\",\"level\":\"INFO\",\"msg\":\"" EXPIRED "\"}" },
		{ "json", "{\"event\":\"" EXPIRED "\",\"level\":\"info\",\"timestamp\":\"2026-11-30T13:47:02.500000Z\"}" },
		{ "json", "{\"asctime\":\"2026-11-30 13:47:02,500Z\",\"name\":\"x\",\"levelname\":\"INFO\",\"message\":\"" EXPIRED "\"}" },
		{ "json", "{\"sequenceNumber\":0,\"timestamp\":1796046422500,\"nanoseconds\":500000000,\"level\":\"INFO\",\"threadName\":\"main\","
		  "\"loggerName\":\"a\",\"mdc\":{},\"message\":\"" EXPIRED "\",\"throwable\":null}" },
		{ "json", "{\"timestamp\":\"2026-11-30T14:47:02.500+01:00\",\"loggerName\":\"a\",\"level\":\"INFO\",\"message\":\"" EXPIRED "\"}" },
		{ "json", "{\"timestamp\":\"" ISO "\",\"severity\":\"INFO\",\"message\":\"" EXPIRED "\"}" },
		{ "json-gelf", "{\"version\":\"1.1\",\"timestamp\":1.7960464225E9,\"short_message\":\"" EXPIRED "\"}" },
		/* .NET, and zap's development keys. */
		{ "json-serilog", "{\"@t\":\"2026-11-30T13:47:02.5000000Z\",\"@m\":\"" EXPIRED "\",\"@i\":\"a\"}" },
		{ "json-serilog", "{\"@t\":\"2026-11-30T13:47:02.5000000Z\",\"@mt\":\"" EXPIRED "\"}" },
		{ "json-serilog", "{\"Timestamp\":\"" ISO "\",\"Level\":\"Information\",\"MessageTemplate\":\"x\",\"RenderedMessage\":\"" EXPIRED "\"}" },
		{ "json-serilog", "{\"Timestamp\":\"" ISO " \",\"LogLevel\":\"Information\",\"Category\":\"a.B\",\"Message\":\"" EXPIRED "\"}" },
		{ "json-zap-development", "{\"L\":\"INFO\",\"T\":\"" ISO "\",\"M\":\"" EXPIRED "\"}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct kit *k = kit_read_log(sv_of(lines[i].line));
		const struct event *e = only_event(k, EVENT_SESSION_EXPIRED);

		assert_int_equal(e->time.us, AT);
		assert_sv_equal(event_text(e, FIELD_GROUP), "refunds");
		assert_sv_equal(event_text(e, FIELD_MEMBER), "m-1");
		/* The record as it was written. */
		assert_sv_equal(e->text, lines[i].line);
		assert_sv_equal(k->info.format, lines[i].layout);
		assert_sv_equal(k->info.zone_source, "written");
		kit_free(k);
	}
}

static void an_object_without_message_is_no_record(void **state)
{
	struct kit *k = kit_read_log(SV("{\"time\":\"" ISO "\",\"level\":\"info\"}\n"
					"{\"time\":\"" ISO "\",\"level\":\"info\",\"message\":null}\n"
					"{\"message\":\"" EXPIRED "\"}\n"
					"{\"time\":\"" ISO "\",\"message\":\"" EXPIRED "\"\n"
					"[\"time\",\"message\"]\n"));

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.records, 0);
	kit_free(k);
}

/* Where nothing around it has a time, it cannot be placed. */
static void a_record_without_a_time_is_counted(void **state)
{
	struct kit *k = kit_read_log(SV("{\"level\":\"info\",\"message\":\"" EXPIRED "\"}\n"));

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.records, 1);
	assert_int_equal(k->info.skipped, 1);
	assert_int_equal(kit_problems(k, "log.no_time"), 1);
	kit_free(k);
}

static void a_time_that_cannot_be_read_is_counted(void **state)
{
	struct kit *k = kit_read_log(SV("{\"time\":\"" ISO "\",\"message\":\"x\"}\n{\"time\":\"noon\",\"message\":\"" EXPIRED "\"}\n"));

	(void)state;
	assert_int_equal(k->event_count, 1);
	assert_int_equal(k->info.records, 2);
	assert_int_equal(k->info.skipped, 1);
	assert_int_equal(kit_problems(k, "log.no_time"), 1);
	kit_free(k);
}

#define FAILED "Offset commit with offsets {refunds-5=OffsetAndMetadata{offset=122, leaderEpoch=0, metadata=''}} failed"
#define CONSUMER "[Consumer clientId=c-1, groupId=refunds] "

static void a_stack_trace_stands_beside_its_message(void **state)
{
	struct kit *k = kit_read_log(SV("{\"@timestamp\":\"" ISO "\",\"logger_name\":\"a.B\",\"message\":\"" CONSUMER FAILED
					"\",\"stack_trace\":\"a.b.TimeoutException: too late\\n\\tat a.b.C\"}\n"));
	const struct event *e = only_event(k, EVENT_COMMIT_FAILED);

	(void)state;
	assert_sv_equal(event_text(e, FIELD_ERROR), "a.b.TimeoutException: too late");
	assert_sv_equal(event_text(e, FIELD_CLIENT), "c-1");
	assert_int_equal(event_int_or(e, FIELD_OFFSET, -1), 122);
	kit_free(k);
}

static void a_message_of_many_lines_is_a_record_of_many(void **state)
{
	struct kit *k = kit_read_log(SV("{\"@timestamp\":\"" ISO "\",\"logger_name\":\"a.B\",\"message\":\"ConsumerConfig values: \\n\\tclient.id = c-1"
					"\\n\\tgroup.id = refunds\\n\\tsession.timeout.ms = 10000\\n\"}\n"));

	(void)state;
	assert_int_equal(k->event_count, 4);
	assert_sv_equal(event_text(&k->events[2], FIELD_KEY), "session.timeout.ms");
	assert_sv_equal(event_text(&k->events[2], FIELD_VALUE), "10000");
	assert_sv_equal(event_text(&k->events[2], FIELD_GROUP), "refunds");
	kit_free(k);
}

static void what_a_shipper_wrapped_is_taken_for_what_it_is(void **state)
{
	/* It read the lines half a second later. */
	static const char *const lines[] = {
		"{\"@timestamp\":\"2026-11-30T13:47:03.000Z\",\"message\":\"[2026-11-30 13:47:02,500] INFO " EXPIRED " (a.B)\"}",
		"{\"@timestamp\":\"2026-11-30T13:47:03.000Z\",\"message\":\"{\\\"time\\\":\\\"" ISO "\\\",\\\"msg\\\":\\\"" EXPIRED "\\\"}\"}",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct kit *k = kit_read_log(sv_of(lines[i]));
		const struct event *e = only_event(k, EVENT_SESSION_EXPIRED);

		assert_int_equal(e->time.us, AT);
		assert_sv_equal(e->text, lines[i]);
		kit_free(k);
	}
}

static void a_wrapped_line_without_a_time_has_that_of_its_wrapper(void **state)
{
	struct kit *k = kit_read_log(SV("{\"@timestamp\":\"" ISO "\",\"message\":\"WARNING:kafka.coordinator.heartbeat:Heartbeat failed for group "
					"refunds: generation id is not  current.\"}\n"));
	const struct event *e = only_event(k, EVENT_CLIENT_MEMBERSHIP_LOST);

	(void)state;
	assert_int_equal(e->time.us, AT);
	assert_sv_equal(event_text(e, FIELD_ERROR), "ILLEGAL_GENERATION");
	kit_free(k);
}

static void lines_after_an_object_belong_to_nothing(void **state)
{
	struct kit *k = kit_read_log(SV("{\"time\":\"" ISO "\",\"message\":\"" CONSUMER FAILED "\"}\na.b.TimeoutException: of something else\n"));
	const struct event *e = only_event(k, EVENT_COMMIT_FAILED);

	(void)state;
	assert_absent(event_text(e, FIELD_ERROR));
	assert_int_equal(kit_problems(k, "log.no_record"), 1);
	kit_free(k);
}

static enum sniffed sniffed(struct sv text)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	const char *why = NULL;
	enum sniffed s;

	s = log_kind.sniff(text, SV("x"), r, &why);
	rules_free(r);
	kit_free(k);
	return s;
}

static void a_log_of_objects_is_a_log_and_a_table_is_none(void **state)
{
	(void)state;
	assert_int_equal(sniffed(SV("{\"time\":\"" ISO "\",\"level\":\"info\",\"msg\":\"x\"}\n")), SNIFF_MINE);
	assert_int_equal(sniffed(SV("{\"time\":\"" ISO "\",\"order_no\":\"R-1\",\"step\":\"ledger\",\"status\":\"ok\"}\n")), SNIFF_NOT_MINE);
	assert_int_equal(sniffed(SV("{\"level\":\"info\",\"msg\":\"x\"}\n")), SNIFF_NOT_MINE);
}

/* ---- what stands beside the message ---- */

#define KAFKAJS(message, more) "{\"level\":\"ERROR\",\"timestamp\":\"" ISO "\",\"logger\":\"kafkajs\",\"message\":\"" message "\"" more "}\n"

static void members_beside_the_message_are_fields(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKAJS("[Runner] The coordinator is not aware of this member, re-joining the group",
						",\"groupId\":\"refunds\",\"memberId\":\"c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310\","
						"\"error\":\"The coordinator is not aware of this member\"")));
	const struct event *e = only_event(k, EVENT_CLIENT_MEMBERSHIP_LOST);

	(void)state;
	assert_sv_equal(event_text(e, FIELD_GROUP), "refunds");
	assert_sv_equal(event_text(e, FIELD_MEMBER), "c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310");
	assert_sv_equal(event_text(e, FIELD_ERROR), "The coordinator is not aware of this member");
	kit_free(k);
}

/* The same message at the same level: what it answers decides. */
static void an_answer_that_every_rebalance_gives_is_no_event(void **state)
{
	struct kit *normal = kit_read_log(SV(KAFKAJS("[Connection] Response Heartbeat(key: 12, version: 3)",
						     ",\"clientId\":\"c-1\",\"error\":\"The group is rebalancing, so a rejoin is needed\"")));
	struct kit *evicted = kit_read_log(SV(KAFKAJS("[Connection] Response Heartbeat(key: 12, version: 3)",
						      ",\"clientId\":\"c-1\",\"error\":\"The coordinator is not aware of this member\"")));

	(void)state;
	assert_int_equal(normal->event_count, 1);
	assert_int_equal(normal->events[0].type, EVENT_COVERED);
	assert_int_equal(normal->info.unrecognized, 0);
	assert_sv_equal(event_text(only_event(evicted, EVENT_CLIENT_MEMBERSHIP_LOST), FIELD_CLIENT), "c-1");
	kit_free(normal);
	kit_free(evicted);
}

static void the_message_itself_wins_over_what_stands_beside(void **state)
{
	struct kit *k = kit_read_log(SV("{\"time\":\"" ISO "\",\"group\":\"workers\",\"message\":\"" EXPIRED "\"}\n"));

	(void)state;
	assert_sv_equal(event_text(only_event(k, EVENT_SESSION_EXPIRED), FIELD_GROUP), "refunds");
	kit_free(k);
}

static void an_assignment_in_json_is_a_list_of_partitions(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKAJS("[ConsumerGroup] Consumer has joined the group",
						",\"groupId\":\"refunds\",\"memberAssignment\":{\"refunds\":[0,1],\"orders\":[7]}")));

	(void)state;
	assert_sv_equal(event_text(only_event(k, EVENT_PARTITIONS_ASSIGNED), FIELD_PARTITIONS), "refunds[0 1], orders[7]");
	kit_free(k);
}

/* ---- clients that name themselves in part ---- */

#define PYTHON(text) "2026-11-30 13:47:02,500 - kafka.coordinator - WARNING - " text "\n"

static void a_python_client_is_named_by_what_it_joined_with(void **state)
{
	struct kit *k = kit_read_log(SV(PYTHON("Successfully joined group refunds <Generation 3 (member_id: c-1-4bbaf2f7-5eda-4610-8060-4f5cc3a92310, "
					       "protocol: range)>") PYTHON("Heartbeat session expired, marking coordinator dead")));

	(void)state;
	assert_int_equal(k->event_count, 3);
	assert_int_equal(k->events[1].type, EVENT_CLIENT_SUSPECTS_SESSION);
	assert_int_equal(k->events[1].strength, STRENGTH_SUGGESTS);
	assert_sv_equal(event_text(&k->events[1], FIELD_GROUP), "refunds");
	assert_sv_equal(event_text(&k->events[1], FIELD_CLIENT), "c-1");
	kit_free(k);
}

static void a_message_of_nobody_is_no_event(void **state)
{
	struct kit *k = kit_read_log(SV(PYTHON("Heartbeat session expired, marking coordinator dead")));

	(void)state;
	assert_int_equal(k->event_count, 1);
	assert_int_equal(kit_problems(k, "log.speaker_unknown"), 1);
	kit_free(k);
}

/* Others know its group. */
static void a_client_without_its_group_is_an_event(void **state)
{
	struct kit *k = kit_read_log(SV("%4|1796046422.500|SESSTMOUT|c-1#consumer-1| [thrd:main]: Consumer group session timed out (in join-state steady) "
					"after 6005 ms without a successful response from the group coordinator (broker 1, last error was Success): "
					"revoking assignment and rejoining group\n"));
	const struct event *e = only_event(k, EVENT_CLIENT_SUSPECTS_SESSION);

	(void)state;
	assert_int_equal(e->time.us, AT);
	assert_sv_equal(event_text(e, FIELD_CLIENT), "c-1");
	assert_absent(event_text(e, FIELD_GROUP));
	assert_int_equal(event_int_or(e, FIELD_ELAPSED_MS, -1), 6005);
	kit_free(k);
}

/* A producer of the same process speaks the same words of its connections, and is in no group. */
static void a_producers_line_is_none_of_a_group(void **state)
{
	struct kit *k = kit_read_log(SV("%6|1796046422.500|FAIL|c-1#producer-2| [thrd:broker-1:9092/1]: broker-1:9092/1: Disconnected (after 9ms in state UP)\n"));

	(void)state;
	assert_int_equal(k->event_count, 1);
	assert_int_equal(k->info.unrecognized, 1);
	kit_free(k);
}

/* ---- near misses ---- */

static void an_unknown_message_of_groups_is_noted(void **state)
{
	struct kit *k = kit_read_log(SV(PYTHON("Heartbeat swallowed by a dragon") PYTHON("Dinner is ready") PYTHON("Starting new heartbeat thread")));

	(void)state;
	assert_int_equal(k->info.records, 3);
	assert_int_equal(k->info.unrecognized, 2);
	assert_int_equal(kit_problems(k, "log.near_miss"), 1);
	kit_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_layout_gives_the_same_event),
		cmocka_unit_test(an_object_without_message_is_no_record),
		cmocka_unit_test(a_record_without_a_time_is_counted),
		cmocka_unit_test(a_time_that_cannot_be_read_is_counted),
		cmocka_unit_test(a_stack_trace_stands_beside_its_message),
		cmocka_unit_test(a_message_of_many_lines_is_a_record_of_many),
		cmocka_unit_test(what_a_shipper_wrapped_is_taken_for_what_it_is),
		cmocka_unit_test(a_wrapped_line_without_a_time_has_that_of_its_wrapper),
		cmocka_unit_test(lines_after_an_object_belong_to_nothing),
		cmocka_unit_test(a_log_of_objects_is_a_log_and_a_table_is_none),
		cmocka_unit_test(members_beside_the_message_are_fields),
		cmocka_unit_test(an_answer_that_every_rebalance_gives_is_no_event),
		cmocka_unit_test(the_message_itself_wins_over_what_stands_beside),
		cmocka_unit_test(an_assignment_in_json_is_a_list_of_partitions),
		cmocka_unit_test(a_python_client_is_named_by_what_it_joined_with),
		cmocka_unit_test(a_message_of_nobody_is_no_event),
		cmocka_unit_test(a_client_without_its_group_is_an_event),
		cmocka_unit_test(a_producers_line_is_none_of_a_group),
		cmocka_unit_test(an_unknown_message_of_groups_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
