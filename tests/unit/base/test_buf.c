/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"

typedef void add_function(struct buf *b, struct sv s);

static void check(add_function *add, struct sv in, const char *expected)
{
	struct buf b;
	buf_init(&b);
	add(&b, in);
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	buf_fini(&b);
}

static void json_is_valid_whatever_comes(void **state)
{
	(void)state;
	check(buf_add_json, SV("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
	check(buf_add_json, SV("\xe4\xb8\xad"), "\"\xe4\xb8\xad\"");
	/* Overlong, surrogate, above U+10FFFF, cut: each byte becomes U+FFFD. */
	check(buf_add_json, SV("\xc0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	check(buf_add_json, SV("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	check(buf_add_json, SV("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	check(buf_add_json, SV("x\xe4\xb8"), "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void html_cannot_leave_its_element(void **state)
{
	(void)state;
	check(buf_add_html, SV("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
	check(buf_add_html, SV("\x1b[31m"), "\xef\xbf\xbd[31m");
}

static void a_log_cannot_move_the_cursor(void **state)
{
	(void)state;
	check(buf_add_plain, SV("\x1b[2Jx\ty\r"), "?[2Jx y?");
}

static void markdown_cells_stay_cells(void **state)
{
	(void)state;
	check(buf_add_markdown, SV("a|b\nc*"), "a\\|b c\\*");
}

static void an_arena_array_keeps_what_it_had(void **state)
{
	struct arena *a = arena_new();
	int *items = NULL;
	size_t count = 0, capacity = 0;
	(void)state;
	for (int i = 0; i < 1000; i++) {
		int *slot = ARENA_PUSH(a, items, count, capacity);
		assert_int_equal(*slot, 0);
		*slot = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	arena_free(a);
}

static void a_reset_arena_gives_zeroed_bytes_again(void **state)
{
	struct arena *a = arena_new();
	(void)state;
	char *first = arena_alloc(a, 100);
	first[0] = 'x';
	(void)arena_alloc(a, 1000000);
	arena_reset(a);
	char *again = arena_alloc(a, 100);
	assert_int_equal(again[0], 0);
	assert_true(sv_is_absent(arena_copy(a, SV_ABSENT)));
	assert_true(sv_eq(arena_copy(a, SV("")), SV("")));
	assert_true(sv_eq(arena_printf(a, "%d-%s", 7, "x"), SV("7-x")));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_valid_whatever_comes),	    cmocka_unit_test(html_cannot_leave_its_element),
		cmocka_unit_test(a_log_cannot_move_the_cursor),	    cmocka_unit_test(markdown_cells_stay_cells),
		cmocka_unit_test(an_arena_array_keeps_what_it_had), cmocka_unit_test(a_reset_arena_gives_zeroed_bytes_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
