/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/table/table.h"
#include "input_kit.h"

/* 2026-11-30T13:00:00Z */
#define T0 INT64_C(1796043600000000)

static const char mappings[] =
	"table    attempts\n"
	"event    effect\n"
	"column   time            time at\n"
	"column   business_key    business_key order_no\n"
	"column   status          status\n"
	"maybe    step            step\n"
	"maybe    consumer        consumer\n"
	"maybe    topic           topic\n"
	"maybe    partition       partition\n"
	"maybe    offset          offset\n"
	"maybe    amount_micros   amount\n"
	"maybe    currency        currency\n"
	"example  time,business_key,status\n"
	"expect   time=time business_key=business_key status=status\n"
	"\n"
	"table    entries\n"
	"event    book.entry\n"
	"column   time            booked_at\n"
	"column   business_key    order_no\n"
	"maybe    amount_micros   amount\n"
	"maybe    system          system\n"
	"example  booked_at,order_no\n"
	"expect   time=booked_at business_key=order_no\n"
	"\n"
	"status\n"
	"success    ok 1\n"
	"failed     error\n";

static struct rules *the_rules(struct kit *k)
{
	struct rules *r = rules_parse(SV("test.rules"), SV(mappings), k->diag);

	if (r == NULL)
		fail_msg("rules: %.*s", SV_ARG(diag_at(k->diag, 0)->message));
	return r;
}

static struct kit *read_named(struct sv text, const char *name)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);

	kit_read(k, &table_kind, text, name, r);
	k->info.format = arena_copy(k->arena, k->info.format);
	rules_free(r);
	return k;
}

#define READ(text) read_named(SV(text), "effects.csv")

static size_t count(const struct kit *k, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < k->event_count; i++)
		n += k->events[i].type == type;
	return n;
}

#define HEADER "time,consumer,business_key,step,topic,partition,offset,status,amount,currency\n"
#define ROW1 "2026-11-30T13:00:00.250Z,consumer-1,R-1,reversal,refunds,0,41,ok,12.50,CNY\n"
#define ROW2 "2026-11-30T13:00:02Z,consumer-2,R-1,reversal,refunds,0,41,error,-0.000001,CNY\n"

static void test_effects(void **state)
{
	struct kit *k = READ(HEADER ROW1 ROW2);
	const struct event *e = &k->events[0];

	(void)state;
	assert_int_equal(k->event_count, 3);
	assert_int_equal(e->type, EVENT_EFFECT);
	assert_int_equal(e->time.us, T0 + 250000);
	assert_sv_equal(e->host, "consumer-1");
	assert_sv_equal(event_text(e, FIELD_CONSUMER), "consumer-1");
	assert_sv_equal(event_text(e, FIELD_BUSINESS_KEY), "R-1");
	assert_sv_equal(event_text(e, FIELD_STEP), "reversal");
	assert_sv_equal(event_text(e, FIELD_TOPIC), "refunds");
	assert_int_equal(event_int_or(e, FIELD_PARTITION, -1), 0);
	assert_int_equal(event_int_or(e, FIELD_OFFSET, -1), 41);
	assert_sv_equal(event_text(e, FIELD_STATUS), "success");
	assert_int_equal(event_int_or(e, FIELD_AMOUNT_MICROS, 0), 12500000);
	assert_sv_equal(event_text(e, FIELD_CURRENCY), "CNY");
	assert_int_equal(e->place.unit, PLACE_ROW);
	assert_int_equal(e->place.number, 2);
	assert_int_equal(e->place.byte_offset, strlen(HEADER));
	assert_sv_equal(e->text, "2026-11-30T13:00:00.250Z,consumer-1,R-1,reversal,refunds,0,41,ok,12.50,CNY");

	assert_sv_equal(k->events[1].host, "consumer-2");
	assert_sv_equal(event_text(&k->events[1], FIELD_STATUS), "failed");
	assert_int_equal(event_int_or(&k->events[1], FIELD_AMOUNT_MICROS, 0), -1);

	e = &k->events[2];
	assert_int_equal(e->type, EVENT_COVERED);
	assert_sv_equal(event_text(e, FIELD_EVIDENCE_KIND), "effects");
	assert_int_equal(e->time.us, T0 + 250000);
	assert_int_equal(e->duration_us, 1750000);
	assert_int_equal(event_int_or(e, FIELD_SAMPLES, 0), 2);

	assert_int_equal(k->info.records, 2);
	assert_int_equal(k->info.skipped, 0);
	assert_int_equal(k->info.events, 3);
	assert_sv_equal(k->info.format, "attempts");
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

/* Whether 12.5 is all of the last cell nobody can know: the row is taken, and that is told, where the cell matters and nothing closes it. */
static void test_a_last_row_without_its_end_is_taken_and_told(void **state)
{
	static const struct {
		const char *text;
		bool is_told;
	} cases[] = {
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,ok,12.5", true },
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,ok,", true },
		{ "time\tbusiness_key\tstatus\tamount\n2026-11-30T13:00:00Z\tR-1\tok\t12.5", true },
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,ok,12.50\n", false },
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,ok,\"12.50\"", false },
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,\"o\nk\",12.5", true },
		{ "time,business_key,status,remark\n2026-11-30T13:00:00Z,R-1,ok,see ticket 1", false },
		{ "time,business_key,status,amount\n2026-11-30T13:00:00Z,R-1,ok,NULL", false },
		{ "{\"time\":\"2026-11-30T13:00:00Z\",\"business_key\":\"R-1\",\"status\":\"ok\",\"amount\":12.5}", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct kit *k = read_named(sv_of(cases[i].text), "effects.csv");

		assert_int_equal(count(k, EVENT_EFFECT), 1);
		assert_int_equal(k->info.skipped, 0);
		assert_int_equal(kit_problems(k, "table.unended"), cases[i].is_told);
		assert_int_equal(diag_count(k->diag), cases[i].is_told);
		if (cases[i].is_told) {
			assert_int_equal(kit_problem(k, "table.unended")->severity, SEVERITY_NOTE);
			assert_int_equal(kit_problem(k, "table.unended")->place.number, 2);
		}
		kit_free(k);
	}
}

static void test_coverage_of_rows_out_of_order(void **state)
{
	struct kit *k = READ(HEADER ROW2 ROW1);

	(void)state;
	assert_int_equal(k->events[2].time.us, T0 + 250000);
	assert_int_equal(k->events[2].duration_us, 1750000);
	kit_free(k);
}

static void test_books_take_their_system_from_the_file(void **state)
{
	static const struct {
		const char *name, *system;
	} files[] = {
		{ "channel.csv", "channel" }, { "channel.csv.gz", "channel" }, { "ledger.2026.csv", "ledger.2026" },
		{ "ledger", "ledger" },	      { ".ledger", ".ledger" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct kit *k = read_named(SV("booked_at,order_no,amount\n2026-11-30T13:00:00Z,R-1,5\n"), files[i].name);

		assert_int_equal(k->event_count, 2);
		assert_int_equal(k->events[0].type, EVENT_BOOK_ENTRY);
		assert_sv_equal(event_text(&k->events[0], FIELD_SYSTEM), files[i].system);
		/* Whose clock wrote it is not known. */
		assert_absent(k->events[0].host);
		assert_sv_equal(event_text(&k->events[1], FIELD_EVIDENCE_KIND), "books");
		kit_free(k);
	}
}

static void test_books_with_a_column_for_the_system(void **state)
{
	struct kit *k = READ("booked_at,order_no,system\n2026-11-30T13:00:00Z,R-1,bank\n2026-11-30T13:00:00Z,R-2,\n");

	(void)state;
	assert_sv_equal(event_text(&k->events[0], FIELD_SYSTEM), "bank");
	assert_sv_equal(event_text(&k->events[1], FIELD_SYSTEM), "effects");
	kit_free(k);
}

static void test_host_of_the_user_wins(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct ingest in = kit_ingest(k, SV(HEADER ROW1), "x.csv", r);

	(void)state;
	k->info.host = SV("db-1");
	in.host_is_option = true;
	assert_int_equal(table_kind.read(&in), 0);
	assert_sv_equal(k->events[0].host, "db-1");
	rules_free(r);
	arena_free(in.record);
	kit_free(k);
}

static void test_keys_are_text(void **state)
{
	struct kit *k = READ("time,business_key,status\n"
			     "2026-11-30T13:00:00Z,000123,ok\n"
			     "2026-11-30T13:00:00Z,  1E5 ,ok\n"
			     "2026-11-30T13:00:00Z,12345678901234567890123,ok\n"
			     "2026-11-30T13:00:00Z,1.23457E+15,ok\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 3);
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "000123");
	/* Looks like a number, and is a key as good as any. */
	assert_sv_equal(event_text(&k->events[1], FIELD_BUSINESS_KEY), "1E5");
	assert_sv_equal(event_text(&k->events[2], FIELD_BUSINESS_KEY), "12345678901234567890123");
	/* What a spreadsheet leaves of 1234567890123456. */
	assert_int_equal(kit_problems(k, "table.lost_key"), 1);
	assert_int_equal(kit_problem(k, "table.lost_key")->place.number, 5);
	kit_free(k);
}

static void test_amounts(void **state)
{
	struct kit *k = READ("time,business_key,status,amount\n"
			     "2026-11-30T13:00:00Z,a,ok,\"1,234.50\"\n"
			     "2026-11-30T13:00:00Z,b,ok,1.2e3\n"
			     "2026-11-30T13:00:00Z,c,ok,\n"
			     "2026-11-30T13:00:00Z,d,ok,0.1234567\n"
			     "2026-11-30T13:00:00Z,e,ok,-7\n");

	(void)state;
	/* The attempt stands; how much it was is not known. */
	assert_int_equal(count(k, EVENT_EFFECT), 5);
	for (int i = 0; i < 4; i++)
		assert_false(event_has(&k->events[i], FIELD_AMOUNT_MICROS));
	assert_int_equal(event_int_or(&k->events[4], FIELD_AMOUNT_MICROS, 0), -7000000);
	assert_int_equal(kit_problems(k, "table.value"), 3);
	assert_int_equal(kit_problem(k, "table.value")->place.number, 2);
	assert_int_equal(k->info.skipped, 0);
	kit_free(k);
}

static void test_rows_left_out(void **state)
{
	struct kit *k = READ("time,business_key,status\n"
			     "yesterday,a,ok\n"
			     ",b,ok\n"
			     "2026-11-30T13:00:00Z,c,\n"
			     "2026-11-30T13:00:00Z,d\n"
			     "2026-11-30T13:00:00Z,e,ok,more\n"
			     "\n"
			     "2026-11-30T13:00:00Z,f,ok\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 1);
	/* The blank row is a row of the spreadsheet, not a record. */
	assert_int_equal(k->events[0].place.number, 8);
	assert_int_equal(k->info.records, 6);
	assert_int_equal(k->info.skipped, 5);
	assert_int_equal(kit_problems(k, "table.time"), 2);
	assert_int_equal(kit_problem(k, "table.time")->place.number, 2);
	assert_int_equal(kit_problems(k, "table.incomplete"), 1);
	assert_int_equal(kit_problem(k, "table.incomplete")->place.number, 4);
	assert_int_equal(kit_problems(k, "table.columns"), 2);
	kit_free(k);
}

static void test_quotes(void **state)
{
	struct kit *k = READ("\xef\xbb\xbf\"time\",\"business_key\",step,status\r\n"
			     "2026-11-30T13:00:00Z,\"a, \"\"b\"\"\",\"two\r\nlines\",ok\r\n"
			     "2026-11-30T13:00:01Z,say \"x\",\"\",\"ok\"\r\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 2);
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "a, \"b\"");
	assert_sv_equal(event_text(&k->events[0], FIELD_STEP), "two\nlines");
	assert_int_equal(k->events[0].place.number, 2);
	/* Rows are counted, not lines. */
	assert_int_equal(k->events[1].place.number, 3);
	assert_sv_equal(event_text(&k->events[1], FIELD_BUSINESS_KEY), "say \"x\"");
	assert_false(event_has(&k->events[1], FIELD_STEP));
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

static void test_a_quote_without_end_costs_its_row_alone(void **state)
{
	struct kit *k = READ("time,business_key,status\n"
			     "2026-11-30T13:00:00Z,\"a,ok\n"
			     "2026-11-30T13:00:01Z,b,ok\n"
			     "2026-11-30T13:00:02Z,c,ok\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 2);
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "b");
	assert_int_equal(k->events[0].place.number, 3);
	assert_int_equal(k->events[0].place.byte_offset, strlen("time,business_key,status\n2026-11-30T13:00:00Z,\"a,ok\n"));
	assert_sv_equal(event_text(&k->events[1], FIELD_BUSINESS_KEY), "c");
	assert_int_equal(kit_problems(k, "table.quote"), 1);
	assert_int_equal(kit_problem(k, "table.quote")->place.number, 2);
	kit_free(k);
}

/* Longer than a row may be: what was read for it is read again. */
static void test_a_quote_without_end_in_a_large_table(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct buf text;
	size_t rows = 120000;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV("time,business_key,status\n2026-11-30T13:00:00Z,\"a,ok\n"));
	for (size_t i = 0; i < rows; i++)
		buf_printf(&text, "2026-11-30T13:00:01Z,%s%zu,ok\n", i == 50000 ? "\"" : "k", i);
	kit_read(k, &table_kind, buf_sv(&text), "x.csv", r);
	assert_int_equal(kit_problems(k, "table.quote"), 2);
	assert_int_equal(count(k, EVENT_EFFECT), rows - 1);
	assert_int_equal(k->events[rows - 2].place.number, rows + 2);
	assert_sv_equal(event_text(&k->events[rows - 2], FIELD_BUSINESS_KEY), "k119999");
	buf_fini(&text);
	rules_free(r);
	kit_free(k);
}

static void test_other_separators(void **state)
{
	struct kit *k = READ("time;business_key;status\n2026-11-30T13:00:00Z;\"a;b\";ok\n");

	(void)state;
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "a;b");
	kit_free(k);

	/* mysql -B: escapes, and quotes that are text. */
	k = READ("time\tbusiness_key\tstep\tstatus\n"
		 "2026-11-30 13:00:00\ta\\tb\\\\c\\nd\t\"x\t1\n"
		 "2026-11-30 13:00:00\te\tNULL\tok\n"
		 "2026-11-30 13:00:00\tf\tx\t\\N\n");
	assert_int_equal(count(k, EVENT_EFFECT), 2);
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "a\tb\\c\nd");
	assert_sv_equal(event_text(&k->events[0], FIELD_STEP), "\"x");
	assert_sv_equal(event_text(&k->events[0], FIELD_STATUS), "success");
	assert_false(event_has(&k->events[1], FIELD_STEP));
	assert_int_equal(kit_problems(k, "table.incomplete"), 1);
	kit_free(k);

	/* psql -A, with its footer. */
	k = READ("time|business_key|status\n2026-11-30 13:00:00.22+00|a|ok\n(1 row)\n");
	assert_int_equal(count(k, EVENT_EFFECT), 1);
	assert_int_equal(k->events[0].time.us, T0 + 220000);
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

static void test_json_lines(void **state)
{
	struct kit *k = READ("{\"at\":\"2026-11-30T13:00:00Z\",\"order_no\":7,\"status\":\"ok\"}\n"
			     "{\"status\":\"error\",\"at\":1796043601000,\"order_no\":\"8\",\"step\":\"notice\",\"amount\":12.50}\n"
			     "{\"at\":\"2026-11-30T13:00:02Z\",\n"
			     "{\"at\":\"2026-11-30T13:00:02Z\",\"order_no\":9,\"status\":null}\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 2);
	assert_sv_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY), "7");
	assert_int_equal(k->events[0].place.number, 1);
	assert_false(event_has(&k->events[0], FIELD_STEP));
	assert_int_equal(k->events[1].time.us, T0 + US_PER_S);
	assert_sv_equal(event_text(&k->events[1], FIELD_STEP), "notice");
	assert_int_equal(event_int_or(&k->events[1], FIELD_AMOUNT_MICROS, 0), 12500000);
	assert_sv_equal(k->events[1].text,
			"{\"status\":\"error\",\"at\":1796043601000,\"order_no\":\"8\",\"step\":\"notice\",\"amount\":12.50}");
	assert_int_equal(kit_problems(k, "table.json"), 1);
	assert_int_equal(kit_problem(k, "table.json")->place.number, 3);
	assert_int_equal(kit_problems(k, "table.incomplete"), 1);
	assert_int_equal(k->info.skipped, 2);
	kit_free(k);
}

static void test_json_array_of_sqlite(void **state)
{
	struct kit *k = READ("[{\"time\":\"2026-11-30T13:00:00Z\",\"business_key\":\"a\",\"status\":\"ok\"},\n"
			     "{\"time\":\"2026-11-30T13:00:00Z\",\"business_key\":\"b\",\"status\":\"ok\"}]\n");

	(void)state;
	assert_int_equal(count(k, EVENT_EFFECT), 2);
	assert_int_equal(diag_count(k->diag), 0);
	kit_free(k);
}

/* A member that no record of the first 64 KiB has. */
static void test_json_members_that_come_late(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct buf text;

	(void)state;
	buf_init(&text);
	for (int i = 0; i < 2000; i++)
		buf_printf(&text, "{\"at\":\"2026-11-30T13:00:00Z\",\"order_no\":%d,\"status\":\"ok\"}\n", i);
	buf_add(&text, SV("{\"late\":1,\"step\":\"notice\",\"at\":\"2026-11-30T13:00:00Z\",\"order_no\":\"x\",\"status\":\"ok\"}\n"));
	assert_true(text.n > STREAM_HEAD_BYTES);
	kit_read(k, &table_kind, buf_sv(&text), "x.jsonl", r);
	assert_sv_equal(event_text(&k->events[2000], FIELD_STEP), "notice");
	assert_sv_equal(event_text(&k->events[2000], FIELD_BUSINESS_KEY), "x");
	buf_fini(&text);
	rules_free(r);
	kit_free(k);
}

static void test_zone_of_the_input(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct ingest in = kit_ingest(k, SV("time,business_key,status\n2026-11-30 21:00:00,a,ok\n2026-11-30T13:00:00Z,b,ok\n"), "x.csv", r);

	(void)state;
	in.zone = (struct zone){ .offset_s = 8 * 3600 };
	assert_int_equal(table_kind.read(&in), 0);
	assert_int_equal(k->events[0].time.us, T0);
	assert_int_equal(k->events[1].time.us, T0);
	assert_sv_equal(k->info.zone_source, "assumed");
	assert_sv_equal(k->info.zone_name, "+08:00");
	rules_free(r);
	arena_free(in.record);
	kit_free(k);
}

static void test_long_rows_are_cut_as_evidence(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct buf text;

	(void)state;
	buf_init(&text);
	buf_add(&text, SV("time,status,business_key\n2026-11-30T13:00:00Z,ok,"));
	for (int i = 0; i < 10000; i++)
		buf_add_char(&text, 'k');
	kit_read(k, &table_kind, buf_sv(&text), "x.csv", r);
	assert_int_equal(k->events[0].text.n, 4096);
	assert_int_equal(event_text(&k->events[0], FIELD_BUSINESS_KEY).n, 10000);
	buf_fini(&text);
	rules_free(r);
	kit_free(k);
}

static void test_a_forced_table_that_fits_nothing(void **state)
{
	struct kit *k = READ("a,b,c\n1,2,3\n");

	(void)state;
	assert_int_equal(k->event_count, 0);
	assert_int_equal(kit_problems(k, "table.unmapped"), 1);
	kit_free(k);
}

static void test_sniff(void **state)
{
	static const struct {
		const char *head;
		enum sniffed is;
	} cases[] = {
		{ HEADER ROW1, SNIFF_MINE },
		{ HEADER, SNIFF_MINE },
		{ "\n\n" HEADER ROW1, SNIFF_MINE },
		{ "time;order_no;status\n", SNIFF_MINE },
		{ "booked_at\torder_no\n", SNIFF_MINE },
		{ "{\"at\":1,\"order_no\":2,\"status\":3}\n", SNIFF_MINE },
		/* One row is damaged, not all. */
		{ HEADER "2026-11-30\n" ROW1, SNIFF_MINE },
		/* The end of the head cuts its last row. */
		{ HEADER ROW1 "2026-11-30T13:0", SNIFF_MINE },
		{ "", SNIFF_NOT_MINE },
		{ "a,b,c\n1,2,3\n", SNIFF_NOT_MINE },
		/* A required column is missing. */
		{ "time,order_no\n", SNIFF_NOT_MINE },
		/* Words with commas: the second line has another number of them. */
		{ "time, order_no, status\nare what we need\n", SNIFF_NOT_MINE },
		{ "{\n \"at\": 1, \"order_no\": 2, \"status\": 3\n}\n", SNIFF_NOT_MINE },
		{ "{\"at\":1,\"order_no\":2,\"status\":3,\"level\":\"INFO\",\"message\":\"refunded\"}\n", SNIFF_NOT_MINE },
	};
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (table_kind.sniff(sv_of(cases[i].head), SV("x.csv"), r, &why) != cases[i].is)
			fail_msg("sniffed wrongly: %s", cases[i].head);
	assert_int_equal(table_kind.sniff(SV(HEADER), SV("x.csv"), NULL, &why), SNIFF_NOT_MINE);
	rules_free(r);
	kit_free(k);
}

static void test_unmapped(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct sv why = SV_ABSENT;
	size_t at;

	(void)state;
	assert_true(table_unmapped(SV("id,order_no,status\n1,R-1,ok\n"), r, k->arena, &why));
	assert_true(sv_find(why, SV("id, order_no, status"), &at));
	/* The nearest mapping, and what it misses. */
	assert_true(sv_find(why, SV("attempts"), &at));
	assert_true(sv_find(why, SV("time"), &at));
	/* Two columns alone may be anything; prose and logs are no tables. */
	assert_false(table_unmapped(SV("Hello, world\nfoo, bar\n"), r, k->arena, &why));
	assert_false(table_unmapped(SV("2026-11-30 13:00:00,123 a, b\n2026-11-30 13:00:00,123 a, b\n"), r, k->arena, &why));
	assert_false(table_unmapped(SV("# Title\n\nSome text, with commas, here.\n"), r, k->arena, &why));
	rules_free(r);
	kit_free(k);
}

static void test_sink_failure_ends_it(void **state)
{
	struct kit *k = kit_new();
	struct rules *r = the_rules(k);
	struct ingest in = kit_ingest(k, SV(HEADER ROW1 ROW2), "x.csv", r);

	(void)state;
	k->fail_after = 1;
	assert_int_equal(table_kind.read(&in), -1);
	rules_free(r);
	arena_free(in.record);
	kit_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effects),
		cmocka_unit_test(test_a_last_row_without_its_end_is_taken_and_told),
		cmocka_unit_test(test_coverage_of_rows_out_of_order),
		cmocka_unit_test(test_books_take_their_system_from_the_file),
		cmocka_unit_test(test_books_with_a_column_for_the_system),
		cmocka_unit_test(test_host_of_the_user_wins),
		cmocka_unit_test(test_keys_are_text),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_rows_left_out),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_a_quote_without_end_costs_its_row_alone),
		cmocka_unit_test(test_a_quote_without_end_in_a_large_table),
		cmocka_unit_test(test_other_separators),
		cmocka_unit_test(test_json_lines),
		cmocka_unit_test(test_json_array_of_sqlite),
		cmocka_unit_test(test_json_members_that_come_late),
		cmocka_unit_test(test_zone_of_the_input),
		cmocka_unit_test(test_long_rows_are_cut_as_evidence),
		cmocka_unit_test(test_a_forced_table_that_fits_nothing),
		cmocka_unit_test(test_sniff),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_sink_failure_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
