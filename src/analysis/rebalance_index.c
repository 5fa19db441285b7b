/* SPDX-License-Identifier: MIT */
/* Which rebalance a moment, a generation or two effects belong to. See analysis/rebalance_index.h. */

#include "analysis/rebalance_index.h"

#include <assert.h>
#include <stdlib.h>

#include "base/order.h"

/* ---- orders: ties as the rebalances stand ---- */

static int by_place(const struct rebalance *x, const struct rebalance *y)
{
	return (x > y) - (x < y);
}

static int by_start(const void *x, const void *y)
{
	const struct rebalance *a = *(const struct rebalance *const *)x, *b = *(const struct rebalance *const *)y;
	int order = order_i64(a->span.start.us, b->span.start.us);

	return order != 0 ? order : by_place(a, b);
}

static int by_group_and_start(const void *x, const void *y)
{
	const struct rebalance *a = *(const struct rebalance *const *)x, *b = *(const struct rebalance *const *)y;
	int order = sv_cmp(a->group, b->group);

	return order != 0 ? order : by_start(x, y);
}

static int by_generation(const void *x, const void *y)
{
	const struct rebalance *a = *(const struct rebalance *const *)x, *b = *(const struct rebalance *const *)y;
	int order = sv_cmp(a->group, b->group);

	if (order == 0)
		order = order_i64(a->generation, b->generation);
	return order != 0 ? order : by_place(a, b);
}

static int by_end(const void *x, const void *y)
{
	const struct rebalance *a = *(const struct rebalance *const *)x, *b = *(const struct rebalance *const *)y;
	int order = order_i64(a->span.end.us, b->span.end.us);

	return order != 0 ? order : by_place(a, b);
}

static const struct rebalance **sorted(const struct rebalance **items, size_t n, int (*order)(const void *, const void *))
{
	if (n > 1)
		qsort(items, n, sizeof(const struct rebalance *), order);
	return items;
}

static const struct rebalance **all_of(const struct rebalances *r, struct arena *a)
{
	const struct rebalance **items = arena_array(a, r->count, sizeof(const struct rebalance *));

	for (size_t i = 0; i < r->count; i++)
		items[i] = &r->items[i];
	return items;
}

void rebalances_index(struct rebalances *r, struct arena *a)
{
	struct rebalance_index *ix = arena_alloc(a, sizeof *ix);

	ix->by_start = sorted(all_of(r, a), r->count, by_start);
	ix->by_group = sorted(all_of(r, a), r->count, by_group_and_start);
	ix->by_end = sorted(all_of(r, a), r->count, by_end);
	ix->by_generation = arena_array(a, r->count, sizeof(const struct rebalance *));
	for (size_t i = 0; i < r->count; i++) {
		if (r->items[i].has_generation && !r->items[i].empties_group)
			ix->by_generation[ix->generation_count++] = &r->items[i];
	}
	sorted(ix->by_generation, ix->generation_count, by_generation);
	r->index = ix;
}

/* ---- questions: places where a key would stand ---- */

struct moment {
	struct sv group;
	struct ref_time time;
};

/* Behind those that began at the time. */
static int compare_starts(const void *key, const void *item)
{
	const struct moment *m = key;
	const struct rebalance *r = *(const struct rebalance *const *)item;

	return r->span.start.us <= m->time.us ? 1 : -1;
}

static int compare_group_starts(const void *key, const void *item)
{
	const struct moment *m = key;
	int order = sv_cmp(m->group, (*(const struct rebalance *const *)item)->group);

	return order != 0 ? order : compare_starts(key, item);
}

unsigned rebalance_begun(const struct rebalances *r, struct sv group, struct ref_time t)
{
	const struct moment key = { group, t };
	const bool of_any = sv_is_absent(group);
	size_t at;

	assert(r->count == 0 || r->index != NULL);
	if (r->count == 0)
		return 0;
	const struct rebalance **order = of_any ? r->index->by_start : r->index->by_group;
	at = order_lower_bound(&key, order, r->count, sizeof *order, of_any ? compare_starts : compare_group_starts);
	return at > 0 && (of_any || sv_eq(order[at - 1]->group, group)) ? order[at - 1]->id : 0;
}

struct generation {
	struct sv group;
	int64_t number;
};

static int compare_generations(const void *key, const void *item)
{
	const struct generation *g = key;
	const struct rebalance *r = *(const struct rebalance *const *)item;
	int order = sv_cmp(g->group, r->group);

	return order != 0 ? order : order_i64(g->number, r->generation);
}

unsigned rebalance_of_generation(const struct rebalances *r, struct sv group, int64_t generation, struct ref_time t)
{
	const struct generation key = { group, generation };
	const struct rebalance *best = NULL;
	int64_t least = 0;

	assert(r->count == 0 || r->index != NULL);
	if (r->count == 0)
		return 0;
	const struct rebalance **order = r->index->by_generation;
	const size_t n = r->index->generation_count;
	size_t i = order_lower_bound(&key, order, n, sizeof *order, compare_generations);
	for (; i < n && compare_generations(&key, &order[i]) == 0; i++) {
		const struct rebalance *one = order[i];
		int64_t apart = one->span.start.us > t.us ? one->span.start.us - t.us : t.us - one->span.start.us;

		if (best == NULL || apart < least) {
			best = one;
			least = apart;
		}
	}
	return best == NULL ? 0 : best->id;
}

/* Behind those that ended at the time. */
static int compare_ends(const void *key, const void *item)
{
	const struct ref_time *t = key;

	return (*(const struct rebalance *const *)item)->span.end.us <= t->us ? 1 : -1;
}

size_t rebalances_ended(const struct rebalances *r, struct ref_time t)
{
	assert(r->count == 0 || r->index != NULL);
	return r->count == 0 ? 0 : order_lower_bound(&t, r->index->by_end, r->count, sizeof *r->index->by_end, compare_ends);
}
