/* SPDX-License-Identifier: MIT */
/*
 * A log read by blocks, by one thread or several, gives what it gives line by
 * line: events, places, counts, problems. The lines are drawn from those that
 * have something to get wrong, with the fuzzer's own bytes between them.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scan_differ.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rules_text[] =
	"layout bracketed\nline ^\\[(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3})\\] (?<level>[A-Z]+) +(?:(?<body>.*) \\((?<logger>[\\w.$]+)\\)|(?<body>.*))$\n"
	"time yyyy-MM-dd HH:mm:ss,SSS\nexample [2026-11-30 12:00:00,000] INFO x\nexpect body=x\n\n"
	"layout plain\nline ^(?<time>\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}) (?<level>[A-Z]+) - (?<body>.*)$\n"
	"time yyyy-MM-dd HH:mm:ss.SSS\nexample 2026-11-30 12:00:00.000 INFO - x\nexpect body=x\n\n"
	"layout zoned\nline ^(?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d+(?:Z|[-+]\\d\\d:?\\d\\d)) +(?<level>[A-Z]+) (?<body>.*)$\n"
	"time yyyy-MM-ddTHH:mm:ss.SSSXXX\nexample 2026-11-30T12:00:00.000Z INFO x\nexpect body=x\n\n"
	"layout clock\nline ^(?<time>\\d\\d:\\d\\d:\\d\\d) (?<body>.*)$\ntime HH:mm:ss\nexample 12:00:00 x\nexpect body=x\n\n"
	"layout bare\nline ^(?<level>DEBUG|ERROR):(?<body>.*)$\nexample ERROR:x\nexpect body=x\n\n"
	"rule lost\nevent client.partitions_lost\nmatch ^Lost previously assigned (?<partitions>.*)$\nwithin lines ^group=(?<group>.*)$\n"
	"whose thread\nexample Lost previously assigned p-0\n|group=g\nexpect group=g partitions=p-0\n\n"
	"rule joined\nevent client.rejoins\nmatch (?:^|: )(?<reason>rejoined) (?<group>\\S+)$\nexample rejoined g\nexpect group=g reason=rejoined\n";

/* Pieces of lines: a byte of the input picks one. */
static const char *const pieces[] = {
	"[2026-11-30 12:00:00,001] INFO ", "[2026-11-30 12:00:00,501] WARN  ", "[2026-11-30 12:00:09,000] INFO ",
	"[2026-11-30 11:00:00,000] ERROR ", "[2026-13-30 12:00:00,000] INFO ", "[2026-11-30 12:00:60,000] INFO ",
	"2026-11-30 12:00:00.001 INFO - ", "2026-11-30 12:00:07.250 WARN - ", "2026-11-30 23:59:59.999 INFO - ",
	"2026-11-30T12:00:00.001Z INFO ", "2026-11-30T12:00:00.001+01:00 INFO ", "2026-11-30T12:00:03.5Z  WARN ",
	"12:00:01 ", "ERROR:", "\n", "\r\n", "\n", "\n\tat a.b.C(C.java:12)\n", "\n\t... 3 more\n", "\nCaused by: java.io.IOException: x\n",
	"\n  File \"/usr/lib/x.py\", line 3\n", "\n\tlog.txt:12:text\n", "\n\n", "Lost previously assigned t-0", "\ngroup=g\n", "rejoined g",
	"heartbeat", "they revoked it", "re-joining", "a rebalance", "\x1b[31m", "}{", "{\"log\":\"", "\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-30T12:00:00Z\"}",
	"2026-11-30T12:00:00.000000001Z stdout F ", "2026-11-30T12:00:00.000000001Z stdout P ", "Nov 30 12:00:00 host prog[12]: ",
	"[pod/a-1/c] ", "web-1  | ", "> ", "<134>1 ", "startTimeMs: 1", " (a.b.C)", "main x[3]: ", "\xef\xbb\xbf", "[1, 2]",
	"\n{ \"a\" : 1,\n", "\n}\n", " (b)", ": rejoined g", "Lost previously assigned rejoined g",
};

static void add_long(struct buf *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_add_char(b, 'x');
}

/* Each byte is a piece, or says that the next is one by itself, or a long run. */
static void make_text(struct buf *b, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size && b->n < 3u * LINE_BYTES_MAX; i++) {
		size_t count = sizeof pieces / sizeof pieces[0];

		if (data[i] < count)
			buf_add(b, sv_of(pieces[data[i]]));
		else if (data[i] == 255)
			add_long(b, 4096);
		else if (data[i] == 254)
			add_long(b, RECORD_BYTES_MAX - 64);
		else if (data[i] == 253 && i + 1 < size)
			buf_add_char(b, (char)data[++i]);
		else if (data[i] == 252)
			add_long(b, LINE_BYTES_MAX - 8);
		else
			buf_add_char(b, (char)data[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct rules *r = rules_parse(SV("x"), SV(rules_text), diag_new(a));
	struct log_manner m = { .threads = 1 };
	struct differ_input input = { .rules = r, .step = 1000 };
	struct buf text;

	if (r == NULL)
		__builtin_trap();
	if (size > 4 && size < 4096) {
		m.threads = 1 + data[0] % 3;
		m.head_bytes = 40 + data[1];
		m.block_bytes = 1 + data[2] * 3u;
		input.breaks = data[3] % 8 == 0;
		input.maps = data[3] / 8 % 2 == 1;
		buf_init(&text);
		make_text(&text, data + 4, size - 4);
		input.text = buf_sv(&text);
		if (!differ_same(&input, &m))
			__builtin_trap();
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
	return 0;
}
