/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/lane_chart.h"
#include "report/out.h"

static const struct column columns[] = { { "id", ALIGN_LEFT }, { "n", ALIGN_RIGHT }, { "text", ALIGN_LEFT } };

static void write_table(struct out *o)
{
	out_table(o, columns, 3);
	out_cell_anchor(o, SV("W1"));
	out_cell(o, SV("7"));
	out_cell(o, SV("<a|b>"));
	out_row_end(o);
	out_cell_anchor(o, SV("W10"));
	out_cell(o, SV("123"));
	out_row_end(o);
	out_table_end(o);
}

static void check(enum out_format format, void (*write)(struct out *o), const char *expected)
{
	struct buf b;
	const struct out_style style = { false, SV_ABSENT };
	buf_init(&b);
	struct out *o = out_new(&b, format, &style);
	write(o);
	out_finish(o);
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	buf_fini(&b);
}

static void html_of(void (*write)(struct out *o), struct sv json, struct buf *b)
{
	const struct out_style style = { false, json };
	buf_init(b);
	struct out *o = out_new(b, OUT_HTML, &style);
	write(o);
	out_finish(o);
}

static bool contains(const struct buf *b, struct sv needle)
{
	size_t at;
	return sv_find(buf_sv(b), needle, &at);
}

static void text_columns_line_up(void **state)
{
	(void)state;
	check(OUT_TEXT, write_table,
	      "  id     n  text\n"
	      "  W1     7  <a|b>\n"
	      "  W10  123\n\n");
}

static void markdown_escapes_cells(void **state)
{
	(void)state;
	check(OUT_MARKDOWN, write_table,
	      "| id | n | text |\n|---|---:|---|\n| W1 | 7 | \\<a\\|b\\> |\n| W10 | 123 |  |\n\n");
}

static void html_escapes_and_anchors(void **state)
{
	struct buf b;
	(void)state;
	html_of(write_table, SV_ABSENT, &b);
	assert_true(contains(&b, SV("<tr id=\"W10\">")));
	assert_true(contains(&b, SV("&lt;a|b&gt;")));
	assert_false(contains(&b, SV("<a|b>")));
	buf_fini(&b);
}

static void write_refs(struct out *o)
{
	out_table(o, columns, 1);
	out_cell_refs(o, SV("W1,W2"));
	out_row_end(o);
	out_table_end(o);
}

static void html_links_ids(void **state)
{
	struct buf b;
	(void)state;
	html_of(write_refs, SV("{\"x\":\"</script><b>\"}"), &b);
	assert_true(contains(&b, SV("<a href=\"#W1\">W1</a>, <a href=\"#W2\">W2</a>")));
	/* The embedded JSON cannot end its element. */
	assert_true(contains(&b, SV("{\"x\":\"<\\/script><b>\"}")));
	buf_fini(&b);
}

static void write_bullets(struct out *o)
{
	out_bullet(o, SV("one"));
	out_bullet(o, SV("two"));
	out_paragraph(o, SV("end"));
}

static void lists_are_closed_by_what_follows(void **state)
{
	struct buf b;
	(void)state;
	check(OUT_TEXT, write_bullets, "  * one\n  * two\n\nend\n\n");
	html_of(write_bullets, SV_ABSENT, &b);
	assert_true(contains(&b, SV("<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<p>end</p>")));
	buf_fini(&b);
}

static void write_bullet_about(struct out *o)
{
	out_bullet_refs(o, SV("R2,W1"), SV("a < b"));
	out_bullet(o, SV("of nothing"));
}

static void bullets_link_what_they_are_about(void **state)
{
	struct buf b;
	(void)state;
	check(OUT_TEXT, write_bullet_about, "  * R2,W1: a < b\n  * of nothing\n\n");
	check(OUT_MARKDOWN, write_bullet_about, "- R2,W1: a \\< b\n- of nothing\n\n");
	html_of(write_bullet_about, SV_ABSENT, &b);
	assert_true(contains(&b, SV("<li><a href=\"#R2\">R2</a>, <a href=\"#W1\">W1</a>: a &lt; b</li>\n<li>of nothing</li>")));
	buf_fini(&b);
}

static void write_chapters(struct out *o, size_t n)
{
	static const char *const ids[] = { "a", "b", "c", "d" };
	out_title(o, SV("T"), SV("S"));
	for (size_t i = 0; i < n; i++)
		out_section(o, ids[i], SV("x & y"));
}

static void write_three(struct out *o)
{
	write_chapters(o, 3);
}

static void write_four(struct out *o)
{
	write_chapters(o, 4);
}

static void html_has_contents_below_its_title(void **state)
{
	struct buf b;
	(void)state;
	html_of(write_four, SV_ABSENT, &b);
	assert_true(contains(&b, SV("<p class=\"sub\">S</p>\n<nav aria-label=\"Contents\">\n<a href=\"#a\">x &amp; y</a>\n")));
	assert_true(contains(&b, SV("<a href=\"#d\">x &amp; y</a>\n</nav>\n<h2 id=\"a\">")));
	buf_fini(&b);
	/* What is seen at once needs none. */
	html_of(write_three, SV_ABSENT, &b);
	assert_false(contains(&b, SV("<nav")));
	buf_fini(&b);
}

static void html_marks_do_not_hide_one_another(void **state)
{
	static const struct lane_point points[] = { { 50, TONE_WARN, 'D', { "", 0 }, { "D1", 2 } },
						    { 50, TONE_BAD, 'R', { "", 0 }, { "R1", 2 } } };
	const struct lane lane = { SV("h"), NULL, 0, points, 2 };
	const struct out_style style = { false, SV_ABSENT };
	struct buf b;
	(void)state;
	buf_init(&b);
	struct out *o = out_new(&b, OUT_HTML, &style);
	out_timeline(o, 0, 100, &lane, 1, SV(""));
	out_finish(o);
	/* A triangle of 9 from its top, a circle of radius 4: the one ends above the other. */
	assert_true(contains(&b, SV(" 7l5 9h-10z")));
	assert_true(contains(&b, SV("cy=\"25\" r=\"4\"")));
	buf_fini(&b);
}

static void a_lane_shows_its_marks_in_place(void **state)
{
	static const struct lane_span spans[] = { { 20, 39, TONE_BAD, '#', { "", 0 }, { "", 0 } } };
	static const struct lane_point points[] = { { 99, TONE_BAD, 'R', { "", 0 }, { "", 0 } },
						    { 1000, TONE_BAD, 'D', { "", 0 }, { "", 0 } } };
	const struct lane lane = { SV("h"), spans, 1, points, 1 };
	const struct lane outside = { SV("o"), NULL, 0, points + 1, 1 };
	const struct lane lanes[] = { lane, outside };
	struct buf b;
	(void)state;
	buf_init(&b);
	lane_chart(&b, 0, 100, lanes, 2, 10);
	/* 100 us on ten columns: 20..39 are columns 2 and 3; what lies outside stands at the edge. */
	assert_true(contains(&b, SV("..##.....R\n")));
	assert_true(contains(&b, SV(".........D\n")));
	buf_fini(&b);
}

static void axis_steps_are_round(void **state)
{
	(void)state;
	assert_int_equal(lane_chart_step_us(INT64_C(600000000), 12), 60000000);
	assert_int_equal(lane_chart_step_us(INT64_C(9000000), 12), 1000000);
	assert_int_equal(lane_chart_step_us(INT64_C(86400000000), 12), INT64_C(10800000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_columns_line_up),		   cmocka_unit_test(markdown_escapes_cells),
		cmocka_unit_test(html_escapes_and_anchors),	   cmocka_unit_test(html_links_ids),
		cmocka_unit_test(lists_are_closed_by_what_follows), cmocka_unit_test(a_lane_shows_its_marks_in_place),
		cmocka_unit_test(html_has_contents_below_its_title), cmocka_unit_test(html_marks_do_not_hide_one_another),
		cmocka_unit_test(bullets_link_what_they_are_about), cmocka_unit_test(axis_steps_are_round),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
