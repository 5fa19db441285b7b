/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SEEN_H
#define AFTERSHOCK_INPUT_LOG_SEEN_H

/*
 * The ids of entries that a collector shipped (eventId, insertId, _id,
 * __CURSOR): an entry that it ships twice has the same one. The latest are
 * remembered, at least SEEN_LEAST of them, which is far more than a collector
 * holds back to ship again; memory does not grow with the input.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

#define SEEN_LEAST 32768

/* Two tables of digests: the older one is forgotten when the younger is half full. */
struct seen {
	uint64_t *young, *old;	/* NULL until they are needed */
	size_t young_count;
};

/* The digest of an id that a wrapper gives, never 0. */
uint64_t seen_digest(struct sv wrapper, struct sv id);
/* Remembers the digest; true when it was remembered already. */
bool seen_before(struct seen *s, uint64_t digest);
void seen_fini(struct seen *s);

#endif
