/* SPDX-License-Identifier: MIT */
/*
 * What follows from what (method.md 4): a member that was removed comes back
 * and makes a second rebalance; its root is the first. And whether the one
 * that was evicted had been alive.
 */

#include "analysis/episode.h"

#include <assert.h>
#include <stdlib.h>

/* A place in the causes of a group. */
struct spot {
	size_t episode;
	size_t cause;
};

struct spots {
	struct spot *items;
	size_t count;
	size_t capacity;
};

static struct cause *cause_at(const struct group_life *life, struct spot s)
{
	return &life->episodes[s.episode].causes[s.cause];
}

/* Removals after which the same process comes back. One that closes in order and returns is a restart, a root of its own. */
static bool owes_return(const struct cause *c)
{
	return trigger_is_removal(c->meaning.trigger) && c->meaning.trigger != TRIGGER_MEMBER_LEAVE;
}

/* ---- one process, over time ---- */

/* Of what captures saw only refusals of unknown members are among the lines (wire_line.h). */
static bool tells_loss(enum event_type t)
{
	return t == EVENT_CLIENT_MEMBERSHIP_LOST || t == EVENT_COMMIT_FAILED || t == EVENT_WIRE_HEARTBEAT ||
	       t == EVENT_WIRE_COMMIT;
}

/* Few of all lines, which are asked for of each member that went or came. */
static void find_losses(struct group_life *life)
{
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (tells_loss(s->event->type) && witness_is_unknown_member(s->event))
			*ARENA_PUSH(life->arena, life->losses.items, life->losses.count, life->losses.capacity) = *s;
	}
}

/* Whether any of the client's own lines say, between two instants, that its membership was lost. */
static const struct sighting *loss_between(const struct group_life *life, const struct cause *c, int64_t from_us,
					   int64_t to_us)
{
	for (size_t i = sightings_from(&life->losses, from_us); i < life->losses.count; i++) {
		const struct sighting *s = &life->losses.items[i];
		if (s->time.us > to_us)
			break;
		if (cause_is_of(c, event_text(s->event, FIELD_MEMBER), event_text(s->event, FIELD_CLIENT), s->event->host))
			return s;
	}
	return NULL;
}

/* Whether the log of the host would show a start: it has shown one. At WARN it does not. */
static bool shows_starts(const struct group_life *life, struct sv host, struct sv client)
{
	return witness_restart_us(life, host, client, (struct ref_time){ INT64_MIN }) != INT64_MAX;
}

/* Whether a log of the host reaches from one instant past another. */
static bool is_logged(const struct group_life *life, struct sv host, struct ref_time from, struct ref_time to)
{
	for (size_t i = 0; i < life->log_count; i++) {
		const struct coverage *log = &life->logs[i];
		if (host.n > 0 && sv_eq(log->host, host) && log->span.start.us <= from.us && log->span.end.us >= to.us)
			return true;
	}
	return false;
}

/* From when on what happened to a process may be why it was removed. */
static int64_t since_us(const struct group_life *life, const struct cause *gone)
{
	return gone->time.us - (gone->meaning.trigger == TRIGGER_SESSION_TIMEOUT ? life->session_us : 0);
}

/* The line that the process was killed before it was removed; NULL when there is none. */
static const struct sighting *killing_of(const struct group_life *life, const struct cause *gone, struct sv host)
{
	const int64_t slack = episode_slack_us(life, host);

	return witness_killing(life, host, gone->client, since_us(life, gone) - slack, gone->time.us + slack);
}

/*
 * When the process that was removed had ended, or was followed by another. A
 * process that was killed may be replaced before its session expires; one whose
 * session expired had started earlier than that timeout ago.
 */
static int64_t successor_us(const struct group_life *life, const struct cause *gone, struct sv host)
{
	const struct sighting *killing = killing_of(life, gone, host);
	int64_t restart_us = witness_restart_us(life, host, gone->client, (struct ref_time){ since_us(life, gone) });

	return killing != NULL && killing->time.us < restart_us ? killing->time.us : restart_us;
}

/* ---- rejoins ---- */

/*
 * Whether who came is who had gone. Member ids differ by nature: the client and
 * its host decide. A loss that the client itself logged proves that its process
 * lived on; else a new configuration in the log is a new process, and without a
 * log only a short absence is taken for a return.
 */
static bool is_return(const struct group_life *life, const struct cause *gone, const struct cause *came, bool *is_certain)
{
	if (!cause_is_of(gone, SV_ABSENT, came->client, came->host))
		return false;
	const int64_t slack = episode_slack_us(life, came->clock_host);
	struct sv host = came->host.n > 0 ? came->host : gone->host;
	*is_certain = true;
	if (loss_between(life, gone, gone->time.us - slack, came->time.us + slack) != NULL)
		return true;
	if (successor_us(life, gone, host) < came->time.us)
		return false;
	if (is_logged(life, host, gone->time, came->time) && shows_starts(life, host, gone->client))
		return true;
	*is_certain = false;
	return came->time.us - gone->time.us <= life->poll_us + group_request_timeout_ms(life->group) * US_PER_MS;
}

/* The latest removal that who came here makes good. */
static bool find_removal(const struct group_life *life, const struct spots *open, const struct cause *came, size_t *out,
			 bool *is_certain)
{
	for (size_t i = open->count; i > 0; i--) {
		const struct cause *gone = cause_at(life, open->items[i - 1]);
		if (!gone->has_returned && is_return(life, gone, came, is_certain)) {
			*out = i - 1;
			return true;
		}
	}
	return false;
}

static void close_removal(struct spots *open, size_t at)
{
	for (size_t i = at; i + 1 < open->count; i++)
		open->items[i] = open->items[i + 1];
	open->count--;
}

/*
 * One of that name had left shortly before, and nobody says why: who closes
 * comes back as a new process, who overran its poll interval as the same.
 */
static bool is_perhaps_back(const struct group_life *life, size_t place, const struct cause *came)
{
	for (size_t i = place + 1; i > 0; i--) {
		const struct episode *ep = &life->episodes[i - 1];
		if (came->time.us - ep->r.span.start.us > life->poll_us + life->session_us)
			break;
		for (size_t k = 0; k < ep->cause_count; k++) {
			const struct cause *gone = &ep->causes[k];
			if (gone->meaning.trigger == TRIGGER_MEMBER_LEAVE && gone->meaning.strength == STRENGTH_SUGGESTS &&
			    gone->time.us < came->time.us && cause_is_of(gone, SV_ABSENT, came->client, came->host))
				return true;
		}
	}
	return false;
}

static void link_return(struct group_life *life, struct spots *open, size_t place, struct cause *came)
{
	bool is_certain;
	size_t at;

	if (!trigger_is_arrival(came->meaning.trigger))
		return;
	if (!find_removal(life, open, came, &at, &is_certain)) {
		if (is_perhaps_back(life, place, came))
			came->meaning.strength = STRENGTH_SUGGESTS;
		return;
	}
	assert(open->items != NULL && at < open->count);
	cause_at(life, open->items[at])->has_returned = true;
	cause_at(life, open->items[at])->is_surely_back = is_certain;
	if (!is_certain)
		came->meaning.strength = STRENGTH_SUGGESTS;
	came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
	came->has_root = true;
	came->root = open->items[at].episode;
	close_removal(open, at);
}

/* In order of time: those who go, and those who come for whom one has gone. */
static void link_returns(struct group_life *life)
{
	struct spots open = { NULL, 0, 0 };

	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		for (size_t k = 0; k < ep->cause_count; k++) {
			if (owes_return(&ep->causes[k]))
				*ARENA_PUSH(life->arena, open.items, open.count, open.capacity) = (struct spot){ i, k };
		}
		for (size_t k = 0; k < ep->cause_count; k++)
			link_return(life, &open, i, &ep->causes[k]);
	}
}

/*
 * librdkafka gives up its member id when it thinks that its session is over, and
 * joins as a new member; its old id expires later (kafka-log-messages.md 4.1,
 * P12). So the return stands before the removal.
 */
static bool gave_up_itself(const struct group_life *life, const struct cause *ghost, const struct cause *came)
{
	for (size_t i = sightings_from(&life->seen, came->time.us - life->session_us); i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (s->time.us > came->time.us)
			break;
		if (s->event->type == EVENT_CLIENT_SUSPECTS_SESSION &&
		    cause_is_of(ghost, SV_ABSENT, event_text(s->event, FIELD_CLIENT), s->event->host))
			return true;
	}
	return false;
}

static void link_ghost(struct group_life *life, size_t place, struct cause *ghost)
{
	for (size_t i = place; i > 0; i--) {
		struct episode *ep = &life->episodes[i - 1];
		if (ghost->time.us - ep->r.span.start.us > life->session_us + EPISODE_SLACK_US)
			break;
		for (size_t k = 0; k < ep->cause_count; k++) {
			struct cause *came = &ep->causes[k];
			if (came->meaning.trigger != TRIGGER_MEMBER_JOIN || came->has_root ||
			    !cause_is_of(ghost, SV_ABSENT, came->client, came->host) || !gave_up_itself(life, ghost, came))
				continue;
			came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
			came->has_root = ghost->has_returned = ghost->is_surely_back = true;
			came->root = place;
			return;
		}
	}
}

static void link_ghosts(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		for (size_t k = 0; k < ep->cause_count; k++) {
			if (ep->causes[k].meaning.trigger == TRIGGER_SESSION_TIMEOUT && !ep->causes[k].has_returned)
				link_ghost(life, i, &ep->causes[k]);
		}
	}
}

/* ---- roots ---- */

static const struct cause *deciding_cause(const struct episode *ep)
{
	for (size_t k = 0; k < ep->cause_count; k++) {
		if (ep->causes[k].meaning.trigger == ep->r.trigger && ep->causes[k].time.us == ep->r.trigger_time.us &&
		    sv_eq(ep->causes[k].member, ep->r.member))
			return &ep->causes[k];
	}
	return NULL;
}

/* The place of the one it follows from directly; its own when it is a root. */
static size_t origin(const struct group_life *life, size_t place)
{
	const struct episode *ep = &life->episodes[place];

	if (ep->r.trigger == TRIGGER_MEMBER_REJOIN) {
		const struct cause *c = deciding_cause(ep);
		return c != NULL && c->has_root ? c->root : place;
	}
	/* The protocol's second round follows from its first, which is the rebalance before. */
	return ep->r.trigger == TRIGGER_PROTOCOL_FOLLOWUP && place > 0 ? place - 1 : place;
}

/* Ghosts point forward, all else back: a chain has no circle, but its length is bounded all the same. */
static size_t root_of(const struct group_life *life, size_t place)
{
	for (size_t steps = 0; steps <= life->episode_count; steps++) {
		size_t next = origin(life, place);
		if (next == place)
			break;
		place = next;
	}
	return place;
}

void roots_link(struct group_life *life)
{
	find_losses(life);
	link_returns(life);
	link_ghosts(life);
	triggers_decide(life);
	/* Places serve as ids until rebalance.c numbers the rebalances of all groups. */
	for (size_t i = 0; i < life->episode_count; i++) {
		size_t root = root_of(life, i);
		life->episodes[i].r.root = (unsigned)root;
		life->episodes[i].r.is_root = root == i;
	}
}

/* ---- fates ---- */

static bool is_eviction(enum trigger t)
{
	return t == TRIGGER_SESSION_TIMEOUT || t == TRIGGER_REBALANCE_TIMEOUT || t == TRIGGER_MEMBER_FENCED;
}

/* Any line of the client between two instants. */
static bool shows_life(const struct group_life *life, const struct cause *c, int64_t from_us, int64_t to_us)
{
	for (size_t i = sightings_from(&life->seen, from_us); i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (s->time.us >= to_us)
			break;
		if (sighting_is_clients(s) &&
		    cause_is_of(c, SV_ABSENT, event_text(s->event, FIELD_CLIENT), s->event->host))
			return true;
	}
	return false;
}

static enum fate fate_of(struct group_life *life, struct episode *ep, const struct cause *c)
{
	const int64_t slack = episode_slack_us(life, c->host);
	const struct ref_time later = { c->time.us + life->session_us };
	const int64_t successor = successor_us(life, c, c->host);
	const struct sighting *loss = loss_between(life, c, c->time.us - slack, c->time.us + life->poll_us + slack);

	if (loss != NULL) {
		episode_evidence(life, ep, loss);
		return FATE_WRONGLY_EVICTED;
	}
	if (c->has_returned && c->is_surely_back && is_logged(life, c->host, c->time, c->time))
		return FATE_WRONGLY_EVICTED;
	const struct sighting *killing = killing_of(life, c, c->host);
	if (killing != NULL) {
		episode_evidence(life, ep, killing);
		return FATE_GONE;
	}
	if (c->host.n == 0 || shows_life(life, c, c->time.us + slack, successor))
		return FATE_UNKNOWN;
	/* A log that shows no starts may show little else of a process that lives. */
	bool would_show_life = is_logged(life, c->host, c->time, later) && shows_starts(life, c->host, c->client);
	return successor != INT64_MAX || would_show_life ? FATE_GONE : FATE_UNKNOWN;
}

/* The latest restart of all session timers before the eviction: the rebalance before it, or a coordinator that loaded. */
static void find_timer_reset(const struct group_life *life, size_t place)
{
	struct episode *ep = &life->episodes[place];
	struct ref_time latest = { INT64_MIN };

	if (place > 0 && life->episodes[place - 1].has_formed)
		latest = life->episodes[place - 1].formed;
	for (size_t i = 0; i < life->moves.count && life->moves.items[i].time.us <= ep->r.trigger_time.us; i++) {
		/* Other partitions of __consumer_offsets load as well; only a line that names the group is about its members. */
		if (event_has(life->moves.items[i].event, FIELD_GROUP) && life->moves.items[i].time.us > latest.us)
			latest = life->moves.items[i].time;
	}
	if (latest.us != INT64_MIN && latest.us < ep->r.trigger_time.us) {
		ep->r.has_timer_reset = true;
		ep->r.timer_reset = latest;
	}
}

void fates_decide(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		const struct cause *c = deciding_cause(ep);
		if (c == NULL || !is_eviction(c->meaning.trigger))
			continue;
		ep->r.fate = fate_of(life, ep, c);
		find_timer_reset(life, i);
	}
}
