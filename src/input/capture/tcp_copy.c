/* SPDX-License-Identifier: MIT */
/* Segments in, whether each is a copy out. */

#include "input/capture/tcp_copy.h"

#include <string.h>

/* With an IP identification: well under the least retransmission timeout (method.md 3). */
#define COPY_WITH_ID_US (20 * US_PER_MS)
/*
 * Without one (IPv6, or IPv4 with 0, as Linux sends with "don't fragment" on
 * some packets) nothing tells a copy from the same sent again but the time.
 */
#define COPY_WITHOUT_ID_US (1 * US_PER_MS)

/* Neither the time to live nor the domain: a router's capture of both its sides shows one packet twice. */
static uint64_t digest_of(const struct segment *s, uint64_t h)
{
	uint64_t ports = (uint64_t)s->source_port << 48 | (uint64_t)s->destination_port << 32;

	h ^= ((uint64_t)s->sequence << 32 | s->acknowledgment) * UINT64_C(0xbf58476d1ce4e5b9);
	h += (ports | (uint64_t)s->flags << 16 | s->window) * UINT64_C(0x94d049bb133111eb);
	h ^= ((uint64_t)s->payload_bytes << 32 | s->payload_digest) * UINT64_C(0xd6e8feb86659fd93);
	h += ((uint64_t)s->ip_version << 32 | (s->has_ip_id ? s->ip_id : 0U)) * UINT64_C(0xff51afd7ed558ccd);
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

void tcp_copies_alias(struct tcp_copies *c, uint64_t domain, uint64_t is)
{
	domain = tcp_copies_domain(c, domain);
	is = tcp_copies_domain(c, is);
	if (c->alias_count == TCP_ALIASES_MAX || domain == is)
		return;
	c->alias[c->alias_count].domain = domain;
	c->alias[c->alias_count++].is = is;
}

/* Apart from the rest, since most captures have but one. */
static void see_domain(struct tcp_copies *c, size_t at, uint64_t domain, bool is_copy)
{
	c->has_domains = c->has_domains || domain != 0;
	if (!c->has_domains)
		return;
	if (is_copy && c->domain[at] != domain)
		tcp_copies_alias(c, domain, c->domain[at]);
	if (!is_copy)
		c->domain[at] = tcp_copies_domain(c, domain);
}

bool tcp_copies_see(struct tcp_copies *c, const struct segment *s, uint64_t hash, int64_t now_us)
{
	uint64_t digest = digest_of(s, hash);
	size_t at = (size_t)(digest % TCP_COPY_SLOTS);
	int64_t limit_us = s->has_ip_id && s->ip_id != 0 ? COPY_WITH_ID_US : COPY_WITHOUT_ID_US;
	bool is_copy = c->slot[at].us != 0 && c->slot[at].digest == digest && now_us - c->slot[at].us <= limit_us;

	see_domain(c, at, s->domain, is_copy);
	c->slot[at].digest = digest;
	c->slot[at].us = now_us;
	return is_copy;
}

uint64_t tcp_copies_domain(const struct tcp_copies *c, uint64_t domain)
{
	/* What an alias stands for became one later than the alias, if it did. */
	for (unsigned i = 0; i < c->alias_count; i++)
		if (c->alias[i].domain == domain)
			domain = c->alias[i].is;
	return domain;
}

void tcp_copies_forget(struct tcp_copies *c)
{
	memset(c->slot, 0, sizeof c->slot);
	memset(c->domain, 0, sizeof c->domain);
}
