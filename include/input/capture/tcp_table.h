/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_TABLE_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_TABLE_H

/*
 * Which connection a segment is of: open addressing, with part of the hash
 * beside each place, so that a connection is touched when it is the one and
 * hardly ever else.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/capture/tcp_conn.h"
#include "input/capture/tcp_key.h"

struct tcp_table {
	struct arena *arena;
	uint32_t *tag;		/* 0: nothing there */
	struct tcp_conn **conn;
	size_t mask;		/* places, less one */
	size_t count;
};

void tcp_table_init(struct tcp_table *t, struct arena *a);
/* NULL when there is none; hash: tcp_hash(s); *side is the sender's. */
struct tcp_conn *tcp_table_find(const struct tcp_table *t, const struct segment *s, uint64_t hash, unsigned *side);
/* The same, of the same ends in whatever other domain; the one that comes first. */
struct tcp_conn *tcp_table_find_elsewhere(const struct tcp_table *t, const struct segment *s, uint64_t hash,
					  unsigned *side);
/* The one that most likely tcp_table_find will give, without a look at it; NULL: there is none. */
struct tcp_conn *tcp_table_guess(const struct tcp_table *t, uint64_t hash);
/* Whether tcp_table_find would give c. It may have left the table, or be another one by now. */
static inline bool tcp_table_is(const struct tcp_conn *c, const struct segment *s, unsigned *side)
{
	return c->in_table && c->domain == s->domain && tcp_conn_is_of(c, s, side);
}

/* c->hash is set: tcp_hash of a segment of it. */
void tcp_table_add(struct tcp_table *t, struct tcp_conn *c);
void tcp_table_remove(struct tcp_table *t, const struct tcp_conn *c);

#endif
