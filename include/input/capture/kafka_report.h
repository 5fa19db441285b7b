/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_REPORT_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_REPORT_H

/* What requests and their answers say, as wire.* events. */

#include "input/capture/kafka_conn.h"

/* A request whose answer begins now. body: what follows the answer's header; NULL when it is not read. */
void kafka_report_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body);
/* One that had none up to then. */
void kafka_report_unanswered(struct kafka_conn *c, const struct kafka_request *r, int64_t end_us, bool censored);
/* A heartbeat that is inferred. */
void kafka_report_beat(struct kafka_conn *c, const struct kafka_tls_beat *beat);
/* How long answers took, over the capture. */
void kafka_report_latencies(struct kafka *k);

/* ---- for those that make events of their own ---- */

/* An event of the connection. */
void kafka_report_span(struct event *e, struct kafka_conn *c, enum event_type type, const struct packet_place *place,
		       int64_t start_us, int64_t end_us);
/* When the request had been sent. */
int64_t kafka_report_sent_us(const struct kafka_request *r);

/* An event of a request that was answered now. */
void kafka_report_begin(struct event *e, struct kafka_conn *c, enum event_type type, const struct kafka_request *r);
void kafka_report_put(const struct kafka_conn *c, const struct event *e);
/* Nothing when it is absent or empty. */
void kafka_report_name(struct event *e, enum event_field f, struct sv name);
/* Nothing for 0; of a code that the tables do not know, its number, which stands in text. */
void kafka_report_error(struct event *e, int64_t code, char text[32]);

#endif
