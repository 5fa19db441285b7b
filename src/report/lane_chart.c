/* SPDX-License-Identifier: MIT */
/* The timeline in characters. See report/lane_chart.h. */

#include "report/lane_chart.h"

#include <string.h>

#include "base/tstamp.h"

#define NAME_WIDTH 14
#define WIDTH_MAX 200

int64_t lane_chart_step_us(int64_t length_us, int most)
{
	static const int64_t steps_s[] = { 1,	2,    5,    10,	   15,	  30,	 60,	120,   300,   600,    900,
					   1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000 };
	for (size_t i = 0; i < sizeof steps_s / sizeof steps_s[0]; i++)
		if (length_us / (steps_s[i] * US_PER_S) < most)
			return steps_s[i] * US_PER_S;
	return length_us / most + 1;
}

void lane_chart_clock(struct buf *b, int64_t us)
{
	struct buf whole;
	buf_init(&whole);
	tstamp_format(&whole, us);
	buf_add(b, sv_sub(buf_sv(&whole), 11, 8));
	buf_fini(&whole);
}

struct scale {
	int64_t start_us, length_us;
	size_t width;
};

static size_t column_of(const struct scale *s, int64_t us)
{
	int64_t at = us - s->start_us;
	if (at < 0)
		at = 0;
	if (at >= s->length_us)
		at = s->length_us - 1;
	return (size_t)((double)at / (double)s->length_us * (double)s->width);
}

static void draw_lane(char *row, const struct scale *s, const struct lane *lane)
{
	memset(row, '.', s->width);
	for (size_t i = 0; i < lane->span_count; i++) {
		size_t from = column_of(s, lane->spans[i].start_us), to = column_of(s, lane->spans[i].end_us);
		memset(row + from, lane->spans[i].mark, to - from + 1);
	}
	for (size_t i = 0; i < lane->point_count; i++)
		row[column_of(s, lane->points[i].at_us)] = lane->points[i].mark;
}

void lane_chart(struct buf *b, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n, size_t width)
{
	char row[WIDTH_MAX];
	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	const struct scale s = { start_us, end_us - start_us, width };
	for (size_t i = 0; i < n; i++) {
		draw_lane(row, &s, &lanes[i]);
		buf_printf(b, "  %-*.*s ", NAME_WIDTH, (int)(lanes[i].name.n > NAME_WIDTH ? NAME_WIDTH : lanes[i].name.n),
			   lanes[i].name.p != NULL ? lanes[i].name.p : "");
		buf_add(b, (struct sv){ row, width });
		buf_add_char(b, '\n');
	}
	/* Clock times below their columns, as many as fit. */
	int64_t step = lane_chart_step_us(s.length_us, width < 24 ? 1 : (int)(width / 12));
	memset(row, ' ', width);
	for (int64_t at = (start_us / step + 1) * step; at < end_us; at += step) {
		size_t column = column_of(&s, at);
		if (column + 9 > width)
			break;
		struct buf clock;
		buf_init(&clock);
		lane_chart_clock(&clock, at);
		row[column] = '|';
		memcpy(row + column + 1, clock.p, 8);
		buf_fini(&clock);
	}
	while (width > 0 && row[width - 1] == ' ')
		width--;
	buf_printf(b, "  %*s ", NAME_WIDTH, "");
	buf_add(b, (struct sv){ row, width });
	buf_add_char(b, '\n');
}
