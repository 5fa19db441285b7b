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

static struct speaker *find(const struct speakers *s, struct sv thread)
{
	for (size_t i = 0; i < s->count; i++) {
		if (sv_eq(s->items[i].thread, thread))
			return &s->items[i];
	}
	return NULL;
}

void speakers_learn(struct speakers *s, struct sv thread, const struct event *e)
{
	struct speaker *speaker = find(s, thread);

	if (speaker == NULL) {
		if (s->count == SPEAKER_THREADS_MAX)
			return;
		speaker = ARENA_PUSH(s->arena, s->items, s->count, s->capacity);
		speaker->thread = arena_copy(s->arena, thread);
	}
	for (size_t i = 0; i < FIELDS; i++) {
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
	const struct speaker *speaker = find(s, thread);

	for (size_t i = 0; speaker != NULL && i < FIELDS; i++) {
		if (!speaker->twice[i] && !event_has(e, fields[i]))
			event_set_text(e, fields[i], speaker->named[i]);
	}
}
