/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_HEARD_H
#define AFTERSHOCK_ANALYSIS_HEARD_H

/*
 * When the coordinator heard an evicted member last, as captures saw it: the
 * request that restarted its session timer (kafka-group-semantics.md 2.1). The
 * eviction comes one session timeout later.
 */

#include "analysis/detect.h"
#include "analysis/rebalance.h"

/*
 * Fills has_last_heard of evictions by session timeout, with the evidence; dates those that no coordinator's log does.
 * 0 or -1.
 */
int heard_find(struct store *s, const struct clocks *c, const struct groups *g, struct arena *a, struct rebalances *all);

/*
 * Measures how long the coordinator heard nothing of a client around each window of its path: from the last request
 * that restarted its session timer to the next (heard_gap_ms). 0 or -1.
 */
int heard_measure(const struct detect_context *ctx);

#endif
