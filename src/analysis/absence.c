/* SPDX-License-Identifier: MIT */
/*
 * How long each member was without partitions because of a rebalance: from
 * giving them up to the next assignment, by its own log. A member that was
 * evicted learns of it late; for the group it was gone from the eviction on.
 * With cooperative rebalances a member gives up a part and works on with the
 * rest; its time is that of the part.
 */

#include "analysis/episode.h"

struct absentee {
	struct sv client, host;
	bool is_gone;
	struct ref_time gone;
};

struct absentees {
	struct absentee *items;
	size_t count;
	size_t capacity;
};

static struct absentee *absentee_of(struct group_life *life, struct absentees *all, const struct event *e)
{
	struct sv client = event_client(e);

	for (size_t i = 0; i < all->count; i++) {
		if (sv_eq(all->items[i].client, client) && sv_eq(all->items[i].host, e->host))
			return &all->items[i];
	}
	struct absentee *one = ARENA_PUSH(life->arena, all->items, all->count, all->capacity);
	*one = (struct absentee){ .client = client, .host = e->host };
	return one;
}

/* The rebalance that gave the assignment: by its generation where the line has it, else the latest by then. */
static struct episode *episode_of(struct group_life *life, const struct sighting *s)
{
	const int64_t slack = episode_slack_us(life, s->event->host);
	int64_t generation;
	bool has_generation = event_int(s->event, FIELD_GENERATION, &generation);

	for (size_t i = episodes_until(life, (struct ref_time){ s->time.us + slack }); i > 0; i--) {
		struct episode *ep = &life->episodes[i - 1];
		if (!has_generation ? ep->r.span.start.us <= s->time.us : ep->r.has_generation && ep->r.generation == generation)
			return ep;
		if (s->time.us - ep->r.span.start.us > life->poll_us + life->session_us + slack)
			break;
	}
	return NULL;
}

static void come_back(struct group_life *life, struct absentee *one, const struct sighting *s)
{
	struct episode *ep = one->is_gone ? episode_of(life, s) : NULL;

	one->is_gone = false;
	if (ep != NULL)
		*ARENA_PUSH(life->arena, ep->r.absences, ep->r.absence_count, ep->absence_capacity) =
			(struct absence){ one->client, one->host, { one->gone, s->time } };
}

/* A member that returns had been gone since it was removed. */
static void count_from_removal(const struct group_life *life, struct rebalance *r)
{
	const struct rebalance *removal = &life->episodes[r->root].r;

	if (r->trigger != TRIGGER_MEMBER_REJOIN || r->is_root)
		return;
	for (size_t i = 0; i < r->absence_count; i++) {
		struct absence *a = &r->absences[i];
		bool is_the_one = sv_eq(a->client, removal->client) && sv_eq(a->host, removal->host);
		if (is_the_one && removal->trigger_time.us < a->span.start.us)
			a->span.start = removal->trigger_time;
	}
}

void absences_find(struct group_life *life)
{
	struct absentees all = { NULL, 0, 0 };

	for (size_t i = 0; i < life->seen.count; i++) {
		const struct sighting *s = &life->seen.items[i];
		enum event_type type = s->event->type;

		if (type == EVENT_PARTITIONS_REVOKED || type == EVENT_PARTITIONS_LOST) {
			struct absentee *one = absentee_of(life, &all, s->event);
			one->gone = one->is_gone ? one->gone : s->time;
			one->is_gone = true;
		} else if (type == EVENT_CLIENT_SYNCED || type == EVENT_PARTITIONS_ASSIGNED) {
			come_back(life, absentee_of(life, &all, s->event), s);
		}
	}
	for (size_t i = 0; i < life->episode_count; i++)
		count_from_removal(life, &life->episodes[i].r);
}
