/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_TCP_H
#define AFTERSHOCK_INPUT_CAPTURE_TCP_H

/*
 * TCP state per connection, from segments in order of capture (method.md 3):
 * round trips, retransmissions, stalls, resets, unanswered SYNs, zero windows,
 * quiet sides; copies recognised. Turns them into net.* events.
 *
 * "The two hosts" of a connection are the calling address and the service that
 * was called (address and port): several services of one host are apart.
 *
 * What is not obvious of the events:
 *   net.stall       without loss_at when it is seen from the receiver's side alone
 *   net.reset       abandoned: data of the other side stood unacknowledged; never for a refused connection
 *   net.quiet ba    starts when the called side is first asked; pending always
 */

#include "input/capture/packet_place.h"
#include "model/event.h"

/* Of the flags in the header, those that are looked at. */
enum tcp_flag { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

/* One TCP segment, taken out of its packet. What most need stands first: it comes from another core. */
struct segment {
	int64_t time_us;
	struct packet_place place;
	uint8_t source[16], destination[16];	/* IPv4 in the first four bytes */
	uint16_t source_port, destination_port;
	uint32_t sequence, acknowledgment;
	uint32_t payload_bytes;	/* by the IP header, captured or not */
	const uint8_t *payload;	/* captured part; NULL when none */
	uint32_t payload_captured;
	uint16_t window;	/* unscaled */
	uint16_t ip_id;
	bool has_ip_id;
	uint8_t flags;		/* as in the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16 */
	uint8_t ip_version;	/* 4 or 6 */
	bool has_duplicate;	/* it reports data that came twice (RFC 2883): from, to by sequence number */
	uint32_t payload_digest;	/* of the captured payload, to tell copies */
	uint64_t domain;	/* of VLANs and tunnels around it (packet.h); 0: none. Addresses are told apart by it */
	uint32_t duplicate_from, duplicate_to;
	uint8_t window_shift;	/* of the option in a SYN */
	bool has_window_shift;
};

struct tcp;

/* Events go to the sink with host absent and place as in the segment. */
struct tcp *tcp_new(struct event_sink sink);
/* 0, or -1 when the sink failed. Memory is bounded by the number of open connections, which is bounded too. */
int tcp_segment(struct tcp *t, const struct segment *s);
/* The same without the short ways of the commonest segments, for tests to compare the two. */
int tcp_segment_any(struct tcp *t, const struct segment *s);
/*
 * The same in three steps, some segments apart: what the segment will need is
 * fetched from memory while those before it are taken. What comes between
 * changes nothing of what is made of it.
 */
struct tcp_key {
	uint64_t hash, digest;	/* tcp_key_of (tcp_key.h) */
};
struct tcp_conn;
/* Gives what most likely will be its connection; NULL: it has none. */
struct tcp_conn *tcp_expect(const struct tcp *t, const struct tcp_key *key);
/* By now the connection, which may be NULL, can be looked at without a wait: fetches what it needs for this segment. */
void tcp_prepare(const struct tcp_conn *likely, const struct segment *s);
int tcp_segment_expected(struct tcp *t, const struct segment *s, const struct tcp_key *key, struct tcp_conn *likely);

/*
 * Whether a segment goes on where its connection stood. A silence after which
 * connections go on was silence; if they do not, traffic passed unseen and the
 * capture has a hole (method.md 3). Asked before the segment is given.
 */
enum tcp_continuity {
	TCP_CONTINUES,
	TCP_JUMPS,	/* data is acknowledged that was never seen */
	TCP_CANNOT_TELL,	/* not known, new, or its sender is ahead: what it sent may have been lost before the capture */
};
enum tcp_continuity tcp_continuity(const struct tcp *t, const struct segment *s);

/* A hole in the capture between the two times: nothing is concluded across it. */
int tcp_hole(struct tcp *t, int64_t from_us, int64_t to_us);
/* Ends what is in progress as censored. */
int tcp_finish(struct tcp *t);
uint64_t tcp_copies(const struct tcp *t);
/* Segments that came by after what was sent behind them: out of order, and not sent again. */
uint64_t tcp_overtaken(const struct tcp *t);
/* Connections given up early because too many were open at once. */
uint64_t tcp_evicted(const struct tcp *t);
struct kafka_counts;
/* What was left out of Kafka's words (kafka.h). */
struct kafka_counts tcp_kafka_counts(const struct tcp *t);
/* Accepts NULL. */
void tcp_free(struct tcp *t);

#endif
