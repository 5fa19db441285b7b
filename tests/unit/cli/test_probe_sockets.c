/* SPDX-License-Identifier: MIT */
/* Connections as ss shows them (iproute2; lines of its output in the facts of input-formats.md 1.6). */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/probe_sockets.h"

static struct inet_diag_msg message(int family, const char *local, uint16_t local_port, const char *peer, uint16_t peer_port)
{
	struct inet_diag_msg m;

	memset(&m, 0, sizeof m);
	m.idiag_family = (uint8_t)family;
	m.idiag_state = 1;
	m.id.idiag_sport = htons(local_port);
	m.id.idiag_dport = htons(peer_port);
	assert_int_equal(inet_pton(family, local, m.id.idiag_src), 1);
	assert_int_equal(inet_pton(family, peer, m.id.idiag_dst), 1);
	return m;
}

static void assert_row(const struct inet_diag_msg *m, const struct tcp_info *i, const char *expected)
{
	struct buf b;

	buf_init(&b);
	probe_sockets_row(&b, m, i);
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	buf_fini(&b);
}

static void a_stalled_connection(void **state)
{
	struct inet_diag_msg m = message(AF_INET, "192.0.2.1", 41092, "192.0.2.2", 9092);
	struct tcp_info i;
	(void)state;

	memset(&i, 0, sizeof i);
	m.idiag_wqueue = 40;
	m.idiag_timer = 1;
	m.idiag_expires = 1648;
	m.idiag_retrans = 3;
	i.tcpi_rto = 1632000;
	i.tcpi_backoff = 3;
	i.tcpi_rtt = 67;
	i.tcpi_rttvar = 1034;
	i.tcpi_snd_cwnd = 1;
	i.tcpi_bytes_acked = 161;
	i.tcpi_bytes_received = 160;
	i.tcpi_data_segs_out = 7;
	i.tcpi_data_segs_in = 4;
	i.tcpi_last_data_sent = 1508;
	i.tcpi_last_data_recv = 3092;
	i.tcpi_last_ack_recv = 3092;
	i.tcpi_unacked = 1;
	i.tcpi_retrans = 1;
	i.tcpi_total_retrans = 3;
	i.tcpi_lost = 1;
	assert_row(&m, &i,
		   "ESTAB 0 40 192.0.2.1:41092 192.0.2.2:9092 timer:(on,1648ms,3)\n"
		   "\t rto:1632 backoff:3 rtt:0.067/1.034 cwnd:1 bytes_acked:161 bytes_received:160 data_segs_out:7"
		   " data_segs_in:4 lastsnd:1508 lastrcv:3092 lastack:3092 unacked:1 retrans:1/3 lost:1\n");
}

/* What is 0 says nothing is wrong, and is not written; v6 stands in brackets. */
static void a_healthy_connection(void **state)
{
	struct inet_diag_msg m = message(AF_INET6, "::ffff:192.0.2.1", 9092, "2001:db8::7", 50000);
	struct tcp_info i;
	(void)state;

	memset(&i, 0, sizeof i);
	i.tcpi_rto = 204000;
	assert_row(&m, &i,
		   "ESTAB 0 0 [::ffff:192.0.2.1]:9092 [2001:db8::7]:50000\n"
		   "\t rto:204 rtt:0.000/0.000 cwnd:0 bytes_acked:0 bytes_received:0 data_segs_out:0 data_segs_in:0"
		   " lastsnd:0 lastrcv:0 lastack:0\n");
	m.idiag_state = 77;
	assert_row(&m, NULL, "UNKNOWN 0 0 [::ffff:192.0.2.1]:9092 [2001:db8::7]:50000\n");
}

static void ports_choose(void **state)
{
	const struct inet_diag_msg m = message(AF_INET, "192.0.2.1", 41092, "192.0.2.2", 9092);
	const struct probe_ports all = { .count = 0 }, peer = { { 9093, 9092 }, 2 }, local = { { 41092 }, 1 },
				 other = { { 9093 }, 1 };
	(void)state;

	assert_true(probe_sockets_wants(&all, &m));
	assert_true(probe_sockets_wants(&peer, &m));
	assert_true(probe_sockets_wants(&local, &m));
	assert_false(probe_sockets_wants(&other, &m));
}

/* A connection of this very test is listed, seen from both its ends. */
static void the_kernel_is_asked(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof at;
	struct probe_sockets s;
	struct buf sample;
	char row[64];
	size_t found;
	(void)state;

	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &n), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof at), 0);
	int server = accept(listener, NULL, NULL);
	assert_true(server >= 0);

	const struct probe_ports ports = { { ntohs(at.sin_port) }, 1 }, none = { { 1 }, 1 };
	buf_init(&sample);
	probe_sockets_open(&s, &ports);
	if (s.fd >= 0) { /* else a sandbox without netlink */
		probe_sockets_append(&s, &sample);
		snprintf(row, sizeof row, " 127.0.0.1:%u 127.0.0.1:", (unsigned)ports.items[0]);
		assert_true(sv_starts_with(buf_sv(&sample), SV("==> ss -tino <==\nState ")));
		assert_true(sv_find(buf_sv(&sample), sv_of(row), &found));
		snprintf(row, sizeof row, " 127.0.0.1:%u", (unsigned)ports.items[0]);
		assert_true(sv_find(buf_sv(&sample), sv_of(row), &found));
		assert_true(sv_find(buf_sv(&sample), SV("\t rto:"), &found));
		/* Asked again it says the same, and of other ports nothing. */
		s.ports = &none;
		buf_clear(&sample);
		probe_sockets_append(&s, &sample);
		assert_false(sv_find(buf_sv(&sample), SV("127.0.0.1"), &found));
	}
	probe_sockets_close(&s);
	buf_fini(&sample);
	close(server);
	close(client);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stalled_connection),
		cmocka_unit_test(a_healthy_connection),
		cmocka_unit_test(ports_choose),
		cmocka_unit_test(the_kernel_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
