/* SPDX-License-Identifier: MIT */
/* The collector of problems. See base/diag.h. */

#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KEPT_WHOLE 3	 /* of each (code, input); the rest are counted */
#define MESSAGE_BYTES 512 /* a message may quote hostile text */

/* How many of one code there were in one input, and where the counting entry stands. */
struct tally {
	const char *code;
	int64_t input;
	uint64_t count;
	size_t summary;	/* index of the summary + 1; 0 when there is none */
};

struct diag {
	struct arena *arena;
	struct sv path;
	int64_t input;
	struct problem *problems;
	size_t count, capacity;
	struct tally *tallies;
	size_t tally_count, tally_capacity;
	size_t first_tally;	/* of the current input: older ones are not looked through */
};

struct diag *diag_new(struct arena *run)
{
	struct diag *d = arena_alloc(run, sizeof *d);
	d->arena = run;
	return d;
}

void diag_set_input(struct diag *d, struct sv path, int64_t input)
{
	d->path = arena_copy(d->arena, path);
	d->input = input;
	d->first_tally = d->tally_count;
}

static struct tally *tally_of(struct diag *d, const char *code)
{
	for (size_t i = d->first_tally; i < d->tally_count; i++)
		if (strcmp(d->tallies[i].code, code) == 0)
			return &d->tallies[i];
	struct tally *t = ARENA_PUSH(d->arena, d->tallies, d->tally_count, d->tally_capacity);
	t->code = code;
	t->input = d->input;
	return t;
}

static struct problem *push(struct diag *d, enum severity severity, const char *code)
{
	struct problem *p = ARENA_PUSH(d->arena, d->problems, d->count, d->capacity);
	p->severity = severity;
	p->code = sv_of(code);
	p->path = d->path;
	p->place.input = d->input;
	p->count = 1;
	return p;
}

__attribute__((format(printf, 2, 0))) static struct sv format_message(struct diag *d, const char *format, va_list list)
{
	char text[MESSAGE_BYTES];
	int n = vsnprintf(text, sizeof text, format, list);
	if (n < 0)
		return SV("(message could not be written)");
	bool cut = (size_t)n >= sizeof text;
	return arena_printf(d->arena, "%s%s", text, cut ? "..." : "");
}

static void summarize(struct diag *d, struct tally *t, enum severity severity, uint64_t times)
{
	if (t->summary == 0) {
		struct problem *p = push(d, severity, t->code);
		p->message = SV("and more of the same kind");
		p->count = 0;
		t->summary = d->count;
	}
	struct problem *summary = &d->problems[t->summary - 1];
	summary->count += times;
	if (severity > summary->severity)
		summary->severity = severity;
}

void diag_add(struct diag *d, enum severity severity, const char *code, const struct place *place, const char *format,
	      ...)
{
	struct tally *t = tally_of(d, code);
	t->count++;
	if (t->count <= KEPT_WHOLE) {
		va_list list;
		va_start(list, format);
		struct problem *p = push(d, severity, code);
		p->message = format_message(d, format, list);
		va_end(list);
		if (place != NULL) {
			p->place = *place;
			p->place.input = d->input;
		}
		return;
	}
	summarize(d, t, severity, 1);
}

void diag_add_more(struct diag *d, enum severity severity, const char *code, uint64_t times)
{
	struct tally *t = tally_of(d, code);
	if (times == 0)
		return;
	t->count += times;
	summarize(d, t, severity, times);
}

void diag_restore(struct diag *d, const struct problem *p)
{
	struct problem *copy = ARENA_PUSH(d->arena, d->problems, d->count, d->capacity);
	*copy = *p;
	copy->code = arena_copy(d->arena, p->code);
	copy->message = arena_copy(d->arena, p->message);
	copy->path = arena_copy(d->arena, p->path);
}

size_t diag_count(const struct diag *d)
{
	return d->count;
}

const struct problem *diag_at(const struct diag *d, size_t i)
{
	return &d->problems[i];
}

bool diag_worst(const struct diag *d, enum severity *out)
{
	if (d->count == 0)
		return false;
	*out = SEVERITY_NOTE;
	for (size_t i = 0; i < d->count; i++)
		if (d->problems[i].severity > *out)
			*out = d->problems[i].severity;
	return true;
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = { "note", "warning", "error" };
	return names[s];
}

const char *place_unit_name(enum place_unit u)
{
	static const char *const names[] = { NULL, "line", "packet", "row" };
	return names[u];
}

enum place_unit place_unit_by_name(struct sv name)
{
	for (int u = PLACE_LINE; u <= PLACE_ROW; u++) {
		if (sv_eq(name, sv_of(place_unit_name((enum place_unit)u))))
			return (enum place_unit)u;
	}
	return PLACE_WHOLE;
}
