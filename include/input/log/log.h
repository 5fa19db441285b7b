/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_H
#define AFTERSHOCK_INPUT_LOG_H

/*
 * Who speaks on each thread of a log: some messages of a client do not name
 * it, and a consumer is bound to its thread. What a thread's messages name in
 * two ways (two consumers on one thread) is not known. A client that is named
 * nowhere but in its member id is named by that.
 */

#include "base/arena.h"
#include "model/event.h"

/* Threads beyond these are not followed: a pool that names each thread anew would grow without end. */
#define SPEAKER_THREADS_MAX 256

struct speaker;
struct speakers {
	struct arena *arena;	/* of the input */
	struct speaker *items;
	size_t count, capacity;
	uint16_t *slots;	/* their numbers, by the thread; NULL before the first */
};

/* Remembers the group, client and instance that an event of the thread names. */
void speakers_learn(struct speakers *s, struct sv thread, const struct event *e);
/* Sets those of them that the event lacks and the thread has named in one way alone. */
void speakers_tell(const struct speakers *s, struct sv thread, struct event *e);

#endif
