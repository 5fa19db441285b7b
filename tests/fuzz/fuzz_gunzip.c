/* SPDX-License-Identifier: MIT */
/* Any bytes as gzip: in pieces of any size the same comes out as at once. */

#include <string.h>

#include "input/gunzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct sv bytes = { (const char *)data, size };
	struct gunzip *whole = gunzip_new(stream_of(a, bytes), a), *pieces = gunzip_new(stream_of(a, bytes), a);
	char *text = arena_alloc(a, MOST), piece[257];
	size_t n = gunzip_read(whole, text, MOST), at = 0, got;

	while (at < n && (got = gunzip_read(pieces, piece, n - at < sizeof piece ? n - at : sizeof piece)) > 0) {
		if (memcmp(text + at, piece, got) != 0)
			__builtin_trap();
		at += got;
	}
	if (at != n)
		__builtin_trap();
	arena_free(a);
	return 0;
}
