/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_OUT_H
#define AFTERSHOCK_REPORT_OUT_H

/*
 * The writer of documents: headings, paragraphs, tables, details, a timeline.
 * Sections write to it once; the formats (text, HTML, Markdown) are rows of
 * formats[] in out.c. JSON is no document: it has a writer of its own
 * (json_writer.h), since its names are a contract and its values are raw.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/sv.h"

enum out_format { OUT_TEXT, OUT_HTML, OUT_MARKDOWN };

enum tone { TONE_PLAIN, TONE_GOOD, TONE_BAD, TONE_WARN, TONE_MUTED };

enum align { ALIGN_LEFT, ALIGN_RIGHT };

struct column {
	const char *title;
	enum align align;
};

struct out;

struct out_style {
	bool color;	/* ANSI colours, text alone */
	struct sv json;	/* the JSON report, embedded by HTML; absent: none */
};

/* Writes to "to", which the caller owns. */
struct out *out_new(struct buf *to, enum out_format format, const struct out_style *style);
/* Completes the document and frees the writer. */
void out_finish(struct out *o);

bool out_is_interactive(const struct out *o);	/* details can be folded: HTML */

void out_title(struct out *o, struct sv title, struct sv subtitle);
/* The answer, before all else: a word and a sentence. */
void out_verdict(struct out *o, enum tone tone, struct sv word, struct sv sentence);
/* A row of figures, each with its caption: HTML shows cards, text one line each. */
void out_figure(struct out *o, struct sv value, struct sv caption);
/* id is the anchor: "windows". */
void out_section(struct out *o, const char *id, struct sv title);
void out_paragraph(struct out *o, struct sv text);
void out_bullet(struct out *o, struct sv text);
/* The same, about things: their ids, comma separated, stand before it and link to their anchors. */
void out_bullet_refs(struct out *o, struct sv ids, struct sv text);

/* Rows of cells; the columns must live until out_table_end. */
void out_table(struct out *o, const struct column *columns, size_t n);
void out_cell(struct out *o, struct sv text);
void out_cell_tone(struct out *o, enum tone tone, struct sv text);
/* The thing itself: other cells that name it point here. */
void out_cell_anchor(struct out *o, struct sv id);
/* One or more ids, comma separated, that link to their anchors. */
void out_cell_refs(struct out *o, struct sv ids);
/* Ends the row; missing cells are empty. */
void out_row_end(struct out *o);
void out_table_end(struct out *o);

/* Holds many details under one heading; HTML folds it, the others leave it out (see out_is_interactive). */
void out_fold(struct out *o, struct sv summary);
void out_fold_end(struct out *o);

/* Folded by HTML; written out by the others, indented. */
void out_details(struct out *o, struct sv summary);
/* A line of evidence: its place, its role, its text. */
void out_evidence(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text);
void out_details_end(struct out *o);

/* ---- the timeline ---- */

struct lane_span {
	int64_t start_us, end_us;
	enum tone tone;
	char mark;		/* for text: '#' jitter, 'p' pause */
	struct sv label;	/* id and what, for the tooltip */
	struct sv id;
};

struct lane_point {
	int64_t at_us;
	enum tone tone;
	char mark;		/* for text: 'R', 'D' */
	struct sv label;
	struct sv id;
};

struct lane {
	struct sv name;
	const struct lane_span *spans;
	size_t span_count;
	const struct lane_point *points;
	size_t point_count;
};

void out_timeline(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n, struct sv legend);

#endif
