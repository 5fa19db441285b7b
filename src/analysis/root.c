/* SPDX-License-Identifier: MIT */
/*
 * What follows from what (method.md 4): a member that was removed comes back
 * and makes a second rebalance; its root is the first. And whether the one
 * that was evicted had been alive.
 */

#include "analysis/episode.h"

#include "analysis/who.h"

/* A place in the causes of a group. */
struct spot {
	size_t episode;
	size_t cause;
};

/* Causes of one sort, in the order of the episodes, and by whom they are. */
struct spots {
	struct spot *items;
	size_t count;
	size_t capacity;
	struct who_index who;
};

/* Lines of one sort, in order of time, and by whom they are about. */
struct tellings {
	struct sightings lines;
	struct who_index who;
};

/* What is asked for of each member that went or came. */
struct root_lines {
	struct tellings losses;		/* a client's word that it is no member any more */
	struct tellings suspects;	/* that it thinks its session is over */
	struct tellings lives;		/* all that clients say; filled when first asked for */
	bool has_lives;
	struct sightings resets;	/* coordinators that loaded the group, and so restarted its timers */
};

/* Removals after which the same process comes back. One that closes in order and returns is a restart, a root of its own. */
static bool owes_return(const struct cause *c)
{
	return trigger_is_removal(c->meaning.trigger) && c->meaning.trigger != TRIGGER_MEMBER_LEAVE;
}

/* ---- by whom ---- */

/* Member ids differ by nature before and after: the client and its host decide. */
static struct who process_of(const struct cause *c)
{
	return (struct who){ .client = c->client, .host = c->host };
}

static struct cause *cause_at(const struct group_life *life, struct spot s)
{
	return &life->episodes[s.episode].causes[s.cause];
}

static void spots_add(struct group_life *life, struct spots *all, size_t episode, size_t cause)
{
	*ARENA_PUSH(life->arena, all->items, all->count, all->capacity) = (struct spot){ episode, cause };
	who_add(&all->who, process_of(&life->episodes[episode].causes[cause]), all->count - 1);
}

static void tellings_add(struct group_life *life, struct tellings *all, const struct sighting *s, struct sv member)
{
	struct who who = { member, event_text(s->event, FIELD_CLIENT), s->event->host };

	*ARENA_PUSH(life->arena, all->lines.items, all->lines.count, all->lines.capacity) = *s;
	who_add(&all->who, who, all->lines.count - 1);
}

/* The first between two instants; NULL when there is none. */
static const struct sighting *telling_between(const struct tellings *all, struct who who, int64_t from_us, int64_t to_us)
{
	const struct who_found found = who_find(&all->who, who);
	size_t at;

	if (!who_next(&found, sightings_from(&all->lines, from_us), &at) || all->lines.items[at].time.us > to_us)
		return NULL;
	return &all->lines.items[at];
}

/* ---- one process, over time ---- */

/* Of what captures saw only refusals of unknown members are among the lines (wire_line.h). */
static bool tells_loss(enum event_type t)
{
	return t == EVENT_CLIENT_MEMBERSHIP_LOST || t == EVENT_COMMIT_FAILED || t == EVENT_WIRE_HEARTBEAT ||
	       t == EVENT_WIRE_COMMIT;
}

static void find_lines(struct group_life *life)
{
	struct root_lines *r = life->root_lines = arena_alloc(life->arena, sizeof *r);

	r->losses.who.arena = r->suspects.who.arena = r->lives.who.arena = life->arena;
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (tells_loss(s->event->type) && witness_is_unknown_member(s->event))
			tellings_add(life, &r->losses, s, event_text(s->event, FIELD_MEMBER));
		else if (s->event->type == EVENT_CLIENT_SUSPECTS_SESSION)
			tellings_add(life, &r->suspects, s, SV_ABSENT);
	}
	/* Other partitions of __consumer_offsets load as well; only a line that names the group is about its members. */
	for (size_t i = 0; i < life->moves.count; i++) {
		if (event_has(life->moves.items[i].event, FIELD_GROUP))
			*ARENA_PUSH(life->arena, r->resets.items, r->resets.count, r->resets.capacity) = life->moves.items[i];
	}
}

/* Whether any of the client's own lines say, between two instants, that its membership was lost. */
static const struct sighting *loss_between(const struct group_life *life, const struct cause *c, int64_t from_us,
					   int64_t to_us)
{
	return telling_between(&life->root_lines->losses, (struct who){ c->member, c->client, c->host }, from_us, to_us);
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
 * Whether who came is who had gone, of whom the client and its host are known to
 * agree. A loss that the client itself logged proves that its process lived on;
 * else a new configuration in the log is a new process, and without a log only
 * a short absence is taken for a return.
 */
static bool is_return(const struct group_life *life, const struct cause *gone, const struct cause *came, bool *is_certain)
{
	const int64_t slack = episode_slack_us(life, came->clock_host);
	const bool is_short = came->time.us - gone->time.us <= life->poll_us + group_request_timeout_ms(life->group) * US_PER_MS;
	struct sv host = came->host.n > 0 ? came->host : gone->host;

	if (!is_short && life->root_lines->losses.lines.count == 0 && life->log_count == 0)
		return false;
	*is_certain = true;
	if (loss_between(life, gone, gone->time.us - slack, came->time.us + slack) != NULL)
		return true;
	if (successor_us(life, gone, host) < came->time.us)
		return false;
	if (is_logged(life, host, gone->time, came->time) && shows_starts(life, host, gone->client))
		return true;
	*is_certain = false;
	return is_short;
}

/* The latest removal that who came here makes good. */
static struct cause *find_removal(const struct group_life *life, const struct spots *gone, const struct cause *came,
				  size_t *episode, bool *is_certain)
{
	const struct who_found found = who_find(&gone->who, process_of(came));

	for (size_t below = gone->count, at; below > 0 && who_before(&found, below, &at); below = at) {
		struct cause *c = cause_at(life, gone->items[at]);
		if (c->has_returned) {
			who_drop(&found, at);
		} else if (is_return(life, c, came, is_certain)) {
			*episode = gone->items[at].episode;
			return c;
		}
	}
	return NULL;
}

/* The first of the episodes before a place that did not begin so long before an instant. */
static size_t episodes_within(const struct group_life *life, size_t place, struct ref_time t, int64_t us)
{
	while (place > 0 && t.us - life->episodes[place - 1].r.span.start.us <= us)
		place--;
	return place;
}

/*
 * One of that name had left shortly before, and nobody says why: who closes
 * comes back as a new process, who overran its poll interval as the same.
 */
static bool is_perhaps_back(const struct group_life *life, const struct spots *left, size_t place, const struct cause *came)
{
	const struct who_found found = who_find(&left->who, process_of(came));
	const size_t first = episodes_within(life, place + 1, came->time, life->poll_us + life->session_us);

	for (size_t below = left->count, at; below > 0 && who_before(&found, below, &at); below = at) {
		if (left->items[at].episode < first)
			return false;
		if (cause_at(life, left->items[at])->time.us < came->time.us)
			return true;
	}
	return false;
}

static void link_return(struct group_life *life, const struct spots *gone, const struct spots *left, size_t place,
			struct cause *came)
{
	struct cause *removal;
	bool is_certain;
	size_t episode;

	if (!trigger_is_arrival(came->meaning.trigger))
		return;
	removal = find_removal(life, gone, came, &episode, &is_certain);
	if (removal == NULL) {
		if (is_perhaps_back(life, left, place, came))
			came->meaning.strength = STRENGTH_SUGGESTS;
		return;
	}
	removal->has_returned = true;
	removal->is_surely_back = is_certain;
	if (!is_certain)
		came->meaning.strength = STRENGTH_SUGGESTS;
	came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
	came->has_root = true;
	came->root = episode;
}

/* In order of time: those who go, and those who come for whom one has gone. */
static void link_returns(struct group_life *life)
{
	struct spots gone = { .who.arena = life->arena }, left = { .who.arena = life->arena };

	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		for (size_t k = 0; k < ep->cause_count; k++) {
			const struct meaning *m = &ep->causes[k].meaning;
			if (owes_return(&ep->causes[k]))
				spots_add(life, &gone, i, k);
			else if (m->trigger == TRIGGER_MEMBER_LEAVE && m->strength == STRENGTH_SUGGESTS)
				spots_add(life, &left, i, k);
		}
		for (size_t k = 0; k < ep->cause_count; k++)
			link_return(life, &gone, &left, i, &ep->causes[k]);
	}
}

/*
 * librdkafka gives up its member id when it thinks that its session is over, and
 * joins as a new member; its old id expires later (kafka-log-messages.md 4.1,
 * P12). So the return stands before the removal.
 */
static bool gave_up_itself(const struct group_life *life, const struct cause *ghost, const struct cause *came)
{
	return telling_between(&life->root_lines->suspects, process_of(ghost), came->time.us - life->session_us,
			       came->time.us) != NULL;
}

/* Of the latest episode that has one, the first who came as the ghost's client. joined: in the order of episodes. */
static struct cause *find_joined(const struct group_life *life, const struct spots *joined, size_t place, const struct cause *ghost)
{
	const struct who_found found = who_find(&joined->who, process_of(ghost));
	const size_t first = episodes_within(life, place, ghost->time, life->session_us + EPISODE_SLACK_US);
	struct cause *best = NULL;
	size_t of_best = 0;

	for (size_t below = joined->count, at; below > 0 && who_before(&found, below, &at); below = at) {
		const size_t episode = joined->items[at].episode;
		struct cause *came = cause_at(life, joined->items[at]);
		if (episode < first || (best != NULL && episode != of_best))
			break;
		if (episode < place && !came->has_root && gave_up_itself(life, ghost, came)) {
			best = came;
			of_best = episode;
		}
	}
	return best;
}

static void link_ghost(const struct group_life *life, const struct spots *joined, size_t place, struct cause *ghost)
{
	struct cause *came = find_joined(life, joined, place, ghost);

	if (came == NULL)
		return;
	came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
	came->has_root = ghost->has_returned = ghost->is_surely_back = true;
	came->root = place;
}

static void link_ghosts(struct group_life *life)
{
	struct spots joined = { .who.arena = life->arena };

	/* Without a client that thinks so there is no ghost. */
	if (life->root_lines->suspects.lines.count == 0)
		return;
	for (size_t i = 0; i < life->episode_count; i++) {
		const struct episode *ep = &life->episodes[i];
		for (size_t k = 0; k < ep->cause_count; k++) {
			if (ep->causes[k].meaning.trigger == TRIGGER_MEMBER_JOIN && !ep->causes[k].has_root)
				spots_add(life, &joined, i, k);
		}
	}
	for (size_t i = 0; i < life->episode_count; i++) {
		struct episode *ep = &life->episodes[i];
		for (size_t k = 0; k < ep->cause_count; k++) {
			if (ep->causes[k].meaning.trigger == TRIGGER_SESSION_TIMEOUT && !ep->causes[k].has_returned)
				link_ghost(life, &joined, i, &ep->causes[k]);
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
static size_t root_of(const size_t *origins, size_t count, size_t place)
{
	for (size_t steps = 0; steps <= count; steps++) {
		size_t next = origins[place];
		if (next == place)
			break;
		place = next;
	}
	return place;
}

void roots_link(struct group_life *life)
{
	size_t *origins = arena_array(life->arena, life->episode_count, sizeof *origins);

	find_lines(life);
	link_returns(life);
	link_ghosts(life);
	triggers_decide(life);
	for (size_t i = 0; i < life->episode_count; i++)
		origins[i] = origin(life, i);
	/* Places serve as ids until rebalance.c numbers the rebalances of all groups. */
	for (size_t i = 0; i < life->episode_count; i++) {
		size_t root = root_of(origins, life->episode_count, i);
		life->episodes[i].r.root = (unsigned)root;
		life->episodes[i].r.is_root = root == i;
	}
}

/* ---- fates ---- */

static bool is_eviction(enum trigger t)
{
	return t == TRIGGER_SESSION_TIMEOUT || t == TRIGGER_REBALANCE_TIMEOUT || t == TRIGGER_MEMBER_FENCED;
}

/* Any line of the client from one instant to before another. Few are asked for, of whom nothing else is known. */
static bool shows_life(struct group_life *life, const struct cause *c, int64_t from_us, int64_t to_us)
{
	struct root_lines *r = life->root_lines;

	for (size_t i = 0; i < life->seen.count && !r->has_lives; i++) {
		if (sighting_is_clients(&life->seen.items[i]))
			tellings_add(life, &r->lives, &life->seen.items[i], SV_ABSENT);
	}
	r->has_lives = true;
	return to_us > from_us && telling_between(&r->lives, process_of(c), from_us, to_us - 1) != NULL;
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
	const struct sightings *resets = &life->root_lines->resets;
	const size_t loaded = sightings_from(resets, ep->r.trigger_time.us + 1);
	struct ref_time latest = { INT64_MIN };

	if (place > 0 && life->episodes[place - 1].has_formed)
		latest = life->episodes[place - 1].formed;
	if (loaded > 0 && resets->items[loaded - 1].time.us > latest.us)
		latest = resets->items[loaded - 1].time;
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
