/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_HANDLING_H
#define AFTERSHOCK_ANALYSIS_HANDLING_H

/*
 * Clients such as KafkaJS send heartbeats between polls. One that has records
 * to handle is silent until it has handled them, and on the wire that is no
 * different from a process that stands still (method.md 4). So such a silence
 * is no window; but an eviction that comes of it is not without a reason.
 */

#include "analysis/rebalance.h"

/*
 * After share_find. To each root eviction in whose exposure no jitter lies and such a silence of its member does: its
 * evidence into stalls, and a sentence into attribution_note. Attribution and shares stay as they are.
 */
void handlings_name(const struct windows *w, struct arena *a, struct rebalances *r);

#endif
