/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_CLOCK_PIECE_H
#define AFTERSHOCK_ANALYSIS_CLOCK_PIECE_H

/* One host's clock, in pieces between the times at which it was set. Times of hostile inputs may not overflow. */

#include "analysis/clock.h"

int64_t clock_sub(int64_t x, int64_t y);
int64_t clock_add(int64_t x, int64_t y);

/* The piece that the clock was in when it showed t: the last that had begun. c has pieces. */
size_t clock_piece_index(const struct host_clock *c, struct host_time t);
int64_t clock_offset_at(const struct clock_piece *p, struct host_time t);
struct ref_time clock_convert(const struct host_clock *c, struct host_time t);
/* 0 when it is not known. */
int64_t clock_uncertainty_of(const struct host_clock *c, struct host_time t, bool *known);

#endif
