/* SPDX-License-Identifier: MIT */
/* What lines are known by without being taken apart again: escapes, times, starts of patterns, shapes of objects. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "input/json.h"
#include "input/log/again.h"
#include "input/log/escapes.h"
#include "input/log/line_starts.h"
#include "input/log/object_shape.h"
#include "input/log/shape.h"
#include "input/log/wrap.h"
#include "input/rules/regex.h"
#include "input_kit.h"

/* ---- escapes ---- */

static void check_escapes(const char *text, const char *said)
{
	char to[64];
	size_t n;

	if (said == NULL) {
		assert_false(escapes_read(sv_of(text), to, &n));
		assert_false(escapes_are_plain(sv_of(text)));
		return;
	}
	assert_true(escapes_read(sv_of(text), to, &n));
	assert_true(escapes_are_plain(sv_of(text)));
	assert_true(n <= strlen(text));
	assert_sv_equal(((struct sv){ to, n }), said);
}

static void escapes_say_what_they_say_in_json(void **state)
{
	static const char *const plain[] = { "a", "a\\\"b\\\\c\\/", "\\b\\f\\n\\r\\t", "\\u0041\\u00e9\\u20AC", "caf\xc3\xa9" };
	struct arena *a = arena_new();

	(void)state;
	check_escapes("", "");
	check_escapes("a\\\"b\\\\c\\/", "a\"b\\c/");
	check_escapes("\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac");
	check_escapes("\\\\u0041", "\\u0041");
	/* For a reader of JSON, or for nobody. */
	check_escapes("\\ud83d\\ude00", NULL);
	check_escapes("\\u0000", NULL);
	check_escapes("\\u004", NULL);
	check_escapes("\\u00g1", NULL);
	check_escapes("\\x", NULL);
	check_escapes("a\\", NULL);
	check_escapes("a\"b", NULL);
	check_escapes("a\nb\\n", NULL);
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		struct json_record r;
		const char *why;

		assert_true(json_read(arena_printf(a, "{\"a\":\"%s\"}", plain[i]), a, &r, &why));
		check_escapes(plain[i], arena_strdup(a, json_field(&r, SV("a"))));
	}
	arena_free(a);
}

static void a_text_ends_at_its_quote(void **state)
{
	(void)state;
	assert_int_equal(escapes_end(SV("ab\",")), 2);
	assert_int_equal(escapes_end(SV("a\\\"b\",")), 4);
	assert_int_equal(escapes_end(SV("a\\\\\",\"")), 3);
	assert_int_equal(escapes_end(SV("a\\\"")), 3);
	assert_int_equal(escapes_end(SV("")), 0);
	assert_int_equal(escapes_in(SV("ab")), ESCAPES_NONE);
	assert_int_equal(escapes_in(SV("a\\tb")), ESCAPES_SOME);
	assert_int_equal(escapes_in(SV("a\tb")), ESCAPES_BROKEN);
	assert_int_equal(escapes_in(SV("a\"b")), ESCAPES_BROKEN);
}

/* ---- times ---- */

/* Each is read as if it were the first. */
static void check_again(const char *layout, const char *const *times, size_t n)
{
	struct again g, fresh;
	int64_t us, expected;

	assert_true(again_init(&g, sv_of(layout)));
	for (size_t i = 0; i < n; i++) {
		assert_true(again_init(&fresh, sv_of(layout)));
		assert_int_equal(again_read(&g, sv_of(times[i]), &us), again_read(&fresh, sv_of(times[i]), &expected));
		if (fresh.bytes > 0) {
			assert_int_equal(us, expected);
			assert_int_equal(g.parts.zoned, fresh.parts.zoned);
			assert_int_equal(g.parts.offset_s, fresh.parts.offset_s);
		}
	}
}

static void times_are_read_again(void **state)
{
	static const char *const iso[] = { "2026-11-30T13:00:00.123Z", "2026-11-30T13:00:00.124Z", "2026-11-30T13:00:00.12Z", "2026-11-30T13:00:00.1234567Z",
					   "2026-11-30T13:00:00Z", "2026-11-30T13:00:01.123Z", "2026-11-30T13:00:01.12xZ", "2026-11-30T13:00:01.123+01:00",
					   "2026-02-30T13:00:01.123Z", "2026-11-30T13:00:01.124+01:00" };
	static const char *const bsd[] = { "Nov 30 13:00:00", "Nov 30 13:00:00", "Nov 30 13:00:01", "Dec  1 13:00:01", "Dex  1 13:00:01" };
	static const char *const numbers[] = { "1796043600.123", "1796043600.124", "1796043600123.5", "1796043600124.5", "17960436001" };
	struct again g;
	int64_t us;

	(void)state;
	check_again("", iso, sizeof iso / sizeof iso[0]);
	check_again("yyyy-MM-ddTHH:mm:ss.SSSXXX", iso, sizeof iso / sizeof iso[0]);
	check_again("MMM d HH:mm:ss", bsd, sizeof bsd / sizeof bsd[0]);
	check_again("", numbers, sizeof numbers / sizeof numbers[0]);
	assert_true(again_init(&g, SV("")));
	assert_true(again_read(&g, SV("2026-11-30T13:00:00.500Z"), &us));
	assert_int_equal(us, INT64_C(1796043600500000));
	assert_true(again_read(&g, SV("2026-11-30T13:00:00.750Z"), &us));
	assert_int_equal(us, INT64_C(1796043600750000));
	assert_false(again_read(&g, SV("2026-11-30T13:00:00.7 0Z"), &us));
}

/* ---- starts ---- */

static bool excludes(const char *pattern, const char *start)
{
	struct regex_error error;
	struct regex *r = regex_new(sv_of(pattern), REGEX_TEXT, &error);
	bool excluded;

	assert_non_null(r);
	excluded = regex_excludes_start(r, sv_of(start));
	regex_free(r);
	return excluded;
}

static void a_start_excludes_what_fails_before_its_end(void **state)
{
	(void)state;
	assert_true(excludes("^abc", "abx"));
	assert_true(excludes("^\\d+ x", "12a"));
	assert_true(excludes("^[^ ]+::G", "a b"));
	/* More may follow. */
	assert_false(excludes("^abc", "ab"));
	assert_false(excludes("^abc", "abc"));
	assert_false(excludes("^\\d+ x", "12"));
	assert_false(excludes("^[^ ]+::G", "ab"));
	assert_false(excludes("^.{100}", "a"));
	assert_false(excludes("^a(?=.*z)", "ab"));
	/* Not at the start alone. */
	assert_false(excludes("abc", "xyz"));
	assert_false(excludes("^abc|d", "xyz"));
	assert_false(excludes("^abc", ""));
}

/* ---- objects ---- */

struct shapes {
	struct arena *arena;
	struct rules *rules;
	struct object_shapes shapes;
};

static struct shapes shapes_of(const char *line)
{
	struct shapes s = { .arena = arena_new() };

	s.rules = rules_load("rules", diag_new(s.arena));
	assert_non_null(s.rules);
	object_shapes_init(&s.shapes, s.rules);
	object_learn(&s.shapes, sv_of(line));
	return s;
}

static void shapes_free(struct shapes *s)
{
	object_shapes_fini(&s->shapes);
	rules_free(s->rules);
	arena_free(s->arena);
}

/* Fits, and says what the layout says; body NULL: does not fit. */
static void check_object(struct shapes *s, const char *line, const char *body)
{
	struct object_seen seen;
	struct log_record record;
	int hint = -1;

	if (body == NULL) {
		assert_false(object_seen(&s->shapes, sv_of(line), &seen));
		return;
	}
	assert_true(object_seen(&s->shapes, sv_of(line), &seen));
	assert_sv_equal(seen.body, body);
	assert_true(rules_layout(s->rules, sv_of(line), (struct zone){ 0 }, &hint, s->arena, &record));
	assert_int_equal(seen.layout, hint);
	assert_true(record.has_time);
	assert_int_equal(seen.us, record.time.us);
	assert_int_equal(seen.time->parts.zoned, record.zoned);
}

static void an_object_fits_by_its_shape(void **state)
{
	struct shapes s = shapes_of("{\"ts\":1796043600.5,\"level\":\"info\",\"a\":{\"b\":[1,\"x\"]},\"msg\":\"one\",\"n\":null}");

	(void)state;
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"two \\\"2\\\"\",\"n\":null}", "two \\\"2\\\"");
	check_object(&s, "{\"ts\":1796043601,\"level\":\"\",\"a\":{\"b\":[ true , -1.5,null ]},\"msg\":\"\",\"n\":null}", "");
	/* Another name, another order, what is null and what is not, a blank, another sort of value, what is no value. */
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"c\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"level\":\"warn\",\"ts\":1796043601.25,\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":1}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":null,\"n\":null}", NULL);
	check_object(&s, "{ \"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":\"1796043601.25\",\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":01796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":17960436012.5e-1,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[1,]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[{}]},\"msg\":\"x\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\ty\",\"n\":null}", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null} ", NULL);
	check_object(&s, "{\"ts\":1796043601.25,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":nul", NULL);
	check_object(&s, "{\"ts\":17,\"level\":\"warn\",\"a\":{\"b\":[]},\"msg\":\"x\",\"n\":null}", NULL);
	shapes_free(&s);
}

static void an_object_in_it_may_be_empty(void **state)
{
	struct shapes s = shapes_of("{\"ts\":1796043600.5,\"mdc\":{},\"msg\":\"one\"}");

	(void)state;
	check_object(&s, "{\"ts\":1796043601.5,\"mdc\":{},\"msg\":\"two\"}", "two");
	check_object(&s, "{\"ts\":1796043601.5,\"mdc\":{\"a\":1},\"msg\":\"two\"}", NULL);
	shapes_free(&s);
}

/* With the lengths of the object before it, or without: the same. */
static void lengths_of_the_last_object_change_nothing(void **state)
{
	static const char *const objects[] = {
		"{\"text\":\"one\",\"n\":12,\"id\":\"ab\"}", "{\"text\":\"another\",\"n\":34,\"id\":\"cd\"}", "{\"text\":\"\",\"n\":5,\"id\":\"cd\"}",
		"{\"text\":\"x\",\"n\":6,\"id\":\"cde\"}", "{\"text\":\"x\\\"y\",\"n\":7,\"id\":\"fgh\"}", "{\"text\":\"x\",\"n\":78,\"id\":\"fg\"}",
		"{\"text\":\"x\",\"n\":7,\"id\":\"fg\",\"z\":1}", "{\"text\":\"x\",\"n\":x,\"id\":\"fg\"}", "{\"n\":7,\"id\":\"fg\"}",
		"{\"text\":\"x\",\"n\":7,\"id\":\"f\"g\"}", "{\"text\":\"x\",\"n\":7,\"id\":\"f\\\\\"}", "{", "",
	};
	struct arena *a = arena_new();
	struct shape_names names;
	struct shape once, again;

	(void)state;
	assert_true(shape_make(&once, sv_of(objects[0]), &names, a));
	assert_int_equal(once.hole_count, 3);
	once.holes[0].is_read = true;
	again = once;
	for (size_t i = 0; i < sizeof objects / sizeof objects[0] * sizeof objects / sizeof objects[0]; i++) {
		const size_t count = sizeof objects / sizeof objects[0];
		const char *pair[] = { objects[i / count % count], objects[i % count] };

		for (size_t k = 0; k < 2; k++) {
			struct sv values[SHAPE_HOLES_MAX], expected[SHAPE_HOLES_MAX];
			const bool fits = shape_fits(&once, sv_of(pair[k]), expected);

			assert_int_equal(shape_fits_again(&again, sv_of(pair[k]), values), fits);
			for (size_t h = 0; fits && h < once.hole_count; h++)
				assert_true(sv_eq(values[h], expected[h]));
		}
	}
	arena_free(a);
}

static void some_objects_have_no_shape(void **state)
{
	static const char *const none[] = {
		"{\"ts\":1796043600.5,\"msg\":\"a\",\"msg\":\"b\"}",	/* which of them counts? */
		"{\"ts\":1796043600.5,\"msg\":\"a\",\"msg\":{},\"message\":\"b\"}",
		"{\"ts\":1796043600.5,\"a.b\":\"a\",\"a\":{\"b\":\"b\"},\"msg\":\"b\"}",
		"{\"instant\":{\"epochSecond\":1796043600,\"nanoOfSecond\":5},\"message\":\"a\",\"level\":\"INFO\"}",
		"{\"_raw\":\"2026-11-30 13:00:00 x\",\"preview\":\"false\",\"ts\":1796043600.5,\"msg\":\"a\"}",
		"{\"message\":\"a\",\"level\":\"INFO\"}",	/* no time */
	};

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		struct shapes s = shapes_of(none[i]);

		check_object(&s, none[i], NULL);
		shapes_free(&s);
	}
}

static void an_object_may_fit_no_layout(void **state)
{
	struct shapes s = shapes_of("{\"event\":\"audit\",\"at\":17}");

	(void)state;
	assert_true(object_fits_none(&s.shapes, SV("{\"event\":\"audit\",\"at\":18}")));
	assert_true(object_fits_none(&s.shapes, SV("{\"other\":\"audit\"}")));
	assert_false(object_fits_none(&s.shapes, SV("{\"ts\":1796043600.5,\"msg\":\"a\"}")));
	assert_false(object_fits_none(&s.shapes, SV("{\"other\":[{}]}")));
	shapes_free(&s);
}

static void texts_that_fit_no_layout_are_known(void **state)
{
	static const char *const none[] = { "[Consumer clientId=c-1, groupId=g] Committed offset", "order 17 accepted by somebody", "{\"@timestamp\":\"x\"}", "GET /orders" };
	static const char *const some[] = { "[2026-11-30 13:00:00,000] INFO x (a.b.C)", "2026-11-30 13:00:00,000 INFO  [main] a.b.C - x",
					    "orders-svc::GroupMetadata(groupId=orders-svc, generation=14)" };
	struct shapes s = shapes_of("{}");
	struct line_starts starts;

	(void)state;
	line_starts_init(&starts, s.rules, head_none_new(s.rules, s.arena), SV("some text"), s.arena);
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
			if (!line_starts_fit_none(&starts, sv_of(none[i])))
				fail_msg("%s", none[i]);
		for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
			if (line_starts_fit_none(&starts, sv_of(some[i])))
				fail_msg("%s", some[i]);
	}
	assert_false(line_starts_fit_none(&starts, SV("")));
	shapes_free(&s);
}

/* ---- names behind a time ---- */

static void what_stands_behind_a_time_may_be_a_name(void **state)
{
	static const char *const nobody[] = { "2026-11-30 13:00:00,000 INFO  [main] x", "2026-11-30T13:00:00.000Z  INFO 1 --- [main] a.B : x", "\tat a.b.C",
					      "[2026-11-30 13:00:00,000] INFO x", "{\"a\":\"b=c d\"} x", "java.lang.X: y z" };
	static const char *const somebody[] = { "stdout F text", "{pod=\"a\"} text", "broker-1 orders[12]: text", "Caused by: x", "ecs/app/1 text", "" };

	(void)state;
	for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++)
		if (!wrap_stamp_names_nobody(sv_of(nobody[i])))
			fail_msg("%s", nobody[i]);
	for (size_t i = 0; i < sizeof somebody / sizeof somebody[0]; i++)
		if (wrap_stamp_names_nobody(sv_of(somebody[i])))
			fail_msg("%s", somebody[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes_say_what_they_say_in_json),
		cmocka_unit_test(a_text_ends_at_its_quote),
		cmocka_unit_test(times_are_read_again),
		cmocka_unit_test(a_start_excludes_what_fails_before_its_end),
		cmocka_unit_test(an_object_fits_by_its_shape),
		cmocka_unit_test(an_object_in_it_may_be_empty),
		cmocka_unit_test(lengths_of_the_last_object_change_nothing),
		cmocka_unit_test(some_objects_have_no_shape),
		cmocka_unit_test(an_object_may_fit_no_layout),
		cmocka_unit_test(texts_that_fit_no_layout_are_known),
		cmocka_unit_test(what_stands_behind_a_time_may_be_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
