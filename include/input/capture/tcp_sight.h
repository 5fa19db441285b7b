/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_SIGHT_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_SIGHT_H

/*
 * Packets that can be found again in the capture of another host: what the one
 * sent the other received later, which links their clocks (method.md 2).
 *
 * Each capture picks by the packet's own digest, so that both pick the same,
 * and fewer of a hundred the more it has picked: what is picked from late on
 * was picked early on as well.
 */

#include "input/capture/tcp_report.h"

struct tcp_sight {
	uint64_t mask;		/* of the digest, all of whose bits must be 0 */
	unsigned count;		/* picked with this mask */
};

/* Reports the segment when it is one of those; side sent it. */
void tcp_sight_see(struct tcp_sight *t, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
		   const struct segment *s);

#endif
