/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_CURSOR_H
#define AFTERSHOCK_BASE_CURSOR_H

/* Small readers that walk over the text of a time. They stand in the path of every log line. */

#include "base/sv.h"

struct cursor {
	struct sv text;
	size_t at;
};

static inline char cursor_peek(const struct cursor *c)
{
	return c->at < c->text.n ? c->text.p[c->at] : '\0';
}

static inline bool cursor_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Passes over ch if it stands there. */
static inline bool cursor_skip(struct cursor *c, char ch)
{
	if (c->at >= c->text.n || c->text.p[c->at] != ch)
		return false;
	c->at++;
	return true;
}

static inline struct sv cursor_rest(const struct cursor *c)
{
	return sv_sub(c->text, c->at, c->text.n);
}

/* Exactly n digits, at most nine. */
bool cursor_digits(struct cursor *c, int n, int *out);
/* One or two digits. */
bool cursor_short(struct cursor *c, int *out);
/* One or more digits as a fraction of a second; what is finer than a microsecond is cut. */
bool cursor_fraction(struct cursor *c, int64_t *us);
/* Z, +08:00, +0800, +08. */
bool cursor_offset(struct cursor *c, int32_t *offset_s);
/* Jan..Dec */
bool cursor_month(struct cursor *c, int *month);

#endif
