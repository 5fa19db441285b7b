/* SPDX-License-Identifier: MIT */
/* See the header. Removal closes the chain behind it (Knuth, 6.4, algorithm R), so that no tombstones gather. */

#include "input/capture/tcp_table.h"

#include <string.h>

#define PLACES_LEAST 1024

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

static void make_places(struct tcp_table *t, size_t places)
{
	t->tag = arena_array(t->arena, places, sizeof *t->tag);
	t->conn = arena_array(t->arena, places, sizeof *t->conn);
	t->mask = places - 1;
}

void tcp_table_init(struct tcp_table *t, struct arena *a)
{
	*t = (struct tcp_table){ .arena = a };
	make_places(t, PLACES_LEAST);
}

/* elsewhere: in other domains than that of the segment, else in its own. */
static struct tcp_conn *find(const struct tcp_table *t, const struct segment *s, uint64_t hash, bool elsewhere,
			     unsigned *side)
{
	uint32_t tag = tag_of(hash);

	for (size_t at = hash & t->mask; t->tag[at] != 0; at = (at + 1) & t->mask)
		if (t->tag[at] == tag && (t->conn[at]->domain != s->domain) == elsewhere &&
		    tcp_conn_is_of(t->conn[at], s, side))
			return t->conn[at];
	return NULL;
}

struct tcp_conn *tcp_table_find(const struct tcp_table *t, const struct segment *s, uint64_t hash, unsigned *side)
{
	return find(t, s, hash, false, side);
}

struct tcp_conn *tcp_table_find_elsewhere(const struct tcp_table *t, const struct segment *s, uint64_t hash,
					  unsigned *side)
{
	return find(t, s, hash, true, side);
}

struct tcp_conn *tcp_table_guess(const struct tcp_table *t, uint64_t hash)
{
	uint32_t tag = tag_of(hash);

	for (size_t at = hash & t->mask; t->tag[at] != 0; at = (at + 1) & t->mask)
		if (t->tag[at] == tag)
			return t->conn[at];
	return NULL;
}

static void put(struct tcp_table *t, struct tcp_conn *c)
{
	size_t at = c->hash & t->mask;

	while (t->tag[at] != 0)
		at = (at + 1) & t->mask;
	t->tag[at] = tag_of(c->hash);
	t->conn[at] = c;
}

/* The old places stay in the arena: as many again as there are now, at most. */
static void grow(struct tcp_table *t)
{
	struct tcp_table old = *t;

	make_places(t, 2 * (old.mask + 1));
	for (size_t i = 0; i <= old.mask; i++)
		if (old.tag[i] != 0)
			put(t, old.conn[i]);
}

void tcp_table_add(struct tcp_table *t, struct tcp_conn *c)
{
	if (2 * ++t->count > t->mask)
		grow(t);
	put(t, c);
}

/* Whether what stands at "at" and belongs at "home" may not move to "hole": it would come before its home. */
static bool must_stay(size_t home, size_t hole, size_t at)
{
	return hole <= at ? hole < home && home <= at : hole < home || home <= at;
}

void tcp_table_remove(struct tcp_table *t, const struct tcp_conn *c)
{
	size_t hole = c->hash & t->mask;

	while (t->conn[hole] != c)
		hole = (hole + 1) & t->mask;
	for (size_t at = (hole + 1) & t->mask; t->tag[at] != 0; at = (at + 1) & t->mask) {
		if (must_stay(t->conn[at]->hash & t->mask, hole, at))
			continue;
		t->tag[hole] = t->tag[at];
		t->conn[hole] = t->conn[at];
		hole = at;
	}
	t->tag[hole] = 0;
	t->conn[hole] = NULL;
	t->count--;
}
