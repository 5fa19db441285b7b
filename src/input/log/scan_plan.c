/* SPDX-License-Identifier: MIT */
/* How the lines of an input are looked at: what is found out from its head. See input/log/scan.h. */

#include <string.h>

#include "base/cursor.h"
#include "input/kind.h"
#include "input/log/scan_plan.h"
#include "input/log/wrap.h"

/* Words that are shorter are found by marks. */
#define WORD_LEAST 9

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

static void add_word(struct scan_form *f, size_t at, const char *line)
{
	struct scan_word *w = &f->words.items[f->words.count++];
	size_t zone_at = f->fraction_at + f->all_digits;
	unsigned char bytes[8], range[8];

	for (size_t i = 0; i < 8; i++) {
		/* A written zone is the same for all of them. */
		bool digit = f->head->shape[at + i] == '0' && at + i < zone_at;

		bytes[i] = (unsigned char)(digit ? '0' : line[at + i]);
		range[i] = digit ? 0x7f - 9 : 0x7f;
	}
	w->at = at;
	memcpy(&w->bytes, bytes, 8);
	memcpy(&w->range, range, 8);
}

/* From a line that the head fits. */
static void take_words(struct scan_form *f, const char *line)
{
	const struct head *h = f->head;
	size_t at = h->time_at + SCAN_SECOND_BYTES, end = h->time_at + h->time_bytes;

	f->fraction_at = at;
	if (at + 1 < end && (line[at] == '.' || line[at] == ',')) {
		f->fraction_at = ++at;
		while (at < end && cursor_is_digit(line[at]))
			at++;
		f->all_digits = at - f->fraction_at;
	}
	for (unsigned i = 0; i < f->all_digits && i < SCAN_FRACTION_DIGITS; i++)
		f->fraction_mask |= UINT64_C(0xff) << (56 - 8 * i);
	for (at = 0; at + 8 <= h->shape_bytes; at += 8)
		add_word(f, at, line);
	if (at < h->shape_bytes)
		add_word(f, h->shape_bytes - 8, line);
	for (size_t i = 0; i < f->words.count; i++)
		if (f->words.items[i].at < h->time_at || f->words.items[i].at + 8 > h->time_at + SCAN_SECOND_BYTES)
			f->edges.items[f->edges.count++] = f->words.items[i];
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
	struct head_literal *of_rules;
	struct sv *all;
	uint32_t *rule_of;
	size_t of_rules_count, n = 0;

	if (!head_literals(r, a, &of_rules, &of_rules_count))
		return false;
	all = arena_array(a, of_rules_count + RULES_NEAR_WORDS, sizeof *all);
	rule_of = arena_array(a, of_rules_count, sizeof *rule_of);
	for (size_t i = 0; i < of_rules_count; i++) {
		/* Few short ones are better looked for apart: the shortest decides how fast the filter is. */
		if (of_rules[i].text.n < SHORT_BYTES && add_short(p, of_rules[i].text, sample))
			continue;
		rule_of[n] = of_rules[i].rule;
		all[n++] = of_rules[i].text;
	}
	p->rule_literals = n;
	p->rule_of = rule_of;
	for (size_t i = 0; i < RULES_NEAR_WORDS; i++)
		if (rules_near_words[i].n >= WORD_LEAST)
			all[n++] = rules_near_words[i];
	p->filter = filter_new(all, n, sample, a);
	return p->filter != NULL;
}

bool scan_form_settle(const struct scan_form *f, struct sv time, struct zone z, int64_t *us)
{
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;
	size_t used;

	if (!tstamp_read(time, f->head->time_layout, &t, &used) || used != time.n || !tstamp_resolve(&t, z, instants, &local) ||
	    local != ZONE_ONCE)
		return false;
	*us = instants[0].us;
	return true;
}

/* Whether lines of one form may be taken for those of the other: they are not, if they begin with different bytes. */
static bool may_be_both(const struct rules *r, const struct head *x, const struct head *y, struct arena *a)
{
	return !head_excludes(r, y->layout, x->shape[0] == '0' ? SV("0123456789") : (struct sv){ x->shape, 1 }, a);
}

/* A form by this line, if it is a record without a wrapper whose layout and time are plain. */
static bool take_line(struct scan_plan *p, const struct rules *r, struct sv line, struct arena *a)
{
	const struct head *h = head_of(r, line, a);
	struct scan_form *f = &p->forms[p->form_count];
	bool zoned;
	int64_t us;

	f->head = h;
	if (h == NULL || !is_plain_time(h->time_layout, &zoned) || (!zoned && p->zone.rules != NULL) ||
	    h->time_bytes < SCAN_SECOND_BYTES || !scan_form_settle(f, sv_sub(line, h->time_at, h->time_bytes), p->zone, &us))
		return false;
	for (size_t i = 0; i < p->form_count; i++)
		if (may_be_both(r, h, p->forms[i].head, a) || may_be_both(r, p->forms[i].head, h, a))
			return false;
	f->bracketed = line.p[0] == '[';
	f->guarded = f->bracketed || line.p[h->time_at + 10] == 'T';
	take_words(f, line.p);
	f->clock = zoned ? p->form_count : 0;
	while (!sv_eq(p->forms[f->clock].head->time_layout, h->time_layout))
		f->clock++;
	if (p->form_count++ == 0)
		p->none = head_none_new(r, a);
	return true;
}

bool scan_is_none(const struct scan_plan *p, struct sv line)
{
	return line.n == 0 || (wrap_is_none(line) && head_is_none(p->none, line));
}

static bool is_wrapped(struct sv line, struct wrap_memory *m)
{
	struct wrap_layer layer;

	return wrap_peel(line, m, &layer) || wrap_first_record(line) < line.n;
}

/* So many lines of the start are looked at for a second form and more: they are rare, and a look takes its time. */
#define FORM_TRIES 32

/* Whether the line may be of a form that is not known yet. */
static bool may_be_new(const struct scan_plan *p, struct sv line, unsigned *tries)
{
	if (p->form_count == 0)
		return true;
	return p->form_count < SCAN_FORMS_MAX && scan_form_of(p, line) == NULL && !scan_is_none(p, line) && (*tries)++ < FORM_TRIES;
}

/* The forms of its lines. False when there is none, or the file is a wrapper's. */
static bool take_head(struct scan_plan *p, const struct rules *r, struct sv head, struct arena *a)
{
	struct wrap_memory m = { .input = arena_new(), .record = arena_new() };
	size_t lines = 0, wrapped = 0;
	unsigned tries = 0;

	while (!sv_is_absent(head)) {
		struct sv line = sv_cut(&head, '\n');

		if (sv_ends_with(line, SV("\r")))
			line.n--;
		arena_reset(m.record);
		lines++;
		if (is_wrapped(line, &m))
			wrapped++;
		else if (may_be_new(p, line, &tries))
			(void)take_line(p, r, line, a);
	}
	arena_free(m.input);
	arena_free(m.record);
	return p->form_count > 0 && wrapped * 100 <= lines * WRAPPED_PERCENT;
}

/* ---- lines that fit ---- */

/*
 * Whether no wrapper that begins with a time can take the line: behind the time
 * stand a blank, a level or a bracket. What was looked at ends at "seen".
 */
static bool is_guarded(const struct scan_form *f, const char *line, const char *end, const char **seen)
{
	const char *at = line + f->head->time_at + f->head->time_bytes + f->bracketed, *word_end;
	size_t slash;
	struct sv word;

	*seen = at + 1;
	if (!f->guarded || at >= end || *at != ' ')
		return true;
	at++;
	word_end = memchr(at, ' ', (size_t)(end - at));
	word = (struct sv){ at, (size_t)((word_end != NULL ? word_end : end) - at) };
	*seen = word.p + word.n + 1;
	return word.n == 0 || (word.p[0] == '[' && !sv_find_char(word, '/', &slash)) || wrap_is_level(word);
}

/* A line without level and message may have them on the line below (rules_join.c). */
static bool may_lack_message(const struct scan_form *f, const char *body, const char *end)
{
	return !f->head->has_level && body == end;
}

bool scan_form_fits(const struct scan_form *f, const char *line, const char *end, bool *by_sign)
{
	const char *body, *seen;

	if (!head_fits(f->head, line, end, &body) || may_lack_message(f, body, end) || !is_guarded(f, line, end, &seen))
		return false;
	*by_sign = f->sign_mask[1] == UINT64_MAX || (body <= line + f->sign_end && seen <= line + f->sign_end);
	return true;
}

bool scan_form_parts(const struct scan_form *f, const char *line, const char *end, struct head_parts *out)
{
	const char *seen;

	return head_parts(f->head, line, end, out) && !may_lack_message(f, out->body.p, end) && is_guarded(f, line, end, &seen);
}

/* How much stands at most between the time and the message. */
static size_t longest_between(const struct scan_plan *p, const struct scan_form *f, struct sv lines)
{
	size_t longest = f->head->between_bytes;

	while (!sv_is_absent(lines)) {
		const struct sv line = sv_cut(&lines, '\n');
		const char *body;
		size_t between;

		if (scan_form_of(p, line) != f || !head_fits(f->head, line.p, line.p + line.n, &body))
			continue;
		between = (size_t)(body - line.p) - f->head->time_at - f->head->time_bytes;
		longest = between > longest ? between : longest;
	}
	return longest;
}

/* Those of the lines that fit the form: how many found no place. */
static size_t take_signs(const struct scan_plan *p, struct scan_form *f, struct sv lines)
{
	const struct scan_sign none = f->signs[0];
	const size_t loaded = f->head->time_at + f->head->time_bytes + sizeof none;
	const char *end = lines.p + lines.n;
	size_t lost = 0;

	while (!sv_is_absent(lines)) {
		const struct sv line = sv_cut(&lines, '\n');
		struct scan_sign sign, *place;
		bool by_sign;

		/* The bytes of a sign that do not count are loaded too: behind the last lines there may be none. */
		if (line.n < f->sign_end || (size_t)(end - line.p) < loaded || scan_form_of(p, line) != f)
			continue;
		sign = scan_sign_of(f, line.p);
		place = &f->signs[scan_sign_place(f->sign_factor, &sign)];
		if (scan_sign_differs(place, &sign) == 0 || !scan_form_fits(f, line.p, line.p + line.n, &by_sign) || !by_sign)
			continue;
		if (scan_sign_differs(place, &none) == 0)
			*place = sign;
		else
			lost++;
	}
	return lost;
}

static void learn_signs(const struct scan_plan *p, struct scan_form *f, struct sv lines)
{
	unsigned char mask[sizeof(struct scan_sign)] = { 0 };
	size_t longest;

	/* Without a level it matters whether there is a message. */
	if (!f->head->has_level)
		return;
	/* A CR is part of a line here as it is in a block. */
	longest = longest_between(p, f, lines);
	if (longest == 0)
		return;
	longest = longest < sizeof mask ? longest : sizeof mask;
	f->sign_end = f->head->time_at + f->head->time_bytes + longest;
	memset(mask, 0xff, longest);
	memcpy(f->sign_mask, mask, sizeof mask);
	for (uint64_t i = 0; i < SIGN_FACTORS; i++) {
		memset(f->signs, NO_SIGN, sizeof f->signs);
		f->sign_factor = UINT64_C(0x9e3779b97f4a7c15) + 2 * i;
		if (take_signs(p, f, lines) == 0)
			break;
	}
}

struct scan_plan *scan_plan_new(const struct rules *r, struct zone z, struct sv head, struct arena *a)
{
	struct scan_plan *p = arena_alloc(a, sizeof *p);
	struct sv lines = head;

	p->zone = z;
	/* What follows the last line feed is no whole line. */
	if (!sv_rfind_char(head, '\n', &lines.n))
		return NULL;
	/* The filter last: it takes the most time, and many inputs are not plain. */
	if (!take_head(p, r, lines, a) || !make_filter(p, r, head, a))
		return NULL;
	/* Where a second record may begin in a line is marked, if that is to be known of most lines. */
	p->wanted.brackets = p->forms[0].bracketed;
	for (size_t i = 0; i < p->form_count; i++)
		learn_signs(p, &p->forms[i], lines);
	return p;
}

struct scan_plan *scan_plan_of_literals(const struct rules *r, struct zone z, struct sv sample, struct arena *a)
{
	struct scan_plan *p = arena_alloc(a, sizeof *p);

	p->zone = z;
	p->finds_only = true;
	p->none = head_none_new(r, a);
	return make_filter(p, r, sample, a) ? p : NULL;
}

int scan_plan_layout(const struct scan_plan *p, unsigned form)
{
	return p->forms[form].head->layout;
}
