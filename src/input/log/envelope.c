/* SPDX-License-Identifier: MIT */
/* See input/log/envelope.h. */

#include "input/log/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "input/log/colours.h"
#include "input/log/escapes.h"
#include "input/log/seen.h"
#include "input/log/shape.h"

/* Of the values that name a writer, and of those that are an id: what has more is read with care. */
#define NAMED_BYTES_MAX 512
#define ID_BYTES_MAX 512

/* Some values of an object. */
struct parts {
	size_t holes[2 * WRAP_NAMES_MAX];
	size_t count;
};

/* Whose it is when the parts that name the writer say that, one behind the other, each with a line feed: no value has one. */
struct envelope_way {
	char named[NAMED_BYTES_MAX];
	size_t named_bytes;
	struct line_way way;
};

struct envelope {
	struct shape shape;
	const char *wrapper;
	size_t text_hole;
	bool ends_lines;	/* the text of a whole line has its end */
	bool has_time, has_id;
	size_t time_hole;
	struct wrapper_time time;
	struct parts names, id;
	struct envelope_way *ways[ENVELOPE_WAYS_MAX];	/* the one that fitted last is first */
	size_t way_count;
};

static void free_envelope(struct envelope *e)
{
	for (size_t i = 0; i < e->way_count; i++)
		free(e->ways[i]);
	free(e);
}

void envelopes_fini(struct envelopes *e)
{
	for (size_t i = 0; i < e->count; i++)
		free_envelope(e->items[i]);
	e->count = 0;
}

/* ---- what an object says ---- */

/* The values that are parts, each with the byte behind it. 0 when there is no room. */
static size_t put_parts(const struct parts *p, const struct sv *values, char behind, char *to, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++) {
		const struct sv value = values[p->holes[i]];

		if (value.n + 1 > most - n)
			return 0;
		memcpy(to + n, value.p, value.n);
		n += value.n;
		to[n++] = behind;
	}
	return n;
}

/* Whether the writer is the one that they name. */
static bool is_named(const struct envelope *e, const struct envelope_way *w, const struct sv *values)
{
	size_t at = 0;

	for (size_t i = 0; i < e->names.count; i++) {
		const struct sv value = values[e->names.holes[i]];

		if (w->named_bytes - at <= value.n || memcmp(w->named + at, value.p, value.n) != 0 || w->named[at + value.n] != '\n')
			return false;
		at += value.n + 1;
	}
	return at == w->named_bytes;
}

static struct envelope_way *way_of(struct envelope *e, const struct sv *values)
{
	for (size_t i = 0; i < e->way_count; i++) {
		struct envelope_way *w = e->ways[i];

		if (!is_named(e, w, values))
			continue;
		memmove(e->ways + 1, e->ways, i * sizeof *e->ways);
		e->ways[0] = w;
		return w;
	}
	return NULL;
}

/* As wrap_json.c has it: an id is the parts with blanks between them. False when it is not as it is written. */
static bool take_id(const struct envelope *e, const struct sv *values, uint64_t *out)
{
	char id[ID_BYTES_MAX];
	const size_t n = put_parts(&e->id, values, ' ', id, sizeof id);
	size_t at;

	if (n == 0 || sv_find_char((struct sv){ id, n }, '\\', &at))
		return false;
	*out = seen_digest(sv_of(e->wrapper), (struct sv){ id, n - 1 });
	return true;
}

/* Without the end of its line. False where there is none, or only those who read JSON can tell. */
static bool take_line_end(struct sv *text)
{
	const char *end = text->p + text->n;

	if (text->n < 2 || end[-1] != 'n' || end[-2] != '\\')
		return false;
	text->n -= 2;
	/* A backslash there would be the end of another escape. */
	return text->n == 0 || end[-3] != '\\';
}

/* Of a text with escapes it is not known how it begins, and how it ends. */
static bool may_be(char c, char wanted)
{
	return c == wanted || c == '\\';
}

/* The journal writes a text that is no UTF-8 as an array of its bytes; what looks like one is read as one (wrap_json.c). */
static bool may_be_bytes(struct sv text)
{
	const size_t escape_bytes = sizeof "\\u005d" - 1;

	if (text.n < 3 || !may_be(text.p[0], '[') || !(cursor_is_digit(text.p[1]) || may_be(text.p[1], 'u')))
		return false;
	return text.p[text.n - 1] == ']' || (text.n > escape_bytes && text.p[text.n - escape_bytes] == '\\');
}

static bool take_text(const struct envelope *e, const struct sv *values, struct sv *out)
{
	*out = values[e->text_hole];
	return !may_be_bytes(*out) && (!e->ends_lines || take_line_end(out));
}

/* ---- an object by its envelope ---- */

static struct envelope *envelope_of(struct envelopes *e, struct sv line, struct sv *values)
{
	for (size_t i = 0; i < e->count; i++) {
		struct envelope *found = e->items[i];

		if (!shape_fits_again(&found->shape, line, values))
			continue;
		memmove(e->items + 1, e->items, i * sizeof *e->items);
		e->items[0] = found;
		return found;
	}
	return NULL;
}

/* A reader of times passes over blanks, which a text of JSON may not have all of. */
static bool take_time(struct envelope *e, struct sv value, struct moulded *out)
{
	unsigned char control = 0;

	for (size_t i = 0; i < value.n; i++)
		control |= (unsigned char)((unsigned char)value.p[i] < 0x20);
	return control == 0 && wrapper_time_read(&e->time, value, out);
}

bool envelope_fits(struct envelopes *e, struct sv line, struct moulded *out)
{
	struct sv values[SHAPE_HOLES_MAX];
	struct envelope *found;
	const struct envelope_way *w;

	if (line.n == 0 || line.p[0] != '{')
		return false;
	found = envelope_of(e, line, values);
	w = found != NULL ? way_of(found, values) : NULL;
	if (w == NULL)
		return false;
	*out = (struct moulded){ .way = &w->way, .is_escaped = true };
	return take_text(found, values, &out->text) && (!found->has_time || take_time(found, values[found->time_hole], out)) &&
	       (!found->has_id || take_id(found, values, &out->id));
}

/* ---- an envelope from an object ---- */

/* What is known of an object while an envelope is made of it. */
struct making {
	struct envelope *envelope;
	struct shape_names names;
};

/* The member, if it is there: a value that differs. False when it is there as something else. */
static bool add_part(const struct making *m, const char *name, struct parts *to)
{
	size_t hole;

	switch (shape_count_named(&m->envelope->shape, &m->names, sv_of(name), &hole)) {
	case 0:
		return true;
	case 1:
		to->holes[to->count++] = hole;
		return true;
	default:
		return false;
	}
}

static bool add_parts(const struct making *m, const char *const names[WRAP_NAMES_MAX], struct parts *to)
{
	for (size_t i = 0; i < WRAP_NAMES_MAX && names[i] != NULL; i++)
		if (!add_part(m, names[i], to))
			return false;
	return true;
}

/* A value that is written as it is said, but for escapes. */
static bool find_hole(const struct making *m, const char *name, bool is_text, size_t *hole)
{
	const struct shape *s = &m->envelope->shape;

	if (shape_count_named(s, &m->names, sv_of(name), hole) != 1)
		return false;
	return s->holes[*hole].kind == SHAPE_TEXT || (!is_text && s->holes[*hole].kind == SHAPE_NUMBER);
}

static bool find_id(const struct making *m, const struct unwrap_way *way)
{
	struct envelope *e = m->envelope;

	e->has_id = way->id != 0;
	if (!e->has_id)
		return true;
	if (!add_parts(m, way->members->id, &e->id))
		return false;
	for (size_t i = 0; i < e->id.count; i++)
		if (e->shape.holes[e->id.holes[i]].kind != SHAPE_TEXT)
			return false;
	return true;
}

static bool find_time(const struct making *m, const struct unwrap_way *way, const struct sv *values)
{
	struct envelope *e = m->envelope;

	e->has_time = way->has_time;
	if (!e->has_time)
		return true;
	return way->members->time != NULL && find_hole(m, way->members->time, false, &e->time_hole) &&
	       wrapper_time_init(&e->time, values[e->time_hole], way);
}

/* Whether the text that is found is the one that was. */
static bool says(const struct envelope *e, const struct sv *values, struct sv expected)
{
	struct sv text;
	char *said;
	size_t n;
	bool same;

	if (!take_text(e, values, &text))
		return false;
	said = memory_checked(malloc(text.n + 1));
	same = escapes_read(text, said, &n) && sv_eq((struct sv){ said, colours_strip((struct sv){ said, n }, said) }, expected);
	free(said);
	return same;
}

/*
 * What is read of the values is looked at by whoever reads it: the text by
 * inner.h, the time as one; and those that name the writer are the same bytes as
 * in a line that was read.
 */
static void note_read(struct envelope *e)
{
	e->shape.long_hole = e->text_hole;
	e->shape.holes[e->text_hole].is_read = true;
	if (e->has_time)
		e->shape.holes[e->time_hole].is_read = true;
	for (size_t i = 0; i < e->names.count; i++)
		e->shape.holes[e->names.holes[i]].is_read = true;
}

static bool make(struct envelope *e, struct sv line, const struct unwrap_way *way, struct arena *a)
{
	struct making m = { .envelope = e };
	struct sv values[SHAPE_HOLES_MAX];

	*e = (struct envelope){ .wrapper = way->members->wrapper, .ends_lines = way->members->ends_lines };
	if (!shape_make(&e->shape, line, &m.names, a) || !shape_fits(&e->shape, line, values) ||
	    !find_hole(&m, way->members->text, true, &e->text_hole) || !add_parts(&m, way->members->host, &e->names) ||
	    !add_parts(&m, way->members->writer, &e->names) || !find_id(&m, way) || !find_time(&m, way, values) || !says(e, values, way->text))
		return false;
	note_read(e);
	return true;
}

/* One more, or in place of one that has not fitted for long. */
static struct envelope *add(struct envelopes *e, struct sv line, const struct unwrap_way *way)
{
	struct envelope *fresh = memory_checked(malloc(sizeof *fresh));
	struct arena *a = arena_new();
	const bool made = make(fresh, line, way, a);

	arena_free(a);
	if (!made) {
		free(fresh);
		return NULL;
	}
	if (e->count < ENVELOPES_MAX)
		e->count++;
	else
		free_envelope(e->items[ENVELOPES_MAX - 1]);
	memmove(e->items + 1, e->items, (e->count - 1) * sizeof *e->items);
	e->items[0] = fresh;
	return fresh;
}

static struct envelope_way *add_way(struct envelope *e)
{
	struct envelope_way *fresh;

	if (e->way_count == ENVELOPE_WAYS_MAX)
		fresh = e->ways[ENVELOPE_WAYS_MAX - 1];
	else
		fresh = e->ways[e->way_count++] = memory_checked(malloc(sizeof *fresh));
	memmove(e->ways + 1, e->ways, (e->way_count - 1) * sizeof *e->ways);
	e->ways[0] = fresh;
	return fresh;
}

void envelope_learn(struct envelopes *e, struct sv line, const struct unwrap_way *way)
{
	struct sv values[SHAPE_HOLES_MAX];
	struct envelope *found;
	struct envelope_way fresh = { .way = line_way_of(way) }, *w;

	if (!way->is_straight || way->last != WRAP_BY_OBJECT || line.n == 0 || line.p[0] != '{')
		return;
	found = envelope_of(e, line, values);
	if (found == NULL)
		found = add(e, line, way);
	if (found == NULL || !shape_fits(&found->shape, line, values))
		return;
	fresh.named_bytes = put_parts(&found->names, values, '\n', fresh.named, sizeof fresh.named);
	if (fresh.named_bytes == 0 && found->names.count > 0)
		return;
	w = way_of(found, values);
	*(w != NULL ? w : add_way(found)) = fresh;
}
