/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_LATEST_H
#define AFTERSHOCK_BASE_LATEST_H

/*
 * How often a digest has come, of those that came lately: at least LATEST_LEAST
 * different ones are remembered, and memory does not grow with the input. What
 * is remembered depends on nothing but what came since the last latest_clear.
 */

#include <stddef.h>
#include <stdint.h>

#define LATEST_LEAST 32768

struct latest_entry {
	uint64_t digest;
	uint64_t times;	/* 0: free */
};

/*
 * Two tables by open addressing: the older one is forgotten when the younger is
 * full, which is when half of its slots are used. Zeros are the empty one.
 */
struct latest {
	struct latest_entry *young, *old;	/* NULL until they are needed */
	size_t slots;		/* of each: a power of two, or 0 */
	size_t young_count;
};

/* It will be counted soon: its place is fetched meanwhile. */
void latest_expect(const struct latest *l, uint64_t digest);
/* Counts it: how often it came before, as far as that is remembered. */
uint64_t latest_times_before(struct latest *l, uint64_t digest);
/* Forgets all. */
void latest_clear(struct latest *l);
void latest_fini(struct latest *l);

#endif
