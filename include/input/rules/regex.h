/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_REGEX_H
#define AFTERSHOCK_INPUT_RULES_REGEX_H

/*
 * Regular expressions: PCRE2 behind one type, over bytes (no UTF: logs hold
 * whatever a crash left in them). Compiled once, by JIT where there is one (when first
 * matched), and matched with limits, so that a hostile line fails to match instead of
 * hanging. The captures live in the regex and are reused: one thread a regex.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

struct regex;

enum regex_mode {
	REGEX_TEXT,	/* ^ and $ are the ends of the subject */
	REGEX_LINES,	/* ^ and $ are the ends of each line in it */
};

struct regex_error {
	size_t at;	    /* byte of the pattern where it stopped making sense */
	char message[128];
};

/* NULL when the pattern is no regular expression; *error says where and why. Names of groups may repeat. */
struct regex *regex_new(struct sv pattern, enum regex_mode mode, struct regex_error *error);
/* Accepts NULL. */
void regex_free(struct regex *r);

/* Searches from byte "from" of the subject on; false also when a limit was hit. */
bool regex_match(const struct regex *r, struct sv subject, size_t from);

/* Whether no subject that begins so can match, whatever follows. False when that is not certain. */
bool regex_excludes_start(const struct regex *r, struct sv start);

/*
 * Of the last match: a group as a view into its subject, absent when it took no
 * part. Group 0 is the whole match.
 */
struct sv regex_group(const struct regex *r, size_t number);
/* The group of that name that took part, absent when none did. */
struct sv regex_named(const struct regex *r, struct sv name);

/* The names, in byte order: a view of the i-th and the number of its group. */
size_t regex_name_count(const struct regex *r);
struct sv regex_name(const struct regex *r, size_t i, size_t *number);

#endif
