/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CHANCE_H
#define AFTERSHOCK_ANALYSIS_CHANCE_H

/*
 * When an exposure counts as hit, and how often chance alone would hit it
 * (method.md 5 and 6). share.c asks the same question once of the jitter windows
 * and once of the pauses: each kind has the other for its rival.
 */

#include "analysis/share.h"

struct exposed {
	bool has_exposure;		/* false: never hit */
	struct ref_time trigger_time;
	struct span exposure;
	const struct span_set *windows;	/* of the kind in question, that concern it */
	const struct span_set *rivals;	/* of the other kind */
	int64_t need_us;		/* overlap from which it is lagged: min(H, S / 3) */
	int64_t slack_us;		/* uncovered part up to which it is explained: 2 H */
};

struct hit {
	int64_t overlap_us;
	int64_t rival_us;
	bool reaches;		/* overlap of at least need */
	bool explains;		/* and all but slack is covered */
	bool rival_reaches;
	bool rival_explains;
	bool is_lagged;		/* reaches, and the rival alone does not explain it */
};

/* From the overlaps alone, so that shares and shifts decide alike. */
struct hit chance_hit(const struct exposed *x, int64_t length_us, int64_t overlap_us, int64_t rival_us);

/*
 * Expected share, lift and p-value of the observed roots, over the observed
 * time. lagged: how many are lagged. Costs shifts * n; shifts are reduced when n is
 * so large that it would take minutes.
 */
void chance_find(const struct exposed *roots, size_t n, size_t lagged, const struct span_set *observed, unsigned shifts,
		 uint64_t seed, struct arena *a, struct chance *out);

/* 95 % interval of Wilson; not known when total is 0. */
struct proportion proportion_of(size_t count, size_t total);

#endif
