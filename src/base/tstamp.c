/* SPDX-License-Identifier: MIT */
/* Instants, zones, durations. See base/tstamp.h. */

#include "base/tstamp.h"

#include <string.h>

static const char month_names[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

/* A time taken apart. */
struct civil {
	int year, month, day, hour, minute, second;
	int64_t fraction_us;
};

/*
 * Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted
 * from March, so that the leap day is the last of its year.
 */
static int64_t days_from_civil(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, struct civil *out)
{
	days += 719468;
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t doe = days - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	out->day = (int)(doy - (153 * mp + 2) / 5 + 1);
	out->month = (int)(mp < 10 ? mp + 3 : mp - 9);
	out->year = (int)(yoe + era * 400 + (out->month <= 2));
}

static int days_in_month(int year, int month)
{
	static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

static bool civil_to_us(const struct civil *c, struct zone z, struct host_time *out)
{
	if (c->year < 1 || c->month < 1 || c->month > 12 || c->day < 1 || c->day > days_in_month(c->year, c->month) ||
	    c->hour > 23 || c->minute > 59 || c->second > 60)
		return false;
	int second = c->second == 60 ? 59 : c->second;
	int64_t s = days_from_civil(c->year, c->month, c->day) * 86400 + c->hour * 3600 + c->minute * 60 + second;
	out->us = (s - z.offset_s) * US_PER_S + c->fraction_us;
	return true;
}

/* A cursor over the text of a time. */
struct cursor {
	struct sv text;
	size_t at;
};

static char peek(const struct cursor *c)
{
	return c->at < c->text.n ? c->text.p[c->at] : '\0';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Exactly n digits. */
static bool take_digits(struct cursor *c, int n, int *out)
{
	int value = 0;
	for (int i = 0; i < n; i++) {
		if (!is_digit(peek(c)))
			return false;
		value = value * 10 + (peek(c) - '0');
		c->at++;
	}
	*out = value;
	return true;
}

/* One or more digits as a fraction of a second; what is finer than a microsecond is cut. */
static bool take_fraction(struct cursor *c, int64_t *us)
{
	int64_t value = 0, unit = US_PER_S;
	if (!is_digit(peek(c)))
		return false;
	while (is_digit(peek(c))) {
		if (unit > 1) {
			unit /= 10;
			value += unit * (peek(c) - '0');
		}
		c->at++;
	}
	*us = value;
	return true;
}

/* Z, +08:00, +0800, +08. */
static bool take_zone(struct cursor *c, struct zone *out)
{
	int hours, minutes = 0;
	char sign = peek(c);
	if (sign == 'Z' || sign == 'z') {
		c->at++;
		out->offset_s = 0;
		return true;
	}
	if (sign != '+' && sign != '-')
		return false;
	c->at++;
	if (!take_digits(c, 2, &hours))
		return false;
	bool colon = peek(c) == ':';
	if (colon)
		c->at++;
	if ((colon || is_digit(peek(c))) && !take_digits(c, 2, &minutes))
		return false;
	if (hours > 18 || minutes > 59)
		return false;
	int offset = hours * 3600 + minutes * 60;
	out->offset_s = sign == '-' ? -offset : offset;
	return true;
}

static bool take_month_name(struct cursor *c, int *month)
{
	struct sv name = sv_sub(c->text, c->at, 3);
	for (int i = 0; i < 12; i++) {
		if (sv_eq_nocase(name, SV_ABSENT) || !sv_eq_nocase(name, sv_of(month_names[i])))
			continue;
		*month = i + 1;
		c->at += 3;
		return true;
	}
	return false;
}

/* Seconds with an optional fraction, or whole ms, us or ns, as microseconds. */
static bool take_epoch(struct cursor *c, int64_t unit_us, int64_t per_us, int64_t *us)
{
	size_t start = c->at;
	int64_t value, fraction = 0;
	while (is_digit(peek(c)))
		c->at++;
	if (!sv_to_i64(sv_sub(c->text, start, c->at - start), &value) || value > INT64_MAX / 2 / unit_us)
		return false;
	if (unit_us == US_PER_S && peek(c) == '.') {
		c->at++;
		if (!take_fraction(c, &fraction))
			return false;
	}
	*us = value * unit_us / per_us + fraction;
	return true;
}

enum layout_part { PART_YEAR, PART_MONTH, PART_DAY, PART_HOUR, PART_MINUTE, PART_SECOND, PART_FRACTION, PART_ZONE,
		   PART_MONTH_NAME, PART_EPOCH_S, PART_EPOCH_MS, PART_EPOCH_US };

/* Longer letters before their prefixes. */
static const struct {
	struct sv letters;
	enum layout_part part;
} layout_parts[] = {
	{ { "epoch_us", 8 }, PART_EPOCH_US }, { { "epoch_ms", 8 }, PART_EPOCH_MS }, { { "epoch_s", 7 }, PART_EPOCH_S },
	{ { "yyyy", 4 }, PART_YEAR },	      { { "MMM", 3 }, PART_MONTH_NAME },    { { "MM", 2 }, PART_MONTH },
	{ { "dd", 2 }, PART_DAY },	      { { "HH", 2 }, PART_HOUR },	    { { "mm", 2 }, PART_MINUTE },
	{ { "ss", 2 }, PART_SECOND },	      { { "SSS", 3 }, PART_FRACTION },	    { { "XXX", 3 }, PART_ZONE },
};

/* What a layout has read so far. */
struct reading {
	struct civil civil;
	struct zone zone;
	bool zoned, epoch;
	int64_t epoch_us;
};

static bool take_part(struct cursor *c, enum layout_part part, struct reading *r)
{
	switch (part) {
	case PART_YEAR:
		return take_digits(c, 4, &r->civil.year);
	case PART_MONTH:
		return take_digits(c, 2, &r->civil.month);
	case PART_MONTH_NAME:
		return take_month_name(c, &r->civil.month);
	case PART_DAY:
		return take_digits(c, 2, &r->civil.day);
	case PART_HOUR:
		return take_digits(c, 2, &r->civil.hour);
	case PART_MINUTE:
		return take_digits(c, 2, &r->civil.minute);
	case PART_SECOND:
		return take_digits(c, 2, &r->civil.second);
	case PART_FRACTION:
		return take_fraction(c, &r->civil.fraction_us);
	case PART_ZONE:
		r->zoned = true;
		return take_zone(c, &r->zone);
	case PART_EPOCH_S:
		r->epoch = true;
		return take_epoch(c, US_PER_S, 1, &r->epoch_us);
	case PART_EPOCH_MS:
		r->epoch = true;
		return take_epoch(c, US_PER_MS, 1, &r->epoch_us);
	case PART_EPOCH_US:
		r->epoch = true;
		return take_epoch(c, 1, 1, &r->epoch_us);
	}
	return false;
}

/* The row of layout_parts that the layout continues with, or -1: a character that stands for itself. */
static int part_at(struct sv layout)
{
	for (size_t i = 0; i < sizeof layout_parts / sizeof layout_parts[0]; i++)
		/* The first letter decides nearly always: this stands in the path of every log line. */
		if (layout.p[0] == layout_parts[i].letters.p[0] && sv_starts_with(layout, layout_parts[i].letters))
			return (int)i;
	return -1;
}

bool tstamp_parse(struct sv text, struct sv layout, struct zone z, struct host_time *out, bool *zoned, size_t *used)
{
	struct cursor c = { text, 0 };
	struct reading r = { .zone = z };

	while (layout.n > 0) {
		int part = part_at(layout);
		size_t n = 1;
		if (part >= 0) {
			n = layout_parts[part].letters.n;
			if (!take_part(&c, layout_parts[part].part, &r))
				return false;
		} else if (c.at >= text.n || text.p[c.at++] != layout.p[0]) {
			return false;
		}
		layout = sv_sub(layout, n, layout.n);
	}
	if (r.epoch)
		out->us = r.epoch_us;
	else if (!civil_to_us(&r.civil, r.zone, out))
		return false;
	*zoned = r.zoned || r.epoch;
	*used = c.at;
	return true;
}

/* An optional fraction after . or , */
static bool take_optional_fraction(struct cursor *c, int64_t *us)
{
	if (peek(c) != '.' && peek(c) != ',')
		return true;
	c->at++;
	return take_fraction(c, us);
}

/* 2026-11-30T13:29:36,123+08:00 and its relatives. */
static bool guess_iso(struct sv text, struct zone z, struct host_time *out, bool *zoned)
{
	struct cursor c = { text, 0 };
	struct reading r = { .zone = z };

	if (!take_digits(&c, 4, &r.civil.year))
		return false;
	char separator = peek(&c);
	if (separator != '-' && separator != '/' && separator != '.')
		return false;
	c.at++;
	if (!take_digits(&c, 2, &r.civil.month) || peek(&c) != separator)
		return false;
	c.at++;
	if (!take_digits(&c, 2, &r.civil.day) || (peek(&c) != 'T' && peek(&c) != ' '))
		return false;
	c.at++;
	if (!take_digits(&c, 2, &r.civil.hour) || peek(&c) != ':')
		return false;
	c.at++;
	if (!take_digits(&c, 2, &r.civil.minute) || peek(&c) != ':')
		return false;
	c.at++;
	if (!take_digits(&c, 2, &r.civil.second) || !take_optional_fraction(&c, &r.civil.fraction_us))
		return false;
	if (peek(&c) == ' ')
		c.at++;
	if (sv_eq(sv_sub(text, c.at, text.n), SV("UTC"))) {
		r.zone.offset_s = 0;
		r.zoned = true;
		c.at = text.n;
	} else if (c.at < text.n) {
		if (!take_zone(&c, &r.zone))
			return false;
		r.zoned = true;
	}
	*zoned = r.zoned;
	return c.at == text.n && civil_to_us(&r.civil, r.zone, out);
}

/* Mon Nov 30 11:51:57 UTC 2026, as "date" writes it in the C locale. */
static bool guess_date_command(struct sv text, struct zone z, struct host_time *out, bool *zoned)
{
	struct sv rest = text, words[6];
	size_t n = 0;
	while (!sv_is_absent(rest)) {
		struct sv word = sv_cut(&rest, ' ');
		if (word.n == 0)
			continue;
		if (n == 6)
			return false;
		words[n++] = word;
	}
	if (n != 6 || words[0].n != 3)
		return false;
	struct cursor month = { words[1], 0 }, clock = { words[3], 0 };
	struct civil civil = { 0 };
	int64_t day, year;
	if (!take_month_name(&month, &civil.month) || month.at != words[1].n || !sv_to_i64(words[2], &day) ||
	    !sv_to_i64(words[5], &year) || day < 1 || day > 31 || year < 1970 || year > 9999)
		return false;
	if (!take_digits(&clock, 2, &civil.hour) || words[3].n != 8 || words[3].p[2] != ':' || words[3].p[5] != ':')
		return false;
	clock.at++;
	if (!take_digits(&clock, 2, &civil.minute))
		return false;
	clock.at++;
	if (!take_digits(&clock, 2, &civil.second))
		return false;
	civil.day = (int)day;
	civil.year = (int)year;
	/* Other abbreviations of zones are ambiguous (CST, IST): the zone must then be declared. */
	*zoned = sv_eq(words[4], SV("UTC")) || sv_eq(words[4], SV("GMT"));
	if (*zoned)
		z.offset_s = 0;
	return civil_to_us(&civil, z, out);
}

/* The number of digits tells the unit: 10 s, 13 ms, 16 us, 19 ns (2001 to 2286). */
static bool guess_epoch(struct sv text, struct host_time *out, bool *zoned)
{
	static const struct {
		size_t digits;
		int64_t unit_us, per_us;
	} units[] = { { 10, US_PER_S, 1 }, { 13, US_PER_MS, 1 }, { 16, 1, 1 }, { 19, 1, 1000 } };
	size_t digits = 0;
	while (digits < text.n && is_digit(text.p[digits]))
		digits++;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		struct cursor c = { text, 0 };
		if (units[i].digits != digits || !take_epoch(&c, units[i].unit_us, units[i].per_us, &out->us))
			continue;
		*zoned = true;
		return c.at == text.n;
	}
	return false;
}

bool tstamp_guess(struct sv text, struct zone z, struct host_time *out, bool *zoned)
{
	text = sv_trim(text);
	struct host_time t;
	bool has_zone = false;
	if (text.n == 0 || text.n > 64)
		return false;
	if (!guess_iso(text, z, &t, &has_zone) && !guess_epoch(text, &t, &has_zone) &&
	    !guess_date_command(text, z, &t, &has_zone))
		return false;
	*out = t;
	*zoned = has_zone;
	return true;
}

void tstamp_format(struct buf *b, int64_t us)
{
	int64_t s = us / US_PER_S, fraction = us % US_PER_S;
	if (fraction < 0) {
		fraction += US_PER_S;
		s--;
	}
	int64_t days = s / 86400, rest = s % 86400;
	if (rest < 0) {
		rest += 86400;
		days--;
	}
	struct civil c;
	civil_from_days(days, &c);
	buf_printf(b, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", c.year, c.month, c.day, (int)(rest / 3600),
		   (int)(rest / 60 % 60), (int)(rest % 60), (int)fraction);
}

bool zone_parse(struct sv text, struct zone *out)
{
	if (sv_eq_nocase(text, SV("UTC")) || sv_eq_nocase(text, SV("Z")) || sv_eq_nocase(text, SV("GMT"))) {
		out->offset_s = 0;
		return true;
	}
	char padded[4];
	if (text.n == 2 && (text.p[0] == '+' || text.p[0] == '-') && is_digit(text.p[1])) {
		memcpy(padded, (const char[]){ text.p[0], '0', text.p[1] }, 3);
		text = (struct sv){ padded, 3 };
	}
	struct cursor c = { text, 0 };
	struct zone z;
	if (text.n < 3 || !take_zone(&c, &z) || c.at != text.n)
		return false;
	*out = z;
	return true;
}

void zone_format(struct buf *b, struct zone z)
{
	if (z.offset_s == 0) {
		buf_add(b, SV("UTC"));
		return;
	}
	int minutes = (z.offset_s < 0 ? -z.offset_s : z.offset_s) / 60;
	buf_printf(b, "%c%02d:%02d", z.offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
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
