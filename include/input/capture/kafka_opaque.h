/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_OPAQUE_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_OPAQUE_H

/* What passes over a connection and is not Kafka's own: only its lengths are looked at. */

#include "input/capture/kafka_conn.h"

/* After SaslHandshake 0, until a request comes: tokens of the client, and those of the broker. */
extern const struct kafka_framing kafka_token_framing, kafka_token_answer_framing;
/* TLS */
extern const struct kafka_framing kafka_record_framing;
bool kafka_opaque_begins_record(void *context, const struct kafka_piece *p);
/* The first five bytes are of a TLS handshake. */
bool kafka_opaque_is_hello(const uint8_t *header);

#endif
