/* SPDX-License-Identifier: MIT */
/* TCP options: what a selective acknowledgment says came twice (RFC 2018 3, RFC 2883 4). */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "input/capture/packet.h"

enum { HEADER_IP = 20, HEADER_TCP = 20, ACKNOWLEDGMENT = 5000 };

static void put_number(uint8_t *at, uint32_t value)
{
	for (int i = 3; i >= 0; i--, value >>= 8)
		at[i] = (uint8_t)value;
}

static enum packet_what decode_packet(const uint8_t *packet, size_t captured, size_t whole, struct segment *out)
{
	struct arena *a = arena_new();
	enum packet_what what = packet_decode(packet_decoder_new(a), PACKET_RAW, packet, captured, whole, out);

	arena_free(a);
	return what;
}

/* Two no-operations, then a SACK option of so many blocks; captured: of the whole packet, -1 for all of it. */
static enum packet_what decode(const uint32_t *edges, unsigned blocks, int captured, struct segment *out)
{
	uint8_t packet[HEADER_IP + 60] = { 0x45 };
	uint8_t *tcp = packet + HEADER_IP, *option = tcp + HEADER_TCP;
	/* A timestamp option before it, as everywhere: 10 bytes and two of padding. */
	size_t header = HEADER_TCP + 12 + 4 + blocks * 8, whole = HEADER_IP + header;

	packet[3] = (uint8_t)whole;
	packet[9] = 6;
	put_number(tcp + 8, ACKNOWLEDGMENT);
	tcp[12] = (uint8_t)(header / 4 << 4);
	tcp[13] = TCP_ACK;
	memcpy(option, "\1\1\10\12abcdefgh\1\1\5", 15);
	option[15] = (uint8_t)(2 + blocks * 8);
	for (unsigned i = 0; i < blocks * 2; i++)
		put_number(option + 16 + (size_t)i * 4, edges[i]);
	return decode_packet(packet, captured >= 0 ? (size_t)captured : whole, whole, out);
}

static void test_a_first_block_below_the_acknowledgment_came_twice(void **state)
{
	const uint32_t edges[] = { 4900, 5000 };
	struct segment s;

	(void)state;
	assert_int_equal(decode(edges, 1, -1, &s), PACKET_TCP);
	assert_true(s.has_duplicate);
	assert_int_equal(s.duplicate_from, 4900);
	assert_int_equal(s.duplicate_to, 5000);
}

static void test_a_first_block_within_the_second_came_twice(void **state)
{
	const uint32_t edges[] = { 6000, 6100, 5900, 6200 };
	struct segment s;

	(void)state;
	assert_int_equal(decode(edges, 2, -1, &s), PACKET_TCP);
	assert_true(s.has_duplicate);
	assert_int_equal(s.duplicate_from, 6000);
	assert_int_equal(s.duplicate_to, 6100);
}

static void test_blocks_beyond_the_acknowledgment_arrived_out_of_order(void **state)
{
	const uint32_t edges[] = { 6000, 6100, 7000, 7100 };
	struct segment s;

	(void)state;
	assert_int_equal(decode(edges, 1, -1, &s), PACKET_TCP);
	assert_false(s.has_duplicate);
	assert_int_equal(decode(edges, 2, -1, &s), PACKET_TCP);
	assert_false(s.has_duplicate);
}

static void test_options_that_were_not_captured_say_nothing(void **state)
{
	const uint32_t edges[] = { 4900, 5000 };
	struct segment s;

	(void)state;
	for (int captured = HEADER_IP + HEADER_TCP; captured < HEADER_IP + HEADER_TCP + 24; captured++) {
		assert_int_equal(decode(edges, 1, captured, &s), PACKET_TCP);
		assert_false(s.has_duplicate);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_first_block_below_the_acknowledgment_came_twice),
		cmocka_unit_test(test_a_first_block_within_the_second_came_twice),
		cmocka_unit_test(test_blocks_beyond_the_acknowledgment_arrived_out_of_order),
		cmocka_unit_test(test_options_that_were_not_captured_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
