/* SPDX-License-Identifier: MIT */
/*
 * /proc/net/softnet_stat: one row per CPU that is online, hexadecimal, no
 * header, told apart by the number of its columns (kernel: net/core/net-procfs.c,
 * softnet_seq_show). The figures are of the whole machine, even when they are
 * read in a container.
 */

#include "input/counters/loop.h"

#define COLUMNS_MAX 15
#define NO_COLUMN (-1)

/* Indexes from 0, by the number of columns. */
static const struct layout {
	size_t columns;
	int flow_limit, cpu;
} layouts[] = {
	{ 10, NO_COLUMN, NO_COLUMN }, /* up to 3.10 */
	{ 11, 10, NO_COLUMN },
	{ 13, 10, 12 }, /* at or before 5.10 */
	{ 15, 10, 12 }, /* at or before 6.12 */
};
#define COLUMN_PROCESSED 0
#define COLUMN_DROPPED 1
#define COLUMN_TIME_SQUEEZE 2

static const struct layout *layout_of(size_t columns)
{
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (layouts[i].columns == columns)
			return &layouts[i];
	return NULL;
}

/* The number of words; their values as far as they are numbers of eight digits, *good of them. */
static size_t read_words(struct sv text, uint64_t values[COLUMNS_MAX], size_t *good)
{
	size_t n = 0;

	*good = 0;
	for (struct sv word = counter_word(&text); !sv_is_absent(word); word = counter_word(&text), n++)
		if (n < COLUMNS_MAX && *good == n && counter_is_hex8(word, &values[n]))
			(*good)++;
	return n;
}

enum loop_line softnet_take(struct loop_block *b, const struct line *line, const char **why)
{
	uint64_t values[COLUMNS_MAX];
	size_t good, n = read_words(line->text, values, &good);

	if (good < 2 || n > COLUMNS_MAX) {
		b->in_rows = false;
		return LOOP_LINE_OTHER;
	}
	const struct layout *layout = good == n ? layout_of(n) : NULL;
	if (layout == NULL || (b->rows > 0 && b->column_count != n)) {
		/* Without a CPU column the rows after it would be taken for other CPUs. */
		b->misnumbered = b->misnumbered || b->rows == 0 || b->by_order;
		*why = "a row of softnet_stat has 10, 11, 13 or 15 numbers of 8 hexadecimal digits, as many as its "
		       "neighbours";
		return LOOP_LINE_DAMAGED;
	}
	if (b->rows > 0 && !b->in_rows)
		return LOOP_LINE_AGAIN;
	if (b->rows == LOOP_ROWS_MAX) {
		b->misnumbered = true;
		*why = "more rows than a machine has CPUs";
		return LOOP_LINE_DAMAGED;
	}
	int64_t cpu = layout->cpu == NO_COLUMN ? (int64_t)b->rows : (int64_t)values[layout->cpu];
	/* The kernel lists CPUs in order. */
	if (b->count > 0 && cpu <= b->readings[b->count - 1].cpu)
		return LOOP_LINE_AGAIN;
	loop_add(b, SOFTNET_PROCESSED, cpu, values[COLUMN_PROCESSED], line);
	loop_add(b, SOFTNET_DROPPED, cpu, values[COLUMN_DROPPED], line);
	loop_add(b, SOFTNET_TIME_SQUEEZE, cpu, values[COLUMN_TIME_SQUEEZE], line);
	if (layout->flow_limit != NO_COLUMN)
		loop_add(b, SOFTNET_FLOW_LIMIT, cpu, values[layout->flow_limit], line);
	b->column_count = n;
	b->by_order = layout->cpu == NO_COLUMN;
	b->in_rows = true;
	b->rows++;
	return LOOP_LINE_TAKEN;
}
