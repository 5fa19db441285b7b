/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_REPORT_H
#define AFTERSHOCK_REPORT_REPORT_H

/*
 * The report in its four formats. A chapter of the documents is one function
 * and one row of chapters[], a member of the JSON one of members[], both in
 * report.c; each subject's two functions stand side by side in its own file.
 */

#include "analysis/findings.h"
#include "base/buf.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_HTML, REPORT_MARKDOWN, REPORT_FORMAT_COUNT };

#define AFTERSHOCK_VERSION "0.1.0"

bool report_format_by_name(struct sv name, enum report_format *out);

void report_write(struct buf *to, enum report_format format, const struct findings *f, bool color);

/*
 * The chain of evidence behind a window, rebalance, redelivery or duplicate
 * ("W3", "R12", "L2", "D7"). False when there is none of that id.
 */
bool report_explain(struct buf *to, const struct findings *f, struct sv id, bool color);

/* The chapter on timeouts and TTL alone (aftershock tune). */
void report_tuning(struct buf *to, enum report_format format, const struct findings *f, bool color);

#endif
