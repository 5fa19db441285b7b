/* SPDX-License-Identifier: MIT */
/*
 * Conversations: who asks is found by what he says; his stream becomes
 * requests, the other's answers. Kafka's protocol guide; headers by KIP-482.
 */

#include "input/capture/kafka.h"

#include <stdio.h>
#include <string.h>

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_conn.h"
#include "input/capture/kafka_group.h"
#include "input/capture/kafka_report.h"

/* socket.request.max.bytes */
#define SIZE_MOST (100 * 1024 * 1024)
/* size 4, key 2, version 2, correlation id 4, length of the client id 2 */
#define REQUEST_HEAD_BYTES 14
/* What size counts of it, without a client id. */
#define REQUEST_SIZE_LEAST 10
/* size 4, correlation id 4 */
#define ANSWER_HEAD_BYTES 8
#define ANSWER_SIZE_LEAST 4
/* A client id longer than this is none. */
#define CLIENT_ID_BYTES_MOST 255
/* Releases newer than the tables may have so many versions more. */
#define VERSIONS_AHEAD 4
/* Segments of a connection that had begun before the capture, among which one must begin with a request. */
#define DOUBTS_MOST 16
/* Fetches read at once, and connections under TLS that are followed; about 1 KB each. */
#define FETCHES_MOST 4096
#define TLS_MOST 4096

/* RFC 8446 5.1 */
#define TLS_HEAD_BYTES 5
#define TLS_RECORD_MOST (16384 + 256)
enum { TLS_FIRST_TYPE = 20, TLS_HANDSHAKE = 22, TLS_APPLICATION_DATA = 23, TLS_LAST_TYPE = 24 };

/* ---- headers ---- */

static int64_t number_at(const uint8_t *p, unsigned n)
{
	struct kafka_reader r = { .at = p, .end = p + n };

	return kafka_read_int(&r, n);
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] == 0x7f)
			return false;
	return true;
}

/* n bytes from the start of a frame, at least those of the head. */
static bool is_request(const uint8_t *p, size_t n)
{
	int64_t size = number_at(p, 4), key = number_at(p + 4, 2), version = number_at(p + 6, 2);
	int64_t client = number_at(p + 12, 2);
	const struct kafka_api *api = kafka_api((int)key);

	if (size < REQUEST_SIZE_LEAST || size > SIZE_MOST || api == NULL)
		return false;
	if (version < 0 || version > api->latest + VERSIONS_AHEAD)
		return false;
	if (client < -1 || client > CLIENT_ID_BYTES_MOST || client + REQUEST_SIZE_LEAST > size)
		return false;
	n -= REQUEST_HEAD_BYTES;
	return client <= 0 || is_printable(p + REQUEST_HEAD_BYTES, n < (size_t)client ? n : (size_t)client);
}

/* How much of a request stands before its body. */
static size_t head_bytes(const uint8_t *p)
{
	int64_t client = number_at(p + 12, 2);

	return REQUEST_HEAD_BYTES + (client > 0 ? (size_t)client : 0);
}

/* Reads the header; the reader stands at the body then. */
static struct sv read_client(struct kafka_reader *r, bool flexible)
{
	struct sv client;

	kafka_read_skip(r, REQUEST_HEAD_BYTES - 2);
	client = kafka_read_text(r);	/* in the classic encoding always */
	r->flexible = flexible;
	kafka_read_tags(r);
	return client;
}

/* ---- requests ---- */

static const struct kafka_layout *layout_of(int key, int version)
{
	const struct kafka_layout *layout = kafka_group_layout(key);

	return layout != NULL && version <= layout->latest ? layout : NULL;
}

/* While a request is read. */
struct asking {
	struct kafka *kafka;
	struct kafka_request *request;
};

static struct sv keep_topic(struct kafka *k, const struct kafka_facts *f)
{
	if (kafka_has(f, KAFKA_TOPIC_ID))
		return kafka_names_topic_of(k->names, kafka_text(f, KAFKA_TOPIC_ID));
	return kafka_names_keep(k->names, kafka_text(f, KAFKA_TOPIC));
}

static void keep_partition(struct asking *a, const struct kafka_facts *f)
{
	struct kafka_item *item;

	if (a->request->key == KAFKA_FETCH)
		return;
	item = kafka_item_add(&a->kafka->store, &a->request->items);
	if (item == NULL)
		return;
	item->name = keep_topic(a->kafka, f);
	item->partition = kafka_number(f, KAFKA_PARTITION, 0);
	item->offset = kafka_number(f, KAFKA_OFFSET, 0);
}

static void keep_names(struct kafka *k, struct kafka_request *r, const struct kafka_facts *f)
{
	static const struct {
		enum kafka_what what;
		size_t at;
	} kept[] = {
		{ KAFKA_GROUP, offsetof(struct kafka_request, group) },
		{ KAFKA_MEMBER, offsetof(struct kafka_request, member) },
		{ KAFKA_INSTANCE, offsetof(struct kafka_request, instance) },
		{ KAFKA_REASON, offsetof(struct kafka_request, reason) },
		{ KAFKA_PROTOCOL_TYPE, offsetof(struct kafka_request, protocol) },
	};

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		struct sv name = kafka_names_keep(k->names, kafka_text(f, kept[i].what));

		if (!sv_is_absent(name))
			memcpy((char *)r + kept[i].at, &name, sizeof name);
	}
}

static void keep_numbers(struct kafka_request *r, const struct kafka_facts *f)
{
	const struct {
		enum kafka_what what;
		struct kafka_number *to;
	} kept[] = {
		{ KAFKA_GENERATION, &r->generation },	{ KAFKA_SESSION_MS, &r->session_ms },
		{ KAFKA_REBALANCE_MS, &r->rebalance_ms }, { KAFKA_MAX_WAIT_MS, &r->max_wait_ms },
		{ KAFKA_KEY_TYPE, &r->key_type },
	};

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (kafka_has(f, kept[i].what))
			*kept[i].to = (struct kafka_number){ true, kafka_number(f, kept[i].what, 0) };
}

static void keep_member(struct asking *a, const struct kafka_facts *f)
{
	struct kafka_item *item = kafka_item_add(&a->kafka->store, &a->request->items);

	if (item != NULL) {
		item->name = kafka_names_keep(a->kafka->names, kafka_text(f, KAFKA_MEMBER));
		item->instance = kafka_names_keep(a->kafka->names, kafka_text(f, KAFKA_INSTANCE));
		item->reason = kafka_names_keep(a->kafka->names, kafka_text(f, KAFKA_REASON));
	}
	/* Of an OffsetFetch for several groups the first speaks for it; of a LeaveGroup of several members, too. */
	if (sv_is_absent(a->request->member))
		keep_names(a->kafka, a->request, f);
}

static void keep_element(void *context, enum kafka_what array, const struct kafka_facts *f)
{
	struct asking *a = context;

	if (array == KAFKA_EACH_PARTITION)
		keep_partition(a, f);
	else
		keep_member(a, f);
}

/* The client's own word: "apache-kafka-java 4.1.1". */
static void keep_software(struct kafka *k, struct kafka_request *r, const struct kafka_facts *f)
{
	struct sv name = kafka_text(f, KAFKA_SOFTWARE), version = kafka_text(f, KAFKA_SOFTWARE_VERSION);
	char text[256];
	int n = snprintf(text, sizeof text, "%.*s %.*s", SV_ARG(name), SV_ARG(version));

	if (name.n > 0 && !sv_is_absent(version) && n > 0 && (size_t)n < sizeof text)
		r->reason = kafka_names_keep(k->names, (struct sv){ text, (size_t)n });
}

/* KIP-74 and later have replicas say so; their client ids do always (ReplicaFetcherThread). */
static bool is_replica(struct sv client)
{
	size_t at;

	return sv_starts_with(client, SV("broker-")) && sv_find(client, SV("-fetcher-"), &at);
}

/* False when the body contradicts its length. */
static bool read_request(struct kafka_conn *c, struct kafka_request *r, struct kafka_reader *body,
			 const struct kafka_layout *layout, int64_t *acks)
{
	struct asking asking = { c->kafka, r };
	struct kafka_facts facts;

	kafka_layout_read(body, layout->request, r->version, &facts, &(struct kafka_visitor){ keep_element, &asking });
	if (body->state == KAFKA_READ_BAD)
		return false;
	keep_names(c->kafka, r, &facts);
	keep_numbers(r, &facts);
	if (r->key == KAFKA_API_VERSIONS)
		keep_software(c->kafka, r, &facts);
	*acks = kafka_number(&facts, KAFKA_ACKS, -1);
	return true;
}

static uint64_t request_size(void *context, const uint8_t *header)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (is_request(header, REQUEST_HEAD_BYTES))
		return (uint64_t)number_at(header, 4) + 4;
	c->turns_hidden = c->phase == KAFKA_DOUBTED && header[0] == TLS_HANDSHAKE && header[1] == 3;
	return 0;
}

/* Of what is not read, and of what must not be, the body is not even looked at. */
static size_t request_wanted(void *context, const uint8_t *header, uint64_t size)
{
	const struct kafka_layout *layout = layout_of((int)number_at(header + 4, 2), (int)number_at(header + 6, 2));

	(void)context;
	if (layout == NULL || layout->request == NULL)
		return head_bytes(header);
	return size < KAFKA_BUFFER_BYTES ? (size_t)size : KAFKA_BUFFER_BYTES;
}

/* ZooKeeper's frames look like requests without a client id; the first request must have one, or say that it has none. */
static bool is_doubtful(const struct kafka_conn *c, const uint8_t *header)
{
	return c->phase == KAFKA_DOUBTED && c->queue.count == 0 && number_at(header + 12, 2) == 0;
}

static bool take_request(void *context, const struct kafka_frame *f, bool *follow)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;
	struct kafka *k = c->kafka;
	struct kafka_reader r = { .at = f->bytes, .end = f->bytes + f->n, .beyond = (size_t)(f->size - f->n) };
	const int key = (int)number_at(f->bytes + 4, 2), version = (int)number_at(f->bytes + 6, 2);
	const struct kafka_layout *layout = layout_of(key, version);
	struct kafka_request *request;
	struct sv client;
	int64_t acks = -1;

	(void)follow;
	if (is_doubtful(c, f->bytes) || !is_request(f->bytes, f->n))
		return false;
	client = kafka_names_keep(k->names, read_client(&r, kafka_api_is_flexible(key, version)));
	if (!sv_is_absent(client))
		c->client_id = client;
	request = kafka_queue_add(&c->queue, &k->store);
	if (request == NULL)
		return true;
	request->correlation = (int32_t)number_at(f->bytes + 8, 4);
	request->key = (int16_t)key;
	request->version = (int16_t)version;
	request->client = client;
	request->end = f->sequence + (uint32_t)f->size;
	request->begun_us = f->us;
	request->place = f->place;
	request->is_replica = is_replica(client);
	k->counts.requests++;
	k->counts.newer += kafka_group_layout(key) != NULL && layout == NULL;
	if (layout != NULL && layout->request != NULL && !read_request(c, request, &r, layout, &acks)) {
		k->counts.damaged++;
		c->is_damaged = c->phase == KAFKA_DOUBTED;
	}
	if (key == KAFKA_PRODUCE && acks == 0)
		kafka_queue_drop_newest(&c->queue, &k->store);
	if (key == KAFKA_SASL_HANDSHAKE && version == 0)
		c->is_raw = true;
	return !c->is_damaged;
}

static bool begins_request(void *context, const struct kafka_piece *p)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (p->captured < REQUEST_HEAD_BYTES || !is_request(p->bytes, p->captured))
		return false;
	if (sv_is_absent(c->client_id) || head_bytes(p->bytes) > p->captured)
		return true;
	return sv_eq(c->client_id, (struct sv){ (const char *)p->bytes + REQUEST_HEAD_BYTES,
						head_bytes(p->bytes) - REQUEST_HEAD_BYTES });
}

static const struct kafka_framing requests = {
	.header_bytes = REQUEST_HEAD_BYTES,
	.size = request_size,
	.wanted = request_wanted,
	.frame = take_request,
	.begins = begins_request,
};

/* ---- answers ---- */

static uint64_t answer_size(void *context, const uint8_t *header)
{
	int64_t size = number_at(header, 4);

	(void)context;
	return size >= ANSWER_SIZE_LEAST && size <= SIZE_MOST ? (uint64_t)size + 4 : 0;
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
	const struct kafka_request *r = waiting(c, (int32_t)number_at(header + 4, 4));
	const struct kafka_layout *layout = r != NULL ? layout_of(r->key, r->version) : NULL;

	if (layout == NULL || layout->response == NULL)
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

static void end_fetch(struct kafka_conn *c)
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
	const struct kafka_layout *layout = layout_of(r->key, r->version);

	if (r->key != KAFKA_FETCH || layout == NULL || r->is_replica)
		return false;
	c->fetch = take_fetch(c->kafka);
	if (c->fetch == NULL)
		return false;
	kafka_fetch_begin(c->fetch, r->version, kafka_api_is_flexible(r->key, r->version), size);
	c->fetching = r;
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
	struct kafka_request *r = kafka_queue_answer(&c->queue, &k->store, (int32_t)number_at(f->bytes + 4, 4));
	const struct kafka_layout *layout;
	int64_t now_us = c->now_us;

	end_fetch(c);
	if (r == NULL)
		return false;
	k->counts.connections += c->phase == KAFKA_DOUBTED;
	c->phase = KAFKA_KNOWN;
	k->counts.answers++;
	note_arrival(r);
	layout = layout_of(r->key, r->version);
	/* The header of an answer to ApiVersions is never flexible, so that every client can read it (KIP-511). */
	body.flexible = kafka_api_is_flexible(r->key, r->version);
	if (r->key != KAFKA_API_VERSIONS)
		kafka_read_tags(&body);
	/* A frame in several segments is read when it is whole, and was answered when it began. */
	c->now_us = f->us;
	kafka_report_answer(c, r, layout != NULL && layout->response != NULL ? &body : NULL);
	c->turn_us = c->now_us;
	c->now_us = now_us;
	*follow = follow_fetch(c, r, f->size - ANSWER_HEAD_BYTES);
	if (!*follow)
		kafka_queue_release(&k->store, r);
	return true;
}

static void take_range(void *context, const struct kafka_range *range)
{
	kafka_report_range(context, range);
}

static void take_rest(void *context, const uint8_t *bytes, uint64_t n)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (c->fetch != NULL)
		kafka_fetch_take(c->fetch, bytes, n, &(struct kafka_fetch_user){ take_range, c });
}

static bool begins_answer(void *context, const struct kafka_piece *p)
{
	const struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	return p->captured >= ANSWER_HEAD_BYTES && answer_size(context, p->bytes) > 0 &&
	       kafka_queue_has(&c->queue, (int32_t)number_at(p->bytes + 4, 4));
}

static const struct kafka_framing answer_framing = {
	.header_bytes = ANSWER_HEAD_BYTES,
	.size = answer_size,
	.wanted = answer_wanted,
	.frame = take_answer,
	.rest = take_rest,
	.begins = begins_answer,
};

/* ---- SASL without headers (SaslHandshake 0): lengths and tokens, until a request comes ---- */

static uint64_t token_size(void *context, const uint8_t *header)
{
	int64_t size = number_at(header, 4);

	(void)context;
	return size >= 0 && size <= SIZE_MOST ? (uint64_t)size + 4 : 0;
}

/* As much as tells a request from a token, and its body when it is one. */
static size_t token_wanted(void *context, const uint8_t *header, uint64_t size)
{
	(void)context;
	(void)header;
	return size < KAFKA_BUFFER_BYTES ? (size_t)size : KAFKA_BUFFER_BYTES;
}

static bool take_token(void *context, const struct kafka_frame *f, bool *follow)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;
	struct kafka_piece p = { .bytes = f->bytes, .captured = f->n };

	if (!begins_request(context, &p))
		return true;
	c->is_raw = false;
	return take_request(context, f, follow);
}

static size_t token_length_alone(void *context, const uint8_t *header, uint64_t size)
{
	(void)context;
	(void)header;
	(void)size;
	return 4;
}

static bool pass_token(void *context, const struct kafka_frame *f, bool *follow)
{
	(void)context;
	(void)f;
	(void)follow;
	return true;
}

static const struct kafka_framing token_framing = {
	.header_bytes = 4,
	.size = token_size,
	.wanted = token_wanted,
	.frame = take_token,
	.begins = begins_request,
};

static const struct kafka_framing token_answer_framing = {
	.header_bytes = 4,
	.size = token_size,
	.wanted = token_length_alone,
	.frame = pass_token,
	.begins = begins_answer,
};

/* ---- TLS ---- */

static uint64_t record_size(void *context, const uint8_t *header)
{
	int64_t length = (int64_t)header[3] << 8 | header[4];

	(void)context;
	if (header[0] < TLS_FIRST_TYPE || header[0] > TLS_LAST_TYPE || header[1] != 3 || length > TLS_RECORD_MOST)
		return 0;
	return (uint64_t)length + TLS_HEAD_BYTES;
}

static size_t record_wanted(void *context, const uint8_t *header, uint64_t size)
{
	(void)context;
	(void)header;
	(void)size;
	return TLS_HEAD_BYTES;
}

static void take_beat(void *context, const struct kafka_tls_beat *beat)
{
	kafka_report_beat(context, beat);
}

static bool take_record(void *context, const struct kafka_frame *f, bool *follow)
{
	const struct kafka_side *side = context;

	(void)follow;
	if (f->bytes[0] == TLS_APPLICATION_DATA)
		kafka_tls_record(side->conn->tls, side->side == side->conn->client, f->size, f->us, &f->place,
				 take_beat, side->conn);
	return true;
}

static bool begins_record(void *context, const struct kafka_piece *p)
{
	return p->captured >= TLS_HEAD_BYTES && record_size(context, p->bytes) > 0;
}

static const struct kafka_framing record_framing = {
	.header_bytes = TLS_HEAD_BYTES,
	.size = record_size,
	.wanted = record_wanted,
	.frame = take_record,
	.begins = begins_record,
};

/* ---- conversations ---- */

static const struct kafka_framing *framing_of(const struct kafka_conn *c, unsigned side)
{
	if (c->phase == KAFKA_HIDDEN)
		return &record_framing;
	if (c->is_raw)
		return side == c->client ? &token_framing : &token_answer_framing;
	return side == c->client ? &requests : &answer_framing;
}

struct kafka *kafka_new(struct arena *a, struct tcp_report *report)
{
	struct kafka *k = arena_alloc(a, sizeof *k);

	k->arena = k->pool.arena = k->store.arena = a;
	k->report = report;
	k->names = kafka_names_new(a);
	return k;
}

static struct kafka_conn *open_conversation(struct kafka *k, struct tcp_conn *t)
{
	struct kafka_conn *c = k->free;

	if (c != NULL)
		k->free = c->next;
	else
		c = arena_alloc(k->arena, sizeof *c);
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

static void forget_requests(struct kafka_conn *c)
{
	struct kafka_request *r;

	end_fetch(c);
	while ((r = kafka_queue_pop(&c->queue)) != NULL)
		kafka_queue_release(&c->kafka->store, r);
}

static void close_conversation(struct kafka_conn *c)
{
	struct kafka *k = c->kafka;

	kafka_report_delivered(c);
	forget_requests(c);
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
	if (p->captured >= REQUEST_HEAD_BYTES && is_request(p->bytes, p->captured) && !is_doubtful(c, p->bytes)) {
		c->has_client = true;
		c->client = side;
		return true;
	}
	/* In a conversation the side that was called is the server. */
	if (begins_record(&c->side[side], p) && turn_hidden(c, TCP_A))
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

void kafka_segment(struct kafka *k, struct tcp_conn *t, unsigned side, const struct segment *s, int64_t now_us)
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

void kafka_cut(struct kafka *k, struct tcp_conn *t)
{
	struct kafka_conn *c = t->kafka;

	if (c == NULL)
		return;
	kafka_report_delivered(c);
	forget_requests(c);
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
	return k->counts;
}
