/* SPDX-License-Identifier: MIT */
/*
 * Of how many hours sar's clock is where no word for the half of the day stands
 * beside the times. It is empty in Armenian and Malay (hy_AM, ms_MY of glibc), and
 * then half past one and half past thirteen look alike. An hour of 0 or past 12
 * is of a clock of 24; a time that falls from 12:50 to 1:00 is of one of 12.
 */

#include "input/counters/sar.h"

/* Of 24 hours is what so much text without a sign is taken for. */
#define HELD_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define HOUR_S 3600
#define HALF_DAY_S (12 * HOUR_S)
/* Samples lie no further apart. */
#define INTERVAL_MAX_S (2 * HOUR_S)

void sar_hours_init(struct sar_hours *h)
{
	*h = (struct sar_hours){ .arena = arena_new(), .is_settled = true };
}

void sar_hours_fini(struct sar_hours *h)
{
	arena_free(h->arena);
}

void sar_hours_forget(struct sar_hours *h)
{
	if (h->count == 0)
		return;
	arena_reset(h->arena);
	h->lines = NULL;
	h->count = h->capacity = h->bytes = 0;
}

void sar_hours_begin(struct sar_hours *h, const struct sar_banner *b)
{
	/* S_TIME_FORMAT=ISO gives 24 hours in all locales. */
	h->is_settled = b->separator == '-' && b->digits[0] == 4;
	h->is_untold = false;
	h->has_last = false;
}

static bool falls_by_half_a_day(const struct sar_hours *h, int64_t second)
{
	return h->has_last && second < h->last && second + HALF_DAY_S - h->last <= INTERVAL_MAX_S &&
	       second + HALF_DAY_S > h->last;
}

static void look(struct sar_hours *h, const struct sar_time *t)
{
	h->is_untold = !t->has_half && falls_by_half_a_day(h, t->second);
	h->is_settled = h->is_untold || t->has_half || t->second < HOUR_S || t->second >= HALF_DAY_S + HOUR_S;
	h->has_last = true;
	h->last = t->second;
}

bool sar_hours_hold(struct sar_hours *h, const struct line *line)
{
	struct sv text = sv_trim(line->text);
	struct sar_time t;

	if (h->is_settled)
		return false;
	/* A table after averages begins with the day again. */
	if (sar_is_average(text))
		h->has_last = false;
	else if (sar_time_read(text, &t))
		look(h, &t);
	h->is_settled = h->is_settled || h->bytes > HELD_BYTES_MAX;
	if (h->is_settled)
		return false;
	struct line *kept = ARENA_PUSH(h->arena, h->lines, h->count, h->capacity);
	*kept = *line;
	kept->text = arena_copy(h->arena, line->text);
	h->bytes += line->text.n + sizeof *kept;
	return true;
}

void sar_hours_note(const struct sar_hours *h, const struct sar_banner *b, const struct ingest *in,
		    struct host_time end)
{
	/* The locales that have no word for it write 12/05/26; a date in words is none that is known. */
	if (h->is_settled || b->separator != '/' || b->digits[2] != 2 || end.us == INT64_MIN)
		return;
	const int64_t later_s = (in->modified.us - end.us) / US_PER_S;
	const bool fits_12 = in->has_modified && later_s >= HALF_DAY_S - 60 && later_s < HALF_DAY_S + HOUR_S;
	const bool fits_24 = in->has_modified && later_s >= -60 && later_s < HOUR_S;

	if (!fits_24)
		diag_add(in->diag, fits_12 ? SEVERITY_WARNING : SEVERITY_NOTE, "counters.half_day", NULL,
			 "no time of sar is past 12:59, and none has a word for the half of the day: they are taken as of 24 hours "
			 "(LC_ALL=C sar ... prints 24 hours)");
}
