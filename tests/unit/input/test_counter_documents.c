/* SPDX-License-Identifier: MIT */
/* Formats that carry their own times: sar, sadf, Prometheus, logs of time daemons. Worked out by hand from the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "counters_told.h"

static void assert_tells(const char *text, const char *expected)
{
	struct kit *k = read_named(text, "x.txt");

	assert_events(k, expected);
	kit_free(k);
}

/* ---- sar ---- */

#define BANNER(date) "Linux 6.18.0-example (node-a) \t" date " \t_x86_64_\t(2 CPU)\n\n"
#define ETCP "     atmptf/s  estres/s retrans/s isegerr/s   orsts/s\n"
#define TCP "     active/s passive/s    iseg/s    oseg/s\n"

static void test_sar_text(void **state)
{
	(void)state;
	/* 2.97 a second in one second are three; OutSegs stands in another table. Average lines count for nothing. */
	assert_tells(BANNER("2026-11-30")
		     "10:00:00" TCP "10:00:01         1.00      0.00     65.00   1831.00\n\n"
		     "10:00:00" ETCP "10:00:01         0.00      0.00      2.97      0.00      0.00\n\n"
		     "10:00:00        CPU   total/s   dropd/s squeezd/s  rx_rps/s flw_lim/s   blg_len\n"
		     "10:00:01        all    141.00      4.00      0.00      0.00      0.00         0\n"
		     "10:00:01          0    141.00      4.00      0.00      0.00      0.00         0\n\n"
		     "10:00:00        IFACE   rxerr/s   txerr/s    coll/s  rxdrop/s  txdrop/s  txcarr/s  rxfram/s  rxfifo/s  txfifo/s\n"
		     "10:00:01         eth0      1.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00\n\n"
		     "Average:     atmptf/s  estres/s retrans/s isegerr/s   orsts/s\n"
		     "Average:         0.00      0.04      1.08      0.00      0.00\n",
		     "node-a: tcp.OutSegs 0+1000 1831\nnode-a: tcp.RetransSegs 0+1000 3\nnode-a: softnet.dropped 0+1000 4\n"
		     "node-a: interface.rx_errors eth0 0+1000 1\nnode-a: covered softnet 0+1000 x2 host\n"
		     "node-a: covered snmp 0+1000 x2 namespace\nnode-a: covered interface 0+1000 x2 namespace\n");
}

static void test_dates_of_sar_in_the_locales(void **state)
{
	static const char *const texts[] = {
		BANNER("11/30/26") "10:00:00" ETCP "10:00:01         0.00      0.00      5.00      0.00      0.00\n",
		BANNER("11/30/2026") "10:00:00 AM" ETCP "10:00:01 AM         0.00      0.00      5.00      0.00      0.00\n",
		BANNER("30.11.2026") "10:00:00" ETCP "10:00:01         0,00      0,00      5,00      0,00      0,00\n",
		BANNER("30/11/2026") "10:00:00" ETCP "10:00:01         0,00      0,00      5,00      0,00      0,00\n",
		BANNER("2026-11-30") "10:00:00" ETCP "10:00:01         0.00      0.00      5.00      0.00      0.00\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_tells(texts[i], "node-a: tcp.RetransSegs 0+1000 5\n");
}

/* The time of one row under a date that may be 5 April or 4 May. */
static int64_t second_of(const char *date, const char *half, const char *value, int64_t modified_s, uint64_t *warnings)
{
	struct kit *k = kit_new();
	char text[512];

	snprintf(text, sizeof text, "Linux 6.18.0 (node-a) \t%s \t_x86_64_\t(2 CPU)\n\n10:00:00%s retrans/s\n10:00:01%s %s\n", date, half,
		 half, value);
	struct ingest in = kit_ingest(k, sv_of(text), "x", NULL);
	in.has_modified = modified_s > 0;
	in.modified.us = modified_s * US_PER_S;
	assert_int_equal(counters_kind.read(&in), 0);
	assert_int_equal(k->event_count, 1);
	int64_t s = k->events[0].time.us / US_PER_S;
	*warnings = kit_problems(k, "counters.date_order");
	arena_free(in.record);
	kit_free(k);
	return s;
}

static void test_a_date_of_two_readings(void **state)
{
	const int64_t april = INT64_C(1775383200), may = INT64_C(1777888800); /* 2026-04-05, 2026-05-04, 10:00 UTC */
	uint64_t warnings;

	(void)state;
	assert_int_equal(second_of("04/05/2026", " AM", "5.00", 0, &warnings), april);
	assert_int_equal(warnings, 0);
	/* A comma is anything but American, but for Georgian: said. */
	assert_int_equal(second_of("04/05/2026", "", "5,00", 0, &warnings), may);
	assert_int_equal(warnings, 1);
	assert_int_equal(second_of("04/05/2026", "", "5,00", may + 60, &warnings), may);
	assert_int_equal(warnings, 0);
	assert_int_equal(second_of("04/05/2026", "", "5,00", april + 60, &warnings), april);
	assert_int_equal(warnings, 1);
	/* So is a whole year without AM and PM. */
	assert_int_equal(second_of("04/05/2026", "", "5.00", 0, &warnings), may);
	assert_int_equal(warnings, 1);
	/* The file was written a minute later. */
	assert_int_equal(second_of("04/05/26", "", "5.00", may + 60, &warnings), may);
	assert_int_equal(second_of("04/05/26", "", "5.00", april + 60, &warnings), april);
	assert_int_equal(warnings, 0);
	/* Copied a hundred days later, when no reading is of that day: the nearer one, and said. */
	assert_int_equal(second_of("04/05/26", "", "5.00", may + 100 * 86400, &warnings), may);
	assert_int_equal(warnings, 1);
	/* Nothing tells: it is assumed, and said. */
	assert_int_equal(second_of("04/05/26", "", "5.00", 0, &warnings), april);
	assert_int_equal(warnings, 1);
	/* A zone behind the half of the day is Indian, but for Kashmiri. */
	assert_int_equal(second_of("04/05/26", " AM IST", "5.00", may + 60, &warnings), may);
	assert_int_equal(warnings, 0);
	assert_int_equal(second_of("4/5/26", " AM IST", "5.00", april + 60, &warnings), april);
	assert_int_equal(warnings, 1);
}

/* Hungarian has the month behind the year, Chechen the day; Nepali begins with two digits of the year. */
static void test_a_date_with_the_year_first(void **state)
{
	const int64_t april = INT64_C(1775383200), may = INT64_C(1777888800);
	uint64_t warnings;

	(void)state;
	assert_int_equal(second_of("2026.05.04", "", "5,00", may + 60, &warnings), may);
	assert_int_equal(warnings, 0);
	assert_int_equal(second_of("2026.05.04", "", "5,00", april + 60, &warnings), april);
	assert_int_equal(warnings, 1);
	/* Of 5 April or 4 May; written to in August, which speaks for Chechen and is no proof. */
	assert_int_equal(second_of("2026.04.05", "", "5,00", may + 100 * 86400, &warnings), april);
	assert_int_equal(warnings, 1);
	assert_int_equal(second_of("2026-04-05", "", "5.00", may + 60, &warnings), april);
	assert_int_equal(warnings, 0);
	assert_int_equal(second_of("26/5/4", "", "5.00", 0, &warnings), may);
	assert_int_equal(warnings, 0);
	/* 11 May 2026, by the time of the file alone; else 26 May 2011, as most would write it. */
	assert_int_equal(second_of("26/05/11", "", "5.00", may + 7 * 86400 + 60, &warnings), may + 7 * 86400);
	assert_int_equal(warnings, 1);
	assert_int_equal(second_of("26/05/11", "", "5.00", 0, &warnings), INT64_C(1306404000));
	assert_int_equal(warnings, 1);
}

/* What is said of the hours when three rows are read that begin after a heading. */
static const struct problem *hours_said(struct kit *k, const char *date, const char *heading, const char *rows[3], int64_t modified_s)
{
	char text[512];

	snprintf(text, sizeof text, "Linux 6.18.0 (node-a) \t%s \t_x86_64_\t(2 CPU)\n\n%s retrans/s\n%s 5.00\n%s 5.00\n%s 5.00\n", date, heading,
		 rows[0], rows[1], rows[2]);
	struct ingest in = kit_ingest(k, sv_of(text), "x", NULL);
	in.has_modified = modified_s > 0;
	in.modified.us = modified_s * US_PER_S;
	assert_int_equal(counters_kind.read(&in), 0);
	arena_free(in.record);
	return kit_problems(k, "counters.half_day") > 0 ? kit_problem(k, "counters.half_day") : NULL;
}

/* Armenian and Malay have no word for the half of the day, and write 1:00 for 13:00. */
static void test_hours_without_a_half_of_the_day(void **state)
{
	static const char *half[] = { "12:40:00", "12:50:00", "01:00:00" }, *whole[] = { "12:40:00", "12:50:00", "13:00:00" },
			  *morning[] = { "12:40:00", "12:50:00", "12:59:00" }, *night[] = { "23:40:00", "23:50:00", "00:00:00" };
	const int64_t end = INT64_C(1796043540);	/* 2026-11-30 12:59:00 UTC */
	const struct problem *said;

	(void)state;
	/* 1:00 is ten minutes after 12:50, but of which half no line tells. */
	struct kit *k = kit_new();
	said = hours_said(k, "11/30/26", "12:30:00", half, 0);
	assert_non_null(said);
	assert_int_equal(said->severity, SEVERITY_WARNING);
	assert_int_equal(k->event_count, 0);
	assert_int_equal(k->info.skipped, 3);
	kit_free(k);
	/* 13:00 and 0:00 are of a clock of 24 hours. */
	k = kit_new();
	assert_null(hours_said(k, "11/30/26", "12:30:00", whole, 0));
	assert_int_equal(k->events[0].time.us, (end - 29 * 60) * US_PER_S);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
	k = kit_new();
	assert_null(hours_said(k, "11/30/26", "23:30:00", night, 0));
	kit_free(k);
	/* No row tells: taken as of 24 hours and said, unless the file was written then. */
	k = kit_new();
	said = hours_said(k, "11/30/26", "12:30:00", morning, 0);
	assert_non_null(said);
	assert_int_equal(said->severity, SEVERITY_NOTE);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
	k = kit_new();
	assert_null(hours_said(k, "11/30/26", "12:30:00", morning, end + 60));
	kit_free(k);
	k = kit_new();
	said = hours_said(k, "11/30/26", "12:30:00", morning, end + 12 * 3600 + 60);
	assert_non_null(said);
	assert_int_equal(said->severity, SEVERITY_WARNING);
	kit_free(k);
	/* Averages end the table, and one that nobody reads comes after it. */
	static const char *average[] = { "12:40:00", "12:59:00", "Average:    " };
	static const char *unread[] = { "12:59:00", "Average:     5.00\n\n12:30:00 proc/s\n12:59:00", "Average:    " };
	for (size_t i = 0; i < 2; i++) {
		k = kit_new();
		said = hours_said(k, "11/30/26", "12:30:00", i == 0 ? average : unread, end + 12 * 3600 + 60);
		assert_non_null(said);
		assert_int_equal(said->severity, SEVERITY_WARNING);
		kit_free(k);
		k = kit_new();
		assert_null(hours_said(k, "11/30/26", "12:30:00", i == 0 ? average : unread, end + 60));
		kit_free(k);
	}
	/* In a form that no such locale has. */
	k = kit_new();
	assert_null(hours_said(k, "30.11.2026", "12:30:00", morning, 0));
	kit_free(k);
	k = kit_new();
	assert_null(hours_said(k, "2026-11-30", "12:30:00", half, 0));
	kit_free(k);
}

static void test_sar_past_midnight_and_restarts(void **state)
{
	(void)state;
	/* Live, table after table: the day goes on. 10 h to midnight and 24 h further. */
	assert_tells(BANNER("2026-11-30") "23:59:59" ETCP "00:00:00         0.00      0.00      5.00      0.00      0.00\n\n"
					  "00:00:00" ETCP "00:00:01         0.00      0.00      6.00      0.00      0.00\n",
		     "node-a: tcp.RetransSegs 50399000+1000 5\nnode-a: tcp.RetransSegs 50400000+1000 6\n");
	/* 12 hours: noon is 12 PM, midnight 12 AM. */
	assert_tells(BANNER("11/30/2026") "12:00:00 PM" ETCP "12:00:01 PM         0.00      0.00      5.00      0.00      0.00\n",
		     "node-a: tcp.RetransSegs 7200000+1000 5\n");
	/* From a file, a table for the day and then the next: each begins with the day again. */
	assert_tells(BANNER("2026-11-30") "10:00:00" TCP "10:10:00         1.00      0.00     65.00   1.00\n10:20:00         1.00      0.00     65.00   2.00\n"
					  "Average:         1.00      0.00     65.00   1.50\n\n"
					  "10:00:00" ETCP "10:10:00         0.00      0.00      0.50      0.00      0.00\n10:20:00         0.00      0.00      0.00      0.00      0.00\n",
		     "node-a: tcp.OutSegs 0+600000 600\nnode-a: tcp.OutSegs 600000+600000 1200\nnode-a: tcp.RetransSegs 0+600000 300\n"
		     "node-a: covered snmp 0+1200000 x3 namespace\n");
	/* A restart: no figures until the next heading. */
	assert_tells(BANNER("2026-11-30") "10:00:00" ETCP "10:00:01         0.00      0.00      5.00      0.00      0.00\n\n"
					  "10:00:05  LINUX RESTART (2 CPU)\n\n"
					  "10:00:07" ETCP "10:00:08         0.00      0.00      6.00      0.00      0.00\n",
		     "node-a: tcp.RetransSegs 0+1000 5\nnode-a: tcp.RetransSegs 7000+1000 6\n");
}

static void test_the_folder_names_the_host_of_sar(void **state)
{
	struct kit *k = kit_new();
	struct ingest in = kit_ingest(k, SV(BANNER("2026-11-30") "10:00:00" ETCP "10:00:01 0.00 0.00 5.00 0.00 0.00\n"), "x", NULL);

	(void)state;
	k->info.host = SV("consumer-1");
	assert_int_equal(counters_kind.read(&in), 0);
	assert_events(k, "consumer-1: tcp.RetransSegs 0+1000 5\n");
	arena_free(in.record);
	kit_free(k);
}

/* As glibc prints times and dates (%X, %x) in the locales of the names; 2026-11-30 10:00:00 and a second later. */
static void test_times_of_sar_in_the_locales(void **state)
{
	static const struct {
		const char *locale, *text;
	} cases[] = {
		{ "zh_CN", BANNER("2026年11月30日") "10时00分00秒" ETCP "10时00分01秒         0.00      0.00      5.00      0.00      0.00\n" },
		{ "zh_TW, ja_JP", BANNER("2026年11月30日") "10時00分00秒" ETCP "10時00分01秒         0.00      0.00      5.00      0.00      0.00\n" },
		{ "ko_KR", BANNER("2026년 11월 30일") "10시 00분 00초" ETCP "10시 00분 01초         0.00      0.00      5.00      0.00      0.00\n" },
		{ "zh_HK", BANNER("2026年11月30日 星期一") "上午 10时00分00秒 HKT" ETCP "上午 10时00分01秒 HKT         0.00      0.00      5.00      0.00      0.00\n" },
		{ "fi_FI", BANNER("30.11.2026") "10.00.00" ETCP "10.00.01         0,00      0,00      5,00      0,00      0,00\n" },
		{ "el_GR", BANNER("30/11/2026") "10:00:00 πμ" ETCP "10:00:01 πμ         0,00      0,00      5,00      0,00      0,00\n" },
		{ "en_IN", BANNER("30/11/26") "10:00:00 AM IST" ETCP "10:00:01 AM IST         0.00      0.00      5.00      0.00      0.00\n" },
		{ "hi_IN", BANNER("30/11/26") "10:00:00 पूर्वाह्न IST" ETCP "10:00:01 पूर्वाह्न IST         0.00      0.00      5.00      0.00      0.00\n" },
		{ "bg_BG", BANNER("30.11.2026") "10:00:00" ETCP "10:00:01         0.00      0.00      5.00      0.00      0.00\n" },
		{ "sl_SI", BANNER("30. 11. 2026") "10:00:00" ETCP "10:00:01         0,00      0,00      5,00      0,00      0,00\n" },
		{ "lv_LV", BANNER("2026.11.30.") "10:00:00" ETCP "10:00:01         0,00      0,00      5,00      0,00      0,00\n" },
		{ "th_TH", BANNER("30/11/2569") "10:00:00" ETCP "10:00:01         0.00      0.00      5.00      0.00      0.00\n" },
		{ "en_HK", BANNER("Monday, November 30, 2026") "10:00:00 AM HKT" ETCP "10:00:01 AM HKT         0.00      0.00      5.00      0.00      0.00\n" },
		{ "nb_NO", BANNER("30. nov. 2026") "10:00:00" ETCP "10:00:01         0,00      0,00      5,00      0,00      0,00\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_named(cases[i].text, "x");

		if (k->event_count != 1 || k->events[0].time.us != TEN || diag_count(k->diag) != 1)
			fail_msg("%s", cases[i].locale);
		/* Of TCP there are retransmissions alone: the one note that is due. */
		assert_int_equal(kit_problems(k, "counters.partial"), 1);
		kit_free(k);
	}
	/* The same second in the afternoon. */
	assert_tells(BANNER("30/11/2026") "10:00:00 μμ" ETCP "10:00:01 μμ         0,00      0,00      5,00      0,00      0,00\n",
		     "node-a: tcp.RetransSegs 43200000+1000 5\n");
	assert_tells(BANNER("2026年11月30日 星期一") "下午 10时00分00秒 HKT" ETCP "下午 10时00分01秒 HKT         0.00      0.00      5.00      0.00      0.00\n",
		     "node-a: tcp.RetransSegs 43200000+1000 5\n");
	/* An interface whose name looks like a zone is none where the heading has none. */
	assert_tells(BANNER("2026-11-30") "10:00:00 IFACE rxerr/s\n10:00:01 VPN 2.00\n",
		     "node-a: interface.rx_errors VPN 0+1000 2\nnode-a: covered interface 0+1000 x2 namespace\n");
}

static void test_sar_that_cannot_be_placed_says_so(void **state)
{
	static const struct {
		const char *text, *code;
	} cases[] = {
		/* Somali: what it means is not known, and 12 hours would be wrong. */
		{ BANNER("30/11/2026") "10:00:00 subaxnimo" ETCP "10:00:01 subaxnimo 0.00 0.00 5.00 0.00 0.00\n10:00:02 subaxnimo 0.00 0.00 5.00 0.00 0.00\n",
		  "counters.half_day" },
		{ BANNER("30 نوف, 2026") "10:00:00" ETCP "10:00:01 0.00 0.00 5.00 0.00 0.00\n10:00:02 0.00 0.00 5.00 0.00 0.00\n", "counters.date" },
	};
	const char *why = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_named(cases[i].text, "x");

		assert_events(k, "");
		assert_int_equal(kit_problems(k, cases[i].code), 1);
		assert_int_equal(kit_problem(k, cases[i].code)->place.number, 4);
		assert_int_equal(k->info.skipped, 2);
		kit_free(k);
	}
	/* Digits of another script. */
	struct kit *k = read_named("Linux 6.18.0 (node-a) \t۲۶/۱۱/۳۰ \t_x86_64_\t(2 CPU)\n\n۱۰:۰۰:۰۰ retrans/s\n۱۰:۰۰:۰۱ 5.00\n", "x");
	assert_events(k, "");
	assert_int_equal(kit_problem(k, "counters.date")->severity, SEVERITY_WARNING);
	assert_int_equal(kit_problems(k, "counters.unrecognized"), 1);
	kit_free(k);
	/* Without its first line it has neither host nor date. */
	assert_int_equal(counters_kind.sniff(SV("10:00:00" ETCP "10:00:01 0.00 0.00 5.00 0.00 0.00\n"), SV("x"), NULL, &why), SNIFF_BROKEN);
	assert_non_null(strstr(why, "without its first line"));
	/* Another table of rates is none of sar. */
	assert_int_equal(counters_kind.sniff(SV("10:00:00 orders/s\n10:00:01 0.00\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
}

static void test_torn_rows_of_sar_are_told_once(void **state)
{
	/* A heading that lost its end and the line end, so that the row behind it is lost too; a row that lost its end. */
	struct kit *k = read_named(BANNER("2026-11-30") "10:00:00     atmptf/s  estr10:00:01 0.00 0.00 5.00 0.00 0.00\n"
							"10:00:02 0.00 0.00 5.00 0.00 0.00\n\n"
							"10:00:02" ETCP "10:00:03 0.00 0.00 6.00 0.00 0.00\n10:00:04 0.00 0.00 6",
				   "x");

	(void)state;
	assert_events(k, "node-a: tcp.RetransSegs 2000+1000 6\n");
	assert_int_equal(kit_problems(k, "counters.torn"), 1);
	assert_int_equal(kit_problem(k, "counters.torn")->place.number, 3);
	assert_non_null(strstr(arena_strdup(k->arena, kit_problem(k, "counters.torn")->message), "2 of them"));
	assert_int_equal(kit_problem(k, "counters.unended")->place.number, 8);
	assert_int_equal(k->info.records, 4);
	assert_int_equal(k->info.skipped, 3);
	kit_free(k);
	/* Whole, it says nothing of the kind. */
	k = read_named(BANNER("2026-11-30") "10:00:00" ETCP "10:00:01 0.00 0.00 5.00 0.00 0.00\n", "x");
	assert_int_equal(kit_problems(k, "counters.torn"), 0);
	kit_free(k);
}

#define EDEV "        IFACE   rxerr/s   txerr/s  rxdrop/s\n"

/* How many were left out, and that the code was said, and of which line; or that no damage was. */
static void assert_left_out(const char *text, const char *events, const char *code, uint64_t line, uint64_t skipped)
{
	struct kit *k = read_named(text, "x");

	assert_events(k, events);
	assert_int_equal(k->info.skipped, skipped);
	if (code != NULL) {
		assert_int_equal(kit_problems(k, code), 1);
		assert_int_equal(kit_problem(k, code)->place.number, line);
		assert_int_equal(kit_problem(k, code)->severity, SEVERITY_WARNING);
	} else {
		enum severity worst = SEVERITY_NOTE;

		(void)diag_worst(k->diag, &worst);
		assert_int_equal(worst, SEVERITY_NOTE);
	}
	kit_free(k);
}

#define ETH0_5 "node-a: interface.rx_errors eth0 0+1000 5\n"
#define ETH0_7 "node-a: interface.rx_errors eth0 1000+1000 7\n"
#define ONE_SECOND "node-a: covered interface 0+1000 x2 namespace\n"
#define TWO_SECONDS "node-a: covered interface 0+2000 x3 namespace\n"

/* A row of which the device's name alone is left looks like the heading of a table; the rows behind it are of the table before it. */
static void test_a_row_of_sar_cut_down_to_its_device(void **state)
{
	(void)state;
	/* Whole. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0  7.00  0.00  0.00\n",
			ETH0_5 ETH0_7 TWO_SECONDS, NULL, 0, 0);
	/* In the middle: to the device, to a part of it, to the time. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:01  eth1\n10:00:02  eth0  7.00  0.00  0.00\n",
			ETH0_5 ETH0_7 TWO_SECONDS, "counters.torn", 5, 1);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:01  e\n10:00:02  eth0  7.00  0.00  0.00\n",
			ETH0_5 ETH0_7 TWO_SECONDS, "counters.torn", 5, 1);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02\n10:00:02  eth0  7.00  0.00  0.00\n",
			ETH0_5 ETH0_7 TWO_SECONDS, "counters.torn", 5, 1);
	/* At the end of the file, with a line feed and without. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0\n", ETH0_5 ONE_SECOND, "counters.torn", 5, 1);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0", ETH0_5 ONE_SECOND, "counters.unended", 5, 1);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:0", ETH0_5 ONE_SECOND, "counters.unended", 5, 1);
	/* Another line written into it. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0  7.0 10:00:01  IFACE  rxpck/s\n",
			ETH0_5 ONE_SECOND, "counters.torn", 5, 1);
	/* A comment, a restart and an older heading of one word are no such rows. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:01  COM deployed 7\n10:00:02  eth0  7.00  0.00  0.00\n",
			ETH0_5 ETH0_7 TWO_SECONDS, NULL, 0, 0);
	assert_left_out(BANNER("2026-11-30") "10:00:00  cswch/s\n10:00:01  9.00\n\n10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n\n10:00:03  LINUX RESTART\t(2 CPU)\n",
			ETH0_5 ONE_SECOND, NULL, 0, 0);
}

/* What is left of a heading tells no columns: the rows below it are not those of the table before. */
static void test_a_heading_of_sar_cut_down_to_a_word(void **state)
{
	(void)state;
	assert_left_out(BANNER("2026-11-30") "10:00:00" TCP "10:00:01  1.00  0.00  65.00  18.00\n\n10:00:00  idgm\n10:00:01  1.00  2.00  3.00  4.00\n",
			"node-a: tcp.OutSegs 0+1000 18\n", "counters.torn", 6, 2);
	/* The same without empty lines, as grep leaves it: its time is before that of the row. */
	assert_left_out("Linux 6.18.0 (node-a) \t2026-11-30 \t_x86_64_\t(2 CPU)\n10:00:00" TCP "10:00:01  1.00  0.00  65.00  18.00\n10:00:00  idgm\n10:00:01  1.00  2.00  3.00  4.00\n",
			"node-a: tcp.OutSegs 0+1000 18\n", "counters.torn", 4, 2);
	/* Cut down to columns that are not read: its rows do not fit. */
	assert_left_out(BANNER("2026-11-30") "10:00:00  IFACE  rxer\n10:00:01  eth0  5.00  0.00  0.00\n", "", "counters.torn", 4, 1);
	/* Whole and not read: nothing is said. */
	assert_left_out(BANNER("2026-11-30") "10:00:00  kbmemfree  kbavail\n10:00:01  5  6\n\n10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n",
			ETH0_5 ONE_SECOND, NULL, 0, 0);
}

/* sar --pretty has the device behind the figures. */
static void test_sar_with_the_device_last(void **state)
{
	(void)state;
	assert_left_out(BANNER("2026-11-30") "10:00:00      rxerr/s   txerr/s  rxdrop/s IFACE\n10:00:01  5.00  0.00  0.00 eth0\n10:00:02  7.00  0.00  0.00 eth0\n",
			ETH0_5 ETH0_7 TWO_SECONDS, NULL, 0, 0);
	assert_left_out(BANNER("2026-11-30") "10:00:00      rxerr/s   txerr/s  rxdrop/s IFACE\n10:00:01  5.00  0.00  0.00 eth0\n10:00:02  7.00  0.00 eth0\n",
			ETH0_5 ONE_SECOND, "counters.torn", 5, 1);
	assert_left_out(BANNER("2026-11-30") "10:00:00      rxerr/s   txerr/s  rxdrop/s IFACE\n10:00:01  5.00  0.00  0.00 eth0\n10:00:02  7.00  0.00  0.00 et",
			ETH0_5 ONE_SECOND, "counters.unended", 5, 1);
}

/* Without a line feed a figure is whole when it has both decimals that sysstat prints. */
static void test_the_last_figure_of_sysstat(void **state)
{
	(void)state;
#define HEAD "# hostname;interval;timestamp;atmptf/s;estres/s;retrans/s\nnode-a;1;2026-11-30 10:00:01 UTC;0.00;0.00;4.00\n"
#define FOUR "node-a: tcp.RetransSegs 0+1000 4\n"
	assert_left_out(HEAD "node-a;1;2026-11-30 10:00:02 UTC;0.00;0.00;12.00", FOUR "node-a: tcp.RetransSegs 1000+1000 12\n", NULL, 0, 0);
	assert_left_out(HEAD "node-a;1;2026-11-30 10:00:02 UTC;0.00;0.00;12.0", FOUR, "counters.unended", 3, 1);
	assert_left_out(HEAD "node-a;1;2026-11-30 10:00:02 UTC;0.00;0.00;1", FOUR, "counters.unended", 3, 1);
	assert_left_out(HEAD "node-a;-1;2026-11-30 10:00:03 UTC;LINUX-RESTART\t(2 CPU)", FOUR, NULL, 0, 0);
#undef HEAD
#define HEAD "node-a\t1\t2026-11-30 10:00:01 UTC\teth0\trxerr/s\t5.00\nnode-a\t1\t2026-11-30 10:00:02 UTC\teth0\trxerr/s\t7"
	assert_left_out(HEAD ".00", ETH0_5 ETH0_7 TWO_SECONDS, NULL, 0, 0);
	assert_left_out(HEAD, ETH0_5 ONE_SECOND, "counters.unended", 2, 1);
#undef HEAD
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0  7.00  0.00  0.00", ETH0_5 ETH0_7 TWO_SECONDS, NULL, 0, 0);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n10:00:02  eth0  7.00  0.00  0.0", ETH0_5 ONE_SECOND, "counters.unended", 5, 1);
	/* Averages are not read, and their end tells that all before it was had. */
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n\nAverage:  eth0  5.00  0.00  0.00", ETH0_5 ONE_SECOND, NULL, 0, 0);
	assert_left_out(BANNER("2026-11-30") "10:00:00" EDEV "10:00:01  eth0  5.00  0.00  0.00\n\nAverage:  eth0  5.0", ETH0_5 ONE_SECOND, "counters.unended", 6, 1);
#undef FOUR
}

/* The same where times stand in the rows: milliseconds of 13 digits, brackets, and rows whose last number nothing closes. */
static void test_the_last_number_of_other_texts(void **state)
{
	(void)state;
#define POINT(value, second) "node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} " value " 17960328" second "000"
#define GREW "node-a: tcp.RetransSegs 0+1000 1\n"
	assert_left_out(POINT("76", "00") "\n" POINT("77", "01"), GREW, NULL, 0, 0);
	assert_left_out(POINT("76", "00") "\n" POINT("77", "01") "\n" POINT("79", "02") "\n", GREW "node-a: tcp.RetransSegs 1000+1000 2\n", NULL, 0, 0);
	assert_left_out(POINT("76", "00") "\n" POINT("77", "01") "\n" "node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} 79 179603280", GREW, "counters.unended", 3, 1);
	assert_left_out("node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} =>\n76 @[1796032800]\n77 @[1796032801]", GREW, NULL, 0, 0);
	assert_left_out("node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} =>\n76 @[1796032800]\n77 @[1796032801]\n79 @[17960328", GREW, "counters.unended", 4, 1);
#undef POINT
#undef GREW
	/* loopstats: day, second, offset. */
	assert_left_out("61374 36000.000 0.000123000 -3.340 0.000001 0.000002 6\n61374 36064.000 0.000456000 -3.340 0.000001 0.000002 6\n",
			"offset 0+0 -123us\noffset 64000+0 -456us\n", NULL, 0, 0);
	assert_left_out("61374 36000.000 0.000123000 -3.340 0.000001 0.000002 6\n61374 36064.000 0.000456000 -3.340 0.000001 0.0000",
			"offset 0+0 -123us\n", "counters.unended", 2, 1);
}

/* ---- sadf ---- */

static void test_sadf_in_columns(void **state)
{
	(void)state;
	assert_tells("# hostname;interval;timestamp;active/s;passive/s;iseg/s;oseg/s\nnode-a;2;2026-11-30 10:00:02 UTC;0.00;0.00;1.00;10.50\n"
		     "# hostname;interval;timestamp;atmptf/s;estres/s;retrans/s;isegerr/s;orsts/s\nnode-a;2;2026-11-30 10:00:02 UTC;0.00;0.00;1.50;0.00;0.00\n"
		     "node-a;-1;2026-11-30 10:00:03 UTC;LINUX-RESTART\t(2 CPU)\n",
		     "node-a: tcp.OutSegs 0+2000 21\nnode-a: tcp.RetransSegs 0+2000 3\nnode-a: covered snmp 0+2000 x2 namespace\n");
	/* Seconds since 1970; all CPUs are -1. */
	assert_tells("# hostname;interval;timestamp;CPU;total/s;dropd/s;squeezd/s;rx_rps/s;flw_lim/s;blg_len\nnode-a;1;1796032801;-1;9.00;2.00;0.00;0.00;0.00;0\n",
		     "node-a: softnet.dropped 0+1000 2\nnode-a: covered softnet 0+1000 x2 host\n");
	/* One figure a line. */
	assert_tells("node-a\t1\t2026-11-30 10:00:01 UTC\teth0\trxerr/s\t3.00\nnode-a\t1\t2026-11-30 10:00:01 UTC\teth0\ttxerr/s\t0.00\n",
		     "node-a: interface.rx_errors eth0 0+1000 3\nnode-a: covered interface 0+1000 x2 namespace\n");
}

#define STATISTICS(time, retrans)                                                                                      \
	"{\"timestamp\": {\"date\": \"2026-11-30\", \"time\": \"" time "\", \"utc\": 1, \"interval\": 1},\n"           \
	"\"network\": {\"net-edev\": [{\"iface\": \"lo\", \"rxerr\": 0.00}, {\"iface\": \"eth0\", \"rxerr\": 2.00}],"    \
	"\"net-tcp\": {\"active\": 0.00, \"oseg\": 100.00}, \"net-etcp\": {\"retrans\": " retrans "},\n"                \
	"\"softnet\": [{\"cpu\": \"all\", \"total\": 9.00, \"dropd\": 1.00, \"squeezd\": 0.00}]}}"
#define SADF_J(body) "{\"sysstat\": {\"hosts\": [{\"nodename\": \"node-a\", \"statistics\": [" body "]}]}}\n"

static void test_sadf_as_json(void **state)
{
	(void)state;
	assert_tells(SADF_J(STATISTICS("10:00:01", "2.97")),
		     "node-a: interface.rx_errors eth0 0+1000 2\nnode-a: tcp.OutSegs 0+1000 100\nnode-a: tcp.RetransSegs 0+1000 3\n"
		     "node-a: softnet.dropped 0+1000 1\nnode-a: covered softnet 0+1000 x2 host\n"
		     "node-a: covered snmp 0+1000 x2 namespace\nnode-a: covered interface 0+1000 x2 namespace\n");
	/* Cut in the middle: what came before is good. */
	struct kit *k = read_named("{\"sysstat\": {\"hosts\": [{\"nodename\": \"node-a\", \"statistics\": [" STATISTICS("10:00:01", "0.00") ", {\"timest", "x");
	assert_int_equal(kit_problems(k, "counters.damaged"), 1);
	assert_int_equal(k->info.records, 1);
	kit_free(k);
}

/* "-h": all of one time in one row, each device behind the other. */
static void test_sadf_with_all_devices_in_a_row(void **state)
{
	static const char heading[] = "# hostname;interval;timestamp;oseg/s;IFACE;rxpck/s;txpck/s[...];IFACE;rxerr/s;txerr/s[...];CPU;total/s;dropd/s;blg_len[...];retrans/s\n";
	char text[1024];

	(void)state;
	snprintf(text, sizeof text, "%snode-a;1;2026-11-30 10:00:01 UTC;9.00;lo;1.00;1.00;eth0;7.00;8.00;lo;0.00;0.00;eth0;3.00;4.00;-1;50.00;6.00;0;0;50.00;6.00;0;5.00\n", heading);
	assert_tells(text, "node-a: tcp.OutSegs 0+1000 9\nnode-a: interface.rx_packets lo 0+1000 1\nnode-a: interface.tx_packets lo 0+1000 1\n"
			   "node-a: interface.rx_packets eth0 0+1000 7\nnode-a: interface.tx_packets eth0 0+1000 8\n"
			   "node-a: interface.rx_errors eth0 0+1000 3\nnode-a: interface.tx_errors eth0 0+1000 4\n"
			   "node-a: softnet.dropped 0+1000 6\nnode-a: tcp.RetransSegs 0+1000 5\n"
			   "node-a: covered softnet 0+1000 x2 host\nnode-a: covered snmp 0+1000 x2 namespace\nnode-a: covered interface 0+1000 x2 namespace\n");
	/* A row that lost its end, and one that lost a value: where they belong is not known. */
	snprintf(text, sizeof text, "%snode-a;1;2026-11-30 10:00:01 UTC;9.00;lo;1.00;1.00;eth0;7.0\nnode-a;1;2026-11-30 10:00:02 UTC;9.00;lo;1.00;lo;0.00;0.00;-1;50.00;6.00;0;5.00\n", heading);
	struct kit *k = read_named(text, "x");
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.torn"), 1);
	assert_int_equal(kit_problem(k, "counters.torn")->place.number, 2);
	assert_int_equal(k->info.skipped, 2);
	kit_free(k);
}

#define ELEMENTS(time, utc, retrans)                                                                                     \
	"\t\t\t<timestamp date=\"2026-11-30\" time=\"" time "\" utc=\"" utc "\" interval=\"1\">\n\t\t\t\t<network per=\"second\">\n" \
	"<net-edev iface=\"lo\" rxerr=\"0.00\"/><net-edev iface=\"eth0\" rxerr=\"2.00\"/>\n"                              \
	"<net-tcp active=\"0.00\" oseg=\"100.00\"/><net-etcp retrans=\"" retrans "\"/>\n"                                 \
	"<softnet cpu=\"all\" total=\"9.00\" dropd=\"1.00\"/><softnet cpu=\"0\" total=\"9.00\" dropd=\"1.00\"/>\n"        \
	"\t\t\t\t</network>\n\t\t\t</timestamp>\n"
#define SADF_X(body)                                                                                                       \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE sysstat PUBLIC \"DTD v3.11 sysstat //EN\"\n\"http://example.com/sysstat-3.11.dtd\">\n" \
	"<sysstat\nxmlns=\"http://example.com/sysstat\">\n\t<sysdata-version>3.11</sysdata-version>\n\t<host nodename=\"node-a\">\n" \
	"\t\t<sysname>Linux</sysname>\n\t\t<statistics>\n" body

static void test_sadf_as_xml(void **state)
{
	static const char end[] = "\t\t</statistics>\n\t\t<restarts>\n<boot date=\"2026-11-30\" time=\"10:00:05\" utc=\"1\"/>\n\t\t</restarts>\n"
				  /* What no time stands before. */
				  "<net-etcp retrans=\"9.00\"/>\n\t</host>\n</sysstat>\n";
	static const char told[] = "node-a: interface.rx_errors eth0 0+1000 2\nnode-a: tcp.OutSegs 0+1000 100\nnode-a: tcp.RetransSegs 0+1000 3\n"
				   "node-a: softnet.dropped 0+1000 1\nnode-a: covered softnet 0+1000 x2 host\n"
				   "node-a: covered snmp 0+1000 x2 namespace\nnode-a: covered interface 0+1000 x2 namespace\n";
	char text[4096];

	(void)state;
	snprintf(text, sizeof text, "%s%s", SADF_X("<!-- a comment with a <timestamp> in it -->\n" ELEMENTS("10:00:01", "1", "2.97")), end);
	assert_tells(text, told);
	/* The viewer's time (-T) is that of the input's zone. */
	snprintf(text, sizeof text, "%s%s", SADF_X(ELEMENTS("18:00:01", "0", "2.97")), end);
	struct kit *k = kit_new();
	struct ingest in = kit_ingest(k, sv_of(text), "x", NULL);
	in.zone = (struct zone){ .offset_s = 8 * 3600 };
	assert_int_equal(counters_kind.read(&in), 0);
	assert_events(k, told);
	arena_free(in.record);
	kit_free(k);
	/* Cut in the middle: what came before is good. */
	k = read_named(SADF_X(ELEMENTS("10:00:01", "1", "0.00") "<timestamp date=\"2026-"), "x");
	assert_int_equal(kit_problems(k, "counters.damaged"), 1);
	assert_int_equal(k->info.records, 1);
	kit_free(k);
	/* Other XML is none of it. */
	const char *why = "";
	assert_int_equal(counters_kind.sniff(SV("<?xml version=\"1.0\"?>\n<testsuite name=\"sysstat\"/>\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
}

/* ---- Prometheus ---- */

#define MATRIX(body) "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" body "]}}"
#define SERIES(name, labels, values) "{\"metric\":{\"__name__\":\"" name "\",\"instance\":\"node-a:9100\"" labels ",\"job\":\"node\"},\"values\":[" values "]}"

static void test_query_range(void **state)
{
	(void)state;
	/* Values are texts; a restart of the host is a fall of the counter. */
	assert_tells(MATRIX(SERIES("node_netstat_Tcp_OutSegs", "", "[1796032800,\"100\"],[1796032815,\"150\"],[1796032830.5,\"1.5e+02\"]") ","
			    SERIES("node_netstat_Tcp_RetransSegs", "", "[1796032800,\"77\"],[1796032815,\"80\"],[1796032830.5,\"2\"]") ","
			    SERIES("node_load1", "", "[1796032800,\"0.1\"]")),
		     "node-a: tcp.OutSegs 0+15000 50\nnode-a: tcp.RetransSegs 0+15000 3\nnode-a: covered snmp 0+30500 x3 namespace\n");
	/* Each CPU is a series, and the coverage that of the machine. */
	assert_tells(MATRIX(SERIES("node_softnet_dropped_total", ",\"cpu\":\"0\"", "[1796032800,\"0\"],[1796032801,\"2\"]") ","
			    SERIES("node_softnet_dropped_total", ",\"cpu\":\"1\"", "[1796032800,\"5\"],[1796032801,\"5\"]")),
		     "node-a: softnet.dropped cpu=0 0+1000 2\nnode-a: covered softnet 0+1000 x2 host\n");
	/* Gauges of a pair: full at the second point. */
	assert_tells(MATRIX(SERIES("node_nf_conntrack_entries", "", "[1796032800,\"9\"],[1796032801,\"10\"]") ","
			    SERIES("node_nf_conntrack_entries_limit", "", "[1796032800,\"10\"],[1796032801,\"10\"]")),
		     "node-a: conntrack.full 0+1000 1\nnode-a: covered conntrack_table 0+1000 x2 namespace\n");
	/* The container of a pod. */
	assert_tells(MATRIX("{\"metric\":{\"__name__\":\"container_cpu_cfs_throttled_seconds_total\",\"pod\":\"refunds-7\",\"container\":\"app\"},"
			    "\"values\":[[1796032800,\"1.5\"],[1796032810,\"9.25\"]]}"),
		     "refunds-7: cpu.throttled_us refunds-7/app 0+10000 7750000\nrefunds-7: covered cpu_quota 0+10000 x2 cgroup\n");
}

static void test_rates_have_to_be_declared(void **state)
{
	static const char text[] = MATRIX("{\"metric\":{\"cpu\":\"0\",\"instance\":\"node-a:9100\"},\"values\":[[1796032800,\"0\"],[1796032802,\"2.5\"]]}");
	struct kit *k = read_named(text, "rate.json");

	(void)state;
	assert_events(k, "");
	assert_int_equal(kit_problems(k, "counters.unnamed"), 1);
	kit_free(k);
	/* 2.5 a second, over two seconds. */
	k = read_named(text, "rate_node_softnet_times_squeezed_total.json");
	assert_events(k, "node-a: softnet.time_squeeze cpu=0 0+2000 5\n");
	kit_free(k);
	/* A recording rule's name speaks of the metric and of a rate. */
	assert_tells(MATRIX(SERIES("instance:node_softnet_dropped_total:rate1m", "", "[1796032800,\"0\"],[1796032802,\"2.5\"]")),
		     "node-a: softnet.dropped 0+2000 5\nnode-a: covered softnet 0+2000 x2 host\n");
}

static void test_promtool_and_federate(void **state)
{
	(void)state;
	assert_tells("node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\", job=\"node\"} =>\n77 @[1796032800]\n77 @[1796032802]\n80 @[1796032804.5]\n",
		     "node-a: tcp.RetransSegs 2000+2500 3\n");
	assert_tells("# TYPE node_netstat_Tcp_RetransSegs untyped\nnode_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} 77 1796032800000\n"
		     "node_netstat_Tcp_RetransSegs{instance=\"node-b:9100\"} 10 1796032800000\n"
		     "node_netstat_Tcp_RetransSegs{instance=\"node-a:9100\"} 79 1796032815000\n",
		     "node-a: tcp.RetransSegs 0+15000 2\n");
}

static void test_a_matrix_cut_in_the_middle(void **state)
{
	struct kit *k = read_named("{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":\"node_softnet_dropped_total\",\"cpu\":\"0\","
				   "\"instance\":\"a:1\"},\"values\":[[1796032800,\"0\"],[1796032801,\"2\"],[17960", "x");

	(void)state;
	assert_events(k, "a: softnet.dropped cpu=0 0+1000 2\na: covered softnet 0+1000 x2 host\n");
	assert_int_equal(kit_problems(k, "counters.damaged"), 1);
	kit_free(k);
}

/* ---- logs of time daemons ---- */

static void test_logs_of_chronyd_and_ntpd(void **state)
{
	(void)state;
	/* Positive is fast. Half of 15.34 ms, 0.3472 ms, and the 0.2084 ms that were left to correct: 8.2256 ms. */
	assert_tells("===============================================================================\n"
		     "   Date (UTC) Time     IP Address   St   Freq ppm   Skew ppm     Offset L Co  Offset sd Rem. corr. Root delay Root disp. Max. error\n"
		     "===============================================================================\n"
		     "2026-11-30 10:00:00 203.0.113.15     2     -3.541      0.075  8.621e-06 N  2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n",
		     "offset 0+0 9us +-8225us\n");
	/* A clock that follows none says nothing of true time; an access log is none of these. */
	assert_tells("2026-11-30 10:00:00 203.0.113.15     2     -3.541      0.075  8.621e-06 ?  2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n", "");
	const char *why = "";
	assert_int_equal(counters_kind.sniff(SV("2026-11-30 10:00:00 203.0.113.15 GET /a 200 512 0.25 - - x y\n"), SV("x"), NULL, &why), SNIFF_NOT_MINE);
	/* Positive is slow. Half of 229.6 ms and 15.77 us. */
	assert_tells("2026-11-30 10:00:00 203.0.113.15    N  2 111 111 1111  10 10 1.0  -4.966e-03  2.296e-01  1.577e-05  1.615e-01  7.446e-03 CB00717B 4B D K\n",
		     "offset 0+0 4966us +-114816us\n");
	/* The day 61374 is 2026-11-30 (20787 days after 1970-01-01, which is 40587); 36000 s is 10:00. Positive is slow. */
	assert_tells("61374 36000.500 0.000006019 13.778190 0.000351733 0.0133806 4\n", "offset 500+0 -6us\n");
	assert_tells("61374 36000.000 192.0.2.1 9714 -0.001605376 0.010000000 0.001424877 0.000958674\n", "offset 0+0 1605us +-6425us\n");
}

/* ---- what stands behind a document ---- */

static void assert_behind(const char *text, const char *expected, const char *code, uint64_t line, uint64_t byte_offset)
{
	struct kit *k = read_named(text, "x.json");
	static const char *const codes[] = { "counters.stray", "counters.unlike", "counters.damaged" };

	assert_events(k, expected);
	for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
		assert_int_equal(kit_problems(k, codes[i]), code != NULL && strcmp(code, codes[i]) == 0);
	if (code != NULL) {
		assert_int_equal(kit_problem(k, code)->severity, SEVERITY_WARNING);
		assert_int_equal(kit_problem(k, code)->place.number, line);
		assert_int_equal(kit_problem(k, code)->place.byte_offset, byte_offset);
	}
	kit_free(k);
}

static void test_answers_one_after_the_other(void **state)
{
#define ONE MATRIX(SERIES("node_netstat_Tcp_RetransSegs", "", "[1796032800,\"76\"],[1796032801,\"77\"]"))
#define TWO MATRIX(SERIES("node_softnet_dropped_total", ",\"cpu\":\"0\"", "[1796032800,\"5\"],[1796032801,\"9\"]"))
#define OF_ONE "node-a: tcp.RetransSegs 0+1000 1\n"
#define OF_BOTH OF_ONE "node-a: softnet.dropped cpu=0 0+1000 4\nnode-a: covered softnet 0+1000 x2 host\n"
	(void)state;
	/* curl in a loop: the server writes no line feed. All answers are read, and nothing is to be said. */
	assert_behind(ONE, OF_ONE, NULL, 0, 0);
	assert_behind(ONE TWO, OF_BOTH, NULL, 0, 0);
	assert_behind(ONE "\n" TWO "\n", OF_BOTH, NULL, 0, 0);
	assert_behind(ONE MATRIX(""), OF_ONE, NULL, 0, 0);
	/* What curl says between them, and what else stands behind. */
	assert_behind(ONE "\ncurl: (7) Failed to connect\n" TWO "\n", OF_BOTH, "counters.stray", 2, sizeof ONE);
	assert_behind(ONE "garbage", OF_ONE, "counters.stray", 1, sizeof ONE - 1);
	assert_behind(ONE "}", OF_ONE, "counters.stray", 1, sizeof ONE - 1);
	/* An answer that tells of an error, and another document. */
	assert_behind(ONE "\n{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"query timed out\"}\n" TWO, OF_BOTH, "counters.unlike", 2, sizeof ONE);
	assert_behind(ONE "[1,2]", OF_ONE, "counters.unlike", 1, sizeof ONE - 1);
#undef ONE
#undef TWO
#undef OF_ONE
#undef OF_BOTH
}

static void test_sadf_documents_one_after_the_other(void **state)
{
#define ONE "{\"sysstat\": {\"hosts\": [{\"nodename\": \"node-a\", \"statistics\": [{\"timestamp\": {\"date\": \"2026-11-30\", \"time\": \"10:00:01\", \"utc\": 1, \"interval\": 1}, \"network\": {\"net-etcp\": {\"retrans\": 3.00}}}]}]}}\n"
#define TWO "{\"sysstat\": {\"hosts\": [{\"nodename\": \"node-b\", \"statistics\": [{\"timestamp\": {\"date\": \"2026-11-30\", \"time\": \"10:00:01\", \"utc\": 1, \"interval\": 1}, \"network\": {\"net-etcp\": {\"retrans\": 5.00}}}]}]}}\n"
#define OF_ONE "node-a: tcp.RetransSegs 0+1000 3\n"
#define OF_BOTH OF_ONE "node-b: tcp.RetransSegs 0+1000 5\n"
	(void)state;
	assert_behind(ONE, OF_ONE, NULL, 0, 0);
	assert_behind(ONE TWO, OF_BOTH, NULL, 0, 0);
	assert_behind(ONE "Cannot open /var/log/sysstat/sa01\n" TWO, OF_BOTH, "counters.stray", 2, sizeof ONE - 1);
	assert_behind(ONE "{\"hosts\": []}\n" TWO, OF_BOTH, "counters.unlike", 2, sizeof ONE - 1);
#undef ONE
#undef TWO
#define ONE SADF_X(ELEMENTS("10:00:01", "1", "3.00")) "\t\t</statistics>\n\t</host>\n</sysstat>\n"
#define TOLD "node-a: interface.rx_errors eth0 0+1000 2\nnode-a: tcp.OutSegs 0+1000 100\nnode-a: tcp.RetransSegs 0+1000 3\n" \
	     "node-a: softnet.dropped 0+1000 1\nnode-a: covered softnet 0+1000 x2 host\n" \
	     "node-a: covered snmp 0+1000 x2 namespace\nnode-a: covered interface 0+1000 x2 namespace\n"
	assert_behind(ONE, TOLD, NULL, 0, 0);
	assert_behind(ONE "<?xml version=\"1.0\"?>\n<sysstat></sysstat>\n", TOLD, NULL, 0, 0);
	size_t lines = 1;
	for (const char *p = ONE; *p != '\0'; p++)
		lines += *p == '\n';
	assert_behind(ONE "garbage\n", TOLD, "counters.stray", lines, sizeof ONE - 1);
	assert_behind(ONE "<html></html>\n", TOLD, "counters.unlike", lines, sizeof ONE - 1);
#undef ONE
#undef TOLD
#undef OF_ONE
#undef OF_BOTH
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sar_text),
		cmocka_unit_test(test_dates_of_sar_in_the_locales),
		cmocka_unit_test(test_a_date_of_two_readings),
		cmocka_unit_test(test_a_date_with_the_year_first),
		cmocka_unit_test(test_hours_without_a_half_of_the_day),
		cmocka_unit_test(test_sar_past_midnight_and_restarts),
		cmocka_unit_test(test_the_folder_names_the_host_of_sar),
		cmocka_unit_test(test_times_of_sar_in_the_locales),
		cmocka_unit_test(test_sar_that_cannot_be_placed_says_so),
		cmocka_unit_test(test_torn_rows_of_sar_are_told_once),
		cmocka_unit_test(test_a_row_of_sar_cut_down_to_its_device),
		cmocka_unit_test(test_a_heading_of_sar_cut_down_to_a_word),
		cmocka_unit_test(test_sar_with_the_device_last),
		cmocka_unit_test(test_the_last_figure_of_sysstat),
		cmocka_unit_test(test_the_last_number_of_other_texts),
		cmocka_unit_test(test_sadf_in_columns),
		cmocka_unit_test(test_sadf_with_all_devices_in_a_row),
		cmocka_unit_test(test_sadf_as_xml),
		cmocka_unit_test(test_sadf_as_json),
		cmocka_unit_test(test_query_range),
		cmocka_unit_test(test_rates_have_to_be_declared),
		cmocka_unit_test(test_promtool_and_federate),
		cmocka_unit_test(test_a_matrix_cut_in_the_middle),
		cmocka_unit_test(test_answers_one_after_the_other),
		cmocka_unit_test(test_sadf_documents_one_after_the_other),
		cmocka_unit_test(test_logs_of_chronyd_and_ntpd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
