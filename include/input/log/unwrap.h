/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_UNWRAP_H
#define AFTERSHOCK_INPUT_LOG_UNWRAP_H

/*
 * Lines of a file to records, through whatever is wrapped around them: layers
 * are peeled (wrap.h), pieces of split lines joined, two records on one line
 * parted, and the lines of each writer in the file put together by
 * themselves, so that a stack trace goes to its own record.
 *
 * A record's place is the line of the file, and its text that line as it is
 * written there.
 */

#include "input/kind.h"
#include "input/log/form.h"
#include "input/log/wrap.h"

/* Writers beyond these take the place of the one that was silent longest. */
#define UNWRAP_WRITERS_MAX 32

struct unwrapped {
	struct joined joined;
	const char *wrapper;	/* the innermost; NULL when there was none */
	bool has_time;		/* the wrapper has one */
	struct tstamp time;
	bool prompt;		/* as in struct wrap_layer */
	struct sv host;		/* that the wrapper names; absent when none */
	uint64_t id;		/* digest of the collector's own id of it; 0 when it gave none */
	size_t writer;		/* below UNWRAP_WRITERS_MAX: one after the other may have the same place */
	uint64_t serial;	/* but not the same number */
	bool second;		/* stood on the line behind another record */
	bool unended;		/* the end of its line never came */
};

/* Where records go: 0, or -1 to end the reading. Views live until it returns. */
struct unwrap_sink {
	int (*put)(void *context, const struct unwrapped *r);
	void *context;
};

struct unwrap;
struct unwrap *unwrap_new(const struct rules *r, struct zone z, struct unwrap_sink sink);
/* 0, or -1 when the sink said so. */
int unwrap_add(struct unwrap *u, const struct line *line);
/* The same for what a form took out of its input. */
int unwrap_add_piece(struct unwrap *u, const struct log_piece *p);
/* What is held back still. */
int unwrap_end(struct unwrap *u);
/*
 * The file's own writer, whose lines have no wrapper: ends its record, so that
 * others of its records may be taken elsewhere. 0, or -1 when the sink said so.
 */
int unwrap_end_own(struct unwrap *u);
/* Whether it has written, and which it is. */
bool unwrap_own(const struct unwrap *u, size_t *writer, uint64_t *serial);
/*
 * Records of that writer were taken elsewhere, up to that line: what comes next
 * follows them. False when it is not known here.
 */
bool unwrap_passed(struct unwrap *u, uint64_t line, int layout_hint, size_t *writer, uint64_t *serial);
/*
 * The way that the last line went. Another that begins the same goes the same
 * way, when all layers on it are quick: mould.h.
 */
struct unwrap_way {
	bool is_straight;	/* through quick layers alone, and all of its text to one writer */
	enum wrap_quick last;	/* of the innermost layer but colours; WRAP_SLOW when there is none */
	const struct wrap_members *members;	/* as in struct wrap_layer */
	uint64_t id;		/* as in struct unwrapped */
	struct sv text;		/* what was inside, without colours, as long as the line and no other line has come; with its end where the wrapper says it */
	size_t number_bytes, number_behind;	/* as in struct wrap_layer; and of the line's bytes so many stand behind the digits */
	struct sv time_text, time_layout;	/* of the one layer that has a time; as long */
	bool has_time, prompt;
	struct tstamp time;
	bool has_wrapper;
	size_t writer;
	uint64_t serial;
	struct sv host;		/* as long as the writer has its place */
};
const struct unwrap_way *unwrap_last_way(const struct unwrap *u);
/*
 * Whether it is certain what one more line does that goes that way to the
 * writer, by that line alone: nothing of it is held back, and it has its place
 * yet.
 */
bool unwrap_is_ready(const struct unwrap *u, size_t writer, uint64_t serial, bool has_time);
/* A line that stands before others that were passed by since (below); as unwrap_add, but who wrote last stays as it was. */
int unwrap_add_late(struct unwrap *u, size_t writer, const struct line *line);
/* Whether it wrote the last line. */
bool unwrap_wrote_last(const struct unwrap *u, size_t writer);
/*
 * Asks for the digest of the next line's id, as it is asked when the line is added:
 * whether the entry has come before, and is counted as one that has. Else it is
 * not asked again when the line is added, or passed.
 */
bool unwrap_is_repeat(struct unwrap *u, uint64_t id);
/* A line of that writer, which is ready, was taken elsewhere. */
void unwrap_pass(struct unwrap *u, size_t writer, uint64_t line);
/*
 * And a record begins with it, of that layout: ends what is in the making here.
 * 0, or -1 when the sink said so.
 */
int unwrap_pass_record(struct unwrap *u, size_t writer, uint64_t line, int layout_hint);
/* Lines that belong to no record. */
uint64_t unwrap_orphans(const struct unwrap *u);
/* Lines that hold noise (marks.h), whatever else; and the first of them. */
uint64_t unwrap_noise(const struct unwrap *u, struct place *first);
/* Entries that were dropped since their collector's id had come before. */
uint64_t unwrap_repeats(const struct unwrap *u);
/* Accepts NULL. */
void unwrap_free(struct unwrap *u);

/* Whether some of the first lines has a time, of its own or of its wrapper. */
bool unwrap_is_log(const struct rules *r, struct sv head, size_t lines);
/* How many of them have one. */
size_t unwrap_count_log(const struct rules *r, struct sv head, size_t lines);

#endif
