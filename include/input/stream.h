/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_STREAM_H
#define AFTERSHOCK_INPUT_STREAM_H

/*
 * How the streams of kind.h are made. Whatever gives the bytes (a file, a
 * member of an archive, memory) is a stream_source.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"
#include "input/kind.h"
#include "input/mapped.h"

struct stream_source {
	/* Up to n bytes; 0 at the end; -1 on damage. Not called again after 0 or -1. */
	ptrdiff_t (*read)(void *context, void *bytes, size_t n);
	/*
	 * Records the damage that read met: called once, when the stream hands
	 * out its -1, so that what the look ahead met is recorded for the input
	 * that has begun by then. at is the number of good bytes before it.
	 */
	void (*report)(void *context, uint64_t at);
	void *context;
	/* NULL, or gives all of the bytes at once; may give NULL. */
	struct mapped *(*map)(void *context, struct arena *a);
	/* Of a source that can be mapped: read goes on there. */
	void (*seek)(void *context, uint64_t at);
};

/* Lives as long as the arena. */
struct stream *stream_new(struct arena *a, struct stream_source source);
/* A stream of bytes that lie in memory and outlive it. */
struct stream *stream_of(struct arena *a, struct sv bytes);
/*
 * Looks further, before anything was read: the head is so long from then on. A
 * line that is read whole ends in it.
 */
#define STREAM_FURTHER_BYTES (LINE_BYTES_MAX + STREAM_HEAD_BYTES)
struct sv stream_head_further(struct stream *s);
/*
 * Where a source gives a first line longer than LINE_BYTES_MAX: what stands
 * behind it, or behind the zeros where all of it is zeros, as in a log that was
 * truncated below its writer. Empty when there is nothing, or only behind
 * STREAM_GAP_MOST bytes. What nobody reads of that line is not kept: it is read
 * as zeros. For bytes that lines leave as they are.
 */
#define STREAM_GAP_MOST (UINT64_C(8) << 30)
struct sv stream_head_behind(struct stream *s);
/*
 * As stream_read, but the damage that it meets is not recorded: stream_read,
 * called once more, does. For readers that are not alone with diag.
 */
ptrdiff_t stream_read_on(struct stream *s, void *bytes, size_t n);
/*
 * All of its bytes where they lie, in place of reading them: before anything
 * was read. NULL when the source has none to show. Who has them frees them.
 */
struct mapped *stream_map(struct stream *s);
/* What is left of a stream that was mapped is read from there on: its end, or what was lost. */
void stream_read_from(struct stream *s, uint64_t position);
/* How many bytes have been handed out by stream_read. */
uint64_t stream_position(const struct stream *s);
/* How many lines have been read of it: told by whoever takes it apart, 0 when it is no text. */
void stream_note_lines(struct stream *s, uint64_t lines);
uint64_t stream_lines(const struct stream *s);
/* Whether the source is known to be damaged, recorded or not yet. */
bool stream_is_damaged(const struct stream *s);

#endif
