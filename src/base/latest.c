/* SPDX-License-Identifier: MIT */
/* See base/latest.h. */

#include "base/latest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SLOTS_FIRST ((size_t)4096)
#define SLOTS_MOST ((size_t)2 * LATEST_LEAST)
#define PROBES 64	/* digests that were made to collide cost no more than so many looks */

static struct latest_entry *new_table(size_t slots)
{
	return memory_checked(calloc(slots, sizeof(struct latest_entry)));
}

/*
 * The slot that holds the digest or may take it. Where there is neither within
 * reach, which takes malice, it is the first one, whose digest is forgotten.
 */
static struct latest_entry *slot_of(struct latest_entry *table, size_t slots, uint64_t digest)
{
	for (size_t i = 0; i < PROBES; i++) {
		struct latest_entry *e = &table[(digest + i) & (slots - 1)];

		if (e->times == 0 || e->digest == digest)
			return e;
	}
	return &table[digest & (slots - 1)];
}

static void grow(struct latest *l)
{
	size_t slots = l->slots == 0 ? SLOTS_FIRST : 2 * l->slots;
	struct latest_entry *table = new_table(slots);

	for (size_t i = 0; i < l->slots; i++)
		if (l->young[i].times > 0)
			*slot_of(table, slots, l->young[i].digest) = l->young[i];
	free(l->young);
	l->young = table;
	l->slots = slots;
}

static void begin_younger(struct latest *l)
{
	struct latest_entry *forgotten = l->old;

	l->old = l->young;
	if (forgotten != NULL)
		memset(forgotten, 0, l->slots * sizeof *forgotten);
	l->young = forgotten != NULL ? forgotten : new_table(l->slots);
	l->young_count = 0;
}

static void make_room(struct latest *l)
{
	if (l->slots < SLOTS_MOST)
		grow(l);
	else
		begin_younger(l);
}

void latest_expect(const struct latest *l, uint64_t digest)
{
	const size_t at = digest & (l->slots - 1);

	if (l->young != NULL)
		__builtin_prefetch(&l->young[at], 1);
	if (l->old != NULL)
		__builtin_prefetch(&l->old[at]);
}

static uint64_t times_of_old(const struct latest *l, uint64_t digest)
{
	const struct latest_entry *e = l->old == NULL ? NULL : slot_of(l->old, l->slots, digest);

	return e != NULL && e->digest == digest ? e->times : 0;
}

uint64_t latest_times_before(struct latest *l, uint64_t digest)
{
	struct latest_entry *e;

	if (2 * l->young_count == l->slots)
		make_room(l);
	e = slot_of(l->young, l->slots, digest);
	if (e->times == 0 || e->digest != digest) {
		l->young_count += e->times == 0;
		*e = (struct latest_entry){ digest, times_of_old(l, digest) };
	}
	return e->times++;
}

void latest_clear(struct latest *l)
{
	/* A large table is made anew when there is use for it again: most inputs are small, and there may be many. */
	if (l->slots > SLOTS_FIRST)
		latest_fini(l);
	else if (l->young_count > 0)
		memset(l->young, 0, l->slots * sizeof *l->young);
	l->young_count = 0;
}

void latest_fini(struct latest *l)
{
	free(l->young);
	free(l->old);
	*l = (struct latest){ NULL, NULL, 0, 0 };
}
