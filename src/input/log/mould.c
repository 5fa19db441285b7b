/* SPDX-License-Identifier: MIT */
/* See input/log/mould.h. */

#include "input/log/mould.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "input/log/colours.h"

/* Longer numbers of lines have no moulds. */
#define NUMBER_DIGITS_MAX 10

/* ---- ways ---- */

struct line_way line_way_of(const struct unwrap_way *way)
{
	return (struct line_way){
		.has_wrapper = way->has_wrapper,
		.has_time = way->has_time,
		.prompt = way->prompt,
		.writer = way->writer,
		.serial = way->serial,
		.host = way->host,
	};
}

bool wrapper_time_read(struct wrapper_time *t, struct sv text, struct moulded *out)
{
	int64_t us;

	if (!again_read(&t->again, text, &us) || t->again.parts.lacks != t->lacks || t->again.parts.zoned != t->zoned)
		return false;
	out->has_outer = t->zoned && t->lacks == TSTAMP_LACKS_NOTHING;
	out->outer.us = us;
	return true;
}

bool wrapper_time_init(struct wrapper_time *t, struct sv text, const struct unwrap_way *way)
{
	struct moulded unused;

	t->lacks = way->time.lacks;
	t->zoned = way->time.zoned;
	/* Seconds since a boot are placed by what records say of it. */
	return t->lacks != TSTAMP_LACKS_START && again_init(&t->again, way->time_layout) && wrapper_time_read(t, text, &unused);
}

/* ---- a mould from a line ---- */

/* Where it stands behind what decides. */
static bool find_text(struct sv line, const struct unwrap_way *way, size_t *at)
{
	if (way->last == WRAP_BY_OBJECT || way->text.n == 0 || !sv_ends_with(line, way->text))
		return false;
	*at = line.n - way->text.n;
	return true;
}

/* Where the only text that is the time's stands in what is before the text. */
static bool find_time(const struct mould *m, const struct unwrap_way *way, size_t *at)
{
	const struct sv head = { m->bytes, m->head_bytes };
	size_t again;

	return way->time_text.n > 0 && sv_find(head, way->time_text, at) && !sv_find(sv_sub(head, *at + 1, head.n), way->time_text, &again);
}

static bool take_time(struct mould *m, const struct unwrap_way *way)
{
	if (!find_time(m, way, &m->time_at) || !wrapper_time_init(&m->time, way->time_text, way))
		return false;
	m->time_bytes = way->time_text.n;
	m->fraction_bytes = m->time.again.fraction_bytes;
	return true;
}

/* text_at: in the line. */
static void take_head(struct mould *m, struct sv line, size_t text_at, const struct unwrap_way *way)
{
	m->head_bytes = text_at - way->number_bytes;
	m->has_number = way->number_bytes > 0;
	m->number_at = m->has_number ? line.n - way->number_behind - way->number_bytes : 0;
	memcpy(m->bytes, line.p, m->number_at);
	memcpy(m->bytes + m->number_at, line.p + m->number_at + way->number_bytes, m->head_bytes - m->number_at);
}

/* False when the line makes no mould. */
static bool make(struct mould *m, struct sv line, size_t text_at, const struct unwrap_way *way)
{
	if (text_at > sizeof m->bytes || way->number_bytes > NUMBER_DIGITS_MAX || way->number_bytes + way->number_behind > line.n)
		return false;
	m->way = line_way_of(way);
	m->last = way->last;
	take_head(m, line, text_at, way);
	return !m->way.has_time || take_time(m, way);
}

/* ---- a line by its mould ---- */

/* Whether the bytes from p on are those from there on, but for what is in the time's place. */
static bool is_head(const struct mould *m, const char *p, size_t from, size_t n)
{
	const char *own = m->bytes + from;
	size_t before, behind;

	if (!m->way.has_time || m->time_at < from || m->time_at >= from + n)
		return memcmp(p, own, n) == 0;
	before = m->time_at - from;
	behind = before + m->time_bytes;
	return memcmp(p, own, before) == 0 && memcmp(p + behind, own + behind, n - behind) == 0;
}

/* Whether a text is a line's own behind a time without more (wrap_stamp.c: after_nothing, and those that are asked before it). */
static bool stands_alone(const struct mould *m, struct sv text)
{
	const bool before_any = m->time.again.layout[0] == 'y' && m->fraction_bytes == WRAP_STAMP_NANOS;

	return (before_any || wrap_stamp_begins(text)) && wrap_stamp_names_nobody(text);
}

/* Whether the text is one that the innermost layer has. */
static bool may_have(const struct mould *m, struct sv text)
{
	switch (m->last) {
	case WRAP_BEFORE_NOBODY:
		return stands_alone(m, text);
	case WRAP_BEFORE_TIME:
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

/* The time there: of as many digits too, for what may follow depends on them. */
static bool read_time(struct mould *m, const char *p, struct moulded *out)
{
	return wrapper_time_read(&m->time, (struct sv){ p, m->time_bytes }, out) && m->time.again.fraction_bytes == m->fraction_bytes;
}

static bool fits(struct mould *m, struct sv line, struct moulded *out)
{
	const size_t digits = m->has_number ? digits_at(line, m->number_at) : 0;
	const char *rest = line.p + digits;	/* where the head's bytes behind the number have their places */

	if (line.n < m->head_bytes + digits || (m->has_number && digits == 0) || !is_head(m, line.p, 0, m->number_at) ||
	    !is_head(m, rest + m->number_at, m->number_at, m->head_bytes - m->number_at))
		return false;
	*out = (struct moulded){ .way = &m->way, .text = { rest + m->head_bytes, line.n - m->head_bytes - digits } };
	if (m->way.has_time && !read_time(m, (m->time_at < m->number_at ? line.p : rest) + m->time_at, out))
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
	*out = (struct moulded){ .way = &m->own[coloured], .text = line };
	return m->own[coloured].is_own;
}

/* The mould that has the text of the line there; NULL when there is none. */
static struct mould *known(struct moulds *m, struct sv line, size_t text_at, const struct unwrap_way *way)
{
	struct moulded found;

	for (size_t i = 0; i < m->count; i++)
		if (m->items[i]->head_bytes + way->number_bytes == text_at && fits(m->items[i], line, &found))
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
	size_t text_at;

	/* One that was read as it stands there is not what others are looked at as. */
	if (!way->is_straight || colours_in(line))
		return;
	if (way->last == WRAP_SLOW) {
		m->own[coloured] = line_way_of(way);
		m->own[coloured].is_own = true;
		return;
	}
	if (!find_text(line, way, &text_at))
		return;
	found = known(m, line, text_at, way);
	if (found != NULL) {
		found->way = line_way_of(way);
		found->last = way->last;
	} else if (make(&fresh, line, text_at, way)) {
		add(m, &fresh);
	}
}

void moulds_fini(struct moulds *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->items[i]);
	m->count = 0;
}
