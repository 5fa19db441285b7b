/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_OBJECT_SHAPE_H
#define AFTERSHOCK_INPUT_LOG_OBJECT_SHAPE_H

/*
 * Records that are objects of JSON, a line each: those of one program differ in
 * the values of their members alone. Which layout of the rules an object fits
 * depends on the names of its members and on which are null: so another with the
 * same bytes between its values has the same layout, and its time and message
 * are found without reading it as JSON.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"
#include "input/log/again.h"
#include "input/rules/rules.h"

#define SHAPES_MAX 64

struct object_shape;
struct object_shapes {
	const struct rules *rules;
	struct object_shape *items[SHAPES_MAX];	/* the one that fitted last is first */
	size_t count;
};
void object_shapes_init(struct object_shapes *s, const struct rules *r);
void object_shapes_fini(struct object_shapes *s);

/* What an object is by its shape. */
struct object_seen {
	int layout;		/* -1: none */
	struct again *time;	/* what the last read left of it: parts */
	int64_t us;		/* without a zone as if it were UTC */
	struct sv body;		/* its message, with its escapes */
};
/*
 * False when no shape fits, or its time is none that lacks nothing. As whether a
 * message is a record by itself (line_starts.h), whether a layout of lines of text
 * fits the object is not looked at.
 */
bool object_seen(struct object_shapes *s, struct sv text, struct object_seen *out);
/* An object that has no wrapper and fitted none. */
void object_learn(struct object_shapes *s, struct sv text);
/* Whether no layout of objects fits: by the shape of one that was learnt before, or learnt for it. False when that is not certain. */
bool object_fits_none(struct object_shapes *s, struct sv text);

#endif
