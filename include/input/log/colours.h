/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_COLOURS_H
#define AFTERSHOCK_INPUT_LOG_COLOURS_H

/*
 * Escape sequences, as terminals are told colours (ECMA-48 5.4): ESC [
 * parameters, and a byte from @ to ~; of others the ESC alone. One that breaks
 * off where its line ends is left: a piece of a line may end in it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

#define COLOURS_ESCAPE '\x1b'

/* Whether there is one. Of several lines, too: then in one of them, or perhaps it only looks so. */
bool colours_in(struct sv line);
/* A line without them, in as many bytes or fewer; "to" may be where it stands. How many bytes are left. */
size_t colours_strip(struct sv line, char *to);
/*
 * The same of each line in some bytes. What ends a line stays, so that there are as
 * many. So many bytes behind the lines must be readable, and behind "to" there must
 * be room for as many more.
 */
#define COLOURS_SLACK 64
size_t colours_strip_lines(struct sv lines, char *to);

#endif
