/* SPDX-License-Identifier: MIT */
/* Bytes of a frame in, values out. Kafka's protocol guide; KIP-482 for the flexible encoding. */

#include "input/capture/kafka_read.h"

#define VARINT_BYTES_MOST 10

static void fail(struct kafka_reader *r, enum kafka_read_state why)
{
	if (r->state == KAFKA_READ_FINE)
		r->state = why;
	r->at = r->end;
}

const uint8_t *kafka_read_short(struct kafka_reader *r, size_t n)
{
	fail(r, n > kafka_read_left(r) ? KAFKA_READ_BAD : KAFKA_READ_CUT);
	return NULL;
}

void kafka_read_fail(struct kafka_reader *r)
{
	fail(r, KAFKA_READ_BAD);
}

uint64_t kafka_read_varint(struct kafka_reader *r)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_BYTES_MOST; i++) {
		const uint8_t *p = kafka_read_bytes(r, 1);

		if (p == NULL)
			return 0;
		value |= (uint64_t)(*p & 0x7f) << (7 * i);
		if ((*p & 0x80) == 0)
			return value;
	}
	fail(r, KAFKA_READ_BAD);
	return 0;
}

/* All lengths are the number and one, and 0 is null. */
int64_t kafka_read_compact(struct kafka_reader *r)
{
	uint64_t size = kafka_read_varint(r);

	if (size > kafka_read_left(r) + UINT64_C(1)) {
		fail(r, KAFKA_READ_BAD);
		return 0;
	}
	return (int64_t)size - 1;
}

static struct sv read_view(struct kafka_reader *r, bool string)
{
	int64_t n = kafka_read_length(r, string);
	const uint8_t *p = n < 0 ? NULL : kafka_read_bytes(r, (size_t)n);

	return p == NULL ? SV_ABSENT : (struct sv){ (const char *)p, (size_t)n };
}

struct sv kafka_read_text(struct kafka_reader *r)
{
	return read_view(r, true);
}

struct sv kafka_read_blob(struct kafka_reader *r)
{
	return read_view(r, false);
}

void kafka_read_tag_section(struct kafka_reader *r)
{
	uint64_t tags = kafka_read_varint(r);

	for (uint64_t i = 0; i < tags && r->state == KAFKA_READ_FINE; i++) {
		(void)kafka_read_varint(r);
		kafka_read_skip(r, kafka_read_varint(r));
	}
}
