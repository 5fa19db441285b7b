/* SPDX-License-Identifier: MIT */
/* Frames whose content is not, or must not be, read: tokens of SASL, records of TLS. */

#include "input/capture/kafka_opaque.h"

#include "input/capture/kafka_answer.h"
#include "input/capture/kafka_report.h"
#include "input/capture/kafka_request.h"

/* RFC 8446 5.1 */
#define TLS_HEAD_BYTES 5
#define TLS_RECORD_MOST (16384 + 256)
enum { TLS_FIRST_TYPE = 20, TLS_HANDSHAKE = 22, TLS_APPLICATION_DATA = 23, TLS_LAST_TYPE = 24 };

/* ---- SASL without headers (SaslHandshake 0): lengths and tokens, until a request comes ---- */

static uint64_t token_size(void *context, const uint8_t *header)
{
	int64_t size = kafka_read_number(header, 4);

	(void)context;
	return size >= 0 && size <= KAFKA_SIZE_MOST ? (uint64_t)size + 4 : 0;
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

	if (!kafka_request_begins(context, &p))
		return true;
	c->is_raw = false;
	return kafka_request_take(context, f, follow);
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

const struct kafka_framing kafka_token_framing = {
	.header_bytes = 4,
	.size = token_size,
	.wanted = token_wanted,
	.frame = take_token,
	.begins = kafka_request_begins,
};

const struct kafka_framing kafka_token_answer_framing = {
	.header_bytes = 4,
	.size = token_size,
	.wanted = token_length_alone,
	.frame = pass_token,
	.begins = kafka_answer_begins,
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

bool kafka_opaque_is_hello(const uint8_t *header)
{
	return header[0] == TLS_HANDSHAKE && header[1] == 3;
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

bool kafka_opaque_begins_record(void *context, const struct kafka_piece *p)
{
	return p->captured >= TLS_HEAD_BYTES && record_size(context, p->bytes) > 0;
}

const struct kafka_framing kafka_record_framing = {
	.header_bytes = TLS_HEAD_BYTES,
	.size = record_size,
	.wanted = record_wanted,
	.frame = take_record,
	.begins = kafka_opaque_begins_record,
};
