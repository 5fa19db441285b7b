/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_MODEL_EVENT_H
#define AFTERSHOCK_MODEL_EVENT_H

/*
 * The event: one fact at one instant (or over one interval) on one host, with
 * its provenance. It is the narrow waist of the program: all that inputs give
 * and all that the store takes. The catalogue stands in event.def, the fields
 * in field.def.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/sv.h"
#include "base/tstamp.h"

enum event_field {
#define FIELD(id, name, type, what) FIELD_##id,
#include "model/field.def"
#undef FIELD
	FIELD_COUNT
};

enum event_type {
#define EVENT(id, name, side, strength, required, what) EVENT_##id,
#include "model/event.def"
#undef EVENT
	EVENT_COUNT
};

enum field_type { FIELD_TEXT, FIELD_INT };

enum event_side { SIDE_CLIENT, SIDE_BROKER, SIDE_TOOL, SIDE_PATH, SIDE_HOST, SIDE_BUSINESS, SIDE_INPUT };

/* How much an event carries (method.md 1). */
enum strength { STRENGTH_SUGGESTS, STRENGTH_PROVES };

/* A set of fields, one bit each. There are more than 64; gcc and clang have this type wherever pointers have 64 bits. */
__extension__ typedef unsigned __int128 field_set;
#define FIELD_BIT(id) ((field_set)1 << (id))

/* The first of a set that is not empty. */
static inline enum event_field field_set_first(field_set s)
{
	uint64_t low = (uint64_t)s;

	return (enum event_field)(low != 0 ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(s >> 64)));
}

/* The same; the set loses it. */
static inline enum event_field field_take(field_set *set)
{
	enum event_field f = field_set_first(*set);

	*set &= *set - 1;
	return f;
}

struct field_info {
	const char *name;
	enum field_type type;
	bool is_amount;		/* FIELD_INT, but written as a decimal */
	bool is_span;		/* FIELD_INT, milliseconds, and may be written with another unit */
	const char *what;
};

struct event_info {
	const char *name;
	enum event_side side;
	enum strength strength;
	field_set required;
	const char *what;
};

extern const struct field_info field_infos[FIELD_COUNT];
extern const struct event_info event_infos[EVENT_COUNT];

bool field_by_name(struct sv name, enum event_field *out);
bool event_by_name(struct sv name, enum event_type *out);
/* The number that a text stands for in a field of type FIELD_INT; false when it is none. */
bool field_number(enum event_field f, struct sv text, int64_t *out);
const char *strength_name(enum strength s);

/* By the field's type. Bytes belong to whoever made the event, until the sink returns. */
union event_value {
	struct sv text;
	int64_t number;
};

struct event {
	int64_t id;		/* in the store; 0 before */
	enum event_type type;
	enum strength strength;
	struct host_time time;	/* by the clock of host; the start of an interval */
	int64_t duration_us;	/* 0 for an instant */
	struct sv host;		/* whose clock wrote the time; absent when not known */
	struct place place;	/* where it stands */
	struct sv text;		/* the record as written, for text inputs; absent else */
	/* Digest of the id that a collector gave the record; 0 when none did, and when read from the store. */
	uint64_t record_id;
	bool is_compact;	/* see event_compact */
	field_set set;		/* which values are known */
	union event_value value[FIELD_COUNT];	/* each in the place of its field; of a compact event, see event_value */
};

/*
 * A copy for those who hold events by the million. Of the many fields an event
 * has five or so: the copy ends behind the last value that is known, and its values
 * stand one after the other. It is read by event_value and the functions below;
 * event_copy makes a whole one of it, an assignment would not. Texts are shared.
 */
const struct event *event_compact(const struct event *e, struct arena *a);

/* How many fields are in the set. */
static inline int field_count(field_set set)
{
	return __builtin_popcountll((uint64_t)set) + __builtin_popcountll((uint64_t)(set >> 64));
}

/* The value of a field that is set. */
static inline const union event_value *event_value(const struct event *e, enum event_field f)
{
	return &e->value[e->is_compact ? field_count(e->set & (FIELD_BIT(f) - 1)) : (int)f];
}

/* An event of the type with its default strength, and no field set. */
void event_init(struct event *e, enum event_type type);
/* The same event, whole, without copying the values that are not set. */
void event_copy(struct event *to, const struct event *from);
/* An absent text leaves the field unset. */
void event_set_text(struct event *e, enum event_field f, struct sv text);
void event_set_int(struct event *e, enum event_field f, int64_t number);
bool event_has(const struct event *e, enum event_field f);
/* SV_ABSENT when it is not set. */
struct sv event_text(const struct event *e, enum event_field f);
/* The same without blanks around it: an empty cell says no more than an absent column. */
struct sv event_text_trimmed(const struct event *e, enum event_field f);
/* False, and *out untouched, when it is not set. */
bool event_int(const struct event *e, enum event_field f, int64_t *out);
/* The value, or a default where "unknown" and the default mean the same to the caller. */
int64_t event_int_or(const struct event *e, enum event_field f, int64_t otherwise);
/*
 * The required fields that are missing. A client's line that names its client need not name its group:
 * others know it (analysis/adopt.h).
 */
field_set event_missing(const struct event *e);
/* The first of them; false when there is none. */
bool event_lacks(const struct event *e, enum event_field *missing);

/*
 * The client id or instance id inside a member id of the classic protocol: what
 * stands before its hyphen and UUID. Absent when it has not that form.
 */
struct sv member_id_owner(struct sv member_id);
/* The client.id that an event names, by itself or inside the member id; absent when neither. */
struct sv event_client(const struct event *e);

/* Takes an event; -1 ends the input as a failure that has been recorded. */
struct event_sink {
	int (*put)(void *context, const struct event *e);
	void *context;
};

#endif
