/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOOP_ROUND_H
#define AFTERSHOCK_INPUT_LOOP_ROUND_H

/* A loop while it is read: counters_loop.c takes its lines, counters_loop_round.c what stands below one clock line. */

#include "input/counters/loop.h"
#include "input/log/dating.h"

/* As many as the table of formats has room for. */
#define LOOP_FORMATS_MAX 32

struct loop {
	struct counters *of;
	struct ingest *in;
	const struct loop_format *formats; /* loop_formats[] */
	size_t format_count;
	struct arena *names; /* of sections: until the next */
	struct dating dating;
	bool has_clock;
	struct host_time clock;
	bool has_previous; /* of the clock line before */
	struct host_time previous;
	bool has_dropped; /* of the capture beside a probe's samples, in all since it was started */
	uint64_t dropped;
	bool is_dropped_told; /* below this clock line */
	uint64_t dropped_sum; /* over all starts */
	size_t last_taker; /* of the last row */
	bool is_torn; /* the input ends in this round, in the middle of a line */
	bool undated; /* a clock line without what dates it was met */
	/* A row of /proc/uptime, which dates a round where another line has told what it counts from. */
	bool has_uptime, is_by_uptime; /* in this round; which it dates */
	int64_t uptime_us;
	bool counts_from_start; /* and nothing told it */
	struct loop_block blocks[LOOP_FORMATS_MAX];
	bool were_in_rows[LOOP_FORMATS_MAX]; /* before the line at hand, which is none of theirs as a whole */
	struct loop_block probes[LOOP_FORMATS_MAX]; /* to find out whether a line with a time before it holds a row */
};

/* At the next clock line, and at the end of the input: the round's blocks become samples. 0, -1 when the sink failed. */
int loop_close_round(struct loop *l, bool at_end);

#endif
