/* SPDX-License-Identifier: MIT */
/* How the lines of an input are looked at: what is found out from its head. See input/log/scan.h. */

#include <string.h>

#include "base/cursor.h"
#include "input/kind.h"
#include "input/log/scan_plan.h"
#include "input/log/wrap.h"

/* Words that are shorter are found by marks. */
#define WORD_LEAST 8

/* Literals of rules that are shorter are looked for by marks too, if they are few. */
#define SHORT_BYTES 6

/* Of the lines at the start so many of a hundred may be wrapped: then it is a wrapper's file. */
#define WRAPPED_PERCENT 10

/* One table of signs after another is tried until all of the head have a place. */
#define SIGN_FACTORS 16
/* No line has a line feed in it. */
#define NO_SIGN '\n'

/* ---- the plan ---- */

/* "yyyy-MM-dd HH:mm:ss", with any bytes between, then a fraction, then a zone that is written. */
static bool is_plain_time(struct sv layout, bool *zoned)
{
	static const char shape[] = "yyyy?MM?dd?HH:mm:ss";
	size_t at = sizeof shape - 1;

	if (layout.n < at)
		return false;
	for (size_t i = 0; i < at; i++)
		if (shape[i] != '?' && shape[i] != layout.p[i])
			return false;
	if (at < layout.n && (layout.p[at] == '.' || layout.p[at] == ','))
		at++;
	while (at < layout.n && layout.p[at] == 'S')
		at++;
	*zoned = sv_eq(sv_sub(layout, at, layout.n), SV("XXX"));
	return *zoned || at == layout.n;
}

static void add_word(struct scan_plan *p, size_t at, const char *line)
{
	struct scan_word *w = &p->words.items[p->words.count++];
	size_t zone_at = p->fraction_at + p->fraction_digits;
	unsigned char bytes[8], range[8];

	for (size_t i = 0; i < 8; i++) {
		/* A written zone is the same for all of them. */
		bool digit = p->head->shape[at + i] == '0' && at + i < zone_at;

		bytes[i] = (unsigned char)(digit ? '0' : line[at + i]);
		range[i] = digit ? 0x7f - 9 : 0x7f;
	}
	w->at = at;
	memcpy(&w->bytes, bytes, 8);
	memcpy(&w->range, range, 8);
}

/* From a line that the head fits. */
static void take_words(struct scan_plan *p, const char *line)
{
	const struct head *h = p->head;
	size_t at = h->time_at + SCAN_SECOND_BYTES, end = h->time_at + h->time_bytes;

	p->fraction_at = at;
	if (at + 1 < end && (line[at] == '.' || line[at] == ',')) {
		p->fraction_at = ++at;
		while (at < end && cursor_is_digit(line[at]))
			at++;
		p->fraction_digits = at - p->fraction_at;
	}
	for (at = 0; at + 8 <= h->shape_bytes; at += 8)
		add_word(p, at, line);
	if (at < h->shape_bytes)
		add_word(p, h->shape_bytes - 8, line);
	for (size_t i = 0; i < p->words.count; i++)
		if (p->words.items[i].at < h->time_at || p->words.items[i].at + 8 > h->time_at + SCAN_SECOND_BYTES)
			p->edges.items[p->edges.count++] = p->words.items[i];
	for (unsigned i = 0; i < p->fraction_digits && i < SCAN_FRACTION_DIGITS; i++)
		p->fraction_mask |= UINT64_C(0xff) << (56 - 8 * i);
}

/* Which two bytes of the literal, next to each other, stand in the sample least often. */
static size_t rarest_pair(struct sv literal, struct sv sample)
{
	size_t best = 0, least = SIZE_MAX;

	for (size_t i = 0; i + 2 <= literal.n; i++) {
		size_t n = 0;

		for (size_t k = 0; k + 2 <= sample.n; k++)
			n += memcmp(sample.p + k, literal.p + i, 2) == 0;
		if (n < least) {
			least = n;
			best = i;
		}
	}
	return best;
}

/* False when it is too short even for that, or there are too many. */
static bool add_short(struct scan_plan *p, struct sv literal, struct sv sample)
{
	size_t *n = &p->wanted.pair_count;

	for (size_t i = 0; i < *n; i++)
		if (sv_eq(p->short_literals[i], literal))
			return true;
	if (literal.n < 2 || *n == MARKS_PAIRS_MAX)
		return false;
	p->short_literals[*n] = literal;
	p->pair_offsets[*n] = rarest_pair(literal, sample);
	memcpy(p->wanted.pairs[*n], literal.p + p->pair_offsets[*n], 2);
	++*n;
	return true;
}

static bool make_filter(struct scan_plan *p, const struct rules *r, struct sv sample, struct arena *a)
{
	struct sv *of_rules, *all;
	size_t of_rules_count, n = 0;

	if (!head_literals(r, a, &of_rules, &of_rules_count))
		return false;
	all = arena_array(a, of_rules_count + RULES_NEAR_WORDS, sizeof *all);
	for (size_t i = 0; i < of_rules_count; i++) {
		/* Few short ones are better looked for apart: the shortest decides how fast the filter is. */
		if (of_rules[i].n < SHORT_BYTES && add_short(p, of_rules[i], sample))
			continue;
		all[n++] = of_rules[i];
	}
	p->rule_literals = n;
	for (size_t i = 0; i < RULES_NEAR_WORDS; i++)
		if (rules_near_words[i].n >= WORD_LEAST)
			all[n++] = rules_near_words[i];
	p->filter = filter_new(all, n, sample, a);
	return p->filter != NULL;
}

bool scan_plan_settle(const struct scan_plan *p, struct sv time, int64_t *us)
{
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;
	size_t used;

	if (!tstamp_read(time, p->head->time_layout, &t, &used) || used != time.n ||
	    !tstamp_resolve(&t, p->zone, instants, &local) || local != ZONE_ONCE)
		return false;
	*us = instants[0].us;
	return true;
}

/* A plan by this line, if it is a record without a wrapper whose layout and time are plain. */
static bool take_line(struct scan_plan *p, const struct rules *r, struct sv line, struct arena *a)
{
	const struct head *h = head_of(r, line, a);
	bool zoned;
	int64_t us;

	p->head = h;
	if (h == NULL || !is_plain_time(h->time_layout, &zoned) || (!zoned && p->zone.rules != NULL) ||
	    h->time_bytes < SCAN_SECOND_BYTES || !scan_plan_settle(p, sv_sub(line, h->time_at, h->time_bytes), &us)) {
		p->head = NULL;
		return false;
	}
	p->wanted.brackets = line.p[0] == '[';
	p->guarded = p->wanted.brackets || line.p[h->time_at + 10] == 'T';
	take_words(p, line.p);
	return true;
}

static bool is_wrapped(struct sv line, struct wrap_memory *m)
{
	struct wrap_layer layer;

	return wrap_peel(line, m, &layer) || wrap_first_record(line) < line.n;
}

/* The first line that can be one's plan. False when there is none, or the file is a wrapper's. */
static bool take_head(struct scan_plan *p, const struct rules *r, struct sv head, struct arena *a)
{
	struct wrap_memory m = { .input = arena_new(), .record = arena_new() };
	size_t lines = 0, wrapped = 0, end;

	/* What follows the last line feed is no whole line. */
	head.n = sv_rfind_char(head, '\n', &end) ? end : 0;
	while (!sv_is_absent(head)) {
		struct sv line = sv_cut(&head, '\n');

		if (sv_ends_with(line, SV("\r")))
			line.n--;
		arena_reset(m.record);
		lines++;
		if (is_wrapped(line, &m))
			wrapped++;
		else if (p->head == NULL)
			(void)take_line(p, r, line, a);
	}
	arena_free(m.input);
	arena_free(m.record);
	return p->head != NULL && wrapped * 100 <= lines * WRAPPED_PERCENT;
}

/* ---- lines that fit ---- */

/* Whether no wrapper that begins with a time can take the line: behind the time stand a blank, a level or a bracket. */
static bool is_guarded(const struct scan_plan *p, const char *line, const char *end)
{
	const char *at = line + p->head->time_at + p->head->time_bytes + p->wanted.brackets, *word_end;
	size_t slash;
	struct sv word;

	if (at >= end || *at != ' ')
		return true;
	at++;
	word_end = memchr(at, ' ', (size_t)(end - at));
	word = (struct sv){ at, (size_t)((word_end != NULL ? word_end : end) - at) };
	return word.n == 0 || (word.p[0] == '[' && !sv_find_char(word, '/', &slash)) || wrap_is_level(word);
}

bool scan_plan_fits(const struct scan_plan *p, const char *line, const char *end)
{
	const char *body;

	return head_fits(p->head, line, end, &body) && (!p->guarded || is_guarded(p, line, end));
}

/* Those of the head's lines that fit: how many found no place. */
static size_t take_signs(struct scan_plan *p, struct sv head)
{
	const struct scan_sign none = p->signs[0];
	size_t lost = 0;

	while (!sv_is_absent(head)) {
		struct sv line = sv_cut(&head, '\n');
		struct scan_sign sign, *place;

		if (line.n <= scan_sign_end(p) || line.n < p->head->shape_bytes || scan_differs(&p->words, line.p) != 0)
			continue;
		sign = scan_sign_of(p, line.p);
		place = &p->signs[scan_sign_place(p, &sign)];
		if (scan_sign_differs(place, &sign) == 0 || !scan_plan_fits(p, line.p, line.p + line.n))
			continue;
		if (scan_sign_differs(place, &none) == 0)
			*place = sign;
		else
			lost++;
	}
	return lost;
}

/* Where much stands between the time and the message: lines of one appender differ in what they say, not in their form. */
static void learn_signs(struct scan_plan *p, struct sv head)
{
	size_t end;

	p->signed_lines = p->head->between_bytes >= sizeof(struct scan_sign);
	head.n = sv_rfind_char(head, '\n', &end) ? end : 0;
	for (uint64_t i = 0; p->signed_lines && i < SIGN_FACTORS; i++) {
		memset(p->signs, NO_SIGN, sizeof p->signs);
		p->sign_factor = UINT64_C(0x9e3779b97f4a7c15) + 2 * i;
		if (take_signs(p, head) == 0)
			break;
	}
}

struct scan_plan *scan_plan_new(const struct rules *r, struct zone z, struct sv head, struct arena *a)
{
	struct scan_plan *p = arena_alloc(a, sizeof *p);

	p->zone = z;
	if (!make_filter(p, r, head, a) || !take_head(p, r, head, a))
		return NULL;
	p->none = head_none_new(r, a);
	learn_signs(p, head);
	return p;
}

int scan_plan_layout(const struct scan_plan *p)
{
	return p->head->layout;
}

