/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_OPENING_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_OPENING_H

/* How a connection is opened: SYN, its answer, the third packet; or none of these (net.syn_unanswered, net.refused). */

#include "input/capture/tcp_state.h"

/* A SYN of side a. */
void tcp_opening_syn(struct tcp *t, struct tcp_conn *c, const struct segment *s);
/* SYN and ACK of side b. */
void tcp_opening_syn_answer(struct tcp *t, struct tcp_conn *c);
/* Side b answered in any way. */
void tcp_opening_answered(struct tcp *t, struct tcp_conn *c);
/* An acknowledgment of that side; the third packet of the handshake measures the way to side a. */
void tcp_opening_complete(struct tcp *t, struct tcp_conn *c, unsigned side);
/* The caller takes its SYN back. */
void tcp_opening_abandon(struct tcp *t, struct tcp_conn *c);
/* The evidence ends. */
void tcp_opening_cut(struct tcp *t, struct tcp_conn *c);

#endif
