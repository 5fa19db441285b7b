/* SPDX-License-Identifier: MIT */
/* Captures of any bytes: the sniffer and the reader, down to the events of tcp. */

#include "input/kind.h"
#include "input/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int drop(void *context, const struct event *e)
{
	(void)context;
	(void)e;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *run = arena_new(), *record = arena_new(), *input = arena_new();
	struct sv bytes = { (const char *)data, size };
	struct input_info info = { .id = 1 };
	struct ingest in = {
		.stream = stream_of(input, bytes),
		.info = &info,
		.sink = { drop, NULL },
		.diag = diag_new(run),
		.record = record,
		.input = input,
	};
	const char *why;

	(void)capture_kind.sniff(bytes, SV("x"), NULL, &why);
	(void)capture_kind.read(&in);
	arena_free(input);
	arena_free(record);
	arena_free(run);
	return 0;
}
