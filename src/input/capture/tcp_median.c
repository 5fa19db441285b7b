/* SPDX-License-Identifier: MIT */
/* Durations in, medians out; see the header for how exact. */

#include "input/capture/tcp_median.h"

#include <stddef.h>
#include <string.h>

/* ---- the histogram ---- */

/* Four times its lower end, so that the first octaves stay whole numbers. */
static uint64_t lower_end_x4(unsigned bucket)
{
	return (uint64_t)(4 + bucket % 4) << bucket / 4;
}

/* To the bucket that holds the value in the middle; a few values move it by a bucket or two. */
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

void tcp_median_settle(struct tcp_median *m)
{
	for (unsigned i = 0; i < m->waits; i++) {
		unsigned bucket = m->waiting[i];

		if (m->bucket[bucket] == UINT16_MAX)
			halve(m);
		m->bucket[bucket]++;
		m->below += bucket < m->middle;
		m->count++;
	}
	m->waits = 0;
	/* Where it lies depends on what is in the buckets alone, not on when it is looked for. */
	find_middle(m);
}

/* Asked seldom, so that the copy does not matter. */
static struct tcp_median settled(const struct tcp_median *m)
{
	struct tcp_median all = *m;

	if (all.waits > 0)
		tcp_median_settle(&all);
	return all;
}

uint32_t tcp_median_count(const struct tcp_median *m)
{
	return m->waits > 0 ? settled(m).count : m->count;
}

int64_t tcp_median_us(const struct tcp_median *m)
{
	const struct tcp_median all = settled(m);
	uint64_t width_x4 = UINT64_C(1) << all.middle / 4;

	/* As if the bucket's values were spread evenly over it. */
	return all.count == 0 ? 0 : (int64_t)((lower_end_x4(all.middle) +
					       width_x4 * (all.count / 2 - all.below) / all.bucket[all.middle]) / 4);
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
	/* A power of two. */
	if ((s->total++ & (s->stride - 1)) != 0)
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
