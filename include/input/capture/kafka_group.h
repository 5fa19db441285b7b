/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_GROUP_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_GROUP_H

/* The layouts of the requests and responses that tell of groups, and of what members tell one another within them. */

#include "input/capture/kafka_layout.h"

struct kafka_layout {
	int8_t latest;	/* version that the rows know; of later ones the header alone is read */
	const struct kafka_row *request, *response;
	/*
	 * All that is looked at of the request stands in so many bytes of its body; 0: anywhere. It is read whole
	 * nevertheless while it is in doubt that this is Kafka.
	 */
	uint16_t request_bytes;
	/* Of versions from KAFKA_HEAD_SINCE on, the rows of what is looked at there; NULL: those of all. */
	const struct kafka_row *request_head;
};
/* Of Fetch: from here on what is not read begins with fields of fixed size, which end beyond request_bytes. */
#define KAFKA_HEAD_SINCE 4

/* NULL when bodies of this request are not read. */
const struct kafka_layout *kafka_group_layout(int key);

/*
 * The consumer protocol's assignment inside SyncGroup: it begins with its own version and is never flexible. A newer
 * version is read as the latest known, as Kafka does itself.
 */
void kafka_group_assignment(struct sv bytes, struct kafka_facts *facts, const struct kafka_visitor *visitor);

#endif
