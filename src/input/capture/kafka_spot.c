/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_spot.h. */

#include "input/capture/kafka_spot.h"

#include <string.h>

/* Of one connection: a ring that a hostile capture has filled is searched in vain for each partition that it names. */
#define SPOTS_MOST 4096

struct kafka_spot *kafka_spots_find(struct kafka_spots *s, struct sv topic, int64_t partition)
{
	struct kafka_spot *spot = s->at;

	for (unsigned i = 0; i < s->count; i++, spot = spot->next) {
		if (spot->partition == partition && spot->topic.p == topic.p) {
			s->at = spot;
			return spot;
		}
	}
	return NULL;
}

static struct kafka_spot *take_free(struct kafka_spot_pool *pool)
{
	struct kafka_spot *spot = pool->free;

	if (spot != NULL) {
		pool->free = spot->next;
	} else if (pool->made < pool->most) {
		spot = arena_alloc(pool->arena, pool->bytes);
		pool->made++;
	}
	return spot;
}

static struct kafka_spot *add(struct kafka_spots *s, struct kafka_spot_pool *pool, struct sv topic, int64_t partition)
{
	struct kafka_spot *spot = s->count < SPOTS_MOST ? take_free(pool) : NULL;

	if (spot == NULL)
		return NULL;
	memset(spot, 0, pool->bytes);
	spot->topic = topic;
	spot->partition = partition;
	spot->next = spot;
	if (s->at != NULL) {
		spot->next = s->at->next;
		s->at->next = spot;
	}
	s->at = spot;
	s->count++;
	return spot;
}

struct kafka_spot *kafka_spots_get(struct kafka_spots *s, struct kafka_spot_pool *pool, struct sv topic, int64_t partition)
{
	struct kafka_spot *spot = kafka_spots_find(s, topic, partition);

	return spot != NULL ? spot : add(s, pool, topic, partition);
}

struct kafka_spot *kafka_spots_pop(struct kafka_spots *s, struct kafka_spot_pool *pool)
{
	struct kafka_spot *spot;

	if (s->count == 0)
		return NULL;
	/* The oldest of those that came one after the other: the next of the latest. */
	spot = s->at->next;
	s->at->next = spot->next;
	if (--s->count == 0)
		s->at = NULL;
	spot->next = pool->free;
	pool->free = spot;
	return spot;
}
