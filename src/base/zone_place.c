/* SPDX-License-Identifier: MIT */
/*
 * The rules of a place, from its TZif file (RFC 8536): the changes of its clocks
 * so far, and behind them a text in the manner of POSIX TZ for all later years.
 * The C library is not asked: it knows one zone at a time, takes unknown names
 * for UTC, and does not tell when a local time occurs twice or never.
 */

#include "base/zone_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/civil.h"
#include "base/cursor.h"
#include "base/zone.h"

#define ZONE_DIRECTORY "/usr/share/zoneinfo"
#define ZONE_NAME_MAX 64
/* The largest file of the database has less than 4 KiB. */
#define ZONE_FILE_MAX (64 * 1024)
#define ZONE_CHANGES_MAX 4096
/* Clocks are nowhere further from UTC (RFC 8536 3.2). */
#define ZONE_OFFSET_MAX (26 * 3600)

struct local_type {
	int32_t offset_s;
	struct sv abbreviation;
};

/* A day of each year, and the time on the clock that holds before the change. */
struct yearly {
	char form; /* 'M': month, week, day; 'J': day 1 to 365 without 29 February; 'N': day 0 to 365 */
	int month, week, day;
	int32_t time_s;
};

struct zone_rules {
	struct sv name;
	int64_t *at; /* instants of changes, in order */
	uint8_t *to; /* and the type that holds from each */
	size_t count;
	struct local_type *types; /* the first holds before all changes */
	size_t type_count;
	/* After the last change. */
	bool has_tail, tail_changes;
	struct local_type standard, daylight;
	struct yearly to_daylight, to_standard;
};

/* ---- the text for later years: CET-1CEST,M3.5.0,M10.5.0/3 ---- */

static bool take_name(struct cursor *c, struct sv *out)
{
	bool quoted = cursor_skip(c, '<');
	size_t start = c->at;

	for (;;) {
		char ch = cursor_peek(c);
		bool letter = (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');

		if (!letter && !(quoted && (cursor_is_digit(ch) || ch == '+' || ch == '-')))
			break;
		c->at++;
	}
	*out = sv_sub(c->text, start, c->at - start);
	return out->n >= 3 && (!quoted || cursor_skip(c, '>'));
}

/* Up to three digits. */
static bool take_number(struct cursor *c, int *out)
{
	size_t start = c->at;

	for (*out = 0; cursor_is_digit(cursor_peek(c)) && c->at - start < 3; c->at++)
		*out = *out * 10 + (cursor_peek(c) - '0');
	return c->at > start;
}

/* [+-]hh[:mm[:ss]] */
static bool take_hours(struct cursor *c, int32_t *out)
{
	bool negative = cursor_peek(c) == '-';
	int part[3] = { 0, 0, 0 };

	if (!cursor_skip(c, '-'))
		(void)cursor_skip(c, '+');
	for (int i = 0; i < 3; i++) {
		if (!take_number(c, &part[i]))
			return false;
		if (!cursor_skip(c, ':'))
			break;
	}
	if (part[0] > 167 || part[1] > 59 || part[2] > 59)
		return false;
	*out = part[0] * 3600 + part[1] * 60 + part[2];
	if (negative)
		*out = -*out;
	return true;
}

static bool take_yearly(struct cursor *c, struct yearly *out)
{
	*out = (struct yearly){ .form = 'N', .time_s = 2 * 3600 };
	if (!cursor_skip(c, ','))
		return false;
	if (cursor_peek(c) == 'M' || cursor_peek(c) == 'J')
		out->form = c->text.p[c->at++];
	if (out->form == 'M') {
		if (!take_number(c, &out->month) || !cursor_skip(c, '.') || !take_number(c, &out->week) ||
		    !cursor_skip(c, '.') || !take_number(c, &out->day) || out->month < 1 || out->month > 12 ||
		    out->week < 1 || out->week > 5 || out->day > 6)
			return false;
	} else if (!take_number(c, &out->day) || out->day > 365 || (out->form == 'J' && out->day < 1)) {
		return false;
	}
	return !cursor_skip(c, '/') || take_hours(c, &out->time_s);
}

/* Offsets count westwards there. */
static bool take_west(struct cursor *c, struct local_type *out)
{
	int32_t west;

	if (!take_hours(c, &west) || west > ZONE_OFFSET_MAX || west < -ZONE_OFFSET_MAX)
		return false;
	out->offset_s = -west;
	return true;
}

static bool read_tail(struct sv text, struct zone_rules *r)
{
	struct cursor c = { text, 0 };

	if (!take_name(&c, &r->standard.abbreviation) || !take_west(&c, &r->standard))
		return false;
	r->has_tail = true;
	if (c.at == text.n)
		return true;
	if (!take_name(&c, &r->daylight.abbreviation))
		return false;
	r->daylight.offset_s = r->standard.offset_s + 3600;
	if (cursor_peek(&c) != ',' && !take_west(&c, &r->daylight))
		return false;
	r->tail_changes = true;
	return take_yearly(&c, &r->to_daylight) && take_yearly(&c, &r->to_standard) && c.at == text.n;
}

/* ---- what holds when ---- */

static int64_t day_of(const struct yearly *y, int year)
{
	int64_t first;

	if (y->form == 'M') {
		first = civil_days(year, y->month, 1);
		int day = 1 + (y->day - civil_weekday(first) + 7) % 7 + (y->week - 1) * 7;

		/* The fifth is the last. */
		while (day > civil_month_days(year, y->month))
			day -= 7;
		return first + day - 1;
	}
	first = civil_days(year, 1, 1);
	if (y->form == 'N')
		return first + y->day;
	return first + y->day - 1 + (y->day > 59 && civil_month_days(year, 2) == 29);
}

static const struct local_type *tail_at(const struct zone_rules *r, int64_t utc_s)
{
	struct civil c;

	if (!r->tail_changes)
		return &r->standard;
	civil_from_seconds(utc_s + r->standard.offset_s, &c);
	int64_t daylight = day_of(&r->to_daylight, c.year) * DAY_S + r->to_daylight.time_s - r->standard.offset_s;
	int64_t standard = day_of(&r->to_standard, c.year) * DAY_S + r->to_standard.time_s - r->daylight.offset_s;
	/* South of the equator the year begins in summer. */
	bool summer = daylight < standard ? utc_s >= daylight && utc_s < standard
					  : utc_s >= daylight || utc_s < standard;
	return summer ? &r->daylight : &r->standard;
}

static const struct local_type *type_at(const struct zone_rules *r, int64_t utc_s)
{
	size_t low = 0, high = r->count;

	if (r->has_tail && (r->count == 0 || utc_s >= r->at[r->count - 1]))
		return tail_at(r, utc_s);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->at[middle] <= utc_s)
			low = middle + 1;
		else
			high = middle;
	}
	return &r->types[low == 0 ? 0 : r->to[low - 1]];
}

int32_t zone_place_offset_at(const struct zone_rules *r, int64_t utc_s)
{
	return type_at(r, utc_s)->offset_s;
}

struct sv zone_place_name(const struct zone_rules *r)
{
	return r->name;
}

/* The last meaning counts: places have changed theirs. */
bool zone_place_abbreviation(const struct zone_rules *r, struct sv name, int32_t *offset_s)
{
	const struct local_type *tail[] = { &r->daylight, &r->standard };

	for (size_t i = 0; r->has_tail && i < 2; i++) {
		if (!sv_is_absent(tail[i]->abbreviation) && sv_eq(tail[i]->abbreviation, name)) {
			*offset_s = tail[i]->offset_s;
			return true;
		}
	}
	for (size_t i = r->count; i > 0; i--) {
		if (sv_eq(r->types[r->to[i - 1]].abbreviation, name)) {
			*offset_s = r->types[r->to[i - 1]].offset_s;
			return true;
		}
	}
	return false;
}

/* ---- the file ---- */

/* The six counts of a header, which stands before each of the two blocks. */
struct tzif_header {
	char version;
	uint32_t isut, isstd, leap, change, type, chars;
};
#define TZIF_HEADER_BYTES 44

static uint64_t big_endian(const char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | (unsigned char)p[i];
	return v;
}

static bool read_header(struct sv bytes, struct tzif_header *h)
{
	if (bytes.n < TZIF_HEADER_BYTES || !sv_starts_with(bytes, SV("TZif")))
		return false;
	h->version = bytes.p[4];
	h->isut = (uint32_t)big_endian(bytes.p + 20, 4);
	h->isstd = (uint32_t)big_endian(bytes.p + 24, 4);
	h->leap = (uint32_t)big_endian(bytes.p + 28, 4);
	h->change = (uint32_t)big_endian(bytes.p + 32, 4);
	h->type = (uint32_t)big_endian(bytes.p + 36, 4);
	h->chars = (uint32_t)big_endian(bytes.p + 40, 4);
	return h->change <= ZONE_CHANGES_MAX && h->type >= 1 && h->type <= 256 && h->chars <= 1024 && h->leap <= 1024 &&
	       h->isut <= 256 && h->isstd <= 256;
}

/* Of a block whose times have time_bytes, without its header. */
static size_t block_bytes(const struct tzif_header *h, size_t time_bytes)
{
	return h->change * (time_bytes + 1) + h->type * 6 + h->chars + h->leap * (time_bytes + 4) + h->isstd + h->isut;
}

static bool read_changes(struct sv block, const struct tzif_header *h, size_t time_bytes, struct arena *a,
			 struct zone_rules *r)
{
	r->count = h->change;
	r->at = arena_array(a, r->count, sizeof *r->at);
	r->to = arena_array(a, r->count, 1);
	for (size_t i = 0; i < r->count; i++) {
		uint64_t at = big_endian(block.p + i * time_bytes, time_bytes);

		r->at[i] = time_bytes == 8 ? (int64_t)at : (int32_t)(uint32_t)at;
		r->to[i] = (uint8_t)block.p[r->count * time_bytes + i];
		if (r->to[i] >= h->type || (i > 0 && r->at[i] <= r->at[i - 1]))
			return false;
	}
	return true;
}

static bool read_types(struct sv block, const struct tzif_header *h, struct arena *a, struct zone_rules *r)
{
	struct sv names = sv_sub(block, (size_t)h->type * 6, h->chars);

	r->type_count = h->type;
	r->types = arena_array(a, r->type_count, sizeof *r->types);
	for (size_t i = 0; i < r->type_count; i++) {
		const char *p = block.p + i * 6;
		struct sv name = sv_sub(names, (unsigned char)p[5], names.n);

		r->types[i].offset_s = (int32_t)(uint32_t)big_endian(p, 4);
		r->types[i].abbreviation = sv_cut(&name, '\0');
		if (r->types[i].offset_s > ZONE_OFFSET_MAX || r->types[i].offset_s < -ZONE_OFFSET_MAX)
			return false;
	}
	return true;
}

static bool read_block(struct sv block, const struct tzif_header *h, size_t time_bytes, struct arena *a,
		       struct zone_rules *r)
{
	if (block.n < block_bytes(h, time_bytes))
		return false;
	return read_changes(block, h, time_bytes, a, r) &&
	       read_types(sv_sub(block, h->change * (time_bytes + 1), block.n), h, a, r);
}

static bool read_file(struct sv bytes, struct arena *a, struct zone_rules *r)
{
	struct tzif_header h;
	struct sv block, tail;

	if (!read_header(bytes, &h))
		return false;
	block = sv_sub(bytes, TZIF_HEADER_BYTES, bytes.n);
	if (h.version == '\0')
		return read_block(block, &h, 4, a, r);
	/* The second block has what the first has, in 64 bits, and the text behind it. */
	bytes = sv_sub(block, block_bytes(&h, 4), block.n);
	if (!read_header(bytes, &h))
		return false;
	block = sv_sub(bytes, TZIF_HEADER_BYTES, bytes.n);
	if (!read_block(block, &h, 8, a, r))
		return false;
	tail = sv_sub(block, block_bytes(&h, 8), block.n);
	if (tail.n < 2 || tail.p[0] != '\n')
		return false;
	tail = sv_sub(tail, 1, tail.n);
	tail = sv_cut(&tail, '\n');
	return tail.n == 0 || read_tail(tail, r);
}

bool zone_read(struct sv bytes, struct sv name, struct arena *a, struct zone *out)
{
	struct zone_rules *r = arena_alloc(a, sizeof *r);

	r->name = arena_copy(a, name);
	/* The rules keep views of it. */
	if (bytes.n > ZONE_FILE_MAX || !read_file(arena_copy(a, bytes), a, r))
		return false;
	*out = (struct zone){ .rules = r };
	return true;
}

/* Of letters as names have them, and none that leads out of the directory. */
static bool is_name(struct sv name)
{
	if (name.n == 0 || name.n > ZONE_NAME_MAX || name.p[0] == '/')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || cursor_is_digit(c) || c == '_' || c == '+' ||
		      c == '-' || c == '/'))
			return false;
	}
	return true;
}

/* Up to max bytes; -1 when it cannot be read. */
static ptrdiff_t read_all(int fd, char *to, size_t max)
{
	size_t n = 0;

	while (n < max) {
		ssize_t got = read(fd, to + n, max - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ptrdiff_t)n;
}

bool zone_load(struct sv name, struct arena *a, struct zone *out)
{
	char bytes[ZONE_FILE_MAX];
	ptrdiff_t n;
	int fd;

	if (!is_name(name))
		return false;
	fd = open(arena_printf(a, ZONE_DIRECTORY "/%.*s", SV_ARG(name)).p, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read_all(fd, bytes, sizeof bytes);
	close(fd);
	return n > 0 && zone_read((struct sv){ bytes, (size_t)n }, name, a, out);
}
