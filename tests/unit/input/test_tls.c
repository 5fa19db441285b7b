/* SPDX-License-Identifier: MIT */
/*
 * A real capture of TLS 1.3 (OpenSSL, loopback, 160 bytes of each packet): one connection sends 110
 * bytes and is answered with 20 every 3 s, eight times, as heartbeats are; another sends 180 every
 * half second and is answered with 1,200, as fetches are. Nothing in it can be decoded.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture_kit.h"
#include "input/kind.h"
#include "input/stream.h"

#define BEATS 8

struct heard {
	struct event beats[2 * BEATS];
	size_t count;
	char path[2 * BEATS][64];
};

static int hear(void *context, const struct event *e)
{
	struct heard *h = context;

	if (e->type != EVENT_WIRE_HEARTBEAT)
		return 0;
	assert_true(h->count < sizeof h->beats / sizeof h->beats[0]);
	snprintf(h->path[h->count], sizeof h->path[0], "%.*s", SV_ARG(event_text(e, FIELD_PATH_A)));
	h->beats[h->count++] = *e;
	return 0;
}

static void test_heartbeats_under_tls_are_told_by_size_and_rhythm(void **state)
{
	struct making m = make_of_file("tests/fuzz/corpus/capture/tls-heartbeats.pcap");
	struct arena *a = arena_new();
	struct input_info info = { .id = 1 };
	struct heard heard = { .count = 0 };
	struct ingest in = { .stream = stream_of(a, (struct sv){ (const char *)m.bytes, m.n }), .info = &info,
			     .sink = { hear, &heard }, .diag = diag_new(a), .record = a, .input = a };

	(void)state;
	assert_int_equal(capture_kind.read(&in), 0);
	assert_int_equal(heard.count, BEATS);
	for (size_t i = 0; i < BEATS; i++) {
		const struct event *e = &heard.beats[i];

		assert_int_equal(e->strength, STRENGTH_SUGGESTS);
		assert_false(event_has(e, FIELD_GROUP) || event_has(e, FIELD_MEMBER) || event_has(e, FIELD_ERROR));
		assert_string_equal(heard.path[i], heard.path[0]);
		if (i > 0)
			assert_in_range(e->time.us - heard.beats[i - 1].time.us, 2950 * US_PER_MS, 3150 * US_PER_MS);
	}
	arena_free(a);
	make_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heartbeats_under_tls_are_told_by_size_and_rhythm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
