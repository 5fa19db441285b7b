/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_CONN_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_CONN_H

/* A connection, as the parts of tcp share it. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "input/capture/cache_line.h"
#include "input/capture/tcp_flow.h"
#include "input/capture/tcp_pair.h"
#include "input/capture/tcp_unseen.h"

/* The opening of a connection, while it was seen. */
struct tcp_opening {
	bool seen;		/* a SYN of side a */
	bool answered;		/* by SYN and ACK, by RST, or given up for lack of interest */
	uint32_t isn;		/* sequence number of the SYN */
	uint32_t syns;
	struct tcp_mark first;
	int64_t last_us, last_wait_us;	/* latest SYN, and after how long it came */
	uint32_t answers;	/* SYN and ACK of side b */
	int64_t answer_us;	/* latest of them */
	bool acknowledged;	/* by side a */
};

/* Whether somebody may be expected to act on a connection. */
enum tcp_presence { TCP_NOT_YET, TCP_OPEN, TCP_LEFT };

struct kafka_conn;

/* What every segment touches stands first, as in struct tcp_flow. */
struct tcp_conn {
	struct tcp_address address[2];	/* of side a and b */
	uint16_t port[2];
	union {
		struct {
			bool in_table;	/* else it is one for use again */
			bool closed;	/* reset */
			uint8_t presence;	/* enum tcp_presence */
			bool spoke[2];	/* a packet of the side was seen */
			bool is_opening;	/* side b answered a SYN, which side a has not acknowledged yet */
		};
		uint8_t state[8];	/* all of them (tcp_conn_is_usual) */
	};
	bool is_foreign;	/* it speaks no Kafka */
	uint64_t domain;	/* of VLANs and tunnels */
	struct tcp_pair *pair;
	struct kafka_conn *kafka;	/* what it says in Kafka's protocol; NULL: nothing yet, or foreign */
	int64_t last_us;
	uint64_t segments;
	struct tcp_numbers numbers[2];	/* of the packets of side a, of side b */
	uint32_t number;	/* tcp_activity.h */
	struct tcp_flow flow[2];	/* what side a sends, what side b sends */
	/* Seldom. */
	uint64_t retransmits;
	uint64_t hash;		/* of address, port and domain (tcp_table.h) */
	struct tcp_opening opening;
	struct tcp_mark first;
	uint64_t copies;
	struct tcp_conn *next;	/* in the free list */
};

/* Open on both sides: nearly always. */
static inline bool tcp_conn_is_usual(const struct tcp_conn *c)
{
	static const uint8_t usual[sizeof c->state] = { true, false, TCP_OPEN, true, true, false };

	return USUALLY(__builtin_memcmp(c->state, usual, sizeof usual) == 0);
}

/* From memory, for a segment of it that comes in a moment (tcp_expect). */
static inline void tcp_conn_fetch(const struct tcp_conn *c)
{
	__builtin_prefetch(c);
	__builtin_prefetch(&c->kafka);
}

static inline bool tcp_conn_is_end(const struct tcp_conn *c, unsigned side, const uint8_t address[16], uint16_t port)
{
	return c->port[side] == port && memcmp(c->address[side].bytes, address, 16) == 0;
}

/* Whether the segment is from that side to the other, in whatever domain. */
static inline bool tcp_conn_is_from(const struct tcp_conn *c, unsigned side, const struct segment *s)
{
	return tcp_conn_is_end(c, side, s->source, s->source_port) &&
	       tcp_conn_is_end(c, !side, s->destination, s->destination_port);
}

static inline bool tcp_conn_is_of(const struct tcp_conn *c, const struct segment *s, unsigned *side)
{
	if (c->address[TCP_A].version != s->ip_version)
		return false;
	/* Which way a packet goes is a toss of a coin: so it is not asked by a branch. */
	*side = c->port[TCP_A] != s->source_port;
	if (USUALLY(tcp_conn_is_from(c, *side, s)))
		return true;
	*side = !*side;
	return tcp_conn_is_from(c, *side, s);
}

static inline void tcp_conn_enter(struct tcp_conn *c)
{
	if (c->presence != TCP_OPEN)
		c->pair->open++;
	c->presence = TCP_OPEN;
}

static inline void tcp_conn_leave(struct tcp_conn *c)
{
	if (c->presence == TCP_OPEN && --c->pair->open == 0)
		tcp_pair_restart(c->pair);
	c->presence = TCP_LEFT;
}

#endif
