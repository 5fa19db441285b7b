/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_ENVELOPE_H
#define AFTERSHOCK_INPUT_LOG_ENVELOPE_H

/*
 * Wrappers that are objects of JSON, a line each (wrap_json.c): which wrapper it
 * is, and which members say what, depends on the names of members and on which
 * are null alone. So an object of a known shape (shape.h) goes the way of the one
 * before it when its writer is named by the same values; its text, time and id
 * are where they were. A line that unwrap.h has taken apart with care is an
 * envelope for others, as it is a mould where its wrapper is no object.
 */

#include "input/log/mould.h"

#define ENVELOPES_MAX 32
/* Of one shape; the writer that was silent longest makes room. */
#define ENVELOPE_WAYS_MAX UNWRAP_WRITERS_MAX

struct envelope;
struct envelopes {
	struct envelope *items[ENVELOPES_MAX];	/* the one that fitted last is first */
	size_t count;
};
void envelopes_fini(struct envelopes *e);

/* False when none fits. Whether the text is one that JSON has is for whoever reads it (escapes.h): if not, the line is no object. */
bool envelope_fits(struct envelopes *e, struct sv line, struct moulded *out);
/* The line went that way and fitted none, or one whose writer has lost its place. */
void envelope_learn(struct envelopes *e, struct sv line, const struct unwrap_way *way);

#endif
