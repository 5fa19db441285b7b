/* SPDX-License-Identifier: MIT */
/*
 * Conversations: who asks is found by what he says; his stream becomes
 * requests, the other's answers. See input/capture/kafka.h.
 */

#include "input/capture/kafka.h"

#include "input/capture/cache_line.h"
#include "input/capture/kafka_answer.h"
#include "input/capture/kafka_committed.h"
#include "input/capture/kafka_delivered.h"
#include "input/capture/kafka_opaque.h"
#include "input/capture/kafka_report.h"
#include "input/capture/kafka_request.h"

/* Segments of a connection that had begun before the capture, among which one must begin with a request. */
#define DOUBTS_MOST 16
/* Connections under TLS that are followed; about 1 KB each. */
#define TLS_MOST 4096

static const struct kafka_framing *framing_of(const struct kafka_conn *c, unsigned side)
{
	if (c->phase == KAFKA_HIDDEN)
		return &kafka_record_framing;
	if (c->is_raw)
		return side == c->client ? &kafka_token_framing : &kafka_token_answer_framing;
	return side == c->client ? &kafka_request_framing : &kafka_answer_framing;
}

struct kafka *kafka_new(struct arena *a, struct tcp_report *report)
{
	struct kafka *k = arena_alloc(a, sizeof *k);

	k->arena = k->pool.arena = k->store.arena = a;
	k->report = report;
	k->names = kafka_names_new(a);
	k->deliveries = kafka_delivered_pool(a);
	k->commits = kafka_committed_pool(a);
	return k;
}

static struct kafka_conn *open_conversation(struct kafka *k, struct tcp_conn *t)
{
	struct kafka_conn *c = k->free;

	if (c != NULL)
		k->free = c->next;
	else
		c = cache_lines(k->arena, sizeof *c);
	*c = (struct kafka_conn){ .kafka = k, .tcp = t };
	for (unsigned i = TCP_A; i <= TCP_B; i++)
		c->side[i] = (struct kafka_side){ c, i };
	kafka_queue_init(&c->queue);
	if (t->opening.seen) {
		c->has_client = true;
		c->client = TCP_A;
		kafka_stream_start(&c->stream[TCP_A], t->opening.isn + 1);
		/* The other side has said nothing yet, or it is no broker. */
		if (t->flow[TCP_B].synced)
			kafka_stream_start(&c->stream[TCP_B], t->flow[TCP_B].next);
	}
	t->kafka = c;
	return c;
}

/* Tells what waits to be told with what comes after it, and forgets what is under way. */
static void break_off(struct kafka_conn *c)
{
	struct kafka_request *r;

	kafka_delivered_end(c);
	kafka_committed_end(c);
	kafka_answer_end_fetch(c);
	while ((r = kafka_queue_pop(&c->queue)) != NULL)
		kafka_queue_release(&c->kafka->store, r);
}

static void close_conversation(struct kafka_conn *c)
{
	struct kafka *k = c->kafka;

	break_off(c);
	for (unsigned i = TCP_A; i <= TCP_B; i++) {
		k->counts.lost_sync += c->phase == KAFKA_KNOWN ? c->stream[i].lost : 0;
		kafka_stream_reset(&c->stream[i], &k->pool);
	}
	if (c->tls != NULL) {
		c->tls->next = k->free_tls;
		k->free_tls = c->tls;
	}
	c->tcp->kafka = NULL;
	c->next = k->free;
	k->free = c;
}

static void turn_away(struct kafka_conn *c)
{
	c->tcp->is_foreign = true;
	close_conversation(c);
}

/* False when too many are followed. */
static bool turn_hidden(struct kafka_conn *c, unsigned client)
{
	struct kafka *k = c->kafka;

	c->tls = k->free_tls;
	if (c->tls != NULL)
		k->free_tls = c->tls->next;
	else if (k->counts.tls < TLS_MOST)
		c->tls = arena_alloc(k->arena, sizeof *c->tls);
	if (c->tls == NULL)
		return false;
	*c->tls = (struct kafka_tls){ .next = NULL };
	k->counts.tls++;
	c->phase = KAFKA_HIDDEN;
	c->has_client = true;
	c->client = client;
	kafka_stream_reset(&c->stream[TCP_A], &k->pool);
	kafka_stream_reset(&c->stream[TCP_B], &k->pool);
	return true;
}

/* The first words of a connection that was there before the capture. False: it is not known yet who asks. */
static bool find_client(struct kafka_conn *c, unsigned side, const struct kafka_piece *p)
{
	if (p->captured >= KAFKA_REQUEST_HEAD_BYTES && kafka_request_is(p->bytes, p->captured) && !kafka_request_is_doubtful(c, p->bytes)) {
		c->has_client = true;
		c->client = side;
		return true;
	}
	/* In a conversation the side that was called is the server. */
	if (kafka_opaque_begins_record(&c->side[side], p) && turn_hidden(c, TCP_A))
		return true;
	c->doubts++;
	return false;
}

/* Whether it is known by now that it is none of ours. */
static bool is_none(struct kafka_conn *c, unsigned side)
{
	const struct kafka_stream *asked = &c->stream[c->client];

	if (c->phase != KAFKA_DOUBTED)
		return false;
	if (!c->has_client)
		return c->doubts > DOUBTS_MOST;
	if (c->is_damaged)
		return true;
	/* A server that speaks first, or a client that says something else from the start. */
	if (side != c->client)
		return c->tcp->opening.seen && c->queue.count == 0 && asked->held == NULL;
	return !asked->synced && (c->tcp->opening.seen || ++c->doubts > DOUBTS_MOST);
}

static void take_payload(struct kafka_conn *c, unsigned side, const struct kafka_piece *p)
{
	if (!c->has_client && !find_client(c, side, p))
		return;
	kafka_stream_take(&c->stream[side], &c->kafka->pool, framing_of(c, side), &c->side[side], p);
	if (c->turns_hidden && c->phase == KAFKA_DOUBTED && turn_hidden(c, side))
		kafka_stream_take(&c->stream[side], &c->kafka->pool, framing_of(c, side), &c->side[side], p);
}

static void take_acknowledgment(struct kafka_conn *c, unsigned side, uint32_t ack)
{
	struct kafka_stream *other = &c->stream[!side];

	if (other->parked != NULL)
		kafka_stream_acknowledged(other, &c->kafka->pool, framing_of(c, !side), &c->side[!side], ack);
	if (side != c->client)
		kafka_queue_acknowledged(&c->queue, ack);
}

static void take_segment(struct kafka_conn *c, unsigned side, const struct segment *s)
{
	const struct kafka_piece p = { .sequence = s->sequence, .bytes = s->payload, .captured = s->payload_captured,
				       .wire = s->payload_bytes, .us = c->now_us, .place = s->place };

	take_payload(c, side, &p);
	if (is_none(c, side))
		turn_away(c);
	else if (c->has_client && side == c->client)
		kafka_queue_sent(&c->queue, p.sequence, p.sequence + (uint32_t)p.wire, c->now_us);
}

void kafka_segment_any(struct kafka *k, struct tcp_conn *t, unsigned side, const struct segment *s, int64_t now_us)
{
	struct kafka_conn *c = t->kafka;

	if (c == NULL) {
		if (s->payload_bytes == 0 || t->is_foreign)
			return;
		c = open_conversation(k, t);
	}
	c->now_us = now_us;
	if ((s->flags & TCP_FIN) != 0 && c->closed_us == 0)
		c->closed_us = now_us;
	if ((s->flags & TCP_ACK) != 0)
		take_acknowledgment(c, side, s->acknowledgment);
	if (s->payload_bytes > 0)
		take_segment(c, side, s);
}

/* ---- most segments ---- */

/* Its conversation goes on, and what it acknowledges fills no gap. */
static inline bool is_usual(const struct kafka_conn *c, unsigned side, const struct segment *s)
{
	return USUALLY(c->phase == KAFKA_KNOWN && (s->flags & (TCP_FIN | TCP_ACK)) == TCP_ACK &&
		       c->stream[!side].parked == NULL);
}

/* The inside of a batch of records that is fetched: nobody looks at it. */
static inline bool is_inside(const struct kafka_conn *c, unsigned side, const struct segment *s)
{
	return side != c->client && c->fetch != NULL && c->stream[side].follows &&
	       kafka_stream_is_inside(&c->stream[side], s->sequence, s->payload_bytes) &&
	       kafka_fetch_is_inside(c->fetch, s->payload_bytes);
}

void kafka_segment(struct kafka *k, struct tcp_conn *t, unsigned side, const struct segment *s, int64_t now_us)
{
	struct kafka_conn *c = t->kafka;

	if (SELDOM(c == NULL || !is_usual(c, side, s))) {
		kafka_segment_any(k, t, side, s, now_us);
		return;
	}
	c->now_us = now_us;
	if (side != c->client)
		kafka_queue_acknowledged(&c->queue, s->acknowledgment);
	if (s->payload_bytes == 0)
		return;
	if (!is_inside(c, side, s)) {
		take_segment(c, side, s);
		return;
	}
	kafka_stream_pass_inside(&c->stream[side], s->payload_bytes);
	kafka_fetch_pass_inside(c->fetch, s->payload_bytes);
}

void kafka_fetch_conn(const struct kafka_conn *c)
{
	__builtin_prefetch(c);
	__builtin_prefetch(&c->stream[0]);
	__builtin_prefetch(&c->stream[1]);
	__builtin_prefetch(&c->fetch);
}

void kafka_fetch_frame(const struct kafka_conn *c)
{
	if (c->queue.oldest != NULL) {
		__builtin_prefetch(c->queue.oldest);
		__builtin_prefetch(&c->queue.oldest->last_us);
	}
	__builtin_prefetch(c->delivered.at);
	__builtin_prefetch(c->latency);
}

void kafka_cut(struct kafka *k, struct tcp_conn *t)
{
	struct kafka_conn *c = t->kafka;

	if (c == NULL)
		return;
	break_off(c);
	kafka_stream_reset(&c->stream[TCP_A], &k->pool);
	kafka_stream_reset(&c->stream[TCP_B], &k->pool);
}

void kafka_end(struct kafka *k, struct tcp_conn *t, int64_t end_us, bool censored)
{
	struct kafka_conn *c = t->kafka;
	struct kafka_request *r;

	if (c == NULL)
		return;
	if (c->closed_us != 0) {
		end_us = c->closed_us;
		censored = false;
	}
	while (c->phase == KAFKA_KNOWN && (r = kafka_queue_pop(&c->queue)) != NULL) {
		kafka_report_unanswered(c, r, end_us, censored);
		c->turn_us = end_us;	/* it came to no other */
		kafka_queue_release(&k->store, r);
	}
	close_conversation(c);
}

void kafka_finish(struct kafka *k)
{
	kafka_report_latencies(k);
}

struct kafka_counts kafka_counts(const struct kafka *k)
{
	struct kafka_counts counts = k->counts;

	counts.dropped = k->store.dropped;
	return counts;
}
