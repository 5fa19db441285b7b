/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_LAYOUT_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_LAYOUT_H

/*
 * Layouts of messages as tables: one row for a field, with the versions that
 * have it. One walk reads them all.
 */

#include "input/capture/kafka_read.h"

/* What a field means to us. Texts are those at the end. */
enum kafka_what {
	KAFKA_SKIP,
	KAFKA_ERROR,
	KAFKA_GENERATION,	/* or member epoch */
	KAFKA_SESSION_MS,
	KAFKA_REBALANCE_MS,
	KAFKA_HEARTBEAT_MS,	/* interval that the broker gives (KIP-848) */
	KAFKA_MAX_WAIT_MS,
	KAFKA_KEY_TYPE,
	KAFKA_NODE,
	KAFKA_PORT,
	KAFKA_PARTITION,
	KAFKA_OFFSET,
	KAFKA_ACKS,
	KAFKA_HAS_ASSIGNMENT,	/* 1: a nullable struct is there */
	KAFKA_GROUP,
	KAFKA_MEMBER,
	KAFKA_INSTANCE,
	KAFKA_PROTOCOL_TYPE,
	KAFKA_PROTOCOL,
	KAFKA_LEADER,
	KAFKA_REASON,
	KAFKA_ERROR_TEXT,
	KAFKA_HOST,
	KAFKA_TOPIC,
	KAFKA_TOPIC_ID,		/* 16 bytes */
	KAFKA_METADATA,		/* of a member, to its assignor */
	KAFKA_ASSIGNMENT,
	KAFKA_SOFTWARE,
	KAFKA_SOFTWARE_VERSION,
	/* Arrays whose elements are told one by one. */
	KAFKA_EACH_MEMBER,
	KAFKA_EACH_TOPIC,
	KAFKA_EACH_PARTITION,
	KAFKA_EACH_COORDINATOR,
	KAFKA_WHAT_COUNT
};

enum kafka_type {
	KAFKA_END,	/* of a message, of a struct, of a list */
	KAFKA_REST,	/* of a message: what follows is not read */
	KAFKA_I8,
	KAFKA_I16,
	KAFKA_I32,
	KAFKA_I64,
	KAFKA_UUID,
	KAFKA_TEXT,
	KAFKA_BLOB,
	KAFKA_LIST,	/* of single values: one row, then the end */
	KAFKA_ARRAY,	/* of structs: rows, then the end */
	KAFKA_STRUCT,	/* rows, then the end */
	KAFKA_OPTION,	/* a struct or null: rows, then the end */
};

#define KAFKA_LATEST 127

struct kafka_row {
	uint8_t type, what;
	int8_t from, to;	/* versions that have it */
};

struct kafka_facts {
	uint64_t set;	/* bits 1 << what */
	union {
		int64_t number;
		struct sv text;
	} value[KAFKA_WHAT_COUNT];
};

static inline bool kafka_has(const struct kafka_facts *f, enum kafka_what what)
{
	return (f->set >> what & 1) != 0;
}

static inline int64_t kafka_number(const struct kafka_facts *f, enum kafka_what what, int64_t otherwise)
{
	return kafka_has(f, what) ? f->value[what].number : otherwise;
}

static inline struct sv kafka_text(const struct kafka_facts *f, enum kafka_what what)
{
	return kafka_has(f, what) ? f->value[what].text : SV_ABSENT;
}

/* Told of each element of an array that is told of (KAFKA_EACH_), after it was read whole. */
struct kafka_visitor {
	void (*each)(void *context, enum kafka_what array, const struct kafka_facts *facts);
	void *context;
};

/*
 * Reads a message (or what of it is at hand) of the version into facts. Texts
 * borrow from the frame. A field of an element is known during its element alone.
 */
void kafka_layout_read(struct kafka_reader *r, const struct kafka_row *rows, int version, struct kafka_facts *facts,
		       const struct kafka_visitor *visitor);

#endif
