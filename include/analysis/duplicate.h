/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_DUPLICATE_H
#define AFTERSHOCK_ANALYSIS_DUPLICATE_H

/*
 * Side effects executed twice, and why; with the redelivered offsets and the
 * books that disagree (method.md 7).
 *
 * An intent is (operation, step, version), and one payload: the same key with
 * another fingerprint or amount is a conflict, and its attempts are another
 * intent's. A double effect is two or more attempts of one intent that took
 * effect; two with one request id are one effect, told or tried twice.
 */

#include "analysis/books.h"
#include "analysis/cause.h"
#include "analysis/lost.h"

enum duplicate_kind { DUPLICATE_DOUBLE_EFFECT, DUPLICATE_SUPPRESSED, DUPLICATE_RETRY };

struct duplicate {
	unsigned id;		/* 1.. by time of the second effect: D1, D2 ... */
	struct sv business_key, step, version;
	enum duplicate_kind kind;
	enum cause cause;	/* of the second effect */
	size_t extra_by_cause[CAUSE_COUNT];	/* effects beyond the first, each by the strongest cause that fits it */
	size_t effects;		/* attempts that took effect, at least 2 for a double effect */
	const struct attempt **attempts;	/* all of the intent, in time order */
	size_t attempt_count;
	const struct attempt *second_effect;
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

struct step_count {
	struct sv step;
	size_t count;
};

struct side_effects {
	size_t records;
	size_t intents;
	struct attempt *attempts;	/* by time, then evidence */
	size_t attempt_count;
	struct run *runs;
	size_t run_count;
	struct duplicate *duplicates;	/* double effects alone; suppressed ones and retries are counted */
	size_t duplicate_count;
	size_t suppressed;		/* second attempts that were recognised */
	size_t retries;			/* failed, then tried again */
	size_t unknown;			/* attempts of which the outcome is not known: neither effects nor failures */
	size_t by_cause[CAUSE_COUNT];	/* of duplicates */
	struct step_count *by_step;	/* of duplicates, by step */
	size_t by_step_count;
	struct amount_total *amounts;	/* of duplicates, per step and currency */
	size_t amount_count;
	struct key_conflict *conflicts;
	size_t conflict_count;
	struct book_pair *books;
	size_t book_count;
	struct redelivery *redeliveries;
	size_t redelivery_count;
	struct owed_step *lost;		/* by business key, then step */
	size_t lost_count;
};

/* Also fills partitions_moved of the rebalances. */
int duplicates_find(struct store *s, const struct clocks *c, const struct groups *g, const struct windows *w,
		    const struct analysis_options *o, struct arena *a, struct rebalances *r, struct side_effects *out);
/* The amounts of these, per step and currency, in that order. */
void duplicates_amounts(const struct duplicate *const *duplicates, size_t count, struct arena *a,
			struct amount_total **totals, size_t *total_count);
const char *duplicate_kind_name(enum duplicate_kind k);

#endif
