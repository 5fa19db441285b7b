/* SPDX-License-Identifier: MIT */
/* Events that were loaded, each once. See store/shelf.h. */

#include "store/shelf.h"

struct shelf *shelf_new(struct arena *a)
{
	struct arena *scratch = arena_new();
	struct shelf *s = arena_alloc(scratch, sizeof *s);

	s->arena = a != NULL ? a : scratch;
	s->scratch = scratch;
	texts_init(&s->texts, s->arena, scratch);
	return s;
}

void shelf_free(struct shelf *s)
{
	if (s != NULL)
		arena_free(s->scratch);
}

const struct event *shelf_put(struct shelf *s, const struct event *e)
{
	struct event kept;

	event_copy(&kept, e);
	kept.host = texts_keep(&s->texts, e->host);
	kept.text = arena_copy(s->arena, e->text);
	for (field_set set = e->set; set != 0;) {
		enum event_field f = field_take(&set);

		if (field_infos[f].type == FIELD_TEXT)
			kept.value[f].text = texts_keep(&s->texts, kept.value[f].text);
	}
	return event_compact(&kept, s->arena);
}
