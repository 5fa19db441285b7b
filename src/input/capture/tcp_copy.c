/* SPDX-License-Identifier: MIT */
/* Domains that are one; see the header. */

#include "input/capture/tcp_copy.h"

#include <string.h>

void tcp_copies_alias(struct tcp_copies *c, uint64_t domain, uint64_t is)
{
	domain = tcp_copies_domain(c, domain);
	is = tcp_copies_domain(c, is);
	if (c->alias_count == TCP_ALIASES_MAX || domain == is)
		return;
	c->alias[c->alias_count].domain = domain;
	c->alias[c->alias_count++].is = is;
}

void tcp_copies_see_domain(struct tcp_copies *c, size_t at, uint64_t domain, bool is_copy)
{
	c->has_domains = true;
	if (is_copy && c->domain[at] != domain)
		tcp_copies_alias(c, domain, c->domain[at]);
	if (!is_copy)
		c->domain[at] = tcp_copies_domain(c, domain);
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
