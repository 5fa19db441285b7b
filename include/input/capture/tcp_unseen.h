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
/* Ethernet's payload less the least headers; more was joined from several. */
#define TCP_PACKET_PAYLOAD_MOST 1460

/* Takes a packet of the direction, no copy. True when numbers were left out before it. rtt: of the path so far. */
bool tcp_unseen_take_any(struct tcp_numbers *n, const struct segment *s, int64_t now_us, const struct tcp_median *rtt,
			 struct tcp_unseen *out);

/* Most are one apart. (Segments that belong to no socket, as some resets, have numbers of their own.) */
static inline bool tcp_unseen_is_next(const struct tcp_numbers *n, const struct segment *s)
{
	return (uint16_t)(s->ip_id - n->id) == 1 && n->known && s->has_ip_id && (s->flags & (TCP_SYN | TCP_RST)) == 0;
}

static inline bool tcp_unseen_take(struct tcp_numbers *n, const struct segment *s, int64_t now_us,
				   const struct tcp_median *rtt, struct tcp_unseen *out)
{
	if (!tcp_unseen_is_next(n, s))
		return tcp_unseen_take_any(n, s, now_us, rtt, out);
	n->us = now_us;
	n->id = s->ip_id;
	n->is_large = s->payload_bytes > TCP_PACKET_PAYLOAD_MOST;
	n->steps = (uint8_t)(n->steps + (n->steps < TCP_STEPS_LEAST));
	return false;
}

#endif
