/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_PROBE_SOCKETS_H
#define AFTERSHOCK_CLI_PROBE_SOCKETS_H

/*
 * The state of this host's TCP connections, as "ss -tino" shows it, asked of the
 * kernel directly (sock_diag(7)). What a sample costs is bounded, on a broker
 * with ten thousand connections too.
 */

#include <linux/inet_diag.h>
#include <linux/tcp.h>

#include "base/buf.h"

#define PROBE_PORTS_MAX 16
/* Rows of one sample, and connections that are counted for them; who has more names ports. */
#define PROBE_SOCKETS_ROWS_MAX 256
#define PROBE_SOCKETS_SEEN_MAX 4096

struct probe_ports {
	uint16_t items[PROBE_PORTS_MAX];	/* of either end */
	size_t count;				/* 0: all */
};

struct probe_sockets {
	const struct probe_ports *ports;
	int fd;		/* -1: cannot be asked */
	int error;	/* errno, then */
};

void probe_sockets_open(struct probe_sockets *s, const struct probe_ports *ports);
void probe_sockets_close(struct probe_sockets *s);
/* A heading, then two lines a connection. Says how many were left out; when it fails, that it did, and closes. */
void probe_sockets_append(struct probe_sockets *s, struct buf *sample);

/* The two lines; info may be NULL. */
void probe_sockets_row(struct buf *to, const struct inet_diag_msg *m, const struct tcp_info *info);

#endif
