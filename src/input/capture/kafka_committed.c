/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_committed.h. */

#include "input/capture/kafka_committed.h"

#include "input/capture/kafka_report.h"

/* 6 MB */
#define COMMITS_MOST 16384
/* No coordinator misses a member that is heard again within this time: heartbeats come more rarely. */
#define SILENCE_MOST_US US_PER_S

/* Of a partition. What is open has still to be told. */
struct commit {
	struct kafka_spot spot;
	uint32_t count;			/* 0: nothing is open */
	int64_t first_us;		/* when the first request was sent */
	struct kafka_request latest;	/* without its items */
	int64_t answered_us;		/* of the latest */
	struct kafka_number offset;
	uint64_t retransmits;		/* of the connection when the first was answered */
};

struct kafka_spot_pool kafka_committed_pool(struct arena *a)
{
	return (struct kafka_spot_pool){ .arena = a, .most = COMMITS_MOST, .bytes = sizeof(struct commit) };
}

static void tell(struct kafka_conn *c, struct commit *t)
{
	struct event out;

	if (t->count == 0)
		return;
	kafka_report_begin(&out, c, EVENT_WIRE_COMMIT, &t->latest);
	out.time.us = t->first_us;
	out.duration_us = t->answered_us > t->first_us ? t->answered_us - t->first_us : 0;
	event_set_text(&out, FIELD_TOPIC, t->spot.topic);
	event_set_int(&out, FIELD_PARTITION, t->spot.partition);
	if (t->offset.known)
		event_set_int(&out, FIELD_OFFSET, t->offset.value);
	if (t->count > 1)
		event_set_int(&out, FIELD_SAMPLES, t->count);
	t->count = 0;
	if (event_has(&out, FIELD_GROUP))
		kafka_report_put(c, &out);
}

/* Names are kept once, but for those that are absent. */
static bool is_same_member(const struct kafka_request *x, const struct kafka_request *y)
{
	return x->key == y->key && x->generation.known == y->generation.known && x->generation.value == y->generation.value &&
	       sv_eq(x->group, y->group) && sv_eq(x->member, y->member) && sv_eq(x->instance, y->instance) &&
	       sv_eq(x->client, y->client);
}

/* On a connection that had trouble each is told, with its own times. */
static bool goes_on(const struct kafka_conn *c, const struct commit *t, const struct kafka_request *r,
		    const struct kafka_number *offset)
{
	return r->sends == 1 && t->latest.sends == 1 && r->sent_us - t->latest.sent_us <= SILENCE_MOST_US &&
	       c->now_us - t->first_us <= KAFKA_TOGETHER_US && offset->known == t->offset.known && offset->value >= t->offset.value &&
	       c->tcp->retransmits == t->retransmits && is_same_member(&t->latest, r);
}

static void add(const struct kafka_conn *c, struct commit *t, const struct kafka_request *r,
		const struct kafka_number *offset)
{
	if (t->count == 0) {
		t->first_us = kafka_report_sent_us(r);
		t->retransmits = c->tcp->retransmits;
	}
	t->count++;
	t->latest = *r;
	t->latest.items = NULL;
	t->answered_us = c->now_us;
	t->offset = *offset;
}

/* There is no room for what is to be told later. */
static void take_alone(struct kafka_conn *c, const struct kafka_request *r, struct sv topic, int64_t partition,
		       const struct kafka_number *offset)
{
	struct commit t = { .spot = { .topic = topic, .partition = partition } };

	add(c, &t, r, offset);
	tell(c, &t);
}

void kafka_committed_take(struct kafka_conn *c, const struct kafka_request *r, struct sv topic, int64_t partition,
			  const struct kafka_number *offset)
{
	struct commit *t = (struct commit *)kafka_spots_get(&c->committed, &c->kafka->commits, topic, partition);

	if (t == NULL) {
		take_alone(c, r, topic, partition, offset);
		return;
	}
	if (t->count > 0 && !goes_on(c, t, r, offset))
		tell(c, t);
	add(c, t, r, offset);
}

void kafka_committed_tell(struct kafka_conn *c, struct sv topic, int64_t partition)
{
	struct kafka_spot *spot = kafka_spots_find(&c->committed, topic, partition);

	if (spot != NULL)
		tell(c, (struct commit *)spot);
}

void kafka_committed_end(struct kafka_conn *c)
{
	struct kafka_spot *spot;

	while ((spot = kafka_spots_pop(&c->committed, &c->kafka->commits)) != NULL)
		tell(c, (struct commit *)spot);
}
