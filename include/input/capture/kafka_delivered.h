/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_DELIVERED_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_DELIVERED_H

/*
 * What fetches deliver, as wire.fetch. Of a partition one event tells what
 * follows without a gap, over at most ten seconds. Where delivery goes back an
 * event ends and the next begins, which says so (rereads); one that goes back
 * over the same records again and again is told in one.
 */

#include "input/capture/kafka_conn.h"

/* Records of one batch, or an error. */
void kafka_delivered_take(struct kafka_conn *c, const struct kafka_range *r);
/* Tells what is kept of the connection, and forgets it. */
void kafka_delivered_end(struct kafka_conn *c);

/* Of a whole capture. */
struct kafka_spot_pool kafka_delivered_pool(struct arena *a);

#endif
