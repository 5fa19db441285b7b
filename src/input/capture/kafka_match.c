/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_match.h. */

#include "input/capture/kafka_match.h"

/* Java has up to 100 under way on one connection (max.in.flight of its consumers). */
#define WAITING_MOST 128
/* Of all connections together: 4 and 2 MB. */
#define REQUESTS_MOST 16384
#define ITEMS_MOST 32768

void kafka_queue_init(struct kafka_queue *q)
{
	q->oldest = NULL;
	q->end = &q->oldest;
	q->count = 0;
	q->is_under_way = false;
}

struct kafka_request *kafka_queue_pop(struct kafka_queue *q)
{
	struct kafka_request *r = q->oldest;

	if (r == NULL)
		return NULL;
	q->oldest = r->next;
	if (q->oldest == NULL)
		q->end = &q->oldest;
	q->count--;
	r->next = NULL;
	return r;
}

void kafka_queue_release(struct kafka_store *s, struct kafka_request *r)
{
	if (r == NULL)
		return;
	kafka_items_release(s, &r->items);
	r->next = s->free;
	s->free = r;
}

static struct kafka_request *make(struct kafka_store *s)
{
	struct kafka_request *r = s->free;

	if (r != NULL) {
		s->free = r->next;
	} else if (s->made < REQUESTS_MOST) {
		r = arena_alloc(s->arena, sizeof *r);
		s->made++;
	}
	return r;
}

struct kafka_request *kafka_queue_add(struct kafka_queue *q, struct kafka_store *s)
{
	struct kafka_request *r;

	if (q->count >= WAITING_MOST) {
		s->dropped++;
		kafka_queue_release(s, kafka_queue_pop(q));
	}
	r = make(s);
	if (r == NULL) {
		s->dropped++;
		return NULL;
	}
	*r = (struct kafka_request){ 0 };
	*q->end = r;
	q->end = &r->next;
	q->count++;
	q->is_under_way = true;
	return r;
}

bool kafka_queue_has(const struct kafka_queue *q, int32_t correlation)
{
	const struct kafka_request *r = q->oldest;

	while (r != NULL && r->correlation != correlation)
		r = r->next;
	return r != NULL;
}

struct kafka_request *kafka_queue_answer(struct kafka_queue *q, struct kafka_store *s, int32_t correlation)
{
	struct kafka_request *r;

	if (!kafka_queue_has(q, correlation))
		return NULL;
	while ((r = kafka_queue_pop(q)) != NULL && r->correlation != correlation)
		kafka_queue_release(s, r);
	return r;
}

void kafka_queue_drop_newest(struct kafka_queue *q, struct kafka_store *s)
{
	struct kafka_request **at = &q->oldest;

	if (q->oldest == NULL)
		return;
	while ((*at)->next != NULL)
		at = &(*at)->next;
	kafka_queue_release(s, *at);
	*at = NULL;
	q->end = at;
	q->count--;
}

static bool reaches(uint32_t x, uint32_t y)
{
	return (int32_t)(x - y) >= 0;
}

void kafka_queue_sent(struct kafka_queue *q, uint32_t start, uint32_t end, int64_t us)
{
	for (struct kafka_request *r = q->oldest; r != NULL; r = r->next) {
		if (reaches(start, r->end) || !reaches(end, r->end))
			continue;
		if (r->sent_us == 0)
			r->sent_us = us;
		r->last_us = us;
		r->sends++;
	}
}

void kafka_queue_arrived(struct kafka_queue *q, uint32_t ack)
{
	bool is_under_way = false;

	for (struct kafka_request *r = q->oldest; r != NULL; r = r->next) {
		if (r->received_us == 0 && r->sent_us != 0 && reaches(ack, r->end))
			r->received_us = r->last_us;
		is_under_way |= r->received_us == 0;
	}
	q->is_under_way = is_under_way;
}

struct kafka_item *kafka_item_add(struct kafka_store *s, struct kafka_item **list)
{
	struct kafka_item *item = s->free_items;

	if (item != NULL) {
		s->free_items = item->next;
	} else if (s->items_made < ITEMS_MOST) {
		item = arena_alloc(s->arena, sizeof *item);
		s->items_made++;
	} else {
		return NULL;
	}
	*item = (struct kafka_item){ .next = *list };
	*list = item;
	return item;
}

void kafka_items_release(struct kafka_store *s, struct kafka_item **list)
{
	while (*list != NULL) {
		struct kafka_item *item = *list;

		*list = item->next;
		item->next = s->free_items;
		s->free_items = item;
	}
}
