/* SPDX-License-Identifier: MIT */
/*
 * Which of an episode's causes a line is about. When a coordinator stood still
 * all members go in one instant, each with lines of its own: to hold each line
 * against all causes costs the square of them. So, once they are more than a
 * few, each cause stands in lists by all that cause_is_of looks at, and a line
 * looks into those lists alone that hold the ones it may be about.
 *
 * A list is in the order of the causes. Of a cause more may be learned (its
 * member, its client, its host): then it is put into the lists of what it is
 * known by now, and what it was known by before is passed over for good.
 */

#include "analysis/episode.h"

/* So few are looked through one by one. */
#define FEW 16
#define KEYS_MAX 7

enum by { BY_MEMBER, BY_CLIENT, BY_HOST, BY_BOTH };

struct key {
	unsigned doing;
	bool nameless;	/* of causes without a member id alone */
	enum by by;
	struct sv text, host;	/* host: of BY_BOTH, where text is the client */
};

struct entry {
	size_t cause;
	struct entry *next;
};

struct list {
	struct key key;
	struct entry *first, *last;	/* first is NULL in a free slot only: a list is never emptied but by passing over */
	bool is_used;
};

struct cause_index {
	struct list *lists;	/* by key, open addressing, at most half full */
	size_t count, slots;
};

/* ---- one by one ---- */

static bool is_sought(const struct cause *known, const struct cause *sought)
{
	bool is_of_nobody = sought->member.n == 0 && known->member.n == 0 && sought->client.n == 0 && known->client.n == 0;

	return trigger_doing(known->meaning.trigger) == trigger_doing(sought->meaning.trigger) &&
	       (is_of_nobody || cause_is_of(known, sought->member, sought->client, sought->host));
}

struct cause *cause_find_one_by_one(const struct episode *ep, const struct cause *sought)
{
	for (size_t i = 0; i < ep->cause_count; i++)
		if (is_sought(&ep->causes[i], sought))
			return &ep->causes[i];
	return NULL;
}

/* ---- keys ---- */

/* Absent and empty alike are not known. */
static bool is_same(struct sv a, struct sv b)
{
	return a.n == b.n && (a.n == 0 || sv_eq(a, b));
}

static bool key_eq(const struct key *a, const struct key *b)
{
	return a->doing == b->doing && a->nameless == b->nameless && a->by == b->by && is_same(a->text, b->text) &&
	       is_same(a->host, b->host);
}

static uint64_t key_hash(const struct key *k)
{
	const unsigned char small[] = { (unsigned char)k->doing, k->nameless, (unsigned char)k->by };
	uint64_t hash = sv_hash(SV_HASH, (struct sv){ (const char *)small, sizeof small });

	return sv_hash(sv_hash(sv_hash(hash, k->text), SV("\n")), k->host);
}

/* All that it can be found by. */
static size_t keys_of(const struct cause *c, struct key keys[KEYS_MAX])
{
	const unsigned doing = trigger_doing(c->meaning.trigger);
	size_t n = 0;

	if (c->member.n > 0)
		keys[n++] = (struct key){ .doing = doing, .by = BY_MEMBER, .text = c->member };
	for (int nameless = 0; nameless <= (c->member.n == 0); nameless++) {
		keys[n++] = (struct key){ doing, nameless, BY_CLIENT, c->client, SV_ABSENT };
		keys[n++] = (struct key){ doing, nameless, BY_HOST, c->host, SV_ABSENT };
		keys[n++] = (struct key){ doing, nameless, BY_BOTH, c->client, c->host };
	}
	return n;
}

/*
 * Every cause that is_sought takes holds one of these keys, and what holds one
 * is taken: by its member id; where either has none, by client and host, which
 * may lack on either side and may not differ; and those of nobody.
 */
static size_t keys_sought(const struct cause *c, struct key keys[KEYS_MAX])
{
	const unsigned doing = trigger_doing(c->meaning.trigger);
	const bool nameless = c->member.n > 0;
	size_t n = 0;

	if (c->member.n > 0)
		keys[n++] = (struct key){ .doing = doing, .by = BY_MEMBER, .text = c->member };
	if (c->client.n > 0 && c->host.n > 0) {
		keys[n++] = (struct key){ doing, nameless, BY_BOTH, c->client, c->host };
		keys[n++] = (struct key){ doing, nameless, BY_BOTH, c->client, SV_ABSENT };
		keys[n++] = (struct key){ doing, nameless, BY_BOTH, SV_ABSENT, c->host };
	} else if (c->client.n > 0) {
		keys[n++] = (struct key){ doing, nameless, BY_CLIENT, c->client, SV_ABSENT };
	} else if (c->host.n > 0) {
		keys[n++] = (struct key){ doing, nameless, BY_HOST, c->host, SV_ABSENT };
	}
	if (c->member.n == 0 && c->client.n == 0)
		keys[n++] = (struct key){ doing, true, BY_CLIENT, SV_ABSENT, SV_ABSENT };
	return n;
}

static bool holds(const struct cause *c, const struct key *key)
{
	struct key keys[KEYS_MAX];
	size_t n = keys_of(c, keys);

	for (size_t i = 0; i < n; i++)
		if (key_eq(&keys[i], key))
			return true;
	return false;
}

/* ---- lists ---- */

static struct list *slot_of(struct list *lists, size_t slots, const struct key *key)
{
	size_t at = (size_t)key_hash(key) & (slots - 1);

	while (lists[at].is_used && !key_eq(&lists[at].key, key))
		at = (at + 1) & (slots - 1);
	return &lists[at];
}

static void make_room(struct arena *a, struct cause_index *ix)
{
	const size_t slots = ix->slots == 0 ? 64 * FEW : 2 * ix->slots;

	if (2 * ix->count < ix->slots)
		return;
	struct list *lists = arena_array(a, slots, sizeof *lists);
	for (size_t i = 0; i < ix->slots; i++)
		if (ix->lists[i].is_used)
			*slot_of(lists, slots, &ix->lists[i].key) = ix->lists[i];
	ix->lists = lists;
	ix->slots = slots;
}

/* Nearly always at the end: what is known of a cause is known of it when it is added. */
static void list_add(struct arena *a, struct list *l, size_t cause)
{
	struct entry *e = arena_alloc(a, sizeof *e), **at = &l->first;

	e->cause = cause;
	if (l->last != NULL && l->last->cause < cause)
		at = &l->last->next;
	while (*at != NULL && (*at)->cause < cause)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	if (e->next == NULL)
		l->last = e;
}

static void index_add(struct arena *a, struct cause_index *ix, const struct key *key, size_t cause)
{
	make_room(a, ix);
	struct list *l = slot_of(ix->lists, ix->slots, key);
	ix->count += !l->is_used;
	l->is_used = true;
	l->key = *key;
	list_add(a, l, cause);
}

/* The first cause that still holds the key; SIZE_MAX when none does. */
static size_t first_of(const struct episode *ep, const struct key *key)
{
	struct list *l = slot_of(ep->index->lists, ep->index->slots, key);

	while (l->first != NULL && !holds(&ep->causes[l->first->cause], key))
		l->first = l->first->next;
	if (l->first == NULL)
		l->last = NULL;
	return l->first != NULL ? l->first->cause : SIZE_MAX;
}

static void index_cause(struct arena *a, struct episode *ep, size_t cause)
{
	struct key keys[KEYS_MAX];
	size_t n = keys_of(&ep->causes[cause], keys);

	for (size_t i = 0; i < n; i++)
		index_add(a, ep->index, &keys[i], cause);
}

/* ---- what there is ---- */

struct cause *cause_find(const struct episode *ep, const struct cause *sought)
{
	struct key keys[KEYS_MAX];
	size_t n, first = SIZE_MAX;

	if (ep->index == NULL)
		return cause_find_one_by_one(ep, sought);
	n = keys_sought(sought, keys);
	for (size_t i = 0; i < n; i++) {
		size_t found = first_of(ep, &keys[i]);
		first = found < first ? found : first;
	}
	return first < ep->cause_count ? &ep->causes[first] : NULL;
}

struct cause *cause_add(struct arena *a, struct episode *ep, const struct cause *c)
{
	struct cause *added = ARENA_PUSH(a, ep->causes, ep->cause_count, ep->cause_capacity);

	*added = *c;
	if (ep->index != NULL) {
		index_cause(a, ep, ep->cause_count - 1);
	} else if (ep->cause_count > FEW) {
		ep->index = arena_alloc(a, sizeof *ep->index);
		for (size_t i = 0; i < ep->cause_count; i++)
			index_cause(a, ep, i);
	}
	return added;
}

void cause_learn(struct arena *a, struct episode *ep, struct cause *known, const struct cause *from)
{
	const struct cause before = *known;
	struct key keys[KEYS_MAX];

	if (known->member.n == 0)
		known->member = from->member;
	if (known->client.n == 0)
		known->client = from->client;
	if (known->host.n == 0)
		known->host = from->host;
	if (ep->index == NULL)
		return;
	size_t n = keys_of(known, keys);
	for (size_t i = 0; i < n; i++)
		if (!holds(&before, &keys[i]))
			index_add(a, ep->index, &keys[i], (size_t)(known - ep->causes));
}
