/* SPDX-License-Identifier: MIT */
/*
 * The banner and the times of sar, as the locales of glibc print them (%x and %X):
 * "11/30/2026" and "11:28:46 AM", "30.11.2026" and "11.28.46", "2026年11月30日"
 * and "11时28分46秒", "30/11/26" and "11:28:46 AM IST", "上午 11时28分46秒".
 * What the order of a date's numbers is stands nowhere: counters_sar_day.c settles it.
 */

#include "input/counters/sar.h"

#include "base/civil.h"
#include "base/cursor.h"

/* ---- words ---- */

static bool skip_text(struct cursor *c, struct sv text)
{
	if (!sv_starts_with(cursor_rest(c), text))
		return false;
	c->at += text.n;
	return true;
}

static void skip_blanks(struct cursor *c)
{
	while (cursor_skip(c, ' ') || cursor_skip(c, '\t'))
		continue;
}

/* One to so many digits. */
static bool read_number(struct cursor *c, size_t most, int64_t *out, size_t *digits)
{
	*out = 0;
	for (*digits = 0; *digits < most && cursor_is_digit(cursor_peek(c)); ++*digits)
		*out = *out * 10 + (c->text.p[c->at++] - '0');
	return *digits > 0;
}

/* ---- the banner ---- */

/* Between slashes, dots or hyphens, with blanks behind them in some; "30.11.2026." in others. */
static bool read_separated(struct sv text, struct sar_banner *b)
{
	struct cursor c = { text, 0 };

	for (size_t i = 0; i < 3; i++) {
		if (!read_number(&c, 4, &b->numbers[i], &b->digits[i]))
			return false;
		if (i == 0)
			b->separator = cursor_peek(&c);
		if (i == 2)
			break;
		if ((b->separator != '/' && b->separator != '.' && b->separator != '-') ||
		    !cursor_skip(&c, b->separator))
			return false;
		skip_blanks(&c);
	}
	(void)cursor_skip(&c, '.');
	return c.at == text.n;
}

/* "2026年11月30日", with the day of the week behind it in some; "2026년 11월 30일" */
static bool read_counted(struct sv text, struct sar_banner *b)
{
	static const struct sv units[][3] = {
		{ { "年", 3 }, { "月", 3 }, { "日", 3 } },
		{ { "年", 3 }, { "月", 3 }, { "號", 3 } },
		{ { "년", 3 }, { "월", 3 }, { "일", 3 } },
	};

	for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
		struct cursor c = { text, 0 };
		size_t i = 0;

		while (i < 3 && read_number(&c, 4, &b->numbers[i], &b->digits[i]) && skip_text(&c, units[k][i])) {
			skip_blanks(&c);
			i++;
		}
		if (i == 3)
			return b->digits[0] == 4;
	}
	return false;
}

/* A word of letters that begins as an English month does. */
static bool is_month(struct sv word, int64_t *out)
{
	struct cursor c = { word, 0 };
	int month;

	if (!cursor_month(&c, &month))
		return false;
	*out = month;
	return true;
}

/* "Monday, November 30, 2026", "30. Nov. 2026": a day, a month and a year, once each, whatever else. */
static bool read_named(struct sv text, struct sar_banner *b)
{
	size_t years = 0, months = 0, days = 0;

	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text)) {
		while (word.n > 0 && (word.p[word.n - 1] == ',' || word.p[word.n - 1] == '.'))
			word.n--;
		struct cursor c = { word, 0 };
		int64_t number, month;
		size_t digits;

		if (is_month(word, &month)) {
			b->numbers[1] = month;
			months++;
		} else if (read_number(&c, 4, &number, &digits) && c.at == word.n) {
			b->numbers[digits == 4 ? 0 : 2] = number;
			years += digits == 4;
			days += digits <= 2;
		}
	}
	b->digits[0] = 4;
	return years == 1 && months == 1 && days == 1;
}

/* What stands between the host and the machine's architecture, of which the oldest versions say nothing. */
static struct sv cut_date(struct sv rest)
{
	size_t at;

	rest = sv_trim(rest);
	if (sv_find_char(rest, '\t', &at) || sv_find(rest, SV(" _"), &at))
		rest = sv_sub(rest, 0, at);
	return sv_trim(rest);
}

bool sar_banner_read(struct sv text, struct sar_banner *b)
{
	struct sv rest = text;
	size_t open, shut;

	if (!sv_eq(counter_word(&rest), SV("Linux")) || !sv_find(text, SV(" ("), &open) ||
	    !sv_find(text, SV(") "), &shut) || shut < open + 2)
		return false;
	struct sv host = sv_sub(text, open + 2, shut - open - 2);
	b->host_bytes = host.n < sizeof b->host ? host.n : sizeof b->host;
	for (size_t i = 0; i < b->host_bytes; i++)
		b->host[i] = host.p[i];
	struct sv date = cut_date(sv_sub(text, shut + 2, text.n));
	b->separator = '\0';
	b->has_date = read_separated(date, b) || read_counted(date, b) || read_named(date, b);
	/* A kernel's log may begin with its version, too: it goes on otherwise. */
	return b->has_date || sv_find(text, SV(" CPU)"), &open);
}

int64_t sar_banner_day(const struct sar_banner *b, size_t year, size_t month, size_t day)
{
	struct civil c = { .year = (int)b->numbers[year],
			   .month = (int)b->numbers[month],
			   .day = (int)b->numbers[day] };
	int64_t s;

	if (b->digits[year] <= 2)
		c.year += 2000;
	/* Thailand counts from 543 BC. */
	if (c.year >= 2400)
		c.year -= 543;
	return civil_seconds(&c, &s) ? s / DAY_S : INT64_MIN;
}

/* ---- times ---- */

/* Halves of the day: before or behind the time. */
static const struct {
	struct sv word;
	bool is_second;
} halves[] = {
	{ { "AM", 2 }, false },
	{ { "PM", 2 }, true },
	{ { "am", 2 }, false },
	{ { "pm", 2 }, true },
	{ { "a.m.", 4 }, false },
	{ { "p.m.", 4 }, true },
	{ { "πμ", 4 }, false },
	{ { "μμ", 4 }, true },
	{ { "ص", 2 }, false },
	{ { "م", 2 }, true },
	{ { "上午", 6 }, false },
	{ { "下午", 6 }, true },
	{ { "午前", 6 }, false },
	{ { "午後", 6 }, true },
	{ { "오전", 6 }, false },
	{ { "오후", 6 }, true },
	{ { "पूर्वाह्न", 27 }, false },
	{ { "अपराह्न", 21 }, true },
	{ { "म.पू.", 11 }, false },
	{ { "म.नं.", 11 }, true },
	{ { "পূর্বাহ্ণ", 27 }, false },
	{ { "অপরাহ্ণ", 21 }, true },
};

static bool read_half(struct sv word, bool *is_second)
{
	for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++)
		if (sv_eq(halves[i].word, word)) {
			*is_second = halves[i].is_second;
			return true;
		}
	return false;
}

/* "11:28:46", "11.28.46", "11时28分46秒", "11시 28분 46초" */
static bool read_clock(struct sv text, struct sv *rest, int64_t fields[3])
{
	static const struct sv units[][3] = {
		{ { ":", 1 }, { ":", 1 }, { "", 0 } },	     { { ".", 1 }, { ".", 1 }, { "", 0 } },
		{ { "时", 3 }, { "分", 3 }, { "秒", 3 } },    { { "時", 3 }, { "分", 3 }, { "秒", 3 } },
		{ { "點", 3 }, { "分", 3 }, { "秒", 3 } },    { { "点", 3 }, { "分", 3 }, { "秒", 3 } },
		{ { "시 ", 4 }, { "분 ", 4 }, { "초", 3 } },
	};

	for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
		struct cursor c = { text, 0 };
		size_t i = 0, digits;

		while (i < 3 && read_number(&c, 2, &fields[i], &digits) && (i == 0 || digits == 2) &&
		       skip_text(&c, units[k][i]))
			i++;
		*rest = cursor_rest(&c);
		if (i == 3 && (rest->n == 0 || rest->p[0] == ' ' || rest->p[0] == '\t'))
			return fields[0] <= 23 && fields[1] <= 59 && fields[2] <= 60;
	}
	return false;
}

/* "UTC", "IST", "+0530": may stand behind a time of 12 hours. So may the name of a column. */
static bool is_zone(struct sv word)
{
	static const struct sv objects[] = { { "CPU", 3 }, { "IFACE", 5 }, { "DEV", 3 }, { "TTY", 3 }, { "INTR", 4 },
					     { "BUS", 3 }, { "FAN", 3 },   { "TEMP", 4 } };
	size_t letters = 0;

	for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
		if (sv_eq(objects[i], word))
			return false;
	if (word.n == 5 && (word.p[0] == '+' || word.p[0] == '-'))
		return cursor_is_digit(word.p[1]) && cursor_is_digit(word.p[4]);
	while (letters < word.n && word.p[letters] >= 'A' && word.p[letters] <= 'Z')
		letters++;
	return letters == word.n && word.n >= 3 && word.n <= 5;
}

bool sar_time_read(struct sv text, struct sar_time *t)
{
	int64_t fields[3];
	bool is_second = false;
	struct sv rest = text, before = counter_word(&rest);

	*t = (struct sar_time){ .has_half = read_half(before, &is_second) };
	if (t->has_half || is_zone(before))
		text = sv_trim(rest);
	if (!read_clock(text, &t->rest, fields))
		return false;
	rest = t->rest;
	if (!t->has_half && read_half(counter_word(&rest), &is_second)) {
		t->has_half = true;
		t->rest = rest;
	}
	rest = t->rest;
	struct sv zone = counter_word(&rest);
	t->behind_zone = t->rest;
	if (is_zone(zone)) {
		t->may_have_zone = true;
		t->behind_zone = rest;
	}
	if (t->has_half && (fields[0] < 1 || fields[0] > 12))
		return false;
	if (t->has_half)
		fields[0] = fields[0] % 12 + (is_second ? 12 : 0);
	t->second = fields[0] * 3600 + fields[1] * 60 + fields[2];
	return true;
}

bool sar_is_average(struct sv text)
{
	const struct sv first = counter_word(&text);

	return sv_ends_with(first, SV(":")) || sv_starts_with(sv_trim(text), SV(":"));
}
