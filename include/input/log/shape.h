/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SHAPE_H
#define AFTERSHOCK_INPUT_LOG_SHAPE_H

/*
 * Objects of JSON of one program differ in the values of their members alone: an
 * object is a shape for others with the same bytes between their values. These
 * are found without reading them as JSON; what only a reader of JSON knows to
 * read fits no shape. Words (true, false, null) do not differ.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#define SHAPE_HOLES_MAX 48
#define SHAPE_BYTES_MAX 2048

/* A value that differs from object to object. */
enum shape_kind {
	SHAPE_NUMBER,
	SHAPE_TEXT,	/* between quotes, which are not of it */
	SHAPE_ARRAY,
};

struct shape {
	char bytes[SHAPE_BYTES_MAX];	/* all that does not differ */
	size_t byte_count;
	struct shape_hole {
		enum shape_kind kind;
		/*
		 * What stands in a text is looked at by whoever asks, who takes nothing that JSON
		 * has not, nor a quote: here only its end is.
		 */
		bool is_read;
		size_t last_bytes;	/* of its value in the object that fitted last */
		size_t before;		/* so many bytes of the shape stand before it, behind the hole before */
	} holes[SHAPE_HOLES_MAX];
	size_t hole_count;
	size_t behind;		/* bytes behind the last */
	/* Of a shape that is asked for again (shape_fits_again): */
	size_t long_hole;	/* a text that is read: it has what the others leave */
	bool has_last;
	size_t last_others;	/* bytes of the object that fitted last, but for those of the long hole */
};

/* Of an object's members, by their paths: names with dots between them. */
struct shape_names {
	struct sv holes[SHAPE_HOLES_MAX];
	struct shape_word {		/* that do not differ */
		struct sv name;
		bool is_null;
	} words[SHAPE_HOLES_MAX];
	size_t word_count;
};

/* False when the object makes no shape, as where two members have one name: which of them counts, is for those who read JSON. */
bool shape_make(struct shape *s, struct sv text, struct shape_names *names, struct arena *a);
/* Whether the text is such an object, and its values. */
bool shape_fits(const struct shape *s, struct sv text, struct sv values[SHAPE_HOLES_MAX]);
/*
 * The same, where most objects have values as long as those of the one before but
 * for the long hole: then no end is looked for. What it says is certain once all
 * values that are read are good.
 */
bool shape_fits_again(struct shape *s, struct sv text, struct sv values[SHAPE_HOLES_MAX]);
/* How many members have that path and are not null, and the hole of one of them. A word counts twice: it has none. */
size_t shape_count_named(const struct shape *s, const struct shape_names *names, struct sv name, size_t *hole);

#endif
