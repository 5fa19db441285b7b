/* SPDX-License-Identifier: MIT */
/* Packets that are picked so that the capture of another host picks the same. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "input/capture/tcp.h"

#define SIGHTS_MAX 8192

/* One capture. What it picked, in order. */
struct watch {
	struct tcp *tcp;
	int64_t digest[SIGHTS_MAX];
	int64_t time_us[SIGHTS_MAX];
	size_t count;
	size_t answers;	/* of them from the called side */
};

static int put(void *context, const struct event *e)
{
	struct watch *w = context;

	if (e->type != EVENT_NET_SIGHTED)
		return 0;
	assert_true(w->count < SIGHTS_MAX);
	w->time_us[w->count] = e->time.us;
	w->answers += sv_eq(event_text(e, FIELD_DIRECTION), SV("ba"));
	assert_true(event_int(e, FIELD_DIGEST, &w->digest[w->count]));
	assert_true(w->digest[w->count] >= 0);
	w->count++;
	return 0;
}

static struct watch *begin(void)
{
	struct watch *w = calloc(1, sizeof *w);

	assert_non_null(w);
	w->tcp = tcp_new((struct event_sink){ put, w });
	return w;
}

static void end(struct watch *w)
{
	tcp_free(w->tcp);
	free(w);
}

/* The n-th packet of a talk in which this client asks and is answered, n even and odd; seen at us. */
static void see_of(struct watch *w, unsigned who, unsigned n, int64_t us, uint32_t bytes)
{
	bool is_answer = n % 2 != 0;
	struct segment s = { .time_us = us, .ip_version = 4, .has_ip_id = true, .ip_id = (uint16_t)(n + 1),
			     .sequence = 1000 + n / 2 * bytes, .acknowledgment = 1000 + (n + 1) / 2 * bytes,
			     .flags = TCP_ACK, .window = 500, .payload_bytes = bytes };
	const uint8_t client[4] = { 10, 1, (uint8_t)(who >> 8), (uint8_t)who }, broker[4] = { 10, 0, 0, 2 };

	memcpy(s.source, is_answer ? broker : client, 4);
	memcpy(s.destination, is_answer ? client : broker, 4);
	s.source_port = is_answer ? 9092 : 40000;
	s.destination_port = is_answer ? 40000 : 9092;
	s.place.number = n + 1;
	assert_int_equal(tcp_segment(w->tcp, &s), 0);
}

static void see(struct watch *w, unsigned n, int64_t us, uint32_t bytes)
{
	see_of(w, 1, n, us, bytes);
}

static bool holds(const struct watch *w, int64_t digest)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->digest[i] == digest)
			return true;
	}
	return false;
}

static void test_two_captures_pick_the_same(void **state)
{
	struct watch *client = begin(), *broker = begin();

	(void)state;
	for (unsigned n = 0; n < 60; n++) {
		see(client, n, 1000000 * (int64_t)n, 100);
		see(broker, n, 1000000 * (int64_t)n + 7000000, 100);
	}
	/* Few are picked all. */
	assert_int_equal(client->count, 60);
	assert_int_equal(client->answers, 30);
	assert_int_equal(broker->count, 60);
	for (size_t i = 0; i < 60; i++) {
		assert_int_equal(client->digest[i], broker->digest[i]);
		assert_int_equal(broker->time_us[i] - client->time_us[i], 7000000);
	}
	end(client);
	end(broker);
}

/* However long a capture is; and one that began later picks what the other does, and more. */
static void test_fewer_are_picked_the_more_there_are(void **state)
{
	struct watch *whole = begin(), *late = begin();
	size_t shared = 0;

	(void)state;
	for (unsigned n = 0; n < 60000; n++) {
		see(whole, n, 1000 * (int64_t)n, 100);
		if (n >= 50000)
			see(late, n, 1000 * (int64_t)n, 100);
	}
	/* Passages of two or three: 64 of all, 64 of every eighth, 64 of every 64th, and some of every 512th. */
	assert_in_range(whole->count, 500, 704);
	for (size_t i = 0; i < whole->count; i++) {
		if (whole->time_us[i] < 50000 * INT64_C(1000))
			continue;
		shared += holds(late, whole->digest[i]);
	}
	assert_true(shared >= 8);
	end(whole);
	end(late);
}

/*
 * A broker has many clients, and each of them its own capture: of each the two
 * have so many in common that both directions stand beside one another.
 */
static void test_each_of_many_clients_is_picked(void **state)
{
	enum { CLIENTS = 300, PACKETS = 1000 };
	struct watch *broker = begin();

	(void)state;
	for (unsigned n = 0; n < PACKETS; n++)
		for (unsigned who = 0; who < CLIENTS; who++)
			see_of(broker, who, n, 1000 * (int64_t)n, 100);
	/* A few of each: a fiftieth of all at the most. */
	assert_in_range(broker->count, CLIENTS * 6, CLIENTS * PACKETS / 50);
	for (unsigned who = 0; who < CLIENTS; who += 23) {
		struct watch *client = begin();
		size_t shared = 0, turns = 0;
		int64_t last_us = INT64_MIN;

		for (unsigned n = 0; n < PACKETS; n++)
			see_of(client, who, n, 1000 * (int64_t)n, 100);
		for (size_t i = 0; i < client->count; i++) {
			if (!holds(broker, client->digest[i]))
				continue;
			/* Each packet answers the one before. */
			turns += shared > 0 && client->time_us[i] - last_us == 1000;
			last_us = client->time_us[i];
			shared++;
		}
		assert_true(shared >= 6);
		assert_true(turns >= 3);
		end(client);
	}
	end(broker);
}

/* One that connects anew each time, from other addresses even, is not picked each time. */
static void test_ever_new_clients_are_picked_more_rarely(void **state)
{
	struct watch *w = begin();

	(void)state;
	for (unsigned who = 0; who < 16000; who++)
		for (unsigned n = 0; n < 2; n++)
			see_of(w, who, n, 1000 * (int64_t)who + n, 100);
	assert_in_range(w->count, 1000, 6000);
	end(w);
}

/* What is cut on its way or put together on arrival is never the same at both ends; an acknowledgment alone says little. */
static void test_large_and_empty_ones_are_passed_over(void **state)
{
	struct watch *w = begin();

	(void)state;
	see(w, 0, 1000000, 1200);
	see(w, 1, 2000000, 0);
	assert_int_equal(w->count, 1);
	see(w, 2, 3000000, 1448);
	see(w, 3, 4000000, 65000);
	assert_int_equal(w->count, 1);
	end(w);
}

/* A copy (a mirror port, "-i any") is the same packet at the same host. */
static void test_a_copy_is_not_picked_again(void **state)
{
	struct watch *w = begin();

	(void)state;
	see(w, 0, 1000000, 100);
	see(w, 0, 1000010, 100);
	assert_int_equal(w->count, 1);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_captures_pick_the_same),
		cmocka_unit_test(test_fewer_are_picked_the_more_there_are),
		cmocka_unit_test(test_each_of_many_clients_is_picked),
		cmocka_unit_test(test_ever_new_clients_are_picked_more_rarely),
		cmocka_unit_test(test_large_and_empty_ones_are_passed_over),
		cmocka_unit_test(test_a_copy_is_not_picked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
