/* SPDX-License-Identifier: MIT */
/* Any bytes as a wrapped log: records stand on lines that were there, in a number that they allow. */

#include "fuzz_kind.h"
#include "input/log/unwrap.h"

static const char rules_text[] = "layout bracketed\nline ^\\[(?<time>[-0-9]{10} [0-9:]{8},\\d{3})\\] (?<level>[A-Z]+) (?<body>.*)$\n"
				 "time yyyy-MM-dd HH:mm:ss,SSS\nexample [2026-11-30 12:00:00,000] INFO x\nexpect body=x\n\n"
				 "layout clock\nline ^(?<time>\\d\\d:\\d\\d:\\d\\d) (?<body>.*)$\ntime HH:mm:ss\nexample 12:00:00 x\nexpect body=x\n\n"
				 "layout uptime\nline ^(?<time>\\d+) \\[(?<thread>\\w+)\\] (?<body>.*)$\ntime uptime_ms\n"
				 "example 12 [main] x\nexpect body=x\n\n"
				 "layout bsd\nline ^(?<time>[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d) - (?<body>.*)$\ntime MMM d HH:mm:ss\n"
				 "example Nov 30 12:00:00 - x\nexpect body=x\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct rules *r = rules_parse(SV("x"), SV(rules_text), diag_new(a));

	if (r == NULL)
		__builtin_trap();
	fuzz_kind(&log_kind, (struct sv){ (const char *)data, size }, r);
	rules_free(r);
	arena_free(a);
	return 0;
}
