/* SPDX-License-Identifier: MIT */
/* Kaplan-Meier quantiles and binomial limits. See analysis/survival.h and method.md 9. */

#include "analysis/survival.h"

#include <math.h>
#include <stdlib.h>

/* Of each side: 95 % between them. */
#define TAIL 0.025
/* Products of fractions that should meet a bound exactly may miss it by rounding. */
#define ROUNDING 1e-9

static int cmp_duration(const void *x, const void *y)
{
	const struct duration *p = x, *q = y;

	if (p->ms != q->ms)
		return p->ms < q->ms ? -1 : 1;
	return (int)p->censored - (int)q->censored;
}

void survival_sort(struct duration *d, size_t n)
{
	if (n > 0)
		qsort(d, n, sizeof *d, cmp_duration);
}

/* ln P(Bin(n, p) = k) */
static double log_binomial(size_t n, size_t k, double p)
{
	double dn = (double)n, dk = (double)k;

	return lgamma(dn + 1) - lgamma(dk + 1) - lgamma(dn - dk + 1) + dk * log(p) + (dn - dk) * log1p(-p);
}

/*
 * Ranks from 1: *low the largest with P(B <= low - 1) <= TAIL (0 when there is none), *high the smallest with
 * P(B <= high - 1) >= 1 - TAIL (n + 1 when there is none).
 */
static void limit_ranks(size_t n, double p, size_t *low, size_t *high)
{
	double sum = 0;

	*low = 0;
	*high = n + 1;
	for (size_t k = 0; k < n; k++) {
		sum += exp(log_binomial(n, k, p));
		if (sum <= TAIL)
			*low = k + 1;
		if (sum >= 1 - TAIL) {
			*high = k + 1;
			return;
		}
	}
}

/* The duration of a rank among those that ended, the censored ones being longer than all. */
static bool uncensored_rank(const struct duration *d, size_t n, size_t rank, int64_t *ms)
{
	for (size_t i = 0; i < n; i++)
		if (!d[i].censored && --rank == 0) {
			*ms = d[i].ms;
			return true;
		}
	return false;
}

struct quantile survival_quantile(const struct duration *d, size_t n, double p)
{
	struct quantile q = { 0 };
	size_t low, high;
	double going_on = 1;

	for (size_t i = 0; i < n && !q.known; i++) {
		if (d[i].censored)
			continue;
		going_on *= 1 - 1 / (double)(n - i);
		/* Equal ones end together. */
		if (i + 1 < n && !d[i + 1].censored && d[i + 1].ms == d[i].ms)
			continue;
		if (going_on <= 1 - p + ROUNDING) {
			q.known = true;
			q.ms = d[i].ms;
		}
	}
	limit_ranks(n, p, &low, &high);
	q.has_low = low > 0;
	if (q.has_low)
		q.low_ms = d[low - 1].ms;
	q.has_high = high <= n && uncensored_rank(d, n, high, &q.high_ms);
	return q;
}

struct silences survival_summary(struct duration *d, size_t n)
{
	struct silences s = { .n = n };

	if (n == 0)
		return s;
	survival_sort(d, n);
	for (size_t i = 0; i < n; i++)
		s.censored += d[i].censored;
	s.p50 = survival_quantile(d, n, 0.50);
	s.p90 = survival_quantile(d, n, 0.90);
	s.p99 = survival_quantile(d, n, 0.99);
	s.has_max = true;
	s.max_ms = d[n - 1].ms;
	s.supported_quantile = 1 - 1 / (double)n;
	return s;
}
