/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_REPORT_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_REPORT_H

/* What requests and their answers say, as wire.* events. */

#include "input/capture/kafka_conn.h"

/* A request whose answer begins now. body: what follows the answer's header; NULL when it is not read. */
void kafka_report_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body);
/* One that had none up to then. */
void kafka_report_unanswered(struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, bool censored);
/* Records of a fetch; gathered by the second. */
void kafka_report_range(struct kafka_conn *c, const struct kafka_range *range);
/* What was gathered. */
void kafka_report_delivered(struct kafka_conn *c);
/* A heartbeat that is inferred. */
void kafka_report_beat(struct kafka_conn *c, const struct kafka_tls_beat *beat);
/* How long answers took, over the capture. */
void kafka_report_latencies(struct kafka *k);

#endif
