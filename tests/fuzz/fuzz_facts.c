/* SPDX-License-Identifier: MIT */
/* Facts as a database may hold them: refused, or such that what is written from them says the same. */
#include <stdint.h>
#include <stdlib.h>

#include "store/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct sv text = { (const char *)data, n };
	struct arena *a = arena_new();
	struct names names;
	struct event read, again;
	struct sv host;
	struct buf b;

	facts_names(&names);
	event_init(&read, EVENT_BROKER_STARTED);
	buf_init(&b);
	(void)facts_read_host(text, a, &host);
	if (facts_read(text, &names, a, &read)) {
		facts_write(&b, &read);
		event_init(&again, EVENT_BROKER_STARTED);
		if (!facts_read(buf_sv(&b), &names, a, &again) || again.set != read.set || !sv_eq(again.host, read.host) ||
		    again.strength != read.strength || again.place.unit != read.place.unit ||
		    again.duration_us != read.duration_us)
			abort();
	}
	buf_fini(&b);
	arena_free(a);
	return 0;
}
