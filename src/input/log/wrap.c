/* SPDX-License-Identifier: MIT */
/*
 * The table of wrappers, and those that are prefixes without a time. Shapes:
 * input-formats.md 4.1.
 */

#include "input/log/wrap.h"

#include <string.h>

#include "base/cursor.h"
#include "input/log/colours.h"
#include "input/log/object_lines.h"

void wrap_remember(struct wrap_memory *m, struct sv text)
{
	if (m->count < WRAP_KNOWN_MAX && !wrap_remembers(m, text))
		m->known[m->count++] = arena_copy(m->input, text);
}

bool wrap_remembers(const struct wrap_memory *m, struct sv text)
{
	for (size_t i = 0; i < m->count; i++)
		if (sv_eq(m->known[i], text))
			return true;
	return false;
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Of letters, digits and marks, beginning with a letter or digit: names of pods, containers, services. */
static bool is_name(struct sv s)
{
	if (s.n == 0 || s.n > 253 || (!is_letter(s.p[0]) && !cursor_is_digit(s.p[0])))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.p[i]) && !cursor_is_digit(s.p[i]) && s.p[i] != '-' && s.p[i] != '.' && s.p[i] != '_')
			return false;
	return true;
}

/* ---- colours ---- */

static bool peel_colours(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	char *plain;

	if (!colours_in(line))
		return false;
	plain = arena_alloc(m->record, line.n);
	out->text = (struct sv){ plain, colours_strip(line, plain) };
	return true;
}

/* ---- what was joined to the line ---- */

/* A byte order mark where one file was added to another; zeros where a log was truncated below its writer. */
static bool peel_mark(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = sv_sub(line, sv_leading_zeros(line), line.n);

	(void)m;
	if (sv_starts_with(rest, SV("\xef\xbb\xbf")))
		rest = sv_sub(rest, 3, rest.n);
	out->text = rest;
	return rest.n < line.n && rest.n > 0;
}

/* ---- what people and tools put before lines ---- */

/* What a line of a log begins with, whatever stands before it. */
static bool begins_record(struct sv text)
{
	return wrap_stamp_begins(text) || (text.n > 0 && text.p[0] == '{');
}

bool wrap_is_before(enum wrap_quick quick, struct sv text)
{
	if (quick == WRAP_BEFORE_TIME)
		return wrap_stamp_begins(text);
	if (begins_record(text))
		return true;
	if (quick == WRAP_BEFORE_TRACE)
		return sv_starts_with(text, SV("\t"));
	return quick == WRAP_BEFORE_TEXT && (text.n == 0 || !cursor_is_digit(text.p[0]));
}

/* Of mails and tickets. */
static bool peel_quote(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	bool sure = sv_starts_with(line, SV("> ")) || sv_starts_with(line, SV(">> "));

	(void)m;
	if (line.n == 0 || line.p[0] != '>')
		return false;
	while (line.n > 0 && line.p[0] == '>')
		line = sv_sub(line, 1, line.n);
	out->text = line.n > 0 && line.p[0] == ' ' ? sv_sub(line, 1, line.n) : line;
	if (sure)
		out->quick = WRAP_BY_PREFIX;
	return sure || begins_record(out->text);
}

/* C:\logs or C:/logs. */
static bool is_drive(struct sv s)
{
	return s.n > 2 && is_letter(s.p[0]) && s.p[1] == ':' && (s.p[2] == '\\' || s.p[2] == '/');
}

/* A name of a file has a directory or an ending, and does not begin like a date. */
static bool is_file(struct sv s)
{
	size_t at;
	bool lettered = false;

	/* Such a path may have blanks in it. */
	if (is_drive(s))
		return true;
	if (s.n == 0 || s.p[0] == '[' || s.p[0] == '{' || s.p[0] == '<' || sv_find_char(s, ' ', &at))
		return false;
	if (s.n > 5 && cursor_is_digit(s.p[0]) && cursor_is_digit(s.p[3]) && (s.p[4] == '-' || s.p[4] == '.'))
		return false;
	for (size_t i = 0; i < s.n; i++)
		lettered = lettered || is_letter(s.p[i]);
	return lettered && (sv_find_char(s, '/', &at) || sv_find_char(s, '.', &at) || sv_find_char(s, '\\', &at));
}

/* What stands before the first colon, but for that of a drive. */
static struct sv cut_file(struct sv *rest)
{
	struct sv line = *rest, file;

	if (!is_drive(line))
		return sv_cut(rest, ':');
	*rest = sv_sub(line, 2, line.n);
	file = sv_cut(rest, ':');
	return (struct sv){ line.p, file.n + 2 };
}

/*
 * grep's, and those of findstr and Select-String: file:line:text, or file:text
 * where the text begins with a time; and then what follows such a line in it.
 */
static bool peel_grep(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = line, file, number;
	uint64_t n;

	if (line.n == 0 || line.p[0] == '[' || line.p[0] == '{')
		return false;
	file = cut_file(&rest);
	if (sv_is_absent(rest) || !is_file(file))
		return false;
	out->writer = file;
	out->text = rest;
	number = sv_cut(&rest, ':');
	if (!sv_is_absent(rest) && sv_to_u64(number, &n) && !wrap_stamp_begins(out->text)) {
		out->text = rest;
		out->number_bytes = number.n;
		out->quick = WRAP_BY_PREFIX;
		return true;
	}
	if (begins_record(out->text))
		wrap_remember(m, file);
	out->quick = wrap_remembers(m, file) ? WRAP_BEFORE_TRACE : WRAP_BEFORE_RECORD;
	return wrap_is_before(out->quick, out->text);
}

/* What stands behind a number and a mark: : of a line that was found, - of one around it. False when there is none. */
static bool after_number(struct sv text, struct sv *rest)
{
	size_t i = 0;

	while (i < text.n && i < 10 && cursor_is_digit(text.p[i]))
		i++;
	if (i == 0 || i >= text.n || (text.p[i] != ':' && text.p[i] != '-'))
		return false;
	*rest = sv_sub(text, i + 1, text.n);
	return true;
}

/* grep -n of one file: line:text. Lines without a time follow one that is certain, and are no times of day. */
static bool peel_number(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	const struct sv known = SV("12:");
	size_t mark_at;

	if (!after_number(line, &out->text))
		return false;
	if (begins_record(out->text))
		wrap_remember(m, known);
	out->quick = wrap_remembers(m, known) ? WRAP_BEFORE_TEXT : WRAP_BEFORE_RECORD;
	if (!wrap_is_before(out->quick, out->text))
		return false;
	/* What follows another mark may be a file's name (peel_grep). */
	mark_at = line.n - out->text.n - 1;
	out->number_bytes = mark_at;
	if (line.p[mark_at] != ':')
		out->quick = WRAP_SLOW;
	return true;
}

/*
 * grep -C: file-line-text around what was found, where the text begins a record.
 * The name goes on over marks of its own; what is none up to the first of them,
 * as most lines are, is none. It is looked at there and where it ends alone: a
 * line may hold nothing but marks.
 */
static bool peel_around(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	size_t at, from = 0;

	(void)m;
	if (!sv_find_char(line, '-', &at) || !is_file(sv_sub(line, 0, at)))
		return false;
	while (sv_find_char(sv_sub(line, from, line.n), '-', &at)) {
		from += at + 1;
		if (after_number(sv_sub(line, from, line.n), &out->text) && begins_record(out->text)) {
			out->writer = sv_sub(line, 0, from - 1);
			return is_file(out->writer);
		}
	}
	return false;
}

/* ---- containers ---- */

/* kubectl logs --prefix: [pod/NAME/CONTAINER] */
static bool peel_pod(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest;

	(void)m;
	if (!sv_starts_with(line, SV("[pod/")))
		return false;
	rest = sv_sub(line, 5, line.n);
	out->writer = sv_cut(&rest, ']');
	if (sv_is_absent(rest) || (rest.n > 0 && rest.p[0] != ' '))
		return false;
	struct sv container = out->writer;

	out->host = sv_cut(&container, '/');
	out->text = sv_sub(rest, 1, rest.n);
	return is_name(out->host) && is_name(container);
}

/* docker compose: NAME-1  | text, names padded to the longest. */
static bool peel_compose(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	size_t bar, end;

	(void)m;
	if (line.n == 0 || (!is_letter(line.p[0]) && !cursor_is_digit(line.p[0])) ||
	    !sv_find_char(sv_sub(line, 0, 128), '|', &bar) || bar < 2 || line.p[bar - 1] != ' ')
		return false;
	for (end = bar; end > 0 && line.p[end - 1] == ' '; end--)
		;
	out->host = out->writer = sv_sub(line, 0, end);
	out->text = sv_sub(line, bar + 1, line.n);
	if (out->text.n > 0 && out->text.p[0] != ' ')
		return false;
	out->text = sv_sub(out->text, 1, out->text.n);
	return is_name(out->host);
}

/* What a container may print that has a wrapper of its own: a priority, a time, an object. */
static bool begins_wrapped(struct sv text, struct wrap_memory *m)
{
	struct wrap_layer inner = { .name = NULL };

	return wrap_stamp_begins(text) || sv_starts_with(text, SV("{\"")) || sv_starts_with(text, SV("[pod/")) ||
	       wrap_stamp_peel(text, m, &inner);
}

/*
 * stern: POD CONTAINER text. Two words before a line that begins with a time or
 * an object are certain; later lines of that container are known by them.
 */
static bool peel_stern(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = line, pod, container, both;
	size_t dash;

	if (line.n == 0 || !is_letter(line.p[0]))
		return false;
	pod = sv_cut(&rest, ' ');
	container = sv_cut(&rest, ' ');
	if (sv_is_absent(rest) || !is_name(pod) || !is_name(container) || !sv_find_char(pod, '-', &dash))
		return false;
	both = (struct sv){ line.p, (size_t)(rest.p - line.p) };
	if (!wrap_remembers(m, both)) {
		if (!begins_wrapped(rest, m))
			return false;
		wrap_remember(m, both);
	}
	out->host = pod;
	out->writer = both;
	out->text = rest;
	/* What begins like a file's name is grep's, if a number follows anywhere in the line (peel_around); of too many the text decides. */
	if (is_file(sv_sub(pod, 0, dash)) || !wrap_remembers(m, both))
		out->quick = WRAP_SLOW;
	return true;
}

/* ---- the table ---- */

/* In the order in which they are tried: what is certain by its first bytes before what needs a look at more. */
static const struct wrapper {
	const char *name;	/* NULL: the layer's own says which of several it is */
	enum wrap_quick quick;	/* and then its own too */
	bool (*peel)(struct sv line, struct wrap_memory *m, struct wrap_layer *out);
} wrappers[] = {
	{ "colours", WRAP_TAKEN_OFF, peel_colours },
	{ "mark", WRAP_SLOW, peel_mark },
	{ "quote", WRAP_SLOW, peel_quote },
	{ NULL, WRAP_SLOW, wrap_json_peel },
	{ "kubectl", WRAP_BY_PREFIX, peel_pod },
	{ NULL, WRAP_SLOW, wrap_stamp_peel },
	{ "compose", WRAP_BY_PREFIX, peel_compose },
	{ "grep", WRAP_SLOW, peel_grep },
	{ "grep", WRAP_SLOW, peel_number },
	{ "grep", WRAP_SLOW, peel_around },
	{ "stern", WRAP_BY_PREFIX, peel_stern },
};

bool wrap_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
		*out = (struct wrap_layer){ .name = wrappers[i].name, .quick = wrappers[i].quick };
		if (wrappers[i].peel(line, m, out))
			return true;
	}
	return false;
}

/* ---- none of them ---- */

/* A line that begins with a letter: what the syslogs, compose, grep and stern look for is not there. */
static bool is_none_by_word(struct sv line)
{
	struct sv rest = line, word = sv_cut(&rest, ' ');
	size_t at;

	if (line.p[0] <= 'Z' && line.n > 15 && line.p[3] == ' ')
		return false;
	if (sv_find_char(sv_sub(line, 0, 128), '|', &at) || sv_find_char(word, '-', &at))
		return false;
	/* What stands behind a file's name is a number, a time, an object or a trace. */
	if (!sv_find_char(line, ':', &at) || at + 1 == line.n)
		return true;
	return !is_drive(line) && !cursor_is_digit(line.p[at + 1]) && line.p[at + 1] != '[' && line.p[at + 1] != '{' &&
	       line.p[at + 1] != '\t';
}

bool wrap_is_none(struct sv line)
{
	size_t blank, colon;

	if (line.n == 0 || line.p[0] == ' ')
		return true;
	if (is_letter(line.p[0]))
		return is_none_by_word(line);
	/* No name of a file has a blank in it. */
	return line.p[0] == '\t' &&
	       (!sv_find_char(line, ':', &colon) || (sv_find_char(line, ' ', &blank) && blank < colon));
}

/* ---- two records on one line ---- */

static size_t first_object(struct sv line)
{
	size_t at, end, depth = 0;
	bool quoted = false;

	if (!sv_find(line, SV("}{"), &at))
		return line.n;
	end = object_lines_end(line, &depth, &quoted);
	return end < line.n && line.p[end] == '{' ? end : line.n;
}

/* "[2026-11-30 12:33:04,220] INFO ": what Kafka's own layout begins with; 0 is a digit here. */
static bool is_kafka_head(struct sv s)
{
	static const char shape[] = "[0000-00-00 00:00:00,000] ";
	static const struct sv levels[] = { { "INFO ", 5 }, { "WARN ", 5 }, { "ERROR ", 6 }, { "DEBUG ", 6 }, { "TRACE ", 6 }, { "FATAL ", 6 } };

	if (s.n < sizeof shape)
		return false;
	for (size_t i = 0; i < sizeof shape - 1; i++)
		if (shape[i] == '0' ? !cursor_is_digit(s.p[i]) : s.p[i] != shape[i])
			return false;
	s = sv_sub(s, sizeof shape - 1, s.n);
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (sv_starts_with(s, levels[i]))
			return true;
	return false;
}

bool wrap_may_quote(char before)
{
	return before == ' ' || before == '\t' || before == '"' || before == '\'' || before == ':' || before == '(';
}

static size_t first_kafka(struct sv line)
{
	size_t from = 1, at;

	if (!is_kafka_head(line))
		return line.n;
	while (sv_find_char(sv_sub(line, from, line.n), '[', &at)) {
		from += at;
		if (!wrap_may_quote(line.p[from - 1]) && is_kafka_head(sv_sub(line, from, line.n)))
			return from;
		from++;
	}
	return line.n;
}

size_t wrap_first_record(struct sv line)
{
	if (line.n == 0)
		return 0;
	if (line.p[0] == '{')
		return first_object(line);
	return line.p[0] == '[' ? first_kafka(line) : line.n;
}
