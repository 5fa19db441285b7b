/* SPDX-License-Identifier: MIT */
/*
 * Detectors of what packets show of a path (method.md 3): blackouts, loss,
 * resets.
 */

#include "analysis/detect.h"

#include <stdlib.h>

#include "analysis/seconds.h"

static int64_t event_end_us(const struct event *e)
{
	int64_t end_us;

	return __builtin_add_overflow(e->time.us, e->duration_us, &end_us) ? INT64_MAX : end_us;
}

/* ---- blackout ---- */

static int64_t blackout_limit_us(const struct detect_context *ctx, const struct event *e)
{
	int64_t least = detect_threshold(ctx, THRESHOLD_BLACKOUT_LEAST_MS) * US_PER_MS, by_rtt;

	if (__builtin_mul_overflow(detect_number(e, FIELD_RTT_MEDIAN_US), detect_threshold(ctx, THRESHOLD_BLACKOUT_RTTS),
				   &by_rtt))
		return INT64_MAX;
	return by_rtt > least ? by_rtt : least;
}

/*
 * When data certainly stood out: from its loss where that was seen; from the
 * first sign of the sender where the capture is on the receiver's side, which
 * learns of the loss by it; else throughout.
 */
static int64_t stood_from_us(const struct event *e)
{
	enum event_field from = event_has(e, FIELD_LOSS_AT_US) ? FIELD_LOSS_AT_US : FIELD_SIGN_AT_US;
	int64_t us = event_has(e, from) ? event_value(e, from)->number : e->time.us;

	return us < e->time.us || us > event_end_us(e) ? e->time.us : us;
}

static int64_t sign_us(const struct event *e, int64_t loss_us)
{
	int64_t end_us = event_end_us(e);
	int64_t us = event_has(e, FIELD_SIGN_AT_US) ? event_value(e, FIELD_SIGN_AT_US)->number : end_us;

	return us < loss_us || us > end_us ? end_us : us;
}

/* The latest segment of the stall that is known to be lost; the first one is. */
static int64_t lost_us(const struct event *e, int64_t loss_us)
{
	int64_t us = event_has(e, FIELD_LOST_AT_US) ? event_value(e, FIELD_LOST_AT_US)->number : loss_us;

	return us < loss_us || us > event_end_us(e) ? loss_us : us;
}

/*
 * The silence lasts from the last data accepted to the next. A connection that
 * had been idle for two heartbeats before its loss is not the one that carried
 * them: the last one that was heard came within an interval.
 */
static struct span silence_of(const struct detect_context *ctx, const struct event *e, int64_t from_us)
{
	int64_t heartbeat_us = ctx->heartbeat_ms * US_PER_MS, start_us = e->time.us;

	if (event_has(e, FIELD_LOSS_AT_US) && from_us - start_us > 2 * heartbeat_us)
		start_us = from_us - heartbeat_us;
	return detect_span(ctx, e->host, start_us, event_end_us(e));
}

/* It is a blackout by the time in which data really stood out: before it the connection may have been idle. */
static void take_stall(const struct detect_context *ctx, const struct event *e)
{
	int64_t from_us = stood_from_us(e);

	if (event_end_us(e) - from_us <= blackout_limit_us(ctx, e))
		return;
	struct window *w = detect_add(ctx, WINDOW_BLACKOUT, "capture", SV_ABSENT, detect_path(ctx, e),
				      silence_of(ctx, e, from_us));
	w->has_outage = w->has_lost = event_has(e, FIELD_LOSS_AT_US);
	if (w->has_outage) {
		w->outage = detect_span(ctx, e->host, from_us, sign_us(e, from_us));
		w->lost = detect_span(ctx, e->host, from_us, lost_us(e, from_us));
	}
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_RETRANSMITS, detect_number(e, FIELD_RETRANSMITS));
	detect_measure(w, MEASURE_TIMEOUTS, detect_number(e, FIELD_TIMEOUTS));
	if (event_has(e, FIELD_RTT_MEDIAN_US))
		detect_measure(w, MEASURE_RTT_MEDIAN_US, event_value(e, FIELD_RTT_MEDIAN_US)->number);
	detect_evidence(ctx, w, e, "data stood unacknowledged on this connection");
}

static bool has_outage_within(const struct detect_context *ctx, const struct path *path, struct span s)
{
	for (size_t i = 0; i < ctx->out->count; i++) {
		const struct window *w = &ctx->out->items[i];

		if (w->has_outage && w->kind == WINDOW_BLACKOUT && sv_eq(w->host, path->host) && sv_eq(w->path_a, path->a) &&
		    sv_eq(path_address(w->path_b), path->b) && !span_is_empty(span_intersect(w->outage, s)))
			return true;
	}
	return false;
}

/*
 * What a receiver's capture learns by the numbers that are left out. Waits
 * double (RFC 6298 5.5), so the last transmission that was lost was sent when
 * half of the time had passed at the earliest: until then at least the path was
 * gone. From then on it is backoff, or not: nothing came to show it. What the
 * host's own losses tell of the time is more exact.
 */
static void take_unseen(const struct detect_context *ctx, const struct event *e)
{
	if (e->duration_us <= blackout_limit_us(ctx, e))
		return;
	bool is_told = has_outage_within(ctx, detect_path(ctx, e), detect_event_span(ctx, e));
	struct window *w = detect_add(ctx, WINDOW_BLACKOUT, "capture", SV_ABSENT, detect_path(ctx, e),
				      detect_event_span(ctx, e));
	w->has_outage = w->has_lost = !is_told;
	if (!is_told)
		w->lost = (struct span){ w->span.start, { w->span.start.us + span_length_us(w->span) / 2 } };
	detect_measure(w, MEASURE_RETRANSMITS, detect_number(e, FIELD_RETRANSMITS));
	detect_evidence(ctx, w, e, "data came whose earlier transmissions had been lost on the way");
}

static int take_all(const struct detect_context *ctx, enum event_type type,
		    void (*take)(const struct detect_context *ctx, const struct event *e))
{
	struct query *q = query_events(ctx->store, &type, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		take(ctx, &e);
	query_free(q);
	return rc;
}

int detect_blackout(const struct detect_context *ctx)
{
	return take_all(ctx, EVENT_NET_STALL, take_stall) < 0 ? -1 : take_all(ctx, EVENT_NET_UNSEEN, take_unseen);
}

/* ---- loss ---- */

#define SECOND_EVENTS_MAX 4

/* The second of a path that is being added up, over its connections and directions. */
struct lossy_second {
	bool in_use;
	const struct path *path;
	int64_t second; /* since 1970, by the host's clock */
	int64_t start_us, end_us;
	int64_t segments, retransmits, timeouts;
	int64_t since_us;			/* what timed out was lost since then, at the earliest; 0: not known */
	int64_t lost_from_us, lost_to_us;	/* when what timed out had been sent, where that was seen; from 0: not known */
	struct event *events; /* the first of those that show loss; room for SECOND_EVENTS_MAX once there was one */
	size_t event_count, more;
	size_t window; /* 1 + index of the path's last window; 0: none */
};

/* A connection that was given up: what its kernel still repeats tells of the stall, not of the path now. */
struct given_up {
	struct sv host, path_a, path_b; /* with ports */
	int64_t end_us;
};

struct losses {
	struct lossy_second *items;
	size_t capacity;
	struct given_up *given_up; /* by end */
	size_t given_up_count, given_up_capacity;
};

/* A kernel repeats no longer than this without an answer (Linux TCP_RTO_MAX), and ports come round again later. */
#define REPEATS_FOR_US (120 * US_PER_S)

static int compare_ends(const void *x, const void *y)
{
	const struct given_up *a = x, *b = y;

	return a->end_us < b->end_us ? -1 : a->end_us > b->end_us;
}

static bool is_lossy(const struct detect_context *ctx, int64_t segments, int64_t retransmits, int64_t timeouts)
{
	return timeouts >= detect_threshold(ctx, THRESHOLD_LOSS_TIMEOUTS) ||
	       detect_is_many(ctx, retransmits, THRESHOLD_LOSS_RETRANSMITS, segments, THRESHOLD_LOSS_PERCENT);
}

/* The segments were lost when they were sent, not when their timers ran out. */
static void add_lost(const struct detect_context *ctx, struct window *w, const struct lossy_second *s)
{
	if (s->since_us == 0)
		return;
	struct ref_time since = detect_span(ctx, s->path->host, s->since_us, s->since_us).start;
	struct span lost = detect_span(ctx, s->path->host, s->lost_from_us, s->lost_to_us);
	if (since.us < w->span.start.us)
		w->span.start = w->outage.start = since;
	if (s->lost_from_us == 0)
		return;
	if (!w->has_lost || lost.start.us < w->lost.start.us)
		w->lost.start = lost.start;
	if (!w->has_lost || lost.end.us > w->lost.end.us)
		w->lost.end = lost.end;
	w->has_lost = true;
}

/* The path's last window when this second continues it, else a new one. */
static struct window *loss_window(const struct detect_context *ctx, struct lossy_second *s, struct span span)
{
	if (s->window != 0) {
		struct window *last = &ctx->out->items[s->window - 1];

		if (span.start.us - last->span.end.us < ctx->heartbeat_ms * US_PER_MS) {
			if (span.end.us > last->span.end.us)
				last->span.end = last->outage.end = span.end;
			return last;
		}
	}
	struct window *w = detect_add(ctx, WINDOW_LOSS, "capture", SV_ABSENT, s->path, span);
	w->resolution_us = US_PER_S;
	s->window = ctx->out->count;
	return w;
}

static void close_second(const struct detect_context *ctx, struct lossy_second *s)
{
	if (s->in_use && is_lossy(ctx, s->segments, s->retransmits, s->timeouts)) {
		struct window *w = loss_window(ctx, s, detect_span(ctx, s->path->host, s->start_us, s->end_us));

		add_lost(ctx, w, s);
		detect_measure(w, MEASURE_SEGMENTS, s->segments);
		detect_measure(w, MEASURE_RETRANSMITS, s->retransmits);
		detect_measure(w, MEASURE_TIMEOUTS, s->timeouts);
		for (size_t i = 0; i < s->event_count; i++)
			detect_evidence(ctx, w, &s->events[i], "segments were sent again in this second");
		if (s->more > 0)
			detect_measure(w, MEASURE_EVIDENCE_LEFT_OUT, (int64_t)s->more);
	}
	*s = (struct lossy_second){ .path = s->path, .events = s->events, .window = s->window };
}

static void keep_event(struct arena *a, struct lossy_second *s, const struct event *e)
{
	if (s->events == NULL)
		s->events = arena_array(a, SECOND_EVENTS_MAX, sizeof *s->events);
	if (s->event_count == SECOND_EVENTS_MAX)
		s->more++;
	else
		detect_keep(a, e, &s->events[s->event_count++]);
}

/* Those that speak of loss: what was sent again needlessly had arrived. */
static int64_t retransmits_of(const struct event *e)
{
	return detect_number(e, FIELD_RETRANSMITS) - detect_number(e, FIELD_NEEDLESS);
}

static bool shows_loss(const struct event *e)
{
	return retransmits_of(e) > 0 || detect_number(e, FIELD_TIMEOUTS) > 0;
}

static int find_given_up(const struct detect_context *ctx, struct losses *losses)
{
	const enum event_type types[] = { EVENT_NET_STALL };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		if (detect_number(&e, FIELD_ABANDONED) == 0)
			continue;
		*ARENA_PUSH(ctx->arena, losses->given_up, losses->given_up_count, losses->given_up_capacity) =
			(struct given_up){ arena_copy(ctx->arena, e.host),
					   arena_copy(ctx->arena, event_text(&e, FIELD_PATH_A)),
					   arena_copy(ctx->arena, event_text(&e, FIELD_PATH_B)), event_end_us(&e) };
	}
	query_free(q);
	if (losses->given_up_count > 1)
		qsort(losses->given_up, losses->given_up_count, sizeof *losses->given_up, compare_ends);
	return rc;
}

static bool is_given_up(const struct losses *losses, const struct event *e)
{
	for (size_t i = losses->given_up_count; i-- > 0;) {
		const struct given_up *g = &losses->given_up[i];

		if (g->end_us < e->time.us - REPEATS_FOR_US)
			return false;
		if (g->end_us <= event_end_us(e) && sv_eq(g->host, e->host) &&
		    sv_eq(g->path_a, event_text(e, FIELD_PATH_A)) && sv_eq(g->path_b, event_text(e, FIELD_PATH_B)))
			return true;
	}
	return false;
}

/* Of another host's data a capture sees what came, not when it was sent in vain: some time since that host was heard last. */
static bool is_seen_sent(const struct detect_context *ctx, const struct event *e)
{
	struct sv own = own_address_of(ctx->own, e->host);
	enum event_field sender = sv_eq(event_text(e, FIELD_DIRECTION), SV("ab")) ? FIELD_PATH_A : FIELD_PATH_B;

	return sv_is_absent(own) || sv_eq(own, path_address(event_text(e, sender)));
}

static void take_lost(const struct detect_context *ctx, struct lossy_second *s, const struct event *e)
{
	if (!event_has(e, FIELD_LOSS_AT_US) || !event_has(e, FIELD_LOST_AT_US))
		return;
	int64_t from_us = event_value(e, FIELD_LOSS_AT_US)->number, to_us = event_value(e, FIELD_LOST_AT_US)->number;

	if (from_us > to_us || to_us > event_end_us(e))
		return;
	if (s->since_us == 0 || from_us < s->since_us)
		s->since_us = from_us;
	if (!is_seen_sent(ctx, e))
		return;
	if (s->lost_from_us == 0 || from_us < s->lost_from_us)
		s->lost_from_us = from_us;
	if (to_us > s->lost_to_us)
		s->lost_to_us = to_us;
}

static void take_second(const struct detect_context *ctx, struct losses *losses, const struct event *e)
{
	const struct path *path = detect_path(ctx, e);
	int64_t second = e->time.us / US_PER_S;

	losses->items = detect_room(ctx->arena, losses->items, sizeof *losses->items, path->index, &losses->capacity);
	struct lossy_second *s = &losses->items[path->index];
	if (s->in_use && s->second != second)
		close_second(ctx, s);
	s->path = path;
	if (!s->in_use || event_end_us(e) > s->end_us)
		s->end_us = event_end_us(e);
	if (!s->in_use)
		s->start_us = e->time.us;
	s->in_use = true;
	s->second = second;
	if (shows_loss(e) && is_given_up(losses, e))
		return;
	s->segments += detect_number(e, FIELD_SEGMENTS);
	s->retransmits += retransmits_of(e);
	s->timeouts += detect_number(e, FIELD_TIMEOUTS);
	take_lost(ctx, s, e);
	if (shows_loss(e))
		keep_event(ctx->arena, s, e);
}

int detect_loss(const struct detect_context *ctx)
{
	struct losses losses = { 0 };
	struct seconds *seconds;
	struct event e;
	int rc;

	if (find_given_up(ctx, &losses) < 0)
		return -1;
	seconds = seconds_new(ctx->store, ctx->arena);
	while ((rc = seconds_next(seconds, &e)) == 1)
		take_second(ctx, &losses, &e);
	seconds_free(seconds);
	for (size_t i = 0; i < losses.capacity; i++)
		close_second(ctx, &losses.items[i]);
	return rc;
}

/* ---- reset ---- */

/* An instant becomes a window of this length, so that it can meet others. */
#define INSTANT_US 1000

/* When brokers started, by their logs; and what was refused, by whom. */
struct resets {
	const struct event **started, **refused; /* by time */
	size_t started_count, refused_count;
	size_t *window; /* by path: 1 + index of its last window of a reset; 0: none */
	size_t window_capacity;
};

static bool is_restart(const struct detect_context *ctx, const struct resets *r, struct ref_time t)
{
	for (size_t i = 0; i < r->started_count; i++) {
		int64_t after_us = clock_event_to_ref(ctx->clocks, r->started[i]).us - t.us;

		if (after_us >= 0 && after_us <= detect_threshold(ctx, THRESHOLD_RESET_RESTART_S) * US_PER_S)
			return true;
	}
	return false;
}

static size_t *window_of(const struct detect_context *ctx, struct resets *r, const struct path *path)
{
	r->window = detect_room(ctx->arena, r->window, sizeof *r->window, path->index, &r->window_capacity);
	return &r->window[path->index];
}

/*
 * A reset by the caller is the caller's own doing: a process that ended with
 * data unread, or the answer to a segment of a connection it had given up.
 * What the called side sends takes a connection from a caller that wanted it.
 */
static void take_reset(const struct detect_context *ctx, struct resets *r, const struct event *e)
{
	struct span span = detect_span(ctx, e->host, e->time.us, e->time.us + INSTANT_US);
	const struct path *path = detect_path(ctx, e);

	if (!sv_eq(event_text(e, FIELD_DIRECTION), SV("ba")) || is_restart(ctx, r, span.start))
		return;
	struct window *w = detect_add(ctx, WINDOW_RESET, "capture", SV_ABSENT, path, span);
	*window_of(ctx, r, path) = ctx->out->count;
	detect_measure(w, MEASURE_RESETS, 1);
	detect_evidence(ctx, w, e, "the called side's address reset a connection that was in use");
}

/* Refusals so many before and after are looked at. */
#define REFUSALS_LOOKED_AT 256

/* Whether the service refused another caller too at the time, by the hosts' own clocks: then it is the service that is gone. */
static bool refuses_others(const struct detect_context *ctx, const struct resets *r, const struct event *e)
{
	struct sv caller = path_address(event_text(e, FIELD_PATH_A));
	int64_t near_us = ctx->heartbeat_ms * US_PER_MS;
	size_t at = 0;

	while (at < r->refused_count && r->refused[at]->time.us < e->time.us - near_us)
		at++;
	for (size_t end = at + REFUSALS_LOOKED_AT; at < r->refused_count && at < end; at++) {
		const struct event *x = r->refused[at];

		if (x->time.us > e->time.us + near_us)
			break;
		if (sv_eq(event_text(x, FIELD_PATH_B), event_text(e, FIELD_PATH_B)) &&
		    !sv_eq(path_address(event_text(x, FIELD_PATH_A)), caller))
			return true;
	}
	return false;
}

/*
 * A refusal by itself says that the path works and the service is not there.
 * After connections of this caller alone were reset, it is the reset going on.
 */
static void take_refused(const struct detect_context *ctx, struct resets *r, const struct event *e)
{
	struct span span = detect_span(ctx, e->host, e->time.us, e->time.us + INSTANT_US);
	size_t last = *window_of(ctx, r, detect_path(ctx, e));

	if (last == 0)
		return;
	struct window *w = &ctx->out->items[last - 1];
	if (span.start.us - w->span.end.us >= ctx->heartbeat_ms * US_PER_MS || refuses_others(ctx, r, e))
		return;
	if (span.end.us > w->span.end.us)
		w->span.end = w->outage.end = span.end;
	detect_measure(w, MEASURE_REFUSED, 1);
	detect_evidence(ctx, w, e, "and the address answered an opening by a reset");
}

static void take_unanswered(const struct detect_context *ctx, const struct event *e)
{
	if (e->duration_us < detect_threshold(ctx, THRESHOLD_RESET_UNANSWERED_MS) * US_PER_MS)
		return;
	struct window *w =
		detect_add(ctx, WINDOW_RESET, "capture", SV_ABSENT, detect_path(ctx, e), detect_event_span(ctx, e));
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	w->has_outage = w->has_lost = event_has(e, FIELD_LOST_AT_US);
	if (w->has_lost)
		w->lost = detect_span(ctx, e->host, e->time.us, lost_us(e, e->time.us));
	detect_measure(w, MEASURE_UNANSWERED, 1);
	detect_evidence(ctx, w, e, "a connection could not be opened: no answer");
}

int detect_reset(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_RESET, EVENT_NET_REFUSED, EVENT_NET_SYN_UNANSWERED };
	const enum event_type started[] = { EVENT_BROKER_STARTED }, refused[] = { EVENT_NET_REFUSED };
	struct resets r = { 0 };
	struct event e;

	if (query_load(ctx->store, started, 1, ctx->arena, &r.started, &r.started_count) < 0 ||
	    query_load(ctx->store, refused, 1, ctx->arena, &r.refused, &r.refused_count) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, sizeof types / sizeof types[0]);
	int rc;
	while ((rc = query_next(q, &e)) == 1) {
		if (e.type == EVENT_NET_RESET)
			take_reset(ctx, &r, &e);
		else if (e.type == EVENT_NET_REFUSED)
			take_refused(ctx, &r, &e);
		else
			take_unanswered(ctx, &e);
	}
	query_free(q);
	return rc;
}
