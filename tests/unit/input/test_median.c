/* SPDX-License-Identifier: MIT */
/* Medians that are kept as values come, against counting from the first bucket on. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/capture/tcp_median.h"

/* By the definition in the header: a quarter of an octave a bucket, its values spread evenly over it. */
static int64_t counted_us(const struct tcp_median *m)
{
	uint32_t below = 0, middle = m->count / 2;

	for (unsigned i = 0; i < TCP_MEDIAN_BUCKETS; i++) {
		uint64_t octave = UINT64_C(1) << i / 4;

		if (middle < below + m->bucket[i])
			return (int64_t)(((4 + i % 4) * octave + octave * (middle - below) / m->bucket[i]) / 4);
		below += m->bucket[i];
	}
	return 0;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static void nothing_has_no_median(void **state)
{
	const struct tcp_median m = { .count = 0 };

	(void)state;
	assert_int_equal(tcp_median_us(&m), 0);
}

static void the_middle_of_three_is_within_an_eighth(void **state)
{
	struct tcp_median m = { .count = 0 };

	(void)state;
	tcp_median_add(&m, 90000);
	tcp_median_add(&m, 1000);
	tcp_median_add(&m, 20);
	assert_in_range(tcp_median_us(&m), 875, 1125);
}

/* Upwards, downwards, and all over the range; beyond both of its ends as well. */
static void every_value_moves_the_median_to_where_counting_finds_it(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned order = 0; order < 3; order++) {
		struct tcp_median m = { .count = 0 };

		for (int i = 0; i < 3000; i++) {
			uint64_t any = next_random(&seed) >> next_random(&seed) % 34;
			int64_t us = order == 0 ? i * 7 : order == 1 ? (3000 - i) * 7 : (int64_t)any;

			tcp_median_add(&m, i % 500 == 0 ? -us : i % 700 == 0 ? INT64_MAX - us : us);
			assert_int_equal(tcp_median_us(&m), counted_us(&m));
		}
	}
}

/* 65,536 in one bucket and some in others: all are halved, and the median stays. */
static void a_full_bucket_halves_all(void **state)
{
	struct tcp_median m = { .count = 0 };

	(void)state;
	for (int i = 0; i < 70000; i++) {
		tcp_median_add(&m, 300);
		tcp_median_add(&m, i % 2 == 0 ? 5 : 100000);
		assert_int_equal(tcp_median_us(&m), counted_us(&m));
	}
	assert_true(m.count < 120000);
	assert_in_range(tcp_median_us(&m), 256, 320);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_median),
		cmocka_unit_test(the_middle_of_three_is_within_an_eighth),
		cmocka_unit_test(every_value_moves_the_median_to_where_counting_finds_it),
		cmocka_unit_test(a_full_bucket_halves_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
