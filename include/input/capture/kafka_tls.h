/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_TLS_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_TLS_H

/*
 * Heartbeats under TLS: records of the calling side of one size, sent in a
 * rhythm of seconds and answered by small records of one size (a member's
 * heartbeat keeps its length, whatever its generation and the error in its
 * answer). It suggests; it does not prove.
 */

#include <stdbool.h>
#include <stdint.h>

#include "input/capture/packet_place.h"

#define KAFKA_TLS_SIZES 6
#define KAFKA_TLS_BEATS 4

struct kafka_tls_beat {
	int64_t us;
	struct packet_place place;
};

/* Records of one size. */
struct kafka_tls_size {
	uint32_t bytes;		/* 0: free */
	uint32_t answer_bytes;	/* 0: not answered yet */
	int64_t gap_us;		/* between the latest two */
	unsigned regular;	/* gaps in a row that are alike */
	bool is_told;		/* it has been found to be a heartbeat */
	bool is_answered;
	struct kafka_tls_beat beats[KAFKA_TLS_BEATS];	/* the latest, in a ring */
	unsigned beat_count;
};

struct kafka_tls {
	struct kafka_tls *next;	/* in the free list */
	struct kafka_tls_size sizes[KAFKA_TLS_SIZES];
	struct kafka_tls_size *asked;	/* the latest record of the calling side; NULL once answered */
};

/* Takes a record of application data; told: with each heartbeat that it makes known, in order. */
void kafka_tls_record(struct kafka_tls *t, bool from_client, uint64_t bytes, int64_t us, const struct packet_place *place,
		      void (*told)(void *context, const struct kafka_tls_beat *beat), void *context);

#endif
