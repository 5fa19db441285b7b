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

#include "input/capture/tcp_report.h"

/* Reports the segment when it is one of those; side sent it. all: of the capture, that its pairs do not pick too many together. */
void tcp_sight_see(struct tcp_sights *all, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
		   const struct segment *s);

#endif
