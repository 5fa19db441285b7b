/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_STALL_H
#define AFTERSHOCK_ANALYSIS_STALL_H

/*
 * What a host's own log tells of it not getting on: a processor locked up, a
 * task that hung, a scheduler that came late. That is no window, since none of
 * them says that the consumer stood still; but it is another cause than the network.
 *
 * What it does: it is named beside the jitter. Where jitter met the exposure and
 * does not explain it alone (lagged), and the host stood still for as long as
 * jitter must to count, the attribution becomes ambiguous (method.md 5). Jitter
 * that explains it stands. Shares count neither way: a line that suggests
 * opens no window and clears none.
 */

#include "analysis/rebalance.h"

/*
 * After share_find. To each root rebalance that silence can have caused, the
 * lines of its member's and its coordinator's host in the time before it: into
 * stalls, and a sentence into attribution_note; attribution as above, of what follows from it too. 0 or -1.
 */
int stalls_find(struct store *s, const struct clocks *c, const struct groups *g, struct arena *a, struct rebalances *r);

#endif
