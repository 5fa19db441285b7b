/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/json.h"
#include "input_kit.h"

static struct json_record read_it(struct arena *a, const char *text)
{
	struct json_record r;
	const char *why = "";

	if (!json_read(sv_of(text), a, &r, &why))
		fail_msg("%s: %s", text, why);
	return r;
}

static void test_nested_and_dotted_are_one(void **state)
{
	struct arena *a = arena_new();
	struct json_record nested = read_it(a, "{\"log\":{\"level\":\"INFO\",\"o\":{\"n\":1}},\"message\":\"x\"}");
	struct json_record dotted = read_it(a, "{\"log.level\":\"INFO\",\"message\":\"x\"}");

	(void)state;
	assert_int_equal(nested.count, 3);
	assert_sv_equal(json_field(&nested, SV("log.level")), "INFO");
	assert_sv_equal(json_field(&nested, SV("log.o.n")), "1");
	assert_sv_equal(json_field(&dotted, SV("log.level")), "INFO");
	assert_absent(json_field(&dotted, SV("level")));
	arena_free(a);
}

static void test_values_as_written(void **state)
{
	struct arena *a = arena_new();
	struct json_record r = read_it(a, "{\"a\":12.50,\"b\":1e5,\"c\":-7,\"d\":true,\"e\":null,\"f\":\"0012\",\"g\":[1,\"x/y\"],\"h\":\"\"}");

	(void)state;
	assert_sv_equal(json_field(&r, SV("a")), "12.50");
	assert_sv_equal(json_field(&r, SV("b")), "1e5");
	assert_sv_equal(json_field(&r, SV("c")), "-7");
	assert_sv_equal(json_field(&r, SV("d")), "true");
	assert_absent(json_field(&r, SV("e")));
	assert_sv_equal(json_field(&r, SV("f")), "0012");
	assert_sv_equal(json_field(&r, SV("g")), "[1,\"x/y\"]");
	assert_sv_equal(json_field(&r, SV("h")), "");
	assert_false(sv_is_absent(json_field(&r, SV("h"))));
	arena_free(a);
}

/* Beyond 64 bits: two different ids must not become one. */
static void test_long_integers_keep_their_digits(void **state)
{
	struct arena *a = arena_new();
	struct json_record r = read_it(a, "{\"a\":123456789012345678901234567890,\"b\":18446744073709551616,"
					  "\"t\":\"say \\\"99999999999999999999999\\\"\",\"c\":-98765432109876543210,"
					  "\"d\":1234567890123456789012.5}");

	(void)state;
	assert_sv_equal(json_field(&r, SV("a")), "123456789012345678901234567890");
	assert_sv_equal(json_field(&r, SV("b")), "18446744073709551616");
	assert_sv_equal(json_field(&r, SV("t")), "say \"99999999999999999999999\"");
	assert_sv_equal(json_field(&r, SV("c")), "-98765432109876543210");
	assert_sv_equal(json_field(&r, SV("d")), "1234567890123456789012.5");
	arena_free(a);
}

static void test_escapes(void **state)
{
	struct arena *a = arena_new();
	struct json_record r = read_it(a, "{\"a\":\"tab\\tnl\\nq\\\"u\\u00e9\",\"b\":\"x\\u0000y\"}");

	(void)state;
	assert_sv_equal(json_field(&r, SV("a")), "tab\tnl\nq\"u\xc3\xa9");
	assert_true(sv_eq(json_field(&r, SV("b")), SV("x\0y")));
	arena_free(a);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"", "  ", "7", "[1]", "\"x\"", "{", "{\"a\":", "{\"a\":1,}", "{\"a\":1} x", "{\"a\":1}{\"b\":2}", "{a:1}", "nul",
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct json_record r;
		const char *why = NULL;

		if (json_read(sv_of(texts[i]), a, &r, &why))
			fail_msg("'%s' was read", texts[i]);
		assert_non_null(why);
	}
	arena_free(a);
}

static void test_limits(void **state)
{
	struct arena *a = arena_new();
	struct json_record r;
	const char *why;
	struct buf text;

	(void)state;
	buf_init(&text);
	for (int i = 0; i < 5000; i++)
		buf_add(&text, SV("{\"a\":"));
	assert_false(json_read(buf_sv(&text), a, &r, &why));
	buf_clear(&text);
	buf_add(&text, SV("{\"a0\":0"));
	for (int i = 1; i <= JSON_MEMBERS_MAX; i++)
		buf_printf(&text, ",\"a%d\":0", i);
	buf_add(&text, SV("}"));
	assert_false(json_read(buf_sv(&text), a, &r, &why));
	buf_fini(&text);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested_and_dotted_are_one), cmocka_unit_test(test_values_as_written),
		cmocka_unit_test(test_long_integers_keep_their_digits), cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
