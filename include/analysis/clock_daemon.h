/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_DAEMON_H
#define AFTERSHOCK_ANALYSIS_CLOCK_DAEMON_H

/* How far off true time daemons say that their hosts' clocks were. For clock_solve.c alone. */

#include "analysis/clock.h"

/*
 * Finds what daemons tell, into c->daemons. Where those of a host and of the
 * reference both say how far they may be wrong they bound the one clock against
 * the other: a clock that no link bounds is taken by it (CLOCK_DAEMONS), one that
 * links or the user tell otherwise of is left as it is, and the daemon is said to differ.
 * 0 or -1.
 */
int clock_daemons_take(struct store *s, struct arena *a, struct clocks *c);

#endif
