/* SPDX-License-Identifier: MIT */
/* Which of many items are about somebody. See analysis/who.h. */

#include "analysis/who.h"

#include <string.h>

#include "base/order.h"

enum by { BY_MEMBER, BY_CLIENT, BY_HOST, BY_BOTH };

struct who_key {
	enum by by;
	bool nameless;	/* of items without a member id alone */
	struct sv text, host;	/* host: of BY_BOTH, where text is the client */
};

struct who_slot {
	struct who_key key;
	struct who_list list;
	bool is_used;
};

/* ---- keys ---- */

#define KEYS_MAX 7

/* Absent and empty alike are not known. */
static bool is_same(struct sv a, struct sv b)
{
	return a.n == b.n && (a.n == 0 || sv_eq(a, b));
}

static bool key_eq(const struct who_key *a, const struct who_key *b)
{
	return a->by == b->by && a->nameless == b->nameless && is_same(a->text, b->text) && is_same(a->host, b->host);
}

static uint64_t key_hash(const struct who_key *k)
{
	const char small[] = { (char)k->by, (char)k->nameless };

	return sv_hash(sv_hash(sv_hash(sv_hash(SV_HASH, (struct sv){ small, sizeof small }), k->text), SV("\n")), k->host);
}

/* By client and host, of all items or of those without a member id. */
static size_t keys_without_member(const struct who *w, bool nameless, struct who_key *keys)
{
	size_t n = 0;

	if (w->client.n > 0)
		keys[n++] = (struct who_key){ BY_CLIENT, nameless, w->client, SV_ABSENT };
	if (w->host.n > 0)
		keys[n++] = (struct who_key){ BY_HOST, nameless, w->host, SV_ABSENT };
	if (w->client.n > 0 || w->host.n > 0)
		keys[n++] = (struct who_key){ BY_BOTH, nameless, w->client, w->host };
	return n;
}

/* All that it can be found by. */
static size_t keys_of(const struct who *w, struct who_key keys[KEYS_MAX])
{
	size_t n = 0;

	if (w->member.n > 0)
		keys[n++] = (struct who_key){ BY_MEMBER, false, w->member, SV_ABSENT };
	n += keys_without_member(w, false, &keys[n]);
	if (w->member.n == 0)
		n += keys_without_member(w, true, &keys[n]);
	return n;
}

/* An item that is about one holds one of these keys, and what holds one is about one. */
static size_t keys_sought(const struct who *w, struct who_key keys[WHO_LISTS_MAX])
{
	const bool nameless = w->member.n > 0;
	size_t n = 0;

	if (w->member.n > 0)
		keys[n++] = (struct who_key){ BY_MEMBER, false, w->member, SV_ABSENT };
	if (w->client.n > 0 && w->host.n > 0) {
		keys[n++] = (struct who_key){ BY_BOTH, nameless, w->client, w->host };
		keys[n++] = (struct who_key){ BY_BOTH, nameless, w->client, SV_ABSENT };
		keys[n++] = (struct who_key){ BY_BOTH, nameless, SV_ABSENT, w->host };
	} else if (w->client.n > 0) {
		keys[n++] = (struct who_key){ BY_CLIENT, nameless, w->client, SV_ABSENT };
	} else if (w->host.n > 0) {
		keys[n++] = (struct who_key){ BY_HOST, nameless, w->host, SV_ABSENT };
	}
	return n;
}

/* ---- lists by key ---- */

static int compare_items(const void *x, const void *y)
{
	const size_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

/* How many of the list lie below. */
static size_t count_below(const struct who_list *l, size_t item)
{
	return order_lower_bound(&item, l->items, l->count, sizeof *l->items, compare_items);
}

static struct who_slot *slot_of(struct who_slot *slots, size_t size, const struct who_key *key)
{
	size_t at = (size_t)key_hash(key) & (size - 1);

	while (slots[at].is_used && !key_eq(&slots[at].key, key))
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static void make_room(struct who_index *ix)
{
	const size_t size = ix->size == 0 ? 64 : 2 * ix->size;
	struct who_slot *slots;

	if (2 * ix->count < ix->size)
		return;
	slots = arena_array(ix->arena, size, sizeof *slots);
	for (size_t i = 0; i < ix->size; i++) {
		if (ix->slots[i].is_used)
			*slot_of(slots, size, &ix->slots[i].key) = ix->slots[i];
	}
	ix->slots = slots;
	ix->size = size;
}

/* Nearly always at the end. */
static void list_add(struct arena *a, struct who_list *l, size_t item)
{
	const size_t at = l->count > 0 && l->items[l->count - 1] >= item ? count_below(l, item) : l->count;

	if (at < l->count && l->items[at] == item)
		return;
	(void)ARENA_PUSH(a, l->items, l->count, l->capacity);
	memmove(&l->items[at + 1], &l->items[at], (l->count - 1 - at) * sizeof *l->items);
	l->items[at] = item;
}

void who_add(struct who_index *ix, struct who who, size_t item)
{
	struct who_key keys[KEYS_MAX];
	size_t n = keys_of(&who, keys);

	for (size_t i = 0; i < n; i++) {
		make_room(ix);
		struct who_slot *slot = slot_of(ix->slots, ix->size, &keys[i]);
		if (!slot->is_used) {
			slot->is_used = true;
			slot->key = keys[i];
			ix->count++;
		}
		list_add(ix->arena, &slot->list, item);
	}
}

struct who_found who_find(const struct who_index *ix, struct who sought)
{
	struct who_key keys[WHO_LISTS_MAX];
	struct who_found found = { .count = 0 };
	size_t n = ix->size == 0 ? 0 : keys_sought(&sought, keys);

	for (size_t i = 0; i < n; i++) {
		struct who_slot *slot = slot_of(ix->slots, ix->size, &keys[i]);
		if (slot->is_used)
			found.lists[found.count++] = &slot->list;
	}
	return found;
}

/* ---- items ---- */

bool who_next(const struct who_found *found, size_t from, size_t *item)
{
	bool any = false;

	for (size_t i = 0; i < found->count; i++) {
		const struct who_list *l = found->lists[i];
		size_t at = count_below(l, from);

		if (at < l->count && (!any || l->items[at] < *item)) {
			*item = l->items[at];
			any = true;
		}
	}
	return any;
}

bool who_before(const struct who_found *found, size_t below, size_t *item)
{
	bool any = false;

	for (size_t i = 0; i < found->count; i++) {
		const struct who_list *l = found->lists[i];
		size_t at = count_below(l, below);

		if (at > 0 && (!any || l->items[at - 1] > *item)) {
			*item = l->items[at - 1];
			any = true;
		}
	}
	return any;
}

void who_drop(const struct who_found *found, size_t item)
{
	for (size_t i = 0; i < found->count; i++) {
		struct who_list *l = found->lists[i];

		if (l->count > 0 && l->items[l->count - 1] == item) {
			l->count--;
		} else if (l->count > 0 && l->items[0] == item) {
			l->items++;
			l->count--;
			l->capacity--;
		}
	}
}
