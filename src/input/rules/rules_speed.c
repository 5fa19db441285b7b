/* SPDX-License-Identifier: MIT */
/*
 * What rules cost in the reading of large logs: the shortest literal of all of
 * them decides how many places of a block are looked at (input/log/filter.c).
 */

#include "base/buf.h"
#include "input/rules/rules_set.h"

/* From here on a literal costs little. */
#define LONG_ENOUGH 8
/* Shorter ones are looked for apart, up to four of them; from two bytes on. */
#define APART 6
#define LEAST 2

static void add_literals(struct buf *b, const struct cover *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->literals[i].n == cover_least(c)) {
			buf_printf(b, "\"%.*s\"", SV_ARG(c->literals[i]));
			return;
		}
}

static void note_rule(const struct rule *rule, const struct cover *c, struct diag *d)
{
	const struct section *s = &rule->section;
	const struct place place = { .unit = PLACE_LINE, .number = s->line };
	size_t least = cover_least(c);
	struct buf literal;

	diag_set_input(d, s->file, 0);
	if (least == 0) {
		diag_add(d, SEVERITY_NOTE, "rules.slow", &place,
			 "%.*s: no text is known that all its messages have in them: with such a rule every line of a log is read, "
			 "some ten times slower",
			 SV_ARG(s->name));
		return;
	}
	buf_init(&literal);
	add_literals(&literal, c);
	diag_add(d, SEVERITY_NOTE, "rules.slow", &place, "%.*s: its messages have no more than %.*s in common: %s",
		 SV_ARG(s->name), SV_ARG(buf_sv(&literal)),
		 least < LEAST	 ? "with such a rule every line of a log is read, some ten times slower"
		 : least < APART ? "each such text makes the search in large logs a tenth slower, and a fifth such "
				   "text several times"
				 : "the search in large logs takes some 1.7 times as long as with 12 bytes");
	buf_fini(&literal);
}

void rules_note_slow(const struct rules *r, struct diag *d)
{
	for (size_t i = 0; i < r->rule_count; i++) {
		const struct cover *c = pattern_cover(&r->rules[i]->match, r->arena);

		if (cover_least(c) < LONG_ENOUGH)
			note_rule(r->rules[i], c, d);
	}
	diag_set_input(d, SV_ABSENT, 0);
}
