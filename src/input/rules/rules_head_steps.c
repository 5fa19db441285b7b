/* SPDX-License-Identifier: MIT */
/*
 * From a layout's pattern to steps: a set takes all the bytes that it can and
 * gives none back. What cannot be walked so is left out, where it is one of
 * several alternatives; else there are no steps.
 */

#include "input/rules/head_steps.h"

#include "input/rules/tree.h"

struct builder {
	struct arena *arena;
	struct head_step *steps;
	int32_t count;
	bool failed;
	bool dropped;		/* an alternative was left out: the message may end sooner */
	bool tailed;		/* what follows the message is known */
};

static struct head_step *add(struct builder *b, enum step_kind kind)
{
	if (b->count == HEAD_STEPS_MAX) {
		b->failed = true;
		b->count = 0;
	}
	b->steps[b->count].kind = kind;
	return &b->steps[b->count++];
}

static bool is_any(const struct tree *t)
{
	return t->kind == TREE_SET && t->least == 0 && t->most == TREE_NO_END && t->set[0] == ~(UINT64_C(1) << '\n') &&
	       (t->set[1] & t->set[2] & t->set[3]) == UINT64_MAX;
}

static void add_set(struct builder *b, const struct tree *t)
{
	bool *set = arena_array(b->arena, 256, sizeof *set);
	struct head_step *s;
	int byte = tree_only_byte(t);

	/* The second would take all, and give what follows nothing. */
	if (t->lazy || is_any(t)) {
		b->failed = true;
		return;
	}
	if (byte >= 0 && tree_is_once(t)) {
		add(b, STEP_BYTE)->byte = (unsigned char)byte;
		return;
	}
	for (unsigned c = 0; c < 256; c++)
		set[c] = tree_has(t, (unsigned char)c);
	s = add(b, STEP_SET);
	s->set = set;
	s->least = t->least;
	s->most = t->most;
}

static void add_tree(struct builder *b, const struct tree *t, bool last);

/* Whether nothing but "$" follows. */
static bool is_last(const struct tree *t, bool last)
{
	return last && (t->next == NULL || (t->next->kind == TREE_END && t->next->next == NULL));
}

static bool is_end(const struct tree *t)
{
	return t->kind == TREE_END && t->next == NULL;
}

/* A message of any bytes with something behind it. */
static bool is_tailed(const struct tree *t)
{
	return sv_eq(t->name, SV("body")) && t->kind == TREE_SEQUENCE && tree_is_once(t) && t->child != NULL &&
	       is_any(t->child) && !t->child->lazy && t->child->next == NULL && t->next != NULL;
}

/*
 * It and all behind it, in a sequence that ends with the line. What is behind it
 * begins with two bytes and ends with one, so that the places where it can
 * begin are few.
 */
static void add_tailed(struct builder *b, const struct tree *t) /* NOLINT(misc-no-recursion) */
{
	int32_t tail;

	add(b, STEP_BODY);
	tail = b->count;
	add(b, STEP_TAIL);
	for (const struct tree *c = t->next; c != NULL && !is_end(c) && !b->failed; c = c->next)
		add_tree(b, c, false);
	if (b->failed || b->count < tail + 4 || b->steps[tail + 1].kind != STEP_BYTE ||
	    b->steps[tail + 2].kind != STEP_BYTE || b->steps[b->count - 1].kind != STEP_BYTE) {
		b->failed = true;
		return;
	}
	b->steps[tail].byte = b->steps[b->count - 1].byte;
	b->tailed = true;
	add(b, STEP_END);
}

static void add_sequence(struct builder *b, const struct tree *t, bool last) /* NOLINT(misc-no-recursion) */
{
	bool is_time = sv_eq(t->name, SV("time")), is_body = sv_eq(t->name, SV("body")),
	     is_thread = sv_eq(t->name, SV("thread"));

	if (is_time)
		add(b, STEP_TIME_BEGIN);
	if (is_thread)
		add(b, STEP_THREAD_BEGIN);
	if (is_body)
		add(b, STEP_BODY);
	for (const struct tree *c = t->child; c != NULL && !b->failed; c = c->next) {
		if (last && is_tailed(c) && !is_last(c, last)) {
			add_tailed(b, c);
			return;
		}
		/* What is "last" is so for the pattern as a whole, whose own "$" stands at its end. */
		if (c->kind == TREE_END && last && c->next == NULL)
			add(b, STEP_END);
		else
			add_tree(b, c, is_last(c, last));
	}
	if (is_thread)
		add(b, STEP_THREAD_END);
	if (is_time)
		add(b, STEP_TIME_END);
}

/* An alternative that cannot be walked is left out. */
static void add_either(struct builder *b, const struct tree *t, bool last) /* NOLINT(misc-no-recursion) */
{
	int32_t jumps[COVER_MAX];
	size_t jump_count = 0;

	for (const struct tree *c = t->child; c != NULL && !b->failed; c = c->next) {
		int32_t choice = b->count;

		if (jump_count == COVER_MAX) {
			b->failed = true;
			return;
		}
		add(b, STEP_CHOICE);
		add_tree(b, c, last);
		if (b->failed && b->count < HEAD_STEPS_MAX) {
			b->failed = false;
			b->dropped = true;
			b->count = choice;
			continue;
		}
		jumps[jump_count++] = b->count;
		add(b, STEP_JUMP);
		b->steps[choice].to = b->count;
	}
	add(b, STEP_FAIL);
	for (size_t i = 0; i < jump_count; i++)
		b->steps[jumps[i]].to = b->count;
}

static void add_once(struct builder *b, const struct tree *t, bool last) /* NOLINT(misc-no-recursion) */
{
	if (t->kind == TREE_EITHER)
		add_either(b, t, last);
	else
		add_sequence(b, t, last);
}

/* Once or not at all, or any number of times and never by nothing: it is walked without a count. */
static bool is_repeatable(const struct tree *t)
{
	uint64_t first[4] = { 0 };
	struct tree once = { .kind = t->kind, .least = 1, .most = 1, .child = t->child };

	return t->least == 0 && (t->most == 1 || (t->most == TREE_NO_END && tree_first(&once, first)));
}

/* What cannot be walked: ends and assertions within, and all lazy but sets. */
static bool is_unwalkable(const struct tree *t)
{
	if (t->kind == TREE_END || t->kind == TREE_ASSERTION || (t->lazy && t->kind != TREE_SET))
		return true;
	return t->kind != TREE_SET && !tree_is_once(t) && !is_repeatable(t);
}

/* Depth is that of the pattern's groups, which the parser bounds. */
static void add_tree(struct builder *b, const struct tree *t, bool last) /* NOLINT(misc-no-recursion) */
{
	int32_t choice;

	if (t->kind == TREE_START)
		return;
	if (is_unwalkable(t)) {
		b->failed = true;
	} else if (last && is_any(t)) {
		add(b, STEP_REST);
	} else if (t->kind == TREE_SET) {
		add_set(b, t);
	} else if (tree_is_once(t)) {
		add_once(b, t, last);
	} else {
		choice = b->count;
		add(b, STEP_CHOICE);
		add_once(b, t, false);
		if (t->most != 1)
			add(b, STEP_JUMP)->to = choice;
		b->steps[choice].to = b->count;
	}
}

/* Whether what stands at the step may begin with a byte of the set. */
static bool meets(const struct head_step *steps, int32_t at, const bool *set, unsigned choices)
{
	for (;; at++) {
		const struct head_step *s = &steps[at];

		switch (s->kind) {
		case STEP_BYTE:
			return set[s->byte];
		case STEP_SET:
			for (unsigned c = 0; c < 256; c++)
				if (set[c] && s->set[c])
					return true;
			if (s->least > 0)
				return false;
			break;
		case STEP_CHOICE:
			if (choices == 0 || meets(steps, s->to, set, choices - 1)) /* NOLINT(misc-no-recursion) */
				return true;
			break;
		case STEP_JUMP:
			if (s->to <= at && choices-- == 0)
				return true;
			at = s->to - 1;
			break;
		case STEP_TAIL:
		case STEP_REST:
			return true;
		case STEP_END:
		case STEP_FAIL:
			return false;
		case STEP_TIME_BEGIN:
		case STEP_TIME_END:
		case STEP_THREAD_BEGIN:
		case STEP_THREAD_END:
		case STEP_BODY:
			break;
		}
	}
}

static void find_doubts(struct head_step *steps, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		if (steps[i].kind == STEP_SET && steps[i].least != steps[i].most)
			steps[i].doubtful = meets(steps, i + 1, steps[i].set, 8);
}

/* Whether another step leads there but the one before it. */
static bool is_led_to(const struct head_step *steps, int32_t count, int32_t at)
{
	for (int32_t i = 0; i < count; i++)
		if ((steps[i].kind == STEP_CHOICE || steps[i].kind == STEP_JUMP) && steps[i].to == at)
			return true;
	return false;
}

/* The two bytes before the message, if they are always the same. */
static void find_before(const struct head_step *steps, int32_t count, char before[2])
{
	int32_t body = 0;

	for (int32_t i = 0; i < count; i++) {
		if (steps[i].kind != STEP_BODY)
			continue;
		if (body != 0)
			return;
		body = i;
	}
	if (body < 2 || steps[body - 1].kind != STEP_BYTE || steps[body - 2].kind != STEP_BYTE ||
	    is_led_to(steps, count, body) || is_led_to(steps, count, body - 1))
		return;
	before[0] = (char)steps[body - 2].byte;
	before[1] = (char)steps[body - 1].byte;
}

struct head_step *head_steps(struct sv pattern, struct arena *a, struct head *h)
{
	struct builder b = { .arena = a, .steps = arena_array(a, HEAD_STEPS_MAX + 1, sizeof *b.steps) };
	const struct tree *t = tree_of(pattern, a);

	if (t == NULL || t->kind != TREE_SEQUENCE || t->child == NULL || t->child->kind != TREE_START)
		return NULL;
	add_tree(&b, t, true);
	add(&b, STEP_FAIL);
	if (b.failed)
		return NULL;
	find_doubts(b.steps, b.count);
	find_before(b.steps, b.count, h->before_body);
	for (int32_t i = 0; i < b.count; i++)
		b.steps[i].to -= i;
	h->body_to_end = !b.dropped && !b.tailed;
	h->has_parts = !b.dropped;
	return b.steps;
}
