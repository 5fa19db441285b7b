/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_GUNZIP_H
#define AFTERSHOCK_INPUT_GUNZIP_H

/*
 * gzip (RFC 1952) to its last byte. libarchive, which reads it otherwise, gives
 * whole blocks only, so that of a file that breaks off up to 64 KiB are lost: the
 * end of a log that was copied while it was written, which is what one looks for.
 */

#include <stddef.h>

#include "base/arena.h"
#include "input/stream.h"

struct gunzip;
/* Of packed bytes that begin with a member. Lives as long as the arena. */
struct gunzip *gunzip_new(struct stream *packed, struct arena *a);
/* Up to n bytes of what is packed; 0 at its end, and where it breaks off or makes no sense. Checksums are not looked at. */
size_t gunzip_read(struct gunzip *g, void *bytes, size_t n);

#endif
