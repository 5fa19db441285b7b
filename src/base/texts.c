/* SPDX-License-Identifier: MIT */

#include "base/texts.h"

#include <stdint.h>

#define TEXTS_PROBES 64	/* texts that were made to collide cost no more than so many looks */

/* The slot that holds text or may take it; NULL when there is none within reach. */
static struct sv *texts_slot(const struct texts *t, struct sv text)
{
	uint64_t at = sv_hash(SV_HASH, text);

	for (size_t i = 0; i < TEXTS_PROBES && i < t->size; i++) {
		struct sv *slot = &t->slots[(at + i) & (t->size - 1)];

		if (slot->p == NULL || sv_eq(*slot, text))
			return slot;
	}
	return NULL;
}

static void texts_grow(struct texts *t)
{
	struct texts old = *t;

	t->size = old.size == 0 ? 256 : 2 * old.size;
	t->slots = arena_array(t->scratch, t->size, sizeof *t->slots);
	for (size_t i = 0; i < old.size; i++) {
		struct sv *slot = old.slots[i].p == NULL ? NULL : texts_slot(t, old.slots[i]);

		if (slot != NULL)
			*slot = old.slots[i];
	}
}

void texts_init(struct texts *t, struct arena *arena, struct arena *scratch)
{
	*t = (struct texts){ .arena = arena, .scratch = scratch };
}

struct sv texts_keep(struct texts *t, struct sv text)
{
	struct sv *slot;

	if (sv_is_absent(text))
		return text;
	if (2 * (t->count + 1) > t->size)
		texts_grow(t);
	slot = texts_slot(t, text);
	if (slot == NULL)
		return arena_copy(t->arena, text);
	if (slot->p == NULL) {
		*slot = arena_copy(t->arena, text);
		t->count++;
	}
	return *slot;
}
