/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_OUT_FORMAT_H
#define AFTERSHOCK_REPORT_OUT_FORMAT_H

/*
 * What a document format implements. out.c collects a table's cells and calls
 * the format once it is complete, so that columns can be aligned.
 */

#include "report/out.h"

enum cell_sort { CELL_TEXT, CELL_ANCHOR, CELL_REFS };

struct cell {
	size_t start, length;	/* in out->cells_text */
	enum tone tone;
	enum cell_sort sort;
};

struct out {
	struct buf *to;
	const struct format *format;
	struct out_style style;
	/* the table under construction */
	const struct column *columns;
	size_t column_count;
	struct buf cells_text;
	struct cell *cells;	/* row after row, column_count each */
	size_t cell_count, cell_capacity;
	size_t in_row;
	/* the document so far */
	bool in_figures, in_bullets;
	/* of HTML: links to the chapters so far, and the place in "to" where they go */
	struct buf contents;
	size_t contents_at, section_count;
};

struct format {
	void (*begin)(struct out *o);
	void (*end)(struct out *o);
	void (*title)(struct out *o, struct sv title, struct sv subtitle);
	void (*verdict)(struct out *o, enum tone tone, struct sv word, struct sv sentence);
	void (*figures)(struct out *o, bool begin);
	void (*figure)(struct out *o, struct sv value, struct sv caption);
	void (*section)(struct out *o, const char *id, struct sv title);
	void (*paragraph)(struct out *o, struct sv text);
	void (*bullets)(struct out *o, bool begin);
	void (*bullet)(struct out *o, struct sv ids, struct sv text);	/* ids: absent, or as of out_cell_refs */
	void (*table)(struct out *o);	/* the collected cells */
	void (*fold)(struct out *o, struct sv summary);	/* NULL: nothing */
	void (*fold_end)(struct out *o);
	void (*details)(struct out *o, struct sv summary);
	void (*evidence)(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text);
	void (*details_end)(struct out *o);
	void (*timeline)(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n,
			 struct sv legend);
};

extern const struct format text_format;
extern const struct format html_format;
extern const struct format markdown_format;

struct sv out_cell_text(const struct out *o, const struct cell *c);

#endif
