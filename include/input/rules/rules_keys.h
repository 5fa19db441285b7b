/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_RULES_KEYS_H
#define AFTERSHOCK_INPUT_RULES_KEYS_H

/*
 * Between the reader of rules files (rules_load.c) and what their keys mean
 * (rules_keys.c).
 */

#include "input/rules/rules_set.h"

/* One "key value" line of a section, with the "|" lines after it. */
struct entry {
	struct sv key, value;
	uint64_t line;
	size_t value_column;	/* from 1, as all columns */
};

struct loader {
	struct rules *rules;
	struct diag *diag;
	struct sv file;
	bool refused;
};

struct key {
	const char *name;
	bool required;
	bool many;
	void (*take)(struct loader *l, void *section, const struct entry *e);
};

struct section_kind {
	const char *name;
	bool named;
	const struct key *keys;
	size_t key_count;
	void *(*begin)(struct loader *l, const struct section *head);
	void (*end)(struct loader *l, void *section);	/* or NULL */
};

/* NULL when there is no such sort of section. */
const struct section_kind *section_kind_of(struct sv name);

/* Records what is wrong; the set is not used then. */
void rules_refuse(struct loader *l, uint64_t line, size_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads a file beside the one that is being read, unless it has been. NULL, or why it cannot be. */
const char *rules_use(struct loader *l, struct sv name);

/* A space or a tab. */
bool rules_is_blank(char c);

#endif
