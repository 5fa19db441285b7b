/* SPDX-License-Identifier: MIT */
/* Logs in wrappers and of objects: read by moulds and shapes they give what they give line by line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../fuzz/scan_differ.h"
#include "../../fuzz/wrapped_text.h"
#include "input_kit.h"

static struct rules *shipped(struct arena *a)
{
	struct rules *r = rules_load("rules", diag_new(a));

	assert_non_null(r);
	return r;
}

/* ---- every wrapper ---- */

static const struct {
	const char *name;
	bool objects;
	bool quick;		/* most of its lines are only counted; else none is */
} wrappers[] = {
	[DRAWN_NONE] = { "none, but objects", true, true },
	[DRAWN_CRI] = { "cri", false, true },
	[DRAWN_DOCKER] = { "docker", false, true },
	[DRAWN_DOCKER_MORE] = { "docker with more", false, true },
	[DRAWN_SYSLOG] = { "syslog", false, true },
	[DRAWN_SYSLOG_5424] = { "syslog 5424", false, true },
	[DRAWN_JOURNAL] = { "journal", false, true },
	[DRAWN_KUBECTL] = { "kubectl", false, true },
	[DRAWN_KUBECTL_TIMES] = { "kubectl with times", false, true },
	[DRAWN_STERN] = { "stern", false, true },
	[DRAWN_COMPOSE] = { "compose", false, true },
	[DRAWN_TIMES] = { "times", false, true },
	[DRAWN_LOKI] = { "loki", false, true },
	[DRAWN_RSYSLOG] = { "rsyslog", false, true },
	[DRAWN_PRIORITY] = { "priority", false, false },
	[DRAWN_GREP] = { "grep", false, false },
	[DRAWN_DMESG] = { "dmesg", false, false },
	[DRAWN_CLOUDWATCH] = { "cloudwatch", false, false },
	[DRAWN_CRI_OF_KUBECTL] = { "kubectl in cri", false, true },
};

static void check(const struct differ_input *input, const struct log_manner *m, const char *what, unsigned number)
{
	if (!differ_same(input, m))
		fail_msg("%s, %u", what, number);
}

static void a_wrapped_log_is_counted_and_nothing_else_changes(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (unsigned i = 0; i < DRAWN_WRAPPERS; i++) {
		struct draw d = { .seed = i + 1 };
		struct wrapped_log w = { .draw = &d, .pods = 3, .objects = wrappers[i].objects, .few = true };
		uint64_t passed = 0;
		const struct log_manner m = { .threads = 1, .block_bytes = 8192, .head_bytes = 16384, .passed = &passed };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, (enum drawn_wrapper)i, 1500);
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 4096 }, &m, wrappers[i].name, 0);
		/* A tenth of the messages are events, and the head is read. */
		if (wrappers[i].quick ? passed < 700 : passed > 0)
			fail_msg("%s: %u lines were counted", wrappers[i].name, (unsigned)passed);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

static void pods_that_write_objects_are_counted_too(void **state)
{
	static const enum drawn_wrapper some[] = { DRAWN_CRI, DRAWN_DOCKER, DRAWN_KUBECTL, DRAWN_SYSLOG, DRAWN_STERN };
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
		struct draw d = { .seed = i + 1 };
		struct wrapped_log w = { .draw = &d, .pods = 5, .objects = true, .few = true };
		uint64_t passed = 0;
		const struct log_manner m = { .threads = 2, .block_bytes = 4096, .head_bytes = 16384, .passed = &passed };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, some[i], 1500);
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 4096 }, &m, wrappers[some[i]].name, 1);
		if (passed < 700)
			fail_msg("%s: %u lines were counted", wrappers[some[i]].name, (unsigned)passed);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

/* ---- all that there is to get wrong ---- */

#define ODD_LOGS 3000

static void odd_logs_are_read_as_with_care(void **state)
{
	struct arena *a = arena_new();
	struct rules *r = shipped(a);

	(void)state;
	for (unsigned i = 0; i < ODD_LOGS; i++) {
		struct draw d = { .seed = 1000 + i };
		struct wrapped_log w = { .draw = &d, .pods = i % 7 == 0 ? 40 : 1 + i % 4, .objects = i % 5 == 0, .zone_hours = i % 3 == 0 ? 2 : 0 };
		const struct log_manner m = { .threads = 1 + i % 2, .block_bytes = 256 + 700 * (i % 11), .head_bytes = 3000 + 500 * (i % 8) };
		struct buf text;

		buf_init(&text);
		wrapped_text(&text, &w, (enum drawn_wrapper)(i % DRAWN_WRAPPERS), 120 + 60 * (i % 6));
		check(&(struct differ_input){ .text = buf_sv(&text), .rules = r, .step = 1000, .breaks = i % 13 == 0 }, &m, wrappers[i % DRAWN_WRAPPERS].name, i);
		buf_fini(&text);
	}
	rules_free(r);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrapped_log_is_counted_and_nothing_else_changes),
		cmocka_unit_test(pods_that_write_objects_are_counted_too),
		cmocka_unit_test(odd_logs_are_read_as_with_care),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
