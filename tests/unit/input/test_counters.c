/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "input/kind.h"
#include "input/stream.h"

/* ---- one reading, and what it gave ---- */

struct seen {
	struct event event;
	char counter[64];
	char kind[32];
};

struct run {
	struct arena *arena;
	struct diag *diag;
	struct input_info info;
	struct seen seen[64];
	size_t count;
	int rc;
};

static int collect(void *context, const struct event *e)
{
	struct run *run = context;
	struct seen *s = &run->seen[run->count];

	assert_true(run->count < sizeof run->seen / sizeof run->seen[0]);
	run->count++;
	s->event = *e;
	snprintf(s->counter, sizeof s->counter, "%.*s", SV_ARG(event_text(e, FIELD_COUNTER)));
	snprintf(s->kind, sizeof s->kind, "%.*s", SV_ARG(event_text(e, FIELD_EVIDENCE_KIND)));
	return 0;
}

static void read_text(struct run *run, const char *text)
{
	*run = (struct run){ .arena = arena_new(), .info = { .id = 7, .host = SV("node-a") } };
	run->diag = diag_new(run->arena);
	struct ingest in = {
		.stream = stream_of(run->arena, sv_of(text)),
		.info = &run->info,
		.sink = { collect, run },
		.diag = run->diag,
		.record = run->arena,
		.input = run->arena,
	};
	run->rc = counters_kind.read(&in);
	assert_int_equal(run->rc, 0);
}

static size_t how_many(const struct run *run, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < run->count; i++)
		n += run->seen[i].event.type == type;
	return n;
}

/* It must be there. */
static const struct seen *nth(const struct run *run, enum event_type type, size_t n)
{
	size_t i = 0;

	assert_true(n < how_many(run, type));
	while (run->seen[i].event.type != type || n-- > 0)
		i++;
	return &run->seen[i];
}

/* 2026-11-30T10:00:00Z; see each text's clock lines. */
#define TEN INT64_C(1796032800000000)

static void assert_delta(const struct run *run, size_t n, const char *counter, int64_t cpu, int64_t start_ms,
			 int64_t length_ms, int64_t delta, uint64_t line)
{
	const struct seen *s = nth(run, EVENT_COUNTER_DELTA, n);

	assert_string_equal(s->counter, counter);
	assert_int_equal(event_has(&s->event, FIELD_CPU), cpu >= 0);
	if (cpu >= 0)
		assert_int_equal(s->event.value[FIELD_CPU].number, cpu);
	assert_int_equal(s->event.time.us, TEN + start_ms * 1000);
	assert_int_equal(s->event.duration_us, length_ms * 1000);
	assert_int_equal(s->event.value[FIELD_DELTA].number, delta);
	assert_int_equal(s->event.place.unit, PLACE_LINE);
	assert_int_equal(s->event.place.number, line);
	assert_int_equal(s->event.place.input, 7);
}

static void assert_covered(const struct run *run, size_t n, const char *kind, int64_t start_ms, int64_t end_ms,
			   int64_t samples)
{
	const struct seen *s = nth(run, EVENT_COVERED, n);

	assert_string_equal(s->kind, kind);
	assert_int_equal(s->event.time.us, TEN + start_ms * 1000);
	assert_int_equal(s->event.duration_us, (end_ms - start_ms) * 1000);
	assert_int_equal(s->event.value[FIELD_SAMPLES].number, samples);
}

static const struct problem *find_problem(const struct run *run, const char *code)
{
	for (size_t i = 0; i < diag_count(run->diag); i++)
		if (sv_eq(diag_at(run->diag, i)->code, sv_of(code)))
			return diag_at(run->diag, i);
	return NULL;
}

static void assert_problem(const struct run *run, const char *code, enum severity severity, uint64_t line)
{
	const struct problem *p = find_problem(run, code);

	if (p == NULL) {
		fail_msg("no problem %s", code);
		return;
	}
	assert_int_equal(p->severity, severity);
	assert_int_equal(p->place.number, line);
}

static void done(struct run *run)
{
	arena_free(run->arena);
}

/* ---- rows ---- */

#define Z "00000000 "
#define Z6 Z Z Z Z Z Z
/* The fields 4 to 9 are zeros; 10 is received_rps. */
#define SOFTNET10(processed, dropped, squeeze) processed " " dropped " " squeeze " " Z6 "00000000\n"
#define SOFTNET11(processed, dropped, squeeze, limit) processed " " dropped " " squeeze " " Z6 Z limit "\n"
#define SOFTNET13(processed, dropped, squeeze, limit, cpu)                                                             \
	processed " " dropped " " squeeze " " Z6 Z limit " 00000000 " cpu "\n"
#define SOFTNET15(processed, dropped, squeeze, cpu)                                                                    \
	processed " " dropped " " squeeze " " Z6 Z Z Z cpu " 00000000 00000000\n"

static void test_softnet_growth_is_given_per_cpu(void **state)
{
	struct run run;

	(void)state;
	/* CPUs 0 and 2 are online: the row's number is not the CPU. */
	read_text(&run,
		  "2026-11-30 10:00:00.000+00:00\n" SOFTNET15("00000100", "0000000a", "00000000", "00000000") SOFTNET15(
			  "00000200", "00000000", "00000001",
			  "00000002") "2026-11-30 10:00:01.000+00:00\n" SOFTNET15("00000110", "0000001a", "00000000",
										  "00000000")
			  SOFTNET15("00000210", "00000000", "00000011",
				    "00000002") "2026-11-30 10:00:02.500+00:00\n" SOFTNET15("00000120", "0000001a",
											    "00000000", "00000000")
				  SOFTNET15("00000220", "00000000", "00000012", "00000002"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 3); /* nothing for zero growth, nothing for processed */
	assert_delta(&run, 0, "softnet.dropped", 0, 0, 1000, 16, 5);
	assert_delta(&run, 1, "softnet.time_squeeze", 2, 0, 1000, 16, 6);
	assert_delta(&run, 2, "softnet.time_squeeze", 2, 1000, 1500, 1, 9);
	assert_int_equal(how_many(&run, EVENT_COVERED), 1);
	assert_covered(&run, 0, "softnet", 0, 2500, 3);
	assert_int_equal(run.info.records, 3);
	assert_int_equal(diag_count(run.diag), 0);
	assert_true(sv_eq(run.info.format, SV("softnet_stat")));
	done(&run);
}

static void test_softnet_columns_by_their_number(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\n" SOFTNET10("00000001", "00000000", "00000000") "1796032801\n" SOFTNET10(
				"00000001", "00000002", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.dropped", 0, 0, 1000, 2, 4);
	done(&run);

	read_text(&run,
		  "1796032800.5\n" SOFTNET11("00000001", "00000000", "00000000", "00000000") "1796032801.5\n" SOFTNET11(
			  "00000001", "00000000", "00000000", "00000003"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.flow_limit", 0, 500, 1000, 3, 4);
	done(&run);

	read_text(&run,
		  "1796032800\n" SOFTNET13("00000001", "00000000", "00000000", "00000000",
					   "00000005") "1796032801\n" SOFTNET13("00000001", "00000000", "00000007",
										"00000000", "00000005"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.time_squeeze", 5, 0, 1000, 7, 4);
	done(&run);
}

static void test_a_wrap_is_growth_and_a_reset_is_not(void **state)
{
	struct run run;

	(void)state;
	read_text(&run,
		  "1796032800\n" SOFTNET15("00000001", "fffffffe", "00000000", "00000000") "1796032801\n" SOFTNET15(
			  "00000001", "00000003", "00000000", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.dropped", 0, 0, 1000, 5, 4);
	assert_null(find_problem(&run, "counters.reset"));
	done(&run);

	/* 0x20 -> 3 as a wrap would be four thousand million packets in a second. */
	read_text(&run,
		  "1796032800\n" SOFTNET15("00000001", "00000020", "00000000", "00000000") "1796032801\n" SOFTNET15(
			  "00000001", "00000003", "00000009",
			  "00000000") "1796032802\n" SOFTNET15("00000001", "00000004", "00000009", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1); /* the squeezes of the lost interval neither */
	assert_delta(&run, 0, "softnet.dropped", 0, 1000, 1000, 1, 6);
	assert_problem(&run, "counters.reset", SEVERITY_NOTE, 4);
	assert_int_equal(how_many(&run, EVENT_COVERED), 1);
	assert_covered(&run, 0, "softnet", 1000, 2000, 2);
	done(&run);
}

static void test_rows_that_shift_say_nothing(void **state)
{
	struct run run;

	(void)state;
	/* A CPU went offline; without the CPU's column the second row of the first sample is the first of the second.
	 */
	read_text(&run, "1796032800\n" SOFTNET10("00000001", "00000000", "00000000")
				SOFTNET10("00000002", "00000009",
					  "00000000") "1796032801\n" SOFTNET10("00000003", "00000009", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0);
	assert_problem(&run, "counters.rows_changed", SEVERITY_NOTE, 5);
	done(&run);

	/* With it, the CPU that stayed goes on counting. */
	read_text(&run, "1796032800\n" SOFTNET15("00000001", "00000000", "00000000", "00000000")
				SOFTNET15("00000002", "00000009", "00000000", "00000001") "1796032801\n" SOFTNET15(
					"00000003", "0000000b", "00000000", "00000001"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.dropped", 1, 0, 1000, 2, 5);
	done(&run);
}

static void test_damaged_rows_are_counted_with_their_line(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\n" SOFTNET15("00000001", "00000000", "00000000", "00000000")
				SOFTNET15("00000001", "00000000", "00000000",
					  "00000001") "1796032801\n"
						      "00000001 00000005 00000000 000\n" SOFTNET15(
							      "00000001", "00000004", "00000000", "00000001"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0); /* its neighbours' width was not known yet */
	assert_problem(&run, "counters.damaged", SEVERITY_WARNING, 5);
	done(&run);

	read_text(&run,
		  "1796032800\n" SOFTNET15("00000001", "00000000", "00000000", "00000000")
			  SOFTNET15("00000001", "00000000", "00000000", "00000001") "1796032801\n" SOFTNET15(
				  "00000001", "00000005", "00000000", "00000000") "00000001 00000004 00000000 000\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1); /* the good row stands: it names its CPU */
	assert_delta(&run, 0, "softnet.dropped", 0, 0, 1000, 5, 5);
	assert_int_equal(run.info.skipped, 1);
	done(&run);
}

/* ---- conntrack ---- */

#define HEADER_C                                                                                                       \
	"entries  clashres found new invalid ignore delete delete_list insert insert_failed drop early_drop "          \
	"icmp_error  expect_new expect_create expect_delete search_restart\n"
#define HEADER_A                                                                                                       \
	"entries  searched found new invalid ignore delete delete_list insert insert_failed drop early_drop "          \
	"icmp_error  expect_new expect_create expect_delete\n"
#define ROW_C(failed, drop, early) "00000008  " Z6 Z Z failed " " drop " " early " 00000000  " Z Z Z "00000000\n"
#define ROW_A(failed, drop, early) "00000008  " Z6 Z Z failed " " drop " " early " 00000000  " Z Z "00000000\n"

static void test_conntrack_columns_by_header(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\n8 262144\n" HEADER_C ROW_C("00000000", "00000000", "00000000")
				ROW_C("00000000", "00000001", "00000000") "1796032801\n8 6\n" HEADER_C ROW_C(
					"00000002", "00000000", "00000000") ROW_C("00000000", "0000000d", "00000001"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 4);
	assert_delta(&run, 0, "conntrack.insert_failed", 0, 0, 1000, 2, 9);
	assert_delta(&run, 1, "conntrack.drop", 1, 0, 1000, 12, 10);
	assert_delta(&run, 2, "conntrack.early_drop", 1, 0, 1000, 1, 10);
	/* Count and limit: the table has as many entries, and the second sample more than it holds. */
	assert_delta(&run, 3, "conntrack.full", -1, 0, 1000, 1, 7);
	assert_covered(&run, 0, "conntrack", 0, 1000, 2);
	assert_covered(&run, 1, "conntrack_table", 0, 1000, 2);
	assert_int_equal(run.info.unrecognized, 0);
	assert_int_equal(diag_count(run.diag), 0);
	done(&run);

	read_text(&run, "1796032800\n" HEADER_A ROW_A("00000000", "00000000", "00000000") "1796032801\n" HEADER_A ROW_A(
				"00000000", "00000000", "00000004"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "conntrack.early_drop", 0, 0, 1000, 4, 6);
	done(&run);

	/* A row as wide as softnet_stat's below the header of conntrack is a damaged row, not a CPU's. */
	read_text(&run,
		  "1796032800\n" HEADER_C ROW_C("00000000", "00000000", "00000000") "1796032801\n" HEADER_C SOFTNET15(
			  "00000001", "00000005", "00000000", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0);
	assert_problem(&run, "counters.damaged", SEVERITY_WARNING, 6);
	done(&run);
}

static void test_conntrack_tool_stands_in_for_the_file(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\ncpu=0   \tfound=0 insert_failed=0 drop=0 early_drop=0 chaintoolong=0 \n"
			"1796032801\ncpu=0   \tfound=9 insert_failed=0 drop=12 early_drop=0 chaintoolong=3 \n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 2);
	assert_delta(&run, 0, "conntrack.drop", 0, 0, 1000, 12, 4);
	assert_delta(&run, 1, "conntrack.chaintoolong", 0, 0, 1000, 3, 4);
	done(&run);

	/* Both in one round: counted once. */
	read_text(&run, "1796032800\n" HEADER_C ROW_C("00000000", "00000000",
						      "00000000") "cpu=0\tdrop=0\n"
								  "1796032801\n" HEADER_C ROW_C(
									  "00000000", "00000002",
									  "00000000") "cpu=0\tdrop=3\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "conntrack.drop", 0, 0, 1000, 2, 7);
	assert_int_equal(diag_count(run.diag), 0);
	done(&run);
}

/* ---- snmp and netstat ---- */

static void test_tcp_counters_by_name(void **state)
{
	struct run run;

	(void)state;
	/* The second kernel has one name more, in front; several files in a round, with separators. */
	read_text(&run, "Mon Nov 30 10:00:00 UTC 2026\n"
			"Ip: Forwarding InReceives\nIp: 1 5\nTcp: MaxConn OutSegs RetransSegs\nTcp: -1 100 4\n-----\n"
			"TcpExt: SyncookiesSent TCPTimeouts ListenDrops\nTcpExt: 0 1 0\n\n"
			"Mon Nov 30 10:00:01 UTC 2026\n"
			"Ip: Forwarding InReceives\nIp: 1 6\nTcp: MaxConn OutSegs RetransSegs\nTcp: -1 150 9\n-----\n"
			"TcpExt: TCPTimeouts SyncookiesSent ListenDrops\nTcpExt: 3 7 0\n\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 3);
	assert_delta(&run, 0, "tcp.OutSegs", -1, 0, 1000, 50, 14);
	assert_delta(&run, 1, "tcp.RetransSegs", -1, 0, 1000, 5, 14);
	assert_delta(&run, 2, "tcpext.TCPTimeouts", -1, 0, 1000, 2, 17);
	assert_covered(&run, 0, "snmp", 0, 1000, 2);
	assert_covered(&run, 1, "netstat", 0, 1000, 2);
	assert_int_equal(run.info.records, 4);
	assert_true(sv_eq(run.info.format, SV("snmp, netstat")));
	assert_int_equal(diag_count(run.diag), 0);
	done(&run);
}

static void test_64_bits_do_not_wrap(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\nTcp: OutSegs\nTcp: 4294967290\n1796032801\nTcp: OutSegs\nTcp: 5\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0);
	assert_problem(&run, "counters.reset", SEVERITY_NOTE, 6);
	done(&run);
}

static void test_damaged_pairs(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\nTcp: OutSegs RetransSegs\nTcp: 100 4\n"
			"1796032801\nTcp: OutSegs RetransSegs\nTcp: 150\n"
			"1796032802\nTcp: 150 5\n"
			"1796032803\nTcp: OutSegs RetransSegs\nTcp: 160 x6\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0);
	assert_problem(&run, "counters.damaged", SEVERITY_WARNING, 6);
	assert_int_equal(run.info.skipped, 3);
	done(&run);
}

/* ---- clocks ---- */

static void test_without_a_clock_no_time_is_invented(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, SOFTNET15("00000001", "00000000", "00000000",
				  "00000000") "1796032800\n" SOFTNET15("00000001", "00000004", "00000000", "00000000"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 0);
	assert_int_equal(how_many(&run, EVENT_COVERED), 0);
	assert_problem(&run, "counters.no_clock", SEVERITY_WARNING, 1);
	assert_int_equal(run.info.skipped, 1);
	assert_problem(&run, "counters.lone_sample", SEVERITY_NOTE, 0);
	done(&run);

	/* The second clock line is in a layout that is not known: its block must not get the first one's time. */
	read_text(
		&run,
		"1796032800\n" SOFTNET15(
			"00000001", "00000000", "00000000",
			"00000000") "30 novembre, dix heures\n" SOFTNET15("00000001", "00000004", "00000000",
									  "00000000") "1796032802\n" SOFTNET15("0000000"
													       "1",
													       "0000000"
													       "9",
													       "0000000"
													       "0",
													       "0000000"
													       "0"));
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "softnet.dropped", 0, 0, 2000, 9, 6);
	assert_problem(&run, "counters.no_clock", SEVERITY_WARNING, 4);
	done(&run);
}

static void test_clock_lines_as_loops_write_them(void **state)
{
	static const char *const clocks[][2] = {
		{ "2026-11-30T10:00:00.000Z", "2026-11-30T10:00:01.000Z" },
		{ "Mon Nov 30 10:00:00 UTC 2026", "Mon Nov 30 10:00:01 UTC 2026" },
		{ "1796032800.000000000", "1796032801.000000000" },
		{ "DATE: 2026-11-30 10:00:00", "DATE: 2026-11-30 10:00:01" },
		{ "### 2026-11-30T11:00:00+01:00 ###", "### 2026-11-30T11:00:01+01:00 ###" },
		{ "ts=1796032800", "ts=1796032801" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct run run;
		char text[512];

		snprintf(text, sizeof text, "%s\nTcp: RetransSegs\nTcp: 1\n%s\nTcp: RetransSegs\nTcp: 2\n",
			 clocks[i][0], clocks[i][1]);
		read_text(&run, text);
		assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
		assert_delta(&run, 0, "tcp.RetransSegs", -1, 0, 1000, 1, 6);
		done(&run);
	}
}

static void test_time_that_goes_back(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032810\nTcp: OutSegs RetransSegs\nTcp: 9 1\n1796032800\nTcp: OutSegs RetransSegs\nTcp: 9 5\n"
			"1796032801\nTcp: OutSegs RetransSegs\nTcp: 9 6\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "tcp.RetransSegs", -1, 0, 1000, 1, 9);
	assert_problem(&run, "counters.time_back", SEVERITY_WARNING, 6);
	assert_covered(&run, 0, "snmp", 0, 1000, 2);
	done(&run);
}

/* A clock that is set back by 5 s while 1.02 s pass: it was 3.98 s less than before when the next sample was taken. */
static void test_the_probe_tells_that_the_clock_was_set(void **state)
{
#define SAMPLE "Tcp: OutSegs RetransSegs\nTcp: 9 1\n"
	struct run run;
	const struct event *e;

	(void)state;
	read_text(&run, "# aftershock probe 0.1.0 host=a interval_ms=1000\n2026-11-30T10:00:10.000000Z\n" SAMPLE
			"2026-11-30T10:00:06.020000Z\n# the clock was set by -5000000 us since the sample before\n"
			"# 1 samples were missed before this one\n" SAMPLE "2026-11-30T10:00:07.020000Z\n" SAMPLE);
	assert_int_equal(how_many(&run, EVENT_CLOCK_STEP), 1);
	e = &nth(&run, EVENT_CLOCK_STEP, 0)->event;
	assert_int_equal(e->value[FIELD_STEP_MICROS].number, -5000000);
	/* 10:00:10 by the clock as it was set is 10:00:05. */
	assert_int_equal(e->time.us, TEN + 5000000);
	assert_int_equal(e->duration_us, 1020000);
	assert_int_equal(e->place.number, 6);
	assert_int_equal(run.info.unrecognized, 0);
	done(&run);

	/* Without a sample before; by more than the times allow; in other words. */
	static const char *const others[] = {
		"2026-11-30T10:00:06Z\n# the clock was set by -5000000 us since the sample before\n" SAMPLE
		"2026-11-30T10:00:07Z\n" SAMPLE,
		"2026-11-30T10:00:06Z\n" SAMPLE
		"2026-11-30T10:00:07Z\n# the clock was set by +5000000 us since the sample before\n" SAMPLE,
		"2026-11-30T10:00:06Z\n" SAMPLE "2026-11-30T10:00:12Z\n# the clock was set by +5 s\n" SAMPLE,
		"2026-11-30T10:00:06Z\n" SAMPLE
		"2026-11-30T10:00:12Z\n# the clock was set by 9e99 us since the sample before\n" SAMPLE,
	};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		read_text(&run, others[i]);
		assert_int_equal(how_many(&run, EVENT_CLOCK_STEP), 0);
		done(&run);
	}
#undef SAMPLE
}

/* The first figure is of before; the last line of a probe that was ended stands below no time of its own. */
static void test_what_the_probes_capture_dropped_is_a_hole(void **state)
{
#define SAMPLE(second, dropped)                                                                                                    \
	"2026-11-30T10:00:0" second "Z\n# capture: 100 packets written, " dropped " dropped by the kernel, 1 by the interface\n"     \
	"Tcp: OutSegs RetransSegs\nTcp: 9 1\n"
#define HEAD "# aftershock probe 0.1.0 host=a interval_ms=1000\n"
	struct run run;

	(void)state;
	read_text(&run, HEAD SAMPLE("0", "3") SAMPLE("1", "3") SAMPLE("2", "5")
			"# capture: 120 packets written, 6 dropped by the kernel, 1 by the interface; ended\n# ended: 3 samples, 0 missed\n"
			HEAD SAMPLE("7", "0") SAMPLE("8", "0"));
	assert_int_equal(how_many(&run, EVENT_HOLE), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct event *e = &nth(&run, EVENT_HOLE, i)->event;

		assert_string_equal(nth(&run, EVENT_HOLE, i)->kind, "capture");
		assert_int_equal(e->time.us, TEN + (int64_t)(i + 1) * 1000000);
		assert_int_equal(e->duration_us, 1000000);
		assert_true(event_has(e, FIELD_SCOPE));
	}
	assert_non_null(find_problem(&run, "capture.drops"));
	assert_true(sv_eq(find_problem(&run, "capture.drops")->message,
			  SV("the capture beside these samples dropped 3 packets by its own account")));
	done(&run);

	/* More after a new start is no growth. */
	read_text(&run, HEAD SAMPLE("0", "0") SAMPLE("1", "0") HEAD SAMPLE("3", "9") SAMPLE("4", "9"));
	assert_int_equal(how_many(&run, EVENT_HOLE), 0);
	assert_null(find_problem(&run, "capture.drops"));
	done(&run);
#undef HEAD
#undef SAMPLE
}

static void test_a_fast_loop_under_a_slow_clock(void **state)
{
	struct run run;

	(void)state;
	read_text(&run, "1796032800\nTcp: RetransSegs\nTcp: 1\n1796032800\nTcp: RetransSegs\nTcp: 3\n"
			"1796032801\nTcp: RetransSegs\nTcp: 4\n");
	assert_int_equal(how_many(&run, EVENT_COUNTER_DELTA), 1);
	assert_delta(&run, 0, "tcp.RetransSegs", -1, 0, 1000, 3, 9);
	done(&run);
}

static void test_a_gap_is_not_covered(void **state)
{
	struct run run;

	(void)state;
	/* Usually one second; 3 s is within three intervals, 4 s is not. */
#define QUIET(time) time "\nTcp: OutSegs RetransSegs\nTcp: 9 1\n"
	read_text(&run, QUIET("1796032800") QUIET("1796032801") QUIET("1796032802") QUIET("1796032805") QUIET(
				"1796032806") QUIET("1796032810") QUIET("1796032811"));
#undef QUIET
	assert_int_equal(how_many(&run, EVENT_COVERED), 2);
	assert_covered(&run, 0, "snmp", 0, 6000, 5);
	assert_covered(&run, 1, "snmp", 10000, 11000, 2);
	done(&run);
}

/* ---- recognising the kind ---- */

static enum sniffed sniffed(const char *text, const char **why)
{
	return counters_kind.sniff(sv_of(text), SV("x.log"), NULL, why);
}

static void test_sniffing(void **state)
{
	const char *why = NULL;

	(void)state;
	assert_int_equal(
		sniffed("2026-11-30 10:00:00.000+00:00\n" SOFTNET15("00000001", "00000000", "00000000", "00000000"),
			&why),
		SNIFF_MINE);
	assert_int_equal(sniffed(SOFTNET10("00000001", "00000000", "00000000"), &why), SNIFF_MINE);
	assert_int_equal(sniffed("1796032800\n" HEADER_C ROW_C("00000000", "00000000", "00000000"), &why), SNIFF_MINE);
	assert_int_equal(sniffed("Tcp: MaxConn OutSegs\nTcp: -1 100\n", &why), SNIFF_MINE);
	assert_int_equal(sniffed("2026-11-30 10:00:00,000 INFO starting\n2026-11-30 10:00:01,000 INFO started\n", &why),
			 SNIFF_NOT_MINE);
	/* A log in which somebody printed the counters once. */
	assert_int_equal(
		sniffed("2026-11-30 10:00:00,000 INFO one\nTcp: OutSegs\nTcp: 100\n2026-11-30 10:00:00,001 INFO two\n"
			"2026-11-30 10:00:00,002 INFO three\n2026-11-30 10:00:00,003 INFO four\n",
			&why),
		SNIFF_NOT_MINE);
	assert_int_equal(sniffed("cpu=0 user=10 system=5\ncpu=1 user=11 system=4\n", &why), SNIFF_NOT_MINE);
	assert_int_equal(sniffed("", &why), SNIFF_NOT_MINE);
	assert_int_equal(sniffed("1796032800\n1796032801\n", &why), SNIFF_NOT_MINE);
	assert_null(why);
	assert_int_equal(
		sniffed("\033[H\033[JEvery 1.0s: cat /proc/net/softnet_stat    Mon Nov 30 10:00:00 2026\n\n" SOFTNET15(
				"00000001", "00000000", "00000000", "00000000"),
			&why),
		SNIFF_BROKEN);
	assert_non_null(strstr(why, "watch"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_softnet_growth_is_given_per_cpu),
		cmocka_unit_test(test_softnet_columns_by_their_number),
		cmocka_unit_test(test_a_wrap_is_growth_and_a_reset_is_not),
		cmocka_unit_test(test_rows_that_shift_say_nothing),
		cmocka_unit_test(test_damaged_rows_are_counted_with_their_line),
		cmocka_unit_test(test_conntrack_columns_by_header),
		cmocka_unit_test(test_conntrack_tool_stands_in_for_the_file),
		cmocka_unit_test(test_tcp_counters_by_name),
		cmocka_unit_test(test_64_bits_do_not_wrap),
		cmocka_unit_test(test_damaged_pairs),
		cmocka_unit_test(test_without_a_clock_no_time_is_invented),
		cmocka_unit_test(test_clock_lines_as_loops_write_them),
		cmocka_unit_test(test_time_that_goes_back),
		cmocka_unit_test(test_a_fast_loop_under_a_slow_clock),
		cmocka_unit_test(test_the_probe_tells_that_the_clock_was_set),
		cmocka_unit_test(test_what_the_probes_capture_dropped_is_a_hole),
		cmocka_unit_test(test_a_gap_is_not_covered),
		cmocka_unit_test(test_sniffing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
