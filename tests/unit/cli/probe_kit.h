/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_CLI_PROBE_KIT_H
#define TESTS_UNIT_CLI_PROBE_KIT_H

/* A directory that goes away with its test, and the bytes of files in it. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"

struct kit {
	char directory[64];
	struct arena *arena;
	struct diag *diag;
};

static inline void kit_init(struct kit *k)
{
	memset(k, 0, sizeof *k);
	strcpy(k->directory, "/tmp/aftershock-test-XXXXXX");
	assert_non_null(mkdtemp(k->directory));
	k->arena = arena_new();
	k->diag = diag_new(k->arena);
}

static inline void kit_fini(struct kit *k)
{
	DIR *d = opendir(k->directory);
	char path[512];

	for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
		snprintf(path, sizeof path, "%s/%s", k->directory, e->d_name);
		unlink(path);
	}
	closedir(d);
	rmdir(k->directory);
	arena_free(k->arena);
}

static inline const char *kit_path(struct kit *k, const char *name)
{
	return arena_printf(k->arena, "%s/%s", k->directory, name).p;
}

static inline void kit_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static inline void kit_read(const char *path, struct buf *to)
{
	FILE *f = fopen(path, "r");
	int c;

	buf_clear(to);
	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		buf_add_char(to, (char)c);
	fclose(f);
}

static inline bool kit_problem_has(const struct kit *k, const char *text)
{
	size_t at;

	for (size_t i = 0; i < diag_count(k->diag); i++)
		if (sv_find(diag_at(k->diag, i)->message, sv_of(text), &at))
			return true;
	return false;
}

#endif
