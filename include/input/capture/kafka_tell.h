/* SPDX-License-Identifier: MIT */
#ifndef AFTERSHOCK_INPUT_CAPTURE_KAFKA_TELL_H
#define AFTERSHOCK_INPUT_CAPTURE_KAFKA_TELL_H

/* What the bodies of answers tell, kind by kind, of groups, members and offsets. */

#include "input/capture/kafka_conn.h"

/* body: what follows the answer's header. */
void kafka_tell_answer(struct kafka_conn *c, const struct kafka_request *r, struct kafka_reader *body);

#endif
