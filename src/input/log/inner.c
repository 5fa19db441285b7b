/* SPDX-License-Identifier: MIT */
/* See input/log/inner.h. */

#include "input/log/inner.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/memory.h"
#include "input/log/colours.h"
#include "input/log/escapes.h"
#include "input/log/line_starts.h"
#include "input/log/object_shape.h"
#include "input/log/wrap.h"

/* A text whose escapes were read, with what was found in it. */
struct inner_text {
	char *bytes;
	size_t capacity;
	struct scan found;
};

struct inner {
	const struct rules *rules;
	const struct scan_plan *plan;
	bool zoned[SCAN_FORMS_MAX];	/* times of that form say their zone */
	struct scan lines;		/* what is remembered from line to line; what was found in the block at hand is its thread's */
	struct inner_text plain, message;
	struct line_starts starts;
	struct object_shapes shapes, messages;	/* of texts, and of the messages in them */
};

/* ---- a plan ---- */

/* What is inside the wrappers of the lines, a line each. */
static struct sv inner_lines(struct sv head, struct arena *a)
{
	struct wrap_memory m = { .input = arena_new(), .record = arena_new() };
	struct buf inner;
	struct sv text;

	buf_init(&inner);
	while (!sv_is_absent(head)) {
		struct sv line = sv_cut(&head, '\n');
		struct wrap_layer layer;

		arena_reset(m.record);
		for (unsigned i = 0; i < WRAP_LAYERS_MAX && wrap_peel(line, &m, &layer); i++)
			line = layer.text;
		buf_add(&inner, line);
		buf_add_char(&inner, '\n');
	}
	text = arena_copy(a, buf_sv(&inner));
	buf_fini(&inner);
	arena_free(m.input);
	arena_free(m.record);
	return text;
}

static bool has_object(struct sv lines)
{
	size_t at;

	return sv_starts_with(lines, SV("{")) || sv_find(lines, SV("\n{"), &at);
}

struct scan_plan *inner_plan(const struct rules *r, struct zone z, struct sv head, struct arena *a)
{
	struct scan_plan *p;
	struct sv lines;

	/* What follows the last line feed is no whole line. */
	if (!sv_rfind_char(head, '\n', &head.n))
		return NULL;
	lines = inner_lines(head, a);
	p = scan_plan_new(r, z, lines, a);
	if (p == NULL && has_object(lines))
		p = scan_plan_of_literals(r, z, lines, a);
	if (p != NULL)
		p->finds_only = true;
	return p;
}

/* ---- the whole ---- */

struct inner *inner_new(const struct rules *r, const struct scan_plan *plan, struct sv sample, struct arena *a)
{
	struct inner *w = memory_checked(calloc(1, sizeof *w));

	w->rules = r;
	w->plan = w->lines.plan = w->plain.found.plan = w->message.found.plan = plan;
	line_starts_init(&w->starts, r, plan->none, sample, a);
	object_shapes_init(&w->shapes, r);
	object_shapes_init(&w->messages, r);
	for (size_t i = 0; i < plan->form_count; i++) {
		w->zoned[i] = sv_ends_with(plan->forms[i].head->time_layout, SV("XXX"));
		memcpy(w->lines.signs[i], plan->forms[i].signs, sizeof w->lines.signs[i]);
	}
	return w;
}

void inner_free(struct inner *w)
{
	object_shapes_fini(&w->shapes);
	object_shapes_fini(&w->messages);
	free(w->plain.bytes);
	free(w->message.bytes);
	scan_free(&w->plain.found);
	scan_free(&w->message.found);
	free(w);
}

/* ---- lines of text ---- */

/*
 * What the rules whose literals were found say of a message: SCAN_LINE_COUNTED
 * when none knows it, or one that says nothing.
 */
static enum scan_line_sort ask_rules(const struct inner *w, const struct scan *found, const struct scan_found *f,
				     const struct log_record *record, bool near, struct inner_seen *out)
{
	const struct scan_plain plain = { .hits = (uint32_t)f->first_hit, .hit_count = (uint32_t)(f->hit - f->first_hit) };
	const struct rules *rules = w->rules;
	uint32_t numbers[SCAN_RULES_MAX];
	const size_t count = scan_plain_rules(found, &plain, numbers);
	struct rules_events it;
	const char *rule;

	rules_events_among(&it, rules, record, numbers, count, &rule);
	out->known = rule != NULL;
	if (rule == NULL && near && rules_near_miss(record->body))
		out->near = record->body;
	return rule == NULL || rules_events_is_silent(&it) ? SCAN_LINE_COUNTED : SCAN_LINE_READ;
}

/* A record whose line has literals of rules, or words of groups that are perhaps in its message. */
static enum scan_line_sort sort_plain(const struct inner *w, const struct scan *found, const struct scan_found *f, struct sv text,
				      const struct scan_record *r, const struct head_parts *parts, struct inner_seen *out)
{
	const struct rules *rules = w->rules;
	const int layout = scan_plan_layout(w->plan, r->form);
	struct log_record record = { .layout = NULL };

	if (!rules_layout_is_first(rules, layout, text))
		return SCAN_LINE_READ;
	if (sv_is_absent(parts->body)) {
		if (!rules_layout_parts(rules, layout, text, &record))
			return SCAN_LINE_READ;
	} else {
		record.thread = parts->thread;
		record.body = parts->body;
	}
	/* A message may stand on the line below one that has none (rules_join.c). */
	return record.body.n > 0 ? ask_rules(w, found, f, &record, r->near, out) : SCAN_LINE_READ;
}

/* A line of text in some bytes. */
static void look_at_line(struct inner *w, const struct scan *found, struct scan_found *f, const char *bytes, size_t start, size_t end,
			 struct inner_seen *out)
{
	struct head_parts parts = { SV_ABSENT, SV_ABSENT };
	struct scan_record r = { .at = 0 };

	out->sort = scan_line_sort(&w->lines, f, bytes, start, end, &r, &parts);
	out->near = SV_ABSENT;
	out->known = false;
	if (out->sort == SCAN_LINE_COUNTED && r.near)
		out->near = (struct sv){ bytes + r.body_at, r.body_bytes };
	if (out->sort == SCAN_LINE_PLAIN)
		out->sort = sort_plain(w, found, f, (struct sv){ bytes + start, end - start }, &r, &parts, out);
	out->layout = w->plan->form_count > 0 ? scan_plan_layout(w->plan, r.form) : -1;
	out->zoned = w->zoned[r.form];
	out->us = r.us + (out->zoned ? 0 : w->plan->zone.offset_s * US_PER_S);
	out->whole = false;
}

/* ---- objects ---- */

/* The text as it is said. False when it is not plain. */
static bool read_escapes(struct inner_text *p, struct sv text, struct sv *out)
{
	size_t n;

	if (text.n + SCAN_SLACK > p->capacity) {
		p->capacity = 2 * (text.n + SCAN_SLACK);
		free(p->bytes);
		p->bytes = memory_checked(malloc(p->capacity));
	}
	if (!escapes_read(text, p->bytes, &n))
		return false;
	*out = (struct sv){ p->bytes, n };
	return true;
}

/* What stands in it, as in a block of one line: a literal of a rule may be split by an escape where it is written. */
static void find_in(struct inner_text *p, size_t n)
{
	memset(p->bytes + n, 0, SCAN_SLACK);
	p->found.hits.count = 0;
	marks_find(&p->found.marks, p->bytes, n, &p->found.plan->wanted);
	filter_run(p->found.plan->filter, p->bytes, n, &p->found.hits);
}

/*
 * The first line of an object's message, as it is said. False when it is not
 * plain. What was found is then in *f of *found: in the object, or in the message
 * where that has escapes, which may split a literal.
 */
static bool read_message(struct inner *w, struct sv body, const struct scan **found, struct scan_found *f, struct sv *message)
{
	struct sv lines;

	*message = body;
	if (escapes_in(body) == ESCAPES_NONE)
		return true;
	if (!read_escapes(&w->message, body, &lines))
		return false;
	*message = sv_cut(&lines, '\n');
	if (sv_ends_with(*message, SV("\r")))
		message->n--;
	find_in(&w->message, message->n);
	*found = &w->message.found;
	*f = (struct scan_found){ .hit = 0 };
	scan_line_found(*found, f, w->message.bytes, 0, message->n);
	return true;
}

/* Whether a mark stands in the message, as each of the short words has one (marks.h). */
static bool has_mark(const struct scan *found, const struct scan_found *f, size_t at, size_t n)
{
	for (size_t i = f->other; i > 0 && found->marks.others[i - 1] >= at; i--)
		if (found->marks.others[i - 1] < at + n)
			return true;
	return false;
}

/*
 * Whether a word of groups that was found stands in the message, which begins at
 * the byte of what was looked at. None of them has a quote in it, so what begins
 * in the message ends in it.
 */
static bool is_near(const struct inner *w, const struct scan *found, const struct scan_found *f, struct sv message, size_t at)
{
	for (size_t i = f->first_hit; f->near && i < f->hit; i++) {
		const struct filter_hit *h = &found->hits.items[i];

		if (h->literal >= w->plan->rule_literals && h->at >= at && h->at < at + message.n)
			return true;
	}
	return f->near && has_mark(found, f, at, message.n) && rules_near_miss(message);
}

/* Of a message that is not read as part of its object: what stands beside it is not known. at: as above. */
static enum scan_line_sort sort_message(const struct inner *w, const struct scan *found, const struct scan_found *f, struct sv message,
					size_t at, struct inner_seen *out)
{
	const struct log_record record = { .body = message };

	if (f->brief || f->rule_hits > SCAN_RULES_MAX)
		return SCAN_LINE_READ;
	for (size_t i = f->first_hit; i < f->hit; i++) {
		const uint32_t literal = found->hits.items[i].literal;

		if (literal < w->plan->rule_literals && rules_looks_beside(w->rules, w->plan->rule_of[literal]))
			return SCAN_LINE_READ;
	}
	if (f->rule_hits > 0)
		return ask_rules(w, found, f, &record, f->near, out);
	if (is_near(w, found, f, message, at))
		out->near = message;
	return SCAN_LINE_COUNTED;
}

/* Whether a message is a record of a layout by itself, of text or an object, or may be one. */
static bool holds_record(struct inner *w, struct sv message)
{
	if (sv_starts_with(message, SV("{")))
		return !object_fits_none(&w->messages, message) || !line_starts_fit_none(&w->starts, message);
	return sv_starts_with(sv_trim(message), SV("{")) || !line_starts_fit_none(&w->starts, message);
}

/* An object, by its shape. */
static void look_at_object(struct inner *w, const struct scan *found, const struct scan_found *in_object, const char *bytes,
			   struct sv text, struct inner_seen *out)
{
	struct scan_found f = *in_object;
	struct object_seen seen;
	struct sv message;

	out->sort = SCAN_LINE_DOUBTFUL;
	out->near = SV_ABSENT;
	out->known = false;
	/* What is longer is cut before it is read (rules_join.c). */
	if (text.n > RECORD_BYTES_MAX || !object_seen(&w->shapes, text, &seen) || !line_starts_fit_none(&w->starts, text) ||
	    !read_message(w, seen.body, &found, &f, &message) || holds_record(w, message))
		return;
	if (found == &w->message.found)
		bytes = w->message.bytes;
	out->sort = sort_message(w, found, &f, message, (size_t)(message.p - bytes), out);
	out->layout = seen.layout;
	out->us = seen.us;
	out->zoned = seen.time->parts.zoned;
	out->whole = true;
}

/* ---- either ---- */

/* A text in some bytes, behind what was found in those before it. */
static void look_at(struct inner *w, const struct scan *found, struct scan_found *f, const char *bytes, size_t start, size_t end,
		    struct inner_seen *out)
{
	scan_line_found(found, f, bytes, start, end);
	if (end > start && bytes[start] == '{')
		look_at_object(w, found, f, bytes, (struct sv){ bytes + start, end - start }, out);
	else
		look_at_line(w, found, f, bytes, start, end, out);
}

/* Of one line without a CR: more are for those who read with care. */
static void look_at_escaped(struct inner *w, struct sv text, struct inner_seen *out)
{
	struct scan_found f = { .hit = 0 };
	struct sv line;
	size_t feed;

	out->sort = SCAN_LINE_DOUBTFUL;
	if (!read_escapes(&w->plain, text, &line) || sv_find_char(line, '\n', &feed) || sv_ends_with(line, SV("\r")))
		return;
	line.n = colours_strip(line, w->plain.bytes);
	if (sv_ends_with(line, SV("\r")))
		return;
	find_in(&w->plain, line.n);
	look_at(w, &w->plain.found, &f, line.p, 0, line.n, out);
}

void inner_look(struct inner *w, const struct scan *found, struct scan_found *f, const char *bytes, struct sv text, bool is_escaped,
		struct inner_seen *out)
{
	const size_t start = (size_t)(text.p - bytes), end = start + text.n;
	const enum escapes escapes = is_escaped ? escapes_in(text) : ESCAPES_NONE;

	out->sort = SCAN_LINE_DOUBTFUL;
	if (escapes == ESCAPES_NONE)
		look_at(w, found, f, bytes, start, end, out);
	else if (escapes == ESCAPES_SOME)
		look_at_escaped(w, text, out);
}

void inner_learn(struct inner *w, struct sv text)
{
	if (text.n > 0 && text.p[0] == '{')
		object_learn(&w->shapes, text);
}
