/* SPDX-License-Identifier: MIT */
/* Silences, candidates for the session timeout, advice, and the dedupe TTL. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static struct sv quantile_words(struct arena *a, const struct quantile *q)
{
	if (!q->known)
		return SV("too few to say");
	struct sv text = words_duration(a, q->ms * US_PER_MS);
	if (q->has_low || q->has_high)
		text = arena_printf(a, "%.*s (95 %%: %.*s to %.*s)", SV_ARG(text),
				    SV_ARG(q->has_low ? words_duration(a, q->low_ms * US_PER_MS) : SV("?")),
				    SV_ARG(q->has_high ? words_duration(a, q->high_ms * US_PER_MS) : SV("?")));
	return text;
}

static void silence_row(struct out *o, const struct chapter_context *c, const char *name, const struct silences *s)
{
	out_cell(o, sv_of(name));
	out_cell(o, arena_printf(c->a, "%zu", s->n));
	out_cell(o, arena_printf(c->a, "%zu", s->censored));
	out_cell(o, quantile_words(c->a, &s->p50));
	out_cell(o, quantile_words(c->a, &s->p90));
	out_cell(o, quantile_words(c->a, &s->p99));
	out_cell(o, s->has_max ? words_duration(c->a, s->max_ms * US_PER_MS) : SV("-"));
	out_row_end(o);
}

static void silence_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "", ALIGN_LEFT },    { "n", ALIGN_RIGHT },   { "unfinished", ALIGN_RIGHT }, { "P50", ALIGN_LEFT },
		{ "P90", ALIGN_LEFT }, { "P99", ALIGN_LEFT }, { "longest", ALIGN_RIGHT },
	};
	const struct tuning *t = &c->f->tuning;
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	silence_row(o, c, "silences", &t->durations);
	silence_row(o, c, "outages", &t->outages);
	out_table_end(o);
}

static void candidate_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "session.timeout.ms", ALIGN_RIGHT },	 { "evictions", ALIGN_RIGHT },
		{ "rebalances avoided", ALIGN_RIGHT },	 { "duplicates avoided", ALIGN_RIGHT },
		{ "a crash is noticed after", ALIGN_RIGHT }, { "on average", ALIGN_RIGHT },
		{ "amounts avoided", ALIGN_LEFT },
	};
	const struct tuning *t = &c->f->tuning;
	if (t->candidate_count == 0)
		return;
	out_paragraph(o, SV("What each session timeout would have done to the silences seen, and what it costs when a consumer "
			    "really dies:"));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < t->candidate_count; i++) {
		const struct candidate *k = &t->candidates[i];
		out_cell(o, arena_printf(c->a, "%" PRId64 "%s", k->session_timeout_ms, k->is_current ? " (now)" : ""));
		out_cell_tone(o, k->evictions > 0 ? TONE_BAD : TONE_GOOD, arena_printf(c->a, "%zu", k->evictions));
		out_cell(o, arena_printf(c->a, "%zu", k->rebalances_avoided));
		out_cell(o, arena_printf(c->a, "%zu", k->duplicates_avoided));
		out_cell(o, words_duration(c->a, k->detection_ms * US_PER_MS));
		out_cell(o, words_duration(c->a, k->detection_mean_ms * US_PER_MS));
		out_cell(o, words_amounts(c->a, k->amounts_avoided, k->amount_count));
		out_row_end(o);
	}
	out_table_end(o);
}

void chapter_tuning(struct out *o, const struct chapter_context *c)
{
	const struct tuning *t = &c->f->tuning;
	out_section(o, "tuning", SV("Timeouts and the life of the dedupe record"));
	if (t->durations.n == 0 && t->candidate_count + t->advice_count + t->note_count == 0 && !t->ttl.known)
		out_paragraph(o, SV("No group is in the evidence, so nothing speaks for or against a timeout."));
	if (t->durations.n > 0)
		silence_table(o, c);
	candidate_table(o, c);
	for (size_t i = 0; i < t->advice_count; i++) {
		const struct advice *v = &t->advices[i];
		struct sv now = v->has_current ? arena_printf(c->a, " (now %" PRId64 ")", v->current) : SV("");
		out_bullet(o, arena_printf(c->a, "%.*s = %" PRId64 "%.*s: %.*s", SV_ARG(v->setting), v->recommended, SV_ARG(now),
					   SV_ARG(v->reason)));
	}
	for (size_t i = 0; i < t->note_count; i++)
		out_bullet(o, t->notes[i]);
	if (t->ttl.known)
		out_bullet(o, arena_printf(c->a, "dedupe TTL = %.*s: %.*s", SV_ARG(words_duration(c->a, t->ttl.recommended_us)),
					   SV_ARG(t->ttl.reason)));
}

/* ---- JSON ---- */

static void members_silences(struct json_writer *w, const char *key, const struct silences *s)
{
	json_object(w, key);
	json_maybe_int(w, "p50_ms", s->p50.known, s->p50.ms);
	json_maybe_int(w, "p90_ms", s->p90.known, s->p90.ms);
	json_maybe_int(w, "p99_ms", s->p99.known, s->p99.ms);
	json_maybe_int(w, "max_ms", s->has_max, s->max_ms);
	json_int(w, "n", (int64_t)s->n);
	json_int(w, "censored", (int64_t)s->censored);
	json_array(w, "p99_ci95");
	json_maybe_int(w, NULL, s->p99.has_low, s->p99.low_ms);
	json_maybe_int(w, NULL, s->p99.has_high, s->p99.high_ms);
	json_array_end(w);
	json_maybe_real(w, "supported_quantile", s->n > 0, s->supported_quantile);
	json_object_end(w);
}

static void members_advice(struct json_writer *w, const struct tuning *t)
{
	json_object(w, "current");
	for (size_t i = 0; i < t->advice_count; i++)
		json_maybe_int(w, t->advices[i].setting.p, t->advices[i].has_current, t->advices[i].current);
	json_object_end(w);
	json_object(w, "recommended");
	for (size_t i = 0; i < t->advice_count; i++)
		json_int(w, t->advices[i].setting.p, t->advices[i].recommended);
	json_array(w, "reasons");
	for (size_t i = 0; i < t->advice_count; i++)
		json_text(w, NULL, t->advices[i].reason);
	json_array_end(w);
	json_object_end(w);
	json_array(w, "notes");
	for (size_t i = 0; i < t->note_count; i++)
		json_text(w, NULL, t->notes[i]);
	json_array_end(w);
}

static void members_candidates(struct json_writer *w, const struct tuning *t)
{
	json_array(w, "candidates");
	for (size_t i = 0; i < t->candidate_count; i++) {
		const struct candidate *k = &t->candidates[i];
		json_object(w, NULL);
		json_int(w, "session_timeout_ms", k->session_timeout_ms);
		json_bool(w, "current", k->is_current);
		json_int(w, "evictions", (int64_t)k->evictions);
		json_int(w, "rebalances_avoided", (int64_t)k->rebalances_avoided);
		json_int(w, "duplicates_avoided", (int64_t)k->duplicates_avoided);
		json_array(w, "amounts_avoided");
		for (size_t n = 0; n < k->amount_count; n++) {
			json_object(w, NULL);
			json_text(w, "step", k->amounts_avoided[n].step);
			json_text(w, "currency", k->amounts_avoided[n].currency);
			json_amount(w, "amount", true, k->amounts_avoided[n].micros);
			json_object_end(w);
		}
		json_array_end(w);
		json_int(w, "detection_ms", k->detection_ms);
		json_int(w, "detection_mean_ms", k->detection_mean_ms);
		json_object_end(w);
	}
	json_array_end(w);
}

static void members_ttl(struct json_writer *w, const struct ttl_advice *t)
{
	json_object(w, "ttl");
	json_maybe_int(w, "recommended_s", t->known, t->recommended_us / US_PER_S);
	json_maybe_int(w, "redelivery_seen_ms", t->known, t->redelivery_seen_us / US_PER_MS);
	json_maybe_int(w, "redelivery_bound_ms", t->known, t->redelivery_bound_us / US_PER_MS);
	json_maybe_int(w, "reconciliation_s", t->has_reconciliation, t->reconciliation_us / US_PER_S);
	json_maybe_int(w, "confirmation_s", t->has_confirmation, t->confirmation_us / US_PER_S);
	json_maybe_int(w, "margin_s", t->known, t->margin_us / US_PER_S);
	json_maybe_int(w, "records_per_day", t->has_storage, t->records_per_day);
	json_text(w, "reason", t->known ? t->reason : SV_ABSENT);
	json_object_end(w);
}

void members_tuning(struct json_writer *w, const struct findings *f)
{
	const struct tuning *t = &f->tuning;
	json_object(w, "tuning");
	json_text(w, "group", t->group);
	members_silences(w, "durations", &t->durations);
	members_silences(w, "outages", &t->outages);
	members_advice(w, t);
	members_candidates(w, t);
	members_ttl(w, &t->ttl);
	json_object_end(w);
}
