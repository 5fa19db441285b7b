/* SPDX-License-Identifier: MIT */
/* Which rebalance a moment or a generation belongs to: found as by looking at each of them. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/rebalance_index.h"

#define COUNT 40

static uint32_t next(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

/* Few groups, generations and times, so that many are equal; not all in the order of their starts. */
static struct rebalances any_rebalances(struct arena *a, uint32_t *seed)
{
	struct rebalances r = { .items = arena_array(a, COUNT, sizeof *r.items), .count = COUNT };

	for (size_t i = 0; i < COUNT; i++) {
		struct rebalance *one = &r.items[i];
		one->id = (unsigned)i + 1;
		one->group = arena_printf(a, "g%u", next(seed, 3));
		one->has_generation = next(seed, 4) > 0;
		one->generation = next(seed, 5);
		one->empties_group = next(seed, 5) == 0;
		one->span.start.us = next(seed, 30);
		one->span.end.us = one->span.start.us + next(seed, 5);
	}
	return r;
}

static unsigned begun(const struct rebalances *r, struct sv group, int64_t us)
{
	const struct rebalance *best = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *one = &r->items[i];
		if (one->span.start.us <= us && (sv_is_absent(group) || sv_eq(one->group, group)) &&
		    (best == NULL || one->span.start.us >= best->span.start.us))
			best = one;
	}
	return best == NULL ? 0 : best->id;
}

static unsigned of_generation(const struct rebalances *r, struct sv group, int64_t generation, int64_t us)
{
	const struct rebalance *best = NULL;
	int64_t least = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *one = &r->items[i];
		int64_t apart = one->span.start.us > us ? one->span.start.us - us : us - one->span.start.us;
		if (!one->has_generation || one->generation != generation || one->empties_group || !sv_eq(one->group, group) ||
		    (best != NULL && apart >= least))
			continue;
		best = one;
		least = apart;
	}
	return best == NULL ? 0 : best->id;
}

static size_t ended(const struct rebalances *r, int64_t us)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->items[i].span.end.us <= us;
	return n;
}

static void any_rebalances_are_found_alike(void **state)
{
	uint32_t seed = 1;
	size_t found = 0;

	(void)state;
	for (int story = 0; story < 50; story++) {
		struct arena *a = arena_new();
		struct rebalances r = any_rebalances(a, &seed);

		rebalances_index(&r, a);
		for (int n = 0; n < 200; n++) {
			struct sv group = next(&seed, 4) == 0 ? SV_ABSENT : arena_printf(a, "g%u", next(&seed, 4));
			struct ref_time t = { (int64_t)next(&seed, 36) - 2 };
			int64_t generation = next(&seed, 6);

			assert_int_equal(rebalance_begun(&r, group, t), begun(&r, group, t.us));
			assert_int_equal(rebalance_of_generation(&r, group, generation, t), of_generation(&r, group, generation, t.us));
			found += rebalance_of_generation(&r, group, generation, t) != 0;
			/* In the order of their ends: the first so many, and no more. */
			size_t end = rebalances_ended(&r, t);
			assert_int_equal(end, ended(&r, t.us));
			assert_true(end == 0 || r.index->by_end[end - 1]->span.end.us <= t.us);
			assert_true(end == r.count || r.index->by_end[end]->span.end.us > t.us);
		}
		arena_free(a);
	}
	assert_true(found > 1000);
}

static void of_none_there_is_none(void **state)
{
	const struct rebalances none = { .count = 0 };

	(void)state;
	assert_int_equal(rebalance_begun(&none, SV_ABSENT, (struct ref_time){ 5 }), 0);
	assert_int_equal(rebalance_of_generation(&none, SV("g"), 1, (struct ref_time){ 5 }), 0);
	assert_int_equal(rebalances_ended(&none, (struct ref_time){ 5 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_rebalances_are_found_alike),
		cmocka_unit_test(of_none_there_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
