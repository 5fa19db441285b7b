/* SPDX-License-Identifier: MIT */
/*
 * The HTML format: one file that works offline, in light and dark, on paper
 * and on a phone. The timeline is SVG; the JSON report stands inside.
 */

#include <assert.h>
#include <string.h>

#include "base/tstamp.h"
#include "report/lane_chart.h"
#include "report/out_format.h"

/* No script: a report is opened from mail and tickets, where scripts do not run. */
static const char style_sheet[] =
	":root{--bg:#fff;--fg:#1b1f24;--mute:#5b6470;--line:#d8dee4;--soft:#f5f7f9;--bad:#b3261e;--good:#1a7f37;"
	"--warn:#9a6700;--blue:#0b57d0;--pause:#8250df}"
	"@media screen and (prefers-color-scheme:dark){:root{"
	"--bg:#14171b;--fg:#e3e6ea;--mute:#9aa4af;--line:#30363d;--soft:#1c2127;--bad:#ff7b72;--good:#56d364;"
	"--warn:#e3b341;--blue:#79b8ff;--pause:#c297ff}}*{box-sizing:border-box}"
	"body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,"
	"'Helvetica Neue',Arial,'Noto Sans CJK SC',sans-serif}"
	"main{max-width:1180px;margin:0 auto;padding:24px 20px 64px}h1{font-size:24px;margin:0 0 2px}"
	"h2{font-size:18px;margin:40px 0 10px;padding-bottom:4px;border-bottom:1px solid var(--line)}"
	"p{margin:0 0 12px;max-width:86ch}ul{margin:0 0 12px;padding-left:22px;max-width:100ch}"
	"ul li{margin:0 0 6px;overflow-wrap:anywhere}.sub{color:var(--mute);margin-bottom:18px}"
	"div.verdict{color:var(--fg);border-left:6px solid var(--mute);background:var(--soft);padding:14px 18px;"
	"margin:16px 0 20px;border-radius:0 6px 6px 0}.verdict b{font-size:22px;display:block}"
	".verdict.bad{border-color:var(--bad)}.verdict.bad b{color:var(--bad)}.verdict.good{border-color:var(--good)}"
	".verdict.good b{color:var(--good)}.verdict.warn{border-color:var(--warn)}.verdict.warn b{color:var(--warn)}"
	".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(200px,1fr));gap:10px;margin:0 0 20px}"
	".figures div{border:1px solid var(--line);border-radius:6px;padding:10px 12px}"
	".figures b{font-size:19px;display:block;overflow-wrap:anywhere}"
	".figures span{color:var(--mute);font-size:13px;line-height:1.35;display:block}"
	".scroll{overflow-x:auto;margin:0 0 14px}table{border-collapse:collapse;font-size:13.5px;min-width:40%}"
	"th,td{padding:4px 10px;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;"
	"white-space:nowrap}td.wide{white-space:normal;min-width:24ch}"
	"th{color:var(--mute);font-weight:600;background:var(--soft);position:sticky;top:0}"
	".r{text-align:right;font-variant-numeric:tabular-nums}.bad{color:var(--bad)}.good{color:var(--good)}"
	".warn{color:var(--warn)}.mute{color:var(--mute)}tr:target{outline:2px solid var(--blue)}"
	"a{color:var(--blue);text-decoration:none}a:hover{text-decoration:underline}"
	"details{margin:0 0 8px;border:1px solid var(--line);border-radius:6px;padding:6px 12px}"
	"summary{cursor:pointer}details.fold{background:var(--soft);margin:4px 0 14px}"
	"details.fold>details{background:var(--bg);margin:8px 0}details ol{list-style:none;margin:8px 0;padding:0}"
	"details li{margin:0 0 8px}"
	"code,pre,.place{font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
	".place{color:var(--mute)}"
	"li pre{margin:2px 0 0;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:4px 8px}"
	"nav{font-size:13.5px;margin:0 0 8px}nav a{margin-right:14px;white-space:nowrap}"
	"svg{width:100%;min-width:960px;height:auto;display:block}"
	"svg text{font:12px system-ui,sans-serif;fill:var(--mute)}svg .name{fill:var(--fg);font-size:13px}"
	".tick{stroke:var(--line)}svg path,svg circle{stroke:var(--bg);stroke-width:2;paint-order:stroke}"
	"a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--blue)}"
	".lane{fill:var(--soft)}.s-bad{fill:var(--bad);opacity:.75}.s-warn{fill:var(--pause);opacity:.7}"
	".s-muted,.s-plain,.s-good{fill:var(--mute);opacity:.6}.p-bad{fill:var(--bad)}.p-good{fill:var(--good)}"
	".p-warn{fill:var(--warn)}.p-muted{fill:var(--mute)}.p-plain{fill:var(--blue)}"
	"@media print{main{max-width:none;padding:0}body{font-size:11px}h2{break-after:avoid}"
	"tr,li,details,.figures div{break-inside:avoid}nav{display:none}.scroll{overflow:visible}"
	"table{font-size:9.5px}th{position:static}th,td{padding:2px 5px;white-space:normal}"
	"td.wide{overflow-wrap:anywhere}svg{min-width:0}}";

static const char *const tone_classes[] = {
	[TONE_PLAIN] = "", [TONE_GOOD] = "good", [TONE_BAD] = "bad", [TONE_WARN] = "warn", [TONE_MUTED] = "mute",
};
static const char *const tone_marks[] = {
	[TONE_PLAIN] = "plain", [TONE_GOOD] = "good", [TONE_BAD] = "bad", [TONE_WARN] = "warn", [TONE_MUTED] = "muted",
};

static void raw(struct out *o, const char *text)
{
	buf_add(o->to, sv_of(text));
}

static void element(struct out *o, const char *before, struct sv text, const char *after)
{
	raw(o, before);
	buf_add_html(o->to, text);
	raw(o, after);
}

static void html_begin(struct out *o)
{
	raw(o, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	       "<meta name=\"referrer\" content=\"no-referrer\">\n"
	       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	       "<title>aftershock report</title>\n<style>");
	raw(o, style_sheet);
	raw(o, "</style>\n</head>\n<body>\n<main>\n");
	o->contents_at = o->to->n;
}

/* "</script" inside a string of the JSON would end the element: the slash may be escaped in JSON. */
static void add_embedded_json(struct out *o, struct sv json)
{
	size_t at;
	raw(o, "<script type=\"application/json\" id=\"report\">");
	while (sv_find(json, SV("</"), &at)) {
		buf_add(o->to, sv_sub(json, 0, at));
		raw(o, "<\\/");
		json = sv_sub(json, at + 2, json.n);
	}
	buf_add(o->to, json);
	raw(o, "</script>\n");
}

#define CONTENTS_LEAST 4	/* chapters; fewer are seen at once */

/* The links to all chapters, which are known at the end, to where they belong: below the title. */
static void insert_contents(struct out *o)
{
	struct buf rest;

	if (o->section_count < CONTENTS_LEAST)
		return;
	buf_init(&rest);
	buf_add(&rest, sv_sub(buf_sv(o->to), o->contents_at, o->to->n));
	o->to->n = o->contents_at;
	raw(o, "<nav aria-label=\"Contents\">\n");
	buf_add(o->to, buf_sv(&o->contents));
	raw(o, "</nav>\n");
	buf_add(o->to, buf_sv(&rest));
	buf_fini(&rest);
}

static void html_end(struct out *o)
{
	insert_contents(o);
	raw(o, "</main>\n");
	if (!sv_is_absent(o->style.json))
		add_embedded_json(o, o->style.json);
	raw(o, "</body>\n</html>\n");
}

static void html_title(struct out *o, struct sv title, struct sv subtitle)
{
	element(o, "<h1>", title, "</h1>\n");
	element(o, "<p class=\"sub\">", subtitle, "</p>\n");
	o->contents_at = o->to->n;
}

static void html_verdict(struct out *o, enum tone tone, struct sv word, struct sv sentence)
{
	buf_printf(o->to, "<div class=\"verdict %s\">", tone_classes[tone]);
	element(o, "<b>", word, "</b>");
	buf_add_html(o->to, sentence);
	raw(o, "</div>\n");
}

static void html_figures(struct out *o, bool begin)
{
	raw(o, begin ? "<div class=\"figures\">\n" : "</div>\n");
}

static void html_figure(struct out *o, struct sv value, struct sv caption)
{
	element(o, "<div><b>", value, "</b>");
	element(o, "<span>", caption, "</span></div>\n");
}

static void html_section(struct out *o, const char *id, struct sv title)
{
	buf_printf(o->to, "<h2 id=\"%s\">", id);
	buf_add_html(o->to, title);
	raw(o, "</h2>\n");
	buf_printf(&o->contents, "<a href=\"#%s\">", id);
	buf_add_html(&o->contents, title);
	buf_add(&o->contents, SV("</a>\n"));
	o->section_count++;
}

static void html_paragraph(struct out *o, struct sv text)
{
	element(o, "<p>", text, "</p>\n");
}

static void html_bullets(struct out *o, bool begin)
{
	raw(o, begin ? "<ul>\n" : "</ul>\n");
}

static void refs(struct out *o, struct sv ids)
{
	bool first = true;
	while (!sv_is_absent(ids)) {
		struct sv id = sv_trim(sv_cut(&ids, ','));
		if (id.n == 0)
			continue;
		element(o, first ? "<a href=\"#" : ", <a href=\"#", id, "\">");
		element(o, "", id, "</a>");
		first = false;
	}
}

static void html_bullet(struct out *o, struct sv ids, struct sv text)
{
	raw(o, "<li>");
	refs(o, ids);
	element(o, sv_is_absent(ids) ? "" : ": ", text, "</li>\n");
}

/* What is wider than the page is moved by itself, with the keyboard too. */
#define SCROLL_BEGIN "<div class=\"scroll\" tabindex=\"0\">"
#define WIDE_CELL 60	/* longer texts may wrap */

static void table_cell(struct out *o, const struct cell *c, const struct column *column)
{
	struct sv text = out_cell_text(o, c);
	buf_printf(o->to, "<td class=\"%s%s%s\">", column->align == ALIGN_RIGHT ? "r " : "", tone_classes[c->tone],
		   text.n > WIDE_CELL ? " wide" : "");
	if (c->sort == CELL_REFS)
		refs(o, text);
	else
		buf_add_html(o->to, text);
	raw(o, "</td>");
}

static void html_table(struct out *o)
{
	size_t n = o->column_count;
	assert(n > 0);
	raw(o, SCROLL_BEGIN "<table>\n<thead><tr>");
	for (size_t c = 0; c < n; c++)
		element(o, o->columns[c].align == ALIGN_RIGHT ? "<th scope=\"col\" class=\"r\">" : "<th scope=\"col\">",
			sv_of(o->columns[c].title), "</th>");
	raw(o, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < o->cell_count; i++) {
		const struct cell *cell = &o->cells[i];
		if (i % n == 0) {
			if (cell->sort == CELL_ANCHOR)
				element(o, "<tr id=\"", out_cell_text(o, cell), "\">");
			else
				raw(o, "<tr>");
		}
		table_cell(o, cell, &o->columns[i % n]);
		if (i % n == n - 1)
			raw(o, "</tr>\n");
	}
	raw(o, "</tbody></table></div>\n");
}

static void html_fold(struct out *o, struct sv summary)
{
	element(o, "<details class=\"fold\"><summary>", summary, "</summary>\n");
}

static void html_fold_end(struct out *o)
{
	raw(o, "</details>\n");
}

static void html_details(struct out *o, struct sv summary)
{
	element(o, "<details><summary>", summary, "</summary><ol>\n");
}

static void html_evidence(struct out *o, struct sv place, struct sv time, struct sv role, struct sv text)
{
	element(o, "<li><code>", time, "</code> ");
	buf_add_html(o->to, role);
	element(o, " <span class=\"place\">", place, "</span>");
	if (text.n > 0)
		element(o, "<pre>", text, "</pre>");
	raw(o, "</li>\n");
}

static void html_details_end(struct out *o)
{
	raw(o, "</ol></details>\n");
}

/* ---- the timeline, in SVG ---- */

#define CHART_WIDTH 1120
#define CHART_LEFT 130
#define CHART_RIGHT 12
#define LANE_HEIGHT 34
#define AXIS_HEIGHT 26
/* From a lane's middle: effects come right after the rebalance that caused them, and neither may hide the other. */
#define REBALANCES_ABOVE 5
#define EFFECTS_BELOW 8

struct scale {
	int64_t start_us, length_us;
};

static double x_of(const struct scale *s, int64_t us)
{
	double part = (double)(us - s->start_us) / (double)s->length_us;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	return CHART_LEFT + part * (CHART_WIDTH - CHART_LEFT - CHART_RIGHT);
}

static void draw_axis(struct out *o, const struct scale *s, int height)
{
	int64_t step = lane_chart_step_us(s->length_us, 12);
	for (int64_t at = (s->start_us / step + 1) * step; at < s->start_us + s->length_us; at += step) {
		double x = x_of(s, at);
		buf_printf(o->to, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>", x, x, height);
		buf_printf(o->to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x, height + 16);
		lane_chart_clock(o->to, at);
		raw(o, "</text>\n");
	}
}

/* Opens a link to the thing, with its label as tooltip. */
static void open_mark(struct out *o, struct sv id, struct sv label)
{
	element(o, "<a href=\"#", id, "\">");
	element(o, "<title>", label, "</title>");
}

static void draw_lane(struct out *o, const struct scale *s, const struct lane *lane, int top)
{
	buf_printf(o->to, "<text class=\"name\" x=\"4\" y=\"%d\">", top + LANE_HEIGHT / 2 + 4);
	buf_add_html(o->to, lane->name);
	buf_printf(o->to, "</text><rect class=\"lane\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", CHART_LEFT, top + 3,
		   CHART_WIDTH - CHART_LEFT - CHART_RIGHT, LANE_HEIGHT - 6);
	for (size_t i = 0; i < lane->span_count; i++) {
		const struct lane_span *span = &lane->spans[i];
		double x = x_of(s, span->start_us), width = x_of(s, span->end_us) - x;
		open_mark(o, span->id, span->label);
		buf_printf(o->to, "<rect class=\"s-%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/></a>\n",
			   tone_marks[span->tone], x, top + 3, width < 2 ? 2 : width, LANE_HEIGHT - 6);
	}
	for (size_t i = 0; i < lane->point_count; i++) {
		const struct lane_point *point = &lane->points[i];
		double x = x_of(s, point->at_us);
		int middle = top + LANE_HEIGHT / 2 + (point->mark == 'D' ? EFFECTS_BELOW : -REBALANCES_ABOVE);
		open_mark(o, point->id, point->label);
		if (point->mark == 'D')
			buf_printf(o->to, "<circle class=\"p-%s\" cx=\"%.1f\" cy=\"%d\" r=\"4\"/></a>\n",
				   tone_marks[point->tone], x, middle);
		else
			buf_printf(o->to, "<path class=\"p-%s\" d=\"M%.1f %dl5 9h-10z\"/></a>\n", tone_marks[point->tone], x,
				   middle - 5);
	}
}

static void html_timeline(struct out *o, int64_t start_us, int64_t end_us, const struct lane *lanes, size_t n,
			  struct sv legend)
{
	const struct scale s = { start_us, end_us - start_us };
	int height = (int)n * LANE_HEIGHT;
	buf_printf(o->to, SCROLL_BEGIN "<svg viewBox=\"0 0 %d %d\" role=\"group\" aria-label=\"Timeline\">\n", CHART_WIDTH,
		   height + AXIS_HEIGHT);
	for (size_t i = 0; i < n; i++)
		draw_lane(o, &s, &lanes[i], (int)i * LANE_HEIGHT);
	draw_axis(o, &s, height);
	raw(o, "</svg></div>\n");
	element(o, "<p class=\"mute\">", legend, "</p>\n");
}

const struct format html_format = {
	.begin = html_begin,
	.end = html_end,
	.title = html_title,
	.verdict = html_verdict,
	.figures = html_figures,
	.figure = html_figure,
	.section = html_section,
	.paragraph = html_paragraph,
	.bullets = html_bullets,
	.bullet = html_bullet,
	.table = html_table,
	.fold = html_fold,
	.fold_end = html_fold_end,
	.details = html_details,
	.evidence = html_evidence,
	.details_end = html_details_end,
	.timeline = html_timeline,
};
