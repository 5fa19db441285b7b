/* SPDX-License-Identifier: MIT */
/*
 * What the commands "rules check" and "rules list" do: examples run against all
 * rules, rules shown; and what "rules test" shows of a record.
 */

#include "input/rules/rules_set.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* ---- fields in words: NAME=VALUE, quoted where a space would end the value ---- */

static bool is_bare(struct sv text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\n' || text.p[i] == '"')
			return false;
	}
	return text.n > 0;
}

static void add_value(struct buf *b, struct sv text)
{
	if (is_bare(text)) {
		buf_add(b, text);
		return;
	}
	buf_add_char(b, '"');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '"')
			buf_add_char(b, '"');
		buf_add_char(b, text.p[i]);
	}
	buf_add_char(b, '"');
}

static void add_pair(struct buf *b, const char *name, struct sv value)
{
	buf_printf(b, "%s%s=", b->n > 0 ? " " : "", name);
	add_value(b, value);
}

static void add_fields(struct buf *b, const struct event *e)
{
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(e, f))
			continue;
		if (field_infos[f].type == FIELD_TEXT)
			add_pair(b, field_infos[f].name, event_text(e, f));
		else
			buf_printf(b, "%s%s=%" PRId64, b->n > 0 ? " " : "", field_infos[f].name, event_int_or(e, f, 0));
	}
}

/* ---- check ---- */

struct check {
	const struct rules *rules;
	struct arena *arena;	/* for the example at hand */
	struct diag *diag;
	bool failed;
};

__attribute__((format(printf, 4, 5))) static void fail(struct check *c, const struct section *s, uint64_t line,
							const char *format, ...)
{
	struct place place = { .unit = PLACE_LINE, .number = line };
	struct buf text;
	char message[400];
	va_list list;

	va_start(list, format);
	vsnprintf(message, sizeof message, format, list);
	va_end(list);
	buf_init(&text);
	buf_add_plain(&text, sv_of(message));
	diag_set_input(c->diag, s->file, 0);
	diag_add(c->diag, SEVERITY_ERROR, "rules.example", &place, "%.*s: %.*s", SV_ARG(s->name),
		 SV_ARG(buf_sv(&text)));
	buf_fini(&text);
	c->failed = true;
}

static void compare(struct check *c, const struct section *s, const struct expected *expected, const struct buf *want,
		    const struct buf *got)
{
	if (!sv_eq(buf_sv(want), buf_sv(got)))
		fail(c, s, expected->line, "expected %.*s, got %.*s", SV_ARG(buf_sv(want)), SV_ARG(buf_sv(got)));
}

/* What is expected in the order in which fields are shown. */
static void add_expected(struct check *c, const struct section *s, const struct expected *expected, struct buf *b)
{
	struct event e;

	event_init(&e, (enum event_type)0);
	for (size_t i = 0; i < expected->count; i++) {
		enum event_field f;

		if (!field_by_name(expected->values[i].name, &f))
			fail(c, s, expected->line, "\"%.*s\" is no field", SV_ARG(expected->values[i].name));
		else
			pattern_set(&e, f, expected->values[i].value);
	}
	add_fields(b, &e);
}

static void compare_event(struct check *c, const struct section *s, const struct expected *expected,
			  const struct event *e)
{
	struct buf want, got;

	buf_init(&want);
	buf_init(&got);
	add_expected(c, s, expected, &want);
	add_fields(&got, e);
	compare(c, s, expected, &want, &got);
	buf_fini(&want);
	buf_fini(&got);
}

/* An example is a record, or where no layout fits a message alone. */
static void take_apart(const struct check *c, struct sv text, struct log_record *out)
{
	struct sv rest = text, first = sv_cut(&rest, '\n');
	int hint = -1;

	arena_reset(c->arena);
	if (!rules_layout(c->rules, first, (struct zone){ 0 }, &hint, c->arena, out))
		*out = (struct log_record){ .body = first };
	if (!out->whole)
		out->more = rest;
}

static void check_events(struct check *c, const struct rule *rule, const struct example *x,
			 const struct log_record *record)
{
	struct rules_events it;
	struct event e;
	const char *name;
	size_t n = 0;

	rules_events_init(&it, c->rules, record, &name);
	while (rules_events_next(&it, &e)) {
		if (n < x->expect_count)
			compare_event(c, &rule->section, &x->expects[n], &e);
		n++;
	}
	/* "-" stands for none. */
	if (n != x->expect_count - (rule->says_nothing && x->expect_count == 1 && x->expects[0].count == 0))
		fail(c, &rule->section, x->line, "%zu events expected, %zu made", x->expect_count, n);
}

static void check_rule_example(struct check *c, const struct rule *rule, const struct example *x)
{
	const struct rule *fits[2];
	struct log_record record;

	take_apart(c, x->text, &record);
	size_t n = rules_fit(c->rules, &record, fits, 2);

	if (n == 0)
		fail(c, &rule->section, x->line, "no rule matches this example");
	else if (n == 2)
		fail(c, &rule->section, x->line, "both %.*s and %.*s match this example", SV_ARG(fits[0]->section.name),
		     SV_ARG(fits[1]->section.name));
	else if (fits[0] != rule)
		fail(c, &rule->section, x->line, "this example is matched by %.*s instead",
		     SV_ARG(fits[0]->section.name));
	else
		check_events(c, rule, x, &record);
}

static void check_prefix_example(struct check *c, const struct prefix *prefix, const struct example *x)
{
	struct event e;
	struct log_record record;

	take_apart(c, x->text, &record);
	event_init(&e, (enum event_type)0);
	if (!pattern_may_match(&prefix->match, record.body) || !pattern_match(&prefix->match, record.body, 0)) {
		fail(c, &prefix->section, x->line, "the prefix does not match its example");
		return;
	}
	pattern_fill(&prefix->match, &e);
	compare_event(c, &prefix->section, &x->expects[0], &e);
}

static void add_record(struct buf *b, const struct log_record *record)
{
	struct buf time;

	buf_init(&time);
	if (record->has_time) {
		tstamp_format(&time, record->time.us);
		add_pair(b, "time", buf_sv(&time));
	}
	buf_fini(&time);
	if (!sv_is_absent(record->level))
		add_pair(b, "level", record->level);
	if (!sv_is_absent(record->thread))
		add_pair(b, "thread", record->thread);
	if (!sv_is_absent(record->logger))
		add_pair(b, "logger", record->logger);
	add_pair(b, "body", record->body);
	if (record->whole && !sv_is_absent(record->more))
		add_pair(b, "stack", record->more);
	for (size_t i = 0; i < record->field_count; i++)
		add_pair(b, field_infos[record->fields[i].field].name, record->fields[i].text);
}

static struct sv expected_value(const struct expected *expected, const char *name)
{
	for (size_t i = 0; i < expected->count; i++) {
		if (sv_eq(expected->values[i].name, sv_of(name)))
			return expected->values[i].value;
	}
	return SV_ABSENT;
}

static void check_layout_example(struct check *c, const struct layout *layout, const struct example *x)
{
	static const char *const parts[] = { "time", "level", "thread", "logger", "body", "stack" };
	struct log_record record = { 0 };
	struct buf want, got;
	int hint = -1;

	arena_reset(c->arena);
	if (!rules_layout(c->rules, x->text, (struct zone){ 0 }, &hint, c->arena, &record)) {
		fail(c, &layout->section, x->line, "no layout fits this example");
		return;
	}
	if (c->rules->layouts[hint] != layout) {
		fail(c, &layout->section, x->line, "this example is taken by the layout %s", record.layout);
		return;
	}
	buf_init(&want);
	buf_init(&got);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		struct sv value = expected_value(&x->expects[0], parts[i]);

		if (!sv_is_absent(value))
			add_pair(&want, parts[i], value);
	}
	for (size_t i = 0; i < layout->key_count; i++) {
		const char *name = layout->keys[i].is_field ? field_infos[layout->keys[i].field].name : NULL;

		if (name != NULL && !sv_is_absent(expected_value(&x->expects[0], name)))
			add_pair(&want, name, expected_value(&x->expects[0], name));
	}
	add_record(&got, &record);
	compare(c, &layout->section, &x->expects[0], &want, &got);
	buf_fini(&want);
	buf_fini(&got);
}

/* The columns of a map as FIELD=COLUMN. */
static void add_map(struct buf *b, const struct table_map *map, const struct sv *header)
{
	if (map->time_column >= 0)
		add_pair(b, "time", header[map->time_column]);
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		if (map->columns[f] >= 0)
			add_pair(b, field_infos[f].name, header[map->columns[f]]);
	}
}

static void check_header(struct check *c, const struct table *table, const struct example *x, const struct sv *header,
			 size_t n, struct arena *a)
{
	const struct table_map *map = rules_table(c->rules, header, n, a);
	struct buf want, got;

	if (map == NULL) {
		fail(c, &table->section, x->line, "no table fits this header");
		return;
	}
	if (map->name != table->section.name.p) {
		fail(c, &table->section, x->line, "this header is taken by the table %s", map->name);
		return;
	}
	buf_init(&want);
	buf_init(&got);
	struct sv time = expected_value(&x->expects[0], "time");

	if (!sv_is_absent(time))
		add_pair(&want, "time", time);
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		struct sv value = expected_value(&x->expects[0], field_infos[f].name);

		if (!sv_is_absent(value))
			add_pair(&want, field_infos[f].name, value);
	}
	add_map(&got, map, header);
	compare(c, &table->section, &x->expects[0], &want, &got);
	buf_fini(&want);
	buf_fini(&got);
}

/* The example of a table is its header, with commas. */
static void check_table_example(struct check *c, const struct table *table, const struct example *x)
{
	struct arena *a = arena_new();
	struct sv *header = NULL, rest = x->text;
	size_t n = 0, capacity = 0;

	while (!sv_is_absent(rest))
		*ARENA_PUSH(a, header, n, capacity) = sv_trim(sv_cut(&rest, ','));
	check_header(c, table, x, header, n, a);
	arena_free(a);
}

int rules_check(const struct rules *r, struct diag *d)
{
	struct check c = { .rules = r, .arena = arena_new(), .diag = d };

	for (size_t i = 0; i < r->layout_count; i++) {
		for (size_t k = 0; k < r->layouts[i]->section.examples.count; k++)
			check_layout_example(&c, r->layouts[i], &r->layouts[i]->section.examples.items[k]);
	}
	for (size_t i = 0; i < r->prefix_count; i++) {
		for (size_t k = 0; k < r->prefixes[i]->section.examples.count; k++)
			check_prefix_example(&c, r->prefixes[i], &r->prefixes[i]->section.examples.items[k]);
	}
	for (size_t i = 0; i < r->rule_count; i++) {
		for (size_t k = 0; k < r->rules[i]->section.examples.count; k++)
			check_rule_example(&c, r->rules[i], &r->rules[i]->section.examples.items[k]);
	}
	for (size_t i = 0; i < r->table_count; i++) {
		for (size_t k = 0; k < r->tables[i]->section.examples.count; k++)
			check_table_example(&c, r->tables[i], &r->tables[i]->section.examples.items[k]);
	}
	rules_note_slow(r, d);
	arena_free(c.arena);
	return c.failed ? -1 : 0;
}

/* ---- list ---- */

static void list_one(FILE *out, const struct section *s, const char *what)
{
	fprintf(out, "%-44.*s %-28s %.*s:%" PRIu64 "\n", SV_ARG(s->name), what, SV_ARG(s->file), s->line);
}

void rules_list(const struct rules *r, FILE *out)
{
	for (size_t i = 0; i < r->layout_count; i++)
		list_one(out, &r->layouts[i]->section, "(layout)");
	for (size_t i = 0; i < r->prefix_count; i++)
		list_one(out, &r->prefixes[i]->section, "(prefix)");
	for (size_t i = 0; i < r->rule_count; i++)
		list_one(out, &r->rules[i]->section,
			 r->rules[i]->is_cut	     ? "(cut)"
			 : r->rules[i]->says_nothing ? "(nothing)"
						     : event_infos[r->rules[i]->event].name);
	for (size_t i = 0; i < r->table_count; i++)
		list_one(out, &r->tables[i]->section, event_infos[r->tables[i]->event].name);
}

/* ---- test ---- */

static void show_event(FILE *out, const struct event *e)
{
	struct buf fields, plain;

	buf_init(&fields);
	buf_init(&plain);
	add_fields(&fields, e);
	buf_add_plain(&plain, buf_sv(&fields));
	fprintf(out, "    %s (%s) %.*s\n", event_infos[e->type].name, strength_name(e->strength),
		SV_ARG(buf_sv(&plain)));
	buf_fini(&fields);
	buf_fini(&plain);
}

/* What no rule knows: a message for which one may be missing, or none of ours. */
static const char *unknown_words(const struct log_record *record)
{
	return rules_near_miss(record->body) ? "none: near miss, it speaks of consumer groups" : "none: not ours";
}

void rules_show(const struct rules *r, uint64_t line, const struct log_record *record, FILE *out)
{
	struct rules_events it;
	struct event e;
	const char *rule;

	rules_events_init(&it, r, record, &rule);
	fprintf(out, "%" PRIu64 ": layout %s, rule %s\n", line, record->layout != NULL ? record->layout : "none",
		rule != NULL ? rule : unknown_words(record));
	while (rules_events_next(&it, &e))
		show_event(out, &e);
}
