/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_SCAN_PLAN_H
#define AFTERSHOCK_INPUT_LOG_SCAN_PLAN_H

/* Between scan_plan.c, which finds out how the lines of an input are to be looked at, and scan.c and scan_line.c, which do so. */

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

/* Lines of one layout. */
struct scan_form {
	const struct head *head;
	struct scan_words words;	/* of the whole shape */
	struct scan_words edges;	/* those of them that look at more than the time's second */
	size_t fraction_at;	/* in the line */
	size_t all_digits;	/* of the fraction */
	uint64_t fraction_mask;	/* of the eight bytes there, the first one highest: the digits that count; what is finer is cut */
	size_t clock;		/* the first form whose times are written like these; of written zones each has its own */
	bool bracketed;
	bool guarded;		/* a wrapper may begin like these lines: what follows the time tells */
	/*
	 * Lines that go on like one that fitted are not walked through again. A sign is
	 * what stands between the time and the message, as long as the longest of these,
	 * which is certain; or so much of it as there is room for, since lines of one
	 * appender differ in what they say, not in their form.
	 */
	size_t sign_end;	/* so many bytes of a line its sign tells of; 0: they have none */
	uint64_t sign_mask[2];
	uint64_t sign_factor;
	struct scan_sign signs[SCAN_SIGNS];	/* of the lines at the input's start */
};

struct scan_plan {
	struct scan_form forms[SCAN_FORMS_MAX];	/* no line can be of two of them; the first is that of most lines, probably */
	size_t form_count;
	struct head_none *none;
	struct filter *filter;
	size_t rule_literals;	/* those before are of rules, the others near misses */
	const uint32_t *rule_of;	/* each of those */
	/* Literals of rules that are too short for the filter, and where in them the pair stands that is looked for. */
	struct marks_wanted wanted;
	struct sv short_literals[MARKS_PAIRS_MAX];
	size_t pair_offsets[MARKS_PAIRS_MAX];
	struct zone zone;
	bool finds_only;	/* of a block only marks and literals are found: its lines are looked at by whoever takes it (log_wrapped.c) */
};

/* For lines that have no form: only what is found in them is wanted. NULL when a rule has no literal. */
struct scan_plan *scan_plan_of_literals(const struct rules *r, struct zone z, struct sv sample, struct arena *a);

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

/* Whose shape the line has; NULL when it has none. Nearly always it is the first. */
static inline const struct scan_form *scan_form_of(const struct scan_plan *p, struct sv line)
{
	const struct scan_form *end = p->forms + p->form_count;

	for (const struct scan_form *f = p->forms; f < end; f++)
		if (line.n >= f->head->shape_bytes && scan_differs(&f->words, line.p) == 0)
			return f;
	return NULL;
}

/* What stands behind the time. */
static inline struct scan_sign scan_sign_at(const char *p, const uint64_t mask[2])
{
	return (struct scan_sign){ { scan_load(p) & mask[0], scan_load(p + 8) & mask[1] } };
}

/* Of a line that has the shape. */
static inline struct scan_sign scan_sign_of(const struct scan_form *f, const char *line)
{
	return scan_sign_at(line + f->head->time_at + f->head->time_bytes, f->sign_mask);
}

static inline size_t scan_sign_place(uint64_t factor, const struct scan_sign *s)
{
	return (s->bytes[0] ^ (s->bytes[1] << 29 | s->bytes[1] >> 35)) * factor >> (64 - SCAN_SIGNS_LOG2);
}

/* 0 when they are the same. */
static inline uint64_t scan_sign_differs(const struct scan_sign *a, const struct scan_sign *b)
{
	return (a->bytes[0] ^ b->bytes[0]) | (a->bytes[1] ^ b->bytes[1]);
}

/* Whether a line certainly goes on with the record before it. */
bool scan_is_none(const struct scan_plan *p, struct sv line);
/*
 * Whether the layout certainly fits a line that has the shape, and no wrapper
 * takes it. by_sign: it does so any of the same sign.
 */
bool scan_form_fits(const struct scan_form *f, const char *line, const char *end, bool *by_sign);
/* The same, by the message and what else is wanted of the line. */
bool scan_form_parts(const struct scan_form *f, const char *line, const char *end, struct head_parts *out);
/* By a time of the form's layout; false when there is no such time, or clocks showed it twice. */
bool scan_form_settle(const struct scan_form *f, struct sv time, struct zone z, int64_t *us);

#endif
