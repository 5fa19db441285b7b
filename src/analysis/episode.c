/* SPDX-License-Identifier: MIT */
/*
 * Lines with a generation become episodes (method.md 4): all lines of one group
 * and generation are one, whoever wrote them. A generation is a name for one
 * rebalance only as long as the group is not deleted and made anew, so the
 * time must fit as well.
 */

#include "analysis/episode.h"

#include <stdlib.h>
#include <string.h>

/* Lines of one generation that are further apart belong to two lives of the group, whatever its timeouts. */
#define SAME_LIFE_LEAST_US (300 * US_PER_S)
/* Kafka's generations are 32-bit. */
#define GENERATION_MAX INT32_MAX
/* A group of a thousand members writes two lines each; more than this is a flood that proves nothing further. */
#define EVIDENCE_MAX 4096

enum part {
	PART_NONE,
	PART_BEGINS,	/* the coordinator prepares; the line has the old generation */
	PART_BUMPS,	/* the same under the consumer protocol; the line has the new epoch, and never a reason */
	PART_FORMS,	/* the generation is complete */
	PART_EMPTIES,	/* complete, and without members */
	PART_ENDS,	/* the assignment is known */
	PART_JOINED,	/* as one client sees it */
	PART_SYNCED,
};

static const struct {
	enum event_type type;
	enum part part;
} parts[] = {
	{ EVENT_GROUP_PREPARING, PART_BEGINS },	   { EVENT_GROUP_STABILIZED, PART_FORMS },
	{ EVENT_GROUP_EMPTY, PART_EMPTIES },	   { EVENT_GROUP_ASSIGNED, PART_ENDS },
	{ EVENT_CLIENT_JOINED, PART_JOINED },	   { EVENT_CLIENT_ASSIGNMENT_COMPUTED, PART_JOINED },
	{ EVENT_CLIENT_SYNCED, PART_SYNCED },	   { EVENT_GROUP_STORED, PART_ENDS },
	{ EVENT_WIRE_JOINED, PART_JOINED },	   { EVENT_WIRE_SYNCED, PART_SYNCED },
	{ EVENT_GROUP_BUMPED, PART_BUMPS },
};

static enum part part_of(const struct event *e)
{
	/* The coordinator stores a generation when its assignment is known, or when nobody is left. */
	if (e->type == EVENT_GROUP_STORED && event_int_or(e, FIELD_MEMBERS, -1) == 0)
		return PART_EMPTIES;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].type == e->type)
			return parts[i].part;
	}
	return PART_NONE;
}

static bool is_beginning(enum part part)
{
	return part == PART_BEGINS || part == PART_BUMPS;
}

/* The episodes by generation, in the order of their making where it is the same. */
struct index {
	size_t *items;
	size_t count;
	size_t capacity;
};

static size_t index_from(const struct index *ix, const struct group_life *life, int64_t generation)
{
	size_t low = 0, high = ix->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (life->episodes[ix->items[middle]].r.generation < generation)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void index_add(struct index *ix, struct group_life *life, int64_t generation, size_t place)
{
	size_t at = index_from(ix, life, generation + 1);

	(void)ARENA_PUSH(life->arena, ix->items, ix->count, ix->capacity);
	memmove(&ix->items[at + 1], &ix->items[at], (ix->count - 1 - at) * sizeof *ix->items);
	ix->items[at] = place;
}

static int64_t distance_us(struct span s, struct ref_time t)
{
	if (t.us < s.start.us)
		return s.start.us - t.us;
	return t.us > s.end.us ? t.us - s.end.us : 0;
}

/* The episode of that generation nearest in time; NULL when there is none. */
static struct episode *nearest(const struct index *ix, struct group_life *life, int64_t generation, struct ref_time t)
{
	struct episode *best = NULL;

	for (size_t i = index_from(ix, life, generation); i < ix->count; i++) {
		struct episode *ep = &life->episodes[ix->items[i]];
		if (ep->r.generation != generation)
			break;
		if (best == NULL || distance_us(ep->r.span, t) <= distance_us(best->r.span, t))
			best = ep;
	}
	return best;
}

static int64_t same_life_us(const struct group_life *life)
{
	return life->poll_us > SAME_LIFE_LEAST_US ? life->poll_us : SAME_LIFE_LEAST_US;
}

static bool is_same_life(const struct group_life *life, const struct episode *ep, struct ref_time t)
{
	return distance_us(ep->r.span, t) <= same_life_us(life);
}

/*
 * The second beginning of one generation is another life of the group, unless one log was read twice; or unless the
 * generation had not been formed: a coordinator that loads a group anew knows nothing of who was joining, and begins again.
 */
static bool is_same_beginning(const struct group_life *life, const struct episode *ep, struct ref_time t)
{
	if (!ep->has_begun || !ep->has_formed)
		return is_same_life(life, ep, t);
	return llabs(ep->begun.us - t.us) <= EPISODE_SLACK_US;
}

/*
 * A client that joins a generation long after it was complete got it unchanged:
 * a follower that came back, or a static member's new process. No rebalance.
 */
static bool is_late_client(const struct group_life *life, const struct episode *ep, struct ref_time t, struct sv host)
{
	return ep->has_formed && t.us > ep->formed.us + life->session_us + episode_slack_us(life, host);
}

static bool is_newest(const struct group_life *life, const struct episode *ep)
{
	return ep == &life->episodes[life->episode_count - 1];
}

size_t sightings_from(const struct sightings *all, int64_t t_us)
{
	size_t low = 0, high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all->items[middle].time.us < t_us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t episode_slack_us(const struct group_life *life, struct sv host)
{
	bool known;
	int64_t us = clock_uncertainty_us(life->clocks, host, &known);

	return EPISODE_SLACK_US + (known ? us : 0);
}

struct episode *episode_new(struct group_life *life, struct ref_time t)
{
	struct episode *ep = ARENA_PUSH(life->arena, life->episodes, life->episode_count, life->episode_capacity);

	ep->r.group = life->group->name;
	ep->r.span = (struct span){ t, t };
	return ep;
}

void episode_evidence(struct group_life *life, struct episode *ep, const struct sighting *s)
{
	struct evidence *known = echo_find(ep, s->event);
	size_t count = ep->r.evidence.count;

	if (known != NULL) {
		evidence_echo(known, life->arena, &s->event->place);
		return;
	}
	if (count < EVIDENCE_MAX)
		evidence_add(&ep->r.evidence, life->arena, s->event, s->time, event_infos[s->event->type].what);
	if (ep->r.evidence.count > count)
		*ARENA_PUSH(life->arena, ep->told, ep->told_count, ep->told_capacity) = s->event;
}

static void stretch(struct episode *ep, struct ref_time t)
{
	if (t.us < ep->r.span.start.us && !ep->has_begun)
		ep->r.span.start = t;
	if (t.us > ep->r.span.end.us)
		ep->r.span.end = t;
}

static void form(struct episode *ep, struct ref_time t)
{
	if (!ep->has_formed || t.us < ep->formed.us)
		ep->formed = t;
	ep->has_formed = true;
}

static void take(struct group_life *life, struct episode *ep, const struct sighting *s, enum part part)
{
	const struct event *e = s->event;

	if (is_beginning(part) && !ep->has_begun) {
		ep->has_begun = true;
		ep->is_bumped = part == PART_BUMPS;
		ep->begun = s->time;
		ep->r.span.start = s->time;
		ep->preparing = ep->is_bumped ? NULL : e;
	}
	if (part == PART_FORMS || part == PART_EMPTIES || part == PART_JOINED)
		form(ep, s->time);
	if (part == PART_EMPTIES)
		ep->r.empties_group = true;
	ep->has_ended = ep->has_ended || part == PART_ENDS || part == PART_SYNCED || part == PART_EMPTIES;
	if (event_infos[e->type].side == SIDE_BROKER && sv_is_absent(ep->broker_host))
		ep->broker_host = e->host;
	stretch(ep, s->time);
	episode_evidence(life, ep, s);
}

/* The episode that a line belongs to; made when it is of none yet; NULL when it makes no rebalance. */
static struct episode *place(struct group_life *life, struct index *ix, const struct sighting *s, enum part part,
			     int64_t generation)
{
	struct episode *ep = nearest(ix, life, generation, s->time);
	bool is_client = part == PART_JOINED || part == PART_SYNCED;

	if (ep != NULL) {
		if (is_client && is_late_client(life, ep, s->time, s->event->host) &&
		    (is_newest(life, ep) || is_same_life(life, ep, s->time)))
			return NULL;
		/* Stored anew long after, when a static member's process was followed by another: no rebalance. */
		if (s->event->type == EVENT_GROUP_STORED && is_newest(life, ep))
			return is_same_life(life, ep, s->time) ? ep : NULL;
		if (is_beginning(part) ? is_same_beginning(life, ep, s->time) : is_same_life(life, ep, s->time))
			return ep;
	}
	ep = episode_new(life, s->time);
	ep->r.has_generation = true;
	ep->r.generation = generation;
	index_add(ix, life, generation, life->episode_count - 1);
	return ep;
}

/* The generation that a line is about, as the new one. An "is now empty" without a number ends what was begun last. */
static bool new_generation(const struct group_life *life, const struct event *e, enum part part, int64_t *out)
{
	if (!event_int(e, FIELD_GENERATION, out)) {
		const struct episode *last = life->episode_count > 0 ? &life->episodes[life->episode_count - 1] : NULL;
		if (part != PART_EMPTIES || last == NULL || last->has_formed || !last->r.has_generation)
			return false;
		*out = last->r.generation;
		return true;
	}
	if (*out < 0 || *out >= GENERATION_MAX)
		return false;
	if (part == PART_BEGINS)
		++*out;
	return true;
}

void episodes_build(struct group_life *life)
{
	struct index ix = { NULL, 0, 0 };

	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		enum part part = part_of(s->event);
		int64_t generation;
		if (part == PART_NONE || !new_generation(life, s->event, part, &generation))
			continue;
		struct episode *ep = place(life, &ix, s, part, generation);
		if (ep != NULL)
			take(life, ep, s, part);
	}
	episodes_sort(life);
}

static int episode_cmp(const void *x, const void *y)
{
	const struct rebalance *a = &((const struct episode *)x)->r, *b = &((const struct episode *)y)->r;

	if (a->span.start.us != b->span.start.us)
		return a->span.start.us < b->span.start.us ? -1 : 1;
	if (a->generation != b->generation)
		return a->generation < b->generation ? -1 : 1;
	return (a->span.end.us > b->span.end.us) - (a->span.end.us < b->span.end.us);
}

void episodes_sort(struct group_life *life)
{
	if (life->episode_count > 0)
		qsort(life->episodes, life->episode_count, sizeof *life->episodes, episode_cmp);
	life->sorted = life->episode_count;
}

size_t episodes_until(const struct group_life *life, struct ref_time t)
{
	size_t low = 0, high = life->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (life->episodes[middle].r.span.start.us <= t.us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
