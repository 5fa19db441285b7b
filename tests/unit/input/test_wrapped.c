/* SPDX-License-Identifier: MIT */
/* Logs in wrappers and of objects: read by moulds and shapes they give what they give line by line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../fuzz/scan_differ.h"
#include "../../fuzz/wrapped_text.h"
#include "input_kit.h"

static struct rules *shipped(struct arena *a)
{
	struct rules *r = rules_load("rules", diag_new(a));

	assert_non_null(r);
	return r;
}

/* ---- every wrapper ---- */

/* Of the 1500 lines that are drawn some 130 stand in the head, and a tenth are events. */
#define MOST 700

static const struct {
	const char *name;
	bool objects;
	unsigned least;		/* so many lines and more are only counted; 0: none is */
} wrappers[] = {
	[DRAWN_NONE] = { "none, but objects", true, MOST },
	[DRAWN_CRI] = { "cri", false, MOST },
	[DRAWN_DOCKER] = { "docker", false, MOST },
	[DRAWN_DOCKER_MORE] = { "docker with more", false, MOST },
	[DRAWN_SYSLOG] = { "syslog", false, MOST },
	[DRAWN_SYSLOG_5424] = { "syslog 5424", false, MOST },
	[DRAWN_JOURNAL] = { "journal", false, MOST },
	[DRAWN_KUBECTL] = { "kubectl", false, MOST },
	[DRAWN_KUBECTL_TIMES] = { "kubectl with times", false, MOST },
	[DRAWN_STERN] = { "stern", false, MOST },
	[DRAWN_COMPOSE] = { "compose", false, MOST },
	[DRAWN_TIMES] = { "times", false, MOST },
	[DRAWN_LOKI] = { "loki", false, MOST },
	[DRAWN_RSYSLOG] = { "rsyslog", false, MOST },
	[DRAWN_PRIORITY] = { "priority", false, 0 },
	[DRAWN_GREP] = { "grep", false, 0 },
	[DRAWN_DMESG] = { "dmesg", false, 0 },
	[DRAWN_CLOUDWATCH] = { "cloudwatch", false, 0 },
	/* Pieces of CRI's are known by the writer that it names, which the layer in it changes: those lines are read. */
	[DRAWN_CRI_OF_KUBECTL] = { "kubectl in cri", false, 300 },
};

static void check(const struct differ_input *input, const struct log_manner *m, const char *what, unsigned number)
{
	struct differ_input mapped = *input;

	mapped.maps = true;
	if (!differ_same(input, m) || !differ_same(&mapped, m))
		fail_msg("%s, %u", what, number);
}

static void a_wrapped_log_is_counted_and_nothing_else_changes(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (unsigned i = 0; i < DRAWN_WRAPPERS; i++) {
		struct draw d = { .seed = i + 1 };
		struct wrapped_log w = { .draw = &d, .pods = 3, .objects = wrappers[i].objects, .few = true };
		uint64_t passed = 0;
		const struct log_manner m = { .threads = 1, .block_bytes = 8192, .head_bytes = 16384, .passed = &passed };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, (enum drawn_wrapper)i, 1500);
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 4096 }, &m, wrappers[i].name, 0);
		if (wrappers[i].least > 0 ? passed < wrappers[i].least : passed > 0)
			fail_msg("%s: %u lines were counted", wrappers[i].name, (unsigned)passed);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

static void pods_that_write_objects_are_counted_too(void **state)
{
	static const enum drawn_wrapper some[] = { DRAWN_CRI, DRAWN_DOCKER, DRAWN_KUBECTL, DRAWN_SYSLOG, DRAWN_STERN };
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
		struct draw d = { .seed = i + 1 };
		struct wrapped_log w = { .draw = &d, .pods = 5, .objects = true, .few = true };
		uint64_t passed = 0;
		const struct log_manner m = { .threads = 2, .block_bytes = 4096, .head_bytes = 16384, .passed = &passed };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, some[i], 1500);
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 4096 }, &m, wrappers[some[i]].name, 1);
		if (passed < 700)
			fail_msg("%s: %u lines were counted", wrappers[some[i]].name, (unsigned)passed);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

/* ---- all that there is to get wrong ---- */

#define ODD_LOGS 800

static void odd_logs_are_read_as_with_care(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (unsigned i = 0; i < ODD_LOGS; i++) {
		struct draw d = { .seed = 1000 + i };
		struct wrapped_log w = { .draw = &d, .pods = i % 7 == 0 ? 40 : 1 + i % 4, .objects = i % 5 == 0, .zone_hours = i % 3 == 0 ? 2 : 0 };
		const struct log_manner m = { .threads = 1 + i % 2, .block_bytes = 256 + 700 * (i % 11), .head_bytes = 3000 + 500 * (i % 8) };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, (enum drawn_wrapper)(i % DRAWN_WRAPPERS), 120 + 60 * (i % 6));
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 1000, .breaks = i % 13 == 0 }, &m, wrappers[i % DRAWN_WRAPPERS].name, i);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

/* ---- by hand ---- */

#define HEAD_LINES 60

/* Lines of a wrapper before those that matter, so that these are not in the head. */
static void add_lines(struct buf *b, const char *before, const char *behind)
{
	for (int i = 0; i < HEAD_LINES; i++)
		buf_printf(b, "%s2026-11-30 13:00:%02d,000 INFO  [main] a.b.C - order %d accepted%s\n", before, i, i, behind);
}

/* How many events of the type are found; both ways find the same. */
static size_t events_of(struct buf *text, const char *type)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);
	const struct log_manner m = { .threads = 1, .block_bytes = 600, .head_bytes = 2000 };
	const struct differ_input input = { .text = buf_sv(text), .rules = r, .step = 500 };
	struct buf words = differ_words(&input, &m);
	struct sv rest = buf_sv(&words);
	size_t n = 0;

	check(&input, &m, type, 0);
	while (!sv_is_absent(rest))
		n += sv_starts_with(sv_cut(&rest, '\n'), sv_of(type));
	buf_fini(&words);
	buf_fini(text);
	rules_free(r);
	arena_free(a);
	return n;
}

#define DOCKER_BEFORE "{\"log\":\""
#define DOCKER_BEHIND "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T13:00:00.5Z\"}"
#define REVOKED "client.partitions_revoked"

/* Among other lines of docker's, one whose message is that. */
static void add_message(struct buf *b, const char *message)
{
	add_lines(b, DOCKER_BEFORE, DOCKER_BEHIND);
	buf_printf(b, DOCKER_BEFORE "2026-11-30 13:01:00,000 INFO  [main] a.b.C - [Consumer clientId=c-1, groupId=refunds] %s" DOCKER_BEHIND "\n", message);
	add_lines(b, DOCKER_BEFORE, DOCKER_BEHIND);
}

/* The literal that the rule is found by is not in the file as it stands. */
static void a_literal_that_escapes_split_is_found(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	add_message(&b, "R\\u0065vok\\u0065 prev\\u0069ously assigned p\\u0061rtitions [refunds-0]");
	assert_int_equal(events_of(&b, REVOKED), 1);
	/* Its twin says something else. */
	buf_init(&b);
	add_message(&b, "R\\u0065vok\\u0065 prev\\u0069ously assigned p\\u0062rtitions [refunds-0]");
	assert_int_equal(events_of(&b, REVOKED), 0);
}

/* A message in an object in docker's object: each escape is escaped. */
static void a_literal_in_two_objects_is_found(void **state)
{
	static const char object[] = DOCKER_BEFORE "{\\\"@timestamp\\\":\\\"2026-11-30T13:00:%02d.000Z\\\",\\\"level\\\":\\\"INFO\\\",\\\"message\\\":\\\"%s\\\"}"
				     DOCKER_BEHIND "\n";
	struct buf b;

	(void)state;
	buf_init(&b);
	for (int i = 0; i < HEAD_LINES; i++) {
		buf_printf(&b, object, i, "said \\\\\\\"yes\\\\\\\"");
		if (i == 50)
			buf_printf(&b, object, i, "[Consumer clientId=c-1, groupId=refunds] Revoke\\\\u0020previously assigned partitions [refunds-0]");
	}
	assert_int_equal(events_of(&b, REVOKED), 1);
}

#define CRI_BEFORE "2026-11-30T13:00:00.5Z stdout F "

static void a_literal_that_pieces_split_is_found(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	add_lines(&b, CRI_BEFORE, "");
	buf_add(&b, SV("2026-11-30T13:00:00.5Z stdout P 2026-11-30 13:01:00,000 INFO  [main] a.b.C - [Consumer clientId=c-1, groupId=refunds] Revoke prev\n"
		       "2026-11-30T13:00:00.6Z stderr F 2026-11-30 13:01:00,000 INFO  [main] a.b.C - of the other stream\n"
		       "2026-11-30T13:00:00.7Z stdout F iously assigned partitions [refunds-0]\n"));
	add_lines(&b, CRI_BEFORE, "");
	assert_int_equal(events_of(&b, REVOKED), 1);
}

/* Its lines go to the record of their own pod, whoever writes in between. */
static void lines_below_a_message_are_its_pods(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	for (int i = 0; i < 3; i++)
		add_lines(&b, i == 1 ? "[pod/b-1/app] " : "[pod/a-1/app] ", "");
	buf_add(&b, SV("[pod/a-1/app] 2026-11-30 13:01:00,000 INFO  [main] a.b.C - ConsumerConfig values: \n"
		       "[pod/b-1/app] 2026-11-30 13:01:00,001 INFO  [main] a.b.C - order 17 accepted\n"
		       "[pod/a-1/app] \tgroup.id = refunds\n[pod/b-1/app] \tat a.b.C(C.java:12)\n[pod/a-1/app] \tsession.timeout.ms = 10000\n"));
	add_lines(&b, "[pod/b-1/app] ", "");
	assert_int_equal(events_of(&b, "client.config"), 2);
}

static void the_wrapper_may_change(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	add_lines(&b, CRI_BEFORE, "");
	add_lines(&b, DOCKER_BEFORE, DOCKER_BEHIND);
	add_lines(&b, "", "");
	buf_add(&b, SV("2026-11-30 13:01:00,000 INFO  [main] a.b.C - [Consumer clientId=c-1, groupId=refunds] Revoke previously assigned partitions [refunds-0]\n"));
	add_lines(&b, "orders-1  | ", "");
	assert_int_equal(events_of(&b, REVOKED), 1);
}

/* What is longer than a record may be is cut, and that is said: of a line with one below it, and of an object. */
static void long_records_are_cut(void **state)
{
	static const char *const starts[] = { "2026-11-30 13:01:00,000 INFO  [main] a.b.C - ", "{\"ts\":1796043660.5,\"level\":\"INFO\",\"msg\":\"" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf b;

		buf_init(&b);
		add_lines(&b, "[pod/a-1/app] ", "");
		for (int k = 0; k < HEAD_LINES; k++)
			buf_printf(&b, "[pod/a-1/app] %sx%s\n", starts[i], i == 1 ? "\"}" : "");
		buf_printf(&b, "[pod/a-1/app] %s", starts[i]);
		for (int k = 0; k < RECORD_BYTES_MAX - (i == 0 ? 1000 : 0); k++)
			buf_add_char(&b, 'x');
		buf_printf(&b, "%s\n[pod/a-1/app] \tat a.b.C(C.java:12)\n", i == 1 ? "\"}" : "");
		for (int k = 0; k < 30; k++)
			buf_add(&b, SV("[pod/a-1/app] \tat a.b.C.that.has.a.long.name.indeed(C.java:12)\n"));
		add_lines(&b, "[pod/a-1/app] ", "");
		/* Severity stands before the code. */
		assert_int_equal(events_of(&b, "1 log.record_too_long"), i == 0 ? 1 : 0);
	}
}

/* A wrapper's time that lacks its year is no instant, though it has a zone: it is not set beside the record's own. */
static void a_time_without_a_year_is_no_instant(void **state)
{
	static const char *const times[] = { "Nov 30 13:00:00 +0000", "2026-11-30T13:00:00Z" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct arena *a = arena_new();
		const struct sv behind = arena_printf(a, "\\n\",\"stream\":\"stdout\",\"time\":\"%s\"}", times[i]);
		struct buf b;

		buf_init(&b);
		add_lines(&b, DOCKER_BEFORE, behind.p);
		add_lines(&b, DOCKER_BEFORE, behind.p);
		assert_int_equal(events_of(&b, "0 log.outer_time"), i);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrapped_log_is_counted_and_nothing_else_changes),
		cmocka_unit_test(pods_that_write_objects_are_counted_too),
		cmocka_unit_test(odd_logs_are_read_as_with_care),
		cmocka_unit_test(a_literal_that_escapes_split_is_found),
		cmocka_unit_test(a_literal_in_two_objects_is_found),
		cmocka_unit_test(a_literal_that_pieces_split_is_found),
		cmocka_unit_test(lines_below_a_message_are_its_pods),
		cmocka_unit_test(the_wrapper_may_change),
		cmocka_unit_test(long_records_are_cut),
		cmocka_unit_test(a_time_without_a_year_is_no_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
