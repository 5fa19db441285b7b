/* SPDX-License-Identifier: MIT */
/*
 * A daemon that sets the clock says so, and most say by how much (input-formats.md
 * 1.13). A probe sees it between two samples. Its word is a candidate: where links speak of the same time they decide.
 */

#include "analysis/clock_told.h"

#include <stdlib.h>

#include "analysis/clock_piece.h"

/* The line stands in a log of whole seconds, and is written within one of the step. */
#define LINE_US US_PER_S
/* One step is told by several daemons within so long. */
#define SAME_US (2 * US_PER_S)
/* A clock that was set more often within one incident is not understood. */
#define STEPS_MAX 16

/* One line, by the host's clock as it was set, its zone taken off. */
struct told {
	const struct event *event;
	int64_t at_us;
	int64_t within_us;	/* before it: who looks at the clock now and then knows an interval */
	bool has_step;
	int64_t step_us;
	bool is_used;
};

struct tellings {
	struct told *items;	/* by time */
	size_t count, capacity;
};

static int by_time(const void *left, const void *right)
{
	const struct told *x = left, *y = right;

	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	return (x->event->id > y->event->id) - (x->event->id < y->event->id);
}

static int load(struct store *s, const struct clocks *c, struct arena *a, struct sv host, struct tellings *out)
{
	const enum event_type types[] = { EVENT_CLOCK_STEP };
	const struct event **events;
	size_t n;

	if (query_load(s, types, 1, a, &events, &n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct zone *zone = clock_zone_of(c, events[i]->place.input);
		struct told t = { .event = events[i], .at_us = clock_add(events[i]->time.us, events[i]->duration_us),
				  .within_us = events[i]->duration_us };

		if (!sv_eq(events[i]->host, host))
			continue;
		t.at_us = clock_sub(t.at_us, zone == NULL ? 0 : zone->offset_s * US_PER_S);
		t.has_step = event_int(events[i], FIELD_STEP_MICROS, &t.step_us) && t.step_us != 0;
		*ARENA_PUSH(a, out->items, out->count, out->capacity) = t;
	}
	if (out->count > 1)
		qsort(out->items, out->count, sizeof *out->items, by_time);
	return 0;
}

/* Between which times that it showed the clock was set, by a line at this one. */
static void place_step(struct clock_piece *p, const struct told *t)
{
	p->set_after.us = clock_sub(clock_sub(t->at_us, p->step_us), t->within_us > LINE_US ? t->within_us : LINE_US);
	p->set_before.us = clock_add(t->at_us, LINE_US);
	p->since.us = p->set_after.us / 2 + p->set_before.us / 2;
}

static void cite(struct clock_piece *p, struct told *t, struct arena *a)
{
	const char *role = t->within_us > 0 ? "between two samples of the host the clock was set"
					    : "the host's own daemon says that the clock was set";

	t->is_used = true;
	p->is_told = true;
	p->told = evidence_of(a, t->event, (struct ref_time){ 0 }, role);
}

/* ---- steps that links show ---- */

static bool is_of_step(const struct clock_piece *before, const struct clock_piece *p, const struct told *t)
{
	const int64_t back_us = p->step_us < 0 ? p->step_us : 0;
	int64_t slack_us = US_PER_S;

	if (t->at_us < clock_add(p->set_after.us, back_us) || t->at_us > clock_sub(p->set_before.us, back_us))
		return false;
	if (before->has_uncertainty && p->has_uncertainty)
		slack_us = clock_add(before->uncertainty_us, p->uncertainty_us);
	/* How far the links leave the step open. */
	return !t->has_step || llabs(clock_sub(t->step_us, p->step_us)) <= slack_us;
}

/* A line that says by how much is better than one that does not; two that say it of different times tell nothing. */
static struct told *teller_of(struct tellings *all, const struct clock_piece *before, const struct clock_piece *p)
{
	struct told *best = NULL;
	bool is_ambiguous = false;

	for (size_t i = 0; i < all->count; i++) {
		struct told *t = &all->items[i];

		if (!is_of_step(before, p, t) || (best != NULL && best->has_step && !t->has_step))
			continue;
		if (best == NULL || t->has_step != best->has_step) {
			best = t;
			is_ambiguous = false;
		} else if (t->at_us - best->at_us > SAME_US + t->within_us) {
			is_ambiguous = true;
		}
	}
	return is_ambiguous ? NULL : best;
}

static void narrow(struct tellings *all, struct clock_piece *pieces, size_t n, struct arena *a)
{
	for (size_t i = 1; i < n; i++) {
		struct clock_piece *p = &pieces[i], by_line = *p;
		struct told *t = teller_of(all, &pieces[i - 1], p);

		if (t == NULL)
			continue;
		cite(p, t, a);
		place_step(&by_line, t);
		/* Samples may have told it more closely. */
		if (by_line.set_before.us - by_line.set_after.us >= p->set_before.us - p->set_after.us)
			continue;
		p->set_after = by_line.set_after;
		p->set_before = by_line.set_before;
		p->since = by_line.since;
	}
}

/* ---- steps that no link could show ---- */

/* The same clock on the other side of a step, as its links on this side tell it. */
static struct clock_piece other_side(const struct clock_piece *p, int64_t at_us, int64_t step_us)
{
	struct clock_piece q = *p;

	q.offset_us = clock_add(clock_offset_at(p, (struct host_time){ at_us }), step_us);
	q.first = q.last = q.best = (struct host_time){ at_us };
	q.best_uncertainty_us = q.uncertainty_us;
	q.links_forward = q.links_backward = 0;
	q.has_tightest[0] = q.has_tightest[1] = false;
	return q;
}

/* Before all links. The piece that was the first begins with the step. */
static size_t put_before(struct clock_piece *pieces, size_t n, struct told *t, struct arena *a)
{
	for (size_t i = n; i > 0; i--)
		pieces[i] = pieces[i - 1];
	pieces[0] = other_side(&pieces[1], t->at_us, -t->step_us);
	pieces[0].since.us = INT64_MIN;
	pieces[1].step_us = t->step_us;
	place_step(&pieces[1], t);
	cite(&pieces[1], t, a);
	return n + 1;
}

static size_t put_behind(struct clock_piece *pieces, size_t n, struct told *t, struct arena *a)
{
	pieces[n] = other_side(&pieces[n - 1], t->at_us, t->step_us);
	pieces[n].is_told = false;
	pieces[n].step_us = t->step_us;
	place_step(&pieces[n], t);
	cite(&pieces[n], t, a);
	return n + 1;
}

/* A step that was told before, by another daemon or in another file. */
static bool is_told_again(const struct tellings *all, size_t at)
{
	const struct told *t = &all->items[at];

	for (size_t i = at; i-- > 0 && t->at_us - all->items[i].at_us <= SAME_US + t->within_us;)
		if (all->items[i].has_step && llabs(all->items[i].step_us - t->step_us) < US_PER_MS)
			return true;
	return false;
}

/* What links know: of a clock without any, nothing from before its first time on. */
struct known {
	int64_t first_us, last_us;
};

/* Whether links on both sides of the line rule out the step that it tells of. */
static bool is_refuted(const struct clock_piece *pieces, size_t n, const struct told *t)
{
	for (size_t i = 0; i < n; i++)
		if (pieces[i].first.us <= t->at_us && t->at_us <= pieces[i].last.us)
			return pieces[i].has_uncertainty && llabs(t->step_us) > 2 * pieces[i].uncertainty_us;
	return false;
}

static bool is_taken(const struct tellings *all, size_t at)
{
	const struct told *t = &all->items[at];

	return t->has_step && !t->is_used && t->event->strength == STRENGTH_PROVES && !is_told_again(all, at);
}

static void add_steps(struct tellings *all, struct clock_piece *pieces, size_t *n, struct known known, struct host_clock *h,
		      struct arena *a)
{
	for (size_t i = all->count; i-- > 0;)
		if (is_taken(all, i) && all->items[i].at_us < known.first_us)
			*n = put_before(pieces, *n, &all->items[i], a);
	for (size_t i = 0; i < all->count; i++) {
		if (!is_taken(all, i) || all->items[i].at_us < known.first_us)
			continue;
		if (all->items[i].at_us > known.last_us)
			*n = put_behind(pieces, *n, &all->items[i], a);
		else
			h->told_refuted += is_refuted(pieces, *n, &all->items[i]);
	}
}

/* ---- public ---- */

static void take_first(struct host_clock *h)
{
	const struct clock_piece *p = &h->pieces[0];

	h->offset_us = p->offset_us;
	h->drift_ppm = p->drift_ppm;
	h->since = p->first;
	h->has_uncertainty = p->has_uncertainty;
	h->uncertainty_us = p->uncertainty_us;
}

int clock_told_take(struct store *s, const struct clocks *c, struct arena *a, struct host_clock *h)
{
	struct tellings all = { 0 };
	struct known known = { INT64_MAX, INT64_MAX };
	size_t n = h->piece_count;

	if (h->method == CLOCK_REFERENCE || h->method == CLOCK_OPTION || h->method == CLOCK_CONTRADICTORY)
		return 0;
	if (load(s, c, a, h->host, &all) < 0)
		return -1;
	if (all.count == 0 || all.count > STEPS_MAX)
		return 0;
	struct clock_piece *pieces = arena_array(a, n + 1 + all.count, sizeof *pieces);
	for (size_t i = 0; i < n; i++)
		pieces[i] = h->pieces[i];
	narrow(&all, pieces, n, a);
	if (n > 0) {
		known = (struct known){ pieces[0].first.us, pieces[n - 1].last.us };
	} else {
		/* Right since it was set last, as far as anybody knows. */
		struct host_time last = { all.items[all.count - 1].at_us };
		pieces[n++] = (struct clock_piece){ .since = { INT64_MIN }, .first = last, .last = last, .best = last };
	}
	add_steps(&all, pieces, &n, known, h, a);
	if (n == 1 && h->piece_count == 0)
		return 0;
	h->pieces = pieces;
	h->piece_count = n;
	take_first(h);
	for (size_t i = 0; i < n; i++)
		if (pieces[i].is_told)
			pieces[i].told.time = clock_input_to_ref(c, pieces[i].told.place.input, h->host, pieces[i].told.written);
	return 0;
}
