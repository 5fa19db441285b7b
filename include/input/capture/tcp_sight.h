/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_SIGHT_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_SIGHT_H

/*
 * Packets that can be found again in the capture of another host: what the one
 * sent the other received later, which links their clocks (method.md 2).
 *
 * A few neighbours say more than many strangers: which host is the nearer to
 * the sender shows where packets of both directions passed shortly one after
 * the other. So passages of conversations are picked, a few hundred bytes of
 * both sides each. Each capture picks by the numbers that both show, so that
 * both pick the same, and fewer of a hundred the more it has picked of the two
 * hosts: what is picked from late on was picked early on as well.
 */

#include "input/capture/cache_line.h"
#include "input/capture/tcp_report.h"

/* What both sides have sent up to a packet, in units of so many bits: a request of Kafka's and its answer, or two. */
#define TCP_PASSAGE_BITS 8
/* Larger ones are cut on their way, or put together on arrival (TSO, GRO): never the same at both ends. */
#define TCP_SIGHT_PAYLOAD_MOST 1200

static inline uint64_t tcp_sight_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/*
 * Of the conversation. What one has sent and what it has received of the other add up to
 * the same from either side, but for the packet itself.
 */
static inline uint64_t tcp_sight_passage(const struct tcp_conn *c, const struct segment *s)
{
	uint64_t ports = (uint64_t)c->port[TCP_A] << 16 | c->port[TCP_B];
	uint64_t h = tcp_sight_mix(ports, (s->sequence + s->acknowledgment) >> TCP_PASSAGE_BITS);

	return h ^ h >> 32;
}

/* It may be one of those. */
void tcp_sight_pick(struct tcp_sights *all, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
		    const struct segment *s);

/* Reports the segment when it is one of those; side sent it. all: of the capture, that its pairs do not pick too many together. */
static inline void tcp_sight_see(struct tcp_sights *all, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
				 const struct segment *s)
{
	const struct tcp_sights *of_pair = &c->pair->sights;
	uint64_t passage;

	if (s->payload_bytes == 0 || s->payload_bytes > TCP_SIGHT_PAYLOAD_MOST)
		return;
	passage = tcp_sight_passage(c, s);
	if (SELDOM((passage & (of_pair->mask | all->mask)) == 0 || passage == of_pair->passage))
		tcp_sight_pick(all, r, c, side, s);
}

#endif
