/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_WRAPPED_TEXT_H
#define AFTERSHOCK_TESTS_WRAPPED_TEXT_H

/*
 * Logs in wrappers, drawn from a stream of bytes: mostly what such a log is, with
 * what there is to get wrong in between. Shared by a fuzzer and a unit test.
 */

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"

/* Bytes to draw from; behind the last come numbers from a seed. */
struct draw {
	const uint8_t *p;
	size_t n;
	uint64_t seed;
};

static inline unsigned draw(struct draw *d, unsigned below)
{
	if (d->n > 0) {
		d->n--;
		return *d->p++ % below;
	}
	d->seed = d->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(d->seed >> 33) % below;
}

/* A clock, and who writes. */
struct wrapped_log {
	struct draw *draw;
	int64_t ms;
	unsigned writer, pods, entries;
	int zone_hours;		/* of the inner times */
	bool objects;		/* the program writes objects */
	bool few;		/* of its lines, none is odd */
	enum drawn_colours { DRAWN_PLAIN, DRAWN_COLOURED_TEXTS, DRAWN_COLOURED_LINES } colours;
};

static inline void add_clock(struct buf *b, int64_t ms, int hours, const char *date, char mark)
{
	const int64_t s = ms / 1000 + hours * 3600 + 13 * 3600;

	buf_printf(b, "%s%02d:%02d:%02d%c%03d", date, (int)(s / 3600 % 24), (int)(s / 60 % 60), (int)(s % 60), mark, (int)(ms % 1000));
}

#define DRAWN_EVENT "[Consumer clientId=c-1, groupId=refunds] Adding newly assigned partitions: [refunds-0]"
#define DRAWN_REVOKED "[Consumer clientId=c-1, groupId=refunds] Revoke previously assigned partitions [refunds-0]"

static inline const char *drawn_message(struct wrapped_log *w)
{
	static const char *const usual[] = {
		"order 17 accepted", "GET /orders took 3 ms", "charge accepted amount=12", "[Consumer clientId=c-1, groupId=refunds] Committed offset 3",
		"polled 3 records", "state=\"open\" of <17> & \\path\\x", "caf\xc3\xa9 ready", "heartbeat=3ms of the pool", DRAWN_EVENT,
		"{\"event\":\"audit\",\"ids\":[\"a\",\"b\"],\"at\":17}",
	};
	static const char *const odd[] = {
		"", " ", "a \"rebalance\" began", DRAWN_REVOKED, "they \xf0\x9f\x98\x80 revoked \"it\"", "tab\tand \x1b[31mcolour\x1b[0m", "\x01 control", "\x02 noise",
		"\xff\xfe not UTF-8", "[2026-11-30 13:00:01,000] INFO inside (a.b.C)", "x[2026-11-30 13:00:01,000] INFO two (a.b.C)", "}{", "{\"a\":1",
		"{\"level\":\"INFO\",\"message\":\"inside\",\"ts\":1796043600.5}", "two\nlines", "ends in a backslash\\", "ends in CR\r",
		"group coordinator \"x\\\" y", "main x[3]: text", "[12,13]", "[12, 120 ]", "12:text", "warn  : [  711.769086] text", "log/app.log:x", "12-x.y:3-2026-11-30 13:00:01 z", "Member c-1 in group refunds has failed, removing it from the group",
		"Nov 30 13:00:00 host x[1]: y", "/ Lost previously assigned partitions refunds-0", "re-joining", "rejo\xc3\xa9ning",
	};

	if (!w->few && draw(w->draw, 12) == 0)
		return odd[draw(w->draw, sizeof odd / sizeof odd[0])];
	return usual[draw(w->draw, sizeof usual / sizeof usual[0])];
}

/* As encoders of objects do; a few write other characters as their numbers. */
static inline void add_escaped(struct buf *b, struct wrapped_log *w, const char *text, size_t n)
{
	const bool numbers = draw(w->draw, 16) == 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c == '\n')
			buf_add(b, SV("\\n"));
		else if (c == '\r')
			buf_add(b, SV("\\r"));
		else if (c == '\t')
			buf_add(b, SV("\\t"));
		else if (c < 0x20 || c == '<' || c == '&' || (numbers && c < 0x7f && draw(w->draw, 8) == 0))
			buf_printf(b, "\\u%04x", c);
		else
			buf_add_char(b, (char)c);
	}
}

static inline void add_object(struct buf *b, struct wrapped_log *w)
{
	const char *message = drawn_message(w);

	switch (draw(w->draw, w->few ? 2 : 8)) {
	case 0:
		buf_add(b, SV("{\"level\":\"info\",\"ts\":"));
		buf_printf(b, "%" PRId64 ".%03d,\"msg\":\"", INT64_C(1796043600) + w->ms / 1000, (int)(w->ms % 1000));
		add_escaped(b, w, message, strlen(message));
		buf_printf(b, "\",\"n\":%u}", draw(w->draw, 1000));
		break;
	case 3:
		buf_add(b, SV("{\"time\":null,\"msg\":\"x\",\"level\":\"INFO\",\"a\":{\"b\":true},\"list\":[1,{\"x\":2}]}"));
		break;
	case 4:
		buf_printf(b, "{\"message\":\"%s\",\"message\":\"twice\",\"@timestamp\":\"2026-11-30T13:00:00Z\"}", draw(w->draw, 2) ? "x" : "y");
		break;
	default:
		add_clock(b, w->ms, 0, "{\"@timestamp\":\"2026-11-30T", '.');
		buf_add(b, SV("Z\",\"log\":{\"level\":\"INFO\"},\"message\":\""));
		add_escaped(b, w, message, strlen(message));
		buf_printf(b, "\",\"host\":\"h-%u\",\"error\":%s}", draw(w->draw, 3), draw(w->draw, 4) == 0 ? "\"heartbeat \\\"lost\\\"\"" : "null");
		break;
	}
}

static inline void add_inner(struct buf *b, struct wrapped_log *w)
{
	static const char *const below[] = { "\tat a.b.C(C.java:12)", "Caused by: java.io.IOException: x", "java.lang.X: y", "", "\t... 3 more", "    indented" };
	const unsigned what = draw(w->draw, 100);
	const char *message;

	if (what < 8 && !w->objects) {
		buf_add(b, sv_of(below[draw(w->draw, sizeof below / sizeof below[0])]));
		return;
	}
	if (what == 9 && !w->few) {
		buf_add(b, sv_of(drawn_message(w)));
		return;
	}
	if (w->objects || what == 10) {
		add_object(b, w);
		return;
	}
	message = drawn_message(w);
	if (what < 90) {
		add_clock(b, w->ms, w->zone_hours, "2026-11-30 ", ',');
		buf_printf(b, " INFO  [worker-%u] a.b.C - %s", draw(w->draw, 3), message);
	} else {
		add_clock(b, w->ms, w->zone_hours, "[2026-11-30 ", ',');
		buf_printf(b, "] INFO %s (a.b.C)", message);
	}
	/* What is longer than a piece of docker's, and than what is kept. */
	if (!w->few && draw(w->draw, 150) == 0)
		for (unsigned i = 0, n = draw(w->draw, 2) == 0 ? 17000 : 70000; i < n; i++)
			buf_add_char(b, 'x');
}

/* The time of a wrapper, without the last zeros of its fraction or with them. */
static inline void add_outer(struct buf *b, struct wrapped_log *w, const char *date, bool trimmed)
{
	add_clock(b, w->ms, 0, date, '.');
	if (!trimmed)
		buf_printf(b, "%06u", draw(w->draw, 256) * 3900);
	else if (w->ms % 10 != 0)
		buf_printf(b, "%u", 1 + draw(w->draw, 9));
}

enum drawn_wrapper {
	DRAWN_NONE, DRAWN_CRI, DRAWN_DOCKER, DRAWN_DOCKER_MORE, DRAWN_SYSLOG, DRAWN_SYSLOG_5424, DRAWN_JOURNAL, DRAWN_KUBECTL, DRAWN_KUBECTL_TIMES, DRAWN_STERN,
	DRAWN_COMPOSE, DRAWN_TIMES, DRAWN_LOKI, DRAWN_RSYSLOG, DRAWN_PRIORITY, DRAWN_GREP, DRAWN_DMESG, DRAWN_CLOUDWATCH, DRAWN_CRI_OF_KUBECTL,
	DRAWN_GREP_NAME, DRAWN_GREP_NUMBER, DRAWN_GREP_OF_KUBECTL, DRAWN_QUOTE, DRAWN_CLOUDWATCH_SHORT,
	DRAWN_LOKI_JSON, DRAWN_ELASTIC, DRAWN_CLOUDWATCH_JSON, DRAWN_SPLUNK, DRAWN_JOURNAL_JSON, DRAWN_STERN_JSON, DRAWN_WRAPPERS
};

/* Of as many digits as may be, and a few more. */
static inline void add_number(struct buf *b, struct wrapped_log *w, char mark)
{
	static const char digits[] = "1234567890123456789012";
	const unsigned n = w->few ? 1 + draw(w->draw, 5) : 1 + draw(w->draw, 12) * draw(w->draw, 3) / 2;

	buf_printf(b, "%.*s%u%c", (int)n, digits, draw(w->draw, 10), mark);
}

/* The id of an entry; some are shipped again, of those before. */
static inline unsigned drawn_id(struct wrapped_log *w)
{
	return !w->few && w->entries > 0 && draw(w->draw, 20) == 0 ? w->entries - draw(w->draw, w->entries < 9 ? w->entries : 9) : ++w->entries;
}

/* An object of an export, and what may stand in it beside what is always there. */
static inline void begin_export(struct buf *b, struct wrapped_log *w)
{
	static const char *const odd[] = {
		"\"a\":null,", "\"a\":true,", "\"a\":{},", "\"a\":[{\"b\":1}],", "\"message\":\"twice\",", "\"_raw\":\"other\",", "\"level\":\"INFO\",",
		"\"timestamp\":null,", "\"_source\":{\"level\":\"INFO\",\"message\":\"x\"},", "\"log\":\"x\",\"stream\":\"stdout\",\"time\":\"x\",", "\"line\":{},",
		"\"host\":\"a\\u0062c\",", "\"_HOSTNAME\":\"other\",", "\"labels\":\"x\",", "\"n\":1e5,", "\"n\":12345678901234567890,",
	};

	buf_add_char(b, '{');
	if (!w->few && draw(w->draw, 30) == 0)
		buf_add(b, sv_of(odd[draw(w->draw, sizeof odd / sizeof odd[0])]));
}

static inline void add_wrapped(struct buf *b, struct wrapped_log *w, enum drawn_wrapper wrapper, const char *text, size_t n)
{
	const int64_t epoch_ms = INT64_C(1796043600000) + w->ms;
	const unsigned p = w->writer;
	const char *stream = draw(w->draw, 20) == 0 ? "stderr" : "stdout";
	size_t cut = n;

	switch (wrapper) {
	case DRAWN_CRI:
		/* A part of them is split, anywhere. */
		if (!w->few && draw(w->draw, 25) == 0)
			cut = draw(w->draw, 256) % (n + 1);
		if (cut < n) {
			add_outer(b, w, "2026-11-30T", true);
			buf_printf(b, "Z %s P %.*s\n", stream, (int)cut, text);
		} else {
			cut = 0;
		}
		add_outer(b, w, "2026-11-30T", true);
		buf_printf(b, "Z %s F %.*s", stream, (int)(n - cut), text + cut);
		return;
	case DRAWN_DOCKER:
		buf_add(b, SV("{\"log\":\""));
		add_escaped(b, w, text, n);
		/* One without its end goes on, or is the last. */
		buf_printf(b, "%s\",\"stream\":\"%s\",\"time\":\"", !w->few && draw(w->draw, 40) == 0 ? "" : "\\n", stream);
		add_outer(b, w, "2026-11-30T", true);
		buf_add(b, SV("Z\"}"));
		return;
	case DRAWN_DOCKER_MORE:
		buf_add(b, SV("{\"time\":\""));
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "Z\",\"stream\":\"%s\",\"log\":\"", stream);
		add_escaped(b, w, text, n);
		buf_printf(b, "\\n\",\"kubernetes\":{\"pod_name\":\"orders-%u\",\"container_name\":\"app\"}}", p);
		return;
	case DRAWN_SYSLOG:
		buf_printf(b, "Nov 30 %02d:%02d:%02d broker-%u orders[%u]: ", (int)(13 + w->ms / 3600000 % 10), (int)(w->ms / 60000 % 60), (int)(w->ms / 1000 % 60), p, 400 + p);
		break;
	case DRAWN_SYSLOG_5424:
		buf_add(b, SV("<134>1 "));
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "Z broker-%u orders %u - - ", p, 400 + p);
		break;
	case DRAWN_JOURNAL:
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "+00:00 node-1 java[%u]: ", 400 + p);
		break;
	case DRAWN_KUBECTL:
		buf_printf(b, "[pod/orders-%u/app] ", p);
		break;
	case DRAWN_KUBECTL_TIMES:
		buf_printf(b, "[pod/orders-%u/app] ", p);
		add_outer(b, w, "2026-11-30T", false);
		buf_add(b, SV("Z "));
		break;
	case DRAWN_STERN:
		buf_printf(b, "%sorders-6d-%u app ", p == 1 ? "v.1-" : "", p);
		break;
	case DRAWN_COMPOSE:
		buf_printf(b, "%s-%u  | ", p == 1 ? "a" : "orders", p);
		break;
	case DRAWN_TIMES:
		add_outer(b, w, "2026-11-30T", false);
		buf_add(b, SV("Z "));
		break;
	case DRAWN_LOKI:
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "Z {pod=\"orders-%u\", app=\"x\"} ", p);
		break;
	case DRAWN_RSYSLOG:
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "+01:00 broker-%u %s: ", p, draw(w->draw, 2) == 0 ? "kernel" : "orders");
		break;
	case DRAWN_PRIORITY:
		buf_printf(b, "<13>Nov 30 13:%02d:%02d broker-%u ", (int)(w->ms / 60000 % 60), (int)(w->ms / 1000 % 60), p);
		break;
	case DRAWN_GREP:
		buf_printf(b, "log/app-%u.log:", p);
		add_number(b, w, ':');
		break;
	case DRAWN_GREP_NAME:
		buf_printf(b, p == 1 ? "a.lo%u:" : "app-%u.log:", p);
		break;
	case DRAWN_GREP_NUMBER:
		add_number(b, w, ':');
		break;
	case DRAWN_GREP_OF_KUBECTL:
		buf_add(b, SV("log/k.log:"));
		add_number(b, w, !w->few && draw(w->draw, 8) == 0 ? '-' : ':');
		buf_printf(b, "[pod/orders-%u/app] ", p);
		break;
	case DRAWN_QUOTE:
		buf_add(b, w->few || draw(w->draw, 8) != 0 ? SV("> ") : draw(w->draw, 2) == 0 ? SV(">") : SV("> >"));
		break;
	case DRAWN_DMESG:
		buf_printf(b, "[%5d.%06d] ", (int)(w->ms / 1000), (int)(w->ms % 1000) * 1000);
		break;
	case DRAWN_CLOUDWATCH:
		add_clock(b, w->ms, 0, "2026-11-30T", '.');
		buf_printf(b, "000Z ecs/app/%u ", p);
		break;
	case DRAWN_CLOUDWATCH_SHORT:
		add_clock(b, w->ms, 0, "2026-11-30T", '.');
		buf_printf(b, "+00:00 ecs/app/%u ", p);
		break;
	case DRAWN_CRI_OF_KUBECTL:
		add_outer(b, w, "2026-11-30T", true);
		buf_printf(b, "Z stdout F %s", p == 0 ? "" : "[pod/inner-1/app] ");
		break;
	case DRAWN_LOKI_JSON:
		begin_export(b, w);
		buf_printf(b, "\"labels\":{\"app\":\"x\",\"pod\":\"orders-%u\"},\"line\":\"", p);
		add_escaped(b, w, text, n);
		buf_add(b, SV("\",\"timestamp\":\""));
		add_outer(b, w, "2026-11-30T", true);
		buf_add(b, SV("Z\"}"));
		return;
	case DRAWN_ELASTIC:
		begin_export(b, w);
		buf_printf(b, "\"_index\":\"logs\",\"_id\":\"%x\",\"_score\":1.0,\"_source\":{\"message\":\"", drawn_id(w));
		add_escaped(b, w, text, n);
		buf_add(b, SV("\",\"@timestamp\":\""));
		add_outer(b, w, "2026-11-30T", false);
		buf_printf(b, "Z\",\"host\":{\"name\":\"node-%u\"}},\"sort\":[%" PRId64 ",%u]}", p, epoch_ms, draw(w->draw, 100));
		return;
	case DRAWN_CLOUDWATCH_JSON:
		begin_export(b, w);
		buf_printf(b, "\"timestamp\":%" PRId64 ",\"message\":\"", epoch_ms);
		add_escaped(b, w, text, n);
		buf_printf(b, "\",\"logStreamName\":\"app/%u\",\"ingestionTime\":%" PRId64 ",\"eventId\":\"37%030u\"}", p, epoch_ms + 900, drawn_id(w));
		return;
	case DRAWN_SPLUNK:
		begin_export(b, w);
		buf_printf(b, "\"preview\":%s,\"result\":{\"_cd\":\"2:%u\",\"_bkt\":\"main~2\",\"_raw\":\"", !w->few && draw(w->draw, 20) == 0 ? "true" : "false", drawn_id(w));
		add_escaped(b, w, text, n);
		buf_add(b, SV("\",\"_time\":\""));
		add_clock(b, w->ms, 1, "2026-11-30T", '.');
		buf_printf(b, "+01:00\",\"host\":\"node-%u\",\"source\":\"/var/log/app.log\"}}", p);
		return;
	case DRAWN_JOURNAL_JSON:
		begin_export(b, w);
		buf_printf(b, "\"__CURSOR\":\"s=a;i=%x\",\"MESSAGE\":\"", drawn_id(w));
		add_escaped(b, w, text, n);
		buf_printf(b, "\",\"_HOSTNAME\":\"node-1\",\"_PID\":\"%u\",\"SYSLOG_IDENTIFIER\":\"java\",\"__REALTIME_TIMESTAMP\":\"%" PRId64 "\"}", 400 + p, epoch_ms * 1000);
		return;
	case DRAWN_STERN_JSON:
		begin_export(b, w);
		buf_add(b, SV("\"message\":\""));
		add_escaped(b, w, text, n);
		buf_printf(b, "\",\"namespace\":\"x\",\"podName\":\"orders-%u\",\"containerName\":\"app\"}", p);
		return;
	case DRAWN_NONE:
	case DRAWN_WRAPPERS:
		break;
	}
	buf_add(b, (struct sv){ text, n });
}

/*
 * As a terminal is told colours, mostly before words; and in messages what is no
 * sequence, or none that is whole: a line's head, which that would change, is known
 * by what one appender writes (scan.h).
 */
static inline void add_colours(struct buf *b, struct wrapped_log *w, const char *text, size_t n)
{
	static const char *const usual[] = { "\x1b[32m", "\x1b[0;39m", "\x1b[0m", "\x1b[38;5;12m", "\x1b[2m", "\x1b[K" };
	static const char *const odd[] = { "\x1b", "\x1b[", "\x1b[3", "\x1bM", "\x1b\x1b[1m", "\x1b[1\x1b[1m", "\x1b]0;x\x07", "\x1b\r" };

	size_t message_at = n;

	for (size_t i = 7; i <= n; i++)
		if (memcmp(text + i - 3, " - ", 3) == 0 || memcmp(text + i - 7, "] INFO ", 7) == 0)
			message_at = i;
	for (size_t i = 0; i <= n; i++) {
		if ((i == 0 || i == n || text[i - 1] == ' ') && draw(w->draw, 3) == 0)
			buf_add(b, sv_of(usual[draw(w->draw, sizeof usual / sizeof usual[0])]));
		if (i >= message_at && !w->few && draw(w->draw, 200) == 0)
			buf_add(b, sv_of(odd[draw(w->draw, sizeof odd / sizeof odd[0])]));
		if (i < n)
			buf_add_char(b, text[i]);
	}
}

static inline void add_drawn_line(struct buf *b, struct wrapped_log *w, enum drawn_wrapper wrapper)
{
	struct buf inner, coloured;

	buf_init(&inner);
	buf_init(&coloured);
	add_inner(&inner, w);
	if (w->colours == DRAWN_COLOURED_TEXTS)
		add_colours(&coloured, w, inner.p != NULL ? inner.p : "", inner.n);
	else
		buf_add(&coloured, buf_sv(&inner));
	buf_clear(&inner);
	add_wrapped(&inner, w, wrapper, coloured.p != NULL ? coloured.p : "", coloured.n);
	if (w->colours == DRAWN_COLOURED_LINES)
		add_colours(b, w, inner.p != NULL ? inner.p : "", inner.n);
	else
		buf_add(b, buf_sv(&inner));
	buf_fini(&inner);
	buf_fini(&coloured);
}

/* So many lines, most of them in one wrapper, which may change in the middle. */
static inline void wrapped_text(struct buf *b, struct wrapped_log *w, enum drawn_wrapper wrapper, unsigned lines)
{
	const unsigned change_at = !w->few && draw(w->draw, 4) == 0 ? lines / 2 : lines;

	for (unsigned i = 0; i < lines; i++) {
		enum drawn_wrapper other = wrapper;

		if (i == change_at)
			wrapper = (enum drawn_wrapper)draw(w->draw, DRAWN_WRAPPERS);
		if (!w->few && draw(w->draw, 60) == 0)
			other = (enum drawn_wrapper)draw(w->draw, DRAWN_WRAPPERS);
		w->ms += draw(w->draw, 30) == 0 ? draw(w->draw, 256) * 40 : draw(w->draw, 40);
		if (draw(w->draw, 80) == 0)
			w->ms -= draw(w->draw, 256) * 16;
		w->ms = w->ms < 0 ? 0 : w->ms;
		w->writer = draw(w->draw, w->pods);
		add_drawn_line(b, w, other);
		if (i + 1 < lines || draw(w->draw, 3) != 0)
			buf_add(b, !w->few && draw(w->draw, 50) == 0 ? SV("\r\n") : SV("\n"));
	}
}

#endif
