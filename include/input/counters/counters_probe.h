/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_COUNTERS_PROBE_H
#define AFTERSHOCK_INPUT_COUNTERS_PROBE_H

/*
 * What "aftershock probe" writes beside its samples: before them "# aftershock probe 0.1.0 host=consumer-1
 * interval_ms=1000 ...", and below the time of one "# the clock was set by +5000000 us since the sample before"
 * and "# capture: 120 packets written, 3 dropped by the kernel, 0 by the interface", of all since its start.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

/* Whether a line, or the head of a file, begins so. */
bool counters_probe_begins(struct sv text);
/* The host that such a line names; absent when it is another line, or names none. */
struct sv counters_probe_host(struct sv line);
/* Whether a line tells that the clock was set, and by how much, forward if positive. */
bool counters_probe_clock_set(struct sv line, int64_t *step_us);
/* Whether a line tells of the capture beside the samples, and how many packets that has dropped in all. */
bool counters_probe_dropped(struct sv line, uint64_t *packets);

#endif
