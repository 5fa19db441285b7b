/* SPDX-License-Identifier: MIT */
/* Facts of events as JSON, and back. See store/facts.h. */

#include "store/facts.h"

#include <string.h>

#include "base/arena.h"

/* ---- words ---- */

/* What stands before a value. The first comma of an object gives way to its brace. */
#define MEMBER(name) { ",\"" name "\":", sizeof ",\"" name "\":" - 1 }

static const struct sv field_members[FIELD_COUNT] = {
#define FIELD(id, name, type, what) MEMBER(name),
#include "model/field.def"
#undef FIELD
};

/* What is of the event itself: numbered behind the fields. The host stands first, for those who ask for it alone. */
enum own_fact { OWN_HOST, OWN_STRENGTH, OWN_UNIT, OWN_DURATION, OWN_COUNT };

static const struct {
	const char *name;
	struct sv member;
} own[OWN_COUNT] = {
	[OWN_HOST] = { "host", MEMBER("host") },
	[OWN_STRENGTH] = { "strength", MEMBER("strength") },
	[OWN_UNIT] = { "unit", MEMBER("unit") },
	[OWN_DURATION] = { "duration_us", MEMBER("duration_us") },
};

_Static_assert(FIELD_COUNT + OWN_COUNT <= NAMES_MAX, "a set of names holds all of them");

#define MEMBER_BYTES_MAX 32	/* of a name with its quotes, comma and colon */
#define NUMBER_BYTES_MAX 20
#define ESCAPE_BYTES 6		/* \u001f */

/* ---- bytes that stand for themselves ---- */

#define EACH_BYTE(x) (UINT64_C(0x0101010101010101) * (x))

/* The highest bit of each byte that is 0, and perhaps of bytes above one that is: of use as "there is one". */
static inline uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

static inline uint64_t below_blank(uint64_t word)
{
	return (word - EACH_BYTE(0x20)) & ~word & EACH_BYTE(0x80);
}

/* Whether all of eight bytes stand for themselves in a JSON text. */
static inline bool eight_are_plain(const char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return (zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\\')) | below_blank(word)) == 0;
}

static inline bool is_plain(char c)
{
	return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

/* How many bytes at the begin of s stand for themselves. */
static size_t plain_length(struct sv s)
{
	size_t i = 0;

	while (i + 8 <= s.n && eight_are_plain(s.p + i))
		i += 8;
	while (i < s.n && is_plain(s.p[i]))
		i++;
	return i;
}

/* ---- writing: each function gives the end of what it wrote, for which there is room ---- */

static char *put(char *out, struct sv s)
{
	memcpy(out, s.p, s.n);
	return out + s.n;
}

static char *put_escape(char *out, char c)
{
	static const char digits[] = "0123456789abcdef";

	*out++ = '\\';
	if (c == '"' || c == '\\') {
		*out++ = c;
		return out;
	}
	out = put(out, SV("u00"));
	*out++ = digits[(unsigned char)c >> 4];
	*out++ = digits[(unsigned char)c & 15];
	return out;
}

static char *put_text(char *out, struct sv name, struct sv text)
{
	out = put(out, name);
	*out++ = '"';
	while (text.n > 0) {
		size_t n = plain_length(text);

		out = put(out, sv_sub(text, 0, n));
		text = sv_sub(text, n, text.n);
		if (text.n > 0) {
			out = put_escape(out, text.p[0]);
			text = sv_sub(text, 1, text.n);
		}
	}
	*out++ = '"';
	return out;
}

static char *put_number(char *out, struct sv name, int64_t number)
{
	char digits[NUMBER_BYTES_MAX], *p = digits + sizeof digits;
	/* The least number has no positive counterpart, but an unsigned one. */
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

	do {
		*--p = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	if (number < 0)
		*--p = '-';
	out = put(out, name);
	return put(out, (struct sv){ p, (size_t)(digits + sizeof digits - p) });
}

static char *put_fields(char *out, const struct event *e)
{
	for (field_set set = e->set; set != 0;) {
		enum event_field f = field_take(&set);

		out = field_infos[f].type == FIELD_INT ? put_number(out, field_members[f], e->value[f].number) :
							 put_text(out, field_members[f], e->value[f].text);
	}
	return out;
}

/* At most so many bytes are written. */
static size_t bytes_needed(const struct event *e)
{
	size_t n = (FIELD_COUNT + OWN_COUNT) * (MEMBER_BYTES_MAX + NUMBER_BYTES_MAX) + ESCAPE_BYTES * e->host.n;

	for (field_set set = e->set; set != 0;) {
		enum event_field f = field_take(&set);

		if (field_infos[f].type == FIELD_TEXT)
			n += ESCAPE_BYTES * e->value[f].text.n;
	}
	return n;
}

struct facts_written facts_write(struct buf *b, const struct event *e)
{
	char *begin = buf_room(b, bytes_needed(e)), *out = begin, *fields;
	const char *unit = place_unit_name(e->place.unit);

	if (!sv_is_absent(e->host))
		out = put_text(out, own[OWN_HOST].member, e->host);
	out = put_text(out, own[OWN_STRENGTH].member, sv_of(strength_name(e->strength)));
	if (unit != NULL)
		out = put_text(out, own[OWN_UNIT].member, sv_of(unit));
	if (e->duration_us != 0)
		out = put_number(out, own[OWN_DURATION].member, e->duration_us);
	fields = out;
	out = put_fields(out, e);
	*out++ = '}';
	*begin = '{';
	b->n += (size_t)(out - begin);
	return (struct facts_written){ .n = (size_t)(out - begin), .fields = (size_t)(fields - begin) };
}

/* ---- reading ---- */

void facts_names(struct names *n)
{
	*n = (struct names){ 0 };
	for (int f = 0; f < FIELD_COUNT; f++)
		names_add(n, sv_of(field_infos[f].name), (uint8_t)f);
	for (int o = 0; o < OWN_COUNT; o++)
		names_add(n, sv_of(own[o].name), (uint8_t)(FIELD_COUNT + o));
}

struct value {
	bool is_text;
	struct sv text;
	int64_t number;
};

static void skip(struct sv *rest, size_t n)
{
	rest->p += n;
	rest->n -= n;
}

static bool take(struct sv *rest, char c)
{
	if (rest->n == 0 || rest->p[0] != c)
		return false;
	skip(rest, 1);
	return true;
}

/* The bytes before the next that does not stand for itself. */
static struct sv take_plain(struct sv *rest)
{
	struct sv plain = { rest->p, plain_length(*rest) };

	skip(rest, plain.n);
	return plain;
}

/* What an escape stands for, behind its backslash. */
static bool take_escape(struct sv *rest, char *c)
{
	uint64_t code;

	if (rest->n > 0 && (rest->p[0] == '"' || rest->p[0] == '\\')) {
		*c = rest->p[0];
		skip(rest, 1);
		return true;
	}
	if (rest->n < 5 || !sv_starts_with(*rest, SV("u00")) || !sv_to_hex64(sv_sub(*rest, 3, 2), &code) || code >= 0x20)
		return false;
	*c = (char)code;
	skip(rest, 5);
	return true;
}

/* How many bytes stand before the closing quote: of them the text has no more. */
static size_t written_length(struct sv rest)
{
	size_t i = 0;

	while (i < rest.n && rest.p[i] != '"')
		i += rest.p[i] == '\\' ? 2 : 1;
	return i < rest.n ? i : rest.n;
}

/* The rest of a text in which something is escaped, behind what is plain. */
static bool take_escaped(struct sv *rest, struct sv plain, struct arena *arena, struct sv *text)
{
	char *copy = arena_alloc(arena, plain.n + written_length(*rest)), *out = put(copy, plain);

	while (take(rest, '\\')) {
		if (!take_escape(rest, out++))
			return false;
		out = put(out, take_plain(rest));
	}
	*text = (struct sv){ copy, (size_t)(out - copy) };
	return take(rest, '"');
}

/* Behind its opening quote. */
static bool take_text(struct sv *rest, struct arena *arena, struct sv *text)
{
	*text = take_plain(rest);
	return take(rest, '"') || take_escaped(rest, *text, arena, text);
}

static bool take_number(struct sv *rest, int64_t *number)
{
	size_t n = rest->n > 0 && rest->p[0] == '-';

	while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
		n++;
	if (!sv_to_i64((struct sv){ rest->p, n }, number))
		return false;
	skip(rest, n);
	return true;
}

static bool take_member(struct sv *rest, struct arena *arena, struct sv *name, struct value *v)
{
	if (!take(rest, '"'))
		return false;
	*name = take_plain(rest);
	if (!take(rest, '"') || !take(rest, ':'))
		return false;
	v->is_text = take(rest, '"');
	return v->is_text ? take_text(rest, arena, &v->text) : take_number(rest, &v->number);
}

static bool set_own(struct event *e, enum own_fact fact, const struct value *v)
{
	if (v->is_text == (fact == OWN_DURATION))
		return false;
	if (!v->is_text)
		e->duration_us = v->number;
	else if (fact == OWN_HOST)
		e->host = v->text;
	else if (fact == OWN_STRENGTH)
		e->strength = sv_eq(v->text, sv_of(strength_name(STRENGTH_PROVES))) ? STRENGTH_PROVES : STRENGTH_SUGGESTS;
	else
		e->place.unit = place_unit_by_name(v->text);
	return true;
}

static bool set_field(struct event *e, enum event_field f, const struct value *v)
{
	if (v->is_text != (field_infos[f].type == FIELD_TEXT))
		return false;
	if (v->is_text)
		event_set_text(e, f, v->text);
	else
		event_set_int(e, f, v->number);
	return true;
}

bool facts_read(struct sv facts, const struct names *names, struct arena *arena, struct event *e)
{
	uint8_t number;
	struct value v;
	struct sv name;

	if (!take(&facts, '{'))
		return false;
	do {
		if (!take_member(&facts, arena, &name, &v))
			return false;
		if (!names_find(names, name, &number))
			continue;
		if (number < FIELD_COUNT ? !set_field(e, (enum event_field)number, &v) :
					   !set_own(e, (enum own_fact)(number - FIELD_COUNT), &v))
			return false;
	} while (take(&facts, ','));
	return take(&facts, '}') && facts.n == 0;
}

bool facts_read_host(struct sv facts, struct arena *arena, struct sv *host)
{
	struct value v;
	struct sv name;

	*host = SV_ABSENT;
	if (!take(&facts, '{') || !take_member(&facts, arena, &name, &v))
		return false;
	if (v.is_text && sv_eq(name, sv_of(own[OWN_HOST].name)))
		*host = v.text;
	return true;
}
