/* SPDX-License-Identifier: MIT */
/* Times by layouts of letters, and durations. See base/tstamp.h; times by trial: tstamp_guess.c. */

#include "base/tstamp.h"

#include <string.h>

#include "base/cursor.h"

/* Seconds, ms, us or ns, with an optional fraction, as microseconds. */
static bool take_count(struct cursor *c, int64_t unit_us, int64_t per_us, int64_t *us)
{
	size_t start = c->at;
	int64_t value, fraction = 0;
	while (cursor_is_digit(cursor_peek(c)))
		c->at++;
	if (!sv_to_i64(sv_sub(c->text, start, c->at - start), &value) || value > INT64_MAX / 2 / unit_us)
		return false;
	/* Of whatever unit: Kubernetes logs milliseconds with nanoseconds behind the dot. */
	if (cursor_peek(c) == '.') {
		c->at++;
		if (!cursor_fraction(c, &fraction))
			return false;
	}
	*us = value * unit_us / per_us + fraction * unit_us / (US_PER_S * per_us);
	return true;
}

/* A day of the week tells nothing that the date does not. */
static bool take_weekday(struct cursor *c)
{
	static const char names[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	struct sv name = sv_sub(c->text, c->at, 3);
	for (size_t i = 0; i < 7; i++) {
		if (!sv_eq_nocase(name, (struct sv){ names[i], 3 }))
			continue;
		c->at += 3;
		return true;
	}
	return false;
}

static bool take_abbreviation(struct cursor *c, struct tstamp *t)
{
	size_t start = c->at, n;
	while ((cursor_peek(c) >= 'A' && cursor_peek(c) <= 'Z') || (cursor_peek(c) >= 'a' && cursor_peek(c) <= 'z'))
		c->at++;
	n = c->at - start;
	if (n == 0 || n >= sizeof t->abbreviation)
		return false;
	t->zoned = zone_abbreviation((struct zone){ 0 }, sv_sub(c->text, start, n), &t->offset_s);
	if (!t->zoned)
		memcpy(t->abbreviation, c->text.p + start, n);
	return true;
}

/* What a layout has read so far. */
struct reading {
	struct tstamp t;
	bool has_year, has_date, is_uptime;
	bool hours_of_12, has_half, afternoon;
};

/* Which letters mean what; member is the offset of an int in struct civil. */
enum part { PART_DIGITS, PART_SHORT, PART_YEAR_OF_CENTURY, PART_MONTH_NAME, PART_WEEKDAY, PART_HALF, PART_FRACTION,
	    PART_OFFSET, PART_ABBREVIATION, PART_EPOCH, PART_UPTIME };

static const struct part_row {
	struct sv letters;
	enum part part;
	size_t member;
	int digits;
	int64_t unit_us, per_us;
} parts[] = {
	/* Longer letters before their prefixes. */
#define MEMBER(m) offsetof(struct civil, m)
	{ { "epoch_us", 8 }, PART_EPOCH, 0, 0, 1, 1 },
	{ { "epoch_ns", 8 }, PART_EPOCH, 0, 0, 1, 1000 },
	{ { "epoch_ms", 8 }, PART_EPOCH, 0, 0, US_PER_MS, 1 },
	{ { "epoch_s", 7 }, PART_EPOCH, 0, 0, US_PER_S, 1 },
	{ { "uptime_ms", 9 }, PART_UPTIME, 0, 0, US_PER_MS, 1 },
	{ { "uptime_s", 8 }, PART_UPTIME, 0, 0, US_PER_S, 1 },
	{ { "yyyy", 4 }, PART_DIGITS, MEMBER(year), 4, 0, 0 },
	{ { "yy", 2 }, PART_YEAR_OF_CENTURY, MEMBER(year), 2, 0, 0 },
	{ { "MMM", 3 }, PART_MONTH_NAME, MEMBER(month), 0, 0, 0 },
	{ { "MM", 2 }, PART_DIGITS, MEMBER(month), 2, 0, 0 },
	{ { "M", 1 }, PART_SHORT, MEMBER(month), 0, 0, 0 },
	{ { "dd", 2 }, PART_DIGITS, MEMBER(day), 2, 0, 0 },
	{ { "d", 1 }, PART_SHORT, MEMBER(day), 0, 0, 0 },
	{ { "EEE", 3 }, PART_WEEKDAY, 0, 0, 0, 0 },
	{ { "HH", 2 }, PART_DIGITS, MEMBER(hour), 2, 0, 0 },
	{ { "H", 1 }, PART_SHORT, MEMBER(hour), 0, 0, 0 },
	{ { "hh", 2 }, PART_DIGITS, MEMBER(hour), 2, 0, 0 },
	{ { "h", 1 }, PART_SHORT, MEMBER(hour), 0, 0, 0 },
	{ { "a", 1 }, PART_HALF, 0, 0, 0, 0 },
	{ { "mm", 2 }, PART_DIGITS, MEMBER(minute), 2, 0, 0 },
	{ { "ss", 2 }, PART_DIGITS, MEMBER(second), 2, 0, 0 },
	{ { "SSS", 3 }, PART_FRACTION, 0, 0, 0, 0 },
	{ { "XXX", 3 }, PART_OFFSET, 0, 0, 0, 0 },
	{ { "z", 1 }, PART_ABBREVIATION, 0, 0, 0, 0 },
};

static void skip_blanks(struct cursor *c)
{
	while (cursor_skip(c, ' '))
		;
}

static void note_part(const struct part_row *row, struct reading *r)
{
	switch (row->letters.p[0]) {
	case 'y':
		r->has_year = true;
		break;
	case 'M':
	case 'd':
		r->has_date = true;
		break;
	case 'h':
		r->hours_of_12 = true;
		break;
	default:
		break;
	}
}

static bool take_part(struct cursor *c, const struct part_row *row, struct reading *r)
{
	int *member = (int *)(void *)((char *)&r->t.civil + row->member);

	switch (row->part) {
	case PART_DIGITS:
		return cursor_digits(c, row->digits, member);
	case PART_YEAR_OF_CENTURY:
		if (!cursor_digits(c, 2, member))
			return false;
		*member += 2000;
		return true;
	case PART_SHORT:
		skip_blanks(c);
		return cursor_short(c, member);
	case PART_MONTH_NAME:
		return cursor_month(c, member);
	case PART_WEEKDAY:
		return take_weekday(c);
	case PART_HALF:
		r->has_half = true;
		r->afternoon = cursor_peek(c) == 'P' || cursor_peek(c) == 'p';
		if (!sv_eq_nocase(sv_sub(c->text, c->at, 2), r->afternoon ? SV("PM") : SV("AM")))
			return false;
		c->at += 2;
		return true;
	case PART_FRACTION:
		return cursor_fraction(c, &r->t.civil.fraction_us);
	case PART_OFFSET:
		r->t.zoned = true;
		return cursor_offset(c, &r->t.offset_s);
	case PART_ABBREVIATION:
		return take_abbreviation(c, &r->t);
	case PART_EPOCH:
		r->t.is_epoch = r->t.zoned = true;
		return take_count(c, row->unit_us, row->per_us, &r->t.us);
	case PART_UPTIME:
		r->is_uptime = true;
		skip_blanks(c);
		return take_count(c, row->unit_us, row->per_us, &r->t.us);
	}
	return false;
}

/* The row of parts that the layout continues with, or NULL: a character that stands for itself. */
static const struct part_row *part_at(struct sv layout)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		/* The first letter decides nearly always: this stands in the path of every log line. */
		if (layout.p[0] == parts[i].letters.p[0] && sv_starts_with(layout, parts[i].letters))
			return &parts[i];
	return NULL;
}

/* Hours that count to 12 need to say which half of the day they are of. */
static bool settle_half(struct reading *r)
{
	int *hour = &r->t.civil.hour;
	if (!r->hours_of_12 && !r->has_half)
		return true;
	if (!r->has_half || *hour < 1 || *hour > 12)
		return false;
	*hour = *hour % 12 + (r->afternoon ? 12 : 0);
	return true;
}

static enum tstamp_lack lack_of(const struct reading *r)
{
	if (r->t.is_epoch)
		return TSTAMP_LACKS_NOTHING;
	if (r->is_uptime)
		return TSTAMP_LACKS_START;
	if (r->has_year)
		return TSTAMP_LACKS_NOTHING;
	return r->has_date ? TSTAMP_LACKS_YEAR : TSTAMP_LACKS_DATE;
}

bool tstamp_read(struct sv text, struct sv layout, struct tstamp *out, size_t *used)
{
	struct cursor c = { text, 0 };
	struct reading r = { .has_year = false };

	while (layout.n > 0) {
		const struct part_row *row = part_at(layout);
		size_t n = 1;
		if (row != NULL) {
			n = row->letters.n;
			if (!take_part(&c, row, &r))
				return false;
			note_part(row, &r);
		} else if (c.at >= text.n || text.p[c.at++] != layout.p[0]) {
			return false;
		}
		layout = sv_sub(layout, n, layout.n);
	}
	if (!settle_half(&r))
		return false;
	r.t.lacks = lack_of(&r);
	*out = r.t;
	*used = c.at;
	return true;
}

/* An abbreviation that the place itself uses tells which of two instants it is. */
static bool zone_written(const struct tstamp *t, struct zone z, int32_t *offset_s)
{
	*offset_s = t->offset_s;
	if (t->zoned)
		return true;
	return t->abbreviation[0] != '\0' && z.rules != NULL && zone_abbreviation(z, sv_of(t->abbreviation), offset_s);
}

bool tstamp_resolve(const struct tstamp *t, struct zone z, struct host_time out[2], enum zone_local *local)
{
	int64_t local_s, utc_s[2];
	int32_t offset_s;

	*local = ZONE_ONCE;
	out[0].us = out[1].us = t->us;
	if (t->lacks != TSTAMP_LACKS_NOTHING)
		return false;
	if (t->is_epoch)
		return true;
	if (!civil_seconds(&t->civil, &local_s))
		return false;
	if (zone_written(t, z, &offset_s))
		z = (struct zone){ .offset_s = offset_s };
	*local = zone_instants(z, local_s, utc_s);
	for (size_t i = 0; i < 2; i++)
		out[i].us = utc_s[i] * US_PER_S + t->civil.fraction_us;
	return true;
}

bool tstamp_parse(struct sv text, struct sv layout, struct zone z, struct host_time *out, bool *zoned, size_t *used)
{
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;
	size_t n;

	if (!tstamp_read(text, layout, &t, &n) || !tstamp_resolve(&t, z, instants, &local))
		return false;
	*out = instants[0];
	*zoned = t.zoned;
	*used = n;
	return true;
}

void tstamp_format(struct buf *b, int64_t us)
{
	int64_t s = us / US_PER_S, fraction = us % US_PER_S;
	struct civil c;
	if (fraction < 0) {
		fraction += US_PER_S;
		s--;
	}
	civil_from_seconds(s, &c);
	buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", c.year, c.month, c.day, c.hour, c.minute, c.second, (int)fraction);
}

bool duration_parse(struct sv text, int64_t *us)
{
	static const struct {
		struct sv suffix;
		int64_t unit_us;
	} units[] = { { { "us", 2 }, 1 },	    { { "ms", 2 }, US_PER_MS },	       { { "s", 1 }, US_PER_S },
		      { { "m", 1 }, 60 * US_PER_S }, { { "h", 1 }, 3600 * US_PER_S }, { { "d", 1 }, 86400 * US_PER_S } };
	int64_t unit_us = US_PER_S, micros;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (sv_ends_with(text, units[i].suffix)) {
			unit_us = units[i].unit_us;
			text.n -= units[i].suffix.n;
			break;
		}
	}
	/* Millionths of the unit: a day's worth still leaves room for a hundred million days. */
	if (!sv_to_micros(text, &micros) || micros > INT64_MAX / unit_us || micros < -(INT64_MAX / unit_us))
		return false;
	*us = micros * unit_us / US_PER_S;
	return true;
}
