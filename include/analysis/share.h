/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_SHARE_H
#define AFTERSHOCK_ANALYSIS_SHARE_H

/*
 * The share of rebalances inside jitter windows, what chance would give, and
 * the verdict (method.md 5 and 6).
 */

#include "analysis/rebalance.h"

enum verdict {
	VERDICT_CONFIRMED,
	VERDICT_CONFIRMED_IF_CLOCKS_HOLD,
	VERDICT_NOT_ABOVE_CHANCE,
	VERDICT_PARTIAL,
	VERDICT_REJECTED,
	VERDICT_INSUFFICIENT,
};

struct proportion {
	size_t count;
	size_t total;
	bool known;		/* total > 0 */
	double share;
	double low, high;	/* Wilson, 95 % */
};

struct chance {
	bool known;
	double expected_share;	/* p0 */
	bool has_lift;
	double lift;		/* share / p0; not known when p0 is 0 */
	double p_value;
	unsigned shifts;
	bool has_precursor;
	double precursor_rate;	/* part of the windows that a rebalance follows */
	int64_t observed_us;	/* length of the observed time */
	int64_t dilated_us;	/* of the windows dilated by the exposure, within it */
};

/* The same figures once for jitter windows and once for pauses. */
struct share_figures {
	/*
	 * Over observed roots: the plain rule of the runbook, which lays the trigger's
	 * moment beside what a watch on the network shows, the outage. In the silence,
	 * which lasts until TCP comes back, every eviction by silence lies by definition.
	 */
	struct proportion contained;
	struct proportion lagged;	/* the headline */
	struct proportion explained;
	double low, high;		/* of the lagged share, within the clocks' uncertainty and what the evidence leaves open */
	double high_by_clocks;		/* ... within the clocks' uncertainty alone */
	struct proportion lagged_all;	/* over all observed rebalances, roots or not */
	struct proportion lagged_proved; /* over observed roots whose trigger is proved */
	struct chance chance;
};

/* The same two questions of one group alone. */
struct group_share {
	struct sv group;
	size_t rebalances, roots;
	struct proportion lagged;	/* over its observed roots */
	struct proportion contained;
	struct proportion paused;	/* lagged, by pauses */
};

struct share {
	size_t rebalances;	/* all, roots or not */
	size_t roots;
	size_t observed;	/* observed roots: the denominator */
	struct share_figures jitter;
	struct share_figures pauses;
	struct proportion contained_all;	/* over all observed rebalances by the plain rule: what the runbook counts */
	struct proportion lagged_by_trigger[TRIGGER_COUNT];	/* over observed roots of that trigger */
	int threshold_percent;
	enum verdict verdict;
	struct group_share *groups;	/* those that had rebalances, by name */
	size_t group_count;
	struct sv verdict_reason;	/* one sentence */
	struct sv manager;		/* the verdict as one reads it who need not know what a lag is */
	struct sv engineer;		/* the figures that it rests on, so that they can be checked */
	struct sv contained_note;	/* one sentence: why the plain share differs from the lagged one */
};

/* Fills the attribution of each rebalance and the figures. */
int share_find(const struct clocks *c, const struct groups *g, const struct windows *w, const struct analysis_options *o,
	       struct arena *a, struct rebalances *r, struct share *out);
const char *verdict_name(enum verdict v);
bool verdict_by_name(struct sv name, enum verdict *out);
/* Whether a is at least as strong as b (confirmed before confirmed_if_clocks_hold before partial ...). */
bool verdict_at_least(enum verdict a, enum verdict b);

#endif
