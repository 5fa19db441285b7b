/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_SET_H
#define AFTERSHOCK_INPUT_RULES_SET_H

/*
 * Rules as they stand in memory: made by rules_load.c, read by the other
 * rules_*.c, and nobody else's business. All of it lives in the set's arena,
 * but the regexes.
 */

#include "input/rules/regex.h"
#include "input/rules/rules.h"
#include "input/rules/tree.h"

/* What a named group of a pattern fills. */
struct pattern_group {
	size_t number;
	enum event_field field;
};

/* Found when it is first asked for: only logs ask, and it takes longer than to read the rule. */
struct lazy_cover {
	struct sv source;
	enum regex_mode mode;
	bool known;
	struct cover cover;
};

/* A regex with a literal that all that it matches contains, to save most of its runs. */
struct pattern {
	struct regex *regex;
	struct sv literal;	/* length 0 when none was found */
	bool anchored;		/* begins with ^ */
	bool literal_first;	/* what it matches begins with the literal */
	struct lazy_cover *cover;	/* for pattern_cover */
	bool *first_bytes;	/* 256: what it matches begins with one that is set; NULL when not known */
	struct pattern_group *groups;
	size_t group_count;
	field_set fields;
};

enum rule_from { FROM_ANY, FROM_BROKER, FROM_CLIENT };

/* What an example must give: FIELD=VALUE pairs, all of them. */
struct expected_value {
	struct sv name, value;
};

struct expected {
	struct expected_value *values;
	size_t count, capacity;
	uint64_t line;
};

struct example {
	struct sv text;
	uint64_t line;
	struct expected *expects;	/* one for each event */
	size_t expect_count, expect_capacity;
};

struct examples {
	struct example *items;
	size_t count, capacity;
};

/* What layouts, prefixes, rules and tables have in common; the first member of each. */
struct section {
	struct sv name;
	struct sv file;
	uint64_t line;
	struct examples examples;
};

/* The parts that patterns of lines have, then those of objects alone. */
enum layout_part {
	PART_TIME,
	PART_LEVEL,
	PART_THREAD,
	PART_LOGGER,
	PART_BODY,
	LAYOUT_PARTS,
	PART_STACK = LAYOUT_PARTS,
	PART_NANOS,
	JSON_PARTS
};

/* A part may stand in as many branches of the line's pattern. */
#define PART_GROUPS_MAX 4

/* Which member of an object is a part of the record, or a field of its events. */
struct json_key {
	bool is_field;
	enum layout_part part;
	enum event_field field;
	bool required;		/* an object without it is no record of this layout */
	struct sv *names;	/* the best first; dots for nesting */
	size_t name_count, name_capacity;
};

/* Of lines of text, by their pattern, or of objects of JSON, by their keys. */
struct layout {
	struct section section;
	struct regex *line;	/* NULL when it is of objects */
	struct sv source;	/* of that */
	size_t groups[LAYOUT_PARTS][PART_GROUPS_MAX];	/* their numbers; 0: no more */
	struct json_key *keys;
	size_t key_count, key_capacity;
	struct sv time;		/* as for tstamp_parse; absent: none in lines, by trial in objects */
	struct rivals *rivals;	/* for layout_rivals; NULL before it was asked */
};

/* Layouts that come before one and may fit a line that it fits: their numbers, in order. */
struct rivals {
	size_t *layouts;
	size_t count;
};

struct prefix {
	struct section section;
	struct pattern match;
	enum rule_from from;
};

/* A pattern for a part of the record: its message, the lines joined to it, or a field that is known by then. */
enum within_what { WITHIN_FIELD, WITHIN_LINES, WITHIN_BODY };

struct within {
	enum within_what what;
	enum event_field source;
	struct pattern pattern;
};

struct constant {
	enum event_field field;
	struct sv text;
	int64_t number;
};

struct rule {
	struct section section;
	bool has_event;
	bool says_nothing;	/* known, and no event */
	bool is_cut;		/* the beginning of a message that another rule knows: no event, but worth a word */
	enum event_type event;
	enum strength strength;
	enum rule_from from;
	struct sv versions;	/* absent when not said */
	bool whose_thread;	/* who speaks is known from the thread's other messages */
	struct pattern match;
	struct within *wheres;	/* must match what stands beside the message, or below it */
	size_t where_count, where_capacity;
	struct within *withins;
	size_t within_count, within_capacity;
	bool has_each;
	struct within each;	/* an event for each match in its source */
	struct constant *constants;
	size_t constant_count, constant_capacity;
};

struct table_column {
	bool is_time;
	enum event_field field;
	bool required;
	struct sv *names;	/* that a header may use for it, the best first */
	size_t name_count, name_capacity;
};

struct table {
	struct section section;
	bool has_event;
	enum event_type event;
	struct table_column *columns;
	size_t column_count, column_capacity;
	struct constant *constants;
	size_t constant_count, constant_capacity;
};

struct status_word {
	struct sv word;
	struct sv means;
};

/* Rules that may match a message that begins with a byte, in order. */
struct bucket {
	const struct rule **rules;
	size_t count, capacity;
};

struct rules {
	struct arena *arena;
	struct sv *files;	/* read so far, by their real paths */
	size_t file_count, file_capacity;
	struct layout **layouts;
	size_t layout_count, layout_capacity;
	struct prefix **prefixes;
	size_t prefix_count, prefix_capacity;
	struct rule **rules;
	size_t rule_count, rule_capacity;
	struct table **tables;
	size_t table_count, table_capacity;
	struct status_word *words;
	size_t word_count, word_capacity;
	struct bucket buckets[256];
};

/* ---- rules_pattern.c ---- */

/*
 * Compiles and finds the literal; groups that are no field are refused. NULL,
 * or where in the pattern (*at) and why it is refused.
 */
const char *pattern_make(struct pattern *p, struct arena *a, struct sv source, enum regex_mode mode, size_t *at);
void pattern_fini(struct pattern *p);
/* Literals of which all that it matches contains one. It lives in the arena, which is that of the rules. */
const struct cover *pattern_cover(const struct pattern *p, struct arena *a);
/* Whether it can match: the literal is there. */
bool pattern_may_match(const struct pattern *p, struct sv subject);
bool pattern_match(const struct pattern *p, struct sv subject, size_t from);
/* Sets the fields that the last match captured. */
void pattern_fill(const struct pattern *p, struct event *e);
/* Sets a field from text, as a number if it is one of those; rubbish leaves it unset. */
void pattern_set(struct event *e, enum event_field f, struct sv text);

/* ---- rules_match.c ---- */

/* The rules that fit a record, at most max of them, in order: more than one is a mistake in the rules. */
size_t rules_fit(const struct rules *r, const struct log_record *record, const struct rule **out, size_t max);

/* ---- rules_rivals.c ---- */

const struct rivals *layout_rivals(const struct rules *r, size_t layout);

/* ---- rules_speed.c ---- */

/* Notes rules that slow the reading of large logs down: their literal is short, or missing. */
void rules_note_slow(const struct rules *r, struct diag *d);

/* ---- rules_table.c ---- */

/* Why a table cannot work, or NULL. */
const char *table_lacks(const struct table *t, struct arena *a);

#endif
