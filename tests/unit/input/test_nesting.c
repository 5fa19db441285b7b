/* SPDX-License-Identifier: MIT */
/*
 * A log through every wrapper inside every other in every form, and inside every
 * two others in lines: what comes out is what the plain log gives. Shapes:
 * input-formats.md 4.1.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "input_kit.h"

/* 2026-11-30T11:33:04.220Z */
#define AT INT64_C(1796038384220000)
#define LAST (AT + 1780 * US_PER_MS)

/* Three records: one line, one with a trace, one with a block. */
static const char *const plain[] = {
	("[2026-11-30 11:33:04,220] INFO [GroupCoordinator 1]: Member m-1 in group refunds has failed, removing it from the group "
	 "(kafka.coordinator.group.GroupCoordinator)"),
	"[2026-11-30 11:33:05,000] ERROR failed: \"no\\way\" (a.B)",
	"java.lang.IllegalStateException: no",
	"\tat a.B.c(B.java:1)",
	"Caused by: java.lang.X",
	"[2026-11-30 11:33:06,000] INFO ConsumerConfig values: ",
	"\tclient.id = c-1",
	"\tgroup.id = refunds",
	"\tsession.timeout.ms = 10000",
	"",
};
#define PLAIN_COUNT (sizeof plain / sizeof plain[0])
/* When each was written: tenths of a second behind 11:33:04. */
static const int written[PLAIN_COUNT] = { 3, 11, 11, 11, 11, 21, 21, 21, 21, 21 };

/* ---- wrapping ---- */

/* A time of a wrapper: of the line, and a little later for each layer around it. */
struct stamp {
	int tenths, layer;
};

static void add_iso(struct buf *b, struct stamp s, const char *zone)
{
	buf_printf(b, "2026-11-30T11:33:%02d.%d%02d000000%s", 4 + s.tenths / 10, s.tenths % 10, s.layer, zone);
}

static void add_bsd(struct buf *b, struct stamp s)
{
	buf_printf(b, "Nov 30 11:33:%02d", 4 + s.tenths / 10);
}

static int64_t us_of(struct stamp s)
{
	return AT - 220 * US_PER_MS + s.tenths * 100 * US_PER_MS + s.layer * US_PER_MS;
}

static void add_docker(struct buf *b, struct sv line, const char *end, struct stamp s)
{
	struct buf text;

	buf_init(&text);
	buf_add(&text, line);
	buf_add(&text, sv_of(end));
	buf_add(b, SV("{\"log\":"));
	buf_add_json(b, buf_sv(&text));
	buf_add(b, SV(",\"stream\":\"stdout\",\"time\":\""));
	add_iso(b, s, "Z");
	buf_add(b, SV("\"}"));
	buf_fini(&text);
}

static void as_docker(struct buf *b, struct sv line, struct stamp s)
{
	add_docker(b, line, "\n", s);
}

static void as_docker_pieces(struct buf *b, struct sv line, struct stamp s)
{
	add_docker(b, sv_sub(line, 0, line.n / 2), "", s);
	buf_add_char(b, '\n');
	add_docker(b, sv_sub(line, line.n / 2, line.n), "\n", s);
}

static void as_cri(struct buf *b, struct sv line, struct stamp s)
{
	add_iso(b, s, "Z");
	buf_add(b, SV(" stdout F "));
	buf_add(b, line);
}

/* A line that was split where the runtime's buffer was full: in its middle here. */
static void as_cri_pieces(struct buf *b, struct sv line, struct stamp s)
{
	add_iso(b, s, "Z");
	buf_printf(b, " stdout P %.*s\n", SV_ARG(sv_sub(line, 0, line.n / 2)));
	as_cri(b, sv_sub(line, line.n / 2, line.n), s);
}

static void as_timestamps(struct buf *b, struct sv line, struct stamp s)
{
	add_iso(b, s, "Z");
	buf_add_char(b, ' ');
	buf_add(b, line);
}

static void as_pod(struct buf *b, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(b, SV("[pod/kafka-0/kafka] "));
	buf_add(b, line);
}

static void as_compose(struct buf *b, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(b, SV("kafka-1  | "));
	buf_add(b, line);
}

static void as_stern(struct buf *b, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(b, SV("kafka-0 kafka "));
	buf_add(b, line);
}

static void as_syslog(struct buf *b, struct sv line, struct stamp s)
{
	add_bsd(b, s);
	buf_add(b, SV(" node-a java[412]: "));
	buf_add(b, line);
}

static void as_3164(struct buf *b, struct sv line, struct stamp s)
{
	buf_add(b, SV("<134>"));
	as_syslog(b, line, s);
}

static void as_5424(struct buf *b, struct sv line, struct stamp s)
{
	buf_add(b, SV("<134>1 "));
	add_iso(b, s, "Z");
	buf_add(b, SV(" node-a java 412 - [x@1 y=\"z\"] "));
	buf_add(b, line);
}

static void as_rsyslog(struct buf *b, struct sv line, struct stamp s)
{
	add_iso(b, s, "+00:00");
	buf_add(b, SV(" node-a java[412]: "));
	buf_add(b, line);
}

static void as_journal(struct buf *b, struct sv line, struct stamp s)
{
	buf_printf(b, "{\"__REALTIME_TIMESTAMP\":\"%lld\",\"_HOSTNAME\":\"node-a\",\"SYSLOG_IDENTIFIER\":\"java\",\"_PID\":\"412\",\"MESSAGE\":",
		   (long long)us_of(s));
	buf_add_json(b, line);
	buf_add_char(b, '}');
}

static void as_cloudwatch(struct buf *b, struct sv line, struct stamp s)
{
	buf_printf(b, "{\"logStreamName\":\"s\",\"timestamp\":%lld,\"message\":", (long long)(us_of(s) / US_PER_MS));
	buf_add_json(b, line);
	buf_add_char(b, '}');
}

static void as_loki(struct buf *b, struct sv line, struct stamp s)
{
	buf_add(b, SV("{\"labels\":{\"pod\":\"kafka-0\"},\"timestamp\":\""));
	add_iso(b, s, "Z");
	buf_add(b, SV("\",\"line\":"));
	buf_add_json(b, line);
	buf_add_char(b, '}');
}

static void as_logcli(struct buf *b, struct sv line, struct stamp s)
{
	buf_printf(b, "2026-11-30T11:33:%02dZ {app=\"kafka\", pod=\"kafka-0\"} ", 4 + s.tenths / 10);
	buf_add(b, line);
}

static void as_elasticsearch(struct buf *b, struct sv line, struct stamp s)
{
	buf_add(b, SV("{\"_index\":\"i\",\"_source\":{\"@timestamp\":\""));
	add_iso(b, s, "Z");
	buf_add(b, SV("\",\"message\":"));
	buf_add_json(b, line);
	buf_add(b, SV("}}"));
}

static void as_splunk(struct buf *b, struct sv line, struct stamp s)
{
	buf_add(b, SV("{\"preview\":false,\"result\":{\"_time\":\""));
	add_iso(b, s, "+00:00");
	buf_add(b, SV("\",\"_raw\":"));
	buf_add_json(b, line);
	buf_add(b, SV("}}"));
}

static void as_gcp(struct buf *b, struct sv line, struct stamp s)
{
	static int entry;

	buf_printf(b, "{\"insertId\":\"i%d\",\"timestamp\":\"", ++entry);
	add_iso(b, s, "Z");
	buf_add(b, SV("\",\"textPayload\":"));
	buf_add_json(b, line);
	buf_add_char(b, '}');
}

static void as_quote(struct buf *b, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(b, SV("> "));
	buf_add(b, line);
}

static void as_colours(struct buf *b, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(b, SV("\x1b[32m"));
	buf_add(b, line);
	buf_add(b, SV("\x1b[0m"));
}

static void as_grep(struct buf *b, struct sv line, struct stamp s)
{
	buf_printf(b, "logs/server.log:%d:", 100 + s.tenths);
	buf_add(b, line);
}

static void as_windows(struct buf *b, struct sv line, struct stamp s)
{
	buf_printf(b, "C:\\logs\\server.log:%d:", 100 + s.tenths);
	buf_add(b, line);
}

static const struct wrapping {
	const char *name;
	void (*wrap)(struct buf *b, struct sv line, struct stamp s);
	bool is_words;	/* begins with words that any text may begin with */
} wrappings[] = {
	{ "docker", as_docker, false },
	{ "docker's pieces", as_docker_pieces, false },
	{ "cri", as_cri, false },
	{ "cri's pieces", as_cri_pieces, false },
	{ "timestamps", as_timestamps, false },
	{ "pod", as_pod, false },
	{ "compose", as_compose, true },
	{ "stern", as_stern, true },
	{ "syslog", as_syslog, false },
	{ "3164", as_3164, false },
	{ "5424", as_5424, false },
	{ "rsyslog", as_rsyslog, false },
	{ "journal", as_journal, false },
	{ "cloudwatch", as_cloudwatch, false },
	{ "loki", as_loki, false },
	{ "logcli", as_logcli, false },
	{ "elasticsearch", as_elasticsearch, false },
	{ "splunk", as_splunk, false },
	{ "gcp", as_gcp, false },
	{ "quote", as_quote, true },
	{ "colours", as_colours, false },
	{ "grep", as_grep, true },
	{ "windows", as_windows, true },
};
#define WRAPPINGS (sizeof wrappings / sizeof wrappings[0])

/* ---- what must come out ---- */

static bool is_as_plain(const struct kit *k)
{
	size_t evictions = 0, settings = 0;

	for (size_t i = 0; i < k->event_count; i++) {
		const struct event *e = &k->events[i];

		if (e->type == EVENT_SESSION_EXPIRED)
			evictions += e->time.us == AT && sv_eq(event_text(e, FIELD_MEMBER), SV("m-1")) &&
				     sv_eq(event_text(e, FIELD_GROUP), SV("refunds"));
		if (e->type == EVENT_CLIENT_CONFIG)
			settings += e->time.us == LAST && sv_eq(event_text(e, FIELD_GROUP), SV("refunds"));
	}
	return evictions == 1 && settings == 3 && k->info.records == 3 && k->info.skipped == 0;
}

struct nest {
	size_t count;
	size_t layers[4];	/* the innermost first */
};

/*
 * stern's two words are told from any others by what follows them. Words that
 * tell nothing themselves cannot: such a line is a sentence.
 */
static bool is_certain(const struct nest *n)
{
	for (size_t layer = 0; layer < n->count; layer++) {
		size_t inner = layer;

		if (wrappings[n->layers[layer]].wrap != as_stern)
			continue;
		/* Colours come off before all. */
		while (inner > 0 && wrappings[n->layers[inner - 1]].wrap == as_colours)
			inner--;
		if (inner > 0 && wrappings[n->layers[inner - 1]].is_words)
			return false;
	}
	return true;
}

static void wrap_line(struct buf *out, const struct nest *n, size_t i)
{
	struct buf line, next;

	buf_init(&line);
	buf_init(&next);
	buf_add(&line, sv_of(plain[i]));
	for (size_t layer = 0; layer < n->count; layer++) {
		struct sv rest = buf_sv(&line);

		buf_clear(&next);
		while (!sv_is_absent(rest)) {
			wrappings[n->layers[layer]].wrap(&next, sv_cut(&rest, '\n'), (struct stamp){ written[i], (int)layer + 1 });
			if (!sv_is_absent(rest))
				buf_add_char(&next, '\n');
		}
		buf_clear(&line);
		buf_add(&line, buf_sv(&next));
	}
	buf_add(out, buf_sv(&line));
	buf_fini(&line);
	buf_fini(&next);
}

/* ---- in what is not read by lines ---- */

static void in_lines(struct buf *out, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(out, line);
	buf_add_char(out, '\n');
}

static void in_crlf(struct buf *out, struct sv line, struct stamp s)
{
	(void)s;
	buf_add(out, line);
	buf_add(out, SV("\r\n"));
}

static void in_utf16(struct buf *out, struct sv line, struct stamp s)
{
	(void)s;
	for (size_t i = 0; i <= line.n; i++) {
		buf_add_char(out, i < line.n ? line.p[i] : '\n');
		buf_add_char(out, '\0');
	}
}

static void in_indent(struct buf *out, struct sv line, struct stamp s)
{
	buf_add(out, SV("    "));
	in_lines(out, line, s);
}

static void in_frames(struct buf *out, struct sv line, struct stamp s)
{
	struct buf message;

	buf_init(&message);
	as_5424(&message, line, s);
	buf_printf(out, "%zu %.*s", message.n, SV_ARG(buf_sv(&message)));
	buf_fini(&message);
}

static void in_export(struct buf *out, struct sv line, struct stamp s)
{
	buf_printf(out, "__REALTIME_TIMESTAMP=%lld\n_HOSTNAME=node-a\nMESSAGE=%.*s\n\n", (long long)us_of(s), SV_ARG(line));
}

static void in_csv(struct buf *out, struct sv line, struct stamp s)
{
	add_iso(out, s, "Z");
	buf_add(out, SV(",node-a,\""));
	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] == '"')
			buf_add_char(out, '"');
		buf_add_char(out, line.p[i]);
	}
	buf_add(out, SV("\"\n"));
}

static void in_events(struct buf *out, struct sv line, struct stamp s)
{
	if (out->n > sizeof "{\"events\":[" - 1)
		buf_add_char(out, ',');
	as_cloudwatch(out, line, s);
}

static void in_otlp(struct buf *out, struct sv line, struct stamp s)
{
	buf_printf(out, "{\"resourceLogs\":[{\"scopeLogs\":[{\"logRecords\":[{\"timeUnixNano\":\"%lld000\",\"body\":{\"stringValue\":", (long long)us_of(s));
	buf_add_json(out, line);
	buf_add(out, SV("}}]}]}]}\n"));
}

static const struct form {
	const char *name, *begin, *end;
	void (*add)(struct buf *out, struct sv line, struct stamp s);
} forms[] = {
	{ "lines", "", "", in_lines },
	{ "CRLF", "", "", in_crlf },
	{ "lines behind a byte order mark", "\xef\xbb\xbf", "", in_lines },
	{ "UTF-16", "", "", in_utf16 },
	{ "an indent", "", "", in_indent },
	{ "frames", "", "", in_frames },
	{ "the journal's export", "", "", in_export },
	{ "a CSV", "@timestamp,host,message\n", "", in_csv },
	{ "a document", "{\"events\":[", "]}", in_events },
	{ "OTLP", "", "", in_otlp },
};
#define FORMS (sizeof forms / sizeof forms[0])

static void add_lines(struct buf *out, const struct nest *n, size_t i, const struct form *form)
{
	struct buf lines;
	struct sv rest;

	buf_init(&lines);
	wrap_line(&lines, n, i);
	rest = buf_sv(&lines);
	while (!sv_is_absent(rest))
		form->add(out, sv_cut(&rest, '\n'), (struct stamp){ written[i], (int)n->count + 1 });
	buf_fini(&lines);
}

/* False, and it is said, when not the same comes out. */
static bool holds(const struct rules *rules, const struct nest *n, const struct form *form)
{
	struct kit *k;
	struct buf text;
	bool same;

	if (!is_certain(n))
		return true;
	k = kit_new();
	buf_init(&text);
	buf_add(&text, sv_of(form->begin));
	for (size_t i = 0; i < PLAIN_COUNT; i++)
		add_lines(&text, n, i, form);
	buf_add(&text, sv_of(form->end));
	kit_read(k, &log_kind, buf_sv(&text), "nested", rules);
	same = is_as_plain(k);
	if (!same) {
		printf("%d records, %d events:", (int)k->info.records, (int)k->event_count);
		for (size_t layer = 0; layer < n->count; layer++)
			printf(" %s in", wrappings[n->layers[layer]].name);
		printf(" %s\n", form->name);
		if (getenv("NEST_SHOW") != NULL)
			printf("%.*s\n", SV_ARG(buf_sv(&text)));
	}
	buf_fini(&text);
	kit_free(k);
	return same;
}

static struct rules *shipped_rules(void)
{
	struct kit *k = kit_new();
	struct rules *r = kit_rules(k);

	kit_free(k);
	return r;
}

static void the_plain_log_in_each_form(void **state)
{
	struct rules *r = shipped_rules();
	size_t failed = 0;

	(void)state;
	for (size_t f = 0; f < FORMS; f++)
		failed += !holds(r, &(struct nest){ 0 }, &forms[f]);
	assert_int_equal(failed, 0);
	rules_free(r);
}

static void each_in_each_in_each_form(void **state)
{
	struct rules *r = shipped_rules();
	size_t failed = 0;

	(void)state;
	for (size_t f = 0; f < FORMS; f++)
		for (size_t i = 0; i < WRAPPINGS; i++) {
			failed += !holds(r, &(struct nest){ 1, { i } }, &forms[f]);
			for (size_t j = 0; j < WRAPPINGS; j++)
				failed += !holds(r, &(struct nest){ 2, { i, j } }, &forms[f]);
		}
	assert_int_equal(failed, 0);
	rules_free(r);
}

static void each_in_two(void **state)
{
	struct rules *r = shipped_rules();
	size_t failed = 0;

	(void)state;
	for (size_t i = 0; i < WRAPPINGS; i++)
		for (size_t j = 0; j < WRAPPINGS; j++)
			for (size_t l = 0; l < WRAPPINGS; l++)
				failed += !holds(r, &(struct nest){ 3, { i, j, l } }, &forms[0]);
	assert_int_equal(failed, 0);
	rules_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plain_log_in_each_form),
		cmocka_unit_test(each_in_each_in_each_form),
		cmocka_unit_test(each_in_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
