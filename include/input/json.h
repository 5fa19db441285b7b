/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_JSON_H
#define AFTERSHOCK_INPUT_JSON_H

/*
 * One JSON object as named texts. {"log":{"level":"INFO"}} and
 * {"log.level":"INFO"} are the same thing (input-formats.md 4.2).
 */

#include <stdbool.h>

#include "base/arena.h"
#include "base/sv.h"

struct json_member {
	struct sv name;		/* "log.level" */
	struct sv value;	/* numbers as written; arrays as their JSON; null is absent */
};

struct json_record {
	struct json_member *members;	/* in the order of the text */
	size_t count;
	size_t capacity;
};

/* Deeper nesting, and more members, are refused. */
#define JSON_DEPTH_MAX 32
#define JSON_MEMBERS_MAX 1024

/*
 * Reads a text that is one object and nothing else. On false *why says what is
 * wrong with it. The texts are copies in the arena.
 */
bool json_read(struct sv text, struct arena *a, struct json_record *out, const char **why);
/* The value of the first member of that name; absent when it is null or not there. */
struct sv json_field(const struct json_record *r, struct sv name);

#endif
