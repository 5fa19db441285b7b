/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"
#include "input/json_pull.h"
#include "input/stream.h"

/* "{k:'s' #1 [] w }" */
static void tell(struct buf *b, struct json_pull *p)
{
	enum json_token t;

	while ((t = json_pull_next(p)) != JSON_END) {
		struct sv text = json_pull_text(p);

		switch (t) {
		case JSON_OBJECT: buf_add_char(b, '{'); break;
		case JSON_OBJECT_END: buf_add_char(b, '}'); break;
		case JSON_ARRAY: buf_add_char(b, '['); break;
		case JSON_ARRAY_END: buf_add_char(b, ']'); break;
		case JSON_KEY: buf_printf(b, "%.*s:", SV_ARG(text)); break;
		case JSON_STRING: buf_printf(b, "'%.*s'", SV_ARG(text)); break;
		case JSON_NUMBER: buf_printf(b, "#%.*s", SV_ARG(text)); break;
		case JSON_WORD: buf_printf(b, "%.*s", SV_ARG(text)); break;
		case JSON_END: break;
		case JSON_DAMAGED: buf_add(b, SV("!")); return;
		}
	}
}

static void assert_tokens(const char *text, const char *expected)
{
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b);
	tell(&b, json_pull_of(a, sv_of(text)));
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	/* The same from a stream. */
	buf_clear(&b);
	tell(&b, json_pull_stream(a, stream_of(a, sv_of(text))));
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	buf_fini(&b);
	arena_free(a);
}

static void test_tokens(void **state)
{
	(void)state;
	assert_tokens("{\"a\": [1, -2.5e3, \"x\", true, null], \"b\": {\"c\": {}}}", "{a:[#1#-2.5e3'x'truenull]b:{c:{}}}");
	assert_tokens("[[1796038269,\"77\"],[1796038271,\"77\"]]", "[[#1796038269'77'][#1796038271'77']]");
	assert_tokens("\"a\\\"b\\n\\u00e9\\\\\"", "'a\"b\n\xc3\xa9\\'");
	assert_tokens("", "");
	assert_tokens(" \n ", "");
}

static void test_damage(void **state)
{
	(void)state;
	assert_tokens("{\"a\": [1", "{a:[#1!");
	assert_tokens("[1}", "[#1!");
	assert_tokens("]", "!");
	assert_tokens("{\"a", "{!");
	assert_tokens("[\"\\x\"]", "[!");
	assert_tokens("[1] [?", "[#1][!");
}

/* Documents follow one another; what stands between them and is none is passed over, and its place is told. */
static void test_what_stands_behind_a_document(void **state)
{
	static const struct {
		const char *text, *tokens;
		uint64_t strays, line, offset;
	} cases[] = {
		{ "{\"a\":1}{\"b\":2}", "{a:#1}{b:#2}", 0, 0, 0 },
		{ "[1],\n\t[2]\r\n\x1e[3]\n", "[#1][#2][#3]", 0, 0, 0 },
		{ "{\"a\":1}\nbad \"quote {\"b\":2}\n", "{a:#1}{b:#2}", 1, 2, 8 },
		{ "[1]}", "[#1]", 1, 1, 3 },
		{ "[1]5[2]\n7", "[#1][#2]", 2, 1, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena *a = arena_new();
		struct json_pull *p = json_pull_stream(a, stream_of(a, sv_of(cases[i].text)));
		struct place first;

		assert_tokens(cases[i].text, cases[i].tokens);
		while (json_pull_next(p) != JSON_END)
			assert_true(json_pull_depth(p) < 2);
		assert_int_equal(json_pull_strays(p, &first), cases[i].strays);
		assert_int_equal(first.number, cases[i].line);
		assert_int_equal(first.byte_offset, cases[i].offset);
		arena_free(a);
	}
	/* Zeros are no blanks there. */
	struct arena *a = arena_new();
	struct json_pull *p = json_pull_of(a, (struct sv){ "[]\0\0", 4 });
	struct place first;
	assert_int_equal(json_pull_next(p), JSON_ARRAY);
	assert_int_equal(json_pull_next(p), JSON_ARRAY_END);
	assert_int_equal(json_pull_next(p), JSON_END);
	assert_int_equal(json_pull_strays(p, &first), 1);
	assert_int_equal(first.byte_offset, 2);
	arena_free(a);
}

static void test_depth_is_bounded(void **state)
{
	struct arena *a = arena_new();
	char deep[2 * JSON_PULL_DEPTH_MAX];
	struct json_pull *p = json_pull_of(a, (struct sv){ deep, sizeof deep });

	(void)state;
	memset(deep, '[', sizeof deep);
	for (int i = 0; i < JSON_PULL_DEPTH_MAX; i++)
		assert_int_equal(json_pull_next(p), JSON_ARRAY);
	assert_int_equal(json_pull_next(p), JSON_DAMAGED);
	assert_int_equal(json_pull_next(p), JSON_DAMAGED);
	arena_free(a);
}

static void test_long_texts_are_cut_and_places_told(void **state)
{
	struct arena *a = arena_new();
	size_t n = JSON_PULL_TEXT_MAX + 100;
	char *text = arena_alloc(a, n + 16);

	(void)state;
	memset(text, 'x', n + 16);
	text[0] = '"';
	text[n + 1] = '"';
	memcpy(text + n + 2, "\n 7", 3);
	struct json_pull *p = json_pull_of(a, (struct sv){ text, n + 5 });
	assert_int_equal(json_pull_next(p), JSON_STRING);
	assert_int_equal(json_pull_text(p).n, JSON_PULL_TEXT_MAX);
	assert_int_equal(json_pull_next(p), JSON_NUMBER);
	assert_int_equal(json_pull_place(p).number, 2);
	assert_int_equal(json_pull_place(p).byte_offset, n + 4);
	arena_free(a);
}

static void test_skip(void **state)
{
	struct arena *a = arena_new();
	struct json_pull *p = json_pull_of(a, SV("[{\"a\":[1,{\"b\":2}]}, 3]"));

	(void)state;
	assert_int_equal(json_pull_next(p), JSON_ARRAY);
	assert_int_equal(json_pull_next(p), JSON_OBJECT);
	assert_true(json_pull_skip(p, JSON_OBJECT));
	assert_int_equal(json_pull_next(p), JSON_NUMBER);
	assert_true(sv_eq(json_pull_text(p), SV("3")));
	p = json_pull_of(a, SV("[{\"a\":"));
	(void)json_pull_next(p);
	assert_int_equal(json_pull_next(p), JSON_OBJECT);
	assert_false(json_pull_skip(p, JSON_OBJECT));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_what_stands_behind_a_document),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_long_texts_are_cut_and_places_told),
		cmocka_unit_test(test_skip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
