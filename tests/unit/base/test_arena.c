/* SPDX-License-Identifier: MIT */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/arena.h"

static void assert_zero(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(((const unsigned char *)bytes)[i], 0);
}

static void test_pieces_are_zeroed_aligned_and_apart(void **state)
{
	static const size_t sizes[] = { 1, 17, 4096, 65536, 65537, 3, 1000000, 24 };
	struct arena *a = arena_new();
	unsigned char *pieces[8];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		pieces[i] = arena_alloc(a, sizes[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		assert_zero(pieces[i], sizes[i]);
		memset(pieces[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < 8; i++)
		for (size_t at = 0; at < sizes[i]; at++)
			assert_int_equal(pieces[i][at], i + 1);
	arena_free(a);
}

/* What was used before a reset is zeroed again for whoever gets it next. */
static void test_reset_begins_anew(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++)
			memset(arena_alloc(a, 5000), 0xff, 5000);
		memset(arena_alloc(a, 200000), 0xff, 200000);
		arena_reset(a);
		assert_zero(arena_alloc(a, 60000), 60000);
		arena_reset(a);
	}
	arena_free(a);
}

/* Through small blocks and large ones, with other pieces between, that stay where they are. */
static void test_an_array_keeps_its_items_as_it_grows(void **state)
{
	struct arena *a = arena_new();
	uint64_t *items = NULL, *others = NULL;
	size_t count = 0, capacity = 0, other_count = 0, other_capacity = 0;
	unsigned char *large = arena_alloc(a, 100000);

	(void)state;
	memset(large, 7, 100000);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t *item = ARENA_PUSH(a, items, count, capacity);

		assert_int_equal(*item, 0);
		*item = i + 1;
		if (i % 3 == 0)
			*ARENA_PUSH(a, others, other_count, other_capacity) = i;
	}
	assert_int_equal(count, 200000);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(items[i], i + 1);
	for (uint64_t i = 0; i < other_count; i++)
		assert_int_equal(others[i], 3 * i);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(large[i], 7);
	arena_free(a);
}

static void test_absent_stays_absent(void **state)
{
	struct arena *a = arena_new();
	struct sv text = arena_printf(a, "%s-%d", "refunds", 3);

	(void)state;
	assert_true(sv_is_absent(arena_copy(a, SV_ABSENT)));
	assert_false(sv_is_absent(arena_copy(a, SV(""))));
	assert_true(sv_eq(text, SV("refunds-3")));
	assert_int_equal(text.p[text.n], '\0');
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(test_reset_begins_anew),
		cmocka_unit_test(test_an_array_keeps_its_items_as_it_grows),
		cmocka_unit_test(test_absent_stays_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
