/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_QUERY_H
#define AFTERSHOCK_STORE_QUERY_H

/*
 * What analysis asks of the store. Iterators give 1 (an item), 0 (the end),
 * -1 (failure, recorded). Every order is total: ties are broken by id.
 */

#include "model/event.h"
#include "model/input_info.h"
#include "store/store.h"

/* All inputs, by id, texts copied to arena. */
int query_inputs(struct store *s, struct arena *a, struct input_info **inputs, size_t *count);
/* The problems of earlier runs into diag (those of inputs that were there when the store was opened, in order). */
int query_problems(struct store *s, struct diag *d);

struct query;

/* The events of these types (n of them; n == 0: all) in the order of (time, id). NULL on failure, which query_next tells. */
struct query *query_events(struct store *s, const enum event_type *types, size_t n);
/* Views in *e live until the next call. Of NULL it gives -1. */
int query_next(struct query *q, struct event *e);
void query_free(struct query *q);
/* A copy of the event at hand that lives as those of query_load do: for those who look at a few of them more than once. */
const struct event *query_shelve(struct query *q, const struct event *e);

/*
 * The events of query_events as an array in the arena, for those who look at
 * them more than once. They are compact (model/event.h) and the same ones for all
 * who load them: they live until the store is closed, or as long as the arena of
 * query_load_into.
 */
int query_load(struct store *s, const enum event_type *types, size_t n, struct arena *a, const struct event ***events,
	       size_t *count);
/* The events live as long as the arena. None must have been loaded yet. */
void query_load_into(struct store *s, struct arena *a);

/* One event by its id, texts copied to arena. 1, 0 when there is none, -1. */
int query_event(struct store *s, int64_t id, struct arena *a, struct event *e);

/* How many events of each type each host has, by host (absent first), then type. */
struct host_count {
	struct sv host;
	enum event_type type;
	uint64_t events;
};
int query_host_counts(struct store *s, struct arena *a, struct host_count **counts, size_t *n);

#endif
