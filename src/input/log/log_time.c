/* SPDX-License-Identifier: MIT */
/* The times of a log's records. See input/log/log_time.h; what they leave out: dating.c. */

#include "input/log/log_time.h"

#include <stdlib.h>

#include "base/buf.h"
#include "input/stream.h"

/* So many of a hundred must agree with their wrapper's times in one zone: wrappers of an import have that of the import. */
#define VOTE_PERCENT 95
/* And so many in a row must agree in another before it is believed that clocks were changed. */
#define IN_A_ROW 8

/* The zone of the times that were read. */
static void note_zone(struct log_times *t, struct zone zone, enum zone_source source)
{
	struct ingest *in = t->in;
	struct buf name;

	if (source <= t->zone_source)
		return;
	buf_init(&name);
	zone_format(&name, zone);
	in->info->zone_name = arena_copy(in->input, buf_sv(&name));
	in->info->zone_source = source == ZONE_WRITTEN	    ? SV("written")
				: source == ZONE_BY_WRAPPER ? SV("wrapper")
				: in->zone_is_option	    ? SV("option")
							    : SV("assumed");
	buf_fini(&name);
	t->zone_source = source;
}

/* The wrapper's time as an instant. */
static bool wrapper_instant(const struct unwrapped *r, struct host_time *out)
{
	struct host_time instants[2];
	enum zone_local local;

	if (!r->has_time || !r->time.zoned || !tstamp_resolve(&r->time, (struct zone){ 0 }, instants, &local))
		return false;
	*out = instants[0];
	return true;
}

/* The inner time, with the year or the day of the wrapper where it has none. */
static struct tstamp written_by(const struct ingest *in, const struct unwrapped *r)
{
	struct tstamp t = r->joined.record.written;
	struct host_time instant;

	if ((t.lacks == TSTAMP_LACKS_YEAR || t.lacks == TSTAMP_LACKS_DATE) && wrapper_instant(r, &instant))
		(void)dating_complete(&t, instant, in->zone_is_option ? in->zone : (struct zone){ 0 });
	return t;
}

/* ---- what records tell of others ---- */

/*
 * Where the kernel logs the time of day beside its own count of seconds since
 * the boot: each record of its audit, and the clock that it found in the machine.
 */
static const struct {
	struct sv words, before;
	const char *what;
} kernel_times[] = {
	{ { "audit: type=", 12 }, { "audit(", 6 }, "a record of the kernel's audit" },
	{ { "setting system clock to ", 24 }, { " UTC (", 6 }, "the machine's clock as the kernel found it" },
};

/* The count runs apart from the time of day as weeks go by: the latest such record tells best. */
static void learn_boot(struct dating *d, const struct unwrapped *r)
{
	struct sv body = r->joined.record.body;

	if (!r->has_time || r->time.lacks != TSTAMP_LACKS_START)
		return;
	for (size_t i = 0; i < sizeof kernel_times / sizeof kernel_times[0]; i++) {
		struct tstamp epoch;
		size_t at, used;

		if (!sv_find(body, kernel_times[i].words, &at) || !sv_find(body, kernel_times[i].before, &at) ||
		    !tstamp_read(sv_sub(body, at + kernel_times[i].before.n, 32), SV("epoch_s"), &epoch, &used))
			continue;
		d->boot.us = epoch.us - r->time.us;
		d->has_boot = true;
		d->boot_source = kernel_times[i].what;
		return;
	}
}

/* Closer than this the lines around it tell when a program started. */
#define START_CLOSE_US US_PER_S

static bool counts(const struct log_record *record)
{
	return record->has_written && record->written.lacks == TSTAMP_LACKS_START;
}

/* A program that counts from less than before has been started anew. */
static void notice_restart(struct dating *d, const struct log_record *record)
{
	if (!counts(record) || !d->has_counted || record->written.us > d->counted_us - START_CLOSE_US)
		return;
	d->is_past_start = d->looks_ahead;
	if (!d->looks_ahead)
		d->has_start = d->has_least = d->has_most = false;
}

static void find_start(struct dating *d)
{
	if (d->has_start || !d->has_least || !d->has_most || llabs(d->most_us - d->least_us) > START_CLOSE_US)
		return;
	d->start.us = d->least_us + (d->most_us - d->least_us) / 2;
	d->has_start = true;
	d->start_source = "the dates of the lines around them";
}

/* A line with a date stands behind what has been counted so far. */
static void pass_dated(struct dating *d, struct host_time time)
{
	d->dated = time;
	d->has_dated = true;
	if (d->has_counted && (!d->has_most || time.us - d->counted_us < d->most_us))
		d->most_us = time.us - d->counted_us;
	d->has_most = d->has_counted;
	find_start(d);
}

/*
 * A JVM logs its collections by the seconds since its start, into the same output
 * as the application that writes dates. Two programs in one file would
 * contradict one another; what wrappers keep apart they date as well.
 */
static void bracket_start(struct dating *d, const struct unwrapped *r, const struct host_time *time)
{
	const struct log_record *record = &r->joined.record;

	if (r->wrapper != NULL || d->is_past_start)
		return;
	if (counts(record)) {
		d->counted_us = record->written.us;
		d->has_counted = true;
		if (d->has_dated && (!d->has_least || d->dated.us - d->counted_us > d->least_us))
			d->least_us = d->dated.us - d->counted_us;
		d->has_least = d->has_dated;
		find_start(d);
	} else if (time != NULL) {
		pass_dated(d, *time);
	}
}

/* What a record tells of times that others leave out. */
static void learn(struct dating *d, const struct unwrapped *r, const struct host_time *time)
{
	static const struct sv started = { "startTimeMs: ", 13 };
	const struct log_record *record = &r->joined.record;
	size_t at;

	if (time != NULL) {
		d->anchor = *time;
		d->has_anchor = true;
		if (!d->has_boot && r->has_time && r->time.lacks == TSTAMP_LACKS_START && record->has_written) {
			d->boot.us = time->us - r->time.us;
			d->has_boot = true;
		}
	}
	learn_boot(d, r);
	notice_restart(d, record);
	bracket_start(d, r, time);
	/* Kafka's clients print the time of day when they start, in a line that says how long the JVM has run. */
	if (!d->has_start && !d->is_past_start && counts(record) && sv_find(record->body, started, &at)) {
		struct tstamp epoch;
		size_t used;

		d->has_start = tstamp_read(sv_sub(record->body, at + started.n, 32), SV("epoch_ms"), &epoch, &used);
		d->start.us = d->has_start ? epoch.us - record->written.us : 0;
	}
}

/* Whether the wrapper's time tells in which zone the record's was written. */
static bool tells_zone(const struct ingest *in, const struct unwrapped *r, struct tstamp *written, struct host_time *instant)
{
	if (in->zone_is_option || !r->prompt || !r->joined.record.has_written || !wrapper_instant(r, instant))
		return false;
	*written = written_by(in, r);
	return !written->zoned && written->lacks == TSTAMP_LACKS_NOTHING;
}

static void vote(struct zone_vote *v, const struct tstamp *written, struct host_time instant)
{
	struct zone zone;

	v->asked++;
	if (!dating_zone_by_instant(written, instant, &zone))
		return;
	if (v->agreed == 0)
		v->zone = zone;
	v->agreed += v->zone.offset_s == zone.offset_s;
}

static int learn_ahead(void *context, const struct unwrapped *r)
{
	struct log_times *t = context;
	struct dating *d = &t->dating;
	struct host_time time, first = d->anchor;
	bool had_anchor = d->has_anchor, has_time = r->joined.record.has_time;
	struct tstamp written;

	if (tells_zone(t->in, r, &written, &time)) {
		vote(&t->votes[0], &written, time);
		if (r->serial <= UNWRAP_WRITERS_MAX)
			vote(&t->votes[r->serial], &written, time);
	}
	if (has_time)
		time = r->joined.record.time;
	else
		has_time = wrapper_instant(r, &time);
	learn(d, r, has_time ? &time : NULL);
	/* The first time of the file is nearest to what stands before it. */
	if (had_anchor)
		d->anchor = first;
	return 0;
}

/* Looks for times that are whole behind the first that is not. */
static void look_ahead(struct log_times *t)
{
	struct ingest *in = t->in;
	struct unwrap *u;
	struct log_piece piece;
	void *pieces;

	if (t->looked_ahead)
		return;
	t->looked_ahead = t->dating.looks_ahead = true;
	/* What is wrong with the pieces is told when they are read in earnest. */
	pieces = t->form->open(stream_of(in->input, stream_head(in->stream)), in->rules, diag_new(in->input));
	u = unwrap_new(in->rules, in->zone, (struct unwrap_sink){ learn_ahead, t });
	while (t->form->next(pieces, &piece) == 1)
		(void)unwrap_add_piece(u, &piece);
	(void)unwrap_end(u);
	unwrap_free(u);
	t->form->close(pieces);
	/* The lines are read once more, from the first. */
	t->dating.looks_ahead = t->dating.is_past_start = t->dating.has_dated = t->dating.has_counted = false;
}

/* ---- zones ---- */

/* Writers that begin later than the look ahead reaches are like the rest. */
static void ask_zone(struct log_times *t, struct log_clock *c, uint64_t serial)
{
	const struct zone_vote *v = &t->votes[serial <= UNWRAP_WRITERS_MAX ? serial : 0];

	look_ahead(t);
	c->asked = true;
	if (v->asked == 0)
		v = &t->votes[0];
	c->has_zone = v->agreed > 0 && v->agreed * 100 >= v->asked * VOTE_PERCENT;
	c->zone = v->zone;
}

/* When clocks are changed, the wrapper's show it. zone: by this record, NULL when it tells none. */
static void follow_zone(struct log_clock *c, const struct zone *zone)
{
	if (zone == NULL || zone->offset_s == c->zone.offset_s) {
		c->in_a_row = 0;
		return;
	}
	c->in_a_row = c->in_a_row > 0 && zone->offset_s == c->other.offset_s ? c->in_a_row + 1 : 1;
	c->other = *zone;
	if (c->in_a_row >= IN_A_ROW)
		c->zone = *zone;
}

static struct zone zone_known(const struct log_times *t, const struct log_clock *c, enum zone_source *source)
{
	*source = c->has_zone ? ZONE_BY_WRAPPER : ZONE_OF_INPUT;
	return c->has_zone ? c->zone : t->in->zone;
}

/* For a time without a zone: the user's word, what the wrapper's times tell, or what is assumed. */
static struct zone zone_for(struct log_times *t, struct log_clock *c, const struct unwrapped *r, enum zone_source *source)
{
	struct tstamp written;
	struct host_time instant;
	struct zone zone;

	if (tells_zone(t->in, r, &written, &instant)) {
		if (!c->asked)
			ask_zone(t, c, r->serial);
		if (c->has_zone)
			follow_zone(c, dating_zone_by_instant(&written, instant, &zone) ? &zone : NULL);
	}
	return zone_known(t, c, source);
}

/* ---- the time of a record ---- */

/* A time, and how it came about. */
struct settled {
	enum dated dated;
	struct host_time time;
	struct zone zone;
	enum zone_source source;
};

static struct settled settle_inner(struct log_times *t, struct log_clock *c, const struct unwrapped *r)
{
	const struct log_record *record = &r->joined.record;
	struct settled s = { .dated = DATED_NOT, .zone = record->zone, .source = ZONE_WRITTEN };

	if (record->has_written) {
		struct tstamp written = written_by(t->in, r);

		if (!written.zoned)
			s.zone = zone_for(t, c, r, &s.source);
		s.dated = dating_settle(&t->dating, &written, s.zone, c->has_previous ? &c->previous : NULL, &s.time);
	} else if (record->has_time) {
		s.dated = DATED;
		s.time = record->time;
		s.source = record->zoned ? ZONE_WRITTEN : ZONE_OF_INPUT;
	}
	return s;
}

static struct settled settle_wrapper(struct log_times *t, const struct log_clock *c, const struct unwrapped *r)
{
	struct settled s = { .dated = DATED_NOT, .zone = t->in->zone, .source = ZONE_OF_INPUT };

	if (!r->has_time)
		return s;
	if (r->time.zoned) {
		s.zone = (struct zone){ .offset_s = r->time.offset_s };
		s.source = ZONE_WRITTEN;
	}
	s.dated = r->time.lacks == TSTAMP_LACKS_START
			  ? dating_settle_boot(&t->dating, &r->time, &s.time)
			  : dating_settle(&t->dating, &r->time, s.zone, c->has_previous ? &c->previous : NULL, &s.time);
	return s;
}

/* Where the wrapper has a whole time as well. */
static void note_outer(struct log_times *t, const struct unwrapped *r, const struct settled *own, const struct place *place)
{
	struct host_time outer;

	if (wrapper_instant(r, &outer))
		outer_times_add(&t->outer, outer, own->time, own->source == ZONE_WRITTEN, place);
}

static void note_undated(struct ingest *in, const struct unwrapped *r, const struct place *place)
{
	static const char *const lacks[] = { NULL, "year", "date", "start" };
	const struct log_record *record = &r->joined.record;
	enum tstamp_lack lack = record->has_written ? record->written.lacks : r->has_time ? r->time.lacks : TSTAMP_LACKS_NOTHING;

	if (lack != TSTAMP_LACKS_NOTHING)
		diag_add(in->diag, SEVERITY_WARNING, "log.no_time", place, "record with a time whose %s nothing tells", lacks[lack]);
	else
		diag_add(in->diag, SEVERITY_WARNING, "log.no_time", place, "record without a time that can be read");
}

static void note_change(struct ingest *in, enum dated dated, const struct place *place)
{
	if (dated == DATED_FIRST_OF_TWO)
		diag_add(in->diag, SEVERITY_NOTE, "log.time_twice", place,
			 "clocks were set back: of the two instants that this may be, the first is taken");
	if (dated == DATED_SKIPPED)
		diag_add(in->diag, SEVERITY_WARNING, "log.time_skipped", place,
			 "clocks were set forward over this time: is the zone the right one?");
}

bool log_times_settle(struct log_times *t, struct log_clock *c, const struct unwrapped *r, const struct place *place,
		      struct host_time *out)
{
	const struct log_record *record = &r->joined.record;
	struct settled s;

	if ((record->has_written && record->written.lacks != TSTAMP_LACKS_NOTHING) ||
	    (r->has_time && r->time.lacks != TSTAMP_LACKS_NOTHING))
		look_ahead(t);
	notice_restart(&t->dating, record);
	s = settle_inner(t, c, r);
	if (s.dated != DATED_NOT)
		note_outer(t, r, &s, place);
	else
		s = settle_wrapper(t, c, r);
	learn(&t->dating, r, s.dated != DATED_NOT ? &s.time : NULL);
	if (s.dated == DATED_NOT) {
		note_undated(t->in, r, place);
		return false;
	}
	note_change(t->in, s.dated, place);
	note_zone(t, s.zone, s.source);
	*out = s.time;
	return true;
}

/* As zone_for. */
static struct zone zone_for_counted(struct log_times *t, struct log_clock *c, const struct log_counted *r, enum zone_source *source)
{
	struct zone zone;

	if (!t->in->zone_is_option && r->prompt && r->has_outer) {
		if (!c->asked)
			ask_zone(t, c, r->serial);
		if (c->has_zone)
			follow_zone(c, dating_zone_by_local(r->time, r->outer, &zone) ? &zone : NULL);
	}
	return zone_known(t, c, source);
}

bool log_times_count(struct log_times *t, struct log_clock *c, const struct log_counted *r, const struct place *place, struct host_time *out)
{
	enum zone_source source = ZONE_WRITTEN;
	struct zone zone;

	/* Which zone was written, and what an hour that is there twice means, is for those who have the record. */
	if (r->zoned ? t->zone_source < ZONE_WRITTEN : t->in->zone.rules != NULL)
		return false;
	*out = r->time;
	if (!r->zoned) {
		zone = zone_for_counted(t, c, r, &source);
		out->us -= zone.offset_s * US_PER_S;
	}
	if (r->has_outer)
		outer_times_add(&t->outer, r->outer, *out, r->zoned, place);
	t->dating.anchor = *out;
	t->dating.has_anchor = true;
	/* As bracket_start has it. */
	if (!r->has_wrapper && !t->dating.is_past_start)
		pass_dated(&t->dating, *out);
	if (!r->zoned)
		note_zone(t, zone, source);
	return true;
}

void log_times_passed(struct log_times *t, struct host_time first, struct host_time least, struct host_time last)
{
	t->dating.anchor = last;
	t->dating.has_anchor = true;
	if (t->dating.is_past_start)
		return;
	pass_dated(&t->dating, first);
	pass_dated(&t->dating, least);
	pass_dated(&t->dating, last);
}

void log_times_init(struct log_times *t, struct ingest *in, const struct log_form *form)
{
	*t = (struct log_times){
		.in = in,
		.form = form,
		.dating = {
			.has_near = in->has_near,
			.near = in->near,
			.has_modified = in->has_modified,
			.modified = in->modified,
		},
	};
	t->dating.has_name_day = dating_name_day(in->base_name, &t->dating.name_day);
}

void log_times_note(const struct log_times *t)
{
	const struct dating *d = &t->dating;

	outer_times_note(&t->outer, t->in->diag);
	if (d->year_source != NULL)
		diag_add(t->in->diag, SEVERITY_NOTE, "log.year", NULL, "times carry no year: it is by %s", d->year_source);
	if (d->day_source != NULL)
		diag_add(t->in->diag, SEVERITY_NOTE, "log.date", NULL, "times carry no date: it is by %s", d->day_source);
	if (d->start_source != NULL)
		diag_add(t->in->diag, SEVERITY_NOTE, "log.start", NULL, "times count from a start, which is placed by %s", d->start_source);
	if (d->boot_source != NULL)
		diag_add(t->in->diag, SEVERITY_NOTE, "log.boot", NULL, "times count from the boot, which is placed by %s", d->boot_source);
}
