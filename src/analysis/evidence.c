/* SPDX-License-Identifier: MIT */
/*
 * Events as evidence: where they stand and what they say. Events of packets
 * and counters have no line; a short rendering of their fields stands in for
 * it.
 */

#include "analysis/evidence.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"

static void add_separator(struct buf *b, bool *first)
{
	buf_add(b, *first ? SV(" ") : SV(", "));
	*first = false;
}

/* Who spoke to whom: sender first where the direction is known. */
static void render_path(struct buf *b, const struct event *e, bool *first)
{
	struct sv from = event_text(e, FIELD_PATH_A), to = event_text(e, FIELD_PATH_B);
	struct sv direction = event_text(e, FIELD_DIRECTION);

	if (sv_is_absent(from) || sv_is_absent(to))
		return;
	add_separator(b, first);
	if (sv_eq(direction, SV("ba")))
		buf_printf(b, "%.*s -> %.*s", SV_ARG(to), SV_ARG(from));
	else
		buf_printf(b, "%.*s %s %.*s", SV_ARG(from), sv_is_absent(direction) ? "-" : "->", SV_ARG(to));
}

static void render_field(struct buf *b, const struct event *e, enum event_field f)
{
	struct sv name = sv_of(field_infos[f].name);

	buf_printf(b, "%.*s=", SV_ARG(name));
	if (field_infos[f].type == FIELD_TEXT)
		buf_add(b, event_value(e, f)->text);
	else if (sv_ends_with(name, SV("_at_us")))
		tstamp_format(b, event_value(e, f)->number);
	else
		buf_printf(b, "%" PRId64, event_value(e, f)->number);
}

/* "net.stall 10.77.0.11:43210 -> 10.77.0.2:9092, 12.345 s, retransmits=7" */
static struct sv render(struct arena *a, const struct event *e)
{
	const field_set path = FIELD_BIT(FIELD_PATH_A) | FIELD_BIT(FIELD_PATH_B) | FIELD_BIT(FIELD_DIRECTION);
	const bool has_path = event_has(e, FIELD_PATH_A) && event_has(e, FIELD_PATH_B);
	bool first = true;
	struct sv text;
	struct buf b;

	buf_init(&b);
	buf_add(&b, sv_of(event_infos[e->type].name));
	render_path(&b, e, &first);
	if (e->duration_us > 0) {
		add_separator(&b, &first);
		buf_printf(&b, "%" PRId64 ".%03" PRId64 " s", e->duration_us / US_PER_S, e->duration_us % US_PER_S / US_PER_MS);
	}
	for (int f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(e, (enum event_field)f) || (has_path && (path & FIELD_BIT(f))))
			continue;
		add_separator(&b, &first);
		render_field(&b, e, (enum event_field)f);
	}
	text = arena_copy(a, buf_sv(&b));
	buf_fini(&b);
	return text;
}

struct evidence evidence_of(struct arena *a, const struct event *e, struct ref_time time, const char *role)
{
	return (struct evidence){
		.event = e->id,
		.type = e->type,
		.strength = e->strength,
		.place = e->place,
		.written = e->time,
		.time = time,
		.host = e->host,
		.text = sv_is_absent(e->text) ? render(a, e) : e->text,
		.role = sv_of(role),
	};
}

static bool holds(const struct evidence_list *list, int64_t event)
{
	if (event == 0 || event > list->greatest)
		return false;
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].event == event)
			return true;
	}
	return false;
}

static bool is_place(const struct place *x, const struct place *y)
{
	return x->input == y->input && x->unit == y->unit && x->number == y->number;
}

void evidence_echo(struct evidence *e, struct arena *a, const struct place *place)
{
	bool is_known = is_place(&e->place, place);

	for (size_t i = 0; i < e->also_count && !is_known; i++)
		is_known = is_place(&e->also[i], place);
	if (!is_known && e->also_count == EVIDENCE_ALSO_MAX)
		e->also_more = true;
	else if (!is_known)
		*ARENA_PUSH(a, e->also, e->also_count, e->also_capacity) = *place;
}

/* The same line once more: two appenders, or a console that was recorded as well. Its latest stands near to the end. */
static struct evidence *same_line(const struct evidence_list *list, const struct event *e)
{
	for (size_t i = list->count; i > 0 && !sv_is_absent(e->text); i--) {
		struct evidence *known = &list->items[i - 1];

		if (known->written.us == e->time.us && known->type == e->type && sv_eq(known->host, e->host) &&
		    sv_eq(known->text, e->text))
			return known;
	}
	return NULL;
}

void evidence_push(struct evidence_list *list, struct arena *a, const struct evidence *one)
{
	*ARENA_PUSH(a, list->items, list->count, list->capacity) = *one;
	if (one->event > list->greatest)
		list->greatest = one->event;
}

void evidence_add(struct evidence_list *list, struct arena *a, const struct event *e, struct ref_time time,
		  const char *role)
{
	struct evidence *same, one;

	if (holds(list, e->id))
		return;
	same = same_line(list, e);
	if (same != NULL && !is_place(&same->place, &e->place)) {
		evidence_echo(same, a, &e->place);
		return;
	}
	one = evidence_of(a, e, time, role);
	evidence_push(list, a, &one);
}

static int compare(const void *left, const void *right)
{
	const struct evidence *x = left, *y = right;

	if (x->time.us != y->time.us)
		return x->time.us < y->time.us ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

void evidence_sort(struct evidence_list *list)
{
	if (list->count > 1)
		qsort(list->items, list->count, sizeof *list->items, compare);
}
