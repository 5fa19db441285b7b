/* SPDX-License-Identifier: MIT */
/*
 * Which of the numbers in sar's banner is the month (input-formats.md 1.7). The
 * date is in the order of a locale that is nowhere named. Its form tells most, and
 * what stands beside it; the file's time of change tells the rest.
 */

#include "input/counters/sar.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/civil.h"

/* A print that was made of a day is written on that day or soon after. */
#define FRESH_DAYS 2

/* A date may be read in so many ways. */
#define READINGS_MAX 3

/* Days since 1970, the likeliest first. */
struct date_readings {
	int64_t days[READINGS_MAX];
	size_t count;
	bool is_likely; /* the form of the date and what stands beside it speak for the first */
};

/* Numbers that are no day, or give one that is there already, are no reading. */
static void add_reading(struct date_readings *r, const struct sar_banner *b, size_t year, size_t month, size_t day)
{
	const int64_t days = sar_banner_day(b, year, month, day);
	bool is_new = days != INT64_MIN;

	for (size_t i = 0; i < r->count; i++)
		is_new = is_new && r->days[i] != days;
	if (is_new)
		r->days[r->count++] = days;
}

/* Year first is ISO, but Chechen has the day behind it, between dots. */
static void read_year_first(struct date_readings *r, const struct sar_banner *b)
{
	r->is_likely = true;
	add_reading(r, b, 0, 1, 2);
	if (b->separator == '.')
		add_reading(r, b, 0, 2, 1);
}

/*
 * Between slashes AM and PM with nothing behind them and a whole year are American; a
 * zone behind them is Indian, but for Kashmiri; a decimal comma, or a whole year without
 * AM and PM, is anything but American, but for Georgian and Bemba; two digits of the year are
 * the C locale's, or others'; and the first of three numbers of two digits is the
 * year in Nepal.
 */
static void read_slashes(struct date_readings *r, const struct sar_banner *b, const struct sar_signs *signs)
{
	const bool is_whole = b->digits[2] == 4;
	const bool american = signs->has_half && !signs->has_zone && !signs->has_comma && is_whole;
	const bool day_first = signs->has_comma || (signs->has_half ? signs->has_zone : is_whole);

	if (day_first)
		add_reading(r, b, 2, 1, 0);
	add_reading(r, b, 2, 0, 1);
	if (!american || r->count == 0)
		add_reading(r, b, 2, 1, 0);
	r->is_likely = american || day_first || r->count == 1;
	if (!signs->has_half && !signs->has_comma && !is_whole)
		add_reading(r, b, 0, 1, 2);
}

static struct date_readings read_date(const struct sar_banner *b, const struct sar_signs *signs)
{
	struct date_readings r = { .is_likely = true };

	if (b->digits[0] == 4)
		read_year_first(&r, b);
	else if (b->digits[2] == 1)
		add_reading(&r, b, 0, 1, 2);
	else if (b->separator == '.')
		add_reading(&r, b, 2, 1, 0);
	else
		read_slashes(&r, b, signs);
	return r;
}

static int64_t distance(int64_t day, int64_t near)
{
	return llabs(near - day);
}

static void add_day(struct buf *b, int64_t day)
{
	struct buf time;

	buf_init(&time);
	tstamp_format(&time, day * DAY_S * US_PER_S);
	buf_add(b, sv_sub(buf_sv(&time), 0, 10));
	buf_fini(&time);
}

static void tell(struct ingest *in, const struct place *place, enum severity severity, int64_t taken, int64_t other)
{
	struct buf days;

	buf_init(&days);
	add_day(&days, taken);
	buf_printf(&days, " and may be ");
	add_day(&days, other);
	diag_add(in->diag, severity, "counters.date_order", place,
		 "nothing tells whether the date of sar has the month or the day first: it is taken for %.*s "
		 "(S_TIME_FORMAT=ISO sar ... prints one that is plain)",
		 SV_ARG(buf_sv(&days)));
	buf_fini(&days);
}

/* The first of those that lie nearest to a day. */
static size_t nearest(const struct date_readings *r, int64_t near)
{
	size_t best = 0;

	for (size_t i = 1; i < r->count; i++)
		if (distance(r->days[i], near) < distance(r->days[best], near))
			best = i;
	return best;
}

int64_t sar_day(const struct sar_banner *b, const struct sar_signs *signs, struct ingest *in, const struct place *place)
{
	const struct date_readings r = read_date(b, signs);
	const int64_t near = (in->has_near ? in->near.us : in->modified.us) / (DAY_S * US_PER_S);

	if (r.count <= 1)
		return r.count == 0 ? INT64_MIN : r.days[0];
	if (!in->has_near && !in->has_modified) {
		tell(in, place, r.is_likely ? SEVERITY_NOTE : SEVERITY_WARNING, r.days[0], r.days[1]);
		return r.days[0];
	}
	const size_t best = nearest(&r, near);
	const bool is_fresh = distance(r.days[best], near) <= FRESH_DAYS;
	const size_t taken = is_fresh || !r.is_likely ? best : 0;

	/* Where form and time speak for the same one, or the time alone does and plainly, there is nothing to say. */
	if (r.is_likely ? best != 0 : !is_fresh)
		tell(in, place, taken != best ? SEVERITY_WARNING : SEVERITY_NOTE, r.days[taken],
		     r.days[taken != best ? best : taken == 0]);
	return r.days[taken];
}
