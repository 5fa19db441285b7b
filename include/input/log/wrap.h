/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_WRAP_H
#define AFTERSHOCK_INPUT_LOG_WRAP_H

/*
 * What containers, collectors and people put around a log line: one layer is
 * recognised and taken off at a time, by a table. A line that fits no wrapper
 * is left as it is. unwrap.c joins what was split, and keeps writers apart.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/tstamp.h"

/* More layers than these around one line are left on. */
#define WRAP_LAYERS_MAX 8

enum wrap_piece {
	WRAP_WHOLE,	/* the wrapper does not split lines */
	WRAP_LAST,	/* the line ends here */
	WRAP_OPEN,	/* more follows: said */
	WRAP_UNENDED,	/* without the end of a line: more may follow */
};

/*
 * Whether a wrapper is known by what stands around the text, so that the same
 * bytes with another time among them are the same layer again: what mould.h
 * needs to know. A column of the tables of wrappers.
 */
enum wrap_quick {
	WRAP_SLOW,	/* no: what it is depends on the text too, on lines before it, or each has its own id */
	WRAP_BY_PREFIX,	/* what stands before the text alone decides, whatever follows */
	WRAP_BEFORE_NOBODY,	/* the same, where no name or tag stands at the start of the text (wrap_stamp_names_nobody) */
	/* The same, where the text begins with a time; with one or an object; or, as another that did has been seen, a trace, or what is no number. */
	WRAP_BEFORE_TIME,
	WRAP_BEFORE_RECORD,
	WRAP_BEFORE_TRACE,
	WRAP_BEFORE_TEXT,
	WRAP_TAKEN_OFF,	/* escape sequences: lines are looked at without them (colours.h), and the layers around them decide */
	WRAP_BY_OBJECT,	/* a member of an object, which is a text of JSON: the names of all members decide, and of whom some values */
};

/* What members of an object are for, by their paths: names with dots between them; at most so many, or up to NULL. */
#define WRAP_NAMES_MAX 5
struct wrap_members {
	const char *wrapper;	/* whose ids these are */
	const char *text, *time;	/* time: NULL when it has none */
	const char *const *host, *const *writer, *const *id;	/* all together name the writer, and are the id */
	bool ends_lines;	/* the text of a whole line has its end */
};

/* One layer. Texts are views into the line, or in the arena. */
struct wrap_layer {
	const char *name;	/* of the wrapper */
	enum wrap_quick quick;
	struct wrap_members members;	/* of an object that is quick */
	struct sv text;		/* what was inside */
	size_t number_bytes;	/* digits and a mark right before it, which count lines; 0: none do */
	bool has_time;
	struct tstamp time;
	struct sv time_text;	/* as it is written; absent when that is not told */
	struct sv time_layout;	/* as for tstamp_read; absent: by trial */
	bool prompt;		/* the time is that of the writing, by the clock of the writer's machine */
	struct sv host;		/* that it names: a machine or a pod; absent when none */
	struct sv writer;	/* whose line it is, among others in the file: stream, unit, container; absent when not said */
	struct sv id;		/* that the collector gave the entry, and gives it again when it ships it again; absent when none */
	enum wrap_piece piece;
};

/* Some wrappers are certain only on lines like one that was. */
#define WRAP_KNOWN_MAX 32
struct wrap_memory {
	struct arena *input;	/* for what is remembered */
	struct arena *record;	/* for texts of layers */
	struct sv known[WRAP_KNOWN_MAX];
	size_t count;
};

/* Takes off the outermost layer. False when the line fits none. */
bool wrap_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out);

/* Of those four that are before some texts alone: whether the text is one. */
bool wrap_is_before(enum wrap_quick quick, struct sv text);

/*
 * Whether a line without escape sequences certainly fits no wrapper, by its first
 * bytes and quickly. False when in doubt.
 */
bool wrap_is_none(struct sv line);

/*
 * Where the first record of a line ends when a second certainly begins behind
 * it, as when two wrote at once: else all of the line.
 */
size_t wrap_first_record(struct sv line);
/* A record that another quotes stands behind a blank, a quote or a colon; one that was written into it does not. */
bool wrap_may_quote(char before);

/* ---- wrap_json.c ---- */

/* A line that is one object of a known shape of export. */
bool wrap_json_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out);

/* ---- wrap_stamp.c ---- */

/* A line that begins with a time of the wrapper. */
bool wrap_stamp_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out);
/* Whether it begins with a date and a time of day, bracketed or not, as an application writes them. */
bool wrap_stamp_begins(struct sv line);
/*
 * Whether what follows a time does not begin with what a wrapper puts there: a host
 * and its program, a stream or labels; whatever is remembered.
 */
bool wrap_stamp_names_nobody(struct sv text);
/* Whether the line may begin with a priority in words, as dmesg -x writes it: that does not stand before the text of others. */
bool wrap_stamp_may_be_kernels(struct sv line);
/* docker and the kubelet write so many digits of a second: behind them anything is a line. */
#define WRAP_STAMP_NANOS 9

/* INFO, Warning: no name of a host or a program. */
bool wrap_is_level(struct sv s);

/* Remembers a text, and whether it was. */
void wrap_remember(struct wrap_memory *m, struct sv text);
bool wrap_remembers(const struct wrap_memory *m, struct sv text);

#endif
