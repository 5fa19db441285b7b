/* SPDX-License-Identifier: MIT */
/* Wrapped logs from their lines to their events, by the rules that are shipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "input_kit.h"

/* 2026-11-30T13:47:00Z */
#define T0 INT64_C(1796046420000000)

#define EXPIRED(m) "[GroupCoordinator id=1 topic=__consumer_offsets partition=31] Member " m " in group refunds has failed, removing it from the group."
#define KAFKA(time, text) "[2026-11-30 " time "] INFO " text " (a.b.C)"
#define DOCKER(stream, time, text) "{\"log\":\"" text "\",\"stream\":\"" stream "\",\"time\":\"2026-11-30T" time "Z\"}\n"
#define CRI(time, tag, text) "2026-11-30T" time "Z stdout " tag " " text "\n"
#define SYSLOG(time, who, text) "Nov 30 " time " " who ": " text "\n"

struct setting {
	const char *zone;
	bool has_modified, has_near;
	int64_t modified_us, near_us;
	const char *name;	/* of the file; NULL: app.log */
	const char *host;	/* of the input; NULL: not known */
};

static struct kit *read_with(struct sv text, const struct setting *s)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);
	struct ingest in;

	in = kit_ingest(k, text, s->name != NULL ? s->name : "app.log", r);
	if (s->zone != NULL) {
		in.zone_is_option = true;
		if (!zone_parse(sv_of(s->zone), &in.zone))
			assert_true(zone_load(sv_of(s->zone), k->arena, &in.zone));
	}
	in.has_modified = s->has_modified;
	in.modified.us = s->modified_us;
	in.has_near = s->has_near;
	in.near.us = s->near_us;
	k->info.host = sv_of(s->host);
	assert_int_equal(log_kind.read(&in), 0);
	/* The layout's name is the one thing that points into the rules. */
	k->info.format = arena_copy(k->arena, k->info.format);
	arena_free(in.record);
	rules_free(r);
	return k;
}

static struct kit *read_log(struct sv text)
{
	return read_with(text, &(struct setting){ .zone = NULL });
}

static void check_expired(const struct kit *k, size_t i, const char *member, int64_t time_us, uint64_t line)
{
	assert_true(i < k->event_count);
	const struct event *e = &k->events[i];

	assert_string_equal(event_infos[e->type].name, event_infos[EVENT_SESSION_EXPIRED].name);
	assert_sv_equal(event_text(e, FIELD_MEMBER), member);
	assert_int_equal(e->time.us, time_us);
	assert_int_equal(e->place.number, line);
}

/* ---- noise ---- */

#define SV_OF(text) { text, sizeof(text) - 1 }
#define NOISE "\x02\x7f\xfe\x06x"
#define BEFORE KAFKA("13:46:01,000", "up") "\n"
#define HERE KAFKA("13:47:00,000", EXPIRED("m-1"))
#define BEHIND "\n" KAFKA("13:48:02,000", "up") "\n"

/* Zeros and binary bytes joined to a record, before it or behind: it is read where that can be, and each such line is told of. */
static void noise_beside_a_record_is_told(void **state)
{
	static const struct {
		struct sv text;
		bool is_told, is_read;
	} cases[] = {
		{ SV_OF(BEFORE HERE BEHIND), false, true },
		{ SV_OF(BEFORE "\0\0\0" HERE BEHIND), true, true },
		{ SV_OF(BEFORE NOISE HERE BEHIND), true, true },
		{ SV_OF(BEFORE "\0\0" NOISE HERE BEHIND), true, true },
		{ SV_OF(BEFORE HERE "\0\0\0" BEHIND), true, true },
		{ SV_OF(BEFORE "\0\0" HERE "\0\0" BEHIND), true, true },
		/* The rule's message does not end so: what it says is not known. */
		{ SV_OF(BEFORE HERE NOISE BEHIND), true, false },
		/* Cut, and zeros to the end of a block of the disk. */
		{ SV_OF(BEFORE "[2026-11-30 13:47:00,000] INFO [GroupCoordinator id=1 to\0\0\0\0" BEHIND), true, false },
		/* The separator of FIX is text, and so is a record that a message quotes, noise or not. */
		{ SV_OF(BEFORE KAFKA("13:47:00,000", "got 8=FIX.4.4\1" "9=12\1") BEHIND), false, false },
		{ SV_OF(BEFORE "\tat x\2 \"" HERE "\"" BEHIND), true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_log(cases[i].text);
		size_t found = 0;

		for (size_t e = 0; e < k->event_count; e++)
			found += k->events[e].type == EVENT_SESSION_EXPIRED;
		assert_int_equal(found, cases[i].is_read);
		if (cases[i].is_read)
			check_expired(k, 0, "m-1", T0, 2);
		assert_int_equal(kit_problems(k, "log.noise"), cases[i].is_told);
		if (cases[i].is_told) {
			assert_int_equal(kit_problem(k, "log.noise")->severity, SEVERITY_WARNING);
			assert_int_equal(kit_problem(k, "log.noise")->place.number, 2);
			assert_int_equal(kit_problem(k, "log.noise")->place.byte_offset, strlen(BEFORE));
		}
		kit_free(k);
	}
}

/* As a log begins that was truncated below its writer: nothing is lost in it. */
static void zeros_at_the_start_are_a_note(void **state)
{
	struct kit *k = read_log(SV("\0\0\0" HERE BEHIND));

	(void)state;
	check_expired(k, 0, "m-1", T0, 1);
	assert_int_equal(kit_problem(k, "log.noise")->severity, SEVERITY_NOTE);
	assert_int_equal(kit_problem(k, "log.noise")->place.number, 1);
	kit_free(k);
}

static void noise_beside_a_wrapper(void **state)
{
	static const struct sv cases[] = {
		SV_OF(DOCKER("stdout", "13:46:01.5", "up") DOCKER("stdout", "13:47:00.5", HERE)),
		SV_OF(DOCKER("stdout", "13:46:01.5", "up") "\0\0" DOCKER("stdout", "13:47:00.5", HERE)),
		SV_OF(DOCKER("stdout", "13:46:01.5", "up") NOISE DOCKER("stdout", "13:47:00.5", HERE)),
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_log(cases[i]);

		check_expired(k, 0, "m-1", T0, 2);
		assert_int_equal(kit_problems(k, "log.noise"), i > 0);
		kit_free(k);
	}
}

/* ---- one wrapper each: the same record, its own time, the line as written ---- */

static void the_same_event_out_of_each_wrapper(void **state)
{
	static const struct {
		const char *before, *after, *format, *host;
		const char *zone;	/* source of the zone */
	} wrappers[] = {
		{ "{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.600Z\"}", "kafka in docker", NULL, "wrapper" },
		{ "2026-11-30T13:47:02.6Z stdout F ", "", "kafka in cri", NULL, "wrapper" },
		{ "[pod/k-0/kafka] 2026-11-30T13:47:02.500914361Z ", "", "kafka in timestamps", "k-0", "wrapper" },
		{ "[pod/k-0/kafka] ", "", "kafka in kubectl", "k-0", "assumed" },
		{ "kafka-1  | ", "", "kafka in compose", "kafka-1", "assumed" },
		{ "Nov 30 14:47:02 node-a java[412]: ", "", "kafka in syslog", "node-a", "assumed" },
		{ "2026-11-30T14:47:02.700+01:00 node-a java[412]: ", "", "kafka in syslog", "node-a", "wrapper" },
		{ "<134>1 2026-11-30T13:47:02.7Z node-a app 1 - - ", "", "kafka in syslog", "node-a", "wrapper" },
		{ "{\"__REALTIME_TIMESTAMP\":\"1796046422600000\",\"_HOSTNAME\":\"node-a\",\"MESSAGE\":\"", "\"}", "kafka in journal", "node-a",
		  "wrapper" },
		{ "{\"labels\":{},\"timestamp\":\"2026-11-30T13:48:02Z\",\"line\":\"", "\"}", "kafka in loki", NULL, "assumed" },
		{ "{\"logStreamName\":\"s\",\"timestamp\":1796046422600,\"message\":\"", "\"}", "kafka in cloudwatch", NULL, "assumed" },
		{ "{\"_index\":\"i\",\"_source\":{\"@timestamp\":\"2026-11-30T13:47:05Z\",\"message\":\"", "\"}}", "kafka in elasticsearch", NULL,
		  "assumed" },
		{ "{\"_time\":\"2026-11-30T14:47:02.500+01:00\",\"host\":\"node-a\",\"_raw\":\"", "\"}", "kafka in splunk", "node-a", "assumed" },
		{ "{\"insertId\":\"a\",\"timestamp\":\"2026-11-30T13:47:05Z\",\"textPayload\":\"", "\"}", "kafka in gcp", NULL, "assumed" },
		{ "kafka-0 kafka ", "", "kafka in stern", "kafka-0", "assumed" },
		{ "logs/server.log:120:", "", "kafka in grep", NULL, "assumed" },
		{ "> ", "", "kafka in quote", NULL, "assumed" },
		{ "\x1b[32m", "\x1b[0m", "kafka in colours", NULL, "assumed" },
		/* Nested: the CRI inside an object, colours inside docker's, docker's inside a mail. */
		{ "{\"log\":\"2026-11-30T13:47:02.6Z stdout F ", "\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.9Z\"}", "kafka in cri", NULL,
		  "wrapper" },
		{ "{\"log\":\"\\u001b[32m", "\\u001b[0m\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.6Z\"}", "kafka in colours", NULL,
		  "wrapper" },
		{ "> {\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.6Z\"}", "kafka in docker", NULL, "wrapper" },
		{ "kafka-1  | 2026-11-30T13:47:02.500914361Z ", "", "kafka in timestamps", "kafka-1", "wrapper" },
		{ "\x1b[36mkafka-1  | \x1b[0m", "", "kafka in compose", "kafka-1", "assumed" },
		{ "{\"message\":\"", "\",\"namespace\":\"shop\",\"podName\":\"k-0\",\"containerName\":\"kafka\"}", "kafka in stern", "k-0", "assumed" },
		{ "{\"podName\":\"k-0\",\"containerName\":\"kafka\",\"message\":\"2026-11-30T13:47:02.500914361Z ", "\"}", "kafka in timestamps", "k-0",
		  "wrapper" },
		{ "<134>1 2026-11-30T13:47:02.7Z node-a app 1 ID [mdc@32473 id=\"a\\]b\" x=\"]\"][y z=\"\\\"] \"] ", "", "kafka in syslog", "node-a",
		  "wrapper" },
		{ "<134>1 2026-11-30T13:47:02.7Z relay rsyslogd - - - Nov 30 13:47:02 node-a java[4]: ", "", "kafka in syslog", "node-a", "wrapper" },
		{ "{\"__REALTIME_TIMESTAMP\":\"1796046422600000\",\"_HOSTNAME\":\"node-a\",\"MESSAGE\":\"{\\\"log\\\":\\\"",
		  "\\\\n\\\",\\\"stream\\\":\\\"stdout\\\",\\\"time\\\":\\\"2026-11-30T13:47:02.6Z\\\"}\"}", "kafka in docker", "node-a", "wrapper" },
		{ "/containers/ab-json.log:12:{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.6Z\"}", "kafka in docker", NULL, "wrapper" },
		{ "server.log-120-", "", "kafka in grep", NULL, "assumed" },
		{ "C:\\logs\\server.log:120:", "", "kafka in grep", NULL, "assumed" },
		{ "120:", "", "kafka in grep", NULL, "assumed" },
		{ ">", "", "kafka in quote", NULL, "assumed" },
		{ "> > ", "", "kafka in quote", NULL, "assumed" },
		/* Not at the start of the file: one was added to another. */
		{ "\xef\xbb\xbf", "", "kafka in mark", NULL, "assumed" },
		{ "\xef\xbb\xbf{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.6Z\"}", "kafka in docker", NULL, "wrapper" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
		struct arena *a = arena_new();
		struct sv line = arena_printf(a, "%s%s%s", wrappers[i].before, KAFKA("13:47:02,500", EXPIRED("m-1")), wrappers[i].after);
		struct kit *k = read_log(arena_printf(a, "\n%.*s\n", SV_ARG(line)));

		check_expired(k, 0, "m-1", T0 + 2500000, 2);
		assert_true(sv_eq(k->events[0].text, line));
		assert_int_equal(k->events[0].place.byte_offset, 1);
		assert_sv_equal(k->info.format, wrappers[i].format);
		assert_sv_equal(k->info.zone_source, wrappers[i].zone);
		if (wrappers[i].host == NULL)
			assert_absent(k->events[0].host);
		else
			assert_sv_equal(k->events[0].host, wrappers[i].host);
		/* One host that all of the file is of is the input's. */
		assert_true(sv_eq(k->info.host, k->events[0].host));
		assert_int_equal(k->info.records, 1);
		kit_free(k);
		arena_free(a);
	}
}

static void what_is_said_of_the_host_outweighs_the_wrapper(void **state)
{
	struct kit *k = read_with(SV(SYSLOG("14:47:02", "node-a java[412]", KAFKA("13:47:02,500", EXPIRED("m-1")))),
				  &(struct setting){ .host = "broker-1" });

	(void)state;
	assert_sv_equal(k->info.host, "broker-1");
	assert_sv_equal(k->events[0].host, "broker-1");
	kit_free(k);
}

/* ---- joining ---- */

static void pieces_of_a_line_are_joined_by_stream(void **state)
{
	struct kit *k = read_log(SV(CRI("13:47:02.6", "P", "[2026-11-30 13:47:02,500] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=31] Mem")
				    "2026-11-30T13:47:02.7Z stderr F other\n"
				    CRI("13:47:02.8", "P", "ber m-1 in group refunds has failed")
				    CRI("13:47:02.9", "F", ", removing it from the group. (a.b.C)")
				    CRI("13:47:03.1", "F", KAFKA("13:47:03,000", EXPIRED("m-2")))));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	check_expired(k, 1, "m-2", T0 + 3000000, 5);
	assert_int_equal(kit_problems(k, "log.record_cut"), 0);
	kit_free(k);
}

/* Two containers of one file write at once, each in pieces. */
static void pieces_of_two_containers_do_not_mix(void **state)
{
#define TO_REST(time) "[2026-11-30 " time "] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=31] Mem"
#define REST(m) "ber " m " in group refunds has failed, removing it from the group. (a.b.C)"
	struct kit *k = read_log(SV("[pod/a/kafka] " CRI("13:47:02.6", "P", TO_REST("13:47:02,500"))
				    "[pod/b/kafka] " CRI("13:47:03.1", "P", TO_REST("13:47:03,000"))
				    "[pod/a/kafka] " CRI("13:47:02.6", "F", REST("m-1")) "[pod/b/kafka] " CRI("13:47:03.1", "F", REST("m-2"))));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	check_expired(k, 1, "m-2", T0 + 3000000, 2);
	assert_sv_equal(k->events[0].host, "a");
	assert_sv_equal(k->events[1].host, "b");
	assert_int_equal(kit_problems(k, "log.record_cut"), 0);
	kit_free(k);
}

/* The last line of a log that is copied while it is written to. */
static void what_is_cut_gives_nothing_and_the_rest_is_read(void **state)
{
	struct kit *k = read_log(SV(KAFKA("13:47:02,500", EXPIRED("m-1")) "\n[2026-11-30 13:47:03,000] INFO [GroupCoordinator id=1 topic=__con"
				    KAFKA("13:47:04,000", EXPIRED("m-2")) "\n[2026-11-30 13:47:05,000] INFO [GroupCoordinator id=1 to"));

	(void)state;
	assert_int_equal(k->event_count, 3);
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	check_expired(k, 1, "m-2", T0 + 4000000, 2);
	assert_int_equal(k->events[2].type, EVENT_COVERED);
	kit_free(k);
}

static void a_piece_whose_rest_is_missing_is_marked(void **state)
{
	struct kit *k = read_log(SV(CRI("13:47:02.6", "P", KAFKA("13:47:02,500", EXPIRED("m-1")))));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	assert_int_equal(kit_problems(k, "log.record_cut"), 1);
	assert_int_equal(kit_problem(k, "log.record_cut")->severity, SEVERITY_WARNING);
	kit_free(k);
}

static void docker_says_the_end_of_a_line_in_the_text(void **state)
{
	struct kit *k = read_log(SV(DOCKER("stdout", "13:47:01.1", KAFKA("13:47:01,000", "x") "\\n")
				    DOCKER("stdout", "13:47:02.6", "[2026-11-30 13:47:02,500] INFO [GroupCoordinator 1]: Member m-1 in group refunds ")
				    DOCKER("stdout", "13:47:02.6", "has failed, removing it from the group (a.b.C)\\n")));
	/* An export that drops all ends: each is a line. */
	struct kit *without = read_log(SV(DOCKER("stdout", "13:47:02.6", KAFKA("13:47:02,500", EXPIRED("m-1")))
					  DOCKER("stdout", "13:47:03.1", KAFKA("13:47:03,000", EXPIRED("m-2")))));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 2);
	check_expired(without, 0, "m-1", T0 + 2500000, 1);
	check_expired(without, 1, "m-2", T0 + 3000000, 2);
	assert_int_equal(kit_problems(without, "log.record_cut"), 0);
	kit_free(without);
	kit_free(k);
}

#define DUMP_HEAD(time) "[2026-11-30 " time "] INFO ConsumerConfig values:"

static void the_lines_below_a_record_go_to_their_own_writer(void **state)
{
	struct kit *k = read_log(SV("[pod/a/app] " DUMP_HEAD("13:47:01,000") "\n"
				    "[pod/b/app] " KAFKA("13:47:01,000", "x") "\n"
				    "[pod/a/app] \tgroup.id = refunds\n"
				    "[pod/b/app] \tgroup.id = orders\n"
				    "[pod/a/app] \tclient.id = c-1\n"));

	(void)state;
	/* Two settings of a, and coverage of a and b. */
	assert_int_equal(k->event_count, 4);
	assert_string_equal(event_infos[k->events[0].type].name, "client.config");
	assert_sv_equal(event_text(&k->events[0], FIELD_GROUP), "refunds");
	assert_sv_equal(k->events[0].host, "a");
	assert_int_equal(k->events[2].type, EVENT_COVERED);
	assert_int_equal(k->events[3].type, EVENT_COVERED);
	assert_absent(k->info.host);
	kit_free(k);
}

/* syslog without a tag, as a sender sends it and as a file keeps it: the trace is no writer, and each hour is the same one. */
static void lines_without_a_tag_have_one_writer(void **state)
{
#define LINES(p)                                                                                              \
	p "Nov 30 13:47:02 node-a " KAFKA("13:47:02,500", EXPIRED("m-1")) "\n"                                \
	p "Nov 30 13:47:03 node-a [2026-11-30 13:47:03,000] ERROR fatal (a.b.C)\n"                            \
	p "Nov 30 13:47:03 node-a java.lang.IllegalStateException: text\n"                                    \
	p "Nov 30 13:47:03 node-a \tat a.b.C.d(C.java:12)\n"                                                  \
	p "Nov 30 13:47:03 node-a Caused by: java.io.IOException: text\n"                                     \
	p "Nov 30 14:47:02 node-a " KAFKA("14:47:02,500", EXPIRED("m-2")) "\n"
	struct kit *kits[] = { read_log(SV(LINES("<13>"))), read_log(SV(LINES(""))) };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		check_expired(kits[i], 0, "m-1", T0 + 2500000, 1);
		check_expired(kits[i], 1, "m-2", T0 + 3602500000, 6);
		assert_sv_equal(kits[i]->events[0].host, "node-a");
		assert_int_equal(kits[i]->info.records, 3);
		assert_int_equal(kit_problems(kits[i], "log.no_record"), 0);
		kit_free(kits[i]);
	}
#undef LINES
}

static void a_message_may_hold_the_lines_below_it(void **state)
{
	struct kit *k = read_log(SV("{\"logStreamName\":\"s\",\"timestamp\":1796046421000,\"message\":\"" DUMP_HEAD("13:47:01,000")
				    "\\n\\tgroup.id = refunds\\n\\tclient.id = c-1\\n\"}\n"));

	(void)state;
	assert_int_equal(k->event_count, 3);
	assert_sv_equal(event_text(&k->events[0], FIELD_GROUP), "refunds");
	assert_int_equal(k->events[1].place.number, 1);
	kit_free(k);
}

static void two_records_on_one_line(void **state)
{
	struct kit *k = read_log(SV(KAFKA("13:47:02,500", EXPIRED("m-1")) KAFKA("13:47:03,000", EXPIRED("m-2")) "\n"));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	check_expired(k, 1, "m-2", T0 + 3000000, 1);
	assert_int_equal(kit_problems(k, "log.two_records"), 1);
	kit_free(k);
}

/* One that is quoted stands behind a blank, whatever colour begins there. */
static void a_record_in_another_colour_is_quoted(void **state)
{
	static const struct {
		const char *between;
		size_t two;
	} cases[] = { { " \x1b[32m", 0 }, { "\x1b[0m", 1 } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arena *a = arena_new();
		struct kit *k = read_log(arena_printf(a, "[2024-06-18 13:47:02,500] INFO seen%s[2024-06-18 13:47:03,000] INFO " EXPIRED("m-2") "\n", cases[i].between));

		assert_int_equal(kit_problems(k, "log.two_records"), cases[i].two);
		kit_free(k);
		arena_free(a);
	}
}

/* ---- records by the wrapper's time ---- */

#define BARE EXPIRED("m-1")

static void a_line_without_time_has_that_of_its_wrapper(void **state)
{
	struct kit *k = read_log(SV(CRI("13:47:02.5", "F", BARE) CRI("13:47:03", "F", "\tat a.B") CRI("13:47:04", "F", "next")));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	assert_int_equal(k->info.records, 2);
	assert_sv_equal(k->info.format, "cri");
	assert_sv_equal(k->info.zone_source, "written");
	kit_free(k);
}

static void without_a_wrapper_it_has_none(void **state)
{
	struct kit *k = read_log(SV(BARE "\nnext\n"));

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.records, 0);
	kit_free(k);
}

/* ---- zones ---- */

static void the_wrapper_tells_the_zone_of_the_line(void **state)
{
	/* Lines in Shanghai, docker in UTC. */
	struct kit *k = read_log(SV(DOCKER("stdout", "13:47:02.500914361", KAFKA("21:47:02,500", EXPIRED("m-1")) "\\n")));
	/* The user's word outweighs it. */
	struct kit *told = read_with(SV(DOCKER("stdout", "13:47:02.500914361", KAFKA("21:47:02,500", EXPIRED("m-1")) "\\n")),
				     &(struct setting){ .zone = "UTC" });

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	assert_sv_equal(k->info.zone_name, "+08:00");
	assert_sv_equal(k->info.zone_source, "wrapper");
	check_expired(told, 0, "m-1", T0 + 2500000 + 8 * 3600 * US_PER_S, 1);
	assert_sv_equal(told->info.zone_source, "option");
	kit_free(told);
	kit_free(k);
}

static void an_import_does_not(void **state)
{
	/* All at once, an hour after the first line: that one alone would be in a zone. */
	struct kit *k = read_log(SV(DOCKER("stdout", "14:47:02.6", KAFKA("13:47:02,500", EXPIRED("m-1")) "\\n")
				    DOCKER("stdout", "14:47:02.6", KAFKA("13:49:00,000", EXPIRED("m-2")) "\\n")));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	assert_sv_equal(k->info.zone_source, "assumed");
	kit_free(k);
}

static void clocks_of_a_place_are_changed(void **state)
{
	/* In Berlin 02:30 comes twice on 2026-10-25; 00:30Z is 1792888200. */
	static const char text[] = "[2026-10-25 02:30:00,000] INFO " EXPIRED("m-1") " (a.b.C)\n"
				   "[2026-10-25 02:50:00,000] INFO " EXPIRED("m-2") " (a.b.C)\n"
				   "[2026-10-25 02:10:00,000] INFO " EXPIRED("m-3") " (a.b.C)\n"
				   "[2026-10-25 03:10:00,000] INFO " EXPIRED("m-4") " (a.b.C)\n";
	static const char gap[] = "[2026-03-29 02:30:00,000] INFO " EXPIRED("m-1") " (a.b.C)\n";
	struct arena *a = arena_new();
	struct zone berlin;
	bool known = zone_load(SV("Europe/Berlin"), a, &berlin);
	struct kit *k;

	(void)state;
	arena_free(a);
	if (!known)
		skip();	/* no zone database */
	k = read_with(sv_of(text), &(struct setting){ .zone = "Europe/Berlin" });
	check_expired(k, 0, "m-1", INT64_C(1792888200) * US_PER_S, 1);
	check_expired(k, 1, "m-2", INT64_C(1792889400) * US_PER_S, 2);
	/* The first 02:10 would go back: it is the second. */
	check_expired(k, 2, "m-3", INT64_C(1792890600) * US_PER_S, 3);
	check_expired(k, 3, "m-4", INT64_C(1792894200) * US_PER_S, 4);
	assert_int_equal(kit_problems(k, "log.time_twice"), 2);
	assert_int_equal(kit_problems(k, "log.time_backwards"), 0);
	assert_sv_equal(k->info.zone_name, "Europe/Berlin");
	kit_free(k);
	k = read_with(sv_of(gap), &(struct setting){ .zone = "Europe/Berlin" });
	assert_int_equal(kit_problems(k, "log.time_skipped"), 1);
	assert_int_equal(kit_problem(k, "log.time_skipped")->severity, SEVERITY_WARNING);
	kit_free(k);
}

/* ---- years ---- */

static void a_year_comes_from_the_file_where_nothing_else_tells(void **state)
{
	/* 2027-01-02T00:00Z: November is that of the year before. */
	static const struct setting modified = { .has_modified = true, .modified_us = INT64_C(1798848000) * US_PER_S };
	static const struct setting near = { .has_near = true, .near_us = INT64_C(1796000000) * US_PER_S };
	struct kit *k = read_with(SV(SYSLOG("13:47:02", "node-a app[1]", BARE)), &modified);
	struct kit *by_option = read_with(SV(SYSLOG("13:47:02", "node-a app[1]", BARE)), &near);
	struct kit *unknown = read_log(SV(SYSLOG("13:47:02", "node-a app[1]", BARE)));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2000000, 1);
	assert_sv_equal(kit_problem(k, "log.year")->message, "times carry no year: it is by the file's time of modification");
	check_expired(by_option, 0, "m-1", T0 + 2000000, 1);
	assert_sv_equal(kit_problem(by_option, "log.year")->message, "times carry no year: it is by the option --from");
	assert_int_equal(unknown->event_count, 0);
	assert_int_equal(unknown->info.skipped, 1);
	assert_sv_equal(kit_problem(unknown, "log.no_time")->message, "record with a time whose year nothing tells");
	kit_free(unknown);
	kit_free(by_option);
	kit_free(k);
}

static void other_times_of_the_file_outweigh_the_file(void **state)
{
	/* A whole time stands behind; the file was copied ten years later. */
	struct kit *k = read_with(SV("Dec 31 23:59:58 node-a app[1]: " EXPIRED("m-1") "\n"
				     "Jan  1 00:00:01 node-a app[1]: " EXPIRED("m-2") "\n"
				     "Jan  1 00:00:02 node-a java[2]: [2027-01-01 00:00:02,000] INFO x (a.b.C)\n"),
				  &(struct setting){ .has_modified = true, .modified_us = INT64_C(2114380800) * US_PER_S });

	(void)state;
	/* 2027-01-01T00:00Z is 1798761600. */
	check_expired(k, 0, "m-1", INT64_C(1798761598) * US_PER_S, 1);
	check_expired(k, 1, "m-2", INT64_C(1798761601) * US_PER_S, 2);
	assert_sv_equal(kit_problem(k, "log.year")->message, "times carry no year: it is by other times in the input");
	kit_free(k);
}

static void seconds_since_the_boot_need_one_line_with_both(void **state)
{
	struct kit *k = read_log(SV("[ 1382.000000] node-a app[1]: " EXPIRED("m-1") "\n"
				    "[ 1384.000000] node-a java[2]: " KAFKA("13:47:04,000", "x") "\n"));
	struct kit *without = read_log(SV("[ 1382.000000] node-a app[1]: " EXPIRED("m-1") "\n"));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2000000, 1);
	assert_int_equal(without->event_count, 0);
	assert_sv_equal(kit_problem(without, "log.no_time")->message, "record with a time whose start nothing tells");
	kit_free(without);
	kit_free(k);
}

/* Where the kernel logs the time of day beside its count: the boot was at 13:46:00. */
static void the_kernels_own_lines_tell_the_boot(void **state)
{
	static const char *const anchors[] = {
		"[    1.500000] rtc_cmos 00:00: setting system clock to 2026-11-30T13:46:01 UTC (1796046361.5)\n",
		"[   60.000000] audit: type=1400 audit(1796046420.000:2): apparmor=\"STATUS\"\n",
	};
	static const char full[] = "[   62.500000] nf_conntrack: nf_conntrack: table full, dropping packet\n";

	(void)state;
	for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
		char text[512];
		struct kit *k;

		/* Before it or behind it. */
		snprintf(text, sizeof text, "%s%s%s", full, anchors[i], full);
		k = read_log(sv_of(text));
		assert_int_equal(k->event_count, 3);
		assert_int_equal(k->events[0].type, EVENT_CONNTRACK_FULL);
		assert_int_equal(k->events[0].time.us, T0 + 2500000);
		assert_int_equal(k->events[1].place.number, 3);
		assert_int_equal(k->events[1].time.us, T0 + 2500000);
		assert_int_equal(kit_problems(k, "log.boot"), 1);
		kit_free(k);
	}
	/* Without any nothing tells it; and a JVM counts from another start. */
	struct kit *k = read_log(sv_of(full));
	assert_int_equal(k->event_count, 0);
	kit_free(k);
	k = read_log(SV("[   60.000000] audit: type=1400 audit(1796046420.000:2): apparmor=\"STATUS\"\n"
			"[62.500s][info][gc] GC(146) Pause Full (System.gc()) 97M->57M(128M) 12034.452ms\n"));
	assert_int_equal(k->event_count, 1);
	assert_int_equal(k->events[0].type, EVENT_COVERED);
	kit_free(k);
}

/* A console: the application writes dates, its JVM the seconds since its start, at 13:46:00. */
static void lines_with_dates_tell_when_a_jvm_started(void **state)
{
#define PAUSE "[62.500s][info][gc] GC(146) Pause Full (System.gc()) 97M->57M(128M) 12034.452ms\n"
#define DATED(time) "[2026-11-30 " time "] INFO hello (a.B)\n"
	struct kit *k = read_log(SV(PAUSE DATED("13:47:02,900") DATED("13:47:06,300") "[66.400s][info][gc] GC(147) Concurrent Mark\n"));

	(void)state;
	/* At most 13:47:02.9 - 62.5 s, at least 13:47:06.3 - 66.4 s: 13:46:00.400 to 13:45:59.900, the middle is 13:46:00.150. */
	assert_int_equal(k->event_count, 2);
	assert_int_equal(k->events[0].type, EVENT_PROCESS_PAUSED);
	assert_int_equal(k->events[0].time.us, T0 + 2650000);
	assert_int_equal(kit_problems(k, "log.start"), 1);
	kit_free(k);

	/* Started anew at 13:57:00: each by its own start. */
	k = read_log(SV(PAUSE DATED("13:47:02,900") DATED("13:47:06,300") "[66.400s][info][gc] GC(147) Concurrent Mark\n"
			DATED("13:57:03,000") "[3.000s][info][gc] GC(1) Concurrent Mark\n" DATED("13:57:03,000") PAUSE));
	assert_int_equal(k->event_count, 3);
	assert_int_equal(k->events[0].time.us, T0 + 2650000);
	assert_int_equal(k->events[1].time.us, T0 + 662500000);
	kit_free(k);

	/* Lines that are far apart, and lines on one side alone, tell nothing. */
	k = read_log(SV(PAUSE DATED("13:47:12,900") DATED("13:47:56,300") "[66.400s][info][gc] GC(147) Concurrent Mark\n"));
	assert_int_equal(k->event_count, 1);
	assert_int_equal(kit_problems(k, "log.start"), 0);
	kit_free(k);
	k = read_log(SV(PAUSE DATED("13:47:02,900")));
	assert_int_equal(k->event_count, 1);
	kit_free(k);
}

/* ---- layouts whose times leave something out ---- */

static struct kit *read_by(const char *rules, struct sv text, const char *name)
{
	struct kit *k = kit_new();
	struct rules *r = rules_parse(SV("test.rules"), sv_of(rules), k->diag);

	assert_non_null(r);
	kit_read(k, &log_kind, text, name, r);
	k->info.format = SV_ABSENT;
	rules_free(r);
	return k;
}

#define RULE                                                        \
	"rule expired\nevent member.session_expired\nfrom broker\n"  \
	"match ^(?<member>m-\\d) of (?<group>\\w+) failed$\n"         \
	"example m-1 of g failed\nexpect member=m-1 group=g\n"
#define BY_CLOCK "layout by-clock\nline ^(?<time>\\d\\d:\\d\\d:\\d\\d\\.\\d+) (?<body>.*)$\ntime HH:mm:ss.SSS\nexample 11:00:00.000 x\nexpect body=x\n\n"
#define BY_UPTIME "layout by-uptime\nline ^(?<time>\\d+) \\[main\\] (?<body>.*)$\ntime uptime_ms\nexample 3 [main] x\nexpect body=x\n\n"

static void a_date_comes_from_the_name_of_the_file(void **state)
{
	static const char text[] = "23:59:59.500 m-1 of g failed\n00:00:01.500 m-2 of g failed\n";
	struct kit *k = read_by(BY_CLOCK RULE, sv_of(text), "app.log.2026-11-30");
	struct kit *unknown = read_by(BY_CLOCK RULE, sv_of(text), "app.log");

	(void)state;
	/* 2026-12-01T00:00Z is 1796083200; midnight is passed. */
	check_expired(k, 0, "m-1", INT64_C(1796083199500000), 1);
	check_expired(k, 1, "m-2", INT64_C(1796083201500000), 2);
	assert_sv_equal(kit_problem(k, "log.date")->message, "times carry no date: it is by the file's name");
	assert_int_equal(unknown->event_count, 0);
	assert_int_equal(unknown->info.skipped, 2);
	assert_sv_equal(kit_problem(unknown, "log.no_time")->message, "record with a time whose date nothing tells");
	kit_free(unknown);
	kit_free(k);
}

static void a_date_comes_from_the_wrapper(void **state)
{
	/* Half past eight in the morning of the next day in Shanghai. */
	struct kit *k = read_by(BY_CLOCK RULE, SV("2026-11-30T00:30:00.1Z stdout F 08:30:00.000 m-1 of g failed\n"), "app.log");

	(void)state;
	/* 2026-11-30T00:30Z */
	check_expired(k, 0, "m-1", INT64_C(1795998600) * US_PER_S, 1);
	assert_sv_equal(k->info.zone_name, "+08:00");
	kit_free(k);
}

static void kafka_prints_when_the_jvm_was_started(void **state)
{
	/* At 120 ms it was 13:47:00.120Z. */
	struct kit *k = read_by(BY_UPTIME RULE, SV("100 [main] m-1 of g failed\n120 [main] Kafka startTimeMs: 1796046420120\n"
						   "2000 [main] m-2 of g failed\n"), "app.log");
	struct kit *unknown = read_by(BY_UPTIME RULE, SV("100 [main] m-1 of g failed\n"), "app.log");

	(void)state;
	check_expired(k, 0, "m-1", T0 + 100000, 1);
	check_expired(k, 1, "m-2", T0 + 2000000, 3);
	assert_int_equal(unknown->event_count, 0);
	assert_int_equal(unknown->info.skipped, 1);
	kit_free(unknown);
	kit_free(k);
}

/* ---- objects over several lines ---- */

#define PRETTY(m) "{", "  \"instant\" : {", "    \"epochSecond\" : 1796046422,", "    \"nanoOfSecond\" : 500000000", "  },", \
		"  \"message\" : \"" EXPIRED(m) "\",", "  \"x\" : [", "    1", "  ]", "}"

/* The lines as they are, or each in an object of docker's. */
static void add_all(struct buf *text, bool in_docker, const char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct buf line;

		buf_init(&line);
		buf_printf(&line, "%s\n", lines[i]);
		if (in_docker) {
			buf_add(text, SV("{\"log\":"));
			buf_add_json(text, buf_sv(&line));
			buf_add(text, SV(",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:47:02.6Z\"}\n"));
		} else {
			buf_add(text, buf_sv(&line));
		}
		buf_fini(&line);
	}
}

static void an_object_over_several_lines_is_one_record(void **state)
{
	/* Behind something else, so that the file is no document. */
	static const char *const lines[] = { KAFKA("13:47:01,000", "x"), PRETTY("m-1"), PRETTY("m-2"), KAFKA("13:47:03,000", EXPIRED("m-3")) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct buf text;
		struct kit *k;

		buf_init(&text);
		add_all(&text, i == 1, lines, sizeof lines / sizeof lines[0]);
		k = read_log(buf_sv(&text));
		check_expired(k, 0, "m-1", T0 + 2500000, 2);
		check_expired(k, 1, "m-2", T0 + 2500000, 12);
		check_expired(k, 2, "m-3", T0 + 3000000, 22);
		assert_int_equal(k->info.records, 4);
		kit_free(k);
		buf_fini(&text);
	}
}

/* What is printed below a record, and what is never closed, are lines as they stand. */
static void an_object_that_does_not_end_hides_no_record(void **state)
{
	struct kit *k = read_log(SV(KAFKA("13:47:01,000", "sent") "\n{\n  \"order\" : 7\n}\n"
				    KAFKA("13:47:02,500", EXPIRED("m-1")) "\n{\n  \"order\" : {\n"
				    KAFKA("13:47:03,000", EXPIRED("m-2")) "\n{ \"order\" : 7,\n{ \"a\" : \"b,\n"
				    KAFKA("13:47:04,000", EXPIRED("m-3")) "\n"));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 5);
	check_expired(k, 1, "m-2", T0 + 3000000, 8);
	check_expired(k, 2, "m-3", T0 + 4000000, 11);
	assert_int_equal(k->info.records, 4);
	kit_free(k);
}

static void a_message_that_is_an_object_over_lines_is_read(void **state)
{
	struct kit *k = read_log(SV("{\"timestamp\":1796046422600,\"ingestionTime\":1,\"message\":\"{\\n  \\\"timeMillis\\\" : 1796046422500,\\n"
				    "  \\\"message\\\" : \\\"" EXPIRED("m-1") "\\\"\\n}\\n\"}\n"));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	kit_free(k);
}

/* ---- bounds ---- */

static void many_writers_take_the_place_of_the_silent(void **state)
{
	struct arena *a = arena_new();
	struct buf text;
	struct kit *k;

	(void)state;
	buf_init(&text);
	for (int i = 0; i < 100; i++)
		buf_printf(&text, "[pod/p-%d/app] %s\n", i, KAFKA("13:47:02,500", EXPIRED("m-1")));
	k = read_log(buf_sv(&text));
	assert_int_equal(k->info.records, 100);
	assert_int_equal(k->info.events, 100 + 64);
	kit_free(k);
	buf_fini(&text);
	arena_free(a);
}

static enum sniffed sniffed(const struct rules *r, struct sv head)
{
	const char *why = NULL;

	return log_kind.sniff(head, SV("x"), r, &why);
}

static void a_wrapped_log_is_known_by_its_lines(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);

	(void)state;
	assert_int_equal(sniffed(r, SV(DOCKER("stdout", "13:47:02.6", "hello\\n"))), SNIFF_MINE);
	assert_int_equal(sniffed(r, SV(SYSLOG("13:47:02", "node-a app[1]", "hello"))), SNIFF_MINE);
	assert_int_equal(sniffed(r, SV("app-1  | " KAFKA("13:47:02,500", "x") "\n")), SNIFF_MINE);
	assert_int_equal(sniffed(r, SV("app-1  | hello\n> quoted\n")), SNIFF_NOT_MINE);
	rules_free(r);
	kit_free(k);
}

/* ---- both times ---- */

/* Loki takes lines in when it likes: what it says tells no zone, but that none was told is seen. */
static void times_far_from_their_wrappers_are_told(void **state)
{
	struct kit *k = read_log(SV("{\"labels\":{},\"timestamp\":\"2026-11-30T12:47:03Z\",\"line\":\"" KAFKA("13:47:02,500", EXPIRED("m-1")) "\"}\n"
				    "{\"labels\":{},\"timestamp\":\"2026-11-30T12:47:04Z\",\"line\":\"" KAFKA("13:47:02,600", "x") "\"}\n"
				    "{\"labels\":{},\"timestamp\":\"2026-11-30T12:47:05Z\",\"line\":\"no time of its own\"}\n"));

	(void)state;
	check_expired(k, 0, "m-1", T0 + 2500000, 1);
	assert_int_equal(kit_problems(k, "log.outer_time"), 1);
	assert_int_equal(kit_problem(k, "log.outer_time")->place.number, 1);
	assert_sv_equal(kit_problem(k, "log.outer_time")->message,
			"2 records have a wrapper's time too, which does not count: 3599.500 s before to 3598.600 s before their own, as if these were in zone "
			"+01:00 (--timezone)");
	kit_free(k);
	/* Docker's does tell it, and then the two are one. */
	k = read_log(SV("{\"log\":\"" KAFKA("13:47:02,500", EXPIRED("m-1")) "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T12:47:02.6Z\"}\n"));
	assert_int_equal(kit_problems(k, "log.outer_time"), 0);
	kit_free(k);
}

/* ---- torn messages ---- */

static void a_torn_pause_is_told_with_its_place(void **state)
{
	struct kit *k = read_log(SV("[2026-11-30T13:47:00.000+0000][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(128M) 6.368ms\n"
				    "[2026-11-30T13:47:01.000+0000][gc] GC(2) Pause Full (System.gc()) 97M->57M(12\n"
				    "[2026-11-30T13:47:02.000+0000][gc,start] GC(3) Pause Full (System.gc())\n"
				    "[2026-11-30T13:47:03.000+0000][safepoint] Safepoint \"G1CollectFull\", Time since last: 10921858 ns, Reac\n"
				    "2026-11-30T13:47:04.000+0000: 4.039: Total time for which application threads were stopped: 12.003\n"));

	(void)state;
	assert_int_equal(k->info.records, 5);
	/* The start of a collection, which no rule knows, is whole. */
	assert_int_equal(k->info.unrecognized, 1);
	assert_int_equal(kit_problems(k, "log.message_cut"), 3);
	assert_int_equal(kit_problem(k, "log.message_cut")->severity, SEVERITY_NOTE);
	assert_int_equal(kit_problem(k, "log.message_cut")->place.number, 2);
	/* Nothing but the coverage. */
	assert_int_equal(k->event_count, 1);
	kit_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_beside_a_record_is_told),
		cmocka_unit_test(zeros_at_the_start_are_a_note),
		cmocka_unit_test(noise_beside_a_wrapper),
		cmocka_unit_test(the_same_event_out_of_each_wrapper),
		cmocka_unit_test(what_is_said_of_the_host_outweighs_the_wrapper),
		cmocka_unit_test(pieces_of_a_line_are_joined_by_stream),
		cmocka_unit_test(pieces_of_two_containers_do_not_mix),
		cmocka_unit_test(what_is_cut_gives_nothing_and_the_rest_is_read),
		cmocka_unit_test(a_piece_whose_rest_is_missing_is_marked),
		cmocka_unit_test(docker_says_the_end_of_a_line_in_the_text),
		cmocka_unit_test(the_lines_below_a_record_go_to_their_own_writer),
		cmocka_unit_test(lines_without_a_tag_have_one_writer),
		cmocka_unit_test(a_message_may_hold_the_lines_below_it),
		cmocka_unit_test(two_records_on_one_line),
		cmocka_unit_test(a_record_in_another_colour_is_quoted),
		cmocka_unit_test(a_line_without_time_has_that_of_its_wrapper),
		cmocka_unit_test(without_a_wrapper_it_has_none),
		cmocka_unit_test(the_wrapper_tells_the_zone_of_the_line),
		cmocka_unit_test(an_import_does_not),
		cmocka_unit_test(clocks_of_a_place_are_changed),
		cmocka_unit_test(a_year_comes_from_the_file_where_nothing_else_tells),
		cmocka_unit_test(other_times_of_the_file_outweigh_the_file),
		cmocka_unit_test(seconds_since_the_boot_need_one_line_with_both),
		cmocka_unit_test(the_kernels_own_lines_tell_the_boot),
		cmocka_unit_test(lines_with_dates_tell_when_a_jvm_started),
		cmocka_unit_test(a_date_comes_from_the_name_of_the_file),
		cmocka_unit_test(a_date_comes_from_the_wrapper),
		cmocka_unit_test(kafka_prints_when_the_jvm_was_started),
		cmocka_unit_test(an_object_over_several_lines_is_one_record),
		cmocka_unit_test(an_object_that_does_not_end_hides_no_record),
		cmocka_unit_test(a_message_that_is_an_object_over_lines_is_read),
		cmocka_unit_test(many_writers_take_the_place_of_the_silent),
		cmocka_unit_test(a_wrapped_log_is_known_by_its_lines),
		cmocka_unit_test(times_far_from_their_wrappers_are_told),
		cmocka_unit_test(a_torn_pause_is_told_with_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
