/* SPDX-License-Identifier: MIT */
/*
 * Two targets by the first byte: 'R', the rest is a rules file, loaded and
 * checked; else, the rest is a log, read by the rules that are shipped. Runs in
 * the source tree.
 */

#include <stdint.h>
#include <stdlib.h>

#include "input/rules/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(struct sv text)
{
	struct arena *a = arena_new();
	struct diag *d = diag_new(a);
	struct rules *r = rules_parse(SV("fuzz.rules"), text, d);

	if (r != NULL)
		rules_check(r, d);
	rules_free(r);
	arena_free(a);
}

static void take(const struct rules *r, const struct log_record *record)
{
	struct rules_events it;
	struct event e;
	const char *rule;

	rules_events_init(&it, r, record, &rule);
	while (rules_events_next(&it, &e)) {
		if (e.type >= EVENT_COUNT)
			abort();
	}
}

/* Loaded once, and kept as long as the process lives. */
static const struct rules *shipped(void)
{
	static struct rules *r;
	struct arena *a;

	if (r != NULL)
		return r;
	a = arena_new();
	r = rules_load("rules", diag_new(a));
	arena_free(a);
	if (r == NULL)
		abort();
	return r;
}

static void read_log(struct sv text)
{
	const struct rules *r = shipped();
	struct joiner *j = joiner_new(r, (struct zone){ 0 });
	struct joined joined;
	uint64_t number = 0;

	while (!sv_is_absent(text)) {
		struct sv line = sv_cut(&text, '\n');

		if (joiner_add(j, line, ++number, 0, &joined))
			take(r, &joined.record);
		take(r, &(struct log_record){ .body = line });
	}
	if (joiner_end(j, &joined))
		take(r, &joined.record);
	joiner_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv rest = { (const char *)data + 1, size > 0 ? size - 1 : 0 };

	if (size == 0)
		return 0;
	if (data[0] == 'R')
		load(rest);
	else
		read_log(rest);
	return 0;
}
