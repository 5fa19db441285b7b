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

#include "analysis/clock_daemon.h"
#include "analysis/clock_fit.h"
#include "analysis/clock_links.h"
#include "analysis/clock_piece.h"
#include "analysis/clock_sight.h"
#include "analysis/clock_step.h"
#include "analysis/clock_told.h"
#include "analysis/clock_zone.h"

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

/* ---- bounds ---- */

static struct host_time unzoned(const struct solver *v, const struct link_end *end)
{
	return (struct host_time){ clock_sub(clock_add(end->event->time.us, end->later_us), v->zone_us[end->input]) };
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

	slack_us = clock_uncertainty_of(&v->clocks[there->host], there_time, &known);
	if (!known)
		return;
	slack_us = clock_add(slack_us, v->links.step_us[link->after.input]);
	ref_us = clock_convert(&v->clocks[there->host], there_time).us;
	value_us = clock_sub(here_time.us, ref_us);
	value_us = is_after ? clock_add(value_us, slack_us) : clock_sub(value_us, slack_us);
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
	return clock_sub(clock_offset_at(y, y->since), clock_offset_at(x, y->since));
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
	int64_t zone_us = clock_zone_part_us(c->offset_us);

	if ((c->method != CLOCK_LINKS && c->method != CLOCK_ONE_SIDED) || zone_us == 0)
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
		if (clock_told_take(s, out, a, h) < 0)
			return -1;
	}
	return clock_daemons_take(s, a, out);
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
	if (clock_links_find(s, &from, v.scratch, &v.links) < 0 || clock_sights_find(s, &from, v.scratch, &v.links) < 0)
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
