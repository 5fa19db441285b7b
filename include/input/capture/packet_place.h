/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_PACKET_PLACE_H
#define AFTERSHOCK_INPUT_CAPTURE_PACKET_PLACE_H

/*
 * Which packet of a capture, without what all places in a capture have in
 * common: every segment under way keeps one, every request, and what is said
 * of them must fit into few lines of the cache.
 */

#include "base/diag.h"

struct packet_place {
	uint64_t number;	/* of the packet, from 1; 0: none */
	uint64_t byte_offset;	/* of its record in the unpacked file */
};

/* As others know it. */
static inline struct place packet_place(const struct packet_place *p)
{
	return (struct place){ .unit = p->number != 0 ? PLACE_PACKET : PLACE_WHOLE, .number = p->number,
			       .byte_offset = p->byte_offset };
}

#endif
