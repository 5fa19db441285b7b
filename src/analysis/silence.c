/* SPDX-License-Identifier: MIT */
/* Which silences there were, and which evictions they led to. See analysis/silence.h. */

#include "analysis/silence.h"

#include <stdlib.h>

bool rebalance_is_network_eviction(const struct rebalance *r, const struct group *g)
{
	return r->is_root && r->trigger == TRIGGER_SESSION_TIMEOUT && sv_eq(r->group, g->name) &&
	       (r->attribution == ATTRIBUTION_EXPLAINED || r->attribution == ATTRIBUTION_LAGGED);
}

/* ---- which windows ---- */

static bool is_silence(const struct window *w)
{
	return window_is_jitter(w) && w->has_outage && !sv_is_absent(w->path_a);
}

static bool is_of_member(const struct group *g, const struct window *w)
{
	struct sv host = !sv_is_absent(w->caller) ? w->caller : w->host;
	bool hosts_known = false;

	for (size_t i = 0; i < g->member_count; i++) {
		const struct member *m = &g->members[i];
		if ((!sv_is_absent(m->host) && sv_eq(m->host, host)) || (!sv_is_absent(m->peer) && sv_eq(m->peer, w->path_a)))
			return true;
		hosts_known = hosts_known || !sv_is_absent(m->host) || !sv_is_absent(m->peer);
	}
	/* Without any host of a member, all captures are taken for theirs. */
	return !hosts_known;
}

static struct sv port_of(struct sv address)
{
	size_t colon;

	return sv_rfind_char(address, ':', &colon) ? sv_sub(address, colon + 1, address.n) : SV_ABSENT;
}

/* The coordinator's name and address differ as texts; its port does not. */
static bool is_to_coordinator(const struct group *g, const struct window *w)
{
	struct sv called = port_of(w->path_b), coordinator = port_of(g->coordinator);

	return g->coordinator_changed || called.n == 0 || coordinator.n == 0 || sv_eq(called, coordinator);
}

static int cmp_path(const void *x, const void *y)
{
	const struct window *p = *(const struct window *const *)x, *q = *(const struct window *const *)y;
	int order;

	if ((order = sv_cmp(p->path_a, q->path_a)) != 0)
		return order;
	if ((order = sv_cmp(p->path_b, q->path_b)) != 0)
		return order;
	if (p->span.start.us != q->span.start.us)
		return p->span.start.us < q->span.start.us ? -1 : 1;
	return (p->id > q->id) - (p->id < q->id);
}

static bool same_path(const struct window *x, const struct window *y)
{
	return sv_eq(x->path_a, y->path_a) && sv_eq(x->path_b, y->path_b);
}

/* One that ended tells more than one that was cut short; else the longer. */
static bool tells_more(const struct window *x, const struct window *y)
{
	if (x->censored != y->censored)
		return y->censored;
	return span_length_us(x->span) > span_length_us(y->span);
}

static void add_window(struct silence_list *list, const struct window *w, struct arena *a)
{
	struct silence *s = ARENA_PUSH(a, list->items, list->count, list->capacity);

	*s = (struct silence){ .window = w, .ms = span_length_us(window_silence(w)) / US_PER_MS, .censored = w->censored,
			       .has_outage = true, .outage_ms = span_length_us(w->outage) / US_PER_MS };
}

static void from_windows(const struct group *g, const struct windows *w, struct arena *a, struct silence_list *out)
{
	const struct window **order = arena_array(a, w->count, sizeof(const struct window *));
	int64_t end_us = 0;
	size_t n = 0;

	for (size_t i = 0; i < w->count; i++)
		if (is_silence(&w->items[i]) && is_of_member(g, &w->items[i]) && is_to_coordinator(g, &w->items[i]))
			order[n++] = &w->items[i];
	if (n > 0)
		qsort(order, n, sizeof(const struct window *), cmp_path);
	for (size_t i = 0; i < n; i++) {
		struct silence *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
		if (last != NULL && same_path(last->window, order[i]) && order[i]->span.start.us < end_us) {
			/* The same from the other end of the path. */
			if (tells_more(order[i], last->window)) {
				out->count--;
				add_window(out, order[i], a);
			}
		} else {
			end_us = INT64_MIN;
			add_window(out, order[i], a);
		}
		if (order[i]->span.end.us > end_us)
			end_us = order[i]->span.end.us;
	}
}

/* ---- which evictions ---- */

static int cmp_start(const void *x, const void *y)
{
	const struct window *p = ((const struct silence *)x)->window, *q = ((const struct silence *)y)->window;

	if (p->span.start.us != q->span.start.us)
		return p->span.start.us < q->span.start.us ? -1 : 1;
	return (p->id > q->id) - (p->id < q->id);
}

/* Another end's view of the same silence counts too, by path and time. */
static bool is_among(const struct silence *s, const struct rebalance *r)
{
	for (size_t k = 0; k < r->window_count; k++) {
		const struct window *w = r->windows[k];
		if (s->window == w || (!sv_is_absent(w->path_a) && same_path(s->window, w) &&
				       !span_is_empty(span_intersect(s->window->span, w->span))))
			return true;
	}
	return false;
}

/* The longest of the first n that is among the eviction's windows; n when there is none. */
static size_t silence_behind(const struct silence_list *list, size_t n, const struct rebalance *r)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (is_among(&list->items[i], r) && (best == n || list->items[i].ms > list->items[best].ms))
			best = i;
	return best;
}

static void from_evictions(const struct group *g, const struct rebalances *r, struct arena *a, struct silence_list *out)
{
	int64_t session_ms = group_session_timeout_ms(g);
	size_t seen = out->count;

	for (size_t i = 0; i < r->count; i++) {
		size_t at;
		if (!rebalance_is_network_eviction(&r->items[i], g))
			continue;
		at = silence_behind(out, seen, &r->items[i]);
		if (at == seen) {
			/* Counters saw the network fail, and only the coordinator how long: at least until it gave up. */
			at = out->count;
			*ARENA_PUSH(a, out->items, out->count, out->capacity) =
				(struct silence){ .ms = session_ms, .censored = true };
		}
		out->items[at].evicted = true;
		if (out->items[at].ms < session_ms)
			out->items[at].ms = session_ms;
		*ARENA_PUSH(a, out->evictions, out->eviction_count, out->eviction_capacity) =
			(struct eviction){ &r->items[i], at };
	}
}

void silences_find(const struct group *g, const struct windows *w, const struct rebalances *r, struct arena *a,
		   struct silence_list *out)
{
	*out = (struct silence_list){ 0 };
	from_windows(g, w, a, out);
	if (out->count > 0)
		qsort(out->items, out->count, sizeof *out->items, cmp_start);
	from_evictions(g, r, a, out);
}
