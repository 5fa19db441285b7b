/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_BOOKS_H
#define AFTERSHOCK_ANALYSIS_BOOKS_H

/*
 * Books that disagree (method.md 8): per business key the rows of one system
 * against those of another. Keys are compared as they are written. Identities
 * are compared, never totals: one row lost and one doubled do not cancel.
 */

#include "analysis/clock.h"

struct duplicate;

/* More differences than that are counted, not listed. */
#define BOOK_DIFFERENCES_MAX 10000

/* Per business key the entries of two systems, where their numbers differ. */
struct book_difference {
	struct sv business_key;
	struct sv system_a, system_b;
	size_t count_a, count_b;
	bool has_amounts;
	int64_t micros_a, micros_b;
	struct sv currency;
	unsigned duplicate;	/* id of the duplicate that accounts for it; 0 when none */
	struct evidence_list evidence;	/* a few rows */
};

struct book_pair {
	struct sv system_a, system_b;
	size_t keys;		/* in either system and comparable */
	size_t shared;		/* in both; 0: the systems name their operations differently, and nothing can be said */
	size_t agree;
	size_t outside;		/* in one system alone, at a time that the other's rows do not cover */
	struct book_difference *differences;	/* by business key; none when shared is 0 */
	size_t difference_count;
	size_t difference_capacity;
	size_t unlisted;	/* differences beyond BOOK_DIFFERENCES_MAX */
};

struct books {
	struct book_pair *pairs;	/* by system_a, then system_b */
	size_t count;
	size_t capacity;
};

/* 0 or -1. */
int books_find(struct store *s, const struct clocks *c, const struct duplicate *duplicates, size_t duplicate_count,
	       struct arena *a, struct books *out);

#endif
