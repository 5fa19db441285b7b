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

bool tcp_copies_see(struct tcp_copies *c, const struct segment *s, uint64_t digest, int64_t now_us)
{
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
