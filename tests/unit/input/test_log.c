/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "input/log/log.h"
#include "input_kit.h"

/* 2026-11-30T13:47:00Z */
#define T0 INT64_C(1796046420000000)

static void check_event(const struct kit *k, size_t i, enum event_type type, int64_t time_us, uint64_t line, uint64_t offset)
{
	assert_true(i < k->event_count);
	const struct event *e = &k->events[i];

	assert_string_equal(event_infos[e->type].name, event_infos[type].name);
	assert_int_equal(e->time.us, time_us);
	assert_int_equal(e->place.unit, PLACE_LINE);
	assert_int_equal(e->place.number, line);
	assert_int_equal(e->place.byte_offset, offset);
	assert_int_equal(e->place.input, 7);
}

#define EXPIRED(m) "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] Member " m " in group refunds has failed, removing it from the group."
#define KAFKA(time, text) "[2026-11-30 " time "] INFO " text " (a.b.C)\n"
#define SPRING(time, thread, text) "2026-11-30T" time "Z  INFO 1 --- [" thread "] o.a.k.c.c.internals.X  : " text "\n"

static void a_log_gives_events_with_their_lines_and_its_coverage(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKA("13:47:01,000", "hello") KAFKA("13:47:02,500", EXPIRED("m-1")) KAFKA("13:47:09,000", "bye")));

	(void)state;
	assert_int_equal(k->event_count, 2);
	check_event(k, 0, EVENT_SESSION_EXPIRED, T0 + 2500000, 2, 45);
	assert_sv_equal(event_text(&k->events[0], FIELD_MEMBER), "m-1");
	assert_sv_equal(k->events[0].text, "[2026-11-30 13:47:02,500] INFO " EXPIRED("m-1") " (a.b.C)");
	assert_int_equal(k->events[1].type, EVENT_COVERED);
	assert_int_equal(k->events[1].time.us, T0 + 1000000);
	assert_int_equal(k->events[1].duration_us, 8000000);
	assert_sv_equal(event_text(&k->events[1], FIELD_EVIDENCE_KIND), "log");
	assert_int_equal(k->info.records, 3);
	assert_int_equal(k->info.unrecognized, 2);
	assert_int_equal(k->info.skipped, 0);
	assert_sv_equal(k->info.format, "kafka");
	assert_sv_equal(k->info.zone_source, "assumed");
	assert_sv_equal(k->info.zone_name, "UTC");
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

static void the_zone_of_the_input_holds_where_none_is_written(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	struct ingest in = kit_ingest(k, SV(KAFKA("21:47:02,500", EXPIRED("m-1"))), "server.log", r);

	(void)state;
	in.zone = (struct zone){ .offset_s = 8 * 3600 };
	in.zone_is_option = true;
	assert_int_equal(log_kind.read(&in), 0);
	check_event(k, 0, EVENT_SESSION_EXPIRED, T0 + 2500000, 1, 0);
	assert_sv_equal(k->info.zone_name, "+08:00");
	assert_sv_equal(k->info.zone_source, "option");
	arena_free(in.record);
	rules_free(r);
	kit_free(k);
}

static void a_written_zone_wins(void **state)
{
	struct kit *k = kit_read_log(SV("2026-11-30T21:47:02.500+08:00  WARN 1 --- [t] a.B : [Consumer clientId=c-1, groupId=refunds] Node 1 disconnected.\n"));

	(void)state;
	check_event(k, 0, EVENT_CLIENT_DISCONNECTED, T0 + 2500000, 1, 0);
	assert_sv_equal(k->info.zone_name, "+08:00");
	assert_sv_equal(k->info.zone_source, "written");
	kit_free(k);
}

static void one_time_without_zone_needs_that_of_the_input(void **state)
{
	struct kit *k = kit_read_log(SV("2026-11-30T21:47:02.500+08:00  WARN 1 --- [t] a.B : x\n" KAFKA("13:47:03,000", "y")));

	(void)state;
	assert_sv_equal(k->info.format, "spring-boot-3");
	assert_sv_equal(k->info.zone_name, "UTC");
	assert_sv_equal(k->info.zone_source, "assumed");
	kit_free(k);
}

static void a_settings_dump_is_many_events_at_one_place(void **state)
{
	struct kit *k = kit_read_log(SV(SPRING("13:47:01.000", "main", "ConsumerConfig values: ") "\tclient.id = c-1\n\tgroup.id = refunds\n"
					"\tgroup.instance.id = null\n\tsession.timeout.ms = 10000\n\n" SPRING("13:47:02.000", "main", "x")));

	(void)state;
	assert_int_equal(k->event_count, 4);
	check_event(k, 0, EVENT_CLIENT_CONFIG, T0 + 1000000, 1, 0);
	check_event(k, 2, EVENT_CLIENT_CONFIG, T0 + 1000000, 1, 0);
	assert_sv_equal(event_text(&k->events[2], FIELD_KEY), "session.timeout.ms");
	assert_sv_equal(event_text(&k->events[2], FIELD_VALUE), "10000");
	assert_sv_equal(event_text(&k->events[2], FIELD_GROUP), "refunds");
	assert_sv_equal(event_text(&k->events[2], FIELD_CLIENT), "c-1");
	assert_int_equal(k->info.records, 2);
	assert_int_equal(k->info.unrecognized, 1);
	kit_free(k);
}

#define JOINED(client, group) "[Consumer clientId=" client ", groupId=" group "] Adding newly assigned partitions: [refunds-0]"
#define RESTORED "Setting offset for partition refunds-0 to the committed offset FetchPosition{offset=21, offsetEpoch=Optional[0]}"

static void who_speaks_is_known_from_the_thread(void **state)
{
	struct kit *k = kit_read_log(SV(SPRING("13:47:01.000", "a", JOINED("c-1", "refunds")) SPRING("13:47:01.000", "b", JOINED("c-2", "orders"))
					SPRING("13:47:02.000", "a", RESTORED)));

	(void)state;
	assert_int_equal(k->event_count, 4);
	check_event(k, 2, EVENT_OFFSET_RESTORED, T0 + 2000000, 3, 0 + k->events[2].place.byte_offset);
	assert_sv_equal(event_text(&k->events[2], FIELD_GROUP), "refunds");
	assert_sv_equal(event_text(&k->events[2], FIELD_CLIENT), "c-1");
	assert_int_equal(event_int_or(&k->events[2], FIELD_OFFSET, -1), 21);
	kit_free(k);
}

/* Of threads without end only those that name somebody are followed, and no more than there is room for. */
static void not_all_threads_are_followed(void **state)
{
	struct buf text;
	struct kit *k;
	size_t told = 0;

	(void)state;
	buf_init(&text);
	/* These name nobody. */
	for (int i = 0; i < 2 * SPEAKER_THREADS_MAX; i++)
		buf_printf(&text, "2026-11-30T13:47:01.000Z  INFO 1 --- [n-%d] a.B : " RESTORED "\n", i);
	for (int i = 0; i <= SPEAKER_THREADS_MAX; i++)
		buf_printf(&text, "2026-11-30T13:47:02.000Z  INFO 1 --- [t-%d] a.B : " JOINED("c-%d", "refunds") "\n", i, i);
	for (int i = 0; i <= SPEAKER_THREADS_MAX; i++)
		buf_printf(&text, "2026-11-30T13:47:03.000Z  INFO 1 --- [t-%d] a.B : " RESTORED "\n", i);
	k = kit_read_log(buf_sv(&text));
	for (size_t i = 0; i < k->event_count; i++)
		told += k->events[i].type == EVENT_OFFSET_RESTORED && event_has(&k->events[i], FIELD_CLIENT);
	assert_int_equal(told, SPEAKER_THREADS_MAX);
	kit_free(k);
	buf_fini(&text);
}

static void who_speaks_is_not_guessed(void **state)
{
	/* Two groups on one thread; and a thread that said nothing before. */
	struct kit *k = kit_read_log(SV(SPRING("13:47:01.000", "a", JOINED("c-1", "refunds")) SPRING("13:47:01.000", "a", JOINED("c-1", "orders"))
					SPRING("13:47:02.000", "a", RESTORED) SPRING("13:47:02.000", "b", RESTORED)));

	(void)state;
	/* It did resume there, whoever it was. */
	assert_int_equal(k->event_count, 5);
	check_event(k, 2, EVENT_OFFSET_RESTORED, T0 + 2000000, 3, k->events[2].place.byte_offset);
	assert_absent(event_text(&k->events[2], FIELD_GROUP));
	assert_sv_equal(event_text(&k->events[2], FIELD_CLIENT), "c-1");
	check_event(k, 3, EVENT_OFFSET_RESTORED, T0 + 2000000, 4, k->events[3].place.byte_offset);
	assert_absent(event_text(&k->events[3], FIELD_GROUP));
	assert_absent(event_text(&k->events[3], FIELD_CLIENT));
	kit_free(k);
}

static void two_clients_of_one_group_on_a_thread_leave_the_group_known(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKA("13:47:01,000", JOINED("c-1", "refunds")) KAFKA("13:47:01,000", JOINED("c-2", "refunds"))
					KAFKA("13:47:02,000", RESTORED)));

	(void)state;
	assert_int_equal(k->event_count, 4);
	assert_sv_equal(event_text(&k->events[2], FIELD_GROUP), "refunds");
	assert_absent(event_text(&k->events[2], FIELD_CLIENT));
	kit_free(k);
}

static void a_time_that_cannot_be_is_no_time(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKA("13:47:01,000", "x") "[2026-02-30 13:47:02,000] INFO " EXPIRED("m-1") " (a.b.C)\n"));

	(void)state;
	assert_int_equal(k->event_count, 1);
	assert_int_equal(k->events[0].type, EVENT_COVERED);
	assert_int_equal(k->info.skipped, 1);
	assert_int_equal(kit_problems(k, "log.no_time"), 1);
	assert_int_equal(kit_problem(k, "log.no_time")->place.number, 2);
	assert_int_equal(kit_problem(k, "log.no_time")->severity, SEVERITY_WARNING);
	kit_free(k);
}

static void a_step_back_is_noted_and_a_small_one_is_not(void **state)
{
	struct kit *k = kit_read_log(SV(KAFKA("13:47:10,000", "x") KAFKA("13:47:09,100", "y") KAFKA("13:47:04,900", "z")));

	(void)state;
	assert_int_equal(kit_problems(k, "log.time_backwards"), 1);
	assert_int_equal(kit_problem(k, "log.time_backwards")->place.number, 3);
	assert_sv_equal(kit_problem(k, "log.time_backwards")->message, "time goes back by 4.200 s");
	assert_int_equal(kit_problem(k, "log.time_backwards")->severity, SEVERITY_NOTE);
	/* Covered all the same, from the least to the greatest. */
	assert_int_equal(k->events[0].time.us, T0 + 4900000);
	assert_int_equal(k->events[0].duration_us, 5100000);
	kit_free(k);
}

static void a_record_that_is_too_long_is_cut_and_said(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	struct buf text;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV(KAFKA("13:47:02,500", EXPIRED("m-1"))));
	for (int i = 0; i < 40000; i++)
		buf_add(&text, SV("\tat somewhere\n"));
	buf_add(&text, SV(KAFKA("13:47:03,000", EXPIRED("m-2"))));
	kit_read(k, &log_kind, buf_sv(&text), "server.log", r);
	assert_int_equal(k->event_count, 3);
	check_event(k, 1, EVENT_SESSION_EXPIRED, T0 + 3000000, 40002, k->events[1].place.byte_offset);
	assert_int_equal(kit_problems(k, "log.record_too_long"), 1);
	assert_int_equal(kit_problem(k, "log.record_too_long")->place.number, 1);
	buf_fini(&text);
	rules_free(r);
	kit_free(k);
}

static void a_sink_that_fails_ends_the_reading(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	struct ingest in = kit_ingest(k, SV(KAFKA("13:47:02,500", EXPIRED("m-1")) KAFKA("13:47:03,000", EXPIRED("m-2"))
					    KAFKA("13:47:04,000", "x")), "server.log", r);

	(void)state;
	k->fail_after = 1;
	assert_int_equal(log_kind.read(&in), -1);
	assert_int_equal(k->event_count, 1);
	arena_free(in.record);
	rules_free(r);
	kit_free(k);
}

static enum sniffed sniffed(const struct rules *r, struct sv head)
{
	const char *why = NULL;

	return log_kind.sniff(head, SV("x"), r, &why);
}

static void a_log_is_known_by_a_line_with_a_time(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);

	(void)state;
	assert_int_equal(sniffed(r, SV(KAFKA("13:47:02,500", "x"))), SNIFF_MINE);
	assert_int_equal(sniffed(r, SV("\tat a.B\n\tat b.C\r\n" SPRING("13:47:01.000", "a", "x"))), SNIFF_MINE);
	assert_int_equal(sniffed(r, SV("time,business_key,amount\n2026-11-30T13:47:02Z,R-1,6.07\n")), SNIFF_NOT_MINE);
	assert_int_equal(sniffed(r, SV("2026-11-30 13:47:02 something happened\n")), SNIFF_NOT_MINE);
	assert_int_equal(sniffed(r, SV("[2026-13-30 13:47:02,500] INFO x (a.B)\n")), SNIFF_NOT_MINE);
	assert_int_equal(sniffed(r, SV("")), SNIFF_NOT_MINE);
	assert_int_equal(sniffed(NULL, SV(KAFKA("13:47:02,500", "x"))), SNIFF_NOT_MINE);
	rules_free(r);
	kit_free(k);
}

static void nothing_is_no_coverage(void **state)
{
	struct kit *k = kit_read_log(SV("no log\nat all\n"));

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.records, 0);
	assert_int_equal(kit_problems(k, "log.no_record"), 1);
	assert_absent(k->info.zone_name);
	kit_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_gives_events_with_their_lines_and_its_coverage),
		cmocka_unit_test(the_zone_of_the_input_holds_where_none_is_written),
		cmocka_unit_test(a_written_zone_wins),
		cmocka_unit_test(one_time_without_zone_needs_that_of_the_input),
		cmocka_unit_test(a_settings_dump_is_many_events_at_one_place),
		cmocka_unit_test(who_speaks_is_known_from_the_thread),
		cmocka_unit_test(who_speaks_is_not_guessed),
		cmocka_unit_test(not_all_threads_are_followed),
		cmocka_unit_test(two_clients_of_one_group_on_a_thread_leave_the_group_known),
		cmocka_unit_test(a_time_that_cannot_be_is_no_time),
		cmocka_unit_test(a_step_back_is_noted_and_a_small_one_is_not),
		cmocka_unit_test(a_record_that_is_too_long_is_cut_and_said),
		cmocka_unit_test(a_sink_that_fails_ends_the_reading),
		cmocka_unit_test(a_log_is_known_by_a_line_with_a_time),
		cmocka_unit_test(nothing_is_no_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
