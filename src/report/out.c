/* SPDX-License-Identifier: MIT */
/* The writer of documents: collects tables, keeps lists open, calls the format. See report/out.h. */

#include "report/out.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/out_format.h"

static const struct format *const formats[] = {
	[OUT_TEXT] = &text_format,
	[OUT_HTML] = &html_format,
	[OUT_MARKDOWN] = &markdown_format,
};

struct out *out_new(struct buf *to, enum out_format format, const struct out_style *style)
{
	struct out *o = memory_checked(calloc(1, sizeof *o));
	o->to = to;
	o->format = formats[format];
	o->style = *style;
	buf_init(&o->cells_text);
	buf_init(&o->contents);
	o->format->begin(o);
	return o;
}

/* Ends a row of figures or a list when something else follows. */
static void end_runs(struct out *o)
{
	if (o->in_figures)
		o->format->figures(o, false);
	if (o->in_bullets)
		o->format->bullets(o, false);
	o->in_figures = o->in_bullets = false;
}

void out_finish(struct out *o)
{
	end_runs(o);
	o->format->end(o);
	buf_fini(&o->cells_text);
	buf_fini(&o->contents);
	free(o->cells);
	free(o);
}

bool out_is_interactive(const struct out *o)
{
	return o->format == &html_format;
}

void out_title(struct out *o, struct sv title, struct sv subtitle)
{
	end_runs(o);
	o->format->title(o, title, subtitle);
}

void out_verdict(struct out *o, enum tone tone, struct sv word, struct sv sentence)
{
	end_runs(o);
	o->format->verdict(o, tone, word, sentence);
}

void out_figure(struct out *o, struct sv value, struct sv caption)
{
	if (!o->in_figures) {
		end_runs(o);
		o->format->figures(o, true);
		o->in_figures = true;
	}
	o->format->figure(o, value, caption);
}

void out_section(struct out *o, const char *id, struct sv title)
{
	end_runs(o);
	o->format->section(o, id, title);
}

void out_paragraph(struct out *o, struct sv text)
{
	end_runs(o);
	o->format->paragraph(o, text);
}

void out_bullet(struct out *o, struct sv text)
{
	out_bullet_refs(o, SV_ABSENT, text);
}

void out_bullet_refs(struct out *o, struct sv ids, struct sv text)
{
	if (!o->in_bullets) {
		end_runs(o);
		o->format->bullets(o, true);
		o->in_bullets = true;
	}
	o->format->bullet(o, ids, text);
}

void out_table(struct out *o, const struct column *columns, size_t n)
{
	end_runs(o);
	o->columns = columns;
	o->column_count = n;
	o->cell_count = o->in_row = 0;
	buf_clear(&o->cells_text);
}

static void add_cell(struct out *o, enum cell_sort sort, enum tone tone, struct sv text)
{
	assert(o->in_row < o->column_count);
	if (o->cell_count == o->cell_capacity) {
		o->cell_capacity = o->cell_capacity == 0 ? 64 : o->cell_capacity * 2;
		o->cells = memory_checked(realloc(o->cells, o->cell_capacity * sizeof *o->cells));
	}
	o->cells[o->cell_count++] = (struct cell){ o->cells_text.n, text.n, tone, sort };
	buf_add(&o->cells_text, text);
	o->in_row++;
}

void out_cell(struct out *o, struct sv text)
{
	add_cell(o, CELL_TEXT, TONE_PLAIN, text);
}

void out_cell_tone(struct out *o, enum tone tone, struct sv text)
{
	add_cell(o, CELL_TEXT, tone, text);
}

void out_cell_anchor(struct out *o, struct sv id)
{
	add_cell(o, CELL_ANCHOR, TONE_PLAIN, id);
}

void out_cell_refs(struct out *o, struct sv ids)
{
	add_cell(o, CELL_REFS, TONE_PLAIN, ids);
}

void out_row_end(struct out *o)
{
	while (o->in_row < o->column_count)
		out_cell(o, SV(""));
	o->in_row = 0;
}

void out_table_end(struct out *o)
{
	o->format->table(o);
	o->columns = NULL;
	o->column_count = 0;
}

void out_fold(struct out *o, struct sv summary)
{
	end_runs(o);
	if (o->format->fold != NULL)
		o->format->fold(o, summary);
}

void out_fold_end(struct out *o)
{
	end_runs(o);
	if (o->format->fold_end != NULL)
		o->format->fold_end(o);
}

void out_details(struct out *o, struct sv summary)
{
	end_runs(o);
	o->format->details(o, summary);
}

void out_evidence(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text)
{
	o->format->evidence(o, place, time, role, text);
}

void out_details_end(struct out *o)
{
	end_runs(o);
	o->format->details_end(o);
}

void out_timeline(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n, struct sv legend)
{
	end_runs(o);
	if (end_us > start_us && n > 0)
		o->format->timeline(o, start_us, end_us, lanes, n, legend);
}

struct sv out_cell_text(const struct out *o, const struct cell *c)
{
	return sv_sub(buf_sv(&o->cells_text), c->start, c->length);
}
