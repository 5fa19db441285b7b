/* SPDX-License-Identifier: MIT */
/* The analysis, in the order in which one conclusion needs another. See analysis/findings.h. */

#include "analysis/findings.h"

#include "analysis/handling.h"
#include "analysis/heard.h"
#include "analysis/stall.h"

/* Windows closer than one heartbeat are one: the shortest interval of the groups decides. */
static int64_t heartbeat_ms(const struct groups *g)
{
	int64_t least = 0;
	for (size_t i = 0; i < g->count; i++) {
		int64_t ms = group_heartbeat_interval_ms(&g->items[i]);
		if (least == 0 || ms < least)
			least = ms;
	}
	return least != 0 ? least : 3000; /* Kafka's default */
}

/* From the first event to the last, over all inputs. */
static void find_span(struct findings *f)
{
	for (size_t i = 0; i < f->input_count; i++) {
		const struct input_info *in = &f->inputs[i];
		if (!in->has_times)
			continue;
		struct ref_time first = clock_input_to_ref(&f->clocks, in->id, in->host, in->first);
		struct ref_time last = clock_input_to_ref(&f->clocks, in->id, in->host, in->last);
		if (!f->has_span || first.us < f->span.start.us)
			f->span.start = first;
		if (!f->has_span || last.us > f->span.end.us)
			f->span.end = last;
		f->has_span = true;
	}
}

int findings_make(struct store *s, const struct analysis_options *o, struct arena *a, struct diag *d,
		  struct findings *out)
{
	*out = (struct findings){ .problems = d, .thresholds = o->thresholds };
	/* What is found cites events. */
	query_load_into(s, a);
	if (query_problems(s, d) < 0 || query_inputs(s, a, &out->inputs, &out->input_count) < 0 ||
	    clocks_find(s, o, a, &out->clocks) < 0 || clocks_save(&out->clocks, s) < 0 ||
	    groups_find(s, &out->clocks, o, a, &out->groups) < 0 ||
	    windows_find(s, &out->clocks, o, heartbeat_ms(&out->groups), a, &out->windows) < 0 ||
	    rebalances_find(s, &out->clocks, &out->groups, o, a, &out->rebalances) < 0 ||
	    heard_find(s, &out->clocks, &out->groups, a, &out->rebalances) < 0 ||
	    share_find(&out->clocks, &out->groups, &out->windows, o, a, &out->rebalances, &out->share) < 0 ||
	    stalls_find(s, &out->clocks, &out->groups, a, &out->rebalances) < 0)
		return -1;
	handlings_name(&out->windows, a, &out->rebalances);
	if (duplicates_find(s, &out->clocks, &out->groups, &out->windows, o, a, &out->rebalances, &out->effects) < 0 ||
	    idempotency_find(&out->effects, a, &out->idempotency) < 0 ||
	    tune_find(&out->groups, &out->windows, &out->rebalances, &out->share, &out->effects, &out->idempotency, o, a,
		      &out->tuning) < 0)
		return -1;
	find_span(out);
	return 0;
}
