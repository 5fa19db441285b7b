/* SPDX-License-Identifier: MIT */
/* Frames of the asking side: headers by KIP-482, bodies by the tables of kafka_group.c. */

#include "input/capture/kafka_request.h"

#include <stdio.h>
#include <string.h>

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_opaque.h"

/* What size counts of the head, without a client id. */
#define REQUEST_SIZE_LEAST 10
/* A client id longer than this is none. */
#define CLIENT_ID_BYTES_MOST 255
/* Releases newer than the tables may have so many versions more. */
#define VERSIONS_AHEAD 4

/* ---- headers ---- */

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] == 0x7f)
			return false;
	return true;
}

/* n bytes from the start of a frame, at least those of the head. */
bool kafka_request_is(const uint8_t *p, size_t n)
{
	int64_t size = kafka_read_number(p, 4), key = kafka_read_number(p + 4, 2), version = kafka_read_number(p + 6, 2);
	int64_t client = kafka_read_number(p + 12, 2);
	const struct kafka_api *api = kafka_api((int)key);

	if (size < REQUEST_SIZE_LEAST || size > KAFKA_SIZE_MOST || api == NULL)
		return false;
	if (version < 0 || version > api->latest + VERSIONS_AHEAD)
		return false;
	if (client < -1 || client > CLIENT_ID_BYTES_MOST || client + REQUEST_SIZE_LEAST > size)
		return false;
	n -= KAFKA_REQUEST_HEAD_BYTES;
	return client <= 0 || is_printable(p + KAFKA_REQUEST_HEAD_BYTES, n < (size_t)client ? n : (size_t)client);
}

/* How much of a request stands before its body. */
static size_t head_bytes(const uint8_t *p)
{
	int64_t client = kafka_read_number(p + 12, 2);

	return KAFKA_REQUEST_HEAD_BYTES + (client > 0 ? (size_t)client : 0);
}

/* Reads the header; the reader stands at the body then. */
static struct sv read_client(struct kafka_reader *r, bool flexible)
{
	struct sv client;

	kafka_read_skip(r, KAFKA_REQUEST_HEAD_BYTES - 2);
	client = kafka_read_text(r);	/* in the classic encoding always */
	r->flexible = flexible;
	kafka_read_tags(r);
	return client;
}

/* ---- requests ---- */

const struct kafka_layout *kafka_request_layout(int key, int version)
{
	const struct kafka_layout *layout = kafka_group_layout(key);

	return layout != NULL && version <= layout->latest ? layout : NULL;
}

/* While a request is read. */
struct asking {
	struct kafka_conn *conn;
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
	item = kafka_item_add(&a->conn->kafka->store, &a->request->items);
	if (item == NULL)
		return;
	item->name = keep_topic(a->conn->kafka, f);
	item->partition = kafka_number(f, KAFKA_PARTITION, 0);
	item->offset = kafka_number(f, KAFKA_OFFSET, 0);
}

/* Texts stand at the end of what facts there are. */
static bool has_names(const struct kafka_facts *f)
{
	return f->set >> KAFKA_GROUP != 0;
}

/* before: what most said the last time. */
static void keep_name(struct kafka_names *names, const struct kafka_facts *f, enum kafka_what what, struct sv before,
		      struct sv *to)
{
	if (kafka_has(f, what))
		*to = kafka_names_again(names, kafka_text(f, what), before);
}

static void keep_names(struct kafka_conn *c, struct kafka_request *r, const struct kafka_facts *f)
{
	struct kafka_names *names = c->kafka->names;

	keep_name(names, f, KAFKA_GROUP, c->group, &r->group);
	keep_name(names, f, KAFKA_MEMBER, c->member, &r->member);
	keep_name(names, f, KAFKA_INSTANCE, SV_ABSENT, &r->instance);
	keep_name(names, f, KAFKA_REASON, SV_ABSENT, &r->reason);
	keep_name(names, f, KAFKA_PROTOCOL_TYPE, SV_ABSENT, &r->protocol);
}

static void keep_number(const struct kafka_facts *f, enum kafka_what what, struct kafka_number *to)
{
	if (kafka_has(f, what))
		*to = (struct kafka_number){ true, kafka_number(f, what, 0) };
}

static void keep_numbers(struct kafka_request *r, const struct kafka_facts *f)
{
	keep_number(f, KAFKA_GENERATION, &r->generation);
	keep_number(f, KAFKA_SESSION_MS, &r->session_ms);
	keep_number(f, KAFKA_REBALANCE_MS, &r->rebalance_ms);
	keep_number(f, KAFKA_MAX_WAIT_MS, &r->max_wait_ms);
	keep_number(f, KAFKA_KEY_TYPE, &r->key_type);
}

static void keep_member(struct asking *a, const struct kafka_facts *f)
{
	struct kafka_item *item = kafka_item_add(&a->conn->kafka->store, &a->request->items);

	if (item != NULL) {
		item->name = kafka_names_keep(a->conn->kafka->names, kafka_text(f, KAFKA_MEMBER));
		item->instance = kafka_names_keep(a->conn->kafka->names, kafka_text(f, KAFKA_INSTANCE));
		item->reason = kafka_names_keep(a->conn->kafka->names, kafka_text(f, KAFKA_REASON));
	}
	/* Of an OffsetFetch for several groups the first speaks for it; of a LeaveGroup of several members, too. */
	if (sv_is_absent(a->request->member))
		keep_names(a->conn, a->request, f);
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

/* What comes next cannot be read to its end, nor contradict the length of the frame: it need not be tried. */
static bool is_head_enough(const struct kafka_layout *layout, int version, const struct kafka_reader *body)
{
	return layout->request_head != NULL && version >= KAFKA_HEAD_SINCE && body->beyond >= layout->request_bytes &&
	       (size_t)(body->end - body->at) <= layout->request_bytes;
}

/* False when the body contradicts its length. */
static bool read_request(struct kafka_conn *c, struct kafka_request *r, struct kafka_reader *body,
			 const struct kafka_layout *layout, int64_t *acks)
{
	const struct kafka_row *rows = is_head_enough(layout, r->version, body) ? layout->request_head : layout->request;
	struct asking asking = { c, r };
	struct kafka_facts facts;

	kafka_layout_read(body, rows, r->version, &facts, &(struct kafka_visitor){ keep_element, &asking });
	if (body->state == KAFKA_READ_BAD)
		return false;
	if (has_names(&facts))
		keep_names(c, r, &facts);
	if (r->group.n > 0)
		c->group = r->group;
	keep_numbers(r, &facts);
	if (r->key == KAFKA_API_VERSIONS)
		keep_software(c->kafka, r, &facts);
	*acks = kafka_number(&facts, KAFKA_ACKS, -1);
	return true;
}

static uint64_t request_size(void *context, const uint8_t *header)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (kafka_request_is(header, KAFKA_REQUEST_HEAD_BYTES))
		return (uint64_t)kafka_read_number(header, 4) + 4;
	c->turns_hidden = c->phase == KAFKA_DOUBTED && kafka_opaque_is_hello(header);
	return 0;
}

/* Of what is not read, and of what must not be, the body is not even looked at. */
static size_t request_wanted(void *context, const uint8_t *header, uint64_t size)
{
	const struct kafka_layout *layout = kafka_request_layout((int)kafka_read_number(header + 4, 2), (int)kafka_read_number(header + 6, 2));
	const struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (layout == NULL || layout->request == NULL)
		return head_bytes(header);
	if (layout->request_bytes > 0 && c->phase == KAFKA_KNOWN && head_bytes(header) + layout->request_bytes < size)
		return head_bytes(header) + layout->request_bytes;
	return size < KAFKA_BUFFER_BYTES ? (size_t)size : KAFKA_BUFFER_BYTES;
}

/* ZooKeeper's frames look like requests without a client id; the first request must have one, or say that it has none. */
bool kafka_request_is_doubtful(const struct kafka_conn *c, const uint8_t *header)
{
	return c->phase == KAFKA_DOUBTED && c->queue.count == 0 && kafka_read_number(header + 12, 2) == 0;
}

/* Of the client that asked before: its name need not be looked at again. */
static bool is_of_client(const struct kafka_conn *c, const struct kafka_frame *f)
{
	return c->client_id.n > 0 && head_bytes(f->bytes) == KAFKA_REQUEST_HEAD_BYTES + c->client_id.n && head_bytes(f->bytes) <= f->n &&
	       memcmp(f->bytes + KAFKA_REQUEST_HEAD_BYTES, c->client_id.p, c->client_id.n) == 0;
}

static void keep_client(struct kafka_conn *c, struct sv *client)
{
	*client = kafka_names_again(c->kafka->names, *client, c->client_id);
	if (sv_is_absent(*client))
		return;
	c->client_id = *client;
	c->client_is_replica = is_replica(*client);
}

bool kafka_request_take(void *context, const struct kafka_frame *f, bool *follow)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;
	struct kafka *k = c->kafka;
	struct kafka_reader r = { .at = f->bytes, .end = f->bytes + f->n, .beyond = (size_t)(f->size - f->n) };
	const int key = (int)kafka_read_number(f->bytes + 4, 2), version = (int)kafka_read_number(f->bytes + 6, 2);
	const struct kafka_layout *layout = kafka_request_layout(key, version);
	const bool is_flexible = kafka_api_is_flexible(key, version);
	const bool of_client = is_of_client(c, f);
	struct kafka_request *request;
	struct sv client;
	int64_t acks = -1;

	(void)follow;
	/* Its head was looked at when its size was asked. */
	if (kafka_request_is_doubtful(c, f->bytes) || (!of_client && !kafka_request_is(f->bytes, f->n)))
		return false;
	client = read_client(&r, is_flexible);
	if (of_client)
		client = c->client_id;
	else
		keep_client(c, &client);
	request = kafka_queue_add(&c->queue, &k->store);
	if (request == NULL)
		return true;
	request->correlation = (int32_t)kafka_read_number(f->bytes + 8, 4);
	request->key = (int16_t)key;
	request->version = (int16_t)version;
	request->layout = layout;
	request->is_flexible = is_flexible;
	request->client = client;
	request->end = f->sequence + (uint32_t)f->size;
	request->begun_us = f->us;
	request->place = f->place;
	request->is_replica = !sv_is_absent(client) && c->client_is_replica;
	k->counts.requests++;
	k->counts.newer += layout == NULL && kafka_group_layout(key) != NULL;
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

bool kafka_request_begins(void *context, const struct kafka_piece *p)
{
	struct kafka_conn *c = ((struct kafka_side *)context)->conn;

	if (p->captured < KAFKA_REQUEST_HEAD_BYTES || !kafka_request_is(p->bytes, p->captured))
		return false;
	if (sv_is_absent(c->client_id) || head_bytes(p->bytes) > p->captured)
		return true;
	return sv_eq(c->client_id, (struct sv){ (const char *)p->bytes + KAFKA_REQUEST_HEAD_BYTES,
						head_bytes(p->bytes) - KAFKA_REQUEST_HEAD_BYTES });
}

const struct kafka_framing kafka_request_framing = {
	.header_bytes = KAFKA_REQUEST_HEAD_BYTES,
	.size = request_size,
	.wanted = request_wanted,
	.frame = kafka_request_take,
	.begins = kafka_request_begins,
};
