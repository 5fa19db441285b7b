/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_UTF8_H
#define AFTERSHOCK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Of any character; of one below 0x10000 a byte less. */
#define UTF8_BYTES_MAX 4

/*
 * Writes the character (at most 0x10ffff) as UTF-8 (RFC 3629 3) and returns how
 * many bytes that takes. Halves of surrogate pairs become three bytes, which are
 * no character.
 */
static inline size_t utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

#endif
