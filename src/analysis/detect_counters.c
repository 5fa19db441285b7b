/* SPDX-License-Identifier: MIT */
/* The growth of counters, interval by interval. See analysis/detect_counters.h. */

#include "analysis/detect_counters.h"

#define INTERVAL_EVENTS_MAX 8

const struct path *detect_series(const struct detect_context *ctx, struct sv host, const char *evidence)
{
	return paths_get(ctx->paths, host, sv_of(evidence), SV(""));
}

/* "eth0 rx_drops" of a driver is of eth0. */
static const struct path *series_of(const struct counter_collector *c, const struct event *e)
{
	struct sv device = event_text(e, FIELD_DEVICE);

	if (c->of == SERIES_OF_PATH)
		return paths_get(c->ctx->paths, e->host, event_text(e, FIELD_PATH_A), event_text(e, FIELD_PATH_B));
	if (c->of == SERIES_OF_DEVICE && !sv_is_absent(device))
		return paths_get(c->ctx->paths, e->host, sv_of(c->counters->evidence), sv_cut(&device, ' '));
	return detect_series(c->ctx, e->host, c->counters->evidence);
}

static bool find_column(const struct counter_columns *counters, const struct event *e, size_t *column)
{
	for (*column = 0; *column < counters->column_count; (*column)++)
		if (sv_eq(event_text(e, FIELD_COUNTER), sv_of(counters->columns[*column].counter)))
			return true;
	return false;
}

static struct span_set covered_by(const struct detect_context *ctx, const char *evidence, struct sv host)
{
	struct span_set set = { 0 };

	for (size_t i = 0; i < ctx->out->coverage_count; i++) {
		const struct coverage *c = &ctx->out->coverage[i];

		if (sv_eq(c->kind, sv_of(evidence)) && sv_eq(c->host, host) && !c->is_coarse)
			span_set_add(&set, ctx->arena, c->span);
	}
	return set;
}

/* An input without coverage lacks what its figures would have to be measured by: retransmissions, but not what was sent. */
static bool has_coverage(const struct counter_collector *c, int64_t input)
{
	for (size_t i = 0; i < c->input_count; i++)
		if (c->inputs[i] == input)
			return true;
	return false;
}

static int find_inputs(struct counter_collector *c)
{
	const enum event_type types[] = { EVENT_COVERED };
	struct query *q = query_events(c->ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		if (sv_eq(event_text(&e, FIELD_EVIDENCE_KIND), sv_of(c->counters->evidence)) &&
		    !has_coverage(c, e.place.input))
			*ARENA_PUSH(c->ctx->arena, c->inputs, c->input_count, c->input_capacity) = e.place.input;
	query_free(q);
	return rc;
}

/* Growth over a gap between samples happened some time in it: that is no window. */
static bool is_covered(struct counter_collector *c, struct counter_interval *i, struct span span)
{
	if (!has_coverage(c, i->input))
		return false;
	if (!i->has_covered)
		i->covered = covered_by(c->ctx, c->counters->evidence, i->series->host);
	i->has_covered = true;
	return span_set_covers(&i->covered, span, 0);
}

/* Nor is what happened some time in ten minutes. */
static bool is_fine(const struct counter_collector *c, const struct counter_interval *i)
{
	int64_t length_us;

	return !__builtin_sub_overflow(i->end_us, i->start_us, &length_us) &&
	       length_us <= detect_threshold(c->ctx, THRESHOLD_COUNTERS_INTERVAL_S) * US_PER_S;
}

void detect_interval_evidence(const struct counter_collector *c, const struct counter_interval *i, struct window *w)
{
	for (size_t e = 0; e < i->event_count; e++)
		detect_evidence(c->ctx, w, &i->events[e], c->role);
	if (i->more > 0)
		detect_measure(w, MEASURE_EVIDENCE_LEFT_OUT, (int64_t)i->more);
}

static void open_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	struct window *w = detect_add(c->ctx, c->kind, c->counters->evidence, i->series->host,
				      c->of == SERIES_OF_PATH ? i->series : NULL, span);

	w->resolution_us = span_length_us(span);
	for (size_t column = 0; column < c->counters->column_count; column++)
		if (i->growth[column] > 0 && c->counters->columns[column].measure != MEASURE_COUNT)
			detect_measure(w, c->counters->columns[column].measure, i->growth[column]);
	detect_interval_evidence(c, i, w);
}

static void close_interval(struct counter_collector *c, struct counter_interval *i)
{
	if (i->in_use && is_fine(c, i)) {
		struct span span = detect_span(c->ctx, i->series->host, i->start_us, i->end_us);

		if (is_covered(c, i, span) && c->is_window(c, i, span))
			open_window(c, i, span);
	}
	*i = (struct counter_interval){
		.series = i->series, .events = i->events, .covered = i->covered, .has_covered = i->has_covered
	};
}

static void keep_row(struct arena *a, struct counter_interval *i, const struct event *e)
{
	if (i->events == NULL)
		i->events = arena_array(a, INTERVAL_EVENTS_MAX, sizeof *i->events);
	if (i->event_count == INTERVAL_EVENTS_MAX)
		i->more++;
	else
		detect_keep(a, e, &i->events[i->event_count++]);
}

static void take_delta(struct counter_collector *c, const struct event *e, size_t column)
{
	const struct path *series = series_of(c, e);
	int64_t end_us;

	if (__builtin_add_overflow(e->time.us, e->duration_us, &end_us))
		return;
	c->items = detect_room(c->ctx->arena, c->items, sizeof *c->items, series->index, &c->capacity);
	struct counter_interval *i = &c->items[series->index];
	if (i->in_use && (i->start_us != e->time.us || i->end_us != end_us || i->input != e->place.input))
		close_interval(c, i);
	i->in_use = true;
	i->series = series;
	i->input = e->place.input;
	i->start_us = e->time.us;
	i->end_us = end_us;
	if (__builtin_add_overflow(i->growth[column], detect_number(e, FIELD_DELTA), &i->growth[column]))
		i->growth[column] = INT64_MAX;
	keep_row(c->ctx->arena, i, e);
}

int detect_collect(struct counter_collector *c)
{
	const enum event_type types[] = { EVENT_COUNTER_DELTA };
	struct event e;
	size_t column;
	int rc = find_inputs(c);

	if (rc < 0)
		return -1;
	struct query *q = query_events(c->ctx->store, types, 1);
	while ((rc = query_next(q, &e)) == 1)
		if (find_column(c->counters, &e, &column) &&
		    (c->of != SERIES_OF_PATH || event_has(&e, FIELD_PATH_B)))
			take_delta(c, &e, column);
	query_free(q);
	for (size_t i = 0; i < c->capacity; i++)
		close_interval(c, &c->items[i]);
	return rc;
}
