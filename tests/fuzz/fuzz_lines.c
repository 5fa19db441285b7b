/* SPDX-License-Identifier: MIT */
/* Lines of any bytes: in order, within the bytes, and all of them. */

#include "input/kind.h"
#include "input/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct stream *s = stream_of(a, (struct sv){ (const char *)data, size });
	struct lines *l = lines_new(s, diag_new(a));
	struct line line;
	uint64_t number = 0, offset = 0;

	while (lines_next(l, &line) == 1) {
		if (line.number != ++number || line.byte_offset < offset || line.byte_offset >= size)
			__builtin_trap();
		offset = line.byte_offset + 1;
	}
	if (stream_position(s) != size)
		__builtin_trap();
	lines_free(l);
	arena_free(a);
	return 0;
}
