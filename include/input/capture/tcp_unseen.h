/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_UNSEEN_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_UNSEEN_H

/*
 * Transmissions that were lost before the capture point, told by the IP
 * identification: Linux numbers the packets of a connection one by one
 * (ip_select_ident, inet_id), those sent again as well. Data that goes on in
 * sequence after a silence, with numbers left out, was sent before and did not
 * arrive; without any left out the peer had sent nothing. So a receiver's
 * capture tells a broken path from a peer that paused.
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/capture/tcp.h"
#include "input/capture/tcp_median.h"

/* The numbers of one direction. */
struct tcp_numbers {
	int64_t us;	/* of the latest packet */
	uint16_t id;
	uint8_t steps;	/* packets in a row that were one apart */
	bool known;
	bool is_large;	/* it may stand for several packets, joined by the receiver's interface or not yet cut by the sender's */
};

struct tcp_unseen {
	int64_t start_us, end_us;	/* the silence in which they were sent */
	uint32_t packets;
};

/* Takes a packet of the direction, no copy. True when numbers were left out before it. rtt: of the path so far. */
bool tcp_unseen_take(struct tcp_numbers *n, const struct segment *s, int64_t now_us, const struct tcp_median *rtt,
		     struct tcp_unseen *out);

#endif
