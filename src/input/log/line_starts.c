/* SPDX-License-Identifier: MIT */
/* See input/log/line_starts.h. */

#include "input/log/line_starts.h"

#include <string.h>

#include "input/rules/rules_set.h"
#include "input/rules/tree.h"

/* A pattern that fails at its start is faster than the search for a literal that is shorter, which stands in most texts. */
#define LITERAL_LEAST 8

/* More than these a start hardly leaves: then head_is_none has to tell. */
#define LEFT_MAX 24

struct line_start {
	char bytes[LINE_START_BYTES];
	bool known, many;
	uint16_t left[LEFT_MAX];	/* layouts */
	size_t count;
};

static struct sv only_literal(const struct layout *layout, struct arena *a)
{
	const struct tree *t = layout->line != NULL ? tree_of(layout->source, a) : NULL;
	struct cover cover = { .count = 0 };

	if (t != NULL)
		tree_cover(t, a, &cover);
	return cover.count == 1 && cover.literals[0].n >= LITERAL_LEAST ? cover.literals[0] : SV("");
}

/* The byte that stands in the sample least often. */
static size_t rarest_of(struct sv literal, const size_t *counts)
{
	size_t best = 0;

	for (size_t i = 1; i < literal.n; i++)
		if (counts[(unsigned char)literal.p[i]] < counts[(unsigned char)literal.p[best]])
			best = i;
	return best;
}

void line_starts_init(struct line_starts *s, const struct rules *r, const struct head_none *none, struct sv sample, struct arena *a)
{
	size_t counts[256] = { 0 };

	*s = (struct line_starts){ .rules = r, .none = none };
	s->items = arena_array(a, (size_t)1 << LINE_STARTS_LOG2, sizeof *s->items);
	s->literals = arena_array(a, r->layout_count, sizeof *s->literals);
	for (size_t i = 0; i < sample.n; i++)
		counts[(unsigned char)sample.p[i]]++;
	for (size_t i = 0; i < r->layout_count; i++) {
		s->literals[i].text = only_literal(r->layouts[i], a);
		s->literals[i].rarest = rarest_of(s->literals[i].text, counts);
	}
}

static bool has_literal(const struct line_literal *l, struct sv text)
{
	const char *p, *end = text.p + text.n;

	if (l->text.n == 0)
		return true;
	if (text.n < l->text.n)
		return false;
	for (p = text.p + l->rarest; p < end; p++) {
		p = memchr(p, l->text.p[l->rarest], (size_t)(end - p));
		if (p == NULL || (size_t)(end - p) < l->text.n - l->rarest)
			return false;
		if (memcmp(p - l->rarest, l->text.p, l->text.n) == 0)
			return true;
	}
	return false;
}

static void learn(const struct line_starts *s, struct line_start *l, struct sv start)
{
	*l = (struct line_start){ .known = true, .many = s->rules->layout_count > UINT16_MAX };
	memcpy(l->bytes, start.p, LINE_START_BYTES);
	for (size_t i = 0; i < s->rules->layout_count && !l->many; i++) {
		const struct layout *layout = s->rules->layouts[i];

		if (layout->line == NULL || regex_excludes_start(layout->line, start))
			continue;
		l->many = l->count == LEFT_MAX;
		if (!l->many)
			l->left[l->count++] = (uint16_t)i;
	}
}

static struct line_start *place_of(struct line_starts *s, struct sv text)
{
	uint64_t key;

	memcpy(&key, text.p, sizeof key);
	return &s->items[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LINE_STARTS_LOG2)];
}

static bool leaves_none(const struct line_starts *s, const struct line_start *l, struct sv text)
{
	for (size_t i = 0; i < l->count; i++)
		if (has_literal(&s->literals[l->left[i]], text) && regex_match(s->rules->layouts[l->left[i]]->line, text, 0))
			return false;
	return !l->many;
}

bool line_starts_fit_none(struct line_starts *s, struct sv text)
{
	struct line_start *l;

	if (text.n < LINE_START_BYTES)
		return text.n > 0 && head_is_none(s->none, text);
	l = place_of(s, text);
	if (l->known && memcmp(l->bytes, text.p, LINE_START_BYTES) == 0)
		return leaves_none(s, l, text);
	/* To find out about a start takes longer than to look at one text: starts that are all different need it seldom. */
	if (head_is_none(s->none, text))
		return true;
	learn(s, l, (struct sv){ text.p, LINE_START_BYTES });
	return leaves_none(s, l, text);
}
