/* SPDX-License-Identifier: MIT */
/* See input/log/scan.h. */

#include "input/log/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "input/kind.h"
#include "input/log/wrap.h"

/* Words that are shorter are found by marks. */
#define WORD_LEAST 8

/* Literals of rules that are shorter are looked for by marks too, if they are few. */
#define SHORT_BYTES 6

/* Of the lines at the start so many of a hundred may be wrapped: then it is a wrapper's file. */
#define WRAPPED_PERCENT 10

/* Of a fraction of a second in microseconds. */
#define MICROS_DIGITS 6

#define ESCAPE '\x1b'

#define WORDS_MAX ((HEAD_SHAPE_MAX + 7) / 8)

/* Eight bytes of a line's start, to compare: digits with any digit, others exactly. */
struct word {
	size_t at;
	uint64_t bytes;		/* '0' for digits */
	uint64_t range;		/* added to the difference, the highest bit of a byte tells that it is too great */
};

/* Lines of one layout. */
struct form {
	const struct head *head;
	struct word words[WORDS_MAX];
	size_t word_count;
	size_t fraction_at, fraction_digits;	/* in the line; at most six: what is finer is cut */
	int64_t fraction_unit_us;
	size_t all_digits;	/* of the fraction */
	size_t clock;		/* the first form whose times are written like these; of written zones each has its own */
	bool bracketed;
	bool guarded;		/* a wrapper may begin like these lines: what follows the time tells */
};

struct scan_plan {
	struct form forms[SCAN_FORMS_MAX];	/* no line can be of two of them; the first is that of most lines, probably */
	size_t form_count;
	struct head_none *none;
	struct filter *filter;
	size_t rule_literals;	/* those before are of rules, the others near misses */
	const uint32_t *rule_of;	/* each of those */
	/* Literals of rules that are too short for the filter, and where in them the pair stands that is looked for. */
	struct marks_wanted wanted;
	struct sv short_literals[MARKS_PAIRS_MAX];
	size_t pair_offsets[MARKS_PAIRS_MAX];
	struct zone zone;
};

static void *checked(void *p)
{
	if (p == NULL) {
		fputs("aftershock: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* ---- the plan ---- */

static uint64_t load(const char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return x;
}

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

static void add_word(struct form *f, size_t at, const char *line)
{
	struct word *w = &f->words[f->word_count++];
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
static void take_words(struct form *f, const char *line)
{
	const struct head *h = f->head;
	size_t at = h->time_at + SCAN_SECOND_BYTES, end = h->time_at + h->time_bytes;

	f->fraction_at = at;
	f->fraction_unit_us = 1;
	if (at + 1 < end && (line[at] == '.' || line[at] == ',')) {
		f->fraction_at = ++at;
		while (at < end && cursor_is_digit(line[at]))
			at++;
		f->all_digits = at - f->fraction_at;
		f->fraction_digits = f->all_digits < MICROS_DIGITS ? f->all_digits : MICROS_DIGITS;
		for (size_t i = f->fraction_digits; i < MICROS_DIGITS; i++)
			f->fraction_unit_us *= 10;
	}
	for (at = 0; at + 8 <= h->shape_bytes; at += 8)
		add_word(f, at, line);
	if (at < h->shape_bytes)
		add_word(f, h->shape_bytes - 8, line);
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

/* By a time of the layout; false when there is no such time, or clocks showed it twice. */
static bool settle(struct sv text, struct sv layout, struct zone z, int64_t *us)
{
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;
	size_t used;

	if (!tstamp_read(text, layout, &t, &used) || used != text.n || !tstamp_resolve(&t, z, instants, &local) || local != ZONE_ONCE)
		return false;
	*us = instants[0].us;
	return true;
}

static inline bool has_shape(const struct form *f, const char *line, size_t n)
{
	uint64_t wrong = 0;

	if (n < f->head->shape_bytes)
		return false;
	for (size_t i = 0; i < f->word_count; i++) {
		uint64_t difference = load(line + f->words[i].at) ^ f->words[i].bytes;

		wrong |= difference | (difference + f->words[i].range);
	}
	return (wrong & UINT64_C(0x8080808080808080)) == 0;
}

/* Whose shape the line has; NULL when it has none. Nearly always it is the first. */
static inline const struct form *form_of(const struct scan_plan *p, struct sv line)
{
	const struct form *end = p->forms + p->form_count;

	for (const struct form *f = p->forms; f < end; f++)
		if (has_shape(f, line.p, line.n))
			return f;
	return NULL;
}

/* Whether lines of one form may be taken for those of the other: they are not, if they begin with different bytes. */
static bool may_be_both(const struct rules *r, const struct head *x, const struct head *y, struct arena *a)
{
	static const char digits[] = "0123456789";
	const char *first = x->shape[0] == '0' ? digits : x->shape;

	for (size_t i = 0; i < (first == digits ? sizeof digits - 1 : 1); i++)
		if (!head_excludes(r, y->layout, first[i], a))
			return true;
	return false;
}

/* A form by this line, if it is a record without a wrapper whose layout and time are plain. */
static bool take_line(struct scan_plan *p, const struct rules *r, struct sv line, struct arena *a)
{
	const struct head *h = head_of(r, line, a);
	struct form *f = &p->forms[p->form_count];
	bool zoned;
	int64_t us;

	if (h == NULL || !is_plain_time(h->time_layout, &zoned) || (!zoned && p->zone.rules != NULL) ||
	    h->time_bytes < SCAN_SECOND_BYTES || !settle(sv_sub(line, h->time_at, h->time_bytes), h->time_layout, p->zone, &us))
		return false;
	for (size_t i = 0; i < p->form_count; i++)
		if (may_be_both(r, h, p->forms[i].head, a) || may_be_both(r, p->forms[i].head, h, a))
			return false;
	f->head = h;
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

/* Whether it certainly goes on with the record before it. */
static bool is_none(const struct scan_plan *p, struct sv line)
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
	return p->form_count < SCAN_FORMS_MAX && form_of(p, line) == NULL && !is_none(p, line) && (*tries)++ < FORM_TRIES;
}

/* The forms of its lines. False when there is none, or the file is a wrapper's. */
static bool take_head(struct scan_plan *p, const struct rules *r, struct sv head, struct arena *a)
{
	struct wrap_memory m = { .input = arena_new(), .record = arena_new() };
	size_t lines = 0, wrapped = 0, end;
	unsigned tries = 0;

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
		else if (may_be_new(p, line, &tries))
			(void)take_line(p, r, line, a);
	}
	arena_free(m.input);
	arena_free(m.record);
	return p->form_count > 0 && wrapped * 100 <= lines * WRAPPED_PERCENT;
}

struct scan_plan *scan_plan_new(const struct rules *r, struct zone z, struct sv head, struct arena *a)
{
	struct scan_plan *p = arena_alloc(a, sizeof *p);

	p->zone = z;
	if (!make_filter(p, r, head, a) || !take_head(p, r, head, a))
		return NULL;
	/* Where a second record may begin in a line is marked, if that is to be known of most lines. */
	p->wanted.brackets = p->forms[0].bracketed;
	return p;
}

int scan_plan_layout(const struct scan_plan *p, unsigned form)
{
	return p->forms[form].head->layout;
}

/* ---- one line ---- */

enum line_sort {
	LINE_COUNTED,	/* a record, certainly, that no rule knows */
	LINE_PLAIN,	/* a record, certainly, that one may know */
	LINE_READ,	/* the same, but there is more to it */
	LINE_NONE,	/* certainly goes on with the record before it */
	LINE_DOUBTFUL,
};

/* What the filter and the marks found, line by line. */
struct found {
	size_t hit, other;	/* the next of them */
	size_t first_hit;	/* of the line */
	size_t rule_hits;	/* literals of rules that stand in it */
	bool odd;		/* what a wrapper may make of the line is not looked into here */
	bool near;		/* a word of groups does: */
	uint32_t near_at;	/* the last of them */
	bool brief;		/* a short literal of a rule does, */
	uint32_t brief_at;	/* last there: it is one in the message alone */
};

static bool stands_at(const char *bytes, size_t from, size_t at, size_t before, struct sv text)
{
	return at >= from + before && memcmp(bytes + at - before, text.p, text.n) == 0;
}

static void note_near(struct found *f, size_t at)
{
	if (!f->near || at > f->near_at)
		f->near_at = (uint32_t)at;
	f->near = true;
}

static void take_pairs(const struct scan_plan *p, struct found *f, const char *bytes, size_t start, size_t at)
{
	for (size_t i = 0; i < p->wanted.pair_count; i++) {
		if (!stands_at(bytes, start, at, p->pair_offsets[i], p->short_literals[i]))
			continue;
		f->brief = true;
		f->brief_at = (uint32_t)(at - p->pair_offsets[i]);
	}
}

static void take_other(const struct scan_plan *p, struct found *f, const char *bytes, size_t start, size_t at)
{
	take_pairs(p, f, bytes, start, at);
	switch (bytes[at]) {
	case 'v':
		if (stands_at(bytes, start, at, 2, SV("revok")) || stands_at(bytes, start, at, 2, SV("Revok")))
			note_near(f, at - 2);
		break;
	case 'j':
		if (stands_at(bytes, start, at, 2, SV("rejoin")))
			note_near(f, at - 2);
		else if (stands_at(bytes, start, at, 3, SV("re-join")))
			note_near(f, at - 3);
		break;
	case '[':
		/* A second record may begin here; one that is quoted does not (wrap.c). */
		f->odd |= at > start && bytes[at + 5] == '-' && bytes[at + 8] == '-' && !wrap_may_quote(bytes[at - 1]);
		break;
	case ESCAPE:
		f->odd = true;
		break;
	default:
		break;
	}
}

static void take_found(const struct scan *s, struct found *f, const char *bytes, size_t start, size_t end)
{
	f->odd = f->near = f->brief = false;
	f->rule_hits = 0;
	f->first_hit = f->hit;
	for (; f->hit < s->hits.count && s->hits.items[f->hit].at < end; f->hit++) {
		const struct filter_hit *h = &s->hits.items[f->hit];

		if (h->literal < s->plan->rule_literals)
			f->rule_hits++;
		else
			note_near(f, h->at);
	}
	for (; f->other < s->marks.other_count && s->marks.others[f->other] < end; f->other++)
		take_other(s->plan, f, bytes, start, s->marks.others[f->other]);
}

/* Whether no wrapper that begins with a time can take the line: behind the time stand a blank, a level or a bracket. */
static bool is_guarded(const struct form *f, const char *line, const char *end)
{
	const char *at = line + f->head->time_at + f->head->time_bytes + f->bracketed, *word_end;
	size_t slash;
	struct sv word;

	if (at >= end || *at != ' ')
		return true;
	at++;
	word_end = memchr(at, ' ', (size_t)(end - at));
	word = (struct sv){ at, (size_t)((word_end != NULL ? word_end : end) - at) };
	return word.n == 0 || (word.p[0] == '[' && !sv_find_char(word, '/', &slash)) || wrap_is_level(word);
}

static inline int64_t fraction_us(const struct form *f, const char *line)
{
	int64_t value = 0;

	for (const char *p = line + f->fraction_at, *end = p + f->fraction_digits; p < end; p++)
		value = value * 10 + (*p - '0');
	return value * f->fraction_unit_us;
}

/* The time of a line that has the shape. False when there is no such time. */
static inline bool take_time(struct scan *s, const struct form *f, const char *line, int64_t *us)
{
	const struct head *h = f->head;
	const char *text = line + h->time_at;
	struct scan_second *second = &s->seconds[f->clock];
	int64_t whole_us;

	/* Nineteen bytes, three times eight. */
	if (!second->known || ((load(text) ^ load(second->text)) | (load(text + 8) ^ load(second->text + 8)) |
			       (load(text + 11) ^ load(second->text + 11))) != 0) {
		second->known = settle((struct sv){ text, h->time_bytes }, h->time_layout, s->plan->zone, &whole_us);
		if (!second->known)
			return false;
		memcpy(second->text, text, SCAN_SECOND_BYTES);
		second->us = whole_us - fraction_us(f, line);
	}
	*us = second->us + fraction_us(f, line);
	return true;
}

/* What stands behind the time. */
static struct scan_sign sign_of(const struct form *f, const char *line)
{
	const char *behind = line + f->head->time_at + f->head->time_bytes;

	return (struct scan_sign){ { load(behind), load(behind + 8) } };
}

static struct scan_sign *sign_place(struct scan *s, const struct form *f, const struct scan_sign *sign)
{
	uint64_t h = (sign->bytes[0] ^ sign->bytes[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);

	return &s->signs[f - s->plan->forms][h >> 56];
}

/* A line without level and message may have them on the line below (rules_join.c). */
static bool may_lack_message(const struct form *f, const char *body, const char *end)
{
	return !f->head->has_level && body == end;
}

static bool fits_by_walk(const struct form *f, const char *line, const char *end)
{
	const char *body;

	return head_fits(f->head, line, end, &body) && !may_lack_message(f, body, end) && (!f->guarded || is_guarded(f, line, end));
}

/* Whether a second record certainly does not begin in the line; where brackets are marked they tell (take_other). */
static bool is_one_record(const struct scan_plan *p, const struct form *f, struct sv line)
{
	return !f->bracketed || p->wanted.brackets || wrap_first_record(line) == line.n;
}

/*
 * Whether the layout fits. Where much stands between the time and the message, a
 * line that goes on like one that fitted, in this block, is not walked through
 * again: lines of one appender differ in what they say, not in their form.
 */
static bool fits(struct scan *s, const struct form *f, const char *line, const char *end)
{
	struct scan_sign sign, *known;

	if (f->head->between_bytes < sizeof sign || !f->head->has_level)
		return fits_by_walk(f, line, end);
	sign = sign_of(f, line);
	known = sign_place(s, f, &sign);
	if (known->bytes[0] == sign.bytes[0] && known->bytes[1] == sign.bytes[1])
		return true;
	if (!fits_by_walk(f, line, end))
		return false;
	*known = sign;
	return true;
}

/* Whether the message certainly begins behind the byte: the two that it always has before it stand nowhere earlier. */
static bool begins_behind(const struct form *f, const char *line, const char *at)
{
	const char *before = f->head->before_body, *from = line + f->head->time_at + f->head->time_bytes;

	if (before[0] == '\0')
		return false;
	while (from < at && (from = memchr(from, before[0], (size_t)(at - from))) != NULL && from[1] != before[1])
		from++;
	return from == NULL || from >= at;
}

/* Whether what was found of near words and short literals stands in the message; they are certain when the layout is. */
struct inside {
	bool near, brief;
};

static struct inside inside_of(const struct found *f, const char *bytes, const char *body)
{
	size_t at = (size_t)(body - bytes);

	return (struct inside){ f->near && f->near_at >= at, f->brief && f->brief_at >= at };
}

/* What to do with a record, by what stands in its message. */
static enum line_sort sort_by(const struct form *form, const struct found *f, struct inside in, size_t line_bytes)
{
	if (in.brief || f->rule_hits > SCAN_RULES_MAX || line_bytes > RECORD_BYTES_MAX)
		return LINE_READ;
	/* Where the message ends, and whether another layout is meant, only patterns tell. */
	return f->rule_hits > 0 || (in.near && !(form->head->body_to_end && form->head->is_first)) ? LINE_PLAIN : LINE_COUNTED;
}

/* Whether what follows the time certainly fits; takes the message and what else stands there. */
static bool take_parts(const struct form *form, const char *line, const char *end, struct head_parts *out)
{
	return head_parts(form->head, line, end, out) && !may_lack_message(form, out->body.p, end) &&
	       (!form->guarded || is_guarded(form, line, end));
}

/* A line of that form, without its end, that is probably more than counted. */
static enum line_sort sort_candidate(struct scan *s, const struct form *form, const struct found *f, const char *bytes, struct sv line,
				     struct scan_record *out, struct head_parts *parts)
{
	struct inside in;

	if (!take_parts(form, line.p, line.p + line.n, parts) || !take_time(s, form, line.p, &out->us) ||
	    !is_one_record(s->plan, form, line))
		return LINE_DOUBTFUL;
	in = inside_of(f, bytes, parts->body.p);
	out->near = in.near;
	return sort_by(form, f, in, line.n);
}

/* A line of that form, without its end. */
static enum line_sort sort_record(struct scan *s, const struct form *form, const struct found *f, const char *bytes, struct sv line,
				  struct scan_record *out)
{
	const char *end = line.p + line.n, *body;
	struct inside in = { false, false };

	if (!fits(s, form, line.p, end) || !take_time(s, form, line.p, &out->us) || !is_one_record(s->plan, form, line))
		return LINE_DOUBTFUL;
	if ((f->near && !begins_behind(form, line.p, bytes + f->near_at)) ||
	    (f->brief && !begins_behind(form, line.p, bytes + f->brief_at))) {
		if (!head_fits(form->head, line.p, end, &body))
			return LINE_DOUBTFUL;
		in = inside_of(f, bytes, body);
		out->body_at = (uint32_t)(body - bytes);
		out->body_bytes = (uint32_t)(end - body);
	}
	out->near = in.near;
	return sort_by(form, f, in, line.n);
}

static enum line_sort sort_line(struct scan *s, const struct found *f, const char *bytes, size_t start, size_t end,
				struct scan_record *out, struct head_parts *parts)
{
	const struct sv line = { bytes + start, end - start };
	const struct form *form;

	if (f->odd)
		return LINE_DOUBTFUL;
	form = form_of(s->plan, line);
	if (form == NULL)
		return is_none(s->plan, line) ? LINE_NONE : LINE_DOUBTFUL;
	out->at = (uint32_t)start;
	out->form = (uint8_t)(form - s->plan->forms);
	if (form->head->has_parts && (f->rule_hits > 0 || (f->near && !form->head->body_to_end)))
		return sort_candidate(s, form, f, bytes, line, out, parts);
	parts->body = SV_ABSENT;
	return sort_record(s, form, f, bytes, line, out);
}

/* ---- a block ---- */

static struct scan_piece *push(struct scan *s, enum scan_sort sort, size_t start, uint32_t line)
{
	struct scan_piece *p;

	if (s->piece_count == s->piece_capacity) {
		s->piece_capacity = s->piece_capacity == 0 ? 64 : 2 * s->piece_capacity;
		s->pieces = checked(realloc(s->pieces, s->piece_capacity * sizeof *s->pieces));
	}
	p = &s->pieces[s->piece_count++];
	*p = (struct scan_piece){ .sort = sort, .start = (uint32_t)start, .line = line };
	return p;
}

static void note(struct scan *s, struct scan_piece *p, const struct scan_record *r, int64_t back_us)
{
	struct scan_note n = { *r, back_us };

	if (n.record.near && ++s->near_count > SCAN_NOTES_MAX) {
		n.record.near = false;
		p->more_near++;
	}
	if (n.back_us != 0 && ++s->back_count > SCAN_NOTES_MAX) {
		n.back_us = 0;
		p->more_back++;
	}
	if (!n.record.near && n.back_us == 0)
		return;
	if (p->note_count++ == 0)
		p->notes = s->note_count;
	s->notes[s->note_count++] = n;
}

static void count(struct scan *s, const struct scan_record *r)
{
	struct scan_piece *p = &s->pieces[s->piece_count - 1];
	int64_t back_us = 0;

	if (p->sort == SCAN_COUNTED) {
		back_us = p->last_us - r->us;
	} else {
		p = push(s, SCAN_COUNTED, r->at, r->line);
		p->first = *r;
		p->least_us = p->most_us = r->us;
	}
	if (back_us <= SCAN_BACKWARDS_US)
		back_us = 0;
	p->records++;
	p->last_us = r->us;
	p->last_form = r->form;
	p->least_us = r->us < p->least_us ? r->us : p->least_us;
	p->most_us = r->us > p->most_us ? r->us : p->most_us;
	if (r->near || back_us != 0)
		note(s, p, r, back_us);
}

/* The record that was open ends at the byte. One that is too long to be kept whole is read, which says so. */
static void close(struct scan *s, size_t end)
{
	if (!s->is_open)
		return;
	s->is_open = false;
	if (end - s->open.at <= RECORD_BYTES_MAX) {
		count(s, &s->open);
		s->pieces[s->piece_count - 1].end = (uint32_t)end;
	} else {
		push(s, SCAN_READ, s->open.at, s->open.line)->end = (uint32_t)end;
	}
}

static void add_plain(struct scan *s, const struct found *f, const struct scan_record *r, const struct head_parts *parts, size_t end)
{
	struct scan_piece *p = &s->pieces[s->piece_count - 1];

	if (s->plain_count == s->plain_capacity) {
		s->plain_capacity = s->plain_capacity == 0 ? 64 : 2 * s->plain_capacity;
		s->plain = checked(realloc(s->plain, s->plain_capacity * sizeof *s->plain));
	}
	if (p->sort != SCAN_PLAIN) {
		p = push(s, SCAN_PLAIN, r->at, r->line);
		p->first_plain = s->plain_count;
	}
	s->plain[s->plain_count++] = (struct scan_plain){
		.at = r->at,
		.line = r->line,
		.bytes = (uint32_t)end - r->at,
		.near = r->near,
		.form = r->form,
		.us = r->us,
		.hits = (uint32_t)f->first_hit,
		.hit_count = (uint32_t)(f->hit - f->first_hit),
		.parts = *parts,
	};
	p->plain_count++;
}

/* The last record was thought to be plain, and is to be read: with what follows it. */
static void read_last_plain(struct scan *s)
{
	struct scan_piece *last = &s->pieces[s->piece_count - 1];
	const struct scan_plain *r = &s->plain[--s->plain_count];

	if (--last->plain_count == 0)
		last->sort = SCAN_READ;
	else
		push(s, SCAN_READ, r->at, r->line);
}

/* A line that may be more than a continuation of the record before it: both are read. */
static void doubt(struct scan *s)
{
	struct scan_piece *last = &s->pieces[s->piece_count - 1];

	if (s->is_open)
		push(s, SCAN_READ, s->open.at, s->open.line);
	else if (last->sort == SCAN_PLAIN)
		read_last_plain(s);
	else if (last->sort == SCAN_LEAD)
		last->doubtful = true;
	s->is_open = false;
}

static bool is_reading(const struct scan *s)
{
	return !s->is_open && s->pieces[s->piece_count - 1].sort == SCAN_READ;
}

static void take_sorted(struct scan *s, enum line_sort sort, const struct found *f, const struct scan_record *r,
			const struct head_parts *parts, size_t start, size_t end)
{
	switch (sort) {
	case LINE_COUNTED:
		close(s, start);
		s->is_open = true;
		s->open = *r;
		break;
	case LINE_PLAIN:
		close(s, start);
		add_plain(s, f, r, parts, end);
		break;
	case LINE_READ:
		close(s, start);
		if (!is_reading(s))
			push(s, SCAN_READ, start, r->line);
		break;
	case LINE_DOUBTFUL:
		doubt(s);
		break;
	case LINE_NONE:
		break;
	}
}

static void take_line_at(struct scan *s, struct found *f, const char *bytes, size_t start, size_t end, bool unended)
{
	struct scan_record r = { .line = s->lines++ };
	struct head_parts parts;
	enum line_sort sort;

	take_found(s, f, bytes, start, end);
	if (end > start && bytes[end - 1] == '\r')
		end--;
	sort = unended ? LINE_DOUBTFUL : sort_line(s, f, bytes, start, end, &r, &parts);
	take_sorted(s, sort, f, &r, &parts, start, end);
	/* A record that is open is in no piece yet. */
}

void scan_block(struct scan *s, const char *bytes, size_t n, bool unended)
{
	struct found f = { .hit = 0 };
	size_t start = 0;

	s->piece_count = s->plain_count = s->note_count = s->near_count = s->back_count = s->hits.count = 0;
	s->lines = 0;
	s->is_open = false;
	memset(s->signs, 0, s->plan->form_count * sizeof s->signs[0]);
	push(s, SCAN_LEAD, 0, 0);
	marks_find(&s->marks, bytes, n, &s->plan->wanted);
	filter_run(s->plan->filter, bytes, n, &s->hits);
	for (size_t i = 0; i < s->marks.end_count; i++) {
		size_t end = s->marks.ends[i];

		take_line_at(s, &f, bytes, start, end, false);
		start = end + 1;
	}
	if (unended && start < n)
		take_line_at(s, &f, bytes, start, n, true);
	/* What goes on in the next block is for those to put together who read with care. */
	if (!s->is_open && s->pieces[s->piece_count - 1].sort == SCAN_PLAIN)
		read_last_plain(s);
	/* Each piece ends where the next begins, the last with the block or where the open record begins. */
	for (size_t i = 0; i < s->piece_count; i++)
		s->pieces[i].end = i + 1 < s->piece_count ? s->pieces[i + 1].start
				   : s->is_open		  ? s->open.at
							  : (uint32_t)n;
}

void scan_free(struct scan *s)
{
	marks_free(&s->marks);
	filter_hits_free(&s->hits);
	free(s->pieces);
	free(s->plain);
}

/* ---- plain records ---- */

/* The number at its place, if it is not there. */
static size_t insert(uint32_t *rules, size_t n, uint32_t rule)
{
	size_t at = n;

	while (at > 0 && rules[at - 1] > rule)
		at--;
	if (at > 0 && rules[at - 1] == rule)
		return n;
	memmove(rules + at + 1, rules + at, (n - at) * sizeof *rules);
	rules[at] = rule;
	return n + 1;
}

size_t scan_plain_rules(const struct scan *s, const struct scan_plain *r, uint32_t *rules)
{
	size_t n = 0;

	for (uint32_t i = 0; i < r->hit_count; i++) {
		uint32_t literal = s->hits.items[r->hits + i].literal;

		if (literal < s->plan->rule_literals)
			n = insert(rules, n, s->plan->rule_of[literal]);
	}
	return n;
}
