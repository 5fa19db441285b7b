/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_OPTIONS_H
#define AFTERSHOCK_ANALYSIS_OPTIONS_H

/*
 * What a user can choose about the analysis. Thresholds of the detectors are
 * rows of a table of their own (threshold.h).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/threshold.h"
#include "base/sv.h"
#include "base/tstamp.h"

/* --offset HOST=SECONDS: this host's clock is ahead of the reference by so much. */
struct host_offset {
	struct sv host;
	int64_t offset_us;
};

struct analysis_options {
	struct sv group;		/* only this group; absent: all */
	bool has_from, has_to;		/* --from, --to: rebalances outside are not counted */
	struct ref_time from, to;
	int threshold_percent;		/* the runbook's line, 80 */
	struct thresholds thresholds;	/* of the detectors */
	const struct host_offset *offsets;
	size_t offset_count;
	unsigned shifts;		/* circular shifts, 10000 */
	uint64_t seed;			/* of the shifts */
	/* tune: candidates to replay in ms; none: a ladder of its own */
	const int64_t *session_timeouts_ms;
	size_t session_timeout_count;
	/* for the dedupe TTL (method.md 9); not known unless given */
	bool has_reconciliation, has_confirmation;
	int64_t reconciliation_us, confirmation_us;
	int ttl_margin_percent;		/* 20 */
};

struct analysis_options analysis_options_default(void);

#endif
