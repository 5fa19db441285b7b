/* SPDX-License-Identifier: MIT */
/*
 * Windows of an incident: the coverage of the evidence, the detectors one
 * after the other, merging; and the questions that others ask of windows.
 */

#include "analysis/window.h"

#include <stdlib.h>

#include "analysis/detect.h"
#include "analysis/heard.h"

const struct window_kind_info window_kind_infos[WINDOW_KIND_COUNT] = {
#define WINDOW(id, name, jitter, severity, what, remedy) { name, jitter, severity, what, remedy },
#include "analysis/window.def"
#undef WINDOW
};

/* ---- coverage ---- */

/* Intervals of one kind of evidence on one host, or the holes of one input, or of all of a host's. */
struct extent {
	struct sv kind;
	struct sv host;
	int64_t input; /* 0: of the host */
	struct sv scope;
	bool coarse;
	int64_t interval_us; /* the longest between two samples */
	bool has_hosts; /* of the holes of an input: those of its host are among them */
	struct span_set times;
};

struct extents {
	struct extent *items;
	size_t count, capacity;
};

/* Between two samples of a coverage; 0 when it is not of samples: a scope is told of those alone. */
static int64_t interval_of(const struct event *e)
{
	int64_t samples = event_int_or(e, FIELD_SAMPLES, 0);

	return event_has(e, FIELD_SCOPE) && samples > 1 ? e->duration_us / (samples - 1) : 0;
}

static struct extent *extent_of(const struct detect_context *ctx, struct extents *all, const struct event *e, int64_t input)
{
	struct arena *a = ctx->arena;
	struct sv kind = event_text(e, FIELD_EVIDENCE_KIND);
	/* Holes are of all that an input covers. */
	struct sv scope = input == 0 ? event_text(e, FIELD_SCOPE) : SV_ABSENT;
	bool coarse = input == 0 && interval_of(e) > detect_threshold(ctx, THRESHOLD_COUNTERS_INTERVAL_S) * US_PER_S;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].input == input && sv_eq(all->items[i].kind, kind) &&
		    sv_eq(all->items[i].host, e->host) && sv_eq(all->items[i].scope, scope) &&
		    all->items[i].coarse == coarse)
			return &all->items[i];
	struct extent *new = ARENA_PUSH(a, all->items, all->count, all->capacity);
	*new = (struct extent){ .kind = arena_copy(a, kind), .host = arena_copy(a, e->host), .input = input,
				.scope = arena_copy(a, scope), .coarse = coarse };
	return new;
}

/* Of the host: with its interval. */
static struct span_set *add_covered(const struct detect_context *ctx, struct extents *all, const struct event *e)
{
	struct extent *x = extent_of(ctx, all, e, 0);
	int64_t interval_us = interval_of(e);

	if (interval_us > x->interval_us)
		x->interval_us = interval_us;
	return &x->times;
}

static int find_holes(const struct detect_context *ctx, struct extents *holes)
{
	const enum event_type types[] = { EVENT_HOLE };
	struct query *q = query_events(ctx->store, types, 1);
	struct event e;
	int rc;

	/* One with a scope is told by another input than the one that has it: the probe's samples, of its capture. */
	while ((rc = query_next(q, &e)) == 1)
		span_set_add(&extent_of(ctx, holes, &e, event_has(&e, FIELD_SCOPE) ? 0 : e.place.input)->times, ctx->arena,
			     detect_event_span(ctx, &e));
	query_free(q);
	return rc;
}

/* Those of the input that covers, and those of its host. */
static const struct span_set *holes_of(const struct detect_context *ctx, struct extents *holes, const struct event *e)
{
	struct extent *own = extent_of(ctx, holes, e, e->place.input);

	for (size_t i = 0; !own->has_hosts && i < holes->count; i++) {
		const struct extent *x = &holes->items[i];

		if (x->input != 0 || !sv_eq(x->kind, own->kind) || !sv_eq(x->host, own->host))
			continue;
		for (size_t k = 0; k < x->times.count; k++)
			span_set_add(&own->times, ctx->arena, x->times.items[k]);
	}
	own->has_hosts = true;
	return &own->times;
}

/* The first hole that ends after the time. */
static size_t first_hole_after(const struct span_set *holes, struct ref_time t)
{
	size_t low = 0, high = holes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (holes->items[middle].end.us <= t.us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_without_holes(struct arena *a, struct span_set *times, struct span s, const struct span_set *holes)
{
	for (size_t i = first_hole_after(holes, s.start); i < holes->count && holes->items[i].start.us < s.end.us;
	     i++) {
		span_set_add(times, a, (struct span){ s.start, holes->items[i].start });
		s.start = holes->items[i].end;
	}
	span_set_add(times, a, s);
}

static int compare_extents(const void *x, const void *y)
{
	const struct extent *a = x, *b = y;
	int order = sv_cmp(a->kind, b->kind);

	if (order == 0)
		order = sv_cmp(a->host, b->host);
	if (order == 0)
		order = sv_cmp(a->scope, b->scope);
	return order != 0 ? order : a->coarse - b->coarse;
}

static int find_coverage(const struct detect_context *ctx)
{
	const enum event_type types[] = { EVENT_COVERED };
	struct extents holes = { 0 }, covered = { 0 };
	struct windows *out = ctx->out;
	struct event e;

	if (find_holes(ctx, &holes) < 0)
		return -1;
	struct query *q = query_events(ctx->store, types, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1)
		add_without_holes(ctx->arena, add_covered(ctx, &covered, &e), detect_event_span(ctx, &e),
				  holes_of(ctx, &holes, &e));
	query_free(q);
	if (covered.count > 1)
		qsort(covered.items, covered.count, sizeof *covered.items, compare_extents);
	for (size_t i = 0; i < covered.count; i++)
		for (size_t j = 0; j < covered.items[i].times.count; j++)
			*ARENA_PUSH(ctx->arena, out->coverage, out->coverage_count, out->coverage_capacity) =
				(struct coverage){ .kind = covered.items[i].kind,
						   .host = covered.items[i].host,
						   .span = covered.items[i].times.items[j],
						   .scope = covered.items[i].scope,
						   .interval_us = covered.items[i].interval_us,
						   .is_coarse = covered.items[i].coarse };
	return rc;
}

/* ---- public ---- */

int windows_find(struct store *s, const struct clocks *c, const struct analysis_options *o, int64_t heartbeat_ms,
		 struct arena *a, struct windows *out)
{
	struct paths paths = { .arena = a };
	struct detect_context ctx = {
		.store = s,
		.clocks = c,
		.thresholds = &o->thresholds,
		.heartbeat_ms = heartbeat_ms,
		.arena = a,
		.paths = &paths,
		.out = out,
	};

	*out = (struct windows){ 0 };
	if (find_coverage(&ctx) < 0 || own_addresses_find(s, a, &ctx.own) < 0)
		return -1;
	for (size_t i = 0; i < detector_count; i++)
		if (detectors[i].find(&ctx) < 0)
			return -1;
	windows_merge(&ctx);
	if (heard_measure(&ctx) < 0)
		return -1;
	windows_find_callers(&ctx);
	if (windows_doubt_signs(&ctx) < 0)
		return -1;
	windows_join_ends(&ctx);
	windows_join_pauses(&ctx);
	return 0;
}

bool window_is_jitter(const struct window *w)
{
	return window_kind_infos[w->kind].is_jitter;
}

struct span window_silence_of_path(const struct window *w)
{
	return w->has_silence ? w->silence : w->span;
}

struct span window_silence(const struct window *w)
{
	return w->has_heard ? w->heard : window_silence_of_path(w);
}

bool window_concerns(const struct window *w, struct sv host, bool *certain)
{
	*certain = true;
	if (!sv_is_absent(host) && !sv_is_absent(w->caller))
		return sv_eq(w->caller, host);
	if (sv_is_absent(host) || sv_is_absent(w->host) || w->seen_elsewhere) {
		*certain = false;
		return true;
	}
	return sv_eq(w->host, host);
}

static bool is_capture(const struct coverage *c)
{
	return sv_eq(c->kind, SV("capture"));
}

const struct coverage *windows_coarsest(const struct windows *w, int64_t limit_us)
{
	const struct coverage *worst = NULL;

	for (size_t i = 0; i < w->coverage_count; i++)
		if (w->coverage[i].interval_us > limit_us &&
		    (worst == NULL || w->coverage[i].interval_us > worst->interval_us))
			worst = &w->coverage[i];
	return worst;
}

/*
 * Counters in which jitter would have shown: what went wrong on the way to the
 * peer, or in this host's kernel. An interface's, a full table or a wait for CPUs show a part of it alone,
 * and their quiet is no sign of a quiet network.
 */
static bool is_counters(const struct coverage *c)
{
	static const struct sv kinds[] = { { "netstat", 7 }, { "snmp", 4 }, { "softnet", 7 }, { "conntrack", 9 }, { "sockets", 7 } };

	if (c->is_coarse)
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (sv_eq(c->kind, kinds[i]))
			return true;
	return false;
}

/* An absent host, on either side, is any. */
static bool is_of(const struct coverage *c, struct sv host)
{
	return sv_is_absent(host) || sv_is_absent(c->host) || sv_eq(c->host, host);
}

struct span_set windows_coverage(const struct windows *w, struct sv host, struct arena *a)
{
	struct span_set covered = { 0 };

	for (size_t i = 0; i < w->coverage_count; i++) {
		const struct coverage *c = &w->coverage[i];

		if (((is_capture(c) || is_counters(c)) && is_of(c, host)) || (is_capture(c) && c->sees_callers))
			span_set_add(&covered, a, c->span);
	}
	return covered;
}
