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

/* A connection of this very test. */
struct pair {
	int listener, client, server;
	uint16_t client_port, server_port;
};

static uint16_t port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t n = sizeof at;

	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	return ntohs(at.sin_port);
}

static void pair_init(struct pair *p)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	p->listener = socket(AF_INET, SOCK_STREAM, 0);
	p->client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(p->listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(p->listener, 1), 0);
	p->server_port = port_of(p->listener);
	at.sin_port = htons(p->server_port);
	assert_int_equal(connect(p->client, (struct sockaddr *)&at, sizeof at), 0);
	p->client_port = port_of(p->client);
	p->server = accept(p->listener, NULL, NULL);
	assert_true(p->server >= 0);
}

static void pair_fini(struct pair *p)
{
	close(p->server);
	close(p->client);
	close(p->listener);
}

/* How often " 127.0.0.1:FROM 127.0.0.1:TO" is listed when these ports are asked for; -1: there is no netlink here. */
static int listed(const struct probe_ports *ports, uint16_t from, uint16_t to)
{
	struct probe_sockets s;
	struct buf sample;
	char row[64];
	size_t at;
	int n = 0;

	buf_init(&sample);
	probe_sockets_open(&s, ports);
	probe_sockets_append(&s, &sample);
	snprintf(row, sizeof row, " 127.0.0.1:%u 127.0.0.1:%u", (unsigned)from, (unsigned)to);
	for (struct sv rest = buf_sv(&sample); sv_find(rest, sv_of(row), &at); n++)
		rest = sv_sub(rest, at + 1, rest.n);
	if (s.fd < 0)
		n = -1;
	else
		assert_true(sv_starts_with(buf_sv(&sample), SV("==> ss -tino <==\nState ")));
	probe_sockets_close(&s);
	buf_fini(&sample);
	return n;
}

static void the_kernel_lists_both_ends(void **state)
{
	const struct probe_ports all = { .count = 0 };
	struct pair p;
	(void)state;

	pair_init(&p);
	if (listed(&all, p.client_port, p.server_port) >= 0) {
		assert_int_equal(listed(&all, p.client_port, p.server_port), 1);
		assert_int_equal(listed(&all, p.server_port, p.client_port), 1);
	}
	pair_fini(&p);
}

static void ports_choose(void **state)
{
	struct pair p;
	(void)state;

	pair_init(&p);
	uint16_t other = p.server_port == 7 ? 8 : 7;
	const struct probe_ports server = { { other, p.server_port }, 2 }, client = { { p.client_port }, 1 }, none = { { other }, 1 };
	struct probe_ports full = { .count = PROBE_PORTS_MAX };
	for (size_t i = 0; i < PROBE_PORTS_MAX; i++)
		full.items[i] = other;
	full.items[PROBE_PORTS_MAX - 1] = p.server_port;
	if (listed(&none, p.client_port, p.server_port) >= 0) {
		assert_int_equal(listed(&none, p.client_port, p.server_port), 0);
		assert_int_equal(listed(&server, p.client_port, p.server_port), 1);
		assert_int_equal(listed(&server, p.server_port, p.client_port), 1);
		assert_int_equal(listed(&client, p.client_port, p.server_port), 1);
		assert_int_equal(listed(&full, p.client_port, p.server_port), 1);
	}
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stalled_connection),
		cmocka_unit_test(a_healthy_connection),
		cmocka_unit_test(the_kernel_lists_both_ends),
		cmocka_unit_test(ports_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
