/* SPDX-License-Identifier: MIT */
/* See input/log/scan.h. */

#include "input/log/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/kind.h"
#include "input/log/scan_line.h"

/* ---- a block ---- */

static struct scan_piece *push(struct scan *s, enum scan_sort sort, size_t start, uint32_t line)
{
	struct scan_piece *p;

	if (s->piece_count == s->piece_capacity) {
		s->piece_capacity = s->piece_capacity == 0 ? 64 : 2 * s->piece_capacity;
		s->pieces = memory_checked(realloc(s->pieces, s->piece_capacity * sizeof *s->pieces));
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

static void add_plain(struct scan *s, const struct scan_found *f, const struct scan_record *r, const struct head_parts *parts, size_t end)
{
	struct scan_piece *p = &s->pieces[s->piece_count - 1];

	if (s->plain_count == s->plain_capacity) {
		s->plain_capacity = s->plain_capacity == 0 ? 64 : 2 * s->plain_capacity;
		s->plain = memory_checked(realloc(s->plain, s->plain_capacity * sizeof *s->plain));
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

static void take_sorted(struct scan *s, enum scan_line_sort sort, const struct scan_found *f, const struct scan_record *r,
			const struct head_parts *parts, size_t start, size_t end)
{
	switch (sort) {
	case SCAN_LINE_COUNTED:
		/* Open, and in no piece yet. */
		close(s, start);
		s->is_open = true;
		s->open = *r;
		break;
	case SCAN_LINE_PLAIN:
		close(s, start);
		add_plain(s, f, r, parts, end);
		break;
	case SCAN_LINE_READ:
		close(s, start);
		if (!is_reading(s))
			push(s, SCAN_READ, start, r->line);
		break;
	case SCAN_LINE_DOUBTFUL:
		doubt(s);
		break;
	case SCAN_LINE_NONE:
		break;
	}
}

static void take_line_at(struct scan *s, struct scan_found *f, const char *bytes, size_t start, size_t end, bool unended)
{
	struct scan_record r = { .line = s->lines++ };
	struct head_parts parts;
	enum scan_line_sort sort;

	scan_line_found(s, f, bytes, start, end);
	if (end > start && bytes[end - 1] == '\r')
		end--;
	sort = unended ? SCAN_LINE_DOUBTFUL : scan_line_sort(s, f, bytes, start, end, &r, &parts);
	take_sorted(s, sort, f, &r, &parts, start, end);
}

/* ---- quiet lines ---- */

/*
 * Most lines are quiet: records of the form and in the second of the one before
 * them, that go on like one that the layout fits, and in which nothing was found.
 * Then nothing is left to do of what scan_line_sort and take_sorted do but to count
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
	struct scan_stamp second;
	size_t time_at, sign_at, fraction_at, least_bytes;
	uint64_t fraction_mask, sign_mask[2], sign_factor;
	const struct scan_sign *signs;
	const struct scan_words *edges;
};

/* Where the next thing that was found stands. */
static size_t next_found(const struct scan *s, const struct scan_found *f)
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
static enum quiet_found pass_found(const struct scan *s, struct scan_found *f, const struct scan_form *form, const char *bytes, size_t start,
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
		found = scan_begins_behind(form, bytes + start, bytes + last) ? QUIET_NOTHING : QUIET_MORE;
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
		.second = scan_stamp_at(s->seconds[form->clock].text),
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
	const struct scan_stamp second = scan_stamp_at(q->line + t->time_at);
	const struct scan_sign sign = scan_sign_at(q->line + t->sign_at, t->sign_mask);
	uint64_t wrong = scan_stamp_differs(&second, &t->second) | scan_differs(t->edges, q->line);

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
	q->fraction = scan_fraction_at(q->line + t->fraction_at, t->fraction_mask);
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
		const int64_t least_us = second_us + scan_fraction_us(q->least), most_us = second_us + scan_fraction_us(q->most);

		p->records += records;
		p->last_us = second_us + scan_fraction_us(q->last);
		p->least_us = least_us < p->least_us ? least_us : p->least_us;
		p->most_us = most_us > p->most_us ? most_us : p->most_us;
		p->more_near += q->near;
		s->near_count += q->near;
	}
	s->is_open = true;
	/* Of what it says nothing is wanted. */
	s->open = (struct scan_record){
		.at = (uint32_t)(q->open - bytes), .line = lines - 1, .us = second_us + scan_fraction_us(q->fraction), .form = form,
		.near = q->open_near != 0, .body_at = (uint32_t)(q->open - bytes),
	};
	s->lines = lines;
}

/* The next line begins at the byte. */
static void take_quiet(struct scan *s, struct scan_found *f, const char *bytes, size_t start)
{
	const struct scan_form *form = &s->plan->forms[s->open.form];
	const struct quiet_terms terms = quiet_terms_of(s, bytes);
	const char *open = bytes + s->open.at;
	const uint64_t fraction = scan_fraction_at(open + form->fraction_at, form->fraction_mask);
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
	struct scan_found f = { .hit = 0 };
	size_t start = 0;

	begin_block(s);
	marks_find(&s->marks, bytes, n, &s->plan->wanted);
	filter_run(s->plan->filter, bytes, n, &s->hits);
	if (s->plan->finds_only)
		return;
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
