/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_TABLE_SNAPSHOT_ROW_H
#define AFTERSHOCK_INPUT_TABLE_SNAPSHOT_ROW_H

/*
 * Lines of kafka-consumer-groups as values. Releases 0.9 to 4.x have nine
 * shapes of the offsets' table, six of the members' and four of the states'
 * (input-formats.md 2.1, 2.2): columns are found by the header's words, never
 * by position, and what has no fixed number of words by what it looks like.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/sv.h"

#define SNAPSHOT_COLUMNS_MAX 24

enum snapshot_column {
	COLUMN_GROUP,
	COLUMN_TOPIC,
	COLUMN_PARTITION,
	COLUMN_COMMITTED,
	COLUMN_END,
	COLUMN_MEMBER,
	COLUMN_INSTANCE,
	COLUMN_HOST,
	COLUMN_CLIENT,
	COLUMN_OWNER,
	COLUMN_PARTITION_COUNT,
	COLUMN_ASSIGNMENT,
	COLUMN_COORDINATOR,
	COLUMN_STRATEGY,
	COLUMN_STATE,
	COLUMN_EPOCH,
	COLUMN_MEMBER_COUNT,
	COLUMN_OTHER,
};

/* Which table a header begins. */
enum snapshot_table {
	TABLE_NONE,
	TABLE_OFFSETS,
	TABLE_MEMBERS,
	TABLE_STATES,
};

struct snapshot_shape {
	bool commas;		/* 0.9 */
	enum snapshot_column columns[SNAPSHOT_COLUMNS_MAX];
	size_t count;
	size_t plain;		/* so many columns come before the first that is about the member */
	size_t instance_at;	/* where in the line the words of the header begin that stand above what may be blank */
};

/* Absent where the table has no such column, and for "-" and its older words. */
struct snapshot_values {
	struct sv of[COLUMN_OTHER];
};

enum snapshot_table snapshot_header(struct sv line, struct snapshot_shape *out);
bool snapshot_has(const struct snapshot_shape *s, enum snapshot_column c);
/* The values of a row, as views into it. False when the line does not fit the header. */
bool snapshot_split(enum snapshot_table table, const struct snapshot_shape *s, struct sv line, struct snapshot_values *out);

#endif
