/* SPDX-License-Identifier: MIT */
/*
 * Kind: text logs, by the layouts and rules of rules/. Lines become records,
 * records become events with the place of their first line.
 */

#include <inttypes.h>

#include "base/buf.h"
#include "input/kind.h"
#include "input/log/form.h"
#include "input/log/log.h"
#include "input/log/log_time.h"
#include "input/log/unwrap.h"

/* As much of a record as tells what it is. */
#define NEAR_MISS_BYTES 160

/* Smaller steps back are threads that wait for the appender; only larger ones are a clock's. */
#define BACKWARDS_US (1 * US_PER_S)

/* Of a record, kept as evidence with each of its events. */
#define TEXT_BYTES_MAX ((size_t)16 * 1024)

/* Hosts beyond these have no coverage of their own. */
#define HOSTS_MAX 64

/* One of those who write to the file. */
struct log_writer {
	uint64_t serial;		/* of whom it is; another may come after it */
	struct log_clock clock;
	struct arena *arena;
	struct speakers speakers;
};

/* What was read of one host: the input's, or of several that wrappers name. */
struct log_host {
	struct sv name;
	struct host_time first, last;	/* of its records, in whatever order */
	uint64_t timed;			/* records with a time */
};

struct log_reader {
	struct ingest *in;
	struct log_times times;
	struct log_writer writers[UNWRAP_WRITERS_MAX];
	struct log_host hosts[HOSTS_MAX];
	size_t host_count;
};

static enum sniffed log_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	(void)base_name;
	(void)why;
	return rules != NULL && log_form_of(head, rules) != NULL ? SNIFF_MINE : SNIFF_NOT_MINE;
}

static struct log_writer *writer_of(struct log_reader *reader, const struct unwrapped *r)
{
	struct log_writer *w = &reader->writers[r->writer];
	struct arena *arena = w->arena;

	if (w->serial == r->serial)
		return w;
	if (arena == NULL)
		arena = arena_new();
	arena_reset(arena);
	*w = (struct log_writer){ .serial = r->serial, .arena = arena, .speakers = { .arena = arena } };
	return w;
}

static struct log_host *host_of(struct log_reader *reader, struct sv name)
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

static void note_time(struct log_reader *reader, struct log_writer *w, struct log_host *host, struct host_time t,
		      const struct place *place)
{
	struct log_clock *c = &w->clock;
	int64_t back_us = c->has_previous ? c->previous.us - t.us : 0;

	if (back_us > BACKWARDS_US)
		diag_add(reader->in->diag, SEVERITY_NOTE, "log.time_backwards", place, "time goes back by %" PRId64 ".%03d s",
			 back_us / US_PER_S, (int)(back_us % US_PER_S / US_PER_MS));
	c->previous = t;
	c->has_previous = true;
	if (host == NULL)
		return;
	if (host->timed == 0 || t.us < host->first.us)
		host->first = t;
	if (host->timed == 0 || t.us > host->last.us)
		host->last = t;
	host->timed++;
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

/*
 * Words that only consumer groups have. A record that has one and that no rule
 * knows is not noise like the rest: it may be a message that the rules should
 * have known.
 */
static const char *const group_words[] = {
	"rebalanc", "Rebalanc", "eartbeat", "group coordinator", "coordinator dead", "joining group", "joined group",
	"rejoin", "re-join", "revok", "Revok", "session timed out", "session timeout", "session expired",
	"poll interval", "poll timeout", "consumer group", "LeaveGroup", "OffsetCommit", "member id", "UNKNOWN_MEMBER_ID",
	"ILLEGAL_GENERATION", "max.poll.interval",
};

static void note_near_miss(struct log_reader *reader, const struct log_record *record, const struct place *place)
{
	size_t at;

	for (size_t i = 0; i < sizeof group_words / sizeof group_words[0]; i++) {
		if (!sv_find(record->body, sv_of(group_words[i]), &at))
			continue;
		struct buf text;

		buf_init(&text);
		buf_add_plain(&text, sv_sub(record->body, 0, NEAR_MISS_BYTES));
		diag_add(reader->in->diag, SEVERITY_NOTE, "log.near_miss", place, "speaks of consumer groups, and no rule knows it: %.*s",
			 SV_ARG(buf_sv(&text)));
		buf_fini(&text);
		return;
	}
}

/* What is to be put with each event of a record. */
struct stamp {
	struct host_time time;
	struct place place;
	struct sv host;		/* absent: the input's */
	uint64_t record_id;	/* 0: none */
};

static int put_events(struct log_reader *reader, struct log_writer *w, const struct joined *joined, const struct stamp *stamp)
{
	struct ingest *in = reader->in;
	struct rules_events it;
	struct event e;
	const char *rule;

	rules_events_init(&it, in->rules, &joined->record, &rule);
	if (rule == NULL) {
		in->info->unrecognized++;
		note_near_miss(reader, &joined->record, &stamp->place);
	}
	while (rules_events_next(&it, &e)) {
		if (!settle_speaker(reader, w, &it, &stamp->place, &e))
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
	struct log_writer *w = writer_of(reader, r);
	struct stamp stamp = {
		.place = { .input = in->info->id, .unit = PLACE_LINE, .number = r->joined.line, .byte_offset = r->joined.byte_offset },
		/* What the user or the path says of the host outweighs what wrappers say. */
		.host = sv_is_absent(in->info->host) ? r->host : SV_ABSENT,
		.record_id = r->id,
	};

	in->info->records++;
	note_damage(in, r, &stamp.place);
	if (!log_times_settle(&reader->times, &w->clock, r, &stamp.place, &stamp.time)) {
		in->info->skipped++;
		return 0;
	}
	note_format(in, r);
	note_time(reader, w, host_of(reader, stamp.host), stamp.time, &stamp.place);
	return put_events(reader, w, &r->joined, &stamp);
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

static void note_left_out(struct ingest *in, const struct unwrap *u)
{
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

static int log_read(struct ingest *in)
{
	struct log_reader *reader = arena_alloc(in->input, sizeof *reader);
	const struct log_form *form = form_of(in);
	void *pieces = form->open(in->stream, in->rules, in->diag);
	struct unwrap *u = unwrap_new(in->rules, in->zone, (struct unwrap_sink){ take_record, reader });
	int rc;

	reader->in = in;
	log_times_init(&reader->times, in, form);
	rc = read_pieces(form, pieces, u);
	note_left_out(in, u);
	log_times_note(&reader->times);
	if (rc == 0)
		rc = put_covered(reader);
	for (size_t i = 0; i < UNWRAP_WRITERS_MAX; i++)
		arena_free(reader->writers[i].arena);
	unwrap_free(u);
	form->close(pieces);
	return rc;
}

const struct kind log_kind = { "log", log_sniff, log_read };
