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

/*
 * The same, as an array whose texts are copied to the arena: for the types of
 * which there are few. Equal texts share their bytes.
 */
int query_load(struct store *s, const enum event_type *types, size_t n, struct arena *a, struct event **events,
	       size_t *count);

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
