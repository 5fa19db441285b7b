/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_TOLD_H
#define AFTERSHOCK_ANALYSIS_CLOCK_TOLD_H

/* Steps of a clock that the host's own daemon logs. For clock_solve.c alone. */

#include "analysis/clock.h"

/*
 * Of a step that links show, a line that fits it says when. A step that no link
 * could show, since all are on one side of it or there are none, is taken from a line
 * that says by how much: what was written on its other side is moved by it. Nothing
 * is taken from a line that links contradict (h->told_refuted). Leaves alone the
 * reference, and a clock that the user has told of. Changes h; pieces are the
 * arena's. 0 or -1.
 */
int clock_told_take(struct store *s, const struct clocks *c, struct arena *a, struct host_clock *h);

#endif
