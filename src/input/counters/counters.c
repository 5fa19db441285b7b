/* SPDX-License-Identifier: MIT */
/*
 * Kernel counters as people record them: a loop that writes the time and then
 * files of /proc/net, round after round (input-formats.md 1.14). Out come the
 * growth of each counter between two samples (counter.delta, over the
 * interval between their clocks) and the time that the samples cover.
 *
 * A clock line serves each family once: a second block of the same file under
 * one clock has a clock of its own that was not understood, and its time is
 * not invented. Growth is never given across a reset (1.15).
 */

#include "input/counters/counters.h"

#include <stdlib.h>
#include <string.h>

#include "input/counters/counters_probe.h"

/* In this order a line is offered: rows of a table that has begun before rows that are known by their shape alone. */
static const struct counter_family *const families[] = {
	&counters_conntrack,
	&counters_softnet,
	&counters_snmp,
	&counters_netstat,
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

/* A CPU does not count faster: above the packet rate of a 10 Gbit/s line. A wrap that implies more is a reset. */
#define GROWTH_PER_S_MAX 20000000
/* Samples further apart than so many of their usual intervals do not cover the time between them (method.md 1). */
#define GAP_INTERVALS 3
#define SNIFF_LINES 200

struct sample_time {
	struct host_time time;
	bool breaks; /* the interval before it says nothing: a reset, or time went back */
};

struct sampler {
	const struct counter_family *family;
	struct counter_block now;
	struct place first_row; /* of the block */
	bool has_before;
	struct host_time before_time;
	size_t before_rows;
	struct reading *before;
	size_t before_count, before_capacity;
	struct sample_time *times;
	size_t time_count, time_capacity;
};

struct reader {
	struct ingest *in;
	bool has_clock;
	struct host_time clock;
	struct sampler samplers[FAMILY_COUNT];
};

/* ---- helpers of the families ---- */

void counter_add(struct counter_block *b, size_t counter, int64_t cpu, uint64_t value, const struct line *line)
{
	*ARENA_PUSH(b->arena, b->readings, b->count, b->capacity) = (struct reading){
		.counter = (uint16_t)counter,
		.cpu = cpu,
		.value = value,
		.place = { .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset },
	};
}

struct sv counter_word(struct sv *rest)
{
	struct sv s = *rest;

	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = sv_sub(s, 1, s.n);
	size_t n = 0;
	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	*rest = sv_sub(s, n, s.n);
	return n == 0 ? SV_ABSENT : sv_sub(s, 0, n);
}

bool counter_is_hex8(struct sv word, uint64_t *value)
{
	return word.n == 8 && sv_to_hex64(word, value);
}

void counter_columns(const struct counter_family *f, struct counter_block *b, struct sv words)
{
	b->column_count = 0;
	for (size_t i = 0; i < f->counter_count; i++)
		b->column_of[i] = -1;
	for (struct sv word = counter_word(&words); !sv_is_absent(word); word = counter_word(&words), b->column_count++)
		for (size_t i = 0; i < f->counter_count; i++)
			if (sv_eq(word, sv_of(f->counters[i].column)))
				b->column_of[i] = (int)b->column_count;
}

/* ---- blocks ---- */

static void block_clear(struct counter_block *b)
{
	struct counter_block empty = { .arena = b->arena, .readings = b->readings, .capacity = b->capacity };

	*b = empty;
}

/* Offers a line to each family; *taker is the one that knows it. */
static enum counter_line offer(struct sampler *samplers, const struct line *line, const char **why, size_t *taker)
{
	enum counter_line answer = COUNTER_LINE_OTHER;

	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		struct counter_block *b = &samplers[i].now;

		if (answer != COUNTER_LINE_OTHER) {
			b->in_rows = false;
			continue;
		}
		answer = samplers[i].family->take(b, line, why);
		*taker = i;
	}
	return answer;
}

static void end_tables(struct sampler *samplers)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		samplers[i].now.in_rows = false;
}

/* ---- differences of two samples ---- */

static int compare_readings(const void *x, const void *y)
{
	const struct reading *a = x, *b = y;

	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->place.number < b->place.number ? -1 : a->place.number > b->place.number;
}

/* False when the counter was reset between the two. */
static bool growth(const struct counter_family *f, uint64_t before, uint64_t now, int64_t interval_us, int64_t *delta)
{
	uint64_t grown = now - before;

	if (now < before) {
		if (!f->wraps_at_32_bits || before > UINT32_MAX)
			return false;
		grown &= UINT32_MAX;
		if (grown / GROWTH_PER_S_MAX > (uint64_t)(interval_us / US_PER_S) + 1)
			return false;
	}
	if (grown > INT64_MAX)
		return false;
	*delta = (int64_t)grown;
	return true;
}

static int put_delta(struct ingest *in, const struct sampler *s, const struct reading *r, int64_t interval_us,
		     int64_t delta)
{
	const struct counter *counter = &s->family->counters[r->counter];
	struct event e;

	if (counter->reset_only != NULL || delta == 0)
		return 0;
	event_init(&e, EVENT_COUNTER_DELTA);
	e.time = s->before_time;
	e.duration_us = interval_us;
	e.place = r->place;
	event_set_text(&e, FIELD_COUNTER, sv_of(counter->name));
	event_set_int(&e, FIELD_DELTA, delta);
	if (r->cpu >= 0)
		event_set_int(&e, FIELD_CPU, r->cpu);
	return ingest_put(in, &e);
}

/* Both lists are sorted. Calls put for what is in both, or only looks for a reset when in is NULL. */
static int walk_differences(struct ingest *in, const struct sampler *s, int64_t interval_us, bool *reset)
{
	size_t i = 0, j = 0;

	while (i < s->before_count && j < s->now.count) {
		const struct reading *a = &s->before[i], *b = &s->now.readings[j];
		int64_t delta;

		if (a->counter != b->counter || a->cpu != b->cpu) {
			bool a_first = a->counter != b->counter ? a->counter < b->counter : a->cpu < b->cpu;

			i += a_first;
			j += !a_first;
			continue;
		}
		i++;
		j++;
		if (!growth(s->family, a->value, b->value, interval_us, &delta))
			*reset = true;
		else if (in != NULL && put_delta(in, s, b, interval_us, delta) < 0)
			return -1;
	}
	return 0;
}

/* The interval from the sample before to this one: its growth, or why it says nothing. */
static int take_interval(struct reader *r, struct sampler *s, bool *breaks)
{
	int64_t interval_us = r->clock.us - s->before_time.us;

	*breaks = true;
	if (interval_us < 0) {
		diag_add(r->in->diag, SEVERITY_WARNING, "counters.time_back", &s->first_row,
			 "the sample of %s is older than the one before it (clock step, or files joined): no "
			 "difference taken",
			 s->family->name);
		return 0;
	}
	if (s->now.by_order && s->now.rows != s->before_rows) {
		diag_add(r->in->diag, SEVERITY_NOTE, "counters.rows_changed", &s->first_row,
			 "%s had %zu rows and now has %zu: rows may be other CPUs', no difference taken",
			 s->family->name, s->before_rows, s->now.rows);
		return 0;
	}
	bool reset = false;
	(void)walk_differences(NULL, s, interval_us, &reset);
	if (reset) {
		diag_add(r->in->diag, SEVERITY_NOTE, "counters.reset", &s->first_row,
			 "counters of %s fell: they were reset, no difference taken", s->family->name);
		return 0;
	}
	*breaks = false;
	return walk_differences(r->in, s, interval_us, &reset);
}

/* This sample becomes the one before. */
static void keep_sample(struct sampler *s, struct host_time clock)
{
	struct reading *readings = s->before;
	size_t capacity = s->before_capacity;

	s->has_before = true;
	s->before_time = clock;
	s->before_rows = s->now.rows;
	s->before = s->now.readings;
	s->before_count = s->now.count;
	s->before_capacity = s->now.capacity;
	s->now.readings = readings;
	s->now.capacity = capacity;
}

static int take_sample(struct reader *r, struct sampler *s)
{
	bool breaks = false;

	/* A clock of whole seconds and a faster loop: the next second's sample holds the growth as well. */
	if (s->has_before && s->before_time.us == r->clock.us)
		return 0;
	if (s->now.count > 1)
		qsort(s->now.readings, s->now.count, sizeof *s->now.readings, compare_readings);
	if (s->has_before && take_interval(r, s, &breaks) < 0)
		return -1;
	*ARENA_PUSH(r->in->input, s->times, s->time_count, s->time_capacity) = (struct sample_time){ r->clock, breaks };
	r->in->info->records++;
	keep_sample(s, r->clock);
	return 0;
}

/* At the next clock line, and at the end. */
static int close_blocks(struct reader *r)
{
	int rc = 0;

	for (size_t i = 0; i < FAMILY_COUNT && rc == 0; i++) {
		struct sampler *s = &r->samplers[i];

		if (s->now.rows > 0 && !r->has_clock) {
			r->in->info->skipped++;
			diag_add(r->in->diag, SEVERITY_WARNING, "counters.no_clock", &s->first_row,
				 "a sample of %s without a line with the time before it: left out", s->family->name);
		} else if (s->now.rows > 0 && !s->now.misnumbered) {
			rc = take_sample(r, s);
		} else if (s->now.rows > 0) {
			r->in->info->skipped++;
		}
		block_clear(&s->now);
	}
	return rc;
}

/* ---- lines ---- */

/* "DATE: 2026-11-30 ..." or "time=1796045689": what stands after the label. */
static struct sv without_label(struct sv text)
{
	size_t n = 0;

	while (n < text.n && ((text.p[n] >= 'a' && text.p[n] <= 'z') || (text.p[n] >= 'A' && text.p[n] <= 'Z')))
		n++;
	if (n == 0 || n >= text.n || (text.p[n] != ':' && text.p[n] != '='))
		return text;
	return sv_trim(sv_sub(text, n + 1, text.n));
}

/* "### 2026-11-30 ... ###": what stands between the ornaments. */
static struct sv without_ornaments(struct sv text)
{
	static const char ornaments[] = "#=-* ";

	while (text.n > 0 && memchr(ornaments, text.p[0], sizeof ornaments - 1) != NULL)
		text = sv_sub(text, 1, text.n);
	while (text.n > 0 && memchr(ornaments, text.p[text.n - 1], sizeof ornaments - 1) != NULL)
		text = sv_sub(text, 0, text.n - 1);
	return text;
}

static bool is_clock(struct sv text, struct zone z, struct host_time *time, bool *zoned)
{
	text = without_ornaments(text);
	return tstamp_guess(text, z, time, zoned) || tstamp_guess(without_label(text), z, time, zoned);
}

static bool is_separator(struct sv text)
{
	return text.n == 0 || text.p[0] == '#' || without_ornaments(text).n == 0;
}

static void damaged(struct reader *r, const struct line *line, const char *code, const char *what)
{
	struct place place = { r->in->info->id, PLACE_LINE, line->number, line->byte_offset };

	r->in->info->skipped++;
	diag_add(r->in->diag, SEVERITY_WARNING, code, &place, "%s", what);
}

static int take_clock(struct reader *r, struct host_time time, bool zoned)
{
	int rc = close_blocks(r);

	r->has_clock = true;
	r->clock = time;
	ingest_zone(r->in, zoned);
	return rc;
}

static void take_row(struct reader *r, const struct line *line, struct sampler *s, bool first)
{
	if (first && s->now.rows == 1)
		s->first_row = (struct place){ r->in->info->id, PLACE_LINE, line->number, line->byte_offset };
}

/* What the user or the path says of the host outweighs what the probe that ran on it says. */
static void take_host(struct ingest *in, struct sv line)
{
	if (sv_is_absent(in->info->host))
		in->info->host = arena_copy(in->input, counters_probe_host(line));
}

/* Rows before clocks: a row may look like a time after a label, a time never looks like a row. */
static int take_line(struct reader *r, const struct line *line)
{
	struct line trimmed = { sv_trim(line->text), line->number, line->byte_offset, line->cut };
	size_t taker = 0, rows[FAMILY_COUNT];
	struct host_time time;
	const char *why = "";
	bool zoned;

	if (is_separator(trimmed.text) && !is_clock(trimmed.text, r->in->zone, &time, &zoned)) {
		end_tables(r->samplers);
		take_host(r->in, trimmed.text);
		return 0;
	}
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		rows[i] = r->samplers[i].now.rows;
	switch (offer(r->samplers, &trimmed, &why, &taker)) {
	case COUNTER_LINE_OTHER:
		if (is_clock(trimmed.text, r->in->zone, &time, &zoned))
			return take_clock(r, time, zoned);
		r->in->info->unrecognized++;
		break;
	case COUNTER_LINE_TAKEN:
		take_row(r, line, &r->samplers[taker], rows[taker] == 0);
		break;
	case COUNTER_LINE_AGAIN:
		damaged(r, line, "counters.no_clock",
			"the same counters a second time under one line with the time: left out");
		break;
	case COUNTER_LINE_DAMAGED:
		damaged(r, line, "counters.damaged", why);
		break;
	}
	return 0;
}

/* ---- coverage ---- */

static int compare_i64(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

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
	qsort(intervals, n, sizeof *intervals, compare_i64);
	return intervals[n / 2];
}

static int put_coverage(struct ingest *in, const struct sampler *s)
{
	int64_t longest_us = GAP_INTERVALS * median_interval_us(s, in->input);
	size_t from = 0;

	for (size_t i = 1; i <= s->time_count; i++) {
		if (i < s->time_count && !s->times[i].breaks &&
		    s->times[i].time.us - s->times[i - 1].time.us <= longest_us)
			continue;
		if (i - from > 1 &&
		    ingest_covered(in, s->family->name, s->times[from].time, s->times[i - 1].time, i - from) < 0)
			return -1;
		from = i;
	}
	if (s->time_count == 1)
		diag_add(in->diag, SEVERITY_NOTE, "counters.lone_sample", NULL,
			 "a single sample of %s: counters speak by their growth, two samples at least are needed",
			 s->family->name);
	return 0;
}

/* The input's format: each file that the loop wrote. */
static void describe(const struct reader *r)
{
	struct ingest *in = r->in;

	for (size_t i = 0; i < FAMILY_COUNT; i++) {
		if (r->samplers[i].time_count == 0)
			continue;
		struct sv format = sv_of(r->samplers[i].family->format);

		in->info->format = sv_is_absent(in->info->format)
					   ? format
					   : arena_printf(in->input, "%.*s, %s", SV_ARG(in->info->format), format.p);
	}
}

/* ---- the kind ---- */

static void samplers_init(struct sampler samplers[FAMILY_COUNT], struct arena *a)
{
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		samplers[i] = (struct sampler){ .family = families[i], .now = { .arena = a } };
}

static int read_counters(struct ingest *in)
{
	struct reader r = { .in = in };
	struct lines *lines = lines_new(in->stream, in->diag);
	struct line line;
	int rc = 0;

	samplers_init(r.samplers, in->input);
	/* -1 of lines_next is damage that has been recorded: what came before it is good. */
	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = take_line(&r, &line);
	if (rc == 0)
		rc = close_blocks(&r);
	for (size_t i = 0; i < FAMILY_COUNT && rc == 0; i++)
		rc = put_coverage(in, &r.samplers[i]);
	describe(&r);
	lines_free(lines);
	return rc;
}

static bool is_watch_output(struct sv head)
{
	size_t at;

	return sv_find(head, SV("\033["), &at) && (sv_find(sv_sub(head, 0, 4096), SV("Every "), &at) ||
						   sv_find(sv_sub(head, 0, 4096), SV("/proc/net/"), &at));
}

static enum sniffed sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	struct arena *a = arena_new();
	struct sampler samplers[FAMILY_COUNT];
	size_t known = 0, others = 0, readings = 0;

	(void)base_name;
	(void)rules;
	if (is_watch_output(head)) {
		arena_free(a);
		*why = "output of watch, which keeps no history: record with \"while sleep 1; do date; cat FILE; "
		       "done\"";
		return SNIFF_BROKEN;
	}
	if (counters_probe_begins(head)) {
		arena_free(a);
		return SNIFF_MINE;
	}
	samplers_init(samplers, a);
	for (uint64_t n = 1; !sv_is_absent(head) && n <= SNIFF_LINES; n++) {
		struct line line = { .text = sv_trim(sv_cut(&head, '\n')), .number = n };
		struct host_time time;
		const char *damage;
		size_t taker;
		bool zoned;

		if (is_separator(line.text))
			continue;
		if (offer(samplers, &line, &damage, &taker) != COUNTER_LINE_OTHER ||
		    is_clock(line.text, (struct zone){ 0 }, &time, &zoned))
			known++;
		else
			others++;
	}
	for (size_t i = 0; i < FAMILY_COUNT; i++)
		readings += samplers[i].now.count;
	arena_free(a);
	return readings > 0 && known >= others ? SNIFF_MINE : SNIFF_NOT_MINE;
}

const struct kind counters_kind = {
	.name = "counters",
	.sniff = sniff,
	.read = read_counters,
};
