/* SPDX-License-Identifier: MIT */
/* The incident database: whole inputs or nothing, whatever happens. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

static void a_story_is_stored(void **state)
{
	struct story *st = story_new();
	struct query *q;
	struct event e;

	(void)state;
	story_event(st, EVENT_SESSION_EXPIRED, "broker-1", at("10:00:30.000"), "group", "refunds", "member", "m1", NULL);
	q = query_events(story_store(st), NULL, 0);
	assert_non_null(q);
	assert_int_equal(query_next(q, &e), 1);
	assert_int_equal(e.type, EVENT_SESSION_EXPIRED);
	assert_true(sv_eq(event_text(&e, FIELD_MEMBER), SV("m1")));
	assert_int_equal(query_next(q, &e), 0);
	query_free(q);
	story_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_story_is_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
