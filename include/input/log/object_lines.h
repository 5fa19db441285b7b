/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_OBJECT_LINES_H
#define AFTERSHOCK_INPUT_LOG_OBJECT_LINES_H

/*
 * Objects of JSON over several lines, as log4j's JsonLayout prints them by
 * default, among other lines: where one opens, goes on and ends. Only what a
 * printer writes is known, so that a record that was cut swallows no other.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

/*
 * Where the object ends of which *depth braces are open before the text: behind its last one, or the end of the text. *quoted,
 * before and behind, says whether one is inside a string.
 */
size_t object_lines_end(struct sv text, size_t *depth, bool *quoted);
/* Follows the braces of a line: *depth of them are open behind it. False when the line ends inside a text. */
bool object_lines_scan(struct sv line, size_t *depth);
/* "{", or "{ "a" : 1,": more must follow. */
bool object_lines_open(struct sv line, size_t *depth);
/* Whether a printer may have put it inside an object; a record of a log begins otherwise. */
bool object_lines_may_go_on(struct sv line);
/* A text of several lines that is one object. */
bool object_lines_are_whole(struct sv text);
/* Lines of an object as one. */
void object_lines_join(char *bytes, size_t n);

#endif
