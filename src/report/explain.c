/* SPDX-License-Identifier: MIT */
/*
 * The chain of evidence behind one window, rebalance, redelivery or duplicate:
 * window -> member -> rebalance -> partition and offsets -> duplicates ->
 * amounts (method.md 7), followed from wherever one enters it.
 */

#include <inttypes.h>

#include "report/report.h"
#include "report/sections.h"
#include "report/words.h"

static const struct window *window_of(const struct findings *f, unsigned id)
{
	return id == 0 || id > f->windows.count ? NULL : &f->windows.items[id - 1];
}

static void explain_window(struct out *o, const struct chapter_context *c, unsigned id)
{
	const struct window *w = window_of(c->f, id);
	if (w == NULL)
		return;
	out_section(o, "window", arena_printf(c->a, "W%u: %s on %.*s", w->id, window_kind_infos[w->kind].name,
					      SV_ARG(words_or_dash(w->host))));
	out_paragraph(o, arena_printf(c->a, "%s: %s. From %.*s to %.*s (%.*s)%s.", window_is_jitter(w) ? "Jitter" : "Not the network",
				      window_kind_infos[w->kind].what, SV_ARG(words_time(c->a, c->f, w->span.start)),
				      SV_ARG(words_time(c->a, c->f, w->span.end)),
				      SV_ARG(words_duration(c->a, span_length_us(w->span))),
				      w->censored ? ", still in progress when the evidence ended" : ""));
	if (w->has_outage)
		out_paragraph(o, arena_printf(c->a, "The path itself was gone from %.*s to %.*s (%.*s).",
					      SV_ARG(words_time(c->a, c->f, w->outage.start)),
					      SV_ARG(words_time(c->a, c->f, w->outage.end)),
					      SV_ARG(words_duration(c->a, span_length_us(w->outage)))));
	for (size_t i = 0; i < w->measure_count; i++)
		if (w->measures[i].known)
			out_bullet(o, arena_printf(c->a, "%s = %" PRId64, w->measures[i].name, w->measures[i].value));
	out_details(o, SV("Evidence:"));
	document_evidence(o, c, &w->evidence);
	out_details_end(o);
}

static void explain_rebalance(struct out *o, const struct chapter_context *c, unsigned id)
{
	const struct rebalance *r = rebalances_get(&c->f->rebalances, id);
	if (r == NULL)
		return;
	out_section(o, "rebalance", arena_printf(c->a, "R%u: %s of %.*s", r->id, trigger_infos[r->trigger].name,
						 SV_ARG(words_or_dash(sv_is_absent(r->host) ? r->member : r->host))));
	out_paragraph(o, arena_printf(c->a, "Group %.*s, generation %.*s, at %.*s: %s. Known from: %s (%s).", SV_ARG(r->group),
				      SV_ARG(r->has_generation ? arena_printf(c->a, "%" PRId64, r->generation) : SV("unknown")),
				      SV_ARG(words_time(c->a, c->f, r->trigger_time)), trigger_infos[r->trigger].what,
				      r->trigger_basis, strength_name(r->trigger_strength)));
	if (!r->is_root)
		out_paragraph(o, arena_printf(c->a, "It follows from R%u.", r->root));
	if (r->has_exposure)
		out_paragraph(o, arena_printf(c->a, "Exposed from %.*s to %.*s; jitter overlaps %.*s of that.",
					      SV_ARG(words_time(c->a, c->f, r->exposure.start)),
					      SV_ARG(words_time(c->a, c->f, r->exposure.end)),
					      SV_ARG(words_duration(c->a, r->overlap_us))));
	out_paragraph(o, arena_printf(c->a, "Network: %s%s%.*s", attribution_name(r->attribution),
				      sv_is_absent(r->attribution_note) ? "" : ". ", SV_ARG(r->attribution_note)));
	out_details(o, SV("Evidence:"));
	document_evidence(o, c, &r->evidence);
	out_details_end(o);
}

static void explain_windows_of(struct out *o, const struct chapter_context *c, unsigned rebalance)
{
	const struct rebalance *r = rebalances_get(&c->f->rebalances, rebalance);
	for (size_t i = 0; r != NULL && i < r->window_count; i++)
		explain_window(o, c, r->windows[i]->id);
	for (size_t i = 0; r != NULL && i < r->pause_count; i++)
		explain_window(o, c, r->pauses[i]->id);
}

/* The rebalance, its root when that is another, and the windows behind the root. */
static void explain_causes(struct out *o, const struct chapter_context *c, unsigned rebalance)
{
	const struct rebalance *r = rebalances_get(&c->f->rebalances, rebalance);
	if (r == NULL)
		return;
	explain_rebalance(o, c, r->id);
	if (!r->is_root)
		explain_rebalance(o, c, r->root);
	explain_windows_of(o, c, r->root);
}

static void explain_redelivery(struct out *o, const struct chapter_context *c, unsigned id)
{
	const struct side_effects *e = &c->f->effects;
	if (id == 0 || id > e->redelivery_count)
		return;
	const struct redelivery *r = &e->redeliveries[id - 1];
	out_section(o, "redelivery", arena_printf(c->a, "L%u: %.*s-%" PRId64 " delivered again from offset %" PRId64 " to %" PRId64, r->id,
						  SV_ARG(r->topic), r->partition, r->committed_offset, r->processed_offset - 1));
	out_paragraph(o, arena_printf(c->a, "%zu records were handled by %.*s and again by %.*s (%s).", r->records,
				      SV_ARG(words_or_dash(r->from)), SV_ARG(words_or_dash(r->to)), r->basis));
	out_details(o, SV("Evidence:"));
	document_evidence(o, c, &r->evidence);
	out_details_end(o);
}

static void explain_duplicate(struct out *o, const struct chapter_context *c, unsigned id)
{
	const struct side_effects *e = &c->f->effects;
	if (id == 0 || id > e->duplicate_count)
		return;
	const struct duplicate *d = &e->duplicates[id - 1];
	out_section(o, "duplicate", arena_printf(c->a, "D%u: %.*s, step %.*s, took effect %zu times", d->id, SV_ARG(d->business_key),
						 SV_ARG(words_or_dash(d->step)), d->effects));
	out_paragraph(o, arena_printf(c->a, "Cause: %s. Executed too much: %.*s.", cause_name(d->cause),
				      SV_ARG(words_money(c->a, d->has_amount, d->amount_micros, d->currency))));
	out_details(o, SV("Attempts:"));
	for (size_t i = 0; i < d->attempt_count; i++)
		document_evidence_one(o, c, &d->attempts[i]->evidence);
	out_details_end(o);
}

/* The duplicates that one rebalance, redelivery or window led to. */
static void list_duplicates(struct out *o, const struct chapter_context *c, unsigned window, unsigned rebalance, unsigned redelivery)
{
	const struct side_effects *e = &c->f->effects;
	size_t n = 0;
	for (size_t i = 0; i < e->duplicate_count; i++) {
		const struct duplicate *d = &e->duplicates[i];
		const struct rebalance *r = rebalances_get(&c->f->rebalances, d->rebalance);
		bool here = (window != 0 && d->window == window) || (redelivery != 0 && d->redelivery == redelivery) ||
			    (rebalance != 0 && r != NULL && (r->id == rebalance || r->root == rebalance));
		if (!here)
			continue;
		if (n++ == 0)
			out_paragraph(o, SV("Side effects executed again because of it:"));
		out_bullet(o, arena_printf(c->a, "D%u %.*s %.*s, %.*s", d->id, SV_ARG(d->business_key), SV_ARG(words_or_dash(d->step)),
					   SV_ARG(words_money(c->a, d->has_amount, d->amount_micros, d->currency))));
	}
}

static void list_rebalances(struct out *o, const struct chapter_context *c, const struct window *w)
{
	for (size_t i = 0; i < c->f->rebalances.count; i++) {
		const struct rebalance *r = &c->f->rebalances.items[i];
		for (size_t k = 0; k < r->window_count + r->pause_count; k++) {
			const struct window *other = k < r->window_count ? r->windows[k] : r->pauses[k - r->window_count];
			if (other == w)
				out_bullet(o, arena_printf(c->a, "R%u, %s at %.*s: %s", r->id, trigger_infos[r->trigger].name,
							   SV_ARG(words_time(c->a, c->f, r->trigger_time)),
							   attribution_name(r->attribution)));
		}
	}
}

static bool write_explanation(struct out *o, const struct chapter_context *c, char letter, unsigned id)
{
	const struct side_effects *e = &c->f->effects;
	switch (letter) {
	case 'W':
		if (window_of(c->f, id) == NULL)
			return false;
		explain_window(o, c, id);
		list_rebalances(o, c, window_of(c->f, id));
		list_duplicates(o, c, id, 0, 0);
		return true;
	case 'R':
		if (rebalances_get(&c->f->rebalances, id) == NULL)
			return false;
		explain_causes(o, c, id);
		list_duplicates(o, c, 0, id, 0);
		return true;
	case 'L':
		if (id == 0 || id > e->redelivery_count)
			return false;
		explain_redelivery(o, c, id);
		explain_causes(o, c, e->redeliveries[id - 1].rebalance);
		list_duplicates(o, c, 0, 0, id);
		return true;
	case 'D':
		if (id == 0 || id > e->duplicate_count)
			return false;
		explain_duplicate(o, c, id);
		explain_redelivery(o, c, e->duplicates[id - 1].redelivery);
		explain_causes(o, c, e->duplicates[id - 1].rebalance);
		return true;
	default:
		return false;
	}
}

bool report_explain(struct buf *to, const struct findings *f, struct sv id, bool color)
{
	uint64_t number;
	if (id.n < 2 || !sv_to_u64(sv_sub(id, 1, id.n), &number) || number == 0 || number > UINT32_MAX)
		return false;
	char letter = (char)(id.p[0] >= 'a' && id.p[0] <= 'z' ? id.p[0] - 'a' + 'A' : id.p[0]);
	struct arena *words = arena_new();
	const struct chapter_context context = { f, words, SIZE_MAX };
	const struct out_style style = { color, SV_ABSENT };
	struct out *o = out_new(to, OUT_TEXT, &style);
	bool found = write_explanation(o, &context, letter, (unsigned)number);
	if (found)
		chapter_thresholds(o, &context);
	out_finish(o);
	arena_free(words);
	return found;
}
