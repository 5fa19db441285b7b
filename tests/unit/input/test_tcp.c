/* SPDX-License-Identifier: MIT */
/*
 * Stories of a client that talks to a broker, told segment by segment; each
 * beside its twin that looks alike and is not. Times are in ms since the start
 * of the story; expected values are worked out from the story alone.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "input/capture/tcp.h"

/* ---- how stories are told ---- */

#define START_US (INT64_C(1700000000) * US_PER_S)
#define EVENTS_MAX 4096

struct heard {
	struct event event;
	char path_a[64], path_b[64];
};

struct story {
	struct tcp *tcp;
	struct heard events[EVENTS_MAX];
	size_t count;
	uint64_t packets;
	struct segment last;
};

/* One connection. Sequence numbers are those that come next. */
struct talk {
	struct story *story;
	uint16_t port;
	uint32_t client, broker;
	uint32_t client_has;	/* of the broker's data */
};

static int put(void *context, const struct event *e)
{
	struct story *s = context;
	struct heard *h = &s->events[s->count];
	struct sv a = event_text(e, FIELD_PATH_A), b = event_text(e, FIELD_PATH_B);

	assert_true(s->count < EVENTS_MAX);
	s->count++;
	h->event = *e;
	assert_true(a.n < sizeof h->path_a && b.n < sizeof h->path_b);
	memcpy(h->path_a, a.p, a.n);
	memcpy(h->path_b, b.p, b.n);
	return 0;
}

static struct story *begin(void)
{
	static struct story story;

	memset(&story, 0, sizeof story);
	story.tcp = tcp_new((struct event_sink){ put, &story });
	return &story;
}

static void end(struct story *s)
{
	assert_int_equal(tcp_finish(s->tcp), 0);
}

static void done(struct story *s)
{
	tcp_free(s->tcp);
}

static void say(struct story *s, double ms, const struct segment *segment)
{
	struct segment x = *segment;

	x.time_us = START_US + (int64_t)(ms * 1000);
	x.place.number = ++s->packets;
	s->last = x;
	assert_int_equal(tcp_segment(s->tcp, &x), 0);
}

static struct segment from_client(struct talk *t, uint8_t flags, uint32_t sequence, uint32_t bytes)
{
	return (struct segment){ .ip_version = 4, .source = { 10, 0, 0, 1 }, .destination = { 10, 0, 0, 2 },
				 .source_port = t->port, .destination_port = 9092, .has_ip_id = true,
				 .ip_id = (uint16_t)(t->story->packets + 1), .sequence = sequence,
				 .acknowledgment = t->client_has, .flags = flags, .window = 500,
				 .payload_bytes = bytes };
}

static struct segment from_broker(struct talk *t, uint8_t flags, uint32_t sequence, uint32_t bytes)
{
	return (struct segment){ .ip_version = 4, .source = { 10, 0, 0, 2 }, .destination = { 10, 0, 0, 1 },
				 .source_port = 9092, .destination_port = t->port, .has_ip_id = true,
				 .ip_id = (uint16_t)(t->story->packets + 1), .sequence = sequence,
				 .acknowledgment = t->client, .flags = flags, .window = 500,
				 .payload_bytes = bytes };
}

static void client_says(struct talk *t, double ms, uint8_t flags, uint32_t sequence, uint32_t bytes)
{
	struct segment s = from_client(t, flags, sequence, bytes);

	say(t->story, ms, &s);
}

static void broker_says(struct talk *t, double ms, uint8_t flags, uint32_t sequence, uint32_t bytes)
{
	struct segment s = from_broker(t, flags, sequence, bytes);

	say(t->story, ms, &s);
}

static void asks(struct talk *t, double ms, uint32_t bytes)
{
	client_says(t, ms, TCP_ACK, t->client, bytes);
	t->client += bytes;
}

static void asks_again(struct talk *t, double ms, uint32_t bytes)
{
	client_says(t, ms, TCP_ACK, t->client - bytes, bytes);
}

static void client_acks(struct talk *t, double ms)
{
	t->client_has = t->broker;
	client_says(t, ms, TCP_ACK, t->client, 0);
}

static void answers(struct talk *t, double ms, uint32_t bytes)
{
	broker_says(t, ms, TCP_ACK, t->broker, bytes);
	t->broker += bytes;
}

static void broker_acks(struct talk *t, double ms)
{
	broker_says(t, ms, TCP_ACK, t->broker, 0);
}

static void calls(struct talk *t, double ms)
{
	struct segment syn;

	t->client_has = 0;
	syn = from_client(t, TCP_SYN, t->client - 1, 0);
	say(t->story, ms, &syn);
}

static void takes_call(struct talk *t, double ms)
{
	struct segment answer = from_broker(t, TCP_SYN | TCP_ACK, t->broker - 1, 0);

	say(t->story, ms, &answer);
	client_acks(t, ms + 0.01);
}

static struct talk talk_from(struct story *s, uint16_t port)
{
	return (struct talk){ .story = s, .port = port, .client = 1001, .broker = 5001 };
}

/* Opens at ms; the round trip is 1 ms. */
static struct talk opens(struct story *s, uint16_t port, double ms)
{
	struct talk t = talk_from(s, port);

	calls(&t, ms);
	takes_call(&t, ms + 1);
	return t;
}

/* A request of 100 bytes, answered by 16 after 1 ms, every so many ms. The last request stands at from + (n - 1) * every. */
static void beats(struct talk *t, double from_ms, int n, double every_ms)
{
	for (int i = 0; i < n; i++) {
		asks(t, from_ms + i * every_ms, 100);
		answers(t, from_ms + i * every_ms + 1, 16);
		client_acks(t, from_ms + i * every_ms + 1.05);
	}
}

/* ---- how they are checked ---- */

static size_t count_of(const struct story *s, enum event_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->events[i].event.type == type;
	return n;
}

/* The nth (from 0) event of the type. */
static const struct heard *find(const struct story *s, enum event_type type, size_t nth)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->events[i].event.type == type && nth-- == 0)
			return &s->events[i];
	fail_msg("no such event: %s", event_infos[type].name);
	return &s->events[0];
}

static void assert_none(const struct story *s, enum event_type type)
{
	assert_int_equal(count_of(s, type), 0);
}

static const struct heard *only(const struct story *s, enum event_type type)
{
	assert_int_equal(count_of(s, type), 1);
	return find(s, type, 0);
}

static void assert_interval(const struct heard *h, double from_ms, double to_ms)
{
	assert_int_equal(h->event.time.us - START_US, (int64_t)(from_ms * 1000));
	assert_int_equal(h->event.time.us + h->event.duration_us - START_US, (int64_t)(to_ms * 1000));
}

static void assert_field(const struct heard *h, enum event_field f, int64_t expected)
{
	int64_t value = -1;

	assert_true(event_int(&h->event, f, &value));
	assert_int_equal(value, expected);
}

static void assert_at(const struct heard *h, enum event_field f, double ms)
{
	assert_field(h, f, START_US + (int64_t)(ms * 1000));
}

static void assert_flag(const struct heard *h, enum event_field f, bool expected)
{
	assert_int_equal(event_int_or(&h->event, f, 0), expected);
}

static void assert_direction(const struct heard *h, const char *expected)
{
	assert_true(sv_eq(event_text(&h->event, FIELD_DIRECTION), sv_of(expected)));
}

/* Over all seconds of both directions. */
static int64_t sum(const struct story *s, enum event_field f)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->events[i].event.type == EVENT_NET_SECOND)
			total += event_int_or(&s->events[i].event, f, 0);
	return total;
}

/* ---- sent again without need ---- */

/* Its acknowledgment, which also reports that the latest request came twice. */
static void broker_has_twice(struct talk *t, double ms, uint32_t bytes)
{
	struct segment s = from_broker(t, TCP_ACK, t->broker, 0);

	s.has_duplicate = true;
	s.duplicate_from = t->client - bytes;
	s.duplicate_to = t->client;
	say(t->story, ms, &s);
}

static void test_a_probe_of_what_had_arrived_is_needless(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 100, 2, 100);
	asks(&t, 300, 100);
	asks_again(&t, 304, 100);	/* a tail loss probe: no timer is as short as 4 ms */
	broker_has_twice(&t, 305, 100);
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_int_equal(sum(s, FIELD_NEEDLESS), 1);
	done(s);
}

static void test_what_the_peer_had_not_is_sent_again_for_a_reason(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 100, 2, 100);
	asks(&t, 300, 100);
	asks_again(&t, 304, 100);
	broker_acks(&t, 305);
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_int_equal(sum(s, FIELD_NEEDLESS), 0);
	done(s);
}

/* The data was there, but no acknowledgment came back in time: something was lost. */
static void test_a_timeout_is_never_needless(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 100, 2, 100);
	asks(&t, 300, 100);
	asks_again(&t, 510, 100);
	broker_has_twice(&t, 511, 100);
	end(s);
	assert_int_equal(sum(s, FIELD_TIMEOUTS), 1);
	assert_int_equal(sum(s, FIELD_NEEDLESS), 0);
	done(s);
}

/* The report is about the data before it. */
static void test_a_report_of_other_data_says_nothing(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	struct segment report;

	(void)state;
	beats(&t, 100, 2, 100);
	asks(&t, 300, 100);
	asks_again(&t, 304, 100);
	report = from_broker(&t, TCP_ACK, t.broker, 0);
	report.has_duplicate = true;
	report.duplicate_from = t.client - 200;
	report.duplicate_to = t.client - 100;
	say(s, 305, &report);
	end(s);
	assert_int_equal(sum(s, FIELD_NEEDLESS), 0);
	done(s);
}

/* ---- stalls ---- */

/*
 * Heartbeats every 2 s, the last accepted at 8000. The path is cut at 9000: the
 * one at 10000 is lost and sent again after 210, 420, 840 and 1680 ms more; the
 * path heals at 12000 and the fourth gets through.
 */
static void cut_and_heal(struct story *s, struct talk *t)
{
	*t = opens(s, 40001, 0);
	beats(t, 2000, 4, 2000);
	asks(t, 10000, 100);
	asks_again(t, 10210, 100);
	asks_again(t, 10630, 100);
	asks_again(t, 11470, 100);
	asks_again(t, 13150, 100);
	answers(t, 13151, 16);
	client_acks(t, 13151.1);
	beats(t, 14000, 2, 2000);
}

static void test_blackout_lasts_from_data_accepted_to_data_accepted(void **state)
{
	struct story *s = begin();
	struct talk t;
	const struct heard *stall;

	(void)state;
	cut_and_heal(s, &t);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 8000, 13150);
	assert_direction(stall, "ab");
	assert_string_equal(stall->path_a, "10.0.0.1:40001");
	assert_string_equal(stall->path_b, "10.0.0.2:9092");
	assert_at(stall, FIELD_LOSS_AT_US, 10000);
	assert_at(stall, FIELD_LOST_AT_US, 11470);
	assert_at(stall, FIELD_SIGN_AT_US, 13151);
	assert_field(stall, FIELD_RETRANSMITS, 4);
	assert_field(stall, FIELD_TIMEOUTS, 4);
	assert_flag(stall, FIELD_ABANDONED, false);
	assert_flag(stall, FIELD_CENSORED, false);
	/* 3 packets to open, 3 a heartbeat: the lost one is the 16th. */
	assert_int_equal(stall->event.place.number, 16);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 4);
	assert_int_equal(sum(s, FIELD_TIMEOUTS), 4);
	assert_none(s, EVENT_NET_QUIET);
	done(s);
}

/* Of the second in which the timer ran out: what it ran for was lost before. */
static void test_a_second_tells_when_its_losses_were_sent(void **state)
{
	struct story *s = begin();
	struct talk t;
	size_t told = 0;

	(void)state;
	cut_and_heal(s, &t);
	end(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct heard *h = &s->events[i];

		if (h->event.type != EVENT_NET_SECOND || !event_has(&h->event, FIELD_LOST_AT_US))
			continue;
		told++;
		if (h->event.time.us == START_US + 10 * US_PER_S) {
			assert_at(h, FIELD_LOSS_AT_US, 10000);
			assert_at(h, FIELD_LOST_AT_US, 10210);
		} else if (h->event.time.us == START_US + 11 * US_PER_S) {
			assert_at(h, FIELD_LOSS_AT_US, 10630);
			assert_at(h, FIELD_LOST_AT_US, 10630);
		} else {
			assert_interval(h, 13000, 14000);
			assert_at(h, FIELD_LOSS_AT_US, 11470);
		}
	}
	assert_int_equal(told, 3);
	done(s);
}

/*
 * Something of the broker comes through at 10500, and the next two are lost
 * all the same: it was no sign of a path that works. The one at 12500 is.
 */
static void test_what_is_heard_before_a_loss_is_no_sign(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	answers(&other, 10500, 50);
	client_acks(&other, 10500.1);
	asks_again(&t, 10630, 100);
	asks_again(&t, 11470, 100);
	answers(&other, 12500, 50);
	client_acks(&other, 12500.1);
	asks_again(&t, 13150, 100);
	answers(&t, 13151, 16);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 8000, 13150);
	assert_at(stall, FIELD_LOST_AT_US, 11470);
	assert_at(stall, FIELD_SIGN_AT_US, 12500);
	done(s);
}

/*
 * One way is cut, from 10000 to 12000: what the broker sends comes by the
 * capture and is lost beyond it. The client's own data still passes, and is
 * repeated since it does not hear that it arrived.
 */
static void cut_one_way(struct story *s, bool repeats)
{
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);

	beats(&t, 2000, 4, 2000);
	answers(&t, 10000, 50);
	asks(&other, 10600, 100);
	broker_acks(&other, 10601);
	broker_says(&t, 10420, TCP_ACK, t.broker - 50, 50);
	broker_says(&t, 10840, TCP_ACK, t.broker - 50, 50);
	broker_says(&t, 11680, TCP_ACK, t.broker - 50, 50);
	if (repeats)
		asks_again(&other, 11700, 100);
	else
		asks(&other, 11700, 100);
	broker_acks(&other, 11701);
	asks(&other, 12900, 100);
	broker_says(&t, 13360, TCP_ACK, t.broker - 50, 50);
	client_acks(&t, 13361);
	end(s);
}

static void test_a_peer_that_only_repeats_itself_has_not_heard(void **state)
{
	struct story *s = begin();
	const struct heard *stall;

	(void)state;
	cut_one_way(s, true);
	stall = only(s, EVENT_NET_STALL);
	assert_direction(stall, "ba");
	assert_at(stall, FIELD_LOSS_AT_US, 10000);
	assert_at(stall, FIELD_LOST_AT_US, 11680);
	assert_at(stall, FIELD_SIGN_AT_US, 12900);
	done(s);

	/* The twin says something new. */
	s = begin();
	cut_one_way(s, false);
	assert_at(only(s, EVENT_NET_STALL), FIELD_SIGN_AT_US, 11700);
	done(s);
}

/* A peer that had been silent is heard again by what it repeats: its way works. */
static void test_a_silent_peer_is_heard_again_by_a_repeat(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	answers(&other, 9999, 50);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 10630, 100);
	asks_again(&t, 11470, 100);
	broker_says(&other, 12500, TCP_ACK, other.broker - 50, 50);
	asks_again(&t, 13150, 100);
	answers(&t, 13151, 16);
	client_acks(&other, 13152);
	end(s);
	stall = find(s, EVENT_NET_STALL, 0);
	assert_direction(stall, "ab");
	assert_at(stall, FIELD_SIGN_AT_US, 12500);
	done(s);
}

/* Held up on the way for 3 s, not lost: what else arrived meanwhile was held up as well. */
static void test_what_was_never_sent_again_was_late(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	answers(&other, 11000, 50);
	client_acks(&other, 11000.1);
	answers(&t, 13000, 16);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_direction(stall, "ab");
	assert_interval(stall, 8000, 13000);
	assert_false(event_has(&stall->event, FIELD_LOST_AT_US));
	assert_at(stall, FIELD_SIGN_AT_US, 13000);
	done(s);
}

static void test_delayed_acknowledgment_is_no_stall(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	for (int i = 0; i < 10; i++) {
		asks(&t, 1000 + i * 1000, 100);
		broker_acks(&t, 1000 + i * 1000 + 200);
	}
	end(s);
	assert_none(s, EVENT_NET_STALL);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	done(s);
}

static void test_long_path_is_no_stall(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	/* By satellite: what takes 700 ms every time is no silence of that path. */
	for (int i = 0; i < 10; i++) {
		asks(&t, 1000 + i * 2000, 100);
		broker_acks(&t, 1000 + i * 2000 + (i < 5 ? 400 : 700));
	}
	end(s);
	assert_none(s, EVENT_NET_STALL);
	done(s);
}

static void test_stall_in_progress_at_the_end_is_censored(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 11470, 100);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 8000, 11470);
	assert_flag(stall, FIELD_CENSORED, true);
	assert_flag(stall, FIELD_ABANDONED, false);
	assert_false(event_has(&stall->event, FIELD_SIGN_AT_US));
	done(s);
}

static void test_loss_repaired_at_once_is_counted_and_no_stall(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 3, 1000);
	asks(&t, 4000, 100);
	asks(&t, 4001, 100);
	/* The peer asks for the first of them. */
	client_says(&t, 4030, TCP_ACK, t.client - 200, 100);
	broker_acks(&t, 4031);
	end(s);
	assert_none(s, EVENT_NET_STALL);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_int_equal(sum(s, FIELD_TIMEOUTS), 0);
	done(s);
}

/* The connection is left for another, which the broker answers at 16501. */
static void leave_for_another(struct story *s, bool closes)
{
	struct talk t = opens(s, 40001, 0), next = talk_from(s, 40002);

	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 10630, 100);
	if (closes)
		client_says(&t, 15000, TCP_ACK | TCP_FIN, t.client, 0);
	calls(&next, 15500);
	calls(&next, 16500);
	takes_call(&next, 16501);
	beats(&next, 16600, 5, 2000);
	end(s);
}

static void test_abandoned_connection_ends_when_its_replacement_is_heard(void **state)
{
	for (int closes = 0; closes <= 1; closes++) {
		struct story *s = begin();
		const struct heard *stall, *syn;

		(void)state;
		leave_for_another(s, closes != 0);
		stall = only(s, EVENT_NET_STALL);
		assert_interval(stall, 8000, 16501);
		assert_flag(stall, FIELD_ABANDONED, true);
		assert_flag(stall, FIELD_CENSORED, false);
		assert_at(stall, FIELD_LOSS_AT_US, 10000);
		assert_at(stall, FIELD_SIGN_AT_US, 16501);
		syn = only(s, EVENT_NET_SYN_UNANSWERED);
		assert_interval(syn, 15500, 16501);
		done(s);
	}
}

/*
 * The client closed its socket while the data stood: no FIN can pass it. Its
 * retransmission gets through at 13150, and the kernel resets what the broker
 * answers. The replacement is heard at 16001.
 */
static void test_reset_after_progress_tells_that_the_client_had_left(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), next = talk_from(s, 40002);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 13150, 100);
	answers(&t, 13151, 16);
	client_says(&t, 13151.1, TCP_RST, t.client, 0);
	calls(&next, 16000);
	takes_call(&next, 16001);
	beats(&next, 16100, 3, 2000);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 8000, 16001);
	assert_flag(stall, FIELD_ABANDONED, true);
	assert_none(s, EVENT_NET_RESET);
	done(s);
}

/* Its twin: answered after the stall, the client closes in order. */
static void test_close_after_an_answer_abandons_nothing(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 13150, 100);
	answers(&t, 13151, 16);
	client_acks(&t, 13151.1);
	client_says(&t, 13152, TCP_ACK | TCP_FIN, t.client, 0);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 8000, 13150);
	assert_flag(stall, FIELD_ABANDONED, false);
	done(s);
}

/*
 * The capture stands at the client. The broker's answer (bytes 5065 to 5165)
 * was lost in the outage; when the path is back at 12000 its acknowledgments
 * show by their sequence number that it was sent, but it comes at 16000 alone.
 */
static void test_backoff_of_the_far_side_is_a_stall_of_its_data(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *stall;

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 12100, 100);
	broker_says(&t, 12101, TCP_ACK, t.broker + 100, 0);
	asks(&t, 14000, 100);
	broker_says(&t, 14001, TCP_ACK, t.broker + 100, 0);
	answers(&t, 16000, 100);
	client_acks(&t, 16000.1);
	beats(&t, 17000, 2, 2000);
	end(s);
	assert_int_equal(count_of(s, EVENT_NET_STALL), 2);
	stall = find(s, EVENT_NET_STALL, 1);
	if (!sv_eq(event_text(&stall->event, FIELD_DIRECTION), SV("ba")))
		stall = find(s, EVENT_NET_STALL, 0);
	assert_direction(stall, "ba");
	assert_interval(stall, 8001, 16000);
	assert_false(event_has(&stall->event, FIELD_LOSS_AT_US));
	assert_at(stall, FIELD_SIGN_AT_US, 12101);
	done(s);
}

/* Its twin: the capture dropped the answer, and the client acknowledges it. */
static void test_packet_missed_by_the_capture_is_no_stall(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 2000, 4, 2000);
	asks(&t, 10000, 100);
	t.broker += 100;
	broker_acks(&t, 10002);
	client_acks(&t, 10003);
	beats(&t, 12000, 4, 2000);
	end(s);
	assert_none(s, EVENT_NET_STALL);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	done(s);
}

/* ---- what is not a retransmission ---- */

/* As "-i any" has it: what comes in is seen with its tag first, what goes out without; two VLANs are open at once. */
static void test_vlans_that_are_recorded_without_their_tags_too(void **state)
{
	struct story *s = begin();
	struct talk t[2] = { talk_from(s, 40001), talk_from(s, 40002) };

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct talk *x = &t[i % 2];
		uint64_t vlan = i % 2 == 0 ? 10 : 20;
		struct segment reply = from_broker(x, TCP_ACK, x->broker, 16), ask;

		reply.ip_id = (uint16_t)(1000 + i);
		reply.domain = vlan;
		say(s, i * 100, &reply);
		reply.domain = 0;
		say(s, i * 100 + 0.01, &reply);
		x->broker += 16;
		x->client_has = x->broker;
		ask = from_client(x, TCP_ACK, x->client, 100);
		ask.ip_id = (uint16_t)(2000 + i);
		say(s, i * 100 + 1, &ask);
		ask.domain = vlan;
		say(s, i * 100 + 1.01, &ask);
		x->client += 100;
	}
	end(s);
	assert_int_equal(tcp_copies(s->tcp), 40);
	assert_int_equal(count_of(s, EVENT_NET_CONNECTION), 2);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 40);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	done(s);
}

/* Numbers of tunnels may differ by direction: an answer shows which belong together; the twin answers something else. */
static void test_an_answer_from_another_domain_makes_it_one(void **state)
{
	(void)state;
	for (int answered = 0; answered <= 1; answered++) {
		struct story *s = begin();
		struct talk t = talk_from(s, 40001);
		struct segment ask = from_client(&t, TCP_ACK, t.client, 100), reply = from_broker(&t, TCP_ACK, t.broker, 16);

		ask.domain = 10;
		reply.domain = 11;
		reply.acknowledgment = t.client + (answered != 0 ? 100 : 50000000);
		say(s, 0, &ask);
		say(s, 1, &reply);
		ask.sequence += 100;
		ask.ip_id = 99;
		say(s, 2, &ask);
		end(s);
		assert_int_equal(count_of(s, EVENT_NET_CONNECTION), answered != 0 ? 1 : 2);
		done(s);
	}
}

/* A request and its answer in this domain. */
static void speaks_in(struct talk *t, double ms, uint64_t domain, uint64_t answer_domain)
{
	struct segment ask = from_client(t, TCP_ACK, t->client, 100), reply;

	ask.domain = domain;
	say(t->story, ms, &ask);
	t->client += 100;
	reply = from_broker(t, TCP_ACK, t->broker, 16);
	reply.domain = answer_domain;
	say(t->story, ms + 1, &reply);
	t->broker += 16;
	t->client_has = t->broker;
}

static size_t count_paths(const struct story *s, const char *path_a, const char *path_b)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->events[i].event.type == EVENT_NET_CONNECTION && strcmp(s->events[i].path_a, path_a) == 0 &&
		     strcmp(s->events[i].path_b, path_b) == 0;
	return n;
}

/* Two sites with the same addresses, down to the ports. The twins: one VLAN, and one tunnel whose numbers differ by direction. */
static void test_paths_of_two_vlans_are_told_apart(void **state)
{
	static const uint64_t domains[][4] = { { 10, 10, 20, 20 }, { 10, 10, 10, 10 }, { 10, 11, 10, 11 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct story *s = begin();
		struct talk one = talk_from(s, 40001), two = talk_from(s, i == 0 ? 40001 : 40002);

		two.client += 900000;
		two.broker += 900000;
		for (int n = 0; n < 3; n++) {
			speaks_in(&one, 100 * n, domains[i][0], domains[i][1]);
			speaks_in(&two, 100 * n + 10, domains[i][2], domains[i][3]);
		}
		end(s);
		assert_int_equal(count_of(s, EVENT_NET_CONNECTION), 2);
		assert_int_equal(count_paths(s, "10.0.0.1:40001", "10.0.0.2:9092"), 1);
		assert_int_equal(count_paths(s, "10.0.0.1%2:40001", "10.0.0.2%2:9092"), i == 0);
		assert_int_equal(count_paths(s, "10.0.0.1:40002", "10.0.0.2:9092"), i != 0);
		done(s);
	}
}

static void test_keep_alives_are_not_retransmissions(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	for (uint32_t bytes = 0; bytes <= 1; bytes++) {
		client_says(&t, 20000 + bytes * 1000, TCP_ACK, t.client - 1, bytes);
		broker_acks(&t, 20001 + bytes * 1000);
	}
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 4);
	done(s);
}

/* The twin: one byte that stands unacknowledged, sent again. */
static void test_last_byte_sent_again_is_a_retransmission(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	asks(&t, 5000, 1);
	asks_again(&t, 5210, 1);
	broker_acks(&t, 5211);
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_int_equal(sum(s, FIELD_TIMEOUTS), 1);
	done(s);
}

static void test_zero_window_lasts_until_it_opens_and_its_probes_do_not_count(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	struct segment closed;
	const struct heard *window;

	(void)state;
	beats(&t, 1000, 2, 1000);
	asks(&t, 3000, 100);
	closed = from_broker(&t, TCP_ACK, t.broker, 0);
	closed.window = 0;
	say(s, 3001, &closed);
	for (int i = 1; i <= 3; i++) {
		client_says(&t, 3000 + i * 500, TCP_ACK, t.client, 1);	/* a byte beyond the window */
		closed.ip_id++;
		say(s, 3001 + i * 500, &closed);
	}
	broker_acks(&t, 5000);
	asks(&t, 5001, 100);
	broker_acks(&t, 5002);
	end(s);
	window = only(s, EVENT_NET_ZERO_WINDOW);
	assert_direction(window, "ba");
	assert_interval(window, 3001, 5000);
	assert_flag(window, FIELD_CENSORED, false);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	assert_none(s, EVENT_NET_STALL);
	done(s);
}

static void test_copies_are_counted_and_ignored(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	struct segment copy;

	(void)state;
	beats(&t, 1000, 2, 1000);
	asks(&t, 3000, 100);
	copy = s->last;
	say(s, 3019, &copy);
	broker_acks(&t, 3020);
	end(s);
	assert_int_equal(tcp_copies(s->tcp), 1);
	assert_field(only(s, EVENT_NET_CONNECTION), FIELD_COPIES, 1);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 5);
	done(s);
}

/* The twins: another identification at once, and the same one after a timer. */
static void test_same_data_is_no_copy_by_itself(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	struct segment again;

	(void)state;
	beats(&t, 1000, 2, 1000);
	asks(&t, 3000, 100);
	again = s->last;
	again.ip_id++;
	say(s, 3010, &again);
	say(s, 3031, &again);
	broker_acks(&t, 3040);
	end(s);
	assert_int_equal(tcp_copies(s->tcp), 0);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 2);
	done(s);
}

static void test_without_identification_only_the_same_moment_is_a_copy(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	struct segment data = from_client(&t, TCP_ACK, t.client, 100);

	(void)state;
	data.ip_id = 0;
	say(s, 3000, &data);
	say(s, 3000.9, &data);
	say(s, 3003, &data);
	end(s);
	assert_int_equal(tcp_copies(s->tcp), 1);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	done(s);
}

/* ---- resets and openings ---- */

static void test_reset_of_a_connection_in_use(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *reset;

	(void)state;
	beats(&t, 1000, 2, 1000);
	asks(&t, 3000, 100);
	client_says(&t, 3001, TCP_ACK, t.client, 0);
	broker_says(&t, 3002, TCP_RST, t.broker, 0);
	end(s);
	reset = only(s, EVENT_NET_RESET);
	assert_direction(reset, "ba");
	assert_interval(reset, 3002, 3002);
	assert_flag(reset, FIELD_ABANDONED, true);
	done(s);
}

static void test_reset_after_a_close_is_an_ordinary_ending(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	client_says(&t, 3000, TCP_ACK | TCP_FIN, t.client, 0);
	answers(&t, 3001, 100);
	client_says(&t, 3001.1, TCP_RST, t.client + 1, 0);
	end(s);
	assert_none(s, EVENT_NET_RESET);
	done(s);
}

static void test_refused_connection_is_no_reset(void **state)
{
	struct story *s = begin();
	struct talk t = talk_from(s, 40001);

	(void)state;
	calls(&t, 0);
	broker_says(&t, 1, TCP_RST | TCP_ACK, 0, 0);
	end(s);
	assert_none(s, EVENT_NET_RESET);
	assert_none(s, EVENT_NET_SYN_UNANSWERED);
	assert_interval(only(s, EVENT_NET_REFUSED), 1, 1);
	done(s);
}

static void test_forged_reset_is_not_believed(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	broker_says(&t, 3002, TCP_RST, t.broker + 500000000, 0);
	beats(&t, 4000, 2, 1000);
	end(s);
	assert_none(s, EVENT_NET_RESET);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 8);
	done(s);
}

static void test_syn_sent_again_is_unanswered_until_it_is(void **state)
{
	struct story *s = begin();
	struct talk t = talk_from(s, 40001);
	const struct heard *syn;

	(void)state;
	calls(&t, 0);
	calls(&t, 1000);
	calls(&t, 3000);
	takes_call(&t, 3001);
	end(s);
	syn = only(s, EVENT_NET_SYN_UNANSWERED);
	assert_interval(syn, 0, 3001);
	assert_at(syn, FIELD_LOST_AT_US, 1000); /* the one at 3000 arrived */
	assert_field(syn, FIELD_RETRANSMITS, 2);
	assert_flag(syn, FIELD_ABANDONED, false);
	done(s);
}

static void test_syn_never_answered_lasts_to_the_last_attempt(void **state)
{
	struct story *s = begin();
	struct talk t = talk_from(s, 40001), other = talk_from(s, 40002);
	const struct heard *syn;

	(void)state;
	calls(&t, 0);
	calls(&t, 1000);
	calls(&t, 3000);
	/* The capture goes on for long enough that another attempt would have shown. */
	other = opens(s, 40002, 60000);
	beats(&other, 60100, 1, 1000);
	end(s);
	syn = only(s, EVENT_NET_SYN_UNANSWERED);
	assert_interval(syn, 0, 3000);
	assert_flag(syn, FIELD_ABANDONED, true);
	done(s);
}

static void test_syn_answered_at_once_is_nothing(void **state)
{
	struct story *s = begin();

	(void)state;
	opens(s, 40001, 0);
	end(s);
	assert_none(s, EVENT_NET_SYN_UNANSWERED);
	only(s, EVENT_NET_CONNECTION);
	done(s);
}

static void test_ports_used_again_are_another_connection(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	t.client = 900001;
	t.broker = 700001;
	calls(&t, 30000);
	takes_call(&t, 30001);
	beats(&t, 31000, 2, 1000);
	end(s);
	assert_int_equal(count_of(s, EVENT_NET_CONNECTION), 2);
	assert_interval(find(s, EVENT_NET_CONNECTION, 0), 0, 2001.05);
	assert_interval(find(s, EVENT_NET_CONNECTION, 1), 30000, 32001.05);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	done(s);
}

static void test_connection_without_syn_is_taken_up(void **state)
{
	struct story *s = begin();
	struct talk t = talk_from(s, 40001);

	(void)state;
	/* The broker is heard first; the higher port is still the caller's. */
	answers(&t, 0, 16);
	client_acks(&t, 0.1);
	beats(&t, 1000, 2, 1000);
	end(s);
	assert_string_equal(only(s, EVENT_NET_CONNECTION)->path_a, "10.0.0.1:40001");
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 5);
	done(s);
}

/* ---- pauses ---- */

/* Fetches every 300 ms; the last answer comes to a process that stands still for 10 s. */
static void test_paused_process_is_quiet_and_no_stall(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *quiet;

	(void)state;
	beats(&t, 1000, 30, 300);
	asks(&t, 10000, 100);
	broker_acks(&t, 10001);
	answers(&t, 10300, 50);
	client_acks(&t, 10340);
	beats(&t, 20000, 10, 300);
	end(s);
	quiet = only(s, EVENT_NET_QUIET);
	assert_direction(quiet, "ab");
	assert_interval(quiet, 10000, 20000);
	assert_field(quiet, FIELD_ACKS, 1);
	assert_flag(quiet, FIELD_PENDING, true);
	/* The answer to what it had asked came into the silence. */
	assert_at(quiet, FIELD_SPOKEN_AT_US, 10300);
	assert_string_equal(quiet->path_a, "10.0.0.1:40001");
	assert_string_equal(quiet->path_b, "10.0.0.2:9092");
	assert_none(s, EVENT_NET_STALL);
	done(s);
}

/* The twin: the same silence with the path cut. */
static void test_blackout_is_not_quiet(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 30, 300);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 10630, 100);
	asks_again(&t, 11470, 100);
	asks_again(&t, 13150, 100);
	asks_again(&t, 16510, 100);
	answers(&t, 16511, 16);
	client_acks(&t, 16511.1);
	beats(&t, 16512, 10, 300);
	end(s);
	assert_none(s, EVENT_NET_QUIET);
	only(s, EVENT_NET_STALL);
	done(s);
}

/* The twin: the process turns to another connection, while the data of the first stands. */
static void test_replacing_a_connection_in_a_blackout_is_not_quiet(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), next = talk_from(s, 40002);

	(void)state;
	beats(&t, 1000, 30, 300);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 10630, 100);
	calls(&next, 16000);
	takes_call(&next, 16001);
	beats(&next, 16002, 10, 300);
	end(s);
	assert_none(s, EVENT_NET_QUIET);
	done(s);
}

/* What a paused process does first when it wakes may be to open a connection. */
static void test_pause_may_end_with_a_call(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), next = talk_from(s, 40002);

	(void)state;
	beats(&t, 1000, 31, 300);
	calls(&next, 20000);
	takes_call(&next, 20001);
	beats(&next, 20002, 10, 300);
	end(s);
	assert_interval(only(s, EVENT_NET_QUIET), 10000, 20000);
	done(s);
}

/* The twin: on another connection the process goes on. */
static void test_busy_elsewhere_is_not_quiet(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);

	(void)state;
	beats(&t, 1000, 30, 300);
	beats(&other, 10000, 30, 300);
	beats(&t, 19500, 10, 300);
	end(s);
	assert_none(s, EVENT_NET_QUIET);
	done(s);
}

/* The twin: closed and started again later. */
static void test_restart_is_not_quiet(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), next;

	(void)state;
	beats(&t, 1000, 30, 300);
	client_says(&t, 10000, TCP_ACK | TCP_FIN, t.client, 0);
	broker_says(&t, 10001, TCP_ACK | TCP_FIN, t.broker, 0);
	client_says(&t, 10001.1, TCP_ACK, t.client + 1, 0);
	next = opens(s, 40002, 20000);
	beats(&next, 20010, 10, 300);
	end(s);
	assert_none(s, EVENT_NET_QUIET);
	done(s);
}

/* Requests are acknowledged by the broker's kernel, and none is answered for 8 s. */
static void test_paused_server_owes(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *quiet;

	(void)state;
	beats(&t, 1000, 30, 300);
	for (int i = 0; i < 8; i++) {
		asks(&t, 10000 + i * 1000, 100);
		broker_acks(&t, 10001 + i * 1000);
	}
	answers(&t, 18000, 64);
	client_acks(&t, 18000.1);
	beats(&t, 18050, 5, 300);
	end(s);
	quiet = only(s, EVENT_NET_QUIET);
	assert_direction(quiet, "ba");
	assert_interval(quiet, 10000, 18000);
	assert_field(quiet, FIELD_ACKS, 8);
	assert_flag(quiet, FIELD_PENDING, true);
	done(s);
}

/* The twin: nobody asks. The client is the quiet one, and owes an answer to nothing. */
static void test_idle_server_owes_nothing(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 30, 300);
	beats(&t, 18000, 5, 300);
	end(s);
	assert_direction(only(s, EVENT_NET_QUIET), "ab");
	done(s);
}

/* ---- sequence numbers ---- */

static void test_sequence_numbers_wrap(void **state)
{
	struct story *s = begin();
	struct talk t = talk_from(s, 40001);

	(void)state;
	t.client = UINT32_MAX - 150;
	t.broker = UINT32_MAX - 20;
	calls(&t, 0);
	takes_call(&t, 1);
	beats(&t, 1000, 5, 1000);
	asks(&t, 6000, 100);
	asks_again(&t, 6210, 100);
	answers(&t, 6211, 16);
	end(s);
	assert_int_equal(sum(s, FIELD_SEGMENTS), 13);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_none(s, EVENT_NET_STALL);
	done(s);
}

static void test_one_corrupt_sequence_number_does_no_harm(void **state)
{
	static const uint32_t wrong[] = { 0x40000000, 0x00080000, 0xfff80000, 0xc0000000 };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct story *s = begin();
		struct talk t = opens(s, 40001, 0);

		beats(&t, 1000, 5, 1000);
		client_says(&t, 6000, TCP_ACK, t.client + wrong[i], 100);
		t.client += 100;	/* as the broker took it */
		answers(&t, 6001, 16);
		client_acks(&t, 6001.1);
		beats(&t, 7000, 20, 1000);
		end(s);
		/* At most the corrupt one itself is taken for one sent again. */
		assert_true(sum(s, FIELD_RETRANSMITS) <= 1);
		assert_int_equal(sum(s, FIELD_SEGMENTS), 52);
		assert_none(s, EVENT_NET_STALL);
		assert_none(s, EVENT_NET_QUIET);
		done(s);
	}
}

static void test_one_corrupt_acknowledgment_does_no_harm(void **state)
{
	static const uint32_t wrong[] = { 0x40000000, 0x00080000, 0xfff80000, 0xc0000000 };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct story *s = begin();
		struct talk t = opens(s, 40001, 0);
		struct segment bad;

		beats(&t, 1000, 5, 1000);
		bad = from_broker(&t, TCP_ACK, t.broker, 0);
		bad.acknowledgment += wrong[i];
		say(s, 6000, &bad);
		beats(&t, 7000, 20, 1000);
		end(s);
		assert_int_equal(sum(s, FIELD_RETRANSMITS), 0);
		assert_int_equal(sum(s, FIELD_RTT_SAMPLES), 50);
		assert_none(s, EVENT_NET_STALL);
		done(s);
	}
}

static void test_a_stream_that_moved_is_followed(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 5, 1000);
	t.client += 300000000;
	t.broker += 300000000;
	beats(&t, 7000, 10, 1000);
	asks(&t, 17000, 100);
	asks_again(&t, 17210, 100);
	broker_acks(&t, 17211);
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_none(s, EVENT_NET_STALL);
	done(s);
}

static void test_overtaken_segment_is_not_sent_again(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 1000, 2, 1000);
	client_says(&t, 3000, TCP_ACK, t.client + 100, 100);
	client_says(&t, 3001, TCP_ACK, t.client, 100);
	t.client += 200;
	broker_acks(&t, 3002);
	/* The twin: it was lost on the way to the capture, and comes by a timer. */
	client_says(&t, 5000, TCP_ACK, t.client + 100, 100);
	client_says(&t, 5210, TCP_ACK, t.client, 100);
	t.client += 200;
	broker_acks(&t, 5211);
	end(s);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 1);
	assert_int_equal(sum(s, FIELD_TIMEOUTS), 1);
	done(s);
}

/* ---- seconds ---- */

static void test_a_second_has_its_round_trips(void **state)
{
	static const int rtt_ms[] = { 3, 1, 8 };
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *second;

	(void)state;
	for (int i = 0; i < 3; i++) {
		asks(&t, 5000 + i * 100, 100);
		broker_acks(&t, 5000 + i * 100 + rtt_ms[i]);
	}
	/* Sent twice: no telling which was acknowledged (Karn). */
	asks(&t, 5500, 100);
	asks_again(&t, 5550, 100);
	broker_acks(&t, 5551);
	end(s);
	second = only(s, EVENT_NET_SECOND);
	assert_interval(second, 5000, 6000);
	assert_direction(second, "ab");
	assert_field(second, FIELD_SEGMENTS, 5);
	assert_field(second, FIELD_RETRANSMITS, 1);
	assert_field(second, FIELD_TIMEOUTS, 0);
	assert_field(second, FIELD_BYTES, 500);
	assert_field(second, FIELD_RTT_SAMPLES, 3);
	assert_field(second, FIELD_RTT_MIN_US, 1000);
	assert_field(second, FIELD_RTT_MEDIAN_US, 3000);
	assert_field(second, FIELD_RTT_MAX_US, 8000);
	done(s);
}

/* ---- seconds told together ---- */

/* The nth of the seconds of one direction of a connection, of the events that tell of them. */
static const struct heard *second_of(const struct story *s, uint16_t port, const char *direction, size_t nth)
{
	char path[32];

	snprintf(path, sizeof path, "10.0.0.1:%u", port);
	for (size_t i = 0; i < s->count; i++) {
		const struct heard *h = &s->events[i];

		if (h->event.type == EVENT_NET_SECOND && strcmp(h->path_a, path) == 0 &&
		    sv_eq(event_text(&h->event, FIELD_DIRECTION), sv_of(direction)) && nth-- == 0)
			return h;
	}
	return NULL;
}

static void test_seconds_that_are_alike_are_told_together(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *h;

	(void)state;
	/* In 12 seconds, 5 to 16, one request each but for the last, which has two. */
	beats(&t, 5000, 12, 1000);
	beats(&t, 16500, 1, 1000);
	end(s);
	h = second_of(s, 40001, "ab", 0);
	assert_interval(h, 5000, 15000);
	assert_field(h, FIELD_SAMPLES, 10);
	assert_field(h, FIELD_SEGMENTS, 10);
	assert_field(h, FIELD_BYTES, 1000);
	assert_field(h, FIELD_RETRANSMITS, 0);
	assert_field(h, FIELD_RTT_SAMPLES, 10);
	assert_field(h, FIELD_RTT_MEDIAN_US, 1000);
	h = second_of(s, 40001, "ab", 1);
	assert_interval(h, 15000, 17000);
	assert_field(h, FIELD_SAMPLES, 2);
	assert_field(h, FIELD_SEGMENTS, 3);
	assert_null(second_of(s, 40001, "ab", 2));
	/* The other direction has its own. */
	assert_field(second_of(s, 40001, "ba", 0), FIELD_BYTES, 160);
	done(s);
}

/* The seconds between which there was nothing are among them; one alone says no number. */
static void test_seconds_told_together_need_not_follow(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	beats(&t, 5000, 3, 4000);
	beats(&t, 40000, 1, 1000);
	end(s);
	assert_interval(second_of(s, 40001, "ab", 0), 5000, 14000);
	assert_field(second_of(s, 40001, "ab", 0), FIELD_SAMPLES, 3);
	assert_interval(second_of(s, 40001, "ab", 1), 40000, 41000);
	assert_false(event_has(&second_of(s, 40001, "ab", 1)->event, FIELD_SAMPLES));
	done(s);
}

/* Loss is a part of what the path carried in that second: all that it carried is told to the second. */
static void test_a_second_with_loss_stands_alone_on_all_connections(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), other = opens(s, 40002, 10);

	(void)state;
	for (int i = 0; i < 8; i++) {
		beats(&t, 5000 + 1000 * i, 1, 1000);
		asks(&other, 5010 + 1000 * i, 100);
		if (i == 3)
			asks_again(&other, 5011 + 1000 * i, 100);
		broker_acks(&other, 5012 + 1000 * i);
	}
	end(s);
	for (uint16_t port = 40001; port <= 40002; port++) {
		assert_interval(second_of(s, port, "ab", 0), 5000, 8000);
		assert_interval(second_of(s, port, "ab", 1), 8000, 9000);
		assert_field(second_of(s, port, "ab", 1), FIELD_RETRANSMITS, port == 40002);
		assert_interval(second_of(s, port, "ab", 2), 9000, 13000);
		assert_null(second_of(s, port, "ab", 3));
	}
	done(s);
}

/* A delay begins and ends to the second. */
static void test_slow_seconds_stand_alone(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	for (int i = 0; i < 8; i++) {
		asks(&t, 5000 + 1000 * i, 100);
		broker_acks(&t, 5000 + 1000 * i + (i == 4 || i == 5 ? 300 : 1));
	}
	end(s);
	assert_interval(second_of(s, 40001, "ab", 0), 5000, 9000);
	assert_interval(second_of(s, 40001, "ab", 1), 9000, 10000);
	assert_interval(second_of(s, 40001, "ab", 2), 10000, 11000);
	assert_field(second_of(s, 40001, "ab", 2), FIELD_RTT_MEDIAN_US, 300000);
	assert_interval(second_of(s, 40001, "ab", 3), 11000, 13000);
	done(s);
}

/* Nor are those alike whose round trips are other ones, quick as they may be. */
static void test_other_round_trips_are_not_alike(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);

	(void)state;
	for (int i = 0; i < 6; i++) {
		asks(&t, 5000 + 1000 * i, 100);
		broker_acks(&t, 5000 + 1000 * i + (i < 3 ? 2 : 5));
	}
	end(s);
	assert_field(second_of(s, 40001, "ab", 0), FIELD_RTT_MAX_US, 2000);
	assert_field(second_of(s, 40001, "ab", 1), FIELD_RTT_MIN_US, 5000);
	assert_null(second_of(s, 40001, "ab", 2));
	done(s);
}

/* ---- holes ---- */

static void test_nothing_spans_a_hole(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0);
	const struct heard *stall;

	(void)state;
	beats(&t, 1000, 30, 300);
	asks(&t, 10000, 100);
	asks_again(&t, 10210, 100);
	asks_again(&t, 10630, 100);
	assert_int_equal(tcp_hole(s->tcp, START_US + 10630000, START_US + 90000000), 0);
	t.client += 5000;
	t.broker += 5000;
	t.client_has = t.broker;
	beats(&t, 90000, 30, 300);
	end(s);
	stall = only(s, EVENT_NET_STALL);
	assert_interval(stall, 9700, 10630);
	assert_flag(stall, FIELD_CENSORED, true);
	assert_none(s, EVENT_NET_QUIET);
	assert_int_equal(sum(s, FIELD_RETRANSMITS), 2);
	done(s);
}

/* Connections that were idle between two holes are as the first one left them; the busy one is cut twice. */
static void test_a_hole_ends_what_began_since_the_one_before(void **state)
{
	struct story *s = begin();
	struct talk idle = opens(s, 40001, 0), busy = opens(s, 40002, 10);
	const struct heard *second;

	(void)state;
	beats(&idle, 1000, 30, 300);
	beats(&busy, 1100, 30, 300);
	asks(&idle, 10000, 100);
	asks_again(&idle, 10210, 100);
	asks_again(&idle, 10630, 100);
	assert_int_equal(tcp_hole(s->tcp, START_US + 10700000, START_US + 20000000), 0);
	asks(&busy, 20000, 100);
	asks_again(&busy, 20210, 100);
	asks_again(&busy, 20630, 100);
	assert_int_equal(tcp_hole(s->tcp, START_US + 21000000, START_US + 30000000), 0);
	beats(&idle, 30000, 10, 300);
	assert_int_equal(tcp_hole(s->tcp, START_US + 33000000, START_US + 40000000), 0);
	end(s);
	assert_int_equal(count_of(s, EVENT_NET_STALL), 2);
	assert_interval(find(s, EVENT_NET_STALL, 0), 9700, 10700);
	second = find(s, EVENT_NET_STALL, 1);
	assert_int_equal(second->event.time.us, START_US + 20000000);
	assert_interval(second, 20000, 21000);
	done(s);
}

static void test_time_may_step_back_across_a_hole(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 3600000);

	(void)state;
	beats(&t, 3601000, 30, 300);
	assert_int_equal(tcp_hole(s->tcp, START_US + INT64_C(3609701050), START_US), 0);
	beats(&t, 0, 30, 300);
	asks(&t, 9000, 100);
	client_says(&t, 9001, TCP_ACK, t.client, 0);
	broker_acks(&t, 19000);
	end(s);
	/* The clock of the story runs on from the new time. */
	assert_interval(only(s, EVENT_NET_STALL), 8700, 19000);
	done(s);
}

static void test_continuity_tells_silence_from_a_hole(void **state)
{
	struct story *s = begin();
	struct talk t = opens(s, 40001, 0), stranger = talk_from(s, 40002);
	struct segment x;

	(void)state;
	beats(&t, 1000, 3, 1000);
	x = from_client(&t, TCP_ACK, t.client, 100);
	assert_int_equal(tcp_continuity(s->tcp, &x), TCP_CONTINUES);
	x = from_client(&t, TCP_ACK, t.client - 100, 100);
	assert_int_equal(tcp_continuity(s->tcp, &x), TCP_CONTINUES);
	/* The client acknowledges what was never seen. */
	x = from_client(&t, TCP_ACK, t.client, 100);
	x.acknowledgment += 50;
	assert_int_equal(tcp_continuity(s->tcp, &x), TCP_JUMPS);
	/* The broker is ahead: that may have been lost on the way here. */
	x = from_broker(&t, TCP_ACK, t.broker + 50, 16);
	assert_int_equal(tcp_continuity(s->tcp, &x), TCP_CANNOT_TELL);
	x = from_client(&stranger, TCP_ACK, stranger.client, 100);
	assert_int_equal(tcp_continuity(s->tcp, &x), TCP_CANNOT_TELL);
	end(s);
	done(s);
}

/* ---- bounds ---- */

static int drop_event(void *context, const struct event *e)
{
	(void)e;
	++*(uint64_t *)context;
	return 0;
}

static void test_the_least_recently_active_connection_gives_way(void **state)
{
	uint64_t events = 0;
	struct tcp *t = tcp_new((struct event_sink){ drop_event, &events });
	struct segment syn = { .ip_version = 6, .source = { 0xfe, 0x80 }, .destination = { 0xfe, 0x80, 1 },
			       .destination_port = 9092, .flags = TCP_SYN };

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		syn.time_us = START_US + i;
		syn.source_port = (uint16_t)(i % 60000);
		syn.source[15] = (uint8_t)(i / 256);
		assert_int_equal(tcp_segment(t, &syn), 0);
	}
	assert_int_equal(tcp_evicted(t), 20000 - 16384);
	assert_int_equal(tcp_finish(t), 0);
	assert_int_equal(events, 20000);	/* a net.connection each */
	tcp_free(t);
}

static int refuse_event(void *context, const struct event *e)
{
	(void)context;
	(void)e;
	return -1;
}

static void test_a_sink_that_fails_is_reported(void **state)
{
	struct tcp *t = tcp_new((struct event_sink){ refuse_event, NULL });
	struct segment syn = { .time_us = START_US, .ip_version = 4, .flags = TCP_SYN };

	(void)state;
	assert_int_equal(tcp_segment(t, &syn), 0);
	assert_int_equal(tcp_finish(t), -1);
	tcp_free(t);
	tcp_free(NULL);
}

/* Brokers may call one another from their own port: then addresses alone tell the sides apart. */
static void test_sides_are_told_apart_when_both_have_one_port(void **state)
{
	static const uint16_t ports[] = { 9092, 40001 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct story *s = begin();
		struct talk t = opens(s, ports[i], 0);

		asks(&t, 10, 100);
		asks(&t, 11, 100);
		answers(&t, 20, 700);
		end(s);
		assert_int_equal(count_of(s, EVENT_NET_CONNECTION), 1);
		assert_int_equal(event_int_or(&second_of(s, ports[i], "ab", 0)->event, FIELD_BYTES, 0), 200);
		assert_int_equal(event_int_or(&second_of(s, ports[i], "ba", 0)->event, FIELD_BYTES, 0), 700);
		done(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blackout_lasts_from_data_accepted_to_data_accepted),
		cmocka_unit_test(test_sides_are_told_apart_when_both_have_one_port),
		cmocka_unit_test(test_a_second_tells_when_its_losses_were_sent),
		cmocka_unit_test(test_what_is_heard_before_a_loss_is_no_sign),
		cmocka_unit_test(test_a_peer_that_only_repeats_itself_has_not_heard),
		cmocka_unit_test(test_a_silent_peer_is_heard_again_by_a_repeat),
		cmocka_unit_test(test_what_was_never_sent_again_was_late),
		cmocka_unit_test(test_delayed_acknowledgment_is_no_stall),
		cmocka_unit_test(test_long_path_is_no_stall),
		cmocka_unit_test(test_stall_in_progress_at_the_end_is_censored),
		cmocka_unit_test(test_loss_repaired_at_once_is_counted_and_no_stall),
		cmocka_unit_test(test_abandoned_connection_ends_when_its_replacement_is_heard),
		cmocka_unit_test(test_reset_after_progress_tells_that_the_client_had_left),
		cmocka_unit_test(test_close_after_an_answer_abandons_nothing),
		cmocka_unit_test(test_backoff_of_the_far_side_is_a_stall_of_its_data),
		cmocka_unit_test(test_packet_missed_by_the_capture_is_no_stall),
		cmocka_unit_test(test_vlans_that_are_recorded_without_their_tags_too),
		cmocka_unit_test(test_an_answer_from_another_domain_makes_it_one),
		cmocka_unit_test(test_paths_of_two_vlans_are_told_apart),
		cmocka_unit_test(test_keep_alives_are_not_retransmissions),
		cmocka_unit_test(test_last_byte_sent_again_is_a_retransmission),
		cmocka_unit_test(test_zero_window_lasts_until_it_opens_and_its_probes_do_not_count),
		cmocka_unit_test(test_copies_are_counted_and_ignored),
		cmocka_unit_test(test_same_data_is_no_copy_by_itself),
		cmocka_unit_test(test_without_identification_only_the_same_moment_is_a_copy),
		cmocka_unit_test(test_reset_of_a_connection_in_use),
		cmocka_unit_test(test_reset_after_a_close_is_an_ordinary_ending),
		cmocka_unit_test(test_refused_connection_is_no_reset),
		cmocka_unit_test(test_forged_reset_is_not_believed),
		cmocka_unit_test(test_syn_sent_again_is_unanswered_until_it_is),
		cmocka_unit_test(test_syn_never_answered_lasts_to_the_last_attempt),
		cmocka_unit_test(test_syn_answered_at_once_is_nothing),
		cmocka_unit_test(test_ports_used_again_are_another_connection),
		cmocka_unit_test(test_connection_without_syn_is_taken_up),
		cmocka_unit_test(test_paused_process_is_quiet_and_no_stall),
		cmocka_unit_test(test_blackout_is_not_quiet),
		cmocka_unit_test(test_replacing_a_connection_in_a_blackout_is_not_quiet),
		cmocka_unit_test(test_pause_may_end_with_a_call),
		cmocka_unit_test(test_busy_elsewhere_is_not_quiet),
		cmocka_unit_test(test_restart_is_not_quiet),
		cmocka_unit_test(test_paused_server_owes),
		cmocka_unit_test(test_idle_server_owes_nothing),
		cmocka_unit_test(test_sequence_numbers_wrap),
		cmocka_unit_test(test_one_corrupt_sequence_number_does_no_harm),
		cmocka_unit_test(test_one_corrupt_acknowledgment_does_no_harm),
		cmocka_unit_test(test_a_stream_that_moved_is_followed),
		cmocka_unit_test(test_overtaken_segment_is_not_sent_again),
		cmocka_unit_test(test_a_second_has_its_round_trips),
		cmocka_unit_test(test_a_probe_of_what_had_arrived_is_needless),
		cmocka_unit_test(test_what_the_peer_had_not_is_sent_again_for_a_reason),
		cmocka_unit_test(test_a_timeout_is_never_needless),
		cmocka_unit_test(test_a_report_of_other_data_says_nothing),
		cmocka_unit_test(test_seconds_that_are_alike_are_told_together),
		cmocka_unit_test(test_seconds_told_together_need_not_follow),
		cmocka_unit_test(test_a_second_with_loss_stands_alone_on_all_connections),
		cmocka_unit_test(test_slow_seconds_stand_alone),
		cmocka_unit_test(test_other_round_trips_are_not_alike),
		cmocka_unit_test(test_nothing_spans_a_hole),
		cmocka_unit_test(test_a_hole_ends_what_began_since_the_one_before),
		cmocka_unit_test(test_time_may_step_back_across_a_hole),
		cmocka_unit_test(test_continuity_tells_silence_from_a_hole),
		cmocka_unit_test(test_the_least_recently_active_connection_gives_way),
		cmocka_unit_test(test_a_sink_that_fails_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
