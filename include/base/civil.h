/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_CIVIL_H
#define AFTERSHOCK_BASE_CIVIL_H

/* Dates and clock times as people write them, in the proleptic Gregorian calendar. */

#include <stdbool.h>
#include <stdint.h>

struct civil {
	int year, month, day, hour, minute, second;
	int64_t fraction_us;
};

#define DAY_S INT64_C(86400)

/* Days since 1970-01-01. */
int64_t civil_days(int year, int month, int day);
/* Sets year, month and day. */
void civil_from_days(int64_t days, struct civil *out);
int civil_month_days(int year, int month);
/* From 0, Sunday. */
int civil_weekday(int64_t days);
/*
 * Seconds since 1970-01-01 00:00 on the same clock. False when there is no such
 * date or time of day; second 60 counts as 59: a leap second has no number of
 * its own.
 */
bool civil_seconds(const struct civil *c, int64_t *out);
/* The other way. */
void civil_from_seconds(int64_t s, struct civil *out);

#endif
