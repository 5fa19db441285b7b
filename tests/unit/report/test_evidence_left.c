/* SPDX-License-Identifier: MIT */
/* A document takes so many lines of evidence, and says how many it left out. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/sections.h"

static size_t count(struct sv text, const char *needle)
{
	size_t n = 0, at;

	while (sv_find(text, sv_of(needle), &at)) {
		text = sv_sub(text, at + 1, text.n);
		n++;
	}
	return n;
}

/* Two lists of three lines. NULL: without a limit. */
static struct sv written(struct arena *a, size_t *left)
{
	struct evidence lines[3];
	struct evidence_list list = { .items = lines, .count = 3 };
	const struct findings f = { .has_span = false };
	const struct chapter_context c = { .f = &f, .a = a, .rows_most = 10, .evidence_left = left };
	struct out_style style = { false, SV_ABSENT };
	struct out *o;
	struct buf to;

	memset(lines, 0, sizeof lines);
	for (size_t i = 0; i < 3; i++)
		lines[i].text = SV("as it was written");
	buf_init(&to);
	o = out_new(&to, OUT_HTML, &style);
	for (int i = 0; i < 2; i++) {
		out_details(o, SV("a list"));
		document_evidence(o, &c, &list);
		out_details_end(o);
	}
	out_finish(o);
	struct sv text = arena_copy(a, buf_sv(&to));
	buf_fini(&to);
	return text;
}

static void what_is_left_out_is_said(void **state)
{
	static const struct {
		size_t left, shown;
		const char *said[2];
	} cases[] = {
		{ 7, 6, { NULL, NULL } },
		{ 6, 6, { NULL, NULL } },
		{ 4, 4, { "2 more lines of evidence stand in", NULL } },
		{ 1, 1, { "2 more lines of evidence stand in", "3 more lines of evidence stand in" } },
	};
	struct arena *a = arena_new();

	(void)state;
	assert_int_equal(count(written(a, NULL), "as it was written"), 6);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t left = cases[i].left;
		struct sv text = written(a, &left);

		assert_int_equal(count(text, "as it was written"), cases[i].shown);
		assert_int_equal(left, cases[i].left - cases[i].shown);
		assert_int_equal(count(text, "more lines of evidence"), (cases[i].said[0] != NULL) + (cases[i].said[1] != NULL));
		for (size_t k = 0; k < 2 && cases[i].said[k] != NULL; k++)
			assert_int_equal(count(text, cases[i].said[k]), 1);
	}
	arena_free(a);
}

/* As of any other list: one intent that was tried again and again fills no document by itself. */
static void attempts_are_lines_too(void **state)
{
	struct attempt all[3];
	const struct attempt *attempts[] = { &all[0], &all[1], &all[2] };
	struct duplicate d = { .id = 1, .attempts = attempts, .attempt_count = 3, .second_effect = &all[1] };
	const struct findings f = { .effects = { .records = 3, .duplicates = &d, .duplicate_count = 1 } };
	struct arena *a = arena_new();
	size_t left = 2;
	const struct chapter_context c = { .f = &f, .a = a, .rows_most = 10, .evidence_left = &left };
	struct out_style style = { false, SV_ABSENT };
	struct buf to;

	(void)state;
	memset(all, 0, sizeof all);
	for (size_t i = 0; i < 3; i++)
		all[i].evidence.text = SV("as it was written");
	buf_init(&to);
	struct out *o = out_new(&to, OUT_HTML, &style);
	chapter_effects(o, &c);
	out_finish(o);
	assert_int_equal(count(buf_sv(&to), "as it was written"), 2);
	assert_int_equal(count(buf_sv(&to), "1 more line of evidence stands in"), 1);
	assert_int_equal(left, 0);
	buf_fini(&to);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_is_said),
		cmocka_unit_test(attempts_are_lines_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
