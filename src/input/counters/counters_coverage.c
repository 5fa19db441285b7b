/* SPDX-License-Identifier: MIT */
/*
 * The time that samples cover (evidence.covered), and what the reading of an
 * input left out: told when all of it has been read.
 */

#include "input/counters/sampler.h"

#include <stdlib.h>

#include "base/order.h"

/* Samples further apart than so many of their usual intervals do not cover the time between them (method.md 1). */
#define GAP_INTERVALS 3

/* 0 when there is no interval. */
static int64_t median_interval_us(const struct sampler *s, struct arena *a)
{
	int64_t *intervals = arena_array(a, s->time_count + 1, sizeof *intervals);
	size_t n = 0;

	for (size_t i = 1; i < s->time_count; i++)
		if (!s->times[i].breaks)
			intervals[n++] = s->times[i].time.us - s->times[i - 1].time.us;
	if (n == 0)
		return 0;
	qsort(intervals, n, sizeof *intervals, order_i64_items);
	return intervals[n / 2];
}

static int put_covered(const struct sampler *s, size_t from, size_t to)
{
	struct event e;
	int64_t length_us;

	if (__builtin_sub_overflow(s->times[to].time.us, s->times[from].time.us, &length_us) || length_us <= 0)
		return 0;
	event_init(&e, EVENT_COVERED);
	e.time = s->times[from].time;
	e.duration_us = length_us;
	e.host = s->host;
	event_set_text(&e, FIELD_EVIDENCE_KIND, sv_of(family_infos[s->family].name));
	event_set_int(&e, FIELD_SAMPLES, (int64_t)(to - from + 1));
	event_set_text(&e, FIELD_SCOPE, sv_of(s->scope));
	return ingest_put(s->of->in, &e);
}

static int put_coverage(const struct sampler *s)
{
	int64_t longest_us, median_us = median_interval_us(s, s->of->in->input);
	size_t from = 0;

	if (__builtin_mul_overflow(median_us, GAP_INTERVALS, &longest_us))
		longest_us = INT64_MAX;
	for (size_t i = 1; i <= s->time_count; i++) {
		if (i < s->time_count && !s->times[i].breaks &&
		    s->times[i].time.us - s->times[i - 1].time.us <= longest_us)
			continue;
		if (i - from > 1 && put_covered(s, from, i - 1) < 0)
			return -1;
		from = i;
	}
	return 0;
}

/* Those of one host and family: whole samples first, then series, the fullest first. */
static int compare_samplers(const void *x, const void *y)
{
	const struct sampler *const *px = x, *const *py = y;
	const struct sampler *a = *px, *b = *py;

	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	int order = sv_cmp(a->host, b->host);
	if (order == 0)
		order = a->of_series - b->of_series;
	if (order == 0)
		order = (a->time_count < b->time_count) - (a->time_count > b->time_count);
	return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool has_seen(struct sampler *const *group, size_t n, enum counter_id needed)
{
	for (size_t i = 0; i < n; i++)
		if (needed == COUNTER_COUNT || group[i]->seen[needed])
			return true;
	return false;
}

/* Without them the family's question is not answered: quiet samples would say nothing. */
static bool tells_enough(struct diag *diag, struct sampler *const *group, size_t n)
{
	const struct family_info *f = &family_infos[group[0]->family];
	enum counter_id lacking = has_seen(group, n, f->needs) ? f->also : f->needs;

	if (has_seen(group, n, lacking))
		return true;
	diag_add(diag, SEVERITY_NOTE, "counters.partial", NULL,
		 "%s without %s: what grew is shown, what did not grow is no sign of a quiet network", f->name,
		 counter_infos[lacking].name);
	return false;
}

/* Of several series the fullest stands for all. */
static int finish_group(struct diag *diag, struct sampler *const *group, size_t n)
{
	const struct sampler *s = group[0];

	if (s->time_count == 0)
		return 0;
	if (s->time_count > 1)
		return tells_enough(diag, group, n) ? put_coverage(s) : 0;
	diag_add(diag, SEVERITY_NOTE, "counters.lone_sample", NULL,
		 "a single sample of %s: counters speak by their growth, two samples at least are needed",
		 family_infos[s->family].name);
	return 0;
}

static void tell_left_out(const struct counters *c)
{
	if (c->torn.count > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "counters.torn", &c->torn.first,
			 "cut off, or under no heading that it fits: left out (%llu of them, the first here)",
			 (unsigned long long)c->torn.count);
	if (c->unrecognized.count > 0)
		diag_add(c->in->diag, SEVERITY_NOTE, "counters.unrecognized", &c->unrecognized.first,
			 "a line of no format that is known (%llu of them, the first here)",
			 (unsigned long long)c->unrecognized.count);
}

int counters_finish(struct counters *c)
{
	size_t from = 0;
	int rc = 0;

	tell_left_out(c);
	if (c->count > 1)
		qsort(c->samplers, c->count, sizeof(struct sampler *), compare_samplers);
	for (size_t i = 1; i <= c->count && rc == 0; i++) {
		if (i < c->count && c->samplers[i]->family == c->samplers[from]->family &&
		    sv_eq(c->samplers[i]->host, c->samplers[from]->host))
			continue;
		if (c->count > 0)
			rc = finish_group(c->in->diag, c->samplers + from, i - from);
		from = i;
	}
	return rc;
}
