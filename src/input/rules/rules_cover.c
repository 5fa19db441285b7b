/* SPDX-License-Identifier: MIT */
/*
 * Literals that whatever a pattern matches must contain. A run of bytes that
 * stand next to each other is a literal; where the pattern leaves a choice
 * between a few texts, the run is several literals, one for each choice.
 */

#include "input/rules/tree.h"

#include <string.h>

/* Longer ones find nothing sooner: fewer are then better. */
#define LONG_ENOUGH 16

/* Bytes that are put to the run together. */
#define TAIL_BYTES 128

/* The run in progress, and the best that has ended. */
struct search {
	struct arena *arena;
	struct cover run, best;
	char tail[TAIL_BYTES];	/* all texts of the run go on with it */
	size_t tail_bytes;
};

/* Most covers are of one literal or two. */
static void copy(struct cover *to, const struct cover *from)
{
	memcpy(to->literals, from->literals, from->count * sizeof *from->literals);
	to->count = from->count;
}

size_t cover_least(const struct cover *c)
{
	size_t least = c->count > 0 ? SIZE_MAX : 0;

	for (size_t i = 0; i < c->count; i++)
		least = c->literals[i].n < least ? c->literals[i].n : least;
	return least;
}

bool cover_may_match(const struct cover *c, struct sv text)
{
	size_t at;

	for (size_t i = 0; i < c->count; i++)
		if (sv_find(text, c->literals[i], &at))
			return true;
	return c->count == 0;
}

static bool is_better(const struct cover *a, const struct cover *b)
{
	size_t x = cover_least(a), y = cover_least(b);

	x = x < LONG_ENOUGH ? x : LONG_ENOUGH;
	y = y < LONG_ENOUGH ? y : LONG_ENOUGH;
	return x > y || (x == y && x > 0 && a->count < b->count);
}

static void begin_run(struct search *s)
{
	s->run.count = 1;
	s->run.literals[0] = SV("");
	s->tail_bytes = 0;
}

static void begin_search(struct search *s, struct arena *a)
{
	s->arena = a;
	s->best.count = 0;
	begin_run(s);
}

static struct sv join(struct arena *a, struct sv x, struct sv y)
{
	char *text = arena_alloc(a, x.n + y.n + 1);

	if (x.n > 0)
		memcpy(text, x.p, x.n);
	if (y.n > 0)
		memcpy(text + x.n, y.p, y.n);
	return (struct sv){ text, x.n + y.n };
}

/* What is put off until the texts are wanted, so that a run of a hundred bytes is not copied a hundred times. */
static struct cover *whole_run(struct search *s)
{
	for (size_t i = 0; i < s->run.count && s->tail_bytes > 0; i++)
		s->run.literals[i] = join(s->arena, s->run.literals[i], (struct sv){ s->tail, s->tail_bytes });
	s->tail_bytes = 0;
	return &s->run;
}

static void end_run(struct search *s)
{
	if (is_better(whole_run(s), &s->best))
		copy(&s->best, &s->run);
	begin_run(s);
}

/* Every text of the run goes on with every one of these. False when that are too many. */
static bool extend(struct search *s, const struct cover *by)
{
	struct cover longer;
	const struct cover *run;

	if (by->count == 0 || s->run.count * by->count > COVER_MAX)
		return false;
	run = whole_run(s);
	longer.count = 0;
	for (size_t i = 0; i < run->count; i++)
		for (size_t k = 0; k < by->count; k++)
			longer.literals[longer.count++] = join(s->arena, run->literals[i], by->literals[k]);
	copy(&s->run, &longer);
	return true;
}

static void extend_by_byte(struct search *s, int c, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++) {
		if (s->tail_bytes == TAIL_BYTES)
			(void)whole_run(s);
		s->tail[s->tail_bytes++] = (char)(unsigned char)c;
	}
}

/* All the texts that it matches, if they are a few: Foo|Bar, colou?r. False when they are more. */
static bool texts_of(const struct tree *t, struct arena *a, struct cover *out);

static bool texts_of_once(const struct tree *t, struct arena *a, struct cover *out) /* NOLINT(misc-no-recursion) */
{
	struct search s;
	int byte;

	out->count = 0;
	begin_search(&s, a);
	switch (t->kind) {
	case TREE_SET:
		byte = tree_only_byte(t);
		if (byte < 0)
			return false;
		extend_by_byte(&s, byte, 1);
		copy(out, whole_run(&s));
		return true;
	case TREE_SEQUENCE:
		for (const struct tree *c = t->child; c != NULL; c = c->next) {
			struct cover texts;

			if (!texts_of(c, a, &texts) || !extend(&s, &texts))
				return false;
		}
		copy(out, whole_run(&s));
		return true;
	case TREE_EITHER:
		for (const struct tree *c = t->child; c != NULL; c = c->next) {
			struct cover texts;

			if (!texts_of(c, a, &texts) || out->count + texts.count > COVER_MAX)
				return false;
			for (size_t i = 0; i < texts.count; i++)
				out->literals[out->count++] = texts.literals[i];
		}
		return true;
	case TREE_START:
	case TREE_END:
	case TREE_ASSERTION:
		break;
	}
	return false;
}

static bool texts_of(const struct tree *t, struct arena *a, struct cover *out) /* NOLINT(misc-no-recursion) */
{
	if (t->most != 1 || !texts_of_once(t, a, out) || (t->least == 0 && out->count == COVER_MAX))
		return false;
	if (t->least == 0)
		out->literals[out->count++] = SV("");
	return true;
}

/* ---- the walk ---- */

static void walk(struct search *s, const struct tree *t);

/* One literal of each alternative, if each has one. */
static void cover_either(struct search *s, const struct tree *t) /* NOLINT(misc-no-recursion) */
{
	struct cover all;

	all.count = 0;
	for (const struct tree *c = t->child; c != NULL; c = c->next) {
		struct cover one;

		tree_cover(c, s->arena, &one);
		if (one.count == 0 || all.count + one.count > COVER_MAX)
			return;
		for (size_t i = 0; i < one.count; i++)
			all.literals[all.count++] = one.literals[i];
	}
	if (is_better(&all, &s->best))
		copy(&s->best, &all);
}

static void walk_once(struct search *s, const struct tree *t) /* NOLINT(misc-no-recursion) */
{
	switch (t->kind) {
	case TREE_SET:
		end_run(s);
		return;
	case TREE_SEQUENCE:
		for (const struct tree *c = t->child; c != NULL; c = c->next)
			walk(s, c);
		return;
	case TREE_EITHER:
		end_run(s);
		cover_either(s, t);
		return;
	case TREE_START:
	case TREE_END:
	case TREE_ASSERTION:
		return;
	}
}

static void walk(struct search *s, const struct tree *t) /* NOLINT(misc-no-recursion) */
{
	struct cover texts;
	int byte = t->kind == TREE_SET ? tree_only_byte(t) : -1;

	if (byte >= 0 && t->least > 0 && t->least <= 64) {
		extend_by_byte(s, byte, t->least);
		if (t->most > t->least)
			end_run(s);
	} else if (!texts_of(t, s->arena, &texts) || !extend(s, &texts)) {
		if (t->least > 0 && tree_is_once(t))
			walk_once(s, t);
		else if (t->least > 0) {
			end_run(s);
			walk_once(s, t);
			end_run(s);
		} else
			end_run(s);
	}
}

/* Alternatives often have the same literal. */
static void drop_doubles(struct cover *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		size_t k = 0;

		while (k < n && !sv_eq(c->literals[k], c->literals[i]))
			k++;
		if (k == n)
			c->literals[n++] = c->literals[i];
	}
	c->count = n;
}

/* Depth is that of the pattern's groups, which the parser bounds. */
void tree_cover(const struct tree *t, struct arena *a, struct cover *out) /* NOLINT(misc-no-recursion) */
{
	struct search s;

	begin_search(&s, a);
	walk(&s, t);
	end_run(&s);
	copy(out, &s.best);
	drop_doubles(out);
	if (cover_least(out) == 0)
		out->count = 0;
}
