/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_sight.h. */

#include "input/capture/tcp_sight.h"

/* With one mask; then every other of them is enough. Of a million packets between two hosts some nine hundred are picked. */
#define SIGHTS_OF_PAIR 64
/* A client that connects for every request makes its pair anew each time. */
#define SIGHTS_OF_ALL 4096
/* Larger ones are cut on their way, or put together on arrival (TSO, GRO): never the same at both ends. */
#define SIGHT_PAYLOAD_MOST 1200

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/*
 * What routers leave as it is, and captures of different length show alike. A
 * retransmission has an IP identification of its own, where there is one.
 */
static uint64_t digest_of(const struct segment *s)
{
	uint64_t h = mix(s->ip_version, s->has_ip_id ? s->ip_id : 0);

	for (int i = 0; i < 16; i++)
		h = mix(h, (uint64_t)s->source[i] << 8 | s->destination[i]);
	h = mix(h, (uint64_t)s->source_port << 16 | s->destination_port);
	h = mix(h, (uint64_t)s->sequence << 32 | s->acknowledgment);
	h = mix(h, (uint64_t)s->flags << 48 | (uint64_t)s->window << 32 | s->payload_bytes);
	return h ^ h >> 32;
}

/* Picked once more; the mask grows when that has been often enough. */
static void count(struct tcp_sights *t, unsigned most)
{
	if (++t->count < most)
		return;
	t->mask = t->mask << 1 | 1;
	t->count = 0;
}

void tcp_sight_see(struct tcp_sights *all, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
		   const struct segment *s)
{
	struct tcp_sights *of_pair = &c->pair->sights;
	uint64_t digest;

	if (s->payload_bytes == 0 || s->payload_bytes > SIGHT_PAYLOAD_MOST)
		return;
	digest = digest_of(s);
	if ((digest & (of_pair->mask | all->mask)) != 0)
		return;
	count(of_pair, SIGHTS_OF_PAIR);
	count(all, SIGHTS_OF_ALL);
	tcp_report_sighted(r, c, side, s, digest);
}
