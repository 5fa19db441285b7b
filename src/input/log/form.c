/* SPDX-License-Identifier: MIT */
/* The table of forms, and the plain one: a line is a piece. See input/log/form.h. */

#include "input/log/form.h"

#include "input/log/unwrap.h"

/* A log that begins in a long stack trace, or in the settings of a broker (some 300 lines), is a log still. */
#define SNIFF_LINES 1000

static bool lines_sniff(struct sv head, const struct rules *r)
{
	return unwrap_is_log(r, head, SNIFF_LINES);
}

static void *lines_open(struct stream *s, const struct rules *r, struct diag *d)
{
	(void)r;
	return lines_new(s, d);
}

static int next_line(void *reader, struct log_piece *out)
{
	/* The layer is not looked at; to clear it would cost more than to read a line. */
	out->written = SV_ABSENT;
	out->is_peeled = false;
	return lines_next(reader, &out->line);
}

static void lines_close(void *reader)
{
	lines_free(reader);
}

const struct log_form log_form_lines = { "lines", lines_sniff, lines_open, next_line, lines_close };

/* In the order in which they are asked: a line inside the others may look like a line of a log. */
static const struct log_form *const forms[] = {
	&log_form_journal, &log_form_frames, &log_form_document, &log_form_csv, &log_form_indent, &log_form_lines,
};

const struct log_form *log_form_of(struct sv head, const struct rules *r)
{
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (forms[i]->sniff(head, r))
			return forms[i];
	return NULL;
}
