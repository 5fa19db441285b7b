/* SPDX-License-Identifier: MIT */
/*
 * The keys of each sort of section: what a value must look like, and where it
 * goes. A new key is one function and one row.
 */

#include "input/rules/rules_keys.h"

#define REFUSE_VALUE(l, e, ...) rules_refuse((l), (e)->line, (e)->value_column, __VA_ARGS__)

/* ---- values ---- */

/* The next word of *rest; absent at the end. */
static struct sv next_word(struct sv *rest)
{
	size_t n = 0;

	*rest = sv_trim(*rest);
	if (rest->n == 0)
		return SV_ABSENT;
	while (n < rest->n && !rules_is_blank(rest->p[n]))
		n++;
	struct sv word = sv_sub(*rest, 0, n);

	*rest = sv_sub(*rest, n, rest->n);
	return word;
}

/* Text up to the quote that ends it; two quotes stand for one. *rest begins behind the opening quote. */
static bool take_quoted(struct sv *rest, struct arena *a, struct sv *out)
{
	char *text = arena_alloc(a, rest->n + 1);
	size_t n = 0;

	for (size_t i = 0; i < rest->n; i++) {
		if (rest->p[i] == '"' && i + 1 < rest->n && rest->p[i + 1] == '"') {
			i++;
		} else if (rest->p[i] == '"') {
			*rest = sv_sub(*rest, i + 1, rest->n);
			*out = (struct sv){ text, n };
			return true;
		}
		text[n++] = rest->p[i];
	}
	return false;
}

/* NAME=VALUE or NAME="VALUE". */
static bool take_pair(struct loader *l, const struct entry *e, struct sv *rest, struct expected_value *out)
{
	size_t equals;

	if (!sv_find_char(*rest, '=', &equals)) {
		REFUSE_VALUE(l, e, "expected NAME=VALUE, found \"%.*s\"", SV_ARG(*rest));
		return false;
	}
	out->name = sv_sub(*rest, 0, equals);
	*rest = sv_sub(*rest, equals + 1, rest->n);
	if (rest->n == 0 || rest->p[0] != '"') {
		out->value = rest->n == 0 || rules_is_blank(rest->p[0]) ? SV("") : next_word(rest);
		return true;
	}
	*rest = sv_sub(*rest, 1, rest->n);
	if (take_quoted(rest, l->rules->arena, &out->value))
		return true;
	REFUSE_VALUE(l, e, "the quote of %.*s is not closed", SV_ARG(out->name));
	return false;
}

static bool take_field(struct loader *l, const struct entry *e, struct sv name, enum event_field *out)
{
	if (field_by_name(name, out))
		return true;
	REFUSE_VALUE(l, e, "\"%.*s\" is no field", SV_ARG(name));
	return false;
}

static void take_pattern(struct loader *l, const struct entry *e, struct sv source, enum regex_mode mode,
			 struct pattern *out)
{
	size_t at = 0;
	const char *why = pattern_make(out, l->rules->arena, source, mode, &at);

	if (why != NULL)
		rules_refuse(l, e->line, e->value_column + (size_t)(source.p - e->value.p) + at, "%s", why);
}

static void take_from(struct loader *l, const struct entry *e, enum rule_from *out)
{
	if (sv_eq(e->value, SV("broker")))
		*out = FROM_BROKER;
	else if (sv_eq(e->value, SV("client")))
		*out = FROM_CLIENT;
	else
		REFUSE_VALUE(l, e, "from is broker or client, not \"%.*s\"", SV_ARG(e->value));
}

static void take_constant(struct loader *l, const struct entry *e, struct constant *out)
{
	struct sv rest = e->value;
	struct expected_value pair = { 0 };

	if (!take_pair(l, e, &rest, &pair) || !take_field(l, e, pair.name, &out->field))
		return;
	out->text = pair.value;
	if (field_infos[out->field].type == FIELD_INT && !field_number(out->field, pair.value, &out->number))
		REFUSE_VALUE(l, e, "%.*s is a number, not \"%.*s\"", SV_ARG(pair.name), SV_ARG(pair.value));
}

static void take_event(struct loader *l, const struct entry *e, bool *has_event, enum event_type *out)
{
	*has_event = event_by_name(e->value, out);
	if (!*has_event)
		REFUSE_VALUE(l, e, "\"%.*s\" is no event", SV_ARG(e->value));
}

static void take_example(struct loader *l, void *section, const struct entry *e)
{
	struct examples *out = &((struct section *)section)->examples;
	struct example *x = ARENA_PUSH(l->rules->arena, out->items, out->count, out->capacity);

	x->text = e->value;
	x->line = e->line;
}

static void take_expect(struct loader *l, void *section, const struct entry *e)
{
	struct examples *out = &((struct section *)section)->examples;
	struct sv rest = e->value;

	if (out->count == 0) {
		REFUSE_VALUE(l, e, "expect stands below its example");
		return;
	}
	struct example *x = &out->items[out->count - 1];
	struct expected *expected = ARENA_PUSH(l->rules->arena, x->expects, x->expect_count, x->expect_capacity);

	expected->line = e->line;
	/* A prefix need not carry anything. */
	if (sv_eq(e->value, SV("-")))
		return;
	while (rest = sv_trim(rest), rest.n > 0) {
		struct expected_value *v =
			ARENA_PUSH(l->rules->arena, expected->values, expected->count, expected->capacity);

		if (!take_pair(l, e, &rest, v))
			return;
	}
}

/* ---- layout ---- */

static void *layout_begin(struct loader *l, const struct section *head)
{
	struct rules *r = l->rules;
	struct layout *layout = arena_alloc(r->arena, sizeof *layout);

	layout->section = *head;
	*ARENA_PUSH(r->arena, r->layouts, r->layout_count, r->layout_capacity) = layout;
	return layout;
}

/* The first n of them: a pattern of lines has fewer than an object. */
static bool layout_part(struct sv name, size_t n, enum layout_part *out)
{
	static const char *const names[JSON_PARTS] = { "time", "level", "thread", "logger", "body", "stack", "nanos" };

	for (size_t i = 0; i < n; i++) {
		if (sv_eq(name, sv_of(names[i]))) {
			*out = (enum layout_part)i;
			return true;
		}
	}
	return false;
}

static void add_group(struct loader *l, const struct entry *e, size_t groups[PART_GROUPS_MAX], size_t number)
{
	for (size_t i = 0; i < PART_GROUPS_MAX; i++) {
		if (groups[i] == 0) {
			groups[i] = number;
			return;
		}
	}
	REFUSE_VALUE(l, e, "one group stands in more than %d branches", PART_GROUPS_MAX);
}

static void layout_line(struct loader *l, void *section, const struct entry *e)
{
	struct layout *layout = section;
	struct regex_error error;
	enum layout_part part;

	layout->source = e->value;
	layout->line = regex_new(e->value, REGEX_TEXT, &error);
	if (layout->line == NULL) {
		rules_refuse(l, e->line, e->value_column + error.at, "%s", error.message);
		return;
	}
	for (size_t i = 0; i < regex_name_count(layout->line); i++) {
		size_t number;
		struct sv name = regex_name(layout->line, i, &number);

		if (layout_part(name, LAYOUT_PARTS, &part))
			add_group(l, e, layout->groups[part], number);
		else
			REFUSE_VALUE(l, e, "group \"%.*s\" is none of time, level, thread, logger, body", SV_ARG(name));
	}
	if (layout->groups[PART_BODY][0] == 0)
		REFUSE_VALUE(l, e, "the line has no group \"body\"");
}

/* "json PART NAME..." or "json FIELD NAME..." */
static void take_json_key(struct loader *l, struct layout *layout, const struct entry *e, bool required)
{
	struct arena *a = l->rules->arena;
	struct sv rest = e->value, what = next_word(&rest), name;
	struct json_key *key = ARENA_PUSH(a, layout->keys, layout->key_count, layout->key_capacity);

	key->required = required;
	key->is_field = !layout_part(what, JSON_PARTS, &key->part);
	if (key->is_field && !take_field(l, e, what, &key->field))
		return;
	while (name = next_word(&rest), !sv_is_absent(name))
		*ARENA_PUSH(a, key->names, key->name_count, key->name_capacity) = name;
	if (key->name_count == 0)
		REFUSE_VALUE(l, e, "%.*s: the names of its member are missing", SV_ARG(what));
}

static void layout_json(struct loader *l, void *section, const struct entry *e)
{
	take_json_key(l, section, e, true);
}

static void layout_maybe(struct loader *l, void *section, const struct entry *e)
{
	take_json_key(l, section, e, false);
}

static void layout_time(struct loader *l, void *section, const struct entry *e)
{
	(void)l;
	((struct layout *)section)->time = e->value;
}

static void layout_end(struct loader *l, void *section)
{
	struct layout *layout = section;
	bool grouped = layout->groups[PART_TIME][0] != 0, has_body = false;

	for (size_t i = 0; i < layout->key_count; i++)
		has_body |= !layout->keys[i].is_field && layout->keys[i].part == PART_BODY && layout->keys[i].required;
	if ((layout->line != NULL) == (layout->key_count > 0))
		rules_refuse(l, layout->section.line, 1, "a layout has either \"line\" or \"json\" keys");
	else if (layout->line != NULL && grouped != !sv_is_absent(layout->time))
		rules_refuse(l, layout->section.line, 1, "the group \"time\" and the key \"time\" go together");
	else if (layout->key_count > 0 && !has_body)
		rules_refuse(l, layout->section.line, 1, "a layout of objects needs \"json body NAME...\"");
	/* Read by trial, as those of objects are that say nothing. */
	if (sv_eq(layout->time, SV("any")))
		layout->time = SV_ABSENT;
}

static const struct key layout_keys[] = {
	{ "line", false, false, layout_line },
	{ "json", false, true, layout_json },
	{ "maybe", false, true, layout_maybe },
	{ "time", false, false, layout_time },
	{ "example", true, true, take_example },
	{ "expect", false, true, take_expect },
};

/* ---- prefix ---- */

static void *prefix_begin(struct loader *l, const struct section *head)
{
	struct rules *r = l->rules;
	struct prefix *prefix = arena_alloc(r->arena, sizeof *prefix);

	prefix->section = *head;
	*ARENA_PUSH(r->arena, r->prefixes, r->prefix_count, r->prefix_capacity) = prefix;
	return prefix;
}

static void prefix_from(struct loader *l, void *section, const struct entry *e)
{
	take_from(l, e, &((struct prefix *)section)->from);
}

static void prefix_match(struct loader *l, void *section, const struct entry *e)
{
	struct prefix *prefix = section;

	take_pattern(l, e, e->value, REGEX_TEXT, &prefix->match);
	if (prefix->match.regex != NULL && !prefix->match.anchored)
		REFUSE_VALUE(l, e, "a prefix begins with ^");
}

static const struct key prefix_keys[] = {
	{ "from", false, false, prefix_from },
	{ "match", true, false, prefix_match },
	{ "example", true, true, take_example },
	{ "expect", false, true, take_expect },
};

/* ---- rule ---- */

static void *rule_begin(struct loader *l, const struct section *head)
{
	struct rules *r = l->rules;
	struct rule *rule = arena_alloc(r->arena, sizeof *rule);

	rule->section = *head;
	*ARENA_PUSH(r->arena, r->rules, r->rule_count, r->rule_capacity) = rule;
	return rule;
}

static void rule_event(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	rule->is_cut = sv_eq(e->value, SV("cut"));
	rule->says_nothing = rule->is_cut || sv_eq(e->value, SV("nothing"));
	if (rule->says_nothing)
		return;
	take_event(l, e, &rule->has_event, &rule->event);
	if (rule->has_event)
		rule->strength = event_infos[rule->event].strength;
}

static void rule_evidence(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	if (!rule->has_event)
		REFUSE_VALUE(l, e, "evidence stands below event");
	else if (sv_eq(e->value, SV("proves")))
		rule->strength = STRENGTH_PROVES;
	else if (sv_eq(e->value, SV("suggests")))
		rule->strength = STRENGTH_SUGGESTS;
	else
		REFUSE_VALUE(l, e, "evidence is proves or suggests, not \"%.*s\"", SV_ARG(e->value));
}

static void rule_from(struct loader *l, void *section, const struct entry *e)
{
	take_from(l, e, &((struct rule *)section)->from);
}

static void rule_whose(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	rule->whose_thread = sv_eq(e->value, SV("thread"));
	if (!rule->whose_thread)
		REFUSE_VALUE(l, e, "whose is thread, not \"%.*s\"", SV_ARG(e->value));
}

static void rule_versions(struct loader *l, void *section, const struct entry *e)
{
	(void)l;
	((struct rule *)section)->versions = e->value;
}

static void rule_match(struct loader *l, void *section, const struct entry *e)
{
	take_pattern(l, e, e->value, REGEX_TEXT, &((struct rule *)section)->match);
}

static enum within_what what_of(struct sv source)
{
	if (sv_eq(source, SV("lines")))
		return WITHIN_LINES;
	return sv_eq(source, SV("body")) ? WITHIN_BODY : WITHIN_FIELD;
}

/* "lines PATTERN", "body PATTERN" or "FIELD PATTERN". */
static void take_within(struct loader *l, const struct entry *e, struct within *w)
{
	struct sv rest = e->value, source = next_word(&rest);

	rest = sv_trim(rest);
	w->what = what_of(source);
	if (w->what == WITHIN_FIELD && !take_field(l, e, source, &w->source))
		return;
	if (w->what == WITHIN_FIELD && field_infos[w->source].type != FIELD_TEXT)
		REFUSE_VALUE(l, e, "%.*s is a number: nothing can be within it", SV_ARG(source));
	else if (rest.n == 0)
		REFUSE_VALUE(l, e, "%.*s %.*s: the pattern is missing", SV_ARG(e->key), SV_ARG(source));
	else
		take_pattern(l, e, rest, w->what == WITHIN_LINES ? REGEX_LINES : REGEX_TEXT, &w->pattern);
}

/* Of what stands beside the message: its own words are the pattern's business. */
static void rule_where(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;
	struct within *w = ARENA_PUSH(l->rules->arena, rule->wheres, rule->where_count, rule->where_capacity);

	take_within(l, e, w);
	if (w->what == WITHIN_BODY)
		REFUSE_VALUE(l, e, "where asks a field or the lines below, not the message");
}

static void rule_within(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	take_within(l, e, ARENA_PUSH(l->rules->arena, rule->withins, rule->within_count, rule->within_capacity));
}

static void rule_each(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	rule->has_each = true;
	take_within(l, e, &rule->each);
}

static void rule_set(struct loader *l, void *section, const struct entry *e)
{
	struct rule *rule = section;

	take_constant(l, e,
		      ARENA_PUSH(l->rules->arena, rule->constants, rule->constant_count, rule->constant_capacity));
}

static const struct key rule_keys[] = {
	{ "event", true, false, rule_event },
	{ "evidence", false, false, rule_evidence },
	{ "from", false, false, rule_from },
	{ "versions", false, false, rule_versions },
	{ "whose", false, false, rule_whose },
	{ "match", true, false, rule_match },
	{ "where", false, true, rule_where },
	{ "within", false, true, rule_within },
	{ "each", false, false, rule_each },
	{ "set", false, true, rule_set },
	{ "example", true, true, take_example },
	{ "expect", false, true, take_expect },
};

/* ---- table ---- */

static void *table_begin(struct loader *l, const struct section *head)
{
	struct rules *r = l->rules;
	struct table *table = arena_alloc(r->arena, sizeof *table);

	table->section = *head;
	*ARENA_PUSH(r->arena, r->tables, r->table_count, r->table_capacity) = table;
	return table;
}

static void table_event(struct loader *l, void *section, const struct entry *e)
{
	struct table *table = section;

	take_event(l, e, &table->has_event, &table->event);
}

/* "column FIELD NAME..." */
static void take_column(struct loader *l, struct table *table, const struct entry *e, bool required)
{
	struct sv rest = e->value, field = next_word(&rest), name;
	struct table_column *c =
		ARENA_PUSH(l->rules->arena, table->columns, table->column_count, table->column_capacity);

	c->required = required;
	c->is_time = sv_eq(field, SV("time"));
	if (!c->is_time && !take_field(l, e, field, &c->field))
		return;
	while (name = next_word(&rest), !sv_is_absent(name))
		*ARENA_PUSH(l->rules->arena, c->names, c->name_count, c->name_capacity) = name;
	if (c->name_count == 0)
		REFUSE_VALUE(l, e, "%.*s: the names of its column are missing", SV_ARG(field));
}

static void table_column(struct loader *l, void *section, const struct entry *e)
{
	take_column(l, section, e, true);
}

static void table_maybe(struct loader *l, void *section, const struct entry *e)
{
	take_column(l, section, e, false);
}

static void table_set(struct loader *l, void *section, const struct entry *e)
{
	struct table *t = section;

	take_constant(l, e, ARENA_PUSH(l->rules->arena, t->constants, t->constant_count, t->constant_capacity));
}

static void table_end(struct loader *l, void *section)
{
	struct table *table = section;
	const char *why = table->has_event ? table_lacks(table, l->rules->arena) : NULL;

	if (why != NULL)
		rules_refuse(l, table->section.line, 1, "%s", why);
}

static const struct key table_keys[] = {
	{ "event", true, false, table_event },
	{ "column", true, true, table_column },
	{ "maybe", false, true, table_maybe },
	{ "set", false, true, table_set },
	{ "example", true, true, take_example },
	{ "expect", false, true, take_expect },
};

/* ---- status ---- */

static void *status_begin(struct loader *l, const struct section *head)
{
	(void)head;
	return l->rules;
}

static void status_words(struct loader *l, void *section, const struct entry *e)
{
	struct rules *r = section;
	struct sv rest = e->value, word;

	(void)l;
	while (word = next_word(&rest), !sv_is_absent(word)) {
		struct status_word *w = ARENA_PUSH(r->arena, r->words, r->word_count, r->word_capacity);

		*w = (struct status_word){ word, e->key };
	}
}

static const struct key status_keys[] = {
	{ "success", false, true, status_words },   { "failed", false, true, status_words },
	{ "duplicate", false, true, status_words }, { "skipped", false, true, status_words },
	{ "unknown", false, true, status_words },
};

/* ---- use ---- */

static void *use_begin(struct loader *l, const struct section *head)
{
	const char *why = rules_use(l, head->name);

	if (why != NULL)
		rules_refuse(l, head->line, 1, "%.*s: %s", SV_ARG(head->name), why);
	return l->rules;
}

#define KEYS(table) (table), sizeof(table) / sizeof(table)[0]

static const struct section_kind section_kinds[] = {
	{ "layout", true, KEYS(layout_keys), layout_begin, layout_end },
	{ "prefix", true, KEYS(prefix_keys), prefix_begin, NULL },
	{ "rule", true, KEYS(rule_keys), rule_begin, NULL },
	{ "table", true, KEYS(table_keys), table_begin, table_end },
	{ "status", false, KEYS(status_keys), status_begin, NULL },
	{ "use", false, NULL, 0, use_begin, NULL },
};

const struct section_kind *section_kind_of(struct sv name)
{
	for (size_t i = 0; i < sizeof section_kinds / sizeof section_kinds[0]; i++) {
		if (sv_eq(name, sv_of(section_kinds[i].name)))
			return &section_kinds[i];
	}
	return NULL;
}
