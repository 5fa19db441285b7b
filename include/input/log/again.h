/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_AGAIN_H
#define AFTERSHOCK_INPUT_LOG_AGAIN_H

/*
 * Times that are written the same way one after the other: most are in the second
 * of the one before, and only the digits of its fraction are read.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/tstamp.h"

#define AGAIN_TEXT_MAX 48
#define AGAIN_LAYOUT_MAX 31

struct again {
	char layout[AGAIN_LAYOUT_MAX + 1];	/* as for tstamp_read; empty: by trial */
	/* The last time that was read whole. */
	char text[AGAIN_TEXT_MAX];
	size_t bytes;		/* 0: none was */
	size_t fraction_at, fraction_bytes;	/* what may differ from it */
	struct tstamp parts;
	int64_t second_us;	/* without the fraction; without a zone as if it were UTC; of no use when it lacks a part */
};

/* False when the layout is too long. */
bool again_init(struct again *g, struct sv layout);
/*
 * The text is a time: parts of it other than those of the fraction are in
 * g->parts, and *us is its instant, if it lacks nothing. False when it is none,
 * or nothing that is read so.
 */
bool again_read(struct again *g, struct sv text, int64_t *us);

#endif
