/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_ZONE_H
#define AFTERSHOCK_ANALYSIS_CLOCK_ZONE_H

/* In which zones logs were written that do not say it (method.md 2). For clock.c alone. */

#include "analysis/clock_links.h"

/* The zones' part of a difference between two clocks: the multiple of 15 min that it is within 2 min of, else 0. */
int64_t clock_zone_part_us(int64_t us);

/*
 * Per input how far east of the zone in which it was read it was written, in
 * us; 0 as a rule. is_fixed: the user vouches for the input's times.
 * reference: the host whose inputs are believed where nothing else tells.
 */
int64_t *clock_zones_find(const struct event_links *links, const struct input_info *inputs, size_t n,
			  const bool *is_fixed, struct sv reference, struct arena *a);

#endif
