/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_report.h. */

#include "input/capture/kafka_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_group.h"

/* An answer is late that comes so long after it was due, or takes so many times what is usual; detectors are stricter. */
#define LATE_US (1 * US_PER_S)
#define LATE_TIMES 8
#define USUAL_SAMPLES_LEAST 8
/* Services and kinds of request of which latencies are kept: 300 bytes each. */
#define LATENCIES_MOST 2048
/* Partitions of an assignment as a text; a longer list is left out rather than cut. */
#define PARTITIONS_BYTES 8192

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

static void begin(struct event *e, struct kafka_conn *c, enum event_type type, const struct place *place,
		  int64_t start_us, int64_t end_us)
{
	event_init(e, type);
	e->place = *place;
	e->time.us = start_us;
	e->duration_us = end_us > start_us ? end_us - start_us : 0;
	set_path(e, c);
	event_set_text(e, FIELD_DIRECTION, c->client == TCP_A ? SV("ab") : SV("ba"));
}

static void put(const struct kafka_conn *c, const struct event *out)
{
	tcp_report_put(c->kafka->report, out);
}

static int64_t sent_us(const struct kafka_request *r)
{
	return r->sent_us != 0 ? r->sent_us : r->begun_us;
}

static void set_name(struct event *e, enum event_field f, struct sv name)
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
static void set_error(struct event *e, int64_t code, char text[32])
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
	set_name(e, FIELD_CLIENT, r->client);
	set_name(e, FIELD_GROUP, r->group);
	set_name(e, FIELD_MEMBER, r->member);
	set_name(e, FIELD_INSTANCE, r->instance);
	set_number(e, FIELD_GENERATION, &r->generation);
	if (r->received_us != 0)
		event_set_int(e, FIELD_RECEIVED_AT_US, r->received_us);
	if (r->sends > 1)
		event_set_int(e, FIELD_RETRANSMITS, r->sends - 1);
}

static void begin_request(struct event *out, struct kafka_conn *c, enum event_type type,
			  const struct kafka_request *r)
{
	begin(out, c, type, &r->place, sent_us(r), c->now_us);
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
	struct kafka_latency **bucket = &k->latency[latency_bucket(t, callee, r->key)], *l = *bucket;

	while (l != NULL && !(l->key == r->key && l->port == t->port[callee] &&
			      memcmp(&l->callee, &t->address[callee], sizeof l->callee) == 0))
		l = l->next;
	if (l != NULL || k->latencies >= LATENCIES_MOST)
		return l;
	l = arena_alloc(k->arena, sizeof *l);
	*l = (struct kafka_latency){ .next = *bucket, .callee = t->address[callee], .port = t->port[callee],
				     .key = r->key, .first = { sent_us(r), r->place } };
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
	return c->turn_us > sent_us(r) ? c->turn_us : sent_us(r);
}

/* By the time since it was its turn. */
static bool is_late(const struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, int64_t usual_us)
{
	int64_t us = end_us - turn_us(c, r), allowed;

	return allowed_us(c, r, &allowed) && us > allowed + LATE_US && us > usual_us * LATE_TIMES;
}

static void set_wait(struct event *e, const struct kafka_conn *c, const struct kafka_request *r, int64_t end_us)
{
	int64_t allowed, us = end_us - turn_us(c, r);

	event_set_int(e, FIELD_ELAPSED_MS, us > 0 ? us / US_PER_MS : 0);
	if (allowed_us(c, r, &allowed) && allowed > 0)
		event_set_int(e, FIELD_LIMIT_MS, allowed / US_PER_MS);
}

static void note_latency(struct kafka_conn *c, const struct kafka_request *r)
{
	struct kafka_latency *l = latency_of(c, r);
	int64_t us = c->now_us - sent_us(r), usual_us = 0;

	if (l != NULL && l->usual.count >= USUAL_SAMPLES_LEAST)
		usual_us = tcp_median_us(&l->usual);
	if (is_late(c, r, c->now_us, usual_us)) {
		struct event out;

		begin_request(&out, c, EVENT_WIRE_LATE, r);
		set_wait(&out, c, r, c->now_us);
		if (usual_us > 0)
			event_set_int(&out, FIELD_USUAL_US, usual_us);
		put(c, &out);
	}
	if (l == NULL)
		return;
	tcp_median_add(&l->usual, us);
	l->max_us = us > l->max_us ? us : l->max_us;
	l->last_us = c->now_us;
}

/* ---- answers ---- */

/* A list of topic-partitions that grows. */
struct partitions {
	char text[PARTITIONS_BYTES];
	size_t n;
	bool is_over;
};

/* While an answer is read. */
struct exchange {
	struct kafka_conn *conn;
	const struct kafka_request *request;
	struct partitions partitions;
};

static struct sv topic_of(struct kafka_conn *c, const struct kafka_facts *f)
{
	if (kafka_has(f, KAFKA_TOPIC_ID))
		return kafka_names_topic_of(c->kafka->names, kafka_text(f, KAFKA_TOPIC_ID));
	return kafka_text(f, KAFKA_TOPIC);
}

static void add_partition(struct exchange *x, const struct kafka_facts *f)
{
	struct partitions *p = &x->partitions;
	struct sv topic = topic_of(x->conn, f);
	size_t room = sizeof p->text - p->n;
	int n = snprintf(p->text + p->n, room, "%s%.*s-%" PRId64, p->n > 0 ? "," : "", SV_ARG(topic),
			 kafka_number(f, KAFKA_PARTITION, 0));

	if (n < 0 || (size_t)n >= room)
		p->is_over = true;
	else
		p->n += (size_t)n;
}

static void set_partitions(struct event *e, const struct partitions *p)
{
	if (!p->is_over)
		event_set_text(e, FIELD_PARTITIONS, (struct sv){ p->text, p->n });
}

static void tell_setting(struct exchange *x, const char *key, int64_t value, int64_t *told)
{
	struct event out;
	char text[32];

	if (value <= 0 || value == *told || x->request->group.n == 0)
		return;
	*told = value;
	snprintf(text, sizeof text, "%" PRId64, value);
	begin_request(&out, x->conn, EVENT_WIRE_CONFIG, x->request);
	event_set_text(&out, FIELD_KEY, sv_of(key));
	event_set_text(&out, FIELD_VALUE, sv_of(text));
	put(x->conn, &out);
}

/* Without a group it says nothing of one. */
static void put_of_group(struct exchange *x, struct event *out)
{
	if (event_has(out, FIELD_GROUP))
		put(x->conn, out);
}

/* Each once. */
static void put_member(struct exchange *x, struct sv member)
{
	struct kafka_conn *c = x->conn;
	struct event out;

	if (member.n == 0 || sv_eq(c->member, member))
		return;
	c->member = member;
	begin_request(&out, c, EVENT_WIRE_MEMBER, x->request);
	event_set_text(&out, FIELD_MEMBER, member);
	put_of_group(x, &out);
}

static void put_heartbeat(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;
	char error[32];

	begin_request(&out, x->conn, EVENT_WIRE_HEARTBEAT, x->request);
	set_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	set_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	put(x->conn, &out);
}

static void heartbeat_answered(struct exchange *x, const struct kafka_facts *f)
{
	put_member(x, x->request->member);
	put_heartbeat(x, f);
}

static void put_joined(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;
	char error[32];

	begin_request(&out, x->conn, EVENT_WIRE_JOINED, x->request);
	set_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	set_name(&out, FIELD_PROTOCOL, kafka_text(f, KAFKA_PROTOCOL));
	set_name(&out, FIELD_CLIENT_REASON, x->request->reason);
	if (kafka_number(f, KAFKA_GENERATION, -1) >= 0)
		event_set_int(&out, FIELD_GENERATION, kafka_number(f, KAFKA_GENERATION, -1));
	if (kafka_has(f, KAFKA_MEMBER) && kafka_text(f, KAFKA_LEADER).n > 0)
		event_set_text(&out, FIELD_STATE,
			       sv_eq(kafka_text(f, KAFKA_LEADER), kafka_text(f, KAFKA_MEMBER)) ? SV("leader")
											      : SV("follower"));
	set_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	put_of_group(x, &out);
}

static void put_synced(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;
	char error[32];

	begin_request(&out, x->conn, EVENT_WIRE_SYNCED, x->request);
	set_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	if (kafka_number(f, KAFKA_GENERATION, -1) >= 0)
		event_set_int(&out, FIELD_GENERATION, kafka_number(f, KAFKA_GENERATION, -1));
	set_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	if (kafka_number(f, KAFKA_ERROR, 0) == 0)
		set_partitions(&out, &x->partitions);
	put_of_group(x, &out);
}

static void put_left(struct exchange *x, struct sv member, struct sv instance, struct sv reason, int64_t code)
{
	struct event out;
	char error[32];

	begin_request(&out, x->conn, EVENT_WIRE_LEFT, x->request);
	set_name(&out, FIELD_MEMBER, member);
	set_name(&out, FIELD_INSTANCE, instance);
	set_name(&out, FIELD_CLIENT_REASON, reason);
	set_error(&out, code, error);
	put_of_group(x, &out);
}

/* KIP-848: a member joins with epoch 0, leaves with -1 or -2, and is told what it owns when that changes. */
static void group_heartbeat_answered(struct exchange *x, const struct kafka_facts *f)
{
	struct kafka_told *told = &x->conn->told;
	int64_t epoch = x->request->generation.known ? x->request->generation.value : 1;

	if (x->request->rebalance_ms.known)
		tell_setting(x, "max.poll.interval.ms", x->request->rebalance_ms.value, &told->rebalance_ms);
	tell_setting(x, "group.consumer.heartbeat.interval.ms", kafka_number(f, KAFKA_HEARTBEAT_MS, 0),
		     &told->heartbeat_ms);
	if (epoch < 0) {
		put_left(x, x->request->member, x->request->instance, SV_ABSENT, kafka_number(f, KAFKA_ERROR, 0));
		return;
	}
	put_member(x, kafka_names_keep(x->conn->kafka->names, kafka_text(f, KAFKA_MEMBER)));
	put_heartbeat(x, f);
	if (epoch == 0)
		put_joined(x, f);
	if (kafka_number(f, KAFKA_HAS_ASSIGNMENT, 0) != 0)
		put_synced(x, f);
}

static void join_answered(struct exchange *x, const struct kafka_facts *f)
{
	struct kafka_told *told = &x->conn->told;

	put_joined(x, f);
	if (kafka_number(f, KAFKA_ERROR, 0) != 0)
		return;
	put_member(x, kafka_names_keep(x->conn->kafka->names, kafka_text(f, KAFKA_MEMBER)));
	tell_setting(x, "session.timeout.ms", x->request->session_ms.value, &told->session_ms);
	tell_setting(x, "max.poll.interval.ms", x->request->rebalance_ms.value, &told->rebalance_ms);
}

static void each_assigned(void *context, enum kafka_what array, const struct kafka_facts *f)
{
	if (array == KAFKA_EACH_PARTITION)
		add_partition(context, f);
}

/* Assignments of Connect and others are not topic-partitions. */
static void sync_answered(struct exchange *x, const struct kafka_facts *f)
{
	struct sv protocol = kafka_text(f, KAFKA_PROTOCOL_TYPE);
	struct sv bytes = kafka_text(f, KAFKA_ASSIGNMENT);

	x->partitions.is_over = bytes.p == NULL || !sv_agree(protocol, SV("consumer")) ||
				!sv_agree(x->request->protocol, SV("consumer"));
	if (!x->partitions.is_over && bytes.n > 0) {
		struct kafka_facts assignment;

		kafka_group_assignment(bytes, &assignment, &(struct kafka_visitor){ each_assigned, x });
	}
	put_synced(x, f);
}

static const struct kafka_item *item_of(const struct kafka_request *r, struct sv name, int64_t partition)
{
	const struct kafka_item *item = r->items;

	while (item != NULL && !(item->partition == partition && sv_eq(item->name, name)))
		item = item->next;
	return item;
}

/* Since version 3 each member has an answer of its own. */
static void each_left(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	struct sv member = kafka_text(f, KAFKA_MEMBER);
	const struct kafka_item *item = x->request->items;

	(void)array;
	while (item != NULL && !sv_eq(item->name, member))
		item = item->next;
	put_left(x, member, kafka_text(f, KAFKA_INSTANCE), item != NULL ? item->reason : SV_ABSENT,
		 kafka_number(f, KAFKA_ERROR, 0));
}

/*
 * Before version 3 the one member of the request. After it, an answer whose
 * list is not at hand still says that the request was taken.
 */
static void leave_answered(struct exchange *x, const struct kafka_facts *f)
{
	if (x->request->version < 3 || kafka_number(f, KAFKA_ERROR, 0) != 0)
		put_left(x, x->request->member, x->request->instance, x->request->reason,
			 kafka_number(f, KAFKA_ERROR, 0));
}

static void put_position(struct exchange *x, enum event_type type, const struct kafka_facts *f, struct sv topic,
			 const struct kafka_number *offset)
{
	struct event out;
	char error[32];

	begin_request(&out, x->conn, type, x->request);
	set_name(&out, FIELD_GROUP, kafka_text(f, KAFKA_GROUP));
	event_set_text(&out, FIELD_TOPIC, topic);
	event_set_int(&out, FIELD_PARTITION, kafka_number(f, KAFKA_PARTITION, 0));
	if (offset->known && offset->value >= 0)
		event_set_int(&out, FIELD_OFFSET, offset->value);
	set_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	if (!sv_is_absent(topic))
		put_of_group(x, &out);
}

static void each_committed(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	struct sv topic = kafka_names_keep(x->conn->kafka->names, topic_of(x->conn, f));
	const struct kafka_item *item = item_of(x->request, topic, kafka_number(f, KAFKA_PARTITION, 0));
	struct kafka_number offset = { item != NULL, item != NULL ? item->offset : 0 };

	(void)array;
	put_position(x, EVENT_WIRE_COMMIT, f, topic, &offset);
}

static void each_offset(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	struct kafka_number offset = { kafka_has(f, KAFKA_OFFSET), kafka_number(f, KAFKA_OFFSET, 0) };

	if (array == KAFKA_EACH_PARTITION)
		put_position(x, EVENT_WIRE_COMMITTED, f, topic_of(x->conn, f), &offset);
}

/* Keys of other types are transactions and share partitions. */
static void put_coordinator(struct exchange *x, const struct kafka_facts *f)
{
	struct sv host = kafka_text(f, KAFKA_HOST);
	struct event out;
	char error[32], node[300];

	if (x->request->key_type.known && x->request->key_type.value != 0)
		return;
	begin_request(&out, x->conn, EVENT_WIRE_COORDINATOR, x->request);
	set_name(&out, FIELD_GROUP, kafka_text(f, KAFKA_GROUP));
	snprintf(node, sizeof node, "%.*s:%" PRId64, SV_ARG(host), kafka_number(f, KAFKA_PORT, 0));
	if (host.n > 0 && kafka_has(f, KAFKA_PORT))
		event_set_text(&out, FIELD_NODE, sv_of(node));
	set_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	put_of_group(x, &out);
}

static void each_coordinator(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	(void)array;
	put_coordinator(x, f);
}

static void coordinator_answered(struct exchange *x, const struct kafka_facts *f)
{
	if (x->request->version < 4)
		put_coordinator(x, f);
}

static void versions_answered(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;

	(void)f;
	if (x->request->reason.n == 0)
		return;
	begin_request(&out, x->conn, EVENT_WIRE_CLIENT, x->request);
	event_set_text(&out, FIELD_VALUE, x->request->reason);
	put(x->conn, &out);
}

static void each_topic(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	(void)array;
	kafka_names_topic(x->conn->kafka->names, kafka_text(f, KAFKA_TOPIC_ID), kafka_text(f, KAFKA_TOPIC));
}

static void each_owned(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	each_assigned(x, array, f);
}

/* What answers say: of each element while it is read, and at the end of what is at hand. */
static const struct {
	int key;
	void (*each)(struct exchange *x, enum kafka_what array, const struct kafka_facts *f);
	void (*answered)(struct exchange *x, const struct kafka_facts *f);
} answers[] = {
	{ KAFKA_HEARTBEAT, NULL, heartbeat_answered },
	{ KAFKA_CONSUMER_GROUP_HEARTBEAT, each_owned, group_heartbeat_answered },
	{ KAFKA_SHARE_GROUP_HEARTBEAT, each_owned, group_heartbeat_answered },
	{ KAFKA_STREAMS_GROUP_HEARTBEAT, NULL, group_heartbeat_answered },
	{ KAFKA_JOIN_GROUP, NULL, join_answered },
	{ KAFKA_SYNC_GROUP, NULL, sync_answered },
	{ KAFKA_LEAVE_GROUP, each_left, leave_answered },
	{ KAFKA_OFFSET_COMMIT, each_committed, NULL },
	{ KAFKA_TXN_OFFSET_COMMIT, each_committed, NULL },
	{ KAFKA_OFFSET_FETCH, each_offset, NULL },
	{ KAFKA_FIND_COORDINATOR, each_coordinator, coordinator_answered },
	{ KAFKA_API_VERSIONS, NULL, versions_answered },
	{ KAFKA_KEY_METADATA, each_topic, NULL },
};
#define ANSWER_COUNT (sizeof answers / sizeof answers[0])

struct visit {
	struct exchange *exchange;
	size_t answer;
};

static void visit_element(void *context, enum kafka_what array, const struct kafka_facts *f)
{
	const struct visit *v = context;

	if (answers[v->answer].each != NULL)
		answers[v->answer].each(v->exchange, array, f);
}

static void read_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body)
{
	const struct kafka_layout *layout = kafka_group_layout(r->key);
	struct exchange x;
	struct visit visit = { &x, 0 };
	struct kafka_facts facts;

	/* Not its text: that would cost more than all the rest. */
	x.conn = c;
	x.request = r;
	x.partitions.n = 0;
	x.partitions.is_over = false;
	while (visit.answer < ANSWER_COUNT && answers[visit.answer].key != r->key)
		visit.answer++;
	if (visit.answer == ANSWER_COUNT || layout == NULL)
		return;
	kafka_layout_read(body, layout->response, r->version, &facts, &(struct kafka_visitor){ visit_element, &visit });
	if (body->state == KAFKA_READ_BAD) {
		c->kafka->counts.damaged++;
		return;
	}
	/* Without its error nothing is known of an answer. */
	if (body->state == KAFKA_READ_CUT && !kafka_has(&facts, KAFKA_ERROR))
		return;
	x.partitions.is_over = x.partitions.is_over || body->state != KAFKA_READ_FINE;
	if (answers[visit.answer].answered != NULL)
		answers[visit.answer].answered(&x, &facts);
}

void kafka_report_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body)
{
	note_latency(c, r);
	if (body != NULL)
		read_answer(c, r, body);
}

/* ---- no answer ---- */

/* While the evidence goes on nobody knows whether an answer comes; one that is not due yet is no news. */
void kafka_report_unanswered(struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, bool censored)
{
	struct event out;

	if (censored && !is_late(c, r, end_us, 0))
		return;
	begin(&out, c, EVENT_WIRE_UNANSWERED, &r->place, sent_us(r), end_us);
	set_request(&out, r);
	set_wait(&out, c, r, end_us);
	if (r->received_us != 0)
		event_set_int(&out, FIELD_PENDING, 1);
	if (censored)
		event_set_int(&out, FIELD_CENSORED, 1);
	put(c, &out);
}

/* ---- what fetches deliver ---- */

static void put_delivered(struct kafka_conn *c, const struct kafka_item *item)
{
	struct event out;
	char error[32];

	begin(&out, c, EVENT_WIRE_FETCH, &item->place, item->us, item->us);
	set_name(&out, FIELD_CLIENT, c->client_id);
	event_set_text(&out, FIELD_TOPIC, item->name);
	event_set_int(&out, FIELD_PARTITION, item->partition);
	if (item->has_offset)
		event_set_int(&out, FIELD_OFFSET, item->offset);
	if (item->has_end)
		event_set_int(&out, FIELD_END_OFFSET, item->end_offset);
	set_error(&out, item->error, error);
	put(c, &out);
}

/* The list has the latest first. */
static struct kafka_item *reverse(struct kafka_item *list)
{
	struct kafka_item *reversed = NULL;

	while (list != NULL) {
		struct kafka_item *next = list->next;

		list->next = reversed;
		reversed = list;
		list = next;
	}
	return reversed;
}

void kafka_report_delivered(struct kafka_conn *c)
{
	c->delivered = reverse(c->delivered);
	for (const struct kafka_item *i = c->delivered; i != NULL; i = i->next)
		put_delivered(c, i);
	kafka_items_release(&c->kafka->store, &c->delivered);
}

/* Of this partition, and going on where it ended. */
static bool goes_on(const struct kafka_item *i, struct sv topic, const struct kafka_range *r)
{
	return i->partition == r->partition && i->error == r->error && i->has_offset == r->has_offsets &&
	       (!r->has_offsets || (i->has_end && r->has_end && i->end_offset <= r->offset)) && sv_eq(i->name, topic);
}

void kafka_report_range(struct kafka_conn *c, const struct kafka_range *r)
{
	struct kafka *k = c->kafka;
	struct sv topic = r->topic.n > 0 ? kafka_names_keep(k->names, r->topic) : kafka_names_topic_of(k->names, r->topic_id);
	int64_t second = c->now_us / US_PER_S;
	struct kafka_item *item = c->delivered;

	if (sv_is_absent(topic))
		return;
	if (second != c->delivered_second) {
		kafka_report_delivered(c);
		c->delivered_second = second;
		item = NULL;
	}
	while (item != NULL && !goes_on(item, topic, r))
		item = item->next;
	if (item != NULL) {
		item->end_offset = r->end_offset;
		return;
	}
	item = kafka_item_add(&k->store, &c->delivered);
	if (item == NULL)
		return;
	item->name = topic;
	item->partition = r->partition;
	item->error = r->error;
	item->has_offset = r->has_offsets;
	item->offset = r->offset;
	item->has_end = r->has_end;
	item->end_offset = r->end_offset;
	item->us = c->now_us;
	item->place = c->fetching != NULL ? c->fetching->place : (struct place){ 0 };
}

/* ---- the rest ---- */

void kafka_report_beat(struct kafka_conn *c, const struct kafka_tls_beat *beat)
{
	struct event out;

	begin(&out, c, EVENT_WIRE_HEARTBEAT, &beat->place, beat->us, beat->us);
	out.strength = STRENGTH_SUGGESTS;
	put(c, &out);
}

static void put_latency(struct kafka *k, const struct kafka_latency *l)
{
	const struct tcp_conn callee = { .address = { l->callee, l->callee }, .port = { l->port, l->port } };
	const struct kafka_request named = { .key = l->key };
	struct tcp_ends ends;
	struct event e;

	event_init(&e, EVENT_WIRE_LATENCY);
	e.place = l->first.place;
	e.time.us = l->first.us;
	e.duration_us = l->last_us > l->first.us ? l->last_us - l->first.us : 0;
	tcp_report_path(&e, &callee, &ends);
	e.set &= ~FIELD_BIT(FIELD_PATH_A);
	event_set_text(&e, FIELD_API, sv_of(api_name(&named)));
	event_set_int(&e, FIELD_SAMPLES, l->usual.count);
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
