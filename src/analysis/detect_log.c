/* SPDX-License-Identifier: MIT */
/*
 * Detectors of what a host logs of itself (method.md 3): its kernel, of
 * connection tracking and of links; its JVMs, of pauses. Such a window concerns
 * its host alone. That a log does not speak of trouble proves nothing: these
 * logs give windows, and no coverage.
 */

#include <stdlib.h>

#include "analysis/detect.h"

/* One line of a log. */
struct said {
	const struct event *event;
	struct ref_time time;
};

struct says {
	struct said *items;
	size_t count;
};

static int64_t ms_us(const struct detect_context *ctx, enum threshold_id id)
{
	return detect_threshold(ctx, id) * US_PER_MS;
}

static int by_time(const struct said *a, const struct said *b)
{
	if (a->time.us != b->time.us)
		return a->time.us < b->time.us ? -1 : 1;
	return (a->event->id > b->event->id) - (a->event->id < b->event->id);
}

static int by_host(const void *x, const void *y)
{
	const struct said *a = x, *b = y;
	int order = sv_cmp(a->event->host, b->event->host);

	return order != 0 ? order : by_time(a, b);
}

static int by_device(const void *x, const void *y)
{
	const struct said *a = x, *b = y;
	int order = sv_cmp(a->event->host, b->event->host);

	if (order == 0)
		order = sv_cmp(event_text(a->event, FIELD_DEVICE), event_text(b->event, FIELD_DEVICE));
	return order != 0 ? order : by_time(a, b);
}

/* By the log that tells of it: a process has one. */
static int by_log(const void *x, const void *y)
{
	const struct said *a = x, *b = y;

	if (a->event->place.input != b->event->place.input)
		return a->event->place.input < b->event->place.input ? -1 : 1;
	return by_host(x, y);
}

static int load(const struct detect_context *ctx, const enum event_type *types, size_t n,
		int (*order)(const void *, const void *), struct says *out)
{
	const struct event **events;

	if (query_load(ctx->store, types, n, ctx->arena, &events, &out->count) < 0)
		return -1;
	out->items = arena_array(ctx->arena, out->count, sizeof *out->items);
	for (size_t i = 0; i < out->count; i++)
		out->items[i] = (struct said){ events[i], clock_event_to_ref(ctx->clocks, events[i]) };
	if (out->count > 1)
		qsort(out->items, out->count, sizeof *out->items, order);
	return 0;
}

static struct window *open_window(const struct detect_context *ctx, enum window_kind kind, const struct said *s, struct span span,
				  const char *role)
{
	struct window *w = detect_add(ctx, kind, "log", s->event->host, NULL, span);

	detect_evidence(ctx, w, s->event, role);
	return w;
}

static void lengthen(struct window *w, struct ref_time end)
{
	if (w->span.end.us < end.us)
		w->span.end = w->outage.end = end;
}

/* ---- connection tracking ---- */

int detect_log_conntrack(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_CONNTRACK_FULL };
	const int64_t apart_us = ms_us(ctx, THRESHOLD_CONNTRACK_LINES_APART_MS), line_us = ms_us(ctx, THRESHOLD_CONNTRACK_LINE_MS);
	const char *role = "the kernel dropped packets: its table of connections was full";
	struct says all;
	struct window *w = NULL;

	if (load(ctx, types, 1, by_host, &all) < 0)
		return -1;
	for (size_t i = 0; i < all.count; i++) {
		const struct said *s = &all.items[i];
		struct ref_time end = { s->time.us + line_us };

		if (w == NULL || !sv_eq(w->host, s->event->host) || s->time.us - w->span.end.us > apart_us) {
			w = open_window(ctx, WINDOW_CONNTRACK, s, (struct span){ s->time, end }, role);
			w->resolution_us = line_us;
		} else {
			detect_evidence(ctx, w, s->event, role);
			lengthen(w, end);
		}
	}
	return 0;
}

/* ---- links ---- */

/* Lines of a client that it had an answer: whichever link is down, the network is not. */
static bool is_contact(enum event_type t)
{
	return t == EVENT_CLIENT_JOINED || t == EVENT_CLIENT_SYNCED || t == EVENT_CLIENT_COORDINATOR_FOUND ||
	       t == EVENT_OFFSET_RESTORED;
}

/*
 * When a link that nobody says is up again was of no more account: at the next
 * sign that the host reached something, or with the last line of its logs.
 */
static struct ref_time end_of_down(const struct detect_context *ctx, const struct says *all, const struct said *down, bool *is_censored)
{
	struct ref_time end = down->time;

	for (size_t i = 0; i < all->count; i++) {
		const struct said *s = &all->items[i];

		if (!is_contact(s->event->type) || s->time.us <= down->time.us || !sv_eq(s->event->host, down->event->host))
			continue;
		*is_censored = false;
		return s->time;
	}
	*is_censored = true;
	for (size_t i = 0; i < ctx->out->coverage_count; i++) {
		const struct coverage *c = &ctx->out->coverage[i];

		if (sv_eq(c->kind, SV("log")) && sv_eq(c->host, down->event->host) && c->span.end.us > end.us)
			end = c->span.end;
	}
	return end;
}

/* From the line on, or where the kernel says for how long: up to it. */
static void take_stall(const struct detect_context *ctx, const struct said *s)
{
	int64_t ms = detect_number(s->event, FIELD_ELAPSED_MS), line_us = ms_us(ctx, THRESHOLD_LINK_LINE_MS);
	struct span span = { s->time, { s->time.us + line_us } };

	if (ms > 0 && ms < INT32_MAX)
		span = (struct span){ { s->time.us - ms * US_PER_MS }, s->time };
	open_window(ctx, WINDOW_LINK, s, span, "the interface did not send what stood in its queue")->resolution_us = line_us;
}

/* The lines [from, to) are of one device. */
static void take_device(const struct detect_context *ctx, const struct says *all, const struct says *contacts, size_t from, size_t to)
{
	const int64_t line_us = ms_us(ctx, THRESHOLD_LINK_LINE_MS);
	struct window *w = NULL;
	const struct said *down = NULL;

	/* Where others stand in for it the host does not depend on it. */
	for (size_t i = from; i < to; i++)
		if (all->items[i].event->type == EVENT_LINK_SPARE)
			return;
	for (size_t i = from; i < to; i++) {
		const struct said *s = &all->items[i];

		if (s->event->type == EVENT_LINK_STALLED) {
			take_stall(ctx, s);
		} else if (s->event->type == EVENT_LINK_DOWN && down == NULL) {
			down = s;
		} else if (s->event->type == EVENT_LINK_UP && down != NULL) {
			w = open_window(ctx, WINDOW_LINK, down, (struct span){ down->time, s->time }, "the interface lost its carrier");
			w->resolution_us = line_us;
			detect_evidence(ctx, w, s->event, "the interface has its carrier again");
			down = NULL;
		}
	}
	if (down == NULL)
		return;
	bool is_censored;
	struct ref_time end = end_of_down(ctx, contacts, down, &is_censored);
	w = open_window(ctx, WINDOW_LINK, down, (struct span){ down->time, end }, "the interface lost its carrier");
	w->resolution_us = line_us;
	w->censored = is_censored;
}

int detect_log_link(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_LINK_DOWN, EVENT_LINK_UP, EVENT_LINK_SPARE, EVENT_LINK_STALLED };
	const enum event_type signs[] = { EVENT_CLIENT_JOINED, EVENT_CLIENT_SYNCED, EVENT_CLIENT_COORDINATOR_FOUND, EVENT_OFFSET_RESTORED };
	struct says all, contacts = { NULL, 0 };
	size_t to;

	if (load(ctx, types, sizeof types / sizeof types[0], by_device, &all) < 0)
		return -1;
	if (all.count > 0 && load(ctx, signs, sizeof signs / sizeof signs[0], by_host, &contacts) < 0)
		return -1;
	for (size_t from = 0; from < all.count; from = to) {
		const struct event *first = all.items[from].event;

		for (to = from + 1; to < all.count && sv_eq(all.items[to].event->host, first->host) &&
				    sv_eq(event_text(all.items[to].event, FIELD_DEVICE), event_text(first, FIELD_DEVICE)); to++)
			;
		take_device(ctx, &all, &contacts, from, to);
	}
	return 0;
}

/* ---- pauses ---- */

/* How many events of which type each host has. */
struct roles {
	struct host_count *counts;
	size_t count;
};

/* A host that speaks as a broker and as no client runs a broker. */
static enum window_kind pause_kind(const struct roles *roles, struct sv host)
{
	bool is_broker = false, is_client = false;

	for (size_t i = 0; i < roles->count; i++) {
		const struct host_count *c = &roles->counts[i];

		if (sv_is_absent(host) || !sv_eq(c->host, host))
			continue;
		is_broker |= event_infos[c->type].side == SIDE_BROKER;
		is_client |= event_infos[c->type].side == SIDE_CLIENT;
	}
	return is_broker && !is_client ? WINDOW_SERVER_PAUSE : WINDOW_PROCESS_PAUSE;
}

/* The interval in which all stood still. */
static struct span span_of(const struct said *s)
{
	int64_t ms = detect_number(s->event, FIELD_ELAPSED_MS);
	int64_t us = ms > 0 && ms < INT32_MAX ? ms * US_PER_MS : 0;

	if (s->event->type == EVENT_PROCESS_PAUSES)
		return (struct span){ s->time, { s->time.us + us } };
	return (struct span){ { s->time.us - us }, s->time };
}

/* The lines [from, to) tell of one pause: of its parts, or the same twice. */
static void take_pause(const struct detect_context *ctx, const struct roles *roles, const struct says *all, size_t from, size_t to,
		       struct span span)
{
	enum window_kind kind = pause_kind(roles, all->items[from].event->host);
	const char *role = "all threads of the process stood still";
	struct window *w;

	if (span_length_us(span) <= detect_pause_limit_us(ctx, kind))
		return;
	w = open_window(ctx, kind, &all->items[from], span, role);
	for (size_t i = from + 1; i < to; i++)
		detect_evidence(ctx, w, all->items[i].event, role);
}

/*
 * By their starts: a line that is written at the end of a pause stands behind
 * one that is written at its start.
 */
static int by_log_and_start(const void *x, const void *y)
{
	const struct said *a = x, *b = y;
	int64_t start_a = span_of(a).start.us, start_b = span_of(b).start.us;

	if (a->event->place.input != b->event->place.input || !sv_eq(a->event->host, b->event->host))
		return by_log(x, y);
	if (start_a != start_b)
		return start_a < start_b ? -1 : 1;
	return by_time(a, b);
}

int detect_log_pause(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_PROCESS_PAUSED, EVENT_PROCESS_PAUSES };
	const int64_t gap_us = ms_us(ctx, THRESHOLD_PAUSE_GAP_MS);
	struct roles roles = { NULL, 0 };
	struct says all;
	size_t to;

	if (load(ctx, types, sizeof types / sizeof types[0], by_log_and_start, &all) < 0 ||
	    (all.count > 0 && query_host_counts(ctx->store, ctx->arena, &roles.counts, &roles.count) < 0))
		return -1;
	for (size_t from = 0; from < all.count; from = to) {
		struct span span = span_of(&all.items[from]);

		for (to = from + 1; to < all.count; to++) {
			struct span next = span_of(&all.items[to]);

			if (all.items[to].event->place.input != all.items[from].event->place.input ||
			    !sv_eq(all.items[to].event->host, all.items[from].event->host) || next.start.us - span.end.us > gap_us)
				break;
			if (next.end.us > span.end.us)
				span.end = next.end;
		}
		take_pause(ctx, &roles, &all, from, to, span);
	}
	return 0;
}
