/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_MODEL_SPAN_H
#define AFTERSHOCK_MODEL_SPAN_H

/*
 * Intervals on the reference clock, and sets of them: sorted, disjoint, half
 * open [start, end). Intervals that touch are one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/tstamp.h"

struct span {
	struct ref_time start;
	struct ref_time end;
};

struct span_set {
	struct span *items;
	size_t count;
	size_t capacity;
};

int64_t span_length_us(struct span s);
bool span_is_empty(struct span s);
struct span span_intersect(struct span a, struct span b); /* empty (start == end) when they do not meet */
bool span_contains(struct span s, struct ref_time t);

/* Adds an interval in any order; an empty one is ignored. Amortised O(1) when they come in order. */
void span_set_add(struct span_set *set, struct arena *a, struct span s);
bool span_set_contains(const struct span_set *set, struct ref_time t);
int64_t span_set_length_us(const struct span_set *set);
/* How much of s lies in the set. */
int64_t span_set_overlap_us(const struct span_set *set, struct span s);
/* Whether s lies in the set but for at most slack_us altogether. */
bool span_set_covers(const struct span_set *set, struct span s, int64_t slack_us);
/* Each interval made longer by before_us at its start and after_us at its end. */
struct span_set span_set_dilate(const struct span_set *set, struct arena *a, int64_t before_us, int64_t after_us);
struct span_set span_set_intersect(const struct span_set *x, const struct span_set *y, struct arena *a);

#endif
