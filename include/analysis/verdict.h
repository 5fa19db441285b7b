/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_VERDICT_H
#define AFTERSHOCK_ANALYSIS_VERDICT_H

/* From the figures of a share to its verdict, for share.c. verdict_name and its like are in share.h. */

#include "analysis/share.h"

/* Sets verdict and verdict_reason; all other members of s but contained_note are known. */
void verdict_decide(struct share *s, bool has_coverage, bool are_clocks_known, struct arena *a);

#endif
