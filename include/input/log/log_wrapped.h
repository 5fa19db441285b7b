/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_WRAPPED_H
#define AFTERSHOCK_INPUT_LOG_WRAPPED_H

/*
 * Logs whose lines are wrapped, or objects, or of several writers: by blocks,
 * whose literals are found as in plain logs (scan.h), and then line by line, without
 * their colours (colours.h). What is around the text of a line is known by its
 * mould (mould.h) or its envelope (envelope.h), and what the text is by inner.h. Where both are certain and no rule can know the
 * record, it is counted, and kept as long as it may go on. All other lines go to
 * unwrap.h, and before them what is kept of their writers: so each record is made
 * of the same lines, in the same order, as if all were read with care.
 */

#include "input/log/log_reader.h"

struct log_wrapped;
/* plan: of inner.h. */
struct log_wrapped *log_wrapped_new(struct log_reader *reader, const struct scan_plan *plan);
/* The first blocks, of which every line is read. */
int log_wrapped_read_head(struct log_wrapped *b, struct scan_reader *r, size_t head_bytes);
/* As a scan_run_sink takes them. found: NULL when every line is to be read. */
int log_wrapped_take(void *context, const struct scan_text *t, const struct scan *found);
/* Behind the last block; ended: the stream has been read to its end. */
int log_wrapped_end(struct log_wrapped *b, bool ended);
uint64_t log_wrapped_lines(const struct log_wrapped *b);
/* How many of them were only counted. */
uint64_t log_wrapped_passed(const struct log_wrapped *b);
void log_wrapped_free(struct log_wrapped *b);

#endif
