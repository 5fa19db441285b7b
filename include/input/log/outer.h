/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_OUTER_H
#define AFTERSHOCK_INPUT_LOG_OUTER_H

/*
 * The times of wrappers beside the records' own. A record's own time counts:
 * what its wrapper says is when it was written, shipped or taken in. Where the
 * two are far apart whoever reads the report has to know it: the shipping was
 * late, or the records were written in another zone than is assumed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/tstamp.h"

/* Closer ones are the way of every line to its collector. */
#define OUTER_APART_US (5 * US_PER_S)

struct outer_times {
	uint64_t records;	/* that have both */
	int64_t least_us, most_us;	/* the wrapper's time minus the record's own */
	bool any_zoned;		/* some own time was written with its zone */
	struct place at;	/* of the one that is farthest apart */
};

void outer_times_add(struct outer_times *o, struct host_time outer, struct host_time own, bool zoned, const struct place *place);
/* At the end of the input: says so when some were far apart. */
void outer_times_note(const struct outer_times *o, struct diag *d);

#endif
