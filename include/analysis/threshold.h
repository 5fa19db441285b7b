/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_THRESHOLD_H
#define AFTERSHOCK_ANALYSIS_THRESHOLD_H

/*
 * The thresholds of the detectors (method.md 3): what each is, and the values
 * that hold in one analysis. Rows of threshold.def.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

enum threshold_id {
#define THRESHOLD(id, name, value, unit, least, most, reason) THRESHOLD_##id,
#include "analysis/threshold.def"
#undef THRESHOLD
	THRESHOLD_COUNT
};

struct threshold {
	const char *name;	/* "blackout.least_ms" */
	int64_t value;		/* unless the user chooses another */
	const char *unit;
	int64_t least, most;	/* that can be chosen */
	const char *reason;	/* with the section of method.md */
};
extern const struct threshold threshold_infos[THRESHOLD_COUNT];

/* The values of one analysis. */
struct thresholds {
	int64_t value[THRESHOLD_COUNT];
};

struct thresholds thresholds_default(void);
/* False when there is none of that name. */
bool threshold_by_name(struct sv name, enum threshold_id *out);
/* False, and nothing is changed, when it is out of range. */
bool threshold_set(struct thresholds *t, enum threshold_id id, int64_t value);
bool threshold_is_changed(const struct thresholds *t, enum threshold_id id);

#endif
