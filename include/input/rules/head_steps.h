/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_HEAD_STEPS_H
#define AFTERSHOCK_INPUT_RULES_HEAD_STEPS_H

/*
 * A layout's pattern as steps from left to right: made by rules_head_steps.c,
 * walked by rules_head.c, and nobody else's business.
 */

#include "input/rules/head.h"

#define HEAD_STEPS_MAX 256

/* What a step does. */
enum step_kind {
	STEP_BYTE,
	STEP_SET,
	STEP_CHOICE,	/* what follows, or else at "to" */
	STEP_JUMP,
	STEP_TIME_BEGIN,
	STEP_TIME_END,
	STEP_THREAD_BEGIN,
	STEP_THREAD_END,
	STEP_BODY,	/* the message begins */
	STEP_TAIL,	/* it takes all that it can and leaves what the next steps want, to the end of the line */
	STEP_REST,	/* whatever follows fits */
	STEP_END,	/* of the line */
	STEP_FAIL,
};

struct head_step {
	enum step_kind kind;
	unsigned char byte;
	bool doubtful;		/* of a set: what follows may begin with bytes of the set too */
	uint32_t least, most;
	const bool *set;	/* 256 */
	int32_t to;		/* so many steps on or back; while they are made: which step */
};

/*
 * The steps of a pattern, HEAD_STEPS_MAX and one at most, and what the head has
 * of them alone: before_body, body_to_end, has_parts. NULL when the pattern is
 * not plain enough.
 */
struct head_step *head_steps(struct sv pattern, struct arena *a, struct head *h);

#endif
