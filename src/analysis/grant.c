/* SPDX-License-Identifier: MIT */
/*
 * The lines by which a client tells that it was given partitions become
 * grants, each tied to its rebalance: by the generation that the same client
 * named last, which needs no clock, else by time. See analysis/grant.h.
 */

#include "analysis/grant.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/echo.h"
#include "analysis/rebalance_index.h"
#include "base/order.h"

/* ---- rebalances ---- */

unsigned grants_rebalance(const struct rebalances *r, struct sv group, const int64_t *generation, struct ref_time t)
{
	unsigned id = generation != NULL ? rebalance_of_generation(r, group, *generation, t) : 0;

	return id != 0 ? id : rebalance_begun(r, group, t);
}

/* ---- partitions as text ---- */

static bool number_after(struct sv piece, char separator, struct sv *topic, int64_t *partition)
{
	struct sv name;
	size_t at;

	if (!sv_rfind_char(piece, separator, &at) || at == 0)
		return false;
	name = sv_trim(sv_sub(piece, 0, at));
	if (name.n == 0 || !sv_to_i64(sv_sub(piece, at + 1, piece.n), partition) || *partition < 0)
		return false;
	*topic = name;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Up to a comma, or to a blank between two numbers: franz-go writes "a[0 1], b[2]". */
static struct sv next_piece(struct sv *rest)
{
	for (size_t i = 1; i + 1 < rest->n && rest->p[i] != ','; i++) {
		if (rest->p[i] == ' ' && is_digit(rest->p[i - 1]) && is_digit(rest->p[i + 1])) {
			struct sv piece = sv_sub(*rest, 0, i);

			*rest = sv_sub(*rest, i + 1, rest->n);
			return sv_trim(piece);
		}
	}
	return sv_trim(sv_cut(rest, ','));
}

/* Python: "TopicPartition(topic='a'", then "partition=3)". */
static bool topic_named(struct sv piece, struct sv *topic)
{
	size_t at;

	if (!sv_find(piece, SV("topic='"), &at))
		return false;
	*topic = sv_sub(piece, at + strlen("topic='"), piece.n);
	if (sv_ends_with(*topic, SV("'")))
		topic->n--;
	return true;
}

static struct sv without_brackets(struct sv piece)
{
	while (piece.n > 0 && strchr("[{(", piece.p[0]) != NULL)
		piece = sv_sub(piece, 1, piece.n);
	while (piece.n > 0 && strchr("]})", piece.p[piece.n - 1]) != NULL)
		piece.n--;
	return sv_trim(piece);
}

/* A number alone is one more partition of the topic before it. */
static bool number_of_topic(struct sv piece, struct sv topic, int64_t *partition)
{
	if (sv_starts_with(piece, SV("partition=")))
		piece = sv_sub(piece, strlen("partition="), piece.n);
	return topic.n > 0 && sv_to_i64(piece, partition) && *partition >= 0;
}

/* kafka-go: "3 of topic" */
static bool number_before(struct sv piece, struct sv *topic, int64_t *partition)
{
	size_t at;

	if (!sv_find(piece, SV(" of "), &at) || !sv_to_i64(sv_sub(piece, 0, at), partition) || *partition < 0)
		return false;
	*topic = sv_sub(piece, at + strlen(" of "), piece.n);
	return topic->n > 0;
}

bool partitions_next(struct sv *rest, struct sv *topic, int64_t *partition)
{
	while (!sv_is_absent(*rest)) {
		struct sv piece = next_piece(rest), bare;

		if (topic_named(piece, topic))
			continue;
		/* librdkafka: "topic [3]" */
		if (number_after(sv_ends_with(piece, SV("]")) ? sv_sub(piece, 0, piece.n - 1) : piece, '[', topic, partition))
			return true;
		bare = without_brackets(piece);
		/* Sarama and kafka-go: "topic/3" */
		if (number_of_topic(bare, *topic, partition) || number_before(bare, topic, partition) ||
		    number_after(bare, '-', topic, partition) || number_after(bare, '/', topic, partition))
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
	/* Where effects name nobody it is none of all members. */
	for (size_t i = 0; names->count > 0 && group != NULL && i < group->member_count; i++) {
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

/* ---- assignments ---- */

/* One client's lines, in the order in which it wrote them. */
struct stream {
	const struct rebalances *rebalances;
	struct arena *arena;
	struct grants *out;
	struct sv host, client, group, consumer;
	bool is_coarse;		/* its times are of whole seconds */
	unsigned rebalance;	/* of the generation that the client named last; 0 when unknown */
	const struct event *assigned;	/* its latest such line, and its first grant; NULL when none */
	size_t assigned_first;
};

static void on_generation(struct stream *st, const struct event *e, struct ref_time time)
{
	int64_t generation;

	if (event_int(e, FIELD_GENERATION, &generation))
		st->rebalance = rebalance_of_generation(st->rebalances, st->group, generation, time);
}

/* The application's listener says it once more: no second grant. */
static bool is_assigned_again(struct stream *st, const struct event *e)
{
	if (st->assigned == NULL || !echo_is(st->assigned, e))
		return false;
	for (size_t i = st->assigned_first; i < st->out->count; i++)
		evidence_echo(&st->out->items[i].evidence, st->arena, &e->place);
	return true;
}

static void on_assigned(struct stream *st, const struct event *e, struct ref_time time)
{
	struct sv rest = event_text(e, FIELD_PARTITIONS), topic = SV_ABSENT;
	struct evidence evidence = evidence_of(st->arena, e, time, "the partition was given to the new owner");
	unsigned rebalance = st->rebalance != 0 ? st->rebalance : rebalance_begun(st->rebalances, st->group, time);
	int64_t partition;

	/*
	 * Somewhere within a second: on which side of it things were executed is not known, and what was executed tells
	 * better. An offset told there stays a grant by itself.
	 */
	if (st->is_coarse || is_assigned_again(st, e))
		return;
	st->assigned = e;
	st->assigned_first = st->out->count;
	while (partitions_next(&rest, &topic, &partition))
		*ARENA_PUSH(st->arena, st->out->items, st->out->count, st->out->capacity) =
			(struct grant){ .group = st->group, .topic = topic, .partition = partition, .host = st->host,
					.client = st->client, .consumer = st->consumer, .time = time,
					.rebalance = rebalance, .evidence = evidence };
}

struct line {
	enum event_type type;
	void (*take)(struct stream *st, const struct event *e, struct ref_time time);
};

static const struct line lines[] = {
	{ EVENT_CLIENT_JOINED, on_generation },
	{ EVENT_CLIENT_SYNCED, on_generation },
	{ EVENT_PARTITIONS_ASSIGNED, on_assigned },
};
#define LINE_COUNT (sizeof lines / sizeof lines[0])

static int cmp_stream(const struct event *x, const struct event *y)
{
	int order;

	if ((order = sv_cmp(x->host, y->host)) != 0)
		return order;
	if ((order = sv_cmp(event_text(x, FIELD_CLIENT), event_text(y, FIELD_CLIENT))) != 0)
		return order;
	return sv_cmp(event_text(x, FIELD_GROUP), event_text(y, FIELD_GROUP));
}

/* As that host wrote them. */
static int cmp_written(const struct event *x, const struct event *y)
{
	int order = order_i64(x->time.us, y->time.us);

	return order != 0 ? order : order_i64(x->id, y->id);
}

static int cmp_events(const void *x, const void *y)
{
	const struct event *p = *(const struct event *const *)x, *q = *(const struct event *const *)y;
	int order = cmp_stream(p, q);

	return order != 0 ? order : cmp_written(p, q);
}

static int load_ordered(struct store *s, const enum event_type *types, size_t n, struct arena *a,
			int (*order_of)(const void *, const void *), const struct event ***order, size_t *count)
{
	if (query_load(s, types, n, a, order, count) < 0)
		return -1;
	if (*count > 1)
		qsort(*order, *count, sizeof(const struct event *), order_of);
	return 0;
}

/* One line may be of a whole second by chance; all of a client's are not. */
static bool is_coarse(const struct event *const *order, size_t count)
{
	size_t n = 0;

	for (; n < count && cmp_stream(order[0], order[n]) == 0; n++) {
		if (order[n]->time.us % US_PER_S != 0)
			return false;
	}
	return n > 1;
}

static int find_assignments(struct store *s, const struct clocks *c, const struct groups *g, const struct names *names,
			    struct stream *st)
{
	enum event_type types[LINE_COUNT];
	const struct event **order;
	size_t count;

	for (size_t i = 0; i < LINE_COUNT; i++)
		types[i] = lines[i].type;
	if (load_ordered(s, types, LINE_COUNT, st->arena, cmp_events, &order, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct event *e = order[i];
		if (i == 0 || cmp_stream(order[i - 1], e) != 0) {
			st->host = e->host;
			st->client = event_text(e, FIELD_CLIENT);
			st->group = event_text(e, FIELD_GROUP);
			st->consumer = name_of(names, groups_get(g, st->group), st->host, st->client);
			st->rebalance = 0;
			st->assigned = NULL;
			st->is_coarse = is_coarse(order + i, count - i);
		}
		for (size_t k = 0; k < LINE_COUNT; k++)
			if (lines[k].type == e->type)
				lines[k].take(st, e, clock_event_to_ref(c, e));
	}
	return 0;
}

/* ---- offsets ---- */

/* The line that tells the offset may name neither group nor client (Kafka 4): it is found by host and partition. */
static int cmp_place(struct sv host_x, struct sv topic_x, int64_t partition_x, struct sv host_y, struct sv topic_y,
		     int64_t partition_y)
{
	int order;

	if ((order = sv_cmp(host_x, host_y)) != 0)
		return order;
	if ((order = sv_cmp(topic_x, topic_y)) != 0)
		return order;
	return order_i64(partition_x, partition_y);
}

static int cmp_place_grants(const void *x, const void *y)
{
	const struct grant *p = x, *q = y;
	int order = cmp_place(p->host, p->topic, p->partition, q->host, q->topic, q->partition);

	if (order != 0)
		return order;
	if ((order = order_i64(p->time.us, q->time.us)) != 0)
		return order;
	return order_i64(p->evidence.event, q->evidence.event);
}

static int cmp_place_events(const void *x, const void *y)
{
	const struct event *p = *(const struct event *const *)x, *q = *(const struct event *const *)y;
	int order = cmp_place(p->host, event_text(p, FIELD_TOPIC), event_int_or(p, FIELD_PARTITION, -1), q->host,
			      event_text(q, FIELD_TOPIC), event_int_or(q, FIELD_PARTITION, -1));

	return order != 0 ? order : cmp_written(p, q);
}

static void tell_offset(struct grant *grant, const struct event *e, struct arena *a)
{
	grant->has_offset = event_int(e, FIELD_OFFSET, &grant->offset);
	grant->evidence = evidence_of(a, e, grant->evidence.time, "the new owner resumes at the committed offset");
}

/* An offset without an assignment before it is a grant by itself: a log may lack the other line. */
static void take_lone_offset(struct stream *st, const struct clocks *c, const struct groups *g, const struct names *names,
			     const struct event *e, struct grant *last)
{
	struct grant grant = { .host = e->host, .client = event_text(e, FIELD_CLIENT), .group = event_text(e, FIELD_GROUP),
			       .topic = event_text(e, FIELD_TOPIC), .time = clock_event_to_ref(c, e) };

	grant.partition = event_int_or(e, FIELD_PARTITION, -1);
	grant.is_coarse = e->time.us % US_PER_S == 0;
	grant.rebalance = rebalance_begun(st->rebalances, grant.group, grant.time);
	grant.consumer = name_of(names, groups_get(g, grant.group), grant.host, grant.client);
	grant.evidence.time = grant.time;
	tell_offset(&grant, e, st->arena);
	/* Told again with no rebalance between: the same grant. */
	if (last->has_offset && last->rebalance == grant.rebalance && sv_agree(last->client, grant.client) &&
	    cmp_place(last->host, last->topic, last->partition, grant.host, grant.topic, grant.partition) == 0)
		return;
	*last = grant;
	*ARENA_PUSH(st->arena, st->out->items, st->out->count, st->out->capacity) = grant;
}

static int cmp_grant_event(const struct grant *g, const struct event *e)
{
	return cmp_place(g->host, g->topic, g->partition, e->host, event_text(e, FIELD_TOPIC),
			 event_int_or(e, FIELD_PARTITION, -1));
}

static int find_offsets(struct store *s, const struct clocks *c, const struct groups *g, const struct names *names,
			struct stream *st)
{
	static const enum event_type types[] = { EVENT_OFFSET_RESTORED };
	struct grant last = { 0 };
	const struct event **order;
	size_t count, assigned = st->out->count, next = 0;

	if (load_ordered(s, types, 1, st->arena, cmp_place_events, &order, &count) < 0)
		return -1;
	if (assigned > 0)
		qsort(st->out->items, assigned, sizeof *st->out->items, cmp_place_grants);
	for (size_t i = 0; i < count; i++) {
		const struct event *e = order[i];
		struct ref_time time = clock_event_to_ref(c, e);
		struct grant *before = NULL;
		while (next < assigned) {
			int side = cmp_grant_event(&st->out->items[next], e);
			if (side > 0 || (side == 0 && st->out->items[next].time.us > time.us))
				break;
			next++;
		}
		/* The latest of this place by then, if it is of this place at all. */
		if (next > 0 && cmp_grant_event(&st->out->items[next - 1], e) == 0 &&
		    sv_agree(st->out->items[next - 1].client, event_text(e, FIELD_CLIENT)))
			before = &st->out->items[next - 1];
		if (before == NULL)
			take_lone_offset(st, c, g, names, e, &last);
		else if (!before->has_offset)
			tell_offset(before, e, st->arena);
	}
	return 0;
}

/* ---- all together ---- */

static int cmp_grants(const void *x, const void *y)
{
	const struct grant *p = x, *q = y;
	int order;

	if ((order = sv_cmp(p->consumer, q->consumer)) != 0)
		return order;
	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	if ((order = order_i64(p->partition, q->partition)) != 0)
		return order;
	if ((order = order_i64(p->time.us, q->time.us)) != 0)
		return order;
	return order_i64(p->evidence.event, q->evidence.event);
}

static int cmp_rebalance_grants(const void *x, const void *y)
{
	const struct grant *a = *(const struct grant *const *)x, *b = *(const struct grant *const *)y;

	if (a->rebalance != b->rebalance)
		return a->rebalance < b->rebalance ? -1 : 1;
	return sv_cmp(a->consumer, b->consumer);
}

static void sort_by_rebalance(struct grants *out, struct arena *a)
{
	out->by_rebalance = arena_array(a, out->count, sizeof(const struct grant *));
	for (size_t i = 0; i < out->count; i++)
		out->by_rebalance[i] = &out->items[i];
	if (out->count > 0)
		qsort(out->by_rebalance, out->count, sizeof(const struct grant *), cmp_rebalance_grants);
}

int grants_find(struct store *s, const struct clocks *c, const struct groups *g, const struct rebalances *r,
		const struct attempts *t, struct arena *a, struct grants *out)
{
	struct stream st = { .rebalances = r, .arena = a, .out = out };
	struct names names = consumer_names(t, a);

	*out = (struct grants){ 0 };
	if (find_assignments(s, c, g, &names, &st) < 0 || find_offsets(s, c, g, &names, &st) < 0 ||
	    grants_take_commits(s, c, a, out) < 0)
		return -1;
	if (out->count > 0)
		qsort(out->items, out->count, sizeof *out->items, cmp_grants);
	sort_by_rebalance(out, a);
	return 0;
}

bool grants_gave(const struct grants *grants, unsigned rebalance, struct sv consumer)
{
	const struct grant sought = { .rebalance = rebalance, .consumer = consumer }, *key = &sought;

	return grants->count > 0 &&
	       bsearch(&key, grants->by_rebalance, grants->count, sizeof key, cmp_rebalance_grants) != NULL;
}

static int cmp_run_grant(const void *run, const void *grant)
{
	const struct run *r = run;
	const struct grant *g = grant;
	int order;

	if ((order = sv_cmp(r->consumer, g->consumer)) != 0)
		return order;
	if ((order = sv_cmp(r->topic, g->topic)) != 0)
		return order;
	return order_i64(r->partition, g->partition);
}

/* The first that is not before the run's consumer and partition. */
static size_t first_from(const struct grants *grants, const struct run *r)
{
	return order_lower_bound(r, grants->items, grants->count, sizeof *grants->items, cmp_run_grant);
}

void grants_of(const struct grants *grants, const struct run *r, size_t *first, size_t *end)
{
	*first = *end = first_from(grants, r);
	while (*end < grants->count && cmp_run_grant(r, &grants->items[*end]) == 0)
		++*end;
}

bool grants_know(const struct grants *grants, struct sv consumer)
{
	struct run before_all = { .consumer = consumer, .partition = INT64_MIN };
	size_t at = first_from(grants, &before_all);

	/* A client that effects do not name may not speak for effects without a consumer. */
	return !sv_is_absent(consumer) && at < grants->count && sv_eq(grants->items[at].consumer, consumer);
}
