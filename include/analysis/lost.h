/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_LOST_H
#define AFTERSHOCK_ANALYSIS_LOST_H

/*
 * Steps owed and never done within the evidence (method.md 7): another step of
 * the operation took effect, this one did not, and at least half of the
 * operations on that topic have it. Operations of the last seconds are left
 * out: they may have been in progress when the evidence ended.
 */

#include "analysis/attempt.h"

struct owed_step {
	struct sv business_key, step;
};

struct owed_steps {
	struct owed_step *items;	/* by business key, then step */
	size_t count;
	size_t capacity;
};

/* order: all attempts of which the operation is known, in the order of attempt_cmp_intent. */
void lost_find(const struct attempt *const *order, size_t count, struct arena *a, struct owed_steps *out);

#endif
