/* SPDX-License-Identifier: MIT */
/* Open addressing over a fixed number of slots. See store/names.h. */

#include "store/names.h"

#include <assert.h>

/* The length and three letters are enough to tell most names of fields and events apart, and taken in no time. */
static size_t slot_of(const struct names *n, struct sv name)
{
	size_t at = name.n;

	if (name.n > 0)
		at = ((at * 101 + (unsigned char)name.p[0]) * 101 + (unsigned char)name.p[name.n / 2]) * 101 +
		     (unsigned char)name.p[name.n - 1];
	at %= NAMES_SLOTS;
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
