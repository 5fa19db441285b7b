/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_unseen.h. */

#include "input/capture/tcp_unseen.h"

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

bool tcp_unseen_since(const struct tcp_left_out *left_out, int64_t now_us, const struct tcp_median *rtt,
		      struct tcp_unseen *out)
{
	const int64_t most = most_us(left_out->packets, tcp_median_us(rtt));

	*out = (struct tcp_unseen){ .start_us = left_out->since_us, .end_us = now_us, .packets = left_out->packets };
	if (now_us - left_out->since_us > most)
		out->start_us = now_us - most;
	return now_us - out->start_us >= TCP_UNSEEN_LEAST_US;
}
