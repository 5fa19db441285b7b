/* SPDX-License-Identifier: MIT */
/* Intervals on the reference clock. See model/span.h. */

#include "model/span.h"

#include <string.h>

int64_t span_length_us(struct span s)
{
	return s.end.us - s.start.us;
}

bool span_is_empty(struct span s)
{
	return s.end.us <= s.start.us;
}

struct span span_intersect(struct span a, struct span b)
{
	struct span both = { a.start.us > b.start.us ? a.start : b.start, a.end.us < b.end.us ? a.end : b.end };
	if (span_is_empty(both))
		both.end = both.start;
	return both;
}

bool span_contains(struct span s, struct ref_time t)
{
	return s.start.us <= t.us && t.us < s.end.us;
}

/* The first item whose end lies at or after t: the only ones before it cannot meet anything from t on. */
static size_t first_ending_from(const struct span_set *set, int64_t t)
{
	size_t low = 0, high = set->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (set->items[middle].end.us < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void span_set_add(struct span_set *set, struct arena *a, struct span s)
{
	if (span_is_empty(s))
		return;
	size_t from = first_ending_from(set, s.start.us), to = from;
	while (to < set->count && set->items[to].start.us <= s.end.us) {
		if (set->items[to].start.us < s.start.us)
			s.start = set->items[to].start;
		if (set->items[to].end.us > s.end.us)
			s.end = set->items[to].end;
		to++;
	}
	if (from == to) {
		(void)ARENA_PUSH(a, set->items, set->count, set->capacity);
		memmove(&set->items[from + 1], &set->items[from], (set->count - 1 - from) * sizeof s);
	} else {
		memmove(&set->items[from + 1], &set->items[to], (set->count - to) * sizeof s);
		set->count -= to - from - 1;
	}
	set->items[from] = s;
}

bool span_set_contains(const struct span_set *set, struct ref_time t)
{
	size_t i = first_ending_from(set, t.us);
	while (i < set->count && set->items[i].end.us == t.us)
		i++;
	return i < set->count && span_contains(set->items[i], t);
}

int64_t span_set_length_us(const struct span_set *set)
{
	int64_t total = 0;
	for (size_t i = 0; i < set->count; i++)
		total += span_length_us(set->items[i]);
	return total;
}

int64_t span_set_overlap_us(const struct span_set *set, struct span s)
{
	int64_t total = 0;
	for (size_t i = first_ending_from(set, s.start.us); i < set->count && set->items[i].start.us < s.end.us; i++)
		total += span_length_us(span_intersect(set->items[i], s));
	return total;
}

bool span_set_covers(const struct span_set *set, struct span s, int64_t slack_us)
{
	return span_length_us(s) - span_set_overlap_us(set, s) <= slack_us;
}

struct span_set span_set_dilate(const struct span_set *set, struct arena *a, int64_t before_us, int64_t after_us)
{
	struct span_set out = { NULL, 0, 0 };
	for (size_t i = 0; i < set->count; i++) {
		struct span s = set->items[i];
		s.start.us -= before_us;
		s.end.us += after_us;
		span_set_add(&out, a, s);
	}
	return out;
}

struct span_set span_set_intersect(const struct span_set *x, const struct span_set *y, struct arena *a)
{
	struct span_set out = { NULL, 0, 0 };
	for (size_t i = 0, j = 0; i < x->count && j < y->count;) {
		span_set_add(&out, a, span_intersect(x->items[i], y->items[j]));
		if (x->items[i].end.us < y->items[j].end.us)
			i++;
		else
			j++;
	}
	return out;
}
