/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_INNER_H
#define AFTERSHOCK_INPUT_LOG_INNER_H

/*
 * What stands inside the wrapper of a line: whether it is a record, certainly, of
 * what time, and whether a rule may know it. Lines of text are looked at as in
 * plain logs (scan_line.h), objects by their shape (object_shape.h). "Doubtful"
 * is always a right answer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/log/scan_line.h"

struct inner;
/* For a log that begins so: of what is inside its wrappers. NULL when that would be of no use. */
struct scan_plan *inner_plan(const struct rules *r, struct zone z, struct sv head, struct arena *a);
/* plan: of inner_plan. sample: what the lines are like. */
struct inner *inner_new(const struct rules *r, const struct scan_plan *plan, struct sv sample, struct arena *a);
void inner_free(struct inner *w);

/* A text of a line, and what it is. */
struct inner_seen {
	enum scan_line_sort sort;
	int layout;		/* of a record that is counted: */
	int64_t us;		/* its time; without a zone as if it were UTC */
	bool zoned;
	bool whole;		/* no line goes on with it */
	bool known;		/* to a rule that says nothing */
	struct sv near;		/* the message, when none does and it speaks of consumer groups */
};

/*
 * The text stands in some bytes, in which that was found; is_escaped: as a text of
 * JSON, which may have colours in it yet. What was found in it, and before, is passed.
 */
void inner_look(struct inner *w, const struct scan *found, struct scan_found *f, const char *bytes, struct sv text, bool is_escaped,
		struct inner_seen *out);
/* A text, as it is said, that no layer more is around: others may be like it. */
void inner_learn(struct inner *w, struct sv text);

#endif
