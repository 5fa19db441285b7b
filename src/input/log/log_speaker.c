/* SPDX-License-Identifier: MIT */
/* Who speaks on each thread of a log. See input/log/log.h. */

#include "input/log/log.h"

#define FIELDS 3
static const enum event_field fields[FIELDS] = { FIELD_GROUP, FIELD_CLIENT, FIELD_INSTANCE };

struct speaker {
	struct sv thread;	/* absent in layouts that have none: then all of the log is one */
	struct sv named[FIELDS];
	bool twice[FIELDS];	/* named in two ways */
};

/* What tells who speaks. */
#define NAMES (FIELD_BIT(FIELD_GROUP) | FIELD_BIT(FIELD_CLIENT) | FIELD_BIT(FIELD_INSTANCE) | FIELD_BIT(FIELD_MEMBER))

/* Twice as many as there may be threads: each holds the number of one, counted from 1. */
#define SLOTS ((size_t)2 * SPEAKER_THREADS_MAX)

static size_t slot_of(struct sv thread)
{
	uint64_t h = sv_hash(SV_HASH, thread);

	return (size_t)(h ^ h >> 32) % SLOTS;
}

/* The slot that holds the thread's, or that it may take: there is one. */
static uint16_t *find(const struct speakers *s, struct sv thread)
{
	size_t at = slot_of(thread);

	while (s->slots[at] != 0 && !sv_eq(s->items[s->slots[at] - 1].thread, thread))
		at = (at + 1) % SLOTS;
	return &s->slots[at];
}

/* NULL when there are too many. */
static struct speaker *speaker_of(struct speakers *s, struct sv thread)
{
	uint16_t *slot;
	struct speaker *speaker;

	if (s->slots == NULL)
		s->slots = arena_array(s->arena, SLOTS, sizeof *s->slots);
	slot = find(s, thread);
	if (*slot != 0)
		return &s->items[*slot - 1];
	if (s->count == SPEAKER_THREADS_MAX)
		return NULL;
	speaker = ARENA_PUSH(s->arena, s->items, s->count, s->capacity);
	speaker->thread = arena_copy(s->arena, thread);
	*slot = (uint16_t)s->count;
	return speaker;
}

void speakers_learn(struct speakers *s, struct sv thread, const struct event *e)
{
	struct speaker *speaker = (e->set & NAMES) != 0 ? speaker_of(s, thread) : NULL;

	for (size_t i = 0; speaker != NULL && i < FIELDS; i++) {
		struct sv text = fields[i] == FIELD_CLIENT ? event_client(e) : event_text(e, fields[i]);

		if (sv_is_absent(text))
			continue;
		if (sv_is_absent(speaker->named[i]))
			speaker->named[i] = arena_copy(s->arena, text);
		else if (!sv_eq(speaker->named[i], text))
			speaker->twice[i] = true;
	}
}

void speakers_tell(const struct speakers *s, struct sv thread, struct event *e)
{
	const uint16_t *slot = s->slots != NULL ? find(s, thread) : NULL;
	const struct speaker *speaker = slot != NULL && *slot != 0 ? &s->items[*slot - 1] : NULL;

	for (size_t i = 0; speaker != NULL && i < FIELDS; i++) {
		if (!speaker->twice[i] && !event_has(e, fields[i]))
			event_set_text(e, fields[i], speaker->named[i]);
	}
}
