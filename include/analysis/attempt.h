/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_ANALYSIS_ATTEMPT_H
#define AFTERSHOCK_ANALYSIS_ATTEMPT_H

/*
 * Attempts at side effects, in time order, and the runs that they belong to.
 * What is concluded from them: redeliveries (redelivery.h), duplicates
 * (duplicate.h), and which key would have held (idempotency.h).
 */

#include "analysis/clock.h"

enum outcome {
	OUTCOME_SUCCESS,	/* took effect */
	OUTCOME_FAILED,		/* did not */
	OUTCOME_DUPLICATE,	/* the called system recognised it */
	OUTCOME_SKIPPED,	/* the caller recognised it and did not call */
	OUTCOME_UNKNOWN,	/* anything else: neither an effect nor a failure */
};

/* One attempt at a step, in time order: the input of the replay of key designs too. */
struct attempt {
	struct ref_time time;
	struct sv business_key, step, version, message_id, request_id, fingerprint, consumer, topic, status;
	enum outcome outcome;	/* of the status, or as the books of the other side settle it */
	bool has_offset;	/* topic, partition and offset are all known */
	int64_t partition, offset;
	bool took_effect;	/* its outcome is success */
	bool has_amount;
	int64_t amount_micros;
	struct sv currency;
	/* What must happen once: the business key, else the message id, else the coordinates; absent when all are. */
	struct sv operation;
	size_t run;		/* place in attempts.runs */
	/* 1.. by operation, step, version and payload; 0 when the operation is not known; set by duplicates_find */
	size_t intent;
	struct evidence evidence;
};

/*
 * One handling of one message by one consumer: what a guard at the top of a
 * handler sees as a unit. Its attempts share consumer, coordinates, message id
 * and operation, nothing else of that partition by that consumer lies between
 * them, and no step comes twice but for one that failed and was tried again at
 * once.
 */
struct run {
	struct sv consumer, topic, message_id, operation;
	bool has_offset;
	int64_t partition, offset;
	struct ref_time first, last;	/* attempts */
	const struct attempt *first_attempt;
	bool failed;		/* its last attempt did: the message is likely to come again, to the same consumer */
	size_t pass;		/* place in passes.items (pass.h); set by passes_find */
};

struct attempts {
	size_t records;		/* effect events, before two reports of one attempt were joined */
	struct attempt *items;	/* by time, then event */
	size_t count;
	struct run *runs;	/* by consumer, topic and partition, then time */
	size_t run_count;
};

/*
 * Loads all effects. Two reports of one attempt by two inputs (a table and a
 * log) become one attempt. 0 or -1.
 */
int attempts_load(struct store *s, const struct clocks *c, struct arena *a, struct attempts *out);

/* The same message by what both know: coordinates, else message ids. *known is false when neither can be compared. */
bool attempt_same_message(const struct attempt *x, const struct attempt *y, bool *known);
/* The same request of one intent: no fingerprint and no amount that both know differs. */
bool attempt_same_payload(const struct attempt *x, const struct attempt *y);
/* Order of pointers to attempts for qsort: operation, step, version, time, event. */
int attempt_cmp_intent(const void *x, const void *y);
/* Whether both are of one intent: operation, step and version are equal. */
bool attempt_same_intent(const struct attempt *x, const struct attempt *y);

/* Amounts of hostile inputs may not overflow: clipped to the range of the type. */
int64_t amount_add(int64_t x, int64_t y);

#endif
