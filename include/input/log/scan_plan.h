/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SCAN_PLAN_H
#define AFTERSHOCK_INPUT_LOG_SCAN_PLAN_H

/* Between scan_plan.c, which finds out how the lines of an input are to be looked at, and scan.c, which does so. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "input/log/scan.h"

#define SCAN_WORDS_MAX ((HEAD_SHAPE_MAX + 7) / 8)

/* Eight bytes of a line's start, to compare: digits with any digit, others exactly. */
struct scan_word {
	size_t at;
	uint64_t bytes;		/* '0' for digits */
	uint64_t range;		/* added to the difference, the highest bit of a byte tells that it is too great */
};

struct scan_words {
	struct scan_word items[SCAN_WORDS_MAX];
	size_t count;
};

struct scan_plan {
	const struct head *head;
	struct head_none *none;
	struct filter *filter;
	size_t rule_literals;	/* those before are of rules, the others near misses */
	/* Literals of rules that are too short for the filter, and where in them the pair stands that is looked for. */
	struct marks_wanted wanted;
	struct sv short_literals[MARKS_PAIRS_MAX];
	size_t pair_offsets[MARKS_PAIRS_MAX];
	struct zone zone;
	struct scan_words words;	/* of the whole shape */
	struct scan_words edges;	/* those of them that look at more than the time's second */
	size_t fraction_at, fraction_digits;	/* in the line */
	uint64_t fraction_mask;	/* of the eight bytes there, the first one highest: the digits that count */
	bool guarded;		/* a wrapper may begin like these lines: what follows the time tells */
	/* Lines that go on like one that fitted are not walked through again; those of the input's head. */
	bool signed_lines;
	uint64_t sign_factor;
	struct scan_sign signs[SCAN_SIGNS];
};

static inline uint64_t scan_load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

/* 0 when the line has the shape as far as the words look at it. */
static inline uint64_t scan_differs(const struct scan_words *w, const char *line)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < w->count; i++) {
		uint64_t difference = scan_load(line + w->items[i].at) ^ w->items[i].bytes;

		wrong |= difference | (difference + w->items[i].range);
	}
	return wrong & UINT64_C(0x8080808080808080);
}

/* What a line that has the shape has behind its time. */
static inline struct scan_sign scan_sign_of(const struct scan_plan *p, const char *line)
{
	const char *behind = line + p->head->time_at + p->head->time_bytes;

	return (struct scan_sign){ { scan_load(behind), scan_load(behind + 8) } };
}

/* So many bytes of a line its sign tells of. */
static inline size_t scan_sign_end(const struct scan_plan *p)
{
	return p->head->time_at + p->head->time_bytes + sizeof(struct scan_sign);
}

static inline size_t scan_sign_place(const struct scan_plan *p, const struct scan_sign *s)
{
	return (s->bytes[0] ^ s->bytes[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) * p->sign_factor >> (64 - SCAN_SIGNS_LOG2);
}

/* 0 when they are the same. */
static inline uint64_t scan_sign_differs(const struct scan_sign *a, const struct scan_sign *b)
{
	return (a->bytes[0] ^ b->bytes[0]) | (a->bytes[1] ^ b->bytes[1]);
}

/* Whether the layout certainly fits a line that has the shape, and no wrapper takes it. */
bool scan_plan_fits(const struct scan_plan *p, const char *line, const char *end);
/* By a time of the layout; false when there is no such time, or clocks showed it twice. */
bool scan_plan_settle(const struct scan_plan *p, struct sv time, int64_t *us);

#endif
