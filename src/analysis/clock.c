/* SPDX-License-Identifier: MIT */
/*
 * The offset of each host's clock against the reference, from links (method.md
 * 2; Duda et al. 1987).
 *
 * A link whose other end is on a clock that is settled already bounds the
 * offset at one instant: from above when this host's event comes after, from
 * below when it comes before. Hosts that the reference encloses are settled
 * first, then those that these enclose, and so on: a second broker is aligned
 * through the clients that speak to both.
 *
 * The estimate is the centre of the bounds, half their distance the
 * uncertainty: a constant where one fits all bounds, else a line (drift). An
 * offset of 0 is not preferred when it fits as well: the uncertainty says that
 * it does, and a rule that jumps at the edge of the bounds would not be
 * explained to a reader.
 */

#include "analysis/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/clock_links.h"

/* A clock off by a zone: within 2 min of a multiple of 15 min (method.md 2), no further than zones go. */
#define ZONE_STEP_US (15 * 60 * US_PER_S)
#define ZONE_SLACK_US (2 * 60 * US_PER_S)
#define ZONE_MAX_US (14 * 3600 * US_PER_S)

/* NTP slews by at most 500 ppm; quartz drifts by less than 100. */
#define DRIFT_MAX_PPM 500.0
/* A line through fewer bounds on a side would fit many a clock step too. */
#define DRIFT_LEAST_BOUNDS 4
#define SEARCH_STEPS 100

/* The offset of a host at one instant of its clock lies on one side of value. */
struct bound {
	int64_t at_us;
	int64_t value_us;
	const struct event_link *link;
};

struct bounds {
	struct bound *items;
	size_t count;
	size_t capacity;
	size_t tightest;	/* of a constant offset; index */
};

enum { ABOVE, BELOW };

struct solver {
	struct arena *scratch;
	struct event_links links;
	struct sv *hosts;	/* sorted, an absent one first */
	uint64_t *events;	/* per host */
	uint64_t *broker_events;
	struct host_clock *clocks;
	bool *settled;		/* enclosed: others may be bounded through it */
	size_t count;
	size_t reference;
};

static int64_t saturating_sub(int64_t x, int64_t y)
{
	int64_t out;

	if (__builtin_sub_overflow(x, y, &out))
		return y > 0 ? INT64_MIN : INT64_MAX;
	return out;
}

static int64_t saturating_add(int64_t x, int64_t y)
{
	int64_t out;

	if (__builtin_add_overflow(x, y, &out))
		return y > 0 ? INT64_MAX : INT64_MIN;
	return out;
}

/* ---- hosts and the reference ---- */

static int find_hosts(struct store *s, struct solver *v)
{
	struct host_count *counts;
	size_t n;

	if (query_host_counts(s, v->scratch, &counts, &n) < 0)
		return -1;
	v->hosts = arena_array(v->scratch, n, sizeof *v->hosts);
	v->events = arena_array(v->scratch, n, sizeof *v->events);
	v->broker_events = arena_array(v->scratch, n, sizeof *v->broker_events);
	v->clocks = arena_array(v->scratch, n, sizeof *v->clocks);
	v->settled = arena_array(v->scratch, n, sizeof *v->settled);
	for (size_t i = 0; i < n; i++) {
		if (v->count == 0 || !sv_eq(v->hosts[v->count - 1], counts[i].host))
			v->hosts[v->count++] = counts[i].host;
		v->events[v->count - 1] += counts[i].events;
		if (event_infos[counts[i].type].side == SIDE_BROKER)
			v->broker_events[v->count - 1] += counts[i].events;
	}
	return 0;
}

static const struct host_offset *option_of(const struct analysis_options *o, struct sv host)
{
	for (size_t i = 0; i < o->offset_count; i++) {
		if (sv_eq(o->offsets[i].host, host))
			return &o->offsets[i];
	}
	return NULL;
}

/* The host with most of these events; ties go to the first by name. False when none has any. */
static bool host_with_most(const struct solver *v, const uint64_t *events, const struct analysis_options *o,
			   bool optioned, size_t *out)
{
	uint64_t most = 0;

	for (size_t i = 0; i < v->count; i++) {
		if (events[i] <= most || (!optioned && option_of(o, v->hosts[i]) != NULL))
			continue;
		/* An unnamed host is one of several, for all we know, unless it is the coordinator. */
		if (events == v->events && sv_is_absent(v->hosts[i]) && v->count > 1)
			continue;
		most = events[i];
		*out = i;
	}
	return most > 0;
}

static size_t choose_reference(const struct solver *v, const struct analysis_options *o)
{
	size_t host = 0;

	if (!host_with_most(v, v->broker_events, o, false, &host) && !host_with_most(v, v->events, o, false, &host))
		host_with_most(v, v->events, o, true, &host);
	return host;
}

/* ---- bounds ---- */

static void add_bound(struct bounds *b, struct arena *a, int64_t at_us, int64_t value_us, const struct event_link *link,
		      int side)
{
	*ARENA_PUSH(a, b->items, b->count, b->capacity) = (struct bound){ at_us, value_us, link };
	if (side == ABOVE ? value_us < b->items[b->tightest].value_us : value_us > b->items[b->tightest].value_us)
		b->tightest = b->count - 1;
}

static struct ref_time convert(const struct host_clock *c, struct host_time t)
{
	int64_t us = saturating_sub(t.us, c->offset_us);

	if (c->drift_ppm != 0.0)
		us = saturating_sub(us, llround(c->drift_ppm * 1e-6 * (double)saturating_sub(t.us, c->since.us)));
	return (struct ref_time){ us };
}

/*
 * Times are written in steps, cut off: an event happened at its time or up to a
 * step later. So the later of a pair may be later by its own step, which
 * widens the bound.
 */
static void find_bounds(const struct solver *v, size_t host, struct bounds sides[2])
{
	for (size_t i = 0; i < v->links.count; i++) {
		const struct event_link *link = &v->links.items[i];
		bool is_after = link->after_host == host;
		size_t other = is_after ? link->before_host : link->after_host;
		int64_t slack_us = v->links.step_us[link->after_host] + v->clocks[other].uncertainty_us;
		int64_t here_us, there_us;

		if ((!is_after && link->before_host != host) || !v->settled[other])
			continue;
		here_us = (is_after ? link->after : link->before)->time.us;
		there_us = convert(&v->clocks[other], (is_after ? link->before : link->after)->time).us;
		if (is_after)
			add_bound(&sides[ABOVE], v->scratch, here_us,
				  saturating_add(saturating_sub(here_us, there_us), slack_us), link, ABOVE);
		else
			add_bound(&sides[BELOW], v->scratch, here_us,
				  saturating_sub(saturating_sub(here_us, there_us), slack_us), link, BELOW);
	}
}

/* ---- a line between the bounds ---- */

/* The greatest intercepts at slope that no bound excludes, upper less lower; negative when the slope is excluded. */
static double width_at(const struct bounds sides[2], int64_t origin_us, double slope, double *low, double *high)
{
	*high = HUGE_VAL;
	*low = -HUGE_VAL;
	for (int side = ABOVE; side <= BELOW; side++) {
		for (size_t i = 0; i < sides[side].count; i++) {
			const struct bound *b = &sides[side].items[i];
			double intercept = (double)b->value_us - slope * (double)(b->at_us - origin_us);

			if (side == ABOVE)
				*high = fmin(*high, intercept);
			else
				*low = fmax(*low, intercept);
		}
	}
	return *high - *low;
}

/* What a search over slopes asks: the width, or the highest or lowest feasible offset at an instant. All are concave. */
enum extent { EXTENT_WIDTH, EXTENT_HIGHEST, EXTENT_LOWEST };

static double extent_at(const struct bounds sides[2], int64_t origin_us, double slope, enum extent what, int64_t at_us)
{
	double low, high, width = width_at(sides, origin_us, slope, &low, &high);
	double rise = slope * (double)(at_us - origin_us);

	if (what == EXTENT_WIDTH)
		return width;
	return what == EXTENT_HIGHEST ? high + rise : -(low + rise);
}

/* The slope in [from, to] of the greatest extent, by ternary search. */
static double best_slope(const struct bounds sides[2], int64_t origin_us, double from, double to, enum extent what,
			 int64_t at_us)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double a = from + (to - from) / 3, b = to - (to - from) / 3;

		if (extent_at(sides, origin_us, a, what, at_us) < extent_at(sides, origin_us, b, what, at_us))
			from = a;
		else
			to = b;
	}
	return (from + to) / 2;
}

/* The edge of the feasible slopes between one that is feasible and one that may not be. */
static double edge_slope(const struct bounds sides[2], int64_t origin_us, double inside, double outside)
{
	double low, high;

	for (int i = 0; i < SEARCH_STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (width_at(sides, origin_us, middle, &low, &high) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

static void find_period(const struct bounds sides[2], int64_t *from_us, int64_t *to_us)
{
	*from_us = INT64_MAX;
	*to_us = INT64_MIN;
	for (int side = ABOVE; side <= BELOW; side++) {
		for (size_t i = 0; i < sides[side].count; i++) {
			int64_t at_us = sides[side].items[i].at_us;

			*from_us = at_us < *from_us ? at_us : *from_us;
			*to_us = at_us > *to_us ? at_us : *to_us;
		}
	}
}

/*
 * The line in the widest place between the bounds. The uncertainty is the
 * greatest distance to any line that fits, over the period of the bounds: it is
 * reached at one of its ends.
 */
static bool fit_drift(const struct bounds sides[2], struct host_clock *c)
{
	const double most = DRIFT_MAX_PPM * 1e-6;
	int64_t ends_us[2];
	double slope, least_slope, greatest_slope, low, high, centre, farthest = 0;

	if (sides[ABOVE].count < DRIFT_LEAST_BOUNDS || sides[BELOW].count < DRIFT_LEAST_BOUNDS)
		return false;
	find_period(sides, &ends_us[0], &ends_us[1]);
	slope = best_slope(sides, ends_us[0], -most, most, EXTENT_WIDTH, 0);
	if (width_at(sides, ends_us[0], slope, &low, &high) < 0)
		return false;
	centre = (low + high) / 2;
	least_slope = edge_slope(sides, ends_us[0], slope, -most);
	greatest_slope = edge_slope(sides, ends_us[0], slope, most);
	for (int i = 0; i < 2; i++) {
		double here = centre + slope * (double)(ends_us[i] - ends_us[0]);
		double up = best_slope(sides, ends_us[0], least_slope, greatest_slope, EXTENT_HIGHEST, ends_us[i]);
		double down = best_slope(sides, ends_us[0], least_slope, greatest_slope, EXTENT_LOWEST, ends_us[i]);

		farthest = fmax(farthest, extent_at(sides, ends_us[0], up, EXTENT_HIGHEST, ends_us[i]) - here);
		farthest = fmax(farthest, here + extent_at(sides, ends_us[0], down, EXTENT_LOWEST, ends_us[i]));
	}
	c->offset_us = llround(centre);
	c->drift_ppm = slope * 1e6;
	c->since.us = ends_us[0];
	c->uncertainty_us = (int64_t)ceil(farthest) + 1; /* + 1 for the rounding of the search */
	return true;
}

/* ---- one host ---- */

static void take_option(struct host_clock *c, const struct host_offset *option)
{
	c->method = CLOCK_OPTION;
	c->offset_us = option->offset_us;
	c->has_uncertainty = true;
}

static void keep_tightest(const struct solver *v, const struct bounds sides[2], struct host_clock *c)
{
	c->links_forward = sides[ABOVE].count;
	c->links_backward = sides[BELOW].count;
	for (int side = ABOVE; side <= BELOW; side++) {
		const struct bounds *b = &sides[side];
		const struct event_link *link = b->count > 0 ? b->items[b->tightest].link : NULL;

		c->has_tightest[side] = link != NULL;
		if (link == NULL)
			continue;
		c->tightest[side].before = evidence_of(v->scratch, link->before, (struct ref_time){ 0 }, link->before_role);
		c->tightest[side].after = evidence_of(v->scratch, link->after, (struct ref_time){ 0 }, link->after_role);
	}
}

/* Both sides are there. True when they enclose an offset. */
static bool enclose(const struct bounds sides[2], struct host_clock *c)
{
	int64_t high_us = sides[ABOVE].items[sides[ABOVE].tightest].value_us;
	int64_t low_us = sides[BELOW].items[sides[BELOW].tightest].value_us;

	c->method = CLOCK_LINKS;
	c->has_uncertainty = true;
	if (low_us <= high_us) {
		c->offset_us = low_us + (high_us - low_us) / 2;
		c->uncertainty_us = (high_us - low_us + 1) / 2;
		return true;
	}
	if (fit_drift(sides, c))
		return true;
	c->method = CLOCK_CONTRADICTORY;
	c->has_uncertainty = false;
	return false;
}

/* Only one side is there, or none. */
static void bound_one_side(const struct bounds sides[2], struct host_clock *c)
{
	const struct bounds *above = &sides[ABOVE], *below = &sides[BELOW];

	c->method = above->count + below->count > 0 ? CLOCK_ONE_SIDED : CLOCK_ASSUMED;
	if (above->count > 0 && above->items[above->tightest].value_us < 0)
		c->offset_us = above->items[above->tightest].value_us;
	if (below->count > 0 && below->items[below->tightest].value_us > 0)
		c->offset_us = below->items[below->tightest].value_us;
}

static void find_zone(struct host_clock *c)
{
	int64_t steps = llround((double)c->offset_us / (double)ZONE_STEP_US);
	int64_t zone_us = steps * ZONE_STEP_US;

	if ((c->method != CLOCK_LINKS && c->method != CLOCK_ONE_SIDED) || zone_us == 0 || llabs(zone_us) > ZONE_MAX_US ||
	    llabs(c->offset_us - zone_us) > ZONE_SLACK_US)
		return;
	c->has_zone = true;
	c->zone.offset_s = (int32_t)(zone_us / US_PER_S);
}

/* ---- all hosts ---- */

/* One round over the hosts that are not settled, with those that were before it. Gives whether any was settled. */
static bool settle_round(struct solver *v, bool *contradictory)
{
	bool *now = arena_array(v->scratch, v->count, sizeof *now);
	bool any = false;

	for (size_t i = 0; i < v->count; i++) {
		struct bounds sides[2] = { { 0 }, { 0 } };

		if (v->settled[i] || contradictory[i] || sv_is_absent(v->hosts[i]))
			continue;
		find_bounds(v, i, sides);
		if (sides[ABOVE].count == 0 || sides[BELOW].count == 0)
			continue;
		now[i] = enclose(sides, &v->clocks[i]);
		contradictory[i] = !now[i];
		keep_tightest(v, sides, &v->clocks[i]);
	}
	for (size_t i = 0; i < v->count; i++) {
		v->settled[i] |= now[i];
		any |= now[i];
	}
	return any;
}

static void settle(struct solver *v, const struct analysis_options *o)
{
	bool *contradictory = arena_array(v->scratch, v->count, sizeof *contradictory);

	for (size_t i = 0; i < v->count; i++) {
		const struct host_offset *option = option_of(o, v->hosts[i]);

		v->clocks[i].host = v->hosts[i];
		v->settled[i] = i == v->reference || option != NULL;
		if (i == v->reference) {
			v->clocks[i].method = CLOCK_REFERENCE;
			v->clocks[i].has_uncertainty = true;
		} else if (option != NULL) {
			take_option(&v->clocks[i], option);
		}
	}
	while (settle_round(v, contradictory))
		;
	for (size_t i = 0; i < v->count; i++) {
		struct bounds sides[2] = { { 0 }, { 0 } };

		if (v->settled[i] || contradictory[i])
			continue;
		find_bounds(v, i, sides);
		bound_one_side(sides, &v->clocks[i]);
		keep_tightest(v, sides, &v->clocks[i]);
	}
	for (size_t i = 0; i < v->count; i++)
		find_zone(&v->clocks[i]);
}

/* ---- the result ---- */

static void keep_evidence(const struct clocks *c, struct arena *a, struct evidence *e)
{
	e->host = arena_copy(a, e->host);
	e->text = arena_copy(a, e->text);
	e->time = clock_to_ref(c, e->host, e->written);
}

static void keep_clocks(const struct solver *v, struct arena *a, struct clocks *out)
{
	out->hosts = arena_array(a, v->count, sizeof *out->hosts);
	out->reference = arena_copy(a, v->hosts[v->reference]);
	for (size_t i = 0; i < v->count; i++) {
		if (sv_is_absent(v->hosts[i]))
			continue;
		out->hosts[out->count] = v->clocks[i];
		out->hosts[out->count++].host = arena_copy(a, v->hosts[i]);
	}
	for (size_t i = 0; i < out->count; i++) {
		for (int side = ABOVE; side <= BELOW; side++) {
			if (!out->hosts[i].has_tightest[side])
				continue;
			keep_evidence(out, a, &out->hosts[i].tightest[side].before);
			keep_evidence(out, a, &out->hosts[i].tightest[side].after);
		}
	}
}

int clocks_find(struct store *s, const struct analysis_options *o, struct arena *a, struct clocks *out)
{
	struct solver v = { .scratch = arena_new() };
	int rc = -1;

	*out = (struct clocks){ 0 };
	if (find_hosts(s, &v) < 0 || clock_links_find(s, v.hosts, v.count, v.scratch, &v.links) < 0)
		goto out;
	if (v.count > 0) {
		v.reference = choose_reference(&v, o);
		settle(&v, o);
		keep_clocks(&v, a, out);
	}
	rc = 0;
out:
	arena_free(v.scratch);
	return rc;
}

/* NULL when the host is absent or unknown. */
static const struct host_clock *clock_of(const struct clocks *c, struct sv host)
{
	size_t low = 0, high = c->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = sv_cmp(c->hosts[middle].host, host);

		if (order == 0)
			return &c->hosts[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct ref_time clock_to_ref(const struct clocks *c, struct sv host, struct host_time t)
{
	const struct host_clock *clock = clock_of(c, host);

	if (clock == NULL)
		return (struct ref_time){ t.us };
	return convert(clock, t);
}

int64_t clock_uncertainty_us(const struct clocks *c, struct sv host, bool *known)
{
	const struct host_clock *clock = clock_of(c, host);

	if (clock == NULL) {
		*known = sv_is_absent(host) && sv_is_absent(c->reference);
		return 0;
	}
	*known = clock->has_uncertainty;
	return clock->has_uncertainty ? clock->uncertainty_us : 0;
}

int clocks_save(const struct clocks *c, struct store *s)
{
	struct arena *scratch = arena_new();
	struct store_clock *rows = arena_array(scratch, c->count, sizeof *rows);
	int rc;

	for (size_t i = 0; i < c->count; i++) {
		const struct host_clock *h = &c->hosts[i];

		rows[i] = (struct store_clock){ h->host, h->offset_us, h->drift_ppm, h->since };
	}
	rc = store_save_clocks(s, rows, c->count);
	arena_free(scratch);
	return rc;
}

const char *clock_method_name(enum clock_method m)
{
	static const char *const names[] = {
		[CLOCK_REFERENCE] = "reference",
		[CLOCK_OPTION] = "option",
		[CLOCK_LINKS] = "links",
		[CLOCK_ONE_SIDED] = "one_sided",
		[CLOCK_ASSUMED] = "assumed",
		[CLOCK_CONTRADICTORY] = "contradictory",
	};

	assert((size_t)m < sizeof names / sizeof *names);
	return names[m];
}
