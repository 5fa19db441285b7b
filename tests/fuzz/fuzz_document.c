/* SPDX-License-Identifier: MIT */
/* Any bytes as a text of JSON: at once or byte by byte the same entries come out, each within its bounds. */

#include "fuzz_kind.h"
#include "input/log/document.h"

static const struct document_paths paths[] = {
	{ "", { NULL } },
	{ "[]", { NULL } },
	{ "events[]", { NULL } },
	{ "data.result[].values[]", { "data.result[].stream" } },
	{ "resourceLogs[].scopeLogs[].logRecords[]", { "resourceLogs[].resource" } },
	{ "logEvents[]", { "logStream", "logGroup" } },
};
#define PATHS (sizeof paths / sizeof paths[0])

/* Entries as they come when the bytes are given some at a time. */
struct feeding {
	struct document document;
	struct sv bytes;
	size_t step, end, at;
};

static void feed(struct feeding *f, const struct document_paths *p, struct sv bytes, size_t step)
{
	document_init(&f->document, p);
	f->bytes = bytes;
	f->step = step;
	f->end = f->at = 0;
}

static bool next(struct feeding *f, struct document_entry *out)
{
	while (!document_next(&f->document, sv_sub(f->bytes, 0, f->end), &f->at, out)) {
		if (f->end == f->bytes.n)
			return false;
		f->end = f->bytes.n - f->end < f->step ? f->bytes.n : f->end + f->step;
	}
	return true;
}

static void check(const struct feeding *f, const struct document_entry *e)
{
	if (e->place.number == 0 || e->place.byte_offset >= f->bytes.n || e->text.n > DOCUMENT_ENTRY_BYTES_MAX ||
	    e->too_long != sv_is_absent(e->text))
		__builtin_trap();
}

static bool is_left_alike(const struct document *a, const struct document *b)
{
	return a->strays.count == b->strays.count && a->strays.first.byte_offset == b->strays.first.byte_offset &&
	       a->unlike.count == b->unlike.count && a->unlike.first.byte_offset == b->unlike.first.byte_offset &&
	       a->empty.count == b->empty.count && a->empty.first.byte_offset == b->empty.first.byte_offset;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv bytes = { (const char *)data, size };
	const struct document_paths *p;
	struct feeding whole, single;
	struct document_entry e, same;

	if (size == 0)
		return 0;
	p = &paths[data[0] % PATHS];
	bytes = sv_sub(bytes, 1, size);
	feed(&whole, p, bytes, size);
	feed(&single, p, bytes, 1);
	while (next(&whole, &e)) {
		check(&whole, &e);
		if (!next(&single, &same) || !sv_eq(same.text, e.text) || same.place.byte_offset != e.place.byte_offset ||
		    same.place.number != e.place.number)
			__builtin_trap();
	}
	if (next(&single, &same) || document_is_whole(&whole.document) != document_is_whole(&single.document) ||
	    !is_left_alike(&whole.document, &single.document))
		__builtin_trap();
	document_fini(&whole.document);
	document_fini(&single.document);
	return 0;
}
