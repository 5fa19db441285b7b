/* SPDX-License-Identifier: MIT */
/* The Markdown format (CommonMark with tables), for tickets and wikis. */

#include <assert.h>

#include "report/lane_chart.h"
#include "report/out_format.h"

#define CHART_WIDTH 90

static void block(struct out *o, const char *before, struct sv text, const char *after)
{
	buf_add(o->to, sv_of(before));
	buf_add_markdown(o->to, text);
	buf_add(o->to, sv_of(after));
}

static void markdown_begin(struct out *o)
{
	(void)o;
}

static void markdown_title(struct out *o, struct sv title, struct sv subtitle)
{
	block(o, "# ", title, "\n\n");
	block(o, "", subtitle, "\n\n");
}

static void markdown_verdict(struct out *o, enum tone tone, struct sv word, struct sv sentence)
{
	(void)tone;
	block(o, "**Verdict: ", word, "**\n\n");
	block(o, "", sentence, "\n\n");
}

static void markdown_run(struct out *o, bool begin)
{
	if (!begin)
		buf_add_char(o->to, '\n');
}

static void markdown_figure(struct out *o, struct sv value, struct sv caption)
{
	block(o, "- **", value, "** ");
	block(o, "", caption, "\n");
}

static void markdown_section(struct out *o, const char *id, struct sv title)
{
	(void)id;
	block(o, "## ", title, "\n\n");
}

static void markdown_paragraph(struct out *o, struct sv text)
{
	block(o, "", text, "\n\n");
}

static void markdown_bullet(struct out *o, struct sv ids, struct sv text)
{
	block(o, "- ", ids, sv_is_absent(ids) ? "" : ": ");
	block(o, "", text, "\n");
}

static void markdown_table(struct out *o)
{
	size_t n = o->column_count;
	assert(n > 0);
	for (size_t c = 0; c < n; c++)
		block(o, c == 0 ? "| " : " ", sv_of(o->columns[c].title), " |");
	buf_add(o->to, SV("\n|"));
	for (size_t c = 0; c < n; c++)
		buf_add(o->to, o->columns[c].align == ALIGN_RIGHT ? SV("---:|") : SV("---|"));
	buf_add_char(o->to, '\n');
	for (size_t i = 0; i < o->cell_count; i++) {
		block(o, i % n == 0 ? "| " : " ", out_cell_text(o, &o->cells[i]), " |");
		if (i % n == n - 1)
			buf_add_char(o->to, '\n');
	}
	buf_add_char(o->to, '\n');
}

static void markdown_evidence(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text)
{
	block(o, "- ", time, " ");
	block(o, "", role, " (");
	block(o, "", place, ")");
	if (text.n > 0)
		block(o, ": ", text, "");
	buf_add_char(o->to, '\n');
}

static void markdown_details_end(struct out *o)
{
	buf_add_char(o->to, '\n');
}

static void markdown_timeline(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n,
			      struct sv legend)
{
	buf_add(o->to, SV("```\n"));
	lane_chart(o->to, start_us, end_us, lanes, n, CHART_WIDTH);
	buf_add(o->to, SV("```\n\n"));
	markdown_paragraph(o, legend);
}

const struct format markdown_format = {
	.begin = markdown_begin,
	.end = markdown_begin,
	.title = markdown_title,
	.verdict = markdown_verdict,
	.figures = markdown_run,
	.figure = markdown_figure,
	.section = markdown_section,
	.paragraph = markdown_paragraph,
	.bullets = markdown_run,
	.bullet = markdown_bullet,
	.table = markdown_table,
	.details = markdown_paragraph,
	.evidence = markdown_evidence,
	.details_end = markdown_details_end,
	.timeline = markdown_timeline,
};
