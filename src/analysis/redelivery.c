/* SPDX-License-Identifier: MIT */
/*
 * Which offsets were handled again, by whom, and after which rebalance. See
 * analysis/redelivery.h and method.md 7.
 */

#include "analysis/redelivery.h"

#include <stdlib.h>

/*
 * A grant told so soon after the first handling that goes back counts as before
 * it: where effects and logs were timed by two clocks of which one is not known.
 */
#define GRANT_LATE_US (2 * US_PER_S)
/* Members log the end of a rebalance one after the other, and the first may be at work before the last. */
#define COMPLETE_LATE_US US_PER_S

static int cmp_i64(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* ---- passes ---- */

struct splitter {
	const struct groups *groups;
	const struct rebalances *rebalances;
	struct grants *grants;
	struct attempts *attempts;
	const struct rebalance **complete;	/* those that left the group with members, by their end */
	size_t complete_count;
	struct arena *arena;
	struct redeliveries *out;
};

static bool same_stream(const struct run *x, const struct run *y)
{
	return x->has_offset == y->has_offset && sv_eq(x->consumer, y->consumer) && sv_eq(x->topic, y->topic) &&
	       x->partition == y->partition;
}

static struct pass *open_pass(struct splitter *sp, const struct run *r)
{
	struct pass *pass = ARENA_PUSH(sp->arena, sp->out->passes, sp->out->pass_count, sp->out->pass_capacity);

	*pass = (struct pass){ .consumer = r->consumer, .topic = r->topic, .partition = r->partition,
			       .since = r->first, .first = r->first, .last = r->last, .highest = r };
	return pass;
}

static void put_into_pass(struct splitter *sp, struct run *r)
{
	struct pass *pass = &sp->out->passes[sp->out->pass_count - 1];

	if (r->last.us > pass->last.us)
		pass->last = r->last;
	if (r->offset > pass->highest->offset)
		pass->highest = r;
	r->pass = sp->out->pass_count - 1;
}

/* Going back without having failed: a consumer does not do that by itself. */
static bool goes_back(const struct run *before, const struct run *r)
{
	return r->offset <= before->offset && !before->failed;
}

/*
 * The stream of a consumer whose log tells its grants. What it handles before
 * the first of them it has owned since before the log began.
 */
static void split_by_grants(struct splitter *sp, struct run *runs, size_t n, size_t first, size_t end)
{
	size_t next = first;

	for (size_t i = 0; i < n; i++) {
		struct run *r = &runs[i];
		const struct grant *given = NULL;
		while (next < end && sp->grants->items[next].time.us <= r->first.us)
			given = &sp->grants->items[next++];
		if (given == NULL && i > 0 && next < end && goes_back(&runs[i - 1], r) &&
		    sp->grants->items[next].time.us - r->first.us <= GRANT_LATE_US)
			given = &sp->grants->items[next++];
		if (given != NULL || i == 0) {
			struct pass *pass = open_pass(sp, r);
			pass->grant = given;
			pass->since.us = given != NULL ? given->time.us : INT64_MIN;
			pass->rebalance = given != NULL ? given->rebalance : 0;
			if (given != NULL)
				sp->grants->items[given - sp->grants->items].used = true;
		}
		put_into_pass(sp, r);
	}
}

static struct sv group_of(const struct groups *g, struct sv consumer)
{
	struct sv found = SV_ABSENT;

	if (sv_is_absent(consumer))
		return SV_ABSENT;
	for (size_t i = 0; i < g->count; i++)
		for (size_t k = 0; k < g->items[i].member_count; k++) {
			const struct member *m = &g->items[i].members[k];
			if (!sv_eq(m->host, consumer) && !sv_eq(m->client_id, consumer) &&
			    !sv_eq(m->member_id, consumer) && !sv_eq(m->instance_id, consumer))
				continue;
			if (!sv_is_absent(found) && !sv_eq(found, g->items[i].name))
				return SV_ABSENT;
			found = g->items[i].name;
		}
	return found;
}

static int cmp_end(const void *x, const void *y)
{
	const struct rebalance *p = *(const struct rebalance *const *)x, *q = *(const struct rebalance *const *)y;
	int order = cmp_i64(p->span.end.us, q->span.end.us);

	return order != 0 ? order : cmp_i64(p->id, q->id);
}

static void order_rebalances(struct splitter *sp)
{
	const struct rebalances *r = sp->rebalances;

	sp->complete = arena_array(sp->arena, r->count, sizeof(const struct rebalance *));
	for (size_t i = 0; i < r->count; i++)
		if (!r->items[i].empties_group)
			sp->complete[sp->complete_count++] = &r->items[i];
	qsort(sp->complete, sp->complete_count, sizeof(const struct rebalance *), cmp_end);
}

/* The latest of the group (absent: any) that was complete by then; 0 when none was. */
static unsigned rebalance_in_force(const struct splitter *sp, struct sv group, struct ref_time t)
{
	size_t low = 0, high = sp->complete_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sp->complete[middle]->span.end.us <= t.us + COMPLETE_LATE_US)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0)
		if (sv_is_absent(group) || sv_eq(sp->complete[low]->group, group))
			return sp->complete[low]->id;
	return 0;
}

/*
 * Without grants: a new pass begins where the consumer goes back, or leaves
 * offsets out, and a rebalance was completed in between. A zombie goes on by one.
 */
static void split_by_rebalances(struct splitter *sp, struct run *runs, size_t n)
{
	struct sv group = group_of(sp->groups, runs[0].consumer);
	unsigned rebalance = 0;

	for (size_t i = 0; i < n; i++) {
		struct run *r = &runs[i];
		bool jumps = i == 0 || r->offset <= runs[i - 1].offset || r->offset > runs[i - 1].offset + 1;
		unsigned now = jumps ? rebalance_in_force(sp, group, r->first) : rebalance;
		if (i == 0 || (jumps && now != rebalance)) {
			open_pass(sp, r)->rebalance = now;
			rebalance = now;
		}
		put_into_pass(sp, r);
	}
}

static void split_stream(struct splitter *sp, struct run *runs, size_t n)
{
	size_t first, end;

	if (!runs[0].has_offset) {
		for (size_t i = 0; i < n; i++)
			runs[i].pass = 0;
		return;
	}
	grants_of(sp->grants, &runs[0], &first, &end);
	if (grants_know(sp->grants, runs[0].consumer))
		split_by_grants(sp, runs, n, first, end);
	else
		split_by_rebalances(sp, runs, n);
}

static int cmp_pass(const struct pass *p, const struct pass *q)
{
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = cmp_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = cmp_i64(p->since.us, q->since.us)) != 0)
		return order;
	if ((order = cmp_i64(p->first.us, q->first.us)) != 0)
		return order;
	return sv_cmp(p->consumer, q->consumer);
}

struct numbered_pass {
	struct pass pass;
	size_t place;
};

static int cmp_numbered(const void *x, const void *y)
{
	const struct numbered_pass *p = x, *q = y;
	int order = cmp_pass(&p->pass, &q->pass);

	return order != 0 ? order : cmp_i64((int64_t)p->place, (int64_t)q->place);
}

/* Into the order in which the partitions were given; runs follow their pass. passes[0] stays. */
static void order_passes(struct splitter *sp)
{
	size_t n = sp->out->pass_count;
	struct numbered_pass *numbered = arena_array(sp->arena, n, sizeof *numbered);
	size_t *place = arena_array(sp->arena, n, sizeof *place);

	for (size_t i = 1; i < n; i++)
		numbered[i] = (struct numbered_pass){ sp->out->passes[i], i };
	qsort(numbered + 1, n - 1, sizeof *numbered, cmp_numbered);
	for (size_t i = 1; i < n; i++) {
		sp->out->passes[i] = numbered[i].pass;
		place[numbered[i].place] = i;
	}
	for (size_t i = 0; i < sp->attempts->run_count; i++)
		sp->attempts->runs[i].pass = place[sp->attempts->runs[i].pass];
}

static void make_passes(struct splitter *sp)
{
	struct run *runs = sp->attempts->runs;
	size_t n = sp->attempts->run_count;
	struct run nothing = { 0 };

	order_rebalances(sp);
	open_pass(sp, &nothing);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_stream(&runs[i], &runs[end]); end++)
			;
		split_stream(sp, runs + i, end - i);
	}
	order_passes(sp);
}

/* ---- offsets handled in more than one pass ---- */

/* By topic, partition, offset, pass, time: so that what came again stands together. */
static int cmp_offset(const void *x, const void *y)
{
	const struct run *p = *(const struct run *const *)x, *q = *(const struct run *const *)y;
	int order;

	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = cmp_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = cmp_i64(p->offset, q->offset)) != 0)
		return order;
	if ((order = cmp_i64((int64_t)p->pass, (int64_t)q->pass)) != 0)
		return order;
	if ((order = cmp_i64(p->first.us, q->first.us)) != 0)
		return order;
	return cmp_i64(p->first_attempt->evidence.event, q->first_attempt->evidence.event);
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
		push_evidence(&l->evidence, a, repeat->before[i]->first_attempt->evidence, SV("the record was processed"));
		push_evidence(&l->evidence, a, repeat->again[i]->first_attempt->evidence, SV("it was processed again"));
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
	struct event *events;
	size_t count;

	if (query_load(s, types, 1, a, &events, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct refused r = { .topic = event_text(&events[i], FIELD_TOPIC) };
		if (sv_is_absent(r.topic) || !event_int(&events[i], FIELD_PARTITION, &r.partition) ||
		    !event_int(&events[i], FIELD_OFFSET, &r.offset))
			continue;
		r.time = clock_to_ref(c, events[i].host, events[i].time);
		r.evidence = evidence_of(a, &events[i], r.time, "a commit of what had been processed was refused");
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

/* until: when the partition was given to the next: what is committed after that is another matter. */
static const struct refused *highest_refused(const struct refused_list *refused, const struct grant *g, int64_t until)
{
	const struct refused *best = NULL;

	for (size_t i = 0; i < refused->count; i++) {
		const struct refused *one = &refused->items[i];
		if (one->partition == g->partition && sv_eq(one->topic, g->topic) && one->time.us < until &&
		    (best == NULL || one->offset > best->offset))
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
	if ((order = cmp_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = cmp_i64(p->time.us, q->time.us)) != 0)
		return order;
	return cmp_i64(p->evidence.event, q->evidence.event);
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

	if ((order = cmp_i64(p->time.us, q->time.us)) != 0)
		return order;
	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = cmp_i64(p->partition, q->partition)) != 0)
		return order;
	return cmp_i64(p->committed_offset, q->committed_offset);
}

/* Into their order, with ids by it; passes keep theirs. */
static void number(struct redeliveries *d, struct arena *a)
{
	unsigned *id = arena_array(a, d->count + 1, sizeof *id);

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
	struct splitter sp = { .groups = g, .rebalances = r, .grants = grants, .attempts = t, .arena = a, .out = out };
	struct refused_list refused = { 0 };
	struct repeat *repeats;

	*out = (struct redeliveries){ 0 };
	if (load_refused(s, c, a, &refused) < 0)
		return -1;
	make_passes(&sp);
	repeats = arena_array(a, out->pass_count, sizeof *repeats);
	find_repeats(t, a, repeats);
	collect(out, r, repeats, a);
	collect_silent_owners(grants, &refused, a, out);
	number(out, a);
	return 0;
}
