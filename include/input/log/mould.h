/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_MOULD_H
#define AFTERSHOCK_INPUT_LOG_MOULD_H

/*
 * What is around the texts of a log whose wrappers are quick (wrap.h): bytes that
 * do not change, and a time. A line that unwrap.h has taken apart with care is a
 * mould for others: one that has the same bytes around its text, and in the
 * time's place a time that is written the same way, goes the same way to the
 * same writer. The layers are then not peeled again.
 *
 * Times of other lengths, as of fractions without their last zeros, have moulds of
 * their own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tstamp.h"
#include "input/log/again.h"
#include "input/log/unwrap.h"

/* The shortest that fitted longest ago makes room for a new one. */
#define MOULDS_MAX 128
/* More is never around a text that is worth it. */
#define MOULD_BYTES_MAX 1024

struct mould {
	/* What is before the text and behind it; the time stands in one of them. */
	char bytes[MOULD_BYTES_MAX];
	size_t head_bytes, tail_bytes;	/* in this order */
	bool is_object;		/* the text is one of JSON, with its escapes */
	enum wrap_quick last;	/* of the innermost layer */
	/* The number that counts lines, anew in each: it is not among the bytes, and stands before that one. */
	bool has_number;
	size_t number_at;
	bool is_own;		/* one of the two that fit any */
	bool has_wrapper, has_time, prompt;
	size_t writer;
	uint64_t serial;
	struct sv host;		/* absent when none; lives as long as the writer has its place */
	size_t time_at, time_bytes;	/* in bytes[] */
	size_t fraction_bytes;	/* of it: */
	enum tstamp_lack lacks;
	bool zoned;
	struct again time;
};

struct moulds {
	struct mould *items[MOULDS_MAX];	/* the longest first, and of these the one that fitted last */
	size_t count;
	struct mould own[2];	/* of lines that have no wrapper, and of those that have colours alone: fits any, once it is one */
};
void moulds_fini(struct moulds *m);

/* What a line is by its mould. */
struct moulded {
	const struct mould *mould;
	struct sv text;		/* in the line; of an object with its escapes */
	bool has_outer;		/* the wrapper's time is an instant */
	struct host_time outer;
};
/* Lines without their colours (colours.h); coloured: that had some. False when none fits. */
bool mould_fits(struct moulds *m, struct sv line, bool coloured, struct moulded *out);
/* The line went that way and fitted none, or one whose writer has lost its place. */
void mould_learn(struct moulds *m, struct sv line, bool coloured, const struct unwrap_way *way);

#endif
