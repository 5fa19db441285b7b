/* SPDX-License-Identifier: MIT */
/*
 * When a clock was set. Links say only between which two of them it was. A loop
 * that samples counters at a steady pace times its own sleep: the one interval
 * that is longer (or shorter) than all others by the step holds it.
 */

#include "analysis/clock_step.h"

#include <stdlib.h>

#include "base/order.h"

/* A sampling loop's own unsteadiness, of its pace: half of this part, either way. */
#define PACE_SLACK_PART 4

struct interval {
	int64_t input;
	int64_t start_us, end_us; /* by the host's clock */
};

struct intervals {
	struct interval *items;
	size_t count, capacity;
	struct arena *arena;
};

static int by_input(const void *left, const void *right)
{
	const struct interval *x = left, *y = right;

	if (x->input != y->input)
		return x->input < y->input ? -1 : 1;
	if (x->start_us != y->start_us)
		return x->start_us < y->start_us ? -1 : 1;
	return (x->end_us > y->end_us) - (x->end_us < y->end_us);
}

static int by_length(const void *left, const void *right)
{
	return order_i64(*(const int64_t *)left, *(const int64_t *)right);
}

/* The host's sampling intervals, each once for an input, whatever number of counters grew in it. */
static int load_intervals(struct store *s, const struct clocks *c, struct sv host, struct intervals *out)
{
	const enum event_type types[] = { EVENT_COUNTER_DELTA };
	struct query *q = query_events(s, types, 1);
	struct event e;
	size_t kept = 0;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		const struct zone *zone = clock_zone_of(c, e.place.input);
		struct interval i = { e.place.input, e.time.us, 0 };

		if (!sv_eq(e.host, host) || __builtin_sub_overflow(i.start_us, zone == NULL ? 0 : zone->offset_s * US_PER_S, &i.start_us) ||
		    __builtin_add_overflow(i.start_us, e.duration_us, &i.end_us))
			continue;
		*ARENA_PUSH(out->arena, out->items, out->count, out->capacity) = i;
	}
	query_free(q);
	if (out->count > 1)
		qsort(out->items, out->count, sizeof *out->items, by_input);
	for (size_t i = 0; i < out->count; i++) {
		if (kept == 0 || by_input(&out->items[kept - 1], &out->items[i]) != 0)
			out->items[kept++] = out->items[i];
	}
	out->count = kept;
	return rc;
}

/* The median length of one input's intervals. */
static int64_t pace_us(const struct interval *of, size_t n, struct arena *a)
{
	int64_t *lengths = arena_array(a, n, sizeof *lengths);

	for (size_t i = 0; i < n; i++)
		lengths[i] = of[i].end_us - of[i].start_us;
	qsort(lengths, n, sizeof *lengths, by_length);
	return lengths[n / 2];
}

/* What is known so far of one step. */
struct search {
	struct clock_piece *piece;
	int64_t slack_us;
	struct interval found;
	bool any, is_ambiguous;
};

/* Loops that run beside one another hold the step each in an interval of its own: it is in all of them. */
static void take_candidate(struct search *search, const struct interval *i)
{
	struct interval *found = &search->found;

	if (!search->any)
		*found = *i;
	search->any = true;
	found->start_us = i->start_us > found->start_us ? i->start_us : found->start_us;
	found->end_us = i->end_us < found->end_us ? i->end_us : found->end_us;
	/* By the new clock and the old: less than the step is no time at all. */
	if (found->end_us - found->start_us < search->piece->step_us || found->end_us < found->start_us)
		search->is_ambiguous = true;
}

static void search_input(struct search *search, const struct interval *of, size_t n, int64_t pace)
{
	const struct clock_piece *p = search->piece;
	int64_t slack_us = search->slack_us + pace / PACE_SLACK_PART / 2;
	bool is_back = p->step_us < 0;

	/* A loop that is as unsteady as the step is long proves nothing. */
	if (llabs(p->step_us) <= 2 * slack_us)
		return;
	for (size_t i = 0; i < n; i++) {
		int64_t longer_us = of[i].end_us - of[i].start_us - pace;

		if (of[i].start_us >= p->set_after.us + (is_back ? p->step_us : 0) &&
		    of[i].end_us <= p->set_before.us - (is_back ? p->step_us : 0) && llabs(longer_us - p->step_us) <= slack_us)
			take_candidate(search, &of[i]);
	}
}

static void locate(const struct intervals *all, struct clock_piece *pieces, size_t at)
{
	struct search search = { .piece = &pieces[at] };
	size_t end;

	search.slack_us = pieces[at - 1].uncertainty_us + pieces[at].uncertainty_us;
	for (size_t start = 0; start < all->count; start = end) {
		for (end = start + 1; end < all->count && all->items[end].input == all->items[start].input; end++)
			;
		search_input(&search, &all->items[start], end - start, pace_us(&all->items[start], end - start, all->arena));
	}
	if (!search.any || search.is_ambiguous)
		return;
	pieces[at].set_after.us = search.found.start_us;
	pieces[at].set_before.us = search.found.end_us;
	pieces[at].since.us = search.found.start_us + (search.found.end_us - search.found.start_us) / 2;
}

int clock_steps_locate(struct store *s, const struct clocks *c, struct sv host, struct clock_piece *pieces, size_t n)
{
	struct intervals all = { .arena = arena_new() };
	int rc = load_intervals(s, c, host, &all);

	for (size_t i = 1; i < n && rc == 0; i++) {
		bool is_known = pieces[i - 1].has_uncertainty && pieces[i].has_uncertainty;

		if (is_known && pieces[i - 1].uncertainty_us < US_PER_S && pieces[i].uncertainty_us < US_PER_S)
			locate(&all, pieces, i);
	}
	arena_free(all.arena);
	return rc;
}
