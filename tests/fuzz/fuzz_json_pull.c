/* SPDX-License-Identifier: MIT */
/* JSON of any bytes, token by token: it ends, and brackets match. */

#include "input/json_pull.h"
#include "input/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct json_pull *p = json_pull_stream(a, stream_of(a, (struct sv){ (const char *)data, size }));
	size_t tokens = 0;
	enum json_token t;

	while ((t = json_pull_next(p)) != JSON_END && t != JSON_DAMAGED)
		if (++tokens > size || json_pull_depth(p) > JSON_PULL_DEPTH_MAX || json_pull_text(p).n > JSON_PULL_TEXT_MAX)
			__builtin_trap();
	if (t == JSON_END && json_pull_depth(p) != 0)
		__builtin_trap();
	arena_free(a);
	return 0;
}
