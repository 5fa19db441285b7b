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

#include "base/arena.h"
#include "base/sv.h"
#include "input/log/again.h"
#include "input/rules/head.h"

#define SHAPES_MAX 64

struct object_shape;
struct object_shapes {
	const struct rules *rules;
	const struct head_none *none;
	struct arena *arena;
	struct may_begin {	/* the layouts of lines that a text may fit which begins with a byte */
		bool known;
		size_t *layouts;
		size_t count, capacity;
	} may_begin[256];
	bool any;		/* no layout of lines of text fits an object */
	struct object_shape *items[SHAPES_MAX];	/* the one that fitted last is first */
	size_t count;
};
/* none: of these rules. */
void object_shapes_init(struct object_shapes *s, const struct rules *r, const struct head_none *none, struct arena *a);
void object_shapes_fini(struct object_shapes *s);

/* What an object is by its shape. */
struct object_seen {
	int layout;
	struct again *time;	/* what the last read left of it: parts */
	int64_t us;		/* without a zone as if it were UTC */
	struct sv body;		/* its message, with its escapes */
};
/* False when no shape fits, or its time is none that lacks nothing. */
bool object_seen(struct object_shapes *s, struct sv text, struct object_seen *out);
/* An object that has no wrapper and fitted none. */
void object_learn(struct object_shapes *s, struct sv text, struct zone z);
/* Whether a message, as it is said, is no record of a layout itself. False when it is empty. */
bool object_holds_none(struct object_shapes *s, struct sv message);

#endif
