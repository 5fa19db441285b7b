/* SPDX-License-Identifier: MIT */
/* See model/masked.h. */

#include "model/masked.h"

#include <string.h>

/* So many in a row hide something; fewer may be part of a name. */
#define STARS_LEAST 3

#define IDENTIFIERS                                                                                                          \
	(FIELD_BIT(FIELD_MEMBER) | FIELD_BIT(FIELD_CLIENT) | FIELD_BIT(FIELD_INSTANCE) | FIELD_BIT(FIELD_PEER) |             \
	 FIELD_BIT(FIELD_BUSINESS_KEY) | FIELD_BIT(FIELD_MESSAGE_ID) | FIELD_BIT(FIELD_REQUEST_ID) |                         \
	 FIELD_BIT(FIELD_FINGERPRINT) | FIELD_BIT(FIELD_CONSUMER))

/* What stands in the place of a value, in whatever brackets. */
static const struct sv words[] = {
	{ "redacted", 8 }, { "masked", 6 },   { "hidden", 6 },	   { "filtered", 8 }, { "removed", 7 },	   { "elided", 6 },
	{ "omitted", 7 },  { "obfuscated", 10 }, { "anonymized", 10 }, { "anonymised", 10 }, { "scrubbed", 8 }, { "sanitized", 9 },
};

/* The text without one pair of brackets, and whether it had any. */
static bool cut_brackets(struct sv *text)
{
	static const char pairs[][2] = { { '<', '>' }, { '[', ']' }, { '(', ')' }, { '{', '}' } };

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (text->n < 2 || text->p[0] != pairs[i][0] || text->p[text->n - 1] != pairs[i][1])
			continue;
		*text = sv_sub(*text, 1, text->n - 2);
		return true;
	}
	return false;
}

/* "REDACTED" and "<masked>"; in small letters and bare it may be a name. */
static bool is_word(struct sv text)
{
	bool is_marked = cut_brackets(&text);

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (sv_eq_nocase(text, words[i]))
			return is_marked || (text.p[0] >= 'A' && text.p[0] <= 'Z');
	}
	return false;
}

static bool has_row_of(struct sv text, char c, size_t least)
{
	size_t row = 0;

	for (size_t i = 0; i < text.n; i++) {
		row = text.p[i] == c ? row + 1 : 0;
		if (row == least)
			return true;
	}
	return false;
}

static bool is_all(struct sv text, char c)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != c)
			return false;
	}
	return text.n >= STARS_LEAST;
}

/* Whether a closer look is worth its while: few identifiers hold any of what masks are made of. */
static bool may_be(struct sv text)
{
	char first = text.n > 0 ? text.p[0] : ' ';
	bool held = false;

	for (size_t i = 0; i < text.n; i++)
		held |= text.p[i] == '*' || text.p[i] == '.' || text.p[i] == '\xe2';
	return held || (first >= 'A' && first <= 'Z') || (first != '\0' && strchr("x#<[({", first) != NULL);
}

bool masked_is(struct sv text)
{
	static const struct sv ellipsis = { "\xe2\x80\xa6", 3 }, bullet = { "\xe2\x80\xa2\xe2\x80\xa2", 6 };
	size_t at;

	text = sv_trim(text);
	if (!may_be(text))
		return false;
	return has_row_of(text, '*', STARS_LEAST) || has_row_of(text, '.', STARS_LEAST) || sv_find(text, ellipsis, &at) ||
	       sv_find(text, bullet, &at) || is_all(text, 'x') || is_all(text, 'X') || is_all(text, '#') || is_word(text);
}

bool masked_forget(struct event *e, enum event_field *first)
{
	bool any = false;

	/* In the order of the catalogue. */
	for (field_set left = e->set & IDENTIFIERS; left != 0;) {
		enum event_field f = field_take(&left);

		if (!masked_is(e->value[f].text))
			continue;
		e->set &= ~FIELD_BIT(f);
		if (event_infos[e->type].required & FIELD_BIT(f))
			event_set_text(e, f, SV(""));
		if (!any)
			*first = f;
		any = true;
	}
	return any;
}
