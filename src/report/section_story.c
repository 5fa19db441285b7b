/* SPDX-License-Identifier: MIT */
/*
 * What happened, as it is said in the meeting: each cause with what came again
 * after it and what that cost. Nothing here is found anew: each sentence names
 * the rebalance and the windows that it repeats, and the chapters below have the
 * figures behind it. What to change is told by section_change.c.
 */

#include <stdlib.h>

#include "base/order.h"
#include "report/sections.h"
#include "report/words.h"

/* Told one by one; the table of rebalances has the others. */
#define CHAINS_MOST 6

/* What everyday operation does: told by their number, unless something came again after them. */
static const unsigned ordinary = 1U << TRIGGER_MEMBER_JOIN | 1U << TRIGGER_MEMBER_LEAVE | 1U << TRIGGER_METADATA_CHANGE |
				 1U << TRIGGER_SUBSCRIPTION_CHANGE | 1U << TRIGGER_ADMIN_REMOVAL;

static const char *const fate_words[] = {
	[FATE_NOT_EVICTED] = "",
	[FATE_WRONGLY_EVICTED] = ", though its process lived",
	[FATE_GONE] = ", with no sign of life afterwards",
	[FATE_UNKNOWN] = "",
};

/* ---- chains: a root rebalance, and what came again after it and its followers ---- */

struct chain {
	const struct rebalance *root;	/* NULL: effects that came again without any rebalance */
	size_t duplicates;
	size_t records;		/* delivered again */
	size_t ranges;		/* of offsets, of which the records are not known */
};

struct chains {
	struct chain *items;	/* by id of the root; items[0] has none */
	size_t count;
};

/* The id of the root of this rebalance; 0 for none. */
static unsigned root_of(const struct findings *f, unsigned rebalance)
{
	const struct rebalance *r = rebalances_get(&f->rebalances, rebalance);
	return r == NULL ? 0 : r->root;
}

static struct chain *chains_by_rebalance(const struct chapter_context *c)
{
	const struct findings *f = c->f;
	struct chain *items = arena_array(c->a, f->rebalances.count + 1, sizeof *items);

	for (size_t i = 0; i < f->rebalances.count; i++) {
		const struct rebalance *r = &f->rebalances.items[i];
		if (r->is_root)
			items[r->id].root = r;
	}
	for (size_t i = 0; i < f->effects.duplicate_count; i++)
		items[root_of(f, f->effects.duplicates[i].rebalance)].duplicates++;
	for (size_t i = 0; i < f->effects.redelivery_count; i++) {
		const struct redelivery *r = &f->effects.redeliveries[i];
		struct chain *chain = &items[root_of(f, r->rebalance)];
		chain->records += r->records;
		chain->ranges += r->records == 0;
	}
	return items;
}

static bool is_told(const struct chain *k)
{
	return k->root != NULL && ((ordinary & 1U << k->root->trigger) == 0 || k->duplicates + k->records + k->ranges > 0);
}

static int compare_cost(const void *x, const void *y)
{
	const struct chain *a = x, *b = y;
	int order = order_i64((int64_t)b->duplicates, (int64_t)a->duplicates);
	return order != 0 ? order : order_i64(a->root->id, b->root->id);
}

static int compare_id(const void *x, const void *y)
{
	return order_i64(((const struct chain *)x)->root->id, ((const struct chain *)y)->root->id);
}

/* Those that cost most, in order of time, then the others. */
static struct chains chains_to_tell(struct arena *a, const struct chain *all, size_t count)
{
	struct chains told = { arena_array(a, count + 1, sizeof *told.items), 0 };

	for (size_t i = 1; i <= count; i++)
		if (is_told(&all[i]))
			told.items[told.count++] = all[i];
	if (told.count == 0)
		return told;
	size_t first = told.count < CHAINS_MOST ? told.count : CHAINS_MOST;
	qsort(told.items, told.count, sizeof *told.items, compare_cost);
	qsort(told.items, first, sizeof *told.items, compare_id);
	qsort(told.items + first, told.count - first, sizeof *told.items, compare_id);
	return told;
}

/* ---- why ---- */

static const struct window *longest_of(const struct window *const *windows, size_t n)
{
	const struct window *longest = windows[0];

	for (size_t i = 1; i < n; i++)
		if (span_length_us(window_silence(windows[i])) > span_length_us(window_silence(longest)))
			longest = windows[i];
	return longest;
}

/* The longest of them, and what else they show that names a place to look at. */
static struct sv windows_words(struct arena *a, const struct window *const *windows, size_t n)
{
	const struct window *w = longest_of(windows, n);
	unsigned kinds = 0;
	struct sv text = arena_printf(a, "%s, for %.*s", window_kind_infos[w->kind].what,
				      SV_ARG(words_duration(a, span_length_us(window_silence(w)))));

	if (w->has_outage && span_length_us(w->outage) < span_length_us(window_silence(w)))
		text = arena_printf(a, "%.*s, of which the path was gone for %.*s", SV_ARG(text),
				    SV_ARG(words_duration(a, span_length_us(w->outage))));
	for (size_t i = 0; i < n; i++)
		kinds |= windows[i]->kinds;
	for (int k = 0; k < WINDOW_KIND_COUNT; k++)
		if ((kinds & 1U << k) != 0 && k != (int)w->kind && window_kind_infos[k].remedy != NULL)
			text = arena_printf(a, "%.*s; %s", SV_ARG(text), window_kind_infos[k].what);
	return arena_printf(a, "%.*s.", SV_ARG(text));
}

static struct sv why_words(struct arena *a, const struct rebalance *r)
{
	bool by_network = r->attribution == ATTRIBUTION_EXPLAINED || r->attribution == ATTRIBUTION_LAGGED;
	bool by_pause = r->attribution == ATTRIBUTION_NOT_NETWORK;

	if (by_network && r->window_count > 0 && r->stalls.count == 0)
		return arena_printf(a, "The network: %.*s", SV_ARG(windows_words(a, r->windows, r->window_count)));
	if (by_pause && r->pause_count > 0 && r->stalls.count == 0)
		return arena_printf(a, "Not the network: %.*s", SV_ARG(windows_words(a, r->pauses, r->pause_count)));
	return sv_is_absent(r->attribution_note) ? SV("Its cause is not known.") : r->attribution_note;
}

static struct sv window_ids(struct arena *a, const struct rebalance *r)
{
	struct sv windows = words_windows_behind(a, r);
	return arena_printf(a, "R%u%s%.*s", r->id, windows.n > 0 ? "," : "", SV_ARG(windows));
}

/* ---- what it cost ---- */

/* Of the duplicates that stand behind this root, or, for NULL, behind no rebalance. */
static struct sv cost_words(const struct chapter_context *c, const struct rebalance *root)
{
	const struct side_effects *e = &c->f->effects;
	const struct duplicate **of = arena_array(c->a, e->duplicate_count + 1, sizeof(const struct duplicate *));
	struct amount_total *totals;
	size_t n = 0, total_count;

	for (size_t i = 0; i < e->duplicate_count; i++)
		if (root_of(c->f, e->duplicates[i].rebalance) == (root == NULL ? 0 : root->id))
			of[n++] = &e->duplicates[i];
	duplicates_amounts(of, n, c->a, &totals, &total_count);
	return total_count == 0 ? SV("") : arena_printf(c->a, ": %.*s", SV_ARG(words_amounts(c->a, totals, total_count)));
}

#define EFFECT_TWICE "side effect was executed twice"
#define EFFECTS_TWICE "side effects were executed twice"

static struct sv consequence_words(const struct chapter_context *c, const struct chain *k)
{
	const struct side_effects *e = &c->f->effects;
	struct sv again = SV("");

	if (k->records > 0)
		again = arena_printf(c->a, " %zu %s delivered again", k->records,
				     words_for(k->records, "record was", "records were"));
	if (k->ranges > 0)
		again = arena_printf(c->a, "%.*s%s%zu %s delivered again", SV_ARG(again), k->records > 0 ? " and " : " ", k->ranges,
				     words_for(k->ranges, "range of offsets was", "ranges of offsets were"));
	if (k->duplicates > 0)
		return arena_printf(c->a, "%.*s%s%zu %s%.*s.", SV_ARG(again), again.n > 0 ? "; " : " ", k->duplicates,
				    words_for(k->duplicates, EFFECT_TWICE, EFFECTS_TWICE), SV_ARG(cost_words(c, k->root)));
	if (again.n > 0)
		return arena_printf(c->a, "%.*s; %s.", SV_ARG(again),
				    e->records > 0 ? "no side effect is known to have been executed twice"
						   : "what was executed twice is not known");
	return again;
}

static void tell_chain(struct out *o, const struct chapter_context *c, const struct chain *k)
{
	const struct rebalance *r = k->root;
	struct sv group = c->f->groups.count > 1 ? arena_printf(c->a, " in group %.*s", SV_ARG(r->group)) : SV("");

	out_bullet_refs(o, window_ids(c->a, r),
			arena_printf(c->a, "%.*s, %.*s of %.*s%.*s%s. %.*s%.*s", SV_ARG(words_time(c->a, c->f, r->trigger_time)),
				     SV_ARG(words_trigger(c->a, r)), SV_ARG(words_doer(r)), SV_ARG(group), fate_words[r->fate],
				     SV_ARG(why_words(c->a, r)), SV_ARG(consequence_words(c, k))));
}

/* The chains beyond the first few, in one line. */
static void tell_rest(struct out *o, const struct chapter_context *c, const struct chain *rest, size_t n)
{
	struct sv ids = SV("");
	size_t duplicates = 0;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		ids = i >= CHAINS_MOST ? ids
				       : arena_printf(c->a, "%.*s%sR%u", SV_ARG(ids), i > 0 ? "," : "", rest[i].root->id);
		duplicates += rest[i].duplicates;
	}
	out_bullet_refs(o, ids, arena_printf(c->a, "%s%zu more, each with its cause under Rebalances; %zu %s after them.",
					     n > CHAINS_MOST ? "these and others, " : "", n, duplicates,
					     words_for(duplicates, EFFECT_TWICE, EFFECTS_TWICE)));
}

static void tell_ordinary(struct out *o, const struct chapter_context *c, const struct chain *all, size_t count)
{
	size_t of[TRIGGER_COUNT] = { 0 }, n = 0;
	struct sv text = SV("");

	for (size_t i = 1; i <= count; i++) {
		if (all[i].root == NULL || is_told(&all[i]))
			continue;
		of[all[i].root->trigger]++;
		n++;
	}
	for (int t = 0; t < TRIGGER_COUNT; t++)
		if (of[t] > 0)
			text = arena_printf(c->a, "%.*s%s%zu by %s", SV_ARG(text), text.n > 0 ? ", " : "", of[t],
					    trigger_infos[t].name);
	if (n > 0)
		out_bullet(o, arena_printf(c->a, "Everyday rebalances after which nothing is known to have come again: %.*s.",
					   SV_ARG(text)));
}

/* ---- what happened, all together ---- */

static struct sv effects_words(const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;

	if (e->records == 0)
		return SV("Whether any side effect was executed twice is not known: no export of them was given.");
	struct sv unknown = e->unknown == 0 ? SV("")
					    : arena_printf(c->a, " Of %zu attempts the outcome is not known: they are not counted.",
							   e->unknown);
	struct sv amounts = e->amount_count == 0 ? SV("")
						 : arena_printf(c->a, "; too much by %.*s",
								SV_ARG(words_amounts(c->a, e->amounts, e->amount_count)));
	if (e->duplicate_count == 0)
		return arena_printf(c->a, "None of %zu side effects is known to have been executed twice; %zu attempts that "
					  "came again were recognised.%.*s",
				    e->intents, e->suppressed, SV_ARG(unknown));
	return arena_printf(c->a, "%zu of %zu side effects were executed more than once%.*s.%.*s", e->duplicate_count, e->intents,
			    SV_ARG(amounts), SV_ARG(unknown));
}

/* Those that no rebalance stands behind, by cause (analysis/cause.h). */
static void tell_unchained(struct out *o, const struct chapter_context *c, const struct chain *none)
{
	static const char *const causes[CAUSE_COUNT] = {
		[CAUSE_PROVEN] = "by a rebalance that is left out here",
		[CAUSE_STRONG] = "by a rebalance that is not in the evidence",
		[CAUSE_WEAK] = "perhaps by a rebalance that is left out here",
		[CAUSE_UPSTREAM] = "sent twice by the caller",
		[CAUSE_UNRELATED] = "with no rebalance near",
	};
	const struct side_effects *e = &c->f->effects;
	size_t of[CAUSE_COUNT] = { 0 };
	struct sv text = SV("");

	for (size_t i = 0; i < e->duplicate_count; i++)
		of[e->duplicates[i].cause] += root_of(c->f, e->duplicates[i].rebalance) == 0;
	for (int k = 0; k < CAUSE_COUNT; k++)
		if (of[k] > 0)
			text = arena_printf(c->a, "%.*s%s%zu %s", SV_ARG(text), text.n > 0 ? ", " : "", of[k], causes[k]);
	if (none->duplicates > 0)
		out_bullet(o, arena_printf(c->a, "%zu %s for another reason (%.*s)%.*s.", none->duplicates,
					   words_for(none->duplicates, EFFECT_TWICE, EFFECTS_TWICE), SV_ARG(text),
					   SV_ARG(cost_words(c, NULL))));
}

static void tell_lost(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	size_t keys = 0;

	for (size_t i = 0; i < e->lost_count; i++)
		keys += i == 0 || !sv_eq(e->lost[i].business_key, e->lost[i - 1].business_key);
	if (keys > 0)
		out_bullet(o, arena_printf(c->a, "%zu %s owed and never done, of %zu %s; the first is %.*s of %.*s.", e->lost_count,
					   words_for(e->lost_count, "step was", "steps were"), keys,
					   words_for(keys, "business key", "business keys"), SV_ARG(words_or_dash(e->lost[0].step)),
					   SV_ARG(e->lost[0].business_key)));
}

static void tell_books(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;

	for (size_t i = 0; i < e->book_count; i++) {
		const struct book_pair *p = &e->books[i];
		if (p->shared > 0 && p->agree < p->keys)
			out_bullet(o, arena_printf(c->a, "The books of %.*s and %.*s disagree on %zu of %zu business keys.",
						   SV_ARG(p->system_a), SV_ARG(p->system_b), p->keys - p->agree, p->keys));
	}
}

void chapter_happened(struct out *o, const struct chapter_context *c)
{
	size_t count = c->f->rebalances.count;
	const struct chain *all = chains_by_rebalance(c);
	struct chains told = chains_to_tell(c->a, all, count);
	size_t first = told.count < CHAINS_MOST ? told.count : CHAINS_MOST;

	if (count == 0 && c->f->effects.records == 0)
		return;
	out_section(o, "happened", SV("What happened"));
	out_paragraph(o, effects_words(c));
	for (size_t i = 0; i < first; i++)
		tell_chain(o, c, &told.items[i]);
	tell_rest(o, c, told.items + first, told.count - first);
	tell_ordinary(o, c, all, count);
	tell_unchained(o, c, &all[0]);
	tell_lost(o, c);
	tell_books(o, c);
}
