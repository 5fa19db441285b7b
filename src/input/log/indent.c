/* SPDX-License-Identifier: MIT */
/*
 * Form: a log that was pasted with an indent, as code in a ticket or a mail:
 * four blanks or a tab before each line, behind a ">" where it was answered to.
 * The indent of its first record is taken off every line that has it, so that
 * what stood further in than its record, a trace, still does. Lines without it
 * are left as they are: prose, fences.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "input/log/form.h"
#include "input/log/unwrap.h"

#define SNIFF_LINES 1000
/* Deeper is nobody's code. */
#define INDENT_BYTES_MAX 64

/* Blanks and tabs, behind what quotes the line. Empty where there are none: a quote alone is a wrapper. */
static struct sv indent_of(struct sv line)
{
	size_t quote = 0, n;

	while (quote < line.n && line.p[quote] == '>')
		quote += quote + 1 < line.n && line.p[quote + 1] == ' ' ? 2 : 1;
	n = quote;
	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return sv_sub(line, 0, n > quote && n < line.n && n <= INDENT_BYTES_MAX ? n : 0);
}

static bool is_blank(struct sv line)
{
	return sv_trim(line).n == 0;
}

static bool is_mostly_indented(struct sv head)
{
	size_t indented = 0, plain = 0;

	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++) {
		struct sv line = sv_cut(&head, '\n');
		bool is_indented = indent_of(line).n > 0;

		indented += is_indented;
		plain += !is_indented && !is_blank(line);
	}
	return indented > plain;
}

/* The lines of a head that have an indent, without it, or those that have none. */
static void pick(struct buf *out, struct sv head, bool indented)
{
	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++) {
		struct sv line = sv_cut(&head, '\n'), indent = indent_of(line);

		if (is_blank(line) || (indent.n > 0) != indented)
			continue;
		buf_add(out, sv_sub(line, indent.n, line.n));
		buf_add_char(out, '\n');
	}
}

static size_t count_records(struct sv head, const struct rules *r, bool indented)
{
	struct buf lines;
	size_t n;

	buf_init(&lines);
	pick(&lines, head, indented);
	n = unwrap_count_log(r, buf_sv(&lines), SNIFF_LINES);
	buf_fini(&lines);
	return n;
}

/* The indent of the first record that has one. */
static struct sv first_indent(struct sv head, const struct rules *r)
{
	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++) {
		struct sv line = sv_cut(&head, '\n'), indent = indent_of(line);

		if (indent.n > 0 && unwrap_is_log(r, sv_sub(line, indent.n, line.n), 1))
			return indent;
	}
	return SV("");
}

/* In prose, so many records make a log of it. */
#define RECORDS_LEAST 2

/*
 * Most lines of a log stand at its margin, and most of its records: where neither
 * does it is indented. So it is where prose alone stands there.
 */
static bool indent_sniff(struct sv head, const struct rules *r)
{
	if (is_mostly_indented(head))
		return count_records(head, r, true) > count_records(head, r, false);
	return !unwrap_is_log(r, head, SNIFF_LINES) && count_records(head, r, true) >= RECORDS_LEAST;
}

/* ---- reading ---- */

struct indent_reader {
	struct arena *arena;
	struct lines *lines;
	struct sv indent;
};

static void *indent_open(struct stream *s, const struct rules *r, struct diag *d)
{
	struct arena *a = arena_new();
	struct indent_reader *reader = arena_alloc(a, sizeof *reader);

	reader->arena = a;
	reader->indent = arena_copy(a, first_indent(lines_preview(a, stream_head(s)), r));
	reader->lines = lines_new(s, d);
	return reader;
}

static int indent_next(void *context, struct log_piece *out)
{
	struct indent_reader *r = context;
	int rc = lines_next(r->lines, &out->line);

	if (rc != 1)
		return rc;
	out->is_peeled = false;
	out->written = out->line.text;
	if (sv_starts_with(out->line.text, r->indent))
		out->line.text = sv_sub(out->line.text, r->indent.n, out->line.text.n);
	return 1;
}

static void indent_close(void *context)
{
	struct indent_reader *r = context;

	lines_free(r->lines);
	arena_free(r->arena);
}

const struct log_form log_form_indent = { "indent", indent_sniff, indent_open, indent_next, indent_close };
