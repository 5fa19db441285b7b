/* SPDX-License-Identifier: MIT */
/* Any bytes in each form that a log may have: pieces stand where there are bytes, and what the store would refuse is not made. */

#include "fuzz_kind.h"
#include "input/log/form.h"

static const char rules_text[] = "layout bracketed\nline ^\\[(?<time>[-0-9]{10} [0-9:]{8},\\d{3})\\] (?<level>[A-Z]+) (?<body>.*)$\n"
				 "time yyyy-MM-dd HH:mm:ss,SSS\nexample [2026-11-30 12:00:00,000] INFO x\nexpect body=x\n\n"
				 "layout json\njson time timeMillis time\njson body message\nexample {\"time\":\"2026-11-30T12:00:00Z\",\"message\":\"x\"}\n"
				 "expect time=2026-11-30T12:00:00.000000Z body=x\n\n"
				 "rule emptied\nevent group.empty\nmatch ^Group (?<group>\\S+) is empty$\n"
				 "example [2026-11-30 12:00:00,000] INFO Group g is empty\nexpect group=g\n";

static void read_form(const struct log_form *form, struct sv bytes, const struct rules *r)
{
	struct arena *a = arena_new();
	void *reader = form->open(stream_of(a, bytes), r, diag_new(a));
	struct log_piece piece;

	while (form->next(reader, &piece) == 1)
		if (piece.line.number == 0 || piece.line.byte_offset > bytes.n)
			__builtin_trap();
	form->close(reader);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct log_form *const forms[] = { &log_form_lines, &log_form_document, &log_form_csv, &log_form_journal,
							&log_form_frames, &log_form_indent };
	struct sv bytes = { (const char *)data, size };
	struct input_info info = { .id = 1 };
	struct arena *a = arena_new();
	struct rules *r = rules_parse(SV("x"), SV(rules_text), diag_new(a));

	if (r == NULL)
		__builtin_trap();
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		read_form(forms[i], bytes, r);
	fuzz_read(&log_kind, bytes, r, &info);
	if (info.skipped > info.records)
		__builtin_trap();
	rules_free(r);
	arena_free(a);
	return 0;
}
