/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CODING_DECODE_H
#define AFTERSHOCK_INPUT_CODING_DECODE_H

/*
 * Compressed bytes as plain ones, to the last byte that can be had before a
 * break: the end of a log that was copied while it was written is what one looks
 * for. (libarchive gives out blocks of 64 or 128 KiB, and none that is not full
 * when a file breaks off.) Members may follow one another, and zeros the last.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "input/stream.h"

struct decode;

/* Whether bytes that begin so can be decoded: gzip, xz, zstd or lz4. */
bool decode_knows(struct sv head);
/* Of packed, whose head decode_knows. Its small parts live in the arena; decode_close gives back the rest. */
struct decode *decode_new(struct stream *packed, struct arena *a);
/*
 * Up to n bytes; 0 at the end; -1 behind the last good byte of what is damaged,
 * and behind the last of all where no more than a checksum is wrong.
 */
ptrdiff_t decode_read(struct decode *d, void *bytes, size_t n);
/* What is wrong, after -1. */
const char *decode_why(const struct decode *d);
/* Accepts NULL. */
void decode_close(struct decode *d);

#endif
