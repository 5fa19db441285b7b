/* SPDX-License-Identifier: MIT */
/*
 * The corridor between the bounds of a clock's offset (method.md 2; Duda et al.
 * 1987).
 *
 * A bound is a point (time, offset): the offset runs below all points from
 * above and above all points from below. Only the hulls of the two clouds
 * matter, so the lines that fit form a convex polygon of few corners. What is
 * said of the offset is a constant where one fits, else the line in the widest
 * place; how far it may be off is said by all lines that fit, slopes up to
 * 500 ppm: a constant that fits does not prove that the clock did not drift.
 *
 * Where no line fits the clock was set. The longest run of bounds from the
 * first on that one line fits ends no earlier than the step, and the longest
 * run from the last one back begins no later: the step is between the two, and
 * what lies between belongs to neither piece.
 */

#include "analysis/clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NTP slews by at most 500 ppm; quartz drifts by less than 100. */
#define SLOPE_MAX 500e-6
/* A line through fewer bounds on a side may be a step in disguise. */
#define LINE_LEAST_BOUNDS 4
#define SEARCH_STEPS 80
/* Strays make two runs each. A clock that was set more often than PIECES_MAX within one incident is not understood. */
#define RUNS_MAX 128
#define PIECES_MAX 16

enum { ABOVE, BELOW };

/* Points of a lower hull, by x. Of bounds from below it is the hull of the mirrored points. */
struct hull {
	double *x, *y;
	size_t count;
};

/* The lines that fit a run of bounds. */
struct corridor {
	struct hull sides[2];
	size_t counts[2];	/* bounds, of which the hulls are a few */
	double first, last;	/* times of bounds; meaningful when there are any */
};

struct run {
	size_t from, to;	/* bounds [from, to) */
};

struct fitter {
	struct clock_bounds *bounds;	/* in true order */
	size_t *by_time;		/* their indices in the order of the host's clock */
	bool *is_refuted;
	double *room;			/* for two hulls */
};

/* ---- hulls ---- */

static void hull_add(struct hull *h, double x, double y)
{
	while (h->count >= 2) {
		double ax = h->x[h->count - 1] - h->x[h->count - 2], ay = h->y[h->count - 1] - h->y[h->count - 2];
		double bx = x - h->x[h->count - 2], by = y - h->y[h->count - 2];

		if (ax * by - ay * bx > 0)
			break;
		h->count--;
	}
	h->x[h->count] = x;
	h->y[h->count++] = y;
}

/* The least y - slope * x: at the corner where the edges become steeper than slope. */
static double hull_least(const struct hull *h, double slope)
{
	size_t low = 0, high = h->count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->y[middle + 1] - h->y[middle] < slope * (h->x[middle + 1] - h->x[middle]))
			low = middle + 1;
		else
			high = middle;
	}
	return h->y[low] - slope * h->x[low];
}

/* Times count from the run's first, so that small slopes lose no digits. */
static struct corridor corridor_of(const struct fitter *f, struct run r)
{
	struct corridor c = { .first = HUGE_VAL, .last = -HUGE_VAL };
	const struct clock_bound *items = f->bounds->items;
	const size_t n = f->bounds->count;

	for (size_t i = r.from; i < r.to; i++) {
		if (f->is_refuted[i])
			continue;
		c.first = fmin(c.first, (double)items[i].at_us);
		c.last = fmax(c.last, (double)items[i].at_us);
	}
	for (int side = ABOVE; side <= BELOW; side++) {
		c.sides[side].x = f->room + (size_t)(2 * side) * n;
		c.sides[side].y = f->room + (size_t)(2 * side + 1) * n;
	}
	for (size_t k = 0; k < n; k++) {
		size_t i = f->by_time[k];
		int side = items[i].is_above ? ABOVE : BELOW;
		double value = (double)items[i].value_us;

		if (i < r.from || i >= r.to || f->is_refuted[i])
			continue;
		hull_add(&c.sides[side], (double)items[i].at_us - c.first, side == ABOVE ? value : -value);
		c.counts[side]++;
	}
	return c;
}

/* ---- lines in the corridor ---- */

/* The highest and the lowest offset at the run's first time, of the lines with this slope. */
static double highest(const struct corridor *c, double slope)
{
	return hull_least(&c->sides[ABOVE], slope);
}

static double lowest(const struct corridor *c, double slope)
{
	return -hull_least(&c->sides[BELOW], -slope);
}

/* What a search over slopes asks; all are concave. */
enum extent { EXTENT_WIDTH, EXTENT_UP, EXTENT_DOWN };

static double extent(const struct corridor *c, double slope, enum extent what, double at)
{
	switch (what) {
	case EXTENT_UP:
		return highest(c, slope) + slope * at;
	case EXTENT_DOWN:
		return -(lowest(c, slope) + slope * at);
	case EXTENT_WIDTH:
		break;
	}
	return highest(c, slope) - lowest(c, slope);
}

/* The slope in [from, to] of the greatest extent. */
static double best_slope(const struct corridor *c, double from, double to, enum extent what, double at)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (extent(c, a, what, at) < extent(c, b, what, at))
			from = a;
		else
			to = b;
	}
	return (from + to) / 2;
}

static bool fits(const struct corridor *c, double slope)
{
	return extent(c, slope, EXTENT_WIDTH, 0) >= 0;
}

static bool any_fits(const struct corridor *c)
{
	if (c->counts[ABOVE] == 0 || c->counts[BELOW] == 0 || fits(c, 0))
		return true;
	return fits(c, best_slope(c, -SLOPE_MAX, SLOPE_MAX, EXTENT_WIDTH, 0));
}

/* The edge of the slopes that fit, between one that does and one that may not. */
static double edge_slope(const struct corridor *c, double inside, double outside)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (fits(c, middle))
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* A line, and the slopes of all that fit. */
struct line {
	double start, slope;
	double least, greatest;
};

static struct line line_of(const struct corridor *c)
{
	struct line l = { 0 };

	if (!fits(c, 0))
		l.slope = best_slope(c, -SLOPE_MAX, SLOPE_MAX, EXTENT_WIDTH, 0);
	l.start = (highest(c, l.slope) + lowest(c, l.slope)) / 2;
	l.least = edge_slope(c, l.slope, -SLOPE_MAX);
	l.greatest = edge_slope(c, l.slope, SLOPE_MAX);
	return l;
}

/* How far a line that fits may be from l at a time after the run's first. */
static double distance_at(const struct corridor *c, const struct line *l, double at)
{
	double here = l->start + l->slope * at;
	double up = best_slope(c, l->least, l->greatest, EXTENT_UP, at);
	double down = best_slope(c, l->least, l->greatest, EXTENT_DOWN, at);

	return fmax(extent(c, up, EXTENT_UP, at) - here, here + extent(c, down, EXTENT_DOWN, at));
}

/* Where l is known best: the distance is convex. */
static double waist_of(const struct corridor *c, const struct line *l)
{
	double from = 0, to = c->last - c->first;

	for (int i = 0; i < SEARCH_STEPS / 2; i++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (distance_at(c, l, a) > distance_at(c, l, b))
			from = a;
		else
			to = b;
	}
	return (from + to) / 2;
}

/* ---- one piece ---- */

static void find_tightest(const struct fitter *f, struct run r, struct fitted_piece *p)
{
	int64_t values[2] = { 0 };

	for (size_t i = r.from; i < r.to; i++) {
		const struct clock_bound *b = &f->bounds->items[i];
		int side = b->is_above ? ABOVE : BELOW;

		if (f->is_refuted[i])
			continue;
		if (p->has_tightest[side] && (side == ABOVE ? b->value_us >= values[side] : b->value_us <= values[side]))
			continue;
		p->has_tightest[side] = true;
		p->tightest[side] = b->link;
		values[side] = b->value_us;
	}
	/* What is bounded from one side moves no further from 0 than it must. */
	if (p->has_tightest[ABOVE] && values[ABOVE] < 0)
		p->piece.offset_us = values[ABOVE];
	if (p->has_tightest[BELOW] && values[BELOW] > 0)
		p->piece.offset_us = values[BELOW];
}

/* Rounded up, with a microsecond for what the searches leave. */
static int64_t ceil_us(double us)
{
	return (int64_t)ceil(us) + 1;
}

/* With few bounds a step may be taken for drift: by as much as the bounds contradict a constant. */
static double disguised_step(const struct corridor *c)
{
	if (c->counts[ABOVE] >= LINE_LEAST_BOUNDS && c->counts[BELOW] >= LINE_LEAST_BOUNDS)
		return 0;
	return fmax(0, -extent(c, 0, EXTENT_WIDTH, 0));
}

static void fit_line(const struct corridor *c, struct clock_piece *p)
{
	struct line l = line_of(c);
	double waist = waist_of(c, &l), extra = disguised_step(c);
	double ends = fmax(distance_at(c, &l, 0), distance_at(c, &l, c->last - c->first));

	p->offset_us = llround(l.start);
	p->drift_ppm = l.slope * 1e6;
	p->has_uncertainty = true;
	p->uncertainty_us = ceil_us(ends + extra);
	p->best.us = p->first.us + llround(waist);
	p->best_uncertainty_us = ceil_us(distance_at(c, &l, waist) + extra);
	p->growth_ppm = fmax(l.greatest - l.slope, l.slope - l.least) * 1e6;
}

static struct fitted_piece fit_piece(const struct fitter *f, struct run r)
{
	struct fitted_piece p = { .piece.since = { INT64_MIN } };
	struct corridor c = corridor_of(f, r);

	p.piece.first.us = (int64_t)c.first;
	p.piece.last.us = (int64_t)c.last;
	p.piece.links_forward = c.counts[ABOVE];
	p.piece.links_backward = c.counts[BELOW];
	p.is_enclosed = c.counts[ABOVE] > 0 && c.counts[BELOW] > 0;
	find_tightest(f, r, &p);
	if (p.is_enclosed)
		fit_line(&c, &p.piece);
	return p;
}

/* ---- steps ---- */

/* The end of the longest run from "from" on that a line fits: it can only be lost by adding bounds. */
static size_t longest_forward(const struct fitter *f, size_t from)
{
	size_t low = from + 1, high = f->bounds->count;

	while (low < high) {
		size_t middle = high - (high - low) / 2;
		struct corridor c = corridor_of(f, (struct run){ from, middle });

		if (any_fits(&c))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The start of the longest run that ends at "to". */
static size_t longest_backward(const struct fitter *f, size_t to)
{
	size_t low = 0, high = to - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct corridor c = corridor_of(f, (struct run){ middle, to });

		if (any_fits(&c))
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

/* Cuts into as few runs as lines can fit; 0 when more than RUNS_MAX would be needed. */
static size_t find_runs(const struct fitter *f, struct run runs[RUNS_MAX])
{
	const size_t n = f->bounds->count;
	size_t count = 0, to = n;

	for (size_t from = 0; from < n; from = runs[count - 1].to) {
		if (count == RUNS_MAX)
			return 0;
		runs[count++] = (struct run){ from, longest_forward(f, from) };
	}
	/* From the last back, with as many: what both ways count to one piece is that piece's. */
	for (size_t i = count; i-- > 1;) {
		size_t start = longest_backward(f, to);

		if (start > runs[i - 1].from)
			runs[i - 1].to = start;
		to = start;
	}
	return count;
}

static bool is_enclosed(const struct fitter *f, struct run r)
{
	bool has[2] = { false, false };

	for (size_t i = r.from; i < r.to; i++)
		has[f->bounds->items[i].is_above] |= !f->is_refuted[i];
	return has[0] && has[1];
}

static size_t refute(struct fitter *f, struct run r, bool is_refuted)
{
	size_t changed = 0;

	for (size_t i = r.from; i < r.to; i++) {
		changed += f->is_refuted[i] != is_refuted;
		f->is_refuted[i] = is_refuted;
	}
	return changed;
}

/*
 * A clock that is set and soon set back, with nothing to enclose it meanwhile,
 * is rather a link that is none (two messages taken for one): without its
 * bounds the pieces before and after are one. Gives how many bounds were
 * refuted.
 */
static size_t refute_strays(struct fitter *f, const struct run *runs, size_t count)
{
	size_t refuted = 0;

	for (size_t i = 1; i + 1 < count; i++) {
		size_t changed;
		struct corridor c;

		if (is_enclosed(f, runs[i]))
			continue;
		changed = refute(f, runs[i], true);
		c = corridor_of(f, (struct run){ runs[i - 1].from, runs[i + 1].to });
		if (any_fits(&c)) {
			refuted += changed;
			i++;
		} else {
			refute(f, runs[i], false);
		}
	}
	return refuted;
}

static int by_true_order(const void *left, const void *right)
{
	const struct clock_bound *x = left, *y = right;

	if (x->ref_us != y->ref_us)
		return x->ref_us < y->ref_us ? -1 : 1;
	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	if (x->is_above != y->is_above)
		return x->is_above ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

struct timed {
	int64_t at_us, value_us;
	size_t index;
};

/* At one time by value: the hull of a column is its end. */
static int by_host_time(const void *left, const void *right)
{
	const struct timed *x = left, *y = right;

	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	if (x->value_us != y->value_us)
		return x->value_us < y->value_us ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void sort_bounds(struct fitter *f, struct arena *a)
{
	const size_t n = f->bounds->count;
	struct clock_bound *items = f->bounds->items;
	struct timed *order = arena_array(a, n, sizeof *order);

	qsort(items, n, sizeof *items, by_true_order);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct timed){ items[i].at_us, items[i].is_above ? items[i].value_us : -items[i].value_us, i };
	qsort(order, n, sizeof *order, by_host_time);
	f->by_time = arena_array(a, n, sizeof *f->by_time);
	for (size_t i = 0; i < n; i++)
		f->by_time[i] = order[i].index;
	f->is_refuted = arena_array(a, n, sizeof *f->is_refuted);
	f->room = arena_array(a, 4 * n, sizeof *f->room);
}

/* Where the one ends and the other begins is known only to lie between their bounds: the middle. */
static void join_pieces(struct fitted_piece *pieces, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct clock_piece *before = &pieces[i - 1].piece, *p = &pieces[i].piece;

		p->set_after = before->last;
		p->set_before = p->first;
		p->since.us = before->last.us / 2 + p->first.us / 2;
		/* A clock set back by more than the piece lasted shows these times twice. */
		if (p->since.us <= before->since.us)
			p->has_uncertainty = before->has_uncertainty = false;
	}
}

void clock_fit_find(struct clock_bounds *b, struct arena *a, struct clock_fit *out)
{
	struct fitter f = { .bounds = b };
	struct run runs[RUNS_MAX];
	size_t count, strays;

	*out = (struct clock_fit){ 0 };
	if (b->count == 0)
		return;
	sort_bounds(&f, a);
	do {
		count = find_runs(&f, runs);
		strays = refute_strays(&f, runs, count);
		out->refuted += strays;
	} while (strays > 0);
	if (count > PIECES_MAX)
		return;
	out->pieces = arena_array(a, count, sizeof *out->pieces);
	for (size_t i = 0; i < count; i++)
		out->pieces[i] = fit_piece(&f, runs[i]);
	out->count = count;
	join_pieces(out->pieces, count);
}
