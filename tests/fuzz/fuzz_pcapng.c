/* SPDX-License-Identifier: MIT */
/* Any bytes through the readers of records, read and mapped: what is shown can be read, what is scouted too, and reading ends. */

#include <stdlib.h>

#include "input/capture/record.h"
#include "input/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint32_t sum;

static void check(const struct record *r, size_t size)
{
	if (r->is_packet && (r->captured > INTAKE_ASK_MOST || r->wire < r->captured))
		abort();
	if (r->has_time && (r->time_us <= 0 || r->time_us / US_PER_S > RECORD_TIME_MOST_S))
		abort();
	if (r->offset > size)
		abort();
	for (uint32_t i = 0; r->is_packet && i < r->captured; i++)
		sum += r->bytes[i];
}

static void read_with(const struct record_reader_ops *ops, const uint8_t *data, size_t size, bool mapped)
{
	struct arena *a = arena_new();
	struct intake intake;
	struct record_reader *reader;
	struct record record;
	const char *why = NULL;
	int rc = 0;

	intake_init(&intake, stream_of(a, (struct sv){ (const char *)data, size }), a);
	/* As intake_init_mapped has it, of bytes with nothing behind them. */
	if (mapped)
		intake = (struct intake){ .stream = intake.stream, .bytes = data, .end = size, .ended = true };
	reader = ops->open(&intake, a, &why);
	if (reader != NULL && mapped)
		ops->scout(reader, intake.end);
	while (reader != NULL && (rc = ops->next(reader, &record, &why)) == 1) {
		check(&record, size);
		if (mapped)
			ops->scout(reader, intake.end);
	}
	if ((reader == NULL || rc < 0) && why == NULL)
		abort();
	if (reader != NULL && ops->close != NULL)
		ops->close(reader);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct record_reader_ops *ops = size >= 4 && data[0] == 0x0a ? &record_pcapng : &record_pcap;

	read_with(ops, data, size, false);
	read_with(ops, data, size, true);
	return 0;
}
