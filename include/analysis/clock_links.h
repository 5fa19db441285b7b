/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_LINKS_H
#define AFTERSHOCK_ANALYSIS_CLOCK_LINKS_H

/*
 * The links between clocks: pairs of events on two hosts of which one happened
 * before the other, because the one is a request and the other its arrival, or
 * the one an answer and the other its arrival (method.md 2). For clock.c alone.
 */

#include "store/query.h"

struct event_link {
	const struct event *before, *after;
	const char *before_role, *after_role;
	size_t before_host, after_host;	/* index into the hosts given to clock_links_find */
};

struct event_links {
	struct event_link *items;
	size_t count;
	size_t capacity;
	/*
	 * Per host the step in which its logs write times: 1 s, 1 ms or 1 us.
	 * An event may have happened up to one step later than written.
	 */
	int64_t *step_us;
};

/* hosts sorted by name, an absent one first. 0 or -1. */
int clock_links_find(struct store *s, const struct sv *hosts, size_t host_count, struct arena *a,
		     struct event_links *out);

#endif
