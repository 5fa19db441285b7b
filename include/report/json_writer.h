/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_REPORT_JSON_WRITER_H
#define AFTERSHOCK_REPORT_JSON_WRITER_H

/*
 * Writes JSON as it goes, indented, one member a line. key is NULL inside
 * arrays. What is not known is written as null, never left out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/tstamp.h"

#define JSON_DEPTH_MAX 32

struct json_writer {
	struct buf *to;
	int depth;
	bool has_member[JSON_DEPTH_MAX];
};

void json_begin(struct json_writer *w, struct buf *to);
void json_object(struct json_writer *w, const char *key);
void json_object_end(struct json_writer *w);
void json_array(struct json_writer *w, const char *key);
void json_array_end(struct json_writer *w);

/* Absent gives null. */
void json_text(struct json_writer *w, const char *key, struct sv value);
void json_literal(struct json_writer *w, const char *key, const char *value);
void json_int(struct json_writer *w, const char *key, int64_t value);
void json_maybe_int(struct json_writer *w, const char *key, bool known, int64_t value);
/* Six significant decimals, without trailing zeros. */
void json_maybe_real(struct json_writer *w, const char *key, bool known, double value);
void json_bool(struct json_writer *w, const char *key, bool value);
void json_null(struct json_writer *w, const char *key);
void json_time(struct json_writer *w, const char *key, bool known, int64_t us);
/* An amount in millionths as a decimal string, so that no reader rounds it. */
void json_amount(struct json_writer *w, const char *key, bool known, int64_t micros);
/* "W3"; null for 0. */
void json_id(struct json_writer *w, const char *key, char letter, unsigned id);

#endif
