/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_SAR_H
#define AFTERSHOCK_INPUT_SAR_H

/*
 * What the prints of sar and of sadf share: rates over an interval, by the
 * names of sysstat's columns.
 */

#include "input/counters/counters.h"

/* One row: figures of one interface, CPU or host over one interval. */
struct sar_row {
	struct sv host;	  /* as written; absent: not told */
	struct sv device; /* interface, or CPU ("all", "0", "cpu0"); absent: neither */
	struct host_time start, end;
	struct place place;
};

struct sar {
	struct counters *of;
	struct ingest *in;
	bool has_all; /* a row over all CPUs was met: those of single CPUs are parts of it */
};

/* name: of the column, with "/s" or without. 0, -1 when the sink failed. */
int sar_value(struct sar *s, const struct sar_row *row, struct sv name, struct sv value);

#endif
