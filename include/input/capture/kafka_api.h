/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_API_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_API_H

/* Kafka's requests by their key: names, and from which version they are flexible (KIP-482). */

#include <stdbool.h>
#include <stdint.h>

/* Those that the code speaks of. */
enum kafka_key {
	KAFKA_PRODUCE = 0,
	KAFKA_FETCH = 1,
	KAFKA_KEY_METADATA = 3,
	KAFKA_CONTROLLED_SHUTDOWN = 7,
	KAFKA_OFFSET_COMMIT = 8,
	KAFKA_OFFSET_FETCH = 9,
	KAFKA_FIND_COORDINATOR = 10,
	KAFKA_JOIN_GROUP = 11,
	KAFKA_HEARTBEAT = 12,
	KAFKA_LEAVE_GROUP = 13,
	KAFKA_SYNC_GROUP = 14,
	KAFKA_SASL_HANDSHAKE = 17,
	KAFKA_API_VERSIONS = 18,
	KAFKA_TXN_OFFSET_COMMIT = 28,
	KAFKA_SASL_AUTHENTICATE = 36,
	KAFKA_CONSUMER_GROUP_HEARTBEAT = 68,
	KAFKA_SHARE_GROUP_HEARTBEAT = 76,
	KAFKA_STREAMS_GROUP_HEARTBEAT = 88,
};

#define KAFKA_API_NEVER 127

struct kafka_api {
	const char *name;
	int8_t flexible_from;	/* KAFKA_API_NEVER: no version is */
	int8_t latest;
};

/* NULL when no request has this key. */
const struct kafka_api *kafka_api(int key);
bool kafka_api_is_flexible(int key, int version);
/* NULL when the code is not known. */
const char *kafka_error_name(int64_t code);

#endif
