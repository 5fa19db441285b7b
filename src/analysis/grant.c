/* SPDX-License-Identifier: MIT */
/*
 * The lines by which a client tells that it was given partitions become
 * grants, each tied to its rebalance: by the generation that the same client
 * named last, which needs no clock, else by time. See analysis/grant.h.
 */

#include "analysis/grant.h"

#include <stdlib.h>

static int cmp_i64(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* ---- rebalances ---- */

/* The latest of the group that had begun by then; 0 when none had. */
static unsigned rebalance_begun(const struct rebalances *r, struct sv group, struct ref_time t)
{
	const struct rebalance *best = NULL;

	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *one = &r->items[i];
		if (one->span.start.us <= t.us && sv_eq(one->group, group) &&
		    (best == NULL || one->span.start.us >= best->span.start.us))
			best = one;
	}
	return best == NULL ? 0 : best->id;
}

/* A group that was made anew counts its generations from 1 again: the nearest in time. */
static unsigned rebalance_of_generation(const struct rebalances *r, struct sv group, int64_t generation,
					struct ref_time t)
{
	const struct rebalance *best = NULL;
	int64_t least = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct rebalance *one = &r->items[i];
		int64_t apart = one->span.start.us > t.us ? one->span.start.us - t.us : t.us - one->span.start.us;
		if (!one->has_generation || one->generation != generation || one->empties_group || !sv_eq(one->group, group))
			continue;
		if (best == NULL || apart < least) {
			best = one;
			least = apart;
		}
	}
	return best == NULL ? 0 : best->id;
}

/* ---- partitions as text ---- */

static bool number_after(struct sv piece, char separator, struct sv *topic, int64_t *partition)
{
	size_t at;

	if (!sv_rfind_char(piece, separator, &at) || at == 0)
		return false;
	*topic = sv_trim(sv_sub(piece, 0, at));
	return topic->n > 0 && sv_to_i64(sv_sub(piece, at + 1, piece.n), partition) && *partition >= 0;
}

bool partitions_next(struct sv *rest, struct sv *topic, int64_t *partition)
{
	while (!sv_is_absent(*rest)) {
		struct sv piece = sv_trim(sv_cut(rest, ','));
		/* librdkafka: "topic [3]" */
		if (sv_ends_with(piece, SV("]")) && number_after(sv_sub(piece, 0, piece.n - 1), '[', topic, partition))
			return true;
		while (piece.n > 0 && (piece.p[0] == '[' || piece.p[0] == '{' || piece.p[0] == '('))
			piece = sv_sub(piece, 1, piece.n);
		while (piece.n > 0 && (piece.p[piece.n - 1] == ']' || piece.p[piece.n - 1] == '}' || piece.p[piece.n - 1] == ')'))
			piece = sv_sub(piece, 0, piece.n - 1);
		if (number_after(sv_trim(piece), '-', topic, partition))
			return true;
	}
	return false;
}

/* ---- what effects call a client ---- */

struct names {
	struct sv *items;	/* the consumers of effects, sorted */
	size_t count;
};

static struct names consumer_names(const struct attempts *t, struct arena *a)
{
	struct names names = { .items = arena_array(a, t->run_count, sizeof(struct sv)) };

	/* Runs stand by consumer. */
	for (size_t i = 0; i < t->run_count; i++)
		if (!sv_is_absent(t->runs[i].consumer) &&
		    (names.count == 0 || !sv_eq(names.items[names.count - 1], t->runs[i].consumer)))
			names.items[names.count++] = t->runs[i].consumer;
	return names;
}

static int cmp_name(const void *x, const void *y)
{
	return sv_cmp(*(const struct sv *)x, *(const struct sv *)y);
}

static bool is_name(const struct names *names, struct sv text)
{
	return names->count > 0 && !sv_is_absent(text) &&
	       bsearch(&text, names->items, names->count, sizeof text, cmp_name) != NULL;
}

/* By host first: a client.id is often the same on all hosts. */
static struct sv name_of(const struct names *names, const struct group *group, struct sv host, struct sv client)
{
	if (is_name(names, host))
		return host;
	if (is_name(names, client))
		return client;
	for (size_t i = 0; group != NULL && i < group->member_count; i++) {
		const struct member *m = &group->members[i];
		if (!sv_eq(m->host, host) || (!sv_is_absent(client) && !sv_eq(m->client_id, client)))
			continue;
		if (is_name(names, m->instance_id))
			return m->instance_id;
		if (is_name(names, m->member_id))
			return m->member_id;
	}
	return SV_ABSENT;
}

/* ---- one client's lines ---- */

struct stream {
	const struct clocks *clocks;
	const struct rebalances *rebalances;
	struct arena *arena;
	struct grants *out;
	struct sv host, client, group, consumer;
	unsigned rebalance;	/* of the generation that the client named last; 0 when unknown */
	size_t batch, batch_end; /* the grants of the last assignment, by partition */
};

static int cmp_partition(const struct grant *x, const struct grant *y)
{
	int order = sv_cmp(x->topic, y->topic);

	return order != 0 ? order : cmp_i64(x->partition, y->partition);
}

static int cmp_batch(const void *x, const void *y)
{
	return cmp_partition(x, y);
}

static struct grant *add_grant(struct stream *st, struct sv topic, int64_t partition, struct ref_time time)
{
	struct grant *grant = ARENA_PUSH(st->arena, st->out->items, st->out->count, st->out->capacity);

	*grant = (struct grant){ .group = st->group, .topic = topic, .partition = partition, .host = st->host,
				 .client = st->client, .consumer = st->consumer, .time = time,
				 .rebalance = st->rebalance };
	return grant;
}

static void on_generation(struct stream *st, const struct event *e, struct ref_time time)
{
	int64_t generation;

	if (event_int(e, FIELD_GENERATION, &generation))
		st->rebalance = rebalance_of_generation(st->rebalances, st->group, generation, time);
	st->batch = st->batch_end = st->out->count;
}

static void on_assigned(struct stream *st, const struct event *e, struct ref_time time)
{
	struct sv rest = event_text(e, FIELD_PARTITIONS), topic;
	struct evidence evidence = evidence_of(st->arena, e, time, "the partition was given to the new owner");
	int64_t partition;

	if (st->rebalance == 0)
		st->rebalance = rebalance_begun(st->rebalances, st->group, time);
	st->batch = st->out->count;
	while (partitions_next(&rest, &topic, &partition))
		add_grant(st, topic, partition, time)->evidence = evidence;
	st->batch_end = st->out->count;
	qsort(st->out->items + st->batch, st->out->count - st->batch, sizeof *st->out->items, cmp_batch);
}

/* Offsets follow the assignment. One alone is a grant too: a log may lack the other line. */
static void on_restored(struct stream *st, const struct event *e, struct ref_time time)
{
	struct grant key = { .topic = event_text(e, FIELD_TOPIC), .partition = event_int_or(e, FIELD_PARTITION, -1) };
	size_t n = st->batch_end - st->batch;
	struct grant *grant = n == 0 ? NULL : bsearch(&key, st->out->items + st->batch, n, sizeof key, cmp_batch);

	if (grant != NULL && grant->has_offset)
		return;
	if (grant == NULL)
		grant = add_grant(st, key.topic, key.partition, time);
	grant->has_offset = event_int(e, FIELD_OFFSET, &grant->offset);
	grant->evidence = evidence_of(st->arena, e, time, "the new owner resumes at the committed offset");
}

static int cmp_stream(const struct event *x, const struct event *y)
{
	int order;

	if ((order = sv_cmp(x->host, y->host)) != 0)
		return order;
	if ((order = sv_cmp(event_text(x, FIELD_CLIENT), event_text(y, FIELD_CLIENT))) != 0)
		return order;
	return sv_cmp(event_text(x, FIELD_GROUP), event_text(y, FIELD_GROUP));
}

static int cmp_events(const void *x, const void *y)
{
	const struct event *p = *(const struct event *const *)x, *q = *(const struct event *const *)y;
	int order;

	if ((order = cmp_stream(p, q)) != 0)
		return order;
	/* As that host wrote them. */
	if ((order = cmp_i64(p->time.us, q->time.us)) != 0)
		return order;
	return cmp_i64(p->id, q->id);
}

struct line {
	enum event_type type;
	void (*take)(struct stream *st, const struct event *e, struct ref_time time);
};

static const struct line lines[] = {
	{ EVENT_CLIENT_JOINED, on_generation },
	{ EVENT_CLIENT_SYNCED, on_generation },
	{ EVENT_PARTITIONS_ASSIGNED, on_assigned },
	{ EVENT_OFFSET_RESTORED, on_restored },
};
#define LINE_COUNT (sizeof lines / sizeof lines[0])

static int cmp_grants(const void *x, const void *y)
{
	const struct grant *p = x, *q = y;
	int order;

	if ((order = sv_cmp(p->consumer, q->consumer)) != 0)
		return order;
	if ((order = cmp_partition(p, q)) != 0)
		return order;
	if ((order = cmp_i64(p->time.us, q->time.us)) != 0)
		return order;
	return cmp_i64(p->evidence.event, q->evidence.event);
}

static void begin_stream(struct stream *st, const struct event *e, const struct groups *g, const struct names *names)
{
	st->host = e->host;
	st->client = event_text(e, FIELD_CLIENT);
	st->group = event_text(e, FIELD_GROUP);
	st->consumer = name_of(names, groups_get(g, st->group), st->host, st->client);
	st->rebalance = 0;
	st->batch = st->batch_end = st->out->count;
}

int grants_find(struct store *s, const struct clocks *c, const struct groups *g, const struct rebalances *r,
		const struct attempts *t, struct arena *a, struct grants *out)
{
	struct stream st = { .clocks = c, .rebalances = r, .arena = a, .out = out };
	struct names names = consumer_names(t, a);
	enum event_type types[LINE_COUNT];
	struct event *events, **order;
	size_t count;

	*out = (struct grants){ 0 };
	for (size_t i = 0; i < LINE_COUNT; i++)
		types[i] = lines[i].type;
	if (query_load(s, types, LINE_COUNT, a, &events, &count) < 0)
		return -1;
	order = arena_array(a, count, sizeof(struct event *));
	for (size_t i = 0; i < count; i++)
		order[i] = &events[i];
	qsort(order, count, sizeof(struct event *), cmp_events);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || cmp_stream(order[i - 1], order[i]) != 0)
			begin_stream(&st, order[i], g, &names);
		for (size_t k = 0; k < LINE_COUNT; k++)
			if (lines[k].type == order[i]->type)
				lines[k].take(&st, order[i], clock_to_ref(c, order[i]->host, order[i]->time));
	}
	qsort(out->items, out->count, sizeof *out->items, cmp_grants);
	return 0;
}

static int cmp_grant_run(const struct grant *g, const struct run *r)
{
	int order;

	if ((order = sv_cmp(g->consumer, r->consumer)) != 0)
		return order;
	if ((order = sv_cmp(g->topic, r->topic)) != 0)
		return order;
	return cmp_i64(g->partition, r->partition);
}

/* The first that is not before the run's consumer and partition. */
static size_t lower_bound(const struct grants *grants, const struct run *r)
{
	size_t low = 0, high = grants->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (cmp_grant_run(&grants->items[middle], r) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void grants_of(const struct grants *grants, const struct run *r, size_t *first, size_t *end)
{
	*first = *end = lower_bound(grants, r);
	while (*end < grants->count && cmp_grant_run(&grants->items[*end], r) == 0)
		++*end;
}

bool grants_know(const struct grants *grants, struct sv consumer)
{
	struct run before_all = { .consumer = consumer, .partition = INT64_MIN };
	size_t at = lower_bound(grants, &before_all);

	/* A client that effects do not name may not speak for effects without a consumer. */
	return !sv_is_absent(consumer) && at < grants->count && sv_eq(grants->items[at].consumer, consumer);
}
