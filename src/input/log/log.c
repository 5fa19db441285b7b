/* SPDX-License-Identifier: MIT */
/*
 * Kind: text logs, by the layouts and rules of rules/. Lines become records,
 * records become events with the place of their first line.
 */

#include <inttypes.h>

#include "base/buf.h"
#include "input/kind.h"
#include "input/log/form.h"
#include "input/log/inner.h"
#include "input/log/log.h"
#include "input/log/log_reader.h"
#include "input/log/log_wrapped.h"

#define BACKWARDS_CODE "log.time_backwards"

/* As much of a message as tells what it is. */
#define MESSAGE_BYTES 160

/* Of a record, kept as evidence with each of its events. */
#define TEXT_BYTES_MAX ((size_t)16 * 1024)

/* What fits the second cache with all that is found in it. Several threads wait for one another at each: so they are longer. */
#define BLOCK_BYTES ((size_t)256 * 1024)
#define SHARED_BLOCK_BYTES ((size_t)1024 * 1024)

static enum sniffed log_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	(void)base_name;
	(void)why;
	return rules != NULL && log_form_of(head, rules) != NULL ? SNIFF_MINE : SNIFF_NOT_MINE;
}

struct log_writer *log_writer_of(struct log_reader *reader, size_t writer, uint64_t serial)
{
	struct log_writer *w = &reader->writers[writer];
	struct arena *arena = w->arena;

	if (w->serial == serial)
		return w;
	if (arena == NULL)
		arena = arena_new();
	arena_reset(arena);
	*w = (struct log_writer){ .serial = serial, .arena = arena, .speakers = { .arena = arena } };
	return w;
}

struct log_host *log_host_of(struct log_reader *reader, struct sv name)
{
	struct log_host *h;

	for (size_t i = 0; i < reader->host_count; i++)
		if (sv_eq(reader->hosts[i].name, name))
			return &reader->hosts[i];
	if (reader->host_count == HOSTS_MAX)
		return NULL;
	h = &reader->hosts[reader->host_count++];
	h->name = arena_copy(reader->in->input, name);
	return h;
}

void log_host_passed(struct log_host *h, struct host_time least, struct host_time most, uint64_t records)
{
	if (h == NULL)
		return;
	if (h->timed == 0 || least.us < h->first.us)
		h->first = least;
	if (h->timed == 0 || most.us > h->last.us)
		h->last = most;
	h->timed += records;
}

static void note_format(struct ingest *in, const struct unwrapped *r)
{
	const char *layout = r->joined.record.layout;

	if (!sv_is_absent(in->info->format))
		return;
	if (r->wrapper == NULL || r->wrapper == layout)
		in->info->format = sv_of(layout);
	else
		in->info->format = arena_printf(in->input, "%s in %s", layout, r->wrapper);
}

void log_note_backwards(const struct log_reader *reader, int64_t back_us, const struct place *place)
{
	if (back_us > SCAN_BACKWARDS_US)
		diag_add(reader->in->diag, SEVERITY_NOTE, BACKWARDS_CODE, place, "time goes back by %" PRId64 ".%03d s",
			 back_us / US_PER_S, (int)(back_us % US_PER_S / US_PER_MS));
}

static void note_time(struct log_reader *reader, struct log_writer *w, struct log_host *host, struct host_time t,
		      const struct place *place)
{
	struct log_clock *c = &w->clock;

	log_note_backwards(reader, c->has_previous ? c->previous.us - t.us : 0, place);
	c->previous = t;
	c->has_previous = true;
	log_host_passed(host, t, t, 1);
}

/* False when the message does not say whose it is and its thread does not tell. */
static bool settle_speaker(struct log_reader *reader, struct log_writer *w, const struct rules_events *it,
			   const struct place *place, struct event *e)
{
	struct sv thread = it->record->thread;
	enum event_field missing;

	/* A message that leaves one thing to its thread may name another. */
	speakers_learn(&w->speakers, thread, e);
	if (rules_names_speaker(it->rule))
		return true;
	speakers_tell(&w->speakers, thread, e);
	if (!event_lacks(e, &missing))
		return true;
	diag_add(reader->in->diag, SEVERITY_NOTE, "log.speaker_unknown", place, "message without its %s, which its thread does not tell",
		 field_infos[missing].name);
	return false;
}

/* What is said of a message, and how it begins. */
static void note_message(const struct log_reader *reader, const char *code, const char *words, struct sv message, const struct place *place)
{
	struct buf text;

	buf_init(&text);
	buf_add_plain(&text, sv_sub(message, 0, MESSAGE_BYTES));
	diag_add(reader->in->diag, SEVERITY_NOTE, code, place, "%s%.*s", words, SV_ARG(buf_sv(&text)));
	buf_fini(&text);
}

void log_note_near_miss(const struct log_reader *reader, struct sv message, const struct place *place)
{
	note_message(reader, NEAR_MISS_CODE, NEAR_MISS_WORDS, message, place);
}

void log_note_more(const struct log_reader *reader, uint64_t near_misses, uint64_t steps_back)
{
	diag_add_more(reader->in->diag, SEVERITY_NOTE, NEAR_MISS_CODE, near_misses);
	diag_add_more(reader->in->diag, SEVERITY_NOTE, BACKWARDS_CODE, steps_back);
}

/* Two writers in one file, or a copy that was made while it was written. */
static void note_cut(const struct log_reader *reader, const struct rules_events *it, const struct log_record *record, const struct place *place)
{
	if (rules_is_cut(it->rule))
		note_message(reader, "log.message_cut", "message without its end, which is not counted: ", record->body, place);
}

/* What is to be put with each event of a record. */
struct stamp {
	struct host_time time;
	struct place place;
	struct sv host;		/* absent: the input's */
	uint64_t record_id;	/* 0: none */
};

/* near: it may speak of consumer groups. */
static void note_unrecognized(const struct log_reader *reader, const struct joined *joined, bool near, const struct place *place)
{
	reader->in->info->unrecognized++;
	if (near && rules_near_miss(joined->record.body))
		log_note_near_miss(reader, joined->record.body, place);
}

static int put_events(struct log_reader *reader, struct log_writer *w, struct rules_events *it, const struct joined *joined,
		      const struct stamp *stamp)
{
	struct ingest *in = reader->in;
	struct event e;

	note_cut(reader, it, &joined->record, &stamp->place);
	while (rules_events_next(it, &e)) {
		if (!settle_speaker(reader, w, it, &stamp->place, &e))
			continue;
		e.time = stamp->time;
		e.place = stamp->place;
		e.host = stamp->host;
		e.text = sv_sub(joined->text, 0, TEXT_BYTES_MAX);
		e.record_id = stamp->record_id;
		if (ingest_put(in, &e) != 0)
			return -1;
	}
	return 0;
}

static void note_damage(struct ingest *in, const struct unwrapped *r, const struct place *place)
{
	if (r->joined.cut)
		diag_add(in->diag, SEVERITY_WARNING, "log.record_too_long", place, "record is longer than %d bytes, its end is left out",
			 RECORD_BYTES_MAX);
	if (r->unended)
		diag_add(in->diag, SEVERITY_WARNING, "log.record_cut", place, "record is cut: the end of its line is missing");
	if (r->second)
		diag_add(in->diag, SEVERITY_NOTE, "log.two_records", place, "two records on one line: they are read apart");
}

static int take_record(void *context, const struct unwrapped *r)
{
	struct log_reader *reader = context;
	struct ingest *in = reader->in;
	struct log_writer *w = log_writer_of(reader, r->writer, r->serial);
	struct stamp stamp = {
		.place = { .input = in->info->id, .unit = PLACE_LINE, .number = r->joined.line, .byte_offset = r->joined.byte_offset },
		/* What the user or the path says of the host outweighs what wrappers say. */
		.host = sv_is_absent(in->info->host) ? r->host : SV_ABSENT,
		.record_id = r->id,
	};
	struct rules_events it;
	const char *rule;

	in->info->records++;
	note_damage(in, r, &stamp.place);
	if (!log_times_settle(&reader->times, &w->clock, r, &stamp.place, &stamp.time)) {
		in->info->skipped++;
		return 0;
	}
	note_format(in, r);
	note_time(reader, w, log_host_of(reader, stamp.host), stamp.time, &stamp.place);
	rules_events_init(&it, in->rules, &r->joined.record, &rule);
	if (rule == NULL)
		note_unrecognized(reader, &r->joined, true, &stamp.place);
	return put_events(reader, w, &it, &r->joined, &stamp);
}

/*
 * As take_record: it has no wrapper and is whole, and what its input's format and
 * zone are has been said by the lines that were read before it.
 */
int log_take_plain(struct log_reader *reader, struct log_writer *w, const struct log_plain *r)
{
	struct ingest *in = reader->in;
	const struct stamp stamp = {
		.time = r->time,
		.place = { .input = in->info->id, .unit = PLACE_LINE, .number = r->joined.line, .byte_offset = r->joined.byte_offset },
		.host = SV_ABSENT,
	};
	struct rules_events it;
	const char *rule;

	in->info->records++;
	log_times_passed(&reader->times, r->time, r->time, r->time);
	note_time(reader, w, log_host_of(reader, SV_ABSENT), r->time, &stamp.place);
	rules_events_among(&it, in->rules, &r->joined.record, r->rules, r->rule_count, &rule);
	if (rule == NULL)
		note_unrecognized(reader, &r->joined, r->near, &stamp.place);
	return put_events(reader, w, &it, &r->joined, &stamp);
}

bool log_take_counted(struct log_reader *reader, struct log_writer *w, const struct log_counted *r, struct sv host, bool known,
		      struct sv near, const struct place *place)
{
	struct ingest *in = reader->in;
	struct host_time time;

	if (sv_is_absent(in->info->format) || !log_times_count(&reader->times, &w->clock, r, place, &time))
		return false;
	in->info->records++;
	in->info->unrecognized += !known;
	note_time(reader, w, log_host_of(reader, sv_is_absent(in->info->host) ? host : SV_ABSENT), time, place);
	if (!sv_is_absent(near))
		log_note_near_miss(reader, near, place);
	return true;
}

/* 0 at the end of the pieces, also when damage ended them (recorded by then); -1 when the sink failed. */
static int read_pieces(const struct log_form *form, void *pieces, struct unwrap *u)
{
	struct log_piece piece;

	while (form->next(pieces, &piece) == 1)
		if (unwrap_add_piece(u, &piece) != 0)
			return -1;
	return unwrap_end(u);
}

/* Of a log that was truncated below its writer the first line alone begins with zeros. */
static void note_noise(struct ingest *in, const struct unwrap *u)
{
	struct place first;
	const uint64_t lines = unwrap_noise(u, &first);

	if (lines > 0)
		diag_add(in->diag, lines == 1 && first.number == 1 ? SEVERITY_NOTE : SEVERITY_WARNING, "log.noise", &first,
			 "bytes that are no text, as zeros where a machine went down while it wrote: what stands beside them may be lost "
			 "(%" PRIu64 " lines, the first here)",
			 lines);
}

static void note_left_out(struct ingest *in, const struct unwrap *u)
{
	note_noise(in, u);
	if (unwrap_orphans(u) > 0)
		diag_add(in->diag, SEVERITY_NOTE, "log.no_record", NULL,
			 "%" PRIu64 " lines belong to no record", unwrap_orphans(u));
	if (unwrap_repeats(u) > 0)
		diag_add(in->diag, SEVERITY_NOTE, "log.repeated", NULL,
			 "%" PRIu64 " entries left out: the collector shipped them twice, under the same ids", unwrap_repeats(u));
}

static const struct log_form *form_of(struct ingest *in)
{
	const struct log_form *form = log_form_of(lines_preview(in->input, stream_head(in->stream)), in->rules);

	return form != NULL ? form : &log_form_lines;
}

/* The coverage of each host. One host that all wrappers name is the input's. */
static int put_covered(struct log_reader *reader)
{
	struct ingest *in = reader->in;
	struct sv named = in->info->host;
	int rc = 0;

	if (reader->host_count == 1 && sv_is_absent(named))
		in->info->host = named = reader->hosts[0].name;
	for (size_t i = 0; rc == 0 && i < reader->host_count; i++) {
		const struct log_host *h = &reader->hosts[i];

		in->info->host = sv_is_absent(named) ? h->name : named;
		rc = ingest_covered(in, "log", h->first, h->last, h->timed);
	}
	in->info->host = named;
	return rc;
}

/* All of it, piece by piece. */
static int read_with_care(struct log_reader *reader, const struct log_form *form)
{
	void *pieces = form->open(reader->in->stream, reader->in->rules, reader->in->diag);
	int rc = read_pieces(form, pieces, reader->unwrap);

	form->close(pieces);
	return rc;
}

/* What is left of it line by line, behind a block. */
static int read_the_rest(struct log_reader *reader, struct sv rest, uint64_t lines_before, uint64_t offset)
{
	struct lines *lines = lines_resume(reader->in->stream, reader->in->diag, rest, lines_before, offset);
	int rc = read_pieces(&log_form_lines, lines, reader->unwrap);

	lines_free(lines);
	return rc;
}

static int read_by_blocks(struct log_reader *reader, const struct scan_plan *plan, const struct log_manner *m)
{
	struct scan_reader *blocks = scan_reader_new(reader->in->stream, m->block_bytes);
	struct log_blocks joined;
	uint64_t offset;
	struct sv rest;
	int rc;

	log_blocks_init(&joined, reader, plan);
	rc = log_blocks_read_head(&joined, blocks, m->head_bytes);
	if (rc == 0)
		rc = scan_run(blocks, plan, m->threads, (struct scan_run_sink){ log_blocks_take, &joined });
	rest = scan_reader_rest(blocks, &offset);
	if (rc == 0)
		rc = log_blocks_end(&joined, rest.n == 0);
	if (rc == 0)
		rc = read_the_rest(reader, rest, joined.lines, offset);
	log_blocks_fini(&joined);
	scan_reader_free(blocks);
	return rc;
}

static int read_wrapped(struct log_reader *reader, const struct scan_plan *plan, const struct log_manner *m)
{
	struct scan_reader *blocks = scan_reader_new(reader->in->stream, m->block_bytes);
	struct log_wrapped *lines = log_wrapped_new(reader, plan);
	uint64_t offset;
	struct sv rest;
	int rc = log_wrapped_read_head(lines, blocks, m->head_bytes);

	if (rc == 0)
		rc = scan_run(blocks, plan, m->threads, (struct scan_run_sink){ log_wrapped_take, lines });
	rest = scan_reader_rest(blocks, &offset);
	if (rc == 0)
		rc = log_wrapped_end(lines, rest.n == 0);
	if (rc == 0)
		rc = read_the_rest(reader, rest, log_wrapped_lines(lines), offset);
	if (m->passed != NULL)
		*m->passed = log_wrapped_passed(lines);
	log_wrapped_free(lines);
	scan_reader_free(blocks);
	return rc;
}

/* By blocks, where that is of use; else with care. */
static int read_lines(struct log_reader *reader, const struct log_manner *m)
{
	const struct ingest *in = reader->in;
	struct sv head = stream_head(in->stream);
	const struct scan_plan *plan;

	/* What is no longer than its head is read by then; with a byte order mark places are not those of the bytes. */
	if (m->careful || head.n <= m->head_bytes || lines_preview(in->input, head).p != head.p)
		return read_with_care(reader, &log_form_lines);
	head = sv_sub(head, 0, m->head_bytes);
	plan = scan_plan_new(in->rules, in->zone, head, in->input);
	if (plan != NULL)
		return read_by_blocks(reader, plan, m);
	plan = inner_plan(in->rules, in->zone, head, in->input);
	return plan != NULL ? read_wrapped(reader, plan, m) : read_with_care(reader, &log_form_lines);
}

int log_read_in_manner(struct ingest *in, const struct log_manner *m)
{
	struct log_reader *reader = arena_alloc(in->input, sizeof *reader);
	const struct log_form *form = form_of(in);
	int rc;

	reader->in = in;
	reader->unwrap = unwrap_new(in->rules, in->zone, (struct unwrap_sink){ take_record, reader });
	log_times_init(&reader->times, in, form);
	rc = form == &log_form_lines ? read_lines(reader, m) : read_with_care(reader, form);
	note_left_out(in, reader->unwrap);
	log_times_note(&reader->times);
	if (rc == 0)
		rc = put_covered(reader);
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		arena_free(reader->writers[i].arena);
	unwrap_free(reader->unwrap);
	return rc;
}

static int log_read(struct ingest *in)
{
	const struct log_manner m = {
		.threads = in->threads,
		.block_bytes = in->threads > 1 ? SHARED_BLOCK_BYTES : BLOCK_BYTES,
		.head_bytes = STREAM_HEAD_BYTES - 1,
	};

	return log_read_in_manner(in, &m);
}

const struct kind log_kind = { "log", log_sniff, log_read };
