/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_REBALANCE_INDEX_H
#define AFTERSHOCK_ANALYSIS_REBALANCE_INDEX_H

/*
 * Which rebalance a moment, a generation or two effects belong to: asked for
 * each line and each effect, of thousands of rebalances.
 */

#include "analysis/rebalance.h"

/* When all are found: their group, generation, span and whether they empty the group are final. */
void rebalances_index(struct rebalances *r, struct arena *a);

/* The latest that had begun by then, of the group or, when it is absent, of any; 0 when none. */
unsigned rebalance_begun(const struct rebalances *r, struct sv group, struct ref_time t);
/*
 * That of the generation, which has members; 0 when none. A group that was made
 * anew counts its generations from 1 again: the nearest in time.
 */
unsigned rebalance_of_generation(const struct rebalances *r, struct sv group, int64_t generation, struct ref_time t);

/* Those that had ended by then stand first in r->index->by_end: so many. */
size_t rebalances_ended(const struct rebalances *r, struct ref_time t);

#endif
