/* SPDX-License-Identifier: MIT */
/* The catalogue of events and fields, and access to an event's values. See model/event.h. */

#include "model/event.h"

#include <assert.h>
#include <string.h>

#define UUID_CHARS 36

_Static_assert(FIELD_COUNT <= 8 * sizeof(field_set), "a field_set has one bit for each field");

const struct field_info field_infos[FIELD_COUNT] = {
#define TEXT FIELD_TEXT, false, false
#define INT FIELD_INT, false, false
#define AMOUNT FIELD_INT, true, false
#define SPAN FIELD_INT, false, true
#define FIELD(id, name, type, what) { name, type, what },
#include "model/field.def"
#undef FIELD
#undef SPAN
#undef AMOUNT
#undef INT
#undef TEXT
};

const struct event_info event_infos[EVENT_COUNT] = {
#define F(id) FIELD_BIT(FIELD_##id)
#define EVENT(id, name, side, strength, required, what) { name, SIDE_##side, STRENGTH_##strength, required, what },
#include "model/event.def"
#undef EVENT
#undef F
};

bool field_by_name(struct sv name, enum event_field *out)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		if (sv_eq(name, sv_of(field_infos[i].name))) {
			*out = (enum event_field)i;
			return true;
		}
	}
	return false;
}

bool event_by_name(struct sv name, enum event_type *out)
{
	for (size_t i = 0; i < EVENT_COUNT; i++) {
		if (sv_eq(name, sv_of(event_infos[i].name))) {
			*out = (enum event_type)i;
			return true;
		}
	}
	return false;
}

/* What logs write behind a number of time: how many nanoseconds each is. */
static const struct {
	struct sv name;
	int64_t ns;
} span_units[] = {
	{ { "", 0 }, 1000000 },		 { { "ns", 2 }, 1 },		  { { "us", 2 }, 1000 },
	{ { "ms", 2 }, 1000000 },	 { { "s", 1 }, 1000000000 },	  { { "sec", 3 }, 1000000000 },
	{ { "secs", 4 }, 1000000000 },	 { { "second", 6 }, 1000000000 }, { { "seconds", 7 }, 1000000000 },
};

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+';
}

/* "0.0100937 seconds", "6433711 ns", "12.5ms", "250": whole milliseconds, what is less is cut off. */
static bool span_ms(struct sv text, int64_t *out)
{
	const int64_t ns_in_ms = 1000000, micros_in_unit = 1000000;
	size_t digits = 0, dot;
	struct sv number, unit;
	int64_t micros;

	while (digits < text.n && is_of_number(text.p[digits]))
		digits++;
	number = sv_sub(text, 0, digits);
	unit = sv_trim(sv_sub(text, digits, text.n));
	/* More digits than millionths say nothing about milliseconds. */
	if (sv_find_char(number, '.', &dot))
		number = sv_sub(number, 0, dot + 1 + 6);
	if (!sv_to_micros(number, &micros))
		return false;
	for (size_t i = 0; i < sizeof span_units / sizeof span_units[0]; i++) {
		if (!sv_eq(span_units[i].name, unit))
			continue;
		/* Of the unit to of a millisecond, without a product that could overflow. */
		*out = span_units[i].ns >= ns_in_ms ? micros / (micros_in_unit / (span_units[i].ns / ns_in_ms)) :
						      micros / micros_in_unit / (ns_in_ms / span_units[i].ns);
		return true;
	}
	return false;
}

bool field_number(enum event_field f, struct sv text, int64_t *out)
{
	if (field_infos[f].is_span)
		return span_ms(text, out);
	return field_infos[f].is_amount ? sv_to_micros(text, out) : sv_to_i64(text, out);
}

const char *strength_name(enum strength s)
{
	return s == STRENGTH_PROVES ? "proves" : "suggests";
}

void event_init(struct event *e, enum event_type type)
{
	/* Values are read only where their bit is set, so they need no clearing. */
	memset(e, 0, offsetof(struct event, value));
	e->type = type;
	e->strength = event_infos[type].strength;
}

void event_copy(struct event *to, const struct event *from)
{
	memcpy(to, from, offsetof(struct event, value));
	to->is_compact = false;
	for (field_set left = from->set; left != 0;) {
		enum event_field f = field_take(&left);

		to->value[f] = *event_value(from, f);
	}
}

const struct event *event_compact(const struct event *e, struct arena *a)
{
	struct event *compact = arena_alloc(a, offsetof(struct event, value) + (size_t)field_count(e->set) * sizeof e->value[0]);
	union event_value *value = compact->value;

	memcpy(compact, e, offsetof(struct event, value));
	compact->is_compact = true;
	for (field_set left = e->set; left != 0;)
		*value++ = *event_value(e, field_take(&left));
	return compact;
}

void event_set_text(struct event *e, enum event_field f, struct sv text)
{
	assert(field_infos[f].type == FIELD_TEXT && !e->is_compact);
	if (sv_is_absent(text))
		return;
	e->set |= FIELD_BIT(f);
	e->value[f].text = text;
}

void event_set_int(struct event *e, enum event_field f, int64_t number)
{
	assert(field_infos[f].type == FIELD_INT && !e->is_compact);
	e->set |= FIELD_BIT(f);
	e->value[f].number = number;
}

bool event_has(const struct event *e, enum event_field f)
{
	return (e->set & FIELD_BIT(f)) != 0;
}

struct sv event_text(const struct event *e, enum event_field f)
{
	assert(field_infos[f].type == FIELD_TEXT);
	return event_has(e, f) ? event_value(e, f)->text : SV_ABSENT;
}

struct sv event_text_trimmed(const struct event *e, enum event_field f)
{
	struct sv text = sv_trim(event_text(e, f));

	return text.n == 0 ? SV_ABSENT : text;
}

bool event_int(const struct event *e, enum event_field f, int64_t *out)
{
	assert(field_infos[f].type == FIELD_INT);
	if (!event_has(e, f))
		return false;
	*out = event_value(e, f)->number;
	return true;
}

int64_t event_int_or(const struct event *e, enum event_field f, int64_t otherwise)
{
	event_int(e, f, &otherwise);
	return otherwise;
}

field_set event_missing(const struct event *e)
{
	field_set missing = event_infos[e->type].required & ~e->set;

	if (event_infos[e->type].side == SIDE_CLIENT && event_has(e, FIELD_CLIENT))
		missing &= ~FIELD_BIT(FIELD_GROUP);
	return missing;
}

bool event_lacks(const struct event *e, enum event_field *missing)
{
	field_set lacking = event_missing(e);

	if (lacking == 0)
		return false;
	*missing = field_set_first(lacking);
	return true;
}

struct sv member_id_owner(struct sv member_id)
{
	if (member_id.n <= UUID_CHARS + 1)
		return SV_ABSENT;
	size_t hyphen = member_id.n - UUID_CHARS - 1;
	for (size_t i = 0; i <= UUID_CHARS; i++) {
		bool is_hyphen = member_id.p[hyphen + i] == '-';
		bool is_due = i == 0 || i == 9 || i == 14 || i == 19 || i == 24;
		if (is_hyphen != is_due)
			return SV_ABSENT;
	}
	return sv_sub(member_id, 0, hyphen);
}

struct sv event_client(const struct event *e)
{
	struct sv client = event_text(e, FIELD_CLIENT);

	return client.n > 0 ? client : member_id_owner(event_text(e, FIELD_MEMBER));
}
