/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_FINDINGS_H
#define AFTERSHOCK_ANALYSIS_FINDINGS_H

/*
 * All that is concluded about an incident, in the order in which it is found.
 * Reports read this and nothing else.
 */

#include "analysis/clock.h"
#include "analysis/duplicate.h"
#include "analysis/group.h"
#include "analysis/idempotency.h"
#include "analysis/rebalance.h"
#include "analysis/share.h"
#include "analysis/threshold.h"
#include "analysis/tune.h"
#include "analysis/window.h"

struct findings {
	struct input_info *inputs;
	size_t input_count;
	bool has_span;
	struct span span;	/* of all events with a time */
	struct clocks clocks;
	struct groups groups;
	struct thresholds thresholds;	/* by which the windows were found */
	struct windows windows;
	struct rebalances rebalances;
	struct share share;
	struct side_effects effects;
	struct idempotency idempotency;
	struct tuning tuning;
	const struct diag *problems;
};

/* Everything, from the store. Lives in the arena. 0 or -1. */
int findings_make(struct store *s, const struct analysis_options *o, struct arena *a, struct diag *d,
		  struct findings *out);

#endif
