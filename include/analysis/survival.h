/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_SURVIVAL_H
#define AFTERSHOCK_ANALYSIS_SURVIVAL_H

/*
 * Quantiles of durations of which some were cut short by the end of the
 * evidence (Kaplan and Meier 1958), with distribution-free confidence limits
 * (order statistics).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct duration {
	int64_t ms;
	bool censored;	/* it lasted at least so long */
};

struct quantile {
	bool known;
	int64_t ms;
	bool has_low, has_high;		/* 95 % confidence limits by order statistics; a side may lie outside the data */
	int64_t low_ms, high_ms;
};

struct silences {
	size_t n, censored;
	struct quantile p50, p90, p99;
	bool has_max;
	int64_t max_ms;
	double supported_quantile;	/* the highest that n supports: 1 - 1/n; 0 when n == 0 */
};

/* By length; of equal ones those that ended come before those that were cut short. */
void survival_sort(struct duration *d, size_t n);

/*
 * Sorted durations, 0 < p < 1. The quantile is the first duration at which the
 * part still going on falls to 1 - p; not known when censoring keeps it above.
 * Limits: the duration of rank l, the largest with P(Bin(n, p) < l) <= 2.5 %, and
 * that of rank u, the smallest with P(Bin(n, p) >= u) <= 2.5 %. A censored one may be
 * any longer: it holds its place for the lower limit, and none for the upper.
 */
struct quantile survival_quantile(const struct duration *d, size_t n, double p);

/* Sorts them. */
struct silences survival_summary(struct duration *d, size_t n);

#endif
