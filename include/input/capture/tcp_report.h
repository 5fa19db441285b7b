/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_REPORT_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_REPORT_H

/* What tcp found, as net.* events. A sink that failed is remembered and not called again. */

#include <stdbool.h>

#include "input/capture/tcp_conn.h"

struct tcp_report {
	struct event_sink sink;
	bool failed;
};

/* "[", an IPv6 address, "%17", "]:65535" */
#define TCP_END_BYTES 64

/* The texts of a connection's ends, which an event borrows. */
struct tcp_ends {
	char a[TCP_END_BYTES], b[TCP_END_BYTES];
};

/* For those that make events of their own. */
void tcp_report_path(struct event *e, const struct tcp_conn *c, struct tcp_ends *texts);
void tcp_report_put(struct tcp_report *r, const struct event *e);

void tcp_report_connection(struct tcp_report *r, const struct tcp_conn *c);
/* The second at hand of a flow, if there is one, is over: told now, or kept for later among others like it. */
void tcp_report_second(struct tcp_report *r, struct tcp_flow *f);
/* That one, and all that are kept. */
void tcp_report_seconds(struct tcp_report *r, struct tcp_flow *f);
void tcp_report_stall(struct tcp_report *r, const struct tcp_flow *f, const struct tcp_stall *stall);

enum tcp_syn_end { TCP_SYN_ANSWERED, TCP_SYN_ABANDONED, TCP_SYN_CENSORED };
void tcp_report_syn(struct tcp_report *r, const struct tcp_conn *c, int64_t end_us, enum tcp_syn_end how);

/* by: the side that sent it. cut: data of the other side stood unacknowledged. */
void tcp_report_reset(struct tcp_report *r, const struct tcp_conn *c, unsigned by, const struct tcp_mark *mark,
		      bool cut);
/* The called side answered the opening by a reset. */
void tcp_report_refused(struct tcp_report *r, const struct tcp_conn *c, const struct tcp_mark *mark);
void tcp_report_zero_window(struct tcp_report *r, const struct tcp_flow *f, int64_t end_us, bool censored);
/* side: whose transmissions. */
void tcp_report_unseen(struct tcp_report *r, const struct tcp_conn *c, unsigned side, const struct tcp_mark *mark,
		       const struct tcp_unseen *unseen);
void tcp_report_quiet(struct tcp_report *r, const struct tcp_pair *p, const struct tcp_quiet *quiet, bool censored);
/* A packet that the capture of another host may show too. */
void tcp_report_sighted(struct tcp_report *r, const struct tcp_conn *c, unsigned by, const struct segment *s, uint64_t digest);

#endif
