/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_DUPLICATE_H
#define AFTERSHOCK_ANALYSIS_DUPLICATE_H

/*
 * Redelivered offsets, side effects executed twice, and books that disagree
 * (method.md 7).
 */

#include "analysis/rebalance.h"

/* One attempt at a step, in time order: the input of the replay of key designs too. */
struct attempt {
	struct ref_time time;
	struct sv business_key, step, version, message_id, request_id, fingerprint, consumer, topic, status;
	bool has_offset;	/* topic, partition and offset are all known */
	int64_t partition, offset;
	bool took_effect;	/* by its status */
	bool has_amount;
	int64_t amount_micros;
	struct sv currency;
	struct evidence evidence;
};

struct redelivery {
	unsigned id;		/* 1.. : L1, L2 ... */
	struct sv group, topic;
	int64_t partition;
	int64_t committed_offset;	/* where the new owner resumed: first offset delivered again */
	int64_t processed_offset;	/* one past the last offset that had been processed before */
	size_t records;			/* offsets in between that were really seen twice */
	unsigned rebalance;		/* id; 0 when none fits */
	struct sv from, to;		/* consumers before and after */
	struct ref_time time;		/* of the first record seen again */
	const char *basis;		/* "effects at the same offsets", "restored offset below one processed" */
	struct evidence_list evidence;
};

enum duplicate_kind { DUPLICATE_DOUBLE_EFFECT, DUPLICATE_SUPPRESSED, DUPLICATE_RETRY };

enum cause { CAUSE_PROVEN, CAUSE_STRONG, CAUSE_WEAK, CAUSE_UPSTREAM, CAUSE_UNRELATED, CAUSE_COUNT };

struct duplicate {
	unsigned id;		/* 1.. by time of the second effect: D1, D2 ... */
	struct sv business_key, step, version;
	enum duplicate_kind kind;
	enum cause cause;
	size_t effects;		/* attempts that took effect, at least 2 for a double effect */
	const struct attempt **attempts;	/* all of the intent, in time order */
	size_t attempt_count;
	unsigned rebalance;	/* id; 0 when none */
	unsigned redelivery;	/* id; 0 when none */
	unsigned window;	/* id of the window behind the rebalance's root; 0 when none */
	bool has_amount;
	int64_t amount_micros;	/* of the effects beyond the first */
	struct sv currency;
};

struct amount_total {
	struct sv step;		/* money of one step is not money of another: they are not added up */
	struct sv currency;
	int64_t micros;
	size_t count;
};

struct key_conflict {
	struct sv business_key, step;
	const struct attempt *first, *other;	/* the same key, another fingerprint or amount */
};

/* Per business key the entries of two systems, where their numbers differ. */
struct book_difference {
	struct sv business_key;
	struct sv system_a, system_b;
	size_t count_a, count_b;
	bool has_amounts;
	int64_t micros_a, micros_b;
	struct sv currency;
	unsigned duplicate;	/* id of the duplicate that accounts for it; 0 when none */
	struct evidence_list evidence;
};

struct book_pair {
	struct sv system_a, system_b;
	size_t keys, agree;
	struct book_difference *differences;	/* by business key */
	size_t difference_count;
};

struct side_effects {
	size_t records;
	size_t intents;
	struct attempt *attempts;	/* by time, then evidence */
	size_t attempt_count;
	struct duplicate *duplicates;	/* double effects alone; suppressed ones and retries are counted */
	size_t duplicate_count;
	size_t suppressed;		/* second attempts that were recognised */
	size_t retries;			/* failed, then done again */
	size_t by_cause[CAUSE_COUNT];
	struct { struct sv step; size_t count; } *by_step;
	size_t by_step_count;
	struct amount_total *amounts;	/* of duplicates, per step and currency */
	size_t amount_count;
	struct key_conflict *conflicts;
	size_t conflict_count;
	struct book_pair *books;
	size_t book_count;
	struct redelivery *redeliveries;
	size_t redelivery_count;
	/* Steps owed and never done within the evidence: an intent of another step exists, this one does not. */
	struct { struct sv business_key, step; } *lost;
	size_t lost_count;
};

/* Also fills partitions_moved of the rebalances. */
int duplicates_find(struct store *s, const struct clocks *c, const struct groups *g, const struct windows *w,
		    const struct analysis_options *o, struct arena *a, struct rebalances *r, struct side_effects *out);
const char *cause_name(enum cause c);
const char *duplicate_kind_name(enum duplicate_kind k);

#endif
