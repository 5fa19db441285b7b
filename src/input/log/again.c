/* SPDX-License-Identifier: MIT */
/* See input/log/again.h. */

#include "input/log/again.h"

#include <string.h>

#include "base/cursor.h"

/* Of a second's fraction so many digits count; what is finer is cut (base/cursor.h). */
#define FRACTION_DIGITS 6

bool again_init(struct again *g, struct sv layout)
{
	*g = (struct again){ .bytes = 0 };
	if (layout.n > AGAIN_LAYOUT_MAX)
		return false;
	if (layout.n > 0)
		memcpy(g->layout, layout.p, layout.n);
	return true;
}

/* A fraction is what stands behind the last dot or comma of a time of day. Of a number it may be one of milliseconds. */
static void find_fraction(struct again *g)
{
	const struct sv text = { g->text, g->bytes };
	size_t colon, dot = text.n, end;

	g->fraction_at = text.n;
	g->fraction_bytes = 0;
	if (!sv_find_char(text, ':', &colon))
		return;
	for (size_t i = colon; i < text.n; i++)
		if (text.p[i] == '.' || text.p[i] == ',')
			dot = i;
	for (end = dot + 1; end < text.n && cursor_is_digit(text.p[end]); end++)
		;
	if (dot == text.n || end == dot + 1)
		return;
	g->fraction_at = dot + 1;
	g->fraction_bytes = end - dot - 1;
}

static bool digits_us(const char *p, size_t n, int64_t *us)
{
	int64_t value = 0, unit = US_PER_S;

	for (size_t i = 0; i < n; i++) {
		if (!cursor_is_digit(p[i]))
			return false;
		if (i >= FRACTION_DIGITS)
			continue;
		unit /= 10;
		value += unit * (p[i] - '0');
	}
	*us = value;
	return true;
}

static bool read_whole(struct again *g, struct sv text, int64_t *us)
{
	struct host_time instants[2];
	enum zone_local local;
	size_t used = text.n;
	int64_t fraction_us;

	g->bytes = 0;
	if (text.n == 0 || text.n > sizeof g->text)
		return false;
	if (g->layout[0] == '\0' ? !tstamp_guess_parts(text, &g->parts)
				 : !tstamp_read(text, sv_of(g->layout), &g->parts, &used) || used != text.n)
		return false;
	*us = 0;
	if (g->parts.lacks == TSTAMP_LACKS_NOTHING) {
		if (!tstamp_resolve(&g->parts, (struct zone){ 0 }, instants, &local))
			return false;
		*us = instants[0].us;
	}
	memcpy(g->text, text.p, text.n);
	g->bytes = text.n;
	find_fraction(g);
	if (!digits_us(g->text + g->fraction_at, g->fraction_bytes, &fraction_us))
		return false;
	g->second_us = *us - fraction_us;
	return true;
}

static bool is_same_second(const struct again *g, struct sv text)
{
	const size_t behind = g->fraction_at + g->fraction_bytes;

	return g->bytes > 0 && text.n == g->bytes && memcmp(text.p, g->text, g->fraction_at) == 0 &&
	       memcmp(text.p + behind, g->text + behind, g->bytes - behind) == 0;
}

bool again_read(struct again *g, struct sv text, int64_t *us)
{
	int64_t fraction_us;

	if (!is_same_second(g, text) || !digits_us(text.p + g->fraction_at, g->fraction_bytes, &fraction_us))
		return read_whole(g, text, us);
	*us = g->second_us + fraction_us;
	return true;
}
