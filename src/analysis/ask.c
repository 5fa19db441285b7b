/* SPDX-License-Identifier: MIT */
/*
 * Who began a rebalance of which the coordinator logs the beginning alone: by
 * captures, the client that asked to join right before it, without a member id
 * (it was no member, and each such request made a rebalance). The client's own
 * log says it only if the join came to its end: one that gives up between asks
 * once more, and the first rebalance has none of its lines.
 */

#include "analysis/episode.h"

static const struct meaning asked = { TRIGGER_MEMBER_JOIN, STRENGTH_PROVES, 2 };

bool episode_is_without_reason(const struct episode *ep)
{
	struct meaning m;

	return ep->preparing != NULL && !trigger_of_event(ep->preparing, &m);
}

static bool is_begun_by_known(const struct episode *ep)
{
	for (size_t i = 0; i < ep->cause_count; i++)
		if (!ep->causes[i].is_within)
			return true;
	return false;
}

/* The first that was sent about when the rebalance began and is answered with its generation; NULL when there is none. */
static const struct sighting *ask_of(const struct group_life *life, const struct episode *ep)
{
	int64_t slack = EPISODE_SLACK_US;

	for (size_t i = sightings_from(&life->asks, ep->begun.us - slack); i < life->asks.count; i++) {
		const struct sighting *s = &life->asks.items[i];

		if (s->time.us > ep->begun.us + slack)
			break;
		if (event_int_or(s->event, FIELD_GENERATION, -1) == ep->r.generation)
			return s;
	}
	return NULL;
}

/* Where the members of that client id live, if all in one place; absent when not. */
static struct sv host_of(const struct group *g, struct sv client)
{
	struct sv host = SV_ABSENT;

	for (size_t i = 0; i < g->member_count; i++) {
		const struct member *m = &g->members[i];

		if (client.n == 0 || m->host.n == 0 || !sv_eq(m->client_id, client))
			continue;
		if (host.n > 0 && !sv_eq(host, m->host))
			return SV_ABSENT;
		host = m->host;
	}
	return host;
}

void triggers_from_asks(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];

		if (!ep->r.has_generation || !episode_is_without_reason(ep) || is_begun_by_known(ep))
			continue;
		const struct sighting *s = ask_of(life, ep);
		if (s == NULL)
			continue;
		struct cause *c = trigger_add(life, ep, s, asked, BASIS_WIRE);
		cause_learn(ep, c, &(struct cause){ .host = host_of(life->group, c->client) });
	}
}

/* ---- who asks twice ---- */

/* Whether a member of this client had been removed not long before the episode. */
static bool was_removed_before(const struct group_life *life, size_t place, const struct cause *of)
{
	for (size_t i = place; i-- > 0;) {
		if (life->episodes[place].r.span.start.us - life->episodes[i].r.span.start.us > life->poll_us + life->session_us)
			return false;
		if (cause_find_of_client(&life->episodes[i], TRIGGER_SESSION_TIMEOUT, of) != NULL)
			return true;
	}
	return false;
}

/*
 * A client that came back and gave up before the assignment asks at once again, as somebody new: it is still the same
 * return, and follows from the rebalance that it began first.
 */
static void link_second_ask(struct group_life *life, size_t place)
{
	struct episode *ep = &life->episodes[place];
	const struct episode *before = place > 0 ? &life->episodes[place - 1] : NULL;

	if (before == NULL || before->preparing == NULL || !before->has_formed || before->has_ended || !ep->has_begun ||
	    ep->begun.us - before->formed.us > EPISODE_SLACK_US)
		return;
	for (size_t i = 0; i < ep->cause_count; i++) {
		struct cause *came = &ep->causes[i];

		if (!trigger_is_arrival(came->meaning.trigger) || came->is_within ||
		    cause_find_of_client(before, TRIGGER_MEMBER_JOIN, came) == NULL || !was_removed_before(life, place - 1, came))
			continue;
		came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
		came->has_root = true;
		came->root = place - 1;
	}
}

/* The id that it was given first is nobody's: its expiry is no eviction of anyone who could come back. */
static void settle_ghosts(struct episode *ep)
{
	for (size_t i = 0; i < ep->cause_count; i++)
		if (cause_is_ghost(ep, &ep->causes[i]))
			ep->causes[i].has_returned = true;
}

void asks_settle(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++) {
		link_second_ask(life, i);
		settle_ghosts(&life->episodes[i]);
	}
}
