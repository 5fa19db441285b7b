/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_FORM_H
#define AFTERSHOCK_INPUT_LOG_FORM_H

/*
 * How a log's records lie in their input: a line each, behind an indent or not,
 * or inside what is not read by lines: a JSON document, a CSV export, the
 * journal's export format, counted frames. A form takes them out one after the
 * other, and what it gives goes the way of every line (unwrap.h). A new form is
 * one file and one row of forms[] in form.c.
 */

#include "input/kind.h"
#include "input/log/wrap.h"

/* What a form takes out at once. Views live until the next call. */
struct log_piece {
	struct line line;		/* what is to be unwrapped, and where it begins in the input */
	struct sv written;		/* as the input has it; absent when that is the line's text */
	bool is_peeled;			/* the form has taken off a layer, whose text is that of the line */
	struct wrap_layer layer;
};

struct log_form {
	const char *name;
	/* By the first bytes of the input, as lines_preview gives them. */
	bool (*sniff)(struct sv head, const struct rules *r);
	void *(*open)(struct stream *s, const struct rules *r, struct diag *d);
	/* 1, 0 at the end, -1 on damage (recorded). */
	int (*next)(void *reader, struct log_piece *out);
	void (*close)(void *reader);
};

/* The form of a log that begins so; NULL when it is no log. */
const struct log_form *log_form_of(struct sv head, const struct rules *r);

extern const struct log_form log_form_lines;
extern const struct log_form log_form_document;	/* document.c */
extern const struct log_form log_form_csv;	/* csvlog.c */
extern const struct log_form log_form_journal;	/* journal.c */
extern const struct log_form log_form_frames;	/* frames.c */
extern const struct log_form log_form_indent;	/* indent.c */

#endif
