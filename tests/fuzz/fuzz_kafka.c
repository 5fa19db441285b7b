/* SPDX-License-Identifier: MIT */
/*
 * Payloads of a few connections, each after three bytes: who speaks and what
 * becomes of it (side 1, lost 2, cut to half 4, sent again 8, early 16, no SYN
 * 32, ends 64), and its length.
 */

#include <stdlib.h>
#include <string.h>

#include "input/capture/tcp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BY_BROKER = 1, LOST = 2, CUT = 4, AGAIN = 8, EARLY = 16, OTHER = 32, ENDS = 64 };

struct talk {
	uint32_t next[2];	/* of the client, of the broker */
	bool began;
};

static int check(void *context, const struct event *e)
{
	enum event_field missing;

	(void)context;
	/* What every user of events relies on. */
	if (event_lacks(e, &missing) || e->duration_us < 0)
		abort();
	return 0;
}

static struct segment segment_of(const struct talk *t, unsigned side, uint16_t port, uint8_t flags, int64_t now_us)
{
	struct segment s = { .time_us = now_us, .ip_version = 4, .flags = flags, .window = 500,
			     .sequence = t->next[side], .acknowledgment = t->next[!side] };

	s.source[3] = side == 0 ? 1 : 2;
	s.destination[3] = side == 0 ? 2 : 1;
	s.source_port = side == 0 ? port : 9092;
	s.destination_port = side == 0 ? 9092 : port;
	return s;
}

static void give(struct tcp *tcp, const struct segment *s)
{
	if (tcp_segment(tcp, s) != 0)
		abort();
}

static void open_talk(struct tcp *tcp, struct talk *t, uint16_t port, int64_t now_us)
{
	struct segment syn = segment_of(t, 0, port, TCP_SYN, now_us), answer;

	t->next[0]++;
	answer = segment_of(t, 1, port, TCP_SYN | TCP_ACK, now_us);
	t->next[1]++;
	give(tcp, &syn);
	give(tcp, &answer);
}

static void say(struct tcp *tcp, struct talk *t, uint8_t how, const uint8_t *bytes, size_t n, int64_t now_us)
{
	const unsigned side = how & BY_BROKER;
	const uint16_t port = (how & OTHER) != 0 ? 40001 : 40000;
	struct segment s;

	/* One of the two begins before the capture. */
	if (!t->began && (how & OTHER) == 0)
		open_talk(tcp, t, port, now_us);
	t->began = true;
	s = segment_of(t, side, port, (how & ENDS) != 0 ? TCP_ACK | TCP_FIN : TCP_ACK, now_us);
	s.payload_bytes = (uint32_t)n;
	s.payload_captured = (uint32_t)((how & CUT) != 0 ? n / 2 : n);
	s.payload = n > 0 ? bytes : NULL;
	if ((how & EARLY) != 0)
		s.sequence += 7;
	t->next[side] += (uint32_t)n;
	if ((how & LOST) == 0)
		give(tcp, &s);
	if ((how & AGAIN) != 0)
		give(tcp, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tcp *tcp = tcp_new((struct event_sink){ check, NULL });
	struct talk talks[2] = { { .next = { 1000, 5000 } }, { .next = { 7000, 9000 } } };
	int64_t now_us = 1700000000 * US_PER_S;

	while (size >= 3) {
		size_t n = (size_t)data[1] << 8 | data[2];
		uint8_t how = data[0];

		data += 3;
		size -= 3;
		if (n > size)
			n = size;
		now_us += 300 * US_PER_MS;
		say(tcp, &talks[(how & OTHER) != 0], how, data, n, now_us);
		data += n;
		size -= n;
	}
	tcp_finish(tcp);
	tcp_free(tcp);
	return 0;
}
