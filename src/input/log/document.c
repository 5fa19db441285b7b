/* SPDX-License-Identifier: MIT */
/* A JSON text's values by their paths, as its bytes come. See input/log/document.h. */

#include "input/log/document.h"

#include <assert.h>
#include <string.h>

void document_init(struct document *d, const struct document_paths *paths)
{
	*d = (struct document){ .paths = paths, .line = 1 };
	buf_init(&d->entry);
	buf_init(&d->key);
	for (size_t i = 0; i < DOCUMENT_COMMON_MAX; i++)
		buf_init(&d->common[i]);
}

void document_fini(struct document *d)
{
	buf_fini(&d->entry);
	buf_fini(&d->key);
	for (size_t i = 0; i < DOCUMENT_COMMON_MAX; i++)
		buf_fini(&d->common[i]);
}

bool document_is_whole(const struct document *d)
{
	return d->depth == 0 && !d->in_string;
}

struct sv document_common(const struct document *d, size_t i)
{
	return d->common[i].n > 0 ? buf_sv(&d->common[i]) : SV_ABSENT;
}

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* ---- paths ---- */

static struct document_frame *top(struct document *d)
{
	return d->depth > 0 && d->depth <= DOCUMENT_DEPTH_MAX ? &d->frames[d->depth - 1] : NULL;
}

static void path_add(struct document *d, struct sv s)
{
	if (d->path_bytes + s.n <= DOCUMENT_PATH_BYTES_MAX && s.n > 0)
		memcpy(d->path + d->path_bytes, s.p, s.n);
	/* Too long a path stays too long until its value ends. */
	d->path_bytes += s.n;
}

static bool path_is(const struct document *d, const char *path)
{
	size_t n = strlen(path);

	return n == d->path_bytes && d->depth <= DOCUMENT_DEPTH_MAX && memcmp(path, d->path, n) == 0;
}

/* Whether the path leads to what the value at hand holds. */
static bool path_leads_below(const struct document *d, const char *path)
{
	size_t n = d->path_bytes;

	return n < strlen(path) && memcmp(path, d->path, n) == 0 && (n == 0 || path[n] == '.' || path[n] == '[');
}

/* ---- what holds no entries ---- */

static struct place here(const struct document *d)
{
	return (struct place){ .unit = PLACE_LINE, .number = d->line, .byte_offset = d->offset };
}

static void leave(struct document_left *l, struct place place)
{
	if (l->count++ == 0)
		l->first = place;
}

/* Where every outermost value is an entry nothing is left. */
static bool leaves(const struct document *d)
{
	return d->paths->entry[0] != '\0';
}

static void begin_document(struct document *d)
{
	d->begin = here(d);
	d->reaches_entries = d->has_array = d->in_stray = false;
}

static void end_document(struct document *d)
{
	if (leaves(d) && !d->reaches_entries)
		leave(d->has_array ? &d->unlike : &d->empty, d->begin);
}

/* Outside of documents quotes mean nothing. */
static bool take_stray(struct document *d, char c)
{
	if (d->depth > 0 || !leaves(d) || c == '{' || c == '[')
		return false;
	if (!d->in_stray && !is_white(c) && c != ',') {
		d->in_stray = true;
		leave(&d->strays, here(d));
	}
	return true;
}

/* ---- keeping ---- */

static void keep(struct document *d, char c)
{
	if (d->to->n == d->to_max)
		d->overflow = true;
	else
		buf_add_char(d->to, c);
}

/* Most bytes of a document are the insides of its texts: they are taken together. */
static size_t take_plain(struct document *d, struct sv bytes)
{
	size_t n = 0, room = d->keeping ? d->to_max - d->to->n : 0;

	while (n < bytes.n && bytes.p[n] != '"' && bytes.p[n] != '\\' && bytes.p[n] != '\n' && bytes.p[n] != '\r')
		n++;
	if (d->keeping) {
		buf_add(d->to, sv_sub(bytes, 0, n < room ? n : room));
		d->overflow = d->overflow || n > room;
	}
	d->offset += n;
	return n;
}

static void begin_keeping(struct document *d, struct buf *to, size_t max)
{
	d->keeping = true;
	d->to = to;
	d->to_max = max;
	d->kept_depth = d->depth;
	d->overflow = false;
	buf_clear(to);
}

/* A value begins, at the path as it stands. */
static void begin_value(struct document *d)
{
	if (d->keeping || d->depth > DOCUMENT_DEPTH_MAX)
		return;
	for (size_t i = 0; i < DOCUMENT_COMMON_MAX && d->paths->common[i] != NULL; i++) {
		/* What was said below it was said of another. */
		if (path_leads_below(d, d->paths->common[i]))
			buf_clear(&d->common[i]);
		if (path_is(d, d->paths->common[i]))
			begin_keeping(d, &d->common[i], DOCUMENT_COMMON_BYTES_MAX);
	}
	if (!path_is(d, d->paths->entry))
		return;
	d->entry_at.place = here(d);
	begin_keeping(d, &d->entry, DOCUMENT_ENTRY_BYTES_MAX);
}

/* The value that began at this depth has ended: true when it was an entry. */
static bool end_value(struct document *d, struct document_entry *out)
{
	struct document_frame *f = top(d);

	if (f != NULL && f->is_object)
		d->path_bytes = f->path_bytes;
	if (!d->keeping || d->depth != d->kept_depth)
		return false;
	d->keeping = false;
	if (d->to != &d->entry) {
		if (d->overflow)
			buf_clear(d->to);
		return false;
	}
	*out = d->entry_at;
	out->many_lines = d->line != d->entry_at.place.number;
	out->too_long = d->overflow;
	out->text = d->overflow ? SV_ABSENT : buf_sv(&d->entry);
	return true;
}

/* ---- bytes ---- */

static void open_container(struct document *d, bool is_object)
{
	struct document_frame *f;

	if (d->depth++ == 0)
		begin_document(d);
	f = top(d);
	if (f == NULL)
		return;
	if (!is_object)
		path_add(d, SV("[]"));
	d->has_array = d->has_array || !is_object;
	if (!is_object && (path_is(d, d->paths->entry) || path_leads_below(d, d->paths->entry)))
		d->reaches_entries = true;
	*f = (struct document_frame){ .is_object = is_object, .wants_key = is_object, .path_bytes = d->path_bytes };
}

static bool close_container(struct document *d, struct document_entry *out)
{
	struct document_frame *f = top(d);

	if (d->depth == 0)
		return false;
	if (f != NULL)
		d->path_bytes = f->path_bytes - (f->is_object ? 0 : 2);
	if (--d->depth == 0)
		end_document(d);
	return end_value(d, out);
}

static void end_key(struct document *d)
{
	struct document_frame *f = top(d);

	d->is_key = false;
	assert(f != NULL);
	f->wants_key = false;
	if (d->path_bytes > 0)
		path_add(d, SV("."));
	path_add(d, buf_sv(&d->key));
}

/* A byte of a string behind its first quote. */
static bool take_string(struct document *d, char c, struct document_entry *out)
{
	if (d->keeping)
		keep(d, c == '\n' || c == '\r' ? ' ' : c);
	if (d->escaped || c == '\\') {
		d->escaped = !d->escaped;
	} else if (c == '"') {
		d->in_string = false;
		if (!d->is_key)
			return end_value(d, out);
		end_key(d);
		return false;
	}
	if (d->is_key && d->key.n <= DOCUMENT_PATH_BYTES_MAX)
		buf_add_char(&d->key, c);
	return false;
}

static void open_string(struct document *d)
{
	const struct document_frame *f = top(d);

	d->is_key = f != NULL && f->wants_key;
	d->in_string = true;
	if (d->is_key)
		buf_clear(&d->key);
	else
		begin_value(d);
	if (d->keeping)
		keep(d, '"');
}

static void take_separator(struct document *d, char c)
{
	struct document_frame *f = top(d);

	if (f != NULL && f->is_object && c == ',') {
		f->wants_key = true;
		d->path_bytes = f->path_bytes;
	}
	if (d->keeping)
		keep(d, c);
}

/* A byte outside of strings and words. */
static bool take_token(struct document *d, char c, struct document_entry *out)
{
	if (take_stray(d, c))
		return false;
	switch (c) {
	case ' ':
	case '\t':
	case '\n':
	case '\r':
		return false;
	case '"':
		open_string(d);
		return false;
	case ',':
	case ':':
		take_separator(d, c);
		return false;
	case '{':
	case '[':
		begin_value(d);
		if (d->keeping)
			keep(d, c);
		open_container(d, c == '{');
		return false;
	case '}':
	case ']':
		if (d->keeping)
			keep(d, c);
		return close_container(d, out);
	default:
		begin_value(d);
		if (d->keeping)
			keep(d, c);
		d->in_word = true;
		return false;
	}
}

/* Numbers, true, null; and whatever else has no quotes. */
static bool ends_word(char c)
{
	return is_white(c) || strchr(",:{}[]\"", c) != NULL;
}

/* True when an entry ended. *again: the byte has not been taken. */
static bool take_byte(struct document *d, char c, struct document_entry *out, bool *again)
{
	*again = false;
	if (d->in_string)
		return take_string(d, c, out);
	if (!d->in_word)
		return take_token(d, c, out);
	if (!ends_word(c) || c == '\0') {
		if (d->keeping)
			keep(d, c);
		return false;
	}
	d->in_word = false;
	*again = true;
	return end_value(d, out);
}

bool document_next(struct document *d, struct sv bytes, size_t *at, struct document_entry *out)
{
	while (*at < bytes.n) {
		char c;
		bool again, ended;

		if (d->in_string && !d->is_key && !d->escaped) {
			*at += take_plain(d, sv_sub(bytes, *at, bytes.n));
			if (*at == bytes.n)
				break;
		}
		c = bytes.p[*at];
		ended = take_byte(d, c, out, &again);
		if (!again) {
			++*at;
			d->offset++;
			d->line += c == '\n';
		}
		if (ended)
			return true;
	}
	return false;
}
