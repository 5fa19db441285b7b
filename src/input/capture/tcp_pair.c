/* SPDX-License-Identifier: MIT */
/*
 * The table of pairs, and when a side of one is quiet (method.md 3, "Not the
 * network"): its process sends nothing on any connection although none of the
 * pair's data stands unacknowledged. If data does, the path may be at fault,
 * and it is a stall.
 */

#include "input/capture/tcp_pair.h"

#include <string.h>

#define PAIR_BUCKETS 4096

/* Silence of fewer usual gaps is rhythm. */
#define QUIET_GAPS 4
/* The rhythm is known after so many gaps; or, when there are none, after so many payloads. */
#define GAPS_LEAST 8
/* Linux sends nothing again after a pause longer than TCP_RTO_MAX, 120 s: what stood unacknowledged was dropped. */
#define RTO_MOST_US (130 * US_PER_S)
/* So many flows are looked at; a pair with more of them in trouble has one among these. */
#define FLOWS_LOOKED_AT 64

/* VLANs and tunnels that are told apart where the same addresses are in several of them. */
#define DOMAINS_MOST 16

struct tcp_pairs {
	struct arena *arena;
	struct tcp_pair *free;
	uint64_t domain[DOMAINS_MOST];	/* in the order in which they came */
	unsigned domains;
	struct tcp_pair *bucket[PAIR_BUCKETS];
};

/* ---- the table ---- */

static size_t bucket_of(uint64_t domain, const struct tcp_address *caller, const struct tcp_address *callee, uint16_t callee_port)
{
	uint64_t h = callee_port ^ domain;

	for (size_t i = 0; i < sizeof caller->bytes; i++) {
		h = (h ^ caller->bytes[i]) * UINT64_C(0x100000001b3);
		h = (h ^ callee->bytes[i]) * UINT64_C(0x100000001b3);
	}
	return (size_t)(h >> 32) % PAIR_BUCKETS;
}

static bool is_same(const struct tcp_address *x, const struct tcp_address *y)
{
	return x->version == y->version && memcmp(x->bytes, y->bytes, sizeof x->bytes) == 0;
}

struct tcp_pairs *tcp_pairs_new(struct arena *a)
{
	struct tcp_pairs *p = arena_alloc(a, sizeof *p);

	p->arena = a;
	return p;
}

struct tcp_pair *tcp_pairs_find(struct tcp_pairs *p, uint64_t domain, const struct tcp_address *caller,
				const struct tcp_address *callee, uint16_t callee_port)
{
	struct tcp_pair *pair = p->bucket[bucket_of(domain, caller, callee, callee_port)];

	while (pair != NULL && !(pair->callee_port == callee_port && pair->domain == domain && is_same(&pair->caller, caller) &&
				 is_same(&pair->callee, callee)))
		pair = pair->next;
	return pair;
}

/* The place of the domain among those that came before; DOMAINS_MOST when there are too many. */
static unsigned place_of(struct tcp_pairs *p, uint64_t domain)
{
	unsigned i = 0;

	while (i < p->domains && p->domain[i] != domain)
		i++;
	if (i == p->domains && i < DOMAINS_MOST)
		p->domain[p->domains++] = domain;
	return i;
}

static uint8_t zone_of(struct tcp_pairs *p, uint64_t domain, const struct tcp_address *caller, const struct tcp_address *callee,
		       uint16_t callee_port)
{
	unsigned place = place_of(p, domain);

	for (unsigned i = 0; i < p->domains; i++) {
		const struct tcp_pair *other = i != place ? tcp_pairs_find(p, p->domain[i], caller, callee, callee_port) : NULL;

		if (other != NULL && other->side[TCP_A].heard_us != 0 && other->side[TCP_B].heard_us != 0)
			return (uint8_t)(place + 1);
	}
	return 0;
}

struct tcp_pair *tcp_pairs_hold(struct tcp_pairs *p, uint64_t domain, const struct tcp_address *caller,
				const struct tcp_address *callee, uint16_t callee_port)
{
	struct tcp_pair *pair = tcp_pairs_find(p, domain, caller, callee, callee_port);

	if (pair == NULL) {
		size_t bucket = bucket_of(domain, caller, callee, callee_port);
		uint8_t zone = zone_of(p, domain, caller, callee, callee_port);

		pair = p->free;
		if (pair != NULL)
			p->free = pair->next;
		else
			pair = cache_lines(p->arena, sizeof *pair);
		*pair = (struct tcp_pair){ .domain = domain, .caller = *caller, .callee = *callee, .callee_port = callee_port,
					   .zone = zone, .next = p->bucket[bucket] };
		p->bucket[bucket] = pair;
	}
	pair->connections++;
	return pair;
}

void tcp_pairs_release(struct tcp_pairs *p, struct tcp_pair *pair)
{
	struct tcp_pair **at;

	if (--pair->connections > 0)
		return;
	at = &p->bucket[bucket_of(pair->domain, &pair->caller, &pair->callee, pair->callee_port)];
	while (*at != pair)
		at = &(*at)->next;
	*at = pair->next;
	pair->next = p->free;
	p->free = pair;
}

void tcp_pairs_each(struct tcp_pairs *p, void (*visit)(void *context, struct tcp_pair *pair), void *context)
{
	for (size_t i = 0; i < PAIR_BUCKETS; i++)
		for (struct tcp_pair *pair = p->bucket[i]; pair != NULL; pair = pair->next)
			visit(context, pair);
}

/* ---- signs of life ---- */

void tcp_pair_wake(struct tcp_side *s, int64_t now_us)
{
	s->woke_us[s->wakes++ % TCP_WAKES_KEPT] = now_us;
}

int64_t tcp_pair_woke_us(const struct tcp_pair *p, unsigned side, int64_t since_us, int64_t now_us)
{
	const struct tcp_side *s = &p->side[side];
	int64_t first_us = now_us;

	for (unsigned i = 0; i < TCP_WAKES_KEPT && i < s->wakes; i++)
		if (s->woke_us[i] > since_us && s->woke_us[i] < first_us)
			first_us = s->woke_us[i];
	return first_us;
}

/* ---- silence ---- */

static bool is_rhythm_known(const struct tcp_side *side)
{
	return tcp_median_count(&side->gaps) >= GAPS_LEAST || side->payloads >= TCP_PAYLOADS_LEAST;
}

static bool is_too_long(const struct tcp_side *side, int64_t silence_us)
{
	if (silence_us <= TCP_QUIET_LEAST_US)
		return false;
	return tcp_median_count(&side->gaps) < GAPS_LEAST || silence_us > tcp_median_us(&side->gaps) * QUIET_GAPS;
}

static bool has_flow_in_trouble(const struct tcp_side *side, int64_t now_us)
{
	const struct tcp_flow *f = side->unacked;

	for (int i = 0; f != NULL && i < FLOWS_LOOKED_AT; i++, f = f->older) {
		const struct tcp_sent *head = &f->sent[0];

		if (f->wait.reported || now_us - f->sent[f->sent_count - 1].last_us > RTO_MOST_US)
			continue;
		if (head->sends > 1 || now_us - head->first.us > TCP_TROUBLE_US)
			return true;
	}
	return false;
}

static bool is_in_trouble(const struct tcp_pair *p, int64_t now_us)
{
	if (p->connecting > 0 && now_us - p->syn_us <= RTO_MOST_US)
		return true;
	return has_flow_in_trouble(&p->side[TCP_A], now_us) || has_flow_in_trouble(&p->side[TCP_B], now_us);
}

/* The peer's payload came after all that this side sent, was acknowledged, and stood for a while. */
static bool is_pending(const struct tcp_pair *p, unsigned side, int64_t now_us)
{
	int64_t asked_us = p->side[side].asked_us;

	return asked_us != 0 && p->side[!side].accepted_us >= asked_us && now_us - asked_us > TCP_QUIET_LEAST_US;
}

static int64_t latest(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

bool tcp_pair_quiet(const struct tcp_pair *p, unsigned side, int64_t now_us, struct tcp_quiet *out)
{
	const struct tcp_side *s = &p->side[side];
	int64_t start;

	if (!tcp_pair_may_be_quiet(p, side, now_us) || p->open == 0 || !is_rhythm_known(s))
		return false;
	/* After trouble the path is well only from its end on; and the called side owes nothing until it is asked. */
	start = latest(s->last_act.us, latest(p->side[TCP_A].trouble_us, p->side[TCP_B].trouble_us));
	if (side == TCP_B)
		start = latest(start, s->asked_us);
	if (!is_too_long(s, now_us - start) || is_in_trouble(p, now_us))
		return false;
	*out = (struct tcp_quiet){ .mark = s->last_act, .side = side, .start_us = start, .end_us = now_us,
				   .kernel_packets = s->kernel_packets, .pending = is_pending(p, side, now_us),
				   .has_spoken = p->side[!side].acted, .spoken_us = p->side[!side].last_act.us };
	/* A server that owes nothing is idle. */
	return side == TCP_A || out->pending;
}

void tcp_pair_restart(struct tcp_pair *p)
{
	for (unsigned side = TCP_A; side <= TCP_B; side++) {
		p->side[side].acted = false;
		p->side[side].heard_us = 0;
		p->side[side].wakes = 0;
		p->side[side].kernel_packets = 0;
		p->side[side].asked_us = 0;
		p->side[side].accepted_us = 0;
		p->side[side].trouble_us = 0;
	}
}
