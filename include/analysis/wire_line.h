/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_WIRE_LINE_H
#define AFTERSHOCK_ANALYSIS_WIRE_LINE_H

/*
 * What captures saw members do stands in for logs that are missing: joins and
 * syncs that were granted, leaves, and answers that say that a member is none
 * any more. Of groups whose coordinator's log is there only the last is taken,
 * and nothing of clients whose own log is.
 */

#include "analysis/group.h"

/* told: what logs say. The lines are the store's. 0 or -1. */
int wire_lines_load(struct store *s, const struct groups *g, const struct event *const *told, size_t told_count,
		    struct arena *a, const struct event ***lines, size_t *count);

/*
 * Joins that were asked for without a member id, by a client that was no member, and granted, whatever logs say: what a
 * coordinator before 2.2 makes a rebalance of. They are the store's. 0 or -1.
 */
int wire_asks_load(struct store *s, struct arena *a, const struct event ***asks, size_t *count);

#endif
