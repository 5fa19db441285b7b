/* SPDX-License-Identifier: MIT */
/* Groups, their rebalances, and the share inside jitter windows. */

#include <inttypes.h>

#include "report/sections.h"
#include "report/words.h"

static enum tone attribution_tone(const struct rebalance *r)
{
	switch (r->attribution) {
	case ATTRIBUTION_EXPLAINED:
	case ATTRIBUTION_LAGGED:
		return TONE_BAD;
	case ATTRIBUTION_AMBIGUOUS:
	case ATTRIBUTION_UNOBSERVED:
		return TONE_WARN;
	case ATTRIBUTION_NONE:
	case ATTRIBUTION_NOT_NETWORK:
	default:
		return TONE_MUTED;
	}
}

static void rebalance_row(struct out *o, const struct chapter_context *c, const struct rebalance *r)
{
	out_cell_anchor(o, words_id(c->a, 'R', r->id));
	out_cell(o, words_time(c->a, c->f, r->trigger_time));
	out_cell(o, r->has_generation ? arena_printf(c->a, "%" PRId64, r->generation) : SV("-"));
	out_cell(o, words_trigger(c->a, r));
	out_cell(o, words_doer(r));
	if (r->is_root)
		out_cell(o, SV("root"));
	else
		out_cell_refs(o, words_id(c->a, 'R', r->root));
	out_cell(o, r->contained ? SV("yes") : SV("no"));
	out_cell_tone(o, attribution_tone(r), sv_of(attribution_name(r->attribution)));
	out_cell_refs(o, words_windows_behind(c->a, r));
	out_row_end(o);
}

void chapter_rebalances(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "id", ALIGN_LEFT },	     { "trigger at", ALIGN_LEFT }, { "generation", ALIGN_RIGHT },
		{ "trigger", ALIGN_LEFT },   { "of", ALIGN_LEFT },	   { "root", ALIGN_LEFT },
		{ "contained", ALIGN_LEFT }, { "network", ALIGN_LEFT },	   { "windows", ALIGN_LEFT },
	};
	const struct rebalances *rs = &c->f->rebalances;
	size_t shown = rs->count < c->rows_most ? rs->count : c->rows_most;

	out_section(o, "rebalances", SV("Rebalances"));
	if (rs->count == 0) {
		out_paragraph(o, SV("None was found in the evidence."));
		return;
	}
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < shown; i++)
		rebalance_row(o, c, &rs->items[i]);
	out_table_end(o);
	document_rest(o, c, shown, rs->count);
	if (!out_is_interactive(o))
		return;
	out_fold(o, SV("Evidence of each rebalance"));
	for (size_t i = 0; i < shown; i++) {
		const struct rebalance *r = &rs->items[i];
		out_details(o, arena_printf(c->a, "Evidence of R%u, %s%s%.*s", r->id, trigger_infos[r->trigger].name,
					    sv_is_absent(r->attribution_note) ? "" : ": ", SV_ARG(r->attribution_note)));
		document_evidence(o, c, &r->evidence);
		out_details_end(o);
	}
	out_fold_end(o);
}

static void share_row(struct out *o, const struct chapter_context *c, const char *name, const struct proportion *jitter,
		      const struct proportion *pause)
{
	out_cell(o, sv_of(name));
	out_cell(o, words_proportion(c->a, jitter));
	out_cell(o, jitter->known ? arena_printf(c->a, "%.0f to %.0f %%", jitter->low * 100, jitter->high * 100) : SV("-"));
	out_cell(o, pause == NULL ? SV("") : words_proportion(c->a, pause));
	out_row_end(o);
}

static void share_table(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "root rebalances", ALIGN_LEFT },
		{ "inside jitter windows", ALIGN_LEFT },
		{ "95 % interval", ALIGN_LEFT },
		{ "inside pauses", ALIGN_LEFT },
	};
	const struct share *s = &c->f->share;
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	share_row(o, c, "lagged (the share that counts)", &s->jitter.lagged, &s->pauses.lagged);
	share_row(o, c, "explained (no heartbeat could pass)", &s->jitter.explained, &s->pauses.explained);
	share_row(o, c, "contained", &s->jitter.contained, &s->pauses.contained);
	share_row(o, c, "lagged, proved triggers alone", &s->jitter.lagged_proved, &s->pauses.lagged_proved);
	share_row(o, c, "lagged, followers counted too", &s->jitter.lagged_all, &s->pauses.lagged_all);
	share_row(o, c, "contained, followers counted too (the runbook's rule)", &s->contained_all, NULL);
	for (int t = 0; t < TRIGGER_COUNT; t++)
		if (s->lagged_by_trigger[t].total > 0)
			share_row(o, c, arena_strdup(c->a, arena_printf(c->a, "lagged, of %s", trigger_infos[t].name)),
				  &s->lagged_by_trigger[t], NULL);
	for (size_t i = 0; s->group_count > 1 && i < s->group_count; i++)
		share_row(o, c, arena_strdup(c->a, arena_printf(c->a, "lagged, of group %.*s", SV_ARG(s->groups[i].group))),
			  &s->groups[i].lagged, &s->groups[i].paused);
	out_table_end(o);
}

/* What chance would give, of jitter or of pauses. */
static void chance_paragraph(struct out *o, const struct chapter_context *c, const char *what, const struct share_figures *f)
{
	const struct chance *chance = &f->chance;
	double observed_us = (double)(chance->observed_us > 0 ? chance->observed_us : 1);
	struct sv lift = chance->has_lift ? arena_printf(c->a, "%.1f times that", chance->lift) : SV("not comparable");
	struct sv precursor = chance->has_precursor
				      ? arena_printf(c->a, " A root rebalance follows %.0f %% of the %s.",
						     chance->precursor_rate * 100, what)
				      : SV("");

	out_paragraph(o, arena_printf(c->a,
				      "Chance: %s with their lag fill %.1f %% of the %.*s observed, so unrelated rebalances "
				      "would give a share of %.1f %%; the share seen is %.*s. Of %u circular shifts of the "
				      "triggers the p value is %.4f.%.*s",
				      what, (double)chance->dilated_us * 100 / observed_us,
				      SV_ARG(words_duration(c->a, chance->observed_us)), chance->expected_share * 100,
				      SV_ARG(lift), chance->shifts, chance->p_value, SV_ARG(precursor)));
}

void chapter_share(struct out *o, const struct chapter_context *c)
{
	const struct share *s = &c->f->share;

	if (s->rebalances == 0)
		return;
	out_section(o, "share", SV("Rebalances against jitter"));
	if (!sv_is_absent(s->contained_note))
		out_paragraph(o, s->contained_note);
	share_table(o, c);
	if (s->jitter.chance.known)
		chance_paragraph(o, c, "windows", &s->jitter);
	if (s->pauses.chance.known && s->pauses.lagged.count > 0)
		chance_paragraph(o, c, "pauses", &s->pauses);
	if (s->roots > s->observed)
		out_paragraph(o, arena_printf(c->a, "%zu root rebalances are not covered by evidence of jitter, and are not "
					      "counted.",
					      s->roots - s->observed));
}

/* ---- JSON ---- */

static void member_setting(struct json_writer *w, const char *key, const struct setting *s)
{
	json_object(w, key);
	json_maybe_int(w, "value", s->known, s->value);
	if (s->known)
		member_evidence(w, "source", &s->source);
	else
		json_null(w, "source");
	json_object_end(w);
}

void members_groups(struct json_writer *w, const struct findings *f)
{
	json_array(w, "groups");
	for (size_t i = 0; i < f->groups.count; i++) {
		const struct group *g = &f->groups.items[i];
		json_object(w, NULL);
		json_text(w, "group", g->name);
		json_text(w, "protocol", g->protocol);
		json_text(w, "client_version", g->client_version);
		json_text(w, "coordinator", g->coordinator);
		json_array(w, "members");
		for (size_t k = 0; k < g->member_count; k++) {
			const struct member *m = &g->members[k];
			json_object(w, NULL);
			json_text(w, "member_id", m->member_id);
			json_text(w, "client_id", m->client_id);
			json_text(w, "host", m->host);
			json_text(w, "instance_id", m->instance_id);
			json_time(w, "first", true, m->first.us);
			json_time(w, "last", true, m->last.us);
			json_object_end(w);
		}
		json_array_end(w);
		json_object(w, "settings");
		member_setting(w, "session_timeout_ms", &g->session_timeout_ms);
		member_setting(w, "heartbeat_interval_ms", &g->heartbeat_interval_ms);
		member_setting(w, "max_poll_interval_ms", &g->max_poll_interval_ms);
		member_setting(w, "max_poll_records", &g->max_poll_records);
		member_setting(w, "request_timeout_ms", &g->request_timeout_ms);
		member_setting(w, "auto_commit_interval_ms", &g->auto_commit_interval_ms);
		member_setting(w, "enable_auto_commit", &g->enable_auto_commit);
		json_object_end(w);
		json_object_end(w);
	}
	json_array_end(w);
}

static void members_window_ids(struct json_writer *w, const char *key, const struct window *const *windows, size_t n)
{
	json_array(w, key);
	for (size_t i = 0; i < n; i++)
		json_id(w, NULL, 'W', windows[i]->id);
	json_array_end(w);
}

static void member_exposure(struct json_writer *w, const struct rebalance *r)
{
	if (!r->has_exposure) {
		json_null(w, "exposure");
		return;
	}
	json_object(w, "exposure");
	json_time(w, "start", true, r->exposure.start.us);
	json_time(w, "end", true, r->exposure.end.us);
	json_literal(w, "basis", r->exposure_basis);
	json_object_end(w);
}

static void members_absences(struct json_writer *w, const struct rebalance *r)
{
	json_array(w, "unavailable");
	for (size_t i = 0; i < r->absence_count; i++) {
		const struct absence *a = &r->absences[i];
		json_object(w, NULL);
		json_text(w, "client_id", a->client);
		json_text(w, "host", a->host);
		json_time(w, "start", true, a->span.start.us);
		json_time(w, "end", true, a->span.end.us);
		json_int(w, "duration_ms", span_length_us(a->span) / US_PER_MS);
		json_object_end(w);
	}
	json_array_end(w);
}

static void member_rebalance(struct json_writer *w, const struct rebalance *r)
{
	json_object(w, NULL);
	json_id(w, "id", 'R', r->id);
	json_text(w, "group", r->group);
	json_maybe_int(w, "generation", r->has_generation, r->generation);
	json_bool(w, "empties_group", r->empties_group);
	json_time(w, "start", true, r->span.start.us);
	json_time(w, "end", true, r->span.end.us);
	json_int(w, "duration_ms", span_length_us(r->span) / US_PER_MS);
	json_literal(w, "trigger", trigger_infos[r->trigger].name);
	json_time(w, "trigger_time", true, r->trigger_time.us);
	json_array(w, "triggers");
	for (int t = 0; t < TRIGGER_COUNT; t++)
		if (r->triggers & 1u << t)
			json_literal(w, NULL, trigger_infos[t].name);
	json_array_end(w);
	json_object(w, "trigger_evidence");
	json_literal(w, "basis", r->trigger_basis);
	json_literal(w, "strength", strength_name(r->trigger_strength));
	json_object_end(w);
	json_text(w, "member", r->member);
	json_text(w, "client_id", r->client);
	json_text(w, "host", r->host);
	json_literal(w, "fate", fate_name(r->fate));
	if (r->has_last_heard) {
		json_time(w, "last_heard", true, r->last_heard.us);
		json_time(w, "last_heard_answered", true, r->last_heard_answered.us);
		json_int(w, "heard_before_ms", (r->trigger_time.us - r->last_heard.us) / US_PER_MS);
	}
	json_bool(w, "is_root", r->is_root);
	json_id(w, "root", 'R', r->root);
	member_exposure(w, r);
	json_bool(w, "observed", r->observed);
	json_bool(w, "counted", r->counted);
	json_bool(w, "contained", r->contained);
	json_bool(w, "lagged", r->lagged);
	json_bool(w, "explained", r->explained);
	json_literal(w, "attribution", attribution_name(r->attribution));
	json_text(w, "attribution_note", r->attribution_note);
	json_bool(w, "implausible", r->implausible);
	json_int(w, "overlap_ms", r->overlap_us / US_PER_MS);
	json_int(w, "pause_overlap_ms", r->pause_overlap_us / US_PER_MS);
	members_window_ids(w, "windows", r->windows, r->window_count);
	members_window_ids(w, "pauses", r->pauses, r->pause_count);
	json_array(w, "partitions_moved");
	for (size_t i = 0; i < r->partitions_moved_count; i++)
		json_text(w, NULL, r->partitions_moved[i]);
	json_array_end(w);
	members_absences(w, r);
	members_evidence(w, "evidence", &r->evidence);
	members_evidence(w, "stalls", &r->stalls);
	json_object_end(w);
}

void members_rebalances(struct json_writer *w, const struct findings *f)
{
	json_array(w, "rebalances");
	for (size_t i = 0; i < f->rebalances.count; i++)
		member_rebalance(w, &f->rebalances.items[i]);
	json_array_end(w);
}

static void member_proportion(struct json_writer *w, const char *key, const struct proportion *p)
{
	json_object(w, key);
	json_int(w, "count", (int64_t)p->count);
	json_int(w, "total", (int64_t)p->total);
	json_maybe_real(w, "share", p->known, p->share);
	json_array(w, "ci95");
	if (p->known) {
		json_maybe_real(w, NULL, true, p->low);
		json_maybe_real(w, NULL, true, p->high);
	}
	json_array_end(w);
	json_object_end(w);
}

static void members_figures(struct json_writer *w, const struct share_figures *f, bool known)
{
	member_proportion(w, "contained", &f->contained);
	member_proportion(w, "lagged", &f->lagged);
	member_proportion(w, "explained", &f->explained);
	json_object(w, "interval");
	json_maybe_real(w, "low", known, f->low);
	json_maybe_real(w, "high", known, f->high);
	json_object_end(w);
	json_object(w, "chance");
	json_maybe_real(w, "expected_share", f->chance.known, f->chance.expected_share);
	json_maybe_real(w, "lift", f->chance.has_lift, f->chance.lift);
	json_maybe_real(w, "p_value", f->chance.known, f->chance.p_value);
	json_maybe_int(w, "shifts", f->chance.known, f->chance.shifts);
	json_maybe_int(w, "observed_ms", f->chance.known, f->chance.observed_us / US_PER_MS);
	json_object_end(w);
	json_maybe_real(w, "precursor_rate", f->chance.has_precursor, f->chance.precursor_rate);
	member_proportion(w, "lagged_all", &f->lagged_all);
	member_proportion(w, "lagged_proved", &f->lagged_proved);
}

static void member_sentences(struct json_writer *w, const struct share *s)
{
	json_object(w, "sentences");
	json_text(w, "manager", s->manager);
	json_text(w, "engineer", s->engineer);
	json_object_end(w);
}

static void members_group_shares(struct json_writer *w, const struct share *s)
{
	json_array(w, "groups");
	for (size_t i = 0; i < s->group_count; i++) {
		const struct group_share *g = &s->groups[i];
		json_object(w, NULL);
		json_text(w, "group", g->group);
		json_int(w, "rebalances", (int64_t)g->rebalances);
		json_int(w, "roots", (int64_t)g->roots);
		member_proportion(w, "lagged", &g->lagged);
		member_proportion(w, "contained", &g->contained);
		member_proportion(w, "pauses", &g->paused);
		json_object_end(w);
	}
	json_array_end(w);
}

void members_share(struct json_writer *w, const struct findings *f)
{
	const struct share *s = &f->share;
	json_object(w, "share");
	json_int(w, "rebalances", (int64_t)s->rebalances);
	json_int(w, "roots", (int64_t)s->roots);
	json_int(w, "observed", (int64_t)s->observed);
	members_figures(w, &s->jitter, s->observed > 0);
	member_proportion(w, "contained_all", &s->contained_all);
	json_object(w, "lagged_by_trigger");
	for (int t = 0; t < TRIGGER_COUNT; t++)
		if (s->lagged_by_trigger[t].total > 0)
			member_proportion(w, trigger_infos[t].name, &s->lagged_by_trigger[t]);
	json_object_end(w);
	members_group_shares(w, s);
	json_int(w, "threshold", s->threshold_percent);
	json_literal(w, "verdict", verdict_name(s->verdict));
	json_text(w, "verdict_reason", s->verdict_reason);
	member_sentences(w, s);
	json_text(w, "contained_note", s->contained_note);
	json_object_end(w);
	json_object(w, "pauses");
	members_figures(w, &s->pauses, s->observed > 0);
	json_object_end(w);
}
