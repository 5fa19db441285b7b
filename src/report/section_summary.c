/* SPDX-License-Identifier: MIT */
/* The answer on one screen, and the timeline. */

#include <stdlib.h>

#include "report/sections.h"
#include "report/words.h"

static enum tone verdict_tone(enum verdict v)
{
	switch (v) {
	case VERDICT_CONFIRMED:
		return TONE_BAD;
	case VERDICT_CONFIRMED_IF_CLOCKS_HOLD:
	case VERDICT_PARTIAL:
		return TONE_WARN;
	case VERDICT_REJECTED:
		return TONE_GOOD;
	case VERDICT_NOT_ABOVE_CHANCE:
	case VERDICT_INSUFFICIENT:
	default:
		return TONE_MUTED;
	}
}

static size_t proven_duplicates(const struct side_effects *e)
{
	return e->by_cause[CAUSE_PROVEN] + e->by_cause[CAUSE_STRONG];
}

static void effect_figures(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	if (e->records == 0) {
		out_figure(o, SV("unknown"), SV("side effects executed twice: no export of them was given"));
		return;
	}
	out_figure(o, arena_printf(c->a, "%zu", e->duplicate_count),
		   arena_printf(c->a, "side effects executed more than once, of %zu intents; %zu after a redelivery, %zu sent "
				      "twice by the caller",
				e->intents, proven_duplicates(e), e->by_cause[CAUSE_UPSTREAM]));
	for (size_t i = 0; i < e->by_step_count; i++) {
		struct sv amounts = words_amounts_of_step(c->a, e->amounts, e->amount_count, e->by_step[i].step);
		if (amounts.n > 0)
			out_figure(o, amounts, arena_printf(c->a, "stands behind the %zu repeated effects of step %.*s",
							    e->by_step[i].count, SV_ARG(words_or_dash(e->by_step[i].step))));
	}
	if (e->redelivery_count > 0)
		out_figure(o, arena_printf(c->a, "%zu", e->redelivery_count), SV("ranges of offsets delivered again"));
}

static void share_figures(struct out *o, const struct chapter_context *c)
{
	const struct share *s = &c->f->share;
	out_figure(o, arena_printf(c->a, "%zu", s->rebalances),
		   arena_printf(c->a, "rebalances, %zu of them roots (the others follow from these)", s->roots));
	if (s->rebalances == 0)
		return;
	out_figure(o, words_proportion(c->a, &s->jitter.lagged),
		   arena_printf(c->a, "of the observed roots lie inside jitter windows, with the lag of their trigger (the line "
				      "is %d %%)",
				s->threshold_percent));
	if (s->lagged_by_trigger[TRIGGER_SESSION_TIMEOUT].known)
		out_figure(o, words_proportion(c->a, &s->lagged_by_trigger[TRIGGER_SESSION_TIMEOUT]),
			   SV("of the evictions by session timeout do"));
	out_figure(o, words_proportion(c->a, &s->contained_all),
		   SV("by the runbook's plain rule: every rebalance, its moment inside an outage"));
	if (s->jitter.chance.known)
		out_figure(o, words_percent(c->a, s->jitter.chance.expected_share),
			   arena_printf(c->a, "is what chance would give (p = %.4f)", s->jitter.chance.p_value));
	if (s->pauses.lagged.known && s->pauses.lagged.count > 0)
		out_figure(o, words_proportion(c->a, &s->pauses.lagged), SV("coincide with a pause of the process or the broker"));
}

void chapter_summary(struct out *o, const struct chapter_context *c)
{
	const struct findings *f = c->f;
	struct sv span = SV("no event with a time was found");
	if (f->has_span) {
		struct buf b;
		buf_init(&b);
		tstamp_format(&b, f->span.start.us);
		buf_add(&b, SV(" to "));
		tstamp_format(&b, f->span.end.us);
		span = arena_copy(c->a, buf_sv(&b));
		buf_fini(&b);
	}
	out_title(o, SV("aftershock: network jitter, rebalances, duplicate side effects"), span);
	out_verdict(o, verdict_tone(f->share.verdict), sv_of(verdict_name(f->share.verdict)), f->share.manager);
	struct sv sampling = sampling_words(c, true);
	if (!sv_is_absent(sampling))
		out_paragraph(o, sampling);
}

/* All that the verdict was decided by, and the sums. */
void chapter_figures(struct out *o, const struct chapter_context *c)
{
	out_section(o, "figures", SV("The figures"));
	out_paragraph(o, c->f->share.engineer);
	share_figures(o, c);
	effect_figures(o, c);
}

/* ---- the timeline ---- */

/* The hosts in which something happened, in byte order. */
struct host_names {
	struct sv *items;
	size_t count, capacity;
};

static int compare_names(const void *x, const void *y)
{
	const struct sv *a = x, *b = y;
	return sv_cmp(*a, *b);
}

static void add_host(struct host_names *names, struct arena *a, struct sv host)
{
	if (host.n == 0)
		return;
	for (size_t i = 0; i < names->count; i++)
		if (sv_eq(names->items[i], host))
			return;
	*ARENA_PUSH(a, names->items, names->count, names->capacity) = host;
}

/* The lane of a rebalance: its host, else its client by name. */
static struct sv lane_of_rebalance(const struct rebalance *r)
{
	return r->host.n > 0 ? r->host : r->client;
}

static struct sv host_of_attempt(const struct attempt *t)
{
	return t->evidence.host.n > 0 ? t->evidence.host : t->consumer;
}

static struct host_names timeline_hosts(const struct chapter_context *c)
{
	const struct findings *f = c->f;
	struct host_names names = { NULL, 0, 0 };

	for (size_t i = 0; i < f->windows.count; i++)
		add_host(&names, c->a, f->windows.items[i].host);
	for (size_t i = 0; i < f->rebalances.count; i++)
		add_host(&names, c->a, lane_of_rebalance(&f->rebalances.items[i]));
	for (size_t i = 0; i < f->effects.duplicate_count; i++)
		add_host(&names, c->a, host_of_attempt(f->effects.duplicates[i].second_effect));
	if (names.count > 0)
		qsort(names.items, names.count, sizeof *names.items, compare_names);
	return names;
}

/* The lane of one host; an absent host gathers what has none. */
static struct lane host_lane(const struct chapter_context *c, struct sv host)
{
	const struct findings *f = c->f;
	struct lane_span *spans = NULL;
	struct lane_point *points = NULL;
	size_t span_count = 0, span_capacity = 0, point_count = 0, point_capacity = 0;

	for (size_t i = 0; i < f->windows.count; i++) {
		const struct window *w = &f->windows.items[i];
		if (!sv_eq(w->host, host))
			continue;
		bool jitter = window_is_jitter(w);
		*ARENA_PUSH(c->a, spans, span_count, span_capacity) = (struct lane_span){
			w->span.start.us, w->span.end.us, jitter ? TONE_BAD : TONE_WARN, jitter ? '#' : 'p',
			arena_printf(c->a, "W%u %s, %.*s", w->id, window_kind_infos[w->kind].name,
				     SV_ARG(words_duration(c->a, span_length_us(w->span)))),
			words_id(c->a, 'W', w->id),
		};
	}
	for (size_t i = 0; i < f->effects.duplicate_count; i++) {
		const struct duplicate *d = &f->effects.duplicates[i];
		const struct attempt *again = d->second_effect;
		if (!sv_eq(host_of_attempt(again), host))
			continue;
		*ARENA_PUSH(c->a, points, point_count, point_capacity) = (struct lane_point){
			again->time.us, TONE_WARN, 'D',
			arena_printf(c->a, "D%u %.*s %.*s", d->id, SV_ARG(d->business_key), SV_ARG(d->step)),
			words_id(c->a, 'D', d->id),
		};
	}
	/* Rebalances last: they stand above the duplicates that they caused. */
	for (size_t i = 0; i < f->rebalances.count; i++) {
		const struct rebalance *r = &f->rebalances.items[i];
		if (!sv_eq(lane_of_rebalance(r), host))
			continue;
		*ARENA_PUSH(c->a, points, point_count, point_capacity) = (struct lane_point){
			r->trigger_time.us, r->lagged ? TONE_BAD : TONE_PLAIN, r->is_root ? 'R' : 'r',
			arena_printf(c->a, "R%u %s, %s", r->id, trigger_infos[r->trigger].name, attribution_name(r->attribution)),
			words_id(c->a, 'R', r->id),
		};
	}
	return (struct lane){ sv_is_absent(host) ? SV("(no host)") : host, spans, span_count, points, point_count };
}

void chapter_timeline(struct out *o, const struct chapter_context *c)
{
	const struct findings *f = c->f;
	struct host_names hosts = timeline_hosts(c);
	struct lane *lanes = arena_array(c->a, hosts.count + 1, sizeof *lanes);
	size_t n = 0;

	if (!f->has_span)
		return;
	for (size_t i = 0; i < hosts.count; i++)
		lanes[n++] = host_lane(c, hosts.items[i]);
	struct lane rest = host_lane(c, SV_ABSENT);
	if (rest.span_count + rest.point_count > 0)
		lanes[n++] = rest;
	if (n == 0)
		return;
	out_section(o, "timeline", SV("Timeline"));
	out_timeline(o, f->span.start.us, f->span.end.us, lanes, n,
		     out_is_interactive(o)
			     ? SV("Bars: jitter windows (red) and pauses (violet). Triangles: rebalances, red when they lie "
				  "inside a jitter window. Dots: side effects executed again. Times in UTC; each mark leads "
				  "to its row.")
			     : SV("# jitter window, p pause, R root rebalance, r rebalance that follows from another, D side "
				  "effect executed again; UTC"));
}
