/* SPDX-License-Identifier: MIT */
/*
 * Layouts walked by hand: the steps are those of the pattern, in which a set
 * takes all the bytes that it can and gives none back. Where they succeed the
 * pattern matches, with the same parts; where they fail it may match yet.
 */

#include "input/rules/head.h"

#include <assert.h>
#include <string.h>

#include "input/rules/rules_set.h"
#include "input/rules/tree.h"

#define STEPS_MAX 256
/* A line that needs more choices than these is left to its pattern. */
#define CHOICES_MAX 32

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

/* ---- from the pattern to steps ---- */

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
	if (b->count == STEPS_MAX) {
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
	if (b->failed || b->count < tail + 4 || b->steps[tail + 1].kind != STEP_BYTE || b->steps[tail + 2].kind != STEP_BYTE ||
	    b->steps[b->count - 1].kind != STEP_BYTE) {
		b->failed = true;
		return;
	}
	b->steps[tail].byte = b->steps[b->count - 1].byte;
	b->tailed = true;
	add(b, STEP_END);
}

static void add_sequence(struct builder *b, const struct tree *t, bool last) /* NOLINT(misc-no-recursion) */
{
	bool is_time = sv_eq(t->name, SV("time")), is_body = sv_eq(t->name, SV("body")), is_thread = sv_eq(t->name, SV("thread"));

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
		if (b->failed && b->count < STEPS_MAX) {
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

/* NULL when the pattern is not plain enough. */
static struct head_step *steps_of(struct sv pattern, struct arena *a, struct head *h)
{
	struct builder b = { .arena = a, .steps = arena_array(a, STEPS_MAX + 1, sizeof *b.steps) };
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

/* ---- the walk ---- */

/* What a walk over a line that is known finds out. */
struct trace {
	const char *time_begin, *time_end;
	const char *furthest;		/* the last byte that was looked at before the time's end */
	const struct head_step *behind;	/* the step after the time */
	bool uneven;			/* a set before the time's end has some digits and not others */
};

struct walk {
	const char *end;	/* of the line */
	unsigned choices;
	bool doubt;		/* a set that took more than it must might have to give back */
	const char *thread, *thread_end;	/* NULL before it was passed */
	const char *body_end;	/* NULL: the end of the line */
};

static void trace_step(struct trace *t, const struct head_step *s, const char *p)
{
	unsigned digits = 0;

	if (t->time_end != NULL)
		return;
	if (p > t->furthest)
		t->furthest = p;
	for (unsigned c = '0'; c <= '9'; c++)
		digits += s->kind == STEP_SET ? s->set[c] : s->kind == STEP_BYTE && s->byte == c;
	t->uneven |= digits != 0 && digits != 10;
}

/* Four at a time: most sets go on for long. */
static inline const char *pass_set(const char *p, const char *end, const bool *set)
{
	const unsigned char *at = (const unsigned char *)p;

	while (end - (const char *)at >= 4 && (set[at[0]] & set[at[1]] & set[at[2]] & set[at[3]]) != 0)
		at += 4;
	while ((const char *)at < end && set[*at])
		at++;
	return (const char *)at;
}

static const char *walk(struct walk *w, const struct head_step *s, const char *p, const char *body, struct trace *trace);

/* What a branch that fails has said of the time is forgotten. */
static const char *walk_traced(struct walk *w, const struct head_step *s, const char *p, const char *body,
			       struct trace *trace) /* NOLINT(misc-no-recursion) */
{
	struct trace kept = *trace;
	const char *found = walk(w, s, p, body, trace);

	if (found == NULL) {
		kept.furthest = trace->furthest;
		kept.uneven = trace->uneven;
		*trace = kept;
	}
	return found;
}

/* Places at which what is behind a message may begin: those that are tried, from the last. */
#define TAILS_MAX 4

static const char *walk_tail(struct walk *w, const struct head_step *s, const char *body, struct trace *trace) /* NOLINT(misc-no-recursion) */
{
	unsigned tries = TAILS_MAX;

	if (w->end == body || (unsigned char)w->end[-1] != s->byte)
		return NULL;
	for (const char *p = w->end - 1; p-- > body;) {
		if ((unsigned char)p[0] != s[1].byte || (unsigned char)p[1] != s[2].byte)
			continue;
		if (tries-- == 0) {
			w->doubt = true;
			return NULL;
		}
		if (walk(w, s + 1, p, body, trace) != NULL) {
			w->body_end = p;
			return body;
		}
		if (w->doubt)
			return NULL;
	}
	return NULL;
}

/* The start of the message (or of the line's rest, when no group is it); NULL when it fails. */
static const char *walk(struct walk *w, const struct head_step *s, const char *p, const char *body,
			       struct trace *trace) /* NOLINT(misc-no-recursion) */
{
	assert(p != NULL && w->end != NULL);
	for (;; s++) {
		const char *from = p, *most;

		switch (s->kind) {
		case STEP_BYTE:
			if (trace != NULL)
				trace_step(trace, s, p);
			if (p == w->end || (unsigned char)*p != s->byte)
				return NULL;
			p++;
			break;
		case STEP_SET:
			most = (size_t)(w->end - p) < s->most ? w->end : p + s->most;
			p = pass_set(p, most, s->set);
			if (trace != NULL)
				trace_step(trace, s, p < from + s->most || s->most == TREE_NO_END ? p : p - 1);
			if ((size_t)(p - from) < s->least)
				return NULL;
			w->doubt |= s->doubtful && (size_t)(p - from) > s->least;
			break;
		case STEP_CHOICE: {
			const char *found = NULL, *thread = w->thread, *thread_end = w->thread_end;
			bool doubt = w->doubt;

			/* Most choices are settled by the next byte. */
			if (trace == NULL && s[1].kind == STEP_BYTE && (p == w->end || (unsigned char)*p != s[1].byte)) {
				s += s->to - 1;
				break;
			}
			if (w->choices == 0) {
				w->doubt = true;
				return NULL;
			}
			w->choices--;
			w->doubt = false;
			found = trace != NULL ? walk_traced(w, s + 1, p, body, trace) : walk(w, s + 1, p, body, NULL);
			if (found != NULL)
				return found;
			/* Another way through what failed may be there: then it comes before what follows. */
			if (w->doubt)
				return NULL;
			w->doubt = doubt;
			w->thread = thread;
			w->thread_end = thread_end;
			s += s->to - 1;
			break;
		}
		case STEP_JUMP:
			s += s->to - 1;
			break;
		case STEP_TIME_BEGIN:
			if (trace != NULL)
				trace->time_begin = p;
			break;
		case STEP_TIME_END:
			if (trace != NULL) {
				trace->time_end = p;
				trace->behind = s + 1;
			}
			break;
		case STEP_THREAD_BEGIN:
			w->thread = p;
			break;
		case STEP_THREAD_END:
			w->thread_end = p;
			break;
		case STEP_BODY:
			body = p;
			break;
		case STEP_TAIL:
			return walk_tail(w, s, p, trace);
		case STEP_REST:
			return body != NULL ? body : p;
		case STEP_END:
			return p == w->end ? (body != NULL ? body : p) : NULL;
		case STEP_FAIL:
			return NULL;
		}
	}
}

/* ---- heads ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What lines that the walk begins with this one have in common. False when it is no shape of a fixed length. */
static bool take_shape(struct head *h, struct sv line, const struct trace *t)
{
	size_t bytes = (size_t)(t->time_end - line.p), looked_at = (size_t)(t->furthest - line.p) + 1;

	h->time_at = (size_t)(t->time_begin - line.p);
	h->time_bytes = bytes - h->time_at;
	h->shape_bytes = bytes > looked_at ? bytes : looked_at;
	if (h->shape_bytes > HEAD_SHAPE_MAX || h->shape_bytes > line.n)
		return false;
	memset(h->shape, 0, sizeof h->shape);
	for (size_t i = 0; i < h->shape_bytes; i++)
		h->shape[i] = is_digit(line.p[i]) ? '0' : line.p[i];
	return true;
}

static size_t groups_of(const struct layout *layout, enum layout_part part)
{
	size_t n = 0;

	while (n < PART_GROUPS_MAX && layout->groups[part][n] != 0)
		n++;
	return n;
}

/*
 * Whether the walk finds the parts: each is in one place alone. A message may be
 * in two, when the first of them is all to the end of the line: they are of two
 * alternatives then.
 */
static bool finds_parts(const struct layout *layout, const struct head_step *from, const struct head_step *end)
{
	size_t threads = 0, bodies = 0, tails = 0;

	for (const struct head_step *s = from; s < end; s++) {
		threads += s->kind == STEP_THREAD_END;
		bodies += s->kind == STEP_BODY;
		tails += s->kind == STEP_TAIL && bodies == 1;
	}
	return bodies >= 1 && bodies <= 1 + tails && groups_of(layout, PART_BODY) == bodies && threads <= 1 &&
	       groups_of(layout, PART_THREAD) == threads;
}

struct head *head_of(const struct rules *r, struct sv line, struct arena *a)
{
	struct head *h = arena_alloc(a, sizeof *h);
	struct arena *record = arena_new();
	struct walk w = { .end = line.p + line.n, .choices = CHOICES_MAX };
	struct trace t = { .furthest = line.p };
	struct log_record fitted;
	const struct layout *layout;
	const struct head_step *steps;
	const char *body;
	int hint = -1;
	bool fits = rules_layout(r, line, (struct zone){ 0 }, &hint, record, &fitted);

	arena_free(record);
	layout = fits ? r->layouts[hint] : NULL;
	if (layout == NULL || layout->line == NULL || sv_is_absent(layout->time))
		return NULL;
	steps = steps_of(layout->source, a, h);
	body = steps != NULL ? walk(&w, steps, line.p, NULL, &t) : NULL;
	/* A message that holds its time begins before it: the steps behind the time know nothing of it. */
	if (body == NULL || t.time_end == NULL || t.time_begin == NULL || t.uneven || body < t.time_end)
		return NULL;
	h->between_bytes = (size_t)(body - t.time_end);
	h->layout = hint;
	h->time_layout = layout->time;
	h->steps = t.behind;
	h->is_first = layout_rivals(r, (size_t)hint)->count == 0;
	h->has_level = groups_of(layout, PART_LEVEL) > 0;
	h->has_parts = h->has_parts && finds_parts(layout, h->steps, steps + STEPS_MAX);
	return take_shape(h, line, &t) ? h : NULL;
}

bool head_fits(const struct head *h, const char *line, const char *end, const char **body)
{
	struct walk w = { .end = end, .choices = CHOICES_MAX };

	*body = walk(&w, h->steps, line + h->time_at + h->time_bytes, NULL, NULL);
	return *body != NULL;
}

bool head_parts(const struct head *h, const char *line, const char *end, struct head_parts *out)
{
	struct walk w = { .end = end, .choices = CHOICES_MAX };
	const char *body = h->has_parts ? walk(&w, h->steps, line + h->time_at + h->time_bytes, NULL, NULL) : NULL;

	if (body == NULL)
		return false;
	out->thread = w.thread != NULL && w.thread_end != NULL ? (struct sv){ w.thread, (size_t)(w.thread_end - w.thread) } : SV_ABSENT;
	out->body = (struct sv){ body, (size_t)((w.body_end != NULL ? w.body_end : end) - body) };
	return true;
}
