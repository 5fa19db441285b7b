/* SPDX-License-Identifier: MIT */
/* How long a dedupe record must live (method.md 9). */

#include "analysis/advice.h"

#include <inttypes.h>

/* Too short a time to take a rate from. */
#define RATE_LEAST_US (60 * US_PER_S)

static int64_t longest_redelivery_us(const struct advice_context *ctx)
{
	int64_t longest = ctx->idempotency->has_longest_gap ? ctx->idempotency->longest_gap_us : 0;

	for (size_t i = 0; i < ctx->effects->redelivery_count; i++)
		if (ctx->effects->redeliveries[i].longest_gap_us > longest)
			longest = ctx->effects->redeliveries[i].longest_gap_us;
	return longest;
}

/* Kafka lets a rebalance last as long as the slowest member may take to its next poll; one that was seen tells better. */
static int64_t rebalance_us(const struct advice_context *ctx, bool *seen)
{
	int64_t longest = 0;

	*seen = false;
	for (size_t i = 0; i < ctx->rebalances->count; i++) {
		const struct rebalance *r = &ctx->rebalances->items[i];
		if (!sv_eq(r->group, ctx->group->name))
			continue;
		*seen = true;
		if (span_length_us(r->span) > longest)
			longest = span_length_us(r->span);
	}
	return *seen ? longest : group_max_poll_interval_ms(ctx->group) * US_PER_MS;
}

static void estimate_storage(const struct advice_context *ctx, struct ttl_advice *ttl)
{
	const struct side_effects *e = ctx->effects;
	int64_t observed_us = e->attempt_count == 0 ? 0
						    : e->attempts[e->attempt_count - 1].time.us - e->attempts[0].time.us;

	ttl->has_storage = observed_us >= RATE_LEAST_US;
	if (ttl->has_storage)
		ttl->records_per_day = (int64_t)((double)e->intents * 86400.0 * (double)US_PER_S / (double)observed_us);
}

static struct sv duration_words(struct arena *a, int64_t us)
{
	int64_t s = us / US_PER_S;

	if (s >= 2 * 86400 && s % 86400 == 0)
		return arena_printf(a, "%" PRId64 " days", s / 86400);
	return advice_seconds(a, us / US_PER_MS);
}

static struct sv period_words(struct arena *a, const char *name, bool known, int64_t us)
{
	if (!known)
		return arena_printf(a, "%s not given", name);
	return arena_printf(a, "%s %.*s", name, SV_ARG(duration_words(a, us)));
}

static struct sv reason_of(const struct advice_context *ctx, const struct ttl_advice *ttl, int64_t rebalance, bool seen)
{
	struct arena *a = ctx->arena;
	bool redelivery_alone = !ttl->has_reconciliation || !ttl->has_confirmation;

	return arena_printf(a, "the longest of: %s (%.*s seen, %zu ranges of offsets), Kafka's bound %.*s (max.poll.interval.ms %" PRId64
			       " + session timeout %" PRId64 " + rebalance %.*s%s), %.*s, %.*s; and %d %% margin%s",
			    "time to an attempt repeated", SV_ARG(duration_words(a, ttl->redelivery_seen_us)),
			    ctx->effects->redelivery_count, SV_ARG(duration_words(a, ttl->redelivery_bound_us)),
			    group_max_poll_interval_ms(ctx->group), group_session_timeout_ms(ctx->group),
			    SV_ARG(duration_words(a, rebalance)), seen ? ", the longest seen" : ", none was seen",
			    SV_ARG(period_words(a, "reconciliation", ttl->has_reconciliation, ttl->reconciliation_us)),
			    SV_ARG(period_words(a, "downstream confirmation", ttl->has_confirmation, ttl->confirmation_us)),
			    ctx->options->ttl_margin_percent,
			    redelivery_alone ? "; what was not given is not covered, and is often weeks: without it the figure holds for "
					       "redelivery alone"
					     : "");
}

static int64_t larger(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

void advise_ttl(struct advice_context *ctx)
{
	struct ttl_advice *ttl = &ctx->out->ttl;
	const struct analysis_options *o = ctx->options;
	bool seen;
	int64_t rebalance = rebalance_us(ctx, &seen), longest;

	if (ctx->effects->records == 0 && ctx->rebalances->count == 0)
		return;
	*ttl = (struct ttl_advice){ .known = true, .has_reconciliation = o->has_reconciliation,
				    .has_confirmation = o->has_confirmation, .reconciliation_us = o->reconciliation_us,
				    .confirmation_us = o->confirmation_us };
	ttl->redelivery_seen_us = longest_redelivery_us(ctx);
	ttl->redelivery_bound_us = rebalance + (group_max_poll_interval_ms(ctx->group) + group_session_timeout_ms(ctx->group)) * US_PER_MS;
	longest = larger(ttl->redelivery_seen_us, ttl->redelivery_bound_us);
	longest = larger(longest, o->has_reconciliation ? o->reconciliation_us : 0);
	longest = larger(longest, o->has_confirmation ? o->confirmation_us : 0);
	/* In whole seconds: a store takes no less. */
	longest = (longest + US_PER_S - 1) / US_PER_S * US_PER_S;
	ttl->margin_us = (longest / 100 * o->ttl_margin_percent + US_PER_S - 1) / US_PER_S * US_PER_S;
	ttl->recommended_us = longest + ttl->margin_us;
	estimate_storage(ctx, ttl);
	ttl->reason = reason_of(ctx, ttl, rebalance, seen);
}
