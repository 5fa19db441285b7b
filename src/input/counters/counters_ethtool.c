/* SPDX-License-Identifier: MIT */
/*
 * "ethtool -S": names that each driver makes. Which of them speak of loss is
 * told by parts of the names (input-formats.md 1.5).
 */

#include "input/counters/loop.h"

/* Parts of the names, in lower case. Of "wait" the queue was stopped for a while, which a busy one is every day. */
static const struct part {
	struct sv text;
	enum counter_id counter;
} parts[] = {
	{ { "xdp", 3 }, COUNTER_COUNT }, /* a program dropped them on purpose */
	{ { "restart", 7 }, INTERFACE_DRIVER_WAIT },
	{ { "stall", 5 }, INTERFACE_DRIVER_WAIT },
	{ { "drop", 4 }, INTERFACE_DRIVER },
	{ { "miss", 4 }, INTERFACE_DRIVER },
	{ { "discard", 7 }, INTERFACE_DRIVER },
	{ { "no_buf", 6 }, INTERFACE_DRIVER },
	{ { "no_dma", 6 }, INTERFACE_DRIVER },
	{ { "out_of_buf", 10 }, INTERFACE_DRIVER },
	{ { "fifo", 4 }, INTERFACE_DRIVER },
	{ { "alloc_f", 7 }, INTERFACE_DRIVER },
	{ { "allocf", 6 }, INTERFACE_DRIVER },
	{ { "alloc_err", 9 }, INTERFACE_DRIVER },
	{ { "alloc_rx_buff_f", 15 }, INTERFACE_DRIVER },
	{ { "exceeded", 8 }, INTERFACE_DRIVER },
	{ { "timeout", 7 }, INTERFACE_DRIVER },
	{ { "link_down", 9 }, INTERFACE_DRIVER },
};

enum counter_id ethtool_counter(struct sv name)
{
	size_t at;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (sv_find(name, parts[i].text, &at))
			return parts[i].counter;
	return COUNTER_COUNT;
}

/* "ethtool -S eth0" or "eth0" in the heading above; absent when it names none. */
static struct sv device_of(const struct loop_block *b)
{
	struct sv rest = b->section, last = SV_ABSENT;

	for (struct sv word = counter_word(&rest); !sv_is_absent(word); word = counter_word(&rest))
		last = word;
	return sv_starts_with(last, SV("/")) ? SV_ABSENT : last;
}

/* The name of the driver's counter goes with the interface: there are as many as the driver likes. */
static enum loop_line add(struct loop_block *b, struct sv name, enum counter_id counter, uint64_t value,
			  const struct line *line)
{
	struct sv device = device_of(b);
	struct arena *a = arena_new();

	b->device = sv_is_absent(device) ? name : arena_printf(a, "%.*s %.*s", SV_ARG(device), SV_ARG(name));
	bool again = loop_has(b, counter, b->device);
	if (!again)
		loop_add_device(b, counter, value, line);
	b->device = SV_ABSENT;
	arena_free(a);
	return again ? LOOP_LINE_AGAIN : LOOP_LINE_TAKEN;
}

enum loop_line ethtool_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct sv number = line->text, name = sv_trim(sv_cut(&number, ':'));
	uint64_t value;

	(void)why;
	if (sv_eq(line->text, SV("NIC statistics:"))) {
		b->in_rows = true;
		return LOOP_LINE_TAKEN;
	}
	if (!b->in_rows || sv_is_absent(number) || !sv_to_u64(sv_trim(number), &value)) {
		b->in_rows = false;
		return LOOP_LINE_OTHER;
	}
	b->rows++;
	enum counter_id counter = ethtool_counter(name);
	return counter == COUNTER_COUNT ? LOOP_LINE_TAKEN : add(b, name, counter, value, line);
}
