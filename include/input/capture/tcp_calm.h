/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_CALM_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_CALM_H

/*
 * Seconds of one direction of which there is nothing to say but that they were
 * like one another: told together, at most TCP_CALM_SECONDS of them. No second
 * is calm in which any connection of its pair sent a segment again, so that the
 * parts of the path's loss are told to the second; nor one whose round trips
 * may be a delay (method.md 3), so that a delay's edges are.
 */

#include "input/capture/tcp_flow.h"

struct tcp_pair;

/* A connection of the pair sent a segment again in this second. Seconds do not go back but across a hole. */
void tcp_calm_resent(struct tcp_pair *p, int64_t second);

/* Whether the flow's second at hand, which is over, is calm. */
bool tcp_calm_is(const struct tcp_flow *f);
/* Whether it may be told with those before it; and that it will be. */
bool tcp_calm_joins(const struct tcp_flow *f);
void tcp_calm_add(struct tcp_flow *f);
/* The median of their medians; 0 when no round trip was measured. */
int64_t tcp_calm_median_us(const struct tcp_calm *c);

#endif
