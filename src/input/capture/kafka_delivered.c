/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_delivered.h. */

#include "input/capture/kafka_delivered.h"

#include "input/capture/kafka_report.h"

/* 8 MB */
#define DELIVERIES_MOST 65536
/* Between two answers one offset may be left out: that of the mark that ends a transaction. */
#define OFFSETS_PASSED_OVER 1

/* Of a partition. What is open has still to be told. */
struct delivery {
	struct kafka_spot spot;
	bool is_open;
	bool has_offset, has_end;
	int64_t offset, end_offset;	/* the least and the greatest of all */
	int64_t error;
	int64_t first_us, last_us;
	struct packet_place place;		/* of the first request */
	uint32_t rereads;
	/* Beyond what is open. */
	bool has_position;
	int64_t position;		/* one past the latest record */
	uint32_t answer;		/* that it came in */
};

struct kafka_spot_pool kafka_delivered_pool(struct arena *a)
{
	return (struct kafka_spot_pool){ .arena = a, .most = DELIVERIES_MOST, .bytes = sizeof(struct delivery) };
}

static void tell(struct kafka_conn *c, struct delivery *d)
{
	struct event out;
	char error[32];

	if (!d->is_open)
		return;
	d->is_open = false;
	kafka_report_span(&out, c, EVENT_WIRE_FETCH, &d->place, d->first_us, d->last_us);
	kafka_report_name(&out, FIELD_CLIENT, c->client_id);
	event_set_text(&out, FIELD_TOPIC, d->spot.topic);
	event_set_int(&out, FIELD_PARTITION, d->spot.partition);
	if (d->has_offset)
		event_set_int(&out, FIELD_OFFSET, d->offset);
	if (d->has_end)
		event_set_int(&out, FIELD_END_OFFSET, d->end_offset);
	if (d->rereads > 0)
		event_set_int(&out, FIELD_REREADS, d->rereads);
	kafka_report_error(&out, d->error, error);
	kafka_report_put(c, &out);
}

static bool goes_back(const struct delivery *d, const struct kafka_range *r)
{
	return d->has_position && r->has_offsets && r->offset < d->position;
}

/* Within one answer what lies between two batches is not in the log any more, or is nobody's. */
static bool follows(const struct kafka_conn *c, const struct delivery *d, const struct kafka_range *r)
{
	return r->offset >= d->position && (d->answer == c->fetches || r->offset - d->position <= OFFSETS_PASSED_OVER);
}

static bool touches(const struct delivery *d, const struct kafka_range *r)
{
	return r->offset <= d->end_offset && r->end_offset >= d->offset;
}

/* Whether one event can tell of it and of what is open. */
static bool goes_on(const struct kafka_conn *c, const struct delivery *d, const struct kafka_range *r)
{
	if (c->now_us - d->first_us > KAFKA_TOGETHER_US || d->error != r->error || d->has_offset != r->has_offsets)
		return false;
	if (!r->has_offsets)
		return true;
	return d->has_end && r->has_end && (follows(c, d, r) || (d->rereads > 0 && touches(d, r)));
}

static void begin(const struct kafka_conn *c, struct delivery *d, const struct kafka_range *r)
{
	d->is_open = true;
	d->has_offset = r->has_offsets;
	d->has_end = r->has_end;
	d->offset = r->offset;
	d->end_offset = r->end_offset;
	d->error = r->error;
	d->first_us = c->now_us;
	d->place = c->fetching != NULL ? c->fetching->place : (struct packet_place){ 0 };
	d->rereads = 0;
}

static void add(const struct kafka_conn *c, struct delivery *d, const struct kafka_range *r)
{
	d->last_us = c->now_us;
	d->rereads += goes_back(d, r);
	if (r->offset < d->offset)
		d->offset = r->offset;
	if (r->end_offset > d->end_offset)
		d->end_offset = r->end_offset;
	if (!r->has_end)
		return;
	d->has_position = true;
	d->position = r->end_offset;
	d->answer = c->fetches;
}

static struct sv topic_of(struct kafka_conn *c, const struct kafka_range *r)
{
	struct kafka_names *names = c->kafka->names;
	struct sv before = c->delivered.at != NULL ? c->delivered.at->topic : SV_ABSENT;

	return r->topic.n > 0 ? kafka_names_again(names, r->topic, before) : kafka_names_topic_of(names, r->topic_id);
}

/* There is no room for what is to be told later. */
static void take_alone(struct kafka_conn *c, struct sv topic, const struct kafka_range *r)
{
	struct delivery d = { .spot = { .topic = topic, .partition = r->partition } };

	begin(c, &d, r);
	add(c, &d, r);
	tell(c, &d);
}

void kafka_delivered_take(struct kafka_conn *c, const struct kafka_range *r)
{
	struct sv topic = topic_of(c, r);
	struct delivery *d;

	if (sv_is_absent(topic))
		return;
	d = (struct delivery *)kafka_spots_get(&c->delivered, &c->kafka->deliveries, topic, r->partition);
	if (d == NULL) {
		take_alone(c, topic, r);
		return;
	}
	if (d->is_open && !goes_on(c, d, r))
		tell(c, d);
	if (!d->is_open)
		begin(c, d, r);
	add(c, d, r);
}

void kafka_delivered_end(struct kafka_conn *c)
{
	struct kafka_spot *spot;

	while ((spot = kafka_spots_pop(&c->delivered, &c->kafka->deliveries)) != NULL)
		tell(c, (struct delivery *)spot);
}
