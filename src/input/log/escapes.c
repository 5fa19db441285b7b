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

/* The four digits behind "\u". False for zero, surrogates and rubbish. */
static bool read_unit(struct sv digits, unsigned *out)
{
	uint64_t unit;

	if (digits.n != 4 || !sv_to_hex64(digits, &unit))
		return false;
	*out = (unsigned)unit;
	return unit != 0 && (unit < 0xd800 || unit > 0xdfff);
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

/* What stands behind the backslash at the start: how many bytes of it there are, and of what it says. False when it is not plain. */
static bool read_escape(struct sv text, size_t *used, char said[3], size_t *n)
{
	unsigned unit;

	if (text.n < 2)
		return false;
	if (text.p[1] == 'u') {
		if (!read_unit(sv_sub(text, 2, 4), &unit))
			return false;
		*n = put_utf8(unit, said);
		*used = 6;
		return true;
	}
	said[0] = letter_of(text.p[1]);
	*n = 1;
	*used = 2;
	return said[0] != '\0';
}

/* to: NULL when only the answer is wanted. */
static bool read_all(struct sv text, char *to, size_t *put)
{
	*put = 0;
	while (text.n > 0) {
		const char *escape = memchr(text.p, '\\', text.n);
		const struct sv plain = { text.p, escape != NULL ? (size_t)(escape - text.p) : text.n };
		char said[3];
		size_t used = 0, n = 0;

		if (escapes_in(plain) != ESCAPES_NONE || (escape != NULL && !read_escape(sv_sub(text, plain.n, text.n), &used, said, &n)))
			return false;
		if (to != NULL) {
			memcpy(to + *put, plain.p, plain.n);
			memcpy(to + *put + plain.n, said, n);
		}
		*put += plain.n + n;
		text = sv_sub(text, plain.n + used, text.n);
	}
	return true;
}

bool escapes_read(struct sv text, char *to, size_t *n)
{
	return read_all(text, to, n);
}

bool escapes_are_plain(struct sv text)
{
	size_t n;

	return read_all(text, NULL, &n);
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
