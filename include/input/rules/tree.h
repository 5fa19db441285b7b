/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_TREE_H
#define AFTERSHOCK_INPUT_RULES_TREE_H

/*
 * A pattern taken apart, for what is to be known of it without running it: the
 * bytes that it begins with, literals that all it matches contain, and whether a
 * part of it is plain enough to be walked by hand. Only what rules files use is
 * understood; of any other pattern nothing is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

enum tree_kind {
	TREE_SET,	/* one byte out of a set */
	TREE_SEQUENCE,
	TREE_EITHER,	/* one of its children */
	TREE_START,	/* ^ */
	TREE_END,	/* $ */
	TREE_ASSERTION,	/* consumes nothing: \b, (?=...) */
};

#define TREE_NO_END UINT32_MAX

struct tree {
	enum tree_kind kind;
	uint32_t least, most;	/* how often in a row; TREE_NO_END: any number */
	bool lazy;
	uint64_t set[4];	/* of TREE_SET: a bit for each byte */
	struct sv name;		/* of a named group */
	struct tree *child, *next;
};

/* NULL when it is beyond this. */
struct tree *tree_of(struct sv pattern, struct arena *a);

static inline bool tree_has(const struct tree *t, unsigned char c)
{
	return (t->set[c / 64] >> (c % 64) & 1) != 0;
}

/* Exactly once. */
static inline bool tree_is_once(const struct tree *t)
{
	return t->least == 1 && t->most == 1;
}

/* The one byte of a set; -1 when it has more or none. */
int tree_only_byte(const struct tree *t);

/* Sets a bit for each byte with which a match can begin. False when it can match an empty text there. */
bool tree_first(const struct tree *t, uint64_t first[4]);

/*
 * Literals of which any match contains at least one: the best set that was
 * found, that is the one whose shortest is longest.
 */
#define COVER_MAX 48
struct cover {
	struct sv literals[COVER_MAX];
	size_t count;	/* 0: none is known */
};
void tree_cover(const struct tree *t, struct arena *a, struct cover *out);
/* The length of its shortest; 0 when there is none. */
size_t cover_least(const struct cover *c);
/* Whether one of them stands in the text, or none is known. */
bool cover_may_match(const struct cover *c, struct sv text);

#endif
