/* SPDX-License-Identifier: MIT */
/* See input/log/log_wrapped.h. */

#include "input/log/log_wrapped.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/log/envelope.h"
#include "input/log/inner.h"
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

struct log_wrapped {
	struct log_reader *reader;
	struct moulds moulds;
	struct envelopes envelopes;
	struct inner *inner;
	struct open_record open[UNWRAP_WRITERS_MAX];
	unsigned near_told;
	uint64_t line_count;		/* so far */
	uint64_t passed;		/* of them those that were not read */
};

/* ---- the whole ---- */

struct log_wrapped *log_wrapped_new(struct log_reader *reader, const struct scan_plan *plan)
{
	struct log_wrapped *b = memory_checked(calloc(1, sizeof *b));

	b->reader = reader;
	b->inner = inner_new(reader->in->rules, plan, stream_head(reader->in->stream), reader->in->input);
	return b;
}

void log_wrapped_free(struct log_wrapped *b)
{
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++) {
		free(b->open[i].lines);
		free(b->open[i].bytes);
	}
	moulds_fini(&b->moulds);
	envelopes_fini(&b->envelopes);
	inner_free(b->inner);
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
	if (!o->is_near || b->near_told == NEAR_TOLD)
		return SV_ABSENT;
	b->near_told++;
	return (struct sv){ o->near, o->near_bytes };
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

/* ---- what becomes of a line ---- */

/* As it stands in the file, and as it is looked at. */
struct two_lines {
	struct line line;
	struct sv plain;	/* without colours */
	bool coloured;		/* it had some */
};

static int read_line(struct log_wrapped *b, const struct two_lines *l, const struct line_way *way)
{
	const struct unwrap_way *went = unwrap_last_way(b->reader->unwrap);

	if (unwrap_add(b->reader->unwrap, &l->line) != 0)
		return -1;
	if (went->is_straight)
		inner_learn(b->inner, went->text);
	if (way != NULL && !way->is_own && way->writer == went->writer && way->serial == went->serial)
		return 0;
	mould_learn(&b->moulds, l->plain, l->coloured, went);
	envelope_learn(&b->envelopes, l->plain, went);
	return 0;
}

/* It may be anybody's, also where its mould is known: there may be one more layer in it. */
static int read_with_care(struct log_wrapped *b, const struct two_lines *l, const struct line_way *way)
{
	return hand_over_all(b) != 0 ? -1 : read_line(b, l, way);
}

static int read_record(struct log_wrapped *b, const struct two_lines *l, const struct line_way *way)
{
	return close_record(b, way->writer) != 0 ? -1 : read_line(b, l, way);
}

static void open_record(struct log_wrapped *b, const struct line *line, const struct moulded *moulded, const struct inner_seen *l)
{
	const struct line_way *m = moulded->way;
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

static int count_record(struct log_wrapped *b, const struct line *line, const struct moulded *moulded, const struct inner_seen *l)
{
	const struct line_way *m = moulded->way;

	/* Of what is kept of the writer here and what it has in the making there, one there is not. */
	if (close_record(b, m->writer) != 0 || unwrap_pass_record(b->reader->unwrap, m->writer, line->number, l->layout) != 0)
		return -1;
	open_record(b, line, moulded, l);
	b->passed++;
	return 0;
}

static int continue_record(struct log_wrapped *b, const struct two_lines *l, const struct line_way *way)
{
	struct open_record *o = &b->open[way->writer];

	/* A line without a wrapper may go on with the last that has one (unwrap.c). */
	if (!way->has_wrapper && !unwrap_wrote_last(b->reader->unwrap, way->writer))
		return read_with_care(b, l, way);
	keep_first(o);
	if (!o->is_open || o->is_whole || o->byte_count + l->line.text.n > KEPT_BYTES)
		return read_with_care(b, l, way);
	keep_line(o, &l->line);
	unwrap_pass(b->reader->unwrap, way->writer, l->line.number);
	b->passed++;
	return 0;
}

/* Where the line would go if it were read. */
static bool find_way(struct log_wrapped *b, const struct two_lines *l, struct moulded *out)
{
	return envelope_fits(&b->envelopes, l->plain, out) || mould_fits(&b->moulds, l->plain, l->coloured, out);
}

static int take_line(struct log_wrapped *b, const struct scan_text *t, const struct scan *found, struct scan_found *f, const struct two_lines *l)
{
	struct moulded m;
	struct inner_seen seen;

	if (!find_way(b, l, &m))
		return read_with_care(b, l, NULL);
	if (!unwrap_is_ready(b->reader->unwrap, m.way->writer, m.way->serial, m.way->has_time))
		return read_with_care(b, l, m.way);
	inner_look(b->inner, found, f, t->bytes, m.text, m.is_escaped, &seen);
	/* Of a doubtful line even the wrapper may be none. */
	if (m.id != 0 && seen.sort != SCAN_LINE_DOUBTFUL && unwrap_is_repeat(b->reader->unwrap, m.id))
		return 0;
	switch (seen.sort) {
	case SCAN_LINE_COUNTED:
		return count_record(b, &l->line, &m, &seen);
	case SCAN_LINE_PLAIN:
	case SCAN_LINE_READ:
		return read_record(b, l, m.way);
	case SCAN_LINE_NONE:
		return continue_record(b, l, m.way);
	case SCAN_LINE_DOUBTFUL:
		break;
	}
	return read_with_care(b, l, m.way);
}

/* ---- blocks ---- */

/* Where the next line begins, both ways. */
struct walk {
	const char *plain, *written;
};

static struct sv cut_line(const char **p, const char *end)
{
	const char *from = *p, *feed = memchr(from, '\n', (size_t)(end - from));
	const struct sv line = { from, (size_t)((feed != NULL ? feed : end) - from) };

	*p = feed != NULL ? feed + 1 : end;
	return line;
}

/* Asked of each line. */
static bool ends_in_cr(struct sv line)
{
	return line.n > 0 && line.p[line.n - 1] == '\r';
}

/* Whether it is a line that may be looked at: one that has its end, and where that is alike both ways. */
static bool next_line(struct log_wrapped *b, const struct scan_text *t, struct walk *at, struct two_lines *l)
{
	const char *end = t->written.p + t->written.n;
	const struct sv plain = cut_line(&at->plain, t->bytes + t->n);
	const struct sv written = t->bytes == t->written.p ? plain : cut_line(&at->written, end);
	const bool is_ended = written.p + written.n < end, has_cr = is_ended && ends_in_cr(written);

	l->line = (struct line){ .text = { written.p, written.n - has_cr }, .number = ++b->line_count,
				 .byte_offset = t->byte_offset + (uint64_t)(written.p - t->written.p) };
	l->plain = (struct sv){ plain.p, plain.n - has_cr };
	l->coloured = l->plain.n < l->line.text.n;
	l->line.cut = !is_ended && t->unended && stream_is_broken(b->reader->in->stream);
	return is_ended && !(l->coloured && ends_in_cr(l->plain));
}

/* found is NULL when every line is to be read; what was found in it is passed. */
static int take_next(struct log_wrapped *b, const struct scan_text *t, const struct scan *found, struct scan_found *f, struct walk *at)
{
	const size_t start = (size_t)(at->plain - t->bytes);
	struct two_lines l;
	const bool is_good = next_line(b, t, at, &l) && found != NULL && !scan_line_has_noise(found, f, t->bytes, (size_t)(at->plain - t->bytes));
	const int rc = is_good ? take_line(b, t, found, f, &l) : read_with_care(b, &l, NULL);

	if (rc == 0 && found != NULL)
		scan_line_found(found, f, t->bytes, start, (size_t)(at->plain - t->bytes));
	return rc;
}

int log_wrapped_take(void *context, const struct scan_text *t, const struct scan *found)
{
	struct log_wrapped *b = context;
	struct scan_found f = { .hit = 0 };
	struct walk at = { t->bytes, t->written.p };

	while (at.plain < t->bytes + t->n)
		if (take_next(b, t, found, &f, &at) != 0)
			return -1;
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		keep_first(&b->open[i]);
	return 0;
}

int log_wrapped_read_head(struct log_wrapped *b, struct scan_reader *r, size_t head_bytes)
{
	struct scan_text t;

	return scan_reader_next(r, head_bytes, &t) ? log_wrapped_take(b, &t, NULL) : 0;
}

int log_wrapped_end(struct log_wrapped *b, bool ended)
{
	if (ended)
		(void)stream_is_broken(b->reader->in->stream);
	return hand_over_all(b);
}
