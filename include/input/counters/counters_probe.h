/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_COUNTERS_PROBE_H
#define AFTERSHOCK_INPUT_COUNTERS_PROBE_H

/* What "aftershock probe" writes before its samples: "# aftershock probe 0.1.0 host=consumer-1 interval_ms=1000 ...". */

#include <stdbool.h>

#include "base/sv.h"

/* Whether a line, or the head of a file, begins so. */
bool counters_probe_begins(struct sv text);
/* The host that such a line names; absent when it is another line, or names none. */
struct sv counters_probe_host(struct sv line);

#endif
