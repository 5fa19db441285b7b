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

/* So many steps of one say that the sender numbers a connection by itself; not all systems do. */
#define TCP_STEPS_LEAST 8
/* More numbers are another counter, or a capture that lost packets. */
#define TCP_STEP_MOST 64
/* Ethernet's payload less the least headers; more was joined from several. */
#define TCP_PACKET_PAYLOAD_MOST 1460
/* Shorter silences are everyday recovery, and of no use to a detector. */
#define TCP_UNSEEN_LEAST_US (500 * US_PER_MS)

/* Numbers were left out in a silence: what was sent in it? False: nothing of which is to be told. */
bool tcp_unseen_since(int64_t before_us, int64_t now_us, uint32_t packets, const struct tcp_median *rtt, struct tcp_unseen *out);

/* Takes a packet of the direction, no copy. True when numbers were left out before it. rtt: of the path so far. */
static inline bool tcp_unseen_take(struct tcp_numbers *n, const struct segment *s, int64_t now_us,
				   const struct tcp_median *rtt, struct tcp_unseen *out)
{
	const uint16_t step = (uint16_t)(s->ip_id - n->id);
	const struct tcp_numbers before = *n;

	/* Segments that belong to no socket, as some resets, have numbers of their own. */
	if (!s->has_ip_id || (s->flags & (TCP_SYN | TCP_RST)) != 0)
		return false;
	*n = (struct tcp_numbers){ .us = now_us, .id = s->ip_id, .steps = before.steps, .known = true,
				   .is_large = s->payload_bytes > TCP_PACKET_PAYLOAD_MOST };
	if (step == 1 && before.known) {
		n->steps = (uint8_t)(n->steps + (n->steps < TCP_STEPS_LEAST));
		return false;
	}
	if (!before.known || step == 0 || step > TCP_STEP_MOST) {
		n->steps = 0;
		return false;
	}
	if (before.is_large || n->steps < TCP_STEPS_LEAST || now_us - before.us < TCP_UNSEEN_LEAST_US)
		return false;
	return tcp_unseen_since(before.us, now_us, step - 1U, rtt, out);
}

#endif
