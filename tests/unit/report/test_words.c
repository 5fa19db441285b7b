/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/json_writer.h"
#include "report/words.h"

static struct arena *arena;

static void is(struct sv actual, const char *expected)
{
	assert_string_equal(arena_strdup(arena, actual), expected);
}

static void amounts(void **state)
{
	(void)state;
	is(words_money(arena, true, 12500000, SV("CNY")), "12.50 CNY");
	is(words_money(arena, true, -1, SV("USD")), "-0.000001 USD");
	is(words_money(arena, true, 1000000, SV_ABSENT), "1.00");
	is(words_money(arena, true, INT64_MIN, SV_ABSENT), "-9223372036854.775808");
	is(words_money(arena, false, 5, SV("CNY")), "unknown");
}

static void amounts_of_steps_stay_apart(void **state)
{
	const struct amount_total totals[] = {
		{ SV("notice"), SV("CNY"), 16170000, 1 }, { SV("notice"), SV("USD"), 3000000, 1 }, { SV("reversal"), SV("CNY"), 16170000, 1 },
	};
	(void)state;
	is(words_amounts(arena, totals, 3), "notice 16.17 CNY and 3.00 USD; reversal 16.17 CNY");
	is(words_amounts(arena, totals + 1, 1), "notice 3.00 USD");
	is(words_amounts(arena, totals, 0), "-");
	is(words_amounts_of_step(arena, totals, 3, SV("notice")), "16.17 CNY and 3.00 USD");
	is(words_amounts_of_step(arena, totals, 3, SV("ledger")), "");
}

static void the_doer_is_the_host_if_known(void **state)
{
	struct rebalance r = { .host = SV("node-3"), .client = SV("c-1"), .member = SV("c-1-7f") };
	(void)state;
	is(words_doer(&r), "node-3");
	r.host = SV_ABSENT;
	is(words_doer(&r), "c-1");
	r.client = SV_ABSENT;
	is(words_doer(&r), "c-1-7f");
	r.member = SV_ABSENT;
	is(words_doer(&r), "-");
}

static void windows_by_their_ids(void **state)
{
	const struct window w1 = { .id = 1 }, w12 = { .id = 12 };
	const struct window *const both[] = { &w1, &w12 };
	(void)state;
	is(words_windows(arena, both, 2), "W1,W12");
	is(words_windows(arena, both, 0), "");
}

static void pauses_stand_behind_where_no_jitter_does(void **state)
{
	const struct window w1 = { .id = 1 }, w12 = { .id = 12 };
	const struct window *jitter[] = { &w1 }, *pauses[] = { &w12 };
	struct rebalance r = { .windows = jitter, .window_count = 1, .pauses = pauses, .pause_count = 1 };
	(void)state;
	is(words_windows_behind(arena, &r), "W1");
	r.window_count = 0;
	is(words_windows_behind(arena, &r), "W12");
	r.pause_count = 0;
	is(words_windows_behind(arena, &r), "");
}

static void what_is_not_proved_is_suggested(void **state)
{
	struct rebalance r = { .trigger = TRIGGER_SESSION_TIMEOUT, .trigger_strength = STRENGTH_PROVES };
	(void)state;
	is(words_trigger(arena, &r), "session_timeout");
	r.trigger_strength = STRENGTH_SUGGESTS;
	is(words_trigger(arena, &r), "session_timeout (suggested)");
}

static void durations(void **state)
{
	(void)state;
	is(words_duration(arena, 0), "0 ms");
	is(words_duration(arena, 999999), "999 ms");
	is(words_duration(arena, 7100000), "7.100 s");
	is(words_duration(arena, 125 * US_PER_S), "2 min 5 s");
	is(words_duration(arena, 600 * US_PER_S), "10 min");
	is(words_duration(arena, 3 * 3600 * US_PER_S), "3 h");
	is(words_duration(arena, INT64_C(90) * 86400 * US_PER_S), "90 d");
	is(words_duration(arena, -1500000), "-1.500 s");
}

static void proportions(void **state)
{
	const struct proportion some = { 6, 7, true, 6.0 / 7, 0.4869, 0.9743 }, none = { 0 };
	(void)state;
	is(words_proportion(arena, &some), "6 of 7 (86 %)");
	is(words_proportion(arena, &none), "none to count");
}

static void times_show_the_date_only_when_days_differ(void **state)
{
	struct findings f = { .has_span = true };
	const int64_t noon = INT64_C(1796040000) * US_PER_S; /* 2026-11-30T12:00:00Z */
	(void)state;
	f.span = (struct span){ { noon }, { noon + 3600 * US_PER_S } };
	is(words_time(arena, &f, (struct ref_time){ noon + 1500 }), "12:00:00.001");
	f.span.end.us = noon + INT64_C(86400) * US_PER_S;
	is(words_time(arena, &f, (struct ref_time){ noon }), "2026-11-30 12:00:00.000");
}

static void places(void **state)
{
	struct input_info inputs[] = { { .id = 3, .path = SV("consumer-1/app.log") }, { .id = 4, .path = SV("eth0.pcap") } };
	const struct findings f = { .inputs = inputs, .input_count = 2 };
	(void)state;
	is(words_place(arena, &f, &(struct place){ 3, PLACE_LINE, 1841, 0 }), "consumer-1/app.log:1841");
	is(words_place(arena, &f, &(struct place){ 4, PLACE_PACKET, 12, 0 }), "eth0.pcap packet 12");
	is(words_place(arena, &f, &(struct place){ 4, PLACE_WHOLE, 0, 0 }), "eth0.pcap");
	is(words_place(arena, &f, &(struct place){ 9, PLACE_ROW, 2, 0 }), "(unknown input) row 2");
}

static void json_shapes(void **state)
{
	struct json_writer w;
	struct buf b;
	(void)state;
	buf_init(&b);
	json_begin(&w, &b);
	json_object(&w, NULL);
	json_int(&w, "a", -1);
	json_maybe_int(&w, "b", false, 5);
	json_array(&w, "c");
	json_array_end(&w);
	json_array(&w, "d");
	json_id(&w, NULL, 'W', 3);
	json_id(&w, NULL, 'W', 0);
	json_array_end(&w);
	json_maybe_real(&w, "e", true, 2.0 / 3);
	json_amount(&w, "f", true, 1500000);
	json_time(&w, "g", true, 0);
	json_text(&w, "h", SV_ABSENT);
	json_object_end(&w);
	is(buf_sv(&b), "{\n \"a\": -1,\n \"b\": null,\n \"c\": [],\n \"d\": [\n  \"W3\",\n  null\n ],\n \"e\": 0.666667,\n "
		       "\"f\": \"1.50\",\n \"g\": \"1970-01-01T00:00:00.000000Z\",\n \"h\": null\n}");
	buf_fini(&b);
}

static int set_up(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts),
		cmocka_unit_test(amounts_of_steps_stay_apart),
		cmocka_unit_test(the_doer_is_the_host_if_known),
		cmocka_unit_test(windows_by_their_ids),
		cmocka_unit_test(pauses_stand_behind_where_no_jitter_does),
		cmocka_unit_test(what_is_not_proved_is_suggested),
		cmocka_unit_test(durations),
		cmocka_unit_test(proportions),
		cmocka_unit_test(times_show_the_date_only_when_days_differ),
		cmocka_unit_test(places),
		cmocka_unit_test(json_shapes),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
