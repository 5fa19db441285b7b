/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_STORE_NAMES_H
#define AFTERSHOCK_STORE_NAMES_H

/* A small set of names, each with a number, for finding one in some nanoseconds: each row that is read names several. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

#define NAMES_SLOTS 256
/* At most half full: few share a slot, and no search is long. */
#define NAMES_MAX (NAMES_SLOTS / 2)

/* Zeros are the empty set. */
struct names {
	struct sv name[NAMES_SLOTS];	/* absent where there is none */
	uint8_t number[NAMES_SLOTS];
	size_t count;
};

/* name must live as long as the set. */
void names_add(struct names *n, struct sv name, uint8_t number);
/* False when it is none of them. */
bool names_find(const struct names *n, struct sv name, uint8_t *number);

#endif
