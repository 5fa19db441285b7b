/* SPDX-License-Identifier: MIT */
/* Whom items are about: the index gives what cause_is_of gives of each of them, one by one. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/episode.h"
#include "analysis/who.h"

#define ITEMS 60

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Absent and empty as well: neither is known. */
static struct sv any_of(struct arena *a, uint32_t *seed, char kind)
{
	uint32_t n = next(seed) % 8;

	if (n == 0)
		return SV_ABSENT;
	return n == 1 ? SV("") : arena_printf(a, "%c%u", kind, n % 3);
}

static struct who any(struct arena *a, uint32_t *seed)
{
	struct who w = { any_of(a, seed, 'm'), any_of(a, seed, 'c'), any_of(a, seed, 'h') };

	return w;
}

static bool is_about(struct who item, struct who sought)
{
	const struct cause c = { .member = item.member, .client = item.client, .host = item.host };

	return cause_is_of(&c, sought.member, sought.client, sought.host);
}

static void any_items_are_found_alike(void **state)
{
	uint32_t seed = 1;
	size_t about = 0;

	(void)state;
	for (int story = 0; story < 30; story++) {
		struct arena *a = arena_new();
		struct who_index ix = { .arena = a };
		struct who items[ITEMS];

		for (size_t i = 0; i < ITEMS; i++) {
			items[i] = any(a, &seed);
			who_add(&ix, items[i], i);
		}
		for (int n = 0; n < 60; n++) {
			const struct who sought = any(a, &seed);
			const struct who_found found = who_find(&ix, sought);
			size_t up = 0, down = ITEMS, at;

			for (size_t i = 0; i < ITEMS; i++) {
				if (!is_about(items[i], sought))
					continue;
				assert_true(who_next(&found, up, &at));
				assert_int_equal(at, i);
				up = i + 1;
				about++;
			}
			assert_false(who_next(&found, up, &at));
			for (size_t i = ITEMS; i-- > 0;) {
				if (!is_about(items[i], sought))
					continue;
				assert_true(who_before(&found, down, &at));
				assert_int_equal(at, i);
				down = i;
			}
			assert_false(who_before(&found, down, &at));
		}
		arena_free(a);
	}
	/* That it is no test of nothing. */
	assert_true(about > 1000);
}

static void who_is_sought_among_none_is_not_found(void **state)
{
	struct arena *a = arena_new();
	struct who_index ix = { .arena = a };
	struct who_found found = who_find(&ix, (struct who){ .client = SV("c1") });
	size_t at;

	(void)state;
	assert_false(who_next(&found, 0, &at));
	assert_false(who_before(&found, SIZE_MAX, &at));
	arena_free(a);
}

/* From the lists of one who is sought an item is gone for all who are sought by the same. */
static void what_is_dropped_is_not_found_again(void **state)
{
	struct arena *a = arena_new();
	struct who_index ix = { .arena = a };
	const struct who c1 = { .client = SV("c1") }, c2 = { .client = SV("c2") };
	struct who_found found;
	size_t at;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		who_add(&ix, i == 1 ? c2 : c1, i);
	found = who_find(&ix, c1);
	/* Not the last: it stays. */
	who_drop(&found, 2);
	assert_true(who_before(&found, 3, &at));
	assert_int_equal(at, 2);
	who_drop(&found, 3);
	who_drop(&found, 2);
	found = who_find(&ix, c1);
	assert_true(who_before(&found, SIZE_MAX, &at));
	assert_int_equal(at, 0);
	found = who_find(&ix, c2);
	assert_true(who_before(&found, SIZE_MAX, &at));
	assert_int_equal(at, 1);
	arena_free(a);
}

/* In its place among the others, and once. */
static void who_is_known_better_later_is_found_by_that_too(void **state)
{
	struct arena *a = arena_new();
	struct who_index ix = { .arena = a };
	const struct who on_h1 = { .host = SV("h1") }, c1 = { .client = SV("c1"), .host = SV("h1") };
	struct who_found found;
	size_t at;

	(void)state;
	who_add(&ix, on_h1, 0);
	who_add(&ix, on_h1, 1);
	who_add(&ix, c1, 2);
	who_add(&ix, c1, 0);
	found = who_find(&ix, (struct who){ .client = SV("c1") });
	assert_true(who_next(&found, 0, &at));
	assert_int_equal(at, 0);
	assert_true(who_next(&found, 1, &at));
	assert_int_equal(at, 2);
	assert_false(who_next(&found, 3, &at));
	found = who_find(&ix, on_h1);
	/* As the first it is dropped too; nowhere is it a second time. */
	who_drop(&found, 0);
	assert_true(who_next(&found, 0, &at));
	assert_int_equal(at, 1);
	who_drop(&found, 1);
	assert_true(who_before(&found, SIZE_MAX, &at));
	assert_int_equal(at, 2);
	assert_false(who_before(&found, 2, &at));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_items_are_found_alike),
		cmocka_unit_test(who_is_sought_among_none_is_not_found),
		cmocka_unit_test(what_is_dropped_is_not_found_again),
		cmocka_unit_test(who_is_known_better_later_is_found_by_that_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
