/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_SCOUT_H
#define AFTERSHOCK_INPUT_CAPTURE_SCOUT_H

/*
 * Fetches into the cache what will be looked at of mapped records. Where a
 * record begins the one before it tells alone, which is a wait for memory with
 * each: so several are followed at once, from where they seem to begin. What
 * comes of a wrong guess is time lost, and nothing else.
 */

#include <stdbool.h>
#include <stddef.h>

#include "input/capture/cache_line.h"

/* Records are followed at so many places at once. */
#define SCOUT_STRANDS 8
/* From a packet's first byte on: Ethernet, IPv4 and TCP with a timestamp, and what is looked at of every payload. */
#define SCOUT_PACKET_BYTES (14 + 20 + 32 + 16)

/* What a format tells of the bytes at a place; inlined where it is a constant. */
struct scout_format {
	/* Whether a record seems to begin there; of the bytes no more are looked at than those before "to". */
	bool (*may_begin)(const void *context, const uint8_t *bytes, size_t at, size_t to);
	/* Where the next one begins: any place behind it. header_bytes of it are there. */
	size_t (*next)(const void *context, const uint8_t *bytes, size_t at);
	size_t header_bytes;	/* before the packet */
};

/* Where a record seems to begin, with another behind it. */
static inline size_t scout_guess(const struct scout_format *f, const void *context, const uint8_t *bytes, size_t from, size_t to)
{
	for (size_t at = from; at < to; at++)
		if (f->may_begin(context, bytes, at, to) && f->may_begin(context, bytes, f->next(context, bytes, at), to))
			return at;
	return to;
}

/* Of the bytes from one place, where a record begins, to another. */
static inline __attribute__((always_inline)) void scout(const struct scout_format *f, const void *context, const uint8_t *bytes, size_t from,
							size_t to)
{
	const size_t each = (to - from) / SCOUT_STRANDS, shown = f->header_bytes + SCOUT_PACKET_BYTES;
	size_t at[SCOUT_STRANDS], end[SCOUT_STRANDS];
	bool going = each >= shown;

	for (size_t i = 0; i < SCOUT_STRANDS && going; i++) {
		end[i] = from + (i + 1) * each;
		at[i] = i == 0 ? from : scout_guess(f, context, bytes, from + i * each, end[i]);
	}
	while (going) {
		going = false;
		for (size_t i = 0; i < SCOUT_STRANDS; i++) {
			/* Of the last of each some may be missed. */
			if (at[i] >= end[i] || end[i] - at[i] < shown)
				continue;
			__builtin_prefetch(bytes + at[i] + CACHE_LINE);
			__builtin_prefetch(bytes + at[i] + shown);
			at[i] = f->next(context, bytes, at[i]);
			if (at[i] < end[i])
				__builtin_prefetch(bytes + at[i]);
			going = true;
		}
	}
}

#endif
