/* SPDX-License-Identifier: MIT */
/*
 * /proc/net/snmp and /proc/net/netstat: pairs of lines with the same prefix,
 * names and then values. Names and their number differ by kernel, so columns
 * are found by name. The figures are those of the network namespace in which
 * they were read.
 */

#include "input/counters/loop.h"

#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])

static const char *const snmp_prefixes[] = { "Ip:", "Icmp:", "IcmpMsg:", "Tcp:", "Udp:", "UdpLite:" };
static const char *const netstat_prefixes[] = { "TcpExt:", "IpExt:", "MPTcpExt:" };

static const char *prefix_of(struct sv word, const char *const *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sv_eq(word, sv_of(prefixes[i])))
			return prefixes[i];
	return NULL;
}

static bool has_readings_of(const struct loop_block *b, struct sv prefix)
{
	for (size_t i = 0; i < b->count; i++)
		if (sv_starts_with(sv_of(counter_infos[b->readings[i].counter].column), prefix))
			return true;
	return false;
}

/* The columns of the counters with this prefix; those of others are not in this line. */
static enum loop_line take_names(struct loop_block *b, const char *prefix, struct sv names)
{
	struct sv p = sv_of(prefix);
	enum counter_id id;

	if (has_readings_of(b, p))
		return LOOP_LINE_AGAIN;
	b->header_prefix = prefix;
	b->column_count = 0;
	for (size_t i = 0; i < COUNTER_COUNT; i++)
		b->column_of[i] = -1;
	for (struct sv word = counter_word(&names); !sv_is_absent(word); word = counter_word(&names), b->column_count++)
		if (counter_by_column(sv_sub(p, 0, p.n - 1), word, &id))
			b->column_of[id] = (int)b->column_count;
	return LOOP_LINE_TAKEN;
}

static enum loop_line take_values(struct loop_block *b, const struct line *line, struct sv values, const char **why)
{
	size_t n = 0, before = b->count;
	bool good = true;
	uint64_t value;

	b->header_prefix = NULL;
	for (struct sv word = counter_word(&values); !sv_is_absent(word); word = counter_word(&values), n++)
		for (size_t i = 0; i < COUNTER_COUNT; i++) {
			if (b->column_of[i] != (int)n)
				continue;
			if (sv_to_u64(word, &value))
				loop_add(b, (enum counter_id)i, -1, value, line);
			else
				good = false;
		}
	if (good && n == b->column_count) {
		b->rows++;
		return LOOP_LINE_TAKEN;
	}
	b->count = before;
	*why = "a line of values has a number for each name in the line before it";
	return LOOP_LINE_DAMAGED;
}

static enum loop_line take(struct loop_block *b, const char *const *prefixes, size_t prefix_count,
			   const struct line *line, const char **why)
{
	struct sv rest = line->text;
	const char *prefix = prefix_of(counter_word(&rest), prefixes, prefix_count);

	if (prefix == NULL)
		return LOOP_LINE_OTHER;
	struct sv words = rest, first = counter_word(&words);
	if (sv_is_absent(first) || line->text.n > LINE_BYTES_MAX / 16) {
		*why = "names or values follow the prefix";
		return LOOP_LINE_DAMAGED;
	}
	if (first.p[0] != '-' && (first.p[0] < '0' || first.p[0] > '9'))
		return take_names(b, prefix, rest);
	if (b->header_prefix == prefix)
		return take_values(b, line, rest, why);
	/* The names were passed over because they came a second time. */
	if (has_readings_of(b, sv_of(prefix)))
		return LOOP_LINE_AGAIN;
	*why = "a line of values follows a line of names with the same prefix";
	return LOOP_LINE_DAMAGED;
}

enum loop_line snmp_take(struct loop_block *b, const struct line *line, const char **why)
{
	return take(b, snmp_prefixes, COUNT_OF(snmp_prefixes), line, why);
}

enum loop_line netstat_take(struct loop_block *b, const struct line *line, const char **why)
{
	return take(b, netstat_prefixes, COUNT_OF(netstat_prefixes), line, why);
}
