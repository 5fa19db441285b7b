/* SPDX-License-Identifier: MIT */
/*
 * Packets inside of everything that carries them, put together by hand from
 * the standards named in packet.c; each beside one that is not to be taken for
 * it.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture_kit.h"
#include "input/capture/packet.h"

/* ---- making ---- */

/* Which way a packet goes, for it and for all that it is wrapped in. */
struct way {
	bool back;
};

static void put_ends(struct making *m, struct way w, uint32_t a, uint32_t b)
{
	make_number(m, w.back ? b : a, 4);
	make_number(m, w.back ? a : b, 4);
}

static void put_ipv4(struct making *m, struct way w, uint8_t protocol, uint32_t net, size_t payload, uint16_t fragment)
{
	make_number(m, 0x4500, 2);
	make_number(m, 20 + payload, 2);
	make_number(m, 77, 2);
	make_number(m, fragment, 2);
	make_number(m, 0x4000U | protocol, 2);
	make_number(m, 0, 2);
	put_ends(m, w, net + 1, net + 2);
}

static void put_tcp(struct making *m, struct way w, uint8_t flags)
{
	make_number(m, w.back ? 9092 : 40001, 2);
	make_number(m, w.back ? 40001 : 9092, 2);
	make_number(m, 1000, 4);
	make_number(m, 2000, 4);
	make_number(m, 5U << 12 | flags, 2);
	make_number(m, 500, 2);
	make_number(m, 0, 4);
}

/* 10.0.0.1:40001 to 10.0.0.2:9092, with "hello" in it. */
static void put_inner(struct making *m, struct way w)
{
	put_ipv4(m, w, 6, 0x0a000000, 25, 0);
	put_tcp(m, w, TCP_ACK);
	make_bytes(m, "hello", 5);
}

#define INNER_BYTES 45

static void put_inner_ipv6(struct making *m, struct way w)
{
	uint8_t a[16] = { 0xfd, [15] = 1 }, b[16] = { 0xfd, [15] = 2 };

	make_number(m, 0x60000000, 4);
	make_number(m, 25, 2);
	make_number(m, 6 << 8 | 64, 2);
	make_bytes(m, w.back ? b : a, 16);
	make_bytes(m, w.back ? a : b, 16);
	put_tcp(m, w, TCP_ACK);
	make_bytes(m, "hello", 5);
}

static void put_ethernet(struct making *m, uint16_t type)
{
	make_bytes(m, "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
	make_number(m, type, 2);
}

static void put_udp(struct making *m, struct way w, uint16_t port, size_t payload)
{
	put_ipv4(m, w, 17, 0xc0a80000, 8 + payload, 0);
	make_number(m, w.back ? 50002 : 50001, 2);	/* by the hash of the inner packet */
	make_number(m, port, 2);
	make_number(m, 8 + payload, 2);
	make_number(m, 0, 2);
}

/* ---- what carries packets: each up to the inner IP header ---- */

static void carry_ethernet(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	(void)id;
	put_ethernet(m, 0x0800);
}

static void carry_vlan(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	put_ethernet(m, 0x8100);
	make_number(m, 0x6000 | id, 2);	/* with a priority */
	make_number(m, 0x0800, 2);
}

static void carry_qinq(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	put_ethernet(m, 0x88a8);
	make_number(m, 7, 2);
	make_number(m, 0x8100, 2);
	make_number(m, id, 2);
	make_number(m, 0x0800, 2);
}

static void carry_snap(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	(void)id;
	put_ethernet(m, 8 + INNER_BYTES);
	make_number(m, UINT64_C(0xaaaa030000000800), 8);
}

static void carry_mpls(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x8847);
	make_number(m, (id + w.back) << 12 | 64, 4);	/* a label of one direction */
	make_number(m, 3U << 12 | 1U << 8 | 64, 4);	/* bottom of the stack */
}

static void carry_pseudowire(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x8847);
	make_number(m, (id + w.back) << 12 | 1U << 8 | 64, 4);
	make_number(m, 0, 4);	/* control word */
	put_ethernet(m, 0x0800);
}

static void carry_pppoe(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	put_ethernet(m, 0x8864);
	make_number(m, 0x1100, 2);
	make_number(m, id, 2);
	make_number(m, 2 + INNER_BYTES, 2);
	make_number(m, 0x0021, 2);
}

static void carry_vxlan(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x0800);
	put_udp(m, w, 4789, 8 + 14 + INNER_BYTES);
	make_number(m, 0x08000000, 4);
	make_number(m, id << 8, 4);
	put_ethernet(m, 0x0800);
}

static void carry_geneve(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x0800);
	put_udp(m, w, 6081, 16 + 14 + INNER_BYTES);
	make_number(m, 2 << 8, 2);	/* two words of options */
	make_number(m, 0x6558, 2);
	make_number(m, id << 8, 4);
	make_number(m, 0, 8);
	put_ethernet(m, 0x0800);
}

static void carry_gre(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x0800);
	put_ipv4(m, w, 47, 0xc0a80000, 16 + INNER_BYTES, 0);
	make_number(m, 0xb000, 2);	/* checksum, key and sequence number */
	make_number(m, 0x0800, 2);
	make_number(m, 0, 4);
	make_number(m, id, 4);
	make_number(m, 1, 4);
}

static void carry_erspan(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x0800);
	put_ipv4(m, w, 47, 0xc0a80000, 16 + 14 + INNER_BYTES, 0);
	make_number(m, 0x1000, 2);
	make_number(m, 0x88be, 2);
	make_number(m, 1, 4);
	make_number(m, id, 8);
	put_ethernet(m, 0x0800);
}

static void carry_ip_in_ip(struct making *m, struct way w, uint32_t id)
{
	put_ethernet(m, 0x0800);
	put_ipv4(m, w, 4, 0xc0a80000 + (id << 8), INNER_BYTES, 0);
}

static void carry_nothing(struct making *m, struct way w, uint32_t id)
{
	(void)m;
	(void)w;
	(void)id;
}

static void carry_ppp(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	(void)id;
	make_number(m, 0xff030021, 4);
}

/* RFC 1661 6.5 and 6.6: address, control and the protocol's first byte left out. */
static void carry_ppp_compressed(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	(void)id;
	make_number(m, 0x21, 1);
}

static void carry_family(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	(void)id;
	make_bytes(m, "\2\0\0\0", 4);
}

static void carry_sll_vlan(struct making *m, struct way w, uint32_t id)
{
	(void)w;
	make_bytes(m, "\0\0\0\1\0\6\2\0\0\0\0\1\0\0", 14);
	make_number(m, 0x8100, 2);
	make_number(m, id, 2);
	make_number(m, 0x0800, 2);
}

static const struct carrier {
	const char *name;
	uint32_t link_type;
	void (*put)(struct making *m, struct way w, uint32_t id);
	bool is_domain;		/* its id tells connections apart */
} carriers[] = {
	{ "Ethernet", 1, carry_ethernet, false },
	{ "VLAN", 1, carry_vlan, true },
	{ "QinQ", 1, carry_qinq, true },
	{ "SNAP", 1, carry_snap, false },
	{ "MPLS", 1, carry_mpls, false },
	{ "MPLS pseudowire", 1, carry_pseudowire, false },
	{ "PPPoE", 1, carry_pppoe, false },
	{ "VXLAN", 1, carry_vxlan, true },
	{ "Geneve", 1, carry_geneve, true },
	{ "GRE", 1, carry_gre, true },
	{ "ERSPAN", 1, carry_erspan, false },
	{ "IP in IP", 1, carry_ip_in_ip, true },
	{ "raw", 101, carry_nothing, false },
	{ "PPP", 9, carry_ppp, false },
	{ "PPP, compressed", 50, carry_ppp_compressed, false },
	{ "loopback", 0, carry_family, false },
	{ "SLL, VLAN", 113, carry_sll_vlan, true },
};
#define CARRIER_COUNT (sizeof carriers / sizeof carriers[0])

/* ---- decoding ---- */

static struct arena *arena;

static int set_up(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* On a copy of its own, so that a read past the end is seen by the sanitizer. */
static enum packet_what decode_with(struct packet_decoder *d, uint32_t link_type, const struct making *m,
				    size_t captured, struct segment *out)
{
	uint8_t *bytes = malloc(captured + (captured == 0));
	enum packet_link link;
	enum packet_what what;

	assert_non_null(bytes);
	memcpy(bytes, m->bytes, captured);
	assert_true(packet_link_of(link_type, &link));
	what = packet_decode(d, link, bytes, captured, m->n, out);
	if (out->payload != NULL)
		assert_true(out->payload >= bytes && out->payload + out->payload_captured <= bytes + captured);
	free(bytes);
	return what;
}

static enum packet_what decode(uint32_t link_type, const struct making *m, struct segment *out)
{
	return decode_with(packet_decoder_new(arena), link_type, m, m->n, out);
}

static struct segment carried(const struct carrier *c, bool back, uint32_t id)
{
	struct making m = make_begin(true);
	struct segment s;

	c->put(&m, (struct way){ back }, id);
	put_inner(&m, (struct way){ back });
	if (decode(c->link_type, &m, &s) != PACKET_TCP)
		fail_msg("%s", c->name);
	make_end(&m);
	return s;
}

static void test_every_carrier_gives_the_inner_segment(void **state)
{
	(void)state;
	for (size_t i = 0; i < CARRIER_COUNT; i++) {
		struct segment s = carried(&carriers[i], false, 5);

		assert_int_equal(s.ip_version, 4);
		assert_memory_equal(s.source, "\12\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 16);
		assert_memory_equal(s.destination, "\12\0\0\2\0\0\0\0\0\0\0\0\0\0\0", 16);
		assert_int_equal(s.source_port, 40001);
		assert_int_equal(s.destination_port, 9092);
		assert_int_equal(s.ip_id, 77);
		assert_int_equal(s.sequence, 1000);
		assert_int_equal(s.acknowledgment, 2000);
		assert_int_equal(s.payload_bytes, 5);
		assert_int_equal(s.payload_captured, 5);
	}
}

static void test_both_directions_are_of_one_domain_and_another_id_is_of_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < CARRIER_COUNT; i++) {
		uint64_t there = carried(&carriers[i], false, 5).domain;

		assert_true(there == carried(&carriers[i], true, 5).domain);
		assert_int_equal(there != carried(&carriers[i], false, 6).domain, carriers[i].is_domain);
		assert_int_equal(there != 0, carriers[i].is_domain);
	}
}

static void test_domains_of_different_carriers_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < CARRIER_COUNT; i++)
		for (size_t j = 0; j < i; j++)
			if (carriers[i].is_domain && carriers[j].is_domain && carriers[i].put != carry_sll_vlan)
				assert_true(carried(&carriers[i], false, 5).domain !=
					    carried(&carriers[j], false, 5).domain);
	/* A tag is a tag, whatever the link. */
	assert_true(carried(&carriers[1], false, 5).domain == carried(&carriers[CARRIER_COUNT - 1], false, 5).domain);
	/* The twin of a tag: a priority alone. */
	assert_true(carried(&carriers[1], false, 0).domain == 0);
}

/* However much was captured, nothing beyond it is read, and nothing but a whole header is believed. */
static void test_any_cut_of_any_carrier(void **state)
{
	(void)state;
	for (size_t i = 0; i < CARRIER_COUNT; i++) {
		struct making m = make_begin(true);
		struct packet_decoder *d = packet_decoder_new(arena);
		struct segment s;

		carriers[i].put(&m, (struct way){ false }, 5);
		put_inner(&m, (struct way){ false });
		for (size_t n = 0; n <= m.n; n++) {
			enum packet_what what = decode_with(d, carriers[i].link_type, &m, n, &s);

			if (n >= m.n - 5 - 4)	/* up to the window */
				assert_int_equal(what, PACKET_TCP);
			else
				assert_int_not_equal(what, PACKET_TCP);
			if (what == PACKET_TCP)
				assert_int_equal(s.payload_bytes, 5);
		}
		make_end(&m);
	}
}

static void test_ipv6_inside_ipv4_and_geneve_without_ethernet(void **state)
{
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_ethernet(&m, 0x0800);
	put_ipv4(&m, (struct way){ false }, 41, 0xc0a80000, 65, 0);
	put_inner_ipv6(&m, (struct way){ false });
	assert_int_equal(decode(1, &m, &s), PACKET_TCP);
	assert_int_equal(s.ip_version, 6);
	assert_false(s.has_ip_id);
	assert_int_equal(s.payload_bytes, 5);
	m.n = 0;
	put_ethernet(&m, 0x0800);
	put_udp(&m, (struct way){ false }, 6081, 8 + 65);
	make_number(&m, 0x86dd, 4);
	make_number(&m, 9 << 8, 4);
	put_inner_ipv6(&m, (struct way){ false });
	assert_int_equal(decode(1, &m, &s), PACKET_TCP);
	assert_int_equal(s.source[0], 0xfd);
	make_end(&m);
}

/* ---- what is not to be taken for a tunnel, or for TCP ---- */

static void test_other_traffic_to_a_tunnels_port_is_none(void **state)
{
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_ethernet(&m, 0x0800);
	put_udp(&m, (struct way){ false }, 4789, 8 + 14 + INNER_BYTES);
	make_number(&m, 0, 8);	/* without the flag that the network's number is valid */
	put_ethernet(&m, 0x0800);
	put_inner(&m, (struct way){ false });
	assert_int_equal(decode(1, &m, &s), PACKET_OTHER);
	m.n = 0;
	put_ethernet(&m, 0x0800);
	put_udp(&m, (struct way){ false }, 53, INNER_BYTES);
	put_inner(&m, (struct way){ false });
	assert_int_equal(decode(1, &m, &s), PACKET_OTHER);
	make_end(&m);
}

static void test_layers_without_end_are_given_up(void **state)
{
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_ethernet(&m, 0x8100);
	for (int i = 0; i < 10000; i++)
		make_number(&m, 0x00058100, 4);
	assert_int_equal(decode(1, &m, &s), PACKET_OTHER);
	m.n = 0;
	for (int i = 0; i < 1000; i++)
		put_ipv4(&m, (struct way){ false }, 4, 0x0a000000, 20 * (size_t)(1000 - i), 0);
	assert_int_equal(decode(101, &m, &s), PACKET_OTHER);
	make_end(&m);
}

/* ---- lengths ---- */

static void test_length_zero_is_as_long_as_the_frame(void **state)
{
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_ipv4(&m, (struct way){ false }, 6, 0x0a000000, (size_t)-20, 0);
	put_tcp(&m, (struct way){ false }, TCP_ACK);
	for (int i = 0; i < 80000; i++)
		make_number(&m, 'x', 1);
	assert_int_equal(decode(101, &m, &s), PACKET_TCP);
	assert_int_equal(s.payload_bytes, 80000);
	assert_int_equal(s.payload_captured, 80000);
	m.bytes[3] = 60;	/* the twin: a length that is told */
	assert_int_equal(decode(101, &m, &s), PACKET_TCP);
	assert_int_equal(s.payload_bytes, 20);
	assert_int_equal(s.payload_captured, 20);
	make_end(&m);
}

static void test_lengths_that_contradict_each_other_are_damage(void **state)
{
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_inner(&m, (struct way){ false });
	m.bytes[3] = 19;	/* of the IP packet: shorter than its header */
	assert_int_equal(decode(101, &m, &s), PACKET_DAMAGED);
	m.bytes[3] = 39;	/* shorter than both headers */
	assert_int_equal(decode(101, &m, &s), PACKET_DAMAGED);
	m.bytes[3] = 40;
	assert_int_equal(decode(101, &m, &s), PACKET_TCP);
	assert_int_equal(s.payload_bytes, 0);
	m.bytes[20 + 12] = 0xf0;	/* of the TCP header: beyond the packet */
	assert_int_equal(decode(101, &m, &s), PACKET_DAMAGED);
	make_end(&m);
}

/* ---- fragments ---- */

#define MORE 0x2000

/* A piece of a SYN, FIN and 48 bytes of payload: header and payload at "offset", "n" bytes of it. */
static enum packet_what piece(struct packet_decoder *d, uint16_t id, size_t offset, size_t n, struct segment *out)
{
	struct making whole = make_begin(true), m = make_begin(true);
	enum packet_what what;

	put_tcp(&whole, (struct way){ false }, TCP_SYN | TCP_FIN);
	make_bytes(&whole, "0123456789abcdef0123456789abcdef0123456789abcdef", 48);
	put_ipv4(&m, (struct way){ false }, 6, 0x0a000000, n, (uint16_t)(offset / 8 | (offset + n < 68 ? MORE : 0)));
	m.bytes[5] = (uint8_t)id;
	make_bytes(&m, whole.bytes + offset, n);
	what = decode_with(d, 101, &m, m.n, out);
	make_end(&m);
	make_end(&whole);
	return what;
}

static void expect_piece(const struct segment *s, uint8_t flags, uint32_t sequence, uint32_t bytes)
{
	assert_int_equal(s->source_port, 40001);
	assert_int_equal(s->flags, flags);
	assert_int_equal(s->sequence, sequence);
	assert_int_equal(s->payload_bytes, bytes);
}

static void test_pieces_in_order_are_one_segment_after_the_other(void **state)
{
	struct packet_decoder *d = packet_decoder_new(arena);
	struct segment s;

	(void)state;
	assert_int_equal(piece(d, 1, 0, 24, &s), PACKET_TCP);
	expect_piece(&s, TCP_SYN, 1000, 4);
	assert_int_equal(piece(d, 2, 0, 40, &s), PACKET_TCP);	/* another packet between */
	assert_int_equal(piece(d, 1, 24, 24, &s), PACKET_TCP);
	expect_piece(&s, 0, 1005, 24);	/* the SYN counts as one */
	assert_int_equal(s.payload_captured, 24);
	assert_int_equal(piece(d, 1, 48, 20, &s), PACKET_TCP);
	expect_piece(&s, TCP_FIN, 1029, 20);
	assert_int_equal(piece(d, 2, 40, 28, &s), PACKET_TCP);
	expect_piece(&s, TCP_FIN, 1021, 28);
	assert_int_equal(packet_decoder_fragments_lost(d), 0);
}

static void test_pieces_whose_beginning_is_missing_are_counted(void **state)
{
	struct packet_decoder *d = packet_decoder_new(arena);
	struct segment s;

	(void)state;
	assert_int_equal(piece(d, 1, 24, 24, &s), PACKET_OTHER);
	assert_int_equal(packet_decoder_fragments_lost(d), 1);
	assert_int_equal(piece(d, 1, 0, 24, &s), PACKET_TCP);
	assert_int_equal(piece(d, 1, 48, 20, &s), PACKET_OTHER);
	assert_int_equal(packet_decoder_fragments_lost(d), 2);
	/* The twin: the same piece twice is a copy. */
	assert_int_equal(piece(d, 1, 24, 24, &s), PACKET_TCP);
	assert_int_equal(piece(d, 1, 24, 24, &s), PACKET_OTHER);
	assert_int_equal(packet_decoder_fragments_lost(d), 2);
}

static void test_header_in_several_pieces(void **state)
{
	struct packet_decoder *d = packet_decoder_new(arena);
	struct segment s;

	(void)state;
	assert_int_equal(piece(d, 1, 0, 8, &s), PACKET_OTHER);
	assert_int_equal(piece(d, 1, 8, 8, &s), PACKET_OTHER);
	assert_int_equal(piece(d, 1, 16, 16, &s), PACKET_TCP);
	expect_piece(&s, TCP_SYN, 1000, 12);
	assert_int_equal(piece(d, 1, 32, 36, &s), PACKET_TCP);
	expect_piece(&s, TCP_FIN, 1013, 36);
	assert_int_equal(packet_decoder_fragments_lost(d), 0);
}

static void test_ipv6_pieces(void **state)
{
	struct packet_decoder *d = packet_decoder_new(arena);
	struct making m = make_begin(true);
	struct segment s;

	(void)state;
	put_inner_ipv6(&m, (struct way){ false });
	/* A fragment header behind the IPv6 header: first piece, more to come, id 9. */
	memmove(m.bytes + 48, m.bytes + 40, 25);
	memcpy(m.bytes + 40, "\6\0\0\1\0\0\0\11", 8);
	m.n += 8;
	m.bytes[5] = 33;
	m.bytes[6] = 44;
	assert_int_equal(decode_with(d, 101, &m, m.n, &s), PACKET_TCP);
	assert_int_equal(s.payload_bytes, 5);
	m.bytes[43] = 25 & 0xf8;	/* the last one, at 24: one byte behind what came */
	assert_int_equal(decode_with(d, 101, &m, m.n, &s), PACKET_OTHER);
	make_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_carrier_gives_the_inner_segment),
		cmocka_unit_test(test_both_directions_are_of_one_domain_and_another_id_is_of_another),
		cmocka_unit_test(test_domains_of_different_carriers_differ),
		cmocka_unit_test(test_any_cut_of_any_carrier),
		cmocka_unit_test(test_ipv6_inside_ipv4_and_geneve_without_ethernet),
		cmocka_unit_test(test_other_traffic_to_a_tunnels_port_is_none),
		cmocka_unit_test(test_layers_without_end_are_given_up),
		cmocka_unit_test(test_length_zero_is_as_long_as_the_frame),
		cmocka_unit_test(test_lengths_that_contradict_each_other_are_damage),
		cmocka_unit_test(test_pieces_in_order_are_one_segment_after_the_other),
		cmocka_unit_test(test_pieces_whose_beginning_is_missing_are_counted),
		cmocka_unit_test(test_header_in_several_pieces),
		cmocka_unit_test(test_ipv6_pieces),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
