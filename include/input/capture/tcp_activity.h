/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_ACTIVITY_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_ACTIVITY_H

/*
 * The connections in order of their latest activity, so that the one to give
 * up, and those that were active since a hole, are found at once. The links
 * stand in an array of their own: every segment changes three of them, and
 * those of other connections would each be a wait for memory.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct tcp_conn;

/*
 * Connections go by the number that they were given once. The link of number 0
 * closes the ring: before the oldest, behind the newest.
 */
struct tcp_activity {
	struct arena *arena;
	struct tcp_link {
		struct tcp_conn *conn;
		uint32_t older, newer;
	} *link;
	size_t count, capacity;
	uint32_t hole_at;	/* the newest before the latest hole; 0: none, or all are newer */
};

void tcp_activity_init(struct tcp_activity *t, struct arena *a);
/* A number for a connection that has none yet. */
uint32_t tcp_activity_number(struct tcp_activity *t, struct tcp_conn *c);
/* All that are there now are from before the hole. */
static inline void tcp_activity_hole(struct tcp_activity *t)
{
	t->hole_at = t->link[0].older;
}

/* NULL at the end. */
static inline struct tcp_conn *tcp_activity_oldest(const struct tcp_activity *t)
{
	return t->link[t->link[0].newer].conn;
}

/* The first that was active after the latest hole, then, from each, the one active after it. */
static inline struct tcp_conn *tcp_activity_since_hole(const struct tcp_activity *t)
{
	return t->link[t->link[t->hole_at].newer].conn;
}

static inline struct tcp_conn *tcp_activity_next(const struct tcp_activity *t, uint32_t number)
{
	return t->link[t->link[number].newer].conn;
}

static inline void tcp_activity_add(struct tcp_activity *t, uint32_t number)
{
	uint32_t newest = t->link[0].older;

	t->link[number].older = newest;
	t->link[number].newer = 0;
	t->link[newest].newer = number;
	t->link[0].older = number;
}

static inline void tcp_activity_remove(struct tcp_activity *t, uint32_t number)
{
	const struct tcp_link *l = &t->link[number];

	if (t->hole_at == number)
		t->hole_at = l->older;
	t->link[l->older].newer = l->newer;
	t->link[l->newer].older = l->older;
}

/* It is active, and so becomes the newest. */
static inline void tcp_activity_touch(struct tcp_activity *t, uint32_t number)
{
	if (t->link[0].older == number && t->hole_at != number)
		return;
	tcp_activity_remove(t, number);
	tcp_activity_add(t, number);
}

#endif
