/* SPDX-License-Identifier: MIT */
/*
 * One capture in many forms: with sequence numbers that wrap, in other byte
 * orders and formats, under other addresses and ports, inside VLANs and
 * tunnels, recorded twice. The findings are the same ones.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture_kit.h"
#include "input/capture/record.h"
#include "input/capture/tcp.h"
#include "input/kind.h"
#include "input/stream.h"

#define PACKET_BYTES_MAX 90000

/* ---- a packet of the original, Ethernet and IPv4 ---- */

struct packet {
	uint8_t bytes[PACKET_BYTES_MAX];
	size_t captured, wire;
	int64_t us;
	uint64_t number;
};

static uint32_t get(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static void set(uint8_t *p, uint32_t v, unsigned n)
{
	while (n-- > 0) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

/* Where the IP header stands, behind VLAN tags that the original may have; 0 when it is another protocol. */
static size_t ip_at(const struct packet *p)
{
	size_t at = 12;

	while (at + 6 < p->captured && get(p->bytes + at, 2) == 0x8100)
		at += 4;
	return at + 2 < p->captured && get(p->bytes + at, 2) == 0x0800 ? at + 2 : 0;
}

/* The TCP header; NULL when there is none. */
static uint8_t *tcp_of(struct packet *p)
{
	size_t at = ip_at(p), header;

	if (at == 0 || p->captured < at + 20 || p->bytes[at + 9] != 6)
		return NULL;
	header = (p->bytes[at] & 15U) * 4U;
	return p->captured >= at + header + 16 ? p->bytes + at + header : NULL;
}

/* ---- changes to a packet ---- */

/* By how much the sequence numbers of a direction are moved: it began 500 below the end. */
struct moved {
	uint8_t ends[12];
	uint32_t by;
};

struct change {
	struct moved moved[64];
	size_t count;
};

static void ends_of(struct packet *p, const uint8_t *tcp, bool back, uint8_t out[12])
{
	const uint8_t *ip = p->bytes + ip_at(p);

	memcpy(out, ip + (back ? 16 : 12), 4);
	memcpy(out + 4, ip + (back ? 12 : 16), 4);
	memcpy(out + 8, tcp + (back ? 2 : 0), 2);
	memcpy(out + 10, tcp + (back ? 0 : 2), 2);
}

static uint32_t moved_by(struct change *c, const uint8_t ends[12], uint32_t first)
{
	for (size_t i = 0; i < c->count; i++)
		if (memcmp(c->moved[i].ends, ends, 12) == 0)
			return c->moved[i].by;
	assert_true(c->count < sizeof c->moved / sizeof c->moved[0]);
	memcpy(c->moved[c->count].ends, ends, 12);
	c->moved[c->count].by = 0U - 500U - first;
	return c->moved[c->count++].by;
}

static void wrap(struct change *c, struct packet *p)
{
	uint8_t *tcp = tcp_of(p), there[12], back[12];

	if (tcp == NULL)
		return;
	ends_of(p, tcp, false, there);
	ends_of(p, tcp, true, back);
	set(tcp + 4, get(tcp + 4, 4) + moved_by(c, there, get(tcp + 4, 4)), 4);
	if ((tcp[13] & TCP_ACK) != 0)
		set(tcp + 8, get(tcp + 8, 4) + moved_by(c, back, get(tcp + 8, 4)), 4);
}

/* Ports keep their order, by which a caller is told where no SYN was seen. */
#define PORT_LESS 7

static void renumber(struct change *c, struct packet *p)
{
	uint8_t *tcp = tcp_of(p);
	size_t at = ip_at(p);

	(void)c;
	if (tcp == NULL)
		return;
	p->bytes[at + 12] ^= 0x40;
	p->bytes[at + 16] ^= 0x40;
	set(tcp, get(tcp, 2) - PORT_LESS, 2);
	set(tcp + 2, get(tcp + 2, 2) - PORT_LESS, 2);
}

static void insert(struct packet *p, size_t at, const struct making *m)
{
	assert_true(p->captured + m->n <= sizeof p->bytes && at <= p->captured);
	memmove(p->bytes + at + m->n, p->bytes + at, p->captured - at);
	memcpy(p->bytes + at, m->bytes, m->n);
	p->captured += m->n;
	p->wire += m->n;
}

static void tag_with(struct packet *p, uint16_t type, uint16_t tag)
{
	struct making m = make_begin(true);

	make_number(&m, type, 2);
	make_number(&m, tag, 2);
	insert(p, 12, &m);
	make_end(&m);
}

static void tag(struct change *c, struct packet *p)
{
	(void)c;
	tag_with(p, 0x8100, 100);
}

static void tag_twice(struct change *c, struct packet *p)
{
	tag(c, p);
	tag_with(p, 0x88a8, 200);
}

/* Only the second of two records of a packet has the tag: both sides of a router. */
static void tag_second(struct change *c, struct packet *p)
{
	(void)c;
	if (p->number % 2 == 0)
		tag_with(p, 0x8100, 100);
}

/* Two interfaces of one host, of which one is recorded whole. */
static void cut_second(struct change *c, struct packet *p)
{
	uint8_t *tcp = tcp_of(p);
	size_t n;

	(void)c;
	if (tcp == NULL || p->number % 2 != 0)
		return;
	n = (size_t)(tcp - p->bytes) + (size_t)(tcp[12] >> 4) * 4 + 16;
	if (p->captured > n)
		p->captured = n;
}

static void put_outer_ipv4(struct making *m, uint8_t protocol, size_t payload)
{
	make_bytes(m, "\2\0\0\0\0\3\2\0\0\0\0\4\10\0", 14);
	make_number(m, 0x4500, 2);
	make_number(m, 20 + payload, 2);
	make_number(m, 0x12340000, 4);
	make_number(m, 0x4000U | protocol, 2);
	make_number(m, 0, 2);
	make_number(m, 0xcb007101, 4);
	make_number(m, 0xcb007102, 4);
}

static void put_in_vxlan(struct change *c, struct packet *p)
{
	struct making m = make_begin(true);

	(void)c;
	put_outer_ipv4(&m, 17, 16 + p->wire);
	make_number(&m, 50000, 2);
	make_number(&m, 4789, 2);
	make_number(&m, 16 + p->wire, 2);
	make_number(&m, 0, 2);
	make_number(&m, 0x08000000, 4);
	make_number(&m, 42 << 8, 4);
	insert(p, 0, &m);
	make_end(&m);
}

static void put_in_geneve(struct change *c, struct packet *p)
{
	struct making m = make_begin(true);

	(void)c;
	put_outer_ipv4(&m, 17, 16 + p->wire);
	make_number(&m, 50000, 2);
	make_number(&m, 6081, 2);
	make_number(&m, 16 + p->wire, 2);
	make_number(&m, 0, 2);
	make_number(&m, 0x6558, 4);
	make_number(&m, 42 << 8, 4);
	insert(p, 0, &m);
	make_end(&m);
}

static void put_in_gre(struct change *c, struct packet *p)
{
	struct making m = make_begin(true);

	(void)c;
	put_outer_ipv4(&m, 47, 4 + p->wire);
	make_number(&m, 0x6558, 4);
	insert(p, 0, &m);
	make_end(&m);
}

static void put_in_mpls(struct change *c, struct packet *p)
{
	struct making m = make_begin(true);

	(void)c;
	make_bytes(&m, "\2\0\0\0\0\3\2\0\0\0\0\4", 12);
	make_number(&m, 0x8847, 2);
	make_number(&m, 77 << 12 | 1 << 8 | 64, 4);
	make_number(&m, 0, 4);
	insert(p, 0, &m);
	make_end(&m);
}

static void keep(struct change *c, struct packet *p)
{
	(void)c;
	(void)p;
}

/* ---- formats ---- */

/* Interfaces that differ in all: a cooked one that counts nanoseconds beside an Ethernet of microseconds. */
static void begin_pcapng(struct making *m)
{
	size_t at;

	make_section(m);
	make_block_end(m, make_interface(m, 1, 0));
	at = make_interface(m, 113, 0);
	make_option(m, 9, 9, 1);
	make_option(m, 14, 3600, 8);
	make_block_end(m, at);
}

static void add_pcapng(struct making *m, struct packet *p)
{
	if (p->number % 2 == 0) {
		make_block_end(m, make_packet(m, 0, (uint64_t)p->us, p->bytes, p->captured, p->wire));
		return;
	}
	/* The Ethernet header gives way to that of "-i any", which is two bytes longer. */
	memmove(p->bytes + 16, p->bytes + 14, p->captured - 14);
	memcpy(p->bytes + 14, p->bytes + 12, 2);
	memset(p->bytes, 0, 14);
	make_block_end(m, make_packet(m, 1, (uint64_t)(p->us - 3600 * US_PER_S) * 1000, p->bytes, p->captured + 2,
				      p->wire + 2));
}

enum format { PCAP, PCAP_BIG, PCAP_NANOSECONDS, PCAPNG, PCAPNG_BIG };

static void begin_file(struct making *m, enum format f)
{
	m->big_endian = f == PCAP_BIG || f == PCAPNG_BIG;
	if (f == PCAPNG || f == PCAPNG_BIG)
		begin_pcapng(m);
	else
		make_pcap_header(m, f == PCAP_NANOSECONDS ? 0xa1b23c4d : 0xa1b2c3d4, 1);
}

static void add_to_file(struct making *m, enum format f, struct packet *p)
{
	if (f == PCAPNG || f == PCAPNG_BIG)
		add_pcapng(m, p);
	else
		make_pcap_record(m, (uint32_t)(p->us / US_PER_S),
				 (uint32_t)(p->us % US_PER_S) * (f == PCAP_NANOSECONDS ? 1000 : 1), p->bytes,
				 p->captured, p->wire);
}

/* ---- the variants ---- */

static const struct variant {
	const char *name;
	void (*change)(struct change *c, struct packet *p);
	enum format format;
	unsigned times;		/* each packet is recorded; at once, or the order of the answers would be another */
	bool renumbered;
} variants[] = {
	{ "as it is", keep, PCAP, 1, false },
	{ "wrapped", wrap, PCAP, 1, false },
	{ "big-endian", keep, PCAP_BIG, 1, false },
	{ "nanoseconds", keep, PCAP_NANOSECONDS, 1, false },
	{ "pcapng, two interfaces", keep, PCAPNG, 1, false },
	{ "pcapng, big-endian", keep, PCAPNG_BIG, 1, false },
	{ "renumbered", renumber, PCAP, 1, true },
	{ "VLAN", tag, PCAP, 1, false },
	{ "QinQ", tag_twice, PCAP, 1, false },
	{ "VXLAN", put_in_vxlan, PCAP, 1, false },
	{ "Geneve", put_in_geneve, PCAP, 1, false },
	{ "GRE", put_in_gre, PCAP, 1, false },
	{ "MPLS", put_in_mpls, PCAP, 1, false },
	{ "twice", keep, PCAP, 2, false },
	{ "in two VLANs", tag_second, PCAP, 2, false },
	{ "twice, once cut", cut_second, PCAP, 2, false },
};

static struct making make_variant(const char *path, const struct variant *v)
{
	static struct packet p;
	struct making original = make_of_file(path), m = make_begin(false);
	struct arena *a = arena_new();
	struct intake intake;
	struct record_reader *reader;
	struct record record;
	struct change change = { .count = 0 };
	const char *why;
	uint64_t number = 0;

	intake_init(&intake, stream_of(a, (struct sv){ (const char *)original.bytes, original.n }), a);
	reader = record_pcap.open(&intake, a, &why);
	assert_non_null(reader);
	begin_file(&m, v->format);
	while (record_pcap.next(reader, &record, &why) == 1) {
		for (unsigned i = 0; i < v->times; i++) {
			assert_true(record.captured + 64 <= sizeof p.bytes);
			memcpy(p.bytes, record.bytes, record.captured);
			p.captured = record.captured;
			p.wire = record.wire;
			p.us = record.time_us;
			p.number = ++number;
			v->change(&change, &p);
			add_to_file(&m, v->format, &p);
		}
	}
	arena_free(a);
	make_end(&original);
	return m;
}

/* ---- findings as text, in an order of their own ---- */

#define FINDINGS_MAX 4096
#define LINE_BYTES 512

struct findings {
	char line[FINDINGS_MAX][LINE_BYTES];
	size_t count;
	bool renumbered;	/* shown as they were before */
	bool copied;
	uint64_t copies;
};

/* "10.0.0.1:40001" as it was before it was renumbered. */
static void put_path(struct findings *f, char *out, size_t n, struct sv path)
{
	unsigned a = 0, port = 0;
	char rest[32] = "", text[64];

	if (path.n >= sizeof text)
		fail_msg("a long path");
	memcpy(text, path.p, path.n);
	text[path.n] = '\0';
	if (!f->renumbered) {
		snprintf(out, n, "%s", text);
		return;
	}
	assert_int_equal(sscanf(text, "%u%31[^:]:%u", &a, rest, &port), 3);
	snprintf(out, n, "%u%s:%u", a ^ 0x40, rest, (port + PORT_LESS) & 0xffff);
}

/* Copies and the number of packets are what differs where each is recorded twice. */
static bool is_compared(const struct findings *f, enum event_field field)
{
	return !f->copied || (field != FIELD_COPIES && field != FIELD_SAMPLES);
}

static int put_finding(void *context, const struct event *e)
{
	struct findings *f = context;
	char *line = f->line[f->count];
	size_t n = 0;

	assert_true(f->count < FINDINGS_MAX);
	if (f->copied && e->type == EVENT_COVERED)
		return 0;	/* a copy more at its end */
	if (e->type == EVENT_NET_SIGHTED)
		return 0;	/* of other sequence numbers it is another packet */
	f->count++;
	n += (size_t)snprintf(line + n, LINE_BYTES - n, "%lld %s %lld", (long long)e->time.us, event_infos[e->type].name,
			      (long long)e->duration_us);
	if (!f->copied)
		n += (size_t)snprintf(line + n, LINE_BYTES - n, " packet %llu", (unsigned long long)e->place.number);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		enum event_field field = (enum event_field)i;
		char text[64];

		if (!event_has(e, field) || !is_compared(f, field))
			continue;
		if (field_infos[i].type == FIELD_INT)
			snprintf(text, sizeof text, "%lld", (long long)event_int_or(e, field, 0));
		else if (field == FIELD_PATH_A || field == FIELD_PATH_B)
			put_path(f, text, sizeof text, event_text(e, field));
		else
			snprintf(text, sizeof text, "%.*s", SV_ARG(event_text(e, field)));
		n += (size_t)snprintf(line + n, LINE_BYTES - n, " %s=%s", field_infos[i].name, text);
		assert_true(n < LINE_BYTES);
	}
	f->copies += (uint64_t)event_int_or(e, FIELD_COPIES, 0);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void find(struct findings *f, const char *path, const struct variant *v, bool copied)
{
	struct making m = make_variant(path, v);
	struct arena *a = arena_new();
	struct input_info info = { .id = 1 };
	struct ingest in = { .stream = stream_of(a, (struct sv){ (const char *)m.bytes, m.n }), .info = &info,
			     .sink = { put_finding, f }, .diag = diag_new(a), .record = a, .input = a };

	*f = (struct findings){ .count = 0, .renumbered = v->renumbered, .copied = copied };
	assert_int_equal(capture_kind.read(&in), 0);
	qsort(f->line, f->count, LINE_BYTES, by_text);
	arena_free(a);
	make_end(&m);
}

static void compare(const char *path, const struct variant *v)
{
	static struct findings original, changed;

	find(&original, path, &variants[0], v->times > 1);
	find(&changed, path, v, v->times > 1);
	if (original.count == 0)
		fail_msg("%s: nothing is found in it", path);
	for (size_t i = 0; i < original.count && i < changed.count; i++)
		if (strcmp(original.line[i], changed.line[i]) != 0)
			fail_msg("%s, %s:\n%s\n%s", path, v->name, original.line[i], changed.line[i]);
	if (original.count != changed.count)
		fail_msg("%s, %s: %zu findings, not %zu", path, v->name, changed.count, original.count);
}

static void test_each_variant_gives_the_same_findings(void **state)
{
	static const char *const paths[] = {
		"samples/captures/lab-blip.pcap",
		"samples/captures/t-ark-tcpseq_synthetic.pcap",
		"samples/captures/t-df-client-keep-alive.pcap",
		"samples/captures/t-df-server-queue-lack.pcap",
		"samples/captures/t-sv-simple-gap2.pcap",
		"samples/captures/t-zk-retransmit-fast009.pcap",
		"samples/captures/t-zk-window-scale-range.pcap",
		"tests/fuzz/corpus/capture/t-df-rtt-rtt-2.pcap",
		"tests/fuzz/corpus/capture/t-df-l4-source-port-reuse.pcap",
		"tests/fuzz/corpus/capture/t-zk-rst-inject-rae.pcap",
	};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		for (size_t j = 1; j < sizeof variants / sizeof variants[0]; j++)
			compare(paths[i], &variants[j]);
}

/* What is compared above is Kafka as well, whatever it is wrapped in: every sort of request of a group is there. */
static void test_kafka_is_among_the_findings(void **state)
{
	static const enum event_type types[] = {
		EVENT_WIRE_HEARTBEAT, EVENT_WIRE_JOINED, EVENT_WIRE_SYNCED, EVENT_WIRE_COORDINATOR, EVENT_WIRE_COMMIT,
		EVENT_WIRE_COMMITTED, EVENT_WIRE_FETCH,	 EVENT_WIRE_LEFT,   EVENT_WIRE_LATENCY,	    EVENT_WIRE_UNANSWERED,
	};
	static struct findings f;

	(void)state;
	for (size_t j = 0; j < sizeof variants / sizeof variants[0]; j++) {
		find(&f, "samples/captures/lab-blip.pcap", &variants[j], variants[j].times > 1);
		for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
			char name[64];
			size_t at = 0;

			snprintf(name, sizeof name, " %s ", event_infos[types[i]].name);
			while (at < f.count && strstr(f.line[at], name) == NULL)
				at++;
			if (at == f.count)
				fail_msg("%s: nothing is a%s", variants[j].name, name);
		}
	}
}

/* Each of the 1,114 packets came twice, and nothing was taken for sent again. */
static void test_copies_are_counted(void **state)
{
	static struct findings f;

	(void)state;
	find(&f, "samples/captures/lab-blip.pcap", &variants[13], false);
	assert_int_equal(f.copies, 1114);
	find(&f, "samples/captures/lab-blip.pcap", &variants[14], false);
	assert_int_equal(f.copies, 1114);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_variant_gives_the_same_findings),
		cmocka_unit_test(test_kafka_is_among_the_findings),
		cmocka_unit_test(test_copies_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
