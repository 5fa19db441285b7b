/* SPDX-License-Identifier: MIT */
/*
 * Times by trial: ISO 8601 and its relatives, counts since 1970, and dates in
 * words, in the languages in which date(1) and java.util.logging are met
 * (input-formats.md 4.4).
 */

#include "base/tstamp.h"

#include <string.h>

#include "base/cursor.h"

/* Longer texts are no times. */
#define GUESS_BYTES_MAX 64
#define WORDS_MAX 9

/* Sets the zone that an abbreviation names, or keeps it for the place to tell. */
static bool set_abbreviation(struct tstamp *t, struct sv name)
{
	if (name.n == 0 || name.n >= sizeof t->abbreviation)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] < 'A' || name.p[i] > 'Z')
			return false;
	t->zoned = zone_abbreviation((struct zone){ 0 }, name, &t->offset_s);
	if (!t->zoned)
		memcpy(t->abbreviation, name.p, name.n);
	return true;
}

/* +01:00, Z, UTC, CET */
static bool set_zone(struct tstamp *t, struct sv text)
{
	struct cursor c = { text, 0 };

	if (cursor_offset(&c, &t->offset_s) && c.at == text.n) {
		t->zoned = true;
		return true;
	}
	return set_abbreviation(t, text);
}

/* 13:29:36 with an optional fraction after a dot, a comma or a colon. */
static bool take_clock(struct cursor *c, struct civil *civil)
{
	char after;

	if (!cursor_digits(c, 2, &civil->hour) || !cursor_skip(c, ':') || !cursor_digits(c, 2, &civil->minute) ||
	    !cursor_skip(c, ':') || !cursor_digits(c, 2, &civil->second))
		return false;
	after = cursor_peek(c);
	if (after != '.' && after != ',' && after != ':')
		return true;
	c->at++;
	return cursor_fraction(c, &civil->fraction_us);
}

/* 2026-11-30T13:29:36,123+08:00 and its relatives. */
static bool guess_iso(struct sv text, struct tstamp *t)
{
	struct cursor c = { text, 0 };
	struct civil *civil = &t->civil;
	char separator;

	if (!cursor_digits(&c, 4, &civil->year))
		return false;
	separator = cursor_peek(&c);
	if (separator != '-' && separator != '/' && separator != '.')
		return false;
	c.at++;
	if (!cursor_digits(&c, 2, &civil->month) || !cursor_skip(&c, separator) || !cursor_digits(&c, 2, &civil->day) ||
	    (!cursor_skip(&c, 'T') && !cursor_skip(&c, ' ')) || !take_clock(&c, civil))
		return false;
	(void)cursor_skip(&c, ' ');
	return c.at == text.n || set_zone(t, cursor_rest(&c));
}

/* 20261130T114401,445, 20261130-143449, 20261130143449, 20261130114403167 */
static bool guess_compact(struct sv text, struct tstamp *t)
{
	struct cursor c = { text, 0 };
	struct civil *civil = &t->civil;
	bool separated;

	if (!cursor_digits(&c, 4, &civil->year) || !cursor_digits(&c, 2, &civil->month) || !cursor_digits(&c, 2, &civil->day))
		return false;
	separated = cursor_skip(&c, 'T') || cursor_skip(&c, '-');
	if (!cursor_digits(&c, 2, &civil->hour) || !cursor_digits(&c, 2, &civil->minute) || !cursor_digits(&c, 2, &civil->second))
		return false;
	if (!separated)
		return c.at == text.n || (text.n == 17 && cursor_fraction(&c, &civil->fraction_us) && c.at == text.n);
	if ((cursor_skip(&c, '.') || cursor_skip(&c, ',')) && !cursor_fraction(&c, &civil->fraction_us))
		return false;
	return c.at == text.n || set_zone(t, cursor_rest(&c));
}

/* 1.725547337613E9, as Java prints a double: its digits, with the point where it belongs. */
static bool without_exponent(struct sv text, char *to, size_t capacity, struct sv *out)
{
	size_t e, n = 0;
	int64_t exponent;

	if ((!sv_find_char(text, 'E', &e) && !sv_find_char(text, 'e', &e)) || e < 3 || text.p[1] != '.' || e >= capacity)
		return false;
	if (!sv_to_i64(sv_sub(text, e + 1, text.n), &exponent) || exponent < 1 || (size_t)exponent >= capacity - 2)
		return false;
	for (size_t i = 0; i < e || n <= (size_t)exponent; i++) {
		if (i == 1)
			continue;
		if (n == capacity - 1)
			return false;
		to[n++] = i < e ? text.p[i] : '0';
		if (n == (size_t)exponent + 1 && i + 1 < e)
			to[n++] = '.';
	}
	*out = (struct sv){ to, n };
	return true;
}

/* The number of digits tells the unit: 10 s, 13 ms, 16 us, 19 ns (2001 to 2286). */
static bool guess_epoch(struct sv text, struct tstamp *t)
{
	static const struct {
		size_t digits;
		struct sv layout;
	} units[] = { { 10, { "epoch_s", 7 } }, { 13, { "epoch_ms", 8 } }, { 16, { "epoch_us", 8 } }, { 19, { "epoch_ns", 8 } } };
	char plain[GUESS_BYTES_MAX];
	size_t digits = 0, used;

	(void)without_exponent(text, plain, sizeof plain, &text);
	while (digits < text.n && cursor_is_digit(text.p[digits]))
		digits++;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].digits == digits)
			return tstamp_read(text, units[i].layout, t, &used) && used == text.n;
	return false;
}

/* What is not ISO and has one layout alone. */
static bool guess_layout(struct sv text, struct tstamp *t)
{
	static const struct sv layouts[] = {
		{ "dd/MMM/yyyy:HH:mm:ss XXX", 24 }, /* access logs */
		{ "[uptime_s]", 10 },		    /* the kernel's, and short-monotonic of the journal */
	};
	size_t used;

	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (tstamp_read(text, layouts[i], t, &used) && used == text.n)
			return true;
	return false;
}

/* ---- dates in words ---- */

static const struct {
	struct sv name;
	int month;
} months[] = {
	/* English, by its first three letters or whole. */
	{ { "january", 7 }, 1 }, { { "february", 8 }, 2 }, { { "march", 5 }, 3 }, { { "april", 5 }, 4 }, { { "june", 4 }, 6 },
	{ { "july", 4 }, 7 }, { { "august", 6 }, 8 }, { { "september", 9 }, 9 }, { { "october", 7 }, 10 },
	{ { "november", 8 }, 11 }, { { "december", 8 }, 12 }, { { "jan", 3 }, 1 }, { { "feb", 3 }, 2 }, { { "mar", 3 }, 3 },
	{ { "apr", 3 }, 4 }, { { "may", 3 }, 5 }, { { "jun", 3 }, 6 }, { { "jul", 3 }, 7 }, { { "aug", 3 }, 8 },
	{ { "sep", 3 }, 9 }, { { "oct", 3 }, 10 }, { { "nov", 3 }, 11 }, { { "dec", 3 }, 12 },
	/* German. */
	{ { "m\xc3\xa4r", 4 }, 3 }, { { "m\xc3\xa4rz", 5 }, 3 }, { { "mrz", 3 }, 3 }, { { "mai", 3 }, 5 }, { { "juni", 4 }, 6 },
	{ { "juli", 4 }, 7 }, { { "sept", 4 }, 9 }, { { "okt", 3 }, 10 }, { { "dez", 3 }, 12 },
	/* French. */
	{ { "janv", 4 }, 1 }, { { "f\xc3\xa9vr", 5 }, 2 }, { { "mars", 4 }, 3 }, { { "avr", 3 }, 4 }, { { "avril", 5 }, 4 },
	{ { "juin", 4 }, 6 }, { { "juil", 4 }, 7 }, { { "ao\xc3\xbbt", 5 }, 8 }, { { "d\xc3\xa9" "c", 4 }, 12 },
};

/* They tell nothing that the date does not. */
static const struct sv weekdays[] = {
	{ "mon", 3 }, { "tue", 3 }, { "wed", 3 }, { "thu", 3 }, { "fri", 3 }, { "sat", 3 }, { "sun", 3 }, { "mo", 2 },
	{ "di", 2 },  { "mi", 2 },  { "do", 2 },  { "fr", 2 },	{ "sa", 2 },  { "so", 2 },  { "lun", 3 }, { "mer", 3 },
	{ "jeu", 3 }, { "ven", 3 }, { "sam", 3 }, { "dim", 3 },
};

/* Chinese and Japanese. */
#define YEAR_SIGN "\xe5\xb9\xb4"
#define MONTH_SIGN "\xe6\x9c\x88"
#define DAY_SIGN "\xe6\x97\xa5"
#define WEEK_CHINESE "\xe6\x98\x9f\xe6\x9c\x9f"
#define WEEK_JAPANESE "\xe6\x9b\x9c\xe6\x97\xa5"
#define MORNING "\xe4\xb8\x8a\xe5\x8d\x88"
#define AFTERNOON "\xe4\xb8\x8b\xe5\x8d\x88"

/* A date in words, as far as it is read. */
struct sentence {
	struct tstamp t;
	bool has_clock, has_half, afternoon, has_zone;
	/* "mar." is Tuesday in French, and March everywhere: a second month tells. */
	bool month_may_be_weekday;
};

static bool set_once(int *member, int64_t value, int64_t most)
{
	if (*member != 0 || value < 1 || value > most)
		return false;
	*member = (int)value;
	return true;
}

/* Digits and a sign: 2026, 30, 30., 11 with the sign for "month". */
static bool take_number_word(struct sentence *s, struct sv word)
{
	struct civil *civil = &s->t.civil;
	size_t digits = 0;
	int64_t value;
	struct sv sign;

	while (digits < word.n && cursor_is_digit(word.p[digits]))
		digits++;
	if (digits == 0 || digits > 4 || !sv_to_i64(sv_sub(word, 0, digits), &value))
		return false;
	sign = sv_sub(word, digits, word.n);
	if (sv_eq(sign, SV(YEAR_SIGN)) || (digits == 4 && sign.n == 0))
		return set_once(&civil->year, value, 9999);
	if (sv_eq(sign, SV(MONTH_SIGN)))
		return set_once(&civil->month, value, 12);
	return digits <= 2 && (sign.n == 0 || sv_eq(sign, SV(DAY_SIGN))) && set_once(&civil->day, value, 31);
}

static bool take_month_word(struct sentence *s, struct sv word, bool dotted)
{
	for (size_t i = 0; i < sizeof months / sizeof months[0]; i++) {
		if (!sv_eq_nocase(word, months[i].name))
			continue;
		if (s->t.civil.month != 0 && !s->month_may_be_weekday)
			return false;
		s->month_may_be_weekday = s->t.civil.month == 0 && dotted && s->t.civil.day == 0 && sv_eq_nocase(word, SV("mar"));
		s->t.civil.month = months[i].month;
		return true;
	}
	return false;
}

static bool take_half_word(struct sentence *s, struct sv word)
{
	bool morning = sv_eq_nocase(word, SV("AM")) || sv_eq(word, SV(MORNING));
	bool afternoon = sv_eq_nocase(word, SV("PM")) || sv_eq(word, SV(AFTERNOON));

	if (s->has_half || (!morning && !afternoon))
		return false;
	s->has_half = true;
	s->afternoon = afternoon;
	return true;
}

static bool is_weekday(struct sv word)
{
	for (size_t i = 0; i < sizeof weekdays / sizeof weekdays[0]; i++)
		if (sv_eq_nocase(word, weekdays[i]))
			return true;
	return sv_starts_with(word, SV(WEEK_CHINESE)) || sv_ends_with(word, SV(WEEK_JAPANESE));
}

static bool take_clock_word(struct sentence *s, struct sv word)
{
	struct cursor c = { word, 0 };
	/* Of 12-hour clocks in words, hours have one digit or two. */
	char padded[GUESS_BYTES_MAX + 1];

	if (s->has_clock)
		return false;
	if (word.n > 2 && word.p[1] == ':') {
		padded[0] = '0';
		memcpy(padded + 1, word.p, word.n);
		c.text = (struct sv){ padded, word.n + 1 };
	}
	s->has_clock = take_clock(&c, &s->t.civil) && c.at == c.text.n;
	return s->has_clock;
}

static bool take_word(struct sentence *s, struct sv word)
{
	size_t at;
	bool dotted = sv_ends_with(word, SV("."));

	if (sv_find_char(word, ':', &at) && cursor_is_digit(word.p[0]))
		return take_clock_word(s, word);
	while (sv_ends_with(word, SV(".")) || sv_ends_with(word, SV(",")))
		word.n--;
	if (sv_eq(word, SV("@")))
		return true;
	if (take_number_word(s, word) || take_month_word(s, word, dotted) || take_half_word(s, word))
		return true;
	/* Behind the clock stands a zone, before it a day of the week. */
	if (!s->has_clock || s->has_zone)
		return is_weekday(word);
	s->has_zone = set_zone(&s->t, word);
	return s->has_zone || is_weekday(word);
}

static bool settle(struct sentence *s, struct tstamp *t)
{
	struct civil *civil = &s->t.civil;

	if (!s->has_clock || (civil->month == 0) != (civil->day == 0) || (civil->year != 0 && civil->month == 0))
		return false;
	if (s->has_half) {
		if (civil->hour < 1 || civil->hour > 12)
			return false;
		civil->hour = civil->hour % 12 + (s->afternoon ? 12 : 0);
	}
	s->t.lacks = civil->year != 0 ? TSTAMP_LACKS_NOTHING : civil->month != 0 ? TSTAMP_LACKS_YEAR : TSTAMP_LACKS_DATE;
	*t = s->t;
	return true;
}

static bool guess_words(struct sv text, struct tstamp *t)
{
	struct sentence s = { .has_clock = false };
	size_t words = 0;

	while (!sv_is_absent(text)) {
		struct sv word = sv_cut(&text, ' ');

		if (word.n == 0)
			continue;
		if (++words > WORDS_MAX || !take_word(&s, word))
			return false;
	}
	return settle(&s, t);
}

bool tstamp_guess_parts(struct sv text, struct tstamp *out)
{
	static bool (*const guesses[])(struct sv text, struct tstamp *t) = { guess_iso, guess_epoch, guess_compact,
									     guess_layout, guess_words };

	text = sv_trim(text);
	if (text.n == 0 || text.n > GUESS_BYTES_MAX)
		return false;
	for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
		struct tstamp t = { .lacks = TSTAMP_LACKS_NOTHING };

		if (!guesses[i](text, &t))
			continue;
		*out = t;
		return true;
	}
	return false;
}

bool tstamp_guess(struct sv text, struct zone z, struct host_time *out, bool *zoned)
{
	struct tstamp t;
	struct host_time instants[2];
	enum zone_local local;

	if (!tstamp_guess_parts(text, &t) || !tstamp_resolve(&t, z, instants, &local))
		return false;
	*out = instants[0];
	*zoned = t.zoned;
	return true;
}
