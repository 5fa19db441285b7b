/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_TAKE_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_TAKE_H

/*
 * What a segment says to its connection: passed to its direction (tcp_flow.h),
 * to the other direction's stall (tcp_stall.h), to the pair of hosts
 * (tcp_pair.h).
 */

#include "input/capture/tcp_state.h"

/* The connection is not closed. before_us: when the sender was heard before, on any connection. */
void tcp_take(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us);
/* The same without the short cut for plain segments. */
void tcp_take_any(struct tcp *t, struct tcp_conn *c, const struct segment *s, unsigned side, int64_t before_us);
/* A side's window is not known any more. */
void tcp_take_window_end(struct tcp *t, struct tcp_flow *f, bool censored);

#endif
