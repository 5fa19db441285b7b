/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_TEXTS_H
#define AFTERSHOCK_BASE_TEXTS_H

/* Texts of which many are equal, each kept once: hosts, steps, topics of millions of events. */

#include "base/arena.h"

/* A set, by open addressing; at most half full. */
struct texts {
	struct arena *arena;	/* the texts' */
	struct arena *scratch;	/* the slots' */
	struct sv *slots;
	size_t size;		/* a power of two, or 0 */
	size_t count;
};

/* The texts live as long as arena; scratch is of use while texts are added. They may be one. */
void texts_init(struct texts *t, struct arena *arena, struct arena *scratch);
/* The same text, in the arena. Absent stays absent. */
struct sv texts_keep(struct texts *t, struct sv text);

#endif
