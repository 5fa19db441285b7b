/* SPDX-License-Identifier: MIT */
/* What is known of lines that fit no layout, and of messages that no rule knows. See input/rules/head.h. */

#include "input/rules/head.h"

#include <string.h>

#include "input/rules/rules_set.h"
#include "input/rules/tree.h"

/* The bytes with which lines of the layout can begin; all where that is not known. */
static void first_of(const struct layout *layout, const struct tree *t, uint64_t first[4])
{
	memset(first, 0, 4 * sizeof *first);
	if (layout->line == NULL || t == NULL || !tree_first(t, first) || t->child->kind != TREE_START)
		memset(first, 0xff, 4 * sizeof *first);
}

static bool has(const uint64_t set[4], unsigned char c)
{
	return (set[c / 64] >> (c % 64) & 1) != 0;
}

bool head_excludes(const struct rules *r, int layout, struct sv first_bytes, struct arena *a)
{
	const struct layout *l = r->layouts[layout];
	uint64_t first[4];

	first_of(l, l->line != NULL ? tree_of(l->source, a) : NULL, first);
	for (size_t i = 0; i < first_bytes.n; i++)
		if (has(first, (unsigned char)first_bytes.p[i]))
			return false;
	return true;
}

/* ---- lines that fit nothing ---- */

/* The layouts of lines that may begin with a byte, by what must stand in them. */
struct head_none {
	struct needs {
		const struct cover **covers;
		size_t count, capacity;
	} by_first[256];
};

static void add_layout(struct head_none *n, const struct layout *layout, struct arena *a)
{
	const struct tree *t = tree_of(layout->source, a);
	struct cover *cover = arena_alloc(a, sizeof *cover);
	uint64_t first[4];

	first_of(layout, t, first);
	if (t != NULL)
		tree_cover(t, a, cover);
	for (unsigned c = 0; c < 256; c++)
		if (has(first, (unsigned char)c))
			*ARENA_PUSH(a, n->by_first[c].covers, n->by_first[c].count, n->by_first[c].capacity) = cover;
}

struct head_none *head_none_new(const struct rules *r, struct arena *a)
{
	struct head_none *n = arena_alloc(a, sizeof *n);

	for (size_t i = 0; i < r->layout_count; i++)
		if (r->layouts[i]->line != NULL)
			add_layout(n, r->layouts[i], a);
	return n;
}

bool head_is_none(const struct head_none *n, struct sv line)
{
	const struct needs *needs = &n->by_first[(unsigned char)line.p[0]];
	struct sv text;

	for (size_t i = 0; i < needs->count; i++)
		if (cover_may_match(needs->covers[i], line))
			return false;
	/* An object of JSON begins with a brace, behind blanks at most. */
	if (line.p[0] != '{' && line.p[0] > ' ')
		return true;
	text = sv_trim(line);
	return text.n == 0 || text.p[0] != '{';
}

/* ---- literals ---- */

bool head_literals(const struct rules *r, struct arena *a, struct head_literal **literals, size_t *count)
{
	size_t capacity = 0;

	*literals = NULL;
	*count = 0;
	for (size_t i = 0; i < r->rule_count; i++) {
		const struct cover *c = pattern_cover(&r->rules[i]->match, r->arena);

		if (c->count == 0)
			return false;
		for (size_t k = 0; k < c->count; k++)
			*ARENA_PUSH(a, *literals, *count, capacity) =
				(struct head_literal){ c->literals[k], (uint32_t)i };
	}
	return true;
}
