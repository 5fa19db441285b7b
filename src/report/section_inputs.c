/* SPDX-License-Identifier: MIT */
/* What was read, on which clock, and what was wrong with it. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static const struct host_clock *clock_of(const struct findings *f, struct sv host)
{
	for (size_t i = 0; i < f->clocks.count; i++)
		if (!sv_is_absent(host) && sv_eq(f->clocks.hosts[i].host, host))
			return &f->clocks.hosts[i];
	return NULL;
}

static bool was_read(const struct input_info *in)
{
	return sv_is_absent(in->why_skipped);
}

/* ---- records that speak of consumer groups, and that no rule knows ---- */

static bool is_near_miss(const struct problem *p, const struct input_info *in)
{
	return p->place.input == in->id && sv_eq(p->code, SV(NEAR_MISS_CODE));
}

/* The first few stand there whole, the rest are counted. */
static bool is_example(const struct problem *p)
{
	return sv_starts_with(p->message, SV(NEAR_MISS_WORDS));
}

static struct sv example_text(const struct problem *p)
{
	return sv_sub(p->message, sizeof NEAR_MISS_WORDS - 1, p->message.n);
}

static uint64_t near_misses(const struct findings *f, const struct input_info *in, const struct problem **first)
{
	uint64_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < diag_count(f->problems); i++) {
		const struct problem *p = diag_at(f->problems, i);
		if (!is_near_miss(p, in))
			continue;
		if (*first == NULL)
			*first = p;
		n += p->count;
	}
	return n;
}

static void near_miss_bullets(struct out *o, const struct chapter_context *c)
{
	for (size_t i = 0; i < c->f->input_count; i++) {
		const struct problem *first;
		uint64_t n = near_misses(c->f, &c->f->inputs[i], &first);
		if (n > 0 && is_example(first))
			out_bullet(o, arena_printf(c->a, "%" PRIu64 " of %.*s speak of consumer groups, and no rule knows them. "
							 "The first, line %" PRIu64 ": %.*s",
						   n, SV_ARG(c->f->inputs[i].path), first->place.number,
						   SV_ARG(example_text(first))));
	}
}

static void members_read(struct json_writer *w, const struct findings *f, const struct input_info *in)
{
	const struct problem *first;
	uint64_t near = near_misses(f, in, &first);

	json_maybe_int(w, "lines", in->lines > 0, (int64_t)in->lines);
	/* Of a log each record may be known to a rule; in tables and samples what is not known is no record. */
	uint64_t left_out = sv_eq(in->kind, SV("log")) ? in->skipped + in->unrecognized : 0;
	json_maybe_int(w, "matched", was_read(in), (int64_t)(in->records - left_out));
	json_maybe_int(w, "not_ours", was_read(in), (int64_t)(in->unrecognized - near));
	json_object(w, "near_misses");
	json_int(w, "count", (int64_t)near);
	json_array(w, "examples");
	for (size_t i = 0; near > 0 && i < diag_count(f->problems); i++) {
		const struct problem *p = diag_at(f->problems, i);
		if (!is_near_miss(p, in) || !is_example(p))
			continue;
		json_object(w, NULL);
		json_int(w, "line", (int64_t)p->place.number);
		json_text(w, "text", example_text(p));
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
}

static void skipped_bullets(struct out *o, const struct chapter_context *c, size_t skipped)
{
	size_t shown = 0;

	out_paragraph(o, SV("Not evidence, left aside:"));
	for (size_t i = 0; i < c->f->input_count && shown < c->rows_most; i++) {
		if (was_read(&c->f->inputs[i]))
			continue;
		shown++;
		out_bullet(o, arena_printf(c->a, "%.*s: %.*s", SV_ARG(c->f->inputs[i].path),
					   SV_ARG(c->f->inputs[i].why_skipped)));
	}
	document_rest(o, c, shown, skipped);
}

static void input_row(struct out *o, const struct chapter_context *c, const struct input_info *in)
{
	out_cell(o, in->path);
	out_cell(o, in->kind);
	out_cell(o, words_or_dash(in->format));
	out_cell(o, words_or_dash(in->host));
	out_cell(o, arena_printf(c->a, "%" PRIu64, in->records));
	out_cell(o, arena_printf(c->a, "%" PRIu64, in->events));
	out_cell_tone(o, in->skipped > 0 ? TONE_WARN : TONE_PLAIN, arena_printf(c->a, "%" PRIu64, in->skipped));
	out_cell(o, arena_printf(c->a, "%" PRIu64, in->unrecognized));
	out_cell(o, sv_is_absent(in->zone_name) ? SV("-")
						: arena_printf(c->a, "%.*s, %.*s", SV_ARG(in->zone_name), SV_ARG(in->zone_source)));
	out_row_end(o);
}

static void input_table(struct out *o, const struct chapter_context *c, size_t read)
{
	static const struct column columns[] = {
		{ "input", ALIGN_LEFT },   { "kind", ALIGN_LEFT },     { "format", ALIGN_LEFT },
		{ "host", ALIGN_LEFT },	   { "records", ALIGN_RIGHT }, { "events", ALIGN_RIGHT },
		{ "damaged", ALIGN_RIGHT }, { "unknown", ALIGN_RIGHT }, { "zone", ALIGN_LEFT },
	};
	size_t shown = 0;

	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < c->f->input_count && shown < c->rows_most; i++) {
		if (!was_read(&c->f->inputs[i]))
			continue;
		shown++;
		input_row(o, c, &c->f->inputs[i]);
	}
	out_table_end(o);
	document_rest(o, c, shown, read);
	out_paragraph(o, SV("\"unknown\" counts records that no rule knows: they were read, and hold nothing that the rules "
			    "describe. A zone that is \"assumed\" was written nowhere in the input; --timezone sets it."));
}

void chapter_inputs(struct out *o, const struct chapter_context *c)
{
	size_t read = 0;

	for (size_t i = 0; i < c->f->input_count; i++)
		read += was_read(&c->f->inputs[i]);
	out_section(o, "inputs", SV("Inputs"));
	if (read == 0)
		out_paragraph(o, SV("None was read."));
	else
		input_table(o, c, read);
	near_miss_bullets(o, c);
	if (read < c->f->input_count)
		skipped_bullets(o, c, c->f->input_count - read);
}

static struct sv zone_words(struct arena *a, const struct zone *zone)
{
	struct buf b;
	struct sv words;

	buf_init(&b);
	zone_format(&b, *zone);
	words = arena_copy(a, buf_sv(&b));
	buf_fini(&b);
	return words;
}

static struct sv drift_words(struct arena *a, const struct host_clock *h)
{
	return h->drift_ppm == 0.0 ? SV("-") : arena_printf(a, "%+.1f ppm", h->drift_ppm);
}

/* What the table has no room for: zones that were not written, and clocks that were set. */
static void clock_bullets(struct out *o, const struct chapter_context *c)
{
	const struct clocks *clocks = &c->f->clocks;
	for (size_t i = 0; i < c->f->input_count; i++) {
		const struct input_info *in = &c->f->inputs[i];
		const struct zone *zone = clock_zone_of(clocks, in->id);
		if (zone != NULL)
			out_bullet(o, arena_printf(c->a, "%.*s was evidently written in %.*s, not in %.*s (%.*s), and is read so. "
							 "--timezone overrules it.",
						   SV_ARG(in->path), SV_ARG(zone_words(c->a, zone)),
						   SV_ARG(sv_is_absent(in->zone_name) ? SV("UTC") : in->zone_name),
						   SV_ARG(words_or_dash(in->zone_source))));
	}
	for (size_t i = 0; i < clocks->count; i++) {
		const struct host_clock *h = &clocks->hosts[i];
		for (size_t k = 1; k < h->piece_count; k++) {
			const struct clock_piece *p = &h->pieces[k];
			struct sv after = words_time(c->a, c->f, clock_to_ref(clocks, h->host, p->set_after));
			struct sv before = words_time(c->a, c->f, clock_to_ref(clocks, h->host, p->set_before));
			out_bullet(o, arena_printf(c->a, "The clock of %.*s was set by %+.3f s between %.*s and %.*s.%s",
						   SV_ARG(h->host), (double)p->step_us / US_PER_S, SV_ARG(after), SV_ARG(before),
						   p->is_told ? " The host itself says so." : ""));
		}
		if (h->links_refuted > 0)
			out_bullet(o, arena_printf(c->a, "%zu links of %.*s contradict all the others, and are left out.",
						   h->links_refuted, SV_ARG(h->host)));
		if (h->told_refuted > 0)
			out_bullet(o, arena_printf(c->a, "%zu steps that a daemon of %.*s logged are excluded by the links around "
							 "them, and are left out.",
						   h->told_refuted, SV_ARG(h->host)));
	}
}

static struct sv ms_words(struct arena *a, int64_t us)
{
	return arena_printf(a, "%+.3f ms", (double)us / 1000);
}

static void daemon_bullets(struct out *o, const struct chapter_context *c)
{
	const struct clocks *clocks = &c->f->clocks;

	for (size_t i = 0; i < clocks->daemon_count; i++) {
		const struct clock_daemon *d = &clocks->daemons[i];
		struct sv bounds = SV(", without saying how wrong that may be"), against = SV("");

		if (d->has_bound)
			bounds = arena_printf(c->a, "; with what it may be wrong, %.*s to %.*s", SV_ARG(ms_words(c->a, d->low_us)),
					      SV_ARG(ms_words(c->a, d->high_us)));
		if (d->is_against_reference)
			against = arena_printf(c->a, " By both daemons it was ahead of %.*s by %.*s to %.*s%s.",
					       SV_ARG(clocks->reference), SV_ARG(ms_words(c->a, d->ahead_least_us)),
					       SV_ARG(ms_words(c->a, d->ahead_most_us)),
					       d->is_contradicted ? ", which is not what the table says: one of them is wrong"
								  : "");
		out_bullet(o, arena_printf(c->a, "The time daemon of %.*s read its clock %zu times, from %.*s to %.*s: ahead of "
						 "true time by %.*s to %.*s%.*s.%.*s",
					   SV_ARG(d->host), d->readings,
					   SV_ARG(words_time(c->a, c->f, clock_to_ref(clocks, d->host, d->first))),
					   SV_ARG(words_time(c->a, c->f, clock_to_ref(clocks, d->host, d->last))),
					   SV_ARG(ms_words(c->a, d->least_us)), SV_ARG(ms_words(c->a, d->most_us)), SV_ARG(bounds),
					   SV_ARG(against)));
	}
}

static struct sv uncertainty_words(struct arena *a, const struct host_clock *h)
{
	if (h->method == CLOCK_REFERENCE)
		return SV("-");
	if (!h->has_uncertainty)
		return SV("unknown");
	return arena_printf(a, "%.3f ms", (double)h->uncertainty_us / 1000);
}

void chapter_clocks(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "host", ALIGN_LEFT },	  { "how", ALIGN_LEFT },	{ "ahead by", ALIGN_RIGHT },
		{ "drift", ALIGN_RIGHT }, { "uncertainty", ALIGN_RIGHT }, { "links from above", ALIGN_RIGHT },
		{ "from below", ALIGN_RIGHT },
	};
	const struct clocks *clocks = &c->f->clocks;
	if (clocks->count == 0)
		return;
	out_section(o, "clocks", SV("One clock"));
	out_paragraph(o, arena_printf(c->a, "All times are on the clock of %.*s. Pairs of lines with a known order (a LeaveGroup "
					    "sent and received, a generation formed and learnt of) enclose the offset of each "
					    "other clock.",
				      SV_ARG(words_or_dash(clocks->reference))));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < clocks->count; i++) {
		const struct host_clock *h = &clocks->hosts[i];
		out_cell(o, h->host);
		out_cell(o, sv_of(clock_method_name(h->method)));
		out_cell(o, arena_printf(c->a, "%.3f ms", (double)h->offset_us / 1000));
		out_cell(o, drift_words(c->a, h));
		out_cell(o, uncertainty_words(c->a, h));
		out_cell(o, arena_printf(c->a, "%zu", h->links_forward));
		out_cell(o, arena_printf(c->a, "%zu", h->links_backward));
		out_row_end(o);
	}
	out_table_end(o);
	clock_bullets(o, c);
	daemon_bullets(o, c);
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("The links that bound each clock most"));
	for (size_t i = 0; i < clocks->count; i++) {
		const struct host_clock *h = &clocks->hosts[i];
		if (!h->has_tightest[0] && !h->has_tightest[1])
			continue;
		out_details(o, arena_printf(c->a, "The tightest links of %.*s", SV_ARG(h->host)));
		for (int k = 0; k < 2; k++) {
			if (!h->has_tightest[k])
				continue;
			document_evidence_one(o, c, &h->tightest[k].before);
			document_evidence_one(o, c, &h->tightest[k].after);
		}
		out_details_end(o);
	}
	out_fold_end(o);
}

static void problem_bullet(struct out *o, const struct chapter_context *c, const struct problem *p)
{
	const char *unit = place_unit_name(p->place.unit);
	struct sv place = unit == NULL ? SV("") : arena_printf(c->a, " %s %" PRIu64, unit, p->place.number);
	struct sv times = p->count > 1 ? arena_printf(c->a, " (%" PRIu64 " times)", p->count) : SV("");

	out_bullet(o, arena_printf(c->a, "%s: %.*s%.*s: %.*s%.*s [%.*s]", severity_name(p->severity),
				   SV_ARG(words_or_dash(p->path)), SV_ARG(place), SV_ARG(p->message), SV_ARG(times),
				   SV_ARG(p->code)));
}

/* Each sort has its own part of the page: notes by the hundred hide no error. */
void chapter_problems(struct out *o, const struct chapter_context *c)
{
	static const enum severity worst_first[] = { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };
	size_t n = diag_count(c->f->problems);

	if (n == 0)
		return;
	out_section(o, "problems", SV("Problems"));
	for (size_t s = 0; s < sizeof worst_first / sizeof worst_first[0]; s++) {
		size_t all = 0, shown = 0;
		for (size_t i = 0; i < n; i++) {
			const struct problem *p = diag_at(c->f->problems, i);
			if (p->severity != worst_first[s])
				continue;
			all++;
			if (shown == c->rows_most)
				continue;
			shown++;
			problem_bullet(o, c, p);
		}
		document_rest(o, c, shown, all);
	}
}

static void member_zone(struct json_writer *w, const char *key, const struct zone *zone)
{
	struct arena *scratch = arena_new();

	json_text(w, key, zone == NULL ? SV_ABSENT : zone_words(scratch, zone));
	arena_free(scratch);
}

static void member_clock(struct json_writer *w, const struct findings *f, const struct input_info *in)
{
	const struct host_clock *h = clock_of(f, in->host);
	if (h == NULL) {
		json_null(w, "clock");
		return;
	}
	json_object(w, "clock");
	json_text(w, "reference", f->clocks.reference);
	json_int(w, "offset_us", h->offset_us);
	json_maybe_real(w, "drift_ppm", true, h->drift_ppm);
	json_maybe_int(w, "uncertainty_us", h->method == CLOCK_REFERENCE || h->has_uncertainty,
		       h->method == CLOCK_REFERENCE ? 0 : h->uncertainty_us);
	json_literal(w, "method", clock_method_name(h->method));
	json_int(w, "links", (int64_t)(h->links_forward + h->links_backward));
	member_zone(w, "written_in", clock_zone_of(&f->clocks, in->id));
	json_object_end(w);
}

static void members_pieces(struct json_writer *w, const struct clocks *c, const struct host_clock *h)
{
	json_array(w, "pieces");
	for (size_t i = 0; i < h->piece_count; i++) {
		const struct clock_piece *p = &h->pieces[i];
		json_object(w, NULL);
		json_time(w, "first_link", true, clock_to_ref(c, h->host, p->first).us);
		json_time(w, "last_link", true, clock_to_ref(c, h->host, p->last).us);
		json_int(w, "step_us", p->step_us);
		json_time(w, "set_after", i > 0, i > 0 ? clock_to_ref(c, h->host, p->set_after).us : 0);
		json_time(w, "set_before", i > 0, i > 0 ? clock_to_ref(c, h->host, p->set_before).us : 0);
		json_int(w, "offset_us", p->offset_us);
		json_maybe_real(w, "drift_ppm", true, p->drift_ppm);
		json_maybe_int(w, "uncertainty_us", p->has_uncertainty, p->uncertainty_us);
		if (p->is_told)
			member_evidence(w, "told_by", &p->told);
		else
			json_null(w, "told_by");
		json_object_end(w);
	}
	json_array_end(w);
}

static void members_daemons(struct json_writer *w, const struct clocks *c)
{
	json_array(w, "clock_daemons");
	for (size_t i = 0; i < c->daemon_count; i++) {
		const struct clock_daemon *d = &c->daemons[i];
		json_object(w, NULL);
		json_text(w, "host", d->host);
		json_int(w, "readings", (int64_t)d->readings);
		json_time(w, "first", true, clock_to_ref(c, d->host, d->first).us);
		json_time(w, "last", true, clock_to_ref(c, d->host, d->last).us);
		json_int(w, "offset_least_us", d->least_us);
		json_int(w, "offset_most_us", d->most_us);
		json_maybe_int(w, "offset_low_us", d->has_bound, d->low_us);
		json_maybe_int(w, "offset_high_us", d->has_bound, d->high_us);
		json_maybe_int(w, "ahead_least_us", d->is_against_reference, d->ahead_least_us);
		json_maybe_int(w, "ahead_most_us", d->is_against_reference, d->ahead_most_us);
		json_bool(w, "is_contradicted", d->is_contradicted);
		json_object_end(w);
	}
	json_array_end(w);
}

void members_inputs(struct json_writer *w, const struct findings *f)
{
	json_array(w, "inputs");
	for (size_t i = 0; i < f->input_count; i++) {
		const struct input_info *in = &f->inputs[i];
		json_object(w, NULL);
		json_int(w, "id", in->id);
		json_text(w, "path", in->path);
		json_text(w, "kind", in->kind);
		json_text(w, "format", in->format);
		json_text(w, "host", in->host);
		json_int(w, "size_bytes", (int64_t)in->size_bytes);
		json_int(w, "records", (int64_t)in->records);
		json_int(w, "events", (int64_t)in->events);
		json_int(w, "skipped", (int64_t)in->skipped);
		json_int(w, "unrecognized", (int64_t)in->unrecognized);
		members_read(w, f, in);
		json_text(w, "why_skipped", in->why_skipped);
		json_time(w, "first", in->has_times, in->first.us);
		json_time(w, "last", in->has_times, in->last.us);
		json_object(w, "timezone");
		json_text(w, "name", in->zone_name);
		json_text(w, "source", in->zone_source);
		json_object_end(w);
		member_clock(w, f, in);
		json_object_end(w);
	}
	json_array_end(w);
	json_array(w, "clocks");
	for (size_t i = 0; i < f->clocks.count; i++) {
		const struct host_clock *h = &f->clocks.hosts[i];
		json_object(w, NULL);
		json_text(w, "host", h->host);
		json_literal(w, "method", clock_method_name(h->method));
		json_int(w, "offset_us", h->offset_us);
		json_maybe_real(w, "drift_ppm", true, h->drift_ppm);
		member_zone(w, "written_in", h->has_zone ? &h->zone : NULL);
		json_maybe_int(w, "uncertainty_us", h->method == CLOCK_REFERENCE || h->has_uncertainty,
			       h->method == CLOCK_REFERENCE ? 0 : h->uncertainty_us);
		json_int(w, "links_forward", (int64_t)h->links_forward);
		json_int(w, "links_backward", (int64_t)h->links_backward);
		json_int(w, "links_refuted", (int64_t)h->links_refuted);
		json_int(w, "told_refuted", (int64_t)h->told_refuted);
		members_pieces(w, &f->clocks, h);
		json_array(w, "tightest");
		for (int k = 0; k < 2; k++) {
			if (!h->has_tightest[k])
				continue;
			json_object(w, NULL);
			json_literal(w, "bounds_from", k == 0 ? "above" : "below");
			member_evidence(w, "before", &h->tightest[k].before);
			member_evidence(w, "after", &h->tightest[k].after);
			json_object_end(w);
		}
		json_array_end(w);
		json_object_end(w);
	}
	json_array_end(w);
	members_daemons(w, &f->clocks);
}

void members_problems(struct json_writer *w, const struct findings *f)
{
	json_array(w, "problems");
	for (size_t i = 0; i < diag_count(f->problems); i++) {
		const struct problem *p = diag_at(f->problems, i);
		const char *unit = place_unit_name(p->place.unit);
		json_object(w, NULL);
		json_literal(w, "severity", severity_name(p->severity));
		json_text(w, "code", p->code);
		json_text(w, "message", p->message);
		json_text(w, "path", p->path);
		json_maybe_int(w, "input", p->place.input != 0, p->place.input);
		if (unit != NULL)
			json_int(w, unit, (int64_t)p->place.number);
		json_int(w, "count", (int64_t)p->count);
		json_object_end(w);
	}
	json_array_end(w);
}
