/* SPDX-License-Identifier: MIT */
/* See input/log/object_shape.h. */

#include "input/log/object_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "input/log/escapes.h"
#include "input/rules/rules_set.h"

#define HOLES_MAX 48
#define SHAPE_BYTES_MAX 2048
#define PATH_BYTES_MAX 256
#define DEPTH_MAX 8
/* What has more is read in another way (json.c). */
#define NUMBER_DIGITS_MAX 18

/* A value that differs from object to object. */
enum hole_kind {
	HOLE_NUMBER,
	HOLE_TEXT,	/* between quotes, which are not of it */
	HOLE_ARRAY,
};

struct hole {
	enum hole_kind kind;
	size_t before;		/* so many bytes of the shape stand before it, behind the hole before */
};

struct object_shape {
	char bytes[SHAPE_BYTES_MAX];	/* all that does not differ */
	size_t byte_count;
	struct hole holes[HOLES_MAX];
	size_t hole_count;
	size_t behind;		/* bytes behind the last */
	int layout;
	size_t time_hole, body_hole;
	struct again time;
};

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
static bool text_end(struct sv text, size_t *end)
{
	enum escapes escapes;

	*end = escapes_end(text);
	if (*end == text.n)
		return false;
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
		if (!text_end(sv_sub(text, 1, text.n), end))
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

static bool value_end(const struct hole *h, struct sv text, size_t *end)
{
	switch (h->kind) {
	case HOLE_TEXT:
		return text_end(text, end);
	case HOLE_ARRAY:
		return array_end(text, end);
	case HOLE_NUMBER:
		break;
	}
	*end = number_end(text);
	return *end > 0;
}

/* ---- an object by its shape ---- */

/* Its values. */
static bool fits(const struct object_shape *s, struct sv text, struct sv *values)
{
	const char *own = s->bytes;
	size_t at = 0, n;

	for (size_t i = 0; i < s->hole_count; i++) {
		const struct hole *h = &s->holes[i];

		if (text.n - at < h->before || memcmp(text.p + at, own, h->before) != 0)
			return false;
		at += h->before;
		own += h->before;
		if (!value_end(h, sv_sub(text, at, text.n), &n))
			return false;
		values[i] = (struct sv){ text.p + at, n };
		at += n;
	}
	return text.n - at == s->behind && memcmp(text.p + at, own, s->behind) == 0;
}

/* The shape that fits, and the values. NULL when there is none. */
static struct object_shape *shape_of(struct object_shapes *s, struct sv text, struct sv *values)
{
	for (size_t i = 0; i < s->count; i++) {
		struct object_shape *shape = s->items[i];

		if (!fits(shape, text, values))
			continue;
		memmove(s->items + 1, s->items, i * sizeof *s->items);
		s->items[0] = shape;
		return shape;
	}
	return NULL;
}

bool object_seen(struct object_shapes *s, struct sv text, struct object_seen *out)
{
	struct sv values[HOLES_MAX];
	struct object_shape *shape = shape_of(s, text, values);

	if (shape == NULL || shape->layout < 0)
		return false;
	out->layout = shape->layout;
	out->time = &shape->time;
	out->body = values[shape->body_hole];
	return again_read(&shape->time, values[shape->time_hole], &out->us) && shape->time.parts.lacks == TSTAMP_LACKS_NOTHING;
}

/* ---- a shape from an object ---- */

/* What is known of an object while it is walked through. */
struct walk {
	struct sv text;
	size_t at;
	struct object_shape *shape;
	size_t shape_from;	/* bytes of the shape before it belong to holes */
	struct sv names[HOLES_MAX];	/* of the holes: paths */
	struct other {		/* members that do not differ */
		struct sv name;
		bool is_null;
	} others[HOLES_MAX];
	size_t other_count;
	char path[PATH_BYTES_MAX];
	size_t path_bytes;
	struct arena *arena;
};

static bool keep(struct walk *w, size_t n)
{
	struct object_shape *s = w->shape;

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

static bool add_hole(struct walk *w, enum hole_kind kind)
{
	struct object_shape *s = w->shape;
	struct hole h = { .kind = kind, .before = s->byte_count - w->shape_from };
	size_t n;

	if (s->hole_count == HOLES_MAX || !value_end(&h, sv_sub(w->text, w->at, w->text.n), &n))
		return false;
	w->names[s->hole_count] = arena_copy(w->arena, (struct sv){ w->path, w->path_bytes });
	s->holes[s->hole_count++] = h;
	w->shape_from = s->byte_count;
	w->at += n;
	return true;
}

static bool keep_word(struct walk *w)
{
	const size_t n = word_end(sv_sub(w->text, w->at, w->text.n));

	if (n == 0 || w->other_count == HOLES_MAX)
		return false;
	w->others[w->other_count++] = (struct other){ arena_copy(w->arena, (struct sv){ w->path, w->path_bytes }), next(w) == 'n' };
	return keep(w, n);
}

static bool walk_object(struct walk *w, unsigned depth);

static bool walk_value(struct walk *w, unsigned depth)
{
	const char c = next(w);

	if (c == '{')
		return walk_object(w, depth + 1);
	if (c == '"')
		return keep(w, 1) && add_hole(w, HOLE_TEXT) && keep(w, 1);
	if (c == '[')
		return add_hole(w, HOLE_ARRAY);
	return c == '-' || cursor_is_digit(c) ? add_hole(w, HOLE_NUMBER) : keep_word(w);
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
	do {
		if (!walk_member(w, depth))
			return false;
	} while (keep_sign(w, ','));
	return next(w) == '}' && keep(w, 1);
}

/* How many members have that path, and the hole of one of them. */
static size_t count_named(const struct walk *w, struct sv name, size_t *hole)
{
	size_t n = 0;

	for (size_t i = 0; i < w->shape->hole_count; i++) {
		if (!sv_eq(w->names[i], name))
			continue;
		*hole = i;
		n++;
	}
	for (size_t i = 0; i < w->other_count; i++)
		n += !w->others[i].is_null && sv_eq(w->others[i].name, name) ? 2 : 0;
	return n;
}

/* The hole of a part: by its best name that is there. False when that is not one value that differs. */
static bool find_part(const struct walk *w, const struct layout *layout, enum layout_part part, size_t *hole)
{
	for (size_t i = 0; i < layout->key_count; i++) {
		const struct json_key *key = &layout->keys[i];

		for (size_t k = 0; !key->is_field && key->part == part && k < key->name_count; k++) {
			const size_t n = count_named(w, key->names[k], hole);

			if (n > 0)
				return n == 1;
		}
	}
	return false;
}

static bool has_part(const struct layout *layout, enum layout_part part)
{
	for (size_t i = 0; i < layout->key_count; i++)
		if (!layout->keys[i].is_field && layout->keys[i].part == part)
			return true;
	return false;
}

static struct sv name_of(const struct walk *w, size_t i)
{
	return i < w->shape->hole_count ? w->names[i] : w->others[i - w->shape->hole_count].name;
}

/* Of a name that is there twice one counts: which, is for those who read JSON. */
static bool has_twins(const struct walk *w)
{
	for (size_t i = 0; i < w->shape->hole_count + w->other_count; i++)
		for (size_t k = 0; k < i; k++)
			if (sv_eq(name_of(w, i), name_of(w, k)))
				return true;
	return false;
}

static bool make_walk(struct walk *w)
{
	struct object_shape *s = w->shape;

	if (!walk_object(w, 0) || w->at != w->text.n || s->hole_count == 0 || has_twins(w))
		return false;
	s->behind = s->byte_count - w->shape_from;
	return true;
}

/* Where the parts are of a layout that fits. A second part of the time, and no time, are for those who have the record. */
static bool take_layout(const struct walk *w, const struct layout *layout)
{
	struct object_shape *s = w->shape;

	if (layout->key_count == 0 || has_part(layout, PART_NANOS) || !find_part(w, layout, PART_TIME, &s->time_hole) ||
	    !find_part(w, layout, PART_BODY, &s->body_hole))
		return false;
	return s->holes[s->body_hole].kind == HOLE_TEXT && s->holes[s->time_hole].kind != HOLE_ARRAY && again_init(&s->time, layout->time);
}

static bool make(const struct object_shapes *s, struct object_shape *shape, struct sv text, struct arena *a)
{
	struct walk w = { .text = text, .shape = shape, .arena = a };
	struct log_record record;
	size_t at;

	*shape = (struct object_shape){ .layout = -1 };
	/* Whether that is a wrapper depends on a value (wrap_json.c). */
	if (sv_find(text, SV("\"_raw\""), &at) || !make_walk(&w))
		return false;
	if (!rules_layout(s->rules, text, (struct zone){ 0 }, &shape->layout, a, &record)) {
		shape->layout = -1;
		return true;
	}
	return take_layout(&w, s->rules->layouts[shape->layout]);
}

static struct object_shape *add(struct object_shapes *s, struct sv text)
{
	struct object_shape *fresh = memory_checked(malloc(sizeof *fresh));
	struct arena *a = arena_new();
	const bool made = make(s, fresh, text, a);

	arena_free(a);
	if (!made) {
		free(fresh);
		return NULL;
	}
	if (s->count < SHAPES_MAX)
		s->count++;
	else
		free(s->items[SHAPES_MAX - 1]);
	memmove(s->items + 1, s->items, (s->count - 1) * sizeof *s->items);
	s->items[0] = fresh;
	return fresh;
}

void object_learn(struct object_shapes *s, struct sv text)
{
	struct sv values[HOLES_MAX];

	if (shape_of(s, text, values) == NULL)
		(void)add(s, text);
}

bool object_fits_none(struct object_shapes *s, struct sv text)
{
	struct sv values[HOLES_MAX];
	const struct object_shape *shape = shape_of(s, text, values);

	if (shape == NULL)
		shape = add(s, text);
	return shape != NULL && shape->layout < 0;
}

/* ---- all of them ---- */

void object_shapes_init(struct object_shapes *s, const struct rules *r)
{
	*s = (struct object_shapes){ .rules = r };
}

void object_shapes_fini(struct object_shapes *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->items[i]);
	s->count = 0;
}
