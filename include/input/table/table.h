/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_TABLE_H
#define AFTERSHOCK_INPUT_TABLE_H

/* The kind "table": exports of side effects and books, mapped by rules. */

#include <stdbool.h>

#include "input/kind.h"

/*
 * True when the first bytes are a table that no mapping of the rules fits:
 * *why shows its columns and what the nearest mapping misses.
 */
bool table_unmapped(struct sv head, const struct rules *rules, struct arena *a, struct sv *why);

#endif
