/* SPDX-License-Identifier: MIT */
/*
 * Lines with the time, as loops write them, and times before rows: what date
 * prints in any locale, behind a label, between ornaments, in front of what
 * uptime prints, at the end of the heading of watch (input-formats.md 1.14).
 */

#include "input/counters/loop.h"

#include <string.h>

#include "base/civil.h"

#define PREFIX_WORDS_MAX 7
/* A century: no machine is up for longer. */
#define UPTIME_US_MAX (36525 * DAY_S * US_PER_S)

/* "DATE: 2026-11-30 ..." or "time=1796045689": what stands after the label. */
static struct sv without_label(struct sv text)
{
	size_t n = 0;

	while (n < text.n && ((text.p[n] >= 'a' && text.p[n] <= 'z') || (text.p[n] >= 'A' && text.p[n] <= 'Z')))
		n++;
	if (n == 0 || n >= text.n || (text.p[n] != ':' && text.p[n] != '='))
		return text;
	return sv_trim(sv_sub(text, n + 1, text.n));
}

static const char ornaments[] = "#=-*<> ";

/* "### 2026-11-30 ... ###" and "==> /proc/net/dev <==": what stands between the ornaments. */
struct sv loop_without_ornaments(struct sv text)
{
	while (text.n > 0 && memchr(ornaments, text.p[0], sizeof ornaments - 1) != NULL)
		text = sv_sub(text, 1, text.n);
	while (text.n > 0 && memchr(ornaments, text.p[text.n - 1], sizeof ornaments - 1) != NULL)
		text = sv_sub(text, 0, text.n - 1);
	return text;
}

/* " 11:51:57 up 3 days, ...", as uptime prints it: its time of day. */
static struct sv before_uptime(struct sv text)
{
	size_t at;

	return sv_find(text, SV(" up "), &at) && at <= 8 ? sv_trim(sv_sub(text, 0, at)) : SV_ABSENT;
}

/* "Every 1.0s: cat FILE   host: Mon Nov 30 10:00:00 2026", as watch heads its screens: what stands at its end. */
static struct sv behind_watch(struct sv text)
{
	size_t at;

	if (!sv_starts_with(text, SV("Every ")))
		return SV_ABSENT;
	while (sv_find(text, SV("  "), &at))
		text = sv_trim(sv_sub(text, at, text.n));
	return sv_find(text, SV(": "), &at) ? sv_trim(sv_sub(text, at + 2, text.n)) : text;
}

static bool is_time(struct sv text, struct tstamp *t)
{
	return !sv_is_absent(text) && tstamp_guess_parts(text, t) && t->lacks != TSTAMP_LACKS_START;
}

bool loop_is_clock(struct sv text, struct tstamp *t)
{
	text = loop_without_ornaments(text);
	return is_time(text, t) || is_time(without_label(text), t) || is_time(before_uptime(text), t) ||
	       is_time(behind_watch(text), t);
}

/* A number with two decimals, in microseconds. */
static bool read_hundredths(struct sv word, int64_t *us)
{
	size_t at;

	return sv_find_char(word, '.', &at) && at > 0 && word.n == at + 3 && word.p[0] != '-' &&
	       counter_decimal(word, 6, us);
}

bool loop_is_uptime(struct sv text, int64_t *us)
{
	int64_t idle_us;
	struct sv up = counter_word(&text), idle = counter_word(&text);

	return sv_trim(text).n == 0 && read_hundredths(up, us) && *us <= UPTIME_US_MAX &&
	       read_hundredths(idle, &idle_us);
}

/* "Nov 30 11:51:57", "2026-11-30T11:51:57:", "11:51:57 |" */
static bool is_prefix(struct sv text, struct tstamp *t)
{
	static const char ends[] = ":|,]";

	if (is_time(text, t))
		return true;
	return text.n > 1 && memchr(ends, text.p[text.n - 1], sizeof ends - 1) != NULL &&
	       is_time(sv_sub(text, 0, text.n - 1), t);
}

/* The row behind the longest time that stands in front of it; false when none does. */
bool loop_split_prefix(const struct line *line, struct tstamp *t, struct line *row)
{
	struct sv rest = line->text;
	struct tstamp trial;
	bool found = false;

	*row = *line;
	for (size_t n = 0; n < PREFIX_WORDS_MAX; n++) {
		struct sv word = counter_word(&rest);

		if (sv_is_absent(word) || rest.n == 0)
			break;
		if (!is_prefix((struct sv){ line->text.p, (size_t)(rest.p - line->text.p) }, &trial))
			continue;
		found = true;
		*t = trial;
		row->text = sv_trim(rest);
	}
	return found;
}
