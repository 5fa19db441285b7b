/* SPDX-License-Identifier: MIT */
/* What one clock shows, and how far it may be off. See analysis/clock_piece.h. */

#include "analysis/clock_piece.h"

#include <math.h>
#include <stdlib.h>

int64_t clock_sub(int64_t x, int64_t y)
{
	int64_t out;

	if (__builtin_sub_overflow(x, y, &out))
		return y > 0 ? INT64_MIN : INT64_MAX;
	return out;
}

int64_t clock_add(int64_t x, int64_t y)
{
	int64_t out;

	if (__builtin_add_overflow(x, y, &out))
		return y > 0 ? INT64_MAX : INT64_MIN;
	return out;
}

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
size_t clock_piece_index(const struct host_clock *c, struct host_time t)
{
	size_t at = c->piece_count - 1;

	while (at > 0 && c->pieces[at].since.us > t.us)
		at--;
	return at;
}

static struct clock_piece piece_at(const struct host_clock *c, struct host_time t)
{
	return c->piece_count == 0 ? only_piece(c) : c->pieces[clock_piece_index(c, t)];
}

int64_t clock_offset_at(const struct clock_piece *p, struct host_time t)
{
	if (p->drift_ppm == 0.0)
		return p->offset_us;
	return clock_add(p->offset_us, llround(p->drift_ppm * 1e-6 * (double)clock_sub(t.us, p->first.us)));
}

struct ref_time clock_convert(const struct host_clock *c, struct host_time t)
{
	struct clock_piece p = piece_at(c, t);

	return (struct ref_time){ clock_sub(t.us, clock_offset_at(&p, t)) };
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

	return t.us >= clock_add(p->set_after.us, back_us) && t.us <= clock_sub(p->set_before.us, back_us);
}

/* By the wrong one of two pieces the time is off by the difference of their offsets, and by what that one is off. */
static int64_t wrong_piece_us(const struct clock_piece *is, const struct clock_piece *may_be, struct host_time t)
{
	int64_t apart_us = llabs(clock_sub(clock_offset_at(is, t), clock_offset_at(may_be, t)));

	return clock_add(apart_us, piece_uncertainty_us(may_be, t));
}

int64_t clock_uncertainty_of(const struct host_clock *c, struct host_time t, bool *known)
{
	struct clock_piece p = piece_at(c, t);
	size_t at = c->piece_count == 0 ? 0 : clock_piece_index(c, t);
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
