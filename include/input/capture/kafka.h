/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_H

/*
 * Kafka inside TCP connections, on any port: found by content, requests and
 * answers matched, their bodies read as far as groups and offsets go
 * (kafka_group.h); under TLS heartbeats by their size and rhythm. Turns them
 * into wire.* events.
 *
 * A connection that speaks something else is told so by its flag is_foreign
 * after its first bytes, and need not be given any more. Bodies of SASL are
 * neither read nor kept, nor are records.
 */

#include "input/capture/tcp_conn.h"
#include "input/capture/tcp_report.h"

struct kafka;

/* Bounded in memory, whatever it is given: 20 MB beyond 1 KB for each connection. */
struct kafka *kafka_new(struct arena *a, struct tcp_report *report);

/*
 * A segment of a connection that is not foreign. Copies are left out; those sent again are given as well. A segment
 * without payload need be given only when c->kafka is there.
 */
void kafka_segment(struct kafka *k, struct tcp_conn *c, unsigned side, const struct segment *s, int64_t now_us);
/* The same without the short cut for what is passed over. */
void kafka_segment_any(struct kafka *k, struct tcp_conn *c, unsigned side, const struct segment *s, int64_t now_us);
/* From memory, for a segment of its connection that comes in a moment. */
void kafka_fetch_conn(const struct kafka_conn *c);
/* The same, once that is there, for a segment in which a frame may begin. */
void kafka_fetch_frame(const struct kafka_conn *c);
/* Packets are missing: nothing is concluded across. */
void kafka_cut(struct kafka *k, struct tcp_conn *c);
/* The connection, or with censored the evidence, ends; requests without an answer are told. */
void kafka_end(struct kafka *k, struct tcp_conn *c, int64_t end_us, bool censored);
/* The capture ends. */
void kafka_finish(struct kafka *k);

struct kafka_counts {
	uint64_t connections, requests, answers;
	uint64_t newer;		/* requests in a version that is not known: the header alone was read */
	uint64_t damaged;	/* bodies that contradict their length */
	uint64_t lost_sync;
	uint64_t tls;		/* connections whose content is hidden */
	uint64_t dropped;	/* requests for which there was no room */
};
struct kafka_counts kafka_counts(const struct kafka *k);

#endif
