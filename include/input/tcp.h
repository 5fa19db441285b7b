/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_TCP_H
#define AFTERSHOCK_INPUT_TCP_H

/*
 * TCP state per connection, from segments in order of capture (method.md 3):
 * round trips, retransmissions, stalls, resets, unanswered SYNs, zero windows,
 * quiet sides; copies recognised. Turns them into net.* events.
 */

#include "model/event.h"

/* One TCP segment, taken out of its packet. */
struct segment {
	int64_t time_us;
	struct place place;
	uint8_t ip_version;	/* 4 or 6 */
	uint8_t source[16], destination[16];	/* IPv4 in the first four bytes */
	uint16_t source_port, destination_port;
	bool has_ip_id;
	uint16_t ip_id;
	uint32_t sequence, acknowledgment;
	uint8_t flags;		/* as in the header: FIN 1, SYN 2, RST 4, PSH 8, ACK 16 */
	uint16_t window;	/* unscaled */
	uint8_t window_shift;	/* of the option in a SYN */
	bool has_window_shift;
	uint32_t payload_bytes;	/* by the IP header, captured or not */
	uint32_t payload_digest;	/* of the captured payload, to tell copies */
	const uint8_t *payload;	/* captured part; NULL when none */
	uint32_t payload_captured;
};

struct tcp;

/* Events go to the sink with host absent and place as in the segment. */
struct tcp *tcp_new(struct event_sink sink);
/* 0, or -1 when the sink failed. Memory is bounded by the number of open connections, which is bounded too. */
int tcp_segment(struct tcp *t, const struct segment *s);
/* A hole in the capture between the two times: nothing is concluded across it. */
int tcp_hole(struct tcp *t, int64_t from_us, int64_t to_us);
/* Ends what is in progress as censored. */
int tcp_finish(struct tcp *t);
uint64_t tcp_copies(const struct tcp *t);
void tcp_free(struct tcp *t);

#endif
