/* SPDX-License-Identifier: MIT */
/*
 * Conversations in Kafka's protocol, told frame by frame; each beside its twin
 * that is none. What frames of every version hold stands in kafka_frames.h.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "input/capture/kafka_api.h"
#include "input/capture/kafka_group.h"
#include "input/capture/tcp.h"
#include "kafka_frames.h"

/* ---- how conversations are told ---- */

#define START_US (INT64_C(1700000000) * US_PER_S)
#define EVENTS_MAX 512
#define TEXT_BYTES 96

struct heard {
	struct event event;
	char text[FIELD_COUNT][TEXT_BYTES];
};

struct talk {
	struct tcp *tcp;
	struct heard events[EVENTS_MAX];
	size_t count;
	uint64_t packets;
	uint32_t client, broker;	/* sequence numbers that come next */
	uint32_t client_has, broker_has;
	size_t snap;	/* bytes of a payload that are captured; 0: all */
};

static int put(void *context, const struct event *e)
{
	struct talk *t = context;
	struct heard *h = &t->events[t->count];

	assert_true(t->count < EVENTS_MAX);
	/* What wire says is all that is looked at here. */
	if (strncmp(event_infos[e->type].name, "wire.", 5) != 0)
		return 0;
	assert_int_equal(event_missing(e) != 0, 0);
	assert_true(e->duration_us >= 0);
	t->count++;
	h->event = *e;
	for (size_t f = 0; f < FIELD_COUNT; f++) {
		struct sv text = event_has(e, (enum event_field)f) && field_infos[f].type == FIELD_TEXT
					 ? event_text(e, (enum event_field)f)
					 : SV_ABSENT;

		assert_true(text.n < TEXT_BYTES);
		if (text.n > 0)
			memcpy(h->text[f], text.p, text.n);
		h->text[f][text.n] = '\0';
	}
	return 0;
}

static struct talk *begin(void)
{
	static struct talk talk;

	memset(&talk, 0, sizeof talk);
	talk.tcp = tcp_new((struct event_sink){ put, &talk });
	talk.client = talk.broker_has = 1001;
	talk.broker = talk.client_has = 5001;
	return &talk;
}

static void end(struct talk *t)
{
	assert_int_equal(tcp_finish(t->tcp), 0);
	tcp_free(t->tcp);
}

static void segment(struct talk *t, double ms, bool by_client, uint8_t flags, uint32_t sequence, const uint8_t *bytes,
		    size_t n)
{
	struct segment s = { .time_us = START_US + (int64_t)(ms * 1000), .ip_version = 4, .has_ip_id = true,
			     .ip_id = (uint16_t)(t->packets + 1), .flags = flags, .window = 500,
			     .sequence = sequence, .payload_bytes = (uint32_t)n,
			     .acknowledgment = by_client ? t->client_has : t->broker_has };

	s.place = (struct packet_place){ .number = ++t->packets };
	s.source[3] = by_client ? 1 : 2;
	s.destination[3] = by_client ? 2 : 1;
	s.source_port = by_client ? 40000 : 7777;
	s.destination_port = by_client ? 7777 : 40000;
	s.payload_captured = (uint32_t)(t->snap != 0 && n > t->snap ? t->snap : n);
	s.payload = n > 0 ? bytes : NULL;
	assert_int_equal(tcp_segment(t->tcp, &s), 0);
}

static void opens(struct talk *t, double ms)
{
	segment(t, ms, true, TCP_SYN, t->client - 1, NULL, 0);
	segment(t, ms + 0.1, false, TCP_SYN | TCP_ACK, t->broker - 1, NULL, 0);
	segment(t, ms + 0.2, true, TCP_ACK, t->client, NULL, 0);
}

static void asks(struct talk *t, double ms, const uint8_t *bytes, size_t n)
{
	segment(t, ms, true, TCP_ACK, t->client, bytes, n);
	t->client += (uint32_t)n;
	t->broker_has = t->client;
}

static void answers(struct talk *t, double ms, const uint8_t *bytes, size_t n)
{
	segment(t, ms, false, TCP_ACK, t->broker, bytes, n);
	t->broker += (uint32_t)n;
	t->client_has = t->broker;
}

/* ---- frames by hand ---- */

struct frame {
	uint8_t bytes[2048];
	size_t n;
};

static void add(struct frame *f, int64_t value, unsigned bytes)
{
	while (bytes-- > 0)
		f->bytes[f->n++] = (uint8_t)((uint64_t)value >> (8 * bytes));
}

static void add_text(struct frame *f, const char *text)
{
	size_t n = strlen(text);

	add(f, (int64_t)n, 2);
	memcpy(f->bytes + f->n, text, n);
	f->n += n;
}

static void finish_frame(struct frame *f)
{
	size_t n = f->n;

	f->n = 0;
	add(f, (int64_t)n - 4, 4);
	f->n = n;
}

/* A request of the classic encoding up to its body. */
static struct frame request(int key, int version, int correlation)
{
	struct frame f = { .n = 4 };

	add(&f, key, 2);
	add(&f, version, 2);
	add(&f, correlation, 4);
	add_text(&f, "c");
	return f;
}

static struct frame answer(int correlation)
{
	struct frame f = { .n = 4 };

	add(&f, correlation, 4);
	return f;
}

/* A heartbeat of version 0, whole. */
static struct frame heartbeat(int correlation)
{
	struct frame f = request(KAFKA_HEARTBEAT, 0, correlation);

	add_text(&f, "g");
	add(&f, 7, 4);
	add_text(&f, "m-1");
	finish_frame(&f);
	return f;
}

static struct frame heartbeat_answer(int correlation, int error)
{
	struct frame f = answer(correlation);

	add(&f, error, 2);
	finish_frame(&f);
	return f;
}

static void beats(struct talk *t, double ms, int correlation)
{
	struct frame q = heartbeat(correlation), r = heartbeat_answer(correlation, 0);

	asks(t, ms, q.bytes, q.n);
	answers(t, ms + 5, r.bytes, r.n);
}

static struct frame from_hex(const char *hex)
{
	struct frame f = { .n = 0 };

	for (; hex[0] != '\0'; hex += 2) {
		const char digits[3] = { hex[0], hex[1], '\0' };

		f.bytes[f.n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return f;
}

/* ---- how they are checked ---- */

static size_t count_of(const struct talk *t, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		n += t->events[i].event.type == type;
	return n;
}

static const struct heard *nth(const struct talk *t, enum event_type type, size_t n)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->events[i].event.type == type && n-- == 0)
			return &t->events[i];
	fail_msg("no such event: %s", event_infos[type].name);
	return NULL;
}

/* The one of this partition. */
static const struct heard *of_partition(const struct talk *t, enum event_type type, int64_t partition)
{
	const struct heard *found = NULL;

	for (size_t i = 0; i < t->count; i++) {
		const struct heard *h = &t->events[i];

		if (h->event.type != type || h->event.value[FIELD_PARTITION].number != partition)
			continue;
		assert_null(found);
		found = h;
	}
	assert_non_null(found);
	return found;
}

static const struct heard *only(const struct talk *t, enum event_type type)
{
	assert_int_equal(count_of(t, type), 1);
	return nth(t, type, 0);
}

static void has_text(const struct heard *h, enum event_field f, const char *expected)
{
	assert_true(event_has(&h->event, f));
	assert_string_equal(h->text[f], expected);
}

static void has_number(const struct heard *h, enum event_field f, int64_t expected)
{
	assert_true(event_has(&h->event, f));
	assert_int_equal(h->event.value[f].number, expected);
}

static void has_not(const struct heard *h, enum event_field f)
{
	assert_false(event_has(&h->event, f));
}

static void has_text_if(bool is_there, const struct heard *h, enum event_field f, const char *expected)
{
	if (is_there)
		has_text(h, f, expected);
	else
		has_not(h, f);
}

#define UUID_TEXT "ASNFZ4mrze9-3LqYdlQyEA"

/* Who asked: group, member, generation. */
static void is_of_member(const struct heard *h, bool has_instance)
{
	has_text(h, FIELD_GROUP, "g");
	has_text(h, FIELD_MEMBER, "m-1");
	has_text_if(has_instance, h, FIELD_INSTANCE, "i");
	has_text(h, FIELD_CLIENT, "c");
	has_number(h, FIELD_CORRELATION_ID, 9);
	has_text(h, FIELD_PATH_A, "0.0.0.1:40000");
	has_text(h, FIELD_PATH_B, "0.0.0.2:7777");
	has_text(h, FIELD_DIRECTION, "ab");
	assert_int_equal(h->event.duration_us, 5000);
}

static void check_heartbeat(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_HEARTBEAT);

	is_of_member(h, version >= 3);
	has_number(h, FIELD_GENERATION, 7);
	has_text(h, FIELD_ERROR, "REBALANCE_IN_PROGRESS");
	has_text(h, FIELD_API, "Heartbeat");
}

static void check_join(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_JOINED);

	is_of_member(h, version >= 5);
	has_number(h, FIELD_GENERATION, 8);
	has_text(h, FIELD_PROTOCOL, "range");
	has_text(h, FIELD_STATE, "leader");
	has_text_if(version >= 8, h, FIELD_CLIENT_REASON, "r");
	has_not(h, FIELD_ERROR);
	assert_int_equal(count_of(t, EVENT_WIRE_CONFIG), version >= 1 ? 2 : 1);
	has_text(nth(t, EVENT_WIRE_CONFIG, 0), FIELD_KEY, "session.timeout.ms");
	has_text(nth(t, EVENT_WIRE_CONFIG, 0), FIELD_VALUE, "6000");
	if (version >= 1)
		has_text(nth(t, EVENT_WIRE_CONFIG, 1), FIELD_VALUE, "15000");
}

static void check_sync(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_SYNCED);

	is_of_member(h, version >= 3);
	has_number(h, FIELD_GENERATION, 7);
	has_text(h, FIELD_PARTITIONS, "t-3,t-4");
}

static void check_leave(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_LEFT);

	is_of_member(h, version >= 3);
	has_text_if(version >= 5, h, FIELD_CLIENT_REASON, "r");
	has_text(h, FIELD_ERROR, "UNKNOWN_MEMBER_ID");
}

static void check_coordinator(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_COORDINATOR);

	(void)version;
	has_text(h, FIELD_GROUP, "g");
	has_text(h, FIELD_NODE, "h:9092");
	has_not(h, FIELD_ERROR);
}

static void check_commit(const struct talk *t, int version)
{
	const struct heard *first, *second;

	assert_int_equal(count_of(t, EVENT_WIRE_COMMIT), 2);
	first = of_partition(t, EVENT_WIRE_COMMIT, 3);
	second = of_partition(t, EVENT_WIRE_COMMIT, 4);
	is_of_member(first, version >= 7);
	has_number(first, FIELD_GENERATION, 7);
	has_text(first, FIELD_TOPIC, version >= 10 ? UUID_TEXT : "t");
	has_number(first, FIELD_PARTITION, 3);
	has_number(first, FIELD_OFFSET, 42);
	has_not(first, FIELD_ERROR);
	has_not(first, FIELD_SAMPLES);
	has_number(second, FIELD_OFFSET, 43);
	has_text(second, FIELD_ERROR, "ILLEGAL_GENERATION");
}

static void check_txn_commit(const struct talk *t, int version)
{
	const struct heard *h = only(t, EVENT_WIRE_COMMIT);

	has_text(h, FIELD_GROUP, "g");
	has_text_if(version >= 3, h, FIELD_MEMBER, "m-1");
	has_text(h, FIELD_TOPIC, version >= 6 ? UUID_TEXT : "t");
	has_number(h, FIELD_PARTITION, 3);
	has_number(h, FIELD_OFFSET, 42);
}

static void check_offsets(const struct talk *t, int version)
{
	const struct heard *first, *second;

	assert_int_equal(count_of(t, EVENT_WIRE_COMMITTED), 2);
	first = nth(t, EVENT_WIRE_COMMITTED, 0);
	second = nth(t, EVENT_WIRE_COMMITTED, 1);
	has_text(first, FIELD_GROUP, "g");
	has_text_if(version >= 9, first, FIELD_MEMBER, "m-1");
	has_text(first, FIELD_TOPIC, version >= 10 ? UUID_TEXT : "t");
	has_number(first, FIELD_PARTITION, 3);
	has_number(first, FIELD_OFFSET, 42);
	has_number(second, FIELD_PARTITION, 4);
	has_not(second, FIELD_OFFSET);
}

static void check_group_heartbeat(const struct talk *t, const char *api, bool has_instance, const char *assigned)
{
	const struct heard *h = only(t, EVENT_WIRE_HEARTBEAT);

	is_of_member(h, has_instance);
	has_number(h, FIELD_GENERATION, 7);
	has_text(h, FIELD_API, api);
	has_text(nth(t, EVENT_WIRE_CONFIG, count_of(t, EVENT_WIRE_CONFIG) - 1), FIELD_KEY,
		 "group.consumer.heartbeat.interval.ms");
	has_text(nth(t, EVENT_WIRE_CONFIG, count_of(t, EVENT_WIRE_CONFIG) - 1), FIELD_VALUE, "5000");
	assert_int_equal(count_of(t, EVENT_WIRE_SYNCED), assigned != NULL);
	if (assigned == NULL)
		return;
	has_text(only(t, EVENT_WIRE_SYNCED), FIELD_PARTITIONS, assigned);
	has_number(only(t, EVENT_WIRE_SYNCED), FIELD_GENERATION, 8);
}

static void check_consumer_heartbeat(const struct talk *t, int version)
{
	(void)version;
	check_group_heartbeat(t, "ConsumerGroupHeartbeat", true, UUID_TEXT "-3," UUID_TEXT "-4");
	has_text(nth(t, EVENT_WIRE_CONFIG, 0), FIELD_KEY, "max.poll.interval.ms");
	has_text(nth(t, EVENT_WIRE_CONFIG, 0), FIELD_VALUE, "15000");
}

static void check_share_heartbeat(const struct talk *t, int version)
{
	(void)version;
	check_group_heartbeat(t, "ShareGroupHeartbeat", false, UUID_TEXT "-3," UUID_TEXT "-4");
}

static void check_streams_heartbeat(const struct talk *t, int version)
{
	(void)version;
	check_group_heartbeat(t, "StreamsGroupHeartbeat", true, NULL);
}

static void check_versions(const struct talk *t, int version)
{
	if (version >= 3)
		has_text(only(t, EVENT_WIRE_CLIENT), FIELD_VALUE, "lib 1.2");
	else
		assert_int_equal(count_of(t, EVENT_WIRE_CLIENT), 0);
}

static void check_fetch(const struct talk *t, int version)
{
	const struct heard *records, *error;

	/* The control batch at 47 is no record. */
	assert_int_equal(count_of(t, EVENT_WIRE_FETCH), 2);
	records = nth(t, EVENT_WIRE_FETCH, 0);
	error = nth(t, EVENT_WIRE_FETCH, 1);
	has_text(records, FIELD_TOPIC, version >= 13 ? UUID_TEXT : "t");
	has_number(records, FIELD_PARTITION, 3);
	has_number(records, FIELD_OFFSET, 42);
	has_number(records, FIELD_END_OFFSET, 47);
	has_number(error, FIELD_PARTITION, 4);
	has_text(error, FIELD_ERROR, "OFFSET_OUT_OF_RANGE");
	has_not(error, FIELD_OFFSET);
}

static void check_metadata(const struct talk *t, int version)
{
	(void)version;
	has_text(only(t, EVENT_WIRE_LATENCY), FIELD_API, "Metadata");
}

static const struct {
	int key;
	void (*check)(const struct talk *t, int version);
} checks[] = {
	{ KAFKA_HEARTBEAT, check_heartbeat },	{ KAFKA_JOIN_GROUP, check_join },
	{ KAFKA_SYNC_GROUP, check_sync },	{ KAFKA_LEAVE_GROUP, check_leave },
	{ KAFKA_FIND_COORDINATOR, check_coordinator }, { KAFKA_OFFSET_COMMIT, check_commit },
	{ KAFKA_TXN_OFFSET_COMMIT, check_txn_commit }, { KAFKA_OFFSET_FETCH, check_offsets },
	{ KAFKA_CONSUMER_GROUP_HEARTBEAT, check_consumer_heartbeat },
	{ KAFKA_SHARE_GROUP_HEARTBEAT, check_share_heartbeat },
	{ KAFKA_STREAMS_GROUP_HEARTBEAT, check_streams_heartbeat },
	{ KAFKA_API_VERSIONS, check_versions }, { KAFKA_FETCH, check_fetch }, { KAFKA_KEY_METADATA, check_metadata },
};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])
#define FRAME_COUNT (sizeof kafka_frames / sizeof kafka_frames[0])

static void check(const struct talk *t, int key, int version)
{
	size_t i = 0;


	while (i < CHECK_COUNT && checks[i].key != key)
		i++;
	assert_true(i < CHECK_COUNT);
	checks[i].check(t, version);
	assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), 0);
}

/* ---- every version ---- */

static void every_version_is_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);
		struct talk *t = begin();

		opens(t, 0);
		asks(t, 10, q.bytes, q.n);
		answers(t, 15, r.bytes, r.n);
		end(t);
		check(t, kafka_frames[i].key, kafka_frames[i].version);
	}
}

/* Kafka's own tables say which versions are flexible: the frames tell by the length of what they make. */
static void the_tables_reach_as_far_as_the_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		const struct kafka_layout *layout = kafka_group_layout(kafka_frames[i].key);

		assert_non_null(layout);
		assert_true(kafka_frames[i].version <= layout->latest);
		assert_true(layout->latest <= kafka_api(kafka_frames[i].key)->latest);
	}
}

/* A frame over two segments, whatever the cut. The time of an answer is that of its first byte. */
static void frames_are_put_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);

		for (size_t at = 1; at < q.n; at++) {
			struct talk *t = begin();

			opens(t, 0);
			asks(t, 9, q.bytes, at);
			asks(t, 10, q.bytes + at, q.n - at);
			answers(t, 15, r.bytes, r.n);
			end(t);
			check(t, kafka_frames[i].key, kafka_frames[i].version);
		}
		for (size_t at = 1; at < r.n; at++) {
			struct talk *t = begin();

			opens(t, 0);
			asks(t, 10, q.bytes, q.n);
			answers(t, 15, r.bytes, at);
			answers(t, 16, r.bytes + at, r.n - at);
			end(t);
			check(t, kafka_frames[i].key, kafka_frames[i].version);
		}
	}
}

/* Byte by byte, and the second before the first. */
static void segments_are_put_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);
		struct talk *t = begin();
		uint32_t broker;

		opens(t, 0);
		for (size_t at = 0; at < q.n; at++)
			asks(t, 10, q.bytes + at, 1);
		broker = t->broker;
		t->client_has = broker;
		segment(t, 15, false, TCP_ACK, broker + 6, r.bytes + 6, r.n - 6);
		segment(t, 15, false, TCP_ACK, broker, r.bytes, 6);
		end(t);
		check(t, kafka_frames[i].key, kafka_frames[i].version);
	}
}

/* All that x says is said by y too. */
static bool says_no_more(const struct heard *x, const struct heard *y)
{
	if (x->event.type != y->event.type)
		return false;
	for (size_t f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(&x->event, (enum event_field)f))
			continue;
		if (!event_has(&y->event, (enum event_field)f))
			return false;
		if (field_infos[f].type == FIELD_TEXT ? strcmp(x->text[f], y->text[f]) != 0
						      : x->event.value[f].number != y->event.value[f].number)
			return false;
	}
	return true;
}

static bool is_among(const struct heard *h, const struct talk *whole)
{
	for (size_t i = 0; i < whole->count; i++)
		if (says_no_more(h, &whole->events[i]))
			return true;
	/* A control batch tells that it is one only behind its offset. */
	return h->event.type == EVENT_WIRE_FETCH && !event_has(&h->event, FIELD_END_OFFSET) &&
	       h->event.value[FIELD_OFFSET].number == 47;
}

/* What a snapshot length leaves is told as it is, or not at all. */
static void what_is_cut_off_is_not_made_up(void **state)
{
	static struct talk whole;

	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);
		struct talk *t = begin();

		opens(t, 0);
		asks(t, 10, q.bytes, q.n);
		answers(t, 15, r.bytes, r.n);
		end(t);
		whole = *t;
		for (size_t snap = 1; snap < q.n || snap < r.n; snap++) {
			t = begin();
			t->snap = snap;
			opens(t, 0);
			asks(t, 10, q.bytes, q.n);
			answers(t, 15, r.bytes, r.n);
			end(t);
			for (size_t e = 0; e < t->count; e++)
				assert_true(is_among(&t->events[e], &whole));
		}
	}
}

/* ---- versions that 4.4 has no more ---- */

static void the_oldest_commits_are_read(void **state)
{
	(void)state;
	for (int version = 0; version <= 1; version++) {
		struct talk *t = begin();
		struct frame q = request(KAFKA_OFFSET_COMMIT, version, 9), r = answer(9);

		add_text(&q, "g");
		if (version == 1) {
			add(&q, 7, 4);
			add_text(&q, "m-1");
		}
		add(&q, 1, 4);
		add_text(&q, "t");
		add(&q, 1, 4);
		add(&q, 3, 4);
		add(&q, 42, 8);
		if (version == 1)
			add(&q, -1, 8);
		add_text(&q, "");
		finish_frame(&q);
		add(&r, 1, 4);
		add_text(&r, "t");
		add(&r, 1, 4);
		add(&r, 3, 4);
		add(&r, 0, 2);
		finish_frame(&r);
		opens(t, 0);
		asks(t, 10, q.bytes, q.n);
		answers(t, 15, r.bytes, r.n);
		end(t);
		has_number(only(t, EVENT_WIRE_COMMIT), FIELD_OFFSET, 42);
		has_text_if(version == 1, only(t, EVENT_WIRE_COMMIT), FIELD_MEMBER, "m-1");
	}
}

/* Of one partition, in one of the versions up to 4. */
static struct frame fetch_request(int version, int partition, int64_t offset)
{
	struct frame q = request(KAFKA_FETCH, version, 9);

	add(&q, -1, 4);
	add(&q, 500, 4);
	add(&q, 1, 4);
	if (version >= 3)
		add(&q, 1 << 20, 4);
	if (version >= 4)
		add(&q, 0, 1);
	add(&q, 1, 4);
	add_text(&q, "t");
	add(&q, 1, 4);
	add(&q, partition, 4);
	add(&q, offset, 8);
	add(&q, 1 << 20, 4);
	finish_frame(&q);
	return q;
}

/* Message sets of magic 0 and 1; the last is cut short by the broker. */
static void the_oldest_fetches_are_read(void **state)
{
	(void)state;
	for (int version = 0; version <= 3; version++) {
		struct talk *t = begin();
		struct frame q = fetch_request(version, 3, 42), r = answer(9);

		if (version >= 1)
			add(&r, 0, 4);
		add(&r, 1, 4);
		add_text(&r, "t");
		add(&r, 1, 4);
		add(&r, 3, 4);
		add(&r, 0, 2);
		add(&r, 44, 8);
		add(&r, 2 * (12 + 20) + 14, 4);
		for (int offset = 42; offset <= 43; offset++) {
			add(&r, offset, 8);
			add(&r, 20, 4);
			add(&r, 0, 4);
			add(&r, version >= 2, 1);
			r.n += 15;
		}
		r.n += 14;
		finish_frame(&r);
		opens(t, 0);
		asks(t, 10, q.bytes, q.n);
		answers(t, 15, r.bytes, r.n);
		end(t);
		has_number(only(t, EVENT_WIRE_FETCH), FIELD_OFFSET, 42);
		has_number(only(t, EVENT_WIRE_FETCH), FIELD_END_OFFSET, 44);
	}
}

static void of_newer_versions_the_header_is_read(void **state)
{
	struct talk *t = begin();
	struct frame q = request(KAFKA_HEARTBEAT, 6, 9), r = answer(9);

	(void)state;
	add(&q, 0, 8);
	finish_frame(&q);
	add(&r, 0, 8);
	finish_frame(&r);
	opens(t, 0);
	asks(t, 10, q.bytes, q.n);
	answers(t, 15, r.bytes, r.n);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 0);
	has_text(only(t, EVENT_WIRE_LATENCY), FIELD_API, "Heartbeat");
	has_number(only(t, EVENT_WIRE_LATENCY), FIELD_SAMPLES, 1);
}

/* ---- what is told once ---- */

/* A fetch of one partition whose answer has one batch of count records from offset on; count 0: an error instead. */
static void delivers(struct talk *t, double ms, int partition, int64_t offset, int count)
{
	struct frame q = fetch_request(4, partition, offset), r = answer(9);

	add(&r, 0, 4);
	add(&r, 1, 4);
	add_text(&r, "t");
	add(&r, 1, 4);
	add(&r, partition, 4);
	add(&r, count == 0 ? 1 : 0, 2);
	add(&r, 0, 8);
	add(&r, 0, 8);
	add(&r, 0, 4);
	add(&r, count == 0 ? 0 : 61, 4);
	if (count > 0) {
		add(&r, offset, 8);
		add(&r, 61 - 12, 4);
		add(&r, 0, 4);
		add(&r, 2, 1);
		add(&r, 0, 4);
		add(&r, 0, 2);
		add(&r, count - 1, 4);
		r.n += 61 - 27;
	}
	finish_frame(&r);
	asks(t, ms, q.bytes, q.n);
	answers(t, ms + 5, r.bytes, r.n);
}

static void is_range(const struct heard *h, int64_t offset, int64_t end_offset, int64_t rereads)
{
	has_number(h, FIELD_OFFSET, offset);
	has_number(h, FIELD_END_OFFSET, end_offset);
	if (rereads > 0)
		has_number(h, FIELD_REREADS, rereads);
	else
		has_not(h, FIELD_REREADS);
}

static void is_between(const struct heard *h, double from_ms, double to_ms)
{
	assert_int_equal(h->event.time.us, START_US + (int64_t)(from_ms * 1000));
	assert_int_equal(h->event.duration_us, (int64_t)((to_ms - from_ms) * 1000));
}

static void records_that_follow_are_told_once(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	for (int i = 0; i < 5; i++) {
		delivers(t, 10 + 500 * i, 3, 100 + 10 * i, 10);
		/* Another partition meanwhile, slower. */
		delivers(t, 20 + 500 * i, 4, 700 + i, 1);
	}
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_FETCH), 2);
	is_range(of_partition(t, EVENT_WIRE_FETCH, 3), 100, 150, 0);
	is_between(of_partition(t, EVENT_WIRE_FETCH, 3), 15, 2015);
	/* Behind the three packets of the handshake. */
	assert_int_equal(of_partition(t, EVENT_WIRE_FETCH, 3)->event.place.number, 4);
	is_range(of_partition(t, EVENT_WIRE_FETCH, 4), 700, 705, 0);
}

/* One offset may be the mark that ends a transaction; more were not delivered. */
static void what_was_left_out_is_not_told_as_delivered(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	delivers(t, 10, 3, 100, 10);
	delivers(t, 100, 3, 111, 9);
	delivers(t, 200, 3, 122, 8);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_FETCH), 2);
	is_range(nth(t, EVENT_WIRE_FETCH, 0), 100, 120, 0);
	is_range(nth(t, EVENT_WIRE_FETCH, 1), 122, 130, 0);
}

static void records_that_come_again_are_told_apart(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	delivers(t, 10, 3, 100, 10);
	delivers(t, 100, 3, 110, 10);
	/* Back into the middle, on from there, and back once more. */
	delivers(t, 200, 3, 105, 10);
	delivers(t, 300, 3, 115, 10);
	delivers(t, 400, 3, 105, 10);
	/* And to somewhere else. */
	delivers(t, 500, 3, 50, 5);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_FETCH), 3);
	is_range(nth(t, EVENT_WIRE_FETCH, 0), 100, 120, 0);
	is_range(nth(t, EVENT_WIRE_FETCH, 1), 105, 125, 2);
	is_between(nth(t, EVENT_WIRE_FETCH, 1), 205, 405);
	is_range(nth(t, EVENT_WIRE_FETCH, 2), 50, 55, 1);
}

static void deliveries_are_told_within_ten_seconds(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	delivers(t, 10, 3, 100, 10);
	delivers(t, 10000, 3, 110, 10);
	delivers(t, 10020, 3, 120, 10);
	/* The same error twice, and then none. */
	delivers(t, 10100, 3, 130, 0);
	delivers(t, 10200, 3, 130, 0);
	delivers(t, 10300, 3, 130, 1);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_FETCH), 4);
	is_range(nth(t, EVENT_WIRE_FETCH, 0), 100, 120, 0);
	is_between(nth(t, EVENT_WIRE_FETCH, 0), 15, 10005);
	/* It goes on where the one before ended: nothing came again. */
	is_range(nth(t, EVENT_WIRE_FETCH, 1), 120, 130, 0);
	has_text(nth(t, EVENT_WIRE_FETCH, 2), FIELD_ERROR, "OFFSET_OUT_OF_RANGE");
	has_not(nth(t, EVENT_WIRE_FETCH, 2), FIELD_OFFSET);
	is_between(nth(t, EVENT_WIRE_FETCH, 2), 10105, 10205);
	is_range(nth(t, EVENT_WIRE_FETCH, 3), 130, 131, 0);
}

struct commit {
	int generation, partition, offset, error;
};

static void commits(struct talk *t, double ms, int correlation, const struct commit *c, bool twice)
{
	struct frame q = request(KAFKA_OFFSET_COMMIT, 2, correlation), r = answer(correlation);

	add_text(&q, "g");
	add(&q, c->generation, 4);
	add_text(&q, "m-1");
	add(&q, -1, 8);
	add(&q, 1, 4);
	add_text(&q, "t");
	add(&q, 1, 4);
	add(&q, c->partition, 4);
	add(&q, c->offset, 8);
	add_text(&q, "");
	finish_frame(&q);
	add(&r, 1, 4);
	add_text(&r, "t");
	add(&r, 1, 4);
	add(&r, c->partition, 4);
	add(&r, c->error, 2);
	finish_frame(&r);
	asks(t, ms, q.bytes, q.n);
	if (twice)
		segment(t, ms + 2, true, TCP_ACK, t->client - (uint32_t)q.n, q.bytes, q.n);
	answers(t, ms + 5, r.bytes, r.n);
}

static void commits_that_follow_are_told_once(void **state)
{
	struct talk *t = begin();
	const struct heard *h;

	(void)state;
	opens(t, 0);
	for (int i = 0; i < 5; i++)
		commits(t, 10 + 400 * i, 20 + i, &(struct commit){ 7, 3, 100 + i, 0 }, false);
	end(t);
	h = only(t, EVENT_WIRE_COMMIT);
	has_number(h, FIELD_SAMPLES, 5);
	is_between(h, 10, 1615);
	/* What the latest said, and where it stands. */
	has_number(h, FIELD_OFFSET, 104);
	has_number(h, FIELD_CORRELATION_ID, 24);
	has_number(h, FIELD_RECEIVED_AT_US, START_US + 1610000);
	assert_int_equal(h->event.place.number, 3 + 4 * 2 + 1);
	has_text(h, FIELD_GROUP, "g");
	has_text(h, FIELD_MEMBER, "m-1");
	has_number(h, FIELD_GENERATION, 7);
}

/* A snapshot length may leave the answer and cut the offset off: then it is not made up. */
static void commits_of_which_the_offset_is_cut_off(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	commits(t, 10, 20, &(struct commit){ 7, 3, 100, 0 }, false);
	/* The request is longer than its answer. */
	t->snap = 45;
	commits(t, 400, 21, &(struct commit){ 7, 3, 101, 0 }, false);
	commits(t, 800, 22, &(struct commit){ 7, 3, 102, 0 }, false);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_COMMIT), 2);
	has_number(nth(t, EVENT_WIRE_COMMIT, 0), FIELD_OFFSET, 100);
	has_not(nth(t, EVENT_WIRE_COMMIT, 1), FIELD_OFFSET);
	has_number(nth(t, EVENT_WIRE_COMMIT, 1), FIELD_SAMPLES, 2);
}

/* Those that say something else, or show how the path was, stand by themselves. */
static void commits_that_differ_are_told_apart(void **state)
{
	static const struct {
		double later_ms;
		struct commit second;
		bool twice;
	} cases[] = {
		{ 1010, { 7, 3, 101, 0 }, false }, { 500, { 8, 3, 101, 0 }, false }, { 500, { 7, 3, 99, 0 }, false },
		{ 500, { 7, 4, 101, 0 }, false },  { 500, { 7, 3, 101, 25 }, false }, { 500, { 7, 3, 101, 0 }, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct talk *t = begin();

		opens(t, 0);
		commits(t, 10, 20, &(struct commit){ 7, 3, 100, 0 }, false);
		commits(t, 10 + cases[i].later_ms, 21, &cases[i].second, cases[i].twice);
		end(t);
		assert_int_equal(count_of(t, EVENT_WIRE_COMMIT), 2);
		has_number(nth(t, EVENT_WIRE_COMMIT, 0), FIELD_OFFSET, 100);
		has_number(nth(t, EVENT_WIRE_COMMIT, 1), FIELD_OFFSET, cases[i].second.offset);
		for (size_t n = 0; n < 2; n++)
			has_not(nth(t, EVENT_WIRE_COMMIT, n), FIELD_SAMPLES);
	}
}

/* However long it goes on; each is counted once, and the last offset is the latest. */
static void commits_are_told_within_ten_seconds(void **state)
{
	struct talk *t = begin();
	int64_t told = 0;

	(void)state;
	opens(t, 0);
	for (int i = 0; i < 30; i++)
		commits(t, 10 + 900 * i, 20 + i, &(struct commit){ 7, 3, 100 + i, 0 }, false);
	end(t);
	/* 0 to 9.9 s are twelve, and so on: 12, 12, 6. */
	assert_int_equal(count_of(t, EVENT_WIRE_COMMIT), 3);
	for (size_t n = 0; n < 3; n++) {
		assert_true(nth(t, EVENT_WIRE_COMMIT, n)->event.duration_us <= 10 * US_PER_S);
		told += nth(t, EVENT_WIRE_COMMIT, n)->event.value[FIELD_SAMPLES].number;
	}
	assert_int_equal(told, 30);
	has_number(nth(t, EVENT_WIRE_COMMIT, 2), FIELD_OFFSET, 129);
}

/* ---- lost and found ---- */

/* Three requests in one segment, answered in one. */
static void many_frames_share_a_segment(void **state)
{
	struct talk *t = begin();
	struct frame all_q = { .n = 0 }, all_r = { .n = 0 };

	(void)state;
	for (int i = 1; i <= 3; i++) {
		struct frame q = heartbeat(i), r = heartbeat_answer(i, i == 2 ? 25 : 0);

		memcpy(all_q.bytes + all_q.n, q.bytes, q.n);
		memcpy(all_r.bytes + all_r.n, r.bytes, r.n);
		all_q.n += q.n;
		all_r.n += r.n;
	}
	opens(t, 0);
	asks(t, 10, all_q.bytes, all_q.n);
	answers(t, 15, all_r.bytes, all_r.n);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 3);
	has_not(nth(t, EVENT_WIRE_HEARTBEAT, 0), FIELD_ERROR);
	has_text(nth(t, EVENT_WIRE_HEARTBEAT, 1), FIELD_ERROR, "UNKNOWN_MEMBER_ID");
	has_number(nth(t, EVENT_WIRE_HEARTBEAT, 2), FIELD_CORRELATION_ID, 3);
}

/* The capture dropped a request, and in another story an answer: the next ones are matched all the same. */
static void a_lost_segment_costs_its_frame_alone(void **state)
{
	struct frame q = heartbeat(2), r = heartbeat_answer(2, 0);
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	beats(t, 10, 1);
	t->client += (uint32_t)q.n;
	t->broker_has = t->client;
	answers(t, 1015, r.bytes, r.n);
	beats(t, 2010, 3);
	beats(t, 3010, 4);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 3);
	has_number(nth(t, EVENT_WIRE_HEARTBEAT, 1), FIELD_CORRELATION_ID, 3);

	t = begin();
	opens(t, 0);
	beats(t, 10, 1);
	asks(t, 1010, q.bytes, q.n);
	t->broker += (uint32_t)r.n;
	t->client_has = t->broker;
	beats(t, 2010, 3);
	beats(t, 3010, 4);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 3);
	has_number(nth(t, EVENT_WIRE_HEARTBEAT, 1), FIELD_CORRELATION_ID, 3);
	assert_int_equal(nth(t, EVENT_WIRE_HEARTBEAT, 1)->event.duration_us, 5000);
	assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), 0);
}

/* Lost on the way, and sent again: nothing is missing in the end, and the broker had the second transmission. */
static void a_segment_sent_again_is_received_late(void **state)
{
	struct frame q = heartbeat(2), r = heartbeat_answer(2, 0);
	struct talk *t = begin();
	const struct heard *h;

	(void)state;
	opens(t, 0);
	beats(t, 10, 1);
	segment(t, 1000, true, TCP_ACK, t->client, q.bytes, q.n);
	segment(t, 1300, true, TCP_ACK, t->client, q.bytes, q.n);
	segment(t, 1700, true, TCP_ACK, t->client, q.bytes, q.n);
	t->client += (uint32_t)q.n;
	t->broker_has = t->client;
	answers(t, 1705, r.bytes, r.n);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 2);
	h = nth(t, EVENT_WIRE_HEARTBEAT, 1);
	assert_int_equal(h->event.time.us, START_US + 1000 * US_PER_MS);
	assert_int_equal(h->event.duration_us, 705 * US_PER_MS);
	has_number(h, FIELD_RECEIVED_AT_US, START_US + 1700 * US_PER_MS);
	has_number(h, FIELD_RETRANSMITS, 2);
}

/* The capture begins in the middle of an answer, on a port that says nothing of who asks. */
static void a_conversation_is_joined_in_the_middle(void **state)
{
	struct talk *t = begin();
	uint8_t rest[700];

	(void)state;
	memset(rest, 0xab, sizeof rest);
	answers(t, 0, rest, sizeof rest);
	answers(t, 1, rest, 123);
	beats(t, 10, 1);
	beats(t, 2010, 2);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 2);
}

/* One corrupt length does not swallow what comes after. */
static void a_corrupt_frame_is_left_behind(void **state)
{
	struct frame q = heartbeat(2), r = heartbeat_answer(2, 0);
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	beats(t, 10, 1);
	q.bytes[0] = 0x7f;
	asks(t, 1010, q.bytes, q.n);
	answers(t, 1015, r.bytes, r.n);
	beats(t, 2010, 3);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 2);
}

/* ---- answers that do not come ---- */

static void a_produce_without_acks_has_no_answer(void **state)
{
	struct talk *t = begin();
	struct frame q = request(KAFKA_PRODUCE, 2, 1);

	(void)state;
	add(&q, 0, 2);		/* acks */
	add(&q, 1000, 4);
	add(&q, 0, 4);
	finish_frame(&q);
	opens(t, 0);
	asks(t, 5, q.bytes, q.n);
	beats(t, 10, 2);
	segment(t, 100, true, TCP_ACK | TCP_RST, t->client, NULL, 0);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 1);
	assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), 0);
}

static void what_was_not_answered_is_told_with_its_number(void **state)
{
	struct frame q = heartbeat(77);
	struct talk *t = begin();
	const struct heard *h;

	(void)state;
	opens(t, 0);
	beats(t, 10, 1);
	asks(t, 2000, q.bytes, q.n);
	segment(t, 2001, false, TCP_ACK, t->broker, NULL, 0);
	segment(t, 12000, true, TCP_ACK | TCP_FIN, t->client, NULL, 0);
	end(t);
	h = only(t, EVENT_WIRE_UNANSWERED);
	has_number(h, FIELD_CORRELATION_ID, 77);
	has_text(h, FIELD_API, "Heartbeat");
	has_text(h, FIELD_CLIENT, "c");
	has_text(h, FIELD_PATH_B, "0.0.0.2:7777");
	has_text(h, FIELD_GROUP, "g");
	/* The broker's kernel had it. */
	has_number(h, FIELD_PENDING, 1);
	assert_int_equal(h->event.time.us, START_US + 2000 * US_PER_MS);
	assert_int_equal(h->event.duration_us, 10000 * US_PER_MS);
	has_not(h, FIELD_CENSORED);

	/* Its twin: nobody acknowledged it, and the evidence ended first. */
	t = begin();
	opens(t, 0);
	beats(t, 10, 1);
	segment(t, 2000, true, TCP_ACK, t->client, q.bytes, q.n);
	segment(t, 5000, true, TCP_ACK, t->client, q.bytes, q.n);
	end(t);
	h = only(t, EVENT_WIRE_UNANSWERED);
	has_not(h, FIELD_PENDING);
	has_number(h, FIELD_CENSORED, 1);

	/* And one that had only just been asked. */
	t = begin();
	opens(t, 0);
	beats(t, 10, 1);
	asks(t, 2000, q.bytes, q.n);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), 0);
}

/* A fetch may wait as long as it says. */
static void a_fetch_is_late_after_its_wait(void **state)
{
	(void)state;
	for (int late = 0; late <= 1; late++) {
		struct frame q = from_hex(kafka_frames[0].request), r;
		struct talk *t = begin();

		for (size_t i = 0; i < FRAME_COUNT; i++) {
			if (kafka_frames[i].key != KAFKA_FETCH || kafka_frames[i].version != 11)
				continue;
			q = from_hex(kafka_frames[i].request);
			r = from_hex(kafka_frames[i].answer);
			opens(t, 0);
			asks(t, 10, q.bytes, q.n);
			answers(t, late ? 2000 : 1000, r.bytes, r.n);
		}
		end(t);
		assert_int_equal(count_of(t, EVENT_WIRE_LATE), late);
		if (late) {
			has_number(only(t, EVENT_WIRE_LATE), FIELD_LIMIT_MS, 500);
			assert_int_equal(only(t, EVENT_WIRE_LATE)->event.duration_us, 1990 * US_PER_MS);
		}
	}
}

/* Once the connection is known the start of a request is all that is looked at: it says how long a fetch waits. */
static void the_start_of_a_fetch_says_how_long_it_waits(void **state)
{
	size_t versions = 0;

	(void)state;
	for (size_t i = 0; i < FRAME_COUNT; i++) {
		struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);
		struct talk *t;

		if (kafka_frames[i].key != KAFKA_FETCH)
			continue;
		t = begin();
		opens(t, 0);
		beats(t, 1, 1);
		/* It comes in two segments, cut behind what is looked at. */
		asks(t, 10, q.bytes, 50);
		asks(t, 11, q.bytes + 50, q.n - 50);
		answers(t, 2000, r.bytes, r.n);
		beats(t, 3000, 2);
		end(t);
		has_number(only(t, EVENT_WIRE_LATE), FIELD_LIMIT_MS, 500);
		assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 2);
		versions++;
	}
	assert_in_range(versions, 10, 30);
}

/* However long the name of its transaction, and in how many segments it comes. */
static void the_start_of_a_produce_says_whether_it_is_answered(void **state)
{
	(void)state;
	for (int acks = -1; acks <= 0; acks++) {
		struct frame q = request(KAFKA_PRODUCE, 3, 9);
		struct talk *t = begin();
		char name[250];

		memset(name, 'x', sizeof name - 1);
		name[sizeof name - 1] = '\0';
		add_text(&q, name);
		add(&q, acks, 2);
		q.n += 700;
		finish_frame(&q);
		opens(t, 0);
		beats(t, 1, 1);
		asks(t, 10, q.bytes, 200);
		asks(t, 11, q.bytes + 200, q.n - 200);
		segment(t, 5000, true, TCP_ACK | TCP_FIN, t->client, NULL, 0);
		end(t);
		assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), acks != 0);
	}
}

/* ---- names of topics ---- */

static void topic_ids_are_named_by_metadata(void **state)
{
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < FRAME_COUNT; i++) {
			struct frame q = from_hex(kafka_frames[i].request), r = from_hex(kafka_frames[i].answer);
			bool is_wanted = pass == 0 ? kafka_frames[i].key == KAFKA_KEY_METADATA &&
							     kafka_frames[i].version == 12
						   : kafka_frames[i].key == KAFKA_OFFSET_COMMIT &&
							     kafka_frames[i].version == 10;

			if (!is_wanted)
				continue;
			asks(t, 10 + pass * 10, q.bytes, q.n);
			answers(t, 15 + pass * 10, r.bytes, r.n);
		}
	}
	end(t);
	has_text(nth(t, EVENT_WIRE_COMMIT, 0), FIELD_TOPIC, "t");
}

/* ---- secrets ---- */

static void nothing_says(const struct talk *t, const char *secret)
{
	for (size_t i = 0; i < t->count; i++)
		for (size_t f = 0; f < FIELD_COUNT; f++)
			assert_null(strstr(t->events[i].text[f], secret));
}

static void sasl_is_passed_over(void **state)
{
	(void)state;
	for (int version = 0; version <= 1; version++) {
		struct frame hello = request(KAFKA_SASL_HANDSHAKE, version, 1), welcome = answer(1), secret, done;
		struct talk *t = begin();

		add_text(&hello, "PLAIN");
		finish_frame(&hello);
		add(&welcome, 0, 2);
		add(&welcome, 0, 4);
		finish_frame(&welcome);
		if (version == 1)
			secret = request(KAFKA_SASL_AUTHENTICATE, 0, 2);
		else
			secret = (struct frame){ .n = 4 };
		memcpy(secret.bytes + secret.n, "\0user\0hunter2", 13);
		secret.n += 13;
		finish_frame(&secret);
		done = (struct frame){ .n = 4 };
		if (version == 1)
			add(&done, 2, 4);
		finish_frame(&done);
		opens(t, 0);
		asks(t, 1, hello.bytes, hello.n);
		answers(t, 2, welcome.bytes, welcome.n);
		asks(t, 3, secret.bytes, secret.n);
		answers(t, 4, done.bytes, done.n);
		beats(t, 10, 3);
		end(t);
		assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 1);
		assert_int_equal(count_of(t, EVENT_WIRE_UNANSWERED), 0);
		nothing_says(t, "hunter2");
	}
}

/* Who wanted the rest of the records is not asked any more once tokens pass. */
static void tokens_begin_while_records_come(void **state)
{
	struct frame hello = request(KAFKA_SASL_HANDSHAKE, 0, 9), q = request(KAFKA_FETCH, 4, 8), r = answer(8);
	struct talk *t = begin();

	(void)state;
	add_text(&hello, "PLAIN");
	finish_frame(&hello);
	q.n += 60;
	finish_frame(&q);
	r.n += 2000;
	finish_frame(&r);
	opens(t, 0);
	beats(t, 1, 3);
	asks(t, 10, q.bytes, q.n);
	answers(t, 11, r.bytes, 500);
	asks(t, 12, hello.bytes, hello.n);
	answers(t, 13, r.bytes + 500, 500);
	answers(t, 14, r.bytes + 1000, r.n - 1000);
	end(t);
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 1);
}

/* ---- TLS ---- */

static struct frame record(int type, size_t bytes)
{
	struct frame f = { .n = 0 };

	add(&f, type, 1);
	add(&f, 0x0303, 2);
	add(&f, (int64_t)bytes, 2);
	f.n += bytes;
	return f;
}

/* n records of the client of that size; every other one comes so much late. */
static struct talk *under_tls(int n, double every_ms, double jitter_ms, size_t answer_bytes)
{
	struct frame hello = record(22, 300), beat = record(23, 150), ok = record(23, answer_bytes);
	struct talk *t = begin();

	opens(t, 0);
	asks(t, 1, hello.bytes, hello.n);
	answers(t, 2, hello.bytes, hello.n);
	for (int i = 0; i < n; i++) {
		double ms = 100 + i * every_ms + (i % 2) * jitter_ms;

		asks(t, ms, beat.bytes, beat.n);
		answers(t, ms + 3, ok.bytes, ok.n);
	}
	end(t);
	return t;
}

static void heartbeats_under_tls_are_suggested(void **state)
{
	struct talk *t = under_tls(6, 3000, 40, 33);

	(void)state;
	assert_int_equal(count_of(t, EVENT_WIRE_HEARTBEAT), 6);
	for (size_t i = 0; i < 6; i++) {
		const struct heard *h = nth(t, EVENT_WIRE_HEARTBEAT, i);

		assert_int_equal(h->event.strength, STRENGTH_SUGGESTS);
		assert_int_equal(h->event.time.us - START_US,
				 (int64_t)(100 + 3000 * i + 40 * (i % 2)) * US_PER_MS);
		has_not(h, FIELD_GROUP);
	}
	/* Twins: no rhythm; a rhythm of half a second, as fetches have; too few to tell; answers that carry data. */
	assert_int_equal(count_of(under_tls(6, 3000, 2000, 33), EVENT_WIRE_HEARTBEAT), 0);
	assert_int_equal(count_of(under_tls(6, 500, 10, 33), EVENT_WIRE_HEARTBEAT), 0);
	assert_int_equal(count_of(under_tls(3, 3000, 40, 33), EVENT_WIRE_HEARTBEAT), 0);
	assert_int_equal(count_of(under_tls(6, 3000, 40, 900), EVENT_WIRE_HEARTBEAT), 0);
}

/* ---- what is no Kafka ---- */

static void other_protocols_are_left_alone(void **state)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: example\r\n\r\n", ok[] = "HTTP/1.1 200 OK\r\n\r\n";
	/* A ZooKeeper client's first frame: its zeros look like Produce 0 of a client id of no bytes. */
	static const uint8_t zookeeper[49] = { 0, 0, 0, 45, [18] = 0x75, 0x30 }, served[41] = { 0, 0, 0, 37 };
	struct talk *t = begin();
	uint32_t x = 12345;
	uint8_t noise[200];

	(void)state;
	opens(t, 0);
	for (int i = 0; i < 5; i++) {
		asks(t, 10 + i, (const uint8_t *)get, sizeof get - 1);
		answers(t, 10.5 + i, (const uint8_t *)ok, sizeof ok - 1);
	}
	/* Once it is known to be none it stays so. */
	beats(t, 100, 1);
	end(t);
	assert_int_equal(t->count, 0);

	t = begin();
	opens(t, 0);
	asks(t, 10, zookeeper, sizeof zookeeper);
	answers(t, 11, served, sizeof served);
	end(t);
	assert_int_equal(t->count, 0);

	for (int syn = 0; syn <= 1; syn++) {
		t = begin();
		if (syn)
			opens(t, 0);
		for (int i = 0; i < 100; i++) {
			for (size_t b = 0; b < sizeof noise; b++) {
				x = x * 1664525 + 1013904223;
				noise[b] = (uint8_t)(x >> 24);
			}
			asks(t, 10 + i, noise, sizeof noise);
			answers(t, 10.5 + i, noise, sizeof noise);
		}
		end(t);
		assert_int_equal(t->count, 0);
	}
}

/* A server that speaks first is no broker. */
static void a_greeting_is_no_kafka(void **state)
{
	static const char greeting[] = "SSH-2.0-OpenSSH_9.2\r\n";
	struct talk *t = begin();

	(void)state;
	opens(t, 0);
	answers(t, 5, (const uint8_t *)greeting, sizeof greeting - 1);
	beats(t, 10, 1);
	end(t);
	assert_int_equal(t->count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_is_read),
		cmocka_unit_test(the_tables_reach_as_far_as_the_frames),
		cmocka_unit_test(frames_are_put_together),
		cmocka_unit_test(segments_are_put_in_order),
		cmocka_unit_test(what_is_cut_off_is_not_made_up),
		cmocka_unit_test(the_oldest_commits_are_read),
		cmocka_unit_test(the_oldest_fetches_are_read),
		cmocka_unit_test(of_newer_versions_the_header_is_read),
		cmocka_unit_test(records_that_follow_are_told_once),
		cmocka_unit_test(what_was_left_out_is_not_told_as_delivered),
		cmocka_unit_test(records_that_come_again_are_told_apart),
		cmocka_unit_test(deliveries_are_told_within_ten_seconds),
		cmocka_unit_test(commits_that_follow_are_told_once),
		cmocka_unit_test(commits_of_which_the_offset_is_cut_off),
		cmocka_unit_test(commits_that_differ_are_told_apart),
		cmocka_unit_test(commits_are_told_within_ten_seconds),
		cmocka_unit_test(many_frames_share_a_segment),
		cmocka_unit_test(a_lost_segment_costs_its_frame_alone),
		cmocka_unit_test(a_segment_sent_again_is_received_late),
		cmocka_unit_test(a_conversation_is_joined_in_the_middle),
		cmocka_unit_test(a_corrupt_frame_is_left_behind),
		cmocka_unit_test(a_produce_without_acks_has_no_answer),
		cmocka_unit_test(what_was_not_answered_is_told_with_its_number),
		cmocka_unit_test(a_fetch_is_late_after_its_wait),
		cmocka_unit_test(the_start_of_a_fetch_says_how_long_it_waits),
		cmocka_unit_test(the_start_of_a_produce_says_whether_it_is_answered),
		cmocka_unit_test(topic_ids_are_named_by_metadata),
		cmocka_unit_test(sasl_is_passed_over),
		cmocka_unit_test(tokens_begin_while_records_come),
		cmocka_unit_test(heartbeats_under_tls_are_suggested),
		cmocka_unit_test(other_protocols_are_left_alone),
		cmocka_unit_test(a_greeting_is_no_kafka),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
