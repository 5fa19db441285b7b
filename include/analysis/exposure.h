/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_EXPOSURE_H
#define AFTERSHOCK_ANALYSIS_EXPOSURE_H

/*
 * When the network could have caused a rebalance, and which windows concern it
 * (method.md 5). Between share.c and exposure.c.
 */

#include "analysis/rebalance.h"

/* Everything that a rebalance of one member is held against: the same for all of a member's. */
struct surroundings {
	struct sv host, peer, broker_host, coordinator;
	const struct group *group;	/* of a member whose host is not known: whose members may tell where it is not */
	struct sv client;		/* ... its client id; absent when that is not known either */
	bool has_coordinator;		/* it never changed: windows to other ports are not on its path */
	struct span_set jitter;		/* the silences */
	struct span_set outages;	/* of the same windows: what a watch on the network shows */
	struct span_set pauses;
	struct span_set coverage;	/* jitter could have been seen */
	struct span_set captured, counted; /* by packets; by TCP's counters: neither shows all that the other does */
	const struct window **windows;	/* all that concern it, of both kinds, by start */
	size_t window_count, window_capacity;
	bool is_certain;		/* the evidence tells hosts apart */
	int64_t clock_us;		/* how far the windows' clocks may be off; of the worst */
	bool is_clock_known;
};

struct exposure_context {
	const struct clocks *clocks;
	const struct windows *windows;
	struct arena *arena;
	struct surroundings **items;
	size_t count, capacity;
};

/* Made at the first asking. */
const struct surroundings *surroundings_of(struct exposure_context *ctx, const struct rebalance *r, const struct group *g);

/* How far the trigger's time may be off against the windows; *known false when nothing bounds it. */
int64_t exposure_uncertainty_us(const struct exposure_context *ctx, const struct rebalance *r,
				const struct surroundings *near, bool *known);

/*
 * Fills has_exposure and exposure. why: a sentence when there is none. need_us:
 * the overlap from which the network counts as its cause.
 */
void exposure_of(const struct surroundings *near, const struct group *g, int64_t uncertainty_us, struct rebalance *r,
		 int64_t *need_us, const char **why);

#endif
