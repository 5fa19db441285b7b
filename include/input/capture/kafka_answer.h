/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_ANSWER_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_ANSWER_H

/* Answers, matched with their requests. */

#include "input/capture/kafka_conn.h"

extern const struct kafka_framing kafka_answer_framing;
/* Of that framing. */
bool kafka_answer_begins(void *context, const struct kafka_piece *p);
/* No more of the fetch that is being read will come. */
void kafka_answer_end_fetch(struct kafka_conn *c);

#endif
