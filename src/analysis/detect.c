/* SPDX-License-Identifier: MIT */
/*
 * The table of detectors, their thresholds, and what they share: windows,
 * measures, evidence.
 */

#include "analysis/detect.h"

#include <assert.h>
#include <string.h>

#define ROWS(first, last) &threshold_infos[THRESHOLD_##first], THRESHOLD_##last - THRESHOLD_##first + 1

const struct detector detectors[] = {
	{ WINDOW_BLACKOUT, "capture", detect_blackout, ROWS(BLACKOUT_LEAST_MS, BLACKOUT_RTTS) },
	{ WINDOW_LOSS, "capture", detect_loss, ROWS(LOSS_PERCENT, LOSS_TIMEOUTS) },
	{ WINDOW_DELAY, "capture", detect_delay, ROWS(DELAY_MADS, DELAY_BASELINE) },
	{ WINDOW_RESET, "capture", detect_reset, ROWS(RESET_UNANSWERED_MS, RESET_RESTART_S) },
	{ WINDOW_LOSS, "netstat", detect_counter_loss, ROWS(LOSS_PERCENT, LOSS_TIMEOUTS) },
	{ WINDOW_LINK, "netstat", detect_link, ROWS(LINK_HELD_BACK, LINK_HELD_BACK) },
	{ WINDOW_LINK, "interface", detect_interface, ROWS(LINK_ERRORS, LINK_DROP_PERCENT) },
	{ WINDOW_LINK, "log", detect_log_link, ROWS(LINK_LINE_MS, LINK_LINE_MS) },
	{ WINDOW_BLACKOUT, "sockets", detect_socket_silence, ROWS(BLACKOUT_LEAST_MS, BLACKOUT_RTTS) },
	{ WINDOW_LOSS, "sockets", detect_socket_loss, ROWS(LOSS_PERCENT, LOSS_TIMEOUTS) },
	{ WINDOW_CONNTRACK, "log", detect_log_conntrack, ROWS(CONNTRACK_LINE_MS, CONNTRACK_LINES_APART_MS) },
	{ WINDOW_SOFTNET, "softnet", detect_softnet, ROWS(SOFTNET_DROPS, SOFTNET_SQUEEZE_PER_S) },
	{ WINDOW_CONNTRACK, "conntrack", detect_conntrack, ROWS(CONNTRACK_GROWTH, CONNTRACK_GROWTH) },
	{ WINDOW_REQUEST, "capture", detect_request, ROWS(REQUEST_HEARTBEATS, REQUEST_HEARTBEATS) },
	{ WINDOW_PROCESS_PAUSE, "capture", detect_process_pause, ROWS(PAUSE_HEARTBEAT_PERCENT, PAUSE_HABIT_PERCENT) },
	{ WINDOW_PROCESS_PAUSE, "cpu_quota", detect_starved, ROWS(STARVED_PERCENT, STARVED_PERIOD_MS) },
	{ WINDOW_SERVER_PAUSE, "capture", detect_server_pause, ROWS(SERVER_PAUSE_HEARTBEATS, SERVER_PAUSE_CALLERS) },
	{ WINDOW_PROCESS_PAUSE, "log", detect_log_pause, ROWS(PAUSE_GAP_MS, PAUSE_GAP_MS) },
};
const size_t detector_count = sizeof detectors / sizeof detectors[0];

enum measure_how { HOW_SUM, HOW_MOST, HOW_SPAN };

static const struct {
	const char *name;
	enum measure_how how;
} measure_infos[MEASURE_COUNT] = {
#define MEASURE(id, name, how) { name, HOW_##how },
#include "analysis/measure.def"
#undef MEASURE
};

int64_t detect_threshold(const struct detect_context *ctx, enum threshold_id id)
{
	return ctx->thresholds->value[id];
}

bool detect_is_many(const struct detect_context *ctx, int64_t count, enum threshold_id least, int64_t all, enum threshold_id percent)
{
	int64_t most = detect_threshold(ctx, percent);

	return count >= detect_threshold(ctx, least) && count > all / 100 * most + all % 100 * most / 100;
}

struct span detect_span(const struct detect_context *ctx, struct sv host, int64_t start_us, int64_t end_us)
{
	return (struct span){ clock_to_ref(ctx->clocks, host, (struct host_time){ start_us }),
			      clock_to_ref(ctx->clocks, host, (struct host_time){ end_us }) };
}

struct span detect_event_span(const struct detect_context *ctx, const struct event *e)
{
	int64_t end_us;

	if (__builtin_add_overflow(e->time.us, e->duration_us, &end_us))
		end_us = INT64_MAX;
	return (struct span){ clock_event_to_ref(ctx->clocks, e),
			      clock_input_to_ref(ctx->clocks, e->place.input, e->host, (struct host_time){ end_us }) };
}

const struct path *detect_path(const struct detect_context *ctx, const struct event *e)
{
	return paths_get(ctx->paths, e->host, event_text(e, FIELD_PATH_A), event_text(e, FIELD_PATH_B));
}

struct window *detect_add(const struct detect_context *ctx, enum window_kind kind, const char *source, struct sv host,
			  const struct path *path, struct span span)
{
	struct windows *out = ctx->out;
	struct window *w = ARENA_PUSH(ctx->arena, out->items, out->count, out->capacity);

	*w = (struct window){
		.kind = kind, .kinds = 1U << kind, .source = source, .host = host, .span = span, .outage = span
	};
	if (path != NULL) {
		w->host = path->host;
		w->path_a = path->a;
		w->path_b = path->called;
	}
	return w;
}

static struct measure *find_measure(struct window *w, const char *name)
{
	for (size_t i = 0; i < w->measure_count; i++)
		if (strcmp(w->measures[i].name, name) == 0)
			return &w->measures[i];
	return NULL;
}

static enum measure_id measure_id_of(const char *name)
{
	unsigned id = 0;

	while (id < MEASURE_COUNT && strcmp(measure_infos[id].name, name) != 0)
		id++;
	return (enum measure_id)id;
}

/* Kept in the order of measure.def, whatever order they came in. */
static struct measure *new_measure(struct window *w, enum measure_id id)
{
	size_t at = w->measure_count++;

	assert(at < WINDOW_MEASURES_MAX);
	for (; at > 0 && measure_id_of(w->measures[at - 1].name) > id; at--)
		w->measures[at] = w->measures[at - 1];
	w->measures[at] = (struct measure){ measure_infos[id].name, false, 0 };
	return &w->measures[at];
}

void detect_measure(struct window *w, enum measure_id id, int64_t value)
{
	struct measure *m = find_measure(w, measure_infos[id].name);

	if (m == NULL)
		m = new_measure(w, id);
	if (!m->known || measure_infos[id].how == HOW_SPAN)
		m->value = value;
	else if (measure_infos[id].how == HOW_MOST)
		m->value = m->value > value ? m->value : value;
	else if (__builtin_add_overflow(m->value, value, &m->value))
		m->value = INT64_MAX;
	m->known = true;
}

const struct measure *window_measure(const struct window *w, enum measure_id id)
{
	for (size_t i = 0; i < w->measure_count; i++)
		if (strcmp(w->measures[i].name, measure_infos[id].name) == 0)
			return &w->measures[i];
	return NULL;
}

int64_t detect_number(const struct event *e, enum event_field f)
{
	return event_has(e, f) ? event_value(e, f)->number : 0;
}

void detect_keep(struct arena *a, const struct event *e, struct event *kept)
{
	event_copy(kept, e);
	kept->host = arena_copy(a, e->host);
	kept->text = arena_copy(a, e->text);
	for (int f = 0; f < FIELD_COUNT; f++)
		if (field_infos[f].type == FIELD_TEXT && event_has(e, (enum event_field)f))
			event_set_text(kept, (enum event_field)f, arena_copy(a, event_text(e, (enum event_field)f)));
}

void *detect_room(struct arena *a, void *items, size_t size, size_t index, size_t *capacity)
{
	while (index >= *capacity)
		items = arena_grow(a, items, size, *capacity, capacity);
	return items;
}

void detect_evidence(const struct detect_context *ctx, struct window *w, const struct event *e, const char *role)
{
	struct event kept;

	if (w->evidence.count >= DETECT_EVIDENCE_MAX) {
		detect_measure(w, MEASURE_EVIDENCE_LEFT_OUT, 1);
		return;
	}
	event_copy(&kept, e);
	/* The window's names outlive the query whose views the event holds. */
	kept.host = w->host;
	kept.text = arena_copy(ctx->arena, e->text);
	evidence_add(&w->evidence, ctx->arena, &kept, clock_event_to_ref(ctx->clocks, e), role);
}

static struct span span_union(struct span a, struct span b)
{
	return (struct span){ a.start.us < b.start.us ? a.start : b.start, a.end.us > b.end.us ? a.end : b.end };
}

/* Counts add up, or are views of the same, of which the greatest stands. */
static void merge_measures(struct window *w, const struct window *other, bool add)
{
	for (size_t i = 0; i < other->measure_count; i++) {
		const struct measure *m = &other->measures[i];
		struct measure *mine = find_measure(w, m->name);

		if (mine != NULL && !add)
			mine->value = mine->value > m->value ? mine->value : m->value;
		else
			detect_measure(w, measure_id_of(m->name), m->value);
	}
}

/* The lists hold different events: a detector gives each event to one window. */
static void merge_evidence(struct arena *a, struct window *w, const struct window *other)
{
	bool bounded = w->kinds == other->kinds;

	for (size_t i = 0; i < other->evidence.count; i++) {
		if (bounded && w->evidence.count >= DETECT_EVIDENCE_MAX) {
			detect_measure(w, MEASURE_EVIDENCE_LEFT_OUT, 1);
			continue;
		}
		evidence_push(&w->evidence, a, &other->evidence.items[i]);
	}
}

static bool is_waiting_alone(const struct window *w)
{
	return w->kinds == 1U << WINDOW_REQUEST;
}

/* A request may wait on after data goes through again: it came late, or was asked again. */
static void merge_silence(struct window *w, const struct window *other)
{
	if (!is_waiting_alone(w) && !is_waiting_alone(other) && !w->has_silence && !other->has_silence)
		return;
	if (is_waiting_alone(w) != is_waiting_alone(other)) {
		w->silence = is_waiting_alone(w) ? window_silence_of_path(other) : window_silence_of_path(w);
		w->has_silence = true;
	} else if (!is_waiting_alone(w)) {
		w->silence = span_union(window_silence_of_path(w), window_silence_of_path(other));
		w->has_silence = true;
	}
}

/*
 * What one took for the end of its outage was followed by the other's losses before anything went through.
 * Retransmissions that were counted by the second alone (no outage) may be what the peer's timers still repeat.
 */
static bool is_belied(const struct window *w, const struct window *other)
{
	return w->has_outage && other->has_outage && other->has_lost && w->outage.end.us < other->lost.end.us &&
	       other->lost.start.us < w->span.end.us;
}

static void merge(struct arena *a, struct window *w, const struct window *other, bool add)
{
	w->comes_and_goes = w->comes_and_goes || other->comes_and_goes || is_belied(w, other) || is_belied(other, w);
	merge_silence(w, other);
	merge_measures(w, other, add);
	merge_evidence(a, w, other);
	if (!w->has_outage && other->has_outage)
		w->outage = other->outage;
	else if (w->has_outage == other->has_outage)
		w->outage = span_union(w->outage, other->outage);
	w->has_outage = w->has_outage || other->has_outage;
	w->lost = !w->has_lost ? other->lost : !other->has_lost ? w->lost : span_union(w->lost, other->lost);
	w->has_lost = w->has_lost || other->has_lost;
	w->span = span_union(w->span, other->span);
	w->censored = w->censored || other->censored;
	w->kinds |= other->kinds;
	if (other->kind < w->kind) {
		w->kind = other->kind;
		w->source = other->source;
	}
	if (other->resolution_us < w->resolution_us)
		w->resolution_us = other->resolution_us;
}

/*
 * The same retransmissions are counted per stall and per second: windows that
 * have a kind in common add up, those of different kinds speak of the same.
 */
void detect_merge(struct arena *a, struct window *w, const struct window *other)
{
	merge(a, w, other, (w->kinds & other->kinds) != 0);
}

void detect_merge_views(struct arena *a, struct window *w, const struct window *other)
{
	merge(a, w, other, false);
}

/*
 * One sign of life does not end an outage: what was lost after it, on any
 * connection of the path, was lost in the same outage.
 */
static void lengthen_outage(struct window *w)
{
	if (!w->has_outage || !w->has_lost)
		return;
	/* Coarse times may have been cut to finer ones. */
	w->lost = span_intersect(w->lost, w->span);
	w->has_lost = !span_is_empty(w->lost);
	if (w->has_lost)
		w->outage = span_union(w->outage, w->lost);
}

void detect_measure_spans(struct window *w)
{
	const struct ref_time end = window_silence(w).end;

	lengthen_outage(w);
	if (w->kinds & (1U << WINDOW_PROCESS_PAUSE | 1U << WINDOW_SERVER_PAUSE))
		detect_measure(w, MEASURE_PAUSE_MS, span_length_us(w->span) / US_PER_MS);
	if (w->kinds & 1U << WINDOW_BLACKOUT)
		detect_measure(w, MEASURE_SILENCE_MS, span_length_us(window_silence_of_path(w)) / US_PER_MS);
	if (w->has_heard)
		detect_measure(w, MEASURE_HEARD_GAP_MS, span_length_us(w->heard) / US_PER_MS);
	if (!w->has_outage)
		return;
	detect_measure(w, MEASURE_OUTAGE_MS, span_length_us(w->outage) / US_PER_MS);
	/* When nothing was sent between the last loss and the first sign, the path may have been well for a while. */
	if (w->has_lost)
		detect_measure(w, MEASURE_OUTAGE_LEAST_MS, (w->lost.end.us - w->outage.start.us) / US_PER_MS);
	if (end.us > w->outage.end.us || find_measure(w, measure_infos[MEASURE_BACKOFF_MS].name) != NULL)
		detect_measure(w, MEASURE_BACKOFF_MS, end.us > w->outage.end.us ? (end.us - w->outage.end.us) / US_PER_MS : 0);
}
