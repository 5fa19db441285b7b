/* SPDX-License-Identifier: MIT */
/* See input/capture/kafka_names.h. */

#include "input/capture/kafka_names.h"

#include <string.h>

#define NAME_BUCKETS 1024
/* Kafka's own limit for topics is 249, and ids of members carry a UUID behind a client id. */
#define NAME_BYTES_MOST 512
#define NAMES_BYTES_MOST (4 << 20)

#define UUID_BYTES 16
#define UUID_CHARS 22

struct name {
	struct name *next;
	struct sv text;
	struct sv topic;	/* of an id */
};

struct kafka_names {
	struct arena *arena;
	size_t bytes;
	struct name *bucket[NAME_BUCKETS];
};

struct kafka_names *kafka_names_new(struct arena *a)
{
	struct kafka_names *n = arena_alloc(a, sizeof *n);

	n->arena = a;
	return n;
}

static size_t bucket_of(struct sv text)
{
	return (size_t)((sv_hash(SV_HASH, text) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % NAME_BUCKETS;
}

static struct name *find(struct kafka_names *n, struct sv text)
{
	size_t bucket = bucket_of(text);
	struct name *name = n->bucket[bucket];

	while (name != NULL && !sv_eq(name->text, text))
		name = name->next;
	if (name != NULL || text.n > NAME_BYTES_MOST || n->bytes > NAMES_BYTES_MOST)
		return name;
	name = arena_alloc(n->arena, sizeof *name);
	name->text = arena_copy(n->arena, text);
	name->next = n->bucket[bucket];
	n->bucket[bucket] = name;
	n->bytes += sizeof *name + text.n;
	return name;
}

struct sv kafka_names_keep(struct kafka_names *n, struct sv text)
{
	struct name *name = sv_is_absent(text) ? NULL : find(n, text);

	return name != NULL ? name->text : SV_ABSENT;
}

struct sv kafka_names_again(struct kafka_names *n, struct sv text, struct sv before)
{
	if (text.p != NULL && text.n == before.n && before.p != NULL && memcmp(text.p, before.p, text.n) == 0)
		return before;
	return kafka_names_keep(n, text);
}

/* org.apache.kafka.common.Uuid: URL-safe base64 without padding. */
static void format_uuid(const uint8_t id[UUID_BYTES], char out[UUID_CHARS])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (unsigned i = 0; i < UUID_CHARS; i++) {
		unsigned bit = 6 * i, at = bit / 8;
		unsigned pair = (unsigned)id[at] << 8 | (at + 1 < UUID_BYTES ? id[at + 1] : 0U);

		out[i] = digits[pair >> (10 - bit % 8) & 0x3f];
	}
}

static struct name *find_topic(struct kafka_names *n, struct sv id)
{
	char text[UUID_CHARS];

	if (id.n != UUID_BYTES)
		return NULL;
	format_uuid((const uint8_t *)id.p, text);
	return find(n, (struct sv){ text, UUID_CHARS });
}

void kafka_names_topic(struct kafka_names *n, struct sv id, struct sv topic)
{
	struct name *name = find_topic(n, id);

	if (name != NULL && topic.n > 0)
		name->topic = kafka_names_keep(n, topic);
}

struct sv kafka_names_topic_of(struct kafka_names *n, struct sv id)
{
	struct name *name = find_topic(n, id);

	if (name == NULL)
		return SV_ABSENT;
	return sv_is_absent(name->topic) ? name->text : name->topic;
}
