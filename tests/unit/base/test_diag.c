/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diag.h"

static void the_first_few_are_kept_and_the_rest_counted(void **state)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	(void)state;
	diag_set_input(d, SV("app.log"), 4);
	for (unsigned i = 1; i <= 1000; i++)
		diag_add(d, SEVERITY_WARNING, "log.cut", &(struct place){ .unit = PLACE_LINE, .number = i }, "line %u", i);
	assert_int_equal(diag_count(d), 4);
	assert_int_equal(diag_at(d, 2)->place.number, 3);
	assert_int_equal(diag_at(d, 2)->place.input, 4);
	assert_int_equal(diag_at(d, 2)->count, 1);
	assert_int_equal(diag_at(d, 3)->count, 997);
	assert_true(sv_eq(diag_at(d, 0)->path, SV("app.log")));
	arena_free(a);
}

static void more_are_only_counted(void **state)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		diag_add(d, SEVERITY_NOTE, "x", NULL, "x");
	diag_add_more(d, SEVERITY_NOTE, "x", 0);
	assert_int_equal(diag_count(d), 3);
	diag_add_more(d, SEVERITY_NOTE, "x", 5);
	diag_add(d, SEVERITY_NOTE, "x", NULL, "x");
	diag_add_more(d, SEVERITY_WARNING, "x", 7);
	assert_int_equal(diag_count(d), 4);
	assert_int_equal(diag_at(d, 3)->count, 13);
	assert_int_equal(diag_at(d, 3)->severity, SEVERITY_WARNING);
	arena_free(a);
}

static void each_input_and_code_has_its_own_count(void **state)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	(void)state;
	diag_set_input(d, SV("one"), 1);
	for (int i = 0; i < 3; i++)
		diag_add(d, SEVERITY_NOTE, "x", NULL, "x");
	diag_add(d, SEVERITY_NOTE, "y", NULL, "y");
	diag_set_input(d, SV("two"), 2);
	diag_add(d, SEVERITY_NOTE, "x", NULL, "x");
	assert_int_equal(diag_count(d), 5);
	assert_int_equal(diag_at(d, 4)->place.input, 2);
	assert_int_equal(diag_at(d, 4)->place.unit, PLACE_WHOLE);
	arena_free(a);
}

static void the_worst_decides(void **state)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	enum severity worst = SEVERITY_ERROR;
	(void)state;
	assert_false(diag_worst(d, &worst));
	diag_add(d, SEVERITY_NOTE, "n", NULL, "n");
	assert_true(diag_worst(d, &worst));
	assert_int_equal(worst, SEVERITY_NOTE);
	diag_add(d, SEVERITY_ERROR, "e", NULL, "e");
	diag_add(d, SEVERITY_WARNING, "w", NULL, "w");
	assert_true(diag_worst(d, &worst));
	assert_int_equal(worst, SEVERITY_ERROR);
	arena_free(a);
}

static void a_message_cannot_be_unbounded(void **state)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	static char text[5000];
	(void)state;
	for (size_t i = 0; i + 1 < sizeof text; i++)
		text[i] = 'a';
	diag_add(d, SEVERITY_NOTE, "long", NULL, "%s", text);
	assert_true(diag_at(d, 0)->message.n < 600);
	assert_true(sv_ends_with(diag_at(d, 0)->message, SV("...")));
	arena_free(a);
}

static void units_are_known_by_their_names(void **state)
{
	(void)state;
	assert_int_equal(place_unit_by_name(SV("line")), PLACE_LINE);
	assert_int_equal(place_unit_by_name(SV("packet")), PLACE_PACKET);
	assert_int_equal(place_unit_by_name(SV("row")), PLACE_ROW);
	assert_int_equal(place_unit_by_name(SV("rows")), PLACE_WHOLE);
	assert_int_equal(place_unit_by_name(SV("")), PLACE_WHOLE);
	assert_int_equal(place_unit_by_name(SV_ABSENT), PLACE_WHOLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_few_are_kept_and_the_rest_counted),
		cmocka_unit_test(more_are_only_counted),
		cmocka_unit_test(each_input_and_code_has_its_own_count),
		cmocka_unit_test(the_worst_decides),
		cmocka_unit_test(a_message_cannot_be_unbounded),
		cmocka_unit_test(units_are_known_by_their_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
