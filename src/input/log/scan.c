/* SPDX-License-Identifier: MIT */
/* See input/log/scan.h. */

#include "input/log/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/kind.h"
#include "input/log/scan_plan.h"
#include "input/log/wrap.h"

#define ESCAPE '\x1b'

static void *checked(void *p)
{
	if (p == NULL) {
		fputs("aftershock: out of memory\n", stderr);
		exit(1);
	}
	return p;
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

/* The digits of a second's fraction that count, to compare: the first is the highest byte. */
static inline uint64_t fraction_at(const char *p, uint64_t mask)
{
	uint64_t digits = scan_load(p);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	return digits & mask;
}

/* Two digits are put together first, then the pairs. */
static inline int64_t fraction_us(uint64_t digits)
{
	const uint64_t values = digits & UINT64_C(0x0f0f0f0f0f0f0000), each = UINT64_C(0x00ff00ff00ff00ff);
	const uint64_t pairs = (values >> 8 & each) * 10 + (values & each);

	return (int64_t)((pairs >> 48) * 10000 + (pairs >> 32 & 0xff) * 100 + (pairs >> 16 & 0xff));
}

/* A time down to its second, to compare: nineteen bytes, three times eight. */
struct second {
	uint64_t bytes[3];
};

static inline struct second second_at(const char *p)
{
	return (struct second){ { scan_load(p), scan_load(p + 8), scan_load(p + SCAN_SECOND_BYTES - 8) } };
}

/* 0 when it is the same. */
static inline uint64_t second_differs(const struct second *x, const struct second *y)
{
	return (x->bytes[0] ^ y->bytes[0]) | (x->bytes[1] ^ y->bytes[1]) | (x->bytes[2] ^ y->bytes[2]);
}

/* The time of a line that has the shape. False when there is no such time. */
static inline bool take_time(struct scan *s, const struct scan_form *f, const char *line, int64_t *us)
{
	const char *text = line + f->head->time_at;
	struct scan_second *last = &s->seconds[f->clock];
	const struct second now = second_at(text), before = second_at(last->text);
	const int64_t fraction = fraction_us(fraction_at(line + f->fraction_at, f->fraction_mask));
	int64_t whole_us;

	if (!last->known || second_differs(&now, &before) != 0) {
		last->known = scan_form_settle(f, (struct sv){ text, f->head->time_bytes }, s->plan->zone, &whole_us);
		if (!last->known)
			return false;
		memcpy(last->text, text, SCAN_SECOND_BYTES);
		last->us = whole_us - fraction;
	}
	*us = last->us + fraction;
	return true;
}

/* Whether a second record certainly does not begin in the line; where brackets are marked they tell (take_other). */
static bool is_one_record(const struct scan_plan *p, const struct scan_form *f, struct sv line)
{
	return !f->bracketed || p->wanted.brackets || wrap_first_record(line) == line.n;
}

/* Whether the layout fits: by the line itself, or as it did for a line that goes on like this one. */
static bool fits(struct scan *s, const struct scan_form *f, const char *line, const char *end)
{
	const bool has_sign = f->sign_end > 0 && (size_t)(end - line) >= f->sign_end;
	const struct scan_sign sign = scan_sign_of(f, line);
	struct scan_sign *known = &s->signs[f - s->plan->forms][scan_sign_place(f->sign_factor, &sign)];
	bool by_sign;

	if (has_sign && scan_sign_differs(known, &sign) == 0)
		return true;
	if (!scan_form_fits(f, line, end, &by_sign))
		return false;
	if (has_sign && by_sign) {
		*known = sign;
		s->signs_are_the_plans = false;
	}
	return true;
}

/* Whether the message certainly begins behind the byte: the two that it always has before it stand nowhere earlier. */
static bool begins_behind(const struct scan_form *f, const char *line, const char *at)
{
	const char *from = line + f->head->time_at + f->head->time_bytes;
	const size_t n = at > from ? (size_t)(at - from) : 0;

	return f->head->before_body[0] != '\0' && marks_pair_at(from, n, f->head->before_body) == n;
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
static enum line_sort sort_by(const struct scan_form *form, const struct found *f, struct inside in, size_t line_bytes)
{
	if (in.brief || f->rule_hits > SCAN_RULES_MAX || line_bytes > RECORD_BYTES_MAX)
		return LINE_READ;
	/* Where the message ends, and whether another layout is meant, only patterns tell. */
	return f->rule_hits > 0 || (in.near && !(form->head->body_to_end && form->head->is_first)) ? LINE_PLAIN : LINE_COUNTED;
}

/* A line of that form, without its end, that is probably more than counted. */
static enum line_sort sort_candidate(struct scan *s, const struct scan_form *form, const struct found *f, const char *bytes, struct sv line,
				     struct scan_record *out, struct head_parts *parts)
{
	struct inside in;

	if (!scan_form_parts(form, line.p, line.p + line.n, parts) || !take_time(s, form, line.p, &out->us) ||
	    !is_one_record(s->plan, form, line))
		return LINE_DOUBTFUL;
	in = inside_of(f, bytes, parts->body.p);
	out->near = in.near;
	return sort_by(form, f, in, line.n);
}

/* A line of that form, without its end. */
static enum line_sort sort_record(struct scan *s, const struct scan_form *form, const struct found *f, const char *bytes, struct sv line,
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
	const struct scan_form *form;

	if (f->odd)
		return LINE_DOUBTFUL;
	form = scan_form_of(s->plan, line);
	if (form == NULL)
		return scan_is_none(s->plan, line) ? LINE_NONE : LINE_DOUBTFUL;
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

/* ---- quiet lines ---- */

/*
 * Most lines are quiet: records of the form and in the second of the one before
 * them, that go on like one that the layout fits, and in which nothing was found.
 * Then nothing is left to do of what sort_line and take_sorted do but to count
 * them, and to see which fractions of the second are the first and the last. What
 * is not quiet is left to these.
 */
struct quiet {
	const char *line;	/* the next */
	const uint32_t *end;	/* its own */
	const char *open;	/* the record that is open */
	/* Fractions: of it, and of the records before it. */
	uint64_t fraction, last, least, most;
	uint64_t open_near, near;	/* whether it speaks of consumer groups, and how many before it do */
};

/* What lines are compared with. */
struct quiet_terms {
	const char *bytes;	/* the block */
	struct second second;
	size_t time_at, sign_at, fraction_at, least_bytes;
	uint64_t fraction_mask, sign_mask[2], sign_factor;
	const struct scan_sign *signs;
	const struct scan_words *edges;
};

/* Where the next thing that was found stands. */
static size_t next_found(const struct scan *s, const struct found *f)
{
	size_t at = SIZE_MAX;

	if (f->hit < s->hits.count)
		at = s->hits.items[f->hit].at;
	if (f->other < s->marks.other_count && s->marks.others[f->other] < at)
		at = s->marks.others[f->other];
	return at;
}

/* What was found in a line that is quiet else. */
enum quiet_found {
	QUIET_NOTHING,	/* that counts: words of groups before its message */
	QUIET_NEAR,	/* one in its message, and of enough of these something was said already */
	QUIET_MORE,
};

/* Passes it, if it is not more. */
static enum quiet_found pass_found(const struct scan *s, struct found *f, const struct scan_form *form, const char *bytes, size_t start,
				   size_t end)
{
	const char *pair = form->head->before_body;
	size_t hit = f->hit, last = 0;
	enum quiet_found found = QUIET_NEAR;

	if (pair[0] == '\0' || (f->other < s->marks.other_count && s->marks.others[f->other] < end))
		return QUIET_MORE;
	for (; hit < s->hits.count && s->hits.items[hit].at < end; hit++) {
		if (s->hits.items[hit].literal < s->plan->rule_literals)
			return QUIET_MORE;
		last = s->hits.items[hit].at > last ? s->hits.items[hit].at : last;
	}
	/* The line fits: where none of the pairs is that stand before messages, the message has begun. */
	if (marks_pair_at(bytes + last, end - last, pair) < end - last)
		found = begins_behind(form, bytes + start, bytes + last) ? QUIET_NOTHING : QUIET_MORE;
	if (found == QUIET_NEAR && (!form->head->body_to_end || !form->head->is_first || s->near_count < SCAN_NOTES_MAX))
		found = QUIET_MORE;
	if (found != QUIET_MORE)
		f->hit = hit;
	return found;
}

/* Whether quiet lines may follow: the open record's second is the last that its clock had. */
static bool may_be_quiet(const struct scan *s)
{
	const struct scan_form *form = &s->plan->forms[s->open.form];

	return s->is_open && form->sign_end > 0 && (!form->bracketed || s->plan->wanted.brackets);
}

static struct quiet_terms quiet_terms_of(const struct scan *s, const char *bytes)
{
	const struct scan_form *form = &s->plan->forms[s->open.form];

	return (struct quiet_terms){
		.bytes = bytes,
		.second = second_at(s->seconds[form->clock].text),
		.time_at = form->head->time_at,
		.sign_at = form->head->time_at + form->head->time_bytes,
		.fraction_at = form->fraction_at,
		.least_bytes = form->head->shape_bytes > form->sign_end ? form->head->shape_bytes : form->sign_end,
		.fraction_mask = form->fraction_mask,
		.sign_mask = { form->sign_mask[0], form->sign_mask[1] },
		.sign_factor = form->sign_factor,
		.signs = s->signs[s->open.form],
		.edges = &form->edges,
	};
}

/* Whether the next line is quiet but for what was found in it. A CR at its end is a byte of it yet. */
static inline __attribute__((always_inline)) bool is_quiet(const struct quiet_terms *t, const struct quiet *q)
{
	const struct second second = second_at(q->line + t->time_at);
	const struct scan_sign sign = scan_sign_at(q->line + t->sign_at, t->sign_mask);
	uint64_t wrong = second_differs(&second, &t->second) | scan_differs(t->edges, q->line);

	wrong |= scan_sign_differs(&t->signs[scan_sign_place(t->sign_factor, &sign)], &sign);
	return (wrong | (uint64_t)(t->bytes + *q->end <= q->line + t->least_bytes)) == 0;
}

static inline __attribute__((always_inline)) void pass_quiet(const struct quiet_terms *t, struct quiet *q)
{
	q->last = q->fraction;
	q->least = q->fraction < q->least ? q->fraction : q->least;
	q->most = q->fraction > q->most ? q->fraction : q->most;
	q->near += q->open_near;
	q->open_near = 0;
	q->fraction = fraction_at(q->line + t->fraction_at, t->fraction_mask);
	q->open = q->line;
	q->line = t->bytes + *q->end++ + 1;
}

/* Those that end before the limit. In registers, with nothing in between that others might change. */
static inline void pass_all_quiet(const struct quiet_terms *t, struct quiet *quiet, size_t limit)
{
	struct quiet q = *quiet;

	/* Behind the last stands an end that is beyond any limit. */
	while (*q.end <= limit && is_quiet(t, &q))
		pass_quiet(t, &q);
	*quiet = q;
}

/* The record that was open, and all of those that are quiet but the last, which is open now. */
static void count_quiet(struct scan *s, const struct quiet *q, const char *bytes, size_t start)
{
	const uint8_t form = s->open.form;
	const int64_t second_us = s->seconds[s->plan->forms[form].clock].us;
	const uint32_t lines = (uint32_t)(q->end - s->marks.ends);
	const uint64_t records = lines - 1 - s->lines;
	struct scan_piece *p;

	close(s, start);
	p = &s->pieces[s->piece_count - 1];
	if (records > 0) {
		const int64_t least_us = second_us + fraction_us(q->least), most_us = second_us + fraction_us(q->most);

		p->records += records;
		p->last_us = second_us + fraction_us(q->last);
		p->least_us = least_us < p->least_us ? least_us : p->least_us;
		p->most_us = most_us > p->most_us ? most_us : p->most_us;
		p->more_near += q->near;
		s->near_count += q->near;
	}
	s->is_open = true;
	/* Of what it says nothing is wanted. */
	s->open = (struct scan_record){
		.at = (uint32_t)(q->open - bytes), .line = lines - 1, .us = second_us + fraction_us(q->fraction), .form = form,
		.near = q->open_near != 0, .body_at = (uint32_t)(q->open - bytes),
	};
	s->lines = lines;
}

/* The next line begins at the byte. */
static void take_quiet(struct scan *s, struct found *f, const char *bytes, size_t start)
{
	const struct scan_form *form = &s->plan->forms[s->open.form];
	const struct quiet_terms terms = quiet_terms_of(s, bytes);
	const char *open = bytes + s->open.at;
	const uint64_t fraction = fraction_at(open + form->fraction_at, form->fraction_mask);
	/* To there no record is too long, whatever lines are one. */
	const size_t all = s->open.at < MARKS_NO_END - RECORD_BYTES_MAX ? s->open.at + (size_t)RECORD_BYTES_MAX : MARKS_NO_END - 1;
	struct quiet q = { bytes + start, s->marks.ends + s->lines, open, fraction, fraction, fraction, fraction, 0, 0 };

	for (;;) {
		const size_t found_at = next_found(s, f);
		enum quiet_found found;

		pass_all_quiet(&terms, &q, found_at < all ? found_at : all);
		if (*q.end <= found_at || *q.end > all || !is_quiet(&terms, &q))
			break;
		found = pass_found(s, f, form, bytes, (size_t)(q.line - bytes), *q.end);
		if (found == QUIET_MORE)
			break;
		pass_quiet(&terms, &q);
		q.open_near = found == QUIET_NEAR;
	}
	if (q.end > s->marks.ends + s->lines)
		count_quiet(s, &q, bytes, start);
}

/* ---- the whole of it ---- */

/* So many bytes before a literal are looked at. */
#define BEFORE_BYTES 64

/*
 * Whether a line begins shortly before the literal and has none of the bytes that
 * stand before each message, behind its time and before the literal. All at once
 * and without a branch, for nothing foretells it.
 */
static bool stands_before_message(const struct scan_form *f, const char *literal)
{
	const char *from = literal - BEFORE_BYTES, *pair = f->head->before_body;
	const uint64_t feeds = marks_of(from, '\n'), pairs = marks_of(from, pair[0]) & marks_of(from + 1, pair[1]);
	const size_t line = BEFORE_BYTES - (unsigned)__builtin_clzll(feeds | 1), behind = line + f->head->time_at + f->head->time_bytes;

	return (feeds != 0) & ((behind < BEFORE_BYTES ? pairs >> behind : 0) == 0);
}

/*
 * Words of groups that stand before the message of their line, as in the names of
 * threads, are nothing that is looked for: if it is a record. In what goes on
 * with a record none of them matters, and what is doubtful is read.
 */
static void leave_out_words(struct scan *s, const char *bytes)
{
	const struct scan_form *form = &s->plan->forms[0];
	size_t kept = 0;

	if (s->plan->form_count > 1 || form->head->before_body[0] == '\0')
		return;
	for (size_t i = 0; i < s->hits.count; i++) {
		const struct filter_hit h = s->hits.items[i];

		s->hits.items[kept] = h;
		kept += h.literal < s->plan->rule_literals || h.at < BEFORE_BYTES || !stands_before_message(form, bytes + h.at);
	}
	s->hits.count = kept;
}

static void begin_block(struct scan *s)
{
	s->piece_count = s->plain_count = s->note_count = s->near_count = s->back_count = s->hits.count = 0;
	s->lines = 0;
	s->is_open = false;
	/* What was learnt from other blocks is forgotten: which of them this thread had is chance. */
	for (size_t i = 0; i < s->plan->form_count && !s->signs_are_the_plans; i++)
		memcpy(s->signs[i], s->plan->forms[i].signs, sizeof s->signs[i]);
	s->signs_are_the_plans = true;
	push(s, SCAN_LEAD, 0, 0);
}

void scan_block(struct scan *s, const char *bytes, size_t n, bool unended)
{
	struct found f = { .hit = 0 };
	size_t start = 0;

	begin_block(s);
	marks_find(&s->marks, bytes, n, &s->plan->wanted);
	filter_run(s->plan->filter, bytes, n, &s->hits);
	leave_out_words(s, bytes);
	for (size_t i = 0; i < s->marks.end_count; i = s->lines) {
		if (may_be_quiet(s))
			take_quiet(s, &f, bytes, start);
		if (s->lines == i)
			take_line_at(s, &f, bytes, start, s->marks.ends[i], false);
		start = (size_t)s->marks.ends[s->lines - 1] + 1;
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
