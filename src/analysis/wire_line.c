/* SPDX-License-Identifier: MIT */
/* See analysis/wire_line.h. */

#include "analysis/wire_line.h"

#include "analysis/episode.h"
#include "base/order.h"
#include "store/query.h"

/* A client whose log speaks of a group, or a group (no client, no host) whose coordinator's does. */
struct teller {
	struct sv group, host, client;
};

struct tellers {
	struct teller *items;	/* each once */
	size_t count, capacity, sort_at;
};

static int compare(const void *x, const void *y)
{
	const struct teller *a = x, *b = y;
	int order = sv_cmp(a->group, b->group);

	if (order == 0)
		order = sv_cmp(a->host, b->host);
	return order != 0 ? order : sv_cmp(a->client, b->client);
}

static void add(struct tellers *all, struct arena *a, struct teller t)
{
	all->count = order_unique_at(all->items, all->count, sizeof *all->items, compare, &all->sort_at);
	*ARENA_PUSH(a, all->items, all->count, all->capacity) = t;
}

static struct tellers tellers_of(const struct event *const *told, size_t count, struct arena *a)
{
	struct tellers all = { .count = 0 };

	for (size_t i = 0; i < count; i++) {
		const struct event *e = told[i];
		struct sv group = event_text(e, FIELD_GROUP);

		if (sv_is_absent(group))
			continue;
		if (event_infos[e->type].side == SIDE_BROKER)
			add(&all, a, (struct teller){ group, SV_ABSENT, SV_ABSENT });
		else if (!sv_is_absent(event_client(e)) || !sv_is_absent(e->host))
			add(&all, a, (struct teller){ group, e->host, event_client(e) });
	}
	all.count = order_unique(all.items, all.count, sizeof *all.items, compare);
	return all;
}

static bool is_loss(const struct event *e)
{
	return e->type == EVENT_WIRE_HEARTBEAT || e->type == EVENT_WIRE_COMMIT;
}

static bool is_coordinators(const struct teller *t)
{
	return sv_is_absent(t->host) && sv_is_absent(t->client);
}

/*
 * A log without a host, or one that names no client, may be anybody's. That a
 * member learned of its eviction no coordinator logs.
 */
static bool is_told_of(const struct tellers *all, const struct groups *g, const struct event *e)
{
	const struct group *group = groups_get(g, event_text(e, FIELD_GROUP));
	const struct member *m = group != NULL ? group_member(group, event_text(e, FIELD_MEMBER)) : NULL;
	struct sv host = m != NULL ? m->host : SV_ABSENT;

	for (size_t i = 0; i < all->count; i++) {
		const struct teller *t = &all->items[i];

		if (is_coordinators(t) && is_loss(e))
			continue;
		if (sv_eq(t->group, event_text(e, FIELD_GROUP)) && sv_agree(t->host, host) &&
		    sv_agree(t->client, event_client(e)))
			return true;
	}
	return false;
}

/* Who joins without an id is told one to join with (KIP-394). */
static bool is_newcomer(const struct event *e)
{
	return e->type == EVENT_WIRE_JOINED && sv_eq(event_text(e, FIELD_ERROR), SV("MEMBER_ID_REQUIRED"));
}

/* What was refused is no join; that a generation is over is not that a membership is. */
static bool is_line(const struct event *e)
{
	if (e->strength != STRENGTH_PROVES || !event_has(e, FIELD_GROUP))
		return false;
	if (is_loss(e))
		return event_has(e, FIELD_ERROR) && witness_is_unknown_member(e);
	return !event_has(e, FIELD_ERROR) || is_newcomer(e);
}

int wire_lines_load(struct store *s, const struct groups *g, const struct event *const *told, size_t told_count,
		    struct arena *a, const struct event ***lines, size_t *count)
{
	static const enum event_type types[] = { EVENT_WIRE_JOINED, EVENT_WIRE_SYNCED, EVENT_WIRE_LEFT,
						 EVENT_WIRE_HEARTBEAT, EVENT_WIRE_COMMIT };
	const struct tellers all = tellers_of(told, told_count, a);
	struct query *q = query_events(s, types, sizeof types / sizeof types[0]);
	size_t capacity = 0;
	struct event e;
	int rc;

	*lines = NULL;
	*count = 0;
	while ((rc = query_next(q, &e)) == 1)
		if (is_line(&e) && !is_told_of(&all, g, &e))
			*ARENA_PUSH(a, *lines, *count, capacity) = query_shelve(q, &e);
	query_free(q);
	return rc;
}

static bool is_ask(const struct event *e)
{
	return e->strength == STRENGTH_PROVES && event_has(e, FIELD_GROUP) && event_has(e, FIELD_GENERATION) &&
	       !event_has(e, FIELD_ERROR) && event_text(e, FIELD_MEMBER).n == 0;
}

int wire_asks_load(struct store *s, struct arena *a, const struct event ***asks, size_t *count)
{
	static const enum event_type types[] = { EVENT_WIRE_JOINED };
	struct query *q = query_events(s, types, 1);
	size_t capacity = 0;
	struct event e;
	int rc;

	*asks = NULL;
	*count = 0;
	while ((rc = query_next(q, &e)) == 1)
		if (is_ask(&e))
			*ARENA_PUSH(a, *asks, *count, capacity) = query_shelve(q, &e);
	query_free(q);
	return rc;
}
