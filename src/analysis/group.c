/* SPDX-License-Identifier: MIT */
/*
 * Groups from the events that name them. Members come from the coordinator's
 * lines, the clients' own lines and the rows of kafka-consumer-groups; a
 * member's host is that of the client log which names it, because a broker's
 * line knows addresses at most.
 */

#include "analysis/group.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/adopt.h"
#include "analysis/own_address.h"
#include "analysis/path.h"
#include "base/order.h"

/* An event that names a group, on the reference clock. */
struct mention {
	const struct event *event;
	struct ref_time time;
};

struct mentions {
	struct mention *items;
	size_t count;
	size_t capacity;
};

/* A client id seen in the log of a host, in a group. */
struct home {
	struct sv group;
	struct sv client;
	struct sv host;
};

struct homes {
	struct home *items;	/* by group, client, host; each once */
	size_t count;
	size_t capacity;
	size_t sort_at;
};

/*
 * The settings that analysis uses: their names in a ConsumerConfig dump and in
 * what a member asks the coordinator for (NULL when it does not), and their places
 * in struct group. A member's rebalance timeout is its max.poll.interval.ms.
 *
 * Which program has a setting. Under KIP-848 the broker decides about sessions
 * and heartbeats, and what the client prints of them is without effect.
 */
enum keeper { KEEPER_CLIENT, KEEPER_CLASSIC_CLIENT, KEEPER_KIP848_BROKER };

static const struct setting_row {
	const char *key;
	const char *asked;
	size_t offset;
	enum keeper keeper;
} setting_rows[] = {
	{ "session.timeout.ms", "sessionTimeout", offsetof(struct group, session_timeout_ms), KEEPER_CLASSIC_CLIENT },
	{ "heartbeat.interval.ms", NULL, offsetof(struct group, heartbeat_interval_ms), KEEPER_CLASSIC_CLIENT },
	{ "group.consumer.session.timeout.ms", NULL, offsetof(struct group, session_timeout_ms), KEEPER_KIP848_BROKER },
	{ "group.consumer.heartbeat.interval.ms", NULL, offsetof(struct group, heartbeat_interval_ms), KEEPER_KIP848_BROKER },
	{ "max.poll.interval.ms", "rebalanceTimeout", offsetof(struct group, max_poll_interval_ms), KEEPER_CLIENT },
	{ "max.poll.records", NULL, offsetof(struct group, max_poll_records), KEEPER_CLIENT },
	{ "request.timeout.ms", NULL, offsetof(struct group, request_timeout_ms), KEEPER_CLIENT },
	{ "auto.commit.interval.ms", NULL, offsetof(struct group, auto_commit_interval_ms), KEEPER_CLIENT },
	{ "enable.auto.commit", NULL, offsetof(struct group, enable_auto_commit), KEEPER_CLIENT },
};

/* ---- comparing ---- */

static int mention_cmp_time(const struct mention *a, const struct mention *b)
{
	int order = order_i64(a->time.us, b->time.us);
	return order != 0 ? order : order_i64(a->event->id, b->event->id);
}

static int mention_cmp_group(const void *x, const void *y)
{
	const struct mention *a = x, *b = y;
	int order = sv_cmp(event_text(a->event, FIELD_GROUP), event_text(b->event, FIELD_GROUP));
	return order != 0 ? order : mention_cmp_time(a, b);
}

static int mention_cmp_member(const void *x, const void *y)
{
	const struct mention *a = x, *b = y;
	int order = sv_cmp(event_text(a->event, FIELD_MEMBER), event_text(b->event, FIELD_MEMBER));
	return order != 0 ? order : mention_cmp_time(a, b);
}

static int home_cmp(const void *x, const void *y)
{
	const struct home *a = x, *b = y;
	int order = sv_cmp(a->group, b->group);
	if (order == 0)
		order = sv_cmp(a->client, b->client);
	return order != 0 ? order : sv_cmp(a->host, b->host);
}

static int member_cmp_first(const void *x, const void *y)
{
	const struct member *a = x, *b = y;
	int order = order_i64(a->first.us, b->first.us);
	return order != 0 ? order : sv_cmp(a->member_id, b->member_id);
}

/* ---- what is read ---- */

/* Of what captures tell the few that name members and coordinators: heartbeats and commits come by the thousand. */
static bool is_about_groups(enum event_type t)
{
	enum event_side side = event_infos[t].side;

	if (side == SIDE_PATH)
		return t == EVENT_WIRE_MEMBER || t == EVENT_WIRE_JOINED || t == EVENT_WIRE_LEFT || t == EVENT_WIRE_COORDINATOR;
	return side == SIDE_CLIENT || side == SIDE_BROKER || side == SIDE_TOOL;
}

/* Settings are asked for by themselves; commits name no member, and there may be millions of them. */
static bool is_no_mention(enum event_type t)
{
	return t == EVENT_CLIENT_CONFIG || t == EVENT_BROKER_CONFIG || t == EVENT_OFFSET_COMMITTED;
}

static bool is_wanted(const struct analysis_options *o, struct sv group)
{
	return !sv_is_absent(group) && (sv_is_absent(o->group) || sv_eq(o->group, group));
}

/* By group, then time. What is adopted is a's, all else is scratch's. */
static int load_mentions(struct store *s, const struct clocks *c, const struct analysis_options *o, struct arena *scratch,
			 struct arena *a, struct mentions *out)
{
	enum event_type types[EVENT_COUNT];
	struct memberships known = { .count = 0 };
	size_t n = 0, count;
	const struct event **events;

	for (enum event_type t = 0; t < EVENT_COUNT; t++) {
		if (is_about_groups(t) && !is_no_mention(t))
			types[n++] = t;
	}
	if (query_load(s, types, n, scratch, &events, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		memberships_add(&known, scratch, event_client(events[i]), event_text(events[i], FIELD_GROUP));
	memberships_sort(&known);
	for (size_t i = 0; i < count; i++) {
		const struct event *e = memberships_adopt(&known, events[i], a);

		if (!is_wanted(o, event_text(e, FIELD_GROUP)))
			continue;
		struct mention *m = ARENA_PUSH(scratch, out->items, out->count, out->capacity);
		m->event = e;
		m->time = clock_event_to_ref(c, e);
	}
	if (out->count > 0)
		qsort(out->items, out->count, sizeof *out->items, mention_cmp_group);
	return 0;
}

/* Which client ids the logs of which hosts speak for. */
static void find_homes(const struct mentions *all, struct arena *a, struct homes *out)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct event *e = all->items[i].event;
		struct home h = { event_text(e, FIELD_GROUP), event_text(e, FIELD_CLIENT), e->host };
		if (event_infos[e->type].side != SIDE_CLIENT || sv_is_absent(h.host))
			continue;
		if (sv_is_absent(h.client))
			h.client = member_id_owner(event_text(e, FIELD_MEMBER));
		out->count = order_unique_at(out->items, out->count, sizeof *out->items, home_cmp, &out->sort_at);
		*ARENA_PUSH(a, out->items, out->count, out->capacity) = h;
	}
	out->count = order_unique(out->items, out->count, sizeof *out->items, home_cmp);
}

/* The one host whose log speaks for this client id of this group; absent when there is none, or more than one. */
static struct sv only_host(const struct homes *homes, struct sv group, struct sv client)
{
	struct home key = { group, client, SV_ABSENT };

	if (sv_is_absent(client))
		return SV_ABSENT;
	size_t at = order_lower_bound(&key, homes->items, homes->count, sizeof *homes->items, home_cmp);
	if (at == homes->count || !sv_eq(homes->items[at].group, group) || !sv_eq(homes->items[at].client, client))
		return SV_ABSENT;
	bool is_only = at + 1 == homes->count || !sv_eq(homes->items[at + 1].group, group) ||
		       !sv_eq(homes->items[at + 1].client, client);
	return is_only ? homes->items[at].host : SV_ABSENT;
}

/* ---- members ---- */

/* Only the first to say it counts: a member does not change. */
static void learn(struct sv *what, struct sv said)
{
	if (sv_is_absent(*what) && said.n > 0)
		*what = said;
}

/* "/10.77.1.10:5123" as the address alone. A bare IPv6 address has several colons and no port. */
static struct sv bare_address(struct sv peer)
{
	size_t first, last;

	if (peer.n > 0 && peer.p[0] == '/')
		peer = sv_sub(peer, 1, peer.n - 1);
	if (sv_find_char(peer, ':', &first) && sv_rfind_char(peer, ':', &last) && first == last)
		peer = sv_sub(peer, 0, first);
	return peer;
}

/* The address that asked, of what a capture tells. */
static struct sv asker(const struct event *e)
{
	bool is_a = !sv_eq(event_text(e, FIELD_DIRECTION), SV("ba"));

	return path_address(event_text(e, is_a ? FIELD_PATH_A : FIELD_PATH_B));
}

static void learn_of_member(struct member *m, const struct mention *said)
{
	const struct event *e = said->event;

	if (said->time.us < m->first.us)
		m->first = said->time;
	if (said->time.us > m->last.us)
		m->last = said->time;
	learn(&m->client_id, event_text(e, FIELD_CLIENT));
	learn(&m->instance_id, event_text(e, FIELD_INSTANCE));
	learn(&m->peer, bare_address(event_text(e, FIELD_PEER)));
	if (event_infos[e->type].side == SIDE_CLIENT)
		learn(&m->host, e->host);
	if (event_infos[e->type].side == SIDE_PATH)
		learn(&m->peer, asker(e));
}

static void complete_member(struct member *m, struct sv group, const struct homes *homes, const struct own_addresses *own)
{
	struct sv owner = member_id_owner(m->member_id);

	/* A static member's id is made of its instance id, so that it says nothing of the client. */
	if (!sv_eq(owner, m->instance_id))
		learn(&m->client_id, owner);
	if (sv_is_absent(m->host))
		m->host = only_host(homes, group, m->client_id);
	/* Its address, when a capture says whose it is. */
	if (sv_is_absent(m->host) && !sv_is_absent(m->peer))
		m->host = own_address_owner(own, m->peer);
}

static const struct member *member_at(const struct group *g, size_t rank)
{
	return &g->members[g->by_id[rank]];
}

/* Insertion into by_id would be quadratic: the ids are sorted by merging halves. */
static void sort_ids(const struct member *members, size_t *ids, size_t *spare, size_t n)
{
	if (n < 2)
		return;
	size_t half = n / 2, i = 0, j = half;
	sort_ids(members, ids, spare, half);
	sort_ids(members, ids + half, spare, n - half);
	memcpy(spare, ids, n * sizeof *ids);
	for (size_t k = 0; k < n; k++) {
		bool is_left = j == n || (i < half && sv_cmp(members[spare[i]].member_id, members[spare[j]].member_id) <= 0);
		ids[k] = is_left ? spare[i++] : spare[j++];
	}
}

/* said: the group's mentions; put in another order here. */
static void find_members(struct group *g, struct mention *said, size_t count, const struct homes *homes,
			 const struct own_addresses *own, struct arena *a)
{
	qsort(said, count, sizeof *said, mention_cmp_member);
	struct member *m = NULL;
	for (size_t i = 0; i < count; i++) {
		struct sv id = event_text(said[i].event, FIELD_MEMBER);
		if (id.n == 0)
			continue;
		if (m == NULL || !sv_eq(m->member_id, id)) {
			m = ARENA_PUSH(a, g->members, g->member_count, g->member_capacity);
			m->member_id = id;
			m->first = m->last = said[i].time;
		}
		learn_of_member(m, &said[i]);
	}
	if (g->member_count == 0)
		return;
	for (size_t i = 0; i < g->member_count; i++)
		complete_member(&g->members[i], g->name, homes, own);
	qsort(g->members, g->member_count, sizeof *g->members, member_cmp_first);
	g->by_id = arena_array(a, g->member_count, sizeof *g->by_id);
	for (size_t i = 0; i < g->member_count; i++)
		g->by_id[i] = i;
	sort_ids(g->members, g->by_id, arena_array(a, g->member_count, sizeof *g->by_id), g->member_count);
}

/* ---- protocol and coordinator ---- */

static void find_protocol(struct group *g, const struct mention *said, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct sv protocol = event_text(said[i].event, FIELD_PROTOCOL);
		/* The field holds the assignor's name elsewhere. */
		if (sv_eq(protocol, SV("classic")) || sv_eq(protocol, SV("consumer"))) {
			g->protocol = protocol;
			return;
		}
	}
	for (size_t i = 0; i < count; i++) {
		/* Only the classic protocol has a join phase, and a leader who computes the assignment. */
		if (said[i].event->type == EVENT_CLIENT_ASSIGNMENT_COMPUTED || said[i].event->type == EVENT_GROUP_STABILIZED)
			g->protocol = SV("classic");
	}
	/* Members of both protocols may be in one group while it migrates; the later one is where it goes. */
	for (size_t i = 0; i < count && sv_is_absent(g->protocol); i++) {
		const struct event *e = said[count - 1 - i].event;
		if (e->type == EVENT_WIRE_MEMBER)
			g->protocol = sv_starts_with(event_text(e, FIELD_API), SV("ConsumerGroup")) ? SV("consumer") : SV("classic");
	}
}

static bool tells_coordinator(enum event_type t)
{
	return t == EVENT_CLIENT_COORDINATOR_FOUND || t == EVENT_GROUP_STATE;
}

/* What captures saw of it counts where nothing else tells. */
static bool is_coordinator_line(enum event_type t, bool is_told)
{
	return is_told ? tells_coordinator(t) : t == EVENT_WIRE_COORDINATOR;
}

/* The latest that clients or --state found: "10.0.0.1:9092 (id: 2147483646 rack: null)" without what follows the address. */
static void find_coordinator(struct group *g, const struct mention *said, size_t count)
{
	bool is_told = false;

	for (size_t i = 0; i < count; i++)
		is_told |= tells_coordinator(said[i].event->type) && event_text(said[i].event, FIELD_NODE).n > 0;
	for (size_t i = 0; i < count; i++) {
		struct sv node = event_text(said[i].event, FIELD_NODE);
		if (!is_coordinator_line(said[i].event->type, is_told) || node.n == 0)
			continue;
		struct sv address = sv_cut(&node, ' ');
		g->coordinator_changed |= g->coordinator.n > 0 && !sv_eq(g->coordinator, address);
		g->coordinator = address;
	}
}

/* ---- settings ---- */

struct vote {
	int64_t value;
	const struct event *event;
	struct ref_time time;
};

struct votes {
	struct vote *items;
	size_t count;
	size_t capacity;
};

static int vote_cmp(const void *x, const void *y)
{
	const struct vote *a = x, *b = y;
	int order = order_i64(a->value, b->value);
	if (order == 0)
		order = order_i64(a->time.us, b->time.us);
	return order != 0 ? order : order_i64(a->event->id, b->event->id);
}

static bool setting_value(struct sv text, int64_t *out)
{
	if (sv_eq_nocase(text, SV("true")) || sv_eq_nocase(text, SV("false"))) {
		*out = sv_eq_nocase(text, SV("true"));
		return true;
	}
	return sv_to_i64(text, out);
}

/* Of equally common values the smallest, so that the order of inputs does not matter. */
static void elect(struct votes *votes, struct arena *a, struct setting *out)
{
	size_t best = 0, best_run = 0;

	if (votes->count == 0)
		return;
	qsort(votes->items, votes->count, sizeof *votes->items, vote_cmp);
	for (size_t i = 0, run; i < votes->count; i += run) {
		for (run = 1; i + run < votes->count && votes->items[i + run].value == votes->items[i].value; run++)
			;
		if (run > best_run) {
			best = i;
			best_run = run;
		}
	}
	struct evidence_list list = { 0 };
	evidence_add(&list, a, votes->items[best].event, votes->items[best].time,
		     votes->items[best].event->type == EVENT_WIRE_CONFIG ? "the setting, as it was told on the wire"
									 : "the client's setting");
	*out = (struct setting){ .known = true, .value = votes->items[best].value, .source = list.items[0] };
}

/* Whether a config line is of a consumer of the group: it says so, or its client does, or its host knows no other group. */
static bool is_config_of(const struct event *e, struct sv group, const struct homes *homes)
{
	struct sv client = event_text(e, FIELD_CLIENT);
	bool is_client_here = false, is_host_here = false, is_host_elsewhere = false, is_client_anywhere = false;

	if (event_has(e, FIELD_GROUP))
		return sv_eq(event_text(e, FIELD_GROUP), group);
	for (size_t i = 0; i < homes->count; i++) {
		const struct home *h = &homes->items[i];
		bool is_client = sv_eq(h->client, client) && !sv_is_absent(client);
		if (!sv_eq(h->host, e->host))
			continue;
		is_client_anywhere |= is_client;
		if (sv_eq(h->group, group)) {
			is_host_here = true;
			is_client_here |= is_client;
		} else {
			is_host_elsewhere = true;
		}
	}
	return is_client_anywhere ? is_client_here : is_host_here && !is_host_elsewhere && sv_is_absent(client);
}

static bool is_consumer_protocol(const struct group *g)
{
	return sv_eq(g->protocol, SV("consumer"));
}

static bool is_key_of(const struct setting_row *row, struct sv key)
{
	return sv_eq(key, sv_of(row->key)) || (row->asked != NULL && sv_eq(key, sv_of(row->asked)));
}

/* Whether this line of settings speaks of the row's setting in the group. */
static bool is_setting_of(const struct setting_row *row, const struct event *e, const struct group *g, const struct homes *homes)
{
	bool is_brokers = row->keeper == KEEPER_KIP848_BROKER, is_told = e->type == EVENT_WIRE_CONFIG;

	if (!is_key_of(row, event_text(e, FIELD_KEY)) || (!is_told && is_brokers != (e->type == EVENT_BROKER_CONFIG)))
		return false;
	if (row->keeper != KEEPER_CLIENT && is_brokers != is_consumer_protocol(g))
		return false;
	return (is_brokers && !is_told) || is_config_of(e, g->name, homes);
}

static void find_protocol_setting(struct group *g, const struct event *const *configs, size_t count, const struct homes *homes)
{
	for (size_t i = 0; i < count; i++) {
		if (configs[i]->type == EVENT_CLIENT_CONFIG && sv_eq(event_text(configs[i], FIELD_KEY), SV("group.protocol")) &&
		    is_config_of(configs[i], g->name, homes))
			learn(&g->protocol, event_text(configs[i], FIELD_VALUE));
	}
}

static void find_version(struct group *g, const struct event *const *configs, size_t count, const struct homes *homes)
{
	for (size_t i = 0; i < count; i++) {
		if (configs[i]->type == EVENT_CLIENT_VERSION && is_config_of(configs[i], g->name, homes))
			learn(&g->client_version, event_text(configs[i], FIELD_VALUE));
	}
}

/* Where no client printed its settings: the session timeouts of members, as the coordinator stored them. */
static void find_stored_session(struct group *g, const struct mention *said, size_t count, struct arena *a)
{
	struct votes votes = { NULL, 0, 0 };
	int64_t value;

	if (g->session_timeout_ms.known || is_consumer_protocol(g))
		return;
	for (size_t i = 0; i < count; i++)
		if (said[i].event->type == EVENT_GROUP_STORED && event_int(said[i].event, FIELD_LIMIT_MS, &value))
			*ARENA_PUSH(a, votes.items, votes.count, votes.capacity) = (struct vote){ value, said[i].event, said[i].time };
	elect(&votes, a, &g->session_timeout_ms);
}

/* "sessionTimeoutMs=45000, rebalanceTimeoutMs=300000": what the coordinator knows of a member that it writes of. */
static bool stated(const struct setting_row *row, const struct group *g, const struct event *e, int64_t *out)
{
	struct sv rest = event_text(e, FIELD_SETTINGS);

	if (row->asked == NULL || (row->keeper != KEEPER_CLIENT && is_consumer_protocol(g)))
		return false;
	while (!sv_is_absent(rest)) {
		struct sv value = sv_trim(sv_cut(&rest, ','));
		struct sv key = sv_cut(&value, '=');
		if (sv_starts_with(key, sv_of(row->asked)) && !sv_is_absent(value) && sv_to_i64(value, out))
			return true;
	}
	return false;
}

/* said: what names the group. */
static void find_settings(struct group *g, const struct event *const *configs, size_t count, const struct homes *homes,
			  const struct clocks *c, const struct mention *said, size_t said_count, struct arena *a)
{
	for (size_t row = 0; row < sizeof setting_rows / sizeof *setting_rows; row++) {
		struct votes votes = { NULL, 0, 0 };
		int64_t value;
		for (size_t i = 0; i < count; i++) {
			const struct event *e = configs[i];
			if (is_setting_of(&setting_rows[row], e, g, homes) && setting_value(event_text(e, FIELD_VALUE), &value))
				*ARENA_PUSH(a, votes.items, votes.count, votes.capacity) =
					(struct vote){ value, e, clock_event_to_ref(c, e) };
		}
		for (size_t i = 0; i < said_count; i++) {
			if (stated(&setting_rows[row], g, said[i].event, &value))
				*ARENA_PUSH(a, votes.items, votes.count, votes.capacity) =
					(struct vote){ value, said[i].event, said[i].time };
		}
		if (votes.count > 0)
			elect(&votes, a, (struct setting *)(void *)((char *)g + setting_rows[row].offset));
	}
}

/* ---- public ---- */

static size_t group_end(const struct mentions *all, size_t from)
{
	struct sv name = event_text(all->items[from].event, FIELD_GROUP);
	size_t end = from + 1;
	while (end < all->count && sv_eq(event_text(all->items[end].event, FIELD_GROUP), name))
		end++;
	return end;
}

int groups_find(struct store *s, const struct clocks *c, const struct analysis_options *o, struct arena *a,
		struct groups *out)
{
	static const enum event_type config_types[] = { EVENT_CLIENT_CONFIG, EVENT_CLIENT_VERSION, EVENT_BROKER_CONFIG,
							EVENT_WIRE_CONFIG };
	struct arena *scratch = arena_new();
	struct own_addresses *own;
	struct mentions all = { NULL, 0, 0 };
	struct homes homes = { .count = 0 };
	const struct event **configs;
	size_t config_count, groups = 0;

	*out = (struct groups){ NULL, 0 };
	if (load_mentions(s, c, o, scratch, a, &all) < 0 || query_load(s, config_types, 4, scratch, &configs, &config_count) < 0 ||
	    own_addresses_find(s, a, &own) < 0) {
		arena_free(scratch);
		return -1;
	}
	find_homes(&all, scratch, &homes);
	for (size_t i = 0; i < all.count; i = group_end(&all, i))
		groups++;
	out->items = arena_array(a, groups, sizeof *out->items);
	for (size_t i = 0, end; i < all.count; i = end) {
		end = group_end(&all, i);
		struct group *g = &out->items[out->count++];
		g->name = event_text(all.items[i].event, FIELD_GROUP);
		find_protocol(g, &all.items[i], end - i);
		find_coordinator(g, &all.items[i], end - i);
		find_protocol_setting(g, configs, config_count, &homes);
		find_version(g, configs, config_count, &homes);
		find_settings(g, configs, config_count, &homes, c, &all.items[i], end - i, a);
		find_stored_session(g, &all.items[i], end - i, a);
		find_members(g, &all.items[i], end - i, &homes, own, a);
	}
	arena_free(scratch);
	return 0;
}

struct group *groups_get(const struct groups *g, struct sv name)
{
	size_t low = 0, high = g->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = sv_cmp(g->items[middle].name, name);
		if (order == 0)
			return &g->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct member *group_member(const struct group *g, struct sv member_id)
{
	size_t low = 0, high = g->member_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = sv_cmp(member_at(g, middle)->member_id, member_id);
		if (order == 0)
			return member_at(g, middle);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int64_t value_or(const struct setting *s, int64_t otherwise)
{
	return s->known && s->value > 0 ? s->value : otherwise;
}

/* A default since a version of Kafka's own clients; the newest first (kafka-group-semantics.md 9). */
struct default_since {
	int version[3];
	int64_t ms;
};

static const struct default_since session_defaults[] = { { { 3, 0, 0 }, 45000 }, { { 0, 10, 1 }, 10000 }, { { 0, 0, 0 }, 30000 } };
static const struct default_since request_defaults[] = { { { 2, 0, 0 }, 30000 }, { { 0, 10, 1 }, 305000 }, { { 0, 0, 0 }, 40000 } };

/* Whether the version, "2.8.2" or "3.9.0-rc3", is at least that. */
static bool is_at_least(struct sv version, const int least[3])
{
	for (int i = 0; i < 3; i++) {
		struct sv part = sv_cut(&version, '.');
		size_t digits = 0;
		int64_t number = 0;

		while (digits < part.n && digits < 9 && part.p[digits] >= '0' && part.p[digits] <= '9')
			number = 10 * number + (part.p[digits++] - '0');
		if (number != least[i])
			return number > least[i];
	}
	return true;
}

static int64_t default_of(const struct group *g, const struct default_since *defaults)
{
	while (g->client_version.n > 0 && !is_at_least(g->client_version, defaults->version))
		defaults++;
	return defaults->ms;
}

int64_t group_session_timeout_ms(const struct group *g)
{
	return value_or(&g->session_timeout_ms, is_consumer_protocol(g) ? 45000 : default_of(g, session_defaults));
}

int64_t group_heartbeat_interval_ms(const struct group *g)
{
	return value_or(&g->heartbeat_interval_ms, is_consumer_protocol(g) ? 5000 : 3000);
}

int64_t group_max_poll_interval_ms(const struct group *g)
{
	return value_or(&g->max_poll_interval_ms, 300000);
}

int64_t group_request_timeout_ms(const struct group *g)
{
	return value_or(&g->request_timeout_ms, default_of(g, request_defaults));
}
