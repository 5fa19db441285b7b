/* SPDX-License-Identifier: MIT */
/*
 * What is done in a short way for the commonest packets, against the way that
 * all others go: for every packet of the captures in this repository, those
 * that the lab recorded among them, and for many that were damaged.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "input/capture/kafka_fetch.h"
#include "input/capture/records.h"
#include "input/capture/tcp_flow.h"
#include "input/stream.h"
#include "input/unpack.h"

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

/* ---- decoding ---- */

static void expect_same_segment(const struct segment *x, const struct segment *y)
{
	assert_int_equal(x->ip_version, y->ip_version);
	assert_true(x->domain == y->domain);
	assert_memory_equal(x->source, y->source, 16);
	assert_memory_equal(x->destination, y->destination, 16);
	assert_int_equal(x->source_port, y->source_port);
	assert_int_equal(x->destination_port, y->destination_port);
	assert_int_equal(x->has_ip_id, y->has_ip_id);
	assert_int_equal(x->ip_id, y->ip_id);
	assert_int_equal(x->sequence, y->sequence);
	assert_int_equal(x->acknowledgment, y->acknowledgment);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->window, y->window);
	assert_int_equal(x->has_window_shift, y->has_window_shift);
	assert_int_equal(x->window_shift, y->window_shift);
	assert_int_equal(x->has_duplicate, y->has_duplicate);
	assert_int_equal(x->duplicate_from, y->duplicate_from);
	assert_int_equal(x->duplicate_to, y->duplicate_to);
	assert_int_equal(x->payload_bytes, y->payload_bytes);
	assert_int_equal(x->payload_digest, y->payload_digest);
	assert_ptr_equal(x->payload, y->payload);
	assert_int_equal(x->payload_captured, y->payload_captured);
}

/* Two decoders, since each remembers the pieces of packets that it has seen. */
struct both {
	struct packet_decoder *usual, *any;
	uint64_t seed;
	size_t packets, tcp;
};

static void decode_both(struct both *b, enum packet_link link, const uint8_t *bytes, size_t captured, size_t wire)
{
	struct segment x, y;
	enum packet_what what = packet_decode(b->usual, link, bytes, captured, wire, &x);

	assert_int_equal(what, packet_decode_any(b->any, link, bytes, captured, wire, &y));
	b->packets++;
	if (what != PACKET_TCP)
		return;
	b->tcp++;
	expect_same_segment(&x, &y);
}

#define HEADERS_MOST 90

/* As it is, then with bits of its headers turned over, and cut somewhere. */
static void decode_variants(struct both *b, enum packet_link link, const struct record *r)
{
	decode_both(b, link, r->bytes, r->captured, r->wire);
	for (int i = 0; i < 3; i++) {
		size_t n = r->captured < HEADERS_MOST ? r->captured : HEADERS_MOST;
		/* Of that size, so that a sanitizer sees what is read beyond it. */
		uint8_t *copy = malloc(n > 0 ? n : 1);

		assert_non_null(copy);
		memcpy(copy, r->bytes, n);
		for (uint64_t k = next_random(&b->seed) % 3; n > 0 && k > 0; k--)
			copy[next_random(&b->seed) % n] ^= (uint8_t)(1U << next_random(&b->seed) % 8);
		decode_both(b, link, copy, i == 0 ? n : next_random(&b->seed) % (n + 1), r->wire);
		free(copy);
	}
}

/* ---- captures ---- */

static const struct record_reader_ops *reader_of(struct stream *s)
{
	struct sv head = stream_head(s);

	return head.n > 0 && head.p[0] == 0x0a ? &record_pcapng : &record_pcap;
}

typedef void take_capture_fn(struct stream *s, void *context);

static void take_packets(struct stream *s, void *context)
{
	struct both *b = context;
	struct arena *a = arena_new();
	struct record_run run;
	struct records *records;
	const char *why;

	b->usual = packet_decoder_new(a);
	b->any = packet_decoder_new(a);
	if (records_open(s, reader_of(s), 1, &records, &why)) {
		while (records_next(records, &run, &why) == 1) {
			for (size_t i = 0; i < run.count; i++) {
				enum packet_link link;

				if (run.record[i].is_packet && packet_link_of(run.record[i].link, &link))
					decode_variants(b, link, &run.record[i]);
			}
		}
	}
	records_close(records);
	arena_free(a);
}

static ptrdiff_t read_fd(void *context, void *bytes, size_t n)
{
	const int *fd = context;

	return read(*fd, bytes, n);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* The captures in an archive of the lab. */
static void take_archive(int fd, take_capture_fn *take, void *context)
{
	struct arena *a = arena_new(), *of_member = arena_new();
	struct unpack_budget budget = { .stored_bytes = UINT64_C(1) << 30 };
	struct unpack_options o = { &budget, diag_new(a), a };
	struct unpack *u = unpack_fd(fd, &o);
	struct unpack_member m;

	while (unpack_next(u, of_member, &m) == 1) {
		if (sv_ends_with(m.name, SV(".pcap")) || sv_ends_with(m.name, SV(".pcapng")))
			take(m.stream, context);
		arena_reset(of_member);
	}
	unpack_close(u);
	arena_free(of_member);
	arena_free(a);
}

static void take_file(const char *path, take_capture_fn *take, void *context)
{
	struct arena *a = arena_new();
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	if (ends_with(path, ".tar.xz"))
		take_archive(fd, take, context);
	else
		take(stream_new(a, (struct stream_source){ .read = read_fd, .context = &fd }), context);
	close(fd);
	arena_free(a);
}

static size_t take_directory(const char *directory, take_capture_fn *take, void *context)
{
	DIR *d = opendir(directory);
	const struct dirent *e;
	size_t files = 0;
	char path[512];

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		if (!ends_with(e->d_name, ".pcap") && !ends_with(e->d_name, ".pcapng") && !ends_with(e->d_name, ".tar.xz"))
			continue;
		assert_true(snprintf(path, sizeof path, "%s/%s", directory, e->d_name) < (int)sizeof path);
		take_file(path, take, context);
		files++;
	}
	closedir(d);
	return files;
}

static void every_packet_is_decoded_alike(void **state)
{
	struct both b = { .seed = 1 };

	(void)state;
	assert_true(take_directory("samples/captures", take_packets, &b) >= 12);
	assert_true(take_directory("tests/fuzz/corpus/capture", take_packets, &b) >= 14);
	assert_true(take_directory("tests/lab/runs", take_packets, &b) >= 90);
	/* Most of them are TCP, and most of the damaged ones still are. */
	assert_true(b.packets > 200000);
	assert_true(b.tcp > b.packets / 2);
	assert_true(b.tcp < b.packets);
}

/* ---- one direction of a connection ---- */

static void expect_same_flow(const struct tcp_flow *x, const struct tcp_flow *y)
{
	assert_int_equal(x->synced, y->synced);
	assert_int_equal(x->next, y->next);
	assert_int_equal(x->fin_sent, y->fin_sent);
	assert_int_equal(x->fin, y->fin);
	assert_int_equal(x->forgot, y->forgot);
	assert_int_equal(x->fills, y->fills);
	assert_int_equal(x->jump_suspected, y->jump_suspected);
	assert_int_equal(x->ack_suspected, y->ack_suspected);
	assert_int_equal(x->resent_after_us, y->resent_after_us);
	assert_int_equal(x->progress_us, y->progress_us);
	assert_int_equal(x->gap.open, y->gap.open);
	assert_int_equal(x->gap.bare, y->gap.bare);
	assert_int_equal(x->gap.from, y->gap.from);
	assert_int_equal(x->gap.to, y->gap.to);
	assert_int_equal(x->accepted.end, y->accepted.end);
	assert_int_equal(x->sent_count, y->sent_count);
	for (unsigned i = 0; i < x->sent_count; i++) {
		assert_int_equal(x->sent[i].start, y->sent[i].start);
		assert_int_equal(x->sent[i].end, y->sent[i].end);
		assert_int_equal(x->sent[i].last_us, y->sent[i].last_us);
		assert_int_equal(x->sent[i].first.us, y->sent[i].first.us);
		assert_int_equal(x->sent[i].first.place.number, y->sent[i].first.place.number);
		assert_int_equal(x->sent[i].sends, y->sent[i].sends);
		assert_int_equal(x->sent[i].inexact, y->sent[i].inexact);
	}
}

/* Nearly always what comes next; else a little or far away, or with a flag. */
static struct segment some_segment(const struct tcp_flow *f, uint64_t number, uint64_t *seed)
{
	static const uint32_t payloads[] = { 0, 0, 0, 1, 2, 100, 1448, 1448 };
	static const uint8_t flags[] = { TCP_ACK,     TCP_ACK,		 TCP_ACK, TCP_ACK,
					 TCP_ACK | 8, TCP_ACK | TCP_FIN, TCP_SYN, TCP_RST };
	struct segment s = { .flags = TCP_ACK, .sequence = f->next, .payload_bytes = payloads[next_random(seed) % 8],
			     .place = { .number = number } };

	switch (next_random(seed) % 12) {
	case 0:
		s.sequence += (uint32_t)(next_random(seed) % 4000) - 2000;
		break;
	case 1:
		s.sequence--;
		break;
	case 2:
		s.flags = flags[next_random(seed) % 8];
		break;
	case 3:
		if (next_random(seed) % 20 == 0)
			s.sequence = (uint32_t)next_random(seed);
		break;
	default:
		break;
	}
	return s;
}

/* As tcp_take asks. */
static bool comes_next(const struct tcp_flow *f, const struct segment *s)
{
	return (s->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK && s->payload_bytes != 1 && s->sequence == f->next;
}

static void a_segment_that_comes_next_does_what_any_does(void **state)
{
	uint64_t seed = 7;
	size_t plain_acknowledgments = 0, plain_payloads = 0, plain_others = 0;

	(void)state;
	for (int connection = 0; connection < 400; connection++) {
		struct tcp_flow f = { .next = (uint32_t)next_random(&seed), .synced = connection % 3 != 0 };

		for (uint64_t i = 0; i < 200; i++) {
			int64_t now_us = (int64_t)(i * (1 + next_random(&seed) % 1000));
			struct segment s = some_segment(&f, i, &seed);
			struct tcp_flow any = f;
			struct tcp_progress progress;
			uint32_t ack;

			if (tcp_flow_is_usual(&f) && comes_next(&f, &s)) {
				tcp_flow_send_next(&f, &s, now_us);
				assert_int_equal(tcp_flow_send(&any, &s, now_us, false),
						 s.payload_bytes > 0 ? TCP_DATA_NEW : TCP_DATA_NONE);
				expect_same_flow(&f, &any);
				*(s.payload_bytes > 0 ? &plain_payloads : &plain_others) += 1;
			} else {
				tcp_flow_send(&f, &s, now_us, false);
				any = f;
			}
			ack = f.next - (uint32_t)(next_random(&seed) % 3 == 0 ? next_random(&seed) % 3000 : 0);
			if (tcp_flow_is_acknowledged(&f, ack)) {
				plain_acknowledgments++;
				assert_false(tcp_flow_acknowledge(&f, ack, now_us, &progress));
				expect_same_flow(&f, &any);
			} else {
				tcp_flow_acknowledge(&f, ack, now_us, &progress);
			}
			f.forgot = f.forgot && i % 2 == 0;
		}
	}
	assert_true(plain_acknowledgments > 1000);
	assert_true(plain_payloads > 1000);
	assert_true(plain_others > 1000);
}

static void what_is_accepted_is_what_is_acknowledged(void **state)
{
	uint64_t seed = 11;
	size_t accepted = 0, with_rtt = 0;

	(void)state;
	for (int connection = 0; connection < 400; connection++) {
		struct tcp_flow f = { .next = (uint32_t)next_random(&seed), .synced = true };

		for (uint64_t i = 0; i < 200; i++) {
			int64_t now_us = (int64_t)(i * (1 + next_random(&seed) % 1000));
			struct segment s = some_segment(&f, i, &seed);
			struct tcp_flow any;
			struct tcp_progress progress;
			uint32_t ack;

			tcp_flow_send(&f, &s, now_us, false);
			any = f;
			ack = f.next - (uint32_t)(next_random(&seed) % 2 == 0 ? next_random(&seed) % 4000 : 0);
			if (!tcp_flow_is_usual(&f) || !tcp_flow_is_accepted(&f, ack)) {
				tcp_flow_acknowledge(&f, ack, now_us, &progress);
				continue;
			}
			accepted++;
			assert_true(tcp_flow_acknowledge(&any, ack, now_us, &progress));
			/* Nothing in it was sent again: of a stall there is nothing to say. */
			assert_int_equal(progress.head.sends, 1);
			assert_int_equal(tcp_flow_accept(&f, ack, now_us), progress.has_rtt ? progress.rtt_us : TCP_NO_RTT);
			with_rtt += progress.has_rtt;
			expect_same_flow(&f, &any);
			assert_int_equal(f.accepted.start, any.accepted.start);
			assert_int_equal(f.accepted.sent_us, any.accepted.sent_us);
			assert_int_equal(f.accepted.last_us, any.accepted.last_us);
		}
	}
	assert_true(with_rtt > 1000);
	assert_true(accepted > with_rtt + 100);
}

/* ---- the inside of a batch ---- */

static void count_range(void *context, const struct kafka_range *r)
{
	(void)r;
	++*(size_t *)context;
}

/* An answer to Fetch, version 4, from after the correlation id: one batch of so many bytes, then another partition. */
static void begin_batch(struct kafka_fetch *f, uint32_t batch_bytes)
{
	static const uint8_t head[] = {
		0, 0, 0, 0,			/* throttle time */
		0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 2,	/* one topic, two partitions */
		0, 0, 0, 0, 0, 0,		/* partition 0, no error */
		0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0,	/* watermarks, nothing aborted */
	};
	uint8_t bytes[sizeof head + 4 + 27];
	uint8_t *at = bytes + sizeof head;
	size_t ranges = 0;

	memcpy(bytes, head, sizeof head);
	memset(at, 0, 4 + 27);
	for (unsigned i = 0; i < 4; i++) {
		at[i] = (uint8_t)(batch_bytes >> (24 - 8 * i));
		at[4 + 8 + i] = (uint8_t)((batch_bytes - 12) >> (24 - 8 * i));
	}
	at[4 + 16] = 2;	/* magic */
	kafka_fetch_begin(f, 4, false, sizeof bytes + batch_bytes);
	kafka_fetch_take(f, bytes, sizeof bytes, &(struct kafka_fetch_user){ count_range, &ranges });
	assert_int_equal(ranges, 1);
}

static void the_inside_of_a_batch_is_passed_over_to_its_end(void **state)
{
	static const uint8_t records[200];
	size_t ranges = 0;

	(void)state;
	for (uint32_t n = 1; n <= sizeof records; n++) {
		struct kafka_fetch taken = { .next = NULL }, passed;

		begin_batch(&taken, 27 + 150);
		memcpy(&passed, &taken, sizeof passed);
		assert_int_equal(kafka_fetch_is_inside(&passed, n), n <= 150);
		if (n > 150)
			continue;
		kafka_fetch_pass_inside(&passed, n);
		kafka_fetch_take(&taken, records, n, &(struct kafka_fetch_user){ count_range, &ranges });
		assert_int_equal(passed.skip, 150 - n);
		assert_memory_equal(&passed, &taken, offsetof(struct kafka_fetch, topic));
	}
	assert_int_equal(ranges, 0);
}

/* ---- whole connections ---- */

/* All that was told, in one number each. */
struct told {
	uint64_t digest;
	size_t events;
};

static void add_bytes(struct told *t, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		t->digest = (t->digest ^ p[i]) * UINT64_C(0x100000001b3);
}

static int tell(void *context, const struct event *e)
{
	struct told *t = context;

	t->events++;
	add_bytes(t, &e->type, sizeof e->type);
	add_bytes(t, &e->time, sizeof e->time);
	add_bytes(t, &e->duration_us, sizeof e->duration_us);
	add_bytes(t, &e->place.number, sizeof e->place.number);
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		if (!event_has(e, f))
			continue;
		add_bytes(t, &f, sizeof f);
		if (field_infos[f].type == FIELD_TEXT)
			add_bytes(t, e->value[f].text.p, e->value[f].text.n);
		else
			add_bytes(t, &e->value[f].number, sizeof e->value[f].number);
	}
	return 0;
}

/* One is given segments by the short ways, the other without them. */
struct two {
	struct tcp *tcp, *any;
	struct told told, told_by_any;
	uint64_t seed;
	struct segment held;	/* comes later than it should */
	bool holds;
};

static void give(struct two *t, const struct segment *s)
{
	assert_int_equal(tcp_segment(t->tcp, s), 0);
	assert_int_equal(tcp_segment_any(t->any, s), 0);
	assert_int_equal(t->told.events, t->told_by_any.events);
}

/* Some are lost, come twice, come late, or say something else; rate: one in so many. */
static void give_damaged(struct two *t, const struct segment *s, unsigned rate)
{
	static const uint8_t flags[] = { TCP_ACK, TCP_SYN, TCP_SYN | TCP_ACK, TCP_FIN | TCP_ACK, TCP_RST, TCP_RST | TCP_ACK, 0 };
	struct segment other = *s;

	if (rate == 0 || next_random(&t->seed) % rate != 0) {
		give(t, s);
	} else {
		switch (next_random(&t->seed) % 8) {
		case 0:
			return;
		case 1:
			t->held = *s;
			t->held.payload = NULL;
			t->held.payload_captured = 0;
			t->holds = true;
			return;
		case 2:
			give(t, s);
			break;
		case 3:
			other.flags = flags[next_random(&t->seed) % sizeof flags];
			break;
		case 4:
			other.sequence += (uint32_t)(next_random(&t->seed) % 3000) - 1500;
			break;
		case 5:
			other.acknowledgment += (uint32_t)(next_random(&t->seed) % 3000) - 1500;
			break;
		case 6:
			other.window = 0;
			break;
		default:
			other.time_us += (int64_t)(next_random(&t->seed) % 3000000);
			break;
		}
		give(t, &other);
	}
	if (t->holds && next_random(&t->seed) % 4 == 0) {
		t->holds = false;
		give(t, &t->held);
	}
}

static size_t given_alike(struct record_run *run, struct two *t, unsigned rate)
{
	size_t segments = 0;

	for (size_t i = 0; i < run->count; i++) {
		if (!run->packet[i].is_read || run->packet[i].what != PACKET_TCP)
			continue;
		give_damaged(t, &run->packet[i].segment, rate);
		segments++;
	}
	return segments;
}

static void end_alike(struct two *t)
{
	assert_int_equal(tcp_finish(t->tcp), 0);
	assert_int_equal(tcp_finish(t->any), 0);
	assert_int_equal(t->told.events, t->told_by_any.events);
	assert_true(t->told.digest == t->told_by_any.digest);
	assert_int_equal(tcp_copies(t->tcp), tcp_copies(t->any));
	assert_int_equal(tcp_overtaken(t->tcp), tcp_overtaken(t->any));
	tcp_free(t->tcp);
	tcp_free(t->any);
}

struct alike {
	unsigned rate;
	size_t segments, events;
};

static void take_alike(struct stream *s, void *context)
{
	struct alike *alike = context;
	struct two t = { .seed = 3 + alike->rate };
	struct record_run run;
	struct records *records;
	const char *why;

	t.tcp = tcp_new((struct event_sink){ tell, &t.told });
	t.any = tcp_new((struct event_sink){ tell, &t.told_by_any });
	if (records_open(s, reader_of(s), 1, &records, &why))
		while (records_next(records, &run, &why) == 1)
			alike->segments += given_alike(&run, &t, alike->rate);
	records_close(records);
	end_alike(&t);
	alike->events += t.told.events;
}

static void connections_are_told_of_alike(void **state)
{
	struct alike alike = { 0 };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		alike.rate = (const unsigned[]){ 0, 200, 40, 10 }[i];
		assert_true(take_directory("samples/captures", take_alike, &alike) >= 12);
		assert_true(take_directory("tests/fuzz/corpus/capture", take_alike, &alike) >= 14);
		assert_true(take_directory("tests/lab/runs", take_alike, &alike) >= 90);
	}
	assert_true(alike.segments > 200000);
	assert_true(alike.events > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_is_decoded_alike),
		cmocka_unit_test(a_segment_that_comes_next_does_what_any_does),
		cmocka_unit_test(what_is_accepted_is_what_is_acknowledged),
		cmocka_unit_test(the_inside_of_a_batch_is_passed_over_to_its_end),
		cmocka_unit_test(connections_are_told_of_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
