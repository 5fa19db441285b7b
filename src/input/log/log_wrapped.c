/* SPDX-License-Identifier: MIT */
/* See input/log/log_wrapped.h. */

#include "input/log/log_wrapped.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/log/escapes.h"
#include "input/log/mould.h"
#include "input/log/line_starts.h"
#include "input/log/object_shape.h"
#include "input/log/scan_line.h"
#include "input/stream.h"

/* A record that is longer, with the lines that go on with it, is read. */
#define KEPT_BYTES ((size_t)64 * 1024)
/* As much of a message as a note has of it (log.c), and more. */
#define NEAR_BYTES 256
/* So many near misses are said in words, and more (base/diag.c): the others are only counted. */
#define NEAR_TOLD 4

struct kept_line {
	uint64_t number, byte_offset;
	size_t at, n;		/* in the bytes that are kept */
};

/* The last record of a writer, which was counted but for it may go on. */
struct open_record {
	bool is_open;
	struct log_counted counted;
	struct sv host;
	bool is_known;		/* to a rule that says nothing */
	bool is_whole;		/* it may not: what follows belongs to no record */
	bool is_near;
	char near[NEAR_BYTES];	/* of its message */
	size_t near_bytes;
	/* Its lines: the first where it stands in the block, or all of them copied. */
	struct line first;
	struct kept_line *lines;
	size_t line_count, line_capacity;
	char *bytes;
	size_t byte_count, byte_capacity;
};

/* A text whose escapes were read, with what was found in it. */
struct plain_text {
	char *bytes;
	size_t capacity;
	struct scan found;
};

struct log_wrapped {
	struct log_reader *reader;
	const struct scan_plan *plan;
	bool zoned[SCAN_FORMS_MAX];	/* times of that form say their zone */
	struct scan lines;		/* what is remembered from line to line; what was found in the block at hand is its thread's */
	struct plain_text plain, message;
	struct moulds moulds;
	struct line_starts starts;
	struct object_shapes shapes, messages;	/* of texts, and of the messages in them */
	struct open_record open[UNWRAP_WRITERS_MAX];
	unsigned near_told;
	uint64_t line_count;		/* so far */
	uint64_t passed;		/* of them those that were not read */
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

struct scan_plan *log_wrapped_plan(const struct ingest *in, struct sv head)
{
	struct scan_plan *p;
	struct sv lines;

	/* What follows the last line feed is no whole line. */
	if (!sv_rfind_char(head, '\n', &head.n))
		return NULL;
	lines = inner_lines(head, in->input);
	p = scan_plan_new(in->rules, in->zone, lines, in->input);
	if (p == NULL && has_object(lines))
		p = scan_plan_of_literals(in->rules, in->zone, lines, in->input);
	if (p != NULL)
		p->finds_only = true;
	return p;
}

/* ---- the whole ---- */

struct log_wrapped *log_wrapped_new(struct log_reader *reader, const struct scan_plan *plan)
{
	struct log_wrapped *b = memory_checked(calloc(1, sizeof *b));

	b->reader = reader;
	b->plan = b->lines.plan = b->plain.found.plan = b->message.found.plan = plan;
	line_starts_init(&b->starts, reader->in->rules, plan->none, stream_head(reader->in->stream), reader->in->input);
	object_shapes_init(&b->shapes, reader->in->rules);
	object_shapes_init(&b->messages, reader->in->rules);
	for (size_t i = 0; i < plan->form_count; i++) {
		b->zoned[i] = sv_ends_with(plan->forms[i].head->time_layout, SV("XXX"));
		memcpy(b->lines.signs[i], plan->forms[i].signs, sizeof b->lines.signs[i]);
	}
	return b;
}

void log_wrapped_free(struct log_wrapped *b)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		free(b->open[i].lines);
		free(b->open[i].bytes);
	}
	moulds_fini(&b->moulds);
	object_shapes_fini(&b->shapes);
	object_shapes_fini(&b->messages);
	free(b->plain.bytes);
	free(b->message.bytes);
	scan_free(&b->plain.found);
	scan_free(&b->message.found);
	free(b);
}

uint64_t log_wrapped_lines(const struct log_wrapped *b)
{
	return b->line_count;
}

uint64_t log_wrapped_passed(const struct log_wrapped *b)
{
	return b->passed;
}

/* ---- records that may go on ---- */

static void keep_line(struct open_record *o, const struct line *line)
{
	if (o->line_count == o->line_capacity) {
		o->line_capacity = o->line_capacity == 0 ? 8 : 2 * o->line_capacity;
		o->lines = memory_checked(realloc(o->lines, o->line_capacity * sizeof *o->lines));
	}
	if (o->byte_count + line->text.n > o->byte_capacity) {
		o->byte_capacity = 2 * (o->byte_count + line->text.n);
		o->bytes = memory_checked(realloc(o->bytes, o->byte_capacity));
	}
	o->lines[o->line_count++] = (struct kept_line){ line->number, line->byte_offset, o->byte_count, line->text.n };
	if (line->text.n > 0)
		memcpy(o->bytes + o->byte_count, line->text.p, line->text.n);
	o->byte_count += line->text.n;
}

/* The first line is still where it stands in the block. */
static void keep_first(struct open_record *o)
{
	if (o->is_open && o->line_count == 0)
		keep_line(o, &o->first);
}

/* What is kept of the writer's last record goes to those who read with care. */
static int hand_over(struct log_wrapped *b, size_t writer)
{
	struct open_record *o = &b->open[writer];

	if (!o->is_open)
		return 0;
	o->is_open = false;
	if (o->line_count == 0)
		return unwrap_add_late(b->reader->unwrap, writer, &o->first);
	for (size_t i = 0; i < o->line_count; i++) {
		const struct kept_line *k = &o->lines[i];
		const struct line line = { .text = { o->bytes + k->at, k->n }, .number = k->number, .byte_offset = k->byte_offset };

		if (unwrap_add_late(b->reader->unwrap, writer, &line) != 0)
			return -1;
	}
	return 0;
}

static int hand_over_all(struct log_wrapped *b)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		if (hand_over(b, i) != 0)
			return -1;
	return 0;
}

static struct sv near_of(struct log_wrapped *b, struct open_record *o)
{
	if (!o->is_near)
		return SV_ABSENT;
	if (b->near_told < NEAR_TOLD) {
		b->near_told++;
		return (struct sv){ o->near, o->near_bytes };
	}
	return SV_ABSENT;
}

/* The record is all there is of it: the writer begins another. */
static int close_record(struct log_wrapped *b, size_t writer)
{
	struct open_record *o = &b->open[writer];
	const struct place place = { .input = b->reader->in->info->id, .unit = PLACE_LINE, .number = o->first.number,
				     .byte_offset = o->first.byte_offset };
	struct log_writer *w;
	struct sv near;

	if (!o->is_open)
		return 0;
	w = log_writer_of(b->reader, writer, o->counted.serial);
	near = near_of(b, o);
	if (!log_take_counted(b->reader, w, &o->counted, o->host, o->is_known, near, &place))
		return hand_over(b, writer);
	if (o->is_near && sv_is_absent(near))
		log_note_more(b->reader, 1, 0);
	o->is_open = false;
	return 0;
}

/* ---- lines ---- */

/* A text of a line, and what it is. */
struct looked {
	enum scan_line_sort sort;
	int layout;		/* of a record that is counted: */
	int64_t us;		/* its time; without a zone as if it were UTC */
	bool zoned;
	bool whole;		/* no line goes on with it */
	bool known;		/* to a rule that says nothing */
	struct sv near;		/* the message, when none does and it speaks of consumer groups */
};

/*
 * What the rules whose literals were found say of a message: SCAN_LINE_COUNTED
 * when none knows it, or one that says nothing.
 */
static enum scan_line_sort ask_rules(const struct log_wrapped *b, const struct scan *found, const struct scan_found *f,
				     const struct log_record *record, bool near, struct looked *out)
{
	const struct scan_plain plain = { .hits = (uint32_t)f->first_hit, .hit_count = (uint32_t)(f->hit - f->first_hit) };
	const struct rules *rules = b->reader->in->rules;
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
static enum scan_line_sort sort_plain(const struct log_wrapped *b, const struct scan *found, const struct scan_found *f, struct sv text,
				      const struct scan_record *r, const struct head_parts *parts, struct looked *out)
{
	const struct rules *rules = b->reader->in->rules;
	const int layout = scan_plan_layout(b->plan, r->form);
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
	return record.body.n > 0 ? ask_rules(b, found, f, &record, r->near, out) : SCAN_LINE_READ;
}

/* A line of text in some bytes. */
static void look_at_line(struct log_wrapped *b, const struct scan *found, struct scan_found *f, const char *bytes, size_t start, size_t end,
			 struct looked *out)
{
	struct head_parts parts = { SV_ABSENT, SV_ABSENT };
	struct scan_record r = { .at = 0 };

	out->sort = scan_line_sort(&b->lines, f, bytes, start, end, &r, &parts);
	out->near = SV_ABSENT;
	out->known = false;
	if (out->sort == SCAN_LINE_COUNTED && r.near)
		out->near = (struct sv){ bytes + r.body_at, r.body_bytes };
	if (out->sort == SCAN_LINE_PLAIN)
		out->sort = sort_plain(b, found, f, (struct sv){ bytes + start, end - start }, &r, &parts, out);
	out->layout = b->plan->form_count > 0 ? scan_plan_layout(b->plan, r.form) : -1;
	out->zoned = b->zoned[r.form];
	out->us = r.us + (out->zoned ? 0 : b->plan->zone.offset_s * US_PER_S);
	out->whole = false;
}

/* The text as it is said. False when it is not plain. */
static bool read_escapes(struct plain_text *p, struct sv text, struct sv *out)
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
static void find_in(struct plain_text *p, size_t n)
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
static bool read_message(struct log_wrapped *b, struct sv body, const struct scan **found, struct scan_found *f, struct sv *message)
{
	struct sv lines;

	*message = body;
	if (escapes_in(body) == ESCAPES_NONE)
		return true;
	if (!read_escapes(&b->message, body, &lines))
		return false;
	*message = sv_cut(&lines, '\n');
	if (sv_ends_with(*message, SV("\r")))
		message->n--;
	find_in(&b->message, message->n);
	*found = &b->message.found;
	*f = (struct scan_found){ .hit = 0 };
	scan_line_found(*found, f, b->message.bytes, 0, message->n);
	return true;
}

/*
 * Whether a word of groups that was found stands in the message, which begins at
 * the byte of what was looked at. None of them has a quote in it, so what begins
 * in the message ends in it. Of the short ones only where the last stands is known.
 */
static bool is_near(const struct log_wrapped *b, const struct scan *found, const struct scan_found *f, struct sv message, size_t at)
{
	if (!f->near)
		return false;
	for (size_t i = f->first_hit; i < f->hit; i++) {
		const struct filter_hit *h = &found->hits.items[i];

		if (h->literal >= b->plan->rule_literals && h->at >= at && h->at < at + message.n)
			return true;
	}
	return (f->near_at >= at && f->near_at < at + message.n) || rules_near_miss(message);
}

/* Of a message that is not read as part of its object: what stands beside it is not known. at: as above. */
static enum scan_line_sort sort_message(const struct log_wrapped *b, const struct scan *found, const struct scan_found *f, struct sv message,
					size_t at, struct looked *out)
{
	const struct log_record record = { .body = message };

	if (f->brief || f->rule_hits > SCAN_RULES_MAX)
		return SCAN_LINE_READ;
	for (size_t i = f->first_hit; i < f->hit; i++) {
		const uint32_t literal = found->hits.items[i].literal;

		if (literal < b->plan->rule_literals && rules_looks_beside(b->reader->in->rules, b->plan->rule_of[literal]))
			return SCAN_LINE_READ;
	}
	if (f->rule_hits > 0)
		return ask_rules(b, found, f, &record, f->near, out);
	if (is_near(b, found, f, message, at))
		out->near = message;
	return SCAN_LINE_COUNTED;
}

/* Whether a message is a record of a layout by itself, of text or an object, or may be one. */
static bool holds_record(struct log_wrapped *b, struct sv message)
{
	if (sv_starts_with(message, SV("{")))
		return !object_fits_none(&b->messages, message) || !line_starts_fit_none(&b->starts, message);
	return sv_starts_with(sv_trim(message), SV("{")) || !line_starts_fit_none(&b->starts, message);
}

/* An object, by its shape. */
static void look_at_object(struct log_wrapped *b, const struct scan *found, const struct scan_found *in_object, const char *bytes,
			   struct sv text, struct looked *out)
{
	struct scan_found f = *in_object;
	struct object_seen seen;
	struct sv message;

	out->sort = SCAN_LINE_DOUBTFUL;
	out->near = SV_ABSENT;
	out->known = false;
	if (!object_seen(&b->shapes, text, &seen) || !line_starts_fit_none(&b->starts, text) ||
	    !read_message(b, seen.body, &found, &f, &message) || holds_record(b, message))
		return;
	if (found == &b->message.found)
		bytes = b->message.bytes;
	out->sort = sort_message(b, found, &f, message, (size_t)(message.p - bytes), out);
	out->layout = seen.layout;
	out->us = seen.us;
	out->zoned = seen.time->parts.zoned;
	out->whole = true;
}

/* A text in some bytes, behind what was found in those before it. */
static void look_at(struct log_wrapped *b, const struct scan *found, struct scan_found *f, const char *bytes, size_t start, size_t end,
		    struct looked *out)
{
	scan_line_found(found, f, bytes, start, end);
	if (end > start && bytes[start] == '{')
		look_at_object(b, found, f, bytes, (struct sv){ bytes + start, end - start }, out);
	else
		look_at_line(b, found, f, bytes, start, end, out);
}

/* Of one line without a CR: more are for those who read with care. */
static void look_at_escaped(struct log_wrapped *b, struct sv text, struct looked *out)
{
	struct scan_found f = { .hit = 0 };
	struct sv line;
	size_t feed;

	out->sort = SCAN_LINE_DOUBTFUL;
	if (!read_escapes(&b->plain, text, &line) || sv_find_char(line, '\n', &feed) || sv_ends_with(line, SV("\r")))
		return;
	find_in(&b->plain, line.n);
	look_at(b, &b->plain.found, &f, line.p, 0, line.n, out);
}

/* The text of a line of the block. What was found in the line is passed. */
static void look_at_text(struct log_wrapped *b, const struct scan *found, struct scan_found *f, const struct scan_text *t,
			 const struct moulded *moulded, struct looked *out)
{
	const size_t start = (size_t)(moulded->text.p - t->bytes), end = start + moulded->text.n;
	const enum escapes escapes = moulded->mould->is_object ? escapes_in(moulded->text) : ESCAPES_NONE;

	if (escapes == ESCAPES_NONE) {
		look_at(b, found, f, t->bytes, start, end, out);
		return;
	}
	out->sort = SCAN_LINE_DOUBTFUL;
	if (escapes == ESCAPES_SOME)
		look_at_escaped(b, moulded->text, out);
}

/* ---- what becomes of a line ---- */

static int read_line(struct log_wrapped *b, const struct line *line, const struct mould *mould)
{
	const struct unwrap_way *way = unwrap_last_way(b->reader->unwrap);

	if (unwrap_add(b->reader->unwrap, line) != 0)
		return -1;
	if (way->is_straight && way->text.n > 0 && way->text.p[0] == '{')
		object_learn(&b->shapes, way->text);
	if (mould == NULL || !mould->has_wrapper || mould->writer != way->writer || mould->serial != way->serial)
		mould_learn(&b->moulds, line->text, way);
	return 0;
}

/* It may be anybody's, also where its mould is known: there may be one more layer in it. */
static int read_with_care(struct log_wrapped *b, const struct line *line, const struct mould *mould)
{
	return hand_over_all(b) != 0 ? -1 : read_line(b, line, mould);
}

static int read_record(struct log_wrapped *b, const struct line *line, const struct mould *mould)
{
	return close_record(b, mould->writer) != 0 ? -1 : read_line(b, line, mould);
}

static void open_record(struct log_wrapped *b, const struct line *line, const struct moulded *moulded, const struct looked *l)
{
	const struct mould *m = moulded->mould;
	struct open_record *o = &b->open[m->writer];

	o->is_open = true;
	o->counted = (struct log_counted){
		.time = { l->us },
		.zoned = l->zoned,
		.has_wrapper = m->has_wrapper,
		.prompt = m->prompt,
		.has_outer = moulded->has_outer,
		.outer = moulded->outer,
		.serial = m->serial,
	};
	o->host = m->host;
	o->is_whole = l->whole;
	o->is_known = l->known;
	o->is_near = !sv_is_absent(l->near);
	o->near_bytes = 0;
	if (o->is_near && b->near_told < NEAR_TOLD) {
		o->near_bytes = l->near.n < NEAR_BYTES ? l->near.n : NEAR_BYTES;
		memcpy(o->near, l->near.p, o->near_bytes);
	}
	o->first = *line;
	o->line_count = o->byte_count = 0;
}

static int count_record(struct log_wrapped *b, const struct line *line, const struct moulded *moulded, const struct looked *l)
{
	const struct mould *m = moulded->mould;

	/* What the writer had in the making there ends before what is kept of it here, and one of both there is not. */
	if (unwrap_pass_record(b->reader->unwrap, m->writer, line->number, l->layout) != 0 ||
	    close_record(b, m->writer) != 0)
		return -1;
	open_record(b, line, moulded, l);
	b->passed++;
	return 0;
}

static int continue_record(struct log_wrapped *b, const struct line *line, const struct mould *mould)
{
	struct open_record *o = &b->open[mould->writer];

	/* A line without a wrapper may go on with the last that has one (unwrap.c). */
	if (!mould->has_wrapper && !unwrap_wrote_last(b->reader->unwrap, mould->writer))
		return read_with_care(b, line, mould);
	if (!o->is_open || o->is_whole || o->byte_count + line->text.n > KEPT_BYTES)
		return read_with_care(b, line, mould);
	keep_first(o);
	keep_line(o, line);
	unwrap_pass(b->reader->unwrap, mould->writer, line->number);
	b->passed++;
	return 0;
}

static int take_line(struct log_wrapped *b, const struct scan_text *t, const struct scan *found, struct scan_found *f, const struct line *line)
{
	struct moulded m;
	struct looked l = { .sort = SCAN_LINE_DOUBTFUL };

	if (!mould_fits(&b->moulds, line->text, &m))
		return read_with_care(b, line, NULL);
	if (!unwrap_is_ready(b->reader->unwrap, m.mould->writer, m.mould->serial, m.mould->has_time))
		return read_with_care(b, line, m.mould);
	look_at_text(b, found, f, t, &m, &l);
	switch (l.sort) {
	case SCAN_LINE_COUNTED:
		return count_record(b, line, &m, &l);
	case SCAN_LINE_PLAIN:
	case SCAN_LINE_READ:
		return read_record(b, line, m.mould);
	case SCAN_LINE_NONE:
		return continue_record(b, line, m.mould);
	case SCAN_LINE_DOUBTFUL:
		break;
	}
	return read_with_care(b, line, m.mould);
}

/* ---- blocks ---- */

/* found is NULL when the line is to be read; what was found in it is passed. */
static int take_one(struct log_wrapped *b, const struct scan_text *t, const struct scan *found, struct scan_found *f, const char *p,
		    const char *line_end)
{
	struct line line = { .text = { p, (size_t)(line_end - p) }, .number = ++b->line_count,
			     .byte_offset = t->byte_offset + (uint64_t)(p - t->bytes) };
	const bool is_ended = line_end < t->bytes + t->n;
	char nothing;
	int rc;

	if (is_ended && sv_ends_with(line.text, SV("\r")))
		line.text.n--;
	/* What has been read of the stream says how it ended when it is asked once more. */
	line.cut = !is_ended && t->unended && stream_read(b->reader->in->stream, &nothing, 1) < 0;
	rc = found != NULL && is_ended ? take_line(b, t, found, f, &line) : read_with_care(b, &line, NULL);
	if (rc == 0 && found != NULL)
		scan_line_found(found, f, t->bytes, (size_t)(p - t->bytes), (size_t)(line_end - t->bytes));
	return rc;
}

static int take_block(struct log_wrapped *b, const struct scan_text *t, const struct scan *found)
{
	const char *end = t->bytes + t->n;
	struct scan_found f = { .hit = 0 };

	for (const char *p = t->bytes; p < end;) {
		const char *feed = memchr(p, '\n', (size_t)(end - p)), *line_end = feed != NULL ? feed : end;

		if (take_one(b, t, found, &f, p, line_end) != 0)
			return -1;
		p = line_end + 1;
	}
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		keep_first(&b->open[i]);
	return 0;
}

int log_wrapped_take(void *context, const struct scan_text *text, const struct scan *found)
{
	return take_block(context, text, found);
}

int log_wrapped_read_head(struct log_wrapped *b, struct scan_reader *r, size_t head_bytes)
{
	struct scan_text t;

	return scan_reader_next(r, head_bytes, &t) ? take_block(b, &t, NULL) : 0;
}

int log_wrapped_end(struct log_wrapped *b, bool ended)
{
	char nothing;

	if (ended)
		(void)stream_read(b->reader->in->stream, &nothing, 1);
	return hand_over_all(b);
}
