/* SPDX-License-Identifier: MIT */
/*
 * kafka-consumer-groups --describe, also with --members or --state, in a
 * sampling loop: a clock line, then what the tool printed, over and over. The
 * clock is when the tool was started. Its tables: snapshot_row.c.
 */

#include "input/kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "input/table/snapshot_row.h"

#define SNIFF_LINES 400
/* A gap of more than so many median intervals is not covered (method.md 1). */
#define GAP_INTERVALS 3

/* What the lines since the last clock have said. */
struct block {
	bool has_time;
	struct host_time time;
	bool answered;		/* the tool said something in it */
	struct sv group;	/* named by a message; of the block's arena */
	const char *state;	/* of that group, as the message says; NULL when none */
};

struct snapshot {
	struct ingest *in;
	struct arena *names;	/* of the block */
	struct snapshot_shape shape;
	enum snapshot_table table;
	struct block block;
	int64_t *times;		/* of blocks with an answer */
	size_t time_count, time_capacity;
	/* Lines where rows stand that are none: how many, and the first. */
	uint64_t torn;
	struct place first_torn;
};

/* ---- the clock ---- */

static bool is_digits(struct sv s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* A time alone on its line, or after a label that ends with a colon and a blank. */
static bool read_clock(const struct ingest *in, struct sv line, struct host_time *out, bool *zoned)
{
	size_t label;

	line = sv_trim(line);
	while (sv_starts_with(line, SV("#")) || sv_starts_with(line, SV("=")) || sv_starts_with(line, SV("-")))
		line = sv_trim(sv_sub(line, 1, line.n));
	while (sv_ends_with(line, SV("#")) || sv_ends_with(line, SV("=")) || sv_ends_with(line, SV("-")))
		line = sv_trim(sv_sub(line, 0, line.n - 1));
	if (line.n < 8 || (is_digits(line) && line.n < 10))
		return false;
	if (tstamp_guess(line, in->zone, out, zoned))
		return true;
	return sv_find(line, SV(": "), &label) && label < 32 &&
	       tstamp_guess(sv_trim(sv_sub(line, label + 2, line.n)), in->zone, out, zoned);
}

static int end_block(struct snapshot *s)
{
	if (s->block.has_time && s->block.answered)
		*ARENA_PUSH(s->in->input, s->times, s->time_count, s->time_capacity) = s->block.time.us;
	s->block = (struct block){ .has_time = false };
	s->table = TABLE_NONE;
	arena_reset(s->names);
	return 0;
}

/* ---- what the tool says besides tables ---- */

/* "Consumer group 'g' is rebalancing." and its older and newer relatives. */
static bool read_message(struct snapshot *s, struct sv line)
{
	size_t at;
	struct sv rest, group;

	if (!sv_find(line, SV("Consumer group "), &at) || at > 16)
		return false;
	rest = sv_sub(line, at + SV("Consumer group ").n, line.n);
	if (rest.n < 2 || (rest.p[0] != '\'' && rest.p[0] != '`'))
		return false;
	at = 1;
	while (at < rest.n && rest.p[at] != rest.p[0])
		at++;
	group = sv_sub(rest, 1, at - 1);
	rest = sv_sub(rest, at + 1, rest.n);
	s->block.group = arena_copy(s->names, group);
	s->block.state = sv_starts_with(rest, SV(" is rebalancing"))	       ? "rebalancing"
			 : sv_starts_with(rest, SV(" has no active members")) ? "empty"
									       : NULL;
	s->block.answered = true;
	return true;
}

/* ---- rows ---- */

/* False when a value is neither a number nor unknown: the line is no row. */
static bool set_number(struct event *e, enum event_field f, struct sv value)
{
	int64_t number;

	if (sv_is_absent(value))
		return true;
	if (!sv_to_i64(value, &number) || number < 0)
		return false;
	event_set_int(e, f, number);
	return true;
}

/* "/192.0.2.11" and "pod-7/192.0.2.11": the address. */
static void set_peer(struct event *e, struct sv host)
{
	size_t slash;

	event_set_text(e, FIELD_PEER, sv_find_char(host, '/', &slash) ? sv_sub(host, slash + 1, host.n) : host);
}

static struct place place_of(const struct line *line)
{
	return (struct place){ .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset };
}

static void skip(struct snapshot *s, const struct line *line, const char *code, const char *why)
{
	struct place place = place_of(line);

	s->in->info->skipped++;
	diag_add(s->in->diag, SEVERITY_WARNING, code, &place, "row left out: %s", why);
}

static void note_torn(const struct snapshot *s)
{
	if (s->torn > 0)
		diag_add(s->in->diag, SEVERITY_NOTE, "snapshot.no_row", &s->first_torn,
			 s->torn == 1 ? "%" PRIu64 " line among the rows is none: a cut one, or another program's"
				      : "%" PRIu64 " lines among the rows are none: cut ones, or another program's; the first of them", s->torn);
}

/* ---- what a row of each table says ---- */

static bool fill_offsets(const struct snapshot_values *v, struct event *e)
{
	event_init(e, EVENT_PARTITION_STATE);
	event_set_text(e, FIELD_TOPIC, v->of[COLUMN_TOPIC]);
	event_set_text(e, FIELD_MEMBER, v->of[COLUMN_MEMBER]);
	event_set_text(e, FIELD_CLIENT, v->of[COLUMN_CLIENT]);
	set_peer(e, v->of[COLUMN_HOST]);
	return set_number(e, FIELD_PARTITION, v->of[COLUMN_PARTITION]) &&
	       set_number(e, FIELD_OFFSET, v->of[COLUMN_COMMITTED]) &&
	       set_number(e, FIELD_END_OFFSET, v->of[COLUMN_END]);
}

static bool fill_members(const struct snapshot_values *v, struct event *e)
{
	struct sv partitions = v->of[COLUMN_ASSIGNMENT];

	event_init(e, EVENT_MEMBER_STATE);
	event_set_text(e, FIELD_MEMBER, v->of[COLUMN_MEMBER]);
	event_set_text(e, FIELD_INSTANCE, v->of[COLUMN_INSTANCE]);
	event_set_text(e, FIELD_CLIENT, v->of[COLUMN_CLIENT]);
	event_set_text(e, FIELD_PARTITIONS, sv_is_absent(partitions) ? v->of[COLUMN_PARTITION_COUNT] : partitions);
	set_peer(e, v->of[COLUMN_HOST]);
	return event_has(e, FIELD_MEMBER);
}

static bool fill_states(const struct snapshot_values *v, struct event *e)
{
	event_init(e, EVENT_GROUP_STATE);
	event_set_text(e, FIELD_NODE, v->of[COLUMN_COORDINATOR]);
	event_set_text(e, FIELD_PROTOCOL, v->of[COLUMN_STRATEGY]);
	event_set_text(e, FIELD_STATE, v->of[COLUMN_STATE]);
	return set_number(e, FIELD_MEMBERS, v->of[COLUMN_MEMBER_COUNT]) &&
	       set_number(e, FIELD_GENERATION, v->of[COLUMN_EPOCH]) && event_has(e, FIELD_STATE);
}

static bool (*const fills[])(const struct snapshot_values *v, struct event *e) = {
	[TABLE_OFFSETS] = fill_offsets,
	[TABLE_MEMBERS] = fill_members,
	[TABLE_STATES] = fill_states,
};

/* ---- rows ---- */

/*
 * Words of a line that stands where a row would, but is none: something else
 * wrote between. A row of the offsets has a number, one of the others an
 * address.
 */
static bool is_row(enum snapshot_table table, const struct snapshot_values *v, bool whole)
{
	int64_t partition;

	if (table == TABLE_OFFSETS)
		return !whole || sv_is_absent(v->of[COLUMN_PARTITION]) ||
		       sv_to_i64(v->of[COLUMN_PARTITION], &partition);
	return whole || !sv_is_absent(v->of[COLUMN_HOST]) || !sv_is_absent(v->of[COLUMN_COORDINATOR]);
}

/* What the block says of a group that the row does not name, or of its state. */
static void fill_by_block(const struct snapshot *s, const struct snapshot_values *v, struct event *e)
{
	event_set_text(e, FIELD_GROUP, snapshot_has(&s->shape, COLUMN_GROUP) ? v->of[COLUMN_GROUP] : s->block.group);
	if (s->block.state != NULL && !event_has(e, FIELD_STATE) && sv_eq(event_text(e, FIELD_GROUP), s->block.group))
		event_set_text(e, FIELD_STATE, sv_of(s->block.state));
}

/* 0, -1 when the sink failed. */
static int read_row(struct snapshot *s, const struct line *line)
{
	struct snapshot_values v;
	struct event e;
	enum event_field missing;
	bool whole = snapshot_split(s->table, &s->shape, line->text, &v);

	s->in->info->records++;
	if (!is_row(s->table, &v, whole)) {
		if (s->torn++ == 0)
			s->first_torn = place_of(line);
		s->in->info->unrecognized++;
		return 0;
	}
	if (!whole || line->cut || !fills[s->table](&v, &e)) {
		skip(s, line, "snapshot.row", "it does not fit the header above it");
		return 0;
	}
	/* The tool ends each row with a line feed: of a number or a name that is the last a part may be missing. */
	if (line->unended) {
		skip(s, line, "snapshot.unended", "the input ends in it, so that a part of it may be missing");
		return 0;
	}
	/* A member without partitions has a row of its own among the offsets. */
	if (s->table == TABLE_OFFSETS && sv_is_absent(v.of[COLUMN_PARTITION]))
		return 0;
	if (!s->block.has_time) {
		skip(s, line, "snapshot.no_clock",
		     "no clock line stands before its table, so that its time is not known");
		return 0;
	}
	fill_by_block(s, &v, &e);
	if (event_lacks(&e, &missing)) {
		skip(s, line, "snapshot.no_group",
		     "its group is not known: describe one group with a release from 2.3 on");
		return 0;
	}
	e.time = s->block.time;
	e.text = line->text;
	e.place = place_of(line);
	return ingest_put(s->in, &e);
}

static int read_line(struct snapshot *s, const struct line *line)
{
	struct host_time time;
	struct snapshot_shape shape;
	enum snapshot_table table;
	bool zoned;

	if (sv_trim(line->text).n == 0)
		return 0;
	if (read_clock(s->in, line->text, &time, &zoned)) {
		end_block(s);
		ingest_zone(s->in, zoned);
		s->block.has_time = true;
		s->block.time = time;
		return 0;
	}
	if (read_message(s, line->text))
		return 0;
	table = snapshot_header(line->text, &shape);
	if (table != TABLE_NONE) {
		s->shape = shape;
		s->table = table;
		s->block.answered = true;
		return 0;
	}
	if (s->table != TABLE_NONE && !sv_starts_with(line->text, SV("#")))
		return read_row(s, line);
	s->in->info->records++;
	s->in->info->unrecognized++;
	return 0;
}

/* ---- coverage ---- */

static int by_size(const void *a, const void *b)
{
	int64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return order_i64(x, y);
}

/* Of the intervals that go forward; 0 when there is none. */
static int64_t median_interval(const struct snapshot *s)
{
	int64_t *intervals = arena_array(s->in->input, s->time_count, sizeof *intervals);
	size_t n = 0;

	for (size_t i = 1; i < s->time_count; i++)
		if (s->times[i] > s->times[i - 1])
			intervals[n++] = s->times[i] - s->times[i - 1];
	if (n == 0)
		return 0;
	qsort(intervals, n, sizeof *intervals, by_size);
	return intervals[n / 2];
}

/* An interval for each run of samples without a gap, nor a step back of the clock. */
static int cover(const struct snapshot *s)
{
	int64_t most = median_interval(s);
	size_t start = 0;

	most = most > INT64_MAX / GAP_INTERVALS ? INT64_MAX : most * GAP_INTERVALS;
	for (size_t i = 1; i <= s->time_count; i++) {
		if (i < s->time_count && s->times[i] >= s->times[i - 1] && s->times[i] - s->times[i - 1] <= most)
			continue;
		if (ingest_covered(s->in, "snapshot", (struct host_time){ s->times[start] },
				   (struct host_time){ s->times[i - 1] }, i - start) != 0)
			return -1;
		start = i;
	}
	return 0;
}

static int snapshot_read(struct ingest *in)
{
	struct snapshot s = { .in = in, .names = arena_new() };
	struct lines *lines = lines_without_zeros(lines_new(in->stream, in->diag));
	struct line line;
	int rc = 0;

	in->info->format = SV("kafka-consumer-groups");
	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = read_line(&s, &line);
	if (rc == 0)
		rc = end_block(&s);
	if (rc == 0)
		rc = cover(&s);
	note_torn(&s);
	lines_free(lines);
	arena_free(s.names);
	return rc;
}

static enum sniffed snapshot_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	struct snapshot_shape shape;

	(void)base_name;
	(void)rules;
	(void)why;
	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++)
		if (snapshot_header(sv_cut(&head, '\n'), &shape) != TABLE_NONE)
			return SNIFF_MINE;
	return SNIFF_NOT_MINE;
}

const struct kind snapshot_kind = { "snapshot", snapshot_sniff, snapshot_read };
