/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_AHEAD_H
#define AFTERSHOCK_INPUT_CAPTURE_AHEAD_H

/*
 * A stream read ahead, block by block, by a thread of its own: while one block
 * is looked through the next ones are copied from the kernel, or unpacked.
 * (Copying is half of what a capture with whole packets costs.)
 */

#include <stddef.h>
#include <stdint.h>

#include "input/kind.h"

struct ahead;

/* Blocks of block_bytes at most, each behind headroom bytes for the caller. NULL when no thread can be had. */
struct ahead *ahead_new(struct stream *s, size_t headroom, size_t block_bytes, struct arena *a);
/*
 * The next block, its bytes behind the headroom, and how many; NULL at the end
 * of the stream, or where it is damaged. The one before stays as it is until
 * ahead_release, so that what is left of it can be put into the headroom.
 */
uint8_t *ahead_take(struct ahead *a, size_t *n);
/* The blocks before the one taken last are not needed any more. */
void ahead_release(struct ahead *a);
/* Stops reading; the stream may be read by others again. Accepts NULL. */
void ahead_free(struct ahead *a);

#endif
