/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_unseen.h. */

#include "input/capture/tcp_unseen.h"

/* More are another counter, or a capture that lost packets. */
#define PACKETS_MOST 64
/* Shorter silences are everyday recovery, and of no use to a detector. */
#define SILENCE_LEAST_US (500 * US_PER_MS)

/*
 * How long that many transmissions of one segment take at most: the first, a
 * tail loss probe, then timeouts that double (Linux: TCP_RTO_MIN and a round
 * trip). Several segments lost together take less.
 */
static int64_t most_us(uint32_t packets, int64_t rtt_us)
{
	int64_t rto_us = 210 * US_PER_MS + rtt_us;

	return packets > 20 ? INT64_MAX : rto_us * ((INT64_C(1) << (packets > 1 ? packets - 1 : packets)) - 1) + rtt_us;
}

bool tcp_unseen_take_any(struct tcp_numbers *n, const struct segment *s, int64_t now_us, const struct tcp_median *rtt,
			 struct tcp_unseen *out)
{
	const uint16_t step = (uint16_t)(s->ip_id - n->id);
	const int64_t before_us = n->us;
	const bool was_known = n->known, was_large = n->is_large;
	int64_t most;

	/* Segments that belong to no socket, as some resets, have numbers of their own. */
	if (!s->has_ip_id || (s->flags & (TCP_SYN | TCP_RST)) != 0)
		return false;
	n->us = now_us;
	n->id = s->ip_id;
	n->known = true;
	n->is_large = s->payload_bytes > TCP_PACKET_PAYLOAD_MOST;
	if (step == 1 && was_known) {
		n->steps = (uint8_t)(n->steps + (n->steps < TCP_STEPS_LEAST));
		return false;
	}
	if (!was_known || step == 0 || step > PACKETS_MOST) {
		n->steps = 0;
		return false;
	}
	if (was_large || n->steps < TCP_STEPS_LEAST || now_us - before_us < SILENCE_LEAST_US)
		return false;
	*out = (struct tcp_unseen){ .start_us = before_us, .end_us = now_us, .packets = step - 1U };
	most = most_us(out->packets, tcp_median_us(rtt));
	if (now_us - before_us > most)
		out->start_us = now_us - most;
	return now_us - out->start_us >= SILENCE_LEAST_US;
}
