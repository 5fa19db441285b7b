/* SPDX-License-Identifier: MIT */
/* XML tag by tag. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "input/stream.h"
#include "input/xml_pull.h"

/* "<a x=1 <b >b >a ." : a opened with an attribute, b opened and closed, a closed, the end; "!": damage */
static void assert_tags(const char *text, const char *expected)
{
	struct arena *a = arena_new();
	struct xml_pull *p = xml_pull_stream(a, stream_of(a, sv_of(text)));
	enum xml_token t;
	struct buf b;

	buf_init(&b);
	while ((t = xml_pull_next(p)) == XML_OPEN || t == XML_CLOSE) {
		buf_printf(&b, "%s%.*s ", t == XML_OPEN ? "<" : ">", SV_ARG(xml_pull_name(p)));
		for (size_t i = 0; i < xml_pull_attribute_count(p); i++)
			buf_printf(&b, "%.*s=%.*s ", SV_ARG(xml_pull_attribute_at(p, i).name), SV_ARG(xml_pull_attribute_at(p, i).value));
	}
	buf_printf(&b, "%s%c", t == XML_END ? "." : "!", '\0');
	assert_string_equal(b.p, expected);
	/* Damage stays. */
	if (t == XML_DAMAGED)
		assert_int_equal(xml_pull_next(p), XML_DAMAGED);
	buf_fini(&b);
	arena_free(a);
}

static void test_tags_and_attributes(void **state)
{
	(void)state;
	assert_tags("<a x=\"1\"><b/>text</a>", "<a x=1 <b >b >a .");
	assert_tags("<?xml version=\"1.0\"?>\n<!DOCTYPE a SYSTEM \"x>y\">\n<a\nx = '1'\n  y=\"a b\" ></a >\n", "<a x=1 y=a b >a .");
	assert_tags("<a x=\"/\" y=\"'\"/>", "<a x=/ y=' >a .");
	/* A comment holds no tags, whatever its quotes. */
	assert_tags("<a><!-- it's a <b> --></a>", "<a >a .");
	assert_tags("<a><!----></a><!-->--></a>", "<a >a !");
	assert_tags("", ".");
	assert_tags("no tags at all", ".");
}

static void test_what_is_no_xml_is_damage(void **state)
{
	(void)state;
	assert_tags("<a>", "<a !");
	assert_tags("<a><b", "<a !");
	assert_tags("</a>", "!");
	assert_tags("<a x></a>", "!");
	assert_tags("<a x=1></a>", "!");
	assert_tags("<a x=\"1></a>", "!");
	assert_tags("<>", "!");
	assert_tags("a < b", "!");
}

static void test_a_tag_of_any_length_takes_no_more_memory(void **state)
{
	struct arena *a = arena_new();
	struct buf b;

	(void)state;
	/* A comment may be long, and a tag may not. */
	buf_init(&b);
	buf_add(&b, SV("<a><!--"));
	for (int i = 0; i < 3 * XML_PULL_TAG_MAX; i++)
		buf_add_char(&b, i % 2 == 0 ? '-' : 'x');
	buf_add(&b, SV("--></a>"));
	struct xml_pull *p = xml_pull_stream(a, stream_of(a, buf_sv(&b)));
	assert_int_equal(xml_pull_next(p), XML_OPEN);
	assert_int_equal(xml_pull_next(p), XML_CLOSE);
	assert_int_equal(xml_pull_next(p), XML_END);
	buf_clear(&b);
	buf_add(&b, SV("<a x=\""));
	for (int i = 0; i < XML_PULL_TAG_MAX; i++)
		buf_add_char(&b, 'x');
	buf_add(&b, SV("\"/>"));
	assert_int_equal(xml_pull_next(xml_pull_stream(a, stream_of(a, buf_sv(&b)))), XML_DAMAGED);
	buf_fini(&b);
	arena_free(a);
}

static void test_what_stands_behind_an_element(void **state)
{
	struct arena *a = arena_new();
	struct xml_pull *p = xml_pull_stream(a, stream_of(a, SV("<?xml?>\n<a>text</a>\n <b/> \nnot <c/>\n")));
	struct place first;

	(void)state;
	for (int i = 0; i < 4; i++)
		(void)xml_pull_next(p);
	assert_int_equal(xml_pull_strays(p, &first), 0);
	assert_int_equal(xml_pull_next(p), XML_OPEN);
	assert_int_equal(xml_pull_strays(p, &first), 1);
	assert_int_equal(first.number, 4);
	assert_int_equal(first.byte_offset, 27);
	assert_int_equal(xml_pull_next(p), XML_CLOSE);
	assert_int_equal(xml_pull_next(p), XML_END);
	assert_int_equal(xml_pull_strays(p, &first), 1);
	arena_free(a);
}

static void test_places_are_of_the_tag(void **state)
{
	struct arena *a = arena_new();
	struct xml_pull *p = xml_pull_stream(a, stream_of(a, SV("<a>\n text\n  <b\nx=\"1\"/></a>")));

	(void)state;
	assert_int_equal(xml_pull_next(p), XML_OPEN);
	assert_int_equal(xml_pull_place(p).number, 1);
	assert_int_equal(xml_pull_next(p), XML_OPEN);
	assert_int_equal(xml_pull_place(p).number, 3);
	assert_int_equal(xml_pull_place(p).byte_offset, 12);
	assert_true(sv_eq(xml_pull_attribute(p, SV("x")), SV("1")));
	assert_true(sv_is_absent(xml_pull_attribute(p, SV("y"))));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tags_and_attributes),
		cmocka_unit_test(test_what_is_no_xml_is_damage),
		cmocka_unit_test(test_a_tag_of_any_length_takes_no_more_memory),
		cmocka_unit_test(test_what_stands_behind_an_element),
		cmocka_unit_test(test_places_are_of_the_tag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
