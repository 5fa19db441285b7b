/* SPDX-License-Identifier: MIT */
/* The texts of a connection's ends are those that inet_ntop and printf would make. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "input/capture/tcp_report.h"

static void is_written(const struct tcp_conn *c)
{
	const bool is_6 = c->address[TCP_A].version == 6;
	char address[INET6_ADDRSTRLEN], expected[128];
	struct tcp_ends ends;
	struct event e;

	event_init(&e, EVENT_NET_CONNECTION);
	tcp_report_path(&e, c, &ends);
	for (unsigned side = TCP_A; side <= TCP_B; side++) {
		struct sv text = event_text(&e, side == TCP_A ? FIELD_PATH_A : FIELD_PATH_B);

		assert_non_null(inet_ntop(is_6 ? AF_INET6 : AF_INET, c->address[side].bytes, address, sizeof address));
		snprintf(expected, sizeof expected, is_6 ? "[%s]:%u" : "%s:%u", address, (unsigned)c->port[side]);
		assert_true(sv_eq(text, sv_of(expected)));
	}
}

static void ends_are_written_as_ever(void **state)
{
	static const uint16_t ports[] = { 0, 9, 10, 99, 100, 9092, 65535 };
	struct tcp_conn c = { .address = { { .version = 4 }, { .version = 4 } } };
	uint32_t x = 1;

	(void)state;
	for (unsigned n = 0; n < 4000; n++) {
		size_t bytes = n % 2 == 0 ? 4 : 16;

		memset(c.address, 0, sizeof c.address);
		for (unsigned side = TCP_A; side <= TCP_B; side++) {
			c.address[side].version = n % 2 == 0 ? 4 : 6;
			c.port[side] = ports[(n + side) % 7];
			for (size_t i = 0; i < bytes; i++) {
				x = x * 1664525 + 1013904223;
				/* Short ones and zeros, too. */
				c.address[side].bytes[i] = (uint8_t)(x >> 24 >> (x >> 21 & 7));
			}
		}
		is_written(&c);
	}
	memset(c.address[TCP_A].bytes, 255, 16);
	c.address[TCP_A].version = c.address[TCP_B].version = 6;
	is_written(&c);
}

/* The longest, with the zone of the last VLAN that is told apart. */
static void a_zone_stands_behind_the_address(void **state)
{
	struct tcp_pair pair = { .zone = 17 };
	struct tcp_conn c = { .pair = &pair, .port = { 65535, 1 } };
	struct tcp_ends ends;
	struct event e;

	(void)state;
	memset(c.address[TCP_A].bytes, 0xfe, 16);
	c.address[TCP_A].version = c.address[TCP_B].version = 6;
	event_init(&e, EVENT_NET_CONNECTION);
	tcp_report_path(&e, &c, &ends);
	assert_true(sv_eq(event_text(&e, FIELD_PATH_A), SV("[fefe:fefe:fefe:fefe:fefe:fefe:fefe:fefe%17]:65535")));
	assert_true(sv_eq(event_text(&e, FIELD_PATH_B), SV("[::%17]:1")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_are_written_as_ever),
		cmocka_unit_test(a_zone_stands_behind_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
