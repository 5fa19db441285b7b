/* SPDX-License-Identifier: MIT */
/* The chapters of the documents, the members of the JSON, and the formats. See report/report.h. */

#include "report/report.h"

#include "report/sections.h"
#include "report/words.h"

#define ROWS_TEXT 25	/* a terminal's worth; the files have the rest */
#define ROWS_HTML 5000	/* a browser's worth; the JSON has the rest */

typedef void chapter_function(struct out *o, const struct chapter_context *c);
typedef void members_function(struct json_writer *w, const struct findings *f);

/* In the order in which a reader wants them. */
static chapter_function *const chapters[] = {
	chapter_summary,  chapter_happened, chapter_change,	chapter_missing, chapter_figures, chapter_thresholds,
	chapter_timeline, chapter_share,    chapter_rebalances, chapter_windows, chapter_effects, chapter_books,
	chapter_keys,	  chapter_tuning,   chapter_groups,	chapter_clocks,	 chapter_inputs,  chapter_problems,
};

/* After schema, tool and span. */
static members_function *const members[] = {
	members_inputs,	 members_groups, members_thresholds, members_windows, members_rebalances, members_share,
	members_effects, members_keys,	 members_tuning,     members_problems,
};

static const struct {
	const char *name;
	enum out_format document;	/* not read for JSON */
	size_t rows_most;
} formats[REPORT_FORMAT_COUNT] = {
	[REPORT_TEXT] = { "text", OUT_TEXT, ROWS_TEXT },
	[REPORT_JSON] = { "json", OUT_TEXT, 0 },
	[REPORT_HTML] = { "html", OUT_HTML, ROWS_HTML },
	[REPORT_MARKDOWN] = { "markdown", OUT_MARKDOWN, ROWS_TEXT },
};

bool report_format_by_name(struct sv name, enum report_format *out)
{
	for (int i = 0; i < REPORT_FORMAT_COUNT; i++) {
		if (sv_eq(name, sv_of(formats[i].name))) {
			*out = (enum report_format)i;
			return true;
		}
	}
	return false;
}

static void open_json(struct json_writer *w, struct buf *to, const struct findings *f)
{
	json_begin(w, to);
	json_object(w, NULL);
	json_literal(w, "schema", "aftershock/report/1");
	json_object(w, "tool");
	json_literal(w, "name", "aftershock");
	json_literal(w, "version", AFTERSHOCK_VERSION);
	json_object_end(w);
	json_object(w, "span");
	json_time(w, "start", f->has_span, f->span.start.us);
	json_time(w, "end", f->has_span, f->span.end.us);
	json_object_end(w);
}

static void write_json(struct buf *to, const struct findings *f, members_function *const *list, size_t n)
{
	struct json_writer w;
	open_json(&w, to, f);
	for (size_t i = 0; i < n; i++)
		list[i](&w, f);
	json_object_end(&w);
	buf_add_char(to, '\n');
}

static void write_document(struct buf *to, enum report_format format, const struct findings *f,
			   chapter_function *const *list, size_t n, const struct out_style *style)
{
	struct arena *words = arena_new();
	const struct chapter_context context = { f, words, formats[format].rows_most };
	struct out *o = out_new(to, formats[format].document, style);
	for (size_t i = 0; i < n; i++)
		list[i](o, &context);
	out_finish(o);
	arena_free(words);
}

void report_write(struct buf *to, enum report_format format, const struct findings *f, bool color)
{
	const size_t member_count = sizeof members / sizeof members[0];
	struct out_style style = { color, SV_ABSENT };
	struct buf json;

	if (format == REPORT_JSON) {
		write_json(to, f, members, member_count);
		return;
	}
	buf_init(&json);
	if (format == REPORT_HTML) {
		write_json(&json, f, members, member_count);
		style.json = buf_sv(&json);
	}
	write_document(to, format, f, chapters, sizeof chapters / sizeof chapters[0], &style);
	buf_fini(&json);
}

void report_tuning(struct buf *to, enum report_format format, const struct findings *f, bool color)
{
	static chapter_function *const chapter[] = { chapter_thresholds, chapter_tuning };
	static members_function *const member[] = { members_thresholds, members_tuning };
	struct out_style style = { color, SV_ABSENT };
	if (format == REPORT_JSON)
		write_json(to, f, member, sizeof member / sizeof member[0]);
	else
		write_document(to, format, f, chapter, sizeof chapter / sizeof chapter[0], &style);
}
