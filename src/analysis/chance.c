/* SPDX-License-Identifier: MIT */
/*
 * Could it be chance? (method.md 6.) The observed time, holes taken out, is bent
 * to a circle; all triggers are turned around it together, each with its
 * exposure, and counted again. Turning them together keeps storms of rebalances
 * storms, which a binomial null does not.
 */

#include "analysis/chance.h"

#include <math.h>
#include <stdlib.h>

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
	const struct exposed *root;
	int64_t start;
	int64_t length;
	const struct ring *windows;
	const struct ring *rivals;
};

/* Where the last look-ups in a ring ended: arcs are taken in the order of their starts, so the next is near. */
struct cursor {
	size_t start, end;
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

/* The first arc of the ring that ends after at, by doubling steps from a guess. */
static size_t ring_seek(const struct ring *r, size_t guess, int64_t at)
{
	const struct span *arcs = r->arcs.items;
	const size_t count = r->arcs.count;
	size_t low = guess, high = guess, step = 1;

	if (low < count && arcs[low].end.us <= at) {
		while (high < count && arcs[high].end.us <= at) {
			low = high + 1;
			high = count - high > step ? high + step : count;
			step *= 2;
		}
	} else {
		while (low > 0 && arcs[low - 1].end.us > at) {
			high = low - 1;
			low = high > step ? high - step : 0;
			step *= 2;
		}
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (arcs[middle].end.us <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How much of the ring lies in [0, at). */
static int64_t ring_until(const struct ring *r, int64_t at, size_t *cursor)
{
	size_t i = *cursor = ring_seek(r, *cursor, at);

	if (i == r->arcs.count || r->arcs.items[i].start.us >= at)
		return r->before[i];
	return r->before[i] + at - r->arcs.items[i].start.us;
}

static int64_t ring_overlap(const struct ring *r, int64_t start, int64_t length, int64_t round, struct cursor *c)
{
	int64_t end = start + length;

	if (end <= round)
		return ring_until(r, end, &c->end) - ring_until(r, start, &c->start);
	return r->before[r->arcs.count] - ring_until(r, start, &c->start) + ring_until(r, end - round, &c->end);
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

static int compare_arcs(const void *left, const void *right)
{
	const struct arc *x = left, *y = right;

	if (x->windows != y->windows)
		return x->windows < y->windows ? -1 : 1;
	if (x->rivals != y->rivals)
		return x->rivals < y->rivals ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static size_t count_lagged(const struct arc *arcs, size_t n, int64_t shift, int64_t round)
{
	struct cursor windows = { 0, 0 }, rivals = { 0, 0 };
	size_t lagged = 0;

	for (size_t i = 0; i < n; i++) {
		const struct arc *arc = &arcs[i];
		int64_t start = arc->start + shift - (arc->start + shift >= round ? round : 0);

		if (i > 0 && arc->windows != arcs[i - 1].windows)
			windows = (struct cursor){ 0, 0 };
		if (i > 0 && arc->rivals != arcs[i - 1].rivals)
			rivals = (struct cursor){ 0, 0 };
		int64_t overlap = ring_overlap(arc->windows, start, arc->length, round, &windows);
		if (overlap < arc->root->need_us)
			continue;
		int64_t rival = ring_overlap(arc->rivals, start, arc->length, round, &rivals);
		lagged += chance_hit(arc->root, arc->length, overlap, rival).is_lagged;
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
static void expect(const struct arc *arcs, size_t exposed, size_t n, struct chance *out)
{
	double sum = 0;
	int64_t us = 0;

	for (size_t i = 0; i < exposed; i++) {
		/* As a rule all exposures of a group are equally long. */
		bool is_same = i > 0 && arcs[i].windows == arcs[i - 1].windows &&
			       span_length_us(arcs[i].root->exposure) == span_length_us(arcs[i - 1].root->exposure);
		if (!is_same)
			us = dilated_us(arcs[i].root, arcs[i].windows, out->observed_us);
		sum += (double)us;
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
	size_t ring_count = 0, exposed = 0, as_good = 0;

	*out = (struct chance){ .known = round > 0 && n > 0, .observed_us = round };
	if (!out->known)
		return;
	for (size_t i = 0; i < n; i++) {
		int64_t start = unroll(observed, roots[i].exposure.start), end = unroll(observed, roots[i].exposure.end);
		if (!roots[i].has_exposure || end <= start)
			continue;
		arcs[exposed++] = (struct arc){
			.root = &roots[i], .start = start, .length = end - start,
			.windows = ring_of(rings, &ring_count, roots[i].windows, observed, a),
			.rivals = ring_of(rings, &ring_count, roots[i].rivals, observed, a),
		};
	}
	if (exposed > 1)
		qsort(arcs, exposed, sizeof *arcs, compare_arcs);
	expect(arcs, exposed, n, out);
	out->has_lift = out->expected_share > 0;
	if (out->has_lift)
		out->lift = (double)lagged / (double)n / out->expected_share;
	out->shifts = affordable(shifts, n);
	for (unsigned i = 0; i < out->shifts; i++)
		as_good += count_lagged(arcs, exposed, random_below(&seed, round), round) >= lagged;
	out->p_value = (double)(1 + as_good) / (double)(1 + out->shifts);
}
