/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_LOOP_H
#define AFTERSHOCK_INPUT_LOOP_H

/*
 * What counters_loop.c and the formats that people print in loops share: a line
 * with the time, then files of /proc or outputs of commands, round after round
 * (input-formats.md 1.14). A format knows the lines of one such file and takes
 * its counters out of them. A new one is one function and one row of
 * loop_formats[] in counters_loop.c.
 */

#include "input/counters/counters.h"

/* More rows than the kernel has CPUs (NR_CPUS, 8192): not a sample. */
#define LOOP_ROWS_MAX 8192

/* The readings of one format under one clock line, and where its lines stand. */
struct loop_block {
	struct counters *of; /* whose names are kept */
	struct arena *arena;
	struct sv section; /* what the heading above says: "/proc/pressure/cpu", "ethtool -S eth0"; absent: there is none */
	struct reading *readings;
	size_t count, capacity;
	size_t rows;
	struct place first; /* of the rows */
	bool by_order;	    /* a row's CPU is its place among the rows */
	bool misnumbered;   /* a row was lost where the order counts: no row can be trusted */
	bool damaged;	    /* some line of it could not be read */
	bool lacks_rows;    /* and what it said is not known to be the same as before */
	bool again;	    /* the line before was one that stood there already */
	const char *scope;  /* whose pressure it is, where the rows tell; NULL: they do not */
	bool self_timed;    /* its rows say when they were taken */
	bool is_growth;	    /* the values are what was added since the round before; what is left out has not grown */
	bool of_family[FAMILY_COUNT]; /* with is_growth: families of which something was printed, read or not */
	/* The last header. */
	size_t column_count;
	int column_of[COUNTER_COUNT]; /* -1: not in this header */
	const char *header_prefix;    /* of a header that waits for its values; NULL: none does */
	bool in_rows;		      /* the line before belongs to a table that goes on */
	bool passing_over;	      /* that table is not wanted */
	struct sv device;	      /* that the table speaks of; absent: none */
	void *state;		      /* the format's own, over all rounds; NULL until it makes one */
};

enum loop_line {
	LOOP_LINE_OTHER,   /* not of this format */
	LOOP_LINE_TAKEN,   /* header, row, or a row that is not wanted */
	LOOP_LINE_AGAIN,   /* would begin the same file a second time under one clock */
	LOOP_LINE_DAMAGED, /* of this format, but it cannot be read: it says *why */
};

struct loop_format {
	const char *name; /* in the input's format */
	enum loop_line (*take)(struct loop_block *b, const struct line *line, const char **why);
	/* At the end of a round, before the readings are taken: for what is no counter. NULL, or 0 and -1. */
	int (*close)(struct loop_block *b, struct ingest *in, const struct host_time *time);
	bool is_plain; /* nothing else looks like its rows: they tell what the input is, though none may be read */
};

int loop_read(struct counters *c, struct ingest *in);
/* Whether the text is a loop: how many of its lines are known. */
bool loop_sniff(struct sv head);

/* ---- times: counters_loop_clock.c ---- */

/* Whether the whole line is a time, and of what parts. */
bool loop_is_clock(struct sv text, struct tstamp *t);
/* "711.79 1402.55", as /proc/uptime has it: since the machine was started, and how long its CPUs were idle. */
bool loop_is_uptime(struct sv text, int64_t *us);
/* The row behind the longest time that stands in front of it; false when none does. */
bool loop_split_prefix(const struct line *line, struct tstamp *t, struct line *row);
/* "==> /proc/net/dev <==": what stands between the ornaments. */
struct sv loop_without_ornaments(struct sv text);

/* ---- helpers of the formats ---- */

void loop_add(struct loop_block *b, enum counter_id counter, int64_t cpu, uint64_t value, const struct line *line);
/* Of b->device. */
void loop_add_device(struct loop_block *b, enum counter_id counter, uint64_t value, const struct line *line);
bool loop_has(const struct loop_block *b, enum counter_id counter, struct sv device);
/* The header's words give the columns of the family's counters, by their column names. */
void loop_columns(struct loop_block *b, enum counter_family family, struct sv words);
/* The last part of the section as a path, and its directory; absent when there is none. */
struct sv loop_section_file(const struct loop_block *b);
struct sv loop_section_folder(const struct loop_block *b);
/* Whether printed values are increments, by the rounds in the head of an input of nstat. */
bool nstat_is_growth(struct sv head);

/* What a driver's counter of that name says; COUNTER_COUNT: nothing of interest. */
enum counter_id ethtool_counter(struct sv name);

/* The takers. */
enum loop_line softnet_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line conntrack_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line conntrack_table_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line snmp_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line netstat_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line netstat_s_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line nstat_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line net_dev_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line ip_link_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line ip_json_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line sysfs_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line ethtool_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line ss_take(struct loop_block *b, const struct line *line, const char **why);
int ss_close(struct loop_block *b, struct ingest *in, const struct host_time *time);
enum loop_line pressure_take(struct loop_block *b, const struct line *line, const char **why);
int pressure_close(struct loop_block *b, struct ingest *in, const struct host_time *time);
enum loop_line cpu_stat_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line exposition_take(struct loop_block *b, const struct line *line, const char **why);
enum loop_line tracking_take(struct loop_block *b, const struct line *line, const char **why);
int tracking_close(struct loop_block *b, struct ingest *in, const struct host_time *time);

#endif
