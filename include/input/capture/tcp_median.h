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

struct tcp_median {
	uint32_t count;
	/* Where the median lies, kept as values come: asking for it costs the same however many there are. */
	uint32_t below;		/* of count, in the buckets before it */
	uint16_t middle;	/* its bucket */
	uint16_t bucket[TCP_MEDIAN_BUCKETS];
};

void tcp_median_add(struct tcp_median *m, int64_t us);
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
