/* SPDX-License-Identifier: MIT */
/*
 * The chain of evidence behind one window, rebalance, redelivery or duplicate:
 * window -> member -> rebalance -> partition and offsets -> duplicates ->
 * amounts (method.md 7), followed from wherever one enters it. First what each
 * link of the chain is, then all evidence of all links in order of time, a line
 * a piece: when, by which clock, where it stands, and what it proves.
 */

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "report/report.h"
#include "report/sections.h"
#include "report/words.h"

/* A piece of evidence, and of which links it is one: "W3,R12". */
struct piece {
	const struct evidence *evidence;
	struct sv of;
	struct sv shows;
};

struct chain {
	struct piece *items;
	size_t count, capacity;
};

/* What is written to: the document, and the evidence that stands at its end. */
struct explanation {
	struct out *o;
	const struct chapter_context *c;
	struct chain chain;
};

/* ---- the chain ---- */

static void add_piece(struct explanation *x, struct sv id, const struct evidence *e)
{
	struct sv shows = sv_is_absent(e->role) ? sv_of(event_infos[e->type].what) : e->role;

	*ARENA_PUSH(x->c->a, x->chain.items, x->chain.count, x->chain.capacity) = (struct piece){ e, id, shows };
}

static void add_pieces(struct explanation *x, struct sv id, const struct evidence_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		add_piece(x, id, &list->items[i]);
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *x = left, *y = right;
	int order = order_i64(x->evidence->time.us, y->evidence->time.us);

	if (order == 0)
		order = order_i64(x->evidence->event, y->evidence->event);
	return order != 0 ? order : sv_cmp(x->of, y->of);
}

static void join_piece(struct arena *a, struct piece *into, const struct piece *one)
{
	size_t at;

	if (!sv_ends_with(into->of, one->of))
		into->of = arena_printf(a, "%.*s,%.*s", SV_ARG(into->of), SV_ARG(one->of));
	if (!sv_find(into->shows, one->shows, &at))
		into->shows = arena_printf(a, "%.*s; %.*s", SV_ARG(into->shows), SV_ARG(one->shows));
}

/* One event is one line, whatever number of links it belongs to. */
static void join_pieces(struct explanation *x)
{
	struct chain *chain = &x->chain;
	size_t kept = 0;

	if (chain->count > 1)
		qsort(chain->items, chain->count, sizeof *chain->items, compare_pieces);
	for (size_t i = 0; i < chain->count; i++) {
		struct piece *last = kept > 0 ? &chain->items[kept - 1] : NULL;
		const struct piece *one = &chain->items[i];

		if (last == NULL || one->evidence->event == 0 || last->evidence->event != one->evidence->event)
			chain->items[kept++] = *one;
		else
			join_piece(x->c->a, last, one);
	}
	chain->count = kept;
}

static struct sv instant_words(const struct explanation *x, int64_t us)
{
	return words_time(x->c->a, x->c->f, (struct ref_time){ us });
}

static void write_chain(struct explanation *x)
{
	static const struct column columns[] = {
		{ "time", ALIGN_LEFT }, { "as written", ALIGN_LEFT }, { "where", ALIGN_LEFT },
		{ "of", ALIGN_LEFT },	{ "what it shows", ALIGN_LEFT }, { "text", ALIGN_LEFT },
	};

	join_pieces(x);
	if (x->chain.count == 0)
		return;
	out_section(x->o, "chain", SV("The evidence, in order of time"));
	out_table(x->o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < x->chain.count; i++) {
		const struct evidence *e = x->chain.items[i].evidence;

		out_cell(x->o, instant_words(x, e->time.us));
		out_cell(x->o, instant_words(x, e->written.us));
		out_cell(x->o, words_place(x->c->a, x->c->f, &e->place));
		out_cell(x->o, x->chain.items[i].of);
		out_cell(x->o, arena_printf(x->c->a, "%s: %.*s", strength_name(e->strength), SV_ARG(x->chain.items[i].shows)));
		out_cell(x->o, e->text);
		out_row_end(x->o);
	}
	out_table_end(x->o);
}

/* ---- its links ---- */

static const struct window *window_of(const struct findings *f, unsigned id)
{
	return id == 0 || id > f->windows.count ? NULL : &f->windows.items[id - 1];
}

static void explain_window(struct explanation *x, unsigned id)
{
	const struct chapter_context *c = x->c;
	struct out *o = x->o;
	const struct window *w = window_of(c->f, id);
	if (w == NULL)
		return;
	out_section(o, "window", arena_printf(c->a, "W%u: %s on %.*s", w->id, window_kind_infos[w->kind].name,
					      SV_ARG(words_or_dash(w->host))));
	out_paragraph(o, arena_printf(c->a, "%s: %s. From %.*s to %.*s (%.*s)%s.",
				      window_is_jitter(w) ? "Jitter" : "Not the network",
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
	add_pieces(x, words_id(c->a, 'W', w->id), &w->evidence);
}

/* How long it lasted, who was without partitions, and which moved. */
static void explain_extent(struct explanation *x, const struct rebalance *r)
{
	struct arena *a = x->c->a;
	struct sv moved = SV("");

	out_paragraph(x->o, arena_printf(a, "It lasted %.*s, from %.*s to %.*s.",
					 SV_ARG(words_duration(a, span_length_us(r->span))),
					 SV_ARG(words_time(a, x->c->f, r->span.start)),
					 SV_ARG(words_time(a, x->c->f, r->span.end))));
	for (size_t i = 0; i < r->absence_count; i++) {
		const struct absence *one = &r->absences[i];
		out_bullet(x->o, arena_printf(a, "%.*s was without partitions for %.*s, until %.*s",
					      SV_ARG(words_or_dash(one->client.n > 0 ? one->client : one->host)),
					      SV_ARG(words_duration(a, span_length_us(one->span))),
					      SV_ARG(words_time(a, x->c->f, one->span.end))));
	}
	for (size_t i = 0; i < r->partitions_moved_count; i++)
		moved = arena_printf(a, "%.*s%s%.*s", SV_ARG(moved), i > 0 ? ", " : "", SV_ARG(r->partitions_moved[i]));
	if (r->partitions_moved_count > 0)
		out_bullet(x->o, arena_printf(a, "partitions moved: %.*s", SV_ARG(moved)));
}

static void explain_rebalance(struct explanation *x, unsigned id)
{
	const struct chapter_context *c = x->c;
	struct out *o = x->o;
	const struct rebalance *r = rebalances_get(&c->f->rebalances, id);
	if (r == NULL)
		return;
	out_section(o, "rebalance", arena_printf(c->a, "R%u: %s of %.*s", r->id, trigger_infos[r->trigger].name,
						 SV_ARG(words_doer(r))));
	out_paragraph(o, arena_printf(c->a, "Group %.*s, generation %.*s, at %.*s: %s. Known from: %s (%s).", SV_ARG(r->group),
				      SV_ARG(r->has_generation ? arena_printf(c->a, "%" PRId64, r->generation) : SV("unknown")),
				      SV_ARG(words_time(c->a, c->f, r->trigger_time)), trigger_infos[r->trigger].what,
				      r->trigger_basis, strength_name(r->trigger_strength)));
	if (!r->is_root)
		out_paragraph(o, arena_printf(c->a, "It follows from R%u.", r->root));
	explain_extent(x, r);
	if (r->has_exposure)
		out_paragraph(o, arena_printf(c->a, "Exposed from %.*s to %.*s; jitter overlaps %.*s of that.",
					      SV_ARG(words_time(c->a, c->f, r->exposure.start)),
					      SV_ARG(words_time(c->a, c->f, r->exposure.end)),
					      SV_ARG(words_duration(c->a, r->overlap_us))));
	out_paragraph(o, arena_printf(c->a, "Network: %s%s%.*s", attribution_name(r->attribution),
				      sv_is_absent(r->attribution_note) ? "" : ". ", SV_ARG(r->attribution_note)));
	add_pieces(x, words_id(c->a, 'R', r->id), &r->evidence);
	add_pieces(x, words_id(c->a, 'R', r->id), &r->stalls);
}

static void explain_windows_of(struct explanation *x, unsigned rebalance)
{
	const struct rebalance *r = rebalances_get(&x->c->f->rebalances, rebalance);
	for (size_t i = 0; r != NULL && i < r->window_count; i++)
		explain_window(x, r->windows[i]->id);
	for (size_t i = 0; r != NULL && i < r->pause_count; i++)
		explain_window(x, r->pauses[i]->id);
}

/* The windows behind the root, the root, and the rebalance when that is another. */
static void explain_causes(struct explanation *x, unsigned rebalance)
{
	const struct rebalance *r = rebalances_get(&x->c->f->rebalances, rebalance);
	if (r == NULL)
		return;
	explain_windows_of(x, r->root);
	if (!r->is_root)
		explain_rebalance(x, r->root);
	explain_rebalance(x, r->id);
}

static void explain_redelivery(struct explanation *x, unsigned id)
{
	const struct chapter_context *c = x->c;
	struct out *o = x->o;
	const struct side_effects *e = &c->f->effects;
	if (id == 0 || id > e->redelivery_count)
		return;
	const struct redelivery *r = &e->redeliveries[id - 1];
	out_section(o, "redelivery",
		    arena_printf(c->a, "L%u: %.*s-%" PRId64 " delivered again from offset %" PRId64 " to %" PRId64,
				 r->id, SV_ARG(r->topic), r->partition, r->committed_offset, r->processed_offset - 1));
	if (r->records > 0)
		out_paragraph(o, arena_printf(c->a, "%zu %s handled by %.*s and again by %.*s (%s).", r->records,
					      r->records == 1 ? "record was" : "records were",
					      SV_ARG(words_or_dash(r->from)), SV_ARG(words_or_dash(r->to)), r->basis));
	else
		out_paragraph(o, arena_printf(c->a, "It came to %.*s (%s); nothing in the evidence shows each record.",
					      SV_ARG(words_or_dash(r->to)), r->basis));
	add_pieces(x, words_id(c->a, 'L', r->id), &r->evidence);
}

static void explain_duplicate(struct explanation *x, unsigned id)
{
	const struct chapter_context *c = x->c;
	struct out *o = x->o;
	const struct side_effects *e = &c->f->effects;
	if (id == 0 || id > e->duplicate_count)
		return;
	const struct duplicate *d = &e->duplicates[id - 1];
	out_section(o, "duplicate",
		    arena_printf(c->a, "D%u: %.*s, step %.*s, took effect %zu times", d->id, SV_ARG(d->business_key),
				 SV_ARG(words_or_dash(d->step)), d->effects));
	out_paragraph(o, arena_printf(c->a, "Cause: %s. Executed too much: %.*s.", cause_name(d->cause),
				      SV_ARG(words_money(c->a, d->has_amount, d->amount_micros, d->currency))));
	for (size_t i = 0; i < d->attempt_count; i++)
		add_piece(x, words_id(c->a, 'D', d->id), &d->attempts[i]->evidence);
}

/* The duplicates that one rebalance, redelivery or window led to. */
static void list_duplicates(struct out *o, const struct chapter_context *c, unsigned window, unsigned rebalance,
			    unsigned redelivery)
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
		out_bullet(o, arena_printf(c->a, "D%u %.*s %.*s, %.*s", d->id, SV_ARG(d->business_key),
					   SV_ARG(words_or_dash(d->step)),
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

static bool explain_links(struct explanation *x, char letter, unsigned id)
{
	const struct chapter_context *c = x->c;
	struct out *o = x->o;
	const struct side_effects *e = &c->f->effects;
	switch (letter) {
	case 'W':
		if (window_of(c->f, id) == NULL)
			return false;
		explain_window(x, id);
		list_rebalances(o, c, window_of(c->f, id));
		list_duplicates(o, c, id, 0, 0);
		return true;
	case 'R':
		if (rebalances_get(&c->f->rebalances, id) == NULL)
			return false;
		explain_causes(x, id);
		list_duplicates(o, c, 0, id, 0);
		return true;
	case 'L':
		if (id == 0 || id > e->redelivery_count)
			return false;
		explain_causes(x, e->redeliveries[id - 1].rebalance);
		explain_redelivery(x, id);
		list_duplicates(o, c, 0, 0, id);
		return true;
	case 'D':
		if (id == 0 || id > e->duplicate_count)
			return false;
		explain_causes(x, e->duplicates[id - 1].rebalance);
		explain_redelivery(x, e->duplicates[id - 1].redelivery);
		explain_duplicate(x, id);
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
	const struct chapter_context context = { .f = f, .a = words, .rows_most = SIZE_MAX };
	const struct out_style style = { color, SV_ABSENT };
	struct explanation x = { out_new(to, OUT_TEXT, &style), &context, { NULL, 0, 0 } };
	bool found = explain_links(&x, letter, (unsigned)number);
	write_chain(&x);
	if (found)
		chapter_thresholds(x.o, &context);
	out_finish(x.o);
	arena_free(words);
	return found;
}
