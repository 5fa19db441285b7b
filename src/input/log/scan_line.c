/* SPDX-License-Identifier: MIT */
/* See input/log/scan_line.h. */

#include "input/log/scan_line.h"

#include <string.h>

#include "input/kind.h"
#include "input/log/wrap.h"

#define ESCAPE '\x1b'

static bool stands_at(const char *bytes, size_t from, size_t at, size_t before, struct sv text)
{
	return at >= from + before && memcmp(bytes + at - before, text.p, text.n) == 0;
}

static void note_near(struct scan_found *f, size_t at)
{
	if (!f->near || at > f->near_at)
		f->near_at = (uint32_t)at;
	f->near = true;
}

static void take_pairs(const struct scan_plan *p, struct scan_found *f, const char *bytes, size_t start, size_t at)
{
	for (size_t i = 0; i < p->wanted.pair_count; i++) {
		if (!stands_at(bytes, start, at, p->pair_offsets[i], p->short_literals[i]))
			continue;
		f->brief = true;
		f->brief_at = (uint32_t)(at - p->pair_offsets[i]);
	}
}

static void take_other(const struct scan_plan *p, struct scan_found *f, const char *bytes, size_t start, size_t at)
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
		/* Noise, and what it is joined to, is for those who read with care: they tell of it (unwrap.c). */
		f->odd |= marks_is_noise(bytes[at]);
		break;
	}
}

bool scan_line_has_noise(const struct scan *s, const struct scan_found *f, const char *bytes, size_t end)
{
	for (size_t i = f->other; i < s->marks.other_count && s->marks.others[i] < end; i++)
		if (marks_is_noise(bytes[s->marks.others[i]]))
			return true;
	return false;
}

void scan_line_found(const struct scan *s, struct scan_found *f, const char *bytes, size_t start, size_t end)
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

/* The time of a line that has the shape. False when there is no such time. */
static inline bool take_time(struct scan *s, const struct scan_form *f, const char *line, int64_t *us)
{
	const char *text = line + f->head->time_at;
	struct scan_second *last = &s->seconds[f->clock];
	const struct scan_stamp now = scan_stamp_at(text), before = scan_stamp_at(last->text);
	const int64_t fraction = scan_fraction_us(scan_fraction_at(line + f->fraction_at, f->fraction_mask));
	int64_t whole_us;

	if (!last->known || scan_stamp_differs(&now, &before) != 0) {
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

bool scan_begins_behind(const struct scan_form *f, const char *line, const char *at)
{
	const char *from = line + f->head->time_at + f->head->time_bytes;
	const size_t n = at > from ? (size_t)(at - from) : 0;

	return f->head->before_body[0] != '\0' && marks_pair_at(from, n, f->head->before_body) == n;
}

/* Whether what was found of near words and short literals stands in the message; they are certain when the layout is. */
struct inside {
	bool near, brief;
};

static struct inside inside_of(const struct scan_found *f, const char *bytes, const char *body)
{
	size_t at = (size_t)(body - bytes);

	return (struct inside){ f->near && f->near_at >= at, f->brief && f->brief_at >= at };
}

/* What to do with a record, by what stands in its message. */
static enum scan_line_sort sort_by(const struct scan_form *form, const struct scan_found *f, struct inside in, size_t line_bytes)
{
	if (in.brief || f->rule_hits > SCAN_RULES_MAX || line_bytes > RECORD_BYTES_MAX)
		return SCAN_LINE_READ;
	/* Where the message ends, and whether another layout is meant, only patterns tell. */
	return f->rule_hits > 0 || (in.near && !(form->head->body_to_end && form->head->is_first)) ? SCAN_LINE_PLAIN : SCAN_LINE_COUNTED;
}

/* A line of that form, without its end, that is probably more than counted. */
static enum scan_line_sort sort_candidate(struct scan *s, const struct scan_form *form, const struct scan_found *f, const char *bytes, struct sv line,
					  struct scan_record *out, struct head_parts *parts)
{
	struct inside in;

	if (!scan_form_parts(form, line.p, line.p + line.n, parts) || !take_time(s, form, line.p, &out->us) ||
	    !is_one_record(s->plan, form, line))
		return SCAN_LINE_DOUBTFUL;
	in = inside_of(f, bytes, parts->body.p);
	out->near = in.near;
	return sort_by(form, f, in, line.n);
}

/* A line of that form, without its end. */
static enum scan_line_sort sort_record(struct scan *s, const struct scan_form *form, const struct scan_found *f, const char *bytes, struct sv line,
				       struct scan_record *out)
{
	const char *end = line.p + line.n, *body;
	struct inside in = { false, false };

	if (!fits(s, form, line.p, end) || !take_time(s, form, line.p, &out->us) || !is_one_record(s->plan, form, line))
		return SCAN_LINE_DOUBTFUL;
	if ((f->near && !scan_begins_behind(form, line.p, bytes + f->near_at)) ||
	    (f->brief && !scan_begins_behind(form, line.p, bytes + f->brief_at))) {
		if (!head_fits(form->head, line.p, end, &body))
			return SCAN_LINE_DOUBTFUL;
		in = inside_of(f, bytes, body);
		out->body_at = (uint32_t)(body - bytes);
		out->body_bytes = (uint32_t)(end - body);
	}
	out->near = in.near;
	return sort_by(form, f, in, line.n);
}

enum scan_line_sort scan_line_sort(struct scan *s, const struct scan_found *f, const char *bytes, size_t start, size_t end,
				   struct scan_record *out, struct head_parts *parts)
{
	const struct sv line = { bytes + start, end - start };
	const struct scan_form *form;

	if (f->odd)
		return SCAN_LINE_DOUBTFUL;
	form = scan_form_of(s->plan, line);
	if (form == NULL)
		return scan_is_none(s->plan, line) ? SCAN_LINE_NONE : SCAN_LINE_DOUBTFUL;
	out->at = (uint32_t)start;
	out->form = (uint8_t)(form - s->plan->forms);
	if (form->head->has_parts && (f->rule_hits > 0 || (f->near && !form->head->body_to_end)))
		return sort_candidate(s, form, f, bytes, line, out, parts);
	parts->body = SV_ABSENT;
	return sort_record(s, form, f, bytes, line, out);
}
