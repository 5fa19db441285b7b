/* SPDX-License-Identifier: MIT */
/* See analysis/own_address.h. */

#include "analysis/own_address.h"

#include "analysis/path.h"
#include "store/query.h"

/* A capture of all interfaces has connections of the loopback and of bridges too. */
#define OWN_PERCENT 90

/* An address in the captures of one host. */
struct sighting {
	const struct path *key; /* of host and address */
	size_t as_caller, as_called;
	bool is_own;
};

struct own_addresses {
	struct store *store;
	struct arena *arena;
	struct paths paths;
	struct sighting *items;	/* by index of their key */
	size_t capacity;
};

static struct sighting *sighting_of(struct own_addresses *all, struct sv host, struct sv address)
{
	const struct path *key = paths_get(&all->paths, host, address, SV("sighting"));

	while (key->index >= all->capacity)
		all->items = arena_grow(all->arena, all->items, sizeof *all->items, all->capacity, &all->capacity);
	all->items[key->index].key = key;
	return &all->items[key->index];
}

static int find_sightings(struct own_addresses *all)
{
	const enum event_type types[] = { EVENT_NET_CONNECTION };
	struct query *q = query_events(all->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		struct sv a = path_address(event_text(&e, FIELD_PATH_A)),
			  b = path_address(event_text(&e, FIELD_PATH_B));

		if (sv_eq(a, b))
			continue; /* to itself: says nothing */
		sighting_of(all, e.host, a)->as_caller++;
		sighting_of(all, e.host, b)->as_called++;
	}
	query_free(q);
	return rc;
}

/* Hosts whose logs speak as a broker: they are called. */
static int is_broker(const struct own_addresses *all, struct sv host, bool *out)
{
	const enum event_type types[] = { EVENT_BROKER_STARTED, EVENT_GROUP_PREPARING, EVENT_GROUP_STABILIZED,
					  EVENT_SESSION_EXPIRED, EVENT_MEMBER_JOINS };
	struct query *q = query_events(all->store, types, sizeof types / sizeof types[0]);
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
static int choose_end(const struct own_addresses *all, struct sighting *x, struct sighting *y)
{
	struct sighting *caller = x->as_caller >= y->as_caller ? x : y, *called = caller == x ? y : x;
	bool broker;

	if (is_broker(all, x->key->host, &broker) < 0)
		return -1;
	(broker ? called : caller)->is_own = true;
	return 0;
}

/* Marks the address of this host; none when no address is in nearly all connections. */
static int find_own(struct own_addresses *all, struct sv host)
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
		return choose_end(all, nearly[0], nearly[1]);
	if (n == 1)
		nearly[0]->is_own = true;
	return 0;
}

static const struct sighting *own_of(const struct own_addresses *all, struct sv host)
{
	for (size_t i = 0; i < all->capacity; i++)
		if (all->items[i].is_own && sv_eq(all->items[i].key->host, host))
			return &all->items[i];
	return NULL;
}

/* ---- public ---- */

int own_addresses_find(struct store *s, struct arena *a, struct own_addresses **out)
{
	struct own_addresses *all = arena_alloc(a, sizeof *all);

	*out = all;
	all->store = s;
	all->arena = all->paths.arena = a;
	if (find_sightings(all) < 0)
		return -1;
	for (size_t i = 0; i < all->capacity; i++) {
		const struct sighting *seen = &all->items[i];

		if (seen->key == NULL || sv_is_absent(seen->key->host) || own_of(all, seen->key->host) != NULL)
			continue;
		if (find_own(all, seen->key->host) < 0)
			return -1;
	}
	return 0;
}

struct sv own_address_of(const struct own_addresses *all, struct sv host)
{
	const struct sighting *own = sv_is_absent(host) ? NULL : own_of(all, host);

	return own != NULL ? own->key->a : SV_ABSENT;
}

struct sv own_address_owner(const struct own_addresses *all, struct sv address)
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

bool own_address_is_called(const struct own_addresses *all, struct sv host)
{
	const struct sighting *own = own_of(all, host);

	return own == NULL || own->as_called > own->as_caller;
}
