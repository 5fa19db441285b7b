/* SPDX-License-Identifier: MIT */
/*
 * Detectors of what packets show of a path (method.md 3): blackouts, loss,
 * delay, resets.
 */

#include "analysis/detect.h"

#include <stdlib.h>

static int64_t event_end_us(const struct event *e)
{
	int64_t end_us;

	return __builtin_add_overflow(e->time.us, e->duration_us, &end_us) ? INT64_MAX : end_us;
}

/* ---- blackout ---- */

static int64_t blackout_limit_us(const struct event *e)
{
	int64_t least = detect_threshold(THRESHOLD_BLACKOUT_LEAST_MS) * US_PER_MS, by_rtt;

	if (__builtin_mul_overflow(detect_number(e, FIELD_RTT_MEDIAN_US), detect_threshold(THRESHOLD_BLACKOUT_RTTS), &by_rtt))
		return INT64_MAX;
	return by_rtt > least ? by_rtt : least;
}

/*
 * The silence lasts from the last data accepted to the next. It is a blackout
 * by the time in which data really stood out: before it the connection may
 * have been idle.
 */
static void take_stall(const struct detect_context *ctx, const struct event *e)
{
	int64_t end_us = event_end_us(e);
	int64_t loss_at = event_has(e, FIELD_LOSS_AT_US) ? e->value[FIELD_LOSS_AT_US].number : e->time.us;
	int64_t sign_at = event_has(e, FIELD_SIGN_AT_US) ? e->value[FIELD_SIGN_AT_US].number : end_us;

	if (loss_at < e->time.us || loss_at > end_us)
		loss_at = e->time.us;
	if (end_us - loss_at <= blackout_limit_us(e))
		return;
	if (sign_at < loss_at || sign_at > end_us)
		sign_at = end_us;
	struct window *w = detect_add(ctx, WINDOW_BLACKOUT, "capture", SV_ABSENT, detect_path(ctx, e), detect_event_span(ctx, e));
	w->outage = detect_span(ctx, e->host, loss_at, sign_at);
	w->has_outage = true;
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_RETRANSMITS, detect_number(e, FIELD_RETRANSMITS));
	detect_measure(w, MEASURE_TIMEOUTS, detect_number(e, FIELD_TIMEOUTS));
	if (event_has(e, FIELD_RTT_MEDIAN_US))
		detect_measure(w, MEASURE_RTT_MEDIAN_US, e->value[FIELD_RTT_MEDIAN_US].number);
	detect_evidence(ctx, w, e, "data stood unacknowledged on this connection");
}

int detect_blackout(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_STALL };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		take_stall(ctx, &e);
	query_free(q);
	return rc;
}

/* ---- loss ---- */

#define SECOND_EVENTS_MAX 4

/* The second of a path that is being added up, over its connections and directions. */
struct lossy_second {
	bool in_use;
	const struct path *path;
	int64_t second;		/* since 1970, by the host's clock */
	int64_t start_us, end_us;
	int64_t segments, retransmits, timeouts;
	struct event *events;	/* the first of those that show loss; room for SECOND_EVENTS_MAX once there was one */
	size_t event_count, more;
	size_t window;		/* 1 + index of the path's last window; 0: none */
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

static bool is_lossy(int64_t segments, int64_t retransmits, int64_t timeouts)
{
	return timeouts >= detect_threshold(THRESHOLD_LOSS_TIMEOUTS) ||
	       (retransmits >= detect_threshold(THRESHOLD_LOSS_RETRANSMITS) &&
		retransmits > segments / 100 * detect_threshold(THRESHOLD_LOSS_PERCENT) +
				      segments % 100 * detect_threshold(THRESHOLD_LOSS_PERCENT) / 100);
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
	if (s->in_use && is_lossy(s->segments, s->retransmits, s->timeouts)) {
		struct window *w = loss_window(ctx, s, detect_span(ctx, s->path->host, s->start_us, s->end_us));

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

static bool shows_loss(const struct event *e)
{
	return detect_number(e, FIELD_RETRANSMITS) > 0 || detect_number(e, FIELD_TIMEOUTS) > 0;
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
			(struct given_up){ arena_copy(ctx->arena, e.host), arena_copy(ctx->arena, event_text(&e, FIELD_PATH_A)),
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
	s->retransmits += detect_number(e, FIELD_RETRANSMITS);
	s->timeouts += detect_number(e, FIELD_TIMEOUTS);
	if (shows_loss(e))
		keep_event(ctx->arena, s, e);
}

int detect_loss(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_SECOND };
	struct query *q = query_events(ctx->store, types, 1);
	struct losses losses = { 0 };
	struct event e;
	int rc = 0;

	if (find_given_up(ctx, &losses) < 0) {
		query_free(q);
		return -1;
	}
	while ((rc = query_next(q, &e)) == 1)
		take_second(ctx, &losses, &e);
	query_free(q);
	for (size_t i = 0; i < losses.capacity; i++)
		close_second(ctx, &losses.items[i]);
	return rc;
}

/* ---- delay ---- */

#define BASELINE_SAMPLES_MAX 4096

/* The medians of the seconds of one direction, thinned out evenly when there are many. */
struct baseline {
	int64_t *rtts;
	size_t count, capacity;
	size_t seconds, stride;
	int64_t median_us, limit_us; /* limit 0: the usual is not known */
};

/* A run of slow seconds of one direction. */
struct slow_run {
	int64_t start_us, end_us;
	int64_t samples;
	size_t window;	     /* 1 + index; 0: not long enough yet */
	struct event *first; /* kept until there is a window; the room for it stays */
};

struct delays {
	struct baseline *baselines; /* two per path: ab, ba */
	size_t baseline_capacity;
	struct slow_run *runs;
	size_t run_capacity;
};

static size_t direction_index(const struct path *path, const struct event *e)
{
	return path->index * 2 + sv_eq(event_text(e, FIELD_DIRECTION), SV("ba"));
}

static void add_to_baseline(struct arena *a, struct baseline *b, int64_t rtt_us)
{
	if (b->stride == 0)
		b->stride = 1;
	if (b->seconds++ % b->stride != 0)
		return;
	if (b->count == BASELINE_SAMPLES_MAX) {
		for (size_t i = 0; i < BASELINE_SAMPLES_MAX / 2; i++)
			b->rtts[i] = b->rtts[2 * i];
		b->count = BASELINE_SAMPLES_MAX / 2;
		b->stride *= 2;
	}
	*ARENA_PUSH(a, b->rtts, b->count, b->capacity) = rtt_us;
}

static int compare_i64(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts the values. */
static int64_t median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, compare_i64);
	return values[n / 2];
}

static int64_t greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Round trips beyond an hour are no measurements; below, products of thresholds stay in range. */
#define RTT_US_MAX (3600 * US_PER_S)

static void set_limit(struct baseline *b)
{
	if (b->seconds < (size_t)detect_threshold(THRESHOLD_DELAY_BASELINE))
		return;
	int64_t usual = median(b->rtts, b->count);
	for (size_t i = 0; i < b->count; i++)
		b->rtts[i] = b->rtts[i] > usual ? b->rtts[i] - usual : usual - b->rtts[i];
	int64_t scatter = median(b->rtts, b->count);
	int64_t limit = greatest(usual + detect_threshold(THRESHOLD_DELAY_MADS) * scatter,
				 detect_threshold(THRESHOLD_DELAY_MEDIANS) * usual);

	b->median_us = usual;
	b->limit_us = greatest(limit, detect_threshold(THRESHOLD_DELAY_LEAST_MS) * US_PER_MS) +
		      detect_threshold(THRESHOLD_DELAY_ACK_MS) * US_PER_MS;
}

static bool has_rtt(const struct event *e)
{
	return event_has(e, FIELD_RTT_MEDIAN_US) && detect_number(e, FIELD_RTT_SAMPLES) > 0 &&
	       e->value[FIELD_RTT_MEDIAN_US].number >= 0 && e->value[FIELD_RTT_MEDIAN_US].number < RTT_US_MAX;
}

static int find_baselines(const struct detect_context *ctx, struct delays *d)
{
	const enum event_type types[] = { EVENT_NET_SECOND };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		if (!has_rtt(&e))
			continue;
		size_t i = direction_index(detect_path(ctx, &e), &e);

		d->baselines = detect_room(ctx->arena, d->baselines, sizeof *d->baselines, i, &d->baseline_capacity);
		add_to_baseline(ctx->arena, &d->baselines[i], e.value[FIELD_RTT_MEDIAN_US].number);
	}
	query_free(q);
	for (size_t i = 0; i < d->baseline_capacity; i++)
		set_limit(&d->baselines[i]);
	return rc;
}

/* How many of the second's round trips are known to exceed the limit. */
static int64_t slow_samples(const struct event *e, int64_t limit_us)
{
	int64_t n = detect_number(e, FIELD_RTT_SAMPLES);

	if (event_has(e, FIELD_RTT_MIN_US) && e->value[FIELD_RTT_MIN_US].number > limit_us)
		return n;
	return e->value[FIELD_RTT_MEDIAN_US].number > limit_us ? (n + 1) / 2 : 0;
}

static void widen_delay(const struct detect_context *ctx, const struct baseline *b, struct slow_run *run, const struct event *e)
{
	struct window *w = &ctx->out->items[run->window - 1];
	struct span second = detect_event_span(ctx, e);

	if (second.end.us > w->span.end.us)
		w->span.end = w->outage.end = second.end;
	detect_measure(w, MEASURE_RTT_MEDIAN_US, b->median_us);
	if (event_has(e, FIELD_RTT_MAX_US))
		detect_measure(w, MEASURE_RTT_MAX_US, e->value[FIELD_RTT_MAX_US].number);
	detect_evidence(ctx, w, e, "round trips of this second were far beyond the path's usual");
}

/* A second of one direction: it begins, continues or ends a run of slow ones. */
static void take_round_trips(const struct detect_context *ctx, struct delays *d, const struct event *e)
{
	const struct path *path = detect_path(ctx, e);
	size_t i = direction_index(path, e);
	const struct baseline *b = &d->baselines[i];
	int64_t slow = b->limit_us > 0 ? slow_samples(e, b->limit_us) : 0;

	d->runs = detect_room(ctx->arena, d->runs, sizeof *d->runs, i, &d->run_capacity);
	struct slow_run *run = &d->runs[i];
	if (slow == 0) {
		*run = (struct slow_run){ .first = run->first };
		return;
	}
	if (run->samples == 0) {
		run->start_us = e->time.us;
		if (run->first == NULL)
			run->first = arena_alloc(ctx->arena, sizeof *run->first);
		detect_keep(ctx->arena, e, run->first);
	}
	run->samples += slow;
	run->end_us = e->time.us;
	if (run->window != 0) {
		widen_delay(ctx, b, run, e);
		return;
	}
	if (run->samples < detect_threshold(THRESHOLD_DELAY_SAMPLES) &&
	    run->end_us - run->start_us < detect_threshold(THRESHOLD_DELAY_FOR_MS) * US_PER_MS)
		return;
	struct window *w = detect_add(ctx, WINDOW_DELAY, "capture", SV_ABSENT, path, detect_event_span(ctx, run->first));
	w->resolution_us = US_PER_S;
	run->window = ctx->out->count;
	widen_delay(ctx, b, run, run->first);
	if (run->first->id != e->id)
		widen_delay(ctx, b, run, e);
}

int detect_delay(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_SECOND };
	struct delays d = { 0 };
	struct event e;

	if (find_baselines(ctx, &d) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1)
		if (has_rtt(&e))
			take_round_trips(ctx, &d, &e);
	query_free(q);
	return rc;
}

/* ---- reset ---- */

/* An instant becomes a window of this length, so that it can meet others. */
#define INSTANT_US 1000

/* When brokers started, by their logs. */
struct starts {
	struct event *events;
	size_t count;
};

static bool is_restart(const struct detect_context *ctx, const struct starts *starts, struct ref_time t)
{
	for (size_t i = 0; i < starts->count; i++) {
		int64_t after_us = clock_to_ref(ctx->clocks, starts->events[i].host, starts->events[i].time).us - t.us;

		if (after_us >= 0 && after_us <= detect_threshold(THRESHOLD_RESET_RESTART_S) * US_PER_S)
			return true;
	}
	return false;
}

/*
 * A reset by the caller is the caller's own doing: a process that ended with
 * data unread, or the answer to a segment of a connection it had given up.
 * What the called side sends takes a connection from a caller that wanted it.
 */
static void take_reset(const struct detect_context *ctx, const struct starts *starts, const struct event *e)
{
	struct span span = detect_span(ctx, e->host, e->time.us, e->time.us + INSTANT_US);

	if (!sv_eq(event_text(e, FIELD_DIRECTION), SV("ba")) || is_restart(ctx, starts, span.start))
		return;
	struct window *w = detect_add(ctx, WINDOW_RESET, "capture", SV_ABSENT, detect_path(ctx, e), span);
	detect_measure(w, MEASURE_RESETS, 1);
	detect_evidence(ctx, w, e, "the called side's address reset a connection that was in use");
}

static void take_unanswered(const struct detect_context *ctx, const struct event *e)
{
	if (e->duration_us < detect_threshold(THRESHOLD_RESET_UNANSWERED_MS) * US_PER_MS)
		return;
	struct window *w = detect_add(ctx, WINDOW_RESET, "capture", SV_ABSENT, detect_path(ctx, e), detect_event_span(ctx, e));
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_UNANSWERED, 1);
	detect_evidence(ctx, w, e, "a connection could not be opened: no answer");
}

int detect_reset(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_NET_RESET, EVENT_NET_SYN_UNANSWERED };
	const enum event_type started[] = { EVENT_BROKER_STARTED };
	struct starts starts;
	struct event e;

	if (query_load(ctx->store, started, 1, ctx->arena, &starts.events, &starts.count) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, 2);
	int rc;
	while ((rc = query_next(q, &e)) == 1) {
		if (e.type == EVENT_NET_RESET)
			take_reset(ctx, &starts, &e);
		else
			take_unanswered(ctx, &e);
	}
	query_free(q);
	return rc;
}
