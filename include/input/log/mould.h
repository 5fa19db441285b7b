/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_MOULD_H
#define AFTERSHOCK_INPUT_LOG_MOULD_H

/*
 * What is before the texts of a log whose wrappers are quick (wrap.h): bytes that
 * do not change, a time, and a number. A line that unwrap.h has taken apart with care is a
 * mould for others: one that has the same bytes before its text, and in the
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

/* Whose a line is, and what is around its text. */
struct line_way {
	bool is_own;		/* it has no wrapper but colours */
	bool has_wrapper, has_time, prompt;	/* as in struct unwrapped */
	size_t writer;
	uint64_t serial;
	struct sv host;		/* absent when none; lives as long as the writer has its place */
};
struct line_way line_way_of(const struct unwrap_way *way);

/* What a line is by what it was found to be like. */
struct moulded {
	const struct line_way *way;
	struct sv text;		/* in the line */
	bool is_escaped;	/* it is a text of JSON, with its escapes */
	bool has_outer;		/* the wrapper's time is an instant */
	struct host_time outer;
	uint64_t id;		/* as in struct unwrapped */
};

/* The time of a wrapper: others are written the same way, and say as much. */
struct wrapper_time {
	struct again again;
	enum tstamp_lack lacks;
	bool zoned;
};
/* By the text that it was in a line that went that way. False when it is of no use. */
bool wrapper_time_init(struct wrapper_time *t, struct sv text, const struct unwrap_way *way);
/* Says what it is in another; false when it is no such time. */
bool wrapper_time_read(struct wrapper_time *t, struct sv text, struct moulded *out);

struct mould {
	char bytes[MOULD_BYTES_MAX];	/* what is before the text */
	size_t head_bytes;
	/* The number that counts lines, anew in each: it is not among the bytes, and stands before that one. */
	bool has_number;
	size_t number_at;
	enum wrap_quick last;	/* of the innermost layer */
	struct line_way way;
	size_t time_at, time_bytes;	/* in bytes[] */
	size_t fraction_bytes;	/* of it */
	struct wrapper_time time;
};

struct moulds {
	struct mould *items[MOULDS_MAX];	/* the longest first, and of these the one that fitted last */
	size_t count;
	struct line_way own[2];	/* of lines that have no wrapper, and of those that have colours alone: any is, once one was */
};
void moulds_fini(struct moulds *m);

/* Lines without their colours (colours.h); coloured: that had some. False when none fits. */
bool mould_fits(struct moulds *m, struct sv line, bool coloured, struct moulded *out);
/* The line went that way and fitted none, or one whose writer has lost its place. */
void mould_learn(struct moulds *m, struct sv line, bool coloured, const struct unwrap_way *way);

#endif
