/* SPDX-License-Identifier: MIT */
/* The replay of key designs. See analysis/idempotency.h for what is counted, and method.md 8. */

#include "analysis/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "base/little.h"
#include "base/order.h"

/* ---- the designs ---- */

/* Parts of keys, one bit each. */
enum part {
	PART_MESSAGE = 1 << 0,	/* topic, partition, offset */
	PART_CONSUMER = 1 << 1,
	PART_MESSAGE_ID = 1 << 2,
	PART_BUSINESS = 1 << 3,
	PART_STEP = 1 << 4,
	PART_VERSION = 1 << 5,
};

/* What is asked before work is done. */
struct guard {
	unsigned parts;		/* 0: there is none */
	bool when_complete;	/* recorded only when nothing of the operation is owed */
};

#define KEY_FIELDS_MAX 8

struct design {
	const char *name;
	const char *key[KEY_FIELDS_MAX];
	struct guard guards[2];	/* coarse before fine */
};

static const struct design designs[] = {
	{ "message", { "topic", "partition", "offset" }, { { PART_MESSAGE, false } } },
	{ "message + instance", { "topic", "partition", "offset", "consumer" }, { { PART_MESSAGE | PART_CONSUMER, false } } },
	{ "message id", { "message_id" }, { { PART_MESSAGE_ID, false } } },
	{ "business", { "business_key" }, { { PART_BUSINESS, false } } },
	{ "business + step", { "business_key", "step" }, { { PART_BUSINESS | PART_STEP, false } } },
	{ "business + event + version",
	  { "business_key", "step", "version" },
	  { { PART_BUSINESS | PART_STEP | PART_VERSION, false } } },
	{ "hybrid",
	  { "topic", "partition", "offset", "business_key", "step" },
	  { { PART_MESSAGE, true }, { PART_BUSINESS | PART_STEP, false } } },
};
#define DESIGN_COUNT (sizeof designs / sizeof designs[0])
/* The one that the TTL curve is of. */
#define TTL_DESIGN 4

#define MINUTES(n) ((n) * INT64_C(60) * US_PER_S)
#define HOURS(n) (60 * MINUTES(n))
#define DAYS(n) (24 * HOURS(n))

static const int64_t ttl_ladder_us[] = {
	MINUTES(1), MINUTES(5), MINUTES(10), MINUTES(30), HOURS(1), HOURS(6), HOURS(24), HOURS(72), DAYS(7), DAYS(30), DAYS(90),
};
#define TTL_COUNT (sizeof ttl_ladder_us / sizeof ttl_ladder_us[0])

/* ---- keys ---- */

static unsigned parts_of(const struct attempt *t)
{
	return (t->has_offset ? (unsigned)PART_MESSAGE : 0) | (!sv_is_absent(t->consumer) ? (unsigned)PART_CONSUMER : 0) |
	       (!sv_is_absent(t->message_id) ? (unsigned)PART_MESSAGE_ID : 0) |
	       (!sv_is_absent(t->business_key) ? (unsigned)PART_BUSINESS : 0) |
	       (!sv_is_absent(t->step) ? (unsigned)PART_STEP : 0) | (!sv_is_absent(t->version) ? (unsigned)PART_VERSION : 0);
}

static bool same_key(const struct attempt *x, const struct attempt *y, unsigned parts)
{
	return (!(parts & PART_MESSAGE) ||
		(x->partition == y->partition && x->offset == y->offset && sv_eq(x->topic, y->topic))) &&
	       (!(parts & PART_CONSUMER) || sv_eq(x->consumer, y->consumer)) &&
	       (!(parts & PART_MESSAGE_ID) || sv_eq(x->message_id, y->message_id)) &&
	       (!(parts & PART_BUSINESS) || sv_eq(x->business_key, y->business_key)) &&
	       (!(parts & PART_STEP) || sv_eq(x->step, y->step)) &&
	       (!(parts & PART_VERSION) || sv_eq(x->version, y->version));
}

static uint64_t hash_number(uint64_t h, int64_t n)
{
	unsigned char bytes[8];

	little_put64(bytes, (uint64_t)n);
	return sv_hash(h, (struct sv){ (const char *)bytes, sizeof bytes });
}

static uint64_t hash_of(const struct attempt *t, unsigned parts)
{
	uint64_t h = SV_HASH;

	if (parts & PART_MESSAGE) {
		h = sv_hash(h, t->topic);
		h = hash_number(h, t->partition);
		h = hash_number(h, t->offset);
	}
	if (parts & PART_CONSUMER)
		h = sv_hash(h, t->consumer);
	if (parts & PART_MESSAGE_ID)
		h = sv_hash(h, t->message_id);
	if (parts & PART_BUSINESS)
		h = sv_hash(h, t->business_key);
	if (parts & PART_STEP)
		h = sv_hash(h, t->step);
	if (parts & PART_VERSION)
		h = sv_hash(h, t->version);
	return h ^ h >> 32;
}

/*
 * The keys of all attempts under one guard, as numbers from 1 on: found once,
 * however many times to live they are replayed with.
 */
struct keys {
	unsigned parts;
	uint32_t *of;			/* by attempt; 0: a part of it is not known */
	uint32_t count;
};

/* A set of attempts by their keys: open addressing, at most half full. */
struct key_set {
	uint32_t *slots;		/* place of the first attempt of the key, from 1; 0: free */
	size_t mask;
};

static struct key_set key_set_new(size_t attempts, struct arena *a)
{
	size_t size = 16;

	while (size < 2 * attempts)
		size *= 2;
	return (struct key_set){ .slots = arena_array(a, size, sizeof(uint32_t)), .mask = size - 1 };
}

/* The place of the first attempt of t's key; t's own when it is the first. */
static size_t first_of_key(struct key_set *set, const struct side_effects *e, size_t place, unsigned parts)
{
	const struct attempt *t = &e->attempts[place];
	size_t i = (size_t)hash_of(t, parts) & set->mask;

	while (set->slots[i] != 0 && !same_key(&e->attempts[set->slots[i] - 1], t, parts))
		i = (i + 1) & set->mask;
	if (set->slots[i] == 0)
		set->slots[i] = (uint32_t)(place + 1);
	return set->slots[i] - 1;
}

static void keys_number(struct keys *k, struct key_set *set, const struct side_effects *e, unsigned parts)
{
	if (k->parts == parts)
		return;
	memset(set->slots, 0, (set->mask + 1) * sizeof *set->slots);
	k->parts = parts;
	k->count = 0;
	for (size_t i = 0; i < e->attempt_count; i++) {
		bool known = (parts & ~parts_of(&e->attempts[i])) == 0;
		size_t first = known ? first_of_key(set, e, i, parts) : 0;

		k->of[i] = !known ? 0 : first == i ? ++k->count : k->of[first];
	}
}

/* ---- the records of one guard, by the number of the key ---- */

struct record {
	bool is_set;
	struct ref_time since;
};

static bool is_alive(const struct record *r, struct ref_time now, int64_t ttl_us)
{
	return r->is_set && now.us - r->since.us <= ttl_us;
}

/* ---- what the intents need ---- */

enum verdict_of_run { RUN_UNDECIDED, RUN_LET_THROUGH, RUN_BLOCKED };

struct replay {
	const struct side_effects *effects;
	bool handler_asks_per_step;
	struct guard guards[2];		/* of the design at hand */
	int64_t ttl_us;
	struct key_set key_set;
	struct keys keys[2];
	struct record *records[2];	/* by number of key */
	/* By intent, in the world of this replay. */
	const struct attempt **effect;	/* the first, NULL before it */
	bool *blocked;			/* an attempt that would have fulfilled it was */
	/* By operation. */
	size_t *operation;		/* of each intent */
	size_t *owed;			/* intents of it that have not taken effect */
	size_t *owed_first;		/* the same, before the first attempt */
	size_t operations;
	unsigned char *run_verdict;	/* by run: enum verdict_of_run, of the first guard */
	struct design_result result;
};

/* Intents are numbered by operation: those of one stand together. */
static void number_operations(struct replay *r, struct arena *a)
{
	const struct side_effects *e = r->effects;
	const struct attempt **of_intent = arena_array(a, e->intents + 1, sizeof(const struct attempt *));

	r->operation = arena_array(a, e->intents + 1, sizeof *r->operation);
	r->owed = arena_array(a, e->intents + 1, sizeof *r->owed);
	r->owed_first = arena_array(a, e->intents + 1, sizeof *r->owed_first);
	for (size_t i = 0; i < e->attempt_count; i++)
		of_intent[e->attempts[i].intent] = &e->attempts[i];
	for (size_t i = 1; i <= e->intents; i++) {
		if (i > 1 && !sv_eq(of_intent[i]->operation, of_intent[i - 1]->operation))
			r->operations++;
		r->operation[i] = r->operations;
		r->owed_first[r->operations]++;
	}
	r->operations++;
}

/* Runs in which one step was skipped and another was not. */
static bool asks_per_step(const struct side_effects *e, struct arena *a)
{
	enum { SKIPPED = 1, NOT_SKIPPED = 2 };
	unsigned char *seen = arena_array(a, e->run_count + 1, sizeof *seen);
	bool found = false;

	for (size_t i = 0; i < e->attempt_count; i++) {
		const struct attempt *t = &e->attempts[i];
		seen[t->run] |= t->outcome == OUTCOME_SKIPPED ? SKIPPED : NOT_SKIPPED;
		found = found || seen[t->run] == (SKIPPED | NOT_SKIPPED);
	}
	return found;
}

static void replay_new(struct replay *r, const struct side_effects *e, struct arena *a)
{
	*r = (struct replay){ .effects = e, .handler_asks_per_step = asks_per_step(e, a) };
	r->key_set = key_set_new(e->attempt_count, a);
	for (int i = 0; i < 2; i++) {
		r->keys[i].of = arena_array(a, e->attempt_count, sizeof *r->keys[i].of);
		r->records[i] = arena_array(a, e->attempt_count + 1, sizeof *r->records[i]);
	}
	r->effect = arena_array(a, e->intents + 1, sizeof(const struct attempt *));
	r->blocked = arena_array(a, e->intents + 1, sizeof *r->blocked);
	r->run_verdict = arena_array(a, e->run_count + 1, sizeof *r->run_verdict);
	number_operations(r, a);
}

static bool is_of_message(const struct guard *g)
{
	return (g->parts & (PART_MESSAGE | PART_MESSAGE_ID)) != 0 && !g->when_complete;
}

static void replay_begin(struct replay *r, const struct design *design, int64_t ttl_us)
{
	for (size_t i = 0; i <= r->effects->intents; i++) {
		r->effect[i] = NULL;
		r->blocked[i] = false;
	}
	for (size_t i = 0; i < r->operations; i++)
		r->owed[i] = r->owed_first[i];
	for (size_t i = 0; i < r->effects->run_count; i++)
		r->run_verdict[i] = RUN_UNDECIDED;
	r->guards[0] = design->guards[0];
	r->guards[1] = design->guards[1];
	r->ttl_us = ttl_us;
	r->result = (struct design_result){ .name = design->name, .key = design->key };
	if (r->handler_asks_per_step && is_of_message(&r->guards[0])) {
		r->guards[0].parts |= PART_STEP;
		r->result.per_step = true;
	}
	for (int i = 0; i < 2; i++) {
		if (r->guards[i].parts != 0)
			keys_number(&r->keys[i], &r->key_set, r->effects, r->guards[i].parts);
		memset(r->records[i], 0, (r->keys[i].count + 1) * sizeof *r->records[i]);
	}
}

/* ---- one attempt ---- */

/* Where the guard keeps what it knows of the attempt; NULL when it has no key for it, or there is no guard. */
static struct record *record_of(struct replay *r, size_t at, const struct attempt *t)
{
	uint32_t number = r->guards[at].parts == 0 ? 0 : r->keys[at].of[t - r->effects->attempts];

	return number == 0 ? NULL : &r->records[at][number];
}

static bool guards_runs(const struct guard *g)
{
	return (g->parts & PART_STEP) == 0;
}

static bool blocks(struct replay *r, size_t at, const struct attempt *t)
{
	const struct guard *g = &r->guards[at];
	const struct record *known = record_of(r, at, t);
	unsigned char *verdict = &r->run_verdict[t->run];
	bool blocked;

	if (known == NULL)
		return false;
	if (guards_runs(g) && *verdict != RUN_UNDECIDED)
		return *verdict == RUN_BLOCKED;
	blocked = is_alive(known, t->time, r->ttl_us);
	if (guards_runs(g))
		*verdict = blocked ? RUN_BLOCKED : RUN_LET_THROUGH;
	return blocked;
}

/* As "set if absent" with a time to live does: a record that lives is not renewed. */
static void record(struct replay *r, size_t at, const struct attempt *t)
{
	const struct guard *g = &r->guards[at];
	struct record *kept = record_of(r, at, t);

	if (kept == NULL || (g->when_complete && r->owed[r->operation[t->intent]] > 0))
		return;
	if (!is_alive(kept, t->time, r->ttl_us))
		*kept = (struct record){ true, t->time };
}

/* The same call told or tried again, not a second one. */
static bool is_same_request(const struct attempt *x, const struct attempt *y)
{
	return !sv_is_absent(x->request_id) && sv_eq(x->request_id, y->request_id);
}

static void judge_blocked(struct replay *r, const struct attempt *t)
{
	if (r->effect[t->intent] == NULL)
		r->blocked[t->intent] = true;
	else
		r->result.caught++;
}

/* What was recognised in fact takes effect when there is nothing to recognise it by. */
static void judge_let_through(struct replay *r, const struct attempt *t)
{
	const struct attempt **effect = &r->effect[t->intent];

	if (*effect == NULL) {
		*effect = t;
		r->owed[r->operation[t->intent]]--;
	} else if (t->outcome == OUTCOME_DUPLICATE || is_same_request(*effect, t)) {
		r->result.absorbed++;
	} else {
		r->result.missed++;
	}
}

static void replay_attempt(struct replay *r, const struct attempt *t)
{
	/* Asked in any case: the first attempt of a run decides for all of it. */
	bool blocked = blocks(r, 0, t) || blocks(r, 1, t);

	if (t->outcome == OUTCOME_FAILED || t->outcome == OUTCOME_UNKNOWN)
		return;
	if (blocked) {
		judge_blocked(r, t);
		return;
	}
	judge_let_through(r, t);
	record(r, 0, t);
	record(r, 1, t);
}

static void replay_all(struct replay *r, const struct design *design, int64_t ttl_us)
{
	replay_begin(r, design, ttl_us);
	for (size_t i = 0; i < r->effects->attempt_count; i++)
		if (r->effects->attempts[i].intent != 0)
			replay_attempt(r, &r->effects->attempts[i]);
	for (size_t i = 1; i <= r->effects->intents; i++)
		r->result.wrongly_blocked += r->blocked[i] && r->effect[i] == NULL;
}

/* ---- the results ---- */

static unsigned parts_known(const struct side_effects *e)
{
	unsigned parts = 0;

	for (size_t i = 0; i < e->attempt_count; i++)
		parts |= parts_of(&e->attempts[i]);
	return parts;
}

static bool is_applicable(const struct design *d, unsigned known)
{
	return ((d->guards[0].parts | d->guards[1].parts) & ~known) == 0;
}

/* What was recognised counts as well: without its guard it would have been a second effect. */
static void find_longest_gap(const struct side_effects *e, struct arena *a, struct idempotency *out)
{
	const struct attempt **effect = arena_array(a, e->intents + 1, sizeof(const struct attempt *));

	for (size_t i = 0; i < e->attempt_count; i++) {
		const struct attempt *t = &e->attempts[i], **first = &effect[t->intent];
		if (t->intent == 0 || t->outcome == OUTCOME_FAILED || t->outcome == OUTCOME_UNKNOWN)
			continue;
		if (*first == NULL) {
			*first = t->took_effect ? t : NULL;
		} else if (!is_same_request(*first, t)) {
			out->has_longest_gap = true;
			if (t->time.us - (*first)->time.us > out->longest_gap_us)
				out->longest_gap_us = t->time.us - (*first)->time.us;
		}
	}
}

static void make_ttl_curve(struct replay *r, struct arena *a, struct idempotency *out)
{
	int64_t ttls_us[TTL_COUNT + 1];
	size_t n = 0;

	for (; n < TTL_COUNT; n++)
		ttls_us[n] = ttl_ladder_us[n];
	if (out->has_longest_gap)
		ttls_us[n++] = out->longest_gap_us;
	qsort(ttls_us, n, sizeof ttls_us[0], order_i64_items);
	out->ttl_curve = arena_array(a, n, sizeof *out->ttl_curve);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && ttls_us[i] == ttls_us[i - 1])
			continue;
		replay_all(r, &designs[TTL_DESIGN], ttls_us[i]);
		out->ttl_curve[out->ttl_count++] = (struct ttl_point){ ttls_us[i], r->result.missed };
	}
}

int idempotency_find(const struct side_effects *e, struct arena *a, struct idempotency *out)
{
	unsigned known = parts_known(e);
	struct replay r;

	*out = (struct idempotency){ .designs = arena_array(a, DESIGN_COUNT, sizeof *out->designs), .design_count = DESIGN_COUNT };
	replay_new(&r, e, a);
	for (size_t i = 0; i < DESIGN_COUNT; i++) {
		out->designs[i] = (struct design_result){ .name = designs[i].name, .key = designs[i].key };
		if (e->attempt_count == 0 || !is_applicable(&designs[i], known))
			continue;
		replay_all(&r, &designs[i], INT64_MAX);
		out->designs[i] = r.result;
		out->designs[i].applicable = true;
	}
	find_longest_gap(e, a, out);
	if (out->designs[TTL_DESIGN].applicable)
		make_ttl_curve(&r, a, out);
	return 0;
}
