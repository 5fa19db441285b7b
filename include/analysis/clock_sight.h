/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_SIGHT_H
#define AFTERSHOCK_ANALYSIS_CLOCK_SIGHT_H

/* Links from packets that the captures of two hosts both show. For clock.c alone. */

#include "analysis/clock_links.h"

/* Appends to out, whose step_us is set. 0 or -1. */
int clock_sights_find(struct store *s, const struct link_sources *from, struct arena *a, struct event_links *out);

#endif
