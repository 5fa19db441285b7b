/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_KEY_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_KEY_H

/* By what a segment is found: its connection, and copies of itself. */

#include "input/capture/tcp.h"

/* Of the ends of a segment, without its domain; the same for both directions. */
static inline uint64_t tcp_hash(const struct segment *s)
{
	uint64_t w[4], a, b;

	__builtin_memcpy(w, s->source, 16);
	__builtin_memcpy(w + 2, s->destination, 16);
	a = (w[0] ^ w[1] * UINT64_C(0xbf58476d1ce4e5b9) ^ (uint64_t)s->source_port << 40) * UINT64_C(0x9e3779b97f4a7c15);
	b = (w[2] ^ w[3] * UINT64_C(0xbf58476d1ce4e5b9) ^ (uint64_t)s->destination_port << 40) * UINT64_C(0x9e3779b97f4a7c15);
	a = ((a ^ a >> 32) + (b ^ b >> 32)) * UINT64_C(0x94d049bb133111eb);
	return a ^ a >> 31;
}

/*
 * What copies of one frame have in common. Neither the time to live nor the
 * domain: a router's capture of both its sides shows one packet twice. hash:
 * that of the segment's ends (tcp_hash).
 */
static inline uint64_t tcp_copies_digest(const struct segment *s, uint64_t hash)
{
	uint64_t ports = (uint64_t)s->source_port << 48 | (uint64_t)s->destination_port << 32, h = hash;

	h ^= ((uint64_t)s->sequence << 32 | s->acknowledgment) * UINT64_C(0xbf58476d1ce4e5b9);
	h += (ports | (uint64_t)s->flags << 16 | s->window) * UINT64_C(0x94d049bb133111eb);
	h ^= ((uint64_t)s->payload_bytes << 32 | s->payload_digest) * UINT64_C(0xd6e8feb86659fd93);
	h += ((uint64_t)s->ip_version << 32 | (s->has_ip_id ? s->ip_id : 0U)) * UINT64_C(0xff51afd7ed558ccd);
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static inline struct tcp_key tcp_key_of(const struct segment *s)
{
	uint64_t hash = tcp_hash(s);

	return (struct tcp_key){ hash, tcp_copies_digest(s, hash) };
}

#endif
