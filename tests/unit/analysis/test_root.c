/* SPDX-License-Identifier: MIT */
/*
 * Who came back, and what follows from what: each who came against each who had
 * gone, line by line, as method.md 4 tells it. root.c finds the same by indexes,
 * in any story.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/episode.h"

/* ---- any story ---- */

#define EPISODES 12
#define CAUSES 8
#define LINES 60

static uint32_t next(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static struct sv any_of(struct arena *a, uint32_t *seed, char kind, uint32_t n)
{
	return next(seed, 4) == 0 ? SV_ABSENT : arena_printf(a, "%c%u", kind, next(seed, n));
}

static struct ref_time any_time(uint32_t *seed)
{
	/* Most near to one another, some too late for everything; by whole seconds, so that some are at once. */
	return (struct ref_time){ (int64_t)next(seed, next(seed, 2) ? 200 : 1500) * US_PER_S };
}

static void any_cause(struct arena *a, uint32_t *seed, struct episode *ep)
{
	static const enum trigger triggers[] = { TRIGGER_SESSION_TIMEOUT, TRIGGER_SESSION_TIMEOUT, TRIGGER_MEMBER_JOIN,
						 TRIGGER_MEMBER_JOIN,	  TRIGGER_MEMBER_LEAVE,	   TRIGGER_POLL_TIMEOUT,
						 TRIGGER_PROTOCOL_FOLLOWUP, TRIGGER_METADATA_CHANGE };
	struct cause *c = ARENA_PUSH(a, ep->causes, ep->cause_count, ep->cause_capacity);

	c->meaning.trigger = triggers[next(seed, sizeof triggers / sizeof triggers[0])];
	c->meaning.strength = next(seed, 2) ? STRENGTH_PROVES : STRENGTH_SUGGESTS;
	c->basis = BASIS_BROKER_LINE;
	c->time.us = ep->r.span.start.us + (int64_t)next(seed, 3) * US_PER_S;
	c->member = any_of(a, seed, 'm', 5);
	c->client = any_of(a, seed, 'c', 3);
	c->host = any_of(a, seed, 'h', 2);
	c->clock_host = SV("broker-1");
}

static int by_time(const void *x, const void *y)
{
	const struct sighting *p = x, *q = y;

	if (p->time.us != q->time.us)
		return p->time.us < q->time.us ? -1 : 1;
	return (p->event->id > q->event->id) - (p->event->id < q->event->id);
}

static int by_host(const void *x, const void *y)
{
	const struct sighting *p = x, *q = y;
	int order = sv_cmp(p->event->host, q->event->host);

	return order != 0 ? order : by_time(x, y);
}

static void any_line(struct arena *a, uint32_t *seed, int64_t id, struct group_life *life)
{
	static const enum event_type types[] = {
		EVENT_CLIENT_MEMBERSHIP_LOST, EVENT_CLIENT_SUSPECTS_SESSION, EVENT_CLIENT_JOINED,
		EVENT_CLIENT_VERSION,	      EVENT_PROCESS_KILLED,	     EVENT_COORDINATOR_MOVED,
	};
	struct event *e = arena_alloc(a, sizeof *e);
	struct sighting s = { e, any_time(seed) };

	event_init(e, types[next(seed, sizeof types / sizeof types[0])]);
	e->id = id;
	e->time.us = s.time.us;
	e->host = any_of(a, seed, 'h', 2);
	if (e->type != EVENT_PROCESS_KILLED)
		event_set_text(e, FIELD_CLIENT, any_of(a, seed, 'c', 3));
	event_set_text(e, FIELD_MEMBER, any_of(a, seed, 'm', 5));
	if (next(seed, 4) > 0)
		event_set_text(e, FIELD_ERROR, SV("UNKNOWN_MEMBER_ID"));
	if (next(seed, 3) > 0)
		event_set_text(e, FIELD_GROUP, SV("g"));
	if (event_has(e, FIELD_GROUP) && e->type != EVENT_PROCESS_KILLED)
		*ARENA_PUSH(a, life->seen.items, life->seen.count, life->seen.capacity) = s;
	if (e->type == EVENT_COORDINATOR_MOVED)
		*ARENA_PUSH(a, life->moves.items, life->moves.count, life->moves.capacity) = s;
	else
		*ARENA_PUSH(a, life->processes.items, life->processes.count, life->processes.capacity) = s;
	if (witness_is_start(e))
		*ARENA_PUSH(a, life->starts.items, life->starts.count, life->starts.capacity) = s;
	if (e->type == EVENT_PROCESS_KILLED)
		*ARENA_PUSH(a, life->killings.items, life->killings.count, life->killings.capacity) = s;
}

static void sort(struct sightings *all, int (*order)(const void *, const void *))
{
	if (all->count > 1)
		qsort(all->items, all->count, sizeof *all->items, order);
}

static void any_logs(struct arena *a, uint32_t *seed, struct group_life *life)
{
	life->logs = arena_array(a, 2, sizeof *life->logs);
	for (uint32_t host = 0; host < 2; host++) {
		if (next(seed, 2) == 0)
			continue;
		struct coverage *log = &life->logs[life->log_count++];
		log->host = arena_printf(a, "h%u", host);
		log->span.start.us = (int64_t)next(seed, 300) * US_PER_S;
		log->span.end.us = (int64_t)(300 + next(seed, 1200)) * US_PER_S;
	}
}

static struct group_life any_life(struct arena *a, uint32_t seed, const struct group *group, const struct clocks *clocks)
{
	struct group_life life = { .group = group, .clocks = clocks, .arena = a, .session_us = 45 * US_PER_S,
				   .heartbeat_us = 3 * US_PER_S, .poll_us = 300 * US_PER_S };
	const uint32_t lines = next(&seed, 3) * LINES / 2;
	int64_t at_us = 0;

	for (uint32_t i = 0, n = 1 + next(&seed, EPISODES); i < n; i++) {
		at_us += (int64_t)next(&seed, 2 + next(&seed, 2) * 118) * US_PER_S;
		struct episode *ep = episode_new(&life, (struct ref_time){ at_us });
		ep->has_formed = next(&seed, 2);
		ep->formed.us = at_us + US_PER_S;
		for (uint32_t k = 0, causes = next(&seed, CAUSES); k < causes; k++)
			any_cause(a, &seed, ep);
	}
	episodes_sort(&life);
	for (uint32_t i = 0; i < lines; i++)
		any_line(a, &seed, i + 1, &life);
	sort(&life.seen, by_time);
	sort(&life.moves, by_time);
	sort(&life.processes, by_host);
	sort(&life.starts, by_host);
	sort(&life.killings, by_host);
	any_logs(a, &seed, &life);
	return life;
}

/* ---- one by one ---- */

static bool is_told(const struct group_life *life, enum event_type type, const struct cause *c, bool by_member, int64_t from_us,
		    int64_t to_us)
{
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct event *e = life->seen.items[i].event;
		if (e->type == type && life->seen.items[i].time.us >= from_us && life->seen.items[i].time.us <= to_us &&
		    (!by_member || witness_is_unknown_member(e)) &&
		    cause_is_of(c, by_member ? event_text(e, FIELD_MEMBER) : SV_ABSENT, event_text(e, FIELD_CLIENT), e->host))
			return true;
	}
	return false;
}

static bool is_lost(const struct group_life *life, const struct cause *c, int64_t from_us, int64_t to_us)
{
	return is_told(life, EVENT_CLIENT_MEMBERSHIP_LOST, c, true, from_us, to_us);
}

static bool shows_starts(const struct group_life *life, struct sv host, struct sv client)
{
	return witness_restart_us(life, host, client, (struct ref_time){ INT64_MIN }) != INT64_MAX;
}

static bool is_logged(const struct group_life *life, struct sv host, struct ref_time from, struct ref_time to)
{
	for (size_t i = 0; i < life->log_count; i++)
		if (host.n > 0 && sv_eq(life->logs[i].host, host) && life->logs[i].span.start.us <= from.us &&
		    life->logs[i].span.end.us >= to.us)
			return true;
	return false;
}

static int64_t since_us(const struct group_life *life, const struct cause *gone)
{
	return gone->time.us - (gone->meaning.trigger == TRIGGER_SESSION_TIMEOUT ? life->session_us : 0);
}

static const struct sighting *killing_of(const struct group_life *life, const struct cause *gone, struct sv host)
{
	return witness_killing(life, host, gone->client, since_us(life, gone) - EPISODE_SLACK_US, gone->time.us + EPISODE_SLACK_US);
}

static int64_t successor_us(const struct group_life *life, const struct cause *gone, struct sv host)
{
	const struct sighting *killing = killing_of(life, gone, host);
	int64_t restart_us = witness_restart_us(life, host, gone->client, (struct ref_time){ since_us(life, gone) });

	return killing != NULL && killing->time.us < restart_us ? killing->time.us : restart_us;
}

static bool is_return(const struct group_life *life, const struct cause *gone, const struct cause *came, bool *is_certain)
{
	struct sv host = came->host.n > 0 ? came->host : gone->host;

	if (!cause_is_of(gone, SV_ABSENT, came->client, came->host))
		return false;
	*is_certain = true;
	if (is_lost(life, gone, gone->time.us - EPISODE_SLACK_US, came->time.us + EPISODE_SLACK_US))
		return true;
	if (successor_us(life, gone, host) < came->time.us)
		return false;
	if (is_logged(life, host, gone->time, came->time) && shows_starts(life, host, gone->client))
		return true;
	*is_certain = false;
	return came->time.us - gone->time.us <= life->poll_us + group_request_timeout_ms(life->group) * US_PER_MS;
}

static bool owes_return(const struct cause *c)
{
	return trigger_is_removal(c->meaning.trigger) && c->meaning.trigger != TRIGGER_MEMBER_LEAVE;
}

/* The latest removal, up to the episode at that place, that who came there makes good. */
static bool make_good(struct group_life *life, size_t place, struct cause *came)
{
	bool is_certain;

	for (size_t i = place + 1; i-- > 0;) {
		for (size_t k = life->episodes[i].cause_count; k-- > 0;) {
			struct cause *gone = &life->episodes[i].causes[k];
			if (!owes_return(gone) || gone->has_returned || !is_return(life, gone, came, &is_certain))
				continue;
			gone->has_returned = came->has_root = true;
			gone->is_surely_back = is_certain;
			if (!is_certain)
				came->meaning.strength = STRENGTH_SUGGESTS;
			came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
			came->root = i;
			return true;
		}
	}
	return false;
}

static bool is_perhaps_back(const struct group_life *life, size_t place, const struct cause *came)
{
	for (size_t i = place + 1; i-- > 0;) {
		const struct episode *ep = &life->episodes[i];
		if (came->time.us - ep->r.span.start.us > life->poll_us + life->session_us)
			break;
		for (size_t k = 0; k < ep->cause_count; k++)
			if (ep->causes[k].meaning.trigger == TRIGGER_MEMBER_LEAVE &&
			    ep->causes[k].meaning.strength == STRENGTH_SUGGESTS && ep->causes[k].time.us < came->time.us &&
			    cause_is_of(&ep->causes[k], SV_ABSENT, came->client, came->host))
				return true;
	}
	return false;
}

/* librdkafka joins as a new member before its old id expires. */
static void find_ghost(struct group_life *life, size_t place, struct cause *ghost)
{
	for (size_t i = place; i-- > 0;) {
		struct episode *ep = &life->episodes[i];
		if (ghost->time.us - ep->r.span.start.us > life->session_us + EPISODE_SLACK_US)
			break;
		for (size_t k = 0; k < ep->cause_count; k++) {
			struct cause *came = &ep->causes[k];
			if (came->meaning.trigger != TRIGGER_MEMBER_JOIN || came->has_root ||
			    !cause_is_of(ghost, SV_ABSENT, came->client, came->host) ||
			    !is_told(life, EVENT_CLIENT_SUSPECTS_SESSION, ghost, false, came->time.us - life->session_us,
				     came->time.us))
				continue;
			came->meaning.trigger = TRIGGER_MEMBER_REJOIN;
			came->has_root = ghost->has_returned = ghost->is_surely_back = true;
			came->root = place;
			return;
		}
	}
}

static const struct cause *deciding(const struct episode *ep)
{
	for (size_t k = 0; k < ep->cause_count; k++)
		if (ep->causes[k].meaning.trigger == ep->r.trigger && ep->causes[k].time.us == ep->r.trigger_time.us &&
		    sv_eq(ep->causes[k].member, ep->r.member))
			return &ep->causes[k];
	return NULL;
}

static size_t origin(const struct group_life *life, size_t place)
{
	const struct episode *ep = &life->episodes[place];
	const struct cause *c = deciding(ep);

	if (ep->r.trigger == TRIGGER_MEMBER_REJOIN)
		return c != NULL && c->has_root ? c->root : place;
	return ep->r.trigger == TRIGGER_PROTOCOL_FOLLOWUP && place > 0 ? place - 1 : place;
}

static void link_one_by_one(struct group_life *life)
{
	for (size_t i = 0; i < life->episode_count; i++) {
		for (size_t k = 0; k < life->episodes[i].cause_count; k++) {
			struct cause *came = &life->episodes[i].causes[k];
			if (trigger_is_arrival(came->meaning.trigger) && !make_good(life, i, came) &&
			    is_perhaps_back(life, i, came))
				came->meaning.strength = STRENGTH_SUGGESTS;
		}
	}
	for (size_t i = 0; i < life->episode_count; i++)
		for (size_t k = 0; k < life->episodes[i].cause_count; k++)
			if (life->episodes[i].causes[k].meaning.trigger == TRIGGER_SESSION_TIMEOUT &&
			    !life->episodes[i].causes[k].has_returned)
				find_ghost(life, i, &life->episodes[i].causes[k]);
	triggers_decide(life);
	for (size_t i = 0; i < life->episode_count; i++) {
		size_t root = i;
		for (size_t steps = 0; steps <= life->episode_count; steps++)
			root = origin(life, root);
		life->episodes[i].r.root = (unsigned)root;
		life->episodes[i].r.is_root = root == i;
	}
}

static bool shows_life(const struct group_life *life, const struct cause *c, int64_t from_us, int64_t to_us)
{
	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		if (s->time.us >= from_us && s->time.us < to_us && sighting_is_clients(s) &&
		    cause_is_of(c, SV_ABSENT, event_text(s->event, FIELD_CLIENT), s->event->host))
			return true;
	}
	return false;
}

static enum fate fate_of(const struct group_life *life, const struct cause *c)
{
	const struct ref_time later = { c->time.us + life->session_us };
	const int64_t successor = successor_us(life, c, c->host);

	if (is_lost(life, c, c->time.us - EPISODE_SLACK_US, c->time.us + life->poll_us + EPISODE_SLACK_US) ||
	    (c->has_returned && c->is_surely_back && is_logged(life, c->host, c->time, c->time)))
		return FATE_WRONGLY_EVICTED;
	if (killing_of(life, c, c->host) != NULL)
		return FATE_GONE;
	if (c->host.n == 0 || shows_life(life, c, c->time.us + EPISODE_SLACK_US, successor))
		return FATE_UNKNOWN;
	return successor != INT64_MAX || (is_logged(life, c->host, c->time, later) && shows_starts(life, c->host, c->client)) ?
		       FATE_GONE : FATE_UNKNOWN;
}

/* The latest line that the group was loaded, or the generation before, but nothing after the eviction. */
static int64_t reset_us(const struct group_life *life, size_t place)
{
	const struct episode *ep = &life->episodes[place];
	int64_t latest = place > 0 && ep[-1].has_formed ? ep[-1].formed.us : INT64_MIN;

	for (size_t i = 0; i < life->moves.count; i++) {
		const struct sighting *s = &life->moves.items[i];
		if (event_has(s->event, FIELD_GROUP) && s->time.us <= ep->r.trigger_time.us && s->time.us > latest)
			latest = s->time.us;
	}
	return latest < ep->r.trigger_time.us ? latest : INT64_MIN;
}

/* ---- both ---- */

static void assert_same_causes(uint32_t story, const struct episode *x, const struct episode *y)
{
	for (size_t k = 0; k < x->cause_count; k++) {
		const struct cause *c = &x->causes[k], *d = &y->causes[k];
		if (c->meaning.trigger != d->meaning.trigger || c->meaning.strength != d->meaning.strength ||
		    c->has_returned != d->has_returned || c->is_surely_back != d->is_surely_back || c->has_root != d->has_root ||
		    c->root != d->root)
			fail_msg("story %u: cause %zu", story, k);
	}
}

/* A circle of roots, which root.c only bounds: what comes of it is of no meaning. */
static bool is_in_circle(const struct group_life *life, size_t place)
{
	size_t root = life->episodes[place].r.root;

	return origin(life, root) != root;
}

static void any_story_has_the_same_roots_and_fates(void **state)
{
	const struct group group = { .name = SV("g") };
	const struct clocks clocks = { 0 };
	size_t returned = 0, ghosts = 0, fates[4] = { 0 }, resets = 0;

	(void)state;
	for (uint32_t story = 0; story < 2000; story++) {
		struct arena *a = arena_new();
		struct group_life life = any_life(a, story, &group, &clocks), twin = any_life(a, story, &group, &clocks);

		roots_link(&life);
		link_one_by_one(&twin);
		fates_decide(&life);
		assert_int_equal(life.episode_count, twin.episode_count);
		for (size_t i = 0; i < life.episode_count; i++) {
			const struct episode *x = &life.episodes[i], *y = &twin.episodes[i];
			const struct cause *c = deciding(y);
			assert_same_causes(story, x, y);
			if (x->r.trigger != y->r.trigger || (x->r.root != y->r.root && !is_in_circle(&twin, i)))
				fail_msg("story %u: episode %zu has root %u", story, i, x->r.root);
			for (size_t k = 0; k < x->cause_count; k++) {
				returned += x->causes[k].has_returned;
				ghosts += x->causes[k].has_root && x->causes[k].root > i;
			}
			if (c == NULL || (c->meaning.trigger != TRIGGER_SESSION_TIMEOUT))
				continue;
			if (x->r.fate != fate_of(&twin, c))
				fail_msg("story %u: episode %zu has fate %s", story, i, fate_name(x->r.fate));
			assert_int_equal(x->r.has_timer_reset, reset_us(&twin, i) != INT64_MIN);
			if (x->r.has_timer_reset)
				assert_int_equal(x->r.timer_reset.us, reset_us(&twin, i));
			fates[x->r.fate]++;
			resets += x->r.has_timer_reset;
		}
		arena_free(a);
	}
	/* That it is no test of nothing. */
	assert_true(returned > 1000 && ghosts > 10 && resets > 100);
	assert_true(fates[FATE_WRONGLY_EVICTED] > 100 && fates[FATE_GONE] > 100 && fates[FATE_UNKNOWN] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_story_has_the_same_roots_and_fates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
