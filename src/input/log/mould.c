/* SPDX-License-Identifier: MIT */
/* See input/log/mould.h. */

#include "input/log/mould.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "input/log/colours.h"
#include "input/log/escapes.h"

/* Longer numbers of lines have no moulds. */
#define NUMBER_DIGITS_MAX 10

/* ---- a mould from a line ---- */

/* Where the text stands in its line. */
struct hole {
	size_t at, end;		/* what is behind it begins there */
};

/* An object's member: "name":"text", and in front of it no object inside this one and nothing that is escaped. */
static bool find_member(struct sv line, const char *name, struct hole *out)
{
	char key[64];
	const int n = snprintf(key, sizeof key, "\"%s\":\"", name);
	size_t at, other;

	if (n < 0 || (size_t)n >= sizeof key || !sv_find(line, (struct sv){ key, (size_t)n }, &at))
		return false;
	if (line.p[0] != '{' || sv_find_char(sv_sub(line, 1, at), '{', &other) || sv_find_char(sv_sub(line, 0, at), '\\', &other))
		return false;
	out->at = at + (size_t)n;
	out->end = out->at + escapes_end(sv_sub(line, out->at, line.n));
	return out->end < line.n;
}

/* A text that a wrapper took out of an object: as it stands there, without the end of its line. */
static bool find_text_in_object(struct sv line, const struct unwrap_way *way, struct hole *out)
{
	char *said;
	size_t n;
	bool same;

	if (way->member == NULL || !find_member(line, way->member, out) || out->end - out->at < 2 ||
	    memcmp(line.p + out->end - 2, "\\n", 2) != 0)
		return false;
	out->end -= 2;
	/* A backslash there would be the end of another escape. */
	if (out->end > out->at && line.p[out->end - 1] == '\\')
		return false;
	said = memory_checked(malloc(out->end - out->at + 1));
	same = escapes_read(sv_sub(line, out->at, out->end - out->at), said, &n) &&
	       sv_eq((struct sv){ said, colours_strip((struct sv){ said, n }, said) }, way->text);
	free(said);
	return same;
}

static bool find_text(struct sv line, const struct unwrap_way *way, struct hole *out)
{
	if (way->last == WRAP_BY_OBJECT)
		return find_text_in_object(line, way, out);
	if (way->text.n == 0 || !sv_ends_with(line, way->text))
		return false;
	out->at = line.n - way->text.n;
	out->end = line.n;
	return true;
}

/* Where the only text that is the time's stands in what is around the text. */
static bool find_time(const struct mould *m, const struct unwrap_way *way, size_t *at)
{
	const struct sv around = { m->bytes, m->head_bytes + m->tail_bytes };
	size_t again;

	if (way->time_text.n == 0 || !sv_find(around, way->time_text, at) ||
	    sv_find(sv_sub(around, *at + 1, around.n), way->time_text, &again))
		return false;
	/* In one of the two. */
	return *at + way->time_text.n <= m->head_bytes || *at >= m->head_bytes;
}

/* The time of a line: the same way to write it, with all that it says. */
static bool read_time(struct mould *m, const char *p, struct moulded *out)
{
	int64_t us;

	if (!again_read(&m->time, (struct sv){ p, m->time_bytes }, &us) || m->time.parts.lacks != m->lacks || m->time.parts.zoned != m->zoned ||
	    m->time.fraction_bytes != m->fraction_bytes)
		return false;
	out->has_outer = m->zoned && m->lacks == TSTAMP_LACKS_NOTHING;
	out->outer.us = us;
	return true;
}

static bool take_time(struct mould *m, const struct unwrap_way *way)
{
	int64_t us;

	/* Seconds since a boot are placed by what records say of it. */
	if (!find_time(m, way, &m->time_at) || way->time.lacks == TSTAMP_LACKS_START || !again_init(&m->time, way->time_layout))
		return false;
	m->time_bytes = way->time_text.n;
	m->lacks = way->time.lacks;
	m->zoned = way->time.zoned;
	if (!again_read(&m->time, (struct sv){ m->bytes + m->time_at, m->time_bytes }, &us))
		return false;
	m->fraction_bytes = m->time.fraction_bytes;
	return m->time.parts.lacks == m->lacks && m->time.parts.zoned == m->zoned;
}

static void take_way(struct mould *m, const struct unwrap_way *way)
{
	m->is_object = way->last == WRAP_BY_OBJECT;
	m->last = way->last;
	m->has_wrapper = way->has_wrapper;
	m->has_time = way->has_time;
	m->prompt = way->prompt;
	m->writer = way->writer;
	m->serial = way->serial;
	m->host = way->host;
}

/* Without the number that is among them. */
static size_t head_bytes_of(const struct hole *hole, const struct unwrap_way *way)
{
	return hole->at - way->number_bytes;
}

static void take_head(struct mould *m, struct sv line, const struct hole *hole, const struct unwrap_way *way)
{
	const size_t behind = line.n - way->number_behind;

	m->head_bytes = head_bytes_of(hole, way);
	m->has_number = way->number_bytes > 0;
	m->number_at = m->has_number ? behind - way->number_bytes : 0;
	memcpy(m->bytes, line.p, m->number_at);
	memcpy(m->bytes + m->number_at, line.p + m->number_at + way->number_bytes, m->head_bytes - m->number_at);
}

/* False when the line makes no mould. */
static bool make(struct mould *m, struct sv line, const struct hole *hole, const struct unwrap_way *way)
{
	if (hole->at + line.n - hole->end > sizeof m->bytes || way->number_bytes > NUMBER_DIGITS_MAX ||
	    way->number_bytes + way->number_behind > line.n)
		return false;
	take_way(m, way);
	take_head(m, line, hole, way);
	m->tail_bytes = line.n - hole->end;
	memcpy(m->bytes + m->head_bytes, line.p + hole->end, m->tail_bytes);
	return !m->has_time || take_time(m, way);
}

/* ---- a line by its mould ---- */

/* Whether the bytes from p on are those from there on, but for what is in the time's place. */
static bool is_around(const struct mould *m, const char *p, size_t from, size_t n)
{
	const char *own = m->bytes + from;
	size_t before, behind;

	if (!m->has_time || m->time_at < from || m->time_at >= from + n)
		return memcmp(p, own, n) == 0;
	before = m->time_at - from;
	behind = before + m->time_bytes;
	return memcmp(p, own, before) == 0 && memcmp(p + behind, own + behind, n - behind) == 0;
}

/* Whether a text is a line's own behind a time without more (wrap_stamp.c: after_nothing, and those that are asked before it). */
static bool stands_alone(const struct mould *m, struct sv text)
{
	const bool before_any = m->time.layout[0] == 'y' && m->fraction_bytes == WRAP_STAMP_NANOS;

	return (before_any || wrap_stamp_begins(text)) && wrap_stamp_names_nobody(text);
}

/* Whether the text is one that the innermost layer has. */
static bool may_have(const struct mould *m, struct sv text)
{
	switch (m->last) {
	case WRAP_BEFORE_NOBODY:
		return stands_alone(m, text);
	case WRAP_BEFORE_RECORD:
	case WRAP_BEFORE_TRACE:
	case WRAP_BEFORE_TEXT:
		return wrap_is_before(m->last, text);
	case WRAP_SLOW:
	case WRAP_BY_PREFIX:
	case WRAP_TAKEN_OFF:
	case WRAP_BY_OBJECT:
		break;
	}
	return true;
}

/* How many digits stand in the number's place; 0 when they are no number that is one there. */
static size_t digits_at(struct sv line, size_t at)
{
	size_t n = 0;

	while (at + n < line.n && n <= NUMBER_DIGITS_MAX && cursor_is_digit(line.p[at + n]))
		n++;
	return n <= NUMBER_DIGITS_MAX ? n : 0;
}

static bool fits(struct mould *m, struct sv line, struct moulded *out)
{
	const size_t digits = m->has_number ? digits_at(line, m->number_at) : 0;
	const char *head = line.p + digits, *tail = line.p + line.n - m->tail_bytes;

	if (line.n < m->head_bytes + digits + m->tail_bytes || (m->has_number && digits == 0) || !is_around(m, line.p, 0, m->number_at) ||
	    !is_around(m, head + m->number_at, m->number_at, m->head_bytes - m->number_at) ||
	    !is_around(m, tail, m->head_bytes, m->tail_bytes))
		return false;
	out->mould = m;
	out->text = sv_sub(line, m->head_bytes + digits, line.n - m->head_bytes - digits - m->tail_bytes);
	out->has_outer = false;
	if (m->has_time && !read_time(m, (m->time_at >= m->head_bytes ? tail - m->head_bytes : m->time_at >= m->number_at ? head : line.p) + m->time_at, out))
		return false;
	return may_have(m, out->text) && !wrap_stamp_may_be_kernels(line);
}

/*
 * To the front of those that are as long. Longer ones stand before it: a line may
 * have one layer more, and fits those without it too.
 */
static void move(struct moulds *m, size_t i)
{
	struct mould *item = m->items[i];
	size_t to = 0;

	while (to < i && m->items[to]->head_bytes > item->head_bytes)
		to++;
	memmove(m->items + to + 1, m->items + to, (i - to) * sizeof *m->items);
	m->items[to] = item;
}

bool mould_fits(struct moulds *m, struct sv line, bool coloured, struct moulded *out)
{
	for (size_t i = 0; i < m->count; i++) {
		if (!fits(m->items[i], line, out))
			continue;
		if (i > 0)
			move(m, i);
		return true;
	}
	if (!m->own[coloured].is_own)
		return false;
	*out = (struct moulded){ .mould = &m->own[coloured], .text = line };
	return true;
}

/* The mould that has the text of the line there; NULL when there is none. */
static struct mould *known(struct moulds *m, struct sv line, const struct hole *hole, const struct unwrap_way *way)
{
	const size_t head_bytes = head_bytes_of(hole, way);
	struct moulded found;

	for (size_t i = 0; i < m->count; i++)
		if (m->items[i]->head_bytes == head_bytes && m->items[i]->tail_bytes == line.n - hole->end && fits(m->items[i], line, &found))
			return m->items[i];
	return NULL;
}

/* One more, or in place of one that has not fitted for long. */
static void add(struct moulds *m, const struct mould *fresh)
{
	if (m->count < MOULDS_MAX)
		m->items[m->count++] = memory_checked(malloc(sizeof *fresh));
	*m->items[m->count - 1] = *fresh;
	move(m, m->count - 1);
}

void mould_learn(struct moulds *m, struct sv line, bool coloured, const struct unwrap_way *way)
{
	struct mould fresh = { .head_bytes = 0 }, *found;
	struct hole hole;

	/* One that was read as it stands there is not what others are looked at as. */
	if (!way->is_straight || colours_in(line))
		return;
	if (way->last == WRAP_SLOW) {
		take_way(&m->own[coloured], way);
		m->own[coloured].is_own = true;
		return;
	}
	if (!find_text(line, way, &hole))
		return;
	found = known(m, line, &hole, way);
	if (found != NULL)
		take_way(found, way);
	else if (make(&fresh, line, &hole, way))
		add(m, &fresh);
}

void moulds_fini(struct moulds *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->items[i]);
	m->count = 0;
}
