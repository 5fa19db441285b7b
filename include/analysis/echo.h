/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_ECHO_H
#define AFTERSHOCK_ANALYSIS_ECHO_H

/* One event that several lines of one client tell of. */

#include "model/event.h"

/*
 * Whether two lines tell of one event: what clients say more than once (a failure
 * as WARN and as ERROR, partitions by the consumer and by the application's
 * listener), on one host, at the same time, of the same client and partitions as
 * far as both say.
 */
bool echo_is(const struct event *x, const struct event *y);

#endif
