/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_REPEAT_H
#define AFTERSHOCK_STORE_REPEAT_H

/*
 * What a line of a log says, as a number by which it is known again. The same
 * line with the same time of the same host in another input is one event seen
 * twice: a log that was rotated while it was written to, or fetched twice. In
 * one input it is two, but for an entry that a collector shipped twice under
 * one id. Without this every such line would be a rebalance or an effect more.
 */

#include "model/event.h"

/* Lines that are alike in one input stand close together, since they have one time. */
#define REPEAT_SLOTS 4096

/*
 * So many lines alike at one time are kept of one input: beyond them they are a
 * program that logs in a circle, which proves nothing further and would fill
 * the memory of the analysis. Effects are kept whatever their number.
 */
#define REPEAT_FLOOD 1000

enum likeness_kind {
	LIKENESS_NONE,	/* it cannot be told, for want of the line's text */
	LIKENESS_LINE,	/* of time, host and text, and of what was found in it */
	LIKENESS_ID,	/* of the id that a collector gave it */
};

struct likeness {
	enum likeness_kind kind;
	uint64_t digest;
	uint64_t before;	/* lines alike in this input, as far as they are remembered */
};

struct repeat_count {
	uint64_t digest;
	uint64_t times;
};

/* How often each of the latest lines has come in the input at hand. */
struct repeats {
	struct repeat_count slots[REPEAT_SLOTS];
};

/* At the begin of an input. */
void repeats_begin(struct repeats *r);
/*
 * The likeness of the event of a log, whose fields are written as facts.h does:
 * that of the second line alike in one input is another than that of the first,
 * and the same as that of the second in another input.
 */
struct likeness repeats_likeness(struct repeats *r, const struct event *e, struct sv fields);

#endif
