/* SPDX-License-Identifier: MIT */
/* See analysis/heard.h. */

#include "analysis/heard.h"

#include <stdlib.h>

#include "base/order.h"
#include "store/query.h"

/* Requests that restart the session timer when they are granted. Under KIP-848 commits do not. */
static const struct {
	enum event_type type;
	bool is_classic_only;
} kinds[] = {
	{ EVENT_WIRE_HEARTBEAT, false },
	{ EVENT_WIRE_JOINED, false },
	{ EVENT_WIRE_SYNCED, true },
	{ EVENT_WIRE_COMMIT, true },
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* The latest request of one evicted member so far. */
struct latest {
	struct rebalance *rebalance;
	int64_t event;		/* its id */
	bool is_consumer;	/* it speaks the consumer protocol */
	bool known;
};

/* A heartbeat during a rebalance is told so, and counts. */
static bool is_granted(const struct event *e)
{
	struct sv error = event_text(e, FIELD_ERROR);

	return sv_is_absent(error) || (e->type == EVENT_WIRE_HEARTBEAT && sv_eq(error, SV("REBALANCE_IN_PROGRESS")));
}

static bool restarts_timer(const struct event *e, bool is_consumer)
{
	for (size_t i = 0; i < KIND_COUNT; i++)
		if (kinds[i].type == e->type)
			return is_granted(e) && !(is_consumer && kinds[i].is_classic_only);
	return false;
}

static struct ref_time received(const struct clocks *c, const struct event *e)
{
	struct host_time at = { event_int_or(e, FIELD_RECEIVED_AT_US, e->time.us) };

	return clock_input_to_ref(c, e->place.input, e->host, at);
}

/* Several requests may be told in one event, whose time is the first's: they followed one another without a gap. */
static struct ref_time first_received(const struct clocks *c, const struct event *e)
{
	return event_int_or(e, FIELD_SAMPLES, 1) > 1 ? clock_event_to_ref(c, e) : received(c, e);
}

/* Of the member's events, which come in order of when they were sent: that of when they arrived but for what was sent again. */
static void take(const struct clocks *c, struct latest *l, const struct event *e)
{
	struct rebalance *r = l->rebalance;
	struct ref_time at = received(c, e);

	l->is_consumer |= sv_starts_with(event_text(e, FIELD_API), SV("ConsumerGroup"));
	/*
	 * A guess at the eviction's time is no bound: what was granted was a member's, and a classic one's id ends with it.
	 * Under KIP-848 a member comes back under its id.
	 */
	if (at.us >= r->trigger_time.us && (r->broker_host.n > 0 || l->is_consumer))
		return;
	if (!restarts_timer(e, l->is_consumer) || (l->known && at.us < r->last_heard.us))
		return;
	l->known = true;
	l->event = e->id;
	r->has_last_heard = true;
	r->last_heard = at;
	r->last_heard_answered = clock_input_to_ref(c, e->place.input, e->host,
						    (struct host_time){ e->time.us + e->duration_us });
}

static struct query *query_kinds(struct store *s)
{
	enum event_type types[KIND_COUNT];

	for (size_t i = 0; i < KIND_COUNT; i++)
		types[i] = kinds[i].type;
	return query_events(s, types, KIND_COUNT);
}

static int compare_members(const void *x, const void *y)
{
	const struct latest *a = x, *b = y;

	return sv_cmp(a->rebalance->member, b->rebalance->member);
}

static int compare_member(const void *member, const void *item)
{
	return sv_cmp(*(const struct sv *)member, ((const struct latest *)item)->rebalance->member);
}

/* A member may have been evicted more than once. */
static int listen(struct store *s, const struct clocks *c, struct latest *items, size_t count)
{
	struct query *q = query_kinds(s);
	struct event e;
	int rc;

	if (count > 1)
		qsort(items, count, sizeof *items, compare_members);
	while ((rc = query_next(q, &e)) == 1) {
		const struct sv member = event_text(&e, FIELD_MEMBER);
		size_t i = order_lower_bound(&member, items, count, sizeof *items, compare_member);

		for (; i < count && e.strength == STRENGTH_PROVES && compare_member(&member, &items[i]) == 0; i++)
			take(c, &items[i], &e);
	}
	query_free(q);
	return rc;
}

static int add_evidence(struct store *s, struct latest *l, struct arena *a)
{
	struct rebalance *r = l->rebalance;
	struct event e;
	int rc = query_event(s, l->event, a, &e);

	if (rc == 1) {
		evidence_add(&r->evidence, a, &e, r->last_heard, "the last that its coordinator heard of the member");
		evidence_sort(&r->evidence);
	}
	return rc;
}

/* ---- around windows ---- */

/* A client on a path, as its coordinator hears it. */
struct voice {
	const struct path *path;
	struct sv client;
	int64_t us;	/* when its timer was restarted last */
	struct voice *next;	/* on the same path */
};

struct voices {
	struct voice **items;	/* by index of the path */
	size_t capacity;
};

static struct voice *voice_of(const struct detect_context *ctx, struct voices *all, const struct event *e, bool *is_new)
{
	const struct path *path = detect_path(ctx, e);
	struct sv client = event_client(e);
	struct voice *v;

	all->items = detect_room(ctx->arena, all->items, sizeof(struct voice *), path->index, &all->capacity);
	v = all->items[path->index];
	while (v != NULL && !sv_eq(v->client, client))
		v = v->next;
	*is_new = v == NULL;
	if (v != NULL)
		return v;
	v = arena_alloc(ctx->arena, sizeof *v);
	*v = (struct voice){ path, arena_copy(ctx->arena, client), 0, all->items[path->index] };
	all->items[path->index] = v;
	return v;
}

static bool is_on(const struct window *w, const struct path *path)
{
	return window_is_jitter(w) && sv_eq(w->host, path->host) && sv_eq(w->path_a, path->a) &&
	       sv_eq(path_address(w->path_b), path->b);
}

static void measure_gap(const struct detect_context *ctx, const struct path *path, struct span gap)
{
	for (size_t i = 0; i < ctx->out->count; i++) {
		struct window *w = &ctx->out->items[i];

		if (!is_on(w, path) || span_is_empty(span_intersect(w->span, gap)) ||
		    (w->has_heard && span_length_us(gap) <= span_length_us(w->heard)))
			continue;
		w->heard = gap;
		w->has_heard = true;
		detect_measure_spans(w);
	}
}

/* While a join or a sync is parked the timer stands; it starts with the answer. */
static void take_voice(const struct detect_context *ctx, struct voices *all, const struct event *e)
{
	bool is_consumer = sv_starts_with(event_text(e, FIELD_API), SV("ConsumerGroup")), is_new;
	bool is_parked = e->type == EVENT_WIRE_JOINED || e->type == EVENT_WIRE_SYNCED;
	struct ref_time first = first_received(ctx->clocks, e), at = received(ctx->clocks, e);
	struct voice *v;

	if (!restarts_timer(e, is_consumer))
		return;
	v = voice_of(ctx, all, e, &is_new);
	if (!is_new && first.us - v->us > ctx->heartbeat_ms * US_PER_MS)
		measure_gap(ctx, v->path, (struct span){ { v->us }, first });
	if (is_parked)
		at = detect_event_span(ctx, e).end;
	if (is_new || at.us > v->us)
		v->us = at.us;
}

int heard_measure(const struct detect_context *ctx)
{
	struct query *q = query_kinds(ctx->store);
	struct voices all = { NULL, 0 };
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		if (e.strength == STRENGTH_PROVES)
			take_voice(ctx, &all, &e);
	query_free(q);
	return rc;
}

/* ---- before evictions ---- */

/*
 * Where no coordinator's log says when, the eviction was one session timeout
 * after that: not when its member learned of it, and not when the member's own
 * timer ran out, to which an answer may have been late. What was seen to come
 * of it came later.
 */
static void date_eviction(const struct groups *g, struct rebalance *r)
{
	const struct group *group = groups_get(g, r->group);
	struct ref_time due;

	if (group == NULL || !group->session_timeout_ms.known || r->broker_host.n > 0)
		return;
	due.us = r->last_heard.us + group_session_timeout_ms(group) * US_PER_MS;
	if (due.us > r->trigger_time.us && due.us > r->span.end.us)
		return;
	r->trigger_time = due;
	if (due.us < r->span.start.us)
		r->span.start = due;
}

int heard_find(struct store *s, const struct clocks *c, const struct groups *g, struct arena *a, struct rebalances *all)
{
	struct latest *items = arena_array(a, all->count, sizeof *items);
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].trigger == TRIGGER_SESSION_TIMEOUT && all->items[i].member.n > 0)
			items[count++].rebalance = &all->items[i];
	if (count == 0)
		return 0;
	if (listen(s, c, items, count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct rebalance *r = items[i].rebalance;

		if (!items[i].known)
			continue;
		date_eviction(g, r);
		/* Heard after it: which of the two is not so cannot be told. */
		r->has_last_heard = r->last_heard.us < r->trigger_time.us;
		if (r->has_last_heard && add_evidence(s, &items[i], a) < 0)
			return -1;
	}
	return 0;
}
