/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/event.h"

static void names_are_unique_and_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < EVENT_COUNT; i++) {
		enum event_type found = EVENT_COUNT;
		assert_true(event_by_name(sv_of(event_infos[i].name), &found));
		assert_int_equal(found, i);
	}
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		enum event_field found = FIELD_COUNT;
		assert_true(field_by_name(sv_of(field_infos[i].name), &found));
		assert_int_equal(found, i);
	}
	enum event_type none = EVENT_COUNT;
	assert_false(event_by_name(SV("member.unheard_of"), &none));
}

static void unset_is_not_zero(void **state)
{
	struct event e;
	int64_t n = 42;
	(void)state;
	event_init(&e, EVENT_GROUP_STABILIZED);
	assert_false(event_int(&e, FIELD_GENERATION, &n));
	assert_int_equal(n, 42);
	assert_true(sv_is_absent(event_text(&e, FIELD_GROUP)));
	event_set_text(&e, FIELD_GROUP, SV_ABSENT);
	assert_false(event_has(&e, FIELD_GROUP));
	event_set_int(&e, FIELD_GENERATION, 0);
	assert_true(event_int(&e, FIELD_GENERATION, &n));
	assert_int_equal(n, 0);
}

static void amounts_are_decimals_and_counts_are_not(void **state)
{
	int64_t n = 0;
	(void)state;
	assert_true(field_number(FIELD_AMOUNT_MICROS, SV("24.66"), &n));
	assert_int_equal(n, 24660000);
	assert_false(field_number(FIELD_OFFSET, SV("24.66"), &n));
	assert_true(field_number(FIELD_OFFSET, SV("24"), &n));
	assert_int_equal(n, 24);
}

static void spans_are_milliseconds_whatever_their_unit(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{ "250", 250 },	      { "6.368ms", 6 },	     { "0.0100937 seconds", 10 }, { "12.0345", 12 },
		{ "12.0345 secs", 12034 }, { "6433711 ns", 6 }, { "5433711001 ns", 5433 },  { "22s", 22000 },
		{ "1500us", 1 },      { "0", 0 },	     { "999999ns", 0 },
	};
	static const char *const rubbish[] = { "", "ms", "1.2.3ms", "5 parsecs", "-", "1e3ms", "99999999999999999999s" };
	int64_t n = -7;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_true(field_number(FIELD_ELAPSED_MS, sv_of(cases[i].text), &n));
		assert_int_equal(n, cases[i].ms);
	}
	n = -7;
	for (size_t i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++)
		assert_false(field_number(FIELD_ELAPSED_MS, sv_of(rubbish[i]), &n));
	assert_int_equal(n, -7);
	/* A count has no unit. */
	assert_false(field_number(FIELD_OFFSET, SV("22s"), &n));
}

static void a_missing_required_field_is_named(void **state)
{
	struct event e;
	enum event_field missing;
	(void)state;
	event_init(&e, EVENT_SESSION_EXPIRED);
	assert_int_equal(e.strength, STRENGTH_PROVES);
	event_set_text(&e, FIELD_GROUP, SV("refunds"));
	assert_true(event_lacks(&e, &missing));
	assert_int_equal(missing, FIELD_MEMBER);
	event_set_text(&e, FIELD_MEMBER, SV("m1"));
	assert_false(event_lacks(&e, &missing));
}

/* One in each half of the set, which has more fields than a word has bits. */
static void a_copy_has_what_is_set(void **state)
{
	struct event e, copy;

	(void)state;
	_Static_assert(FIELD_SYSTEM >= 64, "in the second half");
	event_init(&e, EVENT_EFFECT);
	e.time.us = 7;
	event_set_int(&e, FIELD_PARTITION, 3);
	event_set_text(&e, FIELD_SYSTEM, SV("psp"));
	memset(&copy, 0x55, sizeof copy);
	event_copy(&copy, &e);
	assert_int_equal(copy.type, EVENT_EFFECT);
	assert_int_equal(copy.time.us, 7);
	assert_int_equal(event_int_or(&copy, FIELD_PARTITION, -1), 3);
	assert_true(sv_eq(event_text(&copy, FIELD_SYSTEM), SV("psp")));
	assert_false(event_has(&copy, FIELD_GROUP));
	assert_int_equal(field_set_first(e.set), FIELD_PARTITION);
	assert_int_equal(field_set_first(FIELD_BIT(FIELD_SYSTEM)), FIELD_SYSTEM);
	assert_int_equal(field_set_first(FIELD_BIT(0)), 0);
}

/* Fields of both halves of the set, texts and numbers; and one of each that is not set, between two that are. */
static void a_compact_event_reads_as_the_whole_one(void **state)
{
	static const enum event_field texts[] = { FIELD_GROUP, FIELD_SYSTEM, FIELD_TOPIC };
	static const enum event_field numbers[] = { FIELD_PARTITION, FIELD_DELTA };
	struct arena *a = arena_new();
	const struct event *compact;
	struct event e, copy;

	(void)state;
	event_init(&e, EVENT_EFFECT);
	e.id = 12;
	e.text = SV("a line");
	for (size_t i = 0; i < 3; i++)
		event_set_text(&e, texts[i], sv_of(field_infos[texts[i]].name));
	for (size_t i = 0; i < 2; i++)
		event_set_int(&e, numbers[i], (int64_t)i - 5);
	compact = event_compact(&e, a);
	assert_true(compact->is_compact);
	assert_int_equal(compact->id, 12);
	assert_int_equal(compact->type, EVENT_EFFECT);
	assert_true(sv_eq(compact->text, SV("a line")));
	assert_true(compact->set == e.set);
	for (int f = 0; f < FIELD_COUNT; f++) {
		assert_int_equal(event_has(compact, (enum event_field)f), event_has(&e, (enum event_field)f));
		if (field_infos[f].type == FIELD_TEXT)
			assert_true(sv_eq(event_text(compact, (enum event_field)f), event_text(&e, (enum event_field)f)));
		else
			assert_int_equal(event_int_or(compact, (enum event_field)f, 77), event_int_or(&e, (enum event_field)f, 77));
	}
	/* Of a compact one a compact one can be made, and a whole one, to which more may be added. */
	compact = event_compact(compact, a);
	memset(&copy, 0x55, sizeof copy);
	event_copy(&copy, compact);
	assert_false(copy.is_compact);
	event_set_text(&copy, FIELD_MEMBER, SV("m1"));
	assert_true(sv_eq(event_text(&copy, FIELD_MEMBER), SV("m1")));
	assert_true(sv_eq(event_text(&copy, FIELD_SYSTEM), SV("system")));
	assert_int_equal(event_int_or(&copy, FIELD_DELTA, 77), -4);
	assert_false(event_has(compact, FIELD_MEMBER));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_found),
		cmocka_unit_test(unset_is_not_zero),
		cmocka_unit_test(amounts_are_decimals_and_counts_are_not),
		cmocka_unit_test(spans_are_milliseconds_whatever_their_unit),
		cmocka_unit_test(a_missing_required_field_is_named),
		cmocka_unit_test(a_copy_has_what_is_set),
		cmocka_unit_test(a_compact_event_reads_as_the_whole_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
