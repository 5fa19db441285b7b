/* SPDX-License-Identifier: MIT */
/*
 * Kind: text logs, by the layouts and rules of rules/. Lines become records,
 * records become events with the place of their first line.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "input/kind.h"
#include "input/log.h"

/* A log with a long stack trace at its start is a log still. */
#define SNIFF_LINES 200

/* As much of a record as tells what it is. */
#define NEAR_MISS_BYTES 160

/* Smaller steps back are threads that wait for the appender; only larger ones are a clock's. */
#define BACKWARDS_US (1 * US_PER_S)

struct log_reader {
	struct ingest *in;
	bool has_times;
	bool unzoned;			/* some time was read in the zone of the input */
	struct host_time first, last;	/* of all records, in whatever order */
	struct host_time previous;
	uint64_t timed;			/* records with a time */
	struct speakers speakers;
};

static bool has_record(struct sv head, const struct rules *rules, struct arena *a)
{
	int hint = -1;

	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++) {
		struct sv line = sv_cut(&head, '\n');
		struct log_record record;

		if (sv_ends_with(line, SV("\r")))
			line.n--;
		arena_reset(a);
		if (rules_layout(rules, line, (struct zone){ 0 }, &hint, a, &record) && record.has_time)
			return true;
	}
	return false;
}

static enum sniffed log_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	struct arena *a;
	bool is_log;

	(void)base_name;
	(void)why;
	if (rules == NULL)
		return SNIFF_NOT_MINE;
	a = arena_new();
	is_log = has_record(head, rules, a);
	arena_free(a);
	return is_log ? SNIFF_MINE : SNIFF_NOT_MINE;
}

/* The zone of the times that were read. One that needed the zone of the input outweighs any that did not. */
static void note_zone(struct log_reader *reader, const struct log_record *record)
{
	struct ingest *in = reader->in;
	struct buf zone;

	if (reader->unzoned || (record->zoned && reader->has_times))
		return;
	buf_init(&zone);
	zone_format(&zone, record->zone);
	in->info->zone_name = arena_copy(in->input, buf_sv(&zone));
	in->info->zone_source = record->zoned ? SV("written") : in->zone_is_option ? SV("option") : SV("assumed");
	buf_fini(&zone);
	reader->unzoned = !record->zoned;
}

static void note_time(struct log_reader *reader, const struct log_record *record, const struct place *place)
{
	struct host_time t = record->time;

	note_zone(reader, record);
	if (!reader->has_times) {
		reader->in->info->format = sv_of(record->layout);
		reader->has_times = true;
		reader->first = reader->last = reader->previous = t;
	}
	int64_t back_us = reader->previous.us - t.us;

	if (back_us > BACKWARDS_US)
		diag_add(reader->in->diag, SEVERITY_NOTE, "log.time_backwards", place, "time goes back by %" PRId64 ".%03d s",
			 back_us / US_PER_S, (int)(back_us % US_PER_S / US_PER_MS));
	if (t.us < reader->first.us)
		reader->first = t;
	if (t.us > reader->last.us)
		reader->last = t;
	reader->previous = t;
	reader->timed++;
}

/* False when the message does not say whose it is and its thread does not tell. */
static bool settle_speaker(struct log_reader *reader, const struct rules_events *it, const struct place *place, struct event *e)
{
	struct sv thread = it->record->thread;
	enum event_field missing;

	/* A message that leaves one thing to its thread may name another. */
	speakers_learn(&reader->speakers, thread, e);
	if (rules_names_speaker(it->rule))
		return true;
	speakers_tell(&reader->speakers, thread, e);
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

static int put_events(struct log_reader *reader, const struct joined *joined, const struct place *place)
{
	struct ingest *in = reader->in;
	struct rules_events it;
	struct event e;
	const char *rule;

	rules_events_init(&it, in->rules, &joined->record, &rule);
	if (rule == NULL) {
		in->info->unrecognized++;
		note_near_miss(reader, &joined->record, place);
	}
	while (rules_events_next(&it, &e)) {
		if (!settle_speaker(reader, &it, place, &e))
			continue;
		e.time = joined->record.time;
		e.place = *place;
		e.text = joined->text;
		if (ingest_put(in, &e) != 0)
			return -1;
	}
	return 0;
}

static int take_record(struct log_reader *reader, const struct joined *joined)
{
	struct ingest *in = reader->in;
	struct place place = {
		.input = in->info->id, .unit = PLACE_LINE, .number = joined->line, .byte_offset = joined->byte_offset
	};

	in->info->records++;
	if (joined->cut)
		diag_add(in->diag, SEVERITY_WARNING, "log.record_too_long", &place, "record is longer than %d bytes, its end is left out",
			 RECORD_BYTES_MAX);
	if (!joined->record.has_time) {
		in->info->skipped++;
		diag_add(in->diag, SEVERITY_WARNING, "log.no_time", &place, "record without a time that can be read");
		return 0;
	}
	note_time(reader, &joined->record, &place);
	return put_events(reader, joined, &place);
}

/* 0 at the end of the lines, also when damage ended them (recorded by then); -1 when the sink failed. */
static int read_lines(struct log_reader *reader, struct lines *lines, struct joiner *joiner)
{
	struct line line;
	struct joined joined;

	while (lines_next(lines, &line) == 1) {
		if (joiner_add(joiner, line.text, line.number, line.byte_offset, &joined) && take_record(reader, &joined) != 0)
			return -1;
	}
	if (joiner_end(joiner, &joined))
		return take_record(reader, &joined);
	return 0;
}

static void note_orphans(struct ingest *in, uint64_t orphans)
{
	if (orphans > 0)
		diag_add(in->diag, SEVERITY_NOTE, "log.no_record", NULL,
			 "%" PRIu64 " lines belong to no record", orphans);
}

static int log_read(struct ingest *in)
{
	struct log_reader reader = { .in = in, .speakers = { .arena = in->input } };
	struct lines *lines = lines_new(in->stream, in->diag);
	struct joiner *joiner = joiner_new(in->rules, in->zone);
	int rc = read_lines(&reader, lines, joiner);

	note_orphans(in, joiner_orphans(joiner));
	if (rc == 0 && reader.has_times)
		rc = ingest_covered(in, "log", reader.first, reader.last, reader.timed);
	joiner_free(joiner);
	lines_free(lines);
	return rc;
}

const struct kind log_kind = { "log", log_sniff, log_read };
