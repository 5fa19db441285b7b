/* SPDX-License-Identifier: MIT */
/*
 * Which offsets were handled again, by whom, and after which rebalance. See
 * analysis/redelivery.h and method.md 7.
 */

#include "analysis/redelivery.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/redelivery_wire.h"
#include "base/order.h"

/* ---- offsets handled in more than one pass ---- */

/* By topic, partition, offset, pass, time: so that what came again stands together. */
static int cmp_offset(const void *x, const void *y)
{
	const struct run *p = *(const struct run *const *)x, *q = *(const struct run *const *)y;
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = order_i64(p->offset, q->offset)) != 0)
		return order;
	if ((order = order_i64((int64_t)p->pass, (int64_t)q->pass)) != 0)
		return order;
	if ((order = order_i64(p->first.us, q->first.us)) != 0)
		return order;
	return order_i64(p->first_attempt->evidence.event, q->first_attempt->evidence.event);
}

static bool same_offset(const struct run *x, const struct run *y)
{
	return x->offset == y->offset && x->partition == y->partition && sv_eq(x->topic, y->topic);
}

static void push_evidence(struct evidence_list *list, struct arena *a, struct evidence one, struct sv role)
{
	one.role = role;
	*ARENA_PUSH(a, list->items, list->count, list->capacity) = one;
}

/* What came again in one pass. before and again: the runs at its lowest and highest offset. */
struct repeat {
	size_t records;
	const struct run *before[2], *again[2];
	struct ref_time time;
	int64_t longest_gap_us;
};

static void note_repeat(struct repeat *repeat, const struct run *before, const struct run *again)
{
	int64_t gap = again->first.us - before->first.us;

	if (gap < 0)
		gap = -gap;
	if (repeat->records == 0 || again->first.us < repeat->time.us)
		repeat->time = again->first;
	if (gap > repeat->longest_gap_us)
		repeat->longest_gap_us = gap;
	/* Offsets come in rising order. */
	if (repeat->records == 0) {
		repeat->before[0] = before;
		repeat->again[0] = again;
	}
	repeat->before[1] = before;
	repeat->again[1] = again;
	repeat->records++;
}

static void find_repeats(const struct attempts *t, struct arena *a, struct repeat *repeats)
{
	const struct run **order = arena_array(a, t->run_count, sizeof(const struct run *));
	size_t n = 0;

	for (size_t i = 0; i < t->run_count; i++)
		if (t->runs[i].has_offset)
			order[n++] = &t->runs[i];
	qsort(order, n, sizeof(const struct run *), cmp_offset);
	for (size_t i = 1; i < n; i++)
		if (same_offset(order[i - 1], order[i]) && order[i - 1]->pass != order[i]->pass)
			note_repeat(&repeats[order[i]->pass], order[i - 1], order[i]);
}

static void add_repeat_evidence(struct redelivery *l, const struct pass *pass, const struct repeat *repeat, struct arena *a)
{
	if (pass->grant != NULL)
		push_evidence(&l->evidence, a, pass->grant->evidence, pass->grant->evidence.role);
	for (int i = 0; i < (repeat->records > 1 ? 2 : 1); i++) {
		push_evidence(&l->evidence, a, repeat->before[i]->first_attempt->evidence, SV("its owner before processed the record"));
		push_evidence(&l->evidence, a, repeat->again[i]->first_attempt->evidence, SV("its owner after it did too"));
	}
}

static struct redelivery redelivery_of(const struct rebalances *r, const struct pass *pass, const struct repeat *repeat,
				       struct arena *a)
{
	const struct rebalance *rebalance = rebalances_get(r, pass->rebalance);
	struct redelivery l = {
		.group = rebalance != NULL ? rebalance->group : SV_ABSENT,
		.topic = pass->topic,
		.partition = pass->partition,
		.committed_offset = repeat->again[0]->offset,
		.processed_offset = repeat->again[1]->offset + 1,
		.records = repeat->records,
		.rebalance = pass->rebalance,
		.from = repeat->before[0]->consumer,
		.to = pass->consumer,
		.time = repeat->time,
		.longest_gap_us = repeat->longest_gap_us,
		.basis = "effects at the same offsets",
	};

	/* Records without an effect may stand before the first that has one. */
	if (pass->grant != NULL && pass->grant->has_offset && pass->grant->offset < l.committed_offset)
		l.committed_offset = pass->grant->offset;
	add_repeat_evidence(&l, pass, repeat, a);
	return l;
}

/* One for each rebalance and partition: what a second pass of the same rebalance adds goes into the first. */
static void widen(struct redelivery *into, const struct redelivery *by, struct arena *a)
{
	if (by->committed_offset < into->committed_offset)
		into->committed_offset = by->committed_offset;
	if (by->processed_offset > into->processed_offset)
		into->processed_offset = by->processed_offset;
	if (by->longest_gap_us > into->longest_gap_us)
		into->longest_gap_us = by->longest_gap_us;
	if (by->time.us < into->time.us)
		into->time = by->time;
	into->records += by->records;
	for (size_t i = 0; i < by->evidence.count; i++)
		push_evidence(&into->evidence, a, by->evidence.items[i], by->evidence.items[i].role);
}

/* The redelivery of this rebalance and partition, if there is one: passes of a partition stand together. */
static struct redelivery *same_rebalance(struct redeliveries *d, const struct pass *pass)
{
	for (size_t i = d->count; i-- > 0;) {
		struct redelivery *l = &d->items[i];
		if (l->partition != pass->partition || !sv_eq(l->topic, pass->topic))
			return NULL;
		if (l->rebalance == pass->rebalance)
			return pass->rebalance == 0 ? NULL : l;
	}
	return NULL;
}

static void collect(struct redeliveries *d, const struct rebalances *r, const struct repeat *repeats, struct arena *a)
{
	for (size_t i = 1; i < d->pass_count; i++) {
		struct redelivery l, *same;
		if (repeats[i].records == 0)
			continue;
		l = redelivery_of(r, &d->passes[i], &repeats[i], a);
		if ((same = same_rebalance(d, &d->passes[i])) != NULL) {
			widen(same, &l, a);
		} else {
			same = ARENA_PUSH(a, d->items, d->count, d->capacity);
			*same = l;
			same->id = (unsigned)d->count;
		}
		d->passes[i].redelivery = same->id;
	}
}

/* ---- grants below what had been processed, where the new owner left no effects ---- */

struct refused {
	struct sv topic;
	int64_t partition, offset;
	struct sv client, host;	/* who wanted to commit; absent when not known */
	struct ref_time time;
	struct evidence evidence;
};

struct refused_list {
	struct refused *items;
	size_t count;
	size_t capacity;
};

static int load_refused(struct store *s, const struct clocks *c, struct arena *a, struct refused_list *out)
{
	static const enum event_type types[] = { EVENT_COMMIT_FAILED };
	const struct event **events;
	size_t count;

	if (query_load(s, types, 1, a, &events, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct refused r = { .topic = event_text(events[i], FIELD_TOPIC), .client = event_client(events[i]),
				     .host = events[i]->host };
		if (sv_is_absent(r.topic) || !event_int(events[i], FIELD_PARTITION, &r.partition) ||
		    !event_int(events[i], FIELD_OFFSET, &r.offset))
			continue;
		r.time = clock_event_to_ref(c, events[i]);
		r.evidence = evidence_of(a, events[i], r.time, "a commit of what had been processed was refused");
		*ARENA_PUSH(a, out->items, out->count, out->capacity) = r;
	}
	return 0;
}

/* The handling of the highest offset by owners before this one, a zombie's later ones included. */
static const struct run *highest_before(const struct redeliveries *d, const struct grant *g)
{
	const struct run *best = NULL;
	size_t low = 1, high = d->pass_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pass *pass = &d->passes[middle];
		int order = sv_cmp(pass->topic, g->topic);
		if (order < 0 || (order == 0 && pass->partition < g->partition))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < d->pass_count; low++) {
		const struct pass *pass = &d->passes[low];
		if (pass->partition != g->partition || !sv_eq(pass->topic, g->topic) || pass->since.us >= g->time.us)
			break;
		if (pass->first.us < g->time.us && (best == NULL || pass->highest->offset > best->offset))
			best = pass->highest;
	}
	return best;
}

static bool are_known_and_differ(struct sv x, struct sv y)
{
	return x.n > 0 && y.n > 0 && !sv_eq(x, y);
}

/* What the owner itself wants to commit later it has processed since. */
static bool is_of_owner(const struct refused *commit, const struct grant *g)
{
	return !are_known_and_differ(commit->client, g->client) && !are_known_and_differ(commit->host, g->host);
}

/* until: when the partition was given to the next: what is committed after that is another matter. */
static const struct refused *highest_refused(const struct refused_list *refused, const struct grant *g, int64_t until)
{
	const struct refused *best = NULL;

	for (size_t i = 0; i < refused->count; i++) {
		const struct refused *one = &refused->items[i];
		if (one->partition != g->partition || !sv_eq(one->topic, g->topic) || one->time.us >= until ||
		    (one->time.us >= g->time.us && is_of_owner(one, g)))
			continue;
		if (best == NULL || one->offset > best->offset)
			best = one;
	}
	return best;
}

static void grant_below_processed(const struct run *run, const struct refused *commit, const struct grant *g,
				  struct arena *a, struct redeliveries *d)
{
	struct redelivery *l;
	int64_t processed = g->offset;

	if (run != NULL && run->offset >= processed)
		processed = run->offset + 1;
	if (commit != NULL && commit->offset > processed)
		processed = commit->offset;
	if (processed == g->offset)
		return;
	l = ARENA_PUSH(a, d->items, d->count, d->capacity);
	*l = (struct redelivery){ .id = (unsigned)d->count, .group = g->group, .topic = g->topic,
				  .partition = g->partition, .committed_offset = g->offset,
				  .processed_offset = processed, .rebalance = g->rebalance,
				  .to = sv_is_absent(g->client) ? g->host : g->client, .time = g->time,
				  .basis = "restored offset below one processed" };
	push_evidence(&l->evidence, a, g->evidence, g->evidence.role);
	if (run != NULL && run->offset + 1 == processed) {
		l->from = run->consumer;
		push_evidence(&l->evidence, a, run->first_attempt->evidence, SV("the record was processed"));
	} else {
		push_evidence(&l->evidence, a, commit->evidence, commit->evidence.role);
	}
}

static int cmp_grant_time(const void *x, const void *y)
{
	const struct grant *p = *(const struct grant *const *)x, *q = *(const struct grant *const *)y;
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = order_i64(p->time.us, q->time.us)) != 0)
		return order;
	return order_i64(p->evidence.event, q->evidence.event);
}

/*
 * Where a new owner has no effects in the evidence, the offset at which it
 * resumed still tells what came again. An owner that has effects and shows none
 * of these offsets did not get so far.
 */
static void collect_silent_owners(const struct grants *grants, const struct refused_list *refused, struct arena *a,
				  struct redeliveries *d)
{
	const struct grant **order = arena_array(a, grants->count, sizeof(const struct grant *));

	for (size_t i = 0; i < grants->count; i++)
		order[i] = &grants->items[i];
	qsort(order, grants->count, sizeof(const struct grant *), cmp_grant_time);
	for (size_t i = 0; i < grants->count; i++) {
		assert(order[i] != NULL); /* each was set above */
		const struct grant *g = order[i], *next = i + 1 < grants->count ? order[i + 1] : NULL;
		int64_t until = INT64_MAX;
		if (!g->has_offset || !sv_is_absent(g->consumer))
			continue;
		if (next != NULL && next->partition == g->partition && sv_eq(next->topic, g->topic))
			until = next->time.us;
		grant_below_processed(highest_before(d, g), highest_refused(refused, g, until), g, a, d);
	}
}

/* ---- all together ---- */

static int cmp_redelivery(const void *x, const void *y)
{
	const struct redelivery *p = x, *q = y;
	int order;

	if ((order = order_i64(p->time.us, q->time.us)) != 0)
		return order;
	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	return order_i64(p->committed_offset, q->committed_offset);
}

/* Into their order, with ids by it; passes keep theirs. */
static void number(struct redeliveries *d, struct arena *a)
{
	unsigned *id = arena_array(a, d->count + 1, sizeof *id);

	if (d->count > 0)
		qsort(d->items, d->count, sizeof *d->items, cmp_redelivery);
	for (size_t i = 0; i < d->count; i++) {
		struct redelivery *l = &d->items[i];
		id[l->id] = (unsigned)i + 1;
		l->id = (unsigned)i + 1;
		evidence_sort(&l->evidence);
	}
	for (size_t i = 0; i < d->pass_count; i++)
		d->passes[i].redelivery = id[d->passes[i].redelivery];
}

int redeliveries_find(struct store *s, const struct clocks *c, const struct groups *g, const struct rebalances *r,
		      struct attempts *t, struct grants *grants, struct arena *a, struct redeliveries *out)
{
	struct refused_list refused = { 0 };
	struct passes passes;
	struct repeat *repeats;

	*out = (struct redeliveries){ 0 };
	if (load_refused(s, c, a, &refused) < 0)
		return -1;
	passes_find(g, r, t, grants, a, &passes);
	out->passes = passes.items;
	out->pass_count = passes.count;
	repeats = arena_array(a, out->pass_count, sizeof *repeats);
	find_repeats(t, a, repeats);
	collect(out, r, repeats, a);
	collect_silent_owners(grants, &refused, a, out);
	if (redeliveries_from_wire(s, c, r, t, a, out) < 0)
		return -1;
	number(out, a);
	return 0;
}
