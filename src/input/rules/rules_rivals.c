/* SPDX-License-Identifier: MIT */
/*
 * Which layouts may fit the same lines. The first that fits a line is meant, in
 * the order of loading; but to try the one that fitted the line before is nearly
 * always enough. It is, when no layout before it can fit too: most differ in a
 * byte at one of their first places, where the time stands.
 */

#include <string.h>

#include "input/rules/rules_set.h"

/* More than any time takes. */
#define PLACES_MAX 40

/* The bytes that may stand at the first places of a line, as far as they are known. */
struct start {
	size_t n;
	struct byte_set {
		uint64_t bits[4];
	} places[PLACES_MAX];
};

static void add_places(struct start *s, const struct tree *set)
{
	for (uint32_t i = 0; i < set->least && s->n < PLACES_MAX; i++)
		memcpy(s->places[s->n++].bits, set->set, sizeof set->set);
}

/* False when what follows has no fixed place. Depth is that of the pattern's groups, which the parser bounds. */
static bool take_places(struct start *s, const struct tree *t) /* NOLINT(misc-no-recursion) */
{
	switch (t->kind) {
	case TREE_START:
		return true;
	case TREE_SET:
		add_places(s, t);
		return t->least == t->most;
	case TREE_SEQUENCE:
		if (!tree_is_once(t))
			return false;
		for (const struct tree *c = t->child; c != NULL; c = c->next)
			if (!take_places(s, c))
				return false;
		return true;
	case TREE_EITHER:
	case TREE_END:
	case TREE_ASSERTION:
		break;
	}
	return false;
}

static struct start start_of(const struct layout *layout, struct arena *a)
{
	struct start s = { .n = 0 };
	const struct tree *t;

	if (layout->line == NULL) {
		/* An object, behind blanks. */
		s.n = 1;
		for (const char *c = "{ \t\n\v\f\r"; *c != '\0'; c++)
			s.places[0].bits[(unsigned char)*c / 64] |= UINT64_C(1) << ((unsigned char)*c % 64);
		return s;
	}
	t = tree_of(layout->source, a);
	if (t != NULL && t->kind == TREE_SEQUENCE && t->child != NULL && t->child->kind == TREE_START)
		(void)take_places(&s, t);
	return s;
}

/* Whether no line begins as both do. */
static bool differ(const struct start *x, const struct start *y)
{
	for (size_t i = 0; i < x->n && i < y->n; i++) {
		uint64_t both = 0;

		for (size_t k = 0; k < 4; k++)
			both |= x->places[i].bits[k] & y->places[i].bits[k];
		if (both == 0)
			return true;
	}
	return false;
}

const struct rivals *layout_rivals(const struct rules *r, size_t layout)
{
	struct layout *l = r->layouts[layout];
	struct arena *scratch;
	struct rivals *found;
	struct start own;

	if (l->rivals != NULL)
		return l->rivals;
	found = arena_alloc(r->arena, sizeof *found);
	found->layouts = arena_array(r->arena, layout, sizeof *found->layouts);
	scratch = arena_new();
	own = start_of(l, scratch);
	for (size_t i = 0; i < layout; i++) {
		struct start other = start_of(r->layouts[i], scratch);

		if (!differ(&own, &other))
			found->layouts[found->count++] = i;
	}
	arena_free(scratch);
	l->rivals = found;
	return found;
}
