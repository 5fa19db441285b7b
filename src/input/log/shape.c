/* SPDX-License-Identifier: MIT */
/* See input/log/shape.h. */

#include "input/log/shape.h"

#include <stdint.h>
#include <string.h>

#include "base/cursor.h"
#include "input/log/escapes.h"

#define PATH_BYTES_MAX 256
#define DEPTH_MAX 8
/* What has more is read in another way (json.c). */
#define NUMBER_DIGITS_MAX 18

/* ---- values ---- */

/* Where the number ends that begins there, as JSON has numbers but for exponents; 0 when none does. */
static size_t number_end(struct sv text)
{
	size_t i = text.n > 0 && text.p[0] == '-', from = i;

	while (i < text.n && cursor_is_digit(text.p[i]))
		i++;
	if (i == from || i - from > NUMBER_DIGITS_MAX || (text.p[from] == '0' && i > from + 1))
		return 0;
	if (i < text.n && text.p[i] == '.') {
		from = ++i;
		while (i < text.n && cursor_is_digit(text.p[i]))
			i++;
		if (i == from || i - from > NUMBER_DIGITS_MAX)
			return 0;
	}
	return i < text.n && (text.p[i] == 'e' || text.p[i] == 'E') ? 0 : i;
}

/* Where the text ends whose first byte stands behind its quote. False when there is none, or one that only a reader of JSON knows to read. */
static bool text_end(struct sv text, bool is_read, size_t *end)
{
	enum escapes escapes;

	*end = escapes_end(text);
	if (is_read || *end == text.n)
		return *end < text.n;
	escapes = escapes_in(sv_sub(text, 0, *end));
	return escapes == ESCAPES_NONE || (escapes == ESCAPES_SOME && escapes_are_plain(sv_sub(text, 0, *end)));
}

static size_t blanks_end(struct sv text, size_t at)
{
	while (at < text.n && (text.p[at] == ' ' || text.p[at] == '\t'))
		at++;
	return at;
}

/* Where the word ends that begins there: true, false, null. 0 when none does. */
static size_t word_end(struct sv text)
{
	static const struct sv words[] = { { "true", 4 }, { "false", 5 }, { "null", 4 } };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (sv_starts_with(text, words[i]))
			return words[i].n;
	return 0;
}

/* An array's values, one behind the other: what stands in a value of its own, and in an object in it, is for those who read JSON. */
static bool element_end(struct sv text, size_t *end)
{
	if (text.n > 0 && text.p[0] == '"') {
		if (!text_end(sv_sub(text, 1, text.n), false, end))
			return false;
		*end += 2;
		return true;
	}
	*end = number_end(text);
	if (*end == 0)
		*end = word_end(text);
	return *end > 0;
}

static bool array_end(struct sv text, size_t *end)
{
	size_t at = blanks_end(text, 1), n;

	if (text.n == 0 || text.p[0] != '[')
		return false;
	if (at < text.n && text.p[at] == ']') {
		*end = at + 1;
		return true;
	}
	for (;;) {
		if (at >= text.n || !element_end(sv_sub(text, at, text.n), &n))
			return false;
		at = blanks_end(text, at + n);
		if (at >= text.n || (text.p[at] != ',' && text.p[at] != ']'))
			return false;
		if (text.p[at] == ']') {
			*end = at + 1;
			return true;
		}
		at = blanks_end(text, at + 1);
	}
}

static bool value_end(const struct shape_hole *h, struct sv text, size_t *end)
{
	switch (h->kind) {
	case SHAPE_TEXT:
		return text_end(text, h->is_read, end);
	case SHAPE_ARRAY:
		return array_end(text, end);
	case SHAPE_NUMBER:
		break;
	}
	*end = number_end(text);
	return *end > 0;
}

/* ---- an object by its shape ---- */

/* As memcmp says: what stands between values is mostly shorter than the call takes. */
static inline bool same_bytes(const char *x, const char *y, size_t n)
{
	for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), x += sizeof(uint64_t), y += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, x, sizeof a);
		memcpy(&b, y, sizeof b);
		if (a != b)
			return false;
	}
	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return false;
	return true;
}

bool shape_fits(const struct shape *s, struct sv text, struct sv values[SHAPE_HOLES_MAX])
{
	const char *own = s->bytes;
	size_t at = 0, n;

	for (size_t i = 0; i < s->hole_count; i++) {
		const struct shape_hole *h = &s->holes[i];

		if (text.n - at < h->before || !same_bytes(text.p + at, own, h->before))
			return false;
		at += h->before;
		own += h->before;
		if (!value_end(h, (struct sv){ text.p + at, text.n - at }, &n))
			return false;
		values[i] = (struct sv){ text.p + at, n };
		at += n;
	}
	return text.n - at == s->behind && same_bytes(text.p + at, own, s->behind);
}

/* Whether the text has the value of the hole at the byte, so long. */
static bool is_value(const struct shape_hole *h, struct sv text, size_t at, size_t n)
{
	size_t end;

	return (h->is_read && h->kind == SHAPE_TEXT) || (value_end(h, (struct sv){ text.p + at, text.n - at }, &end) && end == n);
}

static bool fits_like_last(const struct shape *s, struct sv text, struct sv *values)
{
	const char *own = s->bytes;
	size_t at = 0;

	if (!s->has_last || text.n < s->last_others)
		return false;
	for (size_t i = 0; i < s->hole_count; i++) {
		const struct shape_hole *h = &s->holes[i];
		const size_t n = i == s->long_hole ? text.n - s->last_others : h->last_bytes;

		if (!same_bytes(text.p + at, own, h->before) || !is_value(h, text, at + h->before, n))
			return false;
		at += h->before;
		own += h->before;
		values[i] = (struct sv){ text.p + at, n };
		at += n;
	}
	return same_bytes(text.p + at, own, s->behind);
}

static void note_last(struct shape *s, struct sv text, const struct sv *values)
{
	s->has_last = true;
	for (size_t i = 0; i < s->hole_count; i++)
		s->holes[i].last_bytes = values[i].n;
	s->last_others = text.n - values[s->long_hole].n;
}

bool shape_fits_again(struct shape *s, struct sv text, struct sv values[SHAPE_HOLES_MAX])
{
	if (fits_like_last(s, text, values))
		return true;
	if (!shape_fits(s, text, values))
		return false;
	note_last(s, text, values);
	return true;
}

/* ---- a shape from an object ---- */

/* What is known of an object while it is walked through. */
struct walk {
	struct sv text;
	size_t at;
	struct shape *shape;
	size_t shape_from;	/* bytes of the shape before it belong to holes */
	struct shape_names *names;
	char path[PATH_BYTES_MAX];
	size_t path_bytes;
	struct arena *arena;
};

static bool keep(struct walk *w, size_t n)
{
	struct shape *s = w->shape;

	if (n > w->text.n - w->at || s->byte_count + n > sizeof s->bytes)
		return false;
	memcpy(s->bytes + s->byte_count, w->text.p + w->at, n);
	s->byte_count += n;
	w->at += n;
	return true;
}

static char next(const struct walk *w)
{
	return w->at < w->text.n ? w->text.p[w->at] : '\0';
}

static bool keep_blanks(struct walk *w)
{
	while (next(w) == ' ' || next(w) == '\t')
		if (!keep(w, 1))
			return false;
	return true;
}

/* One of its bytes, and blanks behind it. */
static bool keep_sign(struct walk *w, char c)
{
	return next(w) == c && keep(w, 1) && keep_blanks(w);
}

static bool add_hole(struct walk *w, enum shape_kind kind)
{
	struct shape *s = w->shape;
	struct shape_hole h = { .kind = kind, .before = s->byte_count - w->shape_from };
	size_t n;

	if (s->hole_count == SHAPE_HOLES_MAX || !value_end(&h, sv_sub(w->text, w->at, w->text.n), &n))
		return false;
	w->names->holes[s->hole_count] = arena_copy(w->arena, (struct sv){ w->path, w->path_bytes });
	s->holes[s->hole_count++] = h;
	w->shape_from = s->byte_count;
	w->at += n;
	return true;
}

static bool add_word(struct walk *w, bool is_null)
{
	if (w->names->word_count == SHAPE_HOLES_MAX)
		return false;
	w->names->words[w->names->word_count++] = (struct shape_word){ arena_copy(w->arena, (struct sv){ w->path, w->path_bytes }), is_null };
	return true;
}

static bool keep_word(struct walk *w)
{
	const size_t n = word_end(sv_sub(w->text, w->at, w->text.n));

	return n > 0 && add_word(w, next(w) == 'n') && keep(w, n);
}

static bool walk_object(struct walk *w, unsigned depth);

static bool walk_value(struct walk *w, unsigned depth)
{
	const char c = next(w);

	/* An object has no value of its own, but may be the twin of one that has. */
	if (c == '{')
		return add_word(w, true) && walk_object(w, depth + 1);
	if (c == '"')
		return keep(w, 1) && add_hole(w, SHAPE_TEXT) && keep(w, 1);
	if (c == '[')
		return add_hole(w, SHAPE_ARRAY);
	return c == '-' || cursor_is_digit(c) ? add_hole(w, SHAPE_NUMBER) : keep_word(w);
}

/* "name" : and its value. */
static bool walk_member(struct walk *w, unsigned depth)
{
	const size_t path_bytes = w->path_bytes;
	size_t n;
	bool good;

	if (next(w) != '"' || !keep(w, 1))
		return false;
	n = escapes_end(sv_sub(w->text, w->at, w->text.n));
	if (escapes_in(sv_sub(w->text, w->at, n)) != ESCAPES_NONE || w->path_bytes + 1 + n > sizeof w->path)
		return false;
	if (w->path_bytes > 0)
		w->path[w->path_bytes++] = '.';
	if (n > 0)
		memcpy(w->path + w->path_bytes, w->text.p + w->at, n);
	w->path_bytes += n;
	good = keep(w, n) && keep_sign(w, '"') && keep_sign(w, ':') && walk_value(w, depth) && keep_blanks(w);
	w->path_bytes = path_bytes;
	return good;
}

static bool walk_object(struct walk *w, unsigned depth)
{
	if (depth > DEPTH_MAX || !keep_sign(w, '{'))
		return false;
	if (next(w) == '}')
		return keep(w, 1);
	do {
		if (!walk_member(w, depth))
			return false;
	} while (keep_sign(w, ','));
	return next(w) == '}' && keep(w, 1);
}

/* ---- names ---- */

static struct sv name_of(const struct shape *s, const struct shape_names *names, size_t i)
{
	return i < s->hole_count ? names->holes[i] : names->words[i - s->hole_count].name;
}

static bool has_twins(const struct shape *s, const struct shape_names *names)
{
	for (size_t i = 0; i < s->hole_count + names->word_count; i++)
		for (size_t k = 0; k < i; k++)
			if (sv_eq(name_of(s, names, i), name_of(s, names, k)))
				return true;
	return false;
}

bool shape_make(struct shape *s, struct sv text, struct shape_names *names, struct arena *a)
{
	struct walk w = { .text = text, .shape = s, .names = names, .arena = a };

	*s = (struct shape){ .byte_count = 0 };
	names->word_count = 0;
	if (!walk_object(&w, 0) || w.at != w.text.n || s->hole_count == 0 || has_twins(s, names))
		return false;
	s->behind = s->byte_count - w.shape_from;
	return true;
}

size_t shape_count_named(const struct shape *s, const struct shape_names *names, struct sv name, size_t *hole)
{
	size_t n = 0;

	for (size_t i = 0; i < s->hole_count; i++) {
		if (!sv_eq(names->holes[i], name))
			continue;
		*hole = i;
		n++;
	}
	for (size_t i = 0; i < names->word_count; i++)
		n += !names->words[i].is_null && sv_eq(names->words[i].name, name) ? 2 : 0;
	return n;
}
