/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_JSON_PULL_H
#define AFTERSHOCK_INPUT_JSON_PULL_H

/*
 * JSON token by token, for documents that are one value of any size: an export
 * of a time series database is one line of many megabytes. Memory does not grow
 * with the input. Commas and colons are not insisted on; brackets must match.
 * Documents may follow one another; what stands between two of them, or behind
 * the last, and begins none is passed over, and told of when asked; so are zeros
 * before the first.
 */

#include "base/arena.h"
#include "input/kind.h"

enum json_token {
	JSON_END,
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_WORD,    /* true, false, null */
	JSON_DAMAGED, /* and nothing more after it */
};

/* Deeper nesting is damage; longer texts are cut. */
#define JSON_PULL_DEPTH_MAX 64
#define JSON_PULL_TEXT_MAX 4096

struct json_pull;

struct json_pull *json_pull_stream(struct arena *a, struct stream *s);
/* The text lives at least as long. */
struct json_pull *json_pull_of(struct arena *a, struct sv text);
enum json_token json_pull_next(struct json_pull *p);
/* Of the last KEY, STRING, NUMBER or WORD; good until the next. */
struct sv json_pull_text(const struct json_pull *p);
/* Open objects and arrays, the one that the last token opened among them. */
unsigned json_pull_depth(const struct json_pull *p);
/* Where the last token stands. */
struct place json_pull_place(const struct json_pull *p);
/* How many pieces of other bytes outside of documents have been passed over, and where the first of them stands. */
uint64_t json_pull_strays(const struct json_pull *p, struct place *first);
/* Passes over the value that the last token began; nothing to do for a plain value. False when it is damaged. */
bool json_pull_skip(struct json_pull *p, enum json_token began);

#endif
