/* SPDX-License-Identifier: MIT */
/* Connections in the words of ss (iproute2). See cli/probe_sockets.h; the protocol: sock_diag(7), linux/inet_diag.h. */

#include "cli/probe_sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel answers at once; if ever it does not, the other sources do not wait. */
#define ANSWER_MS 100
/* As the kernel fills at once (NLMSG_GOODSIZE and more). */
#define ANSWER_BYTES 32768

/* By number, as in the kernel's tcp_states.h; those without a name are not asked for. */
static const char *const states[] = {
	[1] = "ESTAB", [2] = "SYN-SENT", [4] = "FIN-WAIT-1", [8] = "CLOSE-WAIT", [9] = "LAST-ACK", [11] = "CLOSING",
};
#define STATE_COUNT (sizeof states / sizeof states[0])

static const char *const timers[] = { [1] = "on", [2] = "keepalive", [4] = "persist" };
#define TIMER_COUNT (sizeof timers / sizeof timers[0])

/* ---- one connection ---- */

static void add_end(struct buf *to, int family, const uint32_t *address, uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(family, address, text, sizeof text);
	buf_printf(to, family == AF_INET6 ? " [%s]:%u" : " %s:%u", text, (unsigned)ntohs(port));
}

static void add_ms(struct buf *to, const char *name, uint32_t us)
{
	buf_printf(to, "%s%u.%03u", name, us / 1000, us % 1000);
}

static void add_unless_0(struct buf *to, const char *name, uint32_t value)
{
	if (value != 0)
		buf_printf(to, " %s:%u", name, value);
}

static void add_info(struct buf *to, const struct tcp_info *i)
{
	buf_printf(to, "\t rto:%u", i->tcpi_rto / 1000);
	add_unless_0(to, "backoff", i->tcpi_backoff);
	add_ms(to, " rtt:", i->tcpi_rtt);
	add_ms(to, "/", i->tcpi_rttvar);
	buf_printf(to, " cwnd:%u", i->tcpi_snd_cwnd);
	buf_printf(to, " bytes_acked:%" PRIu64 " bytes_received:%" PRIu64, (uint64_t)i->tcpi_bytes_acked,
		   (uint64_t)i->tcpi_bytes_received);
	buf_printf(to, " data_segs_out:%u data_segs_in:%u", i->tcpi_data_segs_out, i->tcpi_data_segs_in);
	buf_printf(to, " lastsnd:%u lastrcv:%u lastack:%u", i->tcpi_last_data_sent, i->tcpi_last_data_recv,
		   i->tcpi_last_ack_recv);
	add_unless_0(to, "unacked", i->tcpi_unacked);
	if (i->tcpi_retrans != 0 || i->tcpi_total_retrans != 0)
		buf_printf(to, " retrans:%u/%u", i->tcpi_retrans, i->tcpi_total_retrans);
	add_unless_0(to, "lost", i->tcpi_lost);
	add_unless_0(to, "sacked", i->tcpi_sacked);
	add_unless_0(to, "notsent", i->tcpi_notsent_bytes);
	buf_add_char(to, '\n');
}

void probe_sockets_row(struct buf *to, const struct inet_diag_msg *m, const struct tcp_info *info)
{
	const char *state = m->idiag_state < STATE_COUNT ? states[m->idiag_state] : NULL;
	const char *timer = m->idiag_timer < TIMER_COUNT ? timers[m->idiag_timer] : NULL;

	buf_printf(to, "%s %u %u", state != NULL ? state : "UNKNOWN", m->idiag_rqueue, m->idiag_wqueue);
	add_end(to, m->idiag_family, m->id.idiag_src, m->id.idiag_sport);
	add_end(to, m->idiag_family, m->id.idiag_dst, m->id.idiag_dport);
	if (timer != NULL)
		buf_printf(to, " timer:(%s,%ums,%u)", timer, m->idiag_expires, (unsigned)m->idiag_retrans);
	buf_add_char(to, '\n');
	if (info != NULL)
		add_info(to, info);
}

/* ---- the kernel's answer ---- */

struct listing {
	struct buf *to;
	unsigned rows;
	bool cut;	/* there are more, which were not looked at */
};

/* Kernels of different age have more or fewer members: what is not given is 0. rest: what follows the inet_diag_msg. */
static bool info_of(struct sv rest, struct tcp_info *out)
{
	struct nlattr a;

	memset(out, 0, sizeof *out);
	while (rest.n >= sizeof a) {
		memcpy(&a, rest.p, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > rest.n)
			return false;
		if (a.nla_type == INET_DIAG_INFO) {
			size_t n = a.nla_len - sizeof a;
			memcpy(out, rest.p + sizeof a, n < sizeof *out ? n : sizeof *out);
			return true;
		}
		rest = sv_sub(rest, NLA_ALIGN(a.nla_len), rest.n);
	}
	return false;
}

static void take(struct listing *l, struct sv body)
{
	struct inet_diag_msg m;
	struct tcp_info info;

	if (body.n < sizeof m)
		return;
	memcpy(&m, body.p, sizeof m);
	if (++l->rows <= PROBE_SOCKETS_ROWS_MAX)
		probe_sockets_row(l->to, &m, info_of(sv_sub(body, NLMSG_ALIGN(sizeof m), body.n), &info) ? &info : NULL);
}

/*
 * A filter for the kernel, so that a broker's other connections cost nothing:
 * each port as "at least and at most", of the local end and of the peer's. Whoever
 * passes both jumps to the end, which accepts; who fails the last jumps beyond it,
 * which refuses (inet_diag_bc_run in the kernel's net/ipv4/inet_diag.c).
 */
enum { TEST_OPS = 5 };	/* at least, its port, at most, its port, jump */
#define FILTER_OPS_MAX (2 * PROBE_PORTS_MAX * TEST_OPS)
#define OP_BYTES ((unsigned)sizeof(struct inet_diag_bc_op))

/* left: operations from this test on. */
static void add_test(struct inet_diag_bc_op *ops, unsigned char least, unsigned char most, uint16_t port, size_t left)
{
	unsigned past = left == TEST_OPS ? OP_BYTES : 0;

	ops[0] = (struct inet_diag_bc_op){ least, 2 * OP_BYTES, (unsigned short)(TEST_OPS * OP_BYTES + past) };
	ops[1] = (struct inet_diag_bc_op){ 0, 0, port };
	ops[2] = (struct inet_diag_bc_op){ most, 2 * OP_BYTES, (unsigned short)((TEST_OPS - 2) * OP_BYTES + past) };
	ops[3] = (struct inet_diag_bc_op){ 0, 0, port };
	ops[4] = (struct inet_diag_bc_op){ INET_DIAG_BC_JMP, OP_BYTES, (unsigned short)((left - TEST_OPS + 1) * OP_BYTES) };
}

static size_t make_filter(struct inet_diag_bc_op *ops, const struct probe_ports *ports)
{
	size_t count = 2 * ports->count * TEST_OPS, at = 0;

	for (size_t i = 0; i < ports->count; i++) {
		add_test(ops + at, INET_DIAG_BC_S_GE, INET_DIAG_BC_S_LE, ports->items[i], count - at);
		at += TEST_OPS;
		add_test(ops + at, INET_DIAG_BC_D_GE, INET_DIAG_BC_D_LE, ports->items[i], count - at);
		at += TEST_OPS;
	}
	return count * sizeof *ops;
}

static int ask(int fd, uint8_t family, const struct probe_ports *ports)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
		struct nlattr filter;
		struct inet_diag_bc_op ops[FILTER_OPS_MAX];
	} message = {
		.header = { .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_ext = 1 << (INET_DIAG_INFO - 1) },
		.filter = { .nla_type = INET_DIAG_REQ_BYTECODE },
	};
	size_t filter_bytes = make_filter(message.ops, ports);
	size_t bytes = sizeof message.header + sizeof message.request;

	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (states[i] != NULL)
			message.request.idiag_states |= 1U << i;
	if (filter_bytes > 0) {
		message.filter.nla_len = (uint16_t)(sizeof message.filter + filter_bytes);
		bytes += message.filter.nla_len;
	}
	message.header.nlmsg_len = (uint32_t)bytes;
	return send(fd, &message, bytes, 0) == (ssize_t)bytes ? 0 : errno;
}

static int error_of(struct sv body)
{
	struct nlmsgerr e;

	if (body.n < sizeof e)
		return EIO;
	memcpy(&e, body.p, sizeof e);
	return e.error < 0 ? -e.error : EIO;
}

/* The messages of one read. 1: the answer goes on; 0: that was its end; or -errno. */
static int take_messages(struct listing *l, struct sv rest)
{
	struct nlmsghdr h;

	while (rest.n >= sizeof h) {
		memcpy(&h, rest.p, sizeof h);
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > rest.n)
			return -EIO;
		struct sv body = { rest.p + NLMSG_HDRLEN, h.nlmsg_len - NLMSG_HDRLEN };
		if (h.nlmsg_type == NLMSG_DONE)
			return 0;
		if (h.nlmsg_type == NLMSG_ERROR)
			return -error_of(body);
		take(l, body);
		rest = sv_sub(rest, NLMSG_ALIGN(h.nlmsg_len), rest.n);
	}
	return 1;
}

/* 0: all of it, or so much that no more is looked at; or an errno. */
static int listen_to_answer(int fd, struct listing *l)
{
	char answer[ANSWER_BYTES];

	for (;;) {
		ssize_t got = recv(fd, answer, sizeof answer, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		int more = take_messages(l, (struct sv){ answer, (size_t)got });
		if (more <= 0)
			return -more;
		l->cut = l->rows >= PROBE_SOCKETS_SEEN_MAX;
		if (l->cut)
			return 0;
	}
}

static int list_family(struct probe_sockets *s, uint8_t family, struct listing *l)
{
	int rc = ask(s->fd, family, s->ports);

	if (rc == 0)
		rc = listen_to_answer(s->fd, l);
	/* An answer that is not wanted to its end is thrown away with its socket. */
	if (rc != 0 || l->cut) {
		probe_sockets_close(s);
		probe_sockets_open(s, s->ports);
	}
	return rc;
}

/* ---- public ---- */

void probe_sockets_open(struct probe_sockets *s, const struct probe_ports *ports)
{
	const struct timeval most = { .tv_usec = ANSWER_MS * 1000 };

	*s = (struct probe_sockets){ .ports = ports };
	s->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (s->fd < 0)
		s->error = errno;
	else if (setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) != 0) {
		s->error = errno;
		probe_sockets_close(s);
	}
}

void probe_sockets_close(struct probe_sockets *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void probe_sockets_append(struct probe_sockets *s, struct buf *sample)
{
	struct listing l = { .to = sample };
	size_t before = sample->n;
	int rc = 0;

	if (s->fd < 0)
		return;
	buf_add(sample, SV("==> ss -tino <==\nState Recv-Q Send-Q Local Address:Port Peer Address:Port\n"));
	rc = list_family(s, AF_INET, &l);
	if (rc == 0 && !l.cut)
		rc = list_family(s, AF_INET6, &l);
	if (rc != 0) {
		sample->n = before;
		buf_printf(sample, "# connections cannot be listed: %s\n", strerror(rc));
		probe_sockets_close(s);
		s->error = rc;
		return;
	}
	if (l.rows > PROBE_SOCKETS_ROWS_MAX || l.cut)
		buf_printf(sample, "# %u%s connections are left out: --ports chooses\n",
			   l.rows > PROBE_SOCKETS_ROWS_MAX ? l.rows - PROBE_SOCKETS_ROWS_MAX : 0, l.cut ? " and more" : "");
}
