/* SPDX-License-Identifier: MIT */
/*
 * Attempts become intents, intents with more than one effect duplicates, each
 * with its cause and the chain behind it. See analysis/duplicate.h and
 * method.md 7.
 */

#include "analysis/duplicate.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/rebalance_index.h"

/* So many payloads under one key are told apart; what has yet another is a conflict and no intent. */
#define PAYLOADS_MAX 16

static const char *const kind_names[] = {
	[DUPLICATE_DOUBLE_EFFECT] = "double_effect",
	[DUPLICATE_SUPPRESSED] = "suppressed",
	[DUPLICATE_RETRY] = "retry",
};

const char *duplicate_kind_name(enum duplicate_kind k)
{
	assert((size_t)k < sizeof kind_names / sizeof kind_names[0]);
	return kind_names[k];
}

struct work {
	struct cause_context causes;
	struct attempts *attempts;
	struct arena *arena;
	struct side_effects *out;
	size_t duplicate_capacity, conflict_capacity;
};

/* ---- one intent ---- */

/* One request that succeeded twice is one effect: told twice, or recognised by whom it was sent to. */
static bool is_request_of(const struct attempt *const *effects, size_t n, const struct attempt *t)
{
	if (sv_is_absent(t->request_id))
		return false;
	for (size_t i = 0; i < n; i++)
		if (sv_eq(effects[i]->request_id, t->request_id))
			return true;
	return false;
}

static int cmp_request(const void *x, const void *y)
{
	const struct attempt *p = *(const struct attempt *const *)x, *q = *(const struct attempt *const *)y;
	int order = sv_cmp(p->request_id, q->request_id);

	return order != 0 ? order : attempt_cmp_intent(x, y);
}

/* The same for very many: by sorting. */
static size_t distinct_requests(const struct attempt **effects, size_t n)
{
	size_t kept = 0;

	qsort(effects, n, sizeof(const struct attempt *), cmp_request);
	for (size_t i = 0; i < n; i++)
		if (sv_is_absent(effects[i]->request_id) || kept == 0 ||
		    !sv_eq(effects[kept - 1]->request_id, effects[i]->request_id))
			effects[kept++] = effects[i];
	qsort(effects, kept, sizeof(const struct attempt *), attempt_cmp_intent);
	return kept;
}

#define FEW_EFFECTS 32

/* The attempts that took effect, one for each request, in time order. */
static size_t effects_of(const struct attempt *const *attempts, size_t n, const struct attempt **effects)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (attempts[i]->took_effect && (count > FEW_EFFECTS || !is_request_of(effects, count, attempts[i])))
			effects[count++] = attempts[i];
	return count > FEW_EFFECTS ? distinct_requests(effects, count) : count;
}

static void count_attempts(struct side_effects *out, const struct attempt *const *attempts, size_t n, size_t effect_count)
{
	size_t took_effect = 0;

	for (size_t i = 0; i < n; i++) {
		took_effect += attempts[i]->took_effect;
		out->suppressed += attempts[i]->outcome == OUTCOME_DUPLICATE || attempts[i]->outcome == OUTCOME_SKIPPED;
		out->retries += attempts[i]->outcome == OUTCOME_FAILED && i + 1 < n;
		out->unknown += attempts[i]->outcome == OUTCOME_UNKNOWN;
	}
	out->suppressed += took_effect - effect_count;
}

/* The first jitter window that the root of the rebalance lies in, where it is laid to the network. */
static unsigned window_behind(const struct rebalances *r, unsigned rebalance)
{
	const struct rebalance *one = rebalances_get(r, rebalance);
	const struct rebalance *root = one == NULL ? NULL : rebalances_get(r, one->root);

	if (root == NULL || root->window_count == 0)
		return 0;
	if (root->attribution != ATTRIBUTION_EXPLAINED && root->attribution != ATTRIBUTION_LAGGED &&
	    root->attribution != ATTRIBUTION_AMBIGUOUS)
		return 0;
	return root->windows[0]->id;
}

static void sum_amounts(struct duplicate *d, const struct attempt *const *effects)
{
	for (size_t i = 1; i < d->effects; i++) {
		if (!effects[i]->has_amount)
			continue;
		d->has_amount = true;
		d->amount_micros = amount_add(d->amount_micros, effects[i]->amount_micros);
		if (sv_is_absent(d->currency))
			d->currency = effects[i]->currency;
	}
}

static void add_duplicate(struct work *w, const struct attempt *const *attempts, size_t n,
			  const struct attempt *const *effects, size_t effect_count)
{
	struct duplicate *d = ARENA_PUSH(w->arena, w->out->duplicates, w->out->duplicate_count, w->duplicate_capacity);

	*d = (struct duplicate){ .business_key = attempts[0]->operation, .step = attempts[0]->step,
				 .version = attempts[0]->version, .kind = DUPLICATE_DOUBLE_EFFECT,
				 .effects = effect_count, .attempt_count = n };
	d->attempts = arena_array(w->arena, n, sizeof(const struct attempt *));
	for (size_t i = 0; i < n; i++)
		d->attempts[i] = attempts[i];
	for (size_t i = 1; i < effect_count; i++) {
		struct cause_link link = cause_of(&w->causes, effects, i);
		d->extra_by_cause[link.cause]++;
		if (i == 1) {
			d->cause = link.cause;
			d->rebalance = link.rebalance;
			d->redelivery = link.redelivery;
		}
	}
	d->window = window_behind(w->causes.rebalances, d->rebalance);
	d->second_effect = effects[1];
	sum_amounts(d, effects);
}

/* attempts: of one intent and payload, in time order. scratch: room for n. */
static void take_intent(struct work *w, const struct attempt *const *attempts, size_t n, const struct attempt **scratch)
{
	size_t effect_count = effects_of(attempts, n, scratch);

	w->out->intents++;
	for (size_t i = 0; i < n; i++)
		w->attempts->items[attempts[i] - w->attempts->items].intent = w->out->intents;
	count_attempts(w->out, attempts, n, effect_count);
	if (effect_count > 1)
		add_duplicate(w, attempts, n, scratch, effect_count);
}

/* ---- payloads ---- */

static size_t payload_of(const struct attempt *const *representatives, size_t count, const struct attempt *t)
{
	size_t i = 0;

	while (i < count && !attempt_same_payload(representatives[i], t))
		i++;
	return i;
}

/* Whether t tells all of the payload that known tells, and more. */
static bool tells_more(const struct attempt *t, const struct attempt *known)
{
	return (t->has_amount || !known->has_amount) &&
	       (!sv_is_absent(t->fingerprint) || sv_is_absent(known->fingerprint)) &&
	       (t->has_amount != known->has_amount || sv_is_absent(t->fingerprint) != sv_is_absent(known->fingerprint));
}

static void add_conflict(struct work *w, const struct attempt *first, const struct attempt *other)
{
	*ARENA_PUSH(w->arena, w->out->conflicts, w->out->conflict_count, w->conflict_capacity) =
		(struct key_conflict){ .business_key = first->operation, .step = first->step, .first = first, .other = other };
}

/*
 * attempts: all of one key, step and version. Those with another payload than
 * the first are another intent that was given the same key. both: room for 2n.
 */
static void split_payloads(struct work *w, const struct attempt *const *attempts, size_t n, const struct attempt **both)
{
	const struct attempt *representatives[PAYLOADS_MAX];
	const struct attempt **mine = both, **scratch = both + n;
	size_t payloads = 0, taken = 0;

	for (size_t i = 0; i < n; i++) {
		size_t p = payload_of(representatives, payloads, attempts[i]);
		if (p < payloads && tells_more(attempts[i], representatives[p]))
			representatives[p] = attempts[i];
		else if (p == payloads && payloads < PAYLOADS_MAX)
			representatives[payloads++] = attempts[i];
	}
	for (size_t p = 1; p < payloads; p++)
		add_conflict(w, representatives[0], representatives[p]);
	for (size_t p = 0; p < payloads; p++) {
		size_t count = 0;
		for (size_t i = 0; i < n; i++)
			if (payload_of(representatives, payloads, attempts[i]) == p)
				mine[count++] = attempts[i];
		take_intent(w, mine, count, scratch);
		taken += count;
	}
	w->out->unknown += n - taken;
}

static void take_intents(struct work *w, const struct attempt *const *order, size_t count)
{
	const struct attempt **both = arena_array(w->arena, count, 2 * sizeof(const struct attempt *));

	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && attempt_same_intent(order[i], order[end]); end++)
			;
		split_payloads(w, order + i, end - i, both);
	}
}

/* ---- totals ---- */

static int cmp_duplicate(const void *x, const void *y)
{
	const struct attempt *p = ((const struct duplicate *)x)->second_effect, *q = ((const struct duplicate *)y)->second_effect;

	if (p->time.us != q->time.us)
		return p->time.us < q->time.us ? -1 : 1;
	return (p->evidence.event > q->evidence.event) - (p->evidence.event < q->evidence.event);
}

static int cmp_by_step(const void *x, const void *y)
{
	const struct duplicate *p = *(const struct duplicate *const *)x, *q = *(const struct duplicate *const *)y;
	int order;

	if ((order = sv_cmp(p->step, q->step)) != 0)
		return order;
	return sv_cmp(p->currency, q->currency);
}

void duplicates_amounts(const struct duplicate *const *duplicates, size_t count, struct arena *a,
			struct amount_total **totals, size_t *total_count)
{
	const struct duplicate **order = arena_array(a, count, sizeof(const struct duplicate *));
	size_t n = 0, capacity = 0;

	*totals = NULL;
	*total_count = 0;
	for (size_t i = 0; i < count; i++)
		if (duplicates[i]->has_amount)
			order[n++] = duplicates[i];
	qsort(order, n, sizeof(const struct duplicate *), cmp_by_step);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || cmp_by_step(&order[i - 1], &order[i]) != 0)
			*ARENA_PUSH(a, *totals, *total_count, capacity) =
				(struct amount_total){ .step = order[i]->step, .currency = order[i]->currency };
		struct amount_total *total = &(*totals)[*total_count - 1];
		total->micros = amount_add(total->micros, order[i]->amount_micros);
		total->count++;
	}
}

static void count_steps(struct side_effects *out, const struct duplicate **order, struct arena *a)
{
	size_t capacity = 0;

	qsort(order, out->duplicate_count, sizeof(const struct duplicate *), cmp_by_step);
	for (size_t i = 0; i < out->duplicate_count; i++) {
		if (i == 0 || !sv_eq(order[i - 1]->step, order[i]->step))
			*ARENA_PUSH(a, out->by_step, out->by_step_count, capacity) = (struct step_count){ .step = order[i]->step };
		out->by_step[out->by_step_count - 1].count++;
	}
}

static void total(struct side_effects *out, struct arena *a)
{
	const struct duplicate **order = arena_array(a, out->duplicate_count, sizeof(const struct duplicate *));

	if (out->duplicate_count == 0)
		return;
	qsort(out->duplicates, out->duplicate_count, sizeof *out->duplicates, cmp_duplicate);
	for (size_t i = 0; i < out->duplicate_count; i++) {
		out->duplicates[i].id = (unsigned)i + 1;
		out->by_cause[out->duplicates[i].cause]++;
		order[i] = &out->duplicates[i];
	}
	count_steps(out, order, a);
	duplicates_amounts(order, out->duplicate_count, a, &out->amounts, &out->amount_count);
}

/* ---- all together ---- */

/* Those of which the operation is known, by intent. */
static const struct attempt **by_intent(const struct attempts *t, struct arena *a, size_t *count)
{
	const struct attempt **order = arena_array(a, t->count, sizeof(const struct attempt *));

	*count = 0;
	for (size_t i = 0; i < t->count; i++)
		if (!sv_is_absent(t->items[i].operation))
			order[(*count)++] = &t->items[i];
	if (*count > 0)
		qsort(order, *count, sizeof(const struct attempt *), attempt_cmp_intent);
	return order;
}

int duplicates_find(struct store *s, const struct clocks *c, const struct groups *g, const struct windows *w,
		    const struct analysis_options *o, struct arena *a, struct rebalances *r, struct side_effects *out)
{
	struct attempts attempts;
	struct grants grants;
	struct redeliveries redeliveries;
	struct owed_steps lost;
	struct books books;
	struct work work = { .attempts = &attempts, .arena = a, .out = out };
	const struct attempt **order;
	size_t count;

	(void)w;
	(void)o;
	*out = (struct side_effects){ 0 };
	rebalances_index(r, a);
	if (attempts_load(s, c, a, &attempts) < 0 || grants_find(s, c, g, r, &attempts, a, &grants) < 0 ||
	    redeliveries_find(s, c, g, r, &attempts, &grants, a, &redeliveries) < 0 ||
	    partitions_moved_find(s, c, &grants, &redeliveries, a, r) < 0)
		return -1;
	work.causes = (struct cause_context){ .groups = g, .rebalances = r, .attempts = &attempts, .grants = &grants,
					      .redeliveries = &redeliveries, .longest_batch_us = cause_longest_batch_us(g) };
	order = by_intent(&attempts, a, &count);
	take_intents(&work, order, count);
	total(out, a);
	lost_find(order, count, a, &lost);
	if (books_find(s, c, out->duplicates, out->duplicate_count, a, &books) < 0)
		return -1;
	out->records = attempts.records;
	out->attempts = attempts.items;
	out->attempt_count = attempts.count;
	out->runs = attempts.runs;
	out->run_count = attempts.run_count;
	out->redeliveries = redeliveries.items;
	out->redelivery_count = redeliveries.count;
	out->lost = lost.items;
	out->lost_count = lost.count;
	out->books = books.pairs;
	out->book_count = books.count;
	return 0;
}
