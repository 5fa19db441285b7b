/* SPDX-License-Identifier: MIT */
/* Expected seconds are those of "date -u -d ... +%s". */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tstamp.h"

#define NOV_30 INT64_C(1796045376) /* 2026-11-30T13:29:36Z */

static const struct zone utc = { 0 };
static const struct zone shanghai = { 8 * 3600 };

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
		cmocka_unit_test(format_and_read_back),
		cmocka_unit_test(zones),
		cmocka_unit_test(durations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
