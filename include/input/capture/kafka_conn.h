/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_CONN_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_CONN_H

/* A connection's conversation, as the parts of kafka share it. */

#include "input/capture/kafka.h"
#include "input/capture/kafka_fetch.h"
#include "input/capture/kafka_match.h"
#include "input/capture/kafka_names.h"
#include "input/capture/kafka_spot.h"
#include "input/capture/kafka_stream.h"
#include "input/capture/kafka_tls.h"
#include "input/capture/tcp_median.h"

enum kafka_phase {
	KAFKA_DOUBTED,	/* requests seem to be there; no answer has matched one yet */
	KAFKA_KNOWN,
	KAFKA_HIDDEN,	/* TLS */
};

/* How long a service takes for one kind of request. */
struct kafka_latency {
	struct kafka_latency *next;
	struct tcp_address callee;
	uint16_t port;
	int16_t key;
	struct tcp_median usual;
	int64_t max_us;
	struct tcp_mark first;
	int64_t last_us;
};

#define KAFKA_LATENCY_BUCKETS 256

/* What is said of one partition over and over is told once in so long a time. */
#define KAFKA_TOGETHER_US (10 * US_PER_S)

struct kafka {
	struct arena *arena;
	struct tcp_report *report;
	struct kafka_pool pool;
	struct kafka_store store;
	struct kafka_spot_pool deliveries, commits;
	struct kafka_names *names;
	struct kafka_conn *free;
	struct kafka_fetch *free_fetches;
	struct kafka_tls *free_tls;
	struct kafka_latency *latency[KAFKA_LATENCY_BUCKETS];
	size_t latencies, fetches;	/* made */
	struct kafka_counts counts;
};

/* A direction, as its stream's callbacks know it. */
struct kafka_side {
	struct kafka_conn *conn;
	unsigned side;
};

/* A setting that was told, so that it is told once. */
struct kafka_told {
	int64_t session_ms, rebalance_ms, heartbeat_ms;
};

/* In the order in which segments need it: most of those that pass are the inside of long answers, or acknowledge them. */
struct kafka_conn {
	struct kafka *kafka;
	struct tcp_conn *tcp;
	int64_t now_us;
	int64_t closed_us;	/* the first FIN; 0: none yet */
	enum kafka_phase phase;
	unsigned client;	/* the side that asks */
	bool has_client;
	bool turns_hidden;	/* its first bytes are those of TLS */
	bool is_raw;		/* SASL tokens without headers are being exchanged */
	bool is_damaged;	/* its first request contradicts itself */
	struct kafka_queue queue;
	struct kafka_stream stream[2];
	struct kafka_side side[2];
	struct kafka_fetch *fetch;
	struct kafka_request *fetching;	/* whose answer is being read */
	uint32_t fetches;	/* answers to them so far */
	unsigned doubts;
	int64_t turn_us;	/* when the broker, which takes one request at a time, turned to the oldest; 0: at once */
	struct kafka_spots delivered, committed;	/* kafka_delivered.h, kafka_committed.h */
	struct kafka_latency *latency;	/* of its latest answer; NULL: none yet */
	struct sv client_id, group;	/* of its latest request that named one */
	bool client_is_replica;
	struct sv member;	/* that was heard here last */
	bool leads;		/* its last join made the member the leader, who syncs with everybody's assignments */
	struct kafka_told told;
	struct kafka_tls *tls;
	struct kafka_conn *next;	/* in the free list */
	struct sv path_a, path_b;	/* as events have them; absent until the first */
	struct tcp_ends ends;
};

#endif
