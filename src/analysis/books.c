/* SPDX-License-Identifier: MIT */
/*
 * The books of each two systems against one another, key by key. See
 * analysis/books.h and method.md 8.
 */

#include "analysis/books.h"

#include <stdlib.h>

#include "analysis/duplicate.h"
#include "base/order.h"

/* Rows that did not take effect are in no book. */
static const struct sv void_statuses[] = { { "failed", 6 }, { "skipped", 7 }, { "duplicate", 9 } };
/* So many rows of each side stand as evidence of a difference. */
#define EVIDENCE_ROWS 4
/* Books of more systems than that are not compared pair by pair: a column was taken for the system that is none. */
#define SYSTEMS_MAX 16

struct row {
	struct sv system, key, request_id, currency;
	bool has_amount;
	int64_t micros;
	struct ref_time time;
	struct evidence evidence;
};

struct system {
	struct sv name;
	size_t first, end;	/* its rows, by key */
	struct ref_time from, to;
};

struct ledger {
	struct row *rows;	/* by system, key, time */
	size_t row_count, row_capacity;
	struct system *systems;	/* by name */
	size_t system_count, system_capacity;
};

static int cmp_row(const void *x, const void *y)
{
	const struct row *p = x, *q = y;
	int order;

	if ((order = sv_cmp(p->system, q->system)) != 0)
		return order;
	if ((order = sv_cmp(p->key, q->key)) != 0)
		return order;
	if ((order = order_i64(p->time.us, q->time.us)) != 0)
		return order;
	return order_i64(p->evidence.event, q->evidence.event);
}

/* ---- loading ---- */

static bool is_void(struct sv status)
{
	for (size_t i = 0; i < sizeof void_statuses / sizeof void_statuses[0]; i++)
		if (sv_eq_nocase(status, void_statuses[i]))
			return true;
	return false;
}

static struct sv kept_text(const struct event *e, enum event_field f, struct arena *a)
{
	return arena_copy(a, event_text_trimmed(e, f));
}

static int load_rows(struct store *s, const struct clocks *c, struct arena *a, struct ledger *l)
{
	static const enum event_type types[] = { EVENT_BOOK_ENTRY };
	struct query *q = query_events(s, types, 1);
	struct event e;
	int rc;

	while ((rc = query_next(q, &e)) == 1) {
		struct row row = { .system = kept_text(&e, FIELD_SYSTEM, a), .key = kept_text(&e, FIELD_BUSINESS_KEY, a) };
		if (sv_is_absent(row.system) || sv_is_absent(row.key) || is_void(event_text(&e, FIELD_STATUS)))
			continue;
		row.request_id = kept_text(&e, FIELD_REQUEST_ID, a);
		row.currency = kept_text(&e, FIELD_CURRENCY, a);
		row.has_amount = event_int(&e, FIELD_AMOUNT_MICROS, &row.micros);
		row.time = clock_event_to_ref(c, &e);
		e.host = arena_copy(a, e.host);
		e.text = arena_copy(a, e.text);
		row.evidence = evidence_of(a, &e, row.time, "a row of the books");
		*ARENA_PUSH(a, l->rows, l->row_count, l->row_capacity) = row;
	}
	query_free(q);
	return rc;
}

/* Exports of one book may overlap: the same request in two inputs is one row. */
static bool is_repeat(const struct row *before, const struct row *row)
{
	return !sv_is_absent(row->request_id) && sv_eq(before->request_id, row->request_id) &&
	       sv_eq(before->system, row->system) && sv_eq(before->key, row->key) && before->time.us == row->time.us &&
	       before->evidence.place.input != row->evidence.place.input;
}

static void order_rows(struct ledger *l, struct arena *a)
{
	size_t kept = 0;

	qsort(l->rows, l->row_count, sizeof *l->rows, cmp_row);
	for (size_t i = 0; i < l->row_count; i++)
		if (kept == 0 || !is_repeat(&l->rows[kept - 1], &l->rows[i]))
			l->rows[kept++] = l->rows[i];
	l->row_count = kept;
	for (size_t i = 0; i < l->row_count; i++) {
		struct system *s = l->system_count > 0 ? &l->systems[l->system_count - 1] : NULL;
		if (s == NULL || !sv_eq(s->name, l->rows[i].system)) {
			s = ARENA_PUSH(a, l->systems, l->system_count, l->system_capacity);
			*s = (struct system){ .name = l->rows[i].system, .first = i, .from = l->rows[i].time, .to = l->rows[i].time };
		}
		s->end = i + 1;
		if (l->rows[i].time.us < s->from.us)
			s->from = l->rows[i].time;
		if (l->rows[i].time.us > s->to.us)
			s->to = l->rows[i].time;
	}
}

/* ---- one key in two systems ---- */

/* The rows of one key in one system. */
struct account {
	const struct row *rows;
	size_t count;
	bool has_amount;	/* every row has one, all in one currency */
	int64_t micros;
	struct sv currency;
};

static struct account account_at(const struct row *rows, size_t from, size_t end)
{
	struct account t = { .rows = rows + from, .has_amount = true };

	for (size_t i = from; i < end && sv_eq(rows[i].key, rows[from].key); i++) {
		if (!rows[i].has_amount || !sv_eq(rows[i].currency, rows[from].currency))
			t.has_amount = false;
		else
			t.micros = amount_add(t.micros, rows[i].micros);
		t.count++;
	}
	t.currency = rows[from].currency;
	return t;
}

static bool same_amounts(const struct account *x, const struct account *y)
{
	if (!x->has_amount || !y->has_amount)
		return true;
	if (!sv_is_absent(x->currency) && !sv_is_absent(y->currency) && !sv_eq(x->currency, y->currency))
		return false;
	/* One system writes a refund as a credit, the other as a debit. */
	return x->micros == y->micros || (x->micros != INT64_MIN && -x->micros == y->micros);
}

static bool holds_request(const struct account *t, const struct duplicate *d)
{
	for (size_t i = 0; i < t->count && i < EVIDENCE_ROWS; i++)
		for (size_t k = 0; k < d->attempt_count && k < EVIDENCE_ROWS; k++)
			if (!sv_is_absent(t->rows[i].request_id) && sv_eq(t->rows[i].request_id, d->attempts[k]->request_id))
				return true;
	return false;
}

struct key_index {
	const struct duplicate **items;	/* by business key, then id */
	size_t count;
};

static int cmp_key(const void *x, const void *y)
{
	const struct duplicate *p = *(const struct duplicate *const *)x, *q = *(const struct duplicate *const *)y;
	int order = sv_cmp(p->business_key, q->business_key);

	return order != 0 ? order : order_i64(p->id, q->id);
}

static struct key_index index_duplicates(const struct duplicate *duplicates, size_t count, struct arena *a)
{
	struct key_index index = { .items = arena_array(a, count, sizeof(const struct duplicate *)), .count = count };

	for (size_t i = 0; i < count; i++)
		index.items[i] = &duplicates[i];
	if (count > 0)
		qsort(index.items, count, sizeof(const struct duplicate *), cmp_key);
	return index;
}

static int cmp_key_item(const void *key, const void *item)
{
	return sv_cmp(*(const struct sv *)key, (*(const struct duplicate *const *)item)->business_key);
}

/* By the request ids in the longer book; else the one that executed as often as that book has rows. */
static unsigned duplicate_behind(const struct key_index *index, struct sv key, const struct account *longer)
{
	size_t i = order_lower_bound(&key, index->items, index->count, sizeof(const struct duplicate *), cmp_key_item);
	unsigned by_count = 0;

	for (; i < index->count && sv_eq(index->items[i]->business_key, key); i++) {
		const struct duplicate *d = index->items[i];
		if (holds_request(longer, d))
			return d->id;
		if (by_count == 0 && d->effects == longer->count)
			by_count = d->id;
	}
	return by_count;
}

static void add_rows(struct evidence_list *list, struct arena *a, const struct account *t)
{
	for (size_t i = 0; i < t->count && i < EVIDENCE_ROWS; i++)
		*ARENA_PUSH(a, list->items, list->count, list->capacity) = t->rows[i].evidence;
}

static void add_difference(struct book_pair *pair, struct sv key, const struct account *x, const struct account *y,
			   const struct key_index *index, struct arena *a)
{
	struct book_difference *d;

	if (pair->difference_count == BOOK_DIFFERENCES_MAX) {
		pair->unlisted++;
		return;
	}
	d = ARENA_PUSH(a, pair->differences, pair->difference_count, pair->difference_capacity);
	*d = (struct book_difference){ .business_key = key, .system_a = pair->system_a, .system_b = pair->system_b,
				       .count_a = x->count, .count_b = y->count };
	d->has_amounts = (x->has_amount || x->count == 0) && (y->has_amount || y->count == 0) &&
			 (x->count == 0 || y->count == 0 || sv_eq(x->currency, y->currency));
	d->micros_a = x->micros;
	d->micros_b = y->micros;
	d->currency = x->count > 0 ? x->currency : y->currency;
	if (x->count != y->count)
		d->duplicate = duplicate_behind(index, key, x->count > y->count ? x : y);
	add_rows(&d->evidence, a, x);
	add_rows(&d->evidence, a, y);
	evidence_sort(&d->evidence);
}

/* ---- two systems ---- */

/* A key of one system alone: missing in the other, or out of the time that the other's rows cover? */
static bool is_outside(const struct account *alone, const struct system *other)
{
	for (size_t i = 0; i < alone->count; i++)
		if (alone->rows[i].time.us >= other->from.us && alone->rows[i].time.us <= other->to.us)
			return false;
	return true;
}

static void compare_key(struct book_pair *pair, const struct account *x, const struct account *y, const struct system *sx,
			const struct system *sy, const struct key_index *index, struct arena *a)
{
	if ((y->count == 0 && is_outside(x, sy)) || (x->count == 0 && is_outside(y, sx))) {
		pair->outside++;
		return;
	}
	pair->keys++;
	pair->shared += x->count > 0 && y->count > 0;
	if (x->count == y->count && same_amounts(x, y))
		pair->agree++;
	else
		add_difference(pair, x->count > 0 ? x->rows->key : y->rows->key, x, y, index, a);
}

static void compare_systems(const struct ledger *l, const struct system *sx, const struct system *sy,
			    const struct key_index *index, struct arena *a, struct book_pair *pair)
{
	size_t i = sx->first, k = sy->first;

	*pair = (struct book_pair){ .system_a = sx->name, .system_b = sy->name };
	while (i < sx->end || k < sy->end) {
		struct account x = { 0 }, y = { 0 };
		int order = i == sx->end ? 1 : k == sy->end ? -1 : sv_cmp(l->rows[i].key, l->rows[k].key);
		if (order <= 0)
			x = account_at(l->rows, i, sx->end);
		if (order >= 0)
			y = account_at(l->rows, k, sy->end);
		i += x.count;
		k += y.count;
		compare_key(pair, &x, &y, sx, sy, index, a);
	}
	if (pair->shared > 0)
		return;
	/* They name their operations differently: that is one finding, not one for each row. */
	pair->differences = NULL;
	pair->difference_count = pair->unlisted = 0;
}

int books_find(struct store *s, const struct clocks *c, const struct duplicate *duplicates, size_t duplicate_count,
	       struct arena *a, struct books *out)
{
	struct key_index index = index_duplicates(duplicates, duplicate_count, a);
	struct ledger l = { 0 };

	*out = (struct books){ 0 };
	if (load_rows(s, c, a, &l) < 0)
		return -1;
	if (l.row_count == 0)
		return 0;
	order_rows(&l, a);
	for (size_t i = 0; i < l.system_count && l.system_count <= SYSTEMS_MAX; i++)
		for (size_t k = i + 1; k < l.system_count; k++)
			compare_systems(&l, &l.systems[i], &l.systems[k], &index, a,
					ARENA_PUSH(a, out->pairs, out->count, out->capacity));
	return 0;
}
