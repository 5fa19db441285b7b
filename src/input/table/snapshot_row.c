/* SPDX-License-Identifier: MIT */
/* Lines of kafka-consumer-groups as values. See input/table/snapshot_row.h. */

#include "input/table/snapshot_row.h"

/* The header's words; those of 0.9 have blanks and commas. */
static const struct column_word {
	const char *word;
	enum snapshot_column column;
} column_words[] = {
	{ "GROUP", COLUMN_GROUP },
	{ "TOPIC", COLUMN_TOPIC },
	{ "PARTITION", COLUMN_PARTITION },
	{ "CURRENT-OFFSET", COLUMN_COMMITTED },
	{ "CURRENT OFFSET", COLUMN_COMMITTED },
	{ "LOG-END-OFFSET", COLUMN_END },
	{ "LOG END OFFSET", COLUMN_END },
	{ "CONSUMER-ID", COLUMN_MEMBER },
	{ "GROUP-INSTANCE-ID", COLUMN_INSTANCE },
	{ "HOST", COLUMN_HOST },
	{ "CLIENT-ID", COLUMN_CLIENT },
	{ "OWNER", COLUMN_OWNER },
	{ "#PARTITIONS", COLUMN_PARTITION_COUNT },
	{ "ASSIGNMENT", COLUMN_ASSIGNMENT },
	{ "CURRENT-ASSIGNMENT", COLUMN_ASSIGNMENT },
	{ "COORDINATOR", COLUMN_COORDINATOR },
	{ "ASSIGNMENT-STRATEGY", COLUMN_STRATEGY },
	{ "STATE", COLUMN_STATE },
	{ "GROUP-EPOCH", COLUMN_EPOCH },
	{ "#MEMBERS", COLUMN_MEMBER_COUNT },
};

/* ---- words of a line ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct sv cut_word(struct sv *rest)
{
	size_t i = 0;
	struct sv word;

	*rest = sv_trim(*rest);
	while (i < rest->n && !is_blank(rest->p[i]))
		i++;
	word = sv_sub(*rest, 0, i);
	*rest = sv_trim(sv_sub(*rest, i, rest->n));
	return word;
}

/* The last word of *rest. */
static struct sv cut_last_word(struct sv *rest)
{
	size_t start;
	struct sv word;

	*rest = sv_trim(*rest);
	for (start = rest->n; start > 0 && !is_blank(rest->p[start - 1]); start--)
		;
	word = sv_sub(*rest, start, rest->n);
	*rest = sv_trim(sv_sub(*rest, 0, start));
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

static bool is_number(struct sv s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* ---- headers ---- */

static enum snapshot_column column_of(struct sv word)
{
	for (size_t i = 0; i < sizeof column_words / sizeof column_words[0]; i++)
		if (sv_eq(word, sv_of(column_words[i].word)))
			return column_words[i].column;
	return COLUMN_OTHER;
}

static bool is_about_member(enum snapshot_column c)
{
	return c == COLUMN_MEMBER || c == COLUMN_INSTANCE || c == COLUMN_HOST || c == COLUMN_CLIENT ||
	       c == COLUMN_OWNER;
}

bool snapshot_has(const struct snapshot_shape *s, enum snapshot_column c)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->columns[i] == c)
			return true;
	return false;
}

/* "GROUP STATE", with a word or two between them, as --list --state prints it: weak words, that must be alone. */
static bool is_list(const struct snapshot_shape *s)
{
	return s->count >= 2 && s->count <= 4 && s->columns[0] == COLUMN_GROUP &&
	       s->columns[s->count - 1] == COLUMN_STATE;
}

static enum snapshot_table table_of(const struct snapshot_shape *s)
{
	if (snapshot_has(s, COLUMN_TOPIC) && snapshot_has(s, COLUMN_PARTITION) && snapshot_has(s, COLUMN_COMMITTED))
		return TABLE_OFFSETS;
	if (snapshot_has(s, COLUMN_MEMBER) && snapshot_has(s, COLUMN_HOST) && snapshot_has(s, COLUMN_PARTITION_COUNT))
		return TABLE_MEMBERS;
	if (snapshot_has(s, COLUMN_STATE) && (snapshot_has(s, COLUMN_MEMBER_COUNT) || is_list(s)))
		return TABLE_STATES;
	return TABLE_NONE;
}

enum snapshot_table snapshot_header(struct sv line, struct snapshot_shape *out)
{
	struct sv rest = sv_trim(line);
	size_t comma;

	*out = (struct snapshot_shape){ .commas = sv_find_char(line, ',', &comma) };
	if (!sv_starts_with(rest, SV("GROUP")) && !sv_starts_with(rest, SV("TOPIC")) &&
	    !sv_starts_with(rest, SV("CONSUMER-ID")) && !sv_starts_with(rest, SV("COORDINATOR")))
		return TABLE_NONE;
	while (rest.n > 0) {
		if (out->count == SNAPSHOT_COLUMNS_MAX)
			return TABLE_NONE;
		out->columns[out->count++] = column_of(out->commas ? cut_comma(&rest) : cut_word(&rest));
	}
	while (out->plain < out->count && !is_about_member(out->columns[out->plain]))
		out->plain++;
	(void)sv_find(line, SV("GROUP-INSTANCE-ID"), &out->instance_at);
	return table_of(out);
}

/* ---- a member and where it is ---- */

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
static void split_member(struct sv text, struct snapshot_values *v)
{
	size_t slash, end, host;

	if (!find_address(text, &slash, &end)) {
		v->of[COLUMN_MEMBER] = cut_word(&text);
		v->of[COLUMN_HOST] = cut_word(&text);
		v->of[COLUMN_CLIENT] = text;
		return;
	}
	host = host_start(text, slash);
	v->of[COLUMN_MEMBER] = sv_trim(sv_sub(text, 0, host));
	v->of[COLUMN_HOST] = sv_sub(text, host, end - host);
	v->of[COLUMN_CLIENT] = sv_trim(sv_sub(text, end, text.n));
}

/* "client_/host", as the first releases named the member. */
static void split_owner(struct sv owner, struct snapshot_values *v)
{
	size_t at;

	if (sv_find(owner, SV("_/"), &at)) {
		v->of[COLUMN_CLIENT] = sv_sub(owner, 0, at);
		v->of[COLUMN_HOST] = sv_sub(owner, at + 1, owner.n);
	} else {
		v->of[COLUMN_MEMBER] = owner;
	}
}

/* ---- rows of the three tables ---- */

static bool split_offsets(const struct snapshot_shape *s, struct sv rest, struct snapshot_values *out)
{
	for (size_t i = 0; i < s->plain; i++) {
		struct sv word = s->commas ? cut_comma(&rest) : cut_word(&rest);

		if (word.n == 0)
			return false;
		if (s->columns[i] != COLUMN_OTHER)
			out->of[s->columns[i]] = word;
	}
	if (snapshot_has(s, COLUMN_OWNER))
		split_owner(sv_trim(rest), out);
	else if (snapshot_has(s, COLUMN_HOST))
		split_member(sv_trim(rest), out);
	else
		out->of[COLUMN_MEMBER] = sv_trim(rest);
	return true;
}

/* "orders(0,1)," of 1.1 to 3.9, from 3.8 on without the name; "-" for none. */
static bool is_assignment(struct sv word)
{
	size_t at;

	return sv_eq(word, SV("-")) ||
	       (sv_find_char(word, '(', &at) && (sv_ends_with(word, SV(")")) || sv_ends_with(word, SV("),"))));
}

/* Takes what stands behind the number of partitions off the end of *rest. */
static void cut_assignment(const struct snapshot_shape *s, struct sv *rest, struct snapshot_values *out)
{
	struct sv all = *rest;

	if (s->count > 0 && s->columns[s->count - 1] == COLUMN_ASSIGNMENT) {
		struct sv before = *rest;

		while (before.n > 0 && is_assignment(cut_last_word(&before)))
			*rest = before;
		out->of[COLUMN_ASSIGNMENT] = sv_trim(sv_sub(all, (size_t)(rest->p - all.p) + rest->n, all.n));
		return;
	}
	/* 4.x: a word a column. */
	for (size_t i = s->count; i > 0 && s->columns[i - 1] != COLUMN_PARTITION_COUNT; i--) {
		struct sv word = cut_last_word(rest);

		if (s->columns[i - 1] != COLUMN_OTHER)
			out->of[s->columns[i - 1]] = word;
	}
}

/* "member instance", where the instance may be blank: it stands below its word then, as the same widths print both lines. */
static void split_instance(const struct snapshot_shape *s, struct sv line, struct sv member,
			   struct snapshot_values *out)
{
	struct sv rest = member;

	out->of[COLUMN_MEMBER] = member;
	if (!snapshot_has(s, COLUMN_INSTANCE) || (size_t)(member.p - line.p) >= s->instance_at ||
	    (size_t)(member.p - line.p) + member.n <= s->instance_at)
		return;
	out->of[COLUMN_INSTANCE] = cut_last_word(&rest);
	out->of[COLUMN_MEMBER] = rest;
}

/* [GROUP] CONSUMER-ID [GROUP-INSTANCE-ID] HOST CLIENT-ID #PARTITIONS [...] */
static bool split_members(const struct snapshot_shape *s, struct sv line, struct snapshot_values *out)
{
	struct sv rest = line, before;
	size_t slash, end, host;

	for (size_t i = 0; i < s->plain; i++) {
		struct sv word = cut_word(&rest);

		if (s->columns[i] != COLUMN_OTHER)
			out->of[s->columns[i]] = word;
	}
	if (!find_address(rest, &slash, &end))
		return false;
	host = host_start(rest, slash);
	before = sv_trim(sv_sub(rest, 0, host));
	out->of[COLUMN_HOST] = sv_sub(rest, host, end - host);
	split_instance(s, line, before, out);
	rest = sv_trim(sv_sub(rest, end, rest.n));
	cut_assignment(s, &rest, out);
	out->of[COLUMN_PARTITION_COUNT] = cut_last_word(&rest);
	out->of[COLUMN_CLIENT] = rest;
	return is_number(out->of[COLUMN_PARTITION_COUNT]);
}

/* Where "(1)" stands, behind the coordinator's address; older releases shift the columns against their header. */
static bool find_node_id(struct sv line, size_t *open, size_t *end)
{
	for (*open = 1; *open < line.n; ++*open) {
		if (line.p[*open] != '(' || !is_blank(line.p[*open - 1]))
			continue;
		for (*end = *open + 1; *end < line.n && line.p[*end] != ')'; ++*end)
			;
		if (*end < line.n && is_number(sv_sub(line, *open + 1, *end - *open - 1))) {
			++*end;
			return true;
		}
	}
	return false;
}

/* The columns from first on, from the right; what is missing is missing on the left: before 4.0 an empty strategy is blank. */
static void cut_columns(const struct snapshot_shape *s, size_t first, struct sv rest, struct snapshot_values *out)
{
	for (size_t i = s->count; i > first && rest.n > 0; i--) {
		struct sv word = cut_last_word(&rest);

		if (s->columns[i - 1] != COLUMN_OTHER)
			out->of[s->columns[i - 1]] = word;
	}
}

/* Kafka's names of states, of either protocol. */
static bool is_state(struct sv word)
{
	static const char *const states[] = {
		"Stable", "PreparingRebalance", "CompletingRebalance", "AwaitingSync", "Empty",
		"Dead",	  "Assigning",		"Reconciling",	       "NotReady",     "Unknown"
	};

	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (sv_eq(word, sv_of(states[i])))
			return true;
	return false;
}

/* GROUP [...] STATE: any line has a last word, so that only a known state makes a row. */
static bool split_list(const struct snapshot_shape *s, struct sv line, struct snapshot_values *out)
{
	struct sv rest = line;

	for (size_t i = 0; i < s->count; i++) {
		struct sv word = cut_word(&rest);

		if (s->columns[i] != COLUMN_OTHER)
			out->of[s->columns[i]] = word;
	}
	return rest.n == 0 && is_state(out->of[COLUMN_STATE]);
}

/* [GROUP] COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE [...] #MEMBERS */
static bool split_states(const struct snapshot_shape *s, struct sv line, struct snapshot_values *out)
{
	size_t open, end, first = 0;
	struct sv before;

	if (!snapshot_has(s, COLUMN_COORDINATOR))
		return split_list(s, line, out);
	if (!find_node_id(line, &open, &end))
		return false;
	before = sv_sub(line, 0, open);
	out->of[COLUMN_COORDINATOR] = cut_last_word(&before);
	out->of[COLUMN_GROUP] = before;
	while (first < s->count && s->columns[first] != COLUMN_STRATEGY)
		first++;
	cut_columns(s, first, sv_sub(line, end, line.n), out);
	return is_number(out->of[COLUMN_MEMBER_COUNT]) && out->of[COLUMN_STATE].n > 0;
}

static struct sv known(struct sv value)
{
	if (value.n == 0 || sv_eq(value, SV("-")) || sv_eq(value, SV("unknown")) || sv_eq(value, SV("none")))
		return SV_ABSENT;
	return value;
}

bool snapshot_split(enum snapshot_table table, const struct snapshot_shape *s, struct sv line,
		    struct snapshot_values *out)
{
	bool fits = false;

	*out = (struct snapshot_values){ .of = { SV_ABSENT } };
	switch (table) {
	case TABLE_OFFSETS:
		fits = split_offsets(s, sv_trim(line), out);
		break;
	case TABLE_MEMBERS:
		fits = split_members(s, line, out);
		break;
	case TABLE_STATES:
		fits = split_states(s, sv_trim(line), out);
		break;
	case TABLE_NONE:
		break;
	}
	for (size_t i = 0; i < COLUMN_OTHER; i++)
		out->of[i] = known(out->of[i]);
	return fits;
}
