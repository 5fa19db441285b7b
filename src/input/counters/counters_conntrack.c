/* SPDX-License-Identifier: MIT */
/*
 * Connection tracking: /proc/net/stat/nf_conntrack (a header that differs by
 * kernel, then one hexadecimal row per possible CPU), and the same figures as
 * "conntrack -S" prints them (name=value pairs, decimal). Where a loop writes
 * both, the first stands for both. The column "entries" is a gauge, not a
 * counter.
 */

#include "input/counters/counters.h"

enum { INSERT_FAILED, DROP, EARLY_DROP, CHAIN_TOO_LONG };

static const struct counter counters[] = {
	[INSERT_FAILED] = { "conntrack.insert_failed", "insert_failed", NULL,
			    "a new entry clashed and its packet was lost" },
	[DROP] = { "conntrack.drop", "drop", NULL, "no entry could be made: table full" },
	[EARLY_DROP] = { "conntrack.early_drop", "early_drop", NULL, "an entry was thrown out to make room" },
	[CHAIN_TOO_LONG] = { "conntrack.chaintoolong", "chainlength", NULL, "refused: its hash chain was too long" },
};

#define COUNT (sizeof counters / sizeof counters[0])
/* Columns of the widest header and some more. */
#define COLUMNS_MAX 32

static enum counter_line take_header(struct counter_block *b, struct sv words)
{
	b->in_rows = true;
	b->passing_over = b->rows > 0;
	if (b->passing_over)
		return b->by_order ? COUNTER_LINE_AGAIN : COUNTER_LINE_TAKEN;
	counter_columns(&counters_conntrack, b, words);
	b->by_order = true;
	return COUNTER_LINE_TAKEN;
}

static enum counter_line take_hex_row(struct counter_block *b, const struct line *line, const char **why)
{
	uint64_t values[COLUMNS_MAX];
	struct sv rest = line->text;
	size_t n = 0;

	struct sv word = counter_word(&rest);
	for (; n < COLUMNS_MAX && counter_is_hex8(word, &values[n]); word = counter_word(&rest))
		n++;
	if (n != b->column_count || !sv_is_absent(word) || b->rows == COUNTER_ROWS_MAX) {
		b->misnumbered = true;
		*why = "a row of nf_conntrack has as many numbers of 8 hexadecimal digits as its header has names";
		return COUNTER_LINE_DAMAGED;
	}
	for (size_t i = 0; i < COUNT; i++)
		if (b->column_of[i] >= 0)
			counter_add(b, i, (int64_t)b->rows, values[b->column_of[i]], line);
	b->rows++;
	return COUNTER_LINE_TAKEN;
}

/* conntrack -S calls chainlength by another name. */
static bool is_counter(size_t i, struct sv name)
{
	return sv_eq(name, sv_of(counters[i].column)) || (i == CHAIN_TOO_LONG && sv_eq(name, SV("chaintoolong")));
}

static enum counter_line take_pairs(struct counter_block *b, const struct line *line, struct sv cpu_text,
				    struct sv rest, const char **why)
{
	int64_t cpu;
	uint64_t value;

	if (b->by_order)
		return COUNTER_LINE_TAKEN;
	if (b->rows > 0 && !b->in_rows)
		return COUNTER_LINE_AGAIN;
	*why = "a row of conntrack -S is name=value pairs";
	if (!sv_to_i64(cpu_text, &cpu) || cpu < 0 || b->rows == COUNTER_ROWS_MAX)
		return COUNTER_LINE_DAMAGED;
	for (struct sv word = counter_word(&rest); !sv_is_absent(word); word = counter_word(&rest)) {
		struct sv number = word, name = sv_cut(&number, '=');

		if (!sv_to_u64(number, &value))
			return COUNTER_LINE_DAMAGED;
		for (size_t i = 0; i < COUNT; i++)
			if (is_counter(i, name))
				counter_add(b, i, cpu, value, line);
	}
	b->in_rows = true;
	b->rows++;
	return COUNTER_LINE_TAKEN;
}

static enum counter_line take(struct counter_block *b, const struct line *line, const char **why)
{
	struct sv rest = line->text, first = counter_word(&rest);
	uint64_t value;

	if (sv_eq(first, SV("entries")))
		return take_header(b, line->text);
	if (sv_starts_with(first, SV("cpu=")))
		return take_pairs(b, line, sv_sub(first, 4, first.n), rest, why);
	if (b->in_rows && b->passing_over && counter_is_hex8(first, &value))
		return COUNTER_LINE_TAKEN;
	if (b->in_rows && b->by_order && counter_is_hex8(first, &value))
		return take_hex_row(b, line, why);
	b->in_rows = false;
	return COUNTER_LINE_OTHER;
}

const struct counter_family counters_conntrack = {
	.name = "conntrack",
	.format = "nf_conntrack",
	.counters = counters,
	.counter_count = COUNT,
	.wraps_at_32_bits = true,
	.take = take,
};
