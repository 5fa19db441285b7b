/* SPDX-License-Identifier: MIT */
/*
 * Windows of one path, or of one host, that overlap or lie closer than a
 * heartbeat interval are one (method.md 3). First those of a kind, whose
 * measures add up; then coarse times are cut to fine ones; then those of
 * different kinds, whose measures speak of the same.
 *
 * Jitter and pauses stay apart. A pause that lies in jitter is no pause.
 */

#include <stdlib.h>

#include "analysis/detect.h"
#include "base/order.h"

/* Jitter of all kinds is one class, each kind of pause its own. */
static unsigned class_of(const struct window *w)
{
	return window_is_jitter(w) ? 0 : 1 + (unsigned)w->kind;
}

static int compare_places(const struct window *a, const struct window *b)
{
	int order = sv_cmp(a->host, b->host);

	if (order == 0)
		order = sv_cmp(a->path_a, b->path_a);
	return order != 0 ? order : sv_cmp(path_address(a->path_b), path_address(b->path_b));
}

static int compare_times(const struct window *a, const struct window *b)
{
	int order = order_i64(a->span.start.us, b->span.start.us);

	return order != 0 ? order : order_i64(a->span.end.us, b->span.end.us);
}

static int compare_evidence(const struct window *a, const struct window *b)
{
	int64_t x = a->evidence.count > 0 ? a->evidence.items[0].event : 0;
	int64_t y = b->evidence.count > 0 ? b->evidence.items[0].event : 0;

	return order_i64(x, y);
}

static int by_place_and_kind(const void *x, const void *y)
{
	const struct window *a = x, *b = y;
	int order = compare_places(a, b);

	if (order == 0)
		order = order_i64(a->kind, b->kind);
	if (order == 0)
		order = compare_times(a, b);
	return order != 0 ? order : compare_evidence(a, b);
}

static int by_place_and_time(const void *x, const void *y)
{
	const struct window *a = x, *b = y;
	int order = compare_places(a, b);

	if (order == 0)
		order = order_i64(class_of(a), class_of(b));
	if (order == 0)
		order = compare_times(a, b);
	if (order == 0)
		order = order_i64(a->kind, b->kind);
	return order != 0 ? order : compare_evidence(a, b);
}

static int by_time(const void *x, const void *y)
{
	const struct window *a = x, *b = y;
	int order = order_i64(a->span.start.us, b->span.start.us);

	if (order == 0)
		order = sv_cmp(a->host, b->host);
	if (order == 0)
		order = order_i64(a->kind, b->kind);
	if (order == 0)
		order = compare_places(a, b);
	if (order == 0)
		order = order_i64(a->span.end.us, b->span.end.us);
	return order != 0 ? order : compare_evidence(a, b);
}

static void sort(struct windows *w, int (*compare)(const void *, const void *))
{
	if (w->count > 1)
		qsort(w->items, w->count, sizeof *w->items, compare);
}

static bool are_close(const struct window *a, const struct window *b, int64_t gap_us)
{
	return b->span.start.us - a->span.end.us < gap_us;
}

static bool are_of_one_kind(const struct window *a, const struct window *b)
{
	return a->kind == b->kind && compare_places(a, b) == 0;
}

static bool are_of_one_class(const struct window *a, const struct window *b)
{
	return class_of(a) == class_of(b) && compare_places(a, b) == 0;
}

/* Merges neighbours in the list that belong together. */
static void merge_neighbours(const struct detect_context *ctx, bool (*are_alike)(const struct window *, const struct window *),
			     void (*merge)(struct arena *, struct window *, const struct window *))
{
	int64_t gap_us = ctx->heartbeat_ms * US_PER_MS;
	struct windows *w = ctx->out;
	size_t last = 0;

	if (w->count == 0)
		return;
	for (size_t i = 1; i < w->count; i++) {
		struct window *a = &w->items[last], *b = &w->items[i];

		if (are_alike(a, b) && are_close(a, b, gap_us))
			merge(ctx->arena, a, b);
		else
			w->items[++last] = *b;
	}
	w->count = last + 1;
}

/* What is left of coarse beyond fine by less than its resolution may as well lie within. */
static void cut_to(struct window *coarse, const struct window *fine)
{
	if (span_is_empty(span_intersect(coarse->span, fine->span)))
		return;
	if (coarse->span.start.us < fine->span.start.us &&
	    fine->span.start.us - coarse->span.start.us < coarse->resolution_us)
		coarse->span.start = fine->span.start;
	if (coarse->span.end.us > fine->span.end.us && coarse->span.end.us - fine->span.end.us < coarse->resolution_us)
		coarse->span.end = fine->span.end;
	if (!coarse->has_outage)
		coarse->outage = coarse->span;
}

/* The windows from..to are of one place. Sorted by kind and time, those of a kind do not overlap. */
static void cut_coarse(struct window *items, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (items[i].resolution_us == 0)
			continue;
		for (size_t j = from; j < to; j++)
			if (items[j].resolution_us < items[i].resolution_us && window_is_jitter(&items[j]))
				cut_to(&items[i], &items[j]);
	}
}

static void cut_coarse_windows(struct windows *w)
{
	size_t from = 0;

	for (size_t i = 1; i <= w->count; i++) {
		if (i < w->count && compare_places(&w->items[from], &w->items[i]) == 0)
			continue;
		cut_coarse(w->items, from, i);
		from = i;
	}
}

/* ---- a host's TCP counters beside its capture ---- */

static struct span_set captured_on(const struct detect_context *ctx, struct sv host)
{
	struct span_set set = { 0 };

	for (size_t i = 0; i < ctx->out->coverage_count; i++) {
		const struct coverage *c = &ctx->out->coverage[i];

		if (sv_eq(c->kind, SV("capture")) && sv_eq(c->host, host))
			span_set_add(&set, ctx->arena, c->span);
	}
	return set;
}

static bool is_counted_loss(const struct window *w)
{
	return w->kind == WINDOW_LOSS && sv_is_absent(w->path_a);
}

static bool meets(const struct window *a, const struct window *b)
{
	return !span_is_empty(span_intersect(a->span, b->span));
}

/*
 * Two sources for the same: the finer is kept and both are cited. What the
 * capture does not show was on no path that it saw.
 */
static bool is_told_by_capture(const struct detect_context *ctx, const struct window *counted,
			       const struct span_set *captured)
{
	struct windows *all = ctx->out;

	if (!span_set_covers(captured, counted->span, 0))
		return false;
	for (size_t i = 0; i < all->count; i++) {
		struct window *w = &all->items[i];

		if (sv_is_absent(w->path_a) || !window_is_jitter(w) || !sv_eq(w->host, counted->host) ||
		    !meets(w, counted))
			continue;
		for (size_t e = 0; e < counted->evidence.count && w->evidence.count < 2 * DETECT_EVIDENCE_MAX; e++)
			*ARENA_PUSH(ctx->arena, w->evidence.items, w->evidence.count, w->evidence.capacity) =
				counted->evidence.items[e];
		break;
	}
	return true;
}

static void drop_counted_losses(const struct detect_context *ctx)
{
	struct windows *w = ctx->out;
	struct span_set captured = { 0 };
	struct sv host = SV_ABSENT;
	bool has_host = false;
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (is_counted_loss(&w->items[i]) && (!has_host || !sv_eq(host, w->items[i].host))) {
			host = w->items[i].host;
			captured = captured_on(ctx, host);
			has_host = true;
		}
		if (is_counted_loss(&w->items[i]) && is_told_by_capture(ctx, &w->items[i], &captured))
			continue;
		w->items[kept++] = w->items[i];
	}
	w->count = kept;
}

/* ---- pauses beside jitter ---- */

/*
 * Since when nothing got through: from the first loss where it is known.
 * Before it the path was idle, and a pause is a reason for that.
 */
static struct ref_time jitter_start(const struct window *w)
{
	return w->has_outage ? w->outage.start : w->span.start;
}

/* The longest part of the pause outside the jitter windows from..to, which are of the same place and in order. */
static struct span outside(const struct window *items, size_t from, size_t to, struct span pause)
{
	struct span longest = { pause.start, pause.start };
	struct ref_time free_from = pause.start;

	for (size_t i = from; i <= to; i++) {
		struct span gap = { free_from, i < to ? jitter_start(&items[i]) : pause.end };

		gap = span_intersect(gap, pause);
		if (span_length_us(gap) > span_length_us(longest))
			longest = gap;
		if (i < to && items[i].span.end.us > free_from.us)
			free_from = items[i].span.end;
	}
	return longest;
}

/* Sorted by place, class and time: the jitter of a place stands before its pauses. */
static void cut_pauses(const struct detect_context *ctx)
{
	struct windows *w = ctx->out;
	size_t kept = 0, from = 0, to = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct window item = w->items[i];

		if (kept == 0 || compare_places(&w->items[from], &item) != 0)
			from = to = kept;
		if (window_is_jitter(&item)) {
			to = kept + 1;
		} else {
			item.span = outside(w->items, from, to, item.span);
			item.outage = item.span;
			if (span_length_us(item.span) <= detect_pause_limit_us(ctx, item.kind))
				continue;
		}
		w->items[kept++] = item;
	}
	w->count = kept;
}

static void number(const struct detect_context *ctx)
{
	struct windows *w = ctx->out;

	sort(w, by_time);
	for (size_t i = 0; i < w->count; i++) {
		w->items[i].id = (unsigned)i + 1;
		detect_measure_spans(&w->items[i]);
		evidence_sort(&w->items[i].evidence);
	}
}

/* ---- one path, captured at both ends ---- */

static bool is_placed(const struct window *w)
{
	return !sv_is_absent(w->path_a) && !sv_is_absent(w->caller);
}

/* Addresses alone do not make a path: behind translation many hosts have the same. The caller must be the same host. */
static int compare_paths(const struct window *a, const struct window *b)
{
	int order = order_i64(is_placed(a), is_placed(b));

	if (order == 0)
		order = sv_cmp(a->caller, b->caller);
	if (order == 0)
		order = sv_cmp(a->path_a, b->path_a);
	return order != 0 ? order : sv_cmp(path_address(a->path_b), path_address(b->path_b));
}

static int by_path_and_time(const void *x, const void *y)
{
	const struct window *a = x, *b = y;
	int order = compare_paths(a, b);

	if (order == 0)
		order = order_i64(class_of(a), class_of(b));
	return order != 0 ? order : by_time(x, y);
}

static bool are_of_one_path(const struct window *a, const struct window *b)
{
	return is_placed(a) && compare_paths(a, b) == 0 && class_of(a) == class_of(b);
}

/* Into w, as what the caller's own host saw where it saw something. */
static void merge_ends(struct arena *a, struct window *w, const struct window *b)
{
	bool b_is_own = w->seen_elsewhere && !b->seen_elsewhere;
	struct window own = b_is_own ? *b : *w, other = b_is_own ? *w : *b;

	if (!own.has_heard) {
		own.heard = other.heard;
		own.has_heard = other.has_heard;
	}
	detect_merge_views(a, &own, &other);
	*w = own;
}

void windows_join_ends(const struct detect_context *ctx)
{
	sort(ctx->out, by_path_and_time);
	merge_neighbours(ctx, are_of_one_path, merge_ends);
	number(ctx);
}

/* ---- one pause, logged and captured ---- */

static bool is_logged_pause(const struct window *w)
{
	return !window_is_jitter(w) && sv_is_absent(w->path_a);
}

/* A capture shows a member's pause on the path that it calls, and a broker's where it is called. */
static bool is_same_process(const struct window *captured, const struct window *logged)
{
	if (window_is_jitter(captured) || sv_is_absent(captured->path_a) || captured->kind != logged->kind ||
	    sv_is_absent(logged->host))
		return false;
	return sv_eq(captured->kind == WINDOW_PROCESS_PAUSE ? captured->caller : captured->host, logged->host);
}

/* Into every window of the process that it meets: each of them is the same pause on another path. */
static bool join(const struct detect_context *ctx, const struct window *logged)
{
	struct windows *w = ctx->out;
	bool is_joined = false;

	for (size_t i = 0; i < w->count; i++) {
		if (!is_same_process(&w->items[i], logged) || !meets(&w->items[i], logged))
			continue;
		detect_merge(ctx->arena, &w->items[i], logged);
		is_joined = true;
	}
	return is_joined;
}

void windows_join_pauses(const struct detect_context *ctx)
{
	struct windows *w = ctx->out;
	bool *is_joined = arena_array(ctx->arena, w->count, sizeof *is_joined);
	size_t kept = 0;

	for (size_t i = 0; i < w->count; i++)
		is_joined[i] = is_logged_pause(&w->items[i]) && join(ctx, &w->items[i]);
	for (size_t i = 0; i < w->count; i++)
		if (!is_joined[i])
			w->items[kept++] = w->items[i];
	if (kept == w->count)
		return;
	w->count = kept;
	number(ctx);
}

void windows_merge(const struct detect_context *ctx)
{
	struct windows *w = ctx->out;

	sort(w, by_place_and_kind);
	merge_neighbours(ctx, are_of_one_kind, detect_merge);
	cut_coarse_windows(w);
	drop_counted_losses(ctx);
	sort(w, by_place_and_time);
	merge_neighbours(ctx, are_of_one_class, detect_merge);
	cut_pauses(ctx);
	number(ctx);
}
