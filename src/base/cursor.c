/* SPDX-License-Identifier: MIT */
/* Numbers, fractions and offsets in the text of a time. See base/cursor.h. */

#include "base/cursor.h"

#include "base/tstamp.h"

static const char month_names[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

bool cursor_digits(struct cursor *c, int n, int *out)
{
	int value = 0;
	for (int i = 0; i < n; i++) {
		if (!cursor_is_digit(cursor_peek(c)))
			return false;
		value = value * 10 + (cursor_peek(c) - '0');
		c->at++;
	}
	*out = value;
	return true;
}

bool cursor_short(struct cursor *c, int *out)
{
	if (!cursor_digits(c, 1, out))
		return false;
	if (cursor_is_digit(cursor_peek(c)))
		*out = *out * 10 + (c->text.p[c->at++] - '0');
	return true;
}

bool cursor_fraction(struct cursor *c, int64_t *us)
{
	int64_t value = 0, unit = US_PER_S;
	if (!cursor_is_digit(cursor_peek(c)))
		return false;
	while (cursor_is_digit(cursor_peek(c))) {
		if (unit > 1) {
			unit /= 10;
			value += unit * (cursor_peek(c) - '0');
		}
		c->at++;
	}
	*us = value;
	return true;
}

bool cursor_offset(struct cursor *c, int32_t *offset_s)
{
	int hours, minutes = 0;
	char sign = cursor_peek(c);
	if (sign == 'Z' || sign == 'z') {
		c->at++;
		*offset_s = 0;
		return true;
	}
	if (sign != '+' && sign != '-')
		return false;
	c->at++;
	if (!cursor_digits(c, 2, &hours))
		return false;
	bool colon = cursor_skip(c, ':');
	if ((colon || cursor_is_digit(cursor_peek(c))) && !cursor_digits(c, 2, &minutes))
		return false;
	if (hours > 18 || minutes > 59)
		return false;
	int offset = hours * 3600 + minutes * 60;
	*offset_s = sign == '-' ? -offset : offset;
	return true;
}

bool cursor_month(struct cursor *c, int *month)
{
	struct sv name = sv_sub(c->text, c->at, 3);
	if (name.n < 3)
		return false;
	for (int i = 0; i < 12; i++) {
		if (!sv_eq_nocase(name, (struct sv){ month_names[i], 3 }))
			continue;
		*month = i + 1;
		c->at += 3;
		return true;
	}
	return false;
}
