/* SPDX-License-Identifier: MIT */
/* Silences of clients that send heartbeats between polls, held against an eviction exposed from 10:00:20 to 10:00:30. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/handling.h"
#include "story.h"

static struct rebalance eviction(void)
{
	return (struct rebalance){ .id = 1, .root = 1, .is_root = true, .group = SV("g"), .trigger = TRIGGER_SESSION_TIMEOUT,
				   .host = SV("consumer-1"), .has_exposure = true,
				   .exposure = { ref_at("10:00:20"), ref_at("10:00:30") }, .need_us = 3 * US_PER_S,
				   .attribution = ATTRIBUTION_NONE, .attribution_note = SV("No jitter in the 10.0 s before it.") };
}

/* Of that host; one piece of evidence. */
static struct rebalance named(struct story *st, struct rebalance r, const char *host, const char *start, const char *end)
{
	struct evidence evidence = { .event = 7, .strength = STRENGTH_PROVES };
	struct window silence = { .kind = WINDOW_PROCESS_PAUSE, .host = sv_of(host), .path_a = SV("10.77.1.10"),
				  .caller = sv_of(host), .span = { ref_at(start), ref_at(end) },
				  .evidence = { .items = &evidence, .count = 1, .capacity = 1, .greatest = 7 } };
	struct windows w = { .untold = &silence, .untold_count = 1 };
	struct rebalances all = { .items = &r, .count = 1 };

	handlings_name(&w, st->arena, &all);
	return r;
}

static bool is_named(const struct rebalance *r)
{
	size_t at;
	bool is_told = sv_find(r->attribution_note, SV("its handler was at work or its process stood still"), &at);

	assert_true(sv_starts_with(r->attribution_note, SV("No jitter in the 10.0 s before it.")));
	assert_int_equal(r->stalls.count, is_told);
	assert_int_equal(r->attribution, ATTRIBUTION_NONE);
	return is_told;
}

static void test_a_silence_before_an_eviction_is_named(void **state)
{
	static const struct {
		const char *host, *start, *end;
		bool is_named;
	} cases[] = {
		{ "consumer-1", "10:00:18", "10:00:40", true },
		{ "consumer-1", "10:00:22", "10:00:26", true },
		/* Too short to be a reason, too early, of another. */
		{ "consumer-1", "10:00:22", "10:00:24", false },
		{ "consumer-1", "10:00:05", "10:00:22", false },
		{ "consumer-2", "10:00:18", "10:00:40", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct story *st = story_new();
		struct rebalance r = named(st, eviction(), cases[i].host, cases[i].start, cases[i].end);

		assert_int_equal(is_named(&r), cases[i].is_named);
		story_free(st);
	}
}

/* Where jitter or a pause is known, where it was no silence, and in what follows from it, nothing is added. */
static void test_what_is_known_already_is_not_named(void **state)
{
	struct rebalance r[5];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		r[i] = eviction();
	r[0].window_count = 1;
	r[1].pause_count = 1;
	r[2].trigger = TRIGGER_POLL_TIMEOUT;
	r[3].is_root = false;
	r[4].has_exposure = false;
	for (size_t i = 0; i < 5; i++) {
		struct story *st = story_new();
		struct rebalance one = named(st, r[i], "consumer-1", "10:00:18", "10:00:40");

		assert_false(is_named(&one));
		story_free(st);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_silence_before_an_eviction_is_named),
		cmocka_unit_test(test_what_is_known_already_is_not_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
