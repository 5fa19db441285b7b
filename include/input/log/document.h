/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOG_DOCUMENT_H
#define AFTERSHOCK_INPUT_LOG_DOCUMENT_H

/*
 * A text of JSON taken apart as it streams by, byte by byte: the values that
 * stand at one path ("hits.hits[]") are its entries, those at a few other paths
 * ("data.result[].stream") are said once for many entries and kept. One entry
 * is held at a time. Nothing is judged here but the nesting: whoever takes the
 * entries reads them as JSON. One document may follow another; what is none,
 * and documents without a place for entries, are counted.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/diag.h"

/* A longer entry is left out, and a longer common value is not known. */
#define DOCUMENT_ENTRY_BYTES_MAX (1024 * 1024)
#define DOCUMENT_COMMON_BYTES_MAX (64 * 1024)
#define DOCUMENT_COMMON_MAX 2
/* Below this nothing has a path. */
#define DOCUMENT_DEPTH_MAX 64
#define DOCUMENT_PATH_BYTES_MAX 512

/* Paths: names with dots between them, [] for the values of an array; "" is the outermost value. */
struct document_paths {
	const char *entry;
	const char *common[DOCUMENT_COMMON_MAX];	/* NULL: no more */
};

struct document_entry {
	struct sv text;		/* as JSON without white space between its tokens */
	struct place place;	/* its first byte, and the line that it stands in */
	bool too_long;		/* has no text */
	bool many_lines;	/* was written over more than one */
};

struct document_frame {
	bool is_object;
	bool wants_key;
	size_t path_bytes;	/* of what holds its members */
};

/* What holds no entries: how many pieces, and where the first of them begins. */
struct document_left {
	uint64_t count;
	struct place first;
};

struct document {
	const struct document_paths *paths;
	/* Where in the text. */
	uint64_t line, offset;
	struct document_frame frames[DOCUMENT_DEPTH_MAX];
	size_t depth;		/* may be greater than the frames reach */
	char path[DOCUMENT_PATH_BYTES_MAX];
	size_t path_bytes;	/* more than there is room for: no path that is looked for */
	bool in_string, escaped, in_word, is_key;
	/* What is being kept: an entry or a common value. */
	bool keeping;
	struct buf *to;
	size_t to_max;
	size_t kept_depth;
	bool overflow;
	struct document_entry entry_at;	/* place, and where it began */
	struct buf entry, key;
	struct buf common[DOCUMENT_COMMON_MAX];
	/* Of the document at hand. */
	struct place begin;
	bool reaches_entries;	/* an array on their path was opened */
	bool has_array;
	bool in_stray;
	/* Not where every value is an entry. */
	struct document_left strays;	/* bytes behind a document that begin none */
	struct document_left unlike;	/* documents that hold arrays, and none on the path of the entries */
	struct document_left empty;	/* documents that hold none */
};

void document_init(struct document *d, const struct document_paths *paths);
void document_fini(struct document *d);
/*
 * Reads on in bytes, from *at, which is moved: true when an entry ended before
 * it. Its text and the common values live until the next call.
 */
bool document_next(struct document *d, struct sv bytes, size_t *at, struct document_entry *out);
/* The text of a common value, as that of an entry; absent when none has been said. */
struct sv document_common(const struct document *d, size_t i);
/* Whether the text may end here: no value is open. */
bool document_is_whole(const struct document *d);

#endif
