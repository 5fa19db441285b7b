/* SPDX-License-Identifier: MIT */
/*
 * The offsets of grants, by the commits in a dump of __consumer_offsets. There
 * may be millions of them: they are passed by one at a time, and each grant
 * keeps the best so far. See analysis/grant.h.
 */

#include "analysis/grant.h"

#include <stdlib.h>

#include "base/order.h"

/* A grant without an offset, and the latest commit before it. */
struct taker {
	struct grant *grant;
	bool has_commit;
	struct ref_time time;
	int64_t offset, event;
};

struct takers {
	struct taker *items;	/* by topic, partition */
	size_t count;
};

struct partition {
	struct sv topic;
	int64_t number;
};

static int cmp_partition(const void *partition, const void *taker)
{
	const struct partition *p = partition;
	const struct grant *g = ((const struct taker *)taker)->grant;
	int order = sv_cmp(p->topic, g->topic);

	return order != 0 ? order : order_i64(p->number, g->partition);
}

static int cmp_takers(const void *x, const void *y)
{
	const struct grant *p = ((const struct taker *)x)->grant, *q = ((const struct taker *)y)->grant;
	int order = cmp_partition(&(struct partition){ p->topic, p->partition }, y);

	if (order != 0)
		return order;
	return (order = order_i64(p->time.us, q->time.us)) != 0 ? order : order_i64(p->evidence.event, q->evidence.event);
}

static struct takers find_takers(const struct grants *grants, struct arena *a)
{
	struct takers t = { .items = arena_array(a, grants->count, sizeof *t.items) };

	for (size_t i = 0; i < grants->count; i++)
		if (!grants->items[i].has_offset)
			t.items[t.count++].grant = &grants->items[i];
	if (t.count > 0)
		qsort(t.items, t.count, sizeof *t.items, cmp_takers);
	return t;
}

static void offer(struct takers *t, const struct event *e, struct ref_time time)
{
	const struct partition of = { event_text(e, FIELD_TOPIC), event_int_or(e, FIELD_PARTITION, -1) };
	size_t first = order_lower_bound(&of, t->items, t->count, sizeof *t->items, cmp_partition);

	for (size_t i = first; i < t->count; i++) {
		struct taker *one = &t->items[i];

		if (cmp_partition(&of, one) != 0)
			break;
		if (!sv_eq(one->grant->group, event_text(e, FIELD_GROUP)) || time.us > one->grant->time.us ||
		    (one->has_commit && time.us < one->time.us))
			continue;
		*one = (struct taker){ .grant = one->grant, .has_commit = true, .time = time,
				       .offset = event_int_or(e, FIELD_OFFSET, 0), .event = e->id };
	}
}

static int offer_all(struct store *s, const struct clocks *c, struct takers *t)
{
	static const enum event_type types[] = { EVENT_OFFSET_COMMITTED };
	struct query *q = query_events(s, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		offer(t, &e, clock_event_to_ref(c, &e));
	query_free(q);
	return rc;
}

static int take(struct store *s, const struct taker *t, struct arena *a)
{
	struct event e;

	if (!t->has_commit)
		return 0;
	if (query_event(s, t->event, a, &e) != 1)
		return -1;
	t->grant->has_offset = true;
	t->grant->offset = t->offset;
	t->grant->evidence = evidence_of(a, &e, t->time, "the last commit before the new owner began");
	return 0;
}

int grants_take_commits(struct store *s, const struct clocks *c, struct arena *a, struct grants *grants)
{
	struct takers t = find_takers(grants, a);

	if (t.count == 0)
		return 0;
	if (offer_all(s, c, &t) < 0)
		return -1;
	for (size_t i = 0; i < t.count; i++)
		if (take(s, &t.items[i], a) < 0)
			return -1;
	return 0;
}
