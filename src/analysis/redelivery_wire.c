/* SPDX-License-Identifier: MIT */
/*
 * Refused commits, and offsets that were asked for, by Kafka's own words
 * (method.md 7). That records were fetched by the one who had them first says
 * little: a consumer fetches ahead of what it processes. That they were fetched
 * by the one who has them next is needed: it may lose them before it begins.
 */

#include "analysis/redelivery_wire.h"

#include <stdlib.h>

#include "analysis/path.h"
#include "base/order.h"
#include "store/query.h"

/* What a client said of a partition, or was told. */
struct word {
	struct sv group, topic;
	int64_t partition;
	struct sv client, address;	/* whose; the address as the capture saw it */
	struct ref_time time;
	bool has_offset;
	int64_t offset;
	unsigned rebalance;		/* of a resumption */
	int64_t event;
};

struct words {
	struct word *items;
	size_t count, capacity;
};

/* The latest assignment of a client. */
struct assignment {
	struct sv group, client, address, partitions;
	bool has_generation;
	int64_t generation;
	struct assignment *next;
};

struct wire {
	struct store *store;
	const struct clocks *clocks;
	const struct rebalances *rebalances;
	struct arena *arena;
	struct assignment *assignments;
	struct words refused, resumed;	/* by partition, then time */
};

static bool is_same_client(struct sv client, struct sv address, const struct word *w)
{
	return sv_eq(client, w->client) && sv_eq(address, w->address);
}

static int cmp_partition(const void *x, const void *y)
{
	const struct word *p = x, *q = y;
	int order;

	if ((order = sv_cmp(p->group, q->group)) != 0)
		return order;
	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	return order_i64(p->partition, q->partition);
}

static int cmp_words(const void *x, const void *y)
{
	const struct word *p = x, *q = y;
	int order = cmp_partition(p, q);

	if (order == 0)
		order = order_i64(p->time.us, q->time.us);
	return order != 0 ? order : order_i64(p->event, q->event);
}

/* ---- what is said ---- */

static struct sv address_of(const struct event *e)
{
	return path_address(event_text(e, FIELD_PATH_A));
}

static struct assignment *assignment_of(struct wire *w, const struct event *e)
{
	struct assignment *one = w->assignments;

	while (one != NULL && !(sv_eq(one->group, event_text(e, FIELD_GROUP)) && sv_eq(one->client, event_text(e, FIELD_CLIENT)) &&
				sv_eq(one->address, address_of(e))))
		one = one->next;
	return one;
}

static void take_assignment(struct wire *w, const struct event *e)
{
	struct assignment *one = assignment_of(w, e);

	if (event_has(e, FIELD_ERROR) || !event_has(e, FIELD_PARTITIONS))
		return;
	if (one == NULL) {
		one = arena_alloc(w->arena, sizeof *one);
		*one = (struct assignment){ .group = arena_copy(w->arena, event_text(e, FIELD_GROUP)),
					    .client = arena_copy(w->arena, event_text(e, FIELD_CLIENT)),
					    .address = arena_copy(w->arena, address_of(e)), .next = w->assignments };
		w->assignments = one;
	}
	one->partitions = arena_copy(w->arena, event_text(e, FIELD_PARTITIONS));
	one->has_generation = event_int(e, FIELD_GENERATION, &one->generation);
}

static bool is_assigned(const struct assignment *one, struct sv topic, int64_t partition)
{
	struct sv rest = one->partitions, name = SV_ABSENT;
	int64_t number;

	while (partitions_next(&rest, &name, &number))
		if (number == partition && sv_eq(name, topic))
			return true;
	return false;
}

static struct word word_of(struct wire *w, const struct event *e)
{
	struct word out = { .group = arena_copy(w->arena, event_text(e, FIELD_GROUP)),
			    .topic = arena_copy(w->arena, event_text(e, FIELD_TOPIC)),
			    .client = arena_copy(w->arena, event_text(e, FIELD_CLIENT)),
			    .address = arena_copy(w->arena, address_of(e)),
			    .time = clock_event_to_ref(w->clocks, e), .event = e->id };

	out.partition = event_int_or(e, FIELD_PARTITION, -1);
	out.has_offset = event_int(e, FIELD_OFFSET, &out.offset);
	return out;
}

/* Tools ask for offsets too; a member that was given the partition asks where to begin. Since KIP-848 it says that it is one. */
static void take_resumption(struct wire *w, const struct event *e)
{
	const struct assignment *one = assignment_of(w, e);
	const bool is_told = one != NULL && is_assigned(one, event_text(e, FIELD_TOPIC), event_int_or(e, FIELD_PARTITION, -1));
	int64_t generation;
	bool has_generation = event_int(e, FIELD_GENERATION, &generation) && generation >= 0;
	struct word word;

	if (event_has(e, FIELD_ERROR) || (!is_told && event_text(e, FIELD_MEMBER).n == 0))
		return;
	if (!has_generation && one != NULL && one->has_generation) {
		has_generation = true;
		generation = one->generation;
	}
	word = word_of(w, e);
	word.rebalance = grants_rebalance(w->rebalances, word.group, has_generation ? &generation : NULL, word.time);
	*ARENA_PUSH(w->arena, w->resumed.items, w->resumed.count, w->resumed.capacity) = word;
}

/* Refusals that say that the member is none any more, or that its generation is over; others are tried again. */
static bool is_too_late(struct sv error)
{
	static const char *const errors[] = { "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS",
					      "FENCED_INSTANCE_ID", "FENCED_MEMBER_EPOCH", "STALE_MEMBER_EPOCH" };

	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (sv_eq(error, sv_of(errors[i])))
			return true;
	return false;
}

static void take_commit(struct wire *w, const struct event *e)
{
	if (event_has(e, FIELD_OFFSET) && is_too_late(event_text(e, FIELD_ERROR)))
		*ARENA_PUSH(w->arena, w->refused.items, w->refused.count, w->refused.capacity) = word_of(w, e);
}

static const struct {
	enum event_type type;
	void (*take)(struct wire *w, const struct event *e);
} lines[] = {
	{ EVENT_WIRE_SYNCED, take_assignment },
	{ EVENT_WIRE_COMMITTED, take_resumption },
	{ EVENT_WIRE_COMMIT, take_commit },
};
#define LINE_COUNT (sizeof lines / sizeof lines[0])

static int listen(struct wire *w)
{
	enum event_type types[LINE_COUNT];
	struct query *q;
	struct event e;
	int rc;

	for (size_t i = 0; i < LINE_COUNT; i++)
		types[i] = lines[i].type;
	q = query_events(w->store, types, LINE_COUNT);
	while ((rc = query_next(q, &e)) == 1)
		for (size_t i = 0; i < LINE_COUNT; i++)
			if (lines[i].type == e.type)
				lines[i].take(w, &e);
	query_free(q);
	if (w->refused.count > 1)
		qsort(w->refused.items, w->refused.count, sizeof *w->refused.items, cmp_words);
	if (w->resumed.count > 1)
		qsort(w->resumed.items, w->resumed.count, sizeof *w->resumed.items, cmp_words);
	return rc;
}

/* ---- what came again ---- */

/* A member resumed below what another wanted to commit. */
struct candidate {
	const struct word *resumed, *refused;
	int64_t until_us;	/* when the partition was asked for next */
	int64_t delivered;	/* event that shows records delivered again; 0: none yet */
	struct ref_time time;	/* of it */
};

struct candidates {
	struct candidate *items;
	size_t count, capacity;
};

/* The greatest offset that another had processed; the resuming one's own counts until it resumed. */
static const struct word *highest_refused(const struct words *refused, const struct word *resumed, int64_t until_us)
{
	const struct word *best = NULL;
	size_t first = order_lower_bound(resumed, refused->items, refused->count, sizeof *refused->items, cmp_partition);

	for (size_t i = first; i < refused->count; i++) {
		const struct word *one = &refused->items[i];

		if (cmp_partition(one, resumed) != 0 || one->time.us >= until_us)
			break;
		if ((one->time.us < resumed->time.us || !is_same_client(one->client, one->address, resumed)) &&
		    (best == NULL || one->offset > best->offset))
			best = one;
	}
	return best;
}

/* One that asks twice, or is seen by two captures, resumes once. */
static int64_t until_us(const struct words *resumed, size_t i)
{
	const struct word *one = &resumed->items[i];

	for (size_t k = i + 1; k < resumed->count && cmp_partition(&resumed->items[k], one) == 0; k++)
		if (!is_same_client(resumed->items[k].client, resumed->items[k].address, one) ||
		    resumed->items[k].rebalance != one->rebalance)
			return resumed->items[k].time.us;
	return INT64_MAX;
}

static void find_candidates(const struct wire *w, struct candidates *out)
{
	for (size_t i = 0; i < w->resumed.count; i++) {
		const struct word *one = &w->resumed.items[i];
		struct candidate c = { .resumed = one, .until_us = until_us(&w->resumed, i) };

		if (!one->has_offset)
			continue;
		c.refused = highest_refused(&w->refused, one, c.until_us);
		if (c.refused != NULL && c.refused->offset > one->offset)
			*ARENA_PUSH(w->arena, out->items, out->count, out->capacity) = c;
	}
}

/* Whether records that had been processed were delivered to the one who resumed, before another had the partition. */
static void offer_delivery(const struct wire *w, struct candidate *c, const struct event *e)
{
	struct ref_time first = clock_event_to_ref(w->clocks, e);
	int64_t from, end;

	if (c->delivered != 0 || event_int_or(e, FIELD_PARTITION, -1) != c->resumed->partition ||
	    !sv_eq(event_text(e, FIELD_TOPIC), c->resumed->topic) ||
	    !is_same_client(event_text(e, FIELD_CLIENT), address_of(e), c->resumed) || !event_int(e, FIELD_OFFSET, &from))
		return;
	end = event_int_or(e, FIELD_END_OFFSET, from < INT64_MAX ? from + 1 : from);
	if (from >= c->refused->offset || end <= c->resumed->offset || first.us < c->resumed->time.us || first.us >= c->until_us)
		return;
	c->delivered = e->id;
	c->time = first;
}

static int find_deliveries(const struct wire *w, struct candidates *all)
{
	const enum event_type types[] = { EVENT_WIRE_FETCH };
	struct query *q;
	struct event e;
	int rc;

	if (all->count == 0)
		return 0;
	q = query_events(w->store, types, 1);
	while ((rc = query_next(q, &e)) == 1)
		for (size_t i = 0; i < all->count; i++)
			offer_delivery(w, &all->items[i], &e);
	query_free(q);
	return rc;
}

/* What others tell of the partition they tell better. */
static bool is_told(const struct redeliveries *out, const struct attempts *t, const struct word *resumed)
{
	for (size_t i = 0; i < t->run_count; i++)
		if (t->runs[i].has_offset && t->runs[i].partition == resumed->partition && sv_eq(t->runs[i].topic, resumed->topic))
			return true;
	for (size_t i = 0; i < out->count; i++)
		if (out->items[i].partition == resumed->partition && sv_eq(out->items[i].topic, resumed->topic) &&
		    out->items[i].rebalance == resumed->rebalance)
			return true;
	return false;
}

static int add_evidence(const struct wire *w, struct redelivery *l, int64_t id, const char *role)
{
	struct event e;

	if (query_event(w->store, id, w->arena, &e) != 1)
		return -1;
	evidence_add(&l->evidence, w->arena, &e, clock_event_to_ref(w->clocks, &e), role);
	return 0;
}

static struct sv name_of(const struct word *w)
{
	return w->client.n > 0 ? w->client : w->address;
}

static int add_redelivery(const struct wire *w, const struct candidate *c, struct redeliveries *out)
{
	struct redelivery *l = ARENA_PUSH(w->arena, out->items, out->count, out->capacity);

	*l = (struct redelivery){ .id = (unsigned)out->count, .group = c->resumed->group, .topic = c->resumed->topic,
				  .partition = c->resumed->partition, .committed_offset = c->resumed->offset,
				  .processed_offset = c->refused->offset, .rebalance = c->resumed->rebalance,
				  .from = name_of(c->refused), .to = name_of(c->resumed), .time = c->time,
				  .basis = "delivered from below a refused commit" };
	if (add_evidence(w, l, c->refused->event, "a commit of what had been processed was refused") < 0 ||
	    add_evidence(w, l, c->resumed->event, "the new owner was told where to resume") < 0)
		return -1;
	return add_evidence(w, l, c->delivered, "records from there on were delivered to it");
}

int redeliveries_from_wire(struct store *s, const struct clocks *c, const struct rebalances *r, const struct attempts *t,
			   struct arena *a, struct redeliveries *out)
{
	struct wire w = { .store = s, .clocks = c, .rebalances = r, .arena = a };
	struct candidates all = { 0 };

	if (listen(&w) < 0)
		return -1;
	find_candidates(&w, &all);
	if (find_deliveries(&w, &all) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].delivered != 0 && !is_told(out, t, all.items[i].resumed) &&
		    add_redelivery(&w, &all.items[i], out) < 0)
			return -1;
	return 0;
}
