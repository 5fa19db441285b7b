/* SPDX-License-Identifier: MIT */
/* Durations in, medians out; see the header for how exact. */

#include "input/capture/tcp_median.h"

#include <stddef.h>
#include <string.h>

/* ---- the histogram ---- */

/* v is not 0. */
static unsigned octave_of(uint64_t v)
{
	return 63U - (unsigned)__builtin_clzll(v);
}

static unsigned bucket_of(int64_t us)
{
	uint64_t v = us < 1 ? 1 : (uint64_t)us;
	unsigned octave = octave_of(v);
	unsigned bucket = octave * 4 + (unsigned)((v << 2 >> octave) & 3);

	return bucket < TCP_MEDIAN_BUCKETS ? bucket : TCP_MEDIAN_BUCKETS - 1;
}

/* Four times its lower end, so that the first octaves stay whole numbers. */
static uint64_t lower_end_x4(unsigned bucket)
{
	return (uint64_t)(4 + bucket % 4) << bucket / 4;
}

/* To the bucket that holds the value in the middle; one value moves it by a bucket or two. */
static void find_middle(struct tcp_median *m)
{
	uint32_t middle = m->count / 2;

	while (middle < m->below)
		m->below -= m->bucket[--m->middle];
	while (middle >= m->below + m->bucket[m->middle])
		m->below += m->bucket[m->middle++];
}

/* A full bucket halves all: the median keeps its place, and what is old weighs less. */
static void halve(struct tcp_median *m)
{
	m->count = m->below = 0;
	for (unsigned i = 0; i < TCP_MEDIAN_BUCKETS; i++) {
		m->bucket[i] = m->bucket[i] / 2;
		m->count += m->bucket[i];
		m->below += i < m->middle ? m->bucket[i] : 0;
	}
}

void tcp_median_add(struct tcp_median *m, int64_t us)
{
	unsigned bucket = bucket_of(us);

	if (m->bucket[bucket] == UINT16_MAX)
		halve(m);
	m->bucket[bucket]++;
	m->below += bucket < m->middle;
	m->count++;
	find_middle(m);
}

int64_t tcp_median_us(const struct tcp_median *m)
{
	uint64_t width_x4 = UINT64_C(1) << m->middle / 4;

	/* As if the bucket's values were spread evenly over it. */
	return m->count == 0 ? 0 : (int64_t)((lower_end_x4(m->middle) +
					      width_x4 * (m->count / 2 - m->below) / m->bucket[m->middle]) / 4);
}

/* ---- the thinned set ---- */

static void thin(struct tcp_samples *s)
{
	for (uint32_t i = 0; i < s->kept / 2; i++)
		s->value_us[i] = s->value_us[2 * i];
	s->kept /= 2;
	s->stride *= 2;
}

void tcp_samples_add(struct tcp_samples *s, int64_t us)
{
	uint32_t value = us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;

	if (s->total == 0 || value < s->min_us)
		s->min_us = value;
	if (s->total == 0 || value > s->max_us)
		s->max_us = value;
	if (s->stride == 0)
		s->stride = 1;
	if (s->total++ % s->stride != 0)
		return;
	if (s->kept == TCP_SAMPLES_KEPT)
		thin(s);
	s->value_us[s->kept++] = value;
}

uint32_t tcp_median_of(const uint32_t *value_us, uint32_t n)
{
	uint32_t sorted[TCP_SAMPLES_KEPT];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;

		for (; at > 0 && sorted[at - 1] > value_us[i]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = value_us[i];
	}
	return n > 0 ? sorted[n / 2] : 0;
}

int64_t tcp_samples_median_us(const struct tcp_samples *s)
{
	return tcp_median_of(s->value_us, s->kept);
}
