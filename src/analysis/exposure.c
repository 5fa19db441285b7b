/* SPDX-License-Identifier: MIT */
/* Exposure intervals by trigger, and the windows on a member's host or path (method.md 5). */

#include "analysis/exposure.h"

enum reach { REACH_NONE, REACH_SESSION, REACH_SESSION_OR_REQUEST, REACH_POLL, REACH_REBALANCE };

/* How long before its trigger the network can have begun to cause a rebalance, and the words for when it cannot. */
static const struct {
	enum reach reach;
	const char *why_not;
} reaches[TRIGGER_COUNT] = {
	[TRIGGER_SESSION_TIMEOUT] = { REACH_SESSION, NULL },
	[TRIGGER_POLL_TIMEOUT] = { REACH_POLL, NULL },
	[TRIGGER_REBALANCE_TIMEOUT] = { REACH_REBALANCE, NULL },
	[TRIGGER_MEMBER_FENCED] = { REACH_SESSION_OR_REQUEST, NULL },
	[TRIGGER_COORDINATOR_CHANGE] = { REACH_SESSION_OR_REQUEST, NULL },
	[TRIGGER_ADMIN_REMOVAL] = { REACH_NONE, "An administrator removed the member." },
	[TRIGGER_MEMBER_LEAVE] = { REACH_NONE, "The member left by itself." },
	[TRIGGER_METADATA_CHANGE] = { REACH_NONE, "Topics or partitions changed." },
	[TRIGGER_SUBSCRIPTION_CHANGE] = { REACH_NONE, "A subscription changed." },
	[TRIGGER_MEMBER_REJOIN] = { REACH_NONE, "A member came back whose removal is not in the evidence." },
	[TRIGGER_MEMBER_JOIN] = { REACH_NONE, "A new member joined." },
	[TRIGGER_PROTOCOL_FOLLOWUP] = { REACH_NONE, "The protocol's second round, whose first is not in the evidence." },
	[TRIGGER_UNKNOWN] = { REACH_NONE, "Nothing in the evidence says what caused it." },
};

/* A handler that overran its poll interval waited on the network when the network was away for this part of it. */
#define POLL_PART 2

/* ---- windows ---- */

static struct sv port_of(struct sv address)
{
	size_t colon;

	return sv_rfind_char(address, ':', &colon) ? sv_sub(address, colon + 1, address.n) : SV_ABSENT;
}

/* Not when it was seen on a connection to another port than the coordinator's: a database, say. */
static bool is_on_path(const struct surroundings *near, const struct window *w)
{
	struct sv called = port_of(w->path_b), coordinator = port_of(near->coordinator);

	return !near->has_coordinator || called.n == 0 || coordinator.n == 0 || sv_eq(called, coordinator);
}

/*
 * Whether a window is on the member's host, on its path, or on its
 * coordinator's host. One that the broker's host saw on a path is that of the
 * member whose address or host it names; where it names neither it cannot be told
 * whose it is.
 */
static bool concerns(const struct surroundings *near, const struct window *w, bool *certain)
{
	const bool is_on_a_path = w->path_a.n > 0, is_at_broker = near->broker_host.n > 0 && sv_eq(w->host, near->broker_host);

	if (!is_on_path(near, w))
		return false;
	bool is_concerned = window_concerns(w, near->host, certain);
	if (is_concerned && *certain)
		return true;
	if (is_on_a_path && near->peer.n > 0 && (is_concerned || is_at_broker)) {
		*certain = true;
		return sv_eq(near->peer, w->path_a);
	}
	if (is_concerned)
		return true;
	*certain = !is_on_a_path;
	return is_at_broker && (!is_on_a_path || w->caller.n == 0);
}

/*
 * Whether the host's own log tells who its members of the group are, and this
 * one is none of them: a member whose host is not known is on another. Client
 * ids are often the same on all hosts, so an equal one may be the same member.
 */
static bool is_host_of_others(const struct surroundings *near, struct sv host)
{
	bool is_told = false;

	if (near->host.n > 0 || host.n == 0 || near->group == NULL)
		return false;
	for (size_t i = 0; i < near->group->member_count; i++) {
		const struct member *m = &near->group->members[i];
		if (!sv_eq(m->host, host))
			continue;
		if (near->client.n > 0 && (m->client_id.n == 0 || sv_eq(m->client_id, near->client)))
			return false;
		is_told = true;
	}
	return is_told;
}

static bool is_window_of_others(const struct surroundings *near, const struct window *w)
{
	if (w->caller.n > 0)
		return is_host_of_others(near, w->caller);
	return !w->seen_elsewhere && is_host_of_others(near, w->host);
}

/* The addresses that the member is seen to call where something befell it there. */
struct called {
	struct sv *items;
	size_t count, capacity;
};

static bool is_called(const struct called *all, struct sv address)
{
	for (size_t i = 0; i < all->count; i++)
		if (sv_eq(all->items[i], address))
			return true;
	return false;
}

/* A broker that stands still does so for all who call it, whoever's capture shows it. */
static bool is_pause_of_called(const struct called *all, const struct window *w)
{
	return w->kind == WINDOW_SERVER_PAUSE && w->path_b.n > 0 && is_called(all, w->path_b);
}

static void take_window(const struct exposure_context *ctx, struct surroundings *near, const struct window *w)
{
	*ARENA_PUSH(ctx->arena, near->windows, near->window_count, near->window_capacity) = w;
	span_set_add(window_is_jitter(w) ? &near->jitter : &near->pauses, ctx->arena, w->span);
	if (window_is_jitter(w))
		span_set_add(&near->outages, ctx->arena, w->outage);
}

static void find_windows(const struct exposure_context *ctx, struct surroundings *near)
{
	bool *is_near = arena_array(ctx->arena, ctx->windows->count, sizeof *is_near);
	struct called called = { NULL, 0, 0 };

	for (size_t i = 0; i < ctx->windows->count; i++) {
		const struct window *w = &ctx->windows->items[i];
		bool certain = true;
		if (is_window_of_others(near, w) || !concerns(near, w, &certain))
			continue;
		is_near[i] = true;
		near->is_certain &= certain;
		if (certain && w->path_b.n > 0 && !is_called(&called, w->path_b))
			*ARENA_PUSH(ctx->arena, called.items, called.count, called.capacity) = w->path_b;
	}
	for (size_t i = 0; i < ctx->windows->count; i++)
		if (is_near[i] || is_pause_of_called(&called, &ctx->windows->items[i]))
			take_window(ctx, near, &ctx->windows->items[i]);
}

/* Of a member whose host is not known: that of all hosts on which it may be, and what has no host. */
static struct span_set coverage_anywhere(const struct exposure_context *ctx, const struct surroundings *near)
{
	struct span_set out = windows_coverage(ctx->windows, SV(""), ctx->arena);

	for (size_t i = 0; i < ctx->windows->coverage_count; i++) {
		struct sv host = ctx->windows->coverage[i].host;
		if (host.n == 0 || is_host_of_others(near, host))
			continue;
		struct span_set one = windows_coverage(ctx->windows, host, ctx->arena);
		for (size_t k = 0; k < one.count; k++)
			span_set_add(&out, ctx->arena, one.items[k]);
	}
	return out;
}

/* What the coordinator's host captured shows the member's path from the other end. */
static void find_coverage(const struct exposure_context *ctx, struct surroundings *near)
{
	near->coverage = near->host.n > 0 ? windows_coverage(ctx->windows, near->host, ctx->arena) : coverage_anywhere(ctx, near);
	for (size_t i = 0; i < ctx->windows->coverage_count; i++) {
		const struct coverage *c = &ctx->windows->coverage[i];
		bool is_capture = sv_eq(c->kind, SV("capture")), is_of_host = sv_is_absent(c->host) || sv_eq(c->host, near->host);
		bool is_of_broker = near->broker_host.n > 0 && sv_eq(c->host, near->broker_host);

		if (is_capture && is_of_broker)
			span_set_add(&near->coverage, ctx->arena, c->span);
		if (is_capture && (is_of_host || is_of_broker || c->sees_callers))
			span_set_add(&near->captured, ctx->arena, c->span);
		if (is_of_host && (sv_eq(c->kind, SV("netstat")) || sv_eq(c->kind, SV("snmp"))))
			span_set_add(&near->counted, ctx->arena, c->span);
	}
}

/* Without any host all is on one clock. */
static int64_t uncertainty_us(const struct clocks *c, struct sv host, bool *known)
{
	if (c->count > 0)
		return clock_uncertainty_us(c, host, known);
	*known = true;
	return 0;
}

static int64_t uncertainty_at_us(const struct clocks *c, struct sv host, struct ref_time t, bool *known)
{
	if (c->count > 0)
		return clock_uncertainty_at_us(c, host, t, known);
	*known = true;
	return 0;
}

static void find_clock(const struct exposure_context *ctx, struct surroundings *near)
{
	near->clock_us = uncertainty_us(ctx->clocks, near->host, &near->is_clock_known);
	for (size_t i = 0; near->host.n == 0 && i < near->window_count; i++) {
		bool known;
		int64_t us = uncertainty_us(ctx->clocks, near->windows[i]->host, &known);
		near->clock_us = us > near->clock_us ? us : near->clock_us;
		near->is_clock_known &= known;
	}
}

const struct surroundings *surroundings_of(struct exposure_context *ctx, const struct rebalance *r, const struct group *g)
{
	const bool is_host_known = r->host.n > 0;
	const struct group *group = is_host_known ? NULL : g;
	const struct sv client = is_host_known ? SV_ABSENT : r->client;

	for (size_t i = ctx->count; i > 0; i--) {
		const struct surroundings *near = ctx->items[i - 1];
		if (sv_eq(near->host, r->host) && sv_eq(near->peer, r->peer) && sv_eq(near->broker_host, r->broker_host) &&
		    sv_eq(near->coordinator, g->coordinator) && near->group == group && sv_eq(near->client, client))
			return near;
	}
	struct surroundings *near = arena_alloc(ctx->arena, sizeof *near);
	near->host = r->host;
	near->group = group;
	near->client = client;
	near->peer = r->peer;
	near->broker_host = r->broker_host;
	near->coordinator = g->coordinator;
	near->has_coordinator = g->coordinator.n > 0 && !g->coordinator_changed;
	near->is_certain = true;
	find_windows(ctx, near);
	find_coverage(ctx, near);
	find_clock(ctx, near);
	*ARENA_PUSH(ctx->arena, ctx->items, ctx->count, ctx->capacity) = near;
	return near;
}

/* Two times by one clock are not off against each other. */
int64_t exposure_uncertainty_us(const struct exposure_context *ctx, const struct rebalance *r,
				const struct surroundings *near, bool *known)
{
	if (near->host.n > 0 && sv_eq(near->host, r->trigger_clock)) {
		*known = true;
		return 0;
	}
	bool is_host_known = near->is_clock_known;
	int64_t us = uncertainty_at_us(ctx->clocks, r->trigger_clock, r->trigger_time, known);
	int64_t host_us = near->host.n == 0 ? near->clock_us
					    : uncertainty_at_us(ctx->clocks, near->host, r->trigger_time, &is_host_known);
	*known &= is_host_known;
	return us + host_us;
}

/* ---- exposure ---- */

static int64_t reach_us(enum reach reach, const struct group *g)
{
	int64_t session = group_session_timeout_ms(g) * US_PER_MS, request = group_request_timeout_ms(g) * US_PER_MS;

	if (reach == REACH_SESSION)
		return session;
	if (reach == REACH_SESSION_OR_REQUEST)
		return session > request ? session : request;
	/* A member's rebalance timeout is its max.poll.interval.ms. */
	return reach == REACH_NONE ? 0 : group_max_poll_interval_ms(g) * US_PER_MS;
}

static bool is_reach_known(enum reach reach, const struct group *g)
{
	if (reach == REACH_SESSION)
		return g->session_timeout_ms.known;
	if (reach == REACH_SESSION_OR_REQUEST)
		return g->session_timeout_ms.known && g->request_timeout_ms.known;
	return g->max_poll_interval_ms.known;
}

static const char *why_no_exposure(const struct rebalance *r)
{
	if (r->trigger == TRIGGER_COORDINATOR_CHANGE && !r->by_disconnect)
		return "The coordinator moved.";
	if (r->fate == FATE_GONE)
		return "Its process had ended: there was nobody to be heard.";
	return reaches[r->trigger].why_not;
}

void exposure_of(const struct surroundings *near, const struct group *g, int64_t uncertainty, struct rebalance *r,
		 int64_t *need_us, const char **why)
{
	const int64_t session = group_session_timeout_ms(g) * US_PER_MS, e = r->trigger_time.us;
	const int64_t heartbeat = group_heartbeat_interval_ms(g) * US_PER_MS;
	const int64_t length = reach_us(reaches[r->trigger].reach, g);
	int64_t start = e - length;

	*need_us = heartbeat < session / 3 ? heartbeat : session / 3;
	*why = why_no_exposure(r);
	if (*why != NULL)
		return;
	r->exposure_basis = is_reach_known(reaches[r->trigger].reach, g) ? "setting" : "default";
	if (r->trigger == TRIGGER_SESSION_TIMEOUT && r->has_timer_reset && r->timer_reset.us > start && r->timer_reset.us < e) {
		start = r->timer_reset.us;
		r->exposure_basis = "timer reset";
	}
	/* What the wire shows is better than any arithmetic, above all where the session timeout is not known. */
	if (r->trigger == TRIGGER_SESSION_TIMEOUT && r->has_last_heard && r->last_heard.us < e &&
	    (r->last_heard.us > start || !g->session_timeout_ms.known)) {
		start = r->last_heard.us;
		r->exposure_basis = "wire";
	}
	r->exposure = (struct span){ { start - uncertainty }, { e + uncertainty } };
	r->has_exposure = true;
	if (r->trigger != TRIGGER_POLL_TIMEOUT)
		return;
	*need_us = length / POLL_PART;
	r->has_exposure = span_set_overlap_us(&near->jitter, r->exposure) >= *need_us;
	if (!r->has_exposure) {
		r->exposure = (struct span){ { 0 }, { 0 } };
		r->exposure_basis = NULL;
		*why = "The handler overran its poll interval, and nothing shows that it waited on the network.";
	}
}
