/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "input/rules/regex.h"

static struct regex *compiled(struct sv pattern, enum regex_mode mode)
{
	struct regex_error error;
	struct regex *r = regex_new(pattern, mode, &error);

	if (r == NULL)
		fail_msg("%s at %zu", error.message, error.at);
	return r;
}

static void groups_are_views_of_the_subject(void **state)
{
	static const char text[] = "xx Member c-1 left yy";
	struct sv subject = sv_of(text);
	struct regex *r = compiled(SV("Member (?<member>\\S+) (?<verb>left|came)( never)?"), REGEX_TEXT);

	(void)state;
	assert_true(regex_match(r, subject, 0));
	assert_true(sv_eq(regex_group(r, 0), SV("Member c-1 left")));
	assert_ptr_equal(regex_group(r, 1).p, text + 10);
	assert_true(sv_eq(regex_named(r, SV("verb")), SV("left")));
	assert_true(sv_is_absent(regex_named(r, SV("nobody"))));
	assert_true(sv_is_absent(regex_group(r, 3)));
	assert_true(sv_is_absent(regex_group(r, 99)));
	assert_false(regex_match(r, SV("Member c-1 stayed"), 0));
	assert_true(sv_is_absent(regex_group(r, 0)));
	regex_free(r);
}

static void an_empty_group_is_not_an_absent_one(void **state)
{
	struct regex *r = compiled(SV("a(?<x>b*)(?<y>c)?"), REGEX_TEXT);

	(void)state;
	assert_true(regex_match(r, SV("a"), 0));
	assert_true(sv_eq(regex_named(r, SV("x")), SV("")));
	assert_true(sv_is_absent(regex_named(r, SV("y"))));
	regex_free(r);
}

static void of_groups_of_one_name_that_which_took_part_counts(void **state)
{
	struct regex *r = compiled(SV("in (?:state (?<s>\\w+)|(?<s>\\w+) state)"), REGEX_TEXT);

	(void)state;
	assert_true(regex_match(r, SV("in Stable state"), 0));
	assert_true(sv_eq(regex_named(r, SV("s")), SV("Stable")));
	assert_true(regex_match(r, SV("in state Empty"), 0));
	assert_true(sv_eq(regex_named(r, SV("s")), SV("Empty")));
	regex_free(r);
}

static void a_search_can_start_further_on(void **state)
{
	struct regex *r = compiled(SV("\\d"), REGEX_TEXT);

	(void)state;
	assert_true(regex_match(r, SV("1a2"), 1));
	assert_true(sv_eq(regex_group(r, 0), SV("2")));
	assert_false(regex_match(r, SV("1a2"), 3));
	assert_false(regex_match(r, SV("1a2"), 4));
	assert_false(regex_match(r, SV_ABSENT, 0));
	regex_free(r);
}

static void lines_have_ends_of_their_own_only_when_asked(void **state)
{
	struct regex *text = compiled(SV("^b$"), REGEX_TEXT), *lines = compiled(SV("^b$"), REGEX_LINES);

	(void)state;
	assert_false(regex_match(text, SV("a\nb\nc"), 0));
	assert_true(regex_match(lines, SV("a\nb\nc"), 0));
	regex_free(text);
	regex_free(lines);
}

static void what_is_no_pattern_is_told_with_its_place(void **state)
{
	struct regex_error error;

	(void)state;
	assert_null(regex_new(SV("Member (\\S+"), REGEX_TEXT, &error));
	assert_int_equal(error.at, 11);
	assert_true(strlen(error.message) > 0);
}

static void bytes_that_are_no_text_are_matched_as_bytes(void **state)
{
	struct regex *r = compiled(SV("a.c"), REGEX_TEXT);

	(void)state;
	assert_true(regex_match(r, SV("a\xff" "c"), 0));
	assert_true(regex_match(r, SV("a\0c"), 0));
	regex_free(r);
}

/* (a+)+$ takes 2^n steps for n letters and one that does not fit. */
static void a_hostile_line_ends_soon_and_does_not_match(void **state)
{
	struct regex *r = compiled(SV("^(a+)+$"), REGEX_TEXT);
	char line[64];
	clock_t start = clock();

	(void)state;
	memset(line, 'a', sizeof line);
	line[sizeof line - 1] = 'b';
	assert_false(regex_match(r, (struct sv){ line, sizeof line }, 0));
	assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
	/* And the next line is matched as if nothing had been. */
	assert_true(regex_match(r, SV("aaa"), 0));
	regex_free(r);
}

static void a_line_of_256_kib_is_matched(void **state)
{
	struct regex *r = compiled(SV("^x(?<body>.*) \\((?<logger>[\\w.]+)\\)$"), REGEX_TEXT);
	size_t n = 256 * 1024;
	char *line = malloc(n);

	(void)state;
	assert_non_null(line);
	memset(line, 'x', n);
	memcpy(line + n - 6, " (a.b)", 6);
	assert_true(regex_match(r, (struct sv){ line, n }, 0));
	assert_true(sv_eq(regex_named(r, SV("logger")), SV("a.b")));
	assert_int_equal(regex_named(r, SV("body")).n, n - 7);
	free(line);
	regex_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_views_of_the_subject),
		cmocka_unit_test(an_empty_group_is_not_an_absent_one),
		cmocka_unit_test(of_groups_of_one_name_that_which_took_part_counts),
		cmocka_unit_test(a_search_can_start_further_on),
		cmocka_unit_test(lines_have_ends_of_their_own_only_when_asked),
		cmocka_unit_test(what_is_no_pattern_is_told_with_its_place),
		cmocka_unit_test(bytes_that_are_no_text_are_matched_as_bytes),
		cmocka_unit_test(a_hostile_line_ends_soon_and_does_not_match),
		cmocka_unit_test(a_line_of_256_kib_is_matched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
