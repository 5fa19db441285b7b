/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_FUZZ_KIND_H
#define AFTERSHOCK_TESTS_FUZZ_KIND_H

/* Any bytes through one kind of input: its sniffer and its reader. */

#include "input/kind.h"
#include "input/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_put(void *context, const struct event *e)
{
	enum event_field missing;

	(void)context;
	/* What the store would refuse is a defect of the kind. */
	if (event_lacks(e, &missing))
		__builtin_trap();
	return 0;
}

static inline void fuzz_read(const struct kind *kind, struct sv bytes, const struct rules *rules, struct input_info *info)
{
	struct arena *run = arena_new(), *record = arena_new(), *input = arena_new();
	struct ingest in = {
		.stream = stream_of(input, bytes),
		.info = info,
		.rules = rules,
		.sink = { fuzz_put, NULL },
		.diag = diag_new(run),
		.record = record,
		.input = input,
		.base_name = SV("x"),
	};
	const char *why;

	(void)kind->sniff(lines_preview(input, bytes), in.base_name, rules, &why);
	if (kind->read(&in) != 0)
		__builtin_trap();
	arena_free(input);
	arena_free(record);
	arena_free(run);
}

/* For kinds whose damaged pieces are records too. */
static inline void fuzz_kind(const struct kind *kind, struct sv bytes, const struct rules *rules)
{
	struct input_info info = { .id = 1 };

	fuzz_read(kind, bytes, rules, &info);
	if (info.skipped > info.records)
		__builtin_trap();
}

#endif
