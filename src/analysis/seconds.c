/* SPDX-License-Identifier: MIT */
/* See analysis/seconds.h. */

#include "analysis/seconds.h"

#include "analysis/detect.h"

/* Captures tell of ten together at the most; a database that claims years of them would have them shared out for as long. */
#define TOGETHER_MAX 3600

/* A row of seconds, while they are given out. */
struct several {
	struct event event;	/* its texts are the arena's */
	int64_t count, given;
	int64_t next_us;	/* when the next of them begins */
};

struct seconds {
	struct arena *arena;
	struct query *query;
	struct event ahead;	/* the next of the store */
	int rc;			/* of the call that gave it */
	struct several **heap;	/* by what is next of them; those beyond count are free */
	size_t count, made, capacity;
};

/* ---- the heap ---- */

static bool is_before(const struct several *x, int64_t us, int64_t id)
{
	return x->next_us != us ? x->next_us < us : x->event.id < id;
}

static bool comes_before(const struct seconds *s, size_t i, size_t k)
{
	return is_before(s->heap[i], s->heap[k]->next_us, s->heap[k]->event.id);
}

static void swap(struct seconds *s, size_t i, size_t k)
{
	struct several *one = s->heap[i];

	s->heap[i] = s->heap[k];
	s->heap[k] = one;
}

static void sift_up(struct seconds *s, size_t i)
{
	for (; i > 0 && comes_before(s, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(s, i, (i - 1) / 2);
}

static void sift_down(struct seconds *s)
{
	for (size_t i = 0, least; ; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2; k++)
			if (k < s->count && comes_before(s, k, least))
				least = k;
		if (least == i)
			return;
		swap(s, i, least);
	}
}

/* ---- one of several ---- */

/* The k-th of n equal parts; what does not divide goes to the later ones. */
static int64_t part(int64_t whole, int64_t k, int64_t n)
{
	__extension__ typedef __int128 wide;

	return (int64_t)((wide)whole * (k + 1) / n - (wide)whole * k / n);
}

static void share_out(struct event *e, enum event_field f, const struct several *s)
{
	if (event_has(e, f))
		event_set_int(e, f, part(detect_number(&s->event, f), s->given, s->count));
}

/* Evenly over the time, on whole seconds. */
static int64_t begin_us(const struct several *s)
{
	int64_t between = s->event.duration_us / US_PER_S - 1, begin;

	if (__builtin_add_overflow(s->event.time.us, between * s->given / (s->count - 1) * US_PER_S, &begin))
		begin = INT64_MAX;
	return begin;
}

static void give(struct seconds *s, struct event *e)
{
	struct several *one = s->heap[0];

	*e = one->event;
	e->time.us = one->next_us;
	e->duration_us = US_PER_S;
	e->set &= ~FIELD_BIT(FIELD_SAMPLES);
	share_out(e, FIELD_SEGMENTS, one);
	share_out(e, FIELD_BYTES, one);
	share_out(e, FIELD_RTT_SAMPLES, one);
	if (++one->given < one->count)
		one->next_us = begin_us(one);
	else
		swap(s, 0, --s->count);
	sift_down(s);
}

/* ---- all ---- */

/* How many it stands for: no more than there is room for in its time. */
static int64_t count_of(const struct event *e)
{
	int64_t count = event_int_or(e, FIELD_SAMPLES, 1), most = e->duration_us / US_PER_S;

	if (most > TOGETHER_MAX)
		most = TOGETHER_MAX;
	return count < most ? count : most;
}

static void keep(struct seconds *s)
{
	struct several *one;

	if (s->count == s->made)
		*ARENA_PUSH(s->arena, s->heap, s->made, s->capacity) = arena_alloc(s->arena, sizeof *one);
	one = s->heap[s->count++];
	detect_keep(s->arena, &s->ahead, &one->event);
	one->count = count_of(&s->ahead);
	one->given = 0;
	one->next_us = s->ahead.time.us;
	sift_up(s, s->count - 1);
}

static void look_ahead(struct seconds *s)
{
	s->rc = query_next(s->query, &s->ahead);
}

struct seconds *seconds_new(struct store *s, struct arena *a)
{
	const enum event_type types[] = { EVENT_NET_SECOND };
	struct seconds *out = arena_alloc(a, sizeof *out);

	*out = (struct seconds){ .arena = a, .query = query_events(s, types, 1), .rc = 1 };
	return out;
}

/* Whether those that are kept have one that comes before what stands ahead. */
static bool is_kept_first(const struct seconds *s)
{
	return s->count > 0 && (s->rc == 0 || is_before(s->heap[0], s->ahead.time.us, s->ahead.id));
}

int seconds_next(struct seconds *s, struct event *e)
{
	/* What was given last may have been the query's: only now it may go on. */
	if (s->rc == 1 && s->ahead.id == 0)
		look_ahead(s);
	while (s->rc == 1 && !is_kept_first(s) && count_of(&s->ahead) > 1) {
		keep(s);
		look_ahead(s);
	}
	if (s->rc < 0)
		return -1;
	if (is_kept_first(s)) {
		give(s, e);
		return 1;
	}
	if (s->rc == 0)
		return 0;
	*e = s->ahead;
	s->ahead.id = 0;
	return 1;
}

void seconds_free(struct seconds *s)
{
	if (s != NULL)
		query_free(s->query);
}
