/* SPDX-License-Identifier: MIT */
/* What the numbers of a sender's packets tell of those that did not arrive. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "input/capture/tcp.h"
#include "input/capture/tcp_unseen.h"

#define START_US (INT64_C(1700000000) * US_PER_S)

struct line {
	struct tcp_numbers numbers;
	struct tcp_unseen unseen;
};

/* A packet with data. */
static bool comes(struct line *l, double ms, uint16_t id, uint32_t payload)
{
	static const struct tcp_median unknown;
	struct segment s = { .flags = TCP_ACK, .has_ip_id = true, .ip_id = id, .payload_bytes = payload };

	int64_t now_us = START_US + (int64_t)(ms * 1000);
	struct tcp_left_out left_out = tcp_unseen_take(&l->numbers, &s, now_us);

	return left_out.packets > 0 && tcp_unseen_since(&left_out, now_us, &unknown, &l->unseen);
}

/* n packets in 100 ms each, numbered one by one to 1000 + n - 1. */
static void counts(struct line *l, int n)
{
	*l = (struct line){ .numbers = { 0 } };
	for (int i = 0; i < n; i++)
		assert_false(comes(l, i * 100, (uint16_t)(1000 + i), 100));
}

static void numbers_left_out_were_lost(void **state)
{
	struct line l;

	(void)state;
	counts(&l, 10);
	/* Seven were sent between 900 and 9000 ms; doubling from 210 ms explains up to 13.23 s for them. */
	assert_true(comes(&l, 9000, 1017, 100));
	assert_int_equal(l.unseen.packets, 7);
	assert_int_equal(l.unseen.start_us, START_US + 900 * US_PER_MS);
	assert_int_equal(l.unseen.end_us, START_US + 9000 * US_PER_MS);
	/* And it goes on. */
	assert_false(comes(&l, 12000, 1018, 100));
	assert_true(comes(&l, 15000, 1025, 100));
}

/* Twin: the peer had sent nothing. */
static void a_silence_without_numbers_left_out_is_the_peers(void **state)
{
	struct line l;

	(void)state;
	counts(&l, 10);
	assert_false(comes(&l, 9000, 1010, 100));
}

/* An idle connection: two lost packets are sent again within 210 ms, so the minute before was no outage. */
static void idle_time_is_no_silence(void **state)
{
	struct line l;

	(void)state;
	counts(&l, 10);
	assert_false(comes(&l, 60900, 1012, 100));
	counts(&l, 10);
	/* Four: 210 * (2^3 - 1) = 1470 ms. */
	assert_true(comes(&l, 60900, 1014, 100));
	assert_int_equal(l.unseen.start_us, START_US + 59430 * US_PER_MS);
}

static void numbers_wrap(void **state)
{
	struct line l = { .numbers = { 0 } };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_false(comes(&l, i * 100, (uint16_t)(65530 + i), 100));
	assert_true(comes(&l, 9000, 8, 100));
	assert_int_equal(l.unseen.packets, 4);
}

/* Twins: other systems count all their packets, or draw lots; a large packet takes several numbers; few tell nothing. */
static void what_does_not_count_by_one_says_nothing(void **state)
{
	struct line l = { .numbers = { 0 } };

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_false(comes(&l, i * 1000, (uint16_t)(i * i * 31), 100));
	counts(&l, 10);
	assert_false(comes(&l, 1000, 1010, 2920));
	assert_false(comes(&l, 9000, 1018, 100));
	counts(&l, 5);
	assert_false(comes(&l, 9000, 1012, 100));
	counts(&l, 10);
	assert_false(comes(&l, 9000, 2000, 100));
}

/* ---- in a connection ---- */

struct events {
	size_t unseen;
	int64_t retransmits, time_us, duration_us;
};

static int put(void *context, const struct event *e)
{
	struct events *out = context;

	if (e->type != EVENT_NET_UNSEEN)
		return 0;
	out->unseen++;
	out->retransmits = event_int_or(e, FIELD_RETRANSMITS, -1);
	out->time_us = e->time.us;
	out->duration_us = e->duration_us;
	assert_true(sv_eq(event_text(e, FIELD_DIRECTION), SV("ba")));
	return 0;
}

/* A broker's answers, the last after a silence: with numbers left out, and perhaps with data missing before it. */
static struct events answers(uint16_t left_out, uint32_t missing)
{
	struct events out = { 0 };
	struct tcp *t = tcp_new((struct event_sink){ put, &out });

	for (int i = 0; i < 12; i++) {
		bool is_last = i == 11;
		struct segment s = { .ip_version = 4, .flags = TCP_ACK, .window = 500, .has_ip_id = true,
				     .source_port = 9092, .destination_port = 40000, .acknowledgment = 77,
				     .payload_bytes = 100 };

		s.source[3] = 2;
		s.destination[3] = 1;
		s.time_us = START_US + (is_last ? 9000 : i * 100) * US_PER_MS;
		s.ip_id = (uint16_t)(500 + i + (is_last ? left_out : 0));
		s.sequence = 1000 + 100 * (uint32_t)i + (is_last ? missing : 0);
		assert_int_equal(tcp_segment(t, &s), 0);
	}
	assert_int_equal(tcp_finish(t), 0);
	tcp_free(t);
	return out;
}

static void a_receivers_capture_sees_what_it_does_not_see(void **state)
{
	struct events lost = answers(7, 0);

	(void)state;
	assert_int_equal(lost.unseen, 1);
	assert_int_equal(lost.retransmits, 7);
	assert_int_equal(lost.time_us, START_US + 1000 * US_PER_MS);
	assert_int_equal(lost.duration_us, 8000 * US_PER_MS);
	/* Twins: a peer that paused; and data that is missing, which its retransmission will tell of. */
	assert_int_equal(answers(0, 0).unseen, 0);
	assert_int_equal(answers(6, 100).unseen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_left_out_were_lost),
		cmocka_unit_test(a_silence_without_numbers_left_out_is_the_peers),
		cmocka_unit_test(idle_time_is_no_silence),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(what_does_not_count_by_one_says_nothing),
		cmocka_unit_test(a_receivers_capture_sees_what_it_does_not_see),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
