/* SPDX-License-Identifier: MIT */
/*
 * Attribution of each rebalance, and the shares (method.md 5, 6).
 *
 * Observed: jitter evidence covers the exposure but for at most two heartbeat
 * intervals, the slack that "explained" has as well; for a rebalance that the
 * network cannot cause, its trigger's time. So is one that a jitter window meets,
 * whatever told of it, but it does not count: the denominator is the covered roots.
 */

#include "analysis/share.h"

#include <string.h>

#include "analysis/chance.h"
#include "analysis/exposure.h"
#include "analysis/sentence.h"
#include "analysis/verdict.h"

/* Linux' least retransmission timeout, which a short path has (kafka-group-semantics.md 4.2). */
#define RTO_US (200 * US_PER_MS)

/* One rebalance under judgement. */
struct judged {
	struct rebalance *r;
	const struct group *g;
	const struct surroundings *near;
	struct exposed as_jitter;
	struct exposed as_pause;
	struct hit jitter;
	struct hit pause;
	const char *why;	/* no exposure */
	int64_t uncertainty_us;
	bool is_clock_known;
	bool is_low, is_high;	/* lagged in every, in some position of the clocks */
	bool is_open;		/* nothing was seen, and what evidence there is would not have shown everything */
	bool pause_low, pause_high;
	bool pause_contained;
	bool is_paused;		/* lagged by pauses; a follower as its root */
};

struct court {
	const struct groups *groups;
	const struct analysis_options *o;
	struct exposure_context ctx;
	struct arena *arena;
	struct judged *items;
	size_t count;
};

static double seconds(int64_t us)
{
	return (double)us / (double)US_PER_S;
}

static int64_t slack_us(const struct group *g)
{
	return 2 * group_heartbeat_interval_ms(g) * US_PER_MS;
}

/* ---- hits ---- */

static struct hit hit_of(const struct exposed *x, struct span exposure)
{
	return chance_hit(x, span_length_us(exposure), span_set_overlap_us(x->windows, exposure),
			  span_set_overlap_us(x->rivals, exposure));
}

/*
 * With the clock at either end of its uncertainty: shifting all windows by it is
 * shifting the exposure the other way. The exposure's own margins are taken off
 * first, or the uncertainty would count twice.
 */
static void try_clocks(const struct exposed *x, int64_t uncertainty, bool nominal, bool *low, bool *high)
{
	*low = *high = nominal;
	if (uncertainty == 0 || !x->has_exposure)
		return;
	struct span bare = { { x->exposure.start.us + uncertainty }, { x->exposure.end.us - uncertainty } };
	for (int i = -1; i <= 1; i++) {
		struct span moved = { { bare.start.us + i * uncertainty }, { bare.end.us + i * uncertainty } };
		bool is_lagged = hit_of(x, moved).is_lagged;
		*low &= is_lagged;
		*high |= is_lagged;
	}
}

static void judge_hits(struct judged *j)
{
	struct rebalance *r = j->r;

	if (r->has_exposure) {
		j->jitter = hit_of(&j->as_jitter, r->exposure);
		j->pause = hit_of(&j->as_pause, r->exposure);
	}
	try_clocks(&j->as_jitter, j->uncertainty_us, j->jitter.is_lagged, &j->is_low, &j->is_high);
	try_clocks(&j->as_pause, j->uncertainty_us, j->pause.is_lagged, &j->pause_low, &j->pause_high);
	r->overlap_us = j->jitter.overlap_us;
	r->pause_overlap_us = j->pause.overlap_us;
	r->contained = span_set_contains(&j->near->outages, r->trigger_time);
	j->pause_contained = span_set_contains(&j->near->pauses, r->trigger_time);
	r->lagged = j->jitter.is_lagged;
	j->is_paused = j->pause.is_lagged;
	r->explained = j->jitter.is_lagged && j->jitter.explains;
}

static void keep_windows(struct arena *a, struct judged *j)
{
	struct rebalance *r = j->r;
	size_t windows = 0, pauses = 0;

	for (size_t i = 0; r->has_exposure && i < j->near->window_count; i++) {
		const struct window *w = j->near->windows[i];
		if (span_is_empty(span_intersect(w->span, r->exposure)))
			continue;
		if (window_is_jitter(w))
			*ARENA_PUSH(a, r->windows, r->window_count, windows) = w;
		else
			*ARENA_PUSH(a, r->pauses, r->pause_count, pauses) = w;
	}
}

/* ---- attribution ---- */

static enum attribution attribution_of(const struct judged *j)
{
	const struct rebalance *r = j->r;

	if (!r->observed)
		return ATTRIBUTION_UNOBSERVED;
	if (!r->has_exposure)
		return r->trigger == TRIGGER_UNKNOWN ? ATTRIBUTION_NONE : ATTRIBUTION_NOT_NETWORK;
	if (j->is_low != j->is_high || j->is_open)
		return ATTRIBUTION_AMBIGUOUS;
	if (r->broker_stalled)
		return r->lagged ? ATTRIBUTION_AMBIGUOUS : ATTRIBUTION_NOT_NETWORK;
	if (j->pause.reaches && !r->lagged)
		return ATTRIBUTION_NOT_NETWORK;
	if (j->pause.reaches && !(j->jitter.explains && !j->pause.explains))
		return ATTRIBUTION_AMBIGUOUS;
	if (r->lagged)
		return r->explained ? ATTRIBUTION_EXPLAINED : ATTRIBUTION_LAGGED;
	return ATTRIBUTION_NONE;
}

/* The longest outage behind it: what the path was away, without TCP's backoff. */
static int64_t longest_outage_us(const struct rebalance *r)
{
	int64_t longest = 0;

	for (size_t i = 0; i < r->window_count; i++) {
		const struct window *w = r->windows[i];
		int64_t us = span_length_us(w->has_outage ? w->outage : w->span);
		longest = us > longest ? us : longest;
	}
	return longest;
}

/* With loss alone a heartbeat comes back after at most twice the outage (method.md 5). */
static struct sv implausible(struct arena *a, struct judged *j)
{
	int64_t session = group_session_timeout_ms(j->g) * US_PER_MS, heartbeat = group_heartbeat_interval_ms(j->g) * US_PER_MS;
	int64_t least = (session - heartbeat - RTO_US) / 2, longest = longest_outage_us(j->r);

	if (j->r->trigger != TRIGGER_SESSION_TIMEOUT || !j->r->lagged || longest >= least)
		return SV("");
	j->r->implausible = true;
	return arena_printf(a, " The longest outage, %.1f s, is implausible as its cause: losses alone need %.1f s.",
			    seconds(longest), seconds(least));
}

static struct sv doubts(struct arena *a, const struct judged *j)
{
	bool is_default = j->r->exposure_basis != NULL && strcmp(j->r->exposure_basis, "default") == 0;

	return arena_printf(a, "%s%s%s%s",
			    j->r->counted ? "" : " Quiet would not have been seen: it is not counted in the shares.",
			    is_default ? " The timeout behind it is not in the evidence: Kafka's default is taken." : "",
			    j->is_clock_known ? "" : " Nothing bounds the clocks' difference: it is taken to be 0.",
			    j->near->is_certain ? "" : " The evidence cannot tell on whose path the jitter was.");
}

static struct sv note_of_overlap(struct arena *a, struct judged *j)
{
	const struct rebalance *r = j->r;
	double length = seconds(span_length_us(r->exposure));

	if (r->overlap_us == 0 && r->pause_overlap_us == 0)
		return arena_printf(a, "No jitter in the %.1f s before it.%.*s", length, SV_ARG(doubts(a, j)));
	if (r->pause_overlap_us == 0)
		return arena_printf(a, "Jitter covers %.1f s of the %.1f s before it.%.*s%.*s", seconds(r->overlap_us), length,
				    SV_ARG(implausible(a, j)), SV_ARG(doubts(a, j)));
	return arena_printf(a, "Of the %.1f s before it jitter covers %.1f s and a pause of the process or the broker %.1f s.%.*s",
			    length, seconds(r->overlap_us), seconds(r->pause_overlap_us), SV_ARG(doubts(a, j)));
}

static struct sv note_of(struct arena *a, struct judged *j)
{
	const struct rebalance *r = j->r;

	if (!r->observed && r->overlap_us + r->pause_overlap_us > 0)
		return arena_printf(a, "No jitter evidence covers the time before it. Of its %.1f s jitter is told of for %.1f s, and a "
				       "pause of the process or the broker for %.1f s.",
				    seconds(span_length_us(r->exposure)), seconds(r->overlap_us), seconds(r->pause_overlap_us));
	if (!r->observed)
		return r->has_exposure ? SV("No jitter evidence covers the time before it.") : SV("No jitter evidence covers it.");
	if (!r->has_exposure)
		return sv_of(j->why);
	struct sv overlap = note_of_overlap(a, j);
	if (j->is_low != j->is_high)
		return arena_printf(a, "%.*s Within the clocks' uncertainty of %.3f s it could be otherwise.", SV_ARG(overlap),
				    seconds(j->uncertainty_us));
	if (j->is_open)
		return arena_printf(a, "%.*s Its process was alive and cut off all the same; %s alone does not show everything.",
				    SV_ARG(overlap), j->near->captured.count > 0 ? "a capture" : "what TCP counts");
	if (r->broker_stalled)
		return arena_printf(a, "The broker stalled: it evicted members of several hosts within a millisecond. %.*s",
				    SV_ARG(overlap));
	return overlap;
}

/* ---- one rebalance ---- */

/* What was there would have shown quiet as well as jitter. */
static bool is_covered(const struct judged *j)
{
	/* Whose doing it was is not known, nor what: no path can be said to have been watched. */
	if (j->r->trigger == TRIGGER_UNKNOWN && j->r->host.n == 0)
		return false;
	if (!j->r->has_exposure)
		return span_set_contains(&j->near->coverage, j->r->trigger_time);
	return span_set_covers(&j->near->coverage, j->r->exposure, slack_us(j->g)) &&
	       span_set_overlap_us(&j->near->coverage, j->r->exposure) > 0;
}

/*
 * A log that tells of jitter, and whose silence tells nothing: what it shows
 * is so, and to count it would be to count the hits alone.
 */
static bool is_glimpsed(const struct judged *j)
{
	return j->r->has_exposure && j->near->is_certain && j->r->lagged;
}

/*
 * A living member that was evicted, and nothing shows why: a capture does not
 * show what its own host could not send, and TCP counts neither resets nor
 * delays. Where only one of the two is at hand the other might have shown it.
 */
static bool is_open(const struct judged *j)
{
	const struct rebalance *r = j->r;

	if (r->trigger != TRIGGER_SESSION_TIMEOUT || r->fate != FATE_WRONGLY_EVICTED || !r->counted || !r->has_exposure ||
	    r->broker_stalled || j->jitter.reaches || j->pause.reaches)
		return false;
	return !span_set_covers(&j->near->captured, r->exposure, slack_us(j->g)) ||
	       !span_set_covers(&j->near->counted, r->exposure, slack_us(j->g));
}

static void judge_root(struct court *c, struct judged *j)
{
	struct rebalance *r = j->r;
	int64_t need;

	j->near = surroundings_of(&c->ctx, r, j->g);
	j->uncertainty_us = exposure_uncertainty_us(&c->ctx, r, j->near, &j->is_clock_known);
	exposure_of(j->near, j->g, j->uncertainty_us, r, &need, &j->why);
	r->need_us = need;
	j->as_jitter = (struct exposed){ .has_exposure = r->has_exposure, .trigger_time = r->trigger_time,
					 .exposure = r->exposure, .windows = &j->near->jitter, .rivals = &j->near->pauses,
					 .need_us = need, .slack_us = slack_us(j->g) };
	j->as_pause = j->as_jitter;
	j->as_pause.windows = &j->near->pauses;
	j->as_pause.rivals = &j->near->jitter;
	judge_hits(j);
	r->counted = is_covered(j);
	r->observed = r->counted || is_glimpsed(j);
	j->is_open = is_open(j);
	keep_windows(c->arena, j);
	r->attribution = attribution_of(j);
	r->attribution_note = note_of(c->arena, j);
}

/* What follows from a root has its exposure and its attribution; only the plain rule looks at its own time. */
static void judge_follower(struct court *c, struct judged *j, const struct judged *root)
{
	struct rebalance *r = j->r;
	const struct rebalance *from = root->r;

	j->near = surroundings_of(&c->ctx, r, j->g);
	j->is_clock_known = root->is_clock_known;
	r->has_exposure = from->has_exposure;
	r->exposure = from->exposure;
	r->need_us = from->need_us;
	r->exposure_basis = from->exposure_basis;
	r->implausible = from->implausible;
	r->observed = from->observed;
	r->counted = from->counted;
	r->lagged = from->lagged;
	j->is_paused = root->is_paused;
	r->explained = from->explained;
	r->attribution = from->attribution;
	r->attribution_note = arena_printf(c->arena, "It follows from R%u. %.*s", from->id, SV_ARG(from->attribution_note));
	r->overlap_us = from->overlap_us;
	r->pause_overlap_us = from->pause_overlap_us;
	r->windows = from->windows;
	r->window_count = from->window_count;
	r->pauses = from->pauses;
	r->pause_count = from->pause_count;
	r->contained = span_set_contains(&j->near->outages, r->trigger_time);
}

static void judge_all(struct court *c, struct rebalances *r)
{
	c->count = r->count;
	c->items = arena_array(c->arena, r->count + 1, sizeof *c->items);
	for (size_t i = 0; i < r->count; i++) {
		c->items[i].r = &r->items[i];
		c->items[i].g = groups_get(c->groups, r->items[i].group);
		if (r->items[i].is_root)
			judge_root(c, &c->items[i]);
	}
	for (size_t i = 0; i < r->count; i++) {
		if (!r->items[i].is_root)
			judge_follower(c, &c->items[i], &c->items[r->items[i].root - 1]);
	}
}

/* ---- shares ---- */

static bool is_counted(const struct judged *j)
{
	return j->r->is_root && j->r->counted;
}

static void count_figures(const struct court *c, struct share *out)
{
	size_t contained = 0, explained = 0, low = 0, high = 0, open = 0;
	size_t p_contained = 0, p_lagged = 0, p_explained = 0, p_low = 0, p_high = 0, lagged = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct judged *j = &c->items[i];
		if (!is_counted(j))
			continue;
		contained += j->r->contained;
		lagged += j->r->lagged;
		explained += j->r->explained;
		low += j->is_low;
		high += j->is_high;
		open += j->is_open && !j->is_high;
		p_contained += j->pause_contained;
		p_lagged += j->pause.is_lagged;
		p_explained += j->pause.is_lagged && j->pause.explains;
		p_low += j->pause_low;
		p_high += j->pause_high;
	}
	const size_t n = out->observed;
	out->jitter.contained = proportion_of(contained, n);
	out->jitter.lagged = proportion_of(lagged, n);
	out->jitter.explained = proportion_of(explained, n);
	out->jitter.low = proportion_of(low, n).share;
	out->jitter.high = proportion_of(high + open, n).share;
	out->jitter.high_by_clocks = proportion_of(high, n).share;
	out->pauses.contained = proportion_of(p_contained, n);
	out->pauses.lagged = proportion_of(p_lagged, n);
	out->pauses.explained = proportion_of(p_explained, n);
	out->pauses.low = proportion_of(p_low, n).share;
	out->pauses.high = out->pauses.high_by_clocks = proportion_of(p_high, n).share;
}

static void count_shares(const struct court *c, struct share *out)
{
	size_t all = 0, all_contained = 0, proved = 0;
	struct tally { size_t all, proved; } lagged = { 0, 0 }, paused = { 0, 0 };
	size_t of[TRIGGER_COUNT] = { 0 }, of_lagged[TRIGGER_COUNT] = { 0 };

	for (size_t i = 0; i < c->count; i++) {
		const struct judged *j = &c->items[i];
		bool is_proved = j->r->trigger_strength == STRENGTH_PROVES;
		bool is_lagged = j->r->counted && j->r->lagged, is_paused = j->r->counted && j->is_paused;
		out->roots += j->r->is_root;
		all += j->r->counted;
		lagged.all += is_lagged;
		paused.all += is_paused;
		all_contained += j->r->counted && j->r->contained;
		if (!is_counted(j))
			continue;
		out->observed++;
		of[j->r->trigger]++;
		of_lagged[j->r->trigger] += is_lagged;
		proved += is_proved;
		lagged.proved += is_lagged && is_proved;
		paused.proved += is_paused && is_proved;
	}
	out->rebalances = c->count;
	out->contained_all = proportion_of(all_contained, all);
	out->jitter.lagged_all = proportion_of(lagged.all, all);
	out->jitter.lagged_proved = proportion_of(lagged.proved, proved);
	out->pauses.lagged_all = proportion_of(paused.all, all);
	out->pauses.lagged_proved = proportion_of(paused.proved, proved);
	for (size_t t = 0; t < TRIGGER_COUNT; t++)
		out->lagged_by_trigger[t] = proportion_of(of_lagged[t], of[t]);
}

static void count_group(const struct court *c, const struct group *g, struct group_share *out)
{
	size_t observed = 0, lagged = 0, contained = 0, paused = 0;

	*out = (struct group_share){ .group = g->name };
	for (size_t i = 0; i < c->count; i++) {
		const struct judged *j = &c->items[i];
		if (j->g != g)
			continue;
		out->rebalances++;
		out->roots += j->r->is_root;
		if (!is_counted(j))
			continue;
		observed++;
		lagged += j->r->lagged;
		contained += j->r->contained;
		paused += j->is_paused;
	}
	out->lagged = proportion_of(lagged, observed);
	out->contained = proportion_of(contained, observed);
	out->paused = proportion_of(paused, observed);
}

static void count_groups(const struct court *c, struct share *out)
{
	out->groups = arena_array(c->arena, c->groups->count, sizeof *out->groups);
	for (size_t i = 0; i < c->groups->count; i++) {
		struct group_share *one = &out->groups[out->group_count];
		count_group(c, &c->groups->items[i], one);
		out->group_count += one->rebalances > 0;
	}
}

/* ---- chance ---- */

/* When anything could have been counted: some counted root's surroundings were covered, within the time in question. */
static struct span_set observed_time(const struct court *c)
{
	struct span_set out = { NULL, 0, 0 };
	const struct surroundings *last = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct judged *j = &c->items[i];
		if (!is_counted(j) || j->near == last)
			continue;
		last = j->near;
		for (size_t k = 0; k < j->near->coverage.count; k++) {
			struct span s = j->near->coverage.items[k];
			if (c->o->has_from && s.start.us < c->o->from.us)
				s.start = c->o->from;
			if (c->o->has_to && s.end.us > c->o->to.us)
				s.end = c->o->to;
			span_set_add(&out, c->arena, s);
		}
	}
	return out;
}

/* The part of the windows that a root rebalance follows: the other way round than the share. */
static void find_precursors(const struct court *c, bool jitter, struct chance *out)
{
	const struct windows *all = c->ctx.windows;
	bool *is_followed = arena_array(c->arena, all->count + 1, sizeof *is_followed);
	size_t windows = 0, followed = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct rebalance *r = c->items[i].r;
		const struct window **list = jitter ? r->windows : r->pauses;
		size_t n = jitter ? r->window_count : r->pause_count;
		for (size_t k = 0; is_counted(&c->items[i]) && k < n; k++)
			is_followed[list[k] - all->items] = true;
	}
	for (size_t i = 0; i < all->count; i++) {
		windows += window_is_jitter(&all->items[i]) == jitter;
		followed += is_followed[i];
	}
	out->has_precursor = windows > 0;
	out->precursor_rate = windows > 0 ? (double)followed / (double)windows : 0;
}

static void find_chance(const struct court *c, bool jitter, struct share_figures *figures)
{
	struct exposed *roots = arena_array(c->arena, c->count + 1, sizeof *roots);
	struct span_set observed = observed_time(c);
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (is_counted(&c->items[i]))
			roots[n++] = jitter ? c->items[i].as_jitter : c->items[i].as_pause;
	}
	chance_find(roots, n, figures->lagged.count, &observed, c->o->shifts, c->o->seed, c->arena, &figures->chance);
	find_precursors(c, jitter, &figures->chance);
}

/* ---- what the figures say ---- */

static bool are_clocks_known(const struct court *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct judged *j = &c->items[i];
		if (is_counted(j) && j->r->has_exposure && !j->is_clock_known)
			return false;
	}
	return true;
}

/* Over all rebalances, as the runbook counts: those that follow from an eviction come later still. */
static struct sv contained_note(const struct court *c, const struct share *s)
{
	size_t late = 0, stray = 0;
	int64_t most_us = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct rebalance *r = c->items[i].r;
		if (!r->counted)
			continue;
		late += r->lagged && !r->contained;
		stray += r->contained && !r->lagged;
		if (r->lagged && span_length_us(r->exposure) > most_us)
			most_us = span_length_us(r->exposure);
	}
	if (s->observed == 0)
		return SV_ABSENT;
	const struct proportion *plain = &s->contained_all, *lagged = &s->jitter.lagged_all;
	if (late == 0 && stray == 0)
		return arena_printf(c->arena, "The plain rule and the lagged one agree on %zu of %zu.", lagged->count, lagged->total);
	return arena_printf(c->arena,
			    "Of all rebalances the plain rule finds %zu of %zu inside jitter windows and the lagged one %zu: %zu came "
			    "after the jitter had ended, since a coordinator waits up to %.1f s before it acts and an evicted member "
			    "comes back when the path is whole, and %zu fell into jitter that did not cause them.",
			    plain->count, plain->total, lagged->count, late, seconds(most_us), stray);
}

/* ---- public ---- */

int share_find(const struct clocks *c, const struct groups *g, const struct windows *w, const struct analysis_options *o,
	       struct arena *a, struct rebalances *r, struct share *out)
{
	struct court court = { .groups = g, .o = o, .arena = a, .ctx = { .clocks = c, .windows = w, .arena = a } };

	memset(out, 0, sizeof *out);
	out->threshold_percent = o->threshold_percent;
	judge_all(&court, r);
	count_shares(&court, out);
	count_groups(&court, out);
	count_figures(&court, out);
	find_chance(&court, true, &out->jitter);
	find_chance(&court, false, &out->pauses);
	verdict_decide(out, w->coverage_count > 0, are_clocks_known(&court), a);
	sentences_write(out, a);
	out->contained_note = contained_note(&court, out);
	return 0;
}
