/* SPDX-License-Identifier: MIT */
#include "analysis/path.h"

#include <stdint.h>

#define SLOTS_LEAST 64

struct sv path_address(struct sv endpoint)
{
	size_t colon, first;

	if (!sv_rfind_char(endpoint, ':', &colon))
		return endpoint;
	struct sv address = sv_sub(endpoint, 0, colon);
	if (address.n > 1 && address.p[0] == '[' && address.p[address.n - 1] == ']')
		return sv_sub(address, 1, address.n - 2);
	/* Several colons and no brackets: an IPv6 address without a port. */
	return sv_find_char(address, ':', &first) ? endpoint : address;
}

/* Each ends with a byte that no UTF-8 has, so that what is of one is not of the next. */
static uint64_t hash(uint64_t h, struct sv s)
{
	return sv_hash(sv_hash(h, s), SV("\xff"));
}

static uint64_t hash_of(struct sv host, struct sv a, struct sv b)
{
	return hash(hash(hash(SV_HASH, host), a), b);
}

/* The slot that holds the path, or the free one where it belongs. */
static struct path **slot_of(struct path **slots, size_t n, struct sv host, struct sv a, struct sv b)
{
	size_t i = (size_t)hash_of(host, a, b) & (n - 1);

	while (slots[i] != NULL && !(sv_eq(slots[i]->host, host) && sv_eq(slots[i]->a, a) && sv_eq(slots[i]->b, b)))
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static void make_room(struct paths *p)
{
	if (p->count * 2 < p->slot_count)
		return;
	size_t n = p->slot_count == 0 ? SLOTS_LEAST : p->slot_count * 2;
	struct path **slots = arena_array(p->arena, n, sizeof(struct path *));

	for (size_t i = 0; i < p->count; i++)
		*slot_of(slots, n, p->items[i]->host, p->items[i]->a, p->items[i]->b) = p->items[i];
	p->slots = slots;
	p->slot_count = n;
}

const struct path *paths_get(struct paths *p, struct sv host, struct sv path_a, struct sv path_b)
{
	struct sv a = path_address(path_a), b = path_address(path_b);

	make_room(p);
	struct path **slot = slot_of(p->slots, p->slot_count, host, a, b);
	if (*slot == NULL) {
		struct path *new = arena_alloc(p->arena, sizeof *new);

		*new = (struct path){ p->count, arena_copy(p->arena, host), arena_copy(p->arena, a),
				      arena_copy(p->arena, b), arena_copy(p->arena, path_b) };
		*ARENA_PUSH(p->arena, p->items, p->count, p->capacity) = new;
		*slot = new;
	}
	return *slot;
}
