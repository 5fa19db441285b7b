/* SPDX-License-Identifier: MIT */
/* Redelivered offsets, side effects executed twice, books that disagree. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static void redelivery_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "id", ALIGN_LEFT },		 { "partition", ALIGN_LEFT },	  { "committed", ALIGN_RIGHT },
		{ "processed up to", ALIGN_RIGHT }, { "records twice", ALIGN_RIGHT }, { "from", ALIGN_LEFT },
		{ "to", ALIGN_LEFT },		 { "rebalance", ALIGN_LEFT },
	};
	const struct side_effects *e = &c->f->effects;
	size_t shown = e->redelivery_count < c->rows_most ? e->redelivery_count : c->rows_most;
	out_paragraph(o, SV("Offsets that were handled again, from the committed offset at which the next owner resumed to the end "
			    "of what had been processed:"));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < shown; i++) {
		const struct redelivery *r = &e->redeliveries[i];
		out_cell_anchor(o, words_id(c->a, 'L', r->id));
		out_cell(o, arena_printf(c->a, "%.*s-%" PRId64, SV_ARG(r->topic), r->partition));
		out_cell(o, arena_printf(c->a, "%" PRId64, r->committed_offset));
		out_cell(o, arena_printf(c->a, "%" PRId64, r->processed_offset));
		out_cell(o, r->records > 0 ? arena_printf(c->a, "%zu", r->records) : SV("-"));
		out_cell(o, words_or_dash(r->from));
		out_cell(o, words_or_dash(r->to));
		out_cell_refs(o, words_id(c->a, 'R', r->rebalance));
		out_row_end(o);
	}
	out_table_end(o);
	document_rest(o, c, shown, e->redelivery_count);
}

static enum tone cause_tone(enum cause c)
{
	return c == CAUSE_PROVEN || c == CAUSE_STRONG ? TONE_BAD : c == CAUSE_WEAK ? TONE_WARN : TONE_MUTED;
}

static void duplicate_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "id", ALIGN_LEFT },	  { "business key", ALIGN_LEFT }, { "step", ALIGN_LEFT },
		{ "effects", ALIGN_RIGHT }, { "too much", ALIGN_RIGHT },	  { "cause", ALIGN_LEFT },
		{ "redelivery", ALIGN_LEFT }, { "rebalance", ALIGN_LEFT },  { "window", ALIGN_LEFT },
	};
	const struct side_effects *e = &c->f->effects;
	size_t shown = e->duplicate_count < c->rows_most ? e->duplicate_count : c->rows_most;
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < shown; i++) {
		const struct duplicate *d = &e->duplicates[i];
		out_cell_anchor(o, words_id(c->a, 'D', d->id));
		out_cell(o, words_or_dash(d->business_key));
		out_cell(o, words_or_dash(d->step));
		out_cell(o, arena_printf(c->a, "%zu", d->effects));
		out_cell(o, words_money(c->a, d->has_amount, d->amount_micros, d->currency));
		out_cell_tone(o, cause_tone(d->cause), sv_of(cause_name(d->cause)));
		out_cell_refs(o, words_id(c->a, 'L', d->redelivery));
		out_cell_refs(o, words_id(c->a, 'R', d->rebalance));
		out_cell_refs(o, words_id(c->a, 'W', d->window));
		out_row_end(o);
	}
	out_table_end(o);
	document_rest(o, c, shown, e->duplicate_count);
}

static void totals(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	for (size_t i = 0; i < e->by_step_count; i++) {
		struct sv money = words_amounts_of_step(c->a, e->amounts, e->amount_count, e->by_step[i].step);
		out_bullet(o, arena_printf(c->a, "%.*s: %zu executed more than once%s%.*s",
					   SV_ARG(words_or_dash(e->by_step[i].step)), e->by_step[i].count,
					   money.n > 0 ? ", " : "", SV_ARG(money)));
	}
	for (int k = 0; k < CAUSE_COUNT; k++)
		if (e->by_cause[k] > 0)
			out_bullet(o, arena_printf(c->a, "cause %s: %zu", cause_name((enum cause)k), e->by_cause[k]));
	out_bullet(o, arena_printf(c->a, "recognised and not executed again: %zu; failed and done again: %zu",
				   e->suppressed, e->retries));
}

static struct evidence_list evidence_of_attempts(struct arena *a, const struct duplicate *d)
{
	struct evidence_list list = { .items = arena_array(a, d->attempt_count, sizeof *list.items), .count = d->attempt_count };

	for (size_t i = 0; i < d->attempt_count; i++)
		list.items[i] = d->attempts[i]->evidence;
	return list;
}

static void attempts_of(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("Attempts of each duplicate"));
	for (size_t i = 0; i < e->duplicate_count && i < c->rows_most; i++) {
		const struct duplicate *d = &e->duplicates[i];
		const struct evidence_list list = evidence_of_attempts(c->a, d);
		out_details(o, arena_printf(c->a, "Attempts of D%u, %.*s %.*s", d->id, SV_ARG(d->business_key), SV_ARG(d->step)));
		document_evidence(o, c, &list);
		out_details_end(o);
	}
	out_fold_end(o);
}

static void evidence_of_redeliveries(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("Evidence of each range delivered again"));
	for (size_t i = 0; i < e->redelivery_count && i < c->rows_most; i++) {
		const struct redelivery *r = &e->redeliveries[i];
		out_details(o, arena_printf(c->a, "Evidence of L%u, %s", r->id, r->basis));
		document_evidence(o, c, &r->evidence);
		out_details_end(o);
	}
	out_fold_end(o);
}

static void effects_told(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	out_paragraph(o, arena_printf(c->a, "%zu attempts at %zu intents (one business key and step each) were recorded; "
					    "%zu intents took effect more than once.",
				      e->records, e->intents, e->duplicate_count));
	totals(o, c);
}

/* Redeliveries are told without effects too: logs and captures show them. */
void chapter_effects(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	if (e->records == 0 && e->redelivery_count == 0)
		return;
	out_section(o, "effects", e->records > 0 ? SV("Side effects executed twice") : SV("Offsets handled again"));
	if (e->records > 0)
		effects_told(o, c);
	else
		out_paragraph(o, SV("No record of side effects is among the evidence: whether any was executed twice "
				    "is not known."));
	if (e->redelivery_count > 0) {
		redelivery_table(o, c);
		evidence_of_redeliveries(o, c);
	}
	if (e->duplicate_count > 0) {
		duplicate_table(o, c);
		attempts_of(o, c);
	}
	size_t lost = e->lost_count < c->rows_most ? e->lost_count : c->rows_most;
	for (size_t i = 0; i < lost; i++)
		out_bullet(o, arena_printf(c->a, "owed and never done: %.*s %.*s", SV_ARG(e->lost[i].business_key),
					   SV_ARG(e->lost[i].step)));
	document_rest(o, c, lost, e->lost_count);
	size_t conflicts = e->conflict_count < c->rows_most ? e->conflict_count : c->rows_most;
	for (size_t i = 0; i < conflicts; i++)
		out_bullet(o, arena_printf(c->a, "one key, two different requests (a conflict, not a duplicate): %.*s %.*s",
					   SV_ARG(e->conflicts[i].business_key), SV_ARG(e->conflicts[i].step)));
	document_rest(o, c, conflicts, e->conflict_count);
}

static void book_table(struct out *o, const struct chapter_context *c, const struct book_pair *p)
{
	const struct column columns[] = {
		{ "business key", ALIGN_LEFT },
		{ arena_strdup(c->a, p->system_a), ALIGN_RIGHT },
		{ arena_strdup(c->a, p->system_b), ALIGN_RIGHT },
		{ "amounts", ALIGN_RIGHT },
		{ "accounted for by", ALIGN_LEFT },
	};
	size_t shown = p->difference_count < c->rows_most ? p->difference_count : c->rows_most;
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < shown; i++) {
		const struct book_difference *d = &p->differences[i];
		out_cell(o, d->business_key);
		out_cell(o, arena_printf(c->a, "%zu", d->count_a));
		out_cell(o, arena_printf(c->a, "%zu", d->count_b));
		out_cell(o, d->has_amounts ? arena_printf(c->a, "%.*s against %.*s",
							  SV_ARG(words_money(c->a, true, d->micros_a, SV(""))),
							  SV_ARG(words_money(c->a, true, d->micros_b, d->currency)))
					   : SV("-"));
		out_cell_refs(o, words_id(c->a, 'D', d->duplicate));
		out_row_end(o);
	}
	out_table_end(o);
	document_rest(o, c, shown, p->difference_count);
	if (p->unlisted > 0)
		out_paragraph(o, arena_printf(c->a, "Of %zu more the keys are not listed anywhere: there are too many.",
					      p->unlisted));
}

static void rows_of_differences(struct out *o, const struct chapter_context *c, const struct book_pair *p)
{
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("Rows of each difference"));
	for (size_t i = 0; i < p->difference_count && i < c->rows_most; i++) {
		out_details(o, arena_printf(c->a, "Rows of %.*s", SV_ARG(p->differences[i].business_key)));
		document_evidence(o, c, &p->differences[i].evidence);
		out_details_end(o);
	}
	out_fold_end(o);
}

void chapter_books(struct out *o, const struct chapter_context *c)
{
	const struct side_effects *e = &c->f->effects;
	if (e->book_count == 0)
		return;
	out_section(o, "books", SV("Books compared"));
	for (size_t i = 0; i < e->book_count; i++) {
		const struct book_pair *p = &e->books[i];
		if (p->shared == 0) {
			out_paragraph(o, arena_printf(c->a, "%.*s and %.*s have no business key in common: they cannot be "
							    "compared.",
						      SV_ARG(p->system_a), SV_ARG(p->system_b)));
			continue;
		}
		out_paragraph(o, arena_printf(c->a, "%.*s against %.*s: %zu business keys, %zu agree, %zu do not.",
					      SV_ARG(p->system_a), SV_ARG(p->system_b), p->keys, p->agree,
					      p->difference_count + p->unlisted));
		if (p->difference_count == 0)
			continue;
		book_table(o, c, p);
		rows_of_differences(o, c, p);
	}
}

/* ---- JSON ---- */

static void members_redeliveries(struct json_writer *w, const struct findings *f)
{
	json_array(w, "redeliveries");
	for (size_t i = 0; i < f->effects.redelivery_count; i++) {
		const struct redelivery *r = &f->effects.redeliveries[i];
		json_object(w, NULL);
		json_id(w, "id", 'L', r->id);
		json_text(w, "group", r->group);
		json_text(w, "topic", r->topic);
		json_int(w, "partition", r->partition);
		json_int(w, "committed_offset", r->committed_offset);
		json_int(w, "processed_offset", r->processed_offset);
		json_maybe_int(w, "records", r->records > 0, (int64_t)r->records);
		json_id(w, "rebalance", 'R', r->rebalance);
		json_text(w, "from", r->from);
		json_text(w, "to", r->to);
		json_time(w, "time", true, r->time.us);
		json_literal(w, "basis", r->basis);
		members_evidence(w, "evidence", &r->evidence);
		json_object_end(w);
	}
	json_array_end(w);
}

static void member_attempt(struct json_writer *w, const struct attempt *t)
{
	json_object(w, NULL);
	json_time(w, "time", true, t->time.us);
	json_text(w, "consumer", t->consumer);
	json_text(w, "request_id", t->request_id);
	json_text(w, "message_id", t->message_id);
	json_text(w, "topic", t->topic);
	json_maybe_int(w, "partition", t->has_offset, t->partition);
	json_maybe_int(w, "offset", t->has_offset, t->offset);
	json_text(w, "status", t->status);
	json_bool(w, "took_effect", t->took_effect);
	json_amount(w, "amount", t->has_amount, t->amount_micros);
	json_text(w, "currency", t->currency);
	member_evidence(w, "evidence", &t->evidence);
	json_object_end(w);
}

static void members_duplicates(struct json_writer *w, const struct findings *f)
{
	json_array(w, "duplicates");
	for (size_t i = 0; i < f->effects.duplicate_count; i++) {
		const struct duplicate *d = &f->effects.duplicates[i];
		json_object(w, NULL);
		json_id(w, "id", 'D', d->id);
		json_text(w, "business_key", d->business_key);
		json_text(w, "step", d->step);
		json_text(w, "version", d->version);
		json_literal(w, "kind", duplicate_kind_name(d->kind));
		json_literal(w, "cause", cause_name(d->cause));
		json_int(w, "effects", (int64_t)d->effects);
		json_array(w, "attempts");
		for (size_t k = 0; k < d->attempt_count; k++)
			member_attempt(w, d->attempts[k]);
		json_array_end(w);
		json_id(w, "redelivery", 'L', d->redelivery);
		json_id(w, "rebalance", 'R', d->rebalance);
		json_id(w, "window", 'W', d->window);
		json_amount(w, "amount", d->has_amount, d->amount_micros);
		json_text(w, "currency", d->currency);
		json_object_end(w);
	}
	json_array_end(w);
}

static void members_totals(struct json_writer *w, const struct side_effects *e)
{
	json_object(w, "totals");
	json_object(w, "by_cause");
	for (int k = 0; k < CAUSE_COUNT; k++)
		json_int(w, cause_name((enum cause)k), (int64_t)e->by_cause[k]);
	json_object_end(w);
	json_array(w, "by_step");
	for (size_t i = 0; i < e->by_step_count; i++) {
		json_object(w, NULL);
		json_text(w, "step", e->by_step[i].step);
		json_int(w, "duplicates", (int64_t)e->by_step[i].count);
		json_object_end(w);
	}
	json_array_end(w);
	json_array(w, "amounts");
	for (size_t i = 0; i < e->amount_count; i++) {
		json_object(w, NULL);
		json_text(w, "step", e->amounts[i].step);
		json_text(w, "currency", e->amounts[i].currency);
		json_amount(w, "amount", true, e->amounts[i].micros);
		json_int(w, "duplicates", (int64_t)e->amounts[i].count);
		json_object_end(w);
	}
	json_array_end(w);
	json_int(w, "suppressed", (int64_t)e->suppressed);
	json_int(w, "retries", (int64_t)e->retries);
	json_object_end(w);
}

static void members_books(struct json_writer *w, const struct side_effects *e)
{
	json_array(w, "books");
	for (size_t i = 0; i < e->book_count; i++) {
		const struct book_pair *p = &e->books[i];
		json_object(w, NULL);
		json_text(w, "system_a", p->system_a);
		json_text(w, "system_b", p->system_b);
		json_int(w, "keys", (int64_t)p->keys);
		json_int(w, "agree", (int64_t)p->agree);
		json_array(w, "differences");
		for (size_t k = 0; k < p->difference_count; k++) {
			const struct book_difference *d = &p->differences[k];
			json_object(w, NULL);
			json_text(w, "business_key", d->business_key);
			json_int(w, "count_a", (int64_t)d->count_a);
			json_int(w, "count_b", (int64_t)d->count_b);
			json_amount(w, "amount_a", d->has_amounts, d->micros_a);
			json_amount(w, "amount_b", d->has_amounts, d->micros_b);
			json_text(w, "currency", d->currency);
			json_id(w, "duplicate", 'D', d->duplicate);
			members_evidence(w, "evidence", &d->evidence);
			json_object_end(w);
		}
		json_array_end(w);
		json_object_end(w);
	}
	json_array_end(w);
}

void members_effects(struct json_writer *w, const struct findings *f)
{
	const struct side_effects *e = &f->effects;
	members_redeliveries(w, f);
	json_object(w, "side_effects");
	json_int(w, "records", (int64_t)e->records);
	json_int(w, "intents", (int64_t)e->intents);
	members_duplicates(w, f);
	members_totals(w, e);
	json_array(w, "key_conflicts");
	for (size_t i = 0; i < e->conflict_count; i++) {
		json_object(w, NULL);
		json_text(w, "business_key", e->conflicts[i].business_key);
		json_text(w, "step", e->conflicts[i].step);
		member_evidence(w, "first", &e->conflicts[i].first->evidence);
		member_evidence(w, "other", &e->conflicts[i].other->evidence);
		json_object_end(w);
	}
	json_array_end(w);
	json_array(w, "lost");
	for (size_t i = 0; i < e->lost_count; i++) {
		json_object(w, NULL);
		json_text(w, "business_key", e->lost[i].business_key);
		json_text(w, "step", e->lost[i].step);
		json_object_end(w);
	}
	json_array_end(w);
	members_books(w, e);
	json_object_end(w);
}
