/* SPDX-License-Identifier: MIT */
/* Facts as JSON that SQLite reads as well, and back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/facts.h"

static void assert_written(const struct event *e, const char *expected)
{
	struct buf b;
	struct facts_written w;

	buf_init(&b);
	buf_add(&b, SV("before"));
	w = facts_write(&b, e);
	assert_int_equal(b.n, strlen("before") + w.n);
	if (!sv_eq(sv_sub(buf_sv(&b), strlen("before"), b.n), sv_of(expected)))
		fail_msg("%.*s (expected %s)", SV_ARG(buf_sv(&b)), expected);
	buf_fini(&b);
}

static void what_is_known_is_written(void **state)
{
	struct event e;

	(void)state;
	event_init(&e, EVENT_BROKER_STARTED);
	assert_written(&e, "{\"strength\":\"proves\"}");
	e.host = SV("broker-1");
	e.strength = STRENGTH_SUGGESTS;
	e.place.unit = PLACE_ROW;
	e.duration_us = -3;
	event_set_int(&e, FIELD_GENERATION, 17);
	event_set_text(&e, FIELD_GROUP, SV("refunds"));
	event_set_int(&e, FIELD_OFFSET, INT64_MIN);
	event_set_int(&e, FIELD_END_OFFSET, INT64_MAX);
	event_set_int(&e, FIELD_DELTA, 0);
	/* In the order of field.def. */
	assert_written(&e, "{\"host\":\"broker-1\",\"strength\":\"suggests\",\"unit\":\"row\",\"duration_us\":-3,\"group\":\"refunds\","
			   "\"generation\":17,\"offset\":-9223372036854775808,\"end_offset\":9223372036854775807,\"delta\":0}");
}

static void the_fields_begin_where_it_is_said(void **state)
{
	struct event e;
	struct facts_written w;
	struct buf b;

	(void)state;
	event_init(&e, EVENT_BROKER_STARTED);
	event_set_text(&e, FIELD_GROUP, SV("g"));
	buf_init(&b);
	w = facts_write(&b, &e);
	assert_true(sv_eq(sv_sub(buf_sv(&b), w.fields, w.n), SV(",\"group\":\"g\"}")));
	buf_fini(&b);
}

static void assert_group_written(struct sv group, const char *expected)
{
	struct event e;
	char whole[256];

	event_init(&e, EVENT_BROKER_STARTED);
	event_set_text(&e, FIELD_GROUP, group);
	snprintf(whole, sizeof whole, "{\"strength\":\"proves\",\"group\":\"%s\"}", expected);
	assert_written(&e, whole);
}

static void what_json_asks_is_escaped(void **state)
{
	(void)state;
	assert_group_written(SV(""), "");
	assert_group_written(SV("\""), "\\\"");
	assert_group_written(SV("12345678\\12345678"), "12345678\\\\12345678");
	assert_group_written(SV("a\0b\x1f"), "a\\u0000b\\u001f");
	assert_group_written(SV("tab\tline\r\n"), "tab\\u0009line\\u000d\\u000a");
	/* What is beside: blank, DEL, UTF-8 and what is none. */
	assert_group_written(SV(" \x7f\xc3\xa9\xff\x80"), " \x7f\xc3\xa9\xff\x80");
}

static bool read_facts(const char *facts, struct arena *a, struct event *e)
{
	/* Of its own length, so that a sanitizer sees a byte read beyond it. */
	size_t n = strlen(facts);
	char *copy = malloc(n + 1);
	struct names names;
	bool ok;

	assert_non_null(copy);
	memcpy(copy, facts, n);
	facts_names(&names);
	event_init(e, EVENT_BROKER_STARTED);
	ok = facts_read((struct sv){ copy, n }, &names, a, e);
	free(copy);
	return ok;
}

/* Each byte at each place of a word, with and without neighbours that are to be escaped. */
static void every_text_comes_back(void **state)
{
	struct arena *a = arena_new();
	struct names names;

	(void)state;
	facts_names(&names);
	for (int byte = 0; byte < 256; byte++) {
		for (size_t at = 0; at < 20; at++) {
			char text[20];
			struct event put, got;
			struct buf b;

			memset(text, at % 2 ? 'x' : '"', sizeof text);
			text[at] = (char)byte;
			event_init(&put, EVENT_BROKER_STARTED);
			put.host = (struct sv){ text, sizeof text };
			event_set_text(&put, FIELD_REASON, (struct sv){ text, at + 1 });
			event_set_text(&put, FIELD_VALUE, (struct sv){ text + at, sizeof text - at });
			event_set_int(&put, FIELD_SAMPLES, byte);
			buf_init(&b);
			facts_write(&b, &put);
			event_init(&got, EVENT_BROKER_STARTED);
			assert_true(facts_read(buf_sv(&b), &names, a, &got));
			assert_true(sv_eq(got.host, put.host));
			assert_true(got.set == put.set);
			assert_true(sv_eq(event_text(&got, FIELD_REASON), event_text(&put, FIELD_REASON)));
			assert_true(sv_eq(event_text(&got, FIELD_VALUE), event_text(&put, FIELD_VALUE)));
			assert_int_equal(event_int_or(&got, FIELD_SAMPLES, -1), byte);
			assert_true(facts_read_host(buf_sv(&b), a, &got.host));
			assert_true(sv_eq(got.host, put.host));
			buf_fini(&b);
			arena_reset(a);
		}
	}
	arena_free(a);
}

static void names_of_others_are_passed_over(void **state)
{
	struct arena *a = arena_new();
	struct event e;

	(void)state;
	assert_true(read_facts("{\"mood\":\"b\\\"ad\",\"age\":4,\"generation\":5}", a, &e));
	assert_true(e.set == FIELD_BIT(FIELD_GENERATION));
	assert_int_equal(event_int_or(&e, FIELD_GENERATION, -1), 5);
	arena_free(a);
}

static void what_is_not_as_written_is_refused(void **state)
{
	static const char *const broken[] = {
		"", "{", "}", "{}", "[]", "null", "{\"group\"}", "{\"group\":}", "{\"group\":\"a\"", "{\"group\":\"a", "{\"group\":\"a\\",
		"{\"group\":\"a\\\"", "{\"group\":\"a\\u00", "{\"group\":\"a\\u0020\"}", "{\"group\":\"a\\n\"}", "{\"group\":\"a\\u0x01\"}",
		"{\"group\":\"a\nb\"}", "{\"group\":\"a\"}}", "{\"group\":\"a\"} ", "{ \"group\":\"a\"}", "{\"group\":\"a\",}",
		"{\"group\":\"a\" \"topic\":\"b\"}", "{\"group\":[\"a\"]}", "{\"group\":{}}", "{\"group\":null}", "{group:\"a\"}",
		"{\"generation\":1.5}", "{\"generation\":1e3}", "{\"generation\":-}", "{\"generation\":+1}",
		"{\"generation\":9223372036854775808}", "{\"generation\":true}", "{\"host\":1}", "{\"strength\":1}", "{\"unit\":1}",
		"{\"duration_us\":\"1\"}", "{\"gr\\\"oup\":\"a\"}",
	};
	struct arena *a = arena_new();
	struct event e;

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		if (read_facts(broken[i], a, &e))
			fail_msg("%s was taken for facts", broken[i]);
	}
	assert_false(facts_read(SV_ABSENT, &(struct names){ .count = 0 }, a, &e));
	/* Their twins. */
	assert_true(read_facts("{\"group\":\"a\\\"\\\\\\u001f\"}", a, &e));
	assert_true(sv_eq(event_text(&e, FIELD_GROUP), SV("a\"\\\x1f")));
	assert_true(read_facts("{\"generation\":-9223372036854775808}", a, &e));
	assert_true(read_facts("{\"host\":\"h\",\"strength\":\"suggests\",\"unit\":\"packet\",\"duration_us\":1}", a, &e));
	assert_int_equal(e.strength, STRENGTH_SUGGESTS);
	assert_int_equal(e.place.unit, PLACE_PACKET);
	assert_int_equal(e.duration_us, 1);
	arena_free(a);
}

static void the_host_alone(void **state)
{
	struct arena *a = arena_new();
	struct sv host;

	(void)state;
	assert_true(facts_read_host(SV("{\"strength\":\"proves\"}"), a, &host));
	assert_true(sv_is_absent(host));
	assert_true(facts_read_host(SV("{\"host\":\"b\\\"1\",\"strength\":\"proves\"}"), a, &host));
	assert_true(sv_eq(host, SV("b\"1")));
	assert_false(facts_read_host(SV("{\"host\":\"b"), a, &host));
	assert_false(facts_read_host(SV(""), a, &host));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_written),	   cmocka_unit_test(the_fields_begin_where_it_is_said),
		cmocka_unit_test(what_json_asks_is_escaped),	   cmocka_unit_test(every_text_comes_back),
		cmocka_unit_test(names_of_others_are_passed_over), cmocka_unit_test(what_is_not_as_written_is_refused),
		cmocka_unit_test(the_host_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
