/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_TESTS_COUNTERS_TOLD_H
#define AFTERSHOCK_TESTS_COUNTERS_TOLD_H

/* What an input of counters gives, as lines of text. Include after <cmocka.h>. */

#include "input_kit.h"

#include "base/buf.h"

/* 2026-11-30T10:00:00Z, from which the lines count milliseconds. */
#define TEN INT64_C(1796032800000000)

static inline void tell_event(struct buf *b, const struct event *e)
{
	bool covered = e->type == EVENT_COVERED, offset = e->type == EVENT_CLOCK_OFFSET;
	struct sv name = covered ? event_text(e, FIELD_EVIDENCE_KIND) : event_text(e, FIELD_COUNTER);

	if (e->host.n > 0)
		buf_printf(b, "%.*s: ", SV_ARG(e->host));
	buf_printf(b, "%s%.*s", covered ? "covered " : offset ? "offset" : "", SV_ARG(name));
	if (event_has(e, FIELD_CPU))
		buf_printf(b, " cpu=%lld", (long long)event_int_or(e, FIELD_CPU, -1));
	if (event_has(e, FIELD_DEVICE))
		buf_printf(b, " %.*s", SV_ARG(event_text(e, FIELD_DEVICE)));
	if (event_has(e, FIELD_PATH_A))
		buf_printf(b, " %.*s>%.*s", SV_ARG(event_text(e, FIELD_PATH_A)), SV_ARG(event_text(e, FIELD_PATH_B)));
	buf_printf(b, " %lld+%lld", (long long)(e->time.us - TEN) / 1000, (long long)e->duration_us / 1000);
	if (covered)
		buf_printf(b, " x%lld %.*s", (long long)event_int_or(e, FIELD_SAMPLES, 0), SV_ARG(event_text(e, FIELD_SCOPE)));
	else if (offset)
		buf_printf(b, " %lldus", (long long)event_int_or(e, FIELD_OFFSET_US, 0));
	else
		buf_printf(b, " %lld", (long long)event_int_or(e, FIELD_DELTA, 0));
	if (event_has(e, FIELD_UNCERTAINTY_US))
		buf_printf(b, " +-%lldus", (long long)event_int_or(e, FIELD_UNCERTAINTY_US, 0));
	buf_add_char(b, '\n');
}

static inline struct kit *read_named(const char *text, const char *name)
{
	struct kit *k = kit_new();
	const char *why = "";

	assert_int_equal(counters_kind.sniff(sv_of(text), sv_of(name), NULL, &why), SNIFF_MINE);
	kit_read(k, &counters_kind, sv_of(text), name, NULL);
	assert_true(k->info.skipped <= k->info.records);
	return k;
}

static inline void assert_events(const struct kit *k, const char *expected)
{
	struct buf b;

	buf_init(&b);
	for (size_t i = 0; i < k->event_count; i++)
		tell_event(&b, &k->events[i]);
	buf_add_char(&b, '\0');
	assert_string_equal(b.p, expected);
	buf_fini(&b);
}

#endif
