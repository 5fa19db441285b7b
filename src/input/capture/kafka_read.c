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

void kafka_read_skip(struct kafka_reader *r, uint64_t n)
{
	if (n > kafka_read_left(r))
		fail(r, KAFKA_READ_BAD);
	else
		(void)kafka_read_bytes(r, (size_t)n);
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

/* In the flexible encoding all lengths are the number and one, and 0 is null. */
static int64_t read_size(struct kafka_reader *r, unsigned classic_bytes)
{
	uint64_t size;

	if (!r->flexible)
		return kafka_read_int(r, classic_bytes);
	size = kafka_read_varint(r);
	if (size > kafka_read_left(r) + UINT64_C(1)) {
		fail(r, KAFKA_READ_BAD);
		return 0;
	}
	return (int64_t)size - 1;
}

static int64_t within_frame(struct kafka_reader *r, int64_t size)
{
	if (r->state != KAFKA_READ_FINE)
		return -1;
	if (size < -1 || (size > 0 && (uint64_t)size > kafka_read_left(r))) {
		fail(r, KAFKA_READ_BAD);
		return -1;
	}
	return size;
}

int64_t kafka_read_length(struct kafka_reader *r, bool string)
{
	return within_frame(r, read_size(r, string ? 2 : 4));
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

/* No element takes less than a byte. */
size_t kafka_read_count(struct kafka_reader *r)
{
	int64_t n = kafka_read_length(r, false);

	return n > 0 ? (size_t)n : 0;
}

void kafka_read_tags(struct kafka_reader *r)
{
	uint64_t tags = r->flexible ? kafka_read_varint(r) : 0;

	for (uint64_t i = 0; i < tags && r->state == KAFKA_READ_FINE; i++) {
		(void)kafka_read_varint(r);
		kafka_read_skip(r, kafka_read_varint(r));
	}
}
