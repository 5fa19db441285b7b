/* SPDX-License-Identifier: MIT */
/*
 * gen_capture MB FILE [CONNECTIONS [SNAPLEN]]
 *
 * A capture of Kafka clients at work, the same bytes every time: pcap of
 * microseconds, Ethernet, IPv4, TCP with timestamps to port 9092. On each
 * connection heartbeats, commits, produced and fetched batches (1 to 60 KB, in
 * segments of 1448 bytes, every second one acknowledged); of a thousand
 * segments one is lost behind the capture and sent again; now and then a path
 * stands still and a heartbeat is repeated at doubling intervals. MB is the
 * size at full length: with a snapshot length the same packets are cut.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENT_BYTES 1448
#define FRAME_BYTES_MAX (96 * 1024)
#define START_US (INT64_C(1715680800) * 1000000)
#define HEADER_BYTES (14 + 20 + 32)

enum { FIN = 1, SYN = 2, PSH = 8, ACK = 16 };
enum { PRODUCE = 0, FETCH = 1, OFFSET_COMMIT = 8, HEARTBEAT = 12 };

/* ---- chance, the same every time (splitmix64) ---- */

static uint64_t chance_state = 1;

static uint64_t chance(void)
{
	uint64_t z = chance_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(chance() % n);
}

static void *need(void *p)
{
	if (p == NULL) {
		fputs("gen_capture: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* ---- big-endian bytes ---- */

struct bytes {
	uint8_t at[FRAME_BYTES_MAX];
	size_t n;
};

static void put(struct bytes *b, uint64_t v, unsigned n)
{
	while (n-- > 0)
		b->at[b->n++] = (uint8_t)(v >> 8 * n);
}

static void put_text(struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	memcpy(b->at + b->n, text, n);
	b->n += n;
}

/* With its length in two bytes, or compact. */
static void put_string(struct bytes *b, const char *text)
{
	put(b, strlen(text), 2);
	put_text(b, text);
}

static void put_compact(struct bytes *b, const char *text)
{
	put(b, strlen(text) + 1, 1);
	put_text(b, text);
}

/* ZigZag, in groups of seven bits. */
static void put_varint(struct bytes *b, uint32_t v)
{
	for (v <<= 1; v > 127; v >>= 7)
		put(b, (v & 127) | 128, 1);
	put(b, v, 1);
}

/* ---- connections ---- */

struct connection {
	uint32_t client_address, broker_address;
	uint16_t client_port, client_id, broker_id, ip_id;
	uint32_t next[2];	/* of the client, of the broker */
	uint32_t correlation;
	int64_t round_trip_us, heartbeat_us;
	char client[32], member[64];
};

/* ---- packets, in order of time ---- */

struct packet {
	int64_t us;
	uint64_t serial;	/* of those at one time, in order of making */
	uint32_t captured, wire;
	uint8_t bytes[];
};

struct heap {
	struct packet **item;
	size_t n, capacity;
};

static bool is_before(const struct packet *a, const struct packet *b)
{
	return a->us != b->us ? a->us < b->us : a->serial < b->serial;
}

static void heap_push(struct heap *h, struct packet *p)
{
	size_t at = h->n++;

	if (h->n > h->capacity) {
		h->capacity = h->capacity == 0 ? 1024 : 2 * h->capacity;
		h->item = need(realloc(h->item, h->capacity * sizeof *h->item));
	}
	for (; at > 0 && is_before(p, h->item[(at - 1) / 2]); at = (at - 1) / 2)
		h->item[at] = h->item[(at - 1) / 2];
	h->item[at] = p;
}

static struct packet *heap_pop(struct heap *h)
{
	struct packet *first = h->item[0], *last = h->item[--h->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < h->n) {
		child += child + 1 < h->n && is_before(h->item[child + 1], h->item[child]);
		if (!is_before(h->item[child], last))
			break;
		h->item[at] = h->item[child];
		at = child;
	}
	h->item[at] = last;
	return first;
}

/* ---- the capture ---- */

struct capture {
	FILE *file;
	uint64_t full_bytes;
	uint32_t snaplen;
	uint64_t serial;
	struct heap waiting;
};

static void write_number(FILE *f, uint32_t v)
{
	const uint8_t little[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };

	fwrite(little, 1, sizeof little, f);
}

static void write_header(struct capture *c)
{
	write_number(c->file, 0xa1b2c3d4);
	write_number(c->file, 2 | 4 << 16);
	write_number(c->file, 0);
	write_number(c->file, 0);
	write_number(c->file, c->snaplen);
	write_number(c->file, 1);
}

static void write_until(struct capture *c, int64_t us)
{
	while (c->waiting.n > 0 && c->waiting.item[0]->us <= us) {
		struct packet *p = heap_pop(&c->waiting);

		write_number(c->file, (uint32_t)(p->us / 1000000));
		write_number(c->file, (uint32_t)(p->us % 1000000));
		write_number(c->file, p->captured);
		write_number(c->file, p->wire);
		fwrite(p->bytes, 1, p->captured, c->file);
		c->full_bytes += 16 + p->wire;
		free(p);
	}
}

static uint16_t ip_checksum(const uint8_t header[20])
{
	uint32_t sum = 0;

	for (int i = 0; i < 20; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~((sum & 0xffff) + (sum >> 16));
}

static void put_headers(struct bytes *b, struct connection *c, int64_t us, unsigned from, uint8_t flags,
			uint32_t sequence, uint32_t acknowledgment, size_t payload)
{
	const uint32_t address[2] = { c->client_address, c->broker_address };
	const uint16_t port[2] = { c->client_port, 9092 }, id[2] = { c->client_id, c->broker_id };
	uint16_t checksum;

	put(b, UINT64_C(0x020000000000) | id[!from], 6);
	put(b, UINT64_C(0x020000000000) | id[from], 6);
	put(b, 0x0800, 2);
	put(b, 0x4500, 2);
	put(b, 52 + payload, 2);
	put(b, ++c->ip_id, 2);
	put(b, 0x40004006, 4);
	put(b, 0, 2);
	put(b, address[from], 4);
	put(b, address[!from], 4);
	checksum = ip_checksum(b->at + b->n - 20);
	b->at[b->n - 10] = (uint8_t)(checksum >> 8);
	b->at[b->n - 9] = (uint8_t)checksum;
	put(b, port[from], 2);
	put(b, port[!from], 2);
	put(b, sequence, 4);
	put(b, acknowledgment, 4);
	put(b, 0x8000U | flags, 2);
	put(b, 501, 2);
	put(b, 0, 4);
	put(b, 0x0101080a, 4);
	put(b, (uint64_t)us / 1000 & UINT32_MAX, 4);
	put(b, (uint64_t)us / 1000 - 1, 4);
}

static void emit(struct capture *out, struct connection *c, int64_t us, unsigned from, uint8_t flags, uint32_t sequence,
		 uint32_t acknowledgment, const uint8_t *payload, size_t n)
{
	static struct bytes b;
	struct packet *p;

	b.n = 0;
	put_headers(&b, c, us, from, flags, sequence, acknowledgment, n);
	if (n > 0)
		memcpy(b.at + b.n, payload, n);
	b.n += n;
	p = need(malloc(sizeof *p + b.n));
	*p = (struct packet){ .us = us, .serial = out->serial++, .wire = (uint32_t)b.n };
	p->captured = p->wire < out->snaplen ? p->wire : out->snaplen;
	memcpy(p->bytes, b.at, p->captured);
	heap_push(&out->waiting, p);
}

/* In segments, with what is lost sent again; when the last one has arrived. */
static int64_t send_bytes(struct capture *out, struct connection *c, int64_t us, unsigned from, const struct bytes *b)
{
	uint32_t start = c->next[from], peer = c->next[!from];
	bool odd = false;

	for (size_t at = 0; at < b->n;) {
		size_t n = b->n - at < SEGMENT_BYTES ? b->n - at : SEGMENT_BYTES;
		bool last = at + n == b->n;
		uint8_t flags = last ? PSH | ACK : ACK;

		emit(out, c, us, from, flags, start + (uint32_t)at, peer, b->at + at, n);
		if (below(1000) == 0) {
			int64_t wait_us = c->round_trip_us + (last ? 200000 : 50);

			emit(out, c, us + wait_us, from, flags, start + (uint32_t)at, peer, b->at + at, n);
			us += last ? wait_us : 0;
		}
		at += n;
		us += 12;
		odd = !odd;
		if (!odd || last)
			emit(out, c, us + c->round_trip_us / 2, !from, ACK, peer, start + (uint32_t)at, NULL, 0);
	}
	c->next[from] += (uint32_t)b->n;
	return us + c->round_trip_us / 2;
}

/* ---- Kafka ---- */

static void begin_frame(struct bytes *b)
{
	b->n = 4;
}

static void end_frame(struct bytes *b)
{
	size_t n = b->n;

	b->n = 0;
	put(b, n - 4, 4);
	b->n = n;
}

static void begin_request(struct bytes *b, const struct connection *c, unsigned key, unsigned version)
{
	begin_frame(b);
	put(b, key, 2);
	put(b, version, 2);
	put(b, c->correlation, 4);
	put_string(b, c->client);
}

static void begin_answer(struct bytes *b, const struct connection *c)
{
	begin_frame(b);
	put(b, c->correlation, 4);
}

/* A batch of the second format; its values are letters, its checksum is left out. */
static void put_batch(struct bytes *b, uint32_t records, uint32_t value_bytes)
{
	size_t length_at = b->n + 8, n;

	put(b, 1000, 8);
	put(b, 0, 4);
	put(b, 0, 4);
	put(b, 2, 1);
	put(b, 0, 4 + 2);
	put(b, records - 1, 4);
	put(b, UINT64_C(1715680800000), 8);
	put(b, UINT64_C(1715680800000) + records, 8);
	put(b, UINT64_MAX, 8);
	put(b, UINT64_MAX, 2 + 4);
	put(b, records, 4);
	for (uint32_t i = 0; i < records; i++) {
		/* Attributes; two deltas, of one byte as long as there are fewer than 64; key, value, headers. */
		put_varint(b, 1 + 2 + 1 + 13 + 2 + value_bytes + 1);
		put(b, 0, 1);
		put_varint(b, i);
		put_varint(b, i);
		put_varint(b, 13);
		put_text(b, "ORD-123456789");
		put_varint(b, value_bytes);
		for (uint32_t v = 0; v < value_bytes; v++)
			b->at[b->n++] = (uint8_t)('a' + (v + i) % 26);
		put_varint(b, 0);
	}
	n = b->n;
	b->n = length_at;
	put(b, n - length_at - 4, 4);
	b->n = n;
}

static const struct size {
	uint32_t records, value_bytes;
} sizes[] = { { 1, 700 }, { 2, 900 }, { 5, 1000 }, { 12, 1000 }, { 24, 1000 }, { 40, 1000 }, { 56, 1024 } };

static void put_partition_batch(struct bytes *b, uint32_t size)
{
	size_t at = b->n, n;

	put(b, 0, 4);
	put_batch(b, sizes[size].records, sizes[size].value_bytes);
	n = b->n;
	b->n = at;
	put(b, n - at - 4, 4);
	b->n = n;
}

static int64_t heartbeat(struct capture *out, struct connection *c, int64_t us, unsigned in_vain)
{
	static struct bytes b;
	int64_t wait_us = 200000;

	begin_request(&b, c, HEARTBEAT, 4);
	put(&b, 0, 1);
	put_compact(&b, "orders");
	put(&b, 7, 4);
	put_compact(&b, c->member);
	put(&b, 0, 2);
	end_frame(&b);
	for (; in_vain > 0; in_vain--, us += wait_us, wait_us *= 2)
		emit(out, c, us, 0, PSH | ACK, c->next[0], c->next[1], b.at, b.n);
	us = send_bytes(out, c, us, 0, &b);
	begin_answer(&b, c);
	put(&b, 0, 1 + 4 + 2 + 1);
	end_frame(&b);
	return send_bytes(out, c, us + 300, 1, &b);
}

static int64_t commit(struct capture *out, struct connection *c, int64_t us)
{
	static struct bytes b;

	begin_request(&b, c, OFFSET_COMMIT, 2);
	put_string(&b, "orders");
	put(&b, 7, 4);
	put_string(&b, c->member);
	put(&b, UINT64_MAX, 8);
	put(&b, 1, 4);
	put_string(&b, "orders.commands");
	put(&b, 1, 4);
	put(&b, 3, 4);
	put(&b, c->correlation * UINT64_C(10), 8);
	put(&b, UINT16_MAX, 2);
	end_frame(&b);
	us = send_bytes(out, c, us, 0, &b);
	begin_answer(&b, c);
	put(&b, 1, 4);
	put_string(&b, "orders.commands");
	put(&b, 1, 4);
	put(&b, 3, 4);
	put(&b, 0, 2);
	end_frame(&b);
	return send_bytes(out, c, us + 900, 1, &b);
}

static int64_t produce(struct capture *out, struct connection *c, int64_t us)
{
	static struct bytes b;

	begin_request(&b, c, PRODUCE, 7);
	put(&b, UINT16_MAX, 2);
	put(&b, 1, 2);
	put(&b, 30000, 4);
	put(&b, 1, 4);
	put_string(&b, "orders.events");
	put(&b, 1, 4);
	put(&b, 3, 4);
	put_partition_batch(&b, below(4));
	end_frame(&b);
	us = send_bytes(out, c, us, 0, &b);
	begin_answer(&b, c);
	put(&b, 1, 4);
	put_string(&b, "orders.events");
	put(&b, 1, 4);
	put(&b, 3, 4);
	put(&b, 0, 2);
	put(&b, 100, 8);
	put(&b, UINT64_MAX, 8);
	put(&b, 0, 8 + 4);
	end_frame(&b);
	return send_bytes(out, c, us + 1500, 1, &b);
}

static int64_t fetch(struct capture *out, struct connection *c, int64_t us)
{
	static const int64_t waits_us[] = { 400, 2000, 20000, 500000, 400, 900, 3000, 900 };
	static struct bytes b;
	bool empty = below(100) < 40;
	uint32_t size = 0;

	begin_request(&b, c, FETCH, 11);
	put(&b, UINT32_MAX, 4);
	put(&b, 500, 4);
	put(&b, 1, 4);
	put(&b, 52428800, 4);
	put(&b, 0, 1);
	put(&b, 77, 4);
	put(&b, 12, 4);
	put(&b, 1, 4);
	put_string(&b, "orders.commands");
	put(&b, 1, 4);
	put(&b, 3, 4);
	put(&b, 7, 4);
	put(&b, 1000, 8);
	put(&b, 0, 8);
	put(&b, 1048576, 4);
	put(&b, 0, 4);
	put_string(&b, "");
	end_frame(&b);
	us = send_bytes(out, c, us, 0, &b);
	begin_answer(&b, c);
	put(&b, 0, 4 + 2);
	put(&b, 77, 4);
	put(&b, !empty, 4);
	if (!empty) {
		put_string(&b, "orders.commands");
		put(&b, 1, 4);
		put(&b, 3, 4);
		put(&b, 0, 2);
		put(&b, 5000, 8);
		put(&b, 5000, 8);
		put(&b, 0, 8);
		put(&b, UINT32_MAX, 4);
		put(&b, UINT32_MAX, 4);
		while (size < 6 && below(100) < 64)
			size++;
		put_partition_batch(&b, size);
	}
	end_frame(&b);
	return send_bytes(out, c, us + waits_us[below(4) + (empty ? 0 : 4)], 1, &b);
}

/* One exchange; when the next one may begin. */
static int64_t exchange(struct capture *out, struct connection *c, int64_t us)
{
	uint32_t what = below(100);

	c->correlation++;
	if (below(2000) == 0)
		us = heartbeat(out, c, us, 1 + below(4));
	else if (us >= c->heartbeat_us) {
		c->heartbeat_us = us + 3000000;
		us = heartbeat(out, c, us, 0);
	} else if (what < 5)
		us = commit(out, c, us);
	else if (what < 15)
		us = produce(out, c, us);
	else
		us = fetch(out, c, us);
	return us + 1000 + below(40000);
}

static void open_connection(struct capture *out, struct connection *c, uint32_t i, int64_t us)
{
	static const int64_t round_trips_us[] = { 300, 500, 900, 2500, 12000 };

	*c = (struct connection){ .client_address = 0x0a010000 | (i + 1), .broker_address = 0x0a090001 + i % 12,
				  .client_port = (uint16_t)(32768 + below(28000)), .client_id = (uint16_t)(0x100 + i),
				  .broker_id = (uint16_t)(i % 12), .ip_id = (uint16_t)chance(),
				  .next = { (uint32_t)chance(), (uint32_t)chance() }, .correlation = below(1000),
				  .round_trip_us = round_trips_us[below(5)] };
	c->heartbeat_us = us + below(3000000);
	snprintf(c->client, sizeof c->client, "consumer-orders-%u", (unsigned)(i % 64));
	snprintf(c->member, sizeof c->member, "%s-%016llx", c->client, (unsigned long long)chance());
	emit(out, c, us, 0, SYN, c->next[0]++, 0, NULL, 0);
	emit(out, c, us + c->round_trip_us, 1, SYN | ACK, c->next[1]++, c->next[0], NULL, 0);
	emit(out, c, us + c->round_trip_us + 20, 0, ACK, c->next[0], c->next[1], NULL, 0);
}

/* ---- whose turn it is ---- */

struct turn {
	int64_t us;
	uint32_t connection;
};

static void sift(struct turn *turns, size_t n)
{
	struct turn first = turns[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n) {
		child += child + 1 < n && turns[child + 1].us < turns[child].us;
		if (turns[child].us >= first.us)
			break;
		turns[at] = turns[child];
		at = child;
	}
	turns[at] = first;
}

static int by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->us != y->us)
		return x->us < y->us ? -1 : 1;
	return x->connection < y->connection ? -1 : 1;
}

static void generate(struct capture *out, uint64_t want, size_t connections)
{
	struct connection *c = need(calloc(connections, sizeof *c));
	struct turn *turns = need(calloc(connections, sizeof *turns));

	write_header(out);
	for (size_t i = 0; i < connections; i++) {
		int64_t us = START_US + below(2000000);

		open_connection(out, &c[i], (uint32_t)i, us);
		turns[i] = (struct turn){ us + 30000, (uint32_t)i };
	}
	qsort(turns, connections, sizeof *turns, by_time);
	while (out->full_bytes < want) {
		write_until(out, turns[0].us);
		turns[0].us = exchange(out, &c[turns[0].connection], turns[0].us);
		sift(turns, connections);
	}
	free(turns);
	free(c);
}

int main(int argc, char **argv)
{
	struct capture out = { .snaplen = argc > 4 ? (uint32_t)atol(argv[4]) : 262144 };
	long megabytes = argc > 2 ? atol(argv[1]) : 0, connections = argc > 3 ? atol(argv[3]) : 400;

	if (megabytes <= 0 || connections <= 0 || connections > 60000 || out.snaplen == 0) {
		fputs("usage: gen_capture MB FILE [CONNECTIONS [SNAPLEN]]\n", stderr);
		return 2;
	}
	out.file = fopen(argv[2], "wb");
	if (out.file == NULL) {
		fprintf(stderr, "gen_capture: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	generate(&out, (uint64_t)megabytes * 1000000, (size_t)connections);
	while (out.waiting.n > 0)
		free(heap_pop(&out.waiting));
	free(out.waiting.item);
	if (fclose(out.file) != 0) {
		fprintf(stderr, "gen_capture: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	return 0;
}
