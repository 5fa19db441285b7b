/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_REDELIVERY_WIRE_H
#define AFTERSHOCK_ANALYSIS_REDELIVERY_WIRE_H

/* Redeliveries that captures alone show. For redelivery.c. */

#include "analysis/redelivery.h"

/*
 * A member wanted to commit an offset and was refused: it had processed what
 * stands before it. Another was told a lower committed offset, and was delivered
 * records from there on. Of partitions of which effects or logs tell nothing.
 * Appends to out, ids going on. 0 or -1.
 */
int redeliveries_from_wire(struct store *s, const struct clocks *c, const struct rebalances *r, const struct attempts *t,
			   struct arena *a, struct redeliveries *out);

#endif
