/* SPDX-License-Identifier: MIT */
/* Jitter windows, process pauses, and what was covered. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static struct sv kinds_words(struct arena *a, const struct window *w)
{
	struct sv text = sv_of(window_kind_infos[w->kind].name);
	for (int k = 0; k < WINDOW_KIND_COUNT; k++)
		if ((w->kinds & 1u << k) != 0 && k != (int)w->kind)
			text = arena_printf(a, "%.*s, %s", SV_ARG(text), window_kind_infos[k].name);
	return text;
}

static struct sv path_words(struct arena *a, const struct window *w)
{
	if (sv_is_absent(w->path_a) && sv_is_absent(w->path_b))
		return SV("-");
	return arena_printf(a, "%.*s to %.*s", SV_ARG(words_or_dash(w->path_a)), SV_ARG(words_or_dash(w->path_b)));
}

static const struct measure *measure_of(const struct window *w, struct sv name)
{
	for (size_t i = 0; i < w->measure_count; i++)
		if (sv_eq(sv_of(w->measures[i].name), name))
			return &w->measures[i];
	return NULL;
}

static struct sv measure_duration(struct arena *a, const struct window *w, struct sv name)
{
	const struct measure *m = measure_of(w, name);
	return m == NULL || !m->known ? SV("-") : words_duration(a, m->value * US_PER_MS);
}

static size_t count_windows(const struct findings *f, bool jitter)
{
	size_t n = 0;
	for (size_t i = 0; i < f->windows.count; i++)
		n += window_is_jitter(&f->windows.items[i]) == jitter;
	return n;
}

static void window_table(struct out *o, const struct chapter_context *c, bool jitter)
{
	static const struct column columns[] = {
		{ "id", ALIGN_LEFT },	   { "start", ALIGN_LEFT },   { "silence", ALIGN_RIGHT },
		{ "outage", ALIGN_RIGHT }, { "backoff", ALIGN_RIGHT }, { "kind", ALIGN_LEFT },
		{ "host", ALIGN_LEFT },	   { "path", ALIGN_LEFT },
	};
	size_t all = count_windows(c->f, jitter), shown = 0;

	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < c->f->windows.count && shown < c->rows_most; i++) {
		const struct window *w = &c->f->windows.items[i];
		if (window_is_jitter(w) != jitter)
			continue;
		shown++;
		out_cell_anchor(o, words_id(c->a, 'W', w->id));
		out_cell(o, words_time(c->a, c->f, w->span.start));
		out_cell(o, arena_printf(c->a, "%.*s%s", SV_ARG(words_duration(c->a, span_length_us(window_silence(w)))),
					 w->censored ? "+" : ""));
		out_cell(o, w->has_outage ? words_duration(c->a, span_length_us(w->outage)) : SV("-"));
		out_cell(o, measure_duration(c->a, w, SV("backoff_ms")));
		out_cell(o, kinds_words(c->a, w));
		out_cell(o, words_or_dash(w->host));
		out_cell(o, path_words(c->a, w));
		out_row_end(o);
	}
	out_table_end(o);
	document_rest(o, c, shown, all);
}

static void window_details(struct out *o, const struct chapter_context *c)
{
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("Evidence of each window"));
	for (size_t i = 0; i < c->f->windows.count && i < c->rows_most; i++) {
		const struct window *w = &c->f->windows.items[i];
		out_details(o, arena_printf(c->a, "Evidence of W%u, %.*s", w->id, SV_ARG(kinds_words(c->a, w))));
		document_evidence(o, c, &w->evidence);
		out_details_end(o);
	}
	out_fold_end(o);
}

/* Of one kind, host and scope, and alike fine or coarse. */
static bool is_alike(const struct coverage *a, const struct coverage *b)
{
	return sv_eq(a->kind, b->kind) && sv_eq(a->host, b->host) && sv_eq(a->scope, b->scope) &&
	       a->is_coarse == b->is_coarse;
}

static bool is_first_of_its_like(const struct windows *ws, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_alike(&ws->coverage[i], &ws->coverage[at]))
			return false;
	return true;
}

/* The stretches of one kind and host as one row: how many, from when to when, how much of it covered. */
static void coverage_row(struct out *o, const struct chapter_context *c, const struct coverage *first)
{
	const struct windows *ws = &c->f->windows;
	struct span whole = first->span;
	int64_t covered = 0;
	size_t stretches = 0;

	for (size_t i = 0; i < ws->coverage_count; i++) {
		const struct coverage *v = &ws->coverage[i];
		if (!is_alike(v, first))
			continue;
		covered += span_length_us(v->span);
		stretches++;
		if (v->span.end.us > whole.end.us)
			whole.end = v->span.end;
	}
	out_cell(o, first->kind);
	out_cell(o, words_or_dash(first->host));
	out_cell(o, words_time(c->a, c->f, whole.start));
	out_cell(o, words_time(c->a, c->f, whole.end));
	out_cell(o, words_duration(c->a, covered));
	out_cell(o, arena_printf(c->a, "%zu", stretches));
	out_cell(o, first->interval_us > 0 ? words_duration(c->a, first->interval_us) : SV("-"));
	out_cell(o, words_or_dash(first->scope));
	out_row_end(o);
}

static void coverage_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "evidence", ALIGN_LEFT }, { "host", ALIGN_LEFT },  { "from", ALIGN_LEFT },
		{ "to", ALIGN_LEFT },	    { "covered", ALIGN_RIGHT }, { "stretches", ALIGN_RIGHT },
		{ "sampled every", ALIGN_RIGHT }, { "scope", ALIGN_LEFT },
	};
	const struct windows *ws = &c->f->windows;
	size_t all = 0, shown = 0;

	if (ws->coverage_count == 0)
		return;
	out_fold(o, SV("What could have been seen"));
	if (!out_is_interactive(o))
		out_paragraph(o, SV("What could have been seen:"));
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < ws->coverage_count; i++) {
		if (!is_first_of_its_like(ws, i))
			continue;
		all++;
		if (shown == c->rows_most)
			continue;
		shown++;
		coverage_row(o, c, &ws->coverage[i]);
	}
	out_table_end(o);
	document_rest(o, c, shown, all);
	out_fold_end(o);
}

/* Of the group with the shortest; Kafka's default when there is no group. */
static int64_t session_timeout_us(const struct findings *f)
{
	int64_t least_ms = f->groups.count > 0 ? group_session_timeout_ms(&f->groups.items[0]) : 45000;

	for (size_t i = 1; i < f->groups.count; i++)
		if (group_session_timeout_ms(&f->groups.items[i]) < least_ms)
			least_ms = group_session_timeout_ms(&f->groups.items[i]);
	return least_ms * US_PER_MS;
}

static bool is_counters_alone(const struct windows *w)
{
	for (size_t i = 0; i < w->coverage_count; i++)
		if (sv_eq(w->coverage[i].kind, SV("capture")))
			return false;
	return windows_coarsest(w, 0) != NULL;
}

/* A verdict that rests on coarse samples says so (input-formats.md 1.7). */
struct sv sampling_words(const struct chapter_context *c, bool of_verdict)
{
	int64_t timeout_us = session_timeout_us(c->f);
	bool is_alone = of_verdict && c->f->share.roots > 0 && is_counters_alone(&c->f->windows);
	const struct coverage *worst = windows_coarsest(&c->f->windows, is_alone ? 0 : timeout_us);

	if (worst == NULL || (of_verdict && !is_alone))
		return SV_ABSENT;
	struct sv samples = arena_printf(c->a, "%s samples of %.*s on %.*s lie %.*s apart",
					 is_alone ? "There is no capture: the verdict rests on counters alone. The" : "The",
					 SV_ARG(worst->kind), SV_ARG(words_or_dash(worst->host)),
					 SV_ARG(words_duration(c->a, worst->interval_us)));
	if (worst->interval_us <= timeout_us)
		return arena_printf(c->a, "%.*s, the others no further: when something began and ended is known as exactly as "
					  "that.",
				    SV_ARG(samples));
	return arena_printf(c->a, "%.*s, longer than the session timeout of %.*s: %s", SV_ARG(samples),
			    SV_ARG(words_duration(c->a, timeout_us)),
			    worst->is_coarse
				    ? "what happened between two of them has no place, so they open no window, and "
				      "their quiet is no sign that nothing happened."
				    : "a window of theirs is as long as that, whatever happened in it.");
}

static void sampling_note(struct out *o, const struct chapter_context *c)
{
	struct sv words = sampling_words(c, false);

	if (!sv_is_absent(words))
		out_paragraph(o, words);
}

void chapter_windows(struct out *o, const struct chapter_context *c)
{
	out_section(o, "windows", SV("Jitter windows"));
	if (count_windows(c->f, true) == 0) {
		out_paragraph(o, SV("None was found in the evidence."));
	} else {
		out_paragraph(o, SV("Silence is what the coordinator lived through: from the member's last request that reached "
				    "it to the next, or, where these are not known, from the last data that arrived to the "
				    "next. The outage is the part in which the path was gone; after it TCP still waits for "
				    "its next retransmission (backoff), which other means than a longer session cut."));
		window_table(o, c, true);
	}
	if (count_windows(c->f, false) > 0) {
		out_paragraph(o, SV("Not the network: the process, or the broker, stood still while its kernel still answered."));
		window_table(o, c, false);
	}
	window_details(o, c);
	sampling_note(o, c);
	coverage_table(o, c);
}

static void member_path(struct json_writer *w, const struct window *win)
{
	json_object(w, "path");
	json_text(w, "a", win->path_a);
	json_text(w, "b", win->path_b);
	json_object_end(w);
}

static void member_window(struct json_writer *w, const struct window *win)
{
	json_object(w, NULL);
	json_id(w, "id", 'W', win->id);
	json_literal(w, "kind", window_kind_infos[win->kind].name);
	json_array(w, "kinds");
	for (int k = 0; k < WINDOW_KIND_COUNT; k++)
		if (win->kinds & 1u << k)
			json_literal(w, NULL, window_kind_infos[k].name);
	json_array_end(w);
	json_bool(w, "jitter", window_is_jitter(win));
	json_time(w, "start", true, win->span.start.us);
	json_time(w, "end", true, win->span.end.us);
	json_int(w, "duration_ms", span_length_us(win->span) / US_PER_MS);
	json_time(w, "outage_start", win->has_outage, win->outage.start.us);
	json_time(w, "outage_end", win->has_outage, win->outage.end.us);
	json_bool(w, "censored", win->censored);
	json_int(w, "resolution_ms", win->resolution_us / US_PER_MS);
	json_text(w, "host", win->host);
	member_path(w, win);
	json_literal(w, "severity", window_kind_infos[win->kind].severity);
	json_literal(w, "source", win->source);
	json_object(w, "measures");
	for (size_t i = 0; i < win->measure_count; i++)
		json_maybe_int(w, win->measures[i].name, win->measures[i].known, win->measures[i].value);
	json_object_end(w);
	members_evidence(w, "evidence", &win->evidence);
	json_object_end(w);
}

void members_windows(struct json_writer *w, const struct findings *f)
{
	json_array(w, "windows");
	for (size_t i = 0; i < f->windows.count; i++)
		member_window(w, &f->windows.items[i]);
	json_array_end(w);
	json_array(w, "coverage");
	for (size_t i = 0; i < f->windows.coverage_count; i++) {
		const struct coverage *c = &f->windows.coverage[i];
		json_object(w, NULL);
		json_text(w, "kind", c->kind);
		json_text(w, "host", c->host);
		json_time(w, "start", true, c->span.start.us);
		json_time(w, "end", true, c->span.end.us);
		json_text(w, "scope", c->scope);
		json_maybe_int(w, "interval_ms", c->interval_us > 0, c->interval_us / US_PER_MS);
		json_object_end(w);
	}
	json_array_end(w);
}
