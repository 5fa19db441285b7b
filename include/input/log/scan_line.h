/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SCAN_LINE_H
#define AFTERSHOCK_INPUT_LOG_SCAN_LINE_H

/* What a line of a block is, by its shape and by what was found in it. For those who look at lines: scan.c, inner.c and log_wrapped.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/log/scan_plan.h"

enum scan_line_sort {
	SCAN_LINE_COUNTED,	/* a record, certainly, that no rule knows */
	SCAN_LINE_PLAIN,	/* a record, certainly, that one may know */
	SCAN_LINE_READ,	/* the same, but there is more to it */
	SCAN_LINE_NONE,	/* certainly goes on with the record before it */
	SCAN_LINE_DOUBTFUL,
};

/* What the filter and the marks found, line by line. */
struct scan_found {
	size_t hit, other;	/* the next of them */
	size_t first_hit;	/* of the line */
	size_t rule_hits;	/* literals of rules that stand in it */
	bool odd;		/* what a wrapper may make of the line is not looked into here */
	bool near;		/* a word of groups does: */
	uint32_t near_at;	/* the last of them */
	bool brief;		/* a short literal of a rule does, */
	uint32_t brief_at;	/* last there: it is one in the message alone */
};

/* Of the line from start to end, behind what was found in the lines before it. */
void scan_line_found(const struct scan *s, struct scan_found *f, const char *bytes, size_t start, size_t end);
/* Whether noise (marks.h) stands in the line that ends there, behind what was found in the lines before it. */
bool scan_line_has_noise(const struct scan *s, const struct scan_found *f, const char *bytes, size_t end);
/* Without its end. What it is when it is a record; parts has no body when it is not known. */
enum scan_line_sort scan_line_sort(struct scan *s, const struct scan_found *f, const char *bytes, size_t start, size_t end,
				   struct scan_record *out, struct head_parts *parts);
/* Whether the message certainly begins behind the byte: the two that it always has before it stand nowhere earlier. */
bool scan_begins_behind(const struct scan_form *f, const char *line, const char *at);

/* The digits of a second's fraction that count, to compare: the first is the highest byte. */
static inline uint64_t scan_fraction_at(const char *p, uint64_t mask)
{
	uint64_t digits = scan_load(p);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	return digits & mask;
}

/* Two digits are put together first, then the pairs. */
static inline int64_t scan_fraction_us(uint64_t digits)
{
	const uint64_t values = digits & UINT64_C(0x0f0f0f0f0f0f0000), each = UINT64_C(0x00ff00ff00ff00ff);
	const uint64_t pairs = (values >> 8 & each) * 10 + (values & each);

	return (int64_t)((pairs >> 48) * 10000 + (pairs >> 32 & 0xff) * 100 + (pairs >> 16 & 0xff));
}

/* A time down to its second, to compare: nineteen bytes, three times eight. */
struct scan_stamp {
	uint64_t bytes[3];
};

static inline struct scan_stamp scan_stamp_at(const char *p)
{
	return (struct scan_stamp){ { scan_load(p), scan_load(p + 8), scan_load(p + SCAN_SECOND_BYTES - 8) } };
}

/* 0 when it is the same. */
static inline uint64_t scan_stamp_differs(const struct scan_stamp *x, const struct scan_stamp *y)
{
	return (x->bytes[0] ^ y->bytes[0]) | (x->bytes[1] ^ y->bytes[1]) | (x->bytes[2] ^ y->bytes[2]);
}

#endif
