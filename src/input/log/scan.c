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
	LINE_READ,	/* a record, certainly, that one may know */
	LINE_NONE,	/* certainly goes on with the record before it */
	LINE_DOUBTFUL,
};

/* What the filter and the marks found, line by line. */
struct found {
	size_t hit, other;	/* the next of them */
	bool rule;		/* a literal of a rule stands in the line */
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
	f->rule = f->odd = f->near = f->brief = false;
	for (; f->hit < s->hits.count && s->hits.items[f->hit].at < end; f->hit++) {
		const struct filter_hit *h = &s->hits.items[f->hit];

		if (h->literal < s->plan->rule_literals)
			f->rule = true;
		else
			note_near(f, h->at);
	}
	for (; f->other < s->marks.other_count && s->marks.others[f->other] < end; f->other++)
		take_other(s->plan, f, bytes, start, s->marks.others[f->other]);
}

static inline bool has_shape(const struct scan_plan *p, const char *line, size_t n)
{
	return n >= p->head->shape_bytes && scan_differs(&p->words, line) == 0;
}

/* The fraction of a second's digits that count, to compare: the first is the highest byte. */
static inline uint64_t fraction_of(const struct scan_plan *p, const char *line)
{
	uint64_t digits = scan_load(line + p->fraction_at);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	return digits & p->fraction_mask;
}

/* Pairs of digits are put together first, then the pairs. */
static int64_t fraction_us(uint64_t digits)
{
	uint64_t values = digits & UINT64_C(0x0f0f0f0f0f0f0000), tens = values >> 8 & UINT64_C(0x00ff00ff00ff00ff);
	uint64_t pairs = tens * 10 + (values & UINT64_C(0x00ff00ff00ff00ff));

	return (int64_t)((pairs >> 48) * 10000 + (pairs >> 32 & 0xff) * 100 + (pairs >> 16 & 0xff));
}

/* The second that the last line had. */
struct second {
	uint64_t bytes[3];	/* nineteen: the last eight of them begin with the eleventh */
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
static bool take_time(struct scan *s, const char *line, int64_t *us)
{
	const struct head *h = s->plan->head;
	const char *second = line + h->time_at;
	const struct second now = second_at(second), before = second_at(s->second);
	const int64_t fraction = fraction_us(fraction_of(s->plan, line));
	int64_t whole_us;

	if (!s->has_second || second_differs(&now, &before) != 0) {
		s->has_second = scan_plan_settle(s->plan, (struct sv){ second, h->time_bytes }, &whole_us);
		if (!s->has_second)
			return false;
		memcpy(s->second, second, SCAN_SECOND_BYTES);
		s->second_us = whole_us - fraction;
	}
	*us = s->second_us + fraction;
	return true;
}

/* Whether the layout fits: certainly where nothing but the line tells, or as it did for one that goes on like it. */
static bool fits(struct scan *s, const char *line, const char *end)
{
	const struct scan_plan *p = s->plan;
	struct scan_sign sign, *known;

	if (!p->signed_lines || (size_t)(end - line) < scan_sign_end(p))
		return scan_plan_fits(p, line, end);
	sign = scan_sign_of(p, line);
	known = &s->signs[scan_sign_place(p, &sign)];
	if (scan_sign_differs(known, &sign) == 0)
		return true;
	if (!scan_plan_fits(p, line, end))
		return false;
	*known = sign;
	s->has_signs = false;
	return true;
}

/* The first byte is the lowest. */
static inline uint64_t load_low(const char *p)
{
	uint64_t x = scan_load(p);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	return x;
}

/* The lowest byte that is zero has its highest bit set, and none below it. */
static inline uint64_t zero_bytes(uint64_t x)
{
	return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}

/* Whether the message certainly begins behind the byte: the two that it always has before it stand nowhere earlier. */
static bool begins_behind(const struct scan_plan *p, const char *line, const char *at)
{
	const char *before = p->head->before_body, *from = line + p->head->time_at + p->head->time_bytes;
	const uint64_t each = UINT64_C(0x0101010101010101), first = (unsigned char)before[0] * each, second = (unsigned char)before[1] * each;

	if (before[0] == '\0')
		return false;
	for (; from < at; from += 8) {
		uint64_t found = zero_bytes((load_low(from) ^ first) | (load_low(from + 1) ^ second));

		if (found != 0)
			return from + __builtin_ctzll(found) / 8 >= at;
	}
	return true;
}

static bool find_body(const struct scan *s, const char *bytes, const char *line, const char *end, struct scan_record *out)
{
	const char *body;

	if (!head_fits(s->plan->head, line, end, &body))
		return false;
	out->body_at = (uint32_t)(body - bytes);
	out->body_bytes = (uint32_t)(end - body);
	return true;
}

/* Whether it certainly goes on with the record before it. */
static bool is_none(const struct scan_plan *p, struct sv line)
{
	return line.n == 0 || (wrap_is_none(line) && head_is_none(p->none, line));
}

/* Without its end. */
static enum line_sort sort_line(struct scan *s, const struct found *f, const char *bytes, size_t start, size_t end,
				struct scan_record *out)
{
	const struct scan_plan *p = s->plan;
	const char *line = bytes + start, *line_end = bytes + end;
	bool brief = false;

	if (f->odd)
		return LINE_DOUBTFUL;
	if (!has_shape(p, line, end - start))
		return is_none(p, (struct sv){ line, end - start }) ? LINE_NONE : LINE_DOUBTFUL;
	if (!fits(s, line, line_end) || !take_time(s, line, &out->us))
		return LINE_DOUBTFUL;
	out->at = (uint32_t)start;
	if ((f->near && !begins_behind(p, line, bytes + f->near_at)) || (f->brief && !begins_behind(p, line, bytes + f->brief_at))) {
		if (!find_body(s, bytes, line, line_end, out))
			return LINE_DOUBTFUL;
		out->near = f->near && f->near_at >= out->body_at;
		brief = f->brief && f->brief_at >= out->body_at;
	}
	return f->rule || brief || (out->near && !p->head->body_to_end) || end - start > RECORD_BYTES_MAX ? LINE_READ : LINE_COUNTED;
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

/* A line that may be more than a continuation of the record before it: both are read. */
static void doubt(struct scan *s)
{
	struct scan_piece *last = &s->pieces[s->piece_count - 1];

	if (s->is_open)
		push(s, SCAN_READ, s->open.at, s->open.line);
	else if (last->sort == SCAN_LEAD)
		last->doubtful = true;
	s->is_open = false;
}

static bool is_reading(const struct scan *s)
{
	return !s->is_open && s->pieces[s->piece_count - 1].sort == SCAN_READ;
}

static void take_sorted(struct scan *s, enum line_sort sort, const struct scan_record *r, size_t start)
{
	switch (sort) {
	case LINE_COUNTED:
		close(s, start);
		s->is_open = true;
		s->open = *r;
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
	enum line_sort sort;

	take_found(s, f, bytes, start, end);
	if (end > start && bytes[end - 1] == '\r')
		end--;
	sort = unended ? LINE_DOUBTFUL : sort_line(s, f, bytes, start, end, &r);
	take_sorted(s, sort, &r, start);
	/* A record that is open is in no piece yet. */
}

/* ---- plain lines ---- */

/*
 * Most lines are plain: they are records in the second of the line before, go on
 * as one did that the layout fits, and nothing was found in them. Then nothing of
 * sort_line and take_sorted is left to do but to count them, and to see which
 * fraction of the second was the first and the last. Whatever is not plain is
 * left to these.
 */
struct plain {
	uint64_t records;
	uint64_t last, least, most;	/* fractions */
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

/* Passes what was found in the line if it is nothing but words of groups that stand before its message. */
static bool pass_found(const struct scan *s, struct found *f, const char *bytes, size_t start, size_t end)
{
	size_t hit = f->hit;
	uint32_t last = 0;

	if (f->other < s->marks.other_count && s->marks.others[f->other] < end)
		return false;
	for (; hit < s->hits.count && s->hits.items[hit].at < end; hit++) {
		if (s->hits.items[hit].literal < s->plan->rule_literals)
			return false;
		last = s->hits.items[hit].at > last ? s->hits.items[hit].at : last;
	}
	if (!begins_behind(s->plan, bytes + start, bytes + last))
		return false;
	f->hit = hit;
	return true;
}

static void count_plain(struct scan *s, const struct plain *plain)
{
	struct scan_piece *p = &s->pieces[s->piece_count - 1];
	int64_t least_us = s->second_us + fraction_us(plain->least), most_us = s->second_us + fraction_us(plain->most);

	p->records += plain->records;
	p->last_us = s->second_us + fraction_us(plain->last);
	p->least_us = least_us < p->least_us ? least_us : p->least_us;
	p->most_us = most_us > p->most_us ? most_us : p->most_us;
}

/*
 * From the line of the number on, while they are plain: the number of the first
 * that is not. The record before them is open, and in the last second.
 */
static size_t take_plain(struct scan *s, struct found *f, const char *bytes, size_t start, size_t line_number)
{
	const struct scan_plan *p = s->plan;
	const size_t least_bytes = p->head->shape_bytes > scan_sign_end(p) ? p->head->shape_bytes : scan_sign_end(p);
	const size_t first = line_number, time_at = p->head->time_at, line_count = s->marks.end_count;
	const uint32_t *ends = s->marks.ends;
	const struct second before = second_at(s->second);
	struct plain plain = { .least = UINT64_MAX };
	size_t open_at = s->open.at, found_at = next_found(s, f);
	uint64_t open = 0;	/* its fraction */

	for (; line_number < line_count; line_number++) {
		const char *line = bytes + start;
		const size_t end = ends[line_number];
		const struct second second = second_at(line + time_at);
		const struct scan_sign sign = scan_sign_of(p, line);
		uint64_t wrong = second_differs(&second, &before) | scan_differs(&p->edges, line);

		wrong |= scan_sign_differs(&s->signs[scan_sign_place(p, &sign)], &sign);
		/* A CR is a byte of the line yet. Neither this record nor the one before is too long, then. */
		wrong |= (uint64_t)(end - start <= least_bytes) | (uint64_t)(end - open_at > RECORD_BYTES_MAX);
		if (wrong != 0)
			break;
		if (end > found_at) {
			if (!pass_found(s, f, bytes, start, end))
				break;
			found_at = next_found(s, f);
		}
		if (line_number == first) {
			close(s, start);
		} else {
			plain.records++;
			plain.last = open;
			plain.least = open < plain.least ? open : plain.least;
			plain.most = open > plain.most ? open : plain.most;
		}
		open = fraction_of(p, line);
		open_at = start;
		start = end + 1;
	}
	if (plain.records > 0)
		count_plain(s, &plain);
	if (line_number > first) {
		s->is_open = true;
		s->open = (struct scan_record){ .at = (uint32_t)open_at, .line = (uint32_t)line_number - 1, .us = s->second_us + fraction_us(open) };
	}
	return line_number;
}

/* ---- the whole of it ---- */

static void begin_block(struct scan *s)
{
	s->piece_count = s->note_count = s->near_count = s->back_count = s->hits.count = 0;
	s->lines = 0;
	s->is_open = false;
	/* What other blocks have taught depends on which of them this thread had. */
	if (!s->has_signs)
		memcpy(s->signs, s->plan->signs, sizeof s->signs);
	s->has_signs = true;
	push(s, SCAN_LEAD, 0, 0);
}

void scan_block(struct scan *s, const char *bytes, size_t n, bool unended)
{
	struct found f = { .hit = 0 };
	size_t start = 0;

	begin_block(s);
	marks_find(&s->marks, bytes, n, &s->plan->wanted);
	filter_run(s->plan->filter, bytes, n, &s->hits);
	for (size_t i = 0; i < s->marks.end_count; i = s->lines) {
		if (s->is_open && s->plan->signed_lines)
			s->lines = (uint32_t)take_plain(s, &f, bytes, start, i);
		if (s->lines == i)
			take_line_at(s, &f, bytes, start, s->marks.ends[i], false);
		start = (size_t)s->marks.ends[s->lines - 1] + 1;
	}
	if (unended && start < n)
		take_line_at(s, &f, bytes, start, n, true);
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
}
