/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_SAR_H
#define AFTERSHOCK_INPUT_SAR_H

/*
 * What the prints of sar and of sadf share: rates over an interval, by the
 * names of sysstat's columns.
 */

#include "input/counters/counters.h"

/* One row: figures of one interface, CPU or host over one interval. */
struct sar_row {
	struct sv host;	  /* as written; absent: not told */
	struct sv device; /* interface, or CPU ("all", "0", "cpu0"); absent: neither */
	struct host_time start, end;
	struct place place;
};

struct sar {
	struct counters *of;
	struct ingest *in;
	bool has_all; /* a row over all CPUs was met: those of single CPUs are parts of it */
};

/* name: of the column, with "/s" or without. 0, -1 when the sink failed. */
int sar_value(struct sar *s, const struct sar_row *row, struct sv name, struct sv value);

/* Whether the column holds the device that the row's others are of. */
bool sar_is_device(struct sv name);

/*
 * Whether nothing can be missing of a line that begins so and in which the input ends: figures of sysstat have two
 * decimals at most (sar --dec gives fewer), and what tells of restarts ends with a bracket.
 */
bool sar_ends_whole(struct sv text);

/* ---- counters_sar_time.c ---- */

/* "Linux 6.18.0 (node-a) <TAB>11/30/26 <TAB>_x86_64_<TAB>(2 CPU)": three numbers, whose order its form tells, or other rows. */
struct sar_banner {
	bool has_date; /* in a form that is known */
	int64_t numbers[3];
	size_t digits[3];
	char separator;
	char host[64];
	size_t host_bytes;
};

bool sar_banner_read(struct sv text, struct sar_banner *b);
/* Of the numbers at these places, in days since 1970; INT64_MIN when there is no such day. */
int64_t sar_banner_day(const struct sar_banner *b, size_t year, size_t month, size_t day);

/* The time of day before a row or the heading of a table. */
struct sar_time {
	int64_t second;
	bool has_half;	    /* of 12 hours, with the half of the day as a word */
	bool may_have_zone; /* what stands behind it looks like one */
	struct sv rest, behind_zone;
};

bool sar_time_read(struct sv text, struct sar_time *t);

/* Whether text is the "Average:" below a table, in the language of the locale. */
bool sar_is_average(struct sv text);

/* ---- counters_sar_day.c ---- */

/* What stands beside the banner's date and tells of its locale. */
struct sar_signs {
	bool has_half;	/* of the day, behind the times */
	bool has_zone;
	bool has_comma; /* in the figures */
};

/*
 * The banner's day, since 1970, where its form or what is known of the time
 * settles which of its numbers is the month; else the likeliest, and says so.
 * INT64_MIN when it is none.
 */
int64_t sar_day(const struct sar_banner *b, const struct sar_signs *signs, struct ingest *in, const struct place *place);

/* ---- counters_sar_hours.c ---- */

/*
 * Times without a word for the half of the day are of 24 hours, but for locales
 * whose word is empty (hy_AM, ms_MY). Lines are held back until a time tells.
 */
struct sar_hours {
	struct arena *arena;
	struct line *lines; /* held back; their texts are the arena's */
	size_t count, capacity, bytes;
	bool is_settled;
	bool is_untold; /* of 12 hours, and of which half is not told */
	bool has_last;
	int64_t last; /* the time of day of the last line that had one, in this table */
};

void sar_hours_init(struct sar_hours *h);
void sar_hours_fini(struct sar_hours *h);
/* A banner begins the next print. Nothing is held back. */
void sar_hours_begin(struct sar_hours *h, const struct sar_banner *b);
/* Whether the line was kept, since it may be of either. */
bool sar_hours_hold(struct sar_hours *h, const struct line *line);
/* Those that were held back have been read. */
void sar_hours_forget(struct sar_hours *h);
/*
 * Says so where the rows of a print, of which the latest that was read ends at "end", were taken as of 24 hours
 * and may be of 12. INT64_MIN: none was read.
 */
void sar_hours_note(const struct sar_hours *h, const struct sar_banner *b, const struct ingest *in, struct host_time end);

/* ---- counters_sadf.c ---- */

/* The row's interval ends at its time. False when it has none, as restarts have not, or its time is none. */
bool sadf_interval(struct ingest *in, struct sar_row *row, struct sv interval, struct sv end);

#endif
