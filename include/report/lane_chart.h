/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_LANE_CHART_H
#define AFTERSHOCK_REPORT_LANE_CHART_H

/* The timeline in characters, for text and Markdown, and the places of its time marks. */

#include "report/out.h"

/* One line a lane, "width" characters of time, an axis below. */
void lane_chart(struct buf *b, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n, size_t width);

/* A round step (1, 2, 5, 10, 15, 30 s, min, h ...) that divides the interval into at most "most" parts. */
int64_t lane_chart_step_us(int64_t length_us, int most);

/* HH:MM:SS in UTC. */
void lane_chart_clock(struct buf *b, int64_t us);

#endif
