/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_CLI_FILES_H
#define AFTERSHOCK_CLI_FILES_H

/* Where results go, and where the shipped rules lie. */

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/*
 * Writes the whole text or leaves what was there: into a file beside it, then
 * renamed. path "-" or NULL is standard output. 0, or -1 (recorded).
 */
int files_write(const char *path, const struct buf *text, struct diag *d);

/* Puts a complete file in the place of another. 0, or -1 (recorded). */
int files_replace(const char *from, const char *to, struct diag *d);

/* Makes the directory, and those above it, unless they are there. 0, or -1 (recorded). */
int files_make_directory(const char *path, struct arena *a, struct diag *d);

/*
 * Until files_release(*held) no other aftershock writes its results there. False (recorded) when another one does; a file
 * system that knows no locks is taken as it is.
 */
bool files_claim_directory(const char *path, int *held, struct diag *d);
void files_release(int held);

/*
 * The directory of rules: the one asked for, else that of $AFTERSHOCK_RULES,
 * of the source tree that this program was built in, or of its installation.
 */
const char *files_rules(const char *asked, struct arena *a);

/* Whether to colour what goes to standard output. */
bool files_color(enum when when);

#endif
