/* SPDX-License-Identifier: MIT */
/*
 * Layouts walked by hand, by the steps of their patterns. Where the walk
 * succeeds the pattern matches, with the same parts; where it fails it may
 * match yet.
 */

#include "input/rules/head.h"

#include <assert.h>
#include <string.h>

#include "input/rules/head_steps.h"
#include "input/rules/rules_set.h"
#include "input/rules/tree.h"

/* A line that needs more choices than these is left to its pattern. */
#define CHOICES_MAX 32

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

static const char *walk(struct walk *w, const struct head_step *s, const char *p, const char *body,
			struct trace *trace);

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
			if (trace == NULL && s[1].kind == STEP_BYTE &&
			    (p == w->end || (unsigned char)*p != s[1].byte)) {
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
	steps = head_steps(layout->source, a, h);
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
	h->has_parts = h->has_parts && finds_parts(layout, h->steps, steps + HEAD_STEPS_MAX);
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
