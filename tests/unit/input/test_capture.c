/* SPDX-License-Identifier: MIT */
/*
 * Captures, made byte by byte or recorded elsewhere (samples/captures/README.md
 * says where), to events and problems.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture_kit.h"
#include "input/kind.h"
#include "input/stream.h"
#include "input/capture/tcp.h"

/* ---- a capture, made byte by byte ---- */

#define START_S UINT32_C(1700000000)
#define FILE_BYTES_MAX 262144

struct file {
	uint8_t bytes[FILE_BYTES_MAX];
	size_t n;
	bool big_endian;
};

static void add(struct file *f, const void *bytes, size_t n)
{
	assert_true(f->n + n <= FILE_BYTES_MAX);
	memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

static void add_number(struct file *f, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint8_t byte = (uint8_t)(v >> 8 * (f->big_endian ? n - 1 - i : i));

		add(f, &byte, 1);
	}
}

static void add_pcap_header(struct file *f, bool big_endian, uint32_t magic, uint32_t link)
{
	f->n = 0;
	f->big_endian = big_endian;
	add_number(f, magic, 4);
	add_number(f, 2, 2);
	add_number(f, 4, 2);
	add_number(f, 0, 4);
	add_number(f, 0, 4);
	add_number(f, 65535, 4);
	add_number(f, link, 4);
}

/* fraction: in the unit of the magic number. */
static void add_record(struct file *f, uint32_t s, uint32_t fraction, const struct file *packet, size_t captured)
{
	add_number(f, s, 4);
	add_number(f, fraction, 4);
	add_number(f, captured, 4);
	add_number(f, packet->n, 4);
	add(f, packet->bytes, captured);
}

/* ---- packets; always big-endian ---- */

enum { ETHERNET = 1, NULL_LINK = 0, RAW = 101, LOOP = 108, SLL = 113, SLL2 = 276 };

struct tcp_header {
	bool from_b;
	uint16_t port;		/* of a */
	uint32_t sequence, acknowledgment;
	uint8_t flags;
	uint16_t bytes;		/* of payload */
};

static void add_tcp(struct file *p, const struct tcp_header *h)
{
	add_number(p, h->from_b ? 9092 : h->port, 2);
	add_number(p, h->from_b ? h->port : 9092, 2);
	add_number(p, h->sequence, 4);
	add_number(p, h->acknowledgment, 4);
	add_number(p, 6 << 12 | h->flags, 2);	/* 24 bytes: a window scale option */
	add_number(p, 500, 2);
	add_number(p, 0, 4);
	add(p, "\x03\x03\x07\x00", 4);
	for (int i = 0; i < h->bytes; i++)
		add_number(p, 'x', 1);
}

static uint16_t next_id(void)
{
	static uint16_t id;

	return ++id;
}

/* length: what the header says; -1: the truth. */
static void add_ipv4(struct file *p, const struct tcp_header *h, int length, uint16_t fragment)
{
	add_number(p, 0x4600, 2);	/* 24 bytes: with an option */
	add_number(p, length >= 0 ? (uint64_t)length : 24U + 24U + h->bytes, 2);
	add_number(p, next_id(), 2);
	add_number(p, fragment, 2);
	add_number(p, 64 << 8 | 6, 2);
	add_number(p, 0, 2);
	add_number(p, h->from_b ? 0x0a000002 : 0x0a000001, 4);
	add_number(p, h->from_b ? 0x0a000001 : 0x0a000002, 4);
	add_number(p, 0x01010100, 4);
	add_tcp(p, h);
}

/* With a hop-by-hop and a destination options header. */
static void add_ipv6(struct file *p, const struct tcp_header *h)
{
	uint8_t address[16] = { 0xfe, 0x80 };

	add_number(p, 0x60000000, 4);
	add_number(p, 8U + 16U + 24U + h->bytes, 2);
	add_number(p, 0 << 8 | 64, 2);
	address[15] = h->from_b ? 2 : 1;
	add(p, address, 16);
	address[15] = h->from_b ? 1 : 2;
	add(p, address, 16);
	add_number(p, UINT64_C(0x3c00010400000000), 8);
	add_number(p, UINT64_C(0x0601010c00000000), 8);
	add_number(p, 0, 8);
	add_tcp(p, h);
}

static void begin_packet(struct file *p)
{
	p->n = 0;
	p->big_endian = true;
}

static void add_ethernet(struct file *p, uint16_t type)
{
	add(p, "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
	add_number(p, type, 2);
}

static void make_ethernet(struct file *p, const struct tcp_header *h)
{
	begin_packet(p);
	add_ethernet(p, 0x0800);
	add_ipv4(p, h, -1, 0);
}

/* ---- a conversation in a capture: one request a second, answered ---- */

static struct tcp_header request(uint32_t i)
{
	return (struct tcp_header){ .port = 40001, .sequence = 1001 + 100 * i, .acknowledgment = 5001 + 16 * i,
				    .flags = TCP_ACK, .bytes = 100 };
}

static struct tcp_header answer(uint32_t i)
{
	return (struct tcp_header){ .from_b = true, .port = 40001, .sequence = 5001 + 16 * i,
				    .acknowledgment = 1101 + 100 * i, .flags = TCP_ACK, .bytes = 16 };
}

/* Three packets, of 162, 78 and 62 bytes. */
static void add_exchange(struct file *f, uint32_t i, uint32_t at_s)
{
	static struct file p;
	struct tcp_header ask = request(i), reply = answer(i), thanks = request(i + 1);

	make_ethernet(&p, &ask);
	add_record(f, at_s, 0, &p, p.n);
	make_ethernet(&p, &reply);
	add_record(f, at_s, 1000, &p, p.n);
	thanks.bytes = 0;
	make_ethernet(&p, &thanks);
	add_record(f, at_s, 1050, &p, p.n);
}

/* ---- reading ---- */

#define EVENTS_MAX 4096

struct seen {
	struct event event;
	char path_a[64];
};

struct reading {
	struct arena *arena;
	struct diag *diag;
	struct input_info info;
	struct seen events[EVENTS_MAX];
	size_t count;
	int rc;
};

static int put(void *context, const struct event *e)
{
	struct reading *r = context;
	struct sv a = event_text(e, FIELD_PATH_A);

	assert_true(r->count < EVENTS_MAX);
	r->events[r->count].event = *e;
	memset(r->events[r->count].path_a, 0, sizeof r->events[r->count].path_a);
	if (a.p != NULL)
		memcpy(r->events[r->count].path_a, a.p, a.n);
	r->count++;
	return 0;
}

static struct reading *read_bytes(const void *bytes, size_t n)
{
	static struct reading r;
	struct ingest in;

	memset(&r, 0, sizeof r);
	r.arena = arena_new();
	r.diag = diag_new(r.arena);
	r.info.id = 7;
	r.info.host = SV("consumer-1");
	in = (struct ingest){ .stream = stream_of(r.arena, (struct sv){ bytes, n }), .info = &r.info,
			      .sink = { put, &r }, .diag = r.diag, .record = r.arena, .input = r.arena };
	r.rc = capture_kind.read(&in);
	return &r;
}

static struct reading *read_file(const struct file *f)
{
	return read_bytes(f->bytes, f->n);
}

static struct reading *read_sample(const char *path)
{
	static uint8_t bytes[FILE_BYTES_MAX];
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	return read_bytes(bytes, n);
}

static void done(struct reading *r)
{
	assert_int_equal(r->rc, 0);
	arena_free(r->arena);
}

static size_t count_of(const struct reading *r, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		n += r->events[i].event.type == type;
	return n;
}

static const struct seen *find(const struct reading *r, enum event_type type, size_t nth)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->events[i].event.type == type && nth-- == 0)
			return &r->events[i];
	fail_msg("no such event: %s", event_infos[type].name);
	return &r->events[0];
}

static int64_t field(const struct seen *s, enum event_field f)
{
	int64_t value = -1;

	assert_true(event_int(&s->event, f, &value));
	return value;
}

static int64_t sum(const struct reading *r, enum event_type type, enum event_field f)
{
	int64_t total = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->events[i].event.type == type)
			total += event_int_or(&r->events[i].event, f, 0);
	return total;
}

static void assert_problem(const struct reading *r, const char *code, enum severity severity, uint64_t packet)
{
	for (size_t i = 0; i < diag_count(r->diag); i++) {
		const struct problem *p = diag_at(r->diag, i);

		if (!sv_eq(p->code, sv_of(code)))
			continue;
		assert_int_equal(p->severity, severity);
		assert_int_equal(p->place.number, packet);
		return;
	}
	fail_msg("no problem %s", code);
}

static void assert_no_problem(const struct reading *r)
{
	if (diag_count(r->diag) > 0)
		fail_msg("%.*s", SV_ARG(diag_at(r->diag, 0)->message));
}

static int64_t us(uint32_t s, int64_t more_us)
{
	return (int64_t)s * US_PER_S + more_us;
}

static void assert_interval(const struct seen *s, int64_t from_us, int64_t to_us)
{
	assert_int_equal(s->event.time.us, from_us);
	assert_int_equal(s->event.time.us + s->event.duration_us, to_us);
}

/* ---- formats ---- */

static void test_every_pcap_variant_gives_the_same(void **state)
{
	static const struct {
		bool big_endian;
		uint32_t magic, per_us;
	} variants[] = { { false, 0xa1b2c3d4, 1 }, { true, 0xa1b2c3d4, 1 }, { false, 0xa1b23c4d, 1000 },
			 { true, 0xa1b23c4d, 1000 } };
	static struct file f, p;

	(void)state;
	for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
		struct tcp_header ask = request(0), reply = answer(0);
		struct reading *r;

		add_pcap_header(&f, variants[i].big_endian, variants[i].magic, ETHERNET);
		make_ethernet(&p, &ask);
		add_record(&f, START_S, 250 * variants[i].per_us, &p, p.n);
		make_ethernet(&p, &reply);
		add_record(&f, START_S, 1250 * variants[i].per_us, &p, p.n);
		r = read_file(&f);
		assert_no_problem(r);
		assert_true(sv_eq(r->info.format, SV("pcap")));
		assert_true(sv_eq(r->info.zone_name, SV("UTC")));
		assert_int_equal(r->info.records, 2);
		assert_int_equal(r->info.skipped, 0);
		assert_interval(find(r, EVENT_NET_CONNECTION, 0), us(START_S, 250), us(START_S, 1250));
		assert_string_equal(find(r, EVENT_NET_CONNECTION, 0)->path_a, "10.0.0.1:40001");
		assert_int_equal(field(find(r, EVENT_NET_SECOND, 0), FIELD_RTT_MEDIAN_US), 1000);
		done(r);
	}
}

static void add_block(struct file *f, uint32_t type, const struct file *body)
{
	uint32_t padding = (uint32_t)(-body->n & 3), total = (uint32_t)body->n + padding + 12;

	add_number(f, type, 4);
	add_number(f, total, 4);
	add(f, body->bytes, body->n);
	add_number(f, 0, padding);
	add_number(f, total, 4);
}

/* if_tsresol 6 is the default: microseconds. */
static void add_enhanced_packet(struct file *f, uint32_t s, uint32_t micros, const struct file *packet)
{
	static struct file body;
	uint64_t t = (uint64_t)s * 1000000 + micros;

	body.n = 0;
	body.big_endian = f->big_endian;
	add_number(&body, 0, 4);
	add_number(&body, t >> 32, 4);
	add_number(&body, t & 0xffffffff, 4);
	add_number(&body, packet->n, 4);
	add_number(&body, packet->n, 4);
	add(&body, packet->bytes, packet->n);
	add_block(f, 6, &body);
}

static void add_pcapng_header(struct file *f, bool big_endian)
{
	struct file *body = calloc(1, sizeof *body);

	assert_non_null(body);
	f->n = 0;
	f->big_endian = body->big_endian = big_endian;
	add_number(body, 0x1a2b3c4d, 4);
	add_number(body, 1, 2);
	add_number(body, 0, 2);
	add_number(body, UINT64_MAX, 8);
	add_block(f, 0x0a0d0d0a, body);
	body->n = 0;
	add_number(body, ETHERNET, 2);
	add_number(body, 0, 2);
	add_number(body, 65535, 4);
	add_block(f, 1, body);
	free(body);
}

static void test_pcapng_of_both_byte_orders(void **state)
{
	static struct file f, p;

	(void)state;
	for (int big = 0; big <= 1; big++) {
		struct tcp_header ask = request(0), reply = answer(0);
		struct reading *r;

		add_pcapng_header(&f, big != 0);
		make_ethernet(&p, &ask);
		add_enhanced_packet(&f, START_S, 250, &p);
		make_ethernet(&p, &reply);
		add_enhanced_packet(&f, START_S, 1250, &p);
		r = read_file(&f);
		assert_no_problem(r);
		assert_true(sv_eq(r->info.format, SV("pcapng")));
		assert_interval(find(r, EVENT_NET_CONNECTION, 0), us(START_S, 250), us(START_S, 1250));
		assert_int_equal(find(r, EVENT_NET_CONNECTION, 0)->event.place.number, 1);
		done(r);
	}
}

static enum sniffed sniff(const void *bytes, size_t n)
{
	const char *why = NULL;
	enum sniffed s = capture_kind.sniff((struct sv){ bytes, n }, SV("x.log"), NULL, &why);

	assert_true((s == SNIFF_BROKEN) == (why != NULL));
	return s;
}

static void test_sniffing_asks_the_content_alone(void **state)
{
	static struct file f;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	assert_int_equal(sniff(f.bytes, f.n), SNIFF_MINE);
	assert_int_equal(sniff(f.bytes, 23), SNIFF_BROKEN);
	assert_int_equal(sniff(f.bytes, 3), SNIFF_NOT_MINE);
	assert_int_equal(sniff("", 0), SNIFF_NOT_MINE);
	assert_int_equal(sniff("[2026-11-30 13:00:00,000] INFO not a capture", 44), SNIFF_NOT_MINE);
	add_pcapng_header(&f, true);
	assert_int_equal(sniff(f.bytes, f.n), SNIFF_MINE);
	assert_int_equal(sniff(f.bytes, 20), SNIFF_BROKEN);
}

/* ---- links and headers ---- */

static void put_vlan(struct file *p)
{
	add_ethernet(p, 0x88a8);
	add_number(p, 0x00648100, 4);
	add_number(p, 0x00650800, 4);
}

static void put_snap(struct file *p)
{
	add_ethernet(p, 180);	/* a length */
	add_number(p, 0xaaaa03, 3);
	add_number(p, 0, 3);
	add_number(p, 0x0800, 2);
}

static void put_ethernet(struct file *p)
{
	add_ethernet(p, 0x0800);
}

static void put_sll(struct file *p)
{
	add(p, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0", 14);
	add_number(p, 0x0800, 2);
}

static void put_sll2(struct file *p)
{
	add_number(p, 0x0800, 2);
	add(p, "\0\0\0\0\0\2\0\1\0\6\2\0\0\0\0\1\0\0", 18);
}

static void put_family(struct file *p)
{
	add(p, "\2\0\0\0", 4);
}

static void put_nothing(struct file *p)
{
	(void)p;
}

static void test_every_link_type_is_decoded(void **state)
{
	static const struct {
		uint32_t link;
		void (*put_header)(struct file *p);
	} links[] = { { ETHERNET, put_ethernet }, { ETHERNET, put_vlan }, { ETHERNET, put_snap }, { SLL, put_sll },
		      { SLL2, put_sll2 }, { RAW, put_nothing }, { NULL_LINK, put_family }, { LOOP, put_family } };
	static struct file f, p;
	struct tcp_header ask = request(0);

	(void)state;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		struct reading *r;

		add_pcap_header(&f, false, 0xa1b2c3d4, links[i].link);
		begin_packet(&p);
		links[i].put_header(&p);
		add_ipv4(&p, &ask, -1, 0);
		add_record(&f, START_S, 0, &p, p.n);
		r = read_file(&f);
		assert_no_problem(r);
		assert_int_equal(count_of(r, EVENT_NET_SECOND), 1);
		assert_int_equal(field(find(r, EVENT_NET_SECOND, 0), FIELD_BYTES), 100);
		done(r);
	}
}

/* The same addresses in two VLANs are two connections; the same packet in both is one that was recorded twice. */
static void test_connections_are_told_apart_by_their_vlan(void **state)
{
	static struct file f, p;

	(void)state;
	for (int same = 0; same <= 1; same++) {
		struct reading *r;

		add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
		for (uint32_t i = 0; i < 4; i++) {
			struct tcp_header ask = request(i / 2);

			ask.sequence += same == 0 && i % 2 == 1 ? 77777 : 0;
			begin_packet(&p);
			add_ethernet(&p, 0x8100);
			add_number(&p, i % 2 == 0 ? 10 : 20, 2);
			add_number(&p, 0x0800, 2);
			add_ipv4(&p, &ask, -1, 0);
			if (same == 1)
				memcpy(p.bytes + 18 + 4, "\7", 1);	/* one identification for both */
			p.bytes[18 + 5] = (uint8_t)(same == 1 ? i / 2 : i);
			add_record(&f, START_S, i * 1000, &p, p.n);
		}
		r = read_file(&f);
		assert_int_equal(count_of(r, EVENT_NET_CONNECTION), same == 0 ? 2 : 1);
		assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_SEGMENTS), same == 0 ? 4 : 2);
		assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_RETRANSMITS), 0);
		assert_int_equal(sum(r, EVENT_NET_CONNECTION, FIELD_COPIES), same == 0 ? 0 : 2);
		done(r);
	}
}

static void test_ipv6_with_extension_headers(void **state)
{
	static struct file f, p;
	struct tcp_header ask = request(0);
	struct reading *r;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	begin_packet(&p);
	add_ethernet(&p, 0x86dd);
	add_ipv6(&p, &ask);
	add_record(&f, START_S, 0, &p, p.n);
	r = read_file(&f);
	assert_no_problem(r);
	assert_string_equal(find(r, EVENT_NET_SECOND, 0)->path_a, "[fe80::1]:40001");
	assert_int_equal(field(find(r, EVENT_NET_SECOND, 0), FIELD_BYTES), 100);
	done(r);
}

static void test_unknown_link_type_is_said_and_covers_nothing(void **state)
{
	static struct file f, p;
	struct tcp_header ask = request(0);
	struct reading *r;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, 105);	/* IEEE 802.11 */
	make_ethernet(&p, &ask);
	add_record(&f, START_S, 0, &p, p.n);
	r = read_file(&f);
	assert_problem(r, "capture.link_type", SEVERITY_WARNING, 1);
	assert_int_equal(r->info.records, 1);
	assert_int_equal(r->count, 0);
	done(r);
}

/* One packet, captured and as long as told. */
static struct reading *read_packet(const struct file *p, size_t captured)
{
	static struct file f;

	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	add_record(&f, START_S, 0, p, captured);
	return read_file(&f);
}

static void test_payload_is_measured_by_the_ip_header(void **state)
{
	static struct file p;
	struct tcp_header ask = request(0), bare = request(0);
	struct reading *r;

	(void)state;
	/* Cut by the snapshot length behind the TCP header. */
	make_ethernet(&p, &ask);
	r = read_packet(&p, 14 + 24 + 20);
	assert_no_problem(r);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_BYTES), 100);
	done(r);
	/* Padded to the least frame. */
	bare.bytes = 0;
	make_ethernet(&p, &bare);
	add(&p, "padding", 7);
	r = read_packet(&p, p.n);
	assert_no_problem(r);
	assert_int_equal(count_of(r, EVENT_NET_SECOND), 0);
	assert_int_equal(count_of(r, EVENT_NET_CONNECTION), 1);
	done(r);
	/* Offloaded: a total length of 0 is as long as the frame. */
	begin_packet(&p);
	add_ethernet(&p, 0x0800);
	add_ipv4(&p, &ask, 0, 0);
	r = read_packet(&p, p.n);
	assert_no_problem(r);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_BYTES), 100);
	done(r);
}

static void test_later_fragments_have_no_tcp_header(void **state)
{
	static struct file p;
	struct tcp_header ask = request(0);
	struct reading *r;

	(void)state;
	begin_packet(&p);
	add_ethernet(&p, 0x0800);
	add_ipv4(&p, &ask, -1, 0x2000);	/* the first: more follow */
	r = read_packet(&p, p.n);
	assert_int_equal(count_of(r, EVENT_NET_CONNECTION), 1);
	done(r);
	begin_packet(&p);
	add_ethernet(&p, 0x0800);
	add_ipv4(&p, &ask, -1, 0x0001);
	r = read_packet(&p, p.n);
	assert_int_equal(r->count, 0);
	assert_problem(r, "capture.no_tcp", SEVERITY_NOTE, 0);
	done(r);
}

static void test_headers_that_were_cut_or_lie_are_skipped_and_counted(void **state)
{
	static struct file p;
	struct tcp_header ask = request(0);
	struct reading *r;

	(void)state;
	make_ethernet(&p, &ask);
	/* All of the TCP header up to the window must be there. */
	r = read_packet(&p, 14 + 24 + 15);
	assert_problem(r, "capture.header_cut", SEVERITY_WARNING, 1);
	assert_int_equal(r->info.skipped, 1);
	done(r);
	p.bytes[14 + 24 + 12] = 0x40;	/* a TCP header of 16 bytes */
	r = read_packet(&p, p.n);
	assert_problem(r, "capture.packet_damaged", SEVERITY_WARNING, 1);
	assert_int_equal(r->info.skipped, 1);
	assert_int_equal(count_of(r, EVENT_NET_CONNECTION), 0);
	done(r);
}

/* ---- places, ends, damage ---- */

static void test_events_stand_at_their_packet(void **state)
{
	static struct file f, p;
	struct tcp_header ask = request(0), next = request(1);
	struct reading *r;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	make_ethernet(&p, &ask);
	add_record(&f, START_S, 0, &p, 70);	/* cut */
	make_ethernet(&p, &next);
	/* Too late to be told together with the first. */
	add_record(&f, START_S + 10, 0, &p, p.n);
	r = read_file(&f);
	assert_int_equal(count_of(r, EVENT_NET_SECOND), 2);
	assert_int_equal(find(r, EVENT_NET_SECOND, 0)->event.place.unit, PLACE_PACKET);
	assert_int_equal(find(r, EVENT_NET_SECOND, 0)->event.place.input, 7);
	assert_int_equal(find(r, EVENT_NET_SECOND, 0)->event.place.number, 1);
	assert_int_equal(find(r, EVENT_NET_SECOND, 0)->event.place.byte_offset, 24);
	assert_int_equal(find(r, EVENT_NET_SECOND, 1)->event.place.number, 2);
	assert_int_equal(find(r, EVENT_NET_SECOND, 1)->event.place.byte_offset, 24 + 16 + 70);
	assert_true(sv_eq(find(r, EVENT_NET_SECOND, 0)->event.host, SV("consumer-1")));
	done(r);
}

static void test_truncated_file_keeps_what_came_before(void **state)
{
	static struct file f;
	struct reading *r;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	for (uint32_t i = 0; i < 3; i++)
		add_exchange(&f, i, START_S + i);
	for (size_t less = 1; less <= 70; less += 23) {	/* in the headers, and the record's header */
		r = read_bytes(f.bytes, f.n - less);
		assert_problem(r, "capture.truncated", SEVERITY_WARNING, 9);
		assert_int_equal(diag_count(r->diag), 1);
		assert_int_equal(r->info.records, 8);
		assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_SEGMENTS), 6);
		done(r);
	}
}

static void test_damaged_record_ends_the_reading(void **state)
{
	static struct file f;
	struct reading *r;
	size_t second;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	add_exchange(&f, 0, START_S);
	second = f.n;
	add_exchange(&f, 1, START_S + 1);
	memset(f.bytes + second + 8, 0x7f, 4);	/* 2 GB captured */
	r = read_file(&f);
	assert_problem(r, "capture.damaged", SEVERITY_WARNING, 4);
	assert_int_equal(r->info.records, 3);
	done(r);
}

static void test_any_prefix_is_read_without_harm(void **state)
{
	static struct file f;

	(void)state;
	add_pcap_header(&f, false, 0xa1b2c3d4, ETHERNET);
	add_exchange(&f, 0, START_S);
	for (size_t n = 0; n < f.n; n++) {
		struct reading *r = read_bytes(f.bytes, n);

		/* Only a cut between two packets goes unnoticed. */
		assert_int_equal(diag_count(r->diag) > 0, n != 24 && n != 24 + 178 && n != 24 + 178 + 94);
		done(r);
	}
}

/* ---- coverage and holes ---- */

static void add_pcap_exchanges(struct file *f, uint32_t n)
{
	add_pcap_header(f, false, 0xa1b2c3d4, ETHERNET);
	for (uint32_t i = 0; i < n; i++)
		add_exchange(f, i, START_S + i);
}

static void test_capture_covers_first_to_last_packet(void **state)
{
	static struct file f;
	struct reading *r;

	(void)state;
	add_pcap_exchanges(&f, 10);
	r = read_file(&f);
	assert_no_problem(r);
	assert_int_equal(count_of(r, EVENT_COVERED), 1);
	assert_interval(find(r, EVENT_COVERED, 0), us(START_S, 0), us(START_S + 9, 1050));
	assert_int_equal(field(find(r, EVENT_COVERED, 0), FIELD_SAMPLES), 30);
	assert_int_equal(count_of(r, EVENT_HOLE), 0);
	done(r);
}

static void test_silence_in_which_traffic_went_on_is_a_hole(void **state)
{
	static struct file f;
	struct reading *r;

	(void)state;
	/* From second 9 to 40 thirty exchanges went unseen: the next request acknowledges their answers. */
	add_pcap_exchanges(&f, 10);
	add_exchange(&f, 40, START_S + 40);
	add_exchange(&f, 41, START_S + 41);
	r = read_file(&f);
	assert_problem(r, "capture.hole", SEVERITY_WARNING, 31);
	assert_int_equal(count_of(r, EVENT_HOLE), 1);
	assert_interval(find(r, EVENT_HOLE, 0), us(START_S + 9, 1050), us(START_S + 40, 0));
	assert_int_equal(count_of(r, EVENT_COVERED), 2);
	assert_interval(find(r, EVENT_COVERED, 0), us(START_S, 0), us(START_S + 9, 1050));
	assert_int_equal(field(find(r, EVENT_COVERED, 0), FIELD_SAMPLES), 30);
	assert_int_equal(field(find(r, EVENT_COVERED, 1), FIELD_SAMPLES), 6);
	assert_interval(find(r, EVENT_COVERED, 1), us(START_S + 40, 0), us(START_S + 41, 1050));
	assert_int_equal(count_of(r, EVENT_NET_STALL), 0);
	done(r);
}

/* The twin: the connection goes on where it stood, however long it was silent. */
static void test_silence_after_which_all_goes_on_is_covered(void **state)
{
	static const uint32_t silences[] = { 31, 3600 };
	static struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof silences / sizeof silences[0]; i++) {
		struct reading *r;

		add_pcap_exchanges(&f, 10);
		add_exchange(&f, 10, START_S + 9 + silences[i]);
		r = read_file(&f);
		assert_no_problem(r);
		assert_int_equal(count_of(r, EVENT_HOLE), 0);
		assert_int_equal(count_of(r, EVENT_COVERED), 1);
		done(r);
	}
}

static void add_stranger(struct file *f, uint32_t at_s)
{
	static struct file p;
	struct tcp_header h = { .port = 50000, .sequence = 77, .flags = TCP_SYN };

	make_ethernet(&p, &h);
	add_record(f, at_s, 0, &p, p.n);
}

/* A stranger after 100 s may be the next call of an idle host; after an hour it is another capture. */
static void test_silence_before_a_stranger_is_judged_by_its_length(void **state)
{
	static struct file f;
	struct reading *r;

	(void)state;
	add_pcap_exchanges(&f, 10);
	add_stranger(&f, START_S + 109);
	r = read_file(&f);
	assert_int_equal(count_of(r, EVENT_HOLE), 0);
	done(r);
	add_pcap_exchanges(&f, 10);
	add_stranger(&f, START_S + 3609);
	r = read_file(&f);
	assert_int_equal(count_of(r, EVENT_HOLE), 1);
	assert_problem(r, "capture.hole", SEVERITY_WARNING, 31);
	done(r);
}

static void test_time_that_steps_back_is_a_hole(void **state)
{
	static struct file f;
	struct reading *r;

	(void)state;
	add_pcap_exchanges(&f, 10);
	add_exchange(&f, 10, START_S - 100);
	r = read_file(&f);
	assert_problem(r, "capture.time_step", SEVERITY_WARNING, 31);
	assert_int_equal(count_of(r, EVENT_HOLE), 1);
	assert_int_equal(find(r, EVENT_HOLE, 0)->event.duration_us, 0);
	assert_int_equal(count_of(r, EVENT_COVERED), 2);
	assert_interval(find(r, EVENT_COVERED, 1), us(START_S - 100, 0), us(START_S - 100, 1050));
	done(r);
	/* The twin: packets of two queues, half a second out of order. */
	add_pcap_exchanges(&f, 10);
	add_exchange(&f, 10, START_S + 10);
	add_stranger(&f, START_S + 10);
	f.bytes[f.n - 14 - 48 - 16 + 4] = 0;
	r = read_file(&f);
	assert_no_problem(r);
	assert_int_equal(count_of(r, EVENT_HOLE), 0);
	done(r);
}

/* ---- drops that the capture reports, and interfaces that differ ---- */

static struct making begin_blocks(void)
{
	struct making m = make_begin(false);

	make_section(&m);
	make_block_end(&m, make_interface(&m, ETHERNET, 0));
	return m;
}

/* dropped: before it, on its interface. */
static void add_block_packet(struct making *m, int64_t at_us, const struct tcp_header *h, uint64_t dropped)
{
	static struct file p;
	size_t at;

	make_ethernet(&p, h);
	at = make_packet(m, 0, (uint64_t)at_us, p.bytes, p.n, p.n);
	if (dropped > 0)
		make_option(m, 4, dropped, 8);
	make_block_end(m, at);
}

/* One request a second, answered; the request of a second comes behind so many drops. */
static void add_block_exchange(struct making *m, uint32_t i, uint64_t dropped)
{
	struct tcp_header ask = request(i), reply = answer(i), thanks = request(i + 1);

	thanks.bytes = 0;
	add_block_packet(m, us(START_S + i, 0), &ask, dropped);
	add_block_packet(m, us(START_S + i, 1000), &reply, 0);
	add_block_packet(m, us(START_S + i, 1050), &thanks, 0);
}

static void add_statistics(struct making *m, int64_t at_us, uint64_t dropped)
{
	size_t at = make_block(m, 5);

	make_number(m, 0, 4);
	make_number(m, (uint64_t)at_us >> 32, 4);
	make_number(m, (uint64_t)at_us & UINT32_MAX, 4);
	make_option(m, 5, dropped, 8);
	make_block_end(m, at);
}

static struct reading *read_blocks(struct making *m)
{
	static uint8_t bytes[FILE_BYTES_MAX];
	size_t n = m->n;

	assert_true(n <= sizeof bytes);
	memcpy(bytes, m->bytes, n);
	make_end(m);
	return read_bytes(bytes, n);
}

static void test_drops_before_a_packet_are_a_hole_since_the_one_before(void **state)
{
	struct making m = begin_blocks();
	struct reading *r;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		add_block_exchange(&m, i, i == 4 ? 3 : i == 7 || i == 8 ? 1 : 0);
	r = read_blocks(&m);
	assert_problem(r, "capture.drops", SEVERITY_WARNING, 0);
	assert_int_equal(count_of(r, EVENT_HOLE), 2);
	assert_interval(find(r, EVENT_HOLE, 0), us(START_S + 3, 1050), us(START_S + 4, 0));
	/* Those of seconds 7 and 8 are as good as one. */
	assert_interval(find(r, EVENT_HOLE, 1), us(START_S + 6, 1050), us(START_S + 8, 0));
	done(r);
}

static void test_statistics_of_a_short_capture_are_a_hole(void **state)
{
	struct making m = begin_blocks();
	struct reading *r;

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		add_block_exchange(&m, i, 0);
		if (i == 9)
			add_statistics(&m, us(START_S + 9, 2000), 0);
	}
	add_statistics(&m, us(START_S + 19, 2000), 2);
	r = read_blocks(&m);
	assert_problem(r, "capture.drops", SEVERITY_WARNING, 0);
	assert_int_equal(count_of(r, EVENT_HOLE), 1);
	assert_interval(find(r, EVENT_HOLE, 0), us(START_S + 9, 2000), us(START_S + 19, 2000));
	done(r);
}

/* Where in 200 s they were is not known: that a few are missing out of 600 takes away nothing, many do. */
static void test_statistics_of_a_long_capture_are_weighed(void **state)
{
	static const uint64_t dropped[] = { 6, 7 };	/* 1 %, and more */

	(void)state;
	for (size_t d = 0; d < 2; d++) {
		struct making m = begin_blocks();
		struct reading *r;

		for (uint32_t i = 0; i < 200; i++)
			add_block_exchange(&m, i, 0);
		add_statistics(&m, us(START_S + 200, 0), dropped[d]);
		r = read_blocks(&m);
		assert_problem(r, "capture.drops", SEVERITY_WARNING, 0);
		assert_int_equal(count_of(r, EVENT_HOLE), d);
		if (d == 1)
			assert_interval(find(r, EVENT_HOLE, 0), us(START_S, 0), us(START_S + 200, 0));
		done(r);
	}
}

/* The twin: counters that stand still. */
static void test_statistics_without_drops_say_nothing(void **state)
{
	struct making m = begin_blocks();
	struct reading *r;

	(void)state;
	add_block_exchange(&m, 0, 0);
	add_statistics(&m, us(START_S + 1, 0), 0);
	r = read_blocks(&m);
	assert_no_problem(r);
	assert_int_equal(count_of(r, EVENT_HOLE), 0);
	done(r);
}

static void test_interfaces_that_cannot_be_read_leave_the_others(void **state)
{
	struct making m = begin_blocks();
	struct reading *r;
	size_t at;

	(void)state;
	make_block_end(&m, make_interface(&m, 105, 0));	/* IEEE 802.11 */
	for (uint32_t i = 0; i < 3; i++) {
		add_block_exchange(&m, i, 0);
		make_block_end(&m, make_packet(&m, 1, (uint64_t)us(START_S + i, 2000), "radio", 5, 5));
	}
	at = make_block(&m, 3);	/* a simple packet: no time */
	make_number(&m, 4, 4);
	make_bytes(&m, "bare", 4);
	make_block_end(&m, at);
	r = read_blocks(&m);
	assert_problem(r, "capture.link_type", SEVERITY_WARNING, 4);
	assert_problem(r, "capture.no_time", SEVERITY_WARNING, 13);
	assert_int_equal(diag_count(r->diag), 2);
	assert_int_equal(r->info.records, 13);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_SEGMENTS), 6);
	done(r);
}

/* ---- recorded elsewhere ---- */

/*
 * Its README: the packets of one consumer were dropped from 1796038809.106 to
 * 1796038812.174. By hand (tshark): the consumer's ports are 54004 and 54006;
 * on the first the broker's data of packet 449 was accepted when packet 509
 * sent it again, after packet 436; on the second the heartbeat of packet 471
 * when packet 503 did, after packet 429.
 */
static void test_known_outage_of_the_lab(void **state)
{
	struct reading *r = read_sample("samples/captures/lab-blip.pcap");
	const struct seen *fetch, *heartbeat;

	(void)state;
	assert_no_problem(r);
	assert_int_equal(r->info.records, 1114);
	assert_int_equal(count_of(r, EVENT_NET_CONNECTION), 5);
	assert_int_equal(count_of(r, EVENT_NET_STALL), 2);
	fetch = find(r, EVENT_NET_STALL, 0);
	heartbeat = find(r, EVENT_NET_STALL, 1);
	if (strcmp(fetch->path_a, "127.0.0.1:54004") != 0) {
		fetch = find(r, EVENT_NET_STALL, 1);
		heartbeat = find(r, EVENT_NET_STALL, 0);
	}
	assert_string_equal(fetch->path_a, "127.0.0.1:54004");
	assert_true(sv_eq(event_text(&fetch->event, FIELD_DIRECTION), SV("ba")));
	assert_interval(fetch, INT64_C(1796038809148744), INT64_C(1796038812992314));
	assert_int_equal(field(fetch, FIELD_LOSS_AT_US), INT64_C(1796038809649423));
	assert_int_equal(field(fetch, FIELD_RETRANSMITS), 5);
	assert_int_equal(fetch->event.place.number, 449);
	assert_string_equal(heartbeat->path_a, "127.0.0.1:54006");
	assert_interval(heartbeat, INT64_C(1796038809111455), INT64_C(1796038812768323));
	assert_int_equal(field(heartbeat, FIELD_LOSS_AT_US), INT64_C(1796038811111905));
	assert_int_equal(field(heartbeat, FIELD_TIMEOUTS), 4);
	/* tshark: 755 segments with 144,276 bytes, 14 of them sent again. */
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_SEGMENTS), 755);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_BYTES), 144276);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_RETRANSMITS), 14);
	done(r);
}

/* A bridge's capture: 75 of its 225 packets are copies (counted apart by a script), none was sent again. */
static void test_bridge_capture_has_copies_and_no_loss(void **state)
{
	struct reading *r = read_sample("samples/captures/t-sv-bug-5867-dupacks.pcap");

	(void)state;
	assert_problem(r, "capture.copies", SEVERITY_NOTE, 0);
	assert_int_equal(field(find(r, EVENT_NET_CONNECTION, 0), FIELD_COPIES), 75);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_RETRANSMITS), 0);
	done(r);
}

/* The client's 5 bytes are sent 8 times in 13 s, and the server resets: its queue was full. */
static void test_data_never_accepted_until_the_reset(void **state)
{
	struct reading *r = read_sample("samples/captures/t-df-server-queue-lack.pcap");
	const struct seen *stall;

	(void)state;
	assert_int_equal(count_of(r, EVENT_NET_STALL), 1);
	stall = find(r, EVENT_NET_STALL, 0);
	assert_interval(stall, INT64_C(1598258523999668), INT64_C(1598258537140642));
	assert_int_equal(field(stall, FIELD_RETRANSMITS), 7);
	assert_int_equal(field(stall, FIELD_TIMEOUTS), 7);
	assert_int_equal(field(stall, FIELD_ABANDONED), 1);
	assert_int_equal(count_of(r, EVENT_NET_RESET), 1);
	done(r);
}

/* tshark: three segments sent again, the first of them fast; round trips of 110 to 250 ms. */
static void test_slow_path_with_loss(void **state)
{
	struct reading *r = read_sample("samples/captures/t-zk-retransmit-fast009.pcap");

	(void)state;
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_RETRANSMITS), 3);
	assert_int_equal(count_of(r, EVENT_NET_STALL), 0);
	done(r);
}

/* "-i any": four segments of one side, three of the other, 10,268 bytes each. */
static void test_cooked_capture(void **state)
{
	struct reading *r = read_sample("samples/captures/f-td-mptcp-v1.pcap");

	(void)state;
	assert_no_problem(r);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_SEGMENTS), 7);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_BYTES), 2 * 10268);
	assert_int_equal(sum(r, EVENT_NET_SECOND, FIELD_RETRANSMITS), 0);
	done(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pcap_variant_gives_the_same),
		cmocka_unit_test(test_pcapng_of_both_byte_orders),
		cmocka_unit_test(test_sniffing_asks_the_content_alone),
		cmocka_unit_test(test_every_link_type_is_decoded),
		cmocka_unit_test(test_connections_are_told_apart_by_their_vlan),
		cmocka_unit_test(test_ipv6_with_extension_headers),
		cmocka_unit_test(test_unknown_link_type_is_said_and_covers_nothing),
		cmocka_unit_test(test_payload_is_measured_by_the_ip_header),
		cmocka_unit_test(test_later_fragments_have_no_tcp_header),
		cmocka_unit_test(test_headers_that_were_cut_or_lie_are_skipped_and_counted),
		cmocka_unit_test(test_events_stand_at_their_packet),
		cmocka_unit_test(test_truncated_file_keeps_what_came_before),
		cmocka_unit_test(test_damaged_record_ends_the_reading),
		cmocka_unit_test(test_any_prefix_is_read_without_harm),
		cmocka_unit_test(test_capture_covers_first_to_last_packet),
		cmocka_unit_test(test_silence_in_which_traffic_went_on_is_a_hole),
		cmocka_unit_test(test_silence_after_which_all_goes_on_is_covered),
		cmocka_unit_test(test_silence_before_a_stranger_is_judged_by_its_length),
		cmocka_unit_test(test_time_that_steps_back_is_a_hole),
		cmocka_unit_test(test_drops_before_a_packet_are_a_hole_since_the_one_before),
		cmocka_unit_test(test_statistics_of_a_short_capture_are_a_hole),
		cmocka_unit_test(test_statistics_of_a_long_capture_are_weighed),
		cmocka_unit_test(test_statistics_without_drops_say_nothing),
		cmocka_unit_test(test_interfaces_that_cannot_be_read_leave_the_others),
		cmocka_unit_test(test_known_outage_of_the_lab),
		cmocka_unit_test(test_bridge_capture_has_copies_and_no_loss),
		cmocka_unit_test(test_data_never_accepted_until_the_reset),
		cmocka_unit_test(test_slow_path_with_loss),
		cmocka_unit_test(test_cooked_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
