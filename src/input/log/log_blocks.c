/* SPDX-License-Identifier: MIT */
/*
 * Records that were counted and records that were read, put together in the
 * order of the file: counts, times, notes, and what one record means for the
 * next. See input/log/log_reader.h.
 */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/log/log_reader.h"
#include "input/stream.h"

/* Of a record that was counted: beyond this it is cut, and read, which says so. */
#define KEPT_BYTES ((size_t)RECORD_BYTES_MAX + 4096)

void log_blocks_init(struct log_blocks *b, struct log_reader *reader, const struct scan_plan *plan)
{
	*b = (struct log_blocks){ .reader = reader, .plan = plan, .bytes = memory_checked(malloc(KEPT_BYTES)) };
}

void log_blocks_fini(struct log_blocks *b)
{
	free(b->bytes);
}

/* ---- what is read ---- */

/* Lines from the number on. unended: the last one is without its end. */
static int read_lines(struct log_blocks *b, struct sv text, uint64_t number, uint64_t byte_offset, bool unended)
{
	const char *end = text.p + text.n;

	for (const char *p = text.p; p < end; number++) {
		const char *feed = memchr(p, '\n', (size_t)(end - p));
		struct line line = { .number = number, .byte_offset = byte_offset + (uint64_t)(p - text.p) };

		line.text = (struct sv){ p, (size_t)((feed != NULL ? feed : end) - p) };
		if (feed != NULL && sv_ends_with(line.text, SV("\r")))
			line.text.n--;
		line.cut = feed == NULL && unended && stream_is_broken(b->reader->in->stream);
		if (unwrap_add(b->reader->unwrap, &line) != 0)
			return -1;
		p = feed != NULL ? feed + 1 : end;
	}
	return 0;
}

static int read_piece(struct log_blocks *b, const struct scan_text *t, const struct scan_piece *p)
{
	b->reading = true;
	return read_lines(b, (struct sv){ t->bytes + p->start, p->end - p->start }, b->lines + 1 + p->line, t->byte_offset + p->start,
			  t->unended && p->end == t->n);
}

/* What follows is counted. */
static int stop_reading(struct log_blocks *b)
{
	bool was_reading = b->reading;

	b->reading = false;
	return was_reading ? unwrap_end_own(b->reader->unwrap) : 0;
}

/* ---- what is counted ---- */

static struct place place_of(const struct log_blocks *b, uint64_t line, uint64_t byte_offset)
{
	return (struct place){ .input = b->reader->in->info->id, .unit = PLACE_LINE, .number = line, .byte_offset = byte_offset };
}

static struct place place_in(const struct log_blocks *b, const struct scan_text *t, const struct scan_record *r)
{
	return place_of(b, b->lines + 1 + r->line, t->byte_offset + r->at);
}

/* The file's own writer, whose records up to that line are in its past. NULL when it is not known. */
static struct log_writer *writer_behind(struct log_blocks *b, uint64_t line, unsigned form)
{
	uint64_t serial;
	size_t writer;

	b->form = form;
	if (!unwrap_passed(b->reader->unwrap, line, scan_plan_layout(b->plan, form), &writer, &serial))
		return NULL;
	return log_writer_of(b->reader, writer, serial);
}

/* The writer's clock when the last of them had been written. NULL when the writer is not known. */
static struct log_clock *clock_behind(struct log_blocks *b, uint64_t line, unsigned form)
{
	struct log_writer *w = writer_behind(b, line, form);

	return w != NULL ? &w->clock : NULL;
}

static void note_backwards(const struct log_blocks *b, const struct log_clock *c, int64_t us, const struct place *place)
{
	if (c != NULL && c->has_previous)
		log_note_backwards(b->reader, c->previous.us - us, place);
}

static void count(struct log_blocks *b, struct log_clock *c, const struct scan_piece *p)
{
	struct ingest *in = b->reader->in;
	struct host_time first = { p->first.us }, least = { p->least_us }, most = { p->most_us }, last = { p->last_us };

	in->info->records += p->records;
	in->info->unrecognized += p->records;
	log_times_passed(&b->reader->times, first, least, last);
	if (c != NULL) {
		c->previous = last;
		c->has_previous = true;
	}
	log_host_passed(log_host_of(b->reader, SV_ABSENT), least, most, p->records);
}

static void count_piece(struct log_blocks *b, const struct scan_text *t, const struct scan *s, const struct scan_piece *p)
{
	struct log_clock *c = clock_behind(b, b->lines + 1 + p->line, p->last_form);
	struct place first = place_in(b, t, &p->first);

	note_backwards(b, c, p->first.us, &first);
	for (size_t i = 0; i < p->note_count; i++) {
		const struct scan_note *n = &s->notes[p->notes + i];
		struct place place = place_in(b, t, &n->record);

		log_note_backwards(b->reader, n->back_us, &place);
		if (n->record.near)
			log_note_near_miss(b->reader, (struct sv){ t->bytes + n->record.body_at, n->record.body_bytes }, &place);
	}
	log_note_more(b->reader, p->more_near, p->more_back);
	count(b, c, p);
}

/* ---- what is plain ---- */

/*
 * The lines behind the first, as they are joined to it: those of a text without
 * CR stand there as they are wanted. False when they do not.
 */
static bool take_more(struct log_record *record, struct sv lines)
{
	if (lines.n == 0)
		return true;
	lines.n -= lines.p[lines.n - 1] == '\n';
	record->more = lines;
	/* A message may stand on the line below one that has none (rules_join.c). */
	return record->body.n > 0 && memchr(lines.p, '\r', lines.n) == NULL;
}

/* The parts of its first line: as the scan found them, or by the layout's pattern. */
static bool take_parts(const struct log_blocks *b, const struct scan_plain *r, struct sv line, struct log_record *out)
{
	const struct rules *rules = b->reader->in->rules;
	int layout = scan_plan_layout(b->plan, r->form);

	if (!rules_layout_is_first(rules, layout, line))
		return false;
	if (sv_is_absent(r->parts.body))
		return rules_layout_parts(rules, layout, line, out);
	out->thread = r->parts.thread;
	out->body = r->parts.body;
	out->more = SV_ABSENT;
	return true;
}

/* The record whose lines end before the byte. False when it is not plain after all. */
static bool take_plain_record(struct log_blocks *b, const struct scan_text *t, const struct scan_plain *r, size_t end)
{
	struct log_plain *plain = &b->plain;
	const char *first = t->bytes + r->at, *first_end = first + r->bytes;
	struct joined *joined = &plain->joined;

	joined->text = (struct sv){ first, r->bytes };
	if (end - r->at > RECORD_BYTES_MAX || !take_parts(b, r, joined->text, &joined->record))
		return false;
	first_end += *first_end == '\r';
	first_end += *first_end == '\n';
	joined->line = b->lines + 1 + r->line;
	joined->byte_offset = t->byte_offset + r->at;
	plain->time.us = r->us;
	plain->near = r->near;
	return take_more(&joined->record, (struct sv){ first_end, (size_t)(t->bytes + end - first_end) });
}

static int read_plain(struct log_blocks *b, const struct scan_text *t, const struct scan_plain *r, size_t end)
{
	const struct scan_piece piece = { .sort = SCAN_READ, .start = r->at, .end = (uint32_t)end, .line = r->line };

	return read_piece(b, t, &piece);
}

/* 0, -1, or 1 when it is not plain after all. */
static int put_plain(struct log_blocks *b, struct log_writer *w, const struct scan_text *t, const struct scan *s,
		     const struct scan_plain *r, size_t end)
{
	uint32_t rules[SCAN_RULES_MAX];

	if (w == NULL || !take_plain_record(b, t, r, end))
		return 1;
	b->plain.rules = rules;
	b->plain.rule_count = scan_plain_rules(s, r, rules);
	return log_take_plain(b->reader, w, &b->plain);
}

/*
 * Lines that are of no other writer may yet have a wrapper's time, which tells the zone
 * of all of its records: then each of them is read.
 */
static bool is_zone_told(const struct log_blocks *b)
{
	const struct log_reader *reader = b->reader;
	uint64_t serial;
	size_t writer;

	return unwrap_own(reader->unwrap, &writer, &serial) && reader->writers[writer].serial == serial && reader->writers[writer].clock.has_zone;
}

static int take_plain(struct log_blocks *b, const struct scan_text *t, const struct scan *s, const struct scan_piece *p)
{
	for (size_t i = 0; i < p->plain_count; i++) {
		const struct scan_plain *r = &s->plain[p->first_plain + i];
		size_t end = i + 1 < p->plain_count ? r[1].at : p->end;
		int rc;

		if (stop_reading(b) != 0)
			return -1;
		rc = 1;
		if (!is_zone_told(b))
			rc = put_plain(b, writer_behind(b, b->lines + 1 + r->line, r->form), t, s, r, end);
		if (rc == 1)
			rc = read_plain(b, t, r, end);
		if (rc != 0)
			return -1;
	}
	return 0;
}

/* ---- the last of a block ---- */

static void keep_bytes(struct log_blocks *b, const char *bytes, size_t n)
{
	size_t room = KEPT_BYTES - b->n;

	b->is_long = b->is_long || n > room;
	n = n < room ? n : room;
	if (n > 0)
		memcpy(b->bytes + b->n, bytes, n);
	b->n += n;
}

static void open_record(struct log_blocks *b, const struct scan_text *t, const struct scan *s)
{
	b->is_open = true;
	b->is_long = false;
	b->open = s->open;
	b->open_line = b->lines + 1 + s->open.line;
	b->open_offset = t->byte_offset + s->open.at;
	b->n = 0;
	keep_bytes(b, t->bytes + s->open.at, t->n - s->open.at);
}

static int read_open(struct log_blocks *b)
{
	b->is_open = false;
	b->reading = true;
	(void)clock_behind(b, b->open_line, b->open.form);
	return read_lines(b, (struct sv){ b->bytes, b->n }, b->open_line, b->open_offset, false);
}

/* Another record begins, or none follows. */
static int close_record(struct log_blocks *b)
{
	struct scan_piece one;
	struct log_clock *c;
	struct place place;

	if (!b->is_open)
		return 0;
	one = (struct scan_piece){ .records = 1, .first = b->open, .least_us = b->open.us, .most_us = b->open.us, .last_us = b->open.us };
	place = place_of(b, b->open_line, b->open_offset);
	if (b->n > RECORD_BYTES_MAX)
		return read_open(b);
	b->is_open = false;
	c = clock_behind(b, b->open_line, b->open.form);
	note_backwards(b, c, b->open.us, &place);
	if (b->open.near)
		log_note_near_miss(b->reader, (struct sv){ b->bytes + (b->open.body_at - b->open.at), b->open.body_bytes }, &place);
	count(b, c, &one);
	return 0;
}

static int take_lead(struct log_blocks *b, const struct scan_text *t, const struct scan_piece *p)
{
	if (p->end == p->start)
		return 0;
	if (b->is_open && p->doubtful && read_open(b) != 0)
		return -1;
	if (b->is_open) {
		keep_bytes(b, t->bytes + p->start, p->end - p->start);
		return 0;
	}
	return read_piece(b, t, p);
}

/* ---- blocks ---- */

static int read_instead(struct log_blocks *b, const struct scan_text *t, const struct scan_piece *p)
{
	return b->is_open && read_open(b) != 0 ? -1 : read_piece(b, t, p);
}

static int take_piece(struct log_blocks *b, const struct scan_text *t, const struct scan *s, const struct scan_piece *p)
{
	if (is_zone_told(b))
		return read_instead(b, t, p);
	if (p->sort == SCAN_LEAD)
		return take_lead(b, t, p);
	if (close_record(b) != 0)
		return -1;
	if (p->sort == SCAN_READ) {
		/* Behind counted records the reading begins anew. */
		if (!b->reading)
			(void)clock_behind(b, b->lines + 1 + p->line, b->form);
		return read_piece(b, t, p);
	}
	if (p->sort == SCAN_PLAIN)
		return take_plain(b, t, s, p);
	if (stop_reading(b) != 0)
		return -1;
	if (is_zone_told(b))
		return read_piece(b, t, p);
	count_piece(b, t, s, p);
	return 0;
}

int log_blocks_take(void *context, const struct scan_text *text, const struct scan *found)
{
	struct log_blocks *b = context;

	for (size_t i = 0; i < found->piece_count; i++)
		if (take_piece(b, text, found, &found->pieces[i]) != 0)
			return -1;
	if (found->is_open) {
		const struct scan_piece last = { .start = found->open.at, .end = (uint32_t)text->n, .line = found->open.line };

		if (close_record(b) != 0 || stop_reading(b) != 0)
			return -1;
		if (!is_zone_told(b))
			open_record(b, text, found);
		else if (read_piece(b, text, &last) != 0)
			return -1;
	}
	b->lines += found->lines;
	return 0;
}

int log_blocks_read_head(struct log_blocks *b, struct scan_reader *r, size_t head_bytes)
{
	struct scan_text t;

	b->reading = true;
	if (!scan_reader_next(r, head_bytes, &t))
		return 0;
	if (read_lines(b, (struct sv){ t.bytes, t.n }, 1, t.byte_offset, t.unended) != 0)
		return -1;
	for (const char *p = t.bytes, *end = t.bytes + t.n; p < end; b->lines++) {
		const char *feed = memchr(p, '\n', (size_t)(end - p));

		p = feed != NULL ? feed + 1 : end;
	}
	return 0;
}

int log_blocks_end(struct log_blocks *b, bool ended)
{
	if (ended)
		(void)stream_is_broken(b->reader->in->stream);
	/* The end of what all writers have in hand is for unwrap to put in order. */
	return b->is_open ? read_open(b) : 0;
}
