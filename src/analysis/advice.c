/* SPDX-License-Identifier: MIT */
/* Advice on timeouts, each with the figures that it rests on. See analysis/advice.h and method.md 9. */

#include "analysis/advice.h"

#include <inttypes.h>

/* Kafka's own bounds, where the broker's settings are not in the evidence: 2.3 on, and KIP-848. */
#define GROUP_MAX_SESSION_MS 1800000
#define GROUP_CONSUMER_MAX_SESSION_MS 60000
/* Above the longest handling seen, for the next that is longer. */
#define POLL_MARGIN_PERCENT 20

static bool is_consumer_protocol(const struct group *g)
{
	return sv_eq(g->protocol, SV("consumer"));
}

/* With the consumer group protocol the broker has both settings, for each group (KIP-848). */
static struct sv session_setting(const struct group *g)
{
	return is_consumer_protocol(g) ? SV("consumer.session.timeout.ms") : SV("session.timeout.ms");
}

static struct sv heartbeat_setting(const struct group *g)
{
	return is_consumer_protocol(g) ? SV("consumer.heartbeat.interval.ms") : SV("heartbeat.interval.ms");
}

struct sv advice_seconds(struct arena *a, int64_t ms)
{
	int64_t tenths = ms / 100 + (ms % 100 >= 50);

	return arena_printf(a, "%" PRId64 ".%" PRId64 " s", tenths / 10, tenths % 10);
}

static struct sv times(struct arena *a, size_t n)
{
	return n == 1 ? SV("once") : arena_printf(a, "%zu times", n);
}

static int64_t whole_seconds_up(int64_t ms)
{
	return (ms + 999) / 1000 * 1000;
}

static void note(struct advice_context *ctx, struct sv text)
{
	*ARENA_PUSH(ctx->arena, ctx->out->notes, ctx->out->note_count, ctx->note_capacity) = text;
}

static void advise(struct advice_context *ctx, struct sv setting, bool has_current, int64_t current, int64_t recommended,
		   struct sv reason)
{
	*ARENA_PUSH(ctx->arena, ctx->out->advices, ctx->out->advice_count, ctx->advice_capacity) = (struct advice){
		.setting = setting, .has_current = has_current, .current = current, .recommended = recommended, .reason = reason
	};
}

/* ---- session timeout and heartbeat ---- */

/* The largest median round trip of the paths: what an answer takes on top; the sum is rounded up to seconds. */
static int64_t round_trip_ms(const struct silence_list *list)
{
	int64_t most_us = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct measure *m = list->items[i].window == NULL
						  ? NULL
						  : window_measure(list->items[i].window, MEASURE_RTT_MEDIAN_US);
		if (m != NULL && m->known && m->value > most_us)
			most_us = m->value;
	}
	return (most_us + US_PER_MS - 1) / US_PER_MS;
}

static int64_t upper_ms(const struct silences *s)
{
	return s->p99.known ? s->p99.ms : s->max_ms;
}

bool advice_session_ms(const struct advice_context *ctx, int64_t *ms)
{
	if (ctx->silences->eviction_count == 0)
		return false;
	*ms = whole_seconds_up(upper_ms(&ctx->out->durations) + group_heartbeat_interval_ms(ctx->group) +
			       round_trip_ms(ctx->silences));
	return true;
}

/* How far the figures carry: the quantile that n supports, and what n episodes say of longer ones. */
static struct sv reach_words(struct arena *a, const struct silences *s)
{
	if (s->n == 1)
		return SV("one episode supports no quantile");
	if (s->n < 100)
		return arena_printf(a, "%zu episodes support no quantile above %.0f %%, and up to %.0f %% of episodes may be longer "
				       "(3/n)",
				    s->n, 100 * s->supported_quantile, s->n < 3 ? 100.0 : 300.0 / (double)s->n);
	return arena_printf(a, "%zu episodes", s->n);
}

static struct sv bound_words(const struct advice_context *ctx, int64_t recommended)
{
	if (is_consumer_protocol(ctx->group)) {
		if (recommended > GROUP_CONSUMER_MAX_SESSION_MS)
			return SV("; it is a setting of the group on the broker (KIP-848), above the default "
				  "group.consumer.max.session.timeout.ms of 60000, which must be raised first");
		return SV("; it is a setting of the group on the broker (KIP-848), the client has none");
	}
	if (recommended > GROUP_MAX_SESSION_MS)
		return SV("; above the default group.max.session.timeout.ms of 1800000, which must be raised first");
	return SV("");
}

static void advise_session(struct advice_context *ctx, int64_t recommended)
{
	const struct silences *d = &ctx->out->durations;
	int64_t current = group_session_timeout_ms(ctx->group), heartbeat = group_heartbeat_interval_ms(ctx->group);
	struct arena *a = ctx->arena;

	if (recommended <= current) {
		note(ctx, arena_printf(a, "%.*s stays at %" PRId64 ": the silences seen speak for %" PRId64 " at most.",
				       SV_ARG(session_setting(ctx->group)), current, recommended));
		return;
	}
	advise(ctx, session_setting(ctx->group), ctx->group->session_timeout_ms.known || is_consumer_protocol(ctx->group), current,
	       recommended,
	       arena_printf(a, "living members were evicted by silences of the network, %.*s; %s %.*s, with one heartbeat interval "
			       "of %.*s and the round trip that makes %" PRId64 " ms in whole seconds; %.*s%s; the price: a crash is "
			       "noticed after up to %.*s instead of %.*s, with the backlog of that time%.*s",
			    SV_ARG(times(a, ctx->silences->eviction_count)), d->p99.known && d->n >= 100 ? "the P99 of the silences is"
							: "the longest silence, which stands for the P99 of so few, was",
			    SV_ARG(advice_seconds(a, upper_ms(d))), SV_ARG(advice_seconds(a, heartbeat)), recommended, SV_ARG(reach_words(a, d)),
			    d->censored > 0 ? ", some of them cut short, so that the true figure is higher" : "",
			    SV_ARG(advice_seconds(a, recommended)), SV_ARG(advice_seconds(a, current)),
			    SV_ARG(bound_words(ctx, recommended))));
}

/* At least three heartbeats in a session. */
static void advise_heartbeat(struct advice_context *ctx, int64_t session_ms)
{
	int64_t current = group_heartbeat_interval_ms(ctx->group), third = session_ms / 3;

	if (current <= third)
		return;
	advise(ctx, heartbeat_setting(ctx->group), ctx->group->heartbeat_interval_ms.known || is_consumer_protocol(ctx->group),
	       current, third >= 1000 ? third / 1000 * 1000 : third,
	       arena_printf(ctx->arena, "at most a third of the session timeout of %" PRId64 " ms, so that two lost heartbeats do not "
					"end it (it rests on Kafka's rule, on no episode)",
			    session_ms));
}

static void note_backoff(struct advice_context *ctx)
{
	int64_t silence_ms = 0, outage_ms = 0;
	size_t n = 0;

	for (size_t i = 0; i < ctx->silences->count; i++) {
		const struct silence *s = &ctx->silences->items[i];
		if (!s->has_outage)
			continue;
		silence_ms = amount_add(silence_ms, s->ms);
		outage_ms = amount_add(outage_ms, s->outage_ms);
		n++;
	}
	if (n == 0 || silence_ms <= outage_ms)
		return;
	note(ctx, arena_printf(ctx->arena, "Of %.*s of silence (%zu episodes) the path was gone for %.*s; the other %.*s (%" PRId64
					   " %%) are the wait for the next heartbeat and TCP's backoff, which a shorter request.timeout.ms or "
					   "TCP_USER_TIMEOUT cuts without a longer session.",
			       SV_ARG(advice_seconds(ctx->arena, silence_ms)), n, SV_ARG(advice_seconds(ctx->arena, outage_ms)),
			       SV_ARG(advice_seconds(ctx->arena, silence_ms - outage_ms)),
			       (silence_ms - outage_ms) / (silence_ms / 100 > 0 ? silence_ms / 100 : 1)));
}

void advise_timeouts(struct advice_context *ctx)
{
	int64_t recommended, session = group_session_timeout_ms(ctx->group);

	if (!advice_session_ms(ctx, &recommended)) {
		note(ctx, arena_printf(ctx->arena, "%.*s: no advice. No eviction of a living member by silence on the network was "
						   "observed.",
				       SV_ARG(session_setting(ctx->group))));
		return;
	}
	advise_session(ctx, recommended);
	advise_heartbeat(ctx, recommended > session ? recommended : session);
	note_backoff(ctx);
}

/* ---- poll interval ---- */

static bool is_consumer_of(const struct rebalance *r, struct sv consumer)
{
	return !sv_is_absent(consumer) && (sv_eq(consumer, r->host) || sv_eq(consumer, r->client) || sv_eq(consumer, r->member));
}

/*
 * How long the handler really took. The client gives up max.poll.interval.ms
 * after its last poll; the next step that the same consumer finishes afterwards
 * ends the stall, or comes before its end. False when it finishes none within
 * another such interval.
 */
static bool overrun_ms(const struct advice_context *ctx, const struct rebalance *r, int64_t *ms)
{
	int64_t interval = group_max_poll_interval_ms(ctx->group);

	for (size_t i = 0; i < ctx->effects->attempt_count; i++) {
		const struct attempt *t = &ctx->effects->attempts[i];
		if (t->time.us < r->trigger_time.us || !is_consumer_of(r, t->consumer))
			continue;
		if (t->time.us - r->trigger_time.us > interval * US_PER_MS)
			return false;
		*ms = interval + (t->time.us - r->trigger_time.us) / US_PER_MS;
		return true;
	}
	return false;
}

static void advise_interval(struct advice_context *ctx, size_t overruns, size_t measured, int64_t longest_ms)
{
	struct arena *a = ctx->arena;
	int64_t current = group_max_poll_interval_ms(ctx->group);

	advise(ctx, SV("max.poll.interval.ms"), ctx->group->max_poll_interval_ms.known, current,
	       whole_seconds_up(longest_ms + longest_ms / 100 * POLL_MARGIN_PERCENT),
	       arena_printf(a, "a handler overran it, %.*s; the longest of the %zu that the side effects time took at least %.*s between two polls, and %d %% margin; or a smaller max.poll.records, if the time goes "
			       "to many records and not to one",
			    SV_ARG(times(a, overruns)), measured, SV_ARG(advice_seconds(a, longest_ms)), POLL_MARGIN_PERCENT));
}

void advise_poll_interval(struct advice_context *ctx)
{
	size_t overruns = 0, measured = 0;
	int64_t longest_ms = 0, ms;

	for (size_t i = 0; i < ctx->rebalances->count; i++) {
		const struct rebalance *r = &ctx->rebalances->items[i];
		if (!r->is_root || r->trigger != TRIGGER_POLL_TIMEOUT || !sv_eq(r->group, ctx->group->name))
			continue;
		overruns++;
		if (!overrun_ms(ctx, r, &ms))
			continue;
		measured++;
		longest_ms = ms > longest_ms ? ms : longest_ms;
	}
	if (measured > 0)
		advise_interval(ctx, overruns, measured, longest_ms);
	else if (overruns > 0)
		note(ctx, arena_printf(ctx->arena, "max.poll.interval.ms: a handler overran it, %.*s, and nothing tells by how much. Missing: the "
						   "time between polls (the consumer's metric time-between-poll-max, or side effects with "
						   "their consumer).",
				       SV_ARG(times(ctx->arena, overruns))));
}

/* ---- what speaks for no timeout ---- */

static int64_t longest_pause_ms(const struct rebalance *r)
{
	int64_t longest = 0;

	for (size_t i = 0; i < r->pause_count; i++) {
		int64_t ms = span_length_us(r->pauses[i]->span) / US_PER_MS;
		longest = ms > longest ? ms : longest;
	}
	return longest;
}

static void note_pauses(struct advice_context *ctx)
{
	size_t paused = 0;
	int64_t longest = 0;

	for (size_t i = 0; i < ctx->rebalances->count; i++) {
		const struct rebalance *r = &ctx->rebalances->items[i];
		if (!r->is_root || r->trigger != TRIGGER_SESSION_TIMEOUT || !sv_eq(r->group, ctx->group->name) ||
		    r->pause_count == 0 || rebalance_is_network_eviction(r, ctx->group))
			continue;
		paused++;
		if (longest_pause_ms(r) > longest)
			longest = longest_pause_ms(r);
	}
	if (paused > 0)
		note(ctx, arena_printf(ctx->arena, "Evictions that fell into a pause of the process or the broker, up to %.*s long: %zu. Look for "
						   "garbage collection, CPU limits or suspension there; no timeout is advised from them.",
				       SV_ARG(advice_seconds(ctx->arena, longest)), paused));
}

void note_other_causes(struct advice_context *ctx)
{
	static const unsigned ordinary = 1U << TRIGGER_MEMBER_LEAVE | 1U << TRIGGER_MEMBER_JOIN | 1U << TRIGGER_METADATA_CHANGE |
					 1U << TRIGGER_SUBSCRIPTION_CHANGE | 1U << TRIGGER_ADMIN_REMOVAL;
	size_t count = 0, unobserved = 0;

	note_pauses(ctx);
	for (size_t i = 0; i < ctx->rebalances->count; i++) {
		const struct rebalance *r = &ctx->rebalances->items[i];
		if (!r->is_root || !sv_eq(r->group, ctx->group->name))
			continue;
		count += (ordinary & 1U << r->trigger) != 0;
		unobserved += r->trigger == TRIGGER_SESSION_TIMEOUT && r->attribution == ATTRIBUTION_UNOBSERVED;
	}
	if (unobserved > 0)
		note(ctx, arena_printf(ctx->arena, "Evictions by session timeout that no evidence of the network covers: %zu. They speak for "
						   "nothing.",
				       unobserved));
	if (count > 0)
		note(ctx, arena_printf(ctx->arena, "Root rebalances that were joins, leaves or changes of topics: %zu. No timeout prevents them.",
				       count));
}
