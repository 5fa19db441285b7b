/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_BASE_BUF_H
#define AFTERSHOCK_BASE_BUF_H

/*
 * Growing bytes with the escapes of the formats that are written. Out of
 * memory ends the program (as in arena.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

struct buf {
	char *p;
	size_t n;
	size_t capacity;
};

void buf_init(struct buf *b);
/* Frees the bytes; the buf may be used again as if new. */
void buf_fini(struct buf *b);
void buf_clear(struct buf *b);
/* Lives until the next change of b. */
struct sv buf_sv(const struct buf *b);

void buf_add(struct buf *b, struct sv s);
void buf_add_char(struct buf *b, char c);
/* The end of the bytes, with room for n more: who writes there adds to b->n what was written. */
char *buf_room(struct buf *b, size_t n);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD each,
 * so that the output is valid whatever the input was.
 */
void buf_add_json(struct buf *b, struct sv s);
/* Text and attribute values alike: & < > " ' are escaped, control bytes and broken UTF-8 replaced. */
void buf_add_html(struct buf *b, struct sv s);
/* A cell of a Markdown table: | and backslash escaped, line ends become spaces. */
void buf_add_markdown(struct buf *b, struct sv s);
/* For a terminal: control characters and broken UTF-8 become '?' so that a log cannot move the cursor. */
void buf_add_plain(struct buf *b, struct sv s);

#endif
