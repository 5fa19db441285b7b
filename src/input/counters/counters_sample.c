/* SPDX-License-Identifier: MIT */
/*
 * Samples of counters, whatever wrote them: the growth of each counter between
 * two samples of one host. Growth is never given across a reset (input-formats.md
 * 1.15). What time the samples cover is counters_coverage.c's.
 */

#include "input/counters/sampler.h"

#include <stdlib.h>

const struct counter_info counter_infos[COUNTER_COUNT] = {
#define FAMILY(id, name, wraps, apart, strength, scope, needs, also)
#define COUNTER(id, family, name, column, reset_only, why) { FAMILY_##family, name, column, reset_only, why },
#include "input/counters/counters.def"
#undef COUNTER
#undef FAMILY
};

const struct family_info family_infos[FAMILY_COUNT] = {
#define COUNTER(id, family, name, column, reset_only, why)
#define FAMILY(id, name, wraps, apart, strength, scope, needs, also) { name, wraps, apart, STRENGTH_##strength, scope, needs, also },
#include "input/counters/counters.def"
#undef FAMILY
#undef COUNTER
};

/* A CPU does not count faster: above the packet rate of a 10 Gbit/s line. A wrap that implies more is a reset. */
#define GROWTH_PER_S_MAX 20000000
/* What wraps has counted nearly all of its 32 bits. */
#define WRAP_LEAST (UINT32_MAX / 2)
#define NAMES_MAX 65536

struct counters *counters_new(struct ingest *in)
{
	struct counters *c = arena_alloc(in->input, sizeof *c);

	c->in = in;
	return c;
}

/* ---- names ---- */

static size_t slot_of(const struct sv *names, size_t slots, struct sv name)
{
	size_t at = (size_t)sv_hash(SV_HASH, name) & (slots - 1);

	while (!sv_is_absent(names[at]) && !sv_eq(names[at], name))
		at = (at + 1) & (slots - 1);
	return at;
}

static void more_slots(struct counters *c)
{
	size_t slots = c->name_slots == 0 ? 64 : 2 * c->name_slots;
	struct sv *names = arena_array(c->in->input, slots, sizeof *names);

	for (size_t i = 0; i < c->name_slots; i++)
		if (!sv_is_absent(c->names[i]))
			names[slot_of(names, slots, c->names[i])] = c->names[i];
	c->names = names;
	c->name_slots = slots;
}

struct sv counters_name(struct counters *c, struct sv name)
{
	if (sv_is_absent(name))
		return name;
	if (2 * c->name_count >= c->name_slots)
		more_slots(c);
	struct sv *slot = &c->names[slot_of(c->names, c->name_slots, name)];
	if (!sv_is_absent(*slot))
		return *slot;
	if (c->name_count == NAMES_MAX) {
		diag_add(c->in->diag, SEVERITY_WARNING, "counters.too_many", NULL,
			 "more than %d interfaces, connections and the like: the others are left out", NAMES_MAX);
		return SV_ABSENT;
	}
	c->name_count++;
	*slot = arena_copy(c->in->input, name);
	return *slot;
}

void counters_format(struct counters *c, const char *format)
{
	struct sv all = c->in->info->format, rest = all;

	while (!sv_is_absent(rest))
		if (sv_eq(sv_trim(sv_cut(&rest, ',')), sv_of(format)))
			return;
	c->in->info->format = sv_is_absent(all) ? sv_of(format)
						: arena_printf(c->in->input, "%.*s, %s", SV_ARG(all), format);
}

/* ---- what is left out ---- */

static void leave_out(const struct counters *c, struct left_out *l, const struct place *place)
{
	if (l->count++ > 0)
		return;
	l->first = *place;
	l->first.input = c->in->info->id;
}

void counters_torn(struct counters *c, const struct place *place)
{
	leave_out(c, &c->torn, place);
}

void counters_unrecognized(struct counters *c, const struct place *place)
{
	leave_out(c, &c->unrecognized, place);
	c->in->info->unrecognized++;
}

void counters_unended(struct counters *c, const struct line *line)
{
	const struct place place = counter_place(line);

	c->in->info->records++;
	c->in->info->skipped++;
	diag_add(c->in->diag, SEVERITY_WARNING, "counters.unended", &place,
		 "the input ends in this line, without a line feed behind it: its last number may have lost digits, it is left "
		 "out (where it is whole, add a line feed)");
}

void counters_strays(struct counters *c, uint64_t pieces, const struct place *first)
{
	if (pieces > 0)
		diag_add(c->in->diag, SEVERITY_WARNING, "counters.stray", first,
			 "bytes that belong to no document: passed over (%llu pieces, the first here)",
			 (unsigned long long)pieces);
}

void counters_unlike(struct counters *c, const struct place *place)
{
	c->in->info->records++;
	c->in->info->skipped++;
	diag_add(c->in->diag, SEVERITY_WARNING, "counters.unlike", place,
		 "a document that is not like the first: left out");
}

/* ---- samplers ---- */

static struct sampler *sampler_new(struct counters *c, struct sv host, enum counter_family family)
{
	struct sampler *s = arena_alloc(c->in->input, sizeof *s);

	*s = (struct sampler){
		.of = c, .index = c->count, .host = host, .family = family, .scope = family_infos[family].scope
	};
	*ARENA_PUSH(c->in->input, c->samplers, c->count, c->capacity) = s;
	return s;
}

struct sampler *counters_sampler(struct counters *c, struct sv host, enum counter_family family)
{
	for (size_t i = 0; i < c->count; i++)
		if (!c->samplers[i]->of_series && c->samplers[i]->family == family &&
		    sv_eq(c->samplers[i]->host, host))
			return c->samplers[i];
	return sampler_new(c, host, family);
}

struct sampler *counters_series(struct counters *c, struct sv host, enum counter_family family)
{
	struct sampler *s = sampler_new(c, host, family);

	s->of_series = true;
	return s;
}

void counters_scope(struct sampler *s, const char *scope)
{
	s->scope = scope;
}

void sampler_add(struct sampler *s, const struct reading *r)
{
	*ARENA_PUSH(s->of->in->input, s->now.items, s->now.count, s->now.capacity) = *r;
	s->seen[r->counter] = true;
}

void sampler_lacks(struct sampler *s)
{
	s->now_lacks = true;
}

/* ---- differences of two samples ---- */

static int compare_keys(const struct reading *a, const struct reading *b)
{
	if (a->counter != b->counter)
		return a->counter < b->counter ? -1 : 1;
	int order = sv_cmp(a->device, b->device);
	if (order != 0)
		return order;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int compare_readings(const void *x, const void *y)
{
	const struct reading *a = x, *b = y;
	int order = compare_keys(a, b);

	if (order == 0)
		order = (a->place.number > b->place.number) - (a->place.number < b->place.number);
	return order != 0 ? order : (a->place.byte_offset > b->place.byte_offset) - (a->place.byte_offset < b->place.byte_offset);
}

/* False when the counter was reset between the two. */
static bool growth(const struct family_info *f, uint64_t before, uint64_t now, int64_t interval_us, int64_t *delta)
{
	uint64_t grown = now - before;

	if (now < before) {
		if (!f->wraps_at_32_bits || before > UINT32_MAX || before < WRAP_LEAST)
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

/* "A B" of a connection, the side that opened it first; "=A B" when that is not known, and then it is no path. */
static void set_path(struct event *e, struct sv device)
{
	struct sv b = device, a = sv_cut(&b, ' ');

	if (sv_starts_with(device, SV("="))) {
		event_set_text(e, FIELD_DEVICE, sv_sub(device, 1, device.n));
		return;
	}
	event_set_text(e, FIELD_PATH_A, a);
	event_set_text(e, FIELD_PATH_B, b);
}

static int put_delta(const struct sampler *s, const struct reading *r, struct host_time start, int64_t interval_us,
		     int64_t delta)
{
	const struct counter_info *counter = &counter_infos[r->counter];
	struct event e;

	if (counter->reset_only != NULL || delta == 0)
		return 0;
	event_init(&e, EVENT_COUNTER_DELTA);
	e.time = start;
	e.duration_us = interval_us;
	e.host = s->host;
	e.place = r->place;
	e.strength = family_infos[s->family].strength;
	event_set_text(&e, FIELD_COUNTER, sv_of(counter->name));
	event_set_int(&e, FIELD_DELTA, delta);
	if (r->cpu >= 0)
		event_set_int(&e, FIELD_CPU, r->cpu);
	if (s->family == FAMILY_SOCKETS && !sv_is_absent(r->device))
		set_path(&e, r->device);
	else
		event_set_text(&e, FIELD_DEVICE, r->device);
	return ingest_put(s->of->in, &e);
}

static bool was_reset(const struct sampler *s, struct sv device)
{
	for (size_t i = 0; i < s->reset_count; i++)
		if (sv_eq(s->reset[i], device))
			return true;
	return false;
}

static void note_reset(struct sampler *s, struct sv device)
{
	if (!was_reset(s, device))
		*ARENA_PUSH(s->of->in->input, s->reset, s->reset_count, s->reset_capacity) = device;
}

/* Gauges may fall. */
static bool is_gauge(enum counter_id id)
{
	return id == CONNTRACK_ENTRIES || id == CONNTRACK_LIMIT || id == CONNTRACK_FULL;
}

/*
 * What is of interest beside another alone: how much traffic there was where none of it was lost would be an
 * event for each interface and connection of each sample.
 */
static const struct {
	enum counter_id measure, of;
} measures[] = {
	{ INTERFACE_RX_PACKETS, INTERFACE_RX_DROPPED },
	{ INTERFACE_TX_PACKETS, INTERFACE_TX_DROPPED },
	{ SOCKET_SEGMENTS, SOCKET_RETRANSMITS },
};

static int compare_for_search(const void *key, const void *item)
{
	return compare_keys(key, item);
}

static const struct reading *find_reading(const struct readings *all, const struct reading *key)
{
	return bsearch(key, all->items, all->count, sizeof *all->items, compare_for_search);
}

/* Whether what it measures has grown, or is not told. */
static bool is_wanted(const struct sampler *s, const struct reading *r)
{
	struct reading key = *r;
	size_t i = 0;

	while (i < sizeof measures / sizeof measures[0] && measures[i].measure != r->counter)
		i++;
	if (i == sizeof measures / sizeof measures[0] || !s->seen[measures[i].of])
		return true;
	key.counter = measures[i].of;
	const struct reading *before = find_reading(&s->before, &key), *now = find_reading(&s->now, &key);
	return before != NULL && now != NULL && before->value != now->value;
}

/* Both lists are sorted. Puts what is in both, or only looks for resets. */
static int walk_differences(struct sampler *s, int64_t interval_us, bool put)
{
	const struct family_info *f = &family_infos[s->family];
	size_t i = 0, j = 0;

	while (i < s->before.count && j < s->now.count) {
		const struct reading *a = &s->before.items[i], *b = &s->now.items[j];
		int order = compare_keys(a, b);
		int64_t delta;

		if (order != 0) {
			i += order < 0;
			j += order > 0;
			continue;
		}
		i++;
		j++;
		if (is_gauge(b->counter))
			continue;
		if (!growth(f, a->value, b->value, interval_us, &delta))
			note_reset(s, b->device);
		else if (put && !(f->apart && was_reset(s, b->device)) && is_wanted(s, b) &&
			 put_delta(s, b, s->before_time, interval_us, delta) < 0)
			return -1;
	}
	return 0;
}

/* Two gauges of one sample. */
static int put_full(const struct sampler *s, int64_t interval_us)
{
	const struct reading *entries = NULL, *limit = NULL;

	for (size_t i = 0; i < s->now.count; i++) {
		if (s->now.items[i].counter == CONNTRACK_ENTRIES)
			entries = &s->now.items[i];
		else if (s->now.items[i].counter == CONNTRACK_LIMIT)
			limit = &s->now.items[i];
	}
	if (entries == NULL || limit == NULL || limit->value == 0 || entries->value < limit->value)
		return 0;
	struct reading full = *entries;
	full.counter = CONNTRACK_FULL;
	return put_delta(s, &full, s->before_time, interval_us, 1);
}

/* The interval from the sample before to this one: its growth, or why it says nothing. */
static int take_interval(struct sampler *s, struct host_time time, size_t rows, const struct place *place, bool *breaks)
{
	const struct family_info *f = &family_infos[s->family];
	struct diag *diag = s->of->in->diag;
	int64_t interval_us;

	*breaks = true;
	if (__builtin_sub_overflow(time.us, s->before_time.us, &interval_us) || interval_us < 0) {
		diag_add(diag, SEVERITY_WARNING, "counters.time_back", place,
			 "the sample of %s is older than the one before it (clock step, or files joined): no "
			 "difference taken",
			 f->name);
		return 0;
	}
	if (rows != s->before_rows) {
		diag_add(diag, SEVERITY_NOTE, "counters.rows_changed", place,
			 "%s had %zu rows and now has %zu: rows may be other CPUs', no difference taken", f->name,
			 s->before_rows, rows);
		return 0;
	}
	s->reset_count = 0;
	(void)walk_differences(s, interval_us, false);
	if (s->reset_count > 0)
		diag_add(diag, SEVERITY_NOTE, "counters.reset", place,
			 "counters of %s fell: they were reset, no difference taken", f->name);
	if (s->reset_count > 0 && !f->apart)
		return 0;
	*breaks = false;
	if (s->family == FAMILY_CONNTRACK_TABLE)
		return put_full(s, interval_us);
	return walk_differences(s, interval_us, true);
}

static void add_time(struct sampler *s, struct host_time time, bool breaks)
{
	*ARENA_PUSH(s->of->in->input, s->times, s->time_count, s->time_capacity) =
		(struct sample_time){ time, breaks };
}

/* This sample becomes the one before. */
static void keep_sample(struct sampler *s, struct host_time time, size_t rows)
{
	struct readings spare = s->before;

	s->before = s->now;
	s->now = spare;
	s->now.count = 0;
	s->before_lacks = s->now_lacks;
	s->now_lacks = false;
	s->has_before = true;
	s->before_time = time;
	s->before_rows = rows;
}

int sampler_close(struct sampler *s, struct host_time time, size_t rows, const struct place *place)
{
	bool breaks = false;

	/* A clock of whole seconds and a faster loop: the next second's sample holds the growth as well. */
	if (s->has_before && s->before_time.us == time.us) {
		s->now.count = 0;
		s->now_lacks = false;
		return 0;
	}
	if (s->now.count > 1)
		qsort(s->now.items, s->now.count, sizeof *s->now.items, compare_readings);
	if (s->has_before && take_interval(s, time, rows, place, &breaks) < 0)
		return -1;
	add_time(s, time, breaks || s->now_lacks || (s->has_before && s->before_lacks));
	keep_sample(s, time, rows);
	return 0;
}

/* ---- what is growth already ---- */

int sampler_grown(struct sampler *s, const struct reading *r, struct host_time start, struct host_time end)
{
	int64_t interval_us;

	s->seen[r->counter] = true;
	if (r->value > INT64_MAX || __builtin_sub_overflow(end.us, start.us, &interval_us) || interval_us <= 0)
		return 0;
	return put_delta(s, r, start, interval_us, (int64_t)r->value);
}

/* Files that print one table after the other begin with the same times again. */
void sampler_covers(struct sampler *s, struct host_time start, struct host_time end)
{
	const struct sample_time *last = s->time_count > 0 ? &s->times[s->time_count - 1] : NULL;

	if (start.us >= end.us || (last != NULL && end.us <= last->time.us))
		return;
	if (last == NULL || last->time.us < start.us)
		add_time(s, start, last != NULL);
	add_time(s, end, false);
}
