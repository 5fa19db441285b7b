/* SPDX-License-Identifier: MIT */
/* What the formats of loops have in common: readings of a block, columns of a header, parts of a heading. */

#include "input/counters/loop.h"

void loop_add(struct loop_block *b, enum counter_id counter, int64_t cpu, uint64_t value, const struct line *line)
{
	*ARENA_PUSH(b->arena, b->readings, b->count, b->capacity) =
		(struct reading){ .counter = counter, .cpu = cpu, .value = value, .place = counter_place(line) };
}

void loop_add_device(struct loop_block *b, enum counter_id counter, uint64_t value, const struct line *line)
{
	struct sv device = counters_name(b->of, b->device);

	/* There were too many: what it is about is not known. */
	if (sv_is_absent(device) && !sv_is_absent(b->device))
		return;
	loop_add(b, counter, -1, value, line);
	b->readings[b->count - 1].device = device;
}

bool loop_has(const struct loop_block *b, enum counter_id counter, struct sv device)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->readings[i].counter == counter && sv_eq(b->readings[i].device, device))
			return true;
	return false;
}

void loop_columns(struct loop_block *b, enum counter_family family, struct sv words)
{
	b->column_count = 0;
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		b->column_of[i] = -1;
	for (struct sv word = counter_word(&words); !sv_is_absent(word); word = counter_word(&words), b->column_count++)
		for (size_t i = 0; i < COUNTER_COUNT; i++)
			if (counter_infos[i].family == family && sv_eq(word, sv_of(counter_infos[i].column)))
				b->column_of[i] = (int)b->column_count;
}

struct sv loop_section_file(const struct loop_block *b)
{
	size_t slash;

	return sv_rfind_char(b->section, '/', &slash) ? sv_sub(b->section, slash + 1, b->section.n) : b->section;
}

struct sv loop_section_folder(const struct loop_block *b)
{
	size_t slash;

	return sv_rfind_char(b->section, '/', &slash) && slash > 0 ? sv_sub(b->section, 0, slash) : SV_ABSENT;
}
