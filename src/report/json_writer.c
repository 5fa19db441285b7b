/* SPDX-License-Identifier: MIT */
/* Writes JSON as it goes. See report/json_writer.h. */

#include "report/json_writer.h"

#include <assert.h>

#include "report/words.h"

void json_begin(struct json_writer *w, struct buf *to)
{
	*w = (struct json_writer){ .to = to };
}

/* The comma, the new line and the key before a member. */
static void member(struct json_writer *w, const char *key)
{
	if (w->depth > 0) {
		if (w->has_member[w->depth])
			buf_add_char(w->to, ',');
		buf_add_char(w->to, '\n');
		w->has_member[w->depth] = true;
	}
	for (int i = 0; i < w->depth; i++)
		buf_add_char(w->to, ' ');
	if (key != NULL) {
		buf_add_json(w->to, sv_of(key));
		buf_add(w->to, SV(": "));
	}
}

static void open(struct json_writer *w, const char *key, char bracket)
{
	member(w, key);
	buf_add_char(w->to, bracket);
	w->depth++;
	assert(w->depth < JSON_DEPTH_MAX);
	w->has_member[w->depth] = false;
}

static void close(struct json_writer *w, char bracket)
{
	bool empty = !w->has_member[w->depth];
	w->depth--;
	if (!empty) {
		buf_add_char(w->to, '\n');
		for (int i = 0; i < w->depth; i++)
			buf_add_char(w->to, ' ');
	}
	buf_add_char(w->to, bracket);
}

void json_object(struct json_writer *w, const char *key)
{
	open(w, key, '{');
}

void json_object_end(struct json_writer *w)
{
	close(w, '}');
}

void json_array(struct json_writer *w, const char *key)
{
	open(w, key, '[');
}

void json_array_end(struct json_writer *w)
{
	close(w, ']');
}

void json_null(struct json_writer *w, const char *key)
{
	member(w, key);
	buf_add(w->to, SV("null"));
}

void json_text(struct json_writer *w, const char *key, struct sv value)
{
	if (sv_is_absent(value)) {
		json_null(w, key);
		return;
	}
	member(w, key);
	buf_add_json(w->to, value);
}

void json_literal(struct json_writer *w, const char *key, const char *value)
{
	json_text(w, key, sv_of(value));
}

void json_int(struct json_writer *w, const char *key, int64_t value)
{
	member(w, key);
	buf_printf(w->to, "%lld", (long long)value);
}

void json_maybe_int(struct json_writer *w, const char *key, bool known, int64_t value)
{
	if (known)
		json_int(w, key, value);
	else
		json_null(w, key);
}

void json_maybe_real(struct json_writer *w, const char *key, bool known, double value)
{
	if (!known) {
		json_null(w, key);
		return;
	}
	member(w, key);
	buf_printf(w->to, "%.6g", value);
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
	member(w, key);
	buf_add(w->to, value ? SV("true") : SV("false"));
}

void json_time(struct json_writer *w, const char *key, bool known, int64_t us)
{
	if (!known) {
		json_null(w, key);
		return;
	}
	member(w, key);
	buf_add_char(w->to, '"');
	tstamp_format(w->to, us);
	buf_add_char(w->to, '"');
}

void json_amount(struct json_writer *w, const char *key, bool known, int64_t micros)
{
	if (!known) {
		json_null(w, key);
		return;
	}
	member(w, key);
	buf_add_char(w->to, '"');
	words_amount(w->to, micros);
	buf_add_char(w->to, '"');
}

void json_id(struct json_writer *w, const char *key, char letter, unsigned id)
{
	if (id == 0) {
		json_null(w, key);
		return;
	}
	member(w, key);
	buf_printf(w->to, "\"%c%u\"", letter, id);
}
