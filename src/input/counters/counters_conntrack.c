/* SPDX-License-Identifier: MIT */
/*
 * Connection tracking: /proc/net/stat/nf_conntrack (a header that differs by
 * kernel, then one hexadecimal row per possible CPU), and the same figures as
 * "conntrack -S" prints them (name=value pairs, decimal). Where a loop writes
 * both, the first stands for both. The column "entries" is a gauge, not a
 * counter.
 */

#include "input/counters/loop.h"

static const enum counter_id columns[] = { CONNTRACK_INSERT_FAILED, CONNTRACK_DROP, CONNTRACK_EARLY_DROP,
					   CONNTRACK_CHAIN_TOO_LONG };
#define COUNT (sizeof columns / sizeof columns[0])
/* Columns of the widest header and some more. */
#define COLUMNS_MAX 32

static enum loop_line take_header(struct loop_block *b, struct sv words)
{
	b->in_rows = true;
	b->passing_over = b->rows > 0;
	if (b->passing_over)
		return b->by_order ? LOOP_LINE_AGAIN : LOOP_LINE_TAKEN;
	loop_columns(b, FAMILY_CONNTRACK, words);
	b->by_order = true;
	return LOOP_LINE_TAKEN;
}

static enum loop_line take_hex_row(struct loop_block *b, const struct line *line, const char **why)
{
	uint64_t values[COLUMNS_MAX];
	struct sv rest = line->text;
	size_t n = 0;

	struct sv word = counter_word(&rest);
	for (; n < COLUMNS_MAX && counter_is_hex8(word, &values[n]); word = counter_word(&rest))
		n++;
	if (n != b->column_count || !sv_is_absent(word) || b->rows == LOOP_ROWS_MAX) {
		b->misnumbered = true;
		*why = "a row of nf_conntrack has as many numbers of 8 hexadecimal digits as its header has names";
		return LOOP_LINE_DAMAGED;
	}
	for (size_t i = 0; i < COUNT; i++)
		if (b->column_of[columns[i]] >= 0)
			loop_add(b, columns[i], (int64_t)b->rows, values[b->column_of[columns[i]]], line);
	b->rows++;
	return LOOP_LINE_TAKEN;
}

/* conntrack -S calls chainlength by another name. */
static bool is_counter(size_t i, struct sv name)
{
	return sv_eq(name, sv_of(counter_infos[columns[i]].column)) ||
	       (columns[i] == CONNTRACK_CHAIN_TOO_LONG && sv_eq(name, SV("chaintoolong")));
}

static enum loop_line take_pairs(struct loop_block *b, const struct line *line, struct sv cpu_text,
				    struct sv rest, const char **why)
{
	int64_t cpu;
	uint64_t value;

	if (b->by_order)
		return LOOP_LINE_TAKEN;
	if (b->rows > 0 && !b->in_rows)
		return LOOP_LINE_AGAIN;
	*why = "a row of conntrack -S is name=value pairs";
	if (!sv_to_i64(cpu_text, &cpu) || cpu < 0 || b->rows == LOOP_ROWS_MAX)
		return LOOP_LINE_DAMAGED;
	for (struct sv word = counter_word(&rest); !sv_is_absent(word); word = counter_word(&rest)) {
		struct sv number = word, name = sv_cut(&number, '=');

		if (!sv_to_u64(number, &value))
			return LOOP_LINE_DAMAGED;
		for (size_t i = 0; i < COUNT; i++)
			if (is_counter(i, name))
				loop_add(b, columns[i], cpu, value, line);
	}
	b->in_rows = true;
	b->rows++;
	return LOOP_LINE_TAKEN;
}

enum loop_line conntrack_take(struct loop_block *b, const struct line *line, const char **why)
{
	struct sv rest = line->text, first = counter_word(&rest);
	uint64_t value;

	if (sv_eq(first, SV("entries")))
		return take_header(b, line->text);
	if (sv_starts_with(first, SV("cpu=")))
		return take_pairs(b, line, sv_sub(first, 4, first.n), rest, why);
	if (b->in_rows && b->passing_over && counter_is_hex8(first, &value))
		return LOOP_LINE_TAKEN;
	if (b->in_rows && b->by_order && counter_is_hex8(first, &value))
		return take_hex_row(b, line, why);
	b->in_rows = false;
	return LOOP_LINE_OTHER;
}

/* ---- how full the table is ---- */

/* "8 262144", as scripts print count and limit: two bare numbers, believed when the table below has as many entries. */
struct pair {
	bool waits;
	uint64_t count, limit;
	struct line line;
};

static void add_gauge(struct loop_block *b, enum counter_id gauge, uint64_t value, const struct line *line)
{
	loop_add(b, gauge, -1, value, line);
	b->rows++;
}

/* The number behind "nf_conntrack_count" or "nf_conntrack_max", as sysctl or a script prints it. */
static bool is_named(struct sv text, enum counter_id *gauge, uint64_t *value)
{
	static const struct {
		struct sv name;
		enum counter_id gauge;
	} names[] = {
		{ { "nf_conntrack_count", 18 }, CONNTRACK_ENTRIES },
		{ { "nf_conntrack_max", 16 }, CONNTRACK_LIMIT },
		{ { "ip_conntrack_count", 18 }, CONNTRACK_ENTRIES },
		{ { "ip_conntrack_max", 16 }, CONNTRACK_LIMIT },
	};
	size_t at;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!sv_find(text, names[i].name, &at))
			continue;
		struct sv rest = sv_trim(sv_sub(text, at + names[i].name.n, text.n));
		while (rest.n > 0 && (rest.p[0] == '=' || rest.p[0] == ':' || rest.p[0] == ' '))
			rest = sv_sub(rest, 1, rest.n);
		*gauge = names[i].gauge;
		return sv_to_u64(rest, value);
	}
	return false;
}

/* A bare number below the heading "==> /proc/sys/net/netfilter/nf_conntrack_count <==". */
static bool is_below_heading(const struct loop_block *b, struct sv text, enum counter_id *gauge, uint64_t *value)
{
	struct sv file = loop_section_file(b);
	bool count = sv_ends_with(file, SV("_conntrack_count")), limit = sv_ends_with(file, SV("_conntrack_max"));

	*gauge = count ? CONNTRACK_ENTRIES : CONNTRACK_LIMIT;
	return (count || limit) && sv_to_u64(text, value);
}

static bool is_pair(struct sv text, struct pair *p)
{
	struct sv rest = text, count = counter_word(&rest), limit = counter_word(&rest);

	return sv_is_absent(counter_word(&rest)) && count.n < 8 && sv_to_u64(count, &p->count) &&
	       sv_to_u64(limit, &p->limit);
}

static void settle_pair(struct loop_block *b, struct pair *p, struct sv text)
{
	uint64_t entries;

	if (sv_starts_with(text, SV("entries ")))
		return;
	p->waits = false;
	if (!counter_is_hex8(counter_word(&text), &entries) || entries != p->count)
		return;
	add_gauge(b, CONNTRACK_ENTRIES, p->count, &p->line);
	add_gauge(b, CONNTRACK_LIMIT, p->limit, &p->line);
}

enum loop_line conntrack_table_take(struct loop_block *b, const struct line *line, const char **why)
{
	enum counter_id gauge;
	uint64_t value;

	(void)why;
	if (b->state == NULL)
		b->state = arena_alloc(b->arena, sizeof(struct pair));
	struct pair *p = b->state;
	if (p->waits)
		settle_pair(b, p, line->text);
	if (is_below_heading(b, line->text, &gauge, &value) || is_named(line->text, &gauge, &value)) {
		if (loop_has(b, gauge, SV_ABSENT))
			return LOOP_LINE_AGAIN;
		add_gauge(b, gauge, value, line);
		return LOOP_LINE_TAKEN;
	}
	if (!is_pair(line->text, p))
		return LOOP_LINE_OTHER;
	p->waits = !loop_has(b, CONNTRACK_ENTRIES, SV_ABSENT);
	p->line = *line;
	return LOOP_LINE_TAKEN;
}
