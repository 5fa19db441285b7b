/* SPDX-License-Identifier: MIT */
/*
 * Which partitions each rebalance moved: those whose owner before and after
 * are known and differ. See analysis/redelivery.h.
 */

#include "analysis/redelivery.h"

#include <stdlib.h>

#include "base/order.h"

/* One owner's time with a partition, and the rebalance that gave it. */
struct tenure {
	struct sv topic;
	int64_t partition;
	struct ref_time since;
	struct sv owner;
	unsigned rebalance;
	size_t place;		/* order of finding, for a total order */
};

struct tenures {
	struct tenure *items;
	size_t count;
	size_t capacity;
};

static int cmp_tenure(const void *x, const void *y)
{
	const struct tenure *p = x, *q = y;
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = order_i64(p->since.us, q->since.us)) != 0)
		return order;
	return order_i64((int64_t)p->place, (int64_t)q->place);
}

static void add_tenure(struct tenures *list, struct arena *a, struct tenure one)
{
	one.place = list->count;
	*ARENA_PUSH(a, list->items, list->count, list->capacity) = one;
}

static struct sv owner_of(const struct grant *g, struct arena *a)
{
	if (!sv_is_absent(g->consumer))
		return g->consumer;
	return arena_printf(a, "%.*s on %.*s", SV_ARG(g->client), SV_ARG(g->host));
}

static void from_logs_and_effects(const struct grants *grants, const struct redeliveries *d, struct arena *a,
				  struct tenures *out)
{
	for (size_t i = 0; i < grants->count; i++) {
		const struct grant *g = &grants->items[i];
		add_tenure(out, a, (struct tenure){ .topic = g->topic, .partition = g->partition, .since = g->time,
						    .owner = owner_of(g, a), .rebalance = g->rebalance });
	}
	for (size_t i = 1; i < d->pass_count; i++) {
		const struct pass *p = &d->passes[i];
		if (p->grant == NULL && !sv_is_absent(p->consumer))
			add_tenure(out, a, (struct tenure){ .topic = p->topic, .partition = p->partition, .since = p->since,
							    .owner = p->consumer, .rebalance = p->rebalance });
	}
}

/* ---- snapshots ---- */

/* The last rebalance that was complete after one snapshot and by the next; 0 when there is none. */
static unsigned complete_between(const struct rebalances *r, struct sv group, struct ref_time after, struct ref_time by)
{
	const struct rebalance *best = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *one = &r->items[i];
		if (!sv_eq(one->group, group) || one->empties_group || one->span.end.us <= after.us ||
		    one->span.end.us > by.us)
			continue;
		if (best == NULL || one->span.end.us >= best->span.end.us)
			best = one;
	}
	return best == NULL ? 0 : best->id;
}

struct seen {
	struct tenure tenure;
	struct sv group;
};

static int cmp_seen(const void *x, const void *y)
{
	const struct seen *p = x, *q = y;
	int order = sv_cmp(p->group, q->group);

	return order != 0 ? order : cmp_tenure(&p->tenure, &q->tenure);
}

/* Rows of --describe while a rebalance runs name no owner: they say nothing. */
static int load_snapshots(struct store *s, const struct clocks *c, struct arena *a, struct seen **rows, size_t *count)
{
	static const enum event_type types[] = { EVENT_PARTITION_STATE };
	struct query *q = query_events(s, types, 1);
	struct event e;
	size_t capacity = 0;
	int rc;

	*rows = NULL;
	*count = 0;
	while ((rc = query_next(q, &e)) == 1) {
		struct sv member = event_text(&e, FIELD_MEMBER);
		struct seen row = { .group = event_text(&e, FIELD_GROUP) };
		if (member.n == 0 || sv_eq(member, SV("-")) || !event_int(&e, FIELD_PARTITION, &row.tenure.partition))
			continue;
		row.group = arena_copy(a, row.group);
		row.tenure.topic = arena_copy(a, event_text(&e, FIELD_TOPIC));
		row.tenure.owner = arena_copy(a, member);
		row.tenure.since = clock_event_to_ref(c, &e);
		row.tenure.place = *count;
		*ARENA_PUSH(a, *rows, *count, capacity) = row;
	}
	query_free(q);
	return rc;
}

static int from_snapshots(struct store *s, const struct clocks *c, const struct rebalances *r, struct arena *a,
			  struct tenures *out)
{
	struct seen *rows;
	size_t count;

	if (load_snapshots(s, c, a, &rows, &count) < 0)
		return -1;
	if (count > 0)
		qsort(rows, count, sizeof *rows, cmp_seen);
	for (size_t i = 0; i < count; i++) {
		const struct seen *before = i > 0 ? &rows[i - 1] : NULL;
		bool same = before != NULL && sv_eq(before->group, rows[i].group) &&
			    before->tenure.partition == rows[i].tenure.partition &&
			    sv_eq(before->tenure.topic, rows[i].tenure.topic);
		if (same && !sv_eq(before->tenure.owner, rows[i].tenure.owner))
			rows[i].tenure.rebalance = complete_between(r, rows[i].group, before->tenure.since, rows[i].tenure.since);
		add_tenure(out, a, rows[i].tenure);
	}
	return 0;
}

/* ---- into the rebalances ---- */

struct move {
	unsigned rebalance;
	struct sv partition;
};

static int cmp_move(const void *x, const void *y)
{
	const struct move *p = x, *q = y;

	return p->rebalance != q->rebalance ? (p->rebalance > q->rebalance) - (p->rebalance < q->rebalance)
					    : sv_cmp(p->partition, q->partition);
}

static void fill(struct rebalances *r, struct move *moves, size_t count, struct arena *a)
{
	for (size_t i = 0; i < r->count; i++) {
		r->items[i].partitions_moved = NULL;
		r->items[i].partitions_moved_count = 0;
	}
	if (count > 0)
		qsort(moves, count, sizeof *moves, cmp_move);
	for (size_t i = 0, end; i < count; i = end) {
		const struct rebalance *found = rebalances_get(r, moves[i].rebalance);
		struct rebalance *one = found != NULL ? &r->items[found - r->items] : NULL;
		for (end = i + 1; end < count && moves[end].rebalance == moves[i].rebalance; end++)
			;
		if (one == NULL)
			continue;
		one->partitions_moved = arena_array(a, end - i, sizeof(struct sv));
		for (size_t k = i; k < end; k++)
			if (k == i || !sv_eq(moves[k - 1].partition, moves[k].partition))
				one->partitions_moved[one->partitions_moved_count++] = moves[k].partition;
	}
}

int partitions_moved_find(struct store *s, const struct clocks *c, const struct grants *grants,
			  const struct redeliveries *d, struct arena *a, struct rebalances *r)
{
	struct tenures tenures = { 0 };
	struct move *moves = NULL;
	size_t count = 0, capacity = 0;

	from_logs_and_effects(grants, d, a, &tenures);
	/* A snapshot is late by its interval: good enough only where nothing else tells. */
	if (tenures.count == 0 && from_snapshots(s, c, r, a, &tenures) < 0)
		return -1;
	if (tenures.count > 0)
		qsort(tenures.items, tenures.count, sizeof *tenures.items, cmp_tenure);
	for (size_t i = 1; i < tenures.count; i++) {
		const struct tenure *before = &tenures.items[i - 1], *now = &tenures.items[i];
		if (now->rebalance == 0 || now->partition != before->partition || !sv_eq(now->topic, before->topic) ||
		    sv_eq(now->owner, before->owner))
			continue;
		*ARENA_PUSH(a, moves, count, capacity) = (struct move){
			now->rebalance, arena_printf(a, "%.*s-%lld", SV_ARG(now->topic), (long long)now->partition)
		};
	}
	fill(r, moves, count, a);
	return 0;
}
