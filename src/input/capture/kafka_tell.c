/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_tell.h. */

#include "input/capture/kafka_tell.h"

#include <inttypes.h>
#include <stdio.h>

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_committed.h"
#include "input/capture/kafka_group.h"
#include "input/capture/kafka_report.h"

/* Partitions of an assignment as a text; a longer list is left out rather than cut. */
#define PARTITIONS_BYTES 8192

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
	kafka_report_begin(&out, x->conn, EVENT_WIRE_CONFIG, x->request);
	event_set_text(&out, FIELD_KEY, sv_of(key));
	event_set_text(&out, FIELD_VALUE, sv_of(text));
	kafka_report_put(x->conn, &out);
}

/* Without a group it says nothing of one. */
static void put_of_group(struct exchange *x, struct event *out)
{
	if (event_has(out, FIELD_GROUP))
		kafka_report_put(x->conn, out);
}

/* Each once. */
static void put_member(struct exchange *x, struct sv member)
{
	struct kafka_conn *c = x->conn;
	struct event out;

	if (member.n == 0 || sv_eq(c->member, member))
		return;
	c->member = member;
	kafka_report_begin(&out, c, EVENT_WIRE_MEMBER, x->request);
	event_set_text(&out, FIELD_MEMBER, member);
	put_of_group(x, &out);
}

static void put_heartbeat(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;
	char error[32];

	kafka_report_begin(&out, x->conn, EVENT_WIRE_HEARTBEAT, x->request);
	kafka_report_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	kafka_report_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	kafka_report_put(x->conn, &out);
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

	kafka_report_begin(&out, x->conn, EVENT_WIRE_JOINED, x->request);
	kafka_report_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	kafka_report_name(&out, FIELD_PROTOCOL, kafka_text(f, KAFKA_PROTOCOL));
	kafka_report_name(&out, FIELD_CLIENT_REASON, x->request->reason);
	if (kafka_number(f, KAFKA_GENERATION, -1) >= 0)
		event_set_int(&out, FIELD_GENERATION, kafka_number(f, KAFKA_GENERATION, -1));
	x->conn->leads = kafka_text(f, KAFKA_LEADER).n > 0 && sv_eq(kafka_text(f, KAFKA_LEADER), kafka_text(f, KAFKA_MEMBER));
	if (kafka_has(f, KAFKA_MEMBER) && kafka_text(f, KAFKA_LEADER).n > 0)
		event_set_text(&out, FIELD_STATE, x->conn->leads ? SV("leader") : SV("follower"));
	kafka_report_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	put_of_group(x, &out);
}

static void put_synced(struct exchange *x, const struct kafka_facts *f)
{
	struct event out;
	char error[32];

	kafka_report_begin(&out, x->conn, EVENT_WIRE_SYNCED, x->request);
	kafka_report_name(&out, FIELD_MEMBER, kafka_text(f, KAFKA_MEMBER));
	if (kafka_number(f, KAFKA_GENERATION, -1) >= 0)
		event_set_int(&out, FIELD_GENERATION, kafka_number(f, KAFKA_GENERATION, -1));
	kafka_report_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	if (x->conn->leads && x->request->key == KAFKA_SYNC_GROUP)
		event_set_text(&out, FIELD_STATE, SV("leader"));
	if (kafka_number(f, KAFKA_ERROR, 0) == 0)
		set_partitions(&out, &x->partitions);
	put_of_group(x, &out);
}

static void put_left(struct exchange *x, struct sv member, struct sv instance, struct sv reason, int64_t code)
{
	struct event out;
	char error[32];

	kafka_report_begin(&out, x->conn, EVENT_WIRE_LEFT, x->request);
	kafka_report_name(&out, FIELD_MEMBER, member);
	kafka_report_name(&out, FIELD_INSTANCE, instance);
	kafka_report_name(&out, FIELD_CLIENT_REASON, reason);
	kafka_report_error(&out, code, error);
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

	x->partitions.is_over = sv_is_absent(bytes) || !sv_agree(protocol, SV("consumer")) ||
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

	kafka_report_begin(&out, x->conn, type, x->request);
	kafka_report_name(&out, FIELD_GROUP, kafka_text(f, KAFKA_GROUP));
	event_set_text(&out, FIELD_TOPIC, topic);
	event_set_int(&out, FIELD_PARTITION, kafka_number(f, KAFKA_PARTITION, 0));
	if (offset->known && offset->value >= 0)
		event_set_int(&out, FIELD_OFFSET, offset->value);
	kafka_report_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
	if (!sv_is_absent(topic))
		put_of_group(x, &out);
}

static void each_committed(struct exchange *x, enum kafka_what array, const struct kafka_facts *f)
{
	struct sv topic = kafka_names_keep(x->conn->kafka->names, topic_of(x->conn, f));
	const int64_t partition = kafka_number(f, KAFKA_PARTITION, 0);
	const struct kafka_item *item = item_of(x->request, topic, partition);
	struct kafka_number offset = { item != NULL, item != NULL ? item->offset : 0 };

	(void)array;
	if (sv_is_absent(topic))
		return;
	if (kafka_number(f, KAFKA_ERROR, 0) == 0 && offset.value >= 0) {
		kafka_committed_take(x->conn, x->request, topic, partition, &offset);
		return;
	}
	kafka_committed_tell(x->conn, topic, partition);
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
	kafka_report_begin(&out, x->conn, EVENT_WIRE_COORDINATOR, x->request);
	kafka_report_name(&out, FIELD_GROUP, kafka_text(f, KAFKA_GROUP));
	snprintf(node, sizeof node, "%.*s:%" PRId64, SV_ARG(host), kafka_number(f, KAFKA_PORT, 0));
	if (host.n > 0 && kafka_has(f, KAFKA_PORT))
		event_set_text(&out, FIELD_NODE, sv_of(node));
	kafka_report_error(&out, kafka_number(f, KAFKA_ERROR, 0), error);
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
	kafka_report_begin(&out, x->conn, EVENT_WIRE_CLIENT, x->request);
	event_set_text(&out, FIELD_VALUE, x->request->reason);
	kafka_report_put(x->conn, &out);
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

void kafka_tell_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body)
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
