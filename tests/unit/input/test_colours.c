/* SPDX-License-Identifier: MIT */
/* Escape sequences are taken off lines, one by one and all at once alike. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "input/log/colours.h"
#include "input_kit.h"

#define BYTES_MAX 256

/* What stands behind the lines, and may be looked at, is nothing of them. */
static size_t strip_lines(struct sv lines, char to[BYTES_MAX + COLOURS_SLACK])
{
	char from[BYTES_MAX + COLOURS_SLACK];

	memset(from, COLOURS_ESCAPE, sizeof from);
	memcpy(from, lines.p, lines.n);
	return colours_strip_lines((struct sv){ from, lines.n }, to);
}

static void check(const char *line, const char *plain)
{
	char to[BYTES_MAX + COLOURS_SLACK];
	size_t n = colours_strip(sv_of(line), to);

	assert_sv_equal(((struct sv){ to, n }), plain);
	n = strip_lines(sv_of(line), to);
	assert_sv_equal(((struct sv){ to, n }), plain);
}

static void sequences_are_taken_off(void **state)
{
	(void)state;
	check("", "");
	check("plain text", "plain text");
	check("\x1b[32mgreen\x1b[0;39m text", "green text");
	check("\x1b[mx\x1b[Ky\x1b[38;5;12mz\x1b[@", "xyz");
	check("\x1b[32m\x1b[1m\x1b[0m", "");
	/* Of others the escape alone. */
	check("\x1bMx\x1b]0;y\x1b\x1b[1mz", "Mx]0;yz");
	/* What is between may be anything but a letter or a sign near it. */
	check("\x1b[ 1?xy", "y");
	check("caf\xc3\xa9 \x1b[\xc3\xa9mx", "caf\xc3\xa9 x");
}

static void what_breaks_off_is_left(void **state)
{
	(void)state;
	check("x\x1b", "x\x1b");
	check("x\x1b[", "x\x1b[");
	check("x\x1b[32", "x\x1b[32");
	check("\x1b[1my\x1b[32", "y\x1b[32");
	check("\x1b[1\x1b" "2", "\x1b[12");
}

static void check_lines(const char *lines, const char *plain)
{
	char to[BYTES_MAX + COLOURS_SLACK];

	assert_sv_equal(((struct sv){ to, strip_lines(sv_of(lines), to) }), plain);
}

/* Those that break off end with their line: LF and CR LF stay. */
static void lines_stay_lines(void **state)
{
	(void)state;
	check_lines("\x1b[1ma\nb\n\x1b[0mc\x1b[0m\r\n", "a\nb\nc\r\n");
	check_lines("a\x1b[3\nmb\x1b[3mc\n", "a\x1b[3\nmbc\n");
	check_lines("a\x1b\r\nb\x1b[\r\n\x1b\n", "a\x1b\r\nb\x1b[\r\n\x1b\n");
	check_lines("a\x1b[\r1m\nb\n", "a\nb\n");
}

/* Both ways of any bytes: those that matter, drawn by a seed. */
static void each_line_is_as_by_itself(void **state)
{
	static const char some[] = "\x1b\x1b[[0;m\n\r@~ aaaaaaaaaaaaaaaaaaaa";
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[BYTES_MAX], all[BYTES_MAX + COLOURS_SLACK], one[BYTES_MAX];
		struct sv rest = { text, (size_t)(round % BYTES_MAX) };
		size_t n = 0, all_n;

		for (size_t i = 0; i < rest.n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			text[i] = some[(seed >> 33) % (sizeof some - 1)];
		}
		all_n = strip_lines(rest, all);
		while (!sv_is_absent(rest)) {
			struct sv line = sv_cut(&rest, '\n');
			const bool has_cr = !sv_is_absent(rest) && sv_ends_with(line, SV("\r"));

			n += colours_strip(sv_sub(line, 0, line.n - has_cr), one + n);
			if (has_cr)
				one[n++] = '\r';
			if (!sv_is_absent(rest))
				one[n++] = '\n';
		}
		assert_int_equal(all_n, n);
		assert_memory_equal(all, one, n);
	}
}

static void a_line_may_be_stripped_where_it_stands(void **state)
{
	char text[] = "\x1b[1ma\x1b[0mbc\x1b[3";

	(void)state;
	assert_int_equal(colours_strip(sv_of(text), text), 6);
	assert_memory_equal(text, "abc\x1b[3", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_are_taken_off),
		cmocka_unit_test(what_breaks_off_is_left),
		cmocka_unit_test(lines_stay_lines),
		cmocka_unit_test(each_line_is_as_by_itself),
		cmocka_unit_test(a_line_may_be_stripped_where_it_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
