/* SPDX-License-Identifier: MIT */
/*
 * The offset of each host's clock against the reference, from links (method.md
 * 2). First the zones of inputs (clock_zone.c), then, with these taken off, the
 * clocks of hosts (clock_fit.c).
 *
 * A link whose other end is on a clock that is settled already bounds the
 * offset at one instant: from above when this host's event comes after, from
 * below when it comes before. Hosts that the reference encloses are settled
 * first, then those that these enclose, and so on: a second broker is aligned
 * through the clients that speak to both, and their uncertainty is added.
 *
 * An offset of 0 is not preferred when it fits as well: the uncertainty says that
 * it does, and a rule that jumps at the edge of the bounds would not be
 * explained to a reader.
 */

#include "analysis/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/clock_fit.h"
#include "analysis/clock_links.h"
#include "analysis/clock_step.h"
#include "analysis/clock_zone.h"

/* A clock off by a zone: within 2 min of a multiple of 15 min (method.md 2), no further than zones go. */
#define ZONE_STEP_US (15 * 60 * US_PER_S)
#define ZONE_SLACK_US (2 * 60 * US_PER_S)
#define ZONE_MAX_US (14 * 3600 * US_PER_S)

enum { ABOVE, BELOW };

struct solver {
	struct arena *scratch;
	struct event_links links;
	struct input_info *inputs;
	size_t input_count;
	int64_t *zone_us;	/* per input */
	struct sv *hosts;	/* sorted, an absent one first */
	uint64_t *events;	/* per host */
	uint64_t *broker_events;
	struct host_clock *clocks;
	bool *settled;		/* enclosed: others may be bounded through it */
	bool *tried;		/* contradictory */
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
	v->tried = arena_array(v->scratch, n, sizeof *v->tried);
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

/* ---- one clock ---- */

/* Clocks made by hand have no pieces. */
static struct clock_piece only_piece(const struct host_clock *c)
{
	return (struct clock_piece){
		.since = { INT64_MIN }, .first = c->since, .last = c->since, .best = c->since,
		.offset_us = c->offset_us, .drift_ppm = c->drift_ppm, .has_uncertainty = c->has_uncertainty,
		.uncertainty_us = c->uncertainty_us, .best_uncertainty_us = c->uncertainty_us,
	};
}

/* The piece that the clock was in when it showed t: the last that had begun. */
static size_t piece_index(const struct host_clock *c, struct host_time t)
{
	size_t at = c->piece_count - 1;

	while (at > 0 && c->pieces[at].since.us > t.us)
		at--;
	return at;
}

static struct clock_piece piece_at(const struct host_clock *c, struct host_time t)
{
	return c->piece_count == 0 ? only_piece(c) : c->pieces[piece_index(c, t)];
}

static int64_t offset_at(const struct clock_piece *p, struct host_time t)
{
	if (p->drift_ppm == 0.0)
		return p->offset_us;
	return saturating_add(p->offset_us, llround(p->drift_ppm * 1e-6 * (double)saturating_sub(t.us, p->first.us)));
}

static struct ref_time convert(const struct host_clock *c, struct host_time t)
{
	struct clock_piece p = piece_at(c, t);

	return (struct ref_time){ saturating_sub(t.us, offset_at(&p, t)) };
}

/* The bounds open from where they are closest. Between the links the greatest distance is known exactly. */
static int64_t piece_uncertainty_us(const struct clock_piece *p, struct host_time t)
{
	double away_us = fabs((double)t.us - (double)p->best.us);
	double us = (double)p->best_uncertainty_us + ceil(away_us * p->growth_ppm * 1e-6);
	bool is_between = p->first.us <= t.us && t.us <= p->last.us;

	if (is_between && us > (double)p->uncertainty_us)
		return p->uncertainty_us;
	return us < (double)INT64_MAX / 4 ? (int64_t)us : INT64_MAX / 4;
}

/*
 * Whether t may have been shown before the clock was set to p as well as after.
 * A clock that was set back shows some times twice.
 */
static bool is_in_gap(const struct clock_piece *p, struct host_time t)
{
	int64_t back_us = p->step_us < 0 ? p->step_us : 0;

	return t.us >= saturating_add(p->set_after.us, back_us) && t.us <= saturating_sub(p->set_before.us, back_us);
}

/* By the wrong one of two pieces the time is off by the difference of their offsets, and by what that one is off. */
static int64_t wrong_piece_us(const struct clock_piece *is, const struct clock_piece *may_be, struct host_time t)
{
	int64_t apart_us = llabs(saturating_sub(offset_at(is, t), offset_at(may_be, t)));

	return saturating_add(apart_us, piece_uncertainty_us(may_be, t));
}

static int64_t host_uncertainty_us(const struct host_clock *c, struct host_time t, bool *known)
{
	struct clock_piece p = piece_at(c, t);
	size_t at = c->piece_count == 0 ? 0 : piece_index(c, t);
	int64_t us = piece_uncertainty_us(&p, t);

	*known = p.has_uncertainty;
	for (size_t i = at > 0 ? at - 1 : 0; i <= at + 1 && i < c->piece_count; i++) {
		const struct clock_piece *other = &c->pieces[i];
		int64_t other_us;

		if (i == at || !is_in_gap(i < at ? &p : other, t))
			continue;
		*known &= other->has_uncertainty;
		other_us = wrong_piece_us(&p, other, t);
		us = other_us > us ? other_us : us;
	}
	return *known ? us : 0;
}

/* ---- bounds ---- */

static struct host_time unzoned(const struct solver *v, const struct link_end *end)
{
	return (struct host_time){ saturating_sub(end->event->time.us, v->zone_us[end->input]) };
}

/*
 * Times are written in steps, cut off: an event happened at its time or up to a
 * step later. So the later of a pair may be later by its own step, which
 * widens the bound.
 */
static void add_bound(const struct solver *v, size_t link_index, bool is_after, struct clock_bounds *out)
{
	const struct event_link *link = &v->links.items[link_index];
	const struct link_end *here = is_after ? &link->after : &link->before;
	const struct link_end *there = is_after ? &link->before : &link->after;
	struct host_time here_time = unzoned(v, here), there_time = unzoned(v, there);
	int64_t slack_us, ref_us, value_us;
	bool known;

	slack_us = host_uncertainty_us(&v->clocks[there->host], there_time, &known);
	if (!known)
		return;
	slack_us = saturating_add(slack_us, v->links.step_us[link->after.input]);
	ref_us = convert(&v->clocks[there->host], there_time).us;
	value_us = saturating_sub(here_time.us, ref_us);
	value_us = is_after ? saturating_add(value_us, slack_us) : saturating_sub(value_us, slack_us);
	*ARENA_PUSH(v->scratch, out->items, out->count, out->capacity) =
		(struct clock_bound){ here_time.us, ref_us, value_us, is_after, link_index };
}

/* By the clocks that are settled. */
static struct clock_bounds find_bounds(const struct solver *v, size_t host)
{
	struct clock_bounds out = { 0 };

	for (size_t i = 0; i < v->links.count; i++) {
		const struct event_link *link = &v->links.items[i];

		if (link->after.host == host && v->settled[link->before.host])
			add_bound(v, i, true, &out);
		else if (link->before.host == host && v->settled[link->after.host])
			add_bound(v, i, false, &out);
	}
	return out;
}

/* ---- one host ---- */

static void take_option(struct host_clock *c, const struct host_offset *option)
{
	c->method = CLOCK_OPTION;
	c->offset_us = option->offset_us;
	c->has_uncertainty = true;
}

static struct clock_link link_of(const struct solver *v, size_t index)
{
	const struct event_link *link = &v->links.items[index];

	return (struct clock_link){
		.before = evidence_of(v->scratch, link->before.event, (struct ref_time){ 0 }, link->before.role),
		.after = evidence_of(v->scratch, link->after.event, (struct ref_time){ 0 }, link->after.role),
	};
}

/* At the time at which the clock was set, as far as that is known. */
static int64_t step_between(const struct clock_piece *x, const struct clock_piece *y)
{
	return saturating_sub(offset_at(y, y->since), offset_at(x, y->since));
}

static void keep_pieces(const struct solver *v, const struct clock_fit *fit, struct host_clock *c)
{
	struct clock_piece *pieces = arena_array(v->scratch, fit->count, sizeof *pieces);

	for (size_t i = 0; i < fit->count; i++) {
		const struct fitted_piece *from = &fit->pieces[i];

		pieces[i] = from->piece;
		pieces[i].step_us = i == 0 ? 0 : step_between(&pieces[i - 1], &pieces[i]);
		for (int side = ABOVE; side <= BELOW; side++) {
			pieces[i].has_tightest[side] = from->has_tightest[side];
			if (from->has_tightest[side])
				pieces[i].tightest[side] = link_of(v, from->tightest[side]);
		}
	}
	c->pieces = pieces;
	c->piece_count = fit->count;
}

static void take_first_piece(struct host_clock *c)
{
	const struct clock_piece *p = &c->pieces[0];

	c->offset_us = p->offset_us;
	c->drift_ppm = p->drift_ppm;
	c->since = p->first;
	c->has_uncertainty = p->has_uncertainty;
	c->uncertainty_us = p->uncertainty_us;
	for (int side = ABOVE; side <= BELOW; side++) {
		c->has_tightest[side] = p->has_tightest[side];
		c->tightest[side] = p->tightest[side];
	}
}

/* The two links that cannot both hold on one clock. */
static void keep_contradiction(const struct solver *v, const struct clock_bounds *b, struct host_clock *c)
{
	const struct clock_bound *tightest[2] = { NULL, NULL };

	for (size_t i = 0; i < b->count; i++) {
		const struct clock_bound *item = &b->items[i];
		const struct clock_bound **kept = &tightest[item->is_above ? ABOVE : BELOW];

		if (*kept == NULL || (item->is_above ? item->value_us < (*kept)->value_us : item->value_us > (*kept)->value_us))
			*kept = item;
	}
	for (int side = ABOVE; side <= BELOW; side++) {
		c->has_tightest[side] = tightest[side] != NULL;
		if (tightest[side] != NULL)
			c->tightest[side] = link_of(v, tightest[side]->link);
	}
}

static enum clock_method method_of(const struct clock_fit *fit, size_t above, size_t below)
{
	for (size_t i = 0; i < fit->count; i++) {
		if (fit->pieces[i].is_enclosed)
			return CLOCK_LINKS;
	}
	if (above + below == 0)
		return CLOCK_ASSUMED;
	return above > 0 && below > 0 ? CLOCK_CONTRADICTORY : CLOCK_ONE_SIDED;
}

static void fit_host(const struct solver *v, struct clock_bounds *b, struct host_clock *c)
{
	struct clock_fit fit;

	clock_fit_find(b, v->scratch, &fit);
	c->links_forward = c->links_backward = 0;
	for (size_t i = 0; i < b->count; i++) {
		c->links_forward += b->items[i].is_above;
		c->links_backward += !b->items[i].is_above;
	}
	c->links_refuted = fit.refuted;
	c->method = method_of(&fit, c->links_forward, c->links_backward);
	if (c->method == CLOCK_CONTRADICTORY) {
		keep_contradiction(v, b, c);
	} else if (fit.count > 0) {
		keep_pieces(v, &fit, c);
		take_first_piece(c);
	}
}

/* All that a host writes is off by a zone: its clock was set to local time and taken for UTC. */
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

static bool has_both_sides(const struct clock_bounds *b)
{
	bool has[2] = { false, false };

	for (size_t i = 0; i < b->count; i++)
		has[b->items[i].is_above] = true;
	return has[0] && has[1];
}

/* One round over the hosts that are not settled, with those that were before it. Gives whether any was settled. */
static bool settle_round(struct solver *v)
{
	bool *now = arena_array(v->scratch, v->count, sizeof *now);
	bool any = false;

	for (size_t i = 0; i < v->count; i++) {
		struct clock_bounds b;

		if (v->settled[i] || v->tried[i] || sv_is_absent(v->hosts[i]))
			continue;
		b = find_bounds(v, i);
		if (!has_both_sides(&b))
			continue;
		fit_host(v, &b, &v->clocks[i]);
		now[i] = v->clocks[i].method == CLOCK_LINKS;
		v->tried[i] = !now[i];
	}
	for (size_t i = 0; i < v->count; i++) {
		v->settled[i] |= now[i];
		any |= now[i];
	}
	return any;
}

static void settle(struct solver *v, const struct analysis_options *o)
{
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
	while (settle_round(v))
		;
	for (size_t i = 0; i < v->count; i++) {
		struct clock_bounds b;

		if (v->settled[i] || v->tried[i])
			continue;
		b = find_bounds(v, i);
		fit_host(v, &b, &v->clocks[i]);
	}
}

/* ---- inputs ---- */

/* The user's --offset of a host says all that its inputs are off. */
static void find_zones(struct solver *v, const struct analysis_options *o)
{
	bool *is_fixed = arena_array(v->scratch, v->input_count, sizeof *is_fixed);

	for (size_t i = 0; i < v->input_count; i++)
		is_fixed[i] = option_of(o, v->inputs[i].host) != NULL;
	v->zone_us = clock_zones_find(&v->links, v->inputs, v->input_count, is_fixed, v->hosts[v->reference], v->scratch);
}

static struct host_clock *clock_named(struct clocks *c, struct sv host)
{
	for (size_t i = 0; i < c->count; i++) {
		if (!sv_is_absent(host) && sv_eq(c->hosts[i].host, host))
			return &c->hosts[i];
	}
	return NULL;
}

static void keep_zones(const struct solver *v, struct arena *a, struct clocks *out)
{
	out->zones = arena_array(a, v->input_count, sizeof *out->zones);
	for (size_t i = 0; i < v->input_count; i++) {
		struct host_clock *c = clock_named(out, v->inputs[i].host);
		int64_t step_us = v->links.step_us[i];

		if (c != NULL && step_us > c->step_us)
			c->step_us = step_us;
		if (v->zone_us[i] == 0)
			continue;
		out->zones[out->zone_count++] = (struct input_zone){
			.input = v->inputs[i].id, .zone.offset_s = (int32_t)(v->zone_us[i] / US_PER_S),
		};
		if (c == NULL || c->has_zone)
			continue;
		c->has_zone = true;
		c->zone = out->zones[out->zone_count - 1].zone;
	}
	for (size_t i = 0; i < out->count; i++) {
		if (!out->hosts[i].has_zone)
			find_zone(&out->hosts[i]);
	}
}

/* ---- the result ---- */

static void keep_evidence(const struct clocks *c, struct arena *a, struct evidence *e)
{
	e->host = arena_copy(a, e->host);
	e->text = arena_copy(a, e->text);
	e->time = clock_input_to_ref(c, e->place.input, e->host, e->written);
}

static void keep_links(const struct clocks *c, struct arena *a, struct clock_link tightest[2], const bool has[2])
{
	for (int side = ABOVE; side <= BELOW; side++) {
		if (!has[side])
			continue;
		keep_evidence(c, a, &tightest[side].before);
		keep_evidence(c, a, &tightest[side].after);
	}
}

static int keep_clocks(struct store *s, const struct solver *v, struct arena *a, struct clocks *out)
{
	out->hosts = arena_array(a, v->count, sizeof *out->hosts);
	out->reference = arena_copy(a, v->hosts[v->reference]);
	for (size_t i = 0; i < v->count; i++) {
		struct host_clock *h = &out->hosts[out->count];

		if (sv_is_absent(v->hosts[i]))
			continue;
		*h = v->clocks[i];
		h->host = arena_copy(a, h->host);
		out->count++;
	}
	keep_zones(v, a, out);
	for (size_t i = 0; i < out->count; i++) {
		struct host_clock *h = &out->hosts[i];
		struct clock_piece *pieces = arena_array(a, h->piece_count, sizeof *pieces);

		for (size_t k = 0; k < h->piece_count; k++)
			pieces[k] = h->pieces[k];
		h->pieces = pieces;
		if (h->piece_count > 1 && clock_steps_locate(s, out, h->host, pieces, h->piece_count) < 0)
			return -1;
		for (size_t k = 0; k < h->piece_count; k++)
			keep_links(out, a, pieces[k].tightest, pieces[k].has_tightest);
		keep_links(out, a, h->tightest, h->has_tightest);
	}
	return 0;
}

int clocks_find(struct store *s, const struct analysis_options *o, struct arena *a, struct clocks *out)
{
	struct solver v = { .scratch = arena_new() };
	struct link_sources from;
	int rc = -1;

	*out = (struct clocks){ 0 };
	if (find_hosts(s, &v) < 0 || query_inputs(s, v.scratch, &v.inputs, &v.input_count) < 0)
		goto out;
	from = (struct link_sources){ v.hosts, v.count, v.inputs, v.input_count };
	if (clock_links_find(s, &from, v.scratch, &v.links) < 0)
		goto out;
	if (v.count > 0) {
		v.reference = choose_reference(&v, o);
		find_zones(&v, o);
		settle(&v, o);
		rc = keep_clocks(s, &v, a, out);
	} else {
		rc = 0;
	}
out:
	arena_free(v.scratch);
	return rc;
}

/* ---- what is asked of it ---- */

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

const struct zone *clock_zone_of(const struct clocks *c, int64_t input)
{
	size_t low = 0, high = c->zone_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->zones[middle].input < input)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->zone_count && c->zones[low].input == input ? &c->zones[low].zone : NULL;
}

struct ref_time clock_input_to_ref(const struct clocks *c, int64_t input, struct sv host, struct host_time t)
{
	const struct zone *zone = clock_zone_of(c, input);

	if (zone != NULL)
		t.us = saturating_sub(t.us, zone->offset_s * US_PER_S);
	return clock_to_ref(c, host, t);
}

struct ref_time clock_event_to_ref(const struct clocks *c, const struct event *e)
{
	return clock_input_to_ref(c, e->place.input, e->host, e->time);
}

/* An event that is written in whole seconds may have happened up to one later. */
static int64_t with_step_us(const struct host_clock *clock, int64_t us)
{
	return clock->step_us < US_PER_S ? us : saturating_add(us, clock->step_us);
}

int64_t clock_uncertainty_us(const struct clocks *c, struct sv host, bool *known)
{
	const struct host_clock *clock = clock_of(c, host);
	int64_t most_us;

	if (clock == NULL) {
		*known = sv_is_absent(host) && sv_is_absent(c->reference);
		return 0;
	}
	*known = clock->has_uncertainty;
	most_us = clock->uncertainty_us;
	for (size_t i = 1; i < clock->piece_count; i++) {
		*known &= clock->pieces[i].has_uncertainty;
		most_us = clock->pieces[i].uncertainty_us > most_us ? clock->pieces[i].uncertainty_us : most_us;
	}
	return *known ? with_step_us(clock, most_us) : 0;
}

/*
 * What the host's clock showed at t: by each piece another time, and right is
 * what that piece shows. Where the clock was set back two are, where it was set
 * forward none is.
 */
int64_t clock_uncertainty_at_us(const struct clocks *c, struct sv host, struct ref_time t, bool *known)
{
	const struct host_clock *clock = clock_of(c, host);
	int64_t most_us = -1;
	bool all_known = true;

	if (clock == NULL || clock->piece_count == 0)
		return clock_uncertainty_us(c, host, known);
	for (size_t i = 0; i < clock->piece_count; i++) {
		struct host_time near = { saturating_add(t.us, clock->pieces[i].offset_us) };
		struct host_time shown = { saturating_add(t.us, offset_at(&clock->pieces[i], near)) };
		bool is_known;
		int64_t us;

		if (piece_index(clock, shown) != i)
			continue;
		us = host_uncertainty_us(clock, shown, &is_known);
		all_known &= is_known;
		most_us = us > most_us ? us : most_us;
	}
	if (most_us < 0)
		return clock_uncertainty_us(c, host, known);
	*known = all_known;
	return all_known ? with_step_us(clock, most_us) : 0;
}

int clocks_save(const struct clocks *c, struct store *s)
{
	struct arena *scratch = arena_new();
	struct store_clock *rows = NULL;
	struct store_zone *zones = arena_array(scratch, c->zone_count, sizeof *zones);
	size_t count = 0, capacity = 0;
	int rc;

	for (size_t i = 0; i < c->count; i++) {
		const struct host_clock *h = &c->hosts[i];

		*ARENA_PUSH(scratch, rows, count, capacity) =
			(struct store_clock){ .host = h->host, .offset_us = h->offset_us, .drift_ppm = h->drift_ppm, .first = h->since };
		for (size_t k = 1; k < h->piece_count; k++) {
			const struct clock_piece *p = &h->pieces[k];

			/* A piece that no time falls into, since the clock was set back beyond it. */
			if (p->since.us <= rows[count - 1].since.us && rows[count - 1].is_later)
				continue;
			*ARENA_PUSH(scratch, rows, count, capacity) =
				(struct store_clock){ h->host, p->offset_us, p->drift_ppm, p->first, true, p->since };
		}
	}
	for (size_t i = 0; i < c->zone_count; i++)
		zones[i] = (struct store_zone){ c->zones[i].input, c->zones[i].zone.offset_s * US_PER_S };
	rc = store_save_clocks(s, rows, count, zones, c->zone_count);
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
