/* SPDX-License-Identifier: MIT */
/* What is said of wrappers' times beside records' own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "input/log/outer.h"
#include "input_kit.h"

#define MS US_PER_MS
#define S US_PER_S

struct pair {
	int64_t apart_us;	/* the wrapper's time minus the record's own */
	bool zoned;
};

/* What is noted of records on lines 1, 2, ...: NULL for nothing. */
static void check(const struct pair *pairs, size_t n, const char *message, uint64_t line)
{
	struct kit *k = kit_new();
	struct outer_times o = { 0 };
	const struct host_time own = { INT64_C(1796038384220000) };

	for (size_t i = 0; i < n; i++)
		outer_times_add(&o, (struct host_time){ own.us + pairs[i].apart_us }, own, pairs[i].zoned,
				&(struct place){ .unit = PLACE_LINE, .number = i + 1 });
	outer_times_note(&o, k->diag);
	assert_int_equal(kit_problems(k, "log.outer_time"), message != NULL);
	if (message != NULL) {
		assert_sv_equal(kit_problem(k, "log.outer_time")->message, message);
		assert_int_equal(kit_problem(k, "log.outer_time")->severity, SEVERITY_NOTE);
		assert_int_equal(kit_problem(k, "log.outer_time")->place.number, line);
	}
	kit_free(k);
}

#define CHECK(message, line, ...) \
	check((const struct pair[]){ __VA_ARGS__ }, sizeof (const struct pair[]){ __VA_ARGS__ } / sizeof(struct pair), message, line)

static void times_close_to_one_another_are_the_way_of_every_line(void **state)
{
	(void)state;
	check(NULL, 0, NULL, 0);
	CHECK(NULL, 0, { 0, true });
	CHECK(NULL, 0, { 5 * S, false }, { -5 * S, true }, { 12 * MS, true });
}

static void late_shipping_is_told_with_its_place(void **state)
{
	(void)state;
	CHECK("1 record has a wrapper's time too, which does not count: 5.001 s after their own", 1, { 5 * S + MS, true });
	CHECK("3 records have a wrapper's time too, which does not count: 0.250 s before to 61.500 s after their own", 2, { 12 * MS, true },
	      { 61 * S + 500 * MS, true }, { -250 * MS, true });
	CHECK("2 records have a wrapper's time too, which does not count: 30.000 s before to 0.001 s after their own", 1, { -30 * S, true },
	      { MS, true });
}

static void another_zone_is_told_where_one_fits_all(void **state)
{
	(void)state;
	/* Own times that were read as UTC and are an hour ahead of their wrappers': they were written at +01:00. */
	CHECK("2 records have a wrapper's time too, which does not count: 3599.800 s before to 3590.000 s before their own, as if these were in zone +01:00 "
	      "(--timezone)", 1, { -3599 * S - 800 * MS, false }, { -3590 * S, false });
	CHECK("1 record has a wrapper's time too, which does not count: 12600.500 s after their own, as if these were in zone -03:30 (--timezone)", 1,
	      { 12600 * S + 500 * MS, false });
	/* Written with their zone; not at one zone; no zone's distance; farther than zones are. */
	CHECK("1 record has a wrapper's time too, which does not count: 3600.000 s before their own", 1, { -3600 * S, true });
	CHECK("2 records have a wrapper's time too, which does not count: 3600.000 s before to 0.000 s after their own", 1, { -3600 * S, false },
	      { 0, false });
	CHECK("1 record has a wrapper's time too, which does not count: 400.000 s after their own", 1, { 400 * S, false });
	CHECK("1 record has a wrapper's time too, which does not count: 86400.000 s after their own", 1, { 86400 * S, false });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_close_to_one_another_are_the_way_of_every_line),
		cmocka_unit_test(late_shipping_is_told_with_its_place),
		cmocka_unit_test(another_zone_is_told_where_one_fits_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
