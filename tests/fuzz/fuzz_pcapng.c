/* SPDX-License-Identifier: MIT */
/* Any bytes through the readers of records: what is shown can be read, and reading ends. */

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

static void read_with(const struct record_reader_ops *ops, const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct intake intake;
	struct record_reader *reader;
	struct record record;
	const char *why = NULL;
	int rc = 0;

	intake_init(&intake, stream_of(a, (struct sv){ (const char *)data, size }), a);
	reader = ops->open(&intake, a, &why);
	while (reader != NULL && (rc = ops->next(reader, &record, &why)) == 1)
		check(&record, size);
	if ((reader == NULL || rc < 0) && why == NULL)
		abort();
	if (reader != NULL && ops->close != NULL)
		ops->close(reader);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 4 && data[0] == 0x0a)
		read_with(&record_pcapng, data, size);
	else
		read_with(&record_pcap, data, size);
	return 0;
}
