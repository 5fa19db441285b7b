/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_PAIR_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_PAIR_H

/*
 * A calling host and a service that it calls (address and port): all
 * connections between the two. Here lives what no single connection can tell:
 * the usual round trip and rhythm, whether a side is quiet on every
 * connection, and on which the peer is heard again first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/capture/cache_line.h"
#include "input/capture/tcp_flow.h"
#include "input/capture/tcp_median.h"

enum { TCP_A, TCP_B };	/* side a called, side b was called */

struct tcp_address {
	uint8_t version;	/* 4 or 6 */
	uint8_t bytes[16];	/* IPv4 in the first four, the others 0 */
};

#define TCP_WAKES_KEPT 4
/* The rhythm of a side is known after so many payloads, if they came in bursts alone. */
#define TCP_PAYLOADS_LEAST 256

/* One host of the pair. What every packet touches stands first. */
struct tcp_side {
	_Alignas(CACHE_LINE) int64_t heard_us;	/* its latest packet; 0: none yet */
	int64_t asked_us;	/* first new payload of the peer since last_act: 0 when there was none */
	struct tcp_flow *unacked;	/* newest first; those without a sign of the peer's host come first */
	struct tcp_flow *given_up;	/* stalled flows whose side turned elsewhere, the peer not heard since */
	struct tcp_mark last_act;	/* its process did something: sent new payload, opened or closed */
	uint32_t kernel_packets;	/* packets since last_act that needed no process */
	bool acted;		/* last_act is known */
	uint16_t payloads;	/* segments with new payload so far, up to TCP_PAYLOADS_LEAST */
	/* What every acknowledgment touches. */
	_Alignas(CACHE_LINE) int64_t accepted_us;	/* when data of it was last acknowledged */
	int64_t trouble_us;	/* when data of it was last known to have stood unacknowledged for long */
	struct tcp_median rtt;	/* of its data */
	unsigned wakes;
	int64_t woke_us[TCP_WAKES_KEPT];	/* when it was heard again after it had been silent for a while */
	_Alignas(CACHE_LINE) struct tcp_median gaps;	/* between its payloads, bursts taken as one */
};

/* Packets picked to be found again (tcp_sight.h), in passages of a conversation. */
struct tcp_sights {
	uint64_t mask;		/* of a passage's hash: all these bits must be 0 */
	unsigned count;		/* passages picked with this mask */
	uint64_t passage;	/* the latest that was picked */
	unsigned packets;	/* of it */
};

#define TCP_RESENTS_KEPT 4

struct tcp_pair {
	struct tcp_side side[2];
	struct tcp_sights sights;
	int64_t syn_us;		/* latest SYN without an answer */
	unsigned open;		/* connections established, and not left by either side */
	unsigned connecting;	/* connections with an unanswered SYN */
	unsigned connections;	/* in the table */
	bool certain;		/* a SYN told who called */
	uint16_t callee_port;
	uint16_t caller_port;	/* of the most recent connection */
	struct tcp_address caller, callee;
	uint64_t domain;	/* of VLANs and tunnels */
	int64_t resent_second[TCP_RESENTS_KEPT];	/* the latest in which segments were sent again, in turn */
	unsigned resents;	/* such seconds so far */
	/*
	 * Which of several VLANs or tunnels it is in that have hosts of these addresses; 0: none other is known. One that is
	 * heard in one direction alone is no other: tunnels may differ by direction.
	 */
	uint8_t zone;
	struct tcp_pair *next;	/* of the same hash, or in the free list */
};

/* From memory, for a segment of that side that comes in a moment. */
static inline void tcp_pair_fetch(const struct tcp_pair *p, unsigned side)
{
	__builtin_prefetch(&p->side[side]);
	__builtin_prefetch(&p->side[!side]);
	__builtin_prefetch(&p->side[!side].accepted_us);
	__builtin_prefetch(&p->side[side].gaps);
	__builtin_prefetch(&p->sights);
}

struct tcp_pairs;

/* Lives as long as the arena. */
struct tcp_pairs *tcp_pairs_new(struct arena *a);
/* NULL when there is none. */
struct tcp_pair *tcp_pairs_find(struct tcp_pairs *p, uint64_t domain, const struct tcp_address *caller,
				const struct tcp_address *callee, uint16_t callee_port);
/* Finds or makes it; each call is undone by tcp_pairs_release, the last of which frees it. */
struct tcp_pair *tcp_pairs_hold(struct tcp_pairs *p, uint64_t domain, const struct tcp_address *caller,
				const struct tcp_address *callee, uint16_t callee_port);
void tcp_pairs_release(struct tcp_pairs *p, struct tcp_pair *pair);
/* Calls visit for each, in an order that depends on the addresses alone. */
void tcp_pairs_each(struct tcp_pairs *p, void (*visit)(void *context, struct tcp_pair *pair), void *context);

/* A side that sent no payload on any connection (event.def, net.quiet). */
struct tcp_quiet {
	struct tcp_mark mark;	/* its last act */
	unsigned side;
	int64_t start_us, end_us;
	uint64_t kernel_packets;
	bool pending;
	bool has_spoken;	/* the other side has sent payload, */
	int64_t spoken_us;	/* last at this time */
};

/*
 * Data that stands so long is in trouble, and a host not heard for so long has
 * been silent: beyond any delayed acknowledgment (RFC 9293 3.8.6.3).
 */
#define TCP_TROUBLE_US (500 * US_PER_MS)
/* It was silent for a while, and is heard. */
void tcp_pair_wake(struct tcp_side *s, int64_t now_us);
/* A packet of a side was recorded. */
static inline void tcp_pair_hear(struct tcp_pair *p, unsigned side, int64_t now_us)
{
	struct tcp_side *s = &p->side[side];

	if (SELDOM(s->heard_us != 0 && now_us - s->heard_us > TCP_TROUBLE_US))
		tcp_pair_wake(s, now_us);
	s->heard_us = now_us;
}

/* When a side was first heard again after a silence that lasted beyond since_us; now_us if there was none of late. */
int64_t tcp_pair_woke_us(const struct tcp_pair *p, unsigned side, int64_t since_us, int64_t now_us);

/* Whether a side is quiet, at the end of the evidence or when it ends its silence. */
bool tcp_pair_quiet(const struct tcp_pair *p, unsigned side, int64_t now_us, struct tcp_quiet *out);
/* A shorter silence, or one of fewer usual gaps, is rhythm. The detectors apply their own, stricter rules. */
#define TCP_QUIET_LEAST_US (1 * US_PER_S)
/* Payloads closer than this belong to one burst and say nothing about a side's rhythm. */
#define TCP_BURST_US (10 * US_PER_MS)

/* Whether it may be: the silence began with the last act, or later. */
static inline bool tcp_pair_may_be_quiet(const struct tcp_pair *p, unsigned side, int64_t now_us)
{
	return SELDOM(p->side[side].acted && now_us - p->side[side].last_act.us > TCP_QUIET_LEAST_US);
}

/* The process of a side acts at mark. It was asked before whether it had been quiet until then. */
static inline void tcp_pair_act(struct tcp_pair *p, unsigned side, const struct tcp_mark *mark, bool is_payload)
{
	struct tcp_side *s = &p->side[side];

	if (is_payload && s->acted && mark->us - s->last_act.us >= TCP_BURST_US)
		tcp_median_add(&s->gaps, mark->us - s->last_act.us);
	s->acted = true;
	s->last_act = *mark;
	s->kernel_packets = 0;
	s->asked_us = 0;
	s->payloads = (uint16_t)(s->payloads + (is_payload && s->payloads < TCP_PAYLOADS_LEAST));
	if (is_payload && p->side[!side].asked_us == 0)
		p->side[!side].asked_us = mark->us;
}

/* A side sent a packet that its kernel sends by itself. */
static inline void tcp_pair_kernel_packet(struct tcp_pair *p, unsigned side)
{
	p->side[side].kernel_packets++;
}

/* No silence is measured from before now on: nothing is open, or the capture has a hole. */
void tcp_pair_restart(struct tcp_pair *p);

#endif
