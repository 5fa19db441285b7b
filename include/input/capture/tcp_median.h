/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_MEDIAN_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_MEDIAN_H

/*
 * Medians of durations in constant memory: of a whole path, by a histogram
 * whose buckets are a quarter of an octave wide (so within an eighth of the
 * truth); of one second, from a thinned set of the samples themselves.
 */

#include <stdint.h>

#define TCP_MEDIAN_BUCKETS 120	/* 30 octaves of microseconds: to 18 minutes */
/* Values that wait, so that the buckets, which lie in other lines of the cache, are touched once for so many. */
#define TCP_MEDIAN_WAITING 13

struct tcp_median {
	/* Of what is in the buckets; where its median lies is kept: to ask costs the same however many there are. */
	uint32_t count;
	uint32_t below;		/* of count, in the buckets before it */
	uint16_t middle;	/* its bucket */
	uint8_t waits;
	uint8_t waiting[TCP_MEDIAN_WAITING];	/* the buckets of the latest values, which do not count there yet */
	uint16_t bucket[TCP_MEDIAN_BUCKETS];
};

/* Puts what waits into the buckets, in order. Nobody else sees a difference. */
void tcp_median_settle(struct tcp_median *m);

static inline uint8_t tcp_median_bucket(int64_t us)
{
	uint64_t v = us < 1 ? 1 : (uint64_t)us;
	unsigned octave = 63U - (unsigned)__builtin_clzll(v);
	unsigned bucket = octave * 4 + (unsigned)((v << 2 >> octave) & 3);

	return (uint8_t)(bucket < TCP_MEDIAN_BUCKETS ? bucket : TCP_MEDIAN_BUCKETS - 1);
}

static inline void tcp_median_add(struct tcp_median *m, int64_t us)
{
	m->waiting[m->waits++] = tcp_median_bucket(us);
	if (m->waits == TCP_MEDIAN_WAITING)
		tcp_median_settle(m);
}

/* How many were added; fewer once a bucket was full. */
uint32_t tcp_median_count(const struct tcp_median *m);
/* 0 when nothing was added. */
int64_t tcp_median_us(const struct tcp_median *m);

#define TCP_SAMPLES_KEPT 24

/* Of n values, at most TCP_SAMPLES_KEPT, in any order; 0 of none. */
uint32_t tcp_median_of(const uint32_t *value_us, uint32_t n);

struct tcp_samples {
	uint32_t total;
	uint32_t stride;	/* every stride-th sample is kept; 0 stands for 1 */
	uint32_t kept;
	uint32_t min_us, max_us;	/* of all */
	uint32_t value_us[TCP_SAMPLES_KEPT];
};

void tcp_samples_add(struct tcp_samples *s, int64_t us);
/* 0 when nothing was added. */
int64_t tcp_samples_median_us(const struct tcp_samples *s);

#endif
