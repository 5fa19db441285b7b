/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_HEAD_H
#define AFTERSHOCK_INPUT_RULES_HEAD_H

/*
 * What is known of the lines of a set of rules without running its patterns:
 * whether a line certainly fits one layout, where its message begins, and
 * whether it certainly fits none. "Not certain" is always a right answer.
 *
 * A layout is walked from left to right without going back into what was
 * passed; what is in time's place is compared with the shape of a line that is
 * known: where that has a digit, a digit.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"
#include "input/rules/rules.h"

/* More of a line's start than any time takes. */
#define HEAD_SHAPE_MAX 48

struct head_step;

struct head {
	int layout;		/* its hint, as for rules_layout */
	struct sv time_layout;	/* as for tstamp_read */
	size_t time_at, time_bytes;	/* where the time stands in the line */
	size_t shape_bytes;	/* of what is compared: to the end of the time, or a byte beyond */
	char shape[HEAD_SHAPE_MAX + 8];	/* '0' stands for any digit */
	const struct head_step *steps;	/* behind it */
	bool body_to_end;	/* the message goes to the end of the line */
	size_t between_bytes;	/* in that line, between the time and the message */
	/* Every message stands right behind these two; both '\0' when that is not so. */
	char before_body[2];
	bool has_parts;		/* head_parts is of use */
	bool has_level;		/* lines may have one */
	bool is_first;		/* no layout before it can fit a line that it fits */
};

/* What is wanted of a line to make events of it. */
struct head_parts {
	struct sv thread;	/* absent when the layout has none */
	struct sv body;
};

/*
 * The head of lines that begin like this one, which the layout fits. NULL when
 * there is none: the layout's pattern is not plain enough, or its time has not
 * always the same length.
 */
struct head *head_of(const struct rules *r, struct sv line, struct arena *a);

/*
 * For a line that has the shape: whether the layout certainly fits, and then
 * where its message begins.
 */
bool head_fits(const struct head *h, const char *line, const char *end, const char **body);
/* The same, and then the parts that its pattern would find. False too when that is not certain. */
bool head_parts(const struct head *h, const char *line, const char *end, struct head_parts *out);

/* Whether no line that begins with one of the bytes fits the layout (a hint of rules_layout). False when in doubt. */
bool head_excludes(const struct rules *r, int layout, struct sv first_bytes, struct arena *a);

/* How the lines of the layouts begin, and what stands in them. */
struct head_none;
struct head_none *head_none_new(const struct rules *r, struct arena *a);
/* Whether a line, which is not empty, certainly fits no layout. */
bool head_is_none(const struct head_none *n, struct sv line);

/*
 * Literals of which each message that any rule knows contains at least one, in
 * the order of the rules. False when one rule has none.
 */
struct head_literal {
	struct sv text;
	uint32_t rule;		/* whose it is: its number, as for rules_events_among */
};
bool head_literals(const struct rules *r, struct arena *a, struct head_literal **literals, size_t *count);

#endif
