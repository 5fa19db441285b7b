/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_report.h. */

#include "input/capture/kafka_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/capture/cache_line.h"
#include "input/capture/kafka_api.h"
#include "input/capture/kafka_tell.h"

/* An answer is late that comes so long after it was due, or takes so many times what is usual; detectors are stricter. */
#define LATE_US (1 * US_PER_S)
#define LATE_TIMES 8
#define USUAL_SAMPLES_LEAST 8
/* Services and kinds of request of which latencies are kept: 300 bytes each. */
#define LATENCIES_MOST 2048

/* ---- how events are made ---- */

/* Texts of addresses are made once for a connection. */
static void set_path(struct event *e, struct kafka_conn *c)
{
	if (sv_is_absent(c->path_a)) {
		tcp_report_path(e, c->tcp, &c->ends);
		c->path_a = event_text(e, FIELD_PATH_A);
		c->path_b = event_text(e, FIELD_PATH_B);
		return;
	}
	event_set_text(e, FIELD_PATH_A, c->path_a);
	event_set_text(e, FIELD_PATH_B, c->path_b);
}

void kafka_report_span(struct event *e, struct kafka_conn *c, enum event_type type, const struct packet_place *place,
		       int64_t start_us, int64_t end_us)
{
	event_init(e, type);
	e->place = packet_place(place);
	e->time.us = start_us;
	e->duration_us = end_us > start_us ? end_us - start_us : 0;
	set_path(e, c);
	event_set_text(e, FIELD_DIRECTION, c->client == TCP_A ? SV("ab") : SV("ba"));
}

void kafka_report_put(const struct kafka_conn *c, const struct event *out)
{
	tcp_report_put(c->kafka->report, out);
}

int64_t kafka_report_sent_us(const struct kafka_request *r)
{
	return r->sent_us != 0 ? r->sent_us : r->begun_us;
}

void kafka_report_name(struct event *e, enum event_field f, struct sv name)
{
	if (name.n > 0)
		event_set_text(e, f, name);
}

static void set_number(struct event *e, enum event_field f, const struct kafka_number *n)
{
	if (n->known)
		event_set_int(e, f, n->value);
}

/* Of one that the tables do not know, its number. Good until text is used again. */
void kafka_report_error(struct event *e, int64_t code, char text[32])
{
	const char *name = kafka_error_name(code);

	if (code == 0)
		return;
	if (name == NULL) {
		snprintf(text, 32, "ERROR_%" PRId64, code);
		name = text;
	}
	event_set_text(e, FIELD_ERROR, sv_of(name));
}

static const char *api_name(const struct kafka_request *r)
{
	const struct kafka_api *api = kafka_api(r->key);

	return api != NULL ? api->name : "unknown";
}

/* Who asked and what. */
static void set_request(struct event *e, const struct kafka_request *r)
{
	event_set_text(e, FIELD_API, sv_of(api_name(r)));
	event_set_int(e, FIELD_CORRELATION_ID, r->correlation);
	kafka_report_name(e, FIELD_CLIENT, r->client);
	kafka_report_name(e, FIELD_GROUP, r->group);
	kafka_report_name(e, FIELD_MEMBER, r->member);
	kafka_report_name(e, FIELD_INSTANCE, r->instance);
	set_number(e, FIELD_GENERATION, &r->generation);
	if (r->received_us != 0)
		event_set_int(e, FIELD_RECEIVED_AT_US, r->received_us);
	if (r->sends > 1)
		event_set_int(e, FIELD_RETRANSMITS, r->sends - 1);
}

void kafka_report_begin(struct event *out, struct kafka_conn *c, enum event_type type,
			  const struct kafka_request *r)
{
	kafka_report_span(out, c, type, &r->place, kafka_report_sent_us(r), c->now_us);
	set_request(out, r);
}

/* ---- latency ---- */

static size_t latency_bucket(const struct tcp_conn *t, unsigned callee, int key)
{
	uint64_t h = (uint64_t)t->port[callee] << 16 | (uint16_t)key;

	for (size_t i = 0; i < sizeof t->address[callee].bytes; i++)
		h = (h ^ t->address[callee].bytes[i]) * UINT64_C(0x100000001b3);
	return (size_t)(h >> 32) % KAFKA_LATENCY_BUCKETS;
}

/* NULL when too many are kept. */
static struct kafka_latency *latency_of(struct kafka_conn *c, const struct kafka_request *r)
{
	struct kafka *k = c->kafka;
	const unsigned callee = !c->client;
	const struct tcp_conn *t = c->tcp;
	struct kafka_latency **bucket, *l;

	if (c->latency != NULL && c->latency->key == r->key)
		return c->latency;
	bucket = &k->latency[latency_bucket(t, callee, r->key)];
	l = *bucket;
	while (l != NULL && !(l->key == r->key && l->port == t->port[callee] &&
			      memcmp(&l->callee, &t->address[callee], sizeof l->callee) == 0))
		l = l->next;
	if (l != NULL)
		c->latency = l;
	if (l != NULL || k->latencies >= LATENCIES_MOST)
		return l;
	l = arena_alloc(k->arena, sizeof *l);
	*l = (struct kafka_latency){ .next = *bucket, .callee = t->address[callee], .port = t->port[callee],
				     .key = r->key, .first = { kafka_report_sent_us(r), r->place } };
	*bucket = l;
	k->latencies++;
	return l;
}

/* What the broker may take by the request's own word. */
static bool allowed_us(const struct kafka_conn *c, const struct kafka_request *r, int64_t *us)
{
	switch (r->key) {
	case KAFKA_FETCH:
		*us = r->max_wait_ms.value * US_PER_MS;
		return r->max_wait_ms.known;
	case KAFKA_JOIN_GROUP:
		*us = (r->rebalance_ms.known ? r->rebalance_ms.value : r->session_ms.value) * US_PER_MS;
		return true;
	case KAFKA_SYNC_GROUP:
		*us = c->told.rebalance_ms * US_PER_MS;
		return c->told.rebalance_ms != 0;
	default:
		*us = 0;
		return true;
	}
}

/* Since when it has been this request's turn. */
static int64_t turn_us(const struct kafka_conn *c, const struct kafka_request *r)
{
	return c->turn_us > kafka_report_sent_us(r) ? c->turn_us : kafka_report_sent_us(r);
}

/* By the time since it was its turn. */
static bool is_late(const struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, const struct kafka_latency *l,
		    int64_t *usual_us)
{
	int64_t us = end_us - turn_us(c, r), allowed;

	*usual_us = 0;
	if (us <= LATE_US || !allowed_us(c, r, &allowed) || us <= allowed + LATE_US)
		return false;
	if (l != NULL && tcp_median_count(&l->usual) >= USUAL_SAMPLES_LEAST)
		*usual_us = tcp_median_us(&l->usual);
	return us > *usual_us * LATE_TIMES;
}

static void set_wait(struct event *e, const struct kafka_conn *c, const struct kafka_request *r, int64_t end_us)
{
	int64_t allowed, us = end_us - turn_us(c, r);

	event_set_int(e, FIELD_ELAPSED_MS, us > 0 ? us / US_PER_MS : 0);
	if (allowed_us(c, r, &allowed) && allowed > 0)
		event_set_int(e, FIELD_LIMIT_MS, allowed / US_PER_MS);
}

static __attribute__((noinline)) void put_late(struct kafka_conn *c, const struct kafka_request *r, int64_t usual_us)
{
	struct event out;

	kafka_report_begin(&out, c, EVENT_WIRE_LATE, r);
	set_wait(&out, c, r, c->now_us);
	if (usual_us > 0)
		event_set_int(&out, FIELD_USUAL_US, usual_us);
	kafka_report_put(c, &out);
}

static void note_latency(struct kafka_conn *c, const struct kafka_request *r)
{
	struct kafka_latency *l = latency_of(c, r);
	int64_t us = c->now_us - kafka_report_sent_us(r), usual_us;

	if (SELDOM(is_late(c, r, c->now_us, l, &usual_us)))
		put_late(c, r, usual_us);
	if (l == NULL)
		return;
	tcp_median_add(&l->usual, us);
	l->max_us = us > l->max_us ? us : l->max_us;
	l->last_us = c->now_us;
}

/* ---- answers ---- */

void kafka_report_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body)
{
	note_latency(c, r);
	if (body != NULL)
		kafka_tell_answer(c, r, body);
}

/* ---- no answer ---- */

/* While the evidence goes on nobody knows whether an answer comes; one that is not due yet is no news. */
void kafka_report_unanswered(struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, bool censored)
{
	struct event out;
	int64_t usual_us;

	if (censored && !is_late(c, r, end_us, NULL, &usual_us))
		return;
	kafka_report_span(&out, c, EVENT_WIRE_UNANSWERED, &r->place, kafka_report_sent_us(r), end_us);
	set_request(&out, r);
	set_wait(&out, c, r, end_us);
	if (r->received_us != 0)
		event_set_int(&out, FIELD_PENDING, 1);
	if (censored)
		event_set_int(&out, FIELD_CENSORED, 1);
	kafka_report_put(c, &out);
}

/* ---- the rest ---- */

void kafka_report_beat(struct kafka_conn *c, const struct kafka_tls_beat *beat)
{
	struct event out;

	kafka_report_span(&out, c, EVENT_WIRE_HEARTBEAT, &beat->place, beat->us, beat->us);
	out.strength = STRENGTH_SUGGESTS;
	kafka_report_put(c, &out);
}

static void put_latency(struct kafka *k, const struct kafka_latency *l)
{
	const struct tcp_conn callee = { .address = { l->callee, l->callee }, .port = { l->port, l->port } };
	const struct kafka_request named = { .key = l->key };
	struct tcp_ends ends;
	struct event e;

	event_init(&e, EVENT_WIRE_LATENCY);
	e.place = packet_place(&l->first.place);
	e.time.us = l->first.us;
	e.duration_us = l->last_us > l->first.us ? l->last_us - l->first.us : 0;
	tcp_report_path(&e, &callee, &ends);
	e.set &= ~FIELD_BIT(FIELD_PATH_A);
	event_set_text(&e, FIELD_API, sv_of(api_name(&named)));
	event_set_int(&e, FIELD_SAMPLES, tcp_median_count(&l->usual));
	event_set_int(&e, FIELD_USUAL_US, tcp_median_us(&l->usual));
	event_set_int(&e, FIELD_ELAPSED_MS, l->max_us / US_PER_MS);
	tcp_report_put(k->report, &e);
}

void kafka_report_latencies(struct kafka *k)
{
	for (size_t i = 0; i < KAFKA_LATENCY_BUCKETS; i++)
		for (const struct kafka_latency *l = k->latency[i]; l != NULL; l = l->next)
			put_latency(k, l);
}
