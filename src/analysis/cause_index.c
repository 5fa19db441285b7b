/* SPDX-License-Identifier: MIT */
/*
 * Which of an episode's causes a line is about. When a coordinator stood still
 * all members go in one instant, each with lines of its own: to hold each line
 * against all causes costs the square of them. So, once they are more than a
 * few, they are found by who they are about (who.h), those of each doing apart.
 *
 * Of a cause more may be learned (its member, its client, its host): then it is
 * found by what it is known by now, and where it stands by what it was known by
 * before it is passed over for good.
 */

#include "analysis/episode.h"
#include "analysis/who.h"

/* So few are looked through one by one. */
#define FEW 16
/* As trigger_doing numbers them. */
#define DOINGS (TRIGGER_COUNT + 2)

struct cause_index {
	struct who_index who[DOINGS];
	struct who_list nobodies[DOINGS];	/* neither a member nor a client is known */
};

/* ---- one by one ---- */

static bool is_of_nobody(const struct cause *c)
{
	return c->member.n == 0 && c->client.n == 0;
}

static bool is_sought(const struct cause *known, const struct cause *sought)
{
	return trigger_doing(known->meaning.trigger) == trigger_doing(sought->meaning.trigger) &&
	       ((is_of_nobody(known) && is_of_nobody(sought)) ||
		cause_is_of(known, sought->member, sought->client, sought->host));
}

struct cause *cause_find_one_by_one(const struct episode *ep, const struct cause *sought)
{
	for (size_t i = 0; i < ep->cause_count; i++)
		if (is_sought(&ep->causes[i], sought))
			return &ep->causes[i];
	return NULL;
}

/* ---- by who they are about ---- */

static struct who who_of(const struct cause *c)
{
	return (struct who){ c->member, c->client, c->host };
}

static void index_cause(struct cause_index *ix, const struct episode *ep, size_t cause)
{
	const struct cause *c = &ep->causes[cause];
	const unsigned doing = trigger_doing(c->meaning.trigger);
	struct who_list *nobodies = &ix->nobodies[doing];

	who_add(&ix->who[doing], who_of(c), cause);
	if (is_of_nobody(c))
		*ARENA_PUSH(ix->who[doing].arena, nobodies->items, nobodies->count, nobodies->capacity) = cause;
}

static struct cause_index *index_new(struct arena *a, const struct episode *ep)
{
	struct cause_index *ix = arena_alloc(a, sizeof *ix);

	for (size_t i = 0; i < DOINGS; i++)
		ix->who[i].arena = a;
	for (size_t i = 0; i < ep->cause_count; i++)
		index_cause(ix, ep, i);
	return ix;
}

/* The lists that hold all that are sought, and besides none but what was known by less. */
static struct who_found lists_of(struct cause_index *ix, const struct cause *sought)
{
	const unsigned doing = trigger_doing(sought->meaning.trigger);
	struct who_found found = who_find(&ix->who[doing], who_of(sought));

	/* It was found by its host at most. */
	if (is_of_nobody(sought))
		found.lists[found.count++] = &ix->nobodies[doing];
	return found;
}

/* ---- what there is ---- */

struct cause *cause_find(const struct episode *ep, const struct cause *sought)
{
	if (ep->index == NULL)
		return cause_find_one_by_one(ep, sought);
	const struct who_found found = lists_of(ep->index, sought);
	for (size_t from = 0, at; who_next(&found, from, &at); from = at + 1) {
		if (is_sought(&ep->causes[at], sought))
			return &ep->causes[at];
		who_drop(&found, at);
	}
	return NULL;
}

struct cause *cause_find_of_client(const struct episode *ep, enum trigger doing, const struct cause *of)
{
	return cause_find(ep, &(struct cause){ .meaning.trigger = doing, .client = of->client, .host = of->host });
}

struct cause *cause_add(struct arena *a, struct episode *ep, const struct cause *c)
{
	struct cause *added = ARENA_PUSH(a, ep->causes, ep->cause_count, ep->cause_capacity);

	*added = *c;
	if (ep->index != NULL)
		index_cause(ep->index, ep, ep->cause_count - 1);
	else if (ep->cause_count > FEW)
		ep->index = index_new(a, ep);
	return added;
}

void cause_learn(struct episode *ep, struct cause *known, const struct cause *from)
{
	if (known->member.n == 0)
		known->member = from->member;
	if (known->client.n == 0)
		known->client = from->client;
	if (known->host.n == 0)
		known->host = from->host;
	if (ep->index != NULL)
		who_add(&ep->index->who[trigger_doing(known->meaning.trigger)], who_of(known), (size_t)(known - ep->causes));
}
