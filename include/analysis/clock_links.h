/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_LINKS_H
#define AFTERSHOCK_ANALYSIS_CLOCK_LINKS_H

/*
 * The links between clocks: pairs of events on two hosts of which one happened
 * before the other, because the one is a request and the other its arrival, or
 * the one an answer and the other its arrival (method.md 2). For clock.c alone.
 */

#include "store/query.h"

struct link_end {
	const struct event *event;
	int64_t later_us;	/* than the event's time: 0, or where it ends */
	const char *role;
	size_t host, input;	/* index into the hosts and inputs given to clock_links_find */
};

struct event_link {
	struct link_end before, after;
};

struct event_links {
	struct event_link *items;
	size_t count;
	size_t capacity;
	/*
	 * Per input the step in which it writes times: 1 s, 1 ms or 1 us; 0 when none of its
	 * lines could be part of a link. An event may have happened up to one step later than written.
	 */
	int64_t *step_us;
};

struct link_sources {
	const struct sv *hosts;	/* sorted by name, an absent one first */
	size_t host_count;
	const struct input_info *inputs; /* by id */
	size_t input_count;
};

/* The place of a host, or of an input, among those given; false when it is none of them. */
bool clock_links_host(const struct link_sources *from, struct sv host, size_t *out);
bool clock_links_input(const struct link_sources *from, int64_t input, size_t *out);

/* From what logs say. 0 or -1. */
int clock_links_find(struct store *s, const struct link_sources *from, struct arena *a, struct event_links *out);

#endif
