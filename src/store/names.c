/* SPDX-License-Identifier: MIT */
/* Open addressing over a fixed number of slots. See store/names.h. */

#include "store/names.h"

#include <assert.h>

#include "base/fold.h"

static size_t slot_of(const struct names *n, struct sv name)
{
	size_t at = (size_t)fold_bytes(0, name.p, name.n) % NAMES_SLOTS;

	while (n->name[at].p != NULL && !sv_eq(n->name[at], name))
		at = (at + 1) % NAMES_SLOTS;
	return at;
}

void names_add(struct names *n, struct sv name, uint8_t number)
{
	size_t at = slot_of(n, name);

	assert(n->count < NAMES_MAX && n->name[at].p == NULL);
	n->name[at] = name;
	n->number[at] = number;
	n->count++;
}

bool names_find(const struct names *n, struct sv name, uint8_t *number)
{
	size_t at = slot_of(n, name);

	*number = n->number[at];
	return n->name[at].p != NULL;
}
