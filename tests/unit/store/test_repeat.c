/* SPDX-License-Identifier: MIT */
/* One line of a log in two inputs is one event; two lines in one input are two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

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

/* So many lines lie between that the first is forgotten. */
static void lines_alike_and_far_apart_in_one_input_are_two(void **state)
{
	struct story *st = story_new();

	(void)state;
	story_input(st, "long", "log", "broker-1");
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < 3 * REPEAT_SLOTS; i++) {
			char member[16];

			snprintf(member, sizeof member, "m%d", i);
			tell(st, &(struct told){ "10:00:01", member, "line", "broker-1" });
		}
	}
	assert_int_equal(count_events(st), 6 * REPEAT_SLOTS);
	story_free(st);
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
		cmocka_unit_test(a_flood_of_one_line_is_left_out_and_told),
		cmocka_unit_test(rows_of_tables_all_count),
		cmocka_unit_test(an_entry_of_a_collector_is_known_by_its_id),
		cmocka_unit_test(an_abandoned_input_hides_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
