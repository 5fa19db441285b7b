/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_REQUEST_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_REQUEST_H

/* Requests: what they look like, and what is kept of them until they are answered. */

#include "input/capture/kafka_conn.h"
#include "input/capture/kafka_group.h"

/* socket.request.max.bytes */
#define KAFKA_SIZE_MOST (INT64_C(100) * 1024 * 1024)
/* size 4, key 2, version 2, correlation id 4, length of the client id 2 */
#define KAFKA_REQUEST_HEAD_BYTES 14

/* Whether a request begins so: n bytes from its start, at least those of the head. */
bool kafka_request_is(const uint8_t *p, size_t n);
/*
 * Of the first request of a connection: ZooKeeper's frames look like requests whose client id is empty. Kafka's have
 * one, or say that they have none.
 */
bool kafka_request_is_doubtful(const struct kafka_conn *c, const uint8_t *header);
/* NULL when bodies of this request, or of this version of it, are not read. */
const struct kafka_layout *kafka_request_layout(int key, int version);

extern const struct kafka_framing kafka_request_framing;
/* Of that framing, for one that has others beside requests. */
bool kafka_request_take(void *context, const struct kafka_frame *f, bool *follow);
bool kafka_request_begins(void *context, const struct kafka_piece *p);

#endif
