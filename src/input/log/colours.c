/* SPDX-License-Identifier: MIT */
/* See input/log/colours.h. */

#include "input/log/colours.h"

#include <string.h>

#include "input/log/marks.h"

/* Where the sequence ends that begins there; NULL when its line does. */
static inline const char *sequence_end(const char *p, const char *line_end)
{
	if (++p == line_end)
		return NULL;
	if (*p != '[')
		return p;
	while (++p < line_end)
		if (*p >= '@' && *p <= '~')
			return p + 1;
	return NULL;
}

bool colours_in(struct sv line)
{
	const char *end = line.p + line.n;
	size_t at = 0, step;

	for (; sv_find_char(sv_sub(line, at, line.n), COLOURS_ESCAPE, &step); at += step + 1)
		if (sequence_end(line.p + at + step, end) != NULL)
			return true;
	return false;
}

size_t colours_strip(struct sv line, char *to)
{
	const char *p = line.p, *end = line.p + line.n;
	char *out = to;

	while (p < end) {
		const char *escape = memchr(p, COLOURS_ESCAPE, (size_t)(end - p)), *behind;
		const size_t n = (size_t)((escape != NULL ? escape : end) - p);

		memmove(out, p, n);
		out += n;
		p += n;
		if (escape == NULL)
			break;
		behind = sequence_end(p, end);
		if (behind == NULL)
			*out++ = *p++;
		else
			p = behind;
	}
	return (size_t)(out - to);
}

/* Of the line in which the byte stands, without CR and LF. */
static const char *line_end_of(const char *p, const char *end)
{
	const char *feed = memchr(p, '\n', (size_t)(end - p));

	if (feed == NULL)
		return end;
	return feed > p && feed[-1] == '\r' ? feed - 1 : feed;
}

/* Between two sequences are few bytes: so many are copied at once, and those count that stand before the next. */
size_t colours_strip_lines(struct sv lines, char *to)
{
	const char *p = lines.p, *end = lines.p + lines.n, *line_end = lines.p;
	char *out = to;

	while (p < end) {
		const uint64_t escapes = marks_of(p, COLOURS_ESCAPE);
		const size_t before = escapes != 0 ? (size_t)__builtin_ctzll(escapes) : COLOURS_SLACK, left = (size_t)(end - p);
		const char *behind;

		memcpy(out, p, COLOURS_SLACK);
		out += before < left ? before : left;
		p += before < left ? before : left;
		if (escapes == 0 || before >= left)
			continue;
		if (p >= line_end)
			line_end = line_end_of(p, end);
		behind = sequence_end(p, line_end);
		if (behind == NULL)
			*out++ = *p++;
		else
			p = behind;
	}
	return (size_t)(out - to);
}
