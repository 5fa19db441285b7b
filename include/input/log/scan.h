/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SCAN_H
#define AFTERSHOCK_INPUT_LOG_SCAN_H

/*
 * Which stretches of a log can matter. Of most lines of most logs three things
 * are enough to know: that a record begins there, at what time, and that no rule
 * can know it, since none of the rules' literals stands in it. Where that is
 * certain the line is only counted. Where a literal stands in it and all else is
 * certain, the record is plain: it goes to the rules that the literals name. All
 * other stretches, whole records each, go to the machinery that reads every log
 * (unwrap.h), so that what is said of a record never depends on how it was found.
 *
 * What is certain is decided by head.h, filter.h and marks.h; when in doubt a
 * line is read. A block is looked at by itself and by any thread; blocks are put
 * together in their order by whoever takes them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/tstamp.h"
#include "input/log/filter.h"
#include "input/log/marks.h"
#include "input/rules/head.h"
#include "input/rules/rules.h"

/* So many bytes behind a block must be readable. */
#define SCAN_SLACK FILTER_SLACK

/* yyyy-MM-dd HH:mm:ss, whatever stands between the digits. */
#define SCAN_SECOND_BYTES 19
/* Of its fraction so many digits count. */
#define SCAN_FRACTION_DIGITS 6

/* How the lines of one input are looked at; shared by all threads. */
struct scan_plan;
/*
 * NULL when the input has to be read line by line: it is wrapped, its layout or
 * times are not plain enough, or a rule has no literal. head: its first bytes.
 */
struct scan_plan *scan_plan_new(const struct rules *r, struct zone z, struct sv head, struct arena *a);
/*
 * Several layouts may be plain: each is a form of lines, by its number. The
 * layout, as a hint for rules_layout.
 */
#define SCAN_FORMS_MAX 4
int scan_plan_layout(const struct scan_plan *p, unsigned form);

/* A record that was counted. Places are bytes and lines of the block, from 0. */
struct scan_record {
	uint32_t at, line;
	int64_t us;
	bool near;		/* speaks of consumer groups */
	uint8_t form;		/* of its line */
	uint32_t body_at, body_bytes;
};

/* What is to be said of one. */
struct scan_note {
	struct scan_record record;	/* near when that is to be said */
	int64_t back_us;	/* so much is its time before that of the record before it; 0: it is not worth a word */
};

/* More of them in a block are only counted: of each sort no more are kept whole. */
#define SCAN_NOTES_MAX 4

/* A record that a rule may know, and about whose layout and time there is no doubt; nor about the lines behind its first. */
struct scan_plain {
	uint32_t at, line;
	uint32_t bytes;		/* of its first line, without its end */
	bool near;		/* may speak of consumer groups; else it certainly does not */
	uint8_t form;		/* of that line */
	int64_t us;
	uint32_t hits, hit_count;	/* the literals of rules that stand in the line, among those of the block */
	struct head_parts parts;	/* of its first line; without a body when only the layout's pattern tells them */
};

enum scan_sort {
	SCAN_LEAD,	/* lines before the first record that begins in the block: they continue the last of the block before */
	SCAN_COUNTED,	/* records, one or more */
	SCAN_PLAIN,	/* those that a rule may know, and that need no more care than that */
	SCAN_READ,	/* to be read with care */
};

struct scan_piece {
	enum scan_sort sort;
	uint32_t start, end;	/* bytes */
	uint32_t line;		/* of its first */
	bool doubtful;		/* of a lead: may be more than a continuation */
	/* Of counted ones: */
	uint64_t records;
	struct scan_record first;
	int64_t last_us, least_us, most_us;
	uint8_t last_form;
	size_t notes, note_count;	/* among those of the block */
	uint64_t more_near, more_back;
	/* Of plain ones, which are never the last of a block: */
	size_t first_plain, plain_count;	/* among those of the block */
};

/* What a line has behind its time. */
#define SCAN_SIGNS_LOG2 9
#define SCAN_SIGNS (1u << SCAN_SIGNS_LOG2)
struct scan_sign {
	uint64_t bytes[2];
};

/* What a thread needs for one block after the other, and what it found in the last. */
struct scan {
	const struct scan_plan *plan;
	struct marks marks;
	struct filter_hits hits;
	struct scan_sign signs[SCAN_FORMS_MAX][SCAN_SIGNS];	/* of lines that the layout fitted: the plan's, and of the block */
	bool signs_are_the_plans;	/* and no others */
	struct scan_piece *pieces;	/* the lead first; they cover the block */
	size_t piece_count, piece_capacity;
	struct scan_plain *plain;
	size_t plain_count, plain_capacity;
	struct scan_note notes[2 * SCAN_NOTES_MAX];
	size_t note_count, near_count, back_count;
	uint32_t lines;			/* in the block, the last one without its end too */
	/* The last record, when it was not read: it may go on in the next block, and is in no piece. */
	bool is_open;
	struct scan_record open;
	/* The second that the last line of each way to write times had, and where it begins. */
	struct scan_second {
		bool known;
		char text[SCAN_SECOND_BYTES];
		int64_t us;
	} seconds[SCAN_FORMS_MAX];
};

/*
 * The rules of whose literals one stands in the line of a plain record: their
 * numbers, in order, at most SCAN_RULES_MAX. Of a line with more literals it is
 * not said that it is plain.
 */
#define SCAN_RULES_MAX 16
size_t scan_plain_rules(const struct scan *s, const struct scan_plain *r, uint32_t *rules);

/* unended: the last line has no line feed. Otherwise the block ends with one. */
void scan_block(struct scan *s, const char *bytes, size_t n, bool unended);
void scan_free(struct scan *s);

/* Smaller steps back are threads that wait for the appender; only larger ones are a clock's. */
#define SCAN_BACKWARDS_US (1 * US_PER_S)

#endif
