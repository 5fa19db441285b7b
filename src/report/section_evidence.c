/* SPDX-License-Identifier: MIT */
/* Evidence in documents and in JSON, the same for every subject. */

#include "report/sections.h"
#include "report/words.h"

static void member_place(struct json_writer *w, const struct place *p)
{
	const char *unit = place_unit_name(p->unit);
	json_maybe_int(w, "input", p->input != 0, p->input);
	if (unit != NULL)
		json_int(w, unit, (int64_t)p->number);
	json_int(w, "byte_offset", (int64_t)p->byte_offset);
}

void member_evidence(struct json_writer *w, const char *key, const struct evidence *e)
{
	json_object(w, key);
	member_place(w, &e->place);
	json_literal(w, "event", event_infos[e->type].name);
	json_literal(w, "strength", strength_name(e->strength));
	json_text(w, "host", e->host);
	json_time(w, "time", true, e->time.us);
	json_time(w, "written", true, e->written.us);
	json_text(w, "role", e->role);
	json_text(w, "text", e->text);
	if (e->also_count > 0) {
		json_array(w, "also");
		for (size_t i = 0; i < e->also_count; i++) {
			json_object(w, NULL);
			member_place(w, &e->also[i]);
			json_object_end(w);
		}
		json_array_end(w);
		if (e->also_more)
			json_bool(w, "also_more", true);
	}
	json_object_end(w);
}

void members_evidence(struct json_writer *w, const char *key, const struct evidence_list *list)
{
	json_array(w, key);
	for (size_t i = 0; i < list->count; i++)
		member_evidence(w, NULL, &list->items[i]);
	json_array_end(w);
}

/* The aligned time, and the one that its host wrote where they differ as shown. */
static struct sv times_of(const struct chapter_context *c, const struct evidence *e)
{
	struct sv aligned = words_time(c->a, c->f, e->time);
	struct sv written = words_time(c->a, c->f, (struct ref_time){ e->written.us });
	return sv_eq(aligned, written) ? aligned : arena_printf(c->a, "%.*s (written %.*s)", SV_ARG(aligned), SV_ARG(written));
}

/* Of the places where it is said once more; the JSON has the others. */
#define ALSO_SHOWN 8

/* Where it stands, and where it is said once more. */
static struct sv places_of(const struct chapter_context *c, const struct evidence *e)
{
	struct sv places = words_place(c->a, c->f, &e->place);
	if (e->also_count == 0)
		return places;
	for (size_t i = 0; i < e->also_count && i < ALSO_SHOWN; i++)
		places = arena_printf(c->a, "%.*s%s%.*s", SV_ARG(places), i == 0 ? " (also " : ", ",
				      SV_ARG(words_place(c->a, c->f, &e->also[i])));
	if (e->also_count > ALSO_SHOWN)
		places = arena_printf(c->a, "%.*s, and %s%zu more", SV_ARG(places), e->also_more ? "more than " : "",
				      e->also_count - ALSO_SHOWN);
	return arena_printf(c->a, "%.*s)", SV_ARG(places));
}

void document_evidence_one(struct out *o, const struct chapter_context *c, const struct evidence *e)
{
	out_evidence(o, places_of(c, e), times_of(c, e),
		     sv_is_absent(e->role) ? sv_of(event_infos[e->type].what) : e->role, e->text);
}

void document_evidence(struct out *o, const struct chapter_context *c, const struct evidence_list *list)
{
	size_t left = c->evidence_left != NULL ? *c->evidence_left : SIZE_MAX, shown = list->count < left ? list->count : left;

	for (size_t i = 0; i < shown; i++)
		document_evidence_one(o, c, &list->items[i]);
	if (c->evidence_left != NULL)
		*c->evidence_left -= shown;
	if (shown < list->count)
		out_evidence(o, SV("the JSON report"), SV("..."),
			     arena_printf(c->a, list->count - shown == 1 ? "%zu more line of evidence stands in"
									  : "%zu more lines of evidence stand in",
					  list->count - shown),
			     SV_ABSENT);
}

void document_rest(struct out *o, const struct chapter_context *c, size_t shown, size_t all)
{
	if (shown < all)
		out_paragraph(o, arena_printf(c->a, "%zu more of these stand in %s.",
					      all - shown,
					      out_is_interactive(o) ? "the JSON report" : "the HTML and the JSON report"));
}
