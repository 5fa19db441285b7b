/* SPDX-License-Identifier: MIT */
/*
 * Lines to records by layouts: a pattern for a line of text, a map of members
 * for an object of JSON. What is wrapped in JSON may be a record by itself (a
 * shipper's object around the line that it read): then that one counts, and the
 * wrapper gives what it lacks.
 */

#include "input/json.h"
#include "input/rules/rules_set.h"

/* Records in records: a shipper's around a runtime's around the program's own. What is deeper stays text. */
#define WRAPPED_MAX 3

/* An object as the text of a field: what is beyond is left out. */
#define MEMBERS_TEXT_MAX 4096

static void read_time(const struct layout *layout, struct sv time, struct zone z, struct log_record *out)
{
	struct host_time instants[2];
	enum zone_local local;
	size_t used = time.n;

	out->zone = z;
	if (sv_is_absent(time))
		return;
	out->has_written = sv_is_absent(layout->time)
				   ? tstamp_guess_parts(time, &out->written)
				   : tstamp_read(time, layout->time, &out->written, &used) && used == time.n;
	out->has_time = out->has_written && tstamp_resolve(&out->written, z, instants, &local);
	if (!out->has_time)
		return;
	out->time = instants[0];
	out->zoned = out->written.zoned;
	if (out->zoned)
		out->zone = (struct zone){ .offset_s = out->written.offset_s };
}

/* ---- lines of text ---- */

static struct sv part_of(const struct layout *layout, enum layout_part part)
{
	for (size_t i = 0; i < PART_GROUPS_MAX && layout->groups[part][i] != 0; i++) {
		struct sv text = regex_group(layout->line, layout->groups[part][i]);

		if (!sv_is_absent(text))
			return text;
	}
	return SV_ABSENT;
}

static bool parts_fit(const struct layout *layout, struct sv line, struct log_record *out)
{
	if (layout->line == NULL || !regex_match(layout->line, line, 0))
		return false;
	out->layout = layout->section.name.p;
	out->level = part_of(layout, PART_LEVEL);
	out->logger = part_of(layout, PART_LOGGER);
	out->thread = part_of(layout, PART_THREAD);
	out->body = part_of(layout, PART_BODY);
	out->more = SV_ABSENT;
	out->whole = false;
	out->field_count = 0;
	return true;
}

static bool line_fits(const struct layout *layout, struct sv line, struct zone z, struct log_record *out)
{
	if (!parts_fit(layout, line, out))
		return false;
	out->has_time = out->has_written = out->zoned = false;
	read_time(layout, part_of(layout, PART_TIME), z, out);
	return true;
}

/* ---- objects ---- */

/*
 * The members of an object inside the object, as text: {"a":[0,1],"b":2} is
 * "a[0 1], b 2", which for topics and partitions is as franz-go writes them.
 */
static struct sv members_below(const struct json_record *object, struct sv name, struct arena *a)
{
	struct sv all = SV_ABSENT;

	for (size_t i = 0; i < object->count && all.n < MEMBERS_TEXT_MAX; i++) {
		const struct json_member *m = &object->members[i];
		char *text;
		size_t n;

		if (!sv_starts_with(m->name, name) || m->name.n <= name.n || m->name.p[name.n] != '.')
			continue;
		n = m->value.n;
		text = arena_strdup(a, m->value);
		for (size_t k = 0; k < n; k++)
			text[k] = text[k] == ',' ? ' ' : text[k];
		all = arena_printf(a, "%.*s%s%.*s%s%.*s", SV_ARG(all), all.n > 0 ? ", " : "",
				   SV_ARG(sv_sub(m->name, name.n + 1, m->name.n)), n > 0 && text[0] == '[' ? "" : " ",
				   (int)n, text);
	}
	return all;
}

/* The member of the best name that has a value; absent when there is none. */
static struct sv member_of(const struct json_key *key, const struct json_record *object, struct arena *a)
{
	for (size_t i = 0; i < key->name_count; i++) {
		struct sv value = json_field(object, key->names[i]);

		if (sv_is_absent(value) && key->is_field)
			value = members_below(object, key->names[i], a);
		if (!sv_is_absent(value))
			return value;
	}
	return SV_ABSENT;
}

static void add_field(struct log_record *out, enum event_field field, struct sv text)
{
	if (out->field_count < RECORD_FIELDS_MAX)
		out->fields[out->field_count++] = (struct record_field){ field, text };
}

/* The lines below the first of a message, and the stack trace that stands beside it. */
static void set_lines(struct log_record *out, struct sv message, struct sv stack, struct arena *a)
{
	out->body = sv_cut(&message, '\n');
	if (sv_ends_with(out->body, SV("\r")))
		out->body.n--;
	if (message.n > 0 && stack.n > 0)
		out->more = arena_printf(a, "%.*s\n%.*s", SV_ARG(message), SV_ARG(stack));
	else
		out->more = message.n > 0 ? message : stack;
	if (out->more.n == 0)
		out->more = SV_ABSENT;
}

static bool object_fits(const struct layout *layout, const struct json_record *object, struct zone z, struct arena *a,
			struct log_record *out)
{
	struct sv parts[JSON_PARTS] = { SV_ABSENT };
	int64_t nanos;

	if (layout->key_count == 0)
		return false;
	*out = (struct log_record){ .layout = layout->section.name.p, .whole = true };
	for (size_t i = 0; i < layout->key_count; i++) {
		const struct json_key *key = &layout->keys[i];
		struct sv value = member_of(key, object, a);

		if (sv_is_absent(value) && key->required)
			return false;
		if (key->is_field && value.n > 0)
			add_field(out, key->field, value);
		else if (!key->is_field)
			parts[key->part] = value;
	}
	out->level = parts[PART_LEVEL];
	out->logger = parts[PART_LOGGER];
	out->thread = parts[PART_THREAD];
	read_time(layout, parts[PART_TIME], z, out);
	if (out->has_time && out->written.is_epoch && sv_to_i64(parts[PART_NANOS], &nanos) && nanos >= 0 &&
	    nanos < 1000 * US_PER_S) {
		out->time.us += nanos / 1000;
		out->written.us += nanos / 1000;
	}
	set_lines(out, parts[PART_BODY], parts[PART_STACK], a);
	return true;
}

/* ---- either ---- */

/* The line as an object, read when the first layout asks for it. */
struct subject {
	struct sv line;
	struct arena *arena;
	struct json_record object;
	bool is_read;
	bool is_object;
};

static bool read_object(struct subject *s)
{
	const char *why;

	if (!s->is_read)
		s->is_object = json_read(s->line, s->arena, &s->object, &why);
	s->is_read = true;
	return s->is_object;
}

static bool is_object(struct sv line)
{
	struct sv text = sv_trim(line);

	return text.n > 1 && text.p[0] == '{' && text.p[text.n - 1] == '}';
}

static bool layout_fits(const struct layout *layout, struct subject *s, struct zone z, struct log_record *out)
{
	if (layout->key_count == 0)
		return line_fits(layout, s->line, z, out);
	return is_object(s->line) && read_object(s) && object_fits(layout, &s->object, z, s->arena, out);
}

/* The layout fits; one before it that does too is meant instead. */
static void prefer_rival(const struct rules *r, struct subject *s, struct zone z, int *layout, struct log_record *out)
{
	const struct rivals *rivals = layout_rivals(r, (size_t)*layout);
	struct log_record record;

	for (size_t i = 0; i < rivals->count; i++) {
		if (!layout_fits(r->layouts[rivals->layouts[i]], s, z, &record))
			continue;
		*out = record;
		*layout = (int)rivals->layouts[i];
		return;
	}
}

static bool find_layout(const struct rules *r, struct sv line, struct zone z, int *layout_hint, struct arena *a,
			struct log_record *out)
{
	struct subject s = { .line = line, .arena = a };
	int hint = *layout_hint;

	/* Several may fit, and the first is meant. Of objects they nearly always are several: the hint is for lines of text alone. */
	if (hint >= 0 && r->layouts[hint]->key_count == 0 && layout_fits(r->layouts[hint], &s, z, out)) {
		prefer_rival(r, &s, z, layout_hint, out);
		return true;
	}
	for (size_t i = 0; i < r->layout_count; i++) {
		if (!layout_fits(r->layouts[i], &s, z, out))
			continue;
		*layout_hint = (int)i;
		return true;
	}
	return false;
}

/* What only the wrapper says; its own name for the layout, its stack trace, and the time where the inner has none. */
static void take_over(const struct log_record *wrapper, struct log_record *inner, struct arena *a)
{
	struct sv rest = wrapper->more;

	inner->layout = wrapper->layout;
	inner->whole = true;
	if (!inner->has_time) {
		inner->has_time = wrapper->has_time;
		inner->time = wrapper->time;
		inner->zoned = wrapper->zoned;
		inner->zone = wrapper->zone;
		inner->has_written = wrapper->has_written;
		inner->written = wrapper->written;
	}
	if (sv_is_absent(inner->level))
		inner->level = wrapper->level;
	if (sv_is_absent(inner->logger))
		inner->logger = wrapper->logger;
	if (sv_is_absent(inner->thread))
		inner->thread = wrapper->thread;
	for (size_t i = 0; i < wrapper->field_count; i++)
		add_field(inner, wrapper->fields[i].field, wrapper->fields[i].text);
	if (sv_is_absent(inner->more))
		inner->more = rest;
	else if (!sv_is_absent(rest))
		inner->more = arena_printf(a, "%.*s\n%.*s", SV_ARG(inner->more), SV_ARG(rest));
}

bool rules_layout_parts(const struct rules *r, int layout, struct sv line, struct log_record *out)
{
	return parts_fit(r->layouts[layout], line, out);
}

bool rules_layout_is_first(const struct rules *r, int layout, struct sv line)
{
	const struct rivals *rivals = layout_rivals(r, (size_t)layout);

	for (size_t i = 0; i < rivals->count; i++) {
		const struct layout *rival = r->layouts[rivals->layouts[i]];

		if (rival->line != NULL ? regex_match(rival->line, line, 0) : is_object(line))
			return false;
	}
	return true;
}

bool rules_layout(const struct rules *r, struct sv line, struct zone z, int *layout_hint, struct arena *a,
		  struct log_record *out)
{
	if (!find_layout(r, line, z, layout_hint, a, out))
		return false;
	for (size_t i = 1; out->whole && i < WRAPPED_MAX; i++) {
		struct log_record inner;
		int hint = -1;

		if (!find_layout(r, out->body, z, &hint, a, &inner))
			break;
		take_over(out, &inner, a);
		*out = inner;
	}
	return true;
}
