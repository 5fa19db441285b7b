/* SPDX-License-Identifier: MIT */
/* Why an effect came a second time. See analysis/cause.h and method.md 7. */

#include "analysis/cause.h"

#include <assert.h>

#include "analysis/rebalance_index.h"

/* So many earlier effects are looked at, the last ones and the first: a hostile input may have any number. */
#define EARLIER_MAX 16
/* Rebalances and effects are timed by different clocks and logs. */
#define TIME_SLACK_US US_PER_S

static const char *const cause_names[CAUSE_COUNT] = {
	[CAUSE_PROVEN] = "proven",	[CAUSE_STRONG] = "strong",	 [CAUSE_WEAK] = "weak",
	[CAUSE_UPSTREAM] = "upstream",	[CAUSE_UNRELATED] = "unrelated",
};

const char *cause_name(enum cause c)
{
	assert(c < CAUSE_COUNT);
	return cause_names[c];
}

static const struct cause_link unrelated = { .cause = CAUSE_UNRELATED };

/*
 * A rebalance brings back at most what was processed since the last commit, at
 * the longest one batch, and the new owner works it off as one: each within
 * max.poll.interval.ms, the first before the silence that led to the eviction.
 */
static bool could_bring_back(const struct cause_context *ctx, const struct rebalance *r, const struct attempt *first,
			     const struct attempt *second)
{
	static const struct group no_settings;
	const struct group *known = groups_get(ctx->groups, r->group), *group = known != NULL ? known : &no_settings;
	int64_t batch_us = group_max_poll_interval_ms(group) * US_PER_MS;
	int64_t before_us = batch_us + group_session_timeout_ms(group) * US_PER_MS;

	return r->span.end.us > first->time.us && r->span.end.us <= second->time.us + TIME_SLACK_US &&
	       second->time.us - r->span.end.us <= batch_us && r->span.start.us - first->time.us <= before_us;
}

int64_t cause_longest_batch_us(const struct groups *g)
{
	int64_t ms = group_max_poll_interval_ms(&(struct group){ 0 });

	for (size_t i = 0; i < g->count; i++) {
		int64_t of_group = group_max_poll_interval_ms(&g->items[i]);
		ms = of_group > ms ? of_group : ms;
	}
	return ms * US_PER_MS;
}

/* The latest to end; among those that end at once the last. Those that ended before the first effect follow from none. */
static const struct rebalance *rebalance_between(const struct cause_context *ctx, const struct attempt *first,
						 const struct attempt *second)
{
	for (size_t n = rebalances_ended(ctx->rebalances, (struct ref_time){ second->time.us + TIME_SLACK_US }); n > 0; n--) {
		const struct rebalance *r = ctx->rebalances->index->by_end[n - 1];
		if (r->span.end.us <= first->time.us || second->time.us - r->span.end.us > ctx->longest_batch_us)
			break;
		if (!r->empties_group && could_bring_back(ctx, r, first, second))
			return r;
	}
	return NULL;
}

static bool was_given_partitions(const struct cause_context *ctx, const struct rebalance *r, const struct attempt *t)
{
	if (sv_is_absent(t->consumer))
		return false;
	return grants_gave(ctx->grants, r->id, t->consumer);
}

/* Where coordinates are not known. */
static struct cause_link by_time(const struct cause_context *ctx, const struct attempt *first, const struct attempt *second)
{
	const struct rebalance *r = rebalance_between(ctx, first, second);

	if (r == NULL)
		return unrelated;
	return (struct cause_link){ .cause = was_given_partitions(ctx, r, second) ? CAUSE_STRONG : CAUSE_WEAK,
				    .rebalance = r->id };
}

/* The same topic, partition and offset. The later given pass is the redelivered one, whichever acted first. */
static struct cause_link by_passes(const struct cause_context *ctx, const struct attempt *x, const struct attempt *y)
{
	size_t px = ctx->attempts->runs[x->run].pass, py = ctx->attempts->runs[y->run].pass;
	const struct pass *later = &ctx->redeliveries->passes[px > py ? px : py];
	struct cause_link link = { .rebalance = later->rebalance, .redelivery = later->redelivery };

	if (px == py)
		return unrelated;
	if (later->rebalance != 0)
		link.cause = CAUSE_PROVEN;
	else if (later->grant != NULL || !sv_eq(x->consumer, y->consumer))
		link.cause = CAUSE_STRONG;
	else
		link.cause = CAUSE_UNRELATED;
	return link;
}

static struct cause_link same_message(const struct cause_context *ctx, const struct attempt *x, const struct attempt *y)
{
	struct cause_link link;

	if (x->has_offset && y->has_offset)
		return by_passes(ctx, x, y);
	link = by_time(ctx, x, y);
	/* One message in two consumers' hands was delivered twice, whatever the logs lack. */
	if (!sv_is_absent(x->consumer) && !sv_is_absent(y->consumer) && !sv_eq(x->consumer, y->consumer))
		link.cause = CAUSE_STRONG;
	return link;
}

/* An earlier effect of the same message says more than one of another, and that more than the clock. */
enum relation { RELATION_UNKNOWN, RELATION_OTHER_MESSAGE, RELATION_SAME_MESSAGE };

static struct cause_link link_of(const struct cause_context *ctx, const struct attempt *x, const struct attempt *y,
				 enum relation *relation)
{
	bool known;

	if (attempt_same_message(x, y, &known)) {
		*relation = RELATION_SAME_MESSAGE;
		return same_message(ctx, x, y);
	}
	if (known) {
		*relation = RELATION_OTHER_MESSAGE;
		return (struct cause_link){ .cause = CAUSE_UPSTREAM };
	}
	*relation = RELATION_UNKNOWN;
	return by_time(ctx, x, y);
}

struct cause_link cause_of(const struct cause_context *ctx, const struct attempt *const *effects, size_t at)
{
	struct cause_link best = unrelated;
	enum relation best_relation = RELATION_UNKNOWN;

	assert(at > 0);
	for (size_t back = 1; back <= at; back++) {
		enum relation relation;
		const struct attempt *earlier = effects[back <= EARLIER_MAX ? at - back : 0];
		struct cause_link link = link_of(ctx, earlier, effects[at], &relation);
		if (relation > best_relation || (relation == best_relation && link.cause < best.cause)) {
			best = link;
			best_relation = relation;
		}
		if (back > EARLIER_MAX)
			break;
	}
	return best;
}
