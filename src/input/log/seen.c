/* SPDX-License-Identifier: MIT */
/* Ids of entries, by open addressing. See input/log/seen.h. */

#include "input/log/seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"

#define SLOTS ((size_t)2 * SEEN_LEAST)

uint64_t seen_digest(struct sv wrapper, struct sv id)
{
	struct digest d;
	char hex[2 * DIGEST_BYTES + 1];
	uint64_t out = 0;

	digest_init(&d);
	digest_add(&d, wrapper.p, wrapper.n);
	digest_add(&d, "\n", 1);
	digest_add(&d, id.p, id.n);
	digest_hex(&d, hex);
	(void)sv_to_hex64((struct sv){ hex, 16 }, &out);
	return out != 0 ? out : 1;
}

static uint64_t *new_table(void)
{
	return memory_checked(calloc(SLOTS, sizeof(uint64_t)));
}

/* The slot that holds the digest or may take it: there is one, since no table is more than half full. */
static uint64_t *slot_of(uint64_t *table, uint64_t digest)
{
	size_t at = digest & (SLOTS - 1);

	while (table[at] != 0 && table[at] != digest)
		at = (at + 1) & (SLOTS - 1);
	return &table[at];
}

static void begin_younger(struct seen *s)
{
	uint64_t *forgotten = s->old;

	s->old = s->young;
	s->young = forgotten != NULL ? forgotten : new_table();
	memset(s->young, 0, SLOTS * sizeof *s->young);
	s->young_count = 0;
}

bool seen_before(struct seen *s, uint64_t digest)
{
	uint64_t *slot;

	if (s->young == NULL || s->young_count == SEEN_LEAST)
		begin_younger(s);
	slot = slot_of(s->young, digest);
	if (*slot == digest || (s->old != NULL && *slot_of(s->old, digest) == digest))
		return true;
	*slot = digest;
	s->young_count++;
	return false;
}

void seen_fini(struct seen *s)
{
	free(s->young);
	free(s->old);
	*s = (struct seen){ NULL, NULL, 0 };
}
