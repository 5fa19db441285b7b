/* SPDX-License-Identifier: MIT */
/*
 * Layouts by version, from the message definitions of Kafka 4.4
 * (clients/src/main/resources/common/message) and, for what 4.x dropped, the
 * schemas of 0.9 to 2.1 (common/protocol/Protocol.java).
 *
 * A field's row: its type, what it means here, and the versions that have it.
 */

#include "input/capture/kafka_group.h"

#include "input/capture/kafka_api.h"

#define ALL 0, KAFKA_LATEST
#define SINCE(v) v, KAFKA_LATEST
#define UNTIL(v) 0, v
#define END { KAFKA_END, KAFKA_SKIP, ALL }
#define REST { KAFKA_REST, KAFKA_SKIP, ALL }
#define THROTTLE(v) { KAFKA_I32, KAFKA_SKIP, SINCE(v) }

/* ---- membership, classic protocol ---- */

static const struct kafka_row heartbeat_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_TEXT, KAFKA_INSTANCE, SINCE(3) },
	END,
};

static const struct kafka_row heartbeat_response[] = {
	THROTTLE(1),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	END,
};

static const struct kafka_row join_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_I32, KAFKA_SESSION_MS, ALL },
	{ KAFKA_I32, KAFKA_REBALANCE_MS, SINCE(1) },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_TEXT, KAFKA_INSTANCE, SINCE(5) },
	{ KAFKA_TEXT, KAFKA_PROTOCOL_TYPE, ALL },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_BLOB, KAFKA_SKIP, ALL },
		END,
	{ KAFKA_TEXT, KAFKA_REASON, SINCE(8) },
	END,
};

static const struct kafka_row join_response[] = {
	THROTTLE(2),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_TEXT, KAFKA_PROTOCOL_TYPE, SINCE(7) },
	{ KAFKA_TEXT, KAFKA_PROTOCOL, ALL },
	{ KAFKA_TEXT, KAFKA_LEADER, ALL },
	{ KAFKA_I8, KAFKA_SKIP, SINCE(9) },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_ARRAY, KAFKA_EACH_MEMBER, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, SINCE(5) },
		{ KAFKA_BLOB, KAFKA_METADATA, ALL },
		END,
	END,
};

static const struct kafka_row sync_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_TEXT, KAFKA_INSTANCE, SINCE(3) },
	{ KAFKA_TEXT, KAFKA_PROTOCOL_TYPE, SINCE(5) },
	{ KAFKA_TEXT, KAFKA_PROTOCOL, SINCE(5) },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_BLOB, KAFKA_SKIP, ALL },
		END,
	END,
};

static const struct kafka_row sync_response[] = {
	THROTTLE(1),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	{ KAFKA_TEXT, KAFKA_PROTOCOL_TYPE, SINCE(5) },
	{ KAFKA_TEXT, KAFKA_PROTOCOL, SINCE(5) },
	{ KAFKA_BLOB, KAFKA_ASSIGNMENT, ALL },
	END,
};

static const struct kafka_row leave_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, UNTIL(2) },
	{ KAFKA_ARRAY, KAFKA_EACH_MEMBER, SINCE(3) },
		{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
		{ KAFKA_TEXT, KAFKA_INSTANCE, ALL },
		{ KAFKA_TEXT, KAFKA_REASON, SINCE(5) },
		END,
	END,
};

static const struct kafka_row leave_response[] = {
	THROTTLE(1),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	{ KAFKA_ARRAY, KAFKA_EACH_MEMBER, SINCE(3) },
		{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
		{ KAFKA_TEXT, KAFKA_INSTANCE, ALL },
		{ KAFKA_I16, KAFKA_ERROR, ALL },
		END,
	END,
};

static const struct kafka_row coordinator_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, UNTIL(3) },
	{ KAFKA_I8, KAFKA_KEY_TYPE, SINCE(1) },
	{ KAFKA_LIST, KAFKA_SKIP, SINCE(4) },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		END,
	END,
};

static const struct kafka_row coordinator_response[] = {
	THROTTLE(1),
	{ KAFKA_I16, KAFKA_ERROR, UNTIL(3) },
	{ KAFKA_TEXT, KAFKA_ERROR_TEXT, 1, 3 },
	{ KAFKA_I32, KAFKA_NODE, UNTIL(3) },
	{ KAFKA_TEXT, KAFKA_HOST, UNTIL(3) },
	{ KAFKA_I32, KAFKA_PORT, UNTIL(3) },
	{ KAFKA_ARRAY, KAFKA_EACH_COORDINATOR, SINCE(4) },
		{ KAFKA_TEXT, KAFKA_GROUP, ALL },
		{ KAFKA_I32, KAFKA_NODE, ALL },
		{ KAFKA_TEXT, KAFKA_HOST, ALL },
		{ KAFKA_I32, KAFKA_PORT, ALL },
		{ KAFKA_I16, KAFKA_ERROR, ALL },
		{ KAFKA_TEXT, KAFKA_ERROR_TEXT, ALL },
		END,
	END,
};

/* ---- membership, KIP-848, KIP-932, KIP-1071 ---- */

#define TOPIC_PARTITIONS(array)                                                                                \
	{ KAFKA_ARRAY, array, ALL },                                                                           \
		{ KAFKA_UUID, KAFKA_TOPIC_ID, ALL },                                                           \
		{ KAFKA_LIST, KAFKA_EACH_PARTITION, ALL },                                                     \
			{ KAFKA_I32, KAFKA_PARTITION, ALL },                                                   \
			END,                                                                                   \
		END

#define TEXTS(from_version)                                                                                    \
	{ KAFKA_LIST, KAFKA_SKIP, from_version },                                                              \
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                               \
		END

/* What is null has not changed since the last. Partitions that the member owns are no news. */
static const struct kafka_row consumer_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_TEXT, KAFKA_INSTANCE, ALL },
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	{ KAFKA_I32, KAFKA_REBALANCE_MS, ALL },
	TEXTS(ALL),
	{ KAFKA_TEXT, KAFKA_SKIP, SINCE(1) },
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_UUID, KAFKA_SKIP, ALL },
		{ KAFKA_LIST, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			END,
		END,
	END,
};

static const struct kafka_row consumer_response[] = {
	THROTTLE(0),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	{ KAFKA_TEXT, KAFKA_ERROR_TEXT, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_I32, KAFKA_HEARTBEAT_MS, ALL },
	{ KAFKA_OPTION, KAFKA_HAS_ASSIGNMENT, ALL },
		TOPIC_PARTITIONS(KAFKA_SKIP),
		END,
	END,
};

static const struct kafka_row share_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	TEXTS(ALL),
	END,
};

#define TOPIC_INFOS                                                                                            \
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },                                                                      \
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                               \
		{ KAFKA_I32, KAFKA_SKIP, ALL },                                                                \
		{ KAFKA_I16, KAFKA_SKIP, ALL },                                                                \
		{ KAFKA_ARRAY, KAFKA_SKIP, ALL },                                                              \
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                       \
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                       \
			END,                                                                                   \
		END

#define INDICES                                                                                                \
	{ KAFKA_LIST, KAFKA_SKIP, ALL },                                                                       \
		{ KAFKA_I16, KAFKA_SKIP, ALL },                                                                \
		END

#define TASKS                                                                                                  \
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },                                                                      \
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                               \
		{ KAFKA_LIST, KAFKA_SKIP, ALL },                                                               \
			{ KAFKA_I32, KAFKA_SKIP, ALL },                                                        \
			END,                                                                                   \
		END

#define TASK_OFFSETS                                                                                           \
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },                                                                      \
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                               \
		{ KAFKA_I32, KAFKA_SKIP, ALL },                                                                \
		{ KAFKA_I64, KAFKA_SKIP, ALL },                                                                \
		END

static const struct kafka_row streams_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_I32, KAFKA_SKIP, ALL },
	{ KAFKA_TEXT, KAFKA_INSTANCE, ALL },
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	{ KAFKA_I32, KAFKA_REBALANCE_MS, ALL },
	{ KAFKA_OPTION, KAFKA_SKIP, ALL },
		{ KAFKA_I32, KAFKA_SKIP, ALL },
		{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },
			TEXTS(ALL),
			TEXTS(ALL),
			TOPIC_INFOS,
			TEXTS(ALL),
			TOPIC_INFOS,
			{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
				INDICES,
				INDICES,
				INDICES,
				END,
			END,
		END,
	TASKS,
	TASKS,
	TASKS,
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	{ KAFKA_OPTION, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_I16, KAFKA_SKIP, ALL },
		END,
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		END,
	TASK_OFFSETS,
	TASK_OFFSETS,
	{ KAFKA_I8, KAFKA_SKIP, ALL },
	END,
};

/* How the lag is written changed with version 1 (KIP-1331). A partition list of an endpoint looks like a task. */
static const struct kafka_row streams_response[] = {
	THROTTLE(0),
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	{ KAFKA_TEXT, KAFKA_ERROR_TEXT, ALL },
	{ KAFKA_TEXT, KAFKA_MEMBER, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, ALL },
	{ KAFKA_I32, KAFKA_HEARTBEAT_MS, ALL },
	{ KAFKA_I32, KAFKA_SKIP, UNTIL(0) },
	{ KAFKA_I32, KAFKA_SKIP, ALL },
	{ KAFKA_I64, KAFKA_SKIP, SINCE(1) },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_I8, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		END,
	TASKS,
	TASKS,
	TASKS,
	{ KAFKA_I8, KAFKA_SKIP, SINCE(1) },
	{ KAFKA_I32, KAFKA_SKIP, ALL },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_STRUCT, KAFKA_SKIP, ALL },
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },
			{ KAFKA_I16, KAFKA_SKIP, ALL },
			END,
		TASKS,
		TASKS,
		END,
	END,
};

/* ---- offsets ---- */

static const struct kafka_row commit_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, SINCE(1) },
	{ KAFKA_TEXT, KAFKA_MEMBER, SINCE(1) },
	{ KAFKA_TEXT, KAFKA_INSTANCE, SINCE(7) },
	{ KAFKA_I64, KAFKA_SKIP, 2, 4 },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(9) },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(10) },
		{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			{ KAFKA_I64, KAFKA_OFFSET, ALL },
			{ KAFKA_I32, KAFKA_SKIP, SINCE(6) },
			{ KAFKA_I64, KAFKA_SKIP, 1, 1 },
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },
			END,
		END,
	END,
};

static const struct kafka_row commit_response[] = {
	THROTTLE(3),
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(9) },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(10) },
		{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			{ KAFKA_I16, KAFKA_ERROR, ALL },
			END,
		END,
	END,
};

static const struct kafka_row txn_commit_request[] = {
	{ KAFKA_TEXT, KAFKA_SKIP, ALL },
	{ KAFKA_TEXT, KAFKA_GROUP, ALL },
	{ KAFKA_I64, KAFKA_SKIP, ALL },
	{ KAFKA_I16, KAFKA_SKIP, ALL },
	{ KAFKA_I32, KAFKA_GENERATION, SINCE(3) },
	{ KAFKA_TEXT, KAFKA_MEMBER, SINCE(3) },
	{ KAFKA_TEXT, KAFKA_INSTANCE, SINCE(3) },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(5) },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(6) },
		{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			{ KAFKA_I64, KAFKA_OFFSET, ALL },
			{ KAFKA_I32, KAFKA_SKIP, SINCE(2) },
			{ KAFKA_TEXT, KAFKA_SKIP, ALL },
			END,
		END,
	END,
};

static const struct kafka_row txn_commit_response[] = {
	THROTTLE(0),
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(5) },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(6) },
		{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			{ KAFKA_I16, KAFKA_ERROR, ALL },
			END,
		END,
	END,
};

static const struct kafka_row offsets_request[] = {
	{ KAFKA_TEXT, KAFKA_GROUP, UNTIL(7) },
	{ KAFKA_ARRAY, KAFKA_SKIP, UNTIL(7) },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_LIST, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			END,
		END,
	{ KAFKA_ARRAY, KAFKA_EACH_MEMBER, SINCE(8) },
		{ KAFKA_TEXT, KAFKA_GROUP, ALL },
		{ KAFKA_TEXT, KAFKA_MEMBER, SINCE(9) },
		{ KAFKA_I32, KAFKA_GENERATION, SINCE(9) },
		{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
			{ KAFKA_TEXT, KAFKA_SKIP, UNTIL(9) },
			{ KAFKA_UUID, KAFKA_SKIP, SINCE(10) },
			{ KAFKA_LIST, KAFKA_SKIP, ALL },
				{ KAFKA_I32, KAFKA_SKIP, ALL },
				END,
			END,
		END,
	{ KAFKA_I8, KAFKA_SKIP, SINCE(7) },
	END,
};

#define FETCHED_PARTITIONS(leader_epoch)                                                                       \
	{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },                                                            \
		{ KAFKA_I32, KAFKA_PARTITION, ALL },                                                           \
		{ KAFKA_I64, KAFKA_OFFSET, ALL },                                                              \
		{ KAFKA_I32, KAFKA_SKIP, leader_epoch },                                                       \
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },                                                               \
		{ KAFKA_I16, KAFKA_ERROR, ALL },                                                               \
		END

static const struct kafka_row offsets_response[] = {
	THROTTLE(3),
	{ KAFKA_ARRAY, KAFKA_SKIP, UNTIL(7) },
		{ KAFKA_TEXT, KAFKA_TOPIC, ALL },
		FETCHED_PARTITIONS(SINCE(5)),
		END,
	{ KAFKA_I16, KAFKA_ERROR, 2, 7 },
	{ KAFKA_ARRAY, KAFKA_EACH_MEMBER, SINCE(8) },
		{ KAFKA_TEXT, KAFKA_GROUP, ALL },
		{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
			{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(9) },
			{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(10) },
			FETCHED_PARTITIONS(ALL),
			END,
		{ KAFKA_I16, KAFKA_ERROR, ALL },
		END,
	END,
};

/* ---- the rest that is read ---- */

static const struct kafka_row fetch_request_head[] = {
	{ KAFKA_I32, KAFKA_SKIP, UNTIL(14) },
	{ KAFKA_I32, KAFKA_MAX_WAIT_MS, ALL },
	REST,
};

static const struct kafka_row fetch_request[] = {
	{ KAFKA_I32, KAFKA_SKIP, UNTIL(14) },
	{ KAFKA_I32, KAFKA_MAX_WAIT_MS, ALL },
	{ KAFKA_I32, KAFKA_SKIP, ALL },
	{ KAFKA_I32, KAFKA_SKIP, SINCE(3) },
	{ KAFKA_I8, KAFKA_SKIP, SINCE(4) },
	{ KAFKA_I32, KAFKA_SKIP, SINCE(7) },
	{ KAFKA_I32, KAFKA_SKIP, SINCE(7) },
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, UNTIL(12) },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(13) },
		{ KAFKA_ARRAY, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_SKIP, SINCE(9) },
			{ KAFKA_I64, KAFKA_OFFSET, ALL },
			{ KAFKA_I32, KAFKA_SKIP, SINCE(12) },
			{ KAFKA_I64, KAFKA_SKIP, SINCE(5) },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			END,
		END,
	{ KAFKA_ARRAY, KAFKA_SKIP, SINCE(7) },
		{ KAFKA_TEXT, KAFKA_SKIP, UNTIL(12) },
		{ KAFKA_UUID, KAFKA_SKIP, SINCE(13) },
		{ KAFKA_LIST, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			END,
		END,
	{ KAFKA_TEXT, KAFKA_SKIP, SINCE(11) },
	END,
};

/* Topics, for their ids. */
static const struct kafka_row metadata_response[] = {
	THROTTLE(3),
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_I32, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, ALL },
		{ KAFKA_I32, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_SKIP, SINCE(1) },
		END,
	{ KAFKA_TEXT, KAFKA_SKIP, SINCE(2) },
	{ KAFKA_I32, KAFKA_SKIP, SINCE(1) },
	{ KAFKA_ARRAY, KAFKA_EACH_TOPIC, ALL },
		{ KAFKA_I16, KAFKA_ERROR, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, ALL },
		{ KAFKA_UUID, KAFKA_TOPIC_ID, SINCE(10) },
		{ KAFKA_I8, KAFKA_SKIP, SINCE(1) },
		{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
			{ KAFKA_I16, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, ALL },
			{ KAFKA_I32, KAFKA_SKIP, SINCE(7) },
			{ KAFKA_LIST, KAFKA_SKIP, ALL },
				{ KAFKA_I32, KAFKA_SKIP, ALL },
				END,
			{ KAFKA_LIST, KAFKA_SKIP, ALL },
				{ KAFKA_I32, KAFKA_SKIP, ALL },
				END,
			{ KAFKA_LIST, KAFKA_SKIP, SINCE(5) },
				{ KAFKA_I32, KAFKA_SKIP, ALL },
				END,
			END,
		{ KAFKA_I32, KAFKA_SKIP, SINCE(8) },
		END,
	{ KAFKA_I32, KAFKA_SKIP, 8, 10 },
	{ KAFKA_I16, KAFKA_SKIP, SINCE(13) },
	END,
};

static const struct kafka_row versions_request[] = {
	{ KAFKA_TEXT, KAFKA_SOFTWARE, SINCE(3) },
	{ KAFKA_TEXT, KAFKA_SOFTWARE_VERSION, SINCE(3) },
	{ KAFKA_TEXT, KAFKA_SKIP, SINCE(5) },
	{ KAFKA_I32, KAFKA_SKIP, SINCE(5) },
	END,
};

/* When the version is refused the answer is in the layout of version 0, which begins alike. */
static const struct kafka_row versions_response[] = {
	{ KAFKA_I16, KAFKA_ERROR, ALL },
	REST,
};

/* Records follow, which are not ours. */
static const struct kafka_row produce_request[] = {
	{ KAFKA_TEXT, KAFKA_SKIP, SINCE(3) },
	{ KAFKA_I16, KAFKA_ACKS, ALL },
	REST,
};

/* By key. */
static const struct kafka_layout layouts[] = {
	[KAFKA_HEARTBEAT] = { 4, heartbeat_request, heartbeat_response, 0, NULL },
	[KAFKA_FETCH] = { 18, fetch_request, NULL, 16, fetch_request_head },
	[KAFKA_OFFSET_COMMIT] = { 10, commit_request, commit_response, 0, NULL },
	[KAFKA_CONSUMER_GROUP_HEARTBEAT] = { 1, consumer_request, consumer_response, 0, NULL },
	[KAFKA_SHARE_GROUP_HEARTBEAT] = { 1, share_request, consumer_response, 0, NULL },
	[KAFKA_STREAMS_GROUP_HEARTBEAT] = { 1, streams_request, streams_response, 0, NULL },
	[KAFKA_JOIN_GROUP] = { 9, join_request, join_response, 0, NULL },
	[KAFKA_SYNC_GROUP] = { 5, sync_request, sync_response, 0, NULL },
	[KAFKA_LEAVE_GROUP] = { 5, leave_request, leave_response, 0, NULL },
	[KAFKA_FIND_COORDINATOR] = { 6, coordinator_request, coordinator_response, 0, NULL },
	[KAFKA_OFFSET_FETCH] = { 10, offsets_request, offsets_response, 0, NULL },
	[KAFKA_TXN_OFFSET_COMMIT] = { 6, txn_commit_request, txn_commit_response, 0, NULL },
	[KAFKA_KEY_METADATA] = { 13, NULL, metadata_response, 0, NULL },
	[KAFKA_API_VERSIONS] = { 5, versions_request, versions_response, 0, NULL },
	/* A transactional id may be as long as a name in Kafka. */
	[KAFKA_PRODUCE] = { 13, produce_request, NULL, 300, NULL },
};
#define LAYOUT_COUNT (int)(sizeof layouts / sizeof layouts[0])

const struct kafka_layout *kafka_group_layout(int key)
{
	const struct kafka_layout *layout = key >= 0 && key < LAYOUT_COUNT ? &layouts[key] : NULL;

	return layout != NULL && (layout->request != NULL || layout->response != NULL) ? layout : NULL;
}

/* ---- the consumer protocol (ConsumerProtocolAssignment) ---- */

static const struct kafka_row assignment[] = {
	{ KAFKA_ARRAY, KAFKA_SKIP, ALL },
		{ KAFKA_TEXT, KAFKA_TOPIC, ALL },
		{ KAFKA_LIST, KAFKA_EACH_PARTITION, ALL },
			{ KAFKA_I32, KAFKA_PARTITION, ALL },
			END,
		END,
	{ KAFKA_BLOB, KAFKA_SKIP, ALL },
	END,
};

void kafka_group_assignment(struct sv bytes, struct kafka_facts *facts, const struct kafka_visitor *visitor)
{
	const uint8_t *at = (const uint8_t *)bytes.p;
	struct kafka_reader r = { .at = at, .end = at + bytes.n };
	int64_t version = kafka_read_int(&r, 2);

	facts->set = 0;
	if (r.state == KAFKA_READ_FINE && version >= 0)
		kafka_layout_read(&r, assignment, version > KAFKA_LATEST ? KAFKA_LATEST : (int)version, facts, visitor);
}
