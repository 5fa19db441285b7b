/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_FRAGMENT_H
#define AFTERSHOCK_INPUT_CAPTURE_FRAGMENT_H

/* TCP segments that IP cut in pieces (RFC 791 3.2, RFC 8200 4.5): each piece in order is a segment of its own. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/capture/tcp.h"

/* What an IP header says of a piece. */
struct fragment {
	uint32_t id;
	uint32_t offset;	/* of its first byte in the packet's payload */
	bool more;		/* others follow */
};

static inline bool fragment_is_whole(const struct fragment *f)
{
	return f->offset == 0 && !f->more;
}

/* Packets in pieces at once; a newer one takes the place of the oldest. */
#define FRAGMENT_SLOTS 16
/* A TCP header with all its options. */
#define FRAGMENT_HEAD_BYTES 60

struct fragments {
	struct fragment_slot {
		bool used;
		uint32_t id;
		uint32_t next;		/* offset of the piece that comes next */
		bool fin;		/* belongs to the last piece */
		struct segment segment;	/* that comes next, without payload */
		bool gathering;		/* the header is not yet whole: next bytes of it are in head */
		uint8_t head[FRAGMENT_HEAD_BYTES];
	} slot[FRAGMENT_SLOTS];
	unsigned turn;
	uint64_t lost;
};

/*
 * Pieces so small that the TCP header is in several: a piece is added to those
 * before it. The header once it is whole, of *have bytes with what follows it;
 * else NULL. bytes: all of the piece were captured.
 */
const uint8_t *fragments_gather(struct fragments *f, const struct fragment *piece, const uint8_t *bytes, uint32_t n,
				const struct segment *s, uint32_t *have);
/* Whether the header of this packet is being gathered. */
bool fragments_is_gathering(struct fragments *f, const struct fragment *piece, const struct segment *s);
/* The first piece gave *s, of so many bytes with the TCP header. */
void fragments_begin(struct fragments *f, const struct fragment *piece, uint32_t bytes, struct segment *s);
/*
 * A later piece of so many bytes, whose addresses and domain stand in *s.
 * True, and *s made whole but for its payload, when it is the next one.
 */
bool fragments_go_on(struct fragments *f, const struct fragment *piece, uint32_t bytes, struct segment *s);

#endif
