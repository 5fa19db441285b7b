/* SPDX-License-Identifier: MIT */
/*
 * What the clients' own logs say of the cause. They override the coordinator
 * where they know better (a static member that overran its poll interval
 * reaches the broker as an expired session), and stand in for it where its log
 * is missing. A failed commit is never a witness: its message blames the poll
 * interval whatever happened (kafka-log-messages.md 4.1, P1).
 */

#include "analysis/episode.h"

#include <assert.h>
#include <stdlib.h>

#include "base/order.h"

/* How the clients spell error 25 (kafka-log-messages.md 1.4). */
static const char *const unknown_member_spellings[] = {
	"UNKNOWN_MEMBER_ID", "not aware of this member", "Unknown member", "Unknown Member ID", "UnknownMemberId",
	"provided member is not known", "since member id", "FENCED_MEMBER_EPOCH",
};

/* Of the episodes made of clients' lines alone only the latest can be meant again. */
#define MADE_LOOKBACK 16

static const struct meaning poll_overrun = { TRIGGER_POLL_TIMEOUT, STRENGTH_PROVES, 4 };
static const struct meaning left_somehow = { TRIGGER_MEMBER_LEAVE, STRENGTH_SUGGESTS, 1 };
static const struct meaning overrun_it_seems = { TRIGGER_POLL_TIMEOUT, STRENGTH_SUGGESTS, 3 };
static const struct meaning evicted_it_seems = { TRIGGER_SESSION_TIMEOUT, STRENGTH_SUGGESTS, 2 };
static const struct meaning joined_somehow = { TRIGGER_MEMBER_JOIN, STRENGTH_SUGGESTS, 1 };
static const struct meaning coordinator_it_seems = { TRIGGER_COORDINATOR_CHANGE, STRENGTH_SUGGESTS, 0 };

/* One client of one host, as its log has told up to now. */
struct teller {
	struct sv host;
	struct sv client;
	bool has_joined;
	struct ref_time joined;
	struct sv member;		/* as whom it joined last; empty when that was not told */
	bool has_generation;
	int64_t generation;
	bool has_left;			/* of itself, since it joined */
	const struct sighting *left;	/* by a line that an overrun of the poll interval prints as well; NULL when not */
	const struct sighting *lost;	/* its membership, since it joined; NULL when not */
	const struct sighting *suspects; /* its session, since it joined: the latest such line; NULL when none */
	bool is_lost_settled;		/* the removal behind that is known */
	const struct sighting *wish;	/* its latest reason to join that can make a rebalance */
};

struct tellers {
	struct teller *items;	/* by host, client */
	size_t count;
	size_t capacity;
	size_t sort_at;
};

bool witness_is_unknown_member(const struct event *e)
{
	struct sv error = event_text(e, FIELD_ERROR);
	size_t at;

	for (size_t i = 0; i < sizeof unknown_member_spellings / sizeof *unknown_member_spellings; i++) {
		if (sv_find(error, sv_of(unknown_member_spellings[i]), &at))
			return true;
	}
	/* Clients of the consumer protocol: "because member m is unknown", "because epoch 7 is fenced". */
	return sv_eq(error, SV("unknown")) || sv_eq(error, SV("fenced"));
}

/* ---- processes ---- */

/* The first line of the host at or after t, of lines by host, then time. */
static size_t first_of_host(const struct sightings *all, struct sv host, struct ref_time t)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sighting *s = &all->items[middle];
		int order = sv_cmp(s->event->host, host);
		if (order < 0 || (order == 0 && s->time.us < t.us))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What a member asks for each time that it joins is no start. */
bool witness_is_start(const struct event *e)
{
	return (e->type == EVENT_CLIENT_CONFIG || e->type == EVENT_CLIENT_VERSION) && !event_has(e, FIELD_SETTINGS);
}

/*
 * A consumer prints its configuration once, when it is made. A version line
 * without a client id may be a producer's, made in mid-life, and says nothing.
 */
static bool is_start_of(const struct event *e, struct sv client, struct sv group)
{
	if (event_has(e, FIELD_CLIENT))
		return sv_eq(event_text(e, FIELD_CLIENT), client);
	if (event_has(e, FIELD_GROUP))
		return sv_eq(event_text(e, FIELD_GROUP), group);
	struct sv key = event_text(e, FIELD_KEY), value = event_text(e, FIELD_VALUE);
	if (sv_eq(key, SV("client.id")))
		return sv_eq(value, client);
	if (sv_eq(key, SV("group.id")))
		return sv_eq(value, group);
	return sv_eq(key, SV("session.timeout.ms")) || sv_eq(key, SV("max.poll.interval.ms"));
}

int64_t witness_restart_us(const struct group_life *life, struct sv host, struct sv client, struct ref_time t)
{
	if (sv_is_absent(host))
		return INT64_MAX;
	for (size_t i = first_of_host(&life->starts, host, t); i < life->starts.count; i++) {
		const struct sighting *s = &life->starts.items[i];
		if (!sv_eq(s->event->host, host))
			break;
		if (is_start_of(s->event, client, life->group->name))
			return s->time.us;
	}
	return INT64_MAX;
}

/* A line of the client in the host's own log, between two instants. */
static bool speaks_between(const struct group_life *life, struct sv host, struct sv client, int64_t from_us, int64_t to_us)
{
	for (size_t i = first_of_host(&life->processes, host, (struct ref_time){ from_us }); i < life->processes.count; i++) {
		const struct sighting *s = &life->processes.items[i];
		if (!sv_eq(s->event->host, host) || s->time.us >= to_us)
			break;
		if (s->event->type != EVENT_PROCESS_KILLED && sv_eq(event_client(s->event), client))
			return true;
	}
	return false;
}

const struct sighting *witness_killing(const struct group_life *life, struct sv host, struct sv client, int64_t from_us,
				       int64_t to_us)
{
	const int64_t slack = episode_slack_us(life, host);

	if (sv_is_absent(host))
		return NULL;
	for (size_t i = first_of_host(&life->killings, host, (struct ref_time){ from_us }); i < life->killings.count; i++) {
		const struct sighting *s = &life->killings.items[i];
		if (!sv_eq(s->event->host, host) || s->time.us > to_us)
			break;
		/* Which process it was the line does not say in a way that could be trusted: the client's silence does. */
		int64_t restart_us = witness_restart_us(life, host, client, s->time), silent_us = s->time.us + life->session_us;
		if (!speaks_between(life, host, client, s->time.us + slack, restart_us < silent_us ? restart_us : silent_us))
			return s;
	}
	return NULL;
}

/* ---- tellers ---- */

static int teller_cmp(const void *x, const void *y)
{
	const struct teller *a = x, *b = y;
	int order = sv_cmp(a->host, b->host);
	return order != 0 ? order : sv_cmp(a->client, b->client);
}

static struct sv client_of(const struct event *e)
{
	struct sv client = event_text(e, FIELD_CLIENT);
	return client.n > 0 ? client : member_id_owner(event_text(e, FIELD_MEMBER));
}

static bool is_told_by_client(const struct sighting *s)
{
	return sighting_is_clients(s);
}

static void tellers_find(const struct group_life *life, struct tellers *out)
{
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct event *e = life->seen.items[i].event;
		if (!is_told_by_client(&life->seen.items[i]))
			continue;
		struct teller t = { .host = e->host, .client = client_of(e) };
		out->count = order_unique_at(out->items, out->count, sizeof *out->items, teller_cmp, &out->sort_at);
		*ARENA_PUSH(life->arena, out->items, out->count, out->capacity) = t;
	}
	out->count = order_unique(out->items, out->count, sizeof *out->items, teller_cmp);
}

static struct teller *teller_of(const struct tellers *all, const struct event *e)
{
	struct teller key = { .host = e->host, .client = client_of(e) };
	assert(all->items != NULL);
	return bsearch(&key, all->items, all->count, sizeof *all->items, teller_cmp);
}

/* ---- finding what a client speaks of ---- */

/* What this client's own log told of its earlier removal is over since it joined. */
static bool is_earlier(const struct cause *c, const struct teller *t)
{
	return t->has_joined && c->basis == BASIS_CLIENT_LOG && sv_eq(c->clock_host, t->host) && c->time.us <= t->joined.us;
}

static bool removes(const struct episode *ep, const struct teller *t, const struct sighting *s)
{
	const struct event *e = s->event;
	const struct cause gone = { .meaning.trigger = TRIGGER_SESSION_TIMEOUT, .member = event_text(e, FIELD_MEMBER),
				    .client = client_of(e), .host = e->host };
	const struct cause *first = cause_find(ep, &gone);

	for (size_t i = first == NULL ? ep->cause_count : (size_t)(first - ep->causes); i < ep->cause_count; i++) {
		if (trigger_is_removal(ep->causes[i].meaning.trigger) && !is_earlier(&ep->causes[i], t) &&
		    cause_is_of(&ep->causes[i], gone.member, gone.client, gone.host))
			return true;
	}
	return false;
}

/* The first removal of this client that began between two instants; among those just made if among no others. */
static struct episode *removal_between(struct group_life *life, const struct teller *t, const struct sighting *s,
				       int64_t from_us, int64_t to_us)
{
	size_t i = episodes_until(life, (struct ref_time){ from_us });

	if (i > 0)
		i--;	/* it may have begun before, and the member gone later in its join phase */
	for (; i < life->sorted && life->episodes[i].r.span.start.us <= to_us; i++) {
		if (life->episodes[i].r.span.end.us >= from_us && removes(&life->episodes[i], t, s))
			return &life->episodes[i];
	}
	for (size_t n = life->episode_count; n > life->sorted && life->episode_count - n < MADE_LOOKBACK; n--) {
		struct episode *ep = &life->episodes[n - 1];
		if (ep->r.span.start.us >= from_us && ep->r.span.start.us <= to_us && removes(ep, t, s))
			return ep;
	}
	return NULL;
}

static bool has_broker_cause(const struct episode *ep)
{
	if (ep->has_begun)
		return true;
	for (size_t i = 0; i < ep->cause_count; i++) {
		if (ep->causes[i].basis >= BASIS_BROKER_LINE)
			return true;
	}
	return false;
}

/*
 * Whether a rebalance may be the one that removed this client. The next
 * generation after the one that it had has it no more, or has it anew. Under
 * the consumer protocol a member's epoch may lag behind the group's.
 */
static bool may_have_removed(const struct group_life *life, const struct teller *t, const struct episode *ep)
{
	if (!t->has_generation)
		return true;
	return sv_eq(life->group->protocol, SV("consumer")) ? ep->r.generation > t->generation
							     : ep->r.generation == t->generation + 1;
}

/* The first rebalance that only clients tell of, between two instants, which may have removed this one. */
static struct episode *unexplained_between(struct group_life *life, const struct teller *t, int64_t from_us, int64_t to_us)
{
	for (size_t i = episodes_until(life, (struct ref_time){ from_us - 1 }); i < life->sorted; i++) {
		struct episode *ep = &life->episodes[i];
		if (ep->r.span.start.us > to_us)
			break;
		if (!has_broker_cause(ep) && may_have_removed(life, t, ep))
			return ep;
	}
	return NULL;
}

/* The rebalance that made the client's next generation, which has it no more: a new one when nobody told of it yet. */
static struct episode *episode_without(struct group_life *life, const struct teller *t, struct ref_time at)
{
	const int64_t near_us = life->poll_us + life->session_us;

	for (size_t n = life->episode_count; t->has_generation && n > 0; n--) {
		struct episode *ep = &life->episodes[n - 1];
		if (ep->r.has_generation && ep->r.generation == t->generation + 1 &&
		    ep->r.span.start.us >= at.us - near_us && ep->r.span.start.us <= at.us + near_us)
			return ep;
	}
	struct episode *ep = episode_new(life, at);

	ep->r.has_generation = t->has_generation;
	ep->r.generation = t->has_generation ? t->generation + 1 : 0;
	return ep;
}

/* The coordinator's log would have shown it. */
static bool is_broker_watching(const struct group_life *life, struct ref_time t)
{
	return life->has_broker && life->broker.start.us <= t.us && t.us <= life->broker.end.us;
}

/* ---- a client that goes of itself ---- */

static void tell_of_going(struct group_life *life, const struct teller *t, const struct sighting *s, struct meaning m)
{
	const int64_t slack = episode_slack_us(life, s->event->host);
	/* A static member sends no LeaveGroup: the coordinator waits out its session. */
	struct episode *ep = removal_between(life, t, s, s->time.us - slack, s->time.us + life->session_us + slack);

	if (ep == NULL && is_broker_watching(life, s->time))
		return;
	if (ep == NULL)
		ep = unexplained_between(life, t, s->time.us - slack, s->time.us + life->session_us + slack);
	if (ep == NULL)
		ep = episode_without(life, t, s->time);
	(void)trigger_add(life, ep, s, m, BASIS_CLIENT_LOG);
}

/* ---- a client that learns that it has gone ---- */

/*
 * With the coordinator's log missing the eviction happened at the latest when
 * others saw what came of it, and about when the client's own session timer ran
 * out: both count from its last heartbeats that came through.
 */
static void add_eviction(struct group_life *life, const struct teller *t, struct episode *ep, const struct sighting *s)
{
	struct cause *c = trigger_add(life, ep, s, evicted_it_seems, BASIS_CLIENT_LOG);

	if (t->suspects != NULL && t->suspects->time.us < c->time.us) {
		episode_evidence(life, ep, t->suspects);
		c->time = t->suspects->time;
		c->clock_host = t->host;
	}
	if (ep->r.span.start.us >= c->time.us)
		return;
	c->time = ep->r.span.start;
	for (size_t i = 0; i < ep->r.evidence.count; i++) {
		if (ep->r.evidence.items[i].time.us == c->time.us)
			c->clock_host = ep->r.evidence.items[i].host;
	}
}

static void tell_of_loss(struct group_life *life, struct teller *t, const struct sighting *s)
{
	const int64_t slack = episode_slack_us(life, s->event->host);
	const int64_t since = t->has_joined ? t->joined.us : s->time.us - life->poll_us - life->session_us;
	struct episode *ep = removal_between(life, t, s, since - slack, s->time.us + slack);

	if (t->lost == NULL)
		t->lost = s;
	if (ep != NULL) {
		episode_evidence(life, ep, s);
		t->is_lost_settled = true;
		return;
	}
	if (t->is_lost_settled || is_broker_watching(life, s->time)) {
		t->is_lost_settled = true;
		return;
	}
	/* A rebalance that this client took no part in, and nobody else explains. */
	ep = unexplained_between(life, t, since, s->time.us + slack);
	if (ep != NULL) {
		add_eviction(life, t, ep, s);
		t->is_lost_settled = true;
	}
}

/* Whether the eviction made a rebalance of its own shows when the client is back: by the number of its generation. */
static void settle_loss(struct group_life *life, struct teller *t, struct episode *back, bool has_back, int64_t generation)
{
	if (t->lost == NULL || t->is_lost_settled)
		return;
	t->is_lost_settled = true;
	if (has_back && t->has_generation && generation == t->generation + 1 && back != NULL) {
		add_eviction(life, t, back, t->lost);
		return;
	}
	add_eviction(life, t, episode_without(life, t, t->lost->time), t->lost);
}

/* ---- a client that joins ---- */

/* Reasons with which a client begins a rebalance, not those with which it follows one. */
static bool is_wish(const struct sighting *s, struct meaning *out)
{
	size_t at;

	if (!trigger_of_event(s->event, out) || trigger_is_removal(out->trigger) || trigger_is_arrival(out->trigger))
		return false;
	return out->trigger != TRIGGER_PROTOCOL_FOLLOWUP ||
	       sv_find(event_text(s->event, FIELD_REASON), SV("need to revoke"), &at);
}

static struct episode *episode_joined(struct group_life *life, const struct sighting *s, int64_t generation)
{
	const int64_t slack = episode_slack_us(life, s->event->host);

	for (size_t i = episodes_until(life, s->time); i > 0; i--) {
		struct episode *ep = &life->episodes[i - 1];
		if (ep->r.has_generation && ep->r.generation == generation)
			return ep->r.span.end.us + slack >= s->time.us ? ep : NULL;
		if (s->time.us - ep->r.span.start.us > life->poll_us + slack)
			break;
	}
	return NULL;
}

static void tell_of_joining(struct group_life *life, struct teller *t, const struct sighting *s)
{
	const struct event *e = s->event;
	int64_t generation = event_int_or(e, FIELD_GENERATION, -1);
	struct episode *ep = episode_joined(life, s, generation);
	struct ref_time before = { t->has_joined ? t->joined.us : INT64_MIN };
	struct meaning wish;

	if (ep != NULL && (!has_broker_cause(ep) || episode_is_without_reason(ep))) {
		bool is_new = t->lost != NULL || t->has_left || witness_restart_us(life, e->host, t->client, before) < s->time.us;
		if (is_new)
			(void)trigger_add(life, ep, s, joined_somehow, BASIS_CLIENT_LOG);
		else if (t->wish != NULL && is_wish(t->wish, &wish))
			(void)trigger_add(life, ep, t->wish, wish, BASIS_CLIENT_LOG);
	}
	settle_loss(life, t, ep, true, generation);
	/* Who closes does not come back as the same process. */
	if (t->left != NULL && witness_restart_us(life, e->host, t->client, t->left->time) > s->time.us)
		tell_of_going(life, t, t->left, overrun_it_seems);
	t->has_joined = t->has_generation = true;
	t->joined = s->time;
	t->member = event_text(e, FIELD_MEMBER);
	t->generation = generation;
	t->has_left = t->is_lost_settled = false;
	t->lost = t->wish = t->left = t->suspects = NULL;
}

/* ---- what each kind of line tells ---- */

static void tell_poll_timeout(struct group_life *life, struct teller *t, const struct sighting *s)
{
	tell_of_going(life, t, s, poll_overrun);
	t->has_left = true;
}

static void tell_leaves(struct group_life *life, struct teller *t, const struct sighting *s)
{
	struct meaning m;
	size_t at;

	/* Python clients leave alike when they close and when they overrun it: kafka-log-messages.md 3.14, AK10. */
	t->left = sv_find(event_text(s->event, FIELD_REASON), SV("max_poll_interval_ms overrun"), &at) ? s : NULL;
	tell_of_going(life, t, s, trigger_of_event(s->event, &m) && trigger_is_removal(m.trigger) ? m : left_somehow);
	t->has_left = true;
}

/* "The coordinator is not aware of this member": a commit tells it as well as a heartbeat. */
static void tell_membership_lost(struct group_life *life, struct teller *t, const struct sighting *s)
{
	struct sv member = event_text(s->event, FIELD_MEMBER);

	/* An answer to what it had asked before it came back as another, on a connection that was silent. */
	if (t->member.n > 0 && member.n > 0 && !sv_eq(member, t->member))
		return;
	/* Who has left is unknown rightly. */
	if (!t->has_left && witness_is_unknown_member(s->event))
		tell_of_loss(life, t, s);
}

static void tell_rejoins(struct group_life *life, struct teller *t, const struct sighting *s)
{
	struct meaning m;

	(void)life;
	if (is_wish(s, &m))
		t->wish = s;
}

/* One that asks without an id is no member; that is how it begins, too. */
static void tell_wire_joined(struct group_life *life, struct teller *t, const struct sighting *s)
{
	if (!event_has(s->event, FIELD_ERROR))
		tell_of_joining(life, t, s);
	else if (!t->has_joined)
		t->has_left = true;
}

static void tell_suspects(struct group_life *life, struct teller *t, const struct sighting *s)
{
	(void)life;
	if (t->lost == NULL)
		t->suspects = s;
}

static const struct {
	enum event_type type;
	void (*tell)(struct group_life *life, struct teller *t, const struct sighting *s);
} tales[] = {
	{ EVENT_CLIENT_POLL_TIMEOUT, tell_poll_timeout }, { EVENT_CLIENT_LEAVES, tell_leaves },
	{ EVENT_CLIENT_MEMBERSHIP_LOST, tell_membership_lost }, { EVENT_COMMIT_FAILED, tell_membership_lost },
	{ EVENT_CLIENT_REJOINS, tell_rejoins }, { EVENT_CLIENT_JOINED, tell_of_joining },
	{ EVENT_CLIENT_SUSPECTS_SESSION, tell_suspects },
	{ EVENT_WIRE_LEFT, tell_leaves }, { EVENT_WIRE_JOINED, tell_wire_joined },
	{ EVENT_WIRE_HEARTBEAT, tell_membership_lost }, { EVENT_WIRE_COMMIT, tell_membership_lost },
};

static void tell(struct group_life *life, const struct tellers *all, const struct sighting *s)
{
	for (size_t i = 0; i < sizeof tales / sizeof *tales; i++) {
		if (tales[i].type != s->event->type)
			continue;
		struct teller *t = teller_of(all, s->event);
		assert(t != NULL); /* the tellers were made from these very events */
		tales[i].tell(life, t, s);
	}
}

/* ---- nobody says why ---- */

static bool is_moved_away(const struct event *e)
{
	size_t at;
	struct sv words[] = { event_text(e, FIELD_ERROR), event_text(e, FIELD_REASON) };

	for (size_t i = 0; i < 2; i++) {
		if (sv_find(words[i], SV("NOT_COORDINATOR"), &at) || sv_find(words[i], SV("NOT_AVAILABLE"), &at))
			return true;
	}
	return false;
}

/* The first between two instants. */
static const struct sighting *first_between(const struct sightings *all, int64_t from_us, int64_t to_us)
{
	size_t i = sightings_from(all, from_us);

	return i < all->count && all->items[i].time.us <= to_us ? &all->items[i] : NULL;
}

/* Whether the client was removed about then: that it lost its coordinator belongs to that. */
static bool is_of_removed(struct group_life *life, const struct sighting *s)
{
	const struct teller nobody = { .has_joined = false };
	const int64_t near_us = life->poll_us + life->session_us;

	return removal_between(life, &nobody, s, s->time.us - near_us, s->time.us + near_us) != NULL;
}

static const struct sighting *coordinator_lost_between(struct group_life *life, int64_t from_us, int64_t to_us)
{
	for (size_t i = sightings_from(&life->seen, from_us); i < life->seen.count && life->seen.items[i].time.us <= to_us; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (s->event->type == EVENT_CLIENT_COORDINATOR_LOST && !is_of_removed(life, s))
			return s;
	}
	return NULL;
}

/* A coordinator that moves makes no rebalance by itself, but it is the best guess where nothing else is known. */
static void guess(struct group_life *life, struct episode *ep)
{
	int64_t from = ep->r.span.start.us - life->session_us - EPISODE_SLACK_US;

	/* A group's first generation is made by those who come; what came before the one before it made that, if any. */
	if (ep->r.has_generation && ep->r.generation <= 1)
		return;
	if (ep > life->episodes && ep[-1].r.span.end.us > from)
		from = ep[-1].r.span.end.us;
	const struct sighting *s = first_between(&life->moves, from, ep->r.span.end.us);

	if (s == NULL) {
		s = coordinator_lost_between(life, from, ep->r.span.end.us);
		ep->r.by_disconnect = s != NULL && !is_moved_away(s->event);
	}
	if (s != NULL)
		(void)trigger_add(life, ep, s, coordinator_it_seems, BASIS_INFERENCE);
}

void triggers_from_clients(struct group_life *life)
{
	struct tellers all = { .count = 0 };

	tellers_find(life, &all);
	for (size_t i = 0; i < life->seen.count; i++)
		tell(life, &all, &life->seen.items[i]);
	for (size_t i = 0; i < all.count; i++)
		settle_loss(life, &all.items[i], NULL, false, 0);
	episodes_sort(life);
	for (size_t i = 0; i < life->episode_count; i++) {
		if (life->episodes[i].cause_count == 0)
			guess(life, &life->episodes[i]);
	}
}
