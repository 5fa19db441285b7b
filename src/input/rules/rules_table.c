/* SPDX-License-Identifier: MIT */
/* Headers of tables to fields, and the words of their status columns (input-formats.md 3.4). */

#include "input/rules/rules_set.h"

static bool is_separator(char c)
{
	return c == '_' || c == '-' || c == ' ' || c == '.';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* createdAt, CREATED_AT and "created at" are one name. */
static bool same_name(struct sv a, struct sv b)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a.n && is_separator(a.p[i]))
			i++;
		while (k < b.n && is_separator(b.p[k]))
			k++;
		if (i == a.n || k == b.n)
			return i == a.n && k == b.n;
		if (lower(a.p[i++]) != lower(b.p[k++]))
			return false;
	}
}

/* The column that the best of the names stands above; -1 when none does, or it is taken. */
static int find_column(const struct table_column *c, const struct sv *header, size_t n, const bool *taken)
{
	for (size_t k = 0; k < c->name_count; k++) {
		for (size_t i = 0; i < n; i++) {
			if (!taken[i] && same_name(header[i], c->names[k]))
				return (int)i;
		}
	}
	return -1;
}

static const struct table_map *map_table(const struct table *t, const struct sv *header, size_t n, struct arena *a)
{
	struct table_map *map = arena_alloc(a, sizeof *map);
	bool *taken = arena_array(a, n + 1, sizeof *taken);

	map->name = t->section.name.p;
	map->event = t->event;
	map->time_column = -1;
	map->columns = arena_array(a, FIELD_COUNT, sizeof *map->columns);
	map->constants = arena_array(a, FIELD_COUNT, sizeof *map->constants);
	for (size_t f = 0; f < FIELD_COUNT; f++)
		map->columns[f] = -1;
	for (size_t i = 0; i < t->column_count; i++) {
		const struct table_column *c = &t->columns[i];
		int *place = c->is_time ? &map->time_column : &map->columns[c->field];
		int at = *place >= 0 ? *place : find_column(c, header, n, taken);

		if (at < 0 && c->required)
			return NULL;
		if (at < 0 || *place >= 0)
			continue;
		*place = at;
		taken[at] = true;
		map->column_count++;
	}
	for (size_t i = 0; i < t->constant_count; i++)
		map->constants[t->constants[i].field] = t->constants[i].text;
	return map;
}

const struct table_map *rules_table(const struct rules *r, const struct sv *header, size_t n, struct arena *a)
{
	const struct table_map *best = NULL;

	for (size_t i = 0; i < r->table_count; i++) {
		const struct table_map *map = map_table(r->tables[i], header, n, a);

		if (map != NULL && (best == NULL || map->column_count > best->column_count))
			best = map;
	}
	return best;
}

static size_t missing_columns(const struct table *t, const struct sv *header, size_t n, const bool *none_taken,
			      struct buf *names)
{
	size_t missing = 0;

	for (size_t i = 0; i < t->column_count; i++) {
		const struct table_column *c = &t->columns[i];

		if (!c->required || find_column(c, header, n, none_taken) >= 0)
			continue;
		if (names != NULL)
			buf_printf(names, "%s%s", missing > 0 ? ", " : "", c->is_time ? "time" : field_infos[c->field].name);
		missing++;
	}
	return missing;
}

struct sv rules_table_nearest(const struct rules *r, const struct sv *header, size_t n, struct arena *a)
{
	const bool *none_taken = arena_array(a, n + 1, sizeof *none_taken);
	const struct table *best = NULL;
	size_t least = SIZE_MAX;
	struct buf names;
	struct sv text;

	for (size_t i = 0; i < r->table_count; i++) {
		size_t missing = missing_columns(r->tables[i], header, n, none_taken, NULL);

		if (missing < least) {
			least = missing;
			best = r->tables[i];
		}
	}
	if (best == NULL)
		return SV_ABSENT;
	buf_init(&names);
	missing_columns(best, header, n, none_taken, &names);
	text = arena_printf(a, "the nearest, \"%.*s\", lacks a column for %.*s", SV_ARG(best->section.name),
			    SV_ARG(buf_sv(&names)));
	buf_fini(&names);
	return text;
}

struct sv rules_status(const struct rules *r, struct sv word)
{
	for (size_t i = 0; i < r->word_count; i++) {
		if (sv_eq_nocase(r->words[i].word, word))
			return r->words[i].means;
	}
	return word;
}

const char *table_lacks(const struct table *t, struct arena *a)
{
	/* Without a column for it, the system is named by the file. */
	field_set missing = event_infos[t->event].required & ~FIELD_BIT(FIELD_SYSTEM);

	for (size_t i = 0; i < t->column_count; i++) {
		if (t->columns[i].required && !t->columns[i].is_time)
			missing &= ~FIELD_BIT(t->columns[i].field);
	}
	for (size_t i = 0; i < t->constant_count; i++)
		missing &= ~FIELD_BIT(t->constants[i].field);
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		if ((missing & FIELD_BIT(f)) != 0)
			return arena_printf(a, "%s needs a column for \"%s\"", event_infos[t->event].name, field_infos[f].name).p;
	}
	return NULL;
}
