/* SPDX-License-Identifier: MIT */
/*
 * The readers of records, block by block as the drafts of pcap and pcapng have
 * them, and against libpcap on every capture in the tree that it reads.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pcap/pcap.h>

#include "capture_kit.h"
#include "input/capture/records.h"
#include "input/stream.h"
#include "input/kind.h"

#define START_S INT64_C(1700000000)
#define START_US (START_S * US_PER_S)

enum { LINK_NULL = 0, LINK_ETHERNET = 1, LINK_RAW = 101 };

/* ---- reading ---- */

struct reading {
	struct arena *arena;
	struct intake intake;
	const struct record_reader_ops *ops;
	struct record_reader *reader;
	const char *why;
	struct record record;
};

static void open_with(struct reading *r, const struct record_reader_ops *ops, const uint8_t *bytes, size_t n)
{
	memset(r, 0, sizeof *r);
	r->arena = arena_new();
	r->ops = ops;
	intake_init(&r->intake, stream_of(r->arena, (struct sv){ (const char *)bytes, n }), r->arena);
	r->reader = ops->open(&r->intake, r->arena, &r->why);
}

static void open_blocks(struct reading *r, const struct making *m)
{
	open_with(r, &record_pcapng, m->bytes, m->n);
	assert_non_null(r->reader);
}

static int next(struct reading *r)
{
	return r->ops->next(r->reader, &r->record, &r->why);
}

static void close_reading(struct reading *r)
{
	if (r->ops->close != NULL)
		r->ops->close(r->reader);
	arena_free(r->arena);
}

static void expect_packet(struct reading *r, uint32_t link, int64_t us, const char *bytes)
{
	assert_int_equal(next(r), 1);
	assert_true(r->record.is_packet);
	assert_int_equal(r->record.link, link);
	assert_true(r->record.has_time);
	assert_int_equal(r->record.time_us, us);
	assert_int_equal(r->record.captured, strlen(bytes));
	assert_memory_equal(r->record.bytes, bytes, strlen(bytes));
}

static void expect_end(struct reading *r)
{
	assert_int_equal(next(r), 0);
	close_reading(r);
}

static void expect_stop(struct reading *r, const char *why)
{
	assert_int_equal(next(r), -1);
	assert_string_equal(r->why, why);
	close_reading(r);
}

/* ---- making ---- */

static struct making begin(bool big_endian)
{
	struct making m = make_begin(big_endian);

	make_section(&m);
	return m;
}

static void interface(struct making *m, uint16_t link, uint32_t snaplen)
{
	make_block_end(m, make_interface(m, link, snaplen));
}

/* On an interface that counts microseconds. */
static void packet(struct making *m, uint32_t number, int64_t us, const char *bytes)
{
	make_block_end(m, make_packet(m, number, (uint64_t)us, bytes, strlen(bytes), strlen(bytes)));
}

static void statistics(struct making *m, uint32_t number, int64_t us, uint64_t ifdrop, uint64_t osdrop)
{
	size_t at = make_block(m, 5);

	make_number(m, number, 4);
	make_number(m, (uint64_t)us >> 32, 4);
	make_number(m, (uint64_t)us & UINT32_MAX, 4);
	make_option(m, 4, 1000, 8);	/* received: of no interest */
	make_option(m, 5, ifdrop, 8);
	make_option(m, 7, osdrop, 8);
	make_number(m, 0, 4);
	make_block_end(m, at);
}

/* ---- interfaces ---- */

static void test_interfaces_of_several_links_in_both_byte_orders(void **state)
{
	(void)state;
	for (int big = 0; big <= 1; big++) {
		struct making m = begin(big != 0);
		struct reading r;

		interface(&m, LINK_ETHERNET, 0);
		interface(&m, LINK_NULL, 0);
		packet(&m, 1, START_US + 1, "null");
		packet(&m, 0, START_US + 2, "ether");
		open_blocks(&r, &m);
		expect_packet(&r, LINK_NULL, START_US + 1, "null");
		assert_int_equal(r.record.offset, 28 + 20 + 20);
		expect_packet(&r, LINK_ETHERNET, START_US + 2, "ether");
		expect_end(&r);
		make_end(&m);
	}
}

static void test_units_of_time_are_of_the_interface(void **state)
{
	/* Half a second after the start, in each. */
	static const struct {
		uint8_t resolution;
		uint64_t per_second;
	} units[] = {
		{ 1, 10 }, { 3, 1000 }, { 6, 1000000 }, { 9, 1000000000 },
		{ 0x80 | 10, 1024 }, { 0x80 | 20, 1 << 20 }, { 0x80 | 31, UINT64_C(1) << 31 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		struct making m = begin(false);
		uint64_t ticks = (uint64_t)START_S * units[i].per_second + units[i].per_second / 2;
		struct reading r;
		size_t at = make_interface(&m, LINK_RAW, 0);

		make_option(&m, 9, units[i].resolution, 1);
		make_block_end(&m, at);
		make_block_end(&m, make_packet(&m, 0, ticks, "x", 1, 1));
		open_blocks(&r, &m);
		expect_packet(&r, LINK_RAW, START_US + 500000, "x");
		expect_end(&r);
		make_end(&m);
	}
}

/* A second of 2^60 ticks: none but the top digits are left of 64 bits, and they are right. */
static void test_finest_units_do_not_overflow(void **state)
{
	struct making m = begin(false);
	struct reading r;
	size_t at = make_interface(&m, LINK_RAW, 0);

	(void)state;
	make_option(&m, 9, 0x80 | 60, 1);
	make_option(&m, 14, (uint64_t)START_S, 8);
	make_block_end(&m, at);
	make_block_end(&m, make_packet(&m, 0, (UINT64_C(1) << 60) * 3 / 4, "x", 1, 1));
	at = make_interface(&m, LINK_RAW, 0);
	make_option(&m, 9, 0xff, 1);	/* 2^-127: nothing can be said in it */
	make_block_end(&m, at);
	make_block_end(&m, make_packet(&m, 1, 77, "y", 1, 1));
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US + 750000, "x");
	assert_int_equal(next(&r), 1);
	assert_false(r.record.has_time);
	expect_end(&r);
	make_end(&m);
}

static void test_offset_shifts_whole_seconds_either_way(void **state)
{
	struct making m = begin(true);
	struct reading r;
	size_t at = make_interface(&m, LINK_RAW, 0);

	(void)state;
	make_option(&m, 14, (uint64_t)INT64_C(-3600), 8);
	make_block_end(&m, at);
	packet(&m, 0, START_US + 7, "x");
	at = make_interface(&m, LINK_RAW, 0);
	make_option(&m, 14, (uint64_t)START_S, 8);	/* counted from the start of the capture */
	make_block_end(&m, at);
	packet(&m, 1, 0, "y");
	interface(&m, LINK_RAW, 0);
	packet(&m, 2, 0, "z");	/* the twin: no time was written */
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US + 7 - 3600 * US_PER_S, "x");
	expect_packet(&r, LINK_RAW, START_US, "y");
	assert_int_equal(next(&r), 1);
	assert_false(r.record.has_time);
	expect_end(&r);
	make_end(&m);
}

static void test_a_section_begins_its_interfaces_and_byte_order_anew(void **state)
{
	struct making m = begin(false);
	struct reading r;

	(void)state;
	interface(&m, LINK_ETHERNET, 0);
	packet(&m, 0, START_US, "a");
	m.big_endian = true;
	make_section(&m);
	interface(&m, LINK_RAW, 0);
	packet(&m, 0, START_US + 1, "b");
	packet(&m, 1, START_US + 2, "c");	/* described in the section before */
	open_blocks(&r, &m);
	expect_packet(&r, LINK_ETHERNET, START_US, "a");
	expect_packet(&r, LINK_RAW, START_US + 1, "b");
	expect_stop(&r, "it is of an interface that was not described");
	make_end(&m);
}

/* ---- packets ---- */

static void test_simple_packets_have_no_time_and_are_cut_by_the_snapshot_length(void **state)
{
	struct making m = begin(false);
	struct reading r;
	size_t at;

	(void)state;
	interface(&m, LINK_RAW, 5);
	at = make_block(&m, 3);
	make_number(&m, 60, 4);
	make_bytes(&m, "12345678", 8);
	make_block_end(&m, at);
	at = make_block(&m, 3);
	make_number(&m, 3, 4);
	make_bytes(&m, "abc", 3);
	make_block_end(&m, at);
	open_blocks(&r, &m);
	assert_int_equal(next(&r), 1);
	assert_false(r.record.has_time);
	assert_int_equal(r.record.captured, 5);
	assert_int_equal(r.record.wire, 60);
	assert_int_equal(next(&r), 1);
	assert_int_equal(r.record.captured, 3);
	assert_memory_equal(r.record.bytes, "abc", 3);
	expect_end(&r);
	make_end(&m);
}

static void test_blocks_of_no_interest_are_stepped_over_whatever_their_length(void **state)
{
	static const size_t lengths[] = { 0, 1, 4, 100000, INTAKE_ASK_MOST - 12, INTAKE_ASK_MOST, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		struct making m = begin(false);
		struct reading r;
		size_t at;

		interface(&m, LINK_RAW, 0);
		at = make_block(&m, 0x0bad);
		for (size_t n = 0; n < lengths[i]; n++)
			make_number(&m, 'z', 1);
		make_block_end(&m, at);
		packet(&m, 0, START_US, "x");
		open_blocks(&r, &m);
		expect_packet(&r, LINK_RAW, START_US, "x");
		expect_end(&r);
		make_end(&m);
	}
}

/* Of a packet that does not fit, the beginning is shown, and the next one is found. */
static void test_long_packets_are_shown_as_far_as_they_fit(void **state)
{
	static uint8_t bytes[500000];

	(void)state;
	memset(bytes, 'p', sizeof bytes);
	for (int ng = 0; ng <= 1; ng++) {
		struct making m = make_begin(false);
		struct reading r;

		if (ng != 0) {
			make_section(&m);
			interface(&m, LINK_RAW, 0);
			make_block_end(&m, make_packet(&m, 0, (uint64_t)START_US, bytes, sizeof bytes, 600000));
			packet(&m, 0, START_US + 1, "x");
		} else {
			make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
			make_pcap_record(&m, (uint32_t)START_S, 0, bytes, sizeof bytes, 600000);
			make_pcap_record(&m, (uint32_t)START_S, 1, (const uint8_t *)"x", 1, 1);
		}
		open_with(&r, ng != 0 ? &record_pcapng : &record_pcap, m.bytes, m.n);
		assert_int_equal(next(&r), 1);
		assert_in_range(r.record.captured, 300000, INTAKE_ASK_MOST);
		assert_int_equal(r.record.wire, 600000);
		assert_int_equal(r.record.bytes[r.record.captured - 1], 'p');
		expect_packet(&r, LINK_RAW, START_US + 1, "x");
		expect_end(&r);
		make_end(&m);
	}
}

/* ---- drops ---- */

static void assert_drops(const struct record *r, uint64_t packets, int64_t from_us, int64_t to_us)
{
	assert_int_equal(r->drops.packets, packets);
	assert_int_equal(r->drops.from_us, from_us);
	assert_int_equal(r->drops.to_us, to_us);
}

static void test_drops_before_a_packet_lie_behind_the_one_before_it_on_the_interface(void **state)
{
	struct making m = begin(false);
	struct reading r;
	size_t at;

	(void)state;
	interface(&m, LINK_RAW, 0);
	interface(&m, LINK_RAW, 0);
	packet(&m, 0, START_US, "a");
	packet(&m, 1, START_US + 10, "b");
	at = make_packet(&m, 0, (uint64_t)START_US + 20, "c", 1, 1);
	make_option(&m, 2, 0, 4);	/* flags */
	make_option(&m, 4, 3, 8);
	make_block_end(&m, at);
	at = make_block(&m, 2);	/* the older block: interface and drops in two bytes each */
	make_number(&m, 1, 2);
	make_number(&m, 5, 2);
	make_number(&m, (uint64_t)(START_US + 30) >> 32, 4);
	make_number(&m, (uint64_t)(START_US + 30) & UINT32_MAX, 4);
	make_number(&m, 1, 4);
	make_number(&m, 1, 4);
	make_bytes(&m, "d", 1);
	make_block_end(&m, at);
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "a");
	assert_int_equal(r.record.drops.packets, 0);
	expect_packet(&r, LINK_RAW, START_US + 10, "b");
	expect_packet(&r, LINK_RAW, START_US + 20, "c");
	assert_drops(&r.record, 3, START_US, START_US + 20);
	expect_packet(&r, LINK_RAW, START_US + 30, "d");
	assert_drops(&r.record, 5, START_US + 10, START_US + 30);
	expect_end(&r);
	make_end(&m);
}

static void test_statistics_tell_what_was_dropped_since_those_before(void **state)
{
	struct making m = begin(false);
	struct reading r;

	(void)state;
	interface(&m, LINK_RAW, 0);
	packet(&m, 0, START_US, "a");
	statistics(&m, 0, START_US + 10, 0, 0);
	statistics(&m, 0, START_US + 20, 4, 3);
	statistics(&m, 0, START_US + 30, 4, 3);
	statistics(&m, 0, START_US + 40, 5, 3);
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "a");
	assert_int_equal(next(&r), 1);
	assert_false(r.record.is_packet);
	assert_drops(&r.record, 7, START_US + 10, START_US + 20);
	assert_int_equal(next(&r), 1);
	assert_drops(&r.record, 1, START_US + 30, START_US + 40);
	expect_end(&r);
	make_end(&m);
}

/* ---- damage ---- */

static void test_lies_of_a_block_stop_the_reading_and_are_named(void **state)
{
	struct reading r;
	struct making m = begin(false);
	size_t at, length_at;

	(void)state;
	interface(&m, LINK_RAW, 0);
	packet(&m, 0, START_US, "ok");
	at = m.n;
	packet(&m, 0, START_US, "bad!");
	length_at = at + 8 + 12;

	m.bytes[length_at] = 5;	/* captured: one more than there is */
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "ok");
	expect_stop(&r, "its length does not fit its block");
	m.bytes[length_at] = 4;

	m.bytes[m.n - 4] ^= 4;	/* the length behind */
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "ok");
	expect_stop(&r, "the lengths before and behind its block differ");
	m.bytes[m.n - 4] ^= 4;

	m.bytes[at + 4] = 8;	/* the length before */
	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "ok");
	expect_stop(&r, "its block is shorter than a block can be");
	m.bytes[at + 4] = 36;

	open_with(&r, &record_pcapng, m.bytes, m.n - 1);
	expect_packet(&r, LINK_RAW, START_US, "ok");
	expect_stop(&r, "the file ends inside it");

	open_blocks(&r, &m);
	expect_packet(&r, LINK_RAW, START_US, "ok");
	expect_packet(&r, LINK_RAW, START_US, "bad!");
	expect_end(&r);
	make_end(&m);
}

static void test_option_longer_than_its_block(void **state)
{
	struct making m = begin(false);
	struct reading r;
	size_t at = make_interface(&m, LINK_RAW, 0);

	(void)state;
	make_number(&m, 9, 2);
	make_number(&m, 2, 2);
	make_block_end(&m, at);
	open_blocks(&r, &m);
	expect_stop(&r, "an option is longer than its block");
	make_end(&m);
}

static void test_pcap_of_impossible_length_stops(void **state)
{
	struct making m = make_begin(true);
	struct reading r;

	(void)state;
	make_pcap_header(&m, 0xa1b23c4d, LINK_RAW);
	make_pcap_record(&m, (uint32_t)START_S, 999999999, (const uint8_t *)"a", 1, 9);
	make_number(&m, 0, 8);
	make_number(&m, RECORD_CAPTURED_MOST + 1, 4);
	make_number(&m, 0, 4);
	open_with(&r, &record_pcap, m.bytes, m.n);
	expect_packet(&r, LINK_RAW, START_US + 999999, "a");
	assert_int_equal(r.record.wire, 9);
	expect_stop(&r, "its length of 1048577 bytes is beyond any packet's");
	make_end(&m);
}

/* ---- reading ahead ---- */

/* Gives its bytes in pieces of any size, and then is damaged or ends. */
struct pieces {
	const struct making *of;
	size_t at, piece;
	bool is_steady;		/* all pieces are of that size */
	bool damaged;
	unsigned reports;
};

static ptrdiff_t read_piece(void *context, void *bytes, size_t n)
{
	struct pieces *p = context;

	if (!p->is_steady)
		p->piece = p->piece * 7 % 99991 + 1;
	if (n > p->piece)
		n = p->piece;
	if (n > p->of->n - p->at)
		n = p->of->n - p->at;
	if (n == 0)
		return p->damaged ? -1 : 0;
	memcpy(bytes, p->of->bytes + p->at, n);
	p->at += n;
	return (ptrdiff_t)n;
}

static void count_report(void *context, uint64_t at)
{
	struct pieces *p = context;

	assert_int_equal(at, p->of->n);
	p->reports++;
}

static uint64_t add_record(uint64_t sum, const struct record *r)
{
	sum = sum * 31 + r->offset;
	sum = sum * 31 + (uint64_t)r->time_us;
	sum = sum * 31 + r->wire;
	sum = sum * 31 + r->link;
	sum = sum * 31 + (r->has_time ? 2 : 0) + r->is_packet;
	sum = sum * 31 + r->drops.packets;
	if (r->drops.packets > 0)
		sum = (sum * 31 + (uint64_t)r->drops.from_us) * 31 + (uint64_t)r->drops.to_us;
	for (uint32_t i = 0; i < r->captured; i++)
		sum = sum * 31 + r->bytes[i];
	return sum;
}

/* One by one, of whatever reader. */
static uint64_t sum_alone(struct pieces *p)
{
	struct arena *a = arena_new();
	struct intake intake;
	struct record_reader *reader;
	struct record r;
	const char *why;
	uint64_t sum = 0;

	intake_init(&intake, stream_new(a, (struct stream_source){ .read = read_piece, .report = count_report, .context = p }), a);
	reader = record_pcap.open(&intake, a, &why);
	assert_non_null(reader);
	while (record_pcap.next(reader, &r, &why) == 1)
		sum = add_record(sum, &r);
	arena_free(a);
	return sum;
}

/* Of all bytes and places; every run is looked at as a whole, before the next one is asked for. */
static uint64_t sum_of(struct pieces *p, unsigned threads, unsigned stop_after, int end)
{
	struct arena *a = arena_new();
	struct stream *stream = stream_new(a, (struct stream_source){ .read = read_piece, .report = count_report, .context = p });
	struct record_run run = { .count = 0 };
	struct records *records;
	const char *why;
	uint64_t sum = 0;
	unsigned runs = 0;
	int rc = 1;

	assert_true(records_open(stream, &record_pcap, threads, &records, &why));
	while (runs < stop_after && (rc = records_next(records, &run, &why)) == 1) {
		runs++;
		assert_true(run.count > 0);
		for (size_t i = 0; i < run.count; i++)
			sum = add_record(sum, &run.record[i]);
	}
	assert_int_equal(rc, end);
	if (end != 1) {
		assert_int_equal(records_is_damaged(records), end < 0);
		assert_int_equal(records_offset(records), p->of->n);
	}
	records_close(records);
	arena_free(a);
	return sum;
}

/* Packets of 0 to 9,999 bytes, over many blocks. */
static void test_what_is_read_ahead_is_the_same(void **state)
{
	static uint8_t bytes[10000];
	struct making m = make_begin(false);

	(void)state;
	make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
	for (uint32_t i = 0; m.n + 2 * sizeof bytes < MAKING_BYTES_MAX; i++) {
		memset(bytes, (int)i, sizeof bytes);
		make_pcap_record(&m, (uint32_t)START_S, i, bytes, (size_t)i * 7919 % 10000, 10000);
	}
	for (int damaged = 0; damaged <= 1; damaged++) {
		struct pieces alone = { .of = &m, .piece = 1, .damaged = damaged != 0 }, ahead = alone, each = alone;
		uint64_t sum = sum_alone(&each);

		assert_true(sum_of(&alone, 1, UINT32_MAX, -damaged) == sum);
		assert_true(sum_of(&ahead, 2, UINT32_MAX, -damaged) == sum);
		assert_int_equal(alone.reports, damaged);
		assert_int_equal(ahead.reports, damaged);
	}
	/* Who stops early leaves nothing behind. */
	{
		struct pieces p = { .of = &m, .piece = 1 };

		sum_of(&p, 2, 1, 1);
	}
	make_end(&m);
}

/* A block may end before a record, in its header, or so many bytes before its end. */
static void test_a_block_may_end_anywhere(void **state)
{
	struct making m = make_begin(false);
	static uint8_t bytes[STREAM_HEAD_BYTES] = { 1, 2, 3 };

	(void)state;
	make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
	/* The stream has read that much before anybody asks it. */
	make_pcap_record(&m, (uint32_t)START_S, 0, bytes, sizeof bytes - 24 - 16, 1);
	for (uint32_t i = 0; i < 20; i++)
		make_pcap_record(&m, (uint32_t)START_S, i, bytes, 100 - i, 100);
	for (size_t piece = 1; piece < 400; piece++) {
		struct pieces runs = { .of = &m, .piece = piece, .is_steady = true }, each = runs;

		assert_true(sum_of(&runs, 1, UINT32_MAX, 0) == sum_alone(&each));
	}
	make_end(&m);
}

/* More than can be shown of a packet is stepped over, and the next one found behind it. */
static void test_a_long_packet_among_short_ones(void **state)
{
	struct making m = make_begin(false);
	uint8_t *bytes = calloc(1, 400000);

	(void)state;
	assert_non_null(bytes);
	make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
	for (uint32_t i = 0; i < 30; i++)
		make_pcap_record(&m, (uint32_t)START_S, i, bytes, i % 10 == 5 ? 400000 : 60, 400000);
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct pieces runs = { .of = &m, .piece = 1000000, .is_steady = true }, each = runs;

		assert_true(sum_of(&runs, threads, UINT32_MAX, 0) == sum_alone(&each));
	}
	free(bytes);
	make_end(&m);
}

/* Records of 16 bytes: more lie in a block than in a run. */
static void test_empty_packets_without_end_are_all_there(void **state)
{
	struct making m = make_begin(false);
	uint32_t count = 0;

	(void)state;
	make_pcap_header(&m, 0xa1b2c3d4, LINK_RAW);
	while (m.n + 16 < MAKING_BYTES_MAX)
		make_pcap_record(&m, (uint32_t)START_S, count++, (const uint8_t *)"", 0, 60);
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct pieces p = { .of = &m, .piece = 1 };
		struct arena *a = arena_new();
		struct record_run run;
		struct records *records;
		const char *why;
		uint32_t seen = 0;

		assert_true(records_open(stream_new(a, (struct stream_source){ .read = read_piece, .report = count_report, .context = &p }), &record_pcap, threads,
					 &records, &why));
		while (records_next(records, &run, &why) == 1)
			for (size_t i = 0; i < run.count; i++)
				assert_int_equal(run.record[i].time_us, START_US + seen++);
		assert_int_equal(seen, count);
		records_close(records);
		arena_free(a);
	}
	make_end(&m);
}

/* ---- records that lie whole in what has been read ---- */

/* All that a reader gave, and how it ended. */
struct given {
	uint64_t sum;
	size_t whole;	/* records of next_whole */
	int rc;
	char why[80];
	uint64_t offset;
};

/* most: to ask next_whole for before each next; 0: next alone. */
static struct given read_all(const struct record_reader_ops *ops, const struct making *m, size_t piece, size_t most)
{
	struct pieces p = { .of = m, .piece = piece, .is_steady = true };
	struct arena *a = arena_new();
	struct given given = { .rc = 1 };
	struct record record[3];
	struct record_reader *reader;
	struct intake intake;
	const char *why = "";

	assert_in_range(most, 0, 3);
	intake_init(&intake, stream_new(a, (struct stream_source){ .read = read_piece, .report = count_report, .context = &p }), a);
	reader = ops->open(&intake, a, &why);
	while (reader != NULL && given.rc == 1) {
		size_t n = most > 0 ? ops->next_whole(reader, record, most) : 0;

		given.whole += n;
		for (size_t i = 0; i < n; i++)
			given.sum = add_record(given.sum, &record[i]);
		given.rc = ops->next(reader, &record[0], &why);
		if (given.rc == 1)
			given.sum = add_record(given.sum, &record[0]);
	}
	given.offset = intake.offset;
	snprintf(given.why, sizeof given.why, "%s", reader == NULL || given.rc < 0 ? why : "");
	arena_free(a);
	return given;
}

/* How many of the records next_whole gave. */
static size_t assert_same(const struct record_reader_ops *ops, const struct making *m, size_t piece)
{
	const struct given alone = read_all(ops, m, piece, 0);
	size_t whole = 0;

	for (size_t most = 1; most <= 3; most++) {
		const struct given given = read_all(ops, m, piece, most);

		assert_true(given.sum == alone.sum);
		assert_int_equal(given.rc, alone.rc);
		assert_string_equal(given.why, alone.why);
		assert_int_equal(given.offset, alone.offset);
		whole += given.whole;
	}
	return whole;
}

/* Of every kind of block, with options and without, on two interfaces; behind so many bytes of no interest. */
static void make_blocks(struct making *m, size_t filler)
{
	size_t at;

	make_section(m);
	at = make_block(m, 0x0bad);
	for (size_t i = 0; i < filler; i++)
		make_number(m, 'z', 1);
	make_block_end(m, at);
	interface(m, LINK_ETHERNET, 0);
	at = make_interface(m, LINK_RAW, 0);
	make_option(m, 9, 9, 1);	/* nanoseconds */
	make_number(m, 0, 4);
	make_block_end(m, at);
	for (int i = 0; i < 6; i++)
		packet(m, 0, START_US + i, &"seven.."[i]);
	at = make_packet(m, 1, (uint64_t)START_US * 1000 + 5, "dropped before", 14, 60);
	make_option(m, 4, 3, 8);
	make_number(m, 0, 4);
	make_block_end(m, at);
	statistics(m, 0, START_US + 7, 2, 1);
	make_block_end(m, make_block(m, 0x0bad));
	packet(m, 0, START_US + 8, "");
	packet(m, 0, START_US + 9, "nine");
	packet(m, 1, (START_US + 10) * 1000, "ten");
}

static void make_records(struct making *m, size_t filler)
{
	static const uint8_t zeros[STREAM_HEAD_BYTES];

	make_pcap_header(m, 0xa1b2c3d4, LINK_RAW);
	make_pcap_record(m, (uint32_t)START_S, 0, zeros, filler, filler);
	for (uint32_t i = 0; i < 9; i++)
		make_pcap_record(m, (uint32_t)START_S, i, (const uint8_t *)"123456789" + i, 9 - i, 9);
}

/* Cut at any place into pieces, and with any bit another. */
static void test_whole_records_are_those_that_come_one_by_one(void **state)
{
	const struct {
		const struct record_reader_ops *ops;
		void (*make)(struct making *m, size_t filler);
	} formats[] = { { &record_pcapng, make_blocks }, { &record_pcap, make_records } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct record_reader_ops *ops = formats[i % 2].ops;
		struct making m = make_begin(i >= 2);
		size_t whole = 0;

		/* The stream has read its head before anybody asks it. */
		formats[i % 2].make(&m, STREAM_HEAD_BYTES - 60);
		for (size_t piece = 1; piece < 200; piece++)
			whole += assert_same(ops, &m, piece);
		assert_true(whole > 0);
		make_end(&m);

		m = make_begin(i >= 2);
		formats[i % 2].make(&m, 0);
		assert_true(assert_same(ops, &m, m.n) > 0);
		for (size_t bit = 0; bit < m.n * 8; bit++) {
			m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_same(ops, &m, m.n);
			m.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		make_end(&m);
	}
}

/* Then nothing of what follows is looked at before the long one has been stepped over, and its end looked at. */
static void test_whole_records_wait_for_the_end_of_a_long_packet(void **state)
{
	/* A block with the one is longer by four than what can be shown: its second length alone is not. */
	static const size_t lengths[] = { INTAKE_ASK_MOST + 4 - 32, 400000 };
	static uint8_t bytes[400000];
	struct making inside = make_begin(false);

	(void)state;
	/* Where what is shown of it ends, the longer one looks like its end and a packet. */
	make_number(&inside, sizeof bytes + 32, 4);
	packet(&inside, 0, START_US, "no packet");
	memcpy(bytes + INTAKE_ASK_MOST - 28, inside.bytes, inside.n);
	make_end(&inside);
	for (size_t i = 0; i < 4; i++) {
		struct making m = begin(false);

		interface(&m, LINK_RAW, 0);
		make_block_end(&m, make_packet(&m, 0, (uint64_t)START_US, bytes, lengths[i % 2], lengths[i % 2]));
		if (i >= 2)
			m.bytes[m.n - 4] ^= 4;
		packet(&m, 0, START_US + 1, "a");
		packet(&m, 0, START_US + 2, "b");
		assert_same(&record_pcapng, &m, m.n);
		assert_int_equal(read_all(&record_pcapng, &m, m.n, 1).rc, i >= 2 ? -1 : 0);
		make_end(&m);
	}
}

/* Blocks are padded to four bytes (3.1 of the draft): a length behind that stands earlier is none. */
static void test_whole_records_are_of_padded_blocks(void **state)
{
	struct making m = begin(false);
	size_t at;

	(void)state;
	interface(&m, LINK_RAW, 0);
	packet(&m, 0, START_US, "first");
	at = make_packet(&m, 0, (uint64_t)START_US, "five!", 5, 5);
	m.n = at + 8 + 20 + 5;
	make_number(&m, 37, 4);
	m.bytes[at + 4] = 37;
	make_number(&m, 0, 3);
	packet(&m, 0, START_US + 1, "last");
	assert_same(&record_pcapng, &m, m.n);
	assert_int_equal(read_all(&record_pcapng, &m, m.n, 1).rc, -1);
	make_end(&m);
}

/* ---- against libpcap ---- */

/* Records that both read are alike; libpcap may stop before, and never goes on after. */
static size_t compare(const char *path, const struct record_reader_ops *ops)
{
	struct making m = make_of_file(path);
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *theirs = pcap_open_offline(path, error);
	struct pcap_pkthdr *header;
	const uint8_t *bytes;
	struct reading r;
	size_t records = 0;

	assert_non_null(theirs);
	open_with(&r, ops, m.bytes, m.n);
	assert_non_null(r.reader);
	while (pcap_next_ex(theirs, &header, &bytes) == 1) {
		do
			assert_int_equal(next(&r), 1);
		while (!r.record.is_packet);
		/* libpcap cuts at the snapshot length, though more was written. */
		if (r.record.captured < (uint32_t)pcap_snapshot(theirs))
			assert_int_equal(r.record.captured, header->caplen);
		assert_true(r.record.captured >= header->caplen);
		assert_int_equal(r.record.wire, header->len);
		assert_memory_equal(r.record.bytes, bytes, header->caplen);
		if (r.record.has_time)
			assert_int_equal(r.record.time_us, header->ts.tv_sec * US_PER_S + header->ts.tv_usec);
		records++;
	}
	pcap_close(theirs);
	close_reading(&r);
	make_end(&m);
	return records;
}

/* As many as tcpdump lists: it stops at an interface that differs from the first. */
static void test_records_are_those_of_libpcap(void **state)
{
#define SAMPLE(name) "samples/captures/" name
#define SEED(name) "tests/fuzz/corpus/capture/" name
	static const struct {
		const char *path;
		const struct record_reader_ops *ops;
		size_t records;
	} files[] = {
		{ SAMPLE("f-lp-geneve.pcap"), &record_pcap, 10 },
		{ SAMPLE("f-pp-nanosecs_big_endian.pcap"), &record_pcap, 10 },
		{ SAMPLE("f-td-bigtcp-ipv4.pcap"), &record_pcap, 1 },
		{ SAMPLE("f-td-mptcp-v1.pcap"), &record_pcap, 20 },
		{ SAMPLE("lab-blip.pcap"), &record_pcap, 1114 },
		{ SAMPLE("t-ark-tcpseq_synthetic.pcap"), &record_pcap, 39 },
		{ SAMPLE("t-df-client-keep-alive.pcap"), &record_pcap, 10 },
		{ SAMPLE("t-df-server-queue-lack.pcap"), &record_pcap, 16 },
		{ SAMPLE("t-sv-bug-5867-dupacks.pcap"), &record_pcap, 225 },
		{ SAMPLE("t-sv-simple-gap2.pcap"), &record_pcap, 7 },
		{ SAMPLE("t-zk-retransmit-fast009.pcap"), &record_pcap, 39 },
		{ SAMPLE("t-zk-window-scale-range.pcap"), &record_pcap, 5 },
		{ SEED("f-sv-bad-caplen.pcap"), &record_pcap, 1 },
		{ SEED("f-sv-defrag-ppp.pcap"), &record_pcap, 3 },
		{ SEED("f-zk-linux_dlt_sll2.pcap"), &record_pcap, 6 },
		{ SEED("f-zk-snap-tcp.pcap"), &record_pcap, 8 },
		{ SEED("f-zk-trunc-hdr.pcap"), &record_pcap, 1 },
		{ SEED("t-df-l4-source-port-reuse.pcap"), &record_pcap, 4 },
		{ SEED("t-df-rtt-rtt-2.pcap"), &record_pcap, 17 },
		{ SEED("t-sv-overlap2.pcap"), &record_pcap, 7 },
		{ SEED("t-zk-rst-inject-rae.pcap"), &record_pcap, 9 },
		{ SEED("f-ng-be-test008.pcapng"), &record_pcapng, 1 },
		{ SEED("f-ng-be-test101.pcapng"), &record_pcapng, 0 },
		{ SEED("f-ng-le-test006.pcapng"), &record_pcapng, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		assert_int_equal(compare(files[i].path, files[i].ops), files[i].records);
}

/* libpcap reads Kuznetzov's records, which are longer by eight bytes. */
static void test_what_libpcap_alone_knows_is_read_through_it(void **state)
{
	struct making m = make_begin(false);
	struct reading r;

	(void)state;
	make_pcap_header(&m, 0xa1b2cd34, LINK_ETHERNET);
	make_pcap_record(&m, (uint32_t)START_S, 5, (const uint8_t *)"", 0, 3);
	m.bytes[m.n - 8] = 3;	/* captured */
	make_number(&m, 0, 8);
	make_bytes(&m, "abc", 3);
	open_with(&r, &record_libpcap, m.bytes, m.n);
	assert_non_null(r.reader);
	expect_packet(&r, LINK_ETHERNET, START_US + 5, "abc");
	expect_end(&r);
	open_with(&r, &record_libpcap, m.bytes, m.n - 1);
	expect_stop(&r, "the file ends inside it");
	make_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interfaces_of_several_links_in_both_byte_orders),
		cmocka_unit_test(test_units_of_time_are_of_the_interface),
		cmocka_unit_test(test_finest_units_do_not_overflow),
		cmocka_unit_test(test_offset_shifts_whole_seconds_either_way),
		cmocka_unit_test(test_a_section_begins_its_interfaces_and_byte_order_anew),
		cmocka_unit_test(test_simple_packets_have_no_time_and_are_cut_by_the_snapshot_length),
		cmocka_unit_test(test_blocks_of_no_interest_are_stepped_over_whatever_their_length),
		cmocka_unit_test(test_long_packets_are_shown_as_far_as_they_fit),
		cmocka_unit_test(test_drops_before_a_packet_lie_behind_the_one_before_it_on_the_interface),
		cmocka_unit_test(test_statistics_tell_what_was_dropped_since_those_before),
		cmocka_unit_test(test_lies_of_a_block_stop_the_reading_and_are_named),
		cmocka_unit_test(test_option_longer_than_its_block),
		cmocka_unit_test(test_pcap_of_impossible_length_stops),
		cmocka_unit_test(test_what_is_read_ahead_is_the_same),
		cmocka_unit_test(test_a_block_may_end_anywhere),
		cmocka_unit_test(test_a_long_packet_among_short_ones),
		cmocka_unit_test(test_empty_packets_without_end_are_all_there),
		cmocka_unit_test(test_whole_records_are_those_that_come_one_by_one),
		cmocka_unit_test(test_whole_records_wait_for_the_end_of_a_long_packet),
		cmocka_unit_test(test_whole_records_are_of_padded_blocks),
		cmocka_unit_test(test_records_are_those_of_libpcap),
		cmocka_unit_test(test_what_libpcap_alone_knows_is_read_through_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
