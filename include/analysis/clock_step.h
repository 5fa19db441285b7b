/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_STEP_H
#define AFTERSHOCK_ANALYSIS_CLOCK_STEP_H

/* When a clock was set, closer than links can tell. For clock.c alone. */

#include "analysis/clock.h"

/* Narrows set_after, set_before and since of the host's pieces where samples show the step. 0 or -1. */
int clock_steps_locate(struct store *s, const struct clocks *c, struct sv host, struct clock_piece *pieces, size_t n);

#endif
