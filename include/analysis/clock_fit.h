/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_FIT_H
#define AFTERSHOCK_ANALYSIS_CLOCK_FIT_H

/*
 * From bounds of one clock's offset to the offset itself: a corridor between
 * the bounds (Duda et al. 1987), cut where the clock was set. For clock.c alone.
 */

#include "analysis/clock.h"

/* The offset of a host's clock, when it shows at_us, is at most (is_above) or at least value_us. */
struct clock_bound {
	int64_t at_us;
	int64_t ref_us;	/* the other end of its link, on the reference clock: gives the true order of bounds */
	int64_t value_us;
	bool is_above;
	size_t link;	/* whose bound it is */
};

struct clock_bounds {
	struct clock_bound *items;
	size_t count;
	size_t capacity;
};

struct fitted_piece {
	struct clock_piece piece;	/* but its tightest links */
	bool is_enclosed;		/* from both sides */
	bool has_tightest[2];		/* [0] from above, [1] from below */
	size_t tightest[2];		/* link */
};

struct clock_fit {
	struct fitted_piece *pieces;	/* in order; none when there is no bound, or when more than a few would be needed */
	size_t count;
	size_t refuted;			/* bounds that lone links gave and all others contradict: left out */
};

/* Sorts b. */
void clock_fit_find(struct clock_bounds *b, struct arena *a, struct clock_fit *out);

#endif
