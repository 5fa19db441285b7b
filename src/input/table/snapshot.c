/* SPDX-License-Identifier: MIT */
/*
 * kafka-consumer-groups --describe in a sampling loop: a clock line, then what
 * the tool printed, over and over. Columns are found by the header's words,
 * never by position (input-formats.md 0.1): releases 0.9 to 4.x have nine
 * shapes of this table (2.1). The clock is when the tool was started.
 */

#include "input/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

#define SNIFF_LINES 400
/* A gap of more than so many median intervals is not covered (method.md 1). */
#define GAP_INTERVALS 3
#define COLUMNS_MAX 24

enum column { GROUP, TOPIC, PARTITION, COMMITTED, END, MEMBER, HOST, CLIENT, OWNER, OTHER };

/* The header's words; those of 0.9 have blanks and commas. */
static const struct column_word {
	const char *word;
	enum column column;
} column_words[] = {
	{ "GROUP", GROUP },
	{ "TOPIC", TOPIC },
	{ "PARTITION", PARTITION },
	{ "CURRENT-OFFSET", COMMITTED },
	{ "CURRENT OFFSET", COMMITTED },
	{ "LOG-END-OFFSET", END },
	{ "LOG END OFFSET", END },
	{ "CONSUMER-ID", MEMBER },
	{ "HOST", HOST },
	{ "CLIENT-ID", CLIENT },
	{ "OWNER", OWNER },
};

/* A table's header: what its columns are, the last ones being about the member, whose words may hold blanks. */
struct shape {
	bool commas;	/* 0.9 */
	enum column columns[COLUMNS_MAX];
	size_t count;
	size_t plain;	/* so many columns come before the first that is about the member */
	bool has_group;
	bool has_host;
};

enum table { NO_TABLE, OFFSETS, OTHER_TABLE };

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
	struct shape shape;
	enum table table;
	struct block block;
	int64_t *times;		/* of blocks with an answer */
	size_t time_count, time_capacity;
};

struct values {
	struct sv of[OTHER];
};

/* ---- words of a line ---- */

static struct sv cut_word(struct sv *rest)
{
	size_t i = 0;
	struct sv word;

	*rest = sv_trim(*rest);
	while (i < rest->n && rest->p[i] != ' ' && rest->p[i] != '\t')
		i++;
	word = sv_sub(*rest, 0, i);
	*rest = sv_trim(sv_sub(*rest, i, rest->n));
	return word;
}

/* The text before the next comma, trimmed; *rest becomes empty at the end. */
static struct sv cut_comma(struct sv *rest)
{
	struct sv word = sv_trim(sv_cut(rest, ','));

	if (sv_is_absent(*rest))
		*rest = SV("");
	return word;
}

static enum column column_of(struct sv word)
{
	for (size_t i = 0; i < sizeof column_words / sizeof column_words[0]; i++)
		if (sv_eq(word, sv_of(column_words[i].word)))
			return column_words[i].column;
	return OTHER;
}

static bool is_about_member(enum column c)
{
	return c == MEMBER || c == HOST || c == CLIENT || c == OWNER;
}

static bool has_column(const struct shape *s, enum column c)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->columns[i] == c)
			return true;
	return false;
}

/* A line that is a header of any table of the tool, that of the offsets or another. */
static enum table read_header(struct sv line, struct shape *out)
{
	struct sv rest = sv_trim(line);
	size_t comma;

	*out = (struct shape){ .commas = sv_find_char(line, ',', &comma) };
	if (!sv_starts_with(rest, SV("GROUP")) && !sv_starts_with(rest, SV("TOPIC")) &&
	    !sv_starts_with(rest, SV("CONSUMER-ID")) && !sv_starts_with(rest, SV("COORDINATOR")))
		return NO_TABLE;
	while (rest.n > 0) {
		if (out->count == COLUMNS_MAX)
			return NO_TABLE;
		out->columns[out->count++] = column_of(out->commas ? cut_comma(&rest) : cut_word(&rest));
	}
	while (out->plain < out->count && !is_about_member(out->columns[out->plain]))
		out->plain++;
	out->has_group = has_column(out, GROUP);
	out->has_host = has_column(out, HOST);
	if (has_column(out, TOPIC) && has_column(out, PARTITION) && has_column(out, COMMITTED))
		return OFFSETS;
	return out->count >= 3 && (has_column(out, MEMBER) || out->has_group) ? OTHER_TABLE : NO_TABLE;
}

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
	s->table = NO_TABLE;
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

static struct sv known(struct sv value)
{
	if (value.n == 0 || sv_eq(value, SV("-")) || sv_eq(value, SV("unknown")) || sv_eq(value, SV("none")))
		return SV_ABSENT;
	return value;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

#define UUID_BYTES 36

static bool is_uuid(const char *p)
{
	for (size_t i = 0; i < UUID_BYTES; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? p[i] != '-' : !is_hex(p[i]))
			return false;
	return true;
}

/* Where the last UUID of the text ends, for member ids end with one; 0 when there is none. */
static size_t last_uuid_end(struct sv text)
{
	for (size_t end = text.n; end >= UUID_BYTES; end--)
		if (is_uuid(text.p + end - UUID_BYTES))
			return end;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The first "/ip", alone or behind a name: slash and end say where it is. */
static bool find_address(struct sv text, size_t *slash, size_t *end)
{
	for (*slash = 0; *slash < text.n; ++*slash) {
		bool dotted = false;

		if (text.p[*slash] != '/')
			continue;
		for (*end = *slash + 1; *end < text.n && !is_blank(text.p[*end]); ++*end) {
			char c = text.p[*end];

			if (!is_hex(c) && c != '.' && c != ':' && c != '%')
				break;
			dotted = dotted || c == '.' || c == ':';
		}
		if (dotted && (*end == text.n || is_blank(text.p[*end])))
			return true;
	}
	return false;
}

/* Where the host begins whose address begins at slash: its name follows a blank or, glued, the member's UUID. */
static size_t host_start(struct sv text, size_t slash)
{
	size_t start = last_uuid_end(sv_sub(text, 0, slash));

	for (size_t i = start; i < slash; i++)
		if (is_blank(text.p[i]))
			start = i + 1;
	return start > 0 ? start : slash;
}

/*
 * "member host client", where member and client may hold blanks, and a member
 * id of 50 bytes and more has none before the host (0.10.2 to 1.0).
 */
static void split_member(struct sv text, struct values *v)
{
	size_t slash, end, host;

	if (!find_address(text, &slash, &end)) {
		v->of[MEMBER] = cut_word(&text);
		v->of[HOST] = cut_word(&text);
		v->of[CLIENT] = text;
		return;
	}
	host = host_start(text, slash);
	v->of[MEMBER] = sv_trim(sv_sub(text, 0, host));
	v->of[HOST] = sv_sub(text, host, end - host);
	v->of[CLIENT] = sv_trim(sv_sub(text, end, text.n));
}

/* "client_/host", as the first releases named the member. */
static void split_owner(struct sv owner, struct values *v)
{
	size_t at;

	if (sv_find(owner, SV("_/"), &at)) {
		v->of[CLIENT] = sv_sub(owner, 0, at);
		v->of[HOST] = sv_sub(owner, at + 1, owner.n);
	} else {
		v->of[MEMBER] = owner;
	}
}

/* False when the line has fewer words than the header before the member. */
static bool split_row(const struct shape *shape, struct sv line, struct values *out)
{
	struct sv rest = sv_trim(line);

	*out = (struct values){ .of = { SV_ABSENT } };
	for (size_t i = 0; i < shape->plain; i++) {
		struct sv word = shape->commas ? cut_comma(&rest) : cut_word(&rest);

		if (word.n == 0)
			return false;
		if (shape->columns[i] != OTHER)
			out->of[shape->columns[i]] = word;
	}
	if (has_column(shape, OWNER))
		split_owner(sv_trim(rest), out);
	else if (shape->has_host)
		split_member(sv_trim(rest), out);
	else
		out->of[MEMBER] = sv_trim(rest);
	for (size_t i = 0; i < OTHER; i++)
		out->of[i] = known(out->of[i]);
	return true;
}

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

static bool fill(const struct values *v, struct event *e)
{
	size_t slash;
	struct sv host = v->of[HOST];

	if (!set_number(e, FIELD_PARTITION, v->of[PARTITION]) || !set_number(e, FIELD_OFFSET, v->of[COMMITTED]) ||
	    !set_number(e, FIELD_END_OFFSET, v->of[END]))
		return false;
	event_set_text(e, FIELD_GROUP, v->of[GROUP]);
	event_set_text(e, FIELD_TOPIC, v->of[TOPIC]);
	event_set_text(e, FIELD_MEMBER, v->of[MEMBER]);
	event_set_text(e, FIELD_PEER, sv_find_char(host, '/', &slash) ? sv_sub(host, slash + 1, host.n) : host);
	event_set_text(e, FIELD_CLIENT, v->of[CLIENT]);
	return true;
}

static void skip(struct snapshot *s, const struct line *line, const char *code, const char *why)
{
	struct place place = { .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset };

	s->in->info->skipped++;
	diag_add(s->in->diag, SEVERITY_WARNING, code, &place, "row left out: %s", why);
}

/* Words of a line that stands where a row would, but is none: something else wrote between. */
static bool is_row(const struct values *v)
{
	int64_t partition;

	return sv_is_absent(v->of[PARTITION]) || sv_to_i64(v->of[PARTITION], &partition);
}

/* 0, -1 when the sink failed. */
static int read_row(struct snapshot *s, const struct line *line)
{
	struct values v;
	struct event e;
	bool whole = split_row(&s->shape, line->text, &v);

	s->in->info->records++;
	event_init(&e, EVENT_PARTITION_STATE);
	if (whole && !is_row(&v)) {
		s->in->info->unrecognized++;
		return 0;
	}
	if (!whole || line->cut || !fill(&v, &e)) {
		skip(s, line, "snapshot.row", "it does not fit the header above it");
		return 0;
	}
	if (!s->shape.has_group)
		event_set_text(&e, FIELD_GROUP, s->block.group);
	/* A member without partitions has a row of its own. */
	if (sv_is_absent(v.of[PARTITION]))
		return 0;
	if (!s->block.has_time) {
		skip(s, line, "snapshot.no_clock", "no clock line stands before its table, so that its time is not known");
		return 0;
	}
	if (!event_has(&e, FIELD_GROUP) || !event_has(&e, FIELD_TOPIC)) {
		skip(s, line, "snapshot.no_group", "its group is not known: describe one group with a release from 2.3 on");
		return 0;
	}
	if (s->block.state != NULL && sv_eq(event_text(&e, FIELD_GROUP), s->block.group))
		event_set_text(&e, FIELD_STATE, sv_of(s->block.state));
	e.time = s->block.time;
	e.text = line->text;
	e.place = (struct place){ .unit = PLACE_LINE, .number = line->number, .byte_offset = line->byte_offset };
	return ingest_put(s->in, &e);
}

static int read_line(struct snapshot *s, const struct line *line)
{
	struct host_time time;
	struct shape shape;
	enum table table;
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
	table = read_header(line->text, &shape);
	if (table != NO_TABLE) {
		s->shape = shape;
		s->table = table;
		s->block.answered = true;
		return 0;
	}
	if (s->table == OFFSETS && !sv_starts_with(line->text, SV("#")))
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
	struct lines *lines = lines_new(in->stream, in->diag);
	struct line line;
	int rc = 0;

	in->info->format = SV("kafka-consumer-groups");
	while (rc == 0 && lines_next(lines, &line) == 1)
		rc = read_line(&s, &line);
	if (rc == 0)
		rc = end_block(&s);
	if (rc == 0)
		rc = cover(&s);
	lines_free(lines);
	arena_free(s.names);
	return rc;
}

static enum sniffed snapshot_sniff(struct sv head, struct sv base_name, const struct rules *rules, const char **why)
{
	struct shape shape;

	(void)base_name;
	(void)rules;
	(void)why;
	for (size_t i = 0; i < SNIFF_LINES && !sv_is_absent(head); i++)
		if (read_header(sv_cut(&head, '\n'), &shape) == OFFSETS)
			return SNIFF_MINE;
	return SNIFF_NOT_MINE;
}

const struct kind snapshot_kind = { "snapshot", snapshot_sniff, snapshot_read };
