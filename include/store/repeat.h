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
};

/* That of the event of a log, whose fields are written as facts.h does. */
struct likeness repeat_likeness(const struct event *e, struct sv fields);
/*
 * The digest of a line that comes behind so many that are alike in its input:
 * that of the second is another than that of the first, and the same as that of
 * the second in another input. It depends on its input alone, so that which
 * events there are does not depend on the order of inputs; but for lines alike
 * with LATEST_LEAST others or more between them in one input (base/latest.h).
 * The second of them is taken for a first: where another input has the line
 * once, both are left out when that one is read first, else neither.
 */
uint64_t repeat_digest_behind(uint64_t digest, uint64_t before);

#endif
