/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_sight.h. */

#include "input/capture/tcp_sight.h"

/* Of one pair with one mask, while there are few pairs; the next mask leaves an eighth. */
#define PASSAGES_OF_PAIR 64
#define MASK_STEP_BITS 3
/* Of all pairs with one mask: with many each has fewer. A client that connects for every request makes its pair anew each time. */
#define PASSAGES_OF_ALL 512
#define PASSAGE_PACKETS 4

/*
 * What routers leave as it is, and captures of different length show alike. A
 * retransmission has an IP identification of its own, where there is one.
 */
static uint64_t digest_of(const struct segment *s)
{
	uint64_t h = tcp_sight_mix(s->ip_version, s->has_ip_id ? s->ip_id : 0);

	for (int i = 0; i < 16; i++)
		h = tcp_sight_mix(h, (uint64_t)s->source[i] << 8 | s->destination[i]);
	h = tcp_sight_mix(h, (uint64_t)s->source_port << 16 | s->destination_port);
	h = tcp_sight_mix(h, (uint64_t)s->sequence << 32 | s->acknowledgment);
	h = tcp_sight_mix(h, (uint64_t)s->flags << 48 | (uint64_t)s->window << 32 | s->payload_bytes);
	return h ^ h >> 32;
}

/* The more pairs there were, the fewer of a hundred passages are picked at all. */
static void begin_pair(struct tcp_sights *all)
{
	if (++all->count >= PASSAGES_OF_ALL * (all->mask + 1))
		all->mask = all->mask << 1 | 1;
}

/* With one mask. */
static unsigned most_of_pair(const struct tcp_sights *all)
{
	unsigned most = all->count > 0 ? PASSAGES_OF_ALL / all->count : PASSAGES_OF_PAIR;

	return most > PASSAGES_OF_PAIR ? PASSAGES_OF_PAIR : most > 1 ? most : 1;
}

/* False: it is not picked. */
static bool pick_passage(struct tcp_sights *all, struct tcp_sights *t, uint64_t passage)
{
	if (t->packets > 0 && t->passage == passage)
		return t->packets < PASSAGE_PACKETS;
	if ((passage & (t->mask | all->mask)) != 0)
		return false;
	if (t->packets == 0)
		begin_pair(all);
	t->passage = passage;
	t->packets = 0;
	if (++t->count >= most_of_pair(all)) {
		t->mask = t->mask << MASK_STEP_BITS | ((1 << MASK_STEP_BITS) - 1);
		t->count = 0;
	}
	return true;
}

void tcp_sight_pick(struct tcp_sights *all, struct tcp_report *r, const struct tcp_conn *c, unsigned side,
		    const struct segment *s)
{
	struct tcp_sights *of_pair = &c->pair->sights;

	if (!pick_passage(all, of_pair, tcp_sight_passage(c, s)))
		return;
	of_pair->packets++;
	tcp_report_sighted(r, c, side, s, digest_of(s));
}
