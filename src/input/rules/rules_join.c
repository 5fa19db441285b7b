/* SPDX-License-Identifier: MIT */
/*
 * Lines to records. A stack trace, the block below "Updating assignment with"
 * and a settings dump are lines that no layout fits: they belong to the line
 * before them that one does.
 */

#include "input/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A record in the making; its views point into its bytes. */
struct draft {
	char *bytes;		/* RECORD_BYTES_MAX */
	struct arena *arena;	/* for what is not in them as it stands */
	size_t n;
	struct joined joined;
};

struct joiner {
	const struct rules *rules;
	struct zone zone;
	int layout_hint;
	struct draft drafts[2];	/* the one that was handed out, and the one in the making */
	int current;
	bool begun;
	uint64_t orphans;
};

struct joiner *joiner_new(const struct rules *r, struct zone z)
{
	struct joiner *j = memory_checked(calloc(1, sizeof *j));

	*j = (struct joiner){ .rules = r, .zone = z, .layout_hint = -1 };
	for (size_t i = 0; i < 2; i++) {
		j->drafts[i].bytes = memory_checked(malloc(RECORD_BYTES_MAX));
		j->drafts[i].arena = arena_new();
	}
	return j;
}

void joiner_free(struct joiner *j)
{
	if (j == NULL)
		return;
	for (size_t i = 0; i < 2; i++) {
		free(j->drafts[i].bytes);
		arena_free(j->drafts[i].arena);
	}
	free(j);
}

/* Whether the line begins a record; if so the draft is it. */
static bool begin(struct joiner *j, struct draft *d, struct sv line, uint64_t number, uint64_t byte_offset)
{
	size_t n = line.n < RECORD_BYTES_MAX ? line.n : RECORD_BYTES_MAX;

	if (n > 0)
		memcpy(d->bytes, line.p, n);
	struct sv text = { d->bytes, n };
	struct log_record record;

	arena_reset(d->arena);
	if (!rules_layout(j->rules, text, j->zone, &j->layout_hint, d->arena, &record))
		return false;
	d->n = n;
	d->joined = (struct joined){ record, text, number, byte_offset, n < line.n };
	return true;
}

/* A level, in whatever language, and the message: "INFO: text". */
static bool split_level(struct sv line, struct sv *level, struct sv *message)
{
	size_t at, blank;

	if (!sv_find(sv_sub(line, 0, 48), SV(": "), &at) || at == 0 || sv_find_char(sv_sub(line, 0, at), ' ', &blank))
		return false;
	*level = sv_sub(line, 0, at);
	*message = sv_sub(line, at + 2, line.n);
	return true;
}

/* A message below the line of its level: ASP.NET's console sets it as far in as "info: " is long. */
static bool split_indent(struct sv line, struct sv *message)
{
	const struct sv indent = SV("      ");

	if (!sv_starts_with(line, indent))
		return false;
	*message = sv_sub(line, indent.n, line.n);
	return true;
}

/*
 * Some write who speaks on one line, and the message below it: java.util.logging with the time above and the level
 * below, ASP.NET with the level above, and the time if it is asked for one.
 */
static bool is_awaited(const struct log_record *r)
{
	return (r->has_written || !sv_is_absent(r->level)) && r->body.n == 0 && sv_is_absent(r->more);
}

/* The line has just been added. */
static void take_message(struct draft *d, struct sv line)
{
	struct log_record *r = &d->joined.record;

	if (sv_is_absent(r->level) ? !split_level(line, &r->level, &r->body) : !split_indent(line, &r->body))
		return;
	r->more = SV_ABSENT;
	d->joined.text.n = d->n;
}

static void append(struct draft *d, struct sv line)
{
	struct sv *more = &d->joined.record.more;
	bool awaited = is_awaited(&d->joined.record);

	if (d->n + 1 + line.n > RECORD_BYTES_MAX) {
		d->joined.cut = true;
		d->n = RECORD_BYTES_MAX;	/* nothing more of this record */
		return;
	}
	d->bytes[d->n++] = '\n';
	if (more->p == NULL)
		*more = (struct sv){ d->bytes + d->n, 0 };
	if (line.n > 0)
		memcpy(d->bytes + d->n, line.p, line.n);
	d->n += line.n;
	more->n = (size_t)(d->bytes + d->n - more->p);
	if (awaited)
		take_message(d, *more);
}

bool joiner_add(struct joiner *j, struct sv line, uint64_t number, uint64_t byte_offset, struct joined *out)
{
	struct draft *current = &j->drafts[j->current], *spare = &j->drafts[!j->current];

	if (!begin(j, spare, line, number, byte_offset)) {
		if (j->begun && !current->joined.record.whole)
			append(current, line);
		else
			j->orphans++;
		return false;
	}
	bool complete = j->begun;

	if (complete)
		*out = current->joined;
	j->begun = true;
	j->current = !j->current;
	return complete;
}

bool joiner_end(struct joiner *j, struct joined *out)
{
	if (!j->begun)
		return false;
	*out = j->drafts[j->current].joined;
	j->begun = false;
	return true;
}

uint64_t joiner_orphans(const struct joiner *j)
{
	return j->orphans;
}

void joiner_expect(struct joiner *j, int layout_hint)
{
	j->layout_hint = layout_hint;
}
