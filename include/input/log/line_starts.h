/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_LINE_STARTS_H
#define AFTERSHOCK_INPUT_LOG_LINE_STARTS_H

/*
 * Whether texts are no lines of any layout, where many of them begin alike: of
 * each start it is found out once which layouts it leaves, and the text is tried
 * by these alone. Unlike head_is_none it is always certain.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "input/rules/head.h"
#include "input/rules/rules.h"

#define LINE_START_BYTES 8
#define LINE_STARTS_LOG2 12

struct line_start;
struct line_starts {
	const struct rules *rules;
	const struct head_none *none;
	/* Of each layout one that stands in all its lines, and the byte of it that is looked for; empty when that is not known. */
	struct line_literal {
		struct sv text;
		size_t rarest;
	} *literals;
	struct line_start *items;	/* by a hash of their bytes: one that comes later takes the place */
};
/* none: of these rules. sample: what the texts are like. */
void line_starts_init(struct line_starts *s, const struct rules *r, const struct head_none *none, struct sv sample, struct arena *a);
/* Whether no layout of lines of text fits it. */
bool line_starts_fit_none(struct line_starts *s, struct sv text);

#endif
