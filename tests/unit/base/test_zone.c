/* SPDX-License-Identifier: MIT */
/* Expected seconds are those of "date -u -d ... +%s". */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/tstamp.h"

/* A header of TZif with so many changes, types and bytes of names. */
#define HEADER(version, changes, types, chars)                                                                      \
	"TZif" version "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0\0" "\0\0\0" changes "\0\0\0" types \
	"\0\0\0" chars
/* One type: an offset of 3600 s, no summer time, the name at 0. */
#define TYPE_CET "\0\0\x0e\x10\0\0"
/* No change is listed: all is in the text behind. */
#define RULES_ONLY(text) HEADER("2", "\0", "\1", "\4") TYPE_CET "CET\0" HEADER("2", "\0", "\1", "\4") TYPE_CET "CET\0" "\n" text "\n"

static struct zone made(struct arena *a, struct sv bytes)
{
	struct zone z = { 0 };

	assert_true(zone_read(bytes, SV("Somewhere/Else"), a, &z));
	assert_non_null(z.rules);
	return z;
}

static void check_local(struct zone z, const char *local_text, enum zone_local want, int64_t first, int64_t second)
{
	struct host_time local;
	bool zoned;
	int64_t utc_s[2];

	assert_true(tstamp_guess(sv_of(local_text), (struct zone){ 0 }, &local, &zoned));
	assert_int_equal(zone_instants(z, local.us / US_PER_S, utc_s), want);
	assert_int_equal(utc_s[0], first);
	if (want == ZONE_TWICE)
		assert_int_equal(utc_s[1], second);
}

/* Clocks go forward on 2026-03-29 at 01:00Z (1774746000) and back on 2026-10-25 at 01:00Z (1792890000). */
static void check_berlin(struct zone z)
{
	assert_int_equal(zone_offset_at(z, 1774745999), 3600);
	assert_int_equal(zone_offset_at(z, 1774746000), 7200);
	assert_int_equal(zone_offset_at(z, 1792889999), 7200);
	assert_int_equal(zone_offset_at(z, 1792890000), 3600);
	check_local(z, "2026-11-30 14:34:49", ZONE_ONCE, 1796045689, 0);
	check_local(z, "2026-07-30 14:34:49", ZONE_ONCE, 1785414889, 0);
	check_local(z, "2026-03-29 01:59:59", ZONE_ONCE, 1774745999, 0);
	check_local(z, "2026-03-29 02:30:00", ZONE_SKIPPED, 1774747800, 0);
	check_local(z, "2026-03-29 03:00:00", ZONE_ONCE, 1774746000, 0);
	check_local(z, "2026-10-25 01:59:59", ZONE_ONCE, 1792886399, 0);
	check_local(z, "2026-10-25 02:30:00", ZONE_TWICE, 1792888200, 1792891800);
	check_local(z, "2026-10-25 03:00:00", ZONE_ONCE, 1792893600, 0);
}

static void rules_for_later_years(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	check_berlin(made(a, SV(RULES_ONLY("CET-1CEST,M3.5.0,M10.5.0/3"))));
	/* The same days, as the 88th and the 298th of the year, 29 February not counted. */
	check_berlin(made(a, SV(RULES_ONLY("CET-1CEST,J88,J298/3"))));
	arena_free(a);
}

static void south_of_the_equator_the_year_begins_in_summer(void **state)
{
	struct arena *a = arena_new();
	struct zone z = made(a, SV(RULES_ONLY("AEST-10AEDT,M10.1.0,M4.1.0/3")));

	(void)state;
	/* 2026-01-01, 2026-07-01, 2026-12-01. */
	assert_int_equal(zone_offset_at(z, 1767225600), 11 * 3600);
	assert_int_equal(zone_offset_at(z, 1782864000), 10 * 3600);
	assert_int_equal(zone_offset_at(z, 1796083200), 11 * 3600);
	arena_free(a);
}

static void names_in_angle_brackets_and_no_summer_time(void **state)
{
	struct arena *a = arena_new();
	struct zone z = made(a, SV(RULES_ONLY("<+0530>-5:30")));
	int32_t offset;

	(void)state;
	assert_int_equal(zone_offset_at(z, 1796083200), 19800);
	assert_true(zone_abbreviation(z, SV("+0530"), &offset));
	arena_free(a);
}

/* A change at second 1000, from UTC+1 to UTC+2; the old form of 32 bits. */
static void changes_that_are_listed(void **state)
{
	static const char bytes[] = HEADER("\0", "\1", "\2", "\x9") "\0\0\x03\xe8" "\1" TYPE_CET "\0\0\x1c\x20\1\4" "CET\0CEST\0";
	struct arena *a = arena_new();
	struct zone z = made(a, (struct sv){ bytes, sizeof bytes - 1 });

	(void)state;
	assert_int_equal(zone_offset_at(z, -5), 3600);
	assert_int_equal(zone_offset_at(z, 999), 3600);
	assert_int_equal(zone_offset_at(z, 1000), 7200);
	assert_int_equal(zone_offset_at(z, INT64_C(4000000000)), 7200);
	arena_free(a);
}

static void damaged_files_are_refused(void **state)
{
	static const struct sv bad[] = {
		{ "", 0 },
		{ "TZif", 4 },
		/* The text behind is damaged, the text is missing. */
		{ RULES_ONLY("CET-1CEST,M3.5.0"), sizeof RULES_ONLY("CET-1CEST,M3.5.0") - 1 },
		{ RULES_ONLY("CET-1CEST,M13.5.0,M10.5.0"), sizeof RULES_ONLY("CET-1CEST,M13.5.0,M10.5.0") - 1 },
		{ RULES_ONLY("CET"), sizeof RULES_ONLY("CET") - 1 },
		{ RULES_ONLY("CET-99"), sizeof RULES_ONLY("CET-99") - 1 },
		{ HEADER("2", "\0", "\1", "\4") TYPE_CET "CET\0", 44 + 10 },
		/* No type; a change to a type that is not there; changes out of order; more than the file holds. */
		{ HEADER("\0", "\0", "\0", "\0"), 44 },
		{ HEADER("\0", "\1", "\1", "\4") "\0\0\x03\xe8" "\1" TYPE_CET "CET\0", 44 + 15 },
		{ HEADER("\0", "\2", "\1", "\4") "\0\0\x03\xe8\0\0\x03\xe8" "\0\0" TYPE_CET "CET\0", 44 + 20 },
		{ HEADER("\0", "\x7f", "\1", "\4") TYPE_CET "CET\0", 44 + 10 },
	};
	struct arena *a = arena_new();
	struct zone z;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(zone_read(bad[i], SV("X"), a, &z));
	arena_free(a);
}

static void places_of_this_machine(void **state)
{
	struct arena *a = arena_new();
	struct zone z;
	struct buf b;
	int32_t offset;

	(void)state;
	if (!zone_load(SV("Europe/Berlin"), a, &z)) {
		arena_free(a);
		skip();	/* no zone database */
	}
	check_berlin(z);
	/* 1980-04-06T01:00Z, the first summer time after the war. */
	assert_int_equal(zone_offset_at(z, 323830799), 3600);
	assert_int_equal(zone_offset_at(z, 323830800), 7200);
	buf_init(&b);
	zone_format(&b, z);
	assert_true(sv_eq(buf_sv(&b), SV("Europe/Berlin")));
	buf_fini(&b);
	/* CST has a meaning there, and not here. */
	assert_true(zone_load(SV("Asia/Shanghai"), a, &z));
	assert_true(zone_abbreviation(z, SV("CST"), &offset));
	assert_int_equal(offset, 8 * 3600);
	assert_false(zone_abbreviation((struct zone){ 0 }, SV("CST"), &offset));
	assert_true(zone_load(SV("America/Chicago"), a, &z));
	assert_true(zone_abbreviation(z, SV("CST"), &offset));
	assert_int_equal(offset, -6 * 3600);
	arena_free(a);
}

static void names_that_are_no_places(void **state)
{
	static const char *const bad[] = { "", "/etc/passwd", "../../../etc/passwd", "Europe/Nowhere", "Europe", "tzdata.zi",
					   "Europe/Ber lin", "." };
	struct arena *a = arena_new();
	struct zone z;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(zone_load(sv_of(bad[i]), a, &z));
	arena_free(a);
}

static void an_abbreviation_of_the_place_tells_which_of_two(void **state)
{
	struct arena *a = arena_new();
	struct zone z = made(a, SV(RULES_ONLY("XST-1XDT,M3.5.0,M10.5.0/3")));
	struct host_time t;
	bool zoned;

	(void)state;
	assert_true(tstamp_guess(SV("2026-10-25 02:30:00 XDT"), z, &t, &zoned));
	assert_int_equal(t.us, INT64_C(1792888200) * US_PER_S);
	assert_true(tstamp_guess(SV("2026-10-25 02:30:00 XST"), z, &t, &zoned));
	assert_int_equal(t.us, INT64_C(1792891800) * US_PER_S);
	/* Without it, the first. */
	assert_true(tstamp_guess(SV("2026-10-25 02:30:00"), z, &t, &zoned));
	assert_int_equal(t.us, INT64_C(1792888200) * US_PER_S);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_for_later_years),
		cmocka_unit_test(south_of_the_equator_the_year_begins_in_summer),
		cmocka_unit_test(names_in_angle_brackets_and_no_summer_time),
		cmocka_unit_test(changes_that_are_listed),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(places_of_this_machine),
		cmocka_unit_test(names_that_are_no_places),
		cmocka_unit_test(an_abbreviation_of_the_place_tells_which_of_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
