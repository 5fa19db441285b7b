/* SPDX-License-Identifier: MIT */
/*
 * Finds the links between clocks (method.md 2; the pairs of lines are those of
 * kafka-log-messages.md 4.6).
 *
 * Events become facts: what was said, of which group, and of which generation
 * or member. Two facts of one key make a link where a row of link_rules gives
 * their order. A key that one log states twice at different times (a group
 * made anew counts its generations from 1 again) proves no order and is left
 * out.
 */

#include "analysis/clock_links.h"

#include <stdlib.h>

#include "analysis/detect.h"
#include "analysis/episode.h"
#include "base/order.h"
#include "model/masked.h"

enum fact_kind {
	FACT_LEAVES,
	FACT_LEFT,
	FACT_COMPUTED,
	FACT_ASSIGNED,
	FACT_JOIN_SENT,	  /* JoinGroup was sent, and the next line of that client tells its answer */
	FACT_STABILIZED,
	FACT_JOINED,
	FACT_SYNCED,
	FACT_ID_GIVEN,
	FACT_ID_TAKEN,	  /* the client joins again with the id that it was given */
	FACT_ADDED,
	/* As a capture of either host saw them pass. */
	FACT_WIRE_ASKED,   /* JoinGroup */
	FACT_WIRE_JOINED,  /* its answer */
	FACT_WIRE_SYNCED,  /* the answer to SyncGroup */
	FACT_WIRE_LEAVES,  /* LeaveGroup */
	FACT_REQUESTED,	   /* a client sent a request that it cancelled later, and then said how long ago that was */
	FACT_WIRE_REQUEST, /* a request of that number */
	FACT_WIRE_REFUSED, /* the first answer that knows the member no more */
	FACT_REFUSED,	   /* the client has that answer */
	FACT_COUNT
};

enum link_key { KEY_GENERATION, KEY_MEMBER, KEY_GENERATION_MEMBER };

static const struct link_rule {
	enum fact_kind before, after;
	enum link_key key;
	const char *before_role, *after_role;
} link_rules[] = {
	{ FACT_JOIN_SENT, FACT_ID_GIVEN, KEY_MEMBER, "the client asks to join", "the coordinator has the request and gives a member id" },
	{ FACT_ID_GIVEN, FACT_ID_TAKEN, KEY_MEMBER, "the coordinator gives a member id", "the client has that member id" },
	{ FACT_ID_TAKEN, FACT_ADDED, KEY_MEMBER, "the client joins with its member id", "the coordinator adds the member" },
	{ FACT_JOIN_SENT, FACT_STABILIZED, KEY_GENERATION, "the client asks to join", "the coordinator has all requests to join" },
	{ FACT_STABILIZED, FACT_JOINED, KEY_GENERATION, "the coordinator answers all requests to join", "the client has the answer" },
	{ FACT_JOINED, FACT_ASSIGNED, KEY_GENERATION_MEMBER, "the leader has the members", "the coordinator has the leader's assignment" },
	{ FACT_COMPUTED, FACT_ASSIGNED, KEY_GENERATION, "the leader has computed the assignment", "the coordinator has it" },
	{ FACT_ASSIGNED, FACT_SYNCED, KEY_GENERATION, "the coordinator has the assignment", "the client has its part" },
	{ FACT_LEAVES, FACT_LEFT, KEY_MEMBER, "the client sends LeaveGroup", "the coordinator has it" },
	/* Captures in the place of the clients' logs, or between them and the coordinator's. */
	{ FACT_WIRE_ASKED, FACT_STABILIZED, KEY_GENERATION, "a request to join passes", "the coordinator has all requests to join" },
	{ FACT_WIRE_ASKED, FACT_ADDED, KEY_MEMBER, "a member's request to join passes", "the coordinator adds the member" },
	{ FACT_ADDED, FACT_WIRE_JOINED, KEY_MEMBER, "the coordinator adds the member", "the answer to its request passes" },
	{ FACT_STABILIZED, FACT_WIRE_JOINED, KEY_GENERATION, "the coordinator answers all requests to join", "an answer passes" },
	{ FACT_WIRE_JOINED, FACT_JOINED, KEY_GENERATION_MEMBER, "the answer to its request passes", "the client has the answer" },
	{ FACT_ASSIGNED, FACT_WIRE_SYNCED, KEY_GENERATION, "the coordinator has the assignment", "a part of it passes" },
	{ FACT_COMPUTED, FACT_WIRE_SYNCED, KEY_GENERATION, "the leader has computed the assignment", "a part of it passes" },
	{ FACT_WIRE_SYNCED, FACT_SYNCED, KEY_GENERATION_MEMBER, "its part of the assignment passes", "the client has its part" },
	{ FACT_LEAVES, FACT_WIRE_LEAVES, KEY_MEMBER, "the client sends LeaveGroup", "LeaveGroup passes" },
	{ FACT_WIRE_LEAVES, FACT_LEFT, KEY_MEMBER, "LeaveGroup passes", "the coordinator has it" },
	{ FACT_REQUESTED, FACT_WIRE_REQUEST, KEY_GENERATION_MEMBER, "the client sent a request that it cancelled in the end", "the request passes" },
	{ FACT_WIRE_REFUSED, FACT_REFUSED, KEY_MEMBER, "the answer that refuses the member's heartbeat passes", "the client has the answer" },
	/* Between clients alone, where there is no broker's log: all have asked before any is answered. */
	{ FACT_JOIN_SENT, FACT_JOINED, KEY_GENERATION, "one client asks to join", "another has the answer to all requests" },
	{ FACT_COMPUTED, FACT_SYNCED, KEY_GENERATION, "the leader has computed the assignment", "another client has its part" },
};

/*
 * Lines of clients and the coordinator that make facts. Those with a phrase name
 * members for several reasons, and the one that counts only after the phrase.
 */
static const struct fact_type {
	enum event_type type;
	enum fact_kind kind;
	const char *phrase;	/* in the reason; NULL: the member is always the one */
} fact_types[] = {
	{ EVENT_CLIENT_LEAVES, FACT_LEAVES, NULL },
	{ EVENT_CLIENT_REJOINS, FACT_ID_TAKEN, "with the given member-id: " },
	{ EVENT_CLIENT_JOINED, FACT_JOINED, NULL },
	{ EVENT_CLIENT_SYNCED, FACT_SYNCED, NULL },
	{ EVENT_CLIENT_ASSIGNMENT_COMPUTED, FACT_COMPUTED, NULL },
	{ EVENT_GROUP_PREPARING, FACT_ADDED, "Adding new member " },
	{ EVENT_GROUP_STABILIZED, FACT_STABILIZED, NULL },
	{ EVENT_GROUP_ASSIGNED, FACT_ASSIGNED, NULL },
	{ EVENT_MEMBER_LEFT, FACT_LEFT, NULL },
	{ EVENT_MEMBER_ID_GIVEN, FACT_ID_GIVEN, NULL },
	{ EVENT_MEMBER_JOINS, FACT_ADDED, NULL },
};
#define FACT_TYPES (sizeof fact_types / sizeof *fact_types)

/* What captures saw, in which an event lasts from the request to its answer. */
static const struct wire_type {
	enum event_type type;
	enum fact_kind kind;
	bool is_answer;
} wire_types[] = {
	{ EVENT_WIRE_JOINED, FACT_WIRE_ASKED, false }, { EVENT_WIRE_JOINED, FACT_WIRE_JOINED, true },
	{ EVENT_WIRE_SYNCED, FACT_WIRE_SYNCED, true }, { EVENT_WIRE_LEFT, FACT_WIRE_LEAVES, false },
};

/* Requests by their number, which counts all of one client. */
static const enum event_type request_types[] = { EVENT_CLIENT_REQUEST_CANCELLED, EVENT_WIRE_UNANSWERED, EVENT_WIRE_LATE };
#define REQUEST_TYPES (sizeof request_types / sizeof *request_types)
#define WIRE_TYPES (sizeof wire_types / sizeof *wire_types)

/* Who asks to join so shortly before the answer is among the last. */
#define WAIT_MOST_US US_PER_S

/* Clocks further apart than zones can be (-12 to +14 h) are rather two lives of a group. */
#define APART_MAX_US (26 * 3600 * US_PER_S)

struct fact {
	enum fact_kind kind;
	size_t host, input;	/* index */
	struct sv group;
	bool has_generation;
	int64_t generation;
	struct sv member;	/* absent when not known */
	struct sv client;	/* of client lines: absent when not known */
	const struct event *event;
	int64_t later_us;	/* than the event's time */
};

struct facts {
	struct fact *items;
	size_t count;
	size_t capacity;
	struct arena *arena;
};

/* ---- events to facts ---- */

/* One that was masked is that of any member. */
static struct sv if_readable(struct sv member)
{
	return member.n == 0 || masked_is(member) ? SV_ABSENT : member;
}

/* The rule that read the line knows best where an id ends; without it, at a space. */
static struct sv member_of(const struct fact_type *type, const struct event *e)
{
	struct sv reason = event_text(e, FIELD_REASON), phrase = sv_of(type->phrase);
	size_t at = 0;

	if (!sv_is_absent(phrase) && !sv_find(reason, phrase, &at))
		return SV_ABSENT;
	if (sv_is_absent(phrase) || event_has(e, FIELD_MEMBER))
		return if_readable(event_text(e, FIELD_MEMBER));
	reason = sv_sub(reason, at + phrase.n, reason.n);
	return if_readable(sv_cut(&reason, ' '));
}

bool clock_links_host(const struct link_sources *from, struct sv host, size_t *out)
{
	size_t low = 0, high = from->host_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = sv_cmp(from->hosts[middle], host);

		if (order == 0) {
			*out = middle;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool clock_links_input(const struct link_sources *from, int64_t input, size_t *out)
{
	size_t low = 0, high = from->input_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (from->inputs[middle].id < input)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return low < from->input_count && from->inputs[low].id == input;
}

static const struct fact_type *fact_type_of(enum event_type type)
{
	size_t i = 0;

	while (fact_types[i].type != type)
		i++;
	return &fact_types[i];
}

static void add_fact(struct facts *f, size_t host, size_t input, const struct event *e)
{
	struct fact *fact = ARENA_PUSH(f->arena, f->items, f->count, f->capacity);
	const struct fact_type *type = fact_type_of(e->type);

	fact->kind = type->kind;
	fact->host = host;
	fact->input = input;
	fact->group = event_text(e, FIELD_GROUP);
	fact->has_generation = event_int(e, FIELD_GENERATION, &fact->generation);
	fact->member = member_of(type, e);
	if (event_infos[e->type].side == SIDE_CLIENT)
		fact->client = event_text(e, FIELD_CLIENT);
	fact->event = e;
}

static int64_t time_of(const struct fact *f)
{
	int64_t us;

	return __builtin_add_overflow(f->event->time.us, f->later_us, &us) ? f->event->time.us : us;
}

/* A static member that comes back is given the generation that it had: that one was formed long before. */
static bool is_repeated(const struct facts *f, size_t host, const struct event *e)
{
	const struct sv group = event_text(e, FIELD_GROUP), client = event_client(e);
	int64_t generation = event_int_or(e, FIELD_GENERATION, -1);

	for (size_t i = f->count; i > 0; i--) {
		const struct fact *one = &f->items[i - 1];
		if (one->event->type == e->type && one->host == host && sv_eq(one->client, client) && sv_eq(one->group, group))
			return one->has_generation && one->generation == generation;
	}
	return false;
}

/* A request that was refused formed nothing. */
static void add_wire_facts(struct facts *f, size_t host, size_t input, const struct event *e)
{
	if (event_has(e, FIELD_ERROR) || is_repeated(f, host, e))
		return;
	for (size_t i = 0; i < WIRE_TYPES; i++) {
		if (wire_types[i].type != e->type)
			continue;
		struct fact *fact = ARENA_PUSH(f->arena, f->items, f->count, f->capacity);
		*fact = (struct fact){ .kind = wire_types[i].kind, .host = host, .input = input, .group = event_text(e, FIELD_GROUP),
				       .member = event_text(e, FIELD_MEMBER), .client = event_client(e), .event = e,
				       .later_us = wire_types[i].is_answer ? e->duration_us : 0 };
		fact->has_generation = event_int(e, FIELD_GENERATION, &fact->generation);
		/* Of a request that waited long for the others its generation says little. */
		if (fact->kind == FACT_WIRE_ASKED && e->duration_us > WAIT_MOST_US)
			fact->has_generation = false;
	}
}

/* So many facts after a join its sync stands at the latest, when both were seen. */
#define SYNC_LOOKED_FOR 256

static bool is_sync_of(const struct fact *sync, const struct fact *join)
{
	return sync->kind == FACT_WIRE_SYNCED && sync->input == join->input && sv_eq(sync->group, join->group) &&
	       sv_eq(sync->client, join->client) && event_has(join->event, FIELD_GENERATION) &&
	       event_int_or(sync->event, FIELD_GENERATION, -1) == event_int_or(join->event, FIELD_GENERATION, -1);
}

/* A snapshot length cuts the answer to a join before the new member's id; its SyncGroup names it. */
static void name_joins(struct facts *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct fact *join = &f->items[i];

		if ((join->kind != FACT_WIRE_ASKED && join->kind != FACT_WIRE_JOINED) || !sv_is_absent(join->member))
			continue;
		for (size_t k = i + 1; k < f->count && k - i <= SYNC_LOOKED_FOR && sv_is_absent(join->member); k++)
			if (is_sync_of(&f->items[k], join))
				join->member = f->items[k].member;
	}
}

/*
 * Both the time of the line and the time since the request are cut off to
 * milliseconds: it was sent at most one before their difference.
 */
static void add_request_fact(struct facts *f, size_t host, size_t input, const struct event *e)
{
	bool is_log = e->type == EVENT_CLIENT_REQUEST_CANCELLED;
	struct fact fact = { .kind = is_log ? FACT_REQUESTED : FACT_WIRE_REQUEST, .host = host, .input = input, .group = SV(""),
			     .member = event_client(e), .client = event_client(e), .event = e };
	int64_t elapsed_ms = 0;

	fact.has_generation = event_int(e, FIELD_CORRELATION_ID, &fact.generation);
	if (!fact.has_generation || (is_log && (!event_int(e, FIELD_ELAPSED_MS, &elapsed_ms) || elapsed_ms < 0 || elapsed_ms > INT32_MAX)))
		return;
	fact.later_us = is_log ? -(elapsed_ms + 1) * US_PER_MS : 0;
	*ARENA_PUSH(f->arena, f->items, f->count, f->capacity) = fact;
}

/* So many facts back: repeated further apart they are stated twice, and bound nothing. */
#define REFUSALS_LOOKED_AT 256

static bool is_refused_already(const struct facts *f, const struct fact *fact)
{
	for (size_t i = f->count; i > 0 && f->count - i < REFUSALS_LOOKED_AT; i--) {
		const struct fact *one = &f->items[i - 1];
		if (one->kind == fact->kind && one->input == fact->input && sv_eq(one->member, fact->member))
			return true;
	}
	return false;
}

/*
 * A client whose heartbeat is refused because its member is not known any more
 * says so of the first such answer, and drops the member id.
 */
static void add_refusal(struct facts *f, size_t host, size_t input, const struct event *e)
{
	const bool is_wire = e->type == EVENT_WIRE_HEARTBEAT;
	struct fact fact = { .kind = is_wire ? FACT_WIRE_REFUSED : FACT_REFUSED, .host = host, .input = input,
			     .group = event_text(e, FIELD_GROUP), .member = if_readable(event_text(e, FIELD_MEMBER)),
			     .client = event_client(e), .event = e, .later_us = is_wire ? e->duration_us : 0 };

	if (!sv_is_absent(fact.member) && !is_refused_already(f, &fact))
		*ARENA_PUSH(f->arena, f->items, f->count, f->capacity) = fact;
}

static bool is_refusal(const struct event *e)
{
	return sv_eq_nocase(event_text(e, FIELD_API), SV("Heartbeat")) && witness_is_unknown_member(e);
}

/* Of millions of heartbeats few are refused: one at a time. */
static int find_refusals(struct store *s, const struct link_sources *from, struct facts *f)
{
	static const enum event_type types[] = { EVENT_WIRE_HEARTBEAT, EVENT_CLIENT_MEMBERSHIP_LOST };
	struct query *q = query_events(s, types, 2);
	size_t host, input;
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		if (!is_refusal(&e) || !clock_links_host(from, e.host, &host) || !clock_links_input(from, e.place.input, &input))
			continue;
		add_refusal(f, host, input, query_shelve(q, &e));
	}
	query_free(q);
	return rc;
}

static bool is_request(enum event_type type)
{
	for (size_t i = 0; i < REQUEST_TYPES; i++) {
		if (request_types[i] == type)
			return true;
	}
	return false;
}

/* ---- the answered requests to join ---- */

static int compare_lives(const void *left, const void *right)
{
	const struct fact *x = left, *y = right;
	int order;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if ((order = sv_cmp(x->group, y->group)) != 0 || (order = sv_cmp(x->client, y->client)) != 0)
		return order;
	return (x->event->id > y->event->id) - (x->event->id < y->event->id);
}

static bool is_same_life(const struct fact *x, const struct fact *y)
{
	return x->host == y->host && sv_eq(x->group, y->group) && sv_eq(x->client, y->client) &&
	       x->event->place.input == y->event->place.input;
}

/* What a client's line is to its request to join. */
enum join_line { JOIN_NEITHER, JOIN_REQUEST, JOIN_ANSWER, JOIN_REFUSED };

static enum join_line join_line_of(const struct fact *line)
{
	struct sv reason = event_text(line->event, FIELD_REASON);
	size_t at;

	if (line->kind == FACT_JOINED || !sv_is_absent(line->member))
		return JOIN_ANSWER;
	if (sv_is_absent(reason))
		return JOIN_REQUEST;
	if (sv_find(reason, SV("rebalance failed"), &at) || sv_find(reason, SV("JOIN_GROUP response"), &at))
		return JOIN_REFUSED;
	return JOIN_NEITHER;
}

static void add_answered_join(struct facts *f, const struct fact *sent, const struct fact *answer)
{
	struct fact *fact = ARENA_PUSH(f->arena, f->items, f->count, f->capacity);

	*fact = *answer;
	fact->kind = FACT_JOIN_SENT;
	fact->event = sent->event;
	/* One key each: the request before a member id, or before a generation. */
	if (answer->kind == FACT_JOINED)
		fact->member = SV_ABSENT;
	else
		fact->has_generation = false;
}

/* The lines of clients that tell of joining, each client's in the order of its log. */
static struct facts join_lines(const struct facts *f)
{
	struct facts out = { .items = arena_array(f->arena, f->count, sizeof *out.items), .arena = f->arena };

	for (size_t i = 0; i < f->count; i++) {
		const struct fact *fact = &f->items[i];

		if ((fact->kind == FACT_ID_TAKEN || fact->kind == FACT_JOINED) && !sv_is_absent(fact->client))
			out.items[out.count++] = *fact;
	}
	if (out.count > 1)
		qsort(out.items, out.count, sizeof *out.items, compare_lives);
	return out;
}

/*
 * "(Re-)joining group", a client.rejoins without a reason, is written just
 * before JoinGroup is sent, and one request is under way at a time: the next
 * answer that the client writes down is to that line. Two requests without an
 * answer between them may be of two consumers that share a client.id, and
 * prove nothing. The order is that of lines, not of times: clocks may step.
 */
static void add_answered_joins(struct facts *f)
{
	struct facts lines = join_lines(f);
	const struct fact *sent = NULL;
	bool twice = false;

	for (size_t i = 0; i < lines.count; i++) {
		const struct fact *line = &lines.items[i];
		enum join_line is = join_line_of(line);

		if (sent != NULL && !is_same_life(sent, line))
			sent = NULL;
		if (is == JOIN_REQUEST)
			twice = sent != NULL;
		else if (is == JOIN_ANSWER && sent != NULL && !twice)
			add_answered_join(f, sent, line);
		if (is != JOIN_NEITHER)
			sent = is == JOIN_REQUEST ? line : NULL;
	}
}

/* ---- facts to links ---- */

static bool has_key(const struct fact *f, enum link_key key)
{
	return (key == KEY_MEMBER || f->has_generation) && (key == KEY_GENERATION || !sv_is_absent(f->member));
}

static int compare_keys(const struct fact *x, const struct fact *y, enum link_key key)
{
	int order = sv_cmp(x->group, y->group);

	if (order == 0 && key != KEY_MEMBER && x->generation != y->generation)
		order = x->generation < y->generation ? -1 : 1;
	if (order == 0 && key != KEY_GENERATION)
		order = sv_cmp(x->member, y->member);
	return order;
}

/* By key, then whose statement it is, then time. */
static int compare_facts(const struct fact *x, const struct fact *y, enum link_key key)
{
	int order = compare_keys(x, y, key);

	if (order == 0 && x->host != y->host)
		order = x->host < y->host ? -1 : 1;
	if (order == 0)
		order = sv_cmp(x->client, y->client);
	if (order == 0)
		order = order_i64(time_of(x), time_of(y));
	if (order == 0)
		order = (x->event->id > y->event->id) - (x->event->id < y->event->id);
	return order;
}

static int by_generation(const void *x, const void *y)
{
	return compare_facts(x, y, KEY_GENERATION);
}

static int by_member(const void *x, const void *y)
{
	return compare_facts(x, y, KEY_MEMBER);
}

static int by_generation_member(const void *x, const void *y)
{
	return compare_facts(x, y, KEY_GENERATION_MEMBER);
}

static int (*const orders[])(const void *, const void *) = {
	[KEY_GENERATION] = by_generation,
	[KEY_MEMBER] = by_member,
	[KEY_GENERATION_MEMBER] = by_generation_member,
};

/* The facts of one kind that have the key, sorted, less those that are stated twice at different times. */
static struct facts select_facts(const struct facts *f, enum fact_kind kind, enum link_key key, struct arena *a)
{
	struct facts out = { .arena = a };
	size_t n = 0, end;

	for (size_t i = 0; i < f->count; i++) {
		if (f->items[i].kind == kind && has_key(&f->items[i], key))
			*ARENA_PUSH(a, out.items, n, out.capacity) = f->items[i];
	}
	if (n > 1)
		qsort(out.items, n, sizeof *out.items, orders[key]);
	for (size_t start = 0; start < n; start = end) {
		const struct fact *first = &out.items[start];

		for (end = start + 1; end < n && compare_keys(first, &out.items[end], key) == 0 &&
				      out.items[end].host == first->host && sv_eq(out.items[end].client, first->client); end++)
			;
		if (time_of(first) == time_of(&out.items[end - 1]))
			out.items[out.count++] = *first;
	}
	return out;
}

/*
 * Of the facts of one key, from start on: per host the one that bounds most, the
 * last "before" or first "after"; per input, since two may be in different zones.
 */
static size_t tightest_per_input(const struct facts *f, size_t start, enum link_key key, bool last, struct facts *out)
{
	size_t i;

	out->count = 0;
	for (i = start; i < f->count && compare_keys(&f->items[start], &f->items[i], key) == 0; i++) {
		struct fact *kept = out->count > 0 ? &out->items[out->count - 1] : NULL;
		int64_t time_us = time_of(&f->items[i]);

		if (kept == NULL || kept->input != f->items[i].input || kept->host != f->items[i].host)
			*ARENA_PUSH(f->arena, out->items, out->count, out->capacity) = f->items[i];
		else if (last ? time_us > time_of(kept) : time_us < time_of(kept))
			*kept = f->items[i];
	}
	return i;
}

static void add_links(const struct facts *before, const struct facts *after, const struct link_rule *rule,
		      struct arena *a, struct event_links *out)
{
	for (size_t i = 0; i < before->count; i++) {
		for (size_t j = 0; j < after->count; j++) {
			const struct fact *x = &before->items[i], *y = &after->items[j];
			int64_t apart;

			if (x->host == y->host || __builtin_sub_overflow(time_of(y), time_of(x), &apart) ||
			    apart > APART_MAX_US || apart < -APART_MAX_US)
				continue;
			*ARENA_PUSH(a, out->items, out->count, out->capacity) = (struct event_link){
				.before = { x->event, x->later_us, rule->before_role, x->host, x->input },
				.after = { y->event, y->later_us, rule->after_role, y->host, y->input },
			};
		}
	}
}

/* Both sides are sorted by key: walk them together. What is needed for it is scratch's. */
static void apply_rule(const struct facts *f, const struct link_rule *rule, struct arena *scratch, struct arena *a,
		       struct event_links *out)
{
	struct facts before = select_facts(f, rule->before, rule->key, scratch);
	struct facts after = select_facts(f, rule->after, rule->key, scratch);
	struct facts x = { .arena = scratch }, y = { .arena = scratch };
	size_t i = 0, j = 0;

	while (i < before.count && j < after.count) {
		int order = compare_keys(&before.items[i], &after.items[j], rule->key);

		if (order < 0) {
			i++;
		} else if (order > 0) {
			j++;
		} else {
			i = tightest_per_input(&before, i, rule->key, true, &x);
			j = tightest_per_input(&after, j, rule->key, false, &y);
			add_links(&x, &y, rule, a, out);
		}
	}
}

/* ---- the whole ---- */

static void find_steps(const struct facts *f, size_t input_count, struct arena *a, struct event_links *out)
{
	out->step_us = arena_array(a, input_count, sizeof *out->step_us);
	for (size_t i = 0; i < f->count; i++) {
		int64_t *step_us = &out->step_us[f->items[i].input];
		int64_t time_us = f->items[i].event->time.us; /* as written: what is reckoned from it is finer */

		if (*step_us == 0)
			*step_us = US_PER_S;
		if (time_us % US_PER_MS != 0)
			*step_us = 1;
		else if (time_us % US_PER_S != 0 && *step_us > US_PER_MS)
			*step_us = US_PER_MS;
	}
}

int clock_links_find(struct store *s, const struct link_sources *from, struct arena *a, struct event_links *out)
{
	enum event_type types[FACT_TYPES + WIRE_TYPES + REQUEST_TYPES];
	struct facts facts = { .arena = arena_new() };
	struct arena *scratch = arena_new();
	const struct event **events;
	size_t count, host, input;
	int rc;

	*out = (struct event_links){ 0 };
	for (size_t i = 0; i < FACT_TYPES; i++)
		types[i] = fact_types[i].type;
	for (size_t i = 0; i < WIRE_TYPES; i++)
		types[FACT_TYPES + i] = wire_types[i].type;
	for (size_t i = 0; i < REQUEST_TYPES; i++)
		types[FACT_TYPES + WIRE_TYPES + i] = request_types[i];
	rc = query_load(s, types, FACT_TYPES + WIRE_TYPES + REQUEST_TYPES, facts.arena, &events, &count);
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (!clock_links_host(from, events[i]->host, &host) || !clock_links_input(from, events[i]->place.input, &input))
			continue;
		if (is_request(events[i]->type))
			add_request_fact(&facts, host, input, events[i]);
		else if (event_infos[events[i]->type].side == SIDE_PATH)
			add_wire_facts(&facts, host, input, events[i]);
		else
			add_fact(&facts, host, input, events[i]);
	}
	name_joins(&facts);
	if (rc == 0)
		rc = find_refusals(s, from, &facts);
	add_answered_joins(&facts);
	find_steps(&facts, from->input_count, a, out);
	for (size_t i = 0; i < sizeof link_rules / sizeof *link_rules; i++) {
		arena_reset(scratch);
		apply_rule(&facts, &link_rules[i], scratch, a, out);
	}
	arena_free(scratch);
	arena_free(facts.arena);
	return rc;
}
