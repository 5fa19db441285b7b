/* SPDX-License-Identifier: MIT */
/*
 * Detectors of pauses (method.md 3): the host is well, its kernel acknowledges,
 * but the process does not send what it owes. Never jitter.
 *
 * Who owes? Where a request of the caller stands unanswered, the called side
 * does; a member may wait so for the others to join, rightly. Where none does,
 * the caller owes its next heartbeat. And the process must have lived: a
 * connection that is open from end to end tells a pause from a restart.
 */

#include "analysis/detect.h"

#include <stdlib.h>

/* What is known of one path. */
struct conversation {
	const struct path *path;
	struct span *connections; /* by start; end is the latest of this one's and those before it */
	size_t connection_count, connection_capacity;
	struct span_set open;
	int64_t quiet_us;	/* of the caller, in phases that are long enough for a pause */
	struct span_set owed;	/* a request of the caller stands unanswered */
};

struct conversations {
	struct conversation *items;
	size_t capacity;
};

static struct conversation *conversation_of(const struct detect_context *ctx, struct conversations *all, const struct event *e)
{
	const struct path *path = detect_path(ctx, e);

	all->items = detect_room(ctx->arena, all->items, sizeof *all->items, path->index, &all->capacity);
	all->items[path->index].path = path;
	return &all->items[path->index];
}

static bool is_called_side(const struct event *e)
{
	return sv_eq(event_text(e, FIELD_DIRECTION), SV("ba"));
}

int64_t detect_pause_limit_us(const struct detect_context *ctx)
{
	return (ctx->heartbeat_ms + detect_threshold(THRESHOLD_PAUSE_BEYOND_HEARTBEAT_MS)) * US_PER_MS;
}

static int64_t server_limit_us(const struct detect_context *ctx)
{
	return (ctx->heartbeat_ms + detect_threshold(THRESHOLD_SERVER_PAUSE_BEYOND_HEARTBEAT_MS)) * US_PER_MS;
}

static void add_connection(const struct detect_context *ctx, struct conversation *c, struct span span)
{
	span_set_add(&c->open, ctx->arena, span);
	if (c->connection_count > 0 && c->connections[c->connection_count - 1].end.us > span.end.us)
		span.end = c->connections[c->connection_count - 1].end;
	*ARENA_PUSH(ctx->arena, c->connections, c->connection_count, c->connection_capacity) = span;
}

static int listen(const struct detect_context *ctx, struct conversations *all)
{
	const enum event_type types[] = { EVENT_NET_CONNECTION, EVENT_NET_QUIET };
	struct query *q = query_events(ctx->store, types, 2);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		struct conversation *c = conversation_of(ctx, all, &e);
		struct span span = detect_event_span(ctx, &e);

		if (e.type == EVENT_NET_CONNECTION)
			add_connection(ctx, c, span);
		else if (!is_called_side(&e) && span_length_us(span) > detect_pause_limit_us(ctx))
			c->quiet_us += span_length_us(span);
		else if (is_called_side(&e) && detect_number(&e, FIELD_PENDING) != 0)
			span_set_add(&c->owed, ctx->arena, span);
	}
	query_free(q);
	return rc;
}

/* Whether one connection was open from end to end. */
static bool is_spanned(const struct conversation *c, struct span s)
{
	int64_t slack_us = detect_threshold(THRESHOLD_PAUSE_CONNECTION_SLACK_MS) * US_PER_MS;
	size_t low = 0, high = c->connection_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->connections[middle].start.us - slack_us <= s.start.us)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && c->connections[low - 1].end.us + slack_us >= s.end.us;
}

/* ---- the caller ---- */

static bool is_its_habit(const struct conversation *c)
{
	return c->quiet_us / 100 * 100 > span_set_length_us(&c->open) / 100 * detect_threshold(THRESHOLD_PAUSE_HABIT_PERCENT);
}

/* The longest part of s in which the called side owes nothing. */
static struct span not_owed(const struct conversation *c, struct span s)
{
	struct span longest = { s.start, s.start };
	struct ref_time from = s.start;

	for (size_t i = 0; i <= c->owed.count; i++) {
		struct span gap = { from, i < c->owed.count ? c->owed.items[i].start : s.end };

		gap = span_intersect(gap, s);
		if (span_length_us(gap) > span_length_us(longest))
			longest = gap;
		if (i < c->owed.count && c->owed.items[i].end.us > from.us)
			from = c->owed.items[i].end;
	}
	return longest;
}

static void take_quiet_caller(const struct detect_context *ctx, const struct conversation *c, const struct event *e)
{
	struct span whole = detect_event_span(ctx, e), s = not_owed(c, whole);

	if (span_length_us(s) <= detect_pause_limit_us(ctx) || !is_spanned(c, whole) || is_its_habit(c))
		return;
	if (detect_number(e, FIELD_ACKS) == 0 && detect_number(e, FIELD_PENDING) == 0)
		return;
	struct window *w = detect_add(ctx, WINDOW_PROCESS_PAUSE, "capture", SV_ABSENT, c->path, s);
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_ACKS, detect_number(e, FIELD_ACKS));
	detect_evidence(ctx, w, e, "the process sent nothing that it owed, while nothing of its data was lost");
}

int detect_process_pause(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_QUIET };
	struct conversations all = { 0 };
	struct event e;

	if (listen(ctx, &all) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1)
		if (!is_called_side(&e))
			take_quiet_caller(ctx, conversation_of(ctx, &all, &e), &e);
	query_free(q);
	return rc;
}

/* ---- the called side ---- */

/* At its time so many callers more (or fewer) wait for an answer, or are served. */
struct change {
	int64_t us;
	int waits, served;
};

struct changes {
	struct change *items;
	size_t count, capacity;
};

static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return a->us < b->us ? -1 : a->us > b->us;
}

static void add_change(struct arena *a, struct changes *all, struct span s, int waits, int served)
{
	if (span_is_empty(s))
		return;
	*ARENA_PUSH(a, all->items, all->count, all->capacity) = (struct change){ s.start.us, waits, served };
	*ARENA_PUSH(a, all->items, all->count, all->capacity) = (struct change){ s.end.us, -waits, -served };
}

/* When callers enough of this address wait and none that is connected is served. */
static struct span_set stands_still(const struct detect_context *ctx, const struct conversations *all, struct sv called)
{
	struct changes changes = { 0 };
	struct span_set still = { 0 };
	int waits = 0, served = 0;

	for (size_t i = 0; i < all->capacity; i++) {
		const struct conversation *c = &all->items[i];

		if (c->path == NULL || !sv_eq(c->path->b, called))
			continue;
		for (size_t j = 0; j < c->open.count; j++)
			add_change(ctx->arena, &changes, c->open.items[j], 0, 1);
		struct span_set waiting = span_set_intersect(&c->owed, &c->open, ctx->arena);
		for (size_t j = 0; j < waiting.count; j++)
			add_change(ctx->arena, &changes, waiting.items[j], 1, -1);
	}
	if (changes.count > 1)
		qsort(changes.items, changes.count, sizeof *changes.items, compare_changes);
	for (size_t i = 0; i < changes.count; i++) {
		waits += changes.items[i].waits;
		served += changes.items[i].served;
		if (i + 1 < changes.count && waits >= detect_threshold(THRESHOLD_SERVER_PAUSE_CALLERS) && served <= 0)
			span_set_add(&still, ctx->arena,
				     (struct span){ { changes.items[i].us }, { changes.items[i + 1].us } });
	}
	return still;
}

/* The longest piece of the set inside s. */
static struct span longest_within(const struct span_set *set, struct span s)
{
	struct span longest = { s.start, s.start };

	for (size_t i = 0; i < set->count; i++) {
		struct span piece = span_intersect(set->items[i], s);

		if (span_length_us(piece) > span_length_us(longest))
			longest = piece;
	}
	return longest;
}

/* The standstills of one called address, found once. */
struct standstill {
	struct sv called;
	struct span_set times;
};

struct standstills {
	struct standstill *items;
	size_t count, capacity;
};

static const struct standstill *standstill_of(const struct detect_context *ctx, const struct conversations *all,
					      struct standstills *found, struct sv called)
{
	for (size_t i = 0; i < found->count; i++)
		if (sv_eq(found->items[i].called, called))
			return &found->items[i];
	struct standstill *s = ARENA_PUSH(ctx->arena, found->items, found->count, found->capacity);
	*s = (struct standstill){ called, stands_still(ctx, all, called) };
	return s;
}

static void take_quiet_server(const struct detect_context *ctx, const struct conversation *c, const struct standstill *still,
			      const struct event *e)
{
	struct span s = longest_within(&still->times, detect_event_span(ctx, e));

	if (span_length_us(s) <= server_limit_us(ctx) || detect_number(e, FIELD_PENDING) == 0 || !is_spanned(c, s))
		return;
	struct window *w = detect_add(ctx, WINDOW_SERVER_PAUSE, "capture", SV_ABSENT, c->path, s);
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_ACKS, detect_number(e, FIELD_ACKS));
	detect_evidence(ctx, w, e, "the called side acknowledged requests and answered none, of any caller");
}

int detect_server_pause(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_QUIET };
	struct conversations all = { 0 };
	struct standstills found = { 0 };
	struct event e;

	if (listen(ctx, &all) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1) {
		if (!is_called_side(&e) || e.duration_us <= server_limit_us(ctx))
			continue;
		const struct conversation *c = conversation_of(ctx, &all, &e);
		take_quiet_server(ctx, c, standstill_of(ctx, &all, &found, c->path->b), &e);
	}
	query_free(q);
	return rc;
}
