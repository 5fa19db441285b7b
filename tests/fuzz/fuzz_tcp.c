/* SPDX-License-Identifier: MIT */
/*
 * Segments of a few connections, twelve bytes each: which connection and side,
 * flags, how far from the sequence and acknowledgment before, payload, how
 * much later. Small steps, so that states deep in a connection are reached.
 */

#include <stdlib.h>

#include "input/capture/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEP_BYTES 12

static int check(void *context, const struct event *e)
{
	enum event_field missing;

	(void)context;
	/* What every user of events relies on. */
	if (event_lacks(e, &missing) || e->duration_us < 0)
		abort();
	return 0;
}

static uint32_t number(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

/* From -32768 to 32767, modulo 2^32. */
static uint32_t distance(const uint8_t *p)
{
	return number(p, 2) - 32768;
}

static struct segment step(const uint8_t *p, struct segment last, int64_t now_us)
{
	bool from_a = (p[0] & 1) != 0;
	struct segment s = { .time_us = now_us, .ip_version = (p[0] & 2) != 0 ? 6 : 4, .has_ip_id = true,
			     .ip_id = p[11] };

	s.domain = p[0] >> 2 & 3;
	s.source[3] = from_a ? 1 : 2;
	s.destination[3] = from_a ? 2 : 1;
	s.source_port = from_a ? (uint16_t)(40000 + (p[0] >> 4)) : 9092;
	s.destination_port = from_a ? 9092 : (uint16_t)(40000 + (p[0] >> 4));
	s.flags = p[1];
	s.sequence = last.sequence + distance(p + 2);
	s.acknowledgment = last.acknowledgment + distance(p + 4);
	s.payload_bytes = number(p + 6, 2);
	s.window = p[8];
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcp *t = tcp_new((struct event_sink){ check, NULL });
	struct segment last[2] = { { 0 }, { 0 } };
	int64_t now_us = 1700000000 * US_PER_S;

	for (; size >= STEP_BYTES; data += STEP_BYTES, size -= STEP_BYTES) {
		unsigned side = data[0] & 1;
		struct segment s;

		now_us += (int64_t)number(data + 9, 2) * US_PER_MS / 4;
		s = step(data, last[side], now_us);
		last[side] = s;
		(void)tcp_continuity(t, &s);
		if (tcp_segment(t, &s) != 0)
			abort();
		if (data[8] == 0x77) {
			tcp_hole(t, now_us, now_us - US_PER_S);
			now_us -= US_PER_S;
		}
	}
	tcp_finish(t);
	tcp_free(t);
	return 0;
}
