/* SPDX-License-Identifier: MIT */
/*
 * What stands below one clock line of a loop: blocks of several formats, which
 * become samples when the next clock line comes. Of two formats with the same
 * figures one gives them.
 */

#include "input/counters/loop_round.h"

static void block_clear(struct loop_block *b)
{
	struct loop_block empty = {
		.of = b->of,
		.arena = b->arena,
		.section = b->section,
		.readings = b->readings,
		.capacity = b->capacity,
		.is_growth = b->is_growth,
		.state = b->state,
	};

	*b = empty;
}

/* Which block gives each counter: of two formats with the same figures the first in the table. */
struct givers {
	const struct loop_block *of[COUNTER_COUNT];
};

static struct givers find_givers(const struct loop *l)
{
	struct givers g = { { NULL } };

	for (size_t i = 0; i < l->format_count; i++)
		for (size_t k = 0; k < l->blocks[i].count && !l->blocks[i].misnumbered; k++)
			if (g.of[l->blocks[i].readings[k].counter] == NULL)
				g.of[l->blocks[i].readings[k].counter] = &l->blocks[i];
	return g;
}

/* What was not printed has not grown: the family was looked at all the same. */
static int cover_growth(struct loop *l, const struct loop_block *b, enum counter_family family, struct host_time before)
{
	struct sampler *s = counters_sampler(l->of, SV_ABSENT, family);
	int rc = 0;

	for (unsigned i = 0; i < COUNTER_COUNT && rc == 0; i++) {
		struct reading none = { .counter = (enum counter_id)i, .cpu = -1, .place = b->first };

		if (counter_infos[i].family == family && !loop_has(b, (enum counter_id)i, SV_ABSENT))
			rc = sampler_grown(s, &none, before, l->clock);
	}
	sampler_covers(s, before, l->clock);
	return rc;
}

/* Increments have grown since the round before; by then their interval is known. */
static int take_growth(struct loop *l, struct loop_block *b, const struct givers *g)
{
	const struct host_time *before = b->state;
	int rc = 0;

	for (size_t i = 0; before != NULL && i < b->count && rc == 0; i++) {
		const struct reading *r = &b->readings[i];

		if (g->of[r->counter] == b)
			rc = sampler_grown(counters_sampler(l->of, SV_ABSENT, counter_infos[r->counter].family), r,
					   *before, l->clock);
	}
	for (unsigned f = 0; before != NULL && f < FAMILY_COUNT && rc == 0; f++)
		if (b->of_family[f])
			rc = cover_growth(l, b, (enum counter_family)f, *before);
	struct host_time *kept = arena_alloc(l->in->input, sizeof *kept);
	*kept = l->clock;
	b->state = kept;
	return rc;
}

/* The sample of one family, as the blocks of this round give it. */
static int close_sample(struct loop *l, enum counter_family family, const struct givers *g)
{
	struct sampler *s = NULL;
	const struct loop_block *first = NULL;

	for (size_t i = 0; i < l->format_count; i++) {
		const struct loop_block *b = &l->blocks[i];

		for (size_t k = 0; k < b->count && !b->is_growth; k++) {
			const struct reading *r = &b->readings[k];

			if (counter_infos[r->counter].family != family || g->of[r->counter] != b)
				continue;
			if (s == NULL)
				s = counters_sampler(l->of, SV_ABSENT, family);
			if (first == NULL)
				first = b;
			if (b->lacks_rows)
				sampler_lacks(s);
			if (b->scope != NULL && family == FAMILY_PRESSURE)
				counters_scope(s, b->scope);
			sampler_add(s, r);
		}
	}
	return s == NULL ? 0 : sampler_close(s, l->clock, first->by_order ? first->rows : 0, &first->first);
}

static int close_samples(struct loop *l)
{
	struct givers g = find_givers(l);
	int rc = 0;

	for (size_t i = 0; i < l->format_count && rc == 0; i++)
		/* What was to follow the tear is not known not to have grown. */
		if (l->blocks[i].is_growth && l->blocks[i].rows > 0 && !l->is_torn)
			rc = take_growth(l, &l->blocks[i], &g);
	for (unsigned f = 0; f < FAMILY_COUNT && rc == 0; f++)
		rc = close_sample(l, (enum counter_family)f, &g);
	return rc;
}

/* A file that is one snapshot and nothing else is whole as it is. */
static void take_alone(struct loop *l, const struct loop_block *b, const char *name)
{
	diag_add(l->in->diag, SEVERITY_NOTE, "counters.lone_sample", &b->first,
		 "a single sample of %s, without its time: counters speak by their growth, two samples with the "
		 "time before each are needed",
		 name);
	counters_format(l->of, name);
}

static bool lacks_clock(const struct loop *l, const struct loop_block *b)
{
	return b->rows > 0 && !l->has_clock && !b->self_timed;
}

/* Rows that no time stands before, of however many formats: a first sample whose start is cut off, as a rule. Told once. */
static void tell_without_clock(struct loop *l)
{
	const bool is_date = l->undated || l->counts_from_start;
	const char *why = l->undated ? "the line with the time before it has no date, and nothing tells it (--from gives one)"
			  : l->counts_from_start ? "its time counts from the machine's start, and nothing tells when that was (one line of "
						   "date beside a row of /proc/uptime would)"
						 : "without a line with the time before it";
	const struct loop_block *first = NULL;
	size_t count = 0, of = 0;

	for (size_t i = 0; i < l->format_count; i++) {
		struct loop_block *b = &l->blocks[i];

		if (!lacks_clock(l, b))
			continue;
		b->damaged = true;
		count++;
		if (first == NULL || b->first.number < first->first.number) {
			first = b;
			of = i;
		}
	}
	if (count == 1)
		diag_add(l->in->diag, SEVERITY_WARNING, is_date ? "counters.undated" : "counters.no_clock",
			 &first->first, "a sample of %s, %s: left out", l->formats[of].name, why);
	else if (count > 1)
		diag_add(l->in->diag, SEVERITY_WARNING, is_date ? "counters.undated" : "counters.no_clock",
			 &first->first, "a sample of %s and of %zu more, %s: left out", l->formats[of].name, count - 1,
			 why);
}

/* What the round's blocks are as records: each is a sample. */
static void count_block(struct loop *l, size_t i, bool alone)
{
	struct loop_block *b = &l->blocks[i];

	if (b->rows == 0 && !b->damaged)
		return;
	l->in->info->records++;
	if (alone && lacks_clock(l, b))
		take_alone(l, b, l->formats[i].name);
	else if (b->rows > 0 && !lacks_clock(l, b))
		counters_format(l->of, l->formats[i].name);
	if (b->damaged)
		l->in->info->skipped++;
}

int loop_close_round(struct loop *l, bool at_end)
{
	bool alone = at_end && !l->has_clock && !l->undated && !l->counts_from_start;
	int rc = 0;

	for (size_t i = 0; i < l->format_count && rc == 0; i++)
		if (l->formats[i].close != NULL)
			rc = l->formats[i].close(&l->blocks[i], l->in, l->has_clock ? &l->clock : NULL);
	if (!alone)
		tell_without_clock(l);
	for (size_t i = 0; i < l->format_count; i++)
		count_block(l, i, alone);
	if (rc == 0 && l->has_clock)
		rc = close_samples(l);
	for (size_t i = 0; i < l->format_count; i++) {
		block_clear(&l->blocks[i]);
		block_clear(&l->probes[i]);
	}
	l->has_uptime = false;
	return rc;
}
