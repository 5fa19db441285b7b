/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as compressed ones: in pieces of any size the same comes out as at
 * once, and the same is said of it. Where liblzma finds damage depends on the
 * room that it has, so that one may have more than the other.
 */

#include <string.h>

#include "input/coding/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST ((size_t)1 << 20)

/* All of it up to MOST, by reads of piece bytes. *rc as of the last. */
static struct sv decoded(struct arena *a, struct sv bytes, size_t piece, ptrdiff_t *rc)
{
	struct decode *d = decode_new(stream_of(a, bytes), a);
	char *text = arena_alloc(a, MOST);
	size_t n = 0;

	while (n < MOST && (*rc = decode_read(d, text + n, MOST - n < piece ? MOST - n : piece)) > 0)
		n += (size_t)*rc;
	if (*rc < 0 && decode_why(d) == NULL)
		__builtin_trap();
	decode_close(d);
	return (struct sv){ text, n };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv bytes = { (const char *)data, size };
	struct arena *a;
	struct sv whole, pieces;
	ptrdiff_t rc, rc_of_pieces;

	if (!decode_knows(bytes))
		return 0;
	a = arena_new();
	whole = decoded(a, bytes, MOST, &rc);
	pieces = decoded(a, bytes, 257, &rc_of_pieces);
	if (!sv_starts_with(whole, pieces) && !sv_starts_with(pieces, whole))
		__builtin_trap();
	if (whole.n < MOST && (rc != rc_of_pieces || (rc == 0 && whole.n != pieces.n)))
		__builtin_trap();
	arena_free(a);
	return 0;
}
