/* SPDX-License-Identifier: MIT */
/* See input/log/line_starts.h. */

#include "input/log/line_starts.h"

#include <string.h>

#include "input/rules/rules_set.h"
#include "input/rules/tree.h"

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
	return cover.count == 1 ? cover.literals[0] : SV("");
}

void line_starts_init(struct line_starts *s, const struct rules *r, const struct head_none *none, struct arena *a)
{
	*s = (struct line_starts){ .rules = r, .none = none };
	s->items = arena_array(a, (size_t)1 << LINE_STARTS_LOG2, sizeof *s->items);
	s->literals = arena_array(a, r->layout_count, sizeof *s->literals);
	for (size_t i = 0; i < r->layout_count; i++)
		s->literals[i] = only_literal(r->layouts[i], a);
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

static const struct line_start *start_of(struct line_starts *s, struct sv text)
{
	const struct sv start = { text.p, LINE_START_BYTES };
	uint64_t key;
	struct line_start *l;

	memcpy(&key, text.p, sizeof key);
	l = &s->items[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LINE_STARTS_LOG2)];
	if (!l->known || memcmp(l->bytes, start.p, start.n) != 0)
		learn(s, l, start);
	return l;
}

bool line_starts_fit_none(struct line_starts *s, struct sv text)
{
	const struct line_start *l;
	size_t at;

	if (text.n < LINE_START_BYTES)
		return text.n > 0 && head_is_none(s->none, text);
	l = start_of(s, text);
	if (l->many)
		return head_is_none(s->none, text);
	for (size_t i = 0; i < l->count; i++) {
		const struct sv literal = s->literals[l->left[i]];

		if ((literal.n == 0 || sv_find(text, literal, &at)) && regex_match(s->rules->layouts[l->left[i]]->line, text, 0))
			return false;
	}
	return true;
}
