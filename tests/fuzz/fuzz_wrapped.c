/* SPDX-License-Identifier: MIT */
/*
 * A log in wrappers or of objects, read by moulds and shapes, gives what it
 * gives line by line: events, places, counts, problems. The fuzzer's bytes say
 * which wrapper, and what its lines are (wrapped_text.h).
 */

#include <stddef.h>
#include <stdint.h>

#include "scan_differ.h"
#include "wrapped_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rules *rules(void)
{
	static struct rules *loaded;

	if (loaded == NULL) {
		struct arena *a = arena_new();

		loaded = rules_load("rules", diag_new(a));
		arena_free(a);
	}
	if (loaded == NULL)
		__builtin_trap();
	return loaded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draw d = { .p = data, .n = size, .seed = size };
	struct wrapped_log w = { .draw = &d, .pods = 1 + draw(&d, 36), .objects = draw(&d, 3) == 0, .zone_hours = (int)draw(&d, 3) };
	const enum drawn_wrapper wrapper = (enum drawn_wrapper)draw(&d, DRAWN_WRAPPERS);
	const struct log_manner m = { .threads = 1 + draw(&d, 2), .head_bytes = 1000 + 20 * draw(&d, 256), .block_bytes = 1 + 30 * draw(&d, 256) };
	struct differ_input input = { .rules = rules(), .step = 1000, .breaks = draw(&d, 8) == 0, .maps = draw(&d, 2) == 0 };
	struct buf text;

	buf_init(&text);
	wrapped_text(&text, &w, wrapper, 20 + draw(&d, 256));
	input.text = buf_sv(&text);
	if (!differ_same(&input, &m))
		__builtin_trap();
	buf_fini(&text);
	return 0;
}
