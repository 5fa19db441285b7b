/* SPDX-License-Identifier: MIT */
/* The walk over a table of rows. */

#include "input/capture/kafka_layout.h"

#define UUID_BYTES 16

struct walk {
	struct kafka_reader *reader;
	int version;
	struct kafka_facts *facts;
	const struct kafka_visitor *visitor;
};

static bool is_compound(const struct kafka_row *row)
{
	return row->type >= KAFKA_LIST;
}

/* The row after the end of the compound that starts here. */
static const struct kafka_row *after_compound(const struct kafka_row *row)
{
	for (row++; row->type != KAFKA_END;)
		row = is_compound(row) ? after_compound(row) : row + 1;
	return row + 1;
}

static inline const struct kafka_row *after(const struct kafka_row *row)
{
	return is_compound(row) ? after_compound(row) : row + 1;
}

static inline void set_number(struct walk *w, unsigned what, int64_t number)
{
	if (what == KAFKA_SKIP || w->reader->state != KAFKA_READ_FINE)
		return;
	w->facts->value[what].number = number;
	w->facts->set |= UINT64_C(1) << what;
}

static inline void set_text(struct walk *w, unsigned what, struct sv text)
{
	if (what == KAFKA_SKIP || sv_is_absent(text))
		return;
	w->facts->value[what].text = text;
	w->facts->set |= UINT64_C(1) << what;
}

static void read_value(struct walk *w, const struct kafka_row *row)
{
	static const unsigned bytes[] = { [KAFKA_I8] = 1, [KAFKA_I16] = 2, [KAFKA_I32] = 4, [KAFKA_I64] = 8 };
	const uint8_t *uuid;

	if (row->type <= KAFKA_I64) {
		set_number(w, row->what, kafka_read_int(w->reader, bytes[row->type]));
	} else if (row->type == KAFKA_UUID) {
		uuid = kafka_read_bytes(w->reader, UUID_BYTES);
		set_text(w, row->what, uuid == NULL ? SV_ABSENT : (struct sv){ (const char *)uuid, UUID_BYTES });
	} else {
		set_text(w, row->what, row->type == KAFKA_TEXT ? kafka_read_text(w->reader) : kafka_read_blob(w->reader));
	}
}

static void read_struct(struct walk *w, const struct kafka_row *row);

/* What the elements of an array tell. */
static uint64_t told_within(const struct kafka_row *array)
{
	const struct kafka_row *end = after(array);
	uint64_t set = 0;

	for (const struct kafka_row *row = array + 1; row < end; row++)
		set |= UINT64_C(1) << row->what;
	return set & ~(UINT64_C(1) << KAFKA_SKIP);
}

static void read_elements(struct walk *w, const struct kafka_row *row)
{
	size_t count = kafka_read_count(w->reader);
	struct kafka_facts outside;
	bool is_covered = false;

	outside.set = w->facts->set;
	if (count == 0)
		return;
	/* An element's fields may go by the same names. */
	if ((outside.set & told_within(row)) != 0) {
		outside = *w->facts;
		is_covered = true;
	}
	for (size_t i = 0; i < count && w->reader->state == KAFKA_READ_FINE; i++) {
		w->facts->set = outside.set;
		if (row->type == KAFKA_ARRAY)
			read_struct(w, row + 1);
		else
			read_value(w, row + 1);
		if (row->what != KAFKA_SKIP && w->reader->state == KAFKA_READ_FINE && w->visitor != NULL)
			w->visitor->each(w->visitor->context, row->what, w->facts);
	}
	if (is_covered)
		*w->facts = outside;
	w->facts->set = outside.set;
}

/* A null is -1, a struct 1, before its fields (Kafka's MessageDataGenerator). */
static void read_option(struct walk *w, const struct kafka_row *row)
{
	bool is_there = kafka_read_int(w->reader, 1) >= 0;

	set_number(w, row->what, is_there);
	if (is_there && w->reader->state == KAFKA_READ_FINE)
		read_struct(w, row + 1);
}

static void read_struct(struct walk *w, const struct kafka_row *row)
{
	for (; row->type > KAFKA_REST && w->reader->state == KAFKA_READ_FINE; row = after(row)) {
		if (w->version < row->from || w->version > row->to)
			continue;
		if (!is_compound(row))
			read_value(w, row);
		else if (row->type == KAFKA_OPTION)
			read_option(w, row);
		else if (row->type == KAFKA_STRUCT)
			read_struct(w, row + 1);
		else
			read_elements(w, row);
	}
	if (row->type != KAFKA_REST)
		kafka_read_tags(w->reader);
}

void kafka_layout_read(struct kafka_reader *r, const struct kafka_row *rows, int version, struct kafka_facts *facts,
		       const struct kafka_visitor *visitor)
{
	struct walk w = { r, version, facts, visitor };

	facts->set = 0;
	read_struct(&w, rows);
}
