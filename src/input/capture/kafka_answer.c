/* SPDX-License-Identifier: MIT */
/* Frames of the answering side. They tell neither kind nor version: their requests do. */

#include "input/capture/kafka_answer.h"

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_delivered.h"
#include "input/capture/kafka_report.h"
#include "input/capture/kafka_request.h"

/* size 4, correlation id 4 */
#define ANSWER_HEAD_BYTES 8
#define ANSWER_SIZE_LEAST 4
/* Fetches read at once; about 1 KB each. */
#define FETCHES_MOST 4096

static uint64_t answer_size(void *context, const uint8_t *header)
{
	int64_t size = kafka_read_number(header, 4);

	(void)context;
	return size >= ANSWER_SIZE_LEAST && size <= KAFKA_SIZE_MOST ? (uint64_t)size + 4 : 0;
}

static const struct kafka_request *waiting(const struct kafka_conn *c, int32_t correlation)
{
	const struct kafka_request *r = c->queue.oldest;

	while (r != NULL && r->correlation != correlation)
		r = r->next;
	return r;
}

static size_t answer_wanted(void *context, const uint8_t *header, uint64_t size)
{
	const struct kafka_conn *c = ((struct kafka_side *)context)->conn;
	const struct kafka_request *r = waiting(c, (int32_t)kafka_read_number(header + 4, 4));

	if (r == NULL || r->layout == NULL || r->layout->response == NULL)
		return ANSWER_HEAD_BYTES;
	return size < KAFKA_BUFFER_BYTES ? (size_t)size : KAFKA_BUFFER_BYTES;
}

static struct kafka_fetch *take_fetch(struct kafka *k)
{
	struct kafka_fetch *f = k->free_fetches;

	if (f != NULL) {
		k->free_fetches = f->next;
	} else if (k->fetches < FETCHES_MOST) {
		f = arena_alloc(k->arena, sizeof *f);
		k->fetches++;
	}
	return f;
}

void kafka_answer_end_fetch(struct kafka_conn *c)
{
	kafka_queue_release(&c->kafka->store, c->fetching);
	c->fetching = NULL;
	if (c->fetch == NULL)
		return;
	c->fetch->next = c->kafka->free_fetches;
	c->kafka->free_fetches = c->fetch;
	c->fetch = NULL;
}

/* Records are for consumers; what brokers copy from one another is delivered to nobody. */
static bool follow_fetch(struct kafka_conn *c, struct kafka_request *r, uint64_t size)
{
	if (r->key != KAFKA_FETCH || r->layout == NULL || r->is_replica)
		return false;
	c->fetch = take_fetch(c->kafka);
	if (c->fetch == NULL)
		return false;
	kafka_fetch_begin(c->fetch, r->version, r->is_flexible, size);
	c->fetching = r;
	c->fetches++;
	return true;
}

/* An answer arrives: the request that it is for did, too. */
static void note_arrival(struct kafka_request *r)
{
	if (r->received_us == 0)
		r->received_us = r->last_us != 0 ? r->last_us : r->begun_us;
}

static bool take_answer(void *context, const struct kafka_frame *f, bool *follow)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;
	struct kafka *k = c->kafka;
	struct kafka_reader body = { .at = f->bytes + ANSWER_HEAD_BYTES, .end = f->bytes + f->n,
				     .beyond = (size_t)(f->size - f->n) };
	struct kafka_request *r = kafka_queue_answer(&c->queue, &k->store, (int32_t)kafka_read_number(f->bytes + 4, 4));
	int64_t now_us = c->now_us;

	kafka_answer_end_fetch(c);
	if (r == NULL)
		return false;
	k->counts.connections += c->phase == KAFKA_DOUBTED;
	c->phase = KAFKA_KNOWN;
	k->counts.answers++;
	note_arrival(r);
	/* The header of an answer to ApiVersions is never flexible, so that every client can read it (KIP-511). */
	body.flexible = r->is_flexible;
	if (r->key != KAFKA_API_VERSIONS)
		kafka_read_tags(&body);
	/* A frame in several segments is read when it is whole, and was answered when it began. */
	c->now_us = f->us;
	kafka_report_answer(c, r, r->layout != NULL && r->layout->response != NULL ? &body : NULL);
	c->turn_us = c->now_us;
	c->now_us = now_us;
	*follow = follow_fetch(c, r, f->size - ANSWER_HEAD_BYTES);
	if (!*follow)
		kafka_queue_release(&k->store, r);
	return true;
}

static void take_range(void *context, const struct kafka_range *range)
{
	kafka_delivered_take(context, range);
}

static void take_rest(void *context, const uint8_t *bytes, uint64_t n)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (c->fetch != NULL)
		kafka_fetch_take(c->fetch, bytes, n, &(struct kafka_fetch_user){ take_range, c });
}

bool kafka_answer_begins(void *context, const struct kafka_piece *p)
{
	const struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	return p->captured >= ANSWER_HEAD_BYTES && answer_size(context, p->bytes) > 0 &&
	       kafka_queue_has(&c->queue, (int32_t)kafka_read_number(p->bytes + 4, 4));
}

const struct kafka_framing kafka_answer_framing = {
	.header_bytes = ANSWER_HEAD_BYTES,
	.size = answer_size,
	.wanted = answer_wanted,
	.frame = take_answer,
	.rest = take_rest,
	.begins = kafka_answer_begins,
};
