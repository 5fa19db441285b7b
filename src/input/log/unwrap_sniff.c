/* SPDX-License-Identifier: MIT */
/* Whether lines are those of a log, by their times. See input/log/unwrap.h. */

#include "input/log/unwrap.h"

static bool has_time(const struct rules *r, struct sv line, struct wrap_memory *m, int *hint)
{
	struct log_record record;
	struct wrap_layer layer;
	bool timed = false;

	for (unsigned layers = 0; layers < WRAP_LAYERS_MAX && wrap_peel(line, m, &layer); layers++) {
		timed = timed || layer.has_time;
		line = layer.text;
	}
	if (timed)
		return true;
	return rules_layout(r, line, (struct zone){ 0 }, hint, m->record, &record) &&
	       (record.has_time || (record.has_written && record.written.lacks != TSTAMP_LACKS_NOTHING));
}

/* Of those lines, as far as most of them. */
static size_t count_timed(const struct rules *r, struct sv head, size_t lines, size_t most)
{
	struct wrap_memory memory = { .input = arena_new(), .record = arena_new() };
	int hint = -1;
	size_t found = 0;

	for (size_t i = 0; i < lines && found < most && !sv_is_absent(head); i++) {
		struct sv line = sv_cut(&head, '\n');

		if (sv_ends_with(line, SV("\r")))
			line.n--;
		arena_reset(memory.record);
		found += has_time(r, line, &memory, &hint);
	}
	arena_free(memory.input);
	arena_free(memory.record);
	return found;
}

bool unwrap_is_log(const struct rules *r, struct sv head, size_t lines)
{
	return count_timed(r, head, lines, 1) > 0;
}

size_t unwrap_count_log(const struct rules *r, struct sv head, size_t lines)
{
	return count_timed(r, head, lines, lines);
}
