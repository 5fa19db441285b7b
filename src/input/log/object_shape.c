/* SPDX-License-Identifier: MIT */
/* See input/log/object_shape.h. */

#include "input/log/object_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/log/shape.h"
#include "input/rules/rules_set.h"

struct object_shape {
	struct shape shape;
	int layout;
	size_t time_hole, body_hole;
	struct again time;
};

/* ---- an object by its shape ---- */

/* The shape that fits, and the values. NULL when there is none. */
static struct object_shape *shape_of(struct object_shapes *s, struct sv text, struct sv *values)
{
	for (size_t i = 0; i < s->count; i++) {
		struct object_shape *shape = s->items[i];

		if (!shape_fits(&shape->shape, text, values))
			continue;
		memmove(s->items + 1, s->items, i * sizeof *s->items);
		s->items[0] = shape;
		return shape;
	}
	return NULL;
}

bool object_seen(struct object_shapes *s, struct sv text, struct object_seen *out)
{
	struct sv values[SHAPE_HOLES_MAX];
	struct object_shape *shape = shape_of(s, text, values);

	if (shape == NULL || shape->layout < 0)
		return false;
	out->layout = shape->layout;
	out->time = &shape->time;
	out->body = values[shape->body_hole];
	return again_read(&shape->time, values[shape->time_hole], &out->us) && shape->time.parts.lacks == TSTAMP_LACKS_NOTHING;
}

/* ---- a shape from an object ---- */

/* The hole of a part: by its best name that is there. False when that is not one value that differs. */
static bool find_part(const struct shape *s, const struct shape_names *names, const struct layout *layout, enum layout_part part, size_t *hole)
{
	for (size_t i = 0; i < layout->key_count; i++) {
		const struct json_key *key = &layout->keys[i];

		for (size_t k = 0; !key->is_field && key->part == part && k < key->name_count; k++) {
			const size_t n = shape_count_named(s, names, key->names[k], hole);

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

/* Where the parts are of a layout that fits. A second part of the time, and no time, are for those who have the record. */
static bool take_layout(struct object_shape *s, const struct shape_names *names, const struct layout *layout)
{
	const struct shape_hole *holes = s->shape.holes;

	if (layout->key_count == 0 || has_part(layout, PART_NANOS) || !find_part(&s->shape, names, layout, PART_TIME, &s->time_hole) ||
	    !find_part(&s->shape, names, layout, PART_BODY, &s->body_hole))
		return false;
	return holes[s->body_hole].kind == SHAPE_TEXT && holes[s->time_hole].kind != SHAPE_ARRAY && again_init(&s->time, layout->time);
}

static bool make(const struct object_shapes *s, struct object_shape *shape, struct sv text, struct arena *a)
{
	struct shape_names names;
	struct log_record record;
	size_t at;

	*shape = (struct object_shape){ .layout = -1 };
	/* Whether that is a wrapper depends on a value (wrap_json.c). */
	if (sv_find(text, SV("\"_raw\""), &at) || !shape_make(&shape->shape, text, &names, a))
		return false;
	if (!rules_layout(s->rules, text, (struct zone){ 0 }, &shape->layout, a, &record)) {
		shape->layout = -1;
		return true;
	}
	return take_layout(shape, &names, s->rules->layouts[shape->layout]);
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
	struct sv values[SHAPE_HOLES_MAX];

	if (shape_of(s, text, values) == NULL)
		(void)add(s, text);
}

bool object_fits_none(struct object_shapes *s, struct sv text)
{
	struct sv values[SHAPE_HOLES_MAX];
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
