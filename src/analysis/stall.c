/* SPDX-License-Identifier: MIT */
/* Stalls of hosts as confounders of rebalances. See analysis/stall.h. */

#include "analysis/stall.h"

/* The interval in which the host did not get on: a line says it afterwards. */
static struct span span_of(const struct clocks *c, const struct event *e)
{
	struct ref_time told = clock_event_to_ref(c, e);
	int64_t ms = event_int_or(e, FIELD_ELAPSED_MS, 0);
	int64_t us = ms > 0 && ms < INT32_MAX ? ms * US_PER_MS : 0;

	return (struct span){ { told.us - us }, told };
}

/* The time in which a pause can have led to it; empty when none can. */
static struct span time_before(const struct rebalance *r, const struct group *g)
{
	int64_t ms = 0;

	if (r->has_exposure)
		return r->exposure;
	if (r->trigger == TRIGGER_SESSION_TIMEOUT)
		ms = group_session_timeout_ms(g);
	if (r->trigger == TRIGGER_POLL_TIMEOUT || r->trigger == TRIGGER_REBALANCE_TIMEOUT)
		ms = group_max_poll_interval_ms(g);
	return (struct span){ { r->trigger_time.us - ms * US_PER_MS }, r->trigger_time };
}

static bool is_within(struct span stall, struct span before)
{
	return before.start.us < before.end.us && stall.start.us <= before.end.us && stall.end.us >= before.start.us;
}

static bool is_of(const struct rebalance *r, struct sv host)
{
	return host.n > 0 && (sv_eq(host, r->host) || sv_eq(host, r->broker_host));
}

static void add_sentence(struct rebalance *r, struct arena *a)
{
	const struct evidence *first = &r->stalls.items[0];

	r->attribution_note = arena_printf(a, "%.*s%sMeanwhile %.*s did not get on, as its own log tells (%.*s): a pause of that host "
					      "is suggested as well%s.",
					   SV_ARG(r->attribution_note), sv_is_absent(r->attribution_note) ? "" : " ",
					   SV_ARG(first->host), SV_ARG(first->text),
					   r->attribution == ATTRIBUTION_AMBIGUOUS ? ", and which of them it was stays open" : "");
}

/*
 * Both are named, and it is ambiguous unless one alone explains it (method.md 5).
 * A line suggests, and what it stops is not told: so it makes no share of its
 * own, and it cannot outweigh jitter that leaves no heartbeat a way through.
 */
static void weigh(struct rebalance *r, const struct span_set *stalled)
{
	if (r->attribution == ATTRIBUTION_LAGGED && span_set_overlap_us(stalled, r->exposure) >= r->need_us)
		r->attribution = ATTRIBUTION_AMBIGUOUS;
}

static void find_of(const struct clocks *c, const struct group *g, const struct event *const *events, size_t n, struct arena *a,
		    struct rebalance *r)
{
	const struct span before = time_before(r, g);
	struct span_set stalled = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct span stall = span_of(c, events[i]);

		if (!is_of(r, events[i]->host) || !is_within(stall, before))
			continue;
		span_set_add(&stalled, a, stall);
		evidence_add(&r->stalls, a, events[i], clock_event_to_ref(c, events[i]),
			     "the host did not get on: a pause of its processes is suggested");
	}
	if (r->stalls.count == 0)
		return;
	evidence_sort(&r->stalls);
	weigh(r, &stalled);
	add_sentence(r, a);
}

/* A follower has the attribution of its root. */
static void hand_down(struct rebalances *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *root = rebalances_get(r, r->items[i].root);

		if (!r->items[i].is_root && root != NULL && root->stalls.count > 0)
			r->items[i].attribution = root->attribution;
	}
}

int stalls_find(struct store *s, const struct clocks *c, const struct groups *g, struct arena *a, struct rebalances *r)
{
	const enum event_type types[] = { EVENT_HOST_STALLED };
	const struct event **events;
	size_t n;

	if (query_load(s, types, 1, a, &events, &n) < 0)
		return -1;
	for (size_t i = 0; n > 0 && i < r->count; i++)
		if (r->items[i].is_root)
			find_of(c, groups_get(g, r->items[i].group), events, n, a, &r->items[i]);
	hand_down(r);
	return 0;
}
