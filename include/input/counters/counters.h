/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_COUNTERS_H
#define AFTERSHOCK_INPUT_COUNTERS_H

/*
 * What counters.c and the families of counters share. A sampling loop writes a
 * line with the time and then raw files of /proc/net; a family knows the lines
 * of one such file and takes its counters out of them. A new family is one
 * counters_*.c and one row of families[] in counters.c.
 */

#include "input/kind.h"

struct counter {
	const char *name;	/* with its family: "softnet.dropped" */
	const char *column;	/* its name in the file's own header; NULL where the file has none */
	const char *reset_only; /* why it makes no event: it is watched for resets alone; NULL: it does */
	const char *why;	/* why it is read */
};

/* One value of one counter. */
struct reading {
	uint16_t counter; /* index in the family's counters */
	int64_t cpu;	  /* -1: not per CPU */
	uint64_t value;
	struct place place;
};

#define COUNTERS_PER_FAMILY_MAX 24
/* More rows than the kernel has CPUs (NR_CPUS, 8192): not a sample. */
#define COUNTER_ROWS_MAX 8192

/* The readings of one family under one clock line, and where its lines stand. */
struct counter_block {
	struct arena *arena;
	struct reading *readings;
	size_t count, capacity;
	size_t rows;
	bool by_order;	  /* a row's CPU is its place among the rows */
	bool misnumbered; /* a row was lost where the order counts: no row can be trusted */
	/* The last header. */
	size_t column_count;
	int column_of[COUNTERS_PER_FAMILY_MAX]; /* by counter; -1: not in this header */
	const char *header_prefix;		/* of a header that waits for its values; NULL: none does */
	bool in_rows;				/* the line before belongs to a table that goes on */
	bool passing_over;			/* that table is not wanted */
};

enum counter_line {
	COUNTER_LINE_OTHER,   /* not of this family */
	COUNTER_LINE_TAKEN,   /* header, row, or a row that is not wanted */
	COUNTER_LINE_AGAIN,   /* would begin the same file a second time under one clock */
	COUNTER_LINE_DAMAGED, /* of this family, but it cannot be read: it says *why */
};

struct counter_family {
	const char *name;   /* kind of evidence in coverage */
	const char *format; /* as the input's format */
	const struct counter *counters;
	size_t counter_count;
	bool wraps_at_32_bits;
	enum counter_line (*take)(struct counter_block *b, const struct line *line, const char **why);
};

extern const struct counter_family counters_softnet;   /* /proc/net/softnet_stat */
extern const struct counter_family counters_conntrack; /* /proc/net/stat/nf_conntrack, conntrack -S */
extern const struct counter_family counters_snmp;      /* /proc/net/snmp */
extern const struct counter_family counters_netstat;   /* /proc/net/netstat */

/* Helpers of the families. */
void counter_add(struct counter_block *b, size_t counter, int64_t cpu, uint64_t value, const struct line *line);
/* Words separated by spaces and tabs; absent at the end. */
struct sv counter_word(struct sv *rest);
/* Exactly eight hexadecimal digits. */
bool counter_is_hex8(struct sv word, uint64_t *value);
/* The header's words give the columns of the family's counters. */
void counter_columns(const struct counter_family *f, struct counter_block *b, struct sv words);

#endif
