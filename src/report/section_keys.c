/* SPDX-License-Identifier: MIT */
/* Which idempotency key would have held. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static struct sv key_words(struct arena *a, const struct design_result *d)
{
	struct sv text = SV("");
	for (size_t i = 0; d->key[i] != NULL; i++)
		text = arena_printf(a, "%.*s%s%s", SV_ARG(text), i > 0 ? ", " : "", d->key[i]);
	return text;
}

void chapter_keys(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "design", ALIGN_LEFT },  { "key", ALIGN_LEFT },	       { "caught", ALIGN_RIGHT },
		{ "missed", ALIGN_RIGHT }, { "wrongly blocked", ALIGN_RIGHT },
	};
	const struct idempotency *k = &c->f->idempotency;
	if (c->f->effects.records == 0)
		return;
	out_section(o, "keys", SV("Which idempotency key would have held"));
	out_paragraph(o, SV("Every attempt replayed in time order under each key: second effects blocked (caught), second effects "
			    "executed (missed), and first effects or steps still owed that the key would have skipped (wrongly "
			    "blocked)."));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < k->design_count; i++) {
		const struct design_result *d = &k->designs[i];
		out_cell(o, sv_of(d->name));
		out_cell(o, key_words(c->a, d));
		if (!d->applicable) {
			out_cell_tone(o, TONE_MUTED, SV("not in the evidence"));
			out_row_end(o);
			continue;
		}
		out_cell(o, arena_printf(c->a, "%zu", d->caught));
		out_cell_tone(o, d->missed > 0 ? TONE_BAD : TONE_GOOD, arena_printf(c->a, "%zu", d->missed));
		out_cell_tone(o, d->wrongly_blocked > 0 ? TONE_BAD : TONE_GOOD, arena_printf(c->a, "%zu", d->wrongly_blocked));
		out_row_end(o);
	}
	out_table_end(o);
	if (k->has_longest_gap)
		out_paragraph(o, arena_printf(c->a, "From the first effect of an intent to its last attempt it took up to %.*s: a "
						    "dedupe record that lives shorter misses it.",
					      SV_ARG(words_duration(c->a, k->longest_gap_us))));
}

void members_keys(struct json_writer *w, const struct findings *f)
{
	const struct idempotency *k = &f->idempotency;
	json_object(w, "idempotency");
	json_array(w, "designs");
	for (size_t i = 0; i < k->design_count; i++) {
		const struct design_result *d = &k->designs[i];
		json_object(w, NULL);
		json_literal(w, "name", d->name);
		json_array(w, "key");
		for (size_t n = 0; d->key[n] != NULL; n++)
			json_literal(w, NULL, d->key[n]);
		json_array_end(w);
		json_maybe_int(w, "caught", d->applicable, (int64_t)d->caught);
		json_maybe_int(w, "missed", d->applicable, (int64_t)d->missed);
		json_maybe_int(w, "wrongly_blocked", d->applicable, (int64_t)d->wrongly_blocked);
		json_object_end(w);
	}
	json_array_end(w);
	json_array(w, "ttl_curve");
	for (size_t i = 0; i < k->ttl_count; i++) {
		json_object(w, NULL);
		json_int(w, "ttl_s", k->ttl_curve[i].ttl_us / US_PER_S);
		json_int(w, "missed", (int64_t)k->ttl_curve[i].missed);
		json_object_end(w);
	}
	json_array_end(w);
	json_maybe_int(w, "longest_gap_ms", k->has_longest_gap, k->longest_gap_us / US_PER_MS);
	json_object_end(w);
	/* The outbox audit needs an export of the outbox table, which no input kind reads yet. */
	json_object(w, "outbox");
	json_array(w, "findings");
	json_array_end(w);
	json_object_end(w);
}
