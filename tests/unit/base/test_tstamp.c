/* SPDX-License-Identifier: MIT */
/* Expected seconds are those of "date -u -d ... +%s". */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/tstamp.h"

#define NOV_30 INT64_C(1796045376) /* 2026-11-30T13:29:36Z */

static const struct zone utc = { 0 };
static const struct zone shanghai = { .offset_s = 8 * 3600 };

static void layouts_of_logs(void **state)
{
	static const struct {
		const char *text, *layout;
		int64_t us;
		bool zoned;
		size_t used;
	} cases[] = {
		{ "2026-11-30 13:29:36,123] INFO", "yyyy-MM-dd HH:mm:ss,SSS", NOV_30 * US_PER_S + 123000, false, 23 },
		{ "2026-11-30T13:29:36.123456789Z x", "yyyy-MM-ddTHH:mm:ss.SSSXXX", NOV_30 * US_PER_S + 123456, true, 30 },
		{ "2026-11-30T21:29:36.5+08:00", "yyyy-MM-ddTHH:mm:ss.SSSXXX", NOV_30 * US_PER_S + 500000, true, 27 },
		{ "30 Nov 2026 13:29:36", "dd MMM yyyy HH:mm:ss", NOV_30 * US_PER_S, false, 20 },
		{ "1796045376.250|", "epoch_s", NOV_30 * US_PER_S + 250000, true, 14 },
		{ "1796045376250", "epoch_ms", NOV_30 * US_PER_S + 250000, true, 13 },
		{ "1796045376250.4567 x", "epoch_ms", NOV_30 * US_PER_S + 250456, true, 18 },
		{ "1796045376250.0", "epoch_ms", NOV_30 * US_PER_S + 250000, true, 15 },
		{ "1796045376250456.9", "epoch_us", NOV_30 * US_PER_S + 250456, true, 18 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct host_time t = { 0 };
		bool zoned = !cases[i].zoned;
		size_t used = 0;
		assert_true(tstamp_parse(sv_of(cases[i].text), sv_of(cases[i].layout), utc, &t, &zoned, &used));
		assert_int_equal(t.us, cases[i].us);
		assert_int_equal(zoned, cases[i].zoned);
		assert_int_equal(used, cases[i].used);
	}
}

static void a_time_without_zone_is_taken_in_the_given_one(void **state)
{
	struct host_time t;
	bool zoned;
	size_t used;
	(void)state;
	assert_true(tstamp_parse(SV("2026-11-30 21:29:36"), SV("yyyy-MM-dd HH:mm:ss"), shanghai, &t, &zoned, &used));
	assert_int_equal(t.us, NOV_30 * US_PER_S);
	/* One that carries its zone is not moved. */
	assert_true(tstamp_guess(SV("2026-11-30T13:29:36Z"), shanghai, &t, &zoned));
	assert_int_equal(t.us, NOV_30 * US_PER_S);
	assert_true(zoned);
}

static void dates_that_do_not_exist_are_refused(void **state)
{
	static const char *const bad[] = { "2026-02-30 00:00:00", "2026-02-29 00:00:00", "2026-13-01 00:00:00", "2026-00-10 00:00:00",
					   "2026-11-30 24:00:00", "2026-11-30 12:60:00", "2026-11-31 00:00:00", "2026-11-3 00:00:00" };
	struct host_time t;
	bool zoned;
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(tstamp_guess(sv_of(bad[i]), utc, &t, &zoned));
	assert_true(tstamp_guess(SV("2028-02-29 00:00:00"), utc, &t, &zoned));
	assert_int_equal(t.us, INT64_C(1835395200) * US_PER_S);
	/* A leap second has no number of its own. */
	assert_true(tstamp_guess(SV("2016-12-31 23:59:60Z"), utc, &t, &zoned));
	assert_int_equal(t.us, INT64_C(1483228799) * US_PER_S);
}

static void guesses(void **state)
{
	static const struct {
		const char *text;
		int64_t us;
		bool zoned;
	} cases[] = {
		{ "2026-11-30 13:29:36.22+00", NOV_30 * US_PER_S + 220000, true },
		{ "2026-11-30T13:29:36,5", NOV_30 * US_PER_S + 500000, false },
		{ "2026/11/30 13:29:36", NOV_30 * US_PER_S, false },
		{ "Mon Nov 30 13:29:36 UTC 2026", NOV_30 * US_PER_S, true },
		{ "Mon Nov 30 13:29:36 CST 2026", NOV_30 * US_PER_S, false },
		{ "1796045376", NOV_30 * US_PER_S, true },
		{ "1796045376123", NOV_30 * US_PER_S + 123000, true },
		{ "1796045376123456", NOV_30 * US_PER_S + 123456, true },
		{ "1796045376123456789", NOV_30 * US_PER_S + 123456, true },
	};
	static const char *const none[] = { "", "hello", "12345", "2026-11-30", "13:29:36", "2026-11-30 13:29:36 and more",
					    "00000001 00000002", "1796045376.", "Mon Nov 30 13:29:36 UTC" };
	struct host_time t;
	bool zoned;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(tstamp_guess(sv_of(cases[i].text), utc, &t, &zoned));
		assert_int_equal(t.us, cases[i].us);
		assert_int_equal(zoned, cases[i].zoned);
	}
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		assert_false(tstamp_guess(sv_of(none[i]), utc, &t, &zoned));
}

/* One instant as date(1) prints it in several locales and forms: 2026-11-30T13:34:49Z, in Berlin. */
#define BERLIN_NOON INT64_C(1796045689)

static void what_date_prints_in_many_locales(void **state)
{
	static const char *const forms[] = {
		"Mon Nov 30 14:34:49 CET 2026", "Mon Nov 30 02:34:49 PM CET 2026", "Mon 30 Nov 14:34:49 CET 2026",
		"Mo 30. Nov 14:34:49 CET 2026", "lun. 30 nov. 2026 14:34:49 CET",
		"2026\xe5\xb9\xb4 11\xe6\x9c\x88 30\xe6\x97\xa5 \xe6\x98\x9f\xe6\x9c\x9f\xe4\xb8\x80 14:34:49 CET",
		"2026\xe5\xb9\xb4 11\xe6\x9c\x88 30\xe6\x97\xa5 \xe6\x9c\x88\xe6\x9b\x9c\xe6\x97\xa5 14:34:49 CET",
		"1796045689", "1796045689.000000000", "2026-11-30 14:34:49+01:00", "2026-11-30T14:34:49+0100",
		"2026-11-30T13:34:49Z", "2026-11-30T14:34:49+01", "2026-11-30 14:34:49 CET", "2026-11-30 13:34:49 +0000",
		"Mon, 30 Nov 2026 14:34:49 +0100", "30/Nov/2026:13:34:49 +0000", "1.796045689E9",
	};
	struct host_time t;
	bool zoned;
	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		zoned = false;
		if (!tstamp_guess(sv_of(forms[i]), shanghai, &t, &zoned))
			fail_msg("not read: %s", forms[i]);
		assert_true(zoned);
		assert_int_equal(t.us, BERLIN_NOON * US_PER_S);
	}
}

static void dates_without_zone(void **state)
{
	static const struct {
		const char *text;
		int64_t us;
	} cases[] = {
		{ "20261130T133449,445", BERLIN_NOON * US_PER_S + 445000 },
		{ "20261130133449167", BERLIN_NOON * US_PER_S + 167000 },
		{ "20261130133449", BERLIN_NOON * US_PER_S },
		{ "20261130-133449", BERLIN_NOON * US_PER_S },
		{ "2026-11-30 13:34:49:273", BERLIN_NOON * US_PER_S + 273000 },
		{ "30 Nov 2026 13:34:49,721", BERLIN_NOON * US_PER_S + 721000 },
		{ "Nov 30, 2026 01:34:49 PM", BERLIN_NOON * US_PER_S },
		{ "Nov 30, 2026 1:34:49 PM", BERLIN_NOON * US_PER_S },
		{ "Nov. 30, 2026 1:34:49 PM", BERLIN_NOON * US_PER_S },
		{ "11\xe6\x9c\x88 30, 2026 1:34:49 \xe4\xb8\x8b\xe5\x8d\x88", BERLIN_NOON * US_PER_S },
		{ "Nov 30, 2026 @ 13:34:49.220", BERLIN_NOON * US_PER_S + 220000 },
		{ "Mon Nov 30 13:34:49 2026", BERLIN_NOON * US_PER_S },
		/* Half past midnight and half past noon. */
		{ "Nov 30, 2026 12:30:00 AM", INT64_C(1795998600) * US_PER_S },
		{ "Nov 30, 2026 12:30:00 PM", INT64_C(1796041800) * US_PER_S },
		/* Tuesday, and not March. */
		{ "mar. 1 d\xc3\xa9" "c. 2026 13:34:49", (BERLIN_NOON + 86400) * US_PER_S },
	};
	/* Orders that must be declared, hours that cannot be, words that are none, a day without its month. */
	static const char *const none[] = { "11/30/26 14:34:49", "30.11.2026 14:34:49", "Nov 30, 2026 13:34:49 PM", "Nov 30, 2026 0:34:49 AM",
					    "Foo 30 Nov 2026 13:34:49", "30 2026 13:34:49", "Nov 30 30 2026 13:34:49", "Nov 30 2026",
					    "202611301334491", "1.796E", "1.7E99" };
	struct host_time t;
	bool zoned;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		zoned = true;
		if (!tstamp_guess(sv_of(cases[i].text), utc, &t, &zoned))
			fail_msg("not read: %s", cases[i].text);
		assert_int_equal(t.us, cases[i].us);
		assert_false(zoned);
	}
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (tstamp_guess(sv_of(none[i]), utc, &t, &zoned))
			fail_msg("taken for a time: %s", none[i]);
}

static void what_a_time_leaves_out_is_said(void **state)
{
	static const struct {
		const char *text;
		enum tstamp_lack lacks;
	} cases[] = {
		{ "Nov 30 11:44:07", TSTAMP_LACKS_YEAR },      { "11:31:38.530", TSTAMP_LACKS_DATE },
		{ "[  711.799658]", TSTAMP_LACKS_START },      { "2026-11-30 11:44:07", TSTAMP_LACKS_NOTHING },
		{ "1796045689.123", TSTAMP_LACKS_NOTHING },    { "Mon Nov 30 11:44:07 CET", TSTAMP_LACKS_YEAR },
	};
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(tstamp_guess_parts(sv_of(cases[i].text), &t));
		assert_int_equal(t.lacks, cases[i].lacks);
		assert_int_equal(tstamp_resolve(&t, utc, instants, &local), cases[i].lacks == TSTAMP_LACKS_NOTHING);
	}
	assert_true(tstamp_guess_parts(SV("[  711.799658]"), &t));
	assert_int_equal(t.us, 711799658);
}

static void letters_of_layouts(void **state)
{
	static const struct {
		const char *text, *layout;
		int64_t us;
	} cases[] = {
		{ "Nov 30, 2026 1:34:49 PM", "MMM d, yyyy h:mm:ss a", BERLIN_NOON * US_PER_S },
		{ "11/30/26 13:34:49", "MM/dd/yy HH:mm:ss", BERLIN_NOON * US_PER_S },
		{ "Mon 2026-11-30 14:34:49 CET", "EEE yyyy-MM-dd HH:mm:ss z", BERLIN_NOON * US_PER_S },
		{ "1796045689123456789", "epoch_ns", BERLIN_NOON * US_PER_S + 123456 },
		{ "30.11.2026 9:34:49", "dd.MM.yyyy H:mm:ss", (BERLIN_NOON - 4 * 3600) * US_PER_S },
	};
	struct host_time t;
	struct tstamp parts;
	bool zoned;
	size_t used;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		if (!tstamp_parse(sv_of(cases[i].text), sv_of(cases[i].layout), utc, &t, &zoned, &used))
			fail_msg("not read: %s", cases[i].text);
		assert_int_equal(t.us, cases[i].us);
		assert_int_equal(used, strlen(cases[i].text));
	}
	assert_true(tstamp_read(SV("Nov  3 11:44:07 x"), SV("MMM d HH:mm:ss"), &parts, &used));
	assert_int_equal(parts.lacks, TSTAMP_LACKS_YEAR);
	assert_int_equal(parts.civil.day, 3);
	assert_int_equal(used, 15);
	assert_true(tstamp_read(SV("3 [main]"), SV("uptime_ms"), &parts, &used));
	assert_int_equal(parts.lacks, TSTAMP_LACKS_START);
	assert_int_equal(parts.us, 3000);
	/* Hours of a 12-hour clock without their half are no time. */
	assert_false(tstamp_read(SV("2026-11-30 01:34:49"), SV("yyyy-MM-dd hh:mm:ss"), &parts, &used));
}

static void format_and_read_back(void **state)
{
	static const int64_t times[] = { 0, NOV_30 * US_PER_S + 7, -1, INT64_C(-62135596800) * US_PER_S, INT64_C(4102444799999999) };
	static const char *const texts[] = { "1970-01-01T00:00:00.000000Z", "2026-11-30T13:29:36.000007Z",
					     "1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z",
					     "2099-12-31T23:59:59.999999Z" };
	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct buf b;
		struct host_time t;
		bool zoned;
		buf_init(&b);
		tstamp_format(&b, times[i]);
		assert_true(sv_eq(buf_sv(&b), sv_of(texts[i])));
		assert_true(tstamp_guess(buf_sv(&b), utc, &t, &zoned));
		assert_int_equal(t.us, times[i]);
		buf_fini(&b);
	}
}

static void zones(void **state)
{
	static const struct {
		const char *text;
		int32_t offset_s;
	} cases[] = { { "UTC", 0 }, { "Z", 0 }, { "+08:00", 28800 }, { "-0530", -19800 }, { "+8", 28800 }, { "+08", 28800 } };
	static const char *const bad[] = { "", "CST", "+", "+8:00x", "08:00", "+19:00", "+08:60", "Asia/Shanghai" };
	struct zone z;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(zone_parse(sv_of(cases[i].text), &z));
		assert_int_equal(z.offset_s, cases[i].offset_s);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(zone_parse(sv_of(bad[i]), &z));
}

static void durations(void **state)
{
	int64_t us;
	(void)state;
	assert_true(duration_parse(SV("30s"), &us));
	assert_int_equal(us, 30 * US_PER_S);
	assert_true(duration_parse(SV("1500ms"), &us));
	assert_int_equal(us, 1500 * US_PER_MS);
	assert_true(duration_parse(SV("+1.25s"), &us));
	assert_int_equal(us, 1250 * US_PER_MS);
	assert_true(duration_parse(SV("-45"), &us));
	assert_int_equal(us, -45 * US_PER_S);
	assert_true(duration_parse(SV("90d"), &us));
	assert_int_equal(us, INT64_C(90) * 86400 * US_PER_S);
	assert_false(duration_parse(SV("s"), &us));
	assert_false(duration_parse(SV("5 s"), &us));
	assert_false(duration_parse(SV("5w"), &us));
	assert_false(duration_parse(SV("9000000000000d"), &us));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_of_logs),
		cmocka_unit_test(a_time_without_zone_is_taken_in_the_given_one),
		cmocka_unit_test(dates_that_do_not_exist_are_refused),
		cmocka_unit_test(guesses),
		cmocka_unit_test(what_date_prints_in_many_locales),
		cmocka_unit_test(dates_without_zone),
		cmocka_unit_test(what_a_time_leaves_out_is_said),
		cmocka_unit_test(letters_of_layouts),
		cmocka_unit_test(format_and_read_back),
		cmocka_unit_test(zones),
		cmocka_unit_test(durations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
