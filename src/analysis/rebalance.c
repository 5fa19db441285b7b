/* SPDX-License-Identifier: MIT */
/*
 * Rebalances of all groups from the events in the store (method.md 4). This
 * file loads the lines, hands them out by group, and makes one numbered list
 * of what the other files find (analysis/episode.h).
 */

#include "analysis/episode.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/adopt.h"
#include "analysis/wire_line.h"

/* What is read, of all groups. */
struct lines {
	struct sightings with_group;	/* in order of time */
	struct sightings asks;
	struct sightings processes, starts, killings;
	struct sightings moves;
	struct coverage *logs;
	size_t log_count;
};

/* ---- loading ---- */

static int sighting_cmp(const void *x, const void *y)
{
	const struct sighting *a = x, *b = y;

	if (a->time.us != b->time.us)
		return a->time.us < b->time.us ? -1 : 1;
	return (a->event->id > b->event->id) - (a->event->id < b->event->id);
}

static int sighting_cmp_host(const void *x, const void *y)
{
	const struct sighting *a = x, *b = y;
	int order = sv_cmp(a->event->host, b->event->host);

	return order != 0 ? order : sighting_cmp(x, y);
}

static void sightings_sort(struct sightings *all, int (*cmp)(const void *, const void *))
{
	if (all->count > 0)
		qsort(all->items, all->count, sizeof *all->items, cmp);
}

/* Of which group each client is, where others say so. */
static struct memberships memberships_of(const struct groups *g, struct arena *a)
{
	struct memberships known = { .count = 0 };

	for (size_t i = 0; i < g->count; i++) {
		for (size_t k = 0; k < g->items[i].member_count; k++)
			memberships_add(&known, a, g->items[i].members[k].client_id, g->items[i].name);
	}
	memberships_sort(&known);
	return known;
}

/* When the member was told; a leave counts from when it was sent. */
static struct ref_time time_of_answer(const struct clocks *c, const struct event *e)
{
	int64_t us = e->type == EVENT_WIRE_LEFT ? 0 : e->duration_us;

	return clock_input_to_ref(c, e->place.input, e->host, (struct host_time){ e->time.us + us });
}

/* The few of all lines that are asked for of each member that went or came. */
static void pick_processes(struct arena *a, struct lines *out)
{
	for (size_t i = 0; i < out->processes.count; i++) {
		const struct sighting *s = &out->processes.items[i];

		if (witness_is_start(s->event))
			*ARENA_PUSH(a, out->starts.items, out->starts.count, out->starts.capacity) = *s;
		else if (s->event->type == EVENT_PROCESS_KILLED)
			*ARENA_PUSH(a, out->killings.items, out->killings.count, out->killings.capacity) = *s;
	}
}

static int load_lines(struct store *s, const struct clocks *c, const struct groups *g, struct arena *a, struct lines *out)
{
	const struct memberships known = memberships_of(g, a);
	enum event_type types[EVENT_COUNT];
	size_t n = 0, count, wire_count, ask_count;
	const struct event **events, **seen_by_wire, **asks;

	for (enum event_type t = 0; t < EVENT_COUNT; t++) {
		if (event_infos[t].side == SIDE_CLIENT || event_infos[t].side == SIDE_BROKER || t == EVENT_GROUP_STORED ||
		    t == EVENT_PROCESS_KILLED || t == EVENT_BROKER_ROLLED)
			types[n++] = t;
	}
	if (query_load(s, types, n, a, &events, &count) < 0)
		return -1;
	if (wire_lines_load(s, g, events, count, a, &seen_by_wire, &wire_count) < 0 || wire_asks_load(s, a, &asks, &ask_count) < 0)
		return -1;
	for (size_t i = 0; i < ask_count; i++)
		*ARENA_PUSH(a, out->asks.items, out->asks.count, out->asks.capacity) =
			(struct sighting){ asks[i], clock_event_to_ref(c, asks[i]) };
	for (size_t i = 0; i < wire_count; i++)
		*ARENA_PUSH(a, out->with_group.items, out->with_group.count, out->with_group.capacity) =
			(struct sighting){ seen_by_wire[i], time_of_answer(c, seen_by_wire[i]) };
	for (size_t i = 0; i < count; i++) {
		const struct event *e = memberships_adopt(&known, events[i], a);
		const struct sighting seen = { e, clock_event_to_ref(c, e) };
		if (event_has(e, FIELD_GROUP))
			*ARENA_PUSH(a, out->with_group.items, out->with_group.count, out->with_group.capacity) = seen;
		if (event_infos[e->type].side == SIDE_CLIENT || e->type == EVENT_PROCESS_KILLED)
			*ARENA_PUSH(a, out->processes.items, out->processes.count, out->processes.capacity) = seen;
		if (e->type == EVENT_COORDINATOR_MOVED || e->type == EVENT_BROKER_STARTED || e->type == EVENT_BROKER_ROLLED)
			*ARENA_PUSH(a, out->moves.items, out->moves.count, out->moves.capacity) = seen;
	}
	sightings_sort(&out->with_group, sighting_cmp);
	sightings_sort(&out->asks, sighting_cmp);
	sightings_sort(&out->processes, sighting_cmp_host);
	sightings_sort(&out->moves, sighting_cmp);
	pick_processes(a, out);
	return 0;
}

/* The input of this id, of inputs in the order of ids. */
static size_t input_index(const struct input_info *inputs, size_t count, int64_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (inputs[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When the log of each host's clients was being written. What its kernel or a garbage collector logs goes on without them. */
static int load_logs(struct store *s, const struct clocks *c, struct arena *a, struct lines *out)
{
	struct input_info *inputs;
	size_t count;

	if (query_inputs(s, a, &inputs, &count) < 0)
		return -1;
	bool *has_client = arena_array(a, count, sizeof *has_client);
	for (size_t i = 0; i < out->processes.count; i++) {
		const struct event *e = out->processes.items[i].event;
		size_t at = input_index(inputs, count, e->place.input);
		if (at < count && event_infos[e->type].side == SIDE_CLIENT)
			has_client[at] = true;
	}
	out->logs = arena_array(a, count, sizeof *out->logs);
	for (size_t i = 0; i < count; i++) {
		const struct input_info *in = &inputs[i];
		if (!has_client[i] || !sv_eq(in->kind, SV("log")) || !in->has_times || sv_is_absent(in->host))
			continue;
		struct coverage *log = &out->logs[out->log_count++];
		log->kind = in->kind;
		log->host = in->host;
		log->span.start = clock_input_to_ref(c, in->id, in->host, in->first);
		log->span.end = clock_input_to_ref(c, in->id, in->host, in->last);
	}
	return 0;
}

/* ---- one group ---- */

static void find_broker_span(struct group_life *life)
{
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (event_infos[s->event->type].side != SIDE_BROKER)
			continue;
		if (!life->has_broker)
			life->broker.start = s->time;
		life->broker.end = s->time;
		life->has_broker = true;
	}
}

/* Moves of other groups' coordinators are none of this one's. */
static void pick_moves(struct group_life *life, const struct sightings *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct sv group = event_text(all->items[i].event, FIELD_GROUP);
		if (group.n == 0 || sv_eq(group, life->group->name))
			*ARENA_PUSH(life->arena, life->moves.items, life->moves.count, life->moves.capacity) = all->items[i];
	}
}

static void live(struct group_life *life)
{
	find_broker_span(life);
	episodes_build(life);
	triggers_from_broker(life);
	triggers_from_asks(life);
	triggers_from_clients(life);
	asks_settle(life);
	triggers_decide(life);
	roots_link(life);
	fates_decide(life);
	absences_find(life);
}

/* ---- a broker that stalled ---- */

/*
 * A coordinator that stood still lets all sessions run out at once when it wakes
 * up. Silence on a network ends each session by its own last heartbeat, so that
 * three members on two hosts within a millisecond are not its doing; unless
 * all timers had been restarted together, by a rebalance or a load, one session
 * timeout before.
 */
#define STALL_MEMBERS 3
#define STALL_WITHIN_US US_PER_MS
#define RESET_SLACK_US (50 * US_PER_MS)

static bool is_common_reset(const struct rebalance *r, int64_t session_us)
{
	return r->has_timer_reset && llabs(r->trigger_time.us - session_us - r->timer_reset.us) <= RESET_SLACK_US;
}

static void mark_stall(struct group_life *life, struct episode *ep)
{
	struct sv host = SV_ABSENT;
	size_t members = 0;
	bool is_many_hosts = false;

	if (ep->r.trigger != TRIGGER_SESSION_TIMEOUT || is_common_reset(&ep->r, life->session_us))
		return;
	for (size_t i = 0; i < ep->cause_count; i++) {
		const struct cause *c = &ep->causes[i];
		if (c->meaning.trigger != TRIGGER_SESSION_TIMEOUT ||
		    llabs(c->time.us - ep->r.trigger_time.us) > STALL_WITHIN_US)
			continue;
		struct sv where = c->host.n > 0 ? c->host : c->client;
		is_many_hosts |= members > 0 && !sv_eq(host, where);
		host = where;
		members++;
	}
	ep->r.broker_stalled = members >= STALL_MEMBERS && is_many_hosts;
}

/* ---- all groups ---- */

static void finish_group(struct group_life *life, struct rebalances *out)
{
	const unsigned base = (unsigned)out->count;

	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		mark_stall(life, ep);
		const struct member *m = group_member(life->group, ep->r.member);
		if (m != NULL)
			ep->r.peer = m->peer;
		ep->r.broker_host = ep->broker_host;
		ep->r.root += base;
		ep->r.id = base + (unsigned)i;
		evidence_sort(&ep->r.evidence);
		*ARENA_PUSH(life->arena, out->items, out->count, out->capacity) = ep->r;
	}
}

/* The lines of each group, still in order of time. */
static struct sightings *by_group(const struct sightings *all, const struct groups *g, struct arena *a)
{
	struct sightings *out = arena_array(a, g->count, sizeof *out);

	for (size_t i = 0; i < all->count; i++) {
		const struct sighting *s = &all->items[i];
		const struct group *of = groups_get(g, event_text(s->event, FIELD_GROUP));

		if (of == NULL)
			continue;
		struct sightings *lines = &out[of - g->items];
		*ARENA_PUSH(a, lines->items, lines->count, lines->capacity) = *s;
	}
	return out;
}

static int rebalance_cmp(const void *x, const void *y)
{
	const struct rebalance *a = x, *b = y;

	if (a->span.start.us != b->span.start.us)
		return a->span.start.us < b->span.start.us ? -1 : 1;
	int order = sv_cmp(a->group, b->group);
	return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static bool is_in_question(const struct rebalance *r, const struct analysis_options *o)
{
	return (!o->has_from || r->trigger_time.us >= o->from.us) && (!o->has_to || r->trigger_time.us <= o->to.us);
}

/* Leaves out what lies outside of the time in question, with all that follows from it, and numbers the rest by start. */
static void number(struct rebalances *r, const struct analysis_options *o, struct arena *a)
{
	unsigned *ids = arena_array(a, r->count, sizeof *ids);
	bool *is_kept = arena_array(a, r->count, sizeof *is_kept);
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		is_kept[i] = is_in_question(&r->items[i], o) && is_in_question(&r->items[r->items[i].root], o);
	if (r->count > 0)
		qsort(r->items, r->count, sizeof *r->items, rebalance_cmp);
	for (size_t i = 0; i < r->count; i++) {
		if (!is_kept[r->items[i].id])
			continue;
		ids[r->items[i].id] = (unsigned)kept + 1;
		r->items[kept++] = r->items[i];
	}
	r->count = kept;
	for (size_t i = 0; i < r->count; i++) {
		r->items[i].id = (unsigned)i + 1;
		r->items[i].root = ids[r->items[i].root];
	}
}

int rebalances_find(struct store *s, const struct clocks *c, const struct groups *g, const struct analysis_options *o,
		    struct arena *a, struct rebalances *out)
{
	struct lines all = { .log_count = 0 };

	*out = (struct rebalances){ .count = 0 };
	if (load_lines(s, c, g, a, &all) < 0 || load_logs(s, c, a, &all) < 0)
		return -1;
	const struct sightings *lines = by_group(&all.with_group, g, a), *asks = by_group(&all.asks, g, a);
	for (size_t i = 0; i < g->count; i++) {
		struct group_life life = {
			.group = &g->items[i],
			.clocks = c,
			.arena = a,
			.seen = lines[i],
			.asks = asks[i],
			.processes = all.processes,
			.starts = all.starts,
			.killings = all.killings,
			.logs = all.logs,
			.log_count = all.log_count,
			.session_us = group_session_timeout_ms(&g->items[i]) * US_PER_MS,
			.heartbeat_us = group_heartbeat_interval_ms(&g->items[i]) * US_PER_MS,
			.poll_us = group_max_poll_interval_ms(&g->items[i]) * US_PER_MS,
		};
		pick_moves(&life, &all.moves);
		live(&life);
		finish_group(&life, out);
	}
	number(out, o, a);
	return 0;
}

const struct rebalance *rebalances_get(const struct rebalances *r, unsigned id)
{
	return id >= 1 && id <= r->count ? &r->items[id - 1] : NULL;
}

const char *fate_name(enum fate f)
{
	static const char *const names[] = { "not_evicted", "wrongly_evicted", "gone", "unknown" };
	return names[f];
}

const char *attribution_name(enum attribution a)
{
	static const char *const names[] = { "explained", "lagged", "none", "ambiguous", "not_network", "unobserved" };
	return names[a];
}
