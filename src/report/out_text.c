/* SPDX-License-Identifier: MIT */
/* The text format, for terminals and files: plain lines, aligned tables, colours when asked. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "report/lane_chart.h"
#include "report/out_format.h"

#define LINE_WIDTH 110
#define CHART_WIDTH 90

static const char *const colors[] = {
	[TONE_PLAIN] = "", [TONE_GOOD] = "\033[32m", [TONE_BAD] = "\033[31m",
	[TONE_WARN] = "\033[33m", [TONE_MUTED] = "\033[2m",
};

static void color(struct out *o, const char *code)
{
	if (o->style.color && code[0] != '\0')
		buf_add(o->to, sv_of(code));
}

static void colored(struct out *o, enum tone tone, struct sv text)
{
	color(o, colors[tone]);
	buf_add_plain(o->to, text);
	if (tone != TONE_PLAIN)
		color(o, "\033[0m");
}

/* Code points, which is close enough to columns for names and figures. */
static size_t width_of(struct sv s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

static void spaces(struct buf *b, size_t n)
{
	while (n-- > 0)
		buf_add_char(b, ' ');
}

/* Words, broken into lines that start with an indent. */
static void wrapped(struct out *o, struct sv text, const char *first, const char *next)
{
	size_t column = strlen(first);
	bool fresh = true;
	buf_add(o->to, sv_of(first));
	while (!sv_is_absent(text)) {
		struct sv word = sv_cut(&text, ' ');
		size_t width = width_of(word);
		if (!fresh && column + 1 + width > LINE_WIDTH) {
			buf_add_char(o->to, '\n');
			buf_add(o->to, sv_of(next));
			column = strlen(next);
			fresh = true;
		}
		if (!fresh) {
			buf_add_char(o->to, ' ');
			column++;
		}
		buf_add_plain(o->to, word);
		column += width;
		fresh = false;
	}
	buf_add_char(o->to, '\n');
}

static void text_begin(struct out *o)
{
	(void)o;
}

static void text_title(struct out *o, struct sv title, struct sv subtitle)
{
	color(o, "\033[1m");
	buf_add_plain(o->to, title);
	color(o, "\033[0m");
	buf_add_char(o->to, '\n');
	buf_add_plain(o->to, subtitle);
	buf_add(o->to, SV("\n\n"));
}

static void text_verdict(struct out *o, enum tone tone, struct sv word, struct sv sentence)
{
	buf_add(o->to, SV("VERDICT: "));
	color(o, "\033[1m");
	colored(o, tone, word);
	color(o, "\033[0m");
	buf_add_char(o->to, '\n');
	wrapped(o, sentence, "", "");
	buf_add_char(o->to, '\n');
}

static void text_run(struct out *o, bool begin)
{
	if (!begin)
		buf_add_char(o->to, '\n');
}

static void text_figure(struct out *o, struct sv value, struct sv caption)
{
	size_t width = width_of(value);
	spaces(o->to, width < 20 ? 20 - width : 0);
	color(o, "\033[1m");
	buf_add_plain(o->to, value);
	color(o, "\033[0m");
	wrapped(o, caption, "  ", "                      ");
}

static void text_section(struct out *o, const char *id, struct sv title)
{
	(void)id;
	color(o, "\033[1m");
	buf_add_plain(o->to, title);
	color(o, "\033[0m");
	buf_add_char(o->to, '\n');
	for (size_t i = width_of(title); i > 0; i--)
		buf_add_char(o->to, '-');
	buf_add_char(o->to, '\n');
}

static void text_paragraph(struct out *o, struct sv text)
{
	wrapped(o, text, "", "");
	buf_add_char(o->to, '\n');
}

static void text_bullet(struct out *o, struct sv ids, struct sv text)
{
	struct buf whole;

	buf_init(&whole);
	buf_add(&whole, ids);
	if (!sv_is_absent(ids))
		buf_add(&whole, SV(": "));
	buf_add(&whole, text);
	wrapped(o, buf_sv(&whole), "  * ", "    ");
	buf_fini(&whole);
}

static void padded(struct out *o, struct sv text, enum tone tone, enum align align, size_t width, bool last)
{
	size_t pad = width > width_of(text) ? width - width_of(text) : 0;
	if (align == ALIGN_RIGHT)
		spaces(o->to, pad);
	colored(o, tone, text);
	if (align == ALIGN_LEFT && !last)
		spaces(o->to, pad);
}

/* Columns before an empty last one are padded for nothing. */
static void end_row(struct buf *to)
{
	while (to->n > 0 && to->p[to->n - 1] == ' ')
		to->n--;
	buf_add_char(to, '\n');
}

static void text_table(struct out *o)
{
	size_t n = o->column_count;
	assert(n > 0);
	size_t *widths = calloc(n + 1, sizeof *widths);
	if (widths == NULL)
		abort();
	for (size_t c = 0; c < n; c++)
		widths[c] = width_of(sv_of(o->columns[c].title));
	for (size_t i = 0; i < o->cell_count; i++) {
		size_t width = width_of(out_cell_text(o, &o->cells[i]));
		if (width > widths[i % n])
			widths[i % n] = width;
	}
	for (size_t c = 0; c < n; c++) {
		buf_add(o->to, SV("  "));
		padded(o, sv_of(o->columns[c].title), TONE_MUTED, o->columns[c].align, widths[c], c + 1 == n);
	}
	end_row(o->to);
	for (size_t i = 0; i < o->cell_count; i++) {
		size_t c = i % n;
		buf_add(o->to, SV("  "));
		padded(o, out_cell_text(o, &o->cells[i]), o->cells[i].tone, o->columns[c].align, widths[c], c + 1 == n);
		if (c + 1 == n)
			end_row(o->to);
	}
	buf_add_char(o->to, '\n');
	free(widths);
}

static void text_details(struct out *o, struct sv summary)
{
	wrapped(o, summary, "  ", "  ");
}

static void text_evidence(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text)
{
	buf_add(o->to, SV("    "));
	buf_add_plain(o->to, time);
	buf_add(o->to, SV("  "));
	buf_add_plain(o->to, role);
	buf_add(o->to, SV("\n      "));
	colored(o, TONE_MUTED, place);
	buf_add_char(o->to, '\n');
	if (text.n > 0) {
		buf_add(o->to, SV("      "));
		buf_add_plain(o->to, text);
		buf_add_char(o->to, '\n');
	}
}

static void text_details_end(struct out *o)
{
	buf_add_char(o->to, '\n');
}

static void text_timeline(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n,
			  struct sv legend)
{
	lane_chart(o->to, start_us, end_us, lanes, n, CHART_WIDTH);
	wrapped(o, legend, "  ", "  ");
	buf_add_char(o->to, '\n');
}

const struct format text_format = {
	.begin = text_begin,
	.end = text_begin,
	.title = text_title,
	.verdict = text_verdict,
	.figures = text_run,
	.figure = text_figure,
	.section = text_section,
	.paragraph = text_paragraph,
	.bullets = text_run,
	.bullet = text_bullet,
	.table = text_table,
	.details = text_details,
	.evidence = text_evidence,
	.details_end = text_details_end,
	.timeline = text_timeline,
};
