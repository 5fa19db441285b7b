/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_ESCAPES_H
#define AFTERSHOCK_INPUT_LOG_ESCAPES_H

/* What stands between the quotes of a text of JSON, without a reader of JSON: most of it is what it says. */

#include "base/sv.h"

enum escapes {
	ESCAPES_NONE,	/* the text is what it says */
	ESCAPES_SOME,	/* a backslash is in it */
	ESCAPES_BROKEN,	/* a quote without one, or a control character: not the text that it seems */
};
enum escapes escapes_in(struct sv text);

/*
 * What a text with escapes says, as json.h reads it, into as many bytes. False
 * where that is not plain: characters beyond the basic plane, zeros, rubbish.
 */
bool escapes_read(struct sv text, char *to, size_t *n);
/* Whether that can be done. */
bool escapes_are_plain(struct sv text);

/* Where the text ends that begins here: at its closing quote, or at the end of these bytes. */
size_t escapes_end(struct sv text);

#endif
