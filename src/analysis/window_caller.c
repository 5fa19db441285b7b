/* SPDX-License-Identifier: MIT */
/*
 * On whose path is a window? A capture on a broker, or on a mirror port, shows
 * the paths of many hosts; a window of one of them must not be laid at the
 * door of the others. A host's own address is the one that its capture shows
 * in nearly all connections.
 */

#include "analysis/detect.h"

/* A capture of all interfaces has connections of the loopback and of bridges too. */
#define OWN_PERCENT 90

/* An address in the captures of one host. */
struct sighting {
	const struct path *key; /* of host and address */
	size_t as_caller, as_called;
	bool is_own;
};

struct sightings {
	struct sighting *items;
	size_t capacity;
};

static struct sighting *sighting_of(const struct detect_context *ctx, struct sightings *all, struct sv host,
				    struct sv address)
{
	const struct path *key = paths_get(ctx->paths, host, address, SV("sighting"));

	all->items = detect_room(ctx->arena, all->items, sizeof *all->items, key->index, &all->capacity);
	all->items[key->index].key = key;
	return &all->items[key->index];
}

static int find_sightings(const struct detect_context *ctx, struct sightings *all)
{
	const enum event_type types[] = { EVENT_NET_CONNECTION };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		struct sv a = path_address(event_text(&e, FIELD_PATH_A)),
			  b = path_address(event_text(&e, FIELD_PATH_B));

		if (sv_eq(a, b))
			continue; /* to itself: says nothing */
		sighting_of(ctx, all, e.host, a)->as_caller++;
		sighting_of(ctx, all, e.host, b)->as_called++;
	}
	query_free(q);
	return rc;
}

/* Hosts whose logs speak as a broker: they are called. */
static int is_broker(const struct detect_context *ctx, struct sv host, bool *out)
{
	const enum event_type types[] = { EVENT_BROKER_STARTED, EVENT_GROUP_PREPARING, EVENT_GROUP_STABILIZED,
					  EVENT_SESSION_EXPIRED, EVENT_MEMBER_JOINS };
	struct query *q = query_events(ctx->store, types, sizeof types / sizeof types[0]);
	struct event e;
	int rc;

	*out = false;
	while (!*out && (rc = query_next(q, &e)) == 1)
		*out = sv_eq(e.host, host);
	query_free(q);
	return !*out && rc < 0 ? -1 : 0;
}

static size_t connections_of(const struct sighting *s)
{
	return s->as_caller + s->as_called;
}

/* Two addresses in all connections: one path was captured, and either end may be the host. */
static int choose_end(const struct detect_context *ctx, struct sighting *x, struct sighting *y)
{
	struct sighting *caller = x->as_caller >= y->as_caller ? x : y, *called = caller == x ? y : x;
	bool broker;

	if (is_broker(ctx, x->key->host, &broker) < 0)
		return -1;
	(broker ? called : caller)->is_own = true;
	return 0;
}

/* Marks the address of this host; none when no address is in nearly all connections. */
static int find_own(const struct detect_context *ctx, struct sightings *all, struct sv host)
{
	struct sighting *nearly[2] = { NULL, NULL };
	size_t ends = 0, n = 0;

	for (size_t i = 0; i < all->capacity; i++)
		if (all->items[i].key != NULL && sv_eq(all->items[i].key->host, host))
			ends += connections_of(&all->items[i]);
	for (size_t i = 0; i < all->capacity && n < 2; i++) {
		struct sighting *s = &all->items[i];

		/* Each connection has two ends. */
		if (s->key != NULL && sv_eq(s->key->host, host) && connections_of(s) * 100 >= ends / 2 * OWN_PERCENT)
			nearly[n++] = s;
	}
	if (n == 2)
		return choose_end(ctx, nearly[0], nearly[1]);
	if (n == 1)
		nearly[0]->is_own = true;
	return 0;
}

static const struct sighting *own_of(const struct sightings *all, struct sv host)
{
	for (size_t i = 0; i < all->capacity; i++)
		if (all->items[i].is_own && sv_eq(all->items[i].key->host, host))
			return &all->items[i];
	return NULL;
}

/* The host whose own address it is; absent when there is none, or when two share it (loopback, bridges). */
static struct sv owner_of(const struct sightings *all, struct sv address)
{
	struct sv owner = SV_ABSENT;

	for (size_t i = 0; i < all->capacity; i++) {
		const struct sighting *s = &all->items[i];

		if (!s->is_own || !sv_eq(s->key->a, address))
			continue;
		if (!sv_is_absent(owner))
			return SV_ABSENT;
		owner = s->key->host;
	}
	return owner;
}

static void set_caller(const struct sightings *all, struct window *w)
{
	if (sv_is_absent(w->path_a))
		return;
	const struct sighting *own = sv_is_absent(w->host) ? NULL : own_of(all, w->host);
	bool to_itself = sv_eq(w->path_a, path_address(w->path_b));
	if (to_itself || (own != NULL && sv_eq(own->key->a, w->path_a))) {
		w->caller = w->host;
		return;
	}
	w->seen_elsewhere = true;
	w->caller = owner_of(all, w->path_a);
}

/* Whether the host's own address is called more often than it calls, or is not known. */
static bool sees_callers(const struct sightings *all, struct sv host)
{
	const struct sighting *own = own_of(all, host);

	return own == NULL || own->as_called > own->as_caller;
}

int windows_find_callers(const struct detect_context *ctx)
{
	struct windows *out = ctx->out;
	struct sightings all = { 0 };

	if (find_sightings(ctx, &all) < 0)
		return -1;
	for (size_t i = 0; i < out->coverage_count; i++) {
		struct coverage *c = &out->coverage[i];

		if (!sv_eq(c->kind, SV("capture")) || sv_is_absent(c->host))
			continue;
		if (own_of(&all, c->host) == NULL && find_own(ctx, &all, c->host) < 0)
			return -1;
	}
	for (size_t i = 0; i < out->coverage_count; i++)
		if (sv_eq(out->coverage[i].kind, SV("capture")) && !sv_is_absent(out->coverage[i].host))
			out->coverage[i].sees_callers = sees_callers(&all, out->coverage[i].host);
	for (size_t i = 0; i < out->count; i++)
		set_caller(&all, &out->items[i]);
	return 0;
}
