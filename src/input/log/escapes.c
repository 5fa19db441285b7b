/* SPDX-License-Identifier: MIT */
/* See input/log/escapes.h. */

#include "input/log/escapes.h"

#include <string.h>

/* Looked at without a branch, so that a compiler makes vectors of it. */
enum escapes escapes_in(struct sv text)
{
	unsigned char broken = 0, escaped = 0;

	for (size_t i = 0; i < text.n; i++) {
		const unsigned char c = (unsigned char)text.p[i];

		broken |= (unsigned char)((c < 0x20) | (c == '"'));
		escaped |= (unsigned char)(c == '\\');
	}
	/* Behind a backslash a quote is none: this is for escapes_read to see. */
	if (escaped != 0)
		return ESCAPES_SOME;
	return broken != 0 ? ESCAPES_BROKEN : ESCAPES_NONE;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits behind "\u". False for zero, surrogates and rubbish. */
static bool read_unit(struct sv digits, unsigned *out)
{
	*out = 0;
	if (digits.n < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		const int digit = hex_digit(digits.p[i]);

		if (digit < 0)
			return false;
		*out = *out << 4 | (unsigned)digit;
	}
	return *out != 0 && (*out < 0xd800 || *out > 0xdfff);
}

static size_t put_utf8(unsigned unit, char *to)
{
	if (unit < 0x80) {
		to[0] = (char)unit;
		return 1;
	}
	if (unit < 0x800) {
		to[0] = (char)(0xc0 | unit >> 6);
		to[1] = (char)(0x80 | (unit & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | unit >> 12);
	to[1] = (char)(0x80 | (unit >> 6 & 0x3f));
	to[2] = (char)(0x80 | (unit & 0x3f));
	return 3;
}

/* What one letter behind a backslash stands for; 0 when it stands for nothing by itself. */
static char letter_of(char c)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = c != '\0' ? strchr(from, c) : NULL;

	return at != NULL ? to[at - from] : '\0';
}

bool escapes_read(struct sv text, char *to, size_t *n)
{
	size_t at = 0, put = 0;

	while (at < text.n) {
		const char *escape = memchr(text.p + at, '\\', text.n - at);
		const size_t plain = (escape != NULL ? (size_t)(escape - text.p) : text.n) - at;
		unsigned unit;

		if (escapes_in(sv_sub(text, at, plain)) != ESCAPES_NONE)
			return false;
		memcpy(to + put, text.p + at, plain);
		put += plain;
		at += plain + 1;
		if (escape == NULL)
			break;
		if (at >= text.n)
			return false;
		if (text.p[at] == 'u') {
			if (!read_unit(sv_sub(text, at + 1, 4), &unit))
				return false;
			put += put_utf8(unit, to + put);
			at += 5;
		} else {
			to[put] = letter_of(text.p[at++]);
			if (to[put++] == '\0')
				return false;
		}
	}
	*n = put;
	return true;
}

size_t escapes_end(struct sv text)
{
	size_t from = 0;

	for (;;) {
		const char *quote = from < text.n ? memchr(text.p + from, '"', text.n - from) : NULL;
		size_t at, slashes = 0;

		if (quote == NULL)
			return text.n;
		at = (size_t)(quote - text.p);
		/* An even number of backslashes before it are each other's. */
		while (slashes < at && text.p[at - 1 - slashes] == '\\')
			slashes++;
		if (slashes % 2 == 0)
			return at;
		from = at + 1;
	}
}
