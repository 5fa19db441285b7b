/* SPDX-License-Identifier: MIT */
/*
 * Detectors of pauses (method.md 3): the host is well, its kernel acknowledges,
 * but the process does not send what it owes. Never jitter.
 *
 * Who owes? The side that was spoken to last. A member may wait rightly for an
 * answer (for the others to join); a broker that was not asked is idle. And
 * the process must have lived: a connection that is open from end to end tells
 * a pause from a restart.
 */

#include "analysis/detect.h"

#include <stdlib.h>

#include "base/order.h"

/* From fewer the rhythm of a client's heartbeats is not known. */
#define HEARTBEATS_LEAST 8
/* The last of an answer's packets may come so long after the first, of which a delivery tells. */
#define DELIVERED_NEAR_US (10 * US_PER_MS)

/* Intervals in order of time, disjoint: one ends when the side speaks, which may begin the next. */
struct phases {
	struct span *items;
	size_t count, capacity;
};

/* What is known of one path. */
struct conversation {
	const struct path *path;
	struct phases connections; /* by start; end is the latest of this one's and those before it */
	struct span_set open;
	struct phases caller_quiet;
	struct phases called_quiet; /* while a request of the caller stood unanswered */
	bool is_read;		    /* its requests are known, and what answers were overdue */
	struct phases joining;	    /* while it waited for a join or a sync to be answered */
	struct phases delivered;    /* records, that it had asked for */
	struct phases overdue;	    /* beyond what a request itself allows: a fetch may wait for records */
	struct span_set waiting;    /* for what was owed, while connected */
	int64_t long_quiet_us;	    /* of the caller, in phases that are long enough for a pause */
	bool has_heartbeat;
	int64_t heartbeat_us;	    /* the last one */
	int64_t *gaps;		    /* between two of them */
	size_t gap_count, gap_capacity;
	bool is_untimed;	    /* they come by no timer */
};

struct conversations {
	struct conversation *items;
	size_t capacity;
};

static struct conversation *conversation_of(const struct detect_context *ctx, struct conversations *all,
					    const struct event *e)
{
	const struct path *path = detect_path(ctx, e);

	all->items = detect_room(ctx->arena, all->items, sizeof *all->items, path->index, &all->capacity);
	all->items[path->index].path = path;
	return &all->items[path->index];
}

static bool is_called_side(const struct event *e)
{
	return sv_eq(event_text(e, FIELD_DIRECTION), SV("ba"));
}

int64_t detect_pause_limit_us(const struct detect_context *ctx, enum window_kind kind)
{
	if (kind == WINDOW_SERVER_PAUSE)
		return ctx->heartbeat_ms * detect_threshold(ctx, THRESHOLD_SERVER_PAUSE_HEARTBEATS) * US_PER_MS;
	return ctx->heartbeat_ms * US_PER_MS / 100 * detect_threshold(ctx, THRESHOLD_PAUSE_HEARTBEAT_PERCENT);
}

static void add_phase(struct arena *a, struct phases *p, struct span s)
{
	*ARENA_PUSH(a, p->items, p->count, p->capacity) = s;
}

/* The last that begins at the time or before it; NULL when there is none. */
static const struct span *last_from(const struct phases *p, int64_t us)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->items[middle].start.us <= us)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &p->items[low - 1] : NULL;
}

static void add_connection(struct arena *a, struct conversation *c, struct span span)
{
	struct phases *all = &c->connections;

	span_set_add(&c->open, a, span);
	if (all->count > 0 && all->items[all->count - 1].end.us > span.end.us)
		span.end = all->items[all->count - 1].end;
	add_phase(a, all, span);
}

/* The span is what is left of it from the time on, at its end nothing. */
static void begin_at(struct span *s, struct ref_time t)
{
	if (t.us > s->start.us)
		s->start = t.us < s->end.us ? t : s->end;
}

/*
 * The part of a quiet phase of the caller from when its last word has been answered. A client without a timer waits for
 * what it has fetched last, for as long as the broker may hold that back, and owes nothing meanwhile.
 */
static struct span after_answer(const struct detect_context *ctx, const struct conversation *c, const struct event *e)
{
	struct span s = detect_event_span(ctx, e);
	const struct span *unanswered = last_from(&c->called_quiet, s.start.us);
	int64_t spoken_us;

	if (unanswered != NULL)
		begin_at(&s, unanswered->end);
	if (c->is_untimed && event_int(e, FIELD_SPOKEN_AT_US, &spoken_us))
		begin_at(&s, detect_span(ctx, e->host, spoken_us, spoken_us).start);
	return s;
}

static void find_waiting(struct arena *a, struct conversation *c)
{
	struct span_set waiting = { 0 };

	const struct phases *owed = c->is_read ? &c->overdue : &c->called_quiet;

	for (size_t i = 0; i < owed->count; i++)
		span_set_add(&waiting, a, owed->items[i]);
	c->waiting = span_set_intersect(&waiting, &c->open, a);
}

/* The part of a request's wait in which the broker owed its answer. */
static struct span overdue_part(const struct detect_context *ctx, const struct event *e)
{
	struct span s = detect_event_span(ctx, e);
	int64_t owed_us = (detect_number(e, FIELD_ELAPSED_MS) - detect_number(e, FIELD_LIMIT_MS)) * US_PER_MS;

	if (owed_us < span_length_us(s))
		s.start.us = s.end.us - (owed_us > 0 ? owed_us : 0);
	return s;
}

/* Those closer than half an interval are of a member that has just joined, or of several members. */
static void hear_heartbeat(const struct detect_context *ctx, struct conversation *c, const struct event *e)
{
	int64_t gap_us = e->time.us - c->heartbeat_us;

	if (c->has_heartbeat && gap_us >= ctx->heartbeat_ms * US_PER_MS / 2)
		*ARENA_PUSH(ctx->arena, c->gaps, c->gap_count, c->gap_capacity) = gap_us;
	c->has_heartbeat = true;
	c->heartbeat_us = e->time.us;
}

/*
 * A timer gives one gap, again and again. Where heartbeats wait for the next
 * poll the shorter gaps are about the interval, whatever it was set to, and
 * many are longer by a quarter and more. What is longer by far is an outage.
 */
static bool is_untimed(const struct detect_context *ctx, struct conversation *c)
{
	int64_t usual = 0, late = 0;

	if (c->gap_count < HEARTBEATS_LEAST)
		return false;
	qsort(c->gaps, c->gap_count, sizeof *c->gaps, order_i64_items);
	int64_t interval_us = c->gaps[c->gap_count / 3];
	for (size_t i = 0; i < c->gap_count && c->gaps[i] / 3 <= interval_us; i++) {
		usual++;
		late += c->gaps[i] > interval_us + interval_us / 4;
	}
	return late * 100 >= usual * detect_threshold(ctx, THRESHOLD_PAUSE_UNTIMED_PERCENT);
}

/* What Kafka's own words say of a path. Those that are inferred say nothing of answers. */
static void hear_requests(const struct detect_context *ctx, struct conversation *c, const struct event *e)
{
	if (e->strength != STRENGTH_PROVES)
		return;
	c->is_read = true;
	if (e->type == EVENT_WIRE_HEARTBEAT)
		hear_heartbeat(ctx, c, e);
	if (e->type == EVENT_WIRE_FETCH)
		add_phase(ctx->arena, &c->delivered, detect_event_span(ctx, e));
	if (e->type == EVENT_WIRE_LATE || e->type == EVENT_WIRE_UNANSWERED)
		add_phase(ctx->arena, &c->overdue, overdue_part(ctx, e));
	if (e->type == EVENT_WIRE_JOINED || e->type == EVENT_WIRE_SYNCED ||
	    sv_eq(event_text(e, FIELD_API), SV("JoinGroup")) || sv_eq(event_text(e, FIELD_API), SV("SyncGroup")))
		add_phase(ctx->arena, &c->joining, detect_event_span(ctx, e));
}

static bool is_of_wire(enum event_type t)
{
	return t == EVENT_WIRE_HEARTBEAT || t == EVENT_WIRE_FETCH || t == EVENT_WIRE_LATE || t == EVENT_WIRE_UNANSWERED ||
	       t == EVENT_WIRE_JOINED || t == EVENT_WIRE_SYNCED;
}

static int listen(const struct detect_context *ctx, struct conversations *all)
{
	const enum event_type types[] = { EVENT_NET_CONNECTION, EVENT_NET_QUIET, EVENT_WIRE_HEARTBEAT, EVENT_WIRE_FETCH,
					  EVENT_WIRE_LATE, EVENT_WIRE_UNANSWERED, EVENT_WIRE_JOINED, EVENT_WIRE_SYNCED };
	struct query *q = query_events(ctx->store, types, sizeof types / sizeof types[0]);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		struct conversation *c = conversation_of(ctx, all, &e);
		struct span span = detect_event_span(ctx, &e);

		if (is_of_wire(e.type)) {
			hear_requests(ctx, c, &e);
			continue;
		}
		if (e.type == EVENT_NET_CONNECTION)
			add_connection(ctx->arena, c, span);
		else if (!is_called_side(&e))
			add_phase(ctx->arena, &c->caller_quiet, span);
		else if (detect_number(&e, FIELD_PENDING) != 0)
			add_phase(ctx->arena, &c->called_quiet, span);
		if (e.type == EVENT_NET_QUIET && !is_called_side(&e) &&
		    span_length_us(span) > detect_pause_limit_us(ctx, WINDOW_PROCESS_PAUSE))
			c->long_quiet_us += span_length_us(span);
	}
	query_free(q);
	for (size_t i = 0; i < all->capacity; i++) {
		find_waiting(ctx->arena, &all->items[i]);
		all->items[i].is_untimed = is_untimed(ctx, &all->items[i]);
	}
	return rc;
}

/* Whether one connection was open from end to end. */
static bool is_spanned(const struct detect_context *ctx, const struct conversation *c, struct span s)
{
	int64_t slack_us = detect_threshold(ctx, THRESHOLD_PAUSE_CONNECTION_SLACK_MS) * US_PER_MS;
	const struct span *connection = last_from(&c->connections, s.start.us + slack_us);

	return connection != NULL && connection->end.us + slack_us >= s.end.us;
}

/* ---- the caller ---- */

/* What logs say of memberships, in order of time. */
struct membership_log {
	const struct event **events;
	size_t count;
};

static bool is_parting(enum event_type t)
{
	return t == EVENT_CLIENT_LEAVES || t == EVENT_CLIENT_POLL_TIMEOUT;
}

static bool is_joining(enum event_type t)
{
	return t == EVENT_CLIENT_REJOINS || t == EVENT_GROUP_PREPARING;
}

/*
 * A member that parts goes silent with its last heartbeat, up to an interval
 * before it says so. What it says when the silence ends is no reason for it.
 */
static bool parts_at(const struct detect_context *ctx, const struct event *e, struct span s, int64_t near_us)
{
	int64_t us = clock_event_to_ref(ctx->clocks, e).us;

	return is_parting(e->type) && us >= s.start.us - near_us &&
	       us <= s.start.us + ctx->heartbeat_ms * US_PER_MS + near_us && us < s.end.us - near_us;
}

/* For most of the time, by the requests themselves. */
static bool waits_to_join(const struct conversation *c, struct span s)
{
	int64_t us = 0;

	for (size_t i = 0; i < c->joining.count; i++) {
		int64_t part = span_length_us(span_intersect(c->joining.items[i], s));

		us = part > us ? part : us;
	}
	return us > span_length_us(s) / 2;
}

/*
 * A member that has left, or that waits for the others to join, owes no
 * heartbeat. Its requests say so, or its own log, near to the start of the
 * silence; the broker says when a group is joining. One that must join anew and
 * does not ask owes that.
 */
static bool owes_nothing(const struct detect_context *ctx, const struct conversation *c,
			 const struct membership_log *log, struct sv host, struct span s)
{
	int64_t near_us = detect_threshold(ctx, THRESHOLD_PAUSE_LEAVE_MS) * US_PER_MS;
	bool client_joins = false, group_joins = false;

	for (size_t i = 0; i < log->count; i++) {
		const struct event *e = log->events[i];
		int64_t after_us = clock_event_to_ref(ctx->clocks, e).us - s.start.us;
		bool is_clients = event_infos[e->type].side == SIDE_CLIENT;

		if (is_clients && !sv_eq(e->host, host))
			continue;
		if (parts_at(ctx, e, s, near_us))
			return true;
		if (after_us > near_us)
			continue;
		if (is_clients && !is_parting(e->type))
			client_joins = is_joining(e->type);
		else if (!is_clients && after_us <= 0)
			group_joins = is_joining(e->type);
	}
	return c->is_read ? waits_to_join(c, s) : client_joins || group_joins;
}

/*
 * A client that closes a connection is not paused; that nothing of it is seen
 * to leave is not its fault. (That it complains says less: so does one that
 * has next to no processor time.) Near to the ends lines may be those of the
 * last moment before and the first after.
 */
static bool is_closing_within(const struct detect_context *ctx, const struct membership_log *lines, struct sv host,
			    struct span s)
{
	int64_t near_us = detect_threshold(ctx, THRESHOLD_PAUSE_LEAVE_MS) * US_PER_MS;

	for (size_t i = 0; i < lines->count; i++) {
		const struct event *e = lines->events[i];
		int64_t us = clock_event_to_ref(ctx->clocks, e).us;

		if (us > s.start.us + near_us && us < s.end.us - near_us && sv_eq(e->host, host))
			return true;
	}
	return false;
}

static bool is_its_habit(const struct detect_context *ctx, const struct conversation *c)
{
	return c->long_quiet_us > span_set_length_us(&c->open) / 100 * detect_threshold(ctx, THRESHOLD_PAUSE_HABIT_PERCENT);
}

/* Deliveries within a second may be told as one, at the first's time. */
static bool brought_records(const struct conversation *c, struct ref_time answer)
{
	const struct span *delivered = last_from(&c->delivered, answer.us + DELIVERED_NEAR_US);

	return delivered != NULL && answer.us - delivered->end.us <= US_PER_S;
}

/*
 * A client without a timer for its heartbeats sends nothing while its handler
 * works on the records that it was given, and asks for nothing: on the wire it
 * cannot be told from one that stands still (method.md 4). One that stopped
 * while it waited is betrayed by its fetch, which is answered into the silence,
 * without records as a rule.
 */
static bool may_be_handling(const struct detect_context *ctx, const struct conversation *c, const struct event *e)
{
	int64_t near_us = detect_threshold(ctx, THRESHOLD_PAUSE_ASKED_MS) * US_PER_MS, spoken_us;

	if (!c->is_untimed || !event_int(e, FIELD_SPOKEN_AT_US, &spoken_us))
		return false;
	return spoken_us - e->time.us <= near_us || brought_records(c, detect_span(ctx, e->host, spoken_us, spoken_us).start);
}

static void leave_untold(const struct detect_context *ctx, const struct path *path, struct span s, const struct event *e)
{
	struct windows *out = ctx->out;
	struct window *w = ARENA_PUSH(ctx->arena, out->untold, out->untold_count, out->untold_capacity);

	*w = (struct window){ .kind = WINDOW_PROCESS_PAUSE, .kinds = 1U << WINDOW_PROCESS_PAUSE, .source = "capture",
			      .host = path->host, .path_a = path->a, .path_b = path->called, .span = s };
	detect_evidence(ctx, w, e, "the client sent nothing: its handler was at work, or the process stood still");
}

static void take_quiet_caller(const struct detect_context *ctx, const struct conversation *c,
			      const struct membership_log *log, const struct membership_log *lines,
			      const struct event *e)
{
	struct span whole = detect_event_span(ctx, e), s = after_answer(ctx, c, e);

	if (span_length_us(s) <= detect_pause_limit_us(ctx, WINDOW_PROCESS_PAUSE) || !is_spanned(ctx, c, whole) ||
	    is_its_habit(ctx, c))
		return;
	if (detect_number(e, FIELD_ACKS) == 0 && detect_number(e, FIELD_PENDING) == 0)
		return;
	if (owes_nothing(ctx, c, log, e->host, s) || is_closing_within(ctx, lines, e->host, s))
		return;
	if (may_be_handling(ctx, c, e)) {
		leave_untold(ctx, c->path, s, e);
		return;
	}
	struct window *w = detect_add(ctx, WINDOW_PROCESS_PAUSE, "capture", SV_ABSENT, c->path, s);
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_ACKS, detect_number(e, FIELD_ACKS));
	detect_evidence(ctx, w, e, "the process sent nothing that it owed, while nothing of its data was lost");
}

int detect_process_pause(const struct detect_context *ctx)
{
	const enum event_type quiet[] = { EVENT_NET_QUIET };
	const enum event_type membership[] = { EVENT_CLIENT_LEAVES,    EVENT_CLIENT_POLL_TIMEOUT, EVENT_CLIENT_REJOINS,
					       EVENT_CLIENT_JOINED,    EVENT_CLIENT_SYNCED,	  EVENT_GROUP_PREPARING,
					       EVENT_GROUP_STABILIZED, EVENT_GROUP_ASSIGNED,	  EVENT_GROUP_EMPTY };
	const enum event_type said[] = { EVENT_CLIENT_DISCONNECTED, EVENT_CLIENT_REQUEST_CANCELLED };
	struct conversations all = { 0 };
	struct membership_log log, lines;
	struct event e;

	if (listen(ctx, &all) < 0 ||
	    query_load(ctx->store, membership, sizeof membership / sizeof membership[0], ctx->arena, &log.events,
		       &log.count) < 0 ||
	    query_load(ctx->store, said, sizeof said / sizeof said[0], ctx->arena, &lines.events, &lines.count) < 0)
		return -1;
	struct query *q = query_events(ctx->store, quiet, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1)
		if (!is_called_side(&e) && e.duration_us > detect_pause_limit_us(ctx, WINDOW_PROCESS_PAUSE))
			take_quiet_caller(ctx, conversation_of(ctx, &all, &e), &log, &lines, &e);
	query_free(q);
	return rc;
}

/* ---- the called side ---- */

/* At its time so many callers more (or fewer) wait for an answer, or are served. */
struct change {
	int64_t us;
	int waits, served;
};

struct changes {
	struct change *items;
	size_t count, capacity;
};

static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return a->us < b->us ? -1 : a->us > b->us;
}

static void add_changes(struct arena *a, struct changes *all, const struct span_set *set, int waits, int served)
{
	for (size_t i = 0; i < set->count; i++) {
		*ARENA_PUSH(a, all->items, all->count, all->capacity) =
			(struct change){ set->items[i].start.us, waits, served };
		*ARENA_PUSH(a, all->items, all->count, all->capacity) =
			(struct change){ set->items[i].end.us, -waits, -served };
	}
}

/* When callers enough of this address wait and none that is connected is served. */
static struct span_set stands_still(const struct detect_context *ctx, const struct conversations *all, struct sv called)
{
	struct changes changes = { 0 };
	struct span_set still = { 0 };
	int waits = 0, served = 0;

	for (size_t i = 0; i < all->capacity; i++) {
		const struct conversation *c = &all->items[i];

		if (c->path == NULL || !sv_eq(c->path->b, called))
			continue;
		add_changes(ctx->arena, &changes, &c->open, 0, 1);
		add_changes(ctx->arena, &changes, &c->waiting, 1, -1);
	}
	if (changes.count > 1)
		qsort(changes.items, changes.count, sizeof *changes.items, compare_changes);
	for (size_t i = 0; i + 1 < changes.count; i++) {
		waits += changes.items[i].waits;
		served += changes.items[i].served;
		if (waits >= detect_threshold(ctx, THRESHOLD_SERVER_PAUSE_CALLERS) && served == 0)
			span_set_add(&still, ctx->arena,
				     (struct span){ { changes.items[i].us }, { changes.items[i + 1].us } });
	}
	return still;
}

/* The longest piece of the set inside s. */
static struct span longest_within(const struct span_set *set, struct span s)
{
	struct span longest = { s.start, s.start };

	for (size_t i = 0; i < set->count; i++) {
		struct span piece = span_intersect(set->items[i], s);

		if (span_length_us(piece) > span_length_us(longest))
			longest = piece;
	}
	return longest;
}

/* The standstills of one called address, found once. */
struct standstill {
	struct sv called;
	struct span_set times;
};

struct standstills {
	struct standstill *items;
	size_t count, capacity;
};

static const struct standstill *standstill_of(const struct detect_context *ctx, const struct conversations *all,
					      struct standstills *found, struct sv called)
{
	for (size_t i = 0; i < found->count; i++)
		if (sv_eq(found->items[i].called, called))
			return &found->items[i];
	struct standstill *s = ARENA_PUSH(ctx->arena, found->items, found->count, found->capacity);
	*s = (struct standstill){ called, stands_still(ctx, all, called) };
	return s;
}

/* What brokers logged: one that logs is not paused, and while a group is joining its members wait rightly. */
struct broker_log {
	const struct event **events;
	size_t count;
};

static bool is_of_group(enum event_type t)
{
	return t == EVENT_GROUP_PREPARING || t == EVENT_GROUP_STABILIZED || t == EVENT_GROUP_ASSIGNED;
}

static bool is_contradicted(const struct detect_context *ctx, const struct broker_log *log, struct span s)
{
	bool joining = false;

	for (size_t i = 0; i < log->count; i++) {
		struct ref_time t = clock_event_to_ref(ctx->clocks, log->events[i]);

		/* The first line that it writes again may stand at the very end. */
		if (t.us > s.start.us && t.us < s.end.us - US_PER_S)
			return true;
		/* Members come while a group is joining: that they do ends nothing. */
		if (t.us <= s.start.us && is_of_group(log->events[i]->type))
			joining = is_joining(log->events[i]->type);
	}
	return joining;
}

/* A caller that has asked to join is answered once all others have: what comes before that, by its own log. */
static struct span before_joining(const struct detect_context *ctx, const struct membership_log *joins, struct sv host,
				  struct span s)
{
	int64_t near_us = detect_threshold(ctx, THRESHOLD_PAUSE_LEAVE_MS) * US_PER_MS;
	const struct span nothing = { s.start, s.start };
	bool is_waiting = false;

	for (size_t i = 0; i < joins->count; i++) {
		const struct event *e = joins->events[i];
		struct ref_time t = clock_event_to_ref(ctx->clocks, e);

		if (!sv_eq(e->host, host))
			continue;
		if (t.us <= s.start.us + near_us)
			is_waiting = is_joining(e->type);
		else if (is_waiting)
			return nothing;
		else if (t.us < s.end.us && is_joining(e->type))
			return (struct span){ s.start, t };
	}
	return is_waiting ? nothing : s;
}

static void take_quiet_server(const struct detect_context *ctx, const struct conversation *c,
			      const struct standstill *still, const struct broker_log *log,
			      const struct membership_log *joins, const struct event *e)
{
	struct span s = longest_within(&still->times, detect_event_span(ctx, e));

	s = before_joining(ctx, joins, e->host, s);
	if (span_length_us(s) <= detect_pause_limit_us(ctx, WINDOW_SERVER_PAUSE) || !is_spanned(ctx, c, s) ||
	    is_contradicted(ctx, log, s))
		return;
	struct window *w = detect_add(ctx, WINDOW_SERVER_PAUSE, "capture", SV_ABSENT, c->path, s);
	w->censored = detect_number(e, FIELD_CENSORED) != 0;
	detect_measure(w, MEASURE_ACKS, detect_number(e, FIELD_ACKS));
	detect_evidence(ctx, w, e, "every caller had requests that stood unanswered, though the called side had acknowledged them");
}

int detect_server_pause(const struct detect_context *ctx)
{
	const enum event_type quiet[] = { EVENT_NET_QUIET };
	const enum event_type logged[] = { EVENT_GROUP_PREPARING, EVENT_GROUP_STABILIZED, EVENT_GROUP_ASSIGNED,
					   EVENT_MEMBER_JOINS,	  EVENT_MEMBER_LEFT,	  EVENT_MEMBER_ID_GIVEN };
	const enum event_type joining[] = { EVENT_CLIENT_REJOINS, EVENT_CLIENT_JOINED };
	struct conversations all = { 0 };
	struct standstills found = { 0 };
	struct membership_log joins;
	struct broker_log log;
	struct event e;

	if (listen(ctx, &all) < 0 ||
	    query_load(ctx->store, logged, sizeof logged / sizeof logged[0], ctx->arena, &log.events, &log.count) < 0 ||
	    query_load(ctx->store, joining, sizeof joining / sizeof joining[0], ctx->arena, &joins.events, &joins.count) < 0)
		return -1;
	struct query *q = query_events(ctx->store, quiet, 1);
	int rc;
	while ((rc = query_next(q, &e)) == 1) {
		if (!is_called_side(&e) || e.duration_us <= detect_pause_limit_us(ctx, WINDOW_SERVER_PAUSE))
			continue;
		const struct conversation *c = conversation_of(ctx, &all, &e);
		take_quiet_server(ctx, c, standstill_of(ctx, &all, &found, c->path->b), &log, &joins, &e);
	}
	query_free(q);
	return rc;
}
