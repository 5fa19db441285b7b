/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_FETCH_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_FETCH_H

/*
 * A Fetch response as it comes, however long: the ranges of offsets that it
 * delivers, and its errors. Of the records nothing is looked at but the head of
 * each batch, which is never compressed.
 */

#include "input/capture/kafka_read.h"

/* What is delivered of one partition by one batch, or an error instead. */
struct kafka_range {
	struct sv topic, topic_id;	/* one of them; borrowed until the call ends */
	int64_t partition, error;
	bool has_offsets, has_end;
	int64_t offset, end_offset;	/* from, and one past the last */
};

struct kafka_fetch_user {
	void (*range)(void *context, const struct kafka_range *r);
	void *context;
};

#define KAFKA_FETCH_UNIT_BYTES 384

struct kafka_fetch {
	struct kafka_fetch *next;	/* in the free list */
	int version;
	bool flexible;
	int step;
	bool lost;		/* the rest of the response cannot be told apart */
	uint64_t left;		/* of the frame, beyond what was taken */
	uint64_t skip;
	uint64_t topics, partitions, aborted, records;	/* to come: counts, and bytes */
	size_t have, topic_n;	/* of unit, of topic */
	int64_t partition, error;
	/* What stands beyond have and topic_n is not set. */
	char topic[256];
	uint8_t unit[KAFKA_FETCH_UNIT_BYTES];
};

/* size: of the body, from after the correlation id. */
void kafka_fetch_begin(struct kafka_fetch *f, int version, bool flexible, uint64_t size);
/* n more bytes; bytes NULL: they were lost. */
void kafka_fetch_take(struct kafka_fetch *f, const uint8_t *bytes, uint64_t n, const struct kafka_fetch_user *user);

/* Whether n bytes at hand, or lost, are the inside of a batch. */
static inline bool kafka_fetch_is_inside(const struct kafka_fetch *f, uint64_t n)
{
	return f->skip >= n && !f->lost;
}

/* The same as kafka_fetch_take then. */
static inline void kafka_fetch_pass_inside(struct kafka_fetch *f, uint64_t n)
{
	f->skip -= n;
	f->left -= n < f->left ? n : f->left;
}

#endif
