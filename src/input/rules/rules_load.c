/* SPDX-License-Identifier: MIT */
/*
 * Reads rules files (rules/README.md) into a struct rules: cuts a file into
 * sections and these into entries, and gives each entry to the row of its key.
 * What is wrong is refused with line, column and reason, and reading goes on, so
 * that one run shows all that is to be mended.
 */

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input/rules/rules_keys.h"

#define FILE_BYTES_MAX (4 * 1024 * 1024)

/* ---- refusals ---- */

void rules_refuse(struct loader *l, uint64_t line, size_t column, const char *format, ...)
{
	struct place place = { .unit = PLACE_LINE, .number = line };
	char text[256];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	diag_add(l->diag, SEVERITY_ERROR, "rules.refused", &place, "column %zu: %s", column, text);
	l->refused = true;
}

bool rules_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* ---- sections ---- */

static const struct key *key_of(const struct section_kind *kind, struct sv name)
{
	for (size_t i = 0; i < kind->key_count; i++) {
		if (sv_eq(name, sv_of(kind->keys[i].name)))
			return &kind->keys[i];
	}
	return NULL;
}

static bool has_key(const struct entry *entries, size_t n, struct sv key)
{
	for (size_t i = 0; i < n; i++) {
		if (sv_eq(entries[i].key, key))
			return true;
	}
	return false;
}

static void take_entries(struct loader *l, const struct section_kind *kind, void *section, struct entry *entries,
			 size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = &entries[i];
		const struct key *key = key_of(kind, e->key);

		if (key == NULL)
			rules_refuse(l, e->line, 1, "unknown key \"%.*s\" in a %s section", SV_ARG(e->key), kind->name);
		else if (!key->many && has_key(entries, i, e->key))
			rules_refuse(l, e->line, 1, "%s stands twice in a section", key->name);
		else if (e->value.n == 0)
			rules_refuse(l, e->line, 1, "%s: the value is missing", key->name);
		else
			key->take(l, section, e);
	}
}

static void check_required(struct loader *l, const struct section_kind *kind, const struct entry *entries, size_t n)
{
	for (size_t k = 0; k < kind->key_count; k++) {
		const struct key *key = &kind->keys[k];

		if (key->required && !has_key(entries + 1, n - 1, sv_of(key->name)))
			rules_refuse(l, entries[0].line, 1, "a %s without %s", kind->name, key->name);
	}
}

/* The rule of that name, for names are how reports cite rules. */
static const struct section *rule_named(const struct rules *r, struct sv name)
{
	for (size_t i = 0; i < r->rule_count; i++) {
		if (sv_eq(r->rules[i]->section.name, name))
			return &r->rules[i]->section;
	}
	return NULL;
}

/* Each example says what it gives. */
static void check_examples(struct loader *l, const struct section *s)
{
	for (size_t i = 0; i < s->examples.count; i++) {
		if (s->examples.items[i].expect_count == 0)
			rules_refuse(l, s->examples.items[i].line, 1, "an example without expect");
	}
}

/* entries[0] is the head: the kind of section and its name. */
static void take_section(struct loader *l, struct entry *entries, size_t n)
{
	const struct entry *head = &entries[0];
	const struct section_kind *kind = section_kind_of(head->key);

	if (kind == NULL) {
		rules_refuse(l, head->line, 1,
			     "a section begins with layout, prefix, rule, table, status or use, not \"%.*s\"",
			     SV_ARG(head->key));
		return;
	}
	if (kind->named && head->value.n == 0) {
		rules_refuse(l, head->line, 1, "a %s without a name", kind->name);
		return;
	}
	const struct section *other = rule_named(l->rules, head->value);

	if (kind->named && other != NULL) {
		rules_refuse(l, head->line, head->value_column, "the name is taken by %.*s:%llu", SV_ARG(other->file),
			     (unsigned long long)other->line);
		return;
	}
	struct section common = { .name = arena_copy(l->rules->arena, head->value),
				  .file = l->file,
				  .line = head->line };
	void *section = kind->begin(l, &common);

	take_entries(l, kind, section, entries + 1, n - 1);
	check_required(l, kind, entries, n);
	if (kind->end != NULL)
		kind->end(l, section);
	if (kind->named)
		check_examples(l, section);
}

/* ---- files ---- */

/* "key   value"; the value without the white space around it. */
static struct entry entry_of(struct sv line, uint64_t number)
{
	size_t key_n = 0;

	while (key_n < line.n && !rules_is_blank(line.p[key_n]))
		key_n++;
	struct sv value = sv_trim(sv_sub(line, key_n, line.n));

	return (struct entry){
		.key = sv_sub(line, 0, key_n),
		.value = value,
		.line = number,
		.value_column = value.n > 0 ? (size_t)(value.p - line.p) + 1 : key_n + 1,
	};
}

/* A "|" line: the value goes on in a line of its own. */
static void continue_entry(struct loader *l, struct entry *e, struct sv text)
{
	e->value = arena_printf(l->rules->arena, "%.*s\n%.*s", SV_ARG(e->value), SV_ARG(text));
}

static void parse(struct loader *l, struct sv text)
{
	struct entry *entries = NULL;
	size_t count = 0, capacity = 0;
	uint64_t number = 0;

	while (!sv_is_absent(text)) {
		struct sv line = sv_cut(&text, '\n');

		number++;
		if (sv_ends_with(line, SV("\r")))
			line.n--;
		if (sv_trim(line).n == 0) {
			if (count > 0)
				take_section(l, entries, count);
			count = 0;
		} else if (line.p[0] == '|' && count > 0) {
			continue_entry(l, &entries[count - 1], sv_sub(line, 1, line.n));
		} else if (line.p[0] == '|' || rules_is_blank(line.p[0])) {
			rules_refuse(l, number, 1, "a line begins with a key");
		} else if (line.p[0] != '#') {
			*ARENA_PUSH(l->rules->arena, entries, count, capacity) = entry_of(line, number);
		}
	}
	if (count > 0)
		take_section(l, entries, count);
}

/* What stands before a message, or beside it. */
static field_set surrounding_fields(const struct rules *r)
{
	field_set fields = 0;

	for (size_t i = 0; i < r->prefix_count; i++)
		fields |= r->prefixes[i]->match.fields;
	for (size_t i = 0; i < r->layout_count; i++) {
		for (size_t k = 0; k < r->layouts[i]->key_count; k++) {
			if (r->layouts[i]->keys[k].is_field)
				fields |= FIELD_BIT(r->layouts[i]->keys[k].field);
		}
	}
	return fields;
}

/* Which fields a rule can give by itself. */
static field_set rule_fields(const struct rule *rule)
{
	field_set fields = rule->match.fields | rule->each.pattern.fields;

	for (size_t i = 0; i < rule->within_count; i++)
		fields |= rule->withins[i].pattern.fields;
	for (size_t i = 0; i < rule->constant_count; i++)
		fields |= FIELD_BIT(rule->constants[i].field);
	return fields;
}

/* Needs all prefixes and layouts, of whatever file: so it comes last. */
static void check_rule_fields(struct loader *l)
{
	field_set given = surrounding_fields(l->rules);

	for (size_t i = 0; i < l->rules->rule_count; i++) {
		const struct rule *rule = l->rules->rules[i];
		field_set missing =
			rule->has_event ? event_infos[rule->event].required & ~(rule_fields(rule) | given) : 0;

		for (unsigned f = 0; f < FIELD_COUNT; f++) {
			if ((missing & FIELD_BIT(f)) == 0)
				continue;
			diag_set_input(l->diag, rule->section.file, 0);
			rules_refuse(l, rule->section.line, 1, "%s needs the field \"%s\", which nothing here gives",
			       event_infos[rule->event].name, field_infos[f].name);
			break;
		}
	}
}

/* A rule whose message has a known first byte is looked for there alone. */
static void fill_buckets(struct rules *r)
{
	for (size_t i = 0; i < r->rule_count; i++) {
		const struct pattern *p = &r->rules[i]->match;

		for (unsigned c = 0; c < 256; c++) {
			struct bucket *b = &r->buckets[c];

			if (p->literal_first ? (unsigned char)p->literal.p[0] != c
					     : p->first_bytes != NULL && !p->first_bytes[c])
				continue;
			*ARENA_PUSH(r->arena, b->rules, b->count, b->capacity) = r->rules[i];
		}
	}
}

static struct rules *rules_new(void)
{
	struct arena *arena = arena_new();
	struct rules *r = arena_alloc(arena, sizeof *r);

	r->arena = arena;
	return r;
}

/* One file may use another: what is being read is kept aside meanwhile. */
static void load_text(struct loader *l, struct sv file, struct sv text)
{
	struct sv outer = l->file;

	l->file = arena_copy(l->rules->arena, file);
	diag_set_input(l->diag, file, 0);
	parse(l, arena_copy(l->rules->arena, text));
	l->file = outer;
	diag_set_input(l->diag, outer, 0);
}

/* The rules, or NULL when something was refused. */
static struct rules *finish(struct loader *l)
{
	check_rule_fields(l);
	diag_set_input(l->diag, SV_ABSENT, 0);
	if (l->refused) {
		rules_free(l->rules);
		return NULL;
	}
	fill_buckets(l->rules);
	return l->rules;
}

struct rules *rules_parse(struct sv file_name, struct sv text, struct diag *d)
{
	struct loader l = { .rules = rules_new(), .diag = d };

	load_text(&l, file_name, text);
	return finish(&l);
}

/* Whether the file is read already; remembers it. */
static bool seen_before(struct rules *r, const char *path)
{
	char *real = realpath(path, NULL);
	struct sv name = arena_copy(r->arena, sv_of(real));

	free(real);
	if (sv_is_absent(name))
		return false;
	for (size_t i = 0; i < r->file_count; i++) {
		if (sv_eq(r->files[i], name))
			return true;
	}
	*ARENA_PUSH(r->arena, r->files, r->file_count, r->file_capacity) = name;
	return false;
}

/* NULL, or why the file cannot be read. */
static const char *load_file(struct loader *l, const char *path)
{
	const char *why = NULL;
	FILE *f;
	char *text;
	size_t n;

	if (seen_before(l->rules, path))
		return NULL;
	f = fopen(path, "rb");
	if (f == NULL)
		return strerror(errno);
	text = malloc(FILE_BYTES_MAX);
	n = text != NULL ? fread(text, 1, FILE_BYTES_MAX, f) : 0;
	if (text == NULL || ferror(f))
		why = strerror(errno);
	else if (n == FILE_BYTES_MAX)
		why = "too large for a rules file (4 MiB)";
	fclose(f);
	if (why == NULL)
		load_text(l, sv_of(path), (struct sv){ text, n });
	free(text);
	return why;
}

const char *rules_use(struct loader *l, struct sv name)
{
	size_t slash;
	struct sv directory = SV("");

	if (name.n == 0)
		return "use needs the name of a file";
	if (name.p[0] != '/' && sv_rfind_char(l->file, '/', &slash))
		directory = sv_sub(l->file, 0, slash + 1);
	return load_file(l, arena_printf(l->rules->arena, "%.*s%.*s", SV_ARG(directory), SV_ARG(name)).p);
}

static void cannot(struct loader *l, const char *path, const char *why)
{
	diag_set_input(l->diag, sv_of(path), 0);
	diag_add(l->diag, SEVERITY_ERROR, "rules.refused", NULL, "%s", why);
	l->refused = true;
}

static void load_named(struct loader *l, const char *path)
{
	const char *why = load_file(l, path);

	if (why != NULL)
		cannot(l, path, why);
}

static int is_rules_name(const struct dirent *d)
{
	return sv_ends_with(sv_of(d->d_name), SV(".rules"));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void load_directory(struct loader *l, const char *path)
{
	struct dirent **names;
	int n = scandir(path, &names, is_rules_name, by_bytes);

	if (n < 0) {
		cannot(l, path, strerror(errno));
		return;
	}
	if (n == 0)
		cannot(l, path, "no *.rules file in this directory");
	for (int i = 0; i < n; i++) {
		load_named(l, arena_printf(l->rules->arena, "%s/%s", path, names[i]->d_name).p);
		free(names[i]);
	}
	free(names);
}

struct rules *rules_load(const char *path, struct diag *d)
{
	struct loader l = { .rules = rules_new(), .diag = d };
	struct stat st;

	if (stat(path, &st) != 0)
		cannot(&l, path, strerror(errno));
	else if (S_ISDIR(st.st_mode))
		load_directory(&l, path);
	else
		load_named(&l, path);
	return finish(&l);
}

void rules_free(struct rules *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->layout_count; i++)
		regex_free(r->layouts[i]->line);
	for (size_t i = 0; i < r->prefix_count; i++)
		pattern_fini(&r->prefixes[i]->match);
	for (size_t i = 0; i < r->rule_count; i++) {
		pattern_fini(&r->rules[i]->match);
		pattern_fini(&r->rules[i]->each.pattern);
		for (size_t k = 0; k < r->rules[i]->where_count; k++)
			pattern_fini(&r->rules[i]->wheres[k].pattern);
		for (size_t k = 0; k < r->rules[i]->within_count; k++)
			pattern_fini(&r->rules[i]->withins[k].pattern);
	}
	arena_free(r->arena);
}
