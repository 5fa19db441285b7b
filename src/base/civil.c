/* SPDX-License-Identifier: MIT */
/* The calendar. See base/civil.h. */

#include "base/civil.h"

/*
 * Years are counted from March, so that the leap day is the last of its year;
 * 719468 days lie between 0000-03-01 and 1970-01-01, 146097 are 400 years.
 */
int64_t civil_days(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
	return era * 146097 + day_of_era - 719468;
}

void civil_from_days(int64_t days, struct civil *out)
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

int civil_month_days(int year, int month)
{
	static const int days[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

int civil_weekday(int64_t days)
{
	/* 1970-01-01 was a Thursday. */
	return (int)((days % 7 + 7 + 4) % 7);
}

bool civil_seconds(const struct civil *c, int64_t *out)
{
	if (c->year < 1 || c->month < 1 || c->month > 12 || c->day < 1 || c->day > civil_month_days(c->year, c->month) ||
	    c->hour < 0 || c->hour > 23 || c->minute < 0 || c->minute > 59 || c->second < 0 || c->second > 60)
		return false;
	int second = c->second == 60 ? 59 : c->second;
	*out = civil_days(c->year, c->month, c->day) * DAY_S + c->hour * 3600 + c->minute * 60 + second;
	return true;
}

void civil_from_seconds(int64_t s, struct civil *out)
{
	int64_t days = s / DAY_S, rest = s % DAY_S;
	if (rest < 0) {
		rest += DAY_S;
		days--;
	}
	civil_from_days(days, out);
	out->hour = (int)(rest / 3600);
	out->minute = (int)(rest / 60 % 60);
	out->second = (int)(rest % 60);
	out->fraction_us = 0;
}
