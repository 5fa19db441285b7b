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

#include "input/capture/cache_line.h"
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

/* Numbers before a packet that nobody has seen. */
struct tcp_left_out {
	uint32_t packets;	/* 0: none, or nothing can be said of them */
	int64_t since_us;	/* of the packet before them */
};

/* Takes a packet of the direction, no copy. */
static inline struct tcp_left_out tcp_unseen_take(struct tcp_numbers *n, const struct segment *s, int64_t now_us)
{
	const uint16_t step = (uint16_t)(s->ip_id - n->id);
	const struct tcp_numbers before = *n;
	struct tcp_left_out none = { .packets = 0 };

	/* Segments that belong to no socket, as some resets, have numbers of their own. */
	if (SELDOM(!s->has_ip_id || (s->flags & (TCP_SYN | TCP_RST)) != 0))
		return none;
	n->us = now_us;
	n->id = s->ip_id;
	n->known = true;
	n->is_large = s->payload_bytes > TCP_PACKET_PAYLOAD_MOST;
	if (step == 1 && before.known) {
		n->steps = (uint8_t)(before.steps + (before.steps < TCP_STEPS_LEAST));
		return none;
	}
	if (!before.known || step == 0 || step > TCP_STEP_MOST) {
		n->steps = 0;
		return none;
	}
	if (before.is_large || before.steps < TCP_STEPS_LEAST || now_us - before.us < TCP_UNSEEN_LEAST_US)
		return none;
	return (struct tcp_left_out){ step - 1U, before.us };
}

/* What was sent in the silence before now; false: nothing of which is to be told. rtt: of the path so far. */
bool tcp_unseen_since(const struct tcp_left_out *left_out, int64_t now_us, const struct tcp_median *rtt,
		      struct tcp_unseen *out);

#endif
