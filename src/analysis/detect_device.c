/* SPDX-License-Identifier: MIT */
/*
 * Detectors of counters of one thing of a host: an interface, a connection, a
 * cgroup or the machine itself that was kept from running.
 */

#include "analysis/detect_counters.h"

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	return __builtin_add_overflow(a, b, &s) ? INT64_MAX : s;
}

/* ---- interfaces ---- */

enum {
	RX_PACKETS,
	TX_PACKETS,
	RX_ERRORS,
	TX_ERRORS,
	RX_FIFO,
	TX_CARRIER,
	RX_DROPPED,
	TX_DROPPED,
	CARRIER_CHANGES,
	DRIVER,
};
static const struct counter_column interface_columns[] = {
	[RX_PACKETS] = { "interface.rx_packets", MEASURE_COUNT },
	[TX_PACKETS] = { "interface.tx_packets", MEASURE_COUNT },
	[RX_ERRORS] = { "interface.rx_errors", MEASURE_INTERFACE_ERRORS },
	[TX_ERRORS] = { "interface.tx_errors", MEASURE_INTERFACE_ERRORS },
	[RX_FIFO] = { "interface.rx_fifo", MEASURE_INTERFACE_ERRORS },
	[TX_CARRIER] = { "interface.tx_carrier", MEASURE_INTERFACE_ERRORS },
	[RX_DROPPED] = { "interface.rx_dropped", MEASURE_INTERFACE_DROPPED },
	[TX_DROPPED] = { "interface.tx_dropped", MEASURE_INTERFACE_DROPPED },
	[CARRIER_CHANGES] = { "interface.carrier_changes", MEASURE_CARRIER_CHANGES },
	[DRIVER] = { "interface.driver", MEASURE_INTERFACE_DRIVER },
};
static const struct counter_columns interface = { "interface", interface_columns, COUNT_OF(interface_columns) };

static bool is_many(const struct detect_context *ctx, int64_t dropped, int64_t packets)
{
	return detect_is_many(ctx, dropped, THRESHOLD_LINK_DROPS, sum(dropped, packets), THRESHOLD_LINK_DROP_PERCENT);
}

static bool is_interface_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	static const int errors[] = { RX_ERRORS, TX_ERRORS, RX_FIFO, TX_CARRIER, CARRIER_CHANGES, DRIVER };

	(void)span;
	for (size_t k = 0; k < COUNT_OF(errors); k++)
		if (i->growth[errors[k]] >= detect_threshold(c->ctx, THRESHOLD_LINK_ERRORS))
			return true;
	return is_many(c->ctx, i->growth[RX_DROPPED], i->growth[RX_PACKETS]) ||
	       is_many(c->ctx, i->growth[TX_DROPPED], i->growth[TX_PACKETS]);
}

int detect_interface(const struct detect_context *ctx)
{
	struct counter_collector c = { .ctx = ctx,
				       .counters = &interface,
				       .of = SERIES_OF_DEVICE,
				       .is_window = is_interface_window,
				       .kind = WINDOW_LINK,
				       .role = "an interface of this host lost frames, or its carrier, between these samples" };

	return detect_collect(&c);
}

/* ---- connections ---- */

static const struct counter_column socket_columns[] = {
	{ "socket.segments", MEASURE_SEGMENTS },
	{ "socket.retransmits", MEASURE_RETRANSMITS },
};
static const struct counter_columns sockets = { "sockets", socket_columns, COUNT_OF(socket_columns) };

static bool is_socket_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)span;
	return detect_is_many(c->ctx, i->growth[1], THRESHOLD_LOSS_RETRANSMITS, i->growth[0], THRESHOLD_LOSS_PERCENT);
}

int detect_socket_loss(const struct detect_context *ctx)
{
	struct counter_collector c = { .ctx = ctx,
				       .counters = &sockets,
				       .of = SERIES_OF_PATH,
				       .is_window = is_socket_window,
				       .kind = WINDOW_LOSS,
				       .role = "this host sent segments again on this path between these samples" };

	return detect_collect(&c);
}

/* Since it last heard, and its timer had run out meanwhile: a sample found it so. */
static void take_silence(const struct detect_context *ctx, const struct event *e)
{
	const struct path *path = detect_path(ctx, e);
	struct span span = detect_event_span(ctx, e);

	if (span_length_us(span) <= detect_threshold(ctx, THRESHOLD_BLACKOUT_LEAST_MS) * US_PER_MS)
		return;
	struct window *w = detect_add(ctx, WINDOW_BLACKOUT, "sockets", SV_ABSENT, path, span);
	w->resolution_us = US_PER_S;
	detect_evidence(ctx, w, e, "a connection of this host had heard nothing since then, with data outstanding");
}

int detect_socket_silence(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_COUNTER_DELTA };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		if (sv_eq(event_text(&e, FIELD_COUNTER), SV("socket.silent_ms")) && event_has(&e, FIELD_PATH_B))
			take_silence(ctx, &e);
	query_free(q);
	return rc;
}

/* ---- processes that were kept from running ---- */

/* The stalls of one cgroup or machine, as long as one interval follows the other. */
struct starved_run {
	bool in_use;
	int64_t end_us;
	struct span span;
	int64_t stalled_us;
	struct window rows; /* holds the evidence until it is known whether there is a window */
};

struct starved {
	struct starved_run *items;
	size_t capacity;
	int64_t (*stalled_us)(const struct detect_context *ctx, const struct counter_interval *i);
};

enum { THROTTLED_US, THROTTLED_PERIODS };
static const struct counter_column quota_columns[] = {
	[THROTTLED_US] = { "cpu.throttled_us", MEASURE_COUNT },
	[THROTTLED_PERIODS] = { "cpu.throttled_periods", MEASURE_COUNT },
};
static const struct counter_columns quota = { "cpu_quota", quota_columns, COUNT_OF(quota_columns) };

/* Throttled time is summed over CPUs; no period is stalled for longer than it lasts. */
static int64_t quota_stalled_us(const struct detect_context *ctx, const struct counter_interval *i)
{
	int64_t most = detect_threshold(ctx, THRESHOLD_STARVED_PERIOD_MS) * US_PER_MS, by_periods;
	int64_t periods = i->growth[THROTTLED_PERIODS];

	if (periods == 0 || __builtin_mul_overflow(periods, most, &by_periods))
		return i->growth[THROTTLED_US];
	return i->growth[THROTTLED_US] < by_periods ? i->growth[THROTTLED_US] : by_periods;
}

static const struct counter_column pressure_columns[] = {
	{ "pressure.cpu.full_us", MEASURE_COUNT },
	{ "pressure.io.full_us", MEASURE_COUNT },
	{ "pressure.memory.full_us", MEASURE_COUNT },
};
static const struct counter_columns pressure = { "pressure", pressure_columns, COUNT_OF(pressure_columns) };

/* The same time may be a stall of several sorts. */
static int64_t pressure_stalled_us(const struct detect_context *ctx, const struct counter_interval *i)
{
	int64_t most = 0;

	(void)ctx;
	for (size_t k = 0; k < COUNT_OF(pressure_columns); k++)
		if (i->growth[k] > most)
			most = i->growth[k];
	return most;
}

static void close_run(const struct counter_collector *c, struct starved_run *r)
{
	if (r->in_use && r->stalled_us >= detect_pause_limit_us(c->ctx, WINDOW_PROCESS_PAUSE)) {
		struct window *w = detect_add(c->ctx, c->kind, c->counters->evidence, r->rows.host, NULL, r->span);

		w->evidence = r->rows.evidence;
		w->resolution_us = span_length_us(r->span);
		detect_measure(w, MEASURE_STALLED_MS, r->stalled_us / US_PER_MS);
	}
	*r = (struct starved_run){ 0 };
}

/* Never a window by itself: the run that it belongs to may be one. */
static bool take_stall(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	struct starved *s = c->state;
	int64_t stalled_us = s->stalled_us(c->ctx, i), length_us = i->end_us - i->start_us;

	s->items = detect_room(c->ctx->arena, s->items, sizeof *s->items, i->series->index, &s->capacity);
	struct starved_run *r = &s->items[i->series->index];
	if (r->in_use && r->end_us != i->start_us)
		close_run(c, r);
	if (stalled_us < length_us / 100 * detect_threshold(c->ctx, THRESHOLD_STARVED_PERCENT) &&
	    stalled_us < detect_pause_limit_us(c->ctx, WINDOW_PROCESS_PAUSE)) {
		close_run(c, r);
		return false;
	}
	if (!r->in_use)
		*r = (struct starved_run){ .in_use = true, .span = span, .rows = { .host = i->series->host } };
	r->end_us = i->end_us;
	r->span.end = span.end;
	r->stalled_us = sum(r->stalled_us, stalled_us);
	detect_interval_evidence(c, i, &r->rows);
	return false;
}

static int find_stalls(const struct detect_context *ctx, const struct counter_columns *counters,
		       int64_t (*stalled_us)(const struct detect_context *ctx, const struct counter_interval *i), const char *role)
{
	struct starved s = { .stalled_us = stalled_us };
	struct counter_collector c = { .ctx = ctx,
				       .counters = counters,
				       .of = SERIES_OF_DEVICE,
				       .is_window = take_stall,
				       .state = &s,
				       .kind = WINDOW_PROCESS_PAUSE,
				       .role = role };
	int rc = detect_collect(&c);

	for (size_t i = 0; i < s.capacity; i++)
		close_run(&c, &s.items[i]);
	return rc;
}

int detect_starved(const struct detect_context *ctx)
{
	if (find_stalls(ctx, &quota, quota_stalled_us, "a cgroup of this host had used up its CPU quota for so long") < 0)
		return -1;
	return find_stalls(ctx, &pressure, pressure_stalled_us, "all that wanted to run waited for CPU, disk or memory for so long");
}
