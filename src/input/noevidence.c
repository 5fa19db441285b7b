/* SPDX-License-Identifier: MIT */
/* Names what is no evidence by its first bytes (input-formats.md 5), so that nobody wonders why it was passed over. */

#include "input/noevidence.h"

#include <string.h>

#include "input/table/table.h"

static const struct known_magic {
	size_t at;
	const char *bytes;
	size_t n;
	const char *why;
} known_magics[] = {
	{ 0, "\x96\xd5\x75\x21", 4,
	  "a binary file of sysstat: export it with \"sadf -j FILE -- -n DEV,EDEV,TCP,ETCP,SOFT,SOCK\"" },
	{ 0, "\xd5\x96\x21\x75", 4,
	  "a binary file of sysstat: export it with \"sadf -j FILE -- -n DEV,EDEV,TCP,ETCP,SOFT,SOCK\"" },
	{ 0, "SQLite format 3\0", 16,
	  "an SQLite database: export its tables with \"sqlite3 -csv -header FILE 'SELECT ...'\"" },
	{ 0, "LPKSHHRH", 8, "a binary journal: export it with \"journalctl --file FILE -o json\"" },
	{ 0, "\177ELF", 4, "a program" },
	{ 0, "\xca\xfe\xba\xbe", 4, "a Java class" },
	{ 0, "JAVA PROFILE", 12, "a heap dump" },
	{ 0, "FLR\0", 4, "a flight recording: print what it holds with \"jfr print FILE\"" },
	{ 0, "%PDF", 4, "a PDF document" },
	{ 0, "\x89PNG", 4, "a picture" },
	{ 0, "\xff\xd8\xff", 3, "a picture" },
	{ 0, "GIF8", 4, "a picture" },
	{ 0, "7z\xbc\xaf\x27\x1c", 6, "a 7z archive, which is not read: unpack it first" },
	{ 0, "Rar!\x1a\x07", 6, "a RAR archive, which is not read: unpack it first" },
	{ 0, "MSCF", 4, "a cabinet archive, which is not read: unpack it first" },
	{ 0, "\xd0\xcf\x11\xe0", 4, "an Office document: save its sheets as CSV" },
	{ 0, "<!DOCTYPE", 9, "a web page" },
	{ 0, "<html", 5, "a web page" },
	{ 0, "<?xml", 5, "an XML document" },
	{ 0, "#!", 2, "a script" },
	{ 0, "-- MySQL dump", 13, "an SQL dump: export the tables as CSV, or with \"mysql -B -e 'SELECT ...'\"" },
	{ 0, "--\n-- PostgreSQL database", 25, "an SQL dump: export the tables with \"COPY (SELECT ...) TO STDOUT CSV HEADER\"" },
	{ 0, "INSERT INTO ", 12, "an SQL dump: export the tables as CSV" },
	{ 0, "\x1b[", 2, "the screen of a terminal program (watch?): record a loop with a clock line instead" },
};

/* Of no fixed first bytes: all of its marks stand in what is seen of it. */
static const struct known_marks {
	const char *marks[4]; /* NULL: no more */
	const char *why;
} known_marks[] = {
	/* search/jobs/ID/results of Splunk's REST API, output_mode; json_rows and json have their rows one by one. */
	{ { "\"init_offset\"", "\"fields\"", "\"columns\"" },
	  "results of a Splunk search by columns (output_mode=json_cols): export them with output_mode=json or csv" },
	{ { "\"preview\"", "\"fields\"", "\"columns\"" },
	  "results of a Splunk search by columns (output_mode=json_cols): export them with output_mode=json or csv" },
	{ { "<results", "<fieldOrder>", "<field" },
	  "results of a Splunk search as XML (output_mode=xml): export them with output_mode=json or csv" },
	{ { "<results preview=", "<result offset=", "<field k=" },
	  "results of a Splunk search as XML (output_mode=xml): export them with output_mode=json or csv" },
	{ { "<feed", "http://www.w3.org/2005/Atom", "http://dev.splunk.com/ns/rest" },
	  "an answer of Splunk's REST API as Atom: export the results of the search with output_mode=json or csv" },
};

/* Of text that begins as JSON or XML does; a log may hold any words. */
static struct sv marks_why(struct sv head)
{
	const struct sv text = sv_trim(head);
	size_t at;

	if (!sv_starts_with(text, SV("<")) && !sv_starts_with(text, SV("{")))
		return SV_ABSENT;
	for (size_t i = 0; i < sizeof known_marks / sizeof known_marks[0]; i++) {
		size_t found = 0, wanted = 0;

		for (; wanted < 4 && known_marks[i].marks[wanted] != NULL; wanted++)
			found += sv_find(text, sv_of(known_marks[i].marks[wanted]), &at);
		if (found == wanted)
			return sv_of(known_marks[i].why);
	}
	return SV_ABSENT;
}

static struct sv magic_why(struct sv head)
{
	for (size_t i = 0; i < sizeof known_magics / sizeof known_magics[0]; i++) {
		const struct known_magic *m = &known_magics[i];

		if (head.n >= m->at + m->n && memcmp(head.p + m->at, m->bytes, m->n) == 0)
			return sv_of(m->why);
	}
	return SV_ABSENT;
}

/* Control characters that text does not hold, beyond one in twenty. */
static bool is_binary(struct sv head)
{
	size_t strange = 0;

	for (size_t i = 0; i < head.n; i++) {
		unsigned char c = (unsigned char)head.p[i];

		if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b)
			strange++;
	}
	return strange > head.n / 20;
}

/* "{" before a name, "[" before a value that is no number: a log may begin with "[2026-". */
static bool is_json(struct sv head)
{
	struct sv text = sv_trim(head);
	struct sv rest = sv_trim(sv_sub(text, 1, text.n));

	if (text.n == 0 || rest.n == 0)
		return false;
	if (text.p[0] == '{')
		return rest.p[0] == '"' || rest.p[0] == '}';
	return text.p[0] == '[' && strchr("{[\"", rest.p[0]) != NULL && rest.p[0] != '\0';
}

struct sv noevidence_why(struct sv head, const struct rules *rules, struct arena *a)
{
	struct sv why = marks_why(head);

	if (sv_is_absent(why))
		why = magic_why(head);
	if (!sv_is_absent(why))
		return why;
	if (is_binary(head))
		return SV("binary data of no known kind");
	if (table_unmapped(head, rules, a, &why))
		return why;
	if (is_json(head))
		return SV("a JSON document of no known kind");
	if (sv_trim(head).n == 0)
		return SV("nothing but white space");
	return SV("text that is no log, table or sampling loop of a known form");
}

/* Lines of a log that are longer than this on the average hold more than messages. */
#define LONG_LINE_BYTES 4096

bool noevidence_is_open(struct sv head)
{
	size_t lines = 0;

	if (sv_leading_zeros(head) == head.n)
		return true;
	for (size_t i = 0; i < head.n; i++)
		lines += head.p[i] == '\n';
	return lines < head.n / LONG_LINE_BYTES && sv_is_absent(magic_why(head)) && !is_binary(head);
}
