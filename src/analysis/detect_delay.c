/* SPDX-License-Identifier: MIT */
/*
 * Delay on a path (method.md 3): round trips far beyond those that its own
 * direction has usually. What is usual is robust, median and median absolute
 * deviation over the whole capture, so that the delay itself does not move it.
 */

#include "analysis/detect.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/seconds.h"
#include "base/order.h"

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

/* Sorts the values. */
static int64_t median(int64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, order_i64_items);
	return values[n / 2];
}

static int64_t greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Round trips beyond an hour are no measurements; below, products of thresholds stay in range. */
#define RTT_US_MAX (3600 * US_PER_S)

static void set_limit(const struct detect_context *ctx, struct baseline *b)
{
	if (b->seconds < (size_t)detect_threshold(ctx, THRESHOLD_DELAY_BASELINE))
		return;
	int64_t usual = median(b->rtts, b->count);
	for (size_t i = 0; i < b->count; i++)
		b->rtts[i] = b->rtts[i] > usual ? b->rtts[i] - usual : usual - b->rtts[i];
	int64_t scatter = median(b->rtts, b->count);
	int64_t limit = greatest(usual + detect_threshold(ctx, THRESHOLD_DELAY_MADS) * scatter,
				 detect_threshold(ctx, THRESHOLD_DELAY_MEDIANS) * usual);

	b->median_us = usual;
	b->limit_us = greatest(limit, detect_threshold(ctx, THRESHOLD_DELAY_LEAST_MS) * US_PER_MS) +
		      detect_threshold(ctx, THRESHOLD_DELAY_ACK_MS) * US_PER_MS;
}

static bool has_rtt(const struct event *e)
{
	return event_has(e, FIELD_RTT_MEDIAN_US) && detect_number(e, FIELD_RTT_SAMPLES) > 0 &&
	       event_value(e, FIELD_RTT_MEDIAN_US)->number >= 0 && event_value(e, FIELD_RTT_MEDIAN_US)->number < RTT_US_MAX;
}

static int find_baselines(const struct detect_context *ctx, struct delays *d)
{
	struct seconds *seconds = seconds_new(ctx->store, ctx->arena);
	struct event e;
	int rc;

	while ((rc = seconds_next(seconds, &e)) == 1) {
		if (!has_rtt(&e))
			continue;
		size_t i = direction_index(detect_path(ctx, &e), &e);

		d->baselines = detect_room(ctx->arena, d->baselines, sizeof *d->baselines, i, &d->baseline_capacity);
		add_to_baseline(ctx->arena, &d->baselines[i], event_value(&e, FIELD_RTT_MEDIAN_US)->number);
	}
	seconds_free(seconds);
	for (size_t i = 0; i < d->baseline_capacity; i++)
		set_limit(ctx, &d->baselines[i]);
	return rc;
}

/* How many of the second's round trips are known to exceed the limit. */
static int64_t slow_samples(const struct event *e, int64_t limit_us)
{
	int64_t n = detect_number(e, FIELD_RTT_SAMPLES);

	if (event_has(e, FIELD_RTT_MIN_US) && event_value(e, FIELD_RTT_MIN_US)->number > limit_us)
		return n;
	return event_value(e, FIELD_RTT_MEDIAN_US)->number > limit_us ? (n + 1) / 2 : 0;
}

static void widen_delay(const struct detect_context *ctx, const struct baseline *b, struct slow_run *run,
			const struct event *e)
{
	struct window *w = &ctx->out->items[run->window - 1];
	struct span second = detect_event_span(ctx, e);

	if (second.end.us > w->span.end.us)
		w->span.end = w->outage.end = second.end;
	detect_measure(w, MEASURE_RTT_MEDIAN_US, b->median_us);
	if (event_has(e, FIELD_RTT_MAX_US))
		detect_measure(w, MEASURE_RTT_MAX_US, event_value(e, FIELD_RTT_MAX_US)->number);
	detect_evidence(ctx, w, e, "round trips of this second were far beyond the path's usual");
}

/* A second of one direction: it begins, continues or ends a run of slow ones. */
static void take_round_trips(const struct detect_context *ctx, struct delays *d, const struct event *e)
{
	const struct path *path = detect_path(ctx, e);
	size_t i = direction_index(path, e);
	const struct baseline *b = &d->baselines[i];
	assert(d->baselines != NULL); /* made in the first pass over these same events */
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
	if (run->samples < detect_threshold(ctx, THRESHOLD_DELAY_SAMPLES) &&
	    run->end_us - run->start_us < detect_threshold(ctx, THRESHOLD_DELAY_FOR_MS) * US_PER_MS)
		return;
	struct window *w =
		detect_add(ctx, WINDOW_DELAY, "capture", SV_ABSENT, path, detect_event_span(ctx, run->first));
	w->resolution_us = US_PER_S;
	run->window = ctx->out->count;
	widen_delay(ctx, b, run, run->first);
	if (run->first->id != e->id)
		widen_delay(ctx, b, run, e);
}

int detect_delay(const struct detect_context *ctx)
{
	struct delays d = { 0 };
	struct event e;

	if (find_baselines(ctx, &d) < 0)
		return -1;
	struct seconds *seconds = seconds_new(ctx->store, ctx->arena);
	int rc;
	while ((rc = seconds_next(seconds, &e)) == 1)
		if (has_rtt(&e))
			take_round_trips(ctx, &d, &e);
	seconds_free(seconds);
	return rc;
}
