/* SPDX-License-Identifier: MIT */
/*
 * Could it be chance? (method.md 6.) The observed time, holes taken out, is bent
 * to a circle; all triggers are turned around it together, each with its
 * exposure, and counted again. Turning them together keeps storms of rebalances
 * storms, which a binomial null does not.
 */

#include "analysis/chance.h"

#include <math.h>

/* Shifts times roots up to which the answer comes within a second or two. */
#define WORK_MAX UINT64_C(20000000)
#define SHIFTS_LEAST 1000
/* Two-sided 95 % of the normal distribution. */
#define Z_95 1.959963984540054

/* Windows on the circle, with the length of those before each: how much lies in an arc is two look-ups. */
struct ring {
	const struct span_set *of;
	struct span_set arcs;
	int64_t *before;
};

struct arc {
	bool is_exposed;
	int64_t start;
	int64_t length;
	const struct ring *windows;
	const struct ring *rivals;
};

struct proportion proportion_of(size_t count, size_t total)
{
	struct proportion p = { .count = count, .total = total, .known = total > 0 };

	if (!p.known)
		return p;
	double n = (double)total, z2 = Z_95 * Z_95;
	p.share = (double)count / n;
	double middle = (p.share + z2 / (2 * n)) / (1 + z2 / n);
	double half = Z_95 * sqrt(p.share * (1 - p.share) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	p.low = count == 0 ? 0 : middle - half;
	p.high = count == total ? 1 : middle + half;
	return p;
}

struct hit chance_hit(const struct exposed *x, int64_t length_us, int64_t overlap_us, int64_t rival_us)
{
	struct hit h = { .overlap_us = overlap_us, .rival_us = rival_us };

	h.reaches = overlap_us > 0 && overlap_us >= x->need_us;
	h.explains = h.reaches && length_us - overlap_us <= x->slack_us;
	h.rival_reaches = rival_us > 0 && rival_us >= x->need_us;
	h.rival_explains = h.rival_reaches && length_us - rival_us <= x->slack_us;
	h.is_lagged = h.reaches && !(h.rival_explains && !h.explains);
	return h;
}

/* ---- the circle ---- */

/* How much of the observed time lies before t. */
static int64_t unroll(const struct span_set *observed, struct ref_time t)
{
	int64_t us = 0;

	for (size_t i = 0; i < observed->count && observed->items[i].start.us < t.us; i++) {
		struct span s = observed->items[i];
		us += (t.us < s.end.us ? t.us : s.end.us) - s.start.us;
	}
	return us;
}

static void ring_make(struct ring *r, const struct span_set *of, const struct span_set *observed, struct arena *a)
{
	int64_t sum = 0;

	r->of = of;
	for (size_t i = 0; i < of->count; i++) {
		struct span s = { { unroll(observed, of->items[i].start) }, { unroll(observed, of->items[i].end) } };
		span_set_add(&r->arcs, a, s);
	}
	r->before = arena_array(a, r->arcs.count + 1, sizeof *r->before);
	for (size_t i = 0; i < r->arcs.count; i++) {
		r->before[i] = sum;
		sum += span_length_us(r->arcs.items[i]);
	}
	r->before[r->arcs.count] = sum;
}

/* How much of the ring lies in [0, at). */
static int64_t ring_until(const struct ring *r, int64_t at)
{
	size_t low = 0, high = r->arcs.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->arcs.items[middle].end.us <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == r->arcs.count || r->arcs.items[low].start.us >= at)
		return r->before[low];
	return r->before[low] + at - r->arcs.items[low].start.us;
}

static int64_t ring_overlap(const struct ring *r, int64_t start, int64_t length, int64_t round)
{
	int64_t end = start + length;

	if (end <= round)
		return ring_until(r, end) - ring_until(r, start);
	return ring_until(r, round) - ring_until(r, start) + ring_until(r, end - round);
}

/* One ring for each set of windows: there is one set a host, whatever the number of roots. */
static const struct ring *ring_of(struct ring *rings, size_t *count, const struct span_set *of,
				  const struct span_set *observed, struct arena *a)
{
	for (size_t i = *count; i > 0; i--) {
		if (rings[i - 1].of == of)
			return &rings[i - 1];
	}
	ring_make(&rings[*count], of, observed, a);
	return &rings[(*count)++];
}

static size_t count_lagged(const struct exposed *roots, const struct arc *arcs, size_t n, int64_t shift, int64_t round)
{
	size_t lagged = 0;

	for (size_t i = 0; i < n; i++) {
		if (!arcs[i].is_exposed)
			continue;
		int64_t start = (arcs[i].start + shift) % round;
		int64_t overlap = ring_overlap(arcs[i].windows, start, arcs[i].length, round);
		if (overlap < roots[i].need_us)
			continue;
		int64_t rival = ring_overlap(arcs[i].rivals, start, arcs[i].length, round);
		lagged += chance_hit(&roots[i], arcs[i].length, overlap, rival).is_lagged;
	}
	return lagged;
}

/* ---- the random shifts ---- */

/* splitmix64 (Steele, Lea and Flood 2014): one add and three mixes, any seed is good. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The bias of the remainder is below 2^-20 for a year of microseconds. */
static int64_t random_below(uint64_t *state, int64_t limit)
{
	return (int64_t)(next_random(state) % (uint64_t)limit);
}

/* ---- expectation ---- */

/*
 * How much of the circle a trigger may stand on so that its exposure meets a
 * window: the windows dilated by the exposure. Each grows into the gap that
 * follows it, or over all of it.
 */
static int64_t dilated_us(const struct exposed *x, const struct ring *r, int64_t round)
{
	const int64_t length = span_length_us(x->exposure);
	int64_t us = span_set_length_us(&r->arcs);

	for (size_t i = 0; i < r->arcs.count; i++) {
		bool is_last = i + 1 == r->arcs.count;
		int64_t next = is_last ? round + r->arcs.items[0].start.us : r->arcs.items[i + 1].start.us;
		int64_t gap = next - r->arcs.items[i].end.us;
		us += gap < length ? gap : length;
	}
	return us;
}

/* Roots that nothing exposes are never hit, and are in the share's denominator: so they are in the expectation's too. */
static void expect(const struct exposed *roots, const struct arc *arcs, size_t n, struct chance *out)
{
	double sum = 0;
	size_t exposed = 0;

	for (size_t i = 0; i < n; i++) {
		if (!arcs[i].is_exposed)
			continue;
		sum += (double)dilated_us(&roots[i], arcs[i].windows, out->observed_us);
		exposed++;
	}
	out->dilated_us = exposed == 0 ? 0 : (int64_t)llround(sum / (double)exposed);
	out->expected_share = sum / (double)out->observed_us / (double)n;
}

static unsigned affordable(unsigned shifts, size_t n)
{
	uint64_t most = WORK_MAX / (n + 1);

	if (most < SHIFTS_LEAST)
		most = SHIFTS_LEAST;
	return shifts < most ? shifts : (unsigned)most;
}

void chance_find(const struct exposed *roots, size_t n, size_t lagged, const struct span_set *observed, unsigned shifts,
		 uint64_t seed, struct arena *a, struct chance *out)
{
	const int64_t round = span_set_length_us(observed);
	struct ring *rings = arena_array(a, 2 * n + 1, sizeof *rings);
	struct arc *arcs = arena_array(a, n + 1, sizeof *arcs);
	size_t ring_count = 0, as_good = 0;

	*out = (struct chance){ .known = round > 0 && n > 0, .observed_us = round };
	if (!out->known)
		return;
	for (size_t i = 0; i < n; i++) {
		int64_t start = unroll(observed, roots[i].exposure.start), end = unroll(observed, roots[i].exposure.end);
		arcs[i] = (struct arc){ .is_exposed = roots[i].has_exposure && end > start, .start = start, .length = end - start };
		if (!arcs[i].is_exposed)
			continue;
		arcs[i].windows = ring_of(rings, &ring_count, roots[i].windows, observed, a);
		arcs[i].rivals = ring_of(rings, &ring_count, roots[i].rivals, observed, a);
	}
	expect(roots, arcs, n, out);
	out->has_lift = out->expected_share > 0;
	if (out->has_lift)
		out->lift = (double)lagged / (double)n / out->expected_share;
	out->shifts = affordable(shifts, n);
	for (unsigned i = 0; i < out->shifts; i++)
		as_good += count_lagged(roots, arcs, n, random_below(&seed, round), round) >= lagged;
	out->p_value = (double)(1 + as_good) / (double)(1 + out->shifts);
}
