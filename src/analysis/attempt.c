/* SPDX-License-Identifier: MIT */
/*
 * Effect events become attempts, attempts become runs. See analysis/attempt.h
 * and method.md 7.
 */

#include "analysis/attempt.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/texts.h"

/* Two inputs report one attempt within this time of one another: the call's own length, and two clocks' rounding. */
#define SAME_ATTEMPT_US US_PER_S
/* How far back the other report is looked for, so that hostile input costs no square. */
#define SAME_ATTEMPT_BACK 8
/* More attempts than any handler makes for one message; a longer run is cut, so that hostile input costs no square. */
#define RUN_ATTEMPTS_MAX 64

struct outcome_word {
	struct sv word;
	enum outcome outcome;
};

static const struct outcome_word outcome_words[] = {
	{ { "success", 7 }, OUTCOME_SUCCESS },
	{ { "failed", 6 }, OUTCOME_FAILED },
	{ { "duplicate", 9 }, OUTCOME_DUPLICATE },
	{ { "skipped", 7 }, OUTCOME_SKIPPED },
};

static enum outcome outcome_of(struct sv status)
{
	for (size_t i = 0; i < sizeof outcome_words / sizeof outcome_words[0]; i++)
		if (sv_eq_nocase(status, outcome_words[i].word))
			return outcome_words[i].outcome;
	return OUTCOME_UNKNOWN;
}

/* Below the greatest number, so that one past it is a number too. */
static bool coordinate(const struct event *e, enum event_field f, int64_t *out)
{
	return event_int(e, f, out) && *out >= 0 && *out < INT64_MAX;
}

int64_t amount_add(int64_t x, int64_t y)
{
	if (y > 0 && x > INT64_MAX - y)
		return INT64_MAX;
	if (y < 0 && x < INT64_MIN - y)
		return INT64_MIN;
	return x + y;
}

static int cmp_time(const struct attempt *x, const struct attempt *y)
{
	int order = order_i64(x->time.us, y->time.us);

	return order != 0 ? order : order_i64(x->evidence.event, y->evidence.event);
}

static int cmp_items(const void *x, const void *y)
{
	return cmp_time(x, y);
}

int attempt_cmp_intent(const void *x, const void *y)
{
	const struct attempt *p = *(const struct attempt *const *)x, *q = *(const struct attempt *const *)y;
	int order;

	if ((order = sv_cmp(p->operation, q->operation)) != 0)
		return order;
	if ((order = sv_cmp(p->step, q->step)) != 0)
		return order;
	if ((order = sv_cmp(p->version, q->version)) != 0)
		return order;
	return cmp_time(p, q);
}

bool attempt_same_intent(const struct attempt *x, const struct attempt *y)
{
	return sv_eq(x->operation, y->operation) && sv_eq(x->step, y->step) && sv_eq(x->version, y->version);
}

bool attempt_same_message(const struct attempt *x, const struct attempt *y, bool *known)
{
	*known = true;
	if (x->has_offset && y->has_offset)
		return sv_eq(x->topic, y->topic) && x->partition == y->partition && x->offset == y->offset;
	if (!sv_is_absent(x->message_id) && !sv_is_absent(y->message_id))
		return sv_eq(x->message_id, y->message_id);
	*known = false;
	return false;
}

bool attempt_same_payload(const struct attempt *x, const struct attempt *y)
{
	if (!sv_agree(x->fingerprint, y->fingerprint))
		return false;
	if (!x->has_amount || !y->has_amount)
		return true;
	return x->amount_micros == y->amount_micros && sv_agree(x->currency, y->currency);
}

/* ---- loading ---- */

static struct sv operation_of(const struct attempt *t, struct arena *a)
{
	if (!sv_is_absent(t->business_key))
		return t->business_key;
	if (!sv_is_absent(t->message_id))
		return t->message_id;
	if (t->has_offset)
		return arena_printf(a, "%.*s-%lld@%lld", SV_ARG(t->topic), (long long)t->partition,
				    (long long)t->offset);
	return SV_ABSENT;
}

/* e's texts live until the next event. Of millions of attempts each has a key of its own; few are steps, topics, consumers. */
static void attempt_from(struct event *e, const struct clocks *c, struct texts *texts, struct attempt *t)
{
	struct arena *a = texts->arena;

	e->host = texts_keep(texts, e->host);
	e->text = arena_copy(a, e->text);
	t->time = clock_event_to_ref(c, e);
	t->business_key = arena_copy(a, event_text_trimmed(e, FIELD_BUSINESS_KEY));
	t->step = texts_keep(texts, event_text_trimmed(e, FIELD_STEP));
	t->version = texts_keep(texts, event_text_trimmed(e, FIELD_VERSION));
	t->message_id = arena_copy(a, event_text_trimmed(e, FIELD_MESSAGE_ID));
	t->request_id = arena_copy(a, event_text_trimmed(e, FIELD_REQUEST_ID));
	t->fingerprint = arena_copy(a, event_text_trimmed(e, FIELD_FINGERPRINT));
	t->consumer = texts_keep(texts, event_text_trimmed(e, FIELD_CONSUMER));
	t->topic = texts_keep(texts, event_text_trimmed(e, FIELD_TOPIC));
	t->currency = texts_keep(texts, event_text_trimmed(e, FIELD_CURRENCY));
	t->status = texts_keep(texts, event_text(e, FIELD_STATUS));
	t->outcome = outcome_of(t->status);
	t->took_effect = t->outcome == OUTCOME_SUCCESS;
	t->has_offset = !sv_is_absent(t->topic) && coordinate(e, FIELD_PARTITION, &t->partition) &&
			coordinate(e, FIELD_OFFSET, &t->offset);
	t->has_amount = event_int(e, FIELD_AMOUNT_MICROS, &t->amount_micros);
	/* A consumer that writes its effects into its own log need not name itself; a table's host is a database. */
	if (sv_is_absent(t->consumer) && e->place.unit == PLACE_LINE)
		t->consumer = e->host;
	t->operation = operation_of(t, a);
	t->evidence = evidence_of(a, e, t->time, "an attempt at the step");
}

/* ---- two reports of one attempt ---- */

static bool one_attempt(const struct attempt *x, const struct attempt *y)
{
	return x->evidence.place.input != y->evidence.place.input && y->time.us - x->time.us <= SAME_ATTEMPT_US &&
	       x->outcome == y->outcome && x->has_offset == y->has_offset && x->partition == y->partition &&
	       x->offset == y->offset && sv_agree(x->topic, y->topic) && sv_agree(x->consumer, y->consumer) &&
	       sv_agree(x->evidence.host, y->evidence.host) && sv_agree(x->request_id, y->request_id) &&
	       sv_agree(x->message_id, y->message_id) && attempt_same_payload(x, y);
}

/*
 * The same line once more in one file: two appenders. Its time is part of it and
 * finer than a second, so that no second attempt could have written it.
 */
static bool is_same_line(const struct attempt *x, const struct attempt *y)
{
	const struct evidence *p = &x->evidence, *q = &y->evidence;

	return p->place.unit == PLACE_LINE && q->place.unit == PLACE_LINE && p->place.input == q->place.input &&
	       p->written.us == q->written.us && p->written.us % US_PER_S != 0 && sv_eq(p->host, q->host) &&
	       !sv_is_absent(p->text) && sv_eq(p->text, q->text);
}

static void take_if_absent(struct sv *to, struct sv from)
{
	if (sv_is_absent(*to))
		*to = from;
}

static void join_report(struct attempt *into, const struct attempt *from, struct arena *a)
{
	evidence_echo(&into->evidence, a, &from->evidence.place);
	take_if_absent(&into->request_id, from->request_id);
	take_if_absent(&into->message_id, from->message_id);
	take_if_absent(&into->fingerprint, from->fingerprint);
	take_if_absent(&into->consumer, from->consumer);
	if (!into->has_amount && from->has_amount) {
		into->has_amount = true;
		into->amount_micros = from->amount_micros;
		into->currency = from->currency;
	}
}

/*
 * A table and a log may both tell of one attempt; counted twice each effect
 * would be a double one. Reports of one input are all kept, but for a line that
 * was written twice: there a repeated row is what we look for. The rest is closed
 * up in place.
 */
static void join_reports(struct attempts *out, struct arena *a)
{
	struct attempt **order = arena_array(a, out->count, sizeof(struct attempt *));
	bool *joined = arena_array(a, out->count, sizeof *joined); /* has, or is, a second report */
	bool *dropped = arena_array(a, out->count, sizeof *dropped);
	size_t kept = 0;

	for (size_t i = 0; i < out->count; i++)
		order[i] = &out->items[i];
	qsort(order, out->count, sizeof(struct attempt *), attempt_cmp_intent);
	for (size_t i = 1; i < out->count; i++) {
		size_t at = (size_t)(order[i] - out->items);
		for (size_t back = 1; back <= SAME_ATTEMPT_BACK && back <= i; back++) {
			size_t before = (size_t)(order[i - back] - out->items);
			if (!attempt_same_intent(order[i - back], order[i]))
				break;
			bool is_echo = is_same_line(order[i - back], order[i]);
			if (dropped[before] || sv_is_absent(order[i]->operation) ||
			    (!is_echo && (joined[before] || !one_attempt(order[i - back], order[i]))))
				continue;
			join_report(order[i - back], order[i], a);
			if (is_echo) {
				dropped[at] = true;
				break;
			}
			joined[before] = joined[at] = dropped[at] = true;
			break;
		}
	}
	for (size_t i = 0; i < out->count; i++)
		if (!dropped[i])
			out->items[kept++] = out->items[i];
	out->count = kept;
}

/* ---- runs ---- */

/* The stream in which a consumer's handlings follow one another, then time. */
static int cmp_stream(const struct attempt *p, const struct attempt *q)
{
	int order;

	if ((order = sv_cmp(p->consumer, q->consumer)) != 0)
		return order;
	if ((order = (int)p->has_offset - (int)q->has_offset) != 0 || !p->has_offset)
		return order;
	if ((order = sv_cmp(p->topic, q->topic)) != 0)
		return order;
	return order_i64(p->partition, q->partition);
}

static int cmp_stream_time(const void *x, const void *y)
{
	const struct attempt *p = *(const struct attempt *const *)x, *q = *(const struct attempt *const *)y;
	int order = cmp_stream(p, q);

	return order != 0 ? order : cmp_time(p, q);
}

static bool run_holds(const struct run *r, const struct attempt *t)
{
	if (!sv_eq(r->consumer, t->consumer) || r->has_offset != t->has_offset)
		return false;
	if (r->has_offset && (!sv_eq(r->topic, t->topic) || r->partition != t->partition || r->offset != t->offset))
		return false;
	return sv_agree(r->message_id, t->message_id) && sv_eq(r->operation, t->operation);
}

/* members: the run's attempts so far. A step comes twice only when it had just failed. */
static bool run_may_go_on(struct attempt *const *members, size_t n, const struct attempt *t)
{
	if (n >= RUN_ATTEMPTS_MAX)
		return false;
	if (sv_eq(members[n - 1]->step, t->step))
		return members[n - 1]->outcome == OUTCOME_FAILED;
	for (size_t i = 0; i < n; i++)
		if (sv_eq(members[i]->step, t->step))
			return false;
	return true;
}

static void make_runs(struct attempts *out, struct arena *a)
{
	struct attempt **order = arena_array(a, out->count, sizeof(struct attempt *));
	size_t capacity = 0, members = 0;

	for (size_t i = 0; i < out->count; i++)
		order[i] = &out->items[i];
	qsort(order, out->count, sizeof(struct attempt *), cmp_stream_time);
	for (size_t i = 0; i < out->count; i++) {
		struct attempt *t = order[i];
		struct run *r = out->run_count > 0 ? &out->runs[out->run_count - 1] : NULL;
		if (r == NULL || !run_holds(r, t) || !run_may_go_on(order + i - members, members, t)) {
			r = ARENA_PUSH(a, out->runs, out->run_count, capacity);
			*r = (struct run){ .consumer = t->consumer, .topic = t->topic, .message_id = t->message_id,
					   .operation = t->operation, .has_offset = t->has_offset,
					   .partition = t->partition, .offset = t->offset, .first = t->time,
					   .first_attempt = t };
			members = 0;
		}
		r->last = t->time;
		r->failed = t->outcome == OUTCOME_FAILED;
		t->run = out->run_count - 1;
		members++;
	}
}

/* ---- what the books say of it ---- */

/* The requests that a system holds in its books, sorted. */
struct booked {
	struct sv *items;	/* request ids */
	size_t count, capacity;
};

static int cmp_text(const void *x, const void *y)
{
	return sv_cmp(*(const struct sv *)x, *(const struct sv *)y);
}

static int load_booked(struct store *s, struct arena *a, struct booked *out)
{
	static const enum event_type types[] = { EVENT_BOOK_ENTRY };
	struct query *q = query_events(s, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1)
		if (event_text(&e, FIELD_REQUEST_ID).n > 0)
			*ARENA_PUSH(a, out->items, out->count, out->capacity) = arena_copy(a, event_text(&e, FIELD_REQUEST_ID));
	query_free(q);
	if (out->count > 0)
		qsort(out->items, out->count, sizeof *out->items, cmp_text);
	return rc;
}

/*
 * An outcome that the caller does not know, or took for a failure, is settled by
 * the system that was called (domain.md: UNKNOWN is reconciled against the
 * authoritative side): a request that stands in its books took effect. One that
 * does not stand there says nothing, since an export may begin later or end earlier.
 */
static void settle(struct attempts *all, const struct booked *booked)
{
	for (size_t i = 0; booked->count > 0 && i < all->count; i++) {
		struct attempt *t = &all->items[i];
		if ((t->outcome != OUTCOME_UNKNOWN && t->outcome != OUTCOME_FAILED) || t->request_id.n == 0 ||
		    bsearch(&t->request_id, booked->items, booked->count, sizeof *booked->items, cmp_text) == NULL)
			continue;
		t->outcome = OUTCOME_SUCCESS;
		t->took_effect = true;
		t->evidence.role = SV("an attempt whose outcome was not known to the caller, and that stands in the books of the other side");
	}
}

int attempts_load(struct store *s, const struct clocks *c, struct arena *a, struct attempts *out)
{
	static const enum event_type types[] = { EVENT_EFFECT };
	struct query *q = query_events(s, types, 1);
	struct event e;
	struct booked booked = { NULL, 0, 0 };
	struct arena *scratch;
	struct texts texts;
	size_t capacity = 0;
	int rc;

	*out = (struct attempts){ 0 };
	/* One at a time: an event has room for every field there is, and of effects there may be millions. */
	scratch = arena_new();
	texts_init(&texts, a, scratch);
	while ((rc = query_next(q, &e)) == 1)
		attempt_from(&e, c, &texts, ARENA_PUSH(a, out->items, out->count, capacity));
	arena_free(scratch);
	query_free(q);
	if (rc < 0 || out->count == 0)
		return rc;
	if (load_booked(s, a, &booked) < 0)
		return -1;
	settle(out, &booked);
	out->records = out->count;
	/* Hosts' clocks are apart: the store's order is not that of the reference clock. */
	qsort(out->items, out->count, sizeof *out->items, cmp_items);
	join_reports(out, a);
	make_runs(out, a);
	return 0;
}
