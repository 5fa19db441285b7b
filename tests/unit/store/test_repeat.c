/* SPDX-License-Identifier: MIT */
/* One line of a log in two inputs is one event; two lines in one input are two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/latest.h"
#include "store/batch.h"
#include "store/repeat.h"
#include "story.h"

/* A line as it is told: its time of day, and whose it is. */
struct told {
	const char *time, *member, *text, *host;
};

static void tell(struct story *st, const struct told *t)
{
	story_event(st, EVENT_SESSION_EXPIRED, t->host, at(t->time), "group", "refunds", "member", t->member, "text", t->text, NULL);
}

/* An input of lines, which ends with one that has no member. */
static void tell_input(struct story *st, const char *path, const char *kind, const struct told *lines)
{
	story_input(st, path, kind, "broker-1");
	diag_set_input(st->diag, st->input.path, st->input.id);
	for (; lines->member != NULL; lines++)
		tell(st, lines);
	story_end_input(st);
}

static size_t count_events(struct story *st)
{
	struct query *q = query_events(story_store(st), NULL, 0);
	struct event e;
	size_t n = 0;

	assert_non_null(q);
	while (query_next(q, &e) == 1)
		n++;
	query_free(q);
	return n;
}

static size_t problems_of(const struct story *st, const char *code)
{
	size_t n = 0;

	for (size_t i = 0; i < diag_count(st->diag); i++)
		n += sv_eq(diag_at(st->diag, i)->code, sv_of(code));
	return n;
}

static size_t problems(const struct story *st)
{
	return problems_of(st, "event.repeated");
}

#define A { "10:00:01", "a", "line a", "broker-1" }
#define B { "10:00:02", "b", "line b", "broker-1" }
#define C { "10:00:03", "c", "line c", "broker-1" }
#define END { NULL, NULL, NULL, NULL }

static void the_seam_of_a_rotated_log_counts_once(void **state)
{
	static const struct told older[] = { A, B, END }, current[] = { B, C, END };
	struct story *st = story_new();
	const struct problem *p;

	(void)state;
	tell_input(st, "broker-1/server.log", "log", current);
	tell_input(st, "broker-1/server.log.1", "log", older);
	assert_int_equal(count_events(st), 3);
	assert_int_equal(problems(st), 1);
	p = diag_at(st->diag, 0);
	assert_int_equal(p->severity, SEVERITY_NOTE);
	assert_int_equal(p->place.number, 2);
	assert_true(sv_eq(p->message, SV("1 events left out, this the first: they have been read already (it is line 1 of broker-1/server.log)")));
	story_free(st);
}

static void what_differs_in_anything_is_another(void **state)
{
	static const struct told one[] = { A, END };
	static const struct told others[][2] = {
		{ { "10:00:01.001", "a", "line a", "broker-1" }, END }, { { "10:00:01", "a2", "line a", "broker-1" }, END },
		{ { "10:00:01", "a", "line a ", "broker-1" }, END },	{ { "10:00:01", "a", "line a", "broker-2" }, END },
		{ { "10:00:01", "a", "line a", NULL }, END },		{ { "10:00:01", "a", NULL, "broker-1" }, END },
	};
	struct story *st = story_new();

	(void)state;
	tell_input(st, "one", "log", one);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		tell_input(st, "other", "log", others[i]);
		if (count_events(st) != i + 2)
			fail_msg("other %zu was taken for the first", i);
	}
	assert_int_equal(problems(st), 0);
	story_free(st);
}

/* Two in one input are two, and in another input they are the same two. */
static void lines_alike_are_told_apart_by_their_number(void **state)
{
	static const struct told two[] = { A, A, END }, three[] = { A, A, A, END }, one[] = { A, END };
	struct story *st = story_new();

	(void)state;
	tell_input(st, "two", "log", two);
	assert_int_equal(count_events(st), 2);
	tell_input(st, "one", "log", one);
	assert_int_equal(count_events(st), 2);
	tell_input(st, "three", "log", three);
	assert_int_equal(count_events(st), 3);
	tell_input(st, "two again", "log", two);
	assert_int_equal(count_events(st), 3);
	story_free(st);
}

/* An input that begins with lines of its own, then has the same lines so many times, each pass after the other. */
static void tell_passes(struct story *st, const char *path, int own, int lines, int passes)
{
	story_input(st, path, "log", "broker-1");
	diag_set_input(st->diag, st->input.path, st->input.id);
	for (int i = -own; i < lines * passes; i++) {
		char member[16];

		snprintf(member, sizeof member, "m%d", i < 0 ? i : i % lines);
		tell(st, &(struct told){ "10:00:01", member, "line", "broker-1" });
	}
	story_end_input(st);
}

/* So many lines lie between that the first is forgotten. */
static void lines_alike_and_far_apart_in_one_input_are_two(void **state)
{
	struct story *st = story_new();

	(void)state;
	tell_passes(st, "long", 0, 3 * LATEST_LEAST, 2);
	assert_int_equal(count_events(st), 6 * LATEST_LEAST);
	story_free(st);
}

/*
 * A line stands as often as in the input that has it most often, whichever is
 * read first: so far apart, too, that it is written with other thousands.
 */
static void the_order_of_inputs_does_not_matter(void **state)
{
	static const struct {
		const char *path;
		int own, passes;
	} inputs[] = { { "once", 1, 1 }, { "twice", 2, 2 }, { "thrice", 4, 3 } };
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const int lines = BATCH_EVENTS + 100;

	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
		struct story *st = story_new();

		for (size_t j = 0; j < 3; j++)
			tell_passes(st, inputs[orders[i][j]].path, inputs[orders[i][j]].own, lines, inputs[orders[i][j]].passes);
		/* Own lines are m-1, m-2, ...: those of one input are among those of the next. */
		if (count_events(st) != (size_t)(3 * lines + 4))
			fail_msg("order %zu: %zu events", i, count_events(st));
		story_free(st);
	}
}

/* A program that logs in a circle: more of it proves no more. What was executed so often was executed so often. */
static void a_flood_of_one_line_is_left_out_and_told(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "flood", "log", "broker-1");
	for (int i = 0; i < REPEAT_FLOOD + 2; i++)
		tell(st, &(struct told)A);
	tell(st, &(struct told)B);
	story_end_input(st);
	assert_int_equal(count_events(st), REPEAT_FLOOD + 1);
	assert_int_equal(problems_of(st, "event.flood"), 1);
	assert_true(sv_starts_with(diag_at(st->diag, 0)->message, SV("2 events left out, this the first")));
	assert_int_equal(diag_at(st->diag, 0)->place.number, REPEAT_FLOOD + 1);
	story_free(st);

	st = story_new();
	story_input(st, "effects", "log", "app-1");
	for (int i = 0; i < REPEAT_FLOOD + 2; i++)
		story_event(st, EVENT_EFFECT, "app-1", at("10:00:01"), "business_key", "R-1", "status", "success", "text", "paid R-1", NULL);
	story_end_input(st);
	assert_int_equal(count_events(st), REPEAT_FLOOD + 2);
	assert_int_equal(problems_of(st, "event.flood"), 0);
	story_free(st);
}

/* Rows of tables are no lines of a log: those that repeat are what is looked for. */
static void rows_of_tables_all_count(void **state)
{
	static const struct told rows[] = { A, B, END };
	struct story *st = story_new();

	(void)state;
	tell_input(st, "one.csv", "table", rows);
	tell_input(st, "two.csv", "table", rows);
	tell_input(st, "a.log", "log", rows);
	assert_int_equal(count_events(st), 6);
	story_free(st);
}

static void put_entry(struct story *st, uint64_t id, const struct told *t)
{
	struct event e;

	event_init(&e, EVENT_SESSION_EXPIRED);
	e.time = at(t->time);
	e.host = sv_of(t->host);
	e.text = sv_of(t->text);
	e.place = (struct place){ .unit = PLACE_LINE, .number = ++st->line };
	e.record_id = id;
	event_set_text(&e, FIELD_GROUP, SV("refunds"));
	event_set_text(&e, FIELD_MEMBER, sv_of(t->member));
	assert_int_equal(st->sink.events.put(st->sink.events.context, &e), 0);
}

/* Whatever surrounds it in the export, and wherever. */
static void an_entry_of_a_collector_is_known_by_its_id(void **state)
{
	static const struct told a = A, other_export = { "10:00:01", "a", "{\"message\":\"line a\"}", "broker-1" };
	struct story *st = story_new();

	(void)state;
	story_input(st, "export", "log", NULL);
	put_entry(st, 7, &a);
	put_entry(st, 8, &a);
	put_entry(st, 7, &a);
	story_input(st, "export of another day", "log", NULL);
	put_entry(st, 7, &other_export);
	put_entry(st, 9, &other_export);
	assert_int_equal(count_events(st), 3);
	story_free(st);
}

/* Twice in one export: far apart, so that they are not written together, and close together. */
static void an_entry_is_known_again_in_its_own_input(void **state)
{
	struct story *st = story_new();
	char text[16];

	(void)state;
	story_input(st, "export.json", "log", NULL);
	diag_set_input(st->diag, st->input.path, st->input.id);
	for (uint64_t pass = 0; pass < 2; pass++) {
		for (uint64_t i = 1; i <= BATCH_EVENTS + 10; i++) {
			snprintf(text, sizeof text, "%d", (int)pass);
			put_entry(st, i, &(struct told){ "10:00:01", "a", text, "broker-1" });
		}
	}
	put_entry(st, 1000000, &(struct told)A);
	put_entry(st, 1000000, &(struct told)B);
	/* The last has the id of the one before, but another member: what was found in it is part of what is alike. */
	assert_int_equal(count_events(st), BATCH_EVENTS + 10 + 2);
	assert_int_equal(problems(st), 1);
	assert_true(sv_starts_with(diag_at(st->diag, 0)->message, SV("4106 events left out, this the first")));
	assert_true(sv_ends_with(diag_at(st->diag, 0)->message, SV("(it is line 1 of export.json)")));
	assert_int_equal(diag_at(st->diag, 0)->place.number, BATCH_EVENTS + 10 + 1);
	story_free(st);
}

/* Tells lines from..to of a long log, one a millisecond. */
static void tell_long(struct story *st, const char *path, const char *host, int from, int to)
{
	story_input(st, path, "log", host);
	diag_set_input(st->diag, st->input.path, st->input.id);
	for (int i = from; i < to; i++) {
		char time[32], text[32];

		snprintf(time, sizeof time, "10:00:%02d.%03d", i / 1000, i % 1000);
		snprintf(text, sizeof text, "line %d", i);
		tell(st, &(struct told){ time, "a", text, host });
	}
	story_end_input(st);
}

/* What is written in pieces of thousands is found again, whatever the order of inputs and wherever pieces end. */
static void long_logs_that_overlap_count_once(void **state)
{
	static const struct {
		int from, to;
	} parts[] = { { 9000, 15000 }, { 0, 5000 }, { 3000, 12000 }, { 0, 15000 }, { 7000, 7001 } };
	struct story *st = story_new();

	(void)state;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		tell_long(st, "part", "broker-1", parts[i].from, parts[i].to);
	assert_int_equal(count_events(st), 15000);
	/* Of those there are new in the third: 5000 to 9000. The fourth has none, nor has the fifth. */
	assert_int_equal(problems(st), 3);
	assert_true(sv_starts_with(diag_at(st->diag, 0)->message, SV("5000 events left out, this the first")));
	assert_true(sv_ends_with(diag_at(st->diag, 0)->message, SV("(it is line 3001 of part)")));
	assert_int_equal(diag_at(st->diag, 0)->place.number, 1);
	assert_true(sv_starts_with(diag_at(st->diag, 1)->message, SV("15000 events left out")));
	/* Another host's are others. */
	tell_long(st, "part", "broker-2", 0, 15000);
	assert_int_equal(count_events(st), 30000);
	story_free(st);
}

/* As many hosts as there are bits for them, and more. */
static void hosts_that_share_a_bit_are_told_apart(void **state)
{
	struct story *st = story_new();

	(void)state;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 200; i++) {
			char host[32];

			snprintf(host, sizeof host, "broker-%d", i);
			tell_long(st, "log", host, 0, 2);
		}
		assert_int_equal(count_events(st), 400);
	}
	story_free(st);
}

static void an_abandoned_input_hides_no_line(void **state)
{
	static const struct told lines[] = { A, END };
	struct story *st = story_new();

	(void)state;
	story_input(st, "broken", "log", "broker-1");
	tell(st, &lines[0]);
	st->sink.abandon(st->sink.context);
	st->input.id = 0;
	tell_input(st, "whole", "log", lines);
	assert_int_equal(count_events(st), 1);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_seam_of_a_rotated_log_counts_once),
		cmocka_unit_test(what_differs_in_anything_is_another),
		cmocka_unit_test(lines_alike_are_told_apart_by_their_number),
		cmocka_unit_test(lines_alike_and_far_apart_in_one_input_are_two),
		cmocka_unit_test(the_order_of_inputs_does_not_matter),
		cmocka_unit_test(a_flood_of_one_line_is_left_out_and_told),
		cmocka_unit_test(rows_of_tables_all_count),
		cmocka_unit_test(an_entry_of_a_collector_is_known_by_its_id),
		cmocka_unit_test(an_entry_is_known_again_in_its_own_input),
		cmocka_unit_test(long_logs_that_overlap_count_once),
		cmocka_unit_test(hosts_that_share_a_bit_are_told_apart),
		cmocka_unit_test(an_abandoned_input_hides_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
