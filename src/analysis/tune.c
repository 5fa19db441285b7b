/* SPDX-License-Identifier: MIT */
/*
 * The silences summed up, and each candidate session timeout replayed against
 * them. Advice stands in advice.c, the dedupe record's life in ttl.c. See
 * analysis/tune.h and method.md 9.
 */

#include "analysis/tune.h"

#include <string.h>

#include "analysis/advice.h"
#include "analysis/silence.h"
#include "base/order.h"

/* Round figures from Kafka's least to above its default; the current and the advised one are added. */
static const int64_t ladder_ms[] = { 6000, 10000, 15000, 20000, 30000, 45000, 60000 };
#define LADDER_COUNT (sizeof ladder_ms / sizeof ladder_ms[0])

/* ---- the group ---- */

struct tally {
	size_t evictions, roots;	/* by the network; all */
};

/* For each group. */
static struct tally *tally_roots(const struct groups *g, const struct rebalances *r, struct arena *a)
{
	struct tally *tallies = arena_array(a, g->count, sizeof *tallies);

	for (size_t i = 0; i < r->count; i++) {
		const struct group *group = groups_get(g, r->items[i].group);

		if (group == NULL)
			continue;
		tallies[group - g->items].evictions += rebalance_is_network_eviction(&r->items[i], group);
		tallies[group - g->items].roots += r->items[i].is_root;
	}
	return tallies;
}

static bool is_more(const struct tally *x, const struct tally *y)
{
	return x->evictions != y->evictions ? x->evictions > y->evictions : x->roots > y->roots;
}

/* The user's; else the one with most evictions by the network, then with most rebalances, then the first by name. */
static const struct group *choose_group(const struct groups *g, const struct rebalances *r, const struct analysis_options *o,
					struct arena *a)
{
	const struct tally *tallies;
	size_t best = 0;

	if (!sv_is_absent(o->group))
		return groups_get(g, o->group);
	tallies = tally_roots(g, r, a);
	for (size_t i = 1; i < g->count; i++) {
		if (is_more(&tallies[i], &tallies[best]))
			best = i;
	}
	return g->count > 0 ? &g->items[best] : NULL;
}

/* ---- durations ---- */

static void summarise(const struct silence_list *list, struct arena *a, struct tuning *out)
{
	struct duration *silences = arena_array(a, list->count, sizeof *silences);
	struct duration *outages = arena_array(a, list->count, sizeof *outages);
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct silence *s = &list->items[i];
		silences[i] = (struct duration){ s->ms, s->censored };
		if (s->has_outage)
			outages[n++] = (struct duration){ s->outage_ms, s->censored };
	}
	out->durations = survival_summary(silences, list->count);
	out->outages = survival_summary(outages, n);
}

/* ---- candidates ---- */

struct replay {
	const struct group *group;
	const struct rebalances *rebalances;
	const struct side_effects *effects;
	const struct silence_list *silences;
	struct arena *arena;
	bool *avoided_root;		/* by id: it would not have been, nor what follows from it */
	const struct duplicate **spared;	/* room for all duplicates */
};

/* One that was cut short may have lasted for any time: it evicts under every timeout. */
static bool evicts(const struct silence *s, int64_t session_ms)
{
	return s->ms >= session_ms || (s->censored && s->evicted);
}

static size_t count_evictions(const struct replay *r, int64_t session_ms)
{
	size_t count = 0;

	for (size_t i = 0; i < r->silences->eviction_count; i++)
		count += evicts(&r->silences->items[r->silences->evictions[i].silence], session_ms);
	/* A silence that the timeout in force survived, a longer one survives: a commit got through, or another connection. */
	if (session_ms >= group_session_timeout_ms(r->group) && r->rebalances->count > 0)
		return count;
	for (size_t i = 0; i < r->silences->count; i++)
		count += !r->silences->items[i].evicted && evicts(&r->silences->items[i], session_ms);
	return count;
}

static size_t avoid_rebalances(struct replay *r, int64_t session_ms)
{
	size_t count = 0;

	memset(r->avoided_root, 0, (r->rebalances->count + 1) * sizeof *r->avoided_root);
	for (size_t i = 0; i < r->silences->eviction_count; i++) {
		const struct eviction *e = &r->silences->evictions[i];
		if (!evicts(&r->silences->items[e->silence], session_ms))
			r->avoided_root[e->root->id] = true;
	}
	for (size_t i = 0; i < r->rebalances->count; i++)
		count += r->avoided_root[r->rebalances->items[i].root];
	return count;
}

static void spare_duplicates(struct replay *r, struct candidate *c)
{
	const struct side_effects *e = r->effects;

	for (size_t i = 0; i < e->duplicate_count; i++) {
		const struct rebalance *by = rebalances_get(r->rebalances, e->duplicates[i].rebalance);
		if (by != NULL && r->avoided_root[by->root])
			r->spared[c->duplicates_avoided++] = &e->duplicates[i];
	}
	duplicates_amounts(r->spared, c->duplicates_avoided, r->arena, &c->amounts_avoided, &c->amount_count);
}

static struct candidate replay_candidate(struct replay *r, int64_t session_ms)
{
	int64_t current = group_session_timeout_ms(r->group), heartbeat = group_heartbeat_interval_ms(r->group);
	struct candidate c = { .session_timeout_ms = session_ms, .is_current = session_ms == current, .detection_ms = session_ms };

	/* A shorter session comes with a shorter heartbeat: at most a third of it. */
	if (heartbeat > session_ms / 3)
		heartbeat = session_ms / 3;
	c.detection_mean_ms = session_ms - heartbeat / 2;
	c.evictions = count_evictions(r, session_ms);
	c.rebalances_avoided = avoid_rebalances(r, session_ms);
	spare_duplicates(r, &c);
	return c;
}

/* Sorted, each once. */
static size_t choose_candidates(const struct advice_context *ctx, int64_t *ms)
{
	const struct analysis_options *o = ctx->options;
	size_t n = 0;

	for (size_t i = 0; i < o->session_timeout_count; i++)
		if (o->session_timeouts_ms[i] > 0)
			ms[n++] = o->session_timeouts_ms[i];
	for (size_t i = 0; o->session_timeout_count == 0 && i < LADDER_COUNT; i++)
		ms[n++] = ladder_ms[i];
	ms[n++] = group_session_timeout_ms(ctx->group);
	if (advice_session_ms(ctx, &ms[n]))
		n++;
	return order_unique(ms, n, sizeof *ms, order_i64_items);
}

static void replay_candidates(const struct advice_context *ctx)
{
	struct arena *a = ctx->arena;
	struct replay r = { .group = ctx->group, .rebalances = ctx->rebalances, .effects = ctx->effects,
			    .silences = ctx->silences, .arena = a };
	int64_t *ms = arena_array(a, ctx->options->session_timeout_count + LADDER_COUNT + 2, sizeof *ms);
	size_t n = choose_candidates(ctx, ms);

	r.avoided_root = arena_array(a, ctx->rebalances->count + 1, sizeof *r.avoided_root);
	r.spared = arena_array(a, ctx->effects->duplicate_count + 1, sizeof(const struct duplicate *));
	ctx->out->candidates = arena_array(a, n, sizeof *ctx->out->candidates);
	for (size_t i = 0; i < n; i++)
		ctx->out->candidates[ctx->out->candidate_count++] = replay_candidate(&r, ms[i]);
}

/* ---- all together ---- */

int tune_find(const struct groups *g, const struct windows *w, const struct rebalances *r, const struct share *sh,
	      const struct side_effects *e, const struct idempotency *i, const struct analysis_options *o, struct arena *a,
	      struct tuning *out)
{
	static const struct group no_group;
	const struct group *group = choose_group(g, r, o, a);
	struct silence_list silences;
	struct advice_context ctx = { .group = group != NULL ? group : &no_group, .rebalances = r, .effects = e,
				      .idempotency = i, .silences = &silences, .options = o, .arena = a, .out = out };

	(void)sh;
	*out = (struct tuning){ .group = ctx.group->name };
	silences_find(ctx.group, w, r, a, &silences);
	summarise(&silences, a, out);
	if (silences.count > 0)
		replay_candidates(&ctx);
	if (group != NULL) {
		advise_timeouts(&ctx);
		advise_poll_interval(&ctx);
		note_other_causes(&ctx);
	}
	advise_ttl(&ctx);
	return 0;
}
