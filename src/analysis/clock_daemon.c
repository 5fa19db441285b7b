/* SPDX-License-Identifier: MIT */
/*
 * A host's time daemon knows how far its clock is off true time, give or take
 * half of the delay to its source and the dispersion (RFC 5905, 11.2). Two that
 * know it of two hosts bound the one clock against the other.
 */

#include "analysis/clock_daemon.h"

#include "analysis/clock_piece.h"

/* By so much a clock that is left alone may wander (RFC 5905, 7.2: PHI). */
#define WANDER_PPM 15.0

struct found {
	struct clock_daemon *items;
	size_t count, capacity;
};

static struct clock_daemon *daemon_of(struct found *all, struct arena *a, const struct event *e)
{
	for (size_t i = 0; i < all->count; i++)
		if (sv_eq(all->items[i].host, e->host))
			return &all->items[i];
	struct clock_daemon *d = ARENA_PUSH(a, all->items, all->count, all->capacity);
	*d = (struct clock_daemon){ .host = arena_copy(a, e->host), .first = e->time, .last = e->time,
				    .least_us = INT64_MAX, .most_us = INT64_MIN,
				    .has_bound = true, .low_us = INT64_MAX, .high_us = INT64_MIN };
	return d;
}

static int64_t lesser(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static int64_t greater(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static void take_reading(struct clock_daemon *d, const struct event *e)
{
	int64_t offset_us = event_int_or(e, FIELD_OFFSET_US, 0), uncertainty_us;

	d->readings++;
	d->first.us = lesser(d->first.us, e->time.us);
	d->last.us = greater(d->last.us, e->time.us);
	d->least_us = lesser(d->least_us, offset_us);
	d->most_us = greater(d->most_us, offset_us);
	/* One that does not say how wrong it may be leaves all open. */
	if (!event_int(e, FIELD_UNCERTAINTY_US, &uncertainty_us) || uncertainty_us < 0) {
		d->has_bound = false;
		return;
	}
	d->low_us = lesser(d->low_us, clock_sub(offset_us, uncertainty_us));
	d->high_us = greater(d->high_us, clock_add(offset_us, uncertainty_us));
}

static int find(struct store *s, struct arena *a, struct found *out)
{
	const enum event_type types[] = { EVENT_CLOCK_OFFSET };
	struct query *q = query_events(s, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		if (!sv_is_absent(e.host))
			take_reading(daemon_of(out, a, &e), &e);
	query_free(q);
	return rc;
}

static const struct clock_daemon *reference_of(const struct found *all, const struct clocks *c)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].has_bound && sv_eq(all->items[i].host, c->reference))
			return &all->items[i];
	return NULL;
}

/* While both were read: what a clock did before or after is not in the readings. */
static bool bound(struct clock_daemon *d, const struct clock_daemon *reference)
{
	d->both_from.us = greater(d->first.us, reference->first.us);
	d->both_to.us = lesser(d->last.us, reference->last.us);
	d->ahead_least_us = clock_sub(d->low_us, reference->high_us);
	d->ahead_most_us = clock_sub(d->high_us, reference->low_us);
	return d->both_from.us <= d->both_to.us;
}

static void take(struct host_clock *h, const struct clock_daemon *d, struct arena *a)
{
	const int64_t offset_us = d->ahead_least_us / 2 + d->ahead_most_us / 2;
	const int64_t uncertainty_us = greater(clock_sub(d->ahead_most_us, offset_us), clock_sub(offset_us, d->ahead_least_us));
	struct clock_piece *p = arena_alloc(a, sizeof *p);

	*p = (struct clock_piece){
		.since = { INT64_MIN },
		.first = d->both_from,
		.last = d->both_to,
		.best = { d->both_from.us / 2 + d->both_to.us / 2 },
		.offset_us = offset_us,
		.has_uncertainty = true,
		.uncertainty_us = uncertainty_us,
		.best_uncertainty_us = uncertainty_us,
		.growth_ppm = WANDER_PPM,
	};
	h->method = CLOCK_DAEMONS;
	h->offset_us = offset_us;
	h->since = d->both_from;
	h->has_uncertainty = true;
	h->uncertainty_us = uncertainty_us;
	h->pieces = p;
	h->piece_count = 1;
}

/* Where the clock was set what was read before and after is of two clocks. */
static bool is_contradicted(const struct host_clock *h, const struct clock_daemon *d)
{
	return h->has_uncertainty && h->piece_count <= 1 &&
	       (clock_add(h->offset_us, h->uncertainty_us) < d->ahead_least_us ||
		clock_sub(h->offset_us, h->uncertainty_us) > d->ahead_most_us);
}

static void compare(struct clocks *c, struct clock_daemon *d, struct arena *a)
{
	for (size_t i = 0; i < c->count; i++) {
		struct host_clock *h = &c->hosts[i];

		if (!sv_eq(h->host, d->host) || h->method == CLOCK_REFERENCE)
			continue;
		if (h->method == CLOCK_ASSUMED && h->piece_count == 0)
			take(h, d, a);
		else
			d->is_contradicted = is_contradicted(h, d);
	}
}

int clock_daemons_take(struct store *s, struct arena *a, struct clocks *c)
{
	struct found all = { NULL, 0, 0 };
	const struct clock_daemon *reference;

	if (find(s, a, &all) < 0)
		return -1;
	c->daemons = all.items;
	c->daemon_count = all.count;
	reference = reference_of(&all, c);
	for (size_t i = 0; reference != NULL && i < all.count; i++) {
		struct clock_daemon *d = &all.items[i];

		d->is_against_reference = d != reference && d->has_bound && bound(d, reference);
		if (d->is_against_reference)
			compare(c, d, a);
	}
	return 0;
}
