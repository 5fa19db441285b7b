/* SPDX-License-Identifier: MIT */
/* The groups, and the settings that timeouts are reckoned with, each with the place where it stands. */

#include <inttypes.h>
#include <stddef.h>

#include "report/sections.h"
#include "report/words.h"

static const struct {
	const char *name;
	size_t at;		/* in struct group */
	const char *unit;	/* NULL: a yes or no */
} settings[] = {
	{ "session timeout", offsetof(struct group, session_timeout_ms), " ms" },
	{ "heartbeat interval", offsetof(struct group, heartbeat_interval_ms), " ms" },
	{ "longest poll interval", offsetof(struct group, max_poll_interval_ms), " ms" },
	{ "records of one poll", offsetof(struct group, max_poll_records), "" },
	{ "request timeout", offsetof(struct group, request_timeout_ms), " ms" },
	{ "auto commit", offsetof(struct group, enable_auto_commit), NULL },
	{ "auto commit interval", offsetof(struct group, auto_commit_interval_ms), " ms" },
};
#define SETTING_COUNT (sizeof settings / sizeof settings[0])

static const struct setting *setting_of(const struct group *g, size_t i)
{
	return (const struct setting *)(const void *)((const char *)g + settings[i].at);
}

static struct sv value_words(struct arena *a, const struct setting *s, const char *unit)
{
	if (!s->known)
		return SV("unknown");
	if (unit == NULL)
		return s->value != 0 ? SV("yes") : SV("no");
	return arena_printf(a, "%" PRId64 "%s", s->value, unit);
}

static void tell_group(struct out *o, const struct chapter_context *c, const struct group *g)
{
	out_bullet(o, arena_printf(c->a, "%.*s: protocol %.*s, coordinator %.*s%s, client library %.*s, member ids seen: %zu",
				   SV_ARG(g->name), SV_ARG(words_or_unknown(g->protocol)), SV_ARG(words_or_unknown(g->coordinator)),
				   g->coordinator_changed ? " at last, others before" : "",
				   SV_ARG(words_or_unknown(g->client_version)), g->member_count));
}

void chapter_groups(struct out *o, const struct chapter_context *c)
{
	static const struct column columns[] = {
		{ "group", ALIGN_LEFT }, { "setting", ALIGN_LEFT }, { "value", ALIGN_RIGHT }, { "where it stands", ALIGN_LEFT },
	};
	const struct groups *gs = &c->f->groups;
	size_t rows = gs->count * SETTING_COUNT, shown = rows < c->rows_most ? rows : c->rows_most;
	size_t told = gs->count < c->rows_most ? gs->count : c->rows_most;

	if (gs->count == 0)
		return;
	out_section(o, "groups", SV("Consumer groups"));
	for (size_t i = 0; i < told; i++)
		tell_group(o, c, &gs->items[i]);
	document_rest(o, c, told, gs->count);
	out_table(o, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < shown; i++) {
		const struct group *g = &gs->items[i / SETTING_COUNT];
		const struct setting *s = setting_of(g, i % SETTING_COUNT);
		out_cell(o, g->name);
		out_cell(o, sv_of(settings[i % SETTING_COUNT].name));
		out_cell_tone(o, s->known ? TONE_PLAIN : TONE_MUTED, value_words(c->a, s, settings[i % SETTING_COUNT].unit));
		out_cell(o, s->known ? words_place(c->a, c->f, &s->source.place) : SV("-"));
		out_row_end(o);
	}
	out_table_end(o);
	document_rest(o, c, shown, rows);
}
