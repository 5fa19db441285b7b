/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_FACTS_H
#define AFTERSHOCK_STORE_FACTS_H

/*
 * What is known of an event beyond the columns of its row, as JSON: an object
 * of one level, without blanks, texts and whole numbers alone.
 *
 *	{"host":"broker-1","strength":"proves","unit":"line","group":"refunds","generation":17}
 *
 * A column for each of some seventy fields, of which an event has five, cost
 * more than all else in storing it. SQLite's json_extract reads this, and so
 * view event has those columns; analysis reads it here.
 *
 * Bytes of texts stand as they are, UTF-8 or not, but for " \ and those below
 * blank, which are written \" \\ \u00xx.
 */

#include "base/buf.h"
#include "model/event.h"
#include "store/names.h"

/* Where in the object the fields begin: what stands before is of the event itself. */
struct facts_written {
	size_t n;
	size_t fields;
};

/* Adds the facts of e to b. */
struct facts_written facts_write(struct buf *b, const struct event *e);

/* The names that may stand there. */
void facts_names(struct names *n);
/*
 * Into an event whose type is set. Texts are views of facts, or stand in arena
 * where they had to be unescaped. Names that this program has not are passed
 * over. False when it is not as facts_write writes it: the database is damaged.
 */
bool facts_read(struct sv facts, const struct names *names, struct arena *arena, struct event *e);
/* The host alone, absent when it is not known. */
bool facts_read_host(struct sv facts, struct arena *arena, struct sv *host);

#endif
