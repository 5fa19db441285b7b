/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SEEN_H
#define AFTERSHOCK_INPUT_LOG_SEEN_H

/*
 * The ids of entries that a collector shipped (eventId, insertId, _id,
 * __CURSOR): an entry that it ships twice has the same one. Those who look for
 * it remember the latest (base/latest.h), which are far more than a collector
 * holds back to ship again.
 */

#include <stdint.h>

#include "base/sv.h"

/* The digest of an id that a wrapper gives, never 0. */
uint64_t seen_digest(struct sv wrapper, struct sv id);

#endif
