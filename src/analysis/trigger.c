/* SPDX-License-Identifier: MIT */
/*
 * What made a rebalance, by the coordinator's words and lines
 * (kafka-log-messages.md 1.2, 3.5, 3.6; kafka-group-semantics.md 6), and the
 * choice of one trigger among all that coincided.
 */

#include "analysis/episode.h"

const struct trigger_info trigger_infos[TRIGGER_COUNT] = {
#define TRIGGER(id, name, code, what) { name, code, what },
#include "analysis/trigger.def"
#undef TRIGGER
};

/*
 * Words inside reasons, the broker's and the clients' (KIP-800), first match
 * wins. So what a broker says of a member that goes or is new stands before
 * what that client says, and that before the broker's words that leave the cause
 * open. A missing client reason is no sign of a voluntary leave: librdkafka,
 * KafkaJS and clients before 3.2 give none.
 */
static const struct {
	const char *words;
	struct meaning meaning;
} phrases[] = {
	{ "heartbeat expiration", { TRIGGER_SESSION_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "session expired", { TRIGGER_SESSION_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "pending sync request expiration", { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "failed to transition from epoch", { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "failed to revoke partitions", { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "within the rebalance timeout", { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "failed to sync within timeout", { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ "Freshly-loaded group", { TRIGGER_COORDINATOR_CHANGE, STRENGTH_PROVES, 2 } },
	{ "when storing group assignment", { TRIGGER_COORDINATOR_CHANGE, STRENGTH_SUGGESTS, 2 } },
	{ "encountered UNKNOWN_MEMBER_ID", { TRIGGER_MEMBER_REJOIN, STRENGTH_PROVES, 3 } },
	{ "member id is not known by the group coordinator", { TRIGGER_MEMBER_REJOIN, STRENGTH_PROVES, 3 } },
	{ "Adding new member", { TRIGGER_MEMBER_JOIN, STRENGTH_PROVES, 2 } },

	{ "poll timeout has expired", { TRIGGER_POLL_TIMEOUT, STRENGTH_PROVES, 3 } },
	{ "removed by an admin", { TRIGGER_ADMIN_REMOVAL, STRENGTH_PROVES, 3 } },
	{ "consumer is being closed", { TRIGGER_MEMBER_LEAVE, STRENGTH_PROVES, 3 } },
	{ "unsubscribed from all topics", { TRIGGER_MEMBER_LEAVE, STRENGTH_PROVES, 3 } },
	{ "leaving group per normal operation", { TRIGGER_MEMBER_LEAVE, STRENGTH_PROVES, 3 } },
	{ "metadata has changed", { TRIGGER_METADATA_CHANGE, STRENGTH_PROVES, 3 } },
	{ "topics have new partitions", { TRIGGER_METADATA_CHANGE, STRENGTH_PROVES, 3 } },
	{ "another member is consuming have changed", { TRIGGER_METADATA_CHANGE, STRENGTH_PROVES, 3 } },
	{ "partitions were added to a subscribed topic", { TRIGGER_METADATA_CHANGE, STRENGTH_PROVES, 3 } },
	{ "subscription has changed", { TRIGGER_SUBSCRIPTION_CHANGE, STRENGTH_PROVES, 3 } },
	{ "interests have changed", { TRIGGER_SUBSCRIPTION_CHANGE, STRENGTH_PROVES, 3 } },
	{ "does not match the current subscription", { TRIGGER_SUBSCRIPTION_CHANGE, STRENGTH_PROVES, 3 } },
	{ "selectedProtocol will change", { TRIGGER_SUBSCRIPTION_CHANGE, STRENGTH_PROVES, 3 } },
	{ "need to revoke partitions", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_PROVES, 3 } },
	{ "after revoking what we lost", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_PROVES, 3 } },
	{ "followup rebalance scheduled", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_PROVES, 3 } },
	{ "group is already rebalancing", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_PROVES, 3 } },
	{ "rebalance failed due to", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_SUGGESTS, 3 } },

	{ "LeaveGroup", { TRIGGER_MEMBER_LEAVE, STRENGTH_SUGGESTS, 1 } },
	{ "during PreparingRebalance", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_SUGGESTS, 1 } },
	{ "during CompletingRebalance", { TRIGGER_PROTOCOL_FOLLOWUP, STRENGTH_SUGGESTS, 1 } },
	{ "Updating metadata for static member", { TRIGGER_MEMBER_JOIN, STRENGTH_SUGGESTS, 1 } },
	{ "Updating metadata for member", { TRIGGER_METADATA_CHANGE, STRENGTH_SUGGESTS, 1 } },
	{ "joining group during Stable", { TRIGGER_METADATA_CHANGE, STRENGTH_SUGGESTS, 1 } },
};

/* What the type of a line means where its words say nothing more. */
static const struct {
	enum event_type type;
	struct meaning meaning;
} lines[] = {
	{ EVENT_SESSION_EXPIRED, { TRIGGER_SESSION_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ EVENT_MEMBER_JOIN_TIMEOUT, { TRIGGER_REBALANCE_TIMEOUT, STRENGTH_PROVES, 2 } },
	{ EVENT_MEMBER_FENCED, { TRIGGER_MEMBER_FENCED, STRENGTH_PROVES, 2 } },
	{ EVENT_MEMBER_LEFT, { TRIGGER_MEMBER_LEAVE, STRENGTH_SUGGESTS, 1 } },
	{ EVENT_MEMBER_JOINS, { TRIGGER_MEMBER_JOIN, STRENGTH_PROVES, 2 } },
};

static const char *const basis_names[] = { "inference", "client log", "wire", "broker line", "broker reason" };

bool trigger_is_removal(enum trigger t)
{
	return t == TRIGGER_SESSION_TIMEOUT || t == TRIGGER_POLL_TIMEOUT || t == TRIGGER_REBALANCE_TIMEOUT ||
	       t == TRIGGER_MEMBER_FENCED || t == TRIGGER_ADMIN_REMOVAL || t == TRIGGER_MEMBER_LEAVE;
}

bool trigger_is_arrival(enum trigger t)
{
	return t == TRIGGER_MEMBER_JOIN || t == TRIGGER_MEMBER_REJOIN;
}

/* What the words of a reason mean; false when they mean nothing that is known. */
static bool trigger_of_words(struct sv words, struct meaning *out)
{
	size_t at;

	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
		if (sv_find(words, sv_of(phrases[i].words), &at)) {
			*out = phrases[i].meaning;
			return true;
		}
	}
	return false;
}

/* ---- who ---- */

static bool are_known_and_differ(struct sv a, struct sv b)
{
	return a.n > 0 && b.n > 0 && !sv_eq(a, b);
}

/*
 * By member id where both are known. Else by client id, and then on hosts that
 * do not differ: client ids are often the same on all hosts.
 */
bool cause_is_of(const struct cause *c, struct sv member, struct sv client, struct sv host)
{
	if (c->member.n > 0 && member.n > 0)
		return sv_eq(c->member, member);
	if (are_known_and_differ(c->host, host) || are_known_and_differ(c->client, client))
		return false;
	return (client.n > 0 && sv_eq(c->client, client)) || (host.n > 0 && sv_eq(c->host, host));
}

static void identify(const struct group_life *life, const struct sighting *s, struct cause *c)
{
	const struct event *e = s->event;
	const struct member *m = NULL;

	/* Empty where it was masked. */
	if (event_text(e, FIELD_MEMBER).n > 0)
		c->member = event_text(e, FIELD_MEMBER);
	c->client = event_text(e, FIELD_CLIENT);
	c->clock_host = e->host;
	if (event_infos[e->type].side == SIDE_CLIENT)
		c->host = e->host;
	if (c->member.n > 0)
		m = group_member(life->group, c->member);
	if (m != NULL && c->client.n == 0)
		c->client = m->client_id;
	if (m != NULL && c->host.n == 0)
		c->host = m->host;
	if (c->client.n == 0)
		c->client = member_id_owner(c->member);
}

/* ---- causes of one episode ---- */

unsigned trigger_doing(enum trigger t)
{
	if (trigger_is_removal(t))
		return TRIGGER_COUNT;
	return trigger_is_arrival(t) ? TRIGGER_COUNT + 1 : t;
}

static bool is_same_doing(enum trigger a, enum trigger b)
{
	return trigger_doing(a) == trigger_doing(b);
}

/* The broker's clock is kept for what both sides saw at once: the reference, as a rule. */
static void strengthen(struct group_life *life, struct episode *ep, struct cause *known, const struct cause *c)
{
	if (c->meaning.precision > known->meaning.precision) {
		known->meaning = c->meaning;
		known->basis = c->basis;
		if (c->time.us < known->time.us - episode_slack_us(life, c->clock_host)) {
			known->time = c->time;
			known->clock_host = c->clock_host;
		}
	} else if (c->meaning.trigger == known->meaning.trigger) {
		known->basis = c->basis > known->basis ? c->basis : known->basis;
		if (c->meaning.strength > known->meaning.strength)
			known->meaning.strength = c->meaning.strength;
	}
	cause_learn(ep, known, c);
}

struct cause *trigger_add(struct group_life *life, struct episode *ep, const struct sighting *s, struct meaning m,
			  enum basis basis)
{
	struct cause c = { .meaning = m, .basis = basis, .time = s->time };

	if (basis == BASIS_CLIENT_LOG && event_infos[s->event->type].side == SIDE_PATH)
		c.basis = BASIS_WIRE;
	identify(life, s, &c);
	c.is_within = ep->has_begun && s->time.us > ep->begun.us + EPISODE_SLACK_US;
	episode_evidence(life, ep, s);
	struct cause *known = cause_find(ep, &c);
	if (known == NULL)
		return cause_add(life->arena, ep, &c);
	strengthen(life, ep, known, &c);
	return known;
}

/* ---- the coordinator's lines ---- */

bool trigger_of_event(const struct event *e, struct meaning *out)
{
	struct meaning by_broker, by_client;
	bool has_broker = trigger_of_words(event_text(e, FIELD_REASON), &by_broker);
	bool has_client = trigger_of_words(event_text(e, FIELD_CLIENT_REASON), &by_client);

	/* A broker that added a member knows better than that member's reason, which is about the time before. */
	if (has_broker && has_client)
		*out = by_broker.precision == 2 && !trigger_is_arrival(by_client.trigger) ? by_broker : by_client;
	else if (has_broker || has_client)
		*out = has_broker ? by_broker : by_client;
	return has_broker || has_client;
}

static bool meaning_of_line(const struct event *e, struct meaning *out)
{
	struct meaning of_words;

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		if (lines[i].type != e->type)
			continue;
		*out = lines[i].meaning;
		/* Words can say why a member went, and not make a going of a coming. */
		if (trigger_of_event(e, &of_words) && is_same_doing(of_words.trigger, out->trigger))
			*out = of_words;
		if (e->strength < out->strength)
			out->strength = e->strength;
		return true;
	}
	return false;
}

/*
 * Goings that make no rebalance: of a pending member, who has been given an id
 * and never joined (kafka-log-messages.md 4.1, P11); of a static member of the
 * consumer protocol, whose place is kept.
 */
static bool makes_no_difference(const struct event *e)
{
	size_t at;

	return sv_find(e->text, SV("Pending member"), &at) || sv_find(event_text(e, FIELD_REASON), SV("temporarily left"), &at);
}

static bool is_named_by(const struct episode *ep, struct sv member)
{
	size_t at;

	if (ep->preparing == NULL || member.n == 0)
		return false;
	return sv_eq(event_text(ep->preparing, FIELD_MEMBER), member) ||
	       sv_find(event_text(ep->preparing, FIELD_REASON), member, &at);
}

/* How long before the first line of an episode its cause may stand. */
static int64_t lead_us(const struct group_life *life, const struct episode *ep)
{
	if (ep->has_begun && !ep->is_bumped)
		return EPISODE_SLACK_US;
	/* KIP-848: a first epoch takes its time, and before 4.1 nothing is logged until a member's next heartbeat fetches its target. */
	return 2 * life->heartbeat_us + EPISODE_SLACK_US;
}

static bool is_open_at(const struct episode *ep, struct ref_time t)
{
	struct ref_time end = ep->has_formed ? ep->formed : ep->r.span.end;

	return ep->r.span.start.us <= t.us && t.us <= end.us;
}

/*
 * The episode that a line of the coordinator made or fell into: the next one
 * when it begins at once, the one whose join phase is open, or one that names
 * the member in its reason. NULL when it made none.
 */
static struct episode *episode_of_line(struct group_life *life, const struct sighting *s)
{
	size_t next = episodes_until(life, s->time);
	struct sv member = event_text(s->event, FIELD_MEMBER);
	struct episode *last = next > 0 ? &life->episodes[next - 1] : NULL;
	struct episode *then = next < life->sorted ? &life->episodes[next] : NULL;

	if (then != NULL && then->r.span.start.us - s->time.us > lead_us(life, then))
		then = NULL;
	if (last != NULL && is_named_by(last, member) && s->time.us - last->r.span.start.us <= EPISODE_SLACK_US)
		return last;
	if (then != NULL && is_named_by(then, member))
		return then;
	if (last != NULL && is_open_at(last, s->time))
		return last;
	return then;
}

/* Without a line that a rebalance began: a going makes one all the same, a coming only where the log never has that line. */
static bool makes_episode(const struct event *e, bool has_preparing)
{
	if (e->type == EVENT_MEMBER_JOINS)
		return !has_preparing;
	if (e->type == EVENT_MEMBER_LEFT)
		return !event_has(e, FIELD_INSTANCE) || !has_preparing;
	return e->type == EVENT_SESSION_EXPIRED;
}

static struct episode *episode_made_by(struct group_life *life, const struct sighting *s, bool has_preparing)
{
	if (!makes_episode(s->event, has_preparing))
		return NULL;
	struct episode *last = life->episode_count > life->sorted ? &life->episodes[life->episode_count - 1] : NULL;
	if (last != NULL && s->time.us - last->r.span.start.us <= EPISODE_SLACK_US)
		return last;
	struct episode *ep = episode_new(life, s->time);
	ep->broker_host = s->event->host;
	ep->has_begun = true;
	ep->begun = s->time;
	return ep;
}

/*
 * A member that joins a stable group again, without a reason of its own (older
 * clients, and others than Java's, give none), may have seen new metadata. When
 * it does so right after the assignment it was given, it follows from that.
 */
static void settle_rejoin(const struct group_life *life, size_t place, struct meaning *m)
{
	const struct episode *ep = &life->episodes[place];
	struct meaning by_client;
	size_t at;

	if (place == 0 || !sv_find(event_text(ep->preparing, FIELD_REASON), SV("joining group during Stable"), &at) ||
	    trigger_of_words(event_text(ep->preparing, FIELD_CLIENT_REASON), &by_client))
		return;
	if (ep->begun.us - life->episodes[place - 1].r.span.end.us <= EPISODE_SLACK_US)
		m->trigger = TRIGGER_PROTOCOL_FOLLOWUP;
}

void triggers_from_broker(struct group_life *life)
{
	bool has_preparing = false;
	struct meaning m;

	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		has_preparing |= ep->has_begun;
		if (ep->preparing != NULL && trigger_of_event(ep->preparing, &m)) {
			settle_rejoin(life, i, &m);
			(void)trigger_add(life, ep, &(struct sighting){ ep->preparing, ep->begun }, m, BASIS_BROKER_REASON);
		}
	}
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (!meaning_of_line(s->event, &m) || (trigger_is_removal(m.trigger) && makes_no_difference(s->event)))
			continue;
		struct episode *ep = episode_of_line(life, s);
		if (ep == NULL)
			ep = episode_made_by(life, s, has_preparing);
		if (ep != NULL)
			(void)trigger_add(life, ep, s, m, BASIS_BROKER_LINE);
	}
	episodes_sort(life);
}

/* ---- the choice ---- */

/* The coordinator says that a new member began it: a process that had not been in the group. */
static bool is_begun_by_newcomer(const struct episode *ep)
{
	for (size_t i = 0; i < ep->cause_count; i++) {
		const struct cause *c = &ep->causes[i];
		if (c->meaning.trigger == TRIGGER_MEMBER_JOIN && c->basis == BASIS_BROKER_REASON && !c->is_within)
			return true;
	}
	return false;
}

bool cause_is_ghost(const struct episode *ep, const struct cause *c)
{
	if (!c->is_within || c->meaning.trigger != TRIGGER_SESSION_TIMEOUT)
		return false;
	const struct cause *came = cause_find_of_client(ep, TRIGGER_MEMBER_JOIN, c);

	return came != NULL && !came->is_within;
}

/* What befell members while others were waited for is a consequence of what had begun the join phase, or came by the way. */
static bool is_by_the_way(const struct episode *ep, const struct cause *c, bool by_newcomer)
{
	return c->is_within && (c->meaning.trigger == TRIGGER_REBALANCE_TIMEOUT ||
				(c->meaning.trigger == TRIGGER_SESSION_TIMEOUT && (by_newcomer || cause_is_ghost(ep, c))));
}

/*
 * Goings before comings: who comes is told to wait until the going is settled,
 * and a member that comes back while another is evicted did not make that
 * rebalance an arrival.
 */
static int order_of_doing(const struct episode *ep, const struct cause *c, bool by_newcomer)
{
	if (trigger_is_removal(c->meaning.trigger))
		return is_by_the_way(ep, c, by_newcomer) ? 2 : 0;
	return c->meaning.trigger == TRIGGER_UNKNOWN ? 3 : 1;
}

static bool is_better(const struct episode *ep, const struct cause *a, const struct cause *b, bool by_newcomer)
{
	int order_a = order_of_doing(ep, a, by_newcomer), order_b = order_of_doing(ep, b, by_newcomer);

	if (order_a != order_b)
		return order_a < order_b;
	if ((a->basis == BASIS_INFERENCE) != (b->basis == BASIS_INFERENCE))
		return b->basis == BASIS_INFERENCE;
	if (a->time.us != b->time.us)
		return a->time.us < b->time.us;
	return a->meaning.trigger != b->meaning.trigger ? a->meaning.trigger < b->meaning.trigger :
							  sv_cmp(a->member, b->member) < 0;
}

static void decide(struct episode *ep)
{
	const bool by_newcomer = is_begun_by_newcomer(ep);
	const struct cause *best = NULL;

	ep->r.triggers = 0;
	for (size_t i = 0; i < ep->cause_count; i++) {
		ep->r.triggers |= 1u << ep->causes[i].meaning.trigger;
		if (best == NULL || is_better(ep, &ep->causes[i], best, by_newcomer))
			best = &ep->causes[i];
	}
	if (best == NULL) {
		ep->r.trigger = TRIGGER_UNKNOWN;
		ep->r.triggers = 1u << TRIGGER_UNKNOWN;
		ep->r.trigger_strength = STRENGTH_SUGGESTS;
		ep->r.trigger_basis = basis_names[BASIS_INFERENCE];
		ep->r.trigger_time = ep->r.span.start;
		ep->r.trigger_clock = ep->broker_host;
		return;
	}
	ep->r.trigger = best->meaning.trigger;
	ep->r.trigger_strength = best->meaning.strength;
	ep->r.trigger_basis = basis_names[best->basis];
	ep->r.trigger_time = best->time;
	ep->r.trigger_clock = best->clock_host;
	ep->r.member = best->member;
	ep->r.client = best->client;
	ep->r.host = best->host;
	if (best->time.us < ep->r.span.start.us && ep->r.span.start.us - best->time.us <= EPISODE_SLACK_US)
		ep->r.span.start = best->time;
}

void triggers_decide(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++)
		decide(&life->episodes[i]);
}
