/* SPDX-License-Identifier: MIT */
/* Years, days, starts, and one of two instants. See input/log/dating.h. */

#include "input/log/dating.h"

#include <stdlib.h>

#include "base/cursor.h"

#define DAY_US (DAY_S * US_PER_S)

/* Threads that wait for the appender write out of order by less; what keeps order within it is in order. */
#define ORDER_US (1 * US_PER_S)

/* A file is last written to at its last record, or a little later; clocks of file servers differ. */
#define MODIFIED_SLACK_US DAY_US

/* Zones are whole quarters of an hour from UTC, at most 14 hours. */
#define QUARTER_US (900 * US_PER_S)
#define ZONE_MOST_US (14 * 3600 * US_PER_S)
/* A wrapper's time is taken when the line arrives: after it was written, and not long after. */
#define ARRIVAL_BEFORE_US (1 * US_PER_S)
#define ARRIVAL_AFTER_US (5 * US_PER_S)

/* ---- one of two instants ---- */

static enum dated choose(const struct host_time instants[2], enum zone_local local, const struct host_time *previous,
			 struct host_time *out)
{
	*out = instants[0];
	if (local == ZONE_SKIPPED)
		return DATED_SKIPPED;
	if (local == ZONE_ONCE)
		return DATED;
	if (previous == NULL || instants[0].us >= previous->us - ORDER_US)
		return DATED_FIRST_OF_TWO;
	/* The first would go back: it is the second time round, if that keeps the order. */
	if (instants[1].us >= previous->us - ORDER_US) {
		*out = instants[1];
		return DATED;
	}
	return DATED_FIRST_OF_TWO;
}

static enum dated settle_whole(const struct tstamp *t, struct zone z, const struct host_time *previous, struct host_time *out)
{
	struct host_time instants[2];
	enum zone_local local;

	if (!tstamp_resolve(t, z, instants, &local))
		return DATED_NOT;
	return choose(instants, local, previous, out);
}

/* ---- years ---- */

static struct zone zone_of(const struct tstamp *t, struct zone z)
{
	const struct zone written = { .offset_s = t->offset_s };

	return t->zoned ? written : z;
}

static struct civil local_civil(struct host_time at, struct zone z)
{
	struct civil c;
	int64_t s = at.us / US_PER_S;

	civil_from_seconds(s + zone_offset_at(z, s), &c);
	return c;
}

/* The time in the year or on the day so many behind that of "at"; midnight and new year are passed in either direction. */
static struct tstamp moved(const struct tstamp *t, struct host_time at, struct zone z, int by)
{
	struct civil c = local_civil(at, zone_of(t, z));
	struct tstamp whole = *t;

	whole.lacks = TSTAMP_LACKS_NOTHING;
	if (t->lacks == TSTAMP_LACKS_YEAR)
		whole.civil.year = c.year + by;
	else
		civil_from_days(civil_days(c.year, c.month, c.day) + by, &whole.civil);
	return whole;
}

/* Of the years or days around that of "at", the one that brings the time nearest to it; not beyond latest_us. */
static enum dated settle_near(const struct tstamp *t, struct zone z, struct host_time at, int64_t latest_us,
			      const struct host_time *previous, struct host_time *out)
{
	enum dated best = DATED_NOT;
	int64_t best_distance = INT64_MAX;

	for (int by = -1; by <= 1; by++) {
		struct tstamp whole = moved(t, at, z, by);
		struct host_time time;
		enum dated dated = settle_whole(&whole, z, previous, &time);

		if (dated == DATED_NOT || time.us > latest_us || llabs(time.us - at.us) >= best_distance)
			continue;
		best_distance = llabs(time.us - at.us);
		best = dated;
		*out = time;
	}
	return best;
}

bool dating_complete(struct tstamp *t, struct host_time near, struct zone z)
{
	struct tstamp best = *t;
	int64_t best_distance = INT64_MAX;

	for (int by = -1; by <= 1; by++) {
		struct tstamp whole = moved(t, near, z, by);
		struct host_time time;

		if (settle_whole(&whole, z, NULL, &time) == DATED_NOT || llabs(time.us - near.us) >= best_distance)
			continue;
		best_distance = llabs(time.us - near.us);
		best = whole;
	}
	*t = best;
	return t->lacks == TSTAMP_LACKS_NOTHING;
}

/* In this order: the line before, other lines of the input, the options, the file. */
static enum dated find_year(struct dating *d, const struct tstamp *t, struct zone z, const struct host_time *previous,
			    struct host_time *out)
{
	const char *source = NULL;
	enum dated dated = DATED_NOT;

	if (previous != NULL) {
		dated = settle_near(t, z, *previous, INT64_MAX, previous, out);
	} else if (d->has_anchor) {
		dated = settle_near(t, z, d->anchor, INT64_MAX, NULL, out);
		source = "other times in the input";
	} else if (d->has_near) {
		dated = settle_near(t, z, d->near, INT64_MAX, NULL, out);
		source = "the option --from";
	} else if (d->has_modified) {
		dated = settle_near(t, z, d->modified, d->modified.us + MODIFIED_SLACK_US, NULL, out);
		source = "the file's time of modification";
	}
	if (dated != DATED_NOT && d->year_source == NULL)
		d->year_source = source;
	return dated;
}

/* ---- days ---- */

/* The name's day is that of the first line: it is used while no line has a time. */
static enum dated find_day(struct dating *d, const struct tstamp *t, struct zone z, const struct host_time *previous,
			   struct host_time *out)
{
	const char *source = NULL;
	enum dated dated = DATED_NOT;

	if (previous != NULL) {
		dated = settle_near(t, z, *previous, INT64_MAX, previous, out);
	} else if (d->has_anchor) {
		dated = settle_near(t, z, d->anchor, INT64_MAX, NULL, out);
		source = "other times in the input";
	} else if (d->has_name_day) {
		struct tstamp whole = *t;

		civil_from_days(d->name_day, &whole.civil);
		whole.lacks = TSTAMP_LACKS_NOTHING;
		dated = settle_whole(&whole, z, NULL, out);
		source = "the file's name";
	}
	if (dated != DATED_NOT && d->day_source == NULL)
		d->day_source = source;
	return dated;
}

/* ---- counts since a start ---- */

static enum dated settle_count(bool known, struct host_time start, const struct tstamp *t, struct host_time *out)
{
	return known && !__builtin_add_overflow(start.us, t->us, &out->us) ? DATED : DATED_NOT;
}

enum dated dating_settle_boot(const struct dating *d, const struct tstamp *t, struct host_time *out)
{
	return settle_count(d->has_boot, d->boot, t, out);
}

enum dated dating_settle(struct dating *d, const struct tstamp *t, struct zone z, const struct host_time *previous,
			 struct host_time *out)
{
	enum dated dated = DATED_NOT;

	switch (t->lacks) {
	case TSTAMP_LACKS_NOTHING:
		dated = settle_whole(t, z, previous, out);
		break;
	case TSTAMP_LACKS_YEAR:
		dated = find_year(d, t, z, previous, out);
		break;
	case TSTAMP_LACKS_DATE:
		dated = find_day(d, t, z, previous, out);
		break;
	case TSTAMP_LACKS_START:
		return settle_count(d->has_start, d->start, t, out);
	}
	return dated;
}

/* ---- what tells ---- */

/* yyyy-MM-dd or yyyyMMdd at the place, not inside a longer number. */
static bool day_at(struct sv name, size_t at, int64_t *day)
{
	struct cursor c = { name, at };
	struct civil civil = { .hour = 0 };
	int64_t s;
	bool dashed;

	if (at > 0 && cursor_is_digit(name.p[at - 1]))
		return false;
	if (!cursor_digits(&c, 4, &civil.year))
		return false;
	dashed = cursor_skip(&c, '-');
	if (!cursor_digits(&c, 2, &civil.month) || dashed != cursor_skip(&c, '-') || !cursor_digits(&c, 2, &civil.day))
		return false;
	/* 2026113011 is a day and an hour; longer ones are other numbers. */
	if (cursor_is_digit(cursor_peek(&c))) {
		int hour;

		if (!cursor_digits(&c, 2, &hour) || hour > 23 || cursor_is_digit(cursor_peek(&c)))
			return false;
	}
	if (civil.year < 1990 || civil.year > 2199 || !civil_seconds(&civil, &s))
		return false;
	*day = s / DAY_S;
	return true;
}

bool dating_name_day(struct sv base_name, int64_t *day)
{
	for (size_t i = 0; i + 8 <= base_name.n; i++)
		if (day_at(base_name, i, day))
			return true;
	return false;
}

bool dating_zone_by_local(struct host_time as_utc, struct host_time instant, struct zone *out)
{
	const int64_t ahead = as_utc.us - instant.us;
	int64_t quarters, late;

	if (llabs(ahead) > ZONE_MOST_US + QUARTER_US / 2)
		return false;
	quarters = (ahead + (ahead >= 0 ? QUARTER_US / 2 : -QUARTER_US / 2)) / QUARTER_US;
	late = quarters * QUARTER_US - ahead;
	if (late < -ARRIVAL_BEFORE_US || late > ARRIVAL_AFTER_US || llabs(quarters * QUARTER_US) > ZONE_MOST_US)
		return false;
	*out = (struct zone){ .offset_s = (int32_t)(quarters * (QUARTER_US / US_PER_S)) };
	return true;
}

bool dating_zone_by_instant(const struct tstamp *t, struct host_time instant, struct zone *out)
{
	struct host_time as_utc[2];
	enum zone_local local;

	return !t->zoned && tstamp_resolve(t, (struct zone){ 0 }, as_utc, &local) && dating_zone_by_local(as_utc[0], instant, out);
}
