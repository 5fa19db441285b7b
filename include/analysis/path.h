/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_PATH_H
#define AFTERSHOCK_ANALYSIS_PATH_H

/*
 * Paths: who called whom, as seen from one host. The caller's ports come and
 * go with its connections, so a path is host, caller's address and called
 * address. Each path is one object, numbered as it is first met.
 */

#include <stddef.h>

#include "base/arena.h"
#include "base/sv.h"

struct path {
	size_t index;
	struct sv host;	  /* on which it was seen; absent when not known */
	struct sv a;	  /* address of the caller */
	struct sv b;	  /* address called */
	struct sv called; /* the same with the port, as first met */
};

struct paths {
	struct arena *arena;
	struct path **items; /* by index */
	size_t count, capacity;
	struct path **slots; /* hashed */
	size_t slot_count;
};

/* The path of an event's path_a and path_b, with or without ports. */
const struct path *paths_get(struct paths *p, struct sv host, struct sv path_a, struct sv path_b);
/* "10.0.0.1:9092" and "[fe80::1]:9092" without their port; what has none stays. */
struct sv path_address(struct sv endpoint);

#endif
