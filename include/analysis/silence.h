/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_SILENCE_H
#define AFTERSHOCK_ANALYSIS_SILENCE_H

/*
 * Silences on the paths between consumers and their coordinator: what the
 * session timeout is measured against (method.md 9). The unit is the episode,
 * not the heartbeat.
 */

#include "analysis/rebalance.h"

/*
 * One silence. Where a capture shows what the coordinator heard of the member it lies between two requests that restarted
 * its session timer (heard_gap_ms). Else the coordinator heard the member last up to one heartbeat
 * interval before the silence began (the data that was accepted last need not
 * have been a heartbeat), so what it counts lies between ms and ms + H; ms is
 * taken, and where the member was evicted at least the session timeout then in force.
 */
struct silence {
	const struct window *window;	/* NULL for an eviction that no capture shows: it lasted at least ms */
	int64_t ms;
	bool censored;
	bool has_outage;
	int64_t outage_ms;	/* the part in which the path was gone; the rest is TCP's backoff */
	bool evicted;
};

/* A member that was alive, removed because of a silence. */
struct eviction {
	const struct rebalance *root;
	size_t silence;		/* place in items */
};

struct silence_list {
	struct silence *items;	/* by start of the window, those without one last */
	size_t count;
	size_t capacity;
	struct eviction *evictions;	/* in the order of rebalances */
	size_t eviction_count;
	size_t eviction_capacity;
};

/*
 * From windows that a capture showed on the group's members' paths, one for
 * each path and time even where two hosts captured it; and from evictions of
 * living members by the network that no such window shows, as censored.
 */
void silences_find(const struct group *g, const struct windows *w, const struct rebalances *r, struct arena *a,
		   struct silence_list *out);

/* Whether it is a root of this group by session timeout that is laid to the network. */
bool rebalance_is_network_eviction(const struct rebalance *r, const struct group *g);

#endif
