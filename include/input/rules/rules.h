/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_H
#define AFTERSHOCK_INPUT_RULES_H

/*
 * Rules files: layouts of log lines, messages that make events, and mappings
 * of tables. One "key value" a line, sections separated by blank lines, "#"
 * comments; the grammar stands in rules/README.md. Every example in a file is a
 * test that loading does not run and rules_check does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/tstamp.h"
#include "model/event.h"

struct rules;
struct rule;

/*
 * Loads every *.rules file of a directory, in byte order of names, or one file.
 * NULL when a file cannot be read or a rule is refused: recorded with line,
 * column and reason (code "rules.refused").
 */
struct rules *rules_load(const char *path, struct diag *d);
/* One file's text, from memory. */
struct rules *rules_parse(struct sv file_name, struct sv text, struct diag *d);
/* Accepts NULL. */
void rules_free(struct rules *r);

/*
 * Whether a message has words that only consumer groups have. When no rule knows
 * it, it is not noise like the rest: it may be one that the rules should have known.
 */
bool rules_near_miss(struct sv body);
/*
 * The words. Those of less than nine bytes are known to input/log/scan_line.c and marks.c one by one; of the
 * others the shortest decides how fast logs are looked through (input/log/filter.h).
 */
#define RULES_NEAR_WORDS 26
extern const struct sv rules_near_words[RULES_NEAR_WORDS];

/*
 * Runs the examples; each failure is recorded. 0, or -1 when one failed. Rules
 * that slow the reading of large logs down are noted ("rules.slow").
 */
int rules_check(const struct rules *r, struct diag *d);

/* What a layout may map to fields of events; more are left out. */
#define RECORD_FIELDS_MAX 16

/* A log line taken apart by a layout. Views into the line, or the arena given for it. */
struct log_record {
	const char *layout;	/* its name */
	bool has_time;
	struct host_time time;
	bool zoned;		/* the line itself gave the zone */
	struct zone zone;	/* in which the time was read */
	bool has_written;	/* the time as the line writes it, which may lack its year, date or start */
	struct tstamp written;
	struct sv level, logger, thread, body;
	struct sv more;		/* the lines joined to it, line feeds between them; absent when none */
	bool whole;		/* an object of JSON: no line after it belongs to it */
	struct record_field {	/* what stands beside the message as values of their own */
		enum event_field field;
		struct sv text;
	} fields[RECORD_FIELDS_MAX];
	size_t field_count;
};

/*
 * Takes a line apart by the first layout that fits it, in the order of loading; the one that fitted the last
 * line of this input is tried first, since it nearly always is (*layout_hint, start with -1). False when
 * none fits: a continuation of the record before, or no log. Texts that are not
 * in the line as they stand (out of JSON) go to the arena.
 */
bool rules_layout(const struct rules *r, struct sv line, struct zone z, int *layout_hint, struct arena *a,
		  struct log_record *out);

/*
 * The parts of a line that the layout (a hint that rules_layout gave) is known
 * to fit, but for the time, which is known too: no part of *out is set that has
 * to do with it. False when the layout does not fit after all.
 */
bool rules_layout_parts(const struct rules *r, int layout, struct sv line, struct log_record *out);
/* Whether no layout before it fits the line. */
bool rules_layout_is_first(const struct rules *r, int layout, struct sv line);

/*
 * Matches a record's body (and the lines joined to it) against the message
 * rules: the first that matches sets *e's type, strength and fields, as views
 * into body. False when none does. *rule gets its name.
 */
bool rules_match(const struct rules *r, const struct log_record *record, struct event *e, const char **rule);

/*
 * All events of a record, for the rules that make several of one (a settings
 * dump): init, then next while it returns true. *rule is set by init, NULL when
 * no rule knows the record; a rule that knows it may still give no event.
 */
struct rules_events {
	const struct log_record *record;
	const struct rule *rule;
	struct event common;	/* what all of them have */
	size_t at;		/* how far into what is taken one by one */
	size_t found;
	bool ended;
};
void rules_events_init(struct rules_events *it, const struct rules *r, const struct log_record *record, const char **rule);
/* The same, when it is known that no rules but these can fit: their numbers, counted from 0 in the order of loading, in order. */
void rules_events_among(struct rules_events *it, const struct rules *r, const struct log_record *record, const uint32_t *numbers,
			size_t count, const char **rule);
bool rules_events_next(struct rules_events *it, struct event *e);
/* Whether a rule knows the record and that is all that there is to say of it: no event, and no word. */
bool rules_events_is_silent(const struct rules_events *it);
/* Whether what stands beside the message decides whether the rule of that number fits. */
bool rules_looks_beside(const struct rules *r, uint32_t number);
/* Whether the rule is one of "event cut": the record is the beginning of a message. NULL is no rule. */
bool rules_is_cut(const struct rule *rule);

/*
 * Some messages do not say whose they are: their rule says "whose thread", and
 * who speaks is what the thread's other messages say. The events of such a rule
 * may lack these fields, required or not, until the caller has set them.
 */
#define RULES_SPEAKER_FIELDS (FIELD_BIT(FIELD_GROUP) | FIELD_BIT(FIELD_CLIENT) | FIELD_BIT(FIELD_INSTANCE))
bool rules_names_speaker(const struct rule *rule);

/*
 * Lines put together to records: a line that a layout fits begins one, and
 * those after it that none fits belong to it, up to RECORD_BYTES_MAX; what is
 * beyond is dropped and said in *cut.
 */
#define RECORD_BYTES_MAX (256 * 1024)
struct joined {
	struct log_record record;
	struct sv text;		/* its first line as written */
	uint64_t line;		/* the number of that line, from 1 */
	uint64_t byte_offset;
	bool cut;
};
struct joiner;
struct joiner *joiner_new(const struct rules *r, struct zone z);
/* True when the line ended the record before it: that one is in *out, until the next call. */
bool joiner_add(struct joiner *j, struct sv line, uint64_t number, uint64_t byte_offset, struct joined *out);
/* The last record. False when there is none. */
bool joiner_end(struct joiner *j, struct joined *out);
/* The layout that is tried first from now on: that of a record which was not given here. */
void joiner_expect(struct joiner *j, int layout_hint);
/* Lines that belong to no record: before the first, and those after one that is whole in its line. */
uint64_t joiner_orphans(const struct joiner *j);
/* Accepts NULL. */
void joiner_free(struct joiner *j);

/* A table's columns mapped to fields. */
struct table_map {
	const char *name;
	enum event_type event;
	size_t column_count;
	int *columns;		/* per field: the column's index, or -1; FIELD_COUNT of them */
	int time_column;	/* -1: none */
	struct sv *constants;	/* per field: a value that stands for all rows, or absent */
};
/*
 * The mapping whose required columns are all in the header (compared without
 * case), the one with most columns of them. Allocated in the arena. NULL when
 * none fits.
 */
const struct table_map *rules_table(const struct rules *r, const struct sv *header, size_t n, struct arena *a);
/* In words, for a header that none fits: the mapping that lacks the fewest columns, and which. Absent when there is none. */
struct sv rules_table_nearest(const struct rules *r, const struct sv *header, size_t n, struct arena *a);
/* What the words of a status column mean: "ok", "1", "SUCCESS" -> "success"; the word itself when no rule says. */
struct sv rules_status(const struct rules *r, struct sv word);

/* One line a rule: name, event, file. */
void rules_list(const struct rules *r, FILE *out);
/* The record of that line: its layout, rule and events, or that no rule knows it, and whether one may be missing. */
void rules_show(const struct rules *r, uint64_t line, const struct log_record *record, FILE *out);

#endif
