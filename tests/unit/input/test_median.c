/* SPDX-License-Identifier: MIT */
/* Medians that are kept as values come, against counting from the first bucket on. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/capture/tcp_median.h"

/* The same values, put where they belong at once and looked for from the first bucket on. */
struct counted {
	uint32_t count;
	uint32_t bucket[TCP_MEDIAN_BUCKETS];
};

static void add(struct tcp_median *m, struct counted *c, int64_t us)
{
	/* Quarters of octaves: the last whose lower end, (4 + quarter) * 2^octave / 4, is not above the value. */
	unsigned at = 0;

	while (at + 1 < TCP_MEDIAN_BUCKETS && us >= 0 && (uint64_t)us * 4 >= (uint64_t)(4 + (at + 1) % 4) << (at + 1) / 4)
		at++;
	if (c->bucket[at] == UINT16_MAX) {
		c->count = 0;
		for (unsigned i = 0; i < TCP_MEDIAN_BUCKETS; i++)
			c->count += c->bucket[i] /= 2;
	}
	c->bucket[at]++;
	c->count++;
	tcp_median_add(m, us);
}

/* By the definition in the header: a quarter of an octave a bucket, its values spread evenly over it. */
static int64_t counted_us(const struct counted *c)
{
	uint32_t below = 0, middle = c->count / 2;

	for (unsigned i = 0; i < TCP_MEDIAN_BUCKETS; i++) {
		uint64_t octave = UINT64_C(1) << i / 4;

		if (middle < below + c->bucket[i])
			return (int64_t)(((4 + i % 4) * octave + octave * (middle - below) / c->bucket[i]) / 4);
		below += c->bucket[i];
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
		struct counted c = { .count = 0 };

		for (int i = 0; i < 3000; i++) {
			uint64_t any = next_random(&seed) >> next_random(&seed) % 34;
			int64_t us = order == 0 ? i * 7 : order == 1 ? (3000 - i) * 7 : (int64_t)any;

			add(&m, &c, i % 500 == 0 ? -us : i % 700 == 0 ? INT64_MAX / 4 - us : us);
			assert_int_equal(tcp_median_us(&m), counted_us(&c));
			assert_int_equal(tcp_median_count(&m), i + 1);
		}
	}
}

/* 65,536 in one bucket and some in others: all are halved, and the median stays. */
static void a_full_bucket_halves_all(void **state)
{
	struct tcp_median m = { .count = 0 };
	struct counted c = { .count = 0 };

	(void)state;
	for (int i = 0; i < 70000; i++) {
		add(&m, &c, 300);
		add(&m, &c, i % 2 == 0 ? 5 : 100000);
		/* Now and then: most values wait in company. */
		if (i % 5 == 0)
			assert_int_equal(tcp_median_us(&m), counted_us(&c));
	}
	assert_int_equal(tcp_median_count(&m), c.count);
	assert_true(c.count < 120000);
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
