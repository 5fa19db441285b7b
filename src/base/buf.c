/* SPDX-License-Identifier: MIT */
/* Growing bytes and the escapes of the output formats. See base/buf.h. */

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct sv replacement = { "\xEF\xBF\xBD", 3 }; /* U+FFFD */

void buf_init(struct buf *b)
{
	*b = (struct buf){ NULL, 0, 0 };
}

void buf_fini(struct buf *b)
{
	free(b->p);
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	b->n = 0;
}

struct sv buf_sv(const struct buf *b)
{
	return (struct sv){ b->p != NULL ? b->p : "", b->n };
}

/* Room for n more bytes. */
static void reserve(struct buf *b, size_t n)
{
	if (n <= b->capacity - b->n)
		return;
	size_t capacity = b->capacity == 0 ? 256 : b->capacity;
	while (capacity - b->n < n && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	if (capacity - b->n < n)
		memory_exhausted();
	b->p = memory_checked(realloc(b->p, capacity));
	b->capacity = capacity;
}

void buf_add(struct buf *b, struct sv s)
{
	if (s.n == 0)
		return;
	reserve(b, s.n);
	memcpy(b->p + b->n, s.p, s.n);
	b->n += s.n;
}

void buf_add_char(struct buf *b, char c)
{
	reserve(b, 1);
	b->p[b->n++] = c;
}

char *buf_room(struct buf *b, size_t n)
{
	reserve(b, n);
	return b->p + b->n;
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list list, again;
	va_start(list, format);
	va_copy(again, list);
	int n = vsnprintf(NULL, 0, format, list);
	va_end(list);
	if (n > 0) {
		reserve(b, (size_t)n + 1);
		vsnprintf(b->p + b->n, (size_t)n + 1, format, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

/*
 * The length of the UTF-8 sequence at the start of s, 0 when it is none
 * (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
 */
static size_t utf8_length(struct sv s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	unsigned char c = p[0];
	size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
	if (n == 0 || n > s.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) || (c == 0xF0 && p[1] < 0x90) ||
	    (c == 0xF4 && p[1] > 0x8F))
		return 0;
	return n;
}

/* Writes one ASCII character in the way of a format. */
typedef void escape_function(struct buf *b, char c);

static void add_escaped(struct buf *b, struct sv s, escape_function *escape, struct sv broken)
{
	while (s.n > 0) {
		size_t n = utf8_length(s);
		if (n == 0) {
			buf_add(b, broken);
			n = 1;
		} else if (n == 1) {
			escape(b, s.p[0]);
		} else {
			buf_add(b, sv_sub(s, 0, n));
		}
		s = sv_sub(s, n, s.n);
	}
}

static void escape_json(struct buf *b, char c)
{
	static const char plain[] = "\"\\\n\r\t\b\f";
	static const char escaped[] = "\"\\nrtbf";
	const char *hit = c == '\0' ? NULL : strchr(plain, c);

	if (hit != NULL)
		buf_printf(b, "\\%c", escaped[hit - plain]);
	else if ((unsigned char)c < 0x20 || c == 0x7F)
		buf_printf(b, "\\u%04x", (unsigned)(unsigned char)c);
	else
		buf_add_char(b, c);
}

void buf_add_json(struct buf *b, struct sv s)
{
	buf_add_char(b, '"');
	add_escaped(b, s, escape_json, replacement);
	buf_add_char(b, '"');
}

static void escape_html(struct buf *b, char c)
{
	switch (c) {
	case '&':
		buf_add(b, SV("&amp;"));
		break;
	case '<':
		buf_add(b, SV("&lt;"));
		break;
	case '>':
		buf_add(b, SV("&gt;"));
		break;
	case '"':
		buf_add(b, SV("&quot;"));
		break;
	case '\'':
		buf_add(b, SV("&#39;"));
		break;
	default:
		if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
			buf_add(b, replacement);
		else
			buf_add_char(b, c);
	}
}

void buf_add_html(struct buf *b, struct sv s)
{
	add_escaped(b, s, escape_html, replacement);
}

static void escape_markdown(struct buf *b, char c)
{
	if (strchr("\\|`*_<>[]#", c) != NULL && c != '\0') {
		buf_add_char(b, '\\');
		buf_add_char(b, c);
	} else {
		buf_add_char(b, (unsigned char)c < 0x20 || c == 0x7F ? ' ' : c);
	}
}

void buf_add_markdown(struct buf *b, struct sv s)
{
	add_escaped(b, s, escape_markdown, replacement);
}

static void escape_plain(struct buf *b, char c)
{
	if (c == '\t')
		buf_add_char(b, ' ');
	else
		buf_add_char(b, (unsigned char)c < 0x20 || c == 0x7F ? '?' : c);
}

void buf_add_plain(struct buf *b, struct sv s)
{
	add_escaped(b, s, escape_plain, SV("?"));
}
