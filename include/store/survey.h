/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_SURVEY_H
#define AFTERSHOCK_STORE_SURVEY_H

/*
 * One walk over all events before the first question is answered: in which
 * order those of each type come, and how many each host has. It takes the place
 * of an index in the file, whose making cost half as much as all rows, and 16
 * bytes of memory an event.
 *
 * The events are those that were there at the walk, or that this program has
 * put since: one analysis sees one set of them, whatever else is written.
 */

#include "store/query.h"

struct survey_event {
	int64_t time_us;
	int64_t id;
};

/* By time, then id. */
static inline bool survey_is_before(const struct survey_event *a, const struct survey_event *b)
{
	return a->time_us != b->time_us ? a->time_us < b->time_us : a->id < b->id;
}

/* Of one type, in that order. */
struct survey_type {
	struct survey_event *events;
	size_t count, capacity;
	const struct event **loaded;	/* for each of them (store/shelf.h), NULL when its row has gone; NULL until loaded */
};

struct survey {
	struct arena *arena;	/* holds it all */
	unsigned users;
	struct survey_type types[EVENT_COUNT];
	struct host_count *hosts;	/* by host (absent first), then the type's name */
	size_t host_count;
};

/* That of the store, made when there is none. To be released. NULL on failure, recorded. */
struct survey *survey_use(struct store *s);
/* Accepts NULL. */
void survey_release(struct survey *v);
/* Events have been added: the next that is used is another. */
void survey_forget(struct store *s);

#endif
