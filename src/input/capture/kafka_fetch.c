/* SPDX-License-Identifier: MIT */
/*
 * FetchResponse.json, and the record batch of KIP-98 (RecordBatch: magic 2) or
 * the older message sets. A unit is what is read in one go: it is tried again
 * when more of it has come.
 */

#include "input/capture/kafka_fetch.h"

#include <stddef.h>
#include <string.h>

/* base offset 8, length 4, leader epoch 4, magic 1, crc 4, attributes 2, last offset delta 4 */
#define BATCH_HEAD_BYTES 27
/* base offset 8, length 4, crc 4, magic 1 */
#define MESSAGE_HEAD_BYTES 17
/* Of a batch or a message set's entry, before the bytes that its length counts. */
#define BATCH_LENGTH_AT 8
#define BATCH_COUNTED_FROM 12
#define MAGIC_AT 16
#define ATTRIBUTES_AT 21
#define DELTA_AT 23
#define ATTRIBUTE_CONTROL 0x20

enum step { STEP_HEAD, STEP_TOPIC, STEP_PARTITION, STEP_ABORTED, STEP_RECORDS, STEP_BATCH, STEP_PARTITION_END,
	    STEP_TOPIC_END, STEP_DONE };

typedef bool step_fn(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user);

static bool is_fine(const struct kafka_reader *r)
{
	return r->state == KAFKA_READ_FINE;
}

/* ---- steps: true when the unit was there; they change f only then ---- */

static bool take_head(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	size_t topics;

	(void)user;
	kafka_read_tags(r);	/* of the header */
	kafka_read_skip(r, f->version >= 1 ? 4 : 0);
	kafka_read_skip(r, f->version >= 7 ? 6 : 0);
	topics = kafka_read_count(r);
	if (!is_fine(r))
		return false;
	f->topics = topics;
	f->step = topics > 0 ? STEP_TOPIC : STEP_DONE;
	return true;
}

static bool take_topic(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	struct sv topic;
	size_t partitions;

	(void)user;
	if (f->version >= 13) {
		topic.p = (const char *)kafka_read_bytes(r, 16);
		topic.n = topic.p != NULL ? 16 : 0;
	} else {
		topic = kafka_read_text(r);
	}
	partitions = kafka_read_count(r);
	if (!is_fine(r) || topic.n > sizeof f->topic)
		return false;
	if (topic.n > 0)
		memcpy(f->topic, topic.p, topic.n);
	f->topic_n = topic.n;
	f->topics--;
	f->partitions = partitions;
	f->step = partitions > 0 ? STEP_PARTITION : STEP_TOPIC_END;
	return true;
}

static void tell(const struct kafka_fetch *f, struct kafka_range *range, const struct kafka_fetch_user *user)
{
	struct sv name = { f->topic, f->topic_n };

	*(f->version >= 13 ? &range->topic_id : &range->topic) = name;
	range->partition = f->partition;
	range->error = f->error;
	user->range(user->context, range);
}

static bool take_partition(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	int64_t partition = kafka_read_int(r, 4), error = kafka_read_int(r, 2);
	size_t aborted;

	kafka_read_skip(r, 8);
	kafka_read_skip(r, f->version >= 4 ? 8 : 0);
	kafka_read_skip(r, f->version >= 5 ? 8 : 0);
	aborted = f->version >= 4 ? kafka_read_count(r) : 0;
	if (!is_fine(r))
		return false;
	f->partitions--;
	f->partition = partition;
	f->error = error;
	f->aborted = aborted;
	f->step = aborted > 0 ? STEP_ABORTED : STEP_RECORDS;
	if (error != 0) {
		struct kafka_range range = { 0 };

		tell(f, &range, user);
	}
	return true;
}

static bool take_aborted(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	(void)user;
	kafka_read_skip(r, 16);
	kafka_read_tags(r);
	if (!is_fine(r))
		return false;
	if (--f->aborted == 0)
		f->step = STEP_RECORDS;
	return true;
}

static bool take_records(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	int64_t bytes;

	(void)user;
	kafka_read_skip(r, f->version >= 11 ? 4 : 0);
	bytes = kafka_read_length(r, false);
	if (!is_fine(r))
		return false;
	f->records = bytes > 0 ? (uint64_t)bytes : 0;
	f->step = f->records > 0 ? STEP_BATCH : STEP_PARTITION_END;
	return true;
}

/* Marks of transactions are delivered to nobody. */
static void tell_batch(const struct kafka_fetch *f, const uint8_t *p, const struct kafka_fetch_user *user)
{
	struct kafka_range range = { .has_offsets = true, .has_end = true, .offset = kafka_read_number(p, 8) };
	int64_t delta = 0;

	if (p[MAGIC_AT] >= 2) {
		delta = kafka_read_number(p + DELTA_AT, 4);
		if ((kafka_read_number(p + ATTRIBUTES_AT, 2) & ATTRIBUTE_CONTROL) != 0)
			return;
	}
	if (range.offset < 0 || range.offset > INT64_MAX / 2 || delta < 0)
		return;
	range.end_offset = range.offset + delta + 1;
	tell(f, &range, user);
}

/* The last may be cut short by the broker, in the middle of its head even. */
static bool take_batch(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	const uint8_t *p;
	size_t head = MESSAGE_HEAD_BYTES;
	int64_t length;
	uint64_t whole;

	if (f->records < MESSAGE_HEAD_BYTES) {
		f->skip = f->records;
		f->records = 0;
		f->step = STEP_PARTITION_END;
		return true;
	}
	if ((size_t)(r->end - r->at) > MAGIC_AT && r->at[MAGIC_AT] >= 2)
		head = BATCH_HEAD_BYTES;
	if (f->records < head)
		head = MESSAGE_HEAD_BYTES;
	p = kafka_read_bytes(r, head);
	if (p == NULL)
		return false;
	length = kafka_read_number(p + BATCH_LENGTH_AT, 4);
	whole = length > 0 ? (uint64_t)length + BATCH_COUNTED_FROM : 0;
	if (whole < head) {
		f->lost = true;
		return true;
	}
	if (whole <= f->records && (head == BATCH_HEAD_BYTES || p[MAGIC_AT] < 2))
		tell_batch(f, p, user);
	if (whole > f->records)
		whole = f->records;
	f->skip = whole - head;
	f->records -= whole;
	f->step = f->records > 0 ? STEP_BATCH : STEP_PARTITION_END;
	return true;
}

static bool take_partition_end(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	(void)user;
	kafka_read_tags(r);
	if (!is_fine(r))
		return false;
	f->step = f->partitions > 0 ? STEP_PARTITION : STEP_TOPIC_END;
	return true;
}

static bool take_topic_end(struct kafka_fetch *f, struct kafka_reader *r, const struct kafka_fetch_user *user)
{
	(void)user;
	kafka_read_tags(r);
	if (!is_fine(r))
		return false;
	f->step = f->topics > 0 ? STEP_TOPIC : STEP_DONE;
	return true;
}

static step_fn *const steps[] = {
	[STEP_HEAD] = take_head,
	[STEP_TOPIC] = take_topic,
	[STEP_PARTITION] = take_partition,
	[STEP_ABORTED] = take_aborted,
	[STEP_RECORDS] = take_records,
	[STEP_BATCH] = take_batch,
	[STEP_PARTITION_END] = take_partition_end,
	[STEP_TOPIC_END] = take_topic_end,
};

/* ---- the walk ---- */

static struct kafka_reader reader_of(const struct kafka_fetch *f, const uint8_t *bytes, size_t n, uint64_t beyond)
{
	return (struct kafka_reader){ .at = bytes, .end = bytes + n, .flexible = f->flexible,
				      .beyond = beyond > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)beyond };
}

/* Tries the unit over the bytes; how many it took, or 0 when it wants more. */
static size_t try_unit(struct kafka_fetch *f, const uint8_t *bytes, size_t n, uint64_t beyond, bool *done,
		       const struct kafka_fetch_user *user)
{
	struct kafka_reader r = reader_of(f, bytes, n, beyond);

	*done = steps[f->step](f, &r, user);
	if (*done)
		return (size_t)(r.at - bytes);
	if (r.state != KAFKA_READ_CUT)
		f->lost = true;
	return 0;
}

/* Moves what is missing of a unit from the bytes to those kept before. */
static size_t complete_unit(struct kafka_fetch *f, const uint8_t *bytes, size_t n, const struct kafka_fetch_user *user)
{
	size_t before = f->have, room = sizeof f->unit - before, added = n < room ? n : room, taken;
	bool done;

	memcpy(f->unit + before, bytes, added);
	taken = try_unit(f, f->unit, before + added, f->left + (n - added), &done, user);
	if (!done) {
		f->have = before + added;
		f->lost = f->lost || f->have == sizeof f->unit;
		return added;
	}
	f->have = 0;
	/* A unit that was not whole before takes all that was kept, but one that needs no bytes. */
	if (taken < before) {
		memmove(f->unit, f->unit + taken, before - taken);
		f->have = before - taken;
		return 0;
	}
	return taken - before;
}

/* As many units as are whole, one after the other; returns how many bytes they took. */
static size_t take_units(struct kafka_fetch *f, const uint8_t *bytes, size_t n, const struct kafka_fetch_user *user)
{
	struct kafka_reader r = reader_of(f, bytes, n, f->left);
	const uint8_t *start = bytes;
	bool is_done = true;

	while (is_done && f->step != STEP_DONE && f->skip == 0 && !f->lost && r.at < r.end) {
		start = r.at;
		is_done = steps[f->step](f, &r, user);
	}
	if (is_done)
		return (size_t)(r.at - bytes);
	if (r.state != KAFKA_READ_CUT || (size_t)(r.end - start) > sizeof f->unit) {
		f->lost = true;
		return (size_t)(start - bytes);
	}
	f->have = (size_t)(r.end - start);
	memcpy(f->unit, start, f->have);
	return n;
}

static size_t take_unit(struct kafka_fetch *f, const uint8_t *bytes, size_t n, const struct kafka_fetch_user *user)
{
	return f->have > 0 ? complete_unit(f, bytes, n, user) : take_units(f, bytes, n, user);
}

/* Of a batch whose head was cut off its offset may be known. */
static void lose(struct kafka_fetch *f, uint64_t n, const struct kafka_fetch_user *user)
{
	f->left -= n < f->left ? n : f->left;
	if (f->skip >= n) {
		f->skip -= n;
		return;
	}
	if (f->step == STEP_BATCH && f->skip == 0 && f->have >= 8) {
		struct kafka_range range = { .has_offsets = true, .offset = kafka_read_number(f->unit, 8) };

		if (range.offset >= 0)
			tell(f, &range, user);
	}
	f->lost = true;
}

void kafka_fetch_begin(struct kafka_fetch *f, int version, bool flexible, uint64_t size)
{
	struct kafka_fetch *next = f->next;

	memset(f, 0, offsetof(struct kafka_fetch, topic));
	f->next = next;
	f->version = version;
	f->flexible = flexible;
	f->left = size;
}

void kafka_fetch_take(struct kafka_fetch *f, const uint8_t *bytes, uint64_t n, const struct kafka_fetch_user *user)
{
	if (f->lost)
		return;
	if (bytes == NULL) {
		if (n > 0)
			lose(f, n, user);
		return;
	}
	f->left -= n < f->left ? n : f->left;
	while (n > 0 && !f->lost && f->step != STEP_DONE) {
		size_t taken = f->skip > 0 ? (size_t)(n < f->skip ? n : f->skip) : 0;

		if (taken > 0)
			f->skip -= taken;
		else
			taken = take_unit(f, bytes, (size_t)n, user);
		bytes += taken;
		n -= taken;
	}
}
