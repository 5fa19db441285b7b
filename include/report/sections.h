/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_SECTIONS_H
#define AFTERSHOCK_REPORT_SECTIONS_H

/* The chapters and JSON members, by subject. Internal to report/. */

#include "analysis/findings.h"
#include "report/json_writer.h"
#include "report/out.h"

/* What a chapter is written with: the findings, and an arena for its words. */
struct chapter_context {
	const struct findings *f;
	struct arena *a;
	size_t rows_most;	/* of the long tables; the rest is counted */
};

/* section_summary.c */
void chapter_summary(struct out *o, const struct chapter_context *c);
void chapter_figures(struct out *o, const struct chapter_context *c);
void chapter_timeline(struct out *o, const struct chapter_context *c);
/* section_story.c */
void chapter_happened(struct out *o, const struct chapter_context *c);
/* section_change.c */
void chapter_change(struct out *o, const struct chapter_context *c);
void chapter_missing(struct out *o, const struct chapter_context *c);
/* section_thresholds.c */
void chapter_thresholds(struct out *o, const struct chapter_context *c);
void members_thresholds(struct json_writer *w, const struct findings *f);
/* section_group.c */
void chapter_share(struct out *o, const struct chapter_context *c);
void chapter_rebalances(struct out *o, const struct chapter_context *c);
void members_groups(struct json_writer *w, const struct findings *f);
void members_rebalances(struct json_writer *w, const struct findings *f);
void members_share(struct json_writer *w, const struct findings *f);
/* section_network.c */
void chapter_windows(struct out *o, const struct chapter_context *c);
void members_windows(struct json_writer *w, const struct findings *f);
/* What the counters' sampling means for the windows, and for the verdict when there is nothing else; absent when nothing. */
struct sv sampling_words(const struct chapter_context *c, bool of_verdict);
/* section_effects.c */
void chapter_effects(struct out *o, const struct chapter_context *c);
void chapter_books(struct out *o, const struct chapter_context *c);
void members_effects(struct json_writer *w, const struct findings *f);
/* section_keys.c */
void chapter_keys(struct out *o, const struct chapter_context *c);
void members_keys(struct json_writer *w, const struct findings *f);
/* section_tuning.c */
void chapter_tuning(struct out *o, const struct chapter_context *c);
void members_tuning(struct json_writer *w, const struct findings *f);
/* section_settings.c */
void chapter_groups(struct out *o, const struct chapter_context *c);
/* section_inputs.c */
void chapter_clocks(struct out *o, const struct chapter_context *c);
void chapter_inputs(struct out *o, const struct chapter_context *c);
void chapter_problems(struct out *o, const struct chapter_context *c);
void members_inputs(struct json_writer *w, const struct findings *f);
void members_problems(struct json_writer *w, const struct findings *f);

/* evidence[] of anything, and its lines in a document. */
void members_evidence(struct json_writer *w, const char *key, const struct evidence_list *list);
void member_evidence(struct json_writer *w, const char *key, const struct evidence *e);
void document_evidence(struct out *o, const struct chapter_context *c, const struct evidence_list *list);
void document_evidence_one(struct out *o, const struct chapter_context *c, const struct evidence *e);
/* "and 12 more rows ..." below a table that was cut; nothing when it was not. */
void document_rest(struct out *o, const struct chapter_context *c, size_t shown, size_t all);

#endif
