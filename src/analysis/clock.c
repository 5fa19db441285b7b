/* SPDX-License-Identifier: MIT */
/* What is asked of the clocks once they are found (clock_solve.c). See analysis/clock.h. */

#include "analysis/clock.h"

#include <assert.h>

#include "analysis/clock_piece.h"

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
	return clock_convert(clock, t);
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
		t.us = clock_sub(t.us, zone->offset_s * US_PER_S);
	return clock_to_ref(c, host, t);
}

struct ref_time clock_event_to_ref(const struct clocks *c, const struct event *e)
{
	return clock_input_to_ref(c, e->place.input, e->host, e->time);
}

/* An event that is written in whole seconds may have happened up to one later. */
static int64_t with_step_us(const struct host_clock *clock, int64_t us)
{
	return clock->step_us < US_PER_S ? us : clock_add(us, clock->step_us);
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
		struct host_time near = { clock_add(t.us, clock->pieces[i].offset_us) };
		struct host_time shown = { clock_add(t.us, clock_offset_at(&clock->pieces[i], near)) };
		bool is_known;
		int64_t us;

		if (clock_piece_index(clock, shown) != i)
			continue;
		us = clock_uncertainty_of(clock, shown, &is_known);
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
		[CLOCK_DAEMONS] = "daemons",
		[CLOCK_ASSUMED] = "assumed",
		[CLOCK_CONTRADICTORY] = "contradictory",
	};

	assert((size_t)m < sizeof names / sizeof *names);
	return names[m];
}
