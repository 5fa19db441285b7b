/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_SHELF_H
#define AFTERSHOCK_STORE_SHELF_H

/*
 * Events that were loaded, each once, whoever asks for it again: several steps
 * of the analysis read the same lines. They are compact (model/event.h), and of
 * equal texts the bytes are there once, but for the lines themselves, of which
 * hardly two are equal.
 */

#include "base/arena.h"
#include "base/texts.h"
#include "model/event.h"

struct shelf {
	struct arena *arena;	/* holds the events and their texts */
	struct arena *scratch;	/* holds the shelf itself, and the table of texts */
	struct texts texts;
};

/* The events live as long as the arena; NULL: as long as the shelf. */
struct shelf *shelf_new(struct arena *a);
/* Accepts NULL. */
void shelf_free(struct shelf *s);

/* A copy of the event and its texts. */
const struct event *shelf_put(struct shelf *s, const struct event *e);

#endif
