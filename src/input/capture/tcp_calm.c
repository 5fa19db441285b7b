/* SPDX-License-Identifier: MIT */
/* See input/capture/tcp_calm.h. */

#include "input/capture/tcp_calm.h"

#include <stdlib.h>

#include "input/capture/tcp_conn.h"

/* Below this no threshold of a delay stands (threshold.def, delay-least-ms). */
#define ORDINARY_US (20 * US_PER_MS)
/* Beyond, a round trip is ordinary up to so many times the path's median; three times make a delay. */
#define ORDINARY_MEDIANS 2
/* Medians are alike that differ by no more than this, or than a part of them. */
#define ALIKE_US 500
#define ALIKE_PART 8

/* ---- when others have trouble ---- */

void tcp_calm_resent(struct tcp_pair *p, int64_t second)
{
	if (p->resents > 0 && p->resent_second[(p->resents - 1) % TCP_RESENTS_KEPT] == second)
		return;
	p->resent_second[p->resents % TCP_RESENTS_KEPT] = second;
	p->resents++;
}

/* True also when it is too long ago to be known. */
static bool may_have_resent(const struct tcp_pair *p, int64_t second)
{
	const unsigned kept = p->resents < TCP_RESENTS_KEPT ? p->resents : TCP_RESENTS_KEPT;

	for (unsigned i = 0; i < kept; i++)
		if (p->resent_second[i] == second)
			return true;
	return p->resents > TCP_RESENTS_KEPT && p->resent_second[p->resents % TCP_RESENTS_KEPT] > second;
}

/* ---- seconds ---- */

static bool is_ordinary(const struct tcp_flow *f)
{
	int64_t us = tcp_samples_median_us(&f->now.rtt);

	return us <= ORDINARY_US || us <= ORDINARY_MEDIANS * tcp_median_us(&f->conn->pair->side[f->side].rtt);
}

bool tcp_calm_is(const struct tcp_flow *f)
{
	const struct tcp_second *s = &f->now;

	return s->retransmits == 0 && s->timeouts == 0 && s->needless == 0 && !may_have_resent(f->conn->pair, s->second) &&
	       is_ordinary(f);
}

static bool is_alike(const struct tcp_calm *c, const struct tcp_samples *rtt)
{
	int64_t usual, us;

	if (rtt->total == 0 || c->medians == 0)
		return true;
	usual = c->median_us[0];
	us = tcp_samples_median_us(rtt);
	return llabs(us - usual) <= (usual / ALIKE_PART > ALIKE_US ? usual / ALIKE_PART : ALIKE_US);
}

static bool has_resent_since(const struct tcp_pair *p, int64_t second)
{
	return p->resents > 0 && p->resent_second[(p->resents - 1) % TCP_RESENTS_KEPT] > second;
}

bool tcp_calm_joins(const struct tcp_flow *f)
{
	const struct tcp_calm *c = &f->calm;

	return c->count == 0 || (f->now.second - c->first < TCP_CALM_SECONDS && is_alike(c, &f->now.rtt) &&
				 !has_resent_since(f->conn->pair, c->last));
}

void tcp_calm_add(struct tcp_flow *f)
{
	const struct tcp_second *s = &f->now;
	struct tcp_calm *c = &f->calm;

	if (c->count == 0)
		*c = (struct tcp_calm){ .first = s->second, .mark = s->mark };
	c->count++;
	c->last = s->second;
	c->segments += s->segments;
	c->bytes += s->bytes;
	if (s->rtt.total == 0)
		return;
	if (c->medians == 0 || s->rtt.min_us < c->min_us)
		c->min_us = s->rtt.min_us;
	if (s->rtt.max_us > c->max_us)
		c->max_us = s->rtt.max_us;
	c->rtts += s->rtt.total;
	c->median_us[c->medians++] = (uint32_t)tcp_samples_median_us(&s->rtt);
}

_Static_assert(TCP_CALM_SECONDS <= TCP_SAMPLES_KEPT, "tcp_median_of takes all of them");

int64_t tcp_calm_median_us(const struct tcp_calm *c)
{
	return tcp_median_of(c->median_us, c->medians);
}
