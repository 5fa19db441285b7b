/* SPDX-License-Identifier: MIT */
/*
 * Each consumer's handlings of a partition, cut where it was given the
 * partition anew. See analysis/pass.h.
 */

#include "analysis/pass.h"

#include <stdlib.h>

#include "analysis/rebalance_index.h"
#include "base/order.h"

/*
 * A grant told so soon after the first handling that goes back counts as before
 * it: where effects and logs were timed by two clocks of which one is not known.
 */
#define GRANT_LATE_US (2 * US_PER_S)
/* Members log the end of a rebalance one after the other, and the first may be at work before the last. */
#define COMPLETE_LATE_US US_PER_S

/* A second's handlings of one partition that are looked through, so that hostile input costs no square. */
#define SECOND_RUNS_MAX 4096

struct splitter {
	const struct groups *groups;
	const struct rebalances *rebalances;
	struct grants *grants;
	struct attempts *attempts;
	struct arena *arena;
	struct passes *out;
};

static bool same_stream(const struct run *x, const struct run *y)
{
	return x->has_offset == y->has_offset && sv_eq(x->consumer, y->consumer) && sv_eq(x->topic, y->topic) &&
	       x->partition == y->partition;
}

static struct pass *open_pass(struct splitter *sp, const struct run *r)
{
	struct pass *pass = ARENA_PUSH(sp->arena, sp->out->items, sp->out->count, sp->out->capacity);

	*pass = (struct pass){ .consumer = r->consumer, .topic = r->topic, .partition = r->partition,
			       .since = r->first, .first = r->first, .last = r->last, .highest = r };
	return pass;
}

static void put_into_pass(struct splitter *sp, struct run *r)
{
	struct pass *pass = &sp->out->items[sp->out->count - 1];

	if (r->last.us > pass->last.us)
		pass->last = r->last;
	if (r->offset > pass->highest->offset)
		pass->highest = r;
	r->pass = sp->out->count - 1;
}

/* Going back without having failed: a consumer does not do that by itself. */
static bool goes_back(const struct run *before, const struct run *r)
{
	return r->offset <= before->offset && !before->failed;
}

/*
 * The run from which a grant is in force that by its time is so from the run at on. One that is told by the second was
 * given at some time in it: what its consumer handled in that second until it went back was handled before.
 */
static size_t in_force_from(const struct grant *g, const struct run *runs, size_t n, size_t at)
{
	if (!g->is_coarse || (at > 0 && goes_back(&runs[at - 1], &runs[at])))
		return at;
	for (size_t i = at + 1; i < n && i - at < SECOND_RUNS_MAX && runs[i].first.us < g->time.us + US_PER_S; i++)
		if (goes_back(&runs[i - 1], &runs[i]))
			return i;
	return at;
}

/*
 * The stream of a consumer whose log tells its grants. What it handles before
 * the first of them it has owned since before the log began.
 */
static void split_by_grants(struct splitter *sp, struct run *runs, size_t n, size_t first, size_t end)
{
	size_t next = first, from = 0;

	for (size_t i = 0; i < n; i++) {
		struct run *r = &runs[i];
		const struct grant *given = NULL;
		while (next < end && from <= i && sp->grants->items[next].time.us <= r->first.us) {
			from = in_force_from(&sp->grants->items[next], runs, n, i);
			if (from <= i)
				given = &sp->grants->items[next++];
		}
		if (given == NULL && i > 0 && next < end && goes_back(&runs[i - 1], r) &&
		    sp->grants->items[next].time.us - r->first.us <= GRANT_LATE_US)
			given = &sp->grants->items[next++];
		if (given != NULL || i == 0) {
			struct pass *pass = open_pass(sp, r);
			pass->grant = given;
			pass->since.us = given != NULL ? given->time.us : INT64_MIN;
			pass->rebalance = given != NULL ? given->rebalance : 0;
			if (given != NULL)
				sp->grants->items[given - sp->grants->items].used = true;
		}
		put_into_pass(sp, r);
	}
}

static struct sv group_of(const struct groups *g, struct sv consumer)
{
	struct sv found = SV_ABSENT;

	if (sv_is_absent(consumer))
		return SV_ABSENT;
	for (size_t i = 0; i < g->count; i++)
		for (size_t k = 0; k < g->items[i].member_count; k++) {
			const struct member *m = &g->items[i].members[k];
			if (!sv_eq(m->host, consumer) && !sv_eq(m->client_id, consumer) &&
			    !sv_eq(m->member_id, consumer) && !sv_eq(m->instance_id, consumer))
				continue;
			if (!sv_is_absent(found) && !sv_eq(found, g->items[i].name))
				return SV_ABSENT;
			found = g->items[i].name;
		}
	return found;
}

/* The latest of the group (absent: any) that was complete by then, and left it with members; 0 when none was. */
static unsigned rebalance_in_force(const struct rebalances *all, struct sv group, struct ref_time t)
{
	for (size_t n = rebalances_ended(all, (struct ref_time){ t.us + COMPLETE_LATE_US }); n > 0; n--) {
		const struct rebalance *r = all->index->by_end[n - 1];

		if (!r->empties_group && (sv_is_absent(group) || sv_eq(r->group, group)))
			return r->id;
	}
	return 0;
}

/*
 * Without grants: a new pass begins where the consumer goes back, or leaves
 * offsets out, and a rebalance was completed in between. A zombie goes on by one.
 */
static void split_by_rebalances(struct splitter *sp, struct run *runs, size_t n)
{
	struct sv group = group_of(sp->groups, runs[0].consumer);

	for (size_t i = 0; i < n; i++) {
		struct run *r = &runs[i];
		const struct run *before = i > 0 ? &runs[i - 1] : NULL;
		if (before == NULL || r->offset != before->offset + 1) {
			unsigned now = rebalance_in_force(sp->rebalances, group, r->first);
			if (before == NULL || now != rebalance_in_force(sp->rebalances, group, before->last))
				open_pass(sp, r)->rebalance = now;
		}
		put_into_pass(sp, r);
	}
}

static void split_stream(struct splitter *sp, struct run *runs, size_t n)
{
	size_t first, end;

	if (!runs[0].has_offset) {
		for (size_t i = 0; i < n; i++)
			runs[i].pass = 0;
		return;
	}
	grants_of(sp->grants, &runs[0], &first, &end);
	if (grants_know(sp->grants, runs[0].consumer))
		split_by_grants(sp, runs, n, first, end);
	else
		split_by_rebalances(sp, runs, n);
}

static int cmp_pass(const struct pass *p, const struct pass *q)
{
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = order_i64(p->since.us, q->since.us)) != 0)
		return order;
	if ((order = order_i64(p->first.us, q->first.us)) != 0)
		return order;
	return sv_cmp(p->consumer, q->consumer);
}

struct numbered_pass {
	struct pass pass;
	size_t place;
};

static int cmp_numbered(const void *x, const void *y)
{
	const struct numbered_pass *p = x, *q = y;
	int order = cmp_pass(&p->pass, &q->pass);

	return order != 0 ? order : order_i64((int64_t)p->place, (int64_t)q->place);
}

/* Into the order in which the partitions were given; runs follow their pass. passes[0] stays. */
static void order_passes(struct splitter *sp)
{
	size_t n = sp->out->count;
	struct numbered_pass *numbered = arena_array(sp->arena, n, sizeof *numbered);
	size_t *place = arena_array(sp->arena, n, sizeof *place);

	for (size_t i = 1; i < n; i++)
		numbered[i] = (struct numbered_pass){ sp->out->items[i], i };
	qsort(numbered + 1, n - 1, sizeof *numbered, cmp_numbered);
	for (size_t i = 1; i < n; i++) {
		sp->out->items[i] = numbered[i].pass;
		place[numbered[i].place] = i;
	}
	for (size_t i = 0; i < sp->attempts->run_count; i++)
		sp->attempts->runs[i].pass = place[sp->attempts->runs[i].pass];
}

void passes_find(const struct groups *g, const struct rebalances *r, struct attempts *t, struct grants *grants, struct arena *a,
		 struct passes *out)
{
	struct splitter sp = { .groups = g, .rebalances = r, .grants = grants, .attempts = t, .arena = a, .out = out };
	struct run nothing = { 0 };

	*out = (struct passes){ 0 };
	open_pass(&sp, &nothing);
	for (size_t i = 0, end; i < t->run_count; i = end) {
		for (end = i + 1; end < t->run_count && same_stream(&t->runs[i], &t->runs[end]); end++)
			;
		split_stream(&sp, t->runs + i, end - i);
	}
	order_passes(&sp);
}
