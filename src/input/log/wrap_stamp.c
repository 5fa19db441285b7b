/* SPDX-License-Identifier: MIT */
/*
 * Wrappers that begin with a time: CRI, syslog (RFC 3164, RFC 5424, rsyslog's
 * files), the journal's text modes, the kernel's own buffer, logcli, aws logs
 * tail, docker and kubectl with --timestamps. The time is read once; what follows it tells which it is.
 */

#include "input/log/wrap.h"

#include <string.h>

#include "base/cursor.h"

enum stamp_form { STAMP_ISO, STAMP_BSD, STAMP_FULL, STAMP_UNIX, STAMP_UPTIME };

/* The time, and what follows it and a blank. */
struct stamp {
	enum stamp_form form;
	struct tstamp time;
	struct sv text;		/* the time as written */
	struct sv layout;	/* of it; absent: by trial, or not to be read again */
	struct sv rest;
	bool prioritised;	/* <134> stood before */
};

static const struct stamp_layout {
	enum stamp_form form;
	struct sv layout;
} layouts[] = {
	{ STAMP_ISO, { "yyyy-MM-ddTHH:mm:ss.SSSXXX", 26 } },
	{ STAMP_ISO, { "yyyy-MM-ddTHH:mm:ssXXX", 22 } },
	{ STAMP_BSD, { "MMM d HH:mm:ss.SSS", 18 } },
	{ STAMP_BSD, { "MMM d HH:mm:ss", 14 } },
	{ STAMP_FULL, { "EEE yyyy-MM-dd HH:mm:ss z", 25 } },
	{ STAMP_UPTIME, { "[uptime_s]", 10 } },
	{ STAMP_UNIX, { "epoch_s", 7 } },
};

/* Which forms a line can have by its first byte alone: most lines have none, and this is asked of every line. */
static bool may_have(enum stamp_form form, struct sv line)
{
	char c = line.p[0];

	switch (form) {
	case STAMP_ISO:
		return cursor_is_digit(c) && line.n > 20 && line.p[4] == '-' && line.p[10] == 'T';
	case STAMP_UNIX:
		return cursor_is_digit(c) && line.n > 17 && line.p[10] == '.';
	case STAMP_UPTIME:
		return c == '[';
	case STAMP_BSD:
	case STAMP_FULL:
		return c >= 'A' && c <= 'Z' && line.n > 15 && line.p[3] == ' ';
	}
	return false;
}

static bool take_stamp(struct sv line, struct stamp *out)
{
	size_t used;

	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
		if (!may_have(layouts[i].form, line) || !tstamp_read(line, layouts[i].layout, &out->time, &used))
			continue;
		if (used + 1 >= line.n || line.p[used] != ' ')
			continue;
		out->form = layouts[i].form;
		out->text = sv_sub(line, 0, used);
		out->layout = layouts[i].layout;
		out->rest = sv_sub(line, used + 1, line.n);
		return true;
	}
	return false;
}

/* The journal's short-delta: [ 1381.623456 <    1.500000 >], the second number is the step from the line before. */
static bool take_delta(struct sv line, struct wrap_memory *m, struct stamp *out)
{
	size_t close, at;
	struct sv inside;

	if (!sv_starts_with(line, SV("[")) || !sv_find_char(sv_sub(line, 0, 64), ']', &close))
		return false;
	inside = sv_sub(line, 1, close - 1);
	if (sv_find_char(inside, '<', &at))
		inside.n = at;
	inside = sv_trim(inside);
	if (inside.n == 0 || !cursor_is_digit(inside.p[0]))
		return false;
	if (!tstamp_guess_parts(arena_printf(m->record, "[%.*s]", SV_ARG(inside)), &out->time) || close + 2 >= line.n ||
	    line.p[close + 1] != ' ')
		return false;
	out->form = STAMP_UPTIME;
	out->text = sv_sub(line, 0, close + 1);
	out->layout = SV_ABSENT;
	out->rest = sv_sub(line, close + 2, line.n);
	return true;
}

/* How many digits the fraction of a written time has. */
static size_t fraction_digits(struct sv text)
{
	size_t dot, n = 0;

	if (!sv_find_char(text, '.', &dot))
		return 0;
	while (dot + 1 + n < text.n && cursor_is_digit(text.p[dot + 1 + n]))
		n++;
	return n;
}

bool wrap_stamp_begins(struct sv line)
{
	static const char shape[] = "0000-00-00";

	if (line.n > 0 && line.p[0] == '[')
		line = sv_sub(line, 1, line.n);
	if (line.n < sizeof shape + 8)
		return false;
	for (size_t i = 0; i < sizeof shape - 1; i++)
		if (shape[i] == '0' ? !cursor_is_digit(line.p[i]) : line.p[i] != '-' && line.p[i] != '/' && line.p[i] != '.')
			return false;
	return (line.p[10] == ' ' || line.p[10] == 'T') && cursor_is_digit(line.p[11]) && cursor_is_digit(line.p[12]) &&
	       line.p[13] == ':';
}

/* ---- what follows a time ---- */

static bool is_output(struct sv s)
{
	return sv_eq(s, SV("stdout")) || sv_eq(s, SV("stderr"));
}

/* The CRI's: stdout F text, the tags of a line apart by colons. */
static bool after_cri(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = s->rest, stream = sv_cut(&rest, ' '), tags = sv_cut(&rest, ' '), tag;

	(void)m;
	tag = sv_cut(&tags, ':');
	if (s->form != STAMP_ISO || !is_output(stream) || (!sv_eq(tag, SV("P")) && !sv_eq(tag, SV("F"))))
		return false;
	out->writer = stream;
	out->text = sv_is_absent(rest) ? SV("") : rest;
	out->piece = tag.p[0] == 'P' ? WRAP_OPEN : WRAP_LAST;
	return true;
}

/* logcli's: {pod="x", container="y"} line */
static bool after_labels(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	bool quoted = false;
	size_t i;

	(void)m;
	if (s->form != STAMP_ISO || s->rest.p[0] != '{')
		return false;
	for (i = 1; i < s->rest.n && (quoted || s->rest.p[i] != '}'); i++) {
		if (quoted && s->rest.p[i] == '\\')
			i++;
		else if (s->rest.p[i] == '"')
			quoted = !quoted;
	}
	if (i + 1 >= s->rest.n || s->rest.p[i + 1] != ' ')
		return false;
	out->writer = sv_sub(s->rest, 0, i + 1);
	/* An object of JSON has its names in quotes. */
	if (out->writer.n > 2 && (out->writer.p[1] == '"' || !sv_find_char(out->writer, '=', &(size_t){ 0 })))
		return false;
	out->text = sv_sub(s->rest, i + 2, s->rest.n);
	for (size_t k = 0; k < 3; k++) {
		static const struct sv names[] = { { "pod=\"", 5 }, { "host=\"", 6 }, { "instance=\"", 10 } };
		size_t at;

		if (sv_is_absent(out->host) && sv_find(out->writer, names[k], &at) && at > 0 &&
		    (out->writer.p[at - 1] == '{' || out->writer.p[at - 1] == ' ' || out->writer.p[at - 1] == ',')) {
			struct sv value = sv_sub(out->writer, at + names[k].n, out->writer.n);

			out->host = sv_cut(&value, '"');
		}
	}
	return true;
}

bool wrap_is_level(struct sv s)
{
	static const struct sv levels[] = { { "INFO", 4 },  { "WARN", 4 },    { "WARNING", 7 }, { "ERROR", 5 },
					    { "DEBUG", 5 }, { "TRACE", 5 },   { "FATAL", 5 },	{ "SEVERE", 6 },
					    { "FINE", 4 },  { "CRITICAL", 8 }, { "NOTICE", 6 } };

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (sv_eq_nocase(s, levels[i]))
			return true;
	return false;
}

static bool is_host(struct sv s)
{
	if (s.n == 0 || s.n > 255 || wrap_is_level(s) || s.p[s.n - 1] == ':')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || cursor_is_digit(c) || c == '.' || c == '-' ||
		      c == '_' || c == ':'))
			return false;
	}
	return true;
}

/* java.lang.IllegalStateException, KeyError, WARNING: before a colon each begins a line of a text that has no tag. */
static bool is_no_program(struct sv s)
{
	static const struct sv thrown[] = { { "Exception", 9 }, { "Error", 5 }, { "Throwable", 9 } };

	for (size_t i = 0; i < sizeof thrown / sizeof thrown[0]; i++)
		if (sv_ends_with(s, thrown[i]))
			return true;
	return wrap_is_level(s);
}

/* A name that may stand before the colon of a tag. A # begins what rsyslog writes for a tab. */
static bool is_tag(struct sv s)
{
	if (s.n == 0 || s.p[0] == '[' || s.p[0] == '{' || s.p[0] == '#')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '"')
			return false;
	return !is_no_program(s);
}

/* java[412]: or kernel: at the start of rest; *has_pid when it has a number. False when there is none, and all is as it was. */
static bool take_tag(struct sv *rest, struct sv *tag, bool *has_pid)
{
	size_t colon, open;
	struct sv name;

	if (!sv_find_char(sv_sub(*rest, 0, 128), ':', &colon))
		return false;
	name = sv_sub(*rest, 0, colon);
	if (!is_tag(name) || (colon + 1 < rest->n && rest->p[colon + 1] != ' '))
		return false;
	*has_pid = name.p[name.n - 1] == ']' && sv_find_char(name, '[', &open) && open + 2 < name.n &&
		   cursor_is_digit(name.p[open + 1]);
	*tag = name;
	*rest = sv_sub(*rest, colon + 2, rest->n);
	return true;
}

/* rsyslog writes a fraction of six digits (date-rfc3339). */
#define RSYSLOG_DIGITS 6

/* What a file of syslog begins with, and no time of the text. */
static bool is_syslogs(const struct stamp *s)
{
	return !wrap_stamp_begins(s->rest) &&
	       (s->form == STAMP_BSD || (s->form == STAMP_ISO && fraction_digits(s->text) == RSYSLOG_DIGITS));
}

/*
 * syslog's and the journal's: HOST TAG[PID]: text. "main a.b.C: text" behind a
 * time is an application's own line as well: without a number, the host must be
 * known from another line, or the form of the time be syslog's own. Where the
 * sender gave no tag, "Started early" may be an application's line too: in a
 * file, where no priority stands, the text must begin a record, or the host be known.
 */
static bool after_host(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = s->rest, host = sv_cut(&rest, ' '), tag = SV_ABSENT;
	bool has_pid = false, sure;

	if (sv_is_absent(rest) || !is_host(host))
		return false;
	if (take_tag(&rest, &tag, &has_pid)) {
		sure = has_pid || s->form == STAMP_BSD || s->form == STAMP_FULL || sv_eq(tag, SV("kernel"));
	} else {
		if (!s->prioritised && !is_syslogs(s))
			return false;
		sure = wrap_stamp_begins(rest) || sv_starts_with(rest, SV("{\""));
		/* Whether there is a tag depends on all of the line. */
		out->quick = WRAP_SLOW;
	}
	sure = sure || s->prioritised;
	if (!sure && !wrap_remembers(m, host))
		return false;
	if (sure)
		wrap_remember(m, host);
	out->host = host;
	out->writer = sv_is_absent(tag) ? host : (struct sv){ host.p, (size_t)(tag.p + tag.n - host.p) };
	out->text = rest;
	return true;
}

/* As python writes a time: behind it anything is a line. */
#define STREAM_DIGITS 6

/* aws logs tail: STREAM text, where names of streams have slashes, and never a colon (CreateLogStream). */
static bool after_stream(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv rest = s->rest;
	size_t at, colon;

	(void)m;
	out->writer = sv_cut(&rest, ' ');
	out->text = rest;
	if (s->form != STAMP_ISO || sv_is_absent(rest) || !sv_find_char(out->writer, '/', &at) || sv_find_char(out->writer, ':', &colon) ||
	    out->writer.p[0] == '[')
		return false;
	/* Labels are looked at beyond a blank. */
	if (out->writer.p[0] != '{')
		out->quick = fraction_digits(s->text) == STREAM_DIGITS ? WRAP_BY_PREFIX : WRAP_BEFORE_TIME;
	return wrap_stamp_begins(rest) || fraction_digits(s->text) == STREAM_DIGITS;
}

/* None of those that are asked before after_nothing, each by what it looks at first. */
bool wrap_stamp_names_nobody(struct sv text)
{
	struct sv rest = text, word = sv_cut(&rest, ' '), tag;
	bool has_pid;
	size_t at;

	if (text.n == 0 || is_output(word) || (text.p[0] == '{' && !sv_starts_with(text, SV("{\""))))
		return false;
	return !sv_find_char(word, '/', &at) && !(is_host(word) && !sv_is_absent(rest) && take_tag(&rest, &tag, &has_pid));
}

/* A time before a line that has its own, or with the nine digits that docker and the kubelet write. */
static bool after_nothing(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	(void)m;
	out->text = s->rest;
	if (s->form == STAMP_UPTIME)
		return false;
	return wrap_stamp_begins(s->rest) || (sv_starts_with(s->rest, SV("{\"")) && sv_ends_with(s->rest, SV("}"))) ||
	       (s->form == STAMP_ISO && fraction_digits(s->text) == WRAP_STAMP_NANOS);
}

/* dmesg's: seconds since the boot, always with six digits (kernel/printk/printk.c, print_time). */
static bool after_kernel(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	(void)m;
	out->text = s->rest;
	return s->form == STAMP_UPTIME && fraction_digits(s->text) == 6;
}

/* dmesg -r and -x: a priority and no host. No syslog counts from the boot. */
static bool after_kernel_priority(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	return s->prioritised && after_kernel(s, m, out);
}

/* In the order in which they are asked. prompt as in struct wrap_layer. */
static const struct follower {
	const char *name;
	bool prompt;
	enum wrap_quick quick;
	bool (*after)(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out);
} followers[] = {
	{ "cri", true, WRAP_BY_PREFIX, after_cri },
	{ "loki", false, WRAP_BY_PREFIX, after_labels },
	{ "dmesg", true, WRAP_SLOW, after_kernel_priority },
	{ "syslog", true, WRAP_BY_PREFIX, after_host },
	{ "cloudwatch", false, WRAP_SLOW, after_stream },
	{ "timestamps", true, WRAP_BEFORE_NOBODY, after_nothing },
	{ "dmesg", true, WRAP_SLOW, after_kernel },
};

static bool peel_after(const struct stamp *s, struct wrap_memory *m, struct wrap_layer *out)
{
	for (size_t i = 0; i < sizeof followers / sizeof followers[0]; i++) {
		*out = (struct wrap_layer){
			.name = followers[i].name, .has_time = true, .time = s->time, .prompt = followers[i].prompt,
			.quick = followers[i].quick, .time_text = s->text, .time_layout = s->layout,
		};
		if (followers[i].after(s, m, out))
			return true;
	}
	return false;
}

/* ---- RFC 5424 ---- */

/* Structured data (6.3): -, or [id name="value" ...] once or more. */
static bool skip_structured(struct sv *rest)
{
	size_t i = 0;
	bool quoted = false;

	if (sv_starts_with(*rest, SV("-"))) {
		i = 1;
	} else {
		while (i < rest->n && rest->p[i] == '[') {
			for (i++; i < rest->n && (quoted || rest->p[i] != ']'); i++) {
				if (quoted && rest->p[i] == '\\')
					i++;
				else if (rest->p[i] == '"')
					quoted = !quoted;
			}
			if (i >= rest->n)
				return false;
			i++;
		}
	}
	if (i == 0 || (i < rest->n && rest->p[i] != ' '))
		return false;
	*rest = sv_sub(*rest, i + 1, rest->n);
	return true;
}

static struct sv unless_nil(struct sv s)
{
	return sv_eq(s, SV("-")) ? SV_ABSENT : s;
}

/* <PRI>1 TIME HOST APP PID MSGID SD text; rest is what follows "<PRI>1 ". */
static bool peel_5424(struct sv rest, struct wrap_memory *m, struct wrap_layer *out)
{
	struct sv time = sv_cut(&rest, ' '), host = sv_cut(&rest, ' '), app = sv_cut(&rest, ' '), pid = sv_cut(&rest, ' ');

	(void)sv_cut(&rest, ' ');
	if (sv_is_absent(rest) || !skip_structured(&rest))
		return false;
	out->name = "syslog";
	out->quick = WRAP_BY_PREFIX;
	out->time_text = time;
	out->time_layout = SV_ABSENT;
	out->has_time = tstamp_guess_parts(time, &out->time) && out->time.zoned;
	if (!out->has_time && !sv_eq(time, SV("-")))
		return false;
	out->prompt = true;
	out->host = unless_nil(host);
	out->writer = arena_printf(m->record, "%.*s %.*s %.*s", SV_ARG(host), SV_ARG(app), SV_ARG(pid));
	/* A byte order mark says that the text is UTF-8 (6.4). */
	out->text = sv_starts_with(rest, SV("\xef\xbb\xbf")) ? sv_sub(rest, 3, rest.n) : rest;
	return true;
}

/* <134> at the start, at most 191 (RFC 5424 6.2.1). */
static bool take_priority(struct sv *line)
{
	size_t close;
	uint64_t priority;

	if (!sv_starts_with(*line, SV("<")) || !sv_find_char(sv_sub(*line, 0, 5), '>', &close) || close < 2 ||
	    !sv_to_u64(sv_sub(*line, 1, close - 1), &priority) || priority > 191)
		return false;
	*line = sv_sub(*line, close + 1, line->n);
	return true;
}

/* The same in words: "kern  :warn  : [  711.769086] text", as dmesg -x has it. */
static bool take_facility(struct sv *line)
{
	size_t colon, open;
	struct sv rest = *line;

	if (!sv_find_char(sv_sub(rest, 0, 10), ':', &colon) || colon != 6 || !sv_find_char(sv_sub(rest, 0, 32), '[', &open) ||
	    open != colon + 9 || !sv_eq(sv_sub(rest, open - 2, 2), SV(": ")))
		return false;
	for (size_t i = 0; i < open - 2; i++)
		if (i != colon && rest.p[i] != ' ' && !(rest.p[i] >= 'a' && rest.p[i] <= 'z') && !cursor_is_digit(rest.p[i]))
			return false;
	*line = sv_sub(rest, open, rest.n);
	return true;
}

bool wrap_stamp_may_be_kernels(struct sv line)
{
	return line.n > 6 && line.p[6] == ':' && take_facility(&line);
}

bool wrap_stamp_peel(struct sv line, struct wrap_memory *m, struct wrap_layer *out)
{
	struct stamp s = { .prioritised = take_priority(&line) || take_facility(&line) };

	if (line.n == 0)
		return false;
	if (s.prioritised && sv_starts_with(line, SV("1 ")) && peel_5424(sv_sub(line, 2, line.n), m, out))
		return true;
	if (!take_stamp(line, &s) && !take_delta(line, m, &s))
		return false;
	return peel_after(&s, m, out);
}
