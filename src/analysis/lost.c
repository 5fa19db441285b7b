/* SPDX-License-Identifier: MIT */
/* Steps owed and never done. See analysis/lost.h and method.md 7. */

#include "analysis/lost.h"

#include <stdlib.h>

#include "base/order.h"

/* A step that fewer operations have than this is no part of what they owe. */
#define USUAL_PERCENT 50
/* An operation whose last attempt is so near the end of the evidence may have been in progress. */
#define IN_PROGRESS_US (5 * US_PER_S)

/* One step of one operation. */
struct done_step {
	struct sv operation, topic, step;
	bool took_effect;	/* by an attempt in the evidence */
	bool settled;		/* or the called system had it already, or its outcome is not known */
	bool recognised;	/* or the caller took it for done and did not call */
};

struct operation {
	struct sv key, topic;
	size_t first, end;	/* its steps */
	bool took_effect;	/* any step did */
	/*
	 * Its first attempt did not recognise anything: it began within the evidence. A step
	 * that was only ever taken for done (a key that stands for the whole operation) is owed then.
	 */
	bool began_here;
	struct ref_time first_time, last;
};

struct usual_step {
	struct sv topic, step;
};

struct work {
	struct done_step *steps;
	size_t step_count, step_capacity;
	struct operation *operations;
	size_t operation_count, operation_capacity;
	struct usual_step *usual;	/* by topic, then step */
	size_t usual_count, usual_capacity;
	struct ref_time end;
	struct arena *arena;
};

static void add_step(struct work *w, struct operation *op, const struct attempt *t)
{
	struct done_step *s = w->step_count > op->first ? &w->steps[w->step_count - 1] : NULL;

	if (s == NULL || !sv_eq(s->step, t->step)) {
		s = ARENA_PUSH(w->arena, w->steps, w->step_count, w->step_capacity);
		*s = (struct done_step){ .operation = t->operation, .topic = op->topic, .step = t->step };
	}
	s->took_effect = s->took_effect || t->took_effect;
	s->settled = s->settled || (t->outcome != OUTCOME_FAILED && t->outcome != OUTCOME_SKIPPED);
	s->recognised = s->recognised || t->outcome == OUTCOME_SKIPPED;
	if (t->time.us < op->first_time.us) {
		op->first_time = t->time;
		op->began_here = t->outcome != OUTCOME_SKIPPED && t->outcome != OUTCOME_DUPLICATE;
	}
	op->took_effect = op->took_effect || t->took_effect;
	op->end = w->step_count;
	if (t->time.us > op->last.us)
		op->last = t->time;
	if (t->time.us > w->end.us)
		w->end = t->time;
}

static void gather(struct work *w, const struct attempt *const *order, size_t count)
{
	struct operation *op = NULL;

	for (size_t i = 0; i < count; i++) {
		if (op == NULL || !sv_eq(op->key, order[i]->operation)) {
			op = ARENA_PUSH(w->arena, w->operations, w->operation_count, w->operation_capacity);
			*op = (struct operation){ .key = order[i]->operation, .topic = order[i]->topic,
						  .first = w->step_count, .first_time = { INT64_MAX },
						  .last = order[i]->time };
		}
		add_step(w, op, order[i]);
	}
}

static int cmp_topic_step(const void *x, const void *y)
{
	const struct done_step *p = *(const struct done_step *const *)x, *q = *(const struct done_step *const *)y;
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = sv_cmp(p->step, q->step)) != 0)
		return order;
	return sv_cmp(p->operation, q->operation);
}

static int cmp_topic(const void *x, const void *y)
{
	return sv_cmp(*(const struct sv *)x, *(const struct sv *)y);
}

/* The topics of all operations that took effect, sorted: as often as there are operations. */
static struct sv *topics_of(struct work *w, size_t *count)
{
	struct sv *topics = arena_array(w->arena, w->operation_count, sizeof *topics);

	*count = 0;
	for (size_t i = 0; i < w->operation_count; i++)
		if (w->operations[i].took_effect)
			topics[(*count)++] = w->operations[i].topic;
	qsort(topics, *count, sizeof *topics, cmp_topic);
	return topics;
}

static void find_usual(struct work *w)
{
	const struct done_step **order = arena_array(w->arena, w->step_count, sizeof(const struct done_step *));
	size_t topic_count, n = 0, at = 0, operations = 0;
	struct sv *topics = topics_of(w, &topic_count);

	for (size_t i = 0; i < w->step_count; i++)
		if (w->steps[i].took_effect && !sv_is_absent(w->steps[i].step))
			order[n++] = &w->steps[i];
	qsort(order, n, sizeof(const struct done_step *), cmp_topic_step);
	for (size_t i = 0, end; i < n; i = end) {
		struct sv topic = order[i]->topic;
		for (end = i + 1; end < n && sv_eq(order[end]->topic, topic) && sv_eq(order[end]->step, order[i]->step); end++)
			;
		if (i == 0 || !sv_eq(order[i - 1]->topic, topic)) {
			for (; at < topic_count && sv_cmp(topics[at], topic) < 0; at++)
				;
			for (operations = 0; at < topic_count && sv_eq(topics[at], topic); at++)
				operations++;
		}
		if ((end - i) * 100 >= operations * USUAL_PERCENT)
			*ARENA_PUSH(w->arena, w->usual, w->usual_count, w->usual_capacity) =
				(struct usual_step){ topic, order[i]->step };
	}
}

static int cmp_topic_usual(const void *topic, const void *usual)
{
	return sv_cmp(*(const struct sv *)topic, ((const struct usual_step *)usual)->topic);
}

static size_t first_usual(const struct work *w, struct sv topic)
{
	return order_lower_bound(&topic, w->usual, w->usual_count, sizeof *w->usual, cmp_topic_usual);
}

static bool is_settled(const struct work *w, const struct operation *op, struct sv step)
{
	for (size_t i = op->first; i < op->end; i++)
		if (sv_eq(w->steps[i].step, step))
			return w->steps[i].settled || (w->steps[i].recognised && !op->began_here);
	return false;
}

void lost_find(const struct attempt *const *order, size_t count, struct arena *a, struct owed_steps *out)
{
	struct work w = { .arena = a, .end = { INT64_MIN } };

	*out = (struct owed_steps){ 0 };
	gather(&w, order, count);
	if (count == 0)
		return;
	find_usual(&w);
	for (size_t i = 0; i < w.operation_count; i++) {
		const struct operation *op = &w.operations[i];
		if (!op->took_effect || w.end.us - op->last.us < IN_PROGRESS_US)
			continue;
		for (size_t u = first_usual(&w, op->topic); u < w.usual_count && sv_eq(w.usual[u].topic, op->topic); u++)
			if (!is_settled(&w, op, w.usual[u].step))
				*ARENA_PUSH(a, out->items, out->count, out->capacity) =
					(struct owed_step){ op->key, w.usual[u].step };
	}
}
