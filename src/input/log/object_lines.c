/* SPDX-License-Identifier: MIT */
/* Pretty-printed objects, by their lines. See input/log/object_lines.h. */

#include "input/log/object_lines.h"

#include <string.h>

size_t object_lines_end(struct sv text, size_t *depth, bool *quoted)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (*quoted && c == '\\')
			i++;
		else if (c == '"')
			*quoted = !*quoted;
		else if (!*quoted && c == '{')
			++*depth;
		else if (!*quoted && c == '}' && *depth > 0 && --*depth == 0)
			return i + 1;
	}
	return text.n;
}

bool object_lines_scan(struct sv line, size_t *depth)
{
	bool quoted = false;

	while (line.n > 0)
		line = sv_sub(line, object_lines_end(line, depth, &quoted), line.n);
	return !quoted;
}

bool object_lines_open(struct sv line, size_t *depth)
{
	*depth = 0;
	if (line.n == 0 || line.p[0] != '{')
		return false;
	line = sv_trim(line);
	return strchr("{[,", line.p[line.n - 1]) != NULL && line.p[line.n - 1] != '\0' && object_lines_scan(line, depth) && *depth > 0;
}

bool object_lines_may_go_on(struct sv line)
{
	return line.n == 0 || (line.p[0] != '\0' && strchr(" \t}\"]", line.p[0]) != NULL);
}

void object_lines_join(char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] == '\n')
			bytes[i] = ' ';
}

bool object_lines_are_whole(struct sv text)
{
	size_t at, depth = 0;

	if (text.n == 0 || text.p[0] != '{' || !sv_find_char(text, '\n', &at))
		return false;
	text = sv_trim(text);
	return text.p[text.n - 1] == '}' && object_lines_scan(text, &depth) && depth == 0;
}
