/* SPDX-License-Identifier: MIT */
/* Finding whom a line is about among many: the index gives what looking through one by one gives. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/episode.h"

static struct cause cause_of(enum trigger trigger, const char *member, const char *client, const char *host)
{
	return (struct cause){ .meaning.trigger = trigger, .member = sv_of(member), .client = sv_of(client), .host = sv_of(host) };
}

/* Enough of them that there is an index: none is about any that the tests ask for. */
static void add_others(struct arena *a, struct episode *ep)
{
	for (int i = 0; i < 100; i++) {
		struct cause c = { .meaning.trigger = TRIGGER_SESSION_TIMEOUT, .member = arena_printf(a, "other-%d", i),
				   .client = arena_printf(a, "others-%d", i), .host = arena_printf(a, "host-of-other-%d", i) };
		assert_null(cause_find(ep, &c));
		(void)cause_add(a, ep, &c);
	}
	assert_non_null(ep->index);
}

static void test_who_is_found(void **state)
{
	static const struct {
		const char *known[3], *sought[3];	/* member, client, host */
		bool is_found;
	} cases[] = {
		/* By member id, whatever else. */
		{ { "m1", "c1", "h1" }, { "m1", NULL, NULL }, true },
		{ { "m1", "c1", "h1" }, { "m1", "c2", "h2" }, true },
		{ { "m1", "c1", "h1" }, { "m2", "c1", "h1" }, false },
		/* Where one has none, by client and host, which may lack and not differ. */
		{ { "m1", "c1", "h1" }, { NULL, "c1", "h1" }, true },
		{ { NULL, "c1", "h1" }, { "m2", "c1", "h1" }, true },
		{ { "m1", "c1", "h1" }, { NULL, "c1", "h2" }, false },
		{ { "m1", "c1", "h1" }, { NULL, "c2", "h1" }, false },
		{ { "m1", "c1", NULL }, { NULL, "c1", "h2" }, true },
		{ { "m1", "c1", "h1" }, { NULL, "c1", NULL }, true },
		{ { "m1", NULL, "h1" }, { NULL, "c2", "h1" }, true },
		{ { "m1", "c1", "h1" }, { NULL, NULL, "h1" }, true },
		{ { NULL, "c1", "h1" }, { "m2", NULL, "h1" }, true },
		{ { "m1", "c1", NULL }, { NULL, NULL, "h1" }, false },
		/* Nobody is the same nobody, on whatever host. */
		{ { NULL, NULL, NULL }, { NULL, NULL, NULL }, true },
		{ { "", "", "h1" }, { NULL, NULL, "h2" }, true },
		{ { "m1", NULL, NULL }, { NULL, NULL, NULL }, false },
		{ { NULL, NULL, "h1" }, { "m1", NULL, NULL }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct arena *a = arena_new();
		struct episode ep = { 0 };
		struct cause known = cause_of(TRIGGER_SESSION_TIMEOUT, cases[i].known[0], cases[i].known[1], cases[i].known[2]);
		struct cause sought = cause_of(TRIGGER_POLL_TIMEOUT, cases[i].sought[0], cases[i].sought[1], cases[i].sought[2]);
		struct cause coming = sought;

		coming.meaning.trigger = TRIGGER_MEMBER_JOIN;
		add_others(a, &ep);
		struct cause *added = cause_add(a, &ep, &known);
		if (cause_find(&ep, &sought) != (cases[i].is_found ? added : NULL))
			fail_msg("case %zu", i);
		assert_ptr_equal(cause_find_one_by_one(&ep, &sought), cause_find(&ep, &sought));
		/* Coming is no going. */
		assert_null(cause_find(&ep, &coming));
		arena_free(a);
	}
}

static void test_what_is_learned_counts(void **state)
{
	struct arena *a = arena_new();
	struct episode ep = { 0 };
	struct cause on_host = cause_of(TRIGGER_SESSION_TIMEOUT, NULL, NULL, "h1"), named = cause_of(TRIGGER_SESSION_TIMEOUT, "m1", "c1", "h1");
	struct cause same_host = cause_of(TRIGGER_SESSION_TIMEOUT, "m2", "c2", "h1"), by_name = cause_of(TRIGGER_SESSION_TIMEOUT, "m1", NULL, NULL);

	(void)state;
	add_others(a, &ep);
	struct cause *first = cause_add(a, &ep, &on_host);
	assert_ptr_equal(cause_find(&ep, &same_host), first);
	assert_null(cause_find(&ep, &by_name));
	cause_learn(&ep, first, &named);
	assert_true(sv_eq(first->member, SV("m1")));
	assert_ptr_equal(cause_find(&ep, &by_name), first);
	/* By now it is known to be another. */
	assert_null(cause_find(&ep, &same_host));
	/* What it has it keeps. */
	cause_learn(&ep, first, &same_host);
	assert_true(sv_eq(first->member, SV("m1")));
	arena_free(a);
}

/* ---- against one by one ---- */

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static struct sv any_of(struct arena *a, uint32_t *seed, char kind, uint32_t n)
{
	return next(seed) % 4 == 0 ? SV_ABSENT : arena_printf(a, "%c%u", kind, next(seed) % n);
}

static void test_any_story_is_found_alike(void **state)
{
	static const enum trigger triggers[] = { TRIGGER_SESSION_TIMEOUT, TRIGGER_MEMBER_LEAVE, TRIGGER_MEMBER_JOIN,
						 TRIGGER_MEMBER_REJOIN, TRIGGER_METADATA_CHANGE };

	(void)state;
	for (uint32_t story = 0; story < 40; story++) {
		struct arena *a = arena_new();
		struct episode ep = { 0 };
		uint32_t seed = story, names = 2 + next(&seed) % 300;

		for (int i = 0; i < 600; i++) {
			struct cause c = { .meaning.trigger = triggers[next(&seed) % 5], .member = any_of(a, &seed, 'm', names),
					   .client = any_of(a, &seed, 'c', names), .host = any_of(a, &seed, 'h', names) };
			struct cause *known = cause_find(&ep, &c);

			if (known != cause_find_one_by_one(&ep, &c))
				fail_msg("story %u, line %d", story, i);
			if (known == NULL)
				cause_add(a, &ep, &c);
			else
				cause_learn(&ep, known, &c);
		}
		arena_free(a);
	}
}

/* One by one these would be twenty thousand million comparisons: minutes, not a moment. */
static void test_a_storm_is_no_square(void **state)
{
	const int members = 200000;
	struct arena *a = arena_new();
	struct episode ep = { 0 };

	(void)state;
	for (int i = 0; i < members; i++) {
		struct cause c = cause_of(TRIGGER_SESSION_TIMEOUT, NULL, "refunds", "broker-1");

		c.member = arena_printf(a, "refunds-%d", i);
		c.host = SV_ABSENT;
		assert_null(cause_find(&ep, &c));
		cause_add(a, &ep, &c);
	}
	struct cause last = ep.causes[members - 1];
	assert_ptr_equal(cause_find(&ep, &last), &ep.causes[members - 1]);
	/* A client's line without its member id may be any: the first. */
	last.member = SV_ABSENT;
	last.host = SV("consumer-7");
	assert_ptr_equal(cause_find(&ep, &last), &ep.causes[0]);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_found),
		cmocka_unit_test(test_what_is_learned_counts),
		cmocka_unit_test(test_any_story_is_found_alike),
		cmocka_unit_test(test_a_storm_is_no_square),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
