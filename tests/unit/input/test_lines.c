/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "input_kit.h"

#include <stdlib.h>

struct expected {
	const char *text;
	uint64_t byte_offset;
};

static void check(struct sv bytes, const struct expected *lines, size_t n)
{
	struct kit *k = kit_new();
	struct lines *l = lines_new(stream_of(k->arena, bytes), k->diag);
	struct line line;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(lines_next(l, &line), 1);
		assert_sv_equal(line.text, lines[i].text);
		assert_int_equal(line.number, i + 1);
		assert_int_equal(line.byte_offset, lines[i].byte_offset);
		assert_false(line.cut);
	}
	assert_int_equal(lines_next(l, &line), 0);
	assert_int_equal(lines_next(l, &line), 0);
	assert_int_equal(diag_count(k->diag), 0);
	lines_free(l);
	kit_free(k);
}

#define CHECK(bytes, ...) \
	check(SV(bytes), (const struct expected[]){ __VA_ARGS__ }, sizeof (const struct expected[]){ __VA_ARGS__ } / sizeof(struct expected))

static void test_line_ends(void **state)
{
	(void)state;
	CHECK("one\ntwo\n", { "one", 0 }, { "two", 4 });
	CHECK("one\r\ntwo", { "one", 0 }, { "two", 5 });
	CHECK("\n\nx", { "", 0 }, { "", 1 }, { "x", 2 });
	/* A CR inside a line, or before its CRLF, is text. */
	CHECK("a\rb\r\r\n", { "a\rb\r", 0 });
	/* One at the end of what was never ended is not an end either. */
	CHECK("a\r", { "a\r", 0 });
}

/* Where a line begins: at the start, in the middle, in UTF-16, and on their own. Elsewhere they are text. */
static void test_zeros_where_a_line_begins(void **state)
{
	static const char text[] = "\0\0one\n\0\0\0two\0\0\n\0\n\0\0\0\0";
	struct kit *k = kit_new();
	struct lines *l = lines_without_zeros(lines_new(stream_of(k->arena, (struct sv){ text, sizeof text - 1 }), k->diag));
	struct line line;

	(void)state;
	assert_int_equal(lines_next(l, &line), 1);
	assert_sv_equal(line.text, "one");
	assert_int_equal(line.byte_offset, 2);
	assert_int_equal(lines_next(l, &line), 1);
	assert_true(sv_eq(line.text, SV("two\0\0")));
	assert_int_equal(line.number, 2);
	assert_int_equal(line.byte_offset, 9);
	assert_false(line.unended);
	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.text.n, 0);
	assert_int_equal(lines_next(l, &line), 0);
	/* Of four the last is only counted. */
	assert_int_equal(kit_problems(k, "line.zeros"), 4);
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t offsets[] = { 0, 6, 15 };
		const struct problem *p = diag_at(k->diag, i);

		assert_sv_equal(p->code, "line.zeros");
		assert_int_equal(p->severity, i == 0 ? SEVERITY_NOTE : SEVERITY_WARNING);
		assert_int_equal(p->place.number, i + 1);
		assert_int_equal(p->place.byte_offset, offsets[i]);
	}
	lines_free(l);
	kit_free(k);
}

static void test_the_last_line_tells_that_it_has_no_end(void **state)
{
	struct kit *k = kit_new();
	struct lines *l = lines_new(stream_of(k->arena, SV("one\ntwo")), k->diag);
	struct line line;

	(void)state;
	assert_int_equal(lines_next(l, &line), 1);
	assert_false(line.unended);
	assert_int_equal(lines_next(l, &line), 1);
	assert_true(line.unended);
	assert_false(line.cut);
	lines_free(l);
	kit_free(k);
}

static void test_the_first_text(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	assert_sv_equal(lines_first_text(a, stream_of(a, SV("one\n"))), "one\n");
	assert_sv_equal(lines_first_text(a, stream_of(a, SV("\xef\xbb\xbfone\n"))), "one\n");
	assert_sv_equal(lines_first_text(a, stream_of(a, SV("\0\0\0one\n"))), "one\n");
	assert_int_equal(lines_first_text(a, stream_of(a, SV("\0\0\0"))).n, 0);
	assert_int_equal(lines_first_text(a, stream_of(a, SV(""))).n, 0);
	/* The first zero of UTF-16 is half of a letter. */
	assert_sv_equal(lines_first_text(a, stream_of(a, SV("\0o\0n\0e\0 \0l\0i\0n\0e\0\n"))), "one line\n");
	arena_free(a);
}

static void test_nothing(void **state)
{
	(void)state;
	check(SV(""), NULL, 0);
	check(SV("\xef\xbb\xbf"), NULL, 0);
}

static void test_nul_is_text(void **state)
{
	struct kit *k = kit_new();
	struct lines *l = lines_new(stream_of(k->arena, SV("a\0b\nc")), k->diag);
	struct line line;

	(void)state;
	assert_int_equal(lines_next(l, &line), 1);
	assert_true(sv_eq(line.text, SV("a\0b")));
	assert_int_equal(lines_next(l, &line), 1);
	assert_sv_equal(line.text, "c");
	assert_int_equal(line.byte_offset, 4);
	lines_free(l);
	kit_free(k);
}

static void test_byte_order_marks(void **state)
{
	(void)state;
	CHECK("\xef\xbb\xbf" "one\ntwo", { "one", 3 }, { "two", 7 });
	/* Only at the start. */
	CHECK("one\n\xef\xbb\xbftwo", { "one", 0 }, { "\xef\xbb\xbftwo", 4 });
	CHECK("\xff\xfe" "a\0\r\0\n\0b\0", { "a", 2 }, { "b", 8 });
	CHECK("\xfe\xff" "\0a\0\n\0b", { "a", 2 }, { "b", 6 });
	/* U+00E9, U+4E2D, U+1F600 as D83D DE00: 2 + 2 + 4 bytes, so that the next line is at 2 + 8 + 2. */
	CHECK("\xff\xfe" "\xe9\x00\x2d\x4e\x3d\xd8\x00\xde\x0a\x00z\0", { "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 2 },
	      { "z", 12 });
	/* A surrogate alone. */
	CHECK("\xff\xfe" "\x3d\xd8" "a\0", { "\xef\xbf\xbd" "a", 2 });
}

static void test_utf16_without_a_mark(void **state)
{
	(void)state;
	/* "one", "two three": 3 + 2 and 9 units of two bytes. */
	CHECK("o\0n\0e\0\r\0\n\0t\0w\0o\0 \0t\0h\0r\0e\0e\0", { "one", 0 }, { "two three", 10 });
	CHECK("\0o\0n\0e\0\n\0t\0w\0o\0 \0t\0h\0r\0e\0e", { "one", 0 }, { "two three", 8 });
	/* U+4E2D and U+FF1A among letters: most units are ASCII still. */
	CHECK("\x2d\x4e\x1a\xff" "a\0b\0c\0d\0e\0f\0g\0h\0", { "\xe4\xb8\xad\xef\xbc\x9a" "abcdefgh", 0 });
}

static void check_as_bytes(struct sv bytes)
{
	struct kit *k = kit_new();
	struct lines *l = lines_new(stream_of(k->arena, bytes), k->diag);
	struct line line;

	assert_int_equal(lines_next(l, &line), 1);
	assert_true(sv_eq(line.text, bytes));
	assert_true(sv_eq(lines_preview(k->arena, bytes), bytes));
	assert_false(lines_are_decoded(bytes));
	lines_free(l);
	kit_free(k);
}

static void test_bytes_with_zeros_are_no_utf16(void **state)
{
	(void)state;
	/* Numbers of two bytes: 2 and 4 are no text. */
	check_as_bytes(SV("\x02\0\x04\0a\0b\0c\0d\0e\0f\0g\0h\0"));
	/* Zeros before a record, as copytruncate leaves them, and a record after few of them. */
	check_as_bytes(SV("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0text"));
	check_as_bytes(SV("a\0b\0plain text behind it that is longer"));
	/* Too few to tell. */
	check_as_bytes(SV("a\0b\0c\0d\0"));
}

/* A line of n times c, with its end, and a short one after it. */
static struct sv long_line(struct arena *a, size_t n, const char *end)
{
	size_t end_bytes = strlen(end);
	char *p = arena_alloc(a, n + end_bytes + 4);

	memset(p, 'x', n);
	memcpy(p + n, end, end_bytes);
	memcpy(p + n + end_bytes, "next", 4);
	return (struct sv){ p, n + end_bytes + 4 };
}

static void check_long(size_t n, const char *end, bool cut)
{
	struct kit *k = kit_new();
	struct lines *l = lines_new(stream_of(k->arena, long_line(k->arena, n, end)), k->diag);
	struct line line;

	assert_int_equal(lines_next(l, &line), 1);
	assert_int_equal(line.text.n, cut ? LINE_BYTES_MAX : n);
	assert_int_equal(line.cut, cut);
	assert_int_equal(lines_next(l, &line), 1);
	assert_sv_equal(line.text, "next");
	assert_int_equal(line.number, 2);
	assert_int_equal(line.byte_offset, n + strlen(end));
	assert_int_equal(lines_next(l, &line), 0);
	assert_int_equal(kit_problems(k, "line.too_long"), cut);
	lines_free(l);
	kit_free(k);
}

static void test_long_lines(void **state)
{
	(void)state;
	check_long(LINE_BYTES_MAX, "\n", false);
	check_long(LINE_BYTES_MAX, "\r\n", false);
	check_long(LINE_BYTES_MAX + 1, "\n", true);
	check_long(LINE_BYTES_MAX + 1, "\r\n", true);
	check_long(3 * LINE_BYTES_MAX + 17, "\n", true);
	check_long(100000, "\r\n", false);
}

static void test_many_lines_over_blocks(void **state)
{
	struct kit *k = kit_new();
	size_t n = 200000;
	struct buf all;
	struct lines *l;
	struct line line;
	uint64_t offset = 0;

	(void)state;
	buf_init(&all);
	for (size_t i = 0; i < n; i++)
		buf_printf(&all, "line %zu\n", i);
	l = lines_new(stream_of(k->arena, buf_sv(&all)), k->diag);
	for (size_t i = 0; i < n; i++) {
		char text[32];

		snprintf(text, sizeof text, "line %zu", i);
		assert_int_equal(lines_next(l, &line), 1);
		assert_sv_equal(line.text, text);
		assert_int_equal(line.byte_offset, offset);
		offset += line.text.n + 1;
	}
	assert_int_equal(lines_next(l, &line), 0);
	lines_free(l);
	buf_fini(&all);
	kit_free(k);
}

/* Gives "one\ntw" in pieces of a byte, then damage. */
struct broken {
	const char *left;
	unsigned reports;
	uint64_t at;
};

static ptrdiff_t broken_read(void *context, void *bytes, size_t n)
{
	struct broken *b = context;

	(void)n;
	if (*b->left == '\0')
		return -1;
	*(char *)bytes = *b->left++;
	return 1;
}

static void broken_report(void *context, uint64_t at)
{
	struct broken *b = context;

	b->reports++;
	b->at = at;
}

static void test_damage_keeps_what_came_before(void **state)
{
	struct kit *k = kit_new();
	struct broken b = { .left = "one\ntw" };
	struct stream *s = stream_new(k->arena, (struct stream_source){ .read = broken_read, .report = broken_report, .context = &b });
	struct lines *l;
	struct line line;

	(void)state;
	/* The look ahead meets the damage, and does not tell it. */
	assert_sv_equal(stream_head(s), "one\ntw");
	assert_int_equal(b.reports, 0);
	l = lines_new(s, k->diag);
	assert_int_equal(lines_next(l, &line), 1);
	assert_sv_equal(line.text, "one");
	assert_false(line.cut);
	assert_int_equal(lines_next(l, &line), 1);
	assert_sv_equal(line.text, "tw");
	assert_true(line.cut);
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(lines_next(l, &line), -1);
	assert_int_equal(b.reports, 1);
	assert_int_equal(b.at, 6);
	lines_free(l);
	kit_free(k);
}

static void test_head_is_read_again(void **state)
{
	struct kit *k = kit_new();
	struct buf all;
	struct stream *s;
	char *back;
	size_t n = 0;
	ptrdiff_t got;

	(void)state;
	buf_init(&all);
	for (int i = 0; i < 40000; i++)
		buf_printf(&all, "%05d", i);
	s = stream_of(k->arena, buf_sv(&all));
	assert_int_equal(stream_head(s).n, STREAM_HEAD_BYTES);
	back = malloc(all.n);
	while ((got = stream_read(s, back + n, 777)) > 0)
		n += (size_t)got;
	assert_int_equal(got, 0);
	assert_int_equal(n, all.n);
	assert_memory_equal(back, all.p, n);
	assert_int_equal(stream_position(s), n);
	free(back);
	buf_fini(&all);
	kit_free(k);
}

static void test_preview(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	assert_sv_equal(lines_preview(a, SV("plain")), "plain");
	assert_sv_equal(lines_preview(a, SV("\xef\xbb\xbfplain")), "plain");
	assert_sv_equal(lines_preview(a, SV("\xff\xfeh\0i\0")), "hi");
	assert_sv_equal(lines_preview(a, SV("\xfe\xff\0h\0i\0")), "hi");
	assert_sv_equal(lines_preview(a, SV("t\0e\0n\0 \0m\0o\0r\0e\0")), "ten more");
	assert_true(lines_are_decoded(SV("\xff\xfeh\0i\0")));
	assert_false(lines_are_decoded(SV("\xef\xbb\xbfplain")));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_ends),
		cmocka_unit_test(test_zeros_where_a_line_begins),
		cmocka_unit_test(test_the_last_line_tells_that_it_has_no_end),
		cmocka_unit_test(test_the_first_text),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_nul_is_text),
		cmocka_unit_test(test_byte_order_marks),
		cmocka_unit_test(test_utf16_without_a_mark),
		cmocka_unit_test(test_bytes_with_zeros_are_no_utf16),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_many_lines_over_blocks),
		cmocka_unit_test(test_damage_keeps_what_came_before),
		cmocka_unit_test(test_head_is_read_again),
		cmocka_unit_test(test_preview),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
