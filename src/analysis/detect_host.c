/* SPDX-License-Identifier: MIT */
/*
 * Detectors of what a host's kernel counted (method.md 3): losses of TCP, an
 * interface that does not send, the receive queues of the CPUs, connection
 * tracking. Such a window concerns its
 * host alone; softnet_stat is of the whole machine, the others are of the
 * network namespace in which they were read.
 */

#include "analysis/detect_counters.h"

#include <stdlib.h>

#include "base/order.h"

/* An outage by the timers that ran out is at most so many times as long as its part in which they stand close. */
#define TIMEOUTS_CLOSE_PART 5
/* So many in a row that stand close are a new one. */
#define TIMEOUTS_OF_BEGINNING 3

/* ---- loss, by the counters of TCP ---- */

static const struct counter_column snmp_columns[] = {
	{ "tcp.OutSegs", MEASURE_SEGMENTS },
	{ "tcp.RetransSegs", MEASURE_RETRANSMITS },
};
static const struct counter_column netstat_columns[] = { { "tcpext.TCPTimeouts", MEASURE_TIMEOUTS } };

static bool is_ratio_of_loss(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)span;
	return detect_is_many(c->ctx, i->growth[1], THRESHOLD_LOSS_RETRANSMITS, i->growth[0], THRESHOLD_LOSS_PERCENT);
}

static bool has_timeouts(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)span;
	return i->growth[0] >= detect_threshold(c->ctx, THRESHOLD_LOSS_TIMEOUTS);
}

static size_t next_of_host(const struct windows *all, size_t after)
{
	size_t i = after + 1;

	while (i < all->count && !sv_eq(all->items[i].host, all->items[after].host))
		i++;
	return i;
}

/* Several that stand close, from this one on: a new outage rather than what is left of one. */
static bool is_beginning(const struct detect_context *ctx, size_t at)
{
	const struct windows *all = ctx->out;

	for (int n = 1; n < TIMEOUTS_OF_BEGINNING; n++) {
		size_t next = next_of_host(all, at);

		if (next == all->count || all->items[next].span.start.us - all->items[at].span.end.us >= ctx->heartbeat_ms * US_PER_MS)
			return false;
		at = next;
	}
	return true;
}

/*
 * A timer that runs out tells that what was sent before, one timeout ago, was
 * lost; of the path at that moment it tells nothing. The timeout doubles, so it
 * is at most as long as the losses have lasted: what runs out within that time
 * was lost with those before, half way back or later. Where losses come by
 * chance that would join them all, so those that stand close must make up a
 * good part of the whole.
 */
static void join_timeouts(const struct detect_context *ctx, size_t first)
{
	struct windows *all = ctx->out;
	bool *is_joined = arena_array(ctx->arena, all->count + 1, sizeof *is_joined);

	for (size_t i = first; i < all->count; i++) {
		struct ref_time start = all->items[i].span.start, end = all->items[i].span.end, close = end;
		struct window *last = &all->items[i];
		bool is_late = false;

		if (is_joined[i])
			continue;
		for (size_t k = next_of_host(all, i); k < all->count; k = next_of_host(all, k)) {
			struct window *next = &all->items[k];
			int64_t gap_us = next->span.start.us - end.us, whole_us = next->span.end.us - start.us;

			is_late = is_late || gap_us >= ctx->heartbeat_ms * US_PER_MS;
			if (is_late && (gap_us > end.us - start.us + next->resolution_us ||
					whole_us > TIMEOUTS_CLOSE_PART * (close.us - start.us) + next->resolution_us ||
					(gap_us >= ctx->heartbeat_ms * US_PER_MS && is_beginning(ctx, k))))
				break;
			end = next->span.end;
			close = is_late ? close : end;
			is_joined[k] = true;
			last = next;
		}
		last->lost = (struct span){ start, { start.us + (last->span.start.us - start.us) / 2 } };
		last->span.start = start;
		last->outage = last->span;
		last->has_outage = last->has_lost = !span_is_empty(last->lost);
	}
}

int detect_counter_loss(const struct detect_context *ctx)
{
	const struct counter_columns snmp = { "snmp", snmp_columns, sizeof snmp_columns / sizeof snmp_columns[0] };
	const struct counter_columns netstat = { "netstat", netstat_columns,
						 sizeof netstat_columns / sizeof netstat_columns[0] };
	struct counter_collector ratio = { .ctx = ctx,
					   .counters = &snmp,
					   .is_window = is_ratio_of_loss,
					   .kind = WINDOW_LOSS,
					   .role = "the host's kernel sent segments again between these samples" };
	struct counter_collector timeouts = { .ctx = ctx,
					      .counters = &netstat,
					      .is_window = has_timeouts,
					      .kind = WINDOW_LOSS,
					      .role = "retransmission timers of this host ran out between these samples" };

	if (detect_collect(&ratio) < 0)
		return -1;
	size_t first = ctx->out->count;
	if (detect_collect(&timeouts) < 0)
		return -1;
	join_timeouts(ctx, first);
	return 0;
}

/* ---- link ---- */

static const struct counter_column link_columns[] = { { "tcpext.TCPSpuriousRtxHostQueues", MEASURE_HELD_BACK } };
static const struct counter_columns link_counters = { "netstat", link_columns, sizeof link_columns / sizeof link_columns[0] };

static bool is_link_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)span;
	return i->growth[0] >= detect_threshold(c->ctx, THRESHOLD_LINK_HELD_BACK);
}

/*
 * A segment that is held back is tried again after twice as long each time (RTO
 * backoff): as long as it has been held already, nothing new need be counted. So
 * growths that lie no further apart than that, within a sample, are one outage.
 */
static void join_backoff(const struct detect_context *ctx, size_t first)
{
	for (size_t i = first; i < ctx->out->count; i++) {
		const struct window *w = &ctx->out->items[i];
		size_t k = next_of_host(ctx->out, i);
		struct window *next = &ctx->out->items[k];
		if (k < ctx->out->count && next->span.start.us - w->span.end.us <= span_length_us(w->span) + w->resolution_us)
			next->span.start = next->outage.start = w->span.start;
	}
}

/* What a host cannot send does not come by its own capture: the counters alone tell. */
int detect_link(const struct detect_context *ctx)
{
	struct counter_collector c = { .ctx = ctx,
				       .counters = &link_counters,
				       .is_window = is_link_window,
				       .kind = WINDOW_LINK,
				       .role = "segments stood in this host's own queue until their timers ran out" };
	size_t first = ctx->out->count;

	if (detect_collect(&c) < 0)
		return -1;
	join_backoff(ctx, first);
	return 0;
}

/* ---- softnet ---- */

enum { SOFTNET_DROPPED, SOFTNET_FLOW_LIMIT, SOFTNET_TIME_SQUEEZE };
static const struct counter_column softnet_columns[] = {
	[SOFTNET_DROPPED] = { "softnet.dropped", MEASURE_SOFTNET_DROPPED },
	[SOFTNET_FLOW_LIMIT] = { "softnet.flow_limit", MEASURE_SOFTNET_FLOW_LIMIT },
	[SOFTNET_TIME_SQUEEZE] = { "softnet.time_squeeze", MEASURE_SOFTNET_TIME_SQUEEZE },
};
static const struct counter_columns softnet = { "softnet", softnet_columns,
						sizeof softnet_columns / sizeof softnet_columns[0] };

/* The squeezes of one host: their rate per interval, and the other signs of trouble at that host. */
struct squeezes {
	const struct path *series;
	int64_t *rates; /* per 1000 s, of the intervals with growth; the others are 0 */
	size_t count, capacity;
	int64_t intervals;
	int64_t start_us, end_us, sum; /* the interval that is being added up */
	int64_t usual;		       /* median rate */
	struct span_set signs;
	bool has_signs;
};

struct squeezing {
	struct squeezes *items; /* by series */
	size_t capacity;
};

#define RATE_SCALE (1000 * US_PER_S)

static int64_t rate_of(int64_t growth, int64_t length_us)
{
	int64_t scaled;

	if (length_us <= 0)
		return 0;
	return __builtin_mul_overflow(growth, RATE_SCALE, &scaled) ? INT64_MAX : scaled / length_us;
}

static void close_squeeze(struct arena *a, struct squeezes *s)
{
	if (s->sum > 0)
		*ARENA_PUSH(a, s->rates, s->count, s->capacity) = rate_of(s->sum, s->end_us - s->start_us);
	s->sum = 0;
}

static struct squeezes *squeezes_of(struct counter_collector *c, struct sv host)
{
	const struct path *series = detect_series(c->ctx, host, c->counters->evidence);

	struct squeezing *all = c->state;

	all->items = detect_room(c->ctx->arena, all->items, sizeof *all->items, series->index, &all->capacity);
	all->items[series->index].series = series;
	return &all->items[series->index];
}

/* The median over all intervals, most of which have usually no squeeze at all. */
static void set_usual_rate(struct squeezes *s)
{
	size_t all = s->intervals > (int64_t)s->count ? (size_t)s->intervals : s->count;
	size_t zeros = all - s->count;

	if (s->count == 0 || all / 2 < zeros)
		return;
	qsort(s->rates, s->count, sizeof *s->rates, order_i64_items);
	s->usual = s->rates[all / 2 - zeros];
}

static int find_usual_rates(struct counter_collector *c)
{
	const enum event_type types[] = { EVENT_COUNTER_DELTA, EVENT_COVERED };
	struct query *q = query_events(c->ctx->store, types, 2);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		if (e.type == EVENT_COVERED && sv_eq(event_text(&e, FIELD_EVIDENCE_KIND), SV("softnet")))
			squeezes_of(c, e.host)->intervals += detect_number(&e, FIELD_SAMPLES) - 1;
		if (e.type == EVENT_COVERED || !sv_eq(event_text(&e, FIELD_COUNTER), SV("softnet.time_squeeze")))
			continue;
		struct squeezes *s = squeezes_of(c, e.host);
		if (s->sum > 0 && s->start_us != e.time.us)
			close_squeeze(c->ctx->arena, s);
		s->start_us = e.time.us;
		s->end_us = e.time.us + (e.duration_us < INT64_MAX / 2 ? e.duration_us : 0);
		s->sum += detect_number(&e, FIELD_DELTA) & INT32_MAX;
	}
	query_free(q);
	const struct squeezing *all = c->state;
	for (size_t i = 0; i < all->capacity; i++) {
		close_squeeze(c->ctx->arena, &all->items[i]);
		set_usual_rate(&all->items[i]);
	}
	return rc;
}

/* A window of another kind on the same host at the same time. */
static bool has_second_sign(struct counter_collector *c, struct squeezes *s, struct span span)
{
	const struct windows *found = c->ctx->out;

	for (size_t i = 0; !s->has_signs && i < found->count; i++) {
		const struct window *w = &found->items[i];

		if (window_is_jitter(w) && w->kind != WINDOW_SOFTNET && sv_eq(w->host, s->series->host))
			span_set_add(&s->signs, c->ctx->arena, w->span);
	}
	s->has_signs = true;
	return span_set_overlap_us(&s->signs, span) > 0;
}

static bool is_softnet_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	int64_t least = detect_threshold(c->ctx, THRESHOLD_SOFTNET_DROPS), beyond;

	if (i->growth[SOFTNET_DROPPED] >= least || i->growth[SOFTNET_FLOW_LIMIT] >= least)
		return true;
	struct squeezes *s = squeezes_of(c, i->series->host);
	int64_t rate = rate_of(i->growth[SOFTNET_TIME_SQUEEZE], i->end_us - i->start_us);
	if (__builtin_mul_overflow(s->usual, detect_threshold(c->ctx, THRESHOLD_SOFTNET_SQUEEZE_RATIO), &beyond))
		return false;
	return rate > beyond && rate >= rate_of(detect_threshold(c->ctx, THRESHOLD_SOFTNET_SQUEEZE_PER_S), US_PER_S) &&
	       has_second_sign(c, s, span);
}

int detect_softnet(const struct detect_context *ctx)
{
	struct squeezing squeezing = { NULL, 0 };
	struct counter_collector c = {
		.ctx = ctx,
		.counters = &softnet,
		.state = &squeezing,
		.is_window = is_softnet_window,
		.kind = WINDOW_SOFTNET,
		.role = "a CPU of this machine lost packets or left them waiting between these samples"
	};

	return find_usual_rates(&c) < 0 ? -1 : detect_collect(&c);
}

/* ---- conntrack ---- */

static const struct counter_column conntrack_columns[] = {
	{ "conntrack.insert_failed", MEASURE_CONNTRACK_INSERT_FAILED },
	{ "conntrack.drop", MEASURE_CONNTRACK_DROP },
	{ "conntrack.early_drop", MEASURE_CONNTRACK_EARLY_DROP },
	{ "conntrack.chaintoolong", MEASURE_CONNTRACK_CHAIN_TOO_LONG },
};
static const struct counter_columns conntrack = { "conntrack", conntrack_columns,
						  sizeof conntrack_columns / sizeof conntrack_columns[0] };

static bool is_conntrack_window(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)span;
	for (size_t column = 0; column < sizeof conntrack_columns / sizeof conntrack_columns[0]; column++)
		if (i->growth[column] >= detect_threshold(c->ctx, THRESHOLD_CONNTRACK_GROWTH))
			return true;
	return false;
}

static const struct counter_column table_columns[] = { { "conntrack.full", MEASURE_CONNTRACK_FULL } };
static const struct counter_columns table = { "conntrack_table", table_columns,
					      sizeof table_columns / sizeof table_columns[0] };

static bool is_full_table(struct counter_collector *c, const struct counter_interval *i, struct span span)
{
	(void)c;
	(void)span;
	return i->growth[0] > 0;
}

int detect_conntrack(const struct detect_context *ctx)
{
	struct counter_collector drops = { .ctx = ctx,
					   .counters = &conntrack,
					   .is_window = is_conntrack_window,
					   .kind = WINDOW_CONNTRACK,
					   .role = "connection tracking of this host lost packets between these samples" };
	struct counter_collector full = { .ctx = ctx,
					  .counters = &table,
					  .is_window = is_full_table,
					  .kind = WINDOW_CONNTRACK,
					  .role = "the table of connections was full at this sample" };

	return detect_collect(&drops) < 0 || detect_collect(&full) < 0 ? -1 : 0;
}
