/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_BATCH_H
#define AFTERSHOCK_STORE_BATCH_H

/*
 * Events on their way into the database, some thousands at a time: the bytes of
 * an event are its maker's, and a statement for each would cost twice as much.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "model/event.h"
#include "store/repeat.h"

#define BATCH_EVENTS 4096
#define BATCH_BYTES (1024 * 1024)	/* of text and facts; the last event may go beyond */

struct batch_event {
	enum event_type type;
	struct host_time time;
	struct place place;
	size_t at;		/* in the batch's bytes: the facts, then the text */
	size_t facts_n, text_n;
	bool has_text;
	bool is_left_out;	/* it is not written: one of a log that is there already, or of a flood */
	struct likeness likeness;
	uint64_t host_bit;	/* of those with a likeness: a digest of the host, one bit of 64 */
};

struct batch {
	struct buf bytes;
	size_t count;
	struct batch_event events[BATCH_EVENTS];
};

struct batch *batch_new(struct arena *a);
/* Gives back the bytes. Accepts NULL. */
void batch_fini(struct batch *b);
/* Copies the event. There must be room (batch_is_full). */
void batch_add(struct batch *b, const struct event *e);
bool batch_is_full(const struct batch *b);
void batch_clear(struct batch *b);

struct sv batch_facts(const struct batch *b, const struct batch_event *e);
/* Absent where the event has none. */
struct sv batch_text(const struct batch *b, const struct batch_event *e);

#endif
